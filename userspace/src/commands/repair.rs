// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware repair`: sound metadata out of a damaged device's.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;

use super::check::{self, require_read};
use super::{format, overwrite, DamageFound, UsageError};
use crate::format::findings::Findings;
use crate::format::repair::{copy_data, repair, Report};
use crate::format::volume::read_super;

/// Read damaged metadata from one device and write sound metadata to another one
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dieaware repair --from /dev/nvme0n1 --to fixed")]
pub struct RepairArgs {
    /// The damaged device, or an image of it; nothing is written to it
    #[arg(long, value_name = "DEV")]
    from: PathBuf,
    /// Block device or image file; a file that does not exist is made
    #[arg(long, value_name = "FILE|DEV")]
    to: PathBuf,
    /// First sector that the target uses, on both, as in its table line
    #[arg(long, value_name = "SECTORS", default_value_t = 0)]
    start: u64,
    /// Copy what is mapped as well, so that the other device can replace this one
    #[arg(long)]
    data: bool,
    /// Even if the other device holds data or is in use
    #[arg(long)]
    force: bool,
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
}

/// Are these two names of one device or file?
fn is_same(one: &Path, other: &Path) -> bool {
    let (Ok(one), Ok(other)) = (fs::metadata(one), fs::metadata(other)) else {
        return false;
    };
    if one.file_type().is_block_device() && other.file_type().is_block_device() {
        return one.rdev() == other.rdev();
    }
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

fn nothing(path: &Path) -> anyhow::Error {
    DamageFound(format!(
        "{} has no valid superblock: nothing can be repaired",
        path.display()
    ))
    .into()
}

/// # Errors
///
/// When there is nothing to begin with, or the other device cannot be written.
pub fn run(args: &RepairArgs, out: &mut impl Write) -> Result<()> {
    if is_same(&args.from, &args.to) {
        return Err(UsageError(format!(
            "{} and {} are the same device: repair reads one and writes another",
            args.from.display(),
            args.to.display()
        ))
        .into());
    }
    let from = check::open(&args.from, args.start)?;
    let superblock = read_super(&from, &mut Findings::default())
        .with_context(|| format!("{} cannot be repaired", args.from.display()))?
        .ok_or_else(|| nothing(&args.from))?;
    let (path, nr_pages) = (&args.to, superblock.nr_device_pages);
    let to = overwrite::open_or_create(path, args.start, args.force, nr_pages)?;
    let failed = || format!("{} cannot be written", path.display());

    overwrite::clear(path, args.start, args.force, &to)?;
    let salt = u64::from_ne_bytes(format::random()?);
    let report = repair(&from, &to, salt).with_context(failed)?;
    let report = report.map_err(|_| nothing(&args.from))?;
    let mut nr_unread = report.nr_failed_reads;
    if args.data {
        nr_unread += copy_data(&from, &to).with_context(failed)?;
    }
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &report)?;
        writeln!(out)?;
    } else {
        print(&path.display().to_string(), &report, out)?;
    }
    out.flush()?;
    require_read(&args.from, nr_unread)
}

fn counted(count: u64, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {many}"),
    }
}

fn print(to: &str, report: &Report, out: &mut impl Write) -> Result<()> {
    for finding in &report.findings {
        writeln!(out, "{finding}")?;
    }
    writeln!(
        out,
        "{to}: {}, and the places of {} found",
        counted(
            report.nr_map_pages_rebuilt,
            "page of the map was rebuilt",
            "pages of the map were rebuilt"
        ),
        counted(report.nr_lpns_found, "lpn was", "lpns were")
    )?;
    match report.nr_lost {
        Some(0) => writeln!(out, "{to}: {} pages mapped, none lost", report.nr_mapped)?,
        Some(lost) => writeln!(out, "{to}: {} pages mapped, {lost} lost", report.nr_mapped)?,
        None => writeln!(
            out,
            "{to}: {} pages mapped; how many are lost is not known, as the segment table or the \
             journal is damaged",
            report.nr_mapped
        )?,
    }
    Ok(())
}
