// SPDX-License-Identifier: GPL-2.0-only
//! What a host asked of a drive, from the formats in which others wrote it down. Every
//! complaint names file and line.

mod blkparse;
mod fio;
mod nvmev;
mod text;

use std::fmt;
use std::io::{self, BufRead};

use clap::ValueEnum;
use thiserror::Error;

/// What is asked for.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Op {
    #[default]
    Read,
    Write,
    Trim,
    Flush,
    /// Let [`Command::to`] have the same data.
    Share,
    /// Spread over the dies if they lie on few.
    Redistribute,
    /// Not a command: wait for all others, then do nothing for [`Command::length`] ns.
    Idle,
    /// Not a command: speeds and latencies are those of what follows.
    Mark,
}

impl Op {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Flush => "flush",
            Self::Share => "share",
            Self::Redistribute => "redistribute",
            Self::Idle => "idle",
            Self::Mark => "mark",
        }
    }

    /// Is it none of the drive's business?
    #[must_use]
    pub fn is_remark(self) -> bool {
        matches!(self, Self::Idle | Self::Mark)
    }

    /// Does it name a part of the drive?
    #[must_use]
    pub fn has_range(self) -> bool {
        !self.is_remark() && self != Self::Flush
    }
}

/// Most bytes of a share or a redistribute.
const MAX_VENDOR_BYTES: u64 = 64 << 20;

/// Times and the sum of idle times go that far, 146 years: what a drive adds to them does not overflow.
const MOST_NS: u64 = 1 << 62;

/// `DoF_P` in thousandths from which pages are spread if the trace does not tell.
const USUAL_THRESHOLD: u64 = 500;

/// Where a write wants to be placed: see `include/dieaware/hint.h`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Hint {
    #[default]
    None,
    /// Behind the page at this byte offset.
    Append(u64),
    Overwrite,
}

/// One command of a trace.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Command {
    /// When it was given, if the trace tells; from any beginning.
    pub time_ns: Option<u64>,
    /// Which commands were in flight together, if the trace tells: not from one batch to
    /// the next.
    pub batch: Option<u64>,
    pub op: Op,
    /// Bytes from the beginning of the drive, whole sectors.
    pub offset: u64,
    /// Bytes; of [`Op::Idle`] nanoseconds.
    pub length: u64,
    pub hint: Hint,
    /// Durable on completion.
    pub fua: bool,
    /// No data crosses the link (write zeroes, verify).
    pub no_data: bool,
    /// Of [`Op::Share`]: where the data is to be as well.
    pub to: u64,
    /// Of [`Op::Redistribute`]: `DoF_P` in thousandths from which it is done.
    pub threshold: u64,
}

impl Command {
    /// Bytes that cross the host link.
    #[must_use]
    pub fn link_bytes(&self) -> u64 {
        match self.op {
            Op::Read | Op::Write if !self.no_data => self.length,
            _ => 0,
        }
    }
}

/// As a line of the project's own trace.
impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.time_ns {
            Some(time_ns) => write!(f, "{time_ns}")?,
            None => f.write_str("-")?,
        }
        write!(f, " {}", self.op.name())?;
        match self.op {
            Op::Flush | Op::Mark => {}
            Op::Idle => write!(f, " {}", self.length)?,
            _ => write!(f, " {} {}", self.offset, self.length)?,
        }
        match self.op {
            Op::Share => write!(f, " to={}", self.to)?,
            Op::Redistribute => write!(f, " threshold={}", self.threshold)?,
            _ => {}
        }
        match self.hint {
            Hint::None => {}
            Hint::Append(u64::MAX) => f.write_str(" begin")?,
            Hint::Append(pred) => write!(f, " append={pred}")?,
            Hint::Overwrite => f.write_str(" overwrite")?,
        }
        if self.fua {
            f.write_str(" fua")?;
        }
        if self.no_data {
            f.write_str(" nodata")?;
        }
        Ok(())
    }
}

/// A format of traces.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Format {
    /// The project's own: see dieaware-sim(8)
    Text,
    /// fio's write_iolog, versions 2 and 3
    Fio,
    /// Output of blkparse: what was issued to the driver (D)
    Blkparse,
    /// The kernel's trace with the events nvmev:nvmev_cmd and nvmev:nvmev_done
    Nvmev,
}

/// What is wrong with a line, and which.
#[derive(Debug, Error)]
#[error("{file}:{line}: {reason}")]
pub struct TraceError {
    pub file: String,
    pub line: usize,
    pub reason: String,
}

