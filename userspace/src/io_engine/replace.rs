// SPDX-License-Identifier: GPL-2.0-only
//! Files that are replaced as a whole: whoever reads one meanwhile, or after a crash, has the one of
//! before or the new one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::libc;
use tempfile::{Builder, NamedTempFile, TempPath};

use crate::fs::file::{self, FileError};
use crate::fs::{mounts, xfs};

/// What a file that nobody has made yet gets, less the umask.
const NEW_MODE: u32 = 0o666;

/// As many symbolic links as the kernel follows.
const MOST_LINKS: usize = 40;

/// What is there, links followed; `None`: nothing.
fn look(path: &Path) -> io::Result<Option<fs::Metadata>> {
    match fs::metadata(path) {
        Ok(there) => Ok(Some(there)),
        Err(err) if err.kind() == ErrorKind::NotFound => Ok(None),
        Err(err) => Err(err),
    }
}

/// The folder that a file is in.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Where symbolic links lead to, even if nothing is there yet.
pub(super) fn behind_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();

    for _ in 0..MOST_LINKS {
        let Ok(to) = fs::read_link(&path) else { break };
        path = folder_of(&path).join(to);
    }
    path
}

/// The folder in which a file is made or replaced, if it is.
#[must_use]
pub fn folder_behind_links(path: &Path) -> PathBuf {
    folder_of(&behind_links(path)).to_owned()
}

/// Would another file in its place be refused? That shows in the last step only, the renaming. What
/// cannot be looked at has nothing against it.
///
/// # Errors
///
/// When it would.
pub fn refuse_fixed(path: &Path) -> io::Result<()> {
    let refused = |why: &str| io::Error::new(ErrorKind::PermissionDenied, why);
    let to = behind_links(path);
    let is_unchangeable = |file: &File| xfs::is_unchangeable(file).unwrap_or(false);
    let Ok(folder) = file::open_place(folder_of(&to)) else {
        return Ok(());
    };

    if is_unchangeable(&folder) {
        return Err(refused(
            "what is in its folder must not be replaced (chattr +i, +a)",
        ));
    }
    let Ok(there) = file::open_place(&to) else {
        return Ok(());
    };
    if is_unchangeable(&there) {
        return Err(refused(&FileError::Unchangeable.to_string()));
    }
    match (mounts::id_of(&folder), mounts::id_of(&there)) {
        (Ok(around), Ok(of_file)) if around != of_file => {
            Err(refused("something is mounted there"))
        }
        _ => Ok(()),
    }
}

/// Make a file. The crate's own way adds the name to errors, which means nothing to anybody.
pub(super) fn make_new(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(NEW_MODE)
        .open(path)
}

/// The regular file that is there, if anything is.
fn look_for_file(path: &Path) -> io::Result<Option<fs::Metadata>> {
    let there = look(path)?;
    if there.as_ref().is_some_and(|there| !there.is_file()) {
        return Err(io::Error::new(
            ErrorKind::InvalidInput,
            "It is not a regular file",
        ));
    }
    Ok(there)
}

/// The new contents of a file, under a name of their own until all of them are there. Who drops this
/// leaves the file as it is.
pub struct Replacement {
    to: PathBuf,
    fresh: NamedTempFile,
}

impl Replacement {
    /// Begin to write what a file that exists or not is to hold. Links are followed, and what may be
    /// done with the file stays.
    ///
    /// # Errors
    ///
    /// When something other than a regular file is there, or its folder cannot be written.
    pub fn begin(path: &Path) -> io::Result<Self> {
        let there = look_for_file(path)?;
        refuse_fixed(path)?;
        let to = behind_links(path);
        let fresh = Builder::new()
            .prefix(".dieaware-")
            .make_in(folder_of(&to), make_new)?;
        Self { to, fresh }.with_mode_of(there)
    }

    /// The same under a name that nobody else has meanwhile: what a process left there that was
    /// killed is written over.
    ///
    /// # Errors
    ///
    /// As above.
    pub(super) fn begin_under(name: PathBuf, path: &Path) -> io::Result<Self> {
        let there = look_for_file(path)?;
        refuse_fixed(path)?;
        let to = behind_links(path);
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(NEW_MODE)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&name)?;
        let fresh = NamedTempFile::from_parts(file, TempPath::try_from_path(name)?);
        Self { to, fresh }.with_mode_of(there)
    }

    fn with_mode_of(self, there: Option<fs::Metadata>) -> io::Result<Self> {
        if let Some(there) = there {
            self.fresh.as_file().set_permissions(there.permissions())?;
        }
        Ok(self)
    }

    /// Let the file be what was written, or, unless `force`, fail if someone has made one meanwhile.
    ///
    /// # Errors
    ///
    /// When it cannot be; the file is as it was then.
    pub fn finish(self, force: bool) -> io::Result<()> {
        // A name that is on the disk before the bytes would lead to an empty file after a crash.
        self.fresh.as_file().sync_all()?;
        if force {
            self.fresh.persist(&self.to)?;
        } else {
            self.fresh.persist_noclobber(&self.to)?;
        }
        Ok(())
    }
}

