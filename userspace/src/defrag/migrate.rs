// SPDX-License-Identifier: GPL-2.0-only
//! The ways in which pages come to new places.

use std::fs::{File, FileTimes, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use nix::fcntl::{fallocate, FallocateFlags};
use nix::libc;

use super::{DefragError, Watch};
use crate::frag::look::{Look, Pages};
use crate::frag::Logical;
use crate::io_engine::fiemap::{self, Extent};
use crate::io_engine::lease::Lease;
use crate::io_engine::move_ext;
use crate::nvme::spread::{commands, Spreader};
use crate::runs::{self, Run};
use crate::units::PAGE_BYTES;

/// What is read and written at once.
const CHUNK_PAGES: u64 = 256;

/// Pages that are moved before they are waited for.
const MOVE_PAGES: u64 = 1024;

/// Blocks that belong to another file, too.
const EXTENT_SHARED: u32 = 0x2000;

/// The SSD does it all.
pub fn spread(spreader: &Spreader, look: &Look, watch: &mut Watch) -> Result<(), DefragError> {
    let Ok(on_ssd) = &look.on_ssd else {
        return Ok(());
    };
    let mut done = 0;

    for command in commands(&on_ssd.pages) {
        watch(done)?;
        spreader.spread(&command)?;
        done += command.iter().map(|Pages { nr, .. }| nr).sum::<u64>();
    }
    Ok(())
}

fn refuse_shared(extents: &[Extent]) -> Result<(), DefragError> {
    if extents
        .iter()
        .any(|extent| extent.flags & EXTENT_SHARED != 0)
    {
        return Err(DefragError::Shared);
    }
    Ok(())
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path)
}

/// Bytes of a run, as begin and length.
fn bytes_of(run: &Run) -> (u64, u64) {
    (
        run.file_page.0 * PAGE_BYTES,
        u64::from(run.pages) * PAGE_BYTES,
    )
}

/// A file without a name that has room where the other one has data, in as few pieces as may be.
fn donor(path: &Path, look: &Look) -> Result<File, DefragError> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let donor = OpenOptions::new()
        .read(true)
        .write(true)
        .mode(0o600)
        .custom_flags(libc::O_TMPFILE)
        .open(folder.unwrap_or(Path::new(".")))?;

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

/// Runs as far as they lie next to each other in the file, wherever they are on the device.
fn joined(list: &[Run]) -> Vec<Run> {
    let mut found: Vec<Run> = Vec::new();

    for run in list {
        match found.last_mut() {
            Some(last)
                if last.file_page.0 + u64::from(last.pages) == run.file_page.0
                    && last.pages.checked_add(run.pages).is_some() =>
            {
                last.pages += run.pages;
            }
            _ => found.push(*run),
        }
    }
    found
}

/// In how many pieces the donor has its room, which nobody has written to.
fn pieces_of(donor: &File) -> io::Result<u64> {
    let extents = fiemap::extents(donor)?;
    let written: Vec<Extent> = extents
        .iter()
        .map(|extent| Extent::new(extent.logical, extent.physical, extent.length, 0))
        .collect();
    Ok(Logical::of(&runs::runs_of(&written)).pieces)
}

/// ext4: into the blocks of a donor, which are as many in a row as there are.
pub fn move_blocks(path: &Path, look: &Look, watch: &mut Watch) -> Result<(), DefragError> {
    if look.facts.fs_type != "ext4" {
        return Err(DefragError::NotExt4(look.facts.fs_type.clone()));
    }
    refuse_shared(&look.facts.extents)?;
    let file = open(path)?;
    let donor = donor(path, look)?;
    if pieces_of(&donor)? > look.logical.pieces {
        return Err(DefragError::NoBetterPlace(look.facts.fs_type.clone()));
    }
    let block_bytes = file.metadata()?.blksize().clamp(1024, PAGE_BYTES);
    let per_page = PAGE_BYTES / block_bytes;
    let mut done = 0;

    for run in joined(&look.runs) {
        let first = run.file_page.0;
        let end = first + u64::from(run.pages);
        let mut page = first;
        while page < end {
            watch(done)?;
            let until = end.min(page + MOVE_PAGES);
            move_all(&file, &donor, page * per_page, until * per_page)?;
            // Now, so that pages come to the SSD in the order of the file.
            file.sync_data()?;
            done += until - page;
            page = until;
        }
    }
    Ok(())
}

