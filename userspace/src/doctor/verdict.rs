// SPDX-License-Identifier: GPL-2.0-only
//! What times mean: whether this filesystem's files are read more slowly than they could be, what costs
//! more, and what each remedy would gain. Nothing here reads or knows a clock.

use std::fmt;

use serde::{Serialize, Serializer};

use super::stats::{Interval, Memory, Parts};
use super::windows::LEAST;

/// Reads that take longer by less are as fast: nobody moves data for it, nor does `defrag`.
pub const COSTS_PERMILLE: u64 = 1100;

/// What windows in one piece may differ by among themselves. One that begins inside of a die unit has
/// five units on a die where others have four, or two where others have one of each half.
pub const UNEVEN_PERMILLE: u64 = 1500;

/// What is known.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// There is a file of our own, which lies as well as a file can.
    pub has_own: bool,
    /// All files were looked at.
    pub has_seen_all: bool,
    /// Windows that can be timed.
    pub nr_in_pieces: usize,
    pub nr_whole: usize,
    /// Files in pieces by those in one, or by our own.
    pub parts: Option<Parts>,
    /// The slowest of what is in one piece by the fastest.
    pub unevenness: Option<Interval>,
    /// What is in one piece by our own.
    pub aged: Option<Interval>,
    /// Requests were put together again on their way, so that splitting and places are not told apart.
    pub is_merged: bool,
    /// Most reads were answered by a memory of the host.
    pub is_cached: bool,
    /// The drive remembers what it has read, so that only first reads count.
    pub memory: Memory,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Affected,
    NotAffected,
    CannotTell,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Affected => "affected",
            Self::NotAffected => "not affected",
            Self::CannotTell => "cannot tell",
        })
    }
}

/// Why.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reason {
    /// Files in pieces take longer.
    Pieces(Interval),
    /// Files in one piece take longer than one that was written just now.
    Aged(Interval),
    /// Some files in one piece take longer than others.
    Uneven(Interval),
    /// Files in pieces take no longer.
    PiecesCostNothing(Interval),
    /// Next to nothing is in pieces, and what is in one is read as our own is.
    NoPieces,
    /// What was measured may mean either.
    Noisy(Interval),
    /// There is too little to be timed.
    TooLittle,
    /// What is in one piece is read evenly, but all of it may lie as badly.
    Alike,
    /// There is nothing to compare with.
    NothingWhole,
    NotAllSeen,
    NoTime,
    /// What was timed is not the drive.
    Cached,
}

impl Reason {
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Pieces(_) | Self::Aged(_) | Self::Uneven(_) => Verdict::Affected,
            Self::PiecesCostNothing(_) | Self::NoPieces => Verdict::NotAffected,
            _ => Verdict::CannotTell,
        }
    }

    /// A word for programs.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pieces(_) => "pieces",
            Self::Aged(_) => "aged",
            Self::Uneven(_) => "uneven",
            Self::PiecesCostNothing(_) => "pieces-cost-nothing",
            Self::NoPieces => "no-pieces",
            Self::Alike => "alike",
            Self::Noisy(_) => "noisy",
            Self::TooLittle => "too-little",
            Self::NothingWhole => "nothing-whole",
            Self::NotAllSeen => "not-all-seen",
            Self::NoTime => "no-time",
            Self::Cached => "cached",
        }
    }
}

/// A factor with two decimals.
#[must_use]
pub fn factor(permille: u64) -> String {
    let hundredths = permille.saturating_add(5) / 10;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} to {}",
            factor(self.low_permille),
            factor(self.high_permille)
        )
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pieces(times) => write!(
                f,
                "the files in most pieces take {times} times as long to read as files in one piece"
            ),
            Self::Aged(times) => write!(
                f,
                "files in one piece take {times} times as long to read as one that was written just now"
            ),
            Self::Uneven(times) => write!(
                f,
                "of files in one piece some take {times} times as long to read as others"
            ),
            Self::PiecesCostNothing(times) => write!(
                f,
                "even the files in most pieces take only {times} times as long to read as files in one piece"
            ),
            Self::NoPieces => f.write_str(
                "next to no file that is worth reading is in pieces, and the others are read as quickly as \
                 one that was written just now",
            ),
            Self::Alike => f.write_str(
                "next to no file that is worth reading is in pieces, and the others are read alike; \
                 whether all of them could be read faster shows by a new one, which --write makes",
            ),
            Self::Noisy(times) => write!(
                f,
                "the times differ too much from one read to the next: {times} times as long can mean \
                 either; try again when the drive has less to do, or with a longer --time"
            ),
            Self::TooLittle => write!(
                f,
                "fewer than {LEAST} parts of files of 128 KiB or more can be timed; --write makes a file \
                 to compare with"
            ),
            Self::NothingWhole => f.write_str(
                "there is no file in one piece to compare with; --write makes one",
            ),
            Self::NotAllSeen => f.write_str(
                "not all files were looked at in the time, and those that were are in one piece; try a \
                 longer --time, or a folder",
            ),
            Self::NoTime => f.write_str("there was no time for three rounds of reads; try a longer --time"),
            Self::Cached => f.write_str(
                "most reads were answered from this machine's memory, as this filesystem does not read past it",
            ),
        }
    }
}

