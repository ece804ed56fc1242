// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware check`: is a device in log mode as it must be?

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};
use clap::Args;
use serde::Serialize;

use super::{print_json, DamageFound, UsageError};
use crate::device::block::{Device, OpenHow};
use crate::format::check::{check, Facts, Options, Report};
use crate::format::create;
use crate::format::findings::Findings;
use crate::format::layout::SUPER_NEEDS_CHECK;
use crate::format::superblock::PAGE_SECTORS;
use crate::format::volume::{read_super, NoSuper};
use crate::io_engine::shown::Shown;
use crate::progress::Progress;

/// Find out whether a device in log mode is as it must be
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dieaware check /dev/nvme0n1")]
pub struct CheckArgs {
    /// Block device or image file
    #[arg(value_name = "DEV")]
    device: PathBuf,
    /// First sector that the target uses, as in its table line
    #[arg(long, value_name = "SECTORS", default_value_t = 0)]
    start: u64,
    /// Leave the summaries of segments out
    #[arg(long)]
    quick: bool,
    /// If there is no damage, let a target that needs a check write again
    #[arg(long, conflicts_with = "quick")]
    clear_needs_check: bool,
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct DeviceReport<'a> {
    device: String,
    #[serde(flatten)]
    report: &'a Report,
}

/// # Errors
///
/// When a target cannot begin there.
pub fn require_start(start: u64) -> Result<()> {
    if start % u64::from(PAGE_SECTORS) != 0 {
        return Err(UsageError("The first sector must be a multiple of 8".to_owned()).into());
    }
    Ok(())
}

/// Open a device to be read, or written as well. Nobody else may have it: of one that is being written,
/// what is read is half of a change, and looks like damage.
///
/// # Errors
///
/// When it is in use, or cannot be opened.
pub fn open(path: &Path, start: u64, write: bool) -> Result<Device> {
    let how = OpenHow {
        write,
        exclusive: true,
    };

    require_start(start)?;
    Device::open(path, start, how).map_err(|err| open_error(path, err))
}

/// Why a device that nobody else may have cannot be opened.
pub fn open_error(path: &Path, err: io::Error) -> anyhow::Error {
    let name = path.display();

    match err.kind() {
        ErrorKind::ResourceBusy => UsageError(format!(
            "{name} is in use: it is mounted, or part of another device"
        ))
        .into(),
        _ => anyhow::Error::from(err).context(format!("{name} cannot be opened")),
    }
}

/// All of a device could be read.
///
/// # Errors
///
/// When it could not.
pub fn require_read(path: &Path, nr_failed_reads: u64) -> Result<()> {
    if nr_failed_reads == 0 {
        return Ok(());
    }
    bail!(
        "{} cannot be read in all places: {nr_failed_reads} reads failed",
        path.display()
    )
}

/// Why a device without a superblock that counts cannot be what it was asked for.
pub fn no_superblock(
    path: &Path,
    what: &str,
    why: &NoSuper,
    nr_failed_reads: u64,
) -> anyhow::Error {
    match require_read(path, nr_failed_reads) {
        Err(unread) => unread,
        Ok(()) => DamageFound(format!("{} cannot be {what}: {why}", path.display())).into(),
    }
}

/// Let the target write again. Returns whether there was need to.
fn clear_needs_check(device: &Device) -> io::Result<bool> {
    let superblock = read_super(device, &mut Findings::default())?;
    let marked = superblock.filter(|superblock| superblock.flags & SUPER_NEEDS_CHECK != 0);

    match marked {
        Some(superblock) => create::clear_needs_check(device, &superblock).map(|()| true),
        None => Ok(false),
    }
}

/// # Errors
///
/// When the device is damaged, or cannot be read.
pub fn run(args: &CheckArgs, out: &mut impl Write) -> Result<()> {
    let name = args.device.display();
    let device = open(&args.device, args.start, args.clear_needs_check)?;
    let options = Options { quick: args.quick };
    let progress = Progress::new()?;
    progress.begin_pages("checking");
    let report = check(&Shown::new(&device, &progress), &options);
    progress.go_on()?;
    drop(progress);
    let report = report.with_context(|| format!("{name} cannot be checked"))?;

    if args.json {
        let report = DeviceReport {
            device: name.to_string(),
            report: &report,
        };
        print_json(out, &report)?;
    } else {
        print(&name.to_string(), &report, out)?;
    }
    if report.is_clean() {
        if args.clear_needs_check
            && clear_needs_check(&device).with_context(|| format!("{name} cannot be written"))?
            && !args.json
        {
            writeln!(out, "{name}: the target may write again")?;
        }
        return Ok(());
    }
    // What was found comes before the verdict.
    out.flush()?;
    require_read(&args.device, report.nr_failed_reads)?;
    let times = if report.nr_damages == 1 {
        "way"
    } else {
        "ways"
    };
    Err(DamageFound(format!(
        "{name} is damaged in {} {times}",
        report.nr_damages
    ))
    .into())
}

fn print(name: &str, report: &Report, out: &mut impl Write) -> Result<()> {
    for finding in &report.findings {
        writeln!(out, "{finding}")?;
    }
    if let Some(facts) = &report.facts {
        writeln!(out, "{name}: {}", sentence(facts))?;
    }
    Ok(())
}

fn sentence(facts: &Facts) -> String {
    format!(
        "checkpoint {}, {} of {} pages mapped; of {} segments {} free, {} open, {} closed; {} \
         operations in {} sectors of the journal",
        facts.epoch,
        facts.nr_mapped,
        facts.nr_lpns,
        facts.nr_segments,
        facts.nr_free,
        facts.nr_open,
        facts.nr_closed,
        facts.journal.nr_operations,
        facts.journal.nr_sectors
    )
}
