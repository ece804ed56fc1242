// SPDX-License-Identifier: GPL-2.0-only
//! What is timed: parts of files of one size, as an application would read them at once, each in one
//! piece on the device or in several. A file's size says nothing: of one that is in pieces of 100 MiB
//! each part is as good as one in one piece.

use std::cmp::Reverse;

use crate::probe::random::Random;
use crate::runs::{end_of, Run};
use crate::units::PAGE_BYTES;

/// Sizes that are tried, the largest of which there are enough is taken.
pub const SIZES: [u64; 4] = [1 << 20, 512 << 10, 256 << 10, 128 << 10];

/// Windows of one kind that are timed, and how few are too few to say anything.
pub const MOST: usize = 32;
pub const LEAST: usize = 8;

/// Windows of a kind that are remembered, of a file and of all.
const MOST_OF_FILE: usize = 8;
const MOST_KEPT: usize = 1024;

/// A part of a file that is read at once.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Window {
    /// Which file, by the caller's count.
    pub file: usize,
    pub first_page: u64,
    /// Its pieces on the device, in the order of the file, in pages.
    pub pieces: Vec<u32>,
}

impl Window {
    /// Its reads as one, in bytes of the file.
    #[must_use]
    pub fn whole(&self) -> Vec<Part> {
        let pages = self.pieces.iter().map(|pages| u64::from(*pages)).sum();
        vec![part(self.first_page, pages)]
    }

    /// Its reads when it is cut like that. Neighbours are not sent one after the other, in either
    /// order: the kernel would make one request of two that are neighbours on the device as well. Of
    /// three pieces two have to be.
    #[must_use]
    pub fn cut(&self, pieces: &[u32]) -> Vec<Part> {
        let mut at = self.first_page;
        let mut parts = Vec::new();

        for pages in pieces {
            parts.push(part(at, u64::from(*pages)));
            at += u64::from(*pages);
        }
        let (even, odd): (Vec<_>, Vec<_>) = parts
            .into_iter()
            .enumerate()
            .partition(|(index, _)| index % 2 == 0);
        odd.into_iter().chain(even).map(|(_, part)| part).collect()
    }
}

/// A read, in bytes of a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Part {
    pub at: u64,
    pub bytes: u64,
}

fn part(first_page: u64, pages: u64) -> Part {
    Part {
        at: first_page * PAGE_BYTES,
        bytes: pages * PAGE_BYTES,
    }
}

/// The windows of a file that have all of their pages; they begin at multiples of their size.
pub fn windows(file: usize, runs: &[Run], size_pages: u64) -> Vec<Window> {
    let mut found: Vec<Window> = Vec::new();
    let mut open: Option<(Window, u64)> = None;

    for run in runs {
        let (mut page, mut left) = (run.file_page.0, u64::from(run.pages));
        while left > 0 {
            let begin = page - page % size_pages;
            let pages = left.min(begin + size_pages - page);
            let (mut window, have) = match open.take() {
                Some((window, have)) if window.first_page + have == page => (window, have),
                _ if page == begin => {
                    let pieces = Vec::new();
                    let first_page = begin;
                    (
                        Window {
                            file,
                            first_page,
                            pieces,
                        },
                        0,
                    )
                }
                // Its beginning is a hole.
                _ => {
                    page += pages;
                    left -= pages;
                    continue;
                }
            };
            window.pieces.push(u32::try_from(pages).unwrap_or(u32::MAX));
            if have + pages == size_pages {
                found.push(window);
            } else {
                open = Some((window, have + pages));
            }
            page += pages;
            left -= pages;
        }
    }
    found
}

/// Windows in one piece of a file that begin anywhere: where a window begins in a unit of a die, and on
/// which channel, decides how long it takes, and of those that begin at multiples of their size each
/// might begin alike. Each of them reads a bit of its neighbours, too.
pub fn windows_anywhere(file: usize, runs: &[Run], size_pages: u64) -> Vec<Window> {
    let nr_pages: u64 = runs.iter().map(|run| u64::from(run.pages)).sum();
    let nr = (nr_pages / size_pages.max(1)).min(MOST as u64);
    let step = size_pages - size_pages.checked_div(nr).unwrap_or(0);
    // One alone would be in the place of the last one.
    let step = if nr > 1 { step } else { size_pages }.max(1);
    let begins_in = |run: &Run| {
        let end = end_of(run);
        (run.file_page.0.div_ceil(step)..)
            .map(move |index| index * step)
            .take_while(move |begin| begin + size_pages <= end)
    };
    let window = |first_page| Window {
        file,
        first_page,
        pieces: vec![u32::try_from(size_pages).unwrap_or(u32::MAX)],
    };

    runs.iter()
        .flat_map(begins_in)
        .take(nr as usize)
        .map(window)
        .collect()
}

