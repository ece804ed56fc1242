// SPDX-License-Identifier: GPL-2.0-only
//! The tool as its users meet it: arguments, output, exit status. A script takes the
//! place of dmsetup and writes down what it was asked for.

// A test that panics has failed, which is what it should do then.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stderr)]

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use dieaware::io_engine::lock::{LockFile, WriteLock};
use nix::fcntl::{Flock, FlockArg};
use serde_json::Value;

const STATUS: &str = "mode=hint transport=tracepoint hints=on writes=12 append=7";

/// A folder with a dmsetup of our own.
struct Fixture {
    dir: PathBuf,
}

impl Fixture {
    /// `info` and `status` are what dmsetup prints for these commands.
    fn new(name: &str, info: &str, status: &str) -> Self {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("info"), info).unwrap();
        fs::write(dir.join("status"), status).unwrap();
        let script = dir.join("dmsetup");
        fs::write(
            &script,
            "#!/bin/sh\n\
             echo \"$*\" >>\"${0%/*}/calls\"\n\
             case $1-$2 in\n\
             message-broken) echo 'message ioctl failed: Invalid argument' >&2; exit 1;;\n\
             message-*) ;;\n\
             *-missing) echo 'Device missing not found' >&2; exit 1;;\n\
             info-*) cat \"${0%/*}/info\";;\n\
             status-*) cat \"${0%/*}/status\";;\n\
             table-*) cat \"${0%/*}/table\";;\n\
             *) exit 1;;\n\
             esac\n",
        )
        .unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        Self { dir }
    }

    fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Output {
        let path = format!("{}:{}", self.dir.display(), std::env::var("PATH").unwrap());
        Command::new(env!("CARGO_BIN_EXE_dieaware"))
            .args(args)
            .env("PATH", path)
            .output()
            .unwrap()
    }

    fn messages(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.dir.join("calls")).unwrap_or_default();
        calls
            .lines()
            .filter(|line| line.starts_with("message"))
            .map(str::to_owned)
            .collect()
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A file with a hole between its pages, and what the tool says about it; `None` where
/// the filesystem of this machine does not report extents.
fn file_with_runs(fixture: &Fixture) -> Option<(String, Value)> {
    let path = fixture.dir.join("data");
    let file = File::create(&path).unwrap();
    for page in [0u64, 1, 2, 8, 9] {
        file.write_all_at(&[0x5a; 4096], page * 4096).unwrap();
    }
    file.sync_all().unwrap();
    let path = path.to_str().unwrap().to_owned();
    let output = fixture.run(&["runs", "extents", "--json", &path]);
    if !output.status.success() {
        let reason = stderr(&output);
        assert!(
            reason.contains("report") && output.status.code() == Some(3),
            "{reason}"
        );
        eprintln!("skipped: {reason}");
        return None;
    }
    let files: Value = serde_json::from_str(&stdout(&output)).unwrap();
    Some((path, files[0].clone()))
}

fn pages_of(file: &Value) -> Vec<u64> {
    file["runs"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|run| {
            let first = run["file_page"].as_u64().unwrap();
            first..first + run["pages"].as_u64().unwrap()
        })
        .collect()
}

#[test]
fn a_table_of_devices_that_is_not_there_is_not_right() {
    let fixture = Fixture::new("boot-check", "", "");
    let path = &fixture.dir.join("dietab").display().to_string();
    let output = fixture.run(&["boot", "--check", path]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("dietab cannot be read: No such file"));
    fs::write(path, "# none yet\n").unwrap();
    let output = fixture.run(&["boot", "--check", path]);
    assert!(output.status.success() && output.stderr.is_empty());
}

#[test]
fn each_name_of_a_verb_shows_its_own_example() {
    let fixture = Fixture::new("unpack-help", "", "");
    let said = |verb: &str| stdout(&fixture.run(&[verb, "--help"]));
    assert!(said("unpack").contains("dieaware unpack report.gz image"));
    assert!(!said("unpack").contains("dieaware restore"));
    assert!(said("restore").contains("dieaware restore before /dev/nvme0n1"));
}

