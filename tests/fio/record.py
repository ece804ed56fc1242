#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Keep what a run of the performance suite has measured as what the next ones must reach.

record.py FILE LOG...

FILE has, by filesystem, each job's speed in percent of dm-linear's; the logs
are the output of run.py perf. What they do not have stays as it is.
"""

import json
import sys
from pathlib import Path


def main() -> int:
    path = Path(sys.argv[1])
    kept = json.loads(path.read_text())
    for log in sys.argv[2:]:
        for line in Path(log).read_text().splitlines():
            if line.startswith("record {"):
                row = json.loads(line.split(" ", 1)[1])
                kept.setdefault(row["kind"], {})[row["job"]] = row["percent"]
    path.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
