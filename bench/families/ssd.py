# SPDX-License-Identifier: GPL-2.0-only
"""The virtual SSD as a product: what it costs the CPU, what a command costs its FTL on drives
of any size, and how far the simulator is from the module."""

from __future__ import annotations

import statistics

from family import (
    WARM_UP_RUNS,
    About,
    Boot,
    Line,
    Machine,
    Measured,
    Options,
    Rows,
    Values,
    durations,
    found,
    measurements,
)

# A command on it and on two others
DEVICES = ("nvmev", "null_blk", "qemu_nvme")
_COMMANDS = (
    "read_4k_qd1",
    "write_4k_qd1",
    "read_4k_qd32",
    "write_4k_qd32",
    "read_128k_qd32",
    "write_128k_qd32",
)
# How far the simulator's read speed may be from the module's, in percent of it. The scale
# is so large that the host's CPU, which the simulator does not have, does not count.
_SIMULATED = {
    "append_worst": ("contiguous", "plain", "hinted"),
    "overwrite_worst": ("plain", "hinted"),
}
SIMULATED_SCALE = 256
_FTL_ROW = "T5.ftl_cost_growth"


def _costs() -> Rows:
    rows = {
        f"ssd.{case}.{device}": About("instructions a command", "cost", digits=0)
        for case in _COMMANDS
        for device in DEVICES
    }
    # A machine at rest with 0, 1 and 2 of them, and two at work at once against one
    for nr in range(3):
        rows[f"ssd.rest_{nr}"] = About("instructions a second", "cost", digits=0)
    rows["ssd.two_cost"] = About("x one, instructions a command", "cost", digits=3)
    rows["ssd.two_speed"] = About("x one, commands a second", "cost", digits=3)
    return rows


def rows() -> Rows:
    simulated = {
        f"sim.{workload}.{layout}": About("% from the module", "sim", 2.0, digits=2)
        for workload, layouts in _SIMULATED.items()
        for layout in layouts
    }
    # A drive of 1024 dies and 16 TiB, against 8 and 1 GiB
    growth = {_FTL_ROW: About("x 8 dies", "ftl", 2.0, digits=3)}
    return {**simulated, **growth, **_costs()}


def command(part: str, names: list[str]) -> tuple[str, ...]:
    if part == "cost":
        return ("bash", "guest/ssd.sh", *names)
    if part == "ftl":
        return ("bash", "guest/ftl.sh")
    wanted: dict[str, list[str]] = {}
    for name in names:
        _, workload, layout = name.split(".")
        wanted.setdefault(workload, []).append(layout)
    return (
        *("env", "COMPARE_SIM=1", "MOST_PAGE_KINDS=4", f"SSD_SCALE={SIMULATED_SCALE}"),
        *("bash", "guest/place.sh", "ext4", "direct"),
        *(f"{workload}:{','.join(layouts)}" for workload, layouts in wanted.items()),
    )


_PARTS = {
    "sim": ("the simulator against the module", SIMULATED_SCALE, Machine(has_tool=True)),
    "ftl": ("cost of the FTL on small and large drives", 1, Machine()),
    "cost": (
        "what the virtual SSD costs the CPU",
        1,
        Machine(devices=("--qemu-nvme", "1G")),
    ),
}


def boots(names: list[str], options: Options) -> list[Boot]:
    result = []
    for part, (title, scale, machine) in _PARTS.items():
        mine = [name for name in names if rows()[name].part == part]
        if mine:
            result.append(
                Boot(title, tuple(mine), command(part, mine), scale, machine, part != "sim")
            )
    return result


def _simulated(boot: Boot, lines: list[Line], name: str) -> Measured | None:
    """The simulator's throughput against the module's, reading the same file."""
    _, workload, layout = name.split(".")
    row = f"T1.{workload}.ext4.direct.{layout}"
    for line in lines:
        if line.get("simulated") == row:
            module, simulator = int(line["module_ns"]), int(line["simulator_ns"])
            speed = int(line["bytes"]) * boot.scale * 1e3
            note = f"module {speed / module:.1f} MB/s, simulator {speed / simulator:.1f} MB/s"
            return Measured([100 * (module / simulator - 1)], note)
    return None


def _growth(boot: Boot, lines: list[Line], name: str) -> Measured | None:
    """The worst of all cases; large drive by small drive."""
    costs = {(line["case"], line["size"]): durations(line) for line in measurements(lines, name)}
    ratios = {
        case.replace("_", " "): [run / statistics.median(costs[(case, "small")]) for run in runs]
        for (case, size), runs in costs.items()
        if size == "large" and (case, "small") in costs
    }
    if not ratios:
        return None
    worst = max(ratios, key=lambda case: statistics.median(ratios[case]))
    cases = (f"{case} {statistics.median(runs):.2f}" for case, runs in sorted(ratios.items()))
    return Measured(ratios[worst], "instructions, worst of " + ", ".join(cases))


def _busy(line: Line) -> list[int]:
    """Instructions of a command, or of a second of rest, in each round but the first."""
    return [int(word) for word in line["busy_ns"].split(",")][WARM_UP_RUNS:]


def _pair(name: str, one: Line, two: Line) -> Measured:
    """Two SSDs at work at once against one."""
    if name == "ssd.two_cost":
        return Measured([run / statistics.median(_busy(one)) for run in _busy(two)])
    single = statistics.median(durations(one))
    return Measured([single / run for run in durations(two)])


def _cost(boot: Boot, lines: list[Line], name: str) -> Measured | None:
    mine = measurements(lines, name)
    if not mine:
        return None
    if name in ("ssd.two_cost", "ssd.two_speed"):
        return _pair(name, *mine)
    note = ""
    if name.startswith("ssd.rest_"):
        about = [line for line in found(lines, name) if "wakeups" in line]
        note = f"the SSDs' dispatchers woke {about[0]['wakeups']} times a second"
    elif not name.endswith(".qemu_nvme"):
        # The host's work for QEMU's device takes no virtual time.
        note = f"{1e9 / statistics.median(durations(mine[0])):.0f} commands a second"
    return Measured([float(run) for run in _busy(mine[0])], note)


_VALUES = {"sim": _simulated, "ftl": _growth, "cost": _cost}


def values(boot: Boot, lines: list[Line]) -> Values:
    about = rows()
    measured = {name: _VALUES[about[name].part](boot, lines, name) for name in boot.rows}
    return {name: value for name, value in measured.items() if value}