#[test]
fn wrong_usage_ends_with_2() {
    let fixture = Fixture::new("usage", "", "");
    for args in [
        &[][..],
        &["dance"],
        &["runs"],
        &["runs", "load", "demo"],
        &["runs", "load", "--saved", "/", "demo"],
        &["runs", "load", "--list", "list"],
        &["runs", "save"],
        // The folder of the machine that tests lies on no target.
        &["runs", "save", "/proc"],
        &["runs", "extents"],
        &["status"],
        &["status", "demo", "--yaml"],
        &["pick"],
        &["pick", "analyze"],
        &["pick", "migrate"],
        &["pick", "watch"],
        &["pick", "watch", "--every", "0", "/"],
        // No clock goes as far.
        &["pick", "watch", "--every", "18446744073709551615", "/"],
        &["pick", "analyze", "--out", "f", "--seconds", "4294967296"],
        &["pick", "migrate", "--hot", "101", "f"],
        &["pick", "analyze", "--out", "f", "--hot", "101"],
        &[
            "pick",
            "analyze",
            "--out",
            "f",
            "--seconds",
            "1",
            "--",
            "true",
        ],
        &["pick", "analyze", "--out", "f", "--bypass", "--", "true"],
        &["defragd"],
        &["defrag", "--max-time", "0", "/"],
        &["defrag", "--max-bytes", "some", "/"],
        &["defrag", "--keep-dies", "/"],
        &["pick", "migrate", "--max-time", "0", "/x"],
        &["defragd", "--every", "0", "/"],
        // Who counts has no files to choose, and a pass keeps nothing.
        &["defragd", "--files", "5", "/"],
        &["defragd", "--most", "1M", "/"],
        &["defragd", "--pieces", "50", "/"],
        &["defragd", "--threshold", "50", "/"],
        &["defragd", "--once", "--every", "60", "/"],
    ] {
        let output = fixture.run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(!stderr(&output).is_empty(), "{args:?}");
    }
}

#[test]
fn what_is_wrong_with_a_file_is_said_once() {
    let fixture = Fixture::new("file", "", "");
    for args in [&["frag", "/no/file"][..], &["runs", "extents", "/no/file"]] {
        let output = fixture.run(args);
        assert_eq!(output.status.code(), Some(3), "{args:?}");
        assert_eq!(
            stderr(&output),
            "dieaware: /no/file: it cannot be read: No such file or directory (os error 2).\n"
        );
    }
}

#[test]
fn nobody_waits_for_a_fifo() {
    let fixture = Fixture::new("fifo", "", "");
    let fifo = fixture.dir.join("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let fifo = fifo.to_str().unwrap();
    for args in [
        &["frag", fifo][..],
        &["defrag", fifo],
        &["runs", "extents", fifo],
        &["runs", "save", fifo],
        &["pick", "analyze", "--out", "f", "--bypass", "--path", fifo],
        &["defragd", "--once", "--state", fifo, "/"],
    ] {
        let output = Command::new("timeout")
            .args(["20", env!("CARGO_BIN_EXE_dieaware")])
            .args(args)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(3), "{args:?}");
        let said = stderr(&output);
        let not = ["it is not a regular file", "it is neither a regular file"];
        assert!(not.iter().any(|not| said.contains(not)), "{said}");
    }
}

#[test]
fn a_full_disk_is_said_to_be_one() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_dieaware"))
        .args(["completions", "bash"])
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(
        stderr(&output),
        "dieaware: What is printed cannot be written: No space left on device (os error 28).\n"
    );
}

#[test]
fn who_cannot_be_told_changes_nothing() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("untold");
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    let (file, folder) = (dir.join("file"), dir.display().to_string());
    fs::write(&file, vec![0; 1 << 20]).unwrap();
    let file = file.display().to_string();
    let full = || Stdio::from(File::options().write(true).open("/dev/full").unwrap());
    let left = || Stdio::from(nix::unistd::pipe().unwrap().1);

    for (args, status) in [
        (["check", &file], 1),
        (["probe", &file], 2),
        (["frag", "/none"], 3),
        // Some of what is said comes before the end.
        (["frag", "/proc/self/fdinfo"], 0),
        (["defrag", &folder], 0),
        (["defrag", "/dev/null"], 3),
    ] {
        for stderr in [full(), left()] {
            let output = Command::new(env!("CARGO_BIN_EXE_dieaware"))
                .args(args)
                .stderr(stderr)
                .output()
                .unwrap();
            assert_eq!(output.status.code(), Some(status), "{args:?}");
        }
    }
}

