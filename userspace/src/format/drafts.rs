// SPDX-License-Identifier: GPL-2.0-only
//! Drafts: batches of the journal that were written along with the data that they name, before
//! a flush and not behind it. So a crash may leave one without its data, and by a checksum of that
//! the last one is known to be whole. Those before it are: a batch is written when the one before
//! it is durable. Their data may have been overwritten in place since, and is not looked at.

use std::io;

use zerocopy::transmute_ref;

use super::block::crc32c;
use super::layout::{
    number_of, JournalSector, Sector, BLOCK_BYTES, MAX_DRAFT_PAGES, RECORDS_BYTES, SECTOR_DRAFT,
    SECTOR_FIRST, SUM_BYTES,
};
use super::records::{sum_of, ReadRecord, Record, What};
use super::superblock::Super;
use crate::io_engine::pages::ReadPages;

/// Bytes of records that a draft has at most: behind them is the checksum of its data.
const MAX_RECORD_BYTES: usize = RECORDS_BYTES - SUM_BYTES;

/// A draft.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Draft {
    dpn: u64,
    nr_pages: u64,
    /// Of its data, as it was to be written.
    pub sum: u32,
}

/// What became of a draft's data.
#[derive(Debug)]
pub enum Found {
    Same,
    Other,
    Unreadable(io::Error),
    /// It is to be where no data can be.
    Nowhere,
}

fn flags(sector: &Sector) -> u16 {
    let block: &JournalSector = transmute_ref!(sector);
    block.nr_bytes.get() & (SECTOR_FIRST | SECTOR_DRAFT)
}

/// Does a batch begin with that sector?
pub(super) fn is_first(sector: &Sector) -> bool {
    flags(sector) & SECTOR_FIRST != 0
}

/// Does it say that it is a draft?
pub(super) fn is_draft(sector: &Sector) -> bool {
    flags(sector) & SECTOR_DRAFT != 0
}

/// Bytes of records that a sector has.
pub(super) fn record_bytes(sector: &Sector) -> usize {
    let block: &JournalSector = transmute_ref!(sector);
    usize::from(block.nr_bytes.get() & !(SECTOR_FIRST | SECTOR_DRAFT))
}

/// The places of an operation's pages, if it is one of a draft: a MAP of few pages, with what
/// belongs to it, whole and alone.
fn places(records: &[ReadRecord]) -> Option<(u64, u64)> {
    let (last, before) = records.split_last()?;
    let (first, others) = records.split_first()?;
    let What::Record(Record::Map { dpn, nr_pages, .. }) = first.what else {
        return None;
    };
    let belongs =
        |read: &ReadRecord| matches!(read.what, What::Record(Record::Dead { .. }) | What::Sums(_));
    let is_whole = last.is_last && !before.iter().any(|read| read.is_last);

    (is_whole && nr_pages <= MAX_DRAFT_PAGES && others.iter().all(belongs))
        .then_some((dpn, nr_pages))
}

impl Draft {
    /// The draft that a sector with these records says it is; `None`: the target writes no such.
    pub(super) fn new(sector: &Sector, records: &[ReadRecord], superblock: &Super) -> Option<Self> {
        let block: &JournalSector = transmute_ref!(sector);
        let is_possible =
            superblock.has_drafts() && is_first(sector) && record_bytes(sector) <= MAX_RECORD_BYTES;
        let (dpn, nr_pages) = places(records).filter(|_| is_possible)?;
        let sum = block.records.get(MAX_RECORD_BYTES..)?;

        Some(Self {
            dpn,
            nr_pages,
            sum: number_of(sum) as u32,
        })
    }

    /// Is it about places where data can be?
    pub(super) fn is_data(&self, superblock: &Super) -> bool {
        let data_pages = u64::from(superblock.data_pages());
        let place = superblock.segment_of(self.dpn);
        place.is_some_and(|(_, page)| u64::from(page) + self.nr_pages <= data_pages)
    }

    /// The first of its places.
    pub fn dpn(&self) -> u64 {
        self.dpn
    }

    /// By place: the checksums of what lies there.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn page_sums(&self, device: &impl ReadPages) -> io::Result<Vec<(u64, u32)>> {
        let mut bytes = vec![0; self.nr_pages as usize * BLOCK_BYTES];

        device.read(self.dpn, &mut bytes)?;
        let sums = bytes.chunks_exact(BLOCK_BYTES).map(|page| crc32c(!0, page));
        Ok((self.dpn..).zip(sums).collect())
    }

    /// Look at its data.
    pub(super) fn look(&self, device: &impl ReadPages, superblock: &Super) -> Found {
        if !self.is_data(superblock) {
            return Found::Nowhere;
        }
        match self.page_sums(device) {
            Err(err) => Found::Unreadable(err),
            Ok(sums) => {
                let sums: Vec<u32> = sums.into_iter().map(|(_, sum)| sum).collect();
                if sum_of(!0, &sums) == self.sum {
                    Found::Same
                } else {
                    Found::Other
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{places, ReadRecord, Record, What};

    #[test]
    fn a_draft_is_one_map_of_few_pages() {
        let of = |what, is_last| ReadRecord { what, is_last };
        let map = |nr_pages, is_last| {
            let (lpn, dpn) = (5, 9);
            of(What::Record(Record::Map { lpn, dpn, nr_pages }), is_last)
        };
        let (dpn, nr_pages) = (700, 1);
        let dead = |is_last| of(What::Record(Record::Dead { dpn, nr_pages }), is_last);
        let trim = of(What::Record(Record::Trim { lpn: 5, nr_pages }), true);
        let sums = |is_last| of(What::Sums([1].into()), is_last);

        for records in [
            vec![map(8, true)],
            vec![map(8, false), sums(true)],
            vec![map(8, false), sums(false), dead(false), dead(true)],
        ] {
            assert_eq!(places(&records), Some((9, 8)), "{records:?}");
        }
        for records in [
            vec![],
            vec![map(9, true)],
            vec![map(1, false)],
            vec![map(1, false), dead(false)],
            vec![map(1, true), map(1, true)],
            vec![map(1, false), map(1, true)],
            vec![map(1, true), dead(true)],
            vec![dead(true)],
            vec![trim.clone()],
            vec![map(1, true), trim],
        ] {
            assert_eq!(places(&records), None, "{records:?}");
        }
    }
}
