#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The tables of docs/figures.md, docs/benchmarks.md, docs/real-ssd.md and README.md, made of the figures on record
(bench/results).

A table stands between "<!-- table NAME -->" and "<!-- end of table -->"; NAME is a family, `kernels`,
`headlines`, `modern`, `random_writes` or `workloads`.

Usage: tables.py [--check]    with --check, say whether the pages are what they should be
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable
from typing import Any

import pages
import records
from families import every_row, place
from family import SCALES
from guest import TOP

Row = dict[str, Any]
Cells = tuple[str, ...]

# At which time scales each row of a family is measured, where that is more than one
SCALES_OF = {"place": set(SCALES)}
PAGES = (
    TOP / "docs" / "figures.md",
    TOP / "docs" / "benchmarks.md",
    TOP / "docs" / "real-ssd.md",
    TOP / "README.md",
)

# What somebody who reads one table should know: words, row, time scale
HEADLINES = (
    ("file that grew in the worst way, read without hints", "place.append_worst.ext4.direct.fast24.plain", 16),
    ("the same with hints", "place.append_worst.ext4.direct.fast24.hinted", 16),
    ("the same with hints, `modern`, fast CPU", "place.append_worst.ext4.direct.modern.hinted", 16),
    ("the same with hints, `modern`, ordinary CPU", "place.append_worst.ext4.direct.modern.hinted", 4),
    ("file overwritten in the worst way, with hints", "place.overwrite_worst.ext4.direct.fast24.hinted", 16),
    ("SQLite, with hints", "place.sqlite.ext4.buffered.fast24.hinted", 16),
    ("fileserver, with hints", "place.fileserver.ext4.direct.fast24.hinted", 16),
    ("drive without hints, with placement handles", "reach.fdp.append_worst", 16),
    ("die order after random overwrites of 32 KiB", "aged.order_32k_at_once", 1),
    ("a hinted write costs beside dm-linear", "cost.write_hinted_added", 1),
    ("a write in log mode costs beside dm-linear", "cost.log_write_added", 1),
    ("log mode, random writes, new drive", "log.rand_vs_raw.ext4", 16),
    ("log mode, drive with its map on flash", "log.dramless_gain.ext4", 16),
    ("log mode, aged drive, Zipf's law", "log.aged_skewed.ext4", 16),
    ("log mode, aged drive, a tenth is hot", "log.aged_tenth.ext4", 16),
    ("log mode, aged drive, uniform", "log.aged_uniform.ext4", 16),
    ("log mode, speed kept while each write needs cleaning", "log.cleaning_kept", 16),
    ("log mode, write and fsync", "log.fsync_latency", 1),
    ("log mode, start after a crash", "log.start_crash_s", 1),
    ("the same, nearly all that a start may have to read", "log.start_crash_wide_s", 1),
    ("`defrag` with Share, pages programmed", "defrag.copied.ext4", 4),
    ("`pick`, pages written", "pick.writes.ext4", 4),
    ("virtual SSD, one command at a time", "ssd.insn_qd1", 1),
    ("simulator against the module", "ssd.sim_error", 256),
)


def _number(value: float | None) -> str:
    if value is None:
        return ""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.4g}"


def _is_missed(row: Row) -> bool:
    if row["value"] is None or row["target"] is None:
        return False
    return not every_row()[row["id"]][1].is_met(row["value"], row["target"])


def _value(row: Row | None) -> str:
    """Missed ones stand out."""
    if row is None or row["value"] is None:
        return "" if row is None else "none"
    text = _number(row["value"])
    return f"**{text}**" if _is_missed(row) else text


def _measured(row: Row) -> str:
    """When, and under which name if that was another."""
    was = row.get("was")
    return f"{row['measured']}, as {was}" if was else str(row["measured"])


# Of log mode, for who reads README.md: what is written, the row without its filesystem, and what it is divided by
RANDOM_WRITES = (
    ("new", "log.rand_vs_raw", 100),
    ("keeps its map on its flash, under half full, page cache", "log.dramless_gain", 1),
    ("the same, O_DIRECT", "log.dramless_direct_gain", 1),
    ("aged, overwrites by Zipf's law", "log.aged_skewed", 1),
    ("aged, a tenth of each file gets nine tenths of the overwrites (ext4 alone)", "log.aged_tenth", 1),
    ("aged, uniform overwrites", "log.aged_uniform", 1),
)

