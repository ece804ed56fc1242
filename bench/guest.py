# SPDX-License-Identifier: GPL-2.0-only
"""Boot the lab in virtual time, run a setup in it, and collect what it printed.

The guest's scripts print lines "bench: key=value ...". A line with `row` is one
measurement; its `runs_ns` are durations on the device's scaled clock.
"""

from __future__ import annotations

import collections
import dataclasses
import pathlib
import subprocess
import sys
from collections.abc import Callable

from rows import Setup

TOP = pathlib.Path(__file__).resolve().parent.parent
PREFIX = "bench: "
GUEST_MEMORY = {"T1": "3G", "T2": "3G", "applications": "7G"}
TIMEOUT_SECONDS = 3600
SHOWN_ON_FAILURE = 12

Line = dict[str, str]


@dataclasses.dataclass
class Options:
    """How the guest is run: its kernel, where the programs are, and sizes."""

    kernel: str
    programs: pathlib.Path
    log: pathlib.Path
    environment: dict[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Outcome:
    """What a boot gave: its lines, and a reason when it did not end well."""

    lines: list[Line]
    reason: str | None = None

    def find(self, row: str) -> list[Line]:
        """The measurements of a row, one for each kind of page it began on."""
        return [line for line in self.lines if line.get("row") == row and "runs_ns" in line]

    def about(self, key: str) -> str | None:
        for line in self.lines:
            if key in line:
                return line[key]
        return None


def parse_line(text: str) -> Line | None:
    if not text.startswith(PREFIX):
        return None
    words = [word.partition("=") for word in text[len(PREFIX) :].split()]
    return {key: value for key, separator, value in words if separator}


def _guest_command(setup: Setup, environment: dict[str, str]) -> list[str]:
    variables = dict(environment, SSD_SCALE=str(setup.scale))
    command = ["env"] + [f"{name}={value}" for name, value in sorted(variables.items())]
    if setup.group == "T2":
        return command + ["bash", "guest/t2.sh"] + [name for name, _ in setup.rows]
    wanted = [f"{workload}:{','.join(layouts)}" for workload, layouts in setup.rows]
    return command + ["bash", "guest/t1.sh", setup.filesystem, setup.mode] + wanted


def _memory(setup: Setup) -> str:
    applications = any(workload.startswith(("sqlite", "files")) for workload, _ in setup.rows)
    return GUEST_MEMORY["applications" if applications else setup.group]


def lab_command(setup: Setup, options: Options) -> list[str]:
    bench = TOP / "bench"
    return [
        str(TOP / "scripts" / "lab"),
        *("--kernel", options.kernel, "--virtual-time", "--mem", _memory(setup)),
        *("--timeout", str(TIMEOUT_SECONDS)),
        *("--copy", str(bench / "guest"), "--copy", str(options.programs)),
        *("--", *_guest_command(setup, options.environment)),
    ]


def _reason(lines: list[Line], status: int) -> str | None:
    for line in lines:
        if "error" in line:
            return line["error"].replace("_", " ")
    if status == 0:
        return None
    if status == 124:
        return f"The guest was stopped after {TIMEOUT_SECONDS} seconds."
    if status == 126:
        return "The guest's kernel reported a bug."
    return f"The guest's command ended with status {status}."


def run(setup: Setup, options: Options, progress: Callable[[Line], None]) -> Outcome:
    """Run one setup; `progress` sees each line as it comes."""
    lines: list[Line] = []
    other: collections.deque[str] = collections.deque(maxlen=SHOWN_ON_FAILURE)
    options.log.parent.mkdir(parents=True, exist_ok=True)
    with (
        subprocess.Popen(
            lab_command(setup, options), stdout=subprocess.PIPE, text=True, errors="replace"
        ) as lab,
        options.log.open("a") as log,
    ):
        assert lab.stdout is not None
        for text in lab.stdout:
            log.write(text)
            log.flush()
            line = parse_line(text.rstrip("\n"))
            if line is None:
                other.append(text)
                continue
            lines.append(line)
            progress(line)
    reason = _reason(lines, lab.returncode)
    if reason:
        sys.stderr.writelines("  guest: " + text for text in other)
    return Outcome(lines, reason)
