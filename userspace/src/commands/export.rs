// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware export`: counters of all targets, and of the SSDs below them, for Prometheus. What can
//! be asked is there even if something else cannot be.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};
use clap::Args;

use super::common::Written;
use super::mapper;
use crate::device::nvme::dies::statistics;
use crate::device::nvme::Namespace;
use crate::export::{drives, targets, Text};
use crate::io_engine::foreign::Place;
use crate::io_engine::replace::replace;

/// Print the counters of all targets, and of the SSDs below them, for Prometheus
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  dieaware export --output /var/lib/prometheus/node-exporter/dieaware.prom"
)]
pub struct ExportArgs {
    /// Write a file, which is replaced as a whole, as node_exporter's textfile collector wants it
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// A disk that is no NVMe namespace, or does not tell, has no samples.
fn add_drive(text: &mut Text, disk: &Path) -> Result<()> {
    let Ok(namespace) = Namespace::open(disk) else {
        return Ok(());
    };
    let name = disk.file_name().unwrap_or_default().to_string_lossy();
    let known = statistics(&namespace)
        .with_context(|| format!("The counters of {} cannot be read", disk.display()))?;

    if let Some(known) = known {
        drives::add(text, &name, &known);
    }
    Ok(())
}

/// What is known, and what went wrong with the rest.
fn collect() -> Result<(Text, Vec<anyhow::Error>)> {
    let (mut text, mut wrong) = (Text::default(), Vec::new());

    for entry in mapper::all("status")? {
        match mapper::status(&entry.name, &entry.params) {
            Ok(status) => targets::add(
                &mut text,
                &entry.name,
                &entry.start_sectors.to_string(),
                &status,
            ),
            Err(err) => wrong.push(err),
        }
    }
    let tables = mapper::all("table")?;
    let disks: BTreeSet<_> = tables.iter().filter_map(mapper::disk).collect();
    for disk in disks {
        wrong.extend(add_drive(&mut text, &disk).err());
    }
    Ok((text, wrong))
}

/// The collector's folder need not be root's.
fn write_file(path: &Path, text: &str) -> Result<()> {
    let unwritten = || format!("{} cannot be written", path.display());
    let Some(place) = Place::of(path).with_context(unwritten)? else {
        Written::Samples.require_place(path)?;
        return replace(path, text.as_bytes()).with_context(unwritten);
    };

    if let Some(there) = place.open().with_context(unwritten)? {
        Written::Samples.require_in(path, Ok(there))?;
    }
    place.replace(text.as_bytes()).with_context(unwritten)
}

/// # Errors
///
/// When something cannot be asked; what could be is printed all the same.
pub fn run(args: &ExportArgs, out: &mut impl Write) -> Result<()> {
    let (text, mut wrong) = collect()?;

    match &args.output {
        // The collector reads what ends in .prom, so never what is not whole.
        Some(path) => write_file(path, &text.to_string())?,
        None => write!(out, "{text}")?,
    }
    out.flush()?;
    let Some(last) = wrong.pop() else {
        return Ok(());
    };
    for err in wrong {
        complain!("dieaware: {err:#}.");
    }
    bail!(last)
}
