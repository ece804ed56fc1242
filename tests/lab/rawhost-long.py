#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Commands that take long, and what is served meanwhile: rawhost-long.py STATISTICS.

STATISTICS is the file "controller" of an SSD whose LBAs are pages. Prints "ok -" lines."""

import re
import struct
import sys
import time
from pathlib import Path
from typing import Dict, List, NamedTuple

import rawhost
from rawhost import Host, Queue, rw, sqe
from sentences import Late, say

READ, UNCORRECTABLE, ZEROES, VERIFY, COPY = 0x02, 0x04, 0x08, 0x0C, 0x19
WRITE = 0x01
DELETE_SQ, DELETE_CQ, ABORT = 0x00, 0x04, 0x08
DEALLOCATE = 1 << 25
ABORTED, QUEUE_GONE, UNREADABLE = 0x07, 0x08, 0x281

MOST_LBAS = 65536
MOST_COPIED = MOST_LBAS - 1
PIECE_PAGES = 1024
COPY_PAGES = 256
# So many of them at once that the device is at work for long
COMMANDS = 4
# So many that it still is when whoever tries to stop it has had to wait for a CPU
MANY = 64
FREE_LBA = COMMANDS * MOST_LBAS
WAIT_S = 60
TRIES = 8


def statistics() -> Dict[str, int]:
    """What the device has counted"""
    lines = Path(sys.argv[1]).read_text()
    return {name: int(value) for name, value in re.findall(r"(\w+) (\d+)", lines)}


def largest(opcode: int, slba: int, flags: int) -> bytes:
    """A command that names as many LBAs as there can be"""
    return sqe(opcode, 1, {10: slba, 12: MOST_LBAS - 1 | flags})


def all_largest(opcode: int, flags: int = 0) -> List[bytes]:
    return [largest(opcode, i * MOST_LBAS, flags) for i in range(COMMANDS)]


def copy_of(host: Host, to: int, *ranges: int) -> bytes:
    """A Copy of (first LBA, LBAs) in turn, which are put into the second page of data"""
    at = rawhost.PAGE
    host.write(rawhost.DATA_AT + at, b"".join(
        struct.pack("<QQH14x", 0, ranges[i], ranges[i + 1] - 1) for i in range(0, len(ranges), 2)))
    return sqe(COPY, 1, {10: to, 12: len(ranges) // 2 - 1}, host.data + at)


def begin(queue: Queue, commands: List[bytes]) -> List[int]:
    """Let the device begin; their identifiers"""
    before = statistics()["pieces"]
    cids = [queue.put(command) for command in commands]
    queue.ring()
    deadline = time.monotonic() + WAIT_S
    while statistics()["pieces"] == before:
        if time.monotonic() > deadline:
            raise Late("the device does nothing in pieces")
        time.sleep(0.0005)
    return cids


class Work(NamedTuple):
    """What the device has done for some commands"""

    statuses: List[int]
    read_status: int
    pieces: int
    pieces_meanwhile: int
    data_pages: int


def work(host: Host, queues: Dict[int, Queue], commands: List[bytes]) -> Work:
    """Let the device work, and read what is not there, which need not wait for a die."""
    before = statistics()
    cids = begin(queues[1], commands)
    read = queues[2].run(rw(READ, FREE_LBA, 1, host.data))
    meanwhile = statistics()["pieces"] - before["pieces"]
    done = [queues[1].wait(cid, WAIT_S).status for cid in cids]
    after = statistics()
    return Work(done, read.status, after["pieces"] - before["pieces"], meanwhile,
                after["data_pages_in_memory"] - before["data_pages_in_memory"])


def in_pieces(host: Host, queues: Dict[int, Queue], name: str, commands: List[bytes],
              piece_pages: int = PIECE_PAGES) -> None:
    # Whoever reads may have to wait for a CPU of the host.
    for _ in range(TRIES):
        done = work(host, queues, commands)
        if done.pieces_meanwhile < done.pieces:
            break
    nr = COMMANDS * MOST_LBAS // piece_pages
    say(f"{name} of {MOST_LBAS} LBAs", done.statuses == [0] * COMMANDS, done)
    say(f"{name} has pieces of {piece_pages} pages", done.pieces == nr, done)
    say(f"a read is served between those of {name}",
        done.read_status == 0 and done.pieces_meanwhile < done.pieces, done)
    say(f"{name} takes no memory for each page", done.data_pages <= 0, done)


def edges(queue: Queue) -> None:
    """Of an unreadable range that begins and ends anywhere"""
    queue.run(largest(ZEROES, 0, 0), WAIT_S)
    begin_lba, nr = 777, 5000
    done = queue.run(sqe(UNCORRECTABLE, 1, {10: begin_lba, 12: nr - 1}))
    say("a command of another length", done.status == 0, done.status)
    found = [queue.run(rw(VERIFY, lba, 1, 0)).status
             for lba in (begin_lba - 1, begin_lba, begin_lba + nr // 2, begin_lba + nr - 1, begin_lba + nr)]
    say("has done exactly what it names", found == [0] + [UNREADABLE] * 3 + [0], found)
    done = queue.run(largest(VERIFY, 0, 0), WAIT_S)
    say("and Verify of more finds it", done.status == UNREADABLE, done.status)
    done = queue.run(largest(ZEROES, 0, DEALLOCATE), WAIT_S)
    say("until it is deallocated", done.status == 0 and
        queue.run(largest(VERIFY, 0, 0), WAIT_S).status == 0, done.status)


def copies(host: Host, queue: Queue) -> None:
    """Of ranges that begin and end anywhere, the first and the last page of each, and those beside them"""
    ranges = (100, 300, 1000, 1, 2000, 700, 50, 2)
    to = 10000
    sources = [lba for i in range(0, len(ranges), 2) for lba in range(ranges[i], ranges[i] + ranges[i + 1])]
    kept = {lba: bytes([lba % 251]) * 4096 for i in range(0, len(ranges), 2)
            for lba in (ranges[i] - 1, ranges[i], ranges[i] + ranges[i + 1] - 1, ranges[i] + ranges[i + 1])}
    for lba, data in kept.items():
        host.write(rawhost.DATA_AT, data)
        queue.run(rw(WRITE, lba, 1, host.data))
    before = statistics()["pieces"]
    done = queue.run(copy_of(host, to, *ranges), WAIT_S)
    pieces = statistics()["pieces"] - before
    wrong = []
    for i, lba in enumerate([0] + sources + [0]):
        if lba not in kept and i not in (0, len(sources) + 1):
            continue
        queue.run(rw(READ, to + i - 1, 1, host.data))
        if host.read(rawhost.DATA_AT, 4096) != kept.get(lba, bytes(4096)):
            wrong.append(to + i - 1)
    say("Copy of four ranges in pieces that do not end where these do", done.status == 0 and pieces == 4,
        done, pieces)
    say("has copied what they have, and no more", not wrong, wrong)


def aborted(host: Host, queue: Queue) -> None:
    """Abort finds a command that is done in pieces, and lets the others go on."""
    cids = begin(queue, [largest(VERIFY, 0, 0)] * MANY)
    done = host.admin.run(sqe(ABORT, 0, {10: queue.number | cids[-1] << 16}))
    say("Abort of the last of many commands in pieces finds it", done == (0, 0), done)
    found = [queue.wait(cid, WAIT_S).status for cid in cids]
    say("which ends as aborted, and no other", found == [0] * (MANY - 1) + [ABORTED], found)


def deleted(host: Host, queue: Queue, commands: List[bytes], name: str) -> None:
    """Whose queue is deleted ends with it."""
    cids = begin(queue, commands)
    done = host.admin.run(sqe(DELETE_SQ, 0, {10: queue.number}))
    queue.take()
    found = [status.status for cid in cids for status in queue.done.pop(cid, [])]
    say(f"a queue is deleted in the middle of {name}", done.status == 0, done)
    # Of Copy commands one at a time is fetched, between pieces.
    say("and each command of it that has begun ends, the last as aborted",
        set(found) <= {0, QUEUE_GONE} and found[-1:] == [QUEUE_GONE], found)
    host.admin.run(sqe(DELETE_CQ, 0, {10: queue.number}))
    say("none is left in the device", statistics()["commands_in_flight"] == 0, statistics())


def reset(host: Host, commands: List[bytes], name: str) -> None:
    """A reset forgets all."""
    begin(host.make_queue(1), commands)
    host.enable()
    say(f"nothing is left of {name} after a reset", statistics()["commands_in_flight"] == 0, statistics())
    pieces = statistics()["pieces"]
    queue = host.make_queue(1)
    found = [queue.run(rw(READ, FREE_LBA, 1, host.data)).status for _ in range(10)]
    say("and reads are served", found == [0] * 10, found)
    say("which no piece interrupts", statistics()["pieces"] == pieces)
    host.drop_queue(1)


def steps(host: Host) -> None:
    queues = {number: host.make_queue(number) for number in (1, 2)}
    in_pieces(host, queues, "Write Zeroes", all_largest(ZEROES))
    in_pieces(host, queues, "Copy", [copy_of(host, i * MOST_LBAS, FREE_LBA, MOST_COPIED)
                                     for i in range(COMMANDS)], COPY_PAGES)
    in_pieces(host, queues, "Verify", all_largest(VERIFY))
    in_pieces(host, queues, "Write Uncorrectable", all_largest(UNCORRECTABLE))
    in_pieces(host, queues, "Write Zeroes with deallocation", all_largest(ZEROES, DEALLOCATE))
    edges(queues[2])
    copies(host, queues[2])
    aborted(host, queues[1])
    for name, command in (("Verify", largest(VERIFY, 0, 0)),
                          ("Copy", copy_of(host, 0, FREE_LBA, MOST_COPIED))):
        deleted(host, queues.pop(1, None) or host.make_queue(1), [command] * MANY, name)
        reset(host, [command] * MANY, name)


if __name__ == "__main__":
    sys.exit(rawhost.run(steps))
