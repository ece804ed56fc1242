#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Take nearly all available memory for some seconds, and keep touching it."""

import mmap
import sys
import time

KEEP_KIB = 48 * 1024


def available_kib() -> int:
    with open("/proc/meminfo") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1])
    raise RuntimeError("There is no MemAvailable in /proc/meminfo.")


def main() -> None:
    end = time.monotonic() + float(sys.argv[1])
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    held = []
    while time.monotonic() < end:
        if available_kib() > KEEP_KIB + 4096:
            block = mmap.mmap(-1, 4 << 20)
            for offset in range(0, 4 << 20, mmap.PAGESIZE):
                block[offset] = 1
            held.append(block)
        else:
            time.sleep(0.05)


main()
