// SPDX-License-Identifier: GPL-2.0-only
//! Making a device a new one in log mode.

use std::io;

use super::layout::{BLOCK_BYTES, SUPER_DPN_A, SUPER_DPN_B};
use super::root::Root;
use super::superblock::{super_dpn, Super};
use crate::io_engine::pages::WritePages;

/// Write what a new device has. Whenever this is interrupted, the device is either what
/// it is to be or has no valid superblock. `salt` is a random number.
///
/// # Errors
///
/// When the device does.
pub fn create(device: &impl WritePages, superblock: &Super, salt: u64) -> io::Result<()> {
    let root = Root::empty(superblock, salt);

    for dpn in [SUPER_DPN_A, SUPER_DPN_B] {
        device.write(dpn, &[0; BLOCK_BYTES])?;
    }
    device.flush()?;
    for (dpn, page) in (root.dpn(superblock)..).zip(root.encode(superblock)) {
        device.write(dpn, &page)?;
    }
    device.flush()?;
    for epoch in [1, 2] {
        let superblock = Super {
            epoch,
            ..superblock.clone()
        };
        device.write(super_dpn(epoch), &superblock.encode())?;
    }
    device.flush()
}
