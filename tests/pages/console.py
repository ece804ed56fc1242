#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The commands of the documentation: find them, run them, compare what they print.

Usage: console.py list DOC...          one line a command: DOC:LINE<tab>COMMAND
       console.py run WHERE DOC...     run those that belong here, in this machine

A command is an indented line with a prompt, "# " or "$ ", and continues behind a backslash.
What follows without a prompt is what it prints: compared up to figures, since times and sizes
differ, but for three decimals (DoF), which do not; "..." is anything. A comment that is set off
by two spaces is not printed. What is needed and not shown stands in a comment: <!-- run: COMMAND -->,
or .. run: COMMAND in reStructuredText.
WHERE is a file whose lines say who runs which command:

    HOW PATTERN

PATTERN is a regular expression that fits all of "DOC: COMMAND"; the first that fits counts. HOW
is "here"; or "beside" and the work of beside.sh that the command is to watch; or "by" and the suite
of scripts/check that runs it, or "not" where nobody can; then it is only looked at by the shell
(bash -n). A command that nothing fits is an error, and so is a rule that fits no command.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

SECONDS = 240

# A command that a page needs and does not show: a comment in Markdown, or in reStructuredText
HIDDEN = r"(?:<!--|\.\.) run: (.*?)(?: -->)?"


class Command(NamedTuple):
    doc: str
    line: int
    text: str
    prints: list[str]


def commands(doc: Path, name: str) -> list[Command]:
    found: list[Command] = []
    inside = False
    for number, line in enumerate(doc.read_text(encoding="utf-8").splitlines(), 1):
        prompt = re.match(r"    [#$] (.*)", line) or re.fullmatch(HIDDEN, line)
        if inside and found and found[-1].text.endswith("\\"):
            last = found.pop()
            found.append(last._replace(text=last.text[:-1] + line.strip()))
        elif prompt:
            found.append(Command(name, number, prompt[1], []))
            inside = True
        elif line.startswith("    ") and inside:
            found[-1].prints.append(line[4:])
        else:
            inside = False
    return [one._replace(text=re.sub(r"\s{2,}(#|now; or:).*$", "", one.text)) for one in found]


def alike(line: str) -> str:
    """A line without what differs from run to run."""
    # Which die has how much of a file, as "dieaware frag" shows it
    line = re.sub(r"(?<= )[.1-9]{8,}(?= )", "DIES", line)
    line = re.sub(r"(?<![\d.])(?!0\.\d{3}(?!\d))\d+([.,]\d+)?", "N", line)
    return re.sub(r"\s+", " ", line).strip()


def fits(wanted: list[str], got: list[str]) -> bool:
    if not wanted:
        return True
    if wanted[0].strip() == "...":
        return any(fits(wanted[1:], got[at:]) for at in range(len(got) + 1))
    return bool(got) and alike(wanted[0]) == alike(got[0]) and fits(wanted[1:], got[1:])


class Rule(NamedTuple):
    how: str
    pattern: re.Pattern[str]

    def fits(self, command: Command) -> bool:
        return bool(self.pattern.fullmatch(f"{command.doc}: {command.text}"))


def rules(where: Path) -> list[Rule]:
    found = []
    for line in where.read_text(encoding="utf-8").splitlines():
        words = re.match(r"(here|not|(?:by|beside) [a-z]+) +(.*)", line)
        if words:
            found.append(Rule(words[1], re.compile(words[2])))
        elif line and not line.startswith("#"):
            sys.exit(f"{where}: this is no rule: {line}")
    return found


def rule_of(command: Command, known: list[Rule]) -> Rule | None:
    return next((rule for rule in known if rule.fits(command)), None)


class Shell:
    """One shell for all commands of a page: variables and functions stay."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            ["timeout", str(SECONDS), "bash"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
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


def run_page(page: list[Command], known: list[Rule]) -> int:
    """Return how many commands were not as the page says."""
    failed = 0
    shell = Shell()
    for command in page:
        rule = rule_of(command, known)
        word = rule.how if rule else "nobody"
        name = f"{command.doc}:{command.line}: {command.text}"
        if word == "here":
            status, said = shell.run(command.text)
            good = fits(command.prints, said) and (status == 0 or bool(command.prints))
        elif word.startswith("beside "):
            beside = Path(__file__).with_name("beside.sh")
            status, said = shell.run(f"bash {beside} {word.split()[1]} {shlex.quote(command.text)}")
            good = fits(command.prints, said) and status == 0
        else:
            checked = subprocess.run(["bash", "-n", "-c", command.text], capture_output=True)
            status, said, good = checked.returncode, [], checked.returncode == 0 and word != "nobody"
            name += f"   ({word})"
        print(("ok - " if good else "not ok - ") + name)
        print(f"# status {status}, {word}; it printed:", *said, sep="\n#   ")
        if not good:
            failed += 1
            if command.prints:
                print("# instead of:", *command.prints, sep="\n#   ")
    return failed


def useless(known: list[Rule], pages: list[list[Command]]) -> list[Rule]:
    """Rules that fit no command, or none that an earlier rule does not fit."""
    used = {rule_of(command, known) for page in pages for command in page}
    return [rule for rule in known if rule not in used]


def main() -> int:
    verb, *words = sys.argv[1:]
    known = rules(Path(words.pop(0))) if verb == "run" else []
    pages = [commands(Path(name), Path(name).name) for name in words]
    failed = 0
    if verb == "list":
        for one in (one for page in pages for one in page):
            print(f"{one.doc}:{one.line}\t{one.text}")
        return 0
    for rule in useless(known, pages):
        failed += 1
        print(f"not ok - no command needs the rule: {rule.how} {rule.pattern.pattern}")
    for page in pages:
        failed += run_page(page, known)
        clean = Path(__file__).with_name("clean.sh")
        subprocess.run(["bash", clean], check=True, stdin=subprocess.DEVNULL)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
