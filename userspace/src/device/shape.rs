// SPDX-License-Identifier: GPL-2.0-only
//! What those that use a block device rely on while they do: its size and blocks, and whether it can be
//! written. Nothing of that may change below them.

use std::fs;
use std::io;
use std::path::Path;

use crate::units::DeviceNumber;

const SYSFS: &str = "/sys/dev/block";

/// Files of the device's folder in sysfs. Smallest and best sizes of requests are none of them: these
/// are advice, and a target in hint mode has its own.
const FILES: [&str; 8] = [
    "size",
    "ro",
    "alignment_offset",
    "queue/logical_block_size",
    "queue/physical_block_size",
    "queue/discard_granularity",
    "queue/discard_max_hw_bytes",
    "queue/fua",
];

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Shape {
    values: Vec<String>,
    /// Programs may have its memory in theirs.
    pub has_dax: bool,
}

impl Shape {
    /// # Errors
    ///
    /// When sysfs does not know the device.
    pub fn of(device: DeviceNumber) -> io::Result<Self> {
        Self::read(&Path::new(SYSFS).join(device.to_string()))
    }

    fn read(folder: &Path) -> io::Result<Self> {
        let values = FILES
            .iter()
            .map(|file| Ok(fs::read_to_string(folder.join(file))?.trim().to_owned()))
            .collect::<io::Result<_>>()?;
        // Old and new kernels lack it.
        let dax = fs::read_to_string(folder.join("queue/dax")).unwrap_or_default();

        Ok(Self {
            values,
            has_dax: dax.trim() == "1",
        })
    }

    /// The size of its smallest blocks, in bytes.
    #[must_use]
    pub fn logical_block_bytes(&self) -> u64 {
        let pairs = FILES.iter().zip(&self.values);
        let mut found = pairs.filter(|(file, _)| **file == "queue/logical_block_size");
        found
            .next()
            .and_then(|(_, value)| value.parse().ok())
            .unwrap_or(0)
    }

    /// The same, of what may not change even if everything lies elsewhere: all but what requests
    /// should be like.
    #[must_use]
    pub fn difference_in_place(&self, now: &Self) -> Option<String> {
        let only = |shape: &Self| Self {
            values: FILES
                .iter()
                .zip(&shape.values)
                .map(|(file, value)| match *file {
                    "size" | "ro" => value.clone(),
                    _ => String::new(),
                })
                .collect(),
            has_dax: false,
        };
        only(self).difference(&only(now))
    }

    /// What differs first, in words.
    #[must_use]
    pub fn difference(&self, now: &Self) -> Option<String> {
        let pairs = self.values.iter().zip(&now.values);
        FILES
            .iter()
            .zip(pairs)
            .find(|(_, (before, now))| before != now)
            .map(|(file, (before, now))| format!("{file} was {before}, and would be {now}"))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{Shape, FILES};

    fn write(folder: &Path, file: &str, text: &str) {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn whatever_changes_is_named() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Shape::read(dir.path()).is_err());
        for file in FILES {
            write(dir.path(), file, "0\n");
        }
        let before = Shape::read(dir.path()).unwrap();
        assert!(!before.has_dax);
        for file in FILES {
            write(dir.path(), file, "1\n");
            let now = Shape::read(dir.path()).unwrap();
            let expected = format!("{file} was 0, and would be 1");
            assert_eq!(before.difference(&now), Some(expected));
            assert_eq!(now.difference(&now), None);
            write(dir.path(), file, "0\n");
        }
        let before = Shape::read(dir.path()).unwrap();
        write(dir.path(), "queue/logical_block_size", "4096\n");
        let now = Shape::read(dir.path()).unwrap();
        assert_eq!(now.logical_block_bytes(), 4096);
        assert!(before.difference(&now).is_some());
        assert_eq!(before.difference_in_place(&now), None);
        write(dir.path(), "ro", "1\n");
        let now = Shape::read(dir.path()).unwrap();
        let expected = "ro was 0, and would be 1".to_owned();
        assert_eq!(before.difference_in_place(&now), Some(expected));
        write(dir.path(), "queue/dax", "1\n");
        assert!(Shape::read(dir.path()).unwrap().has_dax);
    }
}
