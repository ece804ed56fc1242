// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware defragd`: janusd. A daemon counts which files are read and keeps that in a file; once a week,
//! when systemd's timer says so, another process has the drive mend those that are read most: it brings
//! together what is in pieces (janusdL), and spreads what lies on few dies (janusdP).
//!
//! Only the daemon writes the counts, and one daemon only: another one would put its own in their place. A
//! pass reads them, as they were kept last, and is in no daemon's way; of passes, too, there is one at a
//! time. Of the clock the daemon needs
//! nothing: it halves the counts after a week of counting.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use clap::Args;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use super::budget::{allocated_bytes, End, Limit, Room};
use super::common::{print_json, Saying};
use super::defrag::{print_head, print_notes, print_row, verdict, Row};
use super::pick::Place;
use super::pick_watch::{hottest_below, PAUSE};
use crate::defrag::{defrag, DefragError, Done, Method, Unsynced, Wish, LEAST_GAIN_PERMILLE};
use crate::frag::look::{Drives, WHOLE};
use crate::io_engine::lock::{LockFile, WriteLock};
use crate::pick::counts::{default_file, Counts, FADE_SECONDS};
use crate::pick::event::Line;
use crate::pick::hotness::Hotness;
use crate::pick::trace::{Trace, Who};
use crate::progress::{Interrupted, Progress};
use crate::units::{parse_bytes, parse_permille};

/// Where passes have their locks.
const LOCKS: &str = "/run";

const FADE_PERIOD: Duration = Duration::from_secs(FADE_SECONDS);

/// Count which files are read, and mend those that are read most (janusd)
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dieaware defragd --once /mnt/data\n\n\
    Sizes are in bytes, or end in K, M, G or T.")]
pub struct DefragdArgs {
    /// A folder, of which all files on the same filesystem count
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Do not count, but mend the files that are read most as far as was counted, and end
    #[arg(long)]
    once: bool,
    /// The file of counts, if it is not below /var/lib/dieaware/defragd
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Seconds between two times to keep the counts
    #[arg(long, value_name = "N", default_value_t = 3600, conflicts_with = "once",
          value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// With --once: so many files
    #[arg(long, value_name = "N", default_value_t = 50, requires = "once")]
    files: usize,
    /// With --once: the SSD copies no more than that
    #[arg(long, alias = "most", value_name = "SIZE", value_parser = parse_bytes, default_value = "1G", requires = "once")]
    max_bytes: u64,
    /// With --once: end after so many seconds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), requires = "once")]
    max_time: Option<u32>,
    /// With --once: leave files in pieces of whose requests fewer are there only because of that
    #[arg(long, value_name = "PERCENT", value_parser = parse_permille, default_value = "25", requires = "once")]
    pieces: u32,
    /// With --once: leave files on their dies whose DoF_P is below this
    #[arg(long, value_name = "PERCENT", value_parser = parse_permille, default_value = "50", requires = "once")]
    threshold: u32,
    /// With --once: say what would be done, and do nothing
    #[arg(long, requires = "once")]
    dry_run: bool,
    /// With --once: print JSON for programs
    #[arg(long, requires = "once")]
    json: bool,
    #[command(flatten)]
    saying: Saying,
}

impl DefragdArgs {
    /// One pass ends, with an exit status that says what became of files.
    #[must_use]
    pub fn has_verdict(&self) -> bool {
        self.once
    }
}

/// # Errors
///
/// When reads cannot be traced, counts cannot be kept or read, or files were not mended.
pub fn run(args: &DefragdArgs, out: &mut impl Write) -> Result<()> {
    let out = &mut args.saying.what_was_done(out, args.json || args.dry_run);
    let place = Place::of(&args.folder)?;
    let file = match &args.state {
        Some(file) => file.clone(),
        None => default_file(&place.path),
    };

    if args.once {
        mend_hottest(args, &place.path, &file, out)
    } else {
        count(args, &place, &file)
    }
}

