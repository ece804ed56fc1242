# SPDX-License-Identifier: GPL-2.0-only
"""ssd: the virtual SSD as a product: what it costs the CPU, what a command costs its FTL on drives
of any size, and how far the simulator is from the module."""

from __future__ import annotations

import pathlib
import statistics
import sys

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
    by_part,
    control,
    durations,
    found,
    measurements,
)
from published import PUBLISHED, SPEEDS

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
# Read by the module and by the simulator
_SIMULATED = {
    "append_worst": ("contiguous", "plain", "hinted"),
    "overwrite_worst": ("plain", "hinted"),
}
# So large that the host's CPU, which the simulator does not have, does not count
SIMULATED_SCALE = 256
DRIVES = pathlib.Path(__file__).resolve().parent.parent / "drives.py"
# The profiles that are made after a drive whose speeds are published
_REAL_DRIVES = dict.fromkeys(one.profile for one in PUBLISHED if one.figure in SPEEDS)
# Why a profile has no such row
_NO_DRIVE = {
    "fast24": "the paper's emulated drive, of whose speeds nobody has published figures",
    "modern": "made after no drive: tlc with what newer dies and drives have",
    "qlc": "no drive of its flash is known that gives figures of its own",
    "large": "made after no drive: fast24 with more dies",
    "huge": "made after no drive: a size to try",
}
_LIMITS = {1: 20_000.0, 32: 10_000.0}


def _costs() -> Rows:
    rows = {
        f"ssd.insn_qd{depth}": About("instructions a command", "cost", limit, digits=0)
        for depth, limit in _LIMITS.items()
    }
    for case in _COMMANDS:
        for device in DEVICES:
            rows[f"ssd.{case}.{device}"] = About("instructions a command", "cost", digits=0)
    # A machine at rest with 0, 1 and 2 of them, with one that looks at its doorbells each 20 us, and
    # two at work at once against one
    for case in ("0", "1", "2", "poll_20"):
        rows[f"ssd.rest_{case}"] = About("instructions a second", "cost", digits=0)
    rows["ssd.two_cost"] = About("x one, instructions a command", "cost", digits=3)
    rows["ssd.two_speed"] = About("x one, commands a second", "cost", digits=3)
    return rows


def rows() -> Rows:
    return {
        # A drive of 1024 dies and 16 TiB, against 8 and 1 GiB
        "ssd.ftl_growth": About("x 8 dies", "ftl", 2.0, digits=3),
        "ssd.sim_error": About("% from the module", "sim", 2.0, digits=2),
        **{
            f"ssd.drive_error.{name}": About("%", target=10.0, unmeasured=why)
            for name, why in _NO_DRIVE.items()
        },
        **{
            f"ssd.drive_error.{name}": About("%", f"drive {name}", 10.0, digits=1)
            for name in _REAL_DRIVES
        },
        **_costs(),
    }


def _guest_rows(names: list[str]) -> list[str]:
    """What the guest has to measure for these rows."""
    wanted: list[str] = []
    for name in names:
        depth = name.removeprefix("ssd.insn_")
        if depth != name:
            wanted += [f"ssd.{kind}_4k_{depth}.nvmev" for kind in ("read", "write")]
        else:
            wanted.append(name)
    return wanted


def command(part: str, names: list[str]) -> tuple[str, ...]:
    if part == "cost":
        return ("bash", "guest/ssd.sh", *_guest_rows(names))
    if part == "ftl":
        return ("bash", "guest/ftl.sh")
    return (
        *("env", "COMPARE_SIM=1", "MOST_PAGE_KINDS=4", f"SSD_SCALE={SIMULATED_SCALE}"),
        *("bash", "guest/place.sh", "ext4", "direct"),
        *(f"{workload}:{','.join(layouts)}" for workload, layouts in _SIMULATED.items()),
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
    wanted = by_part(rows(), names)
    guests = [
        Boot(title, mine, command(part, list(mine)), scale, machine, is_whole=True)
        for part, (title, scale, machine) in _PARTS.items()
        if (mine := wanted.get(part))
    ]
    program = str(options.programs / "drive_speed")
    drives = [
        Boot(
            f"{part} beside what is published",
            mine,
            (sys.executable, str(DRIVES), "error", program, part.removeprefix("drive ")),
            machine=None,
        )
        for part, mine in wanted.items()
        if part.startswith("drive ")
    ]
    return guests + drives


def _worst_error(errors: list[float], notes: list[str]) -> Measured | None:
    """Of errors in percent, with what is to be said of each, the largest."""
    if not errors:
        return None
    return Measured(errors, "; ".join(notes), value=max(errors, key=abs))


def _simulated(boot: Boot, lines: list[Line], name: str) -> Measured | None:
    """The simulator's throughput against the module's, reading the same files; the worst."""
    errors, notes = [], []
    for line in lines:
        if "simulated" not in line:
            continue
        module, simulator = int(line["module_ns"]), int(line["simulator_ns"])
        speed = int(line["bytes"]) * boot.scale * 1e3
        errors.append(100 * (module / simulator - 1))
        _, workload, *_, layout = line["simulated"].split(".")
        notes.append(
            f"{workload} {layout} {errors[-1]:.2f} ({speed / module:.1f} MB/s, "
            f"simulator {speed / simulator:.1f})"
        )
    return _worst_error(errors, notes)


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


def _worst(lines: list[Line], depth: str) -> Measured | None:
    """The dearer of reads and writes of 4 KiB; beside it the least that a device can cost."""
    runs = {}
    for kind in ("read", "write"):
        for line in measurements(lines, f"ssd.{kind}_4k_{depth}.nvmev"):
            runs[kind] = _busy(line)
    if len(runs) != 2:
        return None
    worst = max(runs, key=lambda kind: statistics.median(runs[kind]))
    least = measurements(lines, f"ssd.{worst}_4k_{depth}.qemu_nvme")
    beside = None
    if least:
        cost = statistics.median(_busy(least[0]))
        beside = control("qemu_nvme", cost, "instructions a command")
    note = ", ".join(f"{kind} {statistics.median(costs):.0f}" for kind, costs in runs.items())
    return Measured([float(run) for run in runs[worst]], note, beside)


def _cost(boot: Boot, lines: list[Line], name: str) -> Measured | None:
    if name.startswith("ssd.insn_"):
        return _worst(lines, name.removeprefix("ssd.insn_"))
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


def _drive_error(lines: list[Line], name: str) -> Measured | None:
    """By how much its speeds differ from those that are published; the worst."""
    errors, notes = [], []
    for line in found(lines, name):
        here, published = float(line["here"]), float(line["published"])
        errors.append(100 * (here / published - 1))
        notes.append(
            f"{line['figure'].replace('_', ' ')}, {line['depth']} at a time: {errors[-1]:+.1f} "
            f"({here:.4g} {line['unit']}, published {published:g})"
        )
    return _worst_error(errors, notes)


_VALUES = {"sim": _simulated, "ftl": _growth, "cost": _cost}


def values(boot: Boot, lines: list[Line]) -> Values:
    about = rows()
    if boot.machine is None:
        measured = {name: _drive_error(lines, name) for name in boot.rows}
    else:
        measured = {name: _VALUES[about[name].part](boot, lines, name) for name in boot.rows}
    return {name: value for name, value in measured.items() if value}
