# SPDX-License-Identifier: GPL-2.0-only
"""What hint mode costs, in instructions, against dm-linear on the same device."""

from __future__ import annotations

import statistics

from family import About, Boot, Line, Measured, Options, Rows, Values, durations, measurements

RUN_TABLE = "T2.run_table_mib_per_tib"


def rows() -> Rows:
    return {
        "T2.read": About("x dm-linear", target=1.01),
        "T2.write_unhinted": About("x dm-linear", target=1.02),
        "T2.write_hinted": About("x dm-linear", target=1.04),
        "T2.seq_1m": About("x dm-linear", target=1.01),
        RUN_TABLE: About("MiB", target=64.0, digits=2),
    }


def command(names: list[str]) -> tuple[str, ...]:
    return ("bash", "guest/cost.sh", *names)


def boots(names: list[str], options: Options) -> list[Boot]:
    if not names:
        return []
    return [Boot("cost of hint mode in instructions", tuple(names), command(names))]


def _ratios(lines: list[Line], name: str) -> dict[str, list[float]]:
    """case -> what a block costs over dm-dieaware, in blocks over dm-linear, pair by pair."""
    costs: dict[tuple[str, str], list[float]] = {}
    for line in lines:
        if line.get("row") == name and "case" in line:
            of_case = costs.setdefault((line["case"], line["target"]), [])
            of_case.append(statistics.median(durations(line)))
    ratios = {}
    for (case, target), runs in costs.items():
        pairs = zip(costs.get((case, "dieaware"), []), runs)
        if target == "linear":
            ratios[case] = [dieaware / linear for dieaware, linear in pairs]
    return {case: runs for case, runs in ratios.items() if runs}


def _run_table(lines: list[Line], name: str) -> Measured | None:
    mine = measurements(lines, name)
    return Measured([int(line["bytes"]) / (1 << 20) for line in mine]) if mine else None


def _value(lines: list[Line], name: str) -> Measured | None:
    if name == RUN_TABLE:
        return _run_table(lines, name)
    ratios = _ratios(lines, name)
    if not ratios:
        return None
    worst = max(ratios, key=lambda case: statistics.median(ratios[case]))
    cases = (f"{case} {statistics.median(runs):.4f}" for case, runs in sorted(ratios.items()))
    return Measured(ratios[worst], "worst of " + ", ".join(cases) if len(ratios) > 1 else "")


def values(boot: Boot, lines: list[Line]) -> Values:
    measured = {name: _value(lines, name) for name in boot.rows}
    return {name: value for name, value in measured.items() if value}
