// SPDX-License-Identifier: GPL-2.0-only
//! Of several processes that would each write a file, one at a time.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::libc;

use super::replace::{behind_links, folder_of, Replacement};

/// How often it is looked whether nobody has it any more.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// An empty file that one process at a time has locked, until it is dropped, or the process ends in
/// whatever way. It is removed in the end, and what a process has left that was killed is in nobody's way.
#[derive(Debug)]
pub struct LockFile {
    path: PathBuf,
    _locked: Flock<File>,
}

impl LockFile {
    /// `None`: another process has it.
    ///
    /// # Errors
    ///
    /// When its folder cannot be written.
    pub fn take(path: &Path) -> io::Result<Option<Self>> {
        loop {
            // Nobody but its owner may open it: whoever may read a file may lock it.
            let opened = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
                .open(path)?;
            match Flock::lock(opened, FlockArg::LockExclusiveNonblock) {
                // Whoever had it may have removed it since it was opened.
                Ok(locked) if !is_at(&locked, path)? => {}
                Ok(locked) => {
                    return Ok(Some(Self {
                        path: path.to_owned(),
                        _locked: locked,
                    }))
                }
                Err((_, Errno::EWOULDBLOCK)) => return Ok(None),
                Err((_, err)) => return Err(err.into()),
            }
        }
    }

    /// The same, and wait so long for others that have it. `None`: they have it all the time.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn wait(path: &Path, most: Duration) -> io::Result<Option<Self>> {
        let end = Instant::now() + most;

        loop {
            if let Some(lock) = Self::take(path)? {
                return Ok(Some(lock));
            }
            if Instant::now() >= end {
                return Ok(None);
            }
            sleep(LOOK_EVERY);
        }
    }
}

impl Drop for LockFile {
    /// Before it is unlocked, which the member does: later it could be somebody else's.
    fn drop(&mut self) {
        // Where it cannot be removed it is in nobody's way.
        let _ = fs::remove_file(&self.path);
    }
}

/// The right to write a file. Who only reads needs none.
///
/// A file that is replaced as a whole is another one each time, so what is locked is an empty one beside
/// it.
#[derive(Debug)]
pub struct WriteLock {
    file: PathBuf,
    _lock: LockFile,
}

impl WriteLock {
    fn of(file: &Path, lock: LockFile) -> Self {
        Self {
            file: file.to_owned(),
            _lock: lock,
        }
    }

    /// `None`: another process has it.
    ///
    /// # Errors
    ///
    /// When the file's folder cannot be written.
    pub fn take(file: &Path) -> io::Result<Option<Self>> {
        let lock = LockFile::take(&beside(file, "lock")?)?;
        Ok(lock.map(|lock| Self::of(file, lock)))
    }

    /// The same, and wait so long for others that have it.
    ///
    /// # Errors
    ///
    /// The same, and when others have it all the time.
    pub fn wait(file: &Path, most: Duration) -> io::Result<Self> {
        let lock = LockFile::wait(&beside(file, "lock")?, most)?;
        let lock = lock.ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::TimedOut,
                "Somebody else is about to write it",
            )
        })?;
        Ok(Self::of(file, lock))
    }

    /// Begin to write what the file is to hold. It is under the same name each time until all of it is
    /// there, so processes that are killed meanwhile leave one such file at most, until the next time.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn begin(&self) -> io::Result<Replacement> {
        Replacement::begin_under(beside(&self.file, "dieaware-new")?, &self.file)
    }

    /// Give the file new contents.
    ///
    /// # Errors
    ///
    /// When they cannot be written; the file is as it was then.
    pub fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        let mut replacement = self.begin()?;

        replacement.write_all(bytes)?;
        replacement.finish(true)
    }
}

