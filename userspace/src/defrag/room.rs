// SPDX-License-Identifier: GPL-2.0-only
//! Room for what is moved: looked for before it is taken, and never the last of it. Others write
//! meanwhile, and what a filesystem keeps for root is not for us.

use std::io;
use std::path::Path;

use nix::sys::statvfs::statvfs;

use super::{DefragError, Method};
use crate::frag::look::Look;
use crate::fs::btrfs;
use crate::units::PAGE_BYTES;

/// The share of a filesystem that is left to others.
const RESERVE_PERCENT: u64 = 1;

/// Is there room for so many bytes besides the reserve?
fn fits(needed_bytes: u64, free_bytes: u64, all_bytes: u64) -> bool {
    let reserve = all_bytes / 100 * RESERVE_PERCENT;
    let all = needed_bytes.checked_add(reserve);
    all.is_some_and(|all| all <= free_bytes)
}

/// Is there room for so many bytes besides the reserve on a path's filesystem? If not, this is what is
/// free.
///
/// # Errors
///
/// When the filesystem does not say.
pub fn room_for(path: &Path, needed_bytes: u64) -> io::Result<Result<(), u64>> {
    let room = statvfs(path)?;
    let bytes = |blocks: u64| blocks.saturating_mul(room.fragment_size());
    // Not blocks_free(), which has what is root's.
    let free_bytes = bytes(room.blocks_available());

    Ok(if fits(needed_bytes, free_bytes, bytes(room.blocks())) {
        Ok(())
    } else {
        Err(free_bytes)
    })
}

/// Does it take as much room again as the file has, for as long as it lasts?
fn is_copied(method: Method, fs_type: &str) -> bool {
    match method {
        Method::Ssd => false,
        // The filesystem does not know that it is not copied.
        Method::Share | Method::Move => true,
        // Old extents are free again when a transaction ends.
        Method::Rewrite => fs_type == btrfs::FS_TYPE,
    }
}

/// # Errors
///
/// When there is not enough room, or the filesystem does not say.
pub fn require(path: &Path, look: &Look, method: Method) -> Result<(), DefragError> {
    if !is_copied(method, &look.facts.fs_type) {
        return Ok(());
    }
    let needed_bytes = look.nr_pages().saturating_mul(PAGE_BYTES);

    room_for(path, needed_bytes)?.map_err(|free_bytes| DefragError::NoRoom {
        needed_kib: needed_bytes / 1024,
        free_kib: free_bytes / 1024,
    })
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_reserve_is_left() {
        assert!(fits(10, 20, 1000));
        assert!(!fits(11, 20, 1000));
        assert!(!fits(1, 0, 0));
        assert!(!fits(u64::MAX, u64::MAX, 1000));
    }
}
