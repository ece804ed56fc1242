# SPDX-License-Identifier: GPL-2.0-only
"""log: log mode: what it costs, how fast it writes, and what it makes of programs' I/O.

A row's `part` is a part of a guest's script, with what the script is told behind the dot.
"""

from __future__ import annotations

from types import ModuleType

from family import About, Boot, Line, Machine, Measured, Options, Rows, Values

from families.log import apps, costs, locks, write

_MODULES: tuple[ModuleType, ...] = (costs, locks, write, apps)
# As much as is written until a large journal is full stays in the memory of the virtual SSD.
# A page that it maps takes 12 bytes besides.
_MEMORY = {"start": "9G", "start_wide": "12G"}
# By part or kind: more than an emulated CPU can write, where the drive alone decides what it takes,
# and what needs write streams, which the kernel there has.
_UML_MEMORY = {
    "dramless": "11000M",
    "dramless_bursts": "7000M",
    "aged_tenth": "2500M",
    "aged_tenth_fdp": "2500M",
    "cleaning.fdp": "2500M",
}


def rows() -> Rows:
    return {name: about for module in _MODULES for name, about in module.ROWS.items()}


def _kind(part: str) -> str:
    return part.partition(".")[0]


def _module_of(part: str) -> ModuleType:
    return next(module for module in _MODULES if _kind(part) in module.VALUES)


def command(parts: list[str]) -> tuple[str, ...]:
    """What the guest runs for parts that share a boot."""
    return ("bash", _module_of(parts[0]).SCRIPT, *parts)


def _boot(names: list[str], about: dict[str, About]) -> Boot:
    parts = list(dict.fromkeys(about[name].part for name in names))
    module = _module_of(parts[0])
    in_uml = _UML_MEMORY.get(parts[0]) or _UML_MEMORY.get(_kind(parts[0]))
    machine = Machine(
        in_uml or _MEMORY.get(parts[0], Machine.memory),
        has_tool=True,
        counts_locks=module is locks,
        is_uml=in_uml is not None,
    )
    title = "log mode: " + ", ".join(parts)
    return Boot(title, tuple(names), command(parts), module.SCALE, machine)


def boots(names: list[str], options: Options) -> list[Boot]:
    about = rows()
    by_boot: dict[str, list[str]] = {}
    for name in names:
        part = about[name].part
        # What is short shares a boot.
        is_short = _module_of(part) is costs and part not in _MEMORY
        by_boot.setdefault("short" if is_short else part, []).append(name)
    return [_boot(same, about) for same in by_boot.values()]


def values(boot: Boot, lines: list[Line]) -> Values:
    about = rows()
    measured: Values = {}
    for name in boot.rows:
        kind = _kind(about[name].part)
        value: Measured | None = _module_of(kind).VALUES[kind](lines, name)
        if value and value.runs:
            measured[name] = value
    return measured
