// SPDX-License-Identifier: GPL-2.0-only
//! Files that root writes into folders of others. Whoever may rename what is in a folder could have a name in it
//! lead to any file, to a device that does something when it is opened, or to a pipe that nobody reads. So nothing
//! is followed there: the folder is opened once, and what is written gets its name in just that one.

use std::ffi::{CStr, CString, OsString};
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{fchown, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use nix::errno::Errno;
use nix::libc;
use nix::unistd::{getegid, geteuid};
use tempfile::Builder;

use super::replace::{folder_of, make_new};

/// Who may change what is in a folder besides its owner and root.
const GROUP_WRITES: u32 = 0o020;
const OTHERS_WRITE: u32 = 0o002;

/// What a mode says of who may read and write. A file of root's is no program because somebody wants it to be one.
const RIGHTS: u32 = 0o666;

/// Of these, what it says of the group.
const GROUP_S: u32 = 0o060;

/// Where the list of who else may do what is (acl(5)).
const LIST: &CStr = c"system.posix_acl_access";

/// So many links are followed, as by the kernel.
const MOST_LINKS: usize = 40;

/// A user, with the group.
#[derive(Clone, Copy, Debug)]
struct User {
    uid: u32,
    gid: u32,
}

/// A file in a folder of somebody else's, which is open.
#[derive(Debug)]
pub struct Place {
    folder: File,
    name: OsString,
}

fn refused(why: &str) -> io::Error {
    io::Error::new(ErrorKind::PermissionDenied, why)
}

/// Is it a file of root's, or this user's?
fn is_ours(there: &Metadata, user: User) -> bool {
    [0, user.uid].contains(&there.uid())
}

/// Has a folder a list of who else may do what? Its mode says then what these may at most, in place of what its group
/// may.
fn has_list(folder: &Path) -> io::Result<bool> {
    let path = CString::new(folder.as_os_str().as_bytes())?;
    // SAFETY: both names end with a zero, and nothing is written.
    let nr = unsafe { libc::lgetxattr(path.as_ptr(), LIST.as_ptr(), std::ptr::null_mut(), 0) };

    match Errno::result(nr) {
        Ok(_) => Ok(true),
        Err(Errno::ENODATA | Errno::EOPNOTSUPP) => Ok(false),
        Err(err) => Err(err.into()),
    }
}

/// May only root, or this user, change which names are in a folder?
fn is_own(folder: &Path, user: User) -> io::Result<bool> {
    let there = fs::symlink_metadata(folder)?;
    let is_group_s =
        there.mode() & GROUP_WRITES != 0 && (there.gid() != user.gid || has_list(folder)?);

    Ok(is_ours(&there, user) && !is_group_s && there.mode() & OTHERS_WRITE == 0)
}

/// May only root, or this user, change what has this name in a folder? Where others may make names, but only remove
/// their own, as in /tmp, the user's stay.
fn is_own_in(folder: &Path, entry: &Metadata, user: User) -> io::Result<bool> {
    let there = fs::symlink_metadata(folder)?;
    let keeps_names = there.mode() & libc::S_ISVTX != 0;

    Ok((keeps_names && is_ours(&there, user) && is_ours(entry, user)) || is_own(folder, user)?)
}

/// Parts of a path, the first one last.
fn parts_of(path: &Path) -> Vec<PathBuf> {
    let parts = path.components().rev();
    parts.map(|part| PathBuf::from(part.as_os_str())).collect()
}

/// Where a folder is as far as links are this user's or root's; the rest as it is. `None`: all of it is theirs.
fn real(folder: &Path, user: User) -> io::Result<Option<PathBuf>> {
    let mut parts = parts_of(&std::path::absolute(folder)?);
    let mut real = PathBuf::from("/");
    let mut is_foreign = false;
    let mut nr_links = 0;

    while let Some(part) = parts.pop() {
        match part.components().next() {
            Some(Component::RootDir) => real = "/".into(),
            // Of what may be a link it leads nobody knows where.
            Some(Component::ParentDir) if is_foreign => {
                return Err(refused("it is named by way of \"..\""))
            }
            Some(Component::ParentDir) => {
                real.pop();
            }
            Some(Component::Normal(name)) => {
                let next = real.join(name);
                let is_link = !is_foreign && {
                    let there = fs::symlink_metadata(&next)?;
                    is_foreign = !is_own_in(&real, &there, user)?;
                    there.is_symlink()
                };
                if is_foreign || !is_link {
                    real = next;
                    continue;
                }
                nr_links += 1;
                if nr_links > MOST_LINKS {
                    return Err(io::Error::from_raw_os_error(libc::ELOOP));
                }
                parts.extend(parts_of(&fs::read_link(&next)?));
            }
            _ => {}
        }
    }
    Ok((is_foreign || !is_own(&real, user)?).then_some(real))
}

/// An open folder itself, whatever has its name now.
fn itself(folder: &File) -> PathBuf {
    format!("/proc/self/fd/{}", folder.as_raw_fd()).into()
}

/// Open a folder, and no link to one.
fn open_folder(path: &Path) -> io::Result<File> {
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_PATH | libc::O_NOFOLLOW)
        .open(path)?;
    let kind = opened.metadata()?.file_type();

    if kind.is_symlink() {
        return Err(refused(
            "a symbolic link of somebody else's leads to its folder",
        ));
    }
    if !kind.is_dir() {
        return Err(io::Error::from_raw_os_error(libc::ENOTDIR));
    }
    Ok(opened)
}

