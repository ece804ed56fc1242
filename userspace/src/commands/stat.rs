// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware stat`: figures of a device in log mode, from the device alone: no target is needed.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use super::common::{print_object, require_read, DamageFound};
use super::log_device;
use crate::format::stat::{stat, Stat};

/// Show how full a device in log mode is, and how its segments are used
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dieaware stat --files 5 /dev/nvme0n1")]
pub struct StatArgs {
    /// Block device or image file
    #[arg(value_name = "DEV")]
    device: PathBuf,
    /// First sector that the target uses, as in its table line
    #[arg(long, value_name = "SECTORS", default_value_t = 0)]
    start: u64,
    /// Show so many of the files that are in most pieces
    #[arg(long, value_name = "N", default_value_t = 0)]
    files: usize,
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
}

/// # Errors
///
/// When the device is damaged, or cannot be read.
pub fn run(args: &StatArgs, out: &mut impl Write) -> Result<()> {
    let name = args.device.display();
    let device = log_device::open(&args.device, args.start, false)?;
    let stat = stat(&device, args.files).with_context(|| format!("{name} cannot be looked at"))?;
    let damaged = || DamageFound(format!("{name} is damaged: \"dieaware check\" says how"));
    let stat = match stat {
        Ok(stat) => stat,
        Err(lost) => {
            require_read(&args.device, lost.nr_failed_reads)?;
            return Err(damaged().into());
        }
    };

    if args.json {
        print_object(out, &stat)?;
    } else {
        print(&stat, out)?;
    }
    out.flush()?;
    require_read(&args.device, stat.nr_failed_reads)?;
    if stat.nr_damages != 0 {
        return Err(damaged().into());
    }
    Ok(())
}

/// A share as a percentage with one decimal.
fn percent(part: u64, all: u64) -> String {
    let permille = (u128::from(part) * 1000)
        .checked_div(u128::from(all))
        .unwrap_or(0);
    format!("{}.{} %", permille / 10, permille % 10)
}

fn print(stat: &Stat, out: &mut impl Write) -> Result<()> {
    writeln!(
        out,
        "mapped    {} of {} pages, {}, in {} pieces",
        stat.nr_mapped,
        stat.nr_lpns,
        percent(stat.nr_mapped, stat.nr_lpns),
        stat.nr_map_pieces
    )?;
    writeln!(
        out,
        "segments  {} of {} pages of data: {} free, {} open, {} closed ({} of them empty)",
        stat.nr_segments,
        stat.data_pages,
        stat.nr_free,
        stat.nr_open,
        stat.nr_closed,
        stat.nr_empty
    )?;
    writeln!(
        out,
        "journal   {} of {} sectors, {}",
        stat.journal_used_sectors,
        stat.journal_sectors,
        percent(stat.journal_used_sectors, u64::from(stat.journal_sectors))
    )?;
    writeln!(out, "written   {} pages since format", stat.pages_written)?;
    let checksums = if stat.checksums {
        "of all data"
    } else {
        "none"
    };
    writeln!(out, "checksums {checksums}")?;
    let drafts = if stat.drafts {
        "of small writes"
    } else {
        "none"
    };
    writeln!(out, "drafts    {drafts}")?;
    writeln!(out, "closed segments by valid pages")?;
    let most = stat.utilization.iter().copied().max().unwrap_or(0).max(1);
    for (tenth, count) in (1..).zip(stat.utilization) {
        let bar = "#".repeat((count * 40).div_ceil(most) as usize);
        let line = format!("  up to {:>3} %  {count:>8}  {bar}", tenth * 10);
        writeln!(out, "{}", line.trim_end())?;
    }
    print_files(stat, out)
}

fn print_files(stat: &Stat, out: &mut impl Write) -> Result<()> {
    if stat.files.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "{} files, and {} pages of which the file is not known",
        stat.nr_files, stat.nr_unknown_pages
    )?;
    writeln!(out, "{:>20}  {:>10}  {:>10}", "file", "pages", "pieces")?;
    for file in &stat.files {
        writeln!(
            out,
            "{:>20}  {:>10}  {:>10}",
            file.file, file.nr_pages, file.nr_pieces
        )?;
    }
    Ok(())
}
