// SPDX-License-Identifier: GPL-2.0-only
//! Devices that the core has used, under the tool's eyes: sound ones are found sound and
//! understood alike, damaged ones are found damaged, and nothing makes the tool panic.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;

use common::devices::{
    agree, change, change_segment, change_somewhere, change_well, check, expect, file_with, flip,
    metadata_pages, place_of, quiet_lpn, reseal, use_device, used_device, volume_of, Kind,
    DEVICE_PAGES,
};
use common::{core_program, dieaware, folder, image, output_of, stderr, stdout, Random};
use dieaware::format::block;
use dieaware::format::check::Options;
use dieaware::format::dump::{dump, Part};
use dieaware::format::findings::{Findings, Severity, Subject};
use dieaware::format::layout::{SuperBlock, BLOCK_BYTES, DPN_BYTES, MAGIC_JOURNAL, SECTOR_BYTES};
use dieaware::format::map;
use dieaware::format::segments::State;
use dieaware::format::superblock::{super_dpn, Table};
use dieaware::format::volume::Volume;
use dieaware::io_engine::pages::{Ram, ReadPages, WritePages};
use serde_json::Value;

#[test]
fn what_the_core_has_written_is_sound_and_understood_alike() {
    let path = folder("check-core").join("image");
    for kind in Kind::ALL {
        for (seed, crashes) in (2..14).flat_map(|seed| [(seed, 0), (seed, 2)]) {
            let core_says = use_device(kind.make_image(), seed, crashes, &path, None);
            let what = format!("{kind:?}, seed {seed}, {crashes} crashes");
            agree(&path, &core_says, &what);
            let has_sums = core_says.matches(" sums=0x").count() != 0;
            assert_eq!(has_sums, matches!(kind, Kind::Sums), "{what}");
        }
    }
}

#[test]
fn summaries_of_two_pages_are_understood_alike() {
    let path = folder("check-large").join("image");
    for seed in 2..6 {
        let core_says = use_device("make_large_image", seed, 1, &path, None);
        agree(&path, &core_says, &format!("seed {seed}"));
    }
}

#[test]
fn the_core_works_on_what_the_tool_has_formatted() {
    let folder = folder("check-formatted");
    for kind in Kind::ALL {
        let formatted = image(&folder, "formatted", DEVICE_PAGES * BLOCK_BYTES as u64);
        let mut args = vec!["format", "--segment", "256K", "--stripe", "32K"];
        args.extend(["--journal", "512K", "--reserve", "30", "--label", "a label"]);
        // The core's programs write none.
        args.push("--no-drafts");
        if matches!(kind, Kind::Sums) {
            args.push("--checksums");
        }
        args.push(&formatted);
        let output = dieaware(&args);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let path = folder.join("image");
        for seed in 2..6 {
            let core_says = use_device(kind.make_image(), seed, 1, &path, Some(&formatted));
            agree(&path, &core_says, &format!("{kind:?}, seed {seed}"));
        }
        let path = path.to_str().unwrap();
        let dump = stdout(&dieaware(&["dump", "--part", "superblock", path]));
        assert!(dump.contains(" label=\"a label\" epoch=2 "), "{dump}");
        assert_eq!(dump.contains(" checksums=1"), matches!(kind, Kind::Sums));
    }
}

#[test]
fn the_devices_of_these_tests_have_everything() {
    for kind in Kind::ALL {
        let device = kind.device();
        let volume = volume_of(&device);
        let report = check(&device);
        let facts = report.facts.unwrap();
        assert!(report.findings.is_empty(), "{:?}", report.findings);
        assert!(facts.nr_open > 0 && facts.nr_closed > 10 && facts.nr_free > 0);
        assert!(facts.journal.nr_operations > 10 && facts.epoch > 3 && facts.nr_mapped > 500);
        assert!(volume.root.open.iter().any(|entry| !entry.is_absent()));
        assert_eq!(facts.checksums, matches!(kind, Kind::Sums));
    }
}

