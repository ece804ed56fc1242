// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware pack`: all metadata in one small file, for a report of a bug.

use std::fs;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use flate2::write::GzEncoder;
use flate2::Compression;

use super::common::{is_same, require_read, usage, Saying};
use super::dump::explain;
use super::log_device;
use crate::format::exact::{self, DumpError};
use crate::io_engine::pages::Watched;
use crate::io_engine::replace::Replacement;
use crate::io_engine::shown::Shown;
use crate::progress::Progress;

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
    #[command(flatten)]
    saying: Saying,
}

fn exists(path: &Path) -> anyhow::Error {
    usage(format!("{} exists; --force replaces it", path.display()))
}

/// Begin to write the file. Nothing that is there is lost by that.
fn begin(args: &PackArgs) -> Result<Replacement> {
    let name = args.file.display();

    if is_same(&args.device, &args.file) {
        return Err(usage(format!(
            "{name} is {} itself: the pack goes to another file",
            args.device.display()
        )));
    }
    if !args.force && fs::symlink_metadata(&args.file).is_ok() {
        return Err(exists(&args.file));
    }
    Replacement::begin(&args.file).map_err(|err| match err.kind() {
        ErrorKind::InvalidInput => usage(format!("{name} is not a regular file: a pack is one")),
        _ => anyhow::Error::from(err).context(format!("{name} cannot be written")),
    })
}

/// # Errors
///
/// When the device cannot be read, or the file not be written.
pub fn run(args: &PackArgs, out: &mut impl Write) -> Result<()> {
    let out = &mut args.saying.what_was_done(out, false);
    let mut file = begin(args)?;
    let device = log_device::open(&args.device, args.start, false)?;
    let progress = Progress::new()?;
    let name = args.file.display();
    let failed = || format!("{name} cannot be written");

    progress.begin_pages("packing");
    let mut packed = GzEncoder::new(BufWriter::new(&mut file), Compression::default());
    let device = Watched::new(&device);
    let dumped = exact::dump(&Shown::new(&device, &progress), &mut packed);
    progress.go_on()?;
    let outcome = dumped.map_err(|err| match err {
        DumpError::Text(err) => anyhow::Error::from(err).context(failed()),
        err => explain(&args.device, err, device.nr_failed()),
    })?;
    packed
        .finish()
        .and_then(|mut file| file.flush())
        .with_context(failed)?;
    file.finish(args.force).map_err(|err| match err.kind() {
        ErrorKind::AlreadyExists => exists(&args.file),
        _ => anyhow::Error::from(err).context(failed()),
    })?;
    drop(progress);
    writeln!(out, "{name}: {} pages of metadata", outcome.nr_pages)?;
    out.flush()?;
    require_read(&args.device, outcome.nr_unreadable)
}
