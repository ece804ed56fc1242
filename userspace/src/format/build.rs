// SPDX-License-Identifier: GPL-2.0-only
//! Writing the metadata of a device anew: one checkpoint that has everything, and an empty
//! journal. There is no valid superblock until whoever asked for it writes them.

use std::io;

use zerocopy::{transmute, FromZeros};

use super::block::{self, BlockId};
use super::create::withdraw;
use super::layout::{
    Page, SegmentsBlock, SlotsBlock, SummaryBlock, BLOCK_BYTES, ENTRIES_PER_PAGE, MAGIC_DIRECTORY,
    MAGIC_MAP, MAGIC_SEGMENTS, SEGMENTS_PER_PAGE, SUMMARIES_PER_PAGE,
};
use super::map::{self, Entry};
use super::root::{fresh_chain, JournalPlace, Root, SlotEntry};
use super::segments::Segment;
use super::summary::{self, Written};
use super::superblock::{super_dpn, Super, Table, PAGE_SECTORS};
use crate::io_engine::pages::WritePages;

const ZEROES: [u8; BLOCK_BYTES] = [0; BLOCK_BYTES];

/// What the new checkpoint is.
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint {
    pub epoch: u64,
    /// The last operation that it has; not 0.
    pub seq: u64,
    /// Number of the journal's next sector.
    pub journal_sector: u64,
    /// A random number.
    pub salt: u64,
}

/// The superblocks of metadata that was written: nothing of it counts before they are there.
#[must_use]
pub struct Supers([(u64, Page); 2]);

impl Supers {
    /// They count on from that of the device so far.
    pub const EPOCHS: u64 = 2;

    fn new(superblock: &Super) -> Self {
        let next = [superblock.epoch + 1, superblock.epoch + 2];
        Self(next.map(|epoch| {
            let superblock = Super {
                epoch,
                flags: 0,
                ..superblock.clone()
            };
            (super_dpn(epoch), superblock.encode())
        }))
    }

    /// Write them, once everything else has come to the device.
    ///
    /// # Errors
    ///
    /// When the device fails.
    pub fn write(self, device: &impl WritePages) -> io::Result<()> {
        device.flush()?;
        for (dpn, page) in self.0 {
            device.write(dpn, &page)?;
        }
        device.flush()
    }
}

/// Metadata that is being written.
pub struct Builder<'a, D> {
    device: &'a D,
    superblock: &'a Super,
    checkpoint: Checkpoint,
    /// By page of the map.
    map: Vec<SlotEntry>,
}

fn invalid() -> io::Error {
    io::Error::other("a page has no place on the device")
}

/// The low bytes of a number.
fn put_number(to: &mut [u8], number: u64) {
    for (to, byte) in to.iter_mut().zip(number.to_le_bytes()) {
        *to = byte;
    }
}

impl<'a, D: WritePages> Builder<'a, D> {
    /// Begin: what the device had is not valid any more.
    ///
    /// # Errors
    ///
    /// When the device fails.
    pub fn new(device: &'a D, superblock: &'a Super, checkpoint: Checkpoint) -> io::Result<Self> {
        let root_pages = superblock
            .root_dpn
            .map(|dpn| dpn..dpn + superblock.nr_root_pages());
        let journal_pages = u64::from(superblock.journal_sectors / PAGE_SECTORS);
        let journal = superblock.journal_dpn..superblock.journal_dpn + journal_pages;
        let builder = Self {
            device,
            superblock,
            checkpoint,
            map: vec![SlotEntry(0); superblock.nr_pages(Table::Map) as usize],
        };

        // If power fails while the roots go, nobody must take the rest for a device.
        withdraw(device)?;
        for dpn in root_pages.into_iter().flatten().chain(journal) {
            builder.clear(dpn)?;
        }
        device.flush()?;
        Ok(builder)
    }

    /// A sparse file stays one.
    fn clear(&self, dpn: u64) -> io::Result<()> {
        if self.device.read_page(dpn).is_ok_and(|page| page == ZEROES) {
            return Ok(());
        }
        self.device.write(dpn, &ZEROES)
    }

    /// Write a page of a table to its first slot.
    fn put(
        &self,
        table: Table,
        index: u64,
        magic: u32,
        nr_entries: usize,
        mut page: Page,
    ) -> io::Result<SlotEntry> {
        let dpn = self
            .superblock
            .slot_dpn(table, index, 0)
            .ok_or_else(invalid)?;
        let seq = match table {
            Table::Directory => self.checkpoint.epoch,
            _ => self.checkpoint.seq,
        };
        block::seal(
            &mut page,
            &BlockId {
                magic,
                nr_entries: nr_entries as u16,
                dpn,
                index,
                seq,
                epoch: self.checkpoint.epoch,
                uuid: &self.superblock.uuid,
            },
        );
        self.device.write(dpn, &page)?;
        Ok(SlotEntry(seq << 1))
    }

