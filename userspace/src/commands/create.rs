// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware create`: a device with a dieaware target. All that can be found out is found out
//! before anything is changed, so that it can be shown without being done, and a refusal leaves all
//! as it was. A device that is there already as it is asked for is left as it is.

use std::fs;
use std::io::Write;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::common::{self, print_object, usage, DamageFound, Saying, UsageError};
use super::format::Features;
use super::mapper::CREATED;
use super::there::{self, Asked};
use super::{format, mapper, overwrite};
use crate::boot::dietab::{self, Entry};
use crate::boot::moves::{Moves, Moving, FOLDER};
use crate::device::block::Device;
use crate::device::nvme::Namespace;
use crate::device::signatures;
use crate::device::stack;
use crate::dm::life::{self, Info};
use crate::format::findings::Findings;
use crate::format::layout::SUPER_NEEDS_CHECK;
use crate::format::superblock::{Super, PAGE_SECTORS};
use crate::format::volume::{find_super, NoSuper};
use crate::units::SECTOR_BYTES;

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Mode {
    /// 1:1, with hints; what the device holds stays
    Hint,
    /// Random writes become sequential; the device holds a log, or is formatted by --format
    Log,
}

/// Make a device with a dieaware target on top of another device
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  dieaware create fast /dev/nvme0n1 --mode hint\n\n\
    Options of the target are in docs/dm-dieaware.rst, of log mode in docs/dm-dieaware-log.rst."
)]
pub struct CreateArgs {
    /// What it is called: /dev/mapper/NAME
    #[arg(value_name = "NAME")]
    name: String,
    /// The device below: an NVMe namespace, a partition, or any other block device
    #[arg(value_name = "DEV")]
    device: PathBuf,
    /// What the target does
    #[arg(long, value_enum)]
    mode: Mode,
    /// An option of the target, such as runs_mb=256 (may be repeated)
    #[arg(long = "option", value_name = "KEY=VALUE")]
    options: Vec<String>,
    /// First sector of DEV that the target uses, a multiple of 8
    #[arg(long, value_name = "SECTORS", default_value_t = 0)]
    start: u64,
    /// In log mode: format DEV first; what it holds is lost. Refused if it is known to hold something
    #[arg(long)]
    format: bool,
    /// Format it so that it keeps a checksum of each page of data; only together with --format
    #[arg(long, requires = "format")]
    checksums: bool,
    /// Format it for versions that know no drafts of the journal; only together with --format
    #[arg(long, requires = "format")]
    no_drafts: bool,
    /// Even if DEV holds something, or is a log already; only together with --format
    #[arg(long, requires = "format")]
    force: bool,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON for programs
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    saying: Saying,
}

impl CreateArgs {
    /// What a line of dietab(5) asks for. Nothing is formatted at boot.
    pub(super) fn of_entry(entry: &Entry) -> Self {
        Self {
            name: entry.name.clone(),
            device: entry.source.path().into(),
            mode: match entry.mode {
                dietab::Mode::Hint => Mode::Hint,
                dietab::Mode::Log => Mode::Log,
            },
            options: entry.options.clone(),
            start: entry.start_sectors,
            format: false,
            checksums: false,
            no_drafts: false,
            force: false,
            dry_run: false,
            json: false,
            saying: Saying::default(),
        }
    }

    /// A device that has moved here.
    pub(super) fn of_log(moving: &Moving, target: &Path) -> Self {
        Self {
            name: moving.log.clone(),
            device: target.to_owned(),
            mode: Mode::Log,
            options: moving.options.clone(),
            start: 0,
            format: false,
            checksums: false,
            no_drafts: false,
            force: false,
            dry_run: false,
            json: false,
            saying: Saying::default(),
        }
    }
}

/// What came of it.
#[derive(Serialize)]
struct Created<'a> {
    name: &'a str,
    path: String,
    table: String,
    /// It was made just now, and is not one that was there or that would be made.
    created: bool,
    formatted: bool,
    dry_run: bool,
    notes: Vec<String>,
}

impl<'a> Created<'a> {
    fn new(args: &'a CreateArgs, table: String, notes: Vec<String>) -> Self {
        Self {
            name: &args.name,
            path: format!("/dev/mapper/{}", args.name),
            table,
            created: false,
            formatted: false,
            dry_run: args.dry_run,
            notes,
        }
    }
}

