// SPDX-License-Identifier: GPL-2.0-only
//! Loop devices that show an image file, or another device: who has one of them uses that.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::libc;

const SYSFS: &str = "/sys/block";

fn is_same(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    if one.file_type().is_block_device() && other.file_type().is_block_device() {
        return one.rdev() == other.rdev();
    }
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// What a loop device of that name shows, as far as this process can name it; `None`: nothing, or it is none.
#[must_use]
pub fn shown_by(name: &OsStr) -> Option<PathBuf> {
    let mut path = fs::read(Path::new(SYSFS).join(name).join("loop/backing_file")).ok()?;

    if path.last() == Some(&b'\n') {
        path.pop();
    }
    Some(OsString::from_vec(path).into())
}

/// Take all loop devices that show a file or device, so that nobody else has them as long as they are open.
///
/// # Errors
///
/// When somebody has one: it is mounted, or part of another device.
pub fn take(shown: &File) -> io::Result<Vec<File>> {
    let shown = shown.metadata()?;
    let mut taken = Vec::new();

    for found in fs::read_dir(SYSFS).into_iter().flatten().flatten() {
        let path = shown_by(&found.file_name());
        let there = path.and_then(|path| fs::metadata(path).ok());
        if there.is_some_and(|there| is_same(&there, &shown)) {
            let node = Path::new("/dev").join(found.file_name());
            let mut exclusively = OpenOptions::new();
            exclusively.read(true).custom_flags(libc::O_EXCL);
            taken.push(exclusively.open(node)?);
        }
    }
    Ok(taken)
}
