// SPDX-License-Identifier: GPL-2.0-only
//! A device in log mode as text, as it is after the journal. `docs/format.md` says what
//! the lines mean.

use std::fmt;
use std::io::{self, Write};

use super::check::read_summary;
use super::findings::{Findings, Severity, Subject};
use super::journal::{self, Operation};
use super::map::{self, Entry};
use super::records::{sum_of, Record};
use super::segments::State;
use super::summary::Written;
use super::superblock::Super;
use super::volume::{read_super, Volume};
use crate::io_engine::pages::{ReadPages, Watched};

/// Version of the text.
pub const DUMP_VERSION: u32 = 1;

/// A part of the text; they come in this order.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub enum Part {
    Superblock,
    Root,
    Journal,
    Segments,
    Map,
    Summaries,
}

impl Part {
    pub const ALL: [Self; 6] = [
        Self::Superblock,
        Self::Root,
        Self::Journal,
        Self::Segments,
        Self::Map,
        Self::Summaries,
    ];
}

/// Bytes between quotation marks: what is no printable ASCII is written as `\xHH`.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for byte in self.0.bytes() {
            match byte {
                b'"' | b'\\' => write!(f, "\\{}", char::from(byte))?,
                b' '..=b'~' => write!(f, "{}", char::from(byte))?,
                _ => write!(f, "\\x{byte:02x}")?,
            }
        }
        f.write_str("\"")
    }
}

fn dump_superblock(superblock: &Super, out: &mut impl Write) -> io::Result<()> {
    let [even, odd] = superblock.root_dpn;

    write!(
        out,
        "superblock uuid={} label={} epoch={} flags={:#x}",
        superblock.uuid_text(),
        Quoted(&superblock.label_text()),
        superblock.epoch,
        superblock.flags
    )?;
    if superblock.has_checksums() {
        write!(out, " checksums=1")?;
    }
    if superblock.has_drafts() {
        write!(out, " drafts=1")?;
    }
    writeln!(out)?;
    writeln!(
        out,
        "features compat={:#x} ro_compat={:#x} incompat={:#x}",
        superblock.compat, superblock.ro_compat, superblock.incompat
    )?;
    writeln!(
        out,
        "sizes device_pages={} lpns={} segment_pages={} summary_pages={} stripe_pages={} \
         journal_sectors={} journal_unit_sectors={} root_pages={}",
        superblock.nr_device_pages,
        superblock.nr_lpns,
        superblock.segment_pages,
        superblock.summary_pages,
        superblock.stripe_pages,
        superblock.journal_sectors,
        superblock.journal_unit_sectors,
        superblock.root_pages
    )?;
    writeln!(
        out,
        "places root_even={even} root_odd={odd} journal={}",
        superblock.journal_dpn
    )?;
    for area in &superblock.areas {
        writeln!(
            out,
            "area tables={} segment_pages={} open_pages={} directory_pages={} map_pages={} \
             segments={} nr_segments={}",
            area.tables_dpn,
            area.nr_segment_pages,
            area.nr_open_pages,
            area.nr_directory_pages,
            area.nr_map_pages,
            area.segments_dpn,
            area.nr_segments
        )?;
    }
    Ok(())
}

fn dump_root(volume: &Volume, out: &mut impl Write) -> io::Result<()> {
    let root = &volume.root;

    writeln!(
        out,
        "root epoch={} journal_sector={} next_seq={} chain={:#010x} clean={} pages_written={}",
        root.epoch,
        root.journal.sector,
        root.journal.seq,
        root.journal.chain,
        u8::from(root.is_clean),
        root.pages_written
    )
}

