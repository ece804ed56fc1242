// SPDX-License-Identifier: GPL-2.0-only
//! What `dieaware attach` and `dieaware detach` do in the same way: find a device of device-mapper that
//! may be in use, and give it another table that maps the same. Whatever goes wrong, it has its old
//! table again.
//!
//! Nothing but the table is changed, and nothing is kept elsewhere: whoever is killed between two
//! steps leaves a table that is loaded and not at work, and the next run knows it by what it maps.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use std::os::unix::fs::FileTypeExt;

use anyhow::{anyhow, bail, Context, Result};
use serde::Serialize;

use super::common::{print_object, usage};
use super::mapper;
use crate::device::layers::layers;
use crate::device::shape::Shape;
use crate::device::stack;
use crate::dm;
use crate::dm::lvm::{self, GroupLock, Taken};
use crate::dm::swap::{self, State};
use crate::dm::tables::{Table, TableError};
use crate::fs::{file, mounts};
use crate::progress::Progress;
use crate::status::Status;
use crate::units::DeviceNumber;

/// So long are LVM's UUIDs; that of a volume that is a part of another one has something behind it.
const LVM_BYTES: usize = lvm::UUID.len() + 64;

/// Names of LVM's for parts of volumes; nobody else may use them.
const LVM_PARTS: [&str; 14] = [
    "_cdata", "_cmeta", "_corig", "_cvol", "_imeta", "_iorig", "_mimage", "_mlog", "_rimage",
    "_rmeta", "_tdata", "_tmeta", "_vdata", "_pmspare",
];

/// A device that may be in use, and stays as it is but for its table.
pub struct Held {
    pub number: DeviceNumber,
    pub state: State,
    pub table: Table,
    pub shape: Shape,
}

/// What a verb has done, or would do.
#[derive(Serialize)]
pub struct Outcome {
    pub name: String,
    pub device: DeviceNumber,
    /// Whether the table is the new one now.
    pub done: bool,
    pub old_table: Vec<String>,
    pub new_table: Vec<String>,
    pub notes: Vec<String>,
}

impl Outcome {
    /// What would be done; nothing is done yet.
    pub fn planned(held: &Held, table: &Table, notes: Vec<String>) -> Self {
        Self {
            name: held.state.name.clone(),
            device: held.number,
            done: false,
            old_table: lines(&held.table),
            new_table: lines(table),
            notes,
        }
    }
}

/// The lines of a table.
fn lines(table: &Table) -> Vec<String> {
    table.segments().iter().map(ToString::to_string).collect()
}

/// That there was nothing to do, for programs.
pub fn print_unchanged(held: &Held, json: bool, out: &mut impl Write) -> Result<()> {
    if json {
        print_object(out, &Outcome::planned(held, &held.table, Vec::new()))?;
    }
    Ok(())
}

/// The notes, and what was done or would be.
pub fn print(outcome: &Outcome, json: bool, out: &mut impl Write) -> Result<()> {
    let name = &outcome.name;

    if json {
        return Ok(print_object(out, outcome)?);
    }
    for note in &outcome.notes {
        writeln!(out, "{note}")?;
    }
    for line in &outcome.new_table {
        if outcome.done {
            writeln!(out, "{name}: {line}")?;
        } else {
            writeln!(out, "would load into {name}: {line}")?;
        }
    }
    if !outcome.done {
        writeln!(out, "would resume {name} with it")?;
    }
    Ok(())
}

fn mounted_there(folder: &Path) -> Result<DeviceNumber> {
    let name = folder.display();
    let whole = fs::canonicalize(folder).with_context(|| format!("{name} cannot be opened"))?;
    let mountinfo = mounts::mountinfo().context("What is mounted is not known")?;

    if !mounts::is_mount_point(&mountinfo, &whole) {
        return Err(usage(format!("Nothing is mounted at {name}")));
    }
    let opened = file::open_place(folder).with_context(|| name.to_string())?;
    file::below(&opened).with_context(|| name.to_string())
}

