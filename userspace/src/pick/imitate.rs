// SPDX-License-Identifier: GPL-2.0-only
//! From what applications read to what the filesystem reads for them, and how often (FragPicker's
//! analysis): sequential reads through the page cache become windows of the kernel's
//! read-ahead, page faults windows around them, everything else whole pages.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::Range;

use super::event::{Access, Advice, Way};
use crate::units::PAGE_BYTES;

/// Different ranges that are remembered, of all files: some 300 MB.
pub const MOST_RANGES: usize = 4 << 20;

/// Open files that are remembered.
const MOST_STREAMS: usize = 1 << 16;

/// Requests that may be tried again and are remembered.
const MOST_REQUESTS: usize = 1 << 16;

/// No file has more whole pages than that.
const MOST_FILE_BYTES: u64 = i64::MAX as u64 / PAGE_BYTES * PAGE_BYTES;

/// A page fault maps what the page cache has of so many pages around it.
const MAPPED_PAGES: u64 = 16;

/// After so many more misses than hits the kernel reads single pages of a mapping (`MMAP_LOTSAMISS`).
const MOST_MISSES: u32 = 100;

/// How often ranges of pages of a file were wanted, by their begin and end.
pub type Counts = BTreeMap<(u64, u64), u64>;

/// What is known of an open file.
#[derive(Clone, Copy, Debug)]
struct Stream {
    /// The byte at which a sequential reader goes on.
    next: u64,
    /// Pages that were counted last.
    counted: (u64, u64),
    /// It reads sequentially: `counted` is a window.
    is_sequential: bool,
    /// Page faults outside windows, less those within
    nr_misses: u32,
}

/// A request that may be tried again: the open file, and the bytes that are left. What waits in line for its
/// pages is tried again as if it were new.
#[derive(Clone, Copy, Debug)]
struct Request {
    file: u64,
    begin: u64,
    end: u64,
    waits: bool,
}

/// Collects accesses.
pub struct Recorder {
    read_ahead_pages: u64,
    files: HashMap<u64, Counts>,
    streams: HashMap<(u64, u64), Stream>,
    requests: HashMap<u64, Request>,
    nr_ranges: usize,
    /// Accesses that there was no memory for.
    pub nr_dropped: u64,
}

impl Recorder {
    #[must_use]
    pub fn new(read_ahead_bytes: u64) -> Self {
        Self {
            read_ahead_pages: read_ahead_bytes / PAGE_BYTES,
            files: HashMap::new(),
            streams: HashMap::new(),
            requests: HashMap::new(),
            nr_ranges: 0,
            nr_dropped: 0,
        }
    }

    /// An application reads or writes.
    pub fn add(&mut self, access: &Access) {
        if self.is_again(access) {
            return;
        }
        // What is behind the end is not read; what is written makes a new one.
        let file_bytes = if access.is_write {
            MOST_FILE_BYTES
        } else {
            access.file_bytes.min(MOST_FILE_BYTES)
        };
        let end = access.end.min(file_bytes);
        if access.begin >= end {
            return;
        }
        let pages = (access.begin / PAGE_BYTES, end.div_ceil(PAGE_BYTES));
        match access.way {
            _ if access.is_write || self.read_ahead_pages == 0 => self.count(access.inode, pages),
            Way::Direct => self.count(access.inode, pages),
            Way::Copied => self.read(access, end, pages),
            Way::Mapped(advice) => self.fault(access, advice, end, pages),
        }
    }

    /// Is it another try of a request that was counted when it was tried first?
    fn is_again(&mut self, access: &Access) -> bool {
        let Some(tried) = access.tried else {
            return false;
        };
        let before = self.requests.remove(&tried.request);
        // What it got at first is not asked for again.
        let is_again = before.is_some_and(|before| {
            (tried.may_be_again || before.waits)
                && before.file == access.file
                && before.begin <= access.begin
                && before.end == access.end
        });

        if tried.may_fail {
            if self.requests.len() >= MOST_REQUESTS {
                self.requests.clear();
            }
            let request = Request {
                file: access.file,
                begin: access.begin,
                end: access.end,
                waits: tried.may_be_again,
            };
            self.requests.insert(tried.request, request);
        }
        is_again
    }

    /// A read through the page cache, of pages that hold its bytes up to `end`
    fn read(&mut self, access: &Access, end: u64, pages: (u64, u64)) {
        let key = (access.file, access.inode);
        let before = self.streams.get(&key).copied();
        let stream = match before {
            Some(stream) if stream.next == access.begin => self.go_on(access, stream, end, pages.1),
            _ => {
                self.count(access.inode, pages);
                Stream {
                    next: end,
                    counted: pages,
                    is_sequential: false,
                    nr_misses: 0,
                }
            }
        };
        self.remember(key, stream);
    }

