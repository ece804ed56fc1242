// SPDX-License-Identifier: GPL-2.0-only
//! Which filesystem an open file belongs to, from what `/proc` says about it. `st_dev`
//! does not do: btrfs makes numbers up, one for each subvolume.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::str::{self, FromStr};

use thiserror::Error;

use crate::units::DeviceNumber;

/// A mounted filesystem.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Mount {
    /// The device number by which the kernel knows the filesystem (`s_dev`).
    pub device: DeviceNumber,
    /// Its type, such as `ext4`.
    pub fs_type: String,
}

#[derive(Debug, Error, Eq, PartialEq)]
pub enum MountError {
    #[error("/proc does not say which mount the file belongs to")]
    NoMountId,
    #[error("the mount with id {0} is not in /proc/self/mountinfo")]
    Unknown(u64),
    #[error("the mount with id {0} is described in an unknown way: {1}")]
    Malformed(u64, String),
}

/// Mounts of this process, as text for all functions here.
///
/// # Errors
///
/// When the kernel does not tell.
pub fn mountinfo() -> io::Result<String> {
    read(Path::new("/proc/self/mountinfo"))
}

/// A table of mounts, whose paths may be any bytes: what is no ASCII becomes octal, as blanks are.
///
/// # Errors
///
/// When it cannot be read.
pub fn read(table: &Path) -> io::Result<String> {
    fs::read(table).map(|bytes| escaped(&bytes))
}

fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());

    for byte in bytes {
        if byte.is_ascii() {
            text.push(char::from(*byte));
        } else {
            text.push_str(&format!("\\{byte:03o}"));
        }
    }
    text
}

/// The mount id in a file of `/proc/self/fdinfo`.
pub fn mount_id(fdinfo: &str) -> Result<u64, MountError> {
    fdinfo
        .lines()
        .find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok())
        .ok_or(MountError::NoMountId)
}

/// The id of the mount that an open file or folder is on.
///
/// # Errors
///
/// When the kernel does not say.
pub fn id_of(file: &File) -> io::Result<u64> {
    let fdinfo = fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd()))?;
    mount_id(&fdinfo).map_err(io::Error::other)
}

/// The mount with this id in `/proc/self/mountinfo`.
pub fn find_mount(mountinfo: &str, id: u64) -> Result<Mount, MountError> {
    let line = mountinfo
        .lines()
        .find(|line| line.split(' ').next().and_then(|word| word.parse().ok()) == Some(id))
        .ok_or(MountError::Unknown(id))?;
    parse_mount(line).ok_or_else(|| MountError::Malformed(id, line.to_owned()))
}

/// The number of optional fields varies; a lone dash ends them.
fn parse_mount(line: &str) -> Option<Mount> {
    let (front, back) = line.split_once(" - ")?;
    Some(Mount {
        device: DeviceNumber::from_str(front.split(' ').nth(2)?).ok()?,
        fs_type: back.split(' ').next()?.to_owned(),
    })
}

/// A path as `/proc/self/mountinfo` has it: blanks and the like are octal.
fn unescaped(text: &str) -> PathBuf {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();

    while let Some((first, after)) = rest.split_first() {
        let octal = after
            .get(..3)
            .and_then(|digits| str::from_utf8(digits).ok());
        let byte = octal.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match byte.filter(|_| *first == b'\\') {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(3..).unwrap_or(&[]);
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    OsString::from_vec(bytes).into()
}

/// Where a device's filesystem is mounted, each with whether only a part of it is seen there: by its number,
/// or a node of it (btrfs has numbers of its own, and a device may have several names).
fn points_of<'a>(
    mountinfo: &'a str,
    device: DeviceNumber,
    is_node: &'a dyn Fn(&Path) -> bool,
) -> impl Iterator<Item = (bool, PathBuf)> + 'a {
    mountinfo.lines().filter_map(move |line| {
        let (front, back) = line.split_once(" - ")?;
        let mut words = front.split(' ').skip(2);
        let (number, root, point) = (words.next()?, words.next()?, words.next()?);
        let source = unescaped(back.split(' ').nth(1)?);
        let is_it = DeviceNumber::from_str(number).ok() == Some(device) || is_node(&source);
        is_it.then(|| (root != "/", unescaped(point)))
    })
}

/// Where a device's filesystem is mounted: where all of it is seen rather than a part.
pub fn mount_point(
    mountinfo: &str,
    device: DeviceNumber,
    is_node: &dyn Fn(&Path) -> bool,
) -> Option<PathBuf> {
    points_of(mountinfo, device, is_node)
        .min_by_key(|(is_part, _)| *is_part)
        .map(|(_, point)| point)
}

/// All places where a device's filesystem is mounted, or a part of it.
pub fn mount_points(
    mountinfo: &str,
    device: DeviceNumber,
    is_node: &dyn Fn(&Path) -> bool,
) -> Vec<PathBuf> {
    points_of(mountinfo, device, is_node)
        .map(|(_, point)| point)
        .collect()
}

