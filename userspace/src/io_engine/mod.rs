// SPDX-License-Identifier: GPL-2.0-only
//! Files and devices: what the kernel knows about them, and their bytes.

pub mod btrfs;
pub mod dedupe;
pub mod f2fs;
pub mod fiemap;
pub mod file;
pub mod holes;
pub mod lease;
pub mod move_ext;
pub mod pages;
pub mod replace;
pub mod ring;
pub mod shown;
pub mod signatures;
