// SPDX-License-Identifier: GPL-2.0-only
//! FragPicker's migration: of the ranges that applications want, those that are in pieces come
//! together, and those that lie on few dies are spread. The rest of the file stays where it is.

use std::fs;
use std::io;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::Serialize;

use super::analysis::HotFile;
use crate::defrag::memory::{self, Key};
pub use crate::defrag::Reason;
use crate::defrag::{
    choose_joining, defrag, DefragError, Done, Method, Unsynced, Watch, Wish, AS_BEFORE,
};
use crate::device::nvme::placement::{Geometry, Place};
use crate::frag::look::{look_at, Drives, Look};
use crate::frag::{Logical, Physical};
use crate::progress::Interrupted;
use crate::runs::{self, Run};
use crate::units::PAGE_BYTES;

/// Ranges that were moved together.
#[derive(Clone, Debug, Serialize)]
pub struct Part {
    pub reason: Reason,
    pub ranges: u64,
    pub moved_bytes: u64,
    #[serde(flatten)]
    pub done: Done,
}

/// How much may be moved.
pub trait Budget {
    /// Why so many bytes may not any more.
    fn refusal(&self, bytes: u64) -> Option<String>;

    /// So many were.
    fn take(&mut self, bytes: u64);
}

/// What was done with a file.
#[derive(Debug, Serialize)]
pub struct Picked {
    pub hot_ranges: u64,
    pub hot_bytes: u64,
    pub file_bytes: u64,
    pub parts: Vec<Part>,
    /// Why no more was done.
    #[serde(skip)]
    pub failed: Option<DefragError>,
}

/// Ranges that are worth the work.
#[derive(Debug, Default, Eq, PartialEq)]
struct Bad {
    in_pieces: Vec<Range<u64>>,
    on_few_dies: Vec<Range<u64>>,
}

impl Bad {
    fn of(self, reason: Reason) -> Vec<Range<u64>> {
        match reason {
            Reason::Pieces => self.in_pieces,
            Reason::Dies => self.on_few_dies,
        }
    }
}

/// What is between pieces of so many pages and more, and in several smaller ones.
fn in_small_pieces(runs: &[Run], large_pages: u64) -> impl Iterator<Item = Range<u64>> + '_ {
    let groups = runs.split(move |run| u64::from(run.pages) >= large_pages);

    groups.filter_map(|group| {
        let logical = Logical::of(group);
        let (first, last) = (group.first()?, group.last()?);
        (logical.pieces > logical.ideal_pieces).then(|| first.file_page.0..runs::end_of(last))
    })
}

/// So many of them, and the rest.
fn split_at<T>(all: &[T], at: u64) -> (&[T], &[T]) {
    all.split_at(usize::try_from(at).map_or(all.len(), |at| at.min(all.len())))
}

/// What is on few dies, where that is known.
struct OnFewDies {
    geometry: Option<Geometry>,
    threshold_permille: u64,
}

impl OnFewDies {
    fn is_so(&self, places: &[Option<Place>]) -> bool {
        self.geometry.as_ref().is_some_and(|geometry| {
            Physical::of(geometry, places).dof_permille >= self.threshold_permille
        })
    }

    /// A range in one piece, or pieces of one in several: that two of these lie on the same dies is
    /// chance, as it is of two ranges.
    fn within(
        &self,
        range: &Range<u64>,
        runs: &[Run],
        mut places: &[Option<Place>],
    ) -> Vec<Range<u64>> {
        let logical = Logical::of(runs);

        if logical.pieces <= logical.ideal_pieces {
            let is_bad = !runs.is_empty() && self.is_so(places);
            return is_bad.then(|| range.clone()).into_iter().collect();
        }
        let bad = runs.iter().filter(|run| {
            let (of_run, rest) = split_at(places, u64::from(run.pages));
            places = rest;
            self.is_so(of_run)
        });
        bad.map(|run| run.file_page.0..runs::end_of(run)).collect()
    }
}

/// Judge ranges one by one.
fn judge(look: &Look, ranges: &[Range<u64>], wish: Wish, large_pages: u64) -> Bad {
    let on_ssd = look.on_ssd.as_ref().ok();
    let mut places = on_ssd.map_or(&[][..], |on_ssd| on_ssd.places.as_slice());
    let dies = OnFewDies {
        geometry: on_ssd.map(|on_ssd| on_ssd.geometry),
        threshold_permille: wish.threshold_permille,
    };
    let mut bad = Bad::default();

    for range in ranges {
        let runs = runs::within(&look.runs, std::slice::from_ref(range));
        let pages = runs.iter().map(|run| u64::from(run.pages)).sum();
        let (of_range, rest) = split_at(places, pages);
        let nr_before = bad.in_pieces.len();

        places = rest;
        bad.in_pieces.extend(in_small_pieces(&runs, large_pages));
        if bad.in_pieces.len() == nr_before {
            bad.on_few_dies.extend(dies.within(range, &runs, of_range));
        }
    }
    bad
}

