// SPDX-License-Identifier: GPL-2.0-only
//! The verbs: one file each.

pub mod check;
pub mod create;
pub mod defrag;
pub mod dump;
pub mod export;
pub mod format;
pub mod frag;
pub mod grow;
pub mod list;
pub mod overwrite;
pub mod pack;
pub mod pick;
mod pick_watch;
pub mod probe;
pub mod remove;
pub mod repair;
pub mod restore;
pub mod runs;
pub mod sim;
pub mod stat;
pub mod status;
pub mod top;
pub mod udev;

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use anyhow::anyhow;
use serde::Serialize;

use crate::fs::file::FileError;

/// Something that the caller of the tool got wrong: exit status 2 instead of 3.
#[derive(Debug)]
pub struct UsageError(pub String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for UsageError {}

/// Prints for programs. An error is the writer's own, so that the caller can tell which one.
fn print_json(out: &mut impl Write, what: &(impl Serialize + ?Sized)) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, what)?;
    writeln!(out)
}

/// Something that was examined is not as it must be: exit status 1.
#[derive(Debug)]
pub struct DamageFound(pub String);

impl fmt::Display for DamageFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for DamageFound {}

/// Are these two names of one device or file?
fn is_same(one: &Path, other: &Path) -> bool {
    let (Ok(one), Ok(other)) = (fs::metadata(one), fs::metadata(other)) else {
        return false;
    };
    if one.file_type().is_block_device() && other.file_type().is_block_device() {
        return one.rdev() == other.rdev();
    }
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// What is wrong with a file, with its name; the cause is said once.
fn about_file(path: &Path, err: FileError) -> anyhow::Error {
    let name = path.display();

    match err {
        FileError::Read(err) => anyhow!(err).context(format!("{name}: it cannot be read")),
        other => anyhow!("{name}: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NobodyReads;

    impl Write for NobodyReads {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn json_that_nobody_reads_is_a_broken_pipe() {
        let err = print_json(&mut NobodyReads, &[1, 2, 3]).unwrap_err();
        assert_eq!(err.kind(), io::ErrorKind::BrokenPipe);
    }
}
