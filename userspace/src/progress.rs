// SPDX-License-Identifier: GPL-2.0-only
//! Work that takes long: a bar on a terminal, and an end on Ctrl-C where nothing is half done.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use nix::libc;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level;
use thiserror::Error;

use crate::complain;

/// Ctrl-C's exit status, as a shell has it.
pub const EXIT_INTERRUPTED: u8 = 130;

/// Someone wants the work to end: exit status 130.
#[derive(Clone, Copy, Debug, Error)]
#[error("Interrupted")]
pub struct Interrupted;

/// So many have something that must be taken away before the process ends.
static TIDYING: AtomicUsize = AtomicUsize::new(0);

/// As long as it is there, a second signal does not end the process at once: whoever has it asks often
/// whether to go on, and leaves things in the kernel that have to be taken away.
#[derive(Debug)]
pub struct Tidy(());

impl Tidy {
    #[must_use]
    pub fn begin() -> Self {
        TIDYING.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Tidy {
    fn drop(&mut self) {
        TIDYING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Does the process ignore it, as after nohup(1)? Then it goes on doing so.
fn is_ignored(signal: i32) -> bool {
    // SAFETY: all bytes zero is a valid sigaction, and with null for the new one it is only read.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut now) == 0
            && now.sa_sigaction == libc::SIG_IGN
    }
}

/// What a signal does: the first one asks for an end, the next one ends the process at once.
fn on_signal(stop: &AtomicBool) {
    if stop.swap(true, Ordering::SeqCst) && TIDYING.load(Ordering::SeqCst) == 0 {
        low_level::exit(i32::from(EXIT_INTERRUPTED));
    }
}

/// Set by SIGINT, SIGTERM and SIGHUP from the first call on.
fn stop() -> io::Result<Arc<AtomicBool>> {
    static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();

    if let Some(stop) = STOP.get() {
        return Ok(Arc::clone(stop));
    }
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if signal == SIGHUP && is_ignored(signal) {
            continue;
        }
        let stop = Arc::clone(&stop);
        // SAFETY: it only touches atomic numbers, and ends the process by what signal handlers may call.
        unsafe { low_level::register(signal, move || on_signal(&stop)) }?;
    }
    Ok(Arc::clone(STOP.get_or_init(|| stop)))
}

/// A bar, where someone looks at it, and a question whether to go on.
pub struct Progress {
    bar: ProgressBar,
    stop: Arc<AtomicBool>,
}

impl Progress {
    /// Signals are kept until somebody asks [`Progress::go_on`].
    ///
    /// # Errors
    ///
    /// When they cannot be.
    pub fn new() -> io::Result<Self> {
        let target = if io::stderr().is_terminal() && !complain::is_quiet() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        Ok(Self {
            bar: ProgressBar::with_draw_target(Some(0), target),
            stop: stop()?,
        })
    }

    /// No bar, and someone else's wish to end.
    #[cfg(test)]
    pub fn with_stop(stop: Arc<AtomicBool>) -> Self {
        Self {
            bar: ProgressBar::hidden(),
            stop,
        }
    }

    /// The next part of the work, and how much there is to do in it.
    pub fn begin(&self, what: &'static str, total: u64) {
        let style = ProgressStyle::with_template("{msg} [{wide_bar}] {percent:>3} %  {eta}");

        // A template that is a constant is never refused.
        self.bar
            .set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        self.bar.set_message(what);
        self.bar.set_length(total);
        self.bar.reset();
    }

    /// The next part of the work, of which nobody knows how much it is: pages are counted.
    pub fn begin_pages(&self, what: &'static str) {
        self.begin_counting(what, "{msg} {pos} pages, {elapsed}");
    }

    /// The same, where reads are counted, or files.
    pub fn begin_reads(&self, what: &'static str) {
        self.begin_counting(what, "{msg} {pos}, {elapsed}");
    }

    fn begin_counting(&self, what: &'static str, template: &str) {
        let style = ProgressStyle::with_template(template);

        self.bar
            .set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        self.bar.set_message(what);
        self.bar.unset_length();
        self.bar.reset();
    }

    pub fn advance(&self, pages: u64) {
        self.bar.inc(pages);
    }

    /// So much of it is done.
    ///
    /// # Errors
    ///
    /// When somebody wants the work to end.
    pub fn at(&self, done: u64) -> Result<(), Interrupted> {
        self.bar.set_position(done);
        self.go_on()
    }

    /// # Errors
    ///
    /// When somebody wants the work to end.
    pub fn go_on(&self) -> Result<(), Interrupted> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Interrupted);
        }
        Ok(())
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::{on_signal, Tidy};

    #[test]
    fn who_has_to_tidy_up_is_not_ended_at_once() {
        let stop = AtomicBool::new(false);
        let tidy = Tidy::begin();
        for _ in 0..3 {
            on_signal(&stop);
            assert!(stop.load(Ordering::SeqCst));
        }
        drop(tidy);
    }
}
