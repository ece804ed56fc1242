// SPDX-License-Identifier: GPL-2.0-only
//! Damaged devices, each with what happened to it, and what repair makes of them: sound
//! metadata that the core starts, with every page where it was as long as anything says where.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::cell::Cell;
use std::fs;
use std::io;
use std::path::Path;

use common::devices::{
    agree, change, change_segment, change_somewhere, change_well, file_with, flip, metadata_pages,
    place_of, put_data, use_device, used_device, volume_of, Failing, Kind, DEVICE_PAGES,
};
use common::drafts::{map_of, Drafted, Map};
use common::{core_program, dieaware, folder, output_of, stderr, stdout, Random};
use dieaware::format::block::crc32c;
use dieaware::format::check::Options;
use dieaware::format::create;
use dieaware::format::findings::{Finding, Findings};
use dieaware::format::layout::{BLOCK_BYTES, SECTOR_BYTES};
use dieaware::format::map::Entry;
use dieaware::format::repair::{self, Report};
use dieaware::format::segments::State;
use dieaware::format::superblock::{Super, Table};
use dieaware::format::volume::{read_super, Volume};
use dieaware::io_engine::pages::{Nowhere, Ram, ReadPages, WritePages};

fn repair(from: &impl ReadPages, to: &impl WritePages) -> io::Result<Result<Report, Vec<Finding>>> {
    match repair::repair(from, to, 77)? {
        Ok(repaired) => repaired.finish(to).map(Ok),
        Err(findings) => Ok(Err(findings)),
    }
}

fn repaired_to(device: &impl ReadPages, pages: u64) -> (Ram, Report) {
    // Something that is there before
    let to = Ram::new(vec![0x5a; pages as usize * BLOCK_BYTES]);
    let report = repair(device, &to).unwrap().unwrap();
    let check = dieaware::format::check(&to, &Options::default()).unwrap();
    assert!(check.findings.is_empty(), "{:#?}", check.findings);
    assert_eq!(check.facts.unwrap().nr_mapped, report.nr_mapped);
    (to, report)
}

fn repaired(device: &impl ReadPages) -> (Ram, Report) {
    repaired_to(device, DEVICE_PAGES)
}

fn wipe(device: &Ram, pages: impl IntoIterator<Item = u64>) {
    for dpn in pages {
        device.write(dpn, &[0; BLOCK_BYTES]).unwrap();
    }
}

fn table_pages(volume: &Volume, table: Table) -> Vec<u64> {
    let superblock = &volume.superblock;
    (0..superblock.nr_pages(table))
        .flat_map(|index| (0..2).map(move |slot| (index, slot)))
        .map(|(index, slot)| superblock.slot_dpn(table, index, slot).unwrap())
        .collect()
}

fn wipe_roots(device: &Ram, volume: &Volume) {
    for dpn in volume.superblock.root_dpn {
        wipe(device, dpn..dpn + volume.superblock.nr_root_pages());
    }
}

fn wipe_journal(device: &Ram, volume: &Volume) {
    let first = volume.superblock.journal_dpn;
    wipe(
        device,
        first..first + u64::from(volume.superblock.journal_sectors / 8),
    );
}

/// A segment that is closed and has this many valid pages.
fn closed(volume: &Volume, is_it: impl Fn(u32) -> bool) -> u64 {
    let mut segments = volume.segments.iter();
    let found =
        segments.find(|(_, segment)| segment.state == State::Closed && is_it(segment.nr_valid));
    found.unwrap().0
}

fn summary_dpn(volume: &Volume, number: u64) -> u64 {
    let first = volume.superblock.segment_dpn(number).unwrap();
    first + u64::from(volume.superblock.data_pages())
}

