#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The commands of the documentation: find them, run them, compare what they print.

Usage: console.py list DOC...                one line a command: DOC:LINE<tab>COMMAND
       console.py run guest|uml WHERE DOC... run those that belong into this machine
       console.py run host WHERE DOC...      run those of the checkout, and account for the rest

A command is an indented line with a prompt, "# " or "$ ", and continues behind a backslash. What
follows in the block without a prompt is all that it prints: figures.py compares it. It has to end
with 0, or with what stands behind it: "  # ends with 1". Any other comment that is set off by two
spaces is not printed.

Comments of the page that nobody sees (in reStructuredText ".. run: COMMAND", likewise the other):

    <!-- run: COMMAND -->                       what is needed, and not shown
    <!-- figures: measured within FACTOR -->    how figures may differ in the next block: times,
                                                speeds and percentages by that factor (by 2 where
                                                nothing is said); "all within FACTOR": any but
                                                DoF_P; "exact": none

WHERE is a file whose lines say who runs which command:

    HOW PATTERN
    HOW "WORDS" PATTERN

PATTERN is a regular expression that fits all of "DOC: COMMAND"; the first that fits counts. A
command that nothing fits is an error, and so is a rule that fits no command. HOW is

    here          in the guest
    uml           in Linux as a program, which is several times as fast
    beside WORK   in the guest, beside that work of beside.sh, which it is to watch
    host          on the host
    typed         on the host, in a terminal, and then "exit" is typed
    listed        on the host, with the option --list: so names and options are right
    by SUITE      that suite of scripts/check is this very command; or its files have WORDS, which
                  do the same
    not           nobody can, for WORDS; docs/testing.md has to say the same

The last line says how many commands were run, and of how many the output was compared.
"""

from __future__ import annotations

import os
import pty
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from figures import Tolerance, fits

TOP = Path(__file__).resolve().parents[2]
# They show a hang, no more.
SECONDS = {"guest": 240, "uml": 240, "host": 3600}
PLACES = {"here": "guest", "beside": "guest", "uml": "uml"}

# What a page needs and does not show: a comment in Markdown, or in reStructuredText
HIDDEN = r"(?:<!--|\.\.) run: (.*?)(?: -->)?"
HOW = r"(here|uml|host|typed|listed|not|(?:by|beside) [a-z]+)"
FIGURES = r"(?:<!--|\.\.) figures: (.*?)(?: -->)?"


class Command(NamedTuple):
    doc: str
    line: int
    text: str
    prints: list[str]
    status: int = 0
    tolerance: Tolerance = Tolerance()

    def shows(self) -> bool:
        return any(line.strip() != "..." for line in self.prints)

    def without_comment(self) -> Command:
        ends = re.search(r"\s{2,}# ends with (\d+)$", self.text)
        text = re.sub(r"\s{2,}(#|now; or:).*$", "", self.text)
        return self._replace(text=text, status=int(ends[1]) if ends else 0)


class Page:
    """The commands of a page, line by line."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.found: list[Command] = []
        self.printing = False
        self.tolerance = Tolerance()

    def read(self, number: int, line: str) -> None:
        prompt = re.match(r"    [#$] (.*)", line)
        hidden = re.fullmatch(HIDDEN, line)
        figures = re.fullmatch(FIGURES, line)
        if self.found and self.found[-1].text.endswith("\\"):
            last = self.found[-1]
            self.found[-1] = last._replace(text=last.text[:-1] + line.strip())
        elif prompt or hidden:
            text = (prompt or hidden)[1]  # type: ignore[index]
            self.printing = bool(prompt)
            tolerance = self.tolerance if prompt else Tolerance()
            self.found.append(Command(self.name, number, text, [], 0, tolerance))
        elif figures:
            self.tolerance, self.printing = Tolerance.stated(figures[1]), False
        elif line.startswith("    ") and self.printing:
            self.found[-1].prints.append(line[4:])
        elif line.strip():
            # A blank line does not end a block.
            self.tolerance, self.printing = Tolerance(), False


def commands(doc: Path, name: str) -> list[Command]:
    page = Page(name)
    for number, line in enumerate(doc.read_text(encoding="utf-8").splitlines(), 1):
        page.read(number, line)
    return [one.without_comment() for one in page.found]


