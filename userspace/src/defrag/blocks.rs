// SPDX-License-Identifier: GPL-2.0-only
//! A filesystem gives a file, or parts of it, blocks in a row. Each has a call of its own for that,
//! and each of these makes sure that nobody's writes are lost meanwhile.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::{fallocate, posix_fadvise, FallocateFlags, PosixFadviseAdvice};
use nix::libc;

use super::migrate::{
    bytes_of, finish_writeback, joined, refuse_shared, start_writeback, CHUNK_PAGES,
};
use super::room::require_in_pools;
use super::share::{Announcer, Sharer};
use super::unsynced::Unsynced;
use super::{split_permille, DefragError, Reason, State, Watch, Wish};
use crate::frag::look::Look;
use crate::frag::Logical;
use crate::fs::fiemap::{self, Extent};
use crate::fs::file::{offset, open_to_read, open_to_sync, open_to_write};
use crate::fs::{btrfs, dedupe, ext4, f2fs};
use crate::runs::{self, FileId, Run};
use crate::units::PAGE_BYTES;

/// Pages that are moved before they are waited for.
const MOVE_PAGES: u64 = 1024;

/// The kernel reads no more than that of what is asked for at once, unless it was told to.
const READ_AHEAD_BYTES: u64 = 128 << 10;

/// How often what somebody else writes meanwhile is moved or copied again.
const MOST_TRIES: usize = 3;

/// Filesystems that can.
pub const FS_TYPES: [&str; 4] = ["btrfs", "ext4", "f2fs", "xfs"];

/// Of these those whose call takes nothing but a file that is open to be written. The others' have the
/// file's permissions looked at.
const WRITES_THROUGH: [&str; 1] = ["ext4"];

/// Of these those that move nothing that is in one piece.
pub const MOVE_PIECES: [&str; 2] = ["btrfs", "f2fs"];

