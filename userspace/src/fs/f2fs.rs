// SPDX-License-Identifier: GPL-2.0-only
//! `F2FS_IOC_DEFRAGMENT`: f2fs writes a range that is in pieces again, to blocks in a row. The kernel
//! holds off others meanwhile, and the old blocks stay until the next checkpoint.
//!
//! Its addresses go on from one of its devices to the next, and where the next one begins it does not say.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::path::Path;

use nix::sys::statvfs::fstatvfs;

use crate::units::{DeviceNumber, SECTOR_BYTES};

pub const FS_TYPE: &str = "f2fs";

const SEGMENT_BYTES: u64 = 2 << 20;

/// Segments of which one is begun while others are moved: nodes and folders are written as well.
const OTHERS: u64 = 2;

#[repr(C)]
#[derive(Debug, Default)]
struct Defragment {
    start: u64,
    len: u64,
}

nix::ioctl_readwrite!(f2fs_ioc_defragment, 0xf5, 8, Defragment);

/// Write bytes of a file, whole pages, again; says how many were.
///
/// # Errors
///
/// When the filesystem refuses.
pub fn defragment(file: &File, bytes: &Range<u64>) -> io::Result<u64> {
    let mut request = Defragment {
        start: bytes.start,
        len: bytes.end.saturating_sub(bytes.start),
    };

    // SAFETY: the descriptor is open while the file lives, and the kernel reads and writes the
    // structure only.
    unsafe { f2fs_ioc_defragment(file.as_raw_fd(), &mut request) }?;
    Ok(request.len)
}

/// Are that many segments so many that f2fs takes free ones for what it writes? With no more than twice
/// its reserve (min_ssr_sections, unless somebody has changed that) it fills holes in others instead.
fn are_enough(free_segments: u64, reserve: u64, bytes: u64) -> bool {
    let needed = bytes.div_ceil(SEGMENT_BYTES).saturating_add(OTHERS);

    free_segments > reserve.saturating_mul(2).saturating_add(needed)
}

/// Would so many bytes be written in a row? `None`: it does not say.
#[must_use]
pub fn writes_in_a_row(device: DeviceNumber, bytes: u64) -> Option<bool> {
    let node = fs::read_link(format!("/sys/dev/block/{device}")).ok()?;
    let folder = Path::new("/sys/fs/f2fs").join(node.file_name()?);
    let number = |name| {
        let text = fs::read_to_string(folder.join(name)).ok()?;
        text.trim().parse::<u64>().ok()
    };

    Some(are_enough(
        number("free_segments")?,
        number("min_ssr_sections")?,
        bytes,
    ))
}

/// Is so much, which is without what lies before its first segment, more than one device has?
fn is_more(fs_bytes: u64, device_bytes: u64) -> bool {
    fs_bytes >= device_bytes
}

/// Does the filesystem of a file lie on other devices besides its first one?
///
/// # Errors
///
/// When it is not known how large that is.
pub fn has_several_devices(file: &File, first: DeviceNumber) -> io::Result<bool> {
    let size = fs::read_to_string(format!("/sys/dev/block/{first}/size"))?;
    let sectors: u64 = size.trim().parse().map_err(io::Error::other)?;
    let all = fstatvfs(file)?;
    let fs_bytes = all.blocks().saturating_mul(all.fragment_size());

    Ok(is_more(fs_bytes, sectors.saturating_mul(SECTOR_BYTES)))
}

#[cfg(test)]
mod tests {
    #[test]
    fn one_device_has_room_for_more_than_its_segments() {
        // 64 MiB, of which the first 2 MiB are none; another device of 2 MiB
        assert!(!super::is_more(62 << 20, 64 << 20));
        assert!(super::is_more(64 << 20, 64 << 20));
    }

    #[test]
    fn free_segments_beyond_twice_the_reserve_are_written_to() {
        assert!(super::are_enough(64, 30, 2 << 20));
        assert!(!super::are_enough(63, 30, 2 << 20));
        assert!(!super::are_enough(64, 30, (2 << 20) + 1));
        assert!(!super::are_enough(u64::MAX, u64::MAX, u64::MAX));
    }

    #[test]
    fn the_request_is_the_kernel_s() {
        assert_eq!(size_of::<super::Defragment>(), 16);
    }
}
