# SPDX-License-Identifier: GPL-2.0-only
"""How fast fragmented and overwritten files read, in percent of contiguous ones.

Papers: Choi et al., *die-aware*, FAST'24. Its figures are those of ext4.
"""

from __future__ import annotations

import statistics

from family import (
    About,
    Boot,
    Line,
    Machine,
    Measured,
    Options,
    Rows,
    Values,
    durations,
    measurements,
)

HYPOTHETICAL = ("append_worst", "append_random", "overwrite_worst", "overwrite_random")
APPLICATIONS = ("sqlite", "fileserver", "fileserver_small")
FILESYSTEMS = ("ext4", "xfs", "btrfs", "f2fs")
MODES = ("direct", "buffered")
LAYOUTS = ("contiguous", "plain", "hinted", "ideal")
# Workloads that share a boot, because they share their contiguous file
GROUPS = (HYPOTHETICAL, *((workload,) for workload in APPLICATIONS))

# Percent of contiguous on ext4: target with hints, the paper without and with hints
_EXT4: dict[str, tuple[float, float | None, float | None]] = {
    "append_worst": (99, 19.0, 96.5),
    "append_random": (98, 59.4, 94.2),
    "overwrite_worst": (99, 18.2, 97.7),
    "overwrite_random": (99, 62.0, 98.4),
    "sqlite": (98, 60.0, 96.5),
    "fileserver": (97, 80.0, 93.0),
    "fileserver_small": (95, None, None),
}
_OTHER_FILESYSTEMS_TARGET = 97.0
# At 16 the CPU's share is small.
_TARGET_SCALE = 16


def _modes(workload: str) -> tuple[str, ...]:
    # SQLite does its I/O through the page cache.
    return ("buffered",) if workload == "sqlite" else MODES


def _layouts(workload: str) -> tuple[str, ...]:
    # The files of the fileserver disturb each other: there is no ideal order of writes.
    return LAYOUTS if not workload.startswith("fileserver") else LAYOUTS[:3]


def _filesystems(workload: str) -> tuple[str, ...]:
    return FILESYSTEMS if workload in HYPOTHETICAL else FILESYSTEMS[:1]


def _about(workload: str, filesystem: str, layout: str) -> About:
    target, plain, hinted = _EXT4[workload]
    is_ext4 = filesystem == "ext4"
    return About(
        "MB/s" if layout == "contiguous" else "% of contiguous",
        target=(target if is_ext4 else _OTHER_FILESYSTEMS_TARGET) if layout == "hinted" else None,
        paper={"plain": plain, "hinted": hinted}.get(layout) if is_ext4 else None,
        is_cost=False,
        digits=2,
        target_scale=_TARGET_SCALE,
    )


def rows() -> Rows:
    return {
        f"T1.{workload}.{filesystem}.{mode}.{layout}": _about(workload, filesystem, layout)
        for workload in HYPOTHETICAL + APPLICATIONS
        for filesystem in _filesystems(workload)
        for mode in _modes(workload)
        for layout in _layouts(workload)
    }


def _wanted(names: list[str], filesystem: str, mode: str, workload: str) -> tuple[str, ...]:
    """The layouts of a workload; percentages need what they are percent of."""
    prefix = f"T1.{workload}.{filesystem}.{mode}"
    layouts = [layout for layout in LAYOUTS if f"{prefix}.{layout}" in names]
    if layouts and "contiguous" not in layouts:
        layouts.insert(0, "contiguous")
    return tuple(layouts)


def command(
    filesystem: str, mode: str, scale: int, wanted: dict[str, tuple[str, ...]], options: Options
) -> tuple[str, ...]:
    """What the guest runs for the layouts wanted of each workload."""
    variables = {"SSD_SCALE": str(scale), "MOST_PAGE_KINDS": str(options.most_page_kinds)}
    if any(workload in APPLICATIONS for workload in wanted):
        variables.update(options.sizes.environment())
    if options.show_dies:
        variables["SHOW_DIES"] = "1"
    return (
        "env",
        *(f"{name}={value}" for name, value in sorted(variables.items())),
        *("bash", "guest/place.sh", filesystem, mode),
        *(f"{workload}:{','.join(layouts)}" for workload, layouts in wanted.items()),
    )


def _boot(
    names: list[str],
    filesystem: str,
    mode: str,
    scale: int,
    group: tuple[str, ...],
    options: Options,
) -> Boot | None:
    wanted = {
        workload: layouts
        for workload in group
        for layouts in [_wanted(names, filesystem, mode, workload)]
        if layouts
    }
    if not wanted:
        return None
    how = "O_DIRECT" if mode == "direct" else "page cache"
    ids = [
        f"T1.{workload}.{filesystem}.{mode}.{layout}"
        for workload, layouts in wanted.items()
        for layout in layouts
    ]
    is_application = any(workload in APPLICATIONS for workload in wanted)
    return Boot(
        f"{filesystem}, {how}, time scale {scale}: {', '.join(wanted)}",
        tuple(ids),
        command(filesystem, mode, scale, wanted, options),
        scale,
        Machine(options.sizes.memory) if is_application else Machine(),
    )


def boots(names: list[str], options: Options) -> list[Boot]:
    found = [
        _boot(names, filesystem, mode, scale, group, options)
        for filesystem in FILESYSTEMS
        for group in GROUPS
        for mode in MODES
        for scale in options.scales
    ]
    return [boot for boot in found if boot]


def _rates(lines: list[Line], scale: int) -> list[float]:
    """MB/s of the reads; the device's clock runs `scale` times slower than ours."""
    # Bytes in a nanosecond are GB/s.
    return [int(line["bytes"]) * scale * 1e3 / run for line in lines for run in durations(line)]


def _value(boot: Boot, lines: list[Line], name: str) -> Measured | None:
    mine = measurements(lines, name)
    contiguous = measurements(lines, name.rpartition(".")[0] + ".contiguous")
    if not mine or not contiguous:
        return None
    runs = _rates(mine, boot.scale)
    if not name.endswith(".contiguous"):
        reference = statistics.median(_rates(contiguous, boot.scale))
        runs = [100 * run / reference for run in runs]
    return Measured(runs, mine[0].get("note", "").replace("_", " "))


def values(boot: Boot, lines: list[Line]) -> Values:
    measured = {name: _value(boot, lines, name) for name in boot.rows}
    return {name: value for name, value in measured.items() if value}
