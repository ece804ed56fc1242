// SPDX-License-Identifier: GPL-2.0-only
//! What log mode keeps on a device (`docs/format.md`), read and written by other code
//! than the target's: each finds the other's mistakes.

pub mod block;
pub mod build;
pub mod check;
pub mod create;
pub mod data;
pub mod drafts;
pub mod dump;
pub mod exact;
pub mod findings;
pub mod grown;
pub mod journal;
pub mod layout;
pub mod make;
pub mod map;
pub mod need;
pub mod places;
pub mod records;
pub mod repair;
pub mod restore;
pub mod root;
pub mod salvage;
pub mod scan;
pub mod segments;
pub mod stat;
pub mod summary;
pub mod superblock;
pub mod volume;

pub use check::check;