#[test]
fn a_flipped_bit_in_each_kind_of_page_is_found() {
    for kind in Kind::ALL {
        let volume = volume_of(&kind.device());
        let mut open = volume.root.open.iter();
        let open = open.position(|entry| !entry.is_absent()).unwrap();
        for (table, index, subject) in [
            (Table::Directory, 0, Subject::Directory),
            (Table::Map, 0, Subject::MapPage),
            (Table::Map, 2, Subject::MapPage),
            (Table::Segments, 0, Subject::SegmentTable),
            (Table::Open, open as u64, Subject::OpenSummary),
        ] {
            for at in [0, 9, 50, 64, 1000, 3000, 4095] {
                let device = kind.device();
                flip(&device, place_of(&volume, table, index), at);
                expect(&device, Severity::Damage, subject, "is damaged: it");
            }
        }
    }
}

#[test]
fn damaged_superblocks_are_found() {
    for (epoch, name) in [(1, "Superblock A"), (2, "Superblock B")] {
        let device = used_device();
        flip(&device, super_dpn(epoch), 100);
        expect(&device, Severity::Warning, Subject::Superblock, name);
    }
    let device = used_device();
    flip(&device, 0, 100);
    flip(&device, 16, 0);
    expect(
        &device,
        Severity::Damage,
        Subject::Superblock,
        "Neither superblock is valid",
    );
    let device = used_device();
    change_well(&device, 0, |page| page[48] ^= 1);
    expect(
        &device,
        Severity::Warning,
        Subject::Superblock,
        "do not belong together",
    );
    // It shows less than the other, as before the device has grown.
    let device = used_device();
    change_well(&device, 0, |page| page[97] -= 1);
    expect(
        &device,
        Severity::Warning,
        Subject::Superblock,
        "Superblock A is older, and of another layout",
    );
    // Newer than the other, and everything else is of the other's device
    let device = used_device();
    for dpn in [0, 16] {
        change_well(&device, dpn, |page| page[48] ^= 1);
    }
    expect(
        &device,
        Severity::Damage,
        Subject::Root,
        "belongs to another device",
    );
    // It says that it is larger than it is.
    let device = used_device();
    for dpn in [0, 16] {
        change_well(&device, dpn, |page| page[90] += 1);
    }
    expect(
        &device,
        Severity::Damage,
        Subject::Superblock,
        "was formatted with",
    );
}

#[test]
fn damaged_roots_are_found() {
    let device = used_device();
    let volume = volume_of(&device);
    let dpn = volume.root.dpn(&volume.superblock);
    let [even, odd] = volume.superblock.root_dpn;
    flip(&device, even + odd - dpn, 70);
    expect(&device, Severity::Warning, Subject::Root, "is not valid");
    flip(&device, dpn + 1, 70);
    expect(
        &device,
        Severity::Damage,
        Subject::Root,
        "Neither root is valid",
    );
}

#[test]
fn a_damaged_summary_is_found_if_it_is_needed() {
    let device = used_device();
    let volume = volume_of(&device);
    let closed = |is_empty: bool| {
        let mut segments = volume.segments.iter();
        let found = segments.find(|(_, segment)| {
            segment.state == State::Closed && (segment.nr_valid == 0) == is_empty
        });
        let data_pages = u64::from(volume.superblock.data_pages());
        volume.superblock.segment_dpn(found.unwrap().0).unwrap() + data_pages
    };
    flip(&device, closed(true), 70);
    assert!(check(&device).findings.is_empty());
    flip(&device, closed(false), 70);
    expect(
        &device,
        Severity::Damage,
        Subject::Summary,
        "its checksum is wrong",
    );
    let quick = dieaware::format::check(
        &device,
        &Options {
            quick: true,
            ..Options::default()
        },
    )
    .unwrap();
    assert!(quick.is_clean());
}

