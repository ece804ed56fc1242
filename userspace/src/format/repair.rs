// SPDX-License-Identifier: GPL-2.0-only
//! Making sound metadata out of a damaged device's. One device is read, another one is
//! written.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use serde::Serialize;

use super::build::{Builder, Checkpoint, Supers};
use super::check::{fingerprint, Places};
use super::findings::{Finding, Findings, Severity, Subject};
use super::layout::{BLOCK_BYTES, MAX_BATCH_SECTORS};
use super::map::{self, Entry};
use super::root::MAX_SEQ;
use super::salvage::{Applied, Salvage};
use super::segments::{Segment, State};
use super::summary::Written;
use super::superblock::Table;
use crate::io_engine::pages::{ReadPages, Watched, WritePages};

/// Segments whose summaries are mended at once.
const MOST_SEGMENTS: usize = 256;

/// What was made, and what was lost.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Pages that hold something now.
    pub nr_mapped: u64,
    /// Pages of the map that were put together from older copies, journal and summaries.
    pub nr_map_pages_rebuilt: u64,
    /// lpns whose places were found there.
    pub nr_lpns_found: u64,
    /// Checksums that are those of what lies there now, since nothing says what should.
    pub nr_sums_made: u64,
    /// Entries of the map that could not be, and were left out.
    pub nr_dropped: u64,
    /// Mapped pages that segments had by their table, and that were not found again; `None`:
    /// that is not known.
    pub nr_lost: Option<u64>,
    pub nr_failed_reads: u64,
    /// What was wrong with the device.
    pub findings: Vec<Finding>,
}

/// What the new map says of a segment.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    nr_valid: u32,
    fingerprint: u64,
}

/// A repair that is under way.
struct Repair<'a, D, W> {
    salvage: &'a Salvage<'a, D>,
    builder: Builder<'a, W>,
    /// Places that sound pages of the map name.
    claimed: Places,
    used: Places,
    tallies: Vec<Tally>,
    nr_mapped: u64,
    nr_found: u64,
    nr_made: u64,
    nr_dropped: u64,
}

