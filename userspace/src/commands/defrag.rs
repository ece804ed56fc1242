// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware defrag`: brings the pages of files back over the dies. Files have their turn one by
//! one: what goes wrong with one of them is told in the end and is no reason to leave out the
//! others.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Error, Result};
use clap::{value_parser, Args, ValueEnum};
use serde::Serialize;

use super::budget::{allocated_bytes, End, IoClass, Limit, Room};
use super::common::{self, permille, print_json, Saying, UsageError};
use crate::complain::shown;
use crate::defrag::{defrag, DefragError, Done, Method, State, Unsynced, Watch, Wish};
use crate::frag::look::{look_at, Drives, WHOLE};
use crate::progress::Progress;
use crate::units::{parse_bytes, parse_permille, PAGE_BYTES};

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(super) enum How {
    /// The first of the others that can be used
    Auto,
    /// The SSD spreads the pages (Redistribute)
    Ssd,
    /// The filesystem moves them, and the SSD has them in both places instead of being written to (Share)
    Share,
    /// The filesystem moves them to free blocks in a row (btrfs, ext4, f2fs, xfs)
    Move,
    /// They are written again in place, in the order of the file
    Rewrite,
}

impl How {
    pub(super) fn method(self) -> Option<Method> {
        match self {
            Self::Auto => None,
            Self::Ssd => Some(Method::Ssd),
            Self::Share => Some(Method::Share),
            Self::Move => Some(Method::Move),
            Self::Rewrite => Some(Method::Rewrite),
        }
    }
}

/// Bring the pages of files back over the dies, so that they can be read fast
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dieaware defrag --dry-run /mnt/data")]
pub struct DefragArgs {
    /// Regular files, and folders of which all files on the same filesystem are taken
    #[arg(value_name = "FILE|DIR", required = true)]
    paths: Vec<PathBuf>,
    /// How the pages come to new places
    #[arg(long, value_enum, default_value_t = How::Auto)]
    method: How,
    /// Leave files alone whose DoF_P is below this; where it is not known, those of which fewer
    /// requests are there only because of their pieces
    #[arg(long, value_name = "PERCENT", value_parser = parse_permille, default_value = "25")]
    threshold: u32,
    /// Move only what then has so many requests less that are there because of pieces
    #[arg(long, value_name = "PERCENT", value_parser = parse_permille, default_value = "10")]
    min_gain: u32,
    /// With --method share: leave the pages on the dies on which they are
    #[arg(long)]
    keep_dies: bool,
    /// Also move what is shared with other files or snapshots, LVM's as well, which takes space of its own then
    #[arg(long)]
    unshare: bool,
    /// Move no more than that: files that have more are left alone
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    max_bytes: Option<u64>,
    /// End after so many seconds
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    max_time: Option<u32>,
    /// Give way to others that read and write, where the disk has a scheduler that knows of it
    #[arg(long, value_name = "CLASS", value_enum)]
    ionice: Option<IoClass>,
    /// Read much at once, which is in the way of others that read
    #[arg(long)]
    fast: bool,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    saying: Saying,
}

/// A file and what became of it.
#[derive(Serialize)]
pub struct Row {
    path: String,
    #[serde(flatten)]
    done: Option<Done>,
    /// Why nothing could be done.
    error: Option<String>,
    /// Why nothing was done, which is no failure.
    skipped: Option<String>,
}

impl Row {
    pub fn new(path: &Path, result: Result<Done, DefragError>) -> Self {
        Self {
            path: path.display().to_string(),
            error: result.as_ref().err().map(ToString::to_string),
            skipped: None,
            done: result.ok(),
        }
    }

    /// Of a file that nobody has named, but its folder.
    pub fn of_folder(path: &Path, result: Result<Done, DefragError>) -> Self {
        let is_skip = result.as_ref().is_err_and(DefragError::is_skip);
        let mut row = Self::new(path, result);

        if is_skip {
            row.skipped = row.error.take();
        }
        row
    }

    pub fn has_failed(&self) -> bool {
        self.error.is_some()
    }
}

pub(super) fn dof(state: Option<State>) -> String {
    let dof = state.and_then(|state| state.dof_p_permille);
    dof.map_or("-".to_owned(), permille)
}

pub(super) fn pieces(state: Option<State>) -> String {
    state.map_or("-".to_owned(), |state| state.pieces.to_string())
}

pub(super) fn word(method: Option<Method>) -> &'static str {
    match method {
        None => "left",
        Some(Method::Ssd) => "ssd",
        Some(Method::Share) => "share",
        Some(Method::Move) => "move",
        Some(Method::Rewrite) => "rewrite",
    }
}

pub(super) fn print_head(out: &mut impl Write) -> Result<()> {
    writeln!(
        out,
        "{:<8} {:>6} {:>6}  {:>7} {:>7}  {:>10}  file",
        "method", "DoF_P", "after", "pieces", "after", "KiB"
    )?;
    Ok(())
}