    /// Write a page of the map, if it has anything.
    ///
    /// # Errors
    ///
    /// When the device fails.
    pub fn put_map(&mut self, index: u64, entries: &[Entry]) -> io::Result<()> {
        if entries.iter().all(|entry| entry.dpn == 0) {
            return Ok(());
        }
        let page = map::encode(self.superblock, entries);
        let nr_entries = self.superblock.map_entries();
        let entry = self.put(Table::Map, index, MAGIC_MAP, nr_entries, page)?;
        if let Some(slot) = self.map.get_mut(index as usize) {
            *slot = entry;
        }
        Ok(())
    }

    /// A page of the map that was written; `None`: it has nothing.
    ///
    /// # Errors
    ///
    /// When the device fails.
    pub fn map_page(&self, index: u64) -> io::Result<Option<Page>> {
        let entry = self.map.get(index as usize).copied().unwrap_or_default();
        if entry.is_absent() {
            return Ok(None);
        }
        let dpn = self
            .superblock
            .slot_dpn(Table::Map, index, 0)
            .ok_or_else(invalid)?;
        self.device.read_page(dpn).map(Some)
    }

    /// Write the summary of a segment.
    ///
    /// # Errors
    ///
    /// When the device fails.
    pub fn put_summary(&self, number: u64, pages: &[Option<Written>]) -> io::Result<()> {
        let chunks = pages.chunks(SUMMARIES_PER_PAGE);

        for (index, chunk) in (0..self.superblock.summary_pages).zip(chunks) {
            let mut block = SummaryBlock::new_zeroed();
            for (to, written) in block.entry.iter_mut().zip(chunk) {
                let Some(written) = written else { continue };
                put_number(&mut to.lpn, written.lpn + 1);
                put_number(&mut to.seq, written.seq);
                to.fpage = written.fpage.into();
                to.file = written.file.into();
            }
            let mut page: Page = transmute!(block);
            let mut id = summary::block_id(self.superblock, number, index).ok_or_else(invalid)?;
            id.seq = chunk
                .iter()
                .flatten()
                .map(|written| written.seq)
                .max()
                .unwrap_or(0);
            id.epoch = self.checkpoint.epoch;
            block::seal(&mut page, &id);
            self.device.write(id.dpn, &page)?;
        }
        Ok(())
    }

    fn put_segments(&self, segments: &[Segment]) -> io::Result<Vec<SlotEntry>> {
        let mut entries = Vec::new();

        for (index, chunk) in (0..).zip(segments.chunks(SEGMENTS_PER_PAGE)) {
            if chunk.iter().all(|segment| *segment == Segment::default()) {
                entries.push(SlotEntry(0));
                continue;
            }
            let mut block = SegmentsBlock::new_zeroed();
            for (to, segment) in block.segment.iter_mut().zip(chunk) {
                *to = segment.encode();
            }
            let page = transmute!(block);
            entries.push(self.put(Table::Segments, index, MAGIC_SEGMENTS, chunk.len(), page)?);
        }
        Ok(entries)
    }

    fn put_directory(&self) -> io::Result<Vec<SlotEntry>> {
        let mut entries = Vec::new();

        for (index, chunk) in (0..).zip(self.map.chunks(ENTRIES_PER_PAGE)) {
            if chunk.iter().all(|entry| entry.is_absent()) {
                entries.push(SlotEntry(0));
                continue;
            }
            let mut block = SlotsBlock::new_zeroed();
            for (to, entry) in block.entry.iter_mut().zip(chunk) {
                to.seq_slot = entry.0.into();
            }
            let page = transmute!(block);
            entries.push(self.put(Table::Directory, index, MAGIC_DIRECTORY, chunk.len(), page)?);
        }
        Ok(entries)
    }

    /// Write the other tables and the root. Returns what is to be written last.
    ///
    /// # Errors
    ///
    /// When the device fails.
    pub fn finish(self, segments: &[Segment]) -> io::Result<Supers> {
        let (superblock, checkpoint) = (self.superblock, self.checkpoint);
        let mut root = Root::empty(superblock, 0);

        root.segments = self.put_segments(segments)?;
        root.directory = self.put_directory()?;
        root.journal = JournalPlace {
            sector: checkpoint.journal_sector,
            chain: fresh_chain(superblock, checkpoint.salt),
            seq: checkpoint.seq + 1,
        };
        // Both, so that each is there twice
        for epoch in [checkpoint.epoch, checkpoint.epoch + 1] {
            root.epoch = epoch;
            for (dpn, page) in (root.dpn(superblock)..).zip(root.encode(superblock)) {
                self.device.write(dpn, &page)?;
            }
        }
        Ok(Supers::new(superblock))
    }
}
