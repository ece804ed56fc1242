// SPDX-License-Identifier: GPL-2.0-only
//! Figures of a device in log mode: how full it is and how its segments are used, and in how
//! many pieces files are.

use std::collections::HashMap;
use std::io;

use serde::Serialize;

use super::check::{read_summary, Places};
use super::findings::{Findings, Severity, Subject};
use super::map::{self, Entry};
use super::segments::State;
use super::summary::Written;
use super::volume::Volume;
use crate::io_engine::pages::{ReadPages, Watched};

/// Tenths of a segment.
pub const NR_CLASSES: usize = 10;

/// Files that are told apart; more of them are counted together.
const MOST_FILES: usize = 1 << 20;

/// A file by the number that the target gave it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct FileStat {
    pub file: u64,
    pub nr_pages: u64,
    /// Runs of its pages that are one after the other, both in the file and on the device.
    pub nr_pieces: u64,
}

/// Figures of a device.
#[derive(Clone, Debug, Serialize)]
pub struct Stat {
    pub nr_lpns: u64,
    pub nr_mapped: u64,
    pub nr_segments: u64,
    pub nr_free: u64,
    pub nr_open: u64,
    pub nr_closed: u64,
    /// Closed segments without a valid page, which are free at the next checkpoint.
    pub nr_empty: u64,
    pub data_pages: u32,
    /// Closed segments by valid pages: up to a tenth, two tenths, ...
    pub utilization: [u64; NR_CLASSES],
    pub journal_sectors: u32,
    /// Sectors that a start would read.
    pub journal_used_sectors: u64,
    pub pages_written: u64,
    /// There is one of each page of data.
    pub checksums: bool,
    /// Batches of the journal may have been written along with their data.
    pub drafts: bool,
    /// Pieces of consecutive lpns at consecutive places.
    pub nr_map_pieces: u64,
    /// Valid pages of which the file is not known.
    pub nr_unknown_pages: u64,
    pub nr_files: u64,
    /// The files with the most pieces; only if they were asked for.
    pub files: Vec<FileStat>,
    pub nr_damages: u64,
    pub nr_failed_reads: u64,
}

/// Files while they are counted.
#[derive(Default)]
struct Files {
    stats: HashMap<u64, FileStat>,
    nr_unknown: u64,
}

impl Files {
    /// The valid pages of a segment, `None` for the others.
    fn add(&mut self, pages: impl Iterator<Item = Option<Written>>) {
        let mut before: Option<Written> = None;

        for written in pages {
            let Some(written) = written else {
                before = None;
                continue;
            };
            if written.file == 0 {
                self.nr_unknown += 1;
                before = None;
                continue;
            }
            let goes_on = before.is_some_and(|before| {
                before.file == written.file && before.fpage.wrapping_add(1) == written.fpage
            });
            before = Some(written);
            if self.stats.len() == MOST_FILES && !self.stats.contains_key(&written.file) {
                self.nr_unknown += 1;
                continue;
            }
            let stat = self.stats.entry(written.file).or_insert(FileStat {
                file: written.file,
                ..FileStat::default()
            });
            stat.nr_pages += 1;
            stat.nr_pieces += u64::from(!goes_on);
        }
    }

    fn worst(self, nr_files: usize) -> Vec<FileStat> {
        let mut list: Vec<_> = self.stats.into_values().collect();
        list.sort_by_key(|file| (std::cmp::Reverse(file.nr_pieces), file.file));
        list.truncate(nr_files);
        list
    }
}

/// In which tenth a segment is.
fn class(nr_valid: u32, data_pages: u32) -> usize {
    let tenths = (u64::from(nr_valid) * NR_CLASSES as u64).div_ceil(u64::from(data_pages.max(1)));
    (tenths as usize).clamp(1, NR_CLASSES) - 1
}

fn count_segments(volume: &Volume, stat: &mut Stat) {
    for (_, segment) in volume.segments.iter() {
        match segment.state {
            State::Free => stat.nr_free += 1,
            State::Open => stat.nr_open += 1,
            State::Closed => {
                stat.nr_closed += 1;
                stat.nr_empty += u64::from(segment.nr_valid == 0);
                let class = class(segment.nr_valid, stat.data_pages);
                if let Some(count) = stat.utilization.get_mut(class) {
                    *count += 1;
                }
            }
        }
    }
}