#[test]
fn a_damaged_journal_is_found() {
    let device = used_device();
    let volume = volume_of(&device);
    let at = volume.journal.first_sector % u64::from(volume.superblock.journal_sectors);
    flip(
        &device,
        volume.superblock.journal_dpn + at / 8,
        at as usize % 8 * SECTOR_BYTES + 40,
    );
    expect(
        &device,
        Severity::Damage,
        Subject::Journal,
        "but the journal ends before",
    );
    let report = check(&device);
    assert!(report
        .findings
        .iter()
        .any(|finding| finding.sentence.contains("is whole")));
}

#[test]
fn a_sector_that_is_not_the_next_one_ends_the_journal() {
    let volume = volume_of(&used_device());
    let second = (volume.journal.first_sector + 1) % u64::from(volume.superblock.journal_sectors);
    let dpn = volume.superblock.journal_dpn + second / 8;
    assert!(volume.journal.nr_sectors > 2);
    // Magic number, number, seq, chain, size, version, first record
    for at in [4, 8, 16, 24, 29, 30, 32] {
        let device = used_device();
        flip(&device, dpn, second as usize % 8 * SECTOR_BYTES + at);
        reseal(&device, &volume, dpn);
        let report = check(&device);
        assert_eq!(report.facts.unwrap().journal.nr_sectors, 1, "{at}");
        assert!(!report.findings.is_empty(), "{at}");
    }
}

/// Put a whole sector of that number to its place, which begins a batch or does not.
fn put_sector_of(device: &Ram, volume: &Volume, number: u64, seq: u64, is_first: bool) {
    let superblock = &volume.superblock;
    let at = number % u64::from(superblock.journal_sectors);
    let seed = block::crc32c(!0, &superblock.uuid);

    change(device, superblock.journal_dpn + at / 8, |page| {
        let sector = &mut page[at as usize % 8 * SECTOR_BYTES..][..SECTOR_BYTES];
        sector.fill(0);
        sector[4..8].copy_from_slice(&MAGIC_JOURNAL.to_le_bytes());
        sector[8..16].copy_from_slice(&number.to_le_bytes());
        sector[16..24].copy_from_slice(&seq.to_le_bytes());
        sector[29] = u8::from(is_first) << 7;
        sector[30] = 1;
        let crc = block::crc32c(seed, &sector[4..]);
        sector[..4].copy_from_slice(&crc.to_le_bytes());
    });
}

fn put_sector(device: &Ram, volume: &Volume, number: u64, seq: u64) {
    put_sector_of(device, volume, number, seq, false);
}

#[test]
fn a_sector_far_behind_the_end_of_the_journal_proves_damage() {
    let volume = volume_of(&used_device());
    let (end, seq) = (
        volume.journal.first_sector + volume.journal.nr_sectors,
        1 << 20,
    );
    for (number, severity, words) in [
        (
            end + 255,
            Severity::Note,
            "there are 1 sectors of later numbers",
        ),
        (
            end + 256,
            Severity::Damage,
            "when what ought to be there was durable",
        ),
        (
            end + 700,
            Severity::Damage,
            "when what ought to be there was durable",
        ),
    ] {
        let device = used_device();
        put_sector(&device, &volume, number, seq);
        expect(&device, severity, Subject::Journal, words);
    }
}

/// The root that leads to it is lost: what a crash leaves has no number that high.
#[test]
fn another_line_at_the_end_of_the_journal_proves_damage() {
    let volume = volume_of(&used_device());
    let end = volume.journal.first_sector + volume.journal.nr_sectors;
    let next = volume.journal.next_seq;

    for (seq, is_first, is_damage) in [
        (next, true, false),
        (next + 1, true, true),
        (next + 1, false, false),
    ] {
        let device = used_device();
        put_sector_of(&device, &volume, end, seq, is_first);
        let report = check(&device);
        let mut findings = report.findings.iter();
        assert_eq!(
            findings.any(|finding| finding.severity == Severity::Damage),
            is_damage,
            "{seq} {is_first}"
        );
        let path = file_with("check-other-line", device);
        let program = core_program(Kind::Plain.open_image());
        let core_says = output_of(&program, &[path.to_str().unwrap()], "");
        assert_eq!(core_says.starts_with("refused "), is_damage, "{core_says}");
    }
}

