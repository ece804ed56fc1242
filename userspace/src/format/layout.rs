// SPDX-License-Identifier: GPL-2.0-only
//! Every structure of `include/dieaware/format.h`, written a second time by hand. A test
//! holds both against `tests/golden/format.layout`.
//!
//! All numbers are little-endian and lie at any address, so a structure can be looked at
//! where it was read.

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

pub const FORMAT_VERSION: u16 = 1;

pub const BLOCK_BYTES: usize = 4096;
pub const SECTOR_BYTES: usize = 512;
pub const UUID_BYTES: usize = 16;
pub const LABEL_BYTES: usize = 32;

pub const SUPER_DPN_A: u64 = 0;
pub const SUPER_DPN_B: u64 = 16;
pub const FIRST_ROOT_DPN: u64 = 32;

pub const MAGIC_SUPER: u32 = 0x6253_446d;
pub const MAGIC_ROOT: u32 = 0x7452_446d;
pub const MAGIC_DIRECTORY: u32 = 0x7244_446d;
pub const MAGIC_MAP: u32 = 0x704d_446d;
pub const MAGIC_SEGMENTS: u32 = 0x6753_446d;
pub const MAGIC_SUMMARY: u32 = 0x6d53_446d;
pub const MAGIC_OPEN: u32 = 0x704f_446d;
pub const MAGIC_JOURNAL: u32 = 0x6e4a_446d;

pub const MAX_AREAS: usize = 16;
pub const SUPER_NEEDS_CHECK: u32 = 1 << 0;
/// In [`SuperBlock::incompat`]: the map has [`MapSumsBlock`]s.
pub const INCOMPAT_CHECKSUMS: u64 = 1 << 0;
/// Likewise: the journal has sectors with [`SECTOR_DRAFT`].
pub const INCOMPAT_DRAFTS: u64 = 1 << 1;
pub const ROOT_CLEAN: u32 = 1 << 0;
pub const ENTRIES_PER_PAGE: usize = 504;
pub const DPN_BYTES: usize = 5;
pub const MAP_ENTRIES: usize = 806;
pub const SUM_BYTES: usize = 4;
pub const MAP_SUMS_ENTRIES: usize = 448;
pub const SEGMENT_FREE: u8 = 0;
pub const SEGMENT_OPEN: u8 = 1;
pub const SEGMENT_CLOSED: u8 = 2;
pub const SEGMENTS_PER_PAGE: usize = 252;
pub const SUMMARIES_PER_PAGE: usize = 168;
pub const MAX_OPEN: usize = 8;
pub const RECORDS_BYTES: usize = 480;
pub const MAX_BATCH_SECTORS: u64 = 256;

/// In [`JournalSector::nr_bytes`]: the sector begins a batch.
pub const SECTOR_FIRST: u16 = 0x8000;
/// There, along with [`SECTOR_FIRST`]: the batch was written along with the data that it names.
pub const SECTOR_DRAFT: u16 = 0x4000;
pub const MAX_DRAFT_PAGES: u64 = 8;

pub const RECORD_MAP: u8 = 1;
pub const RECORD_DEAD: u8 = 2;
pub const RECORD_TRIM: u8 = 3;
pub const RECORD_OPEN: u8 = 4;
pub const RECORD_CLOSE: u8 = 5;
pub const RECORD_FREE: u8 = 6;
pub const RECORD_SUMS: u8 = 7;
pub const RECORD_END: u8 = 0x80;

pub const MAX_RECORD_SUMS: usize = 119;

/// A page as it is read and written.
pub type Page = [u8; BLOCK_BYTES];

/// A sector of the journal as it is read and written.
pub type Sector = [u8; SECTOR_BYTES];

/// A member of a structure, for the comparison with the C header.
pub struct Member {
    pub name: &'static str,
    pub offset: usize,
    pub bytes: usize,
}

/// A structure, for the comparison with the C header.
pub struct Layout {
    pub name: &'static str,
    pub bytes: usize,
    pub members: &'static [Member],
}

macro_rules! structures {
    ($($(#[$doc:meta])* $name:ident = $c_name:literal, $bytes:literal bytes {
        $($member:ident: $ty:ty,)*
    })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned)]
            #[repr(C)]
            pub struct $name {
                $(pub $member: $ty,)*
            }

            const _: () = assert!(size_of::<$name>() == $bytes);
        )*

        /// All structures, in the order of the header.
        pub const STRUCTURES: &[Layout] = &[
            $(Layout {
                name: $c_name,
                bytes: size_of::<$name>(),
                members: &[
                    $(Member {
                        name: stringify!($member),
                        offset: std::mem::offset_of!($name, $member),
                        bytes: size_of::<$ty>(),
                    },)*
                ],
            },)*
        ];
    };
}

