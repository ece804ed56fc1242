// SPDX-License-Identifier: GPL-2.0-only
//! All metadata of a device as text from which the same bytes can be made again: one line
//! for each page that is not zero. `docs/format.md` describes it.

use std::fmt::Write as _;
use std::io::{self, BufRead, Write};
use std::ops::Range;

use thiserror::Error;

use super::block::{self, BlockId, Uuid};
use super::findings::Findings;
use super::layout::{
    Page, BLOCK_BYTES, MAGIC_DIRECTORY, MAGIC_MAP, MAGIC_OPEN, MAGIC_ROOT, MAGIC_SEGMENTS,
    MAGIC_SUMMARY, MAGIC_SUPER, MAX_DRAFT_PAGES,
};
use super::places;
use super::scan;
use super::superblock::Super;
use super::volume::{find_super, NoSuper};
use crate::io_engine::pages::ReadPages;

/// First line of the text.
const HEADING: &str = "dieaware-exact 1";

/// How a line begins that says which page could not be read, for people.
const UNREADABLE: &str = "# unreadable dpn=";

/// Bytes of a header, which a line has in words.
const HEADER_BYTES: usize = 64;

/// Pages that are read at once.
const CHUNK_PAGES: u64 = 64;

const KINDS: [(&str, u32); 7] = [
    ("superblock", MAGIC_SUPER),
    ("root", MAGIC_ROOT),
    ("directory", MAGIC_DIRECTORY),
    ("map", MAGIC_MAP),
    ("segments", MAGIC_SEGMENTS),
    ("summary", MAGIC_SUMMARY),
    ("open", MAGIC_OPEN),
];

/// What became of a dump.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Outcome {
    pub nr_pages: u64,
    /// Pages that could not be read and are left out.
    pub nr_unreadable: u64,
}

