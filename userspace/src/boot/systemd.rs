// SPDX-License-Identifier: GPL-2.0-only
//! Units of systemd for the lines of dietab(5): what its generator writes. A device is made when
//! the device below is there and before what lies on it is mounted, and is removed the other way
//! round.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::boot::dietab::Entry;

/// All devices that are made at boot.
const TARGET: &str = "dieaware.target";

/// Part of a unit's name, as systemd-escape(1) makes it.
pub fn escape(text: &str) -> String {
    escape_bytes(text.as_bytes())
}

fn escape_bytes(bytes: &[u8]) -> String {
    let mut name = String::new();
    for (index, byte) in bytes.iter().copied().enumerate() {
        match byte {
            b'/' => name.push('-'),
            b'.' if index == 0 => name.push_str("\\x2e"),
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b':' | b'_' | b'.' => {
                name.push(char::from(byte));
            }
            _ => name.push_str(&format!("\\x{byte:02x}")),
        }
    }
    name
}

/// The name that something of a folder has as a file, and as an instance of a unit.
#[must_use]
pub fn folder_name(folder: &Path) -> String {
    // Any bytes: two folders never have one name.
    let parts = folder.as_os_str().as_bytes().split(|byte| *byte == b'/');
    let parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
    let name = escape_bytes(&parts.join(&b'/'));
    if name.is_empty() {
        "-".to_owned()
    } else {
        name
    }
}

/// The unit of a device's path. As systemd has it, slashes in a row are one, and a dot is no folder.
pub fn device_unit(path: &str) -> String {
    let parts: Vec<_> = path
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    format!("{}.device", escape(&parts.join("/")))
}

