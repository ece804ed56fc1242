// SPDX-License-Identifier: GPL-2.0-only
//! What the daemon has counted, in a file: it goes on with that after a restart, and whoever mends files
//! finds there which of them are read most. The counts only say which files are looked at first; wrong
//! ones cost time. So a file of ours that is damaged is a reason to count anew, and never one to end. A
//! file of somebody else's is left as it is.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::libc;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use super::hotness::Hotness;
use crate::boot::systemd::folder_name;
use crate::io_engine::lock::WriteLock;

/// Where counts are kept.
const FOLDER: &str = "/var/lib/dieaware/defragd";

const KIND: &str = "dieaware-defragd";
const VERSION: u32 = 1;

/// So begins all that we write.
const BEGINNING: &[u8] = b"{\"kind\":\"dieaware-defragd\",";

/// Files whose counts are kept, those that are read most: more than a thousand times as many as are
/// mended at once.
const MOST_KEPT: usize = 1 << 16;

/// More than so many take.
const MOST_BYTES: u64 = 4 << 20;

/// After so many seconds of counting all counts are halved.
pub const FADE_SECONDS: u64 = 7 * 24 * 3600;

/// Reads of the files of a folder by inode number.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    kind: String,
    version: u32,
    #[serde(serialize_with = "write_folder", deserialize_with = "read_folder")]
    folder: PathBuf,
    /// Of counting, since all counts were halved.
    seconds: u64,
    /// In the order of inode numbers.
    reads: Vec<(u64, u64)>,
}

#[derive(Debug, Error)]
pub enum CountsError {
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("it is not a regular file")]
    Irregular,
    #[error("it is no file of \"dieaware defragd\"")]
    Foreign,
    #[error("it has version {0}, of which only {VERSION} is known")]
    Version(u32),
    #[error("it is of the folder {0}")]
    Folder(PathBuf),
    #[error("it is damaged: {0}")]
    Damaged(String),
}

impl CountsError {
    /// May it be written over? It has nothing that anybody could read.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged(_))
    }
}

/// A name that is no UTF-8, which JSON cannot have, is a list of its bytes.
fn write_folder<S: Serializer>(folder: &Path, to: S) -> Result<S::Ok, S::Error> {
    match folder.to_str() {
        Some(name) => to.serialize_str(name),
        None => folder.as_os_str().as_bytes().serialize(to),
    }
}

fn read_folder<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Name {
        Text(String),
        Bytes(Vec<u8>),
    }

    Ok(match Name::deserialize(from)? {
        Name::Text(name) => name.into(),
        Name::Bytes(bytes) => OsString::from_vec(bytes).into(),
    })
}

fn damaged(why: impl ToString) -> CountsError {
    CountsError::Damaged(why.to_string())
}

/// Where the counts of the files below a folder are kept.
#[must_use]
pub fn default_file(folder: &Path) -> PathBuf {
    Path::new(FOLDER).join(folder_name(folder))
}

impl Counts {
    /// What is to be kept of a folder.
    #[must_use]
    pub fn new(folder: &Path, seconds: u64, hotness: &Hotness) -> Self {
        Self {
            kind: KIND.to_owned(),
            version: VERSION,
            folder: folder.to_owned(),
            seconds,
            reads: hotness.counts(MOST_KEPT),
        }
    }

    #[must_use]
    pub fn hotness(&self) -> Hotness {
        Hotness::from_counts(&self.reads)
    }

    #[must_use]
    pub fn seconds(&self) -> u64 {
        self.seconds
    }

    /// # Errors
    ///
    /// When the file cannot be written; it is as it was then.
    pub fn save(&self, to: &WriteLock) -> io::Result<()> {
        let mut text = serde_json::to_vec(self)?;
        text.push(b'\n');
        to.replace(&text)
    }

