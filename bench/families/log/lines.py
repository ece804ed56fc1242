# SPDX-License-Identifier: GPL-2.0-only
"""What log mode's rows have in common: how the guest's lines are read."""

from __future__ import annotations

from family import Line, found, samples

# Speeds and times of these are of a drive that is so many times slower.
WRITE_SCALE = 16


def speed_of(line: Line) -> float:
    """MB/s at the drive's own clock."""
    return int(line["bytes"]) * WRITE_SCALE * 1e3 / samples(line)[0]


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
