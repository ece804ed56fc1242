// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware probe`: how an SSD lays pages over its dies, from how long reads take. It is for
//! drives that do not tell.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::slice;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{bail, Context, Result};
use clap::Args;
use serde::Serialize;

use super::common::{self, print_object, require_start, usage, Saying};
use super::overwrite;
use crate::device::stack::{self, Base, Piece, Tables};
use crate::io_engine::pages::ReadPages;
use crate::io_engine::ring::{Aligned, Direct};
use crate::probe::random::Random;
use crate::probe::svg::picture;
use crate::probe::{probe, Found, Outcome, Point, ProbeError, Reads, Refusal, Step, LEAST_PAGES};
use crate::progress::{Interrupted, Progress};
use crate::units::{parse_bytes, PAGE_BYTES, PAGE_SECTORS, SECTOR_BYTES};

/// As much as the FAST'24 paper reads.
const CHOSEN_BYTES: u64 = 1 << 30;

/// Pages that are written at once.
const WRITE_PAGES: u64 = 256;

/// A drive's write buffer is empty after that.
const SETTLE: Duration = Duration::from_secs(2);

/// Find out how an SSD lays consecutive pages over its dies, by timing reads
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  dieaware probe --write --size 256M --svg curve.svg /dev/nvme0n1\n\n\
    Sizes are in bytes, or end in K, M, G or T."
)]
pub struct ProbeArgs {
    /// A block device that nobody uses
    #[arg(value_name = "DEV")]
    device: PathBuf,
    /// Write the range first, in order; what it holds is lost
    #[arg(long)]
    write: bool,
    /// With --write: even if DEV holds data
    #[arg(long, requires = "write")]
    force: bool,
    /// First sector of the range, a multiple of 8
    #[arg(long, value_name = "SECTORS", default_value_t = 0)]
    start: u64,
    /// Length of the range; 18 stripes are enough. Chosen: 1G, or what there is
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    size: Option<u64>,
    /// Draw throughput over the interval between reads
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    saying: Saying,
}

impl Reads for Direct {
    fn time(&mut self, pages: &[u64]) -> io::Result<u64> {
        Direct::time(self, pages)
    }
}

/// The device must be one whose pages can be asked for.
fn require_device(path: &Path) -> Result<()> {
    let name = path.display();
    let is_block = fs::metadata(path)
        .with_context(|| format!("{name} cannot be opened"))?
        .file_type()
        .is_block_device();

    if !is_block {
        return Err(usage(format!("{name} is not a block device")));
    }
    let number = stack::number_of(path).with_context(|| format!("{name} has no number"))?;
    let base = Base::of(number).with_context(|| format!("{name} is not in sysfs"))?;
    if base.start_sectors % PAGE_SECTORS != 0 {
        return Err(usage(format!(
            "{name} begins at sector {} of its disk, so that its pages lie across those of the \
             SSD: a multiple of 8 is needed",
            base.start_sectors
        )));
    }
    Ok(())
}

/// Pages in the range, once it is certain that it may be used.
fn range(args: &ProbeArgs, name: &str) -> Result<u64> {
    // Tells a device in use in the same words, and before anything is written.
    let device = if args.write {
        let device = overwrite::open(&args.device, args.start)?;
        if !args.force {
            overwrite::refuse_data(&args.device, args.start, &device)?;
        }
        device
    } else {
        common::open(&args.device, args.start, false)?
    };
    let most = device.nr_pages();
    let nr_pages = args
        .size
        .map_or(most.min(CHOSEN_BYTES / PAGE_BYTES), |size| {
            size / PAGE_BYTES
        });

    if nr_pages > most {
        return Err(usage(format!(
            "{name} has {} KiB from sector {} on, not {}",
            most * PAGE_BYTES / 1024,
            args.start,
            nr_pages * PAGE_BYTES / 1024
        )));
    }
    if nr_pages < LEAST_PAGES {
        return Err(usage(format!(
            "{} KiB are too small a range: at least {} are needed",
            nr_pages * PAGE_BYTES / 1024,
            LEAST_PAGES * PAGE_BYTES / 1024
        )));
    }
    if args.write && args.force {
        overwrite::clear_first(&args.device, args.start, &device, nr_pages * PAGE_BYTES)?;
    }
    Ok(nr_pages)
}

/// Write the range in order, with data that no drive can make smaller.
fn fill(direct: &Direct, nr_pages: u64, progress: &Progress) -> Result<()> {
    let mut random = Random::new();
    let mut page = 0;

    progress.begin("writing", nr_pages);
    while page < nr_pages {
        let mut pages = Aligned::new(WRITE_PAGES.min(nr_pages - page) as usize);
        pages.fill(&mut random);
        direct.write(page, &pages)?;
        page += WRITE_PAGES;
        progress.at(page.min(nr_pages))?;
    }
    direct.flush()?;
    sleep(SETTLE);
    Ok(())
}

fn measure(direct: &mut Direct, nr_pages: u64, progress: &Progress) -> Result<Outcome, ProbeError> {
    let mut last = None;
    let mut done = 0;

    probe(direct, nr_pages, &mut |step| {
        let (what, total) = match step {
            Step::Distances(_, most) => ("trying distances", most),
            Step::Units(most) => ("looking for ends of units", most),
            Step::Checks(most) => ("checking", most),
        };
        if last != Some(what) {
            progress.begin(what, total);
            last = Some(what);
            done = 0;
        }
        done += 1;
        progress.at(done).is_ok()
    })
}

/// What is printed for programs.
#[derive(Serialize)]
struct Report<'a> {
    device: String,
    start_sectors: u64,
    bytes: u64,
    found: Option<Found>,
    /// Why nothing was found.
    reason: Option<String>,
    curve: &'a [Point],
}

