// SPDX-License-Identifier: GPL-2.0-only
//! How an SSD lays consecutive pages over its dies, from how long reads take.
//!
//! Pages on one die are read one after the other, those on several at once. So some pages at
//! a constant distance from each other take longest when that distance is the stripe, or a
//! multiple of it (FAST'24, section 3.2 and Fig. 8): they are all on one die. Once the stripe is known,
//! any two offsets in it can be asked whether they share a die, and where two neighbours do
//! not, a unit ends.
//!
//! Everything here works on times; who takes them is behind [`Reads`].

mod measure;
pub mod random;
mod stripe;
pub mod svg;
mod unit;

use std::io;

use serde::Serialize;
use thiserror::Error;

use crate::units::PAGE_BYTES;
use measure::Measure;
use unit::Checks;

/// Reads that are sent at once while distances are tried.
const SCAN_READS: u64 = 16;

/// The least share of predictions of a kind, in thousandths, that must come true.
const LEAST_SURE_PERMILLE: u64 = 900;

#[derive(Debug, Error)]
pub enum ProbeError {
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Whoever watches does not want more.
    #[error("interrupted")]
    Interrupted,
}

/// Something that reads pages.
pub trait Reads {
    /// Read these pages at once; returns the nanoseconds until the last one was there.
    ///
    /// # Errors
    ///
    /// When a page cannot be read.
    fn time(&mut self, pages: &[u64]) -> io::Result<u64>;
}

/// What is being done.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Step {
    /// So many distances have been tried, of so many at most.
    Distances(u64, u64),
    /// Where units end, by at most so many questions.
    Units(u64),
    /// So many predictions.
    Checks(u64),
}

/// Called between reads; false ends the work.
pub type Watch<'a> = dyn FnMut(Step) -> bool + 'a;

/// What a distance has given.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct Point {
    pub interval_bytes: u64,
    /// Median time for all reads of a group.
    pub group_ns: u64,
}

impl Point {
    /// Throughput in 10^6 bytes/s.
    #[must_use]
    pub fn mb_per_s(&self) -> u64 {
        SCAN_READS * PAGE_BYTES * 1000 / self.group_ns.max(1)
    }
}

/// How pages are laid over dies.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct Found {
    pub stripe_bytes: u64,
    /// `None`: units are not all of one size.
    pub unit_bytes: Option<u64>,
    pub nr_dies: Option<u64>,
    /// The first place in the range where a unit begins.
    pub first_unit_bytes: Option<u64>,
    /// Time that one more read on the same die takes.
    pub read_ns: u64,
    /// Predictions of whether reads collide, and how many were right.
    pub checks: u64,
    pub checks_right: u64,
}

impl Found {
    #[must_use]
    pub fn sure_permille(&self) -> u64 {
        self.checks_right * 1000 / self.checks.max(1)
    }
}

/// Why nothing can be said.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
pub enum Refusal {
    #[error("reads take about as long at any distance ({fastest_us} to {slowest_us} us for {SCAN_READS} of them), so no two seem to meet on a die")]
    Flat { fastest_us: u64, slowest_us: u64 },
    #[error("some distances are slower than others, but none of up to {} KiB is so again at its multiples", .most_bytes / 1024)]
    NoPeriod { most_bytes: u64 },
    #[error("a stripe of {} KiB looked likely, but only {right} of {checks} predictions made with it came true", .stripe_bytes / 1024)]
    Unsure {
        stripe_bytes: u64,
        checks: u64,
        right: u64,
    },
}

/// All that came out.
#[derive(Debug)]
pub struct Outcome {
    pub curve: Vec<Point>,
    pub found: Result<Found, Refusal>,
}

/// Fewer pages than this are not enough for anything.
pub const LEAST_PAGES: u64 = 1024;

fn points(curve: &[u64]) -> Vec<Point> {
    (1..)
        .zip(curve)
        .map(|(distance, ns)| Point {
            interval_bytes: distance * PAGE_BYTES,
            group_ns: *ns,
        })
        .collect()
}

/// Find out how `nr_pages` consecutive pages are laid over dies.
///
/// # Errors
///
/// When a page cannot be read, or `watch` says so.
pub fn probe(
    reads: &mut dyn Reads,
    nr_pages: u64,
    watch: &mut Watch,
) -> Result<Outcome, ProbeError> {
    let mut measure = Measure::new(reads, nr_pages, watch);
    let mut curve = Vec::new();

    let found = match stripe::find(&mut measure, &mut curve)? {
        Err(refusal) => Err(refusal),
        Ok(stripe) => judge(&mut measure, stripe)?,
    };
    Ok(Outcome {
        curve: points(&curve),
        found,
    })
}

fn judge(measure: &mut Measure, stripe: u64) -> Result<Result<Found, Refusal>, ProbeError> {
    let mut meetings = unit::Meetings::new(measure, stripe)?;
    let units = meetings.units()?;
    let kinds = meetings.check(units)?;
    let found = Found {
        stripe_bytes: stripe * PAGE_BYTES,
        unit_bytes: units.map(|units| units.unit * PAGE_BYTES),
        nr_dies: units.map(|units| stripe / units.unit),
        first_unit_bytes: units.map(|units| units.first * PAGE_BYTES),
        read_ns: meetings.read_ns(),
        checks: kinds.iter().map(|kind| kind.made).sum(),
        checks_right: kinds.iter().map(|kind| kind.right).sum(),
    };
    Ok(verdict(found, &kinds))
}

/// What was found counts if enough of each kind of prediction came true.
fn verdict(found: Found, kinds: &[Checks]) -> Result<Found, Refusal> {
    let is_unsure = |kind: &&Checks| kind.right * 1000 < kind.made * LEAST_SURE_PERMILLE;

    match kinds.iter().find(is_unsure) {
        None => Ok(found),
        Some(kind) => Err(Refusal::Unsure {
            stripe_bytes: found.stripe_bytes,
            checks: kind.made,
            right: kind.right,
        }),
    }
}

#[cfg(test)]
mod tests;
