#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What scripts/bench --record does with rows that have no value, and which profile rows are of."""

import pathlib
import sys
import tempfile
import types

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "bench"))

import guest  # noqa: E402
import records  # noqa: E402
import report  # noqa: E402


def row(name: str, value, reason: str = "") -> dict:
    return {"id": name, "scale": 16, "value": value, "reason": reason}


def rows_are_of_their_profiles() -> None:
    profiles = {row["profile"] for row in records.read_rows("drives")}
    wrong = records.of_another_profile(records.load().values(), profiles)
    assert not wrong, f"These are of another profile than they say: {wrong}"
    row = {"id": "ssd.drive_error.nvme-a", "value": 1.0, "profile": "nvme-a"}
    assert records.of_another_profile([row], profiles) == []
    for profile in ("fast24", None):
        assert records.of_another_profile([{**row, "profile": profile}], profiles) == [row["id"]]
    # A run says which it is, and again of each drive that it makes; none is assumed.
    boot = types.SimpleNamespace(machine=None)
    for profile, lines in (
        ("tlc", [{"profile": "tlc"}]),
        ("sata", [{"profile": "fast24"}, {"profile": "sata"}, {"row": "log.room.ext4"}]),
        (None, [{"row": "ssd.some"}]),
    ):
        assert report._where(boot, guest.Outcome(lines))["profile"] == profile


def main() -> None:
    rows_are_of_their_profiles()
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
