// SPDX-License-Identifier: GPL-2.0-only
//! Timing what was found: opens the files, reads their windows past the page cache, and looks at what
//! the kernel counts meanwhile, which tells whether the reads reached the drive as they were sent.

use std::collections::btree_map::{BTreeMap, Entry};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use nix::libc;
use thiserror::Error;

use super::measure::{measure, Job, Kind, Samples};
use super::own::Own;
use super::stats::{compare, memory, parts, unevenness, Ways};
use super::verdict::{judge, Facts, Verdict};
use super::windows::{Chosen, Part, Window, LEAST};
use crate::io_engine::ring::Ring;
use crate::progress::{Interrupted, Progress};
use crate::units::{PAGE_BYTES, SECTOR_BYTES};

#[derive(Debug, Error)]
pub enum ExamineError {
    #[error("{} cannot be read: {}", .0.display(), .1)]
    Read(PathBuf, io::Error),
    #[error("{} has become shorter meanwhile: try again", .0.display())]
    Shorter(PathBuf),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// What is to be timed.
pub struct Subject<'a> {
    pub files: &'a [PathBuf],
    pub chosen: Chosen,
    pub own: Option<&'a Own>,
    /// All files were looked at.
    pub has_seen_all: bool,
    /// Names of disks below, in `/sys/class/block`.
    pub disks: Vec<String>,
}

/// What came of it.
pub struct Examined {
    pub facts: Facts,
    pub samples: Samples,
    pub nr_own: usize,
}

/// What the kernel has counted of disks' reads.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Counters {
    merges: u64,
    sectors: u64,
}

/// From `stat` of a disk.
fn parse_counters(stat: &str) -> Option<Counters> {
    let mut numbers = stat.split_whitespace().map(str::parse);
    let _reads: u64 = numbers.next()?.ok()?;

    Some(Counters {
        merges: numbers.next()?.ok()?,
        sectors: numbers.next()?.ok()?,
    })
}

/// Of all disks; `None`: one of them does not count.
fn counters(disks: &[String]) -> Option<Counters> {
    let mut sum = Counters::default();

    for name in disks {
        let folder = Path::new("/sys/class/block").join(name);
        if fs::read_to_string(folder.join("queue/iostats"))
            .ok()?
            .trim()
            != "1"
        {
            return None;
        }
        let disk = parse_counters(&fs::read_to_string(folder.join("stat")).ok()?)?;
        sum.merges += disk.merges;
        sum.sectors += disk.sectors;
    }
    (!disks.is_empty()).then_some(sum)
}

/// Without a change to the time of the last access: nothing is written to the filesystem.
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_DIRECT | libc::O_NOATIME | libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)
}

/// Files that are open, by their count.
struct Opened<'a> {
    paths: &'a [PathBuf],
    files: BTreeMap<usize, File>,
}

impl<'a> Opened<'a> {
    /// Leaves windows out whose files cannot be opened.
    fn open(paths: &'a [PathBuf], chosen: &mut Chosen) -> Self {
        let mut files = BTreeMap::new();
        let mut can_open = |window: &Window| match files.entry(window.file) {
            Entry::Occupied(_) => true,
            Entry::Vacant(place) => {
                let opened = paths.get(window.file).and_then(|path| open(path).ok());
                opened.map(|file| place.insert(file)).is_some()
            }
        };
        chosen.pieces.retain(&mut can_open);
        chosen.whole.retain(&mut can_open);
        Self { paths, files }
    }

    fn path(&self, file: usize) -> PathBuf {
        self.paths.get(file).cloned().unwrap_or_default()
    }
}

/// Everything that jobs are done with.
struct Bench<'a> {
    ring: Ring,
    opened: Opened<'a>,
    chosen: Chosen,
    own: Option<&'a Own>,
    own_windows: Vec<Window>,
    bytes: u64,
    nr_pieces: u64,
}