/// Open a folder to which no link leads, one part of its path after the other. openat2(2) would do that at once, but
/// systemd refuses it to services that may make no program with another user's rights (RestrictSUIDSGID).
fn open_without_links(folder: &Path) -> io::Result<File> {
    let mut opened = open_folder(Path::new("/"))?;

    for part in folder.components() {
        if let Component::Normal(name) = part {
            opened = open_folder(&itself(&opened).join(name))?;
        }
    }
    Ok(opened)
}

fn place_for(path: &Path, user: User) -> io::Result<Option<Place>> {
    let Some(folder) = real(folder_of(path), user)? else {
        return Ok(None);
    };
    let name = path.file_name().ok_or(ErrorKind::IsADirectory)?;

    Ok(Some(Place {
        folder: open_without_links(&folder)?,
        name: name.to_owned(),
    }))
}

impl Place {
    /// Where a file is in a folder in which others may exchange names. `None`: it is not in such a one.
    ///
    /// # Errors
    ///
    /// When its folder cannot be opened, or somebody else's link leads there.
    pub fn of(path: &Path) -> io::Result<Option<Self>> {
        let user = User {
            uid: geteuid().as_raw(),
            gid: getegid().as_raw(),
        };
        place_for(path, user)
    }

    /// What is there, if anything is.
    ///
    /// # Errors
    ///
    /// When it is no regular file, or cannot be read.
    pub fn open(&self) -> io::Result<Option<File>> {
        let refused = || refused("it is no regular file, and its folder is somebody else's");
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(itself(&self.folder).join(&self.name));

        match opened {
            Ok(file) if file.metadata()?.is_file() => Ok(Some(file)),
            Ok(_) => Err(refused()),
            Err(err) if err.kind() == ErrorKind::NotFound => Ok(None),
            Err(err) if err.raw_os_error() == Some(libc::ELOOP) => Err(refused()),
            Err(err) => Err(err),
        }
    }

    /// Put a new file in its place, or in that of whatever has the name by then. It is this user's; mode and group
    /// stay. Where its group cannot, the new one may what others may.
    ///
    /// # Errors
    ///
    /// When it cannot be written; the file is as it was then.
    pub fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        let folder = itself(&self.folder);
        let there = self.open().ok().flatten();
        let mut fresh = Builder::new()
            .prefix(".dieaware-")
            .make_in(&folder, make_new)?;

        if let Some(there) = there {
            let there = there.metadata()?;
            let mut mode = there.mode() & RIGHTS;
            if fchown(fresh.as_file(), None, Some(there.gid())).is_err() {
                mode &= !GROUP_S | (mode << 3);
            }
            fresh
                .as_file()
                .set_permissions(Permissions::from_mode(mode))?;
        }
        fresh.as_file_mut().write_all(bytes)?;
        fresh.as_file().sync_all()?;
        fresh.persist(folder.join(&self.name))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::fs::{self, Permissions};
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{chown, symlink, MetadataExt, PermissionsExt};
    use std::path::Path;