/// The device that is meant: by its name, its node, or where it is mounted. `instead` says of the node of one that
/// device-mapper does not have why that is of no use, and what is to be done.
pub fn find(what: &str, instead: impl Fn(&str) -> String) -> Result<DeviceNumber> {
    if !what.contains('/') {
        if let Some(info) = mapper::info(what)? {
            return Ok(info.number);
        }
        return Err(usage(format!(
            "There is no device {what}; a node or a mount point is named by its path"
        )));
    }
    let path = Path::new(what);
    mapper::require_own_node(path).map_err(usage)?;
    let metadata = fs::metadata(path).with_context(|| format!("{what} cannot be opened"))?;
    let number = if metadata.file_type().is_block_device() {
        stack::number_of(path).with_context(|| format!("{what} has no number"))?
    } else if metadata.is_dir() {
        mounted_there(path)?
    } else {
        return Err(usage(format!("{what} is neither a device nor a folder")));
    };

    if Path::new(&format!("/sys/dev/block/{number}/dm")).exists() {
        return Ok(number);
    }
    let node = node_of(number);
    Err(usage(format!(
        "{node} is no device of device-mapper, {}",
        instead(&node)
    )))
}

/// A device's node, or its number where it has none.
pub fn node_of(number: DeviceNumber) -> String {
    let found = layers(number).into_iter().next();
    found.map_or_else(|| number.to_string(), |top| top.node.display().to_string())
}

/// Is a volume of LVM a part of another one, which LVM itself changes as it likes?
fn is_part_of_lvm(state: &State) -> bool {
    let name = lvm::names(&state.name).map_or(state.name.as_str(), |(_, volume)| volume);

    state.uuid.starts_with(lvm::UUID)
        && (state.uuid.len() != LVM_BYTES || LVM_PARTS.iter().any(|part| name.contains(part)))
}

/// A command of LVM's takes seconds, but may ask somebody something meanwhile.
pub const MOST_WAIT: Duration = Duration::from_secs(20);

/// So long nobody is asked meanwhile whether to go on.
const ASK_EVERY: Duration = Duration::from_millis(250);

/// Be alone with a device's tables for as long as what this returns is there: LVM gives its volumes others
/// at any time. Whoever is in the middle of that is waited for until `go_on` refuses, which is told the name
/// of the volume group, and which file is locked.
///
/// # Errors
///
/// When nobody knows who is, or what `go_on` says.
pub fn alone_when(
    number: DeviceNumber,
    mut go_on: impl FnMut(&str, &Path) -> Result<()>,
) -> Result<Option<GroupLock>> {
    let state = swap::state(number).context(mapper::NOT_ASKED)?;

    loop {
        let taken = lvm::take(&state.uuid, &state.name, ASK_EVERY)
            .context("LVM's lock of the volume group cannot be taken")?;
        match taken {
            Taken::Alone(lock) => return Ok(Some(lock)),
            Taken::Needless => return Ok(None),
            Taken::Busy(group, path) => go_on(&group, &path)?,
        }
    }
}

/// The same, for a while, and until somebody wants it to end, of which `None` knows nothing.
///
/// # Errors
///
/// The same, and when LVM takes long.
pub fn alone(number: DeviceNumber, progress: Option<&Progress>) -> Result<Option<GroupLock>> {
    let end = Instant::now() + MOST_WAIT;

    alone_when(number, |group, path| {
        progress.map_or(Ok(()), Progress::go_on)?;
        if Instant::now() < end {
            return Ok(());
        }
        Err(usage(format!(
            "LVM is at work on the volume group {group}, and may change {} meanwhile: try again when it has \
             ended ({} is locked)",
            node_of(number),
            path.display()
        )))
    })
}

/// The same for what must not fail for that, since what uses the device may wait for it: whoever is in the
/// middle is waited for up to `most`, which is said, and then it is done without being alone.
pub fn alone_if_soon(number: DeviceNumber, most: Duration) -> Option<GroupLock> {
    let end = Instant::now() + most;
    let mut is_told = false;
    let taken = alone_when(number, |group, _| {
        if !is_told {
            remark!(
                "dieaware: LVM has its lock of the volume group {group}: waiting for that, {} seconds at most.",
                most.as_secs()
            );
            is_told = true;
        }
        if Instant::now() < end {
            return Ok(());
        }
        bail!("LVM is at work on the volume group {group} still");
    });

    taken.unwrap_or_else(|err| {
        complain!("dieaware: {err:#}: it is done without LVM's lock.");
        None
    })
}

fn table_error(name: &str, err: TableError) -> anyhow::Error {
    usage(format!("{name} is not changed: {err}"))
}