/// What has been found of one size.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    pub size_bytes: u64,
    /// Of all windows that were seen, and of those in pieces.
    pub bytes: u64,
    pub bytes_in_pieces: u64,
    pieces: Vec<Window>,
    whole: Vec<Window>,
    random: Random,
}

/// Those with the most pieces first.
fn by_pieces(windows: &mut [Window]) {
    windows.sort_by_key(|window| Reverse(window.pieces.len()));
}

impl Pool {
    #[must_use]
    pub fn new(size_bytes: u64) -> Self {
        Self {
            size_bytes,
            ..Self::default()
        }
    }

    /// Any of a list, so many at most.
    fn any(&mut self, mut list: Vec<Window>, most: usize) -> Vec<Window> {
        let mut chosen = Vec::new();

        while chosen.len() < most && !list.is_empty() {
            let at = self.random.below(list.len() as u64) as usize;
            chosen.push(list.swap_remove(at));
        }
        chosen
    }

    /// Look at a file.
    pub fn add(&mut self, file: usize, runs: &[Run]) {
        let all = windows(file, runs, self.size_bytes / PAGE_BYTES);
        self.bytes += all.len() as u64 * self.size_bytes;
        let (mut pieces, whole): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|window| window.pieces.len() > 1);
        self.bytes_in_pieces += pieces.len() as u64 * self.size_bytes;
        by_pieces(&mut pieces);
        pieces.truncate(MOST_OF_FILE);
        self.pieces.extend(pieces);
        if self.pieces.len() > MOST_KEPT {
            by_pieces(&mut self.pieces);
            self.pieces.truncate(MOST_KEPT / 2);
        }
        let whole = self.any(whole, MOST_OF_FILE);
        self.whole.extend(whole);
        if self.whole.len() > MOST_KEPT {
            let list = std::mem::take(&mut self.whole);
            self.whole = self.any(list, MOST_KEPT / 2);
        }
    }

    /// Are there enough of both kinds?
    #[must_use]
    pub fn is_enough(&self, has_own: bool) -> bool {
        self.pieces.len() >= LEAST && (has_own || self.whole.len() >= LEAST)
    }

    /// What is timed: those with the most pieces, and any in one piece.
    #[must_use]
    pub fn choose(mut self) -> Chosen {
        by_pieces(&mut self.pieces);
        self.pieces.truncate(MOST);
        let list = std::mem::take(&mut self.whole);
        Chosen {
            whole: self.any(list, MOST),
            size_bytes: self.size_bytes,
            bytes: self.bytes,
            bytes_in_pieces: self.bytes_in_pieces,
            pieces: self.pieces,
        }
    }
}

/// Windows that are timed.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    pub size_bytes: u64,
    pub bytes: u64,
    pub bytes_in_pieces: u64,
    pub pieces: Vec<Window>,
    pub whole: Vec<Window>,
}

/// The pool of the largest size of which there is enough; where nothing is in pieces, of which most is
/// in one.
#[must_use]
pub fn best(pools: Vec<Pool>, has_own: bool) -> Option<Chosen> {
    let at = pools
        .iter()
        .position(|pool| pool.is_enough(has_own))
        .or_else(|| pools.iter().position(|pool| pool.whole.len() >= LEAST))
        .unwrap_or(0);
    pools.into_iter().nth(at).map(Pool::choose)
}

#[cfg(test)]
mod tests {
    use super::{best, windows, windows_anywhere, Part, Pool, Window, LEAST, MOST, SIZES};
    use crate::runs::listed as runs;

    fn shapes(list: &[(u64, u64, u32)]) -> Vec<(u64, Vec<u32>)> {
        windows(0, &runs(list), 8)
            .into_iter()
            .map(|window| (window.first_page, window.pieces))
            .collect()
    }

    #[test]
    fn windows_have_all_of_their_pages() {
        assert_eq!(shapes(&[]), []);
        assert_eq!(shapes(&[(0, 50, 7)]), []);
        assert_eq!(shapes(&[(0, 50, 17)]), [(0, vec![8]), (8, vec![8])]);
        // In pieces, across a window's end
        assert_eq!(
            shapes(&[(0, 50, 3), (3, 90, 6), (9, 10, 7)]),
            [(0, vec![3, 5]), (8, vec![1, 7])]
        );
        // Holes at the beginning, inside, and at the end
        assert_eq!(shapes(&[(1, 50, 7), (8, 90, 8)]), [(8, vec![8])]);
        assert_eq!(shapes(&[(0, 50, 3), (4, 90, 4), (8, 9, 8)]), [(8, vec![8])]);
        assert_eq!(
            shapes(&[(0, 50, 3), (11, 90, 4), (16, 9, 8)]),
            [(16, vec![8])]
        );
    }

