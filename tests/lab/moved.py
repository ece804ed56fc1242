#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Read a page of a device with O_DIRECT; what did the host get, and where?

moved.py DEVICE PAGE    prints CRC32C and physical address of the 4 KiB that were read, as
                        the tracepoint nvmev_move prints them
"""

import ctypes
import mmap
import os
import struct
import sys

PAGE_BYTES = 4096
PFN_MASK = (1 << 55) - 1


def crc32c(data: bytes) -> int:
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def physical(buffer: mmap.mmap) -> int:
    """Where the kernel has put the buffer; it was touched."""
    address = ctypes.addressof(ctypes.c_char.from_buffer(buffer))
    with open("/proc/self/pagemap", "rb") as pagemap:
        pagemap.seek(address // PAGE_BYTES * 8)
        (entry,) = struct.unpack("<Q", pagemap.read(8))
    return (entry & PFN_MASK) * PAGE_BYTES


def main() -> int:
    device, page = sys.argv[1], int(sys.argv[2])
    buffer = mmap.mmap(-1, PAGE_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    buffer.write(b"\xff" * PAGE_BYTES)
    file = os.open(device, os.O_RDONLY | os.O_DIRECT)
    if os.preadv(file, [buffer], page * PAGE_BYTES) != PAGE_BYTES:
        raise OSError("The read was short.")
    print(f"prp1={physical(buffer):#x} crc32c={crc32c(buffer[:]):#010x}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
