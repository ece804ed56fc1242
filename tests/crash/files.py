#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Files on a filesystem, and what of them is promised to survive a power failure.

files.py work FOLDER MARKS SEED WORKERS OPERATIONS MESSAGE...: each worker, in a folder of its own,
creates, writes, truncates, replaces and removes files, with fsync() of files and folders
now and then. Meanwhile MESSAGE, a command to which "clean" or "checkpoint" is added, is run.
files.py check FOLDER TRACE LINE: after a power failure at that line of the trace, each file
must be there as it was promised, or as it was made later.

What is done is written to MARKS, the kernel's trace_marker, before it is done:

    files: c PATH               created, empty
    files: w PATH VERSION PAGE NR  so many pages are written
    files: t PATH PAGES         truncated
    files: r PATH OTHER         renamed to OTHER, which it replaces
    files: u PATH               removed

and what is promised, after it is:

    files: e PATH               the file's content
    files: s PATH PAGE NR       so many of its pages, and that it is large enough to have them
    files: D FOLDER             which files the folder has
"""

import mmap
import os
import random
import subprocess
import sys
import time
from typing import Dict, List, Optional, Tuple

PAGE = 4096
NO_VERSION = 0
MOST_FILES = 10
MOST_PAGES = 64
MOST_AT_ONCE = 16
# f2fs ends an fsync() too early if a checkpoint of its own, which is not durable yet, has written
# the file's node, and a write with O_DIRECT and O_DSYNC before it is durable: on plain disks as
# well (docs/testing-crash.md). So only sync() promises something there, but where plain disks
# are tried.
PROMISES_FILES = os.environ.get("FS") != "f2fs" or os.environ.get("TARGET", "log") != "log"


def page_of(path: str, page: int, version: int) -> bytes:
    """What a page holds: in each of its parts which it is, so that a torn one is found out."""
    text = f"{path} {page} {version}".encode()
    return text.ljust(64, b".") * (PAGE // 64)


def is_direct(path: str) -> bool:
    return os.path.basename(path).startswith("d")


class File:
    """The versions that each page may be, oldest first, and the sizes that the file may have."""

    def __init__(self) -> None:
        self.pages: Dict[int, List[int]] = {}
        self.sizes = [0]

    def versions(self, page: int) -> List[int]:
        return self.pages.setdefault(page, [NO_VERSION])

    def write(self, version: int, first: int, nr: int) -> None:
        for page in range(first, first + nr):
            self.versions(page).append(version)
        self.sizes.append(max(self.sizes[-1], first + nr))

    def truncate(self, size: int) -> None:
        for page in self.pages:
            if page >= size:
                self.pages[page].append(NO_VERSION)
        self.sizes.append(size)

    def promise(self) -> None:
        for versions in self.pages.values():
            del versions[:-1]
        del self.sizes[:-1]

    def promise_pages(self, first: int, nr: int) -> None:
        for page in range(first, first + nr):
            del self.versions(page)[:-1]
        self.sizes = [size for size in self.sizes if size >= first + nr]

    def wrong(self, path: str, name: str) -> str:
        """What is wrong with a file; nothing if it is one of those that it may be."""
        with open(path, "rb") as file:
            data = file.read()
        size = len(data) // PAGE
        if len(data) % PAGE or not min(self.sizes) <= size <= max(self.sizes):
            return f"has {len(data)} bytes and may have {sorted(set(self.sizes))} pages"
        for page in range(size):
            found = data[page * PAGE:(page + 1) * PAGE]
            may_be = self.pages.get(page, [NO_VERSION])
            if not any(found == (page_of(name, page, version) if version else bytes(PAGE))
                       for version in may_be):
                return f"has in page {page} {found[:64]!r} and may have {may_be}"
        return ""


class Model:
    """What may be found under each path: nothing (None), or a file as it was."""

    def __init__(self) -> None:
        self.names: Dict[str, List[Tuple[Optional[File], str]]] = {}

    def states(self, path: str) -> List[Tuple[Optional[File], str]]:
        return self.names.setdefault(path, [(None, path)])

    def file(self, path: str) -> File:
        file = self.states(path)[-1][0]
        if not file:
            sys.exit(f"The trace works on {path}, which is not there.")
        return file

    def happen(self, verb: str, path: str, rest: List[str]) -> None:
        if verb == "c":
            self.states(path).append((File(), path))
        elif verb == "w":
            self.file(path).write(*map(int, rest))
        elif verb == "t":
            self.file(path).truncate(int(rest[0]))
        elif verb == "r":
            self.states(rest[0]).append(self.states(path)[-1])
            self.states(path).append((None, path))
        elif verb == "u":
            self.states(path).append((None, path))
        elif verb == "e":
            self.file(path).promise()
        elif verb == "s":
            self.file(path).promise_pages(*map(int, rest))
        elif verb == "D":
            for name, states in self.names.items():
                if os.path.dirname(name) == path:
                    del states[:-1]

    def wrong(self, folder: str, path: str) -> str:
        where = os.path.join(folder, path)
        reasons = []
        for file, name in self.names[path]:
            if bool(file) != os.path.exists(where):
                reasons.append("is not there" if file else "is there")
                continue
            reason = file.wrong(where, name) if file else ""
            if not reason:
                return ""
            reasons.append(reason)
        return f"{path}: " + "; or ".join(reasons)


class Worker:
    """One process that works on files in its own folder."""

    def __init__(self, top: str, name: str, marks: int, dice: random.Random) -> None:
        self.top, self.name, self.marks, self.dice = top, name, marks, dice
        self.folder = os.open(os.path.join(top, name), os.O_RDONLY)
        self.files: Dict[str, int] = {}
        self.version = 0
        self.created = 0
        self.buffer = mmap.mmap(-1, MOST_PAGES * PAGE)

    def mark(self, *words: object) -> None:
        os.write(self.marks, ("files: " + " ".join(map(str, words)) + "\n").encode())

    def sync_folder(self) -> None:
        os.fsync(self.folder)
        self.mark("D", self.name)

    def open(self, path: str, flags: int = 0) -> int:
        direct = os.O_DIRECT if is_direct(path) else 0
        return os.open(os.path.join(self.top, path), os.O_RDWR | direct | flags, 0o644)

    def create(self) -> str:
        self.created += 1
        path = f"{self.name}/{self.dice.choice('db')}{self.created}"
        self.mark("c", path)
        os.close(self.open(path, os.O_CREAT | os.O_EXCL))
        self.files[path] = 0
        if self.dice.random() < 0.5:
            self.sync_folder()
        return path

    def write(self, path: str, first: int, nr: int, sync: bool) -> None:
        self.version += 1
        for i in range(nr):
            self.buffer[i * PAGE:(i + 1) * PAGE] = page_of(path, first + i, self.version)
        self.mark("w", path, self.version, first, nr)
        fd = self.open(path, os.O_DSYNC if sync else 0)
        if os.pwrite(fd, memoryview(self.buffer)[:nr * PAGE], first * PAGE) != nr * PAGE:
            sys.exit(f"{path} could not be written.")
        os.close(fd)
        if sync and PROMISES_FILES:
            self.mark("s", path, first, nr)
        self.files[path] = max(self.files[path], first + nr)

    def sync(self, path: str) -> None:
        fd = self.open(path)
        os.fsync(fd)
        os.close(fd)
        if not PROMISES_FILES:
            os.sync()
        self.mark("e", path)

    def truncate(self, path: str) -> None:
        size = self.dice.randint(0, self.files[path])
        self.mark("t", path, size)
        os.truncate(os.path.join(self.top, path), size * PAGE)
        self.files[path] = size

    def replace(self, path: str) -> None:
        """As editors do it: all of the new content is durable before it gets the name."""
        new = self.create()
        self.write(new, 0, self.dice.randint(1, MOST_AT_ONCE), False)
        self.sync(new)
        self.mark("r", new, path)
        os.rename(os.path.join(self.top, new), os.path.join(self.top, path))
        self.sync_folder()
        # It is called as before, but its pages say otherwise: nothing is written to it.
        del self.files[path], self.files[new]

    def remove(self, path: str) -> None:
        self.mark("u", path)
        os.unlink(os.path.join(self.top, path))
        del self.files[path]
        if self.dice.random() < 0.5:
            self.sync_folder()

    def step(self) -> None:
        if not self.files or (len(self.files) < MOST_FILES and self.dice.random() < 0.1):
            self.create()
            return
        path = self.dice.choice(sorted(self.files))
        choice = self.dice.random()
        if choice < 0.6:
            nr = self.dice.randint(1, MOST_AT_ONCE)
            first = self.dice.randint(0, min(self.files[path], MOST_PAGES - nr))
            # Data that a write makes durable itself, without a flush of all else
            sync = self.dice.random() < 0.2
            self.write(path, first, nr, sync)
        elif choice < 0.86:
            self.sync(path)
        elif choice < 0.92:
            self.replace(path)
        elif choice < 0.96:
            self.truncate(path)
        else:
            self.remove(path)


def work(top: str, marks: str, seed: int, workers: int, operations: int,
         message: List[str]) -> None:
    fd = os.open(marks, os.O_WRONLY)
    names = [f"w{i}" for i in range(workers)]
    for name in names:
        os.mkdir(os.path.join(top, name))
    os.sync()
    children = []
    for i, name in enumerate(names):
        child = os.fork()
        if not child:
            worker = Worker(top, name, fd, random.Random(seed * 100 + i))
            for _ in range(operations):
                worker.step()
            os._exit(0)
        children.append(child)
    dice = random.Random(seed)
    while children:
        child, status = os.waitpid(children[0], os.WNOHANG)
        if child and status:
            sys.exit("A worker has failed.")
        if child:
            children.remove(child)
            continue
        subprocess.run(message + [dice.choice(["clean", "checkpoint"])], check=True)
        time.sleep(0.2)


def check(top: str, trace: str, last: int) -> None:
    model = Model()
    with open(trace) as file:
        for number, line in enumerate(file, 1):
            if number > last:
                break
            if ": files: " in line:
                verb, path, *rest = line.split(": files: ")[1].split()
                model.happen(verb, path, rest)
    wrong = [text for path in sorted(model.names) if (text := model.wrong(top, path))]
    if wrong:
        sys.exit("\n".join(wrong[:5]))


def main() -> None:
    verb, top, *rest = sys.argv[1:]
    if verb == "work":
        work(top, rest[0], int(rest[1]), int(rest[2]), int(rest[3]), rest[4:])
    else:
        check(top, rest[0], int(rest[1]))


if __name__ == "__main__":
    main()
