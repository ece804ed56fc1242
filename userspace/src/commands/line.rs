// SPDX-License-Identifier: GPL-2.0-only
//! Table lines of our target, taken apart.

use super::mapper;
use crate::units::DeviceNumber;

/// A table line of our target.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Line {
    pub len_sectors: u64,
    pub below: DeviceNumber,
    pub start_sectors: u64,
    pub mode: String,
    /// What comes behind, as it is.
    pub options: String,
}

pub fn parse_line(line: &str) -> Option<Line> {
    let mut words = line.trim().splitn(7, ' ');
    let mut next = || words.next();
    if next()? != "0" {
        return None;
    }
    let len_sectors = next()?.parse().ok()?;
    if next()? != "dieaware" {
        return None;
    }
    Some(Line {
        len_sectors,
        below: next()?.parse().ok()?,
        start_sectors: next()?.parse().ok()?,
        mode: next()?.to_owned(),
        options: next().unwrap_or_default().to_owned(),
    })
}

impl Line {
    pub fn text(&self) -> String {
        let Self {
            len_sectors,
            below,
            start_sectors,
            mode,
            options,
        } = self;
        let line = mapper::table_line(*len_sectors, below, *start_sectors, mode);
        format!("{line} {options}").trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::parse_line;

    #[test]
    fn only_the_length_of_a_table_line_changes() {
        for text in [
            "0 8192 dieaware 259:1 0 hint",
            "0 8192 dieaware 259:1 2048 log 2 map_cache_mb=8 idle_ms=50",
        ] {
            let mut line = parse_line(text).unwrap();
            assert_eq!(line.text(), text);
            line.len_sectors = 16384;
            assert_eq!(line.text(), text.replacen("8192", "16384", 1));
        }
        for text in [
            "",
            "0 8192 linear 259:1 0",
            "8 8192 dieaware 259:1 0 hint",
            "0 x dieaware 259:1 0 hint",
            "0 8192 dieaware 259:1",
        ] {
            assert_eq!(parse_line(text), None, "{text}");
        }
    }
}
