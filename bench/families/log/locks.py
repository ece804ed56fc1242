# SPDX-License-Identifier: GPL-2.0-only
"""What log mode does inside its locks: for each read and write, and at most at once.

A lock is held by one CPU at a time. So what all CPUs together can do is bounded by what an
operation does inside locks, and by what it does altogether.
"""

from __future__ import annotations

from collections.abc import Callable

from family import About, Line, Measured, found, measurements

SCRIPT = "guest/log-locks.sh"
SCALE = 1
# The machine of the target
_CPUS = 32
_INSTRUCTIONS_PER_SECOND = 3e9
_MOST_NAMED = 3

ROWS: dict[str, About] = {
    "log.max_locked_insn": About("instructions", "longest", 20_000.0, digits=0),
    "log.scaling_read_miops": About("M/s", "scaling", 2.0, is_cost=False, digits=2),
    "log.scaling_write_miops": About("M/s", "scaling", 1.0, is_cost=False, digits=2),
}


def _bound(lines: list[Line], case: str) -> tuple[float, str] | None:
    """M operations a second of all CPUs, and what they come from."""
    mine = found(lines, "log.scaling", case=case)
    whole = [line for line in mine if "operations" in line]
    if not whole:
        return None
    altogether = int(whole[0]["insn"])
    inside = sum(int(line["insn"]) for line in mine if "site" in line)
    locked = inside / int(whole[0]["operations"])
    by_cpus = _CPUS * _INSTRUCTIONS_PER_SECOND / altogether
    by_locks = _INSTRUCTIONS_PER_SECOND / locked if locked else by_cpus
    note = f"{case}: {locked:.0f} of {altogether} instructions inside locks"
    return min(by_cpus, by_locks) / 1e6, note


def _scaling(lines: list[Line], name: str) -> Measured | None:
    is_read = name == "log.scaling_read_miops"
    bound = _bound(lines, "read" if is_read else "write")
    if bound is None:
        return None
    miops, note = bound
    beside = None if is_read else _bound(lines, "cleaning")
    if beside:
        note += f"; {beside[1]}, {beside[0]:.2f} M/s"
    return Measured([miops], note)


def _longest(lines: list[Line], name: str) -> Measured | None:
    if not measurements(lines, name):
        return None
    most: dict[str, tuple[int, str]] = {}
    for line in found(lines, name):
        if "site" in line:
            here = (int(line["most"]), f"{line['site']} ({line['case']})")
            most[line["site"]] = max(here, most.get(line["site"], here))
    longest = sorted(most.values(), reverse=True)[:_MOST_NAMED]
    lpns = next(int(line["lpns"]) for line in found(lines, name) if "lpns" in line)
    named = ", ".join(f"{place} {number}" for number, place in longest)
    return Measured([longest[0][0]], f"{lpns / (1 << 28):.2f} TiB; {named}")


VALUES: dict[str, Callable[[list[Line], str], Measured | None]] = {
    "scaling": _scaling,
    "longest": _longest,
}
