// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware check`: is a device in log mode as it must be? Damage has an exit status of its own,
//! so that scripts can tell it from a device that could not be read; that a target needs a check is
//! taken back only where none was found.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;

use super::common::{print_object, require_read, usage, DamageFound, Saying};
use super::log_device;
use crate::device::block::Device;
use crate::format::check::{check_with, Facts, Options, Report};
use crate::format::create;
use crate::format::data::DataFacts;
use crate::format::findings::Findings;
use crate::format::layout::SUPER_NEEDS_CHECK;
use crate::format::volume::read_super;
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
    /// Compare all data with its checksums as well, on a device that has some
    #[arg(long)]
    data: bool,
    /// If there is no damage, let a target that needs a check write again
    #[arg(long, conflicts_with = "quick")]
    clear_needs_check: bool,
    /// Say whether that would be done, and do not do it
    #[arg(long, requires = "clear_needs_check")]
    dry_run: bool,
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    saying: Saying,
}

#[derive(Serialize)]
struct DeviceReport<'a> {
    device: String,
    #[serde(flatten)]
    report: &'a Report,
}

/// Let the target write again, unless it is a dry run. Returns whether there was need to.
fn clear_needs_check(device: &Device, dry_run: bool) -> io::Result<bool> {
    let superblock = read_super(device, &mut Findings::default())?;
    let marked = superblock.filter(|superblock| superblock.flags & SUPER_NEEDS_CHECK != 0);

    match marked {
        Some(_) if dry_run => Ok(true),
        Some(superblock) => create::clear_needs_check(device, &superblock).map(|()| true),
        None => Ok(false),
    }
}

/// What a device without checksums has cannot be compared. Of one that is none this says nothing.
fn require_checksums(name: &str, device: &Device) -> Result<()> {
    let superblock = read_super(device, &mut Findings::default())
        .with_context(|| format!("{name} cannot be checked"))?;

    match superblock {
        Some(superblock) if !superblock.has_checksums() => Err(usage(format!(
            "{name} has no checksums of data, which \"dieaware format --checksums\" would have \
             made room for"
        ))),
        _ => Ok(()),
    }
}

/// # Errors
///
/// When the device is damaged, or cannot be read.
pub fn run(args: &CheckArgs, out: &mut impl Write) -> Result<()> {
    args.saying.begin();
    let name = args.device.display();
    let device = log_device::open(&args.device, args.start, args.clear_needs_check)?;
    if args.data {
        require_checksums(&name.to_string(), &device)?;
    }
    let options = Options {
        quick: args.quick,
        data: args.data,
    };
    let progress = Progress::new()?;
    progress.begin_pages("checking");
    let report = check_with(&Shown::new(&device, &progress), &options, |nr_pages| {
        progress.begin("comparing", nr_pages);
    });
    progress.go_on()?;
    drop(progress);
    let report = report.with_context(|| format!("{name} cannot be checked"))?;

    if args.json {
        let report = DeviceReport {
            device: name.to_string(),
            report: &report,
        };
        print_object(out, &report)?;
    } else {
        print(&name.to_string(), &report, args.saying.quiet, out)?;
    }
    if report.is_clean() {
        if args.clear_needs_check
            && clear_needs_check(&device, args.dry_run)
                .with_context(|| format!("{name} cannot be written"))?
            && !args.json
            && (!args.saying.quiet || args.dry_run)
        {
            let may = if args.dry_run { "might" } else { "may" };
            writeln!(out, "{name}: the target {may} write again")?;
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

/// What was found, and if nobody minds, what there is.
fn print(name: &str, report: &Report, is_quiet: bool, out: &mut impl Write) -> Result<()> {
    for finding in &report.findings {
        writeln!(out, "{finding}")?;
    }
    if is_quiet {
        return Ok(());
    }
    if let Some(facts) = &report.facts {
        writeln!(out, "{name}: {}", sentence(facts))?;
    }
    if let Some(data) = &report.data {
        writeln!(out, "{name}: {}", data_sentence(data))?;
    }
    Ok(())
}

fn data_sentence(data: &DataFacts) -> String {
    format!(
        "{} pages of data compared with their checksums, {} damaged, {} not readable",
        data.nr_pages, data.nr_damaged, data.nr_unreadable
    )
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
