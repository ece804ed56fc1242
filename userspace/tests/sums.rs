// SPDX-License-Identifier: GPL-2.0-only
//! Checksums of data: that they are where they must be, and that the tool finds each page which does
//! not have its own.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;

use common::devices::{
    change, change_well, check, expect, file_with, flip, place_of, quiet_lpn, reseal, used_device,
    volume_of, Failing, Kind,
};
use common::{core_program, dieaware, output_of, stderr, stdout};
use dieaware::format::check::Options;
use dieaware::format::dump::{dump, Part};
use dieaware::format::findings::{Findings, Severity, Subject};
use dieaware::format::layout::{
    MapSumsBlock, BLOCK_BYTES, DPN_BYTES, MAP_SUMS_ENTRIES, SECTOR_BYTES, SECTOR_FIRST, SUM_BYTES,
};
use dieaware::format::map::{self, Entry};
use dieaware::format::records::Record;
use dieaware::format::superblock::Table;
use dieaware::format::volume::Volume;
use dieaware::io_engine::pages::{Ram, ReadPages};
use serde_json::Value;

/// A page of data, with what is known of it.
struct Written {
    lpn: u64,
    dpn: u64,
    fpage: u32,
}

/// Pages of data of which the file is known, which is always file 1.
fn written_pages(device: &Ram) -> Vec<Written> {
    let mut text = Vec::new();
    dump(device, &[Part::Summaries], &mut text).unwrap();
    let volume = volume_of(device);
    let mut of_place = BTreeMap::new();
    for line in String::from_utf8(text).unwrap().lines() {
        let field = |name: &str| -> Option<u64> {
            let word = line.split(' ').find_map(|word| word.strip_prefix(name));
            word.map(|value| value.parse().unwrap())
        };
        let (Some(segment), Some(fpage)) = (field("segment="), field("fpage=")) else {
            continue;
        };
        let first = volume.superblock.segment_dpn(segment).unwrap() + field("page=").unwrap();
        for at in 0..field("pages=").unwrap() {
            of_place.insert(first + at, (field("lpn=").unwrap() + at, fpage + at));
        }
    }
    let mut written = Vec::new();
    map::for_each_page(device, &volume, &mut Findings::default(), |page, _| {
        for (lpn, Entry { dpn, .. }) in page.mapped() {
            let known = of_place.get(&dpn).filter(|known| known.0 == lpn);
            written.extend(known.map(|(_, fpage)| Written {
                lpn,
                dpn,
                fpage: *fpage as u32,
            }));
        }
        Ok(())
    })
    .unwrap();
    written
}

const WITH_DATA: Options = Options {
    quick: false,
    data: true,
};

#[test]
fn damaged_pages_of_data_are_found_each_by_itself() {
    let written = written_pages(&Kind::Sums.device());
    assert!(written.len() > 500);
    for page in written.iter().step_by(9) {
        let device = Kind::Sums.device();
        flip(&device, page.dpn, page.lpn as usize % BLOCK_BYTES);
        // Without being asked for, data is not looked at.
        assert!(check(&device).findings.is_empty());
        let report = dieaware::format::check(&device, &WITH_DATA).unwrap();
        let sentence = format!(
            "What lies at place {} for lpn {}, page {} of file 1, is damaged: its checksum is 0x",
            page.dpn, page.lpn, page.fpage
        );
        let finding = &report.findings[0];
        assert!(finding.sentence.starts_with(&sentence), "{finding}");
        assert_eq!(finding.subject, Subject::Data);
        assert_eq!((report.nr_damages, report.findings.len()), (1, 1));
        let data = report.data.unwrap();
        assert_eq!(data.nr_pages, report.facts.unwrap().nr_mapped);
        assert_eq!((data.nr_damaged, data.nr_unreadable), (1, 0));
    }
}

