// SPDX-License-Identifier: GPL-2.0-only
//! `FIDEDUPERANGE`: a file gives its blocks up for those of another one that hold the same. The kernel
//! compares both while nobody can write to them, and its journal makes it whole after a power failure.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;

/// One source, one destination.
#[repr(C)]
#[derive(Debug, Default)]
struct Dedupe {
    src_offset: u64,
    src_length: u64,
    dest_count: u16,
    reserved1: u16,
    reserved2: u32,
    dest_fd: i64,
    dest_offset: u64,
    bytes_deduped: u64,
    status: i32,
    reserved: u32,
}

/// The structure without its array of destinations: the size that the ioctl number encodes.
const HEADER_BYTES: usize = 24;

const DIFFERS: i32 = 1;

nix::ioctl_readwrite_bad!(
    fideduperange,
    nix::request_code_readwrite!(0x94, 54, HEADER_BYTES),
    Dedupe
);

/// Give bytes of a file the blocks that another one has at the same place; says how many were
/// given, which may be less. `None`: they do not hold the same.
///
/// # Errors
///
/// When the filesystem refuses.
pub fn take_blocks(file: &File, donor: &File, bytes: &Range<u64>) -> io::Result<Option<u64>> {
    let mut request = Dedupe {
        src_offset: bytes.start,
        src_length: bytes.end.saturating_sub(bytes.start),
        dest_count: 1,
        dest_fd: i64::from(file.as_raw_fd()),
        dest_offset: bytes.start,
        ..Dedupe::default()
    };

    // SAFETY: both descriptors are open while the files live, and the kernel reads and writes
    // the structure only, which holds as many destinations as it says.
    unsafe { fideduperange(donor.as_raw_fd(), &mut request) }?;
    match request.status {
        0 => Ok(Some(request.bytes_deduped)),
        DIFFERS => Ok(None),
        status => Err(io::Error::from_raw_os_error(status.saturating_neg())),
    }
}

#[cfg(test)]
mod tests {
    use super::{Dedupe, HEADER_BYTES};

    #[test]
    fn the_request_is_the_kernel_s() {
        assert_eq!(size_of::<Dedupe>(), 56);
        assert_eq!(std::mem::offset_of!(Dedupe, dest_fd), HEADER_BYTES);
        assert_eq!(std::mem::offset_of!(Dedupe, status), 48);
    }
}
