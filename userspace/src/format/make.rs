// SPDX-License-Identifier: GPL-2.0-only
//! Laying out a new device: what goes where, and how large it is. Metadata gets all the
//! room it can ever need.

use thiserror::Error;

use super::block::Uuid;
use super::layout::{
    FIRST_ROOT_DPN, INCOMPAT_CHECKSUMS, INCOMPAT_DRAFTS, LABEL_BYTES, MAX_BATCH_SECTORS, MAX_OPEN,
};
use super::superblock::{
    entry_pages, segment_table_pages, summary_pages, Area, Super, LIMIT_PAGES, MAX_JOURNAL_SECTORS,
    MAX_SEGMENT_PAGES, MIN_JOURNAL_SECTORS, MIN_SEGMENTS, MIN_SEGMENT_PAGES, PAGE_SECTORS,
    RESERVED_SEGMENTS,
};

/// What format is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    pub uuid: Uuid,
    /// At most 31 bytes.
    pub label: String,
    pub nr_device_pages: u64,
    pub stripe_pages: u32,
    /// `None`: chosen.
    pub segment_pages: Option<u32>,
    /// `None`: chosen.
    pub journal_sectors: Option<u32>,
    /// 1, or 8 on devices of 4096-byte blocks.
    pub journal_unit_sectors: u32,
    /// Share of the segments that is not shown, 20 to 900.
    pub reserve_permille: u32,
    /// Of data: the map takes nearly twice the room.
    pub checksums: bool,
    /// Batches of the journal may be written along with the data that they name.
    pub drafts: bool,
}

/// Why a device cannot be laid out like that.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum MakeError {
    #[error("Log mode takes devices of less than 4 PiB, of which it shows up to 402 TiB")]
    DeviceTooLarge,
    #[error("A stripe must be of 1 to 65536 pages of 4 KiB")]
    Stripe,
    #[error("The size of a segment must be a multiple of that of a stripe")]
    SegmentStripe,
    #[error("A segment must be of 64 to 65536 pages of 4 KiB")]
    Segment,
    #[error("The journal can be written in units of 1 or 8 sectors only")]
    JournalUnit,
    #[error("The journal must be of 512 KiB to 1 GiB, in steps of 4 KiB")]
    Journal,
    #[error("With blocks of 4096 bytes, a journal below 1 MiB must be a multiple of 32 KiB")]
    JournalSteps,
    #[error("The reserve must be of 2 to 90 per cent")]
    Reserve,
    #[error("A label must be of at most 31 bytes, none of which is 0")]
    Label,
    #[error("The device is too small for log mode: there must be room for 32 segments")]
    DeviceTooSmall,
    #[error("There would be too many segments: they must be larger")]
    TooManySegments,
}

fn check(request: &Request) -> Result<(), MakeError> {
    if request.nr_device_pages >= LIMIT_PAGES {
        return Err(MakeError::DeviceTooLarge);
    }
    if !(1..=MAX_SEGMENT_PAGES).contains(&request.stripe_pages) {
        return Err(MakeError::Stripe);
    }
    if let Some(pages) = request.segment_pages {
        if pages % request.stripe_pages != 0 {
            return Err(MakeError::SegmentStripe);
        }
        if !(MIN_SEGMENT_PAGES..=MAX_SEGMENT_PAGES).contains(&pages) {
            return Err(MakeError::Segment);
        }
    }
    if ![1, PAGE_SECTORS].contains(&request.journal_unit_sectors) {
        return Err(MakeError::JournalUnit);
    }
    if let Some(sectors) = request.journal_sectors {
        if sectors % PAGE_SECTORS != 0
            || !(MIN_JOURNAL_SECTORS..=MAX_JOURNAL_SECTORS).contains(&sectors)
        {
            return Err(MakeError::Journal);
        }
        // Earlier targets hang where the longest batch, an eighth, is not of whole units.
        let most_at_once = u64::from(sectors / 8).min(MAX_BATCH_SECTORS);
        if most_at_once % u64::from(request.journal_unit_sectors) != 0 {
            return Err(MakeError::JournalSteps);
        }
    }
    if !(20..=900).contains(&request.reserve_permille) {
        return Err(MakeError::Reserve);
    }
    if request.label.len() >= LABEL_BYTES || request.label.contains('\0') {
        return Err(MakeError::Label);
    }
    Ok(())
}

/// Some hundred segments, each large enough for whole stripes: 1 to 32 MiB.
fn chosen_segment_pages(request: &Request) -> u32 {
    let pages = (request.nr_device_pages / 256).clamp(256, 8192) as u32;
    let power_of_two = 1 << pages.ilog2();

    u32::next_multiple_of(power_of_two, request.stripe_pages)
}

