#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A table of malformed commands, and of their well-formed neighbours: each must get the
status that the NVMe Base Specification 1.4 names. Prints "ok -" lines."""

import struct
import sys
from typing import Callable, Dict, List, NamedTuple, Tuple

import rawhost
from rawhost import DATA_AT, Host, Queue, expect, sqe
from sentences import say

OK, OPCODE, FIELD, NAMESPACE, RANGE = 0x00, 0x01, 0x02, 0x0B, 0x80
ALL = 0xFFFFFFFF
MIB_LBAS = 2048
CAPACITY_LBAS = 1024 * MIB_LBAS


class Row(NamedTuple):
    """One command and the status it must get."""

    sentence: str
    wanted: int
    opcode: int
    nsid: int = 0
    cdw: Dict[int, int] = {}
    data: bytes = b""


def features(sentence: str, wanted: int, fid: int, value: int = 0, nsid: int = 0) -> Row:
    """A Set Features command."""
    return Row("Set Features, " + sentence, wanted, 0x09, nsid, {10: fid, 11: value})


def log(sentence: str, wanted: int, lid: int, dwords: int = 16, offset: int = 0, nsid: int = 0) -> Row:
    """A Get Log Page command."""
    return Row("Get Log Page, " + sentence, wanted, 0x02, nsid,
               {10: lid | (dwords - 1 & 0xFFFF) << 16, 11: dwords - 1 >> 16, 12: offset,
                13: offset >> 32})


ADMIN: List[Row] = [
    *(Row(f"admin opcode {opcode:#04x} does not exist", OPCODE, opcode)
      for opcode in (0x03, 0x07, 0x0B, 0x0E, 0x18, 0x7F, 0xC5, 0xFF)),
    Row("Firmware Commit is not supported", OPCODE, 0x10),
    Row("Firmware Download is not supported", OPCODE, 0x11),
    Row("Namespace Management is not supported", OPCODE, 0x0D),
    Row("Namespace Attachment is not supported", OPCODE, 0x15),
    Row("Self-test is not supported", OPCODE, 0x14),
    Row("Directive Send is not supported", OPCODE, 0x19),
    Row("Security Send is not supported", OPCODE, 0x81),
    Row("Sanitize is not supported", OPCODE, 0x84),
    Row("Get LBA Status is not supported", OPCODE, 0x86),
    Row("Identify Namespace", OK, 0x06, 1, {10: 0}),
    Row("Identify Namespace of NSID 0", NAMESPACE, 0x06, 0, {10: 0}),
    Row("Identify Namespace of NSID 77", NAMESPACE, 0x06, 77, {10: 0}),
    Row("Identify Namespace of all, without namespace management", NAMESPACE, 0x06, ALL, {10: 0}),
    Row("Identify Controller", OK, 0x06, 0, {10: 1}),
    Row("Identify, active namespaces", OK, 0x06, 0, {10: 2}),
    Row("Identify, active namespaces above FFFFFFFEh", NAMESPACE, 0x06, 0xFFFFFFFE, {10: 2}),
    Row("Identify, active namespaces above FFFFFFFFh", NAMESPACE, 0x06, ALL, {10: 2}),
    Row("Identify, descriptors", OK, 0x06, 1, {10: 3}),
    Row("Identify, descriptors of NSID 9", NAMESPACE, 0x06, 9, {10: 3}),
    Row("Identify, descriptors of all", NAMESPACE, 0x06, ALL, {10: 3}),
    *(Row(f"Identify, CNS {cns:#x}", FIELD, 0x06, 0, {10: cns}) for cns in (0x09, 0x10, 0x11, 0x1F, 0x77, 0xFF)),
    features("a feature that does not exist", FIELD, 0xBF),
    features("feature 0", FIELD, 0),
    features("a power state that does not exist", FIELD, 0x02, 1),
    features("power state 0", OK, 0x02),
    features("saved, where nothing is saveable", 0x10D, 0x01 | 1 << 31),
    features("arbitration", OK, 0x01, 3),
    features("arbitration of one namespace", 0x10F, 0x01, 3, 1),
    features("temperature of a sensor that does not exist", FIELD, 0x04, 1 << 16 | 300),
    features("temperature, reserved threshold type", FIELD, 0x04, 2 << 20 | 300),
    features("the write cache, where there is none", FIELD, 0x06, 1),
    features("number of queues, 65536 of one kind", FIELD, 0x07, 0xFFFF),
    features("number of queues, after queues were made", 0x0C, 0x07, 1 << 16 | 1),
    features("a vector that does not exist", FIELD, 0x09, 17),
    features("arbitration of a namespace that does not exist", NAMESPACE, 0x01, 3, 77),
    features("error recovery of all", OK, 0x05, 5, ALL),
    features("error recovery of NSID 1", OK, 0x05, 5, 1),
    features("error recovery of NSID 0", NAMESPACE, 0x05, 5, 0),
    features("error recovery of NSID 4", NAMESPACE, 0x05, 5, 4),
    features("errors for deallocated blocks, which are not offered", FIELD, 0x05, 1 << 16, 1),
    Row("Get Features, error recovery of NSID 1", OK, 0x0A, 1, {10: 0x05}),
    Row("Get Features, error recovery of all", NAMESPACE, 0x0A, ALL, {10: 0x05}),
    Row("Get Features, error recovery of NSID 0", NAMESPACE, 0x0A, 0, {10: 0x05}),
    Row("Get Features, a feature that does not exist", FIELD, 0x0A, 0, {10: 0xBF}),
    *(Row(f"Get Features, select {select}", wanted, 0x0A, 0, {10: 0x01 | select << 8})
      for select, wanted in ((0, OK), (1, OK), (2, OK), (3, OK), (4, FIELD), (7, FIELD))),
    Row("Get Features, vector 17", FIELD, 0x0A, 0, {10: 0x09, 11: 17}),
    log("page map of NSID 1", OK, 0xC2, 1024, 0, 1),
    log("page map, its last entry", OK, 0xC2, 2, 8 * (CAPACITY_LBAS // 8 - 1), 1),
    log("page map, an offset at its end", OK, 0xC2, 2, 8 * CAPACITY_LBAS // 8, 1),
    log("page map, an offset beyond its end", FIELD, 0xC2, 2, 8 * CAPACITY_LBAS // 8 + 8, 1),
    log("page map, an offset within an entry", FIELD, 0xC2, 2, 4, 1),
    log("page map of all", NAMESPACE, 0xC2, 2, 0, ALL),
    log("page map of NSID 0", NAMESPACE, 0xC2, 2, 0, 0),
    log("page map of NSID 2", NAMESPACE, 0xC2, 2, 0, 2),
    log("DoF_P of ranges", OK, 0xC3, 4, 16, 1),
    log("DoF_P, a range beyond the end", FIELD, 0xC3, 4, 16 * (CAPACITY_LBAS // 128 + 1), 1),
    log("DoF_P, an offset within an entry", FIELD, 0xC3, 4, 8, 1),
    log("DoF_P of NSID 9", NAMESPACE, 0xC3, 4, 0, 9),
    *(Row(f"Get Log Page, DoF_P of 64 ranges of {64 << lsp} KiB, or all", wanted, 0x02, 1,
          {10: 0xC3 | lsp << 8 | 255 << 16})
      for lsp, wanted in ((1, OK), (6, OK), (7, FIELD), (15, FIELD))),
    log("wear", OK, 0xC4, 16),
    log("wear, an offset within", OK, 0xC4, 16, 64),
    log("wear, an offset beyond the end", FIELD, 0xC4, 1, 1 << 30),
    *(Row(f"Get Log Page {lid:#x} of endurance group {group}", OK if group == 1 else FIELD, 0x02, 0,
          {10: lid | 63 << 16, 11: group << 16})
      for lid in (0x09, 0x20, 0x21, 0x22, 0x23) for group in (0, 1, 2)),
    Row("Identify, endurance groups", OK, 0x06, 0, {10: 0x19}),
    *(Row(f"Get Features, FDP of endurance group {group}", OK if group == 1 else FIELD, 0x0A, 0,
          {10: 0x1D, 11: group}) for group in (0, 1, 2)),
    features("FDP off, while there are namespaces", 0x0C, 0x1D, 1),
    features("FDP of endurance group 2", FIELD, 0x1D, 2),
    Row("Get Features, FDP events", OK, 0x0A, 1, {10: 0x1E, 11: 2 << 16}),
    Row("Get Features, FDP events of handle 8 of 8", FIELD, 0x0A, 1, {10: 0x1E, 11: 2 << 16 | 8}),
    Row("Get Features, FDP events of NSID 0", NAMESPACE, 0x0A, 0, {10: 0x1E, 11: 2 << 16}),
    Row("Set Features, FDP events", OK, 0x09, 1, {10: 0x1E, 11: 2 << 16, 12: 1}, b"\x03\x00"),
    Row("Set Features, an FDP event that does not exist", FIELD, 0x09, 1,
        {10: 0x1E, 11: 2 << 16, 12: 1}, b"\x03\x55"),
    Row("Set Features, no FDP event", FIELD, 0x09, 1, {10: 0x1E, 12: 1}),
    Row("Set Features, FDP events of handle 65535", FIELD, 0x09, 1, {10: 0x1E, 11: 1 << 16 | 65535}),
    Row("Set Features, FDP events of NSID 3", NAMESPACE, 0x09, 3, {10: 0x1E, 11: 1 << 16}),
    log("error information", OK, 0x01),
    log("SMART", OK, 0x02, 128),
    log("SMART of all", OK, 0x02, 128, 0, ALL),
    log("SMART of one namespace, which is not kept", FIELD, 0x02, 128, 0, 1),
    log("firmware slots", OK, 0x03),
    log("page 0", 0x109, 0x00),
    log("a page that does not exist", 0x109, 0xEF),
    log("an offset within", OK, 0x01, 16, 64),
    log("an offset at the end", OK, 0x02, 1, 512),
    log("an offset beyond the end", FIELD, 0x02, 1, 516),
    log("an offset of 2^63", FIELD, 0x02, 1, 1 << 63),
    log("an offset within a dword", FIELD, 0x02, 1, 2),
    log("more than MDTS", FIELD, 0x01, (1 << 18) + 1),
    Row("Get Log Page, by index", FIELD, 0x02, 0, {10: 0x01 | 15 << 16, 14: 1 << 23}),
    Row("Format of NSID 5", NAMESPACE, 0x80, 5),
    Row("Format of NSID 0", NAMESPACE, 0x80, 0),
    Row("Format, an LBA format that does not exist", 0x10A, 0x80, 1, {10: 2}),
    Row("Format with metadata", 0x10A, 0x80, 1, {10: 1 << 4}),
    Row("Format with protection information", 0x10A, 0x80, 1, {10: 1 << 5}),
    Row("Format with cryptographic erase", FIELD, 0x80, 1, {10: 2 << 9}),
    Row("Format, a reserved erase setting", FIELD, 0x80, 1, {10: 7 << 9}),
]


def lbas(sentence: str, wanted: int, opcode: int, slba: int, nr_lbas: int, nsid: int = 1,
         control: int = 0) -> Row:
    """A command with a range of LBAs."""
    return Row(sentence, wanted, opcode, nsid,
               {10: slba, 11: slba >> 32, 12: nr_lbas - 1 | control << 16})


def every_range(name: str, opcode: int) -> List[Row]:
    """What all commands with a range have in common."""
    return [
        lbas(f"{name}, the last LBA", OK, opcode, CAPACITY_LBAS - 1, 1),
        lbas(f"{name}, one LBA beyond the end", RANGE, opcode, CAPACITY_LBAS, 1),
        lbas(f"{name}, across the end", RANGE, opcode, CAPACITY_LBAS - 1, 2),
        lbas(f"{name}, an LBA that overflows", RANGE, opcode, (1 << 64) - 1, 2),
        lbas(f"{name}, LBA 2^55", RANGE, opcode, 1 << 55, 1),
        lbas(f"{name}, NSID 0", NAMESPACE, opcode, 0, 1, 0),
        lbas(f"{name}, NSID 2 of 1", NAMESPACE, opcode, 0, 1, 2),
        lbas(f"{name}, NSID of all", NAMESPACE, opcode, 0, 1, ALL),
    ]


def dsm(sentence: str, wanted: int, *ranges: int, flags: int = 4, nsid: int = 1) -> Row:
    """Dataset Management with (first LBA, LBAs) in turn."""
    data = b"".join(struct.pack("<IIQ", 0, ranges[i + 1], ranges[i]) for i in range(0, len(ranges), 2))
    return Row("Dataset Management, " + sentence, wanted, 0x09, nsid,
               {10: len(ranges) // 2 - 1, 11: flags}, data)


def copy(sentence: str, wanted: int, to: int, *ranges: int, dw12: int = 0, nsid: int = 1) -> Row:
    """Copy with (first LBA, LBAs) in turn."""
    data = b"".join(struct.pack("<QQHHIQ", 0, ranges[i], ranges[i + 1] - 1, 0, 0, 0)
                    for i in range(0, len(ranges), 2))
    return Row("Copy, " + sentence, wanted, 0x19, nsid,
               {10: to, 11: to >> 32, 12: len(ranges) // 2 - 1 | dw12}, data)


def share(sentence: str, wanted: int, *ranges: int, nr: int = 0, nsid: int = 1) -> Row:
    """Share with (LBA that has data, LBA that gets it, LBAs) in turn."""
    data = b"".join(struct.pack("<QQI12x", *ranges[i:i + 3]) for i in range(0, len(ranges), 3))
    return Row("Share, " + sentence, wanted, 0x81, nsid, {10: (nr or len(ranges) // 3) - 1}, data)


def spread(sentence: str, wanted: int, *ranges: int, threshold: int = 1023, nr: int = 0,
           nsid: int = 1) -> Row:
    """Redistribute with (first LBA, LBAs) in turn."""
    data = b"".join(struct.pack("<QI4x", *ranges[i:i + 2]) for i in range(0, len(ranges), 2))
    return Row("Redistribute, " + sentence, wanted, 0x85, nsid,
               {10: (nr or len(ranges) // 2) - 1, 11: threshold}, data)


VENDOR: List[Row] = [
    lbas("Write Zeroes of what is to be shared", OK, 0x08, 262144, 64),
    share("one range", OK, 262144, 270336, 64),
    share("the same again", OK, 262144, 270336, 64),
    share("two ranges", OK, 262144, 278528, 8, 262152, 286720, 8),
    share("no LBAs", FIELD, 262144, 270336, 0),
    share("LBAs that are not whole pages", FIELD, 262144, 270336, 4),
    share("a source in the middle of a page", FIELD, 262145, 270336, 8),
    share("a destination in the middle of a page", FIELD, 262144, 270337, 8),
    share("a source across the end", RANGE, CAPACITY_LBAS - 8, 270336, 16),
    share("a destination across the end", RANGE, 262144, CAPACITY_LBAS - 8, 16),
    share("a source that overflows", RANGE, (1 << 64) - 8, 270336, 8),
    share("source and destination overlap", FIELD, 262144, 262152, 16),
    share("two destinations overlap", FIELD, 262144, 270336, 16, 262176, 270344, 16),
    share("a destination is the source of another range", FIELD, 262144, 270336, 8, 270336, 278528, 8),
    share("a source that was never written", 0x287, 300000 // 8 * 8, 270336, 8),
    share("an unwritten source behind a good one", 0x287, 262144, 294912, 8, 300000 // 8 * 8, 303104, 8),
    share("more ranges than 128", 0x183, 262144, 270336, 8, nr=129),
    share("more than 64 MiB", 0x183, 262144, 524288, 131080),
    share("more pages than the drive shares", 0x81, 262144, 311296, 64),
    share("NSID 2", NAMESPACE, 262144, 270336, 8, nsid=2),
    share("NSID of all", NAMESPACE, 262144, 270336, 8, nsid=ALL),
    spread("one range", OK, 262144, 64),
    Row("Compact of a drive that logs nothing", OPCODE, 0x84, 1),
    spread("what was never written", OK, 600000, 64),
    spread("no LBAs", FIELD, 262144, 0),
    spread("LBAs that are not whole pages", FIELD, 262144, 4),
    spread("a range in the middle of a page", FIELD, 262145, 8),
    spread("across the end", RANGE, CAPACITY_LBAS - 8, 16),
    spread("a bad range behind a good one", RANGE, 262144, 8, 1 << 60, 8),
    spread("a threshold of 1000", OK, 262144, 64, threshold=1000),
    spread("a threshold beyond 1000", FIELD, 262144, 64, threshold=1001),
    spread("more ranges than 256", 0x183, 262144, 8, nr=257),
    spread("more than 64 MiB", 0x183, 262144, 131080),
    spread("NSID 0", NAMESPACE, 262144, 8, nsid=0),
]

IO: List[Row] = [
    *(Row(f"I/O opcode {opcode:#04x} does not exist", OPCODE, opcode, 1)
      for opcode in (0x03, 0x07, 0x0A, 0x0B, 0x7D, 0x7F)),
    *(Row(f"I/O opcode {opcode:#04x} (reservations) is not supported", OPCODE, opcode, 1)
      for opcode in (0x0D, 0x0E, 0x11, 0x15)),
    Row("Write Uncorrectable", OK, 0x04, 1, {10: 900, 12: 7}),
    Row("Write Uncorrectable beyond the end", RANGE, 0x04, 1, {10: CAPACITY_LBAS - 7, 12: 7}),
    Row("Write Uncorrectable of LBAs whose number overflows", RANGE, 0x04, 1, {10: 0xFFFFFFFF, 11: 0xFFFFFFFF, 12: 7}),
    Row("Write Uncorrectable of all namespaces", NAMESPACE, 0x04, ALL, {10: 900}),
    Row("Verify of what is uncorrectable in part", 0x281, 0x0C, 1, {10: 890, 12: 19}),
    Row("Verify of what is beside it", OK, 0x0C, 1, {10: 890, 12: 9}),
    Row("Read of it", 0x281, 0x02, 1, {10: 907, 12: 0}),
    Row("Compare with it", 0x281, 0x05, 1, {10: 907, 12: 1}),
    Row("Write of an LBA of it", OK, 0x01, 1, {10: 907, 12: 0}),
    Row("Read of what was written", OK, 0x02, 1, {10: 907, 12: 0}),
    Row("Read of the LBA before", 0x281, 0x02, 1, {10: 906, 12: 0}),
    Row("Write Zeroes over the rest", OK, 0x08, 1, {10: 900, 12: 6}),
    Row("Verify of all of it", OK, 0x0C, 1, {10: 890, 12: 19}),
    *every_range("Read", 0x02), *every_range("Write", 0x01), *every_range("Write Zeroes", 0x08),
    *every_range("Verify", 0x0C),
    lbas("Read of more than MDTS", FIELD, 0x02, 0, MIB_LBAS + 1),
    lbas("Write of more than MDTS", FIELD, 0x01, 0, MIB_LBAS + 1),
    lbas("Compare of more than MDTS", FIELD, 0x05, 0, MIB_LBAS + 1),
    lbas("Verify of more than MDTS, which moves no data", OK, 0x0C, 0, 65536),
    lbas("Write Zeroes of more than MDTS, which moves no data", OK, 0x08, MIB_LBAS, 65536),
    lbas("Write with a directive that is not enabled", FIELD, 0x01, 0, 1, control=1 << 4),
    lbas("Write with force unit access", OK, 0x01, 0, 1, control=1 << 14),
    *(lbas(f"Write with directive {number}", wanted, 0x01, 0, 1, control=number << 4)
      for number, wanted in ((2, OK), (3, FIELD), (15, FIELD))),
    Row("Write to a placement handle", OK, 0x01, 1, {12: 2 << 20, 13: 7 << 16}),
    Row("Write to a placement handle that does not exist, which is an event", OK, 0x01, 1,
        {12: 2 << 20, 13: 999 << 16}),
    Row("I/O Management Receive", OK, 0x12, 1, {10: 1, 11: 1023}),
    Row("I/O Management Receive of a dword", OK, 0x12, 1, {10: 1}),
    Row("I/O Management Receive, operation 0", FIELD, 0x12, 1, {11: 15}),
    Row("I/O Management Receive, operation 2", FIELD, 0x12, 1, {10: 2, 11: 15}),
    Row("I/O Management Receive of more than MDTS", FIELD, 0x12, 1, {10: 1, 11: 1 << 18}),
    Row("I/O Management Receive of 2^32 dwords", FIELD, 0x12, 1, {10: 1, 11: 0xFFFFFFFF}),
    Row("I/O Management Receive of all", NAMESPACE, 0x12, ALL, {10: 1, 11: 15}),
    Row("I/O Management Send", OK, 0x1D, 1, {10: 1 | 1 << 16}, struct.pack("<2H", 0, 7)),
    Row("I/O Management Send, a handle that does not exist", FIELD, 0x1D, 1, {10: 1 | 1 << 16},
        struct.pack("<2H", 0, 8)),
    Row("I/O Management Send, more handles than there are", FIELD, 0x1D, 1, {10: 1 | 8 << 16}),
    Row("I/O Management Send, 65536 handles", FIELD, 0x1D, 1, {10: 1 | 0xFFFF << 16}),
    Row("I/O Management Send, operation 0", FIELD, 0x1D, 1),
    Row("I/O Management Send, NSID 2", NAMESPACE, 0x1D, 2, {10: 1}),
    Row("Flush", OK, 0x00, 1),
    Row("Flush of all", OK, 0x00, ALL),
    Row("Flush of NSID 0", NAMESPACE, 0x00, 0),
    Row("Flush of NSID 3", NAMESPACE, 0x00, 3),
    dsm("one range", OK, 0, 8),
    dsm("an empty range", OK, 0, 0),
    dsm("a range to the end", OK, CAPACITY_LBAS - 8, 8),
    dsm("a range across the end", RANGE, CAPACITY_LBAS - 8, 9),
    dsm("a range beyond the end", RANGE, 1 << 60, 1),
    dsm("a range that overflows", RANGE, (1 << 64) - 1, 0xFFFFFFFF),
    dsm("a bad range behind a good one", RANGE, 4096, 8, CAPACITY_LBAS, 8),
    dsm("hints only", OK, 0, 8, flags=3),
    copy("one range", OK, 65536, 0, 8),
    copy("three ranges", OK, 65536, 0, 8, 100, 1, 7, 65),
    copy("a source beyond the end", RANGE, 0, CAPACITY_LBAS, 1),
    copy("a source that overflows", RANGE, 0, (1 << 64) - 1, 8),
    copy("a bad source behind a good one", RANGE, 0, 16, 8, CAPACITY_LBAS - 1, 2),
    copy("a destination across the end", RANGE, CAPACITY_LBAS - 4, 0, 8),
    copy("a destination that overflows", RANGE, (1 << 64) - 4, 0, 8),
    copy("more LBAs in a range than MSSRL", 0x183, 0, 0, 65536),
    copy("more LBAs than MCL", 0x183, 0, 0, 65535, 0, 1),
    copy("more ranges than MSRC", 0x183, 0, *([0, 1] * 129)),
    copy("as many ranges as MSRC", OK, 65536, *([0, 1] * 128)),
    copy("format 1", FIELD, 0, 0, 8, dw12=1 << 8),
    copy("a directive", FIELD, 0, 0, 8, dw12=1 << 20),
    copy("NSID 2", NAMESPACE, 0, 0, 8, nsid=2),
    dsm("NSID 2", NAMESPACE, 0, 8, nsid=2),
    dsm("NSID of all", NAMESPACE, 0, 8, nsid=ALL),
]


def run_table(host: Host, rows: List[Row], run: Callable[[bytes], rawhost.Completion]) -> None:
    """Run each row. Two pages of memory behind the data hold what does not fit in one."""
    for row in rows:
        host.write(DATA_AT, row.data or bytes(4096))
        command = sqe(row.opcode, row.nsid, row.cdw, host.data, host.data + 4096)
        expect(row.sentence, run(command).status, row.wanted)


def all_or_nothing(host: Host, queue: Queue) -> None:
    """A bad range must keep the good ones of the command from being deallocated."""
    host.write(DATA_AT, b"x" * 4096)
    queue.run(rawhost.rw(0x01, 4096, 8, host.data))
    host.write(DATA_AT, struct.pack("<IIQIIQ", 0, 8, 4096, 0, 8, CAPACITY_LBAS))
    queue.run(sqe(0x09, 1, {10: 1, 11: 4}, host.data))
    queue.run(rawhost.rw(0x02, 4096, 8, host.data))
    say("a refused Dataset Management has deallocated nothing", host.read(DATA_AT, 4096) == b"x" * 4096)


def copied(host: Host, queue: Queue) -> None:
    """Two ranges, of which one was never written, become one; a refused copy moves nothing."""
    text = bytes(range(256)) * 16
    host.write(DATA_AT, text)
    queue.run(rawhost.rw(0x01, 8192, 8, host.data))
    queue.run(rawhost.rw(0x01, 8300, 8, host.data))
    host.write(DATA_AT, copy("", 0, 0, 8194, 4, 300000, 2, 8192, 2).data)
    expect("Copy of three ranges", queue.run(sqe(0x19, 1, {10: 8301, 12: 2}, host.data)).status, OK)
    queue.run(rawhost.rw(0x02, 8300, 8, host.data + 4096))
    wanted = text[512 * 2:512 * 6] + bytes(1024) + text[:1024]
    found = host.read(DATA_AT + 4096, 4096)
    say("the destination has the bytes of all three", found[512:] == wanted[:3584]
        and found[:512] == text[:512])
    host.write(DATA_AT, copy("", 0, 0, 300000, 8, CAPACITY_LBAS, 1).data)
    queue.run(sqe(0x19, 1, {10: 8192, 12: 1}, host.data))
    queue.run(rawhost.rw(0x02, 8192, 8, host.data))
    say("a refused Copy has copied nothing", host.read(DATA_AT, 4096) == text)


def newest_error(host: Host) -> Tuple[int, int, int]:
    """Status, location and LBA of the newest entry of the error log."""
    host.admin.run(sqe(0x02, cdw={10: 0x01 | 15 << 16}, prp1=host.data))
    status, location, lba = struct.unpack_from("<HHQ", host.read(DATA_AT, 64), 12)
    return status >> 1 & 0x7FF, location, lba


NOWHERE = 0xFFFF


def error_log(host: Host, queue: Queue) -> None:
    """The error log names the first LBA at fault, and the field of the command; the completion says
    that it does."""
    def logged(sentence: str, to: Queue, command: bytes, location: int, lba: int = 0) -> None:
        status = to.run(command).status
        has_more = to.has_more
        entry = newest_error(host)
        say(f"error log: {sentence}", entry == (status, location, lba) and status != 0 and has_more,
            f"status {entry[0]:#x}, location {entry[1]:#x}, LBA {entry[2]}, more {has_more}")

    data, admin = host.data, host.admin
    logged("a range across the end: the first LBA beyond", queue,
           rawhost.rw(0x02, CAPACITY_LBAS - 4, 8, data), 40, CAPACITY_LBAS)
    logged("a range beyond the end: its first LBA", queue,
           rawhost.rw(0x0C, CAPACITY_LBAS + 7, 8, data), 40, CAPACITY_LBAS + 7)
    host.write(DATA_AT, bytes(1024) + b"x" + bytes(3071))
    queue.run(rawhost.rw(0x01, 40960, 8, data))
    host.write(DATA_AT, bytes(4096))
    logged("a Compare: the first LBA that differs", queue, rawhost.rw(0x05, 40960, 8, data),
           NOWHERE, 40962)
    logged("a directive: bit 4 of byte 50", queue,
           sqe(0x01, 1, {10: 5, 12: 1 << 20}, data), 50 | 4 << 8, 5)
    logged("a namespace: byte 4", queue, sqe(0x02, 77, {}, data), 4)
    logged("an opcode: byte 0", queue, sqe(0x7D, 1), 0)
    logged("PSDT: bit 6 of byte 1", queue, rawhost.rw(0x02, 3, 1, data, flags=0x40), 1 | 6 << 8, 3)
    logged("PRP1: byte 24", queue, rawhost.rw(0x02, 3, 1, data + 1), 24, 3)
    host.write(DATA_AT, dsm("", 0, 0, 8, CAPACITY_LBAS - 1, 5).data)
    logged("Dataset Management: the LBA in its data", queue, sqe(0x09, 1, {10: 1, 11: 4}, data),
           NOWHERE, CAPACITY_LBAS)
    host.write(DATA_AT, copy("", 0, 0, 0, 8, CAPACITY_LBAS - 1, 5).data)
    logged("Copy: the LBA in its data", queue, sqe(0x19, 1, {10: 65536, 12: 1}, data),
           NOWHERE, CAPACITY_LBAS)
    host.write(DATA_AT, share("", 0, 1 << 60, 0, 8).data)
    logged("Share: the LBA in its data", queue, sqe(0x81, 1, {}, data), NOWHERE, 1 << 60)
    logged("CNS: byte 40", admin, sqe(0x06, 0, {10: 0xFF}, data), 40)
    logged("a log page: byte 40", admin, sqe(0x02, 0, {10: 0xEF}, data), 40)
    logged("the save bit: bit 7 of byte 43", admin, sqe(0x09, 0, {10: 0x01 | 1 << 31}), 43 | 7 << 8)
    queue.run(rawhost.rw(0x02, 3, 1, data))
    say("error log: what succeeds has nothing there", not queue.has_more)


def capabilities(host: Host) -> None:
    """What can be done with a feature (changed: 4, by namespace: 2) comes without the feature's data."""
    for fid, wanted in ((0x01, 4), (0x05, 6), (0x0E, 4), (0x1D, 0), (0x1E, 6)):
        done = host.admin.run(sqe(0x0A, 0, {10: fid | 3 << 8}))
        say(f"Get Features, what can be done with {fid:#04x}, without memory", done == (0, wanted),
            f"status {done.status:#x}, result {done.result:#x}")


