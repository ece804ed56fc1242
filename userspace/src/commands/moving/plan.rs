// SPDX-License-Identifier: GPL-2.0-only
//! Whether a device can be moved, found out before anything is changed; and the beginning, up to where
//! the kernel copies.

use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail, Context, Result};
use nix::unistd::{access, AccessFlags};

use super::super::common::{self, is_same, usage};
use super::super::create::log_uuid;
use super::super::format::Features;
use super::super::swap::{self, Held};
use super::super::{format, mapper, overwrite};
use super::stack::{self, Source};
use super::MoveArgs;
use crate::boot::dietab::{self, Entry};
use crate::boot::moves::{this_boot, Moves, Moving, FOLDER};
use crate::device::hide::{self, Sign};
use crate::device::layers::layers;
use crate::device::loops;
use crate::device::shape::Shape;
use crate::device::{signatures, stack as places};
use crate::dm::life;
use crate::format::superblock::Super;
use crate::fs::{file, mounts};
use crate::io_engine::replace::{folder_behind_links, refuse_fixed};
use crate::units::{DeviceNumber, PAGE_BYTES, PAGE_SECTORS, SECTOR_BYTES};

/// What the machine needs before it has made devices of dietab(5), or its boot loader reads.
const NEEDED: [&str; 5] = ["/", "/usr", "/boot", "/efi", "/boot/efi"];

const FSTAB: &str = "/etc/fstab";

/// The target's own names must fit behind it.
const MOST_NAME_BYTES: usize = 120;

/// Nothing was begun.
#[derive(Debug)]
pub struct Refused(pub anyhow::Error);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Refused {}

/// What is going to be done.
struct Plan {
    log: String,
    target: PathBuf,
    superblock: Super,
}

/// The signs by which what lies on a device is known.
///
/// # Errors
///
/// When it is nothing that can be hidden.
pub fn signs(node: &str) -> Result<Vec<Sign>> {
    let found = signatures::find(Path::new(node))
        .with_context(|| format!("What {node} holds cannot be found out"))?;
    let what = found
        .first()
        .map_or("nothing that libblkid knows", |first| first.what.as_str());

    hide::signs(&found).ok_or_else(|| {
        usage(format!(
            "{node} holds {what}: only what can be hidden is moved, as after a reboot it would be found on \
             the old device as well ({})",
            hide::KINDS.join(", ")
        ))
    })
}

fn check_blocks(held: &Held, node: &str, args: &MoveArgs) -> Result<()> {
    let unknown = || format!("What {node} holds cannot be found out");
    let logical = held.shape.logical_block_bytes();
    let is_f2fs = signatures::find(Path::new(node))
        .with_context(unknown)?
        .iter()
        .any(|one| one.kind == "f2fs");
    // Of F2FS libblkid tells the sectors, and it never uses less than a page.
    let smallest = if is_f2fs {
        Some(PAGE_BYTES)
    } else {
        signatures::block_bytes(Path::new(node)).with_context(unknown)?
    };

    if logical >= PAGE_BYTES {
        return Ok(());
    }
    if smallest.is_none_or(|bytes| bytes < PAGE_BYTES) {
        return Err(usage(format!(
            "{node} has blocks of {logical} bytes, and its filesystem uses less than 4096: log mode has blocks \
             of 4096 bytes, so its files can only be copied to a filesystem that was made there"
        )));
    }
    if !args.blocks_4k {
        return Err(usage(format!(
            "{node} has blocks of {logical} bytes, and log mode has 4096: its filesystem never uses less, but \
             a program with O_DIRECT may, and would fail; --blocks-4k says that none does"
        )));
    }
    Ok(())
}

