#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""One shift of the soak, inside the lab's guest: random work for so many seconds.

soak.py SECONDS SEED SHIFT [--control | --foreign] [--lie]

The shift's number chooses mode and filesystem, the seed all the rest. In each round workers
write, sync, read, trim and remove while the target is suspended, reloaded, cleaned, starved of
memory and told things; the round ends in order, with a power failure of the SSD, or with I/O
errors. Then every byte is compared with the oracle (oracle.py), and the work goes on upon what was
found. Prints a line for each round, "totals JSON" with all that was counted so far, and
"not ok - SENTENCE" for whatever is wrong. With --lie a page of the SSD is changed behind
everybody's back once: then something must be wrong.
"""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import pathlib
import random
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from typing import Any, Optional

import stack as stacks
from evidence import Evidence
from stack import MOUNT, NAME, TARGET, Broken, ForeignStack, Stack, run
from worker import AreaWorker, FileWorker, Report, Worker

MODES = ("log", "hint")
FILESYSTEMS = ("ext4", "xfs", "btrfs", "f2fs", "raw")
# Of what can be written; the rest is for files and for what a filesystem wants itself. btrfs keeps
# all of an extent for as long as one block of it is in use: random overwrites make it grow.
AREA_PERCENT = 60
AREA_PERCENT_BTRFS = 25
HOG = pathlib.Path(__file__).with_name("hog.py")


class Process:
    """A worker in a process of its own, asked through a pipe."""

    def __init__(self, worker: Worker, stop: Event) -> None:
        self.name = worker.name
        # Whether an operation of its was cut short in this round, without a power failure
        self.is_unsure = False
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=self.serve, args=(worker, stop, theirs))
        self.process.start()

    @staticmethod
    def serve(worker: Worker, stop: Event, pipe: Connection) -> None:
        while True:
            verb, *rest = pipe.recv()
            if verb == "run":
                pipe.send(worker.run(stop))
            elif verb == "judge":
                before = Counter(worker.report.counts)
                wrong = worker.judge(*rest)
                pipe.send((wrong, worker.report.counts - before))
            elif verb == "promise":
                pipe.send(worker.promise())
            else:
                return

    def ask(self, *words: object) -> None:
        self.pipe.send(words)

    def where(self) -> str:
        """Where in the kernel it is; and, twice, what it has taken by now: what grows goes on."""
        folder = pathlib.Path(f"/proc/{self.process.pid}")
        text = (folder / "stack").read_text() + (folder / "stat").read_text()
        time.sleep(2)
        return text + (folder / "stat").read_text()

    def answer(self, seconds: float = stacks.HANG_SECONDS) -> Any:
        if not self.pipe.poll(seconds):
            raise Broken(f"the worker {self.name} hangs:\n{self.where()}")
        return self.pipe.recv()


def show_state() -> None:
    """What helps to understand why it does not go on."""
    for words in (["dmsetup", "info"], ["dmsetup", "table"], ["dmsetup", "status"], ["dmesg"]):
        text = run(*words, patient=True)
        print("\n".join(f"# {line}" for line in text.splitlines()[-60:]), flush=True)
    for stack in sorted(pathlib.Path("/proc").glob("[0-9]*/task/*/stack")):
        try:
            name = stack.with_name("comm").read_text().strip()
            text = stack.read_text()
        except OSError:
            continue
        if not any(word in text for word in ("kthread_worker_fn", "rcu_", "worker_thread", "kthreadd")):
            print(f"# {stack.parent.name} {name}: {' < '.join(text.split()[1::2])}", flush=True)


class Watch(threading.Thread):
    """Ends the shift when nothing has happened for long."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.doing = "beginning"
        self.since = time.monotonic()

    def note(self, what: str) -> None:
        self.doing, self.since = what, time.monotonic()

    def run(self) -> None:
        while time.monotonic() - self.since < 2 * stacks.HANG_SECONDS:
            time.sleep(1)
        print(f"not ok - it goes on: {self.doing} hangs", flush=True)
        show_state()
        os._exit(1)


