// SPDX-License-Identifier: GPL-2.0-only
//! A device whose pages are counted for who looks on, and which does nothing any more once someone
//! wants the work to end.

use std::io;
use std::ops::Range;

use super::pages::{Piece, ReadPages, WritePages};
use crate::progress::Progress;
use crate::units::PAGE_BYTES;

pub struct Shown<'a, D> {
    device: &'a D,
    progress: &'a Progress,
}

impl<'a, D> Shown<'a, D> {
    pub fn new(device: &'a D, progress: &'a Progress) -> Self {
        Self { device, progress }
    }

    /// What was found is worth nothing when this has failed once: ask [`Progress::go_on`].
    fn go_on(&self, bytes: usize) -> io::Result<()> {
        self.progress.advance(bytes as u64 / PAGE_BYTES);
        // Not the kind Interrupted: that one is for trying again.
        self.progress.go_on().map_err(io::Error::other)
    }
}

impl<D: ReadPages> ReadPages for Shown<'_, D> {
    fn nr_pages(&self) -> u64 {
        self.device.nr_pages()
    }

    fn read(&self, dpn: u64, pages: &mut [u8]) -> io::Result<()> {
        self.go_on(pages.len())?;
        self.device.read(dpn, pages)
    }

    fn read_many(&self, pieces: &mut dyn Iterator<Item = Range<u64>>, done: &mut Piece<'_>) {
        let go_on = |piece: &Range<u64>| {
            let nr_pages = piece.end.saturating_sub(piece.start);
            self.go_on((nr_pages * PAGE_BYTES) as usize).is_ok()
        };
        self.device.read_many(&mut pieces.take_while(go_on), done);
    }
}

impl<D: WritePages> WritePages for Shown<'_, D> {
    fn write(&self, dpn: u64, pages: &[u8]) -> io::Result<()> {
        self.go_on(pages.len())?;
        self.device.write(dpn, pages)
    }

    fn flush(&self) -> io::Result<()> {
        self.go_on(0)?;
        self.device.flush()
    }
}
