// SPDX-License-Identifier: GPL-2.0-only
//! Metadata out of an exact dump, onto a device. There is no valid superblock until all of it is
//! there: half of it would be taken for a damaged log.

use std::io::{self, BufRead};
use std::ops::Range;

use super::block::page_with_crc32c;
use super::create::withdraw;
use super::exact::{ReadError, Reader, Zeroes};
use super::grown;
use super::layout::BLOCK_BYTES;
use super::places;
use super::superblock::Super;
use crate::io_engine::pages::{ReadPages, WritePages};

const ZEROES: [u8; BLOCK_BYTES] = [0; BLOCK_BYTES];

/// Write what a text has to a device that is large enough, and zeroes where it has nothing.
/// Until all is there the device has no valid superblock.
///
/// # Errors
///
/// When the text is not what it must be, or the device fails.
pub fn restore<R: BufRead>(reader: Reader<R>, device: &impl WritePages) -> Result<(), ReadError> {
    let clear = |dpn| -> io::Result<()> {
        // A sparse file stays one.
        if device.read_page(dpn).is_ok_and(|there| there == ZEROES) {
            return Ok(());
        }
        device.write(dpn, &ZEROES)
    };
    // What it has grown to since does not go with that, and the target would refuse it.
    withdraw(device)?;
    grown::wipe(device, &reader.superblock)?;
    restore_with(
        reader,
        device,
        Zeroes::Shown,
        |mut pages| pages.try_for_each(clear),
        |_, _| Ok(()),
    )
}

/// The same on a device that holds nothing. What the last draft's data was has a stand-in with the
/// same checksums, so that the draft counts if it did where the text is from.
///
/// # Errors
///
/// Like `restore`.
pub fn restore_image<R: BufRead>(
    reader: Reader<R>,
    device: &impl WritePages,
) -> Result<(), ReadError> {
    withdraw(device)?;
    // It is zero, and may be claimed to be so long that nobody could read all of it.
    restore_with(
        reader,
        device,
        Zeroes::LeftOut,
        |_| Ok(()),
        |dpn, sum| device.write(dpn, &page_with_crc32c(dpn, sum)),
    )
}

/// On a device without a superblock. `clear` gets the places at which the text has nothing, and
/// `stand_in` those of the last draft's data, and the checksums.
fn restore_with<R: BufRead>(
    reader: Reader<R>,
    device: &impl WritePages,
    zeroes: Zeroes,
    mut clear: impl FnMut(Range<u64>) -> io::Result<()>,
    mut stand_in: impl FnMut(u64, u32) -> io::Result<()>,
) -> Result<(), ReadError> {
    let supers = reader.supers.clone();
    let behind = reader.for_each_page(zeroes, |pages, page| match page {
        Some(page) => device.write(pages.start, page),
        None => clear(pages),
    })?;
    for (dpn, sum) in behind.sums {
        stand_in(dpn, sum)?;
    }
    device.flush()?;
    for (dpn, page) in supers {
        device.write(dpn, &page)?;
    }
    device.flush()?;
    Ok(())
}

/// Pages that are read at once.
const CHUNK_PAGES: u64 = 64;

/// Is there nothing where a log would have its metadata? What cannot be read may be something.
pub fn is_empty(device: &impl ReadPages, superblock: &Super) -> bool {
    let is_zero = |first: u64, end: u64| {
        let mut pages = vec![0; (end - first) as usize * BLOCK_BYTES];
        device.read(first, &mut pages).is_ok() && pages.iter().all(|byte| *byte == 0)
    };
    places::metadata(superblock).all(|piece| {
        (piece.start..piece.end)
            .step_by(CHUNK_PAGES as usize)
            .all(|first| is_zero(first, piece.end.min(first + CHUNK_PAGES)))
    })
}

/// What a text is, all of which was read.
pub struct Verified {
    pub superblock: Super,
    /// Pages of metadata that it does not have, since they could not be read when it was written.
    pub nr_unreadable: u64,
}

/// Read a text to its end, so that nothing is begun that cannot be ended.
///
/// # Errors
///
/// When the text is not what it must be.
pub fn verify<R: BufRead>(reader: Reader<R>) -> Result<Verified, ReadError> {
    let superblock = reader.superblock.clone();

    let behind = reader.for_each_page(Zeroes::LeftOut, |_, _| Ok(()))?;
    Ok(Verified {
        superblock,
        nr_unreadable: behind.nr_unreadable,
    })
}
