// SPDX-License-Identifier: GPL-2.0-only
//! Drafts: batches of the journal that were written along with their data. Which of them count, and
//! what none can be.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use common::devices::{
    agree, change, change_well, check, expect, file_with, flip, metadata_pages, reseal, volume_of,
    Failing, Kind,
};
use common::drafts::{
    map_of, map_record, map_records, range_record, with_feature, Drafted, End, NewSector,
};
use common::{core_program, dieaware, output_of, stdout, Random};
use dieaware::format::check::{Options, Report};
use dieaware::format::dump::{dump, Part};
use dieaware::format::findings::{Severity, Subject};
use dieaware::format::layout::{BLOCK_BYTES, SECTOR_BYTES, SECTOR_DRAFT, SECTOR_FIRST};
use dieaware::format::scan::Scan;
use dieaware::io_engine::pages::{Ram, ReadPages, WritePages};

const DRAFT: u16 = SECTOR_FIRST | SECTOR_DRAFT;

fn all() -> impl Iterator<Item = (Kind, u64, u64)> {
    let sizes = [(1, 0), (1, 7), (3, 7), (8, 0), (8, 7)];
    let of = move |kind| sizes.map(|(nr_pages, nr_fillers)| (kind, nr_pages, nr_fillers));
    Kind::ALL.into_iter().flat_map(of)
}

fn copy(device: &Ram) -> Ram {
    let mut bytes = vec![0; device.nr_pages() as usize * BLOCK_BYTES];
    device.read(0, &mut bytes).unwrap();
    Ram::new(bytes)
}

/// The device is sound, and the core says the same of it.
fn is_sound(drafted: &Drafted, what: &str) {
    let report = check(&drafted.device);
    assert!(report.findings.is_empty(), "{what}: {:#?}", report.findings);
    assert!(map_of(&drafted.device) == drafted.after, "{what}");
    let name = std::thread::current().name().unwrap().to_owned();
    let path = file_with(&name, copy(&drafted.device));
    let program = core_program(drafted.kind.open_image());
    let core_says = output_of(&program, &[path.to_str().unwrap()], "");
    agree(&path, &core_says, what);
}

/// The draft does not count, and that is no damage.
fn is_dropped(drafted: &Drafted, nr_fillers: u64, what: &str) {
    let report = check(&drafted.device);
    assert!(report.is_clean(), "{what}: {:#?}", report.findings);
    assert!(map_of(&drafted.device) == drafted.before, "{what}");
    let Report {
        facts, findings, ..
    } = report;
    let journal = facts.unwrap().journal;
    assert_eq!(journal.next_seq, drafted.seq, "{what}");
    let end = journal.first_sector + journal.nr_sectors;
    assert_eq!(end, drafted.sector, "{what}");
    assert_eq!(journal.nr_dropped_sectors, 1 + nr_fillers, "{what}");
    assert_eq!(journal.nr_unfinished_records, 0, "{what}");
    // It is said once.
    let [finding] = &findings[..] else {
        panic!("{what}: {findings:#?}");
    };
    assert_eq!(
        (finding.severity, finding.subject),
        (Severity::Note, Subject::Journal)
    );
    let words = format!(
        "The last batch of the journal, at sector {}, is a draft of operation {} the data of which \
         is not there, as a crash may leave it: it does not count.",
        drafted.sector, drafted.seq
    );
    assert_eq!(finding.sentence, words, "{what}");
}

#[test]
fn a_draft_with_its_data_counts() {
    for (kind, nr_pages, nr_fillers) in all() {
        let drafted = Drafted::new(kind, nr_pages, nr_fillers);
        let what = format!("{kind:?}, {nr_pages} pages, {nr_fillers} fillers");
        assert!(drafted.before != drafted.after, "{what}");
        is_sound(&drafted, &what);
        let journal = check(&drafted.device).facts.unwrap().journal;
        assert_eq!(journal.next_seq, drafted.seq + 1);
        assert_eq!(journal.nr_dropped_sectors, 0);
    }
}

