// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware sim` as its users meet it, and the model at work: what the FAST'24 paper saw.

// A test that panics has failed, which is what it should do then.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const UNIT: u64 = 32768;
const STRIPE: u64 = 8 * UNIT;
const PIECES: u64 = 256;
const FILE: u64 = PIECES * UNIT;

fn file(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).unwrap();
    path
}

fn sim(args: &[&str], trace: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dieaware"))
        .arg("sim")
        .args(args)
        .arg(trace)
        .output()
        .unwrap()
}

fn json(args: &[&str], trace: &Path) -> Value {
    let output = sim(&[args, &["--json"]].concat(), trace);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A file of 256 appends, each followed by `between` bytes of another one, then read in
/// pieces of 1 MiB. The other one lies behind the file; hints name the file's last byte.
fn appends(between: u64, hinted: bool) -> String {
    let mut trace = "# dieaware trace 1\n".to_owned();
    let mut other = FILE;

    for piece in 0..PIECES {
        let at = piece * UNIT;
        write!(trace, "- write {at} {UNIT}").unwrap();
        if hinted && piece > 0 {
            write!(trace, " append={}", at - 1).unwrap();
        }
        trace.push('\n');
        if between > 0 {
            writeln!(trace, "- write {other} {between}").unwrap();
            other += between;
        }
    }
    trace += "- idle 1000000000\n";
    for read in 0..8 {
        writeln!(trace, "- read {} 1048576", read << 20).unwrap();
    }
    trace
}

fn read_speed(name: &str, between: u64, hinted: bool) -> f64 {
    let trace = file(name, &appends(between, hinted));
    json(&["--check"], &trace)["ops"]["read"]["mb_per_s"]
        .as_f64()
        .unwrap()
}

#[test]
fn hints_keep_a_fragmented_file_as_fast_as_a_contiguous_one() {
    let contiguous = read_speed("contiguous", 0, false);
    let plain = read_speed("plain", STRIPE - UNIT, false);
    let hinted = read_speed("hinted", STRIPE - UNIT, true);
    assert!((2000.0..3200.0).contains(&contiguous), "{contiguous}");
    assert!(plain < 0.2 * contiguous, "{plain} of {contiguous}");
    assert!(hinted > 0.98 * contiguous, "{hinted} of {contiguous}");
}

/// Fig. 8 of the paper: 4 KiB reads whose beginnings are `interval` apart.
fn interval_speed(profile: &str, depth: &str, interval: u64) -> f64 {
    let mut trace = "# dieaware trace 1\n".to_owned();
    for at in (0..64 << 20).step_by(1 << 20) {
        writeln!(trace, "- write {at} 1048576").unwrap();
    }
    trace += "- flush\n- idle 1000000000\n";
    for at in (0..64 << 20)
        .step_by(usize::try_from(interval).unwrap())
        .take(4096)
    {
        writeln!(trace, "- read {at} 4096").unwrap();
    }
    let trace = file(&format!("interval-{profile}-{interval}"), &trace);
    let args = ["--profile", profile, "--queue-depth", depth];
    json(&args, &trace)["ops"]["read"]["mb_per_s"]
        .as_f64()
        .unwrap()
}

#[test]
fn sata_drives_slow_down_where_the_paper_saw_it() {
    // SATA-A: 400 MB/s, first drop at 8 KiB, 62 MB/s at the stripe of 32 KiB.
    let full = interval_speed("sata-a", "32", 4096);
    assert!((380.0..410.0).contains(&full), "{full}");
    assert!(interval_speed("sata-a", "32", 8192) < 0.75 * full);
    let worst = interval_speed("sata-a", "32", 32768);
    assert!((60.0..64.0).contains(&worst), "{worst}");
    // SATA-B: 400 MB/s, first drop at 32 KiB, 82 MB/s at the stripe of 256 KiB.
    let full = interval_speed("sata-b", "32", 4096);
    assert!((380.0..410.0).contains(&full), "{full}");
    let worst = interval_speed("sata-b", "32", 262_144);
    assert!((79.0..85.0).contains(&worst), "{worst}");
}

#[test]
fn the_same_trace_gives_the_same_answer() {
    let trace = file("same", &appends(4096, true));
    let first = sim(&["--json"], &trace);
    assert_eq!(first.stdout, sim(&["--json"], &trace).stdout);
    assert!(first.status.success());
}

#[test]
fn parameters_and_profile_change_the_drive() {
    let trace = file("parameters", &appends(0, false));
    let report = json(&["--profile", "qlc", "--set", "capacity_mib=2048"], &trace);
    assert_eq!(report["profile"], "qlc");
    assert_eq!(report["capacity_bytes"], 2_u64 << 30);
    assert_eq!(report["parameters"]["read_ns"], 110_000);
    assert_eq!(report["dies"].as_array().unwrap().len(), 32);
    let slow = json(&["--set", "time_scale=10"], &trace);
    let usual = json(&[], &trace);
    let speed = |report: &Value| report["ops"]["read"]["mb_per_s"].as_f64().unwrap();
    let ratio = speed(&usual) / speed(&slow);
    assert!((9.9..10.1).contains(&ratio), "{ratio}");
}

/// A drive that soon has to collect.
const SMALL: [&str; 5] = [
    "--set",
    "capacity_mib=128",
    "--set",
    "units_per_eblk=16",
    "--check",
];

#[test]
fn overwriting_a_full_drive_shows_in_the_waf() {
    let mut trace = "# dieaware trace 1\n".to_owned();
    let mut state = 1_u64;
    for at in (0..128 << 20).step_by(1 << 20) {
        writeln!(trace, "- write {at} 1048576").unwrap();
    }
    for _ in 0..60_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        writeln!(trace, "- write {} 4096", (state >> 33) % 32768 * 4096).unwrap();
    }
    let trace = file("full", &trace);
    let report = json(&SMALL, &trace);
    let waf = report["waf"].as_f64().unwrap();
    assert!((1.2..10.0).contains(&waf), "{waf}");
    assert!(report["counters"]["gc_runs"].as_u64().unwrap() > 0);
    let moved: u64 = report["dies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|die| die["pages_gc"].as_u64().unwrap())
        .sum();
    assert!(moved > 0);
}

/// Commands that fill half of a small drive and overwrite 1.5 times as many pages, as docs/nvmevirt-backend.md
/// says that preconditioning does.
fn used_by_commands(seed: u64) -> String {
    const PAGES: u64 = 16384;
    let mut trace = "# dieaware trace 1\n".to_owned();
    let mut state = seed;

    for at in (0..PAGES * 4096).step_by(1 << 20) {
        writeln!(trace, "- write {at} 1048576").unwrap();
    }
    for _ in 0..PAGES * 3 / 2 {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = state;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^= number >> 31;
        writeln!(
            trace,
            "- write {} 4096",
            (((number >> 32) * PAGES) >> 32) * 4096
        )
        .unwrap();
    }
    trace + "- flush\n- idle 1000000000\n"
}

#[test]
fn a_used_drive_is_what_the_same_commands_leave() {
    let asked = ["--fill", "50", "--random", "1.5x", "--seed"];
    let rest = file("rest", "# dieaware trace 1\n- idle 1000000000\n");
    let used = |seed: &str| json(&[&SMALL[..], &asked, &[seed]].concat(), &rest);
    let written = json(&SMALL, &file("written", &used_by_commands(7)));

    assert!(written["counters"]["gc_runs"].as_u64().unwrap() > 0);
    assert_eq!(used("7")["counters"], written["counters"]);
    assert_eq!(used("7")["dies"], written["dies"]);
    assert_eq!(used("7")["waf"], written["waf"]);
    assert_ne!(used("8")["counters"], written["counters"]);
}

/// A name for a file that is not there yet.
fn unused(name: &str) -> (PathBuf, String) {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_file(&path);
    let text = path.display().to_string();
    (path, text)
}

const VOLATILE: [&str; 11] = [
    "--profile",
    "tlc",
    "--set",
    "capacity_mib=256",
    "--set",
    "units_per_eblk=16",
    "--set",
    "wbuf_kib=8192",
    "--set",
    "run_units=8",
    "--check",
];

#[test]
fn experiments_begin_from_the_same_drive() {
    let job = file("job", &appends(4096, true));

    for (kind, drive) in [("protected", &SMALL[..]), ("volatile", &VOLATILE[..])] {
        let (aged_path, aged) = unused(&format!("{kind}.state"));
        let (again_path, again) = unused(&format!("{kind}.again"));
        let made = Command::new(env!("CARGO_BIN_EXE_dieaware"))
            .arg("sim")
            .args(drive)
            .args(["--fill", "60", "--random", "1x", "--save", &aged])
            .output()
            .unwrap();
        assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
        let loaded = [drive, &["--load", &aged]].concat();
        json(
            &[&loaded[..], &["--save", &again]].concat(),
            &file("none", "# dieaware trace 1\n"),
        );
        assert_eq!(
            fs::read(&aged_path).unwrap(),
            fs::read(&again_path).unwrap()
        );

        let mut ends = Vec::new();
        for time in 0..2 {
            let (path, after) = unused(&format!("{kind}.{time}"));
            let report = json(&[&loaded[..], &["--save", &after]].concat(), &job);
            ends.push((report, fs::read(path).unwrap()));
        }
        assert!(ends[0] == ends[1]);
        assert!(ends[0].1 != fs::read(&aged_path).unwrap());
        // What --fill makes in the same place is the same drive.
        let filled = ["--fill", "60", "--random", "1x"];
        if kind == "protected" {
            assert_eq!(
                json(&[drive, &filled].concat(), &job)["ops"],
                ends[0].0["ops"]
            );
        }
    }
}

#[test]
fn other_state_files_are_refused() {
    let none = file("nothing", "# dieaware trace 1\n");
    let (path, good) = unused("good.state");
    json(
        &[&SMALL[..], &["--fill", "10", "--save", &good]].concat(),
        &none,
    );
    let bytes = fs::read(&path).unwrap();
    let load = |bytes: &[u8], options: &[&str], status: i32, words: &str| {
        let (path, name) = unused("other.state");
        fs::write(path, bytes).unwrap();
        let output = sim(&[options, &["--load", &name]].concat(), &none);
        assert_eq!(output.status.code(), Some(status), "{}", stderr(&output));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    };
    let change = |at: usize| {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        changed
    };

    load(&bytes, &SMALL, 0, "");
    // Without a trace, for --check is one of these options.
    let examined = Command::new(env!("CARGO_BIN_EXE_dieaware"))
        .arg("sim")
        .args(SMALL)
        .args(["--load", &good])
        .output()
        .unwrap();
    assert_eq!(examined.status.code(), Some(0), "{}", stderr(&examined));
    load(
        &bytes,
        &["--set", "capacity_mib=1024"],
        2,
        "other properties (capacity_mib)",
    );
    load(
        &bytes,
        &[&SMALL[..], &["--set", "hold_ns=1000"]].concat(),
        2,
        "other properties (hold_ns)",
    );
    load(&change(0), &SMALL, 2, "not a state file");
    load(&change(8), &SMALL, 2, "of a version");
    load(&change(77), &SMALL, 2, "damaged");
    load(&change(bytes.len() - 1), &SMALL, 2, "damaged");
    load(&[], &SMALL, 2, "too short");
    load(&bytes[..bytes.len() - 4096], &SMALL, 2, "too short");
    let (_, missing) = unused("missing.state");
    let output = sim(&["--load", &missing], &none);
    assert_eq!(output.status.code(), Some(3));
    // What is there is not written over, and what is not whole does not stay.
    let output = sim(&[&SMALL[..], &["--save", &good]].concat(), &none);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(fs::read(&path).unwrap(), bytes);
    let output = sim(&["--load", &good, "--fill", "10"], &none);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn units_that_stripes_send_elsewhere_are_explained() {
    let trace = "# dieaware trace 1
- write 1048576 32768 begin
- write 0 32768
- write 32768 32768
";
    let trace = file("explained-stripes", trace);
    let words = |lead: &str| {
        let set = ["--set", lead, "--explain", "3-4"];
        let output = sim(&set, &trace);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let moved =
        "die 0 is as far ahead as it may be: rule 7, a unit goes to the slowest one -> unit ";
    assert!(words("stripe_lead=1").contains(moved));
    assert!(words("stripe_lead=1").contains(" of 8 pages leaves it for die 1\n"));
    assert!(!words("stripe_lead=2").contains("rule 7"));
}

const EXPLAINED: &str = "# dieaware trace 1
- write 0 16384
- write 0 4096
- write 1048576 65536 begin
- write 1114112 16384 append=1114111
- read 0 4096
- idle 1000000000
- write 1048576 8192 overwrite
";

#[test]
fn the_map_is_explained_where_it_is_not_all_in_memory() {
    // Map pages for 4 MiB each, of which 256 have room
    let mut text = String::from("# dieaware trace 1\n");
    for nr in 0..400u64 {
        text += &format!("- write {} 65536\n", nr << 22);
    }
    // What is programmed yet comes before.
    text += "- idle 1000000000\n- read 4194304 4096\n- read 0 4096\n- read 0 4096\n";
    let trace = file("explained-map", &text);
    let set = ["--set", "capacity_mib=2048", "--set", "map_cache_mib=1"];
    let words = |line: &str| {
        let output = sim(&[&["--explain", line][..], &set].concat(), &trace);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let first = words("404");
    assert!(
        first.contains(
            "  only writes are placed\n  map: 0 looks at pages in memory, 1 that had one sensed"
        ),
        "{first}"
    );
    let second = words("405");
    assert!(
        second.contains("\n  map: 1 looks at pages in memory, 0 that had one sensed\n"),
        "{second}"
    );
    let report = json(&[&["--explain", "all"][..], &set].concat(), &trace);
    let sum = |key: &str| {
        let commands = report["explained"].as_array().unwrap();
        let of = commands.iter().map(|one| one["map"][key].as_u64().unwrap());
        of.sum::<u64>()
    };
    // Each command is told its own. What the drive did while it was idle is nobody's.
    for (key, counter) in [
        ("hits", "map_hits"),
        ("misses", "map_misses"),
        ("programs", "map_programs"),
        ("pages_programmed", "map_pages_programmed"),
    ] {
        let all = report["counters"][counter].as_u64().unwrap();
        assert!(
            0 < sum(key) && sum(key) <= all,
            "{key}: {} of {all}",
            sum(key)
        );
    }
    // Where all of it fits there is nothing to say.
    let output = sim(&["--explain", "404"], &file("explained-no-map", &text));
    assert!(!String::from_utf8(output.stdout).unwrap().contains("map:"));
}

#[test]
fn decisions_are_explained_in_words() {
    let trace = file("explained", EXPLAINED);
    // Full units stay in the write buffer for a while.
    let set = ["--set", "run_units=1", "--set", "hold_ns=5000000"];
    let words = |lines: &str| {
        let output = sim(&[&["--explain", lines][..], &set].concat(), &trace);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        text.split("drive  ").next().unwrap().to_owned()
    };
    let says = |lines: &str, expected: &str| {
        assert!(words(lines).contains(expected), "{}", words(lines));
    };

    says("2", "lpn 0-3: no hint: rule 2, a plain unit is opened on the die whose turn it is -> die 0, unit ");
    says("3", "lpn 0: no hint; was on die 0, in open unit ");
    says(
        "3",
        ", 4 of 8 slots: rule 1, it is replaced in its slot -> die 0, ",
    );
    says(
        "4",
        "lpn 256-263: begin: rule 3d, a file begins on the die after the last one's -> die 0, ",
    );
    says("4", "lpn 264-271: begin, behind lpn 263 (die 0, in unit ");
    says("5", "lpn 272-275: append after lpn 271 (die 1, in unit ");
    says(
        "5",
        ": rule 3b, a run unit is opened on the die after its predecessor's -> die 2, ",
    );
    says("6", "only writes are placed");
    says("8", "lpn 256-257: overwrite; was on die 0, on NAND in unit 0: rule 4, a run unit is opened that replaces its unit, on the same die -> die 0, ");
    says(
        "8",
        "rule 6, the one not used for longest is put out -> its 4 pages leave unit ",
    );
    assert_eq!(words("2-5").matches("\nline ").count(), 3);
    assert_eq!(words("all").matches("line ").count(), 6);

    let report = json(&["--explain", "4-5"], &trace);
    assert_eq!(report["explained"][0]["line"], 4);
    let placement = &report["explained"][1]["placements"][0];
    assert_eq!(placement["rule"], "3b");
    assert_eq!(
        (&placement["lpn"], &placement["pred"]),
        (&272.into(), &271.into())
    );
    assert_eq!(placement["after"]["die"], 2);
    let plain = json(&[], &trace);
    assert!(plain.get("explained").is_none());
    assert_eq!(plain["counters"], report["counters"]);
    for (lines, status) in [("1", 2), ("9-12", 2), ("x", 2), ("0", 2)] {
        let output = sim(&["--explain", lines], &trace);
        assert_eq!(output.status.code(), Some(status), "{}", stderr(&output));
    }
}

/// The drive is at rest: a read of what is on NAND takes what it takes on a new drive, but for the windows
/// of a channel, which begin at other times.
#[test]
fn no_time_passes_for_a_used_drive() {
    let small = ["--set", "capacity_mib=128"];
    let new = file(
        "new",
        "# dieaware trace 1\n- write 0 1048576\n- idle 1000000000\n- read 0 262144\n",
    );
    let read = file("read", "# dieaware trace 1\n- read 0 262144\n");
    let used = json(
        &[&small[..], &["--fill", "90", "--random", "0x"]].concat(),
        &read,
    );
    let fresh = json(&small, &new);

    let took = |report: &Value| report["ops"]["read"]["latency_ns"]["max"].as_u64().unwrap();
    assert!(took(&used).abs_diff(took(&fresh)) < 10_000);
}

#[test]
fn the_log_is_a_trace_that_gives_the_same_times() {
    let trace = file("logged", &appends(4096, true));
    let log = trace.with_extension("log");
    let log_path = log.display().to_string();
    let first = json(&["--log", &log_path, "--queue-depth", "4"], &trace);
    let again = json(&["--open"], &log);
    assert_eq!(
        first["ops"]["write"]["mb_per_s"],
        again["ops"]["write"]["mb_per_s"]
    );
    assert_eq!(
        first["ops"]["read"]["latency_ns"],
        again["ops"]["read"]["latency_ns"]
    );
    assert_eq!(first["elapsed_ns"], again["elapsed_ns"]);
    assert!(fs::read_to_string(&log).unwrap().contains("# latency_ns="));
}

#[test]
fn text_for_people_has_a_line_for_each_die_unless_there_are_many() {
    let trace = file("people", &appends(0, false));
    let text = |args: &[&str]| {
        let output = sim(args, &trace);
        assert!(output.status.success(), "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let eight = text(&[]);
    for word in [
        "drive",
        "replay",
        "write",
        "read",
        "waf",
        "load skew",
        "gc_runs",
        "die",
        "7",
    ] {
        assert!(
            eight.lines().any(|line| line.starts_with(word)),
            "{word}: {eight}"
        );
    }
    let many = text(&["--profile", "large"]);
    assert!(many.lines().any(|line| line.starts_with("mean")), "{many}");
    assert!(many.lines().count() < 60);
}

#[test]
fn wrong_usage_is_told_and_has_status_2() {
    let good = file("good", "# dieaware trace 1\n- read 0 4096\n");
    let bad = file("bad", "# dieaware trace 1\n- read 0 4096\n- reed 0 4096\n");
    let far = file(
        "far",
        "# dieaware trace 1\n- read 0 4096\n0 trim 1125899906842624 4096\n",
    );
    let unknown = file("unknown", "what is this\n");
    let end = "the drive ends at 59999997952 bytes: enlarge it with --set capacity_mib=";
    for (args, trace, words) in [
        (&[][..], &bad, "bad:3: \"reed\" is no command"),
        (&[], &far, "far:3: "),
        (&[], &far, end),
        (&[], &unknown, "unknown:1: this is no trace"),
        (
            &["--profile", "none"],
            &good,
            "there is no profile \"none\"",
        ),
        (&["--set", "channels"], &good, "KEY=VALUE"),
        (&["--set", "channels=0"], &good, "The number of channels"),
        (
            &["--set", "colour=1"],
            &good,
            "there is no parameter \"colour\"",
        ),
        (&["--set", "queue_depth=0"], &good, "queue"),
        (&["--open"], &good, "not every command has a time"),
        (&["--batches"], &good, "not every command has a time"),
        (
            &["--open", "--queue-depth", "3"],
            &good,
            "cannot be used with",
        ),
        (&["--queue-depth", "0"], &good, "0"),
        (&["--fill", "0"], &good, "must be between 1 and 100 percent"),
        (
            &["--fill", "101"],
            &good,
            "must be between 1 and 100 percent",
        ),
        (
            &["--fill", "1", "--random", "101x"],
            &good,
            "overwritten 100 times at most",
        ),
        (&["--fill", "1", "--random", "2"], &good, "write 2x"),
        (&["--fill", "1", "--random", "1.x"], &good, "write 2x"),
        (&["--fill", "1", "--random", "1.125x"], &good, "write 2x"),
        (&["--seed", "1"], &good, "--fill"),
        (&["--format", "fio"], &good, "good:1: only I/O logs"),
    ] {
        let output = sim(args, trace);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(
            stderr(&output).contains(words),
            "{args:?}: {}",
            stderr(&output)
        );
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn files_that_cannot_be_used_are_io_errors() {
    let good = file("usable", "# dieaware trace 1\n- read 0 4096\n");
    let output = sim(&[], Path::new("/nonexistent"));
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("/nonexistent cannot be opened"));
    let output = sim(&["--log", "/nonexistent/log"], &good);
    assert_eq!(output.status.code(), Some(3));
    let output = sim(&["--log", "/dev/full"], &good);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("/dev/full cannot be written"));
}

/// The table in the documentation says what the profiles are.
#[test]
fn profiles_are_documented_as_they_are() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/nvmevirt-backend.md");
    let docs = fs::read_to_string(path).unwrap();
    let output = sim(&["--json"], Path::new("--profiles"));
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    let list = list.as_array().unwrap();
    assert!(list.len() >= 10);
    for profile in list {
        let value = |key: &str| profile["parameters"][key].as_u64().unwrap();
        let name = profile["profile"].as_str().unwrap();
        let dies = value("channels") * value("dies_per_channel");
        let gap_ns = value("cmd_gap_ns");
        let depth = value("queue_depth");
        let commands = match (gap_ns, depth) {
            (0, 1023) => "any".to_owned(),
            (0, _) => format!("any, {depth} at a time"),
            _ => format!("{}, {depth} at a time", 1_000_000_000 / gap_ns),
        };
        // Down to tenths where it is no whole number.
        let us = |ns: u64| match ns % 1000 {
            0 => (ns / 1000).to_string(),
            rest => format!("{}.{}", ns / 1000, rest / 100),
        };
        let buffer = match (value("in_place"), value("plp")) {
            (1, _) => "none".to_owned(),
            (_, 1) => format!("{} MiB, protected", value("wbuf_kib") / 1024),
            _ => format!("{} MiB, volatile", value("wbuf_kib") / 1024),
        };
        let row = format!(
            "| `{name}` | {} GB | {} KiB | {} KiB | {} x {} | {} us | {} us | {} ms | {} | {} | {commands} | {buffer} |",
            // Whole MiB stand for decimal gigabytes.
            ((value("capacity_mib") + 1) << 20) / 1_000_000_000,
            value("unit_kib"),
            dies * value("unit_kib"),
            value("channels"),
            value("dies_per_channel"),
            us(value("read_ns")),
            us(value("program_ns")),
            value("erase_ns") / 1_000_000,
            value("channel_mbps"),
            value("link_mbps"),
        );
        assert!(
            docs.contains(&row),
            "docs/nvmevirt-backend.md lacks the row\n{row}"
        );
    }
}

/// The first example of the documentation gives what it shows.
#[test]
fn the_example_of_the_documentation_runs() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/nvmevirt-backend.md");
    let docs = fs::read_to_string(path).unwrap();
    let command: Vec<&str> = docs
        .lines()
        .skip_while(|line| !line.starts_with("    $ printf '%s\\n' '# dieaware trace 1'"))
        .take_while(|line| *line != "    $ dieaware sim two.trace")
        .collect();
    let made = Command::new("sh")
        .args(["-c", command.join("\n").trim_start_matches("    $ ")])
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .status()
        .unwrap();
    assert!(made.success());
    let trace = Path::new(env!("CARGO_TARGET_TMPDIR")).join("two.trace");
    let output = sim(&[], &trace);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let shown: Vec<&str> = docs
        .lines()
        .skip_while(|line| *line != "    $ dieaware sim two.trace")
        .skip(1)
        .take_while(|line| *line != "    ...")
        .map(str::trim)
        .collect();
    let printed = String::from_utf8(output.stdout).unwrap();
    let printed: Vec<&str> = printed.lines().map(str::trim).take(shown.len()).collect();
    assert!(shown.len() > 4);
    assert_eq!(shown, printed);
}

/// What overwrites of single pages have spread over flash units comes together in idle time.
#[test]
fn an_idle_drive_mends() {
    let mut trace = "# dieaware trace 1\n".to_owned();
    let mut state = 1_u64;
    for at in (0..16 << 20).step_by(1 << 20) {
        writeln!(trace, "- write {at} 1048576").unwrap();
    }
    for _ in 0..20_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let at = (state >> 33) % 4096 * 4096;
        writeln!(trace, "- write {at} 4096 overwrite").unwrap();
    }
    let read = |idle_ns: u64, trace: &str| {
        let text = format!("{trace}- idle {idle_ns}\n- read 0 16777216\n");
        let trace = file(&format!("idle-{idle_ns}"), &text);
        let report = json(&["--set", "capacity_mib=64", "--check"], &trace);
        (
            report["counters"]["rows_mended"].as_u64().unwrap(),
            report["ops"]["read"]["mb_per_s"].as_f64().unwrap(),
        )
    };
    let (mended_at_once, speed_at_once) = read(60_000_000, &trace);
    let (mended, speed) = read(10_000_000_000, &trace);
    assert_eq!(mended_at_once, 0);
    assert!(mended > 100, "{mended}");
    assert!(speed > 1.5 * speed_at_once, "{speed} after {speed_at_once}");
}
