// SPDX-License-Identifier: GPL-2.0-only
//! Why pages are where they are: what placement decided for commands of a trace, and by which of
//! the rules in `nvmevirt-backend/core/place.h`, in words.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::drive::{Drive, MapWork, Place, Placement};
use super::trace::{Command, Op, Trace};

/// Lines of a trace whose commands are explained, both included.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Lines {
    first: usize,
    last: usize,
}

impl FromStr for Lines {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self {
                first: 1,
                last: usize::MAX,
            });
        }
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (first.parse(), last.parse()) {
            (Ok(first), Ok(last)) if 0 < first && first <= last => Ok(Self { first, last }),
            _ => Err(
                "write the number of a line of the trace, 7, or of several, 7-12, or all"
                    .to_owned(),
            ),
        }
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.first, self.last) {
            (first, last) if first == last => write!(f, "line {first}"),
            (first, usize::MAX) => write!(f, "lines from {first} on"),
            (first, last) => write!(f, "lines {first} to {last}"),
        }
    }
}

impl Lines {
    #[must_use]
    pub fn contain(&self, line: usize) -> bool {
        (self.first..=self.last).contains(&line)
    }

    /// Is there a command on one of them?
    #[must_use]
    pub fn are_in(&self, trace: &Trace) -> bool {
        trace.lines.iter().any(|line| self.contain(*line))
    }
}

/// What was decided for a command.
#[derive(Debug, Serialize)]
pub struct Explanation {
    pub line: usize,
    /// As a line of the project's own trace.
    pub command: String,
    pub placements: Vec<Placement>,
    pub map: MapWork,
    #[serde(skip)]
    writes: bool,
    #[serde(skip)]
    unit_pages: u32,
}

impl Explanation {
    /// Of the command that was executed last.
    #[must_use]
    pub fn of(drive: &Drive, line: usize, command: &Command) -> Self {
        Self {
            line,
            command: command.to_string(),
            placements: drive.placements(),
            map: drive.map_work(),
            writes: matches!(command.op, Op::Write | Op::Redistribute),
            unit_pages: drive.unit_pages(),
        }
    }
}

/// For people: a line for the command, and one for each decision.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "line {}: {}", self.line, self.command)?;
        if self.placements.is_empty() {
            let why = if self.writes {
                "nothing was placed"
            } else {
                "only writes are placed"
            };
            writeln!(f, "  {why}")?;
        }
        for placement in &self.placements {
            writeln!(f, "  {}", Words(placement, self.unit_pages))?;
        }
        if self.map != MapWork::default() {
            writeln!(f, "  {}", MapWords(self.map))?;
        }
        Ok(())
    }
}

/// What became of the map in words.
struct MapWords(MapWork);

impl fmt::Display for MapWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MapWork {
            hits,
            misses,
            programs,
            pages_programmed,
        } = self.0;

        write!(
            f,
            "map: {hits} looks at pages in memory, {misses} that had one sensed"
        )?;
        if programs > 0 {
            write!(
                f,
                "; {programs} programs of {pages_programmed} pages that had changed"
            )?;
        }
        Ok(())
    }
}

/// A decision in words; pages of a unit.
struct Words<'a>(&'a Placement, u32);

/// Numbers of pages or slots.
struct Span(u64, u32);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            0 | 1 => write!(f, "{}", self.0),
            nr => write!(f, "{}-{}", self.0, self.0 + u64::from(nr) - 1),
        }
    }
}

