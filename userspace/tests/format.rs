// SPDX-License-Identifier: GPL-2.0-only
//! The format of log mode in two languages, and `dieaware format` as its users meet it.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::os::unix::fs::FileExt;
use std::process::Command;

use common::{core_program, dieaware, folder, image, output_of, stderr, stdout, top, Random};
use dieaware::format::layout::{self, INCOMPAT_CHECKSUMS, INCOMPAT_DRAFTS};
use dieaware::format::make::{make, MakeError, Request};
use dieaware::format::root::Root;
use dieaware::format::superblock::Super;
use serde_json::Value;

fn golden() -> String {
    fs::read_to_string(top().join("tests/golden/format.layout")).unwrap()
}

#[test]
fn the_header_is_as_the_golden_file_says() {
    let printed = output_of(&core_program("print_layout"), &[], "");
    assert_eq!(printed, golden());
}

#[test]
fn the_tool_s_structures_are_as_the_golden_file_says() {
    assert_eq!(layout::as_text(), golden());
}

#[test]
fn every_number_of_the_header_is_in_the_golden_file() {
    let header = fs::read_to_string(top().join("include/dieaware/format.h")).unwrap();
    let golden = golden();
    let mut nr_numbers = 0;
    for line in header.lines() {
        let mut words = line.split_whitespace();
        let (Some("#define"), Some(name), Some(_)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        assert!(golden.contains(&format!("number {name} ")), "{name}");
        nr_numbers += 1;
    }
    assert!(nr_numbers > 30);
    assert_eq!(golden.matches("number ").count(), nr_numbers);
}

/// Requests that are possible and some that are not, of all sizes.
fn requests() -> Vec<Request> {
    let mut random = Random(1);
    let mut requests = Vec::new();

    for _ in 0..4000 {
        let bits = 11 + random.below(31);
        let stripe_pages = match random.below(4) {
            0 => 1 + random.below(300),
            1 => 0,
            _ => 1 << random.below(17),
        };
        let segment_pages = match random.below(3) {
            0 => Some(stripe_pages * (1 + random.below(64))),
            1 => Some(1 << random.below(18)),
            _ => None,
        };
        let journal_sectors = match random.below(4) {
            0 => Some(8 * random.below(1 << 19)),
            1 => Some(1020 + random.below(9)),
            2 => Some(8 * (128 + random.below(128))),
            _ => None,
        };
        requests.push(Request {
            uuid: *b"0123456789abcdef",
            label: "golden".to_owned(),
            nr_device_pages: (1 << bits) + (random.next() << 9) % (1 << bits),
            stripe_pages: stripe_pages as u32,
            segment_pages: segment_pages
                .map(|pages| pages as u32)
                .filter(|nr| *nr != 0),
            journal_sectors: journal_sectors
                .map(|sectors| sectors as u32)
                .filter(|nr| *nr != 0),
            journal_unit_sectors: 8,
            reserve_permille: if random.below(8) == 0 {
                random.below(1000) as u32
            } else {
                20 + random.below(300) as u32
            },
            checksums: random.below(2) != 0,
            drafts: random.below(2) != 0,
        });
    }
    requests
}

#[test]
fn the_core_lays_out_devices_alike() {
    let requests = requests();
    let input: String = requests
        .iter()
        .map(|request| {
            format!(
                "{} {} {} {} {} {} {}\n",
                request.nr_device_pages,
                request.stripe_pages,
                request.segment_pages.unwrap_or(0),
                request.journal_sectors.unwrap_or(0),
                request.reserve_permille,
                u8::from(request.checksums),
                u8::from(request.drafts)
            )
        })
        .collect();
    let printed = output_of(&core_program("make_super"), &[], &input);
    let lines: Vec<&str> = printed.lines().collect();
    let (mut nr_made, mut nr_refused) = (0, 0);

    assert_eq!(lines.len(), requests.len());
    for (request, line) in requests.iter().zip(lines) {
        let Ok(superblock) = make(request) else {
            assert!(line.starts_with("no "), "{request:?}");
            nr_refused += 1;
            continue;
        };
        let page = superblock.encode();
        let used = 4096 - 3008;
        let digits: String = page[..used]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert!(
            digits == line,
            "{request:?} {superblock:?} {}",
            &line[..200.min(line.len())]
        );
        assert_eq!(Super::decode(&page, 0).unwrap(), superblock);
        nr_made += 1;
    }
    assert!(nr_made > 500 && nr_refused > 500, "{nr_made} {nr_refused}");
}

#[test]
fn impossible_requests_have_their_reasons() {
    let good = Request {
        uuid: [1; 16],
        label: String::new(),
        nr_device_pages: 16384,
        stripe_pages: 8,
        segment_pages: None,
        journal_sectors: None,
        journal_unit_sectors: 1,
        reserve_permille: 100,
        checksums: false,
        drafts: true,
    };
    assert!(make(&good).is_ok());
    for (bad, why) in [
        (
            Request {
                nr_device_pages: 1 << 40,
                ..good.clone()
            },
            MakeError::DeviceTooLarge,
        ),
        (
            Request {
                nr_device_pages: 4096,
                ..good.clone()
            },
            MakeError::DeviceTooSmall,
        ),
        (
            Request {
                nr_device_pages: 0,
                ..good.clone()
            },
            MakeError::DeviceTooSmall,
        ),
        (
            Request {
                stripe_pages: 0,
                ..good.clone()
            },
            MakeError::Stripe,
        ),
        (
            Request {
                segment_pages: Some(100),
                ..good.clone()
            },
            MakeError::SegmentStripe,
        ),
        (
            Request {
                segment_pages: Some(56),
                ..good.clone()
            },
            MakeError::Segment,
        ),
        (
            Request {
                journal_unit_sectors: 2,
                ..good.clone()
            },
            MakeError::JournalUnit,
        ),
        (
            Request {
                journal_sectors: Some(1016),
                ..good.clone()
            },
            MakeError::Journal,
        ),
        (
            Request {
                reserve_permille: 19,
                ..good.clone()
            },
            MakeError::Reserve,
        ),
        (
            Request {
                label: "x".repeat(32),
                ..good.clone()
            },
            MakeError::Label,
        ),
        (
            Request {
                nr_device_pages: (1 << 40) - 1,
                segment_pages: Some(64),
                ..good.clone()
            },
            MakeError::TooManySegments,
        ),
    ] {
        assert_eq!(make(&bad), Err(why));
    }
}

#[test]
fn a_formatted_image_has_superblocks_and_a_root() {
    let folder = folder("format-image");
    let path = image(&folder, "image", 64 << 20);
    let output = dieaware(&["format", "--label", "db", &path]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));

    let bytes = fs::read(&path).unwrap();
    let page = |dpn: u64| bytes[dpn as usize * 4096..][..4096].try_into().unwrap();
    let first = Super::decode(&page(0), 0).unwrap();
    let second = Super::decode(&page(16), 16).unwrap();
    assert_eq!((first.epoch, second.epoch), (1, 2));
    assert_eq!(Super { epoch: 1, ..second }, first);
    assert_eq!(first.nr_device_pages, 16384);
    assert_eq!(first.label_text(), "db");
    assert_eq!((first.uuid[6] >> 4, first.uuid[8] >> 6), (4, 2));

    let pages: Vec<_> = (0..first.nr_root_pages())
        .map(|index| page(first.root_dpn[1] + index))
        .collect();
    let root = Root::decode(&pages, &first, 1).unwrap();
    assert_eq!(root.epoch, 1);
    assert_eq!(root.journal.seq, 1);
    assert!(root.is_clean && root.directory.iter().all(|entry| entry.is_absent()));
    assert_eq!(
        stdout(&output),
        format!("0 {} dieaware {path} 0 log\n", first.nr_lpns * 8)
    );

    // Another one has another UUID and another chain.
    let other = image(&folder, "other", 64 << 20);
    assert!(dieaware(&["format", &other]).status.success());
    let bytes = fs::read(&other).unwrap();
    let other = Super::decode(bytes[..4096].try_into().unwrap(), 0).unwrap();
    assert_ne!(other.uuid, first.uuid);
}

