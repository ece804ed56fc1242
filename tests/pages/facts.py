#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What README.md, its neighbours and docs/ say of names and numbers, against the files that have them: links, paths,
lab tests, suites, words of the status, options of table lines, messages; which features have a stored
image, how many mutants there are; and which files of log mode may call which. scripts/check-style runs it in the checkout; it prints a line for each statement that is false."""

import re
import sys
from pathlib import Path
from typing import Dict, Iterator, List, Set, Tuple

TOP = Path(__file__).resolve().parents[2]
RST = "docs/dm-dieaware.rst"
LOG = "docs/dm-dieaware-log.rst"
TESTING = "docs/testing.md"
CRASH = "docs/testing-crash.md"
DESIGN = "docs/design-log.md"
# Files of other projects, of the user, and of what a test is made from
FOREIGN = {"ssd_config.h", "run-blackbox.sh", "run-nossd.sh", "tests/lab/NNN-name.sh",
           "tests/rawhost/nvmev-streams"}
SUFFIXES = "c|h|py|sh|rs|md|rst|json|fio|bt|service|timer"
FOLDERS = "scripts|tests|bench|docs|tools|userspace|boot|packaging|dm-dieaware|nvmevirt-backend|include"


def text(path: str) -> str:
    return (TOP / path).read_text(encoding="utf-8")


def say(path: str, at: int, sentence: str) -> None:
    """@at: characters before what is false."""
    print(f"{path}:{text(path)[:at].count(chr(10)) + 1}: {sentence}")


def anchors(path: str) -> Set[str]:
    """What GitHub makes of the headings."""
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            for title in re.findall(r"^#+ (.*)$", text(path), re.M)}


def check_links(page: str, files: Set[str]) -> None:
    for link in re.finditer(r"\]\(([^)\s]+)\)", text(page)):
        path, _, anchor = link[1].partition("#")
        if "://" in link[1]:
            continue
        whole = Path(page).parent / path if path else Path(page)
        name = str((TOP / whole).resolve().relative_to(TOP))
        if not (TOP / name).exists():
            say(page, link.start(), f"the link leads to '{path}', which does not exist")
        elif anchor and name.endswith(".md") and anchor not in anchors(name):
            say(page, link.start(), f"{name} has no heading '#{anchor}'")


def check_paths(page: str, files: Set[str]) -> None:
    named = re.compile(rf"`([\w.-]+(?:/[\w.-]+)*\.(?:{SUFFIXES})|(?:{FOLDERS})/[\w./-]*)[`' ]")
    for found in named.finditer(text(page)):
        path = found[1].rstrip("/")
        if path in FOREIGN or path.startswith("out/") or "." == path[0]:
            continue
        # Some are named from the folder on that the page is about.
        if not any(file == path or file.endswith("/" + path) or f"/{path}/" in f"/{file}" for file in files):
            say(page, found.start(), f"there is no '{found[1]}'")


def check_tests(page: str, numbers: Set[str]) -> None:
    for found in re.finditer(r"\blab\s+tests?\s+(\d{3}(?:(?:, | and | to )\d{3})*)", text(page)):
        for number in set(re.findall(r"\d{3}", found[1])) - numbers:
            say(page, found.start(), f"there is no lab test {number}")


def check_rows(names: List[str]) -> None:
    """Each test of the lab has a row, and each row a test; of those for each filesystem there is one."""
    rows = re.findall(r"^\| (\d{3}-[\w-]+) \|", text(TESTING), re.M)
    tests = {name if name in rows or f"{of_all}-FS" not in rows else f"{of_all}-FS"
             for name, of_all in ((name, name.rpartition("-")[0]) for name in names)}
    for row in sorted({row for row in rows if rows.count(row) > 1}):
        print(f"{TESTING}: {row} has more than one row")
    for name in sorted(tests - set(rows)):
        print(f"{TESTING}: tests/lab/{name}.sh has no row")
    for name in sorted(set(rows) - tests):
        print(f"{TESTING}: {name} has a row, but there is no such test")


def check_suites() -> None:
    """The table of suites has those of scripts/check; each row begins with the command's program."""
    suites: Dict[str, str] = dict(re.findall(r'^\t"([a-z0-9]+)\|(\S+).*"$', text("scripts/check"), re.M))
    table = text(TESTING).split("| suite | command |")[1].split("\n\n")[0]
    rows: Dict[str, str] = dict(re.findall(r"^\| ([a-z0-9]+) \| `([^ `]+)", table, re.M))
    for name in sorted(suites.keys() ^ rows.keys()):
        print(f"{TESTING}: the suite {name} is only in one of scripts/check and the table of suites")
    for name in sorted(suites.keys() & rows.keys()):
        if suites[name] != rows[name]:
            print(f"{TESTING}: the suite {name} is run by {suites[name]}, and not by {rows[name]}")
    says = set(re.findall(r"^\| ([a-z0-9]+) \|.*\bby its name only\b", table, re.M))
    has = set(re.findall(r'^LONG=" (.*) "$', text("scripts/check"), re.M)[0].split())
    for name in sorted(says ^ has):
        print(f"{TESTING}: that the suite {name} runs by its name only is said by one of scripts/check and the table")


