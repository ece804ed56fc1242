#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What properties of the drive do to the gain of hints, by `dieaware sim`.

A file of 8 MiB is written in pieces with other writes in between, plain or with hints, or alone
(contiguous), and then read in order, one command at a time. Each line of the table is a workload,
each column fast24 with other properties: MB/s of contiguous / plain / hinted. In workloads that are
busy somebody else writes meanwhile.

Which dies others are on by chance is worth some percent, also to a file that nobody disturbed. So
each figure is the mean of eight: others are by 0 to 7 dies ahead of the file when it is read, and
what they write at random differs, too.

bench/drives.py puts the figures on record. Usage: pieces.py TOOL    prints the table
"""

from __future__ import annotations

import itertools
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

FILE_BYTES = 8 << 20
IDLE_NS = 1_000_000_000
SEED = 20240227
UNIT_BYTES = 32 << 10
NR_PHASES = 8

Row = dict[str, Any]

DRIVES: dict[str, list[str]] = {
    "Table 2": [],
    "`hold_ns=5000000`": ["hold_ns=5000000"],
    "`register_hits=1`": ["register_hits=1"],
    "`cache_read=1`": ["cache_read=1"],
    "`plane_read=1`": ["plane_read=1"],
    "`read_ahead_kib=256`": ["read_ahead_kib=256"],
    "`stripe_lead=8 parity=1`": ["stripe_lead=8", "parity=1"],
    "`cache_read=1 plane_read=1`": ["cache_read=1", "plane_read=1"],
    "`suspend_program=8`": ["suspend_program=8"],
}

# What others write between two pieces: bytes, by the size of a piece
Others = Callable[[random.Random, int], int]


def stripe_less_a_piece(_draw: random.Random, piece: int) -> int:
    return 7 * piece


def pieces_at_random(draw: random.Random, piece: int) -> int:
    return draw.randint(1, 32) * piece


def dummy_file(_draw: random.Random, _piece: int) -> int:
    return 100 << 10


# Profiles whose file on one die is read: those that a drive or a paper stands behind, and others
PROFILES = ("fast24", "nvme-a", "nvme-b", "nvme-c", "nvme-d", "sata-b", "tlc", "qlc", "modern")
HEADLINE_BYTES = 1 << 20
# Each without reading ahead, as it is, and with as many KiB
READ_AHEAD_KIB = (0, 256)

KINDS = ("contiguous", "plain", "hinted")

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


def write_file(hint: str, others: Others | None, piece: int, phase: int) -> Iterator[str]:
    draw = random.Random(SEED + phase)
    other_at = 2 * FILE_BYTES
    for at in range(0, FILE_BYTES, piece):
        words = {"append": f"append={at - 1}" if at else "begin", "overwrite": "overwrite"}
        yield f"- write {at} {piece} {words.get(hint, '')}".rstrip()
        if others:
            length = others(draw, piece)
            yield f"- write {other_at} {length}"
            other_at += length


def commands(workload: str, kind: str, phase: int) -> Iterator[str]:
    hint, others, piece, reading = WORKLOADS[workload]
    yield "# dieaware trace 1"
    if hint == "overwrite":
        yield from write_file("", None, piece, phase)
    yield from write_file(
        hint if kind == "hinted" else "", None if kind == "contiguous" else others, piece, phase
    )
    if phase:
        yield f"- write {1 << 31} {phase * UNIT_BYTES}"
    yield f"- idle {IDLE_NS}"
    yield "- mark"
    for at in range(0, FILE_BYTES, reading):
        if "busy" in workload:
            yield f"- write {(1 << 30) + at} {BUSY_BYTES}"
        yield f"- read {at} {reading}"


def read_speed(tool: str, trace: pathlib.Path, depth: int, options: list[str]) -> float:
    command = [tool, "sim", "--json", "--queue-depth", str(depth), *options, str(trace)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout)["ops"]["read"]["mb_per_s"])


def measure(tool: str) -> list[Row]:
    """A row for each workload, drive and kind of file: MB/s of each phase."""
    speeds: dict[tuple[str, str, str], list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder, "trace")
        for workload in WORKLOADS:
            depth = 2 if "busy" in workload else 1
            for kind in KINDS:
                for phase in range(NR_PHASES):
                    trace.write_text("\n".join(commands(workload, kind, phase)) + "\n")
                    for drive, properties in DRIVES.items():
                        options = [word for one in properties for word in ("--set", one)]
                        speed = read_speed(tool, trace, depth, options)
                        speeds.setdefault((workload, drive, kind), []).append(round(speed, 1))
    return [
        {"workload": workload, "drive": drive, "kind": kind, "mb_per_s": runs}
        for (workload, drive, kind), runs in speeds.items()
    ]


def headline(profile: Row, worst: bool, kind: str, phase: int) -> Iterator[str]:
    """A file in pieces of a die unit, on one die if nothing is done against it, or at random."""
    unit = profile["parameters"]["unit_kib"] << 10
    dies = profile["parameters"]["channels"] * profile["parameters"]["dies_per_channel"]

    def others(draw: random.Random, piece: int) -> int:
        return (dies - 1) * piece if worst else draw.randint(1, 32) * piece

    yield "# dieaware trace 1"
    hint = "append" if kind == "hinted" else ""
    yield from write_file(hint, None if kind == "contiguous" else others, unit, phase)
    yield f"- idle {IDLE_NS}"
    yield "- mark"
    for at in range(0, FILE_BYTES, HEADLINE_BYTES):
        yield f"- read {at} {HEADLINE_BYTES}"


def measure_profiles(tool: str) -> list[Row]:
    """A row for each profile, reading ahead, worst and random, and kind of file: MB/s of each draw."""
    command = [tool, "sim", "--json", "--profiles"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    known = {profile["profile"]: profile for profile in json.loads(done.stdout)}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder, "trace")
        for name, ahead, worst, kind in itertools.product(
            PROFILES, READ_AHEAD_KIB, (True, False), KINDS
        ):
            options = ["--profile", name, "--set", f"read_ahead_kib={ahead}"]
            speeds = []
            for phase in range(NR_PHASES):
                lines = headline(known[name], worst, kind, phase)
                trace.write_text("\n".join(lines) + "\n")
                speeds.append(round(read_speed(tool, trace, 1, options), 1))
            rows.append(
                {
                    "profile": name,
                    "read_ahead_kib": ahead,
                    "worst": worst,
                    "kind": kind,
                    "mb_per_s": speeds,
                }
            )
    return rows


def profiles_table(rows: list[Row]) -> list[str]:
    """MB/s of contiguous, plain and hinted, and how often plain is in hinted."""
    means = {
        (row["profile"], row["read_ahead_kib"], row["worst"], row["kind"]): statistics.harmonic_mean(
            row["mb_per_s"]
        )
        for row in rows
    }
    head = ["profile"]
    for ahead in READ_AHEAD_KIB:
        suffix = f", `read_ahead_kib={ahead}`" if ahead else ""
        head += ["on one die" + suffix, "gain", "at random" + suffix, "gain"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for name in PROFILES:
        cells = [f"`{name}`"]
        for ahead, worst in itertools.product(READ_AHEAD_KIB, (True, False)):
            speeds = [means[name, ahead, worst, kind] for kind in KINDS]
            cells += [" / ".join(f"{speed:.0f}" for speed in speeds), f"{speeds[2] / speeds[1]:.1f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def table(rows: list[Row]) -> list[str]:
    """MB/s as Markdown: all bytes by all the time that they took."""
    means = {
        (row["workload"], row["drive"], row["kind"]): statistics.harmonic_mean(row["mb_per_s"])
        for row in rows
    }
    lines = ["| " + " | ".join(["", *DRIVES]) + " |", "|" + "---|" * (1 + len(DRIVES))]
    for workload in WORKLOADS:
        cells = [
            " / ".join(f"{means[workload, drive, kind]:.0f}" for kind in KINDS) for drive in DRIVES
        ]
        lines.append("| " + " | ".join([workload, *cells]) + " |")
    return lines


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    print("\n".join(table(measure(sys.argv[1]))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
