#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A worker takes an error of the device for an error, and wrong bytes for wrong bytes."""

from __future__ import annotations

import errno
import tempfile
import unittest
from collections.abc import Sequence
from unittest import mock

from oracle import PAGE, Content
from worker import Worker, Wrong

SIZE = 8 * PAGE


def page_by_page(reads: list[bytes | OSError]) -> mock._patch:
    """A kernel whose reads return no more than a page each, or fail."""
    answers = iter(reads)

    def preadv(_fd: int, views: Sequence[memoryview], _offset: int) -> int:
        answer = next(answers)
        if isinstance(answer, OSError):
            raise answer
        views[0][: len(answer)] = answer
        return len(answer)

    return mock.patch("os.preadv", preadv)


class ReadTest(unittest.TestCase):
    def setUp(self) -> None:
        self.worker = Worker("w", 1)
        self.content = Content()
        self.content.write(0, b"a" * SIZE)

    def compare(self, fd: int = -1, reach: int = SIZE) -> None:
        self.worker.compare(fd, "w/b1", self.content, 0, reach)

    def test_an_error_behind_the_first_pages_is_an_error(self) -> None:
        page = b"a" * PAGE
        with page_by_page([page, page, OSError(errno.EIO, "")]), self.assertRaises(OSError):
            self.compare()

    def test_pieces_are_put_together(self) -> None:
        with page_by_page([b"a" * PAGE] * 8):
            self.compare()

    def test_a_file_that_is_too_short_is_wrong(self) -> None:
        with page_by_page([b"a" * PAGE, b""]), self.assertRaises(Wrong):
            self.compare()

    def test_a_wrong_byte_behind_the_first_pages_is_wrong(self) -> None:
        with page_by_page([b"a" * PAGE, b"b" * (SIZE - PAGE)]), self.assertRaises(Wrong):
            self.compare()

    def test_a_file_ends_where_it_ends(self) -> None:
        with tempfile.TemporaryFile() as file:
            file.write(b"a" * SIZE)
            file.flush()
            self.compare(file.fileno(), 2 * SIZE)


if __name__ == "__main__":
    unittest.main()
