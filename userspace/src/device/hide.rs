// SPDX-License-Identifier: GPL-2.0-only
//! A filesystem that was moved elsewhere, and must not be found any more where it was: the bytes by
//! which everybody knows it become zero, and no others. What is there is read only when it happens, as
//! it may have been written until then.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use nix::libc;
use serde::{Deserialize, Serialize};

use super::signatures::Found;

/// Filesystems of which all places are known that somebody looks at who mounts them.
pub const KINDS: [&str; 6] = ["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs"];

/// Of F2FS the kernel takes the second superblock when it finds no first one.
const F2FS: &str = "f2fs";
const F2FS_SECOND: u64 = 4096;

const BLOCK_BYTES: usize = 4096;

/// Bytes by which a filesystem is known.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Sign {
    pub at: u64,
    pub bytes: usize,
}

/// All signs of what was found; `None`: it is none of those whose places are known.
#[must_use]
pub fn signs(found: &[Found]) -> Option<Vec<Sign>> {
    let mut signs = Vec::new();

    for one in found {
        signs.push(Sign {
            at: one.at,
            bytes: one.bytes,
        });
        if one.kind == F2FS {
            signs.push(Sign {
                at: one.at + F2FS_SECOND,
                bytes: one.bytes,
            });
        }
    }
    let is_known = found.iter().any(|one| KINDS.contains(&one.kind.as_str()));
    is_known.then_some(signs)
}

/// What goes to a device around the page cache.
#[derive(Clone)]
#[repr(C, align(4096))]
struct Block([u8; BLOCK_BYTES]);

/// One that has a sign or more.
struct Signed {
    at: u64,
    /// In it, in bytes.
    signs: Vec<(usize, usize)>,
    before: Box<Block>,
    now: Box<Block>,
}

impl Signed {
    fn new(at: u64) -> Self {
        let empty = || Box::new(Block([0; BLOCK_BYTES]));
        Self {
            at,
            signs: Vec::new(),
            before: empty(),
            now: empty(),
        }
    }

    fn hide(&mut self) {
        self.now.0 = self.before.0;
        for (first, nr_bytes) in &self.signs {
            let end = first.saturating_add(*nr_bytes);
            if let Some(sign) = self.now.0.get_mut(*first..end) {
                sign.fill(0);
            }
        }
    }

    fn is_hidden(&self) -> bool {
        self.signs.iter().any(|(first, nr_bytes)| {
            let end = first.saturating_add(*nr_bytes);
            let sign = self.before.0.get(*first..end).unwrap_or_default();
            sign.iter().all(|byte| *byte == 0)
        })
    }
}

/// A device whose signs can be taken away, and put back: all that takes memory was done when it was
/// opened.
pub struct Hider {
    file: File,
    blocks: Vec<Signed>,
}

impl Hider {
    /// # Errors
    ///
    /// When the device cannot be opened.
    pub fn open(path: &Path, signs: &[Sign]) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_DIRECT)
            .open(path)?;
        let mut blocks: Vec<Signed> = Vec::new();

        for sign in signs {
            let inside = sign.at % BLOCK_BYTES as u64;
            let at = sign.at - inside;
            if !blocks.iter().any(|block| block.at == at) {
                blocks.push(Signed::new(at));
            }
            if let Some(block) = blocks.iter_mut().find(|block| block.at == at) {
                block.signs.push((inside as usize, sign.bytes));
            }
        }
        Ok(Self { file, blocks })
    }

    fn read(&mut self) -> io::Result<()> {
        for block in &mut self.blocks {
            self.file.read_exact_at(&mut block.before.0, block.at)?;
        }
        Ok(())
    }

    /// Take the signs away, so that they are gone after a power failure as well.
    ///
    /// # Errors
    ///
    /// When the device does; some may be gone then.
    pub fn hide(&mut self) -> io::Result<()> {
        self.read()?;
        for block in &mut self.blocks {
            block.hide();
            self.file.write_all_at(&block.now.0, block.at)?;
        }
        self.file.sync_all()
    }

    /// Put back what [`Hider::hide`] has read.
    ///
    /// # Errors
    ///
    /// When the device does.
    pub fn show(&mut self) -> io::Result<()> {
        for block in &self.blocks {
            self.file.write_all_at(&block.before.0, block.at)?;
        }
        self.file.sync_all()
    }

    /// Is a sign gone?
    ///
    /// # Errors
    ///
    /// When the device does.
    pub fn is_hidden(&mut self) -> io::Result<bool> {
        self.read()?;
        Ok(self.blocks.iter().any(Signed::is_hidden))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{signs, Hider, Sign};
    use crate::device::signatures::Found;

    fn found(kind: &str, at: u64, bytes: usize) -> Found {
        Found {
            what: String::new(),
            kind: kind.to_owned(),
            at,
            bytes,
        }
    }

    #[test]
    fn only_known_filesystems_are_hidden() {
        let sign = |at, bytes| Sign { at, bytes };
        let ext4 = found("ext4", 0x438, 2);
        assert_eq!(
            signs(std::slice::from_ref(&ext4)),
            Some(vec![sign(0x438, 2)])
        );
        let f2fs = signs(&[found("f2fs", 0x400, 4)]);
        assert_eq!(f2fs, Some(vec![sign(0x400, 4), sign(0x1400, 4)]));
        assert_eq!(signs(&[found("crypto_LUKS", 0, 6)]), None);
        assert_eq!(signs(&[]), None);
        // What is left of something else goes as well.
        let both = signs(&[ext4, found("dos", 0x1fe, 2)]);
        assert_eq!(both, Some(vec![sign(0x438, 2), sign(0x1fe, 2)]));
    }

    #[test]
    fn signs_go_and_come_back_and_nothing_else_changes() {
        // Not in memory, which knows no O_DIRECT everywhere.
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = dir.path().join("image");
        let bytes: Vec<u8> = (0..16384_u32).map(|at| (at % 251) as u8 + 1).collect();
        fs::write(&path, &bytes).unwrap();
        let signs = [(0x438, 2), (0x10, 4), (0x1400, 4)].map(|(at, bytes)| Sign { at, bytes });
        let mut hider = Hider::open(&path, &signs).unwrap();
        assert!(!hider.is_hidden().unwrap());
        hider.hide().unwrap();
        let now = fs::read(&path).unwrap();
        let zeroes: Vec<_> = (0..now.len()).filter(|at| now[*at] == 0).collect();
        let expected = [
            0x10, 0x11, 0x12, 0x13, 0x438, 0x439, 0x1400, 0x1401, 0x1402, 0x1403,
        ];
        assert_eq!(zeroes, expected);
        hider.show().unwrap();
        assert_eq!(fs::read(&path).unwrap(), bytes);
        hider.hide().unwrap();
        assert!(hider.is_hidden().unwrap());
        // A sign that is still there does not make it whole.
        let mut whole = fs::read(&path).unwrap();
        whole[0x1400] = 9;
        fs::write(&path, whole).unwrap();
        assert!(hider.is_hidden().unwrap());
    }
}
