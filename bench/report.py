# SPDX-License-Identifier: GPL-2.0-only
"""Turn what a run printed into rows, a JSON file and a table."""

from __future__ import annotations

import json
import pathlib
import statistics
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from families import every_row
from family import Boot, Line, Measured
from guest import Outcome

Row = dict[str, Any]


def _row(name: str, scale: int, measured: Measured) -> Row:
    about = every_row()[name][1]
    value = statistics.median(measured.runs) if measured.value is None else measured.value
    row = {
        "id": name,
        "scale": scale,
        "value": round(value, about.digits),
        "unit": about.unit,
        "target": about.target_at(scale),
        "paper": about.paper,
        "control": measured.control,
        "runs": [round(run, about.digits + 1) for run in measured.runs],
    }
    if measured.warm_up:
        row["warm_up"] = [round(run, about.digits + 1) for run in measured.warm_up]
    if measured.note:
        row["note"] = measured.note
    if measured.series:
        row["series"] = [[round(value, 3) for value in point] for point in measured.series]
    return row


def missing(name: str, scale: int, reason: str) -> Row:
    about = every_row()[name][1]
    return {
        "id": name,
        "scale": scale,
        "value": None,
        "unit": about.unit,
        "target": about.target_at(scale),
        "paper": about.paper,
        "control": None,
        "runs": [],
        "reason": reason,
    }


def _own_reason(lines: list[Line], name: str) -> str | None:
    """Why the guest could not measure a row at all, if it says so."""
    for line in lines:
        if "missing" in line and name.endswith("." + line["missing"]):
            return line["reason"].replace("_", " ")
    return None


def _where(boot: Boot, outcome: Outcome) -> dict[str, str | None]:
    """On which kernel, if any, and on which profile of the virtual SSD, which the run says."""
    kernel = outcome.about("kernel") if boot.machine else "none: the simulator"
    return {"kernel": kernel, "profile": outcome.last("profile")}


def results_of(module: ModuleType, boot: Boot, outcome: Outcome) -> list[Row]:
    is_lost = boot.is_whole and outcome.reason
    measured = {} if is_lost else module.values(boot, outcome.lines)
    rows = []
    for name in boot.rows:
        if name in measured and measured[name].reason:
            rows.append(missing(name, boot.scale, measured[name].reason))
        elif name in measured:
            rows.append(_row(name, boot.scale, measured[name]))
        else:
            reason = _own_reason(outcome.lines, name) or outcome.reason
            rows.append(missing(name, boot.scale, reason or "The guest did not report this row."))
    return [{**row, **_where(boot, outcome)} for row in rows]


def merge_boots(boots: list[list[Row]]) -> list[Row]:
    """The same rows of several boots as one: all runs, and each boot's value."""
    merged = []
    for same in zip(*boots):
        good = [row for row in same if row["value"] is not None]
        if not good:
            merged.append(same[0])
            continue
        row = dict(good[0])
        if len(same) > 1:
            row["runs"] = [run for one in good for run in one["runs"]]
            row["boots"] = [one["value"] for one in good]
            row["value"] = round(statistics.median(row["boots"]), 4)
        merged.append(row)
    return merged


def write_json(path: pathlib.Path, kernel: str, profile: str, results: list[Row]) -> None:
    document = {"kernel": kernel, "profile": profile, "results": results}
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".json.new")
    fresh.write_text(json.dumps(document, indent=1) + "\n")
    fresh.replace(path)


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.4f}" if abs(value) < 10 else f"{value:.1f}"


def _verdict(row: Row) -> str:
    if row["value"] is None:
        return row["reason"]
    if row["target"] is None:
        return ""
    is_met = every_row()[row["id"]][1].is_met(row["value"], row["target"])
    return "reached" if is_met else "MISSED"


def _boot_spread(row: Row) -> str:
    boots = row.get("boots", [])
    if len(boots) < 2:
        return ""
    spread = 100 * (max(boots) - min(boots)) / statistics.median(boots)
    return f"{len(boots)} boots within {spread:.2f} %"


def table(results: Iterable[Row]) -> list[str]:
    """Measured, paper and target side by side."""
    head = ("row", "scale", "measured", "unit", "paper", "target", "")
    body = [
        (
            row["id"],
            str(row["scale"]),
            _number(row["value"]),
            row["unit"],
            _number(row["paper"]),
            _number(row["target"]),
            " ".join(filter(None, (_verdict(row), _boot_spread(row)))),
        )
        for row in results
    ]
    widths = [max(len(line[i]) for line in [head, *body]) for i in range(len(head))]
    right = (1, 2, 4, 5)
    return [
        "  ".join(
            word.rjust(width) if i in right else word.ljust(width)
            for i, (word, width) in enumerate(zip(line, widths))
        ).rstrip()
        for line in [head, *body]
    ]
