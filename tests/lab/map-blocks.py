#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write or read the first block that each of many pages of log mode's map knows.

Usage: map-blocks.py write|read DEVICE ENTRIES FIRST NR ROUND [DONE]

A page of the map knows ENTRIES blocks of 4 KiB. What is read must be what that round has written.
The file DONE gets how many could be written or read.
"""

import mmap
import os
import sys
from pathlib import Path

BLOCK = 4096


def main() -> None:
    what, device, *numbers = sys.argv[1:7]
    entries, first, nr, number = map(int, numbers)
    done = Path(sys.argv[7]) if len(sys.argv) > 7 else None
    fd = os.open(device, os.O_RDWR | os.O_DIRECT)
    block = mmap.mmap(-1, BLOCK)
    transfer = os.pwritev if what == "write" else os.preadv
    for index in range(first, first + nr):
        wanted = b"%08d-%07d" % (index, number) * (BLOCK // 16)
        if what == "write":
            block[:] = wanted
        if done:
            done.write_text(str(index - first))
        if transfer(fd, [block], index * entries * BLOCK) != BLOCK or block[:] != wanted:
            sys.exit(f"block {index} is not that of round {number}")


if __name__ == "__main__":
    main()
