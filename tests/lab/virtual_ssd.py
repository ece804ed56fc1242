# SPDX-License-Identifier: GPL-2.0-only
"""A virtual SSD and its block device, between two power failures."""

from __future__ import annotations

import os
import time
from pathlib import Path

WAIT_SECONDS = 30


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

    def wait_until_off(self) -> None:
        os.close(self.fd)
        deadline = time.monotonic() + WAIT_SECONDS
        while (self.dir / "power").read_text().strip() != "0":
            if time.monotonic() > deadline:
                raise SystemExit("The SSD is still on.")
            time.sleep(0.01)
