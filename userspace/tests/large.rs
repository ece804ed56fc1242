// SPDX-License-Identifier: GPL-2.0-only
//! How long check and repair take on a large device that is full, and how much memory. Not run
//! by default: cargo test --release --test large -- --ignored --nocapture
//!
//! GIB=1024 in the environment sets the size; the image takes 0.9 % of it.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use common::{dieaware, folder, image};
use dieaware::device::block::{Device, OpenHow};
use dieaware::format::block::crc32c;
use dieaware::format::build::{Builder, Checkpoint};
use dieaware::format::layout::BLOCK_BYTES;
use dieaware::format::map::Entry;
use dieaware::format::segments::{Segment, State};
use dieaware::format::summary::Written;
use dieaware::format::superblock::{Super, Table};
use dieaware::format::volume::read_super;

/// The place of an lpn on a device that was written from its beginning, in small pieces.
fn place(superblock: &Super, lpn: u64) -> (u64, u32) {
    let data_pages = u64::from(superblock.data_pages());
    // Neighbours go to different halves of the segment.
    let at = lpn % data_pages;
    let half = data_pages.div_ceil(2);
    let page = match at % 2 {
        0 => at / 2,
        _ => half + at / 2,
    };
    (lpn / data_pages, page as u32)
}

fn fill(device: &Device, superblock: &Super) {
    let checkpoint = Checkpoint {
        epoch: 2,
        seq: 9,
        journal_sector: 0,
        salt: 1,
    };
    let mut builder = Builder::new(device, superblock, checkpoint).unwrap();
    let data_pages = u64::from(superblock.data_pages());
    let nr_lpns = superblock.nr_lpns - superblock.nr_lpns % data_pages;
    let dpn = |lpn: u64| {
        let (segment, page) = place(superblock, lpn);
        superblock.segment_dpn(segment).unwrap() + u64::from(page)
    };

    // Nothing is written to it: all of its data is zero.
    let sum = if superblock.has_checksums() {
        crc32c(!0, &[0; BLOCK_BYTES])
    } else {
        0
    };
    let entry = |lpn| Entry { dpn: dpn(lpn), sum };
    for index in 0..superblock.nr_pages(Table::Map) {
        let map_entries = superblock.map_entries() as u64;
        let first = index * map_entries;
        let lpns = first..nr_lpns.min(first + map_entries);
        builder
            .put_map(index, &lpns.map(entry).collect::<Vec<_>>())
            .unwrap();
    }
    let mut segments = vec![Segment::default(); superblock.nr_segments() as usize];
    for number in 0..nr_lpns / data_pages {
        let mut pages = vec![None; data_pages as usize];
        for lpn in number * data_pages..(number + 1) * data_pages {
            pages[place(superblock, lpn).1 as usize] = Some(Written {
                lpn,
                seq: 9,
                file: 1 + lpn / 1000,
                fpage: (lpn % 1000) as u32,
            });
        }
        builder.put_summary(number, &pages).unwrap();
        segments[number as usize] = Segment {
            nr_valid: data_pages as u32,
            state: State::Closed,
            open: 0,
            mtime: 9,
        };
    }
    builder.finish(&segments).unwrap().write(device).unwrap();
}

fn timed(what: &str, args: &[&str]) {
    let begin = Instant::now();
    let output = Command::new("/usr/bin/time")
        .args(["-f", "%M"])
        .arg(env!("CARGO_BIN_EXE_dieaware"))
        .args(args)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{what}: {text}");
    let kib = text.lines().last().unwrap_or_default().to_owned();
    println!("{what}: {:.1} s, {kib} KiB", begin.elapsed().as_secs_f64());
}

/// A full device in a folder.
fn full_device(folder: &Path, options: &[&str]) -> String {
    let gib = std::env::var("GIB").map_or(64, |gib| gib.parse().unwrap());
    let path = image(folder, "image", gib << 30);
    let args = ["format", "--segment", "32M", "--stripe", "1M", &path];
    let output = dieaware(&[&args[..], options].concat());
    assert!(output.status.success());
    let how = OpenHow {
        write: true,
        ..OpenHow::default()
    };
    let device = Device::open(Path::new(&path), 0, how).unwrap();
    let superblock = read_super(&device, &mut Default::default())
        .unwrap()
        .unwrap();

    fill(&device, &superblock);
    println!("{gib} GiB, {} pages mapped", superblock.nr_lpns);
    path
}

#[test]
#[ignore = "takes minutes, and 0.9 % of GIB"]
fn a_full_device_is_checked_and_repaired() {
    let folder = folder("large");
    let path = full_device(&folder, &[]);
    timed("check", &["check", &path]);
    timed("check --quick", &["check", "--quick", &path]);
    timed("stat --files 3", &["stat", "--files", "3", &path]);
    let to = folder.join("to");
    timed(
        "repair",
        &["repair", "--from", &path, "--to", to.to_str().unwrap()],
    );
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
#[ignore = "takes minutes, and 1.1 % of GIB"]
fn the_data_of_a_full_device_is_compared() {
    let folder = folder("large-sums");
    let path = full_device(&folder, &["--checksums"]);
    timed("check", &["check", &path]);
    timed("check --data", &["check", "--data", &path]);
    fs::remove_dir_all(&folder).unwrap();
}
