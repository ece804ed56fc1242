// SPDX-License-Identifier: GPL-2.0-only
//! The segment table in memory, and what operations do to it: the table on the device is as old as
//! the checkpoint, and the journal says what happened since.

use std::fmt;

use super::layout::{
    SegmentEntryBlock, SegmentsBlock, MAX_OPEN, SEGMENTS_PER_PAGE, SEGMENT_CLOSED, SEGMENT_FREE,
    SEGMENT_OPEN,
};
use super::records::Record;
use super::superblock::{Super, Table};

/// What a segment is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum State {
    #[default]
    Free,
    Open,
    Closed,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Free => "free",
            Self::Open => "open",
            Self::Closed => "closed",
        })
    }
}

/// A segment; see `struct dmda_segment_entry`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Segment {
    pub nr_valid: u32,
    pub state: State,
    /// Which open summary it has, or had.
    pub open: u8,
    pub mtime: u64,
}

/// A page of the table.
#[derive(Clone, Copy, Debug, Default)]
struct TablePage {
    /// Last operation that it knows.
    seq: u64,
    /// It could not be read: nothing is known of its segments.
    is_lost: bool,
}

/// The segment table.
#[derive(Clone, Debug)]
pub struct SegmentTable {
    segments: Vec<Segment>,
    pages: Vec<TablePage>,
    data_pages: u32,
}

impl Segment {
    pub(super) fn encode(&self) -> SegmentEntryBlock {
        SegmentEntryBlock {
            nr_valid: self.nr_valid.into(),
            state: match self.state {
                State::Free => SEGMENT_FREE,
                State::Open => SEGMENT_OPEN,
                State::Closed => SEGMENT_CLOSED,
            },
            open: self.open,
            reserved: 0.into(),
            mtime: self.mtime.into(),
        }
    }

    fn decode(block: &SegmentEntryBlock, data_pages: u32) -> Result<Self, &'static str> {
        let state = match block.state {
            SEGMENT_FREE => State::Free,
            SEGMENT_OPEN => State::Open,
            SEGMENT_CLOSED => State::Closed,
            _ => return Err("has an unknown state"),
        };
        let nr_valid = block.nr_valid.get();

        if usize::from(block.open) >= MAX_OPEN {
            return Err("has an open summary that does not exist");
        }
        if nr_valid > data_pages {
            return Err("claims more valid pages than it has");
        }
        if state == State::Free && nr_valid != 0 {
            return Err("is free and claims valid pages");
        }
        Ok(Self {
            nr_valid,
            state,
            open: block.open,
            mtime: block.mtime.get(),
        })
    }

    /// Do what a record says.
    fn apply(&mut self, record: &Record, data_pages: u32) -> Result<(), &'static str> {
        match *record {
            Record::Map { nr_pages, .. } => {
                if self.state != State::Open {
                    return Err("gets pages although it is not open");
                }
                self.nr_valid += nr_pages as u32;
                if self.nr_valid > data_pages {
                    return Err("gets more valid pages than it has");
                }
            }
            Record::Dead { nr_pages, .. } => {
                let left = self.nr_valid.checked_sub(nr_pages as u32);
                self.nr_valid = left.ok_or("loses more valid pages than it has")?;
            }
            Record::Open { open, mtime, .. } => {
                self.change(State::Free, State::Open)?;
                self.open = open;
                self.mtime = mtime;
            }
            Record::Close { mtime, .. } => {
                self.change(State::Open, State::Closed)?;
                self.mtime = mtime;
            }
            Record::Free { .. } => {
                self.change(State::Closed, State::Free)?;
                if self.nr_valid != 0 {
                    return Err("becomes free although it has valid pages");
                }
            }
            Record::Trim { .. } => {}
        }
        Ok(())
    }

    fn change(&mut self, from: State, to: State) -> Result<(), &'static str> {
        if self.state != from {
            return Err("changes from a state that it is not in");
        }
        self.state = to;
        Ok(())
    }
}

