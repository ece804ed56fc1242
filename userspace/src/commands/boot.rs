// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware boot`: the devices of dietab(5) where no systemd makes them: in an initramfs. What is
//! there already is left as it is.

use std::io::Write;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use clap::Args;

use super::create::{self, CreateArgs};
use super::mapper;
use crate::boot::dietab::{self, Entry};

/// How often it is looked whether a source has appeared.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Make the devices of /etc/dietab whose sources are there
#[derive(Args, Debug)]
pub struct BootArgs {
    /// Wait so many seconds for sources that are not there yet, but those with x-initrd.late
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    wait: u32,
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

/// # Errors
///
/// When the file cannot be read, or one of its devices is not there in the end.
pub fn run(args: &BootArgs, out: &mut impl Write) -> Result<()> {
    let end = Instant::now() + Duration::from_secs(args.wait.into());
    let text = dietab::read(Path::new(dietab::PATH))
        .with_context(|| format!("{} cannot be read", dietab::PATH))?;
    let mut nr_failed = 0;
    let mut entries = Vec::new();

    for line in dietab::parse(&text) {
        match line {
            Ok(entry) => entries.push(entry),
            Err(err) => {
                complain!("dieaware: {}, {err}.", dietab::PATH);
                nr_failed += 1;
            }
        }
    }
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
