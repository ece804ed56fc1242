# SPDX-License-Identifier: GPL-2.0-only
"""What log mode costs: instructions, memory of the map, commits for fsyncs, time to start."""

from __future__ import annotations

import statistics
from collections.abc import Callable

from family import About, Line, Measured, durations, measurements, samples

SCRIPT = "guest/log-cost.sh"
SCALE = 1
# What else maps a device's blocks anew, and the part that measures it
OTHERS = {"dm-thin": "insn", "dm-vdo": "vdo"}
MAP_PAGE_BYTES = 4096


def _rows() -> dict[str, About]:
    rows = {
        "T3.insn_read": About("x dm-linear", "insn", 1.05),
        "T3.insn_write": About("x dm-linear", "insn", 1.15),
    }
    for other, part in OTHERS.items():
        rows[f"T3.insn_read.{other}"] = About("x dm-linear", part)
        rows[f"T3.insn_write.{other}"] = About("x dm-linear", part)
    rows["T3.map_bytes_per_4k"] = About("bytes", "map", 5.2)
    rows["T3.commits_per_fsync"] = About("commits", "fsync", 0.5)
    rows["T3.replay_s"] = About("s", "replay", 2.0)
    return rows


ROWS: dict[str, About] = _rows()


def _instructions(lines: list[Line], name: str) -> Measured | None:
    """The target's samples divided by dm-linear's of the same round."""
    group, row, *other = name.split(".")
    row, target = f"{group}.{row}", other[0] if other else "log"
    costs: dict[str, list[float]] = {}
    for line in lines:
        if line.get("row") == row and "target" in line:
            costs.setdefault(line["target"], []).append(statistics.median(durations(line)))
    linear, mine = costs.get("linear", []), costs.get(target, [])
    ratios = [cost / base for cost, base in zip(mine, linear)]
    if not ratios:
        return None
    note = f"{statistics.median(mine):.0f} instructions, dm-linear {statistics.median(linear):.0f}"
    if other and "log" in costs:
        note += f", log mode {statistics.median(costs['log']):.0f}"
    return Measured(ratios, note)


def _only(lines: list[Line], name: str) -> Line | None:
    mine = measurements(lines, name)
    return mine[0] if mine else None


def _map_bytes(lines: list[Line], name: str) -> Measured | None:
    line = _only(lines, name)
    if line is None:
        return None
    pages, structure = int(line["pages"]), int(line["structure_bytes"])
    note = f"{pages} pages of the map with {structure} bytes of structures each"
    return Measured([pages * (MAP_PAGE_BYTES + structure) / int(line["mapped"])], note)


def _commits(lines: list[Line], name: str) -> Measured | None:
    line = _only(lines, name)
    if line is None:
        return None
    note = f"{line['commits']} commits, {line['flushes']} flushes, {line['fsyncs']} fsyncs"
    return Measured([int(line["commits"]) / int(line["fsyncs"])], note)


def _replay(lines: list[Line], name: str) -> Measured | None:
    line = _only(lines, name)
    if line is None:
        return None
    note = f"{int(line['used']) / 2048:.1f} MiB of journal"
    return Measured([run / 1e9 for run in samples(line)], note)


VALUES: dict[str, Callable[[list[Line], str], Measured | None]] = {
    "insn": _instructions,
    "vdo": _instructions,
    "map": _map_bytes,
    "fsync": _commits,
    "replay": _replay,
}
