// SPDX-License-Identifier: GPL-2.0-only
//! Volumes of LVM: what they are called, and LVM's own lock of their group. LVM reads what a volume is to
//! look like, and gives it tables by that, while it has this lock; whoever else gives it one has to have
//! the lock from the first look at the volume on. Otherwise a table of LVM's that came in between, such
//! as that of lvextend or of a pvmove that has ended, would be replaced by an older one.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::io_engine::lock::LockFile;

/// How LVM's UUIDs begin.
pub const UUID: &str = "LVM-";

/// Where LVM has its locks, unless somebody has configured another folder.
const FOLDER: &str = "/run/lock/lvm";

/// The names of a volume's group and of itself in that of its device: a hyphen of either is doubled.
#[must_use]
pub fn names(device: &str) -> Option<(&str, &str)> {
    let mut at = 0;

    loop {
        let hyphen = at + device.get(at..)?.find('-')?;
        let behind = device.get(hyphen + 1..)?;
        if !behind.starts_with('-') {
            return Some((device.get(..hyphen)?, behind));
        }
        at = hyphen + 2;
    }
}

/// LVM's lock of a group, until it is dropped.
#[derive(Debug)]
pub struct GroupLock {
    _lock: LockFile,
}

/// What came of it to be alone with a volume's tables.
#[derive(Debug)]
pub enum Taken {
    Alone(GroupLock),
    /// It is no volume of LVM's, or LVM keeps no locks here.
    Needless,
    /// LVM has had the lock of this group, which is in this file, for as long as was waited.
    Busy(String, PathBuf),
}

fn take_in(folder: &Path, uuid: &str, device: &str, most: Duration) -> io::Result<Taken> {
    let names = names(device).filter(|_| uuid.starts_with(UUID));
    let Some((group, _)) = names else {
        return Ok(Taken::Needless);
    };
    let group = group.replace("--", "-");
    let path = folder.join(format!("V_{group}"));

    match LockFile::wait(&path, most) {
        Ok(Some(lock)) => Ok(Taken::Alone(GroupLock { _lock: lock })),
        Ok(None) => Ok(Taken::Busy(group, path)),
        Err(err) if err.kind() == ErrorKind::NotFound => Ok(Taken::Needless),
        Err(err) => Err(err),
    }
}

/// Take LVM's lock of the group that a device belongs to, if it is a volume of LVM's.
///
/// # Errors
///
/// When the lock's file cannot be made.
pub fn take(uuid: &str, device: &str, most: Duration) -> io::Result<Taken> {
    take_in(Path::new(FOLDER), uuid, device, most)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::{names, take_in, Taken};

    #[test]
    fn a_group_s_name_ends_at_the_first_hyphen_that_is_not_doubled() {
        assert_eq!(names("vg-data"), Some(("vg", "data")));
        assert_eq!(names("a--b--c-d--e_mlog"), Some(("a--b--c", "d--e_mlog")));
        assert_eq!(names("a-b-real"), Some(("a", "b-real")));
        for name in ["", "volume", "a--b", "a--"] {
            assert_eq!(names(name), None, "{name}");
        }
    }

    #[test]
    fn one_at_a_time_has_a_group() {
        let dir = tempfile::tempdir().unwrap();
        let take = |uuid: &str, name: &str| {
            take_in(dir.path(), uuid, name, Duration::from_millis(20)).unwrap()
        };
        let taken = take("LVM-a", "my--vg-data");
        assert!(matches!(taken, Taken::Alone(_)));
        let Taken::Busy(group, path) = take("LVM-b", "my--vg-other") else {
            panic!("two have it");
        };
        assert_eq!(
            (group.as_str(), path),
            ("my-vg", dir.path().join("V_my-vg"))
        );
        assert!(matches!(take("LVM-b", "vg-other"), Taken::Alone(_)));
        assert!(matches!(take("CRYPT-b", "my--vg-other"), Taken::Needless));
        drop(taken);
        assert!(matches!(take("LVM-b", "my--vg-other"), Taken::Alone(_)));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn where_lvm_keeps_no_locks_nobody_waits() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("none");
        let taken = take_in(&folder, "LVM-a", "vg-data", Duration::from_secs(9)).unwrap();
        assert!(matches!(taken, Taken::Needless));
    }
}
