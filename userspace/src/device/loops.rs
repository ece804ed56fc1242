// SPDX-License-Identifier: GPL-2.0-only
//! Loop devices that show an image file, or another device: who has one of them uses that.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use nix::libc;

const SYSFS: &str = "/sys/block";

fn is_same(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    if one.file_type().is_block_device() && other.file_type().is_block_device() {
        return one.rdev() == other.rdev();
    }
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Does a loop device, by its folder in sysfs, show that?
fn shows(sysfs: &Path, shown: &fs::Metadata) -> bool {
    let Ok(path) = fs::read(sysfs.join("loop/backing_file")) else {
        return false;
    };
    let path = OsStr::from_bytes(path.strip_suffix(b"\n").unwrap_or(&path));

    fs::metadata(path).is_ok_and(|there| is_same(&there, shown))
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
        if shows(&found.path(), &shown) {
            let node = Path::new("/dev").join(found.file_name());
            let mut exclusively = OpenOptions::new();
            exclusively.read(true).custom_flags(libc::O_EXCL);
            taken.push(exclusively.open(node)?);
        }
    }
    Ok(taken)
}
