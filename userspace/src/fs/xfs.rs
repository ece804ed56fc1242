// SPDX-License-Identifier: GPL-2.0-only
//! `FS_IOC_FSGETXATTR`: does xfs have a file's data on its realtime device? Addresses of such a file are
//! that device's, and nothing else says so. Others than xfs know it as well, and say with it whether a
//! file may be changed.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

pub const FS_TYPE: &str = "xfs";

const REALTIME: u32 = 0x1;
const IMMUTABLE: u32 = 0x8;
const APPEND: u32 = 0x10;

/// `struct fsxattr`
#[repr(C)]
#[derive(Debug, Default)]
struct Attributes {
    xflags: u32,
    others: [u32; 4],
    pad: [u8; 8],
}

nix::ioctl_read!(fs_ioc_fsgetxattr, b'X', 31, Attributes);

/// # Errors
///
/// When the filesystem does not say.
pub fn is_realtime(file: &File) -> io::Result<bool> {
    Ok(xflags(file)? & REALTIME != 0)
}

/// Has somebody said that it must not be changed, or only become longer? That of any filesystem.
///
/// # Errors
///
/// When the filesystem does not say.
pub fn is_unchangeable(file: &File) -> io::Result<bool> {
    Ok(xflags(file)? & (IMMUTABLE | APPEND) != 0)
}

fn xflags(file: &File) -> io::Result<u32> {
    let mut attributes = Attributes::default();

    // SAFETY: the descriptor is open while the file lives, and the kernel writes the structure only.
    unsafe { fs_ioc_fsgetxattr(file.as_raw_fd(), &mut attributes) }?;
    Ok(attributes.xflags)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_request_is_the_kernel_s() {
        assert_eq!(size_of::<super::Attributes>(), 28);
    }
}
