// SPDX-License-Identifier: GPL-2.0-only
//! Files that the tool writes where it is told to take the place of their like, and of nothing else: of
//! `--svg *.db` the first file would be the picture.

// A test that panics has failed, which is what it should do then.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// What has the beginning of each of them, but not as its own.
const MENTIONS: &str = "#!/bin/sh\n<svg \n{\"kind\":\"dieaware-pick\"\n# dieaware trace 1\n\
    # HELP dieaware_x\n# Files whose runs dieaware loads, the last written first\n";

const TRACE: &str = "# dieaware trace 1\n- write 0 4096\n- read 0 4096\n";

/// With a machine that has no device of device-mapper.
fn run(dir: &Path, args: &[&str]) -> Output {
    let dmsetup = dir.join("dmsetup");
    fs::write(&dmsetup, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&dmsetup, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", dir.display(), std::env::var("PATH").unwrap());
    Command::new(env!("CARGO_BIN_EXE_dieaware"))
        .args(args)
        .env("PATH", path)
        .output()
        .unwrap()
}

#[test]
fn only_what_the_tool_wrote_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (data, trace, to, folder) = (path("data"), path("trace"), path("to"), path("folder"));
    fs::write(&data, vec![7; 8192]).unwrap();
    fs::write(&trace, TRACE).unwrap();
    fs::create_dir(&folder).unwrap();

    for args in [
        &["frag", "--svg", &to, &data][..],
        &["doctor", "--time", "1", "--svg", &to, &folder],
        &[
            "pick", "analyze", "--bypass", "--path", &folder, "--out", &to,
        ],
        &["sim", "--log", &to, &trace],
        &["export", "--output", &to],
    ] {
        for precious in ["somebody's", "x", MENTIONS] {
            fs::write(&to, precious).unwrap();
            let output = run(dir.path(), args);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
            assert!(said.contains("to exists, and is no "), "{args:?}: {said}");
            assert_eq!(fs::read_to_string(&to).unwrap(), precious, "{args:?}");
        }
        // Where nothing is, or nothing in it; and then what it has written itself
        fs::write(&to, "").unwrap();
        for _ in 0..2 {
            let output = run(dir.path(), args);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{args:?}: {said}");
        }
    }
}

#[test]
fn a_trace_is_not_its_own_log() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (trace, link) = (path("trace"), path("link"));
    fs::write(&trace, TRACE).unwrap();
    fs::hard_link(&trace, &link).unwrap();
    for (log, from) in [
        (&trace, &*trace),
        (&link, &trace),
        (&trace, "-"),
        (&link, "-"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_dieaware"))
            .args(["sim", "--log", log, from])
            .stdin(fs::File::open(&trace).unwrap())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("is the trace itself"), "{said}");
        assert_eq!(fs::read_to_string(&trace).unwrap(), TRACE);
    }
}
