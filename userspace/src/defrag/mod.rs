// SPDX-License-Identifier: GPL-2.0-only
//! Bringing the pages of files back over the dies (janusd), or parts of files (FragPicker).
//! Whatever ends us, each file has all of its data at any time.

mod blocks;
mod migrate;

use std::io;
use std::ops::Range;
use std::path::Path;

use serde::Serialize;
use thiserror::Error;

use crate::frag::look::{look_at, Drives, Look};
use crate::io_engine::fiemap::Extent;
use crate::io_engine::file::FileError;
use crate::nvme::spread::Spreader;
use crate::progress::Interrupted;
use crate::stack;

/// How the pages of a file come to new places.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// The SSD spreads them (Redistribute, janusdP); the filesystem sees nothing of it.
    Ssd,
    /// The filesystem moves them to blocks in a row.
    Move,
    /// They are written again as they are, in the order of the file.
    Rewrite,
}

#[derive(Debug, Error)]
pub enum DefragError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    #[error("somebody has it open")]
    InUse,
    #[error("it shares blocks with other files or snapshots and would take space of its own; --unshare allows that")]
    Shared,
    #[error("its filesystem has blocks of less than 4 KiB, and none of its pages is whole")]
    NoPages,
    #[error("its filesystem is {0}; only btrfs, ext4, f2fs and xfs move blocks")]
    MovesNothing(String),
    #[error("its xfs has no reflinks, by which blocks could be moved")]
    NoReflink,
    #[error("somebody writes to it all the time")]
    Written,
    #[error("the SSD has no command for it: {0}")]
    NoSpreader(String),
    #[error("{0} has no free space in fewer pieces")]
    NoBetterPlace(String),
    #[error("it would stay where it is: {fs_type} writes in place, and below it {device} has the SSD keep overwritten pages on their dies; use another method, or send {device} the message \"hints off\" meanwhile")]
    StaysOnDies { fs_type: String, device: String },
}

/// How well a file lies.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct State {
    pub pieces: u64,
    pub dof_l_permille: u64,
    /// `None`: not known.
    pub dof_p_permille: Option<u64>,
}

impl State {
    fn of(look: &Look) -> Self {
        let on_ssd = look.on_ssd.as_ref().ok();
        Self {
            pieces: look.logical.pieces,
            dof_l_permille: look.logical.dof_permille(),
            dof_p_permille: on_ssd.map(|on_ssd| on_ssd.physical.dof_permille),
        }
    }

    /// Is it worth the work? By what the SSD says, else by the pieces; 0: always.
    #[must_use]
    pub fn is_bad(&self, threshold_permille: u64) -> bool {
        match self.dof_p_permille {
            Some(permille) => permille >= threshold_permille,
            None => self.dof_l_permille > 1000 || threshold_permille == 0,
        }
    }
}

/// What is to be done.
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    /// `None`: the best that there is.
    pub method: Option<Method>,
    /// Files below this DoF_P are left alone.
    pub threshold_permille: u64,
    /// Also what is shared with other files or snapshots.
    pub unshares: bool,
    pub dry_run: bool,
}

/// What was done.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct Done {
    /// `None`: it lies well and was left alone.
    pub method: Option<Method>,
    pub bytes: u64,
    pub before: State,
    /// `None`: nothing was done.
    pub after: Option<State>,
}

/// Does the SSD spread pages by itself?
fn spreader(look: &Look) -> Result<Spreader, String> {
    let disk = &look.on_ssd.as_ref().map_err(Clone::clone)?.disk;
    let known = Spreader::open(disk).map_err(|err| format!("{}: {err}", disk.display()))?;
    known.ok_or_else(|| format!("{} does not know Redistribute", disk.display()))
}

fn choose(look: &Look) -> Method {
    if spreader(look).is_ok() {
        Method::Ssd
    } else {
        choose_copying(look)
    }
}

/// The best way that brings pieces together, which the SSD cannot.
#[must_use]
pub fn choose_copying(look: &Look) -> Method {
    let fs_type = look.facts.fs_type.as_str();
    let is_whole = look.logical.pieces <= look.logical.ideal_pieces;

    if blocks::FS_TYPES.contains(&fs_type) && !(is_whole && blocks::MOVE_PIECES.contains(&fs_type))
    {
        Method::Move
    } else {
        Method::Rewrite
    }
}

/// Filesystems that write a page of a file where it is.
const IN_PLACE: [&str; 2] = ["ext4", "xfs"];

/// Rewriting gives pages new places only if nobody has the SSD keep them where they are.
fn refuse_in_vain(look: &Look) -> Result<(), DefragError> {
    let fs_type = &look.facts.fs_type;

    if IN_PLACE.contains(&fs_type.as_str()) {
        if let Some(device) = stack::hinting(look.facts.below) {
            return Err(DefragError::StaysOnDies {
                fs_type: fs_type.clone(),
                device,
            });
        }
    }
    Ok(())
}

/// Called with the pages that are done; says when it is time to end.
pub type Watch<'a> = dyn FnMut(u64) -> Result<(), Interrupted> + 'a;

/// Bring ranges of a file's pages, which are in order and apart, over the dies.
///
/// # Errors
///
/// When that cannot be, or `watch` says so.
pub fn defrag(
    path: &Path,
    ranges: &[Range<u64>],
    wish: Wish,
    drives: &mut Drives,
    watch: &mut Watch,
) -> Result<Done, DefragError> {
    let look = look_at(path, ranges, drives)?;
    let before = State::of(&look);
    let mut done = Done {
        method: None,
        bytes: look.bytes,
        before,
        after: None,
    };

    if look.runs.is_empty() && look.facts.extents.iter().any(Extent::holds_pages) {
        return Err(DefragError::NoPages);
    }
    if look.runs.is_empty() || !before.is_bad(wish.threshold_permille) {
        return Ok(done);
    }
    let method = wish.method.unwrap_or_else(|| choose(&look));
    if method == Method::Rewrite {
        refuse_in_vain(&look)?;
    }
    done.method = Some(method);
    if wish.dry_run {
        return Ok(done);
    }
    match method {
        Method::Ssd => migrate::spread(
            &spreader(&look).map_err(DefragError::NoSpreader)?,
            &look,
            watch,
        )?,
        Method::Move => blocks::move_blocks(path, &look, wish, watch)?,
        Method::Rewrite => migrate::rewrite(path, &look, wish, watch)?,
    }
    done.after = Some(State::of(&look_at(path, ranges, drives)?));
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::State;

    #[test]
    fn what_the_ssd_says_counts_more_than_pieces() {
        let state = |dof_l_permille, dof_p_permille| State {
            pieces: 2,
            dof_l_permille,
            dof_p_permille,
        };
        assert!(state(1000, Some(250)).is_bad(250));
        assert!(!state(9000, Some(249)).is_bad(250));
        assert!(state(1001, None).is_bad(250));
        assert!(!state(1000, None).is_bad(1));
        assert!(state(1000, None).is_bad(0));
    }
}
