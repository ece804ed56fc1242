# SPDX-License-Identifier: GPL-2.0-only
"""xfstests as a folder: whether it is built, and what its tests and groups are called."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

FILESYSTEMS = ("ext4", "xfs", "btrfs", "f2fs")

# What "make" leaves in the folder, and a test cannot do without.
BUILT = ("include/builddefs", "ltp/fsstress", "ltp/fsx", "src/lstat64", "src/log-writes/replay-log",
         "tests/generic/group.list")
TEST = re.compile(r"^[a-z0-9]+/\d{3,4}$")


class Unusable(Exception):
    """Says in a sentence what is wrong with the folder or what is asked of it."""


class Suite:
    """A built checkout of xfstests."""

    def __init__(self, folder: Path):
        self.folder = folder
        if not (folder / "check").is_file() or not (folder / "tests" / "generic").is_dir():
            raise Unusable(f"'{folder}' holds no xfstests: name the folder of a checkout.")
        missing = [name for name in BUILT if not (folder / name).exists()]
        if missing:
            raise Unusable(f"'{folder}' is not built, it lacks {missing[0]}: run 'make' there first.")

    def digest(self) -> str:
        """What its tests are: another version's results are not to be compared with."""
        digest = hashlib.sha256()
        for part in ("check", "common", "tests", "ltp/fsstress", "ltp/fsx"):
            path = self.folder / part
            files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
            for file in files:
                digest.update(str(file.relative_to(self.folder)).encode() + b"\0")
                digest.update(hashlib.sha256(file.read_bytes()).digest())
        return digest.hexdigest()[:16]

    def copy_to(self, folder: Path) -> None:
        """What a machine gets of it."""
        shutil.copytree(self.folder, folder, symlinks=True,
                        ignore=shutil.ignore_patterns(".git", "*.o", "*.lo", "results", "local.config"))

    def groups(self, fs: str) -> dict[str, list[str]]:
        """Each test that this filesystem may run, with its groups."""
        tests: dict[str, list[str]] = {}
        for folder in ("generic", fs):
            for line in (self.folder / "tests" / folder / "group.list").read_text().splitlines():
                words = line.split()
                if words and words[0].isdigit():
                    tests[f"{folder}/{words[0]}"] = words[1:]
        return tests

    def choose(self, fs: str, wanted: list[str]) -> list[str]:
        """The tests of that filesystem which are meant by names of tests and groups."""
        tests = self.groups(fs)
        chosen = set()
        for word in wanted:
            if TEST.match(word):
                chosen |= {word} & tests.keys()
            else:
                chosen |= {test for test, groups in tests.items() if word in groups}
        return sorted(chosen)

    def check_words(self, wanted: list[str]) -> None:
        """Refuse what is neither a test nor a group of any filesystem."""
        for word in wanted:
            if not any(self.choose(fs, [word]) for fs in FILESYSTEMS):
                raise Unusable(f"xfstests has neither a test nor a group '{word}'.")
