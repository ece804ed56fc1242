// SPDX-License-Identifier: GPL-2.0-only
//! What all pages of metadata have in common: a header that says what the page is, and a
//! checksum.

use thiserror::Error;
use zerocopy::{FromBytes, IntoBytes};

use super::layout::{BlockHeader, Page, BLOCK_BYTES, FORMAT_VERSION, UUID_BYTES};
use crate::io_engine::pages::ReadPages;

/// A device's number in the world.
pub type Uuid = [u8; UUID_BYTES];

/// The kernel's `crc32c(seed, bytes)`: nothing is inverted before or after.
pub fn crc32c(seed: u32, bytes: &[u8]) -> u32 {
    !crc32c::crc32c_append(!seed, bytes)
}

/// A page that has this checksum. Those of other numbers are others.
pub fn page_with_crc32c(number: u64, sum: u32) -> Page {
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    let mut page = [0; BLOCK_BYTES];
    for (at, byte) in page.iter_mut().enumerate() {
        *byte = number.wrapping_shr(at as u32 % 8 * 8) as u8 ^ at as u8;
    }
    // Back over the last four bytes
    let mut wanted = sum;
    for _ in 0..32 {
        let was_odd = wanted >> 31 != 0;
        wanted = (wanted ^ if was_odd { POLYNOMIAL } else { 0 }) << 1 | u32::from(was_odd);
    }
    if let Some((before, last)) = page.split_last_chunk_mut() {
        *last = (wanted ^ crc32c(!0, before)).to_le_bytes();
    }
    page
}

/// What a page of metadata is, or should be.
#[derive(Clone, Copy, Debug)]
pub struct BlockId<'a> {
    pub magic: u32,
    /// Entries in use; when checking: the most that fit.
    pub nr_entries: u16,
    pub dpn: u64,
    pub index: u64,
    /// 0 when checking: any.
    pub seq: u64,
    /// Likewise.
    pub epoch: u64,
    pub uuid: &'a Uuid,
}

/// Why a page is not the one that belongs there.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum BlockError {
    #[error("it holds nothing but zeroes")]
    Empty,
    #[error("its magic number is {0:#010x}, which is no page of this kind")]
    Magic(u32),
    #[error("its checksum is wrong")]
    Checksum,
    #[error("it is of version {0} of the format, which is unknown")]
    Version(u16),
    #[error("it belongs to another device")]
    Uuid,
    #[error("it was written for page {dpn} as number {index} of its kind")]
    Place { dpn: u64, index: u64 },
    #[error("it was written for operation or checkpoint {found}, not {expected}")]
    Time { found: u64, expected: u64 },
    #[error("it claims {0} entries, which is more than there can be")]
    Entries(u16),
    #[error("it cannot be read ({0})")]
    Unreadable(String),
}

/// The header of a page.
pub fn header(page: &Page) -> Option<&BlockHeader> {
    BlockHeader::ref_from_prefix(page)
        .ok()
        .map(|(header, _)| header)
}

fn checksum(page: &Page) -> u32 {
    page.split_at_checked(size_of::<u32>())
        .map_or(0, |(_, rest)| crc32c(!0, rest))
}

/// Write a page's header and checksum; all but the header is there already.
pub fn seal(page: &mut Page, id: &BlockId) {
    let header = BlockHeader {
        crc: 0.into(),
        magic: id.magic.into(),
        version: FORMAT_VERSION.into(),
        nr_entries: id.nr_entries.into(),
        reserved: 0.into(),
        dpn: id.dpn.into(),
        index: id.index.into(),
        seq: id.seq.into(),
        epoch: id.epoch.into(),
        uuid: *id.uuid,
    };

    for (to, from) in page.iter_mut().zip(header.as_bytes()) {
        *to = *from;
    }
    let crc = checksum(page).to_le_bytes();
    for (to, from) in page.iter_mut().zip(crc) {
        *to = from;
    }
}

