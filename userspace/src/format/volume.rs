// SPDX-License-Identifier: GPL-2.0-only
//! A device in log mode as it is after the journal: what the target would find when it
//! starts. Nothing is written.

use std::io;

use thiserror::Error;
use zerocopy::transmute_ref;

use super::block::{self, BlockError, BlockId, Uuid};
use super::findings::{Findings, Severity, Subject};
use super::journal::{self, JournalFacts, Operation};
use super::layout::{
    Page, SlotsBlock, ENTRIES_PER_PAGE, MAGIC_DIRECTORY, MAGIC_MAP, MAGIC_OPEN, MAGIC_SEGMENTS,
    SEGMENTS_PER_PAGE, SUMMARIES_PER_PAGE, SUPER_DPN_A, SUPER_DPN_B, SUPER_NEEDS_CHECK,
};
use super::map::Changes;
use super::need;
use super::records::Record;
use super::root::{Root, RootError, SlotEntry};
use super::segments::SegmentTable;
use super::summary::{OpenSummaries, Written};
use super::superblock::{Super, SuperError, Table, INCOMPAT_KNOWN};
use crate::io_engine::pages::ReadPages;

/// A device in log mode.
#[derive(Clone, Debug)]
pub struct Volume {
    pub superblock: Super,
    pub root: Root,
    /// By page of the map; `None`: the directory's page is damaged.
    pub map_slots: Vec<Option<SlotEntry>>,
    pub lost_directory_pages: u64,
    pub segments: SegmentTable,
    pub open: OpenSummaries,
    pub changes: Changes,
    pub journal: JournalFacts,
}

/// What is wrong with a page that an entry names.
#[derive(Debug, Error)]
pub enum SlotError {
    #[error(transparent)]
    Block(#[from] BlockError),
    #[error("it is of checkpoint {0}, which has not happened")]
    Epoch(u64),
}

/// Why a device has no superblock that counts.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum NoSuper {
    #[error("it has {0} pages and cannot be in log mode")]
    Tiny(u64),
    #[error("neither superblock is valid, so the layout is unknown")]
    Invalid(SuperError, SuperError),
    #[error(
        "it has {nr_pages} pages, but was formatted with {nr_formatted}: make it as long as it was"
    )]
    Short { nr_pages: u64, nr_formatted: u64 },
}

impl NoSuper {
    /// As a finding.
    fn sentence(&self) -> String {
        match self {
            Self::Tiny(nr_pages) => {
                format!("The device has {nr_pages} pages and cannot be one in log mode.")
            }
            Self::Invalid(a, b) => format!("Neither superblock is valid. A: {a}. B: {b}."),
            Self::Short {
                nr_pages,
                nr_formatted,
            } => format!("The device has {nr_pages} pages, but was formatted with {nr_formatted}."),
        }
    }
}

/// Both superblocks were read; the one that counts, if there is one.
fn choose_super(
    a: Result<Super, SuperError>,
    b: Result<Super, SuperError>,
    findings: &mut Findings,
) -> Result<Super, NoSuper> {
    match (a, b) {
        (Ok(a), Ok(b)) => {
            if a.uuid != b.uuid || a.epoch.abs_diff(b.epoch) != 1 {
                findings.add(Severity::Warning, Subject::Superblock, || {
                    format!(
                        "The superblocks do not belong together: A is number {} of device {}, B \
                         number {} of device {}.",
                        a.epoch,
                        a.uuid_text(),
                        b.epoch,
                        b.uuid_text()
                    )
                });
            } else if !a.is_same_layout(&b) {
                let older = if a.epoch < b.epoch { "A" } else { "B" };
                findings.add(Severity::Warning, Subject::Superblock, || {
                    format!(
                        "Superblock {older} is older, and of another layout, as a power failure \
                         leaves it while a device grows: the next start that may write writes it again."
                    )
                });
            }
            Ok(if a.epoch > b.epoch { a } else { b })
        }
        (Ok(valid), Err(why)) | (Err(why), Ok(valid)) => {
            let place = if valid.epoch % 2 == 1 { "B" } else { "A" };
            findings.add(Severity::Warning, Subject::Superblock, || {
                format!("Superblock {place} is not valid: {why}. The other one counts.")
            });
            Ok(valid)
        }
        (Err(a), Err(b)) => Err(NoSuper::Invalid(a, b)),
    }
}

