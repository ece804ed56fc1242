// SPDX-License-Identifier: GPL-2.0-only
//! Large reads of a device, many of them on the way at once, past the page cache: what is read once
//! from end to end would only push out of it what others use, and a drive is as fast as it can be
//! only if it always has something to do.

use std::fs::{File, OpenOptions};
use std::io;
use std::mem;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

use io_uring::{opcode, types, IoUring};
use nix::libc;

use super::pages::Piece;
use super::ring::Aligned;
use crate::units::PAGE_BYTES;

/// Reads that are on the way at once.
const MOST_READS: usize = 16;

/// Pages of the longest one.
pub const PIECE_PAGES: u64 = 256;

/// The same file, past the page cache where that is possible. It has been opened already, and by its
/// name something else may be there now.
fn direct(file: &File) -> Option<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_DIRECT)
        .open(format!("/proc/self/fd/{}", file.as_raw_fd()))
        .ok()
}

/// Reads that are on the way.
struct Reads {
    // The ring goes first: while it is there, reads into the memory may be on the way.
    ring: IoUring,
    /// For each read: its memory, and what is read.
    memory: Vec<Aligned>,
    pieces: Vec<Option<Range<u64>>>,
    fd: types::Fd,
    start_bytes: u64,
}

impl Reads {
    fn begin(&mut self, slot: usize, piece: Range<u64>) -> io::Result<()> {
        let nr_bytes = piece.clone().count() as u64 * PAGE_BYTES;
        let at = self.start_bytes.saturating_add(piece.start * PAGE_BYTES);
        let (Some(memory), Some(of_slot)) = (self.memory.get_mut(slot), self.pieces.get_mut(slot))
        else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        *of_slot = Some(piece);
        if nr_bytes > memory.bytes().len() as u64 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let read = opcode::Read::new(self.fd, memory.as_mut_ptr(), nr_bytes as u32)
            .offset(at)
            .build()
            .user_data(slot as u64);
        // SAFETY: the memory lives as long as the ring and is as long as the read, or is given up, see
        // `give_up`; the file is there until all reads have completed, and nobody uses the memory until
        // then.
        unsafe { self.ring.submission().push(&read) }.map_err(io::Error::other)?;
        self.ring.submit().map(|_| ())
    }

    /// One that has completed: which, and how many bytes it has got. `None`: none is on the way.
    fn next(&mut self) -> io::Result<Option<(usize, io::Result<u64>)>> {
        if self.pieces.iter().all(Option::is_none) {
            return Ok(None);
        }
        loop {
            if let Some(done) = self.ring.completion().next() {
                let result = match u64::try_from(done.result()) {
                    Ok(nr_bytes) => Ok(nr_bytes),
                    Err(_) => Err(io::Error::from_raw_os_error(-done.result())),
                };
                return Ok(Some((done.user_data() as usize, result)));
            }
            match self.ring.submit_and_wait(1) {
                Ok(_) => {}
                // A signal is no reason to leave reads alone.
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                Err(err) => return Err(err),
            }
        }
    }

    /// Hand what a read has got to `done`.
    fn finish(&mut self, slot: usize, got: io::Result<u64>, done: &mut Piece<'_>) {
        let piece = self.pieces.get_mut(slot).and_then(Option::take);
        let (Some(piece), Some(memory)) = (piece, self.memory.get(slot)) else {
            return;
        };
        let nr_bytes = piece.clone().count() * PAGE_BYTES as usize;
        let bytes = memory.bytes().get(..nr_bytes).unwrap_or(&[]);
        match got {
            Ok(got) if got == nr_bytes as u64 => done(piece, Ok(bytes)),
            Ok(_) => done(piece, Err(io::ErrorKind::UnexpectedEof.into())),
            Err(err) => done(piece, Err(err)),
        }
    }

    /// The kernel does not say any more what became of reads: they may still write into memory.
    fn give_up(mut self) -> Vec<Range<u64>> {
        mem::forget(mem::take(&mut self.memory));
        self.pieces.into_iter().flatten().collect()
    }

    fn go(
        &mut self,
        pieces: &mut dyn Iterator<Item = Range<u64>>,
        done: &mut Piece<'_>,
    ) -> io::Result<()> {
        for slot in 0..self.pieces.len() {
            if let Some(piece) = pieces.next() {
                self.begin(slot, piece)?;
            }
        }
        while let Some((slot, got)) = self.next()? {
            self.finish(slot, got, done);
            if let Some(piece) = pieces.next() {
                self.begin(slot, piece)?;
            }
        }
        Ok(())
    }
}

/// Read pieces of a file or device of which pages count from `start_bytes` on, each of up to
/// [`PIECE_PAGES`]; they come in any order. Returns those of which nothing is known, where the kernel
/// does not let us go on: neither them nor what is left of `pieces` has been read.
pub fn read(
    file: &File,
    start_bytes: u64,
    pieces: &mut dyn Iterator<Item = Range<u64>>,
    done: &mut Piece<'_>,
) -> Vec<Range<u64>> {
    let Ok(ring) = IoUring::new(MOST_READS as u32) else {
        return Vec::new();
    };
    let direct = direct(file);
    let memory = (0..MOST_READS).map(|_| Aligned::new(PIECE_PAGES as usize));
    let mut reads = Reads {
        ring,
        memory: memory.collect(),
        pieces: vec![None; MOST_READS],
        fd: types::Fd(direct.as_ref().unwrap_or(file).as_raw_fd()),
        start_bytes,
    };

    match reads.go(pieces, done) {
        Ok(()) => Vec::new(),
        Err(_) => reads.give_up(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use super::{read, IoUring, MOST_READS};

    #[test]
    fn every_piece_is_what_lies_there() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let bytes: Vec<u8> = (0..1001u32)
            .flat_map(|page| page.to_le_bytes().repeat(1024))
            .collect();
        file.write_all(&bytes).unwrap();
        let file = File::open(file.path()).unwrap();
        // Where the kernel lets nobody use it there is nothing to try.
        if IoUring::new(MOST_READS as u32).is_err() {
            return;
        }
        let mut pieces: Vec<_> = (0..100).map(|at| at * 9..at * 9 + 1 + at % 9).collect();
        pieces.push(744..1000);
        pieces.push(999..1002);
        let (mut nr_read, mut nr_failed) = (0, 0);
        let left = read(
            &file,
            4096,
            &mut pieces.clone().into_iter(),
            &mut |piece, result| {
                let Ok(bytes) = result else {
                    assert_eq!(piece, 999..1002);
                    nr_failed += 1;
                    return;
                };
                assert_eq!(bytes.len() as u64, (piece.end - piece.start) * 4096);
                for (dpn, page) in piece.zip(bytes.chunks_exact(4096)) {
                    assert_eq!(page, (dpn as u32 + 1).to_le_bytes().repeat(1024));
                }
                nr_read += 1;
            },
        );
        assert!(left.is_empty());
        assert_eq!((nr_read, nr_failed), (pieces.len() - 1, 1));
    }
}
