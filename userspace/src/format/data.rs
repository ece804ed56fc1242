// SPDX-License-Identifier: GPL-2.0-only
//! Data compared with its checksums, all of it.
//!
//! A drive gives what it has fastest in the order of places, and the map is in the order of lpns. So the
//! checksums of as many places as there should be memory for are put to the order of places, and then
//! what lies there is read; the map is read again for each such window. Going segment by
//! segment instead, and looking up what the summary names, would read a page of the map for nearly each page of
//! data where writes were random.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use serde::Serialize;

use super::block::crc32c;
use super::check::{read_summary, Places};
use super::findings::{Findings, Subject, MOST_OF_A_KIND};
use super::layout::BLOCK_BYTES;
use super::map::{self, Entry};
use super::segments::State;
use super::summary::Written;
use super::volume::Volume;
use crate::io_engine::many::PIECE_PAGES;
use crate::io_engine::pages::ReadPages;

/// Times that the map is read at most: it has 9 bytes for 4096 of data, so that is 4 percent more to be
/// read.
const MOST_WINDOWS: u64 = 16;

/// Less is not worth reading the map again: checksums of 128 GiB.
const LEAST_WINDOW_PAGES: u64 = 1 << 25;

/// Pages that nobody wants, but that are read since a larger read takes less time than two.
const MOST_GAP_PAGES: u64 = 8;

/// What became of it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct DataFacts {
    /// Pages that were compared, or could not be read.
    pub nr_pages: u64,
    /// Those that have another checksum.
    pub nr_damaged: u64,
    pub nr_unreadable: u64,
}

/// Pieces to be read, so that all places of a window are in one of them.
struct Pieces<I> {
    places: I,
    /// What comes next, as far as is known.
    piece: Option<Range<u64>>,
}

impl<I: Iterator<Item = u64>> Iterator for Pieces<I> {
    type Item = Range<u64>;

    fn next(&mut self) -> Option<Range<u64>> {
        for dpn in self.places.by_ref() {
            match &mut self.piece {
                Some(piece)
                    if dpn - piece.end <= MOST_GAP_PAGES && dpn - piece.start < PIECE_PAGES =>
                {
                    piece.end = dpn + 1;
                }
                piece => {
                    if let Some(before) = piece.replace(dpn..dpn + 1) {
                        return Some(before);
                    }
                }
            }
        }
        self.piece.take()
    }
}

fn pieces(places: &Places, window: Range<u64>) -> impl Iterator<Item = Range<u64>> + '_ {
    Pieces {
        places: places.iter_in(window),
        piece: None,
    }
}

/// Why a page is not as it must be.
enum Bad {
    Sum { found: u32, expected: u32 },
    Unreadable(io::Error),
}

/// A comparison that is under way.
struct Data<'a, D> {
    device: &'a D,
    volume: &'a Volume,
    /// Where something is mapped.
    places: &'a Places,
    facts: DataFacts,
    /// By place, the first ones: of so many somebody will read.
    bad: BTreeMap<u64, Bad>,
}

/// The checksums of a window.
struct Sums {
    window: Range<u64>,
    sums: Vec<u32>,
    /// Those that are there: by their place in the window.
    known: Places,
}

impl Sums {
    fn get(&self, dpn: u64) -> Option<u32> {
        let at = dpn.checked_sub(self.window.start)?;
        let sum = self.sums.get(at as usize).copied();
        sum.filter(|_| self.known.has(at))
    }
}

