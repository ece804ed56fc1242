// SPDX-License-Identifier: GPL-2.0-only
//! `/etc/dietab`: the devices that come back at boot, a line each. See dietab(5). Each line is
//! right or wrong for itself: a machine boots with those that are right.

use std::fmt;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::time::Duration;

use thiserror::Error;

use crate::io_engine::lock::WriteLock;
use crate::io_engine::replace::Replacement;

/// Where it is.
pub const PATH: &str = "/etc/dietab";

/// How long others are waited for that add a line.
const MOST_WAIT: Duration = Duration::from_secs(10);

/// Longest name that device-mapper takes, in bytes.
const MAX_NAME_BYTES: usize = 127;

/// What a device lies on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Source {
    /// A path below `/dev`.
    Path(String),
    /// A tag as in fstab(5), and its value: `UUID=`, `LABEL=`, `PARTUUID=`, `PARTLABEL=`, `ID=`.
    Tag(Tag, String),
}

/// By what the source is found, other than its path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tag {
    Uuid,
    Label,
    PartUuid,
    PartLabel,
    Id,
}

impl Tag {
    const ALL: [(Self, &'static str, &'static str); 5] = [
        (Self::Uuid, "UUID", "by-uuid"),
        (Self::Label, "LABEL", "by-label"),
        (Self::PartUuid, "PARTUUID", "by-partuuid"),
        (Self::PartLabel, "PARTLABEL", "by-partlabel"),
        (Self::Id, "ID", "by-id"),
    ];

    /// Whether it tells what is on the device: that of a hint device is on its source, too.
    fn is_of_contents(self) -> bool {
        matches!(self, Self::Uuid | Self::Label)
    }
}

impl Source {
    /// What a word names that is of the device itself, and not of what it holds.
    pub fn of_device(word: &str) -> Option<Self> {
        parse_source(word, Mode::Hint).ok()
    }

    /// The path under which udev shows it.
    pub fn path(&self) -> String {
        match self {
            Self::Path(path) => path.clone(),
            Self::Tag(tag, value) => {
                let folder = Tag::ALL
                    .iter()
                    .find(|(other, ..)| other == tag)
                    .map_or("", |(.., folder)| folder);
                format!("/dev/disk/{folder}/{}", encode_link(value))
            }
        }
    }
}

/// A link's name as udev writes it: of ASCII, other bytes than these as `\xNN`, so that neither a shell nor a
/// rule takes it apart.
pub fn encode_link(value: &str) -> String {
    let mut name = String::new();
    for c in value.chars() {
        if c.is_ascii_alphanumeric() || "#+-.:=@_".contains(c) || !c.is_ascii() {
            name.push(c);
        } else {
            name.push_str(&format!("\\x{:02x}", u32::from(c)));
        }
    }
    name
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mode {
    Hint,
    Log,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hint => "hint",
            Self::Log => "log",
        })
    }
}

/// A line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    /// Which line it is, from 1.
    pub line: usize,
    pub name: String,
    pub source: Source,
    pub mode: Mode,
    /// First sector of the source that is used.
    pub start_sectors: u64,
    /// For the table line: `key=value`.
    pub options: Vec<String>,
    /// It is not made at boot.
    pub noauto: bool,
    /// The boot goes on without it.
    pub nofail: bool,
    /// Whether the source needs the network.
    pub netdev: bool,
    /// In an initramfs others have to work before the source is there.
    pub late: bool,
    /// How long to wait for the source, as systemd.time(7) says it.
    pub timeout: Option<String>,
}

/// What is wrong with a line.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("line {line}: {reason}")]
pub struct LineError {
    pub line: usize,
    pub reason: String,
}

/// # Errors
///
/// When it cannot be the name of a device, in a sentence.
pub fn check_name(name: &str) -> Result<(), String> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "#+-.:=@_".contains(c);
    if name.len() > MAX_NAME_BYTES {
        return Err(format!("a name has at most {MAX_NAME_BYTES} bytes"));
    }
    if name.is_empty()
        || name == "control"
        // dmsetup takes a dash for an option, and a line that begins with # is a comment.
        || name.starts_with(['.', '-', '#'])
        || !name.chars().all(is_allowed)
    {
        return Err(format!("\"{name}\" cannot be the name of a device"));
    }
    Ok(())
}

