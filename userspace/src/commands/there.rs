// SPDX-License-Identifier: GPL-2.0-only
//! A device that is there already when it is to be made: whether it is what is asked for, and if not,
//! how it differs.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Context, Result};

use super::common::usage;
use super::line::{parse_line, Line};
use super::mapper;
use crate::dm::life::Info;
use crate::dm::swap::State;
use crate::dm::{self, swap};
use crate::units::DeviceNumber;

/// What the target takes for options that a table line does not have. It prints no others.
const DEFAULTS: &[(&str, &str)] = &[
    ("hints", "auto"),
    ("runs_mb", "64"),
    ("learn_reads", "on"),
    ("lba_adjacency", "on"),
    ("early_reads", "on"),
    // Of the device's own: whoever gives one asks for something else.
    ("fdp_unit_kb", "0"),
    ("map_cache_mb", "256"),
    ("policy", "file-aware"),
    ("cleaning", "on"),
    ("discard_passdown", "on"),
    ("idle_ms", "1000"),
    ("idle_free", "20"),
    ("in_place", "60"),
    ("no_space_timeout", "60"),
];

/// What a device is to be.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    pub name: &'a str,
    pub device: &'a Path,
    pub start_sectors: u64,
    pub mode: &'a str,
    pub options: &'a [String],
}

/// Options by their names.
fn split<'a>(options: impl Iterator<Item = &'a str>) -> Vec<(&'a str, &'a str)> {
    options
        .filter_map(|option| option.split_once('='))
        .collect()
}

/// The value of an option; `None`: the target does not know it.
fn value_of<'a>(options: &[(&'a str, &'a str)], key: &str) -> Option<&'a str> {
    let find = |options: &[(&'a str, &'a str)]| {
        let found = options.iter().find(|(name, _)| *name == key);
        found.map(|(_, value)| *value)
    };
    find(options).or_else(|| find(DEFAULTS))
}

/// Do both values mean the same? The target prints numbers without leading zeroes.
fn is_same_value(one: Option<&str>, other: Option<&str>) -> bool {
    let number = |value: Option<&str>| value?.parse::<u64>().ok();
    one == other || (number(one).is_some() && number(one) == number(other))
}

/// How the options of a table differ from those that are asked for, in words.
fn other_options(asked: &[String], line: &Line) -> Vec<String> {
    let asked = split(asked.iter().map(String::as_str));
    // How many there are comes first.
    let has = split(line.options.split(' ').skip(1));
    let mut keys: Vec<&str> = asked.iter().chain(&has).map(|(key, _)| *key).collect();

    keys.sort_unstable();
    keys.dedup();
    keys.into_iter()
        .filter_map(|key| {
            let (wanted, there) = (value_of(&asked, key), value_of(&has, key));
            if is_same_value(wanted, there) {
                return None;
            }
            let wanted = wanted.unwrap_or("none");
            Some(match there {
                Some(there) => format!("it has {key}={there}, and not {wanted}"),
                None => format!("it has no {key}={wanted}"),
            })
        })
        .collect()
}

/// How a table differs from the one that is asked for, in words.
fn other_table(asked: &Asked, below: Option<DeviceNumber>, line: &Line) -> Vec<String> {
    let mut others = Vec::new();

    if below != Some(line.below) {
        let device = asked.device.display();
        others.push(format!("it lies on {}, and not on {device}", line.below));
    }
    if line.start_sectors != asked.start_sectors {
        others.push(format!(
            "it begins at sector {}, and not at {}",
            line.start_sectors, asked.start_sectors
        ));
    }
    if line.mode == asked.mode {
        others.extend(other_options(asked.options, line));
    } else {
        others.push(format!("its mode is {}", line.mode));
    }
    others
}

/// How a device differs from one that has just been made, in words.
fn other_state(info: &Info, state: &State) -> Vec<String> {
    let mut others = Vec::new();

    if !mapper::is_created(info) {
        others.push("it was not made by \"dieaware create\"".to_owned());
    }
    if state.is_suspended {
        others.push("it is suspended".to_owned());
    }
    if state.is_read_only {
        others.push("it can only be read".to_owned());
    }
    others
}

/// The number of a block device.
fn number_of(path: &Path) -> Option<DeviceNumber> {
    let number = fs::metadata(path).ok()?.rdev();
    Some(DeviceNumber {
        major: u32::try_from(nix::sys::stat::major(number)).ok()?,
        minor: u32::try_from(nix::sys::stat::minor(number)).ok()?,
    })
}

