#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A disk in memory whose discards take long, as those of many drives do; the rest is fast.

Usage: nbd-slow.py /dev/nbdN MIB MILLISECONDS

Each discard takes so long, and any number of them at the same time. Ends when the disk is
disconnected, or with a signal.
"""

import fcntl
import mmap
import os
import socket
import struct
import sys
import threading

NBD_SET_SOCK, NBD_SET_BLKSIZE, NBD_DO_IT = 0xAB00, 0xAB01, 0xAB03
NBD_SET_SIZE_BLOCKS, NBD_SET_FLAGS = 0xAB07, 0xAB0A
# There are flags; the disk knows flushes, FUA and discards
FLAGS = 1 | 4 | 8 | 32
READ, WRITE, DISCONNECT, FLUSH, DISCARD = range(5)
REQUEST = struct.Struct(">IHH8sQI")
REPLY = struct.Struct(">II8s")


class Disk:
    def __init__(self, connection: socket.socket, mib: int, discard_ms: float) -> None:
        self.connection, self.discard_ms = connection, discard_ms
        self.data = mmap.mmap(-1, mib << 20)
        self.lock = threading.Lock()

    def reply(self, handle: bytes, data: bytes = b"") -> None:
        with self.lock:
            self.connection.sendall(REPLY.pack(0x67446698, 0, handle) + data)

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
                self.data[at : at + length] = self.receive(length)
                self.reply(handle)
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
    threading.Thread(target=Disk(here, mib, discard_ms).serve, daemon=True).start()
    fcntl.ioctl(device, NBD_DO_IT)


main()
