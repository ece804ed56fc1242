// SPDX-License-Identifier: GPL-2.0-only
//! What lies below a block device: disks, through partitions, targets that map 1:1, and those in log
//! mode, which are asked.

use std::collections::btree_map::{BTreeMap, Entry};
use std::fs;
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::sys::stat::{major, minor};
use thiserror::Error;

use super::places::{Placed, Places, Unknown};
use crate::dm::{self, DmError};
use crate::units::{DeviceNumber, PAGE_SECTORS};

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

/// The name that device-mapper has for a device; `None`: it is none of its devices.
#[must_use]
pub fn mapper_name(device: DeviceNumber) -> Option<String> {
    let name = fs::read_to_string(format!("/sys/dev/block/{device}/dm/name")).ok()?;
    Some(name.trim_end().to_owned())
}

/// The same of a node's device, and the device's number.
#[must_use]
pub fn mapper_node(node: &Path) -> Option<(DeviceNumber, String)> {
    let metadata = fs::metadata(node).ok()?;
    if !metadata.file_type().is_block_device() {
        return None;
    }
    let device = number(metadata.rdev());
    Some((device, mapper_name(device)?))
}

/// Does udev's record of a device have such a link, which some rule of somebody's makes?
fn is_link_of_udev(record: &str, name: &str) -> bool {
    let links = record.lines().filter_map(|line| line.strip_prefix("S:"));
    links
        .filter_map(|link| link.strip_prefix("mapper/"))
        .any(|link| link == name)
}

/// Whose number a path in `/dev/mapper` has, if that device has another name. What udev, or whoever has
/// made it, did not take away may lead to a device that came later.
#[must_use]
pub fn other_name(path: &Path) -> Option<String> {
    if path.parent()? != Path::new("/dev/mapper") {
        return None;
    }
    let name = path.file_name()?.to_str()?;
    let (device, now) = mapper_node(path)?;
    let record = fs::read_to_string(format!("/run/udev/data/b{device}")).unwrap_or_default();

    (now != name && !is_link_of_udev(&record, name)).then_some(now)
}

/// Is a path a node of that block device? A device may have several, and what is not there is none.
#[must_use]
pub fn is_node_of(path: &Path, device: DeviceNumber) -> bool {
    fs::metadata(path).is_ok_and(|metadata| {
        metadata.file_type().is_block_device() && number(metadata.rdev()) == device
    })
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

/// Types of targets that come and go below a mounted filesystem.
const PASSING: [&str; 3] = ["mirror", "snapshot-merge", "snapshot-origin"];

/// Targets of this version and later say where log mode has its pages.
const TELLING_VERSION: [u32; 3] = [0, 2, 0];

/// A piece of a disk.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Piece {
    pub disk: PathBuf,
    pub first_sector: u64,
    pub nr_sectors: u64,
    /// Where the device shows it that was asked about.
    pub shown_sector: u64,
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
    #[error("it lies on a mirror of LVM's, which keeps where things are to itself")]
    Mirror,
    #[error("it lies on a dieaware target in log mode of version {0}, which does not tell where things are: 0.2.0 of the module does")]
    OldTarget(String),
    #[error("it lies on a dieaware target in log mode, which does not tell where things are: {0}")]
    Silent(DmError),
    #[error("a dieaware target in log mode tells something that is not understood: {0}")]
    Answer(String),
    #[error("a table of device-mapper is not understood: {0}")]
    Table(String),
    #[error("there are too many layers")]
    Layers,
}

impl StackError {
    /// Is it a target that LVM puts in for a time: for a snapshot, and while it moves or merges a volume?
    #[must_use]
    pub fn passes(&self) -> bool {
        matches!(self, Self::Opaque(kind) if PASSING.contains(&kind.as_str()))
    }
}

/// How a target maps its sectors.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    /// 1:1
    Linear,
    /// As it says.
    Log,
}

/// A line of a table whose target can be followed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Line {
    start: u64,
    len: u64,
    below: DeviceNumber,
    offset: u64,
    kind: Kind,
}

/// Sectors of some device, on the way down.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Stretch {
    device: DeviceNumber,
    first: u64,
    nr_sectors: u64,
    /// Where the device shows them that was asked about.
    shown: u64,
    depth: usize,
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
    let kind = match kind {
        "linear" => Kind::Linear,
        _ => match next()? {
            "hint" => Kind::Linear,
            "log" => Kind::Log,
            _ => return Err(table()),
        },
    };
    Ok(Line {
        start,
        len,
        below,
        offset,
        kind,
    })
}

/// Is it the name of a copy that a mirror of LVM's has for good (`lvcreate --type mirror`)? `pvmove --atomic` has
/// some as well, until it has moved.
fn is_lasting_copy(name: &str) -> bool {
    name.contains("_mimage_") && !name.contains("-pvmove")
}

