// SPDX-License-Identifier: GPL-2.0-only
//! A virtual SSD: what `sim/glue.h` declares, made safe. It is the same FTL that the kernel module
//! runs, so what is measured here is not another model.

use std::ffi::{c_char, c_int, CStr};
use std::fs::File;
use std::io;
use std::marker::{PhantomData, PhantomPinned};
use std::os::fd::AsRawFd;
use std::ptr::{self, NonNull};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use thiserror::Error;

use super::trace::{Command, Hint, Op};
use crate::units::PAGE_BYTES;

/// Most bytes of one command; larger ones are split, as the block layer does.
pub const MAX_COMMAND_BYTES: u64 = 1 << 20;

/// How often an idle controller looks after its dies.
const LOOK_NS: u64 = 50_000_000;

/// Values that a parameter can have.
const MAX_VALUES: usize = 4;

/// A thing that only C looks into.
#[repr(C)]
struct Opaque {
    nothing: [u8; 0],
    not_movable: PhantomData<(*mut u8, PhantomPinned)>,
}

#[repr(C)]
struct Request {
    first: u64,
    nr_pages: u64,
    pred: u64,
    bytes: u32,
    op: u32,
    hint: u32,
    head_partial: u8,
    tail_partial: u8,
    fua: u8,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct RawPlace {
    unit: u64,
    die: u32,
    slot: u32,
    nr_filled: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct RawPlacement {
    lpn: u64,
    pred: u64,
    nr_pages: u32,
    hint: u32,
    rule: u32,
    wanted: u32,
    pred_at: RawPlace,
    before: RawPlace,
    after: RawPlace,
    is_levelled: u8,
}

const NO_DIE: u32 = u32::MAX;

const OP_READ: u32 = 0;
const OP_WRITE: u32 = 1;
const OP_TRIM: u32 = 2;
const OP_FLUSH: u32 = 3;
const OP_SHARE: u32 = 4;
const OP_REDISTRIBUTE: u32 = 5;
const HINT_NONE: u32 = 0;
const HINT_APPEND: u32 = 1;
const HINT_OVERWRITE: u32 = 2;
const HINT_BEGIN: u32 = 3;

extern "C" {
    fn sim_profile_name(index: u32) -> *const c_char;
    fn sim_profile_description(index: u32) -> *const c_char;
    fn sim_config_new(profile: u32) -> *mut Opaque;
    fn sim_config_free(config: *mut Opaque);
    fn sim_key_name(key: u32) -> *const c_char;
    fn sim_config_set(config: *mut Opaque, key: u32, values: *const u64, nr_values: u32) -> c_int;
    fn sim_config_get(config: *const Opaque, key: u32, values: *mut u64) -> u32;
    fn sim_config_keep(config: *mut Opaque);
    fn sim_drive_new(config: *mut Opaque, reason: *mut *const c_char) -> *mut Opaque;
    fn sim_drive_free(drive: *mut Opaque);
    fn sim_drive_run(drive: *mut Opaque, request: *const Request, now_ns: u64) -> u64;
    fn sim_drive_precondition(
        drive: *mut Opaque,
        fill_percent: u64,
        random_percent: u64,
        seed: u64,
    ) -> *const c_char;
    fn sim_drive_save(drive: *mut Opaque, fd: c_int, error: *mut c_int) -> *const c_char;
    fn sim_drive_load(drive: *mut Opaque, fd: c_int, error: *mut c_int) -> *const c_char;
    fn sim_drive_listen(drive: *mut Opaque, listens: bool);
    fn sim_drive_placements(drive: *const Opaque, placements: *mut *const RawPlacement) -> u64;
    fn sim_rule_name(rule: u32) -> *const c_char;
    fn sim_drive_unit_pages(drive: *const Opaque) -> u32;
    fn sim_drive_refused(drive: *const Opaque) -> u64;
    fn sim_drive_idle(drive: *mut Opaque, now_ns: u64) -> bool;
    fn sim_drive_check(drive: *const Opaque) -> *const c_char;
    fn sim_drive_nr_dies(drive: *const Opaque) -> u32;
    fn sim_drive_nr_pages(drive: *const Opaque) -> u64;
    fn sim_counter_name(counter: u32) -> *const c_char;
    fn sim_drive_counter(drive: *const Opaque, counter: u32) -> u64;
    fn sim_die_counter_name(counter: u32) -> *const c_char;
    fn sim_die_counter(drive: *const Opaque, die: u32, counter: u32) -> u64;
}

/// A text of the C side: they all live as long as the program.
fn text(chars: *const c_char) -> Option<&'static str> {
    if chars.is_null() {
        return None;
    }
    // SAFETY: not NULL, and every text of the C side is a literal.
    let text = unsafe { CStr::from_ptr(chars) };
    text.to_str().ok()
}

/// Texts that C numbers from 0.
fn texts(at: unsafe extern "C" fn(u32) -> *const c_char) -> impl Iterator<Item = &'static str> {
    // SAFETY: any number is allowed; behind the last one there is NULL.
    (0..).map_while(move |index| text(unsafe { at(index) }))
}

