# SPDX-License-Identifier: GPL-2.0-only
"""Whether there is room for the machines: the devices lie in their memory, and the suite and the
results on the disk."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from suite import Unusable

# A copy of the suite, and what the tests leave.
DISK_MIB = 2048


@dataclass(frozen=True)
class Room:
    """What is free, in MiB, and the folder that the disk was asked for."""

    memory: int
    disk: int
    folder: Path


def room_here() -> Room:
    """That of this machine."""
    info = Path("/proc/meminfo").read_text().split()
    memory = int(info[info.index("MemAvailable:") + 1]) // 1024
    return Room(memory, shutil.disk_usage(Path.home()).free >> 20, Path.home())


def check_room(room: Room, jobs: int, mem: int) -> None:
    """Refuse to start that many machines with that much memory where there is too little."""
    if room.memory < jobs * mem:
        raise Unusable(f"{jobs * mem} MiB of memory are needed and {room.memory} are free: use"
                       " --jobs 1, or --size and --mem (a bit more than the size).")
    if room.disk < DISK_MIB:
        raise Unusable(f"{DISK_MIB} MiB of disk are needed in {room.folder} and {room.disk} are free:"
                       " make room.")
