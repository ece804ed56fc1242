#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Places in a backing file (nvmevirt-backend/core/image.h), for tests that damage it.

Usage: image.py headers FILE   offsets of the older and of the newer header
       image.py used FILE      offsets in the first, a middle and the last block behind the
                               headers that is not empty
"""

import sys

BLOCK = 4096
SERIAL = slice(24, 32)


def headers(image: bytes) -> list[int]:
    """Offsets of both headers, the one that counts last."""
    serials = [int.from_bytes(image[at : at + BLOCK][SERIAL], "little") for at in (0, BLOCK)]
    return [0, BLOCK] if serials[1] > serials[0] else [BLOCK, 0]


def used(image: bytes) -> list[int]:
    """Offsets in blocks that a drive is in."""
    blocks = [at for at in range(2 * BLOCK, len(image), BLOCK) if any(image[at : at + BLOCK])]
    return [blocks[0] + 11, blocks[len(blocks) // 2] + 500, blocks[-1] + 4000]


def main() -> int:
    if len(sys.argv) != 3 or sys.argv[1] not in ("headers", "used"):
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[2], "rb") as file:
        image = file.read()
    if sys.argv[1] == "headers":
        print(*headers(image))
    else:
        print(*used(image), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
