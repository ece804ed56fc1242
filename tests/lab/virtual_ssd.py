# SPDX-License-Identifier: GPL-2.0-only
"""A virtual SSD and its block device, between two power failures."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Callable

WAIT_SECONDS = 60


class PowerFailed(Exception):
    """The device has gone."""


def wait_for(what: str, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"This did not happen in time: {what}.")
        time.sleep(0.01)


class Switches:
    """Those of a virtual SSD, and its block device, once the power is on."""

    def __init__(self, name: str) -> None:
        self.dir = Path("/sys/kernel/config/nvmev") / name
        self.device = ""

    def is_off(self) -> bool:
        return (self.dir / "power").read_text().strip() == "0"

    def has_device(self) -> bool:
        self.device = "/dev/" + (self.dir / "block_device").read_text().strip()
        return self.device != "/dev/" and os.path.exists(self.device)

    def power_on(self) -> None:
        (self.dir / "power").write_text("1")
        wait_for("the SSD comes back", self.has_device)

    def power_off(self) -> None:
        (self.dir / "power").write_text("0")

    def power_cut(self) -> None:
        (self.dir / "power_cut").write_text("1")

    def cut_after(self, operations: int) -> None:
        """The power fails with a program or erase."""
        (self.dir / "power_cut_after").write_text(str(operations))

    def wait_until_off(self) -> None:
        wait_for("the SSD is off", self.is_off)


class VirtualSsd(Switches):
    """Its block device is open while the power is on."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.fd = -1

    def power_on(self) -> None:
        super().power_on()
        self.fd = os.open(self.device, os.O_RDWR | os.O_DIRECT)

    def power_off(self) -> None:
        os.close(self.fd)
        super().power_off()

    def wait_until_off(self) -> None:
        os.close(self.fd)
        super().wait_until_off()


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
