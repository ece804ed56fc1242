// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware check`: is a device in log mode as it must be?

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;

use super::{DamageFound, UsageError};
use crate::format::check::{check, Facts, Options, Report};
use crate::format::superblock::PAGE_SECTORS;
use crate::io_engine::pages::{Device, OpenHow};

/// Find out whether a device in log mode is as it must be; nothing is written
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

/// Open a device to be read. One that is in use is read as well, with a warning.
///
/// # Errors
///
/// When it cannot be opened.
pub fn open(path: &Path, start: u64) -> Result<Device> {
    if start % u64::from(PAGE_SECTORS) != 0 {
        return Err(UsageError("The first sector must be a multiple of 8".to_owned()).into());
    }
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

/// # Errors
///
/// When the device is damaged, or cannot be read.
pub fn run(args: &CheckArgs, out: &mut impl Write) -> Result<()> {
    let name = args.device.display();
    let device = open(&args.device, args.start)?;
    let options = Options { quick: args.quick };
    let report = check(&device, &options).with_context(|| format!("{name} cannot be checked"))?;

    if args.json {
        let report = DeviceReport {
            device: name.to_string(),
            report: &report,
        };
        serde_json::to_writer_pretty(&mut *out, &report)?;
        writeln!(out)?;
    } else {
        print(&name.to_string(), &report, out)?;
    }
    if report.is_clean() {
        return Ok(());
    }
    // What was found comes before the verdict.
    out.flush()?;
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
