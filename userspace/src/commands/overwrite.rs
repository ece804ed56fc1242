// SPDX-License-Identifier: GPL-2.0-only
//! Devices that a verb writes over: nobody may use them, and what they hold is not lost by
//! mistake.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use anyhow::{anyhow, Context, Result};
use nix::unistd::{access, AccessFlags};

use super::common::{self, require_start, usage};
use crate::device::block::{Device, OpenHow};
use crate::device::signatures::{self, Found};
use crate::format::block::Uuid;
use crate::format::create::withdraw;
use crate::format::findings::Findings;
use crate::format::volume::{find_super, holds_log};
use crate::io_engine::pages::WritePages;
use crate::io_engine::shown::Shown;
use crate::progress::Progress;
use crate::units::{PAGE_BYTES, SECTOR_BYTES};

/// Open a device that is going to be written over. Nobody else may have it: of what is below a
/// mounted filesystem, or below a target, not even a user who insists may write.
///
/// # Errors
///
/// When it is in use, or cannot be opened.
pub fn open(path: &Path, start: u64) -> Result<Device> {
    common::open(path, start, true)
}

/// How long a device is that has so many pages from where the target begins.
fn needed_bytes(start: u64, nr_pages: u64) -> Result<u64> {
    nr_pages
        .checked_mul(PAGE_BYTES)
        .and_then(|bytes| bytes.checked_add(start.checked_mul(SECTOR_BYTES)?))
        .ok_or_else(|| usage("No device is that large"))
}

/// The same, of at least so many pages.
fn open_large(path: &Path, start: u64, nr_pages: u64) -> Result<Device> {
    let device = open(path, start)?;
    if device.bytes() < nr_pages * PAGE_BYTES {
        return Err(usage(format!(
            "{} is too small: {} bytes from sector {start} on, and {} are needed",
            path.display(),
            device.bytes(),
            nr_pages * PAGE_BYTES
        )));
    }
    Ok(device)
}

/// The same, and a file that does not exist is made, as long as it must be.
///
/// # Errors
///
/// The same, and when the device is smaller than that.
pub fn open_or_create(path: &Path, start: u64, nr_pages: u64) -> Result<Device> {
    let name = path.display();
    let bytes = needed_bytes(start, nr_pages)?;

    require_start(start)?;
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(file) => file.set_len(bytes).map_err(|err| {
            // It is nobody's, and would be taken for too small the next time.
            let _ = fs::remove_file(path);
            anyhow!(err).context(format!("{name} cannot be made {bytes} bytes long"))
        })?,
        Err(err) if err.kind() == ErrorKind::AlreadyExists => {}
        Err(err) => return Err(err).with_context(|| format!("{name} cannot be created")),
    }
    open_large(path, start, nr_pages)
}

/// Refuse a device that holds data, looked at as a whole and from where the target begins.
///
/// # Errors
///
/// When it holds data, or cannot be read.
pub fn refuse_data(path: &Path, start: u64, device: &Device) -> Result<()> {
    let name = path.display();
    let unknown = || format!("What {name} holds cannot be found out");
    let holds = |what: &str| usage(format!("{name} holds {what}; --force destroys it"));
    let whole = Device::open(path, 0, OpenHow::default()).with_context(unknown)?;

    for part in [&whole, device] {
        if signatures::is_log(part).with_context(unknown)? {
            return Err(holds("a device in log mode"));
        }
    }
    if let Some(first) = signatures::find(path).with_context(unknown)?.first() {
        let Found { what, at, .. } = first;
        return Err(holds(&format!("{what}, whose sign is at byte {at}")));
    }
    if start == 0 {
        return Ok(());
    }
    match signatures::find_from(path, start).with_context(unknown)? {
        None => Ok(()),
        Some(what) => Err(holds(&format!("{what} from sector {start} on"))),
    }
}

/// Refuse a device that holds data, or take the signs of it away. Both the device and the
/// part that the target is to use are looked at.
///
/// # Errors
///
/// When it holds data, or fails.
pub fn clear(path: &Path, start: u64, force: bool, device: &Device) -> Result<()> {
    if !force {
        return refuse_data(path, start, device);
    }
    clear_first(path, start, device, device.bytes())
}

