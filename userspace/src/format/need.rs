// SPDX-License-Identifier: GPL-2.0-only
//! Memory for what a superblock says: it is compared with what there is before it is taken. A sparse
//! file of petabytes costs nobody anything, and has a superblock if somebody wants it to. And what the
//! kernel can have of it: a device that no target starts is not made.

use std::fs;
use std::io;
use std::iter::successors;

use super::layout::{BLOCK_BYTES, ENTRIES_PER_PAGE, MAX_OPEN};
use super::root::SlotEntry;
use super::segments::Segment;
use super::summary::Written;
use super::superblock::{segment_table_pages, Super, Table};

/// Of check: a tally of each segment, besides a bit for each page of the device.
const TALLY_BYTES: u64 = 32;

/// Bytes that the tables of a device take in memory, and what is counted beside them.
fn needed_bytes(superblock: &Super) -> u64 {
    let slot = size_of::<Option<SlotEntry>>() as u64;
    let slots = [Table::Segments, Table::Open, Table::Directory, Table::Map]
        .iter()
        .map(|table| superblock.nr_pages(*table))
        .fold(0, u64::saturating_add);
    let segment = size_of::<Segment>() as u64 + TALLY_BYTES;
    let open = MAX_OPEN as u64 * u64::from(superblock.data_pages());
    let written = size_of::<Option<Written>>() as u64;

    slots
        .saturating_mul(slot)
        .saturating_add(superblock.nr_segments().saturating_mul(segment))
        .saturating_add(open.saturating_mul(written))
        .saturating_add(superblock.nr_device_pages / 8)
}

/// Bytes that the target takes at once for the slots of a table, `dmda_slots_bytes()` of the core.
fn slots_bytes(nr_pages: u64) -> u64 {
    let groups = nr_pages.div_ceil(ENTRIES_PER_PAGE as u64);

    nr_pages.saturating_mul(16).saturating_add(groups * 8)
}

/// Pages that the map has at most: the kernel gives nobody more than `INT_MAX` bytes at once.
const MOST_MAP_PAGES: u64 = 134_084_706;

/// Bytes of a set of segments, `dmda_bitset_bytes()`: each level has a bit for each word of the one below.
fn set_bytes(nr_segments: u64) -> u64 {
    let levels = successors(Some(nr_segments.div_ceil(64)), |words| {
        Some(words.div_ceil(64))
    });

    levels.take(SET_LEVELS).fold(0, u64::saturating_add) * 8
}

/// Bytes that the target takes at once for the table of segments, `dmda_segments_bytes()`: for each segment what it
/// is, and its links in a list; the state of each page of the table; and three sets. What it takes for their ages, four
/// bytes for each, is less.
fn segments_bytes(nr_segments: u64) -> u64 {
    nr_segments * (24 + 8) + segment_table_pages(nr_segments) * 16 + 3 * set_bytes(nr_segments)
}

/// Levels of a set.
const SET_LEVELS: usize = 6;

/// Segments that a device has at most, for the same reason.
const MOST_SEGMENTS: u64 = 66_189_562;

fn require_few_segments(superblock: &Super) -> Result<(), String> {
    let nr_segments = superblock.nr_segments();

    if segments_bytes(nr_segments) <= i32::MAX as u64 {
        return Ok(());
    }
    Err(format!(
        "There would be {nr_segments} segments, and {MOST_SEGMENTS} are the most: their table would take more memory \
         than the kernel gives at once. They must be larger"
    ))
}

/// # Errors
///
/// When no target could start the device.
pub fn require_startable(superblock: &Super) -> Result<(), String> {
    require_few_segments(superblock)?;
    if slots_bytes(superblock.nr_pages(Table::Map)) <= i32::MAX as u64 {
        return Ok(());
    }
    let most = MOST_MAP_PAGES * (superblock.map_entries() * BLOCK_BYTES) as u64;
    Err(format!(
        "Log mode shows up to {} TiB{}, and this would be {}: a table of its map would take more \
         memory than the kernel gives at once",
        most >> 40,
        if superblock.has_checksums() {
            " with checksums of data"
        } else {
            ""
        },
        (superblock.nr_lpns * BLOCK_BYTES as u64) >> 40
    ))
}

