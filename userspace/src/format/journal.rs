// SPDX-License-Identifier: GPL-2.0-only
//! Reading the journal: sector by sector while each fits to the one before, and the
//! records put together to operations.

use std::io;
use std::ops::Range;

use serde::Serialize;
use zerocopy::transmute_ref;

use super::block::crc32c;
use super::drafts::{self, Draft, Found};
use super::findings::{Findings, Severity, Subject};
use super::layout::{
    JournalSector, Sector, BLOCK_BYTES, FORMAT_VERSION, MAGIC_JOURNAL, MAP_SUMS_ENTRIES,
    MAX_BATCH_SECTORS, SECTOR_BYTES,
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
    /// Its batch is a draft: the checksum of its data.
    pub draft: Option<u32>,
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
    /// Behind those that count: sectors of a draft the data of which is not there.
    pub nr_dropped_sectors: u64,
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
    let mut bytes = block.records.get(..drafts::record_bytes(sector))?;
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
        let is_in_order = match self.records.first() {
            None => !is_dead,
            // What is done to a segment stands alone.
            Some(first) => is_dead && matches!(first, Record::Map { .. } | Record::Trim { .. }),
        };
        if !is_in_order {
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

/// A draft of which nobody knows yet whether it is the last batch.
struct Pending {
    draft: Draft,
    operation: Operation,
    /// Where the journal ends if it does not count, and what was found up to there.
    from: JournalPlace,
    facts: JournalFacts,
}

/// A journal that is being read.
struct Reader<'a, D, F> {
    device: &'a D,
    superblock: &'a Super,
    ring: Ring<'a, D>,
    next: JournalPlace,
    operation: Operation,
    draft: Option<Pending>,
    facts: JournalFacts,
    visit: F,
}

/// Says what is wrong with an operation.
fn wrong_operation(seq: u64, wrong: &str) -> String {
    format!("Operation {seq} of the journal {wrong}.")
}

impl<D: ReadPages, F: FnMut(&Operation) -> Result<(), String>> Reader<'_, D, F> {
    /// Read up to the end. Says what cannot be.
    fn read(&mut self) -> Result<(), String> {
        let seed = seed(self.superblock);

        loop {
            let number = self.next.sector;
            let sector = self.ring.sector(number);
            let sector = sector.map_err(|err| unreadable(number, &err))?;
            if !is_whole(&sector, seed) || !fits(&sector, &self.next) {
                return Ok(());
            }
            let records = records_of(&sector).ok_or_else(|| {
                format!("Sector {number} of the journal holds what is no record.")
            })?;
            if drafts::is_first(&sector) {
                self.count_draft()?;
            }
            let result = if drafts::is_draft(&sector) {
                self.take_draft(&sector, records)?;
                Ok(())
            } else {
                self.take(records)
            };
            let block: &JournalSector = transmute_ref!(&sector);
            self.next.chain = block.crc.get();
            self.next.sector = number.wrapping_add(1);
            self.facts.nr_sectors += 1;
            result?;
        }
    }

    /// Go on with the records of a sector.
    fn take(&mut self, records: Vec<ReadRecord>) -> Result<(), String> {
        if self.draft.is_some() && !records.is_empty() {
            return Err(self.no_draft());
        }
        for read in records {
            self.add(read.what)?;
            if !read.is_last {
                continue;
            }
            self.end_operation()?;
            (self.visit)(&self.operation)?;
            self.operation.clear();
        }
        Ok(())
    }

    fn add(&mut self, what: What) -> Result<(), String> {
        if self.operation.records.is_empty() {
            self.operation.seq = self.next.seq;
            self.operation.sector = self.next.sector;
        }
        let added = self.operation.add(what);
        added.map_err(|wrong| wrong_operation(self.operation.seq, wrong))
    }

    /// The operation is whole.
    fn end_operation(&mut self) -> Result<(), String> {
        let checked = self.operation.check_pages(self.superblock);
        checked.map_err(|wrong| wrong_operation(self.operation.seq, wrong))?;
        self.facts.nr_operations += 1;
        self.next.seq = self.next.seq.saturating_add(1);
        Ok(())
    }

    fn no_draft(&self) -> String {
        format!(
            "Sector {} of the journal has a draft that is none.",
            self.next.sector
        )
    }

    /// Take the operation of a draft. Whether it counts is known when what follows was read.
    fn take_draft(&mut self, sector: &Sector, records: Vec<ReadRecord>) -> Result<(), String> {
        let draft = Draft::new(sector, &records, self.superblock);
        // None whose batch begins within an operation
        let draft = draft.filter(|_| self.operation.records.is_empty());
        let draft = draft.ok_or_else(|| self.no_draft())?;
        let (from, facts) = (self.next, self.facts);

        for read in records {
            self.add(read.what)?;
        }
        self.end_operation()?;
        self.operation.draft = Some(draft.sum);
        self.draft = Some(Pending {
            draft,
            operation: std::mem::take(&mut self.operation),
            from,
            facts,
        });
        Ok(())
    }

    /// Another batch begins: it was written when the draft before it was durable.
    fn count_draft(&mut self) -> Result<(), String> {
        match self.draft.take() {
            Some(pending) => (self.visit)(&pending.operation),
            None => Ok(()),
        }
    }

    /// The journal ends. If its last batch is a draft, that one counts unless its data is not
    /// there.
    fn end_draft(&mut self, findings: &mut Findings) -> Result<(), String> {
        let Some(pending) = self.draft.take() else {
            return Ok(());
        };
        let number = pending.from.sector;
        match pending.draft.look(self.device, self.superblock) {
            Found::Same | Found::Nowhere => {}
            Found::Unreadable(err) => {
                findings.add(Severity::Warning, Subject::Journal, || {
                    format!(
                        "The last batch of the journal, at sector {number}, is a draft the data of \
                         which cannot be read ({err}): it counts."
                    )
                });
            }
            Found::Other => {
                findings.add(Severity::Note, Subject::Journal, || {
                    format!(
                        "The last batch of the journal, at sector {number}, is a draft of \
                         operation {} the data of which is not there, as a crash may leave it: it does not \
                         count.",
                        pending.operation.seq
                    )
                });
                let nr_dropped = self.facts.nr_sectors - pending.facts.nr_sectors;
                self.next = pending.from;
                self.facts = pending.facts;
                self.facts.nr_dropped_sectors = nr_dropped;
                return Ok(());
            }
        }
        (self.visit)(&pending.operation)
    }
}

