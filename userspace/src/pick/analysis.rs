// SPDX-License-Identifier: GPL-2.0-only
//! What the analysis has found, and its file: JSON, for the migration to read, by others to be
//! written or edited.

use std::cmp::Reverse;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::imitate::Hot;
use crate::io_engine::replace::replace;
use crate::units::PAGE_BYTES;

const KIND: &str = "dieaware-pick";
const VERSION: u32 = 1;

/// More than any analysis has.
const MOST_BYTES: u64 = 1 << 30;

/// A part of a file, in bytes that are whole pages, and how often it was wanted.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HotRange {
    pub begin: u64,
    pub bytes: u64,
    pub count: u64,
}

impl HotRange {
    #[must_use]
    pub fn of(hot: &Hot) -> Self {
        Self {
            begin: hot.pages.start * PAGE_BYTES,
            bytes: (hot.pages.end - hot.pages.start) * PAGE_BYTES,
            count: hot.count,
        }
    }

    #[must_use]
    pub fn pages(&self) -> std::ops::Range<u64> {
        self.begin / PAGE_BYTES..self.begin.saturating_add(self.bytes) / PAGE_BYTES
    }
}

/// The hot ranges of a file, in order and apart.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HotFile {
    pub path: PathBuf,
    /// To notice that another file has its name by now
    pub inode: u64,
    pub ranges: Vec<HotRange>,
}

/// Of the files of a folder.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Analysis {
    kind: String,
    version: u32,
    pub files: Vec<HotFile>,
}

#[derive(Debug, Error)]
pub enum AnalysisError {
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("it is larger than 1 GiB and no analysis")]
    Large,
    #[error("it is no analysis of \"dieaware pick analyze\": {0}")]
    Json(#[from] serde_json::Error),
    #[error("it is no analysis of \"dieaware pick analyze\", but \"{0}\"")]
    Kind(String),
    #[error("it has version {0}, of which only {VERSION} is known; analyze again")]
    Version(u32),
    #[error("the path of {0} does not begin with a slash")]
    Path(PathBuf),
    #[error("the ranges of {0} are not whole pages, or not in order")]
    Ranges(PathBuf),
}

impl Analysis {
    /// Files by name, which have ranges.
    #[must_use]
    pub fn new(mut files: Vec<HotFile>) -> Self {
        files.retain(|file| !file.ranges.is_empty());
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self {
            kind: KIND.to_owned(),
            version: VERSION,
            files,
        }
    }

    /// Keep the hottest ranges only: so many of all there are, in thousandths.
    pub fn keep_hottest(&mut self, permille: u32) {
        let ranges = self.files.iter().enumerate().flat_map(|(nr, file)| {
            let list = file.ranges.iter();
            list.map(move |range| (Reverse(range.count), nr, range.begin))
        });
        let mut order: Vec<_> = ranges.collect();
        order.sort_unstable();
        let kept = (order.len() as u64 * u64::from(permille)).div_ceil(1000) as usize;
        let Some(first_cold) = order.get(kept).copied() else {
            return;
        };
        for (nr, file) in self.files.iter_mut().enumerate() {
            let place = |range: &HotRange| (Reverse(range.count), nr, range.begin);
            file.ranges.retain(|range| place(range) < first_cold);
        }
        self.files.retain(|file| !file.ranges.is_empty());
    }

    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        replace(path, &text)
    }

    /// # Errors
    ///
    /// When it cannot be read or is not what it should be.
    pub fn load(path: &Path) -> Result<Self, AnalysisError> {
        let mut text = Vec::new();

        File::open(path)?
            .take(MOST_BYTES + 1)
            .read_to_end(&mut text)?;
        if text.len() as u64 > MOST_BYTES {
            return Err(AnalysisError::Large);
        }
        Self::parse(&text)
    }

    fn parse(text: &[u8]) -> Result<Self, AnalysisError> {
        /// What another version has as well.
        #[derive(Deserialize)]
        struct Head {
            kind: String,
            version: u32,
        }

        let head: Head = serde_json::from_slice(text)?;
        if head.kind != KIND {
            return Err(AnalysisError::Kind(head.kind));
        }
        if head.version != VERSION {
            return Err(AnalysisError::Version(head.version));
        }
        let analysis: Self = serde_json::from_slice(text)?;
        for file in &analysis.files {
            if !file.path.is_absolute() {
                return Err(AnalysisError::Path(file.path.clone()));
            }
            if !are_ranges(&file.ranges) {
                return Err(AnalysisError::Ranges(file.path.clone()));
            }
        }
        Ok(analysis)
    }
}

