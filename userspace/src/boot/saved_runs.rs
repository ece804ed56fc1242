// SPDX-License-Identifier: GPL-2.0-only
//! The list of files whose runs a target is taught after a reboot. Where the files lie is
//! asked again then: what was true before may not be.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::boot::systemd::folder_name;
use crate::fs::folder;
use crate::io_engine::replace::replace;
use crate::units::PAGE_BYTES;

/// Where lists are kept.
const FOLDER: &str = "/var/lib/dieaware/runs";

/// First line of a list.
pub const TITLE: &str = "# Files whose runs dieaware loads, the last written first";

#[derive(Debug, Error)]
pub enum ListError {
    #[error("{0}: {1}")]
    Io(String, io::Error),
    #[error("{0}: line {1} is not a path as \"dieaware runs save\" writes it")]
    Line(String, usize),
    #[error("{0} is not a list of \"dieaware runs save\"")]
    NotAList(String),
}

/// Where the list of the files below a folder is kept.
#[must_use]
pub fn default_list(folder: &Path) -> PathBuf {
    Path::new(FOLDER).join(folder_name(folder))
}

/// The regular files of at least a page below a folder, on the same filesystem, relative
/// to it: the `most` last written, the last one first.
///
/// # Errors
///
/// When the folder itself cannot be read; what is below it may come and go.
pub fn last_written(folder: &Path, most: usize) -> io::Result<Vec<PathBuf>> {
    // The oldest of those found is on top.
    let mut found = BinaryHeap::new();
    let mut take = |path: PathBuf, metadata: &Metadata| {
        if metadata.is_file() && metadata.len() >= PAGE_BYTES {
            let written = (metadata.mtime(), metadata.mtime_nsec());
            found.push(Reverse((written, path)));
            if found.len() > most {
                found.pop();
            }
        }
        ControlFlow::Continue(())
    };

    fs::read_dir(folder)?;
    folder::visit(folder, &mut take, &mut |_, _| Ok(()))?;
    let paths = found
        .into_sorted_vec()
        .into_iter()
        .map(|Reverse((_, path))| {
            path.strip_prefix(folder)
                .map_or(path.clone(), Path::to_owned)
        });
    Ok(paths.collect())
}

/// A path as a line: what could end the line, or is not text, as `\xNN`.
fn escape(path: &Path) -> String {
    let mut line = String::new();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'\\' | 0..=0x1f | 0x7f.. => line.push_str(&format!("\\x{byte:02x}")),
            _ => line.push(char::from(*byte)),
        }
    }
    line
}

fn unescape(line: &str) -> Option<PathBuf> {
    let mut bytes = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        let digits = escape.strip_prefix("\\x")?.get(..2)?;
        bytes.extend(before.bytes());
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = escape.get(4..)?;
    }
    bytes.extend(rest.bytes());
    (!bytes.is_empty()).then(|| PathBuf::from(OsString::from_vec(bytes)))
}

/// Write a list; the one that was there before stays until all of this one is.
///
/// # Errors
///
/// When it cannot be written.
pub fn write(list: &Path, files: &[PathBuf]) -> Result<(), ListError> {
    let failed = |err| ListError::Io(list.display().to_string(), err);
    let mut text = format!("{TITLE}\n");

    for file in files {
        text.push_str(&escape(file));
        text.push('\n');
    }
    if let Some(folder) = list.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    replace(list, text.as_bytes()).map_err(failed)
}

/// Read a list.
///
/// # Errors
///
/// When it cannot be read, or is none.
pub fn read(list: &Path) -> Result<Vec<PathBuf>, ListError> {
    let name = list.display().to_string();
    let bytes = fs::read(list).map_err(|err| ListError::Io(name.clone(), err))?;
    let text = String::from_utf8(bytes).map_err(|_| ListError::NotAList(name.clone()))?;
    let mut lines = text.lines().enumerate();

    if lines.next().map(|(_, line)| line) != Some(TITLE) {
        return Err(ListError::NotAList(name));
    }
    lines
        .map(|(index, line)| unescape(line).ok_or_else(|| ListError::Line(name.clone(), index + 1)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{default_list, escape, last_written, read, unescape, write};
    use std::ffi::OsStr;
    use std::fs::{self, File};
    use std::os::unix::ffi::OsStrExt;
    use std::path::{Path, PathBuf};
    use std::time::{Duration, SystemTime};

    fn folder(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("saved-{name}-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        dir
    }

    #[test]
    fn any_path_is_a_line() {
        for bytes in [
            &b"a/b"[..],
            b"a b\\x41",
            b"new\nline",
            b"\xff\xc3\xa4",
            b" ",
        ] {
            let path = Path::new(OsStr::from_bytes(bytes));
            let line = escape(path);
            assert!(line.is_ascii() && !line.contains('\n'), "{line}");
            assert_eq!(unescape(&line).unwrap(), path);
        }
        for line in ["", "a\\", "a\\x4", "a\\n", "\\xzz", "\\x\u{e4}"] {
            assert_eq!(unescape(line), None, "{line}");
        }
    }

    #[test]
    fn the_last_written_files_come_first() {
        let dir = folder("order");
        fs::create_dir_all(dir.join("sub")).unwrap();
        for (name, age) in [("old", 300), ("sub/new", 100), ("middle", 200)] {
            fs::write(dir.join(name), [0; 4096]).unwrap();
            let file = File::open(dir.join(name)).unwrap();
            let then = SystemTime::now() - Duration::from_secs(age);
            file.set_modified(then).unwrap();
        }
        fs::write(dir.join("small"), [0; 4095]).unwrap();
        std::os::unix::fs::symlink("old", dir.join("link")).unwrap();
        let all = ["sub/new", "middle", "old"].map(PathBuf::from);
        assert_eq!(last_written(&dir, 9).unwrap(), all);
        assert_eq!(last_written(&dir, 2).unwrap(), all[..2]);
        assert!(last_written(&dir.join("none"), 2).is_err());
        fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let dir = folder("list");
        let list = dir.join("lists/srv");
        let files = ["a", "b c\n"].map(PathBuf::from);
        write(&list, &files).unwrap();
        assert_eq!(read(&list).unwrap(), files);
        for text in [&b""[..], b"a\n", b"\xff\n"] {
            fs::write(&list, text).unwrap();
            let said = read(&list).unwrap_err().to_string();
            assert!(said.ends_with("is not a list of \"dieaware runs save\""));
        }
        write(&list, &files).unwrap();
        let text = fs::read_to_string(&list).unwrap();
        fs::write(&list, text + "bad\\\n").unwrap();
        assert!(read(&list).unwrap_err().to_string().contains("line 4"));
        fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn each_folder_has_its_list() {
        for (folder, name) in [("/srv/a-b", "srv-a\\x2db"), ("/", "-"), ("/srv/", "srv")] {
            let list = default_list(Path::new(folder));
            assert_eq!(list, Path::new("/var/lib/dieaware/runs").join(name));
        }
    }
}
