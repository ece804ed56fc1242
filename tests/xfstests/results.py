# SPDX-License-Identifier: GPL-2.0-only
"""What became of each test, kept in a file for each device and filesystem, and how it differs
from what became of it on the raw device.

A file begins with a line that names what it was made with (kernel, suite, modules). One that
was made with something else is begun anew. A test that ran several times has several lines.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

# late: the machine was stopped as the test did not end; died: the machine did.
OUTCOMES = ("pass", "notrun", "fail", "late", "died")


@dataclass(frozen=True)
class Outcome:
    """One run of one test."""

    test: str
    status: str
    seconds: int
    reason: str = ""


class Results:
    """The runs of one device and one filesystem."""

    def __init__(self, path: Path, made_with: str):
        self.path = path
        self.runs: dict[str, list[Outcome]] = {}
        self.lock = threading.Lock()
        header = f"# {made_with}"
        lines = path.read_text().splitlines() if path.exists() else []
        if not lines or lines[0] != header:
            path.write_text(header + "\n")
            return
        for line in lines[1:]:
            test, status, seconds, reason = line.split("\t", 3)
            self.runs.setdefault(test, []).append(Outcome(test, status, int(seconds), reason))

    def add(self, outcome: Outcome) -> None:
        """One more run, on disk at once: whoever is interrupted goes on from there."""
        with self.lock:
            self.runs.setdefault(outcome.test, []).append(outcome)
            with self.path.open("a") as file:
                reason = outcome.reason.replace("\t", " ")
                file.write(f"{outcome.test}\t{outcome.status}\t{outcome.seconds}\t{reason}\n")

    def statuses(self, test: str) -> set[str]:
        """All that became of it."""
        return {run.status for run in self.runs.get(test, [])}

    def count(self, status: str) -> int:
        """How many tests ended like that the last time they ran."""
        return sum(runs[-1].status == status for runs in self.runs.values())


@dataclass(frozen=True)
class Known:
    """A difference. "always" and "sometimes" are explained: the one has to be seen, the other may
    be. Until a difference is explained the test may "never" run, on any device."""

    on: str
    fs: str
    test: str
    how_often: str
    reason: str

    def fits(self, on: str, fs: str, test: str) -> bool:
        """Whether it explains this test there."""
        return self.how_often != "never" and self.test == test and self.on in ("*", on) and self.fs in ("*", fs)


def read_known(path: Path) -> list[Known]:
    """Lines "ON FS TEST always|sometimes|never REASON"; # begins a comment."""
    known = []
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            on, fs, test, how_often, reason = line.split(None, 4)
            if how_often not in ("always", "sometimes", "never"):
                raise ValueError(f"{path}: '{how_often}' is not always, sometimes or never: {line}")
            known.append(Known(on, fs, test, how_often, reason))
    return known


def left_out(known: list[Known], fs: str, tests: list[str], named: list[str]) -> dict[str, str]:
    """Which of these tests never run on this filesystem unless they are named, and why."""
    return {entry.test: entry.reason for entry in known if entry.how_often == "never"
            and entry.fs in ("*", fs) and entry.test in tests and entry.test not in named}


def differs(raw: set[str], here: set[str]) -> bool:
    """Whether something became of the test here that did not on the raw device, and is no better."""
    worse = here - raw - {"pass"}
    if "pass" not in raw and raw:
        # Nothing passes there: only a machine that hangs or dies is news.
        worse &= {"late", "died"} if "notrun" not in raw else {"late", "died", "fail"}
    return bool(worse)


def judge(on: str, fs: str, raw: Results, here: Results, known: list[Known],
          wanted: set[str]) -> list[str]:
    """A line for each of these tests that ran here: ok, not ok, or skipped. What was looked at
    behind the tests and was not as it should be counts with all of them."""
    lines = []
    for test in sorted(here.runs):
        if test not in wanted and not test.startswith("after-"):
            continue
        lines.append(judge_test(f"{on} {fs} {test}", raw.statuses(test), here.runs[test],
                                [k for k in known if k.fits(on, fs, test)]))
    return lines


def judge_test(name: str, raw: set[str], runs: list[Outcome], known: list[Known]) -> str:
    """The line of one test."""
    here = {run.status for run in runs}
    if " after-" in name:
        # Looked at when the tests are over; the raw device has nothing like it.
        raw = {"pass"}
    if not raw:
        return f"ok - {name} # SKIP it has not run on the raw device"
    words = f"{name}: {'/'.join(sorted(here))}, raw {'/'.join(sorted(raw))}"
    if differs(raw, here):
        if known:
            return f"ok - {words} # KNOWN {known[0].reason}"
        reason = next((run.reason for run in runs if run.status not in raw), "")
        return f"not ok - {words}" + (f" ({reason})" if reason else "")
    if any(entry.how_often == "always" for entry in known):
        return f"not ok - {words}: it no longer differs, so take it out of tests/xfstests/known"
    if here == {"notrun"}:
        return f"ok - {name} # SKIP {runs[-1].reason}"
    return f"ok - {words}"


def conclude(lines: list[str]) -> int:
    """Print them and the closing line; the exit status."""
    for line in lines:
        print(line)
    failed = sum(line.startswith("not ok") for line in lines)
    skipped = sum(line.startswith("ok") and " # SKIP" in line for line in lines)
    known = sum(line.startswith("ok") and " # KNOWN" in line for line in lines)
    if known:
        print(f"# {known} differences that are explained in tests/xfstests/known")
    print(f"{len(lines) - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0