fn parse_source(word: &str, mode: Mode) -> Result<Source, String> {
    if word.starts_with("/dev/") {
        return Ok(Source::Path(word.to_owned()));
    }
    let Some((key, value)) = word.split_once('=') else {
        return Err(format!("\"{word}\" is neither a path below /dev nor a tag"));
    };
    let value = value.trim_matches('"');
    let tag = Tag::ALL
        .iter()
        .find(|(_, name, _)| *name == key)
        .map(|(tag, ..)| *tag)
        .ok_or_else(|| format!("there is no tag \"{key}\""))?;
    if value.is_empty() {
        return Err(format!("the tag {key} has no value"));
    }
    if mode == Mode::Hint && tag.is_of_contents() {
        return Err(format!(
            "in hint mode the source has the same {key} as the device: name it by path, ID or PARTUUID"
        ));
    }
    Ok(Source::Tag(tag, value.to_owned()))
}

fn parse_start(value: &str) -> Result<u64, String> {
    match value.parse() {
        Ok(start) if start % 8 == 0 => Ok(start),
        _ => Err(format!("start={value} is not a multiple of 8 sectors")),
    }
}

impl Entry {
    fn apply(&mut self, option: &str) -> Result<(), String> {
        match option.split_once('=') {
            None => match option {
                "" | "-" | "auto" => {}
                "noauto" => self.noauto = true,
                "nofail" => self.nofail = true,
                "_netdev" => self.netdev = true,
                "x-initrd.late" => self.late = true,
                // For others than us, as with fstab(5)
                _ if option.starts_with("x-") => {}
                _ => return Err(format!("there is no option \"{option}\"")),
            },
            Some(("start", value)) => self.start_sectors = parse_start(value)?,
            Some(("x-systemd.device-timeout", value)) => self.timeout = Some(value.to_owned()),
            Some((key, _)) if key.starts_with("x-") => {}
            Some(_) => self.options.push(option.to_owned()),
        }
        Ok(())
    }
}

fn parse_line(line: usize, text: &str) -> Result<Entry, String> {
    let words: Vec<&str> = text
        .split_whitespace()
        .take_while(|word| !word.starts_with('#'))
        .collect();
    let (name, source, mode, options) = match words.as_slice() {
        [name, source, mode] => (*name, *source, *mode, ""),
        [name, source, mode, options] => (*name, *source, *mode, *options),
        _ => return Err("there must be NAME, SOURCE, MODE and perhaps OPTIONS".to_owned()),
    };

    check_name(name)?;
    let mode = match mode {
        "hint" => Mode::Hint,
        "log" => Mode::Log,
        _ => return Err(format!("the mode is hint or log, not \"{mode}\"")),
    };
    let mut entry = Entry {
        line,
        name: name.to_owned(),
        source: parse_source(source, mode)?,
        mode,
        start_sectors: 0,
        options: Vec::new(),
        noauto: false,
        nofail: false,
        netdev: false,
        late: false,
        timeout: None,
    };
    for option in options.split(',') {
        entry.apply(option)?;
    }
    Ok(entry)
}

/// All lines that say something. A name that was there before is an error.
pub fn parse(text: &str) -> Vec<Result<Entry, LineError>> {
    let mut names: Vec<String> = Vec::new();
    let mut lines = Vec::new();

    for (index, text) in text.lines().enumerate() {
        let line = index + 1;
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        lines.push(
            parse_line(line, text)
                .and_then(|entry| {
                    if names.contains(&entry.name) {
                        return Err(format!("the name {} is used twice", entry.name));
                    }
                    names.push(entry.name.clone());
                    Ok(entry)
                })
                .map_err(|reason| LineError { line, reason }),
        );
    }
    lines
}

/// Read the file. What is no UTF-8 in it does not fit to anything, and is wrong in its own line only.
///
/// # Errors
///
/// When it cannot be read.
pub fn read(path: &Path) -> io::Result<String> {
    fs::read(path).map(|text| String::from_utf8_lossy(&text).into_owned())
}

/// The same; a file that is not there has no lines.
///
/// # Errors
///
/// The same.
pub fn read_if_there(path: &Path) -> io::Result<String> {
    match read(path) {
        Err(err) if err.kind() == ErrorKind::NotFound => Ok(String::new()),
        text => text,
    }
}

