// SPDX-License-Identifier: GPL-2.0-only
//! Numbers that must not be mixed up, as types of their own.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use thiserror::Error;

/// Bytes of a page, the unit in which the target thinks.
pub const PAGE_BYTES: u64 = 4096;

/// Sectors of 512 bytes in a page.
pub const PAGE_SECTORS: u64 = 8;

/// Page number in a file.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct FilePage(pub u64);

/// Page number on a block device: the whole device that a filesystem lies on, or one
/// target of it, as the function says.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Dpn(pub u64);

impl fmt::Display for FilePage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Dpn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A device number as the kernel prints it: `MAJOR:MINOR`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DeviceNumber {
    pub major: u32,
    pub minor: u32,
}

#[derive(Debug, Error)]
#[error("\"{0}\" is not a device number of the form MAJOR:MINOR")]
pub struct DeviceNumberError(String);

impl FromStr for DeviceNumber {
    type Err = DeviceNumberError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (major, minor) = text.split_once(':')?;
            Some(Self {
                major: major.parse().ok()?,
                minor: minor.parse().ok()?,
            })
        };
        parse().ok_or_else(|| DeviceNumberError(text.to_owned()))
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

impl Serialize for DeviceNumber {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::DeviceNumber;

    #[test]
    fn device_numbers_are_read_as_they_are_printed() {
        let number: DeviceNumber = "259:12".parse().unwrap();
        assert_eq!((number.major, number.minor), (259, 12));
        assert_eq!(number.to_string(), "259:12");
    }

    #[test]
    fn other_words_are_no_device_numbers() {
        for word in ["", "259", ":", "259:", ":12", "a:b", "1:2:3", "-1:2"] {
            assert!(word.parse::<DeviceNumber>().is_err(), "{word}");
        }
    }
}
