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

import logmode
from rows import APPLICATIONS, Setup

TOP = pathlib.Path(__file__).resolve().parent.parent
PREFIX = "bench: "
GUEST_MEMORY = "3G"
TIMEOUT_SECONDS = 3600
SHOWN_ON_FAILURE = 12

Line = dict[str, str]
Progress = Callable[[Line], None]
Collected = tuple[list[Line], list[str]]


@dataclasses.dataclass(frozen=True)
class Sizes:
    """How large SQLite and fileserver are, and what that takes."""

    sqlite_rows: int
    fileserver_files: int
    ssd_capacity_mb: int
    memory: str

    def environment(self) -> dict[str, str]:
        return {
            "SQLITE_ROWS": str(self.sqlite_rows),
            "FILESERVER_FILES": str(self.fileserver_files),
            "SSD_CAPACITY_MB": str(self.ssd_capacity_mb),
        }


SIZES = {
    "quick": Sizes(2000, 200, 4096, "4G"),
    "usual": Sizes(10000, 500, 4096, "6G"),
    "paper": Sizes(10000, 10000, 12288, "16G"),
}


@dataclasses.dataclass
class Options:
    """How the guest is run: its kernel, where the programs are, and sizes."""

    kernel: str
    programs: pathlib.Path
    log: pathlib.Path
    sizes: Sizes
    show_dies: bool = False
    most_page_kinds: int = 4


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


def _is_application(setup: Setup) -> bool:
    return any(workload in APPLICATIONS for workload, _ in setup.rows)


def _guest_command(setup: Setup, options: Options) -> list[str]:
    if setup.group == "T2":
        return ["bash", "guest/t2.sh"] + [name for name, _ in setup.rows]
    if setup.group == "T3":
        return ["bash", *logmode.command([name for name, _ in setup.rows])]
    if setup.group == "T5":
        return ["bash", "guest/t5.sh"]
    if setup.group == "ssd":
        return ["bash", "guest/ssd.sh"] + [name for name, _ in setup.rows]
    variables = {"SSD_SCALE": str(setup.scale), "MOST_PAGE_KINDS": str(options.most_page_kinds)}
    if setup.group == "sim":
        variables["COMPARE_SIM"] = "1"
    if _is_application(setup):
        variables.update(options.sizes.environment())
    if options.show_dies:
        variables["SHOW_DIES"] = "1"
    wanted = [f"{workload}:{','.join(layouts)}" for workload, layouts in setup.rows]
    return [
        "env",
        *(f"{name}={value}" for name, value in sorted(variables.items())),
        *("bash", "guest/t1.sh", setup.filesystem, setup.mode, *wanted),
    ]


def tool() -> pathlib.Path:
    """The program dieaware of this tree, built if need be."""
    built = subprocess.run(
        [str(TOP / "scripts" / "tools")], check=True, stdout=subprocess.PIPE, text=True
    )
    return pathlib.Path(built.stdout.split()[-1]) / "dieaware"


def lab_command(setup: Setup, options: Options) -> list[str]:
    bench = TOP / "bench"
    programs = [bench / "guest", options.programs]
    if setup.group in ("sim", "T3"):
        programs.append(tool())
    memory = options.sizes.memory if _is_application(setup) else GUEST_MEMORY
    kernel = options.kernel
    if setup.group == "T3":
        kernel, memory = logmode.machine([name for name, _ in setup.rows], kernel, memory)
    devices = ["--qemu-nvme", "1G"] if setup.group == "ssd" else []
    return [
        str(TOP / "scripts" / "lab"),
        *("--kernel", kernel, "--virtual-time", "--no-tool", "--mem", memory),
        *devices,
        *("--timeout", str(TIMEOUT_SECONDS)),
        *(word for program in programs for word in ("--copy", str(program))),
        *("--", *_guest_command(setup, options)),
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


def _collect(lab: subprocess.Popen[str], options: Options, progress: Progress) -> Collected:
    """Read what the lab prints until it ends: our lines, and the last of the others."""
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


def run(setup: Setup, options: Options, progress: Progress) -> Outcome:
    """Run one setup; `progress` sees each line as it comes."""
    options.log.parent.mkdir(parents=True, exist_ok=True)
    with subprocess.Popen(
        lab_command(setup, options), stdout=subprocess.PIPE, text=True, errors="replace"
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
