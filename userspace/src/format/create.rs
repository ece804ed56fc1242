// SPDX-License-Identifier: GPL-2.0-only
//! The few things that the tool writes to a device: making it a new one in log mode, and
//! taking back that it needs a check.

use std::io;

use super::layout::{BLOCK_BYTES, SUPER_DPN_A, SUPER_DPN_B, SUPER_NEEDS_CHECK};
use super::root::Root;
use super::superblock::{super_dpn, Super};
use crate::io_engine::pages::WritePages;

const NR_SUPERS: u64 = 2;

/// Leave no valid superblock.
///
/// # Errors
///
/// When the device does.
pub fn withdraw(device: &impl WritePages) -> io::Result<()> {
    for dpn in [SUPER_DPN_A, SUPER_DPN_B] {
        device.write(dpn, &[0; BLOCK_BYTES])?;
    }
    device.flush()
}

/// Pages that [`create`] writes.
#[must_use]
pub fn nr_created_pages(superblock: &Super) -> u64 {
    // The superblocks are withdrawn first.
    2 * NR_SUPERS + superblock.nr_root_pages()
}

/// Write what a new device has. Whenever this is interrupted, the device is either what
/// it is to be or has no valid superblock. `salt` is a random number.
///
/// # Errors
///
/// When the device does.
pub fn create(device: &impl WritePages, superblock: &Super, salt: u64) -> io::Result<()> {
    let root = Root::empty(superblock, salt);

    withdraw(device)?;
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

/// Take back that the device needs a check. The superblock that counts stays as it is: the
/// new one goes to the other place.
///
/// # Errors
///
/// When the device does, or has features with which it may not be written, or the last of all epochs.
pub fn clear_needs_check(device: &impl WritePages, superblock: &Super) -> io::Result<()> {
    superblock.require_writable()?;
    let epoch = superblock.epoch.checked_add(1);
    let superblock = Super {
        epoch: epoch.ok_or(io::ErrorKind::InvalidData)?,
        flags: superblock.flags & !SUPER_NEEDS_CHECK,
        ..superblock.clone()
    };

    device.write(super_dpn(superblock.epoch), &superblock.encode())?;
    device.flush()
}
