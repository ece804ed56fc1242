// SPDX-License-Identifier: GPL-2.0-only
//! The verbs: one file each. A verb takes arguments apart, has the library do the work, and says
//! what came of it, by what it prints and by the kind of its error. What several verbs need is in
//! `common`, `mapper`, `overwrite` and `swap`.

pub mod attach;
pub mod boot;
mod budget;
pub mod check;
mod common;
pub mod create;
pub mod defrag;
pub mod defragd;
pub mod detach;
pub mod doctor;
pub mod dump;
pub mod export;
pub mod format;
pub mod frag;
pub mod grow;
mod line;
pub mod list;
mod log_device;
mod mapper;
pub mod moving;
pub mod overwrite;
pub mod pack;
pub mod pick;
mod pick_watch;
pub mod probe;
pub mod remove;
pub mod repair;
pub mod restore;
pub mod runs;
pub mod sim;
pub mod stat;
pub mod status;
mod swap;
mod there;
pub mod top;
pub mod udev;
pub mod wait;

pub use common::{DamageFound, UsageError};