/// Of a mirror only the names of what it lies on say whether it stays.
fn known_to_last(
    err: StackError,
    line: &str,
    is_lasting: impl Fn(DeviceNumber) -> bool,
) -> StackError {
    let mut below = line
        .split_whitespace()
        .skip(3)
        .filter_map(|word| word.parse().ok());

    match err {
        StackError::Opaque(kind) if kind == "mirror" && below.any(is_lasting) => StackError::Mirror,
        err => err,
    }
}

fn is_lasting(device: DeviceNumber) -> bool {
    mapper_name(device).is_some_and(|name| is_lasting_copy(&name))
}

/// Why a target in log mode has not answered.
fn silence(err: DmError) -> StackError {
    match dm::target_version() {
        Some(version) if version < TELLING_VERSION => {
            StackError::OldTarget(version.map(|number| number.to_string()).join("."))
        }
        _ => StackError::Silent(err),
    }
}

/// Tables of device-mapper: each is asked for once, which takes a process. What is in log mode moves,
/// and is asked for each question.
#[derive(Default)]
pub struct Tables {
    known: BTreeMap<DeviceNumber, Vec<Line>>,
    places: BTreeMap<(DeviceNumber, u64), Places>,
}

impl Tables {
    fn get(&mut self, device: DeviceNumber) -> Result<&[Line], StackError> {
        match self.known.entry(device) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => {
                let table = dm::table(device)?;
                let parse =
                    |line| parse_line(line).map_err(|err| known_to_last(err, line, is_lasting));
                let lines: Result<_, _> = table.lines().map(parse).collect();
                Ok(place.insert(lines?))
            }
        }
    }

    /// Where ranges of a device's sectors are on disks: through partitions, targets that map 1:1, and
    /// log mode, as it is now. What log mode has nothing for is left out.
    ///
    /// # Errors
    ///
    /// When a layer does not tell.
    pub fn resolve(
        &mut self,
        device: DeviceNumber,
        ranges: &[Range<u64>],
    ) -> Result<Vec<Piece>, StackError> {
        let mut pieces = Vec::new();

        self.places.clear();
        for sectors in ranges {
            let all = Stretch {
                device,
                first: sectors.start,
                nr_sectors: sectors.end.saturating_sub(sectors.start),
                shown: sectors.start,
                depth: 0,
            };
            self.follow(all, &mut pieces)?;
        }
        Ok(pieces)
    }

    fn follow(&mut self, all: Stretch, pieces: &mut Vec<Piece>) -> Result<(), StackError> {
        let mut todo = vec![all];

        while let Some(stretch) = todo.pop() {
            let base = Base::of(stretch.device)?;
            if stretch.depth == MOST_LAYERS {
                return Err(StackError::Layers);
            }
            if !base.sysfs.join("dm").exists() {
                pieces.push(Piece {
                    disk: base.disk()?,
                    first_sector: base.start_sectors.saturating_add(stretch.first),
                    nr_sectors: stretch.nr_sectors,
                    shown_sector: stretch.shown,
                });
                continue;
            }
            let mut below = Vec::new();
            for line in self.get(stretch.device)?.to_vec() {
                if let Some(inside) = line.inside(&stretch) {
                    self.go_below(stretch.device, &line, inside, &mut below)?;
                }
            }
            // The last one is looked at first.
            todo.extend(below.into_iter().rev());
        }
        Ok(())
    }

    /// What is below a part of a target, whose sectors count from the target's first one.
    fn go_below(
        &mut self,
        device: DeviceNumber,
        line: &Line,
        inside: Stretch,
        below: &mut Vec<Stretch>,
    ) -> Result<(), StackError> {
        if line.kind == Kind::Linear {
            below.push(line.below(inside.first, &inside));
            return Ok(());
        }
        let end = inside.first.saturating_add(inside.nr_sectors);
        let pages = inside.first / PAGE_SECTORS..end.div_ceil(PAGE_SECTORS);
        let places = self.places.entry((device, line.start)).or_default();
        let mut ask = |pages: &Range<u64>| {
            let nr_pages = pages.end.saturating_sub(pages.start);
            let words = [
                "where".to_owned(),
                pages.start.to_string(),
                nr_pages.to_string(),
            ];
            dm::ask(device, line.start, &words)
        };
        let placed = places
            .get(pages, line.len / PAGE_SECTORS, &mut ask)
            .map_err(|unknown| match unknown {
                Unknown::Asking(err) => silence(err),
                Unknown::Answer(text) => StackError::Answer(text),
            })?;
        below.extend(placed.iter().filter_map(|placed| {
            let (first, part) = part_of(placed, &inside)?;
            Some(line.below(first, &part))
        }));
        Ok(())
    }
}

