// SPDX-License-Identifier: GPL-2.0-only
//! What the kernel knows about files.

pub mod fiemap;
pub mod file;