impl<D: ReadPages, W: WritePages> Repair<'_, D, W> {
    /// Sound pages of the map go before those that were put together.
    fn claim(&mut self) {
        for index in 0..self.salvage.superblock.nr_pages(Table::Map) {
            let base = self.salvage.base(index);
            if base.is_exact {
                for entry in base.entries {
                    self.claimed.set(entry.dpn);
                }
            }
        }
    }

    /// Leave out of a page what cannot be.
    fn filter(&mut self, index: u64, is_exact: bool, entries: &mut [Entry]) {
        let superblock = &self.salvage.superblock;
        let first = index * superblock.map_entries() as u64;

        for (lpn, entry) in (first..).zip(entries.iter_mut()) {
            let dpn = entry.dpn;
            if dpn == 0 {
                // What is nowhere has no checksum.
                entry.sum = 0;
                continue;
            }
            let segment = superblock.segment_of(dpn).map(|(number, _)| number);
            let is_taken = !is_exact && self.claimed.has(dpn);
            let tally = segment.and_then(|number| self.tallies.get_mut(number as usize));
            match tally {
                Some(tally) if lpn < superblock.nr_lpns && !is_taken && !self.used.set(dpn) => {
                    tally.nr_valid += 1;
                    tally.fingerprint ^= fingerprint(dpn, lpn);
                    self.nr_mapped += 1;
                }
                _ => {
                    self.nr_dropped += 1;
                    *entry = Entry::default();
                }
            }
        }
    }

    fn write_map(&mut self, findings: &mut Findings) -> io::Result<()> {
        let mut window = self.salvage.window(0);

        for index in 0..self.salvage.superblock.nr_pages(Table::Map) {
            if index >= window.end {
                window = self.salvage.window(index);
            }
            let mut base = self.salvage.base(index);
            let mut applied = Applied::default();
            if !base.is_exact {
                applied = window.apply(index, &mut base.entries);
            }
            self.filter(index, base.is_exact, &mut base.entries);
            self.nr_found += applied.nr_found;
            self.nr_made += applied.nr_made;
            self.note_unreadable(index, &base.entries, &applied.unreadable, findings);
            self.builder.put_map(index, &base.entries)?;
        }
        Ok(())
    }

    /// Say of which pages nobody knows the checksum.
    fn note_unreadable(
        &self,
        index: u64,
        entries: &[Entry],
        unreadable: &[u64],
        findings: &mut Findings,
    ) {
        let first = index * entries.len() as u64;

        if unreadable.is_empty() {
            return;
        }
        for (lpn, Entry { dpn, .. }) in (first..).zip(entries) {
            if unreadable.contains(dpn) {
                findings.damage(Subject::Data, || {
                    format!(
                        "Only a summary says that lpn {lpn} is at place {dpn}, which cannot be \
                         read, so nobody knows its checksum."
                    )
                });
            }
        }
    }

    /// Write the summaries that agree with the map. Returns the segments of the others.
    fn write_summaries(&self) -> io::Result<Vec<u64>> {
        let mut others = Vec::new();

        for (number, tally) in (0..).zip(&self.tallies) {
            if tally.nr_valid == 0 {
                continue;
            }
            let pages = self.salvage.pages_of(number);
            let first = self.salvage.superblock.segment_dpn(number).unwrap_or(0);
            let sum = (first..)
                .zip(&pages)
                .filter(|(dpn, _)| self.used.has(*dpn))
                .filter_map(|(dpn, written)| Some(fingerprint(dpn, written.as_ref()?.lpn)))
                .fold(0, |sum, one| sum ^ one);
            if sum == tally.fingerprint {
                self.builder.put_summary(number, &pages)?;
            } else {
                others.push(number);
            }
        }
        Ok(others)
    }

    /// Have the summaries of some segments say what the new map says.
    fn mend_summaries(&self, numbers: &[u64]) -> io::Result<()> {
        let superblock = &self.salvage.superblock;
        let mut mended: BTreeMap<u64, Vec<Option<Written>>> = BTreeMap::new();

        for number in numbers {
            mended.insert(*number, self.salvage.pages_of(*number));
        }
        for index in 0..superblock.nr_pages(Table::Map) {
            let Some(page) = self.builder.map_page(index)? else {
                continue;
            };
            let first = index * superblock.map_entries() as u64;
            for (lpn, entry) in (first..).zip(map::decode(superblock, &page)) {
                let Some((number, at)) = superblock.segment_of(entry.dpn) else {
                    continue;
                };
                let pages = mended.get_mut(&number);
                let Some(written) = pages.and_then(|pages| pages.get_mut(at as usize)) else {
                    continue;
                };
                if written.is_none_or(|written| written.lpn != lpn) {
                    *written = Some(Written {
                        lpn,
                        seq: self.salvage.next_seq - 1,
                        ..Written::default()
                    });
                }
            }
        }
        for (number, pages) in mended {
            self.builder.put_summary(number, &pages)?;
        }
        Ok(())
    }

    /// Segments that have something are closed, all others are free.
    fn segments(&self) -> Vec<Segment> {
        let last_seq = self.salvage.next_seq - 1;
        let known = |number| self.salvage.volume.as_ref()?.segments.get(number).copied();
        let segment = |(number, tally): (u64, &Tally)| {
            if tally.nr_valid == 0 {
                return Segment::default();
            }
            let mtime = match known(number) {
                Some(segment) if segment.state != State::Free => segment.mtime,
                _ => {
                    let pages = self.salvage.pages_of(number);
                    pages
                        .iter()
                        .flatten()
                        .map(|written| written.seq)
                        .max()
                        .unwrap_or(0)
                }
            };
            Segment {
                nr_valid: tally.nr_valid,
                state: State::Closed,
                open: 0,
                mtime: mtime.min(last_seq),
            }
        };
        (0..).zip(&self.tallies).map(segment).collect()
    }

    /// Mapped pages by the segment table that are not in the new map.
    fn nr_lost(&self) -> Option<u64> {
        let volume = self.salvage.volume.as_ref();
        let segments = &volume.filter(|_| self.salvage.is_journal_whole)?.segments;
        let mut nr_lost = 0;

        for (number, tally) in (0..).zip(&self.tallies) {
            let nr_valid = segments.get(number)?.nr_valid;
            nr_lost += u64::from(nr_valid.saturating_sub(tally.nr_valid));
        }
        Some(nr_lost)
    }
}

fn checkpoint<D: ReadPages>(salvage: &Salvage<D>, salt: u64) -> Checkpoint {
    let ring = u64::from(salvage.superblock.journal_sectors);
    let volume = salvage.volume.as_ref();
    let journal_end = volume.map_or(0, |volume| {
        volume
            .journal
            .first_sector
            .saturating_add(volume.journal.nr_sectors)
    });
    let next_sector = salvage.scan.next_sector.max(journal_end);

    Checkpoint {
        epoch: salvage.highest_epoch().saturating_add(1),
        seq: salvage.next_seq - 1,
        // At the beginning of the ring, and behind all that there was
        journal_sector: next_sector
            .saturating_add(MAX_BATCH_SECTORS)
            .next_multiple_of(ring),
        salt,
    }
}