#[test]
fn a_sector_of_a_later_lap_proves_damage() {
    let volume = volume_of(&used_device());
    let ring = u64::from(volume.superblock.journal_sectors);
    let end = volume.journal.first_sector + volume.journal.nr_sectors;
    // What follows an old root may have been written over when the new one was lost.
    for number in [end + ring, end + ring + 1, end + 5 * ring + 300] {
        let device = used_device();
        put_sector(&device, &volume, number, 1 << 20);
        let (damage, words) = (Severity::Damage, format!("but sector {number} is whole"));
        expect(&device, damage, Subject::Journal, &words);
        let path = file_with("check-later-lap", device);
        let program = core_program(Kind::Plain.open_image());
        let core_says = output_of(&program, &[path.to_str().unwrap()], "");
        assert!(core_says.starts_with("refused "), "{core_says}");
    }
}

#[test]
fn pages_of_another_place_device_or_time_are_found() {
    let device = used_device();
    let volume = volume_of(&device);
    let (first, second) = (
        place_of(&volume, Table::Map, 0),
        place_of(&volume, Table::Map, 1),
    );
    let page = device.read_page(first).unwrap();
    device.write(second, &page).unwrap();
    expect(
        &device,
        Severity::Damage,
        Subject::MapPage,
        "was written for page",
    );

    let device = used_device();
    change_well(&device, first, |page| page[48] ^= 1);
    expect(
        &device,
        Severity::Damage,
        Subject::MapPage,
        "belongs to another device",
    );

    // The directory names the other slot.
    let device = used_device();
    change_well(&device, place_of(&volume, Table::Directory, 0), |page| {
        page[64] ^= 1
    });
    expect(
        &device,
        Severity::Damage,
        Subject::MapPage,
        "is damaged: it",
    );

    // An older page in its place, as after a write that was lost
    let device = used_device();
    change_well(&device, first, |page| page[32] ^= 1);
    expect(
        &device,
        Severity::Damage,
        Subject::MapPage,
        "was written for operation",
    );

    // A page of a checkpoint that never was
    let device = used_device();
    change_well(&device, first, |page| {
        page[40..48].copy_from_slice(&999u64.to_le_bytes())
    });
    expect(
        &device,
        Severity::Damage,
        Subject::MapPage,
        "which has not happened",
    );
}

fn remap(device: &Ram, volume: &Volume, lpn: u64, dpn: u64) {
    change_well(device, place_of(volume, Table::Map, 0), |page| {
        let at = 64 + lpn as usize * DPN_BYTES;
        page[at..at + DPN_BYTES].copy_from_slice(&dpn.to_le_bytes()[..DPN_BYTES]);
    });
}

#[test]
fn a_wrong_map_is_found() {
    let device = used_device();
    let volume = volume_of(&device);
    let (lpn, dpn) = quiet_lpn(&device, &volume);
    let superblock = &volume.superblock;
    let number = superblock.segment_of(dpn).unwrap().0;
    let free = volume
        .segments
        .iter()
        .find(|(_, segment)| segment.state == State::Free);
    let free_dpn = superblock.segment_dpn(free.unwrap().0).unwrap();
    let summary_dpn = superblock.segment_dpn(number).unwrap() + u64::from(superblock.data_pages());
    let mut other = None;
    map::for_each_page(&device, &volume, &mut Findings::default(), |page, _| {
        other = other.or(page.mapped().find(|(at, _)| *at != lpn));
        Ok(())
    })
    .unwrap();

    for (to, words) in [
        (other.unwrap().1.dpn, "as another lpn is"),
        (free_dpn, "which is free"),
        (summary_dpn, "where no data can be"),
        (5, "where no data can be"),
        (DEVICE_PAGES + 100, "where no data can be"),
    ] {
        let device = used_device();
        remap(&device, &volume, lpn, to);
        expect(&device, Severity::Damage, Subject::MapEntry, words);
        expect(
            &device,
            Severity::Damage,
            Subject::Segment,
            "by the segment table",
        );
    }
    let device = used_device();
    remap(&device, &volume, lpn, 0);
    expect(
        &device,
        Severity::Damage,
        Subject::Segment,
        "by the segment table",
    );
}

