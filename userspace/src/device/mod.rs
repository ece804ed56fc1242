// SPDX-License-Identifier: GPL-2.0-only
//! What a block device is, apart from its bytes: how it is opened, how large it is, whose data it
//! holds, which disks lie below it, and what an NVMe drive tells about its dies. Verbs ask that
//! before they touch anything.

pub mod block;
pub mod hide;
pub mod layers;
pub mod loops;
pub mod nvme;
pub mod places;
pub mod pools;
pub mod shape;
pub mod signatures;
pub mod stack;