#[test]
fn json_has_what_was_asked_for() {
    let folder = folder("format-json");
    let path = image(&folder, "image", (1 << 30) + (1 << 20));
    let output = dieaware(&[
        "format",
        "--json",
        "--start",
        "2048",
        "--segment",
        "2M",
        "--stripe",
        "512K",
        "--journal",
        "4MiB",
        "--reserve",
        "7.5",
        &path,
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let json: Value = serde_json::from_str(&stdout(&output)).unwrap();
    for (key, value) in [
        ("start_sectors", 2048),
        ("segment_bytes", 2 << 20),
        ("stripe_bytes", 512 << 10),
        ("journal_bytes", 4 << 20),
        ("journal_unit_bytes", 512),
    ] {
        assert_eq!(json[key], value, "{key}");
    }
    let nr_segments = json["nr_segments"].as_u64().unwrap();
    let shown = nr_segments - nr_segments * 75 / 1000;
    // 512 pages, 4 of which are the summary
    let len_sectors = shown * 508 * 8;
    assert_eq!(json["len_sectors"], len_sectors);
    assert_eq!(
        json["table"],
        format!("0 {len_sectors} dieaware {path} 2048 log")
    );
    let bytes = fs::read(&path).unwrap();
    assert!(bytes[..1 << 20].iter().all(|byte| *byte == 0));
    let page = bytes[1 << 20..][..4096].try_into().unwrap();
    assert_eq!(Super::decode(&page, 0).unwrap().uuid_text(), json["uuid"]);
}

#[test]
fn checksums_make_the_map_larger_and_are_a_feature() {
    let folder = folder("format-checksums");
    let path = image(&folder, "image", 1 << 30);
    let mut map_pages = Vec::new();
    for options in [&[][..], &["--checksums"]] {
        let args = ["format", "--force", "--no-drafts", "--json", &path];
        let output = dieaware(&[&args[..], options].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let json: Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!(json["checksums"], !options.is_empty());
        let bytes = fs::read(&path).unwrap();
        let superblock = Super::decode(bytes[..4096].try_into().unwrap(), 0).unwrap();
        assert_eq!(superblock.incompat, options.len() as u64);
        let entries = superblock.map_entries() as u64;
        assert_eq!(
            superblock.areas[0].nr_map_pages,
            superblock.nr_lpns.div_ceil(entries)
        );
        map_pages.push(superblock.areas[0].nr_map_pages);
        assert_eq!(dieaware(&["check", &path]).status.code(), Some(0));
    }
    assert!(map_pages[1] * 5 > map_pages[0] * 8, "{map_pages:?}");
}

#[test]
fn drafts_are_a_feature_unless_they_are_left_off() {
    let folder = folder("format-drafts");
    let path = image(&folder, "image", 64 << 20);
    for (options, incompat) in [
        (&[][..], INCOMPAT_DRAFTS),
        (&["--no-drafts"], 0),
        (&["--checksums"], INCOMPAT_DRAFTS | INCOMPAT_CHECKSUMS),
        (&["--no-drafts", "--checksums"], INCOMPAT_CHECKSUMS),
    ] {
        let args = ["format", "--force", "--json", &path];
        let output = dieaware(&[&args[..], options].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let drafts = incompat & INCOMPAT_DRAFTS != 0;
        let json: Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!(json["drafts"], drafts);
        let bytes = fs::read(&path).unwrap();
        for dpn in [0, 16] {
            let page = bytes[dpn * 4096..][..4096].try_into().unwrap();
            let superblock = Super::decode(page, dpn as u64).unwrap();
            assert_eq!(superblock.incompat, incompat, "{options:?}");
            assert_eq!(superblock.has_drafts(), drafts);
        }
        // All that show whether there are checksums say this as well.
        let json = stdout(&dieaware(&["check", "--json", &path]));
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["facts"]["drafts"], drafts);
        let json: Value =
            serde_json::from_str(&stdout(&dieaware(&["stat", "--json", &path]))).unwrap();
        assert_eq!(json["drafts"], drafts);
        let stat = stdout(&dieaware(&["stat", &path]));
        let words = ["none", "of small writes"][usize::from(drafts)];
        assert!(stat.contains(&format!("\ndrafts    {words}\n")), "{stat}");
        let dump = stdout(&dieaware(&["dump", "--part", "superblock", &path]));
        assert_eq!(dump.contains(" drafts=1\n"), drafts, "{dump}");
    }
}

#[test]
fn a_chosen_stripe_fits_the_segments() {
    let folder = folder("format-stripe");
    let path = image(&folder, "image", 1 << 30);
    for (segment, stripe) in [("4M", 1 << 20), ("768K", 256 << 10), ("260K", 4096)] {
        let output = dieaware(&["format", "--force", "--json", "--segment", segment, &path]);
        let json: Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!(json["stripe_bytes"], stripe, "{segment}");
    }
}

#[test]
fn what_holds_data_is_refused() {
    let folder = folder("format-refuse");
    // Those for which libblkid is content with the sign alone
    for (at, magic, what) in [
        (0x438, &b"\x53\xef"[..], "a filesystem (ext2)"),
        (0x10040, b"_BHRfS_M", "a filesystem (btrfs)"),
        (0x400, b"\x10\x20\xf5\xf2", "a filesystem (f2fs)"),
        (0, b"LUKS\xba\xbe", "encrypted data (crypto_LUKS)"),
        (
            (64 << 20) - (64 << 10),
            b"\xfc\x4e\x2b\xa9",
            "a part of another device (linux_raid_member)",
        ),
        (510, b"\x55\xaa", "a partition table (dos)"),
        (4, b"mDSb", "a device in log mode"),
    ] {
        let path = image(&folder, "image", 64 << 20);
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.write_all_at(magic, at).unwrap();
        let before = fs::read(&path).unwrap();
        let output = dieaware(&["format", &path]);
        assert_eq!(output.status.code(), Some(2), "{what}");
        let reason = stderr(&output);
        assert!(
            reason.contains(what) && reason.contains("--force"),
            "{reason}"
        );
        assert!(fs::read(&path).unwrap() == before, "{what}");
        // So it is if nothing is to be done,
        let output = dieaware(&["format", "--dry-run", &path]);
        assert_eq!(output.status.code(), Some(2), "{what}");
        assert_eq!(stderr(&output), reason);
        // and with --force it says what would be lost.
        let output = dieaware(&["format", "--dry-run", "--force", &path]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let said = stdout(&output);
        assert!(said.contains(&format!("{path} holds {what}, which would be lost\n")));
        assert!(
            said.contains(&format!("\nwould format {path}: 0 ")),
            "{said}"
        );
        assert!(fs::read(&path).unwrap() == before, "{what}");

        assert!(
            dieaware(&["format", "--force", &path]).status.success(),
            "{what}"
        );
        let after = fs::read(&path).unwrap();
        assert!(Super::decode(after[..4096].try_into().unwrap(), 0).is_ok());
        let at = at as usize;
        assert!(at == 4 || after[at..at + magic.len()] != *magic, "{what}");
        // What it is now is refused as well.
        assert_eq!(dieaware(&["format", &path]).status.code(), Some(2));
    }
}

#[test]
fn data_before_the_start_counts_as_well() {
    let folder = folder("format-start");
    let path = image(&folder, "image", 64 << 20);
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(b"LUKS\xba\xbe", 0).unwrap();
    let output = dieaware(&["format", "--start", "8192", &path]);
    assert_eq!(output.status.code(), Some(2));
    assert!(dieaware(&["format", "--force", "--start", "8192", &path])
        .status
        .success());
    // What lies before the start is not the target's.
    assert_eq!(fs::read(&path).unwrap()[..6], *b"LUKS\xba\xbe");
}

#[test]
fn data_from_the_start_on_counts_as_well() {
    let folder = folder("format-from");
    let path = image(&folder, "image", 64 << 20);
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(b"LUKS\xba\xbe", 4 << 20).unwrap();
    let output = dieaware(&["format", "--start", "8192", &path]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        stderr(&output),
        format!(
            "dieaware: {path} holds encrypted data (crypto_LUKS) from sector 8192 on; --force \
             destroys it.\n"
        )
    );
}

#[test]
fn a_dry_run_of_format_says_what_format_does() {
    let folder = folder("format-dry");
    let path = image(&folder, "image", 64 << 20);
    let asked = ["format", "--json", "--label", "db", "--checksums", &path];
    let json = |more: &[&str]| -> Value {
        let output = dieaware(&[&asked[..], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        serde_json::from_str(&stdout(&output)).unwrap()
    };

    let mut would = json(&["--dry-run"]);
    assert!(fs::read(&path).unwrap().iter().all(|byte| *byte == 0));
    assert_eq!(would["would_lose"], serde_json::json!([]));
    let mut done = json(&[]);
    for each in [&mut would, &mut done] {
        let object = each.as_object_mut().unwrap();
        object.remove("would_lose");
        // It is another one each time.
        object.remove("uuid");
    }
    assert_eq!(would, done);

    // Nothing is said of what was done if nobody wants to hear it, but what is asked for.
    let output = dieaware(&["format", "--quiet", "--force", &path]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output) + &stderr(&output), "");
    let output = dieaware(&["format", "-q", "--force", "--json", &path]);
    assert!(stdout(&output).starts_with("{\n  \"version\": 1,"));
    let output = dieaware(&["format", "-q", &path]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("holds a device in log mode"));

    // What lies before the start would stay.
    let path = image(&folder, "behind", 64 << 20);
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(b"LUKS\xba\xbe", 0).unwrap();
    file.write_all_at(b"_BHRfS_M", (4 << 20) + 0x10040).unwrap();
    let start = ["format", "--dry-run", "--force", "--start", "8192", &path];
    let said = stdout(&dieaware(&start));
    assert!(said.contains("holds a filesystem (btrfs), which would be lost"));
    assert!(!said.contains("LUKS"), "{said}");
}

#[test]
fn what_cannot_be_found_out_is_not_destroyed() {
    let folder = folder("format-no-wipefs");
    let path = image(&folder, "image", 64 << 20);
    let output = Command::new(env!("CARGO_BIN_EXE_dieaware"))
        .args(["format", &path])
        .env("PATH", &folder)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("wipefs of util-linux"));
    assert!(fs::read(&path).unwrap().iter().all(|byte| *byte == 0));
}

#[test]
fn wrong_requests_end_with_2_and_a_sentence() {
    let folder = folder("format-usage");
    let path = image(&folder, "image", 64 << 20);
    let small = image(&folder, "small", 4 << 20);
    for args in [
        &["format"][..],
        &["format", &small],
        &["format", "--start", "4", &path],
        &["format", "--segment", "1000", &path],
        &["format", "--segment", "12K", &path],
        &["format", "--segment", "much", &path],
        &["format", "--segment", "1T", &path],
        &["format", "--segment", "100T", &path],
        &["format", "--journal", "8K", &path],
        &["format", "--stripe", "0", &path],
        &["format", "--reserve", "1", &path],
        &["format", "--reserve", "95", &path],
        &[
            "format",
            "--label",
            "a label that is much longer than it may be",
            &path,
        ],
    ] {
        let output = dieaware(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(!stderr(&output).is_empty(), "{args:?}");
        assert!(stdout(&output).is_empty(), "{args:?}");
    }
    assert!(fs::read(&path).unwrap().iter().all(|byte| *byte == 0));
    for device in ["/dev/null", "/proc", "/no/such/device"] {
        assert_eq!(
            dieaware(&["format", device]).status.code(),
            Some(3),
            "{device}"
        );
    }
}
