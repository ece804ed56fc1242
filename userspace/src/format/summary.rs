// SPDX-License-Identifier: GPL-2.0-only
//! Summaries: what the pages of segments are, from which a lost page of the map can be made again.
//! Those of open segments are kept in memory.

use super::block::BlockId;
use super::layout::{
    number_of, SummaryBlock, SummaryEntryBlock, MAGIC_SUMMARY, MAX_OPEN, SUMMARIES_PER_PAGE,
};
use super::superblock::Super;

/// What is known of a page that was written.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Written {
    pub lpn: u64,
    /// Operation that mapped it; the low 48 bits of it.
    pub seq: u64,
    /// 0: unknown.
    pub file: u64,
    pub fpage: u32,
}

impl Written {
    /// What an entry says; `None`: nothing was written there.
    pub fn decode(entry: &SummaryEntryBlock) -> Option<Self> {
        Some(Self {
            lpn: number_of(&entry.lpn).checked_sub(1)?,
            seq: number_of(&entry.seq),
            file: entry.file.get(),
            fpage: entry.fpage.get(),
        })
    }
}

/// Entries that a page of a summary has.
fn entries_on(superblock: &Super, page: u32) -> usize {
    let before = page as usize * SUMMARIES_PER_PAGE;
    (superblock.data_pages() as usize)
        .saturating_sub(before)
        .min(SUMMARIES_PER_PAGE)
}

/// What a page of a closed segment's summary should be.
pub fn block_id(superblock: &Super, segment: u64, page: u32) -> Option<BlockId<'_>> {
    let first = superblock.segment_dpn(segment)? + u64::from(superblock.data_pages());
    Some(BlockId {
        magic: MAGIC_SUMMARY,
        nr_entries: entries_on(superblock, page) as u16,
        dpn: first + u64::from(page),
        index: segment << 16 | u64::from(page),
        seq: 0,
        epoch: 0,
        uuid: &superblock.uuid,
    })
}

/// What the entries of a page say, as far as the segment has pages for them.
pub fn entries<'a>(
    superblock: &Super,
    block: &'a SummaryBlock,
    page: u32,
) -> impl Iterator<Item = Option<Written>> + 'a {
    let nr_entries = entries_on(superblock, page);
    block.entry.iter().take(nr_entries).map(Written::decode)
}

/// The open summaries.
#[derive(Clone, Debug)]
pub struct OpenSummaries {
    /// By number of the open summary and page of the segment.
    written: Vec<Option<Written>>,
    /// By number and page of the summary: the last operation that it knows.
    seq: Vec<u64>,
    summary_pages: u32,
    data_pages: u32,
}

impl OpenSummaries {
    /// Nothing was written.
    pub fn new(superblock: &Super) -> Self {
        let (summary_pages, data_pages) = (superblock.summary_pages, superblock.data_pages());
        Self {
            written: vec![None; MAX_OPEN * data_pages as usize],
            seq: vec![0; MAX_OPEN * summary_pages as usize],
            summary_pages,
            data_pages,
        }
    }

    /// Take a page whose header was checked.
    pub fn load(&mut self, superblock: &Super, index: u64, block: &SummaryBlock) {
        let summary_pages = u64::from(self.summary_pages);
        let page = (index % summary_pages) as u32;
        let first = (index / summary_pages) as usize * self.data_pages as usize
            + page as usize * SUMMARIES_PER_PAGE;

        let to = self.written.iter_mut().skip(first);
        for (to, written) in to.zip(entries(superblock, block, page)) {
            *to = written;
        }
        if let Some(seq) = self.seq.get_mut(index as usize) {
            *seq = block.header.seq.get();
        }
    }

    /// What the pages of an open segment are.
    pub fn pages(&self, open: u8) -> &[Option<Written>] {
        let data_pages = self.data_pages as usize;
        let first = usize::from(open) * data_pages;
        self.written.get(first..first + data_pages).unwrap_or(&[])
    }

    fn knows(&self, open: u8, page: u32, seq: u64) -> bool {
        let index = u32::from(open) * self.summary_pages + page;
        self.seq
            .get(index as usize)
            .is_none_or(|known| *known >= seq)
    }

    fn set_seq(&mut self, open: u8, page: u32, seq: u64) {
        let index = u32::from(open) * self.summary_pages + page;
        if let Some(known) = self.seq.get_mut(index as usize) {
            *known = seq.max(*known);
        }
    }

    fn set(&mut self, open: u8, page: u32, written: Option<Written>) {
        let at = usize::from(open) * self.data_pages as usize + page as usize;
        if let Some(to) = self.written.get_mut(at) {
            *to = written;
        }
    }

    /// A segment was opened: its summary begins anew.
    pub fn begin(&mut self, open: u8, seq: u64) {
        for page in 0..self.summary_pages {
            if self.knows(open, page, seq) {
                continue;
            }
            let first = page * SUMMARIES_PER_PAGE as u32;
            let end = self.data_pages.min(first + SUMMARIES_PER_PAGE as u32);
            for at in first..end {
                self.set(open, at, None);
            }
            self.set_seq(open, page, seq);
        }
    }

    /// Pages of a segment, from `page` on, were mapped to lpns from `first.lpn` on. Of
    /// which file they are the journal does not say.
    pub fn put(&mut self, open: u8, page: u32, nr_pages: u32, first: Written) {
        let summary_page = |at: u32| at / SUMMARIES_PER_PAGE as u32;
        let end = page.saturating_add(nr_pages).min(self.data_pages);

        for (lpn, at) in (first.lpn..).zip(page..end) {
            if !self.knows(open, summary_page(at), first.seq) {
                self.set(open, at, Some(Written { lpn, ..first }));
            }
        }
        for touched in summary_page(page)..=summary_page(end.saturating_sub(1)) {
            self.set_seq(open, touched, first.seq);
        }
    }
}
