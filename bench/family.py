# SPDX-License-Identifier: GPL-2.0-only
"""What every family of figures consists of.

A family is a module of bench/families with three functions:

rows()            every row that it has, by its id, with what is known before it is measured
boots(names, …)   the runs that give these rows, each with the command of its guest
values(boot, …)   what a run's rows come to, by the lines that it printed

A run prints lines "bench: key=value ..."; run.py and report.py know nothing else of a family.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterable

Line = dict[str, str]

# The first read of a file also fetches its metadata; the first round of anything warms caches.
WARM_UP_RUNS = 1


@dataclasses.dataclass(frozen=True)
class About:
    """What is known of a row before it is measured.

    `part` names what of the guest's work gives the row; rows with the same part are measured
    at once. A target binds at `target_scale`, or at every time scale.
    """

    unit: str
    part: str = ""
    target: float | None = None
    paper: float | None = None
    is_cost: bool = True
    digits: int = 4
    target_scale: int | None = None
    # Why nothing measures it yet; such a row is listed, with no value and this reason.
    unmeasured: str = ""

    def target_at(self, scale: int) -> float | None:
        return self.target if self.target_scale in (None, scale) else None

    def is_met(self, value: float, target: float) -> bool:
        return abs(value) <= target if self.is_cost else value >= target


Rows = dict[str, About]


def by_part(about: Rows, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Rows that are measured at once, by their part, in the order asked for."""
    parts: dict[str, list[str]] = {}
    for name in names:
        parts.setdefault(about[name].part, []).append(name)
    return {part: tuple(same) for part, same in parts.items()}


@dataclasses.dataclass(frozen=True)
class Machine:
    """What a run needs of the virtual machine."""

    memory: str = "3G"
    kernel: str = ""  # else the one that was asked for
    devices: tuple[str, ...] = ()
    has_tool: bool = False
    # Whether it needs a dm-dieaware that counts what it does inside locks
    counts_locks: bool = False
    # Linux as a program (scripts/uml), where what computes takes no time: for figures that the
    # drive alone decides, of more data than an emulated CPU can move. Memory is in M there.
    is_uml: bool = False


@dataclasses.dataclass(frozen=True)
class Boot:
    """One run: everything in it is compared with each other.

    Without a machine, the command runs on this computer.
    """

    title: str
    rows: tuple[str, ...]
    command: tuple[str, ...]
    scale: int = 1
    machine: Machine | None = Machine()
    # Of a run that failed half-way, not even the rows that it gave
    is_whole: bool = False


@dataclasses.dataclass
class Measured:
    """What a row came to: its samples in the order taken, and what is to be said of them.

    `control` is what the row was measured against, by name, value and unit. `warm_up` are
    samples that do not count. `value` is what counts where that is not the median.
    """

    runs: list[float]
    note: str = ""
    control: dict[str, object] | None = None
    warm_up: list[float] = dataclasses.field(default_factory=list)
    value: float | None = None
    # Why there is no value after all
    reason: str = ""
    series: list[tuple[float, ...]] = dataclasses.field(default_factory=list)


Values = dict[str, Measured]


def control(name: str, value: float, unit: str) -> dict[str, object]:
    return {"name": name, "value": round(value, 4), "unit": unit}


@dataclasses.dataclass(frozen=True)
class Sizes:
    """How large SQLite and fileserver are, and what that takes."""

    sqlite_rows: int
    fileserver_files: int
    ssd_capacity_mb: int
    memory: str

    def environment(self) -> dict[str, str]:
        return {
            "SQLITE_ROWS": str(self.sqlite_rows),
            "FILESERVER_FILES": str(self.fileserver_files),
            "SSD_CAPACITY_MB": str(self.ssd_capacity_mb),
        }


SIZES = {
    "quick": Sizes(2000, 200, 4096, "4G"),
    "usual": Sizes(10000, 500, 4096, "6G"),
    "paper": Sizes(10000, 10000, 12288, "16G"),
}
SCALES = (16, 4)


@dataclasses.dataclass(frozen=True)
class Options:
    """What a user may choose of how rows are measured."""

    kernel: str
    programs: pathlib.Path
    log: pathlib.Path
    sizes: Sizes
    scales: tuple[int, ...] = SCALES
    show_dies: bool = False


def samples(line: Line) -> list[int]:
    """All durations of a line, in the order taken."""
    return [int(word) for word in line["runs_ns"].split(",")]


def durations(line: Line) -> list[int]:
    """The durations of a line that count."""
    runs = samples(line)
    return runs[WARM_UP_RUNS:] if len(runs) > WARM_UP_RUNS else runs


def warm_up(line: Line) -> list[int]:
    """The others."""
    runs = samples(line)
    return runs[:WARM_UP_RUNS] if len(runs) > WARM_UP_RUNS else []


def found(lines: Iterable[Line], row: str, **words: str) -> list[Line]:
    """The lines of a row that have these words, too."""
    return [
        line
        for line in lines
        if line.get("row") == row and all(line.get(key) == value for key, value in words.items())
    ]


def measurements(lines: Iterable[Line], row: str) -> list[Line]:
    """The lines of a row that have durations."""
    return [line for line in found(lines, row) if "runs_ns" in line]
