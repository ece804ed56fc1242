#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A disk in memory whose discards take long, as those of many drives do; the rest is fast.

Usage: nbd-slow.py /dev/nbdN MIB MILLISECONDS [FILE SECONDS]

Each discard takes so long, and any number of them at the same time. While there is FILE, a write of
a root of log mode takes SECONDS and fails, though it is done: a path that is lost before the answer
comes has that look. Ends when the disk is disconnected, or with a signal.
"""

import fcntl
import mmap
import os
import socket
import struct
import sys
import threading
from pathlib import Path

NBD_SET_SOCK, NBD_SET_BLKSIZE, NBD_DO_IT = 0xAB00, 0xAB01, 0xAB03
NBD_SET_SIZE_BLOCKS, NBD_SET_FLAGS = 0xAB07, 0xAB0A
# There are flags; the disk knows flushes, FUA and discards
FLAGS = 1 | 4 | 8 | 32
READ, WRITE, DISCONNECT, FLUSH, DISCARD = range(5)
REQUEST = struct.Struct(">IHH8sQI")
REPLY = struct.Struct(">II8s")
EIO = 5
ROOT = b"mDRt"


class Disk:
    def __init__(
        self, connection: socket.socket, mib: int, discard_ms: float, lies: list[str]
    ) -> None:
        self.connection, self.discard_ms = connection, discard_ms
        self.file = Path(lies[0]) if lies else None
        self.root_s = float(lies[1]) if lies else 0.0
        self.data = mmap.mmap(-1, mib << 20)
        self.lock = threading.Lock()

    def reply(self, handle: bytes, data: bytes = b"", error: int = 0) -> None:
        with self.lock:
            self.connection.sendall(REPLY.pack(0x67446698, error, handle) + data)

    def is_lie(self, data: bytes) -> bool:
        return self.file is not None and data[4:8] == ROOT and self.file.exists()

    def write(self, handle: bytes, at: int, data: bytes) -> None:
        self.data[at : at + len(data)] = data
        if self.is_lie(data):
            threading.Timer(self.root_s, self.reply, [handle, b"", EIO]).start()
        else:
            self.reply(handle)

    def receive(self, length: int) -> bytes:
        data = bytearray(length)
        view, at = memoryview(data), 0
        while at < length:
            got = self.connection.recv_into(view[at:])
            if not got:
                os._exit(0)
            at += got
        return bytes(data)

    def serve(self) -> None:
        while True:
            _, _, kind, handle, at, length = REQUEST.unpack(self.receive(REQUEST.size))
            if kind == READ:
                self.reply(handle, self.data[at : at + length])
            elif kind == WRITE:
                self.write(handle, at, self.receive(length))
            elif kind == FLUSH:
                self.reply(handle)
            elif kind == DISCARD:
                threading.Timer(self.discard_ms / 1000, self.reply, [handle]).start()
            else:
                os._exit(0)


def main() -> None:
    path, mib, discard_ms = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    here, there = socket.socketpair()
    device = os.open(path, os.O_RDWR)
    fcntl.ioctl(device, NBD_SET_BLKSIZE, 4096)
    fcntl.ioctl(device, NBD_SET_SIZE_BLOCKS, (mib << 20) // 4096)
    fcntl.ioctl(device, NBD_SET_FLAGS, FLAGS)
    fcntl.ioctl(device, NBD_SET_SOCK, there.fileno())
    threading.Thread(target=Disk(here, mib, discard_ms, sys.argv[4:]).serve, daemon=True).start()
    fcntl.ioctl(device, NBD_DO_IT)


main()
