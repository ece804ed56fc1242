#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Play what dm-log-writes has logged up to a write.

log-replay.py LOG: prints the number of writes.
log-replay.py LOG DEVICE NR: does the first NR of them.
"""

import os
import struct
import sys
from typing import Iterator, Tuple

MAGIC = 0x6A736677736872
FLUSH, FUA, DISCARD, MARK, METADATA = 1, 2, 4, 8, 16


def entries(log: int) -> Iterator[Tuple[int, int, int, int]]:
    """(sector, sectors, flags, place of the data in the log)"""
    magic, _, nr_entries, sector_bytes = struct.unpack("<QQQL", os.pread(log, 28, 0))
    if magic != MAGIC:
        sys.exit("This is no log of dm-log-writes.")
    at = sector_bytes
    for _ in range(nr_entries):
        sector, sectors, flags, data_bytes = struct.unpack("<QQQQ", os.pread(log, 32, at))
        at += sector_bytes
        yield sector * sector_bytes, sectors * sector_bytes, flags, at
        if not flags & DISCARD:
            at += sectors * sector_bytes
        if flags & MARK:
            at += -(-data_bytes // sector_bytes) * sector_bytes


def main() -> None:
    log = os.open(sys.argv[1], os.O_RDONLY)
    writes = [entry for entry in entries(log) if entry[1] and not entry[2] & (DISCARD | MARK)]
    if len(sys.argv) == 2:
        print(len(writes))
        return
    device = os.open(sys.argv[2], os.O_WRONLY)
    for first, nbytes, _, at in writes[:int(sys.argv[3])]:
        os.pwrite(device, os.pread(log, nbytes, at), first)
    os.fsync(device)


if __name__ == "__main__":
    main()
