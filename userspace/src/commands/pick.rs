// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware pick`: FragPicker, which moves only those parts of files that applications read,
//! because all that is moved wears the SSD.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::{value_parser, Args, Subcommand};
use nix::sys::signal::{kill, Signal};
use nix::unistd::Pid;
use serde::Serialize;

use super::budget::{IoClass, Limit, Room};
use super::common::{print_json, require_writable, usage, Saying, Written};
use super::defrag::{dof, give_way, one_by_one, pieces, verdict, word, How};
use super::pick_watch::{self, WatchArgs};
use crate::complain::shown;
use crate::defrag::{DefragError, Wish};
use crate::device::stack::{self, Base};
use crate::frag::look::Drives;
use crate::fs::btrfs;
use crate::fs::file::{mount_of, open_place, FileError};
use crate::fs::folder;
use crate::fs::holes::next_data;
use crate::fs::mounts::Mount;
use crate::pick::analysis::{Analysis, HotFile, HotRange};
use crate::pick::event::Line;
use crate::pick::imitate::{merge, whole, Counts, Recorder, MOST_RANGES};
use crate::pick::layout::Layout;
use crate::pick::migrate::{migrate, Budget, Picked};
use crate::pick::trace::{Trace, Watched, Who};
use crate::progress::Progress;
use crate::units::{parse_bytes, parse_permille, PAGE_BYTES};

/// Between two looks at what has been traced.
const PAUSE: Duration = Duration::from_millis(50);

/// So long has a command to end that is told to.
const GRACE: Duration = Duration::from_secs(5);

/// The kernel's, where the device does not say.
const READ_AHEAD_BYTES: u64 = 128 << 10;

/// Move those parts of files that applications read, and no others (FragPicker)
#[derive(Args, Debug)]
pub struct PickArgs {
    #[command(subcommand)]
    verb: PickVerb,
}

#[derive(Subcommand, Debug)]
enum PickVerb {
    Analyze(AnalyzeArgs),
    Migrate(MigrateArgs),
    Watch(WatchArgs),
}

/// Find out which parts of files are read, by watching applications
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  dieaware pick analyze --out hot.json --path /mnt/data -- grep -r word /mnt/data\n\n\
    Without COMMAND and --seconds, Ctrl-C ends it. Sizes are in bytes, or end in K, M, G or T."
)]
struct AnalyzeArgs {
    /// Write what is found there, for "pick migrate"
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Of files below this folder only, on its filesystem, or of this file; the current folder
    #[arg(long, value_name = "PATH", default_value = ".")]
    path: PathBuf,
    /// Watch all applications for so long
    #[arg(long, value_name = "N", conflicts_with_all = ["command", "bypass"])]
    seconds: Option<u32>,
    /// Keep only the hottest ranges, so many of all
    #[arg(long, value_name = "PERCENT", value_parser = parse_permille, default_value = "100")]
    hot: u32,
    /// What is written counts as well
    #[arg(long)]
    writes: bool,
    /// How far the kernel reads ahead; what the device says
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    read_ahead: Option<u64>,
    /// Watch nobody: take all files as read from their beginning to their end
    #[arg(long, conflicts_with_all = ["command", "writes"])]
    bypass: bool,
    /// Watch this command and what it starts, until it ends
    #[arg(value_name = "COMMAND", last = true)]
    command: Vec<String>,
    #[command(flatten)]
    saying: Saying,
}

