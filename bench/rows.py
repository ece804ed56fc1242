# SPDX-License-Identifier: GPL-2.0-only
"""The figures of the project: their names, targets, and what the paper reports.

A row is named as in "T1.append_worst.ext4.direct.hinted". Rows of T1 are percent of
the contiguous file of the same run; the contiguous row itself is MB/s. A target holds
at time scale 16, where the CPU's share is small; only `ideal` binds at both.
"""

from __future__ import annotations

import dataclasses

import logmode

HYPOTHETICAL = ("append_worst", "append_random", "overwrite_worst", "overwrite_random")
APPLICATIONS = ("sqlite", "fileserver", "fileserver_small")
FILESYSTEMS = ("ext4", "xfs", "btrfs", "f2fs")
LAYOUTS = ("contiguous", "plain", "hinted", "ideal")
SCALES = (16, 4)

# Percent of contiguous on ext4: target with hints, the paper without and with hints.
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
_TARGET_SCALE = 16

# What a row of T2 may cost against dm-linear, or take of memory.
T2_TARGETS: dict[str, tuple[float, str]] = {
    "T2.read": (1.01, "x dm-linear"),
    "T2.write_unhinted": (1.02, "x dm-linear"),
    "T2.write_hinted": (1.04, "x dm-linear"),
    "T2.seq_1m": (1.01, "x dm-linear"),
    "T2.run_table_mib_per_tib": (64.0, "MiB"),
}

# What a command may cost the FTL on a drive of 1024 dies and 16 TiB, against 8 and 1 GiB.
# T5.map_cost_growth, of log mode, is not taken yet.
T5_TARGETS: dict[str, tuple[float, str]] = {"T5.ftl_cost_growth": (2.0, "x 8 dies")}

# What is left after a long time, by the simulator (aged.py).
T4_ORDER = "T4.die_order_after_gc"
T4_TARGETS: dict[str, tuple[float, str]] = {
    T4_ORDER: (97.0, "% of ideal"),
    "T4.bg_gc_cost": (20.0, "% of write speed"),
    "T4.wear_spread": (5.0, "% of mean"),
}
# Rows of which there is one, whatever filesystem and scale
_SINGLE = {**T2_TARGETS, **T4_TARGETS, **T5_TARGETS}

# What the virtual SSD costs the CPU: a command on it and on two others, a machine at rest
# with 0, 1 and 2 of them, and two at work at once against one.
SSD_DEVICES = ("nvmev", "null_blk", "qemu_nvme")
_SSD_COMMANDS = (
    "read_4k_qd1",
    "write_4k_qd1",
    "read_4k_qd32",
    "write_4k_qd32",
    "read_128k_qd32",
    "write_128k_qd32",
)
SSD_UNITS = {
    **{
        f"ssd.{command}.{device}": "instructions a command"
        for command in _SSD_COMMANDS
        for device in SSD_DEVICES
    },
    **{f"ssd.rest_{nr}": "instructions a second" for nr in range(3)},
    "ssd.two_cost": "x one, instructions a command",
    "ssd.two_speed": "x one, commands a second",
}

# How far the simulator's read speed may be from the module's, in percent of it. The scale
# is so large that the host's CPU, which the simulator does not have, does not count.
SIM_ROWS = {
    "append_worst": ("contiguous", "plain", "hinted"),
    "overwrite_worst": ("plain", "hinted"),
}
SIM_SCALE = 256
_SIM_TARGET = 2.0


def _is_sim(row: str) -> bool:
    return row.startswith("sim.")


def _is_ssd(row: str) -> bool:
    return row.startswith("ssd.")


@dataclasses.dataclass(frozen=True)
class Setup:
    """One boot of the guest: everything in it is compared with each other.

    `rows` maps a workload to the layouts wanted of it.
    """

    group: str
    filesystem: str = ""
    mode: str = ""
    scale: int = 1
    rows: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def ids(self) -> list[str]:
        if self.group in ("T2", "T3", "T5", "ssd"):
            return [name for name, _ in self.rows]
        if self.group == "sim":
            return [
                f"sim.{workload}.{layout}" for workload, layouts in self.rows for layout in layouts
            ]
        return [
            f"T1.{workload}.{self.filesystem}.{self.mode}.{layout}"
            for workload, layouts in self.rows
            for layout in layouts
        ]


def selected(row: str, selectors: list[str]) -> bool:
    """Is this row named by one of the selectors, or below one of them?"""
    return not selectors or any(
        row == selector or row.startswith(selector + ".") for selector in selectors
    )


def unit_of(row: str) -> str:
    if row in logmode.ROWS:
        return logmode.ROWS[row].unit
    if row in _SINGLE:
        return _SINGLE[row][1]
    if _is_ssd(row):
        return SSD_UNITS[row]
    if _is_sim(row):
        return "% from the module"
    return "MB/s" if row.endswith(".contiguous") else "% of contiguous"