# Likewise, for who wants to know whether it pays, by filesystem
WORKLOADS = (
    ("random writes to a new drive, profile `sata`", "log.rand_vs_raw", 100),
    (
        "the same to one that keeps its map on its flash, profile `dramless`, 45 % full",
        "log.dramless_gain",
        1,
    ),
    ("in bursts to that one, 60 % full, with rests", "log.dramless_bursts", 1),
    ("overwrites of an aged, full drive, some pages much more often than others", "log.aged_skewed", 1),
    ("the same, a tenth of each file gets nine tenths of them", "log.aged_tenth", 1),
    ("the same, all pages alike", "log.aged_uniform", 1),
    ("half reads, half writes (FFSB), new drive", "log.ffsb", 1),
    ("many small files (PostMark), new drive", "log.postmark", 1),
)
FILESYSTEMS = ("ext4", "xfs", "f2fs", "btrfs")


def _markdown(head: Cells, body: Iterable[Cells]) -> list[str]:
    rule = tuple("---" for _ in head)
    return ["| " + " | ".join(cells) + " |" for cells in (head, rule, *body)]


def _control(row: Row) -> str:
    control = row.get("control")
    return f"{control['name']} {_number(control['value'])} {control['unit']}" if control else ""


def _reasons(rows: dict[records.Key, Row], family: str) -> list[str]:
    """Why rows have no value, the same reason once."""
    names: dict[str, list[str]] = {}
    for name, (_, about) in every_row().items():
        if not name.startswith(family + "."):
            continue
        known = [row for key, row in rows.items() if key[0] == name]
        left = SCALES_OF.get(family, set()) - {row["scale"] for row in known}
        if about.unmeasured:
            names.setdefault(about.unmeasured, []).append(name)
        elif not known:
            names.setdefault("not measured yet", []).append(name)
        elif left:
            scales = " and ".join(str(scale) for scale in sorted(left, reverse=True))
            names.setdefault(f"not measured yet at scale {scales}", []).append(name)
        for row in known:
            if row["value"] is None:
                names.setdefault(row["reason"], []).append(name)
    lines = [f"{_folded(same)}: {reason.rstrip('.')}." for reason, same in names.items()]
    return [
        text
        for line in lines
        for text in textwrap.wrap(
            line, 100, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False
        )
    ]


def _folded(names: list[str]) -> str:
    """Ids that differ in their last words only, in few words."""
    by_stem: dict[str, list[str]] = {}
    for name in names:
        words = name.split(".")
        by_stem.setdefault(".".join(words[:2]), []).append(name)
    return ", ".join(
        f"`{same[0]}`" if len(same) == 1 else f"`{stem}` ({len(same)} rows)"
        for stem, same in by_stem.items()
    )


def _name(row: Row, shown: list[Row]) -> str:
    """With the time scale where there are several of the same."""
    name = f"`{row['id'].partition('.')[2]}`"
    same = [other for other in shown if other["id"] == row["id"]]
    return f"{name}, scale {row['scale']}" if len(same) > 1 else name


def _family_table(rows: dict[records.Key, Row], family: str) -> list[str]:
    shown = [row for row in rows.values() if row["value"] is not None]
    body = [
        (
            _name(row, shown),
            _value(row),
            row["unit"],
            _number(row["target"]),
            _number(row["paper"]),
            _control(row),
            _measured(row),
        )
        for row in shown
    ]
    head = (family, "measured", "unit", "target", "paper", "control", "on")
    return _markdown(head, body) if body else []


def _place_cases(rows: dict[records.Key, Row]) -> Iterable[tuple[str, int]]:
    """What a line of the table is about, as "WORKLOAD.FILESYSTEM.MODE.PROFILE" and scale."""
    known = {(name.partition(".")[2].rpartition(".")[0], scale) for name, scale in rows}
    every = {name.partition(".")[2].rpartition(".")[0]: 0 for name in place.rows()}
    return [(case, scale) for scale in SCALES for case in every if (case, scale) in known]


def _place_table(rows: dict[records.Key, Row], family: str) -> list[str]:
    body = []
    for case, scale in _place_cases(rows):
        figures = {figure: rows.get((f"place.{case}.{figure}", scale)) for figure in place.FIGURES}
        workload, filesystem, mode, profile = case.split(".")
        paper = "" if scale != SCALES[0] else _paper(figures)
        days = sorted({row["measured"] for row in figures.values() if row})
        body.append(
            (
                workload.replace("_", " "),
                f"{filesystem}, {mode}",
                profile,
                str(scale),
                *(_value(figures[figure]) for figure in place.FIGURES[:-1]),
                _value(figures[place.FIGURES[-1]]) + _spread(figures[place.FIGURES[-1]]),
                paper,
                " and ".join(days),
            )
        )
    head = ("workload", "on", "profile", "scale", "contiguous, MB/s", "plain", "hinted", "ideal")
    return _markdown((*head, "hinted by ideal (spread)", "paper", "measured"), body)