/// Count until somebody wants an end.
fn count(args: &DefragdArgs, place: &Place, file: &Path) -> Result<()> {
    let progress = Progress::new()?;
    let lock = lock(file)?;
    let watched = place.watched()?;
    let mut trace = Trace::begin(&watched, Who::Everybody).context("Reads cannot be traced")?;
    let mut counting = Counting::begin(file, &place.path, lock)?;
    let period = Duration::from_secs(args.every.into());
    let mut kept = Instant::now();

    while progress.go_on().is_ok() {
        trace.drain(&mut |line| counting.see(line))?;
        if kept.elapsed() >= period {
            // A disk that is full may have room later.
            if let Err(err) = counting.keep() {
                complain!("dieaware: {err:#}.");
            }
            kept = Instant::now();
        }
        sleep(PAUSE);
    }
    // What came since the last time counts as well.
    trace.end()?;
    trace.drain_all(&mut |line| counting.see(line))?;
    counting.keep()
}

/// As long as that is there, no other daemon counts in the same file.
fn lock(file: &Path) -> Result<WriteLock> {
    let name = file.display();

    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let lock = WriteLock::take(file).with_context(|| format!("{name} cannot be locked"))?;
    lock.with_context(|| format!("{name} cannot be used: another process counts in it"))
}

/// What is counted, and where it is kept.
struct Counting<'a> {
    file: &'a Path,
    folder: &'a Path,
    hotness: Hotness,
    /// For so long, since all counts were halved
    counted: Duration,
    /// When that was true
    since: Instant,
    lock: WriteLock,
}

impl<'a> Counting<'a> {
    /// Go on with what there is. It is kept at once: whether it can be is better known now than in an
    /// hour. The lock is from before the file is read: what another daemon has kept last is not lost.
    fn begin(file: &'a Path, folder: &'a Path, lock: WriteLock) -> Result<Self> {
        let mut counting = Self {
            file,
            folder,
            hotness: Hotness::default(),
            counted: Duration::ZERO,
            since: Instant::now(),
            lock,
        };

        match Counts::load(file, folder) {
            Ok(None) => {}
            Ok(Some(counts)) => {
                counting.hotness = counts.hotness();
                counting.counted = Duration::from_secs(counts.seconds());
            }
            Err(err) if err.is_damage() => {
                let name = file.display();
                complain!("dieaware: {name} is not used, and counting begins anew: {err}.");
            }
            Err(err) => return Err(cannot_be_used(file, err)),
        }
        counting.keep()?;
        Ok(counting)
    }

    fn see(&mut self, line: Line) {
        match line {
            Line::Access(_, access) if !access.is_write => self.hotness.read(access.inode),
            _ => {}
        }
    }

    fn keep(&mut self) -> Result<()> {
        let now = Instant::now();
        let elapsed = now.saturating_duration_since(self.since);

        self.counted = fade(&mut self.hotness, self.counted + elapsed);
        self.since = now;
        Counts::new(self.folder, self.counted.as_secs(), &self.hotness)
            .save(&self.lock)
            .with_context(|| format!("{} cannot be written", self.file.display()))
    }
}

/// Halve all counts, if it is time to: they were halved so long ago. Returns how long that is then.
fn fade(hotness: &mut Hotness, mut counted: Duration) -> Duration {
    while counted >= FADE_PERIOD {
        hotness.fade();
        counted -= FADE_PERIOD;
    }
    counted
}

fn cannot_be_used(file: &Path, err: impl Into<anyhow::Error>) -> anyhow::Error {
    err.into()
        .context(format!("{} cannot be used", file.display()))
}

/// What keeps other passes out.
#[derive(Debug)]
enum Alone {
    ByFile { _lock: LockFile },
    ByFolder { _lock: Flock<File> },
}

/// As long as that is there, no other pass mends files below a folder: both would move the same ones, and
/// each would take the other's way for somebody who writes. Whoever may read the folder could lock that, and
/// keep root's passes out for ever: only who may not write in `locks`, as who is not root, locks the folder.
fn alone_below(folder: &Path, locks: &Path) -> Result<Alone> {
    let name = folder.display();
    let there = fs::metadata(folder).with_context(|| name.to_string())?;
    let path = locks.join(format!("dieaware-defragd-{}-{}", there.dev(), there.ino()));
    let taken = match LockFile::take(&path) {
        Err(err)
            if [ErrorKind::PermissionDenied, ErrorKind::ReadOnlyFilesystem]
                .contains(&err.kind()) =>
        {
            lock_folder(folder).with_context(|| format!("{name} cannot be locked"))?
        }
        taken => taken
            .with_context(|| format!("{} cannot be locked", path.display()))?
            .map(|lock| Alone::ByFile { _lock: lock }),
    };

    taken.with_context(|| format!("another pass mends files below {name}"))
}

