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
    about_file, files_below, permille, print_json, require_all, require_writable, write_picture,
    Saying, Written,
};
use crate::complain::shown;
use crate::device::nvme::placement::{Geometry, Place};
use crate::frag::look::{self, Drives};
use crate::frag::svg::{picture, Drawn};
use crate::frag::{Logical, Physical};

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

/// What is going to be shown of all that is looked at. Where each page of a file is takes 12 bytes for each,
/// and is needed for the picture only.
struct Worst {
    list: Vec<Found>,
    /// How many files are shown.
    most: usize,
    /// How many are drawn.
    most_drawn: usize,
    /// How many there are that have places, since the last look at which are the worst.
    nr_placed: usize,
}

impl Worst {
    fn new(most: Option<usize>, draws: bool) -> Self {
        Self {
            list: Vec::new(),
            most: most.unwrap_or(usize::MAX),
            most_drawn: if draws { MOST_DRAWN } else { 0 },
            nr_placed: 0,
        }
    }

    fn add(&mut self, mut found: Found) {
        if self.most_drawn == 0 {
            found.places = Vec::new();
        } else if found.physical.is_some() {
            self.nr_placed += 1;
        }
        self.list.push(found);
        // To sort them each time would take long.
        let is_full = self.list.len() > self.most.saturating_mul(2).saturating_add(MOST_DRAWN);
        if is_full || self.nr_placed > 2 * MOST_DRAWN {
            self.cut();
        }
    }

    /// The worst first, and no more of them than are shown.
    fn cut(&mut self) {
        self.list.sort_by_key(|file| {
            let physical = file.physical.as_ref().map(|physical| physical.dof_permille);
            Reverse((physical, file.dof_l_permille, file.logical.pieces))
        });
        self.list.truncate(self.most);
        let placed = self.list.iter_mut().filter(|file| file.physical.is_some());
        for file in placed.skip(self.most_drawn) {
            file.places = Vec::new();
        }
        self.nr_placed = 0;
    }

    fn into_list(mut self) -> Vec<Found> {
        self.cut();
        self.list
    }
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
            shown(&file.path)
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

    write_picture(path, &picture(&drawn))
}

/// # Errors
///
/// When a file cannot be read, or the picture not be written.
pub fn run(args: &FragArgs, out: &mut impl Write) -> Result<()> {
    args.saying.begin();
    if let Some(path) = &args.svg {
        require_writable(path, Written::Picture)?;
    }
    let mut drives = Drives::default();
    let mut worst = Worst::new(args.top, args.svg.is_some());
    let mut nr_barred = 0;

    for path in &args.paths {
        if !path.is_dir() {
            worst.add(look(path, &mut drives)?);
            continue;
        }
        for file in files_below(path, &mut nr_barred) {
            // Files come and go while a folder is looked at.
            match look(&file, &mut drives) {
                Ok(found) => worst.add(found),
                Err(err) => complain!("dieaware: {err:#}."),
            }
        }
    }
    let list = worst.into_list();
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

#[cfg(test)]
mod tests {
    use super::{Found, Geometry, Logical, Physical, Place, Worst, MOST_DRAWN};

    fn found(dof_permille: u64) -> Found {
        let geometry = Geometry {
            nr_dies: 2,
            unit_pages: 1,
        };
        let places = vec![Some(Place { die: 0, unit: 0 }); 4];
        let physical = Physical::of(&geometry, &places);
        Found {
            path: dof_permille.to_string(),
            bytes: 0,
            logical: Logical::of(&[]),
            dof_l_permille: 1000,
            physical: Some(Physical {
                dof_permille,
                ..physical
            }),
            unknown: None,
            places,
            geometry: Some(geometry),
        }
    }

    /// In an order in which the worst come at any time.
    fn worst_of(nr: u64, most: Option<usize>, draws: bool) -> Worst {
        let mut worst = Worst::new(most, draws);
        for at in 0..nr {
            worst.add(found(at * 7 % nr));
            let placed = worst.list.iter().filter(|found| !found.places.is_empty());
            assert!(placed.count() <= 3 * MOST_DRAWN);
            assert!(most.is_none_or(|most| worst.list.len() <= 2 * most + MOST_DRAWN));
        }
        worst
    }

    #[test]
    fn no_more_is_kept_than_is_shown() {
        let of = |most, draws| {
            let list = worst_of(1000, most, draws).into_list();
            let values: Vec<u64> = list
                .iter()
                .map(|found| found.path.parse().unwrap())
                .collect();
            let nr_all = most.unwrap_or(1000) as u64;
            assert_eq!(values, (1000 - nr_all..1000).rev().collect::<Vec<_>>());
            let placed = |found: &&Found| !found.places.is_empty();
            list.iter().take_while(placed).count()
        };
        assert_eq!(of(None, false), 0);
        assert_eq!(of(Some(5), false), 0);
        assert_eq!(of(None, true), MOST_DRAWN);
        assert_eq!(of(Some(30), true), MOST_DRAWN);
        assert_eq!(of(Some(5), true), 5);
    }
}
