// SPDX-License-Identifier: GPL-2.0-only
//! fio's I/O logs (`write_iolog`). Version 2 has waits instead of times: their sum is the
//! time of what follows. All files of a log are taken for the same drive, so a log should
//! be of one.

use super::{number, Command, Line, Op, Parser};

#[derive(Default)]
pub(super) struct Fio {
    version: Option<Version>,
    /// The only file that may be named.
    file: Option<String>,
    /// Version 2: where its waits have come to.
    waited_us: Option<u64>,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Version {
    Two,
    Three,
}

impl Parser for Fio {
    fn line(&mut self, line: &str) -> Result<Line, String> {
        let Some(version) = self.version else {
            self.version = Some(match line {
                "fio version 2 iolog" => Version::Two,
                "fio version 3 iolog" => Version::Three,
                _ => return Err("only I/O logs of fio's versions 2 and 3 are known".to_owned()),
            });
            return Ok(Line::Nothing);
        };
        let mut words = line.split_whitespace();
        let time_us = match version {
            Version::Two => self.waited_us,
            Version::Three => Some(number(words.next(), "the time")?),
        };
        self.file(words.next())?;
        let action = words.next().ok_or("the action is missing")?;
        let rest: Vec<&str> = words.collect();
        if rest.len() > 2 {
            return Err("there are words behind offset and length".to_owned());
        }
        let mut rest = rest.into_iter();
        let op = match action {
            "add" | "open" | "close" => return Ok(Line::Nothing),
            "wait" if version == Version::Two => return self.wait(rest.next()),
            "read" => Op::Read,
            "write" => Op::Write,
            "trim" => Op::Trim,
            "sync" | "datasync" => Op::Flush,
            "sync_file_range" | "syncfs" => return Ok(Line::LeftOut),
            _ => return Err(format!("\"{action}\" is no action of an I/O log")),
        };
        let mut command = Command {
            time_ns: match time_us {
                Some(time_us) => Some(time_us.checked_mul(1000).ok_or("the time is too large")?),
                None => None,
            },
            op,
            ..Command::default()
        };
        if op != Op::Flush {
            command.offset = number(rest.next(), "the offset")?;
            command.length = number(rest.next(), "the length")?;
        }
        Ok(Line::Command(command))
    }
}

impl Fio {
    fn file(&mut self, word: Option<&str>) -> Result<(), String> {
        let word = word.ok_or("the name of a file is missing")?;

        match &self.file {
            None => self.file = Some(word.to_owned()),
            Some(file) if file == word => {}
            Some(file) => {
                return Err(format!(
                    "the log is of more than one file, {file} and {word}: a drive is one"
                ))
            }
        }
        Ok(())
    }

    fn wait(&mut self, word: Option<&str>) -> Result<Line, String> {
        let wait_us = number(word, "the time to wait")?;
        let waited_us = self.waited_us.unwrap_or(0).checked_add(wait_us);

        self.waited_us = Some(waited_us.ok_or("the time is too large")?);
        Ok(Line::Nothing)
    }
}
