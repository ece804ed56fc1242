#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Where functions of a loaded module are.

text_range.py MODULE NAME...: prints two addresses, between which all these functions lie.

/proc/kallsyms says that, too, but takes minutes in a kernel with KASAN.
"""

import struct
import subprocess
import sys
from typing import List, Tuple

SYMTAB = 2


def sections(elf: bytes) -> List[Tuple[int, ...]]:
    """Type, offset, size and linked section of each."""
    start, = struct.unpack_from("<Q", elf, 0x28)
    size, number = struct.unpack_from("<HH", elf, 0x3A)
    found = []
    for i in range(number):
        at = start + i * size
        kind, = struct.unpack_from("<I", elf, at + 4)
        found.append((kind, *struct.unpack_from("<QQI", elf, at + 24)))
    return found


def functions(elf: bytes) -> List[Tuple[str, int, int]]:
    """Name, place and size of each symbol."""
    all_sections = sections(elf)
    found = []
    for kind, offset, size, link in all_sections:
        if kind != SYMTAB:
            continue
        names = all_sections[link][1]
        for at in range(offset, offset + size, 24):
            name, _, _, _, value, length = struct.unpack_from("<IBBHQQ", elf, at)
            end = elf.index(0, names + name)
            found.append((elf[names + name:end].decode(), value, length))
    return found


def main() -> None:
    module, wanted = sys.argv[1], sys.argv[2:]
    path = subprocess.run(["modinfo", "-n", module], check=True, stdout=subprocess.PIPE,
                          text=True).stdout.strip()
    with open(path, "rb") as file:
        places = [(value, value + length) for name, value, length in functions(file.read())
                  if name in wanted]
    if len(places) != len(wanted):
        sys.exit(f"Not all of these are functions of {path}: {', '.join(wanted)}")
    with open(f"/sys/module/{module.replace('-', '_')}/sections/.text") as file:
        base = int(file.read(), 16)
    print(hex(base + min(begin for begin, _ in places)), hex(base + max(end for _, end in places)))


if __name__ == "__main__":
    main()
