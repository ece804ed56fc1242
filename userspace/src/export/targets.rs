// SPDX-License-Identifier: GPL-2.0-only
//! What a target counts, by the words of its status line, as families of Prometheus: words that
//! belong together are one family with labels, so that they can be added up.

use super::{counter, gauge, Family, Text};
use crate::status::{Status, Value};

const INFO: Family = gauge(
    "dieaware_info",
    "1, with the device's mode, its policy of cleaning, and whether hints are sent",
);
const HINTS_ON: Family = gauge("dieaware_hints_on", "Whether hints are sent");
const WRITABLE: Family = gauge(
    "dieaware_log_writable",
    "Whether the log can be written: 0 after an error, or when it is only read",
);
const CHECKSUMS: Family = gauge("dieaware_log_checksums", "Whether data has checksums");
const NEW_PLACES: Family = gauge(
    "dieaware_log_overwrites_to_new_places",
    "Whether small overwrites go to new places although it is full, as that is quicker",
);
const SPACE_LOW: Family = gauge(
    "dieaware_log_space_low",
    "Whether there is no space, so that writes wait or fail",
);
const WRITES: Family = counter(
    "dieaware_writes_total",
    "Writes with data, after cutting, by how their file was known",
);
const HINTS: Family = counter(
    "dieaware_hints_total",
    "Writes with data, after cutting, by their hint",
);
const CONFIRMED: Family = counter(
    "dieaware_hints_confirmed_total",
    "Hints that a command carried to the drive",
);
const LOST: Family = counter("dieaware_hints_lost_total", "Hints that got lost, and why");
const NOT_SHARED: Family = counter(
    "dieaware_writes_not_shared_total",
    "Announced writes that were written all the same, and why",
);
const PAGES_WRITTEN: Family = counter(
    "dieaware_log_pages_written_total",
    "Pages of 4 KiB written to the device, by for whom",
);

