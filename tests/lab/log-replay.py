#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make what a power failure leaves of what dm-log-writes has logged.

log-replay.py LOG [LOSSES]: prints the power failures that leave something else than those before,
each as PLACE LOSS, with up to LOSSES different losses at each place besides that of everything.
log-replay.py LOG DEVICE PLACE LOSS: makes a device what such a failure leaves; it holds what it
held when the log began. LOSS 0: all that was not flushed is lost; else any part of it is, down to
single sectors, and each LOSS is another one. What is left of a discard is garbage.

Only a flush that has ended, or FUA, makes a write durable. dm-log-writes logs a write with FUA
when it ends, and all others in front of the flush that makes them durable. So between two
flushes nothing tells which of the others had been sent when one with FUA ended: until all of
those have ended, none of the others is there.
"""

from __future__ import annotations

import os
import random
import struct
import sys
from collections.abc import Iterator
from typing import NamedTuple

MAGIC = 0x6A736677736872
FLUSH, FUA, DISCARD, MARK = 1, 2, 4, 8
SECTOR = 512
GARBAGE = b"\xa5" * (1 << 20)


class Entry(NamedTuple):
    """A write or discard: where, how long, what it is, and where the log has its data."""

    first: int
    nbytes: int
    flags: int
    at: int


class Place(NamedTuple):
    """The power fails: what is durable then, and what has been sent besides."""

    durable: list[Entry]
    sent: list[Entry]


def entries(log: int) -> Iterator[Entry]:
    magic, _, nr_entries, sector_bytes = struct.unpack("<QQQL", os.pread(log, 28, 0))
    if magic != MAGIC:
        sys.exit("This is no log of dm-log-writes.")
    at = sector_bytes
    for _ in range(nr_entries):
        sector, sectors, flags, data_bytes = struct.unpack("<QQQQ", os.pread(log, 32, at))
        at += sector_bytes
        yield Entry(sector * sector_bytes, sectors * sector_bytes, flags, at)
        if not flags & DISCARD:
            at += sectors * sector_bytes
        if flags & MARK:
            at += -(-data_bytes // sector_bytes) * sector_bytes


def epochs(log: int) -> Iterator[tuple[list[Entry], list[Entry]]]:
    """Between two flushes: writes with FUA, and the others."""
    sure: list[Entry] = []
    others: list[Entry] = []
    for entry in entries(log):
        if entry.flags & FLUSH:
            yield sure, others
            sure, others = [], []
        if entry.nbytes and not entry.flags & MARK:
            (sure if entry.flags & FUA else others).append(entry)
    yield sure, others


def places(log: int) -> list[Place]:
    durable: list[Entry] = []
    found = [Place([], [])]
    for sure, others in epochs(log):
        for entry in sure:
            found.append(Place(list(durable), [entry]))
            durable.append(entry)
        for nr in range(1, len(others) + 1):
            found.append(Place(list(durable), others[:nr]))
        durable += others
    found.append(Place(durable, []))
    return found


def apply(log: int, device: int, entry: Entry) -> None:
    if not entry.flags & DISCARD:
        os.pwrite(device, os.pread(log, entry.nbytes, entry.at), entry.first)
        return
    for done in range(0, entry.nbytes, len(GARBAGE)):
        os.pwrite(device, GARBAGE[: entry.nbytes - done], entry.first + done)


def part(entry: Entry, draw: random.Random) -> Iterator[Entry]:
    """What gets to the device before the power is gone."""
    fate = draw.randrange(4)
    if fate == 0:
        return
    if fate == 1 or entry.flags & DISCARD:
        yield entry
        return
    for begin in range(0, entry.nbytes, SECTOR):
        if draw.random() < 0.5:
            yield entry._replace(first=entry.first + begin, nbytes=SECTOR, at=entry.at + begin)


def failures(found: list[Place], nr_losses: int) -> Iterator[tuple[int, int]]:
    nr_durable = -1
    for number, place in enumerate(found):
        if len(place.durable) != nr_durable:
            nr_durable = len(place.durable)
            yield number, 0
        for loss in range(1, nr_losses + 1 if place.sent else 1):
            yield number, loss


def fail(log: int, device: int, place: Place, draw: random.Random | None) -> None:
    for entry in place.durable:
        apply(log, device, entry)
    for entry in place.sent if draw else []:
        for piece in part(entry, draw):
            apply(log, device, piece)


def main() -> None:
    log = os.open(sys.argv[1], os.O_RDONLY)
    found = places(log)
    if len(sys.argv) < 4:
        for number, loss in failures(found, int(sys.argv[2]) if len(sys.argv) == 3 else 1):
            print(number, loss)
        return
    number, loss = int(sys.argv[3]), int(sys.argv[4])
    device = os.open(sys.argv[2], os.O_WRONLY)
    fail(log, device, found[number], random.Random(number << 16 | loss) if loss else None)
    os.fsync(device)


if __name__ == "__main__":
    main()
