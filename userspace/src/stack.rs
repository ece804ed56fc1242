// SPDX-License-Identifier: GPL-2.0-only
//! What lies below a block device: disks, through partitions and targets that map 1:1.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::sys::stat::{major, minor};

use crate::units::DeviceNumber;

const SYSFS: &str = "/sys/dev/block";

/// The disk that a block device is, or is a partition of.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Base {
    /// Its folder in sysfs.
    sysfs: PathBuf,
    /// Where it begins on the disk.
    pub start_sectors: u64,
}

fn invalid(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

impl Base {
    /// The disk that a block device is, or is a partition of.
    ///
    /// # Errors
    ///
    /// When sysfs does not know it.
    pub fn of(device: DeviceNumber) -> io::Result<Self> {
        let sysfs = fs::canonicalize(Path::new(SYSFS).join(device.to_string()))?;
        if !sysfs.join("partition").exists() {
            return Ok(Self {
                sysfs,
                start_sectors: 0,
            });
        }
        let start = fs::read_to_string(sysfs.join("start"))?;
        let disk = sysfs
            .parent()
            .ok_or_else(|| invalid("a partition has no disk"))?;
        Ok(Self {
            sysfs: disk.to_owned(),
            start_sectors: start
                .trim()
                .parse()
                .map_err(|_| invalid(format!("a partition begins at \"{}\"", start.trim())))?,
        })
    }

    /// The disk's node.
    ///
    /// # Errors
    ///
    /// When it has no name.
    pub fn disk(&self) -> io::Result<PathBuf> {
        let name = self
            .sysfs
            .file_name()
            .ok_or_else(|| invalid("a disk has no name"))?;
        Ok(Path::new("/dev").join(name))
    }
}

/// The number of a block device's node.
///
/// # Errors
///
/// When there is no such node.
pub fn number_of(path: &Path) -> io::Result<DeviceNumber> {
    let rdev = fs::metadata(path)?.rdev();
    Ok(DeviceNumber {
        major: major(rdev) as u32,
        minor: minor(rdev) as u32,
    })
}

/// The disk that a block device is, or is a partition of.
///
/// # Errors
///
/// When that is not known.
pub fn disk_of(path: &Path) -> io::Result<PathBuf> {
    Base::of(number_of(path)?)?.disk()
}
