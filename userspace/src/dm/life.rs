// SPDX-License-Identifier: GPL-2.0-only
//! Devices that come and go. dmsetup does not know why the kernel refuses a table, so that is read
//! in the kernel's log.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::process::Command;

use nix::libc;
use serde::Serialize;

use super::{columns_of, dmsetup, parse_target, DmError, TARGET_TYPE};
use crate::units::DeviceNumber;

/// A device as device-mapper knows it.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Info {
    pub number: DeviceNumber,
    /// Who has it open.
    pub nr_open: u64,
    pub uuid: String,
}

fn parse_info(line: &str) -> Option<Info> {
    let mut words = line.trim().splitn(3, '|');
    let number = words.next()?.parse().ok()?;
    let nr_open = words.next()?.parse().ok()?;
    let uuid = words.next()?.to_owned();

    Some(Info {
        number,
        nr_open,
        uuid,
    })
}

/// A device by its name; `None`: there is none.
///
/// # Errors
///
/// When device-mapper cannot be asked.
pub fn info(name: &str) -> Result<Option<Info>, DmError> {
    columns_of(name, "name,devno,open,uuid", parse_info)
}

/// Does the kernel have the target? If not, its module is loaded.
///
/// # Errors
///
/// When device-mapper cannot be asked.
pub fn has_target() -> Result<bool, DmError> {
    let is_there = || -> Result<bool, DmError> {
        let output = dmsetup(&["targets"])?;
        Ok(output
            .lines()
            .any(|line| line.split_whitespace().next() == Some(TARGET_TYPE)))
    };

    if is_there()? {
        return Ok(true);
    }
    // Whether that has helped is seen by the result.
    let _ = Command::new("modprobe")
        .args(["-q", "dm-dieaware"])
        .output();
    is_there()
}

/// What the kernel says about a table that it refuses: dmsetup does not know.
pub(super) struct KernelLog(Option<File>);

impl KernelLog {
    /// From now on.
    pub(super) fn new() -> Self {
        let log = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/kmsg");
        Self(log.ok().and_then(|mut log| {
            log.seek(SeekFrom::End(0)).ok()?;
            Some(log)
        }))
    }

    /// The last sentence about a table of the target.
    fn sentence(self) -> Option<String> {
        let mut log = self.0?;
        let mut record = vec![0; 8192];
        let mut found = None;

        // Records that were overwritten meanwhile are skipped by an error.
        for _ in 0..10_000 {
            match log.read(&mut record) {
                Ok(0) => break,
                Ok(bytes) => {
                    let text = String::from_utf8_lossy(record.get(..bytes).unwrap_or(&[]));
                    found = parse_kernel_log(&text).or(found);
                }
                Err(err) if err.kind() == ErrorKind::WouldBlock => break,
                Err(_) => {}
            }
        }
        found
    }
}

/// What the target said, in a record such as `6,1,2,-;device-mapper: table: 254:0: dieaware:
/// The sentence (-EINVAL)`.
fn parse_kernel_log(record: &str) -> Option<String> {
    let (_, text) = record.split_once(';')?;
    let text = text.lines().next()?;
    let (_, said) = text.split_once("dieaware: ")?;
    let said = said.split_once(" (-").map_or(said, |(said, _)| said);

    text.contains("device-mapper")
        .then(|| said.trim().trim_end_matches('.').to_owned())
}

/// An error with what the kernel has said since then, if it was dmsetup's.
pub(super) fn refused(err: DmError, log: KernelLog) -> DmError {
    match (err, log.sentence()) {
        (DmError::Failed { .. }, Some(sentence)) => DmError::Refused(sentence),
        (err, _) => err,
    }
}

/// Make a device with a table of one line.
///
/// # Errors
///
/// When device-mapper refuses; says why if the kernel has.
pub fn create(name: &str, uuid: &str, line: &str) -> Result<(), DmError> {
    let log = KernelLog::new();
    let result = dmsetup(&["create", name, "--uuid", uuid, "--table", line]);

    result.map(|_| ()).map_err(|err| refused(err, log))
}

