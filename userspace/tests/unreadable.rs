// SPDX-License-Identifier: GPL-2.0-only
//! Devices some pages of which cannot be read.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::path::Path;

use common::devices::{flip, place_of, used_device, volume_of, Failing};
use dieaware::commands::dump::explain;
use dieaware::commands::repair::superblock_of;
use dieaware::commands::udev;
use dieaware::commands::DamageFound;
use dieaware::format::check::Options;
use dieaware::format::dump::{dump, Part};
use dieaware::format::exact;
use dieaware::format::findings::Severity;
use dieaware::format::segments::State;
use dieaware::format::stat::{stat, Lost};
use dieaware::format::superblock::Table;
use dieaware::io_engine::pages::Watched;

/// It is damage if all of it could be read, and an I/O error if not.
#[test]
fn superblocks_that_cannot_be_read_are_no_damage() {
    let path = Path::new("it");
    let damaged = used_device();
    flip(&damaged, 0, 100);
    flip(&damaged, 16, 100);
    for (bad, is_damage) in [(vec![], true), (vec![0], false), (vec![0, 16], false)] {
        let nr_failed_reads = bad.len() as u64;
        let device = Failing {
            device: damaged.clone(),
            bad,
        };
        let err = superblock_of(path, &device).unwrap_err();
        assert_eq!(err.is::<DamageFound>(), is_damage, "{err:#}");

        let watched = Watched::new(&device);
        let err = exact::dump(&watched, &mut std::io::sink()).unwrap_err();
        let err = explain(path, err, watched.nr_failed());
        assert_eq!(err.is::<DamageFound>(), is_damage, "{err:#}");

        let lost = stat(&device, 0).unwrap().err();
        assert_eq!(lost, Some(Lost { nr_failed_reads }));
    }
}

#[test]
fn one_superblock_is_enough_for_udev() {
    let epoch = |bad| {
        let device = Failing {
            device: used_device(),
            bad,
        };
        udev::superblock(&device).map(|found| found.map(|superblock| superblock.epoch))
    };
    let newest = epoch(vec![]).unwrap().unwrap();
    for bad in [0, 16] {
        assert!(epoch(vec![bad]).unwrap().unwrap() + 1 >= newest);
    }
    assert!(epoch(vec![0, 16]).is_err());
}

#[test]
fn a_page_far_behind_the_end_of_the_journal_is_no_damage() {
    let volume = volume_of(&used_device());
    let superblock = &volume.superblock;
    let ring = u64::from(superblock.journal_sectors);
    let end = volume.journal.first_sector + volume.journal.nr_sectors;

    for (behind, severity) in [
        (256, Severity::Damage),
        (256 + 16, Severity::Warning),
        (ring - volume.journal.nr_sectors - 8, Severity::Warning),
    ] {
        let device = Failing {
            device: used_device(),
            bad: vec![superblock.journal_dpn + (end + behind) % ring / 8],
        };
        let report = dieaware::format::check(&device, &Options::default()).unwrap();
        let worst = report.findings.first().unwrap();
        assert_eq!(worst.severity, severity, "{behind}: {worst}");
        assert!(worst.sentence.contains("of the journal cannot be read"));
        assert!(!report.is_clean());
    }
}

#[test]
fn what_cannot_be_read_is_said_and_the_rest_is_checked() {
    let volume = volume_of(&used_device());
    let superblock = &volume.superblock;
    let journal_page = volume.journal.first_sector % u64::from(superblock.journal_sectors) / 8;
    let closed = volume
        .segments
        .iter()
        .find(|(_, segment)| segment.state == State::Closed && segment.nr_valid > 0)
        .unwrap();
    let summary_dpn =
        superblock.segment_dpn(closed.0).unwrap() + u64::from(superblock.data_pages());
    let root_dpn = volume.root.dpn(superblock);
    for (dpn, words) in [
        (0, "Superblock A is not valid: it cannot be read"),
        (
            place_of(&volume, Table::Map, 1),
            "Page 1 of the map is damaged: it cannot be read",
        ),
        (
            place_of(&volume, Table::Directory, 0),
            "Page 0 of the directory is damaged: it cannot",
        ),
        (
            place_of(&volume, Table::Segments, 0),
            "Page 0 of the segment table is damaged: it ca",
        ),
        (
            superblock.journal_dpn + journal_page,
            "of the journal cannot be read",
        ),
        (summary_dpn, "of the summary of segment"),
        (root_dpn, "is not valid, as a crash may"),
    ] {
        let device = used_device();
        // Another damage, to see that the check goes on.
        flip(&device, place_of(&volume, Table::Map, 2), 90);
        let device = Failing {
            device,
            bad: vec![dpn],
        };
        let report = dieaware::format::check(&device, &Options::default()).unwrap();
        let sentences: Vec<_> = report
            .findings
            .iter()
            .map(|found| &found.sentence)
            .collect();
        assert!(report.nr_failed_reads > 0 && !report.is_clean(), "{dpn}");
        assert!(
            sentences.iter().any(|said| said.contains(words)),
            "{words}: {sentences:#?}"
        );
        if root_dpn != dpn && place_of(&volume, Table::Directory, 0) != dpn {
            let other = "Page 2 of the map is damaged: its checksum";
            assert!(
                sentences.iter().any(|said| said.contains(other)),
                "{sentences:#?}"
            );
        }
        let missing = dump(&device, &Part::ALL, &mut std::io::sink()).unwrap();
        assert!(missing.nr_failed_reads > 0);
    }
}
