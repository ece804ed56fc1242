# SPDX-License-Identifier: GPL-2.0-only
"""Pages of docs whose tables are made of figures on record.

A table stands between "<!-- table NAME -->" and "<!-- end of table -->".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from guest import TOP

_TABLE = re.compile(r"(<!-- table (\w+) -->\n).*?(<!-- end of table -->)", re.DOTALL)

Table = Callable[[str], "list[str]"]


def _filled(text: str, table: Table) -> str:
    """The page, with each table as it should be."""

    def fill(match: re.Match[str]) -> str:
        return match[1] + "\n" + "\n".join(table(match[2])) + "\n\n" + match[3]

    return _TABLE.sub(fill, text)


def write(page: Path, table: Table) -> None:
    page.write_text(_filled(page.read_text(), table))


def check(page: Path, table: Table, command: str) -> int:
    """0 if the page is what it should be; else 1, and where it is not is printed."""
    text = page.read_text()
    fresh = _filled(text, table)
    if text == fresh:
        return 0
    lines = zip(text.splitlines(), fresh.splitlines())
    where = next((nr for nr, (old, new) in enumerate(lines, 1) if old != new), 1)
    print(f"{page.relative_to(TOP)}:{where}: not what bench/results gives: run {command}")
    return 1
