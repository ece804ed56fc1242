// SPDX-License-Identifier: GPL-2.0-only
//! Telling a dieaware target what a filesystem is going to write again as it is (janusdL): the SSD
//! then gives the new places the data of the old ones. The target compares before it relies on what
//! we say, and writes where anything is wrong.

use std::fs;
use std::ops::Range;

use crate::dm::{self, Target};
use crate::frag::look::Look;
use crate::runs::{self, FileId, Run};
use crate::status::Status;

use super::DefragError;

/// A target that shares, below a filesystem.
#[derive(Debug)]
pub struct Sharer {
    name: String,
    targets: Vec<Target>,
}

/// What the targets have counted.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    pub shared_pages: u64,
    pub refused: u64,
}

fn shares(target: &Target) -> bool {
    let status = Status::parse(&target.params).ok();
    status.and_then(|status| status.word("share")).as_deref() == Some("on")
}

fn counts_of(targets: &[Target]) -> Counts {
    let mut counts = Counts::default();

    for status in targets.iter().map(|target| Status::parse(&target.params)) {
        let number = |key| {
            let word = status.as_ref().ok().and_then(|status| status.word(key));
            word.and_then(|word| word.parse::<u64>().ok()).unwrap_or(0)
        };
        counts.shared_pages += number("shared_pages");
        counts.refused += number("share_refused");
    }
    counts
}

impl Sharer {
    /// The targets directly below a file's filesystem.
    ///
    /// # Errors
    ///
    /// Why there are none that share.
    pub fn of(look: &Look) -> Result<Self, String> {
        let device = look.facts.below;
        let name = fs::read_to_string(format!("/sys/dev/block/{device}/dm/name"))
            .map(|name| name.trim().to_owned())
            .map_err(|_| format!("its filesystem lies on {device}, which is no dieaware device"))?;
        let mut targets = dm::targets(&name).map_err(|err| err.to_string())?;

        targets.retain(shares);
        if targets.is_empty() {
            return Err(format!(
                "{name} has no dieaware target in hint mode above an SSD that shares pages"
            ));
        }
        Ok(Self { name, targets })
    }

    /// Pages of a file, which lie there, are going to be written elsewhere as they are.
    ///
    /// # Errors
    ///
    /// When a target refuses.
    pub fn announce(&self, file: &FileId, runs: &[Run]) -> Result<(), DefragError> {
        for target in &self.targets {
            let here: Vec<Run> = runs
                .iter()
                .filter_map(|run| runs::on_target(run, target))
                .collect();
            for words in runs::messages(["share", "add"], file, &here) {
                dm::message(&self.name, target.start_sectors, &words)
                    .map_err(|err| DefragError::NotShared(err.to_string()))?;
            }
        }
        Ok(())
    }

    /// Nothing of it is going to be written any more. What a target keeps of it after that holds for
    /// a minute, and does no harm.
    pub fn forget(&self) {
        let words = ["share".to_owned(), "clear".to_owned()];

        for target in &self.targets {
            let _ = dm::message(&self.name, target.start_sectors, &words);
        }
    }

    /// What has been shared and refused so far, whoever announced it.
    ///
    /// # Errors
    ///
    /// When device-mapper cannot be asked.
    pub fn counts(&self) -> Result<Counts, DefragError> {
        let targets =
            dm::targets(&self.name).map_err(|err| DefragError::NotShared(err.to_string()))?;
        Ok(counts_of(&targets))
    }
}

/// What is announced of one file while it is moved.
pub struct Announcer<'a> {
    sharer: &'a Sharer,
    /// What the pages will be written as: the file itself, or its donor.
    file: FileId,
    runs: &'a [Run],
    counts: Counts,
}

impl<'a> Announcer<'a> {
    /// # Errors
    ///
    /// When device-mapper cannot be asked.
    pub fn new(sharer: &'a Sharer, file: FileId, runs: &'a [Run]) -> Result<Self, DefragError> {
        Ok(Self {
            sharer,
            file,
            runs,
            counts: sharer.counts()?,
        })
    }

    /// Pages of the file are the next.
    ///
    /// # Errors
    ///
    /// When a target refuses.
    pub fn announce(&self, pages: &Range<u64>) -> Result<(), DefragError> {
        let runs = runs::within(self.runs, std::slice::from_ref(pages));
        self.sharer.announce(&self.file, &runs)
    }

    /// They have been written: does the SSD still share? What it cannot is not worth going on with.
    ///
    /// # Errors
    ///
    /// When it has refused, and shared nothing.
    pub fn check(&mut self) -> Result<(), DefragError> {
        let before = std::mem::replace(&mut self.counts, self.sharer.counts()?);

        if is_end(before, self.counts) {
            return Err(DefragError::NotShared(
                "the SSD refuses, as the kernel log says; what was moved last was written"
                    .to_owned(),
            ));
        }
        Ok(())
    }
}

fn is_end(before: Counts, after: Counts) -> bool {
    after.refused > before.refused && after.shared_pages <= before.shared_pages
}

#[cfg(test)]
mod tests {
    use super::{counts_of, is_end, shares, Counts};
    use crate::dm::Target;

    fn target(params: &str) -> Target {
        Target {
            start_sectors: 0,
            len_sectors: 8,
            params: params.to_owned(),
        }
    }

    #[test]
    fn only_what_says_so_shares() {
        assert!(shares(&target("mode=hint hints=on share=on")));
        assert!(!shares(&target("mode=hint hints=on share=off")));
        // An older module
        assert!(!shares(&target("mode=hint hints=on")));
        assert!(!shares(&target("")));
    }

    #[test]
    fn targets_are_counted_together() {
        let targets = [
            target("shared_pages=5 share_refused=1"),
            target("shared_pages=7"),
            target("x"),
        ];
        let counts = Counts {
            shared_pages: 12,
            refused: 1,
        };
        assert_eq!(counts_of(&targets), counts);
    }

    #[test]
    fn a_page_that_is_refused_is_not_the_end() {
        let counts = |shared_pages, refused| Counts {
            shared_pages,
            refused,
        };
        assert!(!is_end(counts(5, 1), counts(9, 2)));
        assert!(!is_end(counts(5, 1), counts(5, 1)));
        assert!(is_end(counts(5, 1), counts(5, 2)));
        // Somebody has reset the counters.
        assert!(!is_end(counts(5, 1), counts(0, 0)));
    }
}
