// SPDX-License-Identifier: GPL-2.0-only
//! What a replay has shown, for people and for programs, from the same numbers.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use super::drive::{Config, Drive};
use super::replay::{OpResult, Outcome, Pace};

/// More dies than these are summed up for people.
const MAX_DIES_SHOWN: usize = 64;

/// Latencies of a kind of commands, nanoseconds; percentiles by the nearest rank.
#[derive(Debug, Eq, PartialEq, Serialize)]
pub struct Latency {
    pub min: u64,
    pub mean: u64,
    pub p50: u64,
    pub p90: u64,
    pub p99: u64,
    #[serde(rename = "p99.9")]
    pub p999: u64,
    pub max: u64,
}

/// Commands of one kind.
#[derive(Debug, Serialize)]
pub struct OpReport {
    pub commands: u64,
    pub bytes: u64,
    /// From the first one's issue to the last one's completion.
    pub span_ns: u64,
    /// 10^6 bytes a second over the span.
    pub mb_per_s: f64,
    pub iops: f64,
    pub latency_ns: Latency,
}

/// A replay.
#[derive(Serialize)]
pub struct Report<'a> {
    pub profile: &'static str,
    pub capacity_bytes: u64,
    pub parameters: &'a Config,
    pub pace: &'static str,
    /// Commands in flight at most.
    pub queue_depth: u64,
    /// Commands of the trace that could not be replayed.
    pub left_out: u64,
    pub elapsed_ns: u64,
    pub ops: BTreeMap<&'static str, OpReport>,
    /// Pages programmed for each page that the host wrote.
    pub waf: Option<f64>,
    /// Work of the busiest die, if the mean of all is 1.
    pub load_skew: Option<f64>,
    pub counters: BTreeMap<&'static str, u64>,
    pub dies: Vec<BTreeMap<&'static str, u64>>,
}

// Counters are far from where a f64 is not exact, and figures for people in any case.
#[allow(clippy::cast_precision_loss)]
fn ratio(a: u64, b: u64) -> Option<f64> {
    (b > 0).then(|| a as f64 / b as f64)
}

impl Latency {
    /// Of at least one command.
    #[must_use]
    pub fn of(latencies_ns: &[u64]) -> Self {
        let mut sorted = latencies_ns.to_vec();
        sorted.sort_unstable();
        let nr = sorted.len() as u64;
        let sum: u128 = sorted.iter().map(|ns| u128::from(*ns)).sum();
        let rank = |permille: u64| {
            let rank = (nr * permille).div_ceil(1000).max(1) - 1;
            let index = usize::try_from(rank).unwrap_or(usize::MAX);
            sorted.get(index).copied().unwrap_or(0)
        };

        Self {
            min: rank(0),
            mean: u64::try_from(sum / u128::from(nr.max(1))).unwrap_or(u64::MAX),
            p50: rank(500),
            p90: rank(900),
            p99: rank(990),
            p999: rank(999),
            max: rank(1000),
        }
    }
}

impl OpReport {
    fn of(result: &OpResult) -> Self {
        let commands = result.latencies_ns.len() as u64;
        let span_ns = result.last_ns - result.first_ns;
        let per_ns = |nr| ratio(nr, span_ns).unwrap_or(0.0);

        Self {
            commands,
            bytes: result.bytes,
            span_ns,
            mb_per_s: per_ns(result.bytes) * 1e3,
            iops: per_ns(commands) * 1e9,
            latency_ns: Latency::of(&result.latencies_ns),
        }
    }
}

impl<'a> Report<'a> {
    #[must_use]
    pub fn new(drive: &'a Drive, outcome: &Outcome, pace: Pace, left_out: u64) -> Self {
        let mut counters: BTreeMap<_, _> = drive.counters().collect();
        counters.insert("shares_refused", drive.refused());
        let dies: Vec<BTreeMap<_, _>> = (0..drive.nr_dies())
            .map(|die| drive.die_counters(die).collect())
            .collect();
        let count = |name| counters.get(name).copied().unwrap_or(0);
        let busy = dies.iter().filter_map(|die| die.get("busy_ns").copied());
        let room = drive.queue_limit();

        Self {
            profile: drive.config().profile,
            capacity_bytes: drive.capacity_bytes(),
            parameters: drive.config(),
            pace: match pace {
                Pace::Closed { .. } => "closed",
                Pace::Open => "open",
                Pace::Batches => "batches",
            },
            queue_depth: match pace {
                Pace::Closed { depth } => depth.min(room),
                Pace::Open | Pace::Batches => room,
            },
            left_out,
            elapsed_ns: outcome.elapsed_ns,
            ops: outcome
                .ops
                .iter()
                .map(|(op, result)| (op.name(), OpReport::of(result)))
                .collect(),
            waf: ratio(count("nand_pages_programmed"), count("host_pages_written")),
            load_skew: ratio(
                busy.clone().max().unwrap_or(0) * u64::from(drive.nr_dies()),
                busy.sum(),
            ),
            counters,
            dies,
        }
    }