/// A 512th of the device, 1 to 64 MiB.
fn chosen_journal_sectors(request: &Request) -> u32 {
    let least = u64::from(MIN_JOURNAL_SECTORS);
    let sectors = (request.nr_device_pages / 64).clamp(2 * least, 128 * least) as u32;

    sectors - sectors % PAGE_SECTORS
}

/// Sizes of the tables for that many segments and lpns.
fn size_tables(area: &mut Area, superblock: &Super, nr_segments: u64, nr_lpns: u64) {
    area.nr_segments = nr_segments;
    area.nr_segment_pages = segment_table_pages(nr_segments);
    area.nr_map_pages = superblock.map_pages(nr_lpns);
    area.nr_directory_pages = entry_pages(area.nr_map_pages);
}

/// Where everything goes. Places are taken for tables as if all the device were segments:
/// how many there are is not known before the tables have their places.
fn lay_out(superblock: &mut Super, reserve_permille: u32) -> Result<(), MakeError> {
    let segment_pages = u64::from(superblock.segment_pages);
    let data_pages = u64::from(superblock.data_pages());
    let most = superblock.nr_device_pages / segment_pages;
    let mut area = Area {
        nr_open_pages: MAX_OPEN as u64 * u64::from(superblock.summary_pages),
        ..Area::default()
    };

    size_tables(&mut area, superblock, most, most * data_pages);
    let nr_entries = area.nr_segment_pages + area.nr_open_pages + area.nr_directory_pages;
    let root_pages = 1 + entry_pages(nr_entries);
    superblock.root_pages = root_pages as u32;
    superblock.root_dpn = [FIRST_ROOT_DPN, FIRST_ROOT_DPN + root_pages];
    superblock.journal_dpn = FIRST_ROOT_DPN + 2 * root_pages;
    area.tables_dpn = superblock.journal_dpn + u64::from(superblock.journal_sectors / PAGE_SECTORS);
    area.segments_dpn = area
        .tables_end()
        .next_multiple_of(u64::from(superblock.stripe_pages));

    let room = superblock
        .nr_device_pages
        .checked_sub(area.segments_dpn)
        .ok_or(MakeError::DeviceTooSmall)?;
    let nr_segments = room / segment_pages;
    if nr_segments < MIN_SEGMENTS {
        return Err(MakeError::DeviceTooSmall);
    }
    if nr_segments >= u64::from(u32::MAX) {
        return Err(MakeError::TooManySegments);
    }
    let reserved = (nr_segments * u64::from(reserve_permille) / 1000).max(RESERVED_SEGMENTS);
    superblock.nr_lpns = (nr_segments - reserved) * data_pages;
    size_tables(&mut area, superblock, nr_segments, superblock.nr_lpns);
    superblock.areas = vec![area];
    Ok(())
}

/// Features that an older version must refuse.
fn incompat(request: &Request) -> u64 {
    [
        (request.checksums, INCOMPAT_CHECKSUMS),
        (request.drafts, INCOMPAT_DRAFTS),
    ]
    .iter()
    .filter(|(is_wanted, _)| *is_wanted)
    .fold(0, |features, (_, feature)| features | feature)
}

/// The superblock of epoch 1 of a new device.
///
/// # Errors
///
/// Says what of the request is impossible.
pub fn make(request: &Request) -> Result<Super, MakeError> {
    check(request)?;
    let segment_pages = request
        .segment_pages
        .unwrap_or_else(|| chosen_segment_pages(request));
    let mut superblock = Super {
        uuid: request.uuid,
        epoch: 1,
        incompat: incompat(request),
        nr_device_pages: request.nr_device_pages,
        stripe_pages: request.stripe_pages,
        segment_pages,
        summary_pages: summary_pages(segment_pages),
        journal_sectors: request
            .journal_sectors
            .unwrap_or_else(|| chosen_journal_sectors(request)),
        journal_unit_sectors: request.journal_unit_sectors,
        ..Super::default()
    };

    for (to, from) in superblock.label.iter_mut().zip(request.label.bytes()) {
        *to = from;
    }
    lay_out(&mut superblock, request.reserve_permille)?;
    Ok(superblock)
}

/// A device of 390 MiB, for tests.
#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub fn small_device() -> Super {
    make(&Request {
        uuid: [7; 16],
        label: String::new(),
        nr_device_pages: 100_000,
        stripe_pages: 8,
        segment_pages: Some(512),
        journal_sectors: Some(1024),
        journal_unit_sectors: 1,
        reserve_permille: 100,
        checksums: false,
        drafts: true,
    })
    .unwrap()
}
