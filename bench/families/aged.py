# SPDX-License-Identifier: GPL-2.0-only
"""aged: what a drive keeps of die order after a long time, by the simulator (bench/simulate.py)."""

from __future__ import annotations

import pathlib
import sys

from family import About, Boot, Line, Measured, Options, Rows, Values, control, found
from guest import TOOL

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "simulate.py"


_ORDER = "% of ideal"


def rows() -> Rows:
    return {
        "aged.order_32k_at_once": About(_ORDER, target=97.0, is_cost=False, digits=2),
        "aged.order_32k_rested": About(_ORDER, target=97.0, is_cost=False, digits=2),
        "aged.order_4k_at_once": About(_ORDER, is_cost=False, digits=2),
        "aged.order_4k_rested": About(_ORDER, target=97.0, is_cost=False, digits=2),
        "aged.bg_cost": About("% of write speed", target=20.0, digits=2),
        "aged.wear_spread": About("% of mean", target=5.0, digits=2),
    }


def command(name: str) -> tuple[str, ...]:
    return (sys.executable, str(SCRIPT), TOOL, name)


def boots(names: list[str], options: Options) -> list[Boot]:
    return [Boot(f"simulator: {name}", (name,), command(name), machine=None) for name in names]


def values(boot: Boot, lines: list[Line]) -> Values:
    return {
        name: Measured(
            [float(line["value"])],
            line["note"].replace("_", " "),
            control=control(
                line["control"],
                float(line["control_value"]),
                line["control_unit"].replace("_", " "),
            ),
        )
        for name in boot.rows
        for line in found(lines, name)
    }