/// `None`: another process has locked it.
fn lock_folder(folder: &Path) -> io::Result<Option<Alone>> {
    match Flock::lock(File::open(folder)?, FlockArg::LockExclusiveNonblock) {
        Ok(lock) => Ok(Some(Alone::ByFolder { _lock: lock })),
        Err((_, Errno::EWOULDBLOCK)) => Ok(None),
        Err((_, err)) => Err(err.into()),
    }
}

/// Mend the files that are read most, as far as was counted.
fn mend_hottest(
    args: &DefragdArgs,
    folder: &Path,
    file: &Path,
    out: &mut impl Write,
) -> Result<()> {
    let progress = Progress::new()?;
    let _alone = alone_below(folder, Path::new(LOCKS))?;
    let counts = Counts::load(file, folder).map_err(|err| cannot_be_used(file, err))?;
    let Some(counts) = counts else {
        let (name, folder) = (file.display(), folder.display());
        bail!("{name} is not there: nobody has counted what is read below {folder}");
    };
    let mut pass = Pass::new(args, &progress);

    if !args.json {
        print_head(out)?;
        out.flush()?;
    }
    let files = hottest_below(folder, &counts.hotness(), args.files)?;
    let result = pass.mend_all(&files, out);
    // What was done before is shown then, too.
    if args.json {
        print_json(out, &pass.rows)?;
        out.flush()?;
    }
    pass.unsynced
        .sync()
        .context("What was moved could not be synced")?;
    let end = result?;
    pass.verdict(folder, end, files.len())
}

/// One pass over files.
struct Pass<'a> {
    args: &'a DefragdArgs,
    progress: &'a Progress,
    drives: Drives,
    unsynced: Unsynced,
    /// So much may the SSD copy yet
    room: Room,
    /// It was said that files cannot be brought together
    no_sharer: bool,
    /// Why files cannot be spread, as far as that was said. It may hold for some of them only.
    unspread: BTreeSet<String>,
    limit: Limit,
    /// What was told, for JSON
    rows: Vec<Row>,
    nr_files: usize,
    nr_mended: usize,
    nr_failed: usize,
}

impl<'a> Pass<'a> {
    fn new(args: &'a DefragdArgs, progress: &'a Progress) -> Self {
        Self {
            args,
            progress,
            drives: Drives::default(),
            unsynced: Unsynced::default(),
            room: Room::of(Some(args.max_bytes), "copied yet (--max-bytes)"),
            no_sharer: false,
            unspread: BTreeSet::new(),
            limit: Limit::of(args.max_time),
            rows: Vec::new(),
            nr_files: 0,
            nr_mended: 0,
            nr_failed: 0,
        }
    }

    /// One file after the other, until the time is over.
    fn mend_all(&mut self, files: &[PathBuf], out: &mut impl Write) -> Result<Option<End>> {
        for path in files {
            match self.mend(path, out).map_err(|err| err.downcast()) {
                Ok(()) => {}
                Err(Ok(err)) => return self.ended_by(err).map(Some),
                Err(Err(err)) => return Err(err),
            }
        }
        Ok(None)
    }

    /// An end that somebody wants now is an error; that of the time is none.
    fn ended_by(&self, err: Interrupted) -> Result<End> {
        match self.limit.end(err) {
            End::Interrupted(err) => Err(err.into()),
            end => Ok(end),
        }
    }

    /// Both halves, one after the other: neither is a reason against the other one.
    fn mend(&mut self, path: &Path, out: &mut impl Write) -> Result<()> {
        // Files come and go.
        let Ok(metadata) = fs::metadata(path) else {
            return Ok(());
        };
        let failed_before = self.nr_failed;

        self.bring_together(path, out)?;
        self.spread(path, allocated_bytes(&metadata), out)?;
        self.nr_files += 1;
        self.nr_failed = self.nr_failed.min(failed_before + 1);
        Ok(())
    }

    /// janusdL: the drive writes nothing, so it does not matter how large the file is.
    fn bring_together(&mut self, path: &Path, out: &mut impl Write) -> Result<()> {
        if self.no_sharer {
            return Ok(());
        }
        match self.defrag(path, Method::Share, self.args.pieces, false) {
            Err(err @ (DefragError::NotShared(_) | DefragError::NoReflink)) => {
                complain!("dieaware: No file is brought together: {err}.");
                self.no_sharer = true;
                Ok(())
            }
            result => self.tell(path, result, out),
        }
    }

