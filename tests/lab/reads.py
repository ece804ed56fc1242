#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Read a file in the ways that applications have, each 64 KiB behind the last one.

Usage: reads.py FILE
"""
import mmap
import os
import subprocess
import sys

PAGE = 4096
STEP = 64 << 10


def main() -> None:
    path = sys.argv[1]
    file = os.open(path, os.O_RDONLY)
    direct = os.open(path, os.O_RDONLY | os.O_DIRECT)
    nowhere = os.memfd_create("nowhere")

    os.pread(file, PAGE, 0 * STEP)
    os.preadv(file, [bytearray(1000), bytearray(2 * PAGE - 1000)], 1 * STEP)
    os.lseek(file, 2 * STEP, os.SEEK_SET)
    os.read(file, 100)
    os.lseek(file, 3 * STEP, os.SEEK_SET)
    os.readv(file, [bytearray(PAGE)])
    os.preadv(direct, [mmap.mmap(-1, 4 * PAGE)], 4 * STEP)
    os.sendfile(nowhere, file, 5 * STEP, PAGE)
    for engine, step in (("io_uring", 6), ("libaio", 7)):
        subprocess.run(
            ["fio", "--name=x", f"--filename={path}", "--rw=read", f"--ioengine={engine}", "--readonly",
             "--direct=1", f"--offset={step * STEP}", f"--size={2 * PAGE}", f"--bs={2 * PAGE}", "--output=/dev/null"],
            check=True)


main()