#[derive(Debug, Error)]
pub enum DumpError {
    #[error(transparent)]
    NoSuperblock(NoSuper),
    /// The device
    #[error(transparent)]
    Device(io::Error),
    /// Where the text goes
    #[error(transparent)]
    Text(#[from] io::Error),
}

/// Why a text cannot be restored.
#[derive(Debug, Error)]
pub enum ReadError {
    #[error("it does not begin with \"{HEADING}\"")]
    Heading,
    #[error("line {0}: {1}")]
    Line(u64, &'static str),
    #[error("it has no valid superblock")]
    NoSuperblock,
    #[error("it is not complete: the last line is missing")]
    Truncated,
    /// What the text was packed into
    #[error("the pack is damaged: {0}")]
    Pack(io::Error),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl ReadError {
    /// Why the text cannot be read. An error without a number is not the system's.
    fn of_text(err: io::Error) -> Self {
        if err.raw_os_error().is_some() {
            Self::Io(err)
        } else {
            Self::Pack(err)
        }
    }
}

fn is_zero(page: &[u8]) -> bool {
    page.iter().all(|byte| *byte == 0)
}

/// Digits, without the zeroes at the end.
fn hex(bytes: &[u8]) -> String {
    let end = bytes.iter().rposition(|byte| *byte != 0);
    let bytes = bytes.get(..end.map_or(0, |at| at + 1)).unwrap_or(&[]);
    let mut text = String::with_capacity(2 * bytes.len());

    for byte in bytes {
        // A string takes everything.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The opposite of `hex`: false if these are no digits, or too many.
fn unhex(text: &str, bytes: &mut [u8]) -> bool {
    let digits = text.as_bytes();
    if digits.len() % 2 != 0 || digits.len() / 2 > bytes.len() {
        return false;
    }
    let value = |digit: u8| char::from(digit).to_digit(16);
    for (to, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let [high, low] = *pair else { return false };
        match (value(high), value(low)) {
            (Some(high), Some(low)) => *to = (high << 4 | low) as u8,
            _ => return false,
        }
    }
    true
}

/// The line of a page: header in words if nothing gets lost by it.
fn line(dpn: u64, page: &Page, uuid: &Uuid) -> String {
    let name = block::header(page).and_then(|header| {
        let magic = header.magic.get();
        let (name, _) = KINDS.iter().find(|(_, known)| *known == magic)?;
        let mut again = *page;
        let id = BlockId {
            magic,
            nr_entries: header.nr_entries.get(),
            dpn,
            index: header.index.get(),
            seq: header.seq.get(),
            epoch: header.epoch.get(),
            uuid,
        };
        block::seal(&mut again, &id);
        (again == *page).then_some((name, id))
    });
    match name {
        Some((name, id)) => format!(
            "{name} dpn={dpn} index={} entries={} seq={} epoch={} body={}",
            id.index,
            id.nr_entries,
            id.seq,
            id.epoch,
            hex(page.get(HEADER_BYTES..).unwrap_or(&[]))
        ),
        None => format!("raw dpn={dpn} bytes={}", hex(page)),
    }
}

/// A text that is being written.
struct Writer<'a, D, W> {
    device: &'a D,
    superblock: Super,
    out: &'a mut W,
    outcome: Outcome,
}

impl<D: ReadPages, W: Write> Writer<'_, D, W> {
    fn page(&mut self, dpn: u64, page: &Page) -> io::Result<()> {
        if is_zero(page) {
            return Ok(());
        }
        self.outcome.nr_pages += 1;
        writeln!(self.out, "{}", line(dpn, page, &self.superblock.uuid))
    }

    fn chunk(&mut self, pages: Range<u64>) -> io::Result<()> {
        let nr_pages = pages.end.saturating_sub(pages.start) as usize;
        let mut bytes = vec![0; nr_pages * BLOCK_BYTES];

        if self.device.read(pages.start, &mut bytes).is_ok() {
            for (dpn, page) in pages.zip(bytes.chunks_exact(BLOCK_BYTES)) {
                if let Ok(page) = page.try_into() {
                    self.page(dpn, page)?;
                }
            }
            return Ok(());
        }
        for dpn in pages {
            match self.device.read_page(dpn) {
                Ok(page) => self.page(dpn, &page)?,
                Err(err) => {
                    self.outcome.nr_unreadable += 1;
                    writeln!(self.out, "{UNREADABLE}{dpn}: {err}")?;
                }
            }
        }
        Ok(())
    }

    /// Of the last draft there are the checksums of what lies at its places: they say whether it
    /// counts.
    fn last_draft(&mut self) -> io::Result<()> {
        let draft = scan::last_draft(self.device, &self.superblock);
        let Some(draft) = draft.filter(|draft| draft.is_data(&self.superblock)) else {
            return Ok(());
        };
        match draft.page_sums(self.device) {
            Ok(sums) => {
                for (dpn, sum) in sums {
                    writeln!(self.out, "data dpn={dpn} sum={sum:#010x}")?;
                }
            }
            Err(err) => {
                self.outcome.nr_unreadable += 1;
                writeln!(self.out, "{UNREADABLE}{}: {err}", draft.dpn())?;
            }
        }
        Ok(())
    }
}

/// Write all metadata as text.
///
/// # Errors
///
/// When the layout is unknown, or the text cannot be written.
pub fn dump(device: &impl ReadPages, out: &mut impl Write) -> Result<Outcome, DumpError> {
    let superblock = find_super(device, &mut Findings::default()).map_err(DumpError::Device)?;
    let superblock = superblock.map_err(DumpError::NoSuperblock)?;
    let mut writer = Writer {
        device,
        superblock: superblock.clone(),
        out,
        outcome: Outcome::default(),
    };

    writeln!(writer.out, "{HEADING}")?;
    writeln!(writer.out, "uuid {}", superblock.uuid_text())?;
    for piece in places::metadata(&superblock) {
        let mut first = piece.start;
        while first < piece.end {
            let end = piece.end.min(first + CHUNK_PAGES);
            writer.chunk(first..end)?;
            first = end;
        }
    }
    writer.last_draft()?;
    writeln!(writer.out, "end pages={}", writer.outcome.nr_pages)?;
    Ok(writer.outcome)
}

/// What becomes of summaries that a text does not have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Zeroes {
    Shown,
    LeftOut,
}

/// What a text has besides pages.
#[derive(Debug, Default)]
pub struct Behind {
    /// By place: checksums that the data of the last draft has.
    pub sums: Vec<(u64, u32)>,
    /// Pages of metadata that could not be read when it was written.
    pub nr_unreadable: u64,
}

/// Reads the text, page by page.
pub struct Reader<R> {
    text: R,
    line: u64,
    nr_pages: u64,
    uuid: Uuid,
    /// Read and not yet taken.
    next: Option<(u64, Page)>,
    behind: Behind,
    pub superblock: Super,
    /// Superblocks: by the place that they have.
    pub supers: Vec<(u64, Page)>,
}

/// The value of a field, which must be the next word.
fn field<'a>(words: &mut impl Iterator<Item = &'a str>, name: &str) -> Option<&'a str> {
    words.next()?.strip_prefix(name)?.strip_prefix('=')
}

