# SPDX-License-Identifier: GPL-2.0-only
"""Make one run, in the lab in virtual time or on this computer, and collect what it printed.

Scripts print lines "bench: key=value ...". A line with `row` is one measurement; its
`runs_ns` are durations on the device's scaled clock.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import pathlib
import subprocess
import sys
from collections.abc import Callable

from family import Boot, Line, Machine, Options

TOP = pathlib.Path(__file__).resolve().parent.parent
PREFIX = "bench: "
TIMEOUT_SECONDS = 3600
SHOWN_ON_FAILURE = 12
# In a command that runs on this computer: the program dieaware
TOOL = "{tool}"

Progress = Callable[[Line], None]
Collected = tuple[list[Line], list[str]]


@dataclasses.dataclass
class Outcome:
    """What a run gave: its lines, and a reason when it did not end well."""

    lines: list[Line]
    reason: str | None = None

    def about(self, key: str) -> str | None:
        for line in self.lines:
            if key in line:
                return line[key]
        return None

    def last(self, key: str) -> str | None:
        """What was said of it last: some parts make another drive than the run began with."""
        return next((line[key] for line in reversed(self.lines) if key in line), None)


def parse_line(text: str) -> Line | None:
    if not text.startswith(PREFIX):
        return None
    words = [word.partition("=") for word in text[len(PREFIX) :].split()]
    return {key: value for key, separator, value in words if separator}


@functools.cache
def tool() -> pathlib.Path:
    """The program dieaware of this tree, built if need be."""
    built = subprocess.run(
        [str(TOP / "scripts" / "tools")], check=True, stdout=subprocess.PIPE, text=True
    )
    return pathlib.Path(built.stdout.split()[-1]) / "dieaware"


@functools.cache
def _counting_module(kernel: str) -> pathlib.Path:
    """dm-dieaware, built so that it counts what it does inside locks."""
    command = [str(TOP / "scripts" / "modules"), "--kernel", kernel, "--lock-costs", "dm-dieaware"]
    built = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return pathlib.Path(built.stdout.split()[-1]) / "dm-dieaware.ko"


def _lab_command(boot: Boot, machine: Machine, options: Options) -> list[str]:
    kernel = machine.kernel or options.kernel
    programs = [TOP / "bench" / "guest", options.programs]
    if machine.has_tool:
        programs.append(tool())
    if machine.counts_locks:
        programs.append(_counting_module(kernel))
    if machine.is_uml:
        start = [str(TOP / "scripts" / "uml")]
    else:
        start = [str(TOP / "scripts" / "lab"), "--kernel", kernel]
    return [
        *start,
        *("--virtual-time", "--no-tool", "--mem", machine.memory),
        *machine.devices,
        *("--timeout", str(TIMEOUT_SECONDS)),
        *(word for program in programs for word in ("--copy", str(program))),
        *("--", *boot.command),
    ]


def whole_command(boot: Boot, options: Options) -> list[str]:
    """What is executed on this computer for a run."""
    if boot.machine:
        return _lab_command(boot, boot.machine, options)
    return [str(tool()) if word == TOOL else word for word in boot.command]


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
    return f"The command ended with status {status}."


def _collect(lab: subprocess.Popen[str], options: Options, progress: Progress) -> Collected:
    """Read what is printed until it ends: our lines, and the last of the others."""
    lines: list[Line] = []
    other: collections.deque[str] = collections.deque(maxlen=SHOWN_ON_FAILURE)
    assert lab.stdout is not None
    with options.log.open("a") as log:
        for text in lab.stdout:
            log.write(text)
            log.flush()
            line = parse_line(text.rstrip("\n"))
            if line is None:
                other.append(text)
            else:
                lines.append(line)
                progress(line)
    return lines, list(other)


def run(boot: Boot, options: Options, progress: Progress) -> Outcome:
    """Make one run; `progress` sees each line as it comes."""
    options.log.parent.mkdir(parents=True, exist_ok=True)
    with subprocess.Popen(
        whole_command(boot, options), stdout=subprocess.PIPE, text=True, errors="replace"
    ) as lab:
        try:
            lines, other = _collect(lab, options, progress)
        except BaseException:
            # Whoever stops us means the virtual machine, too.
            lab.terminate()
            raise
    reason = _reason(lines, lab.returncode)
    if reason:
        sys.stderr.writelines("  guest: " + text for text in other)
    return Outcome(lines, reason)
