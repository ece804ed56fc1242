// SPDX-License-Identifier: GPL-2.0-only
//! The kernel's trace with the event `nvmev:nvmev_cmd`: what reached a virtual SSD, with
//! its hints, at the time at which the SSD took it. With `nvmev:nvmev_done` besides it is
//! known which commands were in flight together. LBAs are taken to be
//! of 512 bytes, which is how virtual SSDs come.

use std::collections::{HashMap, HashSet};

use super::{number, seconds, Command, Hint, Line, Op, Parser};

const EVENT: &str = " nvmev_cmd: ";
const DONE: &str = " nvmev_done: ";
/// What was written to trace_marker for us.
const MARKER: &str = " tracing_mark_write: dieaware: ";
const COUNTS: &str = "# entries-in-buffer/entries-written: ";
const LBA_BYTES: u64 = 512;

// Command dword 12.
const CDW12_APPEND: u64 = 1 << 24;
const CDW12_OVERWRITE: u64 = 1 << 25;
const CDW12_BEGIN: u64 = 1 << 16;
const CDW12_DEALLOCATE: u64 = 1 << 25;
const CDW12_FUA: u64 = 1 << 30;

const NVME_FLUSH: u64 = 0x00;
const NVME_WRITE: u64 = 0x01;
const NVME_READ: u64 = 0x02;
const NVME_COMPARE: u64 = 0x05;
const NVME_WRITE_ZEROES: u64 = 0x08;
const NVME_VERIFY: u64 = 0x0c;

#[derive(Default)]
pub(super) struct Nvmev {
    /// The only SSD that may be named.
    name: Option<String>,
    /// The only namespace of it whose LBAs may be.
    nsid: Option<u64>,
    /// Queue and identifier of the commands that have been seen and not their ends.
    in_flight: HashSet<(u64, u64)>,
    batch: u64,
    /// The end of a command was seen.
    has_ends: bool,
}

impl Parser for Nvmev {
    fn line(&mut self, line: &str) -> Result<Line, String> {
        if line.contains("LOST") && line.contains("EVENTS") {
            return Err("the kernel lost events: record with a larger buffer".to_owned());
        }
        if let Some(counts) = line.strip_prefix(COUNTS) {
            let mut counts = counts.split_whitespace().next().unwrap_or("").split('/');
            if counts.next() != counts.next() {
                return Err("the trace buffer was too small: the first events are lost".to_owned());
            }
        }
        if let Some((_, remark)) = line.split_once(MARKER) {
            return remark_of(remark);
        }
        if let Some((_, tail)) = line.split_once(DONE) {
            let fields = Fields::of(tail);
            self.name(fields.word("name")?)?;
            self.in_flight
                .remove(&(fields.number("qid")?, fields.number("cid")?));
            self.has_ends = true;
            return Ok(Line::Nothing);
        }
        let Some((head, tail)) = line.split_once(EVENT) else {
            return Ok(Line::Nothing);
        };
        let fields = Fields::of(tail);
        self.name(fields.word("name")?)?;
        let time_ns = match fields.0.get("fetched_ns") {
            Some(_) => fields.number("fetched_ns")?,
            None => time_of(head).ok_or("there is no time before the event")?,
        };
        let batch = self.batch_of(&fields)?;
        let mut line = command(time_ns, &fields)?;
        if let Line::Command(command) = &mut line {
            command.batch = batch;
            // A flush may be for all of them.
            if command.op != Op::Flush {
                self.namespace(&fields)?;
            }
        }
        Ok(line)
    }
}

/// What stands behind an event's name.
struct Fields<'a>(HashMap<&'a str, &'a str>);

impl<'a> Fields<'a> {
    fn of(tail: &'a str) -> Self {
        Self(
            tail.split_whitespace()
                .filter_map(|word| word.split_once('='))
                .collect(),
        )
    }

    fn word(&self, name: &str) -> Result<&'a str, String> {
        let word = self.0.get(name).copied();
        word.ok_or_else(|| format!("{name}= is missing"))
    }

    fn number(&self, name: &str) -> Result<u64, String> {
        let word = self.word(name)?;
        let value = match word.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => word.parse().ok(),
        };
        value.ok_or_else(|| format!("{name}={word} is not a number"))
    }
}

