# SPDX-License-Identifier: GPL-2.0-only
"""T3, log mode: its rows, with targets and what the papers report, and how each is made
of what the guest printed.

Papers: Han and Son, IEEE Access 2021 (`access21`), and Park et al., APSys 2016.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable

import logapps
from logline import (
    WRITE_SCALE,
    About,
    Line,
    Value,
    before_and_after,
    removed,
    runs_of,
    speed_of,
    speeds_of,
)

# Random writes by the paper's scheme against the plain SATA drive (access21, 6a)
_PAPER_GAIN = {"ext4": 2.0, "xfs": 1.86, "btrfs": 2.15, "f2fs": 1.01}
# What else maps a device's blocks anew, and the part that measures it
OTHERS = {"dm-thin": "insn", "dm-vdo": "vdo"}
# The first of the lab's kernels whose dm-vdo formats a device, and memory for one
VDO_KERNEL = "7.2"
VDO_MEMORY = "6G"
MAP_PAGE_BYTES = 4096
AGED_LAPS = 3
COST_SCRIPT = "guest/t3-cost.sh"


def _costs() -> dict[str, About]:
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


def _writes() -> dict[str, About]:
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


ROWS: dict[str, About] = {**_costs(), **_writes(), **logapps.ROWS}


def _script(part: str) -> str:
    if part in ("insn", "vdo", "map", "fsync", "replay"):
        return COST_SCRIPT
    return logapps.SCRIPT if part.partition(".")[0] in logapps.VALUES else "guest/t3-write.sh"


def _boot(part: str) -> str:
    """Parts with the same answer share a boot."""
    script = _script(part)
    return script if script == COST_SCRIPT and part != "vdo" else part


def parts(names: Iterable[str]) -> list[str]:
    """The parts of the guest's script that give these rows."""
    return list(dict.fromkeys(ROWS[name].part for name in names))


def boots(names: Iterable[str]) -> list[list[str]]:
    """The same rows by boot, in order: what shares one goes together."""
    by_boot: dict[str, list[str]] = {}
    for name in names:
        by_boot.setdefault(_boot(ROWS[name].part), []).append(name)
    return list(by_boot.values())


def scale_of(names: list[str]) -> int:
    """The time scale of rows that share a boot."""
    return 1 if _script(ROWS[names[0]].part) == COST_SCRIPT else WRITE_SCALE


def command(names: list[str]) -> list[str]:
    """What the guest runs for rows that share a boot."""
    return [_script(ROWS[names[0]].part), *parts(names)]


def machine(names: list[str], kernel: str, memory: str) -> tuple[str, str]:
    """The kernel and the memory that rows which share a boot need, else those given."""
    if parts(names) == ["vdo"]:
        return VDO_KERNEL, VDO_MEMORY
    return kernel, memory


def _instructions(lines: list[Line], name: str) -> Value:
    """The target's samples divided by dm-linear's of the same round."""
    group, row, *other = name.split(".")
    row, target = f"{group}.{row}", other[0] if other else "log"
    costs: dict[str, list[float]] = {}
    for line in lines:
        if line.get("row") == row and "target" in line:
            # The first round warms up.
            costs.setdefault(line["target"], []).append(statistics.median(runs_of(line)[1:]))
    linear, mine = costs.get("linear", []), costs.get(target, [])
    ratios = [cost / base for cost, base in zip(mine, linear)]
    if not ratios:
        return [], ""
    note = f"{statistics.median(mine):.0f} instructions, dm-linear {statistics.median(linear):.0f}"
    if other and "log" in costs:
        note += f", log mode {statistics.median(costs['log']):.0f}"
    return ratios, note


def _only(lines: list[Line], name: str) -> Line | None:
    found = [line for line in lines if line.get("row") == name and "runs_ns" in line]
    return found[0] if found else None


def _map_bytes(lines: list[Line], name: str) -> Value:
    line = _only(lines, name)
    if line is None:
        return [], ""
    pages, structure = int(line["pages"]), int(line["structure_bytes"])
    note = f"{pages} pages of the map with {structure} bytes of structures each"
    return [pages * (MAP_PAGE_BYTES + structure) / int(line["mapped"])], note


def _commits(lines: list[Line], name: str) -> Value:
    line = _only(lines, name)
    if line is None:
        return [], ""
    note = f"{line['commits']} commits, {line['flushes']} flushes, {line['fsyncs']} fsyncs"
    return [int(line["commits"]) / int(line["fsyncs"])], note


def _replay(lines: list[Line], name: str) -> Value:
    line = _only(lines, name)
    if line is None:
        return [], ""
    note = f"{int(line['used']) / 2048:.1f} MiB of journal"
    return [run / 1e9 for run in runs_of(line)], note


