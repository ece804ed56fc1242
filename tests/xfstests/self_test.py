#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Whether what xfstests prints is understood, and differences from the raw device are seen: each
case once as it should be and once as it should not. Needs no machine and no xfstests."""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from machine import Deadline, Reader, run_machine, watch
from results import Known, Outcome, Results, conclude, differs, judge, left_out
from room import DISK_MIB, Room, check_room
from suite import Suite, Unusable

PRINTED = """FSTYP         -- ext4
PLATFORM      -- Linux/x86_64

generic/001 4s ...  13s
generic/002        [not run] this device has no foo
generic/003        [failed, exit status 1]- output mismatch (see /x.out.bad)
    --- a
    +++ b
    -foo
    +bar
    ...
generic/004       _check_dmesg: something found in dmesg (see /x.dmesg)

generic/005 2s ... _check_generic_filesystem: filesystem on /dev/x is inconsistent
(see /x.full for details)

generic/006        3s
Ran: generic/001 generic/002 generic/003 generic/004 generic/005 generic/006
Failures: generic/003 generic/004 generic/005
Failed 3 of 5 tests

after test/remove pass
after test/check fail 3 damages were found
"""
EXPECTED = [("generic/001", "pass"), ("generic/002", "notrun"), ("generic/003", "fail"),
            ("generic/004", "fail"), ("generic/005", "fail"), ("generic/006", "pass"),
            ("after-test/remove", "pass"), ("after-test/check", "fail")]


def read(step: int) -> Reader:
    """A reader that got it in pieces of this length."""
    reader = Reader()
    for begin in range(0, len(PRINTED), step):
        reader.feed(PRINTED[begin:begin + step])
    return reader


def t_what_is_printed_is_understood_however_it_is_cut():
    """The pipe cuts where it likes."""
    for step in (1, 2, 7, 64, len(PRINTED)):
        outcomes = read(step).take()
        assert [(o.test, o.status) for o in outcomes] == EXPECTED, (step, outcomes)


def t_reasons_are_kept():
    """They stand in the report."""
    for step in (1, 1000):
        outcomes = {o.test: o.reason for o in read(step).take()}
        assert outcomes["generic/002"] == "this device has no foo"
        assert "-foo" in outcomes["generic/003"] and "+bar" in outcomes["generic/003"]
        assert outcomes["after-test/check"] == "3 damages were found", outcomes


def t_a_test_that_has_not_ended_is_known_by_name():
    """It is what a machine was stopped for."""
    reader = Reader()
    reader.feed("generic/001        13s\ngeneric/753 ")
    assert reader.running() == "generic/753"
    assert [o.test for o in reader.take()] == ["generic/001"]


def t_half_a_name_is_none():
    """The rest of it comes later."""
    reader = Reader()
    reader.feed("generic/100")
    assert reader.running() is None
    reader.feed("1  3s\ngeneric/1002 ")
    assert [o.test for o in reader.take()] == ["generic/1001"]


def watched(script: str, limit: int, stop_after: float = 0) -> tuple[list[tuple[str, str]], bool]:
    """What became of the tests of a machine that is this script, and whether it was stopped."""
    kept = []
    deadline = Deadline(0)
    machine = subprocess.Popen(["bash", "-c", script], stdout=subprocess.PIPE)
    if stop_after:
        threading.Timer(stop_after, deadline.now).start()
    watch(machine, limit, deadline, io.BytesIO(), kept.append)
    return [(o.test, o.status) for o in kept], machine.returncode < 0


def t_a_machine_is_stopped_for_a_late_test_and_when_all_has_to_end():
    """And not one that ends by itself."""
    begins = "echo 'generic/001  3s'; echo 'generic/002  '; "
    assert watched(begins + "exit 1", 60) == ([("generic/001", "pass"), ("generic/002", "died")], False)
    assert watched(begins + "exec sleep 60", 1) == ([("generic/001", "pass"), ("generic/002", "late")], True)
    assert watched(begins + "exec sleep 60", 60, 0.5) == ([("generic/001", "pass")], True)


def t_a_machine_that_ends_badly_behind_its_tests_has_failed():
    """As when removing the target takes the kernel with it; and not if it ends well."""
    for status, expected in ((0, []), (125, [("after-machine", "fail")])):
        kept = []
        with tempfile.TemporaryDirectory() as folder:
            script = f"echo 'generic/001  3s'; echo Ran: generic/001; echo; exit {status}"
            run_machine(["bash", "-c", script], 60, Deadline(0), Path(folder), kept.append)
        assert [(o.test, o.status) for o in kept] == [("generic/001", "pass"), *expected], (status, kept)


def t_only_what_is_worse_differs():
    """Raw, here, whether that is a difference."""
    for raw, here, wrong in (("pass", "pass", False), ("pass", "fail", True), ("pass", "notrun", True),
                             ("pass", "late", True), ("pass", "died", True), ("fail", "fail", False),
                             ("fail", "pass", False), ("fail", "notrun", False), ("fail", "died", True),
                             ("notrun", "pass", False), ("notrun", "fail", True),
                             ("late", "late", False), ("late", "fail", False)):
        assert differs({raw}, {here}) == wrong, (raw, here)
    assert not differs({"pass", "fail"}, {"fail"})
    assert differs({"pass"}, {"pass", "fail"})


def verdict(raw: str, here: str, known: list[Known]) -> str:
    """The line of one test that ended like this."""
    with tempfile.TemporaryDirectory() as folder:
        cells = []
        for name, status in (("raw", raw), ("log", here)):
            cell = Results(Path(folder) / name, "key")
            cell.add(Outcome("generic/001", status, 1, "why"))
            cells.append(cell)
        lines = judge("log", "xfs", cells[0], cells[1], known, {"generic/001"})
        assert len(lines) == 1
        return lines[0]


def t_a_difference_fails_unless_it_is_known():
    """And what is known must be true."""
    known = [Known("log", "*", "generic/001", "always", "because")]
    elsewhere = [Known("hint", "*", "generic/001", "always", "because")]
    assert verdict("pass", "fail", []).startswith("not ok")
    assert verdict("pass", "fail", elsewhere).startswith("not ok")
    assert verdict("pass", "fail", known).endswith("# KNOWN because")
    assert verdict("pass", "pass", known).startswith("not ok")
    assert verdict("pass", "pass", []).startswith("ok")
    unexplained = [Known("*", "xfs", "generic/001", "never", "because")]
    assert verdict("pass", "fail", unexplained).startswith("not ok")
    assert "# SKIP why" in verdict("notrun", "notrun", [])


def t_what_never_runs_is_left_out_where_it_is_not_named():
    """On that filesystem only."""
    known = [Known("*", "xfs", "generic/001", "never", "why"), Known("*", "*", "generic/002", "always", "x")]
    tests = ["generic/001", "generic/002"]
    assert left_out(known, "xfs", tests, ["quick"]) == {"generic/001": "why"}
    assert left_out(known, "ext4", tests, ["quick"]) == {}
    assert left_out(known, "xfs", tests, ["generic/001"]) == {}
    assert left_out(known, "xfs", tests[1:], ["quick"]) == {}


def t_results_of_other_code_are_forgotten():
    """Those of the same are read back."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results"
        Results(path, "one").add(Outcome("generic/001", "pass", 1, "a\tb"))
        assert Results(path, "one").statuses("generic/001") == {"pass"}
        assert Results(path, "two").runs == {}


