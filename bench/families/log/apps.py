# SPDX-License-Identifier: GPL-2.0-only
"""Log mode under programs that do more than write at random, while it is cleaned for
the first time, and what each policy of cleaning leaves of files in pieces.

Papers: Han and Son, IEEE Access 2021 (`access21`), and Park et al., APSys 2016.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

from family import About, Line, Measured, control, found, samples

from families.log.lines import WRITE_SCALE, before_and_after, removed

SCALE = WRITE_SCALE
SCRIPT = "guest/log-apps.sh"
# FFSB's transactions a second against the plain SATA drive (access21, figure 7a), and by
# how many percent cleaning made random writes slower there (figure 9)
_PAPER_FFSB = {"ext4": 1.577, "xfs": 1.383, "btrfs": 1.11, "f2fs": 1.188}
_PAPER_DIP = {"ext4": 62.4, "xfs": 55.3, "btrfs": 89.0, "f2fs": -7.5}
_POLICIES = ("cost-benefit", "file-aware")


def _rows() -> dict[str, About]:
    rows: dict[str, About] = {}
    for filesystem, gain in _PAPER_FFSB.items():
        rows |= {
            f"log.ffsb.{filesystem}": About(
                "x raw_same_space", f"ffsb.{filesystem}", paper=gain, is_cost=False
            ),
            f"log.postmark.{filesystem}": About(
                "x raw_same_space", f"postmark.{filesystem}", is_cost=False
            ),
            f"log.cleaning_dip.{filesystem}": About(
                "% slower", f"timeline.{filesystem}", paper=_PAPER_DIP[filesystem]
            ),
        }
    for policy in _POLICIES:
        rows[f"log.pieces_removed.{policy}"] = About("%", f"policy.{policy}", is_cost=False)
    return rows


ROWS: dict[str, About] = _rows()


def _by_target(lines: list[Line], row: str) -> dict[str, Line]:
    return {line["target"]: line for line in found(lines, row)}


def _rate(line: Line) -> float:
    """Operations a second at the drive's own clock."""
    return int(line["ops"]) * WRITE_SCALE * 1e9 / samples(line)[0]


def _ffsb(lines: list[Line], name: str) -> Measured | None:
    by_target = _by_target(lines, name)
    if len(by_target) != 3:
        return None
    log, same, raw = (_rate(by_target[kind]) for kind in ("log", "raw_same_space", "raw"))
    note = f"{log:.0f} transactions a second, the whole raw drive {raw:.0f}"
    return Measured([log / same], note, control("raw_same_space", same, "transactions a second"))


def _postmark(lines: list[Line], name: str) -> Measured | None:
    by_target = _by_target(lines, name)
    if len(by_target) != 3:
        return None
    log, same, raw = (
        samples(by_target[kind])[0] / WRITE_SCALE / 1e9 for kind in ("log", "raw_same_space", "raw")
    )
    note = f"{log:.2f} s, the whole raw drive {raw:.2f} s"
    return Measured([same / log], note, control("raw_same_space", same, "s"))


def _timeline(lines: list[Line], name: str) -> list[tuple[float, ...]]:
    """(s, MB/s of the filesystem, MB/s moved by cleaning) by the drive's own clock."""
    points = [
        [int(line[key]) for key in ("at_ns", "written", "moved")]
        for line in lines
        if line.get("sample") == name
    ]
    result: list[tuple[float, ...]] = []
    for (begin, written, moved), (end, written_then, moved_then) in zip(points, points[1:]):
        mbs = WRITE_SCALE * 4096 * 1e3 / (end - begin)
        since = (end - points[0][0]) / WRITE_SCALE / 1e9
        result.append((since, (written_then - written) * mbs, (moved_then - moved) * mbs))
    return result


def _dip(lines: list[Line], name: str) -> Measured | None:
    """How much slower it is while segments are cleaned than before."""
    points = _timeline(lines, name)
    first = next((i for i, point in enumerate(points) if point[2] > 0), len(points))
    # The last one covers the end of the work.
    before, cleaned = points[:first], points[first:-1]
    if not before or not cleaned:
        return None
    speeds = [statistics.mean(point[1] for point in part) for part in (before, cleaned)]
    slowest = min(point[1] for point in cleaned)
    note = (
        f"{speeds[0]:.0f} MB/s before, {speeds[1]:.0f} while it is cleaned, "
        f"{slowest:.0f} in the slowest interval"
    )
    return Measured([100 * (1 - speeds[1] / speeds[0])], note, series=points)


def _pieces(lines: list[Line], name: str) -> Measured | None:
    cases = before_and_after(lines, "log.pieces", policy=name.rpartition(".")[2])
    if cases is None:
        return None
    before, after = cases
    note = (
        f"{before['nr']} pieces of 8 files, {after['nr']} after {after['cleaned']} segments were "
        f"cleaned and {after['moved_pages']} pages moved"
    )
    return Measured([removed(cases)], note)


VALUES: dict[str, Callable[[list[Line], str], Measured | None]] = {
    "ffsb": _ffsb,
    "postmark": _postmark,
    "timeline": _dip,
    "policy": _pieces,
}