impl Bench<'_> {
    /// The file and the reads of a job.
    fn reads(&self, job: Job) -> Option<(&File, usize, Vec<Part>)> {
        let list = match job.kind {
            Kind::AsIs | Kind::Pieces => &self.chosen.pieces,
            Kind::Whole | Kind::WholePieces => &self.chosen.whole,
            Kind::Own | Kind::OwnPieces => &self.own_windows,
        };
        let window = list.get(job.window)?;
        let file = match job.kind {
            Kind::Own | Kind::OwnPieces => &self.own?.file,
            _ => self.opened.files.get(&window.file)?,
        };
        let parts = match job.kind {
            Kind::AsIs | Kind::Whole | Kind::Own => window.whole(),
            Kind::Pieces => window.cut(&window.pieces),
            Kind::WholePieces | Kind::OwnPieces => {
                let pieces = self.chosen.pieces.len().max(1);
                window.cut(&self.chosen.pieces.get(job.window % pieces)?.pieces)
            }
        };
        Some((file, window.file, parts))
    }

    fn time(&mut self, job: Job) -> Result<u64, ExamineError> {
        let nothing = || io::Error::other("a part of a file is not known");
        let (file, index, parts) = self.reads(job).ok_or_else(nothing)?;
        let pieces: Vec<_> = parts
            .iter()
            .map(|part| (part.at, part.bytes as usize))
            .collect();
        let file = file.try_clone()?;
        let took = self.ring.time(&file, &pieces).map_err(|err| {
            let path = self.opened.path(index);
            match err.kind() {
                io::ErrorKind::UnexpectedEof => ExamineError::Shorter(path),
                _ => ExamineError::Read(path, err),
            }
        })?;
        self.bytes += parts.iter().map(|part| part.bytes).sum::<u64>();
        if parts.len() > 1 {
            self.nr_pieces += parts.len() as u64;
        }
        Ok(took)
    }

    /// What is compared: nothing in pieces, or nothing in one piece, is not timed for nothing.
    fn jobs(&self) -> Vec<Job> {
        let (pieces, whole) = (self.chosen.pieces.len(), self.chosen.whole.len());
        let own = self.own_windows.len();
        let has_pieces = pieces >= LEAST && (whole >= LEAST || own > 0);
        let nr = |kind| match kind {
            Kind::AsIs | Kind::Pieces if has_pieces => pieces,
            Kind::Whole if whole >= LEAST => whole,
            Kind::WholePieces if has_pieces && own == 0 => whole,
            Kind::Own => own,
            Kind::OwnPieces if has_pieces => own,
            _ => 0,
        };
        let all = [
            Kind::AsIs,
            Kind::Pieces,
            Kind::Whole,
            Kind::WholePieces,
            Kind::Own,
            Kind::OwnPieces,
        ];
        all.into_iter()
            .flat_map(|kind| (0..nr(kind)).map(move |window| Job { kind, window }))
            .collect()
    }
}

/// What times say.
fn facts(base: &Facts, samples: &Samples) -> Facts {
    let memory = memory(&[&samples.of(Kind::Whole), &samples.of(Kind::Own)]);
    let of = |kind| samples.that_count(kind, memory);
    let (as_is, pieces, whole) = (of(Kind::AsIs), of(Kind::Pieces), of(Kind::Whole));
    let (fast, fast_pieces) = if base.has_own {
        (of(Kind::Own), of(Kind::OwnPieces))
    } else {
        (whole.clone(), of(Kind::WholePieces))
    };

    Facts {
        parts: parts(&Ways {
            as_is: &as_is,
            pieces: &pieces,
            whole: &fast,
            whole_pieces: &fast_pieces,
        }),
        unevenness: unevenness(&samples.of(Kind::Whole), memory),
        aged: base.has_own.then(|| compare(&whole, &fast)).flatten(),
        memory,
        ..base.clone()
    }
}

fn is_clear(facts: &Facts) -> bool {
    judge(facts).verdict() != Verdict::CannotTell
}

/// Time it, until it is clear or `end` has come.
///
/// # Errors
///
/// When a file cannot be read, or somebody wants it to end.
pub fn examine(
    mut subject: Subject,
    end: Instant,
    progress: &Progress,
) -> Result<Examined, ExamineError> {
    let opened = Opened::open(subject.files, &mut subject.chosen);
    let own_windows = match subject.own {
        Some(own) => own.windows(subject.chosen.size_bytes)?,
        None => Vec::new(),
    };
    let base = Facts {
        has_own: own_windows.len() >= LEAST,
        has_seen_all: subject.has_seen_all,
        nr_in_pieces: subject.chosen.pieces.len(),
        nr_whole: subject.chosen.whole.len(),
        ..Facts::default()
    };
    let pages = (subject.chosen.size_bytes / PAGE_BYTES).max(1) as usize;
    let mut bench = Bench {
        ring: Ring::new(pages, pages)?,
        opened,
        own: subject.own,
        own_windows: if base.has_own {
            own_windows
        } else {
            Vec::new()
        },
        chosen: subject.chosen,
        bytes: 0,
        nr_pieces: 0,
    };
    let jobs = bench.jobs();
    let before = counters(&subject.disks);

    // Drawn anew, the same samples might say something else.
    let mut clear = None;
    progress.begin_reads("timing");
    let samples = measure(
        &jobs,
        &mut |job| {
            progress.go_on()?;
            if Instant::now() >= end {
                return Ok(None);
            }
            progress.advance(1);
            bench.time(job).map(Some)
        },
        &mut |samples| {
            clear = Some(facts(&base, samples)).filter(is_clear);
            clear.is_some()
        },
    )?;
    let mut found = clear.unwrap_or_else(|| facts(&base, &samples));
    if let (Some(before), Some(after)) = (before, counters(&subject.disks)) {
        let merges = after.merges.saturating_sub(before.merges);
        let bytes = after.sectors.saturating_sub(before.sectors) * SECTOR_BYTES;
        found.is_merged = merges * 10 > bench.nr_pieces && bench.nr_pieces > 0;
        found.is_cached = bytes * 2 < bench.bytes;
    }
    Ok(Examined {
        facts: found,
        nr_own: bench.own_windows.len(),
        samples,
    })
}

#[cfg(test)]
mod tests {
    use super::{parse_counters, Counters};

    #[test]
    fn merged_reads_are_the_second_number() {
        let counters = Counters {
            merges: 7,
            sectors: 4096,
        };
        let stat = "     130        7     4096       12      0 0 0 0 0 0 0\n";
        assert_eq!(parse_counters(stat), Some(counters));
        assert_eq!(parse_counters("1 2"), None);
        assert_eq!(parse_counters("1 x 3"), None);
    }
}
