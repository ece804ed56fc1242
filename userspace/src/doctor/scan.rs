// SPDX-License-Identifier: GPL-2.0-only
//! Looking for parts of files that can be timed, for no longer than there is time. Nothing is read but
//! where files lie.

use std::fs::Metadata;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::windows::{Pool, SIZES};
use crate::fs::file::{self, FileError};
use crate::fs::folder;
use crate::progress::Interrupted;
use crate::runs::runs_of;

/// What was found.
#[derive(Default)]
pub struct Scan {
    /// Files that have windows, by the count that windows have.
    pub files: Vec<PathBuf>,
    pub pools: Vec<Pool>,
    /// Files that are large enough, and those of which it is not known where they lie.
    pub nr_files: u64,
    pub nr_unknown: u64,
    /// Why, of the first of these.
    pub why_unknown: Option<String>,
    /// No file was left out for want of time.
    pub is_all: bool,
}

/// The smallest file that is worth it.
fn least_bytes() -> u64 {
    SIZES.iter().copied().min().unwrap_or(0)
}

impl Scan {
    fn unknown(&mut self, path: &Path, why: &dyn std::fmt::Display) {
        self.nr_unknown += 1;
        if self.why_unknown.is_none() {
            self.why_unknown = Some(format!("{}: {why}", path.display()));
        }
    }

    fn look(&mut self, path: PathBuf) {
        self.nr_files += 1;
        let facts = match file::facts(&path) {
            Err(err) if is_gone(&err) => return,
            Err(err) => return self.unknown(&path, &err),
            Ok(facts) => facts,
        };
        let runs = runs_of(&facts.extents);
        let index = self.files.len();
        let before: u64 = self.pools.iter().map(|pool| pool.bytes).sum();
        for pool in &mut self.pools {
            pool.add(index, &runs);
        }
        if self.pools.iter().map(|pool| pool.bytes).sum::<u64>() > before {
            self.files.push(path);
        }
    }
}

fn is_gone(err: &FileError) -> bool {
    matches!(err, FileError::Read(err) if err.kind() == std::io::ErrorKind::NotFound)
}

/// Look at all files below a folder that are large enough, on the same filesystem, as long as `may_go_on`
/// says yes.
///
/// # Errors
///
/// When `may_go_on` says that somebody wants it to end.
pub fn scan(
    folder: &Path,
    may_go_on: &mut dyn FnMut() -> Result<bool, Interrupted>,
) -> Result<Scan, Interrupted> {
    let mut scan = Scan {
        pools: SIZES.map(Pool::new).to_vec(),
        is_all: true,
        ..Scan::default()
    };
    let mut asked = Ok(true);
    let mut failed = Vec::new();
    let mut take = |path: PathBuf, metadata: &Metadata| {
        asked = may_go_on();
        if !matches!(asked, Ok(true)) {
            scan.is_all = false;
            return ControlFlow::Break(());
        }
        if metadata.is_file() && metadata.len() >= least_bytes() {
            scan.look(path);
        }
        ControlFlow::Continue(())
    };

    // What is kept of folders that cannot be read is that there are some.
    let walked = folder::visit(folder, &mut take, &mut |path, err| {
        failed.push((path.to_owned(), err));
        failed.truncate(1);
        Ok(())
    });
    asked?;
    failed.extend(walked.err().map(|err| (folder.to_owned(), err)));
    if let Some((path, err)) = failed.first() {
        scan.is_all = false;
        scan.unknown(path, err);
    }
    Ok(scan)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::scan;
    use crate::progress::Interrupted;

    #[test]
    fn small_files_are_no_files_and_time_ends_it() {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in [("small", 100_000), ("large", 300_000), ("other", 131_072)] {
            fs::write(folder.path().join(name), vec![1; bytes]).unwrap();
        }
        let found = scan(folder.path(), &mut || Ok(true)).unwrap();
        assert_eq!((found.nr_files, found.is_all), (2, true));
        let mut left = 2;
        let found = scan(folder.path(), &mut || {
            left -= 1;
            Ok(left > 0)
        });
        let found = found.unwrap();
        assert!(!found.is_all && found.nr_files <= 1);
        assert!(scan(folder.path(), &mut || Err(Interrupted)).is_err());
        let gone = scan(&folder.path().join("gone"), &mut || Ok(true)).unwrap();
        assert_eq!((gone.nr_unknown, gone.is_all), (1, false));
    }
}
