// SPDX-License-Identifier: GPL-2.0-only
//! What is told: one screen for people, and keys for programs that keep their meaning. Keys may be
//! added; `version` says when one has changed.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::measure::{Kind, Samples};
use super::stats::{Interval, Memory, Parts};
use super::verdict::{Cause, Remedy, Verdict};
use crate::complain::shown;
use crate::device::layers::Layer;
use crate::device::nvme::announce::Announced;

pub const VERSION: u32 = 1;

/// Files that are named.
pub const MOST_NAMED: usize = 3;

/// A disk below.
#[derive(Debug, Serialize)]
pub struct Drive {
    pub node: PathBuf,
    /// What it says; null: it is no NVMe drive that can be asked.
    pub announced: Option<Announced>,
    /// Why.
    pub unknown: Option<String>,
}

/// A file in many pieces.
#[derive(Debug, Serialize)]
pub struct Worst {
    pub path: String,
    pub bytes: u64,
    pub pieces: u64,
    /// Null: the drive does not tell.
    pub dof_p_permille: Option<u64>,
}

/// What was looked at.
#[derive(Debug, Serialize)]
pub struct Files {
    pub seen: u64,
    pub unknown: u64,
    pub why_unknown: Option<String>,
    pub all: bool,
    /// In whole parts of `read_bytes`, and of these what is in pieces.
    pub bytes: u64,
    pub bytes_in_pieces: u64,
    pub worst: Vec<Worst>,
}

/// Reads of one kind.
#[derive(Debug, Serialize)]
pub struct Timed {
    pub kind: &'static str,
    pub parts: usize,
    /// The mean over parts of the median over rounds, or of the first one.
    pub mean_ns: u64,
    pub mb_per_s: u64,
}

/// All of it.
#[derive(Debug, Serialize)]
pub struct Report {
    pub version: u32,
    /// As people read it: JSON has no name that is no UTF-8.
    pub path: String,
    pub filesystem: String,
    pub layers: Vec<Layer>,
    pub drives: Vec<Drive>,
    pub files: Files,
    pub read_bytes: u64,
    pub rounds: usize,
    /// Of these the first counts alone.
    pub remembers: bool,
    pub seconds: u64,
    pub timed: Vec<Timed>,
    pub slowdown: Option<Parts>,
    pub unevenness: Option<Interval>,
    pub aged: Option<Interval>,
    pub verdict: Verdict,
    pub reason: &'static str,
    pub because: String,
    pub cause: Option<Cause>,
    pub remedies: Vec<Remedy>,
    pub not_known: Vec<&'static str>,
}

const KINDS: [(Kind, &str); 6] = [
    (Kind::AsIs, "in-pieces"),
    (Kind::Pieces, "in-pieces-by-piece"),
    (Kind::Whole, "in-one-piece"),
    (Kind::WholePieces, "in-one-piece-by-piece"),
    (Kind::Own, "own"),
    (Kind::OwnPieces, "own-by-piece"),
];

/// What was timed, by kind.
#[must_use]
pub fn timed(samples: &Samples, memory: Memory, read_bytes: u64) -> Vec<Timed> {
    let of = |(kind, name): (Kind, &'static str)| {
        let times = samples.that_count(kind, memory);
        let mean_ns = times.mean_ns();
        (mean_ns != 0).then(|| Timed {
            kind: name,
            parts: times.0.len(),
            mean_ns,
            mb_per_s: read_bytes * 1000 / mean_ns,
        })
    };
    KINDS.into_iter().filter_map(of).collect()
}

/// What a row of the table says of a kind.
pub fn words(kind: &str) -> &'static str {
    match kind {
        "in-pieces" => "files in pieces",
        "in-pieces-by-piece" => "  piece by piece",
        "in-one-piece" => "files in one piece",
        "in-one-piece-by-piece" => "  with the same requests",
        "own" => "a file written just now",
        _ => "  with the same requests",
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..0x10_0000 => format!("{} KiB", bytes / 1024),
        0x10_0000..0x4000_0000 => format!("{} MiB", bytes >> 20),
        _ => format!("{} GiB", bytes >> 30),
    }
}

impl Drive {
    fn line(&self) -> String {
        let node = self.node.display();
        let Some(drive) = &self.announced else {
            let why = self.unknown.as_deref().unwrap_or("it is no NVMe drive");
            return format!("{node}: {why}");
        };
        let yes = |has: bool| if has { "yes" } else { "no" };
        let mut line = format!(
            "{node} {} {}: hints {}, FDP {}, shares pages {}, atomic writes {}",
            drive.model,
            drive.firmware,
            yes(drive.hints),
            yes(drive.fdp),
            yes(drive.share),
            size(drive.atomic_power_fail_bytes)
        );
        if let Some(logs) = drive.vendor_logs.as_ref().filter(|logs| !logs.is_empty()) {
            // A string takes everything.
            let _ = write!(line, ", vendor's logs");
            for log in logs.iter().take(8) {
                let _ = write!(line, " {log:02x}h");
            }
        }
        line
    }
}

