#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Single pages at random over a part of a block device, one command at a time.

Usage: spans.py read DEVICE SPAN-MIB NUMBER SEED    read pages; print nanoseconds a command
       spans.py write DEVICE SPAN-MIB NUMBER SEED   write them, each with its number and the seed, and flush
       spans.py verify DEVICE SPAN-MIB NUMBER SEED  is there what was written?
"""

from __future__ import annotations

import mmap
import os
import random
import struct
import sys
import time

PAGE = 4096


def draw(span_mib: int, number: int, seed: int) -> list[int]:
    generator = random.Random(seed)
    return [generator.randrange(span_mib << 8) for _ in range(number)]


def stamp(page: int, seed: int) -> bytes:
    return struct.pack("<QQ", page, seed) * (PAGE // 16)


def read(file: int, pages: list[int]) -> None:
    data = mmap.mmap(-1, PAGE)
    begin = time.monotonic_ns()
    for page in pages:
        os.preadv(file, [data], page * PAGE)
    print((time.monotonic_ns() - begin) // len(pages))


def write(file: int, pages: list[int], seed: int) -> None:
    data = mmap.mmap(-1, PAGE)
    for page in pages:
        data[:] = stamp(page, seed)
        os.pwritev(file, [data], page * PAGE)
    os.fsync(file)


def verify(file: int, pages: list[int], seed: int) -> None:
    data = mmap.mmap(-1, PAGE)
    for page in pages:
        os.preadv(file, [data], page * PAGE)
        if data[:] != stamp(page, seed):
            sys.exit(f"Page {page} does not have what was written to it with seed {seed}.")


def main(what: str, device: str, span_mib: int, number: int, seed: int) -> None:
    file = os.open(device, os.O_RDWR | os.O_DIRECT)
    pages = draw(span_mib, number, seed)
    if what == "read":
        read(file, pages)
    elif what == "write":
        write(file, pages, seed)
    else:
        verify(file, pages, seed)


main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6]))
