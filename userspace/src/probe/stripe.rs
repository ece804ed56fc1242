// SPDX-License-Identifier: GPL-2.0-only
//! The distance at which all reads meet on one die, again and again. Slow reads alone prove
//! nothing: a distance is believed only if its multiples are as slow and its fractions are not.

use super::measure::{median, Measure};
use super::{ProbeError, Refusal, Step, SCAN_READS};
use crate::units::PAGE_BYTES;

/// Groups that each distance is tried with, and each suspicion.
const SCAN_ROUNDS: u64 = 3;
const SURE_ROUNDS: u64 = 9;

/// Distances that are tried before the first look at them.
const FIRST_LOOK: u64 = 24;

/// The least slowdown that raises a suspicion: a peak of a curve over its lower quarter.
const LEAST_PEAK_PERCENT: u64 = 140;

/// Times that differ by less are the same.
const SAME_PERCENT: u64 = 78;

/// Multiples and fractions that are tried: a period is slow at all of its multiples and at
/// none of its fractions.
const FACTORS: [u64; 4] = [2, 3, 5, 7];

/// Suspicions that are followed from one place.
const MOST_STEPS: usize = 8;

fn is_as_slow(ns: u64, as_ns: u64) -> bool {
    ns * 100 >= as_ns * SAME_PERCENT
}

/// The lower quarter.
fn low(curve: &[u64]) -> u64 {
    let mut sorted = curve.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 4).copied().unwrap_or(0)
}

/// Peaks of a curve that begins with distance 1, as first and last distance, nearest first: all
/// that are almost as slow as the slowest.
fn peaks(curve: &[u64]) -> Vec<(u64, u64)> {
    let top = curve.iter().copied().max().unwrap_or(0);
    let mut found: Vec<(u64, u64)> = Vec::new();

    if top * 100 < low(curve) * LEAST_PEAK_PERCENT {
        return found;
    }
    for (distance, ns) in (1..).zip(curve) {
        if !is_as_slow(*ns, top) {
            continue;
        }
        match found.last_mut() {
            Some((_, last)) if *last + 1 == distance => *last = distance,
            _ => found.push((distance, distance)),
        }
    }
    found
}

/// The distance in a peak that stays slow when it is taken many times: an error of a page becomes
/// one of many there.
fn centre(measure: &mut Measure, first: u64, last: u64) -> Result<u64, ProbeError> {
    let mut slowest = Vec::new();

    for distance in first.saturating_sub(1).max(1)..=last + 1 {
        let times = measure.most_distance(SCAN_READS) / distance;
        // Two numbers, as one of them may hide an error that makes up a whole stripe.
        let mut ns = u64::MAX;
        for times in [times, times.saturating_sub(1)] {
            ns = ns.min(measure.apart(distance * times.max(1), SCAN_READS, SURE_ROUNDS)?);
        }
        slowest.push((distance, ns));
    }
    let top = slowest.iter().map(|(_, ns)| *ns).max().unwrap_or(0);
    let within: Vec<u64> = slowest
        .iter()
        .filter(|(_, ns)| is_as_slow(*ns, top))
        .map(|(distance, _)| *distance)
        .collect();
    Ok(median(within))
}

enum Suspicion {
    Confirmed,
    /// Rather look at this one.
    Instead(u64),
    Wrong,
}

