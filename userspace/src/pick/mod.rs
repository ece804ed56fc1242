// SPDX-License-Identifier: GPL-2.0-only
//! FragPicker: which parts of files applications want, and bringing only these to better places:
//! much of what a whole defragmentation writes nobody reads.

pub mod analysis;
pub mod counts;
pub mod event;
pub mod hotness;
pub mod imitate;
pub mod layout;
pub mod migrate;
pub mod processes;
pub mod trace;
