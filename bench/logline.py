# SPDX-License-Identifier: GPL-2.0-only
"""T3: what its modules have in common: rows before they are measured, and the guest's lines."""

from __future__ import annotations

import dataclasses

Line = dict[str, str]
# The samples of a row, and what is to be said of them
Value = tuple[list[float], str]

# Speeds and times of these are of a drive that is so many times slower.
WRITE_SCALE = 16


@dataclasses.dataclass(frozen=True)
class About:
    """What is known of a row before it is measured; `part` is a part of a guest's script."""

    unit: str
    part: str
    target: float | None = None
    paper: float | None = None
    is_cost: bool = True


def runs_of(line: Line) -> list[int]:
    return [int(word) for word in line["runs_ns"].split(",")]


def speed_of(line: Line) -> float:
    """MB/s at the drive's own clock."""
    return int(line["bytes"]) * WRITE_SCALE * 1e3 / runs_of(line)[0]


def found(lines: list[Line], row: str, **words: str) -> list[Line]:
    """The lines of a row that have these words, too."""
    return [
        line
        for line in lines
        if line.get("row") == row and all(line.get(key) == value for key, value in words.items())
    ]


def speeds_of(lines: list[Line], row: str, **words: str) -> list[float]:
    return [speed_of(line) for line in found(lines, row, **words)]


def before_and_after(lines: list[Line], row: str, **words: str) -> tuple[Line, Line] | None:
    """A row's two cases."""
    cases = {line["case"]: line for line in found(lines, row, **words)}
    return (cases["before"], cases["after"]) if len(cases) == 2 else None


def removed(cases: tuple[Line, Line]) -> float:
    """Percent of the pieces before that are not there after."""
    before, after = (int(case["nr"]) for case in cases)
    return 100 * (1 - after / before)