/// Read all operations from a place on and hand each that counts to `visit`, which says what
/// cannot be in it. Returns what was found.
pub fn read<D: ReadPages>(
    device: &D,
    superblock: &Super,
    from: JournalPlace,
    findings: &mut Findings,
    visit: impl FnMut(&Operation) -> Result<(), String>,
) -> JournalFacts {
    let mut reader = Reader {
        device,
        superblock,
        ring: Ring::new(device, superblock),
        next: from,
        operation: Operation::default(),
        draft: None,
        facts: JournalFacts {
            first_sector: from.sector,
            ..JournalFacts::default()
        },
        visit,
    };
    let mut result = reader.read();
    let ended = reader.end_draft(findings);

    if result.is_ok() {
        result = ended;
    }
    let mut facts = reader.facts;
    facts.next_seq = reader.next.seq;
    facts.nr_unfinished_records = reader.operation.records.len() as u64;
    match result {
        Err(why) => findings.damage(Subject::Journal, || why),
        Ok(()) => note_end(&facts, findings),
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
                // If the journal went on, the next batch would begin before that.
                let severity = if at > MAX_BATCH_SECTORS {
                    Severity::Warning
                } else {
                    Severity::Damage
                };
                findings.add(severity, Subject::Journal, || unreadable(number, &err));
                continue;
            }
        };
        if !is_whole(&sector, seed) {
            continue;
        }
        let block: &JournalSector = transmute_ref!(&sector);
        let found = block.sector.get();
        // Also of a later lap: if the last root is lost, the one before it may name a place that the
        // journal has come to once more.
        // At the end itself another line may begin, with a number that no operation behind the end can
        // have: the root that leads to it is lost.
        let is_beyond = if drafts::is_first(&sector) {
            found > end || (found == end && block.seq.get() > facts.next_seq)
        } else {
            found >= end.wrapping_add(MAX_BATCH_SECTORS)
        };
        if is_beyond {
            beyond = Some(found);
        }
        // What was said of a draft that does not count is enough.
        let is_later = at >= facts.nr_dropped_sectors && block.seq.get() >= facts.next_seq;
        nr_later += u64::from(found == number && is_later);
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

#[cfg(test)]
mod tests {
    use super::{Operation, Record, What};

    #[test]
    fn dead_pages_stand_behind_what_has_replaced_them_only() {
        let dead = || {
            What::Record(Record::Dead {
                dpn: 1,
                nr_pages: 1,
            })
        };
        let mut operation = Operation::default();
        operation.add(dead()).unwrap_err();
        let trim = Record::Trim {
            lpn: 1,
            nr_pages: 1,
        };
        operation.add(What::Record(trim)).unwrap();
        operation.add(dead()).unwrap();

        let mut operation = Operation::default();
        let opened = Record::Open {
            segment: 1,
            open: 0,
            mtime: 0,
        };
        operation.add(What::Record(opened)).unwrap();
        operation.add(dead()).unwrap_err();
    }
}
