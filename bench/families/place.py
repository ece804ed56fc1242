# SPDX-License-Identifier: GPL-2.0-only
"""place: how fast fragmented and overwritten files read, in percent of contiguous ones.

Papers: Choi et al., *die-aware*, FAST'24. Its figures are those of ext4.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable

from family import (
    About,
    Boot,
    Line,
    Machine,
    Measured,
    Options,
    Rows,
    Values,
    control,
    durations,
    measurements,
    warm_up,
)

HYPOTHETICAL = ("append_worst", "append_random", "overwrite_worst", "overwrite_random")
APPLICATIONS = ("sqlite", "fileserver", "fileserver_small")
FILESYSTEMS = ("ext4", "xfs", "btrfs", "f2fs")
MODES = ("direct", "buffered")
# `of_ideal` is hinted by ideal: no layout of its own, but a row.
LAYOUTS = ("contiguous", "plain", "hinted", "ideal")
FIGURES = (*LAYOUTS, "of_ideal")
PROFILES = ("fast24", "modern")
# What has to be measured for a figure
_NEEDED = {
    "contiguous": ("contiguous",),
    "plain": ("contiguous", "plain"),
    "hinted": ("contiguous", "hinted"),
    "ideal": ("contiguous", "ideal"),
    "of_ideal": ("contiguous", "hinted", "ideal"),
}
# Workloads that share a boot, because they share their contiguous file
GROUPS = (HYPOTHETICAL, *((workload,) for workload in APPLICATIONS))

# Percent of contiguous on ext4 in the paper, without and with hints
_PAPER: dict[str, tuple[float | None, float | None]] = {
    "append_worst": (19.0, 96.5),
    "append_random": (59.4, 94.2),
    "overwrite_worst": (18.2, 97.7),
    "overwrite_random": (62.0, 98.4),
    "sqlite": (60.0, 96.5),
    "fileserver": (80.0, 93.0),
    "fileserver_small": (None, None),
}
_HINTED_TARGET = 97.0
_OF_IDEAL_TARGET = 99.0
# At 16 the CPU's share is small.
_TARGET_SCALE = 16


def _modes(workload: str) -> tuple[str, ...]:
    # SQLite does its I/O through the page cache.
    return ("buffered",) if workload == "sqlite" else MODES


def _filesystems(workload: str) -> tuple[str, ...]:
    return FILESYSTEMS if workload in HYPOTHETICAL else FILESYSTEMS[:1]


def _about(workload: str, filesystem: str, profile: str, figure: str) -> About:
    plain, hinted = _PAPER[workload]
    units = {"contiguous": "MB/s", "of_ideal": "% of ideal"}
    is_like_paper = filesystem == "ext4" and profile == "fast24"
    return About(
        units.get(figure, "% of contiguous"),
        target={"hinted": _HINTED_TARGET, "of_ideal": _OF_IDEAL_TARGET}.get(figure),
        paper={"plain": plain, "hinted": hinted}.get(figure) if is_like_paper else None,
        is_cost=False,
        digits=2,
        target_scale=_TARGET_SCALE if figure == "hinted" else None,
    )


def rows() -> Rows:
    return {
        f"place.{workload}.{filesystem}.{mode}.{profile}.{figure}": _about(
            workload, filesystem, profile, figure
        )
        for profile in PROFILES
        for workload in HYPOTHETICAL + APPLICATIONS
        for filesystem in _filesystems(workload)
        for mode in _modes(workload)
        for figure in FIGURES
    }


def _wanted(names: list[str], prefix: str) -> list[str]:
    """The figures of a workload, with those that they need."""
    needed = {
        layout
        for figure in FIGURES
        if f"{prefix}.{figure}" in names
        for layout in (*_NEEDED[figure], figure)
    }
    return [figure for figure in FIGURES if figure in needed]


@dataclasses.dataclass(frozen=True)
class Case:
    """What layouts of several workloads have in common when they share a boot."""

    filesystem: str
    mode: str
    profile: str
    scale: int
    # What the guest's scripts are told besides
    variables: tuple[tuple[str, str], ...] = ()

    def prefix(self, workload: str) -> str:
        return f"place.{workload}.{self.filesystem}.{self.mode}.{self.profile}"


def command(case: Case, wanted: dict[str, list[str]], options: Options) -> tuple[str, ...]:
    """What the guest runs for the layouts wanted of each workload."""
    variables = {
        "SSD_PROFILE": case.profile,
        "SSD_SCALE": str(case.scale),
        "MOST_PAGE_KINDS": "4",
        **dict(case.variables),
    }
    if any(workload in APPLICATIONS for workload in wanted):
        variables.update(options.sizes.environment())
    if options.show_dies:
        variables["SHOW_DIES"] = "1"
    return (
        "env",
        *(f"{name}={value}" for name, value in sorted(variables.items())),
        *("bash", "guest/place.sh", case.filesystem, case.mode),
        *(
            f"{workload}:{','.join(figure for figure in figures if figure in LAYOUTS)}"
            for workload, figures in wanted.items()
        ),
    )


def _boot(names: list[str], case: Case, group: tuple[str, ...], options: Options) -> Boot | None:
    wanted = {
        workload: figures
        for workload in group
        for figures in [_wanted(names, case.prefix(workload))]
        if figures
    }
    if not wanted:
        return None
    how = "O_DIRECT" if case.mode == "direct" else "page cache"
    is_application = any(workload in APPLICATIONS for workload in wanted)
    return Boot(
        f"{case.filesystem}, {how}, time scale {case.scale}: {', '.join(wanted)}",
        tuple(
            f"{case.prefix(workload)}.{figure}"
            for workload, figures in wanted.items()
            for figure in figures
        ),
        command(case, wanted, options),
        case.scale,
        Machine(options.sizes.memory) if is_application else Machine(),
    )


def boots(names: list[str], options: Options) -> list[Boot]:
    found = [
        _boot(names, Case(filesystem, mode, profile, scale), group, options)
        for profile in PROFILES
        for filesystem in FILESYSTEMS
        for group in GROUPS
        for mode in MODES
        for scale in options.scales
    ]
    return [boot for boot in found if boot]


def rates(lines: list[Line], scale: int, take: Callable[[Line], list[int]]) -> list[float]:
    """MB/s of the reads; the device's clock runs `scale` times slower than ours."""
    # Bytes in a nanosecond are GB/s.
    return [int(line["bytes"]) * scale * 1e3 / run for line in lines for run in take(line)]


