// SPDX-License-Identifier: GPL-2.0-only
//! What the `dieaware` tool is made of. The verbs are in [`commands`]; everything else is a library
//! that reports errors as types and never prints.
//!
//! What the kernel has is asked for in [`dm`] (device-mapper), [`device`] (what a block device is),
//! and [`fs`] (what filesystems know of files); [`io_engine`] moves bytes. [`mod@format`] is log
//! mode's metadata; [`events`] are what somebody has to know of. [`boot`] is for the boot, [`sim`] is the virtual SSD without a kernel, and the
//! others are what verbs of their names do.

#[macro_use]
pub mod complain;

pub mod boot;
pub mod commands;
pub mod defrag;
pub mod device;
pub mod dm;
pub mod doctor;
pub mod events;
pub mod export;
pub mod format;
pub mod frag;
pub mod fs;
pub mod io_engine;
pub mod pick;
pub mod probe;
pub mod progress;
pub mod runs;
pub mod sim;
pub mod status;
pub mod units;
