# SPDX-License-Identifier: GPL-2.0-only
"""reach: drives that know no hints of ours. Nothing measures these rows yet."""

from __future__ import annotations

from family import About, Boot, Line, Options, Rows, Values

_WORKLOADS = ("append_worst", "overwrite_worst")
_WHY = (
    "not measured: benchmarks run on 6.12, and write streams are Linux 6.16's; "
    "tests/lab/336 measures both"
)


def rows() -> Rows:
    return {
        f"reach.fdp.{workload}": About("% of ideal", target=97.0, is_cost=False, unmeasured=_WHY)
        for workload in _WORKLOADS
    }


def boots(names: list[str], options: Options) -> list[Boot]:
    return []


def values(boot: Boot, lines: list[Line]) -> Values:
    return {}