/// Bring the parts of files that "pick analyze" has found to better places
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dieaware pick migrate --dry-run hot.json")]
struct MigrateArgs {
    /// What "pick analyze" has written
    #[arg(value_name = "FILE")]
    analysis: PathBuf,
    /// How the pages come to new places
    #[arg(long, value_enum, default_value_t = How::Auto)]
    method: How,
    /// Leave ranges in one piece alone whose DoF_P is below this, or not known
    #[arg(long, value_name = "PERCENT", value_parser = parse_permille, default_value = "25")]
    threshold: u32,
    /// Move only what then has so many requests less that are there because of pieces
    #[arg(long, value_name = "PERCENT", value_parser = parse_permille, default_value = "10")]
    min_gain: u32,
    /// Of a range in pieces leave those where they are that have that size, and move the rest
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    target_size: Option<u64>,
    /// Also move what is shared with other files or snapshots, which takes space of its own then
    #[arg(long)]
    unshare: bool,
    /// Only the hottest ranges, so many of all in FILE
    #[arg(long, value_name = "PERCENT", value_parser = parse_permille, default_value = "100")]
    hot: u32,
    /// Move no more than that: of a file all its ranges that lie badly, or none
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

impl PickArgs {
    /// Everything but `watch` ends, with an exit status that says what became of files.
    #[must_use]
    pub fn has_verdict(&self) -> bool {
        !matches!(self.verb, PickVerb::Watch(_))
    }
}

/// # Errors
///
/// When something cannot be traced, read or written, or on Ctrl-C.
pub fn run(args: &PickArgs, out: &mut impl Write) -> Result<()> {
    match &args.verb {
        PickVerb::Analyze(args) => analyze(args, out),
        PickVerb::Migrate(args) => migrate_all(args, out),
        PickVerb::Watch(args) => pick_watch::run(args, out),
    }
}

/// What was counted, by inode number.
struct Counted {
    files: HashMap<u64, Counts>,
    nr_accesses: u64,
    nr_lost: u64,
}

/// A folder or file without dots and links, and its filesystem.
pub(super) struct Place {
    pub path: PathBuf,
    pub mount: Mount,
}

impl Place {
    pub fn of(path: &Path) -> Result<Self> {
        let path = fs::canonicalize(path)
            .with_context(|| format!("{} cannot be looked at", path.display()))?;
        let mount = open_place(&path)
            .and_then(|file| mount_of(&file))
            .with_context(|| path.display().to_string())?;
        Ok(Self { path, mount })
    }

    /// What is to be traced.
    pub fn watched(&self) -> Result<Watched> {
        Ok(Watched {
            mount: self.mount.clone(),
            folder: stack::device_of(&fs::metadata(&self.path)?),
            layout: Layout::read(&self.mount.fs_type)?,
        })
    }