    /// janusdP: the drive copies the file, which has so many bytes.
    fn spread(&mut self, path: &Path, bytes: u64, out: &mut impl Write) -> Result<()> {
        let refusal = self.room.refusal(bytes);

        match self.defrag(path, Method::Ssd, self.args.threshold, refusal.is_some()) {
            Err(
                err @ (DefragError::NoSpreader(_)
                | DefragError::NotNow(_)
                | DefragError::NotOnSsd(_)),
            ) => {
                self.say_unspread(path, err.to_string());
                Ok(())
            }
            Ok(done) => {
                if done.method.is_some() {
                    if let Some(why) = refusal {
                        remark!("dieaware: {} is not spread: {why}.", path.display());
                        return Ok(());
                    }
                    self.room.take(bytes);
                }
                self.tell(path, Ok(done), out)
            }
            result => self.tell(path, result, out),
        }
    }

    /// Once for all files for which it is the same.
    fn say_unspread(&mut self, path: &Path, why: String) {
        if !self.unspread.contains(&why) {
            remark!("dieaware: {} is not spread: {why}.", path.display());
            self.unspread.insert(why);
        }
    }

    fn defrag(
        &mut self,
        path: &Path,
        method: Method,
        permille: u32,
        dry_run: bool,
    ) -> Result<Done, DefragError> {
        let wish = Wish {
            method: Some(method),
            threshold_permille: u64::from(permille),
            least_gain_permille: u64::from(LEAST_GAIN_PERMILLE),
            // Sharing would take room of its own; the SSD spreads pages, whoever they belong to.
            unshares: false,
            // That has a threshold and a limit of its own.
            spreads: false,
            // Others are at work.
            reads_ahead: false,
            dry_run: dry_run || self.args.dry_run,
            spares_programs: true,
            chosen: None,
        };
        let (progress, limit) = (self.progress, self.limit);
        let go_on = || {
            limit.go_on()?;
            progress.go_on()
        };

        go_on()?;
        let (drives, unsynced) = (&mut self.drives, &mut self.unsynced);
        defrag(path, &WHOLE, wish, drives, unsynced, &mut |_| go_on())
    }

    /// A row of what was done; what was not is told if there is a reason.
    fn tell(
        &mut self,
        path: &Path,
        result: Result<Done, DefragError>,
        out: &mut impl Write,
    ) -> Result<()> {
        if let Err(DefragError::Interrupted(err)) = result {
            return Err(err.into());
        }
        let is_done = result.as_ref().is_ok_and(|done| done.method.is_some());
        let row = Row::of_folder(path, result);

        if is_done {
            self.nr_mended += 1;
            if !self.args.json {
                print_row(&row, out)?;
                out.flush()?;
            }
        }
        print_notes(&row);
        self.nr_failed += usize::from(row.has_failed());
        if self.args.json {
            self.rows.push(row);
        }
        Ok(())
    }

