// SPDX-License-Identifier: GPL-2.0-only
//! Is a device in log mode as it must be? The map is read page by page; what stays in
//! memory is the segment table, a bit for each place, and what the journal changes. Data is compared
//! with its checksums only if somebody wants that: it takes as long as to read all of it.

use std::collections::BTreeSet;
use std::io;
use std::ops::Range;

use serde::Serialize;
use zerocopy::transmute_ref;

use super::block;
use super::data::{self, DataFacts};
use super::findings::{Finding, Findings, Severity, Subject};
use super::grown;
use super::journal::{self, JournalFacts};
use super::layout::{SummaryBlock, MAX_OPEN, SUPER_NEEDS_CHECK};
use super::map::{self, Entry};
use super::segments::{Segment, State};
use super::summary::{self, Written};
use super::superblock::Super;
use super::volume::Volume;
use crate::io_engine::pages::{ReadPages, Watched};

/// What is to be left out, and what is to be looked at besides.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Summaries, and what lies behind the journal's end.
    pub quick: bool,
    /// Compare data with its checksums, on a device that has some.
    pub data: bool,
}

/// What is on the device.
#[derive(Clone, Debug, Serialize)]
pub struct Facts {
    pub uuid: String,
    pub label: String,
    /// The checkpoint that counts.
    pub epoch: u64,
    /// The target met an error of the metadata, and writes nothing before it was checked.
    pub needs_check: bool,
    /// There is one of each page of data.
    pub checksums: bool,
    /// Batches of the journal may have been written along with their data.
    pub drafts: bool,
    pub nr_device_pages: u64,
    pub nr_lpns: u64,
    pub nr_mapped: u64,
    pub nr_segments: u64,
    pub nr_free: u64,
    pub nr_open: u64,
    pub nr_closed: u64,
    pub journal: JournalFacts,
}

/// The result of a check.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// `None`: nothing could be followed.
    pub facts: Option<Facts>,
    /// `None`: data was not looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<DataFacts>,
    pub nr_damages: u64,
    pub nr_warnings: u64,
    /// Reads that the device refused.
    pub nr_failed_reads: u64,
    pub findings: Vec<Finding>,
}

impl Report {
    pub fn is_clean(&self) -> bool {
        self.nr_damages == 0 && self.nr_failed_reads == 0
    }
}

/// What the map says of a segment.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    nr_mapped: u32,
    /// Of the pairs of place and lpn. The summary must give the same.
    fingerprint: u64,
}

/// A number that is different for another place or another lpn.
pub(super) fn fingerprint(dpn: u64, lpn: u64) -> u64 {
    let mut mixed =
        dpn.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ lpn.wrapping_add(0x632b_e59b_d9b4_e019);
    mixed = (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed ^ mixed >> 32
}

/// A bit for each place of the device.
pub(super) struct Places {
    words: Vec<u64>,
}

impl Places {
    pub(super) fn new(nr_pages: u64) -> Self {
        Self {
            words: vec![0; nr_pages.div_ceil(64) as usize],
        }
    }

    /// Returns whether it was set already.
    pub(super) fn set(&mut self, dpn: u64) -> bool {
        let Some(word) = self.words.get_mut((dpn / 64) as usize) else {
            return false;
        };
        let bit = 1 << (dpn % 64);
        let was_set = *word & bit != 0;
        *word |= bit;
        was_set
    }

    /// Those that are set, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.iter_in(0..64 * self.words.len() as u64)
    }

    /// Those in a part of the device.
    pub(super) fn iter_in(&self, part: Range<u64>) -> impl Iterator<Item = u64> + '_ {
        let words = (0u64..).zip(&self.words).skip((part.start / 64) as usize);
        let words = words.take_while(move |(index, _)| index * 64 < part.end);
        let dpns = words.filter(|(_, word)| **word != 0);
        let dpns = dpns.flat_map(|(index, word)| {
            let bits = (0..64).filter(move |bit| word >> bit & 1 != 0);
            bits.map(move |bit| index * 64 + bit)
        });
        dpns.filter(move |dpn| part.contains(dpn))
    }

    pub(super) fn has(&self, dpn: u64) -> bool {
        self.words
            .get((dpn / 64) as usize)
            .is_some_and(|word| word >> (dpn % 64) & 1 != 0)
    }
}

