#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write or discard a little at equal distances, as so many calls of dd or blkdiscard would.

Usage: steps.py write|trim PATH FIRST-KIB STEP-KIB BLOCK-KIB BLOCKS COUNT [SOURCE]

At each of COUNT places, STEP-KIB apart, BLOCKS times BLOCK-KIB are written one after the other with O_DIRECT, zeroes
or what SOURCE has at the same place; or discarded all at once.
"""

import fcntl
import mmap
import os
import struct
import sys
from typing import Optional

BLKDISCARD = 0x1277


def write(file: int, at: int, size: int, source: Optional[int]) -> None:
    block = mmap.mmap(-1, size)
    if source is not None and os.preadv(source, [block], at) != size:
        sys.exit(f"The source has no {size} bytes at {at}.")
    try:
        written = os.pwrite(file, block, at)
    except OSError as error:
        sys.exit(f"{size} bytes at {at}: {error.strerror}")
    if written != size:
        sys.exit(f"{size} bytes at {at}: not all was written.")


def main() -> None:
    what, path = sys.argv[1:3]
    first, step, block, blocks, count = map(int, sys.argv[3:8])
    source = os.open(sys.argv[8], os.O_RDONLY) if len(sys.argv) > 8 else None
    file = os.open(path, os.O_WRONLY | os.O_DIRECT)
    for at in range(first << 10, (first + count * step) << 10, step << 10):
        if what == "trim":
            fcntl.ioctl(file, BLKDISCARD, struct.pack("QQ", at, (blocks * block) << 10))
            continue
        for number in range(blocks):
            write(file, at + (number * block << 10), block << 10, source)


main()
