// SPDX-License-Identifier: GPL-2.0-only
//! The devices that a move takes: the one that is moved, the old one below it, with the table that it
//! had, and the log. Which is which is in their UUIDs and tables.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail, Context, Result};

use super::super::common::usage;
use super::super::mapper::{self, CREATED};
use super::super::{overwrite, swap};
use crate::boot::dietab;
use crate::boot::moves::{this_boot, Moves, Moving, FOLDER};
use crate::device::block::{Device, OpenHow};
use crate::device::hide::Hider;
use crate::device::signatures;
use crate::dm::swap::State;
use crate::dm::tables::{Segment, Table};
use crate::dm::{self, life, mirror};
use crate::format::create::withdraw;
use crate::format::findings::Findings;
use crate::format::volume::find_super;
use crate::units::DeviceNumber;

/// How UUIDs of old devices begin, behind which the log's name is.
const OLD: &str = "DIEAWARE-MOVE-";

/// A device of the stack.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Leg {
    pub number: DeviceNumber,
    pub name: String,
    pub uuid: String,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Legs {
    pub from: Leg,
    pub to: Leg,
}

/// How far a move is.
pub enum Stage {
    /// It has a table of its own.
    Plain,
    /// It is being copied.
    Mirrored(Legs),
    /// It lies on a log.
    Switched(Leg),
}

/// The device that is moved, as it is now.
pub struct Source {
    pub number: DeviceNumber,
    pub state: State,
    pub table: Table,
    pub stage: Stage,
}

fn leg(number: DeviceNumber) -> Result<Leg> {
    let state = dm::swap::state(number).context(mapper::NOT_ASKED)?;
    Ok(Leg {
        number,
        name: state.name,
        uuid: state.uuid,
    })
}

fn is_log(leg: &Leg) -> bool {
    leg.uuid.starts_with(&format!("{CREATED}LOG-"))
}

/// The only segment's device, if it begins there with its first sector.
fn linear_to(segments: &[Segment]) -> Option<DeviceNumber> {
    let [only] = segments else { return None };
    let device = only.params.strip_suffix(" 0")?;

    (only.kind == "linear").then_some(())?;
    device.parse().ok()
}

fn stage(table: &Table) -> Result<Stage> {
    if let Some((from, to)) = mirror::legs(table.segments()) {
        let legs = Legs {
            from: leg(from)?,
            to: leg(to)?,
        };
        if legs.from.uuid.starts_with(OLD) && is_log(&legs.to) {
            return Ok(Stage::Mirrored(legs));
        }
    }
    if let Some(below) = linear_to(table.segments()) {
        let is_mapper = Path::new(&format!("/sys/dev/block/{below}/dm")).exists();
        if is_mapper {
            let below = leg(below)?;
            if is_log(&below) {
                return Ok(Stage::Switched(below));
            }
        }
    }
    Ok(Stage::Plain)
}

impl Source {
    /// # Errors
    ///
    /// When device-mapper cannot be asked, or has no table for it.
    pub fn look(number: DeviceNumber) -> Result<Self> {
        let state = dm::swap::state(number).context(mapper::NOT_ASKED)?;
        let cannot = || format!("{} cannot be looked at", state.name);
        let text = dm::table(number).with_context(cannot)?;
        let table = Table::parse(&text).map_err(|err| anyhow!("{}: {err}", state.name))?;

        Ok(Self {
            number,
            stage: stage(&table)?,
            table,
            state,
        })
    }

    pub fn len_sectors(&self) -> u64 {
        let segments = self.table.segments();
        segments.iter().map(|one| one.len_sectors).sum()
    }
}

/// The table that a device has when no move of it was begun.
///
/// # Errors
///
/// When device-mapper does not tell.
pub fn own_table(source: &Source) -> Result<Table> {
    let Stage::Mirrored(legs) = &source.stage else {
        return Ok(source.table.clone());
    };
    let old = &legs.from;
    let text =
        dm::table(old.number).with_context(|| format!("{} cannot be looked at", old.name))?;

    Table::parse(&text).map_err(|err| anyhow!("{}: {err}", old.name))
}

fn old_name(name: &str) -> String {
    format!("{name}-old")
}

/// The old device's name and number, if there is one of ours.
fn old(name: &str) -> Result<Option<DeviceNumber>> {
    let found = mapper::info(&old_name(name))?;
    Ok(found
        .filter(|info| info.uuid.starts_with(OLD))
        .map(|info| info.number))
}