def section(path: str, title: str) -> str:
    """Of a page of the target's, up to the next title of that level."""
    page = text(path)
    begin = page.index(f"\n{title}\n{'=' * len(title)}\n")
    following = re.search(r"\n[^\n]+\n=+\n", page[begin + 2 * len(title) + 3:])
    return page[begin:begin + 2 * len(title) + 3 + following.start()] if following else page[begin:]


def words_of(table: str) -> List[str]:
    """The words that begin the rows of a table."""
    return re.findall(r"^   ``(\w+)``", table, re.M)


def printed(path: str) -> Iterator[str]:
    for line in re.findall(r'DMEMIT\("( ?[a-z_]+=[^;]*?)"', text(path)):
        yield from re.findall(r"\b([a-z_]+)=", line)


def check_status() -> None:
    """The words of the status, in their order."""
    names = re.findall(r'\[DMDA_COUNT_\w+\] = "(\w+)"', text("dm-dieaware/stats.c"))
    of_hints = list(printed("dm-dieaware/hint-control.c"))
    end = of_hints.index("share") + 1
    of_hints = of_hints[:2] + names + of_hints[2:end]
    compare(RST, words_of(section(RST, "Status")), ["mode", *of_hints])
    log = [word for word in words_of(section(LOG, "Status")) if word != "transport"]
    compare(LOG, log, list(printed("dm-dieaware/log/status.c")))


def compare(path: str, says: List[str], has: List[str]) -> None:
    if says != has:
        print(f"{path}: the status has the words {' '.join(has)}; the page says {' '.join(says)}")


def numbers_of(header: str) -> Dict[str, int]:
    return {name: int(value) for name, value in re.findall(r"^#define (\w+)\s+(\d+)$", header, re.M)}


def options() -> Iterator[Tuple[str, str]]:
    """Name and row of each option in the tables of both pages."""
    for row in re.split(r"^   ``(?=\w+=)", text(RST) + text(LOG), flags=re.M)[1:]:
        body = re.split(r"^   =====", row, flags=re.M)[0]
        yield body.split("=")[0], re.sub(r"\s+", " ", body)


def check_options() -> None:
    """Which options there are, their ranges and their defaults."""
    code = text("dm-dieaware/core/config.c")
    defines = numbers_of(text("dm-dieaware/core/config.h"))
    says = dict(options())
    has = set(re.findall(r'^\t\{ "(\w+)=", ', code, re.M))
    for name in sorted(says.keys() ^ has):
        print(f"{RST}: the option {name} is only in one of core/config.c and the pages")
    for name, lower, upper in re.findall(r'"The option (\w+) must be a number from (\d+) to (\d+)\."', code):
        if f"{lower} to {upper}" not in says.get(name, ""):
            print(f"{RST}: the option {name} is a number from {lower} to {upper}")
    for member, define in re.findall(r"^\t\.(\w+) = (DMDA_\w+_DEFAULT),$", code, re.M):
        name = {"idle_free_percent": "idle_free", "in_place_percent": "in_place",
                "no_space_seconds": "no_space_timeout"}.get(member, member)
        if f"Default: {defines[define]}." not in says.get(name, ""):
            print(f"{RST}: the default of {name} is {defines[define]}")


def check_messages() -> None:
    """Each message is on one of both pages."""
    pages = text(RST) + text(LOG)
    for first, second in re.findall(r'^\t\{ "(\w+)", (?:NULL|"(\w+)"), DMDA_VERB', text("dm-dieaware/core/message.c"), re.M):
        name = f"{first} {second}".strip()
        if not re.search(rf"``{name}[` ]", pages):
            print(f"{RST}: there is no message '{name}' here, nor in {LOG}")


