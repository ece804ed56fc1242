#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What no well-behaved driver does: bad PRPs, full completion queues, abort, queues deleted
with commands in flight, wrong doorbells, wrong registers. Prints "ok -" lines."""

import os
import struct
import sys
import time

from rawhost import (
    BEYOND_RAM, CC_ENABLE, CSTS_FATAL, CSTS_READY, DATA_AT, OFFSET_INVALID, PAGE, TRANSFER_ERROR, Host, Queue,
    expect, rw, sqe,
)
import rawhost
from sentences import say

READ, WRITE, FLUSH = 0x02, 0x01, 0x00
# Page 0 is never given to anybody, the local APIC's registers are no memory.
NOT_RAM = (0, 0xFEE00000, BEYOND_RAM, 1 << 63, (1 << 64) - PAGE)


def bad_prps(host: Host, queue: Queue) -> None:
    """Each rule about PRPs, broken once; 512-byte LBAs."""
    data = host.data
    list_at = data + 0x80000

    def put_list(*entries: int, at: int = 0x80000) -> None:
        host.write(DATA_AT + at, struct.pack(f"<{len(entries)}Q", *entries))

    expect("PRP1 not on a dword", queue.run(rw(READ, 0, 1, data + 2)).status, OFFSET_INVALID)
    expect("PRP1 in the middle of a page", queue.run(rw(READ, 0, 8, data + 0x800, data + PAGE)).status, 0)
    expect("PRP2 with an offset", queue.run(rw(READ, 0, 16, data, data + PAGE + 512)).status,
           OFFSET_INVALID)
    expect("PRP list not on a qword", queue.run(rw(READ, 0, 32, data, list_at + 4)).status,
           OFFSET_INVALID)
    put_list(data + PAGE, data + 2 * PAGE + 8, data + 3 * PAGE)
    expect("PRP list with an offset in an entry", queue.run(rw(READ, 0, 32, data, list_at)).status,
           OFFSET_INVALID)
    for opcode, name in ((READ, "read to"), (WRITE, "write from")):
        for address in NOT_RAM:
            expect(f"{name} {address:#x}, which is not memory",
                   queue.run(rw(opcode, 0, 1, address)).status, TRANSFER_ERROR)
        put_list(data + PAGE, BEYOND_RAM, data + 2 * PAGE)
        expect(f"{name} a list that leads out of memory",
               queue.run(rw(opcode, 0, 32, data, list_at)).status, TRANSFER_ERROR)
        expect(f"{name} a list that is not in memory",
               queue.run(rw(opcode, 0, 32, data, BEYOND_RAM)).status, TRANSFER_ERROR)
    for psdt in (1, 2, 3):
        expect(f"PSDT {psdt}: SGLs are not supported",
               queue.run(rw(READ, 0, 1, data, flags=psdt << 6)).status, 0x02)
    for fuse in (1, 2, 3):
        expect(f"FUSE {fuse}: fused commands are not supported",
               queue.run(rw(READ, 0, 1, data, flags=fuse)).status, 0x02)


def chained_list(host: Host, queue: Queue) -> None:
    """A list that goes on in another page, there and back again."""
    data, pages = host.data, 8
    text = os.urandom(pages * PAGE)
    host.write(DATA_AT, text)
    entries = [data + i * PAGE for i in range(1, pages)]
    first, second = 0x81000 - 16, 0x82000

    def link(address: int) -> None:
        host.write(DATA_AT + first, struct.pack("<2Q", entries[0], address))
        host.write(DATA_AT + second, struct.pack("<6Q", *entries[1:]))

    link(data + second)
    expect("write through a chained list", queue.run(rw(WRITE, 64, 8 * pages, data, data + first)).status, 0)
    host.write(DATA_AT, bytes(len(text)))
    expect("read through it", queue.run(rw(READ, 64, 8 * pages, data, data + first)).status, 0)
    say("the data is what was written", host.read(DATA_AT, len(text)) == text)
    link(data + second + 8)
    expect("a link that is not on a page",
           queue.run(rw(READ, 64, 8 * pages, data, data + first)).status, OFFSET_INVALID)
    link(BEYOND_RAM)
    expect("a link out of memory",
           queue.run(rw(READ, 64, 8 * pages, data, data + first)).status, TRANSFER_ERROR)


def bad_queues(host: Host) -> None:
    """Queues that cannot be."""
    base = host.base + 0xF0000

    def make_cq(sentence: str, wanted: int, number: int, last: int, flags: int = 1,
                at: int = base) -> None:
        command = sqe(0x05, cdw={10: number | last << 16, 11: flags}, prp1=at)
        expect("Create CQ, " + sentence, host.admin.run(command).status, wanted)

    def make_sq(sentence: str, wanted: int, number: int, last: int, cq: int = 3, flags: int = 1,
                at: int = base) -> None:
        command = sqe(0x01, cdw={10: number | last << 16, 11: cq << 16 | flags}, prp1=at)
        expect("Create SQ, " + sentence, host.admin.run(command).status, wanted)

    make_cq("number 0", 0x101, 0, 7)
    make_cq("number 17 of 16", 0x101, 17, 7)
    make_cq("number 65535", 0x101, 65535, 7)
    make_cq("one entry", 0x102, 3, 0)
    make_cq("more entries than CAP.MQES", 0x102, 3, 1024)
    make_cq("65536 entries", 0x102, 3, 65535)
    make_cq("not contiguous", 0x02, 3, 7, flags=0)
    make_cq("vector 17 of 17", 0x108, 3, 7, flags=17 << 16 | 3)
    make_cq("not on a page", OFFSET_INVALID, 3, 7, at=base + 64)
    make_cq("out of memory", 0x02, 3, 7, at=BEYOND_RAM)
    make_cq("in the last page of all", 0x02, 3, 255, at=(1 << 64) - PAGE)
    make_cq("good", 0, 3, 7)
    make_cq("the same again", 0x101, 3, 7)
    make_sq("number 0", 0x101, 0, 7)
    make_sq("number 17 of 16", 0x101, 17, 7)
    make_sq("completion queue 0", 0x101, 3, 7, cq=0)
    make_sq("completion queue 99", 0x101, 3, 7, cq=99)
    make_sq("completion queue that does not exist", 0x100, 3, 7, cq=4)
    make_sq("one entry", 0x102, 3, 0)
    make_sq("more entries than CAP.MQES", 0x102, 3, 1024)
    make_sq("not contiguous", 0x02, 3, 7, flags=0)
    make_sq("not on a page", OFFSET_INVALID, 3, 7, at=base + 4)
    make_sq("out of memory", 0x02, 3, 7, at=BEYOND_RAM)
    make_sq("in the last page of all", 0x02, 3, 63, at=(1 << 64) - PAGE)
    make_sq("good", 0, 3, 7, at=base + PAGE)
    make_sq("the same again", 0x101, 3, 7, at=base + PAGE)
    for opcode, name in ((0x00, "SQ"), (0x04, "CQ")):
        for number in (0, 4, 17, 65535):
            expect(f"Delete {name}, number {number}",
                   host.admin.run(sqe(opcode, cdw={10: number})).status, 0x101)
    expect("Delete CQ that is in use", host.admin.run(sqe(0x04, cdw={10: 3})).status, 0x10C)
    say("both can be deleted in order", host.drop_queue(3) == [0, 0])


def full_cq(host: Host) -> None:
    """A completion queue that the host empties only now and then."""
    queue = host.make_queue(2, 256, cq_depth=4)
    cids = [queue.put(rw(READ, 8 * i, 8, host.data)) for i in range(200)]
    queue.ring()
    time.sleep(0.3)
    entries = [struct.unpack("<H", host.read(queue.cq_at + 16 * i + 14, 2))[0] & 1 for i in range(4)]
    say("a completion queue of 4 takes 3", entries == [1, 1, 1, 0], str(entries))
    statuses = []
    for cid in cids:
        deadline = time.monotonic() + 10
        while cid not in queue.done and time.monotonic() < deadline:
            queue.take(1)
        statuses += [done.status for done in queue.done.pop(cid, [])]
    say("200 commands through a completion queue of 4, each completed once", statuses == [0] * 200,
        f"{len(statuses)} completions")
    say("nothing is posted twice", not queue.take() and not queue.done)
    queue.put(rw(READ, 0, 8, host.data))
    for i in range(20):
        queue.put(rw(READ, 8 * i, 8, host.data))
    queue.ring()
    time.sleep(0.2)
    say("both are deleted with completions that found no room", host.drop_queue(2) == [0, 0])


def abort(host: Host, queue: Queue) -> None:
    """Abort finds what is in flight, and nothing else."""
    # All on one die, a stripe apart, one after the other: the last is in flight for a while.
    cids = [queue.put(rw(READ, 512 * i, 8, host.data)) for i in range(20)]
    queue.ring()
    deadline = time.monotonic() + 5
    found = 1
    while found and cids[-1] not in queue.done and time.monotonic() < deadline:
        found = host.admin.run(sqe(0x08, cdw={10: queue.number | cids[-1] << 16})).result & 1
        queue.take()
    say("Abort finds a read in flight", found == 0)
    statuses = [queue.wait(cid).status for cid in cids]
    say("it is completed as aborted, the others are not", statuses == [0] * 19 + [7], str(statuses))
    done = host.admin.run(sqe(0x08, cdw={10: queue.number | cids[-1] << 16}))
    say("Abort of what is complete finds nothing", done.status == 0 and done.result & 1 == 1)
    expect("Abort in a queue that does not exist", host.admin.run(sqe(0x08, cdw={10: 9})).status, 0x02)
    waiting = host.admin.put(sqe(0x0C))
    host.admin.ring()
    done = host.admin.run(sqe(0x08, cdw={10: waiting << 16}))
    say("Abort finds an asynchronous event request", done.status == 0 and done.result & 1 == 0)
    expect("it is completed as aborted", host.admin.wait(waiting).status, 0x07)
    several = [host.admin.put(sqe(0x0C)) for _ in range(5)]
    host.admin.ring()
    expect("one request more than the limit", host.admin.wait(several[4]).status, 0x105)
    for cid in several[:4]:
        host.admin.run(sqe(0x08, cdw={10: cid << 16}))
        host.admin.wait(cid)


def abort_into_full_cq(host: Host) -> None:
    """A command that is aborted while its completion queue is full is completed later."""
    queue = host.make_queue(2, 16, cq_depth=2)
    inject("drop 0 8 1")
    dropped = queue.put(rw(READ, 0, 8, host.data))
    other = queue.put(rw(READ, 4096, 8, host.data))
    queue.ring()
    time.sleep(0.3)
    done = host.admin.run(sqe(0x08, cdw={10: queue.number | dropped << 16}))
    say("Abort finds a command whose completion queue is full", done.status == 0 and done.result & 1 == 0)
    expect("what filled the queue is taken", queue.wait(other).status, 0)
    expect("then the aborted command is completed", queue.wait(dropped).status, 7)
    host.drop_queue(2)


def crowded_admin_queue(host: Host) -> None:
    """An admin completion queue with room for one: of two completions neither is lost."""
    host.disable()
    host.set_admin_registers(host.base, host.base + PAGE, 1 << 16 | 63)
    admin = Queue(host, 0, 64, 0, PAGE, cq_depth=2)
    host.write32(0x14, CC_ENABLE)
    host.wait_status(CSTS_READY | CSTS_FATAL, CSTS_READY)
    waiting = admin.put(sqe(0x0C))
    expect("health events are on", admin.run(sqe(0x09, cdw={10: 0x0B, 11: 3})).status, 0)
    expect("Set Features that raises an event is completed",
           admin.run(sqe(0x09, cdw={10: 0x04, 11: 300})).status, 0)
    say("and so is the request for the event", admin.wait(waiting).result & 0xFFFFFF == 0x020101)
    waiting = admin.put(sqe(0x0C))
    expect("Abort of a request is completed", admin.run(sqe(0x08, cdw={10: waiting << 16})).status, 0)
    expect("and so is the request", admin.wait(waiting).status, 0x07)
    host.enable()


def delete_in_flight(host: Host) -> None:
    """Delete a queue that is at work."""
    for turn in range(8):
        queue = host.make_queue(2, 256)
        cids = [queue.put(rw(READ, 512 * i, 8, host.data)) for i in range(100)]
        queue.ring()
        time.sleep(0.02 * turn)
        deleted = host.admin.run(sqe(0x00, cdw={10: 2})).status
        while queue.take():
            pass
        before = sum(len(queue.done.get(cid, [])) for cid in cids)
        seen = {done.status for cid in cids for done in queue.done.get(cid, [])}
        time.sleep(0.05)
        late = queue.take()
        say(f"turn {turn}: a queue is deleted with commands in flight", deleted == 0 and not late
            and seen <= {0, 8} and all(len(done) == 1 for done in queue.done.values()),
            f"status {deleted:#x}, {late} late, statuses {seen}")
        if turn == 1:
            say("commands that were fetched are completed as aborted", before > 0)
        expect("its completion queue can be deleted", host.admin.run(sqe(0x04, cdw={10: 2})).status, 0)


def doorbells(host: Host, queue: Queue) -> None:
    """Doorbells that say nonsense: an event, no harm, and a reset mends it."""
    event = host.admin.put(sqe(0x0C))
    host.admin.ring()
    time.sleep(0.05)
    host.write32(0x1000 + 8 * queue.number, 0xFFFF)
    done = host.admin.wait(event)
    say("a tail beyond the queue is reported: type 0, information 1, log page 1",
        done.status == 0 and done.result & 0xFFFFFF == 0x010100, f"{done.result:#x}")
    host.write32(0x1000 + 8 * queue.number, queue.tail)
    expect("the queue works when the tail is right again",
           queue.run(rw(READ, 0, 8, host.data)).status, 0)
    read_log(host, 0x01, False)
    event = host.admin.put(sqe(0x0C))
    host.admin.ring()
    time.sleep(0.05)
    host.write32(0x1004 + 8 * queue.number, 256)
    done = host.admin.wait(event)
    say("a head beyond the completion queue is reported likewise",
        done.status == 0 and done.result & 0xFFFFFF == 0x010100, f"{done.result:#x}")
    cid = queue.put(rw(READ, 0, 8, host.data))
    queue.ring()
    time.sleep(0.2)
    say("nothing is posted meanwhile", not queue.take())
    host.write32(0x1004 + 8 * queue.number, queue.head)
    expect("it is when the head is right again", queue.wait(cid).status, 0)
    for offset in range(8 * 17, 0x1000, 4):
        host.write32(0x1000 + offset, 0xFFFFFFFF)
    expect("doorbells of no queue are without effect", queue.run(rw(READ, 0, 8, host.data)).status, 0)
    for offset in range(8 * 17, 0x1000, 4):
        host.write32(0x1000 + offset, 0)


def inject(line: str) -> None:
    """Let something go wrong."""
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.write(line)


def read_log(host: Host, lid: int, retain: bool) -> None:
    """Read the head of a log page, with or without taking its event for read."""
    host.admin.run(sqe(0x02, cdw={10: lid | retain << 15 | 15 << 16}, prp1=host.data))


def events(host: Host) -> None:
    """Health events: asked for, once each, and no second of a type before its log was read."""

    def completed(cid: int) -> bool:
        time.sleep(0.2)
        host.admin.take()
        return cid in host.admin.done

    host.enable()
    first = host.admin.put(sqe(0x0C))
    second = host.admin.put(sqe(0x0C))
    host.admin.ring()
    inject("temperature 400")
    say("a temperature that nobody wants to know of is no event", not completed(first))
    inject("temperature 309")
    host.admin.run(sqe(0x09, cdw={10: 0x0B, 11: 3}))
    inject("temperature 400")
    done = host.admin.wait(first)
    say("a high temperature is: type 1, information 1, log page 2",
        done.result & 0xFFFFFF == 0x020101, f"{done.result:#x}")
    inject("spare 5")
    say("a second health event waits until SMART was read", not completed(second))
    read_log(host, 0x02, True)
    say("also when it was read with RAE", not completed(second))
    host.admin.run(sqe(0x02, cdw={10: 0x02 | 127 << 16}, prp1=host.data))
    warning, kelvin, spare = struct.unpack("<BHB", host.read(DATA_AT, 4))
    say("SMART has warnings, temperature and spare", (warning, kelvin, spare) == (3, 400, 5),
        f"{warning} {kelvin} {spare}")
    done = host.admin.wait(second)
    say("then comes low spare: type 1, information 2", done.result & 0xFFFFFF == 0x020201,
        f"{done.result:#x}")
    inject("clear")


def registers(host: Host) -> None:
    """Registers that cannot work end in a fatal status, from which a reset recovers."""
    good = (host.base, host.base + PAGE, 63 << 16 | 63)
    for sentence, asq, acq, aqa in (
            ("an admin queue out of memory", BEYOND_RAM, good[1], good[2]),
            ("an admin queue in the last page of all", (1 << 64) - PAGE, good[1], good[2]),
            ("an admin completion queue out of memory", good[0], 0xFEE00000, good[2]),
            ("an admin queue of one entry", good[0], good[1], 0),
            ("an admin queue not on a page", good[0] + 8, good[1], good[2])):
        host.disable()
        host.set_admin_registers(asq, acq, aqa)
        host.write32(0x14, CC_ENABLE)
        host.wait_status(CSTS_READY | CSTS_FATAL, CSTS_FATAL)
        say(f"{sentence} ends in a fatal status", True)
    for sentence, cc in (("pages of 8 KiB", 1 << 7), ("a command set that does not exist", 3 << 4)):
        host.disable()
        host.set_admin_registers(*good)
        host.write32(0x14, CC_ENABLE | cc)
        host.wait_status(CSTS_READY | CSTS_FATAL, CSTS_FATAL)
        say(f"{sentence} end in a fatal status", True)
    host.enable()
    expect("a reset mends that", host.admin.run(sqe(0x06, cdw={10: 1}, prp1=host.data)).status, 0)


def reset_in_flight(host: Host) -> None:
    """Reset with commands in flight."""
    for _ in range(5):
        queue = host.make_queue(1, 256)
        for i in range(200):
            queue.put(rw(READ, 512 * i, 8, host.data))
        queue.ring()
        time.sleep(0.015)
        host.enable()
    queue = host.make_queue(1, 256)
    expect("after five resets with 200 commands in flight", queue.run(rw(READ, 0, 8, host.data)).status, 0)


def steps(host: Host) -> None:
    """Everything."""
    queue = host.make_queue(1)
    bad_prps(host, queue)
    chained_list(host, queue)
    bad_queues(host)
    full_cq(host)
    abort(host, queue)
    abort_into_full_cq(host)
    delete_in_flight(host)
    doorbells(host, queue)
    events(host)
    crowded_admin_queue(host)
    registers(host)
    reset_in_flight(host)


if __name__ == "__main__":
    sys.exit(rawhost.run(steps))