#[test]
fn the_last_draft_does_not_count_without_any_page_of_its_data() {
    for (kind, nr_pages, nr_fillers) in all() {
        for at in 0..nr_pages {
            let drafted = Drafted::new(kind, nr_pages, nr_fillers);
            flip(&drafted.device, drafted.dpn + at, 4000);
            is_dropped(
                &drafted,
                nr_fillers,
                &format!("{kind:?}, page {at} of {nr_pages}"),
            );
        }
        // Nothing of it was written.
        let drafted = Drafted::new(kind, nr_pages, nr_fillers);
        for dpn in drafted.places() {
            drafted.device.write(dpn, &[0; BLOCK_BYTES]).unwrap();
        }
        is_dropped(&drafted, nr_fillers, &format!("{kind:?}, nothing"));
    }
}

#[test]
fn pages_that_changed_places_are_not_the_data() {
    let drafted = Drafted::new(Kind::Plain, 2, 0);
    let pages = drafted
        .places()
        .map(|dpn| drafted.device.read_page(dpn).unwrap());
    for (dpn, page) in drafted.places().rev().zip(pages.collect::<Vec<_>>()) {
        drafted.device.write(dpn, &page).unwrap();
    }
    is_dropped(&drafted, 0, "changed");
}

#[test]
fn a_draft_whose_data_cannot_be_read_counts() {
    for (kind, nr_pages, nr_fillers) in all() {
        for at in [0, nr_pages - 1] {
            // Also if the rest of it is something else
            let drafted = Drafted::without_data(kind, nr_pages, nr_fillers);
            let device = Failing {
                device: copy(&drafted.device),
                bad: vec![drafted.dpn + at],
            };
            let report = dieaware::format::check(&device, &Options::default()).unwrap();
            assert_eq!((report.nr_damages, report.nr_warnings), (0, 1));
            assert_eq!(report.nr_failed_reads, 1);
            let words = format!(
                "The last batch of the journal, at sector {}, is a draft the data of which cannot \
                 be read (Input/output error",
                drafted.sector
            );
            let sentence = &report.findings[0].sentence;
            assert!(sentence.starts_with(&words), "{sentence}");
            assert!(map_of(&device) == drafted.after);
        }
    }
}

#[test]
fn a_draft_before_another_batch_counts_whatever_its_data_is() {
    for (kind, nr_pages, nr_fillers) in all() {
        let mut drafted = Drafted::new(kind, nr_pages, nr_fillers);
        drafted.add_batch();
        is_sound(&drafted, &format!("{kind:?}, followed"));
        drafted.spoil();
        is_sound(&drafted, &format!("{kind:?}, followed, overwritten"));
        // It is not even read.
        let device = Failing {
            device: copy(&drafted.device),
            bad: drafted.places().collect(),
        };
        let report = dieaware::format::check(&device, &Options::default()).unwrap();
        assert!(report.is_clean() && report.findings.is_empty());
    }
}

#[test]
fn of_two_drafts_only_the_last_one_is_looked_at() {
    for (kind, nr_pages, nr_fillers) in all() {
        let mut drafted = Drafted::new(kind, nr_pages, nr_fillers);
        let first: Vec<u64> = drafted.places().collect();
        drafted.add(nr_pages, nr_fillers);
        for dpn in first {
            flip(&drafted.device, dpn, 9);
        }
        is_sound(&drafted, "two");
        drafted.spoil();
        is_dropped(&drafted, nr_fillers, "two");
    }
}

#[test]
fn fillers_that_were_not_written_change_nothing() {
    for kind in Kind::ALL {
        for nr_written in 0..7 {
            for has_data in [true, false] {
                let drafted = Drafted::new(kind, 4, 7);
                for number in drafted.sector + 1 + nr_written..drafted.sector + 8 {
                    let (dpn, at) = drafted.end.place(number);
                    change(&drafted.device, dpn, |page| {
                        page[at..at + SECTOR_BYTES].fill(0);
                    });
                }
                if has_data {
                    is_sound(&drafted, "fillers");
                } else {
                    drafted.spoil();
                    is_dropped(&drafted, nr_written, "fillers");
                }
            }
        }
    }
}