/// The sectors of a stretch that are on pages in a row: where these lie below, and which they are.
/// `None`: nowhere.
fn part_of(placed: &Placed, inside: &Stretch) -> Option<(u64, Stretch)> {
    let begin = placed.lpn.checked_mul(PAGE_SECTORS)?;
    let end = begin.saturating_add(placed.nr_pages.saturating_mul(PAGE_SECTORS));
    let from = inside.first.max(begin);
    let to = inside.first.saturating_add(inside.nr_sectors).min(end);
    let first = placed.dpn?.checked_mul(PAGE_SECTORS)?;

    (from < to).then(|| {
        let part = Stretch {
            first: from,
            nr_sectors: to - from,
            shown: inside.shown.saturating_add(from - inside.first),
            ..*inside
        };
        (first.saturating_add(from - begin), part)
    })
}

/// Does a device lie on a target in log mode? Not where nobody can tell.
#[must_use]
pub fn is_on_log(device: DeviceNumber) -> bool {
    let mut todo = vec![(device, 0)];

    while let Some((device, depth)) = todo.pop() {
        let is_dm = Base::of(device).is_ok_and(|base| base.sysfs.join("dm").exists());
        if depth == MOST_LAYERS || !is_dm {
            continue;
        }
        let Ok(table) = dm::table(device) else {
            continue;
        };
        for line in table.lines().filter_map(|line| parse_line(line).ok()) {
            if line.kind == Kind::Log {
                return true;
            }
            todo.push((line.below, depth + 1));
        }
    }
    false
}

/// The longest of pieces that lie one behind the other both as they are shown and on their disk: its
/// first sector, as it is shown, and how many.
#[must_use]
pub fn longest_in_a_row(pieces: &[Piece]) -> Option<(u64, u64)> {
    let mut longest: Option<(u64, u64)> = None;
    let mut now: Option<(&Piece, u64)> = None;

    for piece in pieces {
        let (first, nr_sectors) = match now {
            Some((first, nr_sectors))
                if first.disk == piece.disk
                    && first.first_sector.checked_add(nr_sectors) == Some(piece.first_sector)
                    && first.shown_sector.checked_add(nr_sectors) == Some(piece.shown_sector) =>
            {
                (first, nr_sectors + piece.nr_sectors)
            }
            _ => (piece, piece.nr_sectors),
        };
        now = Some((first, nr_sectors));
        if longest.is_none_or(|(_, most)| nr_sectors > most) {
            longest = Some((first.shown_sector, nr_sectors));
        }
    }
    longest
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
        // Log mode writes to new places: those below see nothing that is overwritten.
        let lines = below.lines().filter_map(|line| parse_line(line).ok());
        let linear = lines.filter(|line| line.kind == Kind::Linear);
        todo.extend(linear.map(|line| (line.below, depth + 1)));
    }
    None
}

/// Is this the status of a target in hint mode that sends hints?
fn sends_hints(line: &str) -> bool {
    let has = |wanted| line.split_whitespace().any(|word| word == wanted);

    has("dieaware") && has("mode=hint") && has("hints=on")
}

impl Line {
    /// The part of a stretch that lies on this target, counted from its first sector.
    fn inside(&self, stretch: &Stretch) -> Option<Stretch> {
        let begin = stretch.first.max(self.start);
        let end = stretch
            .first
            .saturating_add(stretch.nr_sectors)
            .min(self.start.saturating_add(self.len));

        (begin < end).then(|| Stretch {
            first: begin - self.start,
            nr_sectors: end - begin,
            shown: stretch.shown.saturating_add(begin - stretch.first),
            ..*stretch
        })
    }