/// What happened, and how.
type Case = (&'static str, fn(&Ram, &Volume));

/// Damage after which every page is found where it was.
const NOTHING_IS_LOST: &[Case] = &[
    ("nothing happened", |_, _| {}),
    ("superblock A was written over", |device, _| {
        device.write(0, &[0xff; BLOCK_BYTES]).unwrap();
    }),
    ("the newer root has a flipped bit", |device, volume| {
        flip(device, volume.root.dpn(&volume.superblock), 100);
    }),
    ("both roots were wiped", wipe_roots),
    ("all pages of the directory were wiped", |device, volume| {
        wipe(device, table_pages(volume, Table::Directory));
    }),
    ("a page of the map has a flipped bit", |device, volume| {
        flip(device, place_of(volume, Table::Map, 1), 90);
    }),
    (
        "a page of the map is in another one's place",
        |device, volume| {
            let page = device.read_page(place_of(volume, Table::Map, 0)).unwrap();
            device
                .write(place_of(volume, Table::Map, 1), &page)
                .unwrap();
        },
    ),
    ("the segment table was wiped", |device, volume| {
        wipe(device, table_pages(volume, Table::Segments));
    }),
    ("segments have other counts and states", |device, volume| {
        let number = closed(volume, |nr_valid| nr_valid > 20);
        change_segment(device, volume, number, |entry| entry[0] -= 1);
        let free = volume
            .segments
            .iter()
            .find(|(_, one)| one.state == State::Free);
        change_segment(device, volume, free.unwrap().0, |entry| entry[4] = 2);
    }),
    ("a segment's state is no state", |device, volume| {
        change_segment(device, volume, closed(volume, |nr| nr > 20), |entry| {
            entry[4] = 7
        });
    }),
    ("a summary was wiped", |device, volume| {
        wipe(
            device,
            [summary_dpn(
                volume,
                closed(volume, |nr_valid| nr_valid > 20),
            )],
        );
    }),
    ("a summary names another lpn", |device, volume| {
        let number = closed(volume, |nr_valid| nr_valid > 20);
        for page in 0..20 {
            change_well(device, summary_dpn(volume, number), |entry| {
                entry[64 + page * 24] ^= 1
            });
        }
    }),
    ("the open summaries were wiped", |device, volume| {
        wipe(device, table_pages(volume, Table::Open));
    }),
    (
        "both roots, the directory and the segment table were wiped",
        |device, volume| {
            wipe_roots(device, volume);
            wipe(device, table_pages(volume, Table::Directory));
            wipe(device, table_pages(volume, Table::Segments));
        },
    ),
];

fn cases() -> impl Iterator<Item = (Kind, &'static Case)> {
    Kind::ALL
        .into_iter()
        .flat_map(|kind| NOTHING_IS_LOST.iter().map(move |case| (kind, case)))
}

fn damaged(kind: Kind, case: &Case) -> (Ram, Map) {
    let device = kind.device();
    let volume = volume_of(&device);
    let map = map_of(&device);
    case.1(&device, &volume);
    (device, map)
}

#[test]
fn what_is_there_twice_is_not_lost() {
    for (kind, case) in cases() {
        let (device, map) = damaged(kind, case);
        let (to, report) = repaired(&device);
        assert!(map_of(&to) == map, "{kind:?}, {}: {report:#?}", case.0);
        assert_eq!(report.nr_lost.unwrap_or(0), 0, "{}", case.0);
    }
}

#[test]
fn a_repair_to_nowhere_finds_what_a_repair_does() {
    for (kind, case) in cases() {
        let (device, _) = damaged(kind, case);
        let nowhere = Nowhere::new(DEVICE_PAGES);
        let report = repair(&device, &nowhere).unwrap().unwrap();
        let (_, done) = repaired(&device);
        assert_eq!(
            format!("{report:?}"),
            format!("{done:?}"),
            "{kind:?}, {}",
            case.0
        );
    }
}

/// A device whose journal ends with a draft, what it must hold, and what became of the draft.
fn drafted(kind: Kind) -> impl Iterator<Item = (Ram, Map, &'static str)> {
    let with = Drafted::new(kind, 4, 7);
    let without = Drafted::without_data(kind, 4, 0);
    let mut followed = Drafted::new(kind, 8, 7);
    followed.add_batch();
    followed.spoil();
    [
        (with.device, with.after, "a draft with its data"),
        (without.device, without.before, "a draft without its data"),
        (followed.device, followed.after, "a draft before a batch"),
    ]
    .into_iter()
}

#[test]
fn a_draft_that_does_not_count_does_not_come_back_and_no_other_is_lost() {
    for (kind, case) in cases() {
        for (device, map, what) in drafted(kind) {
            case.1(&device, &volume_of(&device));
            let (to, report) = repaired(&device);
            let what = format!("{kind:?}, {}, {what}", case.0);
            assert!(map_of(&to) == map, "{what}: {report:#?}");
            assert_eq!(report.nr_lost.unwrap_or(0), 0, "{what}");
        }
    }
}

#[test]
fn a_draft_whose_data_cannot_be_read_is_not_lost() {
    for kind in Kind::ALL {
        let drafted = Drafted::without_data(kind, 4, 0);
        let volume = volume_of(&drafted.device);
        // The draft is in the journal, and among all sectors of the ring.
        for table in [Table::Segments, Table::Map] {
            wipe(&drafted.device, [place_of(&volume, table, 0)]);
            let mut bytes = vec![0; DEVICE_PAGES as usize * BLOCK_BYTES];
            drafted.device.read(0, &mut bytes).unwrap();
            let device = Failing {
                device: Ram::new(bytes),
                bad: vec![drafted.dpn],
            };
            assert!(map_of(&repaired(&device).0) == drafted.after, "{table}");
        }
    }
}

#[test]
fn a_draft_that_a_root_knows_needs_no_data() {
    for kind in Kind::ALL {
        for is_known in [false, true] {
            let drafted = Drafted::new(kind, 1, 0);
            let (device, next) = (&drafted.device, &drafted.end.next);
            let volume = volume_of(device);
            drafted.spoil();
            if is_known {
                change_well(device, volume.root.dpn(&volume.superblock), |page| {
                    page[64..72].copy_from_slice(&next.sector.to_le_bytes());
                    page[72..80].copy_from_slice(&next.seq.to_le_bytes());
                    page[80..84].copy_from_slice(&next.chain.to_le_bytes());
                });
            }
            wipe(device, [place_of(&volume, Table::Map, 0)]);
            let found = map_of(&repaired(device).0);
            assert_eq!(found[&drafted.lpn].dpn == drafted.dpn, is_known, "{kind:?}");
        }
    }
}

/// The checksum of what lies at a place.
fn sum_at(device: &impl ReadPages, dpn: u64) -> u32 {
    crc32c(!0, &device.read_page(dpn).unwrap())
}

#[test]
fn checksums_stay_as_they_were_whatever_lies_there() {
    for case in NOTHING_IS_LOST {
        let (device, map) = damaged(Kind::Sums, case);
        for entry in map.values() {
            flip(&device, entry.dpn, entry.dpn as usize % BLOCK_BYTES);
        }
        let (to, report) = repaired(&device);
        assert!(map_of(&to) == map, "{}: {report:#?}", case.0);
        assert_eq!(report.nr_sums_made, 0, "{}", case.0);
    }
}

#[test]
fn what_only_a_summary_knows_gets_the_checksum_of_what_lies_there() {
    let device = Kind::Sums.device();
    let volume = volume_of(&device);
    let map = map_of(&device);
    wipe(&device, table_pages(&volume, Table::Map));
    wipe_journal(&device, &volume);
    let (to, report) = repaired(&device);
    let found = map_of(&to);
    for (lpn, entry) in &found {
        assert_eq!(entry.sum, sum_at(&device, entry.dpn), "lpn {lpn}");
    }
    assert!(report.nr_sums_made >= found.len() as u64 && found.len() > map.len() / 2);

    // Of what cannot be read nobody knows it.
    let places: Vec<u64> = found.values().map(|entry| entry.dpn).collect();
    let bad = vec![places[3], places[50], places[51]];
    let device = Failing { device, bad };
    let (to, report) = repaired(&device);
    let again = map_of(&to);
    for (lpn, entry) in &again {
        let sum = match device.bad.contains(&entry.dpn) {
            true => 0,
            false => found[lpn].sum,
        };
        assert_eq!((entry.dpn, entry.sum), (found[lpn].dpn, sum), "lpn {lpn}");
    }
    let words = "which cannot be read, so nobody knows its checksum.";
    let sentences = report.findings.iter().map(|finding| &finding.sentence);
    let said = sentences.filter(|sentence| sentence.ends_with(words));
    assert_eq!(said.count(), device.bad.len(), "{:#?}", report.findings);
    assert!(report.nr_failed_reads >= device.bad.len() as u64);
}

#[test]
fn what_was_repaired_with_its_data_is_sound_to_the_last_page() {
    for case in NOTHING_IS_LOST {
        let (device, map) = damaged(Kind::Sums, case);
        let to = Ram::new(vec![0x5a; DEVICE_PAGES as usize * BLOCK_BYTES]);
        let repaired = repair::repair(&device, &to, 77).unwrap().unwrap();
        assert_eq!(repaired.copy_data(&device, &to).unwrap(), 0);
        let _ = repaired.finish(&to).unwrap();
        let options = Options {
            data: true,
            ..Options::default()
        };
        let report = dieaware::format::check(&to, &options).unwrap();
        assert!(report.findings.is_empty(), "{:#?}", report.findings);
        assert_eq!(report.data.unwrap().nr_pages, map.len() as u64);
    }
}

/// A discard is in no summary, so what was discarded may be there again; nothing else.
fn assert_no_less(to: &Ram, map: &Map, what: &str) -> usize {
    let found = map_of(to);
    for (lpn, entry) in map {
        assert_eq!(found.get(lpn), Some(entry), "{what}: lpn {lpn}");
    }
    found.len() - map.len()
}

#[test]
fn the_map_comes_back_from_summaries_and_journal() {
    for seed in [2, 4, 8, 9, 12, 13] {
        for program in ["make_image", "make_large_image", "make_sums_image"] {
            let path = folder(&format!("repair-{program}-{seed}")).join("image");
            use_device(program, seed, 1, &path, None);
            let device = Ram::new(fs::read(&path).unwrap());
            put_data(&device);
            let volume = volume_of(&device);
            let map = map_of(&device);

            wipe_roots(&device, &volume);
            wipe(&device, table_pages(&volume, Table::Map));
            wipe(&device, table_pages(&volume, Table::Directory));
            let (to, report) = repaired_to(&device, device.nr_pages());
            let more = assert_no_less(&to, &map, &format!("{program} {seed}"));
            assert!(more < map.len() / 4, "{more} of {}", map.len());
            assert_eq!(report.nr_lpns_found, report.nr_mapped + report.nr_dropped);
        }
    }
}

#[test]
fn what_lies_behind_damage_of_the_journal_is_found() {
    for kind in Kind::ALL {
        damage_of_the_journal(kind);
    }
}

fn damage_of_the_journal(kind: Kind) {
    let volume = volume_of(&kind.device());
    let map = map_of(&kind.device());
    let nr_sectors = u64::from(volume.superblock.journal_sectors);
    for at in 0..volume.journal.nr_sectors - 1 {
        let device = kind.device();
        let place = (volume.journal.first_sector + at) % nr_sectors;
        let dpn = volume.superblock.journal_dpn + place / 8;
        flip(&device, dpn, place as usize % 8 * SECTOR_BYTES + 40);
        let check = dieaware::format::check(&device, &Options::default()).unwrap();
        let (to, report) = repaired(&device);
        let found = map_of(&to);
        let same = map
            .iter()
            .filter(|(lpn, entry)| found.get(lpn) == Some(entry));
        let nr_same = same.count();
        // Open segments have the rest nowhere else.
        assert!(!check.is_clean() && nr_same >= map.len() - 10);
        assert_eq!(report.nr_lost, None);
    }
}

#[test]
fn without_the_journal_the_summaries_know_most() {
    let device = used_device();
    let volume = volume_of(&device);
    let map = map_of(&device);
    wipe_journal(&device, &volume);
    let (to, report) = repaired(&device);
    let found = map_of(&to);
    let same = map
        .iter()
        .filter(|(lpn, entry)| found.get(lpn) == Some(entry));
    let nr_same = same.count();
    assert!(
        nr_same > map.len() * 3 / 4,
        "{nr_same} of {}: {report:#?}",
        map.len()
    );
}

#[test]
fn two_lpns_do_not_get_one_place() {
    let device = used_device();
    let volume = volume_of(&device);
    let map = map_of(&device);
    // A page of the map that has its own checksum and another one's places
    let from = device.read_page(place_of(&volume, Table::Map, 0)).unwrap();
    change_well(&device, place_of(&volume, Table::Map, 1), |page| {
        page[64..].copy_from_slice(&from[64..]);
    });
    let (to, report) = repaired(&device);
    assert!(
        report.nr_dropped > 0 && report.nr_lost.unwrap() > 0,
        "{report:#?}"
    );
    let found = map_of(&to);
    let mut places: Vec<_> = found.values().map(|entry| entry.dpn).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), found.len());
    assert!(found.len() > map.len() / 3);
}

