// SPDX-License-Identifier: GPL-2.0-only
//! Files whose pages have been moved, and that an SSD may not keep yet when its power fails. Each of
//! them is whole then, as it was before or as it is now. That it stays as it is now takes a flush, for
//! which an SSD that shares programs a part of its log: so files are synced several at a time.

use std::fs::File;
use std::io;

/// Files are held open until they are synced, and to be read only: nobody can start a program that is
/// open to be written.
const MOST_FILES: usize = 64;

/// Files to be synced, at the latest when it is dropped.
#[derive(Debug, Default)]
pub struct Unsynced {
    files: Vec<File>,
}

impl Unsynced {
    /// # Errors
    ///
    /// When it was time to sync those that are here, and one of them could not be.
    pub fn add(&mut self, file: File) -> io::Result<()> {
        self.files.push(file);
        if self.files.len() < MOST_FILES {
            return Ok(());
        }
        self.sync()
    }

    /// Sync all, and close them.
    ///
    /// # Errors
    ///
    /// When one of them could not be; the others were.
    pub fn sync(&mut self) -> io::Result<()> {
        let mut result = Ok(());

        for file in self.files.drain(..) {
            // ext4 leaves blocks that were exchanged out of fdatasync.
            result = result.and(file.sync_all());
        }
        result
    }
}

impl Drop for Unsynced {
    fn drop(&mut self) {
        // Who wants to know has called it before.
        let _ = self.sync();
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::{Unsynced, MOST_FILES};

    /// One that cannot be synced
    fn pipe() -> File {
        File::from(nix::unistd::pipe().unwrap().0)
    }

    fn file() -> File {
        File::open("/proc/self/exe").unwrap()
    }

    #[test]
    fn files_are_synced_several_at_a_time() {
        let mut unsynced = Unsynced::default();

        unsynced.sync().unwrap();
        for nr in 1..MOST_FILES {
            unsynced.add(file()).unwrap();
            assert_eq!(unsynced.files.len(), nr);
        }
        unsynced.add(file()).unwrap();
        assert!(unsynced.files.is_empty());
    }

    #[test]
    fn an_error_is_told_once_whichever_file_it_was() {
        let mut unsynced = Unsynced::default();

        unsynced.add(pipe()).unwrap();
        unsynced.add(file()).unwrap();
        assert!(unsynced.sync().is_err());
        unsynced.sync().unwrap();
        for _ in 1..MOST_FILES {
            unsynced.add(file()).unwrap();
        }
        assert!(unsynced.add(pipe()).is_err());
        assert!(unsynced.files.is_empty());
    }
}
