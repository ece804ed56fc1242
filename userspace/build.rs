// SPDX-License-Identifier: GPL-2.0-only
//! Builds the virtual SSD's core, the same files as the kernel module's, for `sim`.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

fn c_files(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut files = Vec::new();

    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "c") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn main() -> Result<(), Box<dyn Error>> {
    let core = Path::new("../nvmevirt-backend/core");
    let include = Path::new("../include");

    cc::Build::new()
        .files(c_files(core)?)
        .file("sim/glue.c")
        // First include/user: its platform.h stands in for the kernel's.
        .include(include.join("user"))
        .include(include)
        .include(core)
        .std("gnu11")
        .flag("-Wno-unused-parameter")
        .flag("-Wno-sign-compare")
        .flag("-Wno-missing-field-initializers")
        .try_compile("ftl")?;
    for path in [core, include, Path::new("sim")] {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    Ok(())
}
