// SPDX-License-Identifier: GPL-2.0-only
//! What the kernel's parameters say of dietab(5). With `dieaware=off` a machine boots as if the file were
//! empty: from the device below one in hint mode, if nothing else helps.

use std::fs;

/// Where the kernel shows them.
const PATH: &str = "/proc/cmdline";

fn says_off(parameters: &str) -> bool {
    parameters
        .split_whitespace()
        .any(|word| word == "dieaware=off")
}

/// Is nothing of dietab(5) to be made or hidden?
#[must_use]
pub fn is_off() -> bool {
    fs::read_to_string(PATH).is_ok_and(|text| says_off(&text))
}

#[cfg(test)]
mod tests {
    use super::says_off;

    #[test]
    fn a_whole_word_says_it() {
        assert!(says_off("root=/dev/sda2 ro dieaware=off quiet\n"));
        for text in ["", "dieaware=offline", "xdieaware=off", "dieaware"] {
            assert!(!says_off(text), "{text}");
        }
    }
}
