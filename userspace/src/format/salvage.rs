// SPDX-License-Identifier: GPL-2.0-only
//! What can still be known of a damaged device: for each page of the map the best copy of it,
//! and what happened since by journal and summaries.

use std::collections::BTreeMap;
use std::io;

use zerocopy::transmute_ref;

use super::block::{self, crc32c, BlockId};
use super::check::read_summary;
use super::findings::{Findings, Severity, Subject};
use super::journal;
use super::layout::{
    Page, SummaryBlock, BLOCK_BYTES, MAGIC_MAP, MAGIC_OPEN, MAX_OPEN, SUMMARIES_PER_PAGE,
};
use super::map::{self, Entry, MapPage};
use super::root::MAX_SEQ;
use super::scan::Scan;
use super::segments::State;
use super::summary::{self, OpenSummaries, Written};
use super::superblock::{Super, Table};
use super::volume::{read_slot, read_super, SlotError, Volume};
use crate::io_engine::pages::ReadPages;

/// Pages of the map that are put together at once; each takes up to 13 KiB.
const MOST_PAGES: usize = 65536;

/// Pages of data that are read at once.
const MOST_READ_PAGES: usize = 256;

/// The best copy of a page of the map.
pub struct Base {
    pub entries: Vec<Entry>,
    /// The last operation that it knows.
    seq: u64,
    epoch: u64,
    /// Nothing is missing but what the journal has.
    pub is_exact: bool,
    /// What is wrong with the copy that counts.
    why: Option<SlotError>,
}

/// What is known.
pub struct Salvage<'a, D> {
    device: &'a D,
    pub superblock: Super,
    /// If a root is valid.
    pub volume: Option<Volume>,
    pub scan: Scan,
    open: OpenSummaries,
    /// By open summary: the segment that has it.
    owners: [Option<u64>; MAX_OPEN],
    /// The journal is as it was when the power was cut off.
    pub is_journal_whole: bool,
    pub next_seq: u64,
    /// By page of the map: the last operation that its best copy knows.
    seqs: Vec<u64>,
    /// Highest one of the map's pages.
    epoch: u64,
}

/// The checksum of a candidate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Sum {
    /// The journal has it.
    Known(u32),
    /// It is that of what lies there now: the summary that knows the place has none.
    Made(u32),
    /// What lies there cannot be read.
    Unreadable,
}

/// By entry of a page of the map: what its lpn may have become after the best copy.
struct Candidates {
    /// Operation and place; operation 0: nothing is known.
    list: Vec<(u64, u64)>,
    /// Of a device without checksums there are none.
    sums: Vec<Sum>,
}

/// Candidates for the pages of the map before `end`.
pub struct Window {
    pub end: u64,
    /// lpns that a page of the map has.
    map_entries: usize,
    has_checksums: bool,
    /// By page of the map.
    candidates: BTreeMap<u64, Candidates>,
}

/// What a page of the map got from candidates.
#[derive(Clone, Debug, Default)]
pub struct Applied {
    /// lpns that got a place.
    pub nr_found: u64,
    /// Checksums that are those of what lies there now.
    pub nr_made: u64,
    /// Places of which nobody knows the checksum, as they cannot be read.
    pub unreadable: Vec<u64>,
}

impl Window {
    /// Keep memory bounded: what comes last is looked up again later.
    fn limit(&mut self) {
        if self.candidates.len() > MOST_PAGES {
            if let Some((index, _)) = self.candidates.pop_last() {
                self.end = index;
            }
        }
    }

    /// The page of an lpn, and its entry there.
    fn place(&self, lpn: u64) -> (u64, usize) {
        let map_entries = self.map_entries as u64;
        (lpn / map_entries, (lpn % map_entries) as usize)
    }

    /// Returns whether it is the last one so far.
    fn add(&mut self, seqs: &[u64], lpn: u64, seq: u64, entry: Entry) -> bool {
        let (index, at) = self.place(lpn);
        let known = seqs.get(index as usize).copied();
        let mut is_last = false;

        if index >= self.end || known.is_none_or(|known| known >= seq) {
            return false;
        }
        let (map_entries, has_checksums) = (self.map_entries, self.has_checksums);
        let candidates = self.candidates.entry(index);
        let candidates = candidates.or_insert_with(|| Candidates::new(map_entries, has_checksums));
        if let Some(candidate) = candidates.list.get_mut(at) {
            is_last = candidate.0 < seq;
            if is_last {
                *candidate = (seq, entry.dpn);
                candidates.set_sum(at, Sum::Known(entry.sum));
            }
        }
        self.limit();
        is_last
    }

