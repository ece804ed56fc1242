# SPDX-License-Identifier: GPL-2.0-only
"""reach: drives that know no hints of ours.

The worst workloads of place, on a stock kernel that has write streams: the virtual SSD knows no
hint, but has a placement handle for each die, and the target chooses among these (hints=fdp).
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
    durations,
    measurements,
)

from families import place

_WORKLOADS = ("append_worst", "overwrite_worst")
_OF_IDEAL_TARGET = 97.0
# The first of the lab's kernels that has write streams
_MACHINE = Machine(kernel="newest")
_VARIABLES = (("HINTS", "fdp"), ("SSD_PROPERTIES", "hints=0 fdp=1"))
_CONTROLS = ("contiguous", "plain", "ideal")


def rows() -> Rows:
    return {
        f"reach.fdp.{workload}": About("% of ideal", target=_OF_IDEAL_TARGET, is_cost=False, digits=2)
        for workload in _WORKLOADS
    }


def _case(scale: int) -> place.Case:
    return place.Case("ext4", "direct", "fast24", scale, _VARIABLES)


def _workload(name: str) -> str:
    return name.rpartition(".")[2]


def boots(names: list[str], options: Options) -> list[Boot]:
    if not names:
        return []
    wanted = {_workload(name): [*_CONTROLS, "hinted"] for name in names}
    return [
        Boot(
            f"placement handles, time scale {scale}: {', '.join(wanted)}",
            tuple(names),
            place.command(_case(scale), wanted, options),
            scale,
            _MACHINE,
        )
        for scale in options.scales
    ]


def _note(boot: Boot, lines: list[Line], prefix: str, ideal: float) -> str:
    """What plain and contiguous files of the same run are read at, in percent of ideal."""
    said = []
    for layout in ("plain", "contiguous"):
        same = measurements(lines, f"{prefix}.{layout}")
        if same:
            speed = statistics.median(place.rates(same, boot.scale, durations))
            said.append(f"{layout} {100 * speed / ideal:.1f}")
    return ", ".join(said)


def _value(boot: Boot, lines: list[Line], name: str) -> Measured | None:
    prefix = _case(boot.scale).prefix(_workload(name))
    measured = place.of_ideal(boot, lines, prefix)
    if measured:
        ideal = measurements(lines, f"{prefix}.ideal")
        speed = statistics.median(place.rates(ideal, boot.scale, durations))
        measured.note = _note(boot, lines, prefix, speed)
    return measured


def values(boot: Boot, lines: list[Line]) -> Values:
    measured = {name: _value(boot, lines, name) for name in boot.rows}
    return {name: value for name, value in measured.items() if value}
