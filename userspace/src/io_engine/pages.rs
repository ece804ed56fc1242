// SPDX-License-Identifier: GPL-2.0-only
//! Devices and images as pages of 4 KiB, counted from where the target begins.

use std::cell::{Cell, RefCell};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt};
use std::path::Path;

use nix::libc::{self, c_int, c_uint};

use crate::units::{PAGE_BYTES, SECTOR_BYTES};

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

/// How a device is to be opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenHow {
    pub write: bool,
    /// Fail with EBUSY if the block device is mounted or part of another one.
    pub exclusive: bool,
}

/// A block device or an image file.
#[derive(Debug)]
pub struct Device {
    file: File,
    start_bytes: u64,
    bytes: u64,
    is_block: bool,
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
}

impl WritePages for Device {
    fn write(&self, dpn: u64, pages: &[u8]) -> io::Result<()> {
        self.write_bytes(dpn.saturating_mul(PAGE_BYTES), pages)
    }

    fn flush(&self) -> io::Result<()> {
        self.file.sync_all()
    }
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