    /// What the kernel reads ahead there, as far as that is known.
    fn read_ahead(&self) -> Option<u64> {
        let text = if self.mount.fs_type == btrfs::FS_TYPE {
            let folder = btrfs::backing_info(&File::open(&self.path).ok()?).ok()?;
            fs::read_to_string(folder.join("read_ahead_kb")).ok()?
        } else {
            Base::of(self.mount.device)
                .ok()?
                .queue("read_ahead_kb")
                .ok()?
        };
        text.trim().parse::<u64>().ok()?.checked_mul(1024)
    }
}

fn analyze(args: &AnalyzeArgs, out: &mut impl Write) -> Result<()> {
    let out = &mut args.saying.what_was_done(out, false);
    require_share(args.hot)?;
    let place = Place::of(&args.path)?;
    let path = &place.path;
    let read_ahead = args.read_ahead.or_else(|| place.read_ahead());
    let read_ahead = read_ahead.unwrap_or(READ_AHEAD_BYTES);
    // Files that cannot be looked at are not worth the end of it all.
    let mut failed = |path: &Path, err| {
        complain!("dieaware: {}: {err}.", path.display());
        Ok(())
    };

    // Not after hours in which somebody was watched.
    require_writable(&args.out, Written::Analysis)?;
    if args.bypass {
        return finish(args, bypass(path, read_ahead, &mut failed)?, out);
    }
    let mut counted = watch(args, &place, read_ahead)?;
    let nr_inodes = counted.files.len();
    let mut files = Vec::new();
    each_named_file(path, &mut failed, &mut |path, inode, _| {
        // The first of its names
        if let Some(counts) = counted.files.remove(&inode) {
            files.push(hot_file(path, inode, &counts));
        }
    })?;
    writeln!(
        out,
        "{} accesses to {nr_inodes} files of the filesystem, {} of them below {}",
        counted.nr_accesses,
        files.len(),
        shown(&path.to_string_lossy())
    )?;
    if counted.nr_lost != 0 {
        complain!(
            "dieaware: {} accesses came too fast and were not counted.",
            counted.nr_lost
        );
    }
    finish(args, Analysis::new(files), out)
}

fn unwritten(args: &AnalyzeArgs) -> String {
    format!("{} cannot be written", args.out.display())
}

/// All files as they are read from their beginning to their end. What there is no memory for is left
/// out.
fn bypass(path: &Path, read_ahead: u64, failed: &mut folder::Failed) -> Result<Analysis> {
    let mut all = Vec::new();
    let mut files = Vec::new();
    let mut left = MOST_RANGES;
    let mut nr_cut: u64 = 0;

    each_named_file(path, failed, &mut |path, inode, bytes| {
        all.push((path, inode, bytes));
    })?;
    for (path, inode, bytes) in all {
        let windows = open_place(&path).and_then(|file| {
            let next = |from| next_data(&file, from);
            Ok(whole(bytes, read_ahead, left, next)?)
        });
        match windows {
            Ok((counts, is_all)) => {
                nr_cut += u64::from(!is_all);
                left -= counts.len();
                files.push(hot_file(path, inode, &counts));
            }
            Err(FileError::Read(err)) if err.kind() == ErrorKind::NotFound => {}
            Err(err) => complain!("dieaware: {}: {err}.", path.display()),
        }
    }
    if nr_cut != 0 {
        complain!(
            "dieaware: {nr_cut} files are left out, or their ends: no more than {MOST_RANGES} \
             ranges are remembered; a larger --read-ahead makes fewer of them."
        );
    }
    Ok(Analysis::new(files))
}

fn require_share(permille: u32) -> Result<()> {
    if permille > 1000 {
        return Err(usage("There is no more than 100 percent"));
    }
    Ok(())
}

fn hot_file(path: PathBuf, inode: u64, counts: &Counts) -> HotFile {
    HotFile {
        path,
        inode,
        ranges: merge(counts).iter().map(HotRange::of).collect(),
    }
}

/// Show all files below a folder, or the one file: path, inode number and size.
pub(super) fn each_file(
    path: &Path,
    failed: &mut folder::Failed,
    seen: &mut dyn FnMut(PathBuf, u64, u64),
) -> Result<()> {
    if !path.is_dir() {
        let metadata = fs::metadata(path)?;
        seen(path.to_owned(), metadata.ino(), metadata.len());
        return Ok(());
    }
    let mut take = |path: PathBuf, metadata: &fs::Metadata| {
        if metadata.is_file() {
            seen(path, metadata.ino(), metadata.len());
        }
        ControlFlow::Continue(())
    };
    folder::visit(path, &mut take, failed)?;
    Ok(())
}

/// The same of those that JSON can name.
fn each_named_file(
    path: &Path,
    failed: &mut folder::Failed,
    seen: &mut dyn FnMut(PathBuf, u64, u64),
) -> Result<()> {
    each_file(path, failed, &mut |path, inode, bytes| {
        if path.to_str().is_some() {
            seen(path, inode, bytes);
        } else {
            complain!(
                "dieaware: {} is left out: its name is no UTF-8.",
                path.display()
            );
        }
    })
}

/// Count accesses until it is time to end.
fn watch(args: &AnalyzeArgs, place: &Place, read_ahead: u64) -> Result<Counted> {
    let progress = Progress::new()?;
    let watched = place.watched()?;
    let who = if args.command.is_empty() {
        Who::Everybody
    } else {
        Who::Children
    };
    let mut trace = Trace::begin(&watched, who).context("Accesses cannot be traced")?;
    let mut recorder = Recorder::new(read_ahead);
    let mut nr_accesses = 0;
    let mut nr_lost = 0;
    let mut seen = |line| match line {
        Line::Access(_, access) if !access.is_write || args.writes => {
            nr_accesses += 1;
            recorder.add(&access);
        }
        Line::Lost(nr) => nr_lost += nr,
        _ => {}
    };
    let mut until = Until::begin(args)?;

    if args.command.is_empty() {
        remark!("dieaware: watching {}.", place.mount.fs_type);
    }
    while !until.has_come(&progress)? {
        trace.drain(&mut seen)?;
        sleep(PAUSE);
    }
    trace.end()?;
    trace.drain_all(&mut seen)?;
    Ok(Counted {
        nr_accesses,
        nr_lost: nr_lost + recorder.nr_dropped,
        files: recorder.into_files(),
    })
}

/// A command that is not left behind, however we end.
struct Started {
    name: String,
    child: Child,
}

impl Drop for Started {
    fn drop(&mut self) {
        // There is nobody left to tell if it is not there any more.
        let _ = end_child(&mut self.child, GRACE);
    }
}

/// When to end.
enum Until {
    Command(Started),
    Time(Instant),
    Signal,
}

impl Until {
    fn begin(args: &AnalyzeArgs) -> Result<Self> {
        if let Some((name, rest)) = args.command.split_first() {
            let child = Command::new(name)
                .args(rest)
                .spawn()
                .with_context(|| format!("{name} cannot be started"))?;
            return Ok(Self::Command(Started {
                name: name.clone(),
                child,
            }));
        }
        Ok(match args.seconds {
            Some(seconds) => Self::Time(Instant::now() + Duration::from_secs(seconds.into())),
            None => Self::Signal,
        })
    }