impl Report {
    /// The stack, on a line.
    fn stack(&self) -> String {
        let mut line = format!("{}: {}", self.path, self.filesystem);

        for (index, layer) in self.layers.iter().enumerate() {
            let before = index.checked_sub(1).and_then(|at| self.layers.get(at));
            // Disks of an array stand side by side.
            let joint = match before {
                Some(before) if layer.depth <= before.depth => " and",
                _ => " on",
            };
            let _ = write!(
                line,
                "{joint} {} ({})",
                shown(&layer.node.display().to_string()),
                layer.kind
            );
        }
        line
    }

    fn print_files(&self, out: &mut dyn Write) -> io::Result<()> {
        let files = &self.files;
        writeln!(
            out,
            "files     {} of 128 KiB or more{}; {} of {} are in pieces",
            files.seen,
            if files.all {
                ""
            } else {
                ", not all that there are"
            },
            size(files.bytes_in_pieces),
            size(files.bytes)
        )?;
        for worst in &files.worst {
            write!(
                out,
                "          {} pieces in {}",
                worst.pieces,
                size(worst.bytes)
            )?;
            if let Some(dof) = worst.dof_p_permille {
                write!(out, ", DoF_P 0.{dof:03}")?;
            }
            writeln!(out, ": {}", shown(&worst.path))?;
        }
        Ok(())
    }

    fn print_times(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.timed.is_empty() {
            return Ok(());
        }
        writeln!(
            out,
            "timed     {} at once, {} rounds{}, {} s in all\n",
            size(self.read_bytes),
            self.rounds,
            if self.remembers {
                ", of which the first counts"
            } else {
                ""
            },
            self.seconds
        )?;
        for timed in &self.timed {
            writeln!(
                out,
                "{:<26} {:>3} parts  {:>6} MB/s",
                words(timed.kind),
                timed.parts,
                timed.mb_per_s
            )?;
        }
        writeln!(out)?;
        if let Some(parts) = &self.slowdown {
            writeln!(out, "pieces    {} times as long", parts.total)?;
            writeln!(
                out,
                "          {} by where they lie, {} by being several{}",
                parts.places,
                parts.splitting,
                match self.cause {
                    Some(Cause::Places) => ": dies cost more",
                    Some(Cause::Splitting) => ": requests cost more",
                    Some(Cause::Unclear) => ": which costs more is not clear",
                    None => "",
                }
            )?;
        }
        if let Some(times) = &self.aged {
            writeln!(
                out,
                "one piece {times} times as long as a file written just now"
            )?;
        }
        if let Some(times) = &self.unevenness {
            writeln!(
                out,
                "          the slowest quarter {times} times as long as the fastest"
            )?;
        }
        Ok(())
    }

    /// For people.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", self.stack())?;
        for drive in &self.drives {
            writeln!(out, "drive     {}", drive.line())?;
        }
        self.print_files(out)?;
        self.print_times(out)?;
        writeln!(out, "\nverdict   {}: {}\n", self.verdict, self.because)?;
        for remedy in &self.remedies {
            writeln!(
                out,
                "{:<9} {:<14} {}",
                remedy.name,
                remedy.gain.to_string(),
                remedy.note
            )?;
        }
        for (index, what) in self.not_known.iter().enumerate() {
            let head = if index == 0 {
                "\nnot known "
            } else {
                "          "
            };
            writeln!(out, "{head}{what}")?;
        }
        Ok(())
    }
}

/// Disks of a stack, each once.
#[must_use]
pub fn disks(layers: &[Layer]) -> Vec<&Path> {
    let mut found: Vec<&Path> = Vec::new();

    for layer in layers.iter().filter(|layer| layer.is_disk) {
        if !found.contains(&layer.node.as_path()) {
            found.push(&layer.node);
        }
    }
    found
}

#[cfg(test)]
pub mod tests {
    use super::{disks, size, Drive, Files, Report, Timed, Worst, VERSION};
    use crate::device::layers::Layer;
    use crate::device::nvme::announce::Announced;
    use crate::doctor::stats::{Interval, Parts};
    use crate::doctor::verdict::{remedies, unknowns, Abilities, Cause, Facts, Verdict};

