// SPDX-License-Identifier: GPL-2.0-only
//! Numbers that must not be mixed up, as types of their own.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use thiserror::Error;

/// Bytes of a page, the unit in which the target thinks.
pub const PAGE_BYTES: u64 = 4096;

/// Bytes of a sector, Linux's unit for places on a device.
pub const SECTOR_BYTES: u64 = 512;

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
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
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

/// A number of bytes as people write it: `4096`, `64K`, `32MiB`, `1T`.
/// Factors are powers of 1024.
///
/// # Errors
///
/// Says what a size is.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let shift = match unit {
        "" | "B" => Some(0),
        "K" | "k" | "KiB" => Some(10),
        "M" | "m" | "MiB" => Some(20),
        "G" | "g" | "GiB" => Some(30),
        "T" | "t" | "TiB" => Some(40),
        _ => None,
    };
    let parse = || digits.parse::<u64>().ok()?.checked_mul(1 << shift?);
    parse().ok_or_else(|| "a size is a number of bytes, or of K, M, G or T".to_owned())
}

/// A percentage with at most one decimal, in thousandths.
///
/// # Errors
///
/// Says what a percentage is.
pub fn parse_permille(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix('%').unwrap_or(text);
    let (whole, tenths) = number.split_once('.').unwrap_or((number, "0"));
    let parse = || {
        let tenths = tenths.parse::<u32>().ok().filter(|_| tenths.len() == 1)?;
        whole
            .parse::<u32>()
            .ok()?
            .checked_mul(10)?
            .checked_add(tenths)
    };
    parse().ok_or_else(|| "a percentage is a number such as 10 or 7.5".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{parse_bytes, parse_permille, DeviceNumber};

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [
            ("4096", 4096),
            ("0", 0),
            ("64K", 65536),
            ("1MiB", 1 << 20),
            ("3g", 3 << 30),
            ("2T", 2 << 40),
            ("512B", 512),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        for text in ["", "K", "-1", "1.5M", "1MB", "1 M", "99999999999T", "0x10"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn percentages_have_one_decimal() {
        for (text, permille) in [("10", 100), ("7.5", 75), ("2%", 20), ("0.1%", 1)] {
            assert_eq!(parse_permille(text), Ok(permille), "{text}");
        }
        for text in ["", "%", "7.55", "7.", ".5", "-1", "1.+5", "5000000000"] {
            assert!(parse_permille(text).is_err(), "{text}");
        }
    }

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
