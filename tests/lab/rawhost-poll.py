#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""How long commands take of a driver that nobody sees ring: rawhost-poll.py POLL_US_FILE.

In virtual time, where programs take none: what is measured are the drive and the wait for its
look. Prints "ok -" lines."""

import ctypes
import sys
import time

import rawhost
from rawhost import Host, Queue, rw
from sentences import say

READ = 0x02
COMMANDS = 50
ORDINARY = 12
PR_SET_TIMERSLACK = 29
US = 1000


def set_poll_us(value: int) -> None:
    """How often the SSD looks, 0: as seldom as it can"""
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.write(str(value))


def read_ns(queue: Queue, data: int) -> int:
    """One read, from its doorbell to its completion, looked for each microsecond"""
    cid = queue.put(rw(READ, 0, 8, data))
    since = time.monotonic_ns()
    queue.ring()
    while not queue.take():
        time.sleep(1e-6)
    took = time.monotonic_ns() - since
    queue.wait(cid)
    return took


def mean_us(queue: Queue, data: int) -> float:
    """Of reads with pauses of up to 18 ms between them, which come at any time between two looks"""
    total = 0
    for i in range(COMMANDS):
        time.sleep(i * 367e-6)
        total += read_ns(queue, data)
    return total / COMMANDS / US


def late_us(queue: Queue, data: int, poll_us: int, least: float) -> float:
    """By how much reads are later than the least at this interval"""
    set_poll_us(poll_us)
    return mean_us(queue, data) - least


def wait_for_room_us(queue: Queue, small: Queue, data: int) -> float:
    """What has no room in its queue for a moment is posted how long after there is some?"""
    for _ in range(ORDINARY):
        read_ns(queue, data)
    for _ in range(2):
        small.put(rw(READ, 0, 8, data))
    small.ring()
    while not small.is_next_there():
        time.sleep(1e-6)
    time.sleep(200e-6)
    small.take(1)
    since = time.monotonic_ns()
    while not small.take():
        time.sleep(1e-6)
    return (time.monotonic_ns() - since) / US


def steps(host: Host) -> None:
    """What each interval gives."""
    queue = host.make_queue()
    data = host.data
    least = late_us(queue, data, 2, 0)
    say("a look each 2 us serves a read within 10 us", least < 10, f"{least:.1f} us")
    for poll_us in (20, 200, 2000):
        late = late_us(queue, data, poll_us, least)
        say(f"at {poll_us} us half of that is waited", 0.4 < late / poll_us < 0.6, f"{late:.1f} us")
    late = late_us(queue, data, 0, least)
    say("at 0 half of the 10 ms of the slow look", 4000 < late < 6000, f"{late:.1f} us")
    time.sleep(1.5)
    set_poll_us(20)
    took = read_ns(queue, data) / US - least
    say("an interval that is set while it sleeps counts at once", took < 50, f"{took:.1f} us")
    small = host.make_queue(2, 16, cq_depth=2)
    worst = max(wait_for_room_us(queue, small, data) for _ in range(5))
    say("what has found no room for a moment is posted soon after there is some", worst < 1000, f"{worst:.1f} us")


ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1)
sys.exit(rawhost.run(steps))
