// SPDX-License-Identifier: GPL-2.0-only
//! Files that are replaced as a whole: whoever reads one meanwhile, or after a crash, has the one of
//! before or the new one.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Give a file new contents. What is written first has the same name and `.new` behind it.
///
/// # Errors
///
/// When they cannot be written; the file is as it was then.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(".new");
    let write = || {
        let mut file = File::create(&fresh)?;
        file.write_all(bytes)?;
        // A name that is on the disk before the bytes would lead to an empty file after a crash.
        file.sync_all()?;
        fs::rename(&fresh, path)
    };

    write().inspect_err(|_| {
        // On a full disk it would stay in the way.
        let _ = fs::remove_file(&fresh);
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::replace;

    #[test]
    fn a_file_is_the_old_one_or_the_new_one() {
        let dir = std::env::temp_dir().join(format!("replace-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let path = dir.join("file");
        replace(&path, b"first, which is longer").unwrap();
        replace(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        // What an earlier run has left does not count.
        fs::write(dir.join("file.new"), "what was begun before, and is longer").unwrap();
        replace(&path, b"third").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"third");

        // A file cannot take the place of a folder.
        let taken = dir.join("folder");
        fs::create_dir_all(taken.join("below")).unwrap();
        replace(&taken, b"it").unwrap_err();
        assert!(taken.join("below").is_dir() && !dir.join("folder.new").exists());
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 2);
        fs::remove_dir_all(&dir).unwrap();
    }
}
