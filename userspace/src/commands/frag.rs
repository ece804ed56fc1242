// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware frag`: which files are slow to read, and why.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;

use crate::frag::svg::{picture, Drawn};
use crate::frag::{Logical, Physical};
use crate::io_engine::file;
use crate::nvme::placement::{Geometry, Place, Placement};
use crate::runs::{self, Run};
use crate::stack;
use crate::units::{DeviceNumber, PAGE_SECTORS};

/// Files in the picture at most.
const MOST_DRAWN: usize = 20;

/// Show how fragmented files are, for the filesystem and on the dies of the SSD
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dieaware frag --top 10 --svg slow.svg /mnt/data")]
pub struct FragArgs {
    /// Regular files, and folders of which all files on the same filesystem are looked at
    #[arg(value_name = "FILE|DIR", required = true)]
    paths: Vec<PathBuf>,
    /// Only so many files, the worst ones
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Draw the worst files: place in the file by die, at most 20
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
}

/// What is known of a file.
#[derive(Serialize)]
struct Found {
    path: String,
    bytes: u64,
    #[serde(flatten)]
    logical: Logical,
    dof_l_permille: u64,
    /// `None`: the SSD does not tell, or is not known.
    physical: Option<Physical>,
    /// Why.
    unknown: Option<String>,
    #[serde(skip)]
    places: Vec<Option<Place>>,
    #[serde(skip)]
    geometry: Option<Geometry>,
}

/// SSDs that were asked, by their nodes.
#[derive(Default)]
struct Drives {
    open: BTreeMap<PathBuf, Option<Placement>>,
}

impl Drives {
    fn get(&mut self, disk: &Path) -> Result<&Placement, String> {
        if !self.open.contains_key(disk) {
            let name = disk.display();
            let opened = Placement::open(disk)
                .map_err(|err| format!("{name} does not say where pages are ({err})"))?;
            self.open.insert(disk.to_owned(), opened);
        }
        let known = self.open.get(disk).and_then(Option::as_ref);
        known.ok_or_else(|| format!("{} does not say where pages are", disk.display()))
    }

    /// Where the pages of a file are.
    fn places(
        &mut self,
        device: DeviceNumber,
        runs: &[Run],
    ) -> Result<(Geometry, Vec<Option<Place>>), String> {
        let mut found = Vec::new();
        let mut on: Option<PathBuf> = None;
        let mut geometry = None;

        for run in runs {
            let first = run.device_page.0.saturating_mul(PAGE_SECTORS);
            let nr_sectors = u64::from(run.pages) * PAGE_SECTORS;
            let pieces =
                stack::resolve(device, first, nr_sectors).map_err(|err| err.to_string())?;
            for piece in pieces {
                if on.as_ref().is_some_and(|disk| *disk != piece.disk) {
                    return Err("it lies on more than one SSD".to_owned());
                }
                if piece.first_sector % PAGE_SECTORS != 0 {
                    return Err("its pages lie across those of the SSD".to_owned());
                }
                let drive = self.get(&piece.disk)?;
                geometry = Some(drive.geometry);
                let first = piece.first_sector / PAGE_SECTORS;
                let places = drive.places(first, piece.nr_sectors / PAGE_SECTORS);
                found.extend(places.map_err(|err| err.to_string())?);
                on = Some(piece.disk);
            }
        }
        let geometry = geometry.ok_or_else(|| "it has no pages on the device".to_owned())?;
        Ok((geometry, found))
    }
}