/// A table as it would be, or why not.
pub fn planned(held: &Held, table: Result<Table, TableError>) -> Result<Table> {
    table.map_err(|err| table_error(&held.state.name, err))
}

/// Everything about a device, if nobody else is about to change it.
pub fn look(number: DeviceNumber) -> Result<Held> {
    let state = swap::state(number).context(mapper::NOT_ASKED)?;
    let name = &state.name;
    let cannot = || format!("{name} cannot be looked at");

    if is_part_of_lvm(&state) {
        return Err(usage(format!(
            "{name} is a part of another volume, which LVM changes when it likes"
        )));
    }
    if state.is_suspended {
        return Err(usage(format!(
            "{name} is suspended: somebody is at work there; if not, \"dmsetup resume {name}\" ends that"
        )));
    }
    let table = dm::table(number).with_context(cannot)?;
    let table = Table::parse(&table).map_err(|err| table_error(name, err))?;
    let shape = Shape::of(number).with_context(cannot)?;
    if shape.has_dax {
        return Err(usage(format!(
            "{name} is memory (DAX), which the target does not pass through"
        )));
    }
    Ok(Held {
        number,
        table,
        shape,
        state,
    })
}

/// The table that is loaded beside the one at work; `None`: there is none.
///
/// # Errors
///
/// When device-mapper cannot be asked, or the table is not understood.
pub fn inactive(number: DeviceNumber) -> Result<Option<Table>> {
    let text = swap::inactive_table(number).context(mapper::NOT_ASKED)?;

    match Table::parse(&text) {
        Err(TableError::Empty) => Ok(None),
        parsed => parsed.map(Some).map_err(|err| anyhow!(err)),
    }
}

/// Has a run that was killed loaded a table which is not at work yet?
///
/// # Errors
///
/// When somebody else has.
pub fn has_leftover(held: &Held) -> Result<bool> {
    let name = &held.state.name;

    if !held.state.has_inactive {
        return Ok(false);
    }
    match inactive(held.number)? {
        Some(other) if !other.is_counterpart(&held.table) => Err(usage(format!(
            "{name} has another table loaded, which is not at work yet: somebody is at work there; if \
             not, \"dmsetup clear {name}\" takes it away"
        ))),
        _ => Ok(true),
    }
}

/// Of a table that somebody else has loaded, and is going to put to work.
pub fn foreign_stays(name: &str) -> anyhow::Error {
    anyhow!(
        "somebody else has loaded a table, which stays; if nobody is at work there, \"dmsetup clear {name}\" takes \
         it away"
    )
}

/// Take such a table away.
///
/// # Errors
///
/// When it stays.
pub fn tidy(held: &Held) -> Result<()> {
    let name = &held.state.name;
    swap::clear(name).with_context(|| format!("{name} keeps the table of a run that was killed"))
}

/// Is everything as it must be with the new table?
fn verify(held: &Held, new: &Table) -> Result<()> {
    let number = held.number;
    let state = swap::state(number)?;
    let now = Table::parse(&dm::table(number)?)?;
    let shape = Shape::of(number)?;

    if state.is_suspended || state.has_inactive {
        bail!("somebody else has changed it meanwhile");
    }
    if !now.maps_as(new) || now.nr_targets() != new.nr_targets() {
        bail!("its table is not the one that was loaded");
    }
    if let Some(difference) = held.shape.difference(&shape) {
        bail!("what uses it would not find it as it was: {difference}");
    }
    let targets = dm::targets(&held.state.name)?;
    if targets.len() != new.nr_targets() {
        bail!("{} of {} targets run", targets.len(), new.nr_targets());
    }
    for target in &targets {
        Status::parse(&target.params)?;
    }
    Ok(())
}

/// Is it the table that was looked at? Its options of hint mode do not matter.
fn is_as_it_was(now: &Table, held: &Held) -> bool {
    now.nr_targets() == held.table.nr_targets() && now.maps_as(&held.table)
}

/// Whoever is not of LVM has no lock, nor has LVM where its locks are elsewhere.
fn require_as_it_was(held: &Held) -> Result<()> {
    let now = Table::parse(&dm::table(held.number)?)?;

    if !is_as_it_was(&now, held) {
        bail!("the table at work is another one by now");
    }
    Ok(())
}