    fn has_come(&mut self, progress: &Progress) -> Result<bool> {
        let stopped = progress.go_on();

        match self {
            Self::Signal => Ok(stopped.is_err()),
            Self::Time(end) => {
                stopped?;
                Ok(Instant::now() >= *end)
            }
            Self::Command(started) => {
                // Who drops it ends the command.
                stopped?;
                let Some(status) = started.child.try_wait()? else {
                    return Ok(false);
                };
                report(&started.name, status);
                Ok(true)
            }
        }
    }
}

/// Ctrl-C on a terminal has told it, too; a signal to us alone has not. One that does not listen is killed.
fn end_child(child: &mut Child, grace: Duration) -> io::Result<()> {
    if child.try_wait()?.is_some() {
        return Ok(());
    }
    let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
    let until = Instant::now() + grace;

    kill(Pid::from_raw(pid), Signal::SIGTERM)?;
    while child.try_wait()?.is_none() {
        if Instant::now() >= until {
            child.kill()?;
            child.wait()?;
            break;
        }
        sleep(PAUSE);
    }
    Ok(())
}

fn report(name: &str, status: ExitStatus) {
    if !status.success() {
        complain!("dieaware: {name} ended with {status}; what it read counts.");
    }
}

/// Keep what is hot, write it, and say what there is.
fn finish(args: &AnalyzeArgs, mut analysis: Analysis, out: &mut impl Write) -> Result<()> {
    analysis.keep_hottest(args.hot);
    analysis.save(&args.out).with_context(|| unwritten(args))?;
    writeln!(out, "{:>9}  {:>7}  {:>10}  file", "count", "ranges", "KiB")?;
    for file in &analysis.files {
        let count: u64 = file.ranges.iter().map(|range| range.count).sum();
        let bytes: u64 = file.ranges.iter().map(|range| range.bytes).sum();
        writeln!(
            out,
            "{count:>9}  {:>7}  {:>10}  {}",
            file.ranges.len(),
            bytes / 1024,
            shown(&file.path.to_string_lossy())
        )?;
    }
    Ok(())
}

/// A file and what became of it.
#[derive(Serialize)]
struct Row {
    path: PathBuf,
    #[serde(flatten)]
    picked: Option<Picked>,
    /// Why nothing, or no more, could be done.
    error: Option<String>,
}

impl Row {
    fn new(path: &Path, result: Result<Picked, DefragError>) -> Self {
        let failed = match &result {
            Ok(picked) => picked.failed.as_ref(),
            Err(err) => Some(err),
        };
        Self {
            path: path.to_owned(),
            error: failed.map(ToString::to_string),
            picked: result.ok(),
        }
    }

