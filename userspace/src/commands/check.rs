// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware check`: is a device in log mode as it must be?

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};
use clap::Args;
use serde::Serialize;

use super::{print_json, DamageFound, UsageError};
use crate::format::check::{check, Facts, Options, Report};
use crate::format::create;
use crate::format::findings::Findings;
use crate::format::layout::SUPER_NEEDS_CHECK;
use crate::format::superblock::PAGE_SECTORS;
use crate::format::volume::{read_super, NoSuper};
use crate::io_engine::pages::{Device, OpenHow};
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

/// Open a device to be read. One that is in use is read as well, with a warning.
///
/// # Errors
///
/// When it cannot be opened.
pub fn open(path: &Path, start: u64) -> Result<Device> {
    require_start(start)?;
    let alone = OpenHow {
        exclusive: true,
        ..OpenHow::default()
    };
    let opened = match Device::open(path, start, alone) {
        Err(err) if err.kind() == ErrorKind::ResourceBusy => {
            eprintln!(
                "dieaware: {} is in use: what is found may be half of a change.",
                path.display()
            );
            Device::open(path, start, OpenHow::default())
        }
        opened => opened,
    };
    opened.with_context(|| format!("{} cannot be opened", path.display()))
}

/// Open a device to be written as well. Nobody else may have it.
fn open_to_write(path: &Path, start: u64) -> Result<Device> {
    let how = OpenHow {
        write: true,
        exclusive: true,
    };
    require_start(start)?;
    Device::open(path, start, how).map_err(|err| match err.kind() {
        ErrorKind::ResourceBusy => UsageError(format!(
            "{} is in use and cannot be written",
            path.display()
        ))
        .into(),
        _ => anyhow::Error::from(err).context(format!("{} cannot be opened", path.display())),
    })
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
fn clear_needs_check(device: &Device) -> std::io::Result<bool> {
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
    let device = if args.clear_needs_check {
        open_to_write(&args.device, args.start)?
    } else {
        open(&args.device, args.start)?
    };
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
