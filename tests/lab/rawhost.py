# SPDX-License-Identifier: GPL-2.0-only
"""Drive a virtual SSD from user space, through the module nvmev-rawhost.

Everything that a well-behaved driver never does can be done here: any 64 bytes can be
put into a queue, any PRP can point anywhere, any doorbell can be rung. The memory that
the device may reach is 2 MiB; the last half of it holds data, the first half queues.
"""

import os
import struct
import time
from typing import Callable, Dict, List, NamedTuple, Optional

import sentences
from sentences import Late, say

DEVICE = "/dev/nvmev-rawhost"
ADDRESS_AT = 0x10000
MEMORY_AT = 0x100000
DATA_AT = 0x100000
DOORBELLS_AT = 0x1000
ADMIN_DEPTH = 64
PAGE = 4096

CC_ENABLE = 4 << 20 | 6 << 16 | 1
CSTS_READY = 1
CSTS_FATAL = 2

# No machine of the lab has as much memory.
BEYOND_RAM = 1 << 45

OFFSET_INVALID = 0x13
TRANSFER_ERROR = 0x04
# Of a status: the error log has more about the command.
MORE = 0x2000


class Completion(NamedTuple):
    """What the device said about one command."""

    status: int
    result: int


def sqe(opcode: int, nsid: int = 0, cdw: Optional[Dict[int, int]] = None, prp1: int = 0,
        prp2: int = 0, flags: int = 0, cid: int = 0) -> bytes:
    """The 64 bytes of a command; cdw holds dwords by number."""
    dwords = [0] * 16
    dwords[0] = opcode | flags << 8 | cid << 16
    dwords[1] = nsid
    dwords[6:10] = [prp1 & 0xFFFFFFFF, prp1 >> 32, prp2 & 0xFFFFFFFF, prp2 >> 32]
    for number, value in (cdw or {}).items():
        dwords[number] = value & 0xFFFFFFFF
    return struct.pack("<16I", *dwords)


def rw(opcode: int, slba: int, nr_lbas: int, prp1: int, prp2: int = 0, flags: int = 0) -> bytes:
    """A command of the NVM command set with a range of LBAs in namespace 1."""
    return sqe(opcode, 1, {10: slba, 11: slba >> 32, 12: nr_lbas - 1}, prp1, prp2, flags)


class Queue:
    """A submission queue and the completion queue of the same number.

    has_more is of the completion that was consumed last.
    """

    def __init__(self, host: "Host", number: int, depth: int, sq_at: int, cq_at: int,
                 cq_depth: int = 0) -> None:
        self.host, self.number, self.depth = host, number, depth
        self.cq_depth = cq_depth or depth
        self.sq_at, self.cq_at = sq_at, cq_at
        self.tail = self.head = 0
        self.phase = 1
        self.next_cid = 0
        self.has_more = False
        self.done: Dict[int, List[Completion]] = {}
        host.write(cq_at, bytes(16 * self.cq_depth))

    def put(self, command: bytes) -> int:
        """Put a command into the queue without ringing; returns its identifier."""
        cid = self.next_cid
        self.next_cid = (cid + 1) % 0x8000
        command = command[:2] + struct.pack("<H", cid) + command[4:]
        self.host.write(self.sq_at + 64 * self.tail, command)
        self.tail = (self.tail + 1) % self.depth
        return cid

    def ring(self) -> None:
        """Tell the device of what was put."""
        self.host.write32(DOORBELLS_AT + 8 * self.number, self.tail)

    def is_next_there(self) -> bool:
        """Is there a completion to be consumed?"""
        status: int = struct.unpack("<H", self.host.read(self.cq_at + 16 * self.head + 14, 2))[0]
        return status & 1 == self.phase

    def take(self, limit: int = 0) -> int:
        """Consume completions, at most limit of them (0: all there are)."""
        taken = 0
        while not limit or taken < limit:
            entry = self.host.read(self.cq_at + 16 * self.head, 16)
            result, _, cid, status = struct.unpack("<QIHH", entry)
            if status & 1 != self.phase:
                break
            self.has_more = bool(status >> 1 & MORE)
            self.done.setdefault(cid, []).append(Completion((status >> 1) & 0x7FF, result))
            taken += 1
            self.head += 1
            if self.head == self.cq_depth:
                self.head, self.phase = 0, self.phase ^ 1
        if taken:
            self.host.write32(DOORBELLS_AT + 8 * self.number + 4, self.head)
        return taken

    def wait(self, cid: int, seconds: float = 10) -> Completion:
        """Wait until a command is complete; exactly once is right."""
        deadline = time.monotonic() + seconds
        while cid not in self.done:
            if not self.take() and time.monotonic() > deadline:
                raise Late(f"command {cid} of queue {self.number} is not complete")
            time.sleep(0.0005)
        found = self.done.pop(cid)
        if len(found) != 1:
            raise Late(f"command {cid} was completed {len(found)} times")
        return found[0]

    def run(self, command: bytes, seconds: float = 10) -> Completion:
        """Put, ring, wait."""
        cid = self.put(command)
        self.ring()
        return self.wait(cid, seconds)


