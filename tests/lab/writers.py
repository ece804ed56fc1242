#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Several threads write, each a file of its own, until they are told to stop; then everything is
compared with what was written. Pieces of 32 KiB, O_DIRECT: appended first, then written over, eight at a time: what the
test is about needs the CPU as well, where there is only one.

Usage: writers.py THREADS FOLDER STOP    STOP is a file: that it is there means stop
"""

import mmap
import os
import random
import sys
import threading
import time

PIECE_BYTES = 32 << 10
PIECES = 64
PIECES_AT_A_TIME = 8
PAUSE_SECONDS = 0.01
wrong = []
written = []


def fill(buffer, seed):
    buffer[:] = random.Random(seed).randbytes(4096) * (PIECE_BYTES // 4096)


def write(path, stop, number):
    draw = random.Random(number)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600)
    buffer = mmap.mmap(-1, PIECE_BYTES)
    seeds = {}
    count = 0
    while count < PIECES or not os.path.exists(stop):
        piece = count if count < PIECES else draw.randrange(PIECES)
        seeds[piece] = number << 32 | count
        fill(buffer, seeds[piece])
        if os.pwritev(file, [buffer], piece * PIECE_BYTES) != PIECE_BYTES:
            raise OSError("a short write")
        count += 1
        if count > PIECES and count % PIECES_AT_A_TIME == 0:
            time.sleep(PAUSE_SECONDS)
    expected = mmap.mmap(-1, PIECE_BYTES)
    for piece, seed in seeds.items():
        fill(expected, seed)
        os.preadv(file, [buffer], piece * PIECE_BYTES)
        if buffer[:] != expected[:]:
            wrong.append(f"{path}: piece {piece}")
    written.append(count)


def main():
    threads = int(sys.argv[1])
    folder, stop = sys.argv[2:]
    workers = [
        threading.Thread(target=write, args=(f"{folder}/writer{number}", stop, number))
        for number in range(threads)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(*written, *wrong, sep="\n")
    # A thread that failed has counted nothing.
    return 1 if wrong or len(written) < threads else 0


if __name__ == "__main__":
    sys.exit(main())