/// A check that is under way.
struct Check<'a, D> {
    device: &'a D,
    volume: &'a Volume,
    places: Places,
    tallies: Vec<Tally>,
    nr_mapped: u64,
}

impl<'a, D: ReadPages> Check<'a, D> {
    fn new(device: &'a D, volume: &'a Volume) -> Self {
        Self {
            device,
            volume,
            places: Places::new(volume.superblock.nr_device_pages),
            tallies: vec![Tally::default(); volume.superblock.nr_segments() as usize],
            nr_mapped: 0,
        }
    }

    /// Returns whether all of the map could be read.
    fn check_map(&mut self, findings: &mut Findings) -> io::Result<bool> {
        map::for_each_page(self.device, self.volume, findings, |page, findings| {
            for (lpn, entry) in page.mapped() {
                self.check_entry(lpn, entry.dpn, findings);
            }
            Ok(())
        })
    }

    fn check_entry(&mut self, lpn: u64, dpn: u64, findings: &mut Findings) {
        let place = self.volume.superblock.segment_of(dpn);

        self.nr_mapped += 1;
        let Some((number, _)) = place else {
            findings.damage(Subject::MapEntry, || {
                format!("lpn {lpn} is mapped to place {dpn}, where no data can be.")
            });
            return;
        };
        if self.places.set(dpn) {
            findings.damage(Subject::MapEntry, || {
                format!("lpn {lpn} is mapped to place {dpn}, as another lpn is.")
            });
            return;
        }
        if let Some(tally) = self.tallies.get_mut(number as usize) {
            tally.nr_mapped += 1;
            tally.fingerprint ^= fingerprint(dpn, lpn);
        }
        let segment = self.volume.segments.get(number);
        if segment.is_some_and(|segment| segment.state == State::Free) {
            findings.damage(Subject::MapEntry, || {
                format!("lpn {lpn} is mapped to place {dpn} in segment {number}, which is free.")
            });
        }
    }

    fn check_counts(&self, findings: &mut Findings) {
        for (number, segment) in self.volume.segments.iter() {
            let nr_mapped = self.tally(number).nr_mapped;
            if segment.nr_valid != nr_mapped {
                findings.damage(Subject::Segment, || {
                    format!(
                        "Segment {number} has {} valid pages by the segment table, but the map \
                         has {nr_mapped}.",
                        segment.nr_valid
                    )
                });
            }
        }
    }

    fn check_states(&self, findings: &mut Findings) {
        let next_seq = self.volume.journal.next_seq;
        let mut owners = [None; MAX_OPEN];

        for (number, segment) in self.volume.segments.iter() {
            if segment.mtime > next_seq {
                findings.add(Severity::Warning, Subject::Segment, || {
                    format!(
                        "Segment {number} is of operation {}, which has not happened.",
                        segment.mtime
                    )
                });
            }
            let Some(owner) = owners.get_mut(usize::from(segment.open)) else {
                continue;
            };
            if segment.state != State::Open {
                continue;
            }
            if let Some(other) = owner.replace(number) {
                findings.damage(Subject::Segment, || {
                    format!(
                        "Segments {other} and {number} are both open with open summary {}.",
                        segment.open
                    )
                });
            }
        }
    }

    fn tally(&self, number: u64) -> Tally {
        self.tallies
            .get(number as usize)
            .copied()
            .unwrap_or_default()
    }

