// SPDX-License-Identifier: GPL-2.0-only
//! Bringing the pages of files back over the dies (janusd), or parts of files (FragPicker).
//! Whatever ends us, each file has all of its data at any time.

pub(crate) mod blocks;
pub(crate) mod memory;
mod migrate;
mod rights;
pub(crate) mod room;
mod share;
mod unsynced;

use std::io;
use std::ops::Range;
use std::path::Path;

use serde::Serialize;
use thiserror::Error;

use crate::device::nvme::spread::Spreader;
use crate::device::stack;
use crate::frag::look::{look_at, Drives, Look, Unseen};
use crate::frag::Logical;
use crate::fs::fiemap::Extent;
use crate::fs::file::FileError;
use crate::progress::Interrupted;
use crate::units::PAGE_BYTES;

use memory::Key;
pub use share::Compaction;
use share::Sharer;
pub use unsynced::Unsynced;

/// How the pages of a file come to new places.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// The SSD spreads them (Redistribute, janusdP); the filesystem sees nothing of it.
    Ssd,
    /// The filesystem moves them to blocks in a row, and the SSD gives these the data that it has
    /// already (Share, janusdL).
    Share,
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
    #[error("the machine swaps to it")]
    Swap,
    #[error("it shares blocks with other files or snapshots and would take space of its own; --unshare of defrag or pick migrate allows that")]
    Shared,
    #[error("a snapshot of LVM's would take up all that is written over, and may have no room for it; --unshare of defrag or pick migrate allows that")]
    Snapshot,
    #[error("its filesystem has blocks of less than 4 KiB, and none of its pages is whole")]
    NoPages,
    #[error("its filesystem is {0}; only btrfs, ext4, f2fs and xfs move blocks")]
    MovesNothing(String),
    #[error("its xfs has no reflinks, by which blocks could be moved")]
    NoReflink,
    #[error("it may be a program, which nobody could start while its ext4 moves it; \"dieaware defrag FILE\" moves it")]
    Program,
    #[error("it has {0}, and writing would take them from it; the other methods do not")]
    Rights(&'static str),
    #[error("somebody writes to it all the time")]
    Written,
    #[error("somebody has made it shorter meanwhile")]
    Shorter,
    #[error("the SSD has no command for it, or cannot be reached: {0}")]
    NoSpreader(String),
    #[error("the SSD cannot be told where it lies: {0}")]
    NotOnSsd(String),
    #[error("the SSD cannot be told where it lies: {0}")]
    NotNow(String),
    #[error("its pages cannot be shared instead of written: {0}")]
    NotShared(String),
    #[error("{0} has no free space in which it would lie much better")]
    NoBetterPlace(String),
    #[error("there is no room to move it: it takes {needed_kib} KiB, and {free_kib} KiB are free, of which 1 percent of the filesystem is left to others")]
    NoRoom { needed_kib: u64, free_kib: u64 },
    #[error("there is no room to move it: it may take {needed_kib} KiB of the pool {pool}, in which {free_kib} KiB are free, of which 1 percent is left to others")]
    NoRoomInPool {
        pool: String,
        needed_kib: u64,
        free_kib: u64,
    },
    #[error("it may take room of {pool}, and {who} how much that has left; --unshare of defrag or pick migrate moves it all the same")]
    PoolUnknown { pool: String, who: &'static str },
    #[error("it would stay where it is: {fs_type} writes in place, and below it {device} has the SSD keep overwritten pages on their dies; use another method, or send {device} the message \"hints off\" meanwhile")]
    StaysOnDies { fs_type: String, device: String },
}

/// Where it is not known on which dies a file is, it is thought to be read by so many pages at once:
/// 512 KiB.
const REQUEST_PAGES: u64 = 128;

/// What is moved has to lose so much less than before, or it stays, unless somebody says how much: a tenth
/// of the time in which it is read. What was in vain is not done again before it has lost so much more.
pub const LEAST_GAIN_PERMILLE: u32 = 100;

impl DefragError {
    /// Is there no room for it, as far as anybody knows?
    pub(crate) fn is_of_room(&self) -> bool {
        matches!(
            self,
            Self::NoRoom { .. } | Self::NoRoomInPool { .. } | Self::PoolUnknown { .. }
        )
    }

    /// Does the file lie as well as it did, and may it be so? Whoever goes through a folder minds no
    /// such file.
    #[must_use]
    pub fn is_skip(&self) -> bool {
        match self {
            Self::InUse
            | Self::Swap
            | Self::File(
                FileError::Runs | FileError::Unchangeable | FileError::Sealed | FileError::NoKey,
            )
            | Self::Shared
            | Self::Snapshot
            | Self::PoolUnknown { .. }
            | Self::NoPages
            | Self::Program
            | Self::Rights(_)
            | Self::Written
            | Self::Shorter
            | Self::StaysOnDies { .. } => true,
            Self::Io(err) | Self::File(FileError::Read(err)) => {
                err.kind() == io::ErrorKind::NotFound
            }
            _ => false,
        }
    }
}

/// Why what was done in vain is not done again.
pub(crate) const AS_BEFORE: &str = "it lies as it did when that was done before";

/// How well a file lies.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct State {
    pub pieces: u64,
    pub dof_l_permille: u64,
    /// Of the requests that read it, those that are there only because it is in pieces.
    pub split_permille: u64,
    /// `None`: not known.
    pub dof_p_permille: Option<u64>,
}

