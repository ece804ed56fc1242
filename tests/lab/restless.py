#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Memory that changes while it is being written, or read to.

restless.py write|read TARGET NR: write or read NR times 64 KiB at 16 places by turns, past the page
cache, while another process changes a byte of each page of that memory all the time.
"""

import mmap
import os
import sys
from multiprocessing import Event, Process

PAGE = 4096
BYTES = 64 * 1024
PLACES = 16


def change(memory: mmap.mmap, stop: "Event") -> None:  # type: ignore[valid-type]
    """What nobody waits for"""
    value = 0
    while not stop.is_set():
        for _ in range(100):
            value = (value + 1) % 256
            for page in range(0, BYTES, PAGE):
                memory[page + 77] = value


def main() -> None:
    what, target, nr = sys.argv[1], sys.argv[2], int(sys.argv[3])
    memory = mmap.mmap(-1, BYTES)
    stop = Event()
    changer = Process(target=change, args=(memory, stop))
    changer.start()
    device = os.open(target, os.O_RDWR | os.O_DIRECT)
    try:
        for i in range(nr):
            at = i % PLACES * BYTES
            if what == "write":
                done = os.pwritev(device, [memory], at)
            else:
                done = os.preadv(device, [memory], at)
            if done != BYTES:
                sys.exit(f"{done} bytes of {BYTES}")
    finally:
        stop.set()
        changer.join()


main()
