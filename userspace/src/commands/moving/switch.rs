// SPDX-License-Identifier: GPL-2.0-only
//! The moment in which the log begins to count. Until then the old device has everything that was
//! written, and whoever finds it after a power failure is right; from then on only the log has. So
//! the old one must not be found any more from the very moment on. While nothing is written, both hold
//! the same: then the old one's signs are taken away, and the log is all that is left.
//!
//! While the device is suspended no program is started and no memory is asked for (see `dm::ioctl`).
//! Who is killed just then leaves it suspended: what uses it waits, and the next run ends it.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use anyhow::{anyhow, bail, Context, Result};
use thiserror::Error;

use super::super::swap;
use super::stack::{self, Legs, Source, Stage};
use crate::boot::moves::{Moves, FOLDER};
use crate::device::hide::{Hider, Sign};
use crate::dm::ioctl::Control;
use crate::dm::mirror::Progress;
use crate::dm::swap::load;
use crate::dm::tables::Table;

/// What the old device was hidden by could not be undone. It counts all the same.
#[derive(Debug, Error)]
#[error("the old device lacks signs of its filesystem now: {0}")]
pub struct Signless(io::Error);

/// Everything that the moment takes.
struct Switch {
    name: String,
    control: Control,
    log: File,
    hider: Hider,
    /// What was loaded for it.
    table: Table,
}

fn hider(legs: &Legs, signs: &[Sign]) -> Result<Hider> {
    let node = swap::node_of(legs.from.number);
    Hider::open(Path::new(&node), signs).with_context(|| format!("{node} cannot be opened"))
}

impl Switch {
    fn prepare(source: &Source, legs: &Legs, signs: &[Sign]) -> Result<Self> {
        let name = &source.state.name;
        let node = swap::node_of(legs.to.number);
        let log = OpenOptions::new()
            .write(true)
            .open(&node)
            .with_context(|| format!("{node} cannot be opened"))?;
        let hider = hider(legs, signs)?;
        let line = format!("0 {} linear {} 0\n", source.len_sectors(), legs.to.number);

        // It may have come at any time of the copying.
        stack::require_none_foreign(source)?;
        load(name, &line, false).context("The table was not loaded")?;
        stack::require_loaded(source, &line)?;
        // What was copied is not durable yet. Most of it is now, so that little is left to wait for.
        log.sync_all()
            .with_context(|| format!("{node} cannot be flushed"))?;
        Ok(Self {
            name: name.clone(),
            table: Table::parse(&line).map_err(|err| anyhow!(err))?,
            control: Control::open(name)?,
            log,
            hider,
        })
    }

    /// Flushes take their time, and what is loaded is put to work: the log must not count where somebody else
    /// has loaded another table meanwhile.
    fn require_loaded(&mut self) -> Result<()> {
        if self.control.loaded()? != self.table.segments() {
            bail!("somebody else has loaded a table meanwhile");
        }
        Ok(())
    }

    /// The old device is not hidden any more, for that reason.
    fn shown(&mut self, why: anyhow::Error) -> anyhow::Error {
        match self.hider.show() {
            Ok(()) => why,
            Err(err) => anyhow!(Signless(err)).context(format!("{why:#}")),
        }
    }

    fn hide(&mut self) -> Result<()> {
        let Err(err) = self.hider.hide() else {
            return Ok(());
        };
        Err(self.shown(anyhow!(err).context("The old device cannot be hidden")))
    }

    /// The device is suspended.
    fn commit(&mut self) -> Result<()> {
        let now = Progress::parse(&self.control.status()?);

        if !now.is_some_and(|now| now.is_complete()) {
            bail!("A device has failed in the last moment");
        }
        self.log
            .sync_all()
            .context("The device in log mode cannot be flushed")?;
        self.require_loaded()?;
        self.hide()?;
        let resumed = self.control.resume();
        resumed.map_err(|err| self.shown(err.into()))
    }

    /// Let the mirror go on. What somebody else has loaded would be put to work by that, and is not ours to take
    /// away: he resumes the device himself.
    fn leave(&mut self) -> Result<()> {
        let loaded = self.control.loaded()?;

        if !loaded.is_empty() && loaded != self.table.segments() {
            return Err(swap::foreign_stays(&self.name));
        }
        self.control.clear()?;
        self.control.resume()?;
        Ok(())
    }
}

/// Let the log count.
///
/// # Errors
///
/// When that fails: the device has the mirror's table then, and the old one counts.
pub fn switch(source: &Source, legs: &Legs, signs: &[Sign]) -> Result<()> {
    let mut switch = Switch::prepare(source, legs, signs)?;

    switch.control.suspend()?;
    // Somebody was killed when it was decided already.
    if source.state.is_suspended && switch.hider.is_hidden()? {
        switch.log.sync_all()?;
        switch.require_loaded()?;
        switch.hider.hide()?;
        return Ok(switch.control.resume()?);
    }
    let Err(err) = switch.commit() else {
        return Ok(());
    };
    match switch.leave() {
        Ok(()) => Err(err),
        Err(other) => Err(err.context(format!("and it stays suspended: {other:#}"))),
    }
}

/// Was somebody killed between that the old device was hidden and that the log was put to work?
///
/// # Errors
///
/// When that cannot be found out.
pub fn is_hidden(source: &Source, moves: &Moves) -> Result<bool> {
    let Stage::Mirrored(legs) = &source.stage else {
        return Ok(false);
    };
    let kept = moves.read(&source.state.name).context(FOLDER)?;
    let signs = kept.map(|kept| kept.signs).unwrap_or_default();

    if !source.state.is_suspended || signs.is_empty() {
        return Ok(false);
    }
    Ok(hider(legs, &signs)?.is_hidden()?)
}

/// Hide the old device of one that was switched: somebody may have resumed by hand what another one
/// had suspended.
///
/// # Errors
///
/// When it cannot be written.
pub fn hide_again(name: &str, moves: &Moves) -> Result<()> {
    let kept = moves.read(name).context(FOLDER)?;
    let signs = kept.map(|kept| kept.signs).unwrap_or_default();
    let node = stack::old_node(name)?;

    if let Some(node) = node.filter(|_| !signs.is_empty()) {
        let hide = || Hider::open(Path::new(&node), &signs)?.hide();
        hide().with_context(|| {
            format!("{node} cannot be written, so that the filesystem is found there as well")
        })?;
    }
    Ok(())
}
