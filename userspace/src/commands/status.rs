// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware status`: what a target counts, each number with its meaning.

use std::io::Write;

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use super::common::print_json;
use super::mapper;
use crate::status::Status;

/// Show what the dieaware targets of a device count
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dieaware status demo")]
pub struct StatusArgs {
    /// Name of the device-mapper device, or its path below /dev
    #[arg(value_name = "DM-NAME", value_parser = mapper::name_of)]
    name: String,
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct TargetStatus {
    start_sectors: u64,
    len_sectors: u64,
    #[serde(flatten)]
    status: Status,
}

/// # Errors
///
/// When the device has no dieaware target, or its status cannot be read.
pub fn run(args: &StatusArgs, out: &mut impl Write) -> Result<()> {
    let name = &args.name;
    let targets = mapper::targets_of(name, || format!("The status of {name} cannot be read"))?;
    let mut statuses = Vec::new();
    for target in &targets {
        statuses.push(TargetStatus {
            start_sectors: target.start_sectors,
            len_sectors: target.len_sectors,
            status: mapper::status(name, &target.params)?,
        });
    }
    if args.json {
        print_json(out, &statuses)?;
        return Ok(());
    }
    for target in &statuses {
        if statuses.len() > 1 {
            writeln!(
                out,
                "target at sector {}, {} sectors",
                target.start_sectors, target.len_sectors
            )?;
        }
        out.write_all(target.status.table().as_bytes())?;
    }
    Ok(())
}
