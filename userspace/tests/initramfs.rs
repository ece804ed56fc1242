// SPDX-License-Identifier: GPL-2.0-only
//! What an initramfs gets to know of the devices that it makes.

// A test that panics has failed, which is what it should do then.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
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

/// A folder with the hook of initramfs-tools and what it calls, each of which ends well unless it is the one
/// that is to fail, by the words that it is called with.
fn hook_folder(name: &str, lines: &str, failing: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(dir.join("initramfs")).unwrap();
    let fails = format!("case \"$call\" in '{failing}') exit 1 ;; esac\n");
    for (program, words, says) in [
        ("initrd-dietab", "initrd-dietab", lines),
        ("findmnt", "findmnt", "/dev/mapper/fast"),
        ("blkid", "blkid", "12-34"),
    ] {
        let script = format!("#!/bin/sh\ncall='{words}'\n{fails}printf '%s' '{says}'\n");
        fs::write(dir.join(program), script).unwrap();
        fs::set_permissions(dir.join(program), fs::Permissions::from_mode(0o755)).unwrap();
    }
    if failing != "rules" {
        fs::write(dir.join("61-dieaware.rules"), "rules").unwrap();
    }
    // As those of initramfs-tools, they return.
    let functions = ["copy_exec", "manual_add_modules"].map(|function| {
        format!(
            "{function}() {{\n\tcall=\"{function} $*\"\n\techo \"$call\" >>\"$DESTDIR/calls\"\n\t\
             case \"$call\" in '{failing}') return 1 ;; esac\n}}\n"
        )
    });
    fs::write(dir.join("hook-functions"), functions.concat()).unwrap();
    let hook = concat!(env!("CARGO_MANIFEST_DIR"), "/../boot/initramfs-tools/hook");
    let mut hook = fs::read_to_string(hook).unwrap();
    for (there, here) in [
        (
            "/usr/share/initramfs-tools/hook-functions",
            "hook-functions",
        ),
        ("/usr/lib/dieaware/initrd-dietab", "initrd-dietab"),
        (
            "/usr/lib/udev/rules.d/61-dieaware.rules",
            "61-dieaware.rules",
        ),
    ] {
        assert_eq!(hook.matches(there).count(), 1, "{there}");
        hook = hook.replace(there, dir.join(here).to_str().unwrap());
    }
    fs::write(dir.join("hook"), hook).unwrap();
    dir
}

/// Does mkinitramfs go on after the hook?
fn hook_is_fine(dir: &Path) -> bool {
    let path = std::env::var("PATH").unwrap();
    let status = Command::new("sh")
        .arg(dir.join("hook"))
        .env("DESTDIR", dir.join("initramfs"))
        .env("PATH", format!("{}:{path}", dir.display()))
        .status()
        .unwrap();
    status.success()
}

#[test]
fn no_initramfs_is_made_that_lacks_what_the_root_filesystem_needs() {
    let lines = "fast /dev/sda hint";
    let made = |dir: &Path, name: &str| fs::read_to_string(dir.join("initramfs").join(name)).ok();
    let dir = hook_folder("hook-fine", lines, "");
    assert!(hook_is_fine(&dir));
    assert_eq!(made(&dir, "etc/dietab").unwrap(), format!("{lines}\n"));
    assert_eq!(
        made(&dir, "etc/dieaware-root").unwrap(),
        "/dev/mapper/fast 12-34\n"
    );
    assert!(made(&dir, "lib/udev/rules.d/61-dieaware.rules").is_some());
    assert_eq!(
        made(&dir, "calls").unwrap(),
        "copy_exec /usr/sbin/dieaware\ncopy_exec /usr/sbin/dmsetup\n\
         manual_add_modules dm-dieaware nvme\n"
    );

    for failing in [
        "initrd-dietab",
        "rules",
        "copy_exec /usr/sbin/dieaware",
        "copy_exec /usr/sbin/dmsetup",
    ] {
        let dir = hook_folder("hook-fails", lines, failing);
        assert!(!hook_is_fine(&dir), "{failing}");
    }
    // It may be built into the kernel.
    let failing = "manual_add_modules dm-dieaware nvme";
    assert!(hook_is_fine(&hook_folder("hook-goes-on", lines, failing)));
    let dir = hook_folder("hook-nothing", "", "");
    assert!(hook_is_fine(&dir));
    assert_eq!(made(&dir, "calls"), None);
}
