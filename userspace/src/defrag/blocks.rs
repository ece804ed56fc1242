// SPDX-License-Identifier: GPL-2.0-only
//! A filesystem gives a file, or parts of it, blocks in a row. Each has a call of its own for that,
//! and each of these makes sure that nobody's writes are lost meanwhile.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{fallocate, FallocateFlags};
use nix::libc;

use super::migrate::{bytes_of, joined, refuse_shared, start_writeback, CHUNK_PAGES};
use super::share::{Announcer, Sharer};
use super::{split_permille, DefragError, State, Watch, Wish};
use crate::frag::look::Look;
use crate::frag::Logical;
use crate::fs::fiemap::{self, Extent};
use crate::fs::file::open_to_write;
use crate::fs::{btrfs, dedupe, ext4, f2fs};
use crate::runs::{self, FileId};
use crate::units::PAGE_BYTES;

/// Pages that are moved before they are waited for.
const MOVE_PAGES: u64 = 1024;

/// How often what somebody else writes meanwhile is moved or copied again.
const MOST_TRIES: usize = 3;

/// Filesystems that can.
pub const FS_TYPES: [&str; 4] = ["btrfs", "ext4", "f2fs", "xfs"];

/// Of these those that move nothing that is in one piece.
pub const MOVE_PIECES: [&str; 2] = ["btrfs", "f2fs"];

/// The folder that a file is in: not that of a link to it, which may be on another filesystem.
fn folder_of(path: &Path) -> io::Result<PathBuf> {
    let mut folder = fs::canonicalize(path)?;
    folder.pop();
    Ok(folder)
}

/// A file without a name that has room where the other one has data, in as few pieces as may be.
fn donor(path: &Path, look: &Look) -> Result<File, DefragError> {
    let donor = OpenOptions::new()
        .read(true)
        .write(true)
        .mode(0o600)
        .custom_flags(libc::O_TMPFILE)
        .open(folder_of(path)?)?;

    for run in joined(&look.runs) {
        let (begin, bytes) = bytes_of(&run);
        let number = |bytes| i64::try_from(bytes).map_err(io::Error::other);
        fallocate(
            &donor,
            FallocateFlags::empty(),
            number(begin)?,
            number(bytes)?,
        )
        .map_err(io::Error::from)?;
    }
    Ok(donor)
}

/// How the donor has its room, which nobody has written to.
fn logical_of(donor: &File) -> io::Result<Logical> {
    let extents = fiemap::extents(donor)?;
    let written: Vec<Extent> = extents
        .iter()
        .map(|extent| Extent::new(extent.logical, extent.physical, extent.length, 0))
        .collect();
    Ok(Logical::of(&runs::runs_of(&written)))
}

/// Would the file lie better where the donor lies? Where its dies are known they are what counts, and
/// what is written in order comes to all of them; but no file is to be in more pieces than before. Where
/// it stays on its dies, pieces are what counts.
fn is_better(look: &Look, donor: &Logical, wish: Wish) -> bool {
    let before = State::of(look);
    let split_permille = split_permille(donor, look.nr_pages());

    if wish.is_of_pieces_alone() {
        return before.gains_in_pieces(split_permille);
    }
    if before.dof_p_permille.is_some() || wish.threshold_permille == 0 {
        return donor.pieces <= look.logical.pieces;
    }
    before.gains(split_permille)
}

/// What the kernel knows a donor by, on the filesystem of the file.
fn id_of(donor: &File, look: &Look) -> Result<FileId, DefragError> {
    Ok(FileId {
        device: look.facts.device,
        inode: donor.metadata()?.ino(),
        generation: fiemap::generation(donor).map_err(io::Error::from)?,
    })
}

/// Move to blocks that are as many in a row as there are; with a sharer, of which it is told before.
pub fn move_blocks(
    path: &Path,
    look: &Look,
    wish: Wish,
    sharer: Option<&Sharer>,
    watch: &mut Watch,
) -> Result<(), DefragError> {
    let announced = |file| {
        let announcer = sharer.map(|sharer| Announcer::new(sharer, file, &look.runs));
        announcer.transpose()
    };
    let fs_type = look.facts.fs_type.as_str();
    if !FS_TYPES.contains(&fs_type) {
        return Err(DefragError::MovesNothing(fs_type.to_owned()));
    }
    refuse_shared(look, wish)?;
    let file = open_to_write(path)?;
    let itself = FileId::from(&look.facts);
    if fs_type == btrfs::FS_TYPE {
        return in_steps(&file, look, announced(itself)?, watch, &mut |bytes| {
            Ok(btrfs::defragment(&file, &bytes)?)
        });
    }
    if fs_type == "f2fs" {
        return in_steps(&file, look, announced(itself)?, watch, &mut |bytes| {
            f2fs::defragment(&file, &bytes)?;
            Ok(())
        });
    }
    let donor = donor(path, look)?;
    if !is_better(look, &logical_of(&donor)?, wish) {
        return Err(DefragError::NoBetterPlace(fs_type.to_owned()));
    }
    if fs_type == "xfs" {
        let file_bytes = file.metadata()?.len();
        // Where both end the last block need not be whole.
        donor.set_len(file_bytes)?;
        // It is the donor that is written.
        let announcer = announced(id_of(&donor, look)?)?;
        return in_steps(&file, look, announcer, watch, &mut |bytes| {
            take_blocks(&file, &donor, &(bytes.start..bytes.end.min(file_bytes)))
        });
    }
    let block_bytes = file.metadata()?.blksize().clamp(1024, PAGE_BYTES);
    in_steps(&file, look, announced(itself)?, watch, &mut |bytes| {
        let blocks = bytes.start / block_bytes..bytes.end / block_bytes;
        move_all(&file, &donor, blocks.start, blocks.end)
    })
}

