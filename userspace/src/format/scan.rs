// SPDX-License-Identifier: GPL-2.0-only
//! What there is in the journal when nobody can say where it begins: all sectors of the
//! ring that are whole, put together to runs by their chain.
//!
//! A crash leaves sectors of a batch the beginning of which was lost, and they must not count.
//! They are of one batch, and none of them begins it: so a run counts if one of its sectors
//! begins a batch. After damage in the middle of the journal this holds for what lies behind.
//!
//! A draft counts without its data being looked at if a batch begins anywhere that has a later
//! number, or a root says that the journal went on behind it: then it was durable.

use zerocopy::transmute_ref;

use super::drafts::{self, Draft, Found};
use super::journal::{is_whole, records_of, seed, Operation, Ring};
use super::layout::{JournalSector, MAX_OPEN};
use super::map::Changes;
use super::records::{Record, What};
use super::superblock::Super;
use crate::io_engine::pages::ReadPages;

/// All of the journal that counts.
#[derive(Debug)]
pub struct Scan {
    /// What it does to the map.
    pub changes: Changes,
    /// By open summary: the segment that was opened with it last.
    pub owners: [Option<u64>; MAX_OPEN],
    pub nr_operations: u64,
    /// One more than the last operation; 0: there is none.
    pub next_seq: u64,
    /// One more than the highest number of a sector, whether it counts or not.
    pub next_sector: u64,
}

/// A sector without its records.
#[derive(Clone, Copy)]
struct Whole {
    number: u64,
    crc: u32,
    chain: u32,
    is_first: bool,
}

fn whole_sectors<D: ReadPages>(ring: &mut Ring<D>, superblock: &Super) -> Vec<Whole> {
    let seed = seed(superblock);
    let nr_sectors = u64::from(superblock.journal_sectors);
    let mut found = Vec::new();

    for place in 0..nr_sectors {
        let Ok(sector) = ring.sector(place) else {
            continue;
        };
        let block: &JournalSector = transmute_ref!(&sector);
        let number = block.sector.get();
        if number % nr_sectors == place && number < u64::MAX / 2 && is_whole(&sector, seed) {
            found.push(Whole {
                number,
                crc: block.crc.get(),
                chain: block.chain.get(),
                is_first: drafts::is_first(&sector),
            });
        }
    }
    found.sort_by_key(|sector| sector.number);
    found
}

/// The draft that is the last batch of all that there are, whether it counts or not.
pub(super) fn last_draft(device: &impl ReadPages, superblock: &Super) -> Option<Draft> {
    if !superblock.has_drafts() {
        return None;
    }
    let mut ring = Ring::new(device, superblock);
    let sectors = whole_sectors(&mut ring, superblock);
    let batches = sectors.iter().filter(|sector| sector.is_first);
    let last = batches.max_by_key(|sector| sector.number)?;
    let sector = ring.sector(last.number).ok()?;

    if !drafts::is_draft(&sector) {
        return None;
    }
    Draft::new(&sector, &records_of(&sector)?, superblock)
}

impl Scan {
    /// Look at the whole ring. By a root, sectors before `durable_end` were durable; 0 if nobody
    /// knows.
    pub fn new(device: &impl ReadPages, superblock: &Super, durable_end: u64) -> Self {
        let mut ring = Ring::new(device, superblock);
        let sectors = whole_sectors(&mut ring, superblock);
        let batches = sectors.iter().filter(|sector| sector.is_first);
        let last_batch = batches.map(|sector| sector.number).max();
        let durable_end = durable_end.max(last_batch.unwrap_or(0));
        let mut scan = Self {
            changes: Changes::new(superblock),
            owners: [None; MAX_OPEN],
            nr_operations: 0,
            next_seq: 0,
            next_sector: 0,
        };

        for run in
            sectors.chunk_by(|one, next| next.number == one.number + 1 && next.chain == one.crc)
        {
            if let Some(last) = run.last() {
                scan.next_sector = scan.next_sector.max(last.number + 1);
            }
            if run.iter().any(|sector| sector.is_first) {
                scan.add_run(&mut ring, superblock, run, |number, draft| {
                    number < durable_end || !matches!(draft.look(device, superblock), Found::Other)
                });
            }
        }
        scan.changes.finish();
        scan
    }

    fn add_run<D: ReadPages>(
        &mut self,
        ring: &mut Ring<D>,
        superblock: &Super,
        run: &[Whole],
        counts: impl Fn(u64, &Draft) -> bool,
    ) {
        let mut operation = Operation::default();
        // The first records may be the rest of an operation.
        let mut is_known = false;

        for whole in run {
            let Ok(sector) = ring.sector(whole.number) else {
                return;
            };
            let block: &JournalSector = transmute_ref!(&sector);
            let mut seq = block.seq.get();
            let Some(records) = records_of(&sector) else {
                return;
            };
            if drafts::is_draft(&sector) {
                let draft = Draft::new(&sector, &records, superblock);
                if !draft.is_some_and(|draft| counts(whole.number, &draft)) {
                    return;
                }
            }
            for read in records {
                let is_rest =
                    matches!(read.what, What::Record(Record::Dead { .. }) | What::Sums(_));
                is_known |= !is_rest;
                if is_known {
                    match read.what {
                        What::Record(record) => operation.records.push(record),
                        What::Sums(sums) => operation.sums.extend(sums),
                    }
                }
                if read.is_last {
                    operation.seq = seq;
                    self.add(superblock, &operation);
                    operation.clear();
                    seq = seq.saturating_add(1);
                }
            }
        }
    }

    /// Note a whole operation, if it can be.
    fn add(&mut self, superblock: &Super, operation: &Operation) {
        let is_data = |dpn: u64, nr_pages: u64| {
            let last = superblock.segment_of(dpn.saturating_add(nr_pages - 1));
            let first = superblock.segment_of(dpn);
            first.is_some() && first.map(|(segment, _)| segment) == last.map(|(segment, _)| segment)
        };
        let Some(first) = operation.records.first() else {
            return;
        };
        if operation.check_pages(superblock).is_err() {
            return;
        }
        match *first {
            Record::Map { lpn, dpn, nr_pages }
                if lpn + nr_pages > superblock.nr_lpns || !is_data(dpn, nr_pages) =>
            {
                return
            }
            Record::Trim { lpn, nr_pages } if lpn + nr_pages > superblock.nr_lpns => return,
            Record::Open { segment, open, .. } => {
                if let Some(owner) = self.owners.get_mut(usize::from(open)) {
                    *owner = Some(segment);
                }
            }
            Record::Close { segment, .. } => {
                let owners = self.owners.iter_mut();
                owners
                    .filter(|owner| **owner == Some(segment))
                    .for_each(|owner| *owner = None);
            }
            _ => {}
        }
        self.changes.add(operation);
        self.nr_operations += 1;
        self.next_seq = self.next_seq.max(operation.seq.saturating_add(1));
    }
}