#[test]
fn all_damaged_pages_are_counted_and_no_others() {
    let device = Kind::Sums.device();
    let written = written_pages(&device);
    let volume = volume_of(&device);
    let mapped: BTreeSet<u64> = {
        let mut mapped = BTreeSet::new();
        map::for_each_page(&device, &volume, &mut Findings::default(), |page, _| {
            mapped.extend(page.mapped().map(|(_, entry)| entry.dpn));
            Ok(())
        })
        .unwrap();
        mapped
    };
    // What is not mapped has no checksum.
    for number in 0..volume.superblock.nr_segments() {
        let first = volume.superblock.segment_dpn(number).unwrap();
        for dpn in first..first + u64::from(volume.superblock.data_pages()) {
            if !mapped.contains(&dpn) {
                flip(&device, dpn, 5);
            }
        }
    }
    let report = dieaware::format::check(&device, &WITH_DATA).unwrap();
    assert!(report.is_clean(), "{:#?}", report.findings);
    for page in written.iter().step_by(3) {
        flip(&device, page.dpn, 5);
    }
    let nr_flipped = written.len().div_ceil(3) as u64;
    let report = dieaware::format::check(&device, &WITH_DATA).unwrap();
    assert_eq!(report.nr_damages, nr_flipped);
    assert_eq!(report.data.unwrap().nr_damaged, nr_flipped);
    // The first ones by place are named.
    let mut places: Vec<_> = written.iter().step_by(3).map(|page| page.dpn).collect();
    places.sort_unstable();
    for (finding, dpn) in report.findings.iter().zip(&places[..20]) {
        let words = format!("What lies at place {dpn} for lpn ");
        assert!(finding.sentence.starts_with(&words), "{finding}");
    }
    let more = format!("There are {} more of this kind.", nr_flipped - 20);
    assert_eq!(report.findings[20].sentence, more);
}

#[test]
fn data_is_compared_with_what_the_journal_says() {
    let device = Kind::Sums.device();
    let volume = volume_of(&device);
    let mut lpns = BTreeSet::new();
    Volume::load_with(&device, &mut Findings::default(), |operation| {
        if let Some(&Record::Map { lpn, nr_pages, .. }) = operation.records.first() {
            lpns.extend(lpn..lpn + nr_pages);
        }
    })
    .unwrap();
    let mut nr_found = 0;
    let mut places = Vec::new();
    map::for_each_page(&device, &volume, &mut Findings::default(), |page, _| {
        let of_journal = page.mapped().filter(|(lpn, _)| lpns.contains(lpn));
        places.extend(of_journal.map(|(_, entry)| entry.dpn));
        Ok(())
    })
    .unwrap();
    for dpn in places {
        flip(&device, dpn, 0);
        nr_found += 1;
        let report = dieaware::format::check(&device, &WITH_DATA).unwrap();
        assert_eq!(report.data.unwrap().nr_damaged, nr_found);
    }
    assert!(nr_found > 5, "{nr_found}");
}

#[test]
fn a_changed_checksum_is_damage_of_data() {
    let volume = volume_of(&Kind::Sums.device());
    let (lpn, dpn) = quiet_lpn(&Kind::Sums.device(), &volume);
    let place = place_of(&volume, Table::Map, 0);
    let at = offset_of!(MapSumsBlock, sum) + lpn as usize * SUM_BYTES;
    for byte in 0..SUM_BYTES {
        let device = Kind::Sums.device();
        change_well(&device, place, |page| page[at + byte] ^= 0x10);
        assert!(check(&device).findings.is_empty());
        let report = dieaware::format::check(&device, &WITH_DATA).unwrap();
        let words = format!("What lies at place {dpn} for lpn {lpn}");
        assert!(report.findings[0].sentence.starts_with(&words));
        assert_eq!(report.nr_damages, 1);
    }
}

#[test]
fn what_is_nowhere_has_no_checksum() {
    let device = Kind::Sums.device();
    let volume = volume_of(&device);
    let page = device.read_page(place_of(&volume, Table::Map, 0)).unwrap();
    let mut entries = page[64..].chunks_exact(DPN_BYTES).take(MAP_SUMS_ENTRIES);
    let empty = entries.position(|dpn| dpn == [0; DPN_BYTES]).unwrap();
    let at = offset_of!(MapSumsBlock, sum) + empty * SUM_BYTES;
    change_well(&device, place_of(&volume, Table::Map, 0), |page| {
        page[at] = 1;
    });
    expect(
        &device,
        Severity::Damage,
        Subject::MapEntry,
        "is mapped to nothing, and has the checksum of something",
    );
}