    /// A part of this target that lies on the device below, from a sector of what it uses there.
    fn below(&self, first: u64, part: &Stretch) -> Stretch {
        Stretch {
            device: self.below,
            first: self.offset.saturating_add(first),
            depth: part.depth + 1,
            ..*part
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        is_lasting_copy, known_to_last, longest_in_a_row, parse_line, part_of, sends_hints, Line,
        Piece, Placed, StackError, Stretch,
    };
    use crate::units::DeviceNumber;

    fn stretch(first: u64, nr_sectors: u64) -> Stretch {
        Stretch {
            device: DeviceNumber { major: 1, minor: 2 },
            first,
            nr_sectors,
            shown: first + 1_000_000,
            depth: 3,
        }
    }

    /// Where a part of some sectors is below, how many they are, and which.
    fn part(line: &Line, first: u64, nr_sectors: u64) -> Option<(u64, u64, u64)> {
        let inside = line.inside(&stretch(first, nr_sectors))?;
        let below = line.below(inside.first, &inside);
        assert_eq!((below.device, below.depth), (line.below, 4));
        Some((below.first, below.nr_sectors, below.shown - 1_000_000))
    }

    #[test]
    fn sectors_are_followed_through_lines_that_map_one_to_one() {
        let line = parse_line("100 50 linear 8:1 2048").unwrap();
        assert_eq!(part(&line, 0, 100), None);
        assert_eq!(part(&line, 90, 20), Some((2048, 10, 100)));
        assert_eq!(part(&line, 110, 10), Some((2058, 10, 110)));
        assert_eq!(part(&line, 140, 100), Some((2088, 10, 140)));
        assert_eq!(part(&line, 150, 1), None);
        let line = parse_line("0 8 dieaware 259:0 16 hint 1 runs_mb=8").unwrap();
        assert_eq!(part(&line, 0, 8), Some((16, 8, 0)));
    }

    #[test]
    fn sectors_are_followed_through_pages_of_log_mode() {
        let placed = |lpn, dpn, nr_pages| Placed { lpn, dpn, nr_pages };
        let part = |placed, first, nr_sectors| {
            let (below, part) = part_of(&placed, &stretch(first, nr_sectors))?;
            Some((below, part.nr_sectors, part.shown - 1_000_000))
        };
        assert_eq!(part(placed(2, Some(50), 3), 0, 100), Some((400, 24, 16)));
        assert_eq!(part(placed(2, Some(50), 3), 24, 100), Some((408, 16, 24)));
        // A layer above need not begin where a page does.
        assert_eq!(part(placed(2, Some(50), 3), 19, 8), Some((403, 8, 19)));
        assert_eq!(part(placed(2, Some(50), 3), 0, 18), Some((400, 2, 16)));
        assert_eq!(part(placed(2, Some(50), 3), 40, 8), None);
        assert_eq!(part(placed(2, None, 3), 0, 100), None);
        assert_eq!(part(placed(u64::MAX, Some(1), 1), 0, 100), None);
        let line = parse_line("0 80 dieaware 259:0 16 log 1 in_place=100").unwrap();
        let inside = line.inside(&stretch(0, 80)).unwrap();
        let (first, part) = part_of(&placed(2, Some(50), 3), &inside).unwrap();
        assert_eq!(line.below(first, &part).first, 416);
    }

    #[test]
    fn what_lies_in_a_row_is_shown_so_too() {
        let piece = |disk: &str, shown_sector, first_sector, nr_sectors| Piece {
            disk: disk.into(),
            first_sector,
            nr_sectors,
            shown_sector,
        };
        assert_eq!(longest_in_a_row(&[]), None);
        let pieces = [
            piece("a", 0, 800, 80),
            // A summary of log mode, a hole, a piece that goes on, another disk
            piece("a", 80, 896, 96),
            piece("a", 184, 992, 8),
            piece("a", 192, 1000, 96),
            piece("b", 288, 1096, 100),
        ];
        assert_eq!(longest_in_a_row(&pieces), Some((184, 104)));
        assert_eq!(longest_in_a_row(&pieces[..3]), Some((80, 96)));
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
    fn what_lvm_puts_in_for_a_time_passes() {
        for (kind, expected) in [
            ("snapshot-origin 253:3", true),
            ("mirror core 1 1024 2 8:1 0 8:2 0", true),
            ("crypt cipher key 0 8:1 0", false),
            ("thin 253:2 1", false),
        ] {
            let err = parse_line(&format!("0 8 {kind}")).unwrap_err();
            assert_eq!(err.passes(), expected, "{kind}");
        }
    }

    #[test]
    fn a_mirror_lasts_where_its_copies_have_the_names() {
        for (name, expected) in [
            ("vg-lv_mimage_0", true),
            ("vg-pvmove0_mimage_1", false),
            ("vg-lv-old", false),
        ] {
            assert_eq!(is_lasting_copy(name), expected, "{name}");
        }
        let copy = DeviceNumber {
            major: 253,
            minor: 4,
        };
        let passes = |line: &str| {
            let err = parse_line(line).unwrap_err();
            known_to_last(err, line, |device| device == copy).passes()
        };
        assert!(!passes("0 8 mirror disk 2 253:2 1024 2 253:3 0 253:4 0"));
        assert!(passes("0 8 mirror core 1 1024 2 253:3 0 253:5 0"));
        assert!(passes("0 8 snapshot-origin 253:4"));
    }

    #[test]
    fn other_targets_say_so() {
        let line = "0 8 striped 2 8 8:1 0 8:2 0";
        assert!(matches!(parse_line(line), Err(StackError::Opaque(_))));
        for line in [
            "",
            "0 8",
            "0 8 linear",
            "0 8 linear sda 0",
            "0 8 linear 8:1 x",
            "0 8 dieaware 8:1 0",
            "0 8 dieaware 8:1 0 other",
        ] {
            assert!(
                matches!(parse_line(line), Err(StackError::Table(_))),
                "{line}"
            );
        }
    }
}
