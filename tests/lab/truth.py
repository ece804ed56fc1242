#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the hints on the wire with the truth, one by one.

Writes files in phases through a mounted filesystem. Before and after each phase
FIEMAP tells which file page every device page holds; the SSD's tracepoint tells
what each Write carried. From these follows for every Write what it should have
carried:

  OVERWRITE  every page goes to the place that already holds this file page
  APPEND     new pages; the predecessor is the place of the file page before, or none
             for the first page of a file
  nothing    metadata, a page behind a hole

In each phase a file page is written at most once (but for --in-place phases, on
filesystems that keep the place), so that the map after the phase explains all of
the phase's writes.

Prints one line of JSON: per kind "sent", "expected", "right", "precision" and
"recall", and a few of the commands that were wrong.
"""

import argparse
import json
import mmap
import os
import random
import sys
from typing import Callable, Dict, List, Optional, Set, Tuple

from wire import NO_PREDECESSOR, PAGE, ChunkMap, Command, FilePage, Trace, page_map

KIB = 1024


class Files:
    """The files of one run: buffered or O_DIRECT, always whole pages."""

    def __init__(self, folder: str, direct: bool, seed: int) -> None:
        self.folder = folder
        self.direct = direct
        self.random = random.Random(seed)
        self.paths: List[str] = []
        self.buffer = mmap.mmap(-1, 1024 * KIB)
        self.buffer.write(self.random.randbytes(1024 * KIB))

    def add(self, name: str) -> int:
        path = os.path.join(self.folder, name)
        self.paths.append(path)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))
        return len(self.paths) - 1

    def size(self, number: int) -> int:
        return os.stat(self.paths[number]).st_size

    def write(self, number: int, offset: int, length: int, sync: bool = False) -> None:
        flags = os.O_WRONLY | (os.O_DIRECT if self.direct else 0)
        fd = os.open(self.paths[number], flags)
        try:
            done = os.pwrite(fd, memoryview(self.buffer)[:length], offset)
            if done != length:
                raise OSError(f"A write of {length} bytes was cut to {done}.")
            if sync:
                os.fdatasync(fd)
        finally:
            os.close(fd)

    def append(self, number: int, length: int, sync: bool = False) -> None:
        self.write(number, self.size(number), length, sync)


# ---- phases

def interleaved_appends(files: Files) -> None:
    """Four logs grow in turn, synced each time: the paper's fragmentation."""
    logs = [files.add(f"log{i}") for i in range(4)]
    for _ in range(24):
        for number in logs:
            files.append(number, 32 * KIB, sync=True)


def large_appends(files: Files) -> None:
    """Two files grow by megabytes, writeback decides when."""
    pair = [files.add("big0"), files.add("big1")]
    for _ in range(4):
        for number in pair:
            files.append(number, 1024 * KIB)


def rewrite_whole(files: Files) -> None:
    size = files.size(0)
    for offset in range(0, size, 128 * KIB):
        files.write(0, offset, min(128 * KIB, size - offset))


def rewrite_pieces(files: Files) -> None:
    """Random pieces of a file, each page at most once, some synced."""
    offset, size, turn = 0, files.size(4), 0
    pieces = []
    while offset < size:
        length = files.random.choice([4, 8, 16, 64]) * KIB
        if files.random.random() < 0.4:
            pieces.append((offset, min(length, size - offset)))
        offset += length
    files.random.shuffle(pieces)
    for offset, length in pieces:
        turn += 1
        files.write(4, offset, length, sync=turn % 4 == 0)


def append_and_overwrite(files: Files) -> None:
    """One file gets new pages at its end and new contents in the middle."""
    for turn in range(16):
        files.write(1, turn * 44 * KIB, 16 * KIB)
        files.append(1, 24 * KIB, sync=turn % 2 == 0)


def many_files(files: Files) -> None:
    for i in range(60):
        files.append(files.add(f"small{i}"), 16 * KIB)


def grow_many_files(files: Files) -> None:
    for number in [n for n, p in enumerate(files.paths) if "/small" in p]:
        files.append(number, 16 * KIB)


