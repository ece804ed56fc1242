// SPDX-License-Identifier: GPL-2.0-only
//! What the kernel's parameters say of dietab(5). With `dieaware=off` a machine boots as if the file were
//! empty: from the device below one in hint mode, if nothing else helps.

use std::fs;
use std::path::Path;

use super::dietab::{Entry, Mode, Source};

/// Where the kernel shows them.
const PATH: &str = "/proc/cmdline";

/// Where initramfs-tools keeps what it was told when the initramfs was made.
const SETTINGS: &str = "/conf";

fn says_off(parameters: &str) -> bool {
    parameters
        .split_whitespace()
        .any(|word| word == "dieaware=off")
}

/// The last value of a parameter, or of a line in a file that is set up alike.
fn last<'a>(words: impl Iterator<Item = &'a str>, key: &str) -> Option<&'a str> {
    words.filter_map(|word| word.strip_prefix(key)).last()
}

/// Is a value MAJOR:MINOR, as the kernel itself and initramfs-tools take it?
fn is_number(value: &str) -> bool {
    let is_decimal =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());

    value
        .split_once(':')
        .is_some_and(|(major, minor)| is_decimal(major) && is_decimal(minor))
}

/// The device that a value names by what it is. A UUID or label of what it holds may lead to a device above it.
fn device(value: &str) -> Option<String> {
    if is_number(value) {
        // A link of udev's
        return Some(format!("/dev/block/{value}"));
    }
    Source::of_device(value).map(|source| source.path())
}

fn root_in(parameters: &str) -> Option<String> {
    last(parameters.split_whitespace(), "root=").and_then(device)
}

/// `settings`: those of initramfs-tools, which count where the kernel has no such parameter.
fn resume_in(parameters: &str, settings: &str) -> Option<String> {
    if parameters.split_whitespace().any(|word| word == "noresume") {
        return None;
    }
    let setting = || last(settings.lines().map(str::trim), "RESUME=");
    let value = last(parameters.split_whitespace(), "resume=").or_else(setting)?;

    device(value.trim_matches(['"', '\'']))
}

/// What stands in the initramfs that initramfs-tools has made, in the order in which it is read
/// there: a later line overrides. Nothing where there is none.
fn settings(folder: &Path) -> String {
    let more = fs::read_dir(folder.join("conf.d")).into_iter().flatten();
    let mut paths: Vec<_> = more.flatten().map(|file| file.path()).collect();
    paths.sort();
    paths.insert(0, folder.join("initramfs.conf"));

    let texts = paths
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok());
    texts.map(|text| text + "\n").collect()
}

/// What is named by what it is, and would be in use below a device above it: the device of the root filesystem,
/// and that on which an image of the machine is looked for.
#[derive(Default)]
pub struct Named {
    pub root: Option<String>,
    pub resume: Option<String>,
}

impl Named {
    /// By the parameters of the kernel that runs.
    #[must_use]
    pub fn now() -> Self {
        let parameters = fs::read_to_string(PATH).unwrap_or_default();

        Self {
            root: root_in(&parameters),
            resume: resume_in(&parameters, &settings(Path::new(SETTINGS))),
        }
    }

    /// The parameter that names what an entry lies on. What is not only for swap is made whatever `resume=` names:
    /// the machine would not boot without it.
    #[must_use]
    pub fn by(&self, entry: &Entry) -> Option<&'static str> {
        let real = |path: &str| fs::canonicalize(path).unwrap_or_else(|_| path.into());
        let source = entry.source.path();
        let is_source = |named: &Option<String>| {
            let is_it = |named: &String| real(named) == real(&source);
            entry.mode == Mode::Hint && named.as_ref().is_some_and(is_it)
        };

        if is_source(&self.root) {
            return Some("root=");
        }
        (entry.nofail && is_source(&self.resume)).then_some("resume=")
    }
}

