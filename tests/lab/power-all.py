#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Send a virtual SSD all commands that change data, and cut its power again and again.

Usage: power-all.py SSD PAGES ROUNDS SEED

Write, Write Zeroes with and without deallocation, Dataset Management, Copy, Write Uncorrectable,
Share, Redistribute, Compact and Flush go to a few pages, whole ones and parts of them. What they
have done is compared as it is read back, and after a power failure every page must be what it was
when that was last promised to be durable, or what it became by a later command.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import random
import struct
import sys

from virtual_ssd import PowerFailed, VirtualSsd, cut_in_rounds

SECTOR = 512
PAGE = 4096
SECTORS = PAGE // SECTOR
MOST_PAGES = 4
# An LBA that cannot be read
BAD = -1
BLANK = (0,) * SECTORS

NVME_IOCTL_IO_CMD = 0xC0484E43
FLUSH, WRITE, UNCORRECTABLE, ZEROES, DSM, COPY = 0x00, 0x01, 0x04, 0x08, 0x09, 0x19
SHARE, COMPACT, SPREAD = 0x81, 0x84, 0x85
FUA, DEAC = 1 << 30, 1 << 25
# Refused, and nothing was done: overlapping ranges, a full log, an unreadable LBA, no data
REFUSALS = {0x02, 0x81, 0x281, 0x287}

State = "tuple[int, ...]"