def holes(files: Files) -> None:
    """Islands in a sparse file: the first page of an island follows nothing."""
    number = files.add("sparse")
    for turn in range(24):
        files.write(number, turn * 256 * KIB, 16 * KIB, sync=turn % 3 == 0)


def behind_islands(files: Files) -> None:
    """Each island grows: this does follow something."""
    number = next(n for n, p in enumerate(files.paths) if p.endswith("/sparse"))
    for turn in range(24):
        files.write(number, turn * 256 * KIB + 16 * KIB, 16 * KIB, sync=turn % 3 == 0)


def delete_some(files: Files) -> None:
    for number, path in enumerate(files.paths):
        if "/small" in path and number % 2 or path.endswith("/big1"):
            os.unlink(path)


def reuse_their_place(files: Files) -> None:
    """New files on the places of deleted ones: theirs, not overwrites."""
    for i in range(4):
        number = files.add(f"reuse{i}")
        for _ in range(8):
            files.append(number, 64 * KIB, sync=True)


def through_a_mapping(files: Files) -> None:
    """Stores through mmap, every other page of a file."""
    fd = os.open(files.paths[2], os.O_RDWR)
    with mmap.mmap(fd, files.size(2)) as view:
        for offset in range(0, len(view), 2 * PAGE):
            view[offset:offset + 8] = b"overlaid"
        view.flush()
    os.close(fd)


def several_writers(files: Files) -> None:
    """Processes that append to files of their own at the same time."""
    numbers = [files.add(f"writer{i}") for i in range(4)]
    children = []
    for number in numbers:
        child = os.fork()
        if not child:
            for _ in range(16):
                files.append(number, 32 * KIB, sync=True)
            os._exit(0)
        children.append(child)
    for child in children:
        _, status = os.waitpid(child, 0)
        if status:
            raise RuntimeError("A writer failed.")


def records(files: Files) -> None:
    """Small records, each synced: the tail page is written again in place."""
    number = files.add("records")
    for _ in range(40):
        files.append(number, 1000, sync=True)


def same_page_again(files: Files) -> None:
    for _ in range(20):
        files.write(3, 64 * KIB, 8 * KIB, sync=True)


Phase = Callable[[Files], None]
PHASES: List[Phase] = [
    interleaved_appends, large_appends, rewrite_whole, rewrite_pieces,
    append_and_overwrite, many_files, grow_many_files, holes, behind_islands,
    delete_some, reuse_their_place, several_writers,
]
BUFFERED_PHASES: List[Phase] = [through_a_mapping]
IN_PLACE_PHASES: List[Phase] = [same_page_again]
IN_PLACE_BUFFERED_PHASES: List[Phase] = [records]


# ---- judging

class Tally:
    """Counts of one kind of hint."""

    def __init__(self) -> None:
        self.sent = 0
        self.expected = 0
        self.right = 0

    def figures(self) -> Dict[str, float]:
        return {
            "sent": self.sent,
            "expected": self.expected,
            "right": self.right,
            "precision": round(self.right / self.sent, 4) if self.sent else 0.0,
            "recall": round(self.right / self.expected, 4) if self.expected else 0.0,
        }


