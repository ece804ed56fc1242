// SPDX-License-Identifier: GPL-2.0-only
//! btrfs: where its addresses are on the device below, and having it bring pieces of files together.
//!
//! FIEMAP answers in addresses of btrfs' own. Chunks say where those are: on one device, on several, or
//! twice. Followed is what is once on one device (the profile single).

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::fiemap::Extent;
use crate::device::stack;
use crate::units::DeviceNumber;

pub const FS_TYPE: &str = "btrfs";

/// Items of the tree of chunks: `(256, 228, address)`.
const CHUNK_TREE: u64 = 3;
const CHUNK_OBJECT: u64 = 256;
const CHUNK_ITEM: u32 = 228;

/// What a chunk holds: data, the tree of chunks, metadata. All other bits of its type say how.
const WHAT: u64 = 0x1 | 0x2 | 0x4;

const PROFILES: [(u64, &str); 8] = [
    (0x8, "raid0"),
    (0x10, "raid1"),
    (0x20, "dup"),
    (0x40, "raid10"),
    (0x80, "raid5"),
    (0x100, "raid6"),
    (0x200, "raid1c3"),
    (0x400, "raid1c4"),
];

#[derive(Debug, Error)]
pub enum BtrfsError {
    #[error("btrfs does not tell where its addresses are on a device: {0}")]
    NoChunks(io::Error),
    #[error(
        "it lies on a btrfs that keeps data as {0}; only what is single is followed to the device"
    )]
    Profile(&'static str),
    #[error("it lies on several devices of its btrfs")]
    Devices,
    #[error("btrfs has moved it meanwhile; look again")]
    Moved,
}

/// Addresses in a row, and where they are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Chunk {
    begin: u64,
    bytes: u64,
    kind: u64,
    device_id: u64,
    /// Bytes from the beginning of that device
    place: u64,
}

/// `struct btrfs_ioctl_search_key`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct SearchKey {
    tree: u64,
    min_object: u64,
    max_object: u64,
    min_offset: u64,
    max_offset: u64,
    min_transaction: u64,
    max_transaction: u64,
    min_kind: u32,
    max_kind: u32,
    nr_items: u32,
    unused: u32,
    unused64: [u64; 4],
}

const SEARCH_BYTES: usize = 4096 - size_of::<SearchKey>();

#[repr(C)]
struct Search {
    key: SearchKey,
    found: [u8; SEARCH_BYTES],
}

/// Before each item that was found: transaction, object, offset, kind and length.
const HEAD_BYTES: usize = 32;

const PATH_BYTES: usize = 1024;

/// `struct btrfs_ioctl_dev_info_args`
#[repr(C)]
struct DeviceInfo {
    id: u64,
    uuid: [u8; 16],
    unused: [u64; 381],
    path: [u8; PATH_BYTES],
}

/// `struct btrfs_ioctl_fs_info_args`
#[repr(C)]
struct FsInfo {
    max_id: u64,
    nr_devices: u64,
    uuid: [u8; 16],
    unused: [u64; 124],
}

/// `struct btrfs_ioctl_defrag_range_args`
#[repr(C)]
#[derive(Debug, Default)]
struct DefragRange {
    start: u64,
    len: u64,
    flags: u64,
    extent_thresh: u32,
    compress_type: u32,
    unused: [u32; 4],
}

nix::ioctl_readwrite!(btrfs_ioc_tree_search, 0x94, 17, Search);
nix::ioctl_readwrite!(btrfs_ioc_dev_info, 0x94, 30, DeviceInfo);
nix::ioctl_read!(btrfs_ioc_fs_info, 0x94, 31, FsInfo);
nix::ioctl_write_ptr!(btrfs_ioc_defrag_range, 0x94, 16, DefragRange);