#[derive(Debug, Error, Eq, PartialEq)]
pub enum DriveError {
    #[error("there is no profile \"{0}\"; there are: {1}")]
    NoProfile(String, String),
    #[error("there is no parameter \"{0}\"; there are: {1}")]
    NoKey(String, String),
    #[error("\"{0}\" is not a value for {1}: whole numbers are, for read_ns up to four separated by commas, for unit_kib and wbuf_kib multiples of 4")]
    NotAValue(String, &'static str),
    #[error("{0} is too large for {1}")]
    TooLarge(String, &'static str),
    #[error("there can be no such drive. {0}")]
    Impossible(String),
    #[error("the drive cannot be preconditioned so. {0}")]
    NoSuchState(String),
    #[error("there is not enough memory for this drive")]
    NoMemory,
}

/// Why a state file is none, or is not there.
#[derive(Debug, Error)]
pub enum StateError {
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A named drive.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Profile {
    pub name: &'static str,
    pub description: &'static str,
    index: u32,
}

/// All named drives.
pub fn profiles() -> impl Iterator<Item = Profile> {
    (0..)
        .zip(texts(sim_profile_name))
        .map(|(index, name)| Profile {
            name,
            // SAFETY: the index has a name, so it is valid.
            description: text(unsafe { sim_profile_description(index) }).unwrap_or(""),
            index,
        })
}

/// Names in a sentence.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(" ")
}

/// Parameters of a drive to be.
pub struct Config {
    handle: NonNull<Opaque>,
    pub profile: &'static str,
}

impl Config {
    /// # Errors
    ///
    /// When there is no such profile.
    pub fn from_profile(name: &str) -> Result<Self, DriveError> {
        let profile = profiles().find(|profile| profile.name == name);
        let Some(profile) = profile else {
            let names = listed(profiles().map(|profile| profile.name));
            return Err(DriveError::NoProfile(name.to_owned(), names));
        };
        // SAFETY: the index is that of a profile.
        let handle = unsafe { sim_config_new(profile.index) };
        Ok(Self {
            handle: NonNull::new(handle).ok_or(DriveError::NoMemory)?,
            profile: profile.name,
        })
    }

    /// Change a parameter; `text` is what would be written into its configfs file.
    ///
    /// # Errors
    ///
    /// When there is no such parameter, or the text is no value for it.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), DriveError> {
        let Some((index, name)) = (0..)
            .zip(texts(sim_key_name))
            .find(|(_, name)| *name == key)
        else {
            return Err(DriveError::NoKey(
                key.to_owned(),
                listed(texts(sim_key_name)),
            ));
        };
        let not_a_value = || DriveError::NotAValue(text.to_owned(), name);
        let values: Vec<u64> = text
            .split(',')
            .map(|word| word.trim().parse().map_err(|_| not_a_value()))
            .collect::<Result<_, _>>()?;
        let nr_values = u32::try_from(values.len()).map_err(|_| not_a_value())?;
        // SAFETY: the handle is valid, the index that of a key, the values are counted.
        let ret =
            unsafe { sim_config_set(self.handle.as_ptr(), index, values.as_ptr(), nr_values) };
        match ret {
            0 => Ok(()),
            ret if ret == -nix::libc::ERANGE => Err(DriveError::TooLarge(text.to_owned(), name)),
            _ => Err(not_a_value()),
        }
    }

    /// All parameters, in the order of the documentation.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, Vec<u64>)> + '_ {
        (0..).zip(texts(sim_key_name)).map(|(index, name)| {
            let mut values = [0; MAX_VALUES];
            // SAFETY: the handle is valid, the index that of a key, and there is room.
            let nr = unsafe { sim_config_get(self.handle.as_ptr(), index, values.as_mut_ptr()) };
            let values = values.iter().take(nr as usize).copied().collect();
            (name, values)
        })
    }