/// The old device's node, if there is one of ours.
///
/// # Errors
///
/// When device-mapper cannot be asked.
pub fn old_node(name: &str) -> Result<Option<String>> {
    Ok(old(name)?.map(swap::node_of))
}

/// What is copied, and whether both devices take part.
///
/// # Errors
///
/// When one does not, or the device has another table.
pub fn progress(source: &Source) -> Result<mirror::Progress> {
    let name = &source.state.name;
    let text = dm::status(source.number).with_context(|| format!("{name} cannot be looked at"))?;
    let now = Table::parse(&text)
        .ok()
        .and_then(|now| mirror::Progress::parse(now.segments()))
        .ok_or_else(|| anyhow!("Somebody else has given {name} another table meanwhile"))?;

    match now.is_alive {
        [true, true] => Ok(now),
        [true, false] => bail!("The device in log mode could not be written: see \"dmesg\""),
        _ => bail!("{name} could not be read or written in all places: see \"dmesg\""),
    }
}

/// The UUID that device-mapper has of a log's device: behind it is its name.
fn log_uuid(log: &Leg) -> Option<&str> {
    let rest = log.uuid.strip_prefix(CREATED)?.strip_prefix("LOG-")?;
    rest.get(..32)
}

/// With hyphens, as udev shows it.
fn hyphened(digits: &str) -> String {
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if [8, 12, 16, 20].contains(&at) {
            text.push('-');
        }
        text.push(digit);
    }
    text
}

/// The words of a log's table line: its device, and what comes behind the mode.
fn log_words(log: &Leg) -> Result<(DeviceNumber, Vec<String>)> {
    let text =
        dm::table(log.number).with_context(|| format!("{} cannot be looked at", log.name))?;
    let table = Table::parse(&text).map_err(|err| anyhow!("{}: {err}", log.name))?;
    let only = table.segments().first();
    let mut words = only.map_or("", |one| &one.params).split(' ');
    let number = words.next().and_then(|word| word.parse().ok());
    let options = words.skip(3).map(str::to_owned).collect();

    let number = number.ok_or_else(|| anyhow!("{}: its table is not understood", log.name))?;
    Ok((number, options))
}

/// The node of the device below a log.
///
/// # Errors
///
/// When device-mapper cannot be asked.
pub fn target_of(log: &Leg) -> Result<String> {
    Ok(swap::node_of(log_words(log)?.0))
}

/// What the devices themselves tell of a move.
///
/// # Errors
///
/// When device-mapper cannot be asked.
pub fn record(legs: &Legs) -> Result<Moving> {
    let (number, options) = log_words(&legs.to)?;
    Ok(Moving {
        target: swap::node_of(number).into(),
        log: legs.to.name.clone(),
        log_uuid: hyphened(log_uuid(&legs.to).unwrap_or_default()),
        options,
        signs: Vec::new(),
        boot: this_boot(),
    })
}

fn line(name: &str, uuid: &str, options: &[String]) -> String {
    let line = format!("{name} UUID={uuid} log {}", options.join(","));
    line.trim_end().to_owned()
}

/// The line of dietab(5) for a log.
pub fn line_of(moving: &Moving) -> String {
    line(&moving.log, &moving.log_uuid, &moving.options)
}

/// The same, for one that is there.
///
/// # Errors
///
/// When device-mapper cannot be asked.
pub fn dietab_line(log: &Leg) -> Result<String> {
    let uuid = log_uuid(log).ok_or_else(|| anyhow!("{} has no UUID of a log", log.name))?;
    let (_, options) = log_words(log)?;
    Ok(line(&log.name, &hyphened(uuid), &options))
}

/// Make the old device below, with the table of the one that is moved, and let the mirror copy it.
///
/// # Errors
///
/// When device-mapper refuses.
pub fn mirror(source: &Source, log: &str) -> Result<()> {
    let name = &source.state.name;
    let old_name = old_name(name);
    let uuid = format!("{OLD}{log}");
    let number_of = |name: &str| -> Result<DeviceNumber> {
        let found = mapper::info(name)?;
        Ok(found.ok_or_else(|| anyhow!("{name} is gone"))?.number)
    };

    require_live(source, &source.table)?;
    dm::swap::create(&old_name, &uuid, &source.table.to_string())
        .map_err(|err| mapper::not_taken(err, format!("{old_name} was not created")))?;
    let text = mirror::table_line(source.len_sectors(), number_of(&old_name)?, number_of(log)?);
    dm::swap::load(name, &text, false)
        .map_err(|err| mapper::not_taken(err, "The table was not loaded".to_owned()))?;
    require_loaded(source, &text)?;
    require_live(source, &source.table)?;
    dm::swap::resume_pushing_back(name)
        .map_err(|err| mapper::not_taken(err, "The table was not put to work".to_owned()))?;
    require_live(source, &Table::parse(&text).map_err(|err| anyhow!(err))?)
}

