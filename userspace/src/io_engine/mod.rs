// SPDX-License-Identifier: GPL-2.0-only
//! What moves bytes: pages of devices and of images, many reads at once, files that are replaced as
//! a whole, and who may do so. What a device is and where a file lies are questions for `device` and `fs`.

pub mod foreign;
pub mod lock;
pub mod many;
pub mod pages;
pub mod replace;
pub mod ring;
pub mod shown;
