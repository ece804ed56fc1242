#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Write to a block device with a write stream, by io_uring (Linux 6.16 and later):
stream.py DEVICE STREAM FIRST_BYTE BYTES"""

import ctypes
import mmap
import os
import struct
import sys

SYS_SETUP, SYS_ENTER = 425, 426
PARAMS_BYTES, SQE_BYTES = 120, 64
SQ_RING_AT, CQ_RING_AT, SQES_AT = 0, 0x8000000, 0x10000000
OP_WRITE, GETEVENTS = 23, 1


def syscall(*numbers: object) -> int:
    """A system call that must not fail."""
    result = ctypes.CDLL(None, use_errno=True).syscall(*numbers)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def ring_map(fd: int, nbytes: int, at: int) -> mmap.mmap:
    """A part of the ring's memory."""
    return mmap.mmap(fd, nbytes, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE, offset=at)


def main() -> int:
    """One write of random bytes; the status says whether all were written."""
    device, stream, first, nbytes = sys.argv[1], *map(int, sys.argv[2:5])
    fd = os.open(device, os.O_RDWR | os.O_DIRECT)
    data = mmap.mmap(-1, nbytes)
    data.write(os.urandom(nbytes))
    address = ctypes.addressof(ctypes.c_char.from_buffer(data))

    params = (ctypes.c_uint8 * PARAMS_BYTES)()
    ring = syscall(SYS_SETUP, 1, ctypes.byref(params))
    # Behind ten words come ten with offsets in the submission ring, and ten in the other.
    tail, array = (struct.unpack_from("<I", params, 40 + 4 * word)[0] for word in (1, 6))
    entries_at = struct.unpack_from("<I", params, 80 + 4 * 5)[0]
    submissions = ring_map(ring, mmap.PAGESIZE, SQ_RING_AT)
    completions = ring_map(ring, mmap.PAGESIZE, CQ_RING_AT)
    sqes = ring_map(ring, mmap.PAGESIZE, SQES_AT)
    sqes[:SQE_BYTES] = struct.pack("<BBHiQQIIQHHB3xQQ", OP_WRITE, 0, 0, fd, first, address, nbytes,
                                   0, 1, 0, 0, stream, 0, 0)
    struct.pack_into("<I", submissions, array, 0)
    struct.pack_into("<I", submissions, tail, 1)
    syscall(SYS_ENTER, ring, 1, 1, GETEVENTS, None, 0)
    written = struct.unpack_from("<i", completions, entries_at + 8)[0]
    if written != nbytes:
        print(f"The write ended with {written}: {os.strerror(max(-written, 0))}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