#[test]
fn a_wrong_segment_table_is_found() {
    let volume = volume_of(&used_device());
    let full = volume
        .segments
        .iter()
        .find(|(_, segment)| segment.state == State::Closed && segment.nr_valid > 20);
    let (number, segment) = full.unwrap();
    let segment = *segment;

    for (at, value, words) in [
        (
            0,
            segment.nr_valid as u8 - 1,
            "valid pages by the segment table",
        ),
        (0, 255, "claims more valid pages"),
        (4, 0, "is free and claims valid pages"),
        (4, 3, "has an unknown state"),
        (5, 8, "has an open summary that does not exist"),
    ] {
        let device = used_device();
        change_segment(&device, &volume, number, |entry| entry[at] = value);
        expect(&device, Severity::Damage, Subject::Segment, words);
    }
    // Two segments at one open summary
    let device = used_device();
    let open = volume
        .segments
        .iter()
        .find(|(_, segment)| segment.state == State::Open);
    let open = open.unwrap().1.open;
    change_segment(&device, &volume, number, |entry| {
        (entry[4], entry[5]) = (1, open)
    });
    expect(&device, Severity::Damage, Subject::Segment, "are both open");
    let device = used_device();
    change_segment(&device, &volume, number, |entry| entry[14] = 1);
    expect(
        &device,
        Severity::Warning,
        Subject::Segment,
        "which has not happened",
    );
}

#[test]
fn a_summary_that_disagrees_with_the_map_is_found() {
    let device = used_device();
    let volume = volume_of(&device);
    let (_, dpn) = quiet_lpn(&device, &volume);
    let (number, page) = volume.superblock.segment_of(dpn).unwrap();
    let first = volume.superblock.segment_dpn(number).unwrap();
    let summary_dpn = first + u64::from(volume.superblock.data_pages());
    let at = 64 + page as usize * 24;

    change_well(&device, summary_dpn, |page| page[at] ^= 2);
    expect(
        &device,
        Severity::Damage,
        Subject::SummaryEntry,
        "which was written for lpn",
    );
    let device = used_device();
    change_well(&device, summary_dpn, |page| page[at..at + 24].fill(0));
    expect(
        &device,
        Severity::Damage,
        Subject::SummaryEntry,
        "knows nothing",
    );
}

#[test]
fn no_byte_makes_the_tool_panic() {
    for kind in Kind::ALL {
        let device = kind.device();
        let volume = volume_of(&device);
        let pages = metadata_pages(&volume);
        let mut random = Random(7);
        let (mut nr_found, mut nr_refused) = (0, 0);

        for round in 0..3000 {
            let dpn = pages[random.below(pages.len() as u64) as usize];
            let before = device.read_page(dpn).unwrap();
            if before == [0; BLOCK_BYTES] {
                continue;
            }
            // Half of them in headers and first entries
            let at = match round % 2 {
                0 => random.below(200),
                _ => random.below(BLOCK_BYTES as u64),
            };
            let bits = 1 + random.below(255) as u8;
            change(&device, dpn, |page| page[at as usize] ^= bits);
            if round % 4 != 3 {
                reseal(&device, &volume, dpn);
            }
            let options = Options {
                data: round % 8 == 0,
                ..Options::default()
            };
            match dieaware::format::check(&device, &options) {
                Ok(report) => nr_found += u32::from(!report.findings.is_empty()),
                Err(_) => nr_refused += 1,
            }
            let _ = dump(&device, &Part::ALL, &mut std::io::sink());
            device.write(dpn, &before).unwrap();
        }
        assert!(check(&device).findings.is_empty());
        assert!(nr_found > 200, "{nr_found} {nr_refused}");
    }
}

