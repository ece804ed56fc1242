# SPDX-License-Identifier: GPL-2.0-only
"""pick: only what is read is moved, against moving whole files.

The control is the same file moved as a whole (`dieaware defrag --method move`), beginning with the
same drive (bench/guest/pick.sh).

Paper: Park and Eom, *FragPicker*, SOSP'21.
"""

from __future__ import annotations

import statistics

from family import (
    About,
    Boot,
    Line,
    Machine,
    Measured,
    Options,
    Rows,
    Values,
    by_part,
    control,
    durations,
    found,
    measurements,
    samples,
    warm_up,
)

SCALE = 4
_FILESYSTEMS = ("ext4", "xfs", "btrfs", "f2fs")
_UNIT = "% of moving the whole file"
_CONTROL = "the whole file moved"
# Figures 8 and 9 of the paper: what is written for strides, and for all of it in order
_PAPER_WRITES = {"ext4": 27.0, "f2fs": 26.0}
_PAPER_ORDER_WRITES = {"ext4": 50.0, "f2fs": 48.0}
_INTERFERENCE = "pick.interference"
_MACHINE = Machine(memory="3000M", has_tool=True, is_uml=True)


def _of_filesystem(name: str) -> Rows:
    paper, in_order = _PAPER_WRITES.get(name), _PAPER_ORDER_WRITES.get(name)
    return {
        f"pick.writes.{name}": About(_UNIT, name, 30.0, paper),
        f"pick.time.{name}": About(_UNIT, name, 15.0),
        f"pick.speed.{name}": About(_UNIT, name, 96.6, is_cost=False),
        f"pick.update_speed.{name}": About(_UNIT, name, is_cost=False),
        f"pick.order_writes.{name}": About(_UNIT, name, paper=in_order),
        f"pick.order_time.{name}": About(_UNIT, name),
        f"pick.order_speed.{name}": About(_UNIT, name, is_cost=False),
    }


def rows() -> Rows:
    rows = {}
    for name in _FILESYSTEMS:
        rows |= _of_filesystem(name)
    rows[_INTERFERENCE] = About("% slower", "interference", 7.4, 7.4)
    return rows


def _command(part: str) -> tuple[str, ...]:
    words = ("ext4", "interference") if part == "interference" else (part,)
    return ("env", f"SSD_SCALE={SCALE}", "guest/pick.sh", *words)


def boots(names: list[str], options: Options) -> list[Boot]:
    return [
        Boot(f"only what is read is moved: {part}", same, _command(part), SCALE, _MACHINE)
        for part, same in by_part(rows(), names).items()
    ]


def _by_moved(lines: list[Line]) -> dict[str, Line]:
    return {line["moved"]: line for line in lines}


def _seconds(line: Line) -> float:
    return int(line["spent_ns"]) / SCALE / 1e9


def _mib(line: Line) -> float:
    return int(line["written"]) / 256


def _writes(by_moved: dict[str, Line]) -> Measured:
    picked, whole = by_moved["picked"], by_moved["whole"]
    note = f"{_mib(picked):.1f} MiB; {picked['pieces']} pieces, {whole['pieces']} of the whole file"
    return Measured(
        [100 * _mib(picked) / _mib(whole)], note, control(_CONTROL, _mib(whole), "MiB written")
    )


def _time(by_moved: dict[str, Line]) -> Measured:
    picked, whole = _seconds(by_moved["picked"]), _seconds(by_moved["whole"])
    return Measured([100 * picked / whole], f"{picked:.3f} s", control(_CONTROL, whole, "s"))


def _milliseconds(line: Line) -> float:
    return statistics.median(durations(line)) / SCALE / 1e6


def _speed(by_moved: dict[str, Line]) -> Measured:
    picked, whole, before = (by_moved[moved] for moved in ("picked", "whole", "none"))
    own = statistics.median(durations(whole))
    note = f"{_milliseconds(picked):.1f} ms for all, {_milliseconds(before):.1f} in pieces"
    return Measured(
        [100 * own / ns for ns in durations(picked)],
        note,
        control(_CONTROL, _milliseconds(whole), "ms"),
        [100 * own / ns for ns in warm_up(picked)],
    )


def _value(lines: list[Line], what: str) -> Measured | None:
    reader = "order" if what.startswith("order_") else "strides"
    what = what.removeprefix("order_")
    kind = {"speed": "read", "update_speed": "update"}.get(what, "moved")
    by_moved = _by_moved(found(lines, f"pick.{kind}", reader=reader))
    if len(by_moved) != 3:
        return None
    if what == "writes":
        return _writes(by_moved)
    return _time(by_moved) if what == "time" else _speed(by_moved)


def _rate(line: Line) -> float:
    """Requests a second by the drive's own clock."""
    return int(line["requests"]) * SCALE * 1e9 / samples(line)[0]


def _interference(lines: list[Line]) -> Measured | None:
    """How much slower the job is beside `pick` than alone, before and after."""
    jobs = measurements(lines, "pick.job")
    alone = [_rate(line) for line in jobs if line["moved"] == "none"]
    beside = {line["moved"]: line for line in jobs if line["moved"] != "none"}
    if len(alone) != 2 or len(beside) != 2:
        return None
    own = statistics.mean(alone)
    slower = {moved: 100 * (1 - _rate(line) / own) for moved, line in beside.items()}
    seconds = {moved: samples(line)[0] / SCALE / 1e9 for moved, line in beside.items()}
    note = (
        f"for {seconds['picked']:.2f} s; beside the whole file, {slower['whole']:.1f} % "
        f"for {seconds['whole']:.2f} s"
    )
    return Measured([slower["picked"]], note, control("alone", own, "reads a second"))


def values(boot: Boot, lines: list[Line]) -> Values:
    measured: dict[str, Measured | None] = {}
    for name in boot.rows:
        if name == _INTERFERENCE:
            measured[name] = _interference(lines)
        else:
            _, what, filesystem = name.split(".")
            measured[name] = _value(_found_on(lines, filesystem), what)
    return {name: value for name, value in measured.items() if value}


def _found_on(lines: list[Line], filesystem: str) -> list[Line]:
    return [line for line in lines if line.get("fs") == filesystem]