/// The share of requests that are there only because a file of so many pages is in pieces.
fn split_permille(logical: &Logical, nr_pages: u64) -> u64 {
    let needless = logical.pieces.saturating_sub(logical.ideal_pieces);
    let needed = nr_pages.div_ceil(REQUEST_PAGES).max(logical.ideal_pieces);

    (needless * 1000)
        .checked_div(needless + needed)
        .unwrap_or(0)
}

/// What is lost by how a file lies: the share of the time, and that of the requests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Losses {
    loss_permille: u64,
    split_permille: u64,
}

impl Losses {
    fn of(state: &State) -> Self {
        Self {
            loss_permille: state.loss_permille(),
            split_permille: state.split_permille,
        }
    }
}

/// Is it less by so much that it matters?
fn is_less(permille: u64, than_permille: u64, least_permille: u64) -> bool {
    // What is the same is no gain, however little is asked for.
    than_permille >= permille.saturating_add(least_permille.max(1))
}

impl State {
    pub(crate) fn of(look: &Look) -> Self {
        let on_ssd = look.on_ssd.as_ref().ok();
        Self {
            split_permille: split_permille(&look.logical, look.nr_pages()),
            pieces: look.logical.pieces,
            dof_l_permille: look.logical.dof_permille(),
            dof_p_permille: on_ssd.map(|on_ssd| on_ssd.physical.dof_permille),
        }
    }

    /// The share of the time in which it is read that could be spared: by what the SSD says, else by
    /// the pieces.
    #[must_use]
    pub fn loss_permille(&self) -> u64 {
        self.dof_p_permille.unwrap_or(self.split_permille)
    }

    /// Is it worth the work? 0: always.
    #[must_use]
    pub fn is_bad(&self, threshold_permille: u64) -> bool {
        self.loss_permille() >= threshold_permille
    }

    /// Would it be in so much fewer pieces that it is worth the work?
    fn gains_in_pieces(&self, split_permille: u64, least_permille: u64) -> bool {
        is_less(split_permille, self.split_permille, least_permille)
    }

    /// Has it become so much worse since then that the work may be worth it again? Pieces count by
    /// themselves: a file that lay on few dies may have come to be in pieces since.
    fn is_worse(&self, then: &Losses) -> bool {
        let now = Losses::of(self);
        let least = u64::from(LEAST_GAIN_PERMILLE);

        is_less(then.loss_permille, now.loss_permille, least)
            || is_less(then.split_permille, now.split_permille, least)
    }
}

/// Why ranges are moved.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// A request for them is split.
    Pieces,
    /// They are in one piece, but on few dies.
    Dies,
}