fn number(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

fn number32(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

/// A chunk and its first copy, or stripe; others are of no use to us.
fn chunk(begin: u64, item: &[u8]) -> Option<Chunk> {
    Some(Chunk {
        begin,
        bytes: number(item, 0)?,
        kind: number(item, 24)?,
        device_id: number(item, 48)?,
        place: number(item, 56)?,
    })
}

/// The chunks among what a search has found.
fn chunks_in(mut found: &[u8], nr_items: u32) -> Option<Vec<Chunk>> {
    let mut chunks = Vec::new();

    for _ in 0..nr_items {
        let (head, rest) = found.split_at_checked(HEAD_BYTES)?;
        let (item, rest) = rest.split_at_checked(number32(head, 28)? as usize)?;
        if number(head, 8)? == CHUNK_OBJECT && number32(head, 24)? == CHUNK_ITEM {
            chunks.push(chunk(number(head, 16)?, item)?);
        }
        found = rest;
    }
    Some(chunks)
}

/// All chunks of the filesystem, by their addresses.
fn chunks_of(file: &File) -> io::Result<Vec<Chunk>> {
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut from = 0;

    loop {
        let mut search = Search {
            key: SearchKey {
                tree: CHUNK_TREE,
                min_object: CHUNK_OBJECT,
                max_object: CHUNK_OBJECT,
                min_offset: from,
                max_offset: u64::MAX,
                min_transaction: 0,
                max_transaction: u64::MAX,
                min_kind: CHUNK_ITEM,
                max_kind: CHUNK_ITEM,
                nr_items: u32::MAX,
                unused: 0,
                unused64: [0; 4],
            },
            found: [0; SEARCH_BYTES],
        };
        // SAFETY: the descriptor is open while the file lives, and the kernel reads and writes
        // the structure only.
        unsafe { btrfs_ioc_tree_search(file.as_raw_fd(), &mut search) }?;
        let found = chunks_in(&search.found, search.key.nr_items)
            .ok_or_else(|| io::Error::other("its answer is cut off"))?;
        let Some(last) = found.last() else {
            return Ok(chunks);
        };
        from = last.begin.saturating_add(1);
        chunks.extend(found);
    }
}

/// Where addresses are: on one device, as far as one chunk goes.
fn place_of(chunks: &[Chunk], address: u64) -> Result<&Chunk, BtrfsError> {
    let after = chunks.partition_point(|chunk| chunk.begin <= address);
    let chunk = after.checked_sub(1).and_then(|nr| chunks.get(nr));
    let chunk = chunk.filter(|chunk| address - chunk.begin < chunk.bytes);
    let chunk = chunk.ok_or(BtrfsError::Moved)?;
    let how = chunk.kind & !WHAT;

    if how != 0 {
        let profile = PROFILES.iter().find(|(bit, _)| how & bit != 0);
        return Err(BtrfsError::Profile(
            profile.map_or("nobody knows what", |(_, name)| name),
        ));
    }
    Ok(chunk)
}

/// Extents with places on the device instead of btrfs' addresses, and that device's id. Extents without
/// pages on the device stay as they are.
fn follow(chunks: &[Chunk], extents: &[Extent]) -> Result<(Vec<Extent>, Option<u64>), BtrfsError> {
    let mut found = Vec::new();
    let mut on = None;

    for extent in extents {
        let mut left = *extent;
        while left.length > 0 && left.holds_pages() {
            let chunk = place_of(chunks, left.physical)?;
            if on.is_some_and(|id| id != chunk.device_id) {
                return Err(BtrfsError::Devices);
            }
            on = Some(chunk.device_id);
            let within = left.physical - chunk.begin;
            let length = left.length.min(chunk.bytes - within);
            let place = chunk.place.saturating_add(within);
            found.push(Extent::new(left.logical, place, length, left.flags));
            left.logical = left.logical.saturating_add(length);
            left.physical = left.physical.saturating_add(length);
            left.length -= length;
        }
        if !extent.holds_pages() {
            found.push(*extent);
        }
    }
    Ok((found, on))
}

/// A device of the filesystem.
fn device(file: &File, id: u64) -> io::Result<DeviceNumber> {
    let mut info = DeviceInfo {
        id,
        uuid: [0; 16],
        unused: [0; 381],
        path: [0; PATH_BYTES],
    };

    // SAFETY: the descriptor is open while the file lives, and the kernel reads and writes the
    // structure only.
    unsafe { btrfs_ioc_dev_info(file.as_raw_fd(), &mut info) }?;
    let path = CStr::from_bytes_until_nul(&info.path).map_err(io::Error::other)?;
    stack::number_of(Path::new(std::ffi::OsStr::from_bytes(path.to_bytes())))
}

fn fs_info(file: &File) -> io::Result<FsInfo> {
    let mut info = FsInfo {
        max_id: 0,
        nr_devices: 0,
        uuid: [0; 16],
        unused: [0; 124],
    };

    // SAFETY: as above.
    unsafe { btrfs_ioc_fs_info(file.as_raw_fd(), &mut info) }?;
    Ok(info)
}

/// The only device of the filesystem that a file or folder belongs to.
///
/// # Errors
///
/// When it has several, or does not tell.
pub fn only_device(file: &File) -> Result<DeviceNumber, BtrfsError> {
    let info = fs_info(file).map_err(BtrfsError::NoChunks)?;
    if info.nr_devices != 1 {
        return Err(BtrfsError::Devices);
    }
    device(file, info.max_id).map_err(BtrfsError::NoChunks)
}

/// Where a file's extents are, and on which device. A file that has no pages is on the only one.
///
/// # Errors
///
/// When there is not one place for each, on the same device.
pub fn on_device(
    file: &File,
    extents: &[Extent],
) -> Result<(Vec<Extent>, DeviceNumber), BtrfsError> {
    let chunks = chunks_of(file).map_err(BtrfsError::NoChunks)?;
    let (extents, on) = follow(&chunks, extents)?;
    let device = match on {
        Some(id) => device(file, id).map_err(BtrfsError::NoChunks)?,
        None => only_device(file)?,
    };
    Ok((extents, device))
}

/// The folder in sysfs of what the filesystem reads ahead, which is more than its disks do.
///
/// # Errors
///
/// When it does not tell who it is.
pub fn backing_info(file: &File) -> io::Result<PathBuf> {
    let mut name = String::new();
    for (nr, byte) in fs_info(file)?.uuid.iter().enumerate() {
        if [4, 6, 8, 10].contains(&nr) {
            name.push('-');
        }
        name.push_str(&format!("{byte:02x}"));
    }
    Ok(Path::new("/sys/fs/btrfs").join(name).join("bdi"))
}

/// Mark bytes of a file, as far as they are in pieces, to be written to new places: `BTRFS_IOC_DEFRAG_RANGE`. The
/// kernel holds off others meanwhile. It does so as well where files are overwritten in place (`chattr +C`).
///
/// # Errors
///
/// When the filesystem refuses.
pub fn defragment(file: &File, bytes: &Range<u64>) -> io::Result<()> {
    let request = DefragRange {
        start: bytes.start,
        len: bytes.end.saturating_sub(bytes.start),
        extent_thresh: u32::MAX,
        ..DefragRange::default()
    };

    // SAFETY: the descriptor is open while the file lives, and the kernel reads the structure only.
    unsafe { btrfs_ioc_defrag_range(file.as_raw_fd(), &request) }?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{
        chunks_in, follow, BtrfsError, Chunk, DefragRange, DeviceInfo, FsInfo, Search, SearchKey,
    };
    use crate::fs::fiemap::Extent;

    const INLINE: u32 = 0x200;

    #[test]
    fn structures_are_the_kernel_s() {
        assert_eq!(size_of::<SearchKey>(), 104);
        assert_eq!(size_of::<Search>(), 4096);
        assert_eq!(size_of::<DeviceInfo>(), 4096);
        assert_eq!(size_of::<FsInfo>(), 1024);
        assert_eq!(size_of::<DefragRange>(), 48);
    }

    fn chunk(begin: u64, bytes: u64, kind: u64, device_id: u64, place: u64) -> Chunk {
        Chunk {
            begin,
            bytes,
            kind,
            device_id,
            place,
        }
    }

    /// What a search finds: a chunk, and something else.
    fn found() -> Vec<u8> {
        let mut bytes = Vec::new();
        for (kind, length) in [(228u32, 80u32), (216, 8)] {
            for number in [9u64, 256, 1 << 20] {
                bytes.extend(number.to_le_bytes());
            }
            bytes.extend(kind.to_le_bytes());
            bytes.extend(length.to_le_bytes());
            // Length, owner, stripe length, type, ..., then the device and the place on it
            let item: Vec<u8> = [8 << 20, 2, 65536, 1, 0, 0x1_0000, 7, 3 << 20, 0, 0]
                .iter()
                .flat_map(|number: &u64| number.to_le_bytes())
                .collect();
            bytes.extend(&item[..length as usize]);
        }
        bytes
    }

    #[test]
    fn chunks_are_found_in_the_answer() {
        let found = found();
        let one = chunk(1 << 20, 8 << 20, 1, 7, 3 << 20);
        assert_eq!(chunks_in(&found, 2), Some(vec![one]));
        assert_eq!(chunks_in(&found, 0), Some(vec![]));
        // An answer that is cut off anywhere is none.
        for end in 0..found.len() {
            assert_eq!(chunks_in(&found[..end], 2), None, "{end}");
        }
    }

    fn three_chunks() -> [Chunk; 3] {
        [
            chunk(1000 << 12, 100 << 12, 1, 1, 5000 << 12),
            chunk(1100 << 12, 100 << 12, 1, 1, 2000 << 12),
            chunk(1500 << 12, 100 << 12, 1, 2, 0),
        ]
    }

    fn extent(logical: u64, physical: u64, pages: u64, flags: u32) -> Extent {
        Extent::new(logical << 12, physical << 12, pages << 12, flags)
    }

    #[test]
    fn addresses_are_followed_and_cut_where_chunks_end() {
        let chunks = three_chunks();
        let (found, on) = follow(
            &chunks,
            &[extent(0, 1090, 20, 0x2000), extent(20, 0, 1, INLINE)],
        )
        .unwrap();
        assert_eq!(on, Some(1));
        assert_eq!(
            found,
            [
                extent(0, 5090, 10, 0x2000),
                extent(10, 2000, 10, 0x2000),
                extent(20, 0, 1, INLINE)
            ]
        );
        assert_eq!(follow(&chunks, &[]).unwrap(), (vec![], None));
    }

    #[test]
    fn what_has_not_one_place_is_an_error() {
        let mut chunks = three_chunks();
        let two = [extent(0, 1000, 1, 0), extent(1, 1500, 1, 0)];
        assert!(matches!(follow(&chunks, &two), Err(BtrfsError::Devices)));
        for outside in [0, 999, 1200, 1499, 1600, u64::MAX >> 12] {
            let one = [extent(0, outside, 1, 0)];
            assert!(matches!(follow(&chunks, &one), Err(BtrfsError::Moved)));
        }
        for (kind, name) in [(0x21, "dup"), (0x9, "raid0"), (0x801, "nobody knows what")] {
            chunks[0].kind = kind;
            let message = follow(&chunks, &[extent(0, 1000, 1, 0)])
                .unwrap_err()
                .to_string();
            assert!(message.contains(name), "{message}");
        }
    }
}