pub(super) fn print_row(row: &Row, out: &mut impl Write) -> Result<()> {
    let Some(done) = &row.done else {
        return Ok(());
    };
    writeln!(
        out,
        "{:<8} {:>6} {:>6}  {:>7} {:>7}  {:>10}  {}",
        word(done.method),
        dof(Some(done.before)),
        dof(done.after),
        pieces(Some(done.before)),
        pieces(done.after),
        done.bytes.div_ceil(1024),
        shown(&row.path)
    )?;
    Ok(())
}

/// What else there is to say of a file; for people.
fn notes(done: &Done) -> Vec<String> {
    let mut notes: Vec<_> = done
        .compactions
        .iter()
        .map(|compaction| {
            let (before, after) = (compaction.before, compaction.after);
            format!(
                "the SSD's log of shared pages was compacted: {} of {} entries before, {} after",
                before.entries, before.most_entries, after.entries
            )
        })
        .collect();

    if done.spread {
        notes.push("what was shared lay on few dies, and the SSD has spread it".to_owned());
    }
    notes
}

/// What there is to say of a file besides its row.
pub(super) fn print_notes(row: &Row) {
    for note in row.done.iter().flat_map(notes) {
        remark!("dieaware: {}: {note}.", row.path);
    }
    if let Some(error) = &row.error {
        complain!("dieaware: {}: {error}.", row.path);
    }
    let why = row.done.as_ref().and_then(|done| done.why.as_ref());
    if let Some(why) = row.skipped.as_ref().or(why) {
        remark!("dieaware: {} was left alone: {why}.", row.path);
    }
}

/// What has become of files, for people or programs.
pub fn print(rows: &[Row], json: bool, out: &mut impl Write) -> Result<()> {
    if json {
        print_json(out, rows)?;
    } else {
        print_head(out)?;
        for row in rows {
            print_row(row, out)?;
        }
    }
    out.flush()?;
    rows.iter().for_each(print_notes);
    Ok(())
}

/// A file that is meant.
struct Meant {
    path: PathBuf,
    /// By itself, and not by its folder
    is_named: bool,
}

/// Read and write in that class.
pub(super) fn give_way(class: Option<IoClass>) -> Result<()> {
    match class {
        Some(class) => class
            .take()
            .context("The class of reads and writes cannot be set"),
        None => Ok(()),
    }
}

/// All files that are meant, and how much could not be looked at. A link that is named is followed, here
/// and never again; one that leads nowhere is told of when its turn comes.
fn files(args: &DefragArgs) -> (Vec<Meant>, usize) {
    let mut files = Vec::new();
    let mut nr_barred = 0;

    for path in &args.paths {
        if path.is_dir() {
            let found = common::files_below(path, &mut nr_barred);
            files.extend(found.into_iter().map(|path| Meant {
                path,
                is_named: false,
            }));
            continue;
        }
        let path = if path.is_symlink() {
            fs::canonicalize(path).unwrap_or_else(|_| path.clone())
        } else {
            path.clone()
        };
        files.push(Meant {
            path,
            is_named: true,
        });
    }
    (files, nr_barred)
}

/// What became of files, and why not all of them had their turn.
pub(super) type Outcome<T> = (Vec<Result<T, DefragError>>, Option<End>);

/// Work on one file after the other, of which each has so many pages to do.
pub(super) fn one_by_one<F, T>(
    files: &[F],
    limit: Limit,
    pages: impl Fn(&F) -> u64,
    mut work: impl FnMut(&F, &mut Unsynced, &mut Watch) -> Result<T, DefragError>,
) -> Result<Outcome<T>> {
    let progress = Progress::new()?;
    let mut unsynced = Unsynced::default();
    let mut results = Vec::new();
    let mut end = None;
    let mut before = 0;

    let all = files.iter().map(&pages).fold(0, u64::saturating_add);
    progress.begin("defragmenting", all);
    for file in files {
        let mut watch = |done| {
            limit.go_on()?;
            progress.at(u64::saturating_add(before, done))
        };
        match watch(0)
            .map_err(DefragError::from)
            .and_then(|()| work(file, &mut unsynced, &mut watch))
        {
            // What was done before is shown then, too.
            Err(DefragError::Interrupted(err)) => {
                end = Some(limit.end(err));
                break;
            }
            result => results.push(result),
        }
        before = u64::saturating_add(before, pages(file));
    }
    // What was done is shown also if it may not last.
    if let Err(err) = unsynced.sync() {
        end = Some(End::Unsynced(err));
    }
    Ok((results, end))
}

/// The exit status says whether all went well with files that had their turn, of which there are so many.
pub(super) fn verdict(end: Option<End>, failed: usize, had: usize, all: usize) -> Result<()> {
    match end {
        Some(End::Interrupted(err)) => return Err(err.into()),
        Some(End::Unsynced(err)) => {
            return Err(Error::new(err).context("What was moved could not be synced"));
        }
        Some(End::TimeIsOver) => {
            remark!(
                "dieaware: The time is over (--max-time): {had} of {all} files had their turn."
            );
        }
        None => {}
    }
    if failed != 0 {
        bail!("{failed} of {had} files were not defragmented");
    }
    Ok(())
}

