// SPDX-License-Identifier: GPL-2.0-only
//! Devices that a verb writes over: nobody may use them, and what they hold is not lost by
//! mistake.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result};

use super::check::require_start;
use super::UsageError;
use crate::io_engine::pages::{Device, OpenHow};
use crate::io_engine::signatures::{self, LOG_MODE};
use crate::units::{PAGE_BYTES, SECTOR_BYTES};

fn usage(sentence: impl Into<String>) -> anyhow::Error {
    UsageError(sentence.into()).into()
}

/// Open a device that is going to be written over. Only with `force` it may be in use.
///
/// # Errors
///
/// When it is in use, or cannot be opened.
pub fn open(path: &Path, start: u64, force: bool) -> Result<Device> {
    let mut how = OpenHow {
        write: true,
        exclusive: true,
    };
    require_start(start)?;
    let opened = match Device::open(path, start, how) {
        Err(err) if err.kind() == ErrorKind::ResourceBusy => {
            if !force {
                return Err(usage(format!(
                    "{} is in use: it is mounted, or part of another device",
                    path.display()
                )));
            }
            how.exclusive = false;
            Device::open(path, start, how)
        }
        opened => opened,
    };
    opened.with_context(|| format!("{} cannot be opened", path.display()))
}

/// The same, and a file that does not exist is made, as long as it must be.
///
/// # Errors
///
/// The same, and when the device is smaller than that.
pub fn open_or_create(path: &Path, start: u64, force: bool, nr_pages: u64) -> Result<Device> {
    let name = path.display();
    let bytes = nr_pages
        .checked_mul(PAGE_BYTES)
        .and_then(|bytes| bytes.checked_add(start.checked_mul(SECTOR_BYTES)?))
        .ok_or_else(|| usage("No device is that large"))?;

    require_start(start)?;
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(file) => file
            .set_len(bytes)
            .with_context(|| format!("{name} cannot be made {bytes} bytes long"))?,
        Err(err) if err.kind() == ErrorKind::AlreadyExists => {}
        Err(err) => return Err(err).with_context(|| format!("{name} cannot be created")),
    }
    let device = open(path, start, force)?;
    if device.bytes() < nr_pages * PAGE_BYTES {
        return Err(usage(format!(
            "{name} is too small: {} bytes from sector {start} on, and {} are needed",
            device.bytes(),
            nr_pages * PAGE_BYTES
        )));
    }
    Ok(device)
}

/// Refuse a device that holds data, looked at as a whole and from where the target begins.
///
/// # Errors
///
/// When it holds data, or cannot be read.
pub fn refuse_data(path: &Path, start: u64, device: &Device) -> Result<()> {
    let name = path.display();
    let whole = (start != 0)
        .then(|| Device::open(path, 0, OpenHow::default()))
        .transpose()
        .with_context(|| format!("{name} cannot be opened"))?;

    for part in whole.iter().chain([device]) {
        let found = signatures::find(part).with_context(|| format!("{name} cannot be read"))?;
        if let Some(first) = found.first() {
            return Err(usage(format!(
                "{name} holds {} (a sign of it is at byte {}); --force destroys it",
                first.what, first.at
            )));
        }
    }
    Ok(())
}

/// Refuse a device that holds data, or take the signs of it away. Both the device and the
/// part that the target is to use are looked at.
///
/// # Errors
///
/// When it holds data, or fails.
pub fn clear(path: &Path, start: u64, force: bool, device: &Device) -> Result<()> {
    let name = path.display();

    if !force {
        return refuse_data(path, start, device);
    }
    let found = signatures::find(device).with_context(|| format!("{name} cannot be read"))?;
    signatures::erase(device, &found).with_context(|| format!("{name} cannot be written"))
}

/// The same for a verb that writes metadata only: on a device in log mode, what looks like a
/// sign of something else may be data.
///
/// # Errors
///
/// The same.
pub fn clear_but_log_mode(path: &Path, start: u64, force: bool, device: &Device) -> Result<()> {
    let found =
        signatures::find(device).with_context(|| format!("{} cannot be read", path.display()))?;

    if force && found.iter().any(|sign| sign.what == LOG_MODE) {
        return Ok(());
    }
    clear(path, start, force, device)
}
