// SPDX-License-Identifier: GPL-2.0-only
//! Pages come to new places: by the SSD, or by writing them again. Neither needs a call that only
//! some filesystems have.

use std::ffi::CStr;
use std::fs::{File, FileTimes};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use nix::libc;

use super::{rights, DefragError, Watch, Wish};
use crate::device::layers::fills_snapshot;
use crate::device::nvme::spread::{commands, Spreader};
use crate::frag::look::{Look, Pages};
use crate::fs::fiemap::Extent;
use crate::fs::file::{offset, open_to_write};
use crate::fs::lease::{Lease, Unstopped};
use crate::runs::{self, Run};
use crate::units::PAGE_BYTES;

/// What is read and written at once.
pub(super) const CHUNK_PAGES: u64 = 256;

/// Blocks that belong to another file, or to the file in a snapshot, too.
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

/// Is a page of runs, which are in the order of the file, shared?
fn is_shared(extents: &[Extent], runs: &[Run]) -> bool {
    let end_of = |run: &Run| {
        let (begin, bytes) = bytes_of(run);
        begin + bytes
    };
    let mut shared = extents
        .iter()
        .filter(|extent| extent.flags & EXTENT_SHARED != 0);

    shared.any(|extent| {
        let next = runs.partition_point(|run| end_of(run) <= extent.logical);
        let next = runs.get(next);
        next.is_some_and(|run| bytes_of(run).0 < extent.logical.saturating_add(extent.length))
    })
}

/// What is moved is shared no more, and takes space of its own, in a snapshot of the volume as well: not unless that
/// is wished for. Snapshots come and go, so they are looked for each time.
pub(super) fn refuse_shared(look: &Look, wish: Wish) -> Result<(), DefragError> {
    if !wish.unshares && fills_snapshot(look.facts.below) {
        return Err(DefragError::Snapshot);
    }
    if !wish.unshares && is_shared(&look.facts.extents, &look.runs) {
        return Err(DefragError::Shared);
    }
    Ok(())
}

/// Bytes of a run, as begin and length.
pub(super) fn bytes_of(run: &Run) -> (u64, u64) {
    (
        run.file_page.0 * PAGE_BYTES,
        u64::from(run.pages) * PAGE_BYTES,
    )
}

/// Runs as far as they lie next to each other in the file, wherever they are on the device.
pub(super) fn joined(list: &[Run]) -> Vec<Run> {
    let mut found: Vec<Run> = Vec::new();

    for run in list {
        match found.last_mut() {
            Some(last)
                if runs::end_of(last) == run.file_page.0
                    && last.pages.checked_add(run.pages).is_some() =>
            {
                last.pages += run.pages;
            }
            _ => found.push(*run),
        }
    }
    found
}

/// Write what is there again, in the order of the file. Old and new data are the same, so it
/// does not matter what of it comes to the device before a power failure; but nobody else
/// may write in between.
pub fn rewrite(path: &Path, look: &Look, wish: Wish, watch: &mut Watch) -> Result<(), DefragError> {
    refuse_shared(look, wish)?;
    let file = open_to_write(path)?;
    let lease = Lease::take(&file)?.ok_or(DefragError::InUse)?;
    rights::refuse_loss_of(&file)?;
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
    let _unstopped = Unstopped::begin()?;
    // Whoever was let in has written at another time.
    if lease.keeps_others_out() {
        file.set_times(times)?;
    }
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
        let mut data = vec![0; (end - at).min(CHUNK_PAGES * PAGE_BYTES) as usize];
        rewrite_chunk(file, &|| lease.holds(), at, &mut data)?;
        at += data.len() as u64;
    }
    Ok(())
}

/// An attribute that no file has.
const NO_ATTRIBUTE: &CStr = c"user.dieaware.none";

/// Wait while the filesystem is frozen, without a change: it keeps whoever writes waiting, for longer than the
/// kernel lets a lease keep others out, and whoever was let in may be the first to go on. To remove an attribute
/// that is not there waits in the same way.
fn wait_for_thaw(file: &File) {
    // SAFETY: the descriptor is open while `file` lives, and the name ends with a zero. It fails, whatever it says.
    unsafe { libc::fremovexattr(file.as_raw_fd(), NO_ATTRIBUTE.as_ptr()) };
}