/// A word of the status line, and the family and label of its sample. `KEY/` is the second
/// number of a word `KEY=a/b`.
type Field = (&'static str, Family, Option<(&'static str, &'static str)>);

const FIELDS: [Field; 64] = [
    ("page", WRITES, Some(("source", "page"))),
    ("iomap", WRITES, Some(("source", "iomap"))),
    ("adjacency", WRITES, Some(("source", "adjacency"))),
    ("metadata", WRITES, Some(("source", "metadata"))),
    ("unknown", WRITES, Some(("source", "unknown"))),
    ("none", HINTS, Some(("hint", "none"))),
    ("append", HINTS, Some(("hint", "append"))),
    ("overwrite", HINTS, Some(("hint", "overwrite"))),
    ("confirmed_append", CONFIRMED, Some(("hint", "append"))),
    (
        "confirmed_overwrite",
        CONFIRMED,
        Some(("hint", "overwrite")),
    ),
    ("lost_unseen", LOST, Some(("reason", "unseen"))),
    ("lost_merged", LOST, Some(("reason", "merged"))),
    ("lost_moved", LOST, Some(("reason", "moved"))),
    (
        "rejected",
        counter(
            "dieaware_writes_rejected_total",
            "Writes that the device took only without hint",
        ),
        None,
    ),
    (
        "retried",
        counter(
            "dieaware_writes_retried_total",
            "Failed writes that were sent again without hint",
        ),
        None,
    ),
    (
        "cut",
        counter("dieaware_writes_cut_total", "Writes that were cut in two"),
        None,
    ),
    (
        "learned",
        counter(
            "dieaware_reads_learned_total",
            "Reads that taught the run table something",
        ),
        None,
    ),
    (
        "streamed",
        counter(
            "dieaware_writes_streamed_total",
            "Writes that the device took with a write stream",
        ),
        None,
    ),
    (
        "shared_pages",
        counter(
            "dieaware_shared_pages_total",
            "Pages that were not written, as the drive has shared them",
        ),
        None,
    ),
    ("share_differs", NOT_SHARED, Some(("reason", "differs"))),
    ("share_refused", NOT_SHARED, Some(("reason", "refused"))),
    ("share_undone", NOT_SHARED, Some(("reason", "undone"))),
    (
        "streams",
        gauge(
            "dieaware_streams",
            "Write streams: of dies, in log mode of kinds of data",
        ),
        None,
    ),
    (
        "runs_extents",
        gauge("dieaware_runs_extents", "Extents in the run table"),
        None,
    ),
    (
        "runs_bytes",
        gauge("dieaware_runs_bytes", "Memory of the run table"),
        None,
    ),
    (
        "runs_limit_bytes",
        gauge("dieaware_runs_limit_bytes", "Upper bound of that memory"),
        None,
    ),
    (
        "runs_evicted",
        counter(
            "dieaware_runs_evicted_total",
            "Extents forgotten for their memory",
        ),
        None,
    ),
    (
        "die_unit_bytes",
        gauge(
            "dieaware_die_unit_bytes",
            "What goes to one die before the next, as the drive tells; 0 if it does not",
        ),
        None,
    ),
    (
        "stripe_bytes",
        gauge(
            "dieaware_stripe_bytes",
            "That times the number of dies; 0 if the drive does not tell",
        ),
        None,
    ),
    (
        "mapped_pages",
        gauge("dieaware_log_mapped_pages", "Pages of 4 KiB that hold data"),
        None,
    ),
    (
        "lpns",
        gauge(
            "dieaware_log_pages",
            "Pages of 4 KiB that the device presents",
        ),
        None,
    ),
    (
        "grown_lpns",
        gauge(
            "dieaware_log_grown_pages",
            "Pages of 4 KiB that there would be on all of the device below",
        ),
        None,
    ),
    (
        "segments",
        gauge("dieaware_log_segments", "Segments of the device"),
        None,
    ),
    (
        "free_segments",
        gauge("dieaware_log_free_segments", "Segments that can be written"),
        None,
    ),
    (
        "empty_segments",
        gauge(
            "dieaware_log_empty_segments",
            "Segments without a valid page that are not free yet",
        ),
        None,
    ),
    (
        "segment_pages",
        gauge("dieaware_log_segment_pages", "Pages of a segment"),
        None,
    ),
    (
        "journal_sectors",
        gauge(
            "dieaware_log_journal_sectors",
            "Sectors of the journal since the checkpoint",
        ),
        None,
    ),
    (
        "journal_sectors/",
        gauge(
            "dieaware_log_journal_size_sectors",
            "Sectors of the journal",
        ),
        None,
    ),
    (
        "map_pages",
        gauge("dieaware_log_map_pages", "Pages of the map in memory"),
        None,
    ),
    (
        "map_pages/",
        gauge(
            "dieaware_log_map_limit_pages",
            "Pages of the map that may be in memory",
        ),
        None,
    ),
    (
        "map_reads",
        counter(
            "dieaware_log_map_reads_total",
            "Pages of the map that were read",
        ),
        None,
    ),
    (
        "map_given_back",
        counter(
            "dieaware_log_map_given_back_total",
            "Pages of the map that made room when the kernel needed memory",
        ),
        None,
    ),
    (
        "commits",
        counter(
            "dieaware_log_commits_total",
            "Batches of the journal that were written",
        ),
        None,
    ),
    (
        "flushes",
        counter(
            "dieaware_log_flushes_total",
            "Flushes, and FUA writes that asked for one",
        ),
        None,
    ),
    (
        "checkpoints",
        counter(
            "dieaware_log_checkpoints_total",
            "Checkpoints that were taken",
        ),
        None,
    ),
    ("user_pages", PAGES_WRITTEN, Some(("by", "users"))),
    (
        "in_place_pages",
        counter(
            "dieaware_log_in_place_pages_total",
            "Of the pages that users wrote: those that were overwritten in place",
        ),
        None,
    ),
    ("moved_pages", PAGES_WRITTEN, Some(("by", "cleaning"))),
    ("meta_pages", PAGES_WRITTEN, Some(("by", "metadata"))),
    (
        "cleaned_segments",
        counter(
            "dieaware_log_cleaned_segments_total",
            "Segments that were cleaned",
        ),
        None,
    ),
    (
        "idle_cleaned",
        counter(
            "dieaware_log_idle_cleaned_segments_total",
            "Of these: when nobody used the device",
        ),
        None,
    ),
    (
        "starved",
        counter(
            "dieaware_log_writes_starved_total",
            "Writes that had to wait for a free segment",
        ),
        None,
    ),
    (
        "moved_hints",
        counter(
            "dieaware_log_moved_hints_total",
            "Hints of cleaning that a command carried to the drive",
        ),
        None,
    ),
    (
        "damaged_pages",
        counter(
            "dieaware_log_damaged_pages_total",
            "Pages of data that were found to have another checksum",
        ),
        None,
    ),
    (
        "mended_reads",
        counter(
            "dieaware_log_mended_reads_total",
            "Pages that had another checksum and were right when they were read again",
        ),
        None,
    ),
    (
        "changed_writes",
        counter(
            "dieaware_log_changed_writes_total",
            "Pages that changed while they were written, and were written again",
        ),
        None,
    ),
    (
        "unread_segments",
        gauge(
            "dieaware_log_unread_segments",
            "Segments that cleaning has left, as the device does not read something of them",
        ),
        None,
    ),
    (
        "damaged_segments",
        gauge(
            "dieaware_log_damaged_segments",
            "Segments that cleaning leaves, as something in them is damaged",
        ),
        None,
    ),
    // Words
    ("hints", HINTS_ON, None),
    ("state", WRITABLE, None),
    ("space", SPACE_LOW, None),
    ("overwrites", NEW_PLACES, None),
    ("checksums", CHECKSUMS, None),
    ("mode", INFO, None),
];

/// All families of targets.
pub fn families() -> impl Iterator<Item = Family> {
    FIELDS.iter().map(|(_, family, _)| *family)
}

fn number(status: &Status, key: &str) -> Option<u64> {
    let (word, is_second) = match key.strip_suffix('/') {
        Some(word) => (word, true),
        None => (key, false),
    };
    let (_, value) = status.fields().iter().find(|(known, _)| known == word)?;
    match value {
        Value::Number(number) => (!is_second).then_some(*number),
        Value::Word(text) => {
            let (first, second) = text.split_once('/')?;
            (if is_second { second } else { first }).parse().ok()
        }
    }
}

/// Add a target's samples. `target` tells targets of one device apart: their first sectors.
pub fn add(text: &mut Text, device: &str, target: &str, status: &Status) {
    let own = [("device", device), ("target", target)];
    let word = |key| status.word(key).unwrap_or_default();

    for (key, family, label) in &FIELDS {
        let Some(value) = number(status, key) else {
            continue;
        };
        let mut labels = own.to_vec();
        labels.extend(label);
        text.add(family, &labels, value);
    }
    let (mode, hints, policy) = (word("mode"), word("hints"), word("policy"));
    let words = [
        ("mode", mode.as_str()),
        ("hints", &hints),
        ("policy", &policy),
    ];
    text.add(&INFO, &[own.as_slice(), &words].concat(), 1);
    text.add(&HINTS_ON, &own, u8::from(hints == "on"));
    if mode == "log" {
        text.add(&WRITABLE, &own, u8::from(word("state") == "write"));
        text.add(&CHECKSUMS, &own, u8::from(word("checksums") == "on"));
        let is_new_place = word("overwrites") == "new_place";
        text.add(&NEW_PLACES, &own, u8::from(is_new_place));
        let space = word("space");
        text.add(&SPACE_LOW, &own, u8::from(space == "low" || space == "out"));
    }
}

#[cfg(test)]
mod tests {
    use super::{add, FIELDS};
    use crate::export::Text;
    use crate::status::{Status, MEANINGS};

    #[test]
    fn every_field_of_the_status_is_exported() {
        // The sum of others, and what stands in labels
        let elsewhere = ["writes", "transport", "cleaning", "policy", "share"];
        for (key, _) in MEANINGS {
            let is_field = FIELDS.iter().any(|(known, ..)| *known == key);
            assert!(is_field != elsewhere.contains(&key), "{key}");
        }
    }

    #[test]
    fn a_log_has_samples_of_its_own() {
        let status = Status::parse(
            "mode=log state=read_only journal_sectors=12/2048 user_pages=5 policy=greedy \
             space=out overwrites=new_place hints=off:not_nvme append=3",
        );
        let mut text = Text::default();
        add(&mut text, "db", "0", &status.unwrap());
        let text = text.to_string();
        for line in [
            "dieaware_log_writable{device=\"db\",target=\"0\"} 0",
            "dieaware_log_space_low{device=\"db\",target=\"0\"} 1",
            "dieaware_log_overwrites_to_new_places{device=\"db\",target=\"0\"} 1",
            "dieaware_log_journal_sectors{device=\"db\",target=\"0\"} 12",
            "dieaware_log_journal_size_sectors{device=\"db\",target=\"0\"} 2048",
            "dieaware_log_pages_written_total{device=\"db\",target=\"0\",by=\"users\"} 5",
            "dieaware_hints_total{device=\"db\",target=\"0\",hint=\"append\"} 3",
            "dieaware_hints_on{device=\"db\",target=\"0\"} 0",
            "dieaware_info{device=\"db\",target=\"0\",mode=\"log\",hints=\"off:not_nvme\",policy=\"greedy\"} 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert_eq!(
            text.lines().filter(|line| !line.starts_with('#')).count(),
            10
        );
    }

    #[test]
    fn hint_mode_has_nothing_of_logs() {
        let mut text = Text::default();
        let status = Status::parse("mode=hint hints=on page=3").unwrap();
        add(&mut text, "fast", "0", &status);
        let text = text.to_string();
        assert!(!text.contains("_log_") && text.contains("source=\"page\"} 3\n"));
    }
}