fn count_files(
    device: &impl ReadPages,
    volume: &Volume,
    places: &Places,
    findings: &mut Findings,
) -> Files {
    let mut files = Files::default();

    for (number, segment) in volume.segments.iter() {
        let Some(first) = volume.superblock.segment_dpn(number) else {
            continue;
        };
        let pages = match segment.state {
            State::Open => volume.open.pages(segment.open).to_vec(),
            State::Closed if segment.nr_valid != 0 => {
                match read_summary(device, &volume.superblock, number) {
                    Ok(pages) => pages,
                    Err(why) => {
                        findings.damage(Subject::Summary, || why);
                        continue;
                    }
                }
            }
            _ => continue,
        };
        let valid = (first..).zip(pages);
        files.add(valid.map(|(dpn, written)| written.filter(|_| places.has(dpn))));
    }
    files
}

/// Nothing of the device can be followed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Lost {
    pub nr_failed_reads: u64,
}

/// Take the figures; `nr_files` of the files with the most pieces.
///
/// # Errors
///
/// When the device has features that nobody knew of.
pub fn stat(device: &impl ReadPages, nr_files: usize) -> io::Result<Result<Stat, Lost>> {
    let device = &Watched::new(device);
    let mut findings = Findings::default();
    let Some(volume) = Volume::load(device, &mut findings)? else {
        return Ok(Err(Lost {
            nr_failed_reads: device.nr_failed(),
        }));
    };
    let superblock = &volume.superblock;
    let mut places = Places::new(superblock.nr_device_pages);
    let mut stat = Stat {
        nr_lpns: superblock.nr_lpns,
        nr_mapped: 0,
        nr_segments: superblock.nr_segments(),
        nr_free: 0,
        nr_open: 0,
        nr_closed: 0,
        nr_empty: 0,
        data_pages: superblock.data_pages(),
        utilization: [0; NR_CLASSES],
        journal_sectors: superblock.journal_sectors,
        journal_used_sectors: volume.journal.nr_sectors,
        pages_written: volume.root.pages_written,
        checksums: superblock.has_checksums(),
        drafts: superblock.has_drafts(),
        nr_map_pieces: 0,
        nr_unknown_pages: 0,
        nr_files: 0,
        files: Vec::new(),
        nr_damages: 0,
        nr_failed_reads: 0,
    };
    let mut next = None;

    map::for_each_page(device, &volume, &mut findings, |page, _| {
        for (lpn, Entry { dpn, .. }) in page.mapped() {
            stat.nr_mapped += 1;
            stat.nr_map_pieces += u64::from(next != Some((lpn, dpn)));
            next = Some((lpn + 1, dpn + 1));
            places.set(dpn);
        }
        Ok(())
    })?;
    count_segments(&volume, &mut stat);
    if nr_files != 0 {
        let files = count_files(device, &volume, &places, &mut findings);
        stat.nr_unknown_pages = files.nr_unknown;
        stat.nr_files = files.stats.len() as u64;
        stat.files = files.worst(nr_files);
    }
    stat.nr_damages = findings.count(Severity::Damage);
    stat.nr_failed_reads = device.nr_failed();
    Ok(Ok(stat))
}

#[cfg(test)]
mod tests {
    use super::{class, Files};
    use crate::format::summary::Written;

    #[test]
    fn segments_are_counted_by_tenths() {
        for (nr_valid, expected) in [(0, 0), (1, 0), (10, 0), (11, 1), (99, 9), (100, 9)] {
            assert_eq!(class(nr_valid, 100), expected, "{nr_valid}");
        }
        assert_eq!(class(5, 0), 9);
    }

    #[test]
    fn a_file_goes_on_where_both_go_on() {
        let page = |file, fpage| {
            Some(Written {
                file,
                fpage,
                ..Written::default()
            })
        };
        let mut files = Files::default();
        files.add(
            [
                page(7, 0),
                page(7, 1),
                None,
                page(7, 2),
                page(7, 9),
                page(8, 10),
                page(0, 0),
                page(8, 11),
            ]
            .into_iter(),
        );
        assert_eq!(files.nr_unknown, 1);
        let worst = files.worst(9);
        assert_eq!(
            (worst[0].file, worst[0].nr_pages, worst[0].nr_pieces),
            (7, 4, 3)
        );
        assert_eq!(
            (worst[1].file, worst[1].nr_pages, worst[1].nr_pieces),
            (8, 2, 2)
        );
    }
}
