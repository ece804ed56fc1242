# SPDX-License-Identifier: GPL-2.0-only
"""What log mode costs: instructions, memory of the map, commits for fsyncs, time to start."""

from __future__ import annotations

from collections.abc import Callable

from family import About, Line, Measured, control, found, measurements, samples

from families.log.lines import WRITE_SCALE

SCRIPT = "guest/log-cost.sh"
SCALE = 1
MAP_PAGE_BYTES = 4096

ROWS: dict[str, About] = {
    "log.map_bytes_per_4k": About("bytes", "map", 5.2),
    "log.commits_per_fsync": About("commits", "fsync", 0.5, digits=3),
    "log.fsync_latency": About("x dm-linear", "fsync", 1.3, digits=3),
    "log.start_crash_s": About("s", "start", 5.0, digits=2),
    "log.start_clean_s": About("s", "start", 1.0, digits=3),
    "log.start_crash_wide_s": About("s", "start_wide", 5.0, digits=2),
    "log.start_clean_wide_s": About("s", "start_wide", 1.0, digits=3),
}


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


def _fsync(lines: list[Line], name: str) -> Measured | None:
    if name == "log.commits_per_fsync":
        return _commits(lines, name)
    latencies = {line["target"]: int(line["mean_ns"]) for line in found(lines, name)}
    if len(latencies) != 2:
        return None
    log, linear = (latencies[kind] / WRITE_SCALE / 1e3 for kind in ("log", "linear"))
    return Measured(
        [log / linear],
        f"{log:.0f} us for a write of 4 KiB and its fsync, one thread",
        control("dm-linear", linear, "us"),
    )


def _start(lines: list[Line], name: str) -> Measured | None:
    line = _only(lines, name)
    if line is None:
        return None
    used, ring = (int(line[which]) / 2048 for which in ("used", "ring"))
    note = f"{used:.1f} of {ring:.0f} MiB of journal in use, {line['map_reads']} pages of the map read"
    return Measured([run / 1e9 for run in samples(line)], note)


VALUES: dict[str, Callable[[list[Line], str], Measured | None]] = {
    "map": _map_bytes,
    "fsync": _fsync,
    "start": _start,
    "start_wide": _start,
}
