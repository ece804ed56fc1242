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
    # io_uring: by the process itself, by a worker of the kernel, by the kernel's thread that polls, and buffered
    # and not in the page cache, so that it is tried several times. One fio does all, in turn: on an emulated CPU
    # it takes longer to start than to read.
    jobs = []
    for step, pages, options in ((6, 2, ["io_uring", "--direct=1"]), (7, 2, ["libaio", "--direct=1"]),
                                 (8, 2, ["io_uring", "--direct=1", "--force_async=1"]),
                                 (9, 2, ["io_uring", "--direct=1", "--sqthread_poll=1"]),
                                 # fio asks again for what it did not get at once.
                                 (10, 1, ["io_uring", "--direct=0", "--invalidate=1"])):
        jobs += [f"--name=step{step}", "--stonewall", f"--filename={path}", "--rw=read", f"--offset={step * STEP}",
                 f"--size={pages * PAGE}", f"--bs={pages * PAGE}", f"--ioengine={options[0]}"] + options[1:]
    subprocess.run(["fio", "--readonly", "--output=/dev/null"] + jobs, check=True)
    # Page faults: a page is written to memory of this process only, one is read, one is read with read-ahead
    # around it; the second time they are no faults.
    copied, random, mapped = (mmap.mmap(file, 0, access=access)
                              for access in (mmap.ACCESS_COPY, mmap.ACCESS_READ, mmap.ACCESS_READ))
    copied.madvise(mmap.MADV_RANDOM)
    random.madvise(mmap.MADV_RANDOM)
    for _ in range(2):
        copied[11 * STEP] = 1
        random[12 * STEP]
        mapped[14 * STEP]


main()