/// Is it certain that reads take longer by more than that? `None`: it may be either.
fn costs(times: Interval, most_permille: u64) -> Option<bool> {
    if times.low_permille >= most_permille {
        Some(true)
    } else if times.high_permille <= most_permille {
        Some(false)
    } else {
        None
    }
}

/// What the facts mean.
#[must_use]
pub fn judge(facts: &Facts) -> Reason {
    type Meaning = fn(Interval) -> Reason;
    let total = facts.parts.map(|parts| parts.total);
    let found: [(Option<Interval>, u64, Meaning); 3] = [
        (total, COSTS_PERMILLE, Reason::Pieces),
        (facts.aged, COSTS_PERMILLE, Reason::Aged),
        (facts.unevenness, UNEVEN_PERMILLE, Reason::Uneven),
    ];

    if facts.is_cached {
        return Reason::Cached;
    }
    for (times, most, meaning) in found {
        if let Some(times) = times.filter(|times| costs(*times, most) == Some(true)) {
            return meaning(times);
        }
    }
    for (times, most, _) in found {
        if let Some(times) = times.filter(|times| costs(*times, most).is_none()) {
            return Reason::Noisy(times);
        }
    }
    match total {
        Some(times) => Reason::PiecesCostNothing(times),
        None => judge_without_pieces(facts),
    }
}

/// The same where nothing in pieces was timed.
fn judge_without_pieces(facts: &Facts) -> Reason {
    let is_in_pieces = facts.nr_in_pieces >= LEAST;

    if is_in_pieces && facts.nr_whole < LEAST && !facts.has_own {
        Reason::NothingWhole
    } else if facts.nr_in_pieces.max(facts.nr_whole) < LEAST {
        Reason::TooLittle
    } else if !is_in_pieces && !facts.has_seen_all {
        Reason::NotAllSeen
    } else if is_in_pieces || facts.unevenness.is_none() {
        Reason::NoTime
    } else if facts.aged.is_none() {
        Reason::Alike
    } else {
        Reason::NoPieces
    }
}

/// What makes files in pieces slow.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Pages that lie on the same dies.
    Places,
    /// One request that becomes many.
    Splitting,
    /// Either, or both.
    Unclear,
}

/// What costs more; `None`: nothing does.
#[must_use]
pub fn cause(facts: &Facts) -> Option<Cause> {
    let parts = facts.parts.filter(|_| !facts.is_cached)?;

    if costs(parts.total, COSTS_PERMILLE) != Some(true) {
        return None;
    }
    Some(if facts.is_merged {
        Cause::Unclear
    } else if parts.places_by_splitting.low_permille > 1000 {
        Cause::Places
    } else if parts.places_by_splitting.high_permille < 1000 {
        Cause::Splitting
    } else {
        Cause::Unclear
    })
}

/// What the drive and the filesystem can do for a remedy.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Abilities {
    /// The drive says that it obeys hints.
    pub hints: bool,
    /// The drive spreads pages by itself, which `defrag` then has it do.
    pub spreads: bool,
    /// The drive has one page stand for another, so that a move copies nothing.
    pub shares: bool,
    /// The drive has Flexible Data Placement.
    pub fdp: bool,
    /// The filesystem is one whose blocks can be moved.
    pub moves: bool,
}

/// How many times as fast what was timed would be read. `None`: that is not known.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Gain(pub Option<(u64, u64)>);

impl Gain {
    const NOTHING: Self = Self(Some((1000, 1000)));
    const UNKNOWN: Self = Self(None);

    /// No remedy makes anything slower on purpose, and none is better than an interval says. Where a
    /// file begins in a die's unit when it is written anew is luck, and what the filesystem writes
    /// meanwhile comes in between: it may be read a fifth slower than others in one piece.
    fn of(times: Interval) -> Self {
        Self(Some((
            (times.low_permille * 4 / 5).max(1000),
            times.high_permille.max(1000),
        )))
    }

