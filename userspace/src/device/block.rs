// SPDX-License-Identifier: GPL-2.0-only
//! A block device, or an image file of one, from where the target begins: opened so that nobody
//! else has it where that matters, with its size and what the kernel says of its blocks.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt};
use std::path::Path;

use nix::fcntl::{posix_fadvise, Flock, FlockArg, PosixFadviseAdvice};
use nix::libc::{self, c_int, c_uint};

use super::loops;
use crate::io_engine::many;
use crate::io_engine::pages::{read_each, Piece, ReadPages, WritePages};
use crate::units::{PAGE_BYTES, SECTOR_BYTES};

/// How a device is to be opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenHow {
    pub write: bool,
    /// Fail with EBUSY if the block device, or a loop device that shows it or the file, is mounted or
    /// part of another one; with EWOULDBLOCK if another process has the image file for this, unless both
    /// only read.
    pub exclusive: bool,
}

/// A block device or an image file.
#[derive(Debug)]
pub struct Device {
    file: File,
    start_bytes: u64,
    bytes: u64,
    is_block: bool,
    /// As long as they are open, nobody else has them.
    _loops: Vec<File>,
    /// The same of an image file, among those who ask.
    _locked: Option<Flock<File>>,
}

/// What a block device says about itself, in bytes; of an image file nothing is known.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Limits {
    pub logical_block_bytes: u32,
    pub physical_block_bytes: u32,
    pub optimal_io_bytes: u32,
}

nix::ioctl_read_bad!(blksszget, nix::request_code_none!(0x12, 104), c_int);
nix::ioctl_read_bad!(blkioopt, nix::request_code_none!(0x12, 121), c_uint);
nix::ioctl_read_bad!(blkpbszget, nix::request_code_none!(0x12, 123), c_uint);

/// Keep others from writing an image file, and if it is to be written, from reading it.
fn lock(file: &File, how: OpenHow) -> io::Result<Flock<File>> {
    let kind = if how.write {
        FlockArg::LockExclusiveNonblock
    } else {
        FlockArg::LockSharedNonblock
    };
    Flock::lock(file.try_clone()?, kind).map_err(|(_, err)| err.into())
}

impl Device {
    /// Open a device of which the target uses everything from `start_sectors` on.
    ///
    /// # Errors
    ///
    /// When it cannot be opened, is neither block device nor file, or ends before.
    pub fn open(path: &Path, start_sectors: u64, how: OpenHow) -> io::Result<Self> {
        let file_type = std::fs::metadata(path)?.file_type();
        let is_block = file_type.is_block_device();
        if !is_block && !file_type.is_file() {
            return Err(io::Error::other("It is neither a block device nor a file"));
        }
        // Of a file that flag would mean something else.
        let flags = if how.exclusive && is_block {
            libc::O_EXCL
        } else {
            0
        };
        let mut file = OpenOptions::new()
            .read(true)
            .write(how.write)
            .custom_flags(flags)
            .open(path)?;
        let loops = if how.exclusive {
            loops::take(&file)?
        } else {
            Vec::new()
        };
        let locked = (how.exclusive && !is_block).then(|| lock(&file, how));
        let locked = locked.transpose()?;
        // Who writes to the device below device-mapper goes around the page cache, and as long as
        // somebody has it open (the server of a network block device does) what was read before stays
        // there.
        if is_block {
            posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED)?;
        }
        let bytes = file.seek(SeekFrom::End(0))?;
        let start_bytes = start_sectors
            .checked_mul(SECTOR_BYTES)
            .filter(|start| *start <= bytes)
            .ok_or_else(|| io::Error::other("It ends before the place where it should begin"))?;
        Ok(Self {
            file,
            start_bytes,
            bytes: bytes - start_bytes,
            is_block,
            _loops: loops,
            _locked: locked,
        })
    }

    /// What the kernel says about a block device.
    ///
    /// # Errors
    ///
    /// When it does not.
    pub fn limits(&self) -> nix::Result<Limits> {
        let mut logical: c_int = 0;
        let mut physical: c_uint = 0;
        let mut optimal: c_uint = 0;

        if !self.is_block {
            return Ok(Limits::default());
        }
        let fd = self.file.as_raw_fd();
        // SAFETY: the descriptor is open while `self` lives, and each ioctl writes one
        // number of that type.
        unsafe {
            blksszget(fd, &mut logical)?;
            blkpbszget(fd, &mut physical)?;
            blkioopt(fd, &mut optimal)?;
        }
        Ok(Limits {
            logical_block_bytes: logical.unsigned_abs(),
            physical_block_bytes: physical,
            optimal_io_bytes: optimal,
        })
    }

    /// Read any bytes.
    ///
    /// # Errors
    ///
    /// When the device does, or ends before.
    pub fn read_bytes(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file
            .read_exact_at(bytes, self.start_bytes.saturating_add(at))
    }

    /// Write any bytes.
    ///
    /// # Errors
    ///
    /// When the device does.
    pub fn write_bytes(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.file
            .write_all_at(bytes, self.start_bytes.saturating_add(at))
    }

    /// Size, from where the target begins.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn is_block(&self) -> bool {
        self.is_block
    }
}

impl ReadPages for Device {
    fn nr_pages(&self) -> u64 {
        self.bytes / PAGE_BYTES
    }

    fn read(&self, dpn: u64, pages: &mut [u8]) -> io::Result<()> {
        self.read_bytes(dpn.saturating_mul(PAGE_BYTES), pages)
    }

    fn read_many(&self, pieces: &mut dyn Iterator<Item = Range<u64>>, done: &mut Piece<'_>) {
        let unread = many::read(&self.file, self.start_bytes, pieces, done);

        // Nothing is left of them, unless the kernel does not let us do it that way.
        read_each(self, &mut unread.into_iter().chain(pieces), done);
    }
}

impl WritePages for Device {
    fn write(&self, dpn: u64, pages: &[u8]) -> io::Result<()> {
        self.write_bytes(dpn.saturating_mul(PAGE_BYTES), pages)
    }

    fn flush(&self) -> io::Result<()> {
        self.file.sync_all()
    }
}
