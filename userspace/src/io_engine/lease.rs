// SPDX-License-Identifier: GPL-2.0-only
//! A lease: as long as we have it, nobody else has the file open, and whoever wants to waits.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;

use nix::errno::Errno;
use nix::libc;
use signal_hook::consts::SIGIO;
use signal_hook::flag;

/// Let go of when dropped.
pub struct Lease<'a> {
    file: &'a File,
}

impl<'a> Lease<'a> {
    /// Of a file that is open for reading and writing; `None`: somebody else has it open.
    ///
    /// # Errors
    ///
    /// When the filesystem has no leases, or we must not have one.
    pub fn take(file: &'a File) -> io::Result<Option<Self>> {
        // Whoever waits is announced by a signal, which would end us.
        flag::register(SIGIO, Arc::new(AtomicBool::new(false)))?;
        // SAFETY: the descriptor is open while `file` lives, and the argument is a number.
        let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_WRLCK) };

        match Errno::result(result) {
            Ok(_) => Ok(Some(Self { file })),
            Err(Errno::EAGAIN | Errno::EBUSY) => Ok(None),
            Err(err) => Err(err.into()),
        }
    }

    /// Is it still ours, and does nobody wait for it?
    #[must_use]
    pub fn holds(&self) -> bool {
        // SAFETY: the descriptor is open while `file` lives, and there is no argument.
        let lease = unsafe { libc::fcntl(self.file.as_raw_fd(), libc::F_GETLEASE) };
        lease == libc::F_WRLCK
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        // SAFETY: as above. A lease ends with its descriptor at the latest.
        unsafe { libc::fcntl(self.file.as_raw_fd(), libc::F_SETLEASE, libc::F_UNLCK) };
    }
}
