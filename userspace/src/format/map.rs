// SPDX-License-Identifier: GPL-2.0-only
//! The map page by page, as it is after the journal: only one page is in memory, and what
//! the journal changes.

use std::io;

use zerocopy::{transmute, transmute_ref, FromZeros};

use super::findings::{Findings, Subject};
use super::journal::Operation;
use super::layout::{number_of, MapBlock, MapSumsBlock, Page, DPN_BYTES};
use super::records::Record;
use super::root::SlotEntry;
use super::superblock::{Super, Table};
use super::volume::{read_slot, Volume};
use crate::io_engine::pages::ReadPages;

/// What the map says of an lpn.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Entry {
    /// Where it is; 0: nowhere.
    pub dpn: u64,
    /// The checksum of what it holds; 0 if the device has none, or if it is nowhere.
    pub sum: u32,
}

/// What an operation does to one page of the map.
#[derive(Clone, Copy, Debug)]
struct Noted {
    seq: u64,
    lpn: u64,
    dpn: u64,
    nr_pages: u64,
    /// In the list of them.
    first_sum: usize,
}

/// The same, with its checksums.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change<'a> {
    pub(super) seq: u64,
    pub(super) lpn: u64,
    pub(super) nr_pages: u64,
    /// Place of the first; 0: they are mapped to nothing.
    dpn: u64,
    sums: &'a [u32],
}

impl Change<'_> {
    /// What its pages are from then on, from the first one on.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        (0..self.nr_pages).map(|at| match self.dpn {
            0 => Entry::default(),
            dpn => Entry {
                dpn: dpn + at,
                sum: self.sums.get(at as usize).copied().unwrap_or(0),
            },
        })
    }
}

/// What the journal does to the map.
#[derive(Clone, Debug)]
pub struct Changes {
    /// By page of the map, and then by seq.
    list: Vec<Noted>,
    sums: Vec<u32>,
    /// lpns that a page of the map has.
    map_entries: u64,
}

impl Changes {
    /// None yet.
    pub fn new(superblock: &Super) -> Self {
        Self {
            list: Vec::new(),
            sums: Vec::new(),
            map_entries: superblock.map_entries() as u64,
        }
    }

    /// Note what an operation does.
    pub fn add(&mut self, operation: &Operation) {
        let (mut lpn, mut dpn, mut left) = match operation.records.first() {
            Some(&Record::Map { lpn, dpn, nr_pages }) => (lpn, dpn, nr_pages),
            Some(&Record::Trim { lpn, nr_pages }) => (lpn, 0, nr_pages),
            _ => return,
        };
        let mut first_sum = self.sums.len();

        self.sums.extend(&operation.sums);
        // It may be about two pages of the map, which may know different operations.
        while left != 0 {
            let nr_pages = left.min(self.map_entries - lpn % self.map_entries);
            self.list.push(Noted {
                seq: operation.seq,
                lpn,
                dpn,
                nr_pages,
                first_sum,
            });
            lpn += nr_pages;
            left -= nr_pages;
            if dpn != 0 {
                dpn += nr_pages;
            }
            first_sum += nr_pages as usize;
        }
    }

    fn page_of(&self, noted: &Noted) -> u64 {
        noted.lpn / self.map_entries
    }

    /// All are there.
    pub fn finish(&mut self) {
        let map_entries = self.map_entries;
        // Stable: on a page they stay in the order in which they happened.
        self.list.sort_by_key(|noted| noted.lpn / map_entries);
    }

    pub(super) fn of_page(&self, index: u64) -> impl Iterator<Item = Change<'_>> {
        let first = self
            .list
            .partition_point(|noted| self.page_of(noted) < index);
        let end = self
            .list
            .partition_point(|noted| self.page_of(noted) <= index);
        let noted = self.list.get(first..end).unwrap_or(&[]);
        noted.iter().map(|noted| Change {
            seq: noted.seq,
            lpn: noted.lpn,
            nr_pages: noted.nr_pages,
            dpn: noted.dpn,
            sums: self.sums.get(noted.first_sum..).unwrap_or(&[]),
        })
    }
}

/// A page of the map as it is after the journal.
pub struct MapPage {
    pub first_lpn: u64,
    /// By lpn from the first on.
    pub entries: Vec<Entry>,
}

impl MapPage {
    /// lpns that are mapped, and what the map says of them.
    pub fn mapped(&self) -> impl Iterator<Item = (u64, Entry)> + '_ {
        (self.first_lpn..)
            .zip(self.entries.iter().copied())
            .filter(|(_, entry)| entry.dpn != 0)
    }

    pub(super) fn apply<'a>(&mut self, changes: impl Iterator<Item = Change<'a>>, known_seq: u64) {
        for change in changes.filter(|change| change.seq > known_seq) {
            let first = change.lpn.saturating_sub(self.first_lpn) as usize;
            let entries = self.entries.iter_mut().skip(first);
            for (to, entry) in entries.zip(change.entries()) {
                *to = entry;
            }
        }
    }
}

