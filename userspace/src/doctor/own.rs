// SPDX-License-Identifier: GPL-2.0-only
//! A file of our own, written just now and from front to back: it lies as well as a file can. It has no
//! name, so that nothing of it stays, however we end.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use nix::fcntl::{fallocate, FallocateFlags};
use nix::libc;
use thiserror::Error;

use super::windows::{windows_anywhere, Window};
use crate::fs::file::{self, offset};
use crate::io_engine::ring::Aligned;
use crate::probe::random::Random;
use crate::progress::{Interrupted, Progress};
use crate::runs::runs_of;
use crate::units::PAGE_BYTES;

/// Pages that are written at once.
const WRITE_PAGES: u64 = 256;

/// A drive's write buffer is empty after that.
const SETTLE: Duration = Duration::from_secs(2);

#[derive(Debug, Error)]
pub enum OwnError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// It, to be read past the page cache.
pub struct Own {
    pub file: File,
}

impl Own {
    /// Write so many bytes, with data that no drive can make smaller.
    ///
    /// # Errors
    ///
    /// When the filesystem has no files without a name, or no room; or somebody wants it to end.
    pub fn write(folder: &Path, bytes: u64, progress: &Progress) -> Result<Self, OwnError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_TMPFILE | libc::O_DIRECT)
            .open(folder)?;
        let mut random = Random::new();
        let mut page = 0;
        let nr_pages = bytes / PAGE_BYTES;

        // All at once, so that it is in as few pieces as there can be. Not all filesystems can do that.
        let _ = fallocate(&file, FallocateFlags::empty(), 0, offset(bytes)?);
        progress.begin("writing", nr_pages);
        while page < nr_pages {
            let mut pages = Aligned::new(WRITE_PAGES.min(nr_pages - page) as usize);
            pages.fill(&mut random);
            file.write_all_at(pages.bytes(), page * PAGE_BYTES)?;
            page += WRITE_PAGES;
            progress.at(page.min(nr_pages))?;
        }
        file.sync_all()?;
        sleep(SETTLE);
        Ok(Self { file })
    }

    /// Those of its windows that are in one piece.
    ///
    /// # Errors
    ///
    /// When the filesystem does not say where it lies.
    pub fn windows(&self, size_bytes: u64) -> io::Result<Vec<Window>> {
        let runs = runs_of(&file::extents(&self.file).map_err(io::Error::other)?);
        Ok(windows_anywhere(0, &runs, size_bytes / PAGE_BYTES))
    }
}