    /// Returns the segments whose summaries do not agree with the map.
    fn check_summaries(&self, findings: &mut Findings) -> BTreeSet<u64> {
        let mut differing = BTreeSet::new();

        for (number, segment) in self.volume.segments.iter() {
            let tally = self.tally(number);
            // Nothing depends on the summary of a segment without a page, and a crash may
            // have cut off its being written anew.
            if tally.nr_mapped == 0 || segment.state == State::Free {
                continue;
            }
            let Some(pages) = self.read_summary(number, segment, findings) else {
                continue;
            };
            if self.fingerprint_of(number, &pages) != tally.fingerprint {
                differing.insert(number);
            }
        }
        differing
    }

    fn fingerprint_of(&self, number: u64, pages: &[Option<Written>]) -> u64 {
        let first = self.volume.superblock.segment_dpn(number).unwrap_or(0);
        (first..)
            .zip(pages)
            .filter(|(dpn, _)| self.places.has(*dpn))
            .filter_map(|(dpn, written)| Some(fingerprint(dpn, written.as_ref()?.lpn)))
            .fold(0, |sum, one| sum ^ one)
    }

    /// What the pages of a segment are; `None`: its summary is damaged.
    fn read_summary(
        &self,
        number: u64,
        segment: &Segment,
        findings: &mut Findings,
    ) -> Option<Vec<Option<Written>>> {
        if segment.state == State::Open {
            return Some(self.volume.open.pages(segment.open).to_vec());
        }
        match read_summary(self.device, &self.volume.superblock, number) {
            Ok(pages) => Some(pages),
            Err(why) => {
                findings.damage(Subject::Summary, || why);
                None
            }
        }
    }

    /// Say in which entries summaries and map differ.
    fn explain(&self, differing: &BTreeSet<u64>, findings: &mut Findings) -> io::Result<()> {
        let mut last: Option<(u64, Vec<Option<Written>>)> = None;
        let mut is_cut = false;
        // What is wrong with pages of the map was said before.
        let mut ignored = Findings::default();

        map::for_each_page(self.device, self.volume, &mut ignored, |page, _| {
            for (lpn, Entry { dpn, .. }) in page.mapped() {
                // Each may take a summary to be read, in any order.
                if findings.is_full(Severity::Damage, Subject::SummaryEntry) {
                    is_cut = true;
                    return Ok(());
                }
                let Some((number, at)) = self.volume.superblock.segment_of(dpn) else {
                    continue;
                };
                let Some(segment) = self.volume.segments.get(number) else {
                    continue;
                };
                if !differing.contains(&number) {
                    continue;
                }
                if last.as_ref().is_none_or(|(known, _)| *known != number) {
                    let pages = self.read_summary(number, segment, &mut Findings::default());
                    last = Some((number, pages.unwrap_or_default()));
                }
                let pages = last.as_ref().map_or(&[][..], |(_, pages)| pages);
                let written = pages.get(at as usize).copied().flatten();
                if written.is_some_and(|written| written.lpn == lpn) {
                    continue;
                }
                findings.damage(Subject::SummaryEntry, || match written {
                    None => format!(
                        "lpn {lpn} is mapped to place {dpn}, of which the summary of segment \
                         {number} knows nothing."
                    ),
                    Some(written) => format!(
                        "lpn {lpn} is mapped to place {dpn}, which was written for lpn {} by the \
                         summary of segment {number}.",
                        written.lpn
                    ),
                });
            }
            Ok(())
        })?;
        if is_cut {
            findings.add(Severity::Note, Subject::SummaryEntry, || {
                "There may be more entries in which map and summaries differ: no more were looked for."
                    .to_owned()
            });
        }
        Ok(())
    }

    fn facts(&self) -> Facts {
        let superblock = &self.volume.superblock;
        let count = |state| {
            let segments = self.volume.segments.iter();
            segments
                .filter(|(_, segment)| segment.state == state)
                .count() as u64
        };
        Facts {
            uuid: superblock.uuid_text(),
            label: superblock.label_text(),
            epoch: self.volume.root.epoch,
            needs_check: superblock.flags & SUPER_NEEDS_CHECK != 0,
            checksums: superblock.has_checksums(),
            drafts: superblock.has_drafts(),
            nr_device_pages: superblock.nr_device_pages,
            nr_lpns: superblock.nr_lpns,
            nr_mapped: self.nr_mapped,
            nr_segments: superblock.nr_segments(),
            nr_free: count(State::Free),
            nr_open: count(State::Open),
            nr_closed: count(State::Closed),
            journal: self.volume.journal,
        }
    }
}