    /// An end that somebody wants is no failure.
    fn has_failed(&self) -> bool {
        let picked = self.picked.as_ref();
        self.error.is_some() && picked.and_then(Picked::interrupted).is_none()
    }
}

impl Budget for Room {
    fn refusal(&self, bytes: u64) -> Option<String> {
        self.refusal(bytes)
    }

    fn take(&mut self, bytes: u64) {
        self.take(bytes);
    }
}

fn migrate_all(args: &MigrateArgs, out: &mut impl Write) -> Result<()> {
    let out = &mut args.saying.what_was_done(out, args.json || args.dry_run);
    require_share(args.hot)?;
    let mut analysis = Analysis::load(&args.analysis)
        .with_context(|| format!("{} cannot be used", args.analysis.display()))?;
    analysis.keep_hottest(args.hot);
    give_way(args.ionice)?;
    let mut drives = Drives::default();
    let wish = Wish {
        method: args.method.method(),
        threshold_permille: u64::from(args.threshold),
        least_gain_permille: u64::from(args.min_gain),
        unshares: args.unshare,
        spreads: true,
        reads_ahead: args.fast,
        dry_run: args.dry_run,
        spares_programs: true,
        chosen: None,
    };
    let large_pages = args
        .target_size
        .map_or(u64::MAX, |bytes| bytes.div_ceil(PAGE_BYTES));
    let pages = |file: &HotFile| {
        file.ranges
            .iter()
            .map(|range| range.bytes / PAGE_BYTES)
            .fold(0, u64::saturating_add)
    };
    let mut room = Room::of(args.max_bytes, "moved yet (--max-bytes)");
    let limit = Limit::of(args.max_time);
    let (results, end) = one_by_one(&analysis.files, limit, pages, |file, unsynced, watch| {
        migrate(
            file,
            wish,
            large_pages,
            &mut room,
            &mut drives,
            unsynced,
            watch,
        )
    })?;
    let mut cuts = results.iter().flatten().filter_map(Picked::interrupted);
    let end = end.or_else(|| cuts.next().map(|err| limit.end(err)));
    let rows: Vec<_> = analysis
        .files
        .iter()
        .zip(results)
        .map(|(file, result)| Row::new(&file.path, result))
        .collect();

    print(&rows, args.json, out)?;
    let failed = rows.iter().filter(|row| row.has_failed()).count();
    verdict(end, failed, rows.len(), analysis.files.len())
}

/// What has become of files, for people or programs.
fn print(rows: &[Row], json: bool, out: &mut impl Write) -> Result<()> {
    if json {
        print_json(out, rows)?;
    } else {
        print_table(rows, out)?;
    }
    out.flush()?;
    for row in rows {
        if let Some(error) = &row.error {
            complain!("dieaware: {}: {error}.", row.path.display());
        }
        let parts = row.picked.iter().flat_map(|picked| &picked.parts);
        for why in parts.filter_map(|part| part.done.why.as_ref()) {
            remark!("dieaware: {} was left alone: {why}.", row.path.display());
        }
    }
    Ok(())
}

fn print_table(rows: &[Row], out: &mut impl Write) -> Result<()> {
    writeln!(
        out,
        "{:<8} {:>9} {:>6} {:>6}  {:>7} {:>7}  {:>10} {:>10}  file",
        "method", "ranges", "DoF_P", "after", "pieces", "after", "KiB", "of KiB"
    )?;
    for row in rows {
        let Some(picked) = &row.picked else {
            continue;
        };
        let of_kib = picked.file_bytes.div_ceil(1024);
        if picked.parts.is_empty() {
            writeln!(
                out,
                "{:<8} {:>9} {:>6} {:>6}  {:>7} {:>7}  {:>10} {of_kib:>10}  {}",
                word(None),
                format!("0/{}", picked.hot_ranges),
                "-",
                "-",
                "-",
                "-",
                0,
                shown(&row.path.to_string_lossy())
            )?;
        }
        for part in &picked.parts {
            writeln!(
                out,
                "{:<8} {:>9} {:>6} {:>6}  {:>7} {:>7}  {:>10} {of_kib:>10}  {}",
                word(part.done.method),
                format!("{}/{}", part.ranges, picked.hot_ranges),
                dof(Some(part.done.before)),
                dof(part.done.after),
                pieces(Some(part.done.before)),
                pieces(part.done.after),
                part.moved_bytes / 1024,
                shown(&row.path.to_string_lossy())
            )?;
        }
    }
    let written: u64 = rows
        .iter()
        .filter_map(|row| Some(row.picked.as_ref()?.written_bytes()))
        .sum();
    writeln!(out, "{} KiB written", written / 1024)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::path::Path;
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    use nix::errno::Errno;
    use nix::sys::signal::kill;
    use nix::unistd::Pid;

    use super::{end_child, print_table, Row, Started};
    use crate::defrag::{DefragError, Done, Method, State};
    use crate::pick::migrate::{Part, Picked, Reason};

    #[test]
    fn what_was_moved_before_an_error_is_shown() {
        let before = State {
            pieces: 4,
            dof_l_permille: 4000,
            split_permille: 750,
            dof_p_permille: None,
        };
        let part = Part {
            reason: Reason::Pieces,
            ranges: 1,
            moved_bytes: 16384,
            done: Done {
                shared_bytes: 0,
                compactions: Vec::new(),
                spread: false,
                method: Some(Method::Move),
                bytes: 16384,
                before,
                after: Some(before),
                why: None,
            },
        };
        let mut picked = Picked {
            hot_ranges: 2,
            hot_bytes: 32768,
            file_bytes: 1 << 20,
            parts: Vec::new(),
            failed: None,
        };
        assert!(picked.add(Err(DefragError::InUse)).is_err());
        picked.add(Ok(part)).unwrap();
        picked.add(Err(DefragError::InUse)).unwrap();
        let rows = [Row::new(Path::new("/f"), Ok(picked))];
        assert_eq!(rows[0].error.as_deref(), Some("somebody has it open"));
        let mut text = Vec::new();
        print_table(&rows, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("move           1/2"), "{text}");
        assert!(text.ends_with("\n16 KiB written\n"), "{text}");
        let json = serde_json::to_value(&rows[0]).unwrap();
        assert_eq!(json["parts"][0]["moved_bytes"], 16384);
        assert_eq!(json["error"], "somebody has it open");
    }

    /// A command that says something when it does not listen to SIGTERM any more, or never does so.
    fn start(script: &str) -> Child {
        let mut child = Command::new("sh")
            .args(["-c", script])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = [0; 1];
        child
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut said)
            .unwrap();
        child
    }

    #[test]
    fn a_command_ends_if_it_listens_or_not() {
        let mut deaf = start("trap '' TERM; echo; exec sleep 60");
        let begin = Instant::now();
        end_child(&mut deaf, Duration::from_millis(100)).unwrap();
        assert!(begin.elapsed() < Duration::from_secs(30));
        assert!(!deaf.try_wait().unwrap().unwrap().success());

        let mut polite = start("trap 'exit 0' TERM; echo; while :; do sleep 0.01; done");
        end_child(&mut polite, Duration::from_secs(60)).unwrap();
        assert!(polite.try_wait().unwrap().unwrap().success());
        end_child(&mut polite, Duration::ZERO).unwrap();
    }

    #[test]
    fn no_command_is_left_behind() {
        let child = start("echo; exec sleep 60");
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap());
        let name = "sleep".to_owned();
        drop(Started { name, child });
        assert_eq!(kill(pid, None), Err(Errno::ESRCH));
    }
}
