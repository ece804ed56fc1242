// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware move`: a device of device-mapper that is in use, such as a mounted volume of LVM, moves
//! into log mode on another device. The kernel's mirror copies it while it is read and written; until
//! all is there, the old device has everything, and counts if the machine stops.
//!
//! `plan` looks whether it can be done, `stack` knows the devices that it takes, and `switch` is the
//! moment in which the log begins to count. Which step is next is always found out from what
//! device-mapper has, so that whoever was killed is followed by the next run.

mod plan;
mod stack;
mod switch;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, Context, Result};
use clap::Args;
use serde::Serialize;

use self::stack::{Legs, Source, Stage};
use super::common::{self, is_same, usage, Saying, Versioned};
use super::create::{self, CreateArgs};
use super::{mapper, overwrite, swap};
use crate::boot::dietab::{self, Addition};
use crate::boot::moves::{Moves, Moving, FOLDER};
use crate::boot::systemd::escape;
use crate::dm::lvm::GroupLock;
use crate::dm::swap::resume_pushing_back;
use crate::dm::tables::Table;
use crate::io_engine::lock::LockFile;
use crate::progress::{Progress, Tidy};
use crate::units::SECTOR_BYTES;

/// How often it is looked how far the kernel has come, and how often a program is told.
const LOOK_EVERY: Duration = Duration::from_millis(250);
const TELL_EVERY: Duration = Duration::from_secs(1);

/// So long LVM is waited for while the device is suspended.
const BRIEFLY: Duration = Duration::from_secs(2);

/// Move a device that is in use into log mode on another device, with all that it holds
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dieaware move /srv /dev/nvme1n1\n\n\
    Ctrl-C goes back. After a kill or a power failure the same command goes on, or begins again.")]
pub struct MoveArgs {
    /// A device of device-mapper by its name or node, or where it is mounted
    #[arg(value_name = "DEV|MOUNT")]
    device: String,
    /// The device that is to hold it: it is formatted for log mode, and what it holds is lost
    #[arg(value_name = "TARGET", required_unless_present = "undo")]
    target: Option<PathBuf>,
    /// What the device in log mode is called [default: that of the old one, and -log]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// An option of its target, such as map_cache_mb=256 (may be repeated)
    #[arg(long = "option", value_name = "KEY=VALUE")]
    options: Vec<String>,
    /// Format it so that it keeps a checksum of each page of data
    #[arg(long)]
    checksums: bool,
    /// Format it for versions that know no drafts of the journal
    #[arg(long)]
    no_drafts: bool,
    /// Even if TARGET holds something
    #[arg(long)]
    force: bool,
    /// Even if blocks become larger: no program uses less than 4096 bytes with O_DIRECT
    #[arg(long)]
    blocks_4k: bool,
    /// Go back, where a move was begun and is not complete
    #[arg(long, conflicts_with_all = ["target", "name", "options", "checksums", "no_drafts", "force", "blocks_4k", "dry_run"])]
    undo: bool,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON for programs: a line for each second, and one at the end
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    saying: Saying,
}

/// How far it is, for programs.
#[derive(Serialize)]
struct Copied {
    step: &'static str,
    done_bytes: u64,
    total_bytes: u64,
}

/// What has become of it, for programs and people.
#[derive(Serialize)]
struct Outcome<'a> {
    step: &'static str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<&'a str>,
    notes: Vec<String>,
}

fn print_line(out: &mut impl Write, what: &impl Serialize) -> Result<()> {
    serde_json::to_writer(&mut *out, &Versioned::new(what))?;
    writeln!(out)?;
    out.flush()?;
    Ok(())
}

fn print(outcome: &Outcome, json: bool, out: &mut impl Write) -> Result<()> {
    if json {
        return print_line(out, outcome);
    }
    for note in &outcome.notes {
        writeln!(out, "{note}")?;
    }
    Ok(())
}

/// Nobody else moves the same device as long as it is there.
fn lock(name: &str) -> Result<LockFile> {
    let path = format!("/run/dieaware-moving-{}", escape(name));
    let lock =
        LockFile::take(Path::new(&path)).with_context(|| format!("{path} cannot be locked"))?;

    lock.ok_or_else(|| usage(format!("Another \"dieaware move\" is at work on {name}")))
}

/// Be alone with the device's tables, however long LVM is at work on its group: what was copied is not
/// given up for that.
fn alone(source: &Source, progress: &Progress) -> Result<Option<GroupLock>> {
    let mut is_told = false;

    swap::alone_when(source.number, |group, _| {
        if !is_told {
            remark!(
                "dieaware: All is copied; the log counts once LVM has ended what it does to the volume group {group}."
            );
            is_told = true;
        }
        Ok(progress.go_on()?)
    })
}

