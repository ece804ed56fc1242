// SPDX-License-Identifier: GPL-2.0-only
//! What people are told besides what they have asked for. It comes to terminals, and names of files
//! may hold what moves a cursor or worse.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// From now on nobody sees a bar, or a remark.
pub fn be_quiet() {
    IS_QUIET.store(true, Ordering::Relaxed);
}

#[must_use]
pub fn is_quiet() -> bool {
    IS_QUIET.load(Ordering::Relaxed)
}

/// A name as it can be shown on a terminal.
#[must_use]
pub fn shown(name: &str) -> Cow<'_, str> {
    without(name, char::is_control)
}

/// The same of text that may have several lines.
#[must_use]
pub fn shown_text(text: &str) -> Cow<'_, str> {
    without(text, |letter| {
        letter.is_control() && letter != '\n' && letter != '\t'
    })
}

fn without(text: &str, is_barred: impl Fn(char) -> bool) -> Cow<'_, str> {
    if text.contains(&is_barred) {
        text.replace(&is_barred, "\u{fffd}").into()
    } else {
        text.into()
    }
}

/// What is good to know, and nothing wrong: not for who wants it quiet.
#[macro_export]
macro_rules! remark {
    ($($what:tt)*) => {{
        if !$crate::complain::is_quiet() {
            $crate::complain!($($what)*);
        }
    }};
}

/// A line to the standard error. What was being done goes on where nobody can be told: `eprintln!` would end
/// it, in the midst of a change, with an exit status that means nothing.
#[macro_export]
macro_rules! complain {
    ($($what:tt)*) => {{
        use std::io::Write as _;

        let text = format!($($what)*);
        let _ = writeln!(std::io::stderr(), "{}", $crate::complain::shown_text(&text));
    }};
}
