// SPDX-License-Identifier: GPL-2.0-only
//! What an initramfs gets to know of the devices that it makes.

// A test that panics has failed, which is what it should do then.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A machine whose root filesystem, of a type, lies on a source, such as the device "fast", on LVM. Btrfs lies
/// on "second", too. Below swap, which is off, is a partition.
fn machine_on(dir: &Path, filesystem: &str, source: &str, text: &str) {
    let _ = fs::remove_dir_all(dir);
    let devices = dir.join("sys/fs/btrfs/12-34/devices");
    fs::create_dir_all(&devices).unwrap();
    fs::write(devices.join("dm-0"), "").unwrap();
    fs::write(devices.join("dm-1"), "").unwrap();
    fs::write(dir.join("dietab"), text).unwrap();
    fs::write(dir.join("swaps"), "Filename Type Size Used Priority\n").unwrap();
    let findmnt = format!(
        "case \"$3 $4\" in '/ ') ;; '-T /srv/a swap') echo /dev/sdd1; exit ;; *) exit 1 ;; esac\n\
         case $2 in FSTYPE) echo {filesystem} ;; UUID) echo 12-34 ;; *) echo {source} ;; esac"
    );
    let lsblk = "[ \"$2\" = NAME,KNAME,TYPE ] || exit 1\n\
                 fast='/dev/mapper/fast /dev/dm-0 dieaware'\n\
                 second='/dev/mapper/second /dev/dm-1 dieaware'\n\
                 volume='/dev/mapper/vg-lv /dev/dm-2 lvm'\n\
                 swap='/dev/mapper/vg-swap /dev/dm-3 lvm'\n\
                 for name in sda sdb sdc sdd; do eval $name=\"'/dev/$name /dev/$name disk'\"; done\n\
                 part='/dev/sdd1 /dev/sdd1 part'\n\
                 case $3 in\n\
                 /dev/mapper/fast) printf '%s\\n' \"$fast\" \"$volume\" \"$sda\" ;;\n\
                 /dev/dm-0) printf '%s\\n' \"$fast\" \"$volume\" \"$sda\" ;;\n\
                 /dev/dm-1) printf '%s\\n' \"$second\" \"$sdb\" ;;\n\
                 /dev/mapper/vg-lv) printf '%s\\n' \"$volume\" \"$sda\" ;;\n\
                 /dev/mapper/vg-swap) printf '%s\\n' \"$swap\" \"$second\" \"$sdb\" ;;\n\
                 /dev/sdd1) printf '%s\\n' \"$part\" \"$sdd\" ;;\n\
                 esac";
    let readlink = "case $2 in\n\
                    /dev/vg/lv) echo /dev/dm-2 ;;\n\
                    /dev/disk/by-uuid/7) echo /dev/dm-2 ;;\n\
                    '/dev/disk/by-partlabel/a\\x24') echo /dev/sdd1 ;;\n\
                    /dev/disk/by-id/*) exit 1 ;;\n\
                    *) echo \"$2\" ;;\nesac";
    for (name, does) in [
        ("findmnt", findmnt.as_str()),
        ("lsblk", lsblk),
        ("readlink", readlink),
    ] {
        fs::write(dir.join(name), format!("#!/bin/sh\n{does}\n")).unwrap();
        fs::set_permissions(dir.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

fn machine(dir: &Path, filesystem: &str, text: &str) {
    machine_on(dir, filesystem, "/dev/mapper/fast", text);
}

/// What is said there of its dietab.
fn says_of_dietab(dir: &Path, args: &[&str]) -> String {
    let path = std::env::var("PATH").unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../boot/initrd-dietab");
    let output = Command::new(script)
        .args(args)
        .env("DIEAWARE_DIETAB", dir.join("dietab"))
        .env("DIEAWARE_SYSFS", dir.join("sys"))
        .env("DIEAWARE_SWAPS", dir.join("swaps"))
        .env("DIEAWARE_CRYPTTAB", dir.join("crypttab"))
        .env("PATH", format!("{}:{path}", dir.display()))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout).unwrap()
}

fn initrd_dietab(text: &str) -> String {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("initrd-dietab");
    machine(&dir, "ext4", text);
    says_of_dietab(&dir, &[])
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
        (
            "fast ID=nvme-x  log       # /etc/dietab",
            format!("fast ID=nvme-x  log {late}\n"),
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
    // Somebody has to say that this one is wrong.
    assert_eq!(
        initrd_dietab("fast /dev/vg/lv\n"),
        format!("fast /dev/vg/lv {late}\n")
    );
    // What another line makes is not made before the root filesystem is there, but its source is hidden.
    for (line, expected) in [
        ("other /dev/sdb hint", "other /dev/sdb hint noauto\n"),
        (
            "other ID=x hint runs_mb=8\r",
            "other ID=x hint runs_mb=8,noauto\n",
        ),
    ] {
        assert_eq!(initrd_dietab(&format!("{line}\n")), expected, "{line:?}");
    }
    // Of lines of one name the first one counts that is right, at boot as well.
    assert_eq!(
        initrd_dietab("fast /dev/vg/lv logg\nfast /dev/vg/lv log -\nfast /dev/sdc hint\n"),
        format!(
            "fast /dev/vg/lv logg {late}\nfast /dev/vg/lv log -,{late}\nfast /dev/sdc hint {late}\n"
        )
    );
}

#[test]
fn each_device_of_the_root_filesystem_is_needed() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("initrd-dietab-needed");
    let text = "second /dev/sdb hint\r\nfast /dev/vg/lv log\r\nthird /dev/sdc log\r\n\
                fourth /dev/sdd hint x-initrd.attach\r\nfifth /dev/sde hint\n";
    for (filesystem, needed, relied_on) in [
        ("ext4", "fast\nfourth\n", "fast\nthird\n"),
        ("btrfs", "second\nfast\nfourth\n", "second\nfast\nthird\n"),
    ] {
        machine(&dir, filesystem, text);
        assert_eq!(says_of_dietab(&dir, &["--needed"]), needed);
        assert_eq!(says_of_dietab(&dir, &["--relied-on"]), relied_on);
    }
    assert_eq!(
        says_of_dietab(&dir, &[]),
        "second /dev/sdb hint\nfast /dev/vg/lv log x-initrd.late\n\
         fourth /dev/sdd hint x-initrd.attach\nfifth /dev/sde hint noauto\n"
    );
}

/// The machine was told to do without its device, or the line is new: what is below is not hidden from the
/// next boot.
#[test]
fn a_device_on_whose_source_the_root_filesystem_lies_is_needed() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("initrd-dietab-source");
    for (source, line, expected, root) in [
        ("/dev/sdd1", "die /dev/sdd1 hint", "", "die\n"),
        ("/dev/sdd1", "die PARTLABEL=\"a$\" hint", "", "die\n"),
        ("/dev/sdd1", "die PARTLABEL=a hint", "noauto", ""),
        ("/dev/sdd1", "die /dev/sdd1 hint start=0", "", "die\n"),
        ("/dev/sdd1", "die /dev/sdd1 hint start=8", "noauto", ""),
        // It has the table of partitions.
        ("/dev/sdd1", "die /dev/sdd hint", "noauto", ""),
        ("/dev/sdd1", "die /dev/sdb hint", "noauto", ""),
        (
            "/dev/mapper/vg-lv",
            "die /dev/vg/lv hint",
            "x-initrd.late",
            "die\n",
        ),
        ("/dev/mapper/vg-lv", "die /dev/sda hint", "", ""),
        // It is there by another name, which the line does not have any more.
        (
            "/dev/mapper/fast",
            "die /dev/vg/lv hint",
            "x-initrd.late",
            "die\n",
        ),
        // That one is to be below a volume, and not the root filesystem.
        ("/dev/mapper/fast", "die /dev/sda hint", "", ""),
        ("/dev/mapper/fast", "die UUID=7 log", "x-initrd.late", ""),
        (
            "/dev/mapper/fast",
            "fast /dev/vg/lv hint",
            "x-initrd.late",
            "fast\n",
        ),
    ] {
        machine_on(&dir, "ext4", source, &format!("# all\n\n{line}\n"));
        let printed = match (expected, line.split(' ').count()) {
            ("", _) => format!("{line}\n"),
            (option, 3) => format!("{line} {option}\n"),
            (option, _) => format!("{line},{option}\n"),
        };
        let says = |args: &[&str]| says_of_dietab(&dir, args);
        assert_eq!(says(&[]), printed, "{line}");
        assert_eq!(
            says(&["--needed"]).is_empty(),
            expected == "noauto",
            "{line}"
        );
        assert_eq!(says(&["--root"]), root, "{line}");
    }
    // One that is switched off is nothing that the machine needs, and nothing is hidden below it.
    for (source, line, printed) in [
        ("/dev/sdd1", "die /dev/sdd1 hint noauto", ""),
        ("/dev/sdd1", "die /dev/sdd1 hint nofail,noauto", ""),
        ("/dev/mapper/fast", "die /dev/vg/lv hint noauto", ""),
        ("/dev/sdd1", "die /dev/sdb hint noauto", "noauto"),
        (
            "/dev/sdd1",
            "die /dev/sdd1 hint noauto,x-initrd.attach",
            "-",
        ),
        // The machine runs with it: somebody has to say that it would not any more.
        ("/dev/mapper/fast", "fast /dev/sda hint noauto", "-"),
    ] {
        machine_on(&dir, "ext4", source, &format!("{line}\n"));
        let says = |args: &[&str]| says_of_dietab(&dir, args);
        let is_needed = printed == "-";
        assert_eq!(!says(&["--needed"]).is_empty(), is_needed, "{line}");
        assert_eq!(!says(&["--root"]).is_empty(), is_needed, "{line}");
        assert_eq!(says(&[]).is_empty(), printed.is_empty(), "{line}");
    }
    // Without the packages, the machine boots as it did.
    machine_on(&dir, "ext4", "/dev/sdd1", "die /dev/sdd1 hint\n");
    assert_eq!(says_of_dietab(&dir, &["--relied-on"]), "");
    // One of that name counts, and the other only hides.
    machine(
        &dir,
        "ext4",
        "fast /dev/vg/lv hint\nother /dev/vg/lv hint\n",
    );
    assert_eq!(says_of_dietab(&dir, &["--needed"]), "fast\n");
}

#[test]
fn what_the_machine_may_have_hibernated_to_is_made_and_may_be_missing() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("initrd-dietab-swap");
    for (line, swap, expected) in [
        (
            "second /dev/sdb hint",
            "/dev/mapper/vg-swap partition",
            "nofail",
        ),
        (
            "second /dev/sdb hint nofail",
            "/dev/mapper/vg-swap partition",
            "",
        ),
        (
            "second /dev/sdb hint noauto",
            "/dev/mapper/vg-swap partition",
            "noauto",
        ),
        ("second /dev/sdb hint", "/dev/sdd1 partition", "noauto"),
        ("die /dev/sdd1 hint noauto", "/dev/sdd1 partition", "-"),
        ("die /dev/sdd1 hint", "/dev/sdd1 partition", "nofail"),
        ("die /dev/sdd1 hint", "/srv/a\\040swap file", "nofail"),
        ("die /dev/sdd1 hint", "/srv/aswap file", "noauto"),
        ("second UUID=1 log", "/dev/mapper/vg-swap partition", "-"),
    ] {
        machine(&dir, "ext4", &format!("{line}\n"));
        fs::write(dir.join("swaps"), format!("Filename Type\n{swap} 8 0 -2\n")).unwrap();
        let parted = if line.split(' ').count() > 3 {
            ","
        } else {
            " "
        };
        let printed = match expected {
            "-" => String::new(),
            "" => format!("{line}\n"),
            option => format!("{line}{parted}{option}\n"),
        };
        assert_eq!(says_of_dietab(&dir, &[]), printed, "{line} {swap}");
        let is_wanted = printed.contains("nofail");
        assert_eq!(
            !says_of_dietab(&dir, &["--wanted"]).is_empty(),
            is_wanted,
            "{line} {swap}"
        );
        assert_eq!(says_of_dietab(&dir, &["--needed"]), "");
    }
}

