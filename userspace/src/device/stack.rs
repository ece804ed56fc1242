// SPDX-License-Identifier: GPL-2.0-only
//! What lies below a block device: disks, through partitions and targets that map 1:1.

use std::collections::btree_map::{BTreeMap, Entry};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::sys::stat::{major, minor};
use thiserror::Error;

use crate::dm::{self, DmError};
use crate::units::DeviceNumber;

const SYSFS: &str = "/sys/dev/block";

/// The disk that a block device is, or is a partition of.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Base {
    /// Its folder in sysfs.
    sysfs: PathBuf,
    /// Where it begins on the disk.
    pub start_sectors: u64,
}

fn invalid(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

impl Base {
    /// The disk that a block device is, or is a partition of.
    ///
    /// # Errors
    ///
    /// When sysfs does not know it.
    pub fn of(device: DeviceNumber) -> io::Result<Self> {
        let sysfs = fs::canonicalize(Path::new(SYSFS).join(device.to_string()))?;
        if !sysfs.join("partition").exists() {
            return Ok(Self {
                sysfs,
                start_sectors: 0,
            });
        }
        let start = fs::read_to_string(sysfs.join("start"))?;
        let disk = sysfs
            .parent()
            .ok_or_else(|| invalid("a partition has no disk"))?;
        Ok(Self {
            sysfs: disk.to_owned(),
            start_sectors: start
                .trim()
                .parse()
                .map_err(|_| invalid(format!("a partition begins at \"{}\"", start.trim())))?,
        })
    }

    /// The disk's node.
    ///
    /// # Errors
    ///
    /// When it has no name.
    pub fn disk(&self) -> io::Result<PathBuf> {
        let name = self
            .sysfs
            .file_name()
            .ok_or_else(|| invalid("a disk has no name"))?;
        Ok(Path::new("/dev").join(name))
    }

    /// A limit of the disk's queue.
    ///
    /// # Errors
    ///
    /// When sysfs does not have it.
    pub fn queue(&self, name: &str) -> io::Result<String> {
        fs::read_to_string(self.sysfs.join("queue").join(name))
    }
}

/// The number of a block device's node.
///
/// # Errors
///
/// When there is no such node.
pub fn number_of(path: &Path) -> io::Result<DeviceNumber> {
    Ok(number(fs::metadata(path)?.rdev()))
}

/// The device of a file, as `stat` has it. It need not be one (btrfs).
#[must_use]
pub fn device_of(metadata: &fs::Metadata) -> DeviceNumber {
    number(metadata.dev())
}

fn number(device: u64) -> DeviceNumber {
    DeviceNumber {
        major: major(device) as u32,
        minor: minor(device) as u32,
    }
}

/// The disk that a block device is, or is a partition of.
///
/// # Errors
///
/// When that is not known.
pub fn disk_of(path: &Path) -> io::Result<PathBuf> {
    Base::of(number_of(path)?)?.disk()
}

/// Layers that are followed.
const MOST_LAYERS: usize = 16;

/// A piece of a disk.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Piece {
    pub disk: PathBuf,
    pub first_sector: u64,
    pub nr_sectors: u64,
}

/// Why nobody knows what lies below.
#[derive(Debug, Error)]
pub enum StackError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Dm(#[from] DmError),
    #[error("it lies on a target of type {0}, which keeps where things are to itself")]
    Opaque(String),
    #[error("a table of device-mapper is not understood: {0}")]
    Table(String),
    #[error("there are too many layers")]
    Layers,
}

/// A line of a table that maps 1:1.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Line {
    start: u64,
    len: u64,
    below: DeviceNumber,
    offset: u64,
}

fn parse_line(line: &str) -> Result<Line, StackError> {
    let table = || StackError::Table(line.to_owned());
    let mut words = line.split_whitespace();
    let mut next = || words.next().ok_or_else(table);
    let number = |word: &str| word.parse::<u64>().map_err(|_| table());
    let (start, len, kind) = (number(next()?)?, number(next()?)?, next()?);

    if kind != "linear" && kind != "dieaware" {
        return Err(StackError::Opaque(kind.to_owned()));
    }
    let below = next()?.parse().map_err(|_| table())?;
    let offset = number(next()?)?;
    if kind == "dieaware" && next()? != "hint" {
        return Err(StackError::Opaque("dieaware in log mode".to_owned()));
    }
    Ok(Line {
        start,
        len,
        below,
        offset,
    })
}

/// Tables of device-mapper: each is asked for once, which takes a process.
#[derive(Default)]
pub struct Tables {
    known: BTreeMap<DeviceNumber, Vec<Line>>,
}