/// All regular files below a folder, on the same filesystem.
fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let device = fs::metadata(folder)
        .with_context(|| folder.display().to_string())?
        .dev();
    let mut todo = vec![folder.to_owned()];

    while let Some(folder) = todo.pop() {
        let name = || folder.display().to_string();
        for entry in fs::read_dir(&folder).with_context(name)? {
            let entry = entry.with_context(name)?;
            let metadata = entry.metadata().with_context(name)?;
            if metadata.dev() != device {
                continue;
            }
            if metadata.is_dir() {
                todo.push(entry.path());
            } else if metadata.is_file() && metadata.len() != 0 {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(())
}

fn look(path: &Path, drives: &mut Drives) -> Result<Found> {
    let name = path.display().to_string();
    let facts = file::facts(path).with_context(|| name.clone())?;
    let runs = runs::runs_of(&facts.extents);
    let logical = Logical::of(&runs);
    let bytes = fs::metadata(path).with_context(|| name.clone())?.len();
    let mut found = Found {
        path: name,
        bytes,
        dof_l_permille: logical.dof_permille(),
        logical,
        physical: None,
        unknown: None,
        places: Vec::new(),
        geometry: None,
    };

    match drives.places(facts.device, &runs) {
        Ok((geometry, places)) => {
            found.physical = Some(Physical::of(&geometry, &places));
            found.places = places;
            found.geometry = Some(geometry);
        }
        Err(why) => found.unknown = Some(why),
    }
    Ok(found)
}

fn permille(value: u64) -> String {
    format!("{}.{:03}", value / 1000, value % 1000)
}

/// A digit for each die: its share of the file, 9 being the most of any; the rest is a dot.
fn die_map(physical: &Physical) -> String {
    let most = physical.die_pages.iter().copied().max().unwrap_or(0);
    let digit = |pages: &u64| match (pages * 9).div_ceil(most.max(1)) {
        0 => '.',
        share => char::from_digit(share as u32, 10).unwrap_or('9'),
    };
    physical.die_pages.iter().map(digit).collect()
}

fn print(list: &[Found], out: &mut impl Write) -> Result<()> {
    writeln!(
        out,
        "{:>6}  {:>7}  {:>8}  {:>10}  {:<16}  file",
        "DoF_P", "DoF_L", "pieces", "KiB", "dies"
    )?;
    for file in list {
        let (dof, map) = match &file.physical {
            Some(physical) => (permille(physical.dof_permille), die_map(physical)),
            None => ("-".to_owned(), "-".to_owned()),
        };
        writeln!(
            out,
            "{dof:>6}  {:>7}  {:>8}  {:>10}  {map:<16}  {}",
            permille(file.dof_l_permille),
            file.logical.pieces,
            file.bytes.div_ceil(1024),
            file.path
        )?;
    }
    Ok(())
}

fn draw(path: &Path, list: &[Found]) -> Result<()> {
    let drawn: Vec<_> = list
        .iter()
        .filter_map(|file| {
            let physical = file.physical.as_ref()?;
            Some(Drawn {
                title: format!(
                    "{}   DoF_P {}, DoF_L {}",
                    file.path,
                    permille(physical.dof_permille),
                    permille(file.dof_l_permille)
                ),
                geometry: file.geometry?,
                places: &file.places,
            })
        })
        .take(MOST_DRAWN)
        .collect();

    fs::write(path, picture(&drawn))
        .with_context(|| format!("{} cannot be written", path.display()))
}

/// # Errors
///
/// When a file cannot be read, or the picture not be written.
pub fn run(args: &FragArgs, out: &mut impl Write) -> Result<()> {
    let mut drives = Drives::default();
    let mut list = Vec::new();

    for path in &args.paths {
        if !path.is_dir() {
            list.push(look(path, &mut drives)?);
            continue;
        }
        let mut files = Vec::new();
        walk(path, &mut files)?;
        for file in files {
            // Files come and go while a folder is looked at.
            match look(&file, &mut drives) {
                Ok(found) => list.push(found),
                Err(err) => eprintln!("dieaware: {err:#}."),
            }
        }
    }
    list.sort_by_key(|file| {
        let physical = file.physical.as_ref().map(|physical| physical.dof_permille);
        Reverse((physical, file.dof_l_permille, file.logical.pieces))
    });
    list.truncate(args.top.unwrap_or(usize::MAX));
    if let Some(path) = &args.svg {
        draw(path, &list)?;
    }
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &list)?;
        writeln!(out)?;
        return Ok(());
    }
    print(&list, out)?;
    out.flush()?;
    let mut unknown: Vec<_> = list
        .iter()
        .filter_map(|file| file.unknown.as_ref())
        .collect();
    unknown.dedup();
    for why in unknown {
        eprintln!("dieaware: of some files DoF_P is not known: {why}.");
    }
    Ok(())
}
