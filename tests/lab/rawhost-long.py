#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Commands that take long, and what is served meanwhile: rawhost-long.py STATISTICS.

STATISTICS is the file "controller" of an SSD whose LBAs are pages. Prints "ok -" lines."""

import re
import sys
import time
from pathlib import Path
from typing import Dict

import rawhost
from rawhost import Host, Queue, rw, sqe
from sentences import say

READ, UNCORRECTABLE, ZEROES, VERIFY = 0x02, 0x04, 0x08, 0x0C
DEALLOCATE = 1 << 25
UNREADABLE = 0x281

MOST_LBAS = 65536
PIECE_PAGES = 1024
# So many of them at once that the device is at work for long
COMMANDS = 4
FREE_LBA = COMMANDS * MOST_LBAS
WAIT_S = 60


def statistics() -> Dict[str, int]:
    """What the device has counted"""
    lines = Path(sys.argv[1]).read_text()
    return {name: int(value) for name, value in re.findall(r"(\w+) (\d+)", lines)}


def largest(opcode: int, slba: int, flags: int) -> bytes:
    """A command that names as many LBAs as there can be"""
    return sqe(opcode, 1, {10: slba, 12: MOST_LBAS - 1 | flags})


def in_pieces(host: Host, queues: Dict[int, Queue], name: str, opcode: int, flags: int = 0) -> None:
    before = statistics()
    cids = [queues[1].put(largest(opcode, i * MOST_LBAS, flags)) for i in range(COMMANDS)]
    queues[1].ring()
    while statistics()["pieces"] == before["pieces"]:
        time.sleep(0.0005)
    # Nothing is there, so it need not wait for a die.
    read = queues[2].run(rw(READ, FREE_LBA, 1, host.data))
    meanwhile = statistics()["pieces"] - before["pieces"]
    done = [queues[1].wait(cid, WAIT_S).status for cid in cids]
    after = statistics()
    nr = after["pieces"] - before["pieces"]
    say(f"{name} of {MOST_LBAS} LBAs", done == [0] * COMMANDS, done)
    say(f"{name} has pieces of {PIECE_PAGES} pages", nr == COMMANDS * MOST_LBAS // PIECE_PAGES, nr)
    say(f"a read is served between those of {name}", read.status == 0 and meanwhile < nr,
        f"{meanwhile} of {nr}")
    grown = after["data_pages_in_memory"] - before["data_pages_in_memory"]
    say(f"{name} takes no memory for each page", grown <= 0, grown)


def edges(queue: Queue) -> None:
    """Of an unreadable range that begins and ends anywhere"""
    queue.run(largest(ZEROES, 0, 0), WAIT_S)
    begin, nr = 777, 5000
    done = queue.run(sqe(UNCORRECTABLE, 1, {10: begin, 12: nr - 1}))
    say("a command of another length", done.status == 0, done.status)
    found = [queue.run(rw(VERIFY, lba, 1, 0)).status
             for lba in (begin - 1, begin, begin + nr // 2, begin + nr - 1, begin + nr)]
    say("has done exactly what it names", found == [0] + [UNREADABLE] * 3 + [0], found)
    done = queue.run(largest(VERIFY, 0, 0), WAIT_S)
    say("and Verify of more finds it", done.status == UNREADABLE, done.status)
    done = queue.run(largest(ZEROES, 0, DEALLOCATE), WAIT_S)
    say("until it is deallocated", done.status == 0 and
        queue.run(largest(VERIFY, 0, 0), WAIT_S).status == 0, done.status)


def steps(host: Host) -> None:
    queues = {number: host.make_queue(number) for number in (1, 2)}
    in_pieces(host, queues, "Write Zeroes", ZEROES)
    in_pieces(host, queues, "Verify", VERIFY)
    in_pieces(host, queues, "Write Uncorrectable", UNCORRECTABLE)
    in_pieces(host, queues, "Write Zeroes with deallocation", ZEROES, DEALLOCATE)
    edges(queues[2])


if __name__ == "__main__":
    sys.exit(rawhost.run(steps))
