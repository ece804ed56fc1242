// SPDX-License-Identifier: GPL-2.0-only
//! What `dieaware move` has to know of what it has begun, after a power failure: which log is a copy
//! that is not complete, and whether the old device may be one that counts no more. As long as the
//! machine runs, device-mapper's tables say all of that.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::systemd::escape;
use crate::device::hide::Sign;
use crate::io_engine::replace::Replacement;

/// Where they are kept, a file for each device.
pub const FOLDER: &str = "/var/lib/dieaware/moves";

/// A device that is being moved.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Moving {
    /// The device that is going to hold everything.
    pub target: PathBuf,
    /// What its log is called by device-mapper, and its UUID.
    pub log: String,
    pub log_uuid: String,
    /// Options of the log's target.
    pub options: Vec<String>,
    /// What is made zero on the old device when the log counts. Empty until all is copied.
    pub signs: Vec<Sign>,
    /// In which the target had its name, as the kernel calls each time that it starts.
    #[serde(default)]
    pub boot: String,
}

/// What the kernel calls this time that it has started; nothing where it does not say.
#[must_use]
pub fn this_boot() -> String {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.trim().to_owned()
}

fn read_at(path: &Path) -> io::Result<Moving> {
    Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
}

/// The records of one folder.
pub struct Moves(PathBuf);

impl Moves {
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self(folder.to_owned())
    }

    /// Where what was begun of a device is kept, if it is.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(escape(name))
    }

    /// What was begun of a device; `None`: nothing.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn read(&self, name: &str) -> io::Result<Option<Moving>> {
        match read_at(&self.path(name)) {
            Ok(moving) => Ok(Some(moving)),
            Err(err) if err.kind() == ErrorKind::NotFound => Ok(None),
            Err(err) => Err(err),
        }
    }

    /// The record of a move to a log that has not got everything yet. Records that cannot be read tell nothing.
    ///
    /// # Errors
    ///
    /// When nobody can tell which there are.
    pub fn incomplete(&self, log_uuid: &str) -> io::Result<Option<PathBuf>> {
        let is_of_it = |path: &PathBuf| {
            read_at(path).is_ok_and(|moving| moving.log_uuid == log_uuid && moving.signs.is_empty())
        };
        let records = match fs::read_dir(&self.0) {
            Err(err) if err.kind() == ErrorKind::NotFound => return Ok(None),
            records => records?.collect::<io::Result<Vec<_>>>()?,
        };

        let mut paths = records.iter().map(fs::DirEntry::path);
        Ok(paths.find(is_of_it))
    }

    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write(&self, name: &str, moving: &Moving) -> io::Result<()> {
        fs::create_dir_all(&self.0)?;
        replace_durably(&self.path(name), &serde_json::to_vec_pretty(moving)?)
    }

    /// # Errors
    ///
    /// When it stays.
    pub fn forget(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.path(name)) {
            Err(err) if err.kind() != ErrorKind::NotFound => Err(err),
            Err(_) => Ok(()),
            Ok(()) => File::open(&self.0)?.sync_all(),
        }
    }
}

/// Write a file so that its name leads to what is new after a power failure as well.
///
/// # Errors
///
/// When it cannot be written.
pub fn replace_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut fresh = Replacement::begin(path)?;

    fresh.write_all(bytes)?;
    fresh.finish_durably()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Moves, Moving};
    use crate::device::hide::Sign;

    #[test]
    fn what_was_begun_is_known_until_it_is_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let moves = Moves::new(&dir.path().join("moves"));
        assert_eq!(moves.read("vg-srv").unwrap(), None);
        assert_eq!(moves.incomplete("0-1").unwrap(), None);
        moves.forget("vg-srv").unwrap();
        let mut moving = Moving {
            target: "/dev/nvme0n1".into(),
            log: "vg-srv-log".to_owned(),
            log_uuid: "0-1".to_owned(),
            options: vec!["a=b".to_owned()],
            signs: Vec::new(),
            boot: String::new(),
        };
        moves.write("vg-srv", &moving).unwrap();
        assert_eq!(moves.incomplete("0-1").unwrap(), Some(moves.path("vg-srv")));
        assert_eq!(moves.incomplete("0-2").unwrap(), None);
        moving.signs.push(Sign { at: 7, bytes: 2 });
        moves.write("vg-srv", &moving).unwrap();
        assert_eq!(moves.read("vg-srv").unwrap(), Some(moving));
        assert_eq!(moves.read("vg-other").unwrap(), None);
        assert_eq!(moves.incomplete("0-1").unwrap(), None);
        let file = fs::read_dir(dir.path().join("moves")).unwrap().next();
        fs::write(file.unwrap().unwrap().path(), "{").unwrap();
        assert!(moves.read("vg-srv").is_err());
        assert_eq!(moves.incomplete("0-1").unwrap(), None);
        moves.forget("vg-srv").unwrap();
        assert_eq!(moves.read("vg-srv").unwrap(), None);
    }

    #[test]
    fn a_folder_that_cannot_be_read_is_not_an_empty_one() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("moves");
        let moves = Moves::new(&folder);
        assert_eq!(moves.incomplete("0-1").unwrap(), None);
        fs::write(&folder, "").unwrap();
        assert!(moves.incomplete("0-1").is_err());
    }

    #[test]
    fn a_record_of_an_earlier_version_is_of_no_boot_that_is_known() {
        let text = r#"{"target": "/dev/a", "log": "a-log", "log_uuid": "0-1", "options": [], "signs": []}"#;
        let moving: Moving = serde_json::from_str(text).unwrap();
        assert_eq!(moving.boot, "");
    }
}
