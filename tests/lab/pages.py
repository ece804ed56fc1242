#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write MiB to standard output of which no two pages are the same, nor those of two runs.

Usage: pages.py MIB

/dev/urandom takes an emulated CPU a minute per GiB. Here only the first MiB comes from there;
in each further one every page begins with the number of that MiB.
"""

import os
import struct
import sys

MIB = 1 << 20
PAGE = 4096


def main() -> None:
    data = bytearray(os.urandom(MIB))
    for number in range(int(sys.argv[1])):
        for at in range(0, MIB, PAGE):
            struct.pack_into("<Q", data, at, number)
        sys.stdout.buffer.write(data)


main()