    /// A parameter that has one value; 0 if there is no such one.
    #[must_use]
    pub fn value(&self, key: &str) -> u64 {
        let found = self.values().find(|(name, _)| *name == key);
        found
            .and_then(|(_, values)| values.first().copied())
            .unwrap_or(0)
    }

    /// Let it be a drive that can be saved and loaded.
    pub fn keep(&mut self) {
        // SAFETY: the handle is valid and borrowed mutably.
        unsafe { sim_config_keep(self.handle.as_ptr()) };
    }

    /// The drive.
    ///
    /// # Errors
    ///
    /// When there can be no such drive.
    pub fn build(mut self) -> Result<Drive, DriveError> {
        let mut reason = ptr::null();
        // SAFETY: the handle is valid, and the reason is a place for a pointer.
        let drive = unsafe { sim_drive_new(self.handle.as_mut(), &mut reason) };
        match (NonNull::new(drive), text(reason)) {
            (Some(handle), _) => Ok(Drive {
                handle,
                map_before: MapWork::default(),
                // SAFETY: the handle is valid.
                capacity_bytes: unsafe { sim_drive_nr_pages(drive) } * PAGE_BYTES,
                config: self,
            }),
            (None, Some(reason)) => Err(DriveError::Impossible(
                reason.trim_end_matches('.').to_owned(),
            )),
            (None, None) => Err(DriveError::NoMemory),
        }
    }
}

impl Drop for Config {
    fn drop(&mut self) {
        // SAFETY: the handle is valid, and nobody uses it any more.
        unsafe { sim_config_free(self.handle.as_ptr()) };
    }
}

impl Serialize for Config {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;

        for (name, values) in self.values() {
            match values.as_slice() {
                [value] => map.serialize_entry(name, value)?,
                values => map.serialize_entry(name, values)?,
            }
        }
        map.end()
    }
}

/// State of a used drive.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Precondition {
    /// Share of the drive that is filled.
    pub fill_percent: u64,
    /// Pages that are overwritten, in percent of those.
    pub random_percent: u64,
    /// Which pages these are.
    pub seed: u64,
}

/// What became of a state file.
fn outcome(reason: *const c_char, error: c_int) -> Result<(), StateError> {
    match text(reason) {
        None => Ok(()),
        Some(_) if error != 0 => Err(io::Error::from_raw_os_error(error).into()),
        Some(reason) => Err(StateError::Refused(reason.to_owned())),
    }
}

/// Where a page is, or was before a decision.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct Place {
    pub die: u32,
    /// Flash unit or open unit, as `nvmev-ssd map` numbers them.
    pub unit: u64,
    pub slot: u32,
    /// Slots of an open unit that are in use; 0 on NAND.
    pub nr_filled: u32,
}