fn print_found(found: &Found, out: &mut impl Write) -> Result<()> {
    writeln!(out, "stripe      {:>8} KiB", found.stripe_bytes / 1024)?;
    if let (Some(unit), Some(dies), Some(first)) =
        (found.unit_bytes, found.nr_dies, found.first_unit_bytes)
    {
        writeln!(out, "unit        {:>8} KiB", unit / 1024)?;
        writeln!(out, "dies        {dies:>8}")?;
        writeln!(out, "first unit  {:>8} KiB", first / 1024)?;
    } else {
        writeln!(out, "unit               - (they are not all of one size)")?;
    }
    writeln!(out, "read        {:>8} us", found.read_ns.div_ceil(1000))?;
    let sure = found.sure_permille();
    writeln!(out, "sure        {:>6}.{} %", sure / 10, sure % 10)?;
    Ok(())
}

/// What is measured.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Part {
    start_sectors: u64,
    nr_pages: u64,
    /// Where log mode had it; nowhere else it moves.
    pieces: Vec<Piece>,
}

/// The part of the range that can be measured: all of it, but that what log mode shows in a row need
/// not lie so.
fn part(args: &ProbeArgs, nr_pages: u64) -> Result<Part> {
    let name = args.device.display();
    let number = stack::number_of(&args.device).with_context(|| format!("{name} has no number"))?;
    let mut part = Part {
        start_sectors: args.start,
        nr_pages,
        pieces: Vec::new(),
    };

    if !stack::is_on_log(number) {
        return Ok(part);
    }
    let range = args.start..args.start.saturating_add(nr_pages * PAGE_SECTORS);
    part.pieces = Tables::default()
        .resolve(number, slice::from_ref(&range))
        .with_context(|| format!("Where {name} has its pages is not known"))?;
    let (start, nr_sectors) = stack::longest_in_a_row(&part.pieces).unwrap_or((args.start, 0));
    if nr_sectors / PAGE_SECTORS < LEAST_PAGES {
        return Err(usage(format!(
            "{name} is in log mode and has no more than {} KiB of the range in a row: at least {} \
             are needed",
            nr_sectors * SECTOR_BYTES / 1024,
            LEAST_PAGES * PAGE_BYTES / 1024
        )));
    }
    part.start_sectors = start;
    part.nr_pages = nr_sectors / PAGE_SECTORS;
    Ok(part)
}

/// What was measured must have stayed where it was.
fn require_still(args: &ProbeArgs, nr_pages: u64, before: &Part) -> Result<()> {
    if !before.pieces.is_empty() && part(args, nr_pages)? != *before {
        bail!(
            "{} is in log mode and has moved pages meanwhile: try again",
            args.device.display()
        );
    }
    Ok(())
}

fn print(args: &ProbeArgs, part: &Part, outcome: &Outcome, out: &mut impl Write) -> Result<()> {
    if args.json {
        let report = Report {
            device: args.device.display().to_string(),
            start_sectors: part.start_sectors,
            bytes: part.nr_pages * PAGE_BYTES,
            found: outcome.found.ok(),
            reason: outcome.found.err().map(|refusal| refusal.to_string()),
            curve: &outcome.curve,
        };
        print_object(out, &report)?;
    } else if let Ok(found) = &outcome.found {
        print_found(found, out)?;
    }
    Ok(())
}

/// What to do about it.
fn advice(refusal: &Refusal, args: &ProbeArgs) -> &'static str {
    match refusal {
        _ if !args.write => {
            "; only a range that was written in order, and once, shows a stripe (--write does that)"
        }
        Refusal::Unsure { .. } => "",
        _ => "; a larger range (--size) may show one",
    }
}

/// # Errors
///
/// When the device cannot be used, or shows no stripe.
pub fn run(args: &ProbeArgs, out: &mut impl Write) -> Result<()> {
    args.saying.begin();
    let name = args.device.display().to_string();
    // Before all that takes long
    if let Some(path) = &args.svg {
        common::require_writable(path, common::Written::Picture)?;
    }
    require_start(args.start)?;
    require_device(&args.device)?;
    // Exclusively before anything else, so that nothing is done to a device in use.
    let start_bytes = args.start.saturating_mul(SECTOR_BYTES);
    let opened = Direct::open(&args.device, start_bytes, args.write);
    drop(opened.map_err(|err| common::open_error(&args.device, err))?);
    let nr_pages = range(args, &name)?;
    let direct = Direct::open(&args.device, start_bytes, args.write)
        .map_err(|err| common::open_error(&args.device, err))?;
    let progress = Progress::new()?;

    if args.write {
        fill(&direct, nr_pages, &progress).with_context(|| format!("{name} was not written"))?;
    }
    let part = part(args, nr_pages)?;
    drop(direct);
    let mut direct = Direct::open(&args.device, part.start_sectors * SECTOR_BYTES, false)
        .map_err(|err| common::open_error(&args.device, err))?;
    let outcome = match measure(&mut direct, part.nr_pages, &progress) {
        Err(ProbeError::Interrupted) => return Err(Interrupted.into()),
        Err(ProbeError::Io(err)) => {
            return Err(err).with_context(|| format!("{name} cannot be read"))
        }
        Ok(outcome) => outcome,
    };
    drop(progress);
    require_still(args, nr_pages, &part)?;
    if let Some(path) = &args.svg {
        common::write_picture(path, &picture(&outcome))?;
    }
    print(args, &part, &outcome, out)?;
    if let Err(refusal) = &outcome.found {
        out.flush()?;
        bail!("No stripe was found: {refusal}{}", advice(refusal, args));
    }
    Ok(())
}
