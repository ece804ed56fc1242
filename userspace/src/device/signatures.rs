// SPDX-License-Identifier: GPL-2.0-only
//! Signs that a device holds somebody's data. What others write is known to libblkid, which is asked
//! through `wipefs` and `blkid`: they are wherever there are block devices, and the crate that
//! binds the library needs libclang to build. Log mode's own signs it does not know.

use std::io;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use super::block::Device;
use crate::io_engine::pages::ReadPages;
use crate::units::SECTOR_BYTES;

/// What log mode's superblocks have, where, and in which pages they are.
const LOG_MAGIC: &[u8] = b"mDSb";
const LOG_MAGIC_AT: usize = 4;
const LOG_PAGES: [u64; 2] = [0, 16];

/// blkid's exit statuses: something was found, nothing, more than one thing.
const BLKID_FOUND: i32 = 0;
const BLKID_NOTHING: i32 = 2;
const BLKID_AMBIVALENT: i32 = 8;

/// A sign that was found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Found {
    /// As it stands in a sentence: "holds ...".
    pub what: String,
    /// As libblkid calls it, such as `ext4`.
    pub kind: String,
    /// Where, in bytes from the beginning of the device.
    pub at: u64,
    /// How long it is, in bytes.
    pub bytes: usize,
}

/// Is it, or was it, a device in log mode?
///
/// # Errors
///
/// When it cannot be read.
pub fn is_log(device: &Device) -> io::Result<bool> {
    for dpn in LOG_PAGES {
        if dpn < device.nr_pages() {
            let page = device.read_page(dpn)?;
            if page
                .get(LOG_MAGIC_AT..)
                .is_some_and(|rest| rest.starts_with(LOG_MAGIC))
            {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// What kind of thing it is, by libblkid's words for usage and type.
fn sentence(usage: &str, kind: &str) -> String {
    match usage {
        "filesystem" => format!("a filesystem ({kind})"),
        "partition-table" => format!("a partition table ({kind})"),
        "raid" => format!("a part of another device ({kind})"),
        "crypto" => format!("encrypted data ({kind})"),
        _ => format!("something ({kind})"),
    }
}

fn run(program: &str, words: &[&str], path: &Path) -> io::Result<Output> {
    let command = Command::new(program).args(words).arg(path).output();

    command.map_err(|err| {
        io::Error::new(
            err.kind(),
            format!(
                "{program} of util-linux, which knows what devices hold, cannot be started: {err}"
            ),
        )
    })
}

fn failed(program: &str, output: &Output) -> io::Error {
    let said = String::from_utf8_lossy(&output.stderr);
    io::Error::other(format!("{program} failed: {}", said.trim()))
}

fn parse_sign(sign: &Value) -> Option<Found> {
    let text = |key| sign.get(key)?.as_str();
    let at = u64::from_str_radix(text("offset")?.strip_prefix("0x")?, 16).ok()?;
    let length = sign.get("length")?;
    // A number, or one in quotes
    let bytes = length.as_u64().or_else(|| length.as_str()?.parse().ok())?;

    Some(Found {
        what: sentence(text("usage")?, text("type")?),
        kind: text("type")?.to_owned(),
        at,
        bytes: usize::try_from(bytes).ok()?,
    })
}

/// What `wipefs --json` says.
fn parse_wipefs(json: &str) -> Option<Vec<Found>> {
    // Of a device without any it may say nothing at all.
    if json.trim().is_empty() {
        return Some(Vec::new());
    }
    let said: Value = serde_json::from_str(json).ok()?;
    said.get("signatures")?
        .as_array()?
        .iter()
        .map(parse_sign)
        .collect()
}

/// All signs of others' data on a device, or in an image of one.
///
/// # Errors
///
/// When that cannot be found out.
pub fn find(path: &Path) -> io::Result<Vec<Found>> {
    let columns = "OFFSET,LENGTH,TYPE,USAGE";
    let output = run("wipefs", &["--no-act", "--json", "--output", columns], path)?;

    if !output.status.success() {
        return Err(failed("wipefs", &output));
    }
    parse_wipefs(&String::from_utf8_lossy(&output.stdout))
        .ok_or_else(|| io::Error::other("wipefs said something that is not understood"))
}

/// What is found if all before a sector is left out; `None`: nothing.
///
/// # Errors
///
/// When that cannot be found out.
pub fn find_from(path: &Path, start_sectors: u64) -> io::Result<Option<String>> {
    let offset = start_sectors.saturating_mul(SECTOR_BYTES).to_string();
    let output = run(
        "blkid",
        &["--probe", "--output", "export", "--offset", &offset],
        path,
    )?;
    let text = String::from_utf8_lossy(&output.stdout);

    match output.status.code() {
        Some(BLKID_NOTHING) => Ok(None),
        Some(BLKID_FOUND) => Ok(Some(parse_blkid(&text))),
        Some(BLKID_AMBIVALENT) => Ok(Some("more than one thing".to_owned())),
        _ => Err(failed("blkid", &output)),
    }
}

/// The size of the smallest blocks that the filesystem on a device reads or writes; `None`: nobody
/// knows.
///
/// # Errors
///
/// When that cannot be found out.
pub fn block_bytes(path: &Path) -> io::Result<Option<u64>> {
    let words = ["--probe", "--output", "value", "--match-tag", "BLOCK_SIZE"];
    let output = run("blkid", &words, path)?;

    Ok(String::from_utf8_lossy(&output.stdout).trim().parse().ok())
}

/// Lines KEY=VALUE
fn parse_blkid(text: &str) -> String {
    let value = |key: &str| {
        text.lines()
            .filter_map(|line| line.split_once('='))
            .find_map(|(found, value)| (found == key).then_some(value))
    };

    match (value("PTTYPE"), value("TYPE")) {
        (Some(kind), None) => sentence("partition-table", kind),
        (_, kind) => sentence(
            value("USAGE").unwrap_or_default(),
            kind.unwrap_or("unknown"),
        ),
    }
}

/// Make signs, or what of them lies in the first bytes from where the target begins, unreadable, so
/// that nobody takes these for what they were.
///
/// # Errors
///
/// When it cannot be written.
pub fn erase(
    device: &Device,
    start_sectors: u64,
    nr_bytes: u64,
    found: &[Found],
) -> io::Result<()> {
    let start = start_sectors.saturating_mul(SECTOR_BYTES);

    for sign in found {
        let begin = sign.at.saturating_sub(start);
        let end = sign.at.saturating_add(sign.bytes as u64);
        let end = end.saturating_sub(start).min(nr_bytes);
        if begin < end {
            device.write_bytes(begin, &vec![0; (end - begin) as usize])?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{erase, parse_blkid, parse_wipefs, Found};
    use crate::device::block::{Device, OpenHow};

    #[test]
    fn what_lies_outside_stays() {
        let path = std::env::temp_dir().join(format!("signs-{}", std::process::id()));
        fs::write(&path, [7; 8192]).unwrap();
        let how = OpenHow {
            write: true,
            exclusive: false,
        };
        let device = Device::open(&path, 2, how).unwrap();
        let sign = |at, bytes| Found {
            what: "a filesystem (x)".to_owned(),
            kind: "x".to_owned(),
            at,
            bytes,
        };
        // In front of bytes 1024 to 3071, across both ends, within, and behind
        let found = [(0, 1024), (1020, 8), (2000, 2), (3070, 8), (8184, 8)];
        let found = found.map(|(at, bytes)| sign(at, bytes));
        erase(&device, 2, 2048, &found).unwrap();

        let bytes = fs::read(&path).unwrap();
        let zeroes: Vec<_> = (0..bytes.len()).filter(|at| bytes[*at] == 0).collect();
        assert_eq!(zeroes, [1024, 1025, 1026, 1027, 2000, 2001, 3070, 3071]);
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn signs_are_what_wipefs_lists() {
        let json = r#"{"signatures": [
            {"offset": "0x438", "length": 2, "type": "ext4", "usage": "filesystem"},
            {"offset": "0x3fffe00", "length": "8", "type": "gpt", "usage": "partition-table"}]}"#;
        let found = |what: &str, kind: &str, at, bytes| Found {
            what: what.to_owned(),
            kind: kind.to_owned(),
            at,
            bytes,
        };
        assert_eq!(
            parse_wipefs(json).unwrap(),
            [
                found("a filesystem (ext4)", "ext4", 0x438, 2),
                found("a partition table (gpt)", "gpt", 0x3ff_fe00, 8)
            ]
        );
        assert_eq!(parse_wipefs("").unwrap(), []);
        assert_eq!(parse_wipefs("{\"signatures\": [\n\n]}").unwrap(), []);
        for json in ["[]", "{", "{\"signatures\": [{}]}"] {
            assert_eq!(parse_wipefs(json), None, "{json}");
        }
    }

    #[test]
    fn what_blkid_finds_is_a_sentence() {
        for (text, what) in [
            (
                "DEVNAME=x\nTYPE=xfs\nUSAGE=filesystem\n",
                "a filesystem (xfs)",
            ),
            (
                "TYPE=LVM2_member\nUSAGE=raid\n",
                "a part of another device (LVM2_member)",
            ),
            (
                "TYPE=crypto_LUKS\nUSAGE=crypto\n",
                "encrypted data (crypto_LUKS)",
            ),
            ("PTUUID=1\nPTTYPE=dos\n", "a partition table (dos)"),
            ("TYPE=swap\nUSAGE=other\n", "something (swap)"),
            ("", "something (unknown)"),
        ] {
            assert_eq!(parse_blkid(text), what, "{text}");
        }
    }
}