/// What [`open_or_create`] would open, and refuses likewise; `None`: a file that it would make.
///
/// # Errors
///
/// The same.
pub fn open_if_there(path: &Path, start: u64, nr_pages: u64) -> Result<Option<Device>> {
    needed_bytes(start, nr_pages)?;
    require_start(start)?;
    if !fs::symlink_metadata(path).is_err_and(|err| err.kind() == ErrorKind::NotFound) {
        return open_large(path, start, nr_pages).map(Some);
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    access(
        folder.unwrap_or(Path::new(".")),
        AccessFlags::W_OK | AccessFlags::X_OK,
    )
    .with_context(|| format!("{} cannot be created", path.display()))?;
    Ok(None)
}

/// What [`clear`] would destroy, as it stands in a sentence. It refuses likewise.
///
/// # Errors
///
/// The same.
pub fn would_clear(path: &Path, start: u64, force: bool, device: &Device) -> Result<Vec<String>> {
    let unknown = || format!("What {} holds cannot be found out", path.display());
    let start_bytes = start.saturating_mul(SECTOR_BYTES);

    if !force {
        refuse_data(path, start, device)?;
        return Ok(Vec::new());
    }
    let mut lost = Vec::new();
    if signatures::is_log(device).with_context(unknown)? {
        lost.push("a device in log mode".to_owned());
    }
    let found = signatures::find(path).with_context(unknown)?;
    // What lies before stays.
    lost.extend(
        found
            .into_iter()
            .filter(|sign| sign.at >= start_bytes)
            .map(|sign| sign.what),
    );
    if start > 0 {
        lost.extend(signatures::find_from(path, start).with_context(unknown)?);
    }
    lost.dedup();
    Ok(lost)
}

/// The same of [`clear_for_log`].
///
/// # Errors
///
/// The same.
pub fn would_clear_for_log(
    path: &Path,
    start: u64,
    force: bool,
    device: &Device,
    uuid: &Uuid,
) -> Result<Vec<String>> {
    match log_to_write_over(path, force, device, uuid)? {
        Some(log) => Ok(vec![log.to_owned()]),
        None => would_clear(path, start, force, device),
    }
}

/// Say what would be lost.
///
/// # Errors
///
/// When nobody can be told.
pub fn print_lost(path: &Path, lost: &[String], out: &mut impl Write) -> io::Result<()> {
    for what in lost {
        writeln!(out, "{} holds {what}, which would be lost", path.display())?;
    }
    Ok(())
}

/// Does a device hold the log with this UUID?
///
/// # Errors
///
/// When it cannot be read.
pub fn holds(device: &Device, uuid_text: &str) -> Result<bool> {
    let found = find_super(device, &mut Findings::default())?;
    Ok(found.is_ok_and(|superblock| superblock.uuid_text() == uuid_text))
}

/// Take the signs of data away that lie in the first bytes of the part.
///
/// # Errors
///
/// When the device fails.
pub fn clear_first(path: &Path, start: u64, device: &Device, nr_bytes: u64) -> Result<()> {
    let name = path.display();
    let found =
        signatures::find(path).with_context(|| format!("What {name} holds cannot be found out"))?;

    signatures::erase(device, start, nr_bytes, &found)
        .with_context(|| format!("{name} cannot be written"))
}

/// The same for a verb that writes the metadata of a log. A device that has this log holds nothing
/// else, and on one that has another, what looks like a sign of something may be data.
///
/// # Errors
///
/// The same.
pub fn clear_for_log(
    path: &Path,
    start: u64,
    force: bool,
    device: &Device,
    uuid: &Uuid,
) -> Result<()> {
    match log_to_write_over(path, force, device, uuid)? {
        Some(_) => Ok(()),
        None => clear(path, start, force, device),
    }
}

/// What log a device has that may be written over as it is.
fn log_to_write_over(
    path: &Path,
    force: bool,
    device: &Device,
    uuid: &Uuid,
) -> Result<Option<&'static str>> {
    let unread = || format!("{} cannot be read", path.display());

    if holds_log(device, uuid).with_context(unread)? {
        return Ok(Some("the same log as it is now"));
    }
    let is_other = force && signatures::is_log(device).with_context(unread)?;
    Ok(is_other.then_some("a device in log mode"))
}

