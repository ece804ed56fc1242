// SPDX-License-Identifier: GPL-2.0-only
//! From the extents that a filesystem reports to the messages that teach a target
//! where a file lies.

use std::ops::Range;

use serde::Serialize;

use crate::dm::Target;
use crate::fs::fiemap::Extent;
use crate::fs::file::FileFacts;
use crate::units::{DeviceNumber, Dpn, FilePage, PAGE_BYTES, PAGE_SECTORS};

/// Runs named in one message: below 8 KiB of text, whatever the numbers.
const RUNS_PER_MESSAGE: usize = 128;

/// Consecutive pages of a file on consecutive pages of a device.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct Run {
    pub file_page: FilePage,
    pub device_page: Dpn,
    pub pages: u32,
}

/// The pages that extents hold: whole ones only, in as few runs as possible.
#[must_use]
pub fn runs_of(extents: &[Extent]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();

    for extent in extents.iter().filter(|extent| extent.holds_pages()) {
        for run in whole_pages(extent) {
            match runs.last_mut() {
                Some(last) if continues(last, &run) => last.pages += run.pages,
                _ => runs.push(run),
            }
        }
    }
    runs
}

/// The page of its file behind a run.
#[must_use]
pub fn end_of(run: &Run) -> u64 {
    run.file_page.0.saturating_add(u64::from(run.pages))
}

/// The parts of runs, which are in the order of the file, that lie in ranges of file pages, which are in
/// order and apart.
#[must_use]
pub fn within(runs: &[Run], ranges: &[Range<u64>]) -> Vec<Run> {
    let mut found = Vec::new();

    for range in ranges {
        let first = runs.partition_point(|run| end_of(run) <= range.start);
        let rest = runs.get(first..).unwrap_or_default();
        for run in rest.iter().take_while(|run| run.file_page.0 < range.end) {
            let begin = run.file_page.0.max(range.start);
            let Ok(pages) = u32::try_from(end_of(run).min(range.end).saturating_sub(begin)) else {
                continue;
            };
            if pages > 0 {
                found.push(Run {
                    file_page: FilePage(begin),
                    device_page: Dpn(run.device_page.0 + (begin - run.file_page.0)),
                    pages,
                });
            }
        }
    }
    found
}

fn continues(a: &Run, b: &Run) -> bool {
    end_of(a) == b.file_page.0
        && a.device_page.0 + u64::from(a.pages) == b.device_page.0
        && a.pages.checked_add(b.pages).is_some()
}

/// The whole pages of an extent; more than one run only if it is longer than 16 TiB.
fn whole_pages(extent: &Extent) -> Vec<Run> {
    let first = extent.logical.div_ceil(PAGE_BYTES);
    let end = extent.logical.saturating_add(extent.length) / PAGE_BYTES;
    let shift = first.saturating_mul(PAGE_BYTES) - extent.logical;
    let physical = extent.physical.saturating_add(shift);

    if physical % PAGE_BYTES != 0 {
        return Vec::new();
    }
    let mut left = end.saturating_sub(first);
    let mut run = Run {
        file_page: FilePage(first),
        device_page: Dpn(physical / PAGE_BYTES),
        pages: 0,
    };
    let mut runs = Vec::new();
    while left > 0 {
        run.pages = u32::try_from(left).unwrap_or(u32::MAX);
        runs.push(run);
        run.file_page.0 += u64::from(run.pages);
        run.device_page.0 += u64::from(run.pages);
        left -= u64::from(run.pages);
    }
    runs
}

/// The part of a run of the whole device that lies on one target, in the target's own
/// page numbers. A page that lies across the target's ends belongs to nobody.
#[must_use]
pub fn on_target(run: &Run, target: &Target) -> Option<Run> {
    // The target counts its pages from its first sector: elsewhere they would be cut.
    if target.start_sectors % PAGE_SECTORS != 0 {
        return None;
    }
    let first = target.start_sectors / PAGE_SECTORS;
    let end = target.start_sectors.saturating_add(target.len_sectors) / PAGE_SECTORS;
    let run_end = run.device_page.0.saturating_add(u64::from(run.pages));
    let from = run.device_page.0.max(first);
    let to = run_end.min(end);

    (from < to).then(|| Run {
        file_page: FilePage(run.file_page.0 + (from - run.device_page.0)),
        device_page: Dpn(from - first),
        pages: u32::try_from(to - from).unwrap_or(u32::MAX),
    })
}

/// What the kernel knows a file by.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FileId {
    /// Device number of its filesystem
    pub device: DeviceNumber,
    pub inode: u64,
    pub generation: u32,
}

impl From<&FileFacts> for FileId {
    fn from(facts: &FileFacts) -> Self {
        Self {
            device: facts.device,
            inode: facts.inode,
            generation: facts.generation,
        }
    }
}

/// A message about a file as a whole, as words.
#[must_use]
pub fn words(verb: [&str; 2], file: &FileId) -> Vec<String> {
    let mut words = verb.map(str::to_owned).to_vec();

    words.extend([
        file.device.to_string(),
        file.inode.to_string(),
        file.generation.to_string(),
    ]);
    words
}