/// What LVM, or somebody else, has put to work since the device was looked at maps to other places, and
/// what it mapped to before may be another volume's by now.
///
/// # Errors
///
/// When another table than this one is at work.
pub fn require_live(source: &Source, wanted: &Table) -> Result<()> {
    let name = &source.state.name;
    let now = Table::parse(&dm::table(source.number)?).map_err(|err| anyhow!("{name}: {err}"))?;

    if now != *wanted {
        bail!("Somebody else has given {name} another table meanwhile");
    }
    Ok(())
}

/// LVM might have loaded a table of its own in between.
///
/// # Errors
///
/// When another table is loaded than this one.
pub fn require_loaded(source: &Source, text: &str) -> Result<()> {
    let wanted = Table::parse(text).map_err(|err| anyhow!(err))?;

    if swap::inactive(source.number)? != Some(wanted) {
        bail!("somebody else has loaded a table meanwhile");
    }
    Ok(())
}

/// Is there something of a move that was begun?
///
/// # Errors
///
/// When that cannot be found out.
pub fn has_leftover(source: &Source, moves: &Moves) -> Result<bool> {
    let name = &source.state.name;
    let kept = moves.read(name).context(FOLDER)?;
    Ok(kept.is_some() || old(name)?.is_some())
}

/// What was moved when the machine stopped, and is hidden where it was. Of one that is suspended nothing can be
/// read.
///
/// # Errors
///
/// When that cannot be found out.
pub fn left_behind(source: &Source, moves: &Moves) -> Result<Option<Moving>> {
    let name = &source.state.name;
    let Some(moving) = moves.read(name).context(FOLDER)? else {
        return Ok(None);
    };
    let node = swap::node_of(source.number);

    if moving.signs.is_empty() || source.state.is_suspended {
        return Ok(None);
    }
    let is_hidden = Hider::open(Path::new(&node), &moving.signs)
        .and_then(|mut hider| hider.is_hidden())
        .with_context(|| format!("{node} cannot be read"))?;
    Ok(is_hidden.then_some(moving))
}

/// What is loaded beside the table at work.
enum Loaded {
    Nothing,
    /// What a step of a move has loaded.
    Ours,
    Foreign,
}

fn loaded(source: &Source, own: &Table) -> Result<Loaded> {
    let Some(loaded) = swap::inactive(source.number)? else {
        return Ok(Loaded::Nothing);
    };

    Ok(match stage(&loaded)? {
        Stage::Mirrored(_) | Stage::Switched(_) => Loaded::Ours,
        Stage::Plain if loaded == *own => Loaded::Ours,
        Stage::Plain => Loaded::Foreign,
    })
}

/// Whoever has loaded a table is going to put it to work.
///
/// # Errors
///
/// When there is one that no step of a move has loaded.
pub fn require_none_foreign(source: &Source) -> Result<()> {
    match loaded(source, &own_table(source)?)? {
        Loaded::Foreign => Err(swap::foreign_stays(&source.state.name)),
        Loaded::Nothing | Loaded::Ours => Ok(()),
    }
}

/// Give the device its own table again, unless it has it.
fn give_back(source: &Source) -> Result<()> {
    let name = &source.state.name;
    let own = own_table(source)?;

    match &source.stage {
        Stage::Switched(_) => bail!("{name} is in log mode already"),
        Stage::Plain => {
            if let Loaded::Ours = loaded(source, &own)? {
                dm::swap::clear(name)?;
            }
        }
        Stage::Mirrored(_) => {
            require_none_foreign(source)?;
            let text = own.to_string();
            dm::swap::load(name, &text, false)?;
            require_loaded(source, &text)?;
            require_live(source, &source.table)?;
            dm::swap::resume_pushing_back(name)?;
        }
    }
    Ok(())
}