/// The folder that a file is in: not that of a link to it, which may be on another filesystem.
pub(super) fn folder_of(path: &Path) -> io::Result<PathBuf> {
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
        fallocate(
            &donor,
            FallocateFlags::empty(),
            offset(begin)?,
            offset(bytes)?,
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

/// Would the file lie better where the donor lies? By its pieces, or where its dies are known and it is
/// moved for these: what is written in order comes to all of them, but no file is to be in more pieces than
/// before. Where it stays on its dies, pieces are all that counts.
fn is_better(look: &Look, donor: &Logical, wish: Wish) -> bool {
    let before = State::of(look);
    let keeps_pieces = donor.pieces <= look.logical.pieces;
    let split_permille = split_permille(donor, look.nr_pages());
    let gains = before.gains_in_pieces(split_permille, wish.least_gain_permille);

    if wish.is_of_pieces_alone() {
        return gains;
    }
    let is_for_dies = match wish.chosen {
        Some(reason) => reason == Reason::Dies,
        None => before.is_bad(wish.threshold_permille),
    };
    gains
        || (keeps_pieces && wish.threshold_permille == 0)
        || (keeps_pieces && before.dof_p_permille.is_some() && is_for_dies)
}

/// What the kernel knows a donor by, on the filesystem of the file.
fn id_of(donor: &File, look: &Look) -> Result<FileId, DefragError> {
    Ok(FileId {
        device: look.facts.device,
        inode: donor.metadata()?.ino(),
        generation: fiemap::generation(donor).map_err(io::Error::from)?,
    })
}

/// Anybody may execute it.
const EXECUTABLE: u32 = 0o111;

/// Who starts a program that is open to be written is told that it is busy, and most programs are started
/// soon after boot, when timers are due that were not while the machine was off.
pub fn refuse_program(path: &Path, look: &Look) -> Result<(), DefragError> {
    let is_open_to_write = WRITES_THROUGH.contains(&look.facts.fs_type.as_str());

    if is_open_to_write && fs::metadata(path)?.mode() & EXECUTABLE != 0 {
        return Err(DefragError::Program);
    }
    Ok(())
}

/// Move to blocks that are as many in a row as there are; with a sharer, of which it is told before.
pub fn move_blocks(
    path: &Path,
    look: &Look,
    wish: Wish,
    sharer: Option<&Sharer>,
    unsynced: &mut Unsynced,
    watch: &mut Watch,
) -> Result<(), DefragError> {
    let fs_type = look.facts.fs_type.as_str();
    if !FS_TYPES.contains(&fs_type) {
        return Err(DefragError::MovesNothing(fs_type.to_owned()));
    }
    refuse_shared(look, wish)?;
    // Of a program that runs nobody has it open to be written.
    let file = if WRITES_THROUGH.contains(&fs_type) {
        open_to_write(path)?
    } else {
        open_to_read(path)?
    };
    // Before anything is moved: errors of what is written from now on are told to this one as well.
    let moved = open_to_sync(&file)?;
    let file_bytes = file.metadata()?.len();
    let result = move_file(path, &file, look, wish, sharer, watch)
        .map_err(|err| why_failed(err, &file, look, file_bytes));
    drop(file);
    // Parts of it may have been moved before something went wrong.
    if !matches!(result, Err(DefragError::NoBetterPlace(_))) {
        unsynced.add(moved)?;
    }
    result
}

/// Filesystems have an error of their own each for what is behind the end of a file, which is not
/// where it was any more: when it was looked at, or had so many bytes.
fn why_failed(err: DefragError, file: &File, look: &Look, file_bytes: u64) -> DefragError {
    let is_shorter = |bytes| {
        let last = look.runs.last().map(bytes_of);
        let first_of_last = last.map_or(0, |(begin, bytes)| begin + bytes - PAGE_BYTES);
        bytes < file_bytes || bytes <= first_of_last
    };

    match err {
        DefragError::Io(err) if err.raw_os_error() == Some(libc::ETXTBSY) => DefragError::Swap,
        DefragError::Io(_) if file.metadata().is_ok_and(|now| is_shorter(now.len())) => {
            DefragError::Shorter
        }
        err => err,
    }
}

/// f2fs does not say where it would write, but whether that is in holes between what others have.
fn refuse_holes(look: &Look, wish: Wish) -> Result<(), DefragError> {
    let bytes = look.nr_pages().saturating_mul(PAGE_BYTES);
    let in_a_row = f2fs::writes_in_a_row(look.facts.below, bytes);

    if wish.threshold_permille != 0 && in_a_row == Some(false) {
        return Err(DefragError::NoBetterPlace(look.facts.fs_type.clone()));
    }
    Ok(())
}

fn move_file(
    path: &Path,
    file: &File,
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
    let itself = FileId::from(&look.facts);
    if fs_type == btrfs::FS_TYPE {
        return in_steps(file, look, wish, announced(itself)?, watch, &mut |parts| {
            parts
                .iter()
                .try_for_each(|part| Ok(btrfs::defragment(file, part)?))
        });
    }
    if fs_type == f2fs::FS_TYPE {
        refuse_holes(look, wish)?;
        return in_steps(file, look, wish, announced(itself)?, watch, &mut |parts| {
            parts.iter().try_for_each(|part| {
                f2fs::defragment(file, part)?;
                Ok(())
            })
        });
    }
    let donor = donor(path, look)?;
    let place = logical_of(&donor)?;
    if !is_better(look, &place, wish) {
        return Err(DefragError::NoBetterPlace(fs_type.to_owned()));
    }
    // There was room for as few pieces as may be.
    if place.pieces > look.logical.ideal_pieces {
        require_in_pools(look, place.pieces, wish)?;
    }
    if fs_type == "xfs" {
        let file_bytes = file.metadata()?.len();
        // Where both end the last block need not be whole.
        donor.set_len(file_bytes)?;
        // It is the donor that is written.
        let announcer = announced(id_of(&donor, look)?)?;
        return in_steps(file, look, wish, announcer, watch, &mut |parts| {
            take_all(file, &donor, parts, file_bytes)
        });
    }
    let block_bytes = file.metadata()?.blksize().clamp(1024, PAGE_BYTES);
    in_steps(file, look, wish, announced(itself)?, watch, &mut |parts| {
        parts.iter().try_for_each(|part| {
            let blocks = part.start / block_bytes..part.end / block_bytes;
            move_all(file, &donor, blocks.start, blocks.end)
        })
    })
}

/// Called with bytes to move: parts of the file, in order.
type Step<'a> = dyn FnMut(&[Range<u64>]) -> Result<(), DefragError> + 'a;

/// Pages of runs in parts that are moved, and waited for, together. What has room in one batch is not
/// shared out to two: some filesystems give each its own blocks.
fn batches(runs: &[Run]) -> Vec<Vec<Range<u64>>> {
    let mut batches: Vec<Vec<Range<u64>>> = Vec::new();
    let mut room = 0;

    for run in joined(runs) {
        let mut page = run.file_page.0;
        let end = page + u64::from(run.pages);
        while page < end {
            let pages = MOVE_PAGES.min(end - page);
            if pages > room {
                batches.push(Vec::new());
                room = MOVE_PAGES;
            }
            if let Some(batch) = batches.last_mut() {
                batch.push(page..page + pages);
            }
            room -= pages;
            page += pages;
        }
    }
    batches
}

fn in_steps(
    file: &File,
    look: &Look,
    wish: Wish,
    mut announcer: Option<Announcer>,
    watch: &mut Watch,
    step: &mut Step,
) -> Result<(), DefragError> {
    let mut done = 0;

    for batch in batches(&look.runs) {
        watch(done)?;
        if let Some(announcer) = &announcer {
            announcer.announce(&batch)?;
        }
        let parts: Vec<_> = batch
            .iter()
            .map(|pages| pages.start * PAGE_BYTES..pages.end * PAGE_BYTES)
            .collect();
        if wish.reads_ahead {
            read_ahead(file, &parts)?;
        }
        step(&parts)?;
        // Now, so that pages come to the SSD in the order of the file.
        settle(file, &parts)?;
        if let Some(announcer) = &mut announcer {
            announcer.check()?;
        }
        done += batch
            .iter()
            .map(|pages| pages.end - pages.start)
            .sum::<u64>();
    }
    Ok(())
}

/// Have all of it read at once: ext4 and f2fs read page after page of what they move, and wait for each.
fn read_ahead(file: &File, parts: &[Range<u64>]) -> io::Result<()> {
    for part in parts {
        for at in part.clone().step_by(READ_AHEAD_BYTES as usize) {
            ask_for(file, at..part.end)?;
        }
    }
    Ok(())
}

/// Have the kernel begin to read as much of this as it does at once.
fn ask_for(file: &File, bytes: Range<u64>) -> io::Result<()> {
    let nr = READ_AHEAD_BYTES.min(bytes.end.saturating_sub(bytes.start));

    // None would be all, to the file's end.
    if nr == 0 {
        return Ok(());
    }
    posix_fadvise(
        file,
        offset(bytes.start)?,
        offset(nr)?,
        PosixFadviseAdvice::POSIX_FADV_WILLNEED,
    )?;
    Ok(())
}

/// Have parts of a file written. They are synced later (unsynced.rs).
fn settle(file: &File, parts: &[Range<u64>]) -> io::Result<()> {
    for part in parts {
        start_writeback(file, part.start, part.end - part.start)?;
    }
    finish(file, parts)
}

/// Wait until parts of a file are written.
fn finish(file: &File, parts: &[Range<u64>]) -> io::Result<()> {
    // One that the file has lost meanwhile ends before it begins.
    for part in parts.iter().filter(|part| !part.is_empty()) {
        finish_writeback(file, part.start, part.end - part.start)?;
    }
    Ok(())
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

/// xfs: the donor gets a copy of all parts, and then the file the donor's blocks.
fn take_all(
    file: &File,
    donor: &File,
    parts: &[Range<u64>],
    file_bytes: u64,
) -> Result<(), DefragError> {
    let parts: Vec<_> = parts
        .iter()
        .map(|part| part.start..part.end.min(file_bytes))
        .collect();

    for (nr, part) in parts.iter().enumerate() {
        // Inside a part the kernel does so by itself, as it is read in order.
        if let Some(next) = parts.get(nr + 1) {
            ask_for(file, next.clone())?;
        }
        copy(file, donor, part)?;
    }
    finish(donor, &parts)?;
    parts
        .iter()
        .try_for_each(|part| take_blocks(file, donor, part))
}

/// The file gets the donor's blocks, if they still hold the same; what somebody has written meanwhile is
/// copied again.
fn take_blocks(file: &File, donor: &File, bytes: &Range<u64>) -> Result<(), DefragError> {
    let mut left = bytes.clone();
    let mut tries = 0;

    while left.start < left.end {
        match dedupe::take_blocks(file, donor, &left) {
            Ok(None) => {
                tries += 1;
                if tries == MOST_TRIES {
                    return Err(DefragError::Written);
                }
                copy(file, donor, &left)?;
                finish(donor, std::slice::from_ref(&left))?;
            }
            Ok(Some(0)) => return Err(io::Error::other("xfs moves nothing").into()),
            Ok(Some(nr)) => left.start = left.start.saturating_add(nr),
            Err(err) if err.raw_os_error() == Some(libc::EOPNOTSUPP) => {
                return Err(DefragError::NoReflink);
            }
            Err(err) => return Err(err.into()),
        }
    }
    Ok(())
}

/// Copy a part of a file to the same place of another one, and begin to have it written.
fn copy(from: &File, to: &File, bytes: &Range<u64>) -> io::Result<()> {
    let mut at = bytes.start;

    while at < bytes.end {
        let mut data = vec![0; (bytes.end - at).min(CHUNK_PAGES * PAGE_BYTES) as usize];
        from.read_exact_at(&mut data, at)?;
        to.write_all_at(&data, at)?;
        start_writeback(to, at, data.len() as u64)?;
        at += data.len() as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::ops::Range;
    use std::os::unix::fs::symlink;

    use super::{batches, folder_of};
    use crate::runs::Run;
    use crate::units::{Dpn, FilePage};

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

    #[test]
    fn small_parts_are_moved_together_and_large_ones_in_steps() {
        let run = |file_page, device_page, pages| Run {
            file_page: FilePage(file_page),
            device_page: Dpn(device_page),
            pages,
        };

        assert!(batches(&[]).is_empty());
        // Next to each other in the file they are one part.
        assert_eq!(
            batches(&[run(0, 9, 1), run(1, 5, 1), run(8, 7, 2)]),
            [[0..2, 8..10]]
        );
        let batches_of = |runs: &[Run]| {
            let of_batch = |batch: Vec<Range<u64>>| format!("{batch:?}");
            batches(runs).into_iter().map(of_batch).collect::<Vec<_>>()
        };
        assert_eq!(
            batches_of(&[run(4, 0, 8), run(100, 50, 2049), run(9000, 7, 1023)]),
            [
                "[4..12]",
                "[100..1124]",
                "[1124..2148]",
                "[2148..2149, 9000..10023]"
            ]
        );
        assert_eq!(
            batches_of(&[run(4, 0, 1000), run(2000, 50, 25), run(3000, 7, 999)]),
            ["[4..1004]", "[2000..2025, 3000..3999]"]
        );
        assert_eq!(batches_of(&[run(0, 0, 1024)]), ["[0..1024]"]);
    }
}
