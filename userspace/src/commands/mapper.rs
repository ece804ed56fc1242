// SPDX-License-Identifier: GPL-2.0-only
//! What several verbs ask of device-mapper and tell it: the same thing wrong is said in the same
//! words everywhere, and a table line has one form.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail, Context, Result};

use super::common::usage;
use crate::device::stack::{self, Base};
use crate::dm::life::{self, Entry, Info};
use crate::dm::{self, DmError, Target};
use crate::status::Status;

/// What is wrong if not even that can be found out which everything else depends on.
pub const NOT_ASKED: &str = "Device-mapper cannot be asked";

/// How the UUIDs of devices begin that `dieaware create` makes. udev's rules know it, too.
pub const CREATED: &str = "DIEAWARE-";

/// Where the nodes of named devices are.
const NODES: &str = "/dev/mapper/";

/// A device by its name; `None`: there is none.
///
/// # Errors
///
/// When device-mapper cannot be asked.
pub fn info(name: &str) -> Result<Option<Info>> {
    life::info(name).context(NOT_ASKED)
}

/// The name of the device of device-mapper that is meant, which other programs call by its path. Of what
/// has a path and is no such device nobody is to hear that it is not there.
///
/// # Errors
///
/// When a path leads to something else.
pub fn name_of(what: &str) -> Result<String, String> {
    if !what.contains('/') {
        return Ok(what.to_owned());
    }
    let path = Path::new(what);
    require_own_node(path)?;
    let name = if path.exists() {
        stack::mapper_node(path).map(|(_, name)| name)
    } else {
        // Its node went with it.
        what.strip_prefix(NODES)
            .filter(|name| !name.is_empty() && !name.contains('/'))
            .map(str::to_owned)
    };
    name.ok_or_else(|| "it is no device of device-mapper".to_owned())
}

/// The name of a device of device-mapper is to lead to that device.
///
/// # Errors
///
/// When its node is one of another device.
pub fn require_own_node(path: &Path) -> Result<(), String> {
    match stack::other_name(path) {
        None => Ok(()),
        Some(now) => Err(format!(
            "{} is a node of another device, which device-mapper calls {now}: it was left when its own went, and \
             \"dmsetup mknodes\" takes it away",
            path.display()
        )),
    }
}

/// Has `dieaware create` made it?
pub fn is_created(info: &Info) -> bool {
    info.uuid.starts_with(CREATED)
}

/// All targets of all devices, each with its line of dmsetup's `table` or `status`.
///
/// # Errors
///
/// When device-mapper cannot be asked.
pub fn all(what: &str) -> Result<Vec<Entry>> {
    life::all(what).context(NOT_ASKED)
}

/// The targets of a device, of which there must be one.
///
/// # Errors
///
/// When there is none, or, with `failed`, when nobody knows.
pub fn targets_of(name: &str, failed: impl FnOnce() -> String) -> Result<Vec<Target>> {
    let targets = dm::targets(name).with_context(failed)?;
    if targets.is_empty() {
        return Err(no_target(name));
    }
    Ok(targets)
}

/// The first target of a device, which has no other one as a rule.
///
/// # Errors
///
/// When there is none, or nobody knows.
pub fn first_target(name: &str) -> Result<Target> {
    let targets = dm::targets(name).with_context(|| format!("{name} cannot be looked at"))?;
    targets.into_iter().next().ok_or_else(|| no_target(name))
}

fn no_target(name: &str) -> anyhow::Error {
    usage(format!("{name} has no dieaware target"))
}

/// What a target of a device says about itself.
///
/// # Errors
///
/// When it is not understood.
pub fn status(name: &str, params: &str) -> Result<Status> {
    Status::parse(params).with_context(|| format!("The status of {name} is not understood"))
}

/// The disk that a target lies on, by its table.
pub fn disk(table: &Entry) -> Option<PathBuf> {
    let below = table.params.split(' ').next()?.parse().ok()?;
    Base::of(below).ok()?.disk().ok()
}

/// # Errors
///
/// When what should be options of a target is something else.
pub fn check_options(options: &[String]) -> Result<()> {
    for option in options {
        if option.contains(char::is_whitespace) || !option.contains('=') {
            return Err(usage(format!("\"{option}\" is not of the form KEY=VALUE")));
        }
    }
    Ok(())
}

/// # Errors
///
/// When a table line cannot name a device so.
pub fn check_node(device: &Path) -> Result<()> {
    let name = device.to_str();

    if name.is_none_or(|name| name.contains(char::is_whitespace)) {
        return Err(usage(format!(
            "{} cannot be in a table line: name the device without blanks",
            device.display()
        )));
    }
    Ok(())
}

/// The kernel has the target, of which the module is loaded if it is not yet.
///
/// # Errors
///
/// When it has not.
pub fn require_target() -> Result<()> {
    if !life::has_target().context(NOT_ASKED)? {
        bail!(
            "The kernel has no target dieaware: is the module dm-dieaware installed? \
             (\"modprobe dm-dieaware\" says what is wrong)"
        );
    }
    Ok(())
}

/// The table line of a target that is all of a device, without options.
pub fn table_line(len_sectors: u64, below: impl Display, start_sectors: u64, mode: &str) -> String {
    format!("0 {len_sectors} dieaware {below} {start_sectors} {mode}")
}

/// Why a table was not taken. What the target itself refuses, the caller has asked for.
pub fn not_taken(err: DmError, what: String) -> anyhow::Error {
    match err {
        DmError::Refused(sentence) => usage(format!("The target refuses: {sentence}")),
        other => anyhow!(other).context(what),
    }
}