/// Has the device this log, and no other one? What became of it does not matter: one that is damaged,
/// has become shorter, or has features that nobody knew of is still the same.
///
/// # Errors
///
/// When it cannot be read.
pub fn holds_log(device: &impl ReadPages, uuid: &Uuid) -> io::Result<bool> {
    let mut found = false;

    for dpn in [SUPER_DPN_A, SUPER_DPN_B] {
        if dpn >= device.nr_pages() {
            continue;
        }
        if let Ok(superblock) = Super::decode(&device.read_page(dpn)?, dpn) {
            if superblock.uuid != *uuid {
                return Ok(false);
            }
            found = true;
        }
    }
    Ok(found)
}

/// The superblock that counts, or why there is none. What is wrong with the other one becomes a
/// finding.
///
/// # Errors
///
/// When the device has features that nobody knew of.
pub fn find_super(
    device: &impl ReadPages,
    findings: &mut Findings,
) -> io::Result<Result<Super, NoSuper>> {
    let nr_pages = device.nr_pages();
    if nr_pages <= SUPER_DPN_B {
        return Ok(Err(NoSuper::Tiny(nr_pages)));
    }
    let decode = |dpn| Super::decode(&block::read(device, dpn)?, dpn);
    let superblock = match choose_super(decode(SUPER_DPN_A), decode(SUPER_DPN_B), findings) {
        Ok(superblock) => superblock,
        Err(why) => return Ok(Err(why)),
    };

    if superblock.incompat & !INCOMPAT_KNOWN != 0 {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!(
                "The device has features {:#x} that this version does not know",
                superblock.incompat & !INCOMPAT_KNOWN
            ),
        ));
    }
    if superblock.nr_device_pages > nr_pages {
        return Ok(Err(NoSuper::Short {
            nr_pages,
            nr_formatted: superblock.nr_device_pages,
        }));
    }
    if superblock.flags & SUPER_NEEDS_CHECK != 0 {
        findings.add(Severity::Warning, Subject::Superblock, || {
            "The target met an error of the metadata and asks for a check.".to_owned()
        });
    }
    Ok(Ok(superblock))
}

/// The superblock that counts, if there is one. What is wrong becomes findings.
///
/// # Errors
///
/// When the device has features that nobody knew of.
pub fn read_super(device: &impl ReadPages, findings: &mut Findings) -> io::Result<Option<Super>> {
    let found = find_super(device, findings)?;

    if let Err(why) = &found {
        findings.damage(Subject::Superblock, || why.sentence());
    }
    Ok(found.ok())
}

fn read_one_root(
    device: &impl ReadPages,
    superblock: &Super,
    which: u64,
) -> Result<Root, RootError> {
    let [even, odd] = superblock.root_dpn;
    let first = if which == 0 { even } else { odd };
    let mut pages = Vec::new();

    for index in 0..superblock.nr_root_pages() {
        let page = block::read(device, first + index);
        pages.push(page.map_err(|err| RootError::Block(index, err))?);
    }
    Root::decode(&pages, superblock, which)
}

/// The root that counts, if there is one.
fn read_root(device: &impl ReadPages, superblock: &Super, findings: &mut Findings) -> Option<Root> {
    let even = read_one_root(device, superblock, 0);
    let odd = read_one_root(device, superblock, 1);

    match (even, odd) {
        (Ok(even), Ok(odd)) => {
            if even.epoch.abs_diff(odd.epoch) != 1 {
                findings.add(Severity::Warning, Subject::Root, || {
                    format!(
                        "The roots are of checkpoints {} and {}, which do not follow each other.",
                        even.epoch, odd.epoch
                    )
                });
            }
            Some(if even.epoch > odd.epoch { even } else { odd })
        }
        (Ok(valid), Err(why)) | (Err(why), Ok(valid)) => {
            // After format there is one only.
            if valid.epoch > 1 {
                let epoch = valid.epoch;
                findings.add(Severity::Warning, Subject::Root, || {
                    format!(
                        "The root beside that of checkpoint {epoch} is not valid, as a crash may \
                         leave it: {why}."
                    )
                });
            }
            Some(valid)
        }
        (Err(even), Err(odd)) => {
            findings.damage(Subject::Root, || {
                format!("Neither root is valid. First: {even}. Second: {odd}.")
            });
            None
        }
    }
}

