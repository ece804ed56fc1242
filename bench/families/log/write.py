# SPDX-License-Identifier: GPL-2.0-only
"""How fast log mode writes: with room on the device, on an aged one, while it is cleaned, with
a small cache of the map; and how cleaning puts files in order.

Papers: Han and Son, IEEE Access 2021 (`access21`), and Park et al., APSys 2016.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

from family import About, Line, Measured, control, found

from families.log.lines import WRITE_SCALE, before_and_after, removed, speed_of, speeds_of

SCRIPT = "guest/log-write.sh"
SCALE = WRITE_SCALE
# Random writes by the paper's scheme against the plain SATA drive (access21, 6a)
_PAPER_GAIN = {"ext4": 2.0, "xfs": 1.86, "btrfs": 2.15, "f2fs": 1.01}
AGED_LAPS = 3
_OF_CONTROL = "x raw_same_space"


def _rows() -> dict[str, About]:
    rows: dict[str, About] = {}
    for filesystem, gain in _PAPER_GAIN.items():
        room, skewed = f"room.{filesystem}", f"aged_skewed.{filesystem}"
        dramless = f"dramless.{filesystem}"
        rows |= {
            f"log.rand_vs_seq.{filesystem}": About(
                "% of raw in order", room, 95.0, is_cost=False, digits=1
            ),
            f"log.rand_vs_raw.{filesystem}": About(
                "% of raw_same_space", room, 97.0, 100 * gain, is_cost=False, digits=1
            ),
            f"log.dramless_vs_seq.{filesystem}": About(
                "% of raw in order", dramless, 95.0, is_cost=False, digits=1
            ),
            f"log.dramless_gain.{filesystem}": About(
                _OF_CONTROL, dramless, gain, gain, is_cost=False, digits=3
            ),
            f"log.dramless_direct_vs_seq.{filesystem}": About(
                "% of raw in order", dramless, 95.0, is_cost=False, digits=1
            ),
            f"log.dramless_direct_gain.{filesystem}": About(
                _OF_CONTROL, dramless, is_cost=False, digits=3
            ),
            f"log.aged_uniform.{filesystem}": About(
                _OF_CONTROL, f"aged_uniform.{filesystem}", 1.0, is_cost=False, digits=3
            ),
            f"log.aged_skewed.{filesystem}": About(
                _OF_CONTROL, skewed, 1.4, is_cost=False, digits=3
            ),
            f"log.waf_skewed.{filesystem}": About(_OF_CONTROL, skewed, 0.71, digits=3),
            f"log.aged_reserve.{filesystem}": About(
                _OF_CONTROL, f"aged_reserve.{filesystem}", is_cost=False, digits=3
            ),
        }
    # btrfs finds no space there for what is overwritten.
    for filesystem in ("ext4", "xfs", "f2fs"):
        part = f"dramless_bursts.{filesystem}"
        rows[f"log.{part}"] = About(_OF_CONTROL, part, is_cost=False, digits=3)
    for drive, target, waf_target in (("tenth", 1.4, 0.71), ("tenth_fdp", None, None)):
        part = f"aged_{drive}.ext4"
        rows[f"log.{part}"] = About(_OF_CONTROL, part, target, is_cost=False, digits=3)
        rows[f"log.waf_{drive}.ext4"] = About(_OF_CONTROL, part, waf_target, digits=3)
    # The paper's drive was 20 percent full, and its cleaning moved what was written at random.
    for name, part in (
        ("cleaning_kept", "cleaning.skewed"),
        ("cleaning_kept_fdp", "cleaning.fdp"),
        ("cleaning_kept_uniform", "cleaning.uniform"),
        ("in_place_kept", "cleaning.uniform"),
    ):
        target, paper = (None, 37.6) if part.endswith("uniform") else (70.0, None)
        rows[f"log.{name}"] = About("% of without", part, target, paper, is_cost=False, digits=1)
    # Of each kind of laps a row, as each has a run of its own
    for name, part in (("", "skewed"), ("_uniform", "uniform")):
        rows[f"log.cleaning_max_stall{name}_ms"] = About("ms", f"cleaning.{part}", 50.0, digits=2)
    rows["log.small_cache_slowdown"] = About("x", "cache", 2.0, digits=3)
    rows["log.fragments_removed"] = About("%", "fragments", 99.5, 98.5, is_cost=False, digits=2)
    return rows


ROWS: dict[str, About] = _rows()


def _of_order(speed: float, ordered: float, note: str) -> Measured:
    """In percent of the raw drive that is written in order."""
    return Measured([100 * speed / ordered], note, control("raw in order", ordered, "MB/s"))


def _room(lines: list[Line], name: str) -> Measured | None:
    _, what, filesystem = name.split(".")
    row = f"log.room.{filesystem}"
    mine, same, raw = (
        speeds_of(lines, row, target=kind, order="randwrite")
        for kind in ("log", "raw_same_space", "raw")
    )
    ordered = speeds_of(lines, row, target="raw", order="write")
    if not (mine and same and raw and ordered):
        return None
    note = (
        f"{mine[0]:.0f} MB/s; at random raw_same_space {same[0]:.0f}, the whole raw drive "
        f"{raw[0]:.0f}, in order {ordered[0]:.0f}; on a drive that takes random writes as well"
    )
    if what == "rand_vs_raw":
        beside = control("raw_same_space", same[0], "MB/s")
        return Measured([100 * mine[0] / same[0]], note, beside)
    return _of_order(mine[0], ordered[0], note)


def _dramless(lines: list[Line], name: str) -> Measured | None:
    """On a drive whose map is on its flash, for the most part."""
    _, what, filesystem = name.split(".")
    how = "direct" if "_direct_" in what else "buffered"

    def speeds(target: str, order: str) -> list[float]:
        row = f"log.dramless.{filesystem}"
        return speeds_of(lines, row, target=target, order=order, how=how)

    mine, same = speeds("log", "randwrite"), speeds("raw_same_space", "randwrite")
    ordered = speeds("raw", "write")
    if not (mine and same and ordered):
        return None
    note = (
        f"{mine[0]:.0f} MB/s; raw_same_space {same[0]:.0f} at random, raw {ordered[0]:.0f} in order"
    )
    if what.endswith("_gain"):
        return Measured([mine[0] / same[0]], note, control("raw_same_space", same[0], "MB/s"))
    return _of_order(mine[0], ordered[0], note)


def _dramless_bursts(lines: list[Line], name: str) -> Measured | None:
    """The same drive, fuller, with a rest after each burst."""
    speeds, wafs = {}, {}
    for kind in ("log", "raw_same_space"):
        speeds[kind] = speeds_of(lines, name, target=kind, case="burst")
        total = found(lines, name, target=kind, case="all")
        if not speeds[kind] or not total:
            return None
        wafs[kind] = int(total[0]["flash_pages"]) / int(total[0]["user_pages"])
    same = statistics.median(speeds["raw_same_space"])
    mine = ", ".join(f"{speed:.0f}" for speed in speeds["log"])
    note = (
        f"{mine} MB/s in order of the bursts; pages programmed for each that was written, rests "
        f"included: {wafs['log']:.2f}, raw_same_space {wafs['raw_same_space']:.2f}"
    )
    beside = control("raw_same_space", same, "MB/s")
    return Measured([speed / same for speed in speeds["log"]], note, beside)


def _last_lap(lines: list[Line], row: str, target: str) -> Line | None:
    """In steady state: of the last of three times the capacity."""
    laps = found(lines, row, target=target, lap=str(AGED_LAPS))
    return laps[0] if laps else None


def _total_waf(lap: Line) -> float:
    return int(lap["nand_pages"]) / int(lap["user_pages"])


def _unmapped(lines: list[Line], row: str) -> str:
    """How many pages the log and its control left without data when overwriting began."""
    pages = {line["target"]: line["unmapped"] for line in found(lines, row) if "unmapped" in line}
    return f"unmapped pages {pages.get('log')} and {pages.get('raw_same_space')}"


def _aged(lines: list[Line], name: str) -> Measured | None:
    """An aged drive, against one that has the same free space, known to the SSD, without us."""
    row = name.replace("waf_", "aged_")
    log, same, raw = (_last_lap(lines, row, kind) for kind in ("log", "raw_same_space", "raw"))
    if log is None or same is None:
        return None
    note = (
        f"{speed_of(log):.0f} MB/s with {_total_waf(log):.2f} pages a page, raw_same_space "
        f"{speed_of(same):.0f} with {_total_waf(same):.2f}"
    )
    if raw:
        note += f", the whole raw drive {speed_of(raw):.0f} with {_total_waf(raw):.2f}"
    note += "; " + _unmapped(lines, row)
    if name != row:
        beside = control("raw_same_space", _total_waf(same), "pages a page")
        return Measured([_total_waf(log) / _total_waf(same)], note, beside)
    beside = control("raw_same_space", speed_of(same), "MB/s")
    return Measured([speed_of(log) / speed_of(same)], note, beside)


def _stalls(laps: list[Line]) -> Measured:
    """The longest of all laps, not a mean."""
    longest = [int(line["max_ns"]) / WRITE_SCALE / 1e6 for line in laps]
    return Measured(longest, "the longest write of each lap", value=max(longest))


def _cleaning(lines: list[Line], name: str) -> Measured | None:
    # What users get when it is full; all others are about cleaning itself.
    case = "default" if name == "log.in_place_kept" else "on"
    without = speeds_of(lines, "log.cleaning", case="off")
    cleaned = found(lines, "log.cleaning", case=case)
    speeds = speeds_of(lines, "log.cleaning", case=case)
    if not without or not speeds:
        return None
    note = f"{statistics.median(speeds):.0f} MB/s, {without[0]:.0f} without cleaning; " + ", ".join(
        f"{line['cleaned']} segments cleaned, {line['moved_pages']} pages moved, "
        f"{line['in_place_pages']} overwritten in place"
        for line in cleaned[-1:]
    )
    if name.startswith("log.cleaning_max_stall"):
        return _stalls([line for line in found(lines, "log.cleaning") if line["case"] != "off"])
    if name == "log.cleaning_kept_fdp":
        beside = _without_handles(lines)
    else:
        beside = control("without cleaning", without[0], "MB/s")
    return Measured([100 * speed / without[0] for speed in speeds], note, beside)


def _without_handles(lines: list[Line]) -> dict[str, object] | None:
    """What the same drive keeps when its handles are not there."""
    without, cleaned = (speeds_of(lines, "log.cleaning_plain", case=case) for case in ("off", "on"))
    if not without or not cleaned:
        return None
    return control("without handles", 100 * cleaned[0] / without[0], "% of without")


def _cache(lines: list[Line], name: str) -> Measured | None:
    large, small = (speeds_of(lines, "log.cache", case=case) for case in ("large", "small"))
    if not large or not small:
        return None
    return Measured(
        [large[0] / small[0]], f"{small[0]:.1f} MB/s with 1 MiB, {large[0]:.1f} with all of it"
    )


def _fragments(lines: list[Line], name: str) -> Measured | None:
    cases = before_and_after(lines, "log.fragments")
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
    "dramless": _dramless,
    "dramless_bursts": _dramless_bursts,
    "aged_uniform": _aged,
    "aged_skewed": _aged,
    "aged_tenth": _aged,
    "aged_tenth_fdp": _aged,
    "aged_reserve": _aged,
    "cleaning": _cleaning,
    "cache": _cache,
    "fragments": _fragments,
}