    fn layer(node: &str, kind: &str, is_disk: bool, depth: usize) -> Layer {
        Layer {
            node: node.into(),
            kind: kind.into(),
            is_disk,
            depth,
        }
    }

    pub fn report() -> Report {
        let about = |permille| Interval::of(permille - 100, permille, permille + 100);
        let parts = Parts {
            total: about(5000),
            places: about(4000),
            splitting: about(1250),
            places_by_splitting: about(3200),
        };
        let facts = Facts {
            parts: Some(parts),
            ..Facts::default()
        };
        let timed = |kind, mb_per_s| Timed {
            kind,
            parts: 32,
            mean_ns: (1 << 20) * 1000 / mb_per_s,
            mb_per_s,
        };
        Report {
            version: VERSION,
            path: "/mnt".into(),
            filesystem: "ext4".into(),
            layers: vec![
                layer("/dev/md0", "md raid1", false, 0),
                layer("/dev/nvme0n1", "NVMe", true, 1),
                layer("/dev/nvme1n1", "NVMe", true, 1),
            ],
            drives: vec![
                Drive {
                    node: "/dev/nvme0n1".into(),
                    announced: Some(Announced {
                        model: "Drive".into(),
                        atomic_power_fail_bytes: 4096,
                        vendor_logs: Some(vec![0xc0, 0xff]),
                        ..Announced::default()
                    }),
                    unknown: None,
                },
                Drive {
                    node: "/dev/nvme1n1".into(),
                    announced: None,
                    unknown: Some("Permission denied".into()),
                },
            ],
            files: Files {
                seen: 12,
                unknown: 0,
                why_unknown: None,
                all: false,
                bytes: 64 << 20,
                bytes_in_pieces: 8 << 20,
                worst: vec![Worst {
                    path: "/mnt/a\x1b[2J<b>".into(),
                    bytes: 2 << 20,
                    pieces: 64,
                    dof_p_permille: Some(875),
                }],
            },
            read_bytes: 1 << 20,
            rounds: 5,
            remembers: false,
            seconds: 3,
            timed: vec![timed("in-pieces", 500), timed("in-one-piece", 2500)],
            slowdown: Some(parts),
            unevenness: Some(about(1100)),
            aged: None,
            verdict: Verdict::Affected,
            reason: "pieces",
            because: "the files take 4.90 to 5.10 times as long".into(),
            cause: Some(Cause::Places),
            remedies: remedies(&facts, Abilities::default()),
            not_known: unknowns(&facts),
        }
    }

    #[test]
    fn it_fits_on_a_screen_and_moves_no_cursor() {
        let mut text = Vec::new();
        report().print(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.lines().count() <= 30, "{text}");
        assert!(!text.contains('\x1b'), "{text}");
        for words in [
            "/mnt: ext4 on /dev/md0 (md raid1) on /dev/nvme0n1 (NVMe) and /dev/nvme1n1 (NVMe)",
            "hints no, FDP no, shares pages no, atomic writes 4 KiB, vendor's logs c0h ffh",
            "/dev/nvme1n1: Permission denied",
            "12 of 128 KiB or more, not all that there are; 8 MiB of 64 MiB are in pieces",
            "64 pieces in 2 MiB, DoF_P 0.875: ",
            "3.90 to 4.10 by where they lie, 1.15 to 1.35 by being several: dies cost more",
            "verdict   affected: the files",
        ] {
            assert!(text.contains(words), "{words}\n{text}");
        }
    }

    #[test]
    fn programs_find_the_same_keys_in_each_report() {
        let json = serde_json::to_value(report()).unwrap();
        let keys: Vec<&str> = json
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        let page = include_str!("../../man/dieaware-doctor.8");
        assert_eq!(keys.len(), 20);
        for key in keys {
            assert!(page.contains(&format!(".B {key}\n")), "{key}");
        }
        assert_eq!(json["verdict"], "affected");
        assert_eq!(json["cause"], "places");
        assert_eq!(json["remedies"][0]["name"], "defrag");
        assert!(json["remedies"][4]["gain"].is_null());
        assert_eq!(json["slowdown"]["total"]["low_permille"], 4900);
    }

    #[test]
    fn each_disk_is_named_once() {
        let report = report();
        assert_eq!(disks(&report.layers).len(), 2);
        let twice = [report.layers.clone(), report.layers.clone()].concat();
        assert_eq!(disks(&twice).len(), 2);
        assert_eq!(size(512), "512 bytes");
        assert_eq!(
            (size(4096), size(3 << 20), size(5 << 30)),
            ("4 KiB".into(), "3 MiB".into(), "5 GiB".into())
        );
    }
}
