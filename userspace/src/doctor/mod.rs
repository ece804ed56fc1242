// SPDX-License-Identifier: GPL-2.0-only
//! Is this filesystem slow to read because its files lie badly, and what would help?
//!
//! Parts of files that are in pieces on the device are timed against parts that are in one piece
//! ([`windows`] finds them), by turns ([`measure`]), until it is clear how much longer they take
//! ([`stats`]), and what that means ([`verdict`]). Each of them is read in two ways: at once, and piece by
//! piece. A file in one piece that is read with the requests of one in pieces shows what the requests
//! cost; what is still missing then is where the pages lie.

pub mod examine;
pub mod measure;
pub mod own;
pub mod report;
pub mod scan;
pub mod stats;
pub mod svg;
pub mod verdict;
pub mod windows;
