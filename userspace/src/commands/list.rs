// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware list`: all devices with dieaware targets.

use std::io::Write;

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;

use crate::dm::life;
use crate::status::Status;

/// List all devices with a dieaware target
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dieaware list")]
pub struct ListArgs {
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Listed {
    name: String,
    mode: String,
    /// As the table line has it.
    device: String,
    start_sectors: u64,
    len_sectors: u64,
    /// Whether hints are sent, or the log can be written.
    state: String,
}

fn listed(table: &life::Entry, status: Option<&life::Entry>) -> Option<Listed> {
    let mut words = table.params.split(' ');
    let device = words.next()?.to_owned();
    let start_sectors = words.next()?.parse().ok()?;
    let mode = words.next()?.to_owned();
    let status = status.and_then(|status| Status::parse(&status.params).ok());
    let key = if mode == "log" { "state" } else { "hints" };
    let state = status.and_then(|status| status.word(key));

    Some(Listed {
        name: table.name.clone(),
        mode,
        device,
        start_sectors,
        len_sectors: table.len_sectors,
        state: state.unwrap_or_else(|| "unknown".to_owned()),
    })
}

/// # Errors
///
/// When device-mapper cannot be asked.
pub fn run(args: &ListArgs, out: &mut impl Write) -> Result<()> {
    let failed = "Device-mapper cannot be asked";
    let tables = life::all("table").context(failed)?;
    let statuses = life::all("status").context(failed)?;
    let list: Vec<_> = tables
        .iter()
        .filter_map(|table| {
            let mut statuses = statuses.iter();
            listed(table, statuses.find(|status| status.name == table.name))
        })
        .collect();

    if args.json {
        serde_json::to_writer_pretty(&mut *out, &list)?;
        writeln!(out)?;
        return Ok(());
    }
    let width = list
        .iter()
        .map(|one| one.name.len())
        .max()
        .unwrap_or(0)
        .max(4);
    writeln!(
        out,
        "{:<width$}  mode  {:<10}  {:>10}  {:>14}  state",
        "name", "device", "start", "sectors"
    )?;
    for one in &list {
        writeln!(
            out,
            "{:<width$}  {:<4}  {:<10}  {:>10}  {:>14}  {}",
            one.name, one.mode, one.device, one.start_sectors, one.len_sectors, one.state
        )?;
    }
    Ok(())
}