impl Tables {
    fn get(&mut self, device: DeviceNumber) -> Result<&[Line], StackError> {
        match self.known.entry(device) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => {
                let table = dm::table(device)?;
                let lines: Result<_, _> = table.lines().map(parse_line).collect();
                Ok(place.insert(lines?))
            }
        }
    }

    /// Where sectors of a device are on disks: through partitions and targets that map 1:1.
    ///
    /// # Errors
    ///
    /// When a layer does not tell.
    pub fn resolve(
        &mut self,
        device: DeviceNumber,
        first: u64,
        nr_sectors: u64,
    ) -> Result<Vec<Piece>, StackError> {
        let mut todo = vec![(device, first, nr_sectors, 0)];
        let mut pieces = Vec::new();

        while let Some((device, first, nr_sectors, depth)) = todo.pop() {
            let base = Base::of(device)?;
            if depth == MOST_LAYERS {
                return Err(StackError::Layers);
            }
            if !base.sysfs.join("dm").exists() {
                pieces.push(Piece {
                    disk: base.disk()?,
                    first_sector: base.start_sectors.saturating_add(first),
                    nr_sectors,
                });
                continue;
            }
            // The last one is looked at first.
            for line in self.get(device)?.iter().rev() {
                if let Some((below, nr)) = line.part(first, nr_sectors) {
                    todo.push((line.below, below, nr, depth + 1));
                }
            }
        }
        Ok(pieces)
    }
}

/// The name of a target in hint mode that sends hints for what is written to a device: the device's
/// own, or that of a layer below which maps 1:1. `None`: there is none, or nobody can tell.
#[must_use]
pub fn hinting(device: DeviceNumber) -> Option<String> {
    let mut todo = vec![(device, 0)];

    while let Some((device, depth)) = todo.pop() {
        let base = Base::of(device).ok()?;
        if depth == MOST_LAYERS || !base.sysfs.join("dm").exists() {
            continue;
        }
        if dm::status(device).is_ok_and(|lines| lines.lines().any(sends_hints)) {
            return fs::read_to_string(base.sysfs.join("dm/name"))
                .map(|name| name.trim().to_owned())
                .ok();
        }
        let below = dm::table(device).ok()?;
        let lines = below.lines().filter_map(|line| parse_line(line).ok());
        todo.extend(lines.map(|line| (line.below, depth + 1)));
    }
    None
}

/// Is this the status of a target in hint mode that sends hints?
fn sends_hints(line: &str) -> bool {
    let has = |wanted| line.split_whitespace().any(|word| word == wanted);

    has("dieaware") && has("mode=hint") && has("hints=on")
}

impl Line {
    /// The part of some sectors that lies on this target: where, and how many.
    fn part(&self, first: u64, nr_sectors: u64) -> Option<(u64, u64)> {
        let begin = first.max(self.start);
        let end = first
            .saturating_add(nr_sectors)
            .min(self.start.saturating_add(self.len));
        let below = begin.checked_sub(self.start)?.checked_add(self.offset)?;

        (begin < end).then(|| (below, end - begin))
    }
}

#[cfg(test)]
mod tests {
    use super::{parse_line, sends_hints, StackError};

    #[test]
    fn sectors_are_followed_through_lines_that_map_one_to_one() {
        let line = parse_line("100 50 linear 8:1 2048").unwrap();
        assert_eq!(line.part(0, 100), None);
        assert_eq!(line.part(90, 20), Some((2048, 10)));
        assert_eq!(line.part(110, 10), Some((2058, 10)));
        assert_eq!(line.part(140, 100), Some((2088, 10)));
        assert_eq!(line.part(150, 1), None);
        let line = parse_line("0 8 dieaware 259:0 16 hint 1 runs_mb=8").unwrap();
        assert_eq!(line.part(0, 8), Some((16, 8)));
    }

    #[test]
    fn only_hint_mode_with_hints_sends_them() {
        assert!(sends_hints(
            "0 8 dieaware mode=hint transport=tracepoint hints=on"
        ));
        for line in [
            "0 8 dieaware mode=hint transport=tracepoint hints=off:requested",
            "0 8 dieaware mode=log transport=tracepoint hints=on",
            "0 8 linear",
        ] {
            assert!(!sends_hints(line), "{line}");
        }
    }

    #[test]
    fn other_targets_say_so() {
        for line in ["0 8 striped 2 8 8:1 0 8:2 0", "0 8 dieaware 259:0 0 log"] {
            assert!(matches!(parse_line(line), Err(StackError::Opaque(_))));
        }
        for line in [
            "",
            "0 8",
            "0 8 linear",
            "0 8 linear sda 0",
            "0 8 linear 8:1 x",
        ] {
            assert!(
                matches!(parse_line(line), Err(StackError::Table(_))),
                "{line}"
            );
        }
    }
}