/// The page of a table that an entry names; `None`: it was never written.
pub fn read_slot(
    device: &impl ReadPages,
    volume: &Volume,
    table: Table,
    index: u64,
    entry: SlotEntry,
) -> Option<Result<Page, SlotError>> {
    let superblock = &volume.superblock;
    let (magic, nr_entries) = match table {
        Table::Segments => (MAGIC_SEGMENTS, SEGMENTS_PER_PAGE),
        Table::Open => (MAGIC_OPEN, SUMMARIES_PER_PAGE),
        Table::Directory => (MAGIC_DIRECTORY, ENTRIES_PER_PAGE),
        Table::Map => (MAGIC_MAP, superblock.map_entries()),
    };
    let place = superblock.slot_dpn(table, index, entry.slot());
    let dpn = place.filter(|_| !entry.is_absent())?;
    let id = BlockId {
        magic,
        nr_entries: nr_entries as u16,
        dpn,
        index,
        seq: entry.seq(),
        epoch: 0,
        uuid: &superblock.uuid,
    };

    let page = match block::read_checked(device, &id) {
        Ok(page) => page,
        Err(why) => return Some(Err(why.into())),
    };
    let epoch = block::header(&page).map_or(0, |header| header.epoch.get());
    Some(if epoch > volume.root.epoch {
        Err(SlotError::Epoch(epoch))
    } else {
        Ok(page)
    })
}

impl Volume {
    fn new(superblock: Super, root: Root) -> Self {
        Self {
            map_slots: vec![Some(SlotEntry(0)); superblock.nr_pages(Table::Map) as usize],
            lost_directory_pages: 0,
            segments: SegmentTable::new(&superblock),
            open: OpenSummaries::new(&superblock),
            changes: Changes::new(&superblock),
            journal: JournalFacts::default(),
            superblock,
            root,
        }
    }

    /// Find out what is on a device. Returns `None` if that is nothing that can be
    /// followed; what is wrong becomes findings.
    ///
    /// # Errors
    ///
    /// When the device has features that nobody knew of, or its tables take more memory than there
    /// is. What cannot be read is a finding.
    pub fn load(device: &impl ReadPages, findings: &mut Findings) -> io::Result<Option<Self>> {
        Self::load_with(device, findings, |_| {})
    }

    /// Like `load`; `visit` gets each operation of the journal.
    ///
    /// # Errors
    ///
    /// Like `load`.
    pub fn load_with(
        device: &impl ReadPages,
        findings: &mut Findings,
        visit: impl FnMut(&Operation),
    ) -> io::Result<Option<Self>> {
        let Some(superblock) = read_super(device, findings)? else {
            return Ok(None);
        };
        need::require(&superblock)?;
        let Some(root) = read_root(device, &superblock, findings) else {
            return Ok(None);
        };
        let mut volume = Self::new(superblock, root);
        volume.load_directory(device, findings);
        volume.load_segments(device, findings);
        volume.load_open(device, findings);
        volume.replay(device, findings, visit);
        volume.check_times(findings);
        Ok(Some(volume))
    }

    fn load_directory(&mut self, device: &impl ReadPages, findings: &mut Findings) {
        for (index, entry) in (0..).zip(self.root.directory.clone()) {
            let page = read_slot(device, self, Table::Directory, index, entry);
            let slots = self
                .map_slots
                .iter_mut()
                .skip(index as usize * ENTRIES_PER_PAGE);
            let slots = slots.take(ENTRIES_PER_PAGE);
            match page {
                None => {}
                Some(Ok(page)) => {
                    let block: &SlotsBlock = transmute_ref!(&page);
                    for (to, entry) in slots.zip(&block.entry) {
                        *to = Some(SlotEntry(entry.seq_slot.get()));
                    }
                }
                Some(Err(why)) => {
                    slots.for_each(|slot| *slot = None);
                    self.lost_directory_pages += 1;
                    findings.damage(Subject::Directory, || {
                        format!("Page {index} of the directory is damaged: {why}.")
                    });
                }
            }
        }
    }