/// A file that goes with another. The folder may be the user's choice, so it is a name that says whose
/// it is.
fn beside(path: &Path, what: &str) -> io::Result<PathBuf> {
    let path = behind_links(path);
    let Some(name) = path.file_name() else {
        return Err(io::ErrorKind::IsADirectory.into());
    };
    let mut hidden = OsString::from(".");

    hidden.push(name);
    hidden.push(".");
    hidden.push(what);
    Ok(folder_of(&path).join(hidden))
}

/// Is it the file that has this name now?
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let ours = file.metadata()?;

    match fs::symlink_metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (ours.dev(), ours.ino())),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(err) => Err(err),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::{symlink, MetadataExt};
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::thread;

    use super::{is_at, LockFile, WriteLock};
    use crate::io_engine::replace::replace;

    fn is_free(path: &Path) -> bool {
        WriteLock::take(path).unwrap().is_some()
    }

    #[test]
    fn one_at_a_time_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let lock = WriteLock::take(&path).unwrap().unwrap();
        assert!(!is_free(&path));
        // It is the name that counts, whichever file that has.
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert!(!is_free(&path));
        assert!(is_free(&dir.path().join("other")));
        drop(lock);
        assert!(is_free(&path));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_is_the_file_that_it_leads_to() {
        let dir = tempfile::tempdir().unwrap();
        let (path, link) = (dir.path().join("file"), dir.path().join("below/link"));
        fs::create_dir(dir.path().join("below")).unwrap();
        symlink("../file", &link).unwrap();
        let _lock = WriteLock::take(&link).unwrap().unwrap();
        assert!(!is_free(&path));
    }

    #[test]
    fn what_was_left_is_in_nobody_s_way() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let left = dir.path().join(".file.lock");
        File::create(&left).unwrap();
        assert!(is_free(&path));
        assert!(!left.exists());
        // Nobody is led elsewhere.
        let elsewhere = dir.path().join("elsewhere");
        symlink(&elsewhere, &left).unwrap();
        WriteLock::take(&path).unwrap_err();
        assert!(!elsewhere.exists());
        WriteLock::take(Path::new("/")).unwrap_err();
        WriteLock::take(&dir.path().join("none/file")).unwrap_err();
    }

    #[test]
    fn only_its_owner_can_lock_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let _lock = LockFile::take(&path).unwrap().unwrap();
        // To lock a file it takes no right but to read it.
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o077, 0);
        assert!(LockFile::take(&path).unwrap().is_none());
    }

    #[test]
    fn what_a_killed_process_was_writing_is_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let left = dir.path().join(".file.dieaware-new");
        fs::write(&left, "half of what somebody wanted, which is longer").unwrap();
        let lock = WriteLock::take(&path).unwrap().unwrap();
        for text in ["one", "two"] {
            lock.replace(text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            assert!(!left.exists());
        }
        // Nobody is led elsewhere, and the file stays.
        let elsewhere = dir.path().join("elsewhere");
        symlink(&elsewhere, &left).unwrap();
        lock.replace(b"three").unwrap_err();
        assert!(!elsewhere.exists());
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
    }

    #[test]
    fn what_was_removed_meanwhile_is_no_lock() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let opened = File::create(&path).unwrap();
        assert!(is_at(&opened, &path).unwrap());
        fs::remove_file(&path).unwrap();
        assert!(!is_at(&opened, &path).unwrap());
        File::create(&path).unwrap();
        assert!(!is_at(&opened, &path).unwrap());
    }

    #[test]
    fn who_lets_go_of_it_never_lets_two_in() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let (inside, taken) = (AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..3_000 {
                        let Some(lock) = WriteLock::take(&path).unwrap() else {
                            continue;
                        };
                        assert!(!inside.swap(true, Ordering::SeqCst));
                        taken.fetch_add(1, Ordering::SeqCst);
                        thread::yield_now();
                        inside.store(false, Ordering::SeqCst);
                        drop(lock);
                    }
                });
            }
        });
        assert!(taken.into_inner() >= 4);
    }
}
