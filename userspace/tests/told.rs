// SPDX-License-Identifier: GPL-2.0-only
//! What people are told of files and folders, and that it comes before they have waited.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stderr)]

mod common;

use std::fs;
use std::io::Write;
use std::os::unix::fs::{symlink, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use clap::ValueEnum;
use common::{dieaware, stderr, stdout};
use dieaware::events::Event;

/// The tool as somebody runs it who is not root, in a folder; root has the tests run elsewhere, as somebody
/// else. The tool's own folder may be root's alone.
fn as_user(folder: &Path, args: &[&str]) -> Output {
    let tool = folder.join("dieaware");
    fs::copy(env!("CARGO_BIN_EXE_dieaware"), &tool).unwrap();
    let mut command = Command::new(&tool);
    if nix::unistd::geteuid().is_root() {
        command.uid(65534).gid(65534);
    }
    command.args(args).current_dir(folder).output().unwrap()
}

/// A folder where things are built, whose filesystem says where files lie more often than that of /tmp.
fn built_beside() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// Say that a test cannot be done here, past what keeps the output of those that pass; scripts/tools
/// counts that.
fn skip(why: &str) {
    let line = format!("skipped: {}\n", why.trim_end());
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

#[test]
fn what_nobody_may_look_at_keeps_nobody_from_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    let barred = folder.join("d/sub");
    fs::create_dir_all(&barred).unwrap();
    let file = folder.join("d/file");
    fs::write(&file, [1; 8192]).unwrap();
    for (path, mode) in [(folder, 0o755), (&barred, 0o000), (&file, 0o644)] {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let known = as_user(folder, &["frag", "d/file"]);
    let seen: Vec<_> = [&["frag", "d"][..], &["defrag", "--dry-run", "d"]]
        .iter()
        .map(|args| as_user(folder, args))
        .collect();
    fs::set_permissions(&barred, fs::Permissions::from_mode(0o755)).unwrap();
    if !known.status.success() {
        return skip(&stderr(&known));
    }
    for output in seen {
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        assert!(stdout(&output).contains(" d/file\n"), "{}", stdout(&output));
        assert!(
            stderr(&output).starts_with("dieaware: d/sub: Permission denied"),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn a_file_s_name_moves_no_cursor() {
    let dir = built_beside();
    let file = dir.path().join("data");
    fs::write(&file, [1; 8192]).unwrap();
    let run = |args: &[&str]| {
        let output = dieaware(args);
        let known = (output.status.code(), stdout(&output) + &stderr(&output));
        assert!(!known.1.contains('\x1b'), "{known:?}");
        known
    };
    let missing = dir.path().join("m\x1b[31m");
    let (status, said) = run(&["frag", missing.to_str().unwrap()]);
    assert_eq!(status, Some(3));
    assert!(said.contains("m\u{fffd}[31m"), "{said}");
    let (status, said) = run(&["frag", file.to_str().unwrap()]);
    if status != Some(0) {
        return skip(&said);
    }
    let odd = dir.path().join("f\x1b[31m");
    fs::rename(&file, &odd).unwrap();
    for args in [&["frag"][..], &["defrag", "--dry-run"]] {
        let (_, said) = run(&[args, &[odd.to_str().unwrap()]].concat());
        assert!(said.contains("f\u{fffd}[31m"), "{said}");
    }
}

#[test]
fn a_link_that_leads_nowhere_keeps_nobody_from_the_rest() {
    let dir = built_beside();
    let (file, link) = (dir.path().join("file"), dir.path().join("link"));
    fs::write(&file, [1; 8192]).unwrap();
    symlink("nothing", &link).unwrap();
    let paths = [&link, &file].map(|path| path.to_str().unwrap());
    let output = dieaware(&[&["defrag", "--dry-run", "--json"], &paths[..]].concat());
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    for path in paths {
        assert!(stdout(&output).contains(path), "{}", stdout(&output));
    }
}

#[test]
fn only_what_is_printed_may_be_left_unread() {
    let dir = tempfile::tempdir().unwrap();
    let dmsetup = dir.path().join("dmsetup");
    let script = "#!/bin/sh\n[ $1 != status ] || echo t0: 0 8 dieaware mode=hint hints=on\n";
    fs::write(&dmsetup, script).unwrap();
    fs::set_permissions(&dmsetup, fs::Permissions::from_mode(0o755)).unwrap();
    let run_unread = |args: &[&str]| {
        let (reader, writer) = nix::unistd::pipe().unwrap();
        drop(reader);
        let output = Command::new(env!("CARGO_BIN_EXE_dieaware"))
            .args(args)
            .env("PATH", dir.path())
            .stdout(writer)
            .output()
            .unwrap();
        (output.status.code(), stderr(&output))
    };
    let printed = run_unread(&["completions", "bash"]);
    assert_eq!(printed, (Some(0), String::new()));
    let (status, said) = run_unread(&["export", "--output", "/dev/stdout"]);
    assert_eq!(status, Some(3), "{said}");
    assert!(said.contains("Broken pipe"), "{said}");
}

#[test]
fn nobody_watches_for_what_cannot_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let begun = dir.path().join("begun");
    let output = dieaware(&[
        "pick",
        "analyze",
        "--out",
        "/no/folder/hot.json",
        "--path",
        dir.path().to_str().unwrap(),
        "--",
        "touch",
        begun.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(3));
    let said = stderr(&output);
    let words = "dieaware: /no/folder/hot.json cannot be written: ";
    assert!(said.starts_with(words), "{said}");
    assert!(!begun.exists());
}

#[test]
fn the_page_has_every_event_that_is_waited_for() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/man/dieaware-wait.8");
    let page = fs::read_to_string(page).unwrap();
    let events: Vec<_> = Event::value_variants()
        .iter()
        .map(|event| event.name())
        .collect();
    let described: Vec<_> = page
        .lines()
        .skip_while(|line| !line.starts_with(".SH DESCRIPTION"))
        .take_while(|line| !line.starts_with(".SH OPTIONS"))
        .filter_map(|line| line.strip_prefix(".B "))
        .map(|name| name.replace('\\', ""))
        .filter(|name| !name.contains('='))
        .collect();
    assert_eq!(described, events);
}

/// The page that lists all others has every verb.
#[test]
fn every_verb_has_a_man_page() {
    let folder = format!("{}/man", env!("CARGO_MANIFEST_DIR"));
    let overview = fs::read_to_string(format!("{folder}/dieaware.8")).unwrap();
    let help = stdout(&dieaware(&["--help"]));
    let commands = help.split("Commands:\n").nth(1).unwrap();
    for line in commands.lines().take_while(|line| !line.is_empty()) {
        let verb = line.split_whitespace().next().unwrap();
        if verb != "help" {
            assert!(overview.contains(&format!(".B {verb}\n")), "{verb}");
        }
        let page = match verb {
            "help" | "completions" => continue,
            "unpack" => "restore",
            verb => verb,
        };
        assert!(
            Path::new(&format!("{folder}/dieaware-{page}.8")).exists(),
            "{verb}"
        );
    }
}

#[test]
fn a_picture_that_cannot_be_written_is_refused_before_anything_is_measured() {
    for verb in ["doctor", "probe"] {
        // Whoever looked at it first would say that it is not there.
        let output = dieaware(&[verb, "--svg", "/nowhere/a.svg", "/nowhere/at-all"]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("/nowhere/a.svg cannot be written"), "{said}");
    }
}
