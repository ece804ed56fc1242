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


def speeds_of(lines: list[Line], row: str, **words: str) -> list[float]:
    """MB/s at the drive's own clock."""
    return [
        int(line["bytes"]) * WRITE_SCALE * 1e3 / runs_of(line)[0]
        for line in lines
        if line.get("row") == row and all(line.get(key) == value for key, value in words.items())
    ]
