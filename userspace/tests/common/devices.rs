// SPDX-License-Identifier: GPL-2.0-only
//! Devices that the core has used, and ways to damage them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use dieaware::format::block::{self, BlockId};
use dieaware::format::check::{Options, Report};
use dieaware::format::findings::{Findings, Severity, Subject};
use dieaware::format::layout::{number_of, Page, BLOCK_BYTES, DPN_BYTES, SECTOR_BYTES};
use dieaware::format::map::{self, Entry};
use dieaware::format::root::SlotEntry;
use dieaware::format::segments::State;
use dieaware::format::superblock::Table;
use dieaware::format::volume::Volume;
use dieaware::io_engine::pages::{Ram, ReadPages, WritePages};

use super::{core_program, dieaware, folder, output_of, stderr, stdout, Random};

/// Pages of the devices that the core's program makes.
pub const DEVICE_PAGES: u64 = 2960;

/// Let the core use a device by that program; returns what it says about it then.
pub fn use_device(
    program: &str,
    seed: u32,
    crashes: u32,
    path: &Path,
    formatted: Option<&str>,
) -> String {
    // A checkpoint begins at each 40th step and ends with the third one behind.
    let steps = [200, 203, 204, 210][seed as usize / 2 % 4].to_string();
    let (seed, crashes) = (seed.to_string(), crashes.to_string());
    let mut args = vec![seed.as_str(), &crashes, &steps, path.to_str().unwrap()];
    args.extend(formatted);
    output_of(&core_program(program), &args, "")
}

/// Devices of these tests.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Plain,
    /// With checksums, and data that has them.
    Sums,
}

impl Kind {
    pub const ALL: [Self; 2] = [Self::Plain, Self::Sums];

    /// The core's programs for it.
    pub fn make_image(self) -> &'static str {
        match self {
            Self::Plain => "make_image",
            Self::Sums => "make_sums_image",
        }
    }

    pub fn open_image(self) -> &'static str {
        match self {
            Self::Plain => "open_image",
            Self::Sums => "open_sums_image",
        }
    }

    /// One that was in use, with checkpoints, open segments and a journal.
    pub fn device(self) -> Ram {
        static BYTES: [OnceLock<Vec<u8>>; 2] = [OnceLock::new(), OnceLock::new()];
        let bytes = BYTES[self as usize].get_or_init(|| {
            let path = folder(&format!("check-used-{self:?}")).join("image");
            use_device(self.make_image(), 8, 1, &path, None);
            let device = Ram::new(fs::read(path).unwrap());
            put_data(&device);
            device.into_bytes()
        });
        Ram::new(bytes.clone())
    }
}

pub fn used_device() -> Ram {
    Kind::Plain.device()
}

/// The core's programs write none.
pub fn put_data(device: &Ram) {
    let volume = volume_of(device);

    if !volume.superblock.has_checksums() {
        return;
    }
    map::for_each_page(device, &volume, &mut Findings::default(), |page, _| {
        for (_, entry) in page.mapped() {
            device.write(entry.dpn, &block::page_with_crc32c(entry.dpn, entry.sum))?;
        }
        Ok(())
    })
    .unwrap();
}

pub fn volume_of(device: &Ram) -> Volume {
    Volume::load(device, &mut Findings::default())
        .unwrap()
        .unwrap()
}

/// Where the valid page of a table lies.
pub fn place_of(volume: &Volume, table: Table, index: u64) -> u64 {
    let entry = entry_of(volume, table, index);
    assert!(!entry.is_absent());
    volume
        .superblock
        .slot_dpn(table, index, entry.slot())
        .unwrap()
}

pub fn entry_of(volume: &Volume, table: Table, index: u64) -> SlotEntry {
    match table {
        Table::Segments => volume.root.segments[index as usize],
        Table::Open => volume.root.open[index as usize],
        Table::Directory => volume.root.directory[index as usize],
        Table::Map => volume.map_slots[index as usize].unwrap(),
    }
}

pub fn change(device: &Ram, dpn: u64, how: impl FnOnce(&mut Page)) {
    let mut page = device.read_page(dpn).unwrap();
    how(&mut page);
    device.write(dpn, &page).unwrap();
}

/// Change a page so that its header fits what it has then.
pub fn change_well(device: &Ram, dpn: u64, how: impl FnOnce(&mut Page)) {
    change(device, dpn, |page| {
        how(page);
        let header = block::header(page).unwrap().clone();
        let id = BlockId {
            magic: header.magic.get(),
            nr_entries: header.nr_entries.get(),
            dpn: header.dpn.get(),
            index: header.index.get(),
            seq: header.seq.get(),
            epoch: header.epoch.get(),
            uuid: &header.uuid,
        };
        block::seal(page, &id);
    });
}

pub fn flip(device: &Ram, dpn: u64, at: usize) {
    change(device, dpn, |page| page[at] ^= 0x40);
}

/// Pages that the tool reads of a device, without data.
pub fn metadata_pages(volume: &Volume) -> Vec<u64> {
    let superblock = &volume.superblock;
    let data_pages = u64::from(superblock.data_pages());
    let mut pages: Vec<u64> = vec![0, 16];
    pages.extend(32..superblock.segment_dpn(0).unwrap());
    let segments = 0..superblock.nr_segments();
    pages.extend(segments.map(|number| superblock.segment_dpn(number).unwrap() + data_pages));
    pages
}

