// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware pick watch`: janusd's daemon. It keeps those files spread over the dies that are read most.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;

use super::defrag::{print_head, print_row, Row};
use super::pick::{each_file, Place};
use crate::defrag::{defrag, DefragError, Done, Method, Unsynced, Wish, LEAST_GAIN_PERMILLE};
use crate::frag::look::{Drives, WHOLE};
use crate::pick::event::Line;
use crate::pick::hotness::Hotness;
use crate::pick::trace::{Trace, Who};
use crate::progress::Progress;
use crate::units::{parse_bytes, parse_permille};

/// Between two looks at what has been traced, and at whether somebody wants an end.
pub(super) const PAUSE: Duration = Duration::from_millis(200);

/// How often in a row no file that had its turn can have been found on an SSD. Once may be bad luck.
const MOST_IN_VAIN: u32 = 2;

/// Keep the files that are read most spread over the dies, until SIGTERM or Ctrl-C (janusd)
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  dieaware pick watch --every 600 /mnt/data\n\n\
    Sizes are in bytes, or end in K, M, G or T."
)]
pub struct WatchArgs {
    /// A folder, of which all files on the same filesystem are watched
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Seconds between two times to work
    #[arg(long, value_name = "N", default_value_t = 3600, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// So many files each time, those that are read most
    #[arg(long, value_name = "N", default_value_t = 50)]
    files: usize,
    /// Files of so much in all each time; the SSD copies at most that
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, default_value = "1G")]
    most: u64,
    /// Leave files alone whose DoF_P is below this
    #[arg(long, value_name = "PERCENT", value_parser = parse_permille, default_value = "50")]
    threshold: u32,
}

/// # Errors
///
/// When reads cannot be traced, or the SSD does not spread files.
pub fn run(args: &WatchArgs, out: &mut impl Write) -> Result<()> {
    let place = Place::of(&args.folder)?;
    let progress = Progress::new()?;
    let watched = place.watched()?;
    let mut trace = Trace::begin(&watched, Who::Everybody).context("Reads cannot be traced")?;
    let mut hotness = Hotness::default();
    let period = Duration::from_secs(args.every.into());
    let mut next = Instant::now() + period;
    let mut patience = Patience::default();

    print_head(out)?;
    out.flush()?;
    while progress.go_on().is_ok() {
        trace.drain(&mut |line| match line {
            Line::Access(_, access) if !access.is_write => hotness.read(access.inode),
            _ => {}
        })?;
        if Instant::now() >= next {
            patience.after(work(args, &place.path, &hotness, &progress, out)?)?;
            hotness.fade();
            next = Instant::now() + period;
        }
        sleep(PAUSE);
    }
    Ok(())
}

/// What became of files that were to be spread.
enum Turn {
    /// There was none, or what lies between them and the SSD is there for a time only.
    Nobody,
    /// At least one was found, well or badly as it lies.
    Found,
    /// The SSD cannot be told where any of them lies; of the last one this is why.
    InVain(DefragError),
}

impl Turn {
    /// One more file was not found on an SSD.
    fn in_vain(self, why: DefragError) -> Self {
        match self {
            Self::Found => self,
            Self::Nobody | Self::InVain(_) => Self::InVain(why),
        }
    }

    /// One more file was left alone, or spread.
    fn with(self, done: &Done) -> Self {
        match done.before.dof_p_permille {
            Some(_) => Self::Found,
            None => self,
        }
    }
}

/// How many turns in a row have been in vain.
#[derive(Default)]
struct Patience {
    nr_in_vain: u32,
}

impl Patience {
    /// Go on after a turn, or give up.
    fn after(&mut self, turn: Turn) -> Result<(), DefragError> {
        let Turn::InVain(why) = turn else {
            self.nr_in_vain = 0;
            return Ok(());
        };
        self.nr_in_vain += 1;
        if self.nr_in_vain == MOST_IN_VAIN {
            return Err(why);
        }
        Ok(())
    }
}

