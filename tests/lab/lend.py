#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Send a target a message, and when a line comes, have the memory that it has taken for that swapped out.

Usage: lend.py NAME WORD...

Says "sent", then how many pairs of pages these are, and how many of them are in swap, and lives on until its
input ends: the memory is its own.
"""
import ctypes
import fcntl
import struct
import sys
import time

DM_TARGET_MSG = 3 << 30 | 312 << 16 | 0xFD << 8 | 14
MADV_PAGEOUT = 21
PAGE = 4096


def pages() -> set[int]:
    """Addresses of all pages of this process that are no file's."""
    with open("/proc/self/maps", encoding="ascii") as maps:
        rows = [line.split() for line in maps]
    spans = [[int(end, 16) for end in row[0].split("-")] for row in rows if len(row) == 5]
    return {page for begin, end in spans for page in range(begin, end, PAGE)}


def is_swapped(page: int) -> bool:
    """Is a page in swap?"""
    with open("/proc/self/pagemap", "rb") as pagemap:
        pagemap.seek(page // PAGE * 8)
        return bool(struct.unpack("Q", pagemap.read(8))[0] >> 62 & 1)


def send(name: str, words: list[str]) -> None:
    """Send a target that begins at sector 0 a message."""
    message = struct.pack("Q", 0) + " ".join(words).encode() + b"\0"
    head = struct.pack("10IQ128s129s7x", 4, 0, 0, 312 + 4096, 312, 0, 0, 0, 0, 0, 0, name.encode(), b"")
    with open("/dev/mapper/control", "rb") as control:
        fcntl.ioctl(control, DM_TARGET_MSG, bytearray(head + message.ljust(4096, b"\0")))


def main() -> None:
    """See above."""
    libc = ctypes.CDLL(None)
    before = pages()
    send(sys.argv[1], sys.argv[2:])
    new = pages() - before
    # Two pages, and what Python may have taken meanwhile
    lent = [page for page in new if {page - PAGE, page, page + PAGE, page + 2 * PAGE} & new == {page, page + PAGE}]
    print("sent", flush=True)
    sys.stdin.readline()
    # At first they are written. When they have been read, and are the same in swap, they go from memory.
    for page in lent * 2:
        ctypes.string_at(page)
        ctypes.string_at(page + PAGE)
        libc.madvise(ctypes.c_void_p(page), ctypes.c_size_t(2 * PAGE), MADV_PAGEOUT)
        time.sleep(0.5)
    print(len(lent), sum(is_swapped(page) or is_swapped(page + PAGE) for page in lent), flush=True)
    sys.stdin.read()


main()