#[test]
fn a_batch_that_does_not_come_next_says_nothing_of_the_draft() {
    let mut drafted = Drafted::without_data(Kind::Plain, 2, 0);
    // Of a line of events that has ended
    let chain = drafted.end.next.chain;
    drafted.end.next.chain ^= 1;
    let number = drafted.add_batch();
    assert!(map_of(&drafted.device) == drafted.before);
    // But there is none behind the end of a journal unless the end was durable.
    let words = format!(
        "The journal ends before sector {}, but sector {number} is whole",
        drafted.sector
    );
    expect(&drafted.device, Severity::Damage, Subject::Journal, &words);
    drafted.end.next.chain = chain;
    drafted.end.next.sector -= 1;
    drafted.end.next.seq -= 1;
    drafted.add_batch();
    is_sound(&drafted, "the right chain");
}

/// What follows the journal of a device with drafts, and that it cannot be. Where its data lies it
/// could be looked at.
fn is_none(kind: Kind, device: &Ram, sectors: &[NewSector], what: &str) {
    for is_last in [true, false] {
        let device = copy(device);
        let mut end = End::of(&device, &volume_of(&device));
        let bad = end.next.sector;
        for sector in sectors {
            end.put(&device, sector);
        }
        if !is_last {
            let trim = range_record(0x83, 1);
            end.put(
                &device,
                &NewSector {
                    flags: SECTOR_FIRST,
                    records: trim,
                    nr_operations: 1,
                    sum: None,
                },
            );
        }
        let report = check(&device);
        let words = "of the journal has a draft that is none.";
        let said = report.findings.iter().find(|finding| {
            let is_damage = finding.severity == Severity::Damage;
            is_damage && finding.sentence.ends_with(words)
        });
        let said = said.unwrap_or_else(|| panic!("{what}, {kind:?}: {:#?}", report.findings));
        let number = bad + sectors.len() as u64 - 1;
        assert!(
            said.sentence.starts_with(&format!("Sector {number} ")),
            "{what}: {said}"
        );
    }
}

#[test]
fn what_the_target_does_not_write_is_damage() {
    for kind in Kind::ALL {
        let drafted = Drafted::new(kind, 8, 0);
        let (lpn, dpn, sum) = (drafted.lpn, drafted.dpn, Some(drafted.sum));
        let device = with_feature(kind);
        let sums = [0x5a5a_5a5a; 9];
        let good = {
            let places = drafted.before.range(lpn..lpn + 8);
            let dead: Vec<u64> = places.map(|(_, entry)| entry.dpn).collect();
            let sums: Vec<u32> = (0..8)
                .map(|at| common::drafts::page_of_data(dpn + at))
                .map(|page| dieaware::format::block::crc32c(!0, &page))
                .collect();
            map_records(kind, lpn, dpn, &sums, &dead)
        };
        let draft = |records: Vec<u8>| NewSector {
            flags: DRAFT,
            records,
            nr_operations: 1,
            sum,
        };
        let first = |records: Vec<u8>| NewSector {
            flags: SECTOR_FIRST,
            sum: None,
            ..draft(records)
        };
        let one = map_records(kind, lpn, dpn, &sums[..1], &[]);
        let nine = map_records(kind, lpn, dpn, &sums, &[]);
        let unfinished = map_record(lpn, dpn, 1);
        let open = [&[0x84, 0, 1, 0, 0, 0][..], &[0; 8]].concat();
        let long = map_records(kind, lpn, dpn, &sums[..1], &[dpn; 58]);
        // With checksums one more record fits what a draft has room for.
        let long_sums = map_records(kind, lpn, dpn, &sums[..1], &[dpn; 57]);
        assert!(long.len() > 476 && (long_sums.len() <= 476));

        is_none(
            kind,
            &kind.device(),
            &[draft(good.clone())],
            "without the feature",
        );
        let not_first = NewSector {
            flags: SECTOR_DRAFT,
            ..draft(good.clone())
        };
        is_none(kind, &device, &[not_first], "it begins no batch");
        let in_batch = NewSector {
            flags: SECTOR_DRAFT,
            ..draft(one.clone())
        };
        is_none(
            kind,
            &device,
            &[draft(good.clone()), in_batch],
            "behind a draft",
        );
        is_none(kind, &device, &[draft(nine)], "nine pages");
        is_none(kind, &device, &[draft(Vec::new())], "nothing");
        let sector = NewSector {
            nr_operations: 0,
            ..draft(unfinished.clone())
        };
        is_none(kind, &device, &[sector], "cut off");
        let two = [&one[..], &one[..]].concat();
        let sector = NewSector {
            nr_operations: 2,
            ..draft(two)
        };
        is_none(kind, &device, &[sector], "two operations");
        is_none(kind, &device, &[draft(range_record(0x83, lpn))], "a TRIM");
        is_none(kind, &device, &[draft(open)], "an OPEN");
        if long.len() <= 480 {
            is_none(kind, &device, &[draft(long)], "too long");
        }
        // The batch before it has an operation without an end.
        let cut = NewSector {
            nr_operations: 0,
            ..first(unfinished)
        };
        is_none(
            kind,
            &device,
            &[cut, draft(good.clone())],
            "within an operation",
        );
        // The rest of its batch is empty.
        let filler = NewSector {
            flags: 0,
            ..first(range_record(0x83, 1))
        };
        is_none(kind, &device, &[draft(good), filler], "behind a draft");

        // This one has only what cannot have happened.
        let mut end = End::of(&device, &volume_of(&device));
        end.put(&device, &draft(long_sums));
        expect(&device, Severity::Note, Subject::Journal, "does not count");
    }
}

