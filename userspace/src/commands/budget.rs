// SPDX-License-Identifier: GPL-2.0-only
//! How much work may be done, and how long that may take. What does not fit is left for another time,
//! which is no failure.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use nix::errno::Errno;
use nix::libc;

use crate::progress::Interrupted;

/// In which stat(2) counts, whatever the filesystem's blocks are.
const STAT_BLOCK_BYTES: u64 = 512;

/// What a file takes on its filesystem, with the blocks that lead to its data.
pub fn allocated_bytes(metadata: &Metadata) -> u64 {
    metadata.blocks().saturating_mul(STAT_BLOCK_BYTES)
}

/// Bytes that may be moved yet, or copied.
pub struct Room {
    left_bytes: Option<u64>,
    /// What may be done, and which option says how much of it
    what: &'static str,
}

impl Room {
    /// `None`: any number of them.
    pub fn of(most_bytes: Option<u64>, what: &'static str) -> Self {
        Self {
            left_bytes: most_bytes,
            what,
        }
    }

    /// Why so many may not any more.
    pub fn refusal(&self, bytes: u64) -> Option<String> {
        let left = self.left_bytes.filter(|left| *left < bytes)?;
        Some(format!(
            "it has {} KiB, and {} KiB may be {}",
            bytes >> 10,
            left >> 10,
            self.what
        ))
    }

    pub fn take(&mut self, bytes: u64) {
        if let Some(left) = &mut self.left_bytes {
            *left = left.saturating_sub(bytes);
        }
    }
}

/// ioprio_set(2): the class of a process, or thread, and its level in that.
const WHO_PROCESS: libc::c_long = 1;
const CLASS_SHIFT: libc::c_long = 13;
const BEST_EFFORT: libc::c_long = 2 << CLASS_SHIFT;
const IDLE: libc::c_long = 3 << CLASS_SHIFT;
const LOWEST_LEVEL: libc::c_long = 7;

/// Who else reads and writes comes first, where the disk has a scheduler that knows of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum IoClass {
    /// When nobody else does
    Idle,
    /// After others of the usual class
    BestEffort,
}

impl IoClass {
    /// From now on, of all that this thread reads and writes.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub fn take(self) -> io::Result<()> {
        let priority = match self {
            Self::Idle => IDLE,
            Self::BestEffort => BEST_EFFORT | LOWEST_LEVEL,
        };
        // SAFETY: all arguments are numbers; 0 is the thread that calls.
        let result = unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, priority) };
        Errno::result(result)?;
        Ok(())
    }
}

/// When work has to end.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    until: Option<Instant>,
}

/// Why work has ended before all was done.
#[derive(Debug)]
pub enum End {
    Interrupted(Interrupted),
    TimeIsOver,
    /// Or after that: what was moved could not be synced.
    Unsynced(io::Error),
}

impl Limit {
    /// From now on; `None`: never.
    pub fn of(most_seconds: Option<u32>) -> Self {
        let most = most_seconds.map(|seconds| Duration::from_secs(seconds.into()));
        Self {
            until: most.and_then(|most| Instant::now().checked_add(most)),
        }
    }

    /// # Errors
    ///
    /// When the time is over.
    pub fn go_on(&self) -> Result<(), Interrupted> {
        match self.until {
            Some(until) if Instant::now() >= until => Err(Interrupted),
            _ => Ok(()),
        }
    }

    /// What was it that ended work?
    pub fn end(&self, err: Interrupted) -> End {
        match self.go_on() {
            Ok(()) => End::Interrupted(err),
            Err(_) => End::TimeIsOver,
        }
    }
}

#[cfg(test)]
mod tests {
    use nix::libc;

    use super::{End, IoClass, Limit, Room, WHO_PROCESS};
    use crate::progress::Interrupted;

    #[test]
    fn what_does_not_fit_is_refused_and_less_may_fit_yet() {
        let mut room = Room::of(Some(10 << 10), "moved yet (--max-bytes)");
        assert_eq!(room.refusal(10 << 10), None);
        room.take(7 << 10);
        assert_eq!(
            room.refusal(4 << 10).as_deref(),
            Some("it has 4 KiB, and 3 KiB may be moved yet (--max-bytes)")
        );
        assert_eq!(room.refusal(3 << 10), None);
        // A file may have grown since it was asked for.
        room.take(u64::MAX);
        assert!(room.refusal(1).is_some());
        let mut endless = Room::of(None, "");
        endless.take(u64::MAX);
        assert_eq!(endless.refusal(u64::MAX), None);
    }

    #[test]
    fn a_class_is_that_of_the_thread() {
        // SAFETY: all arguments are numbers.
        let class = || unsafe { libc::syscall(libc::SYS_ioprio_get, WHO_PROCESS, 0) };

        for (wish, priority) in [(IoClass::BestEffort, 2 << 13 | 7), (IoClass::Idle, 3 << 13)] {
            wish.take().unwrap();
            assert_eq!(class(), priority);
        }
    }

    #[test]
    fn time_is_over_when_it_is_over() {
        assert!(Limit::of(None).go_on().is_ok());
        assert!(Limit::of(Some(u32::MAX)).go_on().is_ok());
        assert!(Limit::of(Some(0)).go_on().is_err());
        assert!(matches!(
            Limit::of(Some(0)).end(Interrupted),
            End::TimeIsOver
        ));
        assert!(matches!(
            Limit::of(Some(60)).end(Interrupted),
            End::Interrupted(_)
        ));
    }
}
