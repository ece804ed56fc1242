#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What properties of the drive do to the gain of hints, by `dieaware sim`.

A file of 8 MiB is written in pieces with other writes in between, plain or with hints, or alone
(contiguous), and then read in order, one command at a time. Each line of the table is a workload,
each column fast24 with other properties: MB/s of contiguous / plain / hinted. In workloads that are
busy somebody else writes meanwhile.

Usage: pieces.py TOOL
"""

from __future__ import annotations

import json
import pathlib
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator

FILE_BYTES = 8 << 20
IDLE_NS = 1_000_000_000
SEED = 20240227

DRIVES: dict[str, list[str]] = {
    "as it is": [],
    "`hold_ns=0`": ["hold_ns=0"],
    "`register_hits=0`": ["register_hits=0"],
    "`cache_read=1`": ["cache_read=1"],
    "all three": ["hold_ns=0", "register_hits=0", "cache_read=1"],
    "`hold_ns=0 suspend_program=8`": ["hold_ns=0", "suspend_program=8"],
}

# What others write between two pieces: bytes, by the size of a piece
Others = Callable[[random.Random, int], int]


def stripe_less_a_piece(_draw: random.Random, piece: int) -> int:
    return 7 * piece


def pieces_at_random(draw: random.Random, piece: int) -> int:
    return draw.randint(1, 32) * piece


def dummy_file(_draw: random.Random, _piece: int) -> int:
    return 100 << 10


# What somebody else writes before each read of a workload that is busy, without waiting for it
BUSY_BYTES = 256 << 10

# Hint, what others write, bytes of a piece, bytes of a read
WORKLOADS: dict[str, tuple[str, Others, int, int]] = {
    "append worst": ("append", stripe_less_a_piece, 32 << 10, 1 << 20),
    "append random": ("append", pieces_at_random, 32 << 10, 1 << 20),
    "overwrite worst": ("overwrite", stripe_less_a_piece, 32 << 10, 1 << 20),
    "overwrite random": ("overwrite", pieces_at_random, 32 << 10, 1 << 20),
    "rows of 16 KiB, read one by one": ("append", dummy_file, 16 << 10, 16 << 10),
    "rows of 16 KiB, read by 128 KiB": ("append", dummy_file, 16 << 10, 128 << 10),
    "append worst, busy": ("append", stripe_less_a_piece, 32 << 10, 1 << 20),
    "overwrite random, busy": ("overwrite", pieces_at_random, 32 << 10, 1 << 20),
}


def write_file(hint: str, others: Others | None, piece: int) -> Iterator[str]:
    draw = random.Random(SEED)
    other_at = 2 * FILE_BYTES
    for at in range(0, FILE_BYTES, piece):
        words = {"append": f"append={at - 1}" if at else "", "overwrite": "overwrite"}
        yield f"- write {at} {piece} {words.get(hint, '')}".rstrip()
        if others:
            length = others(draw, piece)
            yield f"- write {other_at} {length}"
            other_at += length


def commands(workload: str, kind: str) -> Iterator[str]:
    hint, others, piece, reading = WORKLOADS[workload]
    yield "# dieaware trace 1"
    if hint == "overwrite":
        yield from write_file("", None, piece)
    yield from write_file(
        hint if kind == "hinted" else "", None if kind == "contiguous" else others, piece
    )
    yield f"- idle {IDLE_NS}"
    yield "- mark"
    for at in range(0, FILE_BYTES, reading):
        if "busy" in workload:
            yield f"- write {(1 << 30) + at} {BUSY_BYTES}"
        yield f"- read {at} {reading}"


def read_speed(tool: str, trace: pathlib.Path, depth: int, properties: list[str]) -> float:
    options = [word for one in properties for word in ("--set", one)]
    command = [tool, "sim", "--json", "--queue-depth", str(depth), *options, str(trace)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout)["ops"]["read"]["mb_per_s"])


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    print("|", " | ".join(["", *DRIVES]), "|")
    print("|" + "---|" * (1 + len(DRIVES)))
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder, "trace")
        for workload in WORKLOADS:
            depth = 2 if "busy" in workload else 1
            cells: dict[str, list[str]] = {drive: [] for drive in DRIVES}
            for kind in ("contiguous", "plain", "hinted"):
                trace.write_text("\n".join(commands(workload, kind)) + "\n")
                for drive, properties in DRIVES.items():
                    speed = read_speed(sys.argv[1], trace, depth, properties)
                    cells[drive].append(f"{speed:.0f}")
            print("|", " | ".join([workload, *(" / ".join(cell) for cell in cells.values())]), "|")
    return 0


if __name__ == "__main__":
    sys.exit(main())