class Rule(NamedTuple):
    how: str
    words: str
    pattern: re.Pattern[str]

    def fits(self, command: Command) -> bool:
        return bool(self.pattern.fullmatch(f"{command.doc}: {command.text}"))

    def place(self) -> str:
        return PLACES.get(self.how.split()[0], "host")


def rules(where: Path) -> list[Rule]:
    found = []
    for line in where.read_text(encoding="utf-8").splitlines():
        parts = re.match(HOW + r' +(?:"(.*?)" +)?(.*)', line)
        if parts:
            found.append(Rule(parts[1], parts[2] or "", re.compile(parts[3])))
        elif line and not line.startswith("#"):
            sys.exit(f"{where}: this is no rule: {line}")
    return found


def rule_of(command: Command, known: list[Rule]) -> Rule | None:
    return next((rule for rule in known if rule.fits(command)), None)


class Shell:
    """One shell for all commands of a page: variables and functions stay."""

    def __init__(self, place: str) -> None:
        self.process = subprocess.Popen(
            ["timeout", str(SECONDS[place]), "bash"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Scripts of the host say there what they fetch and build for the first time.
            stderr=None if place == "host" else subprocess.STDOUT,
            text=True,
        )

    def run(self, text: str) -> tuple[int, list[str]]:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(f"{{ {text}\n}} </dev/null; printf '\\n:done %d\\n' $?\n")
        self.process.stdin.flush()
        said: list[str] = []
        for line in self.process.stdout:
            if line.startswith(":done "):
                return int(line.split()[1]), [one for one in said if one]
            said.append(line.rstrip("\n"))
        return 255, said

    def end(self) -> None:
        assert self.process.stdin
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            # It was late, and stopped.
            pass
        self.process.wait()


def run_typed(text: str, seconds: int) -> tuple[int, list[str]]:
    """In a terminal: wait for a prompt, type "exit", and wait for the end."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvp("timeout", ["timeout", "--foreground", str(seconds), "bash", "-c", text])
    said, typed = "", False
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        said += piece.decode(errors="replace")
        if not typed and said.endswith("# "):
            os.write(terminal, b"exit\r")
            typed = True
    _, status = os.waitpid(child, 0)
    lines = said.replace("\r", "").splitlines()
    return os.waitstatus_to_exitcode(status) if typed else 255, lines


def suites() -> dict[str, str]:
    """The commands of scripts/check."""
    lines = subprocess.check_output([TOP / "scripts/check", "--list"], text=True)
    return dict(line.split(maxsplit=1) for line in lines.splitlines())


def run_by(suite: str, words: str, text: str) -> str:
    """Why that suite does not run this command; nothing if it does."""
    known = suites()
    if suite not in known:
        return f"there is no suite {suite}"
    if not words:
        return "" if known[suite] == text else f"it is {known[suite]}"
    script = TOP / known[suite].split()[0]
    files = [script, *(script.parent / suite).glob("*")]
    if any(words in one.read_text(encoding="utf-8") for one in files if one.is_file()):
        return ""
    return f"it does not have: {words}"


class Machine:
    """Where commands are run, and what became of them."""

    def __init__(self, place: str, known: list[Rule]) -> None:
        self.place = place
        self.known = known
        self.failed = 0
        self.counts = {"run": 0, "compared": 0, "listed": 0, "by": 0, "not": 0}

    def execute(self, shell: Shell, rule: Rule, text: str) -> tuple[int, list[str]]:
        how, *work = rule.how.split()
        if how == "beside":
            beside = Path(__file__).with_name("beside.sh")
            return shell.run(f"bash {beside} {work[0]} {shlex.quote(text)}")
        if how == "typed":
            return run_typed(text, SECONDS[self.place])
        return shell.run(text + " --list" if how == "listed" else text)

    def perform(self, shell: Shell, rule: Rule, command: Command) -> None:
        began = time.monotonic()
        status, said = self.execute(shell, rule, command.text)
        listed = rule.how == "listed"
        good = status == command.status
        if command.shows() and not listed:
            good = good and fits(command.prints, said, command.tolerance)
            self.counts["compared"] += 1
        self.counts["listed" if listed else "run"] += 1
        self.report(good, command, rule.how)
        seconds = time.monotonic() - began
        print(f"# status {status} after {seconds:.1f} s; it printed:", *said, sep="\n#   ")
        if not good:
            print(f"# instead of status {command.status}, and:", *command.prints, sep="\n#   ")

    def account(self, rule: Rule, command: Command) -> None:
        """For a command that is not run: whether it could be, and who does."""
        how, *suite = rule.how.split()
        why = run_by(suite[0], rule.words, command.text) if suite else ""
        if subprocess.run(["bash", "-n", "-c", command.text]).returncode:
            why = "it is no shell command"
        self.counts[how] += 1
        if why:
            self.report(False, command, f"{rule.how}: {why}")
        else:
            who = f"{rule.how} {rule.words}"
            print(f"# not run here: {command.doc}:{command.line}: {command.text}   ({who})")

    def report(self, good: bool, command: Command, how: str) -> None:
        self.failed += not good
        verdict = "ok" if good else "not ok"
        print(f"{verdict} - {command.doc}:{command.line}: {command.text}   ({how})")

    def run_page(self, page: list[Command]) -> None:
        """Those that belong here; one that belongs nowhere is an error everywhere."""
        shell = Shell(self.place)
        for command in page:
            rule = rule_of(command, self.known)
            if not rule:
                self.report(False, command, "nobody runs it")
            elif rule.place() == self.place and rule.how.split()[0] in ("by", "not"):
                self.account(rule, command)
            elif rule.place() == self.place:
                self.perform(shell, rule, command)
        shell.end()


def useless(known: list[Rule], pages: list[list[Command]]) -> list[Rule]:
    """Rules that fit no command, or none that an earlier rule does not fit."""
    used = {rule_of(command, known) for page in pages for command in page}
    return [rule for rule in known if rule not in used]


def admitted() -> set[tuple[str, str]]:
    """What docs/testing.md says is not run, and why."""
    found = set()
    lines = iter((TOP / "docs/testing.md").read_text(encoding="utf-8").splitlines())
    for line in lines:
        if line == "| not run | because |":
            break
    for line in lines:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 2:
            break
        found |= {(text, cells[1]) for text in re.findall(r"`([^`]+)`", cells[0])}
    return found


def not_run(known: list[Rule], pages: list[list[Command]]) -> set[tuple[str, str]]:
    found = set()
    for command in (command for page in pages for command in page):
        rule = rule_of(command, known)
        if rule and rule.how == "not":
            found.add((command.text, rule.words))
    return found


def check_rules(known: list[Rule], pages: list[list[Command]]) -> int:
    """Return how many rules are useless, or commands silently not run."""
    failed = 0
    for rule in useless(known, pages):
        failed += 1
        print(f"not ok - no command needs the rule: {rule.how} {rule.pattern.pattern}")
    for text, why in sorted(admitted() ^ not_run(known, pages)):
        failed += 1
        where = "only one of docs/testing.md and tests/pages/where"
        print(f"not ok - {where} says it is not run: {text}, as {why}")
    return failed


def run(place: str, known: list[Rule], pages: list[list[Command]]) -> int:
    machine = Machine(place, known)
    if place == "host":
        machine.failed += check_rules(known, pages)
    for page in pages:
        machine.run_page(page)
        if place != "host":
            clean = Path(__file__).with_name("clean.sh")
            subprocess.run(["bash", clean], check=True, stdin=subprocess.DEVNULL)
    print(f"# {place}:", *(f"{what}={nr}" for what, nr in machine.counts.items()))
    return int(machine.failed > 0)


def main() -> int:
    verb, *words = sys.argv[1:]
    if verb == "list":
        for one in (one for name in words for one in commands(Path(name), Path(name).name)):
            print(f"{one.doc}:{one.line}\t{one.text}")
        return 0
    place, where, *names = words
    # What is printed last is of interest if this hangs.
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    return run(place, rules(Path(where)), [commands(Path(name), Path(name).name) for name in names])


if __name__ == "__main__":
    sys.exit(main())