fn check_use(source: &Source, node: &str) -> Result<()> {
    let mountinfo = mounts::mountinfo().context("What is mounted is not known")?;
    let is_it = |path: &Path| places::is_node_of(path, source.number);
    let points = mounts::mount_points(&mountinfo, source.number, &is_it);

    if let Some(point) = points.iter().find(|point| {
        NEEDED
            .iter()
            .any(|needed| point.as_path() == Path::new(needed))
    }) {
        return Err(usage(format!(
            "{node} is mounted at {}, which the machine needs before it makes devices in log mode",
            point.display()
        )));
    }
    let fstab = match mounts::read(Path::new(FSTAB)) {
        Err(err) if err.kind() == ErrorKind::NotFound => String::new(),
        read => read.with_context(|| format!("{FSTAB} cannot be read"))?,
    };
    if let Some(named) = mounts::named_in_fstab(&fstab, &is_it) {
        return Err(usage(format!(
            "{FSTAB} names {}, which after the next boot is the old device: let it name the filesystem \
             by UUID=, which leads to the right one before and afterwards",
            named.display()
        )));
    }
    Ok(())
}

fn check_source(source: &Source, args: &MoveArgs) -> Result<()> {
    let held = swap::look(source.number)?;
    let name = &held.state.name;
    let node = swap::node_of(source.number);

    stack::require_alone(source)?;
    held.table
        .require_shared()
        .map_err(|err| usage(format!("{name} cannot be moved: {err}")))?;
    if held.state.is_read_only {
        return Err(usage(format!(
            "{name} can only be read, and would have to be hidden afterwards"
        )));
    }
    if source.len_sectors() % PAGE_SECTORS != 0 {
        return Err(usage(format!(
            "{name} has {} sectors, and log mode has pages of 8 sectors",
            source.len_sectors()
        )));
    }
    signs(&node)?;
    check_blocks(&held, &node, args)?;
    check_use(source, &node)
}

/// The file that a loop device shows lies on this device.
fn is_file_there(node: &Path, source: DeviceNumber) -> bool {
    let path = node.file_name().and_then(loops::shown_by);
    let opened = path.and_then(|path| file::open_place(&path).ok());

    opened.is_some_and(|opened| file::below(&opened).is_ok_and(|below| below == source))
}

/// A target that lies on the device itself would wait for itself.
fn check_below(source: &Source, target: &Path) -> Result<()> {
    let name = target.display();
    let number = places::number_of(target).with_context(|| format!("{name} has no number"))?;
    let node = swap::node_of(source.number);
    let lies_there = |layer: &crate::device::layers::Layer| {
        layer.node == Path::new(&node) || is_file_there(&layer.node, source.number)
    };

    if layers(number).iter().any(lies_there) {
        return Err(usage(format!("{name} lies on {node} itself")));
    }
    Ok(())
}

fn check_log_name(name: &str) -> Result<()> {
    dietab::check_name(name).map_err(|why| usage(format!("{why}: --name chooses one")))?;
    if name.len() > MOST_NAME_BYTES {
        return Err(usage(format!("\"{name}\" is too long: --name chooses one")));
    }
    if mapper::info(name)?.is_some() {
        return Err(usage(format!(
            "There is a device {name} already: --name chooses another name"
        )));
    }
    let text = dietab::read(Path::new(dietab::PATH)).unwrap_or_default();
    if dietab::has_line(&text, name) {
        return Err(usage(format!(
            "{} has a line for {name} already: --name chooses another name",
            dietab::PATH
        )));
    }
    Ok(())
}

/// A line of dietab(5) whose source is a device, by whatever name.
fn line_on<'a>(entries: &'a [Entry], target: &Path) -> Option<&'a Entry> {
    let target = fs::canonicalize(target).ok()?;
    let leads_there =
        |entry: &&Entry| fs::canonicalize(entry.source.path()).is_ok_and(|source| source == target);

    entries.iter().find(leads_there)
}

