// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware remove`: takes a device with a dieaware target away, and no other one, nor one in use.
//! A device that is not there is no error: it is gone already.

use std::io::Write;

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;

use super::common::{print_object, usage, Saying};
use super::mapper;
use crate::dm::{self, life};

/// Take a device away; what it holds stays on the device below
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dieaware remove fast")]
pub struct RemoveArgs {
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
struct Removed<'a> {
    name: &'a str,
    /// What it was, a line for each target; none: it was not there.
    tables: Vec<&'a str>,
    removed: bool,
    dry_run: bool,
}

/// # Errors
///
/// When the device is in use, or is not one of ours.
pub fn run(args: &RemoveArgs, out: &mut impl Write) -> Result<()> {
    let out = &mut args.saying.what_was_done(out, args.json || args.dry_run);
    let name = &args.name;
    let mut result = Removed {
        name,
        tables: Vec::new(),
        removed: false,
        dry_run: args.dry_run,
    };
    let Some(info) = mapper::info(name)? else {
        remark!("dieaware: there is no device {name}.");
        return print(args, &result, out);
    };

    mapper::targets_of(name, || format!("{name} cannot be looked at"))?;
    if !info.uuid.is_empty() && !mapper::is_created(&info) {
        return Err(usage(format!(
            "{name} was not made by \"dieaware create\", but by LVM or the like: \"dieaware detach {name}\" \
             takes hint mode away, and leaves it there"
        )));
    }
    if info.nr_open != 0 {
        return Err(usage(format!(
            "{name} is in use: unmount its filesystem, or remove what lies on it"
        )));
    }
    let cannot = || format!("{name} cannot be looked at");
    let table = dm::table(info.number).with_context(cannot)?;
    result.tables = table.lines().collect();
    if !args.dry_run {
        life::remove(name).with_context(|| format!("{name} was not removed"))?;
        result.removed = true;
    }
    print(args, &result, out)
}

fn print(args: &RemoveArgs, result: &Removed, out: &mut impl Write) -> Result<()> {
    if args.json {
        print_object(out, result)?;
    } else if args.dry_run {
        for line in &result.tables {
            writeln!(out, "would remove {}: {line}", result.name)?;
        }
    }
    Ok(())
}
