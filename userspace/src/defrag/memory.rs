// SPDX-License-Identifier: GPL-2.0-only
//! What became of a file that still lies badly after all that could be done, so that the same is not
//! done again in vain. It is an extended attribute of the file, which only root sees; where there can
//! be none, nothing is remembered.

use std::ffi::{CStr, CString};
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::errno::Errno;
use nix::libc;

use super::{Losses, Method, Reason, State, Wish};
use crate::format::block::crc32c;
use crate::frag::look::Look;

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

/// What it is remembered of: the name of the attribute, and all of it that comes before the losses.
pub struct Key {
    name: &'static CStr,
    head: String,
}

impl Key {
    /// A copy of a file may have the attribute too, and is another file.
    fn new(name: &'static CStr, version: &str, look: &Look, what: &str) -> Self {
        let (inode, generation) = (look.facts.inode, look.facts.generation);
        Self {
            name,
            head: format!("{version} {inode} {generation} {what} "),
        }
    }

    /// A file as a whole.
    pub(super) fn of_file(look: &Look, method: Method) -> Self {
        Self::new(c"trusted.dieaware.defrag", "2", look, word(method))
    }

    /// Those ranges of a file that an application wants. Of them some lie badly, others the next time: it
    /// is all of them that what they have come to is remembered of.
    pub fn of_ranges(
        look: &Look,
        ranges: &[Range<u64>],
        wish: Wish,
        large_pages: u64,
        reason: Reason,
    ) -> Self {
        let name = match reason {
            Reason::Pieces => c"trusted.dieaware.pick.pieces",
            Reason::Dies => c"trusted.dieaware.pick.dies",
        };
        // What was kept before there was a choice is of whole ranges.
        let begin = match large_pages {
            u64::MAX => !0,
            pages => crc32c(!0, &pages.to_le_bytes()),
        };
        let sum = ranges.iter().fold(begin, |sum, range| {
            let sum = crc32c(sum, &range.start.to_le_bytes());
            crc32c(sum, &range.end.to_le_bytes())
        });
        let method = wish.method.map_or("auto", word);
        let what = format!("{method} {} {sum:08x}", wish.threshold_permille);

        Self::new(name, "1", look, &what)
    }

    fn text(&self, losses: Losses) -> String {
        let Losses {
            loss_permille,
            split_permille,
        } = losses;
        format!("{}{loss_permille} {split_permille}", self.head)
    }

    fn parse(&self, text: &str) -> Option<Losses> {
        let (loss, split) = text.strip_prefix(&self.head)?.split_once(' ')?;
        let losses = Losses {
            loss_permille: loss.parse().ok()?,
            split_permille: split.parse().ok()?,
        };

        (self.text(losses) == text).then_some(losses)
    }
}

fn name_of(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}

fn get(path: &Path, name: &CStr) -> io::Result<String> {
    let path = name_of(path)?;
    let mut bytes = [0u8; MOST_BYTES];
    // SAFETY: both names end with a zero, and as many bytes as are said can be written.
    let nr = unsafe {
        libc::getxattr(
            path.as_ptr(),
            name.as_ptr(),
            bytes.as_mut_ptr().cast(),
            bytes.len(),
        )
    };
    let nr = Errno::result(nr)?;
    let known = bytes.get(..nr.unsigned_abs()).unwrap_or(&[]);
    Ok(String::from_utf8_lossy(known).into_owned())
}

/// Was the same done before, and does it lie no worse than it did then?
pub fn lies_as_then(path: &Path, look: &Look, key: &Key) -> bool {
    let text = get(path, key.name).ok();
    let then = text.and_then(|text| key.parse(&text));

    then.is_some_and(|then| !State::of(look).is_worse(&then))
}

/// Remember how it lies after that was done with it.
pub fn keep(path: &Path, look: &Look, key: &Key) {
    let Ok(path) = name_of(path) else { return };
    let text = key.text(Losses::of(&State::of(look)));

    // SAFETY: both names end with a zero, and the bytes are as many as are said. Where it fails, the
    // file is only looked at in vain once more.
    let _ = unsafe {
        libc::setxattr(
            path.as_ptr(),
            key.name.as_ptr(),
            text.as_ptr().cast(),
            text.len(),
            0,
        )
    };
}

#[cfg(test)]
mod tests {
    use super::{Key, MOST_BYTES};
    use crate::defrag::{Losses, Method, Reason, Wish};
    use crate::frag::look::{Look, Unseen};

    const LOSSES: Losses = Losses {
        loss_permille: 875,
        split_permille: 90,
    };

    fn look(inode: u64, generation: u32) -> Look {
        let mut look = Look::of_none(Unseen::Other(String::new()));
        look.facts.inode = inode;
        look.facts.generation = generation;
        look
    }

    #[test]
    fn what_is_remembered_is_of_that_file_and_method() {
        let key = |inode, generation, method| Key::of_file(&look(inode, generation), method);
        let kept = key(12, 7, Method::Move).text(LOSSES);
        assert_eq!(kept, "2 12 7 move 875 90");
        assert_eq!(key(12, 7, Method::Move).parse(&kept), Some(LOSSES));
        assert_eq!(key(12, 7, Method::Rewrite).parse(&kept), None);
        assert_eq!(key(13, 7, Method::Move).parse(&kept), None);
        assert_eq!(key(12, 8, Method::Move).parse(&kept), None);
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
            assert_eq!(key(12, 7, Method::Move).parse(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_remembered_of_ranges_is_of_all_of_them_and_of_why_and_how() {
        let wish = Wish::USUAL;
        let ranges = [0..8, 16..20];
        let kept = Key::of_ranges(&look(12, 7), &ranges, wish, 16, Reason::Pieces);
        let text = kept.text(LOSSES);
        assert!(text.starts_with("1 12 7 auto 250 "), "{text}");
        assert!(text.ends_with(" 875 90"), "{text}");
        assert_eq!(kept.parse(&text), Some(LOSSES));

        let other_method = Wish {
            method: Some(Method::Move),
            ..wish
        };
        let other_threshold = Wish {
            threshold_permille: 100,
            ..wish
        };
        for (ranges, wish) in [
            (&ranges[..1], wish),
            (&[0..8, 16..21], wish),
            (&[0..8, 15..20], wish),
            (&ranges, other_method),
            (&ranges, other_threshold),
        ] {
            let other = Key::of_ranges(&look(12, 7), ranges, wish, 16, Reason::Pieces);
            assert_eq!(other.parse(&text), None, "{ranges:?} {wish:?}");
        }
        let of_larger = Key::of_ranges(&look(12, 7), &ranges, wish, 32, Reason::Pieces);
        assert_eq!(of_larger.parse(&text), None);
        let of_whole = Key::of_ranges(&look(12, 7), &[], wish, u64::MAX, Reason::Pieces);
        assert_eq!(of_whole.head, "1 12 7 auto 250 ffffffff ");
        let for_dies = Key::of_ranges(&look(12, 7), &ranges, wish, 16, Reason::Dies);
        assert_ne!(for_dies.name, kept.name);

        let longest = Wish {
            method: Some(Method::Rewrite),
            threshold_permille: 1000,
            ..wish
        };
        let longest = Key::of_ranges(
            &look(u64::MAX, u32::MAX),
            &ranges,
            longest,
            16,
            Reason::Dies,
        );
        assert!(longest.text(LOSSES).len() < MOST_BYTES);
    }
}
