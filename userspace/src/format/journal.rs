// SPDX-License-Identifier: GPL-2.0-only
//! Reading the journal: sector by sector while each fits to the one before, and the
//! records put together to operations.

use std::io;
use std::ops::Range;

use serde::Serialize;
use zerocopy::transmute_ref;

use super::block::crc32c;
use super::findings::{Findings, Severity, Subject};
use super::layout::{
    JournalSector, Sector, BLOCK_BYTES, FORMAT_VERSION, MAGIC_JOURNAL, MAP_SUMS_ENTRIES,
    MAX_BATCH_SECTORS, SECTOR_BYTES, SECTOR_FIRST,
};
use super::records::{self, ReadRecord, Record, What, MAX_OP_RECORDS};
use super::root::JournalPlace;
use super::superblock::{Super, PAGE_SECTORS};
use crate::io_engine::pages::ReadPages;

/// Pages that are read at once.
const CHUNK_PAGES: u64 = 16;

/// An operation: whole, and in order.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Operation {
    pub seq: u64,
    /// Journal sector of its first record.
    pub sector: u64,
    pub records: Vec<Record>,
    /// Of the pages that it maps, on a device with checksums.
    pub sums: Vec<u32>,
}

/// What there is in the journal.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct JournalFacts {
    /// Number of the first sector that is read.
    pub first_sector: u64,
    /// Sectors that count.
    pub nr_sectors: u64,
    /// Operations that count.
    pub nr_operations: u64,
    /// The next operation's number.
    pub next_seq: u64,
    /// Records of an operation that has no end.
    pub nr_unfinished_records: u64,
}

/// Reads sectors of the ring.
pub(super) struct Ring<'a, D> {
    device: &'a D,
    superblock: &'a Super,
    chunk: Vec<u8>,
    chunk_pages: Range<u64>,
}

impl<'a, D: ReadPages> Ring<'a, D> {
    pub(super) fn new(device: &'a D, superblock: &'a Super) -> Self {
        Self {
            device,
            superblock,
            chunk: Vec::new(),
            chunk_pages: 0..0,
        }
    }

    /// Have these pages of the journal at hand.
    fn load(&mut self, pages: Range<u64>) -> io::Result<()> {
        let nr_pages = pages.end.saturating_sub(pages.start) as usize;

        self.chunk.resize(nr_pages * BLOCK_BYTES, 0);
        self.chunk_pages = 0..0;
        self.device
            .read(self.superblock.journal_dpn + pages.start, &mut self.chunk)?;
        self.chunk_pages = pages;
        Ok(())
    }

    /// The sector at the place that this number has.
    pub(super) fn sector(&mut self, number: u64) -> io::Result<Sector> {
        let nr_pages = u64::from(self.superblock.journal_sectors / PAGE_SECTORS);
        let at = number % u64::from(self.superblock.journal_sectors);
        let page = at / u64::from(PAGE_SECTORS);

        if !self.chunk_pages.contains(&page) {
            let first = page - page % CHUNK_PAGES;
            let chunk = first..nr_pages.min(first + CHUNK_PAGES);
            // If one of them cannot be read, the others can.
            self.load(chunk).or_else(|_| self.load(page..page + 1))?;
        }
        let first = (at - self.chunk_pages.start * u64::from(PAGE_SECTORS)) as usize * SECTOR_BYTES;
        self.chunk
            .get(first..)
            .and_then(|bytes| bytes.first_chunk())
            .copied()
            .ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

pub(super) fn seed(superblock: &Super) -> u32 {
    crc32c(!0, &superblock.uuid)
}

/// Was the sector written whole, on this device?
pub(super) fn is_whole(sector: &Sector, seed: u32) -> bool {
    let block: &JournalSector = transmute_ref!(sector);
    let behind_crc = sector.get(size_of::<u32>()..).unwrap_or(&[]);

    block.magic.get() == MAGIC_JOURNAL
        && block.version.get() == FORMAT_VERSION
        && block.crc.get() == crc32c(seed, behind_crc)
}

/// Does the sector come next?
fn fits(sector: &Sector, next: &JournalPlace) -> bool {
    let block: &JournalSector = transmute_ref!(sector);

    block.sector.get() == next.sector
        && block.seq.get() == next.seq
        && block.chain.get() == next.chain
}

/// The records of a sector, or `None`: what it holds are none.
pub(super) fn records_of(sector: &Sector) -> Option<Vec<ReadRecord>> {
    let block: &JournalSector = transmute_ref!(sector);
    let mut bytes = block
        .records
        .get(..usize::from(block.nr_bytes.get() & !SECTOR_FIRST))?;
    let mut found = Vec::new();

    while !bytes.is_empty() {
        let (record, rest) = records::decode(bytes)?;
        found.push(record);
        bytes = rest;
    }
    Some(found)
}

impl Operation {
    /// Take the next record. Says what is wrong with it.
    fn add(&mut self, what: What) -> Result<(), &'static str> {
        match what {
            What::Record(record) => self.add_record(record),
            What::Sums(sums) => self.add_sums(&sums),
        }
    }

    fn add_record(&mut self, record: Record) -> Result<(), &'static str> {
        let is_dead = matches!(record, Record::Dead { .. });

        if self.records.len() == MAX_OP_RECORDS {
            return Err("has more records than it can");
        }
        if self.records.is_empty() == is_dead {
            return Err("does not begin with one record that says what happens");
        }
        self.records.push(record);
        Ok(())
    }