/// By a line in log mode, the next boot would make a log that is not complete, beside the filesystem of
/// which it is a copy. By one in hint mode, udev would hide the log.
fn check_no_line_on(target: &Path) -> Result<()> {
    let text = dietab::read_if_there(Path::new(dietab::PATH))
        .with_context(|| format!("{} cannot be read", dietab::PATH))?;
    let entries: Vec<_> = dietab::parse(&text).into_iter().flatten().collect();

    match line_on(&entries, target) {
        None => Ok(()),
        Some(entry) => Err(usage(format!(
            "{}, line {}: {} lies on {}: remove the line, as the device is going to hold something else",
            dietab::PATH,
            entry.line,
            entry.name,
            target.display()
        ))),
    }
}

/// Without a line there nothing leads to the log after the next boot. That there is room for it is seen
/// before the log counts.
fn check_dietab() -> Result<()> {
    let path = Path::new(dietab::PATH);
    let may_write = || -> io::Result<()> {
        access(&folder_behind_links(path), AccessFlags::W_OK)?;
        refuse_fixed(path)
    };

    may_write().with_context(|| {
        format!(
            "{} cannot be written, which brings the log back at boot",
            dietab::PATH
        )
    })
}

fn check_size(source: &Source, target: &Path, bytes: u64, superblock: &Super) -> Result<()> {
    let has = superblock.nr_lpns.saturating_mul(PAGE_BYTES);
    let needs = source.len_sectors().saturating_mul(SECTOR_BYTES);
    let whole = u128::from(bytes) * u128::from(needs) / u128::from(has.max(1));

    if has < needs {
        return Err(usage(format!(
            "{} is too small: of its {bytes} bytes {has} are shown in log mode, and {} has {needs}, for which \
             it takes about {whole}",
            target.display(),
            source.state.name
        )));
    }
    Ok(())
}

/// `force`: what the target holds was ours.
fn look(source: &Source, args: &MoveArgs, force: bool) -> Result<Plan> {
    let name = &source.state.name;
    let log = args.name.clone().unwrap_or_else(|| format!("{name}-log"));
    let target = args
        .target
        .clone()
        .ok_or_else(|| usage("Where to is not said: it takes a TARGET"))?;

    check_source(source, args)?;
    check_log_name(&log)?;
    check_dietab()?;
    mapper::check_node(&target)?;
    check_below(source, &target)?;
    check_no_line_on(&target)?;
    let device = common::open(&target, 0, false)?;
    if !device.is_block() {
        return Err(usage(format!(
            "{} is a file; losetup makes a block device of it",
            target.display()
        )));
    }
    if !args.force && !force {
        overwrite::refuse_data(&target, 0, &device)?;
    }
    let features = Features {
        checksums: args.checksums,
        drafts: !args.no_drafts,
    };
    let superblock = format::lay_out(&target, 0, features, &device)?;
    check_size(source, &target, device.bytes(), &superblock)?;
    Ok(Plan {
        log,
        target,
        superblock,
    })
}

fn log_line(plan: &Plan, args: &MoveArgs) -> String {
    let len_sectors = plan.superblock.nr_lpns * PAGE_SECTORS;
    let mut line = mapper::table_line(len_sectors, plan.target.display(), 0, "log");

    if !args.options.is_empty() {
        line += &format!(" {} {}", args.options.len(), args.options.join(" "));
    }
    line
}

/// What would be done: how the log is called, and what there is to say.
///
/// # Errors
///
/// When it could not be.
pub fn wished(source: &Source, args: &MoveArgs, moves: &Moves) -> Result<(String, Vec<String>)> {
    let name = &source.state.name;

    stack::require_incomplete(source, moves)?;
    if stack::has_leftover(source, moves)? {
        return Err(usage(format!(
            "A move of {name} was begun, and would be undone first: --undo does only that"
        )));
    }
    let plan = look(source, args, false)?;
    let notes = vec![
        format!(
            "would format {} for log mode; what it holds is lost",
            plan.target.display()
        ),
        format!("would create {}: {}", plan.log, log_line(&plan, args)),
        format!(
            "would copy {name} to it, {} bytes, and let {name} lie on it",
            source.len_sectors() * SECTOR_BYTES
        ),
        format!("would add a line to {}", dietab::PATH),
    ];
    Ok((plan.log, notes))
}