#[test]
fn the_core_starts_what_was_repaired() {
    let path = folder("repair-core").join("image");
    for (kind, case) in cases() {
        let (device, _) = damaged(kind, case);
        fs::write(&path, repaired(&device).0.into_bytes()).unwrap();
        let program = core_program(kind.open_image());
        let core_says = output_of(&program, &[path.to_str().unwrap()], "");
        agree(&path, &core_says, case.0);
    }
}

#[test]
fn what_cannot_be_read_is_made_up_for() {
    let volume = volume_of(&used_device());
    let map = map_of(&used_device());
    let device = Failing {
        bad: vec![
            0,
            place_of(&volume, Table::Map, 0),
            place_of(&volume, Table::Segments, 0),
            summary_dpn(&volume, closed(&volume, |nr_valid| nr_valid == 0)),
        ],
        device: used_device(),
    };
    let (to, report) = repaired(&device);
    assert!(report.nr_failed_reads > 2);
    assert_no_less(&to, &map, "unreadable");
}

#[test]
fn no_damage_makes_repair_panic_or_what_it_makes_unsound() {
    for kind in Kind::ALL {
        damage_anything(kind);
    }
}

fn damage_anything(kind: Kind) {
    let volume = volume_of(&kind.device());
    let pages = metadata_pages(&volume);
    let mut random = Random(21);

    for _ in 0..150 {
        let device = kind.device();
        for _ in 0..1 + random.below(4) {
            change_somewhere(&device, &volume, &pages, &mut random);
        }
        let to = Ram::new(vec![0; DEVICE_PAGES as usize * BLOCK_BYTES]);
        // A superblock that was changed with its checksum may describe another device.
        let Ok(Ok(_)) = repair(&device, &to) else {
            continue;
        };
        let _ = dieaware::format::stat::stat(&device, 3);
        let check = dieaware::format::check(&to, &Options::default()).unwrap();
        assert_eq!(check.nr_damages, 0, "{:#?}", check.findings);
    }
}

