// SPDX-License-Identifier: GPL-2.0-only
//! The superblock: how the device is laid out, and which place is what. All else is found from
//! here, so nothing in it is believed that contradicts the rest of it.

use std::fmt;
use std::io;

use thiserror::Error;
use zerocopy::{transmute, transmute_ref, FromZeros};

use super::block::{self, BlockError, BlockId, Uuid};
use super::layout::{
    AreaBlock, Page, SuperBlock, BLOCK_BYTES, DPN_BYTES, ENTRIES_PER_PAGE, FIRST_ROOT_DPN,
    INCOMPAT_CHECKSUMS, INCOMPAT_DRAFTS, LABEL_BYTES, MAGIC_SUPER, MAP_ENTRIES, MAP_SUMS_ENTRIES,
    MAX_AREAS, MAX_OPEN, SECTOR_BYTES, SEGMENTS_PER_PAGE, SUMMARIES_PER_PAGE, SUPER_DPN_A,
    SUPER_DPN_B,
};

/// Page numbers stay below this: more does not fit into a map entry.
pub const LIMIT_PAGES: u64 = 1 << (8 * DPN_BYTES);

/// Segments that cleaning and the open segments need, whatever the reserve is.
pub const RESERVED_SEGMENTS: u64 = 8;
pub const MIN_SEGMENTS: u64 = 32;
pub const MIN_SEGMENT_PAGES: u32 = 64;
pub const MAX_SEGMENT_PAGES: u32 = 65536;
pub const MIN_JOURNAL_SECTORS: u32 = 1024;
pub const MAX_JOURNAL_SECTORS: u32 = 1 << 21;

/// Sectors in a page.
pub const PAGE_SECTORS: u32 = (BLOCK_BYTES / SECTOR_BYTES) as u32;

/// Features of this version.
pub const INCOMPAT_KNOWN: u64 = INCOMPAT_CHECKSUMS | INCOMPAT_DRAFTS;
pub const RO_COMPAT_KNOWN: u64 = 0;

/// A part of the device that was added at once; see `struct dmda_area_block`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Area {
    pub tables_dpn: u64,
    pub nr_segment_pages: u64,
    pub nr_open_pages: u64,
    pub nr_directory_pages: u64,
    pub nr_map_pages: u64,
    pub segments_dpn: u64,
    pub nr_segments: u64,
}

/// The tables, in the order in which an area has them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Table {
    Segments,
    Open,
    Directory,
    Map,
}

impl Table {
    pub const ALL: [Self; 4] = [Self::Segments, Self::Open, Self::Directory, Self::Map];
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Segments => "segment table",
            Self::Open => "open summaries",
            Self::Directory => "directory",
            Self::Map => "map",
        })
    }
}

/// A superblock in the machine's own numbers; see `struct dmda_super_block`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Super {
    pub uuid: Uuid,
    pub epoch: u64,
    pub compat: u64,
    pub ro_compat: u64,
    pub incompat: u64,
    pub nr_device_pages: u64,
    pub nr_lpns: u64,
    pub segment_pages: u32,
    pub summary_pages: u32,
    pub stripe_pages: u32,
    pub journal_sectors: u32,
    pub journal_unit_sectors: u32,
    pub flags: u32,
    pub journal_dpn: u64,
    pub root_dpn: [u64; 2],
    pub root_pages: u32,
    pub label: [u8; LABEL_BYTES],
    pub areas: Vec<Area>,
}