class Drive(VirtualSsd):
    """Sends commands as they are."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.buffer = mmap.mmap(-1, MOST_PAGES * PAGE)

    def send(self, opcode: int, data: bytes = b"", slba: int = 0, cdw12: int = 0, **words: int) -> bool:
        """Return: whether it was done, and not refused."""
        self.buffer[: len(data)] = data
        address = ctypes.addressof(ctypes.c_char.from_buffer(self.buffer)) if data else 0
        command = struct.pack(
            "<BBHIIIQQIIIIIIIIII",
            *(opcode, 0, 0, 1, 0, 0, 0, address, 0, len(data)),
            *(words.get("cdw10", slba & 0xFFFFFFFF), words.get("cdw11", slba >> 32)),
            *(cdw12, 0, 0, 0, 0, 0),
        )
        try:
            status = fcntl.ioctl(self.fd, NVME_IOCTL_IO_CMD, bytearray(command))
        except OSError as error:
            raise PowerFailed from error
        if status and status & 0x7FF not in REFUSALS:
            raise PowerFailed
        return not status

    def read_some(self, at: int, length: int) -> list[int] | None:
        """Values of LBAs; None if one of them cannot be read."""
        view = memoryview(self.buffer)[:length]
        try:
            # A device that has gone ends at 0.
            if os.preadv(self.fd, [view], at) != length:
                raise PowerFailed
            return [value_of(view[i : i + SECTOR]) for i in range(0, length, SECTOR)]
        except OSError as error:
            if error.errno != errno.ENODATA:
                raise PowerFailed from error
            return None
        finally:
            view.release()

    def read(self, page: int) -> State:
        values = self.read_some(page * PAGE, PAGE)
        if values is None:
            ones = (self.read_some(page * PAGE + i * SECTOR, SECTOR) for i in range(SECTORS))
            values = [one[0] if one else BAD for one in ones]
        return tuple(values)


def value_of(data: memoryview) -> int:
    value = struct.unpack_from("<Q", data)[0]
    if bytes(data) != struct.pack("<Q", value) * (SECTOR // 8):
        raise SystemExit("A sector is a mixture.")
    return value


def data_of(values: list[int]) -> bytes:
    return b"".join(struct.pack("<Q", value) * (SECTOR // 8) for value in values)


class Model:
    """What each page may be: the first of its states is promised, the last is what it is now."""

    def __init__(self, pages: int, seed: int) -> None:
        self.states: list[list[State]] = [[BLANK] for _ in range(pages)]
        self.random = random.Random(seed)
        self.counter = 0
        self.lost = 0
        self.counts: dict[str, int] = {}

    def sectors(self) -> tuple[int, int]:
        """Some LBAs: a page, pages, or any."""
        nr = len(self.states)
        if self.random.random() < 0.5:
            nr = min(nr, 24)
        pages = self.random.randint(1, MOST_PAGES)
        first = self.random.randrange(nr - pages) * SECTORS
        if self.random.random() < 0.5:
            return first, pages * SECTORS
        skip = self.random.randrange(SECTORS)
        return first + skip, self.random.randint(1, pages * SECTORS - skip)

    def values(self, first: int, count: int) -> list[int]:
        return [self.states[i // SECTORS][-1][i % SECTORS] for i in range(first, first + count)]

    def change(self, state: State, page: int, first: int, values: list[int]) -> State:
        changed = list(state)
        for i, value in enumerate(values):
            if (first + i) // SECTORS == page:
                changed[(first + i) % SECTORS] = value
        return tuple(changed)

    def pages_of(self, first: int, count: int) -> range:
        return range(first // SECTORS, (first + count - 1) // SECTORS + 1)

    def put(self, first: int, values: list[int]) -> None:
        """They may be there even if the completion is never seen."""
        for page in self.pages_of(first, len(values)):
            states = self.states[page]
            states.append(self.change(states[-1], page, first, values))

    def settle(self, pages: range) -> None:
        for page in pages:
            self.states[page] = self.states[page][-1:]

    def write(self, drive: Drive) -> bool:
        first, count = self.sectors()
        self.counter += 1
        values = [self.counter * 64 + i for i in range(count)]
        fua = self.random.random() < 0.05
        self.put(first, values)
        drive.send(WRITE, data_of(values), first, count - 1 | (FUA if fua else 0))
        if fua:
            self.settle(self.pages_of(first, count))
        return True

    def zero(self, drive: Drive) -> bool:
        first, count = self.sectors()
        self.put(first, [0] * count)
        return drive.send(ZEROES, b"", first, count - 1)

    def spoil(self, drive: Drive) -> bool:
        first, count = self.sectors()
        self.put(first, [BAD] * count)
        return drive.send(UNCORRECTABLE, b"", first, count - 1)

    def forget(self, drive: Drive) -> bool:
        """Deallocation is durable when it is complete, and reaches what can come back."""
        first, count = self.sectors()
        pages = self.pages_of(first, count)
        before = {page: self.states[page] for page in pages}
        after = {
            page: [self.change(state, page, first, [0] * count) for state in before[page]]
            for page in pages
        }
        for page in pages:
            self.states[page] = before[page] + after[page]
        if self.random.random() < 0.5:
            drive.send(ZEROES, b"", first, count - 1 | DEAC)
        else:
            drive.send(DSM, struct.pack("<IIQ", 0, count, first), cdw10=0, cdw11=4)
        for page in pages:
            self.states[page] = after[page]
            if after[page][-1] == BLANK and (first <= page * SECTORS) and (
                first + count >= (page + 1) * SECTORS
            ):
                self.states[page] = [BLANK]
        return True

    def copy(self, drive: Drive) -> bool:
        source, count = self.sectors()
        to = self.sectors()[0]
        count = min(count, len(self.states) * SECTORS - to)
        if source < to + count and to < source + count:
            return False
        values = self.values(source, count)
        if BAD not in values:
            self.put(to, values)
        done = drive.send(COPY, struct.pack("<QQH14x", 0, source, count - 1), to, 0)
        if done == (BAD in values):
            raise SystemExit("Copy reads what cannot be read, or not what can be.")
        return done

    def share(self, drive: Drive) -> bool:
        source, to = (self.sectors()[0] // SECTORS for _ in range(2))
        nr = self.random.randint(1, MOST_PAGES)
        nr = min(nr, len(self.states) - max(source, to))
        before = [list(states) for states in self.states]
        for i in range(nr):
            self.states[to + i].append(before[source + i][-1])
        data = struct.pack("<QQI12x", source * SECTORS, to * SECTORS, nr * SECTORS)
        if drive.send(SHARE, data, cdw10=0, cdw11=0):
            return True
        self.states = before
        return False

    def spread(self, drive: Drive) -> bool:
        first, count = self.sectors()
        pages = self.pages_of(first, count)
        data = struct.pack("<QII", pages[0] * SECTORS, len(pages) * SECTORS, 0)
        return drive.send(SPREAD, data, cdw10=0, cdw11=0)

    def compact(self, drive: Drive) -> bool:
        return drive.send(COMPACT, cdw10=0, cdw11=0)

    def flush(self, drive: Drive) -> bool:
        drive.send(FLUSH)
        self.settle(range(len(self.states)))
        return True

    def look(self, drive: Drive) -> bool:
        page = self.sectors()[0] // SECTORS
        found = drive.read(page)
        if found != self.states[page][-1]:
            self.complain(page, found, "now")
        return True

    def complain(self, page: int, found: State, when: str) -> None:
        raise SystemExit(f"Page {page} is {found} {when}; it may be one of {self.states[page]}.")

    def step(self, drive: Drive) -> None:
        kinds = [self.write] * 12 + [self.zero, self.spoil, self.forget, self.copy, self.copy]
        kinds += [self.share, self.share, self.spread, self.flush, self.look]
        kinds += [self.compact] if self.random.random() < 0.2 else []
        kind = self.random.choice(kinds)
        if kind(drive):
            self.counts[kind.__name__] = self.counts.get(kind.__name__, 0) + 1

    def compare(self, drive: Drive) -> None:
        for page, states in enumerate(self.states):
            found = drive.read(page)
            if found not in states:
                self.complain(page, found, "after a power failure")
            self.lost += found != states[-1]
            self.states[page] = [found]


def main() -> int:
    if len(sys.argv) != 5:
        print("usage: power-all.py SSD PAGES ROUNDS SEED", file=sys.stderr)
        return 2
    drive = Drive(sys.argv[1])
    model = Model(int(sys.argv[2]), int(sys.argv[4]))
    cut_in_rounds(drive, model, int(sys.argv[3]), 60)
    print(f"lost={model.lost}", *(f"{name}={nr}" for name, nr in sorted(model.counts.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