/// A line that is going to be added: all is on the disk but for the file's name. Nobody else adds one
/// meanwhile.
pub struct Addition {
    /// `None`: there is one for that device.
    fresh: Option<Replacement>,
    // Let go of when the file has its name.
    _lock: WriteLock,
}

impl Addition {
    /// Write what the file is to hold, unless it has a line for the device.
    ///
    /// # Errors
    ///
    /// When the file cannot be read or written.
    pub fn prepare(path: &Path, name: &str, line: &str) -> io::Result<Self> {
        let lock = WriteLock::wait(path, MOST_WAIT)?;
        let mut text = match fs::read(path) {
            Err(err) if err.kind() == ErrorKind::NotFound => Vec::new(),
            text => text?,
        };
        let mut fresh = None;

        if !has_line(&String::from_utf8_lossy(&text), name) {
            if text.last().is_some_and(|last| *last != b'\n') {
                text.push(b'\n');
            }
            text.extend(format!("{line}\n").bytes());
            let mut replacement = lock.begin()?;
            replacement.write_all(&text)?;
            replacement.sync()?;
            fresh = Some(replacement);
        }
        Ok(Self { fresh, _lock: lock })
    }

    /// Let it be there, after a power failure as well. Says whether it was not there before.
    ///
    /// # Errors
    ///
    /// When the file cannot be given its name.
    pub fn finish(self) -> io::Result<bool> {
        match self.fresh {
            None => Ok(false),
            Some(fresh) => fresh.finish_durably().map(|()| true),
        }
    }
}

/// Does a text have a line for that device?
#[must_use]
pub fn has_line(text: &str, name: &str) -> bool {
    parse(text).iter().flatten().any(|entry| entry.name == name)
}

/// Add a line for a device, unless there is one; it is there after a power failure as well. Says whether it
/// was not there before.
///
/// # Errors
///
/// When the file cannot be read or written.
pub fn add(path: &Path, name: &str, line: &str) -> io::Result<bool> {
    Addition::prepare(path, name, line)?.finish()
}

#[cfg(test)]
mod tests {
    use super::{add, check_name, encode_link, parse, Addition, Mode, Source, Tag};

    fn reason(text: &str) -> String {
        match parse(text).pop().unwrap() {
            Ok(entry) => panic!("{entry:?} should be refused"),
            Err(err) => err.to_string(),
        }
    }

    #[test]
    fn a_line_says_what_to_make() {
        let text = "# comment\n\n db UUID=0b1d-7 log map_cache_mb=64,nofail,start=2048 \n\
                    fast /dev/nvme0n1p2 hint\n";
        let lines: Vec<_> = parse(text).into_iter().map(Result::unwrap).collect();
        let [db, fast] = lines.as_slice() else {
            panic!("{lines:?}");
        };
        assert_eq!((db.line, db.name.as_str(), db.mode), (3, "db", Mode::Log));
        assert_eq!(db.source, Source::Tag(Tag::Uuid, "0b1d-7".to_owned()));
        assert_eq!(db.source.path(), "/dev/disk/by-uuid/0b1d-7");
        assert_eq!(db.options, ["map_cache_mb=64"]);
        assert_eq!(db.start_sectors, 2048);
        assert!(db.nofail && !db.noauto && !db.netdev);
        assert_eq!(fast.source.path(), "/dev/nvme0n1p2");
        assert!(fast.options.is_empty() && !fast.nofail);
    }

    #[test]
    fn a_line_may_end_with_a_comment() {
        // As docs/boot.md had it
        let text = "root  ID=nvme-eui.0025385b71b0-part2  hint          # /etc/dietab\n\
                    a#1 /dev/a#b log nofail #, no\n  # a /dev/a log\n";
        let lines: Vec<_> = parse(text).into_iter().map(Result::unwrap).collect();
        let [root, a] = lines.as_slice() else {
            panic!("{lines:?}");
        };
        assert_eq!(
            root.source.path(),
            "/dev/disk/by-id/nvme-eui.0025385b71b0-part2"
        );
        assert!(root.options.is_empty());
        assert_eq!(a.name, "a#1");
        assert_eq!(a.source.path(), "/dev/a#b");
        assert!(a.nofail);
        assert!(reason("a /dev/a # hint").contains("there must be"));
    }