/// Remove the old device, which is a second way to what the other one maps.
///
/// # Errors
///
/// When it stays.
pub fn remove_old(name: &str) -> Result<()> {
    if old(name)?.is_some() {
        let old_name = old_name(name);
        life::remove(&old_name).with_context(|| format!("{old_name} was not removed"))?;
    }
    Ok(())
}

/// Is there a device of device-mapper that is this log, and not another one of its name?
///
/// # Errors
///
/// When device-mapper cannot be asked.
pub fn is_made(moving: &Moving) -> Result<bool> {
    let name = &moving.log;
    let digits = moving.log_uuid.replace('-', "");
    let uuid = format!("{CREATED}LOG-{digits}-{name}");
    let found = mapper::info(name)?;

    Ok(found.is_some_and(|info| info.uuid == uuid))
}

/// What is found by a path: is it this log? `None`: it holds one, or something, that cannot be read.
fn is_held_at(path: &Path, moving: &Moving) -> Option<bool> {
    let device = Device::open(path, 0, OpenHow::default()).ok()?;

    match find_super(&device, &mut Findings::default()).ok()? {
        Ok(superblock) => Some(superblock.uuid_text() == moving.log_uuid),
        Err(_) => (!signatures::is_log(&device).ok()?).then_some(false),
    }
}

/// Where a log is that a move has made, or begun to; `None`: nowhere.
///
/// # Errors
///
/// When it may be on a device that is not found, or cannot be read.
fn find_log(moving: &Moving, by_uuid: &Path) -> Result<Option<PathBuf>> {
    let paths = [moving.target.as_path(), by_uuid];
    let mut holding = paths
        .into_iter()
        .filter(|path| is_held_at(path, moving) == Some(true));

    if let Some(path) = holding.next() {
        return Ok(Some(path.to_owned()));
    }
    // Until the machine stops, the name leads to what was going to hold it.
    let is_same_target = !moving.boot.is_empty() && moving.boot == this_boot();
    if is_same_target && is_held_at(&moving.target, moving) == Some(false) {
        return Ok(None);
    }
    bail!(
        "neither {} nor {} is known to be it",
        moving.target.display(),
        by_uuid.display()
    )
}

/// Take the log away, whose copy is not complete, so that nobody takes it for one. Says where it
/// was.
fn remove_log(moving: &Moving) -> Result<Option<PathBuf>> {
    let name = &moving.log;
    let uuid = dietab::Source::Tag(dietab::Tag::Uuid, moving.log_uuid.clone());

    if is_made(moving)? {
        life::remove(name).with_context(|| format!("{name} was not removed"))?;
    }
    let Some(path) = find_log(moving, Path::new(&uuid.path()))? else {
        return Ok(None);
    };
    let device = overwrite::open(&path, 0)?;
    // Nobody else has it from now on.
    if !overwrite::holds(&device, &moving.log_uuid)? {
        bail!("{} holds something else by now", path.display());
    }
    withdraw(&device).with_context(|| format!("{} cannot be written", path.display()))?;
    Ok(Some(path))
}

/// Does a path lead to a log? After a reboot another device may have the name that the log's had when the move
/// was begun: the name decides only where nobody can tell what is there.
fn leads_to(path: &Path, moving: &Moving) -> bool {
    let real = fs::canonicalize(path).ok();
    let is_name = || real.is_some() && real == fs::canonicalize(&moving.target).ok();

    is_held_at(path, moving).unwrap_or_else(is_name)
}

/// Does a line of dietab(5) lead to a log, by its name or UUID, or by any name of what it lies on?
fn is_in_dietab(text: &str, moving: &Moving) -> bool {
    let uuid = dietab::Source::Tag(dietab::Tag::Uuid, moving.log_uuid.clone());
    let leads_there = |entry: &dietab::Entry| {
        let is_log = entry.mode == dietab::Mode::Log && entry.start_sectors == 0;
        is_log && leads_to(Path::new(&entry.source.path()), moving)
    };
    let mut entries = dietab::parse(text).into_iter().flatten();

    entries.any(|entry| entry.name == moving.log || entry.source == uuid || leads_there(&entry))
}