    #[test]
    fn windows_of_one_piece_begin_anywhere() {
        let begins = |list: &[(u64, u64, u32)]| -> Vec<u64> {
            let all = windows_anywhere(7, &runs(list), 8);
            assert!(all.iter().all(|window| window.file == 7));
            assert!(all.iter().all(|window| window.pieces == [8]));
            all.iter().map(|window| window.first_page).collect()
        };
        assert_eq!(begins(&[(0, 50, 64)]), [0, 7, 14, 21, 28, 35, 42, 49]);
        // Not across an end, and not where none fits
        assert_eq!(
            begins(&[(0, 50, 30), (30, 900, 34)]),
            [0, 7, 14, 21, 35, 42, 49, 56]
        );
        // Its beginning is in pieces, and what is whole lies far behind.
        let far = 1 << 20;
        let pieces: Vec<_> = (0..64).map(|at| (4 * at, 900 * at, 4)).collect();
        assert_eq!(
            begins(&[&pieces[..], &[(far, 50, 64)]].concat()),
            (0..8).map(|at| far + 8 * at).collect::<Vec<_>>()
        );
        assert_eq!(begins(&[(8, 50, 8)]), [8]);
        assert!(begins(&[(0, 50, 7)]).is_empty());
        assert!(begins(&[]).is_empty());
        let large = runs(&[(0, 50, 1 << 20)]);
        let all = windows_anywhere(0, &large, 64);
        let mut places: Vec<_> = all.iter().map(|window| window.first_page % 64).collect();
        places.sort_unstable();
        assert_eq!(
            places,
            (0..MOST as u64).map(|at| 2 * at).collect::<Vec<_>>()
        );
    }

    #[test]
    fn neighbours_are_not_sent_one_after_the_other() {
        let window = Window {
            file: 0,
            first_page: 16,
            pieces: vec![8],
        };
        let at = |pages: &[u64]| pages.iter().map(|page| page * 4096).collect::<Vec<_>>();
        let parts = window.cut(&[2, 1, 1, 3, 1]);
        let begins: Vec<_> = parts.iter().map(|part| part.at).collect();
        assert_eq!(begins, at(&[18, 20, 16, 19, 23]));
        for nr in 4..20 {
            let parts = window.cut(&vec![1; nr]);
            let are_apart = |pair: &[Part]| pair[0].at.abs_diff(pair[1].at) > 4096;
            assert!(parts.windows(2).all(are_apart), "{nr} pieces");
        }
        assert_eq!(parts.iter().map(|part| part.bytes).sum::<u64>(), 8 * 4096);
        let all = Part {
            at: 16 * 4096,
            bytes: 8 * 4096,
        };
        assert_eq!(window.whole(), [all]);
    }

    #[test]
    fn those_with_most_pieces_are_chosen_and_counted_as_they_are() {
        let mut pool = Pool::new(32 << 10);
        for file in 0..3000 {
            let nr = 2 + file % 7;
            // One window of so many pieces, and two in one
            let mut list: Vec<_> = (0..nr - 1).map(|at| (at, 1000 * at, 1)).collect();
            list.push((nr - 1, 500_000, (8 - (nr - 1)) as u32));
            list.push((8, 900_000, 16));
            pool.add(file as usize, &runs(&list));
        }
        assert_eq!(pool.bytes, 3 * 3000 * (32 << 10));
        assert_eq!(pool.bytes_in_pieces, 3000 * (32 << 10));
        assert!(pool.is_enough(false));
        let chosen = pool.choose();
        assert_eq!((chosen.pieces.len(), chosen.whole.len()), (MOST, MOST));
        assert!(chosen.pieces.iter().all(|window| window.pieces.len() == 8));
        assert!(chosen.whole.iter().all(|window| window.pieces.len() == 1));
    }

    #[test]
    fn the_largest_size_of_which_there_is_enough_is_taken() {
        let pools = || SIZES.map(Pool::new).to_vec();
        // One file of 2 MiB in pieces of 64 KiB, one of 1 MiB in one
        let fill = |pools: &mut Vec<Pool>, whole: u32| {
            let list: Vec<_> = (0..32).map(|at| (16 * at, 5000 * at, 16)).collect();
            for pool in pools {
                pool.add(0, &runs(&list));
                pool.add(1, &runs(&[(0, 900_000, whole)]));
            }
        };
        let mut small = pools();
        fill(&mut small, 256);
        let chosen = best(small, false).unwrap();
        assert_eq!((chosen.size_bytes, chosen.whole.len()), (128 << 10, LEAST));
        let mut large = pools();
        fill(&mut large, 64 * 256);
        assert_eq!(best(large.clone(), false).unwrap().size_bytes, 256 << 10);
        assert_eq!(best(pools(), false).unwrap().pieces.len(), 0);
        // Nothing in pieces
        let mut whole = pools();
        for pool in &mut whole {
            pool.add(0, &runs(&[(0, 0, 8 * 128)]));
        }
        assert_eq!(best(whole, false).unwrap().size_bytes, 512 << 10);
    }
}
