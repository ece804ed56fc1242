// SPDX-License-Identifier: GPL-2.0-only
//! Room for what is moved: looked for before it is taken, and never the last of it. Others write
//! meanwhile, and what a filesystem keeps for root is not for us.

use std::io;
use std::path::Path;

use nix::sys::statvfs::statvfs;
use nix::unistd::geteuid;

use super::blocks::folder_of;
use super::{DefragError, Method, Wish};
use crate::device::pools::{self, Pool};
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

/// A pool that does not say what it has left: to nobody but root, anyway.
fn unknown(pool: &Pool, is_root: bool) -> DefragError {
    DefragError::PoolUnknown {
        pool: pool.node.clone(),
        who: if is_root {
            "nobody knows"
        } else {
            "only root sees"
        },
    }
}

/// In so many pieces lies what is written: where it was, or in a row.
fn pieces_written(look: &Look, method: Method) -> u64 {
    match method {
        Method::Rewrite => look.logical.pieces,
        Method::Ssd | Method::Share | Method::Move => look.logical.ideal_pieces,
    }
}

/// Is there room in a pool, from which a volume takes some even where the filesystem writes in place: what it has
/// there may be a snapshot's, too? In the worst case each piece that is written begins and ends in a block of its own.
fn require_in(pool: &Pool, look: &Look, pieces: u64, wish: Wish) -> Result<(), DefragError> {
    let Some(room) = pool.room else {
        return if wish.unshares {
            Ok(())
        } else {
            Err(unknown(pool, geteuid().is_root()))
        };
    };
    let ends = pieces.saturating_mul(2).saturating_mul(room.block_bytes);
    let needed_bytes = look
        .nr_pages()
        .saturating_mul(PAGE_BYTES)
        .saturating_add(ends);

    if fits(needed_bytes, room.free_bytes, room.all_bytes) {
        return Ok(());
    }
    Err(DefragError::NoRoomInPool {
        pool: pool.node.clone(),
        needed_kib: needed_bytes / 1024,
        free_kib: room.free_bytes / 1024,
    })
}

/// Is there room in all pools below for what is written in so many pieces?
///
/// # Errors
///
/// When there is not enough, or nobody says.
pub fn require_in_pools(look: &Look, pieces: u64, wish: Wish) -> Result<(), DefragError> {
    let pools = pools::below(look.facts.below);
    pools
        .iter()
        .try_for_each(|pool| require_in(pool, look, pieces, wish))
}

/// # Errors
///
/// When there is not enough room, or nobody says.
pub fn require(path: &Path, look: &Look, method: Method, wish: Wish) -> Result<(), DefragError> {
    if method == Method::Ssd {
        return Ok(());
    }
    require_in_pools(look, pieces_written(look, method), wish)?;
    if !is_copied(method, &look.facts.fs_type) {
        return Ok(());
    }
    let needed_bytes = look.nr_pages().saturating_mul(PAGE_BYTES);

    // What a project has left a filesystem may tell of a folder only, in which what is copied is made.
    let folder = folder_of(path)?;
    for place in [path, folder.as_path()] {
        room_for(place, needed_bytes)?.map_err(|free_bytes| DefragError::NoRoom {
            needed_kib: needed_bytes / 1024,
            free_kib: free_bytes / 1024,
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{fits, pieces_written, require_in, unknown, DefragError};
    use crate::defrag::{Method, Wish};
    use crate::device::pools::{Pool, Room};
    use crate::frag::look::{Look, Unseen};
    use crate::frag::Logical;
    use crate::runs::Run;
    use crate::units::{Dpn, FilePage};

    /// A file of 1 MiB in so many pieces.
    fn look(pieces: u64) -> Look {
        let run = Run {
            file_page: FilePage(0),
            device_page: Dpn(0),
            pages: 256,
        };
        Look {
            bytes: 1 << 20,
            runs: vec![run],
            logical: Logical {
                pieces,
                ideal_pieces: 1,
            },
            ..Look::of_none(Unseen::Other("it lies nowhere".to_owned()))
        }
    }

    #[test]
    fn only_what_is_rewritten_stays_in_its_pieces() {
        for (method, pieces) in [(Method::Rewrite, 32), (Method::Share, 1), (Method::Move, 1)] {
            assert_eq!(pieces_written(&look(32), method), pieces, "{method:?}");
        }
    }

    #[test]
    fn a_pool_has_room_for_what_is_moved_and_two_blocks_for_each_piece() {
        let wish = Wish {
            method: Some(Method::Rewrite),
            ..Wish::USUAL
        };
        let pool = |free_bytes| Pool {
            node: "/dev/mapper/vg-pool-tpool".to_owned(),
            room: Some(Room {
                free_bytes,
                all_bytes: 100 << 20,
                block_bytes: 64 << 10,
            }),
        };
        let require = |free_bytes, pieces| require_in(&pool(free_bytes), &look(32), pieces, wish);
        assert!(require(6 << 20, 32).is_ok());
        assert!(matches!(
            require((6 << 20) - 1, 32),
            Err(DefragError::NoRoomInPool { .. })
        ));
        assert!(require((2 << 20) + (128 << 10), 1).is_ok());
        let untold = Pool {
            room: None,
            ..pool(0)
        };
        assert!(matches!(
            require_in(&untold, &look(1), 1, wish),
            Err(DefragError::PoolUnknown { .. })
        ));
        for (is_root, who) in [(true, "nobody knows"), (false, "only root sees")] {
            let why = unknown(&untold, is_root).to_string();
            assert!(why.contains(who), "{why}");
        }
        let wish = Wish {
            unshares: true,
            ..wish
        };
        assert!(require_in(&untold, &look(1), 1, wish).is_ok());
        assert!(require_in(&pool(0), &look(1), 1, wish).is_err());
    }

    #[test]
    fn a_reserve_is_left() {
        assert!(fits(10, 20, 1000));
        assert!(!fits(11, 20, 1000));
        assert!(!fits(1, 0, 0));
        assert!(!fits(u64::MAX, u64::MAX, 1000));
    }
}
