#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A drive whose blocks go bad one after the other: rawhost-worn.py DEBUGFS_DIR.

It has two spare blocks on each die. SMART and events tell of each that is lost, and what
would change data is refused in the end. Prints "ok -" lines."""

import struct
import sys
from typing import Tuple

import rawhost
from rawhost import DATA_AT, Host, Queue, expect, rw, sqe
from sentences import Late, say

READ, WRITE, ZEROES = 0x02, 0x01, 0x08
READ_ONLY, PROTECTED = 0x182, 0x20


def failures() -> int:
    """Programs that failed so far."""
    with open(f"{sys.argv[1]}/ftl", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("programs_failed "))


def fail_one(queue: Queue) -> None:
    """Let the first die lose a block."""
    before = failures()
    with open(f"{sys.argv[1]}/fail", "w", encoding="ascii") as file:
        file.write("program 0 1")
    for _ in range(20):
        status = queue.run(sqe(ZEROES, 1, {12: 16383})).status
        if status or failures() != before:
            expect("Write Zeroes over 8 MiB, until a program has failed", status, 0)
            return
    raise Late("no program has failed")


def smart(host: Host) -> Tuple[int, int, int]:
    """Critical warning, available spare and its threshold."""
    host.admin.run(sqe(0x02, cdw={10: 0x02 | 127 << 16}, prp1=host.data))
    raw = host.read(DATA_AT, 512)
    return raw[0], raw[3], raw[4]


def refused(host: Host, queue: Queue) -> None:
    """Nothing can be changed any more, and everything can be read."""
    data = host.data
    expect("Write", queue.run(rw(WRITE, 0, 8, data)).status, READ_ONLY)
    expect("Write Zeroes", queue.run(rw(ZEROES, 0, 8, 0)).status, READ_ONLY)
    expect("Write Zeroes, deallocating",
           queue.run(sqe(ZEROES, 1, {12: 7 | 1 << 25})).status, READ_ONLY)
    host.write(DATA_AT, struct.pack("<IIQ", 0, 8, 0))
    expect("Dataset Management, deallocating", queue.run(sqe(0x09, 1, {11: 4}, data)).status, READ_ONLY)
    expect("Dataset Management, hints only", queue.run(sqe(0x09, 1, {11: 3}, data)).status, 0)
    host.write(DATA_AT, struct.pack("<QQHHIQ", 0, 0, 7, 0, 0, 0))
    expect("Copy", queue.run(sqe(0x19, 1, {10: 4096}, data)).status, READ_ONLY)
    expect("Format", host.admin.run(sqe(0x80, 1)).status, PROTECTED)
    expect("Read", queue.run(rw(READ, 100000, 8, data)).status, 0)
    say("the data is still there", host.read(DATA_AT, 4096) == b"d" * 4096)
    expect("Flush", queue.run(sqe(0x00, 1)).status, 0)


def steps(host: Host) -> None:
    """Lose three blocks."""
    queue = host.make_queue(1)
    host.write(DATA_AT, b"d" * 4096)
    queue.run(rw(WRITE, 100000, 8, host.data))
    host.admin.run(sqe(0x09, cdw={10: 0x0B, 11: 0x09}))
    events = [host.admin.put(sqe(0x0C)) for _ in range(2)]
    host.admin.ring()
    say("SMART: all spare is there", smart(host) == (0, 100, 10), smart(host))
    fail_one(queue)
    say("half of it after one of two blocks", smart(host) == (0, 50, 10), smart(host))
    fail_one(queue)
    done = host.admin.wait(events[0])
    say("the second is an event: low spare", done.result & 0xFFFFFF == 0x020201, f"{done.result:#x}")
    say("and a warning", smart(host) == (1, 0, 10), smart(host))
    fail_one(queue)
    done = host.admin.wait(events[1])
    say("the third is an event: reliability", done.result & 0xFFFFFF == 0x020001, f"{done.result:#x}")
    say("and the media is read-only", smart(host) == (9, 0, 10), smart(host))
    refused(host, queue)


if __name__ == "__main__":
    sys.exit(rawhost.run(steps))