fn move_all(file: &File, donor: &File, mut block: u64, end: u64) -> io::Result<()> {
    while block < end {
        let moved = move_ext::move_blocks(file, donor, &(block..end))?;
        if moved == 0 {
            return Err(io::Error::other("ext4 moves nothing"));
        }
        block += moved;
    }
    Ok(())
}

/// Write what is there again, in the order of the file. Old and new data are the same, so it
/// does not matter what of it comes to the device before a power failure; but nobody else
/// may write in between.
pub fn rewrite(path: &Path, look: &Look, watch: &mut Watch) -> Result<(), DefragError> {
    refuse_shared(&look.facts.extents)?;
    let file = open(path)?;
    let lease = Lease::take(&file)?.ok_or(DefragError::InUse)?;
    let metadata = file.metadata()?;
    let mut done = 0;
    let mut result = Ok(());

    for run in joined(&look.runs) {
        result = rewrite_run(&file, &lease, &run, metadata.len(), &mut |pages| {
            watch(done + pages)
        });
        done += u64::from(run.pages);
        if result.is_err() {
            break;
        }
    }
    file.sync_data()?;
    let times = FileTimes::new()
        .set_accessed(metadata.accessed()?)
        .set_modified(metadata.modified()?);
    file.set_times(times)?;
    result
}

fn rewrite_run(
    file: &File,
    lease: &Lease,
    run: &Run,
    file_bytes: u64,
    watch: &mut Watch,
) -> Result<(), DefragError> {
    let (begin, bytes) = bytes_of(run);
    let end = file_bytes.min(begin + bytes);
    let mut at = begin;

    while at < end {
        watch((at - begin) / PAGE_BYTES)?;
        if !lease.holds() {
            return Err(DefragError::InUse);
        }
        let mut data = vec![0; (end - at).min(CHUNK_PAGES * PAGE_BYTES) as usize];
        file.read_exact_at(&mut data, at)?;
        file.write_all_at(&data, at)?;
        start_writeback(file, at, data.len() as u64)?;
        at += data.len() as u64;
    }
    Ok(())
}

/// Have pages written in the order of the file.
fn start_writeback(file: &File, at: u64, bytes: u64) -> io::Result<()> {
    let number = |bytes| i64::try_from(bytes).map_err(io::Error::other);
    let flags = libc::SYNC_FILE_RANGE_WAIT_BEFORE | libc::SYNC_FILE_RANGE_WRITE;

    // SAFETY: the descriptor is open while `file` lives, and all arguments are numbers.
    let result =
        unsafe { libc::sync_file_range(file.as_raw_fd(), number(at)?, number(bytes)?, flags) };
    nix::errno::Errno::result(result)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::joined;
    use crate::runs::Run;
    use crate::units::{Dpn, FilePage};

    #[test]
    fn runs_are_joined_by_their_place_in_the_file() {
        let run = |file_page, device_page, pages| Run {
            file_page: FilePage(file_page),
            device_page: Dpn(device_page),
            pages,
        };
        assert!(joined(&[]).is_empty());
        assert_eq!(
            joined(&[run(0, 90, 8), run(8, 10, 8), run(17, 18, 1)]),
            [run(0, 90, 16), run(17, 18, 1)]
        );
        let most = u32::MAX - 1;
        assert_eq!(
            joined(&[run(0, 0, most), run(u64::from(most), 5, 9)]).len(),
            2
        );
    }
}
