// SPDX-License-Identifier: GPL-2.0-only
//! The root of a checkpoint: where the journal goes on, and which slot of each page of
//! segment table, open summaries and directory is the valid one.

use thiserror::Error;
use zerocopy::{transmute, transmute_ref, FromZeros};

use super::block::{self, crc32c, BlockError, BlockId};
use super::layout::{Page, RootBlock, SlotsBlock, ENTRIES_PER_PAGE, MAGIC_ROOT, ROOT_CLEAN};
use super::superblock::{Super, Table};

/// The highest number that an entry has room for.
pub const MAX_SEQ: u64 = u64::MAX >> 1;

/// Which slot of a page is the valid one; see `struct dmda_slot_entry`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SlotEntry(pub u64);

impl SlotEntry {
    /// The page was never written, and is all 0.
    pub fn is_absent(self) -> bool {
        self.0 == 0
    }

    pub fn slot(self) -> u64 {
        self.0 & 1
    }

    pub fn seq(self) -> u64 {
        self.0 >> 1
    }
}

/// A place in the journal.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct JournalPlace {
    /// Number of a sector.
    pub sector: u64,
    /// What it has as chain.
    pub chain: u32,
    /// The operation that comes next there.
    pub seq: u64,
}

/// A root in the machine's own numbers.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Root {
    pub epoch: u64,
    pub journal: JournalPlace,
    pub is_clean: bool,
    pub pages_written: u64,
    /// By page of the segment table.
    pub segments: Vec<SlotEntry>,
    /// By page of the open summaries.
    pub open: Vec<SlotEntry>,
    /// By page of the directory.
    pub directory: Vec<SlotEntry>,
}

/// Why a root does not count.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum RootError {
    #[error("page {0} of it does not count: {1}")]
    Block(u64, BlockError),
    #[error("it has impossible numbers")]
    Numbers,
    #[error("it is of a device of another size")]
    Size,
}

/// The chain with which a new line of events begins; `salt` is a random number.
pub fn fresh_chain(superblock: &Super, salt: u64) -> u32 {
    crc32c(crc32c(!0, &superblock.uuid), &salt.to_le_bytes())
}

/// What the first page of a root is at that place, of whatever epoch.
pub(super) fn first_id(superblock: &Super, dpn: u64) -> BlockId<'_> {
    BlockId {
        magic: MAGIC_ROOT,
        nr_entries: 0,
        dpn,
        index: 0,
        seq: 0,
        epoch: 0,
        uuid: &superblock.uuid,
    }
}

impl Root {
    /// The root of a new device: no page of any table was ever written.
    pub fn empty(superblock: &Super, salt: u64) -> Self {
        Self {
            epoch: 1,
            journal: JournalPlace {
                sector: 0,
                chain: fresh_chain(superblock, salt),
                seq: 1,
            },
            is_clean: true,
            pages_written: 0,
            segments: vec![SlotEntry(0); superblock.nr_pages(Table::Segments) as usize],
            open: vec![SlotEntry(0); superblock.nr_pages(Table::Open) as usize],
            directory: vec![SlotEntry(0); superblock.nr_pages(Table::Directory) as usize],
        }
    }

    /// Where this root begins.
    pub fn dpn(&self, superblock: &Super) -> u64 {
        let [even, odd] = superblock.root_dpn;
        if self.epoch % 2 == 0 {
            even
        } else {
            odd
        }
    }

    fn first_page(&self) -> Page {
        let mut block = RootBlock::new_zeroed();

        block.journal_sector = self.journal.sector.into();
        block.next_seq = self.journal.seq.into();
        block.chain = self.journal.chain.into();
        block.flags = if self.is_clean { ROOT_CLEAN } else { 0 }.into();
        block.nr_segment_entries = (self.segments.len() as u64).into();
        block.nr_open_entries = (self.open.len() as u64).into();
        block.nr_directory_entries = (self.directory.len() as u64).into();
        block.pages_written = self.pages_written.into();
        transmute!(block)
    }

