// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware list`: all devices with dieaware targets, each with the device below and its state.
//! dmsetup shows these in two places, among all others.

use std::collections::HashMap;
use std::io::Write;

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use super::common::print_json;
use super::mapper;
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

/// All targets, each with what it says of itself; a device may have more than one.
fn list(tables: &[life::Entry], statuses: &[life::Entry]) -> Vec<Listed> {
    let place = |entry: &life::Entry| (entry.name.clone(), entry.start_sectors);
    let statuses: HashMap<_, _> = statuses.iter().map(|one| (place(one), one)).collect();

    tables
        .iter()
        .filter_map(|table| listed(table, statuses.get(&place(table)).copied()))
        .collect()
}

/// # Errors
///
/// When device-mapper cannot be asked.
pub fn run(args: &ListArgs, out: &mut impl Write) -> Result<()> {
    let tables = mapper::all("table")?;
    let statuses = mapper::all("status")?;
    let list = list(&tables, &statuses);

    if args.json {
        print_json(out, &list)?;
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

#[cfg(test)]
mod tests {
    use super::list;
    use crate::dm::life::Entry;

    fn entry(name: &str, start_sectors: u64, params: &str) -> Entry {
        Entry {
            name: name.to_owned(),
            start_sectors,
            len_sectors: 8192,
            params: params.to_owned(),
        }
    }

    #[test]
    fn each_target_of_a_device_has_its_own_state() {
        let tables = [
            entry("two", 0, "259:0 0 hint"),
            entry("two", 8192, "259:1 0 hint"),
            entry("two", 16384, "259:2 0 log"),
        ];
        let statuses = [
            entry("one", 8192, "mode=hint hints=off"),
            entry("two", 0, "mode=hint hints=on"),
            entry("two", 8192, "mode=hint hints=failed"),
        ];
        let states: Vec<_> = list(&tables, &statuses)
            .into_iter()
            .map(|one| (one.device, one.state))
            .collect();
        let states: Vec<_> = states
            .iter()
            .map(|(device, state)| (device.as_str(), state.as_str()))
            .collect();
        assert_eq!(
            states,
            [("259:0", "on"), ("259:1", "failed"), ("259:2", "unknown")]
        );
    }
}
