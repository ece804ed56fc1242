// SPDX-License-Identifier: GPL-2.0-only
//! What each die of an SSD has done, by the vendor log page of `include/dieaware/hint.h`: a file
//! that is badly spread is seen by some dies being busy while others wait.

use std::io;

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use super::Namespace;

/// More dies than this no SSD has.
const MOST_DIES: u32 = 4096;

const HEADER_BYTES: usize = 64;

/// `struct dieaware_log_dies`, without the dies.
#[derive(Clone, Debug, FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Header {
    version: U16,
    entry_bytes: U16,
    nr_dies: U32,
    hints_append: U64,
    hints_overwrite: U64,
    hints_ignored: U64,
    writes_plain: U64,
    reserved: [u8; 24],
}

/// `struct dieaware_die_stats`.
#[derive(Clone, Debug, FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Entry {
    units_read: U64,
    units_programmed: U64,
    eblks_erased: U64,
    pages_host: U64,
    pages_gc: U64,
    pages_valid: U64,
    busy_ns: U64,
    reserved: U64,
}

/// What a die has done since the SSD was made.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Die {
    pub units_read: u64,
    pub units_programmed: u64,
    pub eblks_erased: u64,
    pub pages_host: u64,
    pub pages_gc: u64,
    pub pages_valid: u64,
    pub busy_ns: u64,
}

/// What an SSD has done since it was made.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Statistics {
    /// Commands placed by a hint,
    pub hints_append: u64,
    pub hints_overwrite: u64,
    /// with one that could not be used,
    pub hints_ignored: u64,
    /// and without.
    pub writes_plain: u64,
    pub dies: Vec<Die>,
}

fn parse(data: &[u8], entry_bytes: usize) -> Vec<Die> {
    let entries = data.chunks_exact(entry_bytes.max(size_of::<Entry>()));
    entries
        .filter_map(|entry| Entry::ref_from_prefix(entry).ok())
        .map(|(entry, _)| Die {
            units_read: entry.units_read.get(),
            units_programmed: entry.units_programmed.get(),
            eblks_erased: entry.eblks_erased.get(),
            pages_host: entry.pages_host.get(),
            pages_gc: entry.pages_gc.get(),
            pages_valid: entry.pages_valid.get(),
            busy_ns: entry.busy_ns.get(),
        })
        .collect()
}

/// All dies of an SSD; empty if it does not tell.
///
/// # Errors
///
/// When it cannot be asked.
pub fn dies(namespace: &Namespace) -> io::Result<Vec<Die>> {
    Ok(statistics(namespace)?.unwrap_or_default().dies)
}

/// What an SSD has done; `None` if it does not tell.
///
/// # Errors
///
/// When it cannot be asked.
pub fn statistics(namespace: &Namespace) -> io::Result<Option<Statistics>> {
    let Some(id) = namespace.id()?.filter(|id| id.log_dies != 0) else {
        return Ok(None);
    };
    let mut head = [0; HEADER_BYTES];
    namespace.log_page(id.log_dies, 0, 0, &mut head)?;
    let Ok((header, _)) = Header::ref_from_prefix(&head) else {
        return Ok(None);
    };
    let entry_bytes = usize::from(header.entry_bytes.get());
    let nr_dies = header.nr_dies.get().min(MOST_DIES) as usize;

    if entry_bytes < size_of::<Entry>() || entry_bytes % 4 != 0 {
        return Ok(None);
    }
    let mut data = vec![0; HEADER_BYTES + nr_dies * entry_bytes];
    namespace.log_page(id.log_dies, 0, 0, &mut data)?;
    Ok(Some(Statistics {
        hints_append: header.hints_append.get(),
        hints_overwrite: header.hints_overwrite.get(),
        hints_ignored: header.hints_ignored.get(),
        writes_plain: header.writes_plain.get(),
        dies: parse(data.get(HEADER_BYTES..).unwrap_or(&[]), entry_bytes),
    }))
}

#[cfg(test)]
mod tests {
    use super::{parse, Die, Entry, Header};

    #[test]
    fn entries_may_be_longer_than_known() {
        assert_eq!((size_of::<Header>(), size_of::<Entry>()), (64, 64));
        let mut data = vec![0; 160];
        data[0] = 5;
        data[80 + 8] = 7;
        data[80 + 48] = 9;
        let second = Die {
            units_programmed: 7,
            busy_ns: 9,
            ..Die::default()
        };
        let dies = parse(&data, 80);
        assert_eq!((dies.len(), dies[0].units_read, dies[1]), (2, 5, second));
        assert_eq!(parse(&data[..79], 80).len(), 0);
        assert_eq!(parse(&data, 0).len(), 2);
    }
}