#[test]
fn what_the_core_refuses_is_damaged_and_what_is_sound_it_starts() {
    for kind in Kind::ALL {
        let volume = volume_of(&kind.device());
        // The core's program keeps the superblock.
        let mut pages = metadata_pages(&volume);
        pages.retain(|dpn| *dpn >= 32);
        let path = file_with(&format!("check-changed-{kind:?}"), kind.device());
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        let mut random = Random(11);
        let (mut nr_refused, mut nr_sound, mut nr_found) = (0, 0, 0);

        for _ in 0..120 {
            let device = kind.device();
            let dpn = change_somewhere(&device, &volume, &pages, &mut random);
            let page = device.read_page(dpn).unwrap();
            file.write_all_at(&page, dpn * BLOCK_BYTES as u64).unwrap();
            let program = core_program(kind.open_image());
            let core_says = output_of(&program, &[path.to_str().unwrap()], "");
            let report = check(&device);
            if let Some(why) = core_says.strip_prefix("refused ") {
                assert!(!report.is_clean(), "page {dpn}: {why}");
                nr_refused += 1;
            } else if report.is_clean() {
                agree(&path, &core_says, &format!("page {dpn}"));
                nr_sound += 1;
            } else {
                nr_found += 1;
            }
            let before = kind.device().read_page(dpn).unwrap();
            file.write_all_at(&before, dpn * BLOCK_BYTES as u64)
                .unwrap();
        }
        // In the end, what only the tool finds: it looks at summaries, and counts pages.
        assert!(
            nr_refused > 5 && nr_sound > 5 && nr_found > 5,
            "{nr_refused} {nr_sound} {nr_found}"
        );
    }
}

#[test]
fn damage_ends_with_1_and_says_where() {
    let device = used_device();
    let volume = volume_of(&device);
    flip(&device, place_of(&volume, Table::Map, 1), 90);
    let path = file_with("check-damaged", device);
    let path = path.to_str().unwrap();

    let output = dieaware(&["check", path]);
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert!(
        text.starts_with("damage: Page 1 of the map is damaged: "),
        "{text}"
    );
    assert_eq!(
        stderr(&output),
        format!("dieaware: {path} is damaged in 1 way.\n")
    );

    let output = dieaware(&["check", "--json", path]);
    assert_eq!(output.status.code(), Some(1));
    let json: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(json["nr_damages"], 1);
    assert_eq!(json["findings"][0]["severity"], "damage");
    assert_eq!(json["findings"][0]["subject"], "map-page");
    assert_eq!(
        json["facts"]["nr_segments"],
        volume.superblock.nr_segments()
    );

    let output = dieaware(&["dump", path]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("\n# damage: Page 1 of the map"));
}

/// As a target leaves a device when it has met an error of the metadata.
fn mark(device: &Ram) {
    change_well(device, 16, |page| page[124] |= 1);
}

#[test]
fn a_sound_device_may_be_written_again() {
    let device = used_device();
    mark(&device);
    expect(
        &device,
        Severity::Warning,
        Subject::Superblock,
        "asks for a check",
    );
    let path = file_with("check-clear", device);
    let path = path.to_str().unwrap();
    let before = fs::read(path).unwrap();
    let output = dieaware(&["check", path]);
    assert_eq!(output.status.code(), Some(0));
    assert!(fs::read(path).unwrap() == before);

    let output = dieaware(&["check", "--clear-needs-check", "--dry-run", path]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("might write again"));
    assert!(fs::read(path).unwrap() == before);
    let output = dieaware(&["check", "--dry-run", path]);
    assert_eq!(output.status.code(), Some(2));

    let output = dieaware(&["check", "--clear-needs-check", path]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("may write again"));
    let after = fs::read(path).unwrap();
    // Nothing but the superblock that did not count is changed.
    assert!(after[BLOCK_BYTES..] == before[BLOCK_BYTES..]);
    let volume = volume_of(&Ram::new(after.clone()));
    assert_eq!((volume.superblock.epoch, volume.superblock.flags), (3, 0));
    assert!(check(&Ram::new(after.clone())).findings.is_empty());

    // Once is enough.
    let output = dieaware(&["check", "--clear-needs-check", path]);
    assert_eq!(output.status.code(), Some(0));
    assert!(fs::read(path).unwrap() == after);
}

