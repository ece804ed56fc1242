// SPDX-License-Identifier: GPL-2.0-only
//! Everything that a message about a file's runs says: who it is and where it lies. Files are
//! opened only after it is known what they are: opening a FIFO waits, and opening a device may
//! begin something.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use nix::libc;
use thiserror::Error;

use super::btrfs::{self, BtrfsError};
use super::fiemap::{self, Extent};
use super::mounts::{self, Mount, MountError};
use super::{f2fs, xfs};
use crate::units::DeviceNumber;

/// A file's identity and extents.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FileFacts {
    /// Device number of its filesystem, which need not be that of a device (btrfs).
    pub device: DeviceNumber,
    /// The block device that it lies on.
    pub below: DeviceNumber,
    /// Its type, such as `ext4`.
    pub fs_type: String,
    pub inode: u64,
    pub generation: u32,
    /// With addresses on that block device
    pub extents: Vec<Extent>,
}

/// A place or length in a file as the kernel takes it.
///
/// # Errors
///
/// When no file is so long.
pub fn offset(bytes: u64) -> io::Result<libc::off_t> {
    libc::off_t::try_from(bytes).map_err(io::Error::other)
}

#[derive(Debug, Error)]
pub enum FileError {
    #[error("it cannot be read: {0}")]
    Read(#[from] io::Error),
    #[error("it is not a regular file")]
    NotRegular,
    #[error("it is a program that runs")]
    Runs,
    #[error("it must not be changed (chattr +i, +a)")]
    Unchangeable,
    #[error("nobody may write to it, which may be because of fs-verity")]
    Sealed,
    #[error("it is encrypted, and nobody has given the kernel its key")]
    NoKey,
    #[error("it is neither a regular file nor a folder")]
    NoPlace,
    #[error(transparent)]
    Mount(#[from] MountError),
    #[error("it lies on {0}, which reports addresses of its own instead of the device's")]
    OwnAddresses(String),
    #[error(transparent)]
    Btrfs(#[from] BtrfsError),
    #[error("it lies on the realtime device of its xfs, which is not followed")]
    Realtime,
    #[error("its f2fs lies on several devices, and does not say on which of them a file is")]
    Devices,
    #[error("its filesystem, {0}, does not report where files lie (FIEMAP): {1}")]
    NoFiemap(String, nix::Error),
    #[error("its filesystem, {0}, does not report generations of inodes: {1}")]
    NoGeneration(String, nix::Error),
}

/// Filesystems whose FIEMAP addresses are not those of the device below, and cannot be followed to
/// it: overlayfs shows another filesystem's.
const OWN_ADDRESSES: [&str; 2] = ["overlay", "bcachefs"];

/// Open a file or folder to ask for its filesystem. Nothing else is opened, whatever has that name by
/// now: of a FIFO that waits for another one, and of a device it may begin something.
pub fn open_place(path: &Path) -> Result<File, FileError> {
    let place = name_place(path, 0)?;
    by_name(&place, OpenOptions::new().read(true))
}

/// Open a regular file that may be changed to read it. The last part of its path is no link.
///
/// # Errors
///
/// When it is something else, must not be changed, or cannot be opened.
pub fn open_to_read(path: &Path) -> Result<File, FileError> {
    open_changeable(path).map(|(_, file)| file)
}

/// The same, to read and write it.
///
/// # Errors
///
/// The same, and when it is a program that runs.
pub fn open_to_write(path: &Path) -> Result<File, FileError> {
    let (place, file) = open_changeable(path)?;

    // Who wants a lease must be the only one who has it open.
    drop(file);
    by_name(&place, OpenOptions::new().read(true).write(true))
}

/// A file by its name, and opened to be read.
fn open_changeable(path: &Path) -> Result<(File, File), FileError> {
    let place = name_place(path, libc::O_NOFOLLOW)?;

    if !place.metadata()?.is_file() {
        return Err(FileError::NotRegular);
    }
    let file = by_name(&place, OpenOptions::new().read(true))?;
    // Where nobody says so, it shows when it is written.
    if xfs::is_unchangeable(&file).unwrap_or(false) {
        return Err(FileError::Unchangeable);
    }
    Ok((place, file))
}

/// Open once more what is open to be written, to sync it later: as long as that is all that it is open
/// for, a program can be started.
///
/// # Errors
///
/// When it cannot be opened.
pub fn open_to_sync(file: &File) -> Result<File, FileError> {
    by_name(file, OpenOptions::new().read(true))
}

/// A descriptor that only names a file or folder: it is neither opened nor waited for.
fn name_place(path: &Path, flags: i32) -> Result<File, FileError> {
    let place = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_PATH | flags)
        .open(path)?;
    let metadata = place.metadata()?;

    if !metadata.is_file() && !metadata.is_dir() {
        return Err(FileError::NoPlace);
    }
    Ok(place)
}

/// Open what a descriptor names. Whoever has a lease on it is waited for.
fn by_name(place: &File, how: &OpenOptions) -> Result<File, FileError> {
    let opened = how.open(format!("/proc/self/fd/{}", place.as_raw_fd()));
    opened.map_err(why_not_opened)
}

/// Errors that say more of a file than that it cannot be read.
fn why_not_opened(err: io::Error) -> FileError {
    match err.raw_os_error() {
        Some(libc::ETXTBSY) => FileError::Runs,
        Some(libc::EPERM) => FileError::Sealed,
        Some(libc::ENOKEY) => FileError::NoKey,
        _ => err.into(),
    }
}

/// The filesystem of an open file or folder, if its addresses can be followed to a device.
pub fn mount_of(file: &File) -> Result<Mount, FileError> {
    let id = mounts::id_of(file)?;
    let mountinfo = mounts::mountinfo()?;
    let mount = mounts::find_mount(&mountinfo, id)?;

    if OWN_ADDRESSES.contains(&mount.fs_type.as_str()) {
        return Err(FileError::OwnAddresses(mount.fs_type));
    }
    Ok(mount)
}

/// The block device that the filesystem of an open file or folder lies on.
pub fn below(file: &File) -> Result<DeviceNumber, FileError> {
    let mount = mount_of(file)?;

    if mount.fs_type == btrfs::FS_TYPE {
        return Ok(btrfs::only_device(file)?);
    }
    Ok(mount.device)
}

/// Are addresses of a file those of the device that its filesystem is known by?
fn require_that_device(file: &File, mount: &Mount) -> Result<(), FileError> {
    match mount.fs_type.as_str() {
        xfs::FS_TYPE if xfs::is_realtime(file)? => Err(FileError::Realtime),
        f2fs::FS_TYPE if f2fs::has_several_devices(file, mount.device)? => Err(FileError::Devices),
        _ => Ok(()),
    }
}

/// Where an open file lies, by its filesystem's own addresses. Dirty pages of it are written first.
///
/// # Errors
///
/// When nobody knows, or on which device.
pub fn extents(file: &File) -> Result<Vec<Extent>, FileError> {
    let mount = mount_of(file)?;

    require_that_device(file, &mount)?;
    fiemap::extents(file).map_err(|err| FileError::NoFiemap(mount.fs_type, err))
}

/// Find out everything about a file. Dirty pages of it are written first.
pub fn facts(path: &Path) -> Result<FileFacts, FileError> {
    let file = match open_place(path) {
        Err(FileError::NoPlace) => return Err(FileError::NotRegular),
        opened => opened?,
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(FileError::NotRegular);
    }

    let mount = mount_of(&file)?;
    let extents =
        fiemap::extents(&file).map_err(|err| FileError::NoFiemap(mount.fs_type.clone(), err))?;
    let generation = fiemap::generation(&file)
        .map_err(|err| FileError::NoGeneration(mount.fs_type.clone(), err))?;
    let (extents, below) = if mount.fs_type == btrfs::FS_TYPE {
        btrfs::on_device(&file, &extents)?
    } else {
        require_that_device(&file, &mount)?;
        (extents, mount.device)
    };
    Ok(FileFacts {
        device: mount.device,
        below,
        fs_type: mount.fs_type,
        inode: metadata.ino(),
        generation,
        extents,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{Read, Write};
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;

    use nix::libc;

    use super::{open_place, open_to_read, open_to_write, why_not_opened, FileError};

    #[test]
    fn who_cannot_open_a_file_knows_why() {
        let why = |errno| why_not_opened(std::io::Error::from_raw_os_error(errno));
        assert!(matches!(why(libc::EPERM), FileError::Sealed));
        assert!(matches!(why(libc::ENOKEY), FileError::NoKey));
        assert!(matches!(why(libc::EACCES), FileError::Read(_)));
    }

    #[test]
    fn only_what_was_meant_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name| folder.path().join(name);
        fs::write(path("file"), "x").unwrap();
        mkfifo(&path("fifo"), Mode::S_IRWXU).unwrap();
        symlink("file", path("link")).unwrap();

        let mut text = String::new();
        let mut file = open_to_write(&path("file")).unwrap();
        file.read_to_string(&mut text).unwrap();
        file.write_all(b"y").unwrap();
        assert_eq!(
            (text.as_str(), &fs::read(path("file")).unwrap()[..]),
            ("x", &b"xy"[..])
        );
        fs::copy("/bin/sleep", path("program")).unwrap();
        let mut runs = Command::new(path("program")).arg("60").spawn().unwrap();
        let opened = open_to_write(&path("program"));
        let may_read = open_to_read(&path("program")).is_ok();
        runs.kill().unwrap();
        runs.wait().unwrap();
        assert!(matches!(opened, Err(FileError::Runs)) && may_read);
        // Whoever opens that waits for a writer.
        assert!(matches!(open_place(&path("fifo")), Err(FileError::NoPlace)));
        assert!(matches!(
            open_to_write(&path("fifo")),
            Err(FileError::NoPlace)
        ));
        assert!(matches!(
            open_to_write(&path("link")),
            Err(FileError::NoPlace)
        ));
        assert!(matches!(
            open_to_write(folder.path()),
            Err(FileError::NotRegular)
        ));
        open_place(&path("link")).unwrap();
        open_place(folder.path()).unwrap();
    }
}