/// What is going to be done.
struct Plan {
    /// Log mode: the device is to be formatted first.
    formats: bool,
    /// Log mode: what the device is already.
    superblock: Option<Super>,
    len_sectors: u64,
    /// What the user should know.
    notes: Vec<String>,
}

fn check_name(name: &str) -> Result<()> {
    // What is not allowed there dmsetup writes in another way: nobody would find the device by this name.
    dietab::check_name(name).map_err(usage)
}

/// Exclusively, so that a device in use is refused before anything is done.
fn open(args: &CreateArgs) -> Result<Device> {
    let name = args.device.display();
    let device = common::open(&args.device, args.start, false)?;

    if !device.is_block() {
        return Err(usage(format!(
            "{name} is a file; losetup makes a block device of it"
        )));
    }
    Ok(device)
}

/// Whether hints are going to be sent, in a sentence.
pub(super) fn hint_note(path: &Path) -> String {
    let name = path.display();
    let asked = stack::disk_of(path)
        .and_then(|disk| Namespace::open(&disk))
        .and_then(|namespace| namespace.id());

    match asked {
        Ok(Some(id)) if id.announces_hints() => {
            format!("{name} announces that it understands hints")
        }
        Ok(_) => format!(
            "{name} does not announce that it understands hints, so none are sent and nothing is \
             gained: dieaware doctor says what would help here"
        ),
        Err(_) => format!("{name} is no NVMe device that can be asked, so no hints are sent"),
    }
}

fn plan_hint(args: &CreateArgs, device: &Device) -> Plan {
    let mut notes = Vec::new();
    // No more than a sentence: the target needs no page that cannot be read.
    if signatures::is_log(device).unwrap_or(false) {
        notes.push(format!(
            "{} is formatted for log mode: its files are seen with --mode log only",
            args.device.display()
        ));
    }
    notes.push(hint_note(&args.device));
    Plan {
        formats: false,
        superblock: None,
        len_sectors: device.bytes() / SECTOR_BYTES,
        notes,
    }
}

/// The log that the device holds. What only could be none is not formatted: of much that people
/// keep on devices nobody knows the form, and names of devices change from boot to boot.
fn find_log(args: &CreateArgs, device: &Device) -> Result<Super> {
    let name = args.device.display();
    let found = find_super(device, &mut Findings::default())
        .with_context(|| format!("{name} cannot be used"))?;

    let why = match found {
        Ok(superblock) => return Ok(superblock),
        Err(why) => why,
    };
    // All of it may be there again once the device is as long as it was.
    if let NoSuper::Short { .. } = why {
        return Err(DamageFound(format!("{name} holds a log that cannot be used: {why}")).into());
    }
    if signatures::is_log(device).with_context(|| format!("{name} cannot be read"))? {
        return Err(DamageFound(format!(
            "{name} was formatted for log mode, but {why}; see \"dieaware check\""
        ))
        .into());
    }
    Err(usage(format!(
        "{name} is not formatted for log mode; --format does that, and what it holds is lost"
    )))
}

fn plan_format(args: &CreateArgs, device: &Device) -> Result<Plan> {
    if !args.force {
        overwrite::refuse_data(&args.device, args.start, device)?;
    }
    let features = Features {
        checksums: args.checksums,
        drafts: !args.no_drafts,
    };
    let superblock = format::lay_out(&args.device, args.start, features, device)?;
    Ok(Plan {
        formats: true,
        len_sectors: superblock.nr_lpns * u64::from(PAGE_SECTORS),
        superblock: Some(superblock),
        notes: vec![format!(
            "{} is formatted for log mode{}; what it holds is lost",
            args.device.display(),
            if args.checksums {
                " with checksums of data"
            } else {
                ""
            }
        )],
    })
}

/// A log to which a move was begun has a part of a filesystem that is whole where it was: nobody is to find
/// both by one UUID. Nor at boot, but where the record cannot be seen yet: in an initramfs, and
/// before /var is mounted. A unit cannot wait for that, as /var may lie on what it makes.
fn require_complete(args: &CreateArgs, superblock: &Super) -> Result<()> {
    let uuid = superblock.uuid_text();

    match Moves::new(Path::new(FOLDER)).incomplete(&uuid).context(FOLDER)? {
        None => Ok(()),
        Some(record) => Err(usage(format!(
            "{} holds the log {uuid}, an incomplete copy: a move to it was begun, which \"dieaware move\" as \
             before ends and \"dieaware move --undo\" takes back ({} is its record)",
            args.device.display(),
            record.display()
        ))),
    }
}

