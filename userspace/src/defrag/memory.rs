// SPDX-License-Identifier: GPL-2.0-only
//! What became of a file that still lies badly after all that could be done, so that the same is not
//! done again in vain. It is an extended attribute of the file, which only root sees; where there can
//! be none, nothing is remembered.

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::errno::Errno;
use nix::libc;

use super::{Losses, Method};
use crate::frag::look::Look;

const NAME: &CStr = c"trusted.dieaware.defrag";

/// The first word of what is remembered.
const VERSION: &str = "2";

/// Longer than any that we write.
const MOST_BYTES: usize = 128;

fn word(method: Method) -> &'static str {
    match method {
        Method::Ssd => "ssd",
        Method::Share => "share",
        Method::Move => "move",
        Method::Rewrite => "rewrite",
    }
}

/// Whose it is: a copy of the file may have the attribute too, and is another file.
fn head(look: &Look, method: Method) -> String {
    let (inode, generation) = (look.facts.inode, look.facts.generation);
    format!("{VERSION} {inode} {generation} {} ", word(method))
}

fn text(look: &Look, method: Method, losses: Losses) -> String {
    let Losses {
        loss_permille,
        split_permille,
    } = losses;
    format!("{}{loss_permille} {split_permille}", head(look, method))
}

fn parse(text: &str, look: &Look, method: Method) -> Option<Losses> {
    let (loss, split) = text.strip_prefix(&head(look, method))?.split_once(' ')?;
    let losses = Losses {
        loss_permille: loss.parse().ok()?,
        split_permille: split.parse().ok()?,
    };

    (self::text(look, method, losses) == text).then_some(losses)
}

fn name_of(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}

fn get(path: &Path) -> io::Result<String> {
    let path = name_of(path)?;
    let mut bytes = [0u8; MOST_BYTES];
    // SAFETY: both names end with a zero, and as many bytes as are said can be written.
    let nr = unsafe {
        libc::getxattr(
            path.as_ptr(),
            NAME.as_ptr(),
            bytes.as_mut_ptr().cast(),
            bytes.len(),
        )
    };
    let nr = Errno::result(nr)?;
    let known = bytes.get(..nr.unsigned_abs()).unwrap_or(&[]);
    Ok(String::from_utf8_lossy(known).into_owned())
}

/// What the file lost after this had been done with it; `None`: nobody knows.
pub fn recall(path: &Path, look: &Look, method: Method) -> Option<Losses> {
    parse(&get(path).ok()?, look, method)
}

/// Remember that.
pub fn keep(path: &Path, look: &Look, method: Method, losses: Losses) {
    let Ok(path) = name_of(path) else { return };
    let text = text(look, method, losses);

    // SAFETY: both names end with a zero, and the bytes are as many as are said. Where it fails, the
    // file is only looked at in vain once more.
    let _ = unsafe {
        libc::setxattr(
            path.as_ptr(),
            NAME.as_ptr(),
            text.as_ptr().cast(),
            text.len(),
            0,
        )
    };
}

#[cfg(test)]
mod tests {
    use super::{parse, text};
    use crate::defrag::{Losses, Method};
    use crate::frag::look::Look;
    use crate::frag::Logical;
    use crate::fs::file::FileFacts;
    use crate::units::DeviceNumber;

    fn look(inode: u64, generation: u32) -> Look {
        let device = DeviceNumber { major: 1, minor: 2 };
        Look {
            facts: FileFacts {
                device,
                below: device,
                fs_type: "ext4".to_owned(),
                inode,
                generation,
                extents: Vec::new(),
            },
            bytes: 0,
            runs: Vec::new(),
            logical: Logical::of(&[]),
            on_ssd: Err(String::new()),
        }
    }

    #[test]
    fn what_is_remembered_is_of_that_file_and_method() {
        let losses = Losses {
            loss_permille: 875,
            split_permille: 90,
        };
        let kept = text(&look(12, 7), Method::Move, losses);
        assert_eq!(kept, "2 12 7 move 875 90");
        assert_eq!(parse(&kept, &look(12, 7), Method::Move), Some(losses));
        assert_eq!(parse(&kept, &look(12, 7), Method::Rewrite), None);
        assert_eq!(parse(&kept, &look(13, 7), Method::Move), None);
        assert_eq!(parse(&kept, &look(12, 8), Method::Move), None);
        for text in [
            "",
            "2",
            "875",
            "1 12 7 move 875",
            "2 12 7 move 875",
            "2 12 7 move 875 -1",
            "2 12 7 move 0875 90",
            "2 12 7 move 875 90 ",
            "2 12 7 move 875 90 1",
        ] {
            assert_eq!(parse(text, &look(12, 7), Method::Move), None, "{text}");
        }
    }
}
