// SPDX-License-Identifier: GPL-2.0-only
//! What scripts of the Debian packages do when a package comes or goes: on a machine that is made up.

// A test that panics has failed, which is what it should do then.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder with programs in the place of the machine's, each of which writes down how it is called, and says
/// something.
fn machine(name: &str, programs: &[(&str, &str)]) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(dir.join("block")).unwrap();
    fs::create_dir_all(dir.join("systemd")).unwrap();
    for (program, says) in programs {
        let script =
            format!("#!/bin/sh\necho \"{program} $*\" >>\"${{0%/*}}/calls\"\nprintf '{says}'\n");
        fs::write(dir.join(program), script).unwrap();
        fs::set_permissions(dir.join(program), fs::Permissions::from_mode(0o755)).unwrap();
    }
    dir
}

/// Run a script of a package there. Whether it ended well, and what it said.
fn run(dir: &Path, script: &str, args: &[&str]) -> (bool, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../debian")
        .join(script);
    let here = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let text = fs::read_to_string(path)
        .unwrap()
        .replace(
            "/usr/lib/dieaware/initrd-dietab",
            concat!(env!("CARGO_MANIFEST_DIR"), "/../boot/initrd-dietab"),
        )
        .replace("/sys/block", &here("block"))
        .replace("/run/systemd/system", &here("systemd"));
    fs::write(dir.join("script"), text).unwrap();
    let path = std::env::var("PATH").unwrap();
    let output = Command::new("sh")
        .arg(dir.join("script"))
        .args(args)
        .env("DPKG_MAINTSCRIPT_PACKAGE", script)
        .env("DIEAWARE_DIETAB", dir.join("dietab"))
        .env("PATH", format!("{}:{path}", dir.display()))
        .output()
        .unwrap();
    (
        output.status.success(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn what_is_in_use_keeps_a_package_from_being_removed() {
    let dir = machine(
        "prerm",
        &[
            ("findmnt", "/dev/mapper/vg-root\\n"),
            (
                "lsblk",
                "/dev/mapper/vg-root /dev/dm-1 lvm\\n/dev/mapper/die /dev/dm-0 dieaware\\n/dev/sda /dev/sda disk\\n",
            ),
        ],
    );
    // The last line is wrong, and named like a volume.
    let dietab = "# db /dev/a log\nfast /dev/b hint\ndb UUID=1 log nofail\ndie /dev/sda hint\n\
                  lost UUID=2 log\nother UUID=3 log\r\nvg-root /dev/sdb hint slow\n";
    let script = "dieaware-dkms.prerm";
    assert!(run(&dir, script, &["remove"]).0);
    fs::write(dir.join("dietab"), dietab).unwrap();
    assert!(run(&dir, script, &["remove"]).0);
    let names = ["fast", "db", "die", "other", "vg-root"];
    for (number, name) in names.into_iter().enumerate() {
        let device = dir.join(format!("block/dm-{number}/dm"));
        let maker = if name == "vg-root" { "LVM" } else { "DIEAWARE" };
        fs::create_dir_all(&device).unwrap();
        fs::write(device.join("name"), format!("{name}\n")).unwrap();
        fs::write(device.join("uuid"), format!("{maker}-{name}\n")).unwrap();
    }
    for package in [script, "dieaware-tools.prerm"] {
        let (is_fine, said) = run(&dir, package, &["remove"]);
        assert!(!is_fine);
        assert!(said.contains("are in use: db die other\n"), "{said}");
    }
    // What cannot be found out is no reason to go.
    let awk = dir.join("awk");
    fs::write(&awk, "#!/bin/sh\nexit 1\n").unwrap();
    fs::set_permissions(&awk, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(!run(&dir, script, &["remove"]).0);
    fs::remove_file(&awk).unwrap();
    // A new version comes in its place.
    assert!(run(&dir, script, &["upgrade", "0.2.0"]).0);
    fs::write(dir.join("dietab"), "fast /dev/b hint\n").unwrap();
    assert!(run(&dir, script, &["remove"]).0);
}

#[test]
fn an_upgrade_restarts_what_runs_and_starts_nothing() {
    let script = "dieaware-tools.postinst";
    let dir = machine("postinst", &[("systemctl", "")]);
    let calls = |dir: &Path| fs::read_to_string(dir.join("calls")).unwrap_or_default();
    assert!(run(&dir, script, &["configure", ""]).0);
    assert_eq!(calls(&dir), "systemctl daemon-reload\n");
    assert!(run(&dir, script, &["configure", "0.1.0"]).0);
    assert_eq!(
        calls(&dir),
        "systemctl daemon-reload\nsystemctl daemon-reload\nsystemctl try-restart \
         dieaware-watch@*.service dieaware-defragd@*.service dieaware-pick@*.service\n"
    );
    // No systemd, as in a chroot
    let dir = machine("postinst-chroot", &[("systemctl", "")]);
    fs::remove_dir(dir.join("systemd")).unwrap();
    assert!(run(&dir, script, &["configure", "0.1.0"]).0);
    assert_eq!(calls(&dir), "");
}