def many_ranges(host: Host, queue: Queue) -> None:
    """256 ranges in one command, in two pages of which the first is begun in its middle."""
    for i in range(256):
        host.write(DATA_AT, bytes([1]) * 4096)
        queue.put(rawhost.rw(0x01, 16 * i + MIB_LBAS, 16, host.data, host.data))
        queue.ring()
        if i % 64 == 63:
            queue.run(sqe(0x00, 1))
    queue.run(sqe(0x00, 1))
    queue.done.clear()
    at = DATA_AT + 2048
    host.write(at, b"".join(struct.pack("<IIQ", 0, 8, 16 * i + MIB_LBAS) for i in range(256)))
    done = queue.run(sqe(0x09, 1, {10: 255, 11: 4}, host.base + at, host.base + DATA_AT + 4096))
    expect("Dataset Management with 256 ranges", done.status, OK)
    good = True
    for i in (0, 1, 127, 128, 254, 255):
        queue.run(rawhost.rw(0x02, 16 * i + MIB_LBAS, 16, host.data, host.data + 4096))
        good &= host.read(DATA_AT, 8192) == bytes(4096) + bytes([1]) * 4096
    say("each has deallocated its eight LBAs and no more", good)


def steps(host: Host) -> None:
    """Both tables, and what needs more than one command."""
    queue = host.make_queue(1)
    run_table(host, ADMIN, host.admin.run)
    run_table(host, IO, queue.run)
    run_table(host, VENDOR, queue.run)
    all_or_nothing(host, queue)
    error_log(host, queue)
    capabilities(host)
    many_ranges(host, queue)
    copied(host, queue)


if __name__ == "__main__":
    sys.exit(rawhost.run(steps))
