// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware wait`: until a device is in a state that somebody has to know of. Whoever asks is told
//! by the kernel's events of the device, so that nothing runs meanwhile.

use std::collections::BTreeSet;
use std::env;
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use clap::Args;
use nix::sys::signal::{killpg, Signal};
use nix::unistd::Pid;
use serde::Serialize;

use super::common::{print_json, Versioned};
use super::mapper;
use crate::dm::life::Info;
use crate::dm::{self, wait};
use crate::events::{of_status, Event};
use crate::progress::{Interrupted, Progress};

/// Not everything that the status says is an event of device-mapper: it is looked at again.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// How long a program may take that is run at a change: the next one waits for it, and so does the next change.
const MOST_OF_A_HOOK: Duration = Duration::from_secs(60);

/// Between two looks at whether it has ended.
const PAUSE: Duration = Duration::from_millis(20);

/// Says when somebody wants an end.
type GoOn<'a> = dyn Fn() -> Result<(), Interrupted> + 'a;

/// Wait until a device has failed, holds damaged data, has no space, needs a check, or has lost its hints
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dieaware wait --for failed --for low-space --timeout 60 db")]
pub struct WaitArgs {
    /// Name of the device-mapper device, or its path below /dev
    #[arg(value_name = "DM-NAME", value_parser = mapper::name_of)]
    name: String,
    /// Wait for this state, and no other one (may be repeated)
    #[arg(long = "for", value_name = "EVENT", value_enum)]
    wanted: Vec<Event>,
    /// Wait so many seconds at most, with --follow for each change; the exit status is 124 then
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// Go on, and tell each change, until the device is removed
    #[arg(long)]
    follow: bool,
    /// At each change run the programs in this folder, with device, event and sentence
    #[arg(long, value_name = "FOLDER", requires = "follow")]
    hooks: Option<PathBuf>,
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
}

/// Nothing has happened in time: exit status 124.
#[derive(Debug)]
pub struct TimedOut(String);

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for TimedOut {}

/// There is no such device, or no longer: exit status 4, so that a unit can tell it from a mistake.
#[derive(Debug)]
pub struct NoDevice(String);

impl fmt::Display for NoDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "There is no device {}", self.0)
    }
}

impl std::error::Error for NoDevice {}

/// What is told of a device.
#[derive(Serialize)]
struct Told<'a> {
    name: &'a str,
    /// `ok`: none is left.
    event: &'static str,
    sentence: &'static str,
    #[serde(skip)]
    priority: u8,
}

impl<'a> Told<'a> {
    fn of(name: &'a str, event: Option<Event>) -> Self {
        Self {
            name,
            event: event.map_or("ok", Event::name),
            sentence: event.map_or("nothing is wrong any more", Event::sentence),
            priority: event.map_or(6, Event::priority),
        }
    }

    /// A line for people; the journal is told how bad it is.
    fn line(&self, is_for_journal: bool) -> String {
        let Self {
            name,
            event,
            sentence,
            priority,
        } = self;
        if is_for_journal {
            format!("<{priority}>{event}: {name}: {sentence}")
        } else {
            format!("{event}: {name}: {sentence}")
        }
    }
}

/// Does the journal read what is printed? systemd says which stream it reads.
fn is_for_journal() -> bool {
    let Ok(output) = fs::metadata("/proc/self/fd/1") else {
        return false;
    };
    env::var("JOURNAL_STREAM").is_ok_and(|it| it == format!("{}:{}", output.dev(), output.ino()))
}

/// What a device is in now.
enum Seen {
    Gone,
    Events(BTreeSet<Event>),
}

/// Has another device got the number of the one that was found? By its UUID, if it has one: that stays
/// when it is renamed.
fn is_another(args: &WaitArgs, found: &Info) -> bool {
    dm::swap::state(found.number)
        .is_ok_and(|now| now.uuid != found.uuid || (now.uuid.is_empty() && now.name != args.name))
}

/// How a device is, of what is wanted.
fn look(args: &WaitArgs, found: &Info) -> Result<Seen> {
    let device = found.number;
    if is_another(args, found) {
        return Ok(Seen::Gone);
    }
    let said = match dm::status(device) {
        Ok(said) => said,
        Err(_) if wait::event_number(device)?.is_none() => return Ok(Seen::Gone),
        Err(err) => {
            return Err(err).with_context(|| format!("The status of {} cannot be read", args.name))
        }
    };
    let is_read_only = wait::is_read_only(device);
    let mut events = BTreeSet::new();

    for target in said.lines().filter_map(dm::parse_target) {
        let status = mapper::status(&args.name, &target.params)?;
        events.extend(of_status(&status, is_read_only));
    }
    events.retain(|event| args.wanted.is_empty() || args.wanted.contains(event));
    Ok(Seen::Events(events))
}

/// The programs of a folder, in the order of their names. No folder is no program.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let is_program = |path: &PathBuf| {
        fs::metadata(path)
            .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(is_program)
        .collect();

    paths.sort();
    paths
}

