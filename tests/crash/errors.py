#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Work on a target in log mode while the disk below fails.

errors.py DEVICE SEED OPERATIONS MESSAGE: does what standard input asks for, one line each, and
answers in a line.

work TURN: writes, discards, flushes, reads, and MESSAGE now and then, a command to which
"clean" or "checkpoint" is added. Errors are taken; wrong data is not. Answer: how many errors.
check: when the disk works again, each page must be what was promised, or what was written later
and never promised. Answer: how many pages.

An answer that begins with "wrong" says what was found instead.
"""

import errno
import fcntl
import mmap
import os
import random
import struct
import subprocess
import sys
from typing import Dict, List, Optional

PAGE = 4096
BLKDISCARD = 0x1277
MOST_PAGES = 8


class WrongData(Exception):
    """A page is what it must not be."""


class Model:
    """What each page may be, and what it must be since it was acknowledged: a list of versions,
    oldest first; 0 is a page of zeroes. A version that was flushed is promised: those before it
    must not come back."""

    def __init__(self) -> None:
        self.next = 1
        self.may_be: Dict[int, List[int]] = {}
        self.acked: Dict[int, int] = {}

    def forget_acknowledged(self) -> None:
        """The device goes: what was not flushed is not promised."""
        self.acked = {}

    def versions(self, lpn: int) -> List[int]:
        return self.may_be.setdefault(lpn, [0])

    def attempt(self, lpn: int, version: int) -> None:
        self.versions(lpn).append(version)

    def acknowledge(self, lpn: int) -> None:
        self.acked[lpn] = len(self.versions(lpn)) - 1

    def promise(self) -> None:
        for lpn, index in self.acked.items():
            del self.may_be[lpn][:index]
        self.acked = {}

    def allows(self, lpn: int, version: int) -> bool:
        return version in self.versions(lpn)[self.acked.get(lpn, 0):]


class Device:
    """The target, by O_DIRECT."""

    def __init__(self, path: str) -> None:
        self.fd = os.open(path, os.O_RDWR | os.O_DIRECT)
        self.nr_lpns = os.lseek(self.fd, 0, os.SEEK_END) // PAGE
        self.buffer = mmap.mmap(-1, MOST_PAGES * PAGE)

    def __enter__(self) -> "Device":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)

    def write(self, lpn: int, nr_pages: int, version: int) -> None:
        for i in range(nr_pages):
            page = struct.pack("<QQ", lpn + i, version) * (PAGE // 16)
            self.buffer[i * PAGE:(i + 1) * PAGE] = page
        done = os.pwrite(self.fd, memoryview(self.buffer)[:nr_pages * PAGE], lpn * PAGE)
        if done != nr_pages * PAGE:
            raise OSError(errno.EIO, "not all was written")

    def discard(self, lpn: int, nr_pages: int) -> None:
        fcntl.ioctl(self.fd, BLKDISCARD, struct.pack("QQ", lpn * PAGE, nr_pages * PAGE))

    def read(self, lpn: int, nr_pages: int = 1) -> List[Optional[int]]:
        """The version of each page; None: it is none."""
        length = nr_pages * PAGE
        if os.preadv(self.fd, [memoryview(self.buffer)[:length]], lpn * PAGE) != length:
            raise OSError(errno.EIO, "not all was read")
        return [version_of(lpn + i, self.buffer[i * PAGE:(i + 1) * PAGE])
                for i in range(nr_pages)]


def version_of(lpn: int, page: bytes) -> Optional[int]:
    found, version = struct.unpack_from("<QQ", page)
    if page == bytes(PAGE):
        return 0
    if found != lpn or page != page[:16] * (PAGE // 16):
        return None
    return version


def compare(model: Model, device: Device, first: int, nr_pages: int = 1) -> Dict[int, int]:
    """The version of each page, which it may be."""
    versions = {}
    for lpn, version in enumerate(device.read(first, nr_pages), first):
        if version is None or not model.allows(lpn, version):
            raise WrongData(f"page {lpn} is version {version}, and may be "
                            f"{model.versions(lpn)[-5:]} from {model.acked.get(lpn, 0)} on")
        versions[lpn] = version
    return versions


def one_step(model: Model, device: Device, dice: random.Random, message: List[str]) -> None:
    lpn = dice.randrange(device.nr_lpns // 4 - MOST_PAGES)
    nr_pages = dice.randint(1, MOST_PAGES)
    choice = dice.random()
    if choice < 0.6:
        version, model.next = model.next, model.next + 1
        for i in range(nr_pages):
            model.attempt(lpn + i, version)
        device.write(lpn, nr_pages, version)
    elif choice < 0.7:
        for i in range(nr_pages):
            model.attempt(lpn + i, 0)
        device.discard(lpn, nr_pages)
    elif choice < 0.85:
        os.fsync(device.fd)
        model.promise()
        return
    elif choice < 0.95:
        compare(model, device, lpn)
        return
    else:
        subprocess.run(message + [dice.choice(["clean", "checkpoint"])], stderr=subprocess.DEVNULL,
                       check=False)
        return
    for i in range(nr_pages):
        model.acknowledge(lpn + i)


def work(model: Model, device: Device, dice: random.Random, operations: int,
         message: List[str]) -> int:
    nr_errors = 0
    for _ in range(operations):
        try:
            one_step(model, device, dice, message)
        except OSError:
            nr_errors += 1
    return nr_errors


def check(model: Model, device: Device) -> int:
    end = device.nr_lpns // 4
    for first in range(0, end, MOST_PAGES):
        found = compare(model, device, first, min(MOST_PAGES, end - first))
        model.may_be.update({lpn: [version] for lpn, version in found.items()})
    return end


def main() -> None:
    path, seed, operations = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    model = Model()
    for line in sys.stdin:
        words = line.split()
        try:
            with Device(path) as device:
                if words[0] == "work":
                    dice = random.Random(seed + int(words[1]))
                    answer = work(model, device, dice, operations, sys.argv[4:])
                else:
                    answer = check(model, device)
            print(answer, flush=True)
        except (OSError, WrongData) as wrong:
            print(f"wrong: {wrong}", flush=True)
        model.forget_acknowledged()


if __name__ == "__main__":
    main()