fn number<'a>(words: &mut impl Iterator<Item = &'a str>, name: &str) -> Option<u64> {
    field(words, name)?.parse().ok()
}

fn parse_sealed<'a>(
    magic: u32,
    words: &mut impl Iterator<Item = &'a str>,
    uuid: &Uuid,
) -> Option<(u64, Page)> {
    let mut page = [0; BLOCK_BYTES];
    let dpn = number(words, "dpn")?;
    let id = BlockId {
        magic,
        dpn,
        index: number(words, "index")?,
        nr_entries: number(words, "entries")?.try_into().ok()?,
        seq: number(words, "seq")?,
        epoch: number(words, "epoch")?,
        uuid,
    };
    if !unhex(field(words, "body")?, page.get_mut(HEADER_BYTES..)?) {
        return None;
    }
    block::seal(&mut page, &id);
    Some((dpn, page))
}

fn parse_data<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<(u64, u32)> {
    let dpn = number(words, "dpn")?;
    let digits = field(words, "sum")?.strip_prefix("0x")?;

    Some((dpn, u32::from_str_radix(digits, 16).ok()?))
}

fn parse_raw<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<(u64, Page)> {
    let mut page = [0; BLOCK_BYTES];
    let dpn = number(words, "dpn")?;

    unhex(field(words, "bytes")?, &mut page).then_some((dpn, page))
}

impl<R: BufRead> Reader<R> {
    /// Begin a text: understand its superblock.
    ///
    /// # Errors
    ///
    /// When it is none.
    pub fn new(text: R) -> Result<Self, ReadError> {
        let mut reader = Self {
            text,
            line: 0,
            nr_pages: 0,
            uuid: Uuid::default(),
            next: None,
            behind: Behind::default(),
            superblock: Super::default(),
            supers: Vec::new(),
        };
        if reader.line()?.as_deref() != Some(HEADING) {
            return Err(ReadError::Heading);
        }
        reader.read_supers()?;
        Ok(reader)
    }

    fn line(&mut self) -> Result<Option<String>, ReadError> {
        let mut line = String::new();
        // No line is longer than a page in digits and some words.
        let mut limited = io::Read::take(&mut self.text, 4 * BLOCK_BYTES as u64);

        self.line += 1;
        match limited.read_line(&mut line) {
            Ok(0) => return Ok(None),
            Ok(_) => {}
            Err(err) if err.kind() == io::ErrorKind::InvalidData => {
                return Err(ReadError::Line(self.line, "it is not text"))
            }
            Err(err) => return Err(ReadError::of_text(err)),
        }
        match line.strip_suffix('\n') {
            Some(line) => Ok(Some(line.to_owned())),
            None => Err(ReadError::Truncated),
        }
    }

    /// A superblock has the UUID that the lines behind do not repeat.
    fn uuid_line(&mut self, line: &str) -> Result<bool, ReadError> {
        let Some(digits) = line.strip_prefix("uuid ") else {
            return Ok(false);
        };
        let digits = digits.replace('-', "");
        if digits.len() == 2 * self.uuid.len() && unhex(&digits, &mut self.uuid) {
            return Ok(true);
        }
        Err(ReadError::Line(self.line, "that is no UUID"))
    }