/// Why a superblock does not count.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum SuperError {
    #[error(transparent)]
    Block(#[from] BlockError),
    #[error("{0}")]
    Impossible(&'static str),
}

/// A piece of the device, in pages.
struct Piece {
    first: u64,
    end: u64,
}

impl Area {
    /// Pages of a table that lie here.
    pub fn nr_pages(&self, table: Table) -> u64 {
        match table {
            Table::Segments => self.nr_segment_pages,
            Table::Open => self.nr_open_pages,
            Table::Directory => self.nr_directory_pages,
            Table::Map => self.nr_map_pages,
        }
    }

    /// Where the tables end.
    pub fn tables_end(&self) -> u64 {
        let nr_pages: u64 = Table::ALL.iter().map(|table| self.nr_pages(*table)).sum();
        self.tables_dpn + 2 * nr_pages
    }

    /// Where a table begins.
    fn table_dpn(&self, table: Table) -> u64 {
        let before: u64 = Table::ALL
            .iter()
            .take_while(|other| **other != table)
            .map(|other| self.nr_pages(*other))
            .sum();
        self.tables_dpn + 2 * before
    }

    fn decode(block: &AreaBlock) -> Self {
        Self {
            tables_dpn: block.tables_dpn.get(),
            nr_segment_pages: block.nr_segment_pages.get(),
            nr_open_pages: block.nr_open_pages.get(),
            nr_directory_pages: block.nr_directory_pages.get(),
            nr_map_pages: block.nr_map_pages.get(),
            segments_dpn: block.segments_dpn.get(),
            nr_segments: block.nr_segments.get(),
        }
    }

    fn encode(&self) -> AreaBlock {
        AreaBlock {
            tables_dpn: self.tables_dpn.into(),
            nr_segment_pages: self.nr_segment_pages.into(),
            nr_open_pages: self.nr_open_pages.into(),
            nr_directory_pages: self.nr_directory_pages.into(),
            nr_map_pages: self.nr_map_pages.into(),
            segments_dpn: self.segments_dpn.into(),
            nr_segments: self.nr_segments.into(),
        }
    }

    /// No number is so large that sums and products of them overflow.
    fn is_bounded(&self) -> bool {
        [
            self.tables_dpn,
            self.nr_segment_pages,
            self.nr_open_pages,
            self.nr_directory_pages,
            self.nr_map_pages,
            self.segments_dpn,
        ]
        .iter()
        .all(|nr| *nr < LIMIT_PAGES)
            && self.nr_segments < u64::from(u32::MAX)
    }
}

/// Pages of a segment's summary: each describes some pages of data, and takes one itself.
pub fn summary_pages(segment_pages: u32) -> u32 {
    segment_pages.div_ceil(SUMMARIES_PER_PAGE as u32 + 1)
}

/// Pages of the segment table for that many segments.
pub fn segment_table_pages(nr_segments: u64) -> u64 {
    nr_segments.div_ceil(SEGMENTS_PER_PAGE as u64)
}

/// Pages of the directory, or of a root, for that many entries.
pub fn entry_pages(nr_entries: u64) -> u64 {
    nr_entries.div_ceil(ENTRIES_PER_PAGE as u64)
}

/// The place of the superblock of that epoch.
pub fn super_dpn(epoch: u64) -> u64 {
    if epoch % 2 == 1 {
        SUPER_DPN_A
    } else {
        SUPER_DPN_B
    }
}

impl Super {
    /// Understand the page that was read from `dpn`.
    ///
    /// # Errors
    ///
    /// Says why it is no superblock, or which of its numbers cannot be.
    pub fn decode(page: &Page, dpn: u64) -> Result<Self, SuperError> {
        let block: &SuperBlock = transmute_ref!(page);
        block::check(
            page,
            &BlockId {
                magic: MAGIC_SUPER,
                nr_entries: 0,
                dpn,
                index: 0,
                seq: 0,
                epoch: 0,
                uuid: &block.header.uuid,
            },
        )?;
        let nr_areas = block.nr_areas.get() as usize;
        if nr_areas == 0 || nr_areas > MAX_AREAS {
            return Err(SuperError::Impossible(
                "it has an impossible number of areas",
            ));
        }

        let superblock = Self {
            uuid: block.header.uuid,
            epoch: block.header.epoch.get(),
            compat: block.compat.get(),
            ro_compat: block.ro_compat.get(),
            incompat: block.incompat.get(),
            nr_device_pages: block.nr_device_pages.get(),
            nr_lpns: block.nr_lpns.get(),
            segment_pages: block.segment_pages.get(),
            summary_pages: block.summary_pages.get(),
            stripe_pages: block.stripe_pages.get(),
            journal_sectors: block.journal_sectors.get(),
            journal_unit_sectors: block.journal_unit_sectors.get(),
            flags: block.flags.get(),
            journal_dpn: block.journal_dpn.get(),
            root_dpn: block.root_dpn.map(|dpn| dpn.get()),
            root_pages: block.root_pages.get(),
            label: block.label,
            areas: block.area.iter().take(nr_areas).map(Area::decode).collect(),
        };
        if superblock.epoch == 0 || super_dpn(superblock.epoch) != dpn {
            return Err(SuperError::Impossible(
                "its epoch is not one that is written to this place",
            ));
        }
        superblock.check_sizes().map_err(SuperError::Impossible)?;
        superblock.check_places().map_err(SuperError::Impossible)?;
        superblock.check_sums().map_err(SuperError::Impossible)?;
        Ok(superblock)
    }

    /// Is everything where the other one says? Epochs, flags and labels may differ.
    pub fn is_same_layout(&self, other: &Self) -> bool {
        *self
            == Self {
                epoch: self.epoch,
                flags: self.flags,
                label: self.label,
                ..other.clone()
            }
    }

    /// Metadata may be written by who knows only what this version knows.
    ///
    /// # Errors
    ///
    /// When it may not.
    pub fn require_writable(&self) -> io::Result<()> {
        let unknown = self.ro_compat & !RO_COMPAT_KNOWN;

        if unknown == 0 {
            return Ok(());
        }
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!(
                "The device has features {unknown:#x} with which this version can only read: use a \
                 newer one"
            ),
        ))
    }

    /// The page to be written to `super_dpn(self.epoch)`.
    pub fn encode(&self) -> Page {
        let mut block = SuperBlock::new_zeroed();

        block.compat = self.compat.into();
        block.ro_compat = self.ro_compat.into();
        block.incompat = self.incompat.into();
        block.nr_device_pages = self.nr_device_pages.into();
        block.nr_lpns = self.nr_lpns.into();
        block.segment_pages = self.segment_pages.into();
        block.summary_pages = self.summary_pages.into();
        block.stripe_pages = self.stripe_pages.into();
        block.journal_sectors = self.journal_sectors.into();
        block.journal_unit_sectors = self.journal_unit_sectors.into();
        block.flags = self.flags.into();
        block.journal_dpn = self.journal_dpn.into();
        block.root_dpn = self.root_dpn.map(Into::into);
        block.root_pages = self.root_pages.into();
        block.nr_areas = (self.areas.len() as u32).into();
        block.label = self.label;
        for (to, area) in block.area.iter_mut().zip(&self.areas) {
            *to = area.encode();
        }
        let mut page: Page = transmute!(block);
        block::seal(
            &mut page,
            &BlockId {
                magic: MAGIC_SUPER,
                nr_entries: 0,
                dpn: super_dpn(self.epoch),
                index: 0,
                seq: self.epoch,
                epoch: self.epoch,
                uuid: &self.uuid,
            },
        );
        page
    }

    fn check_sizes(&self) -> Result<(), &'static str> {
        if self.nr_device_pages >= LIMIT_PAGES || self.stripe_pages == 0 {
            return Err("it has a device or a stripe of impossible size");
        }
        if self.segment_pages < MIN_SEGMENT_PAGES
            || self.segment_pages > MAX_SEGMENT_PAGES
            || self.segment_pages % self.stripe_pages != 0
            || self.summary_pages != summary_pages(self.segment_pages)
        {
            return Err("it has segments of impossible size");
        }
        if self.journal_sectors < MIN_JOURNAL_SECTORS
            || self.journal_sectors > MAX_JOURNAL_SECTORS
            || self.journal_sectors % PAGE_SECTORS != 0
            || ![1, PAGE_SECTORS].contains(&self.journal_unit_sectors)
        {
            return Err("it has a journal of impossible size");
        }
        if !self.areas.iter().all(Area::is_bounded) {
            return Err("it has an area of impossible size");
        }
        if !self.label.contains(&0) {
            return Err("its label has no end");
        }
        Ok(())
    }

    /// Everything that has a place of its own, but for segments.
    fn pieces(&self) -> Vec<Piece> {
        let mut pieces = vec![
            Piece {
                first: self.journal_dpn,
                end: self
                    .journal_dpn
                    .saturating_add(u64::from(self.journal_sectors / PAGE_SECTORS)),
            },
            Piece {
                first: 0,
                end: FIRST_ROOT_DPN,
            },
        ];
        for dpn in self.root_dpn {
            pieces.push(Piece {
                first: dpn,
                end: dpn.saturating_add(u64::from(self.root_pages)),
            });
        }
        for area in &self.areas {
            pieces.push(Piece {
                first: area.tables_dpn,
                end: area.tables_end(),
            });
            pieces.push(Piece {
                first: area.segments_dpn,
                end: area.segments_dpn + area.nr_segments * u64::from(self.segment_pages),
            });
        }
        pieces.sort_by_key(|piece| (piece.first, piece.end));
        pieces
    }

    fn check_places(&self) -> Result<(), &'static str> {
        let mut free_dpn = 0;

        for piece in self.pieces() {
            if piece.first < free_dpn {
                return Err("it gives one place to two things");
            }
            free_dpn = piece.end;
        }
        if free_dpn > self.nr_device_pages {
            return Err("it has something behind the end of the device");
        }
        let ends = |area: &Area| {
            let nr_pages = area.nr_segments * u64::from(self.segment_pages);
            (area.tables_dpn, area.segments_dpn + nr_pages)
        };
        let is_in_order = |area: &Area| area.tables_end() <= area.segments_dpn;
        let is_behind = |pair: &[Area]| match pair {
            [before, area] => ends(before).1 <= ends(area).0,
            _ => false,
        };
        if !self.areas.iter().all(is_in_order) || !self.areas.windows(2).all(is_behind) {
            return Err("it has areas that are not in order");
        }
        let is_aligned = |area: &Area| area.segments_dpn % u64::from(self.stripe_pages) == 0;
        if !self.areas.iter().all(is_aligned) {
            return Err("it has segments that do not begin with a stripe");
        }
        Ok(())
    }

    fn check_sums(&self) -> Result<(), &'static str> {
        let nr_segments = self.nr_segments();
        if nr_segments < MIN_SEGMENTS || nr_segments >= u64::from(u32::MAX) {
            return Err("it has an impossible number of segments");
        }
        if self.nr_lpns > (nr_segments - RESERVED_SEGMENTS) * u64::from(self.data_pages()) {
            return Err("it shows more pages than there are");
        }
        for table in Table::ALL {
            let room: u64 = self.areas.iter().map(|area| area.nr_pages(table)).sum();
            if self.nr_pages(table) > room {
                return Err("it has a table that is too small");
            }
        }
        if u64::from(self.root_pages) < self.nr_root_pages() {
            return Err("it has roots that are too small");
        }
        Ok(())
    }

    /// Has the map a checksum of each page of data?
    pub fn has_checksums(&self) -> bool {
        self.incompat & INCOMPAT_CHECKSUMS != 0
    }

    /// May batches of the journal be written along with the data that they name?
    pub fn has_drafts(&self) -> bool {
        self.incompat & INCOMPAT_DRAFTS != 0
    }

    /// lpns that a page of the map has.
    pub fn map_entries(&self) -> usize {
        if self.has_checksums() {
            MAP_SUMS_ENTRIES
        } else {
            MAP_ENTRIES
        }
    }

    /// Pages of the map for that many lpns.
    pub fn map_pages(&self, nr_lpns: u64) -> u64 {
        nr_lpns.div_ceil(self.map_entries() as u64)
    }

    /// Pages of a segment that take data.
    pub fn data_pages(&self) -> u32 {
        self.segment_pages - self.summary_pages
    }

    /// Number of segments.
    pub fn nr_segments(&self) -> u64 {
        self.areas.iter().map(|area| area.nr_segments).sum()
    }

    /// Pages of a table that are in use.
    pub fn nr_pages(&self, table: Table) -> u64 {
        match table {
            Table::Segments => segment_table_pages(self.nr_segments()),
            Table::Open => MAX_OPEN as u64 * u64::from(self.summary_pages),
            Table::Directory => entry_pages(self.map_pages(self.nr_lpns)),
            Table::Map => self.map_pages(self.nr_lpns),
        }
    }

    /// Pages of a root that are in use.
    pub fn nr_root_pages(&self) -> u64 {
        let nr_entries = self.nr_pages(Table::Segments)
            + self.nr_pages(Table::Open)
            + self.nr_pages(Table::Directory);
        1 + entry_pages(nr_entries)
    }

    /// Where a slot of a table's page lies.
    pub fn slot_dpn(&self, table: Table, index: u64, slot: u64) -> Option<u64> {
        let mut index = index;

        for area in &self.areas {
            let nr_pages = area.nr_pages(table);
            if index < nr_pages {
                return Some(area.table_dpn(table) + 2 * index + slot);
            }
            index -= nr_pages;
        }
        None
    }

    /// Where a segment begins.
    pub fn segment_dpn(&self, segment: u64) -> Option<u64> {
        let mut segment = segment;

        for area in &self.areas {
            if segment < area.nr_segments {
                return Some(area.segments_dpn + segment * u64::from(self.segment_pages));
            }
            segment -= area.nr_segments;
        }
        None
    }

    /// The segment in which a place lies, whether that is data or summary, and its page there.
    pub fn segment_at(&self, dpn: u64) -> Option<(u64, u32)> {
        let segment_pages = u64::from(self.segment_pages);
        let mut before = 0;

        for area in &self.areas {
            let at = dpn.checked_sub(area.segments_dpn);
            if let Some(at) = at.filter(|at| *at < area.nr_segments * segment_pages) {
                return Some((before + at / segment_pages, (at % segment_pages) as u32));
            }
            before += area.nr_segments;
        }
        None
    }

    /// The segment in whose data a place lies, and its page there.
    pub fn segment_of(&self, dpn: u64) -> Option<(u64, u32)> {
        self.segment_at(dpn)
            .filter(|(_, page)| *page < self.data_pages())
    }

    /// The label as far as it can be printed.
    pub fn label_text(&self) -> String {
        let end = self.label.iter().position(|byte| *byte == 0);
        let text = self.label.get(..end.unwrap_or(LABEL_BYTES)).unwrap_or(&[]);
        String::from_utf8_lossy(text).into_owned()
    }

    /// The UUID as it is usually written.
    pub fn uuid_text(&self) -> String {
        uuid_text(&self.uuid)
    }
}

/// A UUID as it is usually written.
pub fn uuid_text(uuid: &Uuid) -> String {
    let mut text = String::new();

    for (at, byte) in uuid.iter().enumerate() {
        if [4, 6, 8, 10].contains(&at) {
            text.push('-');
        }
        text += &format!("{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Area, Super, SuperError};
    use crate::format::make::small_device;

    #[test]
    fn areas_lie_as_the_target_wants_them() {
        let made = small_device();
        let first = made.areas[0];
        let of = |areas: &[Area]| {
            let superblock = Super {
                nr_device_pages: 1_000_000,
                areas: areas.to_vec(),
                ..made.clone()
            };
            Super::decode(&superblock.encode(), 0).map(|_| ())
        };
        let second = Area {
            tables_dpn: 200_000,
            segments_dpn: 300_000,
            ..first
        };
        assert_eq!(of(&[first, second]), Ok(()));
        // Nothing is at the place of something else, but the target would refuse it.
        let wrong = SuperError::Impossible("it has areas that are not in order");
        let tables_behind = Area {
            tables_dpn: 500_000,
            ..second
        };
        for areas in [&[second, first][..], &[first, tables_behind]] {
            assert_eq!(of(areas), Err(wrong.clone()), "{areas:?}");
        }
    }
}