def t_a_folder_without_the_suite_is_refused():
    """In a sentence that says what to do."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        try:
            Suite(tree)
            raise AssertionError("an empty folder is taken")
        except Unusable as why:
            assert "holds no xfstests" in str(why)
        (tree / "tests" / "generic").mkdir(parents=True)
        (tree / "check").touch()
        try:
            Suite(tree)
            raise AssertionError("a folder that is not built is taken")
        except Unusable as why:
            assert "run 'make'" in str(why)


def refused(room: Room, jobs: int) -> str:
    """What is said of machines with 1000 MiB there; nothing if they may start."""
    try:
        check_room(room, jobs, 1000)
    except Unusable as why:
        return str(why)
    return ""


def t_too_little_memory_or_disk_is_refused():
    """In a sentence that says what to do; what is just enough is taken."""
    enough = Room(2000, DISK_MIB, Path("/x"))
    assert refused(enough, 2) == ""
    assert "3000 MiB of memory are needed and 2000 are free: use --jobs 1" in refused(enough, 3)
    small = Room(2000, DISK_MIB - 1, Path("/x"))
    assert refused(small, 2).endswith(f"in /x and {DISK_MIB - 1} are free: make room.")


def lines() -> list[str]:
    """A line for each sentence."""
    said = []
    for name, function in list(globals().items()):
        if not name.startswith("t_"):
            continue
        sentence = name[2:].replace("_", " ")
        try:
            function()
            said.append(f"ok - {sentence}")
        except Exception as why:  # noqa: BLE001 - whatever it is, the sentence is not true
            said.append(f"not ok - {sentence}: {why!r}")
    return said


def main(arguments: list[str]) -> int:
    """All of them, and the closing line; with --skip REASON, what is skipped besides."""
    said = lines()
    if arguments[:1] == ["--skip"]:
        said.append(f"ok - {' '.join(arguments[1:]).replace(': ', ' # SKIP ', 1)}")
    return conclude(said)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