    fn verdict(&self, folder: &Path, end: Option<End>, nr_all: usize) -> Result<()> {
        if self.no_sharer && !self.unspread.is_empty() && self.nr_mended == 0 {
            bail!("No file below {} can be mended", folder.display());
        }
        verdict(end, self.nr_failed, self.nr_files, nr_all)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::symlink;
    use std::path::Path;
    use std::time::Duration;

    use anyhow::Result;
    use nix::fcntl::{Flock, FlockArg};

    use super::{alone_below, fade, lock, Alone, Counting, FADE_PERIOD};
    use crate::pick::counts::Counts;
    use crate::pick::hotness::Hotness;

    /// Begin to count, as the daemon does.
    fn begin<'a>(file: &'a Path, folder: &'a Path) -> Result<Counting<'a>> {
        Counting::begin(file, folder, lock(file)?)
    }

    #[test]
    fn one_pass_at_a_time_mends_a_folder_whoever_else_has_it_open() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, link, locks) = (
            dir.path().join("folder"),
            dir.path().join("link"),
            dir.path().join("locks"),
        );
        fs::create_dir(&folder).unwrap();
        fs::create_dir(&locks).unwrap();
        symlink(&folder, &link).unwrap();
        // For that it takes no right but to read it.
        let opened = File::open(&folder).unwrap();
        let _somebody = Flock::lock(opened, FlockArg::LockExclusiveNonblock).unwrap();
        let pass = alone_below(&folder, &locks).unwrap();
        assert!(matches!(pass, Alone::ByFile { .. }));
        alone_below(&link, &locks).unwrap_err();
        alone_below(dir.path(), &locks).unwrap();
        drop(pass);
        alone_below(&link, &locks).unwrap();
    }

    #[test]
    fn who_may_not_write_where_locks_are_locks_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        let folder = dir.path().join("folder");
        fs::create_dir(&folder).unwrap();
        symlink(&folder, &link).unwrap();
        // Nobody makes files there, root neither.
        let locks = Path::new("/sys");
        let pass = alone_below(&folder, locks).unwrap();
        assert!(matches!(pass, Alone::ByFolder { .. }));
        let err = alone_below(&link, locks).unwrap_err().to_string();
        assert!(err.starts_with("another pass mends files below"), "{err}");
        alone_below(dir.path(), locks).unwrap();
        drop(pass);
        alone_below(&link, locks).unwrap();
        // What nobody can lock is told.
        alone_below(&folder, &dir.path().join("none")).unwrap_err();
    }

    #[test]
    fn a_week_of_counting_halves_counts() {
        let mut hotness = Hotness::from_counts(&[(7, 8), (9, 3)]);
        let just_before = FADE_PERIOD - Duration::from_secs(1);
        assert_eq!(fade(&mut hotness, just_before), just_before);
        assert_eq!(hotness.counts(9), [(7, 8), (9, 3)]);
        assert_eq!(fade(&mut hotness, FADE_PERIOD), Duration::ZERO);
        assert_eq!(hotness.counts(9), [(7, 4), (9, 1)]);
        let two = 2 * FADE_PERIOD + Duration::from_secs(5);
        assert_eq!(fade(&mut hotness, two), Duration::from_secs(5));
        assert_eq!(hotness.counts(9), [(7, 1)]);
    }

    #[test]
    fn counting_goes_on_where_it_ended() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("new/counts");
        let folder = Path::new("/mnt");
        let mut counting = begin(&file, folder).unwrap();
        assert!(Counts::load(&file, folder).unwrap().is_some());
        counting.hotness.read(7);
        counting.counted = Duration::from_secs(100);
        counting.keep().unwrap();
        drop(counting);

        let mut counting = begin(&file, folder).unwrap();
        assert!((100..200).contains(&counting.counted.as_secs()));
        counting.hotness.read(7);
        counting.counted = FADE_PERIOD;
        counting.keep().unwrap();
        let counts = Counts::load(&file, folder).unwrap().unwrap();
        assert_eq!(counts.hotness().counts(9), [(7, 1)]);
        assert!(counts.seconds() < 100);
    }

    #[test]
    fn one_daemon_counts_and_whoever_mends_reads_what_it_keeps() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("counts");
        let folder = Path::new("/mnt");
        let mut counting = begin(&file, folder).unwrap();
        let err = begin(&file, folder).err().unwrap();
        assert!(format!("{err:#}").ends_with("cannot be used: another process counts in it"));
        // Nor when the file has been replaced
        counting.hotness.read(7);
        counting.keep().unwrap();
        assert!(begin(&file, folder).is_err());
        let kept = || Counts::load(&file, folder).unwrap().unwrap();
        assert_eq!(kept().hotness().counts(9), [(7, 1)]);
        drop(counting);
        let counting = begin(&file, folder).unwrap();
        assert_eq!(counting.hotness.counts(9), [(7, 1)]);
    }

    #[test]
    fn what_is_damaged_is_counted_anew_and_what_is_not_ours_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Path::new("/mnt");
        let damaged = dir.path().join("damaged");
        fs::write(
            &damaged,
            "{\"kind\":\"dieaware-defragd\",\"version\":1,\"fol",
        )
        .unwrap();
        let counting = begin(&damaged, folder).unwrap();
        assert!(counting.hotness.counts(9).is_empty());
        assert!(Counts::load(&damaged, folder).unwrap().is_some());
        drop(counting);

        let theirs = dir.path().join("theirs");
        fs::write(&theirs, "text").unwrap();
        let err = begin(&theirs, folder).err().unwrap();
        assert!(format!("{err:#}").ends_with("it is no file of \"dieaware defragd\""));
        assert_eq!(fs::read_to_string(&theirs).unwrap(), "text");
        let err = begin(&damaged, Path::new("/srv")).err().unwrap();
        assert!(format!("{err:#}").ends_with("it is of the folder /mnt"));
    }
}
