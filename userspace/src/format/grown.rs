// SPDX-License-Identifier: GPL-2.0-only
//! Whether a device has grown since its superblock was written, as the one that it grew by is lost:
//! then both roots of a larger layout lie behind its segments. An attempt to grow that was cut off
//! leaves one. Pages that cannot be read tell nothing.

use std::io;

use zerocopy::transmute_ref;

use super::block;
use super::layout::{
    RootBlock, BLOCK_BYTES, ENTRIES_PER_PAGE, MAP_SUMS_ENTRIES, SEGMENTS_PER_PAGE,
};
use super::root::first_id;
use super::superblock::Super;
use crate::io_engine::pages::{ReadPages, WritePages};

/// So many reads may fail: a drive may try for half a minute.
const MOST_UNREAD: usize = 4;

/// What rounding adds in each table, and more.
const SPARE_PAGES: u64 = 16;

/// The first page of a root, as far as it matters here.
struct First {
    dpn: u64,
    epoch: u64,
    /// Entries of the segment table and of the directory: they tell how large the device was.
    nr_entries: (u64, u64),
}

/// The first page behind all segments, where the first root of a larger layout lies.
fn first_dpn(superblock: &Super) -> Option<u64> {
    let last = superblock.nr_segments().checked_sub(1)?;
    let first = superblock.segment_dpn(last)?;
    first.checked_add(u64::from(superblock.segment_pages))
}

/// The most pages that a root of a layout for all of the device takes.
fn most_root_pages(superblock: &Super, nr_pages: u64) -> u64 {
    let per_page = ENTRIES_PER_PAGE as u64;
    let nr_segments = nr_pages / u64::from(superblock.segment_pages.max(1));
    let segments = nr_segments / SEGMENTS_PER_PAGE as u64;
    let directory = nr_pages / MAP_SUMS_ENTRIES as u64 / per_page;
    (segments + directory) / per_page + SPARE_PAGES
}

fn first_page(device: &impl ReadPages, superblock: &Super, dpn: u64) -> io::Result<Option<First>> {
    let page = device.read_page(dpn)?;
    let root: &RootBlock = transmute_ref!(&page);

    Ok(block::check(&page, &first_id(superblock, dpn))
        .is_ok()
        .then(|| First {
            dpn,
            epoch: root.header.epoch.get(),
            nr_entries: (
                root.nr_segment_entries.get(),
                root.nr_directory_entries.get(),
            ),
        }))
}

/// First pages of roots behind the segments, in their order.
fn first_pages(device: &impl ReadPages, superblock: &Super) -> Vec<First> {
    let Some(first) = first_dpn(superblock) else {
        return Vec::new();
    };
    let nr_pages = device.nr_pages();
    let end = first.saturating_add(2 * most_root_pages(superblock, nr_pages));
    let mut nr_unread = 0;
    let mut found = Vec::new();

    for dpn in first..end.min(nr_pages) {
        match first_page(device, superblock, dpn) {
            Ok(page) => found.extend(page),
            Err(_) => nr_unread += 1,
        }
        if nr_unread == MOST_UNREAD {
            break;
        }
    }
    found
}

/// Are both roots of a larger layout there?
pub fn has_grown(device: &impl ReadPages, superblock: &Super) -> bool {
    let found = first_pages(device, superblock);
    let even = |root: &&First| root.epoch % 2 == 0 && Some(root.dpn) == first_dpn(superblock);

    found.iter().find(even).is_some_and(|even| {
        let is_like = |root: &First| root.epoch % 2 == 1 && root.nr_entries == even.nr_entries;
        found.iter().any(is_like)
    })
}

/// Leave no root of a larger layout.
///
/// # Errors
///
/// When the device does.
pub fn wipe(device: &impl WritePages, superblock: &Super) -> io::Result<()> {
    for root in first_pages(device, superblock) {
        device.write(root.dpn, &[0; BLOCK_BYTES])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{first_dpn, has_grown, wipe};
    use crate::format::layout::BLOCK_BYTES;
    use crate::format::make::small_device;
    use crate::format::root::Root;
    use crate::format::superblock::Super;
    use crate::io_engine::pages::{Ram, WritePages};

    /// A layout to which the small device has grown, or was to.
    fn grown(superblock: &Super, root_pages: u64) -> Super {
        let first = first_dpn(superblock).unwrap();
        Super {
            root_dpn: [first, first + root_pages],
            ..superblock.clone()
        }
    }

    fn put(device: &Ram, of: &Super, epoch: u64, nr_more: usize) {
        let mut root = Root::empty(of, 1);
        root.epoch = epoch;
        root.segments
            .resize(root.segments.len() + nr_more, Default::default());
        let page = root.encode(of)[0];
        device.write(root.dpn(of), &page).unwrap();
    }

    #[test]
    fn two_roots_of_a_size_tell() {
        let small = small_device();
        let (few, more) = (grown(&small, 2), grown(&small, 5));
        let device = Ram::new(vec![0; 101_000 * BLOCK_BYTES]);

        assert!(!has_grown(&device, &small));
        put(&device, &few, 8, 1);
        assert!(!has_grown(&device, &small));
        // Of another attempt, to another size
        put(&device, &more, 7, 2);
        assert!(!has_grown(&device, &small));
        put(&device, &few, 9, 1);
        assert!(has_grown(&device, &small));
        let other = Super {
            uuid: [8; 16],
            ..small.clone()
        };
        assert!(!has_grown(&device, &other));
        wipe(&device, &small).unwrap();
        assert!(!has_grown(&device, &small));
        let nothing = vec![0; 101_000 * BLOCK_BYTES];
        assert!(device.into_bytes() == nothing);
    }
}