impl SegmentTable {
    /// A table in which all segments are free.
    pub fn new(superblock: &Super) -> Self {
        let nr_pages = superblock.nr_pages(Table::Segments) as usize;
        Self {
            segments: vec![Segment::default(); superblock.nr_segments() as usize],
            pages: vec![TablePage::default(); nr_pages],
            data_pages: superblock.data_pages(),
        }
    }

    /// Take a page whose header was checked. Says what cannot be in it.
    pub fn load(&mut self, index: u64, block: &SegmentsBlock) -> Vec<String> {
        let first = index as usize * SEGMENTS_PER_PAGE;
        let mut wrong = Vec::new();

        let segments = self.segments.iter_mut().enumerate().skip(first);
        for ((number, segment), entry) in segments.zip(&block.segment) {
            match Segment::decode(entry, self.data_pages) {
                Ok(decoded) => *segment = decoded,
                Err(why) => wrong.push(format!("Segment {number} {why}.")),
            }
        }
        if let Some(page) = self.pages.get_mut(index as usize) {
            page.seq = block.header.seq.get();
            page.is_lost = !wrong.is_empty();
        }
        wrong
    }

    /// A page of the table cannot be read.
    pub fn lose(&mut self, index: u64) {
        if let Some(page) = self.pages.get_mut(index as usize) {
            page.is_lost = true;
        }
    }

    /// A segment; `None` if there is none, or nothing is known of it.
    pub fn get(&self, number: u64) -> Option<&Segment> {
        let page = self.pages.get(number as usize / SEGMENTS_PER_PAGE)?;
        self.segments.get(number as usize).filter(|_| !page.is_lost)
    }

    /// All segments of which something is known.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Segment)> {
        (0..self.segments.len() as u64).filter_map(|number| Some((number, self.get(number)?)))
    }

    /// Do one record of an operation, unless the table's page knows it already.
    pub fn apply(&mut self, superblock: &Super, record: &Record, seq: u64) -> Result<(), String> {
        let Some(number) = segment_of(superblock, record)? else {
            return Ok(());
        };
        let Some(page) = self.pages.get(number as usize / SEGMENTS_PER_PAGE) else {
            return Err(format!(
                "Operation {seq} names segment {number}, which does not exist."
            ));
        };
        if page.is_lost || page.seq >= seq {
            return Ok(());
        }
        let data_pages = self.data_pages;
        match self.segments.get_mut(number as usize) {
            None => Err(format!(
                "Operation {seq} names segment {number}, which does not exist."
            )),
            Some(segment) => segment
                .apply(record, data_pages)
                .map_err(|why| format!("By operation {seq}, segment {number} {why}.")),
        }
    }

    /// All records of an operation were done: the pages that it is about know it now.
    pub fn applied(&mut self, superblock: &Super, record: &Record, seq: u64) {
        if let Ok(Some(number)) = segment_of(superblock, record) {
            if let Some(page) = self.pages.get_mut(number as usize / SEGMENTS_PER_PAGE) {
                page.seq = page.seq.max(seq);
            }
        }
    }
}

/// The segment that a record changes.
fn segment_of(superblock: &Super, record: &Record) -> Result<Option<u64>, String> {
    match *record {
        Record::Trim { .. } => Ok(None),
        Record::Map { dpn, nr_pages, .. } | Record::Dead { dpn, nr_pages } => {
            match superblock.segment_of(dpn) {
                Some((segment, page))
                    if u64::from(page) + nr_pages <= u64::from(superblock.data_pages()) =>
                {
                    Ok(Some(segment))
                }
                _ => Err(format!(
                    "The journal has {nr_pages} pages at place {dpn}, where no data can be."
                )),
            }
        }
        Record::Open { segment, open, .. }
        | Record::Close { segment, open, .. }
        | Record::Free { segment, open, .. } => {
            if usize::from(open) >= MAX_OPEN || segment >= superblock.nr_segments() {
                return Err(format!(
                    "The journal names segment {segment} with open summary {open}, which cannot be."
                ));
            }
            Ok(Some(segment))
        }
    }
}
