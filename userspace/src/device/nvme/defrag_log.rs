// SPDX-License-Identifier: GPL-2.0-only
//! The defrag log of an SSD that shares pages (janusd): how full it is, by the vendor log page of
//! `include/dieaware/log.h`, and the command Compact of `include/dieaware/vendor.h`, which takes out what
//! is outdated.

use std::io;
use std::path::Path;

use serde::Serialize;
use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use super::{Command, Namespace};

const OPCODE_COMPACT: u8 = 0x84;

/// In `features` of the vendor area of Identify Controller.
const FEATURE_COMPACT: u16 = 1 << 5;

const LOG_BYTES: usize = 64;

/// `struct dieaware_log_defrag`.
#[derive(Clone, Debug, FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Wire {
    version: U16,
    header_bytes: U16,
    entry_bytes: U32,
    entries: U32,
    most_entries: U32,
    pages: U32,
    most_pages: U32,
    compactions: U64,
    kept: U64,
    reserved: [u8; 24],
}

/// How full a log is. Whichever of both comes to its end first, Share is refused.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Fill {
    pub entries: u32,
    pub most_entries: u32,
    pub pages: u32,
    pub most_pages: u32,
}

fn permille(part: u32, whole: u32) -> u64 {
    (u64::from(part) * 1000)
        .checked_div(u64::from(whole))
        .unwrap_or(0)
}

impl Fill {
    /// Of its entries, or its pages, if these are closer to their end.
    #[must_use]
    pub fn permille(&self) -> u64 {
        permille(self.entries, self.most_entries).max(permille(self.pages, self.most_pages))
    }
}

fn parse(data: &[u8]) -> Option<Fill> {
    let (wire, _) = Wire::ref_from_prefix(data).ok()?;

    (wire.version.get() == 1).then_some(Fill {
        entries: wire.entries.get(),
        most_entries: wire.most_entries.get(),
        pages: wire.pages.get(),
        most_pages: wire.most_pages.get(),
    })
}

/// The log of an SSD that has one and compacts it when it is told to.
#[derive(Debug)]
pub struct DefragLog {
    namespace: Namespace,
    page: u8,
}

impl DefragLog {
    /// Of a whole namespace; `None`: it has no such log, or no such command.
    ///
    /// # Errors
    ///
    /// When the device cannot be asked.
    pub fn open(disk: &Path) -> io::Result<Option<Self>> {
        let namespace = Namespace::open(disk)?;
        let id = namespace.id()?;

        Ok(id
            .filter(|id| id.features.get() & FEATURE_COMPACT != 0 && id.log_defrag != 0)
            .map(|id| Self {
                namespace,
                page: id.log_defrag,
            }))
    }

    /// How full it is.
    ///
    /// # Errors
    ///
    /// When the device does not say.
    pub fn fill(&self) -> io::Result<Fill> {
        let mut data = [0; LOG_BYTES];

        self.namespace.log_page(self.page, 0, 0, &mut data)?;
        parse(&data).ok_or_else(|| {
            io::Error::other("the SSD's defrag log is of a version that this program does not know")
        })
    }

    /// Have what is outdated taken out of it.
    ///
    /// # Errors
    ///
    /// When the device refuses.
    pub fn compact(&self) -> io::Result<()> {
        let command = Command {
            opcode: OPCODE_COMPACT,
            ..Command::default()
        };
        self.namespace.io(command, &mut []).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::{parse, Fill, Wire, LOG_BYTES};

    #[test]
    fn a_fill_is_what_the_header_says() {
        assert_eq!(size_of::<Wire>(), LOG_BYTES);
        let mut data = [0; LOG_BYTES];
        assert_eq!(parse(&data), None);
        assert_eq!(parse(&data[..10]), None);
        data[0] = 1;
        for (at, byte) in [(8, 3), (12, 4), (16, 5), (20, 6)] {
            data[at] = byte;
        }
        let fill = Fill {
            entries: 3,
            most_entries: 4,
            pages: 5,
            most_pages: 6,
        };
        assert_eq!(parse(&data), Some(fill));
    }

    #[test]
    fn what_is_closer_to_its_end_counts() {
        let fill = |entries, pages| Fill {
            entries,
            most_entries: 10,
            pages,
            most_pages: 100,
        };
        assert_eq!(fill(9, 50).permille(), 900);
        assert_eq!(fill(1, 95).permille(), 950);
        assert_eq!(Fill::default().permille(), 0);
    }
}
