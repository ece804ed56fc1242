// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware runs`: where files lie, and teaching that to a target.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use serde::Serialize;

use super::UsageError;
use crate::dm::{self, Target};
use crate::io_engine::file::{self, FileFacts};
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
    Extents(ExtentsArgs),
}

/// Teach a target where files lie, for example after a reboot
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dieaware runs load demo /mnt/data/*.db")]
struct LoadArgs {
    /// Name of the device-mapper device that holds the files' filesystem
    #[arg(value_name = "DM-NAME")]
    name: String,
    /// Regular files on that device
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
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
        RunsVerb::Load(args) => load(args, out),
        RunsVerb::Extents(args) => extents(args, out),
    }
}

fn facts(path: &Path) -> Result<FileFacts> {
    file::facts(path).with_context(|| path.display().to_string())
}

fn load(args: &LoadArgs, out: &mut impl Write) -> Result<()> {
    let name = &args.name;
    let targets = dm::targets(name).with_context(|| format!("{name} cannot be found"))?;
    if targets.is_empty() {
        return Err(UsageError(format!("{name} has no dieaware target")).into());
    }
    let device = dm::device_number(name)
        .with_context(|| format!("The device number of {name} is not known"))?;

    // All files are read first: nothing is loaded when one of them does not fit.
    let mut all = Vec::new();
    for path in &args.files {
        let facts = facts(path)?;
        if facts.device != device {
            return Err(UsageError(format!(
                "{}: its filesystem lies on the device {}, but {name} is {device}",
                path.display(),
                facts.device
            ))
            .into());
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
        for words in runs::messages(facts, &here) {
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
        serde_json::to_writer_pretty(&mut *out, &files)?;
        writeln!(out)?;
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
