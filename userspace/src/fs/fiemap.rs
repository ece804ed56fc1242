// SPDX-License-Identifier: GPL-2.0-only
//! The FIEMAP and FS_IOC_GETVERSION ioctls: where a file lies, and the generation of its inode,
//! since numbers of inodes are used again.

use std::fs::File;
use std::mem::size_of;
use std::os::fd::AsRawFd;

use nix::libc::c_long;

/// Extents asked for in one call.
const BATCH: usize = 256;

/// Write dirty pages first, so that every page has its place.
const FLAG_SYNC: u32 = 1;

const EXTENT_LAST: u32 = 0x1;

/// Where a piece of a file lies, in bytes, as the filesystem reports it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[repr(C)]
pub struct Extent {
    pub logical: u64,
    pub physical: u64,
    pub length: u64,
    reserved64: [u64; 2],
    pub flags: u32,
    reserved: [u32; 3],
}

impl Extent {
    /// Not known yet, delayed, compressed or encrypted, not aligned, inline, a packed
    /// tail, or allocated but never written: no page of the file lies there as it is.
    const NO_DATA_PAGES: u32 = 0x2 | 0x4 | 0x8 | 0x100 | 0x200 | 0x400 | 0x800;

    #[must_use]
    pub fn new(logical: u64, physical: u64, length: u64, flags: u32) -> Self {
        Self {
            logical,
            physical,
            length,
            flags,
            ..Self::default()
        }
    }

    /// Do the pages of the file lie at these addresses, unchanged?
    #[must_use]
    pub fn holds_pages(&self) -> bool {
        self.flags & Self::NO_DATA_PAGES == 0
    }
}

#[repr(C)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [Extent; BATCH],
}

/// struct fiemap without its flexible array: the size that the ioctl number encodes.
const FIEMAP_HEADER_BYTES: usize = size_of::<Fiemap>() - size_of::<[Extent; BATCH]>();

nix::ioctl_readwrite_bad!(
    fs_ioc_fiemap,
    nix::request_code_readwrite!(b'f', 11, FIEMAP_HEADER_BYTES),
    Fiemap
);
nix::ioctl_read!(fs_ioc_getversion, b'v', 1, c_long);

/// The file's extents, in the order of their place in the file.
pub fn extents(file: &File) -> nix::Result<Vec<Extent>> {
    let mut found: Vec<Extent> = Vec::new();
    let mut start = 0;

    loop {
        let batch = extents_from(file, start)?;
        let Some(last) = batch.last().copied() else {
            return Ok(found);
        };
        found.extend(batch);
        let end = last.logical.saturating_add(last.length);
        // A filesystem that does not advance would keep us here for ever.
        if last.flags & EXTENT_LAST != 0 || end <= start {
            return Ok(found);
        }
        start = end;
    }
}

fn extents_from(file: &File, start: u64) -> nix::Result<Vec<Extent>> {
    let mut map = Fiemap {
        start,
        length: u64::MAX - start,
        flags: FLAG_SYNC,
        mapped_extents: 0,
        extent_count: BATCH as u32,
        reserved: 0,
        extents: [Extent::default(); BATCH],
    };

    // SAFETY: the descriptor is open while `file` lives, and the kernel fills at most
    // `extent_count` elements of the array, which is that long.
    unsafe { fs_ioc_fiemap(file.as_raw_fd(), &mut map) }?;
    let nr_mapped = (map.mapped_extents as usize).min(BATCH);
    Ok(map.extents.iter().take(nr_mapped).copied().collect())
}

/// The generation of the file's inode.
pub fn generation(file: &File) -> nix::Result<u32> {
    let mut version: c_long = 0;

    // SAFETY: the descriptor is open while `file` lives, and the kernel writes an int
    // or a long.
    unsafe { fs_ioc_getversion(file.as_raw_fd(), &mut version) }?;
    // Its number says long, but what filesystems write is an int at the first bytes.
    let [a, b, c, d, ..] = version.to_ne_bytes();
    Ok(u32::from_ne_bytes([a, b, c, d]))
}

#[cfg(test)]
mod tests {
    use super::{Extent, Fiemap, FIEMAP_HEADER_BYTES};

    #[test]
    fn structures_have_the_kernel_s_sizes() {
        assert_eq!(std::mem::size_of::<Extent>(), 56);
        assert_eq!(FIEMAP_HEADER_BYTES, 32);
        assert_eq!(std::mem::offset_of!(Fiemap, extents), 32);
        assert_eq!(std::mem::offset_of!(Extent, flags), 40);
    }

    #[test]
    fn only_plain_written_extents_hold_pages() {
        // last, encrypted at rest, merged, shared
        for flags in [0, 0x1, 0x80, 0x1000, 0x2000] {
            assert!(
                Extent::new(0, 4096, 4096, flags).holds_pages(),
                "{flags:#x}"
            );
        }
        for flags in [0x2, 0x4, 0x8, 0x100, 0x200, 0x400, 0x800, 0x801] {
            assert!(
                !Extent::new(0, 4096, 4096, flags).holds_pages(),
                "{flags:#x}"
            );
        }
    }
}
