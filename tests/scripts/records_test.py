#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What scripts/bench --record does with rows that have no value."""

import pathlib
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "bench"))

import records  # noqa: E402


def row(name: str, value, reason: str = "") -> dict:
    return {"id": name, "scale": 16, "value": value, "reason": reason}


def main() -> None:
    name, other = "log.fragments_removed", "log.small_cache_slowdown"
    with tempfile.TemporaryDirectory() as folder:
        records.FOLDER = pathlib.Path(folder)
        assert records.keep([row(name, 99.8)]) == []
        failed = row(name, None, "the machine has died")
        assert records.keep([failed, row(other, None, "no room")]) == [failed]
        on_record = records.load()
        assert on_record[name, 16]["value"] == 99.8
        assert on_record[other, 16]["reason"] == "no room"
        assert records.keep([row(name, 98.0), row(other, 2.0)]) == []
        assert [records.load()[key, 16]["value"] for key in (name, other)] == [98.0, 2.0]


main()
