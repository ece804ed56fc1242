// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware doctor`: is this filesystem slow to read because its files lie badly, and what would
//! help? It needs nothing but a mounted filesystem, and writes nothing unless it is told to.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::Write;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, Context, Result};
use clap::Args;
use nix::libc;

use super::common::{print_json, require_writable, usage, write_picture, Saying, Written};
use crate::defrag::blocks;
use crate::defrag::room;
use crate::device::layers::{layers, Layer};
use crate::device::nvme::announce::{announced, Announced};
use crate::device::nvme::Namespace;
use crate::device::stack;
use crate::doctor::examine::{examine, ExamineError, Examined, Subject};
use crate::doctor::own::{Own, OwnError};
use crate::doctor::report::{self, disks, Drive, Files, Report, Worst, MOST_NAMED, VERSION};
use crate::doctor::scan::{scan, Scan};
use crate::doctor::stats::Memory;
use crate::doctor::svg::picture;
use crate::doctor::verdict::{cause, judge, remedies, unknowns, Abilities};
use crate::doctor::windows::{best, Chosen};
use crate::frag::look::{look, Drives};
use crate::fs::file::{self, FileError};
use crate::fs::mounts;
use crate::progress::{Interrupted, Progress};

/// Looking for files takes no more than this part of the time.
const SCAN_PART: u32 = 3;

/// Find out whether files are slow to read because they lie badly, and what would help
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dieaware doctor --svg doctor.svg /srv\n\n\
    Nothing is written unless --write is given. Root sees what the drive announces, and all files.")]
pub struct DoctorArgs {
    /// A folder of a mounted filesystem, all files below which are looked at, or the device of one.
    /// Chosen: the folder that you are in
    #[arg(value_name = "MOUNT|DEVICE")]
    path: Option<PathBuf>,
    /// Take no longer than that
    #[arg(long, value_name = "SECONDS", default_value_t = 60,
          value_parser = clap::value_parser!(u64).range(1..=86400))]
    time: u64,
    /// Write a file of so many MiB to compare with; it has no name, and is gone at the end
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(8..=65536))]
    write: Option<u64>,
    /// Draw what was timed
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    saying: Saying,
}

/// What is examined.
struct Place {
    folder: PathBuf,
    filesystem: String,
    layers: Vec<Layer>,
}

/// The folder in which a device's filesystem is seen.
fn mounted(device: &Path) -> Result<PathBuf> {
    let name = device.display();
    let number = stack::number_of(device).with_context(|| format!("{name} has no number"))?;
    let mountinfo = mounts::mountinfo().context("What is mounted is not known")?;

    mounts::mount_point(&mountinfo, number, &|node| stack::is_node_of(node, number)).ok_or_else(
        || {
            usage(format!(
            "{name} is not mounted, and files are what is looked at: mount it (read-only will do)"
        ))
        },
    )
}

fn place(args: &DoctorArgs) -> Result<Place> {
    let path = match &args.path {
        Some(path) => path.clone(),
        None => env::current_dir().context("The folder that you are in is not known")?,
    };
    let name = path.display().to_string();
    let metadata = fs::metadata(&path).with_context(|| format!("{name} cannot be opened"))?;
    let folder = if metadata.file_type().is_block_device() {
        mounted(&path)?
    } else {
        path
    };
    if !folder.is_dir() {
        return Err(usage(format!(
            "{name} is neither a folder nor a block device"
        )));
    }
    let about = |err: FileError| anyhow!("{name}: {err}");
    let opened = file::open_place(&folder).map_err(about)?;
    let filesystem = file::mount_of(&opened).map_err(about)?.fs_type;
    let below = match file::below(&opened) {
        Ok(below) => layers(below),
        // Without root btrfs does not say; its files are known all the same.
        Err(FileError::Btrfs(_)) => Vec::new(),
        Err(err) => return Err(about(err)),
    };
    Ok(Place {
        folder,
        filesystem,
        layers: below,
    })
}

fn ask(node: &Path) -> Drive {
    let mut drive = Drive {
        node: node.to_owned(),
        announced: None,
        unknown: None,
    };

    match Namespace::open(node).and_then(|namespace| announced(&namespace)) {
        Ok(said) => drive.announced = Some(said),
        // It is none of NVMe's.
        Err(err) if err.raw_os_error() == Some(libc::ENOTTY) => {}
        Err(err) => drive.unknown = Some(format!("it cannot be asked what it announces: {err}")),
    }
    drive
}

/// What all drives can do.
fn abilities(place: &Place, drives: &[Drive]) -> Abilities {
    let all = |can: fn(&Announced) -> bool| {
        !drives.is_empty()
            && drives
                .iter()
                .all(|drive| drive.announced.as_ref().is_some_and(can))
    };

    Abilities {
        hints: all(|drive| drive.hints),
        spreads: all(|drive| drive.redistribute),
        shares: all(|drive| drive.share),
        fdp: all(|drive| drive.fdp),
        moves: blocks::FS_TYPES.contains(&place.filesystem.as_str()),
    }
}

