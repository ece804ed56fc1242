// SPDX-License-Identifier: GPL-2.0-only
//! Which files are read most, over a long time (janusd's daemon). What was read long ago counts
//! less and less, so that files which were hot once make room for others.

use std::cmp::Reverse;
use std::collections::HashMap;

/// Files that are remembered.
const MOST_FILES: usize = 1 << 20;

/// Reads by inode number. What was read long ago counts less and less.
#[derive(Debug, Default)]
pub struct Hotness {
    reads: HashMap<u64, u64>,
}

impl Hotness {
    /// A file is read. Where too many are, new ones have to wait until old ones are forgotten.
    pub fn read(&mut self, inode: u64) {
        if let Some(reads) = self.reads.get_mut(&inode) {
            *reads = reads.saturating_add(1);
        } else if self.reads.len() < MOST_FILES {
            self.reads.insert(inode, 1);
        }
    }

    /// A period has ended: all counts are halved, and who has none left is forgotten.
    pub fn fade(&mut self) {
        self.reads.retain(|_, reads| {
            *reads /= 2;
            *reads > 0
        });
    }

    /// The counts of those that are read most, in the order of inode numbers.
    #[must_use]
    pub fn counts(&self, most: usize) -> Vec<(u64, u64)> {
        let mut inodes = self.hottest(self.reads.keys().copied(), most);

        inodes.sort_unstable();
        let count = |inode| Some((inode, *self.reads.get(&inode)?));
        inodes.into_iter().filter_map(count).collect()
    }

    /// Go on with counts that were kept.
    #[must_use]
    pub fn from_counts(counts: &[(u64, u64)]) -> Self {
        let kept = counts.iter().copied().filter(|(_, reads)| *reads > 0);
        Self {
            reads: kept.take(MOST_FILES).collect(),
        }
    }

    /// Is it read at all, as far as that is remembered?
    #[must_use]
    pub fn knows(&self, inode: u64) -> bool {
        self.reads.contains_key(&inode)
    }

    /// Of these files those that are read most, the most read one first.
    #[must_use]
    pub fn hottest(&self, files: impl IntoIterator<Item = u64>, most: usize) -> Vec<u64> {
        let reads = |inode| Some((Reverse(*self.reads.get(&inode)?), inode));
        let mut order: Vec<_> = files.into_iter().filter_map(reads).collect();

        order.sort_unstable();
        order.truncate(most);
        order.into_iter().map(|(_, inode)| inode).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Hotness;

    #[test]
    fn what_is_read_most_is_hot_until_it_is_forgotten() {
        let mut hotness = Hotness::default();
        for (inode, reads) in [(7, 5), (8, 1), (9, 5), (10, 20)] {
            for _ in 0..reads {
                hotness.read(inode);
            }
        }
        assert_eq!(hotness.hottest(0..20, 3), [10, 7, 9]);
        assert_eq!(hotness.hottest(0..20, 9), [10, 7, 9, 8]);
        assert_eq!(hotness.hottest([9, 8, 11], 1), [9]);
        assert!(hotness.hottest(0..20, 0).is_empty());
        assert!(hotness.knows(8) && !hotness.knows(11));
        hotness.fade();
        assert_eq!(hotness.hottest(0..20, 9), [10, 7, 9]);
        // 10 has 10 reads left.
        for _ in 0..11 {
            hotness.read(8);
        }
        assert_eq!(hotness.hottest(0..20, 1), [8]);
        for _ in 0..4 {
            hotness.fade();
        }
        assert!(hotness.hottest(0..20, 9).is_empty());
    }

    #[test]
    fn counts_are_kept() {
        let kept = [(7, 5), (8, 0), (9, 6), (10, 1)];
        let mut hotness = Hotness::from_counts(&kept);
        assert!(!hotness.knows(8));
        hotness.read(8);
        assert_eq!(hotness.counts(9), [(7, 5), (8, 1), (9, 6), (10, 1)]);
        assert_eq!(hotness.counts(2), [(7, 5), (9, 6)]);
        hotness.read(7);
        assert_eq!(hotness.counts(9).first(), Some(&(7, 6)));
    }
}
