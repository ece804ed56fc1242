#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes whose data cannot be fetched to the end, on an SSD that writes 64 KiB whole or not at all
(atomic_kib=64, 512-byte LBAs). Prints "ok -" lines."""

import struct
import sys

import rawhost
from rawhost import BEYOND_RAM, DATA_AT, PAGE, TRANSFER_ERROR, Host, Queue, expect, rw, sqe
from sentences import say

READ, WRITE, WRITE_UNCORRECTABLE = 0x02, 0x01, 0x04
LBA = 512
UNIT_LBAS = (64 << 10) // LBA
LIST_AT = 0xF0000
READ_ERROR = 0x281


class Drive:
    """Reads and writes of whole buffers, good ones and others."""

    def __init__(self, host: Host, queue: Queue) -> None:
        self.host, self.queue = host, queue

    def _run(self, opcode: int, lba: int, nr_lbas: int, bad_page: int = 0) -> int:
        """Transfer from or to the buffer, of which a page can be where there is no memory."""
        pages = -(-nr_lbas * LBA // PAGE)
        entries = [self.host.data + i * PAGE for i in range(pages)]
        if bad_page:
            entries[bad_page] = BEYOND_RAM
        self.host.write(DATA_AT + LIST_AT, struct.pack(f"<{pages - 1}Q", *entries[1:]))
        second = entries[1] if pages == 2 else self.host.data + LIST_AT
        return self.queue.run(rw(opcode, lba, nr_lbas, entries[0], second)).status

    def write(self, value: int, lba: int, nr_lbas: int, bad_page: int = 0) -> int:
        """Write the same byte everywhere; the status."""
        self.host.write(DATA_AT, bytes([value]) * (nr_lbas * LBA))
        return self._run(WRITE, lba, nr_lbas, bad_page)

    def holds(self, value: int, lba: int, nr_lbas: int) -> bool:
        """Is that what is there?"""
        self.host.write(DATA_AT, b"\xff" * (nr_lbas * LBA))
        status = self._run(READ, lba, nr_lbas)
        return status == 0 and self.host.read(DATA_AT, nr_lbas * LBA) == bytes([value]) * (nr_lbas * LBA)

    def spoil(self, lba: int) -> None:
        """Declare an LBA unreadable."""
        self.queue.run(sqe(WRITE_UNCORRECTABLE, 1, {10: lba, 12: 0}))

    def read_status(self, lba: int) -> int:
        """The status of a read of one LBA."""
        return self.queue.run(rw(READ, lba, 1, self.host.data)).status


def steps(host: Host) -> None:
    """Each kind of write, good and bad."""
    drive = Drive(host, host.make_queue())

    say("64 KiB can be written", drive.write(1, 0, UNIT_LBAS) == 0 and drive.holds(1, 0, UNIT_LBAS))
    for bad_page in (1, 8, 15):
        expect(f"page {bad_page} of a write cannot be fetched",
               drive.write(2, 0, UNIT_LBAS, bad_page), TRANSFER_ERROR)
        say("... and all is what it was", drive.holds(1, 0, UNIT_LBAS))
    expect("nor can page 16 of one that begins and ends within pages",
           drive.write(3, 4, UNIT_LBAS, 15), TRANSFER_ERROR)
    say("... and all is what it was", drive.holds(1, 0, UNIT_LBAS))
    say("a page can be written", drive.write(7, 8 * UNIT_LBAS, 8) == 0)
    expect("the second half of a page cannot be fetched",
           drive.queue.run(rw(WRITE, 8 * UNIT_LBAS, 8, host.data + PAGE // 2, BEYOND_RAM)).status,
           TRANSFER_ERROR)
    say("... and the page is what it was", drive.holds(7, 8 * UNIT_LBAS, 8))
    say("a good one there", drive.write(3, 4, UNIT_LBAS) == 0)
    say("... leaves alone what is before and behind it",
        drive.holds(1, 0, 4) and drive.holds(3, 4, UNIT_LBAS) and drive.holds(0, 4 + UNIT_LBAS, 4))
    expect("a write to what was never written cannot be fetched",
           drive.write(4, 10 * UNIT_LBAS, UNIT_LBAS, 9), TRANSFER_ERROR)
    say("... and there is still nothing", drive.holds(0, 10 * UNIT_LBAS, UNIT_LBAS))
    drive.spoil(20)
    expect("an LBA is declared unreadable", drive.read_status(20), READ_ERROR)
    expect("a write over it cannot be fetched", drive.write(5, 0, UNIT_LBAS, 12), TRANSFER_ERROR)
    expect("... and it is as unreadable as before", drive.read_status(20), READ_ERROR)
    say("a good one can be read", drive.write(5, 0, UNIT_LBAS) == 0 and drive.holds(5, 0, UNIT_LBAS))
    # What this test would see of a drive that writes page by page
    expect("of 128 KiB, page 24 cannot be fetched", drive.write(6, 0, 2 * UNIT_LBAS, 24), TRANSFER_ERROR)
    say("... and what came before that is there: more than 64 KiB come page by page",
        drive.holds(6, 0, UNIT_LBAS))


sys.exit(rawhost.run(steps))