impl Words<'_> {
    /// Where a page is that is somewhere.
    fn place(&self, f: &mut fmt::Formatter<'_>, place: &Place) -> fmt::Result {
        write!(f, "die {}, ", place.die)?;
        match place.nr_filled {
            0 => write!(f, "on NAND in unit {}", place.unit),
            nr if nr == self.1 => write!(f, "in unit {}, which is full", place.unit),
            nr => write!(f, "in open unit {}, {nr} of {} slots", place.unit, self.1),
        }
    }

    /// What the command wants of the page.
    fn wish(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(placement, _) = self;

        match placement.hint {
            "append" if placement.rule.starts_with('3') => {}
            "none" => f.write_str("no hint")?,
            hint => f.write_str(hint)?,
        }
        // Of the other hints only the pages behind the first one follow another.
        let word = match placement.hint {
            "append" => "append after",
            "overwrite" | "begin" => ", behind",
            _ => "",
        };
        if let (Some(pred), true, true) = (
            placement.pred,
            placement.rule.starts_with('3'),
            !word.is_empty(),
        ) {
            write!(f, "{word} lpn {pred}")?;
            if let Some(place) = &placement.pred_at {
                f.write_str(" (")?;
                self.place(f, place)?;
                f.write_str(")")?;
            }
        }
        if let Some(before) = &placement.before {
            f.write_str("; was on ")?;
            self.place(f, before)?;
        }
        Ok(())
    }

    /// What the rule says, for who has not read it.
    fn rule(&self) -> &'static str {
        let Self(placement, _) = self;
        let opens = placement.wanted_die.is_some();

        match (placement.rule, opens) {
            ("1", _) => "it is replaced in its slot",
            ("2", false) => "it fills the plain unit",
            ("2", true) => "a plain unit is opened on the die whose turn it is",
            ("3a", _) => "it joins the unit that its predecessor ends",
            ("3b", _) => "a run unit is opened on the die after its predecessor's",
            ("3c", false) => "it goes to the unit in which its run goes on",
            ("3c", true) => "its run gets a unit more, on the die after its predecessor's",
            ("3d", _) => "a file begins on the die after the last one's",
            ("4", false) => "it goes to the run unit that gathers the pages of its unit",
            ("4", true) => "a run unit is opened that replaces its unit, on the same die",
            ("4 DIE", false) => "it goes behind what was sent to the die last",
            ("4 DIE", true) => "a run unit is opened on the die that was named",
            _ => "",
        }
    }

    /// What becomes of a whole unit: rules 6 and 7 are about no page of the command.
    fn unit(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(placement, _) = self;
        let nr_pages = placement.nr_pages;

        match (&placement.before, &placement.after) {
            (Some(before), Some(after)) => write!(
                f,
                "die {} is as far ahead as it may be: rule 7, a unit goes to the slowest one -> \
                 unit {} of {nr_pages} pages leaves it for die {}",
                before.die, before.unit, after.die
            ),
            (Some(run), None) => write!(
                f,
                "too many runs are open: rule 6, the one not used for longest is put out -> its \
                 {nr_pages} pages leave unit {} for the mixed unit of die {}",
                run.unit, run.die
            ),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(placement, _) = self;
        let (Some(lpn), Some(after)) = (placement.lpn, &placement.after) else {
            return self.unit(f);
        };

        write!(f, "lpn {}: ", Span(lpn, placement.nr_pages))?;
        self.wish(f)?;
        write!(f, ": rule {}, {}", placement.rule, self.rule())?;
        if placement.is_levelled {
            f.write_str("; its die is worn, and another one takes it")?;
        }
        if let Some(wanted) = placement.wanted_die.filter(|wanted| *wanted != after.die) {
            write!(f, "; die {wanted} is full (rule 5)")?;
        }
        let slots = Span(u64::from(after.slot), placement.nr_pages);
        write!(
            f,
            " -> die {}, unit {}, slot {slots}",
            after.die, after.unit
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn lines_are_one_or_several_or_all() {
        let lines = |text: &str| text.parse::<Lines>();
        assert_eq!(lines("7"), Ok(Lines { first: 7, last: 7 }));
        assert_eq!(lines("7-12"), Ok(Lines { first: 7, last: 12 }));
        assert!(lines("all").unwrap().contain(1));
        assert!(lines("7-12").unwrap().contain(12));
        assert!(!lines("7-12").unwrap().contain(13));
        for wrong in ["", "0", "x", "7-", "-7", "12-7", "1.5", "7-12-13"] {
            assert!(lines(wrong).is_err(), "{wrong}");
        }
        assert_eq!(lines("7").unwrap().to_string(), "line 7");
        assert_eq!(lines("7-9").unwrap().to_string(), "lines 7 to 9");
    }
}