/// What was decided about pages that went the same way: `struct ftl_placement` of the core.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct Placement {
    /// The first page; none if a run was put out, or a unit goes to another die.
    pub lpn: Option<u64>,
    pub nr_pages: u32,
    pub hint: &'static str,
    pub rule: &'static str,
    pub pred: Option<u64>,
    pub pred_at: Option<Place>,
    pub before: Option<Place>,
    pub after: Option<Place>,
    /// On which a unit was to be opened, or that is too far ahead for one.
    pub wanted_die: Option<u32>,
    pub is_levelled: bool,
}

impl Place {
    fn of(raw: &RawPlace) -> Option<Self> {
        (raw.die != NO_DIE).then_some(Self {
            die: raw.die,
            unit: raw.unit,
            slot: raw.slot,
            nr_filled: raw.nr_filled,
        })
    }
}

impl Placement {
    fn of(raw: &RawPlacement) -> Self {
        let page = |lpn| (lpn != u64::MAX).then_some(lpn);

        Self {
            lpn: page(raw.lpn),
            nr_pages: raw.nr_pages,
            hint: match raw.hint {
                HINT_NONE => "none",
                HINT_APPEND => "append",
                HINT_OVERWRITE => "overwrite",
                HINT_BEGIN => "begin",
                _ => "die",
            },
            // SAFETY: any number is allowed.
            rule: text(unsafe { sim_rule_name(raw.rule) }).unwrap_or("?"),
            pred: page(raw.pred),
            pred_at: Place::of(&raw.pred_at),
            before: Place::of(&raw.before),
            after: Place::of(&raw.after),
            wanted_die: (raw.wanted != NO_DIE).then_some(raw.wanted),
            is_levelled: raw.is_levelled != 0,
        }
    }
}

/// What became of a map that is not all in memory (`map_cache_mib`): look-ups of its pages and changes
/// to them that found them there, those that had them sensed, programs of changed pages, and how many
/// pages were in these.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct MapWork {
    pub hits: u64,
    pub misses: u64,
    pub programs: u64,
    pub pages_programmed: u64,
}

impl MapWork {
    fn of(drive: &Drive) -> Self {
        let mut work = Self::default();

        for (name, value) in drive.counters() {
            match name {
                "map_hits" => work.hits = value,
                "map_misses" => work.misses = value,
                "map_programs" => work.programs = value,
                "map_pages_programmed" => work.pages_programmed = value,
                _ => {}
            }
        }
        work
    }

    fn since(self, before: Self) -> Self {
        Self {
            hits: self.hits.saturating_sub(before.hits),
            misses: self.misses.saturating_sub(before.misses),
            programs: self.programs.saturating_sub(before.programs),
            pages_programmed: self
                .pages_programmed
                .saturating_sub(before.pages_programmed),
        }
    }
}

/// A virtual SSD.
pub struct Drive {
    handle: NonNull<Opaque>,
    /// When it began to note what is decided
    map_before: MapWork,
    config: Config,
    capacity_bytes: u64,
}