/// Read as much as there is room for and write it again, if the file was ours until it was read.
fn rewrite_chunk(
    file: &File,
    is_ours: &dyn Fn() -> bool,
    at: u64,
    data: &mut [u8],
) -> Result<(), DefragError> {
    let _unstopped = Unstopped::begin()?;

    file.read_exact_at(data, at)
        .map_err(|err| match err.kind() {
            io::ErrorKind::UnexpectedEof => DefragError::Shorter,
            _ => err.into(),
        })?;
    wait_for_thaw(file);
    // Last thing before it is written: somebody else's data could be newer.
    if !is_ours() {
        return Err(DefragError::InUse);
    }
    file.write_all_at(data, at)?;
    start_writeback(file, at, data.len() as u64)?;
    Ok(())
}

/// Have pages written in the order of the file.
pub(super) fn start_writeback(file: &File, at: u64, bytes: u64) -> io::Result<()> {
    let flags = libc::SYNC_FILE_RANGE_WAIT_BEFORE | libc::SYNC_FILE_RANGE_WRITE;

    sync_file_range(file, at, bytes, flags)
}

/// Until the device has them all; that it keeps them over a power failure takes a flush.
pub(super) fn finish_writeback(file: &File, at: u64, bytes: u64) -> io::Result<()> {
    let flags = libc::SYNC_FILE_RANGE_WAIT_BEFORE
        | libc::SYNC_FILE_RANGE_WRITE
        | libc::SYNC_FILE_RANGE_WAIT_AFTER;

    sync_file_range(file, at, bytes, flags)
}

fn sync_file_range(file: &File, at: u64, bytes: u64, flags: libc::c_uint) -> io::Result<()> {
    // SAFETY: the descriptor is open while `file` lives, and all arguments are numbers.
    let result =
        unsafe { libc::sync_file_range(file.as_raw_fd(), offset(at)?, offset(bytes)?, flags) };
    nix::errno::Errno::result(result)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File, OpenOptions};
    use std::os::unix::fs::FileExt;

    use super::{is_shared, joined, rewrite_chunk, DefragError, EXTENT_SHARED};
    use crate::fs::fiemap::Extent;
    use crate::runs::Run;
    use crate::units::{Dpn, FilePage};

    fn run(file_page: u64, device_page: u64, pages: u32) -> Run {
        Run {
            file_page: FilePage(file_page),
            device_page: Dpn(device_page),
            pages,
        }
    }

    #[test]
    fn only_what_is_to_be_moved_counts_as_shared() {
        let extents = [
            Extent::new(0, 90 << 12, 8 << 12, 0),
            Extent::new(8 << 12, 10 << 12, 8 << 12, EXTENT_SHARED),
            Extent::new(16 << 12, 50 << 12, 8 << 12, 0),
        ];
        for (first, pages, shared) in [(0, 8, false), (0, 9, true), (15, 1, true), (16, 8, false)] {
            let runs = [run(0, 90, 1), run(first, 90, pages), run(20, 54, 1)];
            assert_eq!(is_shared(&extents, &runs), shared, "{first}+{pages}");
        }
        assert!(!is_shared(&extents, &[]));
        assert!(!is_shared(&extents[..1], &[run(0, 90, 8)]));
    }

    #[test]
    fn what_somebody_else_writes_meanwhile_stays() {
        let path = std::env::temp_dir().join(format!("rewrite-{}", std::process::id()));
        fs::write(&path, [1; 8192]).unwrap();
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path)
            .unwrap();
        let mut data = vec![0; 4096];
        rewrite_chunk(&file, &|| true, 4096, &mut data).unwrap();
        assert_eq!(fs::read(&path).unwrap(), [1; 8192]);

        let lose = || {
            let other = File::options().write(true).open(&path).unwrap();
            other.write_all_at(&[2; 8192], 0).unwrap();
            false
        };
        let result = rewrite_chunk(&file, &lose, 4096, &mut data);
        assert!(matches!(result, Err(DefragError::InUse)));
        assert_eq!(fs::read(&path).unwrap(), [2; 8192]);

        File::options()
            .write(true)
            .open(&path)
            .and_then(|other| other.set_len(5000))
            .unwrap();
        let result = rewrite_chunk(&file, &|| false, 4096, &mut data);
        assert!(matches!(result, Err(DefragError::Shorter)));
        assert_eq!(fs::read(&path).unwrap(), [2; 5000]);
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn runs_are_joined_by_their_place_in_the_file() {
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
