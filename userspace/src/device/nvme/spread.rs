// SPDX-License-Identifier: GPL-2.0-only
//! The command Redistribute of `include/dieaware/vendor.h`: the SSD writes pages again that lie
//! on few of its dies, in the order in which they are named.

use std::fs;
use std::io;
use std::path::Path;

use super::{Command, Namespace};
use crate::frag::look::Pages;
use crate::units::PAGE_BYTES;

const OPCODE_REDISTRIBUTE: u8 = 0x85;

/// In `features` of the vendor area of Identify Controller.
const FEATURE_REDISTRIBUTE: u16 = 8;

/// What a command may name at most: 64 MiB.
pub const MOST_PAGES: u64 = (64 << 20) / PAGE_BYTES;
const MOST_RANGES: usize = 256;

/// Spread whatever is not perfect.
const THRESHOLD_PERMILLE: u32 = 1;

/// Set in a completion if the pages were written.
const RESULT_WRITTEN: u32 = 1 << 31;

/// An SSD that spreads pages.
#[derive(Debug)]
pub struct Spreader {
    namespace: Namespace,
    lba_bytes: u64,
}

fn range(first_lba: u64, nr_lbas: u32) -> Vec<u8> {
    let mut bytes = first_lba.to_le_bytes().to_vec();
    bytes.extend(nr_lbas.to_le_bytes());
    bytes.extend([0; 4]);
    bytes
}

/// Pages as many as commands need, none of which names too much.
#[must_use]
pub fn commands(pages: &[Pages]) -> Vec<Vec<Pages>> {
    let mut list: Vec<Vec<Pages>> = Vec::new();
    let mut room = 0;

    for piece in pages {
        let (mut first, mut left) = (piece.first, piece.nr);
        while left > 0 {
            match list.last_mut() {
                Some(last) if room > 0 && last.len() < MOST_RANGES => {
                    let nr = left.min(room);
                    last.push(Pages { first, nr });
                    first += nr;
                    left -= nr;
                    room -= nr;
                }
                _ => {
                    list.push(Vec::new());
                    room = MOST_PAGES;
                }
            }
        }
    }
    list
}

impl Spreader {
    /// Open a whole namespace; `None`: it does not know the command.
    ///
    /// # Errors
    ///
    /// When the device cannot be asked.
    pub fn open(disk: &Path) -> io::Result<Option<Self>> {
        let namespace = Namespace::open(disk)?;
        let knows = namespace
            .id()?
            .is_some_and(|id| id.features.get() & FEATURE_REDISTRIBUTE != 0);
        let name = disk.file_name().unwrap_or_default();
        let file = Path::new("/sys/class/block")
            .join(name)
            .join("queue/logical_block_size");
        let lba_bytes = fs::read_to_string(file)?
            .trim()
            .parse()
            .map_err(io::Error::other)?;

        Ok(
            (knows && lba_bytes != 0 && PAGE_BYTES % lba_bytes == 0).then_some(Self {
                namespace,
                lba_bytes,
            }),
        )
    }

    /// Have pages spread that one command may name; says whether they were written again.
    ///
    /// # Errors
    ///
    /// When the device refuses.
    pub fn spread(&self, pages: &[Pages]) -> io::Result<bool> {
        let per_page = PAGE_BYTES / self.lba_bytes;
        let mut data = Vec::new();

        for Pages { first, nr } in pages {
            let nr_lbas = u32::try_from(nr * per_page).map_err(io::Error::other)?;
            data.extend(range(first.saturating_mul(per_page), nr_lbas));
        }
        let command = Command {
            opcode: OPCODE_REDISTRIBUTE,
            cdw10: pages.len().saturating_sub(1) as u32,
            cdw11: THRESHOLD_PERMILLE,
            ..Command::default()
        };
        let result = self.namespace.io(command, &mut data)?;
        Ok(result & RESULT_WRITTEN != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::{commands, range, Pages, MOST_PAGES, MOST_RANGES};

    fn pages(list: &[(u64, u64)]) -> Vec<Pages> {
        let pages = |(first, nr): &(u64, u64)| Pages {
            first: *first,
            nr: *nr,
        };
        list.iter().map(pages).collect()
    }

    #[test]
    fn a_range_is_what_the_header_says() {
        assert_eq!(
            range(0x4000, 8),
            [0, 0x40, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0]
        );
    }

    #[test]
    fn no_command_names_too_much() {
        assert!(commands(&[]).is_empty());
        assert_eq!(
            commands(&pages(&[(5, 3), (90, 1)])),
            [pages(&[(5, 3), (90, 1)])]
        );
        assert_eq!(
            commands(&pages(&[(0, 10), (100, MOST_PAGES)])),
            [
                pages(&[(0, 10), (100, MOST_PAGES - 10)]),
                pages(&[(90 + MOST_PAGES, 10)])
            ]
        );
        let many: Vec<_> = (0..MOST_RANGES as u64 + 1).map(|at| (2 * at, 1)).collect();
        let list = commands(&pages(&many));
        assert_eq!((list.len(), list[1].len()), (2, 1));
        assert_eq!(list.concat(), pages(&many));
    }
}