impl<D: ReadPages> Data<'_, D> {
    fn read_sums(&self, window: Range<u64>) -> io::Result<Sums> {
        let nr_pages = window.end - window.start;
        let mut sums = vec![0; nr_pages as usize];
        let mut known = Places::new(nr_pages);
        // What is wrong with the map was said before.
        let mut ignored = Findings::default();

        map::for_each_page(self.device, self.volume, &mut ignored, |page, _| {
            for (_, Entry { dpn, sum }) in page.mapped() {
                let Some(at) = dpn.checked_sub(window.start) else {
                    continue;
                };
                if let Some(to) = sums.get_mut(at as usize) {
                    *to = sum;
                    known.set(at);
                }
            }
            Ok(())
        })?;
        Ok(Sums {
            window,
            sums,
            known,
        })
    }

    fn compare_window(&mut self, window: Range<u64>) -> io::Result<()> {
        if self.places.iter_in(window.clone()).next().is_none() {
            return Ok(());
        }
        let sums = self.read_sums(window.clone())?;
        let (device, places) = (self.device, self.places);

        device.read_many(&mut pieces(places, window), &mut |piece, result| {
            match result {
                Ok(bytes) => {
                    for (dpn, page) in piece.zip(bytes.chunks_exact(BLOCK_BYTES)) {
                        self.compare(&sums, dpn, Ok(page));
                    }
                }
                // Some of its pages can be read, perhaps.
                Err(_) => {
                    for dpn in piece.filter(|dpn| places.has(*dpn)) {
                        match device.read_page(dpn) {
                            Ok(page) => self.compare(&sums, dpn, Ok(&page)),
                            Err(err) => self.compare(&sums, dpn, Err(err)),
                        }
                    }
                }
            }
        });
        Ok(())
    }

    /// A page was read, or cannot be.
    fn compare(&mut self, sums: &Sums, dpn: u64, page: io::Result<&[u8]>) {
        let expected = sums.get(dpn).filter(|_| self.places.has(dpn));
        let Some(expected) = expected else { return };

        self.facts.nr_pages += 1;
        let bad = match page {
            Ok(page) => {
                let found = crc32c(!0, page);
                if found == expected {
                    return;
                }
                self.facts.nr_damaged += 1;
                Bad::Sum { found, expected }
            }
            Err(err) => {
                self.facts.nr_unreadable += 1;
                Bad::Unreadable(err)
            }
        };
        self.bad.insert(dpn, bad);
        if self.bad.len() as u64 > MOST_OF_A_KIND {
            self.bad.pop_last();
        }
    }

    /// The lpns of places that are bad.
    fn lpns(&self) -> io::Result<BTreeMap<u64, u64>> {
        let mut lpns = BTreeMap::new();

        if self.bad.is_empty() {
            return Ok(lpns);
        }
        let mut ignored = Findings::default();
        map::for_each_page(self.device, self.volume, &mut ignored, |page, _| {
            for (lpn, Entry { dpn, .. }) in page.mapped() {
                if self.bad.contains_key(&dpn) {
                    lpns.insert(dpn, lpn);
                }
            }
            Ok(())
        })?;
        Ok(lpns)
    }

    /// What the summary has of a place.
    fn written(&self, dpn: u64) -> Option<Written> {
        let superblock = &self.volume.superblock;
        let (number, page) = superblock.segment_of(dpn)?;
        let segment = self.volume.segments.get(number)?;
        let page = page as usize;

        if segment.state == State::Open {
            return self.volume.open.pages(segment.open).get(page).copied()?;
        }
        let pages = read_summary(self.device, superblock, number).ok()?;
        pages.get(page).copied()?
    }

    fn report(&self, findings: &mut Findings) -> io::Result<()> {
        let lpns = self.lpns()?;

        for (dpn, bad) in &self.bad {
            let lpn = lpns.get(dpn).copied().unwrap_or_default();
            findings.damage(Subject::Data, || {
                let file = match self.written(*dpn) {
                    Some(written) if written.lpn == lpn && written.file != 0 => {
                        format!(", page {} of file {},", written.fpage, written.file)
                    }
                    _ => String::new(),
                };
                match bad {
                    Bad::Sum { found, expected } => format!(
                        "What lies at place {dpn} for lpn {lpn}{file} is damaged: its checksum is \
                         {found:#010x}, not {expected:#010x}."
                    ),
                    Bad::Unreadable(err) => format!(
                        "What lies at place {dpn} for lpn {lpn}{file} cannot be read ({err})."
                    ),
                }
            });
        }
        let nr_bad = self.facts.nr_damaged + self.facts.nr_unreadable;
        for _ in self.bad.len() as u64..nr_bad {
            findings.damage(Subject::Data, String::new);
        }
        Ok(())
    }
}

