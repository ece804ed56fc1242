// SPDX-License-Identifier: GPL-2.0-only
//! On which die each page of a namespace is, by the vendor log pages of `include/dieaware/log.h`.

use std::io;
use std::path::Path;

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use super::{Id, Namespace};

const ENTRY_BYTES: usize = 8;

/// Entries that are asked for at once: 64 KiB, which every drive transfers.
const CHUNK_ENTRIES: u64 = 8192;

const DIE_NONE: u16 = 0xffff;

/// `struct dieaware_log_geometry`.
#[derive(Clone, Debug, FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct GeometryLog {
    version: U16,
    header_bytes: U16,
    nr_channels: U32,
    nr_dies: U32,
    page_bytes: U32,
    die_unit_bytes: U32,
    open_units: U32,
    stripe_bytes: U64,
    reserved: [u8; 32],
}

/// How a device's pages are laid over its dies.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Geometry {
    pub nr_dies: u32,
    /// Pages that go to one die before the next die's turn.
    pub unit_pages: u32,
}

/// Where a page is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Place {
    pub die: u16,
    /// Two pages with the same number are read at once.
    pub unit: u32,
}

/// A namespace that tells where its pages are.
#[derive(Debug)]
pub struct Placement {
    namespace: Namespace,
    log_map: u8,
    pub geometry: Geometry,
}

fn parse_geometry(data: &[u8]) -> Option<Geometry> {
    let (log, _) = GeometryLog::ref_from_prefix(data).ok()?;
    let (nr_dies, page_bytes) = (log.nr_dies.get(), log.page_bytes.get());
    let unit_pages = log.die_unit_bytes.get().checked_div(page_bytes)?;

    // The map is in pages of 4 KiB.
    (page_bytes == 4096 && unit_pages != 0 && (1..u32::from(DIE_NONE)).contains(&nr_dies))
        .then_some(Geometry {
            nr_dies,
            unit_pages,
        })
}

fn parse_entry(entry: &[u8], nr_dies: u32) -> Option<Place> {
    let (die, rest) = U16::read_from_prefix(entry).ok()?;
    let (_, rest) = U16::read_from_prefix(rest).ok()?;
    let (unit, _) = U32::read_from_prefix(rest).ok()?;

    (u32::from(die.get()) < nr_dies).then_some(Place {
        die: die.get(),
        unit: unit.get(),
    })
}

impl Placement {
    /// Open a whole namespace; `None`: it does not tell.
    ///
    /// # Errors
    ///
    /// When the device cannot be asked.
    pub fn open(disk: &Path) -> io::Result<Option<Self>> {
        let namespace = Namespace::open(disk)?;
        let Some(Id {
            log_geometry,
            log_map,
            ..
        }) = namespace.id()?.filter(|id| id.log_map != 0)
        else {
            return Ok(None);
        };
        let mut data = [0; size_of::<GeometryLog>()];

        namespace.log_page(log_geometry, 0, 0, &mut data)?;
        Ok(parse_geometry(&data).map(|geometry| Self {
            namespace,
            log_map,
            geometry,
        }))
    }

    /// Where pages are; `None`: nowhere.
    ///
    /// # Errors
    ///
    /// When the device does not answer.
    pub fn places(&self, first: u64, nr_pages: u64) -> io::Result<Vec<Option<Place>>> {
        let mut places = Vec::new();
        let mut at = first;
        let end = first.saturating_add(nr_pages);

        while at < end {
            let nr_entries = CHUNK_ENTRIES.min(end - at);
            let mut data = vec![0; nr_entries as usize * ENTRY_BYTES];
            self.namespace
                .log_page(self.log_map, 0, at * ENTRY_BYTES as u64, &mut data)?;
            let entries = data.chunks_exact(ENTRY_BYTES);
            places.extend(entries.map(|entry| parse_entry(entry, self.geometry.nr_dies)));
            at += nr_entries;
        }
        Ok(places)
    }
}

#[cfg(test)]
mod tests {
    use super::{parse_entry, parse_geometry, Geometry, Place};

    #[test]
    fn the_geometry_is_read_as_the_header_says() {
        let mut log = vec![0; 64];
        assert_eq!(parse_geometry(&log), None);
        log[8] = 8;
        log[12..16].copy_from_slice(&4096u32.to_le_bytes());
        log[16..20].copy_from_slice(&32768u32.to_le_bytes());
        let geometry = Geometry {
            nr_dies: 8,
            unit_pages: 8,
        };
        assert_eq!(parse_geometry(&log), Some(geometry));
        assert_eq!(parse_geometry(&log[..63]), None);
        log[8] = 0;
        assert_eq!(parse_geometry(&log), None);
    }

    #[test]
    fn a_page_is_on_a_die_that_exists_or_nowhere() {
        let entry = [3, 0, 0, 0, 7, 1, 0, 0];
        let place = Place { die: 3, unit: 263 };
        assert_eq!(parse_entry(&entry, 4), Some(place));
        assert_eq!(parse_entry(&entry, 3), None);
        assert_eq!(parse_entry(&[0xff; 8], 8), None);
        assert_eq!(parse_entry(&entry[..7], 8), None);
    }
}
