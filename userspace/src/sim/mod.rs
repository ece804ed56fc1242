// SPDX-License-Identifier: GPL-2.0-only
//! The simulator: the FTL of the virtual SSD on a virtual clock, and traces to replay
//! against it. [`drive`] is the SSD, [`trace`] reads traces, [`replay`] is the host,
//! [`report`] says what came of it, [`explain`] why pages are where they are.

pub mod drive;
pub mod explain;
pub mod replay;
pub mod report;
pub mod trace;
