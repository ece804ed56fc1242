// SPDX-License-Identifier: GPL-2.0-only
//! How much longer some reads take than others, and how sure that is.
//!
//! A hiccup of a drive makes one read a hundred times as long, so of each window's rounds the median
//! counts. Windows differ for good, and a reader has to wait for all of them: of these the mean
//! counts. The interval is a bootstrap over windows: they are drawn again, with those that are drawn
//! twice and those that are not, and the ratio is taken again, many times. No shape of the times is
//! assumed. Rounds are not drawn: what they vary by is in the medians, which vary from window to
//! window as well, and a hiccup that is drawn thrice would be the median.

use serde::Serialize;

use crate::probe::random::Random;

/// How often is drawn.
const DRAWS: usize = 2000;

/// Of the ratios that were drawn so many are left out at each end: half a percent, so that an interval
/// of one look is of 99 percent, and of five looks together of 95.
const OUTSIDE: usize = DRAWS / 200;

/// A ratio in thousandths: what was measured, and between what it lies.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct Interval {
    pub low_permille: u64,
    pub mid_permille: u64,
    pub high_permille: u64,
}

impl Interval {
    #[must_use]
    pub fn of(low_permille: u64, mid_permille: u64, high_permille: u64) -> Self {
        Self {
            low_permille,
            mid_permille,
            high_permille,
        }
    }

    /// Of numbers that were drawn, and the one that was measured.
    fn from(mut drawn: Vec<u64>, measured: u64) -> Self {
        drawn.sort_unstable();
        let at = |index: usize| drawn.get(index).copied().unwrap_or(measured);
        Self {
            low_permille: at(OUTSIDE).min(measured),
            mid_permille: measured,
            high_permille: at(drawn.len().saturating_sub(1 + OUTSIDE)).max(measured),
        }
    }
}

/// Does a drive answer quickly what it has read before? Then only the first read of each window says how
/// long it takes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Memory {
    #[default]
    None,
    Some,
}

/// What first reads take by second ones, so that a drive has a memory: this is certain, and more than a
/// drive that wakes up makes of it.
const REMEMBERED_PERMILLE: u64 = 1030;

/// Times of windows, each of several rounds, in ns.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Times(pub Vec<Vec<u64>>);

/// The one in the middle; of an even number the shorter of two, since a hiccup only makes them longer.
fn median(times: &mut [u64]) -> u64 {
    times.sort_unstable();
    let half = times.len().saturating_sub(1) / 2;
    times.get(half).copied().unwrap_or(0)
}

/// Which windows have been drawn.
fn draw(nr: usize, random: &mut Random) -> Vec<usize> {
    (0..nr).map(|_| random.below(nr as u64) as usize).collect()
}

impl Times {
    /// Of each window.
    fn medians(&self) -> Vec<u64> {
        let rounds = self.0.iter();
        rounds.map(|rounds| median(&mut rounds.clone())).collect()
    }

    /// The mean time of a window.
    #[must_use]
    pub fn mean_ns(&self) -> u64 {
        mean(&self.medians())
    }

    /// Some of the rounds.
    fn rounds(&self, from: usize, step: usize, most: usize) -> Self {
        let some = |rounds: &Vec<u64>| {
            let list = rounds.iter().skip(from).step_by(step);
            list.take(most).copied().collect()
        };
        Self(self.0.iter().map(some).collect())
    }

    /// The first read of each window.
    #[must_use]
    pub fn first(&self) -> Self {
        self.rounds(0, 1, 1)
    }

    /// Rounds that say how long windows take, and others that say which of them are slow: two halves,
    /// taken by turns.
    fn halves(&self, memory: Memory) -> (Self, Self) {
        match memory {
            Memory::None => (self.rounds(0, 2, usize::MAX), self.rounds(1, 2, usize::MAX)),
            Memory::Some => (self.first(), self.rounds(1, 1, usize::MAX)),
        }
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty() || self.0.iter().any(Vec::is_empty)
    }
}

fn mean(times: &[u64]) -> u64 {
    let sum = times
        .iter()
        .fold(0u64, |sum, time| sum.saturating_add(*time));
    sum.checked_div(times.len() as u64).unwrap_or_default()
}

/// The mean of windows that have been drawn.
fn drawn_mean(medians: &[u64], windows: &[usize]) -> u64 {
    let drawn = windows.iter().filter_map(|window| medians.get(*window));
    let sum = drawn.fold(0u64, |sum, time| sum.saturating_add(*time));
    sum.checked_div(windows.len() as u64).unwrap_or_default()
}