/// Begin a program in a group of its own, so that what it begins can be ended with it. What is printed
/// is for whoever reads events: it has no stdout but our stderr.
fn begin_program(program: &Path, told: &Told) -> io::Result<Child> {
    Command::new(program)
        .args([told.name, told.event, told.sentence])
        .stdin(Stdio::null())
        .stdout(io::stderr().as_fd().try_clone_to_owned()?)
        .process_group(0)
        .spawn()
}

/// End a program, and what it has begun.
fn kill_all(mut child: Child) -> io::Result<()> {
    // Its number is its own until it has been waited for.
    let group = Pid::from_raw(child.id() as i32);

    // It may have a group of its own by now.
    let _ = killpg(group, Signal::SIGKILL);
    child.kill()?;
    child.wait().map(|_| ())
}

/// How a program has ended.
enum Ended {
    ByItself(ExitStatus),
    /// It took too long.
    Killed,
    /// Somebody wants an end of all.
    Interrupted(Interrupted),
}

/// Run a program, but no longer than that.
fn run_program(program: &Path, told: &Told, most: Duration, go_on: &GoOn) -> io::Result<Ended> {
    let mut child = begin_program(program, told)?;
    let end = Instant::now() + most;

    while Instant::now() < end {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended::ByItself(status));
        }
        if let Err(err) = go_on() {
            kill_all(child)?;
            return Ok(Ended::Interrupted(err));
        }
        sleep(PAUSE);
    }
    kill_all(child)?;
    Ok(Ended::Killed)
}

/// One that fails, or does not end, is told of, and does not keep the others from running.
fn run_hooks(folder: &Path, told: &Told, most: Duration, go_on: &GoOn) -> Result<(), Interrupted> {
    for program in programs(folder) {
        let name = program.display();
        go_on()?;
        match run_program(&program, told, most, go_on) {
            Ok(Ended::Interrupted(err)) => return Err(err),
            Ok(Ended::ByItself(status)) if status.success() => {}
            Ok(Ended::ByItself(status)) => complain!("dieaware: {name} failed: {status}."),
            Ok(Ended::Killed) => complain!(
                "dieaware: {name} had not ended after {} s, and was killed.",
                most.as_secs()
            ),
            Err(err) => complain!("dieaware: {name} cannot be run: {err}."),
        }
    }
    Ok(())
}

fn tell(args: &WaitArgs, told: &Told, go_on: &GoOn, out: &mut impl Write) -> Result<()> {
    if args.json {
        serde_json::to_writer(&mut *out, &Versioned::new(told)).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        writeln!(out, "{}", told.line(is_for_journal()))?;
    }
    out.flush()?;
    if let Some(folder) = &args.hooks {
        run_hooks(folder, told, MOST_OF_A_HOOK, go_on)?;
    }
    Ok(())
}

/// Tell what is new since the last look, and when nothing is left. Says whether there was something.
fn tell_changes(
    args: &WaitArgs,
    before: &BTreeSet<Event>,
    now: &BTreeSet<Event>,
    go_on: &GoOn,
    out: &mut impl Write,
) -> Result<bool> {
    let mut changes: Vec<_> = now.difference(before).copied().map(Some).collect();

    if now.is_empty() && !before.is_empty() {
        changes.push(None);
    }
    for event in &changes {
        tell(args, &Told::of(&args.name, *event), go_on, out)?;
    }
    Ok(!changes.is_empty())
}

/// All that it is in, in one answer.
fn answer(args: &WaitArgs, events: &BTreeSet<Event>, out: &mut impl Write) -> Result<()> {
    let told: Vec<_> = events
        .iter()
        .map(|event| Told::of(&args.name, Some(*event)))
        .collect();

    if args.json {
        print_json(out, &told)?;
        return Ok(());
    }
    for told in &told {
        writeln!(out, "{}", told.line(false))?;
    }
    Ok(())
}

/// The longest that may be waited now.
fn rest(args: &WaitArgs, since: Instant) -> Result<Duration> {
    let Some(limit) = args.timeout.map(Duration::from_secs) else {
        return Ok(LOOK_AGAIN);
    };
    let rest = limit.saturating_sub(since.elapsed());
    if rest.is_zero() {
        let seconds = limit.as_secs();
        return Err(TimedOut(format!(
            "Nothing has happened to {} in {seconds} s",
            args.name
        ))
        .into());
    }
    Ok(rest.min(LOOK_AGAIN))
}

