# SPDX-License-Identifier: GPL-2.0-only
"""How fast log mode writes: with room on the device, on an aged one, while it is cleaned, with
a small cache of the map; and how cleaning puts files in order.

Papers: Han and Son, IEEE Access 2021 (`access21`), and Park et al., APSys 2016.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

from family import About, Line, Measured

from families.log.lines import (
    WRITE_SCALE,
    before_and_after,
    removed,
    speed_of,
    speeds_of,
)

SCRIPT = "guest/log-write.sh"
SCALE = WRITE_SCALE
# Random writes by the paper's scheme against the plain SATA drive (access21, 6a)
_PAPER_GAIN = {"ext4": 2.0, "xfs": 1.86, "btrfs": 2.15, "f2fs": 1.01}
AGED_LAPS = 3


def _rows() -> dict[str, About]:
    rows = {}
    for filesystem, gain in _PAPER_GAIN.items():
        room, aged = f"room.{filesystem}", f"aged.{filesystem}"
        rows |= {
            f"T3.randwrite_vs_seq.{filesystem}": About("% of raw", room, 95.0, is_cost=False),
            f"T3.randwrite_speedup.{filesystem}": About("x raw", room, gain, gain, is_cost=False),
            f"T3.aged_speedup.{filesystem}": About("x raw", aged, 1.5, is_cost=False),
            f"T3.ssd_waf.{filesystem}": About("pages a page", aged, 1.05),
            f"T3.total_waf.{filesystem}": About("pages a page", aged),
            f"T3.raw_waf.{filesystem}": About("pages a page", aged),
            f"T3.spare_speedup.{filesystem}": About(
                "x raw", f"spare.{filesystem}", 1.5, is_cost=False
            ),
        }
    for name, part in (
        ("cleaning_throughput", "cleaning.40"),
        ("cleaning_full", "cleaning.60"),
        ("cleaning_full_moved", "cleaning.60"),
    ):
        rows[f"T3.{name}"] = About("% of without", part, 70.0, 37.6, is_cost=False)
    rows["T3.cleaning_max_stall_ms"] = About("ms", "cleaning.60", 50.0)
    rows["T3.small_cache_slowdown"] = About("x", "cache", 2.0)
    rows["T3.fragments_removed"] = About("%", "fragments", 99.5, 98.5, is_cost=False)
    return rows


ROWS: dict[str, About] = _rows()


def _room(lines: list[Line], name: str) -> Measured | None:
    _, what, filesystem = name.split(".")
    row = f"T3.room.{filesystem}"
    mine = speeds_of(lines, row, target="log", order="randwrite")
    plain = speeds_of(lines, row, target="raw", order="randwrite")
    ordered = speeds_of(lines, row, target="raw", order="write")
    if not (mine and plain and ordered):
        return None
    note = f"{mine[0]:.0f} MB/s; raw at random {plain[0]:.0f}, in order {ordered[0]:.0f}"
    if what == "randwrite_speedup":
        return Measured([mine[0] / plain[0]], note)
    return Measured([100 * mine[0] / ordered[0]], note)


def _last_lap(lines: list[Line], row: str, target: str) -> Line | None:
    laps = [line for line in lines if line.get("row") == row and line["target"] == target]
    return laps[-1] if len(laps) == AGED_LAPS else None


def _total_waf(lap: Line) -> float:
    return int(lap["nand_pages"]) / int(lap["user_pages"])


def _aged(lines: list[Line], name: str) -> Measured | None:
    """In steady state: of the last of three times the capacity."""
    _, what, filesystem = name.split(".")
    raw, log = (_last_lap(lines, f"T3.aged.{filesystem}", target) for target in ("raw", "log"))
    if raw is None or log is None:
        return None
    speeds = speed_of(log), speed_of(raw)
    user, host, nand = (int(log[f"{key}_pages"]) for key in ("user", "host", "nand"))
    values = {
        "aged_speedup": speeds[0] / speeds[1],
        "ssd_waf": nand / host,
        "total_waf": _total_waf(log),
        "raw_waf": _total_waf(raw),
    }
    notes = {
        "aged_speedup": f"{speeds[0]:.1f} MB/s, raw {speeds[1]:.1f}",
        "total_waf": f"raw {values['raw_waf']:.2f}; the log's own {host / user:.2f}",
    }
    return Measured([values[what]], notes.get(what, ""))


def _spare(lines: list[Line], name: str) -> Measured | None:
    """The same, with more room to clean: against the whole raw drive with the same files."""
    row = name.replace("spare_speedup", "spare")
    raw, raw_spare, log = (
        _last_lap(lines, row, target) for target in ("raw", "raw_spare", "log_spare")
    )
    if raw is None or raw_spare is None or log is None:
        return None
    note = (
        f"{speed_of(log):.1f} MB/s, {_total_waf(log):.2f} pages a page; raw {speed_of(raw):.1f}, "
        f"{_total_waf(raw):.2f}; raw with as much left alone {speed_of(raw_spare):.1f}, "
        f"{_total_waf(raw_spare):.2f}"
    )
    return Measured([speed_of(log) / speed_of(raw)], note)


def _cleaning(lines: list[Line], name: str) -> Measured | None:
    # What users get when it is full; all others are about cleaning itself.
    case = "default" if name == "T3.cleaning_full" else "on"
    without = speeds_of(lines, "T3.cleaning", case="off")
    cleaned = [line for line in lines if line.get("case") == case and "max_ns" in line]
    speeds = speeds_of(lines, "T3.cleaning", case=case)
    if not without or not speeds:
        return None
    if name == "T3.cleaning_max_stall_ms":
        return Measured([int(line["max_ns"]) / WRITE_SCALE / 1e6 for line in cleaned])
    note = f"{statistics.median(speeds):.0f} MB/s, {without[0]:.0f} without cleaning; " + ", ".join(
        f"{line['cleaned']} segments cleaned, {line['moved_pages']} pages moved, "
        f"{line['in_place_pages']} overwritten in place"
        for line in cleaned[-1:]
    )
    return Measured([100 * speed / without[0] for speed in speeds], note)


def _cache(lines: list[Line], name: str) -> Measured | None:
    large, small = (speeds_of(lines, "T3.cache", case=case) for case in ("large", "small"))
    if not large or not small:
        return None
    return Measured(
        [large[0] / small[0]], f"{small[0]:.1f} MB/s with 1 MiB, {large[0]:.1f} with all of it"
    )


def _fragments(lines: list[Line], name: str) -> Measured | None:
    cases = before_and_after(lines, "T3.fragments")
    if cases is None:
        return None
    before, after = cases
    note = (
        f"{before['nr']} fragments of {after['files']} files, {after['nr']} after cleaning; "
        f"they read at {speed_of(before):.0f} and {speed_of(after):.0f} MB/s"
    )
    return Measured([removed(cases)], note)


VALUES: dict[str, Callable[[list[Line], str], Measured | None]] = {
    "room": _room,
    "aged": _aged,
    "spare": _spare,
    "cleaning": _cleaning,
    "cache": _cache,
    "fragments": _fragments,
}
