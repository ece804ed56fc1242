// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware repair`: sound metadata out of a damaged device's, written to another device: if too
//! little can be known of the damaged one, nothing was lost by trying.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{anyhow, Context, Result};
use clap::Args;
use serde::Serialize;

use super::common::{is_same, no_superblock, print_object, random, require_read, usage, Saying};
use super::log_device;
use super::overwrite;
use crate::format::findings::Findings;
use crate::format::grown::has_grown;
use crate::format::need;
use crate::format::repair::{repair, Report};
use crate::format::superblock::Super;
use crate::format::volume::find_super;
use crate::io_engine::pages::{Nowhere, ReadPages, Watched, WritePages};
use crate::io_engine::shown::Shown;
use crate::progress::Progress;

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
    /// Even if the other device holds something else, or another log, or the damaged one has grown
    /// since its superblock
    #[arg(long)]
    force: bool,
    /// Read all that a repair reads, say what would come of it and be lost, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    saying: Saying,
}

/// What would come of it.
#[derive(Serialize)]
struct Rehearsed<'a> {
    #[serde(flatten)]
    report: &'a Report,
    would_lose: Vec<String>,
}

/// What a repair begins with.
///
/// # Errors
///
/// When the device has no superblock that counts, or features that this version cannot write, or
/// cannot be read.
pub fn superblock_of(path: &Path, from: &impl ReadPages) -> Result<Super> {
    let from = Watched::new(from);
    let failed = || format!("{} cannot be repaired", path.display());
    let superblock = find_super(&from, &mut Findings::default())
        .with_context(failed)?
        .map_err(|why| no_superblock(path, "repaired", &why, from.nr_failed()))?;

    superblock.require_writable().with_context(failed)?;
    need::require(&superblock).with_context(failed)?;
    Ok(superblock)
}

/// What came since it grew would be missing, and nothing would say so.
fn refuse_grown(args: &RepairArgs, from: &impl ReadPages, superblock: &Super) -> Result<()> {
    if args.force || !has_grown(from, superblock) {
        return Ok(());
    }
    Err(usage(format!(
        "{} has grown, and the superblock that it grew by is lost: --force repairs it as it was \
         before, without what came since",
        args.from.display()
    )))
}

/// # Errors
///
/// When there is nothing to begin with, or the other device cannot be written.
pub fn run(args: &RepairArgs, out: &mut impl Write) -> Result<()> {
    args.saying.begin();
    if is_same(&args.from, &args.to) {
        return Err(usage(format!(
            "{} and {} are the same device: repair reads one and writes another",
            args.from.display(),
            args.to.display()
        )));
    }
    let from = log_device::open(&args.from, args.start, false)?;
    let superblock = superblock_of(&args.from, &from)?;
    refuse_grown(args, &from, &superblock)?;
    let changed = || format!("{} is not what it was before", args.from.display());
    if args.dry_run {
        let lost = would_lose(args, &superblock)?;
        let (report, nr_unread) = rehearse(args, &from, &superblock)?.with_context(changed)?;
        print_rehearsed(args, &report, lost, out)?;
        out.flush()?;
        return require_read(&args.from, nr_unread);
    }
    let (path, nr_pages) = (&args.to, superblock.nr_device_pages);
    let to = overwrite::open_or_create(path, args.start, nr_pages)?;

    overwrite::clear_for_log(path, args.start, args.force, &to, &superblock.uuid)?;
    let salt = u64::from_ne_bytes(random()?);
    let mended = mend(&from, &to, path, salt, args.data, &Progress::new()?)?;
    let (report, nr_unread) = mended.with_context(changed)?;
    if args.json {
        print_object(out, &report)?;
    } else {
        print(&path.display().to_string(), &report, args.saying.quiet, out)?;
    }
    out.flush()?;
    require_read(&args.from, nr_unread)
}

/// What the other device has that a repair would write over; `None`: it would be made.
fn would_lose(args: &RepairArgs, superblock: &Super) -> Result<Option<Vec<String>>> {
    let (path, start) = (&args.to, args.start);

    overwrite::open_if_there(path, start, superblock.nr_device_pages)?
        .map(|to| overwrite::would_clear_for_log(path, start, args.force, &to, &superblock.uuid))
        .transpose()
}

/// A repair to nowhere: what it finds out, it finds out before anything is there.
fn rehearse(
    args: &RepairArgs,
    from: &impl ReadPages,
    superblock: &Super,
) -> Result<Option<(Report, u64)>> {
    let nowhere = Nowhere::new(superblock.nr_device_pages);
    let progress = Progress::new()?;
    let mended = write_mended(from, &nowhere, &args.to, 0, args.data, &progress);

    progress.go_on()?;
    mended
}

fn print_rehearsed(
    args: &RepairArgs,
    report: &Report,
    lost: Option<Vec<String>>,
    out: &mut impl Write,
) -> Result<()> {
    let name = args.to.display().to_string();

    if args.json {
        let would_lose = lost.unwrap_or_default();
        print_object(out, &Rehearsed { report, would_lose })?;
        return Ok(());
    }
    match &lost {
        None => writeln!(out, "{name} does not exist, and would be made")?,
        Some(lost) => overwrite::print_lost(&args.to, lost, out)?,
    }
    writeln!(out, "Nothing is written. A repair would say:")?;
    print(&name, report, false, out)
}

