// SPDX-License-Identifier: GPL-2.0-only
//! What an initramfs gets to know of the devices that it makes.

// A test that panics has failed, which is what it should do then.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// What an initramfs gets of a dietab, on a machine whose root filesystem lies on the device "fast", on LVM.
fn initrd_dietab(text: &str) -> String {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("initrd-dietab");
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("dietab"), text).unwrap();
    for (name, said) in [
        ("findmnt", "/dev/mapper/fast"),
        ("lsblk", "/dev/mapper/fast\\n/dev/mapper/vg-lv\\n/dev/sda"),
    ] {
        let script = format!("#!/bin/sh\nprintf '{said}\\n'\n");
        fs::write(dir.join(name), script).unwrap();
        fs::set_permissions(dir.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = std::env::var("PATH").unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../boot/initrd-dietab");
    let output = Command::new(script)
        .env("DIEAWARE_DIETAB", dir.join("dietab"))
        .env("PATH", format!("{}:{path}", dir.display()))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn an_initramfs_gets_lines_as_they_are_understood() {
    let late = "x-initrd.late";
    for (line, expected) in [
        (
            "fast /dev/vg/lv log",
            format!("fast /dev/vg/lv log {late}\n"),
        ),
        (
            "fast /dev/vg/lv log map_cache_mb=8 \t",
            format!("fast /dev/vg/lv log map_cache_mb=8,{late}\n"),
        ),
        (
            "  fast /dev/vg/lv log \t",
            format!("  fast /dev/vg/lv log {late}\n"),
        ),
        ("other /dev/sdb log", String::new()),
        (
            "other /dev/sdb log x-initrd.attach",
            "other /dev/sdb log x-initrd.attach\n".to_owned(),
        ),
    ] {
        assert_eq!(
            initrd_dietab(&format!("# all\n{line}\n")),
            expected,
            "{line:?}"
        );
    }
    // Of lines of one name the first one counts that is right, at boot as well.
    assert_eq!(
        initrd_dietab("fast /dev/vg/lv logg\nfast /dev/vg/lv log -\nfast /dev/sdc hint\n"),
        format!(
            "fast /dev/vg/lv logg {late}\nfast /dev/vg/lv log -,{late}\nfast /dev/sdc hint {late}\n"
        )
    );
}
