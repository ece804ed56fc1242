#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write units of 64 KiB that belong to a place and a time, or verify that they are there.

Usage: stamp.py write|verify|zero DEVICE TIME UNIT...

zero: the places hold zeroes, whatever the time.
"""

import mmap
import os
import struct
import sys

UNIT = 65536
STAMP = struct.Struct("<QQ")


def stamp(unit: int, time: int) -> bytes:
    return STAMP.pack(unit, time) * (UNIT // STAMP.size)


def main() -> None:
    what, path, time, *units = sys.argv[1:]
    device = os.open(path, os.O_RDWR | os.O_DIRECT)
    buffer = mmap.mmap(-1, UNIT)
    for unit in map(int, units):
        due = bytes(UNIT) if what == "zero" else stamp(unit, int(time))
        if what == "write":
            buffer[:] = due
            os.pwrite(device, buffer, unit * UNIT)
            continue
        os.preadv(device, [buffer], unit * UNIT)
        if buffer[:] != due:
            found, when = STAMP.unpack_from(buffer)
            sys.exit(f"Unit {unit} of time {time} begins with unit {found} of time {when}.")
    if what == "write":
        os.fsync(device)


main()
