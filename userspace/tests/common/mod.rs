// SPDX-License-Identifier: GPL-2.0-only
//! What the tests of log mode's format share: programs of the core, folders, the tool.

// Not every test needs everything.
#![allow(dead_code)]

pub mod devices;
pub mod drafts;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// The project's folder.
pub fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A program of `tests/golden`, built from the core.
pub fn core_program(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden");
        let status = Command::new("make")
            .args(["-s", "-C"])
            .arg(top().join("tests/golden"))
            .arg(format!("OUT={}", out.display()))
            .status()
            .unwrap();
        assert!(status.success(), "tests/golden does not build");
        out
    });
    folder.join(name)
}

/// An empty folder for a test of that name.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A file of zeroes that takes no room.
pub fn image(folder: &Path, name: &str, bytes: u64) -> String {
    let path = folder.join(name);
    fs::File::create(&path).unwrap().set_len(bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

/// What a program printed that was given this input; it must have ended well.
pub fn output_of(program: &Path, args: &[&str], input: &str) -> String {
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "{}", program.display());
    String::from_utf8(output.stdout).unwrap()
}

/// Run the tool.
pub fn dieaware(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dieaware"))
        .args(args)
        .output()
        .unwrap()
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Numbers that are the same each time.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}