/// What is to be done.
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    /// `None`: the best that there is.
    pub method: Option<Method>,
    /// Files that lose less are left alone; 0: none is, whatever it gains.
    pub threshold_permille: u64,
    /// What is moved for its pieces has to lose so much less.
    pub least_gain_permille: u64,
    /// Also what is shared with other files or snapshots.
    pub unshares: bool,
    /// What is brought together by sharing is spread as well, where it lies on few dies.
    pub spreads: bool,
    /// What is moved is read before, all at once; others have to wait for it.
    pub reads_ahead: bool,
    pub dry_run: bool,
    /// Programs stay where they could not be started meanwhile.
    pub spares_programs: bool,
    /// Whoever asks has judged ranges one by one, has chosen these for that reason, and remembers by
    /// himself what came of it.
    pub chosen: Option<Reason>,
}

impl Wish {
    /// Pieces are all that is to be mended.
    fn is_of_pieces_alone(&self) -> bool {
        self.method == Some(Method::Share) && !self.spreads
    }

    /// Whoever wants nothing to be left alone has nothing remembered.
    fn remembers(&self) -> bool {
        self.threshold_permille != 0 && self.chosen.is_none()
    }
}

#[cfg(test)]
impl Wish {
    /// What is wished for unless somebody says otherwise, for tests.
    pub(crate) const USUAL: Self = Self {
        method: None,
        threshold_permille: 250,
        least_gain_permille: 100,
        unshares: false,
        spreads: true,
        reads_ahead: false,
        dry_run: false,
        spares_programs: true,
        chosen: None,
    };
}

/// What was done.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Done {
    /// `None`: it was left alone.
    pub method: Option<Method>,
    pub bytes: u64,
    /// Of these: not written, since the SSD has shared them.
    pub shared_bytes: u64,
    /// Of the SSD's log of what it shares, while it was filling.
    pub compactions: Vec<Compaction>,
    /// What was shared lay on few dies, and the SSD has spread it.
    pub spread: bool,
    pub before: State,
    /// `None`: nothing was done.
    pub after: Option<State>,
    /// Why it was left alone although it lies badly.
    pub why: Option<String>,
}

impl Done {
    /// It was left alone, and why, if it lies badly.
    pub(crate) fn nothing(look: &Look, why: Option<String>) -> Self {
        Self {
            method: None,
            bytes: look.bytes,
            shared_bytes: 0,
            compactions: Vec::new(),
            spread: false,
            before: State::of(look),
            after: None,
            why,
        }
    }
}

/// Does the SSD spread pages by itself? Where it does, it may still be unable to for this file, or for now.
fn spreader(look: &Look) -> Result<Spreader, DefragError> {
    let on_ssd = look.on_ssd.as_ref().map_err(|why| match why {
        Unseen::Untold(_) | Unseen::Hidden(_) => DefragError::NoSpreader(why.to_string()),
        Unseen::Meanwhile(_) => DefragError::NotNow(why.to_string()),
        Unseen::Other(_) => DefragError::NotOnSsd(why.to_string()),
    })?;
    let disk = &on_ssd.disk;
    let known = Spreader::open(disk)
        .map_err(|err| DefragError::NotOnSsd(format!("{}: {err}", disk.display())))?;

    known.ok_or_else(|| {
        DefragError::NoSpreader(format!("{} does not know Redistribute", disk.display()))
    })
}

/// Could the SSD have pieces brought together without writing them?
fn may_share(look: &Look) -> bool {
    let fs_type = look.facts.fs_type.as_str();

    look.logical.pieces > look.logical.ideal_pieces
        && blocks::FS_TYPES.contains(&fs_type)
        && Sharer::of(look).is_ok()
}

fn choose(look: &Look) -> Method {
    if may_share(look) {
        Method::Share
    } else {
        choose_writing(look)
    }
}

/// The best way in which the SSD writes.
fn choose_writing(look: &Look) -> Method {
    if spreader(look).is_ok() {
        Method::Ssd
    } else {
        choose_copying(look)
    }
}

/// The best way that brings pieces together: the SSD has them in both places, or they are copied.
#[must_use]
pub fn choose_joining(look: &Look) -> Method {
    if may_share(look) {
        Method::Share
    } else {
        choose_copying(look)
    }
}