    /// No more than that, and perhaps nothing.
    fn up_to(times: Interval) -> Self {
        Self(Some((1000, times.high_permille.max(1000))))
    }
}

impl fmt::Display for Gain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("not known"),
            Some((_, high)) if high <= COSTS_PERMILLE => f.write_str("nothing"),
            Some((low, high)) => write!(f, "{} to {} x", factor(low), factor(high)),
        }
    }
}

impl Serialize for Gain {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Range {
            low_permille: u64,
            high_permille: u64,
        }
        self.0
            .map(|(low_permille, high_permille)| Range {
                low_permille,
                high_permille,
            })
            .serialize(serializer)
    }
}

/// Something that can be done about it.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Remedy {
    pub name: &'static str,
    pub gain: Gain,
    /// What it is about.
    pub note: &'static str,
}

/// What a move to places in a row would gain, in time to read what was timed.
fn moving(facts: &Facts, abilities: Abilities) -> (Gain, &'static str) {
    let is_slow = |times: &Interval| costs(*times, COSTS_PERMILLE) != Some(false);

    if !abilities.moves && !abilities.spreads {
        return (Gain::NOTHING, "it moves no blocks of this filesystem");
    }
    if facts.is_cached {
        return (Gain::UNKNOWN, "what was timed is not the drive");
    }
    if let Some(parts) = facts.parts.filter(|parts| is_slow(&parts.total)) {
        return match (abilities.spreads, facts.is_merged) {
            (true, false) => (
                Gain::of(parts.most_of_places(facts.memory)),
                if abilities.shares {
                    "the drive spreads the pages; --method share, in hint mode, joins pieces as well, without a copy"
                } else {
                    "the drive spreads the pages; --method move joins pieces as well"
                },
            ),
            (true, true) => (Gain::up_to(parts.total), "the drive spreads the pages"),
            (false, _) => (
                Gain::of(parts.total),
                if abilities.shares {
                    "if there is free space in a row; --method share, in hint mode, without a copy"
                } else {
                    "if there is free space in a row"
                },
            ),
        };
    }
    if let Some(aged) = facts.aged.filter(is_slow) {
        return (
            Gain::of(aged),
            "of files in one piece, once with --threshold 0: it moves all, whatever that gains",
        );
    }
    match facts.unevenness {
        Some(times) if costs(times, UNEVEN_PERMILLE) != Some(false) => (
            Gain::up_to(times),
            "of the slowest files, once with --threshold 0: it moves all, whatever that gains",
        ),
        Some(_) => (Gain::NOTHING, "there is nothing to mend"),
        None if facts.parts.is_some() => (Gain::NOTHING, "there is nothing to mend"),
        None => (Gain::UNKNOWN, "too little was timed"),
    }
}

fn hinting(facts: &Facts, abilities: Abilities) -> (Gain, &'static str) {
    if !abilities.hints {
        return (
            Gain::NOTHING,
            "the drive does not announce that it obeys hints",
        );
    }
    match (facts.parts.filter(|_| !facts.is_cached), facts.is_merged) {
        (Some(parts), false) => (
            Gain::up_to(parts.places),
            "of files written from then on as these were",
        ),
        (Some(parts), true) => (
            Gain::up_to(parts.total),
            "of files written from then on as these were",
        ),
        (None, _) => (Gain::UNKNOWN, "too little was timed"),
    }
}

/// What each remedy would gain here. None is promised to give more than was measured, and never on
/// grounds of what other drives do.
#[must_use]
pub fn remedies(facts: &Facts, abilities: Abilities) -> Vec<Remedy> {
    let (moved, about_moving) = moving(facts, abilities);
    let (hinted, about_hints) = hinting(facts, abilities);
    let (placed, about_fdp) = match abilities.fdp {
        true => (
            Gain::UNKNOWN,
            "log mode keeps kinds of data apart by it (one reclaim group, Linux 6.16 or later); \
             hint mode needs handles that are dies (hints=fdp), and no drive tells",
        ),
        false => (Gain::NOTHING, "the drive does not have it"),
    };
    let remedy = |name, gain, note| Remedy { name, gain, note };

    vec![
        remedy("defrag", moved, about_moving),
        remedy(
            "pick",
            moved,
            "for what is read only, and in reads as large as those timed, so with fewer writes; analyze finds it",
        ),
        remedy("hint mode", hinted, about_hints),
        remedy("FDP", placed, about_fdp),
        remedy(
            "log mode",
            Gain::UNKNOWN,
            "it is for random writes, which were not timed; needs an empty device",
        ),
    ]
}