/// Be alone for going back, or for ending what was decided, if LVM's lock is free soon. What uses the device
/// waits for it where a device below has failed, or it is suspended: LVM may even wait for the same. Each step
/// looks at what is at work, and loaded, so that what LVM has done stays.
fn alone_if_soon(source: &Source) -> Option<GroupLock> {
    let most = if source.state.is_suspended {
        BRIEFLY
    } else {
        swap::MOST_WAIT
    };
    swap::alone_if_soon(source.number, most)
}

/// Wait until all is copied.
fn wait(source: &Source, args: &MoveArgs, progress: &Progress, out: &mut impl Write) -> Result<()> {
    let total_bytes = source.len_sectors().saturating_mul(SECTOR_BYTES);
    let mut told: Option<Instant> = None;
    let mut is_begun = false;

    loop {
        let now = stack::progress(source)?;
        if !is_begun {
            progress.begin("moving", now.nr_regions);
            is_begun = true;
        }
        progress.at(now.nr_copied)?;
        if args.json && told.is_none_or(|told| told.elapsed() >= TELL_EVERY) {
            let copied = Copied {
                step: "copying",
                done_bytes: now.bytes(total_bytes),
                total_bytes,
            };
            print_line(out, &copied)?;
            told = Some(Instant::now());
        }
        if now.is_complete() {
            return Ok(());
        }
        sleep(LOOK_EVERY);
    }
}

/// The record of a move, which only a power failure needs: as much of it as the devices tell, if it
/// is gone.
fn record(moves: &Moves, name: &str, legs: &Legs) -> Result<Moving> {
    let kept = moves.read(name).context(FOLDER)?;
    kept.map_or_else(|| stack::record(legs), Ok)
}

/// All is copied: let the log count.
fn complete(source: &Source, legs: &Legs, moves: &Moves) -> Result<()> {
    let name = &source.state.name;
    let mut moving = record(moves, name, legs)?;

    // Of a device that is suspended, somebody was killed at the switch: signs may be gone.
    if !source.state.is_suspended || moving.signs.is_empty() {
        moving.signs = plan::signs(&swap::node_of(legs.from.number))?;
    }
    moves
        .write(name, &moving)
        .with_context(|| format!("{FOLDER} cannot be written"))?;
    // A line that was there before would lead to a copy that is not complete.
    let line = stack::dietab_line(&legs.to)?;
    let prepare = || {
        Addition::prepare(Path::new(dietab::PATH), &legs.to.name, &line)
            .with_context(|| unwritten(&line))
    };
    // What waits for a suspended device does not wait for room in /etc.
    let prepared = (!source.state.is_suspended).then(prepare).transpose()?;
    switch::switch(source, legs, &moving.signs)?;
    // Where that fails, settle() tries it once more, and says what is wrong.
    let _ = prepared.map(Addition::finish);
    Ok(())
}

fn unwritten(line: &str) -> String {
    format!(
        "{} cannot be written: it needs the line \"{line}\"",
        dietab::PATH
    )
}

/// Have udev look at the log again, which was hidden while it was not complete: names such as
/// /dev/disk/by-uuid lead there from now on. Where no udev is, nobody has hidden it.
fn show(log: &stack::Leg) {
    if let Err(err) = fs::write(format!("/sys/dev/block/{}/uevent", log.number), "change") {
        complain!(
            "dieaware: udev cannot be told of {}: {err}: \"udevadm trigger\" does it.",
            log.name
        );
    }
}

/// The log counts: what is left to do for the time after a reboot, and to tidy up.
fn settle(source: &Source, log: &stack::Leg, moves: &Moves) -> Result<Vec<String>> {
    let name = &source.state.name;
    let line = stack::dietab_line(log)?;
    let mut notes = vec![format!(
        "{name} is in log mode: it lies on {}, and nothing on the device of before any more",
        swap::node_of(log.number)
    )];

    switch::hide_again(name, moves)?;
    dietab::add(Path::new(dietab::PATH), &log.name, &line)
        .with_context(|| format!("{name} is in log mode, but {}", unwritten(&line)))?;
    notes.push(format!("{} has a line for it now: {line}", dietab::PATH));
    stack::remove_old(name)?;
    show(log);
    moves
        .forget(name)
        .with_context(|| format!("{FOLDER} cannot be written"))?;
    notes.push(format!(
        "Until it is unmounted, nothing may give {name} a table of its own again, such as LVM with lvextend \
         or lvchange --refresh; after that remove the old volume, and mount {} in its place",
        swap::node_of(log.number)
    ));
    notes.push("fstrim gives the log what the filesystem does not use".to_owned());
    Ok(notes)
}

