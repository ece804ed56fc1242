// SPDX-License-Identifier: GPL-2.0-only
//! The map page by page, as it is after the journal: only one page is in memory, and what
//! the journal changes.

use std::io;

use zerocopy::transmute_ref;

use super::findings::{Findings, Subject};
use super::layout::{number_of, MapBlock, Page, DPN_BYTES, MAP_ENTRIES};
use super::records::Record;
use super::root::SlotEntry;
use super::superblock::Table;
use super::volume::{read_slot, Volume};
use crate::io_engine::pages::ReadPages;

/// What an operation does to one page of the map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) seq: u64,
    pub(super) lpn: u64,
    /// Place of the first; 0: they are mapped to nothing.
    pub(super) dpn: u64,
    pub(super) nr_pages: u64,
}

/// What the journal does to the map.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// By page of the map, and then by seq.
    list: Vec<Change>,
}

impl Changes {
    /// Note what a record of an operation does.
    pub fn add(&mut self, record: &Record, seq: u64) {
        let (mut lpn, mut dpn, mut left) = match *record {
            Record::Map { lpn, dpn, nr_pages } => (lpn, dpn, nr_pages),
            Record::Trim { lpn, nr_pages } => (lpn, 0, nr_pages),
            _ => return,
        };
        let entries = MAP_ENTRIES as u64;

        // It may be about two pages of the map, which may know different operations.
        while left != 0 {
            let nr_pages = left.min(entries - lpn % entries);
            self.list.push(Change {
                seq,
                lpn,
                dpn,
                nr_pages,
            });
            lpn += nr_pages;
            left -= nr_pages;
            if dpn != 0 {
                dpn += nr_pages;
            }
        }
    }

    /// All are there.
    pub fn finish(&mut self) {
        // Stable: on a page they stay in the order in which they happened.
        self.list.sort_by_key(|change| page_of(change.lpn));
    }

    pub(super) fn of_page(&self, index: u64) -> &[Change] {
        let first = self
            .list
            .partition_point(|change| page_of(change.lpn) < index);
        let end = self
            .list
            .partition_point(|change| page_of(change.lpn) <= index);
        self.list.get(first..end).unwrap_or(&[])
    }
}

fn page_of(lpn: u64) -> u64 {
    lpn / MAP_ENTRIES as u64
}

/// A page of the map as it is after the journal.
pub struct MapPage {
    pub first_lpn: u64,
    /// By entry: where the lpn is; 0: nowhere.
    pub dpns: Vec<u64>,
}

impl MapPage {
    /// The entries that are mapped: lpn and dpn.
    pub fn mapped(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        (self.first_lpn..)
            .zip(self.dpns.iter().copied())
            .filter(|(_, dpn)| *dpn != 0)
    }

    pub(super) fn apply(&mut self, changes: &[Change], known_seq: u64) {
        for change in changes.iter().filter(|change| change.seq > known_seq) {
            let first = change.lpn.saturating_sub(self.first_lpn) as usize;
            let entries = self.dpns.iter_mut().skip(first);
            for (at, to) in entries.take(change.nr_pages as usize).enumerate() {
                *to = match change.dpn {
                    0 => 0,
                    dpn => dpn + at as u64,
                };
            }
        }
    }
}

pub(super) fn decode(page: &Page) -> Vec<u64> {
    let block: &MapBlock = transmute_ref!(page);
    block.dpn.chunks_exact(DPN_BYTES).map(number_of).collect()
}

/// The page as the tables have it; `None`: it cannot be read.
fn load(
    device: &impl ReadPages,
    volume: &Volume,
    index: u64,
    entry: SlotEntry,
    findings: &mut Findings,
) -> Option<Vec<u64>> {
    match read_slot(device, volume, Table::Map, index, entry) {
        None => Some(vec![0; MAP_ENTRIES]),
        Some(Ok(page)) => Some(decode(&page)),
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
fn check_replaced(volume: &Volume, before: &[u64], page: &MapPage, findings: &mut Findings) {
    for ((lpn, dpn), after) in (page.first_lpn..).zip(before).zip(&page.dpns) {
        if *dpn != 0 && dpn != after && volume.superblock.segment_of(*dpn).is_none() {
            findings.damage(Subject::MapEntry, || {
                format!("Before the journal, lpn {lpn} was at place {dpn}, where no data can be.")
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
        let changes = volume.changes.of_page(index);
        if entry.is_absent() && changes.is_empty() {
            continue;
        }
        let Some(dpns) = load(device, volume, index, entry, findings) else {
            is_whole = false;
            continue;
        };
        let mut page = MapPage {
            first_lpn: index * MAP_ENTRIES as u64,
            dpns,
        };
        let nr_entries = volume.superblock.nr_lpns - page.first_lpn;
        if page
            .dpns
            .iter()
            .skip(nr_entries as usize)
            .any(|dpn| *dpn != 0)
        {
            findings.damage(Subject::MapPage, || {
                format!("Page {index} of the map has entries behind the last lpn.")
            });
        }
        page.dpns.truncate(nr_entries as usize);
        let before = page.dpns.clone();
        page.apply(changes, entry.seq());
        check_replaced(volume, &before, &page, findings);
        visit(&page, findings)?;
    }
    Ok(is_whole)
}
