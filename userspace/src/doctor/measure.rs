// SPDX-License-Identifier: GPL-2.0-only
//! The order in which windows are timed, and when there are enough times. In a round each is read once,
//! in an order that is drawn anew: what else the drive does in the meantime, or a drive that becomes
//! warm, meets all kinds alike. But in the first round nothing is read before it is read at once: a
//! drive may remember what it has read.

use super::stats::{Memory, Times};
use crate::probe::random::Random;

/// After so many rounds it is asked whether the answer is clear. Five looks with intervals of 99
/// percent are wrong no more often than one of 95.
const LOOKS: [usize; 5] = [3, 5, 8, 11, 15];

/// What is read, and how.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// In pieces: at once, and piece by piece.
    AsIs,
    Pieces,
    /// In one piece: at once, and with the requests of one in pieces.
    Whole,
    WholePieces,
    /// The same of a file that was written just before.
    Own,
    OwnPieces,
}

impl Kind {
    /// As a program reads it.
    #[must_use]
    pub fn is_at_once(self) -> bool {
        matches!(self, Self::AsIs | Self::Whole | Self::Own)
    }
}

/// A window of a kind, by the caller's count.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Job {
    pub kind: Kind,
    pub window: usize,
}

/// Times of all jobs, in complete rounds.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    jobs: Vec<Job>,
    rounds: Vec<Vec<u64>>,
}

impl Samples {
    #[must_use]
    pub fn nr_rounds(&self) -> usize {
        self.rounds.len()
    }

    /// The times of a kind's windows, in their order; of none before the first round has ended.
    #[must_use]
    pub fn of(&self, kind: Kind) -> Times {
        if self.rounds.is_empty() {
            return Times::default();
        }
        let jobs = self.jobs.iter().enumerate();
        let of_kind = jobs.filter(|(_, job)| job.kind == kind);
        Times(
            of_kind
                .map(|(index, _)| {
                    let rounds = self.rounds.iter();
                    rounds
                        .filter_map(|round| round.get(index).copied())
                        .collect()
                })
                .collect(),
        )
    }

    /// Those of them that say how long it takes. Of a drive that remembers, what was read piece by piece
    /// had been read before, whatever it was.
    #[must_use]
    pub fn that_count(&self, kind: Kind, memory: Memory) -> Times {
        match memory {
            Memory::Some if kind.is_at_once() => self.of(kind).first(),
            _ => self.of(kind),
        }
    }
}

/// Time jobs until `is_clear`, or there are enough rounds. `read` gives the nanoseconds that a job has
/// taken, or `None` if there is no time left: the round that it belongs to does not count.
///
/// # Errors
///
/// What `read` says.
pub fn measure<E>(
    jobs: &[Job],
    read: &mut dyn FnMut(Job) -> Result<Option<u64>, E>,
    is_clear: &mut dyn FnMut(&Samples) -> bool,
) -> Result<Samples, E> {
    let mut random = Random::new();
    let mut samples = Samples {
        jobs: jobs.to_vec(),
        rounds: Vec::new(),
    };
    let most = LOOKS.last().copied().unwrap_or(0);

    if jobs.is_empty() {
        return Ok(samples);
    }
    while samples.rounds.len() < most {
        let all: Vec<(usize, Job)> = jobs.iter().copied().enumerate().collect();
        let (first, then) = if samples.rounds.is_empty() {
            all.into_iter().partition(|(_, job)| job.kind.is_at_once())
        } else {
            (all, Vec::new())
        };
        let mut round = vec![0; jobs.len()];
        for mut left in [first, then] {
            while !left.is_empty() {
                let (index, job) = left.swap_remove(random.below(left.len() as u64) as usize);
                let Some(took_ns) = read(job)? else {
                    return Ok(samples);
                };
                if let Some(time) = round.get_mut(index) {
                    *time = took_ns;
                }
            }
        }
        samples.rounds.push(round);
        if LOOKS.contains(&samples.rounds.len()) && is_clear(&samples) {
            break;
        }
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::{measure, Job, Kind, Samples};

    fn jobs() -> Vec<Job> {
        let job = |(kind, window)| Job { kind, window };
        [
            (Kind::Pieces, 0),
            (Kind::Pieces, 1),
            (Kind::Whole, 0),
            (Kind::Whole, 1),
            (Kind::Whole, 2),
        ]
        .map(job)
        .to_vec()
    }

    /// Times that say which job it was, and in which read of all.
    fn run(most_reads: u64, clear_after: usize) -> (Samples, Vec<Job>) {
        let mut done = Vec::new();
        let samples = measure::<()>(
            &jobs(),
            &mut |job| {
                done.push(job);
                let nr = done.len() as u64;
                let kind = if job.kind == Kind::Pieces { 100 } else { 0 };
                Ok((nr <= most_reads).then_some(kind + job.window as u64))
            },
            &mut |samples| samples.nr_rounds() >= clear_after,
        );
        (samples.unwrap(), done)
    }

    #[test]
    fn each_round_has_each_job_once_in_another_order() {
        let (samples, done) = run(u64::MAX, usize::MAX);
        assert_eq!((samples.nr_rounds(), done.len()), (15, 75));
        for round in done.chunks(5) {
            assert!(jobs().iter().all(|job| round.contains(job)));
        }
        let orders: Vec<_> = done.chunks(5).collect();
        let (at_once, by_piece) = orders[0].split_at(3);
        assert!(at_once.iter().all(|job| job.kind == Kind::Whole));
        assert!(by_piece.iter().all(|job| job.kind == Kind::Pieces));
        assert!(orders.iter().any(|order| order[0].kind == Kind::Pieces));
        assert!(orders.windows(2).any(|pair| pair[0] != pair[1]));
        assert_eq!(samples.of(Kind::Pieces).0, [vec![100; 15], vec![101; 15]]);
        assert_eq!(
            samples.of(Kind::Whole).0,
            [vec![0; 15], vec![1; 15], vec![2; 15]]
        );
        assert!(samples.of(Kind::Own).0.is_empty());
    }

    #[test]
    fn it_ends_when_it_is_clear_or_time_is_up() {
        assert_eq!(run(u64::MAX, 1).0.nr_rounds(), 3);
        assert_eq!(run(u64::MAX, 4).0.nr_rounds(), 5);
        // A round that has not ended does not count.
        assert_eq!(run(34, 99).0.nr_rounds(), 6);
        assert_eq!(run(34, 99).1.len(), 35);
        let (samples, _) = run(4, 1);
        assert_eq!(
            (samples.nr_rounds(), samples.of(Kind::Pieces).0.len()),
            (0, 0)
        );
    }

    #[test]
    fn an_error_ends_it_and_nothing_needs_no_time() {
        let mut fails = |_| Err("gone");
        assert_eq!(
            measure(&jobs(), &mut fails, &mut |_| false).unwrap_err(),
            "gone"
        );
        let none = measure(&[], &mut fails, &mut |_| false).unwrap();
        assert_eq!(none.nr_rounds(), 0);
    }
}
