#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make a file in pieces of 32 KiB, with those of another one between them.

Usage: fragment.py FILE PIECES SOURCE allocated|written

The filesystem gets to place the pieces when they are allocated, or where it places what is written
only, when they are. The other file is FILE.other.
"""

import mmap
import os
import sys

PIECE = 32 << 10


def main() -> None:
    path, nr, source, how = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
    flags = os.O_RDWR | os.O_CREAT | os.O_DIRECT
    file, other = os.open(path, flags, 0o644), os.open(path + ".other", flags, 0o644)
    piece, zeroes = mmap.mmap(-1, PIECE), mmap.mmap(-1, PIECE)

    for i in range(nr if how == "allocated" else 0):
        os.posix_fallocate(file, i * PIECE, PIECE)
        os.posix_fallocate(other, i * PIECE, PIECE)
    with open(source, "rb", buffering=0) as data:
        for i in range(nr):
            if data.readinto(piece) != PIECE:
                sys.exit(f"{source} has no piece of {PIECE} bytes left.")
            os.pwrite(file, piece, i * PIECE)
            if how == "written":
                os.pwrite(other, zeroes, i * PIECE)
    os.fsync(file)
    os.fsync(other)


main()
