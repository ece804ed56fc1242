# SPDX-License-Identifier: GPL-2.0-only
"""pick: only what is read is moved, against moving whole files.

Paper: Park and Eom, *FragPicker*, SOSP'21. Nothing of bench/ measures these rows yet:
tests/lab/249-tool-pick-move.sh prints figures at other proportions than the paper's.
"""

from __future__ import annotations

from family import About, Boot, Line, Options, Rows, Values

_FILESYSTEMS = ("ext4", "xfs", "btrfs", "f2fs")
_PAPER_WRITES = {"ext4": 27.0, "f2fs": 26.0}
_WHY = "not measured: no workload has the paper's proportions (400 MB and 1 GB) yet"
_WHY_ALONE = "not measured: no job runs beside 'dieaware pick' yet"


def rows() -> Rows:
    rows = {}
    for filesystem in _FILESYSTEMS:
        unit = "% of moving the whole file"
        paper = _PAPER_WRITES.get(filesystem)
        rows[f"pick.writes.{filesystem}"] = About(unit, "", 30.0, paper, unmeasured=_WHY)
        rows[f"pick.time.{filesystem}"] = About(unit, target=15.0, unmeasured=_WHY)
        rows[f"pick.speed.{filesystem}"] = About(unit, target=96.6, is_cost=False, unmeasured=_WHY)
    rows["pick.interference"] = About("% slower", target=7.4, unmeasured=_WHY_ALONE)
    return rows


def boots(names: list[str], options: Options) -> list[Boot]:
    return []


def values(boot: Boot, lines: list[Line]) -> Values:
    return {}
