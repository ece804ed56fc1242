// SPDX-License-Identifier: GPL-2.0-only
//! A generator of systemd (systemd.generator(7)): units for the lines of dietab(5). It is a program
//! of its own because systemd starts whatever is in its folder of generators, with folders as
//! arguments.

use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use dieaware::boot::dietab;
use dieaware::boot::parameter;
use dieaware::boot::systemd::write_units;

const PROGRAM: &str = "/usr/sbin/dieaware";

/// To the kernel's log when systemd runs us, since nobody reads what generators print.
fn complain(sentence: &str) {
    let line = format!("dieaware-generator: {sentence}.");

    dieaware::complain!("{line}");
    if std::env::var_os("SYSTEMD_SCOPE").is_some() {
        // Where even that fails there is nobody left to tell.
        let _ = fs::write("/dev/kmsg", format!("<3>{line}\n"));
    }
}

/// Says what is wrong, and goes on with the other lines: a boot with some of the devices
/// is better than one with none.
fn generate(dir: &Path, path: &Path, text: &str) -> bool {
    let mut all_well = true;

    for line in dietab::parse(text) {
        let result = line.map_err(|err| err.to_string()).and_then(|entry| {
            write_units(dir, &entry, path, PROGRAM)
                .map_err(|err| format!("line {}: {}: {err}", entry.line, dir.display()))
        });
        if let Err(sentence) = result {
            complain(&format!("{}, {sentence}", path.display()));
            all_well = false;
        }
    }
    all_well
}

fn main() -> ExitCode {
    let path = std::env::var_os("DIEAWARE_DIETAB").unwrap_or_else(|| dietab::PATH.into());
    let path = Path::new(&path);
    let Some(dir) = std::env::args_os().nth(1) else {
        complain("The folder for the units is missing; systemd gives it");
        return ExitCode::from(2);
    };

    if parameter::is_off() {
        return ExitCode::SUCCESS;
    }
    match dietab::read(path) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => ExitCode::SUCCESS,
        Err(err) => {
            complain(&format!("{} cannot be read: {err}", path.display()));
            ExitCode::from(3)
        }
        Ok(text) if generate(Path::new(&dir), path, &text) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(2),
    }
}
