#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Run xfstests on devices of several kinds and compare with the raw one, test by test.

scripts/xfstests calls this, with what a machine needs ready. XFSTESTS_RAW_KEY and
XFSTESTS_OWN_KEY say what that was made from.
"""

from __future__ import annotations

import argparse
import os
import queue
import shutil
import signal
import sys
import tempfile
import threading
from pathlib import Path

import self_test
from machine import Deadline, NoMachine, run_machine
from results import (
    Known,
    Outcome,
    Results,
    conclude,
    differs,
    judge,
    left_out,
    read_known,
)
from room import check_room, room_here
from suite import FILESYSTEMS, Suite, Unusable

TOP = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent
KINDS = ("raw", "linear", "hint", "log")
# How often the raw device runs a test again that failed elsewhere and not there.
AGAIN = 2


def options(arguments: list[str]) -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(prog="scripts/xfstests", description="""Run tests or groups
        of xfstests (default: quick) and count what differs from the raw device. Results are kept,
        and a test is not run again on the same code unless --fresh is given.""")
    parser.add_argument("folder", type=Path, help="xfstests, built with 'make'")
    parser.add_argument("wanted", nargs="*", metavar="TEST|GROUP", help="such as generic/001 or shutdown")
    parser.add_argument("--on", action="append", choices=KINDS, help="may be repeated (default: all)")
    parser.add_argument("--fs", action="append", choices=FILESYSTEMS, help="may be repeated (default: all)")
    parser.add_argument("--without", action="append", default=[], metavar="TEST|GROUP", help="leave out")
    parser.add_argument("--lab", action="store_true", help="in QEMU, on virtual SSDs, and not in UML")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="machines at a time (default 1)")
    parser.add_argument("--minutes", type=float, default=0, metavar="N",
                        help="stop then; the next call goes on from there (default: never)")
    parser.add_argument("--limit", type=int, default=300, metavar="S",
                        help="seconds after which a test hangs (default 300)")
    parser.add_argument("--size", type=int, default=4096, metavar="MIB", help="of each device (default 4096)")
    parser.add_argument("--mem", type=int, default=5120, metavar="MIB",
                        help="of each machine, whose devices are in it (default 5120)")
    parser.add_argument("--chunk", type=int, default=25, metavar="N", help="tests to a machine (default 25)")
    parser.add_argument("--results", type=Path, default=TOP / "out" / "xfstests", metavar="FOLDER",
                        help="where results are kept (default out/xfstests)")
    parser.add_argument("--fresh", action="store_true", help="forget the results that are kept")
    parser.add_argument("--subset", action="store_true",
                        help="the tests of tests/xfstests/subset, on the target only, and anew")
    parser.add_argument("--list", action="store_true", help="print the tests, run none")
    return check_options(parser.parse_intermixed_args(arguments))


def check_options(opts: argparse.Namespace) -> argparse.Namespace:
    """Refuse numbers that make no sense; fill in what was left out."""
    for name in ("jobs", "limit", "size", "mem", "chunk"):
        if getattr(opts, name) < 1:
            raise Unusable(f"--{name} wants a positive number, not {getattr(opts, name)}.")
    if opts.subset:
        opts.on = ["raw", "hint", "log"]
        opts.fs = opts.fs or ["ext4", "xfs"]
        opts.wanted = subset()
    opts.on = [kind for kind in KINDS if not opts.on or kind in opts.on]
    opts.fs = [fs for fs in FILESYSTEMS if not opts.fs or fs in opts.fs]
    opts.wanted = opts.wanted or ["quick"]
    return opts


def subset() -> list[str]:
    """Tests that take seconds: what the check has time for."""
    lines = (HERE / "subset").read_text().splitlines()
    return [word for line in lines if not line.startswith("#") for word in line.split()]


class Run:
    """All cells: a device of each kind below each filesystem."""

    def __init__(self, opts: argparse.Namespace, suite: Suite, tree: str):
        self.opts = opts
        self.suite = suite
        self.tree = tree
        self.deadline = Deadline(opts.minutes)
        self.known: list[Known] = read_known(HERE / "known")
        self.left_out: dict[str, dict[str, str]] = {}
        self.tests = {fs: self.choose(fs) for fs in opts.fs}
        self.cells: dict[tuple[str, str], Results] = {}
        self.trouble: list[str] = []
        self.machines = 0
        self.lock = threading.Lock()
        self.open_results(suite.digest())

    def choose(self, fs: str) -> list[str]:
        """What is asked for on this filesystem."""
        tests = self.suite.choose(fs, self.opts.wanted)
        self.left_out[fs] = left_out(self.known, fs, tests, self.opts.wanted)
        without = {*self.suite.choose(fs, self.opts.without), *self.left_out[fs]}
        return [test for test in tests if test not in without]

    def open_results(self, digest: str) -> None:
        """Those of the raw device are there for comparison even if it does not run now."""
        self.opts.results.mkdir(parents=True, exist_ok=True)
        where = "lab" if self.opts.lab else "uml"
        for fs in self.opts.fs:
            for kind in KINDS:
                own = "" if kind in ("raw", "linear") else os.environ["XFSTESTS_OWN_KEY"]
                key = f"{digest} {os.environ['XFSTESTS_RAW_KEY']} {self.opts.size} {own}"
                path = self.opts.results / f"{where}-{kind}-{fs}.results"
                if kind in self.opts.on and (self.opts.fresh or self.opts.subset and kind != "raw"):
                    path.unlink(missing_ok=True)
                self.cells[kind, fs] = Results(path, key.strip())

    def command(self, kind: str, fs: str, tests: list[str], folder: Path) -> list[str]:
        """How a machine is started."""
        common = ["--suites", "--root", self.tree, "--copy", str(HERE / "guest.sh"),
                  "--timeout", "0", "--allow-oops", "--append", "oops=panic", "--out", str(folder),
                  "--mem", f"{self.opts.mem}M", "--console", str(folder / "console"),
                  "--", "bash", "guest.sh", kind, fs, str(self.opts.size), *tests]
        if self.opts.lab:
            return [str(TOP / "scripts/lab"), "--smp", "1", *common]
        return [str(TOP / "scripts/uml"), "--plain", *common]

    def run_tests(self, kind: str, fs: str, tests: list[str]) -> None:
        """One list in as many machines as it takes: behind a test that ended its machine it goes
        on in a new one."""
        cell = self.cells[kind, fs]
        rest = list(tests)

        def keep(outcome: Outcome) -> None:
            if outcome.test in rest:
                rest.remove(outcome.test)
            elif outcome.status == "pass" or kind == "raw":
                return
            cell.add(outcome)

        while rest and not self.deadline.over() and not self.trouble:
            before = len(rest)
            with self.lock:
                self.machines += 1
                folder = self.opts.results / "machines" / f"{kind}-{fs}-{self.machines}"
            shutil.rmtree(folder, ignore_errors=True)
            run_machine(self.command(kind, fs, rest, folder), self.opts.limit, self.deadline, folder, keep)
            if len(rest) == before:
                return

    def batches(self) -> list[tuple[str, str, list[str]]]:
        """What has not run yet, in lists for one machine each; the kinds take turns, so that what
        ran can be compared whenever the time is over."""
        work = []
        for fs in self.opts.fs:
            for begin in range(0, len(self.tests[fs]), self.opts.chunk):
                part = self.tests[fs][begin:begin + self.opts.chunk]
                for kind in self.opts.on:
                    missing = [test for test in part if test not in self.cells[kind, fs].runs]
                    if missing:
                        work.append((kind, fs, missing))
        return work

    def work_off(self, work: list[tuple[str, str, list[str]]]) -> None:
        """All of the lists, several machines at a time."""
        todo: queue.SimpleQueue = queue.SimpleQueue()
        for item in work:
            todo.put(item)
        threads = [threading.Thread(target=self.worker, args=(todo,)) for _ in range(self.opts.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def worker(self, todo: queue.SimpleQueue) -> None:
        """Take lists until there is none, or the time is over."""
        while not self.deadline.over() and not self.trouble:
            try:
                kind, fs, tests = todo.get_nowait()
            except queue.Empty:
                return
            try:
                self.run_tests(kind, fs, tests)
            except NoMachine as why:
                self.trouble.append(str(why))

    def suspects(self) -> list[tuple[str, str, list[str]]]:
        """Tests that did better on the raw device, where they may fail now and then as well."""
        work = []
        for fs in self.opts.fs:
            raw = self.cells["raw", fs]
            tests = sorted({test for kind in self.opts.on if kind != "raw"
                            for test in self.cells[kind, fs].runs
                            if test in raw.runs and len(raw.runs[test]) <= AGAIN
                            and differs(raw.statuses(test), self.cells[kind, fs].statuses(test))})
            if tests:
                work.append(("raw", fs, tests))
        return work

    def run(self) -> None:
        """Everything, and what differs again on the raw device."""
        self.work_off(self.batches())
        for _ in range(AGAIN):
            self.work_off(self.suspects())

    def report(self) -> int:
        """A line for each test, a sum for each cell, the closing line."""
        lines = self_test.lines() if self.opts.subset else []
        for fs in self.opts.fs:
            lines += [f"ok - {fs} {test} # SKIP {why}" for test, why in self.left_out[fs].items()]
            for kind in self.opts.on:
                cell = self.cells[kind, fs]
                sums = ", ".join(f"{cell.count(s)} {s}" for s in ("pass", "fail", "notrun", "late", "died"))
                print(f"# {kind} {fs}: {sums}")
                wanted = set(self.tests[fs])
                if kind != "raw":
                    lines += judge(kind, fs, self.cells["raw", fs], cell, self.known, wanted)
                lines += [f"ok - {kind} {fs} {test} # SKIP there was no time" for test in self.tests[fs]
                          if test not in cell.runs]
        lines += [f"not ok - {why}" for why in self.trouble]
        return conclude(lines)


def main(arguments: list[str]) -> int:
    """See scripts/xfstests."""
    try:
        opts = options(arguments)
        suite = Suite(opts.folder)
        suite.check_words(opts.wanted + opts.without)
        if opts.list:
            for fs in opts.fs:
                print(fs, *suite.choose(fs, opts.wanted))
            return 0
        check_room(room_here(), opts.jobs, opts.mem)
    except Unusable as why:
        print(f"xfstests: {why}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as tree:
        suite.copy_to(Path(tree) / "opt" / "xfstests")
        run = Run(opts, suite, tree)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, run.deadline.now)
        run.run()
        return run.report()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
