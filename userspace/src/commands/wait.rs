// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware wait`: until a device is in a state that somebody has to know of. Whoever asks is told
//! by the kernel's events of the device, so that nothing runs meanwhile.

use std::collections::BTreeSet;
use std::env;
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use clap::Args;
use serde::Serialize;

use super::common::{print_json, Versioned};
use super::mapper;
use crate::dm::{self, wait};
use crate::events::{of_status, Event};
use crate::progress::Progress;
use crate::units::DeviceNumber;

/// Not everything that the status says is an event of device-mapper: it is looked at again.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// How long a program may take that is run at a change: the next one waits for it, and so does the next change.
const MOST_OF_A_HOOK: Duration = Duration::from_secs(60);

/// Between two looks at whether it has ended.
const PAUSE: Duration = Duration::from_millis(20);

/// Wait until a device has failed, holds damaged data, has no space, needs a check, or has lost its hints
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dieaware wait --for failed --for low-space --timeout 60 db")]
pub struct WaitArgs {
    /// Name of the device-mapper device
    #[arg(value_name = "DM-NAME")]
    name: String,
    /// Wait for this state, and no other one (may be repeated)
    #[arg(long = "for", value_name = "EVENT", value_enum)]
    wanted: Vec<Event>,
    /// Wait so many seconds at most; the exit status is 124 then
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

/// How a device is, of what is wanted.
fn look(args: &WaitArgs, device: DeviceNumber) -> Result<Seen> {
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

/// Run a program, but no longer than that; `None`: it was killed then.
fn run_program(program: &Path, told: &Told, most: Duration) -> io::Result<Option<ExitStatus>> {
    let mut child = Command::new(program)
        .args([told.name, told.event, told.sentence])
        .stdin(Stdio::null())
        .spawn()?;
    let end = Instant::now() + most;

    while Instant::now() < end {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        sleep(PAUSE);
    }
    child.kill()?;
    child.wait().map(|_| None)
}

/// One that fails, or does not end, is told of, and does not keep the others from running.
fn run_hooks(folder: &Path, told: &Told, most: Duration) {
    for program in programs(folder) {
        let name = program.display();
        match run_program(&program, told, most) {
            Ok(Some(status)) if status.success() => {}
            Ok(Some(status)) => complain!("dieaware: {name} failed: {status}."),
            Ok(None) => complain!(
                "dieaware: {name} had not ended after {} s, and was killed.",
                most.as_secs()
            ),
            Err(err) => complain!("dieaware: {name} cannot be run: {err}."),
        }
    }
}

fn tell(args: &WaitArgs, told: &Told, out: &mut impl Write) -> Result<()> {
    if args.json {
        serde_json::to_writer(&mut *out, &Versioned::new(told)).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        writeln!(out, "{}", told.line(is_for_journal()))?;
    }
    out.flush()?;
    if let Some(folder) = &args.hooks {
        run_hooks(folder, told, MOST_OF_A_HOOK);
    }
    Ok(())
}

/// Tell what is new since the last look, and when nothing is left.
fn tell_changes(
    args: &WaitArgs,
    before: &BTreeSet<Event>,
    now: &BTreeSet<Event>,
    out: &mut impl Write,
) -> Result<()> {
    for event in now.difference(before) {
        tell(args, &Told::of(&args.name, Some(*event)), out)?;
    }
    if now.is_empty() && !before.is_empty() {
        tell(args, &Told::of(&args.name, None), out)?;
    }
    Ok(())
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
fn rest(args: &WaitArgs, begin: Instant) -> Result<Duration> {
    let Some(limit) = args.timeout.map(Duration::from_secs) else {
        return Ok(LOOK_AGAIN);
    };
    let rest = limit.saturating_sub(begin.elapsed());
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
    let begin = Instant::now();
    let mut before = BTreeSet::new();

    loop {
        // The number first: what happens after the look is then an event more.
        let number = wait::event_number(info.number).context(mapper::NOT_ASKED)?;
        let seen = look(args, info.number)?;
        let (Some(number), Seen::Events(now)) = (number, seen) else {
            if args.follow {
                return Ok(());
            }
            bail!("{name} was removed");
        };
        if args.follow {
            tell_changes(args, &before, &now, out)?;
        } else if !now.is_empty() {
            return answer(args, &now, out);
        }
        before = now;
        progress.go_on()?;
        let waited = wait::wait(info.number, number, rest(args, begin)?);
        // Who ends this may have ended the dmsetup that waits as well.
        progress.go_on()?;
        waited?;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, Instant};

    use super::{programs, run_hooks, Told};
    use crate::events::Event;

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
        let told = dir.path().join("told");
        for (name, script) in [
            ("10-stuck", "exec sleep 600".to_owned()),
            ("20-tells", format!("echo \"$2\" >{}", told.display())),
        ] {
            let path = dir.path().join(name);
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let begin = Instant::now();
        let event = Told::of("db", Some(Event::LowSpace));
        run_hooks(dir.path(), &event, Duration::from_secs(1));
        assert!(begin.elapsed() < Duration::from_secs(60));
        assert_eq!(fs::read_to_string(told).unwrap(), "low-space\n");
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