/// Write to a device what only counts when all of it is there. If someone ends that meanwhile, or
/// it fails, the device has no valid superblock: nobody takes it for whole.
///
/// # Errors
///
/// Those of `work`, and when it is interrupted.
pub fn whole<D: WritePages, T>(
    path: &Path,
    device: &D,
    progress: &Progress,
    work: impl FnOnce(&Shown<D>) -> Result<T>,
) -> Result<T> {
    let result = work(&Shown::new(device, progress));

    // The end may have been asked for just after the work was done.
    let result = progress.go_on().map_err(Into::into).and(result);
    result.map_err(|why: anyhow::Error| {
        let name = path.display();
        match withdraw(device) {
            Ok(()) => why.context(format!(
                "{name} was left without a valid superblock: begin again"
            )),
            Err(err) => why.context(format!(
                "{name} is not to be used as it is, and nothing can be written to it ({err})"
            )),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::open_or_create;

    #[test]
    fn what_cannot_be_made_so_long_is_not_left_there() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("image");
        // More than a file can have
        let nr_pages = u64::MAX / 4096;
        for _ in 0..2 {
            let err = open_or_create(&path, 0, nr_pages).err().unwrap();
            assert!(err.to_string().contains("cannot be made"), "{err}");
            assert!(!path.exists());
        }
        assert!(open_or_create(&path, 8, 16).is_ok());
    }
}

#[cfg(test)]
pub mod pressing {
    //! Someone who presses Ctrl-C.

    use std::cell::Cell;
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::Arc;

    use crate::format::create::create;
    use crate::format::make::{make, Request};
    use crate::format::superblock::Super;
    use crate::io_engine::pages::{Ram, ReadPages, WritePages};
    use crate::progress::Progress;
    use crate::units::PAGE_BYTES;

    /// They do when it is read, written or flushed for the nth time.
    pub struct Pressing {
        pub ram: Ram,
        left: Cell<u64>,
        stop: Arc<AtomicBool>,
    }

    impl Pressing {
        pub fn new(ram: Ram, left: u64) -> (Self, Progress) {
            let stop = Arc::new(AtomicBool::new(false));
            let pressing = Self {
                ram,
                left: Cell::new(left),
                stop: Arc::clone(&stop),
            };
            (pressing, Progress::with_stop(stop))
        }

        fn count(&self) {
            self.left.set(self.left.get().saturating_sub(1));
            if self.left.get() == 0 {
                self.stop.store(true, Ordering::Relaxed);
            }
        }
    }

    impl ReadPages for Pressing {
        fn nr_pages(&self) -> u64 {
            self.ram.nr_pages()
        }

        fn read(&self, dpn: u64, pages: &mut [u8]) -> io::Result<()> {
            self.count();
            self.ram.read(dpn, pages)
        }
    }

    impl WritePages for Pressing {
        fn write(&self, dpn: u64, pages: &[u8]) -> io::Result<()> {
            self.count();
            self.ram.write(dpn, pages)
        }

        fn flush(&self) -> io::Result<()> {
            self.count();
            self.ram.flush()
        }
    }

    pub fn laid_out(nr_pages: u64) -> Super {
        make(&Request {
            uuid: [7; 16],
            label: String::new(),
            nr_device_pages: nr_pages,
            stripe_pages: 8,
            segment_pages: Some(64),
            journal_sectors: None,
            journal_unit_sectors: 8,
            reserve_permille: 100,
            checksums: false,
            drafts: true,
        })
        .unwrap()
    }

    /// A new device in log mode.
    pub fn empty_log(nr_pages: u64) -> Ram {
        let ram = Ram::new(vec![0; (nr_pages * PAGE_BYTES) as usize]);
        create(&ram, &laid_out(nr_pages), 5).unwrap();
        ram
    }
}
