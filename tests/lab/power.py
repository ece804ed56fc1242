#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Cut the power of a virtual SSD again and again, and compare with what it promised.

Random writes of sectors and pages, with and without FUA, discards and flushes go to a
few pages. The power fails with a program or erase that is chosen at random. Every page
must then be what it was when that was last promised to be durable, or what it became
by a later write; never a mixture, and never anything older.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import random
import struct
import sys

from virtual_ssd import PowerFailed, VirtualSsd, cut_in_rounds

SECTOR = 512
PAGE = 4096
PAGES_AT_ONCE = 64
SECTORS = PAGE // SECTOR
BLKDISCARD = 0x1277

State = tuple[int, ...]
BLANK: State = (0,) * SECTORS


class Drive(VirtualSsd):
    """What is written to it and read, by sectors."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.buffer = mmap.mmap(-1, PAGES_AT_ONCE * PAGE)

    def write(self, page: int, sector: int, values: State, fua: bool) -> None:
        data = b"".join(struct.pack("<Q", value) * (SECTOR // 8) for value in values)
        self.buffer[: len(data)] = data
        view = memoryview(self.buffer)[: len(data)]
        flags = os.RWF_DSYNC if fua else 0
        try:
            os.pwritev(self.fd, [view], page * PAGE + sector * SECTOR, flags)
        except OSError as error:
            raise PowerFailed from error
        finally:
            view.release()

    def flush(self) -> None:
        try:
            os.fsync(self.fd)
        except OSError as error:
            raise PowerFailed from error

    def discard(self, page: int) -> None:
        try:
            fcntl.ioctl(self.fd, BLKDISCARD, struct.pack("<QQ", page * PAGE, PAGE))
        except OSError as error:
            raise PowerFailed from error

    def read(self, pages: int) -> list[State]:
        states = []
        for page in range(0, pages, PAGES_AT_ONCE):
            nr = min(PAGES_AT_ONCE, pages - page)
            view = memoryview(self.buffer)[: nr * PAGE]
            os.preadv(self.fd, [view], page * PAGE)
            states += [state_of(view[i * PAGE : (i + 1) * PAGE]) for i in range(nr)]
            view.release()
        return states


def state_of(data: memoryview) -> State:
    state = struct.unpack(f"<{PAGE // 8}Q", data)[:: SECTOR // 8]
    if bytes(data) != b"".join(struct.pack("<Q", value) * (SECTOR // 8) for value in state):
        raise SystemExit("A sector is a mixture.")
    return state


class Model:
    """What each page may be: the first of its states is promised."""

    def __init__(self, pages: int, seed: int) -> None:
        self.states: list[list[State]] = [[BLANK] for _ in range(pages)]
        self.random = random.Random(seed)
        self.counter = 0
        self.lost = 0
        self.survived = 0

    def write(self, drive: Drive, page: int) -> None:
        whole = self.random.random() < 0.6
        sector = 0 if whole else self.random.randrange(SECTORS)
        count = SECTORS if whole else self.random.randint(1, SECTORS - sector)
        fua = self.random.random() < 0.05
        self.counter += 1
        state = list(self.states[page][-1])
        state[sector : sector + count] = [self.counter] * count
        # It may be there even if its completion is never seen.
        self.states[page].append(tuple(state))
        drive.write(page, sector, (self.counter,) * count, fua)
        if fua:
            self.states[page] = self.states[page][-1:]

    def discard(self, drive: Drive, page: int) -> None:
        self.states[page].append(BLANK)
        drive.discard(page)
        self.states[page] = [BLANK]

    def flush(self, drive: Drive) -> None:
        drive.flush()
        self.states = [states[-1:] for states in self.states]

    def step(self, drive: Drive) -> None:
        # Half of the writes fall on few pages, so that many are replaced in the buffer.
        reach = len(self.states) if self.random.random() < 0.5 else len(self.states) // 20
        page = self.random.randrange(reach)
        draw = self.random.random()
        if draw < 0.06:
            self.flush(drive)
        elif draw < 0.1:
            self.discard(drive, page)
        else:
            self.write(drive, page)

    def compare(self, drive: Drive) -> None:
        for page, found in enumerate(drive.read(len(self.states))):
            states = self.states[page]
            if found not in states:
                raise SystemExit(
                    f"Page {page} is {found}; it may be one of {states}."
                )
            if len(states) > 1:
                self.lost += found != states[-1]
                self.survived += found == states[-1]
            self.states[page] = [found]


def main() -> int:
    if len(sys.argv) != 5:
        print("usage: power.py SSD PAGES ROUNDS SEED", file=sys.stderr)
        return 2
    drive = Drive(sys.argv[1])
    model = Model(int(sys.argv[2]), int(sys.argv[4]))
    steps = cut_in_rounds(drive, model, int(sys.argv[3]), 120)
    print(f"steps={steps} lost={model.lost} survived={model.survived}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