structures! {
    /// Begins every page of metadata.
    BlockHeader = "dmda_block_header", 64 bytes {
        crc: U32,
        magic: U32,
        version: U16,
        nr_entries: U16,
        reserved: U32,
        dpn: U64,
        index: U64,
        seq: U64,
        epoch: U64,
        uuid: [u8; UUID_BYTES],
    }

    /// A part of the device that was added at once.
    AreaBlock = "dmda_area_block", 56 bytes {
        tables_dpn: U64,
        nr_segment_pages: U64,
        nr_open_pages: U64,
        nr_directory_pages: U64,
        nr_map_pages: U64,
        segments_dpn: U64,
        nr_segments: U64,
    }

    /// The superblock.
    SuperBlock = "dmda_super_block", 4096 bytes {
        header: BlockHeader,
        compat: U64,
        ro_compat: U64,
        incompat: U64,
        nr_device_pages: U64,
        nr_lpns: U64,
        segment_pages: U32,
        summary_pages: U32,
        stripe_pages: U32,
        journal_sectors: U32,
        journal_unit_sectors: U32,
        flags: U32,
        journal_dpn: U64,
        root_dpn: [U64; 2],
        root_pages: U32,
        nr_areas: U32,
        label: [u8; LABEL_BYTES],
        area: [AreaBlock; MAX_AREAS],
        reserved: [u8; 3008],
    }

    /// First page of a root.
    RootBlock = "dmda_root_block", 4096 bytes {
        header: BlockHeader,
        journal_sector: U64,
        next_seq: U64,
        chain: U32,
        flags: U32,
        nr_segment_entries: U64,
        nr_open_entries: U64,
        nr_directory_entries: U64,
        pages_written: U64,
        reserved: [u8; 3976],
    }

    /// Which slot of a page is the valid one.
    SlotEntryBlock = "dmda_slot_entry", 8 bytes {
        seq_slot: U64,
    }

    /// A page of slot entries: of a root, or of the directory.
    SlotsBlock = "dmda_slots_block", 4096 bytes {
        header: BlockHeader,
        entry: [SlotEntryBlock; ENTRIES_PER_PAGE],
    }

    /// A page of the map.
    MapBlock = "dmda_map_block", 4096 bytes {
        header: BlockHeader,
        dpn: [u8; MAP_ENTRIES * DPN_BYTES],
        reserved: [u8; 2],
    }

    /// A page of the map of a device with checksums.
    MapSumsBlock = "dmda_map_sums_block", 4096 bytes {
        header: BlockHeader,
        dpn: [u8; MAP_SUMS_ENTRIES * DPN_BYTES],
        sum: [U32; MAP_SUMS_ENTRIES],
    }

    /// A segment.
    SegmentEntryBlock = "dmda_segment_entry", 16 bytes {
        nr_valid: U32,
        state: u8,
        open: u8,
        reserved: U16,
        mtime: U64,
    }

    /// A page of the segment table.
    SegmentsBlock = "dmda_segments_block", 4096 bytes {
        header: BlockHeader,
        segment: [SegmentEntryBlock; SEGMENTS_PER_PAGE],
    }

    /// What a page of a segment is.
    SummaryEntryBlock = "dmda_summary_entry", 24 bytes {
        lpn: [u8; 5],
        seq: [u8; 6],
        reserved: u8,
        fpage: U32,
        file: U64,
    }

    /// A page of a summary.
    SummaryBlock = "dmda_summary_block", 4096 bytes {
        header: BlockHeader,
        entry: [SummaryEntryBlock; SUMMARIES_PER_PAGE],
    }

    /// A sector of the journal.
    JournalSector = "dmda_journal_sector", 512 bytes {
        crc: U32,
        magic: U32,
        sector: U64,
        seq: U64,
        chain: U32,
        nr_bytes: U16,
        version: U16,
        records: [u8; RECORDS_BYTES],
    }

    /// lpns are at consecutive places from now on.
    RecordMapBlock = "dmda_record_map", 13 bytes {
        kind: u8,
        nr_pages: [u8; 2],
        lpn: [u8; 5],
        dpn: [u8; 5],
    }

    /// Checksums of pages that a MAP maps.
    RecordSumsBlock = "dmda_record_sums", 2 bytes {
        kind: u8,
        nr_pages: u8,
        sum: [[u8; SUM_BYTES]; 0],
    }

    /// Places that hold nothing any more, or lpns that are mapped to nothing.
    RecordRangeBlock = "dmda_record_range", 8 bytes {
        kind: u8,
        nr_pages: [u8; 2],
        first: [u8; 5],
    }

    /// A segment changes its state.
    RecordSegmentBlock = "dmda_record_segment", 14 bytes {
        kind: u8,
        open: u8,
        segment: [u8; 4],
        mtime: [u8; 8],
    }
}

