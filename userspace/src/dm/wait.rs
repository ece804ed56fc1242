// SPDX-License-Identifier: GPL-2.0-only
//! Events of a device. Each has a number; who has looked at a device after having asked for the
//! number, and then waits for the next one, misses nothing that has happened in between.

use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::process::{Child, Stdio};
use std::time::Duration;

use nix::libc;

use super::{columns_of, command, said, DmError};
use crate::units::DeviceNumber;

/// How many events a device has had; `None`: there is no such device.
///
/// # Errors
///
/// When device-mapper cannot be asked.
pub fn event_number(device: DeviceNumber) -> Result<Option<u32>, DmError> {
    columns_of(&device.to_string(), "devno,events", |events| {
        events.trim().parse().ok()
    })
}

/// Is its table read-only? A device that has gone has none.
#[must_use]
pub fn is_read_only(device: DeviceNumber) -> bool {
    fs::read_to_string(format!("/sys/dev/block/{device}/ro")).is_ok_and(|ro| ro.trim() == "1")
}

/// A dmsetup that waits. Whoever does not need it any more lets it go.
struct Waiter(Child);

impl Drop for Waiter {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Wait until a device has had more than that many events, or is gone, for a time at most; a signal
/// ends that as well.
///
/// # Errors
///
/// When device-mapper cannot be asked.
pub fn wait(device: DeviceNumber, number: u32, limit: Duration) -> Result<(), DmError> {
    let (major, minor) = (device.major.to_string(), device.minor.to_string());
    let number = number.to_string();
    let args = [
        "wait",
        "--noflush",
        "--major",
        &major,
        "--minor",
        &minor,
        &number,
    ];
    let child = command(&args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut waiter = Waiter(child);

    // What it prints into is closed when it ends.
    let Some(stdout) = waiter.0.stdout.as_ref() else {
        return Ok(());
    };
    if !ends_within(stdout, limit)? {
        return Ok(());
    }
    let status = waiter.0.wait()?;
    if !status.success() && event_number(device)?.is_some() {
        let output = std::process::Output {
            status,
            stdout: Vec::new(),
            stderr: waiter.0.stderr.take().map_or(Ok(Vec::new()), read_all)?,
        };
        said(&args, &output)?;
    }
    Ok(())
}

fn read_all(mut from: impl io::Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Is there something to be read, or has the other side closed it?
fn ends_within(file: &impl AsRawFd, limit: Duration) -> io::Result<bool> {
    let mut poll = libc::pollfd {
        fd: file.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let limit_ms = i32::try_from(limit.as_millis().max(1)).unwrap_or(i32::MAX);

    // SAFETY: the pointer leads to one pollfd, which lives longer than the call, and the file is open.
    let ready = unsafe { libc::poll(&mut poll, 1, limit_ms) };
    if ready < 0 {
        let err = io::Error::last_os_error();
        if err.kind() != io::ErrorKind::Interrupted {
            return Err(err);
        }
    }
    Ok(ready > 0)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use super::ends_within;

    #[test]
    fn a_program_that_ends_is_noticed() {
        for (program, limit, ends) in [("true", 60_000, true), ("cat", 10, false)] {
            let mut child = Command::new(program)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let stdout = child.stdout.take().unwrap();
            let limit = Duration::from_millis(limit);
            assert_eq!(ends_within(&stdout, limit).unwrap(), ends, "{program}");
            drop(child.stdin.take());
            child.wait().unwrap();
        }
    }
}