fn dump_operation(operation: &Operation, out: &mut impl Write) -> io::Result<()> {
    let Operation { seq, sector, .. } = operation;

    for record in &operation.records {
        write!(out, "record seq={seq} sector={sector} {record}")?;
        if matches!(record, Record::Map { .. }) && !operation.sums.is_empty() {
            write!(out, " sums={:#010x}", sum_of(!0, &operation.sums))?;
        }
        if let (Record::Map { .. }, Some(sum)) = (record, operation.draft) {
            write!(out, " draft={sum:#010x}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn dump_journal(device: &impl ReadPages, volume: &Volume, out: &mut impl Write) -> io::Result<()> {
    let mut failed = None;
    // What is wrong with the journal was found when it was read first.
    let mut ignored = Findings::default();

    journal::read(
        device,
        &volume.superblock,
        volume.root.journal,
        &mut ignored,
        |operation| {
            dump_operation(operation, out).map_err(|err| {
                failed = Some(err);
                String::new()
            })
        },
    );
    match failed {
        Some(err) => Err(err),
        None => writeln!(out, "journal next_seq={}", volume.journal.next_seq),
    }
}

fn dump_segments(volume: &Volume, out: &mut impl Write) -> io::Result<()> {
    for (number, segment) in volume.segments.iter() {
        writeln!(
            out,
            "segment {number} state={} valid={} open={} mtime={}",
            segment.state, segment.nr_valid, segment.open, segment.mtime
        )?;
    }
    Ok(())
}

/// lpns at consecutive places.
struct Extent {
    lpn: u64,
    dpn: u64,
    nr_pages: u64,
    /// Of their checksums.
    sum: u32,
}

impl Extent {
    fn print(&self, has_checksums: bool, out: &mut impl Write) -> io::Result<()> {
        if self.nr_pages == 0 {
            return Ok(());
        }
        write!(
            out,
            "map lpn={} dpn={} pages={}",
            self.lpn, self.dpn, self.nr_pages
        )?;
        if has_checksums {
            write!(out, " sums={:#010x}", self.sum)?;
        }
        writeln!(out)
    }
}

fn dump_map(
    device: &impl ReadPages,
    volume: &Volume,
    findings: &mut Findings,
    out: &mut impl Write,
) -> io::Result<()> {
    let has_checksums = volume.superblock.has_checksums();
    let mut extent = Extent {
        lpn: 0,
        dpn: 0,
        nr_pages: 0,
        sum: 0,
    };

    map::for_each_page(device, volume, findings, |page, _| {
        for (lpn, Entry { dpn, sum }) in page.mapped() {
            if lpn == extent.lpn + extent.nr_pages && dpn == extent.dpn + extent.nr_pages {
                extent.nr_pages += 1;
                extent.sum = sum_of(extent.sum, &[sum]);
                continue;
            }
            extent.print(has_checksums, out)?;
            extent = Extent {
                lpn,
                dpn,
                nr_pages: 1,
                sum: sum_of(!0, &[sum]),
            };
        }
        Ok(())
    })?;
    extent.print(has_checksums, out)
}

/// Does a page go on where another one, so many pages before it, begins?
fn continues(first: &Written, written: &Written, nr_pages: u64) -> bool {
    written.lpn == first.lpn + nr_pages
        && written.seq == first.seq
        && written.file == first.file
        && (first.file == 0 || written.fpage == first.fpage.wrapping_add(nr_pages as u32))
}

fn print_written(
    number: u64,
    page: usize,
    nr_pages: u64,
    first: &Written,
    out: &mut impl Write,
) -> io::Result<()> {
    write!(
        out,
        "summary segment={number} page={page} pages={nr_pages} lpn={} seq={}",
        first.lpn, first.seq
    )?;
    if first.file != 0 {
        write!(out, " file={} fpage={}", first.file, first.fpage)?;
    }
    writeln!(out)
}

fn dump_summary(number: u64, pages: &[Option<Written>], out: &mut impl Write) -> io::Result<()> {
    let mut run: Option<(usize, u64, Written)> = None;

    for (at, written) in pages.iter().enumerate() {
        if let (Some((_, nr_pages, first)), Some(written)) = (&mut run, written) {
            if continues(first, written, *nr_pages) {
                *nr_pages += 1;
                continue;
            }
        }
        if let Some((page, nr_pages, first)) = run.take() {
            print_written(number, page, nr_pages, &first, out)?;
        }
        run = written.map(|written| (at, 1, written));
    }
    match run {
        Some((page, nr_pages, first)) => print_written(number, page, nr_pages, &first, out),
        None => Ok(()),
    }
}

fn dump_summaries(
    device: &impl ReadPages,
    volume: &Volume,
    findings: &mut Findings,
    out: &mut impl Write,
) -> io::Result<()> {
    for (number, segment) in volume.segments.iter() {
        match segment.state {
            State::Free => {}
            State::Open => dump_summary(number, volume.open.pages(segment.open), out)?,
            State::Closed => match read_summary(device, &volume.superblock, number) {
                Ok(pages) => dump_summary(number, &pages, out)?,
                Err(why) if segment.nr_valid != 0 => findings.damage(Subject::Summary, || why),
                // A crash may have cut off its being written anew, and nobody needs it.
                Err(_) => {}
            },
        }
    }
    Ok(())
}

/// What a dump could not say.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Missing {
    pub nr_damages: u64,
    /// Reads that the device refused.
    pub nr_failed_reads: u64,
}

/// Write parts of a device as text. What is damaged is in comments at the end. For the superblock
/// nothing else is read.
///
/// # Errors
///
/// When the device has features that nobody knew of, or the text cannot be written.
pub fn dump(device: &impl ReadPages, parts: &[Part], out: &mut impl Write) -> io::Result<Missing> {
    let mut findings = Findings::default();
    let device = &Watched::new(device);

    if parts == [Part::Superblock] {
        let superblock = read_super(device, &mut findings)?;
        writeln!(out, "dieaware-dump {DUMP_VERSION}")?;
        if let Some(superblock) = &superblock {
            dump_superblock(superblock, out)?;
        }
        return end(findings, device.nr_failed(), out);
    }
    let volume = Volume::load(device, &mut findings)?;
    writeln!(out, "dieaware-dump {DUMP_VERSION}")?;
    if let Some(volume) = &volume {
        for part in Part::ALL.into_iter().filter(|part| parts.contains(part)) {
            match part {
                Part::Superblock => dump_superblock(&volume.superblock, out)?,
                Part::Root => dump_root(volume, out)?,
                Part::Journal => dump_journal(device, volume, out)?,
                Part::Segments => dump_segments(volume, out)?,
                Part::Map => dump_map(device, volume, &mut findings, out)?,
                Part::Summaries => dump_summaries(device, volume, &mut findings, out)?,
            }
        }
    }
    end(findings, device.nr_failed(), out)
}

/// What could not be said, as comments.
fn end(findings: Findings, nr_failed_reads: u64, out: &mut impl Write) -> io::Result<Missing> {
    let missing = Missing {
        nr_damages: findings.count(Severity::Damage),
        nr_failed_reads,
    };
    for finding in findings.into_list() {
        writeln!(out, "# {finding}")?;
    }
    Ok(missing)
}

#[cfg(test)]
mod tests {
    use super::Quoted;

    #[test]
    fn labels_are_quoted() {
        assert_eq!(
            Quoted("a \"b\"\\\n\u{e4}").to_string(),
            r#""a \"b\"\\\x0a\xc3\xa4""#
        );
    }
}
