// SPDX-License-Identifier: GPL-2.0-only
//! Memory for what a superblock says: it is compared with what there is before it is taken. A sparse
//! file of petabytes costs nobody anything, and has a superblock if somebody wants it to.

use std::fs;
use std::io;

use super::layout::MAX_OPEN;
use super::root::SlotEntry;
use super::segments::Segment;
use super::summary::Written;
use super::superblock::{Super, Table};

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
    use super::{available_bytes, needed_bytes, require};
    use crate::format::make::{make, Request};

    #[test]
    fn a_device_is_not_followed_into_more_memory_than_there_is() {
        let of = |nr_device_pages| {
            let superblock = make(&Request {
                uuid: [7; 16],
                label: String::new(),
                nr_device_pages,
                stripe_pages: 8,
                segment_pages: None,
                journal_sectors: None,
                journal_unit_sectors: 1,
                reserve_permille: 100,
                checksums: false,
                drafts: true,
            });
            superblock.unwrap()
        };
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
