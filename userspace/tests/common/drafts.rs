// SPDX-License-Identifier: GPL-2.0-only
//! Devices of the core whose journal goes on with drafts, which its programs do not write.

use std::collections::BTreeMap;
use std::mem::offset_of;
use std::ops::Range;

use dieaware::format::block::crc32c;
use dieaware::format::findings::Findings;
use dieaware::format::layout::{
    JournalSector, Page, SuperBlock, BLOCK_BYTES, INCOMPAT_DRAFTS, MAGIC_JOURNAL, SECTOR_BYTES,
    SECTOR_DRAFT, SECTOR_FIRST,
};
use dieaware::format::map::{self, Entry};
use dieaware::format::records::sum_of;
use dieaware::format::root::JournalPlace;
use dieaware::format::segments::State;
use dieaware::format::volume::Volume;
use dieaware::io_engine::pages::{Ram, ReadPages, WritePages};

use super::devices::{change, change_well, volume_of, Kind};

/// By lpn: where it is, and its checksum.
pub type Map = BTreeMap<u64, Entry>;

pub fn map_of(device: &impl ReadPages) -> Map {
    let mut findings = Findings::default();
    let volume = Volume::load(device, &mut findings).unwrap().unwrap();
    let mut map = Map::new();
    map::for_each_page(device, &volume, &mut findings, |page, _| {
        map.extend(page.mapped());
        Ok(())
    })
    .unwrap();
    map
}

/// Where the sum is that a draft has of its data.
const SUM_AT: usize = offset_of!(JournalSector, records) + 476;

/// A sector of the journal that is going to be written.
#[derive(Clone, Debug, Default)]
pub struct NewSector {
    pub flags: u16,
    pub records: Vec<u8>,
    pub nr_operations: u64,
    /// Of a draft: that of its data.
    pub sum: Option<u32>,
}

/// The journal of a device, behind its last batch.
#[derive(Clone)]
pub struct End {
    pub next: JournalPlace,
    nr_sectors: u64,
    journal_dpn: u64,
    seed: u32,
}

impl End {
    pub fn of(device: &Ram, volume: &Volume) -> Self {
        let (superblock, journal) = (&volume.superblock, &volume.journal);
        let mut end = Self {
            next: volume.root.journal,
            nr_sectors: u64::from(superblock.journal_sectors),
            journal_dpn: superblock.journal_dpn,
            seed: crc32c(!0, &superblock.uuid),
        };
        if journal.nr_sectors != 0 {
            let last = journal.first_sector + journal.nr_sectors - 1;
            let (dpn, at) = end.place(last);
            let page = device.read_page(dpn).unwrap();
            end.next.chain = u32::from_le_bytes(page[at..at + 4].try_into().unwrap());
            end.next.sector = last + 1;
        }
        end.next.seq = journal.next_seq;
        end
    }

    /// The page in which a sector lies, and where.
    pub fn place(&self, number: u64) -> (u64, usize) {
        let at = number % self.nr_sectors;
        (self.journal_dpn + at / 8, at as usize % 8 * SECTOR_BYTES)
    }

    /// Returns the sector's number.
    pub fn put(&mut self, device: &Ram, new: &NewSector) -> u64 {
        let number = self.next.sector;
        let mut sector = [0; SECTOR_BYTES];
        let nr_bytes = new.records.len() as u16 | new.flags;
        sector[4..8].copy_from_slice(&MAGIC_JOURNAL.to_le_bytes());
        sector[8..16].copy_from_slice(&number.to_le_bytes());
        sector[16..24].copy_from_slice(&self.next.seq.to_le_bytes());
        sector[24..28].copy_from_slice(&self.next.chain.to_le_bytes());
        sector[28..30].copy_from_slice(&nr_bytes.to_le_bytes());
        sector[30] = 1;
        sector[32..32 + new.records.len()].copy_from_slice(&new.records);
        if let Some(sum) = new.sum {
            sector[SUM_AT..].copy_from_slice(&sum.to_le_bytes());
        }
        let crc = crc32c(self.seed, &sector[4..]);
        sector[..4].copy_from_slice(&crc.to_le_bytes());
        let (dpn, at) = self.place(number);
        change(device, dpn, |page| {
            page[at..at + SECTOR_BYTES].copy_from_slice(&sector)
        });
        self.next.sector += 1;
        self.next.chain = crc;
        self.next.seq += new.nr_operations;
        number
    }

    /// What fills a unit.
    pub fn fill(&mut self, device: &Ram, nr_sectors: u64) {
        for _ in 0..nr_sectors {
            self.put(device, &NewSector::default());
        }
    }
}

pub fn map_record(lpn: u64, dpn: u64, nr_pages: u64) -> Vec<u8> {
    let mut record = vec![1, nr_pages as u8, (nr_pages >> 8) as u8];
    record.extend(&lpn.to_le_bytes()[..5]);
    record.extend(&dpn.to_le_bytes()[..5]);
    record
}

/// Of a dead place, or of an lpn that is discarded.
pub fn range_record(kind: u8, first: u64) -> Vec<u8> {
    let mut record = vec![kind, 1, 0];
    record.extend(&first.to_le_bytes()[..5]);
    record
}

