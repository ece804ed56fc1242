// SPDX-License-Identifier: GPL-2.0-only
//! The text that blkparse prints: `8,0  3  1  0.000000000  697  D  WFS 223490 + 8 [who]`.
//! What was issued to the driver (D) is what the drive got; other events are passed over.

use super::{number, seconds, Command, Line, Op, Parser};

pub(super) struct Blkparse;

const SECTOR_BYTES: u64 = 512;

/// Does the line begin with a device number?
pub(super) fn is_event(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or("");

    word.split_once(',')
        .is_some_and(|(major, minor)| major.parse::<u32>().is_ok() && minor.parse::<u32>().is_ok())
}

impl Parser for Blkparse {
    fn line(&mut self, line: &str) -> Result<Line, String> {
        // The summary.
        if line.starts_with("CPU") || line.starts_with("Total") {
            return Ok(Line::End);
        }
        if !is_event(line) {
            return Err("no event of blkparse: it begins with MAJOR,MINOR".to_owned());
        }
        let mut words = line.split_whitespace().skip(1);
        number(words.next(), "the CPU")?;
        number(words.next(), "the sequence number")?;
        let time = words.next().ok_or("the time is missing")?;
        let time_ns = seconds(time)
            .ok_or_else(|| format!("\"{time}\" is not a time in seconds with nine decimals"))?;
        number(words.next(), "the process")?;
        if words.next().ok_or("the event is missing")? != "D" {
            return Ok(Line::Nothing);
        }
        let rwbs = words.next().ok_or("the kind of I/O is missing")?;
        issued(time_ns, rwbs, words)
    }
}

/// The letters are: F for a flush before, the operation, F for FUA, then properties.
fn issued<'a>(
    time_ns: u64,
    rwbs: &str,
    mut words: impl Iterator<Item = &'a str>,
) -> Result<Line, String> {
    let letters = rwbs.strip_prefix('F').unwrap_or(rwbs);
    let mut command = Command {
        time_ns: Some(time_ns),
        op: match letters.chars().next() {
            Some('R') => Op::Read,
            Some('W') => Op::Write,
            Some('D') => Op::Trim,
            // A flush alone is FF, FN or F, depending on the kernel.
            Some('F' | 'N' | 'S' | 'M') | None if letters.len() < rwbs.len() => Op::Flush,
            // Passed through, or the administrator's.
            Some('N') => return Ok(Line::LeftOut),
            _ => return Err(format!("\"{rwbs}\" is no kind of I/O")),
        },
        ..Command::default()
    };
    if command.op == Op::Flush {
        return Ok(Line::Command(command));
    }
    let sector = number(words.next(), "the sector")?;
    if words.next() != Some("+") {
        return Err("\"+\" and the number of sectors are missing".to_owned());
    }
    let nr_sectors = number(words.next(), "the number of sectors")?;
    // A write that only flushes.
    if nr_sectors == 0 && letters.len() < rwbs.len() {
        command.op = Op::Flush;
        return Ok(Line::Command(command));
    }
    let too_large = || "the sector is beyond 2^64 bytes".to_owned();
    command.offset = sector.checked_mul(SECTOR_BYTES).ok_or_else(too_large)?;
    command.length = nr_sectors.checked_mul(SECTOR_BYTES).ok_or_else(too_large)?;
    command.fua = command.op == Op::Write && letters.chars().skip(1).any(|letter| letter == 'F');
    Ok(Line::Command(command))
}
