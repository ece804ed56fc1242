// SPDX-License-Identifier: GPL-2.0-only
//! Times of groups of reads: medians, at places that differ each time, so that neither a cache
//! nor a hiccup decides.

use super::random::Random;
use super::{ProbeError, Reads, Step, Watch};

pub struct Measure<'a> {
    reads: &'a mut dyn Reads,
    nr_pages: u64,
    watch: &'a mut Watch<'a>,
    random: Random,
}

/// The one in the middle; 0 of none.
pub fn median(mut times: Vec<u64>) -> u64 {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or(0)
}

impl<'a> Measure<'a> {
    pub fn new(reads: &'a mut dyn Reads, nr_pages: u64, watch: &'a mut Watch) -> Self {
        Self {
            reads,
            nr_pages,
            watch,
            random: Random::new(),
        }
    }

    pub fn nr_pages(&self) -> u64 {
        self.nr_pages
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.random.below(limit)
    }

    pub fn step(&mut self, step: Step) -> Result<(), ProbeError> {
        if (self.watch)(step) {
            Ok(())
        } else {
            Err(ProbeError::Interrupted)
        }
    }

    /// The largest distance at which so many reads fit, and can begin in different places.
    pub fn most_distance(&self, nr_reads: u64) -> u64 {
        (self.nr_pages - self.nr_pages / 8) / (nr_reads - 1).max(1)
    }

    /// The median time of groups of pages, each of which begins somewhere.
    pub fn group(&mut self, offsets: &[u64], rounds: u64) -> Result<u64, ProbeError> {
        let span = offsets.iter().copied().max().unwrap_or(0);
        let mut times = Vec::new();

        for _ in 0..rounds {
            let begin = self.random.below(self.nr_pages.saturating_sub(span));
            let pages: Vec<u64> = offsets.iter().map(|offset| begin + offset).collect();
            times.push(self.reads.time(&pages)?);
        }
        Ok(median(times))
    }

    /// The same for pages that are a distance apart.
    pub fn apart(&mut self, distance: u64, nr_reads: u64, rounds: u64) -> Result<u64, ProbeError> {
        let offsets: Vec<u64> = (0..nr_reads).map(|read| read * distance).collect();
        self.group(&offsets, rounds)
    }

    /// The time of pages in places that have nothing to do with each other.
    pub fn scattered(&mut self, nr_reads: u64, rounds: u64) -> Result<u64, ProbeError> {
        let mut times = Vec::new();

        for _ in 0..rounds {
            let pages: Vec<u64> = (0..nr_reads)
                .map(|_| self.random.below(self.nr_pages))
                .collect();
            times.push(self.reads.time(&pages)?);
        }
        Ok(median(times))
    }

    /// The time of exactly these pages.
    pub fn pages(&mut self, pages: &[u64]) -> Result<u64, ProbeError> {
        Ok(self.reads.time(pages)?)
    }
}
