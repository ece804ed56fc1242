# SPDX-License-Identifier: GPL-2.0-only
"""defrag: files that lie badly already, put in order without a copy.

Paper: Hahn et al., *Improving File System Performance of Mobile Storage Systems Using a Decoupled
Defragmenter*, ATC'17. Nothing measures these rows yet.
"""

from __future__ import annotations

from family import About, Boot, Line, Options, Rows, Values

_FILESYSTEMS = ("ext4", "xfs", "btrfs", "f2fs")
_WHY = "not measured: no workload runs a filesystem's own defragmenter beside dieaware's yet"


def rows() -> Rows:
    rows = {}
    for filesystem in _FILESYSTEMS:
        rows[f"defrag.copied.{filesystem}"] = About(
            "% of the filesystem's own", target=1.0, unmeasured=_WHY
        )
        rows[f"defrag.speed.{filesystem}"] = About(
            "% of the filesystem's own", target=99.0, is_cost=False, unmeasured=_WHY
        )
    return rows


def boots(names: list[str], options: Options) -> list[Boot]:
    return []


def values(boot: Boot, lines: list[Line]) -> Values:
    return {}