/// The same of what is no fault of the table's.
fn failed(err: DmError, log: KernelLog) -> DmError {
    match (err, log.sentence()) {
        (DmError::Failed { command, .. }, Some(message)) => DmError::Failed { command, message },
        (err, _) => err,
    }
}

/// Give a device another table of one line, at once. What is on its way is waited for, but for
/// writes that wait for space: the new table may have some for them.
///
/// # Errors
///
/// When device-mapper refuses; the device has its old table then. When the new one does not go to work,
/// the device may be suspended, and have neither.
pub fn reload(name: &str, line: &str, read_only: bool) -> Result<(), DmError> {
    let log = KernelLog::new();
    let mut load = vec!["load", name, "--table", line];

    // The device is what its table says.
    if read_only {
        load.push("--readonly");
    }
    if let Err(err) = dmsetup(&load) {
        return Err(refused(err, log));
    }
    // This suspends the device first, in the kernel: nobody can come in between.
    if let Err(err) = dmsetup(&["resume", "--noflush", name]) {
        // Whether the table could be taken away again does not change what went wrong.
        let _ = dmsetup(&["clear", name]);
        return Err(failed(err, log));
    }
    Ok(())
}

/// # Errors
///
/// When device-mapper refuses.
pub fn remove(name: &str) -> Result<(), DmError> {
    dmsetup(&["remove", "--retry", name]).map(|_| ())
}

/// A target of the system.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    pub name: String,
    pub start_sectors: u64,
    pub len_sectors: u64,
    pub params: String,
}

fn parse_entry(line: &str) -> Option<Entry> {
    let (name, rest) = line.split_once(": ")?;
    let target = parse_target(rest)?;

    Some(Entry {
        name: name.to_owned(),
        start_sectors: target.start_sectors,
        len_sectors: target.len_sectors,
        params: target.params,
    })
}

/// What `dmsetup status` or `dmsetup table` prints of all targets of our type.
///
/// # Errors
///
/// When device-mapper cannot be asked.
pub fn all(command: &str) -> Result<Vec<Entry>, DmError> {
    let output = dmsetup(&[command, "--target", TARGET_TYPE])?;

    output
        .lines()
        // "No devices found"
        .filter(|line| line.contains(": "))
        .map(|line| parse_entry(line).ok_or_else(|| DmError::Unexpected(line.to_owned())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{parse_entry, parse_info, parse_kernel_log};

    #[test]
    fn devices_are_known_by_number_and_use() {
        let info = parse_info("254:3|1|DIEAWARE-HINT-demo\n").unwrap();
        assert_eq!(info.number.to_string(), "254:3");
        assert_eq!(
            (info.nr_open, info.uuid.as_str()),
            (1, "DIEAWARE-HINT-demo")
        );
        assert_eq!(parse_info("254:3|0|").unwrap().uuid, "");
        for line in ["", "254|1|x", "254:3|x|y", "254:3"] {
            assert_eq!(parse_info(line), None, "{line}");
        }
    }

    #[test]
    fn the_target_s_sentence_is_found_in_the_kernel_log() {
        let record = "3,812,90812,-;device-mapper: table: 254:0: dieaware: The device is in use (-EBUSY)\n SUBSYSTEM=x\n";
        assert_eq!(parse_kernel_log(record).unwrap(), "The device is in use");
        for record in [
            "3,812,90812,-;nvme nvme0: ready\n",
            "no record",
            "3,1,2,-;dieaware: not of device mapper",
        ] {
            assert_eq!(parse_kernel_log(record), None, "{record}");
        }
    }

    #[test]
    fn lines_of_all_devices_have_names() {
        let entry = parse_entry("my:disk: 0 8192 dieaware mode=hint").unwrap_or_else(|| {
            panic!("a name may have a colon");
        });
        assert_eq!(entry.name, "my:disk");
        assert_eq!(
            (entry.len_sectors, entry.params.as_str()),
            (8192, "mode=hint")
        );
        assert_eq!(parse_entry("demo: 0 8192 linear 8:0 0"), None);
    }
}
