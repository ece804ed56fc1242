// SPDX-License-Identifier: GPL-2.0-only
//! States of a device that somebody has to know of, as its targets' status lines tell them.

use std::collections::BTreeSet;

use clap::ValueEnum;
use serde::Serialize;

use crate::status::Status;

/// Why hints may be off although they were wanted, and were not switched off by anybody.
const LOST_HINTS: [&str; 5] = [
    "off:rejected",
    "off:streams_gone",
    "off:no_streams",
    "off:unfit",
    "off:no_answer",
];

/// Worst first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// Metadata of log mode could not be read or written: only reads are left
    Failed,
    /// Log mode: the device is only read until "dieaware check" has found nothing
    NeedsCheck,
    /// Log mode: data has another checksum than it was written with
    Damaged,
    /// Log mode: writes have failed since no segment is free
    OutOfSpace,
    /// Log mode: writes wait for a segment to be free
    LowSpace,
    /// Log mode: the table is read-only
    ReadOnly,
    /// Hints are off, though nobody has switched them off
    HintsOff,
}

impl Event {
    /// Its name, as it is printed and given.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::NeedsCheck => "needs-check",
            Self::Damaged => "damaged",
            Self::OutOfSpace => "out-of-space",
            Self::LowSpace => "low-space",
            Self::ReadOnly => "read-only",
            Self::HintsOff => "hints-off",
        }
    }

    /// What is wrong with the device, and what to do.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Failed => {
                "metadata could not be read or written, so it is only read from now on; when it \
                 is removed, \"dieaware check\" says how it is"
            }
            Self::NeedsCheck => {
                "it is only read until \"dieaware check --clear-needs-check\" has found nothing"
            }
            Self::Damaged => {
                "data has another checksum than it was written with; the kernel's log says which \
                 pages, and \"dieaware check --data\" finds all of them"
            }
            Self::OutOfSpace => "writes fail since no segment is free; discarding makes room",
            Self::LowSpace => {
                "writes wait since no segment is free; discarding makes room, or they fail"
            }
            Self::ReadOnly => "its table is read-only",
            Self::HintsOff => "hints are off; \"dieaware status\" and the kernel's log say why",
        }
    }

    /// As syslog(3) counts.
    #[must_use]
    pub fn priority(self) -> u8 {
        match self {
            Self::Failed | Self::NeedsCheck | Self::Damaged | Self::OutOfSpace => 3,
            Self::LowSpace | Self::HintsOff => 4,
            Self::ReadOnly => 5,
        }
    }
}

/// What is the case according to a status line, which does not say whether a log is only read
/// because its table is read-only.
#[must_use]
pub fn of_status(status: &Status, is_read_only: bool) -> BTreeSet<Event> {
    let mut events = BTreeSet::new();
    let word = |key| status.word(key).unwrap_or_default();

    match word("state").as_str() {
        "failed" => {
            events.insert(Event::Failed);
        }
        "read_only" if is_read_only => {
            events.insert(Event::ReadOnly);
        }
        "read_only" => {
            events.insert(Event::NeedsCheck);
        }
        _ => {}
    }
    if !matches!(word("damaged_pages").as_str(), "" | "0") {
        events.insert(Event::Damaged);
    }
    match word("space").as_str() {
        "low" => {
            events.insert(Event::LowSpace);
        }
        "out" => {
            events.insert(Event::OutOfSpace);
        }
        _ => {}
    }
    if LOST_HINTS.contains(&word("hints").as_str()) {
        events.insert(Event::HintsOff);
    }
    events
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::{of_status, Event};
    use crate::status::Status;

    fn names(line: &str, is_read_only: bool) -> Vec<&'static str> {
        let status = Status::parse(line).unwrap();
        let events = of_status(&status, is_read_only);
        events.into_iter().map(Event::name).collect()
    }

    #[test]
    fn a_status_line_has_its_events_worst_first() {
        let log = "mode=log state=failed space=out hints=off:rejected";
        assert_eq!(names(log, false), ["failed", "out-of-space", "hints-off"]);
        assert_eq!(
            names("mode=log state=read_only space=low", false),
            ["needs-check", "low-space"]
        );
        assert_eq!(names("mode=log state=read_only", true), ["read-only"]);
        assert_eq!(
            names("mode=log space=low damaged_pages=3", false),
            ["damaged", "low-space"]
        );
    }

    #[test]
    fn what_is_wanted_is_no_event() {
        for line in [
            "mode=log state=write space=ok hints=on",
            "mode=log state=write checksums=on damaged_pages=0",
            "mode=log state=new",
            "mode=hint hints=off:requested",
            "mode=hint hints=off:not_announced",
            "mode=hint hints=off:not_nvme",
            "mode=hint hints=off:asking",
        ] {
            assert!(names(line, false).is_empty(), "{line}");
        }
        assert!(names("mode=hint hints=on", true).is_empty());
    }

    #[test]
    fn names_are_those_of_the_command_line_and_of_json() {
        for event in Event::value_variants() {
            let given = event.to_possible_value().unwrap();
            assert_eq!(given.get_name(), event.name());
            let json = serde_json::to_string(event).unwrap();
            assert_eq!(json, format!("\"{}\"", event.name()));
        }
    }
}
