#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Random admin and I/O commands through the ioctls of the stock driver:
nvme-fuzz.py CONTROLLER NAMESPACE COMMANDS [SEED]

Left out is what the driver itself could not bear: queue commands, asynchronous event
requests, and transfers longer than the buffer it has mapped for them.
"""

import ctypes
import fcntl
import mmap
import os
import random
import struct
import sys
from typing import Dict

import sentences
from sentences import say

ADMIN_CMD, IO_CMD = 0xC0484E41, 0xC0484E43
FORMAT = "<BBHIIIQQII6III"
LOG_PAGES = (1, 2, 3, 5, 9, 0x20, 0x21, 0x22, 0x23, 0xC0, 0xC1, 0xC2, 0xC3, 0xC4)
LEFT_OUT = {0x00, 0x01, 0x04, 0x05, 0x0C}
BUFFER_BYTES = 1 << 20


class Fuzzer:
    """A source of commands, and the two files to send them to."""

    def __init__(self, controller: str, namespace: str, seed: int) -> None:
        self.random = random.Random(seed)
        self.controller = os.open(controller, os.O_RDONLY)
        self.namespace = os.open(namespace, os.O_RDONLY)
        self.buffer = mmap.mmap(-1, BUFFER_BYTES)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.buffer))
        self.statuses: Dict[int, int] = {}

    def send(self, fd: int, request: int, opcode: int, nsid: int, cdw: Dict[int, int],
             data_bytes: int) -> None:
        """Send one command. An errno is as good an answer as a status."""
        raw = bytearray(struct.pack(
            FORMAT, opcode, 0, 0, nsid, cdw.get(2, 0), cdw.get(3, 0), 0,
            self.address if data_bytes else 0, 0, data_bytes,
            *(cdw.get(i, 0) & 0xFFFFFFFF for i in range(10, 16)), 10000, 0))
        try:
            status = fcntl.ioctl(fd, request, raw)
        except OSError as error:
            status = -(error.errno or 0)
        self.statuses[status] = self.statuses.get(status, 0) + 1

    def cdws(self) -> Dict[int, int]:
        """Random dwords."""
        return {i: self.random.getrandbits(self.random.choice((1, 4, 8, 16, 32)))
                for i in range(10, 16) if self.random.random() < 0.4}

    def admin(self) -> None:
        """One admin command."""
        opcode = self.random.choice((2, 2, 6, 6, 8, 9, 10, self.random.getrandbits(8)))
        if opcode in LEFT_OUT or self.random.random() < 0.01:
            opcode = 0x80
        cdw, nbytes = self.cdws(), 4096
        if opcode == 2:
            dwords = self.random.choice((1, 16, 128, 1024, 65536))
            cdw[10] = self.random.choice((*LOG_PAGES, self.random.getrandbits(8))) | (dwords - 1) << 16
            cdw[11], nbytes = self.random.choice((0, 1 << 16, 2 << 16)), dwords * 4
        elif opcode == 8:
            cdw[10] = self.random.getrandbits(32) | 1
        elif opcode == 9:
            # Not what takes the driver's own events, vectors or queues away.
            cdw[10] = self.random.choice((1, 2, 4, 5, 6, 8, 0x0E, 0x10, 0x7F, 0x101))
        elif self.random.random() < 0.7:
            cdw[10] = self.random.getrandbits(9)
        if opcode == 0x80:
            cdw[10] = self.random.choice((0, 0, 2, 1 << 4, 2 << 9, 0xFFFF))
        self.send(self.controller, ADMIN_CMD, opcode,
                  self.random.choice((0, 1, 2, 0xFFFFFFFE, 0xFFFFFFFF)), cdw, nbytes)

    def io(self) -> None:
        """One I/O command, as long as its buffer or without one."""
        opcode = self.random.choice((0, 1, 1, 2, 2, 5, 8, 9, 0x0C, 0x12, 0x19, 0x1D, 0x81, 0x85,
                                     self.random.getrandbits(8)))
        nr_lbas = self.random.choice((1, 8, 64, 2048, 1 + self.random.getrandbits(11)))
        cdw = self.cdws()
        cdw[10] = self.random.getrandbits(self.random.choice((8, 21, 22, 32)))
        cdw[12] = nr_lbas - 1 | self.random.getrandbits(16) << 16
        nbytes = min(nr_lbas * 512, BUFFER_BYTES)
        if opcode == 9:
            cdw[10], nbytes = self.random.getrandbits(8), 4096
        if opcode == 0x12:
            cdw[10], cdw[11], nbytes = self.random.choice((0, 1, 1, 2)), self.random.getrandbits(10), 4096
        if opcode == 0x1D:
            cdw[10], nbytes = self.random.getrandbits(2) | self.random.getrandbits(3) << 16, 4096
        if opcode in (0x81, 0x85):
            cdw[10], nbytes = self.random.getrandbits(7), 4096
        if self.random.random() < 0.1:
            nbytes = 0
        self.send(self.namespace, IO_CMD, opcode, 1, cdw, nbytes)

    def fill(self) -> None:
        """New contents, random at the front: ranges for Dataset Management."""
        self.buffer[0:4096] = self.random.randbytes(4096)


def steps() -> None:
    """Send as many commands as were asked for; the device must still answer."""
    controller, namespace, commands = sys.argv[1], sys.argv[2], int(sys.argv[3])
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    print(f"# seed {seed}", flush=True)
    fuzzer = Fuzzer(controller, namespace, seed)
    for number in range(commands):
        if number % 256 == 0:
            fuzzer.fill()
        if fuzzer.random.random() < 0.3:
            fuzzer.admin()
        else:
            fuzzer.io()
    print(f"# {commands} commands, {len(fuzzer.statuses)} kinds of answers")
    say("random commands through the stock driver", fuzzer.statuses.get(0, 0) > 0 and len(fuzzer.statuses) > 5)


if __name__ == "__main__":
    sys.exit(sentences.run(steps))
