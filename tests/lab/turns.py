#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write pieces of files in turns with O_DIRECT, as so many calls of dd would.

Usage: turns.py COUNT (FILE KIB FIRST SOURCE)...

In each of COUNT turns every FILE gets one more piece of KIB, from piece FIRST on, with what comes
next in SOURCE; if that is "-" the piece gets its place only (fallocate). A file may be named more than once.
"""

import mmap
import os
import sys
from typing import BinaryIO, List, Optional


class Writer:
    def __init__(self, path: str, kib: int, first: int, source: str) -> None:
        self.path = path
        self.at = first * kib << 10
        self.piece = mmap.mmap(-1, kib << 10)
        self.source: Optional[BinaryIO] = None if source == "-" else open(source, "rb", buffering=0)

    def write_next(self) -> None:
        if self.source and self.source.readinto(self.piece) != len(self.piece):
            sys.exit(f"{self.source.name} has no piece of {len(self.piece)} bytes left.")
        # A filesystem may take back what it has kept for a file when that is closed.
        file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_DIRECT, 0o644)
        try:
            if not self.source:
                os.posix_fallocate(file, self.at, len(self.piece))
            elif os.pwrite(file, self.piece, self.at) != len(self.piece):
                sys.exit(f"{self.path}: not all was written.")
        finally:
            os.close(file)
        self.at += len(self.piece)


def main() -> None:
    words = sys.argv[2:]
    writers: List[Writer] = [Writer(words[i], int(words[i + 1]), int(words[i + 2]), words[i + 3])
                             for i in range(0, len(words), 4)]
    for _ in range(int(sys.argv[1])):
        for writer in writers:
            writer.write_next()


main()
