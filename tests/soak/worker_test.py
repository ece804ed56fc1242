#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A worker takes an error of the device for an error, and wrong bytes for wrong bytes."""

from __future__ import annotations

import ctypes
import errno
import os
import tempfile
import unittest
from collections.abc import Sequence
from unittest import mock

import worker as workers
from oracle import PAGE, Content
from worker import FileWorker, Worker, Wrong

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
        self.worker = Worker("/", "w", 1, "ext4")
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


def failing(_fd: int) -> int:
    """syncfs() of a filesystem that could not write something."""
    ctypes.set_errno(errno.EIO)
    return -1


class SyncTest(unittest.TestCase):
    """On f2fs, where only a sync of all promises something."""

    def setUp(self) -> None:
        top = tempfile.TemporaryDirectory()
        self.addCleanup(top.cleanup)
        os.mkdir(os.path.join(top.name, "w"))
        self.worker = FileWorker(top.name, "w", 1, "f2fs")
        self.worker.anchor = os.open(top.name, os.O_RDONLY)
        self.addCleanup(os.close, self.worker.anchor)
        self.content = Content()
        self.content.write(0, b"a" * PAGE)
        self.worker.names.put("w/b1", self.content)

    def sync(self, syncfs: object, fsync: object = None) -> None:
        with mock.patch.object(workers.LIBC, "syncfs", syncfs):
            with mock.patch("os.fsync", mock.Mock(side_effect=fsync)):
                self.worker.sync("w/b1", self.content)

    def assert_promised(self, is_promised: bool) -> None:
        self.assertEqual(bool(self.worker.names.objection("w/b1", None)), is_promised)
        self.assertEqual(bool(self.content.objection(b"")), is_promised)

    def test_one_that_succeeds_promises_all(self) -> None:
        self.sync(lambda _fd: 0)
        self.assert_promised(True)

    def test_one_that_lost_pages_promises_nothing(self) -> None:
        with self.assertRaises(OSError):
            self.sync(failing)
        self.assert_promised(False)

    def test_the_success_of_f2fs_that_has_stopped_promises_nothing(self) -> None:
        with self.assertRaises(OSError):
            self.sync(lambda _fd: 0, OSError(errno.EIO, ""))
        self.assert_promised(False)

    def test_errors_are_asked_for_from_before_the_first_write(self) -> None:
        anchors: list[int] = []
        stop = mock.Mock()
        stop.is_set = mock.Mock(side_effect=[False, True])
        with mock.patch.object(FileWorker, "work", lambda worker: anchors.append(worker.anchor)):
            self.worker.run(stop)
        self.assertEqual(len(anchors), 1)
        with self.assertRaises(OSError):
            os.fstat(anchors[0])
        self.worker.anchor = os.open(self.worker.top, os.O_RDONLY)


if __name__ == "__main__":
    unittest.main()