def target_of(row: str, scale: int) -> float | None:
    if row in logmode.ROWS:
        return logmode.ROWS[row].target
    if row in _SINGLE:
        return _SINGLE[row][0]
    if _is_ssd(row):
        return None
    if _is_sim(row):
        return _SIM_TARGET
    _, workload, filesystem, _, layout = row.split(".")
    if layout != "hinted" or scale != _TARGET_SCALE:
        return None
    if filesystem == "ext4":
        return _EXT4[workload][0]
    return _OTHER_FILESYSTEMS_TARGET


def paper_of(row: str) -> float | None:
    """The paper's figures are those of ext4; its baseline is 100 percent."""
    if row in logmode.ROWS:
        return logmode.ROWS[row].paper
    if row in _SINGLE or _is_sim(row) or _is_ssd(row):
        return None
    _, workload, filesystem, _, layout = row.split(".")
    if filesystem != "ext4" or layout not in ("plain", "hinted"):
        return None
    return _EXT4[workload][1 if layout == "plain" else 2]


def meets_target(row: str, value: float, target: float) -> bool:
    """Single rows count costs, but for the order, and sim differences; T1 counts speed."""
    if row in logmode.ROWS:
        return logmode.meets_target(row, value, target)
    if _is_sim(row):
        return abs(value) <= target
    is_cost = row in _SINGLE and row != T4_ORDER
    return value <= target if is_cost else value >= target


def _modes(workload: str) -> tuple[str, ...]:
    # SQLite does its I/O through the page cache.
    return ("buffered",) if workload == "sqlite" else ("direct", "buffered")


def _layouts(workload: str) -> tuple[str, ...]:
    # The files of the fileserver disturb each other: there is no ideal order of writes.
    return LAYOUTS if not workload.startswith("fileserver") else LAYOUTS[:3]


def _filesystems(workload: str) -> tuple[str, ...]:
    return FILESYSTEMS if workload in HYPOTHETICAL else FILESYSTEMS[:1]


def _t1_groups() -> list[tuple[str, ...]]:
    """Workloads that share a boot, because they share their contiguous file."""
    return [HYPOTHETICAL] + [(workload,) for workload in APPLICATIONS]


def _wanted_layouts(prefix: str, workload: str, selectors: list[str]) -> tuple[str, ...]:
    wanted = [layout for layout in _layouts(workload) if selected(f"{prefix}.{layout}", selectors)]
    # Percentages need what they are percent of.
    if wanted and "contiguous" not in wanted:
        wanted.insert(0, "contiguous")
    return tuple(wanted)


def _t1_setup(
    filesystem: str, mode: str, scale: int, group: tuple[str, ...], selectors: list[str]
) -> Setup | None:
    rows = []
    for workload in group:
        if mode not in _modes(workload) or filesystem not in _filesystems(workload):
            continue
        prefix = f"T1.{workload}.{filesystem}.{mode}"
        layouts = _wanted_layouts(prefix, workload, selectors)
        if layouts:
            rows.append((workload, layouts))
    if not rows:
        return None
    return Setup("T1", filesystem, mode, scale, tuple(rows))


def plan(selectors: list[str], scales: tuple[int, ...] = SCALES) -> list[Setup]:
    """The boots that give the rows selected; no selector means all rows."""
    setups = []
    for filesystem in FILESYSTEMS:
        for group in _t1_groups():
            for mode in ("direct", "buffered"):
                for scale in scales:
                    setup = _t1_setup(filesystem, mode, scale, group, selectors)
                    if setup:
                        setups.append(setup)
    simulated = tuple(
        (workload, layouts)
        for workload, names in SIM_ROWS.items()
        for layouts in [
            tuple(name for name in names if selected(f"sim.{workload}.{name}", selectors))
        ]
        if layouts
    )
    if simulated:
        setups.append(Setup("sim", "ext4", "direct", SIM_SCALE, simulated))
    setups += [
        Setup("T3", scale=logmode.scale_of(names), rows=tuple((name, ("",)) for name in names))
        for names in logmode.boots(name for name in logmode.ROWS if selected(name, selectors))
    ]
    for group, names in (("T2", T2_TARGETS), ("T5", T5_TARGETS), ("ssd", SSD_UNITS)):
        costs = tuple((name, ("",)) for name in names if selected(name, selectors))
        if costs:
            setups.append(Setup(group, rows=costs))
    return setups


def select_layouts(setups: list[Setup], layouts: tuple[str, ...]) -> list[Setup]:
    """The same boots with fewer layouts."""
    fewer = []
    for setup in setups:
        rows = tuple(
            (workload, tuple(layout for layout in wanted if layout in layouts))
            for workload, wanted in setup.rows
        )
        fewer.append(dataclasses.replace(setup, rows=rows))
    return fewer
