// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware attach`: hint mode comes below a device that is in use, such as a mounted volume of LVM,
//! and goes by `dieaware detach`. Each of its linear segments becomes a target that maps the same
//! sectors to the same place: there must be no layer between a target and the SSD, for hints would
//! not get through it.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::common::{usage, Saying};
use super::create::hint_note;
use super::mapper;
use super::swap::{self, Held, Outcome};
use crate::device::layers::layers;
use crate::dm::tables::Table;
use crate::units::DeviceNumber;

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Mode {
    /// 1:1, with hints
    Hint,
    /// Refused: it keeps data in another order
    Log,
}

/// Put hint mode below a device that is in use, such as a mounted volume of LVM
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dieaware attach /srv\n\n\
    Options of the target are in docs/dm-dieaware.rst. Until the next reboot; see docs/boot.md.")]
pub struct AttachArgs {
    /// A device of device-mapper by its name or node, or where it is mounted
    #[arg(value_name = "DEV|MOUNT")]
    device: String,
    /// What the target does
    #[arg(long, value_enum, default_value = "hint")]
    mode: Mode,
    /// An option of the target, such as runs_mb=256 (may be repeated)
    #[arg(long = "option", value_name = "KEY=VALUE")]
    options: Vec<String>,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    saying: Saying,
}

/// Whether hints get to what a segment lies on.
fn note(number: DeviceNumber) -> String {
    let node = swap::node_of(number);
    let kind = layers(number).into_iter().next().map(|top| top.kind);

    match kind {
        Some(kind) if kind.starts_with("dm ") => format!(
            "{node} is a device of device-mapper ({kind}), through which no hint gets, so nothing is gained"
        ),
        _ => hint_note(Path::new(&node)),
    }
}

/// Where nothing can be attached.
fn instead(node: &str) -> String {
    format!(
        "so nothing can be put below what uses it: unmount it, and \"dieaware create NAME {node} --mode hint\" makes \
         a device that holds the same"
    )
}

fn notes(held: &Held, table: &Table) -> Vec<String> {
    let below: BTreeSet<&str> = table
        .segments()
        .iter()
        .filter(|one| one.kind == "dieaware")
        .filter_map(|one| one.device())
        .collect();
    let mut notes: Vec<_> = below
        .into_iter()
        .filter_map(|device| device.parse().ok())
        .map(note)
        .collect();
    let nr_others = table.segments().len() - table.nr_targets();

    if nr_others > 0 {
        notes.push(format!(
            "{nr_others} of the {} segments of {} are not linear, and stay as they are",
            table.segments().len(),
            held.state.name
        ));
    }
    notes
}

/// # Errors
///
/// When the device cannot have it, or does not take it. It is as it was then.
pub fn run(args: &AttachArgs, out: &mut impl Write) -> Result<()> {
    let out = &mut args.saying.what_was_done(out, args.json || args.dry_run);
    mapper::check_options(&args.options)?;
    if args.mode == Mode::Log {
        return Err(usage(
            "Log mode keeps data in another order, so all of it would have to be moved: \"dieaware move\" \
             does that, to another device",
        ));
    }
    let number = swap::find(&args.device, instead)?;
    let _alone = (!args.dry_run)
        .then(|| swap::alone(number, None))
        .transpose()?;
    let held = swap::look(number)?;
    let name = &held.state.name;
    let has_leftover = swap::has_leftover(&held)?;
    // One that was killed while it took hint mode away has changed nothing.
    if has_leftover && held.table.nr_targets() > 0 && !args.dry_run {
        swap::tidy(&held)?;
        complain!("dieaware: {name} has its dieaware target still; what was begun is undone.");
        return swap::print_unchanged(&held, args.json, out);
    }
    let table = swap::planned(&held, held.table.attached(&args.options))?;
    let mut outcome = Outcome::planned(&held, &table, notes(&held, &table));

    if !args.dry_run {
        mapper::require_target()?;
        if has_leftover {
            swap::tidy(&held)?;
        }
        swap::exchange(&held, &table)?;
        outcome.done = true;
    }
    swap::print(&outcome, args.json, out)
}
