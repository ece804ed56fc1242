// SPDX-License-Identifier: GPL-2.0-only
//! Device-mapper without `dmsetup`, for as long as a device is suspended: who starts a program then
//! may wait for a page of it that lies on that very device, and nobody would resume it. So everything
//! is opened before, memory is held, and what is left are a few ioctls.

use std::fs::{File, OpenOptions};
use std::io;
use std::mem::size_of;
use std::os::fd::AsRawFd;
use std::path::Path;

use nix::libc;
use thiserror::Error;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::tables::Segment;

/// Where device-mapper takes its ioctls.
const CONTROL: &str = "/dev/mapper/control";

/// Bytes of a question and its answer: room for the status of a few targets.
const BUFFER_BYTES: usize = 16 << 10;

const NAME_BYTES: usize = 128;
const UUID_BYTES: usize = 129;
const TYPE_BYTES: usize = 16;

/// Flags of `struct dm_ioctl`.
const SUSPEND: u32 = 1 << 1;
const STATUS_TABLE: u32 = 1 << 4;
const BUFFER_FULL: u32 = 1 << 8;
const SKIP_LOCKFS: u32 = 1 << 10;
const NOFLUSH: u32 = 1 << 11;
const QUERY_INACTIVE: u32 = 1 << 12;

/// The kernel's `struct dm_ioctl`.
#[derive(Clone, Copy, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
struct Header {
    version: [u32; 3],
    data_size: u32,
    data_start: u32,
    target_count: u32,
    open_count: i32,
    flags: u32,
    event_nr: u32,
    padding: u32,
    dev: u64,
    name: [u8; NAME_BYTES],
    uuid: [u8; UUID_BYTES],
    data: [u8; 7],
}

/// The kernel's `struct dm_target_spec`.
#[derive(Clone, Copy, FromBytes, Immutable, IntoBytes, KnownLayout)]
#[repr(C)]
struct Spec {
    start_sectors: u64,
    len_sectors: u64,
    status: i32,
    /// Where the next one begins, in bytes from the first one.
    next: u32,
    kind: [u8; TYPE_BYTES],
}

nix::ioctl_readwrite!(dev_suspend, 0xfd, 6, Header);
nix::ioctl_readwrite!(table_clear, 0xfd, 10, Header);
nix::ioctl_readwrite!(table_status, 0xfd, 12, Header);