/// A counter's name and value.
pub type Counter = (&'static str, u64);

impl Drive {
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    #[must_use]
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// Commands that the controller takes at the same time.
    #[must_use]
    pub fn queue_limit(&self) -> u64 {
        self.config
            .value("queues")
            .saturating_mul(self.config.value("queue_depth"))
    }

    /// Execute a command that comes at `now_ns`. Returns when it completes.
    ///
    /// # Panics
    ///
    /// When the command is not within the drive's capacity.
    pub fn run(&mut self, command: &Command, now_ns: u64) -> u64 {
        assert!(self.covers(command), "{command} is not on the drive");
        match command.op {
            Op::Flush => self.call(&Request::flush(), now_ns),
            Op::Idle | Op::Mark => now_ns,
            Op::Trim => match Request::trim(command) {
                Some(request) => self.call(&request, now_ns),
                None => now_ns,
            },
            Op::Share => self.call(&Request::vendor(command, OP_SHARE), now_ns),
            Op::Redistribute => self.call(&Request::vendor(command, OP_REDISTRIBUTE), now_ns),
            Op::Read | Op::Write => self.transfer(command, now_ns),
        }
    }

    /// Fill the drive in order and overwrite pages at random, as a host would; no time passes.
    ///
    /// # Errors
    ///
    /// When the drive cannot be brought into that state.
    pub fn precondition(&mut self, state: Precondition) -> Result<(), DriveError> {
        // SAFETY: the handle is valid and borrowed mutably.
        let reason = unsafe {
            sim_drive_precondition(
                self.handle.as_ptr(),
                state.fill_percent,
                state.random_percent,
                state.seed,
            )
        };
        match text(reason) {
            Some(reason) => Err(DriveError::NoSuchState(
                reason.trim_end_matches('.').to_owned(),
            )),
            None => Ok(()),
        }
    }

    /// Make a new drive what is in a state file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or is not one of such a drive; it is of no use then.
    pub fn load(mut self, file: &File) -> Result<Self, StateError> {
        let mut error = 0;
        // SAFETY: the handle is valid and borrowed mutably, the file is open.
        let reason = unsafe { sim_drive_load(self.handle.as_mut(), file.as_raw_fd(), &mut error) };
        outcome(reason, error)?;
        Ok(self)
    }

    /// Write the drive to an empty state file; it is at rest afterwards.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn save(&mut self, file: &File) -> Result<(), StateError> {
        let mut error = 0;
        // SAFETY: the handle is valid and borrowed mutably, the file is open.
        let reason = unsafe { sim_drive_save(self.handle.as_ptr(), file.as_raw_fd(), &mut error) };
        outcome(reason, error)
    }

    /// Does the drive have all that the command names?
    #[must_use]
    pub fn covers(&self, command: &Command) -> bool {
        let first = command.offset.max(command.to);
        let end = first.checked_add(command.length);

        !command.op.has_range() || end.is_some_and(|end| end <= self.capacity_bytes)
    }

    /// Note from now on what placement decides, or no more; what was noted is forgotten.
    pub fn listen(&mut self, listens: bool) {
        self.map_before = MapWork::of(self);
        // SAFETY: the handle is valid and borrowed mutably.
        unsafe { sim_drive_listen(self.handle.as_ptr(), listens) };
    }

    /// What was noted.
    #[must_use]
    pub fn placements(&self) -> Vec<Placement> {
        let mut placements = ptr::null();
        // SAFETY: the handle is valid, and there is a place for a pointer.
        let nr = unsafe { sim_drive_placements(self.handle.as_ptr(), &mut placements) };
        let nr = usize::try_from(nr).unwrap_or(0);
        if nr == 0 {
            return Vec::new();
        }
        // SAFETY: there are so many, and the drive is not changed while they are looked at.
        let raw = unsafe { std::slice::from_raw_parts(placements, nr) };
        raw.iter().map(Placement::of).collect()
    }

    /// What became of the map since it began to note.
    #[must_use]
    pub fn map_work(&self) -> MapWork {
        MapWork::of(self).since(self.map_before)
    }

    /// Pages of a die unit.
    #[must_use]
    pub fn unit_pages(&self) -> u32 {
        // SAFETY: the handle is valid.
        unsafe { sim_drive_unit_pages(self.handle.as_ptr()) }
    }

    /// Share commands that could not be done: pages without data, or no room for so many.
    #[must_use]
    pub fn refused(&self) -> u64 {
        // SAFETY: the handle is valid.
        unsafe { sim_drive_refused(self.handle.as_ptr()) }
    }

    /// Nothing is asked of the drive in this time: its dies may work for themselves.
    pub fn idle(&mut self, from_ns: u64, until_ns: u64) {
        let mut now_ns = from_ns.saturating_add(LOOK_NS);

        while now_ns < until_ns {
            // SAFETY: the handle is valid and borrowed mutably.
            if !unsafe { sim_drive_idle(self.handle.as_ptr(), now_ns) } {
                break;
            }
            now_ns = now_ns.saturating_add(LOOK_NS);
        }
    }

    /// All pieces of a large command come at once; it is complete when they all are.
    fn transfer(&mut self, command: &Command, now_ns: u64) -> u64 {
        let mut piece = *command;
        let mut left = command.length;
        let mut done_ns = now_ns;

        while left > 0 {
            piece.length = left.min(MAX_COMMAND_BYTES);
            done_ns = done_ns.max(self.call(&Request::transfer(&piece), now_ns));
            piece.offset += piece.length;
            left -= piece.length;
            // The rest follows its own first piece.
            if let Hint::Append(_) = piece.hint {
                piece.hint = Hint::Append(piece.offset - 1);
            }
        }
        done_ns
    }

    fn call(&mut self, request: &Request, now_ns: u64) -> u64 {
        // SAFETY: the handle is valid and borrowed mutably; run() has seen to it that the
        // request lies within the drive.
        unsafe { sim_drive_run(self.handle.as_ptr(), request, now_ns) }
    }

    /// # Errors
    ///
    /// The first rule that is broken in the drive's state.
    pub fn check(&self) -> Result<(), &'static str> {
        // SAFETY: the handle is valid.
        text(unsafe { sim_drive_check(self.handle.as_ptr()) }).map_or(Ok(()), Err)
    }

    #[must_use]
    pub fn nr_dies(&self) -> u32 {
        // SAFETY: the handle is valid.
        unsafe { sim_drive_nr_dies(self.handle.as_ptr()) }
    }

    pub fn counters(&self) -> impl Iterator<Item = Counter> + '_ {
        (0..).zip(texts(sim_counter_name)).map(|(index, name)| {
            // SAFETY: the handle is valid, the index that of a counter.
            (name, unsafe {
                sim_drive_counter(self.handle.as_ptr(), index)
            })
        })
    }

    /// # Panics
    ///
    /// When there is no such die.
    pub fn die_counters(&self, die: u32) -> impl Iterator<Item = Counter> + '_ {
        assert!(die < self.nr_dies(), "there is no die {die}");
        (0..)
            .zip(texts(sim_die_counter_name))
            .map(move |(index, name)| {
                // SAFETY: the handle is valid, the indices those of a die and a counter.
                (name, unsafe {
                    sim_die_counter(self.handle.as_ptr(), die, index)
                })
            })
    }
}