    /// The pages to be written from `dpn()` on.
    pub fn encode(&self, superblock: &Super) -> Vec<Page> {
        let entries: Vec<SlotEntry> = [&self.segments, &self.open, &self.directory]
            .into_iter()
            .flatten()
            .copied()
            .collect();
        let mut pages = vec![(self.first_page(), 0)];

        for chunk in entries.chunks(ENTRIES_PER_PAGE) {
            let mut block = SlotsBlock::new_zeroed();
            for (to, entry) in block.entry.iter_mut().zip(chunk) {
                to.seq_slot = entry.0.into();
            }
            pages.push((transmute!(block), chunk.len() as u16));
        }
        let mut sealed = Vec::new();
        for (index, (mut page, nr_entries)) in (0..).zip(pages) {
            block::seal(
                &mut page,
                &BlockId {
                    magic: MAGIC_ROOT,
                    nr_entries,
                    dpn: self.dpn(superblock) + index,
                    index,
                    seq: self.epoch,
                    epoch: self.epoch,
                    uuid: &superblock.uuid,
                },
            );
            sealed.push(page);
        }
        sealed
    }

    /// Understand the root whose pages were read from place `which`, 0 or 1.
    ///
    /// # Errors
    ///
    /// Says why it does not count.
    pub fn decode(pages: &[Page], superblock: &Super, which: u64) -> Result<Self, RootError> {
        let [even, odd] = superblock.root_dpn;
        let dpn = if which == 0 { even } else { odd };
        let (first, rest) = pages.split_first().ok_or(RootError::Size)?;
        let mut id = first_id(superblock, dpn);

        block::check(first, &id).map_err(|err| RootError::Block(0, err))?;
        let mut root = Self::decode_first(transmute_ref!(first), superblock)?;
        if root.epoch % 2 != which {
            return Err(RootError::Numbers);
        }
        let mut entries = Vec::new();
        let nr_entries = root.segments.len() + root.open.len() + root.directory.len();
        for (index, page) in (1..).zip(rest) {
            let nr = ENTRIES_PER_PAGE.min(nr_entries - entries.len());
            id.nr_entries = nr as u16;
            id.dpn = dpn + index;
            id.index = index;
            id.seq = root.epoch;
            id.epoch = root.epoch;
            block::check(page, &id).map_err(|err| RootError::Block(index, err))?;
            let block: &SlotsBlock = transmute_ref!(page);
            let read = block
                .entry
                .iter()
                .map(|entry| SlotEntry(entry.seq_slot.get()));
            entries.extend(read.take(nr));
        }
        if entries.len() != nr_entries {
            return Err(RootError::Size);
        }
        let mut entries = entries.into_iter();
        for table in [&mut root.segments, &mut root.open, &mut root.directory] {
            for (to, from) in table.iter_mut().zip(&mut entries) {
                *to = from;
            }
        }
        Ok(root)
    }

    fn decode_first(block: &RootBlock, superblock: &Super) -> Result<Self, RootError> {
        let mut root = Self::empty(superblock, 0);

        root.epoch = block.header.epoch.get();
        root.journal = JournalPlace {
            sector: block.journal_sector.get(),
            chain: block.chain.get(),
            seq: block.next_seq.get(),
        };
        root.is_clean = block.flags.get() & ROOT_CLEAN != 0;
        root.pages_written = block.pages_written.get();
        if root.epoch == 0 || root.journal.seq == 0 || block.header.seq.get() != root.epoch {
            return Err(RootError::Numbers);
        }
        for (nr_entries, table) in [
            (block.nr_segment_entries.get(), &root.segments),
            (block.nr_open_entries.get(), &root.open),
            (block.nr_directory_entries.get(), &root.directory),
        ] {
            if nr_entries != table.len() as u64 {
                return Err(RootError::Size);
            }
        }
        Ok(root)
    }
}