/// Put the right checksum to a page or a sector that was changed.
pub fn reseal(device: &Ram, volume: &Volume, dpn: u64) {
    let journal = volume.superblock.journal_dpn;
    let journal = journal..journal + u64::from(volume.superblock.journal_sectors / 8);

    if !journal.contains(&dpn) {
        change_well(device, dpn, |_| {});
        return;
    }
    let seed = block::crc32c(!0, &volume.superblock.uuid);
    change(device, dpn, |page| {
        for sector in page.chunks_exact_mut(SECTOR_BYTES) {
            let crc = block::crc32c(seed, &sector[4..]);
            sector[..4].copy_from_slice(&crc.to_le_bytes());
        }
    });
}

pub fn file_with(name: &str, device: Ram) -> PathBuf {
    let path = folder(name).join("image");
    fs::write(&path, device.into_bytes()).unwrap();
    path
}

/// A device some pages of which cannot be read.
pub struct Failing {
    pub device: Ram,
    pub bad: Vec<u64>,
}

impl ReadPages for Failing {
    fn nr_pages(&self) -> u64 {
        self.device.nr_pages()
    }

    fn read(&self, dpn: u64, pages: &mut [u8]) -> std::io::Result<()> {
        let end = dpn + (pages.len() / BLOCK_BYTES) as u64;
        if self.bad.iter().any(|bad| (dpn..end).contains(bad)) {
            return Err(std::io::Error::from_raw_os_error(5));
        }
        self.device.read(dpn, pages)
    }
}

/// Change a byte somewhere, most often so that the checksum fits.
pub fn change_somewhere(device: &Ram, volume: &Volume, pages: &[u64], random: &mut Random) -> u64 {
    loop {
        let dpn = pages[random.below(pages.len() as u64) as usize];
        if device.read_page(dpn).unwrap() == [0; BLOCK_BYTES] {
            continue;
        }
        // Most often among the first entries, of which some are in use; checksums lie far behind
        let at = match random.below(4) {
            0 => 64 + random.below(BLOCK_BYTES as u64 - 64),
            _ => 64 + random.below(300),
        };
        let bits = 1 << random.below(8);
        change(device, dpn, |page| page[at as usize] ^= bits);
        if random.below(4) != 0 {
            reseal(device, volume, dpn);
        }
        return dpn;
    }
}

/// The tool's words for what the core prints.
pub fn dump_like_core(path: &str) -> String {
    let output = dieaware(&["dump", "--part", COMMON_PARTS, path]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    let lines = text
        .lines()
        .filter(|line| !line.starts_with("record ") && !line.starts_with('#'));
    lines.map(|line| format!("{line}\n")).collect()
}

/// The tool and the core say the same of the device, and it is sound.
pub fn agree(path: &Path, core_says: &str, what: &str) {
    let path = path.to_str().unwrap();
    let output = dieaware(&["check", path]);
    assert_eq!(output.status.code(), Some(0), "{what}: {}", stdout(&output));
    assert!(dump_like_core(path) == core_says, "{what}");
}

/// Change the entry of a segment in its table.
pub fn change_segment(device: &Ram, volume: &Volume, number: u64, how: impl FnOnce(&mut [u8])) {
    change_well(device, place_of(volume, Table::Segments, 0), |page| {
        let at = 64 + number as usize * 16;
        how(&mut page[at..at + 16]);
    });
}

/// Parts of a dump that the core prints, too.
pub const COMMON_PARTS: &str = "journal,segments,map,summaries";

/// Without data.
pub fn check(device: &Ram) -> Report {
    dieaware::format::check(device, &Options::default()).unwrap()
}

/// The check of a changed device finds this.
pub fn expect(device: &Ram, severity: Severity, subject: Subject, words: &str) {
    let report = check(device);
    let found = report.findings.iter().any(|finding| {
        finding.severity == severity
            && finding.subject == subject
            && finding.sentence.contains(words)
    });
    assert!(found, "{words:?} is not in {:#?}", report.findings);
    assert_eq!(report.is_clean(), severity != Severity::Damage);
    for finding in &report.findings {
        let sentence = &finding.sentence;
        assert!(
            sentence.ends_with('.') && !sentence.starts_with(char::is_lowercase)
                || sentence.starts_with("lpn "),
            "{sentence}"
        );
    }
}

/// An lpn that the journal leaves alone, and where it is.
pub fn quiet_lpn(device: &Ram, volume: &Volume) -> (u64, u64) {
    let page = device.read_page(place_of(volume, Table::Map, 0)).unwrap();
    let mut found = None;
    map::for_each_page(device, volume, &mut Findings::default(), |after, _| {
        for (lpn, Entry { dpn, .. }) in after.mapped() {
            let at = 64 + lpn as usize * DPN_BYTES;
            let is_known = lpn < volume.superblock.map_entries() as u64
                && number_of(&page[at..at + DPN_BYTES]) == dpn;
            let segment = volume.superblock.segment_of(dpn).unwrap().0;
            let state = volume.segments.get(segment).unwrap().state;
            if is_known && state == State::Closed {
                found = found.or(Some((lpn, dpn)));
            }
        }
        Ok(())
    })
    .unwrap();
    found.unwrap()
}
