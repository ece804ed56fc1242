# SPDX-License-Identifier: GPL-2.0-only
"""A machine that runs a list of tests, and the watch over it: what the suite prints is read as
it comes, so that a test which never ends, or ends the machine, is known by its name."""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import time
from pathlib import Path

from results import Outcome

# "generic/001 12s ...  13s": the seconds of the last time may stand before those of this one.
# A name without what follows may be half of it.
BEGUN = re.compile(r"^([a-z0-9]+/\d{3,4})\s")
AFTER = re.compile(r"^after (\S+) (pass|fail) ?(.*)$")
NOT_RUN = re.compile(r"\[not run\]\s*(.*)")
# What a machine may need beside tests: it boots, makes filesystems, and looks at all in the end.
BESIDE_TESTS_SECONDS = 1800
END = re.compile(r"^(Ran|Not run|Failures|Passed all|Failed|Skipped|Interrupted)\b.*\n")


class Deadline:
    """When all has to end: after some minutes, never, or now."""

    def __init__(self, minutes: float):
        self.end = time.monotonic() + minutes * 60 if minutes else float("inf")

    def over(self) -> bool:
        """Whether that was before."""
        return time.monotonic() > self.end

    def now(self, *_unused) -> None:
        """For signals: machines are not left behind, and what is known is reported."""
        self.end = 0


class NoMachine(Exception):
    """The machine could not be started: says why."""


def parse_test(text: str, seconds: float) -> Outcome:
    """What the whole text of a test says of it."""
    first = text.split("\n", 1)[0]
    test = BEGUN.match(first + " ").group(1)
    rest = first[len(test):].strip()
    reason = NOT_RUN.search(rest)
    if reason:
        return Outcome(test, "notrun", round(seconds), reason.group(1).strip())
    if re.search(r"(^|\s)\d+s$", rest):
        return Outcome(test, "pass", round(seconds))
    return Outcome(test, "fail", round(seconds), failure(text))


def failure(text: str) -> str:
    """One line that says how a test failed: what checks said, and the first lines that differ."""
    lines = text.splitlines()
    said = [lines[0].split(None, 1)[-1]] + [line for line in lines[1:] if line.startswith("_check")]
    wrong = [line.strip() for line in lines[1:] if re.match(r"^ +[+-][^+-]", line)]
    return "; ".join(said + wrong[:3])[:300]


class Reader:
    """Turns what a machine prints into outcomes."""

    def __init__(self, clock=time.monotonic):
        self.clock = clock
        self.text = ""
        self.begun = clock()
        self.outcomes: list[Outcome] = []

    def running(self) -> str | None:
        """The test that has begun and not ended."""
        begun = BEGUN.match(self.text)
        return begun.group(1) if begun else None

    def feed(self, data: str) -> None:
        """More of it, cut anywhere. A test's text ends at a line that begins something else."""
        lines = (self.text + data).splitlines(keepends=True)
        self.text = ""
        for line in lines:
            after = AFTER.match(line) if line.endswith("\n") else None
            if self.text and (BEGUN.match(line) or END.match(line) or after):
                self.end_test()
            if after:
                self.outcomes.append(Outcome(f"after-{after.group(1)}", after.group(2), 0, after.group(3)))
            else:
                self.text += line

    def end_test(self) -> None:
        """All of the text is there."""
        if self.running():
            self.outcomes.append(parse_test(self.text, self.clock() - self.begun))
        self.text = ""
        self.begun = self.clock()

    def take(self) -> list[Outcome]:
        """What ended since the last call."""
        taken, self.outcomes = self.outcomes, []
        return taken


def watch(machine: subprocess.Popen, limit: int, deadline: Deadline, log, keep) -> str | None:
    """Read a machine's output until it ends, and hand each outcome to keep(). Returns None, or the
    name of the test that was running when the machine ended or was stopped."""
    reader = Reader()
    late = False
    with selectors.DefaultSelector() as selector:
        selector.register(machine.stdout, selectors.EVENT_READ)
        while True:
            ready = selector.select(1)
            data = os.read(machine.stdout.fileno(), 65536) if ready else None
            if data == b"":
                break
            if data:
                log.write(data)
                reader.feed(data.decode(errors="replace"))
                for outcome in reader.take():
                    keep(outcome)
            test = reader.running()
            late = time.monotonic() - reader.begun > (limit if test else BESIDE_TESTS_SECONDS)
            if late or deadline.over():
                stop(machine)
                break
    machine.wait()
    test = reader.running()
    if test and not deadline.over():
        status = "late" if late else "died"
        keep(Outcome(test, status, round(time.monotonic() - reader.begun)))
    return test


def stop(machine: subprocess.Popen) -> None:
    """scripts/uml and scripts/lab take their guest along."""
    machine.send_signal(signal.SIGTERM)
    try:
        machine.wait(30)
    except subprocess.TimeoutExpired:
        machine.kill()


def run_machine(command: list[str], limit: int, deadline: Deadline, folder: Path, keep) -> None:
    """One machine, from its start to its end. One that ends badly when all tests have ended, while it
    takes away what they were for, has failed as well. Raises NoMachine if no test began."""
    folder.mkdir(parents=True, exist_ok=True)
    begun = []

    def note(outcome: Outcome) -> None:
        begun.append(outcome.test)
        keep(outcome)

    with (folder / "log").open("wb") as log:
        machine = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
        running = watch(machine, limit, deadline, log, note)
    if begun and not running and machine.returncode and not deadline.over():
        keep(Outcome("after-machine", "fail", 0, f"it ended with {machine.returncode} behind the last test"))
    if not begun and not running and not deadline.over():
        said = (folder / "log").read_text(errors="replace").strip().splitlines()[-5:]
        raise NoMachine(f"The machine ran no test (status {machine.returncode}): {' | '.join(said)}")
