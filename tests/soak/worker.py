# SPDX-License-Identifier: GPL-2.0-only
"""One process that works at random on files of its own, or on its part of a block device.

It tells its oracle what it does, reads back what it knows, and stops when it is asked to or with
the first operation that fails: whether that one happened is as open then as after a power failure.
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import random
import struct
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.synchronize import Event

from oracle import PAGE, Content, Names

MOST_FILES = 12
MOST_BYTES = 64 * PAGE
MOST_AT_ONCE = 16 * PAGE
BLKDISCARD = 0x1277
FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE, FALLOC_FL_ZERO_RANGE = 1, 2, 16

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
LIBC.syncfs.argtypes = [ctypes.c_int]


class Wrong(Exception):
    """A read returned what was never written there."""


@dataclass
class Report:
    """What a worker has done, and how it ended."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: str = ""
    error: str = ""
    errno: int = 0


def stamp(path: str, version: int, length: int) -> bytes:
    """Bytes that tell where they come from, wherever they turn up."""
    text = f"{path} v{version} ".encode().ljust(64, b".")
    return (text * (length // 64 + 1))[:length]


def raise_errno() -> None:
    errno = ctypes.get_errno()
    raise OSError(errno, os.strerror(errno))


def fallocate(fd: int, mode: int, offset: int, length: int) -> None:
    if LIBC.fallocate(fd, mode, offset, length):
        raise_errno()


def sync_all(fd: int) -> None:
    """Make a whole filesystem durable, or fail.

    sync() fails never, whatever happened. syncfs() tells of pages that could not be written since
    `fd` was opened. But f2fs that can write no checkpoint any more does nothing then and calls it
    success (f2fs_sync_fs()); its fsync() of anything does fail from then on, so one that succeeds
    later says that syncfs() did something.
    """
    if LIBC.syncfs(fd):
        raise_errno()
    os.fsync(fd)


class Worker:
    """What both kinds have: dice, a buffer for O_DIRECT, counters, the loop."""

    def __init__(self, top: str, name: str, seed: int, filesystem: str) -> None:
        self.top, self.name = top, name
        # f2fs ends some fsync() and writes with O_DSYNC too early (docs/testing-crash.md)
        self.only_sync = filesystem == "f2fs"
        self.anchor = -1
        self.dice = random.Random(seed)
        self.version = 0
        self.report = Report()
        self.buffer = mmap.mmap(-1, MOST_BYTES)

    def work(self) -> None:
        """One operation."""
        raise NotImplementedError

    def judge(self, strict: bool) -> list[str]:
        """What is wrong with what is there now, which is taken as it is where it may be so.

        If `strict`, nothing was lost: everything must be as it was left. Else the power failed,
        or operations did.
        """
        raise NotImplementedError

    def promise(self) -> None:
        """The filesystem was unmounted in order."""
        raise NotImplementedError

    def run(self, stop: Event) -> Report:
        self.report = Report()
        try:
            # Open from before the first write, so that syncfs() tells of all that were lost
            self.anchor = os.open(self.top, os.O_RDONLY)
            while not stop.is_set():
                self.work()
        except Wrong as wrong:
            self.report.wrong = str(wrong)
        except OSError as error:
            self.report.error = f"{self.name}: {error}"
            self.report.errno = error.errno or 0
        finally:
            if self.anchor >= 0:
                os.close(self.anchor)
            self.anchor = -1
        return self.report

    def count(self, what: str, nr_bytes: int = 0) -> None:
        self.report.counts[what] += 1
        if nr_bytes:
            self.report.counts[what + "_bytes"] += nr_bytes

    def new_data(self, path: str, length: int) -> bytes:
        self.version += 1
        return stamp(path, self.version, length)

    def write_at(self, fd: int, offset: int, data: bytes, direct: bool) -> None:
        view = memoryview(data)
        if direct:
            self.buffer[: len(data)] = data
            view = memoryview(self.buffer)[: len(data)]
        try:
            while view:
                done = os.pwrite(fd, view, offset)
                offset += done
                view = view[done:]
        finally:
            view.release()

    def read_at(self, fd: int, offset: int, length: int) -> bytes:
        """So many bytes, or all up to the end of the file.

        A read that meets an error behind its first pages returns these, as if the file ended
        there; only one that begins at the error fails.
        """
        done = 0
        view = memoryview(self.buffer)
        try:
            while done < length and (more := os.preadv(fd, [view[done:length]], offset + done)):
                done += more
            return bytes(view[:done])
        finally:
            view.release()

    def compare(
        self, fd: int, what: str, content: Content, offset: int, length: int, base: int = 0
    ) -> None:
        """Read whole pages, for the file may have been opened with O_DIRECT."""
        wanted = content.expect(offset, length)
        found = self.read_at(fd, base + offset, length)
        if found != wanted:
            at = next((i for i, (a, b) in enumerate(zip(found, wanted)) if a != b), len(wanted))
            raise Wrong(
                f"{what} at byte {offset + at}: read {len(found)} bytes, there"
                f" {found[at:at + 64]!r}; wanted {len(wanted)}, there {wanted[at:at + 64]!r}"
            )
        self.count("verified", len(found))


class FileWorker(Worker):
    """Works on files of the folder TOP/NAME."""

    def __init__(self, top: str, name: str, seed: int, filesystem: str) -> None:
        super().__init__(top, name, seed, filesystem)
        self.names = Names(come_back=filesystem == "btrfs")
        self.folder = os.path.join(top, name)

    def open(self, path: str, flags: int = 0) -> int:
        direct = os.O_DIRECT if self.is_direct(path) else 0
        return os.open(os.path.join(self.top, path), os.O_RDWR | direct | flags, 0o644)

    @staticmethod
    def is_direct(path: str) -> bool:
        return os.path.basename(path).startswith("d")

    def sync_folder(self) -> None:
        if self.only_sync:
            return
        fd = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
        self.names.promise()
        self.count("folder_sync")

    def create(self) -> str:
        self.version += 1
        path = f"{self.name}/{self.dice.choice('db')}{self.version}"
        self.names.put(path, Content(tails_come_back=self.names.come_back))
        os.close(self.open(path, os.O_CREAT | os.O_EXCL))
        self.count("create")
        if self.dice.random() < 0.4:
            self.sync_folder()
        return path

    def range_in(self, path: str, reach: int) -> tuple[int, int]:
        """Some bytes below `reach`, or whole pages where the file wants them."""
        length = self.dice.randint(1, MOST_AT_ONCE)
        offset = self.dice.randint(0, max(0, min(reach, MOST_BYTES - length)))
        if self.is_direct(path):
            length = -(-length // PAGE) * PAGE
            offset = min(offset // PAGE * PAGE, MOST_BYTES - length)
        return offset, length

    def write(self, path: str, content: Content, offset: int, length: int) -> None:
        data = self.new_data(path, length)
        durable = not self.only_sync and self.dice.random() < 0.15
        content.write(offset, data)
        fd = self.open(path, os.O_DSYNC if durable else 0)
        try:
            self.write_at(fd, offset, data, self.is_direct(path))
        finally:
            os.close(fd)
        if durable:
            content.promise_range(offset, length)
        self.count("dsync_write" if durable else "write", length)

    def sync(self, path: str, content: Content) -> None:
        if self.only_sync:
            sync_all(self.anchor)
            self.promise()
            self.count("sync")
            return
        fd = self.open(path)
        try:
            (os.fsync if self.dice.random() < 0.5 else os.fdatasync)(fd)
        finally:
            os.close(fd)
        content.promise()
        self.count("fsync")

    def verify(self, path: str, content: Content) -> None:
        fd = self.open(path)
        try:
            self.compare(fd, path, content, 0, MOST_BYTES)
        finally:
            os.close(fd)

    def punch(self, path: str, content: Content) -> None:
        offset, length = self.range_in(path, content.size)
        length = min(length, content.size - offset)
        if length <= 0:
            return
        kind = self.dice.choice([FALLOC_FL_PUNCH_HOLE, FALLOC_FL_ZERO_RANGE])
        fd = self.open(path)
        try:
            content.zero(offset, length)
            fallocate(fd, kind | FALLOC_FL_KEEP_SIZE, offset, length)
        finally:
            os.close(fd)
        self.count("punch")

    def truncate(self, path: str, content: Content) -> None:
        size = self.dice.randint(0, MOST_BYTES)
        if self.is_direct(path):
            size = size // PAGE * PAGE
        content.truncate(size)
        os.truncate(os.path.join(self.top, path), size)
        self.count("truncate")

    def replace(self, path: str) -> None:
        """As editors do it: all of the new content is durable before it gets the name."""
        new = self.create()
        content = self.names.now(new)
        assert content
        offset, length = self.range_in(new, 0)
        self.write(new, content, offset, length)
        self.sync(new, content)
        # What is opened with O_DIRECT is known by its name.
        target = path if self.is_direct(path) == self.is_direct(new) else new + "r"
        self.names.rename(new, target)
        os.rename(os.path.join(self.top, new), os.path.join(self.top, target))
        self.sync_folder()
        self.count("replace")

    def remove(self, path: str) -> None:
        self.names.put(path, None)
        os.unlink(os.path.join(self.top, path))
        if self.dice.random() < 0.5:
            self.sync_folder()
        self.count("remove")

    def work(self) -> None:
        files = self.names.files()
        if not files or (len(files) < MOST_FILES and self.dice.random() < 0.1):
            self.create()
            return
        path = self.dice.choice(sorted(files))
        content = files[path]
        choice = self.dice.random()
        if choice < 0.5:
            self.write(path, content, *self.range_in(path, content.size))
        elif choice < 0.68:
            self.sync(path, content)
        elif choice < 0.84:
            self.verify(path, content)
        elif choice < 0.89:
            self.punch(path, content)
        elif choice < 0.93:
            self.truncate(path, content)
        elif choice < 0.97:
            self.replace(path)
        else:
            self.remove(path)

    def find(self) -> dict[str, bytes]:
        found = {}
        for name in sorted(os.listdir(self.folder)):
            with open(os.path.join(self.folder, name), "rb") as file:
                found[f"{self.name}/{name}"] = file.read()
        self.count("verified", sum(map(len, found.values())))
        return found

    def judge(self, strict: bool) -> list[str]:
        found = self.find()
        if strict:
            self.promise()
        paths = sorted(set(found) | set(self.names.states))
        objections = [
            f"{objection} ({self.names.history(path)})"
            for path in paths
            if (objection := self.names.objection(path, found.get(path)))
        ]
        self.report.counts["came_back"] += self.names.nr_came_back
        self.report.counts["tail_came_back"] += self.names.nr_tails
        self.names.nr_came_back = self.names.nr_tails = 0
        if not objections:
            self.names.settle(found)
        return objections

    def promise(self) -> None:
        self.names.commit()
        for content in self.names.files().values():
            content.promise()


class AreaWorker(Worker):
    """Works on a part of a block device, or of a large file that has all its blocks."""

    def __init__(
        self, path: str, name: str, seed: int, area: tuple[int, int], filesystem: str
    ) -> None:
        super().__init__(path, name, seed, filesystem)
        self.path = path
        self.base, length = area
        self.content = Content(sizes=[length])
        self.is_file = not path.startswith("/dev/")

    def work(self) -> None:
        length = self.dice.randint(1, MOST_AT_ONCE // PAGE) * PAGE
        offset = self.dice.randrange((self.content.size - length) // PAGE + 1) * PAGE
        choice = self.dice.random()
        fd = os.open(self.path, os.O_RDWR | os.O_DIRECT)
        try:
            if choice < 0.6:
                data = self.new_data(self.name, length)
                self.content.write(offset, data)
                self.write_at(fd, self.base + offset, data, True)
                self.count("write", length)
            elif choice < 0.75:
                self.sync(fd)
            elif choice < 0.8 and not self.is_file:
                self.content.zero(offset, length)
                fcntl.ioctl(fd, BLKDISCARD, struct.pack("<QQ", self.base + offset, length))
                self.count("discard", length)
            else:
                self.compare(fd, self.name, self.content, offset, length, self.base)
        finally:
            os.close(fd)

    def sync(self, fd: int) -> None:
        if self.only_sync:
            sync_all(self.anchor)
        else:
            os.fsync(fd)
        self.content.promise()
        self.count("fsync")

    def find(self) -> bytes:
        found = bytearray()
        fd = os.open(self.path, os.O_RDONLY | os.O_DIRECT)
        try:
            while len(found) < self.content.size:
                length = min(MOST_BYTES, self.content.size - len(found))
                piece = self.read_at(fd, self.base + len(found), length)
                if not piece:
                    break
                found += piece
        finally:
            os.close(fd)
        self.count("verified", len(found))
        return bytes(found)

    def judge(self, strict: bool) -> list[str]:
        found = self.find()
        if strict:
            if found == self.content.expect(0, self.content.size):
                return []
            self.content.promise()
        objection = self.content.objection(found)
        if not objection:
            self.content.settle(found)
        return [f"{self.name} {objection}"] if objection else []

    def promise(self) -> None:
        if self.is_file:
            self.content.promise()
