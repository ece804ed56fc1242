// SPDX-License-Identifier: GPL-2.0-only
//! Reads of many pages at once, past the page cache, and how long they take.

use std::fs::{File, OpenOptions};
use std::io;
use std::mem;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::Instant;

use io_uring::{opcode, types, IoUring};
use nix::libc;

use crate::units::PAGE_BYTES;

const PAGE: usize = PAGE_BYTES as usize;

/// Reads that can be on the way.
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

    fn bytes(&self) -> &[u8] {
        // SAFETY: a page is that many bytes without padding, a vector has them in a row, and
        // the borrow lasts as long as `self`'s.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len() * PAGE) }
    }
}

/// A block device that is read and written directly.
pub struct Direct {
    // The ring goes first: while it is there, reads into the pages may be on the way.
    ring: IoUring,
    pages: Vec<Page>,
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
        let ring = IoUring::new(MOST_READS as u32).map_err(|err| {
            io::Error::other(format!("the kernel does not let us use io_uring: {err}"))
        })?;
        Ok(Self {
            ring,
            pages: (0..MOST_READS).map(|_| Page([0; PAGE])).collect(),
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
        if list.len() > MOST_READS {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let fd = types::Fd(self.file.as_raw_fd());
        for (index, number) in list.iter().enumerate() {
            let at = self.at(*number);
            let Some(page) = self.pages.get_mut(index) else {
                break;
            };
            let read = opcode::Read::new(fd, page.0.as_mut_ptr(), PAGE as u32)
                .offset(at)
                .build();
            // SAFETY: the page and the file live as long as the ring, and nobody uses the page
            // until the read has completed or the page was given up, see `complete`.
            unsafe { self.ring.submission().push(&read) }.map_err(io::Error::other)?;
        }
        let begin = Instant::now();
        let result = self.complete(list.len());
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
                } else if done.result() as usize != PAGE {
                    result = Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
        }
        result
    }
}