/// A word of a command in a unit, so that systemd takes it as it is.
pub fn quote(word: &str) -> String {
    let mut quoted = String::from("\"");
    for c in word.chars() {
        match c {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(c);
            }
            '%' => quoted.push_str("%%"),
            '$' => quoted.push_str("$$"),
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Text of a unit in which `%` means something.
fn without_specifiers(text: &str) -> String {
    text.replace('%', "%%")
}

fn service_name(entry: &Entry) -> String {
    format!("dieaware@{}.service", escape(&entry.name))
}

fn create_command(entry: &Entry, program: &str) -> String {
    let mut words = vec![
        program.to_owned(),
        "create".to_owned(),
        format!("--mode={}", entry.mode),
    ];
    if entry.start_sectors != 0 {
        words.push(format!("--start={}", entry.start_sectors));
    }
    words.extend(entry.options.iter().map(|o| format!("--option={o}")));
    words.extend(["--".to_owned(), entry.name.clone(), entry.source.path()]);
    let quoted: Vec<_> = words.iter().map(|word| quote(word)).collect();
    quoted.join(" ")
}

/// The service that makes a device while its source is there, and removes it before that goes.
pub fn service(entry: &Entry, dietab: &Path, program: &str) -> String {
    let source = without_specifiers(&device_unit(&entry.source.path()));
    let device = without_specifiers(&escape(&format!("dev/mapper/{}", entry.name)));
    let late = if entry.netdev {
        "After=remote-fs-pre.target\n"
    } else {
        ""
    };
    let target = if entry.nofail || entry.noauto {
        String::new()
    } else {
        format!("Before={TARGET}\n")
    };

    format!(
        "# Made by dieaware-generator\n\
         [Unit]\n\
         Description=Die-aware device {name}\n\
         Documentation=man:dietab(5) man:dieaware(8)\n\
         SourcePath={dietab}\n\
         DefaultDependencies=no\n\
         IgnoreOnIsolate=true\n\
         ConditionPathExists=!/dev/mapper/{name}\n\
         BindsTo={source}\n\
         After={source} systemd-modules-load.service\n\
         Wants=blockdev@{device}.target\n\
         Before=blockdev@{device}.target umount.target\n\
         Conflicts=umount.target\n\
         {late}{target}\
         \n\
         [Service]\n\
         Type=oneshot\n\
         RemainAfterExit=yes\n\
         TimeoutSec=infinity\n\
         ExecStart={create}\n\
         ExecStop={remove}\n",
        name = without_specifiers(&entry.name),
        dietab = dietab.display(),
        create = create_command(entry, program),
        remove = [program, "remove", "--", &entry.name].map(quote).join(" "),
    )
}

/// A link FOLDER/LINK -> ../UNIT, which makes LINK's folder want or require the unit.
fn pull_in(dir: &Path, folder: &str, unit: &str, unit_path: &str) -> io::Result<()> {
    let folder = dir.join(folder);
    fs::create_dir_all(&folder)?;
    match symlink(unit_path, folder.join(unit)) {
        Err(err) if err.kind() != io::ErrorKind::AlreadyExists => Err(err),
        _ => Ok(()),
    }
}

/// Write the units of a line below `dir`.
///
/// # Errors
///
/// When that folder cannot be written.
pub fn write_units(dir: &Path, entry: &Entry, dietab: &Path, program: &str) -> io::Result<()> {
    let unit = service_name(entry);
    let up = format!("../{unit}");
    let device = device_unit(&format!("/dev/mapper/{}", entry.name));

    fs::write(dir.join(&unit), service(entry, dietab, program))?;
    // Whoever wants to mount it starts it, even if it is not for the boot.
    pull_in(dir, &format!("{device}.requires"), &unit, &up)?;
    // Filesystems are ordered behind this target. It must stop with the service, or else that
    // would not wait until they are unmounted.
    let mounts = escape(&format!("dev/mapper/{}", entry.name));
    let folder = dir.join(format!("blockdev@{mounts}.target.d"));
    fs::create_dir_all(&folder)?;
    fs::write(
        folder.join("50-dietab.conf"),
        format!(
            "# Made by dieaware-generator\n[Unit]\nPartOf={}\n",
            without_specifiers(&unit)
        ),
    )?;
    if let Some(timeout) = &entry.timeout {
        let folder = dir.join(format!("{}.d", device_unit(&entry.source.path())));
        fs::create_dir_all(&folder)?;
        fs::write(
            folder.join("50-dietab.conf"),
            format!("# Made by dieaware-generator\n[Unit]\nJobRunningTimeoutSec={timeout}\n"),
        )?;
    }
    if entry.noauto {
        return Ok(());
    }
    let how = if entry.nofail { "wants" } else { "requires" };
    pull_in(dir, &format!("{TARGET}.{how}"), &unit, &up)?;
    let by = if entry.netdev {
        "remote-fs.target.wants"
    } else {
        "sysinit.target.wants"
    };
    pull_in(
        dir,
        by,
        TARGET,
        &format!("/usr/lib/systemd/system/{TARGET}"),
    )
}

#[cfg(test)]
mod tests {
    use super::{device_unit, escape, folder_name, quote, service, write_units};
    use crate::boot::dietab::{parse, Entry};
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    fn entry(line: &str) -> Entry {
        parse(line).pop().unwrap().unwrap()
    }

    #[test]
    fn names_are_escaped_as_systemd_does() {
        assert_eq!(escape("my-disk.1"), "my\\x2ddisk.1");
        assert_eq!(escape(".a b"), "\\x2ea\\x20b");
        assert_eq!(
            device_unit("/dev/disk/by-id/nvme-A_1"),
            "dev-disk-by\\x2did-nvme\\x2dA_1.device"
        );
    }

    #[test]
    fn each_folder_has_a_name_of_its_own() {
        let name = |bytes| folder_name(Path::new(OsStr::from_bytes(bytes)));
        assert_eq!(name(b"/"), "-");
        assert_eq!(name(b"/srv/a-b/"), "srv-a\\x2db");
        assert_eq!(name(b"/m\xfcnchen"), "m\\xfcnchen");
        assert_eq!(name(b"/m\xe4nchen"), "m\\xe4nchen");
    }

    #[test]
    fn a_path_has_one_unit() {
        for path in ["/dev/x", "/dev//x", "//dev/x/", "/dev/./x"] {
            assert_eq!(device_unit(path), "dev-x.device", "{path}");
        }
        assert_eq!(device_unit("/dev/.x"), "dev-.x.device");
    }

    #[test]
    fn words_are_taken_as_they_are() {
        assert_eq!(quote("a b"), "\"a b\"");
        assert_eq!(quote("50%\\\"$x"), "\"50%%\\\\\\\"$$x\"");
    }

    #[test]
    fn a_service_makes_and_removes_the_device() {
        let text = service(
            &entry("my-db UUID=12-34 log policy=greedy,start=8"),
            Path::new("/etc/dietab"),
            "/usr/sbin/dieaware",
        );
        assert!(text.contains(
            "ExecStart=\"/usr/sbin/dieaware\" \"create\" \"--mode=log\" \"--start=8\" \
             \"--option=policy=greedy\" \"--\" \"my-db\" \"/dev/disk/by-uuid/12-34\"\n"
        ));
        assert!(text.contains("ExecStop=\"/usr/sbin/dieaware\" \"remove\" \"--\" \"my-db\"\n"));
        assert!(text.contains("BindsTo=dev-disk-by\\x2duuid-12\\x2d34.device\n"));
        assert!(text.contains("Before=blockdev@dev-mapper-my\\x2ddb.target umount.target\n"));
        assert!(text.contains("Before=dieaware.target\n"));
        // One of the initramfs is left as it is.
        assert!(text.contains("ConditionPathExists=!/dev/mapper/my-db\n"));
    }

    #[test]
    fn nothing_is_formatted_at_boot() {
        for mode in ["hint", "log"] {
            let line = format!("a /dev/a {mode}");
            let text = service(&entry(&line), Path::new("/etc/dietab"), "dieaware");
            let command = format!("\"dieaware\" \"create\" \"--mode={mode}\" \"--\" \"a\"");
            assert!(text.contains(&format!("ExecStart={command}")));
            assert!(!text.contains("--format"));
        }
    }

    #[test]
    fn units_are_pulled_in_as_the_line_says() {
        let dir = std::env::temp_dir().join(format!("dietab-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        for line in [
            "a /dev/a hint",
            "b /dev/b hint nofail,x-systemd.device-timeout=5",
            "c /dev/c hint noauto",
            "d /dev/d hint _netdev",
        ] {
            write_units(&dir, &entry(line), Path::new("/etc/dietab"), "dieaware").unwrap();
        }
        let there = |name: &str| dir.join(name).symlink_metadata().is_ok();
        assert!(there("dieaware.target.requires/dieaware@a.service"));
        assert!(there("dieaware.target.wants/dieaware@b.service"));
        assert!(there("dev-b.device.d/50-dietab.conf"));
        assert!(there("dieaware@c.service"));
        assert!(!there("dieaware.target.requires/dieaware@c.service"));
        assert!(there("dev-mapper-c.device.requires/dieaware@c.service"));
        assert!(there("blockdev@dev-mapper-a.target.d/50-dietab.conf"));
        assert!(there("remote-fs.target.wants/dieaware.target"));
        assert!(there("sysinit.target.wants/dieaware.target"));
        fs::remove_dir_all(&dir).unwrap();
    }
}