/// What reading cannot show.
#[must_use]
pub fn unknowns(facts: &Facts) -> Vec<&'static str> {
    let mut list = vec![
        "which files your programs read (dieaware pick analyze watches them)",
        "reads by several programs at once, which hide slow ones: they gain less",
        "how files will be written from now on",
    ];

    if !facts.has_own {
        list.push("whether all files lie badly alike (--write MIB compares with a new one)");
    }
    if facts.is_merged {
        list.push("what splitting costs: requests were put together on their way to the drive");
    }
    if facts.memory == Memory::Some {
        list.push("what places and splitting cost each: the drive remembers what it has read, so first reads count");
    }
    list
}

#[cfg(test)]
mod tests {
    use super::{
        cause, factor, judge, remedies, unknowns, Abilities, Cause, Facts, Gain, Reason, Verdict,
    };
    use crate::doctor::stats::{Interval, Parts};

    fn about(permille: u64) -> Interval {
        Interval::of(permille - permille / 50, permille, permille + permille / 50)
    }

    fn parts(places: u64, splitting: u64) -> Parts {
        Parts {
            total: about(places * splitting / 1000),
            places: about(places),
            splitting: about(splitting),
            places_by_splitting: about(places * 1000 / splitting),
        }
    }

    /// Enough of everything, and nothing wrong.
    fn fine() -> Facts {
        Facts {
            has_seen_all: true,
            nr_in_pieces: 30,
            nr_whole: 30,
            parts: Some(parts(1010, 1020)),
            unevenness: Some(about(1100)),
            ..Facts::default()
        }
    }

    const ALL: Abilities = Abilities {
        hints: true,
        spreads: true,
        shares: false,
        fdp: true,
        moves: true,
    };

    #[test]
    fn files_in_pieces_that_are_slow_are_a_verdict() {
        let facts = Facts {
            parts: Some(parts(3000, 1200)),
            ..fine()
        };
        assert_eq!(judge(&facts).verdict(), Verdict::Affected);
        assert!(judge(&facts).to_string().contains("3.53 to 3.67 times"));
        assert_eq!(judge(&fine()).word(), "pieces-cost-nothing");
        assert_eq!(judge(&fine()).verdict(), Verdict::NotAffected);
        assert_eq!(cause(&fine()), None);
    }

    #[test]
    fn what_may_be_either_is_not_decided() {
        let wide = Interval::of(900, 1300, 4000);
        for facts in [
            Facts {
                parts: Some(Parts {
                    total: wide,
                    ..parts(1000, 1000)
                }),
                ..fine()
            },
            Facts {
                unevenness: Some(wide),
                ..fine()
            },
            Facts {
                aged: Some(wide),
                ..fine()
            },
        ] {
            assert_eq!(judge(&facts), Reason::Noisy(wide));
            assert_eq!(judge(&facts).verdict(), Verdict::CannotTell);
        }
    }

    #[test]
    fn files_in_one_piece_may_be_slow_too() {
        let facts = Facts {
            parts: None,
            nr_in_pieces: 0,
            ..fine()
        };
        assert_eq!(judge(&facts), Reason::Alike);
        assert_eq!(judge(&facts).verdict(), Verdict::CannotTell);
        let as_new = Facts {
            aged: Some(about(1010)),
            has_own: true,
            ..facts.clone()
        };
        assert_eq!(judge(&as_new), Reason::NoPieces);
        assert_eq!(judge(&as_new).verdict(), Verdict::NotAffected);
        let uneven = Facts {
            unevenness: Some(about(2500)),
            ..facts.clone()
        };
        assert_eq!(judge(&uneven), Reason::Uneven(about(2500)));
        let aged = Facts {
            aged: Some(about(5000)),
            has_own: true,
            ..facts
        };
        assert_eq!(judge(&aged), Reason::Aged(about(5000)));
        assert_eq!(remedies(&aged, ALL)[0].gain, Gain(Some((3920, 5100))));
    }

