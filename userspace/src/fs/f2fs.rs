// SPDX-License-Identifier: GPL-2.0-only
//! `F2FS_IOC_DEFRAGMENT`: f2fs writes a range that is in pieces again, to blocks in a row. The kernel
//! holds off others meanwhile, and the old blocks stay until the next checkpoint.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;

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

#[cfg(test)]
mod tests {
    #[test]
    fn the_request_is_the_kernel_s() {
        assert_eq!(size_of::<super::Defragment>(), 16);
    }
}
