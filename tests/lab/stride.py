#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The FragPicker paper's synthetic file, of which each second 128 KiB are in pieces, and its readers.

Usage: stride.py fragment FILE KIB PIECE-KIB OTHER-KIB
                make it, with so much of FILE.other behind each piece
       stride.py read FILE STEP-KIB
                read 128 KiB each STEP-KIB with O_DIRECT; print microseconds
"""
import mmap
import os
import sys
import time

REQUEST = 128 << 10


def append(file: int, at: int, data: mmap.mmap, preallocates: bool) -> None:
    if preallocates:
        os.posix_fallocate(file, at, len(data))
    os.pwritev(file, [data], at)


def fragment(path: str, kib: int, piece_kib: int, other_kib: int) -> None:
    flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_DIRECT
    file, other = os.open(path, flags, 0o644), os.open(f"{path}.other", flags, 0o644)
    piece, between, large = (mmap.mmap(-1, size) for size in (piece_kib << 10, other_kib << 10, REQUEST))
    # A filesystem that writes in place keeps blocks for a file that grows.
    preallocates = os.popen(f"stat -f -c %T {path}").read().strip() not in ("btrfs", "f2fs")
    at = other_at = 0

    while at < kib << 10:
        for _ in range(REQUEST // len(piece)):
            piece[:] = os.urandom(len(piece))
            append(file, at, piece, preallocates)
            append(other, other_at, between, preallocates)
            at += len(piece)
            other_at += len(between)
        large[:] = os.urandom(REQUEST)
        append(file, at, large, preallocates)
        at += REQUEST
    os.fsync(file)


def read(path: str, step: int) -> int:
    file = os.open(path, os.O_RDONLY | os.O_DIRECT)
    data = mmap.mmap(-1, REQUEST)
    before = time.monotonic_ns()

    for at in range(0, os.fstat(file).st_size - REQUEST + 1, step):
        os.preadv(file, [data], at)
    return (time.monotonic_ns() - before) // 1000


if sys.argv[1] == "fragment":
    fragment(sys.argv[2], *map(int, sys.argv[3:]))
else:
    print(read(sys.argv[2], int(sys.argv[3]) << 10))
