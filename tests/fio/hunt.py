#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Look for wrong data inside a guest; scripts/fio --hunt starts it.

hunt.py SECONDS SEED [host]    for SECONDS, in turns: reread (see reread.c) on a virtual SSD and on
                               null_blk with memory, below dm-linear and the target in both
                               modes, on the device itself and in a file on xfs

"host" shows that wrong data would be found: the reader spoils a buffer of its own, once; on a virtual
SSD too, whose notes of what it moved where are then shown, as with any wrong data.
Prints a line of JSON for each turn, {"cell": ..., "reads": N}, and what is known of wrong
data as lines that begin with "# ".
"""

import contextlib
import itertools
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import ContextManager, Dict, Iterator, List, Optional, Tuple

import run
from evidence import Evidence, armed

READER = str(Path(__file__).resolve().parent / "reread")
MIB = 4
SPOIL_AFTER_READS = 2000

# Disk, mode and place
Cell = Tuple[str, str, str]


@contextlib.contextmanager
def null_blk() -> Iterator[str]:
    run.run("modprobe", "null_blk", "nr_devices=0")
    folder = Path("/sys/kernel/config/nullb/hunt")
    folder.mkdir()
    # Completions by a timer, as the virtual SSD's.
    for name, value in (("size", "512"), ("memory_backed", "1"), ("irqmode", "2"),
                        ("completion_nsec", "40000"), ("hw_queue_depth", "1023"), ("power", "1")):
        (folder / name).write_text(value)
    index = (folder / "index").read_text().strip()
    names = [f"/dev/nullb{index}", "/dev/hunt"]
    try:
        yield next(name for name in names if Path(name).exists())
    finally:
        folder.rmdir()


def read_again_and_again(where: Tuple[str, str], seconds: int, seed: int,
                         swap_at: int) -> Dict[str, int]:
    done = subprocess.run([READER, *where, str(MIB), str(seconds), str(seed), str(swap_at)],
                          capture_output=True, text=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode not in (0, 1) or not found or "done" not in found[-1]:
        raise RuntimeError(f"reread ended with {done.returncode}: {done.stderr.strip()}")
    for entry in found[:-1]:
        print(f"# {json.dumps(entry)}")
    return found[-1]["done"]


def new_disk(disk: str) -> ContextManager[str]:
    return null_blk() if disk == "null_blk" else run.ssd(["capacity_mib=512"])


def watched(disk: str, mode: str) -> ContextManager[Optional[Evidence]]:
    """What null_blk moves nobody notes."""
    return contextlib.nullcontext() if disk == "null_blk" else armed(run.SSD, mode)


def turn(cell: Cell, seconds: int, seed: int, swap_at: int) -> Dict[str, int]:
    disk, mode, place = cell
    with new_disk(disk) as path, watched(disk, mode) as evidence, run.target(path, mode) as above, \
            run.filesystem("xfs", above) if place == "xfs" else contextlib.nullcontext():
        where = ("file", f"{run.MOUNT}/reread") if place == "xfs" else ("device", above)
        counts = read_again_and_again(where, seconds, seed, swap_at)
        if evidence:
            faults = evidence.faults()
            if faults:
                print(f"# the drive has moved something else: {faults}")
            if counts["wrong"] or faults:
                evidence.show()
                counts["wrong"] = max(counts["wrong"], 1)
        return counts


def cells(spoiled: bool) -> List[Cell]:
    if spoiled:
        return [("null_blk", "hint", "device"), ("ssd", "hint", "device")]
    return list(itertools.product(("ssd", "null_blk"), ("linear", "hint", "log"), ("device", "xfs")))


def main() -> int:
    seconds, seed, spoiled = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] == ["host"]
    run.run("modprobe", "dm-dieaware")
    Path(run.MOUNT).mkdir(exist_ok=True)
    todo = cells(spoiled)
    end = time.monotonic() + seconds
    for index, cell in enumerate(todo):
        share = int(end - time.monotonic()) // (len(todo) - index)
        counts = turn(cell, max(share, 1), seed + index, SPOIL_AFTER_READS * spoiled)
        print(json.dumps({"cell": " ".join(cell), **counts}), flush=True)
    print("all done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