fn plan_log(args: &CreateArgs, device: &Device) -> Result<Plan> {
    let name = args.device.display();
    let superblock = find_log(args, device)?;
    require_complete(args, &superblock)?;
    let mut notes = vec![format!(
        "{name} holds the log {}, which is used as it is",
        superblock.uuid_text()
    )];

    if superblock.flags & SUPER_NEEDS_CHECK != 0 {
        notes.push(format!(
            "{name} needs a check: until \"dieaware check --clear-needs-check\" has found no \
             damage it can only be read"
        ));
    }
    Ok(Plan {
        formats: false,
        len_sectors: superblock.nr_lpns * u64::from(PAGE_SECTORS),
        superblock: Some(superblock),
        notes,
    })
}

impl Mode {
    fn word(self) -> &'static str {
        match self {
            Self::Hint => "hint",
            Self::Log => "log",
        }
    }
}

fn table_line(args: &CreateArgs, len_sectors: u64) -> String {
    let mode = args.mode.word();
    let mut line = mapper::table_line(len_sectors, args.device.display(), args.start, mode);

    if !args.options.is_empty() {
        line += &format!(" {} {}", args.options.len(), args.options.join(" "));
    }
    line
}

/// By it udev's rules know the device.
fn uuid(args: &CreateArgs, superblock: Option<&Super>) -> String {
    match superblock {
        None => format!("{CREATED}HINT-{}", args.name),
        Some(superblock) => log_uuid(superblock, &args.name),
    }
}

/// The same, of a device in log mode.
pub(super) fn log_uuid(superblock: &Super, name: &str) -> String {
    let uuid = superblock.uuid_text().replace('-', "");
    format!("{CREATED}LOG-{uuid}-{name}")
}

fn check_options(args: &CreateArgs) -> Result<()> {
    mapper::check_options(&args.options)?;
    if args.mode == Mode::Hint && args.format {
        return Err(usage("--format is about log mode"));
    }
    mapper::check_node(&args.device)
}

/// There is a device by that name already: that is all that was asked for, or another one.
fn leave(args: &CreateArgs, info: &Info, out: &mut impl Write) -> Result<()> {
    let name = &args.name;

    if args.format {
        return Err(usage(format!(
            "There is a device {name} already, so {} is not formatted",
            args.device.display()
        )));
    }
    let asked = Asked {
        name,
        device: &args.device,
        start_sectors: args.start,
        mode: args.mode.word(),
        options: &args.options,
    };
    let line = there::require_same(&asked, info)?;
    let note = format!("{name} is there already, and is left as it is");
    let left = Created::new(args, line, vec![note]);
    if args.json {
        print_object(out, &left)?;
        return Ok(());
    }
    for note in &left.notes {
        writeln!(out, "{note}")?;
    }
    writeln!(out, "{}: {}", left.path, left.table)?;
    Ok(())
}

/// What is found by the names that were given.
enum Found {
    /// A device that is called so already.
    There(Info),
    /// The device below, which nobody else has.
    Free(Device),
}

fn look(args: &CreateArgs) -> Result<Found> {
    let opened = open(args);
    let is_block = || fs::metadata(&args.device).is_ok_and(|is| is.file_type().is_block_device());

    match opened {
        // Who has it may be the device that is asked for.
        Err(err) if !(err.is::<UsageError>() && is_block()) => Err(err),
        opened => match mapper::info(&args.name)? {
            Some(info) => Ok(Found::There(info)),
            None => opened.map(Found::Free),
        },
    }
}