    #[test]
    fn options_for_systemd_are_not_the_targets() {
        let text = "a /dev/a hint -\nb ID=nvme-x hint noauto,_netdev,x-systemd.device-timeout=10,x-other=1,x-initrd.attach,runs_mb=8,x-initrd.late";
        let lines: Vec<_> = parse(text).into_iter().map(Result::unwrap).collect();
        let [a, b] = lines.as_slice() else {
            panic!("{lines:?}");
        };
        assert!(a.options.is_empty() && !a.late);
        assert!(b.noauto && b.netdev && b.late);
        assert_eq!(b.timeout.as_deref(), Some("10"));
        assert_eq!(b.options, ["runs_mb=8"]);
    }

    #[test]
    fn a_line_is_added_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("dietab");
        assert!(add(&path, "a", "a UUID=1 log").unwrap());
        std::fs::write(&path, "# mine\na UUID=1 log").unwrap();
        assert!(!add(&path, "a", "a UUID=2 log").unwrap());
        assert!(add(&path, "b", "b UUID=2 log").unwrap());
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "# mine\na UUID=1 log\nb UUID=2 log\n");
        std::fs::write(&path, b"# f\xfcr\n").unwrap();
        assert!(add(&path, "a", "a UUID=1 log").unwrap());
        let text = std::fs::read(&path).unwrap();
        assert_eq!(text, b"# f\xfcr\na UUID=1 log\n");
    }

    #[test]
    fn what_is_prepared_is_not_there_yet() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("dietab");
        add(&path, "a", "a UUID=1 log").unwrap();
        drop(Addition::prepare(&path, "b", "b UUID=2 log").unwrap());
        let prepared = Addition::prepare(&path, "c", "c UUID=3 log").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a UUID=1 log\n");
        assert!(prepared.finish().unwrap());
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "a UUID=1 log\nc UUID=3 log\n");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn of_several_that_add_lines_at_once_none_loses_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = &dir.path().join("dietab");
        std::thread::scope(|scope| {
            for who in ["a", "b"] {
                scope.spawn(move || {
                    for number in 0..100 {
                        let name = format!("{who}{number}");
                        assert!(add(path, &name, &format!("{name} UUID=1 log")).unwrap());
                    }
                });
            }
        });
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(parse(&text).into_iter().flatten().count(), 200);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn bad_lines_are_named_and_do_not_hide_the_others() {
        let lines = parse("a /dev/a\nb /dev/b hint\n");
        assert!(lines.first().unwrap().is_err());
        assert!(lines.get(1).unwrap().is_ok());
        assert_eq!(
            reason("a /dev/a"),
            "line 1: there must be NAME, SOURCE, MODE and perhaps OPTIONS"
        );
        assert!(reason("a /dev/a slow").contains("hint or log"));
        assert!(reason("a/b /dev/a hint").contains("cannot be the name"));
        assert!(reason("control /dev/a hint").contains("cannot be the name"));
        assert!(reason("-a /dev/a hint").contains("cannot be the name"));
        // Its line would be a comment.
        assert!(check_name("#a").is_err() && check_name("a#").is_ok());
        assert!(reason("a sda hint").contains("neither a path"));
        assert!(reason("a NAME=sda hint").contains("no tag"));
        assert!(reason("a ID= hint").contains("no value"));
        assert!(reason("a UUID=1 hint").contains("by path, ID or PARTUUID"));
        assert!(reason("a /dev/a hint start=7").contains("multiple of 8"));
        assert!(reason("a /dev/a hint sloppy").contains("no option"));
        assert!(reason("a /dev/a hint\na /dev/b hint").contains("twice"));
        assert!(reason(&format!("{} /dev/a hint", "n".repeat(128))).contains("at most 127"));
    }

    #[test]
    fn links_are_encoded_as_udev_does() {
        let line = parse("a LABEL=\"My\\x20disk/1\" log")
            .pop()
            .unwrap()
            .unwrap();
        assert_eq!(
            line.source.path(),
            "/dev/disk/by-label/My\\x5cx20disk\\x2f1"
        );
        assert_eq!(encode_link("a b"), "a\\x20b");
        assert_eq!(encode_link("Gr\u{f6}\u{df}e"), "Gr\u{f6}\u{df}e");
        assert_eq!(encode_link("disk\n$(x)"), "disk\\x0a\\x24\\x28x\\x29");
    }
}