def _room(lines: list[Line], name: str) -> Value:
    _, what, filesystem = name.split(".")
    row = f"T3.room.{filesystem}"
    mine = speeds_of(lines, row, target="log", order="randwrite")
    plain = speeds_of(lines, row, target="raw", order="randwrite")
    ordered = speeds_of(lines, row, target="raw", order="write")
    if not (mine and plain and ordered):
        return [], ""
    note = f"{mine[0]:.0f} MB/s; raw at random {plain[0]:.0f}, in order {ordered[0]:.0f}"
    if what == "randwrite_speedup":
        return [mine[0] / plain[0]], note
    return [100 * mine[0] / ordered[0]], note


def _last_lap(lines: list[Line], row: str, target: str) -> Line | None:
    laps = [line for line in lines if line.get("row") == row and line["target"] == target]
    return laps[-1] if len(laps) == AGED_LAPS else None


def _total_waf(lap: Line) -> float:
    return int(lap["nand_pages"]) / int(lap["user_pages"])


def _aged(lines: list[Line], name: str) -> Value:
    """In steady state: of the last of three times the capacity."""
    _, what, filesystem = name.split(".")
    raw, log = (_last_lap(lines, f"T3.aged.{filesystem}", target) for target in ("raw", "log"))
    if raw is None or log is None:
        return [], ""
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
    return [values[what]], notes.get(what, "")


def _spare(lines: list[Line], name: str) -> Value:
    """The same, with more room to clean: against the whole raw drive with the same files."""
    row = name.replace("spare_speedup", "spare")
    raw, raw_spare, log = (
        _last_lap(lines, row, target) for target in ("raw", "raw_spare", "log_spare")
    )
    if raw is None or raw_spare is None or log is None:
        return [], ""
    note = (
        f"{speed_of(log):.1f} MB/s, {_total_waf(log):.2f} pages a page; raw {speed_of(raw):.1f}, "
        f"{_total_waf(raw):.2f}; raw with as much left alone {speed_of(raw_spare):.1f}, "
        f"{_total_waf(raw_spare):.2f}"
    )
    return [speed_of(log) / speed_of(raw)], note


def _cleaning(lines: list[Line], name: str) -> Value:
    # What users get when it is full; all others are about cleaning itself.
    case = "default" if name == "T3.cleaning_full" else "on"
    without = speeds_of(lines, "T3.cleaning", case="off")
    cleaned = [line for line in lines if line.get("case") == case and "max_ns" in line]
    speeds = speeds_of(lines, "T3.cleaning", case=case)
    if not without or not speeds:
        return [], ""
    if name == "T3.cleaning_max_stall_ms":
        return [int(line["max_ns"]) / WRITE_SCALE / 1e6 for line in cleaned], ""
    note = f"{statistics.median(speeds):.0f} MB/s, {without[0]:.0f} without cleaning; " + ", ".join(
        f"{line['cleaned']} segments cleaned, {line['moved_pages']} pages moved, "
        f"{line['in_place_pages']} overwritten in place"
        for line in cleaned[-1:]
    )
    return [100 * speed / without[0] for speed in speeds], note


def _cache(lines: list[Line], name: str) -> Value:
    large, small = (speeds_of(lines, "T3.cache", case=case) for case in ("large", "small"))
    if not large or not small:
        return [], ""
    return [large[0] / small[0]], f"{small[0]:.1f} MB/s with 1 MiB, {large[0]:.1f} with all of it"


def _fragments(lines: list[Line], name: str) -> Value:
    cases = before_and_after(lines, "T3.fragments")
    if cases is None:
        return [], ""
    before, after = cases
    note = (
        f"{before['nr']} fragments of {after['files']} files, {after['nr']} after cleaning; "
        f"they read at {speed_of(before):.0f} and {speed_of(after):.0f} MB/s"
    )
    return [removed(cases)], note


_VALUES: dict[str, Callable[[list[Line], str], Value]] = {
    "insn": _instructions,
    "vdo": _instructions,
    "map": _map_bytes,
    "fsync": _commits,
    "replay": _replay,
    "room": _room,
    "aged": _aged,
    "spare": _spare,
    "cleaning": _cleaning,
    "cache": _cache,
    "fragments": _fragments,
    **logapps.VALUES,
}


def value_of(lines: list[Line], name: str) -> Value:
    """Samples and note of a row; no samples where the guest gave none."""
    return _VALUES[ROWS[name].part.partition(".")[0]](lines, name)


def reason_of(lines: list[Line], name: str) -> str | None:
    """Why the guest could not measure something at all."""
    for line in lines:
        if "missing" in line and name.endswith("." + line["missing"]):
            return line["reason"].replace("_", " ")
    return None


def meets_target(name: str, value: float, target: float) -> bool:
    return value <= target if ROWS[name].is_cost else value >= target
