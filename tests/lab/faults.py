#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""One operation again and again, each time with another allocation that fails.

The kernel can be told that the N-th allocation of one thread fails
(/proc/thread-self/fail-nth), and that only those count which were asked for below
given code (failslab/require-start and -end). So this program does an operation by
plain system calls with N = 1, 2, 3 ..., and stops when the operation needs fewer
allocations than that. What each attempt ends with is the operation's own errno. Behind
each attempt, the operation without a fault must work, and is undone.

Kinds of operation:

  make ITEM                   make the configfs directory of a virtual SSD
  create NAME SECTORS LINE    make a dm device, load a table, resume it
  reload NAME SECTORS LINE    load and resume another table of a device
  message NAME MESSAGE        send one
  load FILE.ko                load a module
  unload MODULE               unload one

It prints a line "faults N errors N", and the errors it saw by name.
"""

from __future__ import annotations

import argparse
import collections
import ctypes
import errno
import fcntl
import os
import struct
import sys
import time
from collections.abc import Callable

CONFIGFS = "/sys/kernel/config/nvmev"
ATTRIBUTES = ("/sys/kernel/debug/failslab", "/sys/kernel/debug/fail_page_alloc")
MAX_FAULTS = 2000

DM_DEV_CREATE, DM_DEV_REMOVE, DM_DEV_SUSPEND = 3, 4, 6
DM_TABLE_LOAD, DM_TARGET_MSG = 9, 14
DM_HEADER = struct.Struct("=3I I I I i I I I Q 128s 129s 7x")
DM_SPEC = struct.Struct("=Q Q i I 16s")
DM_SUSPEND_FLAG = 2

SYS_FINIT_MODULE, SYS_DELETE_MODULE = 313, 176
LIBC = ctypes.CDLL(None, use_errno=True)


def set_in(folder: str, name: str, value: object) -> None:
    if os.path.exists(f"{folder}/{name}"):
        with open(f"{folder}/{name}", "w") as file:
            file.write(str(value))


def set_attribute(name: str, value: object) -> None:
    for folder in ATTRIBUTES:
        set_in(folder, name, value)


def function_range(name: str) -> tuple[int, int]:
    """Where a function of the kernel or of a module begins, and the next one does."""
    begin = 0
    addresses: list[int] = []
    with open("/proc/kallsyms") as file:
        for line in file:
            words = line.split()
            if words[1] not in "tT":
                continue
            addresses.append(int(words[0], 16))
            if words[2] == name:
                begin = int(words[0], 16)
    if not begin:
        sys.exit(f"faults: there is no function '{name}'")
    return begin, min(address for address in addresses if address > begin)


def module_range(name: str) -> tuple[int, int]:
    with open("/proc/modules") as file:
        for line in file:
            words = line.split()
            if words[0] == name:
                begin = int(words[5], 16)
                return begin, begin + int(words[1])
    sys.exit(f"faults: the module '{name}' is not loaded")


def prepare(code: tuple[int, int], spared: tuple[int, int]) -> None:
    """Let allocations of all kinds count, if made below this code and not below that."""
    set_attribute("ignore-gfp-wait", "N")
    set_attribute("ignore-gfp-highmem", "Y")
    set_attribute("min-order", 0)
    set_attribute("verbose", 0)
    set_attribute("probability", 0)
    set_attribute("times", -1)
    set_attribute("stacktrace-depth", 32)
    set_attribute("require-start", f"0x{code[0]:x}")
    set_attribute("require-end", f"0x{code[1]:x}")
    set_attribute("reject-start", f"0x{spared[0]:x}")
    set_attribute("reject-end", f"0x{spared[1]:x}")


def system_call(number: int, *arguments: object) -> None:
    if LIBC.syscall(number, *arguments) < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


class Mapper:
    """Device-mapper's control device."""

    def __init__(self) -> None:
        self.fd = os.open("/dev/mapper/control", os.O_RDWR)

    def call(self, number: int, name: str, data: bytes = b"", flags: int = 0, targets: int = 0) -> None:
        size = DM_HEADER.size + max(len(data), 4096)
        header = DM_HEADER.pack(
            4, 0, 0, size, DM_HEADER.size, targets, 0, flags, 0, 0, 0, name.encode(), b""
        )
        buffer = bytearray(header + data.ljust(size - len(header), b"\0"))
        fcntl.ioctl(self.fd, 3 << 30 | DM_HEADER.size << 16 | 0xFD << 8 | number, buffer)

    def load(self, name: str, sectors: int, line: str) -> None:
        kind, parameters = line.split(" ", 1)
        text = parameters.encode() + b"\0"
        text = text.ljust((len(text) + 7) & ~7, b"\0")
        spec = DM_SPEC.pack(0, sectors, 0, DM_SPEC.size + len(text), kind.encode())
        self.call(DM_TABLE_LOAD, name, spec + text, targets=1)

    def remove(self, name: str) -> None:
        """Whoever looked into the new device, as blkid would, may still have it open."""
        deadline = time.monotonic() + 10
        while True:
            try:
                self.call(DM_DEV_REMOVE, name)
                return
            except OSError as error:
                if error.errno != errno.EBUSY or time.monotonic() > deadline:
                    raise
            time.sleep(0.01)


