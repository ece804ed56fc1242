// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware format`: makes a device one in log mode. Sizes that nobody asked for are chosen here,
//! by what the device says about itself.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;

use super::common::{print_object, random, usage, Saying};
use super::{mapper, overwrite};
use crate::device::block::{Device, Limits};
use crate::format::block::Uuid;
use crate::format::create::{create, nr_created_pages};
use crate::format::make::{make, Request};
use crate::format::need;
use crate::format::superblock::{Super, MAX_SEGMENT_PAGES, PAGE_SECTORS};
use crate::io_engine::pages::{ReadPages, WritePages};
use crate::progress::Progress;
use crate::units::{parse_bytes, parse_permille, PAGE_BYTES, SECTOR_BYTES};

/// Pages to whose multiples segments are aligned where the device does not say: 1 MiB, and
/// less on small ones.
const STRIPE_PAGES: u32 = 256;
const SMALL_STRIPE_PAGES: u32 = 8;
const SMALL_DEVICE_PAGES: u64 = 1 << 18;

/// A stripe is larger than this only if it was asked for.
const MAX_STRIPES_SHARE: u64 = 64;

/// Make a block device or an image file an empty one in log mode
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dieaware format --label db /dev/nvme0n1\n\n\
    Sizes are in bytes, or end in K, M, G or T.")]
pub struct FormatArgs {
    /// The device; everything on it is lost
    #[arg(value_name = "DEV")]
    device: PathBuf,
    /// First sector that the target is to use, a multiple of 8
    #[arg(long, value_name = "SECTORS", default_value_t = 0)]
    start: u64,
    /// A name, at most 31 bytes
    #[arg(long, default_value = "")]
    label: String,
    /// What is written and cleaned as one; 256K to 256M. Chosen: a 256th of the device
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    segment: Option<u64>,
    /// Size of the journal; 512K to 1G. Chosen: a 512th of the device
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    journal: Option<u64>,
    /// Segments begin at a multiple of this. Chosen: what the device says, or 1M
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    stripe: Option<u64>,
    /// Share of the device that is not shown, so that cleaning has room; 2 to 90
    #[arg(long, value_name = "PERCENT", value_parser = parse_permille, default_value = "10")]
    reserve: u32,
    /// Keep a checksum of each page of data: the map takes 0.45 % of the device instead of 0.25
    #[arg(long)]
    checksums: bool,
    /// For versions that know no drafts of the journal: an fsync then takes two writes
    #[arg(long)]
    no_drafts: bool,
    /// Even if the device holds data
    #[arg(long)]
    force: bool,
    /// Say what would be done and lost, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    saying: Saying,
}

/// What was made.
#[derive(Serialize)]
struct Formatted {
    device: String,
    start_sectors: u64,
    len_sectors: u64,
    uuid: String,
    label: String,
    segment_bytes: u64,
    stripe_bytes: u64,
    nr_segments: u64,
    journal_bytes: u64,
    journal_unit_bytes: u64,
    checksums: bool,
    drafts: bool,
    table: String,
    /// Only where nothing was made: what would be lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    would_lose: Option<Vec<String>>,
}

impl Formatted {
    fn new(args: &FormatArgs, superblock: &Super) -> Self {
        let device = args.device.display().to_string();
        let len_sectors = superblock.nr_lpns * u64::from(PAGE_SECTORS);
        Self {
            start_sectors: args.start,
            len_sectors,
            uuid: superblock.uuid_text(),
            label: superblock.label_text(),
            segment_bytes: u64::from(superblock.segment_pages) * PAGE_BYTES,
            stripe_bytes: u64::from(superblock.stripe_pages) * PAGE_BYTES,
            nr_segments: superblock.nr_segments(),
            journal_bytes: u64::from(superblock.journal_sectors) * SECTOR_BYTES,
            journal_unit_bytes: u64::from(superblock.journal_unit_sectors) * SECTOR_BYTES,
            checksums: superblock.has_checksums(),
            drafts: superblock.has_drafts(),
            table: mapper::table_line(len_sectors, &device, args.start, "log"),
            would_lose: None,
            device,
        }
    }
}