/// Parts of the device whose checksums are in memory at once.
fn windows(nr_device_pages: u64) -> impl Iterator<Item = Range<u64>> {
    let nr_pages = LEAST_WINDOW_PAGES.max(nr_device_pages.div_ceil(MOST_WINDOWS));
    let starts = (0..nr_device_pages).step_by(nr_pages as usize);
    starts.map(move |start| start..nr_device_pages.min(start + nr_pages))
}

/// Pages that [`compare`] reads if all is well.
pub(super) fn nr_pages_to_read(volume: &Volume, places: &Places) -> u64 {
    let slots = volume.map_slots.iter().flatten();
    let map_pages = slots.filter(|slot| !slot.is_absent()).count() as u64;
    let of_window = |window: Range<u64>| {
        let pieces = pieces(places, window);
        let nr_pages: u64 = pieces.map(|piece| piece.end - piece.start).sum();
        nr_pages + if nr_pages == 0 { 0 } else { map_pages }
    };
    windows(volume.superblock.nr_device_pages)
        .map(of_window)
        .sum()
}

/// Compare what lies at all places where something is mapped.
pub(super) fn compare(
    device: &impl ReadPages,
    volume: &Volume,
    places: &Places,
    findings: &mut Findings,
) -> io::Result<DataFacts> {
    let windows = windows(volume.superblock.nr_device_pages);
    compare_windows(device, volume, places, windows, findings)
}