/// Move what is hot and lies badly.
///
/// # Errors
///
/// When that cannot be, or `watch` says so, before anything was moved.
pub fn migrate(
    file: &HotFile,
    wish: Wish,
    large_pages: u64,
    budget: &mut dyn Budget,
    drives: &mut Drives,
    unsynced: &mut Unsynced,
    watch: &mut Watch,
) -> Result<Picked, DefragError> {
    let metadata = fs::metadata(&file.path)?;
    if metadata.ino() != file.inode {
        return Err(io::Error::other("it is another file now; analyze again").into());
    }
    let ranges: Vec<_> = file.ranges.iter().map(|range| range.pages()).collect();
    let mut picked = Picked {
        hot_ranges: ranges.len() as u64,
        hot_bytes: file.ranges.iter().map(|range| range.bytes).sum(),
        file_bytes: metadata.len(),
        parts: Vec::new(),
        failed: None,
    };
    let mut hot = Hot {
        path: &file.path,
        look: look_at(&file.path, &ranges, drives)?,
        ranges,
        wish,
        large_pages,
    };

    for reason in [Reason::Pieces, Reason::Dies] {
        // What was brought together may be on few dies now.
        let chosen = hot.judge().of(reason);
        if !chosen.is_empty() {
            picked.add(hot.mend(reason, &chosen, budget, drives, unsynced, watch))?;
        }
    }
    Ok(picked)
}

/// What is hot of a file, and what is to be done with it.
struct Hot<'a> {
    path: &'a Path,
    ranges: Vec<Range<u64>>,
    /// At all of these
    look: Look,
    wish: Wish,
    /// Pieces of so many are not moved to be with others.
    large_pages: u64,
}

impl Hot<'_> {
    /// How pieces come together
    fn joining(&self) -> Method {
        let method = self.wish.method;
        method.unwrap_or_else(|| choose_joining(&self.look))
    }

    /// Where the SSD shares, nothing is saved by what stays where it is.
    fn judge(&self) -> Bad {
        let large_pages = match self.joining() {
            Method::Share => u64::MAX,
            _ => self.large_pages,
        };
        judge(&self.look, &self.ranges, self.wish, large_pages)
    }

    /// Move ranges that were chosen for that reason, unless that was in vain before.
    fn mend(
        &mut self,
        reason: Reason,
        chosen: &[Range<u64>],
        budget: &mut dyn Budget,
        drives: &mut Drives,
        unsynced: &mut Unsynced,
        watch: &mut Watch,
    ) -> Result<Part, DefragError> {
        let wish = self.wish;
        let remembers = wish.threshold_permille != 0;
        let key = Key::of_ranges(&self.look, &self.ranges, wish, self.large_pages, reason);
        let runs = runs::within(&self.look.runs, chosen);
        let bytes = runs.iter().map(|run| u64::from(run.pages)).sum::<u64>() * PAGE_BYTES;
        let part = |done: Done| Part {
            reason,
            ranges: chosen.len() as u64,
            moved_bytes: if done.method.is_some() { bytes } else { 0 },
            done,
        };

        if remembers && memory::lies_as_then(self.path, &self.look, &key) {
            return Ok(part(self.left(chosen, AS_BEFORE.to_owned(), drives)?));
        }
        if let Some(why) = budget.refusal(bytes) {
            return Ok(part(self.left(chosen, why, drives)?));
        }
        let here = Wish {
            method: match reason {
                Reason::Pieces => Some(self.joining()),
                Reason::Dies => wish.method,
            },
            chosen: Some(reason),
            ..wish
        };
        let part = part(defrag(self.path, chosen, here, drives, unsynced, watch)?);
        if part.done.method.is_some() {
            budget.take(bytes);
        }
        if part.done.after.is_some() {
            self.look = look_at(self.path, &self.ranges, drives)?;
            let bad = self.judge().of(reason);
            if remembers && !bad.is_empty() {
                memory::keep(self.path, &self.look, &key);
            }
        }
        Ok(part)
    }

    /// Ranges that are left alone, and why.
    fn left(
        &self,
        chosen: &[Range<u64>],
        why: String,
        drives: &mut Drives,
    ) -> Result<Done, DefragError> {
        let look = look_at(self.path, chosen, drives)?;
        Ok(Done::nothing(&look, Some(why)))
    }
}

impl Picked {
    /// What was moved stays moved when the next part fails.
    pub(crate) fn add(&mut self, part: Result<Part, DefragError>) -> Result<(), DefragError> {
        match part {
            Ok(part) => self.parts.push(part),
            Err(err) if self.parts.is_empty() => return Err(err),
            Err(err) => self.failed = Some(err),
        }
        Ok(())
    }

