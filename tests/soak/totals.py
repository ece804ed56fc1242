#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Add up what all shifts of a soak did; the last line is "N passed, N failed"."""

from __future__ import annotations

import json
import pathlib
import sys
from collections import Counter


def main() -> int:
    passed = failed = 0
    totals: Counter[str] = Counter()
    for log in sorted(pathlib.Path(sys.argv[1]).glob("shift-*.log")):
        lines = log.read_text(errors="replace").splitlines()
        counted = [line for line in lines if line.startswith("totals ")]
        if counted:
            totals.update(json.loads(counted[-1].split(" ", 1)[1]))
        wrong = any(line.startswith("not ok") for line in lines)
        # One of which nothing is known, or of which the end is missing, has not passed.
        right = not wrong and any(line.startswith("ok - ") for line in lines)
        passed += right
        failed += not right
    for key, value in sorted(totals.items()):
        print(f"# {key:<24}{value:>16,}")
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
