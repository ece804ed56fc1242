// SPDX-License-Identifier: GPL-2.0-only
//! Which offsets in a stripe share a die, and where units end.

use super::measure::{median, Measure};
use super::{ProbeError, Step};

/// Reads in a question whether two offsets share a die: half at each, a stripe from each other.
const READS: u64 = 8;

const ROUNDS: u64 = 3;

/// Times are taken that often to know what sharing looks like.
const SURE_ROUNDS: u64 = 15;

/// Ends of units that are looked for.
const ENDS: usize = 4;

const CHECKS: u64 = 96;

/// How units lie, in pages.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Units {
    pub unit: u64,
    /// Where the first one begins that begins in the range.
    pub first: u64,
}

pub struct Meetings<'m, 'a> {
    measure: &'m mut Measure<'a>,
    stripe: u64,
    /// Half the reads on one die, and all of them.
    half_ns: u64,
    all_ns: u64,
}

/// The size of units by some of their ends, nearest first; an end is the last page.
fn size_of(ends: &[u64], stripe: u64) -> Option<Units> {
    let gaps: Vec<u64> = ends
        .iter()
        .zip(ends.iter().skip(1))
        .map(|(one, next)| next - one)
        .collect();
    let unit = *gaps.first()?;

    (gaps.iter().all(|gap| *gap == unit) && stripe % unit == 0).then(|| Units {
        unit,
        first: ends.first().map_or(0, |end| (end + 1) % unit),
    })
}

impl<'m, 'a> Meetings<'m, 'a> {
    pub fn new(measure: &'m mut Measure<'a>, stripe: u64) -> Result<Self, ProbeError> {
        let half_ns = measure.apart(stripe, READS / 2, SURE_ROUNDS)?;
        let all_ns = measure.apart(stripe, READS, SURE_ROUNDS)?;
        Ok(Self {
            measure,
            stripe,
            half_ns,
            all_ns,
        })
    }

    /// Time that one more read on the same die takes.
    pub fn read_ns(&self) -> u64 {
        self.all_ns.saturating_sub(self.half_ns) / (READS / 2)
    }

    /// Do two offsets, counted from the beginning of the range, share a die?
    fn meet(&mut self, one: u64, other: u64, rounds: u64) -> Result<bool, ProbeError> {
        let most = one.max(other) + READS * self.stripe;
        let nr_places = self.measure.nr_pages().saturating_sub(most) / self.stripe + 1;
        let mut times = Vec::new();

        for _ in 0..rounds {
            let begin = self.measure.below(nr_places) * self.stripe;
            let pages: Vec<u64> = (0..READS)
                .map(|read| begin + read * self.stripe + if read % 2 == 0 { one } else { other })
                .collect();
            times.push(self.measure.pages(&pages)?);
        }
        Ok(median(times) * 2 >= self.half_ns + self.all_ns)
    }

    /// `None`: they are not all of one size.
    pub fn units(&mut self) -> Result<Option<Units>, ProbeError> {
        for rounds in [ROUNDS, 3 * ROUNDS] {
            let ends = self.ends(rounds)?;
            if let Some(units) = size_of(&ends, self.stripe) {
                return Ok(Some(units));
            }
        }
        Ok(None)
    }

    /// Pages whose successor is on another die.
    fn ends(&mut self, rounds: u64) -> Result<Vec<u64>, ProbeError> {
        let mut ends = Vec::new();

        // A stripe of two units has two ends, and the third shows that they repeat.
        for page in 0..2 * self.stripe {
            self.measure.step(Step::Units(2 * self.stripe))?;
            if !self.meet(page, page + 1, rounds)? {
                ends.push(page);
            }
            if ends.len() == ENDS {
                break;
            }
        }
        Ok(ends)
    }

    /// Predictions that were made, and those that came true.
    pub fn check(&mut self, units: Option<Units>) -> Result<(u64, u64), ProbeError> {
        let mut right = 0;

        for check in 0..CHECKS {
            self.measure.step(Step::Checks(CHECKS))?;
            let (one, other, do_meet) = self.prediction(units, check);
            if self.meet(one, other, ROUNDS)? == do_meet {
                right += 1;
            }
        }
        Ok((CHECKS, right))
    }

    /// Two offsets and whether they should share a die.
    fn prediction(&mut self, units: Option<Units>, check: u64) -> (u64, u64, bool) {
        let one = self.measure.below(self.stripe);
        let Some(Units { unit, first }) = units else {
            return (one, one, true);
        };
        let nr_dies = self.stripe / unit;
        let begin = first + one / unit * unit;
        let next = begin + unit * (1 + self.measure.below(nr_dies - 1));

        match check % 4 {
            // Within a unit, at its ends and anywhere
            0 => (begin, begin + unit - 1, true),
            1 => (begin, begin + self.measure.below(unit), true),
            // Across the end of one, and far away
            2 => (begin + unit - 1, begin + unit, false),
            _ => (begin + self.measure.below(unit), next, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{size_of, Units};

    #[test]
    fn units_of_one_size_are_known_by_their_ends() {
        let units = |unit, first| Some(Units { unit, first });
        assert_eq!(size_of(&[7, 15, 23], 64), units(8, 0));
        assert_eq!(size_of(&[2, 10, 18], 64), units(8, 3));
        assert_eq!(size_of(&[0, 1, 2, 3], 8), units(1, 0));
        assert_eq!(size_of(&[7, 15, 24], 64), None);
        assert_eq!(size_of(&[7, 15, 23], 60), None);
        assert_eq!(size_of(&[7], 64), None);
        assert_eq!(size_of(&[], 64), None);
    }
}
