// SPDX-License-Identifier: GPL-2.0-only
//! Opening a device to read the metadata of log mode. What a target in log mode shows has none of it,
//! which is no damage: the metadata lies on the device below.

use std::path::Path;

use anyhow::{Context, Result};

use super::common::{self, usage};
use super::line::parse_line;
use super::swap::node_of;
use crate::device::block::Device;
use crate::device::stack;
use crate::dm;
use crate::format::findings::Findings;
use crate::format::volume::read_super;

/// The node below, of a device that is one target in log mode, and what tells its first sector there.
fn below_log(path: &Path) -> Option<String> {
    let (number, _) = stack::mapper_node(path)?;
    let line = parse_line(&dm::table(number).ok()?)?;
    let node = node_of(line.below);

    (line.mode == "log").then(|| match line.start_sectors {
        0 => node,
        start => format!("{node} (--start {start})"),
    })
}

/// One target may lie on another one: it counts what is there.
///
/// # Errors
///
/// When the device is what a target in log mode shows, and has no superblock of its own.
pub fn require_own(path: &Path, device: &Device) -> Result<()> {
    let Some(below) = below_log(path) else {
        return Ok(());
    };
    let name = path.display();
    let superblock = read_super(device, &mut Findings::default())
        .with_context(|| format!("{name} cannot be read"))?;

    if superblock.is_none() {
        return Err(usage(format!(
            "{name} is what a target in log mode shows: its metadata lies on {below}, and can be read \
             when \"dieaware remove\" has taken {name} away"
        )));
    }
    Ok(())
}

/// Open a device that nobody else may have, to read what log mode keeps on it.
///
/// # Errors
///
/// When it is in use, cannot be opened, or is what a target shows.
pub fn open(path: &Path, start: u64, write: bool) -> Result<Device> {
    let device = common::open(path, start, write)?;

    require_own(path, &device)?;
    Ok(device)
}
