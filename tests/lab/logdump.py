# SPDX-License-Identifier: GPL-2.0-only
"""What `dieaware dump` says of a log, for the tests that compare places with it."""

import re
from typing import Dict


def read_dump(path: str) -> Dict[int, int]:
    """lpn -> dpn"""
    places: Dict[int, int] = {}
    with open(path) as file:
        for line in file:
            found = re.match(r"map lpn=(\d+) dpn=(\d+) pages=(\d+)", line)
            if found:
                lpn, dpn, pages = map(int, found.groups())
                places.update((lpn + i, dpn + i) for i in range(pages))
    return places
