// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware runs`: where files lie, and teaching that to a target, which forgets it when it is
//! removed and would otherwise learn it only as files are read and written.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use serde::Serialize;

use super::common::{about_file, print_json, usage, Written};
use super::mapper;
use crate::boot::saved_runs;
use crate::device::stack::mapper_name;
use crate::dm::{self, Target};
use crate::fs::file::{self, FileFacts};
use crate::runs::{self, Run};
use crate::units::DeviceNumber;

/// Show where files lie, or tell it to a target
#[derive(Args, Debug)]
pub struct RunsArgs {
    #[command(subcommand)]
    verb: RunsVerb,
}

#[derive(Subcommand, Debug)]
enum RunsVerb {
    Load(LoadArgs),
    Save(SaveArgs),
    Extents(ExtentsArgs),
}

/// Teach a target where files lie, for example after a reboot
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dieaware runs load demo /mnt/data/*.db")]
struct LoadArgs {
    /// Name of the device-mapper device that holds the files' filesystem
    #[arg(value_name = "DM-NAME", value_parser = mapper::name_of, required_unless_present = "saved")]
    name: Option<String>,
    /// Regular files on that device
    #[arg(value_name = "FILE", required_unless_present = "saved")]
    files: Vec<PathBuf>,
    /// Instead: the files that "runs save" has listed of this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["name", "files"])]
    saved: Option<PathBuf>,
    /// That list, if it is not where "runs save" puts it
    #[arg(long, value_name = "FILE", requires = "saved")]
    list: Option<PathBuf>,
}

/// List the files of a filesystem that "runs load" is to load after a reboot
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dieaware runs save /mnt/data")]
struct SaveArgs {
    /// A folder of a filesystem that lies on a dieaware device
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// So many files, those last written
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    files: usize,
    /// Write the list there instead of below /var/lib/dieaware/runs
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
}

/// Show what "runs load" would tell
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dieaware runs extents --json /mnt/data/big.db")]
struct ExtentsArgs {
    /// Regular files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
}

/// # Errors
///
/// When a file or the device cannot be read, or they do not belong together.
pub fn run(args: &RunsArgs, out: &mut impl Write) -> Result<()> {
    match &args.verb {
        RunsVerb::Load(args) => match &args.saved {
            Some(folder) => load_saved(folder, args.list.as_deref(), out),
            None => load(args.name.as_deref().unwrap_or_default(), &args.files, out),
        },
        RunsVerb::Save(args) => save(args, out),
        RunsVerb::Extents(args) => extents(args, out),
    }
}

fn facts(path: &Path) -> Result<FileFacts> {
    file::facts(path).map_err(|err| about_file(path, err))
}

fn targets_of(name: &str) -> Result<Vec<Target>> {
    mapper::targets_of(name, || format!("{name} cannot be found"))
}

fn load(name: &str, files: &[PathBuf], out: &mut impl Write) -> Result<()> {
    let targets = targets_of(name)?;
    let device = dm::device_number(name)
        .with_context(|| format!("The device number of {name} is not known"))?;

    // All files are read first: nothing is loaded when one of them does not fit.
    let mut all = Vec::new();
    for path in files {
        let facts = facts(path)?;
        if facts.below != device {
            return Err(usage(format!(
                "{}: its filesystem lies on the device {}, but {name} is {device}",
                path.display(),
                facts.below
            )));
        }
        all.push((path, facts));
    }
    for (path, facts) in &all {
        let (nr_runs, nr_pages) = load_file(name, &targets, facts)
            .with_context(|| format!("{} was not loaded", path.display()))?;
        writeln!(out, "{}: {nr_runs} runs, {nr_pages} pages", path.display())?;
    }
    Ok(())
}

/// The device of a folder's filesystem, and its name if it has a dieaware target.
fn device_below(folder: &Path) -> Result<(DeviceNumber, String)> {
    let name = || folder.display().to_string();
    let opened = file::open_place(folder).with_context(name)?;
    let device = file::below(&opened).with_context(name)?;

    match mapper_name(device) {
        Some(dm_name) if !dm::targets(&dm_name)?.is_empty() => Ok((device, dm_name)),
        _ => Err(usage(format!(
            "{}: its filesystem lies on the device {device}, which has no dieaware target",
            folder.display()
        ))),
    }
}

fn default_list(folder: &Path) -> Result<PathBuf> {
    let whole = fs::canonicalize(folder).with_context(|| folder.display().to_string())?;
    Ok(saved_runs::default_list(&whole))
}

fn save(args: &SaveArgs, out: &mut impl Write) -> Result<()> {
    let folder = args.folder.as_path();
    device_below(folder)?;
    let files = saved_runs::last_written(folder, args.files)
        .with_context(|| folder.display().to_string())?;
    let list = match &args.list {
        Some(list) => list.clone(),
        None => default_list(folder)?,
    };

    Written::List.require_place(&list)?;
    saved_runs::write(&list, &files)?;
    writeln!(out, "{}: {} files", list.display(), files.len())?;
    Ok(())
}

/// Files that are gone, or now lie elsewhere, are passed over.
fn load_saved(folder: &Path, list: Option<&Path>, out: &mut impl Write) -> Result<()> {
    let (device, name) = device_below(folder)?;
    let targets = targets_of(&name)?;
    let list = match list {
        Some(list) => list.to_owned(),
        None => default_list(folder)?,
    };
    // The first time of a unit that lists them at its end
    if !list.exists() {
        writeln!(
            out,
            "There is no list {}: nothing is loaded",
            list.display()
        )?;
        return Ok(());
    }
    let files = saved_runs::read(&list)?;
    let (mut nr_files, mut nr_runs, mut nr_pages) = (0, 0, 0);

    // The last written come last, so that they are the last to be forgotten.
    for file in files.iter().rev() {
        let Ok(facts) = file::facts(&folder.join(file)) else {
            continue;
        };
        if facts.below != device {
            continue;
        }
        let (runs, pages) = load_file(&name, &targets, &facts)
            .with_context(|| format!("{} was not loaded", file.display()))?;
        nr_files += 1;
        nr_runs += runs;
        nr_pages += pages;
    }
    writeln!(
        out,
        "{}: {nr_files} of {} files, {nr_runs} runs, {nr_pages} pages",
        folder.display(),
        files.len()
    )?;
    Ok(())
}

/// Send a file's runs to every target that holds some. Returns how many, and how many
/// pages.
fn load_file(name: &str, targets: &[Target], facts: &FileFacts) -> Result<(usize, u64)> {
    let file_runs = runs::runs_of(&facts.extents);
    let mut nr_runs = 0;
    let mut nr_pages = 0;

    for target in targets {
        let here: Vec<Run> = file_runs
            .iter()
            .filter_map(|run| runs::on_target(run, target))
            .collect();
        for words in runs::messages(["runs", "add"], &facts.into(), &here) {
            dm::message(name, target.start_sectors, &words)
                .context("The kernel log says why, if it was the target that refused")?;
        }
        nr_runs += here.len();
        nr_pages += here.iter().map(|run| u64::from(run.pages)).sum::<u64>();
    }
    Ok((nr_runs, nr_pages))
}

#[derive(Serialize)]
struct FileRuns {
    path: String,
    device: DeviceNumber,
    inode: u64,
    generation: u32,
    runs: Vec<Run>,
}

fn extents(args: &ExtentsArgs, out: &mut impl Write) -> Result<()> {
    let mut files = Vec::new();

    for path in &args.files {
        let facts = facts(path)?;
        files.push(FileRuns {
            path: path.display().to_string(),
            device: facts.device,
            inode: facts.inode,
            generation: facts.generation,
            runs: runs::runs_of(&facts.extents),
        });
    }
    if args.json {
        print_json(out, &files)?;
        return Ok(());
    }
    for file in &files {
        writeln!(
            out,
            "{}: device {} inode {} generation {}",
            file.path, file.device, file.inode, file.generation
        )?;
        writeln!(
            out,
            "{:>12} {:>12} {:>10}",
            "file page", "device page", "pages"
        )?;
        for run in &file.runs {
            writeln!(
                out,
                "{:>12} {:>12} {:>10}",
                run.file_page, run.device_page, run.pages
            )?;
        }
    }
    Ok(())
}
