// SPDX-License-Identifier: GPL-2.0-only
//! The project's own trace: words, one command a line. dieaware-sim(8) describes it.

use super::{number, Command, Hint, Line, Op, Parser, USUAL_THRESHOLD};

pub(super) struct Text;

/// The line with which a trace of this format begins.
pub(super) fn is_header(line: &str) -> bool {
    line.trim_start_matches('#').trim() == "dieaware trace 1" && line.starts_with('#')
}

impl Parser for Text {
    fn line(&mut self, line: &str) -> Result<Line, String> {
        let line = line.split('#').next().unwrap_or("");
        let mut words = line.split_whitespace();
        let Some(time) = words.next() else {
            return Ok(Line::Nothing);
        };
        let mut command = Command {
            time_ns: match time {
                "-" => None,
                time => Some(number(Some(time), "the time in nanoseconds (or -)")?),
            },
            op: op(words.next())?,
            ..Command::default()
        };
        match command.op {
            Op::Flush | Op::Mark => {}
            Op::Idle => command.length = number(words.next(), "the duration in nanoseconds")?,
            _ => {
                command.offset = number(words.next(), "the offset in bytes")?;
                command.length = number(words.next(), "the length in bytes")?;
            }
        }
        if command.op == Op::Redistribute {
            command.threshold = USUAL_THRESHOLD;
        }
        if command.op == Op::Share {
            let word = words.next().and_then(|word| word.strip_prefix("to="));
            command.to = number(word, "to= with an offset in bytes")?;
        }
        for word in words {
            attribute(&mut command, word)?;
        }
        Ok(Line::Command(command))
    }
}

fn op(word: Option<&str>) -> Result<Op, String> {
    match word {
        Some("read") => Ok(Op::Read),
        Some("write") => Ok(Op::Write),
        Some("trim") => Ok(Op::Trim),
        Some("flush") => Ok(Op::Flush),
        Some("share") => Ok(Op::Share),
        Some("redistribute") => Ok(Op::Redistribute),
        Some("idle") => Ok(Op::Idle),
        Some("mark") => Ok(Op::Mark),
        Some(word) => Err(format!(
            "\"{word}\" is no command: read, write, trim, flush, share, redistribute, idle and mark are"
        )),
        None => Err("the command is missing behind the time".to_owned()),
    }
}

fn attribute(command: &mut Command, word: &str) -> Result<(), String> {
    let is_write = command.op == Op::Write;

    match word.split_once('=').unwrap_or((word, "")) {
        ("append", pred) if is_write && command.hint == Hint::None => {
            let pred = number(Some(pred), "the offset that append= names, in bytes,")?;
            command.hint = Hint::Append(pred);
        }
        ("begin", "") if is_write && command.hint == Hint::None => {
            command.hint = Hint::Append(u64::MAX);
        }
        ("overwrite", "") if is_write && command.hint == Hint::None => {
            command.hint = Hint::Overwrite;
        }
        ("threshold", value) if command.op == Op::Redistribute => {
            command.threshold = number(Some(value), "threshold= in thousandths")?;
        }
        ("fua", "") if is_write => command.fua = true,
        ("nodata", "") if is_write || command.op == Op::Read => command.no_data = true,
        _ => {
            return Err(format!(
                "\"{word}\" does not belong behind a {}",
                command.op.name()
            ))
        }
    }
    Ok(())
}
