#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The oracle objects to what is wrong, and to nothing else."""

from __future__ import annotations

import unittest

from oracle import PAGE, Content, Names


def written(*pieces: tuple[int, bytes]) -> Content:
    content = Content()
    for offset, data in pieces:
        content.write(offset, data)
    return content


class ContentTest(unittest.TestCase):
    def test_what_was_promised_must_be_there(self) -> None:
        content = written((0, b"a" * PAGE))
        content.promise()
        self.assertEqual(content.objection(b"a" * PAGE), "")
        self.assertIn("page 0", content.objection(bytes(PAGE)))
        self.assertIn("bytes", content.objection(b""))

    def test_what_came_later_may_be_there(self) -> None:
        content = written((0, b"a" * PAGE))
        content.promise()
        content.write(100, b"b" * 10)
        mixed = b"a" * 100 + b"b" * 10 + b"a" * (PAGE - 110)
        self.assertEqual(content.objection(b"a" * PAGE), "")
        self.assertEqual(content.objection(mixed), "")
        self.assertIn("page 0", content.objection(b"b" * PAGE))

    def test_one_byte_is_enough(self) -> None:
        content = written((5, b"a" * 3 * PAGE))
        content.promise()
        found = bytearray(content.expect(0, content.size))
        self.assertEqual(content.objection(bytes(found)), "")
        found[2 * PAGE + 17] ^= 1
        self.assertIn("page 2", content.objection(bytes(found)))

    def test_pages_are_independent_and_each_is_whole(self) -> None:
        content = written((0, b"a" * 2 * PAGE))
        content.promise()
        content.write(0, b"b" * 2 * PAGE)
        self.assertEqual(content.objection(b"a" * PAGE + b"b" * PAGE), "")
        self.assertIn("page 0", content.objection(b"a" * 512 + b"b" * (2 * PAGE - 512)))

    def test_size_may_be_any_between(self) -> None:
        content = written((0, b"a" * 10))
        content.promise()
        content.write(10, b"b" * 10)
        self.assertEqual(content.objection(b"a" * 10), "")
        self.assertEqual(content.objection(b"a" * 10 + b"b" * 10), "")
        self.assertIn("bytes", content.objection(b"a" * 9))
        self.assertIn("bytes", content.objection(b"a" * 21))

    def test_size_that_a_range_was_promised_with_may_end_with_it(self) -> None:
        content = written((0, b"a" * 100))
        content.promise()
        content.write(0, b"b" * 3 * PAGE)
        content.promise_range(0, 2 * PAGE)
        self.assertEqual(content.objection(b"b" * 2 * PAGE), "")
        self.assertEqual(content.objection(b"b" * (2 * PAGE + 7)), "")
        self.assertIn("bytes", content.objection(b"b" * (2 * PAGE - 1)))
        content.truncate(2 * PAGE + 9)
        content.promise_range(0, 10)
        self.assertIn("bytes", content.objection(b"b" * (2 * PAGE - 1)))

    def test_truncated_bytes_do_not_come_back(self) -> None:
        content = written((0, b"a" * PAGE))
        content.truncate(10)
        content.truncate(PAGE)
        content.promise()
        self.assertEqual(content.objection(b"a" * 10 + bytes(PAGE - 10)), "")
        self.assertIn("page 0", content.objection(b"a" * PAGE))

    def test_a_range_is_promised_alone(self) -> None:
        content = written((0, b"a" * 2 * PAGE))
        content.promise_range(PAGE, PAGE)
        self.assertEqual(content.objection(bytes(PAGE) + b"a" * PAGE), "")
        self.assertIn("page 1", content.objection(b"a" * PAGE + bytes(PAGE)))

    def test_what_was_found_stays(self) -> None:
        content = written((0, b"a" * PAGE))
        content.promise()
        content.write(0, b"b" * PAGE)
        content.settle(b"a" * PAGE)
        self.assertIn("page 0", content.objection(b"b" * PAGE))
        self.assertEqual(content.expect(0, PAGE), b"a" * PAGE)