#[test]
fn a_damaged_device_stays_marked() {
    let device = used_device();
    let volume = volume_of(&device);
    mark(&device);
    flip(&device, place_of(&volume, Table::Map, 1), 90);
    let path = file_with("check-marked", device);
    let path = path.to_str().unwrap();
    let before = fs::read(path).unwrap();
    let output = dieaware(&["check", "--clear-needs-check", path]);
    assert_eq!(output.status.code(), Some(1));
    assert!(fs::read(path).unwrap() == before);
}

#[test]
fn what_may_only_be_read_is_not_written() {
    let device = used_device();
    mark(&device);
    for dpn in [0, 16] {
        change_well(&device, dpn, |page| {
            page[offset_of!(SuperBlock, ro_compat)] = 4;
        });
    }
    let path = file_with("check-newer", device);
    let (path, fixed) = (path.to_str().unwrap(), path.with_file_name("fixed"));
    let before = fs::read(path).unwrap();
    let output = dieaware(&["check", path]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for args in [
        &["check", "--clear-needs-check", path][..],
        &["repair", "--from", path, "--to", fixed.to_str().unwrap()],
    ] {
        let output = dieaware(args);
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        let words = "has features 0x4 with which this version can only read";
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    assert!(fs::read(path).unwrap() == before && !fixed.exists());
}

#[test]
fn a_dump_has_the_parts_that_are_asked_for() {
    let path = file_with("check-dump", used_device());
    let path = path.to_str().unwrap();
    let all = stdout(&dieaware(&["dump", path]));
    assert!(all.starts_with("dieaware-dump 1\nsuperblock uuid="));
    let mut expected = "dieaware-dump 1\n".to_owned();
    for part in [
        "superblock",
        "root",
        "journal",
        "segments",
        "map",
        "summaries",
    ] {
        let text = stdout(&dieaware(&["dump", "--part", part, path]));
        assert!(text.lines().count() > 1, "{part}");
        expected += text.strip_prefix("dieaware-dump 1\n").unwrap();
    }
    assert!(all == expected);
    assert!(all.contains("\nrecord seq="));
}

#[test]
fn what_is_no_device_in_log_mode_is_refused() {
    let folder = folder("check-usage");
    let zeroes = image(&folder, "zeroes", 1 << 20);
    let short = image(&folder, "short", 5000);
    for verb in ["check", "dump"] {
        for path in [&zeroes, &short] {
            assert_eq!(dieaware(&[verb, path]).status.code(), Some(1), "{path}");
        }
        for device in ["/dev/null", "/proc", "/no/such/device"] {
            assert_eq!(dieaware(&[verb, device]).status.code(), Some(3), "{device}");
        }
        for args in [
            &[verb][..],
            &[verb, "--start", "3", &zeroes],
            &[verb, "--part", "all", &zeroes],
        ] {
            assert_eq!(dieaware(args).status.code(), Some(2), "{args:?}");
        }
    }
    // Features of a later version
    let device = used_device();
    for dpn in [0, 16] {
        change_well(&device, dpn, |page| page[80] |= 4);
    }
    let path = file_with("check-features", device);
    let output = dieaware(&["check", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        stderr(&output).contains("features 0x4"),
        "{}",
        stderr(&output)
    );
}
