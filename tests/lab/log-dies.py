#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""On which dies files of a target in log mode lie.

log-dies.py write NR FILE...: write the files, NR pieces of 32 KiB of each, one piece of
each file after the other, by O_DIRECT.
log-dies.py extents FILE...: where the files' pages are on the target, for later.
log-dies.py pages FILE: the same of one file, which may have holes.
log-dies.py dies PAGES DUMP DEBUGFS_DIR FIRST: how many of these pages each die has, where the
device that was dumped begins at page FIRST of the SSD.
log-dies.py speed EXTENTS DUMP DEBUGFS_DIR UNIT_PAGES: what 'dieaware dump --part map' says of the
device, and the SSD of its pages. Prints for all files together how fast reading them
front to back in pieces of 1 MiB is, in permille of what it were if each piece lay on all
dies alike: flash units that the busiest die has to read.
"""

import json
import mmap
import os
import sys
from collections import defaultdict
from typing import Dict, List, Set, Tuple

from logdump import read_dump
from wire import PAGE, fiemap

PIECE_PAGES = 256
LBAS = PAGE // 512


def write(nr_pieces: int, paths: List[str]) -> None:
    piece = mmap.mmap(-1, 32768)
    piece.write(os.urandom(32768))
    fds = [os.open(path, os.O_CREAT | os.O_WRONLY | os.O_DIRECT, 0o644) for path in paths]
    for i in range(nr_pieces):
        for fd in fds:
            os.pwrite(fd, piece, i * len(piece))
    for fd in fds:
        os.fsync(fd)
        os.close(fd)


def extents(paths: List[str]) -> List[List[int]]:
    """Of each file: the lpn of each page."""
    files = []
    for path in paths:
        lpns: List[int] = []
        for offset, place, length in fiemap(path):
            if offset != len(lpns) * PAGE:
                sys.exit(f"{path} has a hole.")
            lpns += [place // PAGE + i for i in range((length + PAGE - 1) // PAGE)]
        files.append(lpns)
    return files


def pages_of(path: str) -> List[int]:
    return [place // PAGE + i for _, place, length in fiemap(path) for i in range(length // PAGE)]


class Ssd:
    """Where the SSD's pages lie."""

    def __init__(self, debugfs: str, nr_pages: int) -> None:
        with open(f"{debugfs}/dies") as file:
            self.nr_dies = len(file.readlines()) - 1
        self.units: Dict[int, Tuple[int, int]] = {}
        fd = os.open(f"{debugfs}/ns1/map", os.O_RDWR)
        os.write(fd, f"0 {nr_pages * LBAS}".encode())
        text = b""
        while True:
            piece = os.read(fd, 1 << 20)
            if not piece:
                break
            text += piece
        os.close(fd)
        for page, line in enumerate(text.decode().splitlines()):
            _, die, unit = line.split()
            if die != "-":
                self.units[page] = (int(die), int(unit))


def dies(lpns: List[int], places: Dict[int, int], ssd: Ssd, first: int) -> List[int]:
    found = [0] * ssd.nr_dies
    for lpn in lpns:
        if lpn in places:
            found[ssd.units[first + places[lpn]][0]] += 1
    return found


def speed(files: List[List[int]], places: Dict[int, int], ssd: Ssd, unit_pages: int) -> int:
    busiest = ideal = 0
    for lpns in files:
        for first in range(0, len(lpns), PIECE_PAGES):
            units: Dict[int, Set[int]] = defaultdict(set)
            piece = lpns[first:first + PIECE_PAGES]
            for lpn in piece:
                die, unit = ssd.units[places[lpn]]
                units[die].add(unit)
            busiest += max(len(found) for found in units.values())
            ideal += -(-len(piece) // (unit_pages * ssd.nr_dies))
    return ideal * 1000 // busiest


def main() -> None:
    if sys.argv[1] == "extents":
        print(json.dumps(extents(sys.argv[2:])))
        return
    if sys.argv[1] == "pages":
        print(json.dumps(pages_of(sys.argv[2])))
        return
    if sys.argv[1] == "write":
        write(int(sys.argv[2]), sys.argv[3:])
        return
    with open(sys.argv[2]) as file:
        files = json.load(file)
    places = read_dump(sys.argv[3])
    if sys.argv[1] == "dies":
        first = int(sys.argv[5])
        print(dies(files, places, Ssd(sys.argv[4], first + max(places.values()) + 1), first))
        return
    ssd = Ssd(sys.argv[4], max(places.values()) + 1)
    print(speed(files, places, ssd, int(sys.argv[5])))


if __name__ == "__main__":
    main()