/// Is nothing of dietab(5) to be made or hidden?
#[must_use]
pub fn is_off() -> bool {
    fs::read_to_string(PATH).is_ok_and(|text| says_off(&text))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{resume_in, root_in, says_off, settings, Named};
    use crate::boot::dietab::parse;

    #[test]
    fn a_root_is_a_device_by_its_own_name_only() {
        for (text, expected) in [
            (
                "root=/dev/sda1 ro root=/dev/vg/root\n",
                Some("/dev/vg/root"),
            ),
            (
                "ro root=PARTUUID=12-34",
                Some("/dev/disk/by-partuuid/12-34"),
            ),
            ("root=UUID=12-34 ro", None),
            ("root=LABEL=a ro", None),
            ("root=0x801", None),
            ("ro root=8:17", Some("/dev/block/8:17")),
            ("root=8:", None),
            ("root=:1", None),
            ("root=8:x", None),
            ("root=a:8:1", None),
            ("noroot=/dev/sda1", None),
            ("", None),
        ] {
            assert_eq!(root_in(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn an_image_is_looked_for_where_the_last_word_says() {
        for (parameters, settings, expected) in [
            ("ro resume=/dev/sda3\n", "", Some("/dev/sda3")),
            (
                "resume=/dev/sda3 resume=PARTUUID=1-2",
                "RESUME=/dev/sdb",
                Some("/dev/disk/by-partuuid/1-2"),
            ),
            ("resume=UUID=1-2", "RESUME=/dev/sdb", None),
            (
                "ro",
                "RESUME=/dev/sdb\n# none\nRESUME=\"/dev/sdc\"\n",
                Some("/dev/sdc"),
            ),
            ("resume=259:3", "", Some("/dev/block/259:3")),
            ("ro", "RESUME=8:1\n", Some("/dev/block/8:1")),
            ("ro", "RESUME=UUID=1-2\n", None),
            ("ro", "RESUME=none\n", None),
            ("resume=/dev/sda3 noresume", "RESUME=/dev/sdb", None),
            ("noresume=1 resume=/dev/sda3", "", Some("/dev/sda3")),
            ("", "", None),
        ] {
            let found = resume_in(parameters, settings);
            assert_eq!(found.as_deref(), expected, "{parameters}, {settings}");
        }
    }

    #[test]
    fn files_of_an_initramfs_are_read_in_its_order() {
        let dir = tempfile::tempdir().unwrap();
        let resume = || resume_in("ro", &settings(dir.path()));
        assert_eq!(resume(), None);
        for (name, text, expected) in [
            // As it is without a newline at its end
            (
                "initramfs.conf",
                "MODULES=most\nRESUME=/dev/sda1",
                "/dev/sda1",
            ),
            ("conf.d/resume", "RESUME=/dev/sdb1\n", "/dev/sdb1"),
            ("conf.d/zz", "RESUME=/dev/sdc1\n", "/dev/sdc1"),
            ("conf.d/a", "RESUME=/dev/sdd1\n", "/dev/sdc1"),
        ] {
            fs::create_dir_all(dir.path().join("conf.d")).unwrap();
            fs::write(dir.path().join(name), text).unwrap();
            assert_eq!(resume().as_deref(), Some(expected), "{name}");
        }
    }

    #[test]
    fn what_is_named_is_the_source_of_a_line_in_hint_mode() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("root");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        let link = link.to_str().unwrap();
        for (line, root, resume, expected) in [
            ("a /dev/null hint", link, "", Some("root=")),
            ("a /dev/zero hint", link, "", None),
            ("a /dev/null log", link, "", None),
            ("a /dev/null hint", "", "", None),
            // A name that leads nowhere yet is one all the same.
            ("a /dev/none hint", "/dev/none", "", Some("root=")),
            ("a /dev/none hint", "/dev/nothing", "", None),
            // The image of a machine that hibernated is read by the name that it was given.
            ("a /dev/null hint nofail", "", link, Some("resume=")),
            ("a /dev/zero hint nofail", "", link, None),
            ("a /dev/null log nofail", "", link, None),
            ("a /dev/null hint", "/dev/zero", link, None),
            ("a /dev/null hint nofail", link, link, Some("root=")),
        ] {
            let entry = parse(line).pop().unwrap().unwrap();
            let path = |path: &str| (!path.is_empty()).then(|| path.to_owned());
            let named = Named {
                root: path(root),
                resume: path(resume),
            };
            assert_eq!(named.by(&entry), expected, "{line} {root} {resume}");
        }
    }

    #[test]
    fn a_whole_word_says_it() {
        assert!(says_off("root=/dev/sda2 ro dieaware=off quiet\n"));
        for text in ["", "dieaware=offline", "xdieaware=off", "dieaware"] {
            assert!(!says_off(text), "{text}");
        }
    }
}