    /// Who has forgotten an open file takes its next read for its first one.
    fn remember(&mut self, key: (u64, u64), stream: Stream) {
        if self.streams.len() >= MOST_STREAMS {
            self.streams.clear();
        }
        self.streams.insert(key, stream);
    }

    /// A page fault: the kernel reads around it, or on where the last window ended.
    fn fault(&mut self, access: &Access, advice: Advice, end: u64, pages: (u64, u64)) {
        let key = (access.file, access.inode);
        let page = pages.0;
        let before = self.streams.get(&key).copied();
        let nr_misses = before.map_or(0, |stream| stream.nr_misses);
        let window = before.filter(|stream| stream.is_sequential);
        let window = window.map(|stream| stream.counted);

        if let Some((mut stream, window)) = before.zip(window) {
            // What lies in the window is in the page cache by now.
            if (window.0..window.1).contains(&page) {
                stream.nr_misses = nr_misses.saturating_sub(1);
                self.remember(key, stream);
                return;
            }
        }
        let goes_on = |window: &(u64, u64)| (window.1..window.1 + MAPPED_PAGES).contains(&page);
        let begin = match (window.filter(goes_on), advice) {
            (Some(window), Advice::Normal | Advice::Sequential) => Some(window.1),
            (None, Advice::Sequential) => Some(page),
            (None, Advice::Normal) if nr_misses <= MOST_MISSES => {
                Some(page.saturating_sub(self.read_ahead_pages / 2))
            }
            _ => None,
        };
        let file_pages = access.file_bytes.div_ceil(PAGE_BYTES);
        let counted = begin.map_or(pages, |begin| {
            let end = begin.saturating_add(self.read_ahead_pages).min(file_pages);
            (begin, end.max(pages.1))
        });
        self.count(access.inode, counted);
        self.remember(
            key,
            Stream {
                next: end,
                counted,
                is_sequential: begin.is_some(),
                nr_misses: nr_misses.saturating_add(1).min(10 * MOST_MISSES),
            },
        );
    }

    /// The read begins where the last one ended: it is sequential. The first two share a window.
    fn go_on(&mut self, access: &Access, stream: Stream, end: u64, end_page: u64) -> Stream {
        let read_ahead_pages = self.read_ahead_pages;
        let file_pages = access.file_bytes.div_ceil(PAGE_BYTES);
        let window = |begin: u64, least: u64| {
            let end = begin.saturating_add(read_ahead_pages).min(file_pages);
            (begin, end.max(least))
        };
        let mut counted = stream.counted;

        if !stream.is_sequential {
            let grown = window(counted.0, counted.1);
            self.take_back(access.inode, counted);
            self.count(access.inode, grown);
            counted = grown;
        }
        // What lies in the window is in the page cache by now.
        if end_page > counted.1 {
            counted = window(counted.1, end_page);
            self.count(access.inode, counted);
        }
        Stream {
            next: end,
            counted,
            is_sequential: true,
            nr_misses: stream.nr_misses,
        }
    }

    fn count(&mut self, inode: u64, pages: (u64, u64)) {
        let counts = self.files.entry(inode).or_default();
        if let Some(count) = counts.get_mut(&pages) {
            *count += 1;
        } else if self.nr_ranges < MOST_RANGES {
            counts.insert(pages, 1);
            self.nr_ranges += 1;
        } else {
            self.nr_dropped += 1;
        }
    }

    fn take_back(&mut self, inode: u64, pages: (u64, u64)) {
        let Some(counts) = self.files.get_mut(&inode) else {
            return;
        };
        match counts.get_mut(&pages) {
            Some(1) => {
                counts.remove(&pages);
                self.nr_ranges -= 1;
            }
            Some(count) => *count -= 1,
            None => {}
        }
    }

    /// What there is, by inode number.
    #[must_use]
    pub fn into_files(self) -> HashMap<u64, Counts> {
        self.files
    }
}

