// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware boot`: the devices of dietab(5) where no systemd makes them: in an initramfs. What is
//! there already is left as it is. What makes the initramfs asks first whether the lines are right.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use clap::Args;

use super::create::{self, CreateArgs};
use super::mapper;
use crate::boot::dietab::{self, Entry, LineError};

/// How often it is looked whether a source has appeared.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Make the devices of /etc/dietab whose sources are there
#[derive(Args, Debug)]
pub struct BootArgs {
    /// Wait so many seconds for sources that are not there yet, but those with x-initrd.late
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    wait: u32,

    /// Make none, but say what is wrong in this file
    #[arg(long, value_name = "FILE", conflicts_with = "wait")]
    check: Option<PathBuf>,

    /// Devices without which the machine does not boot: each must have a right line
    #[arg(value_name = "NAME", requires = "check")]
    needed: Vec<String>,
}

/// Make those whose source is there. Those that are left wait for theirs, or could not be made.
fn make<'a>(
    entries: Vec<&'a Entry>,
    nr_failed: &mut usize,
    out: &mut impl Write,
) -> Result<Vec<&'a Entry>> {
    let mut waiting = Vec::new();

    for entry in entries {
        if mapper::info(&entry.name)?.is_some() {
            continue;
        }
        if !Path::new(&entry.source.path()).exists() {
            waiting.push(entry);
        } else if let Err(err) = create::run(&CreateArgs::of_entry(entry), out) {
            complain!("dieaware: {}: {err:#}.", entry.name);
            *nr_failed += 1;
        }
    }
    Ok(waiting)
}

/// The lines that are right. `wrong` gets those that are not.
fn right_lines(text: &str, mut wrong: impl FnMut(&LineError)) -> Vec<Entry> {
    dietab::parse(text)
        .into_iter()
        .filter_map(|line| line.map_err(|err| wrong(&err)).ok())
        .collect()
}

/// Say what is wrong in a file. One that is not there has no line that is.
fn check(path: &Path, needed: &[String]) -> Result<()> {
    let text = match dietab::read(path) {
        Err(err) if err.kind() == ErrorKind::NotFound => String::new(),
        text => text.with_context(|| format!("{} cannot be read", path.display()))?,
    };
    let entries = right_lines(&text, |err| {
        complain!("dieaware: {}, {err}.", path.display());
    });

    match needed
        .iter()
        .find(|name| entries.iter().all(|entry| entry.name != **name))
    {
        Some(name) => bail!("{} has no right line for {name}", path.display()),
        None => Ok(()),
    }
}

/// # Errors
///
/// When the file cannot be read, or one of its devices is not there in the end, or has no right line if
/// that was asked.
pub fn run(args: &BootArgs, out: &mut impl Write) -> Result<()> {
    match &args.check {
        Some(path) => check(path, &args.needed),
        None => make_all(args, out),
    }
}

fn make_all(args: &BootArgs, out: &mut impl Write) -> Result<()> {
    let end = Instant::now() + Duration::from_secs(args.wait.into());
    let text = dietab::read(Path::new(dietab::PATH))
        .with_context(|| format!("{} cannot be read", dietab::PATH))?;
    let mut nr_failed = 0;
    let entries = right_lines(&text, |err| {
        complain!("dieaware: {}, {err}.", dietab::PATH);
        nr_failed += 1;
    });

    let mut waiting: Vec<_> = entries.iter().filter(|entry| !entry.noauto).collect();
    loop {
        waiting = make(waiting, &mut nr_failed, out)?;
        if waiting.iter().all(|entry| entry.late) || Instant::now() >= end {
            break;
        }
        sleep(LOOK_EVERY);
    }
    for entry in &waiting {
        complain!(
            "dieaware: {}: there is no {}.",
            entry.name,
            entry.source.path()
        );
    }
    if nr_failed + waiting.len() != 0 {
        bail!("Not all devices of {} are there", dietab::PATH);
    }
    Ok(())
}