    use nix::libc;
    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;

    use super::{is_own, place_for, User, LIST};

    /// A folder that anybody may change, in one that is this user's where somebody has one.
    fn folders() -> (tempfile::TempDir, std::path::PathBuf) {
        // What is in /tmp is in a folder of others.
        let dir = match std::env::var_os("HOME") {
            Some(home) => tempfile::tempdir_in(home).unwrap(),
            None => tempfile::tempdir().unwrap(),
        };
        let theirs = fs::canonicalize(dir.path()).unwrap().join("theirs");
        fs::create_dir(&theirs).unwrap();
        fs::set_permissions(&theirs, Permissions::from_mode(0o777)).unwrap();
        (dir, theirs)
    }

    fn user(folder: &Path) -> User {
        let there = fs::metadata(folder).unwrap();
        User {
            uid: there.uid(),
            gid: there.gid(),
        }
    }

    #[test]
    fn in_a_folder_of_others_nothing_is_followed() {
        let (dir, theirs) = folders();
        let user = user(dir.path());
        let place = |path: &Path| place_for(path, user).unwrap().unwrap();
        let file = theirs.join("file");
        assert!(place(&file).open().unwrap().is_none());
        for text in ["first", "second"] {
            place(&file).replace(text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
        }
        for (before, after) in [(0o640, 0o640), (0o600, 0o600), (0o4755, 0o644)] {
            fs::set_permissions(&file, Permissions::from_mode(before)).unwrap();
            place(&file).replace(b"second").unwrap();
            assert_eq!(fs::metadata(&file).unwrap().mode() & 0o7777, after);
        }
        let elsewhere = dir.path().join("elsewhere");
        let (link, pipe, null) = (
            theirs.join("link"),
            theirs.join("pipe"),
            theirs.join("null"),
        );
        symlink(&elsewhere, &link).unwrap();
        mkfifo(&pipe, Mode::S_IRWXU).unwrap();
        symlink("/dev/null", &null).unwrap();
        for path in [&link, &pipe, &null] {
            place(path).open().unwrap_err();
            // It came after somebody had looked.
            place(path).replace(b"it").unwrap();
            assert_eq!(fs::read_to_string(path).unwrap(), "it");
            assert!(fs::symlink_metadata(path).unwrap().is_file());
        }
        assert!(!elsewhere.exists());
        assert_eq!(fs::read_dir(&theirs).unwrap().count(), 4);
    }

    #[test]
    fn nobody_leads_to_another_folder() {
        let (dir, theirs) = folders();
        let user = user(dir.path());
        let (below, elsewhere) = (theirs.join("below"), dir.path().join("elsewhere"));
        fs::create_dir(&below).unwrap();
        fs::create_dir(&elsewhere).unwrap();
        fs::set_permissions(&below, Permissions::from_mode(0o755)).unwrap();
        let place = place_for(&below.join("file"), user).unwrap().unwrap();
        fs::remove_dir(&below).unwrap();
        symlink(&elsewhere, &below).unwrap();
        let err = place_for(&below.join("file"), user).unwrap_err();
        assert!(err.to_string().contains("symbolic link"), "{err}");
        // Who was there before is where it was.
        place.replace(b"it").unwrap_err();
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    }

    /// A list by which another user may write in a folder; its owner may all, its group and others nothing.
    fn give_list(folder: &Path) {
        let entries: [(u16, u16, u32); 5] = [
            (0x01, 7, u32::MAX),
            (0x02, 7, 65534),
            (0x04, 0, u32::MAX),
            (0x10, 7, u32::MAX),
            (0x20, 0, u32::MAX),
        ];
        let mut list = 2_u32.to_le_bytes().to_vec();
        for (kind, may, who) in entries {
            list.extend(kind.to_le_bytes());
            list.extend(may.to_le_bytes());
            list.extend(who.to_le_bytes());
        }
        let path = CString::new(folder.as_os_str().as_bytes()).unwrap();
        // SAFETY: both names end with a zero, and the list has so many bytes.
        let result = unsafe {
            libc::setxattr(
                path.as_ptr(),
                LIST.as_ptr(),
                list.as_ptr().cast(),
                list.len(),
                0,
            )
        };
        if result != 0 {
            println!("skipped: this filesystem has no lists of who may do what");
        }
    }

    #[test]
    fn a_folder_with_a_list_of_who_may_write_is_not_ones_own() {
        let (dir, _) = folders();
        let folder = dir.path().join("folder");
        fs::create_dir(&folder).unwrap();
        let user = user(&folder);
        fs::set_permissions(&folder, Permissions::from_mode(0o770)).unwrap();
        assert!(is_own(&folder, user).unwrap());
        fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
        give_list(&folder);
        let is_listed = fs::metadata(&folder).unwrap().mode() & 0o070 != 0;
        assert_eq!(is_own(&folder, user).unwrap(), !is_listed);
    }

    #[test]
    fn what_is_ones_own_stays_where_others_remove_only_theirs() {
        let (dir, theirs) = folders();
        let user = user(dir.path());
        let (own, elsewhere) = (theirs.join("own"), dir.path().join("elsewhere"));
        fs::create_dir(&own).unwrap();
        fs::create_dir(&elsewhere).unwrap();
        fs::set_permissions(&own, Permissions::from_mode(0o755)).unwrap();
        let link = theirs.join("link");
        symlink(&elsewhere, &link).unwrap();
        let is_own_way = |folder: &Path| {
            let place = place_for(&folder.join("file"), user);
            place.map(|place| place.is_none())
        };
        if !is_own_way(dir.path()).unwrap() {
            println!("skipped: this user's folder is in one of others");
            return;
        }
        assert!(!is_own_way(&own).unwrap());
        is_own_way(&link).unwrap_err();
        fs::set_permissions(&theirs, Permissions::from_mode(0o1777)).unwrap();
        assert!(is_own_way(&own).unwrap());
        assert!(is_own_way(&link).unwrap());
        // What is new there takes a name that others may have taken before.
        assert!(!is_own_way(&theirs).unwrap());
        // Somebody else has made these.
        let other = User { uid: 12345, ..user };
        if user.uid == 0 {
            for path in [&own, &link] {
                std::os::unix::fs::lchown(path, Some(65534), None).unwrap();
            }
            assert!(!is_own_way(&own).unwrap());
            is_own_way(&link).unwrap_err();
        } else {
            place_for(&own.join("file"), other).unwrap().unwrap();
        }
    }

    #[test]
    fn a_link_of_ones_own_leads_to_none_of_somebody_else_s() {
        let (dir, theirs) = folders();
        let user = user(dir.path());
        let (elsewhere, link) = (dir.path().join("elsewhere"), dir.path().join("link"));
        fs::create_dir(&elsewhere).unwrap();
        symlink(&elsewhere, theirs.join("link")).unwrap();
        symlink(theirs.join("link"), &link).unwrap();
        let err = place_for(&link.join("file"), user).unwrap_err();
        assert!(err.to_string().contains("symbolic link"), "{err}");
        symlink("loop", dir.path().join("loop")).unwrap();
        place_for(&dir.path().join("loop/file"), user).unwrap_err();
    }

    #[test]
    fn a_file_stays_its_group_s() {
        let (dir, theirs) = folders();
        let user = user(dir.path());
        let file = theirs.join("file");
        fs::write(&file, "first").unwrap();
        if chown(&file, None, Some(12345)).is_err() {
            println!("skipped: only root gives files to any group");
            return;
        }
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        let place = place_for(&file, user).unwrap().unwrap();
        place.replace(b"second").unwrap();
        let there = fs::metadata(&file).unwrap();
        assert_eq!((there.gid(), there.mode() & 0o777), (12345, 0o640));
    }

    #[test]
    fn links_of_ones_own_are_followed_as_far_as_others_folders() {
        let (dir, theirs) = folders();
        let user = user(dir.path());
        if place_for(&dir.path().join("file"), user).unwrap().is_some() {
            println!("skipped: this user's folder is in one of others");
            return;
        }
        let link = dir.path().join("link");
        symlink(&theirs, &link).unwrap();
        let place = place_for(&link.join("file"), user).unwrap().unwrap();
        place.replace(b"it").unwrap();
        assert_eq!(fs::read_to_string(theirs.join("file")).unwrap(), "it");
        assert!(place_for(Path::new("/dev/stdout"), user).unwrap().is_none());
    }
}