/// All of a file as a sequential reader would have it (FragPicker's bypass option), but holes, and no
/// more windows than `most`. `next_data` says where the next bytes of data are. The second value says
/// whether that was all of it.
///
/// # Errors
///
/// Those of `next_data`.
pub fn whole(
    file_bytes: u64,
    read_ahead_bytes: u64,
    most: usize,
    mut next_data: impl FnMut(u64) -> io::Result<Option<Range<u64>>>,
) -> io::Result<(Counts, bool)> {
    let pages = file_bytes.div_ceil(PAGE_BYTES);
    let step = (read_ahead_bytes / PAGE_BYTES).max(1);
    let mut counts = Counts::new();
    let mut page = 0;

    while let Some(data) = next_data(page * PAGE_BYTES)? {
        let begin = (data.start / PAGE_BYTES).max(page) / step * step;
        let end = data.end.div_ceil(PAGE_BYTES).min(pages);
        for begin in (begin..end).step_by(usize::try_from(step).unwrap_or(usize::MAX)) {
            if counts.len() == most {
                return Ok((counts, false));
            }
            page = begin + step;
            counts.insert((begin, page.min(pages)), 1);
        }
        if page >= pages || page * PAGE_BYTES < data.end {
            break;
        }
    }
    Ok((counts, true))
}

/// Pages of a file in a row, and how often they were wanted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Hot {
    pub pages: Range<u64>,
    pub count: u64,
}

