// SPDX-License-Identifier: GPL-2.0-only
//! Records of the journal: what one operation does to map and segment table. An operation counts as
//! a whole or not at all, whatever its records are.

use std::fmt;

use zerocopy::FromBytes;

use super::block::crc32c;
use super::layout::{
    number_of, RecordMapBlock, RecordRangeBlock, RecordSegmentBlock, RecordSumsBlock,
    MAX_RECORD_SUMS, RECORD_CLOSE, RECORD_DEAD, RECORD_END, RECORD_FREE, RECORD_MAP, RECORD_OPEN,
    RECORD_SUMS, RECORD_TRIM, SUM_BYTES,
};

/// Pages that one operation maps or trims.
pub const MAX_OP_PAGES: u64 = 512;

/// Records of one operation but those of checksums: each of its pages may have been at a place of
/// its own.
pub const MAX_OP_RECORDS: usize = 1 + MAX_OP_PAGES as usize;

/// What a record says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Record {
    /// lpns are at consecutive places from now on.
    Map {
        lpn: u64,
        dpn: u64,
        nr_pages: u64,
    },
    /// lpns hold nothing any more.
    Trim {
        lpn: u64,
        nr_pages: u64,
    },
    /// Places lost their pages by it.
    Dead {
        dpn: u64,
        nr_pages: u64,
    },
    /// A free segment is opened, with that open summary.
    Open {
        segment: u64,
        open: u8,
        mtime: u64,
    },
    Close {
        segment: u64,
        open: u8,
        mtime: u64,
    },
    Free {
        segment: u64,
        open: u8,
        mtime: u64,
    },
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Map { lpn, dpn, nr_pages } => {
                write!(f, "map lpn={lpn} dpn={dpn} pages={nr_pages}")
            }
            Self::Trim { lpn, nr_pages } => write!(f, "trim lpn={lpn} pages={nr_pages}"),
            Self::Dead { dpn, nr_pages } => write!(f, "dead dpn={dpn} pages={nr_pages}"),
            Self::Open {
                segment,
                open,
                mtime,
            } => {
                write!(f, "open segment={segment} open={open} mtime={mtime}")
            }
            Self::Close {
                segment,
                open,
                mtime,
            } => {
                write!(f, "close segment={segment} open={open} mtime={mtime}")
            }
            Self::Free {
                segment,
                open,
                mtime,
            } => {
                write!(f, "free segment={segment} open={open} mtime={mtime}")
            }
        }
    }
}

/// A checksum of checksums, by which many of them can be compared. `seed` is !0, or that of those
/// before.
pub fn sum_of(seed: u32, sums: &[u32]) -> u32 {
    sums.iter()
        .fold(seed, |crc, sum| crc32c(crc, &sum.to_le_bytes()))
}

/// What a record can be.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum What {
    Record(Record),
    /// Checksums of pages that the MAP before it maps.
    Sums(Box<[u32]>),
}

/// A record as it was read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReadRecord {
    pub what: What,
    /// It ends its operation.
    pub is_last: bool,
}

/// Read the record that the bytes begin with. Returns it and the bytes behind it, or `None`
/// if it is none.
pub fn decode(bytes: &[u8]) -> Option<(ReadRecord, &[u8])> {
    let kind = bytes.first()?;
    let is_last = kind & RECORD_END != 0;
    let (record, rest) = match kind & !RECORD_END {
        RECORD_SUMS => {
            let (sums, rest) = decode_sums(bytes)?;
            let what = What::Sums(sums);
            return Some((ReadRecord { what, is_last }, rest));
        }
        RECORD_MAP => {
            let (block, rest) = RecordMapBlock::ref_from_prefix(bytes).ok()?;
            let record = Record::Map {
                lpn: number_of(&block.lpn),
                dpn: number_of(&block.dpn),
                nr_pages: nr_pages(block.nr_pages)?,
            };
            (record, rest)
        }
        kind @ (RECORD_DEAD | RECORD_TRIM) => {
            let (block, rest) = RecordRangeBlock::ref_from_prefix(bytes).ok()?;
            let nr_pages = nr_pages(block.nr_pages)?;
            let first = number_of(&block.first);
            let record = if kind == RECORD_DEAD {
                Record::Dead {
                    dpn: first,
                    nr_pages,
                }
            } else {
                Record::Trim {
                    lpn: first,
                    nr_pages,
                }
            };
            (record, rest)
        }
        kind @ (RECORD_OPEN | RECORD_CLOSE | RECORD_FREE) => {
            let (block, rest) = RecordSegmentBlock::ref_from_prefix(bytes).ok()?;
            let segment = number_of(&block.segment);
            let (open, mtime) = (block.open, number_of(&block.mtime));
            let record = match kind {
                RECORD_OPEN => Record::Open {
                    segment,
                    open,
                    mtime,
                },
                RECORD_CLOSE => Record::Close {
                    segment,
                    open,
                    mtime,
                },
                _ => Record::Free {
                    segment,
                    open,
                    mtime,
                },
            };
            (record, rest)
        }
        _ => return None,
    };
    let what = What::Record(record);
    Some((ReadRecord { what, is_last }, rest))
}