/// A size as a number of units; it must be a multiple of them.
fn in_units(what: &str, bytes: u64, unit_bytes: u64) -> Result<u32> {
    if bytes % PAGE_BYTES != 0 {
        return Err(usage(format!("{what} must be a multiple of 4096 bytes")));
    }
    u32::try_from(bytes / unit_bytes).map_err(|_| usage(format!("{what} is too large")))
}

/// A random UUID (version 4).
fn random_uuid() -> Result<Uuid> {
    Ok(
        (u128::from_be_bytes(random()?) & !(0xf << 76 | 0x3 << 62) | 0x4 << 76 | 0x2 << 62)
            .to_be_bytes(),
    )
}

/// What segments are aligned to if nobody says: what the device likes, if it leaves enough
/// stripes and fits the segments.
fn chosen_stripe_pages(limits: &Limits, nr_device_pages: u64, segment_pages: Option<u32>) -> u32 {
    let optimal = limits.optimal_io_bytes;
    let pages = optimal / PAGE_BYTES as u32;
    let fits = |pages: u32| segment_pages.is_none_or(|segment| segment % pages == 0);

    if pages > 1
        && u64::from(optimal) % PAGE_BYTES == 0
        && pages <= MAX_SEGMENT_PAGES
        && u64::from(pages) * MAX_STRIPES_SHARE <= nr_device_pages
        && fits(pages)
    {
        return pages;
    }
    let mut pages = if nr_device_pages < SMALL_DEVICE_PAGES {
        SMALL_STRIPE_PAGES
    } else {
        STRIPE_PAGES
    };
    while pages > 1 && !fits(pages) {
        pages /= 2;
    }
    pages
}

fn request(args: &FormatArgs, device: &Device) -> Result<Request> {
    let limits = device
        .limits()
        .context("The block device does not say how large its blocks are")?;
    let nr_device_pages = device.nr_pages();
    let units = |what: &str, size: Option<u64>, unit_bytes| {
        size.map(|bytes| in_units(what, bytes, unit_bytes))
            .transpose()
    };
    let segment_pages = units("The size of a segment", args.segment, PAGE_BYTES)?;
    let stripe_pages = units("The size of a stripe", args.stripe, PAGE_BYTES)?;
    let journal_sectors = units("The size of the journal", args.journal, SECTOR_BYTES)?;
    let block_bytes = limits.logical_block_bytes.max(limits.physical_block_bytes);

    if limits.logical_block_bytes > PAGE_BYTES as u32 {
        return Err(usage(
            "Log mode takes devices with blocks of at most 4096 bytes",
        ));
    }
    Ok(Request {
        uuid: random_uuid()?,
        label: args.label.clone(),
        nr_device_pages,
        stripe_pages: stripe_pages
            .unwrap_or_else(|| chosen_stripe_pages(&limits, nr_device_pages, segment_pages)),
        segment_pages,
        journal_sectors,
        // A sector alone would have the drive read and write again what is around it.
        journal_unit_sectors: if u64::from(block_bytes) >= PAGE_BYTES {
            PAGE_SECTORS
        } else {
            1
        },
        reserve_permille: args.reserve,
        checksums: args.checksums,
        drafts: !args.no_drafts,
    })
}

/// What a device is to have that an older version would not know.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    pub checksums: bool,
    pub drafts: bool,
}

/// What is made of a device if nobody asks for anything but features.
///
/// # Errors
///
/// When the device cannot be laid out.
pub fn lay_out(path: &Path, start: u64, features: Features, device: &Device) -> Result<Super> {
    let args = FormatArgs {
        device: path.to_owned(),
        start,
        label: String::new(),
        segment: None,
        journal: None,
        stripe: None,
        reserve: 100,
        checksums: features.checksums,
        no_drafts: !features.drafts,
        force: false,
        dry_run: false,
        json: false,
        saying: Saying::default(),
    };
    laid_out(&args, device)
}

/// What is asked for, if a target could start it.
fn laid_out(args: &FormatArgs, device: &Device) -> Result<Super> {
    let superblock = make(&request(args, device)?).map_err(|err| usage(err.to_string()))?;

    need::require_startable(&superblock).map_err(usage)?;
    Ok(superblock)
}

