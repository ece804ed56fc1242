#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What a device must not do behind the back of its driver: write to memory that it was forbidden to
touch, and serve one queue before the others. Prints "ok -" lines.

Usage: rawhost-defects.py CONFIG INJECT TRACE

CONFIG is the configuration space of the PCI function, INJECT the SSD's file for errors, TRACE
the kernel's, with nvmev_cmd in it.
"""

import os
import re
import struct
import sys
import time
from pathlib import Path
from typing import List

import rawhost
from rawhost import CSTS_FATAL, Host, Queue, rw, sqe
from sentences import say

READ = 0x02
COMMAND_AT, MASTER = 4, 4
# Several times as long as a read takes
LONG_S = 0.15
ROUNDS = 64
DEEP = 40


def set_master(on: bool) -> None:
    """Let the function write to memory, or forbid it."""
    config = os.open(sys.argv[1], os.O_RDWR)
    command = struct.unpack("<H", os.pread(config, 2, COMMAND_AT))[0]
    os.pwrite(config, struct.pack("<H", command | MASTER if on else command & ~MASTER), COMMAND_AT)
    os.close(config)


def inject(line: str) -> None:
    Path(sys.argv[2]).write_text(line + "\n")


def begin_read(host: Host, queue: Queue) -> int:
    """Returns the command's identifier once the device has fetched it."""
    fetched = Path(sys.argv[3]).read_text().count("nvmev_cmd")
    cid = queue.put(rw(READ, 0, 8, host.data))
    queue.ring()
    while Path(sys.argv[3]).read_text().count("nvmev_cmd") == fetched:
        time.sleep(0.001)
    return cid


def entry(host: Host, queue: Queue) -> bytes:
    """Where the next completion goes."""
    return host.read(queue.cq_at + 16 * queue.head, 16)


def bus_mastering(host: Host) -> None:
    queue = host.make_queue()
    say("a read completes", queue.wait(begin_read(host, queue)).status == 0)
    before = entry(host, queue)
    begin_read(host, queue)
    set_master(False)
    time.sleep(LONG_S)
    after = entry(host, queue)
    say("nothing is completed into memory while bus mastering is off", after == before)
    say("the controller says that it has failed", host.read32(0x1C) & CSTS_FATAL != 0)
    set_master(True)
    time.sleep(LONG_S)
    say("nor does it complete that when bus mastering is on again", entry(host, queue) == before)
    host.enable()
    queue = host.make_queue()
    say("a reset brings it back", queue.run(rw(READ, 0, 8, host.data)).status == 0)


def fatal(host: Host) -> None:
    queue = host.make_queue()
    before = entry(host, queue)
    begin_read(host, queue)
    inject("fatal")
    host.wait_status(CSTS_FATAL, CSTS_FATAL)
    time.sleep(LONG_S)
    say("nothing is completed after a fatal error", entry(host, queue) == before)


def turns(host: Host) -> None:
    """One command in each of two queues, again and again: which is fetched first?"""
    queues = [host.make_queue(1), host.make_queue(2)]
    Path(sys.argv[3]).write_text("")
    for i in range(ROUNDS):
        cids = [queue.put(rw(READ, 0, 8, host.data)) for queue in queues]
        # Which bell rings first must not matter.
        for queue in queues if i % 2 else reversed(queues):
            queue.ring()
        for queue, cid in zip(queues, cids):
            queue.wait(cid)
        # Until the device only looks now and then, and finds both
        time.sleep(0.03 + 0.001 * (i % 7))
    order = re.findall(r"nvmev_cmd: .* qid=(\d+)", Path(sys.argv[3]).read_text())
    say("all commands are in the trace", len(order) == 2 * ROUNDS, len(order))
    first = order[::2].count("1")
    say(f"of two queues each is served first in a quarter of {ROUNDS} rounds or more",
          ROUNDS // 4 <= first <= ROUNDS * 3 // 4, f"the first queue: {first}")
    for burst, most in (3, 8), (1, 2):
        overtaken(host, queues, burst, most)


def overtaken(host: Host, queues: List[Queue], burst: int, most: int) -> None:
    """How many commands of a full queue come before the only one of another?"""
    host.admin.run(sqe(0x09, cdw={10: 1, 11: burst}))
    Path(sys.argv[3]).write_text("")
    many, one = queues
    cids = [many.put(rw(READ, 0, 8, host.data)) for _ in range(DEEP)]
    last = one.put(rw(READ, 0, 8, host.data))
    # If the device looks in between, the one has come first, which is right, too.
    one.ring()
    many.ring()
    one.wait(last)
    for cid in cids:
        many.wait(cid)
    order = re.findall(r"nvmev_cmd: .* qid=(\d+)", Path(sys.argv[3]).read_text())
    say(f"with bursts of {most} a queue of {DEEP} commands goes before another's with {most} at most",
        len(order) == DEEP + 1 and order.index("2") <= most, " ".join(order))


def steps(host: Host) -> None:
    turns(host)
    host.enable()
    bus_mastering(host)
    host.enable()
    fatal(host)


sys.exit(rawhost.run(steps))
