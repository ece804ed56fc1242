// SPDX-License-Identifier: GPL-2.0-only
//! Looking at files: where they lie for the filesystem, and on which dies of an SSD. What is below
//! a file may not tell; what is known is shown then, and why the rest is not.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use nix::libc;
use thiserror::Error;

use super::{Logical, Physical};
use crate::device::nvme::placement::{Geometry, Place, Placement};
use crate::device::stack::{StackError, Tables};
use crate::fs::file::{self, FileError, FileFacts};
use crate::runs::{self, Run};
use crate::units::{DeviceNumber, PAGE_SECTORS};

/// Pages of an SSD, in a row.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Pages {
    pub first: u64,
    pub nr: u64,
}

/// What the SSD says about a file.
#[derive(Debug)]
pub struct OnSsd {
    pub disk: PathBuf,
    pub geometry: Geometry,
    pub physical: Physical,
    /// In the order of the file.
    pub places: Vec<Option<Place>>,
    pub pages: Vec<Pages>,
}

/// Why nobody knows on which dies a file is.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum Unseen {
    /// The drive says so of no file.
    #[error("{} does not say where pages are", .0.display())]
    Untold(PathBuf),
    /// What lies between filesystem and drive tells of no file.
    #[error("{0}")]
    Hidden(String),
    /// The same, until it goes away.
    #[error("{0}, for now")]
    Meanwhile(String),
    /// It may be another time, or of another file.
    #[error("{0}")]
    Other(String),
}

/// What is known of a file, or of parts of it.
#[derive(Debug)]
pub struct Look {
    pub facts: FileFacts,
    pub bytes: u64,
    pub runs: Vec<Run>,
    pub logical: Logical,
    /// Or why that is not known.
    pub on_ssd: Result<OnSsd, Unseen>,
}

#[cfg(test)]
impl Look {
    /// Of a file of ext4's without pages, for tests.
    pub(crate) fn of_none(unseen: Unseen) -> Self {
        let device = DeviceNumber { major: 1, minor: 2 };
        Self {
            facts: FileFacts {
                device,
                below: device,
                fs_type: "ext4".to_owned(),
                inode: 12,
                generation: 0,
                extents: Vec::new(),
            },
            bytes: 0,
            runs: Vec::new(),
            logical: Logical::of(&[]),
            on_ssd: Err(unseen),
        }
    }
}

/// SSDs that were asked, by their nodes.
#[derive(Default)]
pub struct Drives {
    open: BTreeMap<PathBuf, Option<Placement>>,
    tables: Tables,
}

/// The one disk that runs lie on, and where.
fn pages_of(
    tables: &mut Tables,
    device: DeviceNumber,
    runs: &[Run],
) -> Result<(PathBuf, Vec<Pages>), Unseen> {
    let sectors_of = |run: &Run| {
        let first = run.device_page.0.saturating_mul(PAGE_SECTORS);
        first..first.saturating_add(u64::from(run.pages) * PAGE_SECTORS)
    };
    let ranges: Vec<_> = runs.iter().map(sectors_of).collect();
    let other = |why: &str| Unseen::Other(why.to_owned());
    let pieces = tables.resolve(device, &ranges).map_err(|err| match err {
        err if err.passes() => Unseen::Meanwhile(err.to_string()),
        StackError::Opaque(_) | StackError::Mirror | StackError::OldTarget(_) => {
            Unseen::Hidden(err.to_string())
        }
        err => Unseen::Other(err.to_string()),
    })?;
    let mut found = Vec::new();
    let mut on: Option<PathBuf> = None;

    for piece in pieces {
        if on.as_ref().is_some_and(|disk| *disk != piece.disk) {
            return Err(other("it lies on more than one SSD"));
        }
        if piece.first_sector % PAGE_SECTORS != 0 {
            return Err(other("its pages lie across those of the SSD"));
        }
        found.push(Pages {
            first: piece.first_sector / PAGE_SECTORS,
            nr: piece.nr_sectors / PAGE_SECTORS,
        });
        on = Some(piece.disk);
    }
    let disk = on.ok_or_else(|| other("it has no pages on the device"))?;
    Ok((disk, found))
}

impl Look {
    pub fn nr_pages(&self) -> u64 {
        self.runs.iter().map(|run| u64::from(run.pages)).sum()
    }
}

impl Drives {
    fn get(&mut self, disk: &Path) -> Result<&Placement, Unseen> {
        if !self.open.contains_key(disk) {
            let untold = Unseen::Untold(disk.to_owned());
            let opened = match Placement::open(disk) {
                // It is no namespace of NVMe's.
                Err(err) if err.raw_os_error() == Some(libc::ENOTTY) => None,
                opened => opened.map_err(|err| Unseen::Other(format!("{untold} ({err})")))?,
            };
            self.open.insert(disk.to_owned(), opened);
        }
        let known = self.open.get(disk).and_then(Option::as_ref);
        known.ok_or_else(|| Unseen::Untold(disk.to_owned()))
    }

    /// Where the pages of runs are.
    fn on_ssd(&mut self, device: DeviceNumber, runs: &[Run]) -> Result<OnSsd, Unseen> {
        let (disk, pages) = pages_of(&mut self.tables, device, runs)?;
        let drive = self.get(&disk)?;
        let mut places = Vec::new();

        for Pages { first, nr } in &pages {
            let found = drive.places(*first, *nr);
            let found = found.map_err(|err| Unseen::Other(err.to_string()))?;
            places.extend(found);
        }
        let geometry = drive.geometry;
        Ok(OnSsd {
            disk,
            geometry,
            physical: Physical::of(&geometry, &places),
            places,
            pages,
        })
    }
}

/// All pages of a file.
pub const WHOLE: [Range<u64>; 1] = [Range {
    start: 0,
    end: u64::MAX,
}];

/// Look at a file.
///
/// # Errors
///
/// When it cannot be read, or its filesystem does not say where it lies.
pub fn look(path: &Path, drives: &mut Drives) -> Result<Look, FileError> {
    look_at(path, &WHOLE, drives)
}

/// Look at parts of a file: ranges of its pages.
///
/// # Errors
///
/// The same.
pub fn look_at(path: &Path, ranges: &[Range<u64>], drives: &mut Drives) -> Result<Look, FileError> {
    let facts = file::facts(path)?;
    let runs = runs::within(&runs::runs_of(&facts.extents), ranges);
    let on_ssd = drives.on_ssd(facts.below, &runs);

    Ok(Look {
        bytes: fs::metadata(path)?.len(),
        logical: Logical::of(&runs),
        facts,
        runs,
        on_ssd,
    })
}
