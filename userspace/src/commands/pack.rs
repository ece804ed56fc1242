// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware pack`: all metadata in one small file, for a report of a bug.

use std::fs::OpenOptions;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use flate2::write::GzEncoder;
use flate2::Compression;

use super::check::{self, require_read};
use super::dump::explain;
use super::UsageError;
use crate::format::exact;

/// Put all metadata of a device in log mode, and none of its data, into a small file
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dieaware pack /dev/nvme0n1 report.gz\n  \
    dieaware unpack report.gz image && dieaware check image")]
pub struct PackArgs {
    /// Block device or image file
    #[arg(value_name = "DEV")]
    device: PathBuf,
    /// The file to write: an exact dump, compressed by gzip
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// First sector that the target uses, as in its table line
    #[arg(long, value_name = "SECTORS", default_value_t = 0)]
    start: u64,
    /// Even if the file exists
    #[arg(long)]
    force: bool,
}

fn create(path: &Path, force: bool) -> Result<std::fs::File> {
    let mut how = OpenOptions::new();
    how.write(true).create(true);
    let how = if force {
        how.truncate(true)
    } else {
        how.create_new(true)
    };

    how.open(path).map_err(|err| match err.kind() {
        ErrorKind::AlreadyExists => {
            UsageError(format!("{} exists; --force replaces it", path.display())).into()
        }
        _ => anyhow::Error::from(err).context(format!("{} cannot be written", path.display())),
    })
}

/// # Errors
///
/// When the device cannot be read, or the file not be written.
pub fn run(args: &PackArgs, out: &mut impl Write) -> Result<()> {
    let device = check::open(&args.device, args.start)?;
    let file = BufWriter::new(create(&args.file, args.force)?);
    let mut packed = GzEncoder::new(file, Compression::default());
    let name = args.file.display();

    let outcome = exact::dump(&device, &mut packed).map_err(|err| explain(&args.device, err))?;
    packed
        .finish()
        .and_then(|mut file| file.flush())
        .with_context(|| format!("{name} cannot be written"))?;
    writeln!(out, "{name}: {} pages of metadata", outcome.nr_pages)?;
    out.flush()?;
    require_read(&args.device, outcome.nr_unreadable)
}
