#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""How fast the profiles of the virtual SSD are, beside what others have published, and what
properties do to the gain of hints: the tables of docs/drives.md.

bench/workloads/drive_speed.c measures profiles over the FTL's core on a virtual clock, and
bench/pieces.py files with hints and without by `dieaware sim`. Both are the same every time. What they
gave last is on record in bench/results (drives.json, pieces.json); the tables are made of that.

Usage: drives.py page             write the tables
       drives.py check-page       say whether they are what they should be
       drives.py record PROGRAM [PROFILE...]
                                  measure profiles (all of them), and put them on record
       drives.py pieces TOOL      the same for files and hints
       drives.py check PROGRAM    are some figures that take little time as on record?
       drives.py error PROGRAM PROFILE
                                  speeds of a profile beside what others have published, for bench/run.py
"""

from __future__ import annotations

import datetime
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterable
from typing import Any, Optional

import pages
import pieces
import records
from published import ONE_DIE, PUBLISHED, SOURCES, SPEEDS, SPLIT, Published

Row = dict[str, Any]
Key = tuple[str, int, str, int, int]

TOP = pathlib.Path(__file__).resolve().parent.parent
PAGE = TOP / "docs" / "drives.md"
_LINE = re.compile(r"(.*) depth=(\d+) bytes=(\d+) commands=(\d+) ns=(\d+)")

# Nobody's drive, and its steady state takes hours
FRESH_ONLY = ("huge",)
# A small drive, whose steady state takes seconds
SMALL = ("fast24", 4096)


def key_of(row: Row) -> Key:
    return row["profile"], row["capacity_mib"], row["figure"], row["depth"], row["bytes"]


def measure(program: str, profile: str, option: str = "", capacity_mib: int = 0) -> list[Row]:
    command = [program, "--profile", profile, *([option] if option else [])]
    if capacity_mib:
        command += ["--capacity", f"{capacity_mib}M"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    rows = []
    for line in done.stdout.splitlines():
        parts = _LINE.fullmatch(line)
        if not parts:
            raise ValueError(f"{program} said: {line}")
        depth, size, commands, ns = (int(number) for number in parts.groups()[1:])
        rows.append(
            {
                "profile": profile,
                "capacity_mib": capacity_mib,
                "figure": parts[1],
                "depth": depth,
                "bytes": size,
                "commands": commands,
                "ns": ns,
            }
        )
    return rows


def profiles(program: str) -> list[str]:
    done = subprocess.run([program, "--list"], check=True, capture_output=True, text=True)
    return done.stdout.split()


def record(program: str, wanted: list[str]) -> None:
    every = profiles(program)
    unknown = [name for name in wanted if name not in every]
    if unknown:
        sys.exit(f"There is no profile '{unknown[0]}': {', '.join(every)} are known.")
    today = datetime.date.today().isoformat()
    for profile in wanted or every:
        rows = measure(program, profile)
        if profile not in FRESH_ONLY:
            rows += measure(program, profile, "--steady")
        # Only of drives that do not have all of their map in memory
        rows += measure(program, profile, "--spans")
        if profile == SMALL[0]:
            rows += measure(program, profile, "--steady", SMALL[1])
        kept = [row for row in records.read_rows("drives") if row["profile"] != profile]
        kept += [{**row, "measured": today} for row in rows]
        records.write_rows("drives", sorted(kept, key=lambda row: every.index(row["profile"])))
        print(f"{profile}: {len(rows)} figures", file=sys.stderr)


def record_pieces(tool: str) -> None:
    today = datetime.date.today().isoformat()
    rows = pieces.measure(tool) + pieces.measure_profiles(tool)
    records.write_rows("pieces", [{**row, "measured": today} for row in rows])


def check(program: str) -> int:
    recorded = {key_of(row): row for row in records.read_rows("drives")}
    rows = [row for name in profiles(program) for row in measure(program, name)]
    rows += measure(program, SMALL[0], "--steady", SMALL[1])
    nr_failed = 0
    for row in rows:
        was = recorded.get(key_of(row), {})
        same = all(row[name] == was.get(name) for name in ("commands", "ns"))
        nr_failed += not same
        print(
            f"{'ok' if same else 'not ok'} - {row['profile']}, {row['figure']} of {row['bytes']} "
            f"bytes, {row['depth']} at a time: {row['ns']} ns, on record {was.get('ns')}"
        )
    print(f"{len(rows) - nr_failed} passed, {nr_failed} failed")
    return 1 if nr_failed else 0


class Figures:
    """Figures, those on record unless there are others, in the units of the tables."""

    def __init__(self, rows: Optional[list[Row]] = None) -> None:
        self.rows = records.read_rows("drives") if rows is None else rows

    def profiles(self) -> list[str]:
        return list(dict.fromkeys(row["profile"] for row in self.rows))

    def _find(self, profile: str, figure: str, depth: int) -> list[Row]:
        return [
            row
            for row in self.rows
            if not row["capacity_mib"]
            and (row["profile"], row["figure"], row["depth"]) == (profile, figure, depth)
        ]

    def get(self, profile: str, figure: str, depth: int, unit: str) -> Optional[float]:
        if figure == SPLIT:
            return self._split_us(profile)
        if figure == ONE_DIE:
            return self._one_die_percent(profile)
        rows = self._find(profile, figure, depth)
        if not rows:
            return None
        nr = rows[0]["commands"] * (rows[0]["bytes"] if unit == "MB/s" else 1)
        return nr * (1e3 if unit == "MB/s" else 1e6) / rows[0]["ns"]

    def _split_us(self, profile: str) -> Optional[float]:
        """What 8 MiB take longer by 32 KiB than by 1 MiB, for each command that there is more."""
        rows = sorted(self._find(profile, "fresh 8 MiB read", 1), key=lambda row: row["commands"])
        if len(rows) != 2:
            return None
        few, many = rows
        return (many["ns"] - few["ns"]) / (many["commands"] - few["commands"]) / 1e3


    def _one_die_percent(self, profile: str) -> Optional[float]:
        die = self.get(profile, "fresh unit of each stripe read", 32, "MB/s")
        all_dies = self.get(profile, "fresh sequential read", 32, "MB/s")
        return None if die is None or all_dies is None else 100 * die / all_dies


def print_errors(program: str, profile: str) -> None:
    figures = Figures(measure(program, profile))
    print(f"bench: profile={profile}")
    for one in PUBLISHED:
        if one.profile != profile or one.figure not in SPEEDS:
            continue
        here = figures.get(profile, one.figure, one.depth, one.unit)
        name = one.figure.removeprefix("fresh ").replace(" ", "_")
        print(
            f"bench: row=ssd.drive_error.{profile} figure={name} depth={one.depth} here={here} "
            f"published={one.value} unit={one.unit}"
        )


def _number(value: Optional[float]) -> str:
    if value is None:
        return ""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def _markdown(head: Iterable[str], body: Iterable[Iterable[str]]) -> list[str]:
    head = list(head)
    rows = [head, ["---"] * len(head), *body]
    return ["| " + " | ".join(cells) + " |" for cells in rows]


# Column: figure behind the state, depth, unit
COLUMNS = [
    ("sequential read", 1, "MB/s"),
    ("sequential read", 32, "MB/s"),
    ("random read", 1, "k/s"),
    ("random read", 32, "k/s"),
    ("sequential write", 1, "MB/s"),
    ("sequential write", 32, "MB/s"),
    ("random write", 1, "k/s"),
    ("random write", 32, "k/s"),
]


def _state_table(figures: Figures, state: str) -> list[str]:
    head = [f"{name}, {depth}, {unit}" for name, depth, unit in COLUMNS]
    body = []
    for profile in figures.profiles():
        values = [
            figures.get(profile, f"{state} {name}", depth, unit) for name, depth, unit in COLUMNS
        ]
        if any(value is not None for value in values):
            body.append([f"`{profile}`", *(_number(value) for value in values)])
    return _markdown(["profile", *head], body)


def _span_table(figures: Figures) -> list[str]:
    rows = [row for row in figures.rows if row["figure"].startswith("span ")]
    body = []
    for profile in dict.fromkeys(row["profile"] for row in rows):
        spans = [int(row["figure"].split()[1]) for row in rows if row["profile"] == profile]
        for span in dict.fromkeys(spans):
            cells = [f"`{profile}`", f"{span} GiB"]
            for what, depth in (("read", 1), ("read", 32), ("write", 1), ("write", 32)):
                value = figures.get(profile, f"span {span} random {what}", depth, "k/s")
                cells.append(_number(value))
            body.append(cells)
    head = ["read, 1, k/s", "read, 32, k/s", "write, 1, k/s", "write, 32, k/s"]
    return _markdown(["profile", "over", *head], body)


def _scattered_table(figures: Figures) -> list[str]:
    body = []
    for profile in figures.profiles():
        cells = [f"`{profile}`"]
        for depth in (1, 32):
            whole = figures.get(profile, "steady sequential read", depth, "MB/s")
            torn = figures.get(profile, "scattered sequential read", depth, "MB/s")
            if whole is None or torn is None:
                break
            cells += [_number(whole), _number(torn), f"{100 * torn / whole:.0f} %"]
        else:
            body.append(cells)
    head = ["written in order, 1, MB/s", "at random", "", "in order, 32, MB/s", "at random", ""]
    return _markdown(["profile", *head], body)


def _deviation(ours: float, theirs: float) -> str:
    percent = 100 * (ours / theirs - 1)
    text = f"{percent:+.0f} %" if round(percent) else "the same"
    return f"**{text}**" if abs(percent) > 10 else text


def _published_row(figures: Figures, one: Published) -> list[str]:
    ours = figures.get(one.profile, one.figure, one.depth, one.unit)
    if ours is None:
        raise ValueError(f"{one.profile} has no {one.figure} at depth {one.depth}")
    return [
        f"`{one.profile}`",
        one.figure.replace("fresh ", ""),
        str(one.depth),
        f"{_number(ours)} {one.unit}",
        f"{one.value:g} {one.unit}",
        _deviation(ours, one.value),
        one.source,
    ]


def _published_table(figures: Figures) -> list[str]:
    head = ["profile", "figure", "commands at a time", "here", "published", "here is", "by"]
    return _markdown(head, [_published_row(figures, one) for one in PUBLISHED])


def _sources_table() -> list[str]:
    return _markdown(["", "source"], [[name, text] for name, text in SOURCES.items()])


def table(name: str) -> list[str]:
    figures = Figures()
    if name in ("fresh", "steady"):
        return _state_table(figures, name)
    if name == "scattered":
        return _scattered_table(figures)
    if name == "span":
        return _span_table(figures)
    if name == "published":
        return _published_table(figures)
    if name == "sources":
        return _sources_table()
    if name == "pieces":
        rows = records.read_rows("pieces")
        return pieces.table([row for row in rows if "workload" in row])
    if name == "headline":
        rows = records.read_rows("pieces")
        return pieces.profiles_table([row for row in rows if "profile" in row])
    raise ValueError(f"there is no table {name}")


def main(words: list[str]) -> int:
    if words == ["page"]:
        pages.write(PAGE, table)
        return 0
    if words == ["check-page"]:
        return pages.check(PAGE, table, "bench/drives.py page")
    if len(words) == 3 and words[0] == "error":
        print_errors(words[1], words[2])
        return 0
    if len(words) == 2 and words[0] == "check":
        return check(words[1])
    if len(words) == 2 and words[0] == "pieces":
        record_pieces(words[1])
        return 0
    if len(words) >= 2 and words[0] == "record":
        record(words[1], words[2:])
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
