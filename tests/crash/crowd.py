#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Many at work on a target in log mode, each on places of its own.

crowd.py work DEVICE MODEL SEED ROUNDS: each thread writes, discards and reads pairs of blocks,
the first of which is the last one that a page of the map knows. So whoever writes needs two pages
of the map, and all together need many. Some go on writing behind the pair, so far that it takes
several operations. What has to be where goes to the file MODEL.
crowd.py alone DEVICE MODEL SEED STUCK...: the same with writes of the long kind only, while the kernel
has a single thread for all that waits in one queue of workers. It can make no more, and those that it has
are busy with flushes of the targets STUCK, of which each lies on a device below-STUCK that is suspended.
crowd.py check DEVICE MODEL: it is there.
"""

import fcntl
import json
import mmap
import os
import random
import re
import struct
import subprocess
import sys
import threading
import time
from typing import Callable, Dict, List

BLOCK = 4096
ENTRIES = 806
THREADS = 24
# More than DMDA_LOG_PIECE_PAGES, twice
LONG = 128
BLKDISCARD = 0x1277
MOST_THREADS = "/proc/sys/kernel/threads-max"
# With no more the kernel makes none.
NO_THREADS = 1
# Of 20 s at most
ALONE_SECONDS = 120


class Pairs:
    """The pairs of one thread, and what they hold: 0 is zeroes."""

    def __init__(self, device: str) -> None:
        self.fd = os.open(device, os.O_RDWR | os.O_DIRECT)
        self.buffer = mmap.mmap(-1, 2 * BLOCK)
        self.long_buffer = mmap.mmap(-1, LONG * BLOCK)
        self.held: Dict[int, int] = {}

    def write(self, pair: int, version: int, is_long: bool) -> None:
        buffer = self.long_buffer if is_long else self.buffer
        self.held[pair] = version
        buffer[:] = struct.pack("<QQ", pair, version) * (len(buffer) // 16)
        if os.pwrite(self.fd, buffer, place_of(pair)) != len(buffer):
            raise OSError("not all was written")

    def discard(self, pair: int) -> None:
        self.held[pair] = 0
        fcntl.ioctl(self.fd, BLKDISCARD, struct.pack("QQ", place_of(pair), 2 * BLOCK))

    def compare(self, pair: int) -> None:
        version = self.held[pair]
        wanted = struct.pack("<QQ", pair, version) * (BLOCK // 8) if version else bytes(2 * BLOCK)
        if os.preadv(self.fd, [self.buffer], place_of(pair)) != 2 * BLOCK:
            raise OSError("not all was read")
        if self.buffer[:] != wanted:
            raise ValueError(f"Pair {pair} is not version {version}.")


def place_of(pair: int) -> int:
    return (pair * ENTRIES - 1) * BLOCK


def one_round(pairs: Pairs, mine: range, version: int, dice: random.Random) -> None:
    for pair in dice.sample(mine, len(mine)):
        choice = dice.random()
        if choice < 0.6:
            pairs.write(pair, version, choice < 0.2)
        elif choice < 0.7:
            pairs.discard(pair)
        elif choice < 0.75:
            os.fsync(pairs.fd)
        elif pair in pairs.held:
            pairs.compare(pair)


def long_writes(pairs: Pairs, mine: range, version: int, dice: random.Random) -> None:
    for pair in dice.sample(mine, len(mine)):
        pairs.write(pair, version, True)


class Crowd:
    """All threads, which are made when nothing is done yet."""

    def __init__(self, device: str, seed: int, rounds: int, one: Callable[..., None]) -> None:
        self.held: Dict[int, int] = {}
        self.nr_ended = 0
        self.may_begin = threading.Event()
        fd = os.open(device, os.O_RDONLY)
        last = os.lseek(fd, 0, os.SEEK_END) // BLOCK // ENTRIES

        def one_thread(number: int) -> None:
            pairs = Pairs(device)
            mine = range(number + 1, last, THREADS)
            dice = random.Random(seed * THREADS + number)
            self.may_begin.wait()
            for version in range(1, rounds + 1):
                one(pairs, mine, version, dice)
            os.fsync(pairs.fd)
            self.held.update(pairs.held)
            self.nr_ended += 1

        self.threads = [threading.Thread(target=one_thread, args=(number,))
                        for number in range(THREADS)]
        for thread in self.threads:
            thread.start()

    def work(self, seconds: float = 3600) -> bool:
        """Whether it came to its end in time."""
        deadline = time.monotonic() + seconds
        self.may_begin.set()
        for thread in self.threads:
            thread.join(max(deadline - time.monotonic(), 0))
        return not any(thread.is_alive() for thread in self.threads)

    def keep(self, model: str) -> None:
        for thread in self.threads:
            thread.join()
        if self.nr_ended != THREADS:
            sys.exit("Not all have come to their end.")
        with open(model, "w") as file:
            json.dump(self.held, file)


def work(device: str, model: str, seed: int, rounds: int) -> None:
    crowd = Crowd(device, seed, rounds, one_round)
    crowd.work()
    crowd.keep(model)


def flush_in_vain(target: str, may_begin: threading.Event) -> threading.Thread:
    """Discards a block that was written, and flushes that, once it may begin."""
    fd = os.open(f"/dev/mapper/{target}", os.O_RDWR)

    def discard_and_flush() -> None:
        may_begin.wait()
        fcntl.ioctl(fd, BLKDISCARD, struct.pack("QQ", 0, BLOCK))
        os.fsync(fd)

    thread = threading.Thread(target=discard_and_flush)
    thread.start()
    return thread


def nr_idle() -> int:
    """Of the pool of threads that serves our queues: those that have nothing to do, or try to make another one."""
    busy, idle = set(), []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm") as file:
                found = re.match(r"kworker/u(\d+):\d+(.*)", file.read())
        except OSError:
            continue
        if found and found.group(2).startswith("+dm-dieaware"):
            busy.add(found.group(1))
        elif found and not found.group(2).startswith("+"):
            idle.append(found.group(1))
    return sum(pool in busy for pool in idle) if busy else len(idle)


def alone(device: str, model: str, seed: int, stuck: List[str]) -> None:
    crowd = Crowd(device, seed, 1, long_writes)
    with open(MOST_THREADS) as file:
        before = file.read()
    may_flush = threading.Event()
    flushes = [flush_in_vain(target, may_flush) for target in stuck]
    with open(MOST_THREADS, "w") as file:
        file.write(str(NO_THREADS))
    # A commit by each flush, and a second later another one, which waits for the first
    may_flush.set()
    time.sleep(3)
    nr = nr_idle()
    in_time = crowd.work(ALONE_SECONDS)
    with open(MOST_THREADS, "w") as file:
        file.write(before)
    for target in stuck:
        subprocess.run(["dmsetup", "resume", f"below-{target}"], check=True)
    for thread in flushes:
        thread.join()
    crowd.keep(model)
    print(f"# {nr} threads of the kernel were idle")
    # The last one is not: it tries to make another one.
    if nr > 1 or not in_time:
        sys.exit("There were threads to do it." if in_time else "It took too long.")


def check(device: str, model: str) -> None:
    pairs = Pairs(device)
    with open(model) as file:
        pairs.held = {int(pair): version for pair, version in json.load(file).items()}
    for pair in pairs.held:
        pairs.compare(pair)


def main() -> None:
    verb, device, model = sys.argv[1:4]
    if verb == "work":
        work(device, model, int(sys.argv[4]), int(sys.argv[5]))
    elif verb == "alone":
        alone(device, model, int(sys.argv[4]), sys.argv[5:])
    else:
        check(device, model)


if __name__ == "__main__":
    main()