    /// What lies at the place of an lpn was read, or cannot be.
    fn set_sum(&mut self, lpn: u64, dpn: u64, sum: Sum) {
        let (index, at) = self.place(lpn);
        let Some(candidates) = self.candidates.get_mut(&index) else {
            return;
        };
        // The same summary may have the lpn at another place, later.
        let candidate = candidates.list.get(at);
        if candidate.is_some_and(|candidate| candidate.1 == dpn) {
            candidates.set_sum(at, sum);
        }
    }

    /// Do to a page of the map what came after it.
    pub fn apply(&self, index: u64, entries: &mut [Entry]) -> Applied {
        let mut applied = Applied::default();
        let Some(candidates) = self.candidates.get(&index) else {
            return applied;
        };
        let sums = candidates.sums.iter().copied();
        let sums = sums.chain(std::iter::repeat(Sum::Known(0)));

        for ((to, (seq, dpn)), sum) in entries.iter_mut().zip(&candidates.list).zip(sums) {
            if *seq == 0 {
                continue;
            }
            applied.nr_found += u64::from(*dpn != 0 && to.dpn != *dpn);
            applied.nr_made += u64::from(matches!(sum, Sum::Made(_)));
            *to = Entry {
                dpn: *dpn,
                sum: match sum {
                    Sum::Known(sum) | Sum::Made(sum) => sum,
                    Sum::Unreadable => 0,
                },
            };
            if sum == Sum::Unreadable {
                applied.unreadable.push(*dpn);
            }
        }
        applied
    }
}

impl Candidates {
    /// None.
    fn new(map_entries: usize, has_checksums: bool) -> Self {
        Self {
            list: vec![(0, 0); map_entries],
            sums: vec![Sum::Known(0); if has_checksums { map_entries } else { 0 }],
        }
    }

    fn set_sum(&mut self, at: usize, sum: Sum) {
        if let Some(to) = self.sums.get_mut(at) {
            *to = sum;
        }
    }
}

/// By open summary: the first segment that has it by the table, else the one by the journal.
fn owners(volume: Option<&Volume>, scan: &Scan) -> [Option<u64>; MAX_OPEN] {
    let mut owners = [None; MAX_OPEN];

    for (number, segment) in volume.iter().flat_map(|volume| volume.segments.iter()) {
        let owner = owners.get_mut(usize::from(segment.open));
        if let Some(owner) = owner.filter(|_| segment.state == State::Open) {
            owner.get_or_insert(number);
        }
    }
    for (owner, scanned) in owners.iter_mut().zip(&scan.owners) {
        *owner = owner.or(*scanned);
    }
    owners
}

impl<'a, D: ReadPages> Salvage<'a, D> {
    /// Look at a device. Returns `None` if neither superblock is valid.
    ///
    /// # Errors
    ///
    /// When the device has features that nobody knew of.
    pub fn new(device: &'a D, findings: &mut Findings) -> io::Result<Option<Self>> {
        let volume = Volume::load(device, findings)?;
        // What is wrong with the superblock was said.
        let Some(superblock) = read_super(device, &mut Findings::default())? else {
            return Ok(None);
        };
        if let Some(volume) = &volume {
            journal::look_behind_end(device, &superblock, &volume.journal, findings);
        }
        let is_journal_whole =
            volume.is_some() && !findings.has(Severity::Damage, Subject::Journal);
        let journal = volume.as_ref().map(|volume| volume.root.journal);
        let durable_end = journal.map_or(0, |journal| journal.sector);
        let scan = Scan::new(device, &superblock, durable_end);
        let known = volume.as_ref().map_or(1, |volume| volume.journal.next_seq);
        let mut salvage = Self {
            device,
            open: OpenSummaries::new(&superblock),
            owners: owners(volume.as_ref(), &scan),
            is_journal_whole,
            next_seq: known.max(scan.next_seq),
            seqs: Vec::new(),
            epoch: 0,
            superblock,
            volume,
            scan,
        };
        salvage.load_open();
        salvage.load_seqs(findings);
        Ok(Some(salvage))
    }

    /// Of both slots of a page, the one that knows more.
    fn newest(&self, table: Table, index: u64, magic: u32, nr_entries: usize) -> Option<Page> {
        let mut best: Option<(u64, Page)> = None;

        for slot in 0..2 {
            let dpn = self.superblock.slot_dpn(table, index, slot)?;
            let id = BlockId {
                magic,
                nr_entries: nr_entries as u16,
                dpn,
                index,
                seq: 0,
                epoch: 0,
                uuid: &self.superblock.uuid,
            };
            let Ok(page) = block::read_checked(self.device, &id) else {
                continue;
            };
            let (seq, epoch) = block::header(&page)
                .map_or((0, 0), |header| (header.seq.get(), header.epoch.get()));
            // No entry could name it, so the target has not written it.
            if seq >= MAX_SEQ || epoch >= MAX_SEQ {
                continue;
            }
            // An operation that was never durable
            if self.is_limited() && seq >= self.next_seq {
                continue;
            }
            if best.as_ref().is_none_or(|(known, _)| *known < seq) {
                best = Some((seq, page));
            }
        }
        best.map(|(_, page)| page)
    }