#[derive(Debug, Error)]
pub enum ControlError {
    #[error("{CONTROL} cannot be opened: {0}")]
    Open(#[source] io::Error),
    #[error("memory cannot be held: {0}")]
    Memory(#[source] io::Error),
    #[error("\"{0}\" is too long for the name of a device")]
    Name(String),
    #[error("{0} is not {1}: {2}")]
    Failed(String, &'static str, nix::Error),
    #[error("the status of {0} is not understood")]
    Status(String),
}

/// All memory that the process has, and will have, stays where it is.
struct HeldMemory;

impl HeldMemory {
    fn hold() -> Result<Self, ControlError> {
        // SAFETY: takes no memory of ours.
        let done = unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) };
        if done != 0 {
            return Err(ControlError::Memory(io::Error::last_os_error()));
        }
        Ok(Self)
    }
}

impl Drop for HeldMemory {
    fn drop(&mut self) {
        // SAFETY: likewise.
        unsafe { libc::munlockall() };
    }
}

/// The way to device-mapper for one device, with memory held as long as it is there.
pub struct Control {
    file: File,
    name: String,
    /// Aligned as the header is.
    buffer: Vec<u64>,
    _held: HeldMemory,
}

fn trimmed(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

/// The targets that an answer has behind its header.
fn parse_specs(answer: &[u8], nr_targets: u32) -> Option<Vec<Segment>> {
    let mut segments = Vec::new();
    let mut at = 0;

    for _ in 0..nr_targets {
        let (spec, params) = Spec::read_from_prefix(answer.get(at..)?).ok()?;
        segments.push(Segment {
            start_sectors: spec.start_sectors,
            len_sectors: spec.len_sectors,
            kind: trimmed(&spec.kind),
            params: trimmed(params).trim().to_owned(),
        });
        at = usize::try_from(spec.next).ok()?;
    }
    Some(segments)
}

impl Control {
    /// # Errors
    ///
    /// When the name is none, device-mapper is not there, or memory cannot be held.
    pub fn open(name: &str) -> Result<Self, ControlError> {
        if name.len() >= NAME_BYTES {
            return Err(ControlError::Name(name.to_owned()));
        }
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(Path::new(CONTROL))
            .map_err(ControlError::Open)?;

        Ok(Self {
            file,
            name: name.to_owned(),
            buffer: vec![0; BUFFER_BYTES / size_of::<u64>()],
            _held: HeldMemory::hold()?,
        })
    }

    /// Ask the kernel something about the device; what it answers is in the buffer.
    fn ask(
        &mut self,
        flags: u32,
        what: &'static str,
        ioctl: unsafe fn(i32, *mut Header) -> nix::Result<i32>,
    ) -> Result<Header, ControlError> {
        let mut header = Header {
            version: [4, 0, 0],
            data_size: BUFFER_BYTES as u32,
            data_start: size_of::<Header>() as u32,
            target_count: 0,
            open_count: 0,
            flags,
            event_nr: 0,
            padding: 0,
            dev: 0,
            name: [0; NAME_BYTES],
            uuid: [0; UUID_BYTES],
            data: [0; 7],
        };
        for (to, from) in header.name.iter_mut().zip(self.name.bytes()) {
            *to = from;
        }
        let bytes = self.buffer.as_mut_bytes();
        bytes.fill(0);
        if let Some(to) = bytes.get_mut(..size_of::<Header>()) {
            to.copy_from_slice(header.as_bytes());
        }
        // SAFETY: the buffer is aligned for a header, which says how long it is.
        unsafe { ioctl(self.file.as_raw_fd(), self.buffer.as_mut_ptr().cast()) }
            .map_err(|err| ControlError::Failed(self.name.clone(), what, err))?;
        let answer = Header::read_from_prefix(self.buffer.as_bytes());
        answer
            .map(|(header, _)| header)
            .map_err(|_| ControlError::Status(self.name.clone()))
    }

    /// Let nothing new through, and wait for what is on its way; what a target pushes back waits for
    /// the next table. A filesystem is not asked to write what it has.
    ///
    /// # Errors
    ///
    /// When the kernel refuses, or a signal comes; the device is not suspended then.
    pub fn suspend(&mut self) -> Result<(), ControlError> {
        let flags = SUSPEND | SKIP_LOCKFS | NOFLUSH;
        self.ask(flags, "suspended", dev_suspend).map(|_| ())
    }

    /// Put the loaded table to work, if there is one, and the device.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub fn resume(&mut self) -> Result<(), ControlError> {
        let flags = SKIP_LOCKFS | NOFLUSH;
        self.ask(flags, "resumed", dev_suspend).map(|_| ())
    }

    /// Forget the table that is loaded beside the one at work.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub fn clear(&mut self) -> Result<(), ControlError> {
        let what = "rid of the table that was loaded";
        self.ask(0, what, table_clear).map(|_| ())
    }

    /// What the targets at work say of themselves.
    ///
    /// # Errors
    ///
    /// When the kernel does not tell, or more than there is room for.
    pub fn status(&mut self) -> Result<Vec<Segment>, ControlError> {
        self.targets(NOFLUSH, "telling its status")
    }

    /// The table that is loaded beside the one at work.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn loaded(&mut self) -> Result<Vec<Segment>, ControlError> {
        let flags = NOFLUSH | STATUS_TABLE | QUERY_INACTIVE;
        self.targets(flags, "telling the table that was loaded")
    }

    fn targets(&mut self, flags: u32, what: &'static str) -> Result<Vec<Segment>, ControlError> {
        let header = self.ask(flags, what, table_status)?;
        let unknown = || ControlError::Status(self.name.clone());

        if header.flags & BUFFER_FULL != 0 {
            return Err(unknown());
        }
        let answer = self.buffer.as_bytes().get(header.data_start as usize..);
        answer
            .and_then(|answer| parse_specs(answer, header.target_count))
            .ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use std::mem::{offset_of, size_of};

    use zerocopy::IntoBytes;

    use super::{parse_specs, Header, Spec};

    #[test]
    fn structures_are_the_kernel_s() {
        assert_eq!(size_of::<Header>(), 312);
        assert_eq!(offset_of!(Header, dev), 40);
        assert_eq!(offset_of!(Header, uuid), 176);
        assert_eq!(size_of::<Spec>(), 40);
    }

    #[test]
    fn targets_follow_one_another_by_their_places() {
        let mut answer = Vec::new();
        for (start_sectors, next) in [(0, 56), (8, 112)] {
            let mut kind = [0; 16];
            kind[..6].copy_from_slice(b"mirror");
            let spec = Spec {
                start_sectors,
                len_sectors: 8,
                status: 0,
                next,
                kind,
            };
            answer.extend(spec.as_bytes());
            answer.extend(b"2 254:1 254:2 \0\0");
        }
        let found = parse_specs(&answer, 2).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].to_string(), "8 8 mirror 2 254:1 254:2");
        assert!(parse_specs(&answer, 3).is_none());
    }
}