fn dpns_of(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes.chunks_exact(DPN_BYTES).map(number_of)
}

pub(super) fn decode(superblock: &Super, page: &Page) -> Vec<Entry> {
    if superblock.has_checksums() {
        let block: &MapSumsBlock = transmute_ref!(page);
        let sums = block.sum.iter().map(|sum| sum.get());
        let entries = dpns_of(&block.dpn).zip(sums);
        return entries.map(|(dpn, sum)| Entry { dpn, sum }).collect();
    }
    let block: &MapBlock = transmute_ref!(page);
    let entries = dpns_of(&block.dpn);
    entries.map(|dpn| Entry { dpn, sum: 0 }).collect()
}

fn put_dpns(bytes: &mut [u8], entries: &[Entry]) {
    for (to, entry) in bytes.chunks_exact_mut(DPN_BYTES).zip(entries) {
        for (to, byte) in to.iter_mut().zip(entry.dpn.to_le_bytes()) {
            *to = byte;
        }
    }
}

/// The page, without its header.
pub(super) fn encode(superblock: &Super, entries: &[Entry]) -> Page {
    if superblock.has_checksums() {
        let mut block = MapSumsBlock::new_zeroed();
        put_dpns(&mut block.dpn, entries);
        for (to, entry) in block.sum.iter_mut().zip(entries) {
            *to = entry.sum.into();
        }
        return transmute!(block);
    }
    let mut block = MapBlock::new_zeroed();
    put_dpns(&mut block.dpn, entries);
    transmute!(block)
}

/// The page as the tables have it; `None`: it cannot be read.
fn load(
    device: &impl ReadPages,
    volume: &Volume,
    index: u64,
    entry: SlotEntry,
    findings: &mut Findings,
) -> Option<Vec<Entry>> {
    let superblock = &volume.superblock;
    match read_slot(device, volume, Table::Map, index, entry) {
        None => Some(vec![Entry::default(); superblock.map_entries()]),
        Some(Ok(page)) => Some(decode(superblock, &page)),
        Some(Err(why)) => {
            findings.damage(Subject::MapPage, || {
                format!("Page {index} of the map is damaged: {why}.")
            });
            None
        }
    }
}

/// Entries that the journal replaces could be, too: the target looks at all that it reads.
/// Of the others the visitor is told.
fn check_replaced(volume: &Volume, before: &[Entry], page: &MapPage, findings: &mut Findings) {
    for ((lpn, before), after) in (page.first_lpn..).zip(before).zip(&page.entries) {
        let dpn = before.dpn;
        if dpn != 0 && dpn != after.dpn && volume.superblock.segment_of(dpn).is_none() {
            findings.damage(Subject::MapEntry, || {
                format!("Before the journal, lpn {lpn} was at place {dpn}, where no data can be.")
            });
        }
    }
}

/// What is nowhere has no checksum.
fn check_sums(page: &MapPage, findings: &mut Findings) {
    for (lpn, entry) in (page.first_lpn..).zip(&page.entries) {
        if entry.dpn == 0 && entry.sum != 0 {
            findings.damage(Subject::MapEntry, || {
                format!("lpn {lpn} is mapped to nothing, and has the checksum of something.")
            });
        }
    }
}

/// Hand every page of the map that has anything to `visit`, in order. Pages that are
/// damaged become findings. Returns whether all could be read.
///
/// # Errors
///
/// When the visitor does.
pub fn for_each_page<D: ReadPages>(
    device: &D,
    volume: &Volume,
    findings: &mut Findings,
    mut visit: impl FnMut(&MapPage, &mut Findings) -> io::Result<()>,
) -> io::Result<bool> {
    let mut is_whole = volume.lost_directory_pages == 0;

    for (index, entry) in (0..).zip(&volume.map_slots) {
        let Some(entry) = *entry else {
            continue;
        };
        let mut changes = volume.changes.of_page(index).peekable();
        if entry.is_absent() && changes.peek().is_none() {
            continue;
        }
        let Some(entries) = load(device, volume, index, entry, findings) else {
            is_whole = false;
            continue;
        };
        let mut page = MapPage {
            first_lpn: index * volume.superblock.map_entries() as u64,
            entries,
        };
        let nr_entries = (volume.superblock.nr_lpns - page.first_lpn) as usize;
        let mut behind = page.entries.iter().skip(nr_entries);
        if behind.any(|entry| *entry != Entry::default()) {
            findings.damage(Subject::MapPage, || {
                format!("Page {index} of the map has entries behind the last lpn.")
            });
        }
        page.entries.truncate(nr_entries);
        let before = page.entries.clone();
        page.apply(changes, entry.seq());
        check_replaced(volume, &before, &page, findings);
        check_sums(&page, findings);
        visit(&page, findings)?;
    }
    Ok(is_whole)
}
