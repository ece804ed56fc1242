#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Read Prometheus's text format (version 0.0.4), stricter than its own reader.

Usage: promtext.py FILE [METRIC]

Print "NAME{LABELS} VALUE" for each sample of METRIC, or how many families and samples there
are. Every family must have one HELP, then one TYPE, then its samples in one piece; counters
end in _total and do not fall below 0; no sample comes twice.
"""

import re
import sys
from typing import NoReturn

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? ([0-9.e+-]+|NaN|[+-]Inf)")


def wrong(number: int, what: str) -> NoReturn:
    sys.exit(f"line {number}: {what}")


class Reader:
    """What is known while lines are read."""

    def __init__(self) -> None:
        self.done: set[str] = set()
        self.family = ""
        self.kind = ""
        self.samples: dict[str, str] = {}

    def begin(self, number: int, name: str, text: str) -> None:
        if self.family and not self.kind:
            wrong(number, f"{self.family} has no TYPE")
        if name in self.done:
            wrong(number, f"{name} comes twice")
        if not text:
            wrong(number, f"{name} has no help")
        self.done.add(name)
        self.family, self.kind = name, ""

    def type(self, number: int, name: str, kind: str) -> None:
        if name != self.family or self.kind:
            wrong(number, f"the TYPE of {name} does not follow its HELP")
        if kind not in ("counter", "gauge"):
            wrong(number, f"there is no type {kind} here")
        if (kind == "counter") != name.endswith("_total"):
            wrong(number, f"{name} is a {kind}")
        self.kind = kind

    def sample(self, number: int, line: str) -> None:
        found = SAMPLE.fullmatch(line)
        if not found:
            wrong(number, f"this is no sample: {line}")
        name, labels, value = found.groups()
        if name != self.family or not self.kind:
            wrong(number, f"{name} stands outside its family")
        names = re.findall(r'(?:^|,)([a-zA-Z0-9_]+)="', labels or "")
        if len(set(names)) != len(names):
            wrong(number, "a label comes twice")
        key = f"{name}{{{labels or ''}}}"
        if key in self.samples:
            wrong(number, f"{key} comes twice")
        if self.kind == "counter" and float(value) < 0:
            wrong(number, f"the counter {key} is {value}")
        self.samples[key] = value

    def line(self, number: int, line: str) -> None:
        words = line.split(" ", 3)
        if line.startswith("# HELP ") and len(words) == 4:
            self.begin(number, words[2], words[3])
        elif line.startswith("# TYPE ") and len(words) == 4:
            self.type(number, words[2], words[3])
        else:
            self.sample(number, line)


def main() -> None:
    with open(sys.argv[1], encoding="utf-8", newline="") as file:
        text = file.read()
    if not text.endswith("\n"):
        sys.exit("the last line has no end")
    reader = Reader()
    for number, line in enumerate(text[:-1].split("\n"), 1):
        reader.line(number, line)
    if len(sys.argv) < 3:
        print(f"{len(reader.done)} families, {len(reader.samples)} samples")
    for key, value in reader.samples.items():
        if len(sys.argv) > 2 and key.startswith(sys.argv[2] + "{"):
            print(key, value)


if __name__ == "__main__":
    main()