/// # Errors
///
/// When the device has no dieaware target or is removed, when nothing happens in time, or when it
/// cannot be looked at.
pub fn run(args: &WaitArgs, out: &mut impl Write) -> Result<()> {
    let name = &args.name;
    let no_device = || NoDevice(name.clone());
    let info = mapper::info(name)?.ok_or_else(no_device)?;
    let targets = mapper::targets_of(name, || format!("The status of {name} cannot be read"));
    if targets.is_err() && mapper::info(name)?.is_none() {
        return Err(no_device().into());
    }
    targets?;
    let progress = Progress::new()?;
    // Who follows is told of each change: time counts from the last one.
    let mut since = Instant::now();
    let mut before = BTreeSet::new();

    loop {
        // The number first: what happens after the look is then an event more.
        let number = wait::event_number(info.number).context(mapper::NOT_ASKED)?;
        let seen = look(args, &info)?;
        let (Some(number), Seen::Events(now)) = (number, seen) else {
            if args.follow {
                return Ok(());
            }
            bail!("{name} was removed");
        };
        if args.follow {
            if tell_changes(args, &before, &now, &|| progress.go_on(), out)? {
                since = Instant::now();
            }
        } else if !now.is_empty() {
            return answer(args, &now, out);
        }
        before = now;
        progress.go_on()?;
        let waited = wait::wait(info.number, number, rest(args, since)?);
        // Who ends this may have ended the dmsetup that waits as well.
        progress.go_on()?;
        waited?;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, Instant};

    use super::{programs, run_hooks, sleep, tell_changes, Told, WaitArgs, PAUSE};
    use crate::events::Event;
    use crate::progress::Interrupted;

    #[test]
    fn the_journal_is_told_how_bad_it_is() {
        let told = Told::of("db", Some(Event::ReadOnly));
        assert_eq!(told.line(false), "read-only: db: its table is read-only");
        assert_eq!(told.line(true), "<5>read-only: db: its table is read-only");
        let told = Told::of("db", None);
        assert_eq!(told.line(false), "ok: db: nothing is wrong any more");
    }

    #[test]
    fn a_hook_that_does_not_end_keeps_nobody_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let (told, child) = (dir.path().join("told"), dir.path().join("child"));
        for (name, script) in [
            (
                "10-stuck",
                format!("sleep 600 &\necho $! >{}\nwait", child.display()),
            ),
            (
                "20-tells",
                format!(
                    "[ /proc/$$/fd/1 -ef /proc/$PPID/fd/2 ] && echo \"$2\" >{}",
                    told.display()
                ),
            ),
        ] {
            let path = dir.path().join(name);
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let begin = Instant::now();
        let event = Told::of("db", Some(Event::LowSpace));
        run_hooks(dir.path(), &event, Duration::from_secs(1), &|| Ok(())).unwrap();
        assert!(begin.elapsed() < Duration::from_secs(60));
        assert_eq!(fs::read_to_string(told).unwrap(), "low-space\n");
        let pid = fs::read_to_string(child).unwrap();
        while runs(pid.trim()) {
            assert!(begin.elapsed() < Duration::from_secs(60), "it still sleeps");
            sleep(PAUSE);
        }
    }

    #[test]
    fn what_is_told_is_a_change() {
        let args = WaitArgs {
            name: "db".to_owned(),
            wanted: Vec::new(),
            timeout: None,
            follow: true,
            hooks: None,
            json: false,
        };
        let (low, out) = (Event::LowSpace, Event::OutOfSpace);
        for (before, now, expected) in [
            (&[][..], &[][..], ""),
            (&[], &[low], "low-space"),
            (&[low], &[low], ""),
            (&[low], &[low, out], "out-of-space"),
            (&[low, out], &[low], ""),
            (&[low], &[], "ok"),
        ] {
            let set = |events: &[Event]| events.iter().copied().collect();
            let mut said = Vec::new();
            let is_told =
                tell_changes(&args, &set(before), &set(now), &|| Ok(()), &mut said).unwrap();
            let said = String::from_utf8(said).unwrap();
            assert_eq!(said.split(':').next().unwrap(), expected);
            assert_eq!(is_told, !expected.is_empty(), "{said}");
        }
    }

    /// Is there such a process? One that has ended may be there until it is waited for.
    fn runs(pid: &str) -> bool {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    }

    #[test]
    fn hooks_end_when_somebody_wants_an_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("10-stuck");
        fs::write(&path, "#!/bin/sh\nexec sleep 600\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let begin = Instant::now();
        let event = Told::of("db", None);
        let asked = Cell::new(0);
        let result = run_hooks(dir.path(), &event, Duration::from_secs(600), &|| {
            asked.set(asked.get() + 1);
            if asked.get() < 3 {
                Ok(())
            } else {
                Err(Interrupted)
            }
        });
        assert!(result.is_err());
        assert!(begin.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn hooks_are_programs_in_the_order_of_their_names() {
        let dir = tempfile::tempdir().unwrap();
        for (name, mode) in [("20-b", 0o755), ("10-a", 0o755), ("README", 0o644)] {
            let path = dir.path().join(name);
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        fs::create_dir(dir.path().join("folder")).unwrap();
        let expected = [dir.path().join("10-a"), dir.path().join("20-b")];
        assert_eq!(programs(dir.path()), expected);
        assert!(programs(&dir.path().join("none")).is_empty());
    }
}
