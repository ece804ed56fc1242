// SPDX-License-Identifier: GPL-2.0-only
//! Exact dumps and packs: the same bytes come out of them, whatever has happened to the
//! device, and what is no dump harms nobody.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::devices::{
    change_somewhere, file_with, flip, use_device, used_device, volume_of, Failing, Kind,
    DEVICE_PAGES,
};
use common::drafts::{map_of, Drafted};
use common::{dieaware, folder, image, stderr, stdout, Random};
use nix::fcntl::{Flock, FlockArg};

use dieaware::format::exact::{self, Reader};
use dieaware::format::layout::{BLOCK_BYTES, SUPER_DPN_A, SUPER_DPN_B};
use dieaware::format::places;
use dieaware::format::restore::{restore, restore_image};
use dieaware::io_engine::pages::{Ram, ReadPages, WritePages};

fn exact_of(device: &impl ReadPages) -> Vec<u8> {
    let mut text = Vec::new();
    exact::dump(device, &mut text).unwrap();
    text
}

fn restored(text: &[u8]) -> Ram {
    // Something that is there before
    let device = Ram::new(vec![0xa5; DEVICE_PAGES as usize * BLOCK_BYTES]);
    restore(Reader::new(text).unwrap(), &device).unwrap();
    device
}

/// Their metadata is the same, byte by byte.
fn assert_same(kind: Kind, device: &Ram, other: &Ram, what: &str) {
    for dpn in places::metadata(&volume_of(&kind.device()).superblock).flatten() {
        let (page, other) = (device.read_page(dpn), other.read_page(dpn));
        assert!(page.unwrap() == other.unwrap(), "{what}: page {dpn}");
    }
}

#[test]
fn the_same_bytes_come_out_of_a_dump() {
    for (kind, seed) in Kind::ALL
        .into_iter()
        .flat_map(|kind| [2, 5, 8].map(|seed| (kind, seed)))
    {
        let path = folder(&format!("restore-{kind:?}-{seed}")).join("image");
        use_device(kind.make_image(), seed, 1, &path, None);
        let device = Ram::new(fs::read(path).unwrap());
        let text = exact_of(&device);
        let again = restored(&text);
        assert_same(kind, &device, &again, "restored");
        assert!(exact_of(&again) == text);
        // Data is not touched.
        let data = volume_of(&device).superblock.segment_dpn(3).unwrap();
        assert!(again.read_page(data).unwrap() == [0xa5; BLOCK_BYTES]);
    }
}

/// Devices the last batch of which is a draft that counts, and one that does not.
fn drafted() -> impl Iterator<Item = Drafted> {
    Kind::ALL.into_iter().flat_map(|kind| {
        let nothing = Drafted::new(kind, 2, 0);
        for dpn in nothing.places() {
            nothing.device.write(dpn, &[0; BLOCK_BYTES]).unwrap();
        }
        [
            Drafted::new(kind, 1, 7),
            Drafted::new(kind, 8, 0),
            Drafted::without_data(kind, 8, 0),
            nothing,
        ]
    })
}

#[test]
fn the_last_draft_is_restored_with_what_says_whether_it_counts() {
    for drafted in drafted() {
        let device = &drafted.device;
        let text = exact_of(device);
        let lines = String::from_utf8(text.clone()).unwrap();
        assert_eq!(
            lines.matches("\ndata dpn=").count() as u64,
            drafted.nr_pages
        );
        let image = Ram::new(vec![0; DEVICE_PAGES as usize * BLOCK_BYTES]);
        restore_image(Reader::new(&text[..]).unwrap(), &image).unwrap();
        assert_same(drafted.kind, device, &image, "an image");
        assert!(map_of(&image) == map_of(device));
        assert!(exact_of(&image) == text);
        for dpn in drafted.places() {
            assert!(image.read_page(dpn).unwrap() != device.read_page(dpn).unwrap());
        }
        // Data that is there stays what it is.
        let other = restored(&text);
        assert_same(drafted.kind, device, &other, "a device");
        for dpn in drafted.places() {
            assert!(other.read_page(dpn).unwrap() == [0xa5; BLOCK_BYTES]);
        }
        assert!(map_of(&other) == drafted.before);
    }
    // Behind another batch it counts without.
    let mut drafted = Drafted::new(Kind::Plain, 8, 0);
    drafted.add_batch();
    let text = exact_of(&drafted.device);
    assert!(!String::from_utf8(text.clone()).unwrap().contains("\ndata "));
    assert!(map_of(&restored(&text)) == drafted.after);
    // What cannot be read is said.
    let drafted = Drafted::new(Kind::Plain, 2, 0);
    let dpn = drafted.dpn;
    let device = Failing {
        device: drafted.device,
        bad: vec![dpn + 1],
    };
    let mut text = Vec::new();
    let outcome = exact::dump(&device, &mut text).unwrap();
    assert_eq!(outcome.nr_unreadable, 1);
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains(&format!("\n# unreadable dpn={dpn}: ")));
}