/// Why a trace is not there: it cannot be read, or is not understood.
#[derive(Debug, Error)]
pub enum ReadError {
    #[error(transparent)]
    Line(#[from] TraceError),
    #[error("{0}: {1}")]
    Io(String, #[source] io::Error),
}

/// A trace that was read.
#[derive(Debug, Default)]
pub struct Trace {
    pub commands: Vec<Command>,
    /// The line of each command.
    pub lines: Vec<usize>,
    /// Commands of the trace that cannot be replayed, because it does not tell enough of
    /// them or because they are none of a drive's.
    pub left_out: u64,
}

/// What a line of a trace is.
enum Line {
    Command(Command),
    /// A command that cannot be replayed.
    LeftOut,
    /// A comment, or something that is no command.
    Nothing,
    /// What follows is no trace any more.
    End,
}

/// Understands a format line by line; an error is a phrase without a full stop.
trait Parser {
    fn line(&mut self, line: &str) -> Result<Line, String>;
}

/// By the first line that says something.
fn format_of(line: &str) -> Option<Format> {
    if line.starts_with("fio version") {
        Some(Format::Fio)
    } else if text::is_header(line) {
        Some(Format::Text)
    } else if line.starts_with('#') || line.contains("nvmev_cmd:") {
        Some(Format::Nvmev)
    } else if blkparse::is_event(line) {
        Some(Format::Blkparse)
    } else {
        None
    }
}

fn parser(format: Format) -> Box<dyn Parser> {
    match format {
        Format::Text => Box::new(text::Text),
        Format::Fio => Box::new(fio::Fio::default()),
        Format::Blkparse => Box::new(blkparse::Blkparse),
        Format::Nvmev => Box::new(nvmev::Nvmev::default()),
    }
}

impl Trace {
    /// The line of a command, counted from 1; 0 if there is no such one.
    #[must_use]
    pub fn line_of(&self, number: usize) -> usize {
        self.lines.get(number).copied().unwrap_or(0)
    }

    /// Read a trace; `file` is its name for complaints. Without a format it is found out.
    ///
    /// # Errors
    ///
    /// When the trace cannot be read, or one of its lines is not understood.
    pub fn read(
        file: &str,
        mut input: impl BufRead,
        format: Option<Format>,
    ) -> Result<Self, ReadError> {
        let mut trace = Self::default();
        let mut parser = format.map(parser);
        let mut bytes = Vec::new();
        let mut idle_ns: u64 = 0;

        for line in 1.. {
            let wrong = |reason: String| TraceError {
                file: file.to_owned(),
                line,
                reason,
            };
            bytes.clear();
            let nr = input
                .read_until(b'\n', &mut bytes)
                .map_err(|err| ReadError::Io(file.to_owned(), err))?;
            if nr == 0 {
                break;
            }
            let text = String::from_utf8_lossy(&bytes);
            let text = text.trim();
            if text.is_empty() {
                continue;
            }
            let parser = match &mut parser {
                Some(parser) => parser,
                none => none.insert(self::parser(format_of(text).ok_or_else(|| {
                    wrong("this is no trace of a known format: name it with --format".to_owned())
                })?)),
            };
            match parser.line(text).map_err(wrong)? {
                Line::Command(command) => {
                    checked(&command).map_err(wrong)?;
                    if command.op == Op::Idle {
                        idle_ns = idle_ns.saturating_add(command.length);
                    }
                    if idle_ns.max(command.time_ns.unwrap_or(0)) > MOST_NS {
                        return Err(wrong("the time is beyond 2^62 nanoseconds".to_owned()).into());
                    }
                    trace.commands.push(command);
                    trace.lines.push(line);
                }
                Line::LeftOut => trace.left_out += 1,
                Line::Nothing => {}
                Line::End => break,
            }
        }
        Ok(trace)
    }

    /// Do all commands have a time that need one?
    #[must_use]
    pub fn has_times(&self) -> bool {
        self.commands
            .iter()
            .all(|command| command.time_ns.is_some() || command.op.is_remark())
    }
}

/// What holds for commands of every format.
fn checked(command: &Command) -> Result<(), String> {
    if !command.op.has_range() {
        return Ok(());
    }
    if command.length == 0 {
        return Err(format!("a {} of no bytes", command.op.name()));
    }
    if command.offset % 512 != 0 || command.length % 512 != 0 {
        return Err("offset and length must be multiples of 512 bytes".to_owned());
    }
    if command.offset.checked_add(command.length).is_none() {
        return Err("offset and length together are beyond 2^64".to_owned());
    }
    if matches!(command.op, Op::Share | Op::Redistribute) {
        return checked_vendor(command);
    }
    Ok(())
}

/// What the drive's vendor commands want besides.
fn checked_vendor(command: &Command) -> Result<(), String> {
    if [command.offset, command.length, command.to]
        .iter()
        .any(|bytes| bytes % 4096 != 0)
    {
        return Err(format!(
            "a {} wants multiples of 4096 bytes",
            command.op.name()
        ));
    }
    if command.length > MAX_VENDOR_BYTES {
        return Err(format!("a {} of more than 64 MiB", command.op.name()));
    }
    if command.threshold > 1000 {
        return Err("threshold= is between 0 and 1000 thousandths".to_owned());
    }
    if command.op == Op::Share && command.offset.abs_diff(command.to) < command.length {
        return Err("a share whose ranges overlap".to_owned());
    }
    Ok(())
}

/// A whole number, or the reason why not.
fn number(word: Option<&str>, what: &str) -> Result<u64, String> {
    let word = word.ok_or_else(|| format!("{what} is missing"))?;
    word.parse()
        .map_err(|_| format!("\"{word}\" is not a number, but {what} is one"))
}

/// Seconds with a fraction, as nanoseconds.
fn seconds(word: &str) -> Option<u64> {
    let (whole, fraction) = word.split_once('.').unwrap_or((word, ""));
    if fraction.len() > 9 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let fraction: u64 = format!("{fraction:0<9}").parse().ok()?;
    whole.checked_mul(1_000_000_000)?.checked_add(fraction)
}

#[cfg(test)]
mod tests;
