// SPDX-License-Identifier: GPL-2.0-only
//! A device that has grown, and has lost the superblock that it grew by: what would write by the one
//! of before is refused, and restoring what it was before leaves nothing of what came since.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::path::Path;

use common::devices::{file_with, used_device, volume_of};
use common::{dieaware, stderr, stdout};
use dieaware::format::layout::{BLOCK_BYTES, SUPER_DPN_A, SUPER_DPN_B, SUPER_NEEDS_CHECK};
use dieaware::format::root::Root;
use dieaware::format::superblock::Super;
use dieaware::io_engine::pages::{Ram, ReadPages, WritePages};

/// Pages behind the segments, and more.
const MORE_PAGES: usize = 2000;

/// A device with the first roots of a larger layout behind its segments.
fn grown_device() -> Ram {
    let device = used_device();
    let superblock = volume_of(&device).superblock;
    let mut bytes = device.into_bytes();
    bytes.resize(bytes.len() + MORE_PAGES * BLOCK_BYTES, 0);
    let device = Ram::new(bytes);
    let last = superblock
        .segment_dpn(superblock.nr_segments() - 1)
        .unwrap();
    let first = last + u64::from(superblock.segment_pages);
    let larger = Super {
        root_dpn: [first, first + 3],
        ..superblock
    };

    for epoch in [100, 101] {
        let mut root = Root::empty(&larger, 1);
        root.epoch = epoch;
        for (dpn, page) in (root.dpn(&larger)..).zip(root.encode(&larger)) {
            device.write(dpn, &page).unwrap();
        }
    }
    device
}

/// The target has met an error since.
fn mark(device: &Ram) {
    for dpn in [SUPER_DPN_A, SUPER_DPN_B] {
        let page = device.read_page(dpn).unwrap();
        let Ok(mut superblock) = Super::decode(&page, dpn).map_err(|_| ()) else {
            continue;
        };
        superblock.flags |= SUPER_NEEDS_CHECK;
        device.write(dpn, &superblock.encode()).unwrap();
    }
}

fn bytes_of(path: &str) -> Vec<u8> {
    fs::read(Path::new(path)).unwrap()
}

#[test]
fn that_it_needs_a_check_is_not_taken_back() {
    let device = grown_device();
    mark(&device);
    let path = file_with("grown-check", device);
    let path = path.to_str().unwrap();
    let before = bytes_of(path);
    let output = dieaware(&["check", "--clear-needs-check", path]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stdout(&output).contains(
        "It is one of before the device grew: behind its segments are the roots of a larger one, \
         and the superblock that it grew by is lost."
    ));
    assert!(bytes_of(path) == before);
}

#[test]
fn it_is_repaired_as_it_was_before_by_force_only() {
    let path = file_with("grown-repair", grown_device());
    let to = path.with_file_name("to");
    let (path, to) = (path.to_str().unwrap(), to.to_str().unwrap());
    for more in [&["--dry-run"][..], &[]] {
        let output = dieaware(&[&["repair", "--from", path, "--to", to], more].concat());
        assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
        assert_eq!(
            stderr(&output),
            format!(
                "dieaware: {path} has grown, and the superblock that it grew by is lost: --force \
                 repairs it as it was before, without what came since.\n"
            )
        );
        assert!(!Path::new(to).exists());
    }
    let output = dieaware(&["repair", "--force", "--from", path, "--to", to]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn what_it_was_before_is_restored_without_roots_of_what_it_became() {
    let path = file_with("grown-restore", grown_device());
    let text = path.with_file_name("text");
    let path = path.to_str().unwrap();
    let output = dieaware(&["dump", "--exact", path]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    fs::write(&text, &output.stdout).unwrap();
    let output = dieaware(&["restore", text.to_str().unwrap(), path]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let output = dieaware(&["check", path]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
}
