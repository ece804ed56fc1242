// SPDX-License-Identifier: GPL-2.0-only
//! Another table for a device that is in use: it is loaded beside the one at work, and takes its place
//! when the device is resumed. The kernel suspends the device for that itself, in one call, so that
//! whoever is ended between two calls leaves it at work with the old table or with the new one.

use super::life::{refused, KernelLog};
use super::{columns, dmsetup, dmsetup_given, DmError};
use crate::units::DeviceNumber;

/// A device as it is now.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct State {
    pub name: String,
    pub uuid: String,
    /// A table is loaded beside the one at work.
    pub has_inactive: bool,
    pub is_suspended: bool,
    /// Its table lets nobody write.
    pub is_read_only: bool,
}

fn parse_state(line: &str) -> Option<State> {
    let mut words = line.trim().splitn(3, '|');
    let attr = words.next()?;
    let mut has = attr.chars();
    let mut is = |letter| has.next().map(|found| found == letter);
    let _has_live = is('L')?;
    let (has_inactive, is_suspended, is_read_only) = (is('I')?, is('s')?, is('r')?);

    Some(State {
        has_inactive,
        is_suspended,
        is_read_only,
        uuid: words.next()?.to_owned(),
        name: words.next()?.to_owned(),
    })
}

/// # Errors
///
/// When device-mapper has no such device.
pub fn state(device: DeviceNumber) -> Result<State, DmError> {
    let (major, minor) = (device.major.to_string(), device.minor.to_string());
    let output = columns("attr,uuid,name", &["--major", &major, "--minor", &minor])?;
    parse_state(&output).ok_or(DmError::Unexpected(output))
}

/// The table that is loaded beside the one at work.
///
/// # Errors
///
/// When device-mapper cannot be asked.
pub fn inactive_table(device: DeviceNumber) -> Result<String, DmError> {
    let (major, minor) = (device.major.to_string(), device.minor.to_string());
    dmsetup(&["table", "--inactive", "--major", &major, "--minor", &minor])
}

/// Load a table beside the one at work, in the place of one that is there.
///
/// # Errors
///
/// When device-mapper refuses; says why if the kernel has.
pub fn load(name: &str, table: &str, read_only: bool) -> Result<(), DmError> {
    let log = KernelLog::new();
    let args: &[&str] = if read_only {
        &["load", name, "--readonly"]
    } else {
        &["load", name]
    };

    dmsetup_given(args, table)
        .map(|_| ())
        .map_err(|err| refused(err, log))
}

/// Put the loaded table to work, and the device too if it was suspended. What is on its way is waited
/// for, but a filesystem is not asked to write what it has: the new table maps the same, and one that
/// cannot write any more, since the device below fails, would keep the old table for ever.
///
/// # Errors
///
/// When device-mapper refuses; says why if the kernel has. The device may then be suspended.
pub fn resume(name: &str) -> Result<(), DmError> {
    let log = KernelLog::new();

    dmsetup(&["resume", "--nolockfs", name])
        .map(|_| ())
        .map_err(|err| refused(err, log))
}

/// The same, but what a target cannot do any more is not waited for: it goes to the new table, which
/// may be able to.
///
/// # Errors
///
/// The same.
pub fn resume_pushing_back(name: &str) -> Result<(), DmError> {
    let log = KernelLog::new();

    dmsetup(&["resume", "--nolockfs", "--noflush", name])
        .map(|_| ())
        .map_err(|err| refused(err, log))
}

/// Make a device with a table of any number of lines.
///
/// # Errors
///
/// When device-mapper refuses; says why if the kernel has.
pub fn create(name: &str, uuid: &str, table: &str) -> Result<(), DmError> {
    let log = KernelLog::new();

    dmsetup_given(&["create", name, "--uuid", uuid], table)
        .map(|_| ())
        .map_err(|err| refused(err, log))
}

/// Forget the table that is loaded beside the one at work.
///
/// # Errors
///
/// When device-mapper refuses.
pub fn clear(name: &str) -> Result<(), DmError> {
    dmsetup(&["clear", name]).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::{parse_state, State};

    #[test]
    fn a_device_s_state_is_in_letters() {
        let state = parse_state("L--w|LVM-abc|vg-data\n").unwrap();
        assert_eq!(
            state,
            State {
                name: "vg-data".to_owned(),
                uuid: "LVM-abc".to_owned(),
                has_inactive: false,
                is_suspended: false,
                is_read_only: false,
            }
        );
        let state = parse_state("LIsr||a|b").unwrap();
        assert!(state.has_inactive && state.is_suspended && state.is_read_only);
        assert_eq!((state.uuid.as_str(), state.name.as_str()), ("", "a|b"));
        for line in ["", "L--w", "L--w|u", "L-|u|n", "|u|n"] {
            assert_eq!(parse_state(line), None, "{line}");
        }
    }
}
