// SPDX-License-Identifier: GPL-2.0-only
//! What an SSD and its dies have done, by its vendor log page, as families of Prometheus.

use std::fmt;

use super::{counter, gauge, Family, Text};
use crate::device::nvme::dies::Statistics;

const WRITES: Family = counter(
    "dieaware_ssd_writes_total",
    "Write commands, by the hint they were placed by; ignored: they had one that could not be used",
);
const BUSY: Family = counter(
    "dieaware_ssd_die_busy_seconds_total",
    "Time that a die was busy",
);
const READ: Family = counter(
    "dieaware_ssd_die_units_read_total",
    "Flash units that were read",
);
const PROGRAMMED: Family = counter(
    "dieaware_ssd_die_units_programmed_total",
    "Flash units that were programmed",
);
const ERASED: Family = counter(
    "dieaware_ssd_die_eblks_erased_total",
    "Erase blocks that were erased",
);
const PAGES: Family = counter(
    "dieaware_ssd_die_pages_written_total",
    "Pages written to a die, by for whom",
);
const VALID: Family = gauge(
    "dieaware_ssd_die_valid_pages",
    "Pages of a die that hold data",
);

/// All families of drives.
pub const FAMILIES: [Family; 7] = [WRITES, BUSY, READ, PROGRAMMED, ERASED, PAGES, VALID];

/// Seconds, exactly.
struct Seconds(u64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(ns) = self;
        write!(f, "{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
    }
}

/// Add a drive's samples.
pub fn add(text: &mut Text, drive: &str, statistics: &Statistics) {
    let hints = [
        ("append", statistics.hints_append),
        ("overwrite", statistics.hints_overwrite),
        ("ignored", statistics.hints_ignored),
        ("none", statistics.writes_plain),
    ];

    for (hint, value) in hints {
        text.add(&WRITES, &[("drive", drive), ("hint", hint)], value);
    }
    for (number, die) in statistics.dies.iter().enumerate() {
        let number = number.to_string();
        let own = [("drive", drive), ("die", number.as_str())];

        text.add(&BUSY, &own, Seconds(die.busy_ns));
        text.add(&READ, &own, die.units_read);
        text.add(&PROGRAMMED, &own, die.units_programmed);
        text.add(&ERASED, &own, die.eblks_erased);
        text.add(&VALID, &own, die.pages_valid);
        for (by, value) in [("host", die.pages_host), ("gc", die.pages_gc)] {
            text.add(&PAGES, &[own.as_slice(), &[("by", by)]].concat(), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{add, Seconds};
    use crate::device::nvme::dies::{Die, Statistics};
    use crate::export::Text;

    #[test]
    fn seconds_are_exact() {
        assert_eq!(Seconds(1).to_string(), "0.000000001");
        assert_eq!(Seconds(12_345_678_901).to_string(), "12.345678901");
    }

    #[test]
    fn each_die_has_its_samples() {
        let die = Die {
            busy_ns: 1_500_000_000,
            pages_gc: 7,
            ..Die::default()
        };
        let statistics = Statistics {
            hints_ignored: 3,
            dies: vec![Die::default(), die],
            ..Statistics::default()
        };
        let mut text = Text::default();
        add(&mut text, "nvme0n1", &statistics);
        let text = text.to_string();
        for line in [
            "dieaware_ssd_writes_total{drive=\"nvme0n1\",hint=\"ignored\"} 3",
            "dieaware_ssd_die_busy_seconds_total{drive=\"nvme0n1\",die=\"1\"} 1.500000000",
            "dieaware_ssd_die_pages_written_total{drive=\"nvme0n1\",die=\"1\",by=\"gc\"} 7",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }
}
