// SPDX-License-Identifier: GPL-2.0-only
//! A thread and all that it has started, and those have, also threads of the kernel that work for
//! them (`io_uring`): these belong to the process, but the kernel's own filter by process does not follow them.

use std::collections::HashSet;

/// By their ids.
#[derive(Debug)]
pub struct Descendants {
    threads: HashSet<u32>,
}

impl Descendants {
    #[must_use]
    pub fn of(thread: u32) -> Self {
        Self {
            threads: HashSet::from([thread]),
        }
    }

    /// A thread has started another one, whose id may have been somebody else's before.
    pub fn born(&mut self, parent: u32, child: u32) {
        if self.has(parent) {
            self.threads.insert(child);
        } else {
            self.threads.remove(&child);
        }
    }

    #[must_use]
    pub fn has(&self, thread: u32) -> bool {
        self.threads.contains(&thread)
    }
}

#[cfg(test)]
mod tests {
    use super::Descendants;

    #[test]
    fn children_of_children_belong_to_it_until_their_ids_are_somebody_else_s() {
        let mut ours = Descendants::of(7);
        ours.born(7, 8);
        ours.born(8, 9);
        ours.born(1, 10);
        ours.born(10, 11);
        assert_eq!(
            (6..13).filter(|id| ours.has(*id)).collect::<Vec<_>>(),
            [7, 8, 9]
        );
        ours.born(1, 9);
        ours.born(9, 12);
        assert!(ours.has(8) && !ours.has(9) && !ours.has(12));
    }
}