/// What uses the device must find it as it was, but for its blocks.
fn check_shape(before: &Shape, number: DeviceNumber) -> Result<()> {
    let now = Shape::of(number)?;

    if let Some(difference) = before.difference_in_place(&now) {
        bail!("what uses it would not find it as it was: {difference}");
    }
    Ok(())
}

fn build(source: &Source, plan: &Plan, args: &MoveArgs, moves: &Moves, force: bool) -> Result<()> {
    let name = &source.state.name;
    let shape = Shape::of(source.number)?;
    let moving = Moving {
        target: plan.target.clone(),
        log: plan.log.clone(),
        log_uuid: plan.superblock.uuid_text(),
        options: args.options.clone(),
        signs: Vec::new(),
        boot: this_boot(),
    };

    moves
        .write(name, &moving)
        .with_context(|| format!("{FOLDER} cannot be written"))?;
    format::write(&plan.target, 0, force, &plan.superblock)?;
    life::create(
        &plan.log,
        &log_uuid(&plan.superblock, &plan.log),
        &log_line(plan, args),
    )
    .map_err(|err| mapper::not_taken(err, format!("{} was not created", plan.log)))?;
    stack::mirror(source, &plan.log)?;
    check_shape(&shape, source.number)
}

/// Another record would take the place of one that is still needed.
fn require_forgotten(name: &str, moves: &Moves) -> Result<()> {
    let Some(left) = moves.read(name).context(FOLDER)? else {
        return Ok(());
    };
    Err(usage(format!(
        "Nothing was begun, as a copy of {name} that is not complete is left, the log {}: remove {}, its record, if it \
         is gone for good",
        left.log_uuid,
        moves.path(name).display()
    )))
}

/// Have the kernel begin to copy. What another run has left is taken away first.
///
/// # Errors
///
/// When that fails.
pub fn begin(source: &Source, args: &MoveArgs, moves: &Moves) -> Result<()> {
    let number = source.number;
    stack::require_incomplete(source, moves).map_err(|err| anyhow!(Refused(err)))?;
    let left = if stack::has_leftover(source, moves)? {
        stack::take_apart(source, moves)?
    } else {
        None
    };
    require_forgotten(&source.state.name, moves).map_err(|err| anyhow!(Refused(err)))?;
    let source = Source::look(number)?;
    let ours = |target: &PathBuf| left.as_ref().is_some_and(|left| is_same(left, target));
    let is_ours = args.target.as_ref().is_some_and(ours);
    let plan = look(&source, args, is_ours).map_err(|err| anyhow!(Refused(err)))?;

    build(&source, &plan, args, moves, args.force || is_ours)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::line_on;
    use crate::boot::dietab::parse;

    #[test]
    fn a_line_on_the_target_is_found_by_any_of_its_names_and_in_either_mode() {
        for (text, expected) in [
            ("a /dev/zero log\nb /dev/null log", Some("b")),
            ("b /dev/./null hint", Some("b")),
            ("b /dev/null log start=8", Some("b")),
            ("b /dev/null hint noauto", Some("b")),
            ("a /dev/zero hint\nb /dev/none log", None),
            ("", None),
        ] {
            let entries: Vec<_> = parse(text).into_iter().flatten().collect();
            for target in ["/dev/null", "/dev/../dev/null"] {
                let found = line_on(&entries, Path::new(target));
                assert_eq!(found.map(|entry| entry.name.as_str()), expected, "{text}");
            }
        }
        let entries: Vec<_> = parse("a /dev/none log").into_iter().flatten().collect();
        assert_eq!(line_on(&entries, Path::new("/dev/none")), None);
    }
}
