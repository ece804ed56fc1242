#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Random commands, hundreds at a time: rawhost-fuzz.py ROUNDS [SEED].

Each must be completed exactly once, with a status that exists, and the controller must
stay alive. PRPs point into memory of our own or to where there is no memory: a device is
allowed to write wherever a PRP points. For the same reason nothing that may be taken for a
PRP list ever holds an address of somebody else's: lists are overwritten by what the SSD
holds only, which is zeroes, 0xff or lists, and admin commands use pages of their own.
"""

import random
import struct
import sys
from typing import Dict

import rawhost
from rawhost import DATA_AT, PAGE, Host, sqe
from sentences import Late, say

# Beyond these no status is known to the specification.
GENERIC = set(range(0x00, 0x24)) | set(range(0x80, 0x86))
SPECIFIC = set(range(0x00, 0x2D)) | set(range(0x80, 0x84))
MEDIA = {0x80, 0x81, 0x85, 0x86, 0x87}
IO_PAGES, ADMIN_PAGE = 128, 0xC0000
LOG_PAGES = (1, 2, 3, 5, 9, 0x20, 0x21, 0x22, 0x23, 0xC0, 0xC1, 0xC2, 0xC3, 0xC4)
NSIDS = (0, 1, 1, 1, 1, 1, 1, 2, 3, 77, 0xFFFFFFFE, 0xFFFFFFFF)
NUMBERS = (0, 1, 2, 7, 8, 255, 4096, 0x7FFF, 0xFFFF, 0x10000, 2097151, 2097152, 0x7FFFFFFF,
           0xFFFFFFFF)


def is_status(status: int) -> bool:
    """Does the specification know this status?"""
    known = {0: GENERIC, 1: SPECIFIC, 2: MEDIA}.get(status >> 8, set())
    return status & 0xFF in known


class Fuzzer:
    """A source of commands."""

    def __init__(self, host: Host, seed: int) -> None:
        self.host = host
        self.random = random.Random(seed)

    def number(self) -> int:
        """A number that is likely to be a limit of something."""
        choice = self.random.random()
        if choice < 0.5:
            return self.random.choice(NUMBERS)
        return self.random.getrandbits(32) if choice < 0.7 else self.random.getrandbits(11)

    def prp(self, first: int, pages: int) -> int:
        """Mostly memory of ours, sometimes not aligned, sometimes no memory."""
        choice = self.random.random()
        address = first + PAGE * self.random.randrange(pages)
        if choice < 0.7:
            return address
        if choice < 0.9:
            return address + self.random.randrange(PAGE)
        return self.random.choice((0, 0xFEE00000, 1 << 45, 1 << 63, (1 << 64) - PAGE))

    def fill_lists(self) -> None:
        """PRP lists all over the data."""
        pages = [b"\xff" * PAGE]
        for _ in range(3):
            entries = [self.prp(self.host.data, IO_PAGES) for _ in range(512)]
            entries[511] &= ~0xFFF
            pages.append(struct.pack("<512Q", *entries))
        self.host.write(DATA_AT, b"".join(self.random.choices(pages, k=IO_PAGES)))

    def cdws(self) -> Dict[int, int]:
        """Random dwords behind the data pointer."""
        return {number: self.number() if self.random.random() < 0.5 else 0
                for number in range(10, 16)}

    def flags(self) -> int:
        """Fused and SGL bits now and then."""
        return self.random.getrandbits(8) if self.random.random() < 0.03 else 0

    def io(self) -> bytes:
        """A command for an I/O queue."""
        opcode = self.random.choice((0, 1, 1, 2, 2, 5, 8, 9, 0x0C, 0x12, 0x19, 0x1D, 0x81, 0x85,
                                     self.random.getrandbits(8)))
        cdw = self.cdws()
        if opcode == 0x12:
            return self.management_receive(cdw)
        if self.random.random() < 0.8:
            cdw[10], cdw[11] = self.random.getrandbits(21), 0
            cdw[12] = self.random.getrandbits(8) | self.random.getrandbits(16) << 16
        if opcode == 9:
            cdw[10], cdw[11] = self.random.getrandbits(8), self.random.getrandbits(3)
        if opcode == 0x1D:
            cdw[10] = self.random.getrandbits(2) | self.random.getrandbits(3) << 16
        if opcode in (0x81, 0x85):
            cdw[10] = self.random.getrandbits(self.random.choice((0, 1, 3, 16)))
        if opcode == 0x19 and self.random.random() < 0.7:
            cdw[12] = self.random.getrandbits(3)
        cdw[2], cdw[3] = self.number(), self.number() if self.random.random() < 0.2 else 0
        return sqe(opcode, self.random.choice(NSIDS), cdw, self.prp(self.host.data, IO_PAGES),
                   self.prp(self.host.data, IO_PAGES), self.flags())

    def management_receive(self, cdw: Dict[int, int]) -> bytes:
        """I/O Management Receive. Its data would make wild PRPs of a list, as that of admin
        commands would."""
        cdw[10], cdw[11] = self.random.choice((0, 1, 1, 1, 2, 0xFF)), self.random.randrange(1024)
        first = self.host.base + ADMIN_PAGE + DATA_AT
        return sqe(0x12, self.random.choice(NSIDS), cdw, self.prp(first, 16), self.prp(first, 16))

    def admin(self) -> bytes:
        """A command for the admin queue; not one that waits, nor one against our own queue."""
        opcode = self.random.choice((0, 1, 2, 2, 4, 5, 6, 6, 8, 9, 10, 0x80, self.random.getrandbits(8)))
        if opcode == 0x0C:
            opcode = 0x06
        cdw = self.cdws()
        if opcode in (0, 1, 4, 5):
            cdw[10] = self.random.choice((0, 2, 3, 16, 17, 0xFFFF)) | self.random.getrandbits(16) << 16
            cdw[11] = self.random.getrandbits(2) | self.random.choice((0, 1, 2, 3, 17)) << 16
        elif opcode == 2:
            # No longer than two pages: a third would make a list of the second.
            cdw[10] = self.random.choice((*LOG_PAGES, self.random.getrandbits(8))) | \
                self.random.randrange(1024) << 16
            cdw[11] = self.random.choice((0, 1 << 16, 2 << 16))
        elif self.random.random() < 0.7:
            cdw[10] = self.random.getrandbits(9)
        first = self.host.base + ADMIN_PAGE + DATA_AT
        return sqe(opcode, self.random.choice(NSIDS), cdw, self.prp(first, 16), self.prp(first, 16),
                   self.flags())


def one_round(host: Host, fuzzer: Fuzzer) -> int:
    """Some hundred commands at once; returns how many were right."""
    queue = host.make_queue(1)
    fuzzer.fill_lists()
    admin = [host.admin.put(fuzzer.admin()) for _ in range(50)]
    cids = [queue.put(fuzzer.io()) for _ in range(250)]
    queue.ring()
    host.admin.ring()
    bad = [hex(status) for status in
           [queue.wait(cid, 30).status for cid in cids] + [host.admin.wait(cid, 30).status for cid in admin]
           if not is_status(status)]
    if bad:
        raise Late(f"no status of NVMe: {bad}")
    if host.read32(0x1C) & 3 != 1:
        raise Late(f"CSTS is {host.read32(0x1C):#x}")
    host.enable()
    return len(admin) + len(cids)


def steps(host: Host) -> None:
    """Fuzz for as many rounds as were asked for."""
    rounds = int(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    fuzzer = Fuzzer(host, seed)
    sentence = "random commands are all completed once, with a status of NVMe"
    total = 0
    print(f"# seed {seed}", flush=True)
    try:
        for _ in range(rounds):
            total += one_round(host, fuzzer)
        say(sentence, total > 0)
    except Late as late:
        say(sentence, False, late)
    print(f"# {total} commands in {rounds} rounds")


if __name__ == "__main__":
    sys.exit(rawhost.run(steps))
