// SPDX-License-Identifier: GPL-2.0-only
//! What several verbs say and do in the same way: what is wrong and whose fault it is, opening a
//! device that nobody else may have, and printing for programs. The same thing wrong is said in the
//! same words everywhere. Devices that are written over are in `overwrite`.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail, Context, Result};
use clap::Args;
use serde::Serialize;

use crate::boot::saved_runs;
use crate::complain;
use crate::device::block::{Device, OpenHow};
use crate::format::superblock::PAGE_SECTORS;
use crate::format::volume::NoSuper;
use crate::fs::file::FileError;
use crate::fs::folder::walk;
use crate::io_engine::replace::{replace, require_replaceable};

/// Something that the caller of the tool got wrong: exit status 2 instead of 3.
#[derive(Debug)]
pub struct UsageError(pub String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for UsageError {}

/// The same, where any error is taken.
pub fn usage(sentence: impl Into<String>) -> anyhow::Error {
    UsageError(sentence.into()).into()
}

/// Prints for programs. An error is the writer's own, so that the caller can tell which one.
pub fn print_json(out: &mut impl Write, what: &(impl Serialize + ?Sized)) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, what)?;
    writeln!(out)
}

/// Counts what a program that reads an object would notice: a field that is gone or means something
/// else. One that is new does not count.
const OBJECT_VERSION: u32 = 1;

/// An object that says which version of it this is. There is no room for that in a list.
#[derive(Serialize)]
pub struct Versioned<'a, T> {
    version: u32,
    #[serde(flatten)]
    what: &'a T,
}

impl<'a, T: Serialize> Versioned<'a, T> {
    pub fn new(what: &'a T) -> Self {
        Self {
            version: OBJECT_VERSION,
            what,
        }
    }
}

/// Prints an object for programs, with its version.
pub fn print_object(out: &mut impl Write, what: &impl Serialize) -> io::Result<()> {
    print_json(out, &Versioned::new(what))
}

/// How much is said.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Saying {
    /// No bar, no remarks, nothing of what was done: only what was asked for, and what is wrong
    #[arg(short, long)]
    pub quiet: bool,
}

impl Saying {
    /// From now on as much is said as somebody wants to hear.
    pub fn begin(self) {
        if self.quiet {
            complain::be_quiet();
        }
    }

    /// The same, and where to say what was done; `is_asked_for`: that is more than a remark.
    pub fn what_was_done<W: Write>(self, out: &mut W, is_asked_for: bool) -> Said<'_, W> {
        self.begin();
        Said((!self.quiet || is_asked_for).then_some(out))
    }
}

/// Where a verb says what it has done; `None`: nobody wants to hear it.
#[derive(Debug)]
pub struct Said<'a, W>(Option<&'a mut W>);

impl<W: Write> Write for Said<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Some(out) => out.write(bytes),
            None => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.as_mut().map_or(Ok(()), |out| out.flush())
    }
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
pub fn is_same(one: &Path, other: &Path) -> bool {
    let (Ok(one), Ok(other)) = (fs::metadata(one), fs::metadata(other)) else {
        return false;
    };
    if one.file_type().is_block_device() && other.file_type().is_block_device() {
        return one.rdev() == other.rdev();
    }
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// What is wrong with a file, with its name; the cause is said once.
pub fn about_file(path: &Path, err: FileError) -> anyhow::Error {
    let name = path.display();

    match err {
        FileError::Read(err) => anyhow!(err).context(format!("{name}: it cannot be read")),
        other => anyhow!("{name}: {other}"),
    }
}

/// # Errors
///
/// When a target cannot begin there.
pub fn require_start(start: u64) -> Result<()> {
    if start % u64::from(PAGE_SECTORS) != 0 {
        return Err(usage("The first sector must be a multiple of 8"));
    }
    Ok(())
}

/// Open a device to be read, or written as well. Nobody else may have it: of one that is being written,
/// what is read is half of a change, and looks like damage.
///
/// # Errors
///
/// When it is in use, or cannot be opened.
pub fn open(path: &Path, start: u64, write: bool) -> Result<Device> {
    let how = OpenHow {
        write,
        exclusive: true,
    };

    require_start(start)?;
    Device::open(path, start, how).map_err(|err| open_error(path, err))
}

/// Why a device that nobody else may have cannot be opened.
pub fn open_error(path: &Path, err: io::Error) -> anyhow::Error {
    let name = path.display();

    match err.kind() {
        ErrorKind::ResourceBusy => usage(format!(
            "{name} is in use: it is mounted, or part of another device"
        )),
        ErrorKind::WouldBlock => usage(format!(
            "{name} is in use: another command is at work on it"
        )),
        _ => anyhow::Error::from(err).context(format!("{name} cannot be opened")),
    }
}

/// All of a device could be read.
///
/// # Errors
///
/// When it could not.
pub fn require_read(path: &Path, nr_failed_reads: u64) -> Result<()> {
    if nr_failed_reads == 0 {
        return Ok(());
    }
    bail!(
        "{} cannot be read in all places: {nr_failed_reads} reads failed",
        path.display()
    )
}

/// Why a device without a superblock that counts cannot be what it was asked for.
pub fn no_superblock(
    path: &Path,
    what: &str,
    why: &NoSuper,
    nr_failed_reads: u64,
) -> anyhow::Error {
    match require_read(path, nr_failed_reads) {
        Err(unread) => unread,
        Ok(()) => DamageFound(format!("{} cannot be {what}: {why}", path.display())).into(),
    }
}

/// All regular files below a folder. What could not be looked at is said, counted and left out.
pub fn files_below(folder: &Path, nr_barred: &mut usize) -> Vec<PathBuf> {
    let (files, barred) = walk(folder);

    for (path, err) in &barred {
        complain!("dieaware: {}: {err}.", path.display());
    }
    *nr_barred += barred.len();
    files
}

/// Everything that was meant could be looked at.
///
/// # Errors
///
/// When it could not.
pub fn require_all(nr_barred: usize) -> Result<()> {
    match nr_barred {
        0 => Ok(()),
        1 => bail!("1 file or folder could not be looked at"),
        nr => bail!("{nr} files or folders could not be looked at"),
    }
}

/// Bytes nobody can foresee.
pub fn random<const BYTES: usize>() -> Result<[u8; BYTES]> {
    let mut bytes = [0; BYTES];

    File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut bytes))
        .context("There are no random numbers")?;
    Ok(bytes)
}

