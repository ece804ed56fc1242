#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Cut the power of a virtual SSD under writes of a fixed size, and look for torn ones.

Usage: atomic.py SSD KIB ROUNDS

Threads write KIB KiB at a time, each to places of its own, with the number of the write in each
sector. After a power failure each place must hold one number throughout, which is of a write that
was promised last or sent after it. Prints "ok -" lines.
"""

from __future__ import annotations

import mmap
import os
import random
import struct
import sys
import threading
import time

from sentences import run, say
from virtual_ssd import VirtualSsd

SECTOR = 512
THREADS = 4
PLACES = 8
SEED = 1


class Writer(threading.Thread):
    """Writes to its places until the power fails; an error before that is one in `errors`."""

    def __init__(self, drive: VirtualSsd, number: int, size: int, sent: dict[int, int],
                 promised: dict[int, int], is_cut: threading.Event, errors: list[str]) -> None:
        super().__init__()
        self.drive, self.number, self.size = drive, number, size
        self.sent, self.promised = sent, promised
        self.is_cut, self.errors = is_cut, errors
        self.draw = random.Random(SEED + number)

    def end(self, error: str) -> None:
        if not self.is_cut.is_set():
            self.errors.append(f"before the power failed: {error}")

    def run(self) -> None:
        buffer = mmap.mmap(-1, self.size)
        while True:
            place = self.number * PLACES + self.draw.randrange(PLACES)
            value = self.sent.get(place, 0) + 1
            buffer[:] = struct.pack("<Q", value) * (self.size // 8)
            self.sent[place] = value
            try:
                written = os.pwrite(self.drive.fd, buffer, place * self.size)
            except OSError as error:
                return self.end(str(error))
            if written != self.size:
                return self.end(f"{written} bytes were written")
            self.promised[place] = value


def judge(drive: VirtualSsd, size: int, sent: dict[int, int], promised: dict[int, int]) -> list[str]:
    """What is wrong; what is there counts as promised from now on."""
    buffer = mmap.mmap(-1, size)
    wrong = []
    for place, last in sent.items():
        os.preadv(drive.fd, [buffer], place * size)
        values = {struct.unpack_from("<Q", buffer, at)[0] for at in range(0, size, SECTOR)}
        if len(values) != 1:
            wrong.append(f"place {place} is torn: writes {sorted(values)}")
        elif not promised.get(place, 0) <= min(values) <= last:
            wrong.append(f"place {place} has write {values}, of {promised.get(place, 0)} to {last}")
        promised[place] = min(values)
    return wrong


def main() -> None:
    drive = VirtualSsd(sys.argv[1])
    size, rounds = int(sys.argv[2]) << 10, int(sys.argv[3])
    draw = random.Random(SEED)
    sent: dict[int, int] = {}
    promised: dict[int, int] = {}
    wrong: list[str] = []
    unpromised = 0
    for _ in range(rounds):
        drive.power_on()
        is_cut = threading.Event()
        writers = [Writer(drive, number, size, sent, promised, is_cut, wrong)
                   for number in range(THREADS)]
        for writer in writers:
            writer.start()
        time.sleep(draw.uniform(0.005, 0.05))
        is_cut.set()
        drive.power_cut()
        for writer in writers:
            writer.join()
        drive.wait_until_off()
        unpromised += sum(promised.get(place, 0) != last for place, last in sent.items())
        drive.power_on()
        wrong += judge(drive, size, sent, promised)
        drive.power_off()
    total = sum(sent.values())
    say(f"after {rounds} power failures each write is there whole or not at all", not wrong, *wrong)
    say("and some were under way", total > rounds * THREADS and unpromised >= rounds,
        f"{total} writes, {unpromised} not promised")


sys.exit(run(main))