/// Is it slow at multiples, and at no fraction?
fn examine(measure: &mut Measure, distance: u64) -> Result<Suspicion, ProbeError> {
    let mut is_confirmed = false;

    for nr_reads in [8, 4] {
        let most = measure.most_distance(nr_reads);
        let ns = measure.apart(distance, nr_reads, SURE_ROUNDS)?;
        let scattered = measure.scattered(nr_reads, 4 * SURE_ROUNDS)?;
        if ns * 100 < scattered * (LEAST_PEAK_PERCENT - 20) {
            return Ok(Suspicion::Wrong);
        }
        for factor in FACTORS {
            if distance % factor == 0 {
                let part = measure.apart(distance / factor, nr_reads, SURE_ROUNDS)?;
                if is_as_slow(part, ns) {
                    return Ok(Suspicion::Instead(distance / factor));
                }
            }
            if distance * factor > most {
                continue;
            }
            let multiple = measure.apart(distance * factor, nr_reads, SURE_ROUNDS)?;
            if !is_as_slow(ns, multiple) {
                return Ok(Suspicion::Instead(distance * factor));
            }
            if !is_as_slow(multiple, ns) {
                return Ok(Suspicion::Wrong);
            }
            is_confirmed = true;
        }
    }
    Ok(if is_confirmed {
        Suspicion::Confirmed
    } else {
        Suspicion::Wrong
    })
}

/// The stripe that a peak leads to.
fn follow(measure: &mut Measure, first: u64, last: u64) -> Result<Option<u64>, ProbeError> {
    let mut distance = centre(measure, first, last)?;

    for _ in 0..MOST_STEPS {
        match examine(measure, distance)? {
            Suspicion::Confirmed => return Ok(Some(distance)),
            Suspicion::Instead(other) => {
                if other > measure.most_distance(SCAN_READS) {
                    return Ok(None);
                }
                distance = centre(measure, other.saturating_sub(1).max(1), other + 1)?;
            }
            Suspicion::Wrong => return Ok(None),
        }
    }
    Ok(None)
}

/// Try distances up to one, in pages.
fn scan(measure: &mut Measure, curve: &mut Vec<u64>, until: u64) -> Result<(), ProbeError> {
    let most = measure.most_distance(SCAN_READS);

    while (curve.len() as u64) < until.min(most) {
        let distance = curve.len() as u64 + 1;
        measure.step(Step::Distances(distance, most))?;
        curve.push(measure.apart(distance, SCAN_READS, SCAN_ROUNDS)?);
    }
    Ok(())
}

/// The stripe in pages; `curve` gets the time at each distance that was tried, from 1 on.
pub fn find(
    measure: &mut Measure,
    curve: &mut Vec<u64>,
) -> Result<Result<u64, Refusal>, ProbeError> {
    let most = measure.most_distance(SCAN_READS);
    let mut until = FIRST_LOOK;
    let mut dropped: Vec<u64> = Vec::new();

    loop {
        scan(measure, curve, until)?;
        for (first, last) in peaks(curve) {
            // The last one may go on.
            if dropped.contains(&first) || last >= until.min(most) {
                continue;
            }
            if let Some(stripe) = follow(measure, first, last)? {
                // Enough for a picture: the peak, and what comes behind it.
                scan(measure, curve, stripe + stripe.min(256) + 8)?;
                return Ok(Ok(stripe));
            }
            dropped.push(first);
        }
        if until >= most {
            break;
        }
        until += (until / 4).max(8);
    }
    Ok(Err(refusal(curve)))
}

fn refusal(curve: &[u64]) -> Refusal {
    if peaks(curve).is_empty() {
        Refusal::Flat {
            fastest_us: curve.iter().copied().min().unwrap_or(0) / 1000,
            slowest_us: curve.iter().copied().max().unwrap_or(0) / 1000,
        }
    } else {
        Refusal::NoPeriod {
            most_bytes: curve.len() as u64 * PAGE_BYTES,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::peaks;

    #[test]
    fn peaks_are_what_is_almost_as_slow_as_the_slowest() {
        assert_eq!(peaks(&[]), []);
        assert_eq!(peaks(&[100; 40]), []);
        let mut curve = vec![100; 40];
        curve[7] = 400;
        curve[15] = 390;
        curve[16] = 350;
        curve[20] = 250;
        assert_eq!(peaks(&curve), [(8, 8), (16, 17)]);
        // Noise is no peak.
        let noise: Vec<u64> = (0..40).map(|at| 100 + at * 7 % 31).collect();
        assert_eq!(peaks(&noise), []);
    }
}