/// Called with bytes to move.
type Step<'a> = dyn FnMut(Range<u64>) -> Result<(), DefragError> + 'a;

fn in_steps(
    file: &File,
    look: &Look,
    mut announcer: Option<Announcer>,
    watch: &mut Watch,
    step: &mut Step,
) -> Result<(), DefragError> {
    let mut done = 0;

    for run in joined(&look.runs) {
        let mut page = run.file_page.0;
        let end = page + u64::from(run.pages);
        while page < end {
            watch(done)?;
            let until = end.min(page + MOVE_PAGES);
            if let Some(announcer) = &announcer {
                announcer.announce(&(page..until))?;
            }
            step(page * PAGE_BYTES..until * PAGE_BYTES)?;
            // Now, so that pages come to the SSD in the order of the file.
            settle(file, &look.facts.fs_type, page, until)?;
            if let Some(announcer) = &mut announcer {
                announcer.check()?;
            }
            done += until - page;
            page = until;
        }
    }
    file.sync_data()?;
    Ok(())
}

/// Have pages of a file written.
fn settle(file: &File, fs_type: &str, page: u64, end: u64) -> io::Result<()> {
    // Each fsync of btrfs writes trees and superblocks: one, at the end, has to do.
    if fs_type == btrfs::FS_TYPE {
        return start_writeback(file, page * PAGE_BYTES, (end - page) * PAGE_BYTES);
    }
    file.sync_data()
}

/// ext4: the donor's blocks become the file's.
fn move_all(file: &File, donor: &File, mut block: u64, end: u64) -> Result<(), DefragError> {
    let mut tries = 0;

    while block < end {
        match ext4::move_blocks(file, donor, &(block..end)) {
            Ok(0) => return Err(io::Error::other("ext4 moves nothing").into()),
            Ok(moved) => {
                block += moved;
                tries = 0;
            }
            // What somebody else has just written is on its way.
            Err(err) if err.raw_os_error() == Some(libc::EBUSY) => {
                tries += 1;
                if tries == MOST_TRIES {
                    return Err(DefragError::Written);
                }
                file.sync_data()?;
            }
            Err(err) => return Err(err.into()),
        }
    }
    Ok(())
}

/// xfs: the donor gets a copy, and then the file the donor's blocks, if they still hold the same.
fn take_blocks(file: &File, donor: &File, bytes: &Range<u64>) -> Result<(), DefragError> {
    let mut left = bytes.clone();

    for _ in 0..MOST_TRIES {
        copy(file, donor, &left)?;
        while left.start < left.end {
            match dedupe::take_blocks(file, donor, &left) {
                Ok(None) => break,
                Ok(Some(0)) => return Err(io::Error::other("xfs moves nothing").into()),
                Ok(Some(nr)) => left.start = left.start.saturating_add(nr),
                Err(err) if err.raw_os_error() == Some(libc::EOPNOTSUPP) => {
                    return Err(DefragError::NoReflink);
                }
                Err(err) => return Err(err.into()),
            }
        }
        if left.start >= left.end {
            return Ok(());
        }
    }
    Err(DefragError::Written)
}

/// Copy a part of a file to the same place of another one, and wait until it is on the device.
fn copy(from: &File, to: &File, bytes: &Range<u64>) -> io::Result<()> {
    let mut at = bytes.start;

    while at < bytes.end {
        let mut data = vec![0; (bytes.end - at).min(CHUNK_PAGES * PAGE_BYTES) as usize];
        from.read_exact_at(&mut data, at)?;
        to.write_all_at(&data, at)?;
        start_writeback(to, at, data.len() as u64)?;
        at += data.len() as u64;
    }
    to.sync_data()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::folder_of;

    #[test]
    fn blocks_come_from_where_a_link_leads() {
        let folder = std::env::temp_dir().join(format!("donor-{}", std::process::id()));
        fs::create_dir_all(folder.join("there")).unwrap();
        let folder = fs::canonicalize(folder).unwrap();
        let there = folder.join("there");
        fs::write(there.join("file"), "").unwrap();
        symlink("there/file", folder.join("link")).unwrap();
        assert_eq!(folder_of(&folder.join("link")).unwrap(), there);
        assert_eq!(folder_of(&there.join("file")).unwrap(), there);
        fs::remove_dir_all(folder).unwrap();
    }
}