/// Make a device what was laid out.
///
/// # Errors
///
/// When it holds data, is in use, or fails, or someone wants that to end.
pub fn write(path: &Path, start: u64, force: bool, superblock: &Super) -> Result<()> {
    let device = overwrite::open(path, start)?;

    overwrite::clear(path, start, force, &device)?;
    let salt = u64::from_ne_bytes(random()?);
    write_all(path, &device, superblock, salt, &Progress::new()?)
}

/// All of it, or the device has no valid superblock.
fn write_all(
    path: &Path,
    device: &impl WritePages,
    superblock: &Super,
    salt: u64,
    progress: &Progress,
) -> Result<()> {
    progress.begin("formatting", nr_created_pages(superblock));
    overwrite::whole(path, device, progress, |device| {
        create(device, superblock, salt)
            .with_context(|| format!("{} cannot be written", path.display()))
    })
}

/// # Errors
///
/// When the device cannot be laid out as asked for, holds data, is in use, or fails.
pub fn run(args: &FormatArgs, out: &mut impl Write) -> Result<()> {
    let out = &mut args.saying.what_was_done(out, args.json || args.dry_run);
    let device = overwrite::open(&args.device, args.start)?;
    let superblock = laid_out(args, &device)?;
    let mut formatted = Formatted::new(args, &superblock);

    if args.dry_run {
        let lost = overwrite::would_clear(&args.device, args.start, args.force, &device)?;
        formatted.would_lose = Some(lost);
    } else {
        drop(device);
        write(&args.device, args.start, args.force, &superblock)?;
    }
    print(args, &formatted, out)
}

fn print(args: &FormatArgs, formatted: &Formatted, out: &mut impl Write) -> Result<()> {
    if args.json {
        print_object(out, formatted)?;
    } else if let Some(lost) = &formatted.would_lose {
        overwrite::print_lost(&args.device, lost, out)?;
        writeln!(
            out,
            "would format {}: {}",
            formatted.device, formatted.table
        )?;
    } else {
        writeln!(out, "{}", formatted.table)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{chosen_stripe_pages, write_all, STRIPE_PAGES};
    use crate::commands::overwrite::pressing::{empty_log, laid_out, Pressing};
    use crate::device::block::Limits;
    use crate::format::findings::Findings;
    use crate::format::volume::read_super;
    use crate::progress::Interrupted;

    const NR_PAGES: u64 = 4096;

    #[test]
    fn an_interrupted_format_leaves_no_valid_superblock() {
        let superblock = laid_out(NR_PAGES);
        let mut nr_interrupted = 0;
        for left in 1.. {
            // What was there before counts no more, either.
            let (device, progress) = Pressing::new(empty_log(NR_PAGES), left);
            let result = write_all(Path::new("it"), &device, &superblock, 9, &progress);
            let found = read_super(&device.ram, &mut Findings::default()).unwrap();
            let Err(err) = result else {
                assert_eq!(found.map(|found| found.epoch), Some(2));
                break;
            };
            assert!(err.is::<Interrupted>(), "{err:#}");
            assert_eq!(
                err.to_string(),
                "it was left without a valid superblock: begin again"
            );
            assert!(found.is_none(), "{left}");
            nr_interrupted += 1;
        }
        // The superblocks twice, the root, and what is flushed between them
        assert!(nr_interrupted > 7, "{nr_interrupted}");
    }

    #[test]
    fn a_device_may_like_more_than_a_stripe_can_have() {
        let chosen = |optimal_io_bytes| {
            let limits = Limits {
                optimal_io_bytes,
                ..Limits::default()
            };
            chosen_stripe_pages(&limits, 1 << 30, None)
        };
        assert_eq!(chosen(3 << 20), 768);
        assert_eq!(chosen(256 << 20), 65536);
        for other in [0, 4096, (1 << 20) + 512, (256 << 20) + 4096, !4095] {
            assert_eq!(chosen(other), STRIPE_PAGES, "{other}");
        }
    }
}