/// Is this the page that should be there?
///
/// # Errors
///
/// Says what is wrong with it.
pub fn check(page: &Page, id: &BlockId) -> Result<(), BlockError> {
    let Some(header) = header(page) else {
        return Err(BlockError::Empty);
    };
    if header.magic.get() != id.magic {
        return Err(if page.iter().all(|byte| *byte == 0) {
            BlockError::Empty
        } else {
            BlockError::Magic(header.magic.get())
        });
    }
    if header.crc.get() != checksum(page) {
        return Err(BlockError::Checksum);
    }
    if header.version.get() != FORMAT_VERSION {
        return Err(BlockError::Version(header.version.get()));
    }
    if header.uuid != *id.uuid {
        return Err(BlockError::Uuid);
    }
    if header.dpn.get() != id.dpn || header.index.get() != id.index {
        return Err(BlockError::Place {
            dpn: header.dpn.get(),
            index: header.index.get(),
        });
    }
    for (found, expected) in [(header.seq.get(), id.seq), (header.epoch.get(), id.epoch)] {
        if expected != 0 && found != expected {
            return Err(BlockError::Time { found, expected });
        }
    }
    if header.nr_entries.get() > id.nr_entries {
        return Err(BlockError::Entries(header.nr_entries.get()));
    }
    Ok(())
}

/// Read a page that may be lost.
///
/// # Errors
///
/// Says why it cannot be read.
pub fn read(device: &impl ReadPages, dpn: u64) -> Result<Page, BlockError> {
    device
        .read_page(dpn)
        .map_err(|err| BlockError::Unreadable(err.to_string()))
}

/// Read the page that should be at `id.dpn`.
///
/// # Errors
///
/// Says what is wrong with it.
pub fn read_checked(device: &impl ReadPages, id: &BlockId) -> Result<Page, BlockError> {
    let page = read(device, id.dpn)?;
    check(&page, id).map(|()| page)
}

#[cfg(test)]
mod tests {
    use super::{check, crc32c, header, page_with_crc32c, seal, BlockError, BlockId};
    use crate::format::layout::{Page, BLOCK_BYTES, MAGIC_MAP};

    const ID: BlockId = BlockId {
        magic: MAGIC_MAP,
        nr_entries: 806,
        dpn: 700,
        index: 3,
        seq: 12,
        epoch: 4,
        uuid: b"0123456789abcdef",
    };

    fn page() -> Page {
        let mut page = [0x5a; BLOCK_BYTES];
        seal(&mut page, &ID);
        page
    }

    #[test]
    fn the_checksum_is_the_kernel_s() {
        // The standard's check value is inverted at both ends.
        assert_eq!(crc32c(!0, b"123456789"), !0xe306_9283);
        let whole = crc32c(7, b"123456789");
        assert_eq!(crc32c(crc32c(7, b"1234"), b"56789"), whole);
    }

    #[test]
    fn a_page_is_made_for_each_checksum() {
        for (number, sum) in [(7, 0), (7, !0), (8, 0), (1 << 39, 0x1234_5678)] {
            assert_eq!(crc32c(!0, &page_with_crc32c(number, sum)), sum);
        }
        assert!(page_with_crc32c(7, 1) != page_with_crc32c(8, 1));
    }

    #[test]
    fn a_sealed_page_is_the_one_it_says() {
        let page = page();
        assert_eq!(check(&page, &ID), Ok(()));
        assert_eq!(header(&page).unwrap().seq.get(), 12);
        let any_time = BlockId {
            seq: 0,
            epoch: 0,
            ..ID
        };
        assert_eq!(check(&page, &any_time), Ok(()));
    }

    #[test]
    fn another_page_is_recognised() {
        let page = page();
        let other = BlockId { magic: 1, ..ID };
        assert!(matches!(check(&page, &other), Err(BlockError::Magic(_))));
        let other = BlockId {
            uuid: &[0; 16],
            ..ID
        };
        assert_eq!(check(&page, &other), Err(BlockError::Uuid));
        for other in [BlockId { dpn: 701, ..ID }, BlockId { index: 2, ..ID }] {
            assert!(matches!(
                check(&page, &other),
                Err(BlockError::Place { .. })
            ));
        }
        for other in [BlockId { seq: 11, ..ID }, BlockId { epoch: 5, ..ID }] {
            assert!(matches!(check(&page, &other), Err(BlockError::Time { .. })));
        }
        let other = BlockId {
            nr_entries: 805,
            ..ID
        };
        assert_eq!(check(&page, &other), Err(BlockError::Entries(806)));
        assert_eq!(check(&[0; BLOCK_BYTES], &ID), Err(BlockError::Empty));
    }

    #[test]
    fn every_changed_byte_is_noticed() {
        for at in 0..BLOCK_BYTES {
            let mut page = page();
            page[at] ^= 0x10;
            assert!(check(&page, &ID).is_err(), "{at}");
        }
    }
}
