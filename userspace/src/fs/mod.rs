// SPDX-License-Identifier: GPL-2.0-only
//! What filesystems know about files, and do for them: which filesystem a file belongs to, where it
//! lies, and bringing its pieces together. What several filesystems offer is in files named after
//! it; what only one of them offers is in a file named after that one, so that nobody else has to
//! know how it differs.

pub mod btrfs;
pub mod dedupe;
pub mod ext4;
pub mod f2fs;
pub mod fiemap;
pub mod file;
pub mod folder;
pub mod holes;
pub mod lease;
pub mod mounts;
pub mod xfs;
