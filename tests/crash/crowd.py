#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Many at work on a target in log mode, each on places of its own.

crowd.py work DEVICE MODEL SEED ROUNDS: each thread writes, discards and reads pairs of blocks,
the first of which is the last one that a page of the map knows. So whoever writes needs two pages
of the map, and all together need many. Some go on writing behind the pair, so far that it takes
several operations. What has to be where goes to the file MODEL.
crowd.py check DEVICE MODEL: it is there.
"""

import fcntl
import json
import mmap
import os
import random
import struct
import sys
import threading
from typing import Dict

BLOCK = 4096
ENTRIES = 806
THREADS = 24
# More than DMDA_LOG_PIECE_PAGES, twice
LONG = 128
BLKDISCARD = 0x1277


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


def work(device: str, model: str, seed: int, rounds: int) -> None:
    held: Dict[int, int] = {}
    fd = os.open(device, os.O_RDONLY)
    last = os.lseek(fd, 0, os.SEEK_END) // BLOCK // ENTRIES
    ended = []

    def one_thread(number: int) -> None:
        pairs = Pairs(device)
        mine = range(number + 1, last, THREADS)
        dice = random.Random(seed * THREADS + number)
        for version in range(1, rounds + 1):
            one_round(pairs, mine, version, dice)
        os.fsync(pairs.fd)
        held.update(pairs.held)
        ended.append(number)

    threads = [threading.Thread(target=one_thread, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(ended) != THREADS:
        sys.exit("Not all have come to their end.")
    with open(model, "w") as file:
        json.dump(held, file)


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
    else:
        check(device, model)


if __name__ == "__main__":
    main()