class TailTest(unittest.TestCase):
    """Of btrfs: bytes behind an end within a page that was promised."""

    cut = b"a" * 10 + bytes(PAGE - 10)

    def shortened(self, tails_come_back: bool = True) -> Content:
        content = Content(tails_come_back=tails_come_back)
        content.write(0, b"a" * PAGE)
        content.truncate(10)
        content.promise()
        return content

    def test_they_may_come_back_when_the_file_has_become_longer(self) -> None:
        content = self.shortened()
        self.assertEqual(content.objection(b"a" * 10), "")
        content.truncate(3 * PAGE)
        self.assertEqual(content.objection(self.cut + bytes(2 * PAGE)), "")
        self.assertEqual(content.nr_tails, 0)
        self.assertEqual(content.objection(b"a" * PAGE + bytes(2 * PAGE)), "")
        self.assertEqual(content.nr_tails, 1)
        self.assertIn("page 0", content.objection(b"b" * PAGE))
        self.assertIn("page 0", content.objection(b"a" * 11 + bytes(PAGE - 11)))

    def test_no_longer_than_that_is_promised(self) -> None:
        content = self.shortened()
        content.truncate(PAGE)
        content.promise()
        self.assertIn("page 0", content.objection(b"a" * PAGE))
        content.truncate(11)
        content.promise()
        content.truncate(PAGE)
        self.assertIn("page 0", content.objection(b"a" * PAGE))

    def test_not_when_the_page_was_written_since(self) -> None:
        content = self.shortened()
        content.write(0, b"b")
        content.promise()
        content.truncate(PAGE)
        self.assertIn("page 0", content.objection(b"a" * PAGE))
        self.assertIn("page 0", content.objection(b"b" + b"a" * (PAGE - 1)))

    def test_not_with_what_was_in_the_page_before(self) -> None:
        content = Content(tails_come_back=True)
        content.write(0, b"b" * PAGE)
        content.write(0, b"a" * PAGE)
        content.truncate(10)
        content.promise()
        content.truncate(PAGE)
        self.assertEqual(content.objection(b"a" * PAGE), "")
        self.assertIn("page 0", content.objection(b"b" * PAGE))

    def test_not_on_other_filesystems(self) -> None:
        content = self.shortened(tails_come_back=False)
        content.truncate(PAGE)
        self.assertIn("page 0", content.objection(b"a" * PAGE))

    def test_not_with_a_range_that_was_promised(self) -> None:
        content = self.shortened()
        content.truncate(2 * PAGE)
        content.promise_range(PAGE, PAGE)
        self.assertEqual(content.objection(b"a" * PAGE + bytes(PAGE)), "")
        content.promise_range(0, PAGE)
        self.assertIn("page 0", content.objection(b"a" * PAGE + bytes(PAGE)))

    def test_they_outlive_a_power_failure(self) -> None:
        for come_back in (True, False):
            names = Names(come_back=come_back)
            names.put("x", Content(tails_come_back=come_back))
            content = names.files()["x"]
            content.write(0, b"a" * PAGE)
            content.promise()
            content.truncate(10)
            names.settle({"x": b"a" * 10})
            names.files()["x"].truncate(PAGE)
            self.assertEqual(names.objection("x", self.cut), "")
            self.assertEqual(names.nr_tails, 0)
            if come_back:
                self.assertEqual(names.objection("x", b"a" * PAGE), "")
                self.assertEqual(names.nr_tails, 1)
            else:
                self.assertIn("page 0", names.objection("x", b"a" * PAGE))
            self.assertIn("page 0", names.objection("x", b"b" * PAGE))


class NamesTest(unittest.TestCase):
    def test_a_new_file_may_be_missing_until_it_is_promised(self) -> None:
        names = Names()
        names.put("x", written((0, b"a")))
        self.assertEqual(names.objection("x", None), "")
        names.promise()
        self.assertIn("missing", names.objection("x", None))

    def test_a_removed_file_may_be_there_until_that_is_promised(self) -> None:
        names = Names()
        content = written((0, b"a"))
        content.promise()
        names.put("x", content)
        names.promise()
        names.put("x", None)
        self.assertEqual(names.objection("x", b"a"), "")
        self.assertIn("bytes", names.objection("x", b""))
        names.promise()
        self.assertIn("is there", names.objection("x", b"a"))

    def test_a_replaced_file_is_the_old_or_the_new_one(self) -> None:
        names = Names()
        for path, data in (("x", b"old"), ("y", b"new")):
            content = written((0, data))
            content.promise()
            names.put(path, content)
        names.promise()
        names.rename("y", "x")
        self.assertEqual(names.objection("x", b"old"), "")
        self.assertEqual(names.objection("x", b"new"), "")
        self.assertNotEqual(names.objection("x", b"neW"), "")
        self.assertNotEqual(names.objection("x", None), "")

    def renamed_and_removed(self, come_back: bool) -> Names:
        names = Names(come_back=come_back)
        content = written((0, b"a"))
        content.promise()
        names.put("x", content)
        names.rename("x", "y")
        names.promise()
        names.put("y", None)
        names.promise()
        return names

    def test_a_promised_removal_is_one(self) -> None:
        names = self.renamed_and_removed(False)
        self.assertIn("is there", names.objection("x", b"a"))
        self.assertIn("is there", names.objection("y", b"a"))

    def test_btrfs_may_bring_back_the_first_name_only(self) -> None:
        names = self.renamed_and_removed(True)
        self.assertEqual(names.objection("x", b"a"), "")
        self.assertEqual(names.nr_came_back, 1)
        self.assertIn("is there", names.objection("x", b"b"))
        self.assertIn("is there", names.objection("y", b"a"))

    def test_btrfs_may_not_bring_back_what_was_committed(self) -> None:
        names = self.renamed_and_removed(True)
        names.commit()
        self.assertIn("is there", names.objection("x", b"a"))

    def test_btrfs_may_not_bring_back_an_older_name(self) -> None:
        names = Names(come_back=True)
        names.settle({"x": b"a"})
        names.rename("x", "y")
        names.put("y", None)
        names.promise()
        self.assertIn("is there", names.objection("x", b"a"))

    def test_btrfs_may_not_show_a_file_twice(self) -> None:
        names = Names(come_back=True)
        names.put("x", written((0, b"a")))
        names.rename("x", "y")
        names.promise()
        self.assertIn("is there", names.objection("x", b"a"))

    def test_what_happened_to_a_name_that_is_gone_is_told(self) -> None:
        names = self.renamed_and_removed(False)
        self.assertRegex(names.history("x"), "x there; .* x gone; .* promised; .* y gone")


if __name__ == "__main__":
    unittest.main()
