# SPDX-License-Identifier: GPL-2.0-only
"""defrag: files that lie badly already, put in order without a copy.

The control is the filesystem's own defragmenter (`dieaware defrag --method move`) on the same file,
beginning with the same drive (bench/guest/defrag.sh).

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
    warm_up,
)

SCALE = 4
_FILESYSTEMS = ("ext4", "xfs", "btrfs", "f2fs")
# What of btrfs' own writes is there because it keeps two copies of its trees
_ONE_COPY = "defrag.copied.btrfs-single"
_UNIT = "% of the filesystem's own"
_CONTROL = "the filesystem's own"
_MACHINE = Machine(memory="3000M", has_tool=True, is_uml=True)


def rows() -> Rows:
    rows = {}
    for filesystem in _FILESYSTEMS:
        rows[f"defrag.copied.{filesystem}"] = About(_UNIT, filesystem, target=1.0)
        rows[f"defrag.speed.{filesystem}"] = About(_UNIT, filesystem, target=99.0, is_cost=False)
    rows[_ONE_COPY] = About(_UNIT, _ONE_COPY.rpartition(".")[2])
    return rows


def _command(filesystem: str) -> tuple[str, ...]:
    return ("env", f"SSD_SCALE={SCALE}", "guest/defrag.sh", filesystem)


def boots(names: list[str], options: Options) -> list[Boot]:
    return [
        Boot(f"defragmented without a copy: {part}", same, _command(part), SCALE, _MACHINE)
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


def values(boot: Boot, lines: list[Line]) -> Values:
    measured = {}
    for name in boot.rows:
        filesystem = name.rpartition(".")[2]
        of_filesystem = [line for line in lines if line.get("fs") == filesystem]
        how = _copied if name.startswith("defrag.copied.") else _speed
        measured[name] = how(of_filesystem)
    return {name: value for name, value in measured.items() if value}
