// SPDX-License-Identifier: GPL-2.0-only
//! A lease: as long as we have it, nobody else has the file open. Whoever wants to waits for us, but
//! no longer than fs.lease-break-time: then the kernel takes the lease away.

use std::cell::Cell;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use signal_hook::consts::SIGIO;
use signal_hook::flag;

/// How long somebody waits who wants to open a file, in seconds; 0: for ever.
const BREAK_TIME: &str = "/proc/sys/fs/lease-break-time";

/// The kernel counts that in ticks.
const TICKS: Duration = Duration::from_secs(1);

/// Let go of when dropped.
pub struct Lease<'a> {
    file: &'a File,
    /// When nobody waited yet.
    held: Cell<Instant>,
}

/// Whoever waits is announced by a signal, which would end us. Once for all leases.
fn survive_announcements() -> io::Result<()> {
    static SURVIVES: Mutex<bool> = Mutex::new(false);
    let mut survives = SURVIVES.lock().unwrap_or_else(PoisonError::into_inner);

    if !*survives {
        flag::register(SIGIO, Arc::new(AtomicBool::new(false)))?;
        *survives = true;
    }
    Ok(())
}

impl<'a> Lease<'a> {
    /// Of a file that is open for reading and writing; `None`: somebody else has it open.
    ///
    /// # Errors
    ///
    /// When the filesystem has no leases, or we must not have one.
    pub fn take(file: &'a File) -> io::Result<Option<Self>> {
        survive_announcements()?;
        let held = Cell::new(Instant::now());
        // SAFETY: the descriptor is open while `file` lives, and the argument is a number.
        let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_WRLCK) };

        match Errno::result(result) {
            Ok(_) => Ok(Some(Self { file, held })),
            Err(Errno::EAGAIN | Errno::EBUSY) => Ok(None),
            Err(err) => Err(err.into()),
        }
    }

    /// Is it still ours, and does nobody wait for it?
    #[must_use]
    pub fn holds(&self) -> bool {
        let now = Instant::now();
        // SAFETY: the descriptor is open while `file` lives, and there is no argument.
        let lease = unsafe { libc::fcntl(self.file.as_raw_fd(), libc::F_GETLEASE) };
        let holds = lease == libc::F_WRLCK;
        if holds {
            self.held.set(now);
        }
        holds
    }

    /// Has nobody been let in so far, even if somebody waits?
    #[must_use]
    pub fn keeps_others_out(&self) -> bool {
        let waits = self.held.get().elapsed();
        self.holds() || break_time().is_some_and(|most| waits + TICKS < most)
    }
}

/// How long somebody waits at most, if that is known.
fn break_time() -> Option<Duration> {
    let text = fs::read_to_string(BREAK_TIME).ok()?;
    text.trim().parse().ok().map(Duration::from_secs)
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        // SAFETY: as above. A lease ends with its descriptor at the latest.
        unsafe { libc::fcntl(self.file.as_raw_fd(), libc::F_SETLEASE, libc::F_UNLCK) };
    }
}

/// What a terminal stops processes with.
const STOPS: [Signal; 3] = [Signal::SIGTSTP, Signal::SIGTTIN, Signal::SIGTTOU];

/// As long as it is there, Ctrl-Z has to wait: who is stopped may lose a lease at any time.
pub struct Unstopped {
    before: SigSet,
}

impl Unstopped {
    /// # Errors
    ///
    /// When signals cannot be blocked.
    pub fn begin() -> io::Result<Self> {
        let stops: SigSet = STOPS.into_iter().collect();
        let before = stops.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
        Ok(Self { before })
    }
}

impl Drop for Unstopped {
    fn drop(&mut self) {
        // A mask that was in force cannot be wrong.
        let _ = self.before.thread_set_mask();
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File, OpenOptions};
    use std::io::ErrorKind;
    use std::os::unix::fs::OpenOptionsExt;
    use std::time::{Duration, Instant};

    use nix::libc;
    use nix::sys::signal::{SigSet, Signal};

    use super::{break_time, Lease, Unstopped};

    #[test]
    fn who_waits_is_not_let_in_at_once() {
        let path = std::env::temp_dir().join(format!("lease-{}", std::process::id()));
        let file = File::create_new(&path).unwrap();
        let lease = Lease::take(&file).unwrap().unwrap();
        assert!(lease.holds() && lease.keeps_others_out());

        let mut writing = OpenOptions::new();
        writing.write(true).custom_flags(libc::O_NONBLOCK);
        let err = writing.open(&path).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::WouldBlock);
        assert!(!lease.holds());
        let waits_long = break_time().is_some_and(|most| most > Duration::from_secs(9));
        assert_eq!(lease.keeps_others_out(), waits_long);
        // They may have been let in since.
        let long_ago = Instant::now().checked_sub(break_time().unwrap()).unwrap();
        lease.held.set(long_ago);
        assert!(!lease.keeps_others_out());
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_terminal_stops_nobody_meanwhile() {
        let is_blocked = || {
            let mask = SigSet::thread_get_mask().unwrap();
            mask.contains(Signal::SIGTSTP) && !mask.contains(Signal::SIGINT)
        };
        assert!(!is_blocked());
        let unstopped = Unstopped::begin().unwrap();
        assert!(is_blocked());
        drop(unstopped);
        assert!(!is_blocked());
    }
}