/// Of pages that one MAP maps: its records, whole.
pub fn map_records(kind: Kind, lpn: u64, dpn: u64, sums: &[u32], dead: &[u64]) -> Vec<u8> {
    let mut records = vec![map_record(lpn, dpn, sums.len() as u64)];
    if matches!(kind, Kind::Sums) {
        let mut record = vec![7, sums.len() as u8];
        record.extend(sums.iter().flat_map(|sum| sum.to_le_bytes()));
        records.push(record);
    }
    records.extend(dead.iter().map(|dpn| range_record(2, *dpn)));
    records.last_mut().unwrap()[0] |= 0x80;
    records.concat()
}

/// A device with a draft as its journal's last batch, with its data.
pub struct Drafted {
    pub kind: Kind,
    pub device: Ram,
    /// Without the draft, and with it.
    pub before: Map,
    pub after: Map,
    /// What it maps.
    pub lpn: u64,
    pub dpn: u64,
    pub nr_pages: u64,
    /// Its sector and operation.
    pub sector: u64,
    pub seq: u64,
    pub sum: u32,
    pub end: End,
}

/// The device of that kind as one that may have drafts.
pub fn with_feature(kind: Kind) -> Ram {
    let device = kind.device();
    for dpn in [0, 16] {
        change_well(&device, dpn, |page| {
            page[offset_of!(SuperBlock, incompat)] |= INCOMPAT_DRAFTS as u8;
        });
    }
    device
}

/// Room for pages in an open segment.
fn room(volume: &Volume, nr_pages: u64) -> u64 {
    let data_pages = u64::from(volume.superblock.data_pages());
    let open = volume.segments.iter();
    let open = open.filter(|(_, segment)| segment.state == State::Open);
    let mut rooms = open.filter_map(|(number, segment)| {
        let pages = volume.open.pages(segment.open);
        let used = pages.iter().rposition(Option::is_some);
        let used = used.map_or(0, |at| at as u64 + 1);
        let first = volume.superblock.segment_dpn(number).unwrap();
        (used + nr_pages <= data_pages).then_some(first + used)
    });
    rooms.next().unwrap()
}

/// A page of data that no other one is like.
pub fn page_of_data(number: u64) -> Page {
    let mut page = [0; BLOCK_BYTES];
    for (at, byte) in page.iter_mut().enumerate() {
        *byte = (number.to_le_bytes()[at % 8]).wrapping_mul(31) ^ (at / 7) as u8;
    }
    page
}

impl Drafted {
    pub fn new(kind: Kind, nr_pages: u64, nr_fillers: u64) -> Self {
        let device = with_feature(kind);
        let end = End::of(&device, &volume_of(&device));
        let mut drafted = Self {
            kind,
            before: Map::new(),
            after: map_of(&device),
            lpn: 0,
            dpn: 0,
            nr_pages: 0,
            sector: 0,
            seq: 0,
            sum: 0,
            device,
            end,
        };
        drafted.add(nr_pages, nr_fillers);
        drafted
    }

    /// The same, but the data was not written.
    pub fn without_data(kind: Kind, nr_pages: u64, nr_fillers: u64) -> Self {
        let drafted = Self::new(kind, nr_pages, nr_fillers);
        drafted.spoil();
        drafted
    }

    /// One more draft, behind those that count: it writes some mapped pages anew.
    pub fn add(&mut self, nr_pages: u64, nr_fillers: u64) {
        let device = &self.device;
        let volume = volume_of(device);
        self.before = self.after.clone();
        self.dpn = room(&volume, nr_pages);
        self.nr_pages = nr_pages;
        let last = self.before.keys().next_back().unwrap();
        self.lpn = (1..last - nr_pages)
            .find(|lpn| (0..nr_pages).all(|at| self.before.contains_key(&(lpn + at))))
            .unwrap();
        let mut sums = Vec::new();
        let mut dead = Vec::new();
        for at in 0..nr_pages {
            let page = page_of_data(self.dpn + at);
            let sum = crc32c(!0, &page);
            device.write(self.dpn + at, &page).unwrap();
            let entry = Entry {
                dpn: self.dpn + at,
                sum: match self.kind {
                    Kind::Plain => 0,
                    Kind::Sums => sum,
                },
            };
            dead.push(self.after.insert(self.lpn + at, entry).unwrap().dpn);
            sums.push(sum);
        }
        self.sum = sum_of(!0, &sums);
        self.seq = self.end.next.seq;
        let sector = NewSector {
            flags: SECTOR_FIRST | SECTOR_DRAFT,
            records: map_records(self.kind, self.lpn, self.dpn, &sums, &dead),
            nr_operations: 1,
            sum: Some(self.sum),
        };
        self.sector = self.end.put(device, &sector);
        self.end.fill(device, nr_fillers);
    }

    /// Places of its data.
    pub fn places(&self) -> Range<u64> {
        self.dpn..self.dpn + self.nr_pages
    }

    /// Its data becomes something else.
    pub fn spoil(&self) {
        for dpn in self.places() {
            change(&self.device, dpn, |page| page[77] ^= 4);
        }
    }

    /// Another batch, which does nothing.
    pub fn add_batch(&mut self) -> u64 {
        let unmapped = (0..).find(|lpn| !self.after.contains_key(lpn)).unwrap();
        let sector = NewSector {
            flags: SECTOR_FIRST,
            records: range_record(0x83, unmapped),
            nr_operations: 1,
            sum: None,
        };
        self.end.put(&self.device, &sector)
    }
}
