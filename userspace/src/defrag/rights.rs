// SPDX-License-Identifier: GPL-2.0-only
//! What a program may do besides: the kernel takes that from a file which is written, whoever writes,
//! and whatever. Given back it would be another moment later, and not at all by whoever is killed.

use std::ffi::CStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::errno::Errno;
use nix::libc;
use nix::unistd::{getegid, getgroups};

use super::DefragError;
use crate::fs::file::open_to_read;

/// Where the kernel keeps the capabilities of a file.
const CAPABILITIES: &CStr = c"security.capability";

/// Who has it may write to a file, and leave it set-user-ID and set-group-ID: its bit in a set of capabilities.
const CAP_FSETID: u64 = 1 << 4;

/// The first user namespace, in which that counts, has this number on every machine.
const FIRST_NAMESPACE: u64 = 0xeffffffd;

/// The effective capabilities of this thread, of what the kernel says of it.
fn capabilities(status: &str) -> Option<u64> {
    let digits = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(digits.trim(), 16).ok()
}

/// Does the kernel leave them when we write?
fn leaves_ids() -> bool {
    let status = fs::read_to_string("/proc/thread-self/status").ok();
    let effective = status.as_deref().and_then(capabilities).unwrap_or(0);

    effective & CAP_FSETID != 0
        && fs::metadata("/proc/self/ns/user").is_ok_and(|file| file.ino() == FIRST_NAMESPACE)
}

/// Are we in a group?
fn is_in(group: u32) -> bool {
    let all = getgroups().unwrap_or_default();
    getegid().as_raw() == group || all.iter().any(|gid| gid.as_raw() == group)
}

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

/// Where the group may not execute the file, set-group-ID is lost only if who writes is not in that group.
fn loses_ids(mode: u32, is_in_group: bool) -> bool {
    let sets_group = mode & libc::S_ISGID != 0;
    let group_executes = mode & libc::S_IXGRP != 0;

    mode & libc::S_ISUID != 0 || (sets_group && (group_executes || !is_in_group))
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
    let metadata = file.metadata()?;
    if loses_ids(metadata.mode(), is_in(metadata.gid())) && !leaves_ids() {
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
    use std::fs;
    use std::os::unix::fs::MetadataExt;
    use std::process::Command;

    use super::{capabilities, loses_ids, refuse_loss_of, CAP_FSETID, FIRST_NAMESPACE};

    #[test]
    fn only_programs_have_what_is_lost() {
        for is_in_group in [true, false] {
            for mode in [0o104_755, 0o102_755, 0o102_711] {
                assert!(loses_ids(mode, is_in_group), "{mode:o}");
            }
            assert!(!loses_ids(0o101_777, is_in_group));
            assert_eq!(loses_ids(0o102_744, is_in_group), !is_in_group);
        }
        refuse_loss_of(&tempfile::tempfile().unwrap()).unwrap();
    }

    #[test]
    fn who_is_root_may_lack_what_leaves_them() {
        assert_eq!(
            capabilities("CapPrm:\t0\nCapEff:\t0000000000000010\n"),
            Some(CAP_FSETID)
        );
        assert_eq!(capabilities("CapEff:\tx\n"), None);
        assert_eq!(capabilities(""), None);
        // Root of a container is root of a namespace of its own.
        let inside = Command::new("unshare")
            .args([
                "--user",
                "--map-root-user",
                "stat",
                "-Lc",
                "%i",
                "/proc/self/ns/user",
            ])
            .output();
        let here = fs::metadata("/proc/self/ns/user").unwrap().ino();
        if let Some(inside) = inside.ok().filter(|inside| inside.status.success()) {
            let inside = String::from_utf8(inside.stdout).unwrap();
            let inside: u64 = inside.trim().parse().unwrap();
            assert!(inside != FIRST_NAMESPACE && inside != here);
        }
    }
}