    #[test]
    fn too_little_is_said_to_be_so() {
        let none = Facts {
            parts: None,
            unevenness: None,
            ..fine()
        };
        let with = |nr_in_pieces, nr_whole, has_seen_all, has_own| Facts {
            nr_in_pieces,
            nr_whole,
            has_seen_all,
            has_own,
            ..none.clone()
        };
        for (facts, reason) in [
            (with(30, 30, true, false), Reason::NoTime),
            (with(30, 3, true, false), Reason::NothingWhole),
            (with(30, 3, true, true), Reason::NoTime),
            (with(3, 3, true, false), Reason::TooLittle),
            (with(0, 0, true, false), Reason::TooLittle),
            (with(3, 30, false, false), Reason::NotAllSeen),
            (with(3, 30, true, false), Reason::NoTime),
        ] {
            assert_eq!(judge(&facts), reason);
            assert_eq!(judge(&facts).verdict(), Verdict::CannotTell);
            assert_eq!(cause(&facts), None);
            assert_eq!(remedies(&facts, ALL)[0].gain, Gain(None));
        }
    }

    #[test]
    fn times_of_memory_are_no_times_of_the_drive() {
        let facts = Facts {
            is_cached: true,
            parts: Some(parts(3000, 1000)),
            ..fine()
        };
        assert_eq!(judge(&facts).word(), "cached");
        assert_eq!(judge(&facts).verdict(), Verdict::CannotTell);
        assert_eq!(remedies(&facts, ALL)[0].gain, Gain(None));
        assert_eq!(cause(&facts), None);
    }

    #[test]
    fn what_costs_more_is_named_if_it_is_clear() {
        let with = |places, splitting, is_merged| Facts {
            parts: Some(parts(places, splitting)),
            is_merged,
            ..fine()
        };
        for (facts, wanted) in [
            (with(3000, 1100, false), Cause::Places),
            (with(1050, 2000, false), Cause::Splitting),
            (with(1500, 1500, false), Cause::Unclear),
            (with(3000, 1100, true), Cause::Unclear),
        ] {
            assert_eq!(cause(&facts), Some(wanted));
        }
    }

    fn gains(facts: &Facts, abilities: Abilities) -> Vec<(&'static str, Option<(u64, u64)>)> {
        let remedies = remedies(facts, abilities).into_iter();
        remedies
            .map(|remedy| (remedy.name, remedy.gain.0))
            .collect()
    }

    #[test]
    fn no_remedy_is_promised_to_give_more_than_it_can() {
        let facts = Facts {
            parts: Some(parts(3000, 1500)),
            ..fine()
        };
        let nothing = Some((1000, 1000));
        // A drive as it is sold
        let sold = Abilities {
            moves: true,
            ..Abilities::default()
        };
        assert_eq!(
            gains(&facts, sold),
            [
                ("defrag", Some((3528, 4590))),
                ("pick", Some((3528, 4590))),
                ("hint mode", nothing),
                ("FDP", nothing),
                ("log mode", None)
            ]
        );
        let sharing = Abilities {
            shares: true,
            ..sold
        };
        assert_eq!(gains(&facts, sharing), gains(&facts, sold));
        for (abilities, shares) in [(sold, false), (sharing, true)] {
            let note = remedies(&facts, abilities)[0].note;
            assert_eq!(note.contains("--method share"), shares, "{note}");
        }
        // One that spreads pages leaves requests as they are.
        let all = gains(&facts, ALL);
        assert_eq!(all[0].1, Some((2352, 3060)));
        assert_eq!(all[2].1, Some((1000, 3060)));
        // Placement handles stand for whatever the drive wants, and cleaning was not timed.
        assert_eq!(all[3], ("FDP", None));
        let note = remedies(&facts, ALL)[3].note;
        assert!(note.starts_with("log mode") && note.contains("hints=fdp"));
        assert_eq!(gains(&facts, Abilities::default())[0].1, nothing);
        // Nothing to mend
        assert_eq!(gains(&fine(), sold)[0].1, nothing);
        // An interval that goes below 1
        let noisy = Facts {
            parts: Some(Parts {
                total: Interval::of(700, 1200, 2000),
                ..parts(1000, 1000)
            }),
            ..fine()
        };
        assert_eq!(gains(&noisy, sold)[0].1, Some((1000, 2000)));
    }

    #[test]
    fn figures_are_said_as_people_read_them() {
        assert_eq!((factor(1000), factor(1995)), ("1.00".into(), "2.00".into()));
        assert_eq!(Gain(Some((1000, 1050))).to_string(), "nothing");
        assert_eq!(Gain(Some((1000, 1200))).to_string(), "1.00 to 1.20 x");
        let json = serde_json::to_value(Gain(Some((1000, 1200)))).unwrap();
        assert_eq!(json["high_permille"], 1200);
        assert!(serde_json::to_value(Gain(None)).unwrap().is_null());
        assert_eq!(unknowns(&fine()).len(), 4);
    }
}
