// SPDX-License-Identifier: GPL-2.0-only
//! Device-mapper, through `dmsetup`: it is wherever device-mapper is used, and the
//! crate that speaks the ioctl itself needs libclang and a newer compiler than Debian
//! has to build.

pub mod ioctl;
pub mod life;
pub mod lvm;
pub mod mirror;
pub mod swap;
pub mod tables;
pub mod wait;

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

use thiserror::Error;

use crate::units::{DeviceNumber, DeviceNumberError};

/// The type of target that this tool is about.
const TARGET_TYPE: &str = "dieaware";

/// A dieaware target of a device.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Target {
    /// Where it begins on its device.
    pub start_sectors: u64,
    pub len_sectors: u64,
    /// What `dmsetup status` says about it.
    pub params: String,
}

#[derive(Debug, Error)]
pub enum DmError {
    #[error("dmsetup cannot be started: {0}")]
    Start(#[from] io::Error),
    #[error("\"dmsetup {command}\" failed: {message}")]
    Failed { command: String, message: String },
    #[error("only root can use device-mapper")]
    NotRoot,
    /// What the kernel log says about a table.
    #[error("the target refuses: {0}")]
    Refused(String),
    #[error("dmsetup said something that is not understood: {0}")]
    Unexpected(String),
    #[error(transparent)]
    DeviceNumber(#[from] DeviceNumberError),
}

/// dmsetup, in a group of its own: Ctrl-C is for us, and what dmsetup has begun it ends.
fn command(args: &[&str]) -> Command {
    let mut command = Command::new("dmsetup");
    command.args(args).process_group(0);
    command
}

/// Run dmsetup. Only its first words are named in errors, since messages are long.
fn dmsetup(args: &[&str]) -> Result<String, DmError> {
    let output = command(args).output()?;
    said(args, &output)
}

/// What dmsetup's columns say of a device, or of all of them; between two stands a |.
fn columns(names: &str, device: &[&str]) -> Result<String, DmError> {
    let mut args = vec![
        "info",
        "--columns",
        "--noheadings",
        "--separator",
        "|",
        "-o",
    ];

    args.push(names);
    args.extend(device);
    dmsetup(&args)
}

/// What the other columns say of the device whose first one is `key`; `None`: there is none.
fn columns_of<T>(
    key: &str,
    names: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, DmError> {
    // Of all devices: an error would not say whether it is that this one does not exist.
    for line in columns(names, &[])?.lines() {
        let Some((found, rest)) = line.split_once('|') else {
            continue;
        };
        if found.trim() == key {
            return parse(rest)
                .map(Some)
                .ok_or_else(|| DmError::Unexpected(line.to_owned()));
        }
    }
    Ok(None)
}

/// Run dmsetup and give it something to read, which may be longer than an argument.
fn dmsetup_given(args: &[&str], text: &str) -> Result<String, DmError> {
    let mut child = command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;

    // It prints nothing before it has read everything. If it ends before, its status says why.
    if let Some(mut stdin) = child.stdin.take() {
        let _ = stdin.write_all(text.as_bytes());
    }
    let output = child.wait_with_output()?;
    said(args, &output)
}

/// What dmsetup has printed, or why it has failed.
fn said(args: &[&str], output: &Output) -> Result<String, DmError> {
    if !output.status.success() {
        if !nix::unistd::geteuid().is_root() {
            return Err(DmError::NotRoot);
        }
        return Err(DmError::Failed {
            command: args.iter().take(5).copied().collect::<Vec<_>>().join(" "),
            message: first_sentence(&String::from_utf8_lossy(&output.stderr)),
        });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What dmsetup says first is what was wrong; the rest follows from it.
fn first_sentence(said: &str) -> String {
    let first = said.lines().map(str::trim).find(|line| !line.is_empty());
    first.unwrap_or_default().trim_end_matches('.').to_owned()
}

/// The device number of a device-mapper device.
pub fn device_number(name: &str) -> Result<DeviceNumber, DmError> {
    let output = columns("devno", &[name])?;
    Ok(output.trim().parse()?)
}

/// The dieaware targets of a device, in the order of their place on it.
pub fn targets(name: &str) -> Result<Vec<Target>, DmError> {
    let output = dmsetup(&["status", "--target", TARGET_TYPE, name])?;
    output
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| parse_target(line).ok_or_else(|| DmError::Unexpected(line.to_owned())))
        .collect()
}

pub(crate) fn parse_target(line: &str) -> Option<Target> {
    let mut words = line.trim().splitn(4, ' ');
    let start_sectors = words.next()?.parse().ok()?;
    let len_sectors = words.next()?.parse().ok()?;
    if words.next()? != TARGET_TYPE {
        return None;
    }
    Some(Target {
        start_sectors,
        len_sectors,
        params: words.next().unwrap_or_default().trim().to_owned(),
    })
}

/// The table of a device.
pub fn table(device: DeviceNumber) -> Result<String, DmError> {
    let (major, minor) = (device.major.to_string(), device.minor.to_string());
    dmsetup(&["table", "--major", &major, "--minor", &minor])
}

/// What the targets of a device say about themselves, by what they know: a thin pool would write its metadata first.
pub fn status(device: DeviceNumber) -> Result<String, DmError> {
    let (major, minor) = (device.major.to_string(), device.minor.to_string());
    dmsetup(&["status", "--noflush", "--major", &major, "--minor", &minor])
}

/// Ask the target at this sector of a device something by a message.
pub fn ask(device: DeviceNumber, sector: u64, words: &[String]) -> Result<String, DmError> {
    let (major, minor) = (device.major.to_string(), device.minor.to_string());
    let sector = sector.to_string();
    let mut args = vec!["message", "--major", &major, "--minor", &minor, &sector];

    args.extend(words.iter().map(String::as_str));
    dmsetup(&args)
}

/// The version of this tool's type of target, as the kernel has it; `None`: nobody knows.
#[must_use]
pub fn target_version() -> Option<[u32; 3]> {
    parse_version(&dmsetup(&["targets"]).ok()?)
}

fn parse_version(targets: &str) -> Option<[u32; 3]> {
    let ours = targets.lines().find_map(|line| {
        let (name, version) = line.split_once(char::is_whitespace)?;
        (name == TARGET_TYPE).then_some(version)
    })?;
    let numbers: Result<Vec<u32>, _> = ours
        .trim()
        .strip_prefix('v')?
        .split('.')
        .map(str::parse)
        .collect();
    numbers.ok()?.try_into().ok()
}

/// Send a message to the target at this sector of a device.
pub fn message(name: &str, sector: u64, words: &[String]) -> Result<String, DmError> {
    let sector = sector.to_string();
    let mut args = vec!["message", name, sector.as_str()];

    args.extend(words.iter().map(String::as_str));
    dmsetup(&args)
}

#[cfg(test)]
mod tests {
    use super::{first_sentence, parse_target, parse_version};

    #[test]
    fn what_dmsetup_says_becomes_part_of_a_sentence() {
        let said =
            "device-mapper: create ioctl on x failed: Device or resource busy\nCommand failed.\n";
        assert_eq!(
            first_sentence(said),
            "device-mapper: create ioctl on x failed: Device or resource busy"
        );
        assert_eq!(first_sentence("\nNo such device.\n"), "No such device");
        assert_eq!(first_sentence(""), "");
    }

    #[test]
    fn the_version_is_that_of_our_target() {
        let targets = "dieaware         v0.2.0\nstriped          v1.6.0\nlinear           v1.4.0\n";
        assert_eq!(parse_version(targets), Some([0, 2, 0]));
        for targets in [
            "",
            "linear v1.4.0\n",
            "dieaware\n",
            "dieaware 0.2.0\n",
            "dieaware v0.2\n",
            "dieaware v0.2.x\n",
        ] {
            assert_eq!(parse_version(targets), None, "{targets}");
        }
    }

    #[test]
    fn a_status_line_is_a_target() {
        let target = parse_target("0 8192 dieaware mode=hint writes=3").unwrap();
        assert_eq!((target.start_sectors, target.len_sectors), (0, 8192));
        assert_eq!(target.params, "mode=hint writes=3");
        assert_eq!(parse_target("8 8 dieaware").unwrap().params, "");
    }

    #[test]
    fn other_lines_are_none() {
        for line in [
            "",
            "0",
            "0 8192",
            "0 8192 linear",
            "demo: 0 8192 dieaware",
            "a b dieaware",
        ] {
            assert_eq!(parse_target(line), None, "{line}");
        }
    }
}
