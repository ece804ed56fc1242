// SPDX-License-Identifier: GPL-2.0-only
//! The kernel's mirror, which copies one device to another one while both are written to: its table,
//! and what it says of itself. What is written goes to the first leg, and to the second one too where
//! that has been copied; what is read comes from the first one.

use super::tables::Segment;
use crate::units::DeviceNumber;

pub const KIND: &str = "mirror";

/// What is copied at once, while writes to it wait.
const REGION_SECTORS: u64 = 2048;

/// A target that copies its first leg to its second one, from its first sector on. A leg that fails
/// has all writes wait for somebody who gives the device another table: without `handle_errors` a
/// write would count that is on the second leg only.
#[must_use]
pub fn table_line(len_sectors: u64, from: DeviceNumber, to: DeviceNumber) -> String {
    format!("0 {len_sectors} {KIND} core 1 {REGION_SECTORS} 2 {from} 0 {to} 0 1 handle_errors\n")
}

/// The two legs of a table's only segment, if that is such a target.
#[must_use]
pub fn legs(segments: &[Segment]) -> Option<(DeviceNumber, DeviceNumber)> {
    let [only] = segments else { return None };
    let words: Vec<&str> = only.params.split_whitespace().collect();

    match words.as_slice() {
        ["core", nr_args, rest @ ..] if only.kind == KIND => {
            let rest = rest.get(nr_args.parse().ok()?..)?;
            let ["2", from, "0", to, "0", ..] = rest else {
                return None;
            };
            Some((from.parse().ok()?, to.parse().ok()?))
        }
        _ => None,
    }
}

/// How far a mirror has come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Progress {
    pub nr_copied: u64,
    pub nr_regions: u64,
    /// Whether each of the two legs has done all that was asked of it.
    pub is_alive: [bool; 2],
}

impl Progress {
    /// What a mirror of two legs says of itself, such as
    /// `2 254:3 254:2 17/150 1 AA 1 core`; `None`: it is something else.
    #[must_use]
    pub fn parse(segments: &[Segment]) -> Option<Self> {
        let [only] = segments else { return None };
        let words: Vec<&str> = only.params.split_whitespace().collect();
        let ["2", _, _, regions, "1", letters, ..] = words.as_slice() else {
            return None;
        };
        let (nr_copied, nr_regions) = regions.split_once('/')?;
        let mut letters = letters.chars();
        let is_alive = [letters.next()? == 'A', letters.next()? == 'A'];

        (only.kind == KIND && letters.next().is_none()).then_some(Self {
            nr_copied: nr_copied.parse().ok()?,
            nr_regions: nr_regions.parse().ok()?,
            is_alive,
        })
    }

    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.nr_copied == self.nr_regions && self.is_alive == [true, true]
    }

    /// So many bytes of a device are copied.
    #[must_use]
    pub fn bytes(&self, len_bytes: u64) -> u64 {
        let region = REGION_SECTORS * crate::units::SECTOR_BYTES;
        self.nr_copied.saturating_mul(region).min(len_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::{legs, table_line, Progress};
    use crate::dm::tables::{Segment, Table};

    fn segments(text: &str) -> Vec<Segment> {
        Table::parse(text).unwrap().segments().to_vec()
    }

    #[test]
    fn a_table_says_what_it_copies() {
        let (from, to) = ("254:3".parse().unwrap(), "254:2".parse().unwrap());
        let line = table_line(307_200, from, to);
        assert_eq!(
            line,
            "0 307200 mirror core 1 2048 2 254:3 0 254:2 0 1 handle_errors\n"
        );
        assert_eq!(legs(&segments(&line)), Some((from, to)));
        for other in [
            "0 8 linear 254:3 0",
            "0 8 mirror core 1 2048 2 254:3 8 254:2 0",
            "0 8 mirror core 1 2048 3 254:3 0 254:2 0 254:4 0",
            "0 8 mirror disk 2 254:9 2048 2 254:3 0 254:2 0",
            "0 8 mirror core 9 2048",
            "0 8 mirror",
        ] {
            assert_eq!(legs(&segments(other)), None, "{other}");
        }
        assert_eq!(legs(&segments(&format!("{line}307200 8 zero"))), None);
    }

    #[test]
    fn a_leg_that_has_failed_is_known() {
        let progress = |text: &str| Progress::parse(&segments(text));
        let copying = progress("0 8 mirror 2 254:3 254:2 17/150 1 AA 1 core").unwrap();
        assert_eq!((copying.nr_copied, copying.nr_regions), (17, 150));
        assert_eq!(copying.is_alive, [true, true]);
        assert!(!copying.is_complete());
        assert_eq!(copying.bytes(1 << 30), 17 << 20);
        assert_eq!(copying.bytes(1 << 20), 1 << 20);
        let complete = progress("0 8 mirror 2 254:3 254:2 150/150 1 AA 1 core").unwrap();
        assert!(complete.is_complete());
        for (letters, is_alive) in [("AD", [true, false]), ("SA", [false, true])] {
            let failed = format!("0 8 mirror 2 254:3 254:2 150/150 1 {letters} 1 core");
            let failed = progress(&failed).unwrap();
            assert!(!failed.is_complete() && failed.is_alive == is_alive);
        }
        for other in [
            "0 8 linear",
            "0 8 mirror 2 254:3 254:2 x/150 1 AA 1 core",
            "0 8 mirror 2 254:3 254:2 1/150 1 AAA 1 core",
            "0 8 raid 2 254:3 254:2 1/150 1 AA 1 core",
        ] {
            assert_eq!(progress(other), None, "{other}");
        }
    }
}