impl Drop for Drive {
    fn drop(&mut self) {
        // SAFETY: the handle is valid, and nobody uses it any more.
        unsafe { sim_drive_free(self.handle.as_ptr()) };
    }
}

impl Request {
    fn flush() -> Self {
        Self {
            first: 0,
            nr_pages: 0,
            pred: u64::MAX,
            bytes: 0,
            op: OP_FLUSH,
            hint: HINT_NONE,
            head_partial: 0,
            tail_partial: 0,
            fua: 0,
        }
    }

    /// Only pages that are covered as a whole are forgotten.
    fn trim(command: &Command) -> Option<Self> {
        let first = command.offset.div_ceil(PAGE_BYTES);
        let end = (command.offset + command.length) / PAGE_BYTES;

        (first < end).then(|| Self {
            op: OP_TRIM,
            first,
            nr_pages: end - first,
            ..Self::flush()
        })
    }

    /// Whole pages; the page that gets the data, or the threshold.
    fn vendor(command: &Command, op: u32) -> Self {
        Self {
            op,
            first: command.offset / PAGE_BYTES,
            nr_pages: command.length / PAGE_BYTES,
            pred: if op == OP_SHARE {
                command.to / PAGE_BYTES
            } else {
                command.threshold
            },
            ..Self::flush()
        }
    }