impl Nvmev {
    /// A command that comes while none is in flight begins a batch. Before the first end
    /// it is not known whether ends were recorded: those commands are one batch anyway.
    fn batch_of(&mut self, fields: &Fields) -> Result<Option<u64>, String> {
        if self.in_flight.is_empty() {
            self.batch += 1;
        }
        self.in_flight
            .insert((fields.number("qid")?, fields.number("cid")?));
        Ok(self.has_ends.then_some(self.batch))
    }

    fn name(&mut self, word: &str) -> Result<(), String> {
        match &self.name {
            None => self.name = Some(word.to_owned()),
            Some(name) if name == word => {}
            Some(name) => {
                return Err(format!(
                    "the trace is of more than one SSD, {name} and {word}: take the lines of one"
                ))
            }
        }
        Ok(())
    }
}

impl Nvmev {
    /// LBAs of several namespaces have the same numbers, and are not the same.
    fn namespace(&mut self, fields: &Fields) -> Result<(), String> {
        let nsid = fields.number("nsid")?;
        let known = *self.nsid.get_or_insert(nsid);

        if nsid == known {
            return Ok(());
        }
        Err(format!(
            "the trace is of more than one namespace, {known} and {nsid}: take the lines of one"
        ))
    }
}

fn remark_of(remark: &str) -> Result<Line, String> {
    let mut command = Command::default();

    match remark.split_once(' ').unwrap_or((remark, "")) {
        ("mark", "") => command.op = Op::Mark,
        ("idle", duration) => {
            command.op = Op::Idle;
            command.length = number(Some(duration), "the duration in nanoseconds")?;
        }
        _ => return Err(format!("\"{remark}\" is no remark: idle and mark are")),
    }
    Ok(Line::Command(command))
}

/// The last word before the event is the time in seconds and a colon.
fn time_of(head: &str) -> Option<u64> {
    seconds(head.split_whitespace().last()?.strip_suffix(':')?)
}

fn command(time_ns: u64, fields: &Fields) -> Result<Line, String> {
    let field = |name| fields.number(name);
    let opcode = field("opcode")?;
    let cdw12 = field("cdw12")?;
    let too_large = || "slba= is beyond 2^64 bytes".to_owned();
    let mut command = Command {
        time_ns: Some(time_ns),
        op: match opcode {
            NVME_FLUSH => Op::Flush,
            NVME_WRITE => Op::Write,
            NVME_WRITE_ZEROES if cdw12 & CDW12_DEALLOCATE != 0 => Op::Trim,
            NVME_WRITE_ZEROES => Op::Write,
            NVME_READ | NVME_COMPARE | NVME_VERIFY => Op::Read,
            // Dataset Management names its ranges in data, which the event does not show.
            _ => return Ok(Line::LeftOut),
        },
        no_data: matches!(opcode, NVME_WRITE_ZEROES | NVME_VERIFY),
        ..Command::default()
    };
    if command.op == Op::Flush {
        return Ok(Line::Command(command));
    }
    let slba = field("slba")?;
    command.offset = slba.checked_mul(LBA_BYTES).ok_or_else(too_large)?;
    command.length = field("nlb")?.checked_mul(LBA_BYTES).ok_or_else(too_large)?;
    command.fua = command.op == Op::Write && cdw12 & CDW12_FUA != 0;
    if opcode == NVME_WRITE {
        command.hint = match cdw12 & (CDW12_APPEND | CDW12_OVERWRITE | CDW12_BEGIN) {
            CDW12_APPEND => {
                let pred = field("cdw2")? | field("cdw3")? << 32;
                Hint::Append(pred.saturating_mul(LBA_BYTES))
            }
            CDW12_OVERWRITE => Hint::Overwrite,
            CDW12_BEGIN => Hint::Append(u64::MAX),
            _ => Hint::None,
        };
    }
    command.no_data &= command.op != Op::Trim;
    Ok(Line::Command(command))
}