    fn load_segments(&mut self, device: &impl ReadPages, findings: &mut Findings) {
        for (index, entry) in (0..).zip(self.root.segments.clone()) {
            match read_slot(device, self, Table::Segments, index, entry) {
                None => {}
                Some(Ok(page)) => {
                    for wrong in self.segments.load(index, transmute_ref!(&page)) {
                        findings.damage(Subject::Segment, || wrong);
                    }
                }
                Some(Err(why)) => {
                    self.segments.lose(index);
                    findings.damage(Subject::SegmentTable, || {
                        format!("Page {index} of the segment table is damaged: {why}.")
                    });
                }
            }
        }
    }

    fn load_open(&mut self, device: &impl ReadPages, findings: &mut Findings) {
        for (index, entry) in (0..).zip(self.root.open.clone()) {
            match read_slot(device, self, Table::Open, index, entry) {
                None => {}
                Some(Ok(page)) => self
                    .open
                    .load(&self.superblock, index, transmute_ref!(&page)),
                Some(Err(why)) => findings.damage(Subject::OpenSummary, || {
                    format!("Page {index} of the open summaries is damaged: {why}.")
                }),
            }
        }
    }

    fn replay(
        &mut self,
        device: &impl ReadPages,
        findings: &mut Findings,
        mut visit: impl FnMut(&Operation),
    ) {
        let superblock = self.superblock.clone();
        let from = self.root.journal;

        self.journal = journal::read(device, &superblock, from, findings, |operation| {
            visit(operation);
            self.apply(operation)
        });
        self.changes.finish();
    }

    /// Do an operation of the journal.
    fn apply(&mut self, operation: &Operation) -> Result<(), String> {
        let seq = operation.seq;
        let superblock = &self.superblock;

        for record in &operation.records {
            if let Record::Map { lpn, nr_pages, .. } | Record::Trim { lpn, nr_pages } = *record {
                if lpn + nr_pages > superblock.nr_lpns {
                    return Err(format!(
                        "Operation {seq} of the journal is about {nr_pages} pages from lpn {lpn} \
                         on, but there are {} only.",
                        superblock.nr_lpns
                    ));
                }
            }
            self.segments.apply(superblock, record, seq)?;
        }
        for record in &operation.records {
            self.segments.applied(superblock, record, seq);
        }
        self.changes.add(operation);
        match operation.records.first() {
            Some(Record::Open { open, .. }) => self.open.begin(*open, seq),
            Some(&Record::Map { lpn, dpn, nr_pages }) => self.summarize(lpn, dpn, nr_pages, seq),
            _ => {}
        }
        Ok(())
    }

    fn summarize(&mut self, lpn: u64, dpn: u64, nr_pages: u64, seq: u64) {
        let Some((number, page)) = self.superblock.segment_of(dpn) else {
            return;
        };
        if let Some(segment) = self.segments.get(number) {
            let first = Written {
                lpn,
                seq,
                ..Written::default()
            };
            self.open.put(segment.open, page, nr_pages as u32, first);
        }
    }

    /// No page may know an operation that the journal does not reach.
    fn check_times(&self, findings: &mut Findings) {
        let next_seq = self.journal.next_seq;
        let map = self.map_slots.iter().map(|slot| slot.unwrap_or_default());
        let tables = [
            (Table::Segments, self.root.segments.clone()),
            (Table::Open, self.root.open.clone()),
            (Table::Map, map.collect()),
        ];

        for (table, entries) in tables {
            for (index, entry) in (0..).zip(entries) {
                if entry.seq() >= next_seq {
                    findings.damage(Subject::Journal, || {
                        format!(
                            "Page {index} of the {table} knows operation {}, but the journal ends \
                             before operation {next_seq}.",
                            entry.seq()
                        )
                    });
                }
            }
        }
    }
}