/// The checksums of a record, and the bytes behind it.
fn decode_sums(bytes: &[u8]) -> Option<(Box<[u32]>, &[u8])> {
    let (block, rest) = RecordSumsBlock::ref_from_prefix(bytes).ok()?;
    let nr_sums = usize::from(block.nr_pages);
    if !(1..=MAX_RECORD_SUMS).contains(&nr_sums) {
        return None;
    }
    let (sums, rest) = rest.split_at_checked(nr_sums * SUM_BYTES)?;
    let sums = sums.chunks_exact(SUM_BYTES);
    Some((sums.map(|sum| number_of(sum) as u32).collect(), rest))
}

fn nr_pages(bytes: [u8; 2]) -> Option<u64> {
    let nr_pages = u64::from(u16::from_le_bytes(bytes));
    (1..=MAX_OP_PAGES).contains(&nr_pages).then_some(nr_pages)
}

#[cfg(test)]
mod tests {
    use super::{crc32c, decode, sum_of, ReadRecord, Record, What};

    #[test]
    fn records_are_read_as_the_header_says() {
        let map = [0x81, 2, 1, 1, 0, 0, 0, 1, 5, 6, 0, 0, 0, 99];
        let (read, rest) = decode(&map).unwrap();
        let record = Record::Map {
            lpn: 1 | 1 << 32,
            dpn: 5 | 6 << 8,
            nr_pages: 258,
        };
        assert_eq!(
            read,
            ReadRecord {
                what: What::Record(record),
                is_last: true
            }
        );
        assert_eq!(rest, [99]);
        let (read, _) = decode(&[3, 1, 0, 7, 0, 0, 0, 0]).unwrap();
        assert_eq!(
            read.what,
            What::Record(Record::Trim {
                lpn: 7,
                nr_pages: 1
            })
        );
        assert!(!read.is_last);
        let (read, _) = decode(&[4, 3, 9, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        let record = Record::Open {
            segment: 9,
            open: 3,
            mtime: 8,
        };
        assert_eq!(read.what, What::Record(record));
        let (read, rest) = decode(&[0x87, 2, 1, 0, 0, 0, 2, 3, 4, 5, 9]).unwrap();
        assert_eq!(read.what, What::Sums([1, 0x0504_0302].into()));
        assert!(read.is_last);
        assert_eq!(rest, [9]);
    }

    #[test]
    fn checksums_have_one() {
        let bytes: Vec<u8> = (1..9).collect();
        let sums = [0x0403_0201, 0x0807_0605];
        assert_eq!(sum_of(!0, &sums), crc32c(!0, &bytes));
        assert_eq!(
            sum_of(sum_of(!0, &sums[..1]), &sums[1..]),
            sum_of(!0, &sums)
        );
    }

    #[test]
    fn what_is_no_record_is_refused() {
        for bytes in [
            &[][..],
            &[0],
            &[8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            &[7, 0, 0, 0, 0, 0],
            &[7, 2, 1, 0, 0, 0, 2, 0, 0],
            &[&[7, 120][..], &[0; 480]].concat(),
            &[1, 1, 0, 1, 0, 0, 0, 0, 5, 0, 0, 0],
            &[2, 0, 0, 1, 0, 0, 0, 0],
            &[2, 1, 2, 1, 0, 0, 0, 0],
            &[6, 0, 0],
        ] {
            assert_eq!(decode(bytes), None, "{bytes:?}");
        }
    }
}
