# SPDX-License-Identifier: GPL-2.0-only
"""cost: instructions that dm-dieaware adds to dm-linear's, and what else it takes.

The denominator of a ratio would be whatever the device below costs: what is added is the same
on a dear device and on a cheap one.
"""

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
    control,
    found,
    measurements,
    samples,
)

_ADDED = "instructions"
# By where it lies on the device, and by where in its file
_ENTRIES_PER_RUN = 2
_FILESYSTEMS = ("ext4", "xfs", "btrfs", "f2fs")
# The first of the lab's kernels whose dm-vdo formats a device, and memory for one
_VDO_MACHINE = Machine("6G", "7.2", has_tool=True)
_MACHINES = {
    "added": Machine(),
    "off": Machine(),
    "run_table": Machine(devices=("--qemu-nvme", "2048G")),
    "buffered": Machine(),
    "insn": Machine(has_tool=True),
    "vdo": _VDO_MACHINE,
}
_TITLES = {
    "added": "instructions of hint mode",
    "off": "instructions of hint mode without hints",
    "run_table": "memory of the run table",
    "buffered": "buffered sequential writes in hint mode",
    "insn": "instructions of log mode and dm-thin",
    "vdo": "instructions of dm-vdo",
}


def rows() -> Rows:
    rows = {
        "cost.read_added": About(_ADDED, "added", 120.0, digits=0),
        "cost.write_unhinted_added": About(_ADDED, "added", 250.0, digits=0),
        "cost.write_hinted_added": About(_ADDED, "added", 450.0, digits=0),
        "cost.off_added": About(_ADDED, "off", digits=0),
        "cost.seq_1m": About("x dm-linear", "added", 1.01),
        "cost.log_read_added": About(_ADDED, "insn", 500.0, digits=0),
        "cost.log_write_added": About(_ADDED, "insn", 2200.0, digits=0),
    }
    for other, part in (("dm-thin", "insn"), ("dm-vdo", "vdo")):
        for kind in ("read", "write"):
            rows[f"cost.log_{kind}_added.{other}"] = About(_ADDED, part, digits=0)
    for filesystem in _FILESYSTEMS:
        rows[f"cost.buffered_seq.{filesystem}"] = About(
            "% of dm-linear", f"buffered.{filesystem}", 97.0, is_cost=False, digits=2
        )
    rows["cost.run_table_mib"] = About("MiB", "run_table", 64.0, digits=2)
    return rows


def command(parts: list[str]) -> tuple[str, ...]:
    script = "log-cost.sh" if parts[0] in ("insn", "vdo") else "cost.sh"
    return ("bash", f"guest/{script}", *parts)


def boots(names: list[str], options: Options) -> list[Boot]:
    about = rows()
    by_kind: dict[str, list[str]] = {}
    for name in names:
        by_kind.setdefault(about[name].part.partition(".")[0], []).append(name)
    return [
        Boot(
            _TITLES[kind],
            tuple(same),
            command(list(dict.fromkeys(about[name].part for name in same))),
            machine=_MACHINES[kind],
        )
        for kind, same in by_kind.items()
    ]


def _instructions(runs: str) -> float:
    return statistics.median(int(run) for run in runs.split(",")[WARM_UP_RUNS:])


def _busy(line: Line) -> float:
    """Instructions of an I/O: on a device that is waited for, the CPU's rest does not count."""
    return _instructions(line.get("busy_ns", line["runs_ns"]))


def _costs(lines: list[Line], row: str, case: str | None = None) -> dict[str, list[float]]:
    """target -> instructions of an I/O, once for each turn; beside a target is dm-linear's."""
    costs: dict[str, list[float]] = {}
    for line in measurements(lines, row):
        if case is None or line.get("case") == case:
            costs.setdefault(line["target"], []).append(_busy(line))
            if "beside_ns" in line:
                costs.setdefault("linear", []).append(_instructions(line["beside_ns"]))
    return costs


def _cases(lines: list[Line], row: str) -> list[str]:
    return sorted({line["case"] for line in found(lines, row) if "case" in line})


