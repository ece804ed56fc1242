// SPDX-License-Identifier: GPL-2.0-only
//! Drives whose geometry is known: a model with as much noise as wanted, and the virtual SSD.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::unit::Checks;
use super::{probe, verdict, Found, Outcome, ProbeError, Reads, Refusal};
use crate::sim::drive::{profiles, Config, Drive};
use crate::sim::trace::{Command, Op};
use crate::units::PAGE_BYTES;

/// A drive by formula.
#[derive(Clone, Copy)]
struct Model {
    nr_dies: u64,
    unit: u64,
    /// Where the first unit begins.
    first: u64,
    die_ns: u64,
    /// What a command takes on the way, one after the other.
    command_ns: u64,
    fixed_ns: u64,
    /// Times differ by so many percent.
    jitter: u64,
    /// One group in so many takes ten times as long, and one comes out of a cache; 0: none.
    hiccups: u64,
    random: u64,
}

const MODEL: Model = Model {
    nr_dies: 8,
    unit: 8,
    first: 0,
    die_ns: 40_000,
    command_ns: 3_000,
    fixed_ns: 20_000,
    jitter: 0,
    hiccups: 0,
    random: 1,
};

impl Model {
    fn below(&mut self, limit: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % limit.max(1)
    }
}

impl Reads for Model {
    fn time(&mut self, pages: &[u64]) -> io::Result<u64> {
        let mut dies: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        for page in pages {
            let unit = (page + self.unit - self.first) / self.unit;
            dies.entry(unit % self.nr_dies).or_default().insert(unit);
        }
        let most = dies.values().map(BTreeSet::len).max().unwrap_or(0) as u64;
        let commands_ns = pages.len() as u64 * self.command_ns;
        let ns = self.fixed_ns + commands_ns.max(most * self.die_ns);
        let hiccups = self.hiccups;
        Ok(match self.below(hiccups) {
            1 => ns * 10,
            2 => self.fixed_ns,
            _ => ns * (100 + self.below(self.jitter + 1)) / 100,
        })
    }
}

fn found_in(reads: &mut dyn Reads, nr_pages: u64) -> Result<Found, Refusal> {
    probe(reads, nr_pages, &mut |_| true).unwrap().found
}

fn geometry(found: &Found) -> (u64, Option<u64>, Option<u64>) {
    let pages = |bytes: u64| bytes / PAGE_BYTES;
    (
        pages(found.stripe_bytes),
        found.unit_bytes.map(pages),
        found.first_unit_bytes.map(pages),
    )
}

#[test]
fn geometries_are_found_through_noise() {
    for (nr_dies, unit, first) in [
        (2, 8, 0),
        (3, 4, 1),
        (4, 1, 0),
        (8, 1, 0),
        (8, 8, 5),
        (18, 8, 0),
        (19, 8, 3),
        (16, 4, 0),
        (32, 16, 0),
        (6, 64, 17),
        (73, 2, 0),
        (64, 8, 0),
        (256, 8, 0),
    ] {
        for (jitter, hiccups) in [(0, 0), (15, 0), (25, 60)] {
            let mut model = Model {
                nr_dies,
                unit,
                first,
                jitter,
                hiccups,
                ..MODEL
            };
            let found = found_in(&mut model, 1 << 18);
            let wanted = (nr_dies * unit, Some(unit), Some(first));
            let name = format!("{nr_dies} dies of {unit}, {jitter} %, one in {hiccups}");
            assert_eq!(geometry(&found.expect(&name)), wanted, "{name}");
        }
    }
}

#[test]
fn slow_commands_do_not_hide_the_dies() {
    let mut sata = Model {
        unit: 1,
        command_ns: 10_240,
        die_ns: 66_000,
        jitter: 10,
        ..MODEL
    };
    let found = found_in(&mut sata, 1 << 14).unwrap();
    assert_eq!(geometry(&found), (8, Some(1), Some(0)));
    assert!((60_000..72_000).contains(&found.read_ns), "{found:?}");
}

#[test]
fn nothing_is_said_where_there_is_nothing_to_see() {
    for jitter in [0, 10, 30] {
        let mut flat = Model {
            nr_dies: 1 << 40,
            jitter,
            hiccups: 50,
            ..MODEL
        };
        let found = found_in(&mut flat, 1 << 14);
        assert!(
            matches!(found, Err(Refusal::Flat { .. } | Refusal::NoPeriod { .. })),
            "{found:?}"
        );
    }
    // All on one die
    let mut single = Model {
        nr_dies: 1,
        ..MODEL
    };
    assert!(found_in(&mut single, 1 << 14).is_err());
}

