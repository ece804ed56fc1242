# SPDX-License-Identifier: GPL-2.0-only
"""A virtual SSD and its block device, between two power failures."""

from __future__ import annotations

import os
import time
from pathlib import Path

WAIT_SECONDS = 30


class PowerFailed(Exception):
    """The device has gone."""


class VirtualSsd:
    """Its directory; its block device, once the power is on."""

    def __init__(self, name: str) -> None:
        self.dir = Path("/sys/kernel/config/nvmev") / name
        self.fd = -1

    def power_on(self) -> None:
        (self.dir / "power").write_text("1")
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            device = (self.dir / "block_device").read_text().strip()
            if device and os.path.exists(f"/dev/{device}"):
                self.fd = os.open(f"/dev/{device}", os.O_RDWR | os.O_DIRECT)
                return
            time.sleep(0.02)
        raise SystemExit("The SSD did not come back.")

    def power_off(self) -> None:
        os.close(self.fd)
        (self.dir / "power").write_text("0")

    def power_cut(self) -> None:
        (self.dir / "power_cut").write_text("1")

    def cut_after(self, operations: int) -> None:
        """The power fails with a program or erase."""
        (self.dir / "power_cut_after").write_text(str(operations))

    def wait_until_off(self) -> None:
        os.close(self.fd)
        deadline = time.monotonic() + WAIT_SECONDS
        while (self.dir / "power").read_text().strip() != "0":
            if time.monotonic() > deadline:
                raise SystemExit("The SSD is still on.")
            time.sleep(0.01)


def cut_in_rounds(drive: VirtualSsd, model, rounds: int, most_operations: int) -> int:
    """Have a model do what it does until the power fails, at most after so many programs and erases, or
    by hand; then it compares. Return: steps that it has done."""
    steps = 0
    drive.power_on()
    for turn in range(rounds):
        by_itself = turn % 4 != 3
        if by_itself:
            drive.cut_after(model.random.randint(1, most_operations))
        try:
            for _ in range(100000 if by_itself else model.random.randrange(200)):
                model.step(drive)
                steps += 1
            drive.power_cut()
        except PowerFailed:
            pass
        drive.wait_until_off()
        drive.power_on()
        model.compare(drive)
    return steps