class Shift:
    # What the SSD has moved where, if it is one of ours; shown with the first thing that is wrong
    evidence: Optional[Evidence] = None

    def __init__(self, seed: int, number: int, options: set[str]) -> None:
        self.dice = random.Random(f"{seed} {number}")
        self.is_foreign = "--foreign" in options
        is_control = self.is_foreign or "--control" in options
        self.mode = "linear" if is_control else MODES[number % 2]
        self.filesystem = FILESYSTEMS[number // 2 % len(FILESYSTEMS)]
        self.seed = seed * 1000 + number
        # f2fs writes what names a file's data before the data (docs/testing-crash.md): a drive that
        # may lose any part of what was not flushed breaks its promises without our help.
        self.plp = int(self.filesystem == "f2fs" or self.dice.random() < 0.3 or self.is_foreign)
        kind = ForeignStack if self.is_foreign else Stack
        self.stack = kind(self.mode, self.filesystem, self.ssd_properties())
        self.counts: Counter[str] = Counter()
        self.workers: list[Process] = []
        self.stop = multiprocessing.Event()
        # Whether an operation may fail now: the power is going, or errors were asked for
        self.fragile = False
        self.wrong = 0
        self.watch = Watch()
        self.watch.start()

    def ssd_properties(self) -> list[str]:
        # xfs wants 300 MiB; all others are small, so that cleaning and collection have work.
        size = 448 if self.filesystem == "xfs" else 192
        return [
            "profile=sata", f"capacity_mib={size}", "channels=2", "units_per_eblk=32",
            "wbuf_kib=2048", "run_units=8", f"plp={self.plp}",
        ]

    def say_wrong(self, sentence: str) -> None:
        self.wrong += 1
        print(f"not ok - {sentence}", flush=True)
        if self.wrong == 1 and self.evidence:
            self.evidence.show()

    # ---- building up

    def begin(self) -> None:
        table, layout = [], []
        if self.mode == "log":
            layout = ["--segment", self.dice.choice(["1M", "2M"])]
            table = [
                f"in_place={self.dice.choice([0, 60, 100])}",
                f"policy={self.dice.choice(['greedy', 'cost-benefit', 'file-aware'])}",
            ]
        elif self.mode == "hint":
            table = [f"runs_mb={self.dice.choice([1, 64])}"]
        self.stack.create(layout, table)
        if not self.is_foreign:
            self.evidence = Evidence(stacks.SSD, self.mode)
            self.evidence.arm()
        for worker in self.make_workers():
            self.workers.append(Process(worker, self.stop))
        print(
            f"# {self.mode} mode, {self.filesystem}, {' '.join(self.stack.properties)},"
            f" {' '.join(layout + table)}",
            flush=True,
        )

    def make_workers(self) -> list[Worker]:
        if self.filesystem == "raw":
            size = int(run("blockdev", "--getsize64", TARGET)) * AREA_PERCENT // 100
            each = size // 3 // 4096 * 4096
            return [
                AreaWorker(TARGET, f"a{i}", self.seed * 10 + i, (i * each, each), "raw")
                for i in range(3)
            ]
        workers: list[Worker] = []
        for i in range(2):
            os.mkdir(f"{MOUNT}/w{i}")
            workers.append(FileWorker(MOUNT, f"w{i}", self.seed * 10 + i, self.filesystem))
        room = os.statvfs(MOUNT)
        percent = AREA_PERCENT_BTRFS if self.filesystem == "btrfs" else AREA_PERCENT
        length = room.f_bavail * room.f_frsize * percent // 100 // (1 << 20) << 20
        run("dd", "if=/dev/zero", f"of={MOUNT}/area", "bs=1M", f"count={length >> 20}", "status=none")
        os.sync()
        seed = self.seed * 10 + 2
        workers.append(AreaWorker(f"{MOUNT}/area", "area", seed, (0, length), self.filesystem))
        return workers

    # ---- what happens while workers work

    def events(self, has_errors: bool) -> dict[str, Callable[[], None]]:
        events = {
            "suspend": self.suspend,
            "reload": self.reload,
            "drop_caches": self.drop_caches,
            "memory": self.take_memory,
        }
        if not self.is_foreign:
            events["stall"] = self.stall
        if self.mode != "linear":
            events["hints"] = lambda: self.message("hints", self.dice.choice(["auto", "on", "off"]))
            events["runs_clear"] = lambda: self.message("runs", "clear")
        # An ext4 whose journal has failed trims what is in use: ext4_trims_what_is_in_use() in faults.sh.
        if self.filesystem != "raw" and not (has_errors and self.filesystem == "ext4"):
            events["fstrim"] = lambda: self.command("fstrim", MOUNT)
        if self.mode == "log":
            events["clean"] = lambda: self.message("clean")
            events["checkpoint"] = lambda: self.message("checkpoint")
            events["policy"] = lambda: self.message(
                "policy", self.dice.choice(["greedy", "cost-benefit", "file-aware"])
            )
            events["in_place"] = lambda: self.message("in_place", self.dice.choice(["0", "60", "100"]))
        return events

    def command(self, *words: str) -> None:
        run(*words, patient=self.fragile)

    def message(self, *words: str) -> None:
        self.command("dmsetup", "message", NAME, "0", *words)

    def suspend(self) -> None:
        how = self.dice.choice([[], ["--nolockfs"], ["--noflush", "--nolockfs"]])
        self.command("dmsetup", "suspend", *how, NAME)
        time.sleep(self.dice.random())
        self.command("dmsetup", "resume", NAME)

    def reload(self) -> None:
        self.command("dmsetup", "suspend", NAME)
        self.command("dmsetup", "load", NAME, "--table", self.stack.table())
        self.command("dmsetup", "resume", NAME)

    @staticmethod
    def drop_caches() -> None:
        pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")

    def take_memory(self) -> None:
        # It is the first to be killed, should that be necessary.
        subprocess.run([sys.executable, str(HOG), "2"], check=False)

    def stall(self) -> None:
        """The device does nothing for a while."""
        try:
            self.stack.inject(f"delay 0 {self.stack.pages() * 8} {self.dice.randint(50, 1500)}")
            time.sleep(1)
            self.stack.inject("clear")
        except (OSError, Broken):
            if not self.fragile:
                raise

    def meddle(self, seconds: float, has_errors: bool = False) -> None:
        events = self.events(has_errors)
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.stack.is_on():
            name = self.dice.choice(sorted(events))
            self.watch.note(f"event {name}")
            events[name]()
            self.counts[f"event_{name}"] += 1
            time.sleep(self.dice.random())

    # ---- a round

    def work(self, seconds: float) -> None:
        self.stop.clear()
        for worker in self.workers:
            worker.is_unsure = False
            worker.ask("run")
        self.meddle(seconds)

    def gather(self) -> None:
        """Stop the workers, count what they did; errors only where something may fail."""
        self.watch.note("stopping the workers")
        self.stop.set()
        self.stack.thaw()
        for worker in self.workers:
            report: Report = worker.answer()
            self.counts.update(report.counts)
            if report.wrong:
                self.say_wrong(f"reads return what was written: {report.wrong}")
            if report.error:
                self.counts["ended_by_error"] += 1
                if report.errno == errno.ENOSPC and self.filesystem == "btrfs":
                    self.counts["out_of_space"] += 1
                    worker.is_unsure = True
                elif not self.fragile:
                    self.say_wrong(f"operations succeed: {report.error}")

    def compare(self, strict: bool) -> None:
        self.watch.note("comparing")
        for worker in self.workers:
            worker.ask("judge", strict and not worker.is_unsure)
        for worker in self.workers:
            wrong, counts = worker.answer()
            self.counts.update(counts)
            worker.is_unsure = False
            for sentence in wrong:
                self.say_wrong(f"what was promised is there: {sentence}")
        # What was found was read from a drive that may still hold it in volatile memory.
        self.stack.flush()

    def note_status(self) -> None:
        """Counters of log mode begin anew with each start."""
        status = self.stack.status()
        for key in ("cleaned_segments", "checkpoints", "moved_pages", "commits", "in_place"):
            if status.get(key, "").isdigit():
                self.counts[f"log_{key}"] += int(status[key])
        if status.get("state", "write") != "write" and not self.fragile:
            self.say_wrong(f"the target writes: its state is {status['state']}")

    def restart(self, after_errors: bool) -> None:
        self.watch.note("starting the target again")
        self.note_status()
        self.stack.umount(lazy=self.fragile)
        self.stack.stop()
        if not self.stack.is_on():
            self.stack.power_on()
        self.stack.check_log(after_errors)
        self.stack.start()
        self.stack.mount()

    def examine(self, after_errors: bool) -> None:
        """Once more in order, for the filesystem's checker wants to be alone."""
        if self.filesystem == "raw":
            return
        self.watch.note("examining the filesystem")
        self.stack.umount()
        for worker in self.workers:
            worker.ask("promise")
            worker.answer()
        self.stack.check_files(after_errors)
        self.stack.mount()

    def end_in_order(self) -> None:
        self.work(self.dice.uniform(4, 12))
        self.gather()
        self.drop_caches()
        self.compare(strict=True)
        self.restart(after_errors=False)
        self.compare(strict=True)
        self.examine(after_errors=False)

    def end_by_power(self) -> None:
        self.work(self.dice.uniform(1, 8))
        self.fragile = True
        if not self.plp and self.dice.random() < 0.7:
            self.stack.cut_power(self.dice.randint(1, 400))
            self.meddle(self.dice.uniform(2, 10))
        if self.stack.is_on():
            self.stack.cut_power()
        self.gather()
        self.restart(after_errors=False)
        self.fragile = False
        self.compare(strict=False)
        self.examine(after_errors=False)

    def end_by_errors(self) -> None:
        self.work(self.dice.uniform(1, 4))
        self.fragile = True
        sectors = self.stack.pages() * 8
        for _ in range(self.dice.randint(1, 4)):
            kind = self.dice.choice(["read_error", "write_fault"])
            first = self.dice.randrange(sectors // 8) * 8
            length = self.dice.choice([8, 64, 4096, sectors // 4])
            self.stack.inject(f"{kind} {first} {min(length, sectors - first)}")
        self.meddle(self.dice.uniform(1, 5), has_errors=True)
        self.gather()
        self.stack.inject("clear")
        self.restart(after_errors=True)
        self.fragile = False
        self.compare(strict=False)
        self.examine(after_errors=True)

    def round(self) -> None:
        # What an error of the device makes of f2fs and btrfs is theirs: they stop for good.
        kinds = {"order": 30, "power": 50}
        if self.filesystem in ("raw", "ext4", "xfs") and not self.is_foreign:
            kinds["errors"] = 20
        kind = self.dice.choices(list(kinds), list(kinds.values()))[0]
        begin = time.monotonic()
        {"order": self.end_in_order, "power": self.end_by_power, "errors": self.end_by_errors}[kind]()
        self.counts[f"round_{kind}"] += 1
        print(f"# round {kind}, {time.monotonic() - begin:.0f} s", flush=True)

    def lie(self) -> None:
        """Change a page that a worker knows, below all of us."""
        self.stack.umount()
        self.stack.stop()
        with open(self.stack.device, "r+b") as file:
            for page in range(self.stack.pages()):
                file.seek(page * 4096)
                data = file.read(4096)
                if data.startswith((b"a0 v", b"area v")):
                    file.seek(page * 4096)
                    file.write(data[:70] + b"A LIE" + data[75:])
                    break
            else:
                raise Broken("no page of a worker is on the device")
            os.fsync(file.fileno())
        self.stack.start()
        self.stack.mount()
        self.compare(strict=True)

    def end(self) -> None:
        for worker in self.workers:
            worker.ask("end")
        if self.evidence:
            faults = self.evidence.faults()
            if faults:
                self.say_wrong(f"the SSD moves what it should: {faults}")
            self.evidence.disarm()
        self.stack.destroy()

    def print_totals(self) -> None:
        print("totals " + json.dumps(dict(sorted(self.counts.items()))), flush=True)


def main() -> int:
    seconds, seed, number = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    shift = Shift(seed, number, set(sys.argv[4:]))
    begin = time.monotonic()
    try:
        shift.begin()
        while True:
            shift.round()
            shift.print_totals()
            if shift.wrong or time.monotonic() - begin > seconds:
                break
        if "--lie" in sys.argv:
            shift.lie()
        shift.end()
    except (Broken, OSError):
        shift.say_wrong("the shift goes on: " + traceback.format_exc().replace("\n", "\n# "))
        show_state()
    finally:
        for worker in shift.workers:
            worker.process.kill()
    if shift.wrong:
        return 1
    print(f"ok - {shift.mode} mode, {shift.filesystem}: every byte is as it may be", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