#[test]
fn a_stripe_that_is_too_large_for_the_range_is_not_guessed() {
    for jitter in [0, 15] {
        let mut model = Model {
            nr_dies: 64,
            jitter,
            ..MODEL
        };
        // 512 pages; at most 16 reads at distances of 469
        let found = found_in(&mut model, 8040);
        assert!(found.is_err(), "{found:?}");
    }
}

/// Pages that are anywhere, as those that were written at random.
struct Shuffled(Model);

impl Shuffled {
    /// A product alone would keep equal distances equal.
    fn mixed(page: u64) -> u64 {
        let mixed = (page ^ page << 21).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ mixed >> 29).wrapping_mul(0x94d0_49bb_1331_11eb) >> 34
    }
}

impl Reads for Shuffled {
    fn time(&mut self, pages: &[u64]) -> io::Result<u64> {
        let pages: Vec<u64> = pages.iter().map(|page| Self::mixed(*page)).collect();
        self.0.time(&pages)
    }
}

#[test]
fn random_places_have_no_stripe() {
    for nr_dies in [2, 8, 32] {
        let found = found_in(&mut Shuffled(Model { nr_dies, ..MODEL }), 1 << 15);
        assert!(found.is_err(), "{found:?}");
    }
}

/// A drive that has put one unit in four somewhere else.
struct Torn(Model);

impl Reads for Torn {
    fn time(&mut self, pages: &[u64]) -> io::Result<u64> {
        let mut torn = Shuffled(self.0);
        let unit = self.0.unit;
        let (away, here): (Vec<u64>, Vec<u64>) = pages
            .iter()
            .partition(|page| Shuffled::mixed(*page / unit) & 3 == 0);
        Ok(self.0.time(&here)?.max(torn.time(&away)?))
    }
}

#[test]
fn a_torn_range_has_the_right_stripe_or_none() {
    let mut nr_found = 0;
    for nr_dies in [4, 8, 16, 32] {
        if let Ok(found) = found_in(&mut Torn(Model { nr_dies, ..MODEL }), 1 << 15) {
            assert_eq!(found.stripe_bytes, nr_dies * 8 * PAGE_BYTES, "{found:?}");
            nr_found += 1;
        }
    }
    assert!(nr_found > 0);
}

/// Which units lie elsewhere, and on which die.
#[derive(Clone, Copy, Debug)]
enum Pattern {
    /// Every fourth unit, so many dies further.
    Shifted(u64),
    /// Every fourth unit, anywhere.
    Anywhere,
    /// Every fourth stripe, the other way round.
    Reversed,
    /// Every fourth stripe, so many dies further.
    Rotated(u64),
}

/// A drive that has put a quarter of its units elsewhere, by a rule.
struct Displaced(Model, Pattern);

impl Displaced {
    /// The page that would be there if all were as it should be.
    fn place(&self, page: u64) -> u64 {
        let Model { unit, nr_dies, .. } = self.0;
        let (nr, within) = (page / unit, page % unit);
        let (stripe, die) = (nr / nr_dies, nr % nr_dies);
        let new_die = match self.1 {
            Pattern::Shifted(by) if nr % 4 == 0 => (die + by) % nr_dies,
            Pattern::Anywhere if nr % 4 == 0 => Shuffled::mixed(nr) % nr_dies,
            Pattern::Reversed if stripe % 4 == 0 => nr_dies - 1 - die,
            Pattern::Rotated(by) if stripe % 4 == 0 => (die + by) % nr_dies,
            _ => die,
        };
        // Two units that come to one place are two units all the same.
        ((stripe * nr_dies + die) * nr_dies + new_die) * unit + within
    }
}

impl Reads for Displaced {
    fn time(&mut self, pages: &[u64]) -> io::Result<u64> {
        let pages: Vec<u64> = pages.iter().map(|page| self.place(*page)).collect();
        self.0.time(&pages)
    }
}