#[test]
fn what_crypttab_names_itself_must_not_be_in_use_before() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("named-in-crypttab");
    for (crypttab, is_left, is_named) in [
        ("", false, false),
        ("secret PARTLABEL=a$ none luks", true, true),
        ("secret /dev/disk/by-partlabel/a\\x24 none luks", true, true),
        // Of this, initramfs-tools makes a UUID.
        ("secret /dev/sdd1 none luks", false, true),
        ("# secret /dev/sdd1 none luks", false, false),
        ("secret UUID=12 none luks", false, false),
        ("secret /dev/disk/by-uuid/12 none luks", false, false),
        ("other /dev/sdb none luks", false, false),
    ] {
        for (mode, is_hint) in [("hint", true), ("log x-initrd.attach", false)] {
            machine_on(&dir, "ext4", "/dev/sdd1", &format!("new /dev/sdd1 {mode}"));
            fs::write(dir.join("crypttab"), format!("{crypttab}\n")).unwrap();
            let named = |is_it: bool| if is_it && is_hint { "new\n" } else { "" };
            assert_eq!(
                says_of_dietab(&dir, &["--named"]),
                named(is_left),
                "{crypttab}"
            );
            assert_eq!(
                says_of_dietab(&dir, &["--named", "all"]),
                named(is_named),
                "{crypttab}"
            );
        }
    }
    // A machine without LUKS need not have that file.
    machine_on(&dir, "ext4", "/dev/sdd1", "new /dev/sdd1 hint");
    assert_eq!(says_of_dietab(&dir, &["--named", "all"]), "");
}

