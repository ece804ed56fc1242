// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware restore`: metadata out of an exact dump. The dump is read twice: nothing is written
//! before all of it was found to be right.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use flate2::read::GzDecoder;

use super::common::{usage, Saying};
use super::overwrite;
use crate::device::block::Device;
use crate::format::exact::{ReadError, Reader};
use crate::format::restore::{is_empty, restore, restore_image, verify, Verified};
use crate::progress::Progress;

/// Write metadata to a device as an exact dump, or a pack, has it; data stays as it is
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  dieaware dump --exact /dev/nvme0n1 > before\n  \
    dieaware restore before /dev/nvme0n1"
)]
pub struct RestoreArgs {
    /// An exact dump, or a pack
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Block device or image file; a file that does not exist is made
    #[arg(value_name = "DEV")]
    device: PathBuf,
    /// First sector that the target is to use, a multiple of 8
    #[arg(long, value_name = "SECTORS", default_value_t = 0)]
    start: u64,
    /// Even if the device holds something else, or another log
    #[arg(long)]
    force: bool,
    /// Say what would be done and lost, and do nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    saying: Saying,
}

/// The text, whether it is packed or not.
fn open_text(path: &Path) -> Result<Box<dyn BufRead>> {
    let name = path.display();
    let mut magic = [0; 2];
    let mut file = File::open(path).with_context(|| format!("{name} cannot be opened"))?;
    let is_packed = file.read_exact(&mut magic).is_ok() && magic == [0x1f, 0x8b];

    file.rewind()
        .with_context(|| format!("{name} must be a file: it is read twice"))?;
    Ok(if is_packed {
        Box::new(BufReader::new(GzDecoder::new(BufReader::new(file))))
    } else {
        Box::new(BufReader::new(file))
    })
}

fn explain(path: &Path, err: ReadError) -> anyhow::Error {
    let name = path.display();
    match err {
        ReadError::Io(err) => anyhow::Error::from(err).context(format!("{name} was not restored")),
        wrong => usage(format!("{name} cannot be restored: {wrong}")),
    }
}

/// The beginning of a sentence on what the text lacks.
fn unread(text: &Verified) -> Option<String> {
    match text.nr_unreadable {
        0 => None,
        1 => Some("1 page could not be read when it was dumped, and".to_owned()),
        nr => Some(format!(
            "{nr} pages could not be read when it was dumped, and each of them"
        )),
    }
}

/// What could not be read becomes zero, and on the device that was dumped it may be whole, or be
/// read by the next try. Whether this is that one nothing says for certain: of a device that needs a dump,
/// its superblocks may be gone. One with nothing where they would lie is another one.
fn refuse_loss(args: &RestoreArgs, text: &Verified, device: &Device) -> Result<()> {
    let may_lose = |_: &String| !args.force && !is_empty(device, &text.superblock);
    match unread(text).filter(may_lose) {
        Some(unread) => Err(usage(format!(
            "{unread} may be whole on the device that was dumped: if {} is another one, or nothing can read it \
             there, --force makes it zero",
            args.device.display()
        ))),
        None => Ok(()),
    }
}

/// Say what would become of the device.
fn rehearse(args: &RestoreArgs, text: &Verified, out: &mut impl Write) -> Result<()> {
    let (path, start) = (&args.device, args.start);
    let log = &text.superblock;
    let name = path.display();

    match overwrite::open_if_there(path, start, log.nr_device_pages)? {
        None => writeln!(out, "{name} does not exist, and would be made")?,
        Some(device) => {
            let lost = overwrite::would_clear_for_log(path, start, args.force, &device, &log.uuid)?;
            refuse_loss(args, text, &device)?;
            overwrite::print_lost(path, &lost, out)?;
        }
    }
    writeln!(
        out,
        "would write the metadata of the log {} to {name}",
        log.uuid_text()
    )?;
    if let Some(unread) = unread(text) {
        writeln!(out, "{unread} would be zero")?;
    }
    Ok(())
}

/// # Errors
///
/// When the text is not what it must be, the device holds something else, or fails.
pub fn run(args: &RestoreArgs, out: &mut impl Write) -> Result<()> {
    let out = &mut args.saying.what_was_done(out, args.dry_run);
    let begin = || {
        let text = open_text(&args.file)?;
        Reader::new(text).map_err(|err| explain(&args.file, err))
    };
    let text = verify(begin()?).map_err(|err| explain(&args.file, err))?;
    let (path, start) = (&args.device, args.start);
    if args.dry_run {
        return rehearse(args, &text, out);
    }
    let log = &text.superblock;
    let is_new = fs::symlink_metadata(path).is_err();
    let device = overwrite::open_or_create(path, start, log.nr_device_pages)?;

    // Without --force it only refuses.
    overwrite::clear_for_log(path, start, args.force, &device, &log.uuid)?;
    if !is_new {
        refuse_loss(args, &text, &device)?;
    }
    let progress = Progress::new()?;
    progress.begin_pages("restoring");
    overwrite::whole(path, &device, &progress, |device| {
        let restored = if is_new {
            restore_image(begin()?, device)
        } else {
            restore(begin()?, device)
        };
        restored.map_err(|err| explain(&args.file, err))
    })?;
    if let Some(unread) = unread(&text) {
        complain!("dieaware: {}: {unread} is zero now.", path.display());
    }
    writeln!(out, "{}: restored; see \"dieaware check\"", path.display())?;
    Ok(())
}
