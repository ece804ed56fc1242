#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Add what turns of the hunt have counted to the counts of all earlier ones.

tally.py FILE LOG

FILE has the counts by cell; LOG is the output of hunt.py. Prints all counts as the table that
docs/testing.md has.
"""

import fcntl
import json
import sys
from pathlib import Path
from typing import Dict

Counts = Dict[str, Dict[str, int]]
NAMES = ("reads", "writes", "wrong")


def add(counts: Counts, log: str) -> None:
    for line in log.splitlines():
        if line.startswith('{"cell": '):
            turn = json.loads(line)
            cell = counts.setdefault(turn["cell"], {})
            for name in NAMES:
                cell[name] = cell.get(name, 0) + turn[name]


def show(counts: Counts) -> None:
    print("| device | mode | on | reads | wrong |")
    print("|---|---|---|---|---|")
    for name, cell in sorted(counts.items()):
        print(f"| {' | '.join(name.split())} | {cell['reads']} | {cell['wrong']} |")
    total = {name: sum(cell[name] for cell in counts.values()) for name in NAMES}
    print(f"{total['reads']} reads, {total['wrong']} wrong")


def main() -> int:
    path = Path(sys.argv[1])
    path.touch()
    with open(path, "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        counts: Counts = json.loads(file.read() or "{}")
        add(counts, Path(sys.argv[2]).read_text())
        file.seek(0)
        file.truncate()
        json.dump(counts, file, indent=1, sort_keys=True)
        file.write("\n")
    show(counts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