/// The best way that brings pieces together, which the SSD cannot.
fn choose_copying(look: &Look) -> Method {
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

/// Bring ranges of a file's pages, which are in order and apart, over the dies. A power failure may undo
/// that until the file is synced, with others.
///
/// # Errors
///
/// When that cannot be, or `watch` says so.
pub fn defrag(
    path: &Path,
    ranges: &[Range<u64>],
    wish: Wish,
    drives: &mut Drives,
    unsynced: &mut Unsynced,
    watch: &mut Watch,
) -> Result<Done, DefragError> {
    let look = look_at(path, ranges, drives)?;
    let mut done = Done::nothing(&look, None);

    if look.runs.is_empty() && look.facts.extents.iter().any(Extent::holds_pages) {
        return Err(DefragError::NoPages);
    }
    if look.runs.is_empty() || !is_worth_it(&look, wish) {
        return Ok(done);
    }
    let method = wish.method.unwrap_or_else(|| choose(&look));
    if method == Method::Rewrite {
        refuse_in_vain(&look)?;
        rights::refuse_loss(path)?;
    }
    if wish.spares_programs && [Method::Share, Method::Move].contains(&method) {
        blocks::refuse_program(path, &look)?;
    }
    if was_in_vain(path, &look, method, wish) {
        done.why = Some(AS_BEFORE.to_owned());
        return Ok(done);
    }
    let method = match perform(path, &look, method, wish, unsynced, watch) {
        Ok((method, shared)) => {
            done.shared_bytes = shared.pages * PAGE_BYTES;
            done.compactions = shared.compactions;
            method
        }
        Err(err @ DefragError::NoBetterPlace(_)) => {
            done.why = Some(err.to_string());
            return Ok(done);
        }
        Err(err) => return Err(err),
    };
    if wish.dry_run {
        done.method = Some(method);
        return Ok(done);
    }
    let mut now = look_at(path, ranges, drives)?;
    if method == Method::Share && wish.spreads && spread_besides(&now, wish, watch)? {
        done.spread = true;
        now = look_at(path, ranges, drives)?;
    }
    let after = State::of(&now);
    if wish.remembers() && is_worth_it(&now, wish) {
        memory::keep(path, &now, &Key::of_file(&look, method));
    }
    done.method = Some(method);
    done.after = Some(after);
    Ok(done)
}

/// Is a file bad enough? Pieces count by themselves where it costs the SSD nothing to mend them, and
/// nothing else does where they are all that is to be mended.
fn is_worth_it(look: &Look, wish: Wish) -> bool {
    if wish.chosen.is_some() {
        return true;
    }
    let before = State::of(look);
    let is_split = before.split_permille >= wish.threshold_permille;

    if wish.is_of_pieces_alone() {
        return is_split && look.logical.pieces > look.logical.ideal_pieces;
    }
    match wish.method {
        Some(Method::Share) => is_split || before.is_bad(wish.threshold_permille),
        Some(_) => before.is_bad(wish.threshold_permille),
        None => before.is_bad(wish.threshold_permille) || (is_split && may_share(look)),
    }
}

/// A threshold of 0 has every file moved, but the SSD write none that lies well.
const LEAST_SPREAD_PERMILLE: u64 = 250;

/// What has been brought together lies on the dies on which it was: where that is bad the SSD spreads
/// it, if it can (janusdP). Says whether it did.
fn spread_besides(look: &Look, wish: Wish, watch: &mut Watch) -> Result<bool, DefragError> {
    let threshold_permille = match wish.threshold_permille {
        0 => LEAST_SPREAD_PERMILLE,
        given => given,
    };
    let dof_p_permille = State::of(look).dof_p_permille;

    match spreader(look) {
        Ok(spreader) if dof_p_permille.is_some_and(|dof| dof >= threshold_permille) => {
            migrate::spread(&spreader, look, watch)?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Has the same been done with the file before, and does it lie no worse than it did then?
fn was_in_vain(path: &Path, look: &Look, method: Method, wish: Wish) -> bool {
    wish.remembers() && memory::lies_as_then(path, look, &Key::of_file(look, method))
}

/// What came of sharing.
#[derive(Debug, Default)]
struct Shared {
    pages: u64,
    compactions: Vec<Compaction>,
}

/// Do that, or where nobody says how, what comes next if the filesystem cannot: the pages get other dies
/// by being written again, too. Returns what was done, or would be, and what came of sharing.
fn perform(
    path: &Path,
    look: &Look,
    method: Method,
    wish: Wish,
    unsynced: &mut Unsynced,
    watch: &mut Watch,
) -> Result<(Method, Shared), DefragError> {
    match perform_one(path, look, method, wish, unsynced, watch) {
        // Nothing has been moved then.
        Err(
            DefragError::NoBetterPlace(_)
            | DefragError::NoReflink
            | DefragError::NoRoom { .. }
            | DefragError::Shared,
        ) if wish.method.is_none()
            && method == Method::Share
            && State::of(look).is_bad(wish.threshold_permille) =>
        {
            perform(path, look, choose_writing(look), wish, unsynced, watch)
        }
        Err(
            DefragError::NoBetterPlace(_) | DefragError::NoReflink | DefragError::NoRoom { .. },
        ) if wish.method.is_none()
            && method == Method::Move
            && look.on_ssd.is_ok()
            && refuse_in_vain(look).is_ok()
            && rights::refuse_loss(path).is_ok()
            && !was_in_vain(path, look, Method::Rewrite, wish) =>
        {
            let shared = perform_one(path, look, Method::Rewrite, wish, unsynced, watch)?;
            Ok((Method::Rewrite, shared))
        }
        result => result.map(|shared| (method, shared)),
    }
}

fn perform_one(
    path: &Path,
    look: &Look,
    method: Method,
    wish: Wish,
    unsynced: &mut Unsynced,
    watch: &mut Watch,
) -> Result<Shared, DefragError> {
    room::require(path, look, method, wish)?;
    if wish.dry_run {
        // By itself, the SSD moves what snapshots share.
        if method != Method::Ssd {
            migrate::refuse_shared(look, wish)?;
        }
        return Ok(Shared::default());
    }
    match method {
        Method::Ssd => {
            migrate::spread(&spreader(look)?, look, watch)?;
        }
        Method::Share => return share(path, look, wish, unsynced, watch),
        Method::Move => blocks::move_blocks(path, look, wish, None, unsynced, watch)?,
        Method::Rewrite => {
            // It may be among them, and rewriting wants nobody to have it open.
            unsynced.sync()?;
            migrate::rewrite(path, look, wish, watch)?;
        }
    }
    Ok(Shared::default())
}

/// The filesystem moves, and the SSD does not write.
fn share(
    path: &Path,
    look: &Look,
    wish: Wish,
    unsynced: &mut Unsynced,
    watch: &mut Watch,
) -> Result<Shared, DefragError> {
    let sharer = Sharer::of(look).map_err(DefragError::NotShared)?;
    let before = sharer.counts()?;
    sharer.watch_log(look)?;
    blocks::move_blocks(path, look, wish, Some(&sharer), unsynced, watch)?;
    let after = sharer.counts()?;
    Ok(Shared {
        pages: after.shared_pages.saturating_sub(before.shared_pages),
        compactions: sharer.compactions(),
    })
}

#[cfg(test)]
mod tests {
    use super::{
        perform, split_permille, spreader, DefragError, Losses, Method, State, Unsynced, Wish,
    };
    use crate::frag::look::{Look, Unseen};
    use crate::frag::Logical;
    use crate::runs::Run;
    use crate::units::{Dpn, FilePage};

    #[test]
    fn whoever_only_asks_is_told_that_there_is_no_room() {
        let look = |pages| Look {
            runs: vec![Run {
                file_page: FilePage(0),
                device_page: Dpn(0),
                pages,
            }],
            logical: Logical {
                pieces: 2,
                ideal_pieces: 1,
            },
            ..Look::of_none(Unseen::Untold("/dev/x".into()))
        };
        let wish = Wish {
            spreads: false,
            dry_run: true,
            ..Wish::USUAL
        };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "it").unwrap();
        let asked = |pages| {
            let unsynced = &mut Unsynced::default();
            let watch = &mut |_| Ok(());
            perform(&path, &look(pages), Method::Move, wish, unsynced, watch)
        };
        assert_eq!(asked(1).unwrap().0, Method::Move);
        // 16 TiB
        let err = asked(u32::MAX).unwrap_err();
        assert!(matches!(err, DefragError::NoRoom { .. }), "{err}");
        assert!(err.is_of_room() && !DefragError::Shared.is_of_room());
        assert_eq!(std::fs::read(&path).unwrap(), b"it");
    }

    /// Whoever works for long ends where the SSD lacks the command, and not where one file is in the way.
    #[test]
    fn only_a_drive_that_never_tells_lacks_the_command() {
        let spreader_of = |unseen| spreader(&Look::of_none(unseen)).unwrap_err();
        let never = spreader_of(Unseen::Untold("/dev/x".into()));
        assert!(matches!(never, DefragError::NoSpreader(_)), "{never}");
        let below = spreader_of(Unseen::Hidden("it lies on crypt".to_owned()));
        assert!(matches!(below, DefragError::NoSpreader(_)), "{below}");
        let now = spreader_of(Unseen::Meanwhile("it lies on mirror".to_owned()));
        assert!(matches!(now, DefragError::NotNow(_)), "{now}");
        let once = spreader_of(Unseen::Other("it lies on more than one SSD".to_owned()));
        assert!(matches!(once, DefragError::NotOnSsd(_)), "{once}");
    }

    fn state(split_permille: u64, dof_p_permille: Option<u64>) -> State {
        State {
            pieces: 2,
            dof_l_permille: 2000,
            split_permille,
            dof_p_permille,
        }
    }

    #[test]
    fn what_the_ssd_says_counts_more_than_pieces() {
        assert!(state(0, Some(250)).is_bad(250));
        assert!(!state(900, Some(249)).is_bad(250));
        assert!(state(250, None).is_bad(250));
        assert!(!state(249, None).is_bad(250));
        assert!(!state(0, None).is_bad(1));
        assert!(state(0, None).is_bad(0));
    }

    #[test]
    fn a_large_file_may_be_in_some_pieces() {
        let split = |pieces, ideal_pieces, nr_pages| {
            let logical = Logical {
                pieces,
                ideal_pieces,
            };
            split_permille(&logical, nr_pages)
        };
        assert_eq!(split(0, 0, 0), 0);
        assert_eq!(split(1, 1, 1), 0);
        assert_eq!(split(7, 7, 7), 0);
        assert_eq!(split(2, 1, 2), 500);
        // 2 MiB in pieces of 64 KiB: 31 requests that are too many, and 4 that are not
        assert_eq!(split(32, 1, 512), 885);
        // 100 GiB in pieces of 128 MiB
        assert_eq!(split(800, 1, 100 << 18), 3);
    }

    #[test]
    fn what_was_in_vain_is_not_when_either_is_worse() {
        let then = |loss_permille, split_permille| Losses {
            loss_permille,
            split_permille,
        };
        assert!(!state(500, Some(875)).is_worse(&then(800, 450)));
        assert!(state(500, Some(875)).is_worse(&then(775, 450)));
        // It lay on few dies, which is mended, and is in pieces now.
        assert!(state(900, Some(0)).is_worse(&then(875, 0)));
        assert!(!state(900, None).is_worse(&then(900, 900)));
    }

    #[test]
    fn little_is_not_worth_the_work() {
        assert!(state(885, None).gains_in_pieces(785, 100));
        assert!(!state(885, None).gains_in_pieces(786, 100));
        assert!(state(885, None).gains_in_pieces(786, 99));
        assert!(state(885, None).gains_in_pieces(884, 0));
        assert!(!state(885, None).gains_in_pieces(885, 0));
        assert!(!state(0, None).gains_in_pieces(0, 0));
        assert!(state(885, Some(0)).gains_in_pieces(785, 100));
        assert!(!state(885, Some(0)).gains_in_pieces(786, 100));
    }
}
