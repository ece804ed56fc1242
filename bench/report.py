# SPDX-License-Identifier: GPL-2.0-only
"""Turn what the guest printed into rows, a JSON file and a table."""

from __future__ import annotations

import json
import pathlib
import statistics
from collections.abc import Iterable
from typing import Any

import guest
import logapps
import logmode
import rows

Row = dict[str, Any]

# The first read also fetched the file's metadata.
WARM_UP_RUNS = 1


def durations(line: guest.Line) -> list[int]:
    samples = [int(word) for word in line["runs_ns"].split(",")]
    return samples[WARM_UP_RUNS:] if len(samples) > WARM_UP_RUNS else samples


def _row(name: str, scale: int, runs: list[float], digits: int) -> Row:
    return {
        "id": name,
        "scale": scale,
        "value": round(statistics.median(runs), digits),
        "unit": rows.unit_of(name),
        "target": rows.target_of(name, scale),
        "paper": rows.paper_of(name),
        "runs": [round(run, digits + 1) for run in runs],
    }


def missing(name: str, scale: int, reason: str) -> Row:
    return {
        "id": name,
        "scale": scale,
        "value": None,
        "unit": rows.unit_of(name),
        "target": rows.target_of(name, scale),
        "paper": rows.paper_of(name),
        "runs": [],
        "reason": reason,
    }


def _rates(lines: list[guest.Line], scale: int) -> list[float]:
    """MB/s of the reads; the device's clock runs `scale` times slower than ours."""
    # Bytes in a nanosecond are GB/s.
    return [int(line["bytes"]) * scale * 1e3 / run for line in lines for run in durations(line)]


def _t1_row(setup: rows.Setup, outcome: guest.Outcome, name: str) -> Row:
    lines = outcome.find(name)
    contiguous = outcome.find(name.rpartition(".")[0] + ".contiguous")
    if not lines or not contiguous:
        reason = outcome.reason or "The guest did not report this row."
        return missing(name, setup.scale, reason)
    runs = _rates(lines, setup.scale)
    if not name.endswith(".contiguous"):
        reference = statistics.median(_rates(contiguous, setup.scale))
        runs = [100 * run / reference for run in runs]
    row = _row(name, setup.scale, runs, 2)
    if "note" in lines[0]:
        row["note"] = lines[0]["note"].replace("_", " ")
    return row


def _t2_ratios(outcome: guest.Outcome, name: str) -> dict[str, list[float]]:
    """case -> what a block costs over dm-dieaware, in blocks over dm-linear, pair by pair."""
    costs: dict[tuple[str, str], list[float]] = {}
    for line in outcome.lines:
        if line.get("row") == name and "case" in line:
            samples = costs.setdefault((line["case"], line["target"]), [])
            samples.append(statistics.median(durations(line)))
    ratios = {}
    for (case, target), runs in costs.items():
        pairs = zip(costs.get((case, "dieaware"), []), runs)
        if target == "linear":
            ratios[case] = [dieaware / linear for dieaware, linear in pairs]
    return {case: runs for case, runs in ratios.items() if runs}


def _t2_row(outcome: guest.Outcome, name: str) -> Row:
    if name == "T2.run_table_mib_per_tib":
        lines = outcome.find(name)
        if lines:
            return _row(name, 1, [int(line["bytes"]) / (1 << 20) for line in lines], 2)
    ratios = _t2_ratios(outcome, name)
    if not ratios:
        return missing(name, 1, outcome.reason or "The guest did not report this row.")
    worst = max(ratios, key=lambda case: statistics.median(ratios[case]))
    row = _row(name, 1, ratios[worst], 4)
    if len(ratios) > 1:
        row["note"] = "worst of " + ", ".join(
            f"{case} {statistics.median(runs):.4f}" for case, runs in sorted(ratios.items())
        )
    return row


def _t3_row(setup: rows.Setup, outcome: guest.Outcome, name: str) -> Row:
    runs, note = logmode.value_of(outcome.lines, name)
    if not runs:
        reason = logmode.reason_of(outcome.lines, name) or outcome.reason
        return missing(name, setup.scale, reason or "The guest did not report this row.")
    row = _row(name, setup.scale, runs, 4)
    if note:
        row["note"] = note
    series = logapps.timeline(outcome.lines, name)
    if series:
        row["series"] = [[round(value, 3) for value in point] for point in series]
    return row


def _sim_row(setup: rows.Setup, outcome: guest.Outcome, name: str) -> Row:
    """The simulator's throughput against the module's, reading the same file."""
    _, workload, layout = name.split(".")
    row = f"T1.{workload}.{setup.filesystem}.{setup.mode}.{layout}"
    for line in outcome.lines:
        if line.get("simulated") == row:
            module, simulator = int(line["module_ns"]), int(line["simulator_ns"])
            result = _row(name, setup.scale, [100 * (module / simulator - 1)], 2)
            speed = int(line["bytes"]) * setup.scale * 1e3
            result["note"] = (
                f"module {speed / module:.1f} MB/s, simulator {speed / simulator:.1f} MB/s"
            )
            return result
    return missing(name, setup.scale, outcome.reason or "The guest did not report this row.")