class Host:
    """The driver: registers, memory, and the admin queue."""

    def __init__(self) -> None:
        self.fd = os.open(DEVICE, os.O_RDWR)
        self.base = struct.unpack("<Q", os.pread(self.fd, 8, ADDRESS_AT))[0]
        self.data = self.base + DATA_AT
        self.admin = self.enable()

    def read(self, at: int, size: int) -> bytes:
        """Read memory."""
        return os.pread(self.fd, size, MEMORY_AT + at)

    def write(self, at: int, raw: bytes) -> None:
        """Write memory."""
        os.pwrite(self.fd, raw, MEMORY_AT + at)

    def read32(self, at: int) -> int:
        """Read a register."""
        return struct.unpack("<I", os.pread(self.fd, 4, at))[0]

    def write32(self, at: int, value: int) -> None:
        """Write a register."""
        os.pwrite(self.fd, struct.pack("<I", value), at)

    def wait_status(self, mask: int, value: int, seconds: float = 10) -> None:
        """Wait for the controller status register."""
        deadline = time.monotonic() + seconds
        while self.read32(0x1C) & mask != value:
            if time.monotonic() > deadline:
                raise Late(f"CSTS is {self.read32(0x1C):#x}, and not {value:#x} in {mask:#x}")
            time.sleep(0.002)

    def disable(self) -> None:
        """Reset the controller."""
        self.write32(0x14, 0)
        self.wait_status(CSTS_READY | CSTS_FATAL, 0)

    def set_admin_registers(self, asq: int, acq: int, aqa: int) -> None:
        """Where the admin queues are, right or wrong."""
        self.write32(0x24, aqa)
        os.pwrite(self.fd, struct.pack("<Q", asq), 0x28)
        os.pwrite(self.fd, struct.pack("<Q", acq), 0x30)

    def enable(self) -> Queue:
        """Start the controller with new admin queues."""
        self.disable()
        last = ADMIN_DEPTH - 1
        self.set_admin_registers(self.base, self.base + PAGE, last << 16 | last)
        admin = Queue(self, 0, ADMIN_DEPTH, 0, PAGE)
        self.write32(0x14, CC_ENABLE)
        self.wait_status(CSTS_READY | CSTS_FATAL, CSTS_READY)
        self.admin = admin
        return admin

    def make_cq(self, number: int, depth: int, cq_at: int) -> Completion:
        """Create a completion queue."""
        return self.admin.run(sqe(0x05, cdw={10: number | (depth - 1) << 16, 11: 1},
                                  prp1=self.base + cq_at))

    def make_sq(self, number: int, depth: int, sq_at: int) -> Completion:
        """Create the submission queue that goes with it."""
        return self.admin.run(sqe(0x01, cdw={10: number | (depth - 1) << 16,
                                             11: number << 16 | 1}, prp1=self.base + sq_at))

    def make_queue(self, number: int = 1, depth: int = 256, cq_depth: int = 0) -> Queue:
        """Create a pair of queues; 4 fit beside each other."""
        sq_at = 0x10000 + (number - 1) * 0x20000
        cq_at = sq_at + 0x10000
        queue = Queue(self, number, depth, sq_at, cq_at, cq_depth)
        for done in (self.make_cq(number, cq_depth or depth, cq_at),
                     self.make_sq(number, depth, sq_at)):
            if done.status:
                raise Late(f"queue {number} was refused with {done.status:#x}")
        return queue

    def drop_queue(self, number: int = 1) -> List[int]:
        """Delete a pair of queues; the statuses of both deletions."""
        return [self.admin.run(sqe(opcode, cdw={10: number})).status for opcode in (0x00, 0x04)]


def expect(sentence: str, status: int, wanted: int) -> None:
    """A status must be this one."""
    say(f"{sentence}: {wanted:#05x}", status == wanted, f"it was {status:#05x}")


def run(steps: Callable[[Host], None]) -> int:
    """Do the steps as the driver of a device, which is reset at the end; the status for the
    shell."""
    def with_host() -> None:
        host = Host()
        steps(host)
        host.disable()

    return sentences.run(with_host)