fn ratio(one: u64, other: u64) -> u64 {
    let permille = u128::from(one) * 1000 / u128::from(other.max(1));
    u64::try_from(permille).unwrap_or(u64::MAX)
}

/// How much longer windows take than others. `None`: there are no times.
#[must_use]
pub fn compare(slow: &Times, fast: &Times) -> Option<Interval> {
    if slow.is_empty() || fast.is_empty() {
        return None;
    }
    let mut random = Random::new();
    let (slow, fast) = (slow.medians(), fast.medians());
    let drawn = (0..DRAWS).map(|_| {
        let slow_ns = drawn_mean(&slow, &draw(slow.len(), &mut random));
        ratio(slow_ns, drawn_mean(&fast, &draw(fast.len(), &mut random)))
    });

    Some(Interval::from(
        drawn.collect(),
        ratio(mean(&slow), mean(&fast)),
    ))
}

/// Whether what was read before is read more quickly: each window by itself, the first time by the second.
#[must_use]
pub fn memory(times: &[&Times]) -> Memory {
    let windows = || times.iter().flat_map(|times| &times.0);
    let of_round = |round: usize| -> Vec<u64> {
        let all = windows();
        all.filter_map(|rounds| rounds.get(round).copied())
            .collect()
    };
    let (first, second) = (of_round(0), of_round(1));
    if first.is_empty() || first.len() != second.len() {
        return Memory::None;
    }
    let mut random = Random::new();
    let drawn = (0..DRAWS).map(|_| {
        let some = draw(first.len(), &mut random);
        ratio(drawn_mean(&first, &some), drawn_mean(&second, &some))
    });
    let found = Interval::from(drawn.collect(), ratio(mean(&first), mean(&second)));

    if found.low_permille > REMEMBERED_PERMILLE {
        Memory::Some
    } else {
        Memory::None
    }
}

/// What makes the difference between files in pieces and in one.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct Parts {
    /// All of it: read at once, by what the same takes of files in one piece.
    pub total: Interval,
    /// What is left of it if both are read with the same requests: where pages lie.
    pub places: Interval,
    /// The rest: that one request becomes many.
    pub splitting: Interval,
    /// Places by splitting: over 1000 if places cost more.
    pub places_by_splitting: Interval,
}

impl Parts {
    /// What better places can give. Of a drive that remembers what it has read, what was read piece by
    /// piece says more than comes of first reads, which is `total`.
    #[must_use]
    pub fn most_of_places(&self, memory: Memory) -> Interval {
        let (places, total) = (self.places, self.total);
        match memory {
            Memory::None => places,
            Memory::Some => Interval {
                low_permille: places.low_permille.min(total.low_permille),
                mid_permille: places.mid_permille.min(total.mid_permille),
                high_permille: places.high_permille.min(total.high_permille),
            },
        }
    }
}

/// Four ways in which the same bytes were read.
#[derive(Clone, Copy, Debug)]
pub struct Ways<'a> {
    /// Windows in pieces, each read at once, and read piece by piece.
    pub as_is: &'a Times,
    pub pieces: &'a Times,
    /// Windows in one piece, each read at once, and with the requests of one that is in pieces.
    pub whole: &'a Times,
    pub whole_pieces: &'a Times,
}

/// The difference, and its parts. The same windows are drawn for both ways of reading them, so that
/// what windows differ by does not count twice. `None`: there are no times.
#[must_use]
pub fn parts(ways: &Ways) -> Option<Parts> {
    let all = [ways.as_is, ways.pieces, ways.whole, ways.whole_pieces];
    if all.iter().any(|times| times.is_empty()) {
        return None;
    }
    let mut random = Random::new();
    let shares = |[as_is, pieces, whole, whole_pieces]: [u64; 4]| {
        let (total, places) = (ratio(as_is, whole), ratio(pieces, whole_pieces));
        let splitting = ratio(total, places);
        [total, places, splitting, ratio(places, splitting)]
    };
    let mut drawn: [Vec<u64>; 4] = Default::default();

    let medians = all.map(Times::medians);
    let [as_is, pieces, whole, whole_pieces] = &medians;
    for _ in 0..DRAWS {
        let some = draw(as_is.len(), &mut random);
        let others = draw(whole.len(), &mut random);
        let means = [
            drawn_mean(as_is, &some),
            drawn_mean(pieces, &some),
            drawn_mean(whole, &others),
            drawn_mean(whole_pieces, &others),
        ];
        for (list, share) in drawn.iter_mut().zip(shares(means)) {
            list.push(share);
        }
    }
    let [total, places, splitting, by] = shares(medians.each_ref().map(|medians| mean(medians)));
    let [drawn_total, drawn_places, drawn_splitting, drawn_by] = drawn;
    Some(Parts {
        total: Interval::from(drawn_total, total),
        places: Interval::from(drawn_places, places),
        splitting: Interval::from(drawn_splitting, splitting),
        places_by_splitting: Interval::from(drawn_by, by),
    })
}