/// The messages, as words, that tell a target these runs of a file.
#[must_use]
pub fn messages(verb: [&str; 2], file: &FileId, runs: &[Run]) -> Vec<Vec<String>> {
    runs.chunks(RUNS_PER_MESSAGE)
        .map(|chunk| {
            let mut words = words(verb, file);
            for run in chunk {
                words.push(run.file_page.to_string());
                words.push(run.device_page.to_string());
                words.push(run.pages.to_string());
            }
            words
        })
        .collect()
}

/// Runs for tests: page of the file, page of the device, and how many.
#[cfg(test)]
pub fn listed(list: &[(u64, u64, u32)]) -> Vec<Run> {
    list.iter()
        .map(|(file_page, device_page, pages)| Run {
            file_page: FilePage(*file_page),
            device_page: Dpn(*device_page),
            pages: *pages,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{messages, on_target, runs_of, within, Run};
    use crate::dm::Target;
    use crate::fs::fiemap::Extent;
    use crate::fs::file::FileFacts;
    use crate::units::{DeviceNumber, Dpn, FilePage};

    const UNWRITTEN: u32 = 0x800;

    fn run(file_page: u64, device_page: u64, pages: u32) -> Run {
        Run {
            file_page: FilePage(file_page),
            device_page: Dpn(device_page),
            pages,
        }
    }

    fn target(start_sectors: u64, len_sectors: u64) -> Target {
        Target {
            start_sectors,
            len_sectors,
            params: String::new(),
        }
    }

    #[test]
    fn extents_that_continue_each_other_are_one_run() {
        let extents = [
            Extent::new(0, 40960, 8192, 0),
            Extent::new(8192, 49152, 4096, 0),
            Extent::new(12288, 409_600, 4096, 1),
        ];
        assert_eq!(runs_of(&extents), [run(0, 10, 3), run(3, 100, 1)]);
    }

    #[test]
    fn holes_and_unwritten_extents_are_left_out() {
        let extents = [
            Extent::new(0, 40960, 4096, 0),
            Extent::new(4096, 45056, 4096, UNWRITTEN),
            Extent::new(16384, 57344, 4096, 1),
        ];
        assert_eq!(runs_of(&extents), [run(0, 10, 1), run(4, 14, 1)]);
    }

    #[test]
    fn only_whole_pages_count() {
        assert_eq!(runs_of(&[Extent::new(0, 40960, 6144, 0)]), [run(0, 10, 1)]);
        assert_eq!(
            runs_of(&[Extent::new(1024, 41984, 8192, 0)]),
            [run(1, 11, 1)]
        );
        assert_eq!(runs_of(&[Extent::new(0, 41984, 8192, 0)]), []);
        assert_eq!(runs_of(&[Extent::new(1024, 41984, 2048, 0)]), []);
        assert_eq!(runs_of(&[Extent::new(0, 40960, 0, 0)]), []);
    }

    #[test]
    fn wild_numbers_do_not_overflow() {
        let far = u64::MAX - 4095;
        let runs = runs_of(&[Extent::new(far, far, u64::MAX, 0)]);
        assert!(runs.is_empty() || runs[0].pages > 0);
        let _ = runs_of(&[Extent::new(u64::MAX, u64::MAX, u64::MAX, 0)]);
        let runs = runs_of(&[Extent::new(0, 0, u64::MAX, 0)]);
        let pages: u64 = runs.iter().map(|run| u64::from(run.pages)).sum();
        assert_eq!(pages, u64::MAX / 4096);
    }

    #[test]
    fn a_run_is_cut_at_the_ends_of_the_target() {
        let all = run(100, 10, 20);
        assert_eq!(on_target(&all, &target(0, 800)), Some(all));
        assert_eq!(on_target(&all, &target(120, 800)), Some(run(105, 0, 15)));
        assert_eq!(on_target(&all, &target(0, 100)), Some(run(100, 10, 2)));
        assert_eq!(on_target(&all, &target(0, 80)), None);
        assert_eq!(on_target(&all, &target(240, 800)), None);
        assert_eq!(on_target(&all, &target(4, 800)), None);
    }

    #[test]
    fn ranges_cut_runs_in_file_and_on_the_device() {
        let runs = [run(0, 100, 8), run(8, 50, 8), run(20, 300, 4)];
        assert_eq!(within(&runs, &crate::frag::look::WHOLE), runs);
        assert_eq!(
            within(&runs, &[2..4, 6..9, 16..22]),
            [
                run(2, 102, 2),
                run(6, 106, 2),
                run(8, 50, 1),
                run(20, 300, 2)
            ]
        );
        assert!(within(&runs, &[16..20, 24..90]).is_empty());
        assert!(within(&runs, &[]).is_empty());
    }

    #[test]
    fn messages_name_the_file_and_a_bounded_number_of_runs() {
        let device = DeviceNumber {
            major: 254,
            minor: 3,
        };
        let facts = FileFacts {
            device,
            below: device,
            fs_type: "ext4".to_owned(),
            inode: 12,
            generation: 77,
            extents: Vec::new(),
        };
        let runs: Vec<Run> = (0..300).map(|i| run(2 * i, 5 * i, 1)).collect();
        let messages = messages(["runs", "add"], &(&facts).into(), &runs);
        assert_eq!(messages.len(), 3);
        assert_eq!(
            messages[0][..8].join(" "),
            "runs add 254:3 12 77 0 0 1".to_owned()
        );
        assert_eq!(messages[2].len(), 5 + 3 * 44);
        assert_eq!(messages[2][132 + 2..].join(" "), "598 1495 1");
    }
}