    /// As the controller does: one page that is covered in part counts as the head.
    fn transfer(command: &Command) -> Self {
        let end = command.offset + command.length;
        let first = command.offset / PAGE_BYTES;
        let nr_pages = (end - 1) / PAGE_BYTES - first + 1;
        let begins = command.offset % PAGE_BYTES != 0;
        let ends = end % PAGE_BYTES != 0;
        let (hint, pred) = match command.hint {
            Hint::None => (HINT_NONE, u64::MAX),
            Hint::Overwrite => (HINT_OVERWRITE, u64::MAX),
            // Within the page that is written it says that the page stays where it is.
            // All ones: it begins a file.
            Hint::Append(u64::MAX) => (HINT_BEGIN, u64::MAX),
            Hint::Append(pred) if pred / PAGE_BYTES == first => (HINT_OVERWRITE, u64::MAX),
            Hint::Append(pred) => (HINT_APPEND, pred / PAGE_BYTES),
        };

        Self {
            op: if command.op == Op::Read {
                OP_READ
            } else {
                OP_WRITE
            },
            first,
            nr_pages,
            pred,
            bytes: u32::try_from(command.link_bytes().min(MAX_COMMAND_BYTES)).unwrap_or(0),
            hint,
            head_partial: u8::from(begins || (nr_pages == 1 && ends)),
            tail_partial: u8::from(nr_pages > 1 && ends),
            fua: u8::from(command.fua),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{profiles, Config, DriveError, Request};
    use crate::sim::trace::{Command, Hint, Op};

    fn command(op: Op, offset: u64, length: u64) -> Command {
        Command {
            op,
            offset,
            length,
            ..Command::default()
        }
    }

    fn small() -> Config {
        let mut config = Config::from_profile("fast24").unwrap();
        config.set("capacity_mib", "1024").unwrap();
        config
    }

    #[test]
    fn every_profile_makes_a_drive() {
        assert!(profiles().count() >= 10);
        for profile in profiles() {
            assert!(!profile.description.is_empty());
            let drive = Config::from_profile(profile.name).unwrap().build().unwrap();
            assert!(drive.capacity_bytes() > 0, "{}", profile.name);
            assert!(drive.nr_dies() > 0);
        }
    }

    #[test]
    fn parameters_are_read_back_as_they_were_set() {
        let mut config = small();
        for (name, values) in small().values() {
            let text: Vec<String> = values.iter().map(u64::to_string).collect();
            config.set(name, &text.join(",")).unwrap();
        }
        assert!(small().values().eq(config.values()));
        config.set("read_ns", "30000,42000").unwrap();
        config.set("unit_kib", "16").unwrap();
        let read_ns = config.values().find(|(name, _)| *name == "read_ns");
        assert_eq!(read_ns.unwrap().1, [30000, 42000]);
        assert_eq!(config.value("unit_kib"), 16);
        assert_eq!(config.value("capacity_mib"), 1024);
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        let refused = |key, value| small().set(key, value).unwrap_err();
        assert!(matches!(refused("chanels", "1"), DriveError::NoKey(..)));
        for value in ["", "x", "-1", "1,2", "1.5"] {
            assert!(matches!(
                refused("channels", value),
                DriveError::NotAValue(..)
            ));
        }
        assert!(matches!(
            refused("unit_kib", "5"),
            DriveError::NotAValue(..)
        ));
        assert!(matches!(
            refused("read_ns", "1,2,3,4,5"),
            DriveError::NotAValue(..)
        ));
        assert!(matches!(
            refused("channels", "4294967296"),
            DriveError::TooLarge(..)
        ));
        assert!(matches!(refused("plp", "2"), DriveError::TooLarge(..)));
        assert!(matches!(
            refused("capacity_mib", "17592186044416"),
            DriveError::TooLarge(..)
        ));
        let mut config = small();
        config.set("channels", "0").unwrap();
        assert!(matches!(config.build(), Err(DriveError::Impossible(_))));
        assert!(matches!(
            Config::from_profile("fast").map(|_| ()),
            Err(DriveError::NoProfile(..))
        ));
    }

    #[test]
    fn bytes_become_pages_as_in_the_controller() {
        let whole = Request::transfer(&command(Op::Read, 8192, 8192));
        assert_eq!((whole.first, whole.nr_pages, whole.bytes), (2, 2, 8192));
        assert_eq!((whole.head_partial, whole.tail_partial), (0, 0));
        let middle = Request::transfer(&command(Op::Write, 512, 1024));
        assert_eq!((middle.first, middle.nr_pages), (0, 1));
        assert_eq!((middle.head_partial, middle.tail_partial), (1, 0));
        let start = Request::transfer(&command(Op::Write, 4096, 512));
        assert_eq!((start.head_partial, start.tail_partial), (1, 0));
        let across = Request::transfer(&command(Op::Write, 3584, 1024));
        assert_eq!(
            (across.nr_pages, across.head_partial, across.tail_partial),
            (2, 1, 1)
        );
        assert!(Request::trim(&command(Op::Trim, 512, 4096)).is_none());
        let trim = Request::trim(&command(Op::Trim, 512, 12288)).unwrap();
        assert_eq!((trim.first, trim.nr_pages), (1, 2));
    }

    #[test]
    fn a_predecessor_in_the_same_page_keeps_the_page() {
        let mut write = command(Op::Write, 4608, 512);
        write.hint = Hint::Append(4607);
        assert_eq!(Request::transfer(&write).hint, super::HINT_OVERWRITE);
        write.hint = Hint::Append(4095);
        let request = Request::transfer(&write);
        assert_eq!((request.hint, request.pred), (super::HINT_APPEND, 0));
        write.hint = Hint::Append(u64::MAX);
        assert_eq!(Request::transfer(&write).hint, super::HINT_BEGIN);
    }

    #[test]
    fn counters_tell_what_was_done() {
        let mut drive = small().build().unwrap();
        let done_ns = drive.run(&command(Op::Write, 0, 4 << 20), 0);
        assert!(done_ns > 0);
        drive.run(&command(Op::Read, 0, 1 << 20), 1_000_000_000);
        drive.run(&command(Op::Trim, 0, 1 << 20), 2_000_000_000);
        drive.run(&command(Op::Flush, 0, 0), 2_000_000_000);
        let counter = |name| {
            drive
                .counters()
                .find(|(known, _)| *known == name)
                .unwrap()
                .1
        };
        assert_eq!(counter("host_pages_written"), 1024);
        assert_eq!(counter("host_pages_read"), 256);
        assert_eq!(counter("pages_trimmed"), 256);
        let programmed: u64 = (0..drive.nr_dies())
            .flat_map(|die| drive.die_counters(die))
            .filter(|(name, _)| *name == "units_programmed")
            .map(|(_, value)| value)
            .sum();
        assert_eq!(programmed, 128);
        assert_eq!(drive.check(), Ok(()));
    }

    #[test]
    fn pages_are_shared_and_spread() {
        let mut config = small();
        config.set("share_pages", "1024").unwrap();
        let mut drive = config.build().unwrap();
        let value = |drive: &super::Drive, name| {
            let mut counters = drive.counters();
            counters.find(|(found, _)| *found == name).unwrap().1
        };
        for piece in 0..32 {
            drive.run(&command(Op::Write, piece << 18, 32768), piece * 10_000_000);
        }
        let mut share = command(Op::Share, 0, 32768);
        share.to = 512 << 20;
        drive.run(&share, 1_000_000_000);
        assert_eq!(value(&drive, "pages_shared"), 8);
        share.offset = 1 << 29;
        share.to = 1 << 28;
        share.length = 1 << 20;
        assert_eq!(drive.refused(), 0);
        drive.run(&share, 1_100_000_000);
        assert_eq!(drive.refused(), 1);
        let mut spread = command(Op::Redistribute, 0, 8 << 20);
        spread.threshold = 1000;
        drive.run(&spread, 2_000_000_000);
        assert_eq!(value(&drive, "pages_redistributed"), 0);
        spread.threshold = 0;
        drive.run(&spread, 3_000_000_000);
        assert_eq!(value(&drive, "pages_redistributed"), 256);
        drive.check().unwrap();
    }
}
