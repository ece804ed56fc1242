// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware detach`: takes hint mode away below a device that stays in use, as it was before
//! `dieaware attach`. A device that has none is no error: it is gone already.

use std::io::Write;

use anyhow::Result;
use clap::Args;

use super::common::{usage, Saying};
use super::mapper::CREATED;
use super::swap::{self, Outcome};

/// Take hint mode away below a device that is in use; what it holds stays
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dieaware detach /srv")]
pub struct DetachArgs {
    /// A device of device-mapper by its name or node, or where it is mounted
    #[arg(value_name = "DEV|MOUNT")]
    device: String,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    saying: Saying,
}

/// # Errors
///
/// When the device is one of `dieaware create`, or does not take its old table.
pub fn run(args: &DetachArgs, out: &mut impl Write) -> Result<()> {
    let out = &mut args.saying.what_was_done(out, args.json || args.dry_run);
    let instead = |_: &str| "so it has no hint mode that could be taken away".to_owned();
    let number = swap::find(&args.device, instead)?;
    let _alone = (!args.dry_run)
        .then(|| swap::alone(number, None))
        .transpose()?;
    let held = swap::look(number)?;
    let name = &held.state.name;

    if held.state.uuid.starts_with(CREATED) {
        return Err(usage(format!(
            "{name} was made by \"dieaware create\": \"dieaware remove {name}\" takes it away"
        )));
    }
    if swap::has_leftover(&held)? && !args.dry_run {
        swap::tidy(&held)?;
    }
    let table = swap::planned(&held, held.table.detached())?;
    if held.table.nr_targets() == 0 {
        remark!("dieaware: {name} has no dieaware target.");
        return swap::print_unchanged(&held, args.json, out);
    }
    let mut outcome = Outcome::planned(&held, &table, Vec::new());

    if !args.dry_run {
        swap::exchange(&held, &table)?;
        outcome.done = true;
    }
    swap::print(&outcome, args.json, out)
}