/// The first path of a device in fstab(5) for which that holds; tags are none.
pub fn named_in_fstab(fstab: &str, is_it: &dyn Fn(&Path) -> bool) -> Option<PathBuf> {
    let lines = fstab.lines().map(str::trim);
    let words = lines.filter_map(|line| line.split_whitespace().next());
    words
        .filter(|word| word.starts_with('/'))
        .map(unescaped)
        .find(|path| is_it(path))
}

/// Is something mounted there? A folder in which nothing is belongs to what is around it.
pub fn is_mount_point(mountinfo: &str, folder: &Path) -> bool {
    let mut points = mountinfo.lines().filter_map(|line| line.split(' ').nth(4));
    points.any(|point| unescaped(point) == folder)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    use std::path::{Path, PathBuf};

    use super::{
        escaped, find_mount, is_mount_point, mount_id, mount_point, mount_points, named_in_fstab,
        MountError,
    };

    const MOUNTINFO: &str = "\
22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/root rw
36 22 254:0 / /data rw,noatime master:1 shared:7 - xfs /dev/mapper/demo rw
37 22 0:31 /sub /mnt/with\\040space rw - btrfs /dev/sdb rw
9 9 broken
";

    #[test]
    fn the_mount_is_found_by_its_id() {
        let mount = find_mount(MOUNTINFO, 36).unwrap();
        assert_eq!(mount.device.to_string(), "254:0");
        assert_eq!(mount.fs_type, "xfs");
        assert_eq!(find_mount(MOUNTINFO, 37).unwrap().fs_type, "btrfs");
    }

    #[test]
    fn a_missing_or_broken_mount_is_an_error() {
        assert_eq!(find_mount(MOUNTINFO, 3), Err(MountError::Unknown(3)));
        assert!(matches!(
            find_mount(MOUNTINFO, 9),
            Err(MountError::Malformed(9, _))
        ));
    }

    #[test]
    fn a_device_is_mounted_where_all_of_it_is_seen() {
        let point = |device: &str, node| {
            let node = Path::new(node);
            mount_point(MOUNTINFO, device.parse().unwrap(), &|source| source == node)
        };
        assert_eq!(point("254:0", "/dev/dm-0"), Some(PathBuf::from("/data")));
        let blank = PathBuf::from("/mnt/with space");
        assert_eq!(point("8:16", "/dev/sdb"), Some(blank));
        assert_eq!(point("8:32", "/dev/sdc"), None);
        let bind = "1 1 8:1 /sub /bind rw - ext4 /dev/sda1 rw\n\
                    2 1 8:1 / /all\\134 rw - ext4 /dev/sda1 rw\n3 1 8:1\n";
        let found = mount_point(bind, "8:1".parse().unwrap(), &|_| false);
        assert_eq!(found, Some(PathBuf::from("/all\\")));
    }

    #[test]
    fn a_folder_is_a_mount_point_only_where_something_is_mounted() {
        for (folder, is_one) in [
            ("/data", true),
            ("/mnt/with space", true),
            ("/", true),
            ("/data/below", false),
            ("/mnt", false),
        ] {
            let found = is_mount_point(MOUNTINFO, Path::new(folder));
            assert_eq!(found, is_one, "{folder}");
        }
    }

    #[test]
    fn all_places_of_a_device_are_known() {
        let points = |device: &str| mount_points(MOUNTINFO, device.parse().unwrap(), &|_| false);
        assert_eq!(points("254:0"), [PathBuf::from("/data")]);
        let bind = format!("{MOUNTINFO}40 22 254:0 /sub /bind rw - xfs /dev/mapper/demo rw\n");
        let points = mount_points(&bind, "254:0".parse().unwrap(), &|_| false);
        assert_eq!(points, [PathBuf::from("/data"), PathBuf::from("/bind")]);
    }

    #[test]
    fn a_path_may_be_any_bytes() {
        let text = escaped(b"5 1 8:1 / /m\xfcnchen\\040s\xc3\xbcd rw - ext4 /dev/sda1 rw\n");
        let found = mount_point(&text, "8:1".parse().unwrap(), &|_| false);
        let folder = OsString::from_vec(b"/m\xfcnchen s\xc3\xbcd".to_vec());
        assert_eq!(found, Some(PathBuf::from(&folder)));
        assert!(is_mount_point(&text, Path::new(&folder)));
    }

    #[test]
    fn fstab_names_a_device_by_its_path() {
        let fstab = "# /dev/a / x\nUUID=/dev/a / x\n\n /dev/my\\040disk /srv ext4\n/dev/b /b xfs\n";
        let named = |wanted: &str| named_in_fstab(fstab, &|path| path == Path::new(wanted));
        assert_eq!(named("/dev/my disk"), Some(PathBuf::from("/dev/my disk")));
        assert_eq!(named("/dev/b"), Some(PathBuf::from("/dev/b")));
        assert_eq!(named("/dev/a"), None);
    }

    #[test]
    fn the_id_is_one_line_of_fdinfo() {
        assert_eq!(mount_id("pos:\t0\nflags:\t02\nmnt_id:\t36\n"), Ok(36));
        assert_eq!(mount_id("pos:\t0\n"), Err(MountError::NoMountId));
    }
}
