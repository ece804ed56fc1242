// SPDX-License-Identifier: GPL-2.0-only
//! The manual pages say what the tool has.

// A test that panics has failed, which is what it should do then.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::process::{Command, Output};

use serde_json::Value;

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dieaware"))
        .args(args)
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn man_pages_name_every_option_of_the_help() {
    let verbs: [(&str, &[&str]); 32] = [
        ("boot", &["boot", "--help"]),
        ("attach", &["attach", "--help"]),
        ("check", &["check", "--help"]),
        ("dump", &["dump", "--help"]),
        ("format", &["format", "--help"]),
        ("pack", &["pack", "--help"]),
        ("grow", &["grow", "--help"]),
        ("defrag", &["defrag", "--help"]),
        ("defragd", &["defragd", "--help"]),
        ("detach", &["detach", "--help"]),
        ("doctor", &["doctor", "--help"]),
        ("pick", &["pick", "analyze", "--help"]),
        ("pick", &["pick", "migrate", "--help"]),
        ("pick", &["pick", "watch", "--help"]),
        ("probe", &["probe", "--help"]),
        ("create", &["create", "--help"]),
        ("frag", &["frag", "--help"]),
        ("list", &["list", "--help"]),
        ("move", &["move", "--help"]),
        ("stat", &["stat", "--help"]),
        ("export", &["export", "--help"]),
        ("top", &["top", "--help"]),
        ("remove", &["remove", "--help"]),
        ("repair", &["repair", "--help"]),
        ("restore", &["restore", "--help"]),
        ("restore", &["unpack", "--help"]),
        ("status", &["status", "--help"]),
        ("runs", &["runs", "load", "--help"]),
        ("runs", &["runs", "extents", "--help"]),
        ("runs", &["runs", "save", "--help"]),
        ("sim", &["sim", "--help"]),
        ("wait", &["wait", "--help"]),
    ];
    for (page, args) in verbs {
        let path = format!("{}/man/dieaware-{page}.8", env!("CARGO_MANIFEST_DIR"));
        let page = fs::read_to_string(path).unwrap().replace("\\-", "-");
        for section in [".SH SYNOPSIS", ".SH EXAMPLE", ".SH DIAGNOSTICS"] {
            assert!(page.contains(section), "{args:?} {section}");
        }
        let help = stdout(&run(args));
        let options = help.lines().filter_map(|line| {
            let mut words = line.trim_start().split([' ', ',']);
            words.find(|word| word.starts_with("--"))
        });
        let mut nr_options = 0;
        for option in options {
            assert!(page.contains(option), "{args:?} {option}");
            nr_options += 1;
        }
        assert!(nr_options > 0, "{args:?}");
    }
}

/// All keys of a JSON value, but those of objects in `parts`, which other pages have.
fn keys_of(value: &Value, parts: &[&str], keys: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                keys.insert(key.clone());
                if !parts.contains(&key.as_str()) {
                    keys_of(value, parts, keys);
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| keys_of(value, parts, keys)),
        _ => {}
    }
}

#[test]
fn man_pages_name_every_key_of_json() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (image, other, trace) = (path("image"), path("other"), path("trace"));
    File::create(&image).unwrap().set_len(64 << 20).unwrap();
    fs::write(
        &trace,
        "# dieaware trace 1\n- write 0 4096\n- read 0 4096\n",
    )
    .unwrap();

    for args in [
        &["format", "--json", &image][..],
        &["check", "--json", &image],
        &["stat", "--json", "--files", "1", &image],
        &[
            "repair",
            "--json",
            "--dry-run",
            "--from",
            &image,
            "--to",
            &other,
        ],
        &["repair", "--json", "--from", &image, "--to", &other],
        &["sim", "--json", &trace],
        &["sim", "--json", "--profiles"],
    ] {
        let output = run(args);
        assert!(
            output.status.success(),
            "{args:?} {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let mut keys = BTreeSet::new();
        let said = serde_json::from_str(&stdout(&output)).unwrap();
        keys_of(&said, &["parameters", "counters", "dies"], &mut keys);
        // Of all of them, dieaware(8) says what it is.
        keys.remove("version");
        let verb = args[0];
        let page = format!("{}/man/dieaware-{verb}.8", env!("CARGO_MANIFEST_DIR"));
        let page = fs::read_to_string(page).unwrap();
        let words: Vec<_> = page
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.')
            .map(|word| word.trim_end_matches('.'))
            .collect();
        for key in keys {
            assert!(words.contains(&key.as_str()), "{args:?}: {key}");
        }
    }
}