    /// What is kept of a folder; `None`: nothing yet.
    ///
    /// # Errors
    ///
    /// When it cannot be read or is not what it should be.
    pub fn load(path: &Path, folder: &Path) -> Result<Option<Self>, CountsError> {
        // A pipe would keep us waiting.
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(path);
        let file = match opened {
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        if !file.metadata()?.is_file() {
            return Err(CountsError::Irregular);
        }
        let mut text = Vec::new();
        file.take(MOST_BYTES + 1).read_to_end(&mut text)?;
        Self::parse(&text, folder).map(Some)
    }

    fn parse(text: &[u8], folder: &Path) -> Result<Self, CountsError> {
        /// What another version has as well.
        #[derive(Deserialize)]
        struct Head {
            version: u32,
        }

        // What a filesystem leaves of a file that was new when the power failed.
        if text.iter().all(|byte| *byte == 0) {
            return Err(damaged("nothing is in it"));
        }
        if !text.starts_with(BEGINNING) {
            return Err(CountsError::Foreign);
        }
        if text.len() as u64 > MOST_BYTES {
            return Err(damaged("it is larger than 4 MiB"));
        }
        let head: Head = serde_json::from_slice(text).map_err(damaged)?;
        if head.version != VERSION {
            return Err(CountsError::Version(head.version));
        }
        let counts: Self = serde_json::from_slice(text).map_err(damaged)?;
        if counts.folder != folder {
            return Err(CountsError::Folder(counts.folder));
        }
        counts.judge()?;
        Ok(counts)
    }

    fn judge(&self) -> Result<(), CountsError> {
        let is_ordered = self.reads.windows(2).all(|pair| match pair {
            [(first, _), (second, _)] => first < second,
            _ => false,
        });
        if !is_ordered {
            return Err(damaged("its files are not in order"));
        }
        if self.reads.len() > MOST_KEPT {
            return Err(damaged("it has more files than are kept"));
        }
        if self.seconds >= FADE_SECONDS {
            return Err(damaged("it has more seconds than a week"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;

    use super::{default_file, Counts, CountsError, FADE_SECONDS, MOST_BYTES, MOST_KEPT};
    use crate::io_engine::lock::WriteLock;
    use crate::pick::hotness::Hotness;

    const GOOD: &str = "{\"kind\":\"dieaware-defragd\",\"version\":1,\"folder\":\"/mnt\",\
                        \"seconds\":60,\"reads\":[[7,5],[9,1]]}\n";

    fn parse(text: &str) -> Result<Counts, CountsError> {
        Counts::parse(text.as_bytes(), Path::new("/mnt"))
    }

    #[test]
    fn what_was_kept_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("counts");
        let folder = Path::new("/mnt");
        let lock = WriteLock::take(&path).unwrap().unwrap();
        assert!(Counts::load(&path, folder).unwrap().is_none());
        for reads in [&[][..], &[(7, 5), (9, 1)]] {
            let counts = Counts::new(folder, 60, &Hotness::from_counts(reads));
            counts.save(&lock).unwrap();
            let loaded = Counts::load(&path, folder).unwrap().unwrap();
            assert_eq!(loaded, counts);
            assert_eq!(loaded.hotness().counts(9), reads);
            assert_eq!(loaded.seconds(), 60);
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), GOOD);
        drop(lock);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_may_have_any_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("counts");
        let folder = Path::new(OsStr::from_bytes(b"/srv/m\xfcnchen"));
        let lock = WriteLock::take(&path).unwrap().unwrap();
        let counts = Counts::new(folder, 60, &Hotness::from_counts(&[(7, 5)]));
        counts.save(&lock).unwrap();
        assert_eq!(Counts::load(&path, folder).unwrap().unwrap(), counts);
        let other = Counts::load(&path, Path::new("/srv/m\u{fffd}nchen"));
        assert!(matches!(other, Err(CountsError::Folder(_))));
        assert_ne!(
            default_file(folder),
            default_file(Path::new("/srv/m\u{fffd}nchen"))
        );
    }

    #[test]
    fn the_most_that_is_kept_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("counts");
        let first = u64::MAX - MOST_KEPT as u64;
        let reads: Vec<_> = (first..u64::MAX).map(|inode| (inode, u64::MAX)).collect();
        let counts = Counts::new(
            dir.path(),
            FADE_SECONDS - 1,
            &Hotness::from_counts(&[&[(1, 1), (2, 2)], &reads[..]].concat()),
        );
        let lock = WriteLock::take(&path).unwrap().unwrap();
        counts.save(&lock).unwrap();
        assert!(fs::metadata(&path).unwrap().len() < MOST_BYTES);
        let loaded = Counts::load(&path, dir.path()).unwrap().unwrap();
        // Those that are read least have no room.
        assert_eq!(loaded.reads, reads);
    }

    #[test]
    fn what_is_damaged_is_known_from_what_is_not_ours() {
        parse(GOOD).unwrap();
        for (from, to, why) in [
            ("\"version\":1", "\"version\":2", "it has version 2"),
            ("/mnt", "/srv", "it is of the folder /srv"),
            ("-defragd", "-pick", "it is no file of"),
        ] {
            let err = parse(&GOOD.replace(from, to)).unwrap_err();
            assert!(err.to_string().contains(why) && !err.is_damage(), "{err}");
        }
        for (from, to, why) in [
            ("[9,1]", "[7,6]", "not in order"),
            ("[9,1]", "[9,-1]", "invalid"),
            ("[9,1]", "[9,18446744073709551616]", "invalid"),
            ("\"reads\"", "\"writes\"", "unknown field"),
            ("\"version\":1,", "", "missing field"),
            (":60,", ":604800,", "more seconds"),
        ] {
            let err = parse(&GOOD.replace(from, to)).unwrap_err();
            assert!(err.to_string().contains(why) && err.is_damage(), "{err}");
        }
        for text in ["root:x:0:0", "[]", "{}", " {\"kind\":"] {
            assert!(matches!(parse(text), Err(CountsError::Foreign)), "{text}");
        }
    }

    #[test]
    fn what_is_torn_is_damaged() {
        let beginning = "{\"kind\":\"dieaware-defragd\",".len();
        for end in beginning..GOOD.len() - 1 {
            assert!(parse(&GOOD[..end]).unwrap_err().is_damage(), "{end}");
        }
        for text in ["", "\0\0\0"] {
            assert!(parse(text).unwrap_err().is_damage());
        }
        let deep = format!("{}{}", &GOOD[..beginning], "[".repeat(100_000));
        assert!(parse(&deep).unwrap_err().is_damage());
    }

    #[test]
    fn too_many_files_are_damage() {
        let pairs: Vec<_> = (0..=MOST_KEPT)
            .map(|inode| format!("[{inode},1]"))
            .collect();
        let err = parse(&GOOD.replace("[7,5],[9,1]", &pairs.join(","))).unwrap_err();
        assert!(err.to_string().contains("more files than are kept") && err.is_damage());
    }

    #[test]
    fn neither_pipes_nor_folders_nor_floods_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let load = |path| Counts::load(path, Path::new("/mnt")).unwrap_err();
        let pipe = dir.path().join("pipe");
        mkfifo(&pipe, Mode::S_IRWXU).unwrap();
        for path in [pipe.as_path(), dir.path()] {
            assert!(matches!(load(path), CountsError::Irregular));
        }
        let large = dir.path().join("large");
        fs::write(&large, GOOD).unwrap();
        fs::File::options()
            .write(true)
            .open(&large)
            .unwrap()
            .set_len(1 << 40)
            .unwrap();
        assert!(load(&large).to_string().contains("larger than 4 MiB"));
    }

    #[test]
    fn each_folder_has_its_file() {
        for (folder, name) in [("/srv/a-b", "srv-a\\x2db"), ("/", "-")] {
            let file = default_file(Path::new(folder));
            assert_eq!(file, Path::new("/var/lib/dieaware/defragd").join(name));
        }
    }
}
