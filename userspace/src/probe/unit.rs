// SPDX-License-Identifier: GPL-2.0-only
//! Which offsets in a stripe share a die, and where units end. What is found is used to predict
//! other times, and how many of these come true says how sure it is.

use super::measure::{median, Measure};
use super::{ProbeError, Step};

/// Reads in a question whether two offsets share a die: half at each, a stripe from each other.
const READS: u64 = 8;

const ROUNDS: u64 = 3;

/// Times are taken that often to know what sharing looks like.
const SURE_ROUNDS: u64 = 15;

/// Ends of units that are looked for.
const ENDS: usize = 4;

/// Predictions made with the units, and of each other kind.
const UNIT_CHECKS: u64 = 96;
const OTHER_CHECKS: u64 = 24;

/// Multiples of the stripe at which reads must not be slower than at the stripe, and what is slower.
const MULTIPLES: [u64; 3] = [1, 2, 3];
const SLOWER_PERCENT: u64 = 140;

/// Predictions of one kind, and those that came true.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Checks {
    pub made: u64,
    pub right: u64,
}

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

fn prime_factors(mut number: u64) -> Vec<u64> {
    let mut found = Vec::new();
    let mut factor = 2;

    while factor * factor <= number {
        if number % factor == 0 {
            found.push(factor);
            while number % factor == 0 {
                number /= factor;
            }
        }
        factor += 1;
    }
    if number > 1 {
        found.push(number);
    }
    found
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
        let offsets: Vec<u64> = (0..READS)
            .map(|read| read * self.stripe + if read % 2 == 0 { one } else { other })
            .collect();
        Ok(self.time_of(&offsets, rounds)? * 2 >= self.half_ns + self.all_ns)
    }

    /// The median time of pages at offsets, counted from where a stripe begins.
    fn time_of(&mut self, offsets: &[u64], rounds: u64) -> Result<u64, ProbeError> {
        let most = offsets.iter().copied().max().unwrap_or(0);
        let nr_places = self.measure.nr_pages().saturating_sub(most + 1) / self.stripe + 1;
        let mut times = Vec::new();

        for _ in 0..rounds {
            let begin = self.measure.below(nr_places) * self.stripe;
            let pages: Vec<u64> = offsets.iter().map(|offset| begin + offset).collect();
            times.push(self.measure.pages(&pages)?);
        }
        Ok(median(times))
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

    /// Predictions of several kinds. A pattern that lies over the stripe, such as every fourth unit
    /// being elsewhere, makes a multiple or a part of it look like it: most of what a wrong one predicts
    /// comes true, but not all of a kind.
    pub fn check(&mut self, units: Option<Units>) -> Result<Vec<Checks>, ProbeError> {
        let grain = units.map_or(1, |units| units.unit);
        let factors = prime_factors(self.stripe / grain);
        let total = UNIT_CHECKS + OTHER_CHECKS * (1 + factors.len() as u64);
        let mut kinds = Vec::new();

        kinds.push(self.count(UNIT_CHECKS, total, |meetings, check| {
            let (one, other, do_meet) = meetings.prediction(units, check);
            Ok(meetings.meet(one, other, ROUNDS)? == do_meet)
        })?);
        kinds.push(self.count(OTHER_CHECKS, total, Self::multiple_is_no_slower)?);
        // In a multiple of the stripe, what lies a stripe apart would meet.
        for factor in factors {
            let part = self.stripe / factor;
            kinds.push(self.count(OTHER_CHECKS, total, |meetings, _| {
                let one = meetings.measure.below(meetings.stripe - part);
                Ok(!meetings.meet(one, one + part, ROUNDS)?)
            })?);
        }
        Ok(kinds)
    }

    /// Make so many predictions, of `total` that there are in all.
    fn count(
        &mut self,
        made: u64,
        total: u64,
        mut came_true: impl FnMut(&mut Self, u64) -> Result<bool, ProbeError>,
    ) -> Result<Checks, ProbeError> {
        let mut right = 0;

        for check in 0..made {
            self.measure.step(Step::Checks(total))?;
            right += u64::from(came_true(self, check)?);
        }
        Ok(Checks { made, right })
    }

    /// At a multiple of the stripe all reads are on one die, as at the stripe; at one of half a
    /// stripe there would be more of them.
    fn multiple_is_no_slower(&mut self, check: u64) -> Result<bool, ProbeError> {
        let one = self.measure.below(self.stripe);
        let most = (self.measure.nr_pages() - one) / ((READS - 1) * self.stripe + 1);
        let multiple = *MULTIPLES
            .get(check as usize % MULTIPLES.len())
            .filter(|multiple| **multiple <= most)
            .unwrap_or(&1);
        let offsets: Vec<u64> = (0..READS)
            .map(|read| one + read * multiple * self.stripe)
            .collect();
        Ok(self.time_of(&offsets, ROUNDS)? * 100 < self.all_ns * SLOWER_PERCENT)
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
    use super::{prime_factors, size_of, Units};

    #[test]
    fn prime_factors_are_named_once() {
        for (number, factors) in [
            (1, &[][..]),
            (2, &[2]),
            (64, &[2]),
            (90, &[2, 3, 5]),
            (73, &[73]),
            (18 * 19, &[2, 3, 19]),
        ] {
            assert_eq!(prime_factors(number), factors);
        }
    }

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