/// # Errors
///
/// When the device cannot be used, or device-mapper refuses.
pub fn run(args: &CreateArgs, out: &mut impl Write) -> Result<()> {
    let out = &mut args.saying.what_was_done(out, args.json || args.dry_run);
    check_name(&args.name)?;
    check_options(args)?;
    let device = match look(args)? {
        Found::There(info) => return leave(args, &info, out),
        Found::Free(device) => device,
    };
    let plan = match args.mode {
        Mode::Hint => plan_hint(args, &device),
        Mode::Log if args.format => plan_format(args, &device)?,
        Mode::Log => plan_log(args, &device)?,
    };
    let line = table_line(args, plan.len_sectors);

    let mut created = Created::new(args, line, plan.notes.clone());

    // What is lost is said before it is.
    if !args.json {
        for note in &created.notes {
            writeln!(out, "{note}")?;
        }
    }
    if args.dry_run {
        if args.json {
            print_object(out, &created)?;
        } else {
            writeln!(out, "would create {}: {}", args.name, created.table)?;
        }
        return Ok(());
    }
    mapper::require_target()?;
    // Format and the target want the device for themselves.
    drop(device);
    if let Some(superblock) = plan.superblock.as_ref().filter(|_| plan.formats) {
        format::write(&args.device, args.start, args.force, superblock)?;
    }
    let uuid = uuid(args, plan.superblock.as_ref());
    life::create(&args.name, &uuid, &created.table)
        .map_err(|err| mapper::not_taken(err, format!("{} was not created", args.name)))?;
    if args.json {
        created.created = true;
        created.formatted = plan.formats;
        print_object(out, &created)?;
    } else {
        writeln!(out, "{}: {}", created.path, created.table)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{find_log, plan_format, CreateArgs, DamageFound, Mode};
    use crate::commands::common::{Saying, UsageError};
    use crate::commands::overwrite::pressing::empty_log;
    use crate::device::block::{Device, OpenHow};
    use crate::units::PAGE_BYTES;

    const NR_PAGES: u64 = 4096;

    fn args(device: &Path) -> CreateArgs {
        CreateArgs {
            name: "it".to_owned(),
            device: device.to_owned(),
            mode: Mode::Log,
            options: Vec::new(),
            start: 0,
            format: false,
            checksums: false,
            no_drafts: false,
            force: false,
            dry_run: false,
            json: false,
            saying: Saying::default(),
        }
    }

    #[test]
    fn a_log_on_a_device_that_became_shorter_is_not_formatted_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("image");
        fs::write(&path, empty_log(NR_PAGES).into_bytes()).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();

        for nr_pages in [NR_PAGES - 1, NR_PAGES] {
            file.set_len(nr_pages * PAGE_BYTES).unwrap();
            let device = Device::open(&path, 0, OpenHow::default()).unwrap();
            let found = find_log(&args(&path), &device);
            if nr_pages == NR_PAGES {
                assert!(found.is_ok());
                continue;
            }
            let err = found.unwrap_err();
            let said = err.to_string();
            assert!(err.is::<DamageFound>() && !said.contains("--format"));
            assert!(said.contains("it has 4095 pages, but was formatted with 4096"));
        }
    }

    #[test]
    fn features_are_those_that_were_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("image");
        let file = fs::File::create(&path).unwrap();
        file.set_len(4 * NR_PAGES * PAGE_BYTES).unwrap();
        let device = Device::open(&path, 0, OpenHow::default()).unwrap();
        for (checksums, no_drafts) in [(false, false), (true, false), (false, true)] {
            let args = CreateArgs {
                format: true,
                // Nobody is asked what the device holds.
                force: true,
                checksums,
                no_drafts,
                ..args(&path)
            };
            let plan = plan_format(&args, &device).unwrap();
            assert!(plan.formats);
            let superblock = plan.superblock.unwrap();
            assert_eq!(superblock.has_checksums(), checksums);
            assert_eq!(superblock.has_drafts(), !no_drafts);
            assert_eq!(plan.notes[0].contains("with checksums"), checksums);
        }
    }

    #[test]
    fn what_is_no_log_is_not_taken_for_an_empty_device() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("image");
        let bytes = (NR_PAGES * PAGE_BYTES) as usize;
        for byte in [0, 0x5a] {
            fs::write(&path, vec![byte; bytes]).unwrap();
            let device = Device::open(&path, 0, OpenHow::default()).unwrap();
            let err = find_log(&args(&path), &device).unwrap_err();
            assert!(err.is::<UsageError>() && err.to_string().contains("--format does that"));
        }
        // Both superblocks are damaged, and everything else is there.
        let mut log = empty_log(NR_PAGES).into_bytes();
        for dpn in [0, 16] {
            log[(dpn * PAGE_BYTES) as usize + 100] ^= 1;
        }
        fs::write(&path, log).unwrap();
        let device = Device::open(&path, 0, OpenHow::default()).unwrap();
        let err = find_log(&args(&path), &device).unwrap_err();
        assert!(err.is::<DamageFound>() && !err.to_string().contains("--format"));
    }
}
