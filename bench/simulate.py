#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What a drive keeps of die order after a long time, by `dieaware sim`.

The simulator runs the module's own FTL and timing model on a virtual clock, so these
figures take seconds and are the same each time. Files are ranges of LBAs: no
filesystem, no host CPU.

Usage: simulate.py TOOL ROW...
"""

from __future__ import annotations

import json
import pathlib
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

PAGE_BYTES = 4096
UNIT_BYTES = 32 << 10
STRIPE_BYTES = 8 * UNIT_BYTES
READ_BYTES = 1 << 20
FILE_BYTES = 8 << 20
PROFILE = "fast24"
# That profile made small: 160 erase blocks a die, where one of 60 GB has 500
CAPACITY_MIB = 600
DRIVE = {"capacity_mib": CAPACITY_MIB, "units_per_eblk": 16}
NR_FILES = CAPACITY_MIB * 9 // 10 // (FILE_BYTES >> 20)
# What 6 s are for a drive of 60 GB: mending goes through the whole drive.
REST_NS = 6 * (CAPACITY_MIB << 20) // 60
DRAIN_NS = 1_000_000_000
SEED = 4

Commands = Iterator[str]


class Answer(NamedTuple):
    """A figure, what is to be said of it, and what it was measured against in the same run."""

    value: float
    note: str
    control: str
    control_value: float
    control_unit: str


def fill(nr_files: int = NR_FILES) -> Commands:
    for at in range(0, nr_files * FILE_BYTES, READ_BYTES):
        yield f"- write {at} {READ_BYTES}"


def overwrite(piece_bytes: int, times: int, hint: str, seed: int = SEED) -> Commands:
    """As much as `times` the drive shows, at random."""
    draw = random.Random(seed)
    nr_places = NR_FILES * FILE_BYTES // piece_bytes
    for _ in range(times * (CAPACITY_MIB << 20) // piece_bytes):
        yield f"- write {draw.randrange(nr_places) * piece_bytes} {piece_bytes} {hint}".rstrip()


def overwrite_hot_spot(times: int) -> Commands:
    """Nine in ten overwrites go to one in eight of the first die's flash units."""
    draw = random.Random(SEED)
    nr_units = NR_FILES * FILE_BYTES // UNIT_BYTES
    for _ in range(times * (CAPACITY_MIB << 20) // UNIT_BYTES):
        unit = draw.randrange(nr_units)
        if draw.randrange(10):
            unit = unit // 64 * 64
        yield f"- write {unit * UNIT_BYTES} {UNIT_BYTES} overwrite"


def overwrite_first_die(times: int) -> Commands:
    """Of a full drive nothing but what was first put on the first die is overwritten."""
    draw = random.Random(SEED)
    nr_stripes = (CAPACITY_MIB << 20) // STRIPE_BYTES
    for _ in range(times * (CAPACITY_MIB << 20) // UNIT_BYTES):
        yield f"- write {draw.randrange(nr_stripes) * STRIPE_BYTES} {UNIT_BYTES} overwrite"


def read_files() -> Commands:
    yield f"- idle {DRAIN_NS}"
    yield "- mark"
    for at in range(0, NR_FILES * FILE_BYTES, READ_BYTES):
        yield f"- read {at} {READ_BYTES}"


def simulate(tool: pathlib.Path, parts: list[Commands], **settings: int) -> Any:
    """The simulator's answer; `log` is the latency of each read of it."""
    with tempfile.TemporaryDirectory() as folder:
        trace, log = pathlib.Path(folder) / "trace", pathlib.Path(folder) / "log"
        with trace.open("w") as file:
            file.write("# dieaware trace 1\n")
            file.writelines(f"{command}\n" for part in parts for command in part)
        values = {**DRIVE, **settings}
        command = [str(tool), "sim", "--json", "--check", "--log", str(log), "--profile", PROFILE]
        for key, value in values.items():
            command += ["--set", f"{key}={value}"]
        answer = json.loads(subprocess.check_output([*command, str(trace)], text=True))
        with log.open() as file:
            answer["log"] = [
                int(line.rpartition("=")[2]) for line in file if line.split()[1:2] == ["read"]
            ]
    return answer


def slowest_file_ns(answer: Any) -> int:
    """Of all files, in the last time that they were read."""
    reads = answer["log"][-NR_FILES * FILE_BYTES // READ_BYTES :]
    per_file = FILE_BYTES // READ_BYTES
    return max(sum(reads[i : i + per_file]) for i in range(0, len(reads), per_file))


def _order(tool: pathlib.Path, note: str, piece_bytes: int, *rest: str) -> Answer:
    """The slowest file, in percent of the slowest of a new drive."""
    ideal = slowest_file_ns(simulate(tool, [fill(), read_files()]))
    parts = [fill(), overwrite(piece_bytes, 3, "overwrite"), iter(rest), read_files()]
    value = 100 * ideal / slowest_file_ns(simulate(tool, parts))
    return Answer(value, note, "new", FILE_BYTES * 1e3 / ideal, "MB/s")


def order_32k_at_once(tool: pathlib.Path) -> Answer:
    return _order(tool, "overwrites of 32 KiB, read at once", UNIT_BYTES)


def order_4k_at_once(tool: pathlib.Path) -> Answer:
    return _order(tool, "overwrites of 4 KiB, read at once", PAGE_BYTES)


def _order_rested(tool: pathlib.Path, piece_bytes: int) -> Answer:
    note = (
        f"overwrites of {piece_bytes >> 10} KiB, then {REST_NS / 1e6:.0f} ms of rest for "
        f"{CAPACITY_MIB} MiB, as 6 s for 60 GB"
    )
    return _order(tool, note, piece_bytes, f"- idle {REST_NS}")


def order_32k_rested(tool: pathlib.Path) -> Answer:
    return _order_rested(tool, UNIT_BYTES)


def order_4k_rested(tool: pathlib.Path) -> Answer:
    return _order_rested(tool, PAGE_BYTES)


def background_cost(tool: pathlib.Path) -> Answer:
    """Percent of write speed that background collection costs in steady state."""

    def run(bg_eblks: int) -> Any:
        parts = [fill(), overwrite(PAGE_BYTES, 2, ""), iter(["- mark"])]
        parts.append(overwrite(PAGE_BYTES, 2, "", seed=SEED + 1))
        return simulate(tool, parts, bg_eblks=bg_eblks)

    without, usual = run(0), run(3)
    speed = [answer["ops"]["write"]["mb_per_s"] for answer in (without, usual)]
    note = (
        f"random 4 KiB writes at {speed[1]:.0f} MB/s, {speed[0]:.0f} without; "
        f"write amplification {usual['waf']:.2f} and {without['waf']:.2f}"
    )
    value = max(0.0, 100 * (1 - speed[1] / speed[0]))
    return Answer(value, note, "bg_eblks=0", speed[0], "MB/s")


def spread_of_dies(answer: Any) -> float:
    """Most erases of a die above the least, in percent of the mean."""
    erases = [die["eblks_erased"] for die in answer["dies"]]
    return 100 * (max(erases) - min(erases)) * len(erases) / sum(erases)


def wear_spread(tool: pathlib.Path) -> Answer:
    """The spread that is left of two workloads, the worse of both, and what that costs."""
    spreads, controls, notes = [], [], []
    workloads: dict[str, tuple[int, Callable[[int], Commands]]] = {
        "hot spot": (NR_FILES, overwrite_hot_spot),
        "hot die of a full drive": (CAPACITY_MIB * (1 << 20) // FILE_BYTES, overwrite_first_die),
    }
    for name, (nr_files, overwrites) in workloads.items():
        levelled = simulate(tool, [fill(nr_files), overwrites(20), read_files()])
        without = simulate(tool, [fill(nr_files), overwrites(20)], wear_permille=0)
        ideal = simulate(tool, [fill(nr_files), read_files()])
        price = 100 * slowest_file_ns(ideal) / slowest_file_ns(levelled)
        spreads.append(spread_of_dies(levelled))
        controls.append(spread_of_dies(without))
        notes.append(
            f"{name}: {spreads[-1]:.1f}, {controls[-1]:.0f} without levelling; "
            f"write amplification {levelled['waf']:.2f} and {without['waf']:.2f}; "
            f"the slowest file reads at {price:.1f} percent of what it did when new"
        )
    worst = spreads.index(max(spreads))
    return Answer(spreads[worst], ". ".join(notes), "wear_permille=0", controls[worst], "% of mean")


ROWS: dict[str, Callable[[pathlib.Path], Answer]] = {
    "aged.order_32k_at_once": order_32k_at_once,
    "aged.order_32k_rested": order_32k_rested,
    "aged.order_4k_at_once": order_4k_at_once,
    "aged.order_4k_rested": order_4k_rested,
    "aged.bg_cost": background_cost,
    "aged.wear_spread": wear_spread,
}


def main() -> int:
    tool = pathlib.Path(sys.argv[1])
    print(f"bench: profile={PROFILE}", flush=True)
    for name in sys.argv[2:]:
        answer = ROWS[name](tool)
        words = (f"{key}={word}".replace(" ", "_") for key, word in answer._asdict().items())
        print(f"bench: row={name} {' '.join(words)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
