// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware dump`: a device in log mode as text, for people who want to see what is wrong, and
//! exactly, so that `restore` makes the same bytes of it.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;

use super::common::{self, no_superblock, require_read, DamageFound};
use super::log_device;
use crate::device::block::{Device, OpenHow};
use crate::format::dump::{dump, Part};
use crate::format::exact::{self, DumpError};
use crate::io_engine::pages::Watched;

/// Print what a device in log mode has, as text; nothing is written to it
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  dieaware dump --part map /dev/nvme0n1")]
pub struct DumpArgs {
    /// Block device or image file
    #[arg(value_name = "DEV")]
    device: PathBuf,
    /// First sector that the target uses, as in its table line
    #[arg(long, value_name = "SECTORS", default_value_t = 0)]
    start: u64,
    /// Only these parts, separated by commas
    #[arg(long = "part", value_name = "PART", value_delimiter = ',')]
    parts: Vec<Part>,
    /// Print every page of metadata as it is, so that "dieaware restore" makes the same
    /// bytes of it
    #[arg(long, conflicts_with = "parts")]
    exact: bool,
}

/// Why there is no exact dump; so many reads have failed.
pub fn explain(path: &Path, err: DumpError, nr_failed_reads: u64) -> anyhow::Error {
    let name = path.display();
    match err {
        DumpError::NoSuperblock(why) => no_superblock(path, "dumped", &why, nr_failed_reads),
        DumpError::Device(err) | DumpError::Text(err) => {
            anyhow::Error::from(err).context(format!("{name} was not dumped to the end"))
        }
    }
}

fn run_exact(args: &DumpArgs, device: &Device, out: &mut impl Write) -> Result<()> {
    let device = Watched::new(device);
    let outcome =
        exact::dump(&device, out).map_err(|err| explain(&args.device, err, device.nr_failed()))?;

    out.flush()?;
    require_read(&args.device, outcome.nr_unreadable)
}

/// Only a superblock is read of a device in use: there are two of them, and the target writes each
/// as a whole.
fn open(args: &DumpArgs) -> Result<Device> {
    if args.parts != [Part::Superblock] {
        return log_device::open(&args.device, args.start, false);
    }
    common::require_start(args.start)?;
    let device = Device::open(&args.device, args.start, OpenHow::default())
        .with_context(|| format!("{} cannot be opened", args.device.display()))?;

    log_device::require_own(&args.device, &device)?;
    Ok(device)
}

/// # Errors
///
/// When the device is damaged, is in use, or cannot be read.
pub fn run(args: &DumpArgs, out: &mut impl Write) -> Result<()> {
    let name = args.device.display();
    let device = open(args)?;
    if args.exact {
        return run_exact(args, &device, out);
    }
    let parts = if args.parts.is_empty() {
        &Part::ALL[..]
    } else {
        &args.parts
    };

    let missing = dump(&device, parts, out).with_context(|| format!("{name} cannot be dumped"))?;
    out.flush()?;
    require_read(&args.device, missing.nr_failed_reads)?;
    if missing.nr_damages == 0 {
        return Ok(());
    }
    Err(DamageFound(format!(
        "{name} is damaged: the lines at the end that begin with # say how"
    ))
    .into())
}
