# SPDX-License-Identifier: GPL-2.0-only
"""Whether a command printed what its page shows.

Text has to be the same but for spaces. So has each figure, unless it is a measured one: a time, a
speed or a percentage, known by its unit. Those may differ by a factor, and a page may state which
figures may differ by how much (Tolerance.stated). A line "..." stands for any lines. Of a kernel's
release only the series counts, as the archive moves on; of the dies of a file only how much each
has, not which.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Union

# Unit: what it measures, and how much of that it is
UNITS = {
    "ns": ("time", 1e-9),
    "us": ("time", 1e-6),
    "ms": ("time", 1e-3),
    "s": ("time", 1.0),
    "kB/s": ("speed", 1e3),
    "MB/s": ("speed", 1e6),
    "GB/s": ("speed", 1e9),
    "IOPS": ("operations", 1.0),
    "%": ("share", 1.0),
}

RELEASE = re.compile(r"\b(\d+\.\d+)\.\d+[+-][\w.+~-]*\b")
# As "dieaware frag" shows how much of a file each die has
DIES = re.compile(r"(?<= )[.1-9]{8,}(?= )")
FIGURE = re.compile(
    r"(?<![\w.])(?P<number>\d+(?:\.\d+)?)(?:\s*(?P<unit>%|(?:[kMG]B/s|IOPS|[num]?s)\b))?(?![\w]|\.\w)"
)


class Figure(NamedTuple):
    number: str
    unit: str | None

    def value(self) -> float:
        return float(self.number) * (UNITS[self.unit][1] if self.unit else 1)

    def kind(self) -> str | None:
        return UNITS[self.unit][0] if self.unit else None

    def is_dof(self) -> bool:
        """A DoF_P: what the project is about, and never by chance."""
        return not self.unit and bool(re.fullmatch(r"0\.\d{3}", self.number))


class Tolerance(NamedTuple):
    factor: float = 2.0
    every: bool = False

    @classmethod
    def stated(cls, words: str) -> Tolerance:
        """From "exact", "measured within FACTOR" or "all within FACTOR"."""
        if words == "exact":
            return cls(1.0)
        parts = re.fullmatch(r"(measured|all) within (\d+(?:\.\d+)?)", words)
        if not parts or float(parts[2]) <= 1:
            raise ValueError(f"this says nothing of figures: {words}")
        return cls(float(parts[2]), parts[1] == "all")

    def allows(self, wanted: Figure, got: Figure) -> bool:
        if wanted.kind() != got.kind():
            return False
        a, b = wanted.value(), got.value()
        if a == b:
            return True
        free = (self.every or bool(wanted.unit)) and not (wanted.is_dof() or got.is_dof())
        return free and 0 < max(a, b) <= self.factor * min(a, b)


Token = Union[str, Figure]


def tokens(line: str) -> list[Token]:
    """Words and figures by turns."""
    line = RELEASE.sub(r"\1 (a release)", line)
    line = DIES.sub(lambda dies: "".join(sorted(dies[0])), line)
    found: list[Token] = []
    end = 0
    for figure in FIGURE.finditer(line):
        found.append(line[end : figure.start()])
        found.append(Figure(figure["number"], figure["unit"]))
        end = figure.end()
    found.append(line[end:])
    return [" ".join(one.split()) if isinstance(one, str) else one for one in found]


def same_line(wanted: str, got: str, tolerance: Tolerance) -> bool:
    pairs = tokens(wanted), tokens(got)
    if len(pairs[0]) != len(pairs[1]):
        return False
    for one, other in zip(*pairs):
        if isinstance(one, Figure) and isinstance(other, Figure):
            if not tolerance.allows(one, other):
                return False
        elif one != other or type(one) is not type(other):
            return False
    return True


def fits(wanted: list[str], got: list[str], tolerance: Tolerance) -> bool:
    """All of what is wanted, and nothing else."""
    if not wanted:
        return not got
    if wanted[0].strip() == "...":
        return any(fits(wanted[1:], got[at:], tolerance) for at in range(len(got) + 1))
    return (
        bool(got)
        and same_line(wanted[0], got[0], tolerance)
        and fits(wanted[1:], got[1:], tolerance)
    )
