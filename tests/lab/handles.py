#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What an NVMe device itself says of the placement handles of a namespace, by its driver's ioctl.

handles.py DEVICE left              blocks that the reclaim unit of each handle has room for
handles.py DEVICE unit              bytes of a reclaim unit
handles.py DEVICE bytes             bytes written by the host, and to the media, in all
handles.py DEVICE usage             attribute of each handle of the endurance group
handles.py DEVICE events            those of the host: type, identifier and handle of each
handles.py DEVICE watch             from now on, events of reclaim units that are not filled
handles.py DEVICE give-up HANDLE    the reclaim unit of a handle
handles.py DEVICE begin KIB FILE...
    write one piece of KIB to each file, with O_DIRECT. For each: the handle that it went to, as far
    as the device says, or all that changed.
handles.py DEVICE write FILE KIB NUMBER... [OTHER KIB FIRST]
    the same for pieces with these numbers of one file; after each, another piece goes to OTHER,
    from piece FIRST on.
handles.py DEVICE read FILE KIB COUNT
    its first pieces, which must be as they were written.
"""

import ctypes
import fcntl
import mmap
import os
import struct
import sys
from typing import List, Tuple

ADMIN_CMD, IO_CMD = 0xC0484E41, 0xC0484E43
GET_LOG, SET_FEATURES, IO_MGMT_RECEIVE, IO_MGMT_SEND = 0x02, 0x09, 0x12, 0x1D
FEATURE_EVENTS, EVENT_NOT_FILLED = 0x1E, 0
LOG_CONFIGS, LOG_USAGE, LOG_STATISTICS, LOG_EVENTS = 0x20, 0x21, 0x22, 0x23
EVENTS_OF_HOST = 1
GROUP = 1
PAGE_BYTES = 4096
BLOCK_BYTES = 512


class Namespace:
    """A namespace, as its device describes it."""

    def __init__(self, path: str) -> None:
        self.fd = os.open(path, os.O_RDONLY)
        self.nsid = fcntl.ioctl(self.fd, 0x4E40)
        # One whole page: of two, the driver makes a list, of whose length QEMU wants every byte.
        self.page = mmap.mmap(-1, PAGE_BYTES)

    def command(self, request: int, opcode: int, nsid: int, nbytes: int, *dwords: int) -> bytes:
        """One command, whose data is in the page before or afterwards."""
        address = ctypes.addressof(ctypes.c_char.from_buffer(self.page))
        command = bytearray(struct.pack("<BBHIII QQII 6I II", opcode, 0, 0, nsid, 0, 0,
                                        0, address, 0, nbytes,
                                        *(dwords + (0,) * 6)[:6], 0, 0))
        status = fcntl.ioctl(self.fd, request, command)
        if status:
            raise OSError(f"Opcode {opcode:#x} ended with {status:#x}.")
        return self.page[:]

    def watch(self) -> None:
        """Let events be logged that say that a reclaim unit was not filled."""
        for handle in range(len(self.left())):
            self.page[0] = EVENT_NOT_FILLED
            self.command(ADMIN_CMD, SET_FEATURES, self.nsid, 1, FEATURE_EVENTS, 1 << 16 | handle, 1)

    def give_up(self, handle: int) -> None:
        """Let a handle have another reclaim unit."""
        self.page[:2] = struct.pack("<H", handle)
        self.command(IO_CMD, IO_MGMT_SEND, self.nsid, 2, 1)

    def log(self, page: int, specific: int = 0) -> bytes:
        """A log page of the endurance group."""
        return self.command(ADMIN_CMD, GET_LOG, 0, PAGE_BYTES,
                            (PAGE_BYTES // 4 - 1) << 16 | specific << 8 | page, GROUP << 16)

    def left(self) -> List[int]:
        """Blocks left of each handle's reclaim unit, in the order of the namespace's identifiers"""
        answer = self.command(IO_CMD, IO_MGMT_RECEIVE, self.nsid, PAGE_BYTES,
                              1, PAGE_BYTES // 4 - 1)
        count = struct.unpack_from("<H", answer, 14)[0]
        entries = [struct.unpack_from("<HH4xQ", answer, 16 + 32 * i) for i in range(count)]
        if [pid for pid, _, _ in entries] != list(range(count)):
            raise ValueError(f"The identifiers are not in order: {entries}")
        return [blocks for _, _, blocks in entries]

    def unit(self) -> int:
        """Bytes of a reclaim unit of the first configuration."""
        return struct.unpack_from("<Q", self.log(LOG_CONFIGS), 16 + 16)[0]

    def usage(self) -> List[int]:
        """Who uses each handle of the endurance group: 1, the host; 2, the device."""
        page = self.log(LOG_USAGE)
        return [page[8 + 8 * i] for i in range(struct.unpack_from("<H", page)[0])]

    def events(self) -> List[Tuple[int, int, int]]:
        """Type, identifier and handle of each event of the host."""
        page = self.log(LOG_EVENTS, EVENTS_OF_HOST)
        places = [64 * (i + 1) for i in range(struct.unpack_from("<I", page)[0])]
        return [(page[at], *struct.unpack_from("<H", page, at + 2),
                 *struct.unpack_from("<H", page, at + 34)) for at in places]


Piece = Tuple[str, int, int]


def placed(before: List[int], after: List[int], unit_blocks: int, blocks: int) -> str:
    """The handle that took so many blocks, or what has changed instead."""
    taken = {i: (b - a) % unit_blocks for i, (b, a) in enumerate(zip(before, after)) if a != b}
    if list(taken.values()) == [blocks]:
        return str(next(iter(taken)))
    return "+".join(f"{handle}:{count}" for handle, count in taken.items()) or "-"


def write_piece(path: str, kib: int, number: int) -> None:
    """A piece whose bytes say which it is, as a call of its own."""
    nbytes = kib << 10
    piece = mmap.mmap(-1, nbytes)
    piece.write(struct.pack("<Q", number) * (nbytes // 8))
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_DIRECT, 0o644)
    try:
        if os.pwrite(file, piece, number * nbytes) != nbytes:
            sys.exit(f"{path}: not all was written.")
    finally:
        os.close(file)


def read_pieces(path: str, kib: int, count: int) -> None:
    """The first pieces of a file, of which each must say its number, and nothing else."""
    with open(path, "rb") as file:
        for number in range(count):
            if file.read(kib << 10) != struct.pack("<Q", number) * (kib << 7):
                sys.exit(f"{path}: piece {number} is not what was written.")


def write_pieces(namespace: Namespace, pieces: List[Piece], others: List[Piece]) -> str:
    """Write pieces, and after each one of the others, and see where each has gone."""
    unit_blocks = namespace.unit() // BLOCK_BYTES
    handles = []
    for i, (path, kib, number) in enumerate(pieces):
        before = namespace.left()
        write_piece(path, kib, number)
        handles.append(placed(before, namespace.left(), unit_blocks, (kib << 10) // BLOCK_BYTES))
        if others:
            write_piece(*others[i])
    return " ".join(handles)


def write(namespace: Namespace, words: List[str]) -> str:
    """FILE KIB NUMBER... [OTHER KIB FIRST]"""
    path, kib = words[0], int(words[1])
    other = words[-3:] if not words[-3].isdigit() else []
    pieces = [(path, kib, int(word)) for word in words[2:len(words) - len(other)]]
    others = [(other[0], int(other[1]), int(other[2]) + i) for i in range(len(pieces)) if other]
    return write_pieces(namespace, pieces, others)


def main() -> None:
    """Answer what is asked for, in one line."""
    namespace = Namespace(sys.argv[1])
    verb, words = sys.argv[2], sys.argv[3:]
    if verb == "write":
        print(write(namespace, words))
    elif verb == "begin":
        print(write_pieces(namespace, [(path, int(words[0]), 0) for path in words[1:]], []))
    elif verb == "bytes":
        print(*struct.unpack_from("<Q8xQ", namespace.log(LOG_STATISTICS)))
    elif verb == "read":
        read_pieces(words[0], int(words[1]), int(words[2]))
    elif verb == "unit":
        print(namespace.unit())
    elif verb == "watch":
        namespace.watch()
    elif verb == "give-up":
        namespace.give_up(int(words[0]))
    elif verb == "events":
        print(*("%d:%d:%d" % event for event in namespace.events()))
    else:
        print(*(namespace.left() if verb == "left" else namespace.usage()))


main()
