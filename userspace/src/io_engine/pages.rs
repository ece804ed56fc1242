// SPDX-License-Identifier: GPL-2.0-only
//! What has pages of 4 KiB that can be read and written: a device, or something that stands for
//! one, such as an image in memory. Whoever reads or writes metadata does so through these traits,
//! so that tests have it do so without a device.

use std::cell::{Cell, RefCell};
use std::io;
use std::ops::Range;

use crate::units::PAGE_BYTES;

/// What gets pieces that were read, or why one could not be: then some of its pages may be readable.
pub type Piece<'a> = dyn FnMut(Range<u64>, io::Result<&[u8]>) + 'a;

/// Read pieces one after the other.
pub fn read_each(
    device: &(impl ReadPages + ?Sized),
    pieces: &mut dyn Iterator<Item = Range<u64>>,
    done: &mut Piece<'_>,
) {
    let mut bytes = Vec::new();

    for piece in pieces {
        bytes.resize(piece.clone().count() * PAGE_BYTES as usize, 0);
        let result = device.read(piece.start, &mut bytes);
        done(piece, result.map(|()| &bytes[..]));
    }
}

/// What pages can be read from.
pub trait ReadPages {
    /// Whole pages that there are.
    fn nr_pages(&self) -> u64;

    /// Read whole pages.
    ///
    /// # Errors
    ///
    /// When the device does, or ends before.
    fn read(&self, dpn: u64, pages: &mut [u8]) -> io::Result<()>;

    /// Read one page.
    ///
    /// # Errors
    ///
    /// Like `read`.
    fn read_page(&self, dpn: u64) -> io::Result<[u8; PAGE_BYTES as usize]> {
        let mut page = [0; PAGE_BYTES as usize];
        self.read(dpn, &mut page)?;
        Ok(page)
    }

    /// Read many pieces, each of up to [`PIECE_PAGES`](super::many::PIECE_PAGES), as fast as the device
    /// can; they come in any order.
    fn read_many(&self, pieces: &mut dyn Iterator<Item = Range<u64>>, done: &mut Piece<'_>) {
        read_each(self, pieces, done);
    }
}

/// What pages can be written to.
pub trait WritePages: ReadPages {
    /// Write whole pages.
    ///
    /// # Errors
    ///
    /// When the device does.
    fn write(&self, dpn: u64, pages: &[u8]) -> io::Result<()>;

    /// Wait until everything that was written would survive a power failure.
    ///
    /// # Errors
    ///
    /// When the device does.
    fn flush(&self) -> io::Result<()>;
}

/// Counts the reads that a device refuses.
pub struct Watched<'a, D> {
    device: &'a D,
    nr_failed: Cell<u64>,
}

impl<'a, D: ReadPages> Watched<'a, D> {
    pub fn new(device: &'a D) -> Self {
        Self {
            device,
            nr_failed: Cell::new(0),
        }
    }

    pub fn nr_failed(&self) -> u64 {
        self.nr_failed.get()
    }
}

impl<D: ReadPages> ReadPages for Watched<'_, D> {
    fn nr_pages(&self) -> u64 {
        self.device.nr_pages()
    }

    fn read(&self, dpn: u64, pages: &mut [u8]) -> io::Result<()> {
        let result = self.device.read(dpn, pages);
        if result.is_err() {
            self.nr_failed.set(self.nr_failed.get() + 1);
        }
        result
    }

    /// Of a piece that fails, nobody may want the pages that cannot be read: who wants them reads them
    /// one by one, and that is counted.
    fn read_many(&self, pieces: &mut dyn Iterator<Item = Range<u64>>, done: &mut Piece<'_>) {
        self.device.read_many(pieces, done);
    }
}

/// A device that keeps nothing: what is written to it is gone, and all that is read is zero.
#[derive(Clone, Copy, Debug)]
pub struct Nowhere {
    nr_pages: u64,
}

impl Nowhere {
    #[must_use]
    pub fn new(nr_pages: u64) -> Self {
        Self { nr_pages }
    }

    fn require(&self, dpn: u64, bytes: usize) -> io::Result<()> {
        let end = dpn.saturating_add(bytes as u64 / PAGE_BYTES);
        if end > self.nr_pages {
            return Err(ended());
        }
        Ok(())
    }
}

impl ReadPages for Nowhere {
    fn nr_pages(&self) -> u64 {
        self.nr_pages
    }

    fn read(&self, dpn: u64, pages: &mut [u8]) -> io::Result<()> {
        self.require(dpn, pages.len())?;
        pages.fill(0);
        Ok(())
    }
}

impl WritePages for Nowhere {
    fn write(&self, dpn: u64, pages: &[u8]) -> io::Result<()> {
        self.require(dpn, pages.len())
    }

    fn flush(&self) -> io::Result<()> {
        Ok(())
    }
}

/// An image in memory, for tests.
#[derive(Clone, Debug, Default)]
pub struct Ram {
    bytes: RefCell<Vec<u8>>,
}

impl Ram {
    pub fn new(bytes: Vec<u8>) -> Self {
        Self {
            bytes: RefCell::new(bytes),
        }
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes.into_inner()
    }

    fn range(dpn: u64, bytes: usize) -> std::ops::Range<usize> {
        let first = dpn.saturating_mul(PAGE_BYTES) as usize;
        first..first.saturating_add(bytes)
    }
}

fn ended() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}

impl ReadPages for Ram {
    fn nr_pages(&self) -> u64 {
        self.bytes.borrow().len() as u64 / PAGE_BYTES
    }

    fn read(&self, dpn: u64, pages: &mut [u8]) -> io::Result<()> {
        let bytes = self.bytes.borrow();
        let from = bytes.get(Self::range(dpn, pages.len())).ok_or_else(ended)?;
        pages.copy_from_slice(from);
        Ok(())
    }
}

impl WritePages for Ram {
    fn write(&self, dpn: u64, pages: &[u8]) -> io::Result<()> {
        let mut bytes = self.bytes.borrow_mut();
        let to = bytes
            .get_mut(Self::range(dpn, pages.len()))
            .ok_or_else(ended)?;
        to.copy_from_slice(pages);
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        Ok(())
    }
}