/// The machine stopped when the log had just begun to count: the old device was hidden, and nothing
/// leads to the log yet.
fn settle_after_crash(
    name: &str,
    moving: &Moving,
    args: &MoveArgs,
    moves: &Moves,
) -> Result<Vec<String>> {
    let line = stack::line_of(moving);
    // Names of devices change from boot to boot.
    let target = args.target.as_deref().unwrap_or(&moving.target);

    if !stack::is_made(moving)? {
        let device = common::open(target, 0, false)?;
        if !overwrite::holds(&device, &moving.log_uuid)? {
            return Err(usage(format!(
                "{name} was moved when the machine stopped, but {} does not hold the log {}",
                target.display(),
                moving.log_uuid
            )));
        }
        drop(device);
        create::run(&CreateArgs::of_log(moving, target), &mut Vec::new())?;
    }
    stack::remove_old(name)?;
    dietab::add(Path::new(dietab::PATH), &moving.log, &line).with_context(|| unwritten(&line))?;
    moves
        .forget(name)
        .with_context(|| format!("{FOLDER} cannot be written"))?;
    Ok(vec![
        format!(
            "The move of {name} was complete when the machine stopped: what it held is on /dev/mapper/{}",
            moving.log
        ),
        format!("{} has a line for it now: {line}", dietab::PATH),
    ])
}

fn how_to_end(name: &str) -> String {
    format!("{name} is moved but for the last step: \"dieaware move\" as before ends it")
}

/// Give it its old table, and take away what was made.
fn go_back(source: &Source, moves: &Moves) -> Result<()> {
    if switch::is_hidden(source, moves)? {
        return Err(usage(how_to_end(&source.state.name)));
    }
    stack::take_apart(source, moves).map(|_| ())
}

/// What has failed, or was interrupted, is undone. `own` is the table that it had before all of it.
fn undone(source: &Source, own: &Table, moves: &Moves, why: anyhow::Error) -> anyhow::Error {
    let name = &source.state.name;
    // The table may be another one meanwhile. None: there is no way back any more.
    let back = || -> Result<Option<Source>> {
        let _alone = alone_if_soon(&Source::look(source.number)?);
        let now = Source::look(source.number)?;
        if switch::is_hidden(&now, moves)? {
            return Ok(None);
        }
        stack::take_apart(&now, moves)?;
        let now = Source::look(source.number)?;
        // The kernel may have suspended it for a table that it did not put to work in the end.
        if !source.state.is_suspended && now.state.is_suspended {
            resume_pushing_back(name)?;
            return Source::look(source.number).map(Some);
        }
        Ok(Some(now))
    };

    match back() {
        Ok(None) => why.context(how_to_end(name)),
        Ok(Some(now)) => {
            let is_own = now.table == *own;
            let what = if is_own {
                format!("{name} has its own table again")
            } else {
                format!("somebody else has given {name} another table meanwhile, which stays")
            };
            if why.is::<switch::Signless>() {
                return why.context(format!(
                    "{what}, but it may be that its filesystem is not found there any more when it is mounted the \
                     next time: copy what it holds before it is unmounted"
                ));
            }
            why.context(if is_own {
                format!("{name} is as it was")
            } else {
                what
            })
        }
        Err(err) => why.context(format!(
            "{name} could not be given back what it was ({err:#}): \"dieaware move --undo {name}\" tries again"
        )),
    }
}

/// From the moment in which the mirror is at work.
fn follow(
    source: &Source,
    args: &MoveArgs,
    moves: &Moves,
    progress: &Progress,
    out: &mut impl Write,
) -> Result<()> {
    let Stage::Mirrored(legs) = &source.stage else {
        bail!("{} has not the table that was loaded", source.state.name);
    };

    // Who was killed at the switch left it suspended, and it can be ended at once.
    if !source.state.is_suspended {
        wait(source, args, progress, out)?;
    }
    let _alone = if source.state.is_suspended {
        alone_if_soon(source)
    } else {
        alone(source, progress)?
    };
    // Whoever had the lock until now may have ended the move by that.
    stack::require_live(source, &source.table)?;
    complete(source, legs, moves).map_err(|err| match progress.go_on() {
        // A signal ends the wait for what is on its way.
        Err(interrupted) if !err.is::<switch::Signless>() => interrupted.into(),
        _ => err,
    })
}

fn require_same_target(log: &stack::Leg, args: &MoveArgs) -> Result<()> {
    let node = stack::target_of(log)?;

    match &args.target {
        Some(target) if !is_same(target, Path::new(&node)) => Err(usage(format!(
            "It moves to {node}, or has moved there already"
        ))),
        _ => Ok(()),
    }
}

