#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of figures.py and of how console.py reads pages: what must be the same, and what may differ.

Prints ok / not ok lines, and ends with 1 if one is not.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import console
from figures import Tolerance, fits

USUAL = Tolerance()
EXACT = Tolerance.stated("exact")
ALL = Tolerance.stated("all within 1.5")

# What is promised, whether it fits, the page, the command, what the page states of figures
CASES = [
    ("the same text fits", True, ["a b"], ["a b"], USUAL),
    ("spaces do not count", True, ["a   b "], ["a b"], USUAL),
    ("another word does not fit", False, ["a b"], ["a c"], USUAL),
    ("a line that is missing does not fit", False, ["a", "b"], ["a"], USUAL),
    ("a line more at the end does not fit", False, ["a"], ["a", "b"], USUAL),
    ("'...' is any lines at the end", True, ["a", "..."], ["a", "b", "c"], USUAL),
    ("'...' is any lines in between", True, ["a", "...", "c"], ["a", "b", "b", "c"], USUAL),
    ("'...' is no lines, too", True, ["a", "...", "c"], ["a", "c"], USUAL),
    ("what comes after '...' has to be there", False, ["...", "c"], ["a", "b"], USUAL),
    ("a count is exact", False, ["44 writes"], ["45 writes"], USUAL),
    ("a size is exact", False, ["2097152 bytes (2.1 MB)"], ["2097152 bytes (2.2 MB)"], USUAL),
    ("a count behind '=' is exact", False, ["confirmed=44"], ["confirmed=4"], USUAL),
    ("a figure in brackets is exact", False, ["@without_hint[12]: 1"], ["@without_hint[13]: 1"], USUAL),
    ("a name with a digit is exact", False, ["/dev/nvme0n1"], ["/dev/nvme1n1"], USUAL),
    ("a percentage may differ by the factor", True, ["speed 60.0 %"], ["speed 100.0 %"], USUAL),
    ("3.1 % is not 100.0 %", False, ["speed 3.1 %"], ["speed 100.0 %"], USUAL),
    ("a percentage is not a speed", False, ["speed 60 %"], ["speed 60 MB/s"], USUAL),
    ("a speed may differ by the factor", True, ["6.6 MB/s"], ["4.1 MB/s"], USUAL),
    ("a speed may differ by no more", False, ["6.6 MB/s"], ["3.2 MB/s"], USUAL),
    ("kB/s are not MB/s", False, ["6.6 MB/s"], ["6.6 kB/s"], USUAL),
    ("the unit is taken into account", True, ["1.2 MB/s"], ["900 kB/s"], USUAL),
    ("a time may differ by the factor", True, ["copied, 0.31 s"], ["copied, 0.5 s"], USUAL),
    ("a time in another unit is far off", False, ["copied, 0.31 s"], ["copied, 0.31 ms"], USUAL),
    ("no time is not some time", False, ["0 s"], ["0.1 s"], USUAL),
    ("a stated factor counts", False, ["6.6 MB/s"], ["6.0 MB/s"], Tolerance.stated("measured within 1.05")),
    ("a stated factor does not free counts", False, ["44"], ["45"], Tolerance.stated("measured within 3")),
    ("'exact' binds times", False, ["1000.333 ms"], ["1000.334 ms"], EXACT),
    ("'all' frees counts", True, ["6.000 6 pieces"], ["5.000 5 pieces"], ALL),
    ("'all' frees them by the factor only", False, ["6 pieces"], ["10 pieces"], ALL),
    ("DoF_P is exact even then", False, ["0.875 6"], ["0.750 6"], ALL),
    ("the dies' shares count", False, [" .....9.. x"], [" ....45.. x"], USUAL),
    ("which die has a share does not", True, [" .....9.. x"], [" 9....... x"], USUAL),
    ("a kernel's release may move on", True, ["6.12.95+deb12-amd64"], ["6.12.101+deb12-amd64"], USUAL),
    ("a kernel's series may not", False, ["6.12.95+deb12-amd64"], ["6.13.1+deb12-amd64"], USUAL),
]

PAGE = """
    # first            # a comment
    one

    two
Text

<!-- figures: all within 3 -->

    # second; x    # ends with 3
    three
    # third \\
        goes on

Text
<!-- run: hidden -->

    no output of the hidden one
"""

COMMANDS = [
    ("first", ["one", "two"], 0, USUAL),
    ("second; x", ["three"], 3, Tolerance(3, True)),
    ("third goes on", [], 0, Tolerance(3, True)),
    ("hidden", [], 0, USUAL),
]


def page_is_read() -> bool:
    with tempfile.NamedTemporaryFile("w", suffix=".md") as page:
        page.write(PAGE)
        page.flush()
        found = console.commands(Path(page.name), "page")
    return [(one.text, one.prints, one.status, one.tolerance) for one in found] == COMMANDS


def refuses(words: str) -> bool:
    try:
        Tolerance.stated(words)
    except ValueError:
        return True
    return False


def main() -> int:
    results = [
        (sentence, fits(wanted, got, tolerance) == verdict)
        for sentence, verdict, wanted, got, tolerance in CASES
    ]
    results.append(("commands, output, status and tolerance are read from a page", page_is_read()))
    results.append(("a factor of 1 is refused", refuses("all within 1")))
    results.append(("words that state nothing are refused", refuses("roughly")))
    for sentence, good in results:
        print("ok" if good else "not ok", "- comparison:", sentence)
    return int(not all(good for _, good in results))


if __name__ == "__main__":
    sys.exit(main())