#[test]
fn a_draft_has_the_checksums_that_its_device_wants() {
    for kind in Kind::ALL {
        let drafted = Drafted::new(kind, 1, 0);
        let other = match kind {
            Kind::Plain => Kind::Sums,
            Kind::Sums => Kind::Plain,
        };
        let device = with_feature(kind);
        let mut end = End::of(&device, &volume_of(&device));
        end.put(
            &device,
            &NewSector {
                flags: DRAFT,
                records: map_records(other, drafted.lpn, drafted.dpn, &[7], &[]),
                nr_operations: 1,
                sum: Some(drafted.sum),
            },
        );
        let words = "has not one checksum of each page that wants one";
        expect(&device, Severity::Damage, Subject::Journal, words);
    }
}

#[test]
fn a_draft_of_what_is_no_data_is_damage_and_not_dropped() {
    for kind in Kind::ALL {
        let device = with_feature(kind);
        let volume = volume_of(&device);
        let first = volume.superblock.segment_dpn(3).unwrap();
        let data_pages = u64::from(volume.superblock.data_pages());
        for dpn in [0, 5, device.nr_pages() + 9, first + data_pages - 1] {
            let device = with_feature(kind);
            let mut end = End::of(&device, &volume);
            end.put(
                &device,
                &NewSector {
                    flags: DRAFT,
                    records: map_records(kind, 1, dpn, &[7, 8], &[]),
                    nr_operations: 1,
                    sum: Some(1),
                },
            );
            let words = format!("pages at place {dpn}, where no data can be");
            expect(&device, Severity::Damage, Subject::Journal, &words);
        }
    }
}

#[test]
fn a_dump_says_what_is_a_draft() {
    for kind in Kind::ALL {
        let mut drafted = Drafted::new(kind, 3, 7);
        let text = |drafted: &Drafted| {
            let mut text = Vec::new();
            dump(&drafted.device, &Part::ALL, &mut text).unwrap();
            String::from_utf8(text).unwrap()
        };
        let dumped = text(&drafted);
        assert!(dumped.contains(" drafts=1\n"));
        let line = format!(
            "record seq={} sector={} map lpn={} dpn={} pages=3",
            drafted.seq, drafted.sector, drafted.lpn, drafted.dpn
        );
        let lines: Vec<&str> = dumped
            .lines()
            .filter(|one| one.contains("draft="))
            .collect();
        assert_eq!(lines.len(), 1);
        assert!(lines[0].starts_with(&line), "{lines:?}");
        let end = format!(" draft={:#010x}", drafted.sum);
        assert!(lines[0].ends_with(&end), "{lines:?}");

        drafted.spoil();
        let dropped = text(&drafted);
        assert!(!dropped.contains(&line) && dropped.contains("\n# note: The last batch of"));
        assert!(dropped.contains(&format!("\njournal next_seq={}\n", drafted.seq)));
        drafted.add_batch();
        assert!(text(&drafted).contains(lines[0]));
    }
}