/// The table line of a device that is what is asked for. How long it is nobody asks for: the device below
/// may have grown.
///
/// # Errors
///
/// When it is another one.
pub fn require_same(asked: &Asked, info: &Info) -> Result<String> {
    let name = asked.name;
    let refuse = |others: &[String]| {
        usage(format!(
            "There is a device {name} already, which is another one: {}",
            others.join("; ")
        ))
    };
    let cannot = || format!("{name} cannot be looked at");
    let table = dm::table(info.number).with_context(cannot)?;
    let line = parse_line(&table)
        .filter(|_| table.lines().count() == 1)
        .ok_or_else(|| refuse(&["it is not one dieaware target alone".to_owned()]))?;
    let state = swap::state(info.number).with_context(cannot)?;
    let mut others = other_table(asked, number_of(asked.device), &line);

    others.extend(other_state(info, &state));
    if others.is_empty() {
        return Ok(line.text());
    }
    Err(refuse(&others))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{number_of, other_state, other_table, parse_line, Asked, Info, State, DEFAULTS};

    /// In what the line of a device that is there differs.
    fn others(line: &str, mode: &str, options: &[&str]) -> Vec<String> {
        let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        let asked = Asked {
            name: "demo",
            device: Path::new("/dev/null"),
            start_sectors: 8,
            mode,
            options: &options,
        };
        let line = parse_line(line).unwrap();
        other_table(&asked, number_of(asked.device), &line)
    }

    #[test]
    fn the_same_table_is_known_however_it_is_written() {
        for (line, mode, options) in [
            ("0 8192 dieaware 1:3 8 hint", "hint", &[][..]),
            ("0 99 dieaware 1:3 8 hint", "hint", &[]),
            (
                "0 8192 dieaware 1:3 8 hint",
                "hint",
                &["runs_mb=64", "hints=auto"],
            ),
            (
                "0 8192 dieaware 1:3 8 hint 2 hints=on runs_mb=8",
                "hint",
                &["runs_mb=08", "hints=on"],
            ),
            (
                "0 8192 dieaware 1:3 8 log 1 idle_ms=0",
                "log",
                &["idle_ms=0", "policy=file-aware"],
            ),
        ] {
            assert_eq!(others(line, mode, options), [""; 0], "{line} {options:?}");
        }
    }

    #[test]
    fn what_differs_is_said() {
        for (line, mode, options, words) in [
            (
                "0 8192 dieaware 1:5 8 hint",
                "hint",
                &[][..],
                &["it lies on 1:5, and not on /dev/null"][..],
            ),
            (
                "0 8192 dieaware 1:3 0 log",
                "hint",
                &[],
                &["it begins at sector 0, and not at 8", "its mode is log"],
            ),
            (
                "0 8192 dieaware 1:3 8 hint 2 hints=on runs_mb=8",
                "hint",
                &["runs_mb=9"],
                &[
                    "it has hints=on, and not auto",
                    "it has runs_mb=8, and not 9",
                ],
            ),
            (
                "0 8192 dieaware 1:3 8 hint",
                "hint",
                &["runs_mb=9", "other=1"],
                &["it has no other=1", "it has runs_mb=64, and not 9"],
            ),
        ] {
            assert_eq!(others(line, mode, options), words, "{line} {options:?}");
        }
    }

    #[test]
    fn a_device_that_cannot_be_used_is_another_one() {
        let (mut info, mut state) = (
            Info {
                number: "254:0".parse().unwrap(),
                nr_open: 0,
                uuid: "DIEAWARE-HINT-demo".to_owned(),
            },
            State {
                name: "demo".to_owned(),
                uuid: "DIEAWARE-HINT-demo".to_owned(),
                has_inactive: false,
                is_suspended: false,
                is_read_only: false,
            },
        );
        assert_eq!(other_state(&info, &state), [""; 0]);
        info.uuid = String::new();
        state.is_suspended = true;
        state.is_read_only = true;
        assert_eq!(other_state(&info, &state).len(), 3);
    }

    /// The target's own table of options.
    #[test]
    fn defaults_are_those_of_the_target() {
        let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dm-dieaware/core");
        let source = fs::read_to_string(core.join("config.c")).unwrap();
        let header = fs::read_to_string(core.join("config.h")).unwrap();
        let table = source.split_once("options[] = {").unwrap().1;
        let table = table.split_once("};").unwrap().0;
        let keys: Vec<&str> = table
            .lines()
            .filter_map(|line| line.trim().strip_prefix("{ \"")?.split_once("=\""))
            .map(|(key, _)| key)
            .collect();
        let known: Vec<&str> = DEFAULTS.iter().map(|(key, _)| *key).collect();
        assert_eq!(keys, known);

        let value_of = |key: &str| DEFAULTS.iter().find(|(known, _)| *known == key).unwrap().1;
        let mut nr_numbers = 0;
        for line in header.lines() {
            let mut words = line.split_whitespace();
            let Some(name) = words.nth(1) else { continue };
            let Some(key) = name
                .strip_prefix("DMDA_")
                .and_then(|name| name.strip_suffix("_DEFAULT"))
            else {
                continue;
            };
            assert_eq!(
                value_of(&key.to_lowercase()),
                words.next().unwrap(),
                "{key}"
            );
            nr_numbers += 1;
        }
        assert_eq!(nr_numbers, 6);
        for (words, key) in [
            ("DMDA_HINTS_AUTO", "hints"),
            ("DMDA_POLICY_FILE_AWARE", "policy"),
        ] {
            let line = format!(".{key} = {words},");
            assert!(source.contains(&line), "{line}");
        }
    }
}
