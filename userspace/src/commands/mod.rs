// SPDX-License-Identifier: GPL-2.0-only
//! The verbs: one file each.

pub mod runs;
pub mod status;

use std::fmt;

/// Something that the caller of the tool got wrong: exit status 2 instead of 3.
#[derive(Debug)]
pub struct UsageError(pub String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for UsageError {}
