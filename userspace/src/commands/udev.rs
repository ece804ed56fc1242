// SPDX-License-Identifier: GPL-2.0-only
//! `dieaware udev`: what udev's rules want to know of a block device, as lines KEY=VALUE. libblkid
//! does not know log mode, and takes what is below a target in hint mode for what lies on that; see
//! docs/boot.md.

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;

use crate::boot::dietab::{self, encode_link, Entry, Mode};
use crate::boot::parameter;
use crate::device::block::{Device, OpenHow};
use crate::format::layout::{SUPER_DPN_A, SUPER_DPN_B};
use crate::format::superblock::Super;
use crate::io_engine::pages::ReadPages;

/// Tell udev's rules what a device is
#[derive(Args, Debug)]
pub struct UdevArgs {
    /// The device's node
    #[arg(value_name = "DEV")]
    device: PathBuf,
    /// Its other names, parted by blanks [default: $DEVLINKS, which udev sets]
    #[arg(long, value_name = "LINKS")]
    links: Option<String>,
    /// Print those of its other names by which it may be found although nobody is to mount it
    #[arg(long)]
    hidden: bool,
}

/// Where names are that a filesystem gives to what it lies on.
const NAMES_OF_CONTENTS: [&str; 2] = ["disk/by-uuid/", "disk/by-label/"];

/// The newer superblock of a device in log mode. Of two that are there one is enough.
///
/// # Errors
///
/// When none was found, and one could not be read.
pub fn superblock(device: &impl ReadPages) -> io::Result<Option<Super>> {
    let mut newest: Option<Super> = None;
    let mut unread = None;

    for dpn in [SUPER_DPN_A, SUPER_DPN_B] {
        if dpn >= device.nr_pages() {
            continue;
        }
        match device.read_page(dpn) {
            Ok(page) => {
                let found = Super::decode(&page, dpn).ok();
                newest = newest.into_iter().chain(found).max_by_key(|s| s.epoch);
            }
            Err(err) => unread = Some(err),
        }
    }
    match unread {
        Some(err) if newest.is_none() => Err(err),
        _ => Ok(newest),
    }
}

fn print_log(superblock: &Super, out: &mut impl Write) -> io::Result<()> {
    let label = String::from_utf8_lossy(&superblock.label);
    let label = label.trim_end_matches('\0');

    writeln!(out, "ID_FS_TYPE=dieaware_log")?;
    writeln!(out, "ID_FS_USAGE=raid")?;
    writeln!(out, "ID_FS_UUID={}", superblock.uuid_text())?;
    writeln!(out, "ID_FS_UUID_ENC={}", superblock.uuid_text())?;
    if !label.is_empty() {
        writeln!(out, "ID_FS_LABEL={}", encode_link(label))?;
        writeln!(out, "ID_FS_LABEL_ENC={}", encode_link(label))?;
    }
    Ok(())
}

/// The line of dietab(5) whose source the device is, in hint mode and as a whole: what is on
/// both has the same UUID.
fn hint_entry<'a>(entries: &'a [Entry], node: &str, links: &str) -> Option<&'a Entry> {
    entries.iter().find(|entry| {
        let path = entry.source.path();
        entry.mode == Mode::Hint
            && entry.start_sectors == 0
            && (path == node || links.split_whitespace().any(|link| link == path))
    })
}

/// Links, as rules have them, that say nothing of what the device holds.
fn links_to_keep(links: &str) -> String {
    let relative = links
        .split_whitespace()
        .map(|link| link.strip_prefix("/dev/").unwrap_or(link));
    let kept: Vec<_> = relative
        .filter(|link| {
            !NAMES_OF_CONTENTS
                .iter()
                .any(|folder| link.starts_with(folder))
        })
        .collect();

    kept.join(" ")
}

/// # Errors
///
/// When the device cannot be read.
pub fn run(args: &UdevArgs, out: &mut impl Write) -> Result<()> {
    let links = args
        .links
        .clone()
        .or_else(|| env::var("DEVLINKS").ok())
        .unwrap_or_default();
    if args.hidden {
        writeln!(out, "DIEAWARE_LINKS={}", links_to_keep(&links))?;
        return Ok(());
    }
    let entries = if parameter::is_off() {
        Vec::new()
    } else {
        let text = dietab::read(Path::new(dietab::PATH)).unwrap_or_default();
        dietab::parse(&text).into_iter().flatten().collect()
    };

    if let Some(entry) = hint_entry(&entries, &args.device.to_string_lossy(), &links) {
        writeln!(out, "DIEAWARE_MEMBER={}", entry.name)?;
    } else if let Some(superblock) =
        superblock(&Device::open(&args.device, 0, OpenHow::default())?)?
    {
        print_log(&superblock, out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{hint_entry, links_to_keep, print_log};
    use crate::boot::dietab::{parse, Source, Tag};
    use crate::format::superblock::Super;

    #[test]
    fn a_source_is_known_by_any_of_its_names() {
        let text = "a /dev/disk/by-id/x hint\nb /dev/sdb log\nc /dev/sdc hint start=8\n";
        let entries: Vec<_> = parse(text).into_iter().flatten().collect();
        let name = |node, links| hint_entry(&entries, node, links).map(|e| e.name.clone());
        assert_eq!(
            name("/dev/sda", "/dev/y /dev/disk/by-id/x").as_deref(),
            Some("a")
        );
        assert_eq!(name("/dev/disk/by-id/x", "").as_deref(), Some("a"));
        assert_eq!(name("/dev/sda", "/dev/disk/by-id/xy"), None);
        assert_eq!(name("/dev/sdb", ""), None);
        assert_eq!(name("/dev/sdc", ""), None);
    }

    #[test]
    fn a_label_is_what_dietab_looks_for() {
        for label in ["Gr\u{f6}\u{df}e", "a b"] {
            let mut superblock = Super::default();
            let bytes = superblock.label.iter_mut().zip(label.bytes());
            bytes.for_each(|(byte, of_label)| *byte = of_label);
            let mut out = Vec::new();
            print_log(&superblock, &mut out).unwrap();
            let said = String::from_utf8(out).unwrap();
            let link = said
                .lines()
                .find_map(|line| line.strip_prefix("ID_FS_LABEL_ENC="));
            let source = Source::Tag(Tag::Label, label.to_owned());
            assert_eq!(
                source.path(),
                format!("/dev/disk/by-label/{}", link.unwrap())
            );
        }
    }

    #[test]
    fn names_of_what_it_holds_are_not_kept() {
        assert_eq!(
            links_to_keep(
                "/dev/disk/by-id/x /dev/disk/by-uuid/1-2 /dev/vg/by-uuid /dev/disk/by-label/a\\x20b \
                 /dev/disk/by-partuuid/3"
            ),
            "disk/by-id/x vg/by-uuid disk/by-partuuid/3"
        );
        assert_eq!(links_to_keep("/dev/disk/by-uuid/1-2"), "");
        assert_eq!(links_to_keep(""), "");
    }
}
