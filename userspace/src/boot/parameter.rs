// SPDX-License-Identifier: GPL-2.0-only
//! What the kernel's parameters say of dietab(5). With `dieaware=off` a machine boots as if the file were
//! empty: from the device below one in hint mode, if nothing else helps.

use std::fs;

use super::dietab::Source;

/// Where the kernel shows them.
const PATH: &str = "/proc/cmdline";

fn says_off(parameters: &str) -> bool {
    parameters
        .split_whitespace()
        .any(|word| word == "dieaware=off")
}

/// The device that `root=` names by what it is. A UUID or label of what it holds may lead to a device above it.
fn root_in(parameters: &str) -> Option<String> {
    let value = parameters
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("root="))
        .next_back()?;
    Source::of_device(value).map(|source| source.path())
}

/// The path of the root filesystem's device, if `root=` is one, or leads to a partition by its own name.
#[must_use]
pub fn root() -> Option<String> {
    root_in(&fs::read_to_string(PATH).ok()?)
}

/// Is nothing of dietab(5) to be made or hidden?
#[must_use]
pub fn is_off() -> bool {
    fs::read_to_string(PATH).is_ok_and(|text| says_off(&text))
}

#[cfg(test)]
mod tests {
    use super::{root_in, says_off};

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
            ("noroot=/dev/sda1", None),
            ("", None),
        ] {
            assert_eq!(root_in(text).as_deref(), expected, "{text}");
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