impl Replacement {
    /// Let what was written be on the disk, so that little can go wrong later.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn sync(&self) -> io::Result<()> {
        self.fresh.as_file().sync_all()
    }

    /// [`Self::finish`], so that the file's name leads to what is new after a power failure as well.
    ///
    /// # Errors
    ///
    /// When it cannot be. Unless that was the last step, the file is as it was.
    pub fn finish_durably(self) -> io::Result<()> {
        let to = self.to.clone();

        self.finish(true)?;
        File::open(folder_of(&to))?.sync_all()
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.fresh.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.fresh.as_file_mut().flush()
    }
}

/// Is it a pipe or a character device?
fn is_stream(path: &Path) -> io::Result<bool> {
    let there = look(path)?.map(|there| there.file_type());
    Ok(there.is_some_and(|kind| kind.is_fifo() || kind.is_char_device()))
}

/// Could a file be given new contents, as far as that can be known without them?
///
/// # Errors
///
/// When it could not.
pub fn require_replaceable(path: &Path) -> io::Result<()> {
    if is_stream(path)? {
        return Ok(());
    }
    Replacement::begin(path).map(drop)
}

/// Give a file new contents. A pipe or a character device takes them as they come.
///
/// # Errors
///
/// When they cannot be written; the file is as it was then.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if is_stream(path)? {
        let mut stream = OpenOptions::new().write(true).open(path)?;
        return stream.write_all(bytes);
    }
    let mut replacement = Replacement::begin(path)?;
    replacement.write_all(bytes)?;
    replacement.finish(true)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::io::{ErrorKind, Write};
    use std::os::unix::fs::{symlink, FileTypeExt, PermissionsExt};
    use std::path::{Path, PathBuf};

    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;

    use super::{replace, Replacement};

    /// An empty folder, which is gone in the end.
    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    fn names(dir: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_the_old_one_or_the_new_one() {
        let dir = folder();
        let path = dir.path().join("file");
        replace(&path, b"first, which is longer").unwrap();
        let mut second = Replacement::begin(&path).unwrap();
        second.write_all(b"half of the second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"first, which is longer");
        // Another one at the same time is not in its way.
        replace(&path, b"third").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"third");
        drop(second);
        assert_eq!(names(dir.path()), [path]);
    }

    #[test]
    fn no_other_file_is_touched() {
        let dir = folder();
        let (path, other) = (dir.path().join("file"), dir.path().join("file.new"));
        fs::write(&other, "somebody's").unwrap();
        replace(&path, b"it").unwrap();
        assert_eq!(fs::read(&other).unwrap(), b"somebody's");

        // A file cannot take the place of a folder.
        let taken = dir.path().join("folder");
        fs::create_dir_all(taken.join("below")).unwrap();
        replace(&taken, b"it").unwrap_err();
        assert!(taken.join("below").is_dir());
        let err = replace(&dir.path().join("none/file"), b"it").unwrap_err();
        assert_eq!(err.to_string(), "No such file or directory (os error 2)");
        assert_eq!(names(dir.path()), [path, other, taken]);
    }

    #[test]
    fn links_are_followed() {
        let dir = folder();
        let below = dir.path().join("below");
        fs::create_dir(&below).unwrap();
        let (file, link, chain) = (
            below.join("file"),
            below.join("link"),
            dir.path().join("chain"),
        );
        symlink("file", &link).unwrap();
        symlink("below/link", &chain).unwrap();
        // Once where nothing is yet, once where something is
        for text in ["first", "second"] {
            replace(&chain, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
        assert!(chain.is_symlink() && link.is_symlink());

        fs::remove_file(&link).unwrap();
        symlink("../chain", &link).unwrap();
        replace(&chain, b"round and round").unwrap_err();
    }

    #[test]
    fn a_pipe_stays_one() {
        let dir = folder();
        let pipe = dir.path().join("pipe");
        mkfifo(&pipe, Mode::S_IRWXU).unwrap();
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read_to_string(pipe).unwrap()
        });
        replace(&pipe, b"through it").unwrap();
        assert_eq!(reader.join().unwrap(), "through it");
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
        replace(Path::new("/dev/null"), b"nowhere").unwrap();
        assert_eq!(names(dir.path()).len(), 1);

        let err = Replacement::begin(&pipe).err().unwrap();
        assert_eq!(err.to_string(), "It is not a regular file");
    }

    #[test]
    fn what_may_be_done_with_a_file_stays() {
        let dir = folder();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let (path, plain) = (dir.path().join("file"), dir.path().join("plain"));
        fs::write(&plain, "").unwrap();
        replace(&path, b"first").unwrap();
        assert_eq!(mode(&path), mode(&plain));
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        replace(&path, b"second").unwrap();
        assert_eq!(mode(&path), 0o640);
    }

    #[test]
    fn a_file_that_came_meanwhile_stays() {
        let dir = folder();
        let path = dir.path().join("file");
        let mut replacement = Replacement::begin(&path).unwrap();
        replacement.write_all(b"ours").unwrap();
        fs::write(&path, "somebody's").unwrap();
        let err = replacement.finish(false).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"somebody's");
        assert_eq!(names(dir.path()), [path]);
    }
}