/// Everything up to the moment in which the log counts; it is undone if it fails.
fn advance(source: &Source, args: &MoveArgs, moves: &Moves, out: &mut impl Write) -> Result<()> {
    let progress = Progress::new()?;
    let _tidy = Tidy::begin();
    let number = source.number;
    let mut own = stack::own_table(source)?;
    let mut work = || -> Result<()> {
        progress.go_on()?;
        if let Stage::Plain = source.stage {
            let _alone =
                swap::alone(number, Some(&progress)).map_err(|err| anyhow!(plan::Refused(err)))?;
            // While it was waited for, LVM may have given it another one.
            let source = Source::look(number)?;
            own = stack::own_table(&source)?;
            plan::begin(&source, args, moves)?;
        }
        follow(&Source::look(number)?, args, moves, &progress, out)
    };

    work().map_err(|err| match err.downcast::<plan::Refused>() {
        // Nothing was begun.
        Ok(plan::Refused(err)) => err,
        Err(err) => undone(source, &own, moves, err),
    })
}

fn undo(source: &Source, moves: &Moves) -> Result<&'static str> {
    let name = &source.state.name;

    match &source.stage {
        Stage::Switched(log) => Err(usage(format!(
            "{name} is in log mode on {} already, and the old device has been left behind",
            log.name
        ))),
        Stage::Plain if !stack::has_leftover(source, moves)? => {
            remark!("dieaware: no move of {name} was begun.");
            Ok("none")
        }
        _ => go_back(source, moves).map(|()| "undone"),
    }
}

/// What would be done from here: how the log is called, and what there is to say.
fn wished(source: &Source, args: &MoveArgs, moves: &Moves) -> Result<(String, Vec<String>)> {
    let name = &source.state.name;
    let (log, what) = match &source.stage {
        Stage::Plain => match stack::left_behind(source, moves)? {
            Some(moving) => (moving.log, "was moved when the machine stopped"),
            None => return plan::wished(source, args, moves),
        },
        Stage::Mirrored(legs) => {
            require_same_target(&legs.to, args)?;
            (legs.to.name.clone(), "is being moved")
        }
        Stage::Switched(log) => {
            require_same_target(log, args)?;
            (log.name.clone(), "is in log mode")
        }
    };
    let note = format!("{name} {what} already, to {log}: would go on from there");

    Ok((log, vec![note]))
}

/// # Errors
///
/// When the device cannot be moved, or that fails, or someone wants it to end. It is as it was then.
pub fn run(args: &MoveArgs, out: &mut impl Write) -> Result<()> {
    let out = &mut args.saying.what_was_done(out, args.json || args.dry_run);
    mapper::check_options(&args.options)?;
    let instead = |_: &str| {
        "so what uses it cannot be moved meanwhile: make the other device (\"dieaware create NAME DEV --mode log \
         --format\"), and copy the files to a filesystem there"
            .to_owned()
    };
    let number = swap::find(&args.device, instead)?;
    let moves = Moves::new(Path::new(FOLDER));
    let name = Source::look(number)?.state.name;
    let _locked = lock(&name)?;
    // As it is when nobody else is at work.
    let source = Source::look(number)?;

    let outcome = |step, log, notes| Outcome {
        step,
        name: &name,
        log,
        notes,
    };
    if args.undo {
        let _alone = alone_if_soon(&source);
        let step = undo(&Source::look(number)?, &moves)?;
        return print(&outcome(step, None, Vec::new()), args.json, out);
    }
    if args.dry_run {
        let (log, notes) = wished(&source, args, &moves)?;
        return print(&outcome("planned", Some(&log), notes), args.json, out);
    }
    if let Stage::Plain = source.stage {
        if let Some(moving) = stack::left_behind(&source, &moves)? {
            let notes = settle_after_crash(&name, &moving, args, &moves)?;
            return print(&outcome("done", Some(&moving.log), notes), args.json, out);
        }
    }
    if let Stage::Mirrored(legs) = &source.stage {
        require_same_target(&legs.to, args)?;
    }
    if !matches!(source.stage, Stage::Switched(_)) {
        mapper::require_target()?;
        advance(&source, args, &moves, out)?;
    }
    let source = Source::look(number)?;
    let Stage::Switched(log) = &source.stage else {
        return Err(anyhow!("{name} has another table than was put to work"));
    };
    require_same_target(log, args)?;
    let notes = settle(&source, log, &moves)?;
    print(&outcome("done", Some(&log.name), notes), args.json, out)
}