    /// The end of the journal says what was durable.
    fn is_limited(&self) -> bool {
        self.is_journal_whole || (self.volume.is_none() && self.scan.nr_operations != 0)
    }

    fn load_open(&mut self) {
        if let Some(volume) = &self.volume {
            self.open = volume.open.clone();
            return;
        }
        for index in 0..self.superblock.nr_pages(Table::Open) {
            if let Some(page) = self.newest(Table::Open, index, MAGIC_OPEN, SUMMARIES_PER_PAGE) {
                self.open
                    .load(&self.superblock, index, transmute_ref!(&page));
            }
        }
    }

    fn load_seqs(&mut self, findings: &mut Findings) {
        let mut seqs = Vec::new();
        let mut highest = 0;

        for index in 0..self.superblock.nr_pages(Table::Map) {
            let base = self.base(index);
            highest = highest.max(base.seq);
            self.epoch = self.epoch.max(base.epoch);
            if let Some(why) = base.why {
                findings.damage(Subject::MapPage, || {
                    format!("Page {index} of the map is damaged: {why}.")
                });
            }
            seqs.push(if base.is_exact { u64::MAX } else { base.seq });
        }
        self.seqs = seqs;
        self.next_seq = self.next_seq.max(highest + 1);
    }

    fn changed(&self, index: u64, entries: Vec<Entry>, seq: u64) -> Vec<Entry> {
        let Some(volume) = &self.volume else {
            return entries;
        };
        let mut page = MapPage {
            first_lpn: index * self.superblock.map_entries() as u64,
            entries,
        };
        page.apply(volume.changes.of_page(index), seq);
        page.entries
    }

    fn empty_page(&self) -> Vec<Entry> {
        vec![Entry::default(); self.superblock.map_entries()]
    }

    /// The best copy of a page of the map, and if nothing is missing, what the journal does
    /// to it.
    pub fn base(&self, index: u64) -> Base {
        let entry = self
            .volume
            .as_ref()
            .and_then(|volume| Some((volume, volume.map_slots.get(index as usize).copied()??)));
        let named = entry.map(|(volume, entry)| {
            match read_slot(self.device, volume, Table::Map, index, entry) {
                None => Ok((self.empty_page(), entry.seq())),
                Some(page) => page.map(|page| (map::decode(&self.superblock, &page), entry.seq())),
            }
        });
        if let Some(Ok((entries, seq))) = named {
            let entries = if self.is_journal_whole {
                self.changed(index, entries, seq)
            } else {
                entries
            };
            return Base {
                entries,
                seq,
                epoch: 0,
                is_exact: self.is_journal_whole,
                why: None,
            };
        }
        let nr_entries = self.superblock.map_entries();
        let page = self.newest(Table::Map, index, MAGIC_MAP, nr_entries);
        let header = page.as_ref().and_then(block::header);
        let decode = |page: &Page| map::decode(&self.superblock, page);
        Base {
            seq: header.map_or(0, |header| header.seq.get()),
            epoch: header.map_or(0, |header| header.epoch.get()),
            entries: page.as_ref().map_or_else(|| self.empty_page(), decode),
            is_exact: false,
            why: named.and_then(Result::err),
        }
    }

    /// The last checkpoint of which anything is there.
    pub fn highest_epoch(&self) -> u64 {
        let root = self.volume.as_ref().map_or(0, |volume| volume.root.epoch);
        root.max(self.epoch)
    }

    /// Pages of the map of which no sound copy with all that the journal has is there.
    pub fn nr_inexact(&self) -> u64 {
        self.seqs.iter().filter(|seq| **seq != u64::MAX).count() as u64
    }

    /// The open summary that a segment has. It is asked of each segment.
    fn open_of(&self, number: u64) -> Option<u8> {
        let open = self
            .owners
            .iter()
            .position(|owner| *owner == Some(number))?;
        u8::try_from(open).ok()
    }

    /// A segment that is free holds nothing that counts. If a part of the journal is lost, it
    /// may have been used since.
    fn is_free(&self, number: u64) -> bool {
        let volume = self.volume.as_ref().filter(|_| self.is_journal_whole);
        volume
            .and_then(|volume| volume.segments.get(number))
            .is_some_and(|segment| segment.state == State::Free)
    }

