// SPDX-License-Identifier: GPL-2.0-only
//! Reads of many places at once, past the page cache, and how long they take.

use std::fs::{File, OpenOptions};
use std::io;
use std::mem;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::Instant;

use io_uring::{opcode, types, IoUring};
use nix::libc;

use crate::probe::random::Random;
use crate::units::PAGE_BYTES;

const PAGE: usize = PAGE_BYTES as usize;

/// Reads of a device that can be on the way.
const MOST_READS: usize = 32;

/// Memory that a device can write into itself.
#[repr(C, align(4096))]
struct Page([u8; PAGE]);

/// Pages of a device that are aligned in memory, to be written past the page cache.
pub struct Aligned(Vec<Page>);

impl Aligned {
    #[must_use]
    pub fn new(nr_pages: usize) -> Self {
        Self((0..nr_pages).map(|_| Page([0; PAGE])).collect())
    }

    /// Each page.
    pub fn pages(&mut self) -> impl Iterator<Item = &mut [u8; PAGE]> {
        self.0.iter_mut().map(|page| &mut page.0)
    }

    /// Fill them with what no drive can make smaller.
    pub fn fill(&mut self, random: &mut Random) {
        for bytes in self.pages() {
            for word in bytes.chunks_exact_mut(8) {
                word.copy_from_slice(&random.word().to_ne_bytes());
            }
        }
    }

    /// Where they begin, for who has the device write into them.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }

    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: a page is that many bytes without padding, a vector has them in a row, and
        // the borrow lasts as long as `self`'s.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len() * PAGE) }
    }
}

/// Reads that are sent at once, and the memory that they go to.
pub struct Ring {
    // The ring goes first: while it is there, reads into the pages may be on the way.
    ring: IoUring,
    pages: Vec<Page>,
    most_reads: usize,
}

impl Ring {
    /// For so many reads at once, of so many pages together.
    ///
    /// # Errors
    ///
    /// When the kernel has no `io_uring`.
    pub fn new(most_reads: usize, nr_pages: usize) -> io::Result<Self> {
        let ring = IoUring::new(u32::try_from(most_reads).unwrap_or(u32::MAX)).map_err(|err| {
            io::Error::other(format!("the kernel does not let us use io_uring: {err}"))
        })?;
        Ok(Self {
            ring,
            pages: (0..nr_pages).map(|_| Page([0; PAGE])).collect(),
            most_reads,
        })
    }

    /// Read pieces of a file or device at once, each of whole pages, in bytes: where, and how many.
    /// Returns the nanoseconds until the last one was there.
    ///
    /// # Errors
    ///
    /// When a piece cannot be read, or there are more than there is memory for.
    pub fn time(&mut self, file: &File, pieces: &[(u64, usize)]) -> io::Result<u64> {
        let fd = types::Fd(file.as_raw_fd());
        let bytes: usize = pieces.iter().map(|(_, bytes)| *bytes).sum();
        if pieces.len() > self.most_reads || bytes > self.pages.len() * PAGE {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut page = 0;
        for (at, bytes) in pieces {
            let Some(memory) = self.pages.get_mut(page..page + bytes.div_ceil(PAGE)) else {
                return Err(io::ErrorKind::InvalidInput.into());
            };
            let length = u32::try_from(*bytes).map_err(io::Error::other)?;
            let read = opcode::Read::new(fd, memory.as_mut_ptr().cast(), length)
                .offset(*at)
                .build()
                .user_data(u64::from(length));
            // SAFETY: the pages live as long as the ring and are as long as the read, the file is there
            // until all reads have completed, and nobody uses the pages until then or until they
            // are given up, see `complete`.
            unsafe { self.ring.submission().push(&read) }.map_err(io::Error::other)?;
            page += bytes.div_ceil(PAGE);
        }
        let begin = Instant::now();
        let result = self.complete(pieces.len());
        let took = begin.elapsed();

        result?;
        Ok(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX))
    }

    /// Wait for all of them.
    fn complete(&mut self, mut left: usize) -> io::Result<()> {
        let mut result = Ok(());

        while left > 0 {
            match self.ring.submit_and_wait(left) {
                Ok(_) => {}
                // A signal is no reason to leave reads alone.
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                Err(err) => {
                    // The device may still write into them.
                    mem::forget(mem::take(&mut self.pages));
                    return Err(err);
                }
            }
            for done in self.ring.completion() {
                left = left.saturating_sub(1);
                if done.result() < 0 {
                    result = Err(io::Error::from_raw_os_error(-done.result()));
                } else if u64::from(done.result().unsigned_abs()) != done.user_data() {
                    result = Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
        }
        result
    }
}

/// A block device that is read and written directly.
pub struct Direct {
    ring: Ring,
    file: File,
    start_bytes: u64,
}

impl Direct {
    /// Open a device of which pages count from `start_bytes` on. Fails with EBUSY if it is
    /// mounted or part of another one.
    ///
    /// # Errors
    ///
    /// When it cannot be opened so, or the kernel has no `io_uring`.
    pub fn open(path: &Path, start_bytes: u64, write: bool) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(write)
            .custom_flags(libc::O_DIRECT | libc::O_EXCL)
            .open(path)?;
        Ok(Self {
            ring: Ring::new(MOST_READS, MOST_READS)?,
            file,
            start_bytes,
        })
    }

    fn at(&self, page: u64) -> u64 {
        self.start_bytes
            .saturating_add(page.saturating_mul(PAGE_BYTES))
    }

    /// Write pages in a row.
    ///
    /// # Errors
    ///
    /// When the device does.
    pub fn write(&self, page: u64, pages: &Aligned) -> io::Result<()> {
        self.file.write_all_at(pages.bytes(), self.at(page))
    }

    /// Wait until everything is on the device.
    ///
    /// # Errors
    ///
    /// When the device does.
    pub fn flush(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Read pages at once; returns the nanoseconds until the last one was there.
    ///
    /// # Errors
    ///
    /// When a page cannot be read, or there are more than 32.
    pub fn time(&mut self, list: &[u64]) -> io::Result<u64> {
        let pieces: Vec<_> = list.iter().map(|page| (self.at(*page), PAGE)).collect();
        self.ring.time(&self.file, &pieces)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{ErrorKind, Write};

    use super::Ring;

    #[test]
    fn only_what_is_all_there_is_timed() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&[1; 5 * 4096]).unwrap();
        let file = File::open(file.path()).unwrap();
        // Where the kernel lets nobody use it there is nothing to try.
        let Ok(mut ring) = Ring::new(3, 8) else {
            return;
        };
        assert!(ring.time(&file, &[(8192, 8192), (0, 4096)]).is_ok());
        let kind = |result: std::io::Result<u64>| result.unwrap_err().kind();
        // Beyond its end; more than memory, or than reads
        assert_eq!(
            kind(ring.time(&file, &[(16384, 8192)])),
            ErrorKind::UnexpectedEof
        );
        assert_eq!(
            kind(ring.time(&file, &[(0, 9 * 4096)])),
            ErrorKind::InvalidInput
        );
        assert_eq!(
            kind(ring.time(&file, &[(0, 4096); 4])),
            ErrorKind::InvalidInput
        );
        assert!(ring.time(&file, &[(4096, 4096)]).is_ok());
    }
}