/// How much longer the slowest quarter of windows takes than the fastest one. Which those are is said by
/// some rounds, and how long they take by others: of times that differ by chance alone, the slowest
/// of some rounds are not the slowest of others. `None`: there are too few times.
#[must_use]
pub fn unevenness(times: &Times, memory: Memory) -> Option<Interval> {
    let (measuring, ranking) = times.halves(memory);
    let quarter = times.0.len() / 4;
    if quarter == 0 || measuring.is_empty() || ranking.is_empty() {
        return None;
    }
    let mut order: Vec<_> = ranking
        .0
        .into_iter()
        .zip(measuring.0)
        .map(|(mut rank, times)| (median(&mut rank), times))
        .collect();
    order.sort_by_key(|(rank, _)| *rank);
    let all: Vec<_> = order.into_iter().map(|(_, times)| times).collect();
    let fast = all.iter().take(quarter).cloned().collect();
    let slow = all.iter().rev().take(quarter).cloned().collect();

    compare(&Times(slow), &Times(fast))
}

#[cfg(test)]
mod tests {
    use super::{compare, median, memory, parts, unevenness, Interval, Memory, Parts, Times, Ways};
    use crate::probe::random::Random;

    /// Windows of a mean time, that differ by some percent, and so do their rounds; each fiftieth read
    /// is a hiccup.
    fn times(random: &mut Random, mean: u64, nr: usize, windows: u64, rounds: u64) -> Times {
        let mut about = |mean: u64, percent: u64| {
            let most = mean * percent / 100;
            mean - most + random.below(2 * most + 1)
        };
        let mut list = Vec::new();
        for _ in 0..nr {
            let window = about(mean, windows);
            let mut times = Vec::new();
            for _ in 0..7 {
                let time = about(window, rounds);
                times.push(if time % 50 == 0 { 100 * time } else { time });
            }
            list.push(times);
        }
        Times(list)
    }

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&mut []), 0);
        assert_eq!(median(&mut [5]), 5);
        assert_eq!(median(&mut [9, 1, 5]), 5);
        assert_eq!(median(&mut [9, 1, 5, 7]), 5);
    }

    /// An interval of 99 percent has the truth nearly always, and is no wider than it has to be.
    #[test]
    fn intervals_have_the_truth() {
        let mut random = Random::new();
        let (mut inside, mut width) = (0, 0);
        for _ in 0..200 {
            let slow = times(&mut random, 2_000_000, 24, 40, 20);
            let fast = times(&mut random, 1_000_000, 24, 10, 20);
            let found = compare(&slow, &fast).unwrap();
            inside += u64::from((found.low_permille..=found.high_permille).contains(&2000));
            width += found.high_permille - found.low_permille;
        }
        assert!((194..=200).contains(&inside), "{inside}");
        assert!((200..800).contains(&(width / 200)), "{}", width / 200);
    }

    #[test]
    fn what_is_the_same_is_not_found_to_differ() {
        let mut random = Random::new();
        for _ in 0..100 {
            let one = times(&mut random, 1_000_000, 16, 5, 10);
            let other = times(&mut random, 1_000_000, 16, 5, 10);
            let found = compare(&one, &other).unwrap();
            assert!(found.low_permille < 1030 && found.high_permille > 970);
            assert!(found.low_permille > 900 && found.high_permille < 1100);
            assert!(unevenness(&one, Memory::None).unwrap().high_permille < 1200);
        }
    }

    #[test]
    fn nothing_comes_of_nothing() {
        let some = Times(vec![vec![1, 2], vec![3, 4]]);
        for none in [Times(vec![]), Times(vec![vec![1], vec![]])] {
            assert_eq!(compare(&some, &none), None);
            assert_eq!(compare(&none, &some), None);
            assert_eq!(unevenness(&none, Memory::None), None);
            let ways = Ways {
                as_is: &some,
                pieces: &some,
                whole: &some,
                whole_pieces: &none,
            };
            assert!(parts(&ways).is_none());
        }
        let zero = Times(vec![vec![0; 3]; 8]);
        assert_eq!(compare(&zero, &zero), Some(Interval::of(0, 0, 0)));
    }

    #[test]
    fn splitting_and_places_are_told_apart() {
        let mut random = Random::new();
        let mut about = |mean| times(&mut random, mean, 16, 5, 5);
        // Requests cost half as much again, places three times as much.
        let (whole, cut, scattered) = (about(1_000_000), about(1_500_000), about(4_500_000));
        let ways = Ways {
            as_is: &scattered,
            pieces: &scattered,
            whole: &whole,
            whole_pieces: &cut,
        };
        let parts = parts(&ways).unwrap();
        for (found, truth) in [
            (parts.total, 4500),
            (parts.places, 3000),
            (parts.splitting, 1500),
            (parts.places_by_splitting, 2000),
        ] {
            assert!(found.low_permille * 100 < truth * 104, "{found:?} {truth}");
            assert!(found.high_permille * 100 > truth * 96, "{found:?} {truth}");
            assert!(found.low_permille * 100 > truth * 80, "{found:?} {truth}");
            assert!(found.high_permille * 100 < truth * 120, "{found:?} {truth}");
        }
    }

    #[test]
    fn windows_that_are_slow_in_each_round_are_found() {
        let mut random = Random::new();
        let (mut sum, mut near) = (0, 0);
        for _ in 0..100 {
            let mut list = times(&mut random, 1_000_000, 12, 5, 10).0;
            list.extend(times(&mut random, 3_000_000, 4, 5, 10).0);
            let found = unevenness(&Times(list), Memory::None).unwrap();
            sum += found.mid_permille;
            near += u64::from(found.low_permille > 2500 && found.high_permille < 3800);
        }
        // The fastest third of the others takes 97 percent of their mean. Where two of the three rounds
        // that rank have a hiccup, a window is taken for a slow one.
        assert!((3000..3200).contains(&(sum / 100)), "{}", sum / 100);
        assert!((95..=100).contains(&near), "{near}");
        assert_eq!(unevenness(&Times(vec![vec![1; 5]; 3]), Memory::None), None);
        assert_eq!(unevenness(&Times(vec![vec![1]; 8]), Memory::None), None);
    }

    #[test]
    fn what_is_read_again_more_quickly_is_remembered() {
        let mut random = Random::new();
        let (mut found, mut false_alarms) = (0, 0);
        for _ in 0..100 {
            let cold = times(&mut random, 1_500_000, 40, 5, 5);
            false_alarms += u64::from(memory(&[&cold]) == Memory::Some);
            // A die has only what it read last, so that half of all are read quickly.
            let mut warm = cold.clone();
            for (at, rounds) in warm.0.iter_mut().enumerate() {
                for (round, time) in rounds.iter_mut().enumerate() {
                    *time /= if round > 0 && (at + round) % 2 == 0 {
                        2
                    } else {
                        1
                    };
                }
            }
            found += u64::from(memory(&[&Times::default(), &warm]) == Memory::Some);
        }
        // A hiccup is a hundred times what a die remembers.
        assert!(found > 30, "{found}");
        assert!(false_alarms < 3, "{false_alarms}");

        let list = |rounds: &[u64]| Times(vec![rounds.to_vec(); 8]);
        assert_eq!(memory(&[&list(&[30, 20, 20])]), Memory::Some);
        assert_eq!(memory(&[&list(&[20, 20, 20])]), Memory::None);
        assert_eq!(memory(&[&list(&[30])]), Memory::None);
        assert_eq!(memory(&[]), Memory::None);
        assert_eq!(list(&[30, 20, 20]).first(), list(&[30]));
    }

    #[test]
    fn places_give_no_more_than_all_does() {
        let of = |total, places| Parts {
            total: Interval::of(total - 10, total, total + 10),
            places: Interval::of(places - 10, places, places + 10),
            splitting: Interval::of(0, 0, 0),
            places_by_splitting: Interval::of(0, 0, 0),
        };
        let most = |total, places, memory| of(total, places).most_of_places(memory).mid_permille;
        assert_eq!(most(3000, 2000, Memory::Some), 2000);
        assert_eq!(most(2000, 3000, Memory::Some), 2000);
        assert_eq!(most(2000, 3000, Memory::None), 3000);
    }

    #[test]
    fn with_a_memory_windows_are_slow_that_were_so_at_first() {
        let window = |first: u64, then: u64| vec![first, then, then, then];
        // Four that are slow always, and four that are remembered
        let list = [[(30, 30); 4], [(30, 10); 4], [(31, 11); 4]].concat();
        let times = Times(list.iter().map(|(a, b)| window(*a, *b)).collect());
        let of = |memory| unevenness(&times, memory).unwrap().mid_permille;
        assert!(of(Memory::None) > 1400);
        assert_eq!(of(Memory::Some), 1000);
    }
}
