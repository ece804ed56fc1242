#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Cut the power below a target in log mode, while several processes write to it.

log-power.py SSD TARGET LINE ROUNDS SEED: each round the target is made from LINE, the table
line, in which DEVICE is the SSD's device; each page must be as it was when that was last
promised to be durable, or as it became later. Then the power fails with a program or erase that is
chosen at random, in each third round while the target starts.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import pickle
import random
import struct
import subprocess
import sys
import time

from virtual_ssd import Switches, wait_for

PAGE = 4096
CHUNK = 16
PAGES_AT_ONCE = 256
WORKERS = 4
BLKDISCARD = 0x1277
# Share of the device that is used
USED = 0.6

# Of a page: what it may be. 0 is zeroes, the first is promised.
Versions = list[int]


def block_of(page: int, version: int) -> bytes:
    return b"%015x %015x\n" % (page, version) * (PAGE // 32) if version else bytes(PAGE)


def version_in(page: int, block: bytes) -> int | None:
    """None: it is torn, or another page's."""
    try:
        version = int(block[16:31] or b"0", 16) if any(block[:32]) else 0
    except ValueError:
        return None
    return version if block == block_of(page, version) else None


class Ssd(Switches):
    """Its power is cut by hand unless it has failed by itself."""

    def cut(self) -> None:
        if not self.is_off():
            self.power_cut()
        self.wait_until_off()


class Worker:
    """One of the processes: chunks of the device are its own."""

    def __init__(self, number: int, path: str, pages: int, first_version: int, seed: int) -> None:
        self.number = number
        self.path = path
        self.nr_chunks = pages // CHUNK // WORKERS
        self.version = first_version
        self.random = random.Random(seed)
        self.later: dict[int, Versions] = {}
        self.promised: dict[int, int] = {}
        self.fd = -1

    def write(self, first: int, nr: int, fua: bool) -> None:
        self.version += 1
        buffer = mmap.mmap(-1, nr * PAGE)
        for page in range(first, first + nr):
            buffer[(page - first) * PAGE : (page - first + 1) * PAGE] = block_of(page, self.version)
            self.later.setdefault(page, []).append(self.version)
        os.pwritev(self.fd, [buffer], first * PAGE, os.RWF_DSYNC if fua else 0)
        if fua:
            self.promise(list(range(first, first + nr)))

    def discard(self, first: int, nr: int) -> None:
        for page in range(first, first + nr):
            self.later.setdefault(page, []).append(0)
        fcntl.ioctl(self.fd, BLKDISCARD, struct.pack("<QQ", first * PAGE, nr * PAGE))

    def promise(self, pages: list[int]) -> None:
        for page in pages:
            self.promised[page] = self.later.pop(page)[-1]

    def step(self) -> None:
        chunk = self.random.randrange(self.nr_chunks) * WORKERS + self.number
        begin = self.random.randrange(CHUNK)
        nr = self.random.randint(1, CHUNK - begin)
        draw = self.random.random()
        if draw < 0.1:
            os.fdatasync(self.fd)
            self.promise(list(self.later))
        elif draw < 0.14:
            self.discard(chunk * CHUNK + begin, nr)
        else:
            self.write(chunk * CHUNK + begin, nr, draw < 0.2)

    def run(self, most_steps: int) -> str:
        """Until the power fails: the error of that."""
        try:
            self.fd = os.open(self.path, os.O_RDWR | os.O_DIRECT)
            for _ in range(most_steps):
                self.step()
        except OSError as error:
            return str(error)
        return ""


class Round:
    """The work between two power failures."""

    def __init__(self, path: str, pages: int, version: int, draw: random.Random) -> None:
        self.pipes: list[int] = []
        # No two steps of all rounds have the same version.
        for number in range(WORKERS):
            self.start(Worker(number, path, pages, version, draw.randrange(1 << 30)))

    def start(self, worker: Worker) -> None:
        reader, writer = os.pipe()
        if os.fork():
            os.close(writer)
            self.pipes.append(reader)
            return
        error = worker.run(100000)
        with os.fdopen(writer, "wb") as pipe:
            pickle.dump((error, worker.version, worker.promised, worker.later), pipe)
        os._exit(0)

    def results(self) -> list[tuple[str, int, dict[int, int], dict[int, Versions]]]:
        found = []
        for reader in self.pipes:
            with os.fdopen(reader, "rb") as pipe:
                found.append(pickle.load(pipe))
            os.wait()
        return found


class Test:
    """All rounds."""

    def __init__(self, ssd: str, target: str, line: str, seed: int) -> None:
        self.ssd = Ssd(ssd)
        self.target = target
        self.line = line
        self.pages = int(int(line.split()[1]) // 8 * USED)
        self.random = random.Random(seed)
        # Of each page: what it may be
        self.versions: list[Versions] = [[0] for _ in range(self.pages)]
        self.version = 0
        self.counts = {"promised": 0, "lost": 0, "survived": 0, "starts_cut": 0}

    def path(self) -> str:
        return f"/dev/mapper/{self.target}"

    def start_target(self) -> bool:
        line = self.line.replace("DEVICE", self.ssd.device)
        command = ["dmsetup", "create", self.target, "--table", line]
        return not subprocess.run(command, capture_output=True, check=False).returncode

    def stop_target(self) -> None:
        if os.path.exists(self.path()):
            subprocess.run(["dmsetup", "remove", "--retry", self.target], check=True)

    def check(self) -> None:
        command = ["dieaware", "check", self.ssd.device]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"dieaware check: {done.stdout}{done.stderr}")

    def compare(self) -> None:
        fd = os.open(self.path(), os.O_RDONLY | os.O_DIRECT)
        buffer = mmap.mmap(-1, PAGES_AT_ONCE * PAGE)
        for first in range(0, self.pages, PAGES_AT_ONCE):
            os.preadv(fd, [buffer], first * PAGE)
            for page in range(first, min(first + PAGES_AT_ONCE, self.pages)):
                at = (page - first) * PAGE
                self.compare_page(page, buffer[at : at + PAGE])
        os.close(fd)

    def compare_page(self, page: int, block: bytes) -> None:
        versions = self.versions[page]
        found = version_in(page, block)
        if found is None or found not in versions:
            sys.exit(f"Page {page} is {found} ({block[:32]!r}); it may be one of {versions}.")
        if len(versions) > 1:
            self.counts["lost" if found != versions[-1] else "survived"] += 1
        self.versions[page] = [found]

    def work(self) -> None:
        work = Round(self.path(), self.pages, self.version, self.random)
        if not self.random.randrange(4):
            time.sleep(self.random.random())
            self.ssd.cut()
        for error, version, promised, later in work.results():
            if error:
                wait_for(f"the power fails, as somebody has seen '{error}'", self.ssd.is_off)
            self.version = max(self.version, version)
            self.counts["promised"] += len(promised)
            for page, promise in promised.items():
                self.versions[page] = [promise]
            for page, versions in later.items():
                self.versions[page] += versions

    def round(self, early: bool) -> None:
        self.ssd.power_on()
        self.check()
        if early:
            self.ssd.cut_after(self.random.randint(1, 4))
        if self.start_target():
            if not early:
                self.compare()
                self.ssd.cut_after(self.random.randint(1, 600))
            self.work()
        elif early:
            wait_for("a start fails because the power does", self.ssd.is_off)
            self.counts["starts_cut"] += 1
        else:
            sys.exit("The target does not start.")
        self.ssd.cut()
        self.stop_target()

    def finish(self) -> None:
        self.ssd.power_on()
        self.check()
        if not self.start_target():
            sys.exit("The target does not start in the end.")
        self.compare()
        self.stop_target()


def main() -> int:
    if len(sys.argv) != 6:
        print("usage: log-power.py SSD TARGET LINE ROUNDS SEED", file=sys.stderr)
        return 2
    test = Test(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[5]))
    for number in range(int(sys.argv[4])):
        print(f"round {number}", file=sys.stderr)
        test.round(number % 3 == 2)
    test.finish()
    print(" ".join(f"{key}={value}" for key, value in test.counts.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
