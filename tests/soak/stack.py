# SPDX-License-Identifier: GPL-2.0-only
"""A virtual SSD, the target above it, and a filesystem above that, or none."""

from __future__ import annotations

import os
import pathlib
import subprocess
import time


SSD = "soak"
NAME = "soak"
TARGET = f"/dev/mapper/{NAME}"
MOUNT = "/mnt"
CONFIG = pathlib.Path("/sys/kernel/config/nvmev") / SSD
INJECT = pathlib.Path("/sys/kernel/debug/nvmev") / SSD / "inject"
# A command that has not ended by then hangs: nothing here takes minutes.
HANG_SECONDS = 300.0

MKFS = {
    "ext4": ["mkfs.ext4", "-q", "-F", "-b", "4096"],
    "xfs": ["mkfs.xfs", "-q", "-f"],
    "btrfs": ["mkfs.btrfs", "-q", "-f"],
    "f2fs": ["mkfs.f2fs", "-q", "-f"],
}
CHECK = {
    "ext4": ["e2fsck", "-fn"],
    "xfs": ["xfs_repair", "-n"],
    "btrfs": ["btrfs", "check", "--force"],
    "f2fs": ["fsck.f2fs", "--dry-run"],
}


class Broken(Exception):
    """Something that must work did not."""


def run(*words: str, patient: bool = False) -> str:
    """A command that must succeed, unless `patient`: then its failure is the answer ''."""
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace", timeout=HANG_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise Broken(f"'{' '.join(words)}' hangs") from error
    if done.returncode and not patient:
        raise Broken(f"'{' '.join(words)}' ended with {done.returncode}: {done.stdout[-1500:]}")
    return "" if done.returncode else done.stdout


def succeeds(*words: str) -> bool:
    try:
        run(*words)
    except Broken as broken:
        if "hangs" in str(broken):
            raise
        return False
    return True


def is_mounted() -> bool:
    """Asked of the kernel: of a filesystem that has shut down nothing can be asked."""
    mounts = pathlib.Path("/proc/self/mounts").read_text().splitlines()
    return any(line.split()[1] == MOUNT for line in mounts)


class Stack:
    def __init__(self, mode: str, filesystem: str, properties: list[str]) -> None:
        self.mode, self.filesystem, self.properties = mode, filesystem, properties
        self.device = ""
        # The table line, with {} where the device's name belongs
        self.line = ""

    # ---- the SSD

    def create(self, format_options: list[str], table_options: list[str]) -> None:
        self.device = run("nvmev-ssd", "create", SSD, *self.properties).strip()
        if self.mode == "log":
            said = run("dieaware", "format", self.device, "--force", *format_options)
            self.line = said.strip().splitlines()[-1].replace(self.device, "{}")
        else:
            sectors = run("blockdev", "--getsz", self.device).strip()
            target = "linear {} 0" if self.mode == "linear" else "dieaware {} 0 hint"
            self.line = f"0 {sectors} {target}"
        if table_options:
            self.line += f" {len(table_options)} " + " ".join(table_options)
        self.make_files()

    def make_files(self) -> None:
        self.start()
        if self.filesystem != "raw":
            run(*MKFS[self.filesystem], TARGET)
            # It need not have flushed anything.
            self.flush()
            self.mount()

    def destroy(self) -> None:
        self.umount()
        self.stop()
        run("nvmev-ssd", "remove", SSD)

    def is_on(self) -> bool:
        return (CONFIG / "power").read_text().strip() == "1"

    def cut_power(self, after: int = 0) -> None:
        run("nvmev-ssd", "power-cut", SSD, *([str(after)] if after else []))

    def power_on(self) -> None:
        self.device = run("nvmev-ssd", "power-on", SSD).strip()

    @staticmethod
    def inject(line: str) -> None:
        INJECT.write_text(line + "\n")

    def pages(self) -> int:
        return int(run("blockdev", "--getsize64", self.device)) // 4096

    # ---- the target

    def table(self) -> str:
        return self.line.format(self.device)

    def start(self) -> None:
        run("dmsetup", "create", NAME, "--table", self.table())

    def stop(self) -> None:
        deadline = time.monotonic() + HANG_SECONDS
        while not succeeds("dmsetup", "remove", "--retry", NAME):
            if time.monotonic() > deadline:
                raise Broken(f"the target cannot be removed: {run('dmsetup', 'info', NAME)}")
            time.sleep(0.2)

    def thaw(self) -> None:
        """Whatever state a suspend left behind when its device went: nobody waits for it any more.

        A table that cannot start leaves the device suspended and its filesystem frozen; then
        all I/O is to fail, as an administrator would have it.
        """
        if not succeeds("dmsetup", "resume", NAME):
            run("dmsetup", "wipe_table", "--nolockfs", NAME)

    def flush(self) -> None:
        """What the target and the SSD hold in volatile memory becomes durable."""
        fd = os.open(TARGET, os.O_RDWR)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def status(self) -> dict[str, str]:
        words = run("dmsetup", "status", NAME, patient=True).split()
        return dict(word.split("=", 1) for word in words if "=" in word)

    def check_log(self, after_errors: bool) -> None:
        """The metadata of log mode, while the target is not there."""
        if self.mode == "log":
            options = ["--clear-needs-check"] if after_errors else []
            run("dieaware", "check", *options, self.device)

    # ---- the filesystem

    def mount(self) -> None:
        if self.filesystem != "raw":
            run("mount", "-t", self.filesystem, TARGET, MOUNT)

    def umount(self, lazy: bool = False) -> None:
        if self.filesystem == "raw" or not is_mounted():
            return
        if not lazy:
            run("umount", MOUNT)
        elif not succeeds("umount", MOUNT):
            run("umount", "-l", MOUNT)

    def check_files(self, after_errors: bool) -> None:
        """The filesystem's own checker; after errors that it has noted, it may mend first."""
        if self.filesystem == "raw":
            return
        if after_errors and self.filesystem == "ext4":
            succeeds("e2fsck", "-fp", TARGET)
        run(*CHECK[self.filesystem], TARGET)


class ForeignStack(Stack):
    """The kernel's RAM disk in the place of the SSD: nothing below the filesystem is ours.

    When its power fails, all I/O fails from then on. What was written is there; what was under way
    has come to its end, for that is waited for.
    """

    has_power = True

    def create(self, format_options: list[str], table_options: list[str]) -> None:
        size = next(int(word.split("=")[1]) for word in self.properties if "capacity_mib" in word)
        run("modprobe", "brd", "rd_nr=1", f"rd_size={size << 10}")
        self.device = "/dev/ram0"
        self.line = f"0 {run('blockdev', '--getsz', self.device).strip()} linear {{}} 0"
        self.make_files()

    def destroy(self) -> None:
        self.umount()
        self.stop()

    def is_on(self) -> bool:
        return self.has_power

    def cut_power(self, after: int = 0) -> None:
        run("dmsetup", "wipe_table", "--nolockfs", NAME)
        self.has_power = False

    def power_on(self) -> None:
        self.has_power = True