/// Spread what is hot and lies badly, until there is enough of it.
fn work(
    args: &WatchArgs,
    folder: &Path,
    hotness: &Hotness,
    progress: &Progress,
    out: &mut impl Write,
) -> Result<Turn> {
    let wish = Wish {
        method: Some(Method::Ssd),
        threshold_permille: u64::from(args.threshold),
        least_gain_permille: u64::from(LEAST_GAIN_PERMILLE),
        // The SSD spreads pages, whoever they belong to.
        unshares: false,
        spreads: true,
        reads_ahead: false,
        dry_run: false,
        spares_programs: true,
        chosen: None,
    };
    let mut drives = Drives::default();
    // The SSD spreads pages below all filesystems: there is nothing to be synced.
    let mut unsynced = Unsynced::default();
    let mut left = args.most;
    let mut turn = Turn::Nobody;

    for path in hottest_below(folder, hotness, args.files)? {
        // Files come and go.
        let Ok(metadata) = fs::metadata(&path) else {
            continue;
        };
        if metadata.len() > left {
            continue;
        }
        match defrag(&path, &WHOLE, wish, &mut drives, &mut unsynced, &mut |_| {
            progress.go_on()
        }) {
            Err(DefragError::Interrupted(_)) => break,
            Err(err @ DefragError::NoSpreader(_)) => return Err(err.into()),
            Err(err) => {
                complain!("dieaware: {}: {err}.", path.display());
                if let DefragError::NotOnSsd(_) = err {
                    turn = turn.in_vain(err);
                }
            }
            Ok(done) => {
                turn = turn.with(&done);
                if done.method.is_some() {
                    left -= metadata.len();
                    print_row(&Row::new(&path, Ok(done)), out)?;
                    out.flush()?;
                }
            }
        }
    }
    Ok(turn)
}

/// The files below a folder that are read most, the most read one first. Others of its filesystem do
/// not count, however often they are read.
pub(super) fn hottest_below(folder: &Path, hotness: &Hotness, most: usize) -> Result<Vec<PathBuf>> {
    let mut found: HashMap<u64, PathBuf> = HashMap::new();

    each_file(folder, &mut |_, _| Ok(()), &mut |path, inode, _| {
        if hotness.knows(inode) {
            found.entry(inode).or_insert(path);
        }
    })?;
    let hottest = hotness.hottest(found.keys().copied(), most);
    Ok(hottest
        .iter()
        .filter_map(|inode| found.remove(inode))
        .collect())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::MetadataExt;

    use super::{hottest_below, DefragError, Done, Hotness, Patience, Turn};
    use crate::defrag::State;

    fn done(dof_p_permille: Option<u64>) -> Done {
        Done {
            method: None,
            bytes: 0,
            shared_bytes: 0,
            compactions: Vec::new(),
            spread: false,
            before: State {
                pieces: 1,
                dof_l_permille: 1000,
                split_permille: 0,
                dof_p_permille,
            },
            after: None,
            why: None,
        }
    }

    /// A turn of files of which each was found, well as it lies, or not.
    fn turn(files: &[bool]) -> Turn {
        let why = || DefragError::NotOnSsd(String::new());
        files
            .iter()
            .fold(Turn::Nobody, |turn, is_found| match is_found {
                true => turn.with(&done(Some(0))),
                false => turn.in_vain(why()),
            })
    }

    #[test]
    fn only_turns_in_a_row_are_in_vain() {
        for (turns, is_end) in [
            (&[&[false][..], &[false]][..], true),
            (&[&[false], &[], &[false]], false),
            (&[&[false], &[true], &[false]], false),
            (&[&[false], &[false, true], &[false]], false),
            (&[&[false], &[true, false], &[false]], false),
            (&[&[true], &[false], &[false, false]], true),
        ] {
            let mut patience = Patience::default();
            let ends = turns
                .iter()
                .any(|files| patience.after(turn(files)).is_err());
            assert_eq!(ends, is_end, "{turns:?}");
        }
        // Of a file without pages nobody knows where it lies.
        assert!(matches!(Turn::Nobody.with(&done(None)), Turn::Nobody));
    }

    #[test]
    fn a_file_may_have_any_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(OsStr::from_bytes(b"\xff"));
        fs::write(&path, "").unwrap();
        let mut hotness = Hotness::default();
        hotness.read(fs::metadata(&path).unwrap().ino());
        assert_eq!(hottest_below(dir.path(), &hotness, 1).unwrap(), [path]);
    }

    #[test]
    fn files_elsewhere_take_nobody_s_place() {
        let folder = std::env::temp_dir().join(format!("watch-{}", std::process::id()));
        let mut hotness = Hotness::default();
        for (name, reads) in [("in/warm", 2), ("in/hot", 3), ("out/a", 9), ("out/b", 9)] {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            let inode = fs::metadata(&path).unwrap().ino();
            (0..reads).for_each(|_| hotness.read(inode));
        }
        fs::write(folder.join("in/cold"), "").unwrap();
        let below = |name, most| hottest_below(&folder.join(name), &hotness, most).unwrap();
        assert_eq!(below("in", 1), [folder.join("in/hot")]);
        assert_eq!(
            below("in", 9),
            [folder.join("in/hot"), folder.join("in/warm")]
        );
        fs::remove_dir_all(folder).unwrap();
    }
}