/// No device comes to such numbers by itself.
fn require_numbers<D: ReadPages>(salvage: &Salvage<D>) -> io::Result<()> {
    if salvage.next_seq <= MAX_SEQ
        && salvage.highest_epoch() < MAX_SEQ
        && salvage.superblock.epoch <= u64::MAX - Supers::EPOCHS
    {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidData,
        "its operations or checkpoints have numbers behind which there are no others",
    ))
}

/// Sound metadata that was written, without superblocks: it does not count yet.
#[must_use]
pub struct Repaired {
    pub report: Report,
    used: Places,
    supers: Supers,
}

/// Read `from`, write sound metadata to `to`, which must be as large; it counts once it was
/// finished. `salt` is a random number. If neither superblock of `from` is valid, nothing is
/// written, and the findings are returned.
///
/// # Errors
///
/// When `from` has features that nobody knew of, or numbers that cannot be, or `to` fails.
pub fn repair(
    from: &impl ReadPages,
    to: &impl WritePages,
    salt: u64,
) -> io::Result<Result<Repaired, Vec<Finding>>> {
    let from = Watched::new(from);
    let mut findings = Findings::default();
    let Some(mut salvage) = Salvage::new(&from, &mut findings)? else {
        return Ok(Err(findings.into_list()));
    };
    // An entry of the journal or the tables names a last operation, also if there was none.
    salvage.next_seq = salvage.next_seq.max(2);
    require_numbers(&salvage)?;
    let superblock = &salvage.superblock;
    let mut repair = Repair {
        builder: Builder::new(to, superblock, checkpoint(&salvage, salt))?,
        claimed: Places::new(superblock.nr_device_pages),
        used: Places::new(superblock.nr_device_pages),
        tallies: vec![Tally::default(); superblock.nr_segments() as usize],
        nr_mapped: 0,
        nr_found: 0,
        nr_made: 0,
        nr_dropped: 0,
        salvage: &salvage,
    };

    repair.claim();
    repair.write_map(&mut findings)?;
    for numbers in repair.write_summaries()?.chunks(MOST_SEGMENTS) {
        repair.mend_summaries(numbers)?;
    }
    if repair.nr_dropped != 0 {
        findings.add(Severity::Warning, Subject::MapEntry, || {
            format!(
                "{} entries of the map could not be and were left out.",
                repair.nr_dropped
            )
        });
    }
    let report = Report {
        nr_mapped: repair.nr_mapped,
        nr_map_pages_rebuilt: salvage.nr_inexact(),
        nr_lpns_found: repair.nr_found,
        nr_sums_made: repair.nr_made,
        nr_dropped: repair.nr_dropped,
        nr_lost: repair.nr_lost(),
        nr_failed_reads: from.nr_failed(),
        findings: findings.into_list(),
    };
    let segments = repair.segments();
    Ok(Ok(Repaired {
        report,
        used: repair.used,
        supers: repair.builder.finish(&segments)?,
    }))
}

/// Pages that are copied at once.
const COPY_PAGES: u64 = 256;

impl Repaired {
    /// Copy the data of all that is mapped. Returns how many pages could not be read: they are
    /// zero.
    ///
    /// # Errors
    ///
    /// When `to` fails.
    pub fn copy_data(&self, from: &impl ReadPages, to: &impl WritePages) -> io::Result<u64> {
        let mut run = 0..0;
        let mut nr_unread = 0;

        for dpn in self.used.iter() {
            if dpn == run.end && run.end - run.start < COPY_PAGES {
                run.end += 1;
                continue;
            }
            nr_unread += copy_run(from, to, run)?;
            run = dpn..dpn + 1;
        }
        nr_unread += copy_run(from, to, run)?;
        Ok(nr_unread)
    }

    /// From now on `to` is what it is to be.
    ///
    /// # Errors
    ///
    /// When it fails.
    pub fn finish(self, to: &impl WritePages) -> io::Result<Report> {
        self.supers.write(to)?;
        Ok(self.report)
    }
}

fn copy_run(from: &impl ReadPages, to: &impl WritePages, run: Range<u64>) -> io::Result<u64> {
    let nr_pages = run.end.saturating_sub(run.start) as usize;
    let mut bytes = vec![0; nr_pages * BLOCK_BYTES];
    let mut nr_unread = 0;

    if from.read(run.start, &mut bytes).is_err() {
        for (dpn, page) in run.clone().zip(bytes.chunks_exact_mut(BLOCK_BYTES)) {
            if from.read(dpn, page).is_err() {
                page.fill(0);
                nr_unread += 1;
            }
        }
    }
    to.write(run.start, &bytes)?;
    Ok(nr_unread)
}