/// A folder with the hook of initramfs-tools and what it calls, each of which ends well unless it is the one
/// that is to fail, by the words that it is called with.
fn hook_folder(name: &str, lines: &str, failing: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(dir.join("initramfs")).unwrap();
    let fails = format!("case \"$call\" in '{failing}') exit 1 ;; esac\n");
    let names = |is_wanted| -> String {
        lines
            .lines()
            .filter(|line| !line.contains("noauto") && line.contains("nofail") == is_wanted)
            .filter_map(|line| line.split(' ').next())
            .map(|name| format!("{name}\n"))
            .collect()
    };
    let dietab = format!(
        "case $1 in --needed) printf '%s' '{needed}' ;; --wanted) printf '%s' '{wanted}' ;;\n\
         --root) printf '%s' '{needed}' ;; --named) cat named 2>/dev/null || : ;; *) printf '%s' '{lines}' ;; esac",
        needed = names(false),
        wanted = names(true)
    );
    for (program, words, says) in [
        ("initrd-dietab", "initrd-dietab", dietab.as_str()),
        ("findmnt", "findmnt", "printf /dev/mapper/fast"),
        ("blkid", "blkid", "printf 12-34"),
        ("modinfo", "modinfo $*", ""),
    ] {
        let script = format!("#!/bin/sh\ncall=\"{words}\"\n{fails}{says}\n");
        fs::write(dir.join(program), script).unwrap();
        fs::set_permissions(dir.join(program), fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::write(dir.join("dietab"), format!("# all\n{lines}\n")).unwrap();
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
    let check = format!("{} boot --check dietab", env!("CARGO_BIN_EXE_dieaware"));
    hook = hook.replace("/usr/sbin/dieaware boot --check /etc/dietab", &check);
    hook = hook.replace("[ ! -e /etc/dietab ]", "[ ! -e dietab ]");
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
        assert_ne!(hook.matches(there).count(), 0, "{there}");
        hook = hook.replace(there, dir.join(here).to_str().unwrap());
    }
    fs::write(dir.join("hook"), hook).unwrap();
    dir
}

/// What the hook says. Does mkinitramfs go on after it?
fn hook_says(dir: &Path) -> (bool, String) {
    let path = std::env::var("PATH").unwrap();
    let output = Command::new("sh")
        .arg(dir.join("hook"))
        .current_dir(dir)
        .env("DESTDIR", dir.join("initramfs"))
        .env("version", "6.1.0")
        .env("PATH", format!("{}:{path}", dir.display()))
        .output()
        .unwrap();
    (
        output.status.success(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

fn hook_is_fine(dir: &Path) -> bool {
    hook_says(dir).0
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
        "/dev/mapper/fast UUID=12-34\n/dev/mapper/fast LABEL=12-34\n"
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
    // A new kernel, of which dkms could not build the module
    let failing = "modinfo -k 6.1.0 dm-dieaware";
    let (is_fine, said) = hook_says(&hook_folder("hook-no-module", lines, failing));
    assert!(!is_fine);
    assert!(
        said.contains("E: dieaware: the kernel 6.1.0 has no module"),
        "{said}"
    );
    // LUKS would find its device in use.
    let dir = hook_folder("hook-named", lines, "");
    fs::write(dir.join("named"), "fast\n").unwrap();
    let (is_fine, said) = hook_says(&dir);
    assert!(
        !is_fine && said.contains("/etc/crypttab names what fast lies on"),
        "{said}"
    );
    // Where no machine has any device of ours, nothing is looked at.
    let dir = hook_folder("hook-no-dietab", "", "");
    fs::remove_file(dir.join("dietab")).unwrap();
    assert!(hook_is_fine(&dir));
    // The driver may be built into the kernel.
    let failing = "manual_add_modules dm-dieaware nvme";
    assert!(hook_is_fine(&hook_folder("hook-goes-on", lines, failing)));
    // Where nobody needs the module, nobody misses it.
    let dir = hook_folder("hook-nothing", "", "modinfo *");
    assert!(hook_is_fine(&dir));
    assert_eq!(made(&dir, "calls"), None);
    // Without the module it would not wake, and boots.
    let lines = "other /dev/sda hint nofail";
    let dir = hook_folder("hook-wakes", lines, "");
    assert!(hook_is_fine(&dir));
    assert_eq!(made(&dir, "etc/dieaware-root"), None);
    assert!(made(&dir, "calls").unwrap().contains("dm-dieaware"));
    let (is_fine, said) = hook_says(&hook_folder(
        "hook-sleeps",
        lines,
        "modinfo -k 6.1.0 dm-dieaware",
    ));
    assert!(is_fine);
    assert!(said.contains("W: dieaware: the kernel 6.1.0"), "{said}");
    // Udev has to hide what is below a device that is made later.
    let lines = "other /dev/sda hint noauto";
    let dir = hook_folder("hook-hides", lines, "modinfo *");
    assert!(hook_is_fine(&dir));
    assert_eq!(made(&dir, "etc/dietab").unwrap(), format!("{lines}\n"));
    assert!(made(&dir, "lib/udev/rules.d/61-dieaware.rules").is_some());
    assert_eq!(
        made(&dir, "calls").unwrap(),
        "copy_exec /usr/sbin/dieaware\ncopy_exec /usr/sbin/dmsetup\n"
    );
}

#[test]
fn an_initramfs_with_a_wrong_line_is_refused_and_says_which() {
    let reason = "dietab, line 2: the mode is hint or log, not \"hnit\".";
    let dir = hook_folder("hook-wrong", "fast /dev/sda hnit", "");
    let (is_fine, said) = hook_says(&dir);
    assert!(!is_fine);
    assert!(said.contains(reason), "{said}");
    assert!(said.contains("E: dieaware: /etc/dietab is wrong"), "{said}");
    // One that the root filesystem does not need is said, too.
    let dir = hook_folder("hook-other", "", "");
    fs::write(dir.join("dietab"), "\nother /dev/sda hnit\n").unwrap();
    let (is_fine, said) = hook_says(&dir);
    assert!(is_fine);
    assert!(said.contains(reason), "{said}");
    // Of lines of one name the first that is right counts.
    let dir = hook_folder("hook-twice", "fast /dev/sda hnit\nfast /dev/sda hint", "");
    assert!(hook_is_fine(&dir));
    fs::remove_file(dir.join("dietab")).unwrap();
    assert!(!hook_is_fine(&dir));
    // Nobody would make it.
    let dir = hook_folder("hook-noauto", "fast /dev/sda hint", "");
    fs::write(dir.join("dietab"), "fast /dev/sda hint noauto\n").unwrap();
    let (is_fine, said) = hook_says(&dir);
    assert!(!is_fine);
    assert!(said.contains("line 1: fast has noauto"), "{said}");
}

/// What dracut's functions of the module end with, and what is said, where the command `failing` fails.
fn dracut_says(function: &str, lines: &str, failing: &str) -> (i32, String) {
    let name = format!("dracut-{function}");
    let dir = hook_folder(&name, lines, failing);
    let setup = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../boot/dracut/module-setup.sh"
    );
    let setup = fs::read_to_string(setup)
        .unwrap()
        .replace("/usr/lib/dieaware/initrd-dietab", "./initrd-dietab")
        .replace("-e /etc/dietab ]]", "-e dietab ]]")
        .replace(
            "dieaware boot --check /etc/dietab",
            &format!("{} boot --check dietab", env!("CARGO_BIN_EXE_dieaware")),
        );
    // As those of dracut: instmods misses nothing without -c.
    let script = format!(
        "kernel=6.1.0\nrequire_binaries() {{ true; }}\nderror() {{ echo \"$*\" >&2; }}\n\
         dwarn() {{ echo \"W: $*\" >&2; }}\n\
         instmods() {{\n\techo \"instmods $*\" >&2\n\t\
         case \"instmods $*\" in '{failing}') return 1 ;; esac\n}}\n{setup}\n{function}\n"
    );
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(&dir)
        .output()
        .unwrap();
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn dracut_makes_no_initramfs_that_lacks_what_the_root_filesystem_needs() {
    let lines = "fast /dev/sda hint";
    assert_eq!(dracut_says("check", lines, "").0, 0);
    assert_eq!(dracut_says("check", "", "").0, 255);
    // It would be left out without a word: the next function says why there is no initramfs.
    assert_eq!(dracut_says("check", "", "initrd-dietab").0, 0);
    let (status, said) = dracut_says("installkernel", lines, "");
    assert_eq!(
        (status, said.as_str()),
        (0, "instmods -c dm-dieaware\ninstmods nvme\n")
    );
    // What udev hides needs no module.
    let hidden = "other /dev/sda hint noauto";
    assert_eq!(dracut_says("check", hidden, "").0, 0);
    assert_eq!(dracut_says("installkernel", hidden, ""), (0, String::new()));
    // Nor is it missed where the machine would only not wake.
    let wanted = "other /dev/sda hint nofail";
    let (status, said) = dracut_says("installkernel", wanted, "");
    assert_eq!((status, said.lines().count()), (0, 2), "{said}");
    let (status, said) = dracut_says("installkernel", wanted, "instmods -c dm-dieaware");
    assert_eq!(status, 0);
    assert!(said.contains("W: dieaware: the kernel 6.1.0"), "{said}");
    for (lines, failing, says) in [
        (lines, "initrd-dietab", "cannot be found out"),
        (lines, "instmods -c dm-dieaware", "the kernel 6.1.0 has no"),
        ("fast /dev/sda hnit", "", "dietab, line 2: the mode is"),
    ] {
        let (status, said) = dracut_says("installkernel", lines, failing);
        assert_eq!(status, 1, "{failing}");
        assert!(said.contains(says), "{said}");
    }
}