#[test]
fn help_shows_an_example() {
    let fixture = Fixture::new("help", "", "");
    for verb in [
        &["status", "--help"][..],
        &["attach", "--help"],
        &["check", "--help"],
        &["detach", "--help"],
        &["wait", "--help"],
        &["dump", "--help"],
        &["format", "--help"],
        &["pack", "--help"],
        &["grow", "--help"],
        &["defrag", "--help"],
        &["defragd", "--help"],
        &["pick", "analyze", "--help"],
        &["pick", "migrate", "--help"],
        &["pick", "watch", "--help"],
        &["probe", "--help"],
        &["create", "--help"],
        &["frag", "--help"],
        &["list", "--help"],
        &["stat", "--help"],
        &["export", "--help"],
        &["top", "--help"],
        &["remove", "--help"],
        &["repair", "--help"],
        &["restore", "--help"],
        &["unpack", "--help"],
        &["runs", "load", "--help"],
        &["runs", "save", "--help"],
        &["runs", "extents", "--help"],
        &["sim", "--help"],
    ] {
        let output = fixture.run(verb);
        assert_eq!(output.status.code(), Some(0), "{verb:?}");
        assert!(
            stdout(&output).contains("Example:\n  dieaware "),
            "{verb:?}"
        );
    }
}

#[test]
fn status_is_a_table_for_people() {
    let fixture = Fixture::new("table", "", &format!("0 8192 dieaware {STATUS}\n"));
    let output = fixture.run(&["status", "demo"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let table = stdout(&output);
    let keys: Vec<&str> = table
        .lines()
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    assert_eq!(keys, ["mode", "transport", "hints", "writes", "append"]);
}

#[test]
fn every_field_of_log_mode_has_a_meaning() {
    let path = format!("{}/../dm-dieaware/log/status.c", env!("CARGO_MANIFEST_DIR"));
    let source = fs::read_to_string(path).unwrap();
    let formats = source
        .lines()
        .filter_map(|line| line.trim().strip_prefix("DMEMIT(\""));
    let line: String = formats
        .flat_map(|format| format.split('"').next().unwrap().split_whitespace())
        .map(|word| format!("{}=1 ", word.split('=').next().unwrap()))
        .collect();
    let fixture = Fixture::new("log", "", &format!("0 8192 dieaware {line}\n"));
    let output = fixture.run(&["status", "demo"]);
    let table = stdout(&output);
    assert!(table.lines().count() > 15, "{line}");
    for row in table.lines() {
        assert!(row.split_whitespace().count() > 2, "{row}");
    }
}

#[test]
fn status_is_json_for_programs() {
    let two = format!("0 8192 dieaware {STATUS}\n8192 16 dieaware {STATUS}\n");
    let fixture = Fixture::new("json", "", &two);
    let output = fixture.run(&["status", "--json", "demo"]);
    let targets: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(targets.as_array().unwrap().len(), 2);
    assert_eq!(targets[1]["start_sectors"], 8192);
    assert_eq!(targets[1]["append"], 7);
    assert_eq!(targets[0]["transport"], "tracepoint");
}

#[test]
fn a_device_without_our_target_is_wrong_usage() {
    let fixture = Fixture::new("other", "254:0\n", "");
    for args in [
        &["status", "demo"][..],
        &["runs", "load", "demo", "/dev/null"],
    ] {
        let output = fixture.run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert_eq!(
            stderr(&output),
            "dieaware: demo has no dieaware target.\n",
            "{args:?}"
        );
    }
}

#[test]
fn a_missing_device_is_an_io_error() {
    let fixture = Fixture::new("absent", "", "");
    fs::write(
        fixture.dir.join("dmsetup"),
        "#!/bin/sh\necho gone >&2\nexit 1\n",
    )
    .unwrap();
    let output = fixture.run(&["status", "demo"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("gone"), "{}", stderr(&output));
}

#[test]
fn a_damaged_status_is_an_io_error() {
    for (name, status) in [
        ("damaged1", "0 8192 dieaware writes\n"),
        ("damaged2", "nonsense\n"),
    ] {
        let fixture = Fixture::new(name, "", status);
        let output = fixture.run(&["status", "demo"]);
        assert_eq!(output.status.code(), Some(3), "{status}");
    }
}

#[test]
fn extents_leave_holes_out() {
    let fixture = Fixture::new("extents", "", "");
    let Some((path, file)) = file_with_runs(&fixture) else {
        return;
    };
    assert_eq!(pages_of(&file), [0, 1, 2, 8, 9]);
    let output = fixture.run(&["runs", "extents", &path]);
    let text = stdout(&output);
    assert!(text.starts_with(&format!("{path}: device ")), "{text}");
    let nr_runs = file["runs"].as_array().unwrap().len();
    assert_eq!(text.lines().count(), 2 + nr_runs);
}

#[test]
fn what_cannot_be_read_is_an_io_error() {
    let fixture = Fixture::new("unreadable", "", "");
    for path in [
        "/nonexistent/file",
        "/dev",
        "/dev/null",
        "/proc/self/status",
    ] {
        let output = fixture.run(&["runs", "extents", path]);
        assert_eq!(output.status.code(), Some(3), "{path}");
        assert!(
            stderr(&output).starts_with(&format!("dieaware: {path}: ")),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn load_sends_every_run_relative_to_the_target() {
    let fixture = Fixture::new("load", "", "");
    let Some((path, file)) = file_with_runs(&fixture) else {
        return;
    };
    let device = file["device"].as_str().unwrap();
    fs::write(fixture.dir.join("info"), format!("{device}\n")).unwrap();
    // The target begins at the first page of the file
    let runs = file["runs"].as_array().unwrap();
    let first = runs
        .iter()
        .map(|run| run["device_page"].as_u64().unwrap())
        .min();
    let first = first.unwrap();
    let status = format!("{} 99999999999 dieaware {STATUS}\n", first * 8);
    fs::write(fixture.dir.join("status"), status).unwrap();

    let output = fixture.run(&["runs", "load", "demo", &path]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(
        stdout(&output),
        format!("{path}: {} runs, 5 pages\n", runs.len())
    );
    let mut wanted = format!(
        "message demo {} runs add {device} {} {}",
        first * 8,
        file["inode"],
        file["generation"]
    );
    for run in runs {
        let device_page = run["device_page"].as_u64().unwrap() - first;
        wanted += &format!(" {} {device_page} {}", run["file_page"], run["pages"]);
    }
    assert_eq!(fixture.messages(), [wanted]);
}

#[test]
fn load_sends_nothing_when_a_file_lies_elsewhere() {
    let fixture = Fixture::new("elsewhere", "4095:7\n", "0 8192 dieaware mode=hint\n");
    let Some((path, file)) = file_with_runs(&fixture) else {
        return;
    };
    let output = fixture.run(&["runs", "load", "demo", &path]);
    assert_eq!(output.status.code(), Some(2));
    let device = file["device"].as_str().unwrap();
    assert_eq!(
        stderr(&output),
        format!(
            "dieaware: {path}: its filesystem lies on the device {device}, but demo is 4095:7.\n"
        )
    );
    assert_eq!(fixture.messages(), Vec::<String>::new());
}

#[test]
fn a_refused_message_is_an_io_error() {
    let fixture = Fixture::new("refused", "", "0 99999999999 dieaware mode=hint\n");
    let Some((path, file)) = file_with_runs(&fixture) else {
        return;
    };
    let info = format!("{}\n", file["device"].as_str().unwrap());
    fs::write(fixture.dir.join("info"), info).unwrap();
    let output = fixture.run(&["runs", "load", "broken", &path]);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        stderr(&output).contains("Invalid argument"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn nobody_minds_a_reader_who_leaves() {
    let fixture = Fixture::new("pipe", "", &format!("0 8192 dieaware {STATUS}\n"));
    let output = Command::new("/bin/bash")
        .args(["-c", "set -o pipefail; \"$0\" status demo | true"])
        .arg(env!("CARGO_BIN_EXE_dieaware"))
        .env("PATH", format!("{}:/usr/bin:/bin", fixture.dir.display()))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
}

#[test]
fn what_create_cannot_use_is_refused_before_anything_is_done() {
    let fixture = Fixture::new("create", "other|254:0|0|\n", "");
    let file = fixture.dir.join("file");
    fs::write(&file, [0; 4096]).unwrap();
    let file = file.to_str().unwrap();
    for (args, status, words) in [
        (&["", file, "--mode", "hint"][..], 2, "cannot be the name"),
        (&["a/b", file, "--mode", "hint"], 2, "cannot be the name"),
        (&["a b", file, "--mode", "hint"], 2, "cannot be the name"),
        (
            &["--mode", "hint", "--", "-a", file],
            2,
            "cannot be the name",
        ),
        (&["demo", file, "--mode", "hint"], 2, "is a file"),
        (&["demo", file], 2, "--mode"),
        (&["demo", file, "--mode", "fast"], 2, "--mode"),
        (
            &["demo", file, "--mode", "hint", "--format"],
            2,
            "is about log mode",
        ),
        (&["demo", file, "--mode", "log", "--force"], 2, "--format"),
        (
            &["demo", file, "--mode", "log", "--checksums"],
            2,
            "--format",
        ),
        (
            &["demo", file, "--mode", "log", "--no-drafts"],
            2,
            "--format",
        ),
        (
            &["demo", file, "--mode", "hint", "--option", "a b=c"],
            2,
            "KEY=VALUE",
        ),
        (
            &["demo", "/no/device", "--mode", "hint"],
            3,
            "cannot be opened",
        ),
        (
            &["demo", file, "--mode", "hint", "--start", "3"],
            2,
            "multiple of 8",
        ),
    ] {
        let mut all = vec!["create"];
        all.extend(args);
        let output = fixture.run(&all);
        assert_eq!(output.status.code(), Some(status), "{args:?}");
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    assert!(!fixture.dir.join("calls").exists());
}

#[test]
fn remove_takes_nothing_away_that_is_not_ours() {
    let devices = "demo|254:0|0|\nbusy|254:1|2|DIEAWARE-HINT-busy\nvg-data|254:2|0|LVM-x\n";
    let fixture = Fixture::new("remove", devices, "");
    let output = fixture.run(&["remove", "nobody"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("there is no device nobody"));
    let output = fixture.run(&["remove", "demo"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("demo has no dieaware target"));
    let target = format!("0 8192 dieaware {STATUS}\n");
    fs::write(fixture.dir.join("status"), target).unwrap();
    let output = fixture.run(&["remove", "busy"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("busy is in use"));
    let output = fixture.run(&["remove", "vg-data"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("\"dieaware detach vg-data\" takes hint mode away"));
    let output = fixture.run(&["remove", "--quiet", "nobody"]);
    assert_eq!(stdout(&output) + &stderr(&output), "");
    // Nor does --dry-run, which refuses the same.
    let refused = |name| fixture.run(&["remove", "--dry-run", name]).status.code() == Some(2);
    assert!(refused("busy") && refused("vg-data"));
    let table = "0 8192 dieaware 8:0 0 hint";
    fs::write(fixture.dir.join("table"), format!("{table}\n")).unwrap();
    let said = stdout(&fixture.run(&["remove", "--dry-run", "demo"]));
    assert_eq!(said, format!("would remove demo: {table}\n"));
    let said = stdout(&fixture.run(&["remove", "--dry-run", "--json", "demo"]));
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["version"], 1);
    assert_eq!(said["tables"][0], table);
    let calls = fs::read_to_string(fixture.dir.join("calls")).unwrap();
    assert!(!calls.contains("remove"), "{calls}");
}

/// A name may be given as the path that other programs want; a path of something else is no name, and
/// "there is no such device" would be a comfort for nothing.
#[test]
fn a_name_may_be_a_path() {
    let fixture = Fixture::new(
        "names",
        "demo|254:0|0|DIEAWARE-HINT-demo\n",
        &format!("0 8192 dieaware {STATUS}\n"),
    );
    fs::write(fixture.dir.join("table"), "0 8192 dieaware 8:0 0 hint\n").unwrap();
    let ends = |args: &[&str], status, words: &str| {
        let output = fixture.run(args);
        let said = stdout(&output) + &stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{args:?}: {said}");
        assert!(said.contains(words), "{args:?}: {said}");
    };
    let would = ["remove", "--dry-run", "/dev/mapper/demo"];
    ends(&would, 0, "would remove demo: 0 8192");
    let gone = ["remove", "/dev/mapper/nobody"];
    ends(&gone, 0, "there is no device nobody");
    ends(&["grow", "/dev/mapper/nobody"], 2, "no device nobody");
    ends(&["wait", "/dev/mapper/nobody"], 4, "no device nobody");
    ends(&["status", "/dev/mapper/demo"], 0, "writes");
    ends(
        &["top", "--count", "1", "/dev/mapper/demo"],
        0,
        "demo: hint",
    );
    for verb in ["remove", "grow", "wait", "status", "top"] {
        for path in ["/dev/null", "/dev/mapper/", "/no/such/device", "./demo"] {
            ends(&[verb, path], 2, "no device of device-mapper");
        }
    }
}

#[test]
fn units_are_made_for_lines_beside_one_that_is_no_utf8() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("generator");
    let dietab = dir.join("dietab");
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    fs::write(&dietab, b"# f\xfcr die Datenbank\ndb UUID=1-2 log\n").unwrap();

    let output = Command::new(env!("CARGO_BIN_EXE_dieaware-generator"))
        .arg(&dir)
        .env("DIEAWARE_DIETAB", &dietab)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(dir.join("dieaware@db.service").exists());
}

#[test]
fn shells_complete_every_verb() {
    let fixture = Fixture::new("completions", "", "");
    let help = stdout(&fixture.run(&["--help"]));
    let commands = help.split("Commands:\n").nth(1).unwrap();
    let verbs = commands.lines().take_while(|line| !line.is_empty());
    let verbs: Vec<_> = verbs
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    assert!(verbs.contains(&"repair") && verbs.len() > 15);
    for shell in ["bash", "zsh", "fish"] {
        let output = fixture.run(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0));
        let script = stdout(&output);
        for verb in &verbs {
            assert!(script.contains(verb), "{shell} {verb}");
        }
    }
    let path = fixture.dir.join("bash");
    fs::write(&path, stdout(&fixture.run(&["completions", "bash"]))).unwrap();
    let complete = "source $0; COMP_WORDS=(dieaware rep); COMP_CWORD=1; _dieaware dieaware rep \
                    dieaware; echo ${COMPREPLY[*]}";
    let output = Command::new("bash")
        .args(["-c", complete])
        .arg(&path)
        .output()
        .unwrap();
    assert_eq!(stdout(&output), "repair\n", "{}", stderr(&output));
    assert_eq!(fixture.run(&["completions", "tcsh"]).status.code(), Some(2));
}

#[test]
fn what_is_no_analysis_is_said_to_be_none() {
    let fixture = Fixture::new("pick", "", "");
    let path = fixture.dir.join("hot");
    for (text, words) in [
        ("", "no analysis"),
        ("{\"kind\": \"x\", \"version\": 1}", "but \"x\""),
        ("{\"kind\": \"dieaware-pick\", \"version\": 2}", "version 2"),
        (
            "{\"kind\": \"dieaware-pick\", \"version\": 1, \"files\": [{\"path\": \"a\", \"inode\": 1, \"ranges\": []}]}",
            "slash",
        ),
    ] {
        fs::write(&path, text).unwrap();
        let output = fixture.run(&["pick", "migrate", path.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(3), "{text}");
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    // Nothing to do is fine; a file that has gone is not.
    let list = "{\"kind\": \"dieaware-pick\", \"version\": 1, \"files\": []}";
    fs::write(&path, list).unwrap();
    let output = fixture.run(&["pick", "migrate", "--json", path.to_str().unwrap()]);
    assert_eq!(
        (output.status.code(), stdout(&output).trim()),
        (Some(0), "[]")
    );
    let gone = "[{\"path\": \"/none\", \"inode\": 1, \"ranges\": []}]";
    fs::write(&path, list.replace("[]", gone)).unwrap();
    let output = fixture.run(&["pick", "migrate", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("/none: "), "{}", stderr(&output));
}

#[test]
fn counts_that_cannot_be_used_are_left_as_they_are() {
    let fixture = Fixture::new("counts", "", "");
    let folder = fs::canonicalize(&fixture.dir).unwrap();
    let path = fixture.dir.join("counts");
    let pass = || {
        let state = path.to_str().unwrap();
        fixture.run(&[
            "defragd",
            "--once",
            "--state",
            state,
            folder.to_str().unwrap(),
        ])
    };
    let output = pass();
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("nobody has counted what is read"));
    let good = format!(
        "{{\"kind\":\"dieaware-defragd\",\"version\":1,\"folder\":\"{}\",\"seconds\":1,\"reads\":[[1,1]]}}",
        folder.display()
    );
    for (text, words) in [
        (String::new(), "it is damaged: nothing is in it"),
        (good.replace(",1]]}", ""), "it is damaged: EOF"),
        (
            good.replace(":1,\"folder", ":2,\"folder"),
            "it has version 2",
        ),
        (
            good.replace("\",\"seconds", "x\",\"seconds"),
            "it is of the folder",
        ),
        ("{}".to_owned(), "it is no file of \"dieaware defragd\""),
    ] {
        fs::write(&path, &text).unwrap();
        let output = pass();
        assert_eq!(output.status.code(), Some(3), "{text}");
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    // None of its files is there: there is nothing to do.
    fs::write(&path, good).unwrap();
    let output = pass();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("method ") && stdout(&output).lines().count() == 1);
}

#[test]
fn one_daemon_counts_in_a_file() {
    let fixture = Fixture::new("counting", "", "");
    let folder = fs::canonicalize(&fixture.dir).unwrap();
    let state = fixture.dir.join("counts");
    let lock = WriteLock::take(&state).unwrap().unwrap();
    let args = [
        "defragd",
        "--state",
        state.to_str().unwrap(),
        folder.to_str().unwrap(),
    ];
    let output = fixture.run(&args);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(
        stderr(&output),
        format!(
            "dieaware: {} cannot be used: another process counts in it.\n",
            state.display()
        )
    );
    assert!(!state.exists());
    // Who mends does not mind.
    let output = fixture.run(&[&args[..], &["--once"]].concat());
    assert!(stderr(&output).contains("nobody has counted what is read"));
    drop(lock);
}

#[test]
fn one_pass_mends_below_a_folder() {
    let fixture = Fixture::new("mending", "", "");
    let folder = fs::canonicalize(&fixture.dir).unwrap();
    let args = ["defragd", "--once", folder.to_str().unwrap()];
    let there = fs::metadata(&folder).unwrap();
    let path = format!("/run/dieaware-defragd-{}-{}", there.dev(), there.ino());
    // Only root has a lock there; who has none locks the folder.
    let lock = LockFile::take(Path::new(&path)).map(Option::unwrap);
    let opened = File::open(&folder).unwrap();
    let of_folder = lock
        .is_err()
        .then(|| Flock::lock(opened, FlockArg::LockExclusiveNonblock).unwrap());
    let output = fixture.run(&args);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(
        stderr(&output),
        format!(
            "dieaware: another pass mends files below {}.\n",
            folder.display()
        )
    );
    drop((lock, of_folder));
    let output = fixture.run(&args);
    assert!(stderr(&output).contains("nobody has counted what is read"));
}

#[test]
fn the_doctor_looks_at_folders_of_mounted_filesystems_only() {
    let fixture = Fixture::new("doctor-refuses", "", "");
    let file = fixture.dir.join("info");
    let file = file.to_str().unwrap();
    for (args, status, words) in [
        (&["/nonexistent"][..], 3, "cannot be opened"),
        (&["/dev/null"], 2, "neither a folder nor a block device"),
        (&[file], 2, "neither a folder nor a block device"),
        (&["--time", "0", "/"], 2, "--time"),
        (&["--write", "7", "/"], 2, "--write"),
        (&["--write", "x", "/"], 2, "--write"),
        (&["/", "/"], 2, "unexpected argument"),
    ] {
        let mut all = vec!["doctor"];
        all.extend(args);
        let output = fixture.run(&all);
        assert_eq!(output.status.code(), Some(status), "{args:?}");
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
}

/// What the doctor says of a folder; `None` where the kernel or the filesystem of the tests does not let
/// it look.
fn doctor(fixture: &Fixture, folder: &Path, args: &[&str]) -> Option<Value> {
    let mut all: Vec<&OsStr> = vec!["doctor".as_ref(), "--json".as_ref(), folder.as_os_str()];
    all.extend(args.iter().map(OsStr::new));
    let output = fixture.run(&all);
    let said = stderr(&output);
    let is_barred = ["io_uring", "addresses of its own", "does not report"];
    if output.status.code() == Some(3) && is_barred.iter().any(|words| said.contains(words)) {
        return None;
    }
    assert_eq!(output.status.code(), Some(0), "{said}");
    Some(serde_json::from_str(&stdout(&output)).unwrap())
}

#[test]
fn the_doctor_cannot_tell_where_there_is_nothing_to_read() {
    let fixture = Fixture::new("doctor-empty", "", "");
    let folder = fixture.dir.join("folder");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("small"), [1; 5000]).unwrap();
    let svg = fixture.dir.join("svg");
    let Some(report) = doctor(&fixture, &folder, &["--svg", svg.to_str().unwrap()]) else {
        return;
    };
    assert_eq!(report["version"], 1);
    assert_eq!(report["verdict"], "cannot-tell");
    assert_eq!(report["reason"], "too-little");
    assert_eq!(report["files"]["seen"], 0);
    assert_eq!(report["rounds"], 0);
    assert!(report["remedies"].as_array().unwrap().len() == 5);
    assert!(fs::read_to_string(svg).unwrap().contains("cannot tell"));
    // The same for people
    let output = fixture.run(&["doctor", folder.to_str().unwrap()]);
    let text = stdout(&output);
    assert!(
        text.contains("verdict   cannot tell: fewer than 8 parts"),
        "{text}"
    );
}

#[test]
fn the_doctor_looks_at_folders_of_any_name() {
    let fixture = Fixture::new("doctor-name", "", "");
    let folder = fixture.dir.join(OsStr::from_bytes(b"f\xfcr"));
    fs::create_dir(&folder).unwrap();
    let Some(report) = doctor(&fixture, &folder, &[]) else {
        return;
    };
    let path = report["path"].as_str().unwrap();
    assert!(path.ends_with("/f\u{fffd}r"), "{path}");
}

#[test]
fn the_doctor_changes_nothing_of_what_it_reads() {
    use std::os::unix::fs::MetadataExt;

    let fixture = Fixture::new("doctor-reads", "", "");
    let folder = fixture.dir.join("folder");
    fs::create_dir(&folder).unwrap();
    let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    for nr in 0..16u8 {
        let path = folder.join(nr.to_string());
        fs::write(&path, vec![nr; 1 << 20]).unwrap();
        let times = fs::FileTimes::new().set_accessed(old);
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_times(times)
            .unwrap();
    }
    let Some(report) = doctor(&fixture, &folder, &["--time", "20"]) else {
        return;
    };
    assert_eq!(report["files"]["seen"], 16);
    assert!(report["seconds"].as_u64().unwrap() < 40);
    for nr in 0..16u8 {
        let metadata = fs::metadata(folder.join(nr.to_string())).unwrap();
        assert_eq!(metadata.atime(), 1_000_000_000);
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 16);
    // With a file of its own nothing stays either.
    let Some(report) = doctor(&fixture, &folder, &["--time", "20", "--write", "16"]) else {
        return;
    };
    assert_ne!(report["verdict"], "");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 16);
}

/// A unit tells it from a mistake.
#[test]
fn waiting_for_a_device_that_is_not_there_has_a_status_of_its_own() {
    let fixture = Fixture::new("wait-none", "", "");
    let output = fixture.run(&["wait", "--follow", "nobody"]);
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert!(stderr(&output).contains("There is no device nobody"));
    let output = fixture.run(&["wait", "--folow", "nobody"]);
    assert_eq!(output.status.code(), Some(2));
    let unit = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../boot/dieaware-watch@.service"
    );
    assert!(fs::read_to_string(unit)
        .unwrap()
        .contains("\nSuccessExitStatus=130 4\n"));
}

/// What happens between two looks is not missed: the number of events is asked for before the status,
/// and the kernel is told to wait for more than that.
#[test]
fn waiting_begins_before_the_look() {
    let fixture = Fixture::new(
        "wait",
        "t0|253:7|0|DIEAWARE-LOG-t0\n253:7|5\n",
        "0 8 dieaware mode=log state=write space=ok\n",
    );
    let script = fixture.dir.join("dmsetup");
    let known = fs::read_to_string(&script).unwrap();
    let waits = "wait-*) echo '0 8 dieaware mode=log state=failed space=out' >\"${0%/*}/status\";;\n*) exit 1";
    fs::write(&script, known.replace("*) exit 1", waits)).unwrap();

    let output = fixture.run(&["wait", "--json", "--for", "failed", "t0"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let told: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(told.as_array().unwrap().len(), 1);
    assert_eq!(told[0]["event"], "failed");
    let calls = fs::read_to_string(fixture.dir.join("calls")).unwrap();
    let calls: Vec<_> = calls.lines().collect();
    let wait = calls
        .iter()
        .position(|call| call.starts_with("wait "))
        .unwrap();
    assert!(calls[wait].ends_with(" 5"), "{calls:?}");
    let before = &calls[..wait];
    let asked = before.iter().rposition(|call| call.ends_with("events"));
    let looked = before.iter().rposition(|call| call.starts_with("status "));
    assert!(asked.is_some() && asked < looked, "{calls:?}");
}
