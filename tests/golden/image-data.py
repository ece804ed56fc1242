#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Use a device for a stored image: writes, overwrites, discards and flushes, the same for the same
seed; pages that compress well, and of which no two are the same.

Usage: image-data.py DEVICE SEED STEPS
"""

import fcntl
import mmap
import os
import random
import struct
import sys

PAGE = 4096
BLKDISCARD = 0x1277
STAMP = struct.Struct("<QQQQ")


def do_one(device: int, nr_pages: int, seed: int, step: int, chance: random.Random) -> None:
    length = chance.choice((1, 1, 2, 4, 8, 8, 16, 40))
    first = chance.randrange(nr_pages - length)
    kind = chance.randrange(10)
    if kind == 0:
        fcntl.ioctl(device, BLKDISCARD, struct.pack("<QQ", first * PAGE, length * PAGE))
        return
    if kind > 5:
        first //= 4
    buffer = mmap.mmap(-1, length * PAGE)
    for page in range(length):
        buffer.write(STAMP.pack(seed, step, first + page, page) * (PAGE // STAMP.size))
    if os.pwrite(device, buffer, first * PAGE) != length * PAGE:
        sys.exit("A write was cut short.")
    if kind in (4, 9):
        os.fsync(device)


def main() -> None:
    device = os.open(sys.argv[1], os.O_RDWR | os.O_DIRECT)
    seed, steps = int(sys.argv[2]), int(sys.argv[3])
    nr_pages = os.lseek(device, 0, os.SEEK_END) // PAGE
    chance = random.Random(seed)
    for step in range(steps):
        do_one(device, nr_pages, seed, step, chance)
    os.fsync(device)


main()
