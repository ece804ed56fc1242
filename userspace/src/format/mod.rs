// SPDX-License-Identifier: GPL-2.0-only
//! What log mode keeps on a device (`docs/format.md`), read and written by other code
//! than the target's: each finds the other's mistakes.

pub mod block;
pub mod create;
pub mod layout;
pub mod make;
pub mod root;
pub mod superblock;
