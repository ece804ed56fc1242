#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A shift takes for a failure what is one, and asks of a worker what it can know."""

from __future__ import annotations

import errno
import io
import pathlib
import sys
import tempfile
import unittest
from collections import Counter
from contextlib import redirect_stdout
from unittest import mock

import totals
from soak import Shift
from worker import Report


class Worker:
    """The part of a Process that a shift sees."""

    def __init__(self, error: int) -> None:
        self.is_unsure = False
        self.report = Report(error="w: it failed", errno=error) if error else Report()
        self.was_strict: list[bool] = []

    def ask(self, verb: str, strict: bool = False) -> None:
        if verb == "judge":
            self.was_strict.append(strict)

    def answer(self) -> object:
        return ([], Counter()) if self.was_strict else self.report


def shift_after(filesystem: str, *errors: int) -> Shift:
    """One whose workers came to these ends in a round without a power failure."""
    shift = Shift.__new__(Shift)
    shift.filesystem, shift.fragile, shift.wrong = filesystem, False, 0
    shift.counts = Counter()
    shift.watch, shift.stop, shift.stack = mock.Mock(), mock.Mock(), mock.Mock()
    shift.workers = [Worker(error) for error in errors]
    with redirect_stdout(io.StringIO()):
        shift.gather()
        shift.compare(strict=True)
        shift.compare(strict=True)
    return shift


class OutOfSpaceTest(unittest.TestCase):
    def test_btrfs_may_run_out_of_space(self) -> None:
        shift = shift_after("btrfs", 0, errno.ENOSPC)
        self.assertEqual(shift.wrong, 0)
        self.assertEqual(shift.counts["out_of_space"], 1)
        self.assertEqual(shift.workers[0].was_strict, [True, True])
        self.assertEqual(shift.workers[1].was_strict, [False, True])

    def test_others_may_not(self) -> None:
        for filesystem in ("ext4", "xfs", "f2fs", "raw"):
            self.assertEqual(shift_after(filesystem, 0, errno.ENOSPC).wrong, 1)

    def test_another_error_is_one(self) -> None:
        self.assertEqual(shift_after("btrfs", errno.EIO, 0).wrong, 1)


class EventsTest(unittest.TestCase):
    def events(self, filesystem: str, has_errors: bool) -> set[str]:
        shift = Shift.__new__(Shift)
        shift.filesystem, shift.mode, shift.is_foreign = filesystem, "log", False
        return set(shift.events(has_errors))

    def test_ext4_is_not_trimmed_when_its_journal_may_have_failed(self) -> None:
        self.assertEqual(self.events("ext4", False) - self.events("ext4", True), {"fstrim"})
        for filesystem in ("xfs", "raw"):
            self.assertEqual(self.events(filesystem, True), self.events(filesystem, False))
        self.assertIn("fstrim", self.events("xfs", True))


class TotalsTest(unittest.TestCase):
    def test_a_shift_of_which_nothing_is_known_has_failed(self) -> None:
        for text, line in (("ok - all\n", "2 passed, 0 failed"), ("", "1 passed, 1 failed"),
                           ("# round order, 9 s\n", "1 passed, 1 failed"),
                           ("not ok - no\n", "1 passed, 1 failed")):
            with tempfile.TemporaryDirectory() as folder:
                pathlib.Path(folder, "shift-000.log").write_text("ok - every byte\n")
                pathlib.Path(folder, "shift-001.log").write_text(text)
                said = io.StringIO()
                with redirect_stdout(said), mock.patch.object(sys, "argv", ["totals", folder]):
                    status = totals.main()
                self.assertEqual(said.getvalue().splitlines()[-1], line)
                self.assertEqual(status, int("0 failed" not in line))


if __name__ == "__main__":
    unittest.main()