def check_properties() -> None:
    """The virtual SSD's files have rows, and there are no others."""
    page = "docs/nvmevirt-backend.md"
    tables = text(page).split("## Properties")[1].split("### ")[0]
    says = {name for row in re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", tables, re.M) for name in re.findall(r"\w+", row)}
    code = text("nvmevirt-backend/config.c")
    has = set(re.findall(r"^(?:NVMEV_ATTR\(|CONFIGFS_ATTR(?:_RO|_WO)?\(nvmev_, )(\w+)[,)]", code, re.M)) - {"name"}
    for name in sorted(says ^ has):
        print(f"{page}: '{name}' is only in one of nvmevirt-backend/config.c and the tables of properties")


def check_mutants() -> None:
    """How many mutants there are, in all and of each kind of suite."""
    kinds = [re.findall(r"^Suite: (\w+)", path.read_text(encoding="utf-8"), re.M)[0]
             for path in (TOP / "tests/mutants").glob("*.patch")]
    has = (len(kinds), *(kinds.count(kind) for kind in ("unit", "tools", "crash", "lab")))
    sentence = re.search(r"Of (\d+) mutants, (\d+) want a suite of scripts/unit, and run in the check; "
                         r"(\d+) want the tool's tests, (\d+) a part of scripts/crash, (\d+) a test in the lab", text(CRASH))
    if not sentence or tuple(map(int, sentence.groups())) != has:
        print(f"{CRASH}: of {has[0]} mutants, {has[1]} are of unit, {has[2]} of tools, {has[3]} of crash, {has[4]} of lab")


def check_images() -> None:
    """Each feature that a device is refused for, where it is unknown, has a stored image of log mode."""
    known = re.findall(r"DMDA_INCOMPAT_(?!KNOWN)\w+", re.findall(
        r"^#define DMDA_INCOMPAT_KNOWN((?:.*\\\n)*.*)$", text("dm-dieaware/core/super.h"), re.M)[0])
    bits = dict(re.findall(r"^#define (DMDA_INCOMPAT_\w+)\s+\(1ULL << (\d+)\)", text("include/dieaware/format.h"), re.M))
    manifest = "tests/golden/images/manifest"
    stored = 0
    for mask in re.findall(r"^image=.* incompat=(0x[0-9a-f]+) ", text(manifest), re.M):
        stored |= int(mask, 16)
    for name in sorted({*known, *bits}):
        if name not in bits or not stored >> int(bits[name]) & 1:
            print(f"{manifest}: no image has {name}")


def layers() -> List[str]:
    """Files of log mode from the lowest to the highest, as its design has them."""
    table = re.search(r"^## Layers\n.*?^\|---.*?\n(.*?)\n\n", text(DESIGN), re.M | re.S)
    return re.findall(r"`([\w-]+)`", re.sub(r"^\|[^|]*\|", "", table[1], flags=re.M)) if table else []


def check_layers(files: Set[str]) -> None:
    """Of log mode, each file has a place, and takes functions and types only of those below."""
    order = layers()
    folder = "dm-dieaware/log/"
    names = {Path(file).stem for file in files if re.match(rf"{folder}[\w-]+\.c$", file)}
    for name in sorted(names ^ set(order)):
        print(f"{DESIGN}: {folder}{name}.c has no place among the layers, or is only there")
    code = {name: re.sub(r"/\*.*?\*/", "", "".join(
        text(file) for file in (f"{folder}{name}.h", f"{folder}{name}.c") if file in files), flags=re.S)
        for name in names & set(order)}
    owner = {found: name for name in code for found in re.findall(
        r"^(?!\t|static (?!inline))[^\n(;]*\b(dmda_log_\w+)(?:\([^;{]*\)\n\{| \{\n)", code[name], re.M)}
    for name in sorted(code):
        bodies = "".join(re.findall(r"\)\n\{\n.*?^\}", code[name], re.M | re.S))
        for taken in sorted(set(re.findall(r"\bdmda_log_\w+", bodies))):
            if order.index(owner.get(taken, name)) > order.index(name):
                print(f"{folder}{name}.c: {taken} is of {owner[taken]}.c, which stands above it: see {DESIGN}, Layers")


def main() -> None:
    files = {line for line in sys.stdin.read().split("\n") if line}
    pages = sorted(file for file in files if re.match(r"([A-Z]+\.md|docs/.*\.(md|rst))$", file))
    names = sorted(Path(file).stem for file in files if re.match(r"tests/lab/\d{3}-.*\.sh$", file))
    for page in pages:
        check_links(page, files)
        check_paths(page, files)
        check_tests(page, {name[:3] for name in names})
    check_rows(names)
    check_suites()
    check_status()
    check_options()
    check_messages()
    check_properties()
    check_images()
    check_mutants()
    check_layers(files)


if __name__ == "__main__":
    main()
