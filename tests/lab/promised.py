#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Files that were promised to be durable, and whether they are there after a power failure.

promised.py write FOLDER LIST: writes files, each with fsync of it and of the folder, and then its number to
LIST; until the filesystem fails.
promised.py check FOLDER LIST: each file of LIST must be there as it was written.
"""

import os
import random
import sys
import time

# A file is written again after so many others.
FILES = 40
PAUSE_SECONDS = 0.02


def contents(number):
    draw = random.Random(number)
    return draw.randbytes(4096) * draw.randrange(1, 9)


def write(folder, promises):
    directory = os.open(folder, os.O_RDONLY)
    number = 0
    try:
        while True:
            path = f"{folder}/promised{number % FILES}"
            with open(f"{path}.new", "wb") as file:
                file.write(contents(number))
                file.flush()
                os.fsync(file.fileno())
            os.rename(f"{path}.new", path)
            os.fsync(directory)
            with open(promises, "a", encoding="ascii") as listed:
                print(number, file=listed)
            number += 1
            time.sleep(PAUSE_SECONDS)
    except OSError as err:
        print(f"{number} were promised, then: {err}")


def check(folder, promises):
    with open(promises, encoding="ascii") as listed:
        numbers = [int(line) for line in listed]
    last = {number % FILES: number for number in numbers}
    wrong = []
    for slot, number in last.items():
        try:
            with open(f"{folder}/promised{slot}", "rb") as file:
                found = file.read()
        except OSError as err:
            found = b""
            wrong.append(str(err))
        # The next one of that name may have been written, but not promised yet.
        if found not in (contents(number), contents(number + FILES)):
            wrong.append(f"promised{slot} is not what was written as {number}")
    print(len(numbers), *wrong, sep="\n")
    return 1 if wrong or not numbers else 0


def main():
    verb, folder, promises = sys.argv[1:]
    if verb == "write":
        return write(folder, promises)
    return check(folder, promises)


if __name__ == "__main__":
    sys.exit(main())
