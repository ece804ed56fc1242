// SPDX-License-Identifier: GPL-2.0-only
//! Telling a dieaware target what a filesystem is going to write again as it is (janusdL): the SSD
//! then gives the new places the data of the old ones. The target compares before it relies on what
//! we say, and writes where anything is wrong.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io;
use std::ops::Range;

use serde::Serialize;

use crate::device::nvme::defrag_log::{DefragLog, Fill};
use crate::device::stack::{mapper_name, Tables};
use crate::dm::{self, Target};
use crate::frag::look::Look;
use crate::runs::{self, FileId, Run};
use crate::status::Status;

use super::DefragError;

/// From this share of the SSD's defrag log on it is compacted, so that there is room for what is moved next.
/// The SSD does so by itself as well, but then in the middle of a command that has no room any more.
const COMPACT_PERMILLE: u64 = 750;

/// What is left of a log after that is in force. It is not gone over again before so much more is in it.
const GROWTH_PERMILLE: u64 = 100;

/// A log that was compacted.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct Compaction {
    pub before: Fill,
    pub after: Fill,
}

/// Is a log to be compacted, which was as full as that when it was compacted last?
fn is_due(fill_permille: u64, last_permille: Option<u64>) -> bool {
    let least = last_permille.map_or(0, |last| last.saturating_add(GROWTH_PERMILLE));

    fill_permille >= COMPACT_PERMILLE.max(least)
}

/// The SSD's log, while something is moved.
#[derive(Debug)]
struct Watched {
    log: DefragLog,
    compactions: Vec<Compaction>,
}

impl Watched {
    fn look(&mut self) -> io::Result<()> {
        let before = self.log.fill()?;
        let last = self.compactions.last();

        if is_due(before.permille(), last.map(|last| last.after.permille())) {
            self.log.compact()?;
            let after = self.log.fill()?;
            self.compactions.push(Compaction { before, after });
        }
        Ok(())
    }
}

/// A target that shares, below a filesystem.
#[derive(Debug)]
pub struct Sharer {
    name: String,
    targets: Vec<Target>,
    /// Those of all SSDs below that have one which could be watched.
    watched: RefCell<Vec<Watched>>,
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
        let name = mapper_name(device).ok_or_else(|| {
            format!("its filesystem lies on {device}, which is no dieaware device")
        })?;
        let mut targets = dm::targets(&name).map_err(|err| err.to_string())?;

        targets.retain(shares);
        if targets.is_empty() {
            return Err(format!(
                "{name} has no dieaware target in hint mode above an SSD that shares pages"
            ));
        }
        Ok(Self {
            name,
            targets,
            watched: RefCell::default(),
        })
    }

    /// Watch the logs of the SSDs below from now on; one that has none is left alone. They are those of the
    /// targets: on which SSDs and dies a file lies need not be known for that.
    ///
    /// # Errors
    ///
    /// When one cannot be asked.
    pub fn watch_log(&self, look: &Look) -> Result<(), DefragError> {
        let ranges: Vec<_> = self
            .targets
            .iter()
            .map(|target| target.start_sectors..target.start_sectors + target.len_sectors)
            .collect();
        let pieces = Tables::default()
            .resolve(look.facts.below, &ranges)
            .map_err(|err| DefragError::NotShared(err.to_string()))?;
        let disks: BTreeSet<_> = pieces.into_iter().map(|piece| piece.disk).collect();
        let mut watched = Vec::new();

        for disk in disks {
            watched.extend(DefragLog::open(&disk)?.map(|log| Watched {
                log,
                compactions: Vec::new(),
            }));
        }
        *self.watched.borrow_mut() = watched;
        Ok(())
    }

    /// Have logs compacted that are full enough.
    fn look_at_log(&self) -> io::Result<()> {
        let mut watched = self.watched.borrow_mut();

        watched.iter_mut().try_for_each(Watched::look)
    }

    /// How often that was, and what came of it.
    pub fn compactions(&self) -> Vec<Compaction> {
        let watched = self.watched.borrow();
        let all = watched.iter().flat_map(|watched| &watched.compactions);

        all.copied().collect()
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

    /// Nothing of a file is going to be written any more; somebody else may have announced others. What
    /// a target keeps of it after that holds for a minute, and does no harm.
    fn forget(&self, file: &FileId) {
        let words = runs::words(["share", "clear"], file);

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

    /// Pages of the file, in parts, are the next.
    ///
    /// # Errors
    ///
    /// When a target refuses.
    pub fn announce(&self, parts: &[Range<u64>]) -> Result<(), DefragError> {
        let runs = runs::within(self.runs, parts);

        self.sharer.look_at_log()?;
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

impl Drop for Announcer<'_> {
    fn drop(&mut self) {
        self.sharer.forget(&self.file);
    }
}

fn is_end(before: Counts, after: Counts) -> bool {
    after.refused > before.refused && after.shared_pages <= before.shared_pages
}

#[cfg(test)]
mod tests {
    use super::{counts_of, is_due, is_end, shares, Counts};
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
    fn a_log_is_compacted_when_it_is_full_and_not_all_the_time() {
        assert!(!is_due(749, None));
        assert!(is_due(750, None));
        assert!(!is_due(750, Some(700)));
        assert!(is_due(800, Some(700)));
        assert!(!is_due(960, Some(900)));
        assert!(is_due(750, Some(10)));
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
