# SPDX-License-Identifier: GPL-2.0-only
"""The figures on record: bench/results has a file for each family, and in it every row as it
was measured last, with its samples.

The tables of docs/figures.md are made of them (bench/tables.py), and scripts/bench --smoke
compares with them what it measures.
"""

from __future__ import annotations

import datetime
import json
import pathlib
from collections.abc import Iterable
from typing import Any

from families import every_row

Row = dict[str, Any]
Key = tuple[str, int]

FOLDER = pathlib.Path(__file__).resolve().parent / "results"


def key_of(row: Row) -> Key:
    return row["id"], row["scale"]


def _path(name: str) -> pathlib.Path:
    return FOLDER / f"{name}.json"


def read_rows(name: str) -> list[Row]:
    """What a file of them has."""
    path = _path(name)
    return json.loads(path.read_text())["results"] if path.exists() else []


def write_rows(name: str, rows: Iterable[Row]) -> None:
    """A row a line, so that a new figure is one line of a diff."""
    lines = ",\n".join(json.dumps(row) for row in rows)
    _path(name).write_text('{"results": [\n' + lines + "\n]}\n")


def load_family(family: str) -> dict[Key, Row]:
    return {key_of(row): row for row in read_rows(family)}


def load() -> dict[Key, Row]:
    """Everything on record."""
    families = sorted({name.partition(".")[0] for name in every_row()})
    return {key: row for family in families for key, row in load_family(family).items()}


def of_another_profile(rows: Iterable[Row], profiles: Iterable[str]) -> list[str]:
    """Rows with a value that do not say which profile they were measured on, or say another one
    than their names do."""
    names = set(profiles)
    return [
        row["id"]
        for row in rows
        if row["value"] is not None
        and (not row["profile"] or not names & set(row["id"].split(".")) <= {row["profile"]})
    ]


def _write(family: str, rows: Iterable[Row]) -> None:
    order = {name: nr for nr, name in enumerate(every_row())}
    write_rows(
        family, sorted(rows, key=lambda row: (order.get(row["id"], len(order)), -row["scale"]))
    )


def _replaces(row: Row, before: Row | None) -> bool:
    """A run that has failed says nothing against what was measured."""
    return row["value"] is not None or before is None or before["value"] is None


def keep(results: list[Row]) -> list[Row]:
    """Put rows on record; those that nothing measures yet need none. Returns those that have no
    value, and leave a figure as it was."""
    about = every_row()
    today = datetime.date.today().isoformat()
    on_record = load()
    left = [row for row in results if not _replaces(row, on_record.get(key_of(row)))]
    measured = [
        row for row in results if row not in left and not about[row["id"]][1].unmeasured
    ]
    for family in {row["id"].partition(".")[0] for row in measured}:
        rows = load_family(family)
        for row in measured:
            if row["id"].partition(".")[0] == family:
                kept = {key: value for key, value in row.items() if key != "series"}
                rows[key_of(row)] = {**kept, "measured": today}
        FOLDER.mkdir(exist_ok=True)
        _write(family, rows.values())
    return left