/// What the kernel says is left, in bytes; `None`: it does not say.
fn available_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

/// # Errors
///
/// When the machine has not so much memory as the device would take.
pub fn require(superblock: &Super) -> io::Result<()> {
    let needed = needed_bytes(superblock);
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();

    match available_bytes(&meminfo) {
        Some(available) if needed > available => Err(io::Error::new(
            io::ErrorKind::OutOfMemory,
            format!(
                "its tables take {} MiB of memory, and {} MiB are left",
                needed >> 20,
                available >> 20
            ),
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{
        available_bytes, needed_bytes, require, require_startable, segments_bytes, slots_bytes,
        MOST_MAP_PAGES, MOST_SEGMENTS,
    };
    use crate::format::make::{make, Request};
    use crate::format::superblock::Super;

    fn laid_out(nr_device_pages: u64, checksums: bool) -> Super {
        in_segments(nr_device_pages, None, checksums)
    }

    fn in_segments(nr_device_pages: u64, segment_pages: Option<u32>, checksums: bool) -> Super {
        let superblock = make(&Request {
            uuid: [7; 16],
            label: String::new(),
            nr_device_pages,
            stripe_pages: 8,
            segment_pages,
            journal_sectors: None,
            journal_unit_sectors: 1,
            reserve_permille: 100,
            checksums,
            drafts: true,
        });
        superblock.unwrap()
    }

    #[test]
    fn a_device_that_no_target_starts_is_not_made() {
        // The core's suite "checkpoint" has the same number.
        assert!(slots_bytes(MOST_MAP_PAGES) <= i32::MAX as u64);
        assert!(slots_bytes(MOST_MAP_PAGES + 1) > i32::MAX as u64);
        let mut superblock = laid_out(1 << 36, false);
        require_startable(&superblock).unwrap();
        superblock.nr_lpns = MOST_MAP_PAGES * superblock.map_entries() as u64;
        require_startable(&superblock).unwrap();
        superblock.nr_lpns += 1;
        require_startable(&superblock).unwrap_err();
        assert_eq!(
            require_startable(&laid_out(1 << 37, false)).unwrap_err(),
            "Log mode shows up to 402 TiB, and this would be 456: a table of its map would take \
             more memory than the kernel gives at once"
        );
        let why = require_startable(&laid_out(1 << 36, true)).unwrap_err();
        assert!(why.starts_with("Log mode shows up to 223 TiB with checksums of data, and"));
    }

    #[test]
    fn nor_one_of_so_many_segments() {
        // The core's suite "checkpoint" has the same number.
        assert!(segments_bytes(MOST_SEGMENTS) <= i32::MAX as u64);
        assert!(segments_bytes(MOST_SEGMENTS + 1) > i32::MAX as u64);
        // 24 TiB, in segments of 512 KiB and of 256
        require_startable(&in_segments(6 << 30, Some(128), false)).unwrap();
        let why = require_startable(&in_segments(6 << 30, Some(64), false)).unwrap_err();
        assert!(why.contains("segments, and 66189562 are the most"), "{why}");
        assert!(why.ends_with("They must be larger"), "{why}");
    }

    #[test]
    fn a_device_is_not_followed_into_more_memory_than_there_is() {
        let of = |nr_device_pages| laid_out(nr_device_pages, false);
        // 1 TiB takes less than 64 MiB
        assert!(needed_bytes(&of(1 << 28)) < 64 << 20);
        require(&of(1 << 18)).unwrap();
        // The most that the format has
        let needed = needed_bytes(&of(1 << 39));
        assert!(needed > 1 << 33, "{needed}");
    }

    #[test]
    fn the_kernel_says_what_is_left() {
        let text = "MemTotal:       24576000 kB\nMemAvailable:    1024 kB\n";
        assert_eq!(available_bytes(text), Some(1 << 20));
        for text in ["", "MemAvailable:", "MemAvailable: x kB"] {
            assert_eq!(available_bytes(text), None, "{text}");
        }
    }
}
