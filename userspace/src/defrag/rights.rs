// SPDX-License-Identifier: GPL-2.0-only
//! What a program may do besides: the kernel takes that from a file which is written, whoever writes,
//! and whatever. Given back it would be another moment later, and not at all by whoever is killed.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::errno::Errno;
use nix::libc;
use nix::unistd::geteuid;

use super::DefragError;
use crate::fs::file::open_to_read;

/// Where the kernel keeps the capabilities of a file.
const CAPABILITIES: &CStr = c"security.capability";

/// Set-group-ID means something else where the group may not execute the file.
const SET_GROUP: u32 = libc::S_ISGID | libc::S_IXGRP;

fn has_capabilities(file: &File) -> io::Result<bool> {
    // SAFETY: the descriptor is open while `file` lives, the name ends with a zero, and nothing is written.
    let nr = unsafe {
        libc::fgetxattr(
            file.as_raw_fd(),
            CAPABILITIES.as_ptr(),
            std::ptr::null_mut(),
            0,
        )
    };

    match Errno::result(nr) {
        Ok(_) => Ok(true),
        Err(Errno::ENODATA | Errno::EOPNOTSUPP) => Ok(false),
        Err(err) => Err(err.into()),
    }
}

fn sets_id(mode: u32) -> bool {
    mode & libc::S_ISUID != 0 || mode & SET_GROUP == SET_GROUP
}

/// Refuse an open file that would lose something by being written.
///
/// # Errors
///
/// When it would, or that cannot be found out.
pub fn refuse_loss_of(file: &File) -> Result<(), DefragError> {
    if has_capabilities(file)? {
        return Err(DefragError::Rights("file capabilities"));
    }
    // Root's writing leaves these.
    if !geteuid().is_root() && sets_id(file.metadata()?.mode()) {
        return Err(DefragError::Rights("set-user-ID or set-group-ID"));
    }
    Ok(())
}

/// The same, of a file that is not open.
///
/// # Errors
///
/// The same, and when it cannot be opened.
pub fn refuse_loss(path: &Path) -> Result<(), DefragError> {
    refuse_loss_of(&open_to_read(path)?)
}

#[cfg(test)]
mod tests {
    use super::{refuse_loss_of, sets_id};

    #[test]
    fn only_programs_have_what_is_lost() {
        assert!(sets_id(0o104_755) && sets_id(0o102_755) && sets_id(0o102_711));
        assert!(!sets_id(0o102_744) && !sets_id(0o101_777));
        refuse_loss_of(&tempfile::tempfile().unwrap()).unwrap();
    }
}
