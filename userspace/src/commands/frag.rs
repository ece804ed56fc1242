// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware frag`: which files are slow to read, and why. It shows what `defrag` decides by,
//! before anything is moved.

use std::cmp::Reverse;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use super::common::{
    about_file, permille, print_json, require_all, tell_barred, write_file, Saying,
};
use crate::device::nvme::placement::{Geometry, Place};
use crate::frag::look::{self, Drives};
use crate::frag::svg::{picture, Drawn};
use crate::frag::{Logical, Physical};
use crate::fs::folder::walk;

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
    #[command(flatten)]
    saying: Saying,
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

fn look(path: &Path, drives: &mut Drives) -> Result<Found> {
    let look = look::look(path, drives).map_err(|err| about_file(path, err))?;
    let mut found = Found {
        path: path.display().to_string(),
        bytes: look.bytes,
        dof_l_permille: look.logical.dof_permille(),
        logical: look.logical,
        physical: None,
        unknown: None,
        places: Vec::new(),
        geometry: None,
    };

    match look.on_ssd {
        Ok(on_ssd) => {
            found.physical = Some(on_ssd.physical);
            found.places = on_ssd.places;
            found.geometry = Some(on_ssd.geometry);
        }
        Err(why) => found.unknown = Some(why.to_string()),
    }
    Ok(found)
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

    write_file(path, &picture(&drawn))
}

/// # Errors
///
/// When a file cannot be read, or the picture not be written.
pub fn run(args: &FragArgs, out: &mut impl Write) -> Result<()> {
    args.saying.begin();
    let mut drives = Drives::default();
    let mut list = Vec::new();
    let mut nr_barred = 0;

    for path in &args.paths {
        if !path.is_dir() {
            list.push(look(path, &mut drives)?);
            continue;
        }
        let (files, barred) = walk(path);
        nr_barred += barred.len();
        tell_barred(&barred);
        for file in files {
            // Files come and go while a folder is looked at.
            match look(&file, &mut drives) {
                Ok(found) => list.push(found),
                Err(err) => complain!("dieaware: {err:#}."),
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
        print_json(out, &list)?;
        return require_all(nr_barred);
    }
    print(&list, out)?;
    out.flush()?;
    let mut unknown: Vec<_> = list
        .iter()
        .filter_map(|file| file.unknown.as_ref())
        .collect();
    unknown.dedup();
    for why in unknown {
        remark!("dieaware: of some files DoF_P is not known: {why}.");
    }
    require_all(nr_barred)
}
