#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What a target in log mode answers to the message "where", against what is there.

log-where.py scatter TARGET NR SEED: write each of the first NR pages alone, in random order,
with data that no other page has.
log-where.py runs NAME FILE: ask for all pages, and write the runs that are answered to FILE.
Prints messages, runs and mapped pages.
log-where.py compare RUNS TARGET BELOW FIRST: every page of the target is what the device
below has at the told place, pages there counting from FIRST on, or zeroes.
log-where.py dump RUNS DUMP: 'dieaware dump --part map' says the same.
log-where.py whole NAME NR ROUNDS: answers about NR pages go on where the one before ended, and
are within the device, whatever others do meanwhile.
"""

import mmap
import os
import random
import re
import subprocess
import sys
from typing import Iterator, List, Optional, Tuple

from logdump import read_dump

PAGE = 4096
# Read at once
PIECE_PAGES = 256

Run = Tuple[int, Optional[int], int]


def ask(name: str, lpn: int, pages: int) -> Tuple[List[Run], int]:
    """Runs, one behind the other from lpn on, and where they end."""
    command = ["dmsetup", "message", name, "0", "where", str(lpn), str(pages)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    *lines, last = said.splitlines()
    runs: List[Run] = []
    at = lpn
    for line in lines:
        found = re.fullmatch(r"(\d+) (\d+|-) (\d+)", line)
        if not found or int(found[1]) != at or found[3] == "0":
            sys.exit(f"'{line}' does not go on at {at}.")
        runs.append((at, None if found[2] == "-" else int(found[2]), int(found[3])))
        at += runs[-1][2]
    if last != f"next={at}" or not lpn < at <= lpn + pages:
        sys.exit(f"'{last}' is not where an answer about {pages} pages from {lpn} on ends: {at}")
    return runs, at


def ask_all(name: str, pages: int) -> Iterator[List[Run]]:
    at = 0
    while at < pages:
        runs, at = ask(name, at, pages - at)
        yield runs


def status(name: str, key: str) -> int:
    said = subprocess.run(["dmsetup", "status", name], check=True, capture_output=True, text=True)
    found = re.search(rf"\b{key}=(\d+)", said.stdout)
    if not found:
        sys.exit(f"The status has no {key}.")
    return int(found[1])


def write_runs(name: str, path: str) -> None:
    messages = count = mapped = 0
    with open(path, "w") as file:
        for runs in ask_all(name, status(name, "lpns")):
            messages += 1
            for lpn, dpn, pages in runs:
                count += 1
                mapped += pages if dpn is not None else 0
                file.write(f"{lpn} {'-' if dpn is None else dpn} {pages}\n")
    print(messages, count, mapped)


def read_runs(path: str) -> List[Run]:
    runs: List[Run] = []
    with open(path) as file:
        for line in file:
            lpn, dpn, pages = line.split()
            runs.append((int(lpn), None if dpn == "-" else int(dpn), int(pages)))
    return runs


def read(device: int, page: int, memory: mmap.mmap) -> bytes:
    if os.preadv(device, [memory], page * PAGE) != len(memory):
        sys.exit(f"Page {page} cannot be read.")
    return memory[:]


def compare(runs: List[Run], target: int, below: int, first: int) -> None:
    for lpn, dpn, pages in runs:
        for at in range(0, pages, PIECE_PAGES):
            memory = mmap.mmap(-1, min(PIECE_PAGES, pages - at) * PAGE)
            data = read(target, lpn + at, memory)
            there = bytes(len(memory))
            if dpn is not None:
                there = read(below, first + dpn + at, memory)
            if data != there:
                sys.exit(f"Of {len(memory) // PAGE} pages from {lpn + at} on not all are there.")


def compare_dump(runs: List[Run], path: str) -> None:
    told = {lpn + i: dpn + i for lpn, dpn, pages in runs if dpn is not None for i in range(pages)}
    places = read_dump(path)
    if not places or told != places:
        sys.exit(f"{len(told)} pages were told, {len(places)} are dumped, not in the same places.")


def scatter(target: int, pages: int, seed: int) -> None:
    memory = mmap.mmap(-1, PAGE)
    order = list(range(pages))
    random.Random(seed).shuffle(order)
    for page in order:
        memory[:] = f"{seed} {page} ".encode().ljust(32) * (PAGE // 32)
        os.pwritev(target, [memory], page * PAGE)


def direct(path: str, flags: int = os.O_RDONLY) -> int:
    return os.open(path, flags | os.O_DIRECT)


def watch(name: str, pages: int, rounds: int) -> None:
    for _ in range(rounds):
        for runs in ask_all(name, status(name, "lpns")):
            if any(dpn is not None and dpn + nr > pages for _, dpn, nr in runs):
                sys.exit("A place is behind the end of the device.")


def main() -> None:
    verb, *args = sys.argv[1:]
    if verb == "scatter":
        scatter(direct(args[0], os.O_WRONLY), int(args[1]), int(args[2]))
    elif verb == "runs":
        write_runs(args[0], args[1])
    elif verb == "compare":
        compare(read_runs(args[0]), direct(args[1]), direct(args[2]), int(args[3]))
    elif verb == "dump":
        compare_dump(read_runs(args[0]), args[1])
    else:
        watch(args[0], int(args[1]), int(args[2]))


if __name__ == "__main__":
    main()
