#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Take from a guest's root filesystem what fio links for storage in the network and for persistent memory.

Debian's fio needs 64 libraries, a third of what the guest is unpacked from at each boot, and each start of it maps
and relocates all of them, which in UML is most of what a short job costs. No test uses these engines. Each library of
theirs becomes one that has the functions which fio wants, and ends the program if one is called; what only those
libraries needed goes away.

Usage: lean-fio.py ROOT
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, List, Set

ENGINES = ["libgfapi", "libnbd", "libibverbs", "librdmacm", "librados", "librbd", "libpmemblk", "libpmem"]
# The C library opens it by its name.
BY_NAME = {"libgcc_s.so.1"}


def said(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def is_elf(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def needed(path: Path) -> List[str]:
    return re.findall(r"\(NEEDED\).*\[(.*)\]", said("readelf", "-dW", str(path)))


def wanted(program: Path) -> Dict[str, str]:
    """Functions that a program wants of others, and their versions."""
    found = {}
    for line in said("objdump", "-T", str(program)).splitlines():
        match = re.match(r".*\*UND\*\s+\w+\s+(?:\((\S+)\)|Base)?\s+(\w+)$", line)
        if match:
            found[match.group(2)] = match.group(1) or ""
    return found


def defined(library: Path) -> Set[str]:
    lines = said("nm", "-D", "--defined-only", str(library)).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def replace(library: Path, name: str, functions: Dict[str, str]) -> None:
    """By one of these functions, each with its version."""
    versions: Dict[str, List[str]] = {}
    for function, version in functions.items():
        versions.setdefault(version, []).append(function)
    unversioned = versions.pop("", [])
    with tempfile.TemporaryDirectory() as folder:
        source, script = Path(folder, "stub.c"), Path(folder, "stub.map")
        source.write_text("".join(f"void {function}(void) {{ __builtin_trap(); }}\n" for function in functions))
        script.write_text("".join(f"{version} {{ {'; '.join(names)}; }};\n" for version, names in versions.items()))
        assert not (versions and unversioned), name
        library.unlink()
        subprocess.run(["gcc", "-shared", "-nostdlib", "-fPIC", "-w", f"-Wl,-soname,{name}", "-o", str(library),
                        str(source)] + ([f"-Wl,--version-script={script}"] if versions else []), check=True)


def main() -> None:
    root = Path(sys.argv[1])
    elves = [path for path in root.rglob("*") if is_elf(path)]
    needs = {path: needed(path) for path in elves}
    named: Dict[str, Path] = {}
    for path in root.glob("usr/lib/**/*.so*"):
        target = root / path.readlink() if path.is_symlink() and path.readlink().is_absolute() else path
        real = target.resolve()
        if real in needs:
            named.setdefault(path.name, real)

    fio = root / "usr/bin/fio"
    engines = [name for name in needs[fio] if name.split(".so")[0] in ENGINES]
    # All that these engines need, at any depth
    theirs: Set[Path] = set()
    queue = [word for name in engines for word in needs[named[name]]]
    while queue:
        name = queue.pop()
        library = named.get(name)
        if library and library not in theirs and name not in BY_NAME:
            theirs.add(library)
            queue += needs[library]
    functions = wanted(fio)
    for name in engines:
        library = named[name]
        has = defined(library)
        replace(library, name, {function: version for function, version in functions.items() if function in has})
        needs[library] = []
    # But for what others need as well
    kept = True
    while kept:
        used = {named.get(name) for path, names in needs.items() if path not in theirs for name in names}
        kept = bool(theirs & used)
        theirs -= used
    for path in root.glob("usr/lib/**/*.so*"):
        if path.is_symlink() and path.resolve() in theirs:
            path.unlink()
    for library in theirs:
        library.unlink()


main()