fn change(held: &Held, new: &Table) -> Result<()> {
    let name = &held.state.name;
    let text = new.to_string();

    require_as_it_was(held)?;
    swap::load(name, &text, held.state.is_read_only)
        .map_err(|err| mapper::not_taken(err, "The table was not loaded".to_owned()))?;
    // LVM might have loaded one of its own in between.
    if inactive(held.number)?.is_none_or(|loaded| !loaded.maps_as(new)) {
        bail!("somebody else has loaded a table meanwhile");
    }
    require_as_it_was(held)?;
    swap::resume(name)
        .map_err(|err| mapper::not_taken(err, "The table was not put to work".to_owned()))?;
    verify(held, new)
}

/// Is the table that is loaded, and not at work yet, one that we may have loaded? Whoever has loaded
/// another one, such as LVM, is going to put it to work.
fn is_ours_loaded(held: &Held) -> bool {
    inactive(held.number)
        .is_ok_and(|loaded| loaded.is_none_or(|loaded| loaded.maps_as(&held.table)))
}

/// What the device has when a change that failed was undone.
enum Back {
    AsItWas,
    /// What somebody else has put to work meanwhile.
    Foreign,
}

/// Make it as it was, wherever the change has stopped. What somebody else has loaded, or put to work, stays: what
/// was looked at before may map to places that are another volume's by now.
fn put_back(held: &Held) -> Result<Back> {
    let name = &held.state.name;
    let state = swap::state(held.number)?;
    let is_foreign = state.has_inactive && !is_ours_loaded(held);

    if state.has_inactive && !is_foreign {
        swap::clear(name)?;
    }
    let now = Table::parse(&dm::table(held.number)?)?;
    if !now.maps_as(&held.table) {
        return Ok(Back::Foreign);
    }
    if is_foreign && (!is_as_it_was(&now, held) || state.is_suspended) {
        return Err(foreign_stays(name));
    }
    if is_as_it_was(&now, held) {
        if state.is_suspended {
            swap::resume(name)?;
        }
        return Ok(Back::AsItWas);
    }
    swap::load(name, &held.table.to_string(), held.state.is_read_only)?;
    swap::resume(name)?;
    Ok(Back::AsItWas)
}

/// Give the device another table that maps the same.
///
/// # Errors
///
/// When that fails; the device has its old table then. When not even that, says so.
pub fn exchange(held: &Held, new: &Table) -> Result<()> {
    let name = &held.state.name;
    // Ctrl-C does not end us between two steps.
    let progress = Progress::new()?;

    let as_it_was = || format!("{name} is as it was");

    progress.go_on().with_context(as_it_was)?;
    let Err(err) = change(held, new) else {
        return Ok(());
    };
    match put_back(held) {
        Ok(Back::AsItWas) => Err(err.context(as_it_was())),
        Ok(Back::Foreign) => Err(err.context(format!(
            "somebody else has given {name} another table meanwhile, which stays"
        ))),
        Err(other) => Err(other.context(format!(
            "{err:#}; and {name} could not be given its old table again, see \"dmsetup info {name}\""
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::is_part_of_lvm;
    use crate::dm::swap::State;

    fn state(name: &str, uuid: &str) -> State {
        State {
            name: name.to_owned(),
            uuid: uuid.to_owned(),
            has_inactive: false,
            is_suspended: false,
            is_read_only: false,
        }
    }

    #[test]
    fn parts_of_volumes_are_known_by_their_uuid_or_name() {
        let whole = format!("LVM-{}", "a".repeat(64));
        assert!(!is_part_of_lvm(&state("vg-data", &whole)));
        assert!(is_part_of_lvm(&state(
            "vg-data-real",
            &format!("{whole}-real")
        )));
        assert!(is_part_of_lvm(&state(
            "vg-pool_tdata",
            &format!("{whole}-tdata")
        )));
        assert!(is_part_of_lvm(&state("vg-r_rimage_0", &whole)));
        assert!(is_part_of_lvm(&state("vg-m_mlog", &whole)));
        assert!(is_part_of_lvm(&state("a--b--c-d--e_mlog", &whole)));
        assert!(!is_part_of_lvm(&state("a--b_mlog-d--e", &whole)));
        for uuid in ["", "CRYPT-PLAIN-x_rimage_0", "DIEAWARE-HINT-x"] {
            assert!(!is_part_of_lvm(&state("x_rimage_0", uuid)));
        }
    }
}