    /// What the pages of a segment are, as far as that is known.
    pub fn pages_of(&self, number: u64) -> Vec<Option<Written>> {
        let Some(open) = self.open_of(number) else {
            return self.written_pages_of(number);
        };
        let mut pages = self.open.pages(open).to_vec();
        if !self.is_journal_whole {
            // It may have been closed since, with more pages.
            for (page, other) in pages.iter_mut().zip(self.written_pages_of(number)) {
                let seq = |written: Option<Written>| written.map_or(0, |written| written.seq);
                if seq(other) > seq(*page) {
                    *page = other;
                }
            }
        }
        pages
    }

    /// The same by the summary that was written when the segment was closed.
    fn written_pages_of(&self, number: u64) -> Vec<Option<Written>> {
        if let Ok(pages) = read_summary(self.device, &self.superblock, number) {
            return pages;
        }
        let mut pages = Vec::new();
        for index in 0..self.superblock.summary_pages {
            let Some(id) = summary::block_id(&self.superblock, number, index) else {
                break;
            };
            let page = block::read_checked(self.device, &id);
            match page {
                Ok(page) => {
                    let block: &SummaryBlock = transmute_ref!(&page);
                    pages.extend(summary::entries(&self.superblock, block, index));
                }
                Err(_) => pages.extend(vec![None; SUMMARIES_PER_PAGE]),
            }
        }
        pages.truncate(self.superblock.data_pages() as usize);
        pages
    }

    /// What came after the best copies of the map's pages, from `first` on.
    pub fn window(&self, first: u64) -> Window {
        let mut window = Window {
            end: self.superblock.nr_pages(Table::Map),
            map_entries: self.superblock.map_entries(),
            has_checksums: self.superblock.has_checksums(),
            candidates: BTreeMap::new(),
        };

        if self.seqs.iter().all(|seq| *seq == u64::MAX) {
            return window;
        }
        let seqs: Vec<u64> = (0..)
            .zip(&self.seqs)
            .map(|(index, seq)| if index < first { u64::MAX } else { *seq })
            .collect();
        self.add_journal(&seqs, &mut window);
        for number in 0..self.superblock.nr_segments() {
            if !self.is_free(number) {
                self.add_summary(&seqs, number, &mut window);
            }
        }
        window
    }

    fn add_journal(&self, seqs: &[u64], window: &mut Window) {
        for (index, seq) in (0..window.end).zip(seqs) {
            for change in self.scan.changes.of_page(index) {
                if change.seq <= *seq {
                    continue;
                }
                for (lpn, entry) in (change.lpn..).zip(change.entries()) {
                    window.add(seqs, lpn, change.seq, entry);
                }
            }
        }
    }

    fn add_summary(&self, seqs: &[u64], number: u64, window: &mut Window) {
        let Some(first) = self.superblock.segment_dpn(number) else {
            return;
        };
        let mut unsummed = Vec::new();
        for (dpn, written) in (first..).zip(self.pages_of(number)) {
            let Some(written) = written else { continue };
            if self.is_limited() && written.seq >= self.next_seq {
                continue;
            }
            let entry = Entry { dpn, sum: 0 };
            if window.add(seqs, written.lpn, written.seq, entry) && window.has_checksums {
                unsummed.push((dpn, written.lpn));
            }
        }
        self.make_sums(&unsummed, window);
    }

    /// Read what lies at places, segment by segment and so in order, although some of it may not be the
    /// last of its lpn: to read it lpn by lpn would take a drive many times as long.
    fn make_sums(&self, unsummed: &[(u64, u64)], window: &mut Window) {
        for run in unsummed.chunk_by(|one, next| next.0 == one.0 + 1) {
            for run in run.chunks(MOST_READ_PAGES) {
                self.make_sums_of_run(run, window);
            }
        }
    }

    fn make_sums_of_run(&self, run: &[(u64, u64)], window: &mut Window) {
        let mut bytes = vec![0; run.len() * BLOCK_BYTES];
        let first = run.first().map_or(0, |(dpn, _)| *dpn);
        let is_read = self.device.read(first, &mut bytes).is_ok();

        for ((dpn, lpn), page) in run.iter().zip(bytes.chunks_exact_mut(BLOCK_BYTES)) {
            let sum = if is_read || self.device.read(*dpn, page).is_ok() {
                Sum::Made(crc32c(!0, page))
            } else {
                Sum::Unreadable
            };
            window.set_sum(*lpn, *dpn, sum);
        }
    }
}