/// What a verb writes to a file that it is given the name of. It takes the place of its like, and of
/// nothing else: of `--svg *.db` the first file would be the picture.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Written {
    Picture,
    Analysis,
    Trace,
    Samples,
    List,
}

/// How much of a file its sign takes at most.
const SIGN_WITHIN: u64 = 4096;

impl Written {
    /// What it is called, and how it begins, whatever blanks are in between.
    fn sign(self) -> (&'static str, &'static str) {
        match self {
            Self::Picture => ("picture", "<svg "),
            Self::Analysis => (
                "analysis of \"pick analyze\"",
                "{\"kind\": \"dieaware-pick\"",
            ),
            Self::Trace => ("trace of dieaware's", "# dieaware trace "),
            Self::Samples => ("file of \"dieaware export\"", "# HELP dieaware_"),
            Self::List => ("list of \"runs save\"", saved_runs::TITLE),
        }
    }

    /// # Errors
    ///
    /// When something else is in the file already.
    pub fn require_place(self, path: &Path) -> Result<()> {
        let there = fs::metadata(path);
        if !there.is_ok_and(|there| there.is_file() && there.len() > 0) {
            return Ok(());
        }
        self.require_in(path, File::open(path))
    }

    /// The same of what is open already.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn require_in(self, path: &Path, opened: io::Result<File>) -> Result<()> {
        let (name, sign) = self.sign();
        let without_blanks = |text: &str| text.split_whitespace().collect::<String>();
        let mut begin = Vec::new();
        opened
            .and_then(|file| file.take(SIGN_WITHIN).read_to_end(&mut begin))
            .with_context(|| format!("{} exists, and cannot be read", path.display()))?;
        if begin.is_empty()
            || without_blanks(&String::from_utf8_lossy(&begin)).starts_with(&without_blanks(sign))
        {
            return Ok(());
        }
        Err(usage(format!(
            "{} exists, and is no {name}: name another file, or remove it",
            path.display()
        )))
    }
}

/// Write a picture that somebody asked for by its name; what it was stays until all is written.
///
/// # Errors
///
/// When it cannot be written.
pub fn write_picture(path: &Path, text: &str) -> Result<()> {
    Written::Picture.require_place(path)?;
    replace(path, text.as_bytes()).with_context(|| unwritten(path))
}

fn unwritten(path: &Path) -> String {
    format!("{} cannot be written", path.display())
}

/// The same before the work of which a file is to tell, as far as it can be known.
///
/// # Errors
///
/// When it could not be written.
pub fn require_writable(path: &Path, what: Written) -> Result<()> {
    what.require_place(path)?;
    require_replaceable(path).with_context(|| unwritten(path))
}

/// A factor in thousandths, as people read it.
pub fn permille(value: u64) -> String {
    format!("{}.{:03}", value / 1000, value % 1000)
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
    fn objects_say_their_version_first() {
        #[derive(Serialize)]
        struct What {
            zebra: u64,
            apple: Option<Vec<u8>>,
        }
        let mut text = Vec::new();
        let what = What {
            zebra: u64::MAX,
            apple: None,
        };
        print_object(&mut text, &what).unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "{\n  \"version\": 1,\n  \"zebra\": 18446744073709551615,\n  \"apple\": null\n}\n"
        );
    }

    #[test]
    fn json_that_nobody_reads_is_a_broken_pipe() {
        let err = print_json(&mut NobodyReads, &[1, 2, 3]).unwrap_err();
        assert_eq!(err.kind(), io::ErrorKind::BrokenPipe);
    }
}
