// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware top`: what a device does right now. Counters only grow, so two looks at them are
//! compared.

use std::io::{IsTerminal, Write};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;

use super::mapper;
use crate::device::nvme::dies::{dies, Die};
use crate::device::nvme::Namespace;
use crate::dm::life;
use crate::status::{Status, Value};

/// Rows of the terminal that dies get at most; more are put together.
const MOST_ROWS: usize = 16;

const BAR: u64 = 40;

/// Show what a device does right now: counters by the second, and the load of each die
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dieaware top fast --interval 2")]
pub struct TopArgs {
    /// Name of the device-mapper device, or its path below /dev
    #[arg(value_name = "DM-NAME", value_parser = mapper::name_of)]
    name: String,
    /// Seconds between two looks
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=3600))]
    interval: u64,
    /// Stop after so many
    #[arg(long, value_name = "N")]
    count: Option<u64>,
}

/// What is known at one time.
struct Look {
    at: Instant,
    status: Status,
    dies: Vec<Die>,
}

/// The SSD below, if it is one that can be asked.
fn namespace(name: &str) -> Option<Namespace> {
    let tables = life::all("table").ok()?;
    let table = tables.iter().find(|table| table.name == name)?;

    Namespace::open(&mapper::disk(table)?).ok()
}

fn look(name: &str, namespace: Option<&Namespace>) -> Result<Look> {
    let target = mapper::first_target(name)?;

    Ok(Look {
        at: Instant::now(),
        status: mapper::status(name, &target.params)?,
        dies: namespace
            .and_then(|asked| dies(asked).ok())
            .unwrap_or_default(),
    })
}

/// So many in a second.
fn rate(before: u64, now: u64, elapsed: Duration) -> u64 {
    let ms = elapsed.as_millis().max(1);
    u64::try_from(u128::from(now.saturating_sub(before)) * 1000 / ms).unwrap_or(u64::MAX)
}

fn number(status: &Status, key: &str) -> Option<u64> {
    status
        .fields()
        .iter()
        .find_map(|(known, value)| match value {
            Value::Number(number) if known == key => Some(*number),
            _ => None,
        })
}

/// Counters that have grown: by the second, and in all.
fn print_counters(before: &Look, now: &Look, out: &mut impl Write) -> Result<()> {
    let elapsed = now.at.duration_since(before.at);

    writeln!(out, "{:<20}  {:>10}  {:>14}", "", "a second", "in all")?;
    for (key, value) in now.status.fields() {
        let Value::Number(value) = value else {
            continue;
        };
        let Some(last) = number(&before.status, key).filter(|last| last < value) else {
            continue;
        };
        let rate = rate(last, *value, elapsed);
        writeln!(out, "{key:<20}  {rate:>10}  {value:>14}")?;
    }
    Ok(())
}

/// How much of the time each die was busy.
fn print_dies(before: &Look, now: &Look, out: &mut impl Write) -> Result<()> {
    let elapsed_ns = now.at.duration_since(before.at).as_nanos().max(1);
    let busy: Vec<u128> = before
        .dies
        .iter()
        .zip(&now.dies)
        .map(|(before, now)| u128::from(now.busy_ns.saturating_sub(before.busy_ns)))
        .collect();
    let together = busy.len().div_ceil(MOST_ROWS).max(1);

    for (row, dies) in busy.chunks(together).enumerate() {
        let first = row * together;
        let percent = dies.iter().sum::<u128>() * 100 / (elapsed_ns * dies.len() as u128);
        let percent = u64::try_from(percent).unwrap_or(u64::MAX);
        let bar = "#".repeat((percent.min(100) * BAR).div_ceil(100) as usize);
        let name = match dies.len() {
            1 => format!("die {first}"),
            nr_dies => format!("dies {first}-{}", first + nr_dies - 1),
        };
        writeln!(
            out,
            "{}",
            format!("{name:<12} {percent:>4} %  {bar}").trim_end()
        )?;
    }
    Ok(())
}

fn print(name: &str, before: &Look, now: &Look, out: &mut impl Write) -> Result<()> {
    let word = |key| now.status.word(key);

    write!(out, "{name}: {} mode", word("mode").unwrap_or_default())?;
    for key in ["state", "hints"] {
        if let Some(value) = word(key) {
            write!(out, ", {key} {value}")?;
        }
    }
    writeln!(out)?;
    let grown = |key| {
        let last = number(&before.status, key).unwrap_or(0);
        number(&now.status, key).unwrap_or(0).saturating_sub(last)
    };
    let hinted = grown("append") + grown("overwrite");
    if let Some(percent) = (hinted * 100).checked_div(grown("writes")) {
        writeln!(out, "{percent} % of the writes with a hint")?;
    }
    print_counters(before, now, out)?;
    print_dies(before, now, out)
}

/// # Errors
///
/// When the device is not there, or no more.
pub fn run(args: &TopArgs, out: &mut impl Write) -> Result<()> {
    let namespace = namespace(&args.name);
    let clears = std::io::stdout().is_terminal();
    let mut before = look(&args.name, namespace.as_ref())?;
    let mut left = args.count;

    while left != Some(0) {
        thread::sleep(Duration::from_secs(args.interval));
        let now = look(&args.name, namespace.as_ref())?;
        if clears {
            write!(out, "\x1b[H\x1b[J")?;
        }
        print(&args.name, &before, &now, out)?;
        out.flush()?;
        before = now;
        left = left.map(|left| left - 1);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{print, rate, Look};
    use crate::device::nvme::dies::Die;
    use crate::status::Status;

    #[test]
    fn rates_are_by_the_second() {
        assert_eq!(rate(10, 30, Duration::from_secs(2)), 10);
        assert_eq!(rate(30, 10, Duration::from_secs(2)), 0);
        assert_eq!(rate(0, 5, Duration::ZERO), 5000);
    }

    #[test]
    fn only_what_happens_is_shown() {
        let at = Instant::now();
        let look = |status, at, busy_ns| Look {
            at,
            status: Status::parse(status).unwrap(),
            dies: vec![
                Die {
                    busy_ns,
                    ..Die::default()
                };
                2
            ],
        };
        let before = look(
            "mode=hint hints=on writes=10 append=5 overwrite=0 cut=3",
            at,
            0,
        );
        let now = look(
            "mode=hint hints=on writes=30 append=20 overwrite=0 cut=3",
            at + Duration::from_secs(2),
            500_000_000,
        );
        let mut text = Vec::new();
        print("demo", &before, &now, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("demo: hint mode, hints on\n75 % of the writes with a hint\n"));
        assert!(
            text.contains("\nwrites                        10              30\n"),
            "{text}"
        );
        assert!(!text.contains("cut"), "{text}");
        assert!(
            text.contains("\ndie 1          25 %  ##########\n"),
            "{text}"
        );
    }
}
