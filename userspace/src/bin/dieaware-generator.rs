// SPDX-License-Identifier: GPL-2.0-only
//! A generator of systemd (systemd.generator(7)): units for the lines of dietab(5). It is a program
//! of its own because systemd starts whatever is in its folder of generators, with folders as
//! arguments.

use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use dieaware::boot::dietab::{self, Entry};
use dieaware::boot::parameter::{self, Named};
use dieaware::boot::systemd::write_units;

const PROGRAM: &str = "/usr/sbin/dieaware";

/// To the kernel's log when systemd runs us, since nobody reads what generators print.
fn tell(priority: u8, sentence: &str) {
    let line = format!("dieaware-generator: {sentence}.");

    dieaware::complain!("{line}");
    if std::env::var_os("SYSTEMD_SCOPE").is_some() {
        // Where even that fails there is nobody left to tell.
        let _ = fs::write("/dev/kmsg", format!("<{priority}>{line}\n"));
    }
}

fn complain(sentence: &str) {
    tell(3, sentence);
}

/// Of what the root filesystem is mounted from below it, nothing can be made: no unit is to fail at each boot.
fn is_left(entry: &Entry, path: &Path, named: &Named) -> bool {
    let is_left = named.by(entry) == Some("root=");

    if is_left {
        let (line, name, source) = (entry.line, &entry.name, entry.source.path());
        let path = path.display();
        tell(
            5,
            &format!(
                "{path}, line {line}: root= names what {name} lies on, {source}: it is not made"
            ),
        );
    }
    is_left
}

/// Says what is wrong, and goes on with the other lines: a boot with some of the devices
/// is better than one with none.
fn generate(dir: &Path, path: &Path, text: &str, named: &Named) -> bool {
    let mut all_well = true;

    for line in dietab::parse(text) {
        let result = line.map_err(|err| err.to_string()).and_then(|entry| {
            if is_left(&entry, path, named) {
                return Ok(());
            }
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
        Ok(text) if generate(Path::new(&dir), path, &text, &Named::now()) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(2),
    }
}

#[cfg(test)]
mod tests {
    // A test that panics has failed, which is what it should do then.
    #![allow(clippy::unwrap_used)]

    use std::path::Path;

    use super::{generate, Named};

    #[test]
    fn what_the_root_filesystem_is_mounted_below_gets_no_unit() {
        let dir = tempfile::tempdir().unwrap();
        let named = Named {
            root: Some("/dev/null".to_owned()),
            resume: Some("/dev/zero".to_owned()),
        };
        let text = "a /dev/./null hint\nb /dev/zero hint nofail\nc /dev/null log\n";
        assert!(generate(dir.path(), Path::new("/etc/dietab"), text, &named));
        for (name, expected) in [("a", false), ("b", true), ("c", true)] {
            let unit = dir.path().join(format!("dieaware@{name}.service"));
            assert_eq!(unit.exists(), expected, "{name}");
        }
        let wants = dir.path().join("dieaware.target.requires");
        assert!(!wants.join("dieaware@a.service").exists());
    }
}
