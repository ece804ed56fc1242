# SPDX-License-Identifier: GPL-2.0-only
"""defrag: files that lie badly already, put in order without a copy.

The control is the filesystem's own defragmenter (`dieaware defrag --method move`) on the same file,
beginning with the same drive (bench/guest/defrag.sh); and half a year of a phone's use, with its files
put in order each week or not (bench/guest/months.sh).

Paper: Hahn et al., *Improving File System Performance of Mobile Storage Systems Using a Decoupled
Defragmenter*, ATC'17.
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
# What of btrfs' own writes is there because it keeps two copies of its trees
_ONE_COPY = "defrag.copied.btrfs-single"
_UNIT = "% of the filesystem's own"
_CONTROL = "the filesystem's own"
_MONTHS = "months"
# How files are put in order, and when
_POLICIES = ("none", "share", "spread", "move", "move4")
# Table 4 of the paper: what janusd copies, 219 and 364 MB, of the 156 GB of e4defrag each week
_PAPER_COPIED = 0.37
_MACHINE = Machine(memory="3000M", has_tool=True, is_uml=True)


def rows() -> Rows:
    rows = {}
    for filesystem in _FILESYSTEMS:
        rows[f"defrag.copied.{filesystem}"] = About(_UNIT, filesystem, target=1.0)
        rows[f"defrag.speed.{filesystem}"] = About(_UNIT, filesystem, target=99.0, is_cost=False)
    rows[_ONE_COPY] = About(_UNIT, _ONE_COPY.rpartition(".")[2])
    for policy in _POLICIES:
        rows[f"defrag.months_speed.{policy}"] = About("% of new files", _MONTHS, is_cost=False)
    rows["defrag.months_copied.share"] = About("% of moving", _MONTHS, 1.0)
    rows["defrag.months_copied.spread"] = About("% of moving", _MONTHS, paper=_PAPER_COPIED)
    rows["defrag.months_copied.move4"] = About("% of moving", _MONTHS)
    return rows


def _command(part: str) -> tuple[str, ...]:
    if part == _MONTHS:
        return ("env", f"SSD_SCALE={SCALE}", "guest/months.sh")
    return ("env", f"SSD_SCALE={SCALE}", "guest/defrag.sh", part)


def boots(names: list[str], options: Options) -> list[Boot]:
    return [
        Boot(f"files put in order: {part}", same, _command(part), SCALE, _MACHINE)
        for part, same in by_part(rows(), names).items()
    ]


def _by_method(lines: list[Line]) -> dict[str, Line]:
    return {line["method"]: line for line in lines}


def _what_was_programmed(file: Line, by_method: dict[str, Line]) -> str:
    """Whose the pages are that sharing had programmed after all."""
    pages, share = int(file["pages"]), by_method["share"]
    copied = pages - int(share["shared"])
    own = int(share["written"]) - copied
    own_of_move = int(by_method["move"]["written"]) - pages
    return (
        f"{share['programmed']} pages programmed for a file of {pages} in {file['pieces']} pieces "
        f"({share['pieces']} afterwards); written were {copied} of the file and {own} of the "
        f"filesystem's own, which has {own_of_move} when it moves the file and "
        f"{by_method['none']['written']} when it has nothing to do"
    )


def _copied(lines: list[Line]) -> Measured | None:
    files, by_method = found(lines, "defrag.file"), _by_method(found(lines, "defrag.copied"))
    if not files or len(by_method) != 3:
        return None
    share, move = by_method["share"], by_method["move"]
    ratio = 100 * int(share["programmed"]) / int(move["programmed"])
    return Measured(
        [ratio],
        _what_was_programmed(files[0], by_method),
        control(_CONTROL, int(move["programmed"]), "pages programmed"),
    )


def _rate(line: Line, ns: float) -> float:
    """MB/s by the drive's own clock."""
    return int(line["bytes"]) * SCALE * 1e3 / ns


def _speed(lines: list[Line]) -> Measured | None:
    by_method = _by_method(measurements(lines, "defrag.speed"))
    if len(by_method) != 3:
        return None
    share, move, before = (by_method[method] for method in ("share", "move", "none"))
    own = statistics.median(durations(move))
    note = f"{_rate(before, statistics.median(durations(before))):.0f} MB/s in pieces"
    return Measured(
        [100 * own / ns for ns in durations(share)],
        note,
        control(_CONTROL, _rate(move, own), "MB/s"),
        [100 * own / ns for ns in warm_up(share)],
    )


def _months_rate(lines: list[Line]) -> float:
    """MB/s of all bytes that were read, by the drive's own clock."""
    ns = sum(samples(line)[0] for line in lines)
    return sum(int(line["bytes"]) for line in lines) * SCALE * 1e3 / ns


def _months_speed(lines: list[Line], policy: str) -> Measured | None:
    reads = measurements(lines, "defrag.months_read")
    new = [line for line in reads if line["policy"] == "clean"]
    own = {
        when: [line for line in reads if (line["policy"], line["when"]) == (policy, when)]
        for when in ("before", "after")
    }
    if not new or not own["before"] or not own["after"]:
        return None
    rates = {when: _months_rate(some) for when, some in own.items()}
    last = own["after"][-1]
    note = (
        f"{rates['before']:.0f} MB/s at the end of a week and {rates['after']:.0f} after that was put in "
        f"order; {last['extents']} pieces at the end"
    )
    rate = _months_rate(new)
    return Measured(
        [100 * _months_rate([one]) / rate for some in own.values() for one in some],
        note,
        control("new files", rate, "MB/s"),
    )


def _months_programmed(lines: list[Line], policy: str) -> int:
    work = found(lines, "defrag.months_work", policy=policy)
    return sum(int(line["programmed"]) for line in work)


def _months_copied(lines: list[Line], policy: str) -> Measured | None:
    move, own = _months_programmed(lines, "move"), _months_programmed(lines, policy)
    if not move or not found(lines, "defrag.months_work", policy=policy):
        return None
    return Measured(
        [100 * own / move],
        f"{own} pages programmed in half a year",
        control("moved each week", move, "pages programmed"),
    )


def _value(lines: list[Line], name: str) -> Measured | None:
    _, what, which = name.split(".")
    if what.startswith("months_"):
        return (_months_speed if what == "months_speed" else _months_copied)(lines, which)
    of_filesystem = [line for line in lines if line.get("fs") == which]
    return (_copied if what == "copied" else _speed)(of_filesystem)


def values(boot: Boot, lines: list[Line]) -> Values:
    measured = {name: _value(lines, name) for name in boot.rows}
    return {name: value for name, value in measured.items() if value}