#[test]
fn check_as_a_user_runs_it() {
    let drafted = Drafted::without_data(Kind::Sums, 2, 0);
    let path = file_with("drafts-check", copy(&drafted.device));
    let path = path.to_str().unwrap();
    let output = dieaware(&["check", "--data", path]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    assert!(stdout(&output).starts_with("note: The last batch of the journal, at sector "));
    let json = stdout(&dieaware(&["check", "--json", path]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["facts"]["drafts"], true);
    assert_eq!(json["facts"]["journal"]["nr_dropped_sectors"], 1);
    assert_eq!(json["findings"][0]["severity"], "note");
}

#[test]
fn a_sector_that_is_found_by_itself_is_a_draft_all_the_same() {
    for kind in Kind::ALL {
        let mut drafted = Drafted::new(kind, 2, 7);
        let superblock = volume_of(&drafted.device).superblock;
        let next_seq =
            |drafted: &Drafted, end| Scan::new(&drafted.device, &superblock, end).next_seq;
        let (seq, sector) = (drafted.seq, drafted.sector);
        assert_eq!(next_seq(&drafted, 0), seq + 1);
        // On a device that has none it is one all the less.
        let plain = volume_of(&kind.device()).superblock;
        assert_eq!(Scan::new(&drafted.device, &plain, u64::MAX).next_seq, seq);
        drafted.spoil();
        let scan = Scan::new(&drafted.device, &superblock, sector);
        assert_eq!(scan.next_seq, seq);
        // Its number is taken.
        assert_eq!(scan.next_sector, sector + 8);
        // A root says that it was durable.
        assert_eq!(next_seq(&drafted, sector + 1), seq + 1);
        // So does another batch, also if the one next to it is damaged.
        drafted.end.fill(&drafted.device, 1);
        assert_eq!(next_seq(&drafted, 0), seq);
        drafted.add_batch();
        let (dpn, at) = drafted.end.place(sector + 4);
        flip(&drafted.device, dpn, at + 40);
        assert_eq!(next_seq(&drafted, 0), seq + 2);
    }
}

#[test]
fn no_byte_of_a_draft_makes_the_tool_panic() {
    for kind in Kind::ALL {
        let mut random = Random(31);
        let (mut nr_sound, mut nr_dropped, mut nr_damaged) = (0, 0, 0);
        for round in 0..600 {
            let mut drafted = Drafted::new(kind, 1 + round % 8, round % 3);
            if round % 5 == 0 {
                drafted.add_batch();
            }
            if round % 7 == 0 {
                drafted.spoil();
            }
            let volume = volume_of(&drafted.device);
            let (dpn, at) = drafted.end.place(drafted.sector);
            let at = at as u64 + 4 + random.below(if round % 2 == 0 { 40 } else { 508 });
            let bits = 1 << random.below(8);
            change(&drafted.device, dpn, |page| page[at as usize] ^= bits);
            if round % 4 != 0 {
                reseal(&drafted.device, &volume, dpn);
            }
            let report = check(&drafted.device);
            match report.nr_damages {
                0 if report.findings.is_empty() => nr_sound += 1,
                0 => nr_dropped += 1,
                _ => nr_damaged += 1,
            }
            let _ = dump(&drafted.device, &Part::ALL, &mut std::io::sink());
        }
        assert!(
            nr_sound > 20 && nr_dropped > 20 && nr_damaged > 20,
            "{nr_sound} {nr_dropped} {nr_damaged}"
        );
    }
}

#[test]
fn a_superblock_without_the_feature_makes_drafts_damage() {
    let drafted = Drafted::new(Kind::Plain, 1, 0);
    for dpn in [0, 16] {
        change_well(&drafted.device, dpn, |page| page[80] = 0);
    }
    let words = "has a draft that is none.";
    expect(&drafted.device, Severity::Damage, Subject::Journal, words);
    assert!(!metadata_pages(&volume_of(&drafted.device)).is_empty());
}
