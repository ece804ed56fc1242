# SPDX-License-Identifier: GPL-2.0-only
"""Which data a virtual SSD has moved where, kept for when some of it is wrong: as armed here, the drive
compares all that it moves once more (check_moves), and the tracepoint nvmev_move tells page and
checksum of each Read and Write into a ring of its own. See docs/nvmevirt-backend.md.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

TRACING = Path("/sys/kernel/tracing")
DEBUGFS = Path("/sys/kernel/debug/nvmev")
RING_KIB = 4096
# Log mode's cleaning reads what it does not want among other pages into one page of memory, which
# then has the last of it.
FAULTS = {"log": ("commands_changed",)}
FAULTS_ELSEWHERE = ("commands_changed", "reads_differing")


class Evidence:
    def __init__(self, ssd: str, mode: str) -> None:
        self.drive = DEBUGFS / ssd
        self.ring = TRACING / "instances" / f"moves-{ssd}"
        self.names = FAULTS.get(mode, FAULTS_ELSEWHERE)

    def arm(self) -> None:
        # Names of tasks have the kernel patch its scheduler (tests/lab/rc); the instance inherits that.
        (TRACING / "options/record-cmd").write_text("0")
        self.ring.mkdir(exist_ok=True)
        (self.ring / "buffer_size_kb").write_text(str(RING_KIB))
        (self.ring / "events/nvmev/nvmev_move/enable").write_text("1")
        (self.drive / "check_moves").write_text("1")

    def disarm(self) -> None:
        (self.ring / "events/nvmev/nvmev_move/enable").write_text("0")
        self.ring.rmdir()

    def counts(self) -> dict[str, int]:
        lines = (line.split() for line in (self.drive / "controller").read_text().splitlines())
        return {name: int(number) for name, number in lines
                if name in ("moves_checked", *FAULTS_ELSEWHERE)}

    def faults(self) -> str:
        """What the drive has found wrong itself; nothing if all it moved was what it should be."""
        return ", ".join(f"{name} {number}" for name, number in self.counts().items()
                         if name in self.names and number)

    def show(self) -> None:
        """All that is known, as lines that begin with "# "; meanwhile nothing more is noted."""
        (self.ring / "tracing_on").write_text("0")
        print(f"# the drive's own second look: {self.counts()}")
        with open(self.ring / "trace", encoding="ascii", errors="replace") as lines:
            for line in lines:
                if "nvmev_move:" in line:
                    print(f"# {line.strip()}")
        print("", end="", flush=True)
        (self.ring / "tracing_on").write_text("1")


@contextlib.contextmanager
def armed(ssd: str, mode: str) -> Iterator[Evidence]:
    evidence = Evidence(ssd, mode)
    evidence.arm()
    try:
        yield evidence
    finally:
        evidence.disarm()
