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
use crate::format::layout::{BLOCK_BYTES, SUPER_DPN_A, SUPER_DPN_B};
use crate::format::repair::{copy_data, repair, Report};
use crate::format::volume::read_super;
use crate::io_engine::pages::{ReadPages, WritePages};
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
    let mended = mend(&from, &to, salt, args.data, &Progress::new()?).with_context(failed)?;
    let (report, nr_unread) = mended.ok_or_else(|| nothing(&args.from))?;
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &report)?;
        writeln!(out)?;
    } else {
        print(&path.display().to_string(), &report, out)?;
    }
    out.flush()?;
    require_read(&args.from, nr_unread)
}

/// What was done, and how many pages could not be read; `None`: there is nothing to begin with.
/// When it is interrupted, `to` has no valid superblock.
fn mend(
    from: &impl ReadPages,
    to: &impl WritePages,
    salt: u64,
    with_data: bool,
    progress: &Progress,
) -> Result<Option<(Report, u64)>> {
    let (shown_from, shown_to) = (Shown::new(from, progress), Shown::new(to, progress));
    progress.begin_pages("repairing");
    let report = repair(&shown_from, &shown_to, salt);
    if let Err(interrupted) = progress.go_on() {
        // It may have come just after the end.
        withdraw(to)?;
        return Err(interrupted.into());
    }
    let Ok(report) = report? else {
        return Ok(None);
    };
    let mut nr_unread = report.nr_failed_reads;
    if with_data {
        progress.begin_pages("copying");
        let copied = copy_data(&shown_from, &shown_to);
        if let Err(interrupted) = progress.go_on() {
            // Sound metadata without all of the data would be taken for whole.
            withdraw(to)?;
            return Err(interrupted.into());
        }
        nr_unread += copied?;
    }
    Ok(Some((report, nr_unread)))
}

/// Leave no valid superblock.
fn withdraw(to: &impl WritePages) -> std::io::Result<()> {
    for dpn in [SUPER_DPN_A, SUPER_DPN_B] {
        to.write(dpn, &[0; BLOCK_BYTES])?;
    }
    to.flush()
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::Arc;

    use super::{mend, read_super, Findings, Progress, ReadPages};
    use crate::format::create::create;
    use crate::format::make::{make, Request};
    use crate::io_engine::pages::Ram;
    use crate::progress::Interrupted;
    use crate::units::PAGE_BYTES;

    /// Someone presses Ctrl-C while it is read from for the nth time.
    struct Pressing {
        ram: Ram,
        left: Cell<u64>,
        stop: Arc<AtomicBool>,
    }

    impl ReadPages for Pressing {
        fn nr_pages(&self) -> u64 {
            self.ram.nr_pages()
        }

        fn read(&self, dpn: u64, pages: &mut [u8]) -> io::Result<()> {
            self.left.set(self.left.get().saturating_sub(1));
            if self.left.get() == 0 {
                self.stop.store(true, Ordering::Relaxed);
            }
            self.ram.read(dpn, pages)
        }
    }

    fn empty_log(nr_pages: u64) -> Ram {
        let superblock = make(&Request {
            uuid: [7; 16],
            label: String::new(),
            nr_device_pages: nr_pages,
            stripe_pages: 8,
            segment_pages: Some(64),
            journal_sectors: None,
            journal_unit_sectors: 8,
            reserve_permille: 100,
        })
        .unwrap();
        let ram = Ram::new(vec![0; (nr_pages * PAGE_BYTES) as usize]);
        create(&ram, &superblock, 5).unwrap();
        ram
    }

    #[test]
    fn an_interrupted_repair_leaves_nothing_that_looks_whole() {
        let mut nr_interrupted = 0;
        let empty = empty_log(4096);
        for left in (1..).step_by(6) {
            let stop = Arc::new(AtomicBool::new(false));
            let from = Pressing {
                ram: empty.clone(),
                left: Cell::new(left),
                stop: Arc::clone(&stop),
            };
            // What was there before counts no more, either.
            let to = empty.clone();
            let result = mend(&from, &to, 9, true, &Progress::with_stop(stop));
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
}