/// A device that has its own table may be the old one of a move that was complete: then the log has what
/// nothing else has, and more since.
///
/// # Errors
///
/// When that is so, or may be.
pub fn require_incomplete(source: &Source, moves: &Moves) -> Result<()> {
    let name = &source.state.name;
    let Stage::Plain = &source.stage else {
        return Ok(());
    };

    if let Some(moving) = left_behind(source, moves)? {
        return Err(usage(format!(
            "{name} was moved to the log {} when the machine stopped: \"dieaware move\" as before ends it",
            moving.log_uuid
        )));
    }
    let Some(moving) = moves.read(name).context(FOLDER)? else {
        return Ok(());
    };
    // The line is written when the log counts, and the record of the move is forgotten after that.
    if is_in_dietab(&dietab::read_if_there(Path::new(dietab::PATH))?, &moving) {
        return Err(usage(format!(
            "{} leads to the log {} ({}), which counts then, whatever {name} holds: nothing is taken apart. If it \
             is in use, remove {}, which is left of the move to it; if not, remove the line",
            dietab::PATH,
            moving.log,
            moving.log_uuid,
            moves.path(name).display()
        )));
    }
    if source.state.is_suspended && !moving.signs.is_empty() {
        return Err(usage(format!(
            "{name} is suspended, so that nobody knows whether it was moved to the log {}: \
             \"dmsetup resume {name}\", and try again",
            moving.log_uuid
        )));
    }
    Ok(())
}

/// Go back to before a move, from wherever it is before the log counts. Says which device is empty
/// again: it held the incomplete copy. While that may be somewhere, its record stays.
///
/// # Errors
///
/// When something stays, or the log counts already.
pub fn take_apart(source: &Source, moves: &Moves) -> Result<Option<PathBuf>> {
    let name = &source.state.name;
    let unwritten = || format!("{FOLDER} cannot be written");

    require_incomplete(source, moves)?;
    let kept = moves.read(name).context(FOLDER)?;
    let told = match &source.stage {
        Stage::Mirrored(legs) if kept.is_none() => Some(record(legs)?),
        _ => kept,
    };

    give_back(source)?;
    remove_old(name)?;
    let Some(moving) = told else {
        return Ok(None);
    };
    match remove_log(&moving) {
        Ok(emptied) => {
            moves.forget(name).with_context(unwritten)?;
            Ok(emptied)
        }
        // It may come back, and counts for nothing, even if all was copied: as long as a record
        // says so, nobody takes it for whole.
        Err(err) => {
            let incomplete = Moving {
                signs: Vec::new(),
                ..moving.clone()
            };
            moves.write(name, &incomplete).with_context(unwritten)?;
            complain!(
                "dieaware: The log {} keeps an incomplete copy: {err:#}. {} is its record, by which no device is made \
                 of it. Remove that file if it is gone for good.",
                moving.log_uuid,
                moves.path(name).display()
            );
            Ok(None)
        }
    }
}

