// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware boot`: the devices of dietab(5) where no systemd makes them: in an initramfs. What is
//! there already is left as it is. What makes the initramfs asks first whether the lines are right.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use clap::Args;

use super::create::{self, CreateArgs};
use super::mapper;
use crate::boot::dietab::{self, Entry, LineError};
use crate::boot::parameter::{self, Named};

/// How often it is looked whether a source has appeared.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Make the devices of /etc/dietab whose sources are there
#[derive(Args, Debug)]
pub struct BootArgs {
    /// Wait so many seconds for sources that are not there yet, but those with x-initrd.late
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    wait: u32,

    /// Those with nofail are to be there, too
    #[arg(long, conflicts_with = "check")]
    all: bool,

    /// Make none, but say what is wrong in this file
    #[arg(long, value_name = "FILE", conflicts_with = "wait")]
    check: Option<PathBuf>,

    /// Devices without which the machine does not boot: each must have a right line
    #[arg(value_name = "NAME", requires = "check")]
    needed: Vec<String>,
}

/// What became of a line.
enum Outcome {
    There,
    /// Its source is not there.
    Waits,
    Failed(anyhow::Error),
}

fn make(entry: &Entry, out: &mut impl Write) -> Result<Outcome> {
    if mapper::info(&entry.name)?.is_some() {
        return Ok(Outcome::There);
    }
    if !Path::new(&entry.source.path()).exists() {
        return Ok(Outcome::Waits);
    }
    Ok(match create::run(&CreateArgs::of_entry(entry), out) {
        Ok(()) => Outcome::There,
        Err(err) => Outcome::Failed(err),
    })
}

/// Make what is not there, unless the machine was told to boot from below it, or to wake.
fn make_unless_left(entry: &Entry, named: &Named, out: &mut impl Write) -> Result<Outcome> {
    if let Some(parameter) = named.by(entry) {
        complain!(
            "dieaware: {}: {parameter} names what it lies on, {}: it is not made.",
            entry.name,
            entry.source.path()
        );
        return Ok(Outcome::There);
    }
    make(entry, out)
}

/// The lines that are right. `wrong` gets those that are not.
fn right_lines(text: &str, mut wrong: impl FnMut(&LineError)) -> Vec<Entry> {
    dietab::parse(text)
        .into_iter()
        .filter_map(|line| line.map_err(|err| wrong(&err)).ok())
        .collect()
}

/// Say what is wrong in a file.
fn check(path: &Path, needed: &[String]) -> Result<()> {
    let text = dietab::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let entries = right_lines(&text, |err| {
        complain!("dieaware: {}, {err}.", path.display());
    });

    for name in needed {
        match entries.iter().find(|entry| entry.name == *name) {
            None => bail!("{} has no right line for {name}", path.display()),
            Some(entry) if entry.noauto => bail!(
                "{}, line {}: {name} has noauto, so it would not be made at boot",
                path.display(),
                entry.line
            ),
            Some(_) => {}
        }
    }
    Ok(())
}

/// Try each line until there is nothing left to wait for. Says which devices are not there, and whether one
/// of them counts. A line that is wrong is said, and is no device.
fn make_lines(
    text: &str,
    args: &BootArgs,
    mut make: impl FnMut(&Entry) -> Result<Outcome>,
) -> Result<()> {
    let end = Instant::now() + Duration::from_secs(args.wait.into());
    let entries = right_lines(text, |err| complain!("dieaware: {}, {err}.", dietab::PATH));
    let counts = |entry: &Entry| args.all || !entry.nofail;
    let mut is_missed = false;

    let mut left: Vec<_> = entries.iter().filter(|entry| !entry.noauto).collect();
    loop {
        let mut waiting = Vec::new();
        for entry in left {
            match make(entry)? {
                Outcome::There => {}
                Outcome::Waits => waiting.push(entry),
                Outcome::Failed(err) => {
                    complain!("dieaware: {}: {err:#}.", entry.name);
                    is_missed |= counts(entry);
                }
            }
        }
        left = waiting;
        if left.iter().all(|entry| entry.late) || Instant::now() >= end {
            break;
        }
        sleep(LOOK_EVERY);
    }
    for entry in left {
        complain!(
            "dieaware: {}: there is no {}.",
            entry.name,
            entry.source.path()
        );
        is_missed |= counts(entry);
    }
    if is_missed {
        bail!("Not all devices of {} are there", dietab::PATH);
    }
    Ok(())
}

/// # Errors
///
/// When the file cannot be read, or one of its devices is not there in the end, or has no right line if
/// that was asked.
pub fn run(args: &BootArgs, out: &mut impl Write) -> Result<()> {
    if let Some(path) = &args.check {
        return check(path, &args.needed);
    }
    if parameter::is_off() {
        complain!("dieaware: The kernel's parameters have dieaware=off: no device is made.");
        return Ok(());
    }
    let text = dietab::read(Path::new(dietab::PATH))
        .with_context(|| format!("{} cannot be read", dietab::PATH))?;
    let named = Named::now();
    make_lines(&text, args, |entry| make_unless_left(entry, &named, out))
}

#[cfg(test)]
mod tests {
    use super::{make_lines, BootArgs, Outcome};
    use anyhow::anyhow;

    fn args(all: bool) -> BootArgs {
        BootArgs {
            wait: 0,
            all,
            check: None,
            needed: Vec::new(),
        }
    }

    #[test]
    fn what_may_fail_does_not_count_once_nobody_waits_for_it() {
        let outcome = |name: &str| match name {
            "there" => Outcome::There,
            "late" => Outcome::Waits,
            _ => Outcome::Failed(anyhow!("it is broken")),
        };
        for (text, is_fine, are_all_there) in [
            ("there /dev/a hint", true, true),
            ("late /dev/a hint", false, false),
            ("broken /dev/a hint", false, false),
            ("late /dev/a hint nofail", true, false),
            ("broken /dev/a log nofail", true, false),
            ("late /dev/a hint nofail\nbroken /dev/b log", false, false),
            ("late /dev/a hint noauto", true, true),
            // Whoever needs that one has been told before.
            ("there /dev/a hnit\nthere /dev/a hint", true, true),
        ] {
            for (all, expected) in [(false, is_fine), (true, are_all_there)] {
                let result = make_lines(text, &args(all), |entry| Ok(outcome(&entry.name)));
                assert_eq!(result.is_ok(), expected, "{text}, {all}");
            }
        }
    }

    #[test]
    fn a_source_that_comes_is_waited_for() {
        let mut nr_asked = 0;
        let patient = BootArgs {
            wait: 60,
            ..args(true)
        };
        make_lines(
            "a /dev/a hint\nb /dev/b hint x-initrd.late",
            &patient,
            |entry| {
                nr_asked += 1;
                Ok(if entry.name == "a" && nr_asked < 4 {
                    Outcome::Waits
                } else {
                    Outcome::There
                })
            },
        )
        .unwrap();
        assert_eq!(nr_asked, 4);
    }
}