def _added(lines: list[Line], row: str, target: str, case: str | None = None) -> Measured | None:
    """What the target adds to dm-linear's instructions of the same turn."""
    costs = _costs(lines, row, case)
    mine, linear = costs.get(target, []), costs.get("linear", [])
    if not mine or not linear:
        return None
    beside = statistics.median(linear)
    return Measured(
        [cost - base for cost, base in zip(mine, linear)],
        f"{statistics.median(mine):.0f} instructions",
        control("dm-linear", beside, _ADDED),
    )


def _worst_added(lines: list[Line], name: str) -> Measured | None:
    row = name.removesuffix("_added")
    added = {case: _added(lines, row, "dieaware", case) for case in _cases(lines, row)}
    measured = {case: value for case, value in added.items() if value}
    if not measured:
        return None
    worst = max(measured, key=lambda case: statistics.median(measured[case].runs))
    if len(measured) > 1:
        measured[worst].note += "; worst of " + ", ".join(
            f"{case} {statistics.median(value.runs):.0f}" for case, value in measured.items()
        )
    return measured[worst]


def _ratio(lines: list[Line], name: str) -> Measured | None:
    """The dearer of reading and writing in order, by dm-linear's instructions on the cheapest device."""
    ratios, bases = {}, {}
    for case in _cases(lines, name):
        costs = _costs(lines, name, case)
        turns = zip(costs.get("dieaware", []), costs.get("linear", []), costs.get("cheapest", []))
        ratios[case] = [1 + (mine - linear) / cheapest for mine, linear, cheapest in turns]
        bases[case] = costs.get("cheapest", [])
    if not ratios or not all(ratios.values()):
        return None
    worst = max(ratios, key=lambda case: statistics.median(ratios[case]))
    note = ", ".join(f"{case} {statistics.median(runs):.4f}" for case, runs in ratios.items())
    beside = control("dm-linear over null_blk", statistics.median(bases[worst]), _ADDED)
    return Measured(ratios[worst], note, beside)


def _log(lines: list[Line], name: str) -> Measured | None:
    _, row, *other = name.removesuffix("_added").split(".")
    row = row.removesuffix("_added")
    return _added(lines, f"cost.{row}", other[0] if other else "log")


def _buffered(lines: list[Line], name: str) -> Measured | None:
    times = {
        target: [samples(line)[0] for line in found(lines, name, target=target)]
        for target in ("linear", "dieaware")
    }
    ratios = [100 * linear / mine for linear, mine in zip(times["linear"], times["dieaware"])]
    if len(ratios) <= WARM_UP_RUNS:
        return None
    return Measured(
        ratios[WARM_UP_RUNS:],
        control=control("dm-linear", statistics.median(times["linear"]) / 1e6, "ms"),
        warm_up=ratios[:WARM_UP_RUNS],
    )


def _run_table(lines: list[Line], name: str) -> Measured | None:
    for line in measurements(lines, name):
        entries, evicted = _ENTRIES_PER_RUN * int(line["inserted"]), int(line["evicted"])
        mib = int(line["bytes"]) / (1 << 20)
        if evicted:
            all_of_them = mib * entries / (entries - evicted)
            why = (
                f"{evicted:,} of {entries:,} entries did not fit and were evicted from {mib:.1f} "
                f"MiB: with all of them it would be {all_of_them:.0f}"
            )
            return Measured([], reason=why)
        return Measured([mib], f"{entries:,} entries, none evicted")
    return None


_VALUES = {
    "added": _worst_added,
    "off": _worst_added,
    "insn": _log,
    "vdo": _log,
    "buffered": _buffered,
    "run_table": _run_table,
}


def values(boot: Boot, lines: list[Line]) -> Values:
    about = rows()
    measured: Values = {}
    for name in boot.rows:
        value_of = _VALUES[about[name].part.partition(".")[0]]
        value = _ratio(lines, name) if name == "cost.seq_1m" else value_of(lines, name)
        if value:
            measured[name] = value
    return measured