    /// They are right behind the record that they belong to.
    fn add_sums(&mut self, sums: &[u32]) -> Result<(), &'static str> {
        if !matches!(self.records[..], [Record::Map { .. }]) {
            return Err("has checksums of nothing");
        }
        if self.sums.len() + sums.len() > MAP_SUMS_ENTRIES {
            return Err("has more checksums than it can");
        }
        self.sums.extend(sums);
        Ok(())
    }

    /// Of an operation that is whole: is it about no more than two pages of the map, and has it the
    /// checksums that it must have on such a device, and no others?
    pub(super) fn check_pages(&self, superblock: &Super) -> Result<(), &'static str> {
        let (nr_pages, nr_sums) = match self.records.first() {
            Some(Record::Map { nr_pages, .. }) if superblock.has_checksums() => {
                (*nr_pages, *nr_pages)
            }
            Some(Record::Map { nr_pages, .. } | Record::Trim { nr_pages, .. }) => (*nr_pages, 0),
            _ => (0, 0),
        };

        if nr_pages > superblock.map_entries() as u64 {
            return Err("is about more lpns than a page of the map has");
        }
        if self.sums.len() as u64 != nr_sums {
            return Err("has not one checksum of each page that wants one");
        }
        Ok(())
    }

    /// The next one begins.
    pub(super) fn clear(&mut self) {
        self.records.clear();
        self.sums.clear();
    }
}

/// Read all operations from a place on and hand each to `visit`, which says what cannot
/// be in it. Returns what was found.
pub fn read<D: ReadPages>(
    device: &D,
    superblock: &Super,
    from: JournalPlace,
    findings: &mut Findings,
    mut visit: impl FnMut(&Operation) -> Result<(), String>,
) -> JournalFacts {
    let mut ring = Ring::new(device, superblock);
    let seed = seed(superblock);
    let mut next = from;
    let mut operation = Operation::default();
    let mut facts = JournalFacts {
        first_sector: from.sector,
        ..JournalFacts::default()
    };
    let mut why = None;

    while why.is_none() {
        let sector = match ring.sector(next.sector) {
            Ok(sector) => sector,
            Err(err) => {
                why = Some(unreadable(next.sector, &err));
                break;
            }
        };
        if !is_whole(&sector, seed) || !fits(&sector, &next) {
            break;
        }
        let Some(found) = records_of(&sector) else {
            why = Some(format!(
                "Sector {} of the journal holds what is no record.",
                next.sector
            ));
            break;
        };
        for read in found {
            if operation.records.is_empty() {
                operation.seq = next.seq;
                operation.sector = next.sector;
            }
            let seq = operation.seq;
            let mut wrong = operation.add(read.what);
            if read.is_last {
                wrong = wrong.and_then(|()| operation.check_pages(superblock));
            }
            let wrong = wrong.map_err(|wrong| format!("Operation {seq} of the journal {wrong}."));
            let wrong = wrong.and_then(|()| {
                if read.is_last {
                    visit(&operation)
                } else {
                    Ok(())
                }
            });
            if let Err(wrong) = wrong {
                why = Some(wrong);
                break;
            }
            if read.is_last {
                facts.nr_operations += 1;
                next.seq = next.seq.saturating_add(1);
                operation.clear();
            }
        }
        let block: &JournalSector = transmute_ref!(&sector);
        next.chain = block.crc.get();
        next.sector = next.sector.wrapping_add(1);
        facts.nr_sectors += 1;
    }
    facts.next_seq = next.seq;
    facts.nr_unfinished_records = operation.records.len() as u64;
    match why {
        Some(why) => findings.damage(Subject::Journal, || why),
        None => note_end(&facts, findings),
    }
    facts
}

fn unreadable(number: u64, err: &io::Error) -> String {
    format!("Sector {number} of the journal cannot be read ({err}).")
}

fn note_end(facts: &JournalFacts, findings: &mut Findings) {
    if facts.nr_unfinished_records != 0 {
        findings.add(Severity::Note, Subject::Journal, || {
            format!(
                "The journal ends within operation {}, as a crash may leave it: that one does \
                 not count.",
                facts.next_seq
            )
        });
    }
}

/// Look for sectors behind the journal's end that are whole and have later numbers. A crash
/// may leave them, when what comes before them in the same batch was lost; but a batch is
/// written when the one before it is durable, so no further on than a batch is long, and none
/// that begins a batch.
pub fn look_behind_end<D: ReadPages>(
    device: &D,
    superblock: &Super,
    facts: &JournalFacts,
    findings: &mut Findings,
) {
    let mut ring = Ring::new(device, superblock);
    let seed = seed(superblock);
    let end = facts.first_sector.wrapping_add(facts.nr_sectors);
    let left = u64::from(superblock.journal_sectors).saturating_sub(facts.nr_sectors);
    let mut nr_later: u64 = 0;
    let mut beyond = None;

    for at in 0..left {
        let number = end.wrapping_add(at);
        let sector = match ring.sector(number) {
            Ok(sector) => sector,
            Err(err) => {
                findings.damage(Subject::Journal, || unreadable(number, &err));
                continue;
            }
        };
        let block: &JournalSector = transmute_ref!(&sector);
        if block.sector.get() != number || !is_whole(&sector, seed) {
            continue;
        }
        let begins_batch = block.nr_bytes.get() & SECTOR_FIRST != 0;
        if at >= MAX_BATCH_SECTORS || (begins_batch && at > 0) {
            beyond = Some(number);
        }
        nr_later += u64::from(block.seq.get() >= facts.next_seq);
    }
    if let Some(beyond) = beyond {
        findings.damage(Subject::Journal, || {
            format!(
                "The journal ends before sector {end}, but sector {beyond} is whole, which was \
                 written when what ought to be there was durable."
            )
        });
    } else if nr_later != 0 {
        findings.add(Severity::Note, Subject::Journal, || {
            format!(
                "Behind the end of the journal at sector {end} there are {nr_later} sectors of \
                 later numbers: a crash that cut off a write leaves that, but so does damage."
            )
        });
    }
}