/// Put other bytes over the records of the first sector of the journal, and let it end there.
fn change_records(device: &Ram, volume: &Volume, how: impl FnOnce(&mut Vec<u8>)) {
    let at = volume.journal.first_sector % u64::from(volume.superblock.journal_sectors);
    let dpn = volume.superblock.journal_dpn + at / 8;

    change(device, dpn, |page| {
        let sector = &mut page[at as usize % 8 * SECTOR_BYTES..][..SECTOR_BYTES];
        let nr_bytes = usize::from(u16::from_le_bytes([sector[28], sector[29]]) & !SECTOR_FIRST);
        let mut records = sector[32..32 + nr_bytes].to_vec();
        how(&mut records);
        sector[32..].fill(0);
        sector[32..32 + records.len()].copy_from_slice(&records);
        let nr_bytes = records.len() as u16 | SECTOR_FIRST;
        sector[28..30].copy_from_slice(&nr_bytes.to_le_bytes());
    });
    reseal(device, volume, dpn);
}

#[test]
fn an_operation_has_a_checksum_of_each_page_or_is_none() {
    let map = |nr_pages: u16, is_last: u8| {
        let mut bytes = vec![1 | is_last, 0, 0, 9, 0, 0, 0, 0, 0, 2, 0, 0, 0];
        bytes[1..3].copy_from_slice(&nr_pages.to_le_bytes());
        bytes
    };
    let sums = |nr_sums: u8, is_last: u8| {
        let mut bytes = vec![7 | is_last, nr_sums];
        bytes.resize(2 + usize::from(nr_sums) * SUM_BYTES, 0x5a);
        bytes
    };
    let dead = |is_last: u8| vec![2 | is_last, 1, 0, 0, 2, 0, 0, 0];
    let trim = [0x83, 1, 0, 9, 0, 0, 0, 0];
    let wants_one = "has not one checksum of each page that wants one";
    let of_nothing = "has checksums of nothing";
    for (kind, records, words) in [
        (Kind::Sums, map(1, 0x80), wants_one),
        (Kind::Sums, [map(1, 0), dead(0x80)].concat(), wants_one),
        (Kind::Sums, [map(2, 0), sums(1, 0x80)].concat(), wants_one),
        (Kind::Sums, [map(2, 0), sums(3, 0x80)].concat(), wants_one),
        (
            Kind::Sums,
            [map(449, 0), sums(100, 0), sums(1, 0x80)].concat(),
            "is about more lpns than a page of the map has",
        ),
        (
            Kind::Sums,
            [map(2, 0), sums(1, 0), dead(0), sums(1, 0x80)].concat(),
            of_nothing,
        ),
        (Kind::Sums, [sums(1, 0), map(1, 0x80)].concat(), of_nothing),
        (
            Kind::Sums,
            [&trim[..7], &[0, 0x87, 1, 0, 0, 0, 0][..]].concat(),
            of_nothing,
        ),
        (Kind::Plain, [map(1, 0), sums(1, 0x80)].concat(), wants_one),
    ] {
        let device = kind.device();
        let volume = volume_of(&device);
        change_records(&device, &volume, |of_sector| *of_sector = records.clone());
        expect(&device, Severity::Damage, Subject::Journal, words);
        // The core says so, too.
        let path = file_with(&format!("check-records-{kind:?}"), device);
        let program = core_program(kind.open_image());
        let core_says = output_of(&program, &[path.to_str().unwrap()], "");
        assert!(core_says.starts_with("refused "), "{words}: {core_says}");
    }
}

