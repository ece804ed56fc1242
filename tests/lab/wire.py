#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What really went over the wire, and where files really are.

The virtual SSD's tracepoint shows every command as it arrived; FIEMAP shows
which file page each device page holds. Tests compare the two.
"""

import array
import fcntl
import os
import re
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Tuple

TRACEFS = Path("/sys/kernel/tracing")
EVENT = "events/nvmev/nvmev_cmd"
PAGE = 4096

FS_IOC_FIEMAP = 0xC020660B
FIEMAP_FLAG_SYNC = 1
EXTENT_LAST = 0x1
# unknown place, delayed, encoded, encrypted, not aligned, inline, tail, unwritten
EXTENT_UNUSABLE = 0x2 | 0x4 | 0x8 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800

# The predecessor of a write that begins a file
NO_PREDECESSOR = -2

FilePage = Tuple[int, int]


@dataclass
class Command:
    """One NVMe Write as the SSD saw it; pages are 4 KiB of the namespace."""

    first_page: int
    nr_pages: int
    aligned: bool
    append: bool
    overwrite: bool
    pred_page: int


class Trace:
    """The SSD's command tracepoint between start() and commands()."""

    def __init__(self, lba_bytes: int) -> None:
        self.lba_bytes = lba_bytes

    def start(self) -> None:
        (TRACEFS / "buffer_size_kb").write_text("16384")
        (TRACEFS / EVENT / "enable").write_text("1")
        self.clear()

    def stop(self) -> None:
        (TRACEFS / EVENT / "enable").write_text("0")
        self.clear()

    def clear(self) -> None:
        (TRACEFS / "trace").write_text("")

    def events(self) -> Iterator[Dict[str, str]]:
        text = (TRACEFS / "trace").read_text(errors="replace")
        counts = re.search(r"entries-in-buffer/entries-written: (\d+)/(\d+)", text)
        if counts and counts.group(1) != counts.group(2):
            raise RuntimeError("The trace buffer was too small: events are lost.")
        for line in text.splitlines():
            head, found, fields = line.partition(" nvmev_cmd: ")
            if found and not head.startswith("#"):
                yield dict(w.split("=", 1) for w in fields.split() if "=" in w)

    def commands(self) -> List[Command]:
        """Every Write since start() or clear(), in order of arrival."""
        result = []
        for event in self.events():
            command = self.parse(event)
            if command:
                result.append(command)
        return result

    def parse(self, event: Dict[str, str]) -> Optional[Command]:
        if int(event["qid"]) == 0 or int(event["opcode"], 0) != 1:
            return None
        first = int(event["slba"]) * self.lba_bytes
        size = int(event["nlb"]) * self.lba_bytes
        cdw12 = int(event["cdw12"], 0)
        pred = int(event["cdw3"], 0) << 32 | int(event["cdw2"], 0)
        begins = bool(cdw12 & 1 << 16)
        return Command(
            first_page=first // PAGE,
            nr_pages=(first + size + PAGE - 1) // PAGE - first // PAGE,
            aligned=first % PAGE == 0 and size % PAGE == 0,
            append=begins or bool(cdw12 & 1 << 24),
            overwrite=bool(cdw12 & 1 << 25),
            pred_page=NO_PREDECESSOR if begins else pred * self.lba_bytes // PAGE,
        )


class ChunkMap:
    """btrfs: FIEMAP answers in logical addresses; chunks say where those are."""

    def __init__(self, device: str) -> None:
        self.chunks: List[Tuple[int, int, int]] = []
        text = subprocess.run(
            ["btrfs", "inspect-internal", "dump-tree", "-t", "chunk", device],
            check=True, capture_output=True, text=True,
        ).stdout
        logical = length = None
        for line in text.splitlines():
            found = re.search(r"CHUNK_TREE CHUNK_ITEM (\d+)", line)
            if found:
                logical, length = int(found.group(1)), None
                continue
            found = re.search(r"^\s+length (\d+) ", line)
            if found and logical is not None and length is None:
                length = int(found.group(1))
                continue
            found = re.search(r"stripe 0 devid \d+ offset (\d+)", line)
            if found and logical is not None and length is not None:
                self.chunks.append((logical, length, int(found.group(1))))

    def physical(self, logical: int) -> int:
        for first, length, place in self.chunks:
            if first <= logical < first + length:
                return logical - first + place
        raise RuntimeError(f"No btrfs chunk holds the address {logical}.")


def fiemap(path: str) -> Iterator[Tuple[int, int, int]]:
    """(offset, physical, length) of every extent that holds written data."""
    count = 512
    with open(path, "rb") as file:
        start = 0
        while True:
            head = struct.pack("=QQLLLL", start, 2**64 - 1 - start, FIEMAP_FLAG_SYNC, 0, count, 0)
            buffer = array.array("B", head + bytes(56 * count))
            fcntl.ioctl(file, FS_IOC_FIEMAP, buffer)
            raw = buffer.tobytes()
            (mapped,) = struct.unpack_from("=L", raw, 20)
            flags = EXTENT_LAST
            for i in range(mapped):
                logical, physical, length, _, _, flags = struct.unpack_from(
                    "=QQQQQL", raw, 32 + 56 * i)
                if not flags & EXTENT_UNUSABLE:
                    yield logical, physical, length
                start = logical + length
            if not mapped or flags & EXTENT_LAST:
                return


def page_map(paths: List[str], chunks: Optional[ChunkMap], shift_pages: int = 0) -> Dict[int, FilePage]:
    """device page -> (file number, file page) for all of the files."""
    owners: Dict[int, FilePage] = {}
    for number, path in enumerate(paths):
        if not os.path.exists(path):
            continue
        for offset, place, length in fiemap(path):
            if chunks:
                place = chunks.physical(place)
            for i in range((length + PAGE - 1) // PAGE):
                owners[place // PAGE + i + shift_pages] = (number, offset // PAGE + i)
    return owners


def main() -> None:
    """wire.py LBA_BYTES COMMAND...: run it, print each Write it caused.

    A line is "FIRST_PAGE NR_PAGES none|append|overwrite|both PRED_PAGE".
    """
    trace = Trace(int(sys.argv[1]))
    trace.start()
    try:
        subprocess.run(sys.argv[2:], check=True, stdout=subprocess.DEVNULL)
        for command in trace.commands():
            kinds = {(True, True): "both", (True, False): "append", (False, True): "overwrite"}
            kind = kinds.get((command.append, command.overwrite), "none")
            print(command.first_page, command.nr_pages, kind, command.pred_page)
    finally:
        trace.stop()


if __name__ == "__main__":
    main()