class Operation:
    """What is done, and how it is undone if it has worked."""

    def prepare(self) -> None:
        pass

    def do(self) -> None:
        raise NotImplementedError

    def undo(self, worked: bool) -> None:
        pass


class Make(Operation):
    def __init__(self, item: str) -> None:
        self.path = f"{CONFIGFS}/{item}"

    def do(self) -> None:
        os.mkdir(self.path)

    def undo(self, worked: bool) -> None:
        if worked:
            os.rmdir(self.path)


class Create(Operation):
    def __init__(self, name: str, sectors: str, line: str) -> None:
        self.mapper = Mapper()
        self.name, self.sectors, self.line = name, int(sectors), line

    def prepare(self) -> None:
        self.mapper.call(DM_DEV_CREATE, self.name)

    def do(self) -> None:
        self.mapper.load(self.name, self.sectors, self.line)
        self.mapper.call(DM_DEV_SUSPEND, self.name)

    def undo(self, worked: bool) -> None:
        self.mapper.remove(self.name)


class Reload(Create):
    def prepare(self) -> None:
        pass

    def undo(self, worked: bool) -> None:
        if not worked:
            # Suspended, perhaps, and with or without the new table: go on.
            self.mapper.call(DM_DEV_SUSPEND, self.name)


class Message(Operation):
    def __init__(self, name: str, message: str) -> None:
        self.mapper = Mapper()
        self.name = name
        self.data = struct.pack("=Q", 0) + message.encode() + b"\0"

    def do(self) -> None:
        self.mapper.call(DM_TARGET_MSG, self.name, self.data)


class Load(Operation):
    def __init__(self, path: str) -> None:
        self.fd = os.open(path, os.O_RDONLY)
        self.module = os.path.basename(path)[:-3].replace("-", "_").encode()

    def do(self) -> None:
        system_call(SYS_FINIT_MODULE, self.fd, b"", 0)

    def undo(self, worked: bool) -> None:
        if worked:
            system_call(SYS_DELETE_MODULE, self.module, os.O_NONBLOCK)


class Unload(Load):
    def prepare(self) -> None:
        system_call(SYS_FINIT_MODULE, self.fd, b"", 0)

    def do(self) -> None:
        system_call(SYS_DELETE_MODULE, self.module, os.O_NONBLOCK)

    def undo(self, worked: bool) -> None:
        if not worked:
            system_call(SYS_DELETE_MODULE, self.module, os.O_NONBLOCK)


KINDS: dict[str, Callable[..., Operation]] = {
    "make": Make,
    "create": Create,
    "reload": Reload,
    "message": Message,
    "load": Load,
    "unload": Unload,
}


def attempt(operation: Operation, nth_fd: int, nth: int) -> tuple[bool, int]:
    """Whether the fault was reached, and the operation's errno or 0."""
    result = 0
    operation.prepare()
    os.pwrite(nth_fd, str(nth).encode(), 0)
    try:
        operation.do()
    except OSError as error:
        result = error.errno or 0
    reached = int(os.pread(nth_fd, 16, 0)) == 0
    os.pwrite(nth_fd, b"0", 0)
    operation.undo(not result)
    return reached, result


def reach_each(operation: Operation, step: int) -> tuple[int, collections.Counter[int]]:
    """The N-th allocation fails, and it alone, for N = 1, 2, 3 ..."""
    results: collections.Counter[int] = collections.Counter()
    nth_fd = os.open("/proc/thread-self/fail-nth", os.O_RDWR)
    nth = 0
    while nth < MAX_FAULTS:
        nth += 1 if nth < 20 else step
        reached, result = attempt(operation, nth_fd, nth)
        if not reached:
            if result:
                sys.exit(f"faults: without a fault the operation ends with {os.strerror(result)}")
            break
        results[result] += 1
    return sum(results.values()), results


def report(faults: int, results: collections.Counter[int]) -> None:
    names = [
        f"{errno.errorcode.get(code, str(code))}={count}" for code, count in results.items() if code
    ]
    failed = sum(count for code, count in results.items() if code)
    print(f"faults {faults} errors {failed}", *sorted(names))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--below", help="count allocations below this module or function only")
    parser.add_argument("--spare", help="and not those below this function")
    parser.add_argument("--step", type=int, default=1, help="behind the 20th, every STEP-th fault only")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()

    code, spared = (0, 2**64 - 1), (0, 0)
    if options.below:
        below = options.below
        is_module = os.path.isdir(f"/sys/module/{below}/sections")
        code = module_range(below) if is_module else function_range(below)
    if options.spare:
        spared = function_range(options.spare)
    operation = KINDS[options.kind](*options.words)
    prepare(code, spared)
    faults, results = reach_each(operation, options.step)
    report(faults, results)


main()
