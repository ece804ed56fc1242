# SPDX-License-Identifier: GPL-2.0-only
"""What may be read back: every byte of every file, before and after a power failure.

Nothing here touches a device. Workers tell the oracle of what they are going to do before they
do it, and of a promise (fsync and the like) after it was given. Each page of a file has the
states that it may be found in, oldest first: while the power stays on only the last one counts;
after a failure any of them does, down to the one that was promised last. A page is found as one
of its states or the oracle objects; there are no mixtures, for no device of ours tears a page.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Optional

PAGE = 4096
ZEROES = bytes(PAGE)


def pages_of(offset: int, length: int) -> Iterator[tuple[int, int, int]]:
    """Number, begin and end of each piece of [offset, offset + length) that lies in one page."""
    end = offset + length
    while offset < end:
        page = offset // PAGE
        stop = min(end, (page + 1) * PAGE)
        yield page, offset - page * PAGE, stop - page * PAGE
        offset = stop


@dataclass
class Content:
    """A file's bytes, or those of a part of a block device."""

    sizes: list[int] = field(default_factory=lambda: [0])
    pages: dict[int, list[bytes]] = field(default_factory=dict)
    # What happened to it last, for whoever has to find out why it is not as it must be
    history: deque[str] = field(default_factory=lambda: deque(maxlen=16))
    # A fault of btrfs, which is not held against what lies below it (docs/testing-crash.md): a file
    # that is cut within a page leaves on the device what the page had there. When the file becomes
    # longer, its size may be durable before the zeroes are, whatever was promised of the
    # shorter one.
    tails_come_back: bool = False
    # Of such a page: what it may be on the device, in full
    cut: dict[int, list[bytes]] = field(default_factory=dict)
    # Those that are written, with zeroes, by the next promise
    covered: set[int] = field(default_factory=set)
    # How many the last objection() let pass
    nr_tails: int = 0

    def note(self, what: str) -> None:
        """Its times are those of the kernel's messages, but for milliseconds."""
        self.history.append(f"{time.monotonic():.3f} {what}")

    @property
    def size(self) -> int:
        return self.sizes[-1]

    def states(self, page: int) -> list[bytes]:
        return self.pages.setdefault(page, [ZEROES])

    def _patch(self, offset: int, data: bytes) -> None:
        done = 0
        for page, begin, end in pages_of(offset, len(data)):
            states = self.states(page)
            piece = data[done : done + end - begin]
            states.append(states[-1][:begin] + piece + states[-1][end:])
            done += end - begin
            self.covered.add(page)

    def write(self, offset: int, data: bytes) -> None:
        self.note(f"write {offset}+{len(data)}")
        if offset > self.size:
            self.covered.add(self.size // PAGE)
        self._patch(offset, data)
        if offset + len(data) > self.size:
            self.sizes.append(offset + len(data))

    def zero(self, offset: int, length: int) -> None:
        """A hole is punched, or a part of a device is discarded; the size stays."""
        length = min(length, self.size - offset)
        if length > 0:
            self.note(f"zero {offset}+{length}")
            self._patch(offset, bytes(length))

    def truncate(self, size: int) -> None:
        before = list(self.states(size // PAGE))
        self.zero(size, self.size - size)
        if size > self.size:
            self.covered.add(self.size // PAGE)
        elif size < self.size and size % PAGE and self.tails_come_back:
            self.cut.setdefault(size // PAGE, []).extend(before)
            self.covered.discard(size // PAGE)
        self.note(f"size {size}")
        self.sizes.append(size)

    def _tail(self, states: list[bytes], size: int) -> dict[int, list[bytes]]:
        """Those of `states` that the last page of a file of this size may be on the device."""
        page, end = divmod(size, PAGE)
        head = self.states(page)[-1][:end]
        return {page: [state for state in states if end and state[:end] == head]}

    def promise(self) -> None:
        """All of it is durable as it is now."""
        self.note(f"promised, size {self.size}")
        del self.sizes[:-1]
        for states in self.pages.values():
            del states[:-1]
        last = self.size // PAGE
        self.cut = {} if last in self.covered else self._tail(self.cut.get(last, []), self.size)
        self.covered.clear()

    def promise_range(self, offset: int, length: int) -> None:
        """These bytes are durable, and so is a size that has them, but none of what is behind."""
        self.note(f"promised {offset}+{length}")
        for page, _, _ in pages_of(offset, length):
            del self.states(page)[:-1]
            if page in self.covered:
                self.cut.pop(page, None)
        least = min(offset + length, self.size)
        self.sizes = [max(size, least) for size in self.sizes]

    def expect(self, offset: int, length: int) -> bytes:
        """What a read gets while the power is on."""
        length = max(0, min(length, self.size - offset))
        return b"".join(
            self.states(page)[-1][begin:end] for page, begin, end in pages_of(offset, length)
        )

    def objection(self, found: bytes) -> str:
        """What is wrong with it after a power failure; nothing if it may be so."""
        self.nr_tails = 0
        if not min(self.sizes) <= len(found) <= max(self.sizes):
            return f"has {len(found)} bytes and may have {sorted(set(self.sizes))}"
        for page, _, end in pages_of(0, len(found)):
            piece = found[page * PAGE : page * PAGE + end]
            states = self.states(page)
            if any(piece == state[:end] for state in states):
                continue
            if any(piece == state[:end] for state in self.cut.get(page, ())):
                self.nr_tails += 1
            else:
                return f"page {page} is {describe(piece)} and may be one of " + ", ".join(
                    describe(state[:end]) for state in states
                )
        return ""

    def settle(self, found: bytes, tail: Iterable[bytes] = ()) -> None:
        """It was found so: from now on this is what it is, durable or not.

        Nothing more is known to be promised than before, but a later failure cannot bring
        back what was not found: what was read from the device is on it. Only behind the end, where
        nobody reads, the last page may be one of `tail`.
        """
        self.sizes = [len(found)]
        self.pages = {
            page: [found[page * PAGE : page * PAGE + end].ljust(PAGE, b"\0")]
            for page, _, end in pages_of(0, len(found))
        }
        self.cut = self._tail(list(tail), len(found))
        self.covered.clear()


def describe(piece: bytes) -> str:
    """The kinds of bytes in a page, short enough for a message."""
    parts = []
    last = None
    for begin in range(0, len(piece), 64):
        chunk = piece[begin : begin + 64]
        text = "zeroes" if not chunk.strip(b"\0") else chunk[:24].decode("ascii", "replace")
        if text != last:
            parts.append(f"{begin}: {text}")
        last = text
    return "{" + "; ".join(parts[:6]) + ("; ..." if len(parts) > 6 else "") + "}"


@dataclass
class Names:
    """What may be found under each path: nothing (None), or a file."""

    states: dict[str, list[Optional[Content]]] = field(default_factory=dict)
    # What happened to them last, and when the folder was promised: a name that is gone for good
    # has no file that could tell
    happened: deque[str] = field(default_factory=lambda: deque(maxlen=64))
    # A fault of btrfs, which is not held against what lies below it (docs/testing-crash.md): a name
    # that was made and renamed since the last commit may come back when its file is removed, even
    # if that was promised.
    come_back: bool = False
    made: set[str] = field(default_factory=set)
    renamed: dict[str, Content] = field(default_factory=dict)
    nr_came_back: int = 0
    # Pages of Content.cut that were met
    nr_tails: int = 0

    def note(self, what: str) -> None:
        self.happened.append(f"{time.monotonic():.3f} {what}")

    def now(self, path: str) -> Optional[Content]:
        return self.states.get(path, [None])[-1]

    def put(self, path: str, content: Optional[Content]) -> None:
        self.note(f"{path} {'there' if content else 'gone'}")
        if content and not self.now(path):
            self.made.add(path)
        self.states.setdefault(path, [None]).append(content)

    def rename(self, old: str, new: str) -> None:
        content = self.now(old)
        if content and old in self.made:
            self.renamed[old] = content
        self.put(new, content)
        self.put(old, None)

    def promise(self) -> None:
        """The folder is durable as it is now."""
        self.note("promised")
        for path, states in list(self.states.items()):
            del states[:-1]
            if states == [None]:
                del self.states[path]

    def commit(self) -> None:
        """As promise(), and whatever a filesystem keeps of the past is of no use any more."""
        self.promise()
        self.made.clear()
        self.renamed.clear()

    def files(self) -> dict[str, Content]:
        return {path: states[-1] for path, states in self.states.items() if states[-1]}

    def objection(self, path: str, found: Optional[bytes]) -> str:
        """What is wrong with what was found under a path, None for nothing."""
        reasons = []
        for content in self.states.get(path, [None]):
            if content is None or found is None:
                reason = "" if content is found else "is there" if content is None else "is missing"
            else:
                reason = content.objection(found)
            if not reason:
                self.nr_tails += content.nr_tails if content else 0
                return ""
            reasons.append(reason)
        if found is not None and self.may_come_back(path, found):
            self.nr_came_back += 1
            return ""
        return f"{path} " + "; or ".join(reasons)

    def may_come_back(self, path: str, found: bytes) -> bool:
        content = self.renamed.get(path)
        if not self.come_back or not content or content.objection(found):
            return False
        return all(content is not other for other in self.files().values())

    def history(self, path: str) -> str:
        """What happened last to the files that had the path, and to the folder."""
        files = [content for content in self.states.get(path, []) if content]
        return " | ".join("; ".join(notes) for notes in [*(c.history for c in files), self.happened])

    def tails(self, path: str, found: bytes) -> list[bytes]:
        """What the last page of a file that was found may be on the device, behind the file's end."""
        page = len(found) // PAGE
        files = [*self.states.get(path, []), self.renamed.get(path)]
        return [
            state
            for content in files
            if self.come_back and content and not content.objection(found)
            for state in [*content.states(page), *content.cut.get(page, [])]
        ]

    def settle(self, found: dict[str, bytes]) -> None:
        """As Content.settle(), for all files; what was found is there and nothing else."""
        tails = {path: self.tails(path, data) for path, data in found.items()}
        self.commit()
        self.states = {}
        for path, data in found.items():
            content = Content(tails_come_back=self.come_back)
            content.settle(data, tails[path])
            self.states[path] = [content]