    /// For people; the first words of the lines are stable.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_text(&mut text);
        text
    }

    fn write_text(&self, out: &mut String) -> std::fmt::Result {
        writeln!(
            out,
            "drive     {}: {:.1} GB, {} dies",
            self.profile,
            ratio(self.capacity_bytes, 1_000_000_000).unwrap_or(0.0),
            self.dies.len()
        )?;
        writeln!(
            out,
            "replay    {}, at most {} commands at a time, {:.3} ms",
            match self.pace {
                "open" => "at the times of the trace",
                "batches" => "batch by batch",
                _ => "closed loop",
            },
            self.queue_depth,
            ratio(self.elapsed_ns, 1_000_000).unwrap_or(0.0)
        )?;
        if self.left_out > 0 {
            writeln!(out, "left out  {} commands of the trace", self.left_out)?;
        }
        self.write_ops(out)?;
        writeln!(out)?;
        if let Some(waf) = self.waf {
            writeln!(out, "waf       {waf:.3}")?;
        }
        if let Some(skew) = self.load_skew {
            writeln!(
                out,
                "load skew {skew:.3}  (work of the busiest die, the mean is 1)"
            )?;
        }
        for (name, value) in &self.counters {
            writeln!(out, "{name:<24}{value:>16}")?;
        }
        self.write_dies(out)
    }

    fn write_ops(&self, out: &mut String) -> std::fmt::Result {
        let us = |ns| ratio(ns, 1000).unwrap_or(0.0);

        writeln!(
            out,
            "\n{:<6}{:>10}{:>10}{:>10}{:>11} {:>10}{:>10}{:>10}{:>10}{:>10}{:>10}",
            "", "commands", "MB", "MB/s", "IOPS", "mean us", "p50", "p90", "p99", "p99.9", "max"
        )?;
        for (name, op) in &self.ops {
            let latency = &op.latency_ns;
            writeln!(
                out,
                "{name:<6}{:>10}{:>10.1}{:>10.1}{:>11.0} {:>10.1}{:>10.1}{:>10.1}{:>10.1}{:>10.1}{:>10.1}",
                op.commands,
                ratio(op.bytes, 1_000_000).unwrap_or(0.0),
                op.mb_per_s,
                op.iops,
                us(latency.mean),
                us(latency.p50),
                us(latency.p90),
                us(latency.p99),
                us(latency.p999),
                us(latency.max)
            )?;
        }
        Ok(())
    }

    fn write_dies(&self, out: &mut String) -> std::fmt::Result {
        let Some(names) = self.dies.first().map(|die| die.keys().collect::<Vec<_>>()) else {
            return Ok(());
        };
        write!(out, "\n{:<6}", "die")?;
        for name in &names {
            write!(out, "{name:>17}")?;
        }
        writeln!(out)?;
        let mut line = |name: &str, value: &dyn Fn(&str) -> u64| -> std::fmt::Result {
            write!(out, "{name:<6}")?;
            for name in &names {
                write!(out, "{:>17}", value(name))?;
            }
            writeln!(out)
        };
        if self.dies.len() > MAX_DIES_SHOWN {
            let of = |name: &str| -> Vec<u64> {
                self.dies
                    .iter()
                    .filter_map(|die| die.get(name).copied())
                    .collect()
            };
            line("min", &|name| of(name).iter().min().copied().unwrap_or(0))?;
            line("mean", &|name| {
                of(name).iter().sum::<u64>() / self.dies.len() as u64
            })?;
            return line("max", &|name| of(name).iter().max().copied().unwrap_or(0));
        }
        for (number, die) in self.dies.iter().enumerate() {
            line(&number.to_string(), &|name| {
                die.get(name).copied().unwrap_or(0)
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Latency;

    #[test]
    fn percentiles_are_latencies_that_occurred() {
        let one = Latency::of(&[7]);
        assert_eq!((one.min, one.p50, one.p999, one.max), (7, 7, 7, 7));
        let latencies: Vec<u64> = (1..=1000).rev().collect();
        let latency = Latency::of(&latencies);
        assert_eq!(latency.min, 1);
        assert_eq!(latency.mean, 500);
        assert_eq!((latency.p50, latency.p90, latency.p99), (500, 900, 990));
        assert_eq!((latency.p999, latency.max), (999, 1000));
        assert_eq!(Latency::of(&[10, 20]).p50, 10);
    }
}