#[test]
fn a_regular_pattern_of_displaced_units_has_the_right_stripe_or_none() {
    let patterns = [
        Pattern::Shifted(1),
        Pattern::Shifted(2),
        Pattern::Anywhere,
        Pattern::Reversed,
        Pattern::Rotated(1),
    ];
    let (mut nr_found, mut wrong) = (0, Vec::new());

    for nr_dies in [3, 4, 5, 6, 7, 8, 10, 12, 16, 18, 19, 32] {
        for pattern in patterns {
            let mut drive = Displaced(Model { nr_dies, ..MODEL }, pattern);
            if let Ok(found) = found_in(&mut drive, 1 << 16) {
                nr_found += 1;
                if found.stripe_bytes != nr_dies * 8 * PAGE_BYTES {
                    wrong.push((nr_dies, pattern, found));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {nr_found}: {wrong:#?}",
        wrong.len()
    );
    assert!(nr_found > 10, "{nr_found}");
}

#[test]
fn nine_of_ten_predictions_of_each_kind_must_come_true() {
    let found = Found {
        stripe_bytes: 1 << 20,
        unit_bytes: None,
        nr_dies: None,
        first_unit_bytes: None,
        read_ns: 1,
        checks: 0,
        checks_right: 0,
    };
    let kinds = |rights: [u64; 2]| {
        let made = [96, 24];
        let all = made.into_iter().zip(rights);
        all.map(|(made, right)| Checks { made, right })
            .collect::<Vec<_>>()
    };
    assert_eq!(verdict(found, &kinds([87, 22])), Ok(found));
    for (rights, checks, right) in [([86, 24], 96, 86), ([96, 21], 24, 21)] {
        let refusal = Refusal::Unsure {
            stripe_bytes: 1 << 20,
            checks,
            right,
        };
        assert_eq!(verdict(found, &kinds(rights)), Err(refusal));
    }
}

#[test]
fn who_watches_can_end_it() {
    let mut left = 40;
    let mut watch = |_| {
        left -= 1;
        left > 0
    };
    let ended = probe(&mut MODEL.clone(), 1 << 14, &mut watch);
    assert!(matches!(ended, Err(ProbeError::Interrupted)));
}

/// The virtual SSD on its own clock.
struct Simulated {
    drive: Drive,
    now_ns: u64,
}

impl Simulated {
    fn new(profile: &str, nr_pages: u64) -> Self {
        let mut config = Config::from_profile(profile).unwrap();
        let mib = ((nr_pages * PAGE_BYTES) >> 20) + 64;
        config.set("capacity_mib", &mib.to_string()).unwrap();
        let mut drive = config.build().unwrap();
        let mut now_ns = 0;
        for offset in (0..nr_pages * PAGE_BYTES).step_by(1 << 20) {
            let write = Command {
                op: Op::Write,
                offset,
                length: 1 << 20,
                ..Command::default()
            };
            now_ns = drive.run(&write, now_ns);
        }
        drive.idle(now_ns, now_ns + 1_000_000_000);
        now_ns += 1_000_000_000;
        Self { drive, now_ns }
    }
}

impl Reads for Simulated {
    fn time(&mut self, pages: &[u64]) -> io::Result<u64> {
        let read = |page: &u64| Command {
            op: Op::Read,
            offset: page * PAGE_BYTES,
            length: PAGE_BYTES,
            ..Command::default()
        };
        let begin_ns = self.now_ns;
        let ends: Vec<u64> = pages
            .iter()
            .map(|page| self.drive.run(&read(page), begin_ns))
            .collect();
        self.now_ns = ends.into_iter().max().unwrap_or(begin_ns) + 20_000;
        Ok(self.now_ns - 20_000 - begin_ns)
    }
}

#[test]
fn every_profile_of_the_virtual_ssd_is_found() {
    for profile in profiles() {
        let config = Config::from_profile(profile.name).unwrap();
        // What reads cannot tell from a die: a plane that senses on its own
        let planes = match config.value("plane_read") {
            0 => 1,
            _ => config.value("planes_per_die"),
        };
        let nr_dies = config.value("channels") * config.value("dies_per_channel") * planes;
        let unit = config.value("unit_kib") * 1024 / planes;
        let stripe = nr_dies * unit;
        let nr_pages = (stripe / PAGE_BYTES * 20).next_multiple_of(256).max(4096);
        let mut drive = Simulated::new(profile.name, nr_pages);
        let found = found_in(&mut drive, nr_pages);
        // Commands so far apart never meet on a die.
        if config.value("cmd_gap_ns") > config.value("read_ns") {
            assert!(matches!(found, Err(Refusal::Flat { .. })), "{found:?}");
            continue;
        }
        let found = found.expect(profile.name);
        assert_eq!(
            (found.stripe_bytes, found.unit_bytes, found.nr_dies),
            (stripe, Some(unit), Some(nr_dies)),
            "{}",
            profile.name
        );
        // Of a pair that a drive happens to have read ahead of, none is slow.
        let wrong = found.checks - found.checks_right;
        let most = match config.value("read_ahead_kib") {
            0 => 0,
            _ => found.checks / 50,
        };
        assert!(wrong <= most, "{}: {wrong} are wrong", profile.name);
    }
}

#[test]
fn a_drive_that_was_not_written_shows_nothing() {
    let mut drive = Simulated::new("fast24", 0);
    let Outcome { found, curve } = probe(&mut drive, 1 << 14, &mut |_| true).unwrap();
    assert!(matches!(found, Err(Refusal::Flat { .. })), "{found:?}");
    assert!(!curve.is_empty());
}
