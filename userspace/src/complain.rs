// SPDX-License-Identifier: GPL-2.0-only
//! What people are told besides what they have asked for.

/// A line to the standard error. What was being done goes on where nobody can be told: `eprintln!` would end
/// it, in the midst of a change, with an exit status that means nothing.
#[macro_export]
macro_rules! complain {
    ($($what:tt)*) => {{
        use std::io::Write as _;

        let _ = writeln!(std::io::stderr(), $($what)*);
    }};
}
