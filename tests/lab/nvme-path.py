#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A path to an NVMe/TCP target, which can be lost: kill this program.

Usage: nvme-path.py PORT ADDRESS TARGET-PORT

Listens on PORT of this host and hands on what goes either way, but for one bit: namespaces are
announced as shared (NMIC), as those of a drive with two ports are. Without that bit the host takes
what it finds behind another path for another namespace, and the virtual SSD has one port only.
"""

import socket
import struct
import sys
import threading

# PDU types, and where their fields lie
CAPSULE_CMD, C2H_DATA = 4, 7
HEADER = struct.Struct("<BBBBI")
IDENTIFY, CNS_NAMESPACE = 0x06, 0
NMIC_AT, NMIC_SHARED = 30, 1


def receive(connection: socket.socket, length: int) -> bytearray:
    data = bytearray(length)
    view, at = memoryview(data), 0
    while at < length:
        got = connection.recv_into(view[at:])
        if not got:
            raise ConnectionError
        at += got
    return data


def next_pdu(connection: socket.socket) -> bytearray:
    header = receive(connection, HEADER.size)
    return header + receive(connection, HEADER.unpack(header)[4] - HEADER.size)


class Path:
    """One connection: one queue."""

    def __init__(self, host: socket.socket, target: socket.socket) -> None:
        self.host, self.target = host, target
        self.identifies: set[int] = set()
        self.is_admin = False
        for run in (self.to_target, self.to_host):
            threading.Thread(target=self.pump, args=(run,), daemon=True).start()

    def pump(self, run) -> None:
        try:
            while True:
                run()
        except OSError:
            for end in (self.host, self.target):
                end.close()

    def to_target(self) -> None:
        pdu = next_pdu(self.host)
        if pdu[0] == CAPSULE_CMD:
            sqe = pdu[HEADER.size : HEADER.size + 64]
            opcode, cid, cdw10 = sqe[0], struct.unpack_from("<H", sqe, 2)[0], sqe[40]
            # Fabrics Connect says which queue this is: QID 0 is that of the admin commands.
            if opcode == 0x7F and sqe[4] == 0x01:
                self.is_admin = struct.unpack_from("<H", sqe, 42)[0] == 0
            if self.is_admin and opcode == IDENTIFY and cdw10 == CNS_NAMESPACE:
                self.identifies.add(cid)
        self.target.sendall(pdu)

    def to_host(self) -> None:
        pdu = next_pdu(self.target)
        if pdu[0] == C2H_DATA:
            cid, offset = struct.unpack_from("<H", pdu, 8)[0], struct.unpack_from("<I", pdu, 12)[0]
            if cid in self.identifies and offset == 0:
                self.identifies.remove(cid)
                pdu[pdu[3] + NMIC_AT] |= NMIC_SHARED
        self.host.sendall(pdu)


def main() -> None:
    port, address, target_port = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    with socket.create_server(("127.0.0.1", port)) as server:
        while True:
            host, _ = server.accept()
            target = socket.create_connection((address, target_port))
            for end in (host, target):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            Path(host, target)


main()