/// What the pages of a closed segment are, by its summary.
///
/// # Errors
///
/// Says what is wrong with it.
pub fn read_summary(
    device: &impl ReadPages,
    superblock: &Super,
    number: u64,
) -> Result<Vec<Option<Written>>, String> {
    let mut pages = Vec::new();

    for index in 0..superblock.summary_pages {
        let Some(id) = summary::block_id(superblock, number, index) else {
            return Err(format!("Segment {number} does not exist."));
        };
        let page = block::read_checked(device, &id).map_err(|why| {
            format!("Page {index} of the summary of segment {number} is damaged: {why}.")
        })?;
        let block: &SummaryBlock = transmute_ref!(&page);
        pages.extend(summary::entries(superblock, block, index));
    }
    Ok(pages)
}

/// Returns what is on the device, and what became of its data if that was looked at.
fn check_volume(
    device: &impl ReadPages,
    volume: &Volume,
    options: &Options,
    findings: &mut Findings,
    before_data: impl FnOnce(u64),
) -> io::Result<(Facts, Option<DataFacts>)> {
    let mut check = Check::new(device, volume);

    let is_whole = check.check_map(findings)?;
    check.check_states(findings);
    if is_whole {
        check.check_counts(findings);
    } else {
        findings.add(Severity::Note, Subject::Segment, || {
            "Valid pages of segments were not counted, because a part of the map is lost."
                .to_owned()
        });
    }
    if !options.quick {
        journal::look_behind_end(device, &volume.superblock, &volume.journal, findings);
        let differing = check.check_summaries(findings);
        if !differing.is_empty() {
            check.explain(&differing, findings)?;
        }
    }
    let facts = check.facts();
    if !options.data || !volume.superblock.has_checksums() {
        return Ok((facts, None));
    }
    before_data(data::nr_pages_to_read(volume, &check.places));
    let data = data::compare(device, volume, &check.places, findings)?;
    Ok((facts, Some(data)))
}

/// Look at everything that a device in log mode has, but for what the options leave out. Nothing is
/// written.
///
/// # Errors
///
/// When the device has features that nobody knew of. Everything that is wrong with it, and
/// what could not be read, is in the report.
pub fn check(device: &impl ReadPages, options: &Options) -> io::Result<Report> {
    check_with(device, options, |_| {})
}

/// The same; `before_data` gets the number of pages that are to be read when it is their turn.
///
/// # Errors
///
/// Like `check`.
pub fn check_with(
    device: &impl ReadPages,
    options: &Options,
    before_data: impl FnOnce(u64),
) -> io::Result<Report> {
    let mut findings = Findings::default();
    // What cannot be read behind its end is no error of it.
    let behind = device;
    let device = Watched::new(device);
    let (mut facts, mut data) = (None, None);

    if let Some(volume) = Volume::load(&device, &mut findings)? {
        if grown::has_grown(behind, &volume.superblock) {
            findings.damage(Subject::Superblock, || {
                "It is one of before the device grew: behind its segments are the roots of a \
                 larger one, and the superblock that it grew by is lost."
                    .to_owned()
            });
        }
        let of_volume = check_volume(&device, &volume, options, &mut findings, before_data)?;
        (facts, data) = (Some(of_volume.0), of_volume.1);
    }
    Ok(Report {
        facts,
        data,
        nr_damages: findings.count(Severity::Damage),
        nr_warnings: findings.count(Severity::Warning),
        nr_failed_reads: device.nr_failed(),
        findings: findings.into_list(),
    })
}
