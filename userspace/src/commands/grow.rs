// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware grow`: a device takes all of the device below, which has become larger. Only the
//! length in its table line changes, so that what lies on it can stay mounted.

use std::fs;
use std::io::Write;

use anyhow::{anyhow, Context, Result};
use clap::Args;
use serde::Serialize;

use super::common::{print_object, usage, Saying};
use super::line::{parse_line, Line};
use super::mapper;
use crate::dm::{self, life, swap};
use crate::progress::Progress;
use crate::status::Status;
use crate::units::{DeviceNumber, PAGE_SECTORS};

/// Let a device take what the device below has become larger by
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dieaware grow fast && resize2fs /dev/mapper/fast")]
pub struct GrowArgs {
    /// Its name, or its path below /dev
    #[arg(value_name = "NAME", value_parser = mapper::name_of)]
    name: String,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    saying: Saying,
}

/// What came of it.
#[derive(Serialize)]
struct Grown<'a> {
    name: &'a str,
    /// Its new table, or what that would be.
    table: String,
    from_sectors: u64,
    to_sectors: u64,
    grown: bool,
    dry_run: bool,
}

impl Line {
    /// What the device could have.
    fn most_sectors(&self, status: &Status) -> Result<u64> {
        if self.mode == "log" {
            let pages: u64 = status
                .word("grown_lpns")
                .and_then(|word| word.parse().ok())
                .ok_or_else(|| anyhow!("Its status does not say how much there is"))?;
            return Ok(pages.saturating_mul(PAGE_SECTORS));
        }
        let file = format!("/sys/dev/block/{}/size", self.below);
        let below: u64 = fs::read_to_string(file)
            .context("The size of the device below is not known")?
            .trim()
            .parse()
            .context("The size of the device below is no number")?;
        Ok(below.saturating_sub(self.start_sectors))
    }
}

/// A device that is one of our targets alone.
struct Looked {
    number: DeviceNumber,
    line: Line,
    status: Status,
    /// Its table lets nobody write.
    is_read_only: bool,
}

/// What the kernel has suspended for a table that cannot go to work gets its old one again: what uses the
/// device would wait for ever.
fn put_back(device: &Looked) -> Result<()> {
    let state = swap::state(device.number)?;

    if state.is_suspended {
        swap::load(
            &state.name,
            &format!("{}\n", device.line.text()),
            device.is_read_only,
        )?;
        swap::resume_pushing_back(&state.name)?;
    }
    Ok(())
}

/// # Errors
///
/// When it is something else, or cannot grow.
fn look(name: &str) -> Result<Looked> {
    let info = mapper::info(name)?;
    let info = info.ok_or_else(|| usage(format!("There is no device {name}")))?;
    let cannot = || format!("{name} cannot be looked at");
    let target = mapper::first_target(name)?;
    let is_hint = target.params.split(' ').next() == Some("mode=hint");
    // What "dieaware attach" has put below a volume is as long as that, and others lie behind it.
    if is_hint && !mapper::is_created(&info) {
        return Err(usage(format!(
            "{name} was not made by \"dieaware create\", so whoever made it knows how long it is to be"
        )));
    }
    let table = dm::table(info.number).with_context(cannot)?;
    let line = parse_line(&table)
        .filter(|_| table.lines().count() == 1)
        .ok_or_else(|| usage(format!("{name} is not one dieaware target alone")))?;
    let status = Status::parse(&target.params).with_context(cannot)?;

    if status.word("state").is_some_and(|state| state != "write") {
        return Err(usage(format!(
            "{name} cannot be written, so it cannot grow"
        )));
    }
    Ok(Looked {
        number: info.number,
        line,
        status,
        is_read_only: swap::state(info.number).with_context(cannot)?.is_read_only,
    })
}

/// # Errors
///
/// When the device is not one of ours, or refuses.
pub fn run(args: &GrowArgs, out: &mut impl Write) -> Result<()> {
    let out = &mut args.saying.what_was_done(out, args.json || args.dry_run);
    let name = &args.name;
    // Ctrl-C does not end us between the new table and its use.
    let progress = Progress::new()?;
    let device = look(name)?;
    let line = &device.line;
    let most = line.most_sectors(&device.status)?;

    let mut result = Grown {
        name,
        table: line.text(),
        from_sectors: line.len_sectors,
        to_sectors: line.len_sectors,
        grown: false,
        dry_run: args.dry_run,
    };
    if most <= line.len_sectors {
        return print(args, &result, out);
    }
    let grown = Line {
        len_sectors: most,
        ..line.clone()
    };
    result.table = grown.text();
    result.to_sectors = most;
    if args.dry_run {
        return print(args, &result, out);
    }
    progress.go_on()?;
    if let Err(err) = life::reload(name, &result.table, device.is_read_only) {
        let why = mapper::not_taken(err, format!("{name} has not grown"));
        return Err(match put_back(&device) {
            Ok(()) => why,
            Err(other) => other.context(format!(
                "{why:#}; and it could not be given its old table again, see \"dmsetup info {name}\""
            )),
        });
    }
    result.grown = true;
    print(args, &result, out)
}

fn print(args: &GrowArgs, result: &Grown, out: &mut impl Write) -> Result<()> {
    let name = result.name;
    let (from, to) = (result.from_sectors, result.to_sectors);

    if args.json {
        print_object(out, result)?;
    } else if from == to {
        writeln!(out, "{name} has all of the device below: {from} sectors")?;
    } else if !result.grown {
        writeln!(out, "would load into {name}: {}", result.table)?;
    } else {
        writeln!(
            out,
            "{name} has grown from {from} to {to} sectors; what lies on it does not know yet (see \
             resize2fs, xfs_growfs, btrfs filesystem resize)"
        )?;
    }
    Ok(())
}