def _t5_row(outcome: guest.Outcome, name: str) -> Row:
    """The worst of all cases; large drive by small drive."""
    lines = outcome.find(name)
    costs = {(line["case"], line["size"]): durations(line) for line in lines}
    ratios = {
        case.replace("_", " "): [run / statistics.median(costs[(case, "small")]) for run in runs]
        for (case, size), runs in costs.items()
        if size == "large" and (case, "small") in costs
    }
    if not ratios or outcome.reason:
        return missing(name, 1, outcome.reason or "The guest did not report this row.")
    worst = max(ratios, key=lambda case: statistics.median(ratios[case]))
    row = _row(name, 1, ratios[worst], 3)
    row["note"] = "instructions, worst of " + ", ".join(
        f"{case} {statistics.median(runs):.2f}" for case, runs in sorted(ratios.items())
    )
    return row


def _busy(line: guest.Line) -> list[int]:
    """Instructions of a command, or of a second of rest, in each round but the first."""
    return [int(word) for word in line["busy_ns"].split(",")][WARM_UP_RUNS:]


def _ssd_pair_row(name: str, one: guest.Line, two: guest.Line) -> Row:
    """Two SSDs at work at once against one."""
    if name == "ssd.two_cost":
        return _row(name, 1, [run / statistics.median(_busy(one)) for run in _busy(two)], 3)
    single = statistics.median(durations(one))
    return _row(name, 1, [single / run for run in durations(two)], 3)


def _ssd_row(outcome: guest.Outcome, name: str) -> Row:
    lines = outcome.find(name)
    if not lines or outcome.reason:
        return missing(name, 1, outcome.reason or "The guest did not report this row.")
    if name in ("ssd.two_cost", "ssd.two_speed"):
        return _ssd_pair_row(name, *lines)
    row = _row(name, 1, [float(run) for run in _busy(lines[0])], 0)
    if name.startswith("ssd.rest_"):
        about = [line for line in outcome.lines if line.get("row") == name and "wakeups" in line]
        row["note"] = f"the SSDs' dispatchers woke {about[0]['wakeups']} times a second"
    elif not name.endswith(".qemu_nvme"):
        # The host's work for QEMU's device takes no virtual time.
        row["note"] = f"{1e9 / statistics.median(durations(lines[0])):.0f} commands a second"
    return row


def results_of(setup: rows.Setup, outcome: guest.Outcome) -> list[Row]:
    if setup.group == "ssd":
        return [_ssd_row(outcome, name) for name in setup.ids()]
    if setup.group == "T2":
        return [_t2_row(outcome, name) for name in setup.ids()]
    if setup.group == "T3":
        return [_t3_row(setup, outcome, name) for name in setup.ids()]
    if setup.group == "T5":
        return [_t5_row(outcome, name) for name in setup.ids()]
    if setup.group == "sim":
        return [_sim_row(setup, outcome, name) for name in setup.ids()]
    return [_t1_row(setup, outcome, name) for name in setup.ids()]


def simulated(name: str, value: float, note: str) -> Row:
    """A row of the simulator, which gives the same answer each time."""
    return {**_row(name, 1, [value], 2), "note": note}


def merge_boots(boots: list[list[Row]]) -> list[Row]:
    """The same rows of several boots as one: all runs, and each boot's value."""
    merged = []
    for same in zip(*boots):
        good = [row for row in same if row["value"] is not None]
        if not good:
            merged.append(same[0])
            continue
        row = dict(good[0])
        if len(same) > 1:
            row["runs"] = [run for one in good for run in one["runs"]]
            row["boots"] = [one["value"] for one in good]
            row["value"] = round(statistics.median(row["boots"]), 4)
        merged.append(row)
    return merged


def write_json(path: pathlib.Path, kernel: str, profile: str, results: list[Row]) -> None:
    document = {"kernel": kernel, "profile": profile, "results": results}
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".json.new")
    fresh.write_text(json.dumps(document, indent=1) + "\n")
    fresh.replace(path)


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.4f}" if abs(value) < 10 else f"{value:.1f}"


def _verdict(row: Row) -> str:
    if row["value"] is None:
        return row["reason"]
    if row["target"] is None:
        return ""
    return "reached" if rows.meets_target(row["id"], row["value"], row["target"]) else "MISSED"


def _boot_spread(row: Row) -> str:
    boots = row.get("boots", [])
    if len(boots) < 2:
        return ""
    spread = 100 * (max(boots) - min(boots)) / statistics.median(boots)
    return f"{len(boots)} boots within {spread:.2f} %"


def table(results: Iterable[Row]) -> list[str]:
    """Measured, paper and target side by side."""
    head = ("row", "scale", "measured", "unit", "paper", "target", "")
    body = [
        (
            row["id"],
            str(row["scale"]),
            _number(row["value"]),
            row["unit"],
            _number(row["paper"]),
            _number(row["target"]),
            " ".join(filter(None, (_verdict(row), _boot_spread(row)))),
        )
        for row in results
    ]
    widths = [max(len(line[i]) for line in [head, *body]) for i in range(len(head))]
    right = (1, 2, 4, 5)
    return [
        "  ".join(
            word.rjust(width) if i in right else word.ljust(width)
            for i, (word, width) in enumerate(zip(line, widths))
        ).rstrip()
        for line in [head, *body]
    ]