def _spread(row: Row | None) -> str:
    """By how many percent its samples differ."""
    if row is None or row["value"] is None or len(row["runs"]) < 2:
        return ""
    return f" ({100 * (max(row['runs']) - min(row['runs'])) / row['value']:.1f})"


def _paper(figures: dict[str, Row | None]) -> str:
    both = [row["paper"] for row in (figures["plain"], figures["hinted"]) if row and row["paper"]]
    return " / ".join(_number(value) for value in both)


def _kernels_table() -> list[str]:
    """What was measured on which kernel: of a family the larger part by its name, the others by row."""
    families: dict[str, dict[str, list[str]]] = {}
    for name, scale in records.load():
        row = records.load_family(name.partition(".")[0])[name, scale]
        if row["value"] is not None:
            kernels = families.setdefault(name.partition(".")[0], {})
            kernels.setdefault(row["kernel"], []).append(name)
    parts: dict[str, list[str]] = {}
    for family, kernels in families.items():
        most = max(kernels, key=lambda kernel: len(kernels[kernel]))
        for kernel, names in kernels.items():
            rest = ", but for rows in another line" if len(kernels) > 1 else ""
            what = f"{family}{rest}" if kernel == most else _folded(list(dict.fromkeys(names)))
            parts.setdefault(kernel, []).append(what)
    return _markdown(("kernel", "rows"), [(kernel, "; ".join(what)) for kernel, what in sorted(parts.items())])


def _headlines_table() -> list[str]:
    rows = records.load()
    body = []
    for words, name, scale in HEADLINES:
        row = rows[name, scale]
        where = f"`{name}`, scale {scale}" if name.startswith("place.") else f"`{name}`"
        body.append((words, _value(row), row["unit"], _number(row["target"]), _number(row["paper"]), where))
    return _markdown(("what", "measured", "unit", "target", "paper", "row"), body)


def _modern_table() -> list[str]:
    """Read speeds on the profile `modern`, at both time scales."""
    rows = records.load_family("place")
    body = []
    for workload in ("append_worst", "append_random", "overwrite_worst", "overwrite_random"):
        case = f"place.{workload}.ext4.direct.modern"
        cells = [rows[f"{case}.{figure}", scale]["value"] for scale in SCALES for figure in ("plain", "hinted")]
        body.append((workload.replace("_", " "), *(_number(cell) for cell in cells)))
    fast, ordinary = "fast CPU: without hints", "ordinary CPU: without hints"
    return _markdown(("workload", fast, "with hints", ordinary, "with hints"), body)


def _random_writes_table() -> list[str]:
    """Log mode by the drive with as much free space: ext4, xfs and f2fs, and btrfs where it has room."""
    rows = records.load_family("log")
    body = []
    for words, stem, unit in RANDOM_WRITES:
        known = {
            name.rpartition(".")[2]: row["value"] / unit
            for (name, _), row in rows.items()
            if name.startswith(stem + ".") and row["value"] is not None
        }
        btrfs = known.pop("btrfs", None)
        ends = list(dict.fromkeys(f"{end:.2f}" for end in (min(known.values()), max(known.values()))))
        body.append((words, " to ".join(ends), "" if btrfs is None else f"{btrfs:.2f}"))
    return _markdown(("drive", "ext4, xfs, f2fs", "btrfs"), body)


def _workloads_table() -> list[str]:
    """Log mode by the drive with as much free space, for each filesystem."""
    rows = records.load_family("log")
    body = []
    for words, stem, unit in WORKLOADS:
        cells = []
        for filesystem in FILESYSTEMS:
            row = rows.get((f"{stem}.{filesystem}", 16))
            if row is None:
                cells.append("")
            elif row["value"] is None:
                cells.append("no space" if "no space" in row["reason"] else "none")
            else:
                cells.append(f"{row['value'] / unit:.2f}")
        body.append((words, *cells))
    return _markdown(("workload", *FILESYSTEMS), body)


# Tables that are of no family
_OTHERS = {
    "kernels": _kernels_table,
    "headlines": _headlines_table,
    "modern": _modern_table,
    "random_writes": _random_writes_table,
    "workloads": _workloads_table,
}


def table(family: str) -> list[str]:
    if family in _OTHERS:
        return _OTHERS[family]()
    rows = records.load_family(family)
    lines = _place_table(rows, family) if family == "place" else _family_table(rows, family)
    reasons = _reasons(rows, family)
    return lines + (["", "Without a value:", ""] if reasons else []) + reasons


def main() -> int:
    if "--check" in sys.argv[1:]:
        return max(pages.check(page, table, "bench/tables.py") for page in PAGES)
    for page in PAGES:
        pages.write(page, table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
