// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware dump`: a device in log mode as text.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use super::check::{self, require_read};
use super::DamageFound;
use crate::format::dump::{dump, Part};

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
}

/// # Errors
///
/// When the device is damaged, or cannot be read.
pub fn run(args: &DumpArgs, out: &mut impl Write) -> Result<()> {
    let name = args.device.display();
    let device = check::open(&args.device, args.start)?;
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