def _percent(rates: list[float], whole: float) -> list[float]:
    return [100 * rate / whole for rate in rates]


def _note(line: Line) -> str:
    """What the guest says of it: that it was scaled down."""
    return line.get("note", "").replace("_", " ")


def of_ideal(boot: Boot, lines: list[Line], prefix: str) -> Measured | None:
    hinted, ideal = (measurements(lines, f"{prefix}.{layout}") for layout in ("hinted", "ideal"))
    if not hinted or not ideal:
        return None
    best = statistics.median(rates(ideal, boot.scale, durations))
    return Measured(
        _percent(rates(hinted, boot.scale, durations), best),
        _note(hinted[0]),
        control=control("ideal", best, "MB/s"),
    )


def _value(boot: Boot, lines: list[Line], name: str) -> Measured | None:
    prefix, _, figure = name.rpartition(".")
    if figure == "of_ideal":
        return of_ideal(boot, lines, prefix)
    mine = measurements(lines, name)
    contiguous = measurements(lines, f"{prefix}.contiguous")
    if not mine or not contiguous:
        return None
    note = _note(mine[0])
    runs, first = (rates(mine, boot.scale, take) for take in (durations, warm_up))
    if figure == "contiguous":
        return Measured(runs, note, warm_up=first)
    whole = statistics.median(rates(contiguous, boot.scale, durations))
    return Measured(
        _percent(runs, whole),
        note,
        control("contiguous", whole, "MB/s"),
        _percent(first, whole),
    )


def values(boot: Boot, lines: list[Line]) -> Values:
    measured = {name: _value(boot, lines, name) for name in boot.rows}
    return {name: value for name, value in measured.items() if value}