class Judge:
    """Follows which device page holds what, command by command."""

    def __init__(self) -> None:
        self.kinds = {"append": Tally(), "overwrite": Tally()}
        self.plain = 0
        self.wrong: Dict[str, int] = {}
        self.examples: List[str] = []

    def phase(self, name: str, before: Dict[int, FilePage], after: Dict[int, FilePage],
              commands: List[Command]) -> None:
        self.holder = dict(before)
        self.place = {page: where for where, page in before.items()}
        self.final = {page: where for where, page in after.items()}
        for command in commands:
            owners = self.owners_of(command, after)
            expected, preds = self.expect(command, owners)
            self.count(name, command, expected, preds, owners)
            if owners:
                for i, owner in enumerate(owners):
                    self.holder[command.first_page + i] = owner
                    self.place[owner] = command.first_page + i

    @staticmethod
    def owners_of(command: Command, after: Dict[int, FilePage]) -> List[FilePage]:
        """The file pages of a command; none unless all belong to one file in order."""
        owners = []
        for i in range(command.nr_pages):
            owner = after.get(command.first_page + i)
            if owner is None or (owners and owner != (owners[0][0], owners[0][1] + i)):
                return []
            owners.append(owner)
        return owners if command.aligned else []

    def expect(self, command: Command, owners: List[FilePage]) -> Tuple[str, Set[int]]:
        if not owners:
            return "none", set()
        stays = [self.holder.get(command.first_page + i) == owner
                 for i, owner in enumerate(owners)]
        if all(stays):
            return "overwrite", set()
        number, file_page = owners[0]
        previous = (number, file_page - 1)
        if any(stays):
            # Pieces that are not worth a command each go together; that they follow something is true.
            return ("mixed", {self.place[previous]}) if previous in self.place else ("cut", set())
        if file_page == 0:
            return "append", {NO_PREDECESSOR}
        if previous not in self.place:
            return "none", {self.final[previous]} if previous in self.final else set()
        # Two queues may swap neighbours, so the place they end at is right too.
        return "append", {self.place[previous], self.final.get(previous, -1)}

    def count(self, phase: str, command: Command, expected: str, preds: Set[int],
              owners: List[FilePage]) -> None:
        sent = "append" if command.append else "overwrite" if command.overwrite else "none"
        if expected == "none" and sent == "append" and command.pred_page in preds:
            expected = "append"
        if expected == "mixed" and sent == "append":
            expected = "append"
        if expected in self.kinds:
            self.kinds[expected].expected += 1
        if sent == "none":
            self.plain += 1
            if expected in ("none", "cut"):
                return
        right = sent == expected and not (command.append and command.overwrite)
        if sent == "append" and command.pred_page not in preds:
            right = False
        if sent in self.kinds:
            self.kinds[sent].sent += 1
            self.kinds[sent].right += right
        if not right:
            what = f"{phase}: {expected} expected, {sent} sent"
            self.wrong[what] = self.wrong.get(what, 0) + 1
            if self.wrong[what] <= 3:
                self.examples.append(f"{what}: {command} {owners[:1]} {sorted(preds)}")


def run(args: argparse.Namespace) -> Dict[str, object]:
    direct = args.mode == "direct"
    in_place = args.fs in ("ext4", "xfs")
    files = Files(args.folder, direct, args.seed)
    phases = list(PHASES)
    if not direct:
        phases += BUFFERED_PHASES
    if in_place:
        phases += IN_PLACE_PHASES + ([] if direct else IN_PLACE_BUFFERED_PHASES)
    trace = Trace(args.lba_bytes)
    judge = Judge()
    nr_commands = 0

    def snapshot() -> Dict[int, FilePage]:
        os.sync()
        chunks: Optional[ChunkMap] = ChunkMap(args.device) if args.fs == "btrfs" else None
        return page_map(files.paths, chunks, args.shift_pages)

    trace.start()
    try:
        for phase in phases:
            before = snapshot()
            trace.clear()
            phase(files)
            after = snapshot()
            commands = trace.commands()
            nr_commands += len(commands)
            judge.phase(phase.__name__, before, after, commands)
    finally:
        trace.stop()
    return {
        "fs": args.fs,
        "mode": args.mode,
        "writes": nr_commands,
        "plain": judge.plain,
        **{kind: tally.figures() for kind, tally in judge.kinds.items()},
        "wrong": judge.wrong,
        "examples": judge.examples[:args.examples],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fs", required=True, choices=["ext4", "xfs", "btrfs", "f2fs"])
    parser.add_argument("--mode", required=True, choices=["buffered", "direct"])
    parser.add_argument("--folder", required=True, help="an empty folder of the filesystem")
    parser.add_argument("--device", required=True, help="the block device it is on")
    parser.add_argument("--lba-bytes", type=int, default=512)
    parser.add_argument("--shift-pages", type=int, default=0,
                        help="where the filesystem begins in the namespace")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--examples", type=int, default=12)
    print(json.dumps(run(parser.parse_args())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
