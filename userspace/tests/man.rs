// SPDX-License-Identifier: GPL-2.0-only
//! The manual pages say what the tool has.

// A test that panics has failed, which is what it should do then.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::fs;
use std::process::{Command, Output};

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