/// The header's numbers by their names there, in its order.
pub const NUMBERS: &[(&str, u64)] = &[
    ("DMDA_FORMAT_VERSION", FORMAT_VERSION as u64),
    ("DMDA_BLOCK_BYTES", BLOCK_BYTES as u64),
    ("DMDA_SECTOR_BYTES", SECTOR_BYTES as u64),
    ("DMDA_UUID_BYTES", UUID_BYTES as u64),
    ("DMDA_SUPER_DPN_A", SUPER_DPN_A),
    ("DMDA_SUPER_DPN_B", SUPER_DPN_B),
    ("DMDA_FIRST_ROOT_DPN", FIRST_ROOT_DPN),
    ("DMDA_MAGIC_SUPER", MAGIC_SUPER as u64),
    ("DMDA_MAGIC_ROOT", MAGIC_ROOT as u64),
    ("DMDA_MAGIC_DIRECTORY", MAGIC_DIRECTORY as u64),
    ("DMDA_MAGIC_MAP", MAGIC_MAP as u64),
    ("DMDA_MAGIC_SEGMENTS", MAGIC_SEGMENTS as u64),
    ("DMDA_MAGIC_SUMMARY", MAGIC_SUMMARY as u64),
    ("DMDA_MAGIC_OPEN", MAGIC_OPEN as u64),
    ("DMDA_MAGIC_JOURNAL", MAGIC_JOURNAL as u64),
    (
        "DMDA_BODY_BYTES",
        (BLOCK_BYTES - size_of::<BlockHeader>()) as u64,
    ),
    ("DMDA_MAX_AREAS", MAX_AREAS as u64),
    ("DMDA_SUPER_NEEDS_CHECK", SUPER_NEEDS_CHECK as u64),
    ("DMDA_INCOMPAT_CHECKSUMS", INCOMPAT_CHECKSUMS),
    ("DMDA_INCOMPAT_DRAFTS", INCOMPAT_DRAFTS),
    ("DMDA_ROOT_CLEAN", ROOT_CLEAN as u64),
    ("DMDA_ENTRIES_PER_PAGE", ENTRIES_PER_PAGE as u64),
    ("DMDA_DPN_BYTES", DPN_BYTES as u64),
    ("DMDA_MAP_ENTRIES", MAP_ENTRIES as u64),
    ("DMDA_SUM_BYTES", SUM_BYTES as u64),
    ("DMDA_MAP_SUMS_ENTRIES", MAP_SUMS_ENTRIES as u64),
    ("DMDA_SEGMENT_FREE", SEGMENT_FREE as u64),
    ("DMDA_SEGMENT_OPEN", SEGMENT_OPEN as u64),
    ("DMDA_SEGMENT_CLOSED", SEGMENT_CLOSED as u64),
    ("DMDA_SEGMENTS_PER_PAGE", SEGMENTS_PER_PAGE as u64),
    ("DMDA_SUMMARIES_PER_PAGE", SUMMARIES_PER_PAGE as u64),
    ("DMDA_MAX_OPEN", MAX_OPEN as u64),
    ("DMDA_RECORDS_BYTES", RECORDS_BYTES as u64),
    ("DMDA_MAX_BATCH_SECTORS", MAX_BATCH_SECTORS),
    ("DMDA_SECTOR_FIRST", SECTOR_FIRST as u64),
    ("DMDA_SECTOR_DRAFT", SECTOR_DRAFT as u64),
    ("DMDA_MAX_DRAFT_PAGES", MAX_DRAFT_PAGES),
    ("DMDA_RECORD_MAP", RECORD_MAP as u64),
    ("DMDA_RECORD_DEAD", RECORD_DEAD as u64),
    ("DMDA_RECORD_TRIM", RECORD_TRIM as u64),
    ("DMDA_RECORD_OPEN", RECORD_OPEN as u64),
    ("DMDA_RECORD_CLOSE", RECORD_CLOSE as u64),
    ("DMDA_RECORD_FREE", RECORD_FREE as u64),
    ("DMDA_RECORD_SUMS", RECORD_SUMS as u64),
    ("DMDA_RECORD_END", RECORD_END as u64),
    ("DMDA_MAX_RECORD_SUMS", MAX_RECORD_SUMS as u64),
];

/// A number of up to eight bytes, the lowest first.
pub fn number_of(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// Everything above as the text that the golden file has.
pub fn as_text() -> String {
    let mut text = String::new();

    for (name, value) in NUMBERS {
        text += &format!("number {name} {value:#x}\n");
    }
    for layout in STRUCTURES {
        text += &format!("struct {} {}\n", layout.name, layout.bytes);
        for member in layout.members {
            text += &format!("{:6} {:5} {}\n", member.offset, member.bytes, member.name);
        }
    }
    text
}
