// SPDX-License-Identifier: GPL-2.0-only
//! Files and devices: what the kernel knows about them, and their bytes.

pub mod pages;
pub mod replace;
pub mod ring;
pub mod shown;
pub mod signatures;