    /// What lies somewhere has that checksum.
    fn data_line<'a>(&mut self, mut words: impl Iterator<Item = &'a str>) -> Result<(), ReadError> {
        let data = parse_data(&mut words).filter(|_| words.next().is_none());
        let (dpn, sum) = data.ok_or(ReadError::Line(self.line, "its fields are not understood"))?;

        if self.superblock.segment_of(dpn).is_none() {
            return Err(ReadError::Line(
                self.line,
                "no data of this device is there",
            ));
        }
        if self.behind.sums.len() as u64 == MAX_DRAFT_PAGES {
            return Err(ReadError::Line(self.line, "no draft has so much data"));
        }
        self.behind.sums.push((dpn, sum));
        Ok(())
    }

    /// A line that is there for people. Of a page that could not be read nobody knows what it held.
    fn remark(&mut self, line: &str) {
        let place = line.strip_prefix(UNREADABLE);
        let dpn = place.and_then(|place| place.split(':').next()?.parse().ok());
        let Some(dpn) = dpn else { return };
        // Superblocks come first.
        let is_known = self.superblock.nr_device_pages != 0;
        if !is_known || self.superblock.segment_of(dpn).is_none() {
            self.behind.nr_unreadable += 1;
        }
    }

    fn read_page(&mut self) -> Result<Option<(u64, Page)>, ReadError> {
        loop {
            let line = self.line()?.ok_or(ReadError::Truncated)?;
            if line.starts_with('#') {
                self.remark(&line);
                continue;
            }
            if self.uuid_line(&line)? {
                continue;
            }
            let mut words = line.split(' ');
            let kind = words.next().unwrap_or_default();
            if kind == "end" {
                let nr_pages = number(&mut words, "pages");
                if nr_pages != Some(self.nr_pages) || words.next().is_some() {
                    return Err(ReadError::Line(self.line, "pages are missing before it"));
                }
                return Ok(None);
            }
            if kind == "data" {
                self.data_line(words)?;
                continue;
            }
            let page = match KINDS.iter().find(|(name, _)| *name == kind) {
                Some((_, magic)) => parse_sealed(*magic, &mut words, &self.uuid),
                None if kind == "raw" => parse_raw(&mut words),
                None => return Err(ReadError::Line(self.line, "it begins with no known word")),
            };
            let page = page.filter(|_| words.next().is_none());
            self.nr_pages += 1;
            return match page {
                Some(page) => Ok(Some(page)),
                None => Err(ReadError::Line(self.line, "its fields are not understood")),
            };
        }
    }

    fn read_supers(&mut self) -> Result<(), ReadError> {
        let mut found: Option<Super> = None;

        loop {
            self.next = self.read_page()?;
            let Some((dpn, page)) = self.next else { break };
            if !places::is_super(dpn) {
                break;
            }
            // Each is there once: a small pack can be a very long text.
            if self.supers.last().is_some_and(|(last, _)| *last >= dpn) {
                return Err(ReadError::Line(
                    self.line,
                    "a superblock was there before it",
                ));
            }
            if let Ok(superblock) = Super::decode(&page, dpn) {
                if found
                    .as_ref()
                    .is_none_or(|known| known.epoch < superblock.epoch)
                {
                    found = Some(superblock);
                }
            }
            self.supers.push((dpn, page));
        }
        self.superblock = found.ok_or(ReadError::NoSuperblock)?;
        Ok(())
    }

    /// Hand a piece of the device to `put`.
    fn piece(
        &mut self,
        mut piece: Range<u64>,
        put: &mut impl FnMut(Range<u64>, Option<&Page>) -> io::Result<()>,
    ) -> Result<(), ReadError> {
        while !piece.is_empty() {
            let next = self.next.as_ref().filter(|(dpn, _)| piece.contains(dpn));
            let end = next.map_or(piece.end, |(dpn, _)| *dpn);
            if piece.start < end {
                put(piece.start..end, None)?;
            }
            piece.start = end;
            if let Some((dpn, page)) = next {
                put(*dpn..*dpn + 1, Some(page))?;
                piece.start += 1;
                self.next = self.read_page()?;
            }
        }
        Ok(())
    }

    /// The first segment from there on whose summary is to be handed over.
    fn segment_from(&self, number: u64, zeroes: Zeroes) -> Option<u64> {
        let next = match (zeroes, &self.next) {
            (Zeroes::Shown, _) => number,
            (Zeroes::LeftOut, Some((dpn, _))) => self.superblock.segment_at(*dpn)?.0,
            (Zeroes::LeftOut, None) => return None,
        };

        (next >= number).then_some(next)
    }

    /// Hand all metadata but the superblocks to `put`, in order: each page that the text has, and
    /// what it does not have as `None`, since that is zero. What the text does not have is handed over
    /// in ranges: a superblock may claim tables that nobody could go through page by page. Of segments
    /// it may claim billions: whoever needs no zeroes does not wait for them. Returns what
    /// else there was.
    ///
    /// # Errors
    ///
    /// When the text is not what it must be, or `put` fails.
    pub fn for_each_page(
        mut self,
        zeroes: Zeroes,
        mut put: impl FnMut(Range<u64>, Option<&Page>) -> io::Result<()>,
    ) -> Result<Behind, ReadError> {
        let superblock = self.superblock.clone();
        let pieces = places::all_but_summaries(&superblock);
        let mut number = 0;

        for piece in pieces.filter(|piece| !places::is_super(piece.start)) {
            self.piece(piece, &mut put)?;
        }
        while let Some(next) = self.segment_from(number, zeroes) {
            let Some(summary) = places::summary(&superblock, next) else {
                break;
            };
            self.piece(summary, &mut put)?;
            number = next + 1;
        }
        if self.next.is_some() {
            return Err(ReadError::Line(
                self.line,
                "that page is no metadata of this device, or is out of order",
            ));
        }
        // The checksum of a pack is behind its text, and is compared when the end is read.
        if self.text.fill_buf().map_err(ReadError::of_text)?.is_empty() {
            return Ok(self.behind);
        }
        Err(ReadError::Line(
            self.line + 1,
            "it is behind the line that should be the last",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::{hex, line, parse_raw, parse_sealed, unhex, ReadError, Reader, Zeroes};
    use crate::format::block::{seal, BlockId};
    use crate::format::layout::{BLOCK_BYTES, MAGIC_MAP};
    use crate::format::make::small_device;
    use crate::format::superblock::{segment_table_pages, Area, Super, LIMIT_PAGES};

    #[test]
    fn digits_are_bytes() {
        let mut bytes = [9; 4];
        assert_eq!(hex(&[0, 1, 0xab, 0]), "0001ab");
        assert_eq!(hex(&[0; 4]), "");
        assert!(unhex("01ff", &mut bytes));
        assert_eq!(bytes, [1, 0xff, 9, 9]);
        for text in ["0", "0g", "é", "0102030405"] {
            assert!(!unhex(text, &mut bytes), "{text}");
        }
    }

    #[test]
    fn a_line_is_the_page() {
        let uuid = [3; 16];
        let mut page = [0; BLOCK_BYTES];
        page[70] = 7;
        let id = BlockId {
            magic: MAGIC_MAP,
            nr_entries: 806,
            dpn: 12,
            index: 1,
            seq: 5,
            epoch: 2,
            uuid: &uuid,
        };
        seal(&mut page, &id);
        let text = line(12, &page, &uuid);
        assert_eq!(
            text,
            "map dpn=12 index=1 entries=806 seq=5 epoch=2 body=00000000000007"
        );
        let mut words = text.split(' ').skip(1);
        let (dpn, again) = parse_sealed(MAGIC_MAP, &mut words, &uuid).unwrap();
        assert!(dpn == 12 && again == page);
        // At another place, of another device, or damaged: all bytes
        page[100] = 1;
        for (dpn, uuid) in [(13, [3; 16]), (12, [4; 16]), (12, [3; 16])] {
            let text = line(dpn, &page, &uuid);
            assert!(text.starts_with("raw dpn="));
            let (_, again) = parse_raw(&mut text.split(' ').skip(1)).unwrap();
            assert!(again == page);
        }
    }

    #[test]
    fn what_is_no_dump_is_refused() {
        for (text, words) in [
            ("", "begin"),
            ("dieaware-dump 1\n", "begin"),
            ("dieaware-exact 1\n", "complete"),
            ("dieaware-exact 1\nend pages=0\n", "no valid superblock"),
            ("dieaware-exact 1\nend pages=1\n", "missing"),
            ("dieaware-exact 1\nnonsense\n", "no known word"),
            ("dieaware-exact 1\nraw dpn=0 bytes=0z\n", "fields"),
            ("dieaware-exact 1\nuuid 00\n", "no UUID"),
            ("dieaware-exact 1\nmap dpn=1", "complete"),
            ("dieaware-exact 1\nraw dpn=40 bytes=00 x\n", "fields"),
        ] {
            let error = Reader::new(text.as_bytes()).err().unwrap();
            assert!(error.to_string().contains(words), "{text}: {error}");
        }
        let supers = "dieaware-exact 1\nraw dpn=0 bytes=01\nraw dpn=16 bytes=01\n";
        for next in [0, 16] {
            let text = format!("{supers}raw dpn={next} bytes=01\n");
            let error = Reader::new(text.as_bytes()).err().unwrap();
            assert!(matches!(error, ReadError::Line(4, _)), "{next}: {error}");
        }
        let binary = &b"dieaware-exact 1\n\xff\xfe\n"[..];
        assert!(matches!(
            Reader::new(binary).err().unwrap(),
            ReadError::Line(2, _)
        ));
    }

    #[test]
    fn tables_may_be_claimed_that_nobody_has() {
        let made = small_device();
        let nr_pages = LIMIT_PAGES / 4;
        let superblock = Super {
            nr_device_pages: LIMIT_PAGES - 1,
            areas: vec![Area {
                tables_dpn: 1 << 20,
                nr_map_pages: nr_pages,
                segments_dpn: 3 * nr_pages,
                ..made.areas[0]
            }],
            ..made
        };
        let text = format!(
            "dieaware-exact 1\nuuid {}\n{}\nraw dpn={} bytes=01\nend pages=2\n",
            superblock.uuid_text(),
            line(0, &superblock.encode(), &superblock.uuid),
            (1 << 20) + nr_pages
        );
        let (mut nr_zero, mut nr_calls, mut found) = (0, 0, Vec::new());
        let reader = Reader::new(text.as_bytes()).unwrap();
        let behind = reader.for_each_page(Zeroes::Shown, |pages, page| {
            nr_calls += 1;
            match page {
                Some(_) => found.extend(pages),
                None => nr_zero += pages.end - pages.start,
            }
            Ok(())
        });
        assert_eq!(behind.unwrap().sums, []);
        assert_eq!(found, [(1 << 20) + nr_pages]);
        assert!(nr_zero > 2 * nr_pages && nr_calls < 1000);
    }

    #[test]
    fn segments_may_be_claimed_that_nobody_has() {
        let made = small_device();
        let nr_segments = u64::from(u32::MAX) - 1;
        let mut superblock = Super {
            nr_device_pages: LIMIT_PAGES - 1,
            segment_pages: 64,
            summary_pages: 1,
            stripe_pages: 1,
            ..made
        };
        let area = superblock.areas.last_mut().unwrap();
        *area = Area {
            tables_dpn: 1 << 30,
            nr_segment_pages: segment_table_pages(nr_segments),
            nr_open_pages: 1 << 10,
            segments_dpn: 1 << 35,
            nr_segments,
            ..*area
        };
        superblock.root_dpn = [1 << 20, 1 << 25];
        superblock.root_pages = superblock.nr_root_pages() as u32;
        let text = |pages: &[u64]| {
            let lines: String = pages
                .iter()
                .map(|dpn| format!("raw dpn={dpn} bytes=01\n"))
                .collect();
            format!(
                "dieaware-exact 1\nuuid {}\n{}\n{lines}end pages={}\n",
                superblock.uuid_text(),
                line(0, &superblock.encode(), &superblock.uuid),
                1 + pages.len()
            )
        };
        let read = |pages: &[u64]| {
            let text = text(pages);
            let mut found = Vec::new();
            let reader = Reader::new(text.as_bytes()).unwrap();
            reader.for_each_page(Zeroes::LeftOut, |pages, page| {
                found.extend(page.map(|_| pages.start));
                Ok(())
            })?;
            Ok::<_, ReadError>(found)
        };
        let summary = |number: u64| (1 << 35) + 64 * number + 63;
        let pages = [1 << 20, summary(0), summary(7), summary(nr_segments - 1)];
        assert_eq!(read(&pages).unwrap(), pages);
        assert!(read(&[]).unwrap().is_empty());
        for wrong in [
            [summary(7), summary(0)],
            [summary(0), 1 << 20],
            [summary(0), summary(1) - 1],
            [summary(0), summary(nr_segments)],
        ] {
            assert!(
                matches!(read(&wrong), Err(ReadError::Line(..))),
                "{wrong:?}"
            );
        }
    }
}
