#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Hold more memory than there is, change it at random, and verify each page: what was swapped out
must come back as it was.

Usage: swapper.py SWAPPED_MIB ROUNDS [SEED]

It takes memory until the kernel has swapped SWAPPED_MIB MiB out since it began: how much there is
before it swaps, nobody can tell. Each page holds its number and how often it was written, all over.
In a round every page is looked at once, in random order, and half of them are written anew. Ends
with 1 at the first page that is another one, or is of another time.
"""

import mmap
import os
import random
import struct
import sys

PAGE = mmap.PAGESIZE
STAMP = struct.Struct("<QQ")


def page_of(number: int, times: int) -> bytes:
    return STAMP.pack(number, times) * (PAGE // STAMP.size)


def swapped_pages() -> int:
    with open("/proc/vmstat") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("pswpout "))


def fill(memory: mmap.mmap, swapped: int) -> int:
    """How many pages it took until so many have been swapped."""
    until = swapped_pages() + swapped
    pages = len(memory) // PAGE
    for number in range(pages):
        if number % 256 == 0 and swapped_pages() >= until:
            return number
        memory[number * PAGE : (number + 1) * PAGE] = page_of(number, 1)
    return pages


def one_round(memory: mmap.mmap, times: list[int], chance: random.Random) -> None:
    order = list(range(len(times)))
    chance.shuffle(order)
    for number in order:
        at = number * PAGE
        found = memory[at : at + PAGE]
        if found != page_of(number, times[number]):
            sys.exit(
                f"Page {number} should be of time {times[number]}, and begins with "
                f"page {STAMP.unpack_from(found)[0]} of time {STAMP.unpack_from(found)[1]}."
            )
        if chance.random() < 0.5:
            times[number] += 1
            memory[at : at + PAGE] = page_of(number, times[number])


def main() -> None:
    swapped_mib, rounds = int(sys.argv[1]), int(sys.argv[2])
    chance = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    most = os.sysconf("SC_PHYS_PAGES") * PAGE
    memory = mmap.mmap(-1, most, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    times = [1] * fill(memory, (swapped_mib << 20) // PAGE)
    for _ in range(rounds):
        one_round(memory, times, chance)
    print(f"{len(times)} pages, {sum(times)} times written")


main()