/// A file that has more than may be moved yet is left alone, if it does not lie well anyway.
fn defrag_if_room(
    file: &Meant,
    wish: Wish,
    room: &mut Room,
    drives: &mut Drives,
    unsynced: &mut Unsynced,
    watch: &mut Watch,
) -> Result<Done, DefragError> {
    // What is not there is an error of its own.
    let metadata = fs::symlink_metadata(&file.path);
    let bytes = metadata.map_or(0, |metadata| {
        // Blocks that lead to the data are not moved.
        allocated_bytes(&metadata).min(metadata.len())
    });
    let refusal = room.refusal(bytes);
    let here = Wish {
        dry_run: wish.dry_run || refusal.is_some(),
        spares_programs: !file.is_named,
        ..wish
    };
    let mut done = match defrag(&file.path, &WHOLE, here, drives, unsynced, watch) {
        // It is not moved anyway.
        Err(err) if refusal.is_some() && err.is_of_room() => {
            Done::nothing(&look_at(&file.path, &WHOLE, drives)?, refusal.clone())
        }
        result => result?,
    };

    if done.method.is_some() {
        match refusal {
            Some(_) => {
                done.method = None;
                done.why = refusal;
            }
            None => room.take(bytes),
        }
    }
    Ok(done)
}

/// # Errors
///
/// When a file could not be defragmented, or on Ctrl-C.
pub fn run(args: &DefragArgs, out: &mut impl Write) -> Result<()> {
    let out = &mut args.saying.what_was_done(out, args.json || args.dry_run);
    if args.keep_dies && args.method != How::Share {
        bail!(UsageError("--keep-dies goes with --method share".into()));
    }
    give_way(args.ionice)?;
    let (files, nr_barred) = files(args);
    let mut drives = Drives::default();
    let wish = Wish {
        method: args.method.method(),
        threshold_permille: u64::from(args.threshold),
        least_gain_permille: u64::from(args.min_gain),
        unshares: args.unshare,
        spreads: !args.keep_dies,
        reads_ahead: args.fast,
        dry_run: args.dry_run,
        spares_programs: true,
        chosen: None,
    };
    let mut room = Room::of(args.max_bytes, "moved yet (--max-bytes)");
    // Files that cannot be looked at are reported when their turn comes.
    let pages = |file: &Meant| {
        let facts = fs::symlink_metadata(&file.path);
        facts.map_or(0, |facts| facts.len() / PAGE_BYTES)
    };
    let limit = Limit::of(args.max_time);
    let (results, end) = one_by_one(&files, limit, pages, |file, unsynced, watch| {
        defrag_if_room(file, wish, &mut room, &mut drives, unsynced, watch)
    })?;
    let rows: Vec<_> = files
        .iter()
        .zip(results)
        .map(|(file, result)| match file.is_named {
            true => Row::new(&file.path, result),
            false => Row::of_folder(&file.path, result),
        })
        .collect();
    print(&rows, args.json, out)?;
    let failed = rows.iter().filter(|row| row.has_failed()).count();
    verdict(end, failed, rows.len(), files.len())?;
    common::require_all(nr_barred)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::path::Path;

    use super::{one_by_one, verdict, DefragError, End, Limit, Row};
    use crate::fs::file::FileError;

    #[test]
    fn what_cannot_be_synced_is_an_error_behind_what_was_done() {
        let (results, end) = one_by_one(
            &[1, 2],
            Limit::of(None),
            |_| u64::MAX,
            |number, unsynced, watch| {
                // A pipe cannot be synced.
                let pipe = nix::unistd::pipe().map_err(std::io::Error::from)?.0;
                unsynced.add(File::from(pipe))?;
                watch(1)?;
                Ok(*number)
            },
        )
        .unwrap();
        assert_eq!(results.len(), 2);
        assert!(matches!(end, Some(End::Unsynced(_))));
        let err = verdict(end, 0, 2, 2).unwrap_err().to_string();
        assert_eq!(err, "What was moved could not be synced");
    }

    #[test]
    fn what_was_skipped_is_no_failure_unless_it_was_named() {
        let path = Path::new("/f");
        let row = Row::of_folder(path, Err(DefragError::InUse));
        assert!(!row.has_failed());
        assert_eq!(row.skipped.as_deref(), Some("somebody has it open"));
        assert!(Row::new(path, Err(DefragError::InUse)).has_failed());
        for err in [
            DefragError::Shorter,
            DefragError::Swap,
            DefragError::File(FileError::Runs),
            DefragError::File(FileError::Unchangeable),
            DefragError::File(FileError::Sealed),
            DefragError::File(FileError::NoKey),
            DefragError::Rights("file capabilities"),
            DefragError::Shared,
            DefragError::Snapshot,
            DefragError::PoolUnknown {
                pool: "/dev/mapper/pool".to_owned(),
                who: "nobody knows",
            },
        ] {
            assert!(!Row::of_folder(path, Err(err)).has_failed());
        }
        let full = DefragError::NoRoom {
            needed_kib: 2,
            free_kib: 1,
        };
        assert!(Row::of_folder(path, Err(full)).has_failed());
    }
}
