#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Debian's node_exporter serves what "dieaware export" writes where its timer writes it.

Prints what differs, and ends with 1 then.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

FILE = Path("/var/lib/prometheus/node-exporter/dieaware.prom")
ADDRESS = "127.0.0.1:9100"
SECONDS_AT_MOST = 60


def served() -> str:
    """What the exporter answers, as soon as it does."""
    deadline = time.monotonic() + SECONDS_AT_MOST
    while True:
        try:
            with urllib.request.urlopen(f"http://{ADDRESS}/metrics") as answer:
                return answer.read().decode()
        except urllib.error.URLError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def samples(text: str) -> dict[tuple[str, ...], float]:
    """Values by name and labels, in whatever order these are."""
    found = {}
    for line in text.splitlines():
        parts = re.fullmatch(r"(dieaware_\w+)(?:\{(.*)\})? (\S+)", line)
        if parts:
            labels = sorted(re.findall(r'\w+="[^"]*"', parts[2] or ""))
            found[(parts[1], *labels)] = float(parts[3])
    return found


def main() -> int:
    FILE.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["dieaware", "export", "--output", FILE], check=True)
    exporter = subprocess.Popen(
        ["prometheus-node-exporter", f"--web.listen-address={ADDRESS}"], stderr=subprocess.DEVNULL
    )
    try:
        got = samples(served())
    finally:
        exporter.kill()
        exporter.wait()
    wanted = samples(FILE.read_text(encoding="utf-8"))
    for name in sorted(wanted.keys() | got.keys()):
        if wanted.get(name) != got.get(name):
            print(*name, "written:", wanted.get(name), "served:", got.get(name))
    return int(not wanted or wanted != got)


if __name__ == "__main__":
    sys.exit(main())