/// What was done, and how many pages could not be read; `None`: there is nothing to begin with.
/// When it is interrupted or fails, `to` has no valid superblock.
fn mend(
    from: &impl ReadPages,
    to: &impl WritePages,
    path: &Path,
    salt: u64,
    with_data: bool,
    progress: &Progress,
) -> Result<Option<(Report, u64)>> {
    overwrite::whole(path, to, progress, |to| {
        write_mended(from, to, path, salt, with_data, progress)
    })
}

/// The same, and `to` is left as it is when that fails.
fn write_mended(
    from: &impl ReadPages,
    to: &impl WritePages,
    path: &Path,
    salt: u64,
    with_data: bool,
    progress: &Progress,
) -> Result<Option<(Report, u64)>> {
    let from = Shown::new(from, progress);
    let failed = || format!("{} cannot be written", path.display());
    progress.begin_pages("repairing");
    let repaired = repair(&from, to, salt).map_err(|err| match err.kind() {
        ErrorKind::InvalidData => anyhow!(err).context("Nothing sound can be made of it"),
        _ => anyhow!(err).context(failed()),
    })?;
    let Ok(repaired) = repaired else {
        return Ok(None);
    };
    let mut nr_unread = repaired.report.nr_failed_reads;
    if with_data {
        progress.begin_pages("copying");
        // Sound metadata without all of the data would be taken for whole.
        nr_unread += repaired.copy_data(&from, to).with_context(failed)?;
    }
    let report = repaired.finish(to).with_context(failed)?;
    Ok(Some((report, nr_unread)))
}

fn counted(count: u64, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {many}"),
    }
}

/// What was found, and if nobody minds, or something is lost, what was made of it.
fn print(to: &str, report: &Report, is_quiet: bool, out: &mut impl Write) -> Result<()> {
    for finding in &report.findings {
        writeln!(out, "{finding}")?;
    }
    if is_quiet && report.nr_lost == Some(0) {
        return Ok(());
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
    if report.nr_sums_made != 0 {
        writeln!(
            out,
            "{to}: {} of what lies there, as nothing says what should",
            counted(
                report.nr_sums_made,
                "checksum is that",
                "checksums are those"
            )
        )?;
    }
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io;
    use std::path::Path;

    use super::{mend, Findings, Progress};
    use crate::commands::overwrite::pressing::{empty_log, Pressing};
    use crate::format::volume::read_super;
    use crate::io_engine::pages::{Ram, ReadPages, WritePages};
    use crate::progress::Interrupted;

    /// The nth write or flush fails, and no other one.
    struct FailingOnce {
        ram: Ram,
        left: Cell<u64>,
    }

    impl FailingOnce {
        fn count(&self) -> io::Result<()> {
            let left = self.left.get();
            self.left.set(left.saturating_sub(1));
            if left == 1 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            Ok(())
        }
    }

    impl ReadPages for FailingOnce {
        fn nr_pages(&self) -> u64 {
            self.ram.nr_pages()
        }

        fn read(&self, dpn: u64, pages: &mut [u8]) -> io::Result<()> {
            self.ram.read(dpn, pages)
        }
    }

    impl WritePages for FailingOnce {
        fn write(&self, dpn: u64, pages: &[u8]) -> io::Result<()> {
            self.count()?;
            self.ram.write(dpn, pages)
        }

        fn flush(&self) -> io::Result<()> {
            self.count()
        }
    }

    #[test]
    fn an_interrupted_repair_leaves_nothing_that_looks_whole() {
        let mut nr_interrupted = 0;
        let empty = empty_log(4096);
        for left in (1..).step_by(6) {
            let (from, progress) = Pressing::new(empty.clone(), left);
            // What was there before counts no more, either.
            let to = empty.clone();
            let result = mend(&from, &to, Path::new("to"), 9, true, &progress);
            let found = read_super(&to, &mut Findings::default()).unwrap();
            match result {
                Ok(report) => {
                    assert!(report.is_some() && found.is_some());
                    break;
                }
                Err(err) => {
                    assert!(err.is::<Interrupted>(), "{err:#}");
                    assert!(found.is_none(), "read {left}");
                    nr_interrupted += 1;
                }
            }
        }
        assert!(nr_interrupted > 4, "{nr_interrupted}");
    }

    #[test]
    fn a_repair_that_fails_leaves_nothing_that_looks_whole() {
        let from = empty_log(4096);
        let progress = Progress::new().unwrap();
        let mut nr_failed = 0;
        for left in 1.. {
            let to = FailingOnce {
                ram: from.clone(),
                left: Cell::new(left),
            };
            let result = mend(&from, &to, Path::new("to"), 9, true, &progress);
            let found = read_super(&to.ram, &mut Findings::default()).unwrap();
            let Err(err) = result else {
                assert!(found.is_some());
                break;
            };
            assert_eq!(
                format!("{err:#}"),
                "to was left without a valid superblock: begin again: to cannot be written: no \
                 storage space"
            );
            assert!(found.is_none(), "write {left}");
            nr_failed += 1;
        }
        assert!(nr_failed > 7, "{nr_failed}");
    }
}