fn compare_windows(
    device: &impl ReadPages,
    volume: &Volume,
    places: &Places,
    windows: impl Iterator<Item = Range<u64>>,
    findings: &mut Findings,
) -> io::Result<DataFacts> {
    let mut data = Data {
        device,
        volume,
        places,
        facts: DataFacts::default(),
        bad: BTreeMap::new(),
    };

    for window in windows {
        data.compare_window(window)?;
    }
    data.report(findings)?;
    Ok(data.facts)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{compare_windows, crc32c, pieces, windows, Places, MOST_WINDOWS};
    use crate::format::build::{Builder, Checkpoint};
    use crate::format::findings::{Findings, MOST_OF_A_KIND};
    use crate::format::layout::BLOCK_BYTES;
    use crate::format::make::{make, Request};
    use crate::format::map::Entry;
    use crate::format::segments::Segment;
    use crate::format::superblock::{Super, Table};
    use crate::format::volume::Volume;
    use crate::io_engine::pages::{Ram, ReadPages, WritePages};

    const NR_PAGES: u64 = 4096;
    const NR_LPNS: u64 = 1500;

    /// Where an lpn is: the last ones come first.
    fn place(superblock: &Super, lpn: u64) -> u64 {
        let data_pages = u64::from(superblock.data_pages());
        let at = NR_LPNS - 1 - lpn;
        superblock.segment_dpn(at / data_pages).unwrap() + at % data_pages
    }

    fn device_with_data() -> (Ram, Super) {
        let superblock = make(&Request {
            uuid: [7; 16],
            label: String::new(),
            nr_device_pages: NR_PAGES,
            stripe_pages: 8,
            segment_pages: Some(64),
            journal_sectors: Some(1024),
            journal_unit_sectors: 1,
            reserve_permille: 300,
            checksums: true,
            drafts: true,
        })
        .unwrap();
        let device = Ram::new(vec![0; NR_PAGES as usize * BLOCK_BYTES]);
        let checkpoint = Checkpoint {
            epoch: 2,
            seq: 9,
            journal_sector: 0,
            salt: 1,
        };
        let mut builder = Builder::new(&device, &superblock, checkpoint).unwrap();
        let map_entries = superblock.map_entries() as u64;
        for index in 0..superblock.nr_pages(Table::Map) {
            let lpns = index * map_entries..NR_LPNS.min((index + 1) * map_entries);
            let entry = |lpn: u64| {
                let (dpn, page) = (place(&superblock, lpn), [lpn as u8; BLOCK_BYTES]);
                device.write(dpn, &page).unwrap();
                Entry {
                    dpn,
                    sum: crc32c(!0, &page),
                }
            };
            let entries: Vec<_> = lpns.map(entry).collect();
            builder.put_map(index, &entries).unwrap();
        }
        let segments = vec![Segment::default(); superblock.nr_segments() as usize];
        builder.finish(&segments).unwrap().write(&device).unwrap();
        (device, superblock)
    }

    fn flip(device: &Ram, dpn: u64) {
        let mut page = device.read_page(dpn).unwrap();
        page[77] ^= 4;
        device.write(dpn, &page).unwrap();
    }

    #[test]
    fn each_window_finds_what_is_its_own() {
        let (device, superblock) = device_with_data();
        let volume = Volume::load(&device, &mut Findings::default());
        let volume = volume.unwrap().unwrap();
        let mut places = Places::new(NR_PAGES);
        for lpn in 0..NR_LPNS {
            places.set(place(&superblock, lpn));
        }
        let (first, last) = (place(&superblock, NR_LPNS - 1), place(&superblock, 0));
        for nr_window in [64, 449, 1000, NR_PAGES] {
            let windows = || {
                let starts = (0..NR_PAGES).step_by(nr_window as usize);
                starts.map(|start| start..NR_PAGES.min(start + nr_window))
            };
            let compare = || {
                let mut findings = Findings::default();
                let facts = compare_windows(&device, &volume, &places, windows(), &mut findings);
                (facts.unwrap(), findings.into_list())
            };
            let (facts, findings) = compare();
            assert!(findings.is_empty(), "{findings:#?}");
            assert_eq!((facts.nr_pages, facts.nr_damaged), (NR_LPNS, 0));

            let starts: Vec<u64> = windows().map(|window| window.start).collect();
            let edges = starts
                .iter()
                .flat_map(|start| [start.wrapping_sub(1), *start]);
            let bad: BTreeSet<u64> = edges.chain([first, last]).collect();
            let bad: Vec<u64> = bad.into_iter().filter(|dpn| places.has(*dpn)).collect();
            bad.iter().for_each(|dpn| flip(&device, *dpn));
            let (facts, findings) = compare();
            assert_eq!(facts.nr_pages, NR_LPNS);
            assert_eq!(facts.nr_damaged, bad.len() as u64);
            let nr_named = bad.len().min(MOST_OF_A_KIND as usize);
            for (dpn, finding) in bad.iter().zip(&findings[..nr_named]) {
                let words = format!("What lies at place {dpn} for lpn ");
                assert!(finding.sentence.starts_with(&words), "{finding}");
            }
            bad.iter().for_each(|dpn| flip(&device, *dpn));
        }
    }

    #[test]
    fn pieces_have_all_places_and_few_others() {
        let mut places = Places::new(2000);
        for dpn in (100..105).chain([113, 123]).chain(500..1100) {
            places.set(dpn);
        }
        let found: Vec<_> = pieces(&places, 101..1099).collect();
        assert_eq!(found, [101..114, 123..124, 500..756, 756..1012, 1012..1099]);
        assert_eq!(pieces(&places, 0..100).next(), None);
        assert_eq!(pieces(&places, 1100..2000).next(), None);
    }

    #[test]
    fn windows_are_few_and_have_all() {
        for nr_pages in [1, 1 << 25, (1 << 25) + 1, 1 << 28, (1 << 32) - 1] {
            let found: Vec<_> = windows(nr_pages).collect();
            assert!(found.len() as u64 <= MOST_WINDOWS);
            assert_eq!(found.last().unwrap().end, nr_pages);
            assert!(found.windows(2).all(|two| two[0].end == two[1].start));
        }
    }
}