/// Are they whole pages, in order and apart, within what a file can be?
fn are_ranges(ranges: &[HotRange]) -> bool {
    let mut last_end = 0;

    ranges.iter().all(|range| {
        let end = range.begin.checked_add(range.bytes);
        let Some(end) = end.filter(|end| i64::try_from(*end).is_ok()) else {
            return false;
        };
        let is_whole = range.begin % PAGE_BYTES == 0 && range.bytes % PAGE_BYTES == 0;
        let is_next = range.begin >= last_end && range.bytes > 0;
        last_end = end;
        is_whole && is_next
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Analysis, HotFile, HotRange};

    fn file(path: &str, ranges: &[(u64, u64, u64)]) -> HotFile {
        HotFile {
            path: PathBuf::from(path),
            inode: 12,
            ranges: ranges
                .iter()
                .map(|(begin, bytes, count)| HotRange {
                    begin: *begin,
                    bytes: *bytes,
                    count: *count,
                })
                .collect(),
        }
    }

    fn counts(analysis: &Analysis) -> Vec<(&str, Vec<u64>)> {
        let files = analysis.files.iter();
        files
            .map(|file| {
                let counts = file.ranges.iter().map(|range| range.count).collect();
                (file.path.to_str().unwrap(), counts)
            })
            .collect()
    }

    fn two_files() -> Analysis {
        Analysis::new(vec![
            file("/b", &[(0, 4096, 9), (8192, 4096, 1)]),
            file("/a", &[(0, 4096, 5), (4096, 8192, 5)]),
            file("/none", &[]),
        ])
    }

    #[test]
    fn the_hottest_ranges_of_all_files_are_kept() {
        for (permille, kept) in [
            (1000, vec![("/a", vec![5, 5]), ("/b", vec![9, 1])]),
            (750, vec![("/a", vec![5, 5]), ("/b", vec![9])]),
            // Of equals the first ones
            (500, vec![("/a", vec![5]), ("/b", vec![9])]),
            (251, vec![("/a", vec![5]), ("/b", vec![9])]),
            (1, vec![("/b", vec![9])]),
            (0, vec![]),
        ] {
            let mut analysis = two_files();
            analysis.keep_hottest(permille);
            assert_eq!(counts(&analysis), kept, "{permille}");
        }
    }

    #[test]
    fn an_analysis_is_read_as_it_was_written() {
        let analysis = two_files();
        let text = serde_json::to_vec(&analysis).unwrap();
        assert_eq!(Analysis::parse(&text).unwrap(), analysis);
    }

    #[test]
    fn what_is_no_analysis_is_refused_with_a_sentence() {
        let good = r#"{"kind":"dieaware-pick","version":1,"files":[{"path":"/a","inode":12,"ranges":[{"begin":0,"bytes":4096,"count":1},{"begin":4096,"bytes":4096,"count":1}]}]}"#;
        assert!(Analysis::parse(good.as_bytes()).is_ok());
        for (from, to, words) in [
            ("{\"kind", "", "no analysis"),
            ("dieaware-pick", "fio", "but \"fio\""),
            ("version\":1", "version\":2", "version 2"),
            ("version\":1", "version\":-1", "no analysis"),
            ("\"/a\"", "\"a\"", "slash"),
            ("\"/a\"", "\"\"", "slash"),
            ("\"/a\"", "7", "no analysis"),
            ("\"inode\":12,", "", "no analysis"),
            ("\"inode\"", "\"more\":0,\"inode\"", "no analysis"),
            ("4096,\"count", "4095,\"count", "whole pages"),
            ("begin\":0", "begin\":1", "whole pages"),
            ("begin\":4096", "begin\":0", "in order"),
            ("bytes\":4096", "bytes\":0", "in order"),
            (
                "begin\":4096",
                "begin\":18446744073709547520",
                "whole pages",
            ),
            ("begin\":4096", "begin\":9223372036854775808", "whole pages"),
            ("begin\":4096", "begin\":1e30", "no analysis"),
        ] {
            let bad = good.replacen(from, to, 1);
            assert_ne!(bad, good);
            let err = Analysis::parse(bad.as_bytes()).unwrap_err().to_string();
            assert!(err.contains(words), "{bad}: {err}");
        }
        for text in [&b""[..], b"\xff", b"null", b"[]", b"{}", b"[[[[[[[["] {
            assert!(Analysis::parse(text).is_err());
        }
        let deep = vec![b'['; 1 << 20];
        assert!(Analysis::parse(&deep).is_err());
    }
}
