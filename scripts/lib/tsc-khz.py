#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print the rate of this machine's time stamp counter in kHz.

An emulated CPU reads the host's counter, and a guest which is pre-empted while
it calibrates the counter runs with a wrong clock: so tell it the rate.
"""

import ctypes
import mmap
import time

# rdtsc; shl rdx, 32; or rax, rdx; ret
READ_TSC = b"\x0f\x31\x48\xc1\xe2\x20\x48\x09\xd0\xc3"


def main() -> None:
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(READ_TSC)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    read_tsc = ctypes.CFUNCTYPE(ctypes.c_uint64)(address)

    ticks, begin_ns = read_tsc(), time.monotonic_ns()
    time.sleep(0.5)
    ticks, elapsed_ns = read_tsc() - ticks, time.monotonic_ns() - begin_ns
    print(ticks * 1_000_000 // elapsed_ns)


if __name__ == "__main__":
    main()