    /// Did somebody want an end in the midst of it?
    #[must_use]
    pub fn interrupted(&self) -> Option<Interrupted> {
        match self.failed {
            Some(DefragError::Interrupted(err)) => Some(err),
            _ => None,
        }
    }

    /// Bytes that the computer wrote for it; what the SSD copies by itself, or has in both places, is
    /// not among them.
    #[must_use]
    pub fn written_bytes(&self) -> u64 {
        let written = self.parts.iter().filter(|part| {
            part.done.after.is_some() && part.done.method.is_some_and(|how| how != Method::Ssd)
        });
        let bytes = written.map(|part| part.moved_bytes.saturating_sub(part.done.shared_bytes));
        bytes.sum()
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::Bad;
    use crate::defrag::Wish;
    use crate::device::nvme::placement::{Geometry, Place};
    use crate::frag::look::{Look, OnSsd, Unseen};
    use crate::frag::{Logical, Physical};
    use crate::runs::Run;
    use crate::units::{Dpn, FilePage};

    /// Pages 0 to 31 in a row on all four dies; 32 to 47 in two pieces; 64 to 79 in a row on one die
    fn look(knows_dies: bool) -> Look {
        let run = |file_page, device_page, pages| Run {
            file_page: FilePage(file_page),
            device_page: Dpn(device_page),
            pages,
        };
        let runs = vec![
            run(0, 100, 32),
            run(32, 500, 8),
            run(40, 600, 8),
            run(64, 700, 16),
        ];
        let geometry = Geometry {
            nr_dies: 4,
            unit_pages: 4,
        };
        let places: Vec<_> = (0..48u32)
            .map(|page| (page / 4 % 4, page / 4))
            .chain((48..64).map(|page| (3, page / 4)))
            .map(|(die, unit)| {
                Some(Place {
                    die: die as u16,
                    unit,
                })
            })
            .collect();
        let on_ssd = OnSsd {
            disk: "/dev/x".into(),
            geometry,
            physical: Physical::of(&geometry, &places),
            places,
            pages: Vec::new(),
        };
        let none = Look::of_none(Unseen::Untold("/dev/x".into()));
        Look {
            bytes: 80 * 4096,
            logical: Logical::of(&runs),
            runs,
            on_ssd: if knows_dies { Ok(on_ssd) } else { none.on_ssd },
            facts: none.facts,
        }
    }

    fn one(begin: u64, end: u64) -> Vec<Range<u64>> {
        std::iter::once(begin..end).collect()
    }

    fn bad(in_pieces: Vec<Range<u64>>, on_few_dies: Vec<Range<u64>>) -> Bad {
        Bad {
            in_pieces,
            on_few_dies,
        }
    }

    fn judge(look: &Look, ranges: &[Range<u64>], threshold_permille: u64, large: u64) -> Bad {
        let wish = Wish {
            threshold_permille,
            ..Wish::USUAL
        };
        super::judge(look, ranges, wish, large)
    }

    #[test]
    fn ranges_are_judged_one_by_one() {
        let ranges = [0..32, 32..40, 40..48, 64..80];
        let whole = u64::MAX;
        assert_eq!(
            judge(&look(true), &ranges, 250, whole),
            bad(vec![], one(64, 80))
        );
        assert_eq!(
            judge(&look(true), &[0..32, 36..44, 64..80], 800, whole),
            bad(one(36, 44), vec![])
        );
        // A hole is no reason, nor is what cannot be known.
        assert_eq!(
            judge(&look(false), &[30..48, 48..70, 70..80], 250, whole),
            bad(one(30, 48), vec![])
        );
        assert_eq!(judge(&look(true), &one(50, 60), 0, whole), Bad::default());
    }

    #[test]
    fn a_large_piece_stays_and_what_is_between_large_ones_comes_together() {
        let one_range = |range: Range<u64>, large| judge(&look(false), &[range], 250, large);

        // A large piece, two smaller ones, and behind a hole another large one
        for (range, large, found) in [
            (0..80, 33, one(0, 80)),
            (0..80, 32, one(32, 80)),
            (0..80, 16, one(32, 48)),
            (0..80, 8, vec![]),
            // It is large if that is so of what is in the range.
            (20..48, 9, one(32, 48)),
            (24..48, 9, one(24, 48)),
            (24..48, 8, vec![]),
            // One small piece beside a large one would be as many after it was moved.
            (8..40, 9, vec![]),
            (8..41, 9, one(32, 41)),
        ] {
            assert_eq!(
                one_range(range.clone(), large),
                bad(found, vec![]),
                "{range:?} {large}"
            );
        }
    }

    #[test]
    fn of_what_is_left_for_its_large_pieces_each_is_judged_by_its_dies() {
        let ranges = [0..32, 32..80];
        assert_eq!(
            judge(&look(true), &ranges, 250, 8),
            bad(vec![], one(64, 80))
        );
        assert_eq!(
            judge(&look(true), &ranges, 250, 17),
            bad(one(32, 80), vec![])
        );
    }
}
