#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Deallocation and Format of a namespace that take long, and what is served meanwhile: rawhost-format.py.

All LBAs of 4096 bytes of two namespaces have data, and the first has millions. Prints "ok -" lines."""

import struct
import sys
import time

import rawhost
from rawhost import Host, Queue, expect, sqe
from sentences import say

READ, DEALLOCATE, IDENTIFY, ABORT, EVENT_REQUEST, FORMAT = 0x02, 0x09, 0x06, 0x08, 0x0C, 0x80
ABORTED, IN_PROGRESS = 0x07, 0x84
TO_512, TO_4096 = 0, 1
FLBAS_AT, NUSE_AT = 26, 16
WAIT_S = 60


def read(host: Host, queue: Queue, nsid: int) -> int:
    return queue.run(sqe(READ, nsid, {10: 0, 12: 0}, host.data)).status


def identify(host: Host) -> int:
    """Of the first namespace: the number of its LBA format, or -1"""
    done = host.admin.run(sqe(IDENTIFY, 1, {}, host.data))
    return -1 if done.status else host.read(rawhost.DATA_AT + FLBAS_AT, 1)[0] & 15


def used(host: Host) -> int:
    """LBAs of the first namespace that have data"""
    host.admin.run(sqe(IDENTIFY, 1, {}, host.data))
    return int.from_bytes(host.read(rawhost.DATA_AT + NUSE_AT, 8), "little")


def begin(host: Host) -> int:
    cid = host.admin.put(sqe(FORMAT, 1, {10: TO_512}))
    host.admin.ring()
    return cid


def aborted(host: Host) -> None:
    """A Dataset Management that has begun, and would take seconds"""
    queue = host.make_queue()
    full = used(host)
    # Not where Identify puts its data
    host.write(rawhost.DATA_AT + rawhost.PAGE, struct.pack("<IIQ", 0, full, 0))
    cid = queue.put(sqe(DEALLOCATE, 1, {11: 4}, host.data + rawhost.PAGE))
    queue.ring()
    deadline = time.monotonic() + WAIT_S
    while used(host) == full and time.monotonic() < deadline:
        time.sleep(0.0005)
    done = host.admin.run(sqe(ABORT, 0, {10: queue.number | cid << 16}))
    say("Abort of a deallocation that has begun finds it", done == (0, 0), done)
    expect("which ends as aborted", queue.wait(cid).status, ABORTED)
    left = used(host)
    say("and leaves a part of the data", 0 < left < full, left)
    expect("the namespace can be read then", read(host, queue, 1), 0)
    say("and nothing is deallocated any more", used(host) == left)
    host.drop_queue()


def steps(host: Host) -> None:
    aborted(host)
    meanwhile(host)


def meanwhile(host: Host) -> None:
    queue = host.make_queue()
    cid = begin(host)
    say("an admin command is served while a namespace is formatted", identify(host) == TO_4096)
    expect("a read of another namespace is", read(host, queue, 2), 0)
    expect("one of that namespace is told of the Format", read(host, queue, 1), IN_PROGRESS)
    expect("another Format, too", host.admin.run(sqe(FORMAT, 2, {10: TO_512})).status, IN_PROGRESS)
    # The device has something to do all the time.
    victim = host.make_queue(2)
    event = host.admin.put(sqe(EVENT_REQUEST))
    host.admin.ring()
    host.write32(rawhost.DOORBELLS_AT + 8 * victim.number + 4, victim.depth)
    told = host.admin.wait(event)
    say("an event is told: Invalid Doorbell Write Value", told.result & 0xFFFFFF == 0x010100, hex(told.result))
    host.admin.take()
    say("and the Format has not ended by then", cid not in host.admin.done)
    # It goes on for seconds, and a reset does not wait for that.
    host.enable()
    say("a reset ends it, and the LBA size is the old one", identify(host) == TO_4096)
    say("and a part of the data is there", used(host) > 0)
    queue = host.make_queue()
    expect("the namespace can be read then", read(host, queue, 1), 0)
    expect("and formatted", host.admin.wait(begin(host), WAIT_S).status, 0)
    say("which leaves no data", used(host) == 0)
    say("and LBAs of another size", identify(host) == TO_512)
    expect("it can be read", read(host, queue, 1), 0)
    expect("as can the other", read(host, queue, 2), 0)
    done = host.admin.run(sqe(FORMAT, 0xFFFFFFFF, {10: TO_4096}), WAIT_S)
    expect("Format of all namespaces", done.status, 0)
    say("is one of this, too", identify(host) == TO_4096)


if __name__ == "__main__":
    sys.exit(rawhost.run(steps))
