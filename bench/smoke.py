# SPDX-License-Identifier: GPL-2.0-only
"""Are figures as they are on record? bench/smoke.json says which are measured for that, and by
how much each may be off.

A row with a target fails when it is worse than its record; one without, to which others are
compared, when it is another in either direction.
"""

from __future__ import annotations

import json
import pathlib
from typing import Any

import records
from families import every_row, is_selected

Row = dict[str, Any]

LIST = pathlib.Path(__file__).resolve().parent / "smoke.json"


def load_list() -> dict[str, Any]:
    """`scale`, `percent` that is tolerated, and `rows`: selectors, each with a slack of its own
    in the row's unit, or null."""
    loaded: dict[str, Any] = json.loads(LIST.read_text())
    return loaded


def _slack(wanted: dict[str, Any], name: str, record: float) -> float:
    for selector, slack in wanted["rows"].items():
        if slack is not None and is_selected(name, [selector]):
            return float(slack)
    return abs(record) * float(wanted["percent"]) / 100


def _is_as_recorded(wanted: dict[str, Any], row: Row, record: Row) -> bool:
    if record["value"] is None or row["value"] is None:
        # That there is none may be what was found out.
        return record["value"] == row["value"] and record["reason"] == row["reason"]
    about = every_row()[row["id"]][1]
    slack = _slack(wanted, row["id"], record["value"])
    worse = row["value"] - record["value"] if about.is_cost else record["value"] - row["value"]
    return worse <= slack if about.target is not None else abs(worse) <= slack


def _shown(row: Row) -> str:
    return f"none ({row['reason']})" if row["value"] is None else str(row["value"])


def verdicts(results: list[Row], recorded: dict[records.Key, Row]) -> list[tuple[bool, str]]:
    """Of each row whether it is as it should be, and a sentence about it."""
    wanted = load_list()
    found = [
        (False, f"{selector} names rows that are measured")
        for selector in wanted["rows"]
        if not any(is_selected(row["id"], [selector]) for row in results)
    ]
    for row in results:
        record = recorded.get(records.key_of(row))
        if record is None:
            found.append((False, f"{row['id']} is not on record: {_shown(row)}"))
            continue
        sentence = f"{row['id']} is as on record: {_shown(row)}, on record {_shown(record)}"
        found.append((_is_as_recorded(wanted, row, record), sentence))
    return found