/// Ranges that overlap become one, and their counts are added (FragPicker's algorithm 1). Those
/// that only touch stay two: no request reads across.
#[must_use]
pub fn merge(counts: &Counts) -> Vec<Hot> {
    let mut merged: Vec<Hot> = Vec::new();

    for ((begin, end), count) in counts {
        match merged.last_mut() {
            Some(window) if *begin < window.pages.end => {
                window.pages.end = window.pages.end.max(*end);
                window.count += count;
            }
            _ => merged.push(Hot {
                pages: *begin..*end,
                count: *count,
            }),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::{merge, whole, Access, Advice, Counts, Hot, Recorder, Way, MOST_MISSES};
    use crate::pick::event::Try;
    use crate::units::PAGE_BYTES;

    const READ_AHEAD: u64 = 128 << 10;
    const FILE_BYTES: u64 = 1000 * PAGE_BYTES - 1;

    /// Of file 7: reads of bytes, as begin and length.
    fn reads(of: &[(u64, u64)]) -> Vec<Access> {
        of.iter()
            .map(|(begin, bytes)| Access {
                is_write: false,
                way: Way::Copied,
                file: 1,
                inode: 7,
                begin: *begin,
                end: begin + bytes,
                file_bytes: FILE_BYTES,
                tried: None,
            })
            .collect()
    }

    fn counts(accesses: &[Access]) -> Vec<(u64, u64, u64)> {
        let mut recorder = Recorder::new(READ_AHEAD);
        for access in accesses {
            recorder.add(access);
        }
        let files = recorder.into_files();
        let counts = files.get(&7).cloned().unwrap_or_default();
        counts
            .iter()
            .map(|((a, b), count)| (*a, *b, *count))
            .collect()
    }

    #[test]
    fn a_read_is_whole_pages() {
        assert_eq!(counts(&reads(&[(5000, 10)])), [(1, 2, 1)]);
        assert_eq!(counts(&reads(&[(4095, 2)])), [(0, 2, 1)]);
        assert_eq!(counts(&reads(&[(8192, 8192), (8192, 8192)])), [(2, 4, 2)]);
    }

    #[test]
    fn nothing_is_read_behind_the_end() {
        let end = FILE_BYTES;
        assert_eq!(counts(&reads(&[(end, 4096), (end + 9, 1), (3, 0)])), []);
        assert_eq!(counts(&reads(&[(end - 1, 1 << 20)])), [(999, 1000, 1)]);
        // A write makes a new end.
        let mut write = reads(&[(end + 1, 4096)]);
        write[0].is_write = true;
        assert_eq!(counts(&write), [(1000, 1001, 1)]);
    }

    #[test]
    fn sequential_reads_become_windows_of_read_ahead() {
        let page = |nr: u64| (nr * 4096, 4096);
        // One read may be a random one.
        assert_eq!(counts(&reads(&[page(100)])), [(100, 101, 1)]);
        assert_eq!(counts(&reads(&[page(100), page(101)])), [(100, 132, 1)]);
        let sixty: Vec<_> = (100..164).map(page).collect();
        assert_eq!(counts(&reads(&sixty)), [(100, 132, 1), (132, 164, 1)]);
        let more: Vec<_> = (100..165).map(page).collect();
        assert_eq!(
            counts(&reads(&more)),
            [(100, 132, 1), (132, 164, 1), (164, 196, 1)]
        );
    }

    #[test]
    fn a_window_ends_with_the_file_and_holds_what_was_asked_for() {
        let near_end = [(990 * 4096, 4096), (991 * 4096, 4096)];
        assert_eq!(counts(&reads(&near_end)), [(990, 1000, 1)]);
        let large = [(0, 256 << 10), (256 << 10, 300 << 10)];
        assert_eq!(counts(&reads(&large)), [(0, 64, 1), (64, 139, 1)]);
        // Half of it is in the window, half asks for the next one.
        let across = [(0, 4096), (4096, 160 << 10)];
        assert_eq!(counts(&reads(&across)), [(0, 32, 1), (32, 64, 1)]);
    }

    #[test]
    fn random_reads_are_not_grown() {
        let random = [(0, 4096), (40960, 4096), (8192, 4096), (40960, 4096)];
        assert_eq!(counts(&reads(&random)), [(0, 1, 1), (2, 3, 1), (10, 11, 2)]);
        // Sequential, then elsewhere, then on from there.
        let turn = [
            (0, 4096),
            (4096, 4096),
            (400 << 12, 4096),
            (401 << 12, 4096),
        ];
        assert_eq!(counts(&reads(&turn)), [(0, 32, 1), (400, 432, 1)]);
    }

    #[test]
    fn open_files_read_on_their_own() {
        let mut two = reads(&[
            (0, 4096),
            (400 << 12, 4096),
            (4096, 4096),
            (401 << 12, 4096),
        ]);
        two[1].file = 2;
        two[3].file = 2;
        assert_eq!(counts(&two), [(0, 32, 1), (400, 432, 1)]);
        // The next one in its file, but of another open file: both are random.
        let mut apart = reads(&[(0, 4096), (4096, 4096)]);
        apart[1].file = 2;
        assert_eq!(counts(&apart), [(0, 1, 1), (1, 2, 1)]);
    }

    #[test]
    fn direct_reads_and_writes_are_as_they_are() {
        for is_write in [false, true] {
            let mut two = reads(&[(0, 4096), (4096, 4096)]);
            for access in &mut two {
                access.way = if is_write { Way::Copied } else { Way::Direct };
                access.is_write = is_write;
            }
            assert_eq!(counts(&two), [(0, 1, 1), (1, 2, 1)]);
        }
        let mut none = Recorder::new(0);
        for access in reads(&[(0, 4096), (4096, 4096)]) {
            none.add(&access);
        }
        assert_eq!(none.into_files().get(&7).unwrap().len(), 2);
    }

    /// Of file 7: faults of pages.
    fn faults(pages: impl IntoIterator<Item = u64>, advice: Advice) -> Vec<Access> {
        let pages: Vec<_> = pages.into_iter().map(|page| (page << 12, 4096)).collect();
        let mut faults = reads(&pages);
        for fault in &mut faults {
            fault.way = Way::Mapped(advice);
        }
        faults
    }

    #[test]
    fn faults_read_around_and_on() {
        let normal = |pages: &[u64]| counts(&faults(pages.iter().copied(), Advice::Normal));
        assert_eq!(normal(&[100]), [(84, 116, 1)]);
        assert_eq!(normal(&[5, 31]), [(0, 32, 1)]);
        assert_eq!(normal(&[995]), [(979, 1000, 1)]);
        // Where pages are in the page cache, others are mapped with them, as many as may be.
        for step in [1, 16] {
            let all = (0..100).filter(|page| page % step == 0);
            let all: Vec<_> = all.collect();
            let windows = [(0, 32, 1), (32, 64, 1), (64, 96, 1), (96, 128, 1)];
            assert_eq!(normal(&all), windows, "{step}");
        }
        assert_eq!(normal(&[100, 128]), [(84, 116, 1), (116, 148, 1)]);
        assert_eq!(normal(&[100, 132]), [(84, 116, 1), (116, 148, 1)]);
        assert_eq!(normal(&[100, 300, 100]), [(84, 116, 2), (284, 316, 1)]);
    }

    #[test]
    fn after_many_misses_faults_read_single_pages() {
        let mut recorder = Recorder::new(READ_AHEAD);
        // Too far apart for a window, twice
        for fault in faults((0..140).map(|nr| nr * 97 % 1000), Advice::Normal) {
            recorder.add(&fault);
        }
        let files = recorder.into_files();
        let singles = files[&7].iter().filter(|((a, b), _)| b - a == 1);
        assert_eq!(singles.count(), 140 - MOST_MISSES as usize - 1);
        assert_eq!(counts(&faults([100], Advice::Random)), [(100, 101, 1)]);
        assert_eq!(counts(&faults([100], Advice::Sequential)), [(100, 132, 1)]);
    }

    #[test]
    fn another_try_of_a_request_is_not_counted() {
        let attempts = |list: &[(u64, u64, bool, bool)]| {
            let mut reads = reads(&list.iter().map(|a| (a.0, a.1)).collect::<Vec<_>>());
            for (read, (_, _, may_fail, may_be_again)) in reads.iter_mut().zip(list) {
                read.way = Way::Direct;
                read.tried = Some(Try {
                    request: 9,
                    may_fail: *may_fail,
                    may_be_again: *may_be_again,
                });
            }
            counts(&reads)
        };
        let (first, waits, last) = ((true, false), (true, true), (false, true));
        let of = |begin, bytes, (a, b)| (begin, bytes, a, b);
        // It would have to wait; it waits in line; a worker does it, or what is left of it.
        let one = [of(0, 8192, first), of(0, 8192, waits), of(4096, 4096, last)];
        assert_eq!(attempts(&one), [(0, 2, 1)]);
        // It has waited, and is tried as a new one is; so is the next one.
        let four = [
            of(0, 8192, first),
            of(0, 8192, waits),
            of(0, 8192, first),
            of(0, 8192, first),
        ];
        assert_eq!(attempts(&four), [(0, 2, 2)]);
        // The next request in the same place
        let two = [of(0, 8192, first), of(0, 8192, first)];
        assert_eq!(attempts(&two), [(0, 2, 2)]);
        let three = [of(0, 8192, first), of(0, 8192, last), of(0, 8192, last)];
        assert_eq!(attempts(&three), [(0, 2, 2)]);
        let other = [of(0, 8192, first), of(4096, 8192, last)];
        assert_eq!(attempts(&other), [(0, 2, 1), (1, 3, 1)]);
    }

    #[test]
    fn the_bypass_cuts_a_file_into_windows() {
        let all = |bytes, read_ahead| {
            let data = |from| Ok((from < bytes).then_some(from..bytes));
            whole(bytes, read_ahead, 100, data).unwrap()
        };
        let (windows, is_all) = all(70 * 4096 - 5, READ_AHEAD);
        let windows: Vec<_> = windows.into_iter().collect();
        assert_eq!(windows, [((0, 32), 1), ((32, 64), 1), ((64, 70), 1)]);
        assert!(is_all);
        assert!(all(0, READ_AHEAD).0.is_empty());
        assert_eq!(all(1, 0).0.len(), 1);
    }

    #[test]
    fn the_bypass_leaves_holes_out_and_has_an_end() {
        // Two pieces within one window, and one far behind
        let pieces = [4096..8192, 10_000..10_001, 1 << 40..(1 << 40) + 1];
        let data = |from| {
            let next = pieces.iter().find(|piece| piece.end > from);
            Ok(next.map(|piece| piece.start.max(from)..piece.end))
        };
        let far = (1 << 40) / PAGE_BYTES;
        let (windows, is_all) = whole(1 << 50, READ_AHEAD, 100, data).unwrap();
        assert!(is_all);
        let windows: Vec<_> = windows.into_iter().collect();
        assert_eq!(windows, [((0, 32), 1), ((far, far + 32), 1)]);

        let everything = |from| Ok(Some(from..1 << 50));
        let (windows, is_all) = whole(1 << 50, READ_AHEAD, 100, everything).unwrap();
        assert_eq!((windows.len(), is_all), (100, false));
        let broken = |_| Err(io::ErrorKind::Other.into());
        assert!(whole(1 << 50, READ_AHEAD, 100, broken).is_err());
    }

    #[test]
    fn what_overlaps_is_one_range() {
        let counts: Counts = [
            // The paper's example
            ((1, 41), 1),
            ((31, 61), 1),
            // Within
            ((100, 200), 3),
            ((110, 120), 2),
            ((150, 160), 1),
            // Touches only
            ((200, 210), 5),
        ]
        .into();
        let hot = |begin: u64, end: u64, count| Hot {
            pages: begin..end,
            count,
        };
        assert_eq!(
            merge(&counts),
            [hot(1, 61, 2), hot(100, 200, 6), hot(200, 210, 5)]
        );
        assert!(merge(&Counts::new()).is_empty());
    }

    #[test]
    fn what_no_file_can_have_is_not_counted() {
        let mut recorder = Recorder::new(READ_AHEAD);
        let most = i64::MAX as u64;
        for (begin, end) in [(most - 5000, most + 70_000), (most + 1, u64::MAX)] {
            recorder.add(&Access {
                is_write: true,
                begin,
                end,
                ..reads(&[(0, 1)])[0]
            });
        }
        let files = recorder.into_files();
        let merged = merge(&files[&7]);
        let pages = most / PAGE_BYTES;
        let expected = Hot {
            pages: pages - 1..pages,
            count: 1,
        };
        assert_eq!(merged, [expected]);
    }
}