#[test]
fn no_operation_is_about_three_pages_of_the_map() {
    let map_entries = MAP_SUMS_ENTRIES as u16;
    for (kind, nr_pages, is_one) in [
        (Kind::Plain, 512, true),
        (Kind::Sums, map_entries, true),
        (Kind::Sums, map_entries + 1, false),
        (Kind::Sums, 512, false),
    ] {
        let device = kind.device();
        let volume = volume_of(&device);
        let mut trim = vec![0x83, 0, 0, 0xbf, 1, 0, 0, 0];
        trim[1..3].copy_from_slice(&nr_pages.to_le_bytes());
        change_records(&device, &volume, |of_sector| *of_sector = trim);
        let report = check(&device);
        let words = "is about more lpns than a page of the map has";
        let mut said = report.findings.iter();
        let is_refused = said.any(|finding| finding.sentence.contains(words));
        assert_eq!(is_refused, !is_one, "{kind:?}, {nr_pages}");
    }
}

#[test]
fn data_that_cannot_be_read_is_no_damage_of_it() {
    let written = written_pages(&Kind::Sums.device());
    let sound = Kind::Sums.device();
    flip(&sound, written[40].dpn, 1);
    let mut bad: Vec<_> = written[20..23].iter().map(|page| page.dpn).collect();
    // A page that nobody wants, between others that are read
    let volume = volume_of(&sound);
    let mapped: BTreeSet<u64> = written.iter().map(|page| page.dpn).collect();
    let mut gaps = mapped.iter().map(|dpn| dpn + 1);
    let is_unwanted =
        |dpn: &u64| !mapped.contains(dpn) && volume.superblock.segment_of(*dpn).is_some();
    bad.extend(gaps.find(is_unwanted));
    let device = Failing { device: sound, bad };
    let report = dieaware::format::check(&device, &WITH_DATA).unwrap();
    let data = report.data.unwrap();
    assert_eq!((data.nr_damaged, data.nr_unreadable), (1, 3));
    assert_eq!(report.nr_failed_reads, 3);
    assert_eq!(data.nr_pages, report.facts.as_ref().unwrap().nr_mapped);
    let said = |words: &str| {
        let sentences = report.findings.iter().map(|found| &found.sentence);
        sentences
            .filter(|sentence| sentence.contains(words))
            .count()
    };
    assert_eq!(said("cannot be read (Input/output error"), 3);
    assert_eq!(said("is damaged: its checksum is"), 1);
}

#[test]
fn check_of_data_as_a_user_runs_it() {
    let path = file_with("check-data", Kind::Sums.device());
    let path = path.to_str().unwrap();
    let before = fs::read(path).unwrap();
    let output = dieaware(&["check", "--data", path]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let nr_mapped = check(&Kind::Sums.device()).facts.unwrap().nr_mapped;
    let sentence = format!(
        "{path}: {nr_mapped} pages of data compared with their checksums, 0 damaged, 0 not readable\n"
    );
    assert!(stdout(&output).ends_with(&sentence), "{}", stdout(&output));
    assert!(fs::read(path).unwrap() == before);
    assert!(!stdout(&dieaware(&["check", path])).contains("compared"));

    let page = &written_pages(&Kind::Sums.device())[7];
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(b"rot", page.dpn * BLOCK_BYTES as u64 + 99)
        .unwrap();
    let output = dieaware(&["check", "--data", "--json", path]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let json: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(json["facts"]["checksums"], true);
    assert_eq!(json["findings"][0]["subject"], "data");
    assert_eq!(json["data"]["nr_pages"], nr_mapped);
    assert_eq!(json["data"]["nr_damaged"], 1);
    let output = dieaware(&["check", "--quick", "--data", path]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(dieaware(&["check", path]).status.code(), Some(0));

    let plain = file_with("check-data-plain", used_device());
    let plain = plain.to_str().unwrap();
    let output = dieaware(&["check", "--data", plain]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("has no checksums of data"));
    assert_eq!(stdout(&output), "");
    for (path, checksums) in [(path, "of all data"), (plain, "none")] {
        let stat = stdout(&dieaware(&["stat", path]));
        assert!(
            stat.contains(&format!("\nchecksums {checksums}\n")),
            "{stat}"
        );
    }
}
