#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Hints made by hand, and where the SSD's FTL put each page.

hints.py DEVICE DEBUGFS_DIR: the device is new and has 512-byte blocks. Prints
"ok - SENTENCE" or "not ok - SENTENCE".
"""

import ctypes
import fcntl
import mmap
import os
import random
import struct
import sys
import time
from typing import Dict, List, Optional, Tuple

import sentences
from sentences import say as check

PAGE = 4096
LBAS = PAGE // 512
APPEND = 1 << 24
OVERWRITE = 1 << 25
BEGIN = 1 << 16
NVME_IOCTL_ID = 0x4E40
NVME_IOCTL_IO_CMD = 0xC0484E43
# What a command may carry however its memory is scattered.
MAX_PAGES = 64
# A unit that is full goes to NAND 5 ms later.
UNIT_SECONDS = 0.01
UNITS_SEEN = 50


class Ssd:
    """The device by passthrough commands, and a copy of what it should hold."""

    def __init__(self, device: str, debugfs: str) -> None:
        self.fd = os.open(device, os.O_RDWR)
        self.debugfs = debugfs
        self.nsid = fcntl.ioctl(self.fd, NVME_IOCTL_ID)
        self.buffer = mmap.mmap(-1, MAX_PAGES * PAGE)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.buffer))
        self.random = random.Random(3)
        self.data: Dict[int, bytes] = {}
        dies = self.dies()
        self.nr_dies = len(dies)

    def dies(self) -> List[List[str]]:
        with open(f"{self.debugfs}/dies") as file:
            return [line.split() for line in file][1:]

    def command(self, opcode: int, page: int, nr_pages: int, cdw12: int = 0,
                pred_lba: int = 0) -> int:
        slba = page * LBAS
        packed = bytearray(struct.pack(
            "=BBHIIIQQIIIIIIIIII", opcode, 0, 0, self.nsid,
            pred_lba & 0xFFFFFFFF, pred_lba >> 32, 0, self.address, 0, nr_pages * PAGE,
            slba & 0xFFFFFFFF, slba >> 32, (nr_pages * LBAS - 1) | cdw12, 0, 0, 0, 0, 0))
        return fcntl.ioctl(self.fd, NVME_IOCTL_IO_CMD, packed)

    def write(self, page: int, nr_pages: int, cdw12: int = 0, pred: Optional[int] = None,
              pred_lba: Optional[int] = None) -> int:
        if nr_pages > MAX_PAGES:
            self.write(page, MAX_PAGES)
            return self.write(page + MAX_PAGES, nr_pages - MAX_PAGES)
        contents = self.random.randbytes(nr_pages * PAGE)
        self.buffer[:len(contents)] = contents
        if pred_lba is None:
            pred_lba = 0 if pred is None else pred * LBAS
        status = self.command(1, page, nr_pages, cdw12, pred_lba)
        for i in range(nr_pages):
            self.data[page + i] = contents[i * PAGE:(i + 1) * PAGE]
        return status

    def append(self, page: int, nr_pages: int, pred: int) -> int:
        return self.write(page, nr_pages, APPEND, pred)

    def overwrite(self, page: int, nr_pages: int) -> int:
        return self.write(page, nr_pages, OVERWRITE)

    def places(self, page: int, nr_pages: int) -> List[Tuple[int, int]]:
        """(die, unit) of each page; (-1, -1) where nothing is mapped."""
        fd = os.open(f"{self.debugfs}/ns{self.nsid}/map", os.O_RDWR)
        try:
            os.write(fd, f"{page * LBAS} {nr_pages * LBAS}".encode())
            text = b""
            while True:
                piece = os.read(fd, 65536)
                if not piece:
                    break
                text += piece
        finally:
            os.close(fd)
        result = []
        for line in text.decode().splitlines():
            _, die, unit = line.split()
            result.append((-1, -1) if die == "-" else (int(die), int(unit)))
        return result

    def die(self, page: int) -> int:
        return self.places(page, 1)[0][0]

    def dies_of(self, page: int, nr_pages: int) -> List[int]:
        return [die for die, _ in self.places(page, nr_pages)]

    def counter(self, name: str) -> int:
        with open(f"{self.debugfs}/ftl") as file:
            return next(int(line.split()[1]) for line in file if line.split()[0] == name)

    def wrong_pages(self) -> List[int]:
        wrong = []
        for page, contents in sorted(self.data.items()):
            if os.pread(self.fd, PAGE, page * PAGE) != contents:
                wrong.append(page)
        return wrong


class Disturber:
    """Plain writes elsewhere, so that arrival order says nothing."""

    def __init__(self, ssd: Ssd) -> None:
        self.ssd = ssd
        self.page = 60000
        self.random = random.Random(4)

    def __call__(self, nr_pages: Optional[int] = None) -> None:
        for _ in range(self.random.randint(1, 3)):
            count = nr_pages or self.random.randint(1, 40)
            self.ssd.write(self.page, count)
            self.page += count


def unit_pages(ssd: Ssd) -> int:
    """How many pages of a plain sequential write share a unit."""
    ssd.write(50000, 256)
    places = ssd.places(50000, 256)
    return max(sum(1 for place in places if place == other) for other in set(places))


def steps(dies: List[int], nr_dies: int) -> List[int]:
    return [(b - a) % nr_dies for a, b in zip(dies, dies[1:])]


def plain_order(ssd: Ssd, unit: int) -> None:
    dies = ssd.dies_of(50000, 256)
    changes = [die for i, die in enumerate(dies) if i == 0 or dies[i - 1] != die]
    check("plain pages go round the dies in order", set(steps(changes, ssd.nr_dies)) == {1}, changes)
    places = ssd.places(50000, 256)
    check("each die gets a whole unit", all(places.count(p) == unit for p in set(places[unit:-unit])))


def append_units(ssd: Ssd, unit: int, disturb: Disturber) -> None:
    start = 1000
    ssd.write(start, unit)
    for i in range(1, 40):
        disturb()
        ssd.append(start + i * unit, unit, pred=start + i * unit - 1)
    dies = ssd.dies_of(start, 40 * unit)
    # The first, plain, unit may lie across two dies; what follows it may not.
    heads = dies[2 * unit::unit]
    check("appended units go round the dies in order, whatever comes between",
          set(steps(heads, ssd.nr_dies)) == {1}, heads)


def append_long(ssd: Ssd, unit: int, disturb: Disturber) -> None:
    start, length = 3000, 5 * unit
    ssd.write(start, unit)
    for i in range(8):
        disturb()
        ssd.append(start + unit + i * length, length, pred=start + unit + i * length - 1)
    dies = ssd.dies_of(start + 2 * unit, 39 * unit)
    heads = dies[::unit]
    check("every page of a long append has its place in the order",
          set(steps(heads, ssd.nr_dies)) == {1}, heads)


def append_small(ssd: Ssd, unit: int, disturb: Disturber) -> None:
    start = 5000
    ssd.write(start, unit)
    disturb()
    ssd.append(start + unit, unit, pred=start + unit - 1)
    for i in range(8 * unit):
        disturb()
        page = start + 2 * unit + i
        ssd.append(page, 1, pred=page - 1)
    places = ssd.places(start + 2 * unit, 8 * unit)
    whole = [len(set(places[i:i + unit])) for i in range(0, len(places), unit)]
    check("small appends of a run fill its unit together", max(whole) <= 2, whole)
    dies = [die for die, _ in places]
    changes = [die for i, die in enumerate(dies) if i == 0 or dies[i - 1] != die]
    check("and go to the next die when it is full", set(steps(changes, ssd.nr_dies)) == {1}, changes)
    check("with no more units than needed", len(set(places)) <= 9, len(set(places)))


def append_two_runs(ssd: Ssd, unit: int) -> None:
    first, second = 10000, 11000
    ssd.write(first, unit)
    ssd.write(second, unit)
    for i in range(6 * unit):
        ssd.append(first + unit + i, 1, pred=first + unit + i - 1)
        ssd.append(second + unit + i, 1, pred=second + unit + i - 1)
    shared = set(ssd.places(first + unit, 6 * unit)) & set(ssd.places(second + unit, 6 * unit))
    check("two runs that grow in turn share no unit", not shared, shared)


def overwrite_stays(ssd: Ssd, unit: int, disturb: Disturber) -> None:
    start, length = 12000, 24 * unit
    ssd.write(start, length)
    before = ssd.dies_of(start, length)
    units = ssd.places(start, length)
    chance = random.Random(5)
    for _ in range(60):
        disturb()
        nr_pages = chance.randint(1, 3 * unit)
        page = start + chance.randrange(length - nr_pages)
        ssd.overwrite(page, nr_pages)
    after = ssd.dies_of(start, length)
    check("overwritten pages stay on their dies, page by page", after == before,
          [i for i in range(length) if after[i] != before[i]][:20])
    check("though they are written anew", ssd.places(start, length) != units)
    for _ in range(40):
        disturb()
        ssd.write(start + chance.randrange(length - unit), unit)
    check("without a hint they move", ssd.dies_of(start, length) != before)


def ignored(ssd: Ssd, unit: int) -> None:
    beyond = 1 << 40
    cases = (
        ("both bits at once", lambda: ssd.write(20000, unit, APPEND | OVERWRITE, pred=1000)),
        ("a predecessor that is not mapped", lambda: ssd.append(20100, unit, pred=40000)),
        ("a predecessor beyond the namespace", lambda: ssd.write(20200, unit, APPEND, pred_lba=beyond)),
        ("the largest predecessor", lambda: ssd.write(20300, unit, APPEND, pred_lba=(1 << 64) - 1)),
        ("an append that begins a file", lambda: ssd.write(20700, unit, APPEND | BEGIN, pred=1000)),
        ("all three bits", lambda: ssd.write(20800, unit, APPEND | OVERWRITE | BEGIN, pred=1000)),
    )
    for sentence, action in cases:
        before = {name: ssd.counter(name) for name in ("hints_ignored", "hints_append", "hints_overwrite")}
        status = action()
        check(f"{sentence}: the write succeeds", status == 0, status)
        check(f"{sentence}: counted as ignored", ssd.counter("hints_ignored") == before["hints_ignored"] + 1)
        check(f"{sentence}: not counted as followed",
              ssd.counter("hints_append") == before["hints_append"] and
              ssd.counter("hints_overwrite") == before["hints_overwrite"])
    check("an overwrite of what is not mapped succeeds", ssd.overwrite(20400, unit) == 0)
    check("an append after itself succeeds", ssd.append(20500, unit, pred=20500) == 0)
    check("an append in the middle of a page's LBAs succeeds",
          ssd.write(20600, unit, APPEND, pred_lba=1000 * LBAS + 3) == 0)


def told_as_one(ssd: Ssd, unit: int) -> bool:
    """Does each look at a unit find it in one place, from when it was written until it is on NAND?"""
    ssd.write(24000, unit, BEGIN)
    end = time.monotonic() + UNIT_SECONDS
    while time.monotonic() < end:
        if len(set(ssd.places(24000, unit))) != 1:
            return False
    return True


def begun(ssd: Ssd, unit: int) -> None:
    firsts = range(22000, 22000 + 2 * ssd.nr_dies * unit, 2 * unit)
    before = ssd.counter("hints_append")
    for first in firsts:
        ssd.write(first, unit, BEGIN)
    dies = [ssd.die(first) for first in firsts]
    check("files begin on the dies in turn", set(steps(dies, ssd.nr_dies)) == {1}, dies)
    check("each in a unit of its own",
          all(len(set(ssd.places(first, unit))) == 1 for first in firsts))
    check("and that counts as an append", ssd.counter("hints_append") == before + len(firsts))
    check("a unit that goes to NAND is told of as one", all(told_as_one(ssd, unit) for _ in range(UNITS_SEEN)))


def counted(ssd: Ssd, unit: int) -> None:
    names = ("writes_plain", "hints_append", "hints_overwrite", "hints_ignored")
    before = {name: ssd.counter(name) for name in names}
    for i in range(5):
        ssd.write(25000 + i * unit, unit)
    for i in range(7):
        ssd.append(25000 + (5 + i) * unit, unit, pred=25000 + (5 + i) * unit - 1)
    for _ in range(3):
        ssd.overwrite(25000, unit)
    grown = [ssd.counter(name) - before[name] for name in names]
    check("5 plain writes, 7 appends, 3 overwrites are counted as such", grown == [5, 7, 3, 0], grown)


def main() -> None:
    ssd = Ssd(sys.argv[1], sys.argv[2])
    unit = unit_pages(ssd)
    disturb = Disturber(ssd)
    print(f"# {ssd.nr_dies} dies, {unit} pages a unit")
    check("there is more than one die and one page", ssd.nr_dies > 1 and unit > 1)
    plain_order(ssd, unit)
    append_units(ssd, unit, disturb)
    append_long(ssd, unit, disturb)
    append_small(ssd, unit, disturb)
    append_two_runs(ssd, unit)
    overwrite_stays(ssd, unit, disturb)
    ignored(ssd, unit)
    begun(ssd, unit)
    counted(ssd, unit)
    wrong = ssd.wrong_pages()
    check(f"all {len(ssd.data)} pages hold what was written last", not wrong, wrong[:20])


if __name__ == "__main__":
    sys.exit(sentences.run(main))
