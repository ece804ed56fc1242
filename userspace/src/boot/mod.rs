// SPDX-License-Identifier: GPL-2.0-only
//! What a machine does when it boots, so that nobody has to do it by hand: the devices of
//! `/etc/dietab` are made by units that a generator of systemd writes, and targets learn again
//! where files lie, which they forget when they are removed.

pub mod dietab;
pub mod moves;
pub mod parameter;
pub mod saved_runs;
pub mod systemd;