/// # Errors
///
/// When somebody else is at work there.
pub fn require_alone(source: &Source) -> Result<()> {
    if source.state.has_inactive || source.state.is_suspended {
        return Err(usage(format!(
            "{} is suspended, or has another table loaded: somebody is at work there",
            source.state.name
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{find_log, hyphened, is_in_dietab, line, linear_to, Moving};
    use crate::boot::moves::this_boot;
    use crate::commands::overwrite::pressing::{empty_log, laid_out};
    use crate::dm::tables::Table;

    #[test]
    fn a_log_s_line_names_it_by_uuid() {
        let uuid = hyphened("0123456789abcdef0123456789abcdef");
        assert_eq!(uuid, "01234567-89ab-cdef-0123-456789abcdef");
        assert_eq!(line("a-log", &uuid, &[]), format!("a-log UUID={uuid} log"));
        let options = ["b=1".to_owned(), "c=2".to_owned()];
        assert!(line("a", &uuid, &options).ends_with(" log b=1,c=2"));
    }

    #[test]
    fn a_log_counts_by_its_name_or_uuid_in_dietab() {
        let moving = Moving {
            target: "/dev/a".into(),
            log: "a-log".to_owned(),
            log_uuid: "0-1".to_owned(),
            options: Vec::new(),
            signs: Vec::new(),
            boot: String::new(),
        };
        for text in ["a-log /dev/b log", "# b\nrenamed UUID=0-1 log nofail"] {
            assert!(is_in_dietab(text, &moving), "{text}");
        }
        for text in [
            "",
            "a-logs UUID=0-2 log",
            "# a-log UUID=0-1 log",
            "b LABEL=0-1 log",
        ] {
            assert!(!is_in_dietab(text, &moving), "{text}");
        }
        // By its path or another link
        let on = |target: &str| Moving {
            target: target.into(),
            ..moving.clone()
        };
        let link = "/dev/./null";
        for (text, target, expected) in [
            ("b /dev/null log", "/dev/null", true),
            ("b /dev/./null log", "/dev/null", true),
            ("b /dev/null log", link, true),
            ("b /dev/null log start=8", "/dev/null", false),
            ("b /dev/null hint", "/dev/null", false),
            ("b /dev/zero log", "/dev/null", false),
            ("b /dev/none log", "/dev/none", false),
        ] {
            assert_eq!(is_in_dietab(text, &on(target)), expected, "{text}");
        }
    }

    #[test]
    fn after_a_reboot_a_log_is_known_by_what_its_device_holds() {
        let dir = tempfile::tempdir().unwrap();
        let nothing = dir.path().join("nothing");
        let log = dir.path().join("log");
        let damaged = dir.path().join("damaged");
        let mut bytes = empty_log(4096).into_bytes();
        fs::write(&log, &bytes).unwrap();
        // Both superblocks are there, and neither is right.
        bytes
            .iter_mut()
            .take(17 * 4096)
            .skip(100)
            .step_by(4096)
            .for_each(|byte| *byte ^= 1);
        fs::write(&damaged, bytes).unwrap();
        fs::write(&nothing, vec![0; 1 << 20]).unwrap();
        let moving = |uuid: &str, target: &Path| Moving {
            target: target.to_owned(),
            log: "a-log".to_owned(),
            log_uuid: uuid.to_owned(),
            options: Vec::new(),
            signs: Vec::new(),
            boot: String::new(),
        };
        let its = &laid_out(4096).uuid_text();
        for (line, uuid, target, expected) in [
            // Its device had another name before
            (&log, its.as_str(), &nothing, true),
            (&log, its, &log, true),
            // What has its device's name holds another one, or nothing
            (&log, "0-1", &log, false),
            (&nothing, its, &nothing, false),
            (&damaged, its, &damaged, true),
            (&damaged, its, &log, false),
        ] {
            let text = format!("b /dev/..{} log", line.display());
            assert_eq!(
                is_in_dietab(&text, &moving(uuid, target)),
                expected,
                "{text} {uuid}"
            );
        }
    }

    #[test]
    fn a_log_that_is_not_found_may_be_on_a_device_with_another_name() {
        let dir = tempfile::tempdir().unwrap();
        let [nothing, log, other, gone] =
            ["nothing", "log", "other", "gone"].map(|name| dir.path().join(name));
        fs::write(&log, empty_log(4096).into_bytes()).unwrap();
        fs::write(&other, vec![1; 1 << 20]).unwrap();
        fs::write(&nothing, vec![0; 1 << 20]).unwrap();
        let find = |target: &Path, boot: &str, by_uuid: &Path| {
            let moving = Moving {
                target: target.to_owned(),
                log: "a-log".to_owned(),
                log_uuid: laid_out(4096).uuid_text(),
                options: Vec::new(),
                signs: Vec::new(),
                boot: boot.to_owned(),
            };
            find_log(&moving, by_uuid).ok()
        };
        let now = &this_boot();
        assert_ne!(now, "");
        let found = Some(Some(log.clone()));
        for (target, boot, by_uuid, expected) in [
            (&log, now.as_str(), &gone, &found),
            (&log, "before", &gone, &found),
            (&other, "before", &log, &found),
            (&gone, "before", &log, &found),
            (&other, "before", &gone, &None),
            (&nothing, "before", &gone, &None),
            (&nothing, "", &gone, &None),
            (&gone, "before", &gone, &None),
            // What was going to hold it is as it was.
            (&nothing, now, &gone, &Some(None)),
            (&other, now, &gone, &Some(None)),
            // It has failed.
            (&gone, now, &gone, &None),
        ] {
            let result = find(target, boot, by_uuid);
            assert_eq!(&result, expected, "{} {boot}", target.display());
        }
    }

    #[test]
    fn all_of_a_device_is_all_of_a_log_from_its_beginning() {
        let below = |text: &str| linear_to(Table::parse(text).unwrap().segments());
        assert_eq!(below("0 8 linear 254:7 0"), "254:7".parse().ok());
        for other in [
            "0 8 linear 254:7 8",
            "0 8 linear 254:7 0\n8 8 linear 254:7 8",
            "0 8 striped 254:7 0",
        ] {
            assert_eq!(below(other), None, "{other}");
        }
    }
}