/// A file of our own, if one is wanted.
fn own(args: &DoctorArgs, place: &Place, progress: &Progress) -> Result<Option<Own>> {
    let Some(mib) = args.write else {
        return Ok(None);
    };
    let bytes = mib << 20;
    let name = place.folder.display();

    if let Err(free) = room::room_for(&place.folder, bytes)? {
        return Err(usage(format!(
            "{name} has no room for {mib} MiB: {} MiB are free, of which 1 percent of the filesystem is \
             left to others",
            free >> 20
        )));
    }
    match Own::write(&place.folder, bytes, progress) {
        Ok(own) => Ok(Some(own)),
        Err(OwnError::Interrupted(_)) => Err(Interrupted.into()),
        Err(OwnError::Io(err)) => {
            Err(err).with_context(|| format!("{name}: no file could be written to compare with"))
        }
    }
}

/// The files that most of what is timed in pieces comes from, the worst first.
fn worst(scan: &Scan, chosen: &Chosen) -> Vec<Worst> {
    let mut drives = Drives::default();
    let mut named = BTreeSet::new();
    let mut list = Vec::new();

    for window in &chosen.pieces {
        if list.len() == MOST_NAMED || !named.insert(window.file) {
            continue;
        }
        let Some(path) = scan.files.get(window.file) else {
            continue;
        };
        // It may have gone.
        let Ok(look) = look(path, &mut drives) else {
            continue;
        };
        list.push(Worst {
            path: path.display().to_string(),
            bytes: look.bytes,
            pieces: look.logical.pieces,
            dof_p_permille: look.on_ssd.ok().map(|on_ssd| on_ssd.physical.dof_permille),
        });
    }
    list
}

fn timing(err: ExamineError) -> anyhow::Error {
    match err {
        ExamineError::Interrupted(interrupted) => interrupted.into(),
        ExamineError::Read(path, err) => {
            anyhow!(err).context(format!("{} cannot be read", path.display()))
        }
        err => err.into(),
    }
}

/// Everything is known: say it in one way.
fn tell(
    place: Place,
    files: Files,
    drives: Vec<Drive>,
    found: &Examined,
    chosen: &Chosen,
) -> Report {
    let reason = judge(&found.facts);

    Report {
        version: VERSION,
        remedies: remedies(&found.facts, abilities(&place, &drives)),
        path: place.folder.display().to_string(),
        filesystem: place.filesystem,
        layers: place.layers,
        drives,
        files,
        read_bytes: chosen.size_bytes,
        rounds: found.samples.nr_rounds(),
        remembers: found.facts.memory == Memory::Some,
        seconds: 0,
        timed: report::timed(&found.samples, found.facts.memory, chosen.size_bytes),
        slowdown: found.facts.parts,
        unevenness: found.facts.unevenness,
        aged: found.facts.aged,
        verdict: reason.verdict(),
        reason: reason.word(),
        because: reason.to_string(),
        cause: cause(&found.facts),
        not_known: unknowns(&found.facts),
    }
}

fn diagnose(args: &DoctorArgs, place: Place, begin: Instant) -> Result<Report> {
    let progress = Progress::new()?;
    let time = Duration::from_secs(args.time);
    let own = own(args, &place, &progress)?;
    let scan_end = begin + time / SCAN_PART;

    progress.begin_reads("looking at files");
    let mut scan = scan(&place.folder, &mut || {
        progress.go_on()?;
        progress.advance(1);
        Ok(Instant::now() < scan_end)
    })?;
    if scan.nr_files == 0 && scan.nr_unknown > 0 {
        bail!("{}", scan.why_unknown.unwrap_or_default());
    }
    let pools = std::mem::take(&mut scan.pools);
    let chosen = best(pools, own.is_some()).unwrap_or_default();
    let files = Files {
        seen: scan.nr_files,
        unknown: scan.nr_unknown,
        why_unknown: scan.why_unknown.clone(),
        all: scan.is_all,
        bytes: chosen.bytes,
        bytes_in_pieces: chosen.bytes_in_pieces,
        worst: worst(&scan, &chosen),
    };
    let nodes = disks(&place.layers);
    let drives: Vec<Drive> = nodes.iter().map(|node| ask(node)).collect();
    let names = nodes.iter().filter_map(|node| node.file_name()?.to_str());
    let subject = Subject {
        files: &scan.files,
        chosen: chosen.clone(),
        own: own.as_ref(),
        has_seen_all: scan.is_all && scan.nr_unknown == 0,
        disks: names.map(str::to_owned).collect(),
    };
    let found = examine(subject, begin + time, &progress).map_err(timing)?;
    let mut report = tell(place, files, drives, &found, &chosen);
    report.seconds = begin.elapsed().as_secs();
    Ok(report)
}

/// # Errors
///
/// When the filesystem cannot be looked at, or somebody wants it to end.
pub fn run(args: &DoctorArgs, out: &mut impl Write) -> Result<()> {
    args.saying.begin();
    let begin = Instant::now();
    if let Some(path) = &args.svg {
        require_writable(path, Written::Picture)?;
    }
    let report = diagnose(args, place(args)?, begin)?;

    if let Some(path) = &args.svg {
        write_picture(path, &picture(&report))?;
    }
    if args.json {
        print_json(out, &report)?;
    } else {
        report.print(out)?;
    }
    out.flush()?;
    if let Some(why) = &report.files.why_unknown {
        remark!(
            "dieaware: of {} files or folders it is not known where they lie: {why}.",
            report.files.unknown
        );
    }
    Ok(())
}
