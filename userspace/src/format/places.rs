// SPDX-License-Identifier: GPL-2.0-only
//! Which pages of a device are metadata: what an exact dump has all of, and where no data is.

use std::ops::Range;

use super::layout::{SUPER_DPN_A, SUPER_DPN_B};
use super::superblock::{Super, PAGE_SECTORS};

/// Does a superblock lie there?
pub fn is_super(dpn: u64) -> bool {
    [SUPER_DPN_A, SUPER_DPN_B].contains(&dpn)
}

/// Pages of metadata, in the order in which they are dumped: superblocks, roots, journal,
/// tables, and then the summaries of segments.
pub fn metadata(superblock: &Super) -> impl Iterator<Item = Range<u64>> + '_ {
    all_but_summaries(superblock).chain(summaries(superblock))
}

/// The same without the summaries.
pub fn all_but_summaries(superblock: &Super) -> impl Iterator<Item = Range<u64>> + '_ {
    let root_pages = u64::from(superblock.root_pages);
    let journal_pages = u64::from(superblock.journal_sectors / PAGE_SECTORS);
    let supers = [SUPER_DPN_A, SUPER_DPN_B].map(|dpn| dpn..dpn + 1);
    let roots = superblock.root_dpn.map(|dpn| dpn..dpn + root_pages);
    let journal = superblock.journal_dpn..superblock.journal_dpn + journal_pages;
    let tables = superblock.areas.iter();
    let tables = tables.map(|area| area.tables_dpn..area.tables_end());

    supers
        .into_iter()
        .chain(roots)
        .chain([journal])
        .chain(tables)
}

/// Pages of the summaries, segment by segment.
pub fn summaries(superblock: &Super) -> impl Iterator<Item = Range<u64>> + '_ {
    (0..superblock.nr_segments()).filter_map(|number| summary(superblock, number))
}

/// Pages of a segment's summary.
pub fn summary(superblock: &Super, number: u64) -> Option<Range<u64>> {
    let first = superblock.segment_dpn(number)? + u64::from(superblock.data_pages());
    Some(first..first + u64::from(superblock.summary_pages))
}

#[cfg(test)]
mod tests {
    use super::metadata;
    use crate::format::make::small_device;

    #[test]
    fn no_page_is_named_twice_and_no_data() {
        let superblock = small_device();
        let mut pages: Vec<u64> = metadata(&superblock).flatten().collect();
        let nr_pages = pages.len();
        pages.sort_unstable();
        pages.dedup();
        assert_eq!(pages.len(), nr_pages);
        assert!(pages
            .iter()
            .all(|dpn| superblock.segment_of(*dpn).is_none()));
        let data = superblock.nr_segments() * u64::from(superblock.data_pages());
        assert!(nr_pages as u64 + data <= 100_000);
    }
}
