// SPDX-License-Identifier: GPL-2.0-only
//! `EXT4_IOC_MOVE_EXT`: ext4 gives a file the blocks of another one and moves the data there. The kernel
//! holds off others meanwhile, and its journal makes it whole after a power failure.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;

#[repr(C)]
#[derive(Debug, Default)]
struct MoveExtent {
    reserved: u32,
    donor_fd: u32,
    orig_start: u64,
    donor_start: u64,
    len: u64,
    moved_len: u64,
}

nix::ioctl_readwrite!(ext4_ioc_move_ext, b'f', 15, MoveExtent);

/// Move blocks of a file to the places that the donor has for them; says how many were moved,
/// which may be less.
///
/// # Errors
///
/// When the filesystem refuses.
pub fn move_blocks(file: &File, donor: &File, blocks: &Range<u64>) -> io::Result<u64> {
    let donor_fd = u32::try_from(donor.as_raw_fd()).map_err(io::Error::other)?;
    let mut request = MoveExtent {
        donor_fd,
        orig_start: blocks.start,
        donor_start: blocks.start,
        len: blocks.end.saturating_sub(blocks.start),
        ..MoveExtent::default()
    };

    // SAFETY: both descriptors are open while the files live, and the kernel reads and writes
    // the structure only.
    unsafe { ext4_ioc_move_ext(file.as_raw_fd(), &mut request) }?;
    Ok(request.moved_len)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_request_is_the_kernel_s() {
        assert_eq!(size_of::<super::MoveExtent>(), 40);
    }
}