#[test]
fn an_image_of_a_pack_says_what_the_device_says() {
    let folder = folder("restore-drafts");
    for (at, drafted) in drafted().enumerate() {
        let path = file_with("restore-drafts-device", drafted.device);
        let (pack, image) = (folder.join(format!("{at}.gz")), folder.join(at.to_string()));
        let args = [&path, &pack, &image].map(|path| path.to_str().unwrap());
        let output = dieaware(&["pack", args[0], args[1]]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let output = dieaware(&["unpack", args[1], args[2]]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let says = |verb, path: &str| stdout(&dieaware(&[verb, path])).replace(path, "");
        for verb in ["check", "dump"] {
            assert_eq!(says(verb, args[0]), says(verb, args[2]), "{at}");
        }
        // On what is there, nothing but metadata is written.
        fs::write(&image, vec![0; DEVICE_PAGES as usize * BLOCK_BYTES]).unwrap();
        let output = dieaware(&["unpack", "--force", args[1], args[2]]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let written = Ram::new(fs::read(&image).unwrap());
        assert!(written.read_page(drafted.dpn).unwrap() == [0; BLOCK_BYTES]);
    }
}

#[test]
fn data_that_no_draft_has_is_refused() {
    let drafted = Drafted::new(Kind::Plain, 1, 0);
    let text = String::from_utf8(exact_of(&drafted.device)).unwrap();
    let line = text.lines().find(|line| line.starts_with("data ")).unwrap();
    let good = format!("{line}\n");
    for (lines, words) in [
        (good.repeat(9), "no draft has so much data"),
        ("data dpn=33 sum=0x0\n".to_owned(), "no data of this device"),
        ("data dpn=1 sum=0x0\n".to_owned(), "no data of this device"),
        (format!("{line} more\n"), "its fields are not understood"),
        (format!("{line}00000\n"), "its fields are not understood"),
        (good.replace("0x", ""), "its fields are not understood"),
        ("data sum=0x0\n".to_owned(), "its fields are not understood"),
    ] {
        let text = text.replacen(&good, &lines, 1);
        let device = Ram::new(vec![0; DEVICE_PAGES as usize * BLOCK_BYTES]);
        let reader = Reader::new(text.as_bytes()).unwrap();
        let err = restore(reader, &device).unwrap_err();
        assert!(err.to_string().contains(words), "{lines}: {err}");
    }
    // Nobody knows where data is before there is a superblock.
    let text = text.replacen("\nuuid ", &format!("\n{good}uuid "), 1);
    assert!(Reader::new(text.as_bytes()).is_err());
}

#[test]
fn damage_is_restored_as_well() {
    for kind in Kind::ALL {
        let volume = volume_of(&kind.device());
        let pages: Vec<u64> = places::metadata(&volume.superblock).flatten().collect();
        let mut random = Random(5);

        for round in 0..20 {
            let device = kind.device();
            change_somewhere(&device, &volume, &pages, &mut random);
            let again = restored(&exact_of(&device));
            assert_same(kind, &device, &again, &format!("{kind:?}, round {round}"));
        }
    }
}

#[test]
fn what_cannot_be_read_is_left_out() {
    let dpn = volume_of(&used_device()).superblock.journal_dpn + 1;
    let device = Failing {
        device: used_device(),
        bad: vec![dpn],
    };
    let mut text = Vec::new();
    let outcome = exact::dump(&device, &mut text).unwrap();
    assert_eq!(outcome.nr_unreadable, 1);
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains(&format!("\n# unreadable dpn={dpn}: ")));
    let expected = used_device();
    expected.write(dpn, &[0; BLOCK_BYTES]).unwrap();
    assert_same(
        Kind::Plain,
        &expected,
        &restored(text.as_bytes()),
        "left out",
    );
}

/// What was not read may be whole where it is: it is not made zero there unless somebody insists.
#[test]
fn what_could_not_be_dumped_is_said_and_stays() {
    let folder = folder("restore-unread-page");
    let dpn = volume_of(&used_device()).superblock.journal_dpn + 1;
    let mut text = Vec::new();
    let device = Failing {
        device: used_device(),
        bad: vec![dpn],
    };
    exact::dump(&device, &mut text).unwrap();
    let path = folder.join("text");
    fs::write(&path, &text).unwrap();
    let path = path.to_str().unwrap();
    let words = "1 page could not be read when it was dumped, and ";

    let same = file_with("restore-unread-same", used_device());
    let before = fs::read(&same).unwrap();
    let same = same.to_str().unwrap();
    for dry in [&[][..], &["--dry-run"]] {
        let output = dieaware(&[&["restore"], dry, &[path, same]].concat());
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(
            stderr(&output).contains(&format!(
                "{words}may be whole on the device that was dumped"
            )),
            "{}",
            stderr(&output)
        );
        assert!(fs::read(same).unwrap() == before);
    }
    // Neither superblock says any more that it is the same.
    let mut spoilt = before;
    for dpn in [0, 16] {
        spoilt[dpn * BLOCK_BYTES..(dpn + 1) * BLOCK_BYTES].fill(0);
    }
    fs::write(same, &spoilt).unwrap();
    let output = dieaware(&["restore", path, same]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(fs::read(same).unwrap() == spoilt);
    let made = folder.join("made");
    let made = made.to_str().unwrap();
    let output = dieaware(&["restore", "--dry-run", path, made]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains(&format!("{words}would be zero")));
    let output = dieaware(&["restore", path, made]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains(&format!("{words}is zero now")));
    // A new drive has nothing to lose, and what another one holds is not what --force is asked for.
    let new = folder.join("new");
    fs::write(&new, vec![0; spoilt.len()]).unwrap();
    let new = new.to_str().unwrap();
    let output = dieaware(&["restore", "--dry-run", path, new]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let output = dieaware(&["restore", path, new]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(fs::read(new).unwrap() == fs::read(made).unwrap());
    let mut ext4 = vec![0; spoilt.len()];
    ext4[1024 + 56..1024 + 58].copy_from_slice(&[0x53, 0xef]);
    ext4[1024 + 4] = 64;
    ext4[1024 + 32] = 64;
    ext4[1024 + 76] = 1;
    let other = file_with("restore-unread-other", Ram::new(ext4.clone()));
    let other = other.to_str().unwrap();
    for dry in [&[][..], &["--dry-run"]] {
        let output = dieaware(&[&["restore"], dry, &[path, other]].concat());
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        let said = stderr(&output);
        assert!(
            said.contains("holds an ext") || said.contains("--force destroys it"),
            "{said}"
        );
        assert!(fs::read(other).unwrap() == ext4);
    }
    let output = dieaware(&["restore", "--force", path, same]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains(&format!("{words}is zero now")));
    assert!(fs::read(same).unwrap() == fs::read(made).unwrap());
}

#[test]
fn no_text_makes_the_tool_panic() {
    let text = exact_of(&used_device());
    let mut random = Random(3);
    let mut nr_refused = 0;

    for round in 0..300 {
        let mut text = text.clone();
        let at = random.below(match round % 2 {
            0 => 200,
            _ => text.len() as u64,
        }) as usize;
        match round % 3 {
            0 => text.truncate(at),
            1 => text[at] ^= 1 << random.below(8),
            _ => drop(text.drain(at..(at + 40).min(text.len()))),
        }
        let device = Ram::new(vec![0; DEVICE_PAGES as usize * BLOCK_BYTES]);
        let refused = match Reader::new(&text[..]) {
            Err(_) => true,
            Ok(reader) => restore(reader, &device).is_err(),
        };
        if refused {
            nr_refused += 1;
            // It is no device in log mode, rather than half of one.
            assert!(exact::dump(&device, &mut std::io::sink()).is_err());
        }
    }
    assert!(nr_refused > 150, "{nr_refused}");
}

#[test]
fn dump_and_restore_as_a_user_runs_them() {
    let folder = folder("restore-cli");
    let path = file_with("restore-cli-device", used_device());
    let output = dieaware(&["dump", "--exact", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = folder.join("text");
    fs::write(&text, &output.stdout).unwrap();
    let text = text.to_str().unwrap();

    // A file that does not exist is made.
    let made = folder.join("made");
    let made = made.to_str().unwrap();
    let output = dieaware(&["restore", "--dry-run", text, made]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("does not exist, and would be made\nwould write the metadata"));
    assert!(!Path::new(made).exists());
    let output = dieaware(&["restore", text, made]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(fs::read(made).unwrap() == fs::read(&path).unwrap());
    // One that has this log is written over,
    let device = Ram::new(fs::read(made).unwrap());
    flip(&device, SUPER_DPN_A, 100);
    let flipped = device.into_bytes();
    fs::write(made, &flipped).unwrap();
    let output = dieaware(&["restore", "--dry-run", text, made]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("holds the same log as it is now, which would be lost"));
    assert!(fs::read(made).unwrap() == flipped);
    let output = dieaware(&["restore", text, made]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(dieaware(&["check", made]).status.code(), Some(0));
    // one that has another one, or of which nobody knows, is not,
    let other = image(&folder, "other", DEVICE_PAGES * BLOCK_BYTES as u64);
    let sizes = ["--segment", "256K", "--journal", "512K"];
    let output = dieaware(&[&["format", other.as_str()], &sizes[..]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let both = Ram::new(fs::read(made).unwrap());
    flip(&both, SUPER_DPN_A, 100);
    flip(&both, SUPER_DPN_B, 100);
    let mixed = Ram::new(fs::read(made).unwrap());
    let foreign = Ram::new(fs::read(&other).unwrap());
    let page = foreign.read_page(SUPER_DPN_B).unwrap();
    mixed.write(SUPER_DPN_B, &page).unwrap();
    for held in [foreign, both, mixed] {
        let held = held.into_bytes();
        fs::write(made, &held).unwrap();
        let output = dieaware(&["restore", text, made]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("holds a device in log mode"));
        let dry = dieaware(&["restore", "--dry-run", text, made]);
        assert_eq!(dry.status.code(), Some(2));
        assert_eq!(stderr(&dry), stderr(&output));
        let dry = dieaware(&["restore", "--dry-run", "--force", text, made]);
        assert_eq!(dry.status.code(), Some(0), "{}", stderr(&dry));
        assert!(stdout(&dry).contains("holds a device in log mode, which would be lost"));
        assert!(fs::read(made).unwrap() == held);
    }
    // unless that is wanted.
    fs::write(made, vec![1; DEVICE_PAGES as usize * BLOCK_BYTES]).unwrap();
    let output = dieaware(&["restore", "--force", text, made]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(dieaware(&["check", made]).status.code(), Some(0));

    let output = dieaware(&["restore", "--quiet", text, made]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output) + &stderr(&output), "");
    let pack = folder.join("pack");
    let output = dieaware(&["pack", "--quiet", made, pack.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output) + &stderr(&output), "");
    assert!(pack.exists());

    // Behind the beginning of a device
    let large = image(&folder, "large", (DEVICE_PAGES + 2) * BLOCK_BYTES as u64);
    let output = dieaware(&["restore", "--start", "16", text, &large]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let bytes = fs::read(&large).unwrap();
    assert!(bytes[2 * BLOCK_BYTES..] == fs::read(&path).unwrap());

    let small = image(&folder, "small", (DEVICE_PAGES - 1) * BLOCK_BYTES as u64);
    for more in [&[][..], &["--dry-run"]] {
        let output = dieaware(&[&["restore", text, &small], more].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("is too small"));
    }
    assert!(fs::read(&small).unwrap().iter().all(|byte| *byte == 0));
}

#[test]
fn a_text_that_is_not_complete_changes_nothing() {
    let folder = folder("restore-short");
    let text = exact_of(&used_device());
    let path = folder.join("text");
    fs::write(&path, &text[..text.len() - 10]).unwrap();
    let made = file_with("restore-short-device", used_device());
    let before = fs::read(&made).unwrap();
    let args = [path.to_str().unwrap(), made.to_str().unwrap()];
    let output = dieaware(&["restore", "--force", args[0], args[1]]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("is not complete"));
    assert!(fs::read(&made).unwrap() == before);
}

#[test]
fn stat_counts_what_check_counts() {
    let path = file_with("restore-stat", used_device());
    let path = path.to_str().unwrap();
    let json = |verb: &[&str]| -> serde_json::Value {
        let output = dieaware(&[verb, &["--json", path]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        serde_json::from_str(&stdout(&output)).unwrap()
    };
    let (stat, check) = (json(&["stat", "--files", "3"]), json(&["check"]));
    for key in [
        "nr_mapped",
        "nr_lpns",
        "nr_segments",
        "nr_free",
        "nr_open",
        "nr_closed",
    ] {
        assert_eq!(stat[key], check["facts"][key], "{key}");
    }
    let classes = stat["utilization"].as_array().unwrap();
    let nr_closed: u64 = classes.iter().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(stat["nr_closed"], nr_closed);
    let files = stat["files"].as_array().unwrap();
    assert!(!files.is_empty() && files[0]["nr_pieces"].as_u64() > Some(10));
    let maps = stdout(&dieaware(&["dump", "--part", "map", path]));
    assert_eq!(stat["nr_map_pieces"], maps.lines().count() - 1);
    let text = stdout(&dieaware(&["stat", path]));
    assert!(text.starts_with("mapped    850 of "), "{text}");
    assert!(text.contains("\n  up to  10 % "), "{text}");

    let device = used_device();
    flip(&device, 0, 100);
    flip(&device, 16, 100);
    let path = file_with("restore-stat-none", device);
    let output = dieaware(&["stat", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn packs_are_small_and_whole() {
    let folder = folder("restore-pack");
    let path = file_with("restore-pack-device", used_device());
    let (pack, made) = (folder.join("pack.gz"), folder.join("made"));
    let (pack, made) = (pack.to_str().unwrap(), made.to_str().unwrap());
    let device = path.to_str().unwrap();
    let output = dieaware(&["pack", device, pack]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains(" pages of metadata"));
    let bytes = fs::metadata(pack).unwrap().len();
    assert!(bytes < 100_000, "{bytes}");
    assert_eq!(dieaware(&["pack", device, pack]).status.code(), Some(2));
    let again = dieaware(&["pack", "--force", device, pack]);
    assert_eq!(again.status.code(), Some(0));
    let output = dieaware(&["unpack", pack, made]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(fs::read(made).unwrap() == fs::read(&path).unwrap());
}

#[test]
fn an_image_has_one_who_writes_it() {
    let path = file_with("restore-locked", used_device());
    let image = path.to_str().unwrap();
    let locked = |how| Flock::lock(fs::File::open(&path).unwrap(), how).unwrap();
    let ends = |args: &[&str]| dieaware(args).status.code();
    let reads = locked(FlockArg::LockSharedNonblock);
    assert_eq!(ends(&["check", image]), Some(0));
    let output = dieaware(&["format", "--force", image]);
    assert_eq!(output.status.code(), Some(2));
    let words = "is in use: another command is at work on it";
    assert!(stderr(&output).contains(words), "{}", stderr(&output));
    drop(reads);
    let writes = locked(FlockArg::LockExclusiveNonblock);
    assert_eq!(ends(&["check", image]), Some(2));
    drop(writes);
    assert_eq!(ends(&["check", image]), Some(0));
}

#[test]
fn a_pack_that_is_not_what_was_packed_is_refused() {
    let folder = folder("restore-bad-pack");
    let path = file_with("restore-bad-pack-device", used_device());
    let (pack, never) = (folder.join("pack.gz"), folder.join("never"));
    let (pack, never) = (pack.to_str().unwrap(), never.to_str().unwrap());
    let output = dieaware(&["pack", path.to_str().unwrap(), pack]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let good = fs::read(pack).unwrap();
    let end = good.len();
    // Four bytes of checksum and four of length end it.
    let other = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        bytes
    };
    for (what, bytes) in [
        ("half of it", good[..end / 2].to_vec()),
        ("no checksum", good[..end - 8].to_vec()),
        ("no length", good[..end - 4].to_vec()),
        ("another checksum", other(end - 8)),
        ("another length", other(end - 4)),
        ("damaged", other(end / 2)),
    ] {
        fs::write(pack, bytes).unwrap();
        let output = dieaware(&["unpack", pack, never]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{what}: {said}");
        assert!(said.contains("cannot be restored: "), "{what}: {said}");
        assert!(!Path::new(never).exists(), "{what}");
    }
}

#[test]
fn nothing_may_follow_the_last_line() {
    let mut text = exact_of(&used_device());
    text.extend(b"# more\n");
    let device = Ram::new(vec![0; DEVICE_PAGES as usize * BLOCK_BYTES]);
    let err = restore(Reader::new(&text[..]).unwrap(), &device).unwrap_err();
    assert!(err.to_string().ends_with("should be the last"), "{err}");
}

#[test]
fn a_pack_that_fails_changes_no_file() {
    let folder = folder("restore-pack-fails");
    let (good, pack) = (
        file_with("restore-pack-good", used_device()),
        folder.join("p"),
    );
    let (good, pack) = (good.to_str().unwrap(), pack.to_str().unwrap());
    let lost = used_device();
    flip(&lost, 0, 100);
    flip(&lost, 16, 100);
    let lost = file_with("restore-pack-lost", lost);
    let lost = lost.to_str().unwrap();

    // Nothing is left of one that was never made.
    let output = dieaware(&["pack", lost, pack]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);

    let output = dieaware(&["pack", good, pack]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let (packed, image) = (fs::read(pack).unwrap(), fs::read(good).unwrap());
    let link = folder.join("link");
    fs::hard_link(good, &link).unwrap();
    for (args, status, words) in [
        // The device's superblocks are lost since, or it begins elsewhere.
        ([lost, pack], 1, "cannot be dumped"),
        ([pack, good], 1, "cannot be dumped"),
        ([good, good], 2, "itself"),
        ([good, link.to_str().unwrap()], 2, "itself"),
        ([good, "/dev/null"], 2, "not a regular file"),
        ([good, folder.to_str().unwrap()], 2, "not a regular file"),
        ([good, "/no/folder/p"], 3, "/no/folder/p cannot be written"),
    ] {
        let output = dieaware(&[&["pack", "--force"], &args[..]].concat());
        assert_eq!(output.status.code(), Some(status), "{args:?}");
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    let output = dieaware(&["pack", "--force", "--start", "8", good, pack]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(fs::read(pack).unwrap() == packed && fs::read(good).unwrap() == image);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
}

#[test]
fn a_disk_too_full_for_a_pack_is_said_to_be_one() {
    let folder = folder("restore-pack-full");
    let (device, pack) = (
        file_with("restore-pack-any", used_device()),
        folder.join("p"),
    );
    fs::write(&pack, "the last one").unwrap();
    // No file may grow any more.
    let output = Command::new("/bin/bash")
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "bash"])
        .args([env!("CARGO_BIN_EXE_dieaware"), "pack", "--force"])
        .args([&device, &pack])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let words = format!("dieaware: {} cannot be written: ", pack.display());
    assert!(stderr(&output).starts_with(&words), "{}", stderr(&output));
    assert_eq!(fs::read(&pack).unwrap(), b"the last one");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn without_a_superblock_there_is_nothing_to_dump() {
    let device = used_device();
    flip(&device, 0, 100);
    flip(&device, 16, 100);
    let path = file_with("restore-none", device);
    let path = path.to_str().unwrap();
    let output = dieaware(&["dump", "--exact", path]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("neither superblock is valid"));
    let output = dieaware(&["dump", "--exact", "--part", "map", path]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_verdict_counts_though_nobody_reads() {
    let damaged = used_device();
    flip(&damaged, SUPER_DPN_A, 100);
    flip(&damaged, SUPER_DPN_B, 100);
    let damaged = file_with("restore-unread", damaged);
    let sound = file_with("restore-unread-sound", used_device());
    for (path, status) in [(&damaged, 1), (&sound, 0)] {
        for json in [&[][..], &["--json"]] {
            let (reader, writer) = nix::unistd::pipe().unwrap();
            drop(reader);
            let output = Command::new(env!("CARGO_BIN_EXE_dieaware"))
                .arg("check")
                .args(json)
                .arg(path)
                .stdout(writer)
                .output()
                .unwrap();
            assert_eq!(output.status.code(), Some(status), "{}", stderr(&output));
            assert_eq!(stderr(&output).contains("is damaged"), status == 1);
        }
    }
}

#[test]
fn a_device_that_became_shorter_is_said_to_be_short() {
    let path = file_with("restore-shorter", used_device());
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_len((DEVICE_PAGES - 1) * BLOCK_BYTES as u64)
        .unwrap();
    let path = path.to_str().unwrap();
    let (pack, fixed) = (format!("{path}.gz"), format!("{path}.fixed"));
    for args in [
        &["dump", "--exact", path][..],
        &["pack", path, &pack],
        &["repair", "--from", path, "--to", &fixed],
    ] {
        let output = dieaware(args);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        let words = format!("it has {} pages, but was", DEVICE_PAGES - 1);
        assert!(said.contains(&words), "{said}");
        assert!(said.ends_with(": make it as long as it was.\n"), "{said}");
    }
    assert!(!Path::new(&pack).exists() && !Path::new(&fixed).exists());
}