#[test]
fn repair_as_a_user_runs_it() {
    let folder = folder("repair-cli");
    let (device, map) = damaged(Kind::Plain, &NOTHING_IS_LOST[5]);
    let path = file_with("repair-cli-device", device);
    let before = fs::read(&path).unwrap();
    let (from, to) = (path.to_str().unwrap(), folder.join("to"));
    let to = to.to_str().unwrap();

    let output = dieaware(&["repair", "--dry-run", "--from", from, "--to", to]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let would = stdout(&output);
    assert!(!Path::new(to).exists() && fs::read(&path).unwrap() == before);
    let output = dieaware(&["repair", "--from", from, "--to", to]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert_eq!(
        would,
        format!(
            "{to} does not exist, and would be made\nNothing is written. A repair would say:\n{text}"
        )
    );
    assert!(
        text.starts_with("damage: Page 1 of the map is damaged"),
        "{text}"
    );
    assert!(text.contains(": 1 page of the map was rebuilt"), "{text}");
    assert!(fs::read(from).unwrap() == before);
    assert!(map_of(&Ram::new(fs::read(to).unwrap())) == map);
    assert_eq!(dieaware(&["check", to]).status.code(), Some(0));

    // Quietly: what was found, as nothing is lost
    let again = folder.join("again");
    let again = again.to_str().unwrap();
    let output = dieaware(&["repair", "--quiet", "--from", from, "--to", again]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stdout(&output);
    assert!(
        said.lines().count() > 0 && text.starts_with(&said),
        "{said}"
    );
    assert!(said.lines().all(|line| !line.starts_with(again)), "{said}");
    let output = dieaware(&["check", "--quiet", again]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output) + &stderr(&output), "");
    let output = dieaware(&["check", "--quiet", from]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).starts_with("damage: "));

    // Onto itself, or over something
    let output = dieaware(&["repair", "--force", "--from", from, "--to", from]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("the same device"));
    let link = folder.join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let link = link.to_str().unwrap();
    let output = dieaware(&["repair", "--force", "--from", from, "--to", link]);
    assert_eq!(output.status.code(), Some(2));
    assert!(fs::read(from).unwrap() == before);
    let result = fs::read(to).unwrap();
    let sizes = ["--segment", "256K", "--journal", "512K"];
    let output = dieaware(&[&["format", "--force", to], &sizes[..]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let other = fs::read(to).unwrap();
    for more in [&[][..], &["--dry-run"]] {
        let args = [&["repair", "--from", from, "--to", to], more].concat();
        let output = dieaware(&args);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("--force"));
    }
    let args = ["repair", "--dry-run", "--force", "--from", from, "--to", to];
    let output = dieaware(&args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lost = "holds a device in log mode, which would be lost";
    assert!(stdout(&output).contains(lost), "{}", stdout(&output));
    let output = dieaware(&[&args[..], &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(json["nr_mapped"], map.len());
    assert_eq!(
        json["would_lose"],
        serde_json::json!(["a device in log mode"])
    );
    assert!(fs::read(to).unwrap() == other);
    // The same log is no other thing.
    fs::write(to, result).unwrap();
    let output = dieaware(&["repair", "--from", from, "--to", to]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let output = dieaware(&["repair", "--json", "--force", "--from", from, "--to", to]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(json["nr_mapped"], map.len());
    assert_eq!(json["nr_map_pages_rebuilt"], 1);

    // Checksums that nothing says any more
    let device = Kind::Sums.device();
    let volume = volume_of(&device);
    wipe(&device, table_pages(&volume, Table::Map));
    wipe_journal(&device, &volume);
    let lost = file_with("repair-cli-sums", device);
    let args = [
        "repair",
        "--force",
        "--from",
        lost.to_str().unwrap(),
        "--to",
        to,
    ];
    let output = dieaware(&args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let words = " checksums are those of what lies there, as nothing says what should\n";
    assert!(stdout(&output).contains(words), "{}", stdout(&output));
    let json = stdout(&dieaware(&[&args[..], &["--json"]].concat()));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(json["nr_sums_made"].as_u64() > Some(100), "{json}");

    // Nothing to begin with
    let none = folder.join("none");
    fs::write(&none, vec![0; 1 << 20]).unwrap();
    let never = folder.join("never");
    let args = [none.to_str().unwrap(), never.to_str().unwrap()];
    for more in [&[][..], &["--dry-run"]] {
        let output = dieaware(&[&["repair", "--from", args[0], "--to", args[1]], more].concat());
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(!Path::new(&never).exists());
    }
    // And nowhere to write to
    let nowhere = folder.join("no/folder");
    let args = ["repair", "--from", from, "--to", nowhere.to_str().unwrap()];
    for more in [&[][..], &["--dry-run"]] {
        let output = dieaware(&[&args, more].concat());
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        assert!(stderr(&output).contains("cannot be created"));
    }
}

#[test]
fn data_goes_along_if_it_is_asked_for() {
    let folder = folder("repair-data");
    let device = used_device();
    let map = map_of(&device);
    for (lpn, Entry { dpn, .. }) in &map {
        change(&device, *dpn, |page| page.fill((lpn % 251) as u8));
    }
    let path = file_with("repair-data-device", device);
    let to = folder.join("to");
    let args = [path.to_str().unwrap(), to.to_str().unwrap()];
    let output = dieaware(&["repair", "--data", "--from", args[0], "--to", args[1]]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let copy = Ram::new(fs::read(&to).unwrap());
    assert!(map_of(&copy) == map);
    for (lpn, Entry { dpn, .. }) in &map {
        let page = copy.read_page(*dpn).unwrap();
        assert!(page == [(lpn % 251) as u8; BLOCK_BYTES], "lpn {lpn}");
    }
}

/// A device that takes so many writes and then is full.
struct Full {
    ram: Ram,
    left: Cell<u64>,
}

impl ReadPages for Full {
    fn nr_pages(&self) -> u64 {
        self.ram.nr_pages()
    }

    fn read(&self, dpn: u64, pages: &mut [u8]) -> io::Result<()> {
        self.ram.read(dpn, pages)
    }
}

impl WritePages for Full {
    fn write(&self, dpn: u64, pages: &[u8]) -> io::Result<()> {
        let left = self.left.get().checked_sub(1);
        self.left.set(left.ok_or(io::ErrorKind::StorageFull)?);
        self.ram.write(dpn, pages)
    }

    fn flush(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Copy the data as well.
fn replace(from: &Ram, to: &Full) -> io::Result<()> {
    let repaired = repair::repair(from, to, 77)?.unwrap();
    assert_eq!(repaired.copy_data(from, to)?, 0);
    repaired.finish(to)?;
    Ok(())
}

#[test]
fn nothing_counts_before_the_data_is_there() {
    let from = used_device();
    let map = map_of(&from);
    for (lpn, Entry { dpn, .. }) in &map {
        change(&from, *dpn, |page| page.fill((lpn % 251) as u8));
    }
    let mut nr_failed = 0;
    for left in 0.. {
        let to = Full {
            ram: Ram::new(vec![0; DEVICE_PAGES as usize * BLOCK_BYTES]),
            left: Cell::new(left),
        };
        let result = replace(&from, &to);
        if read_super(&to.ram, &mut Findings::default())
            .unwrap()
            .is_some()
        {
            assert!(map_of(&to.ram) == map, "after {left} writes");
            for Entry { dpn, .. } in map.values() {
                let page = to.ram.read_page(*dpn).unwrap();
                assert!(page == from.read_page(*dpn).unwrap(), "after {left} writes");
            }
        }
        if result.is_ok() {
            break;
        }
        nr_failed += 1;
    }
    assert!(nr_failed > 50, "{nr_failed}");
}

/// Numbers of operations and checkpoints that somebody has made up: none can come after them.
#[test]
fn numbers_that_are_as_high_as_can_be_are_left_out_or_refused() {
    const SEQ: usize = 32;
    const EPOCH: usize = 40;
    const NEXT_SEQ: usize = 72;
    let before = volume_of(&used_device());
    let places = [
        (place_of(&before, Table::Map, 0), SEQ),
        (place_of(&before, Table::Map, 0), EPOCH),
        (before.root.dpn(&before.superblock), NEXT_SEQ),
        (0, EPOCH),
        (16, EPOCH),
    ];
    let (mut nr_repaired, mut nr_refused) = (0, 0);

    for (dpn, at) in places {
        for number in [u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) - 1] {
            let device = used_device();
            change_well(&device, dpn, |page| {
                page[at..at + 8].copy_from_slice(&number.to_le_bytes());
            });
            wipe_journal(&device, &before);
            dieaware::format::check(&device, &Options::default()).unwrap();
            let to = Ram::new(vec![0x5a; DEVICE_PAGES as usize * BLOCK_BYTES]);
            match repair(&device, &to) {
                Ok(_) => {
                    nr_repaired += 1;
                    let check = dieaware::format::check(&to, &Options::default()).unwrap();
                    assert!(check.findings.is_empty(), "{dpn} {at} {number:#x}");
                }
                Err(err) => {
                    nr_refused += 1;
                    assert_eq!(err.kind(), io::ErrorKind::InvalidData);
                }
            }
        }
    }
    assert!(
        nr_repaired > 8 && nr_refused > 4,
        "{nr_repaired} {nr_refused}"
    );
    let last = Super {
        epoch: u64::MAX,
        ..before.superblock
    };
    assert!(create::clear_needs_check(&used_device(), &last).is_err());
}
