#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Run fio suites inside the lab's guest; scripts/fio starts it.

run.py verify SIZE_MIB FS...   every job verifies what it wrote, through the target in both
                               modes, half the data each
run.py perf SIZE_MIB FS...     the same jobs through dm-linear and through the target in both
                               modes, side by side, and compared with perf.json

FS is ext4, xfs, btrfs, f2fs or block (no filesystem). Prints "ok - ..." and
"not ok - ..." lines; of perf also "record {...}" lines, which record.py keeps.
"""

import contextlib
import itertools
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Dict, Iterator, List

from evidence import Evidence, armed

HERE = Path(__file__).resolve().parent
MOUNT = "/mnt"
SSD = "fio0"
TARGET = "fio"
# Where fio puts what it has read for wrong, and what it has expected
DUMPS = Path("/tmp/fio-dumps")
# Of what was read for wrong: fio's header, which says where it belongs and when it was written
DUMP_BYTES = 64
# Of what a second look says: enough for a file that has an extent for each page
MOST_LINES = 1100
MKFS = {
    "ext4": ["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
    "xfs": ["mkfs.xfs", "-q", "-f"],
    "btrfs": ["mkfs.btrfs", "-q", "-f"],
    "f2fs": ["mkfs.f2fs", "-q", "-f"],
}
FSCK = {
    "ext4": ["e2fsck", "-fn"],
    "xfs": ["xfs_repair", "-n"],
    "btrfs": ["btrfs", "check", "--force"],
    "f2fs": ["fsck.f2fs", "--dry-run"],
}
# In percent of dm-linear's speed, a job may be so much below its record: fio knows how long it took
# in whole milliseconds, and the shortest takes 40 of them.
PERF_SLACK = 5.0
# What is below that is measured again, up to so many times in all: a commit of the filesystem or of
# the log which falls into a job of 100 ms takes 8 percent of it, and falls where it likes.
PERF_SERIES = 3
RECORD = HERE / "perf.json"


def run(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"'{' '.join(words)}' ended with {done.returncode}: "
                           f"{(done.stderr or done.stdout).strip()[-600:]}")
    return done.stdout


def report(good: bool, sentence: str) -> None:
    print(("ok - " if good else "not ok - ") + sentence, flush=True)


@contextlib.contextmanager
def ssd(options: List[str]) -> Iterator[str]:
    run("nvmev-ssd", "create", SSD, *options)
    try:
        yield run("nvmev-ssd", "dev", SSD).strip()
    finally:
        run("nvmev-ssd", "remove", SSD)


def table_line(device: str, mode: str) -> str:
    if mode == "log":
        return run("dieaware", "format", device).strip().split("\n")[-1] + " 1 hints=on"
    sectors = run("blockdev", "--getsz", device).strip()
    if mode == "linear":
        return f"0 {sectors} linear {device} 0"
    return f"0 {sectors} dieaware {device} 0 hint 1 hints=on"


@contextlib.contextmanager
def target(device: str, mode: str = "hint") -> Iterator[str]:
    run("dmsetup", "create", TARGET, "--table", table_line(device, mode))
    try:
        yield f"/dev/mapper/{TARGET}"
    finally:
        run("dmsetup", "remove", "--retry", TARGET)


@contextlib.contextmanager
def filesystem(kind: str, device: str) -> Iterator[str]:
    run(*MKFS[kind], device)
    run("mount", device, MOUNT)
    try:
        yield MOUNT
    finally:
        run("umount", MOUNT)


def status() -> Dict[str, int]:
    words = run("dmsetup", "status", TARGET).split()
    return {key: int(value) for key, _, value in (word.partition("=") for word in words)
            if value.isdigit()}


def fio(jobs: str, variables: Dict[str, str]) -> Dict[str, dict]:
    """Run a job file; the result of each job by its name. Raises when fio fails."""
    text = (HERE / jobs).read_text()
    for name, value in variables.items():
        text = text.replace("${%s}" % name, value)
    left = re.search(r"\$\{(\w+)\}", re.sub(r"#.*", "", text))
    if left:
        raise RuntimeError(f"The job file {jobs} wants ${{{left.group(1)}}}.")
    path = Path("/tmp") / jobs
    path.write_text(text)
    DUMPS.mkdir(exist_ok=True)
    done = subprocess.run(["fio", "--output-format=json", str(path)], capture_output=True, text=True,
                          cwd=DUMPS)
    begin = done.stdout.find("{")
    if begin < 0:
        raise RuntimeError(f"fio ended with {done.returncode}: {done.stderr.strip()[-600:]}")
    result, _ = json.JSONDecoder().raw_decode(done.stdout[begin:])
    for job in result["jobs"]:
        # Where a job goes on after wrong data, that is no error of its own.
        job["error"] = job["error"] or job.get("first_error", 0)
    if done.returncode and not any(job["error"] for job in result["jobs"]):
        raise RuntimeError(f"fio ended with {done.returncode}: {done.stderr.strip()[-600:]}")
    for line in done.stderr.splitlines():
        print(f"# {line}", flush=True)
    return {job["jobname"]: job for job in result["jobs"]}


def show_dumps() -> None:
    for path in sorted(DUMPS.glob("*.received"))[:MOST_LINES]:
        print(f"# {path.name}: {path.read_bytes()[:DUMP_BYTES].hex()}", flush=True)


def look_again(jobs: str, name: str, where: str) -> None:
    """Say what a second look at wrong data finds: was it written like that, or only read?"""
    path = Path("/tmp") / f"again-{jobs}"
    text = (Path("/tmp") / jobs).read_text().replace("verify_dump=1", "verify_only=1")
    path.write_text(text)
    run("sync")
    Path("/proc/sys/vm/drop_caches").write_text("3")
    for words in (("fio", "--section", name, str(path)), ("dmsetup", "status"),
                  ("sh", "-c", f"filefrag -v {where}/{name}*"), ("sh", "-c", "dmesg | tail -n 30")):
        done = subprocess.run(words, capture_output=True, text=True)
        for line in (done.stderr + done.stdout).splitlines()[:MOST_LINES]:
            print(f"# {line}", flush=True)


def verify_jobs(kind: str, jobs: str, where: str, size: str, evidence: Evidence) -> None:
    for name, job in fio(jobs, {"DIR": where, "SIZE": size}).items():
        written, read = job["write"]["io_bytes"], job["read"]["io_bytes"]
        title = f"{kind} {jobs[:-4]} {name}"
        if job["error"]:
            report(False, f"{title}: fio ended with error {job['error']}, "
                          f"{job.get('total_err', 1)} in all")
            # First: a second look moves data as well.
            evidence.show()
            show_dumps()
            look_again(jobs, name, where)
        else:
            report(0 < written <= read, f"{title}: {written >> 10} KiB written, {read >> 10} KiB verified")


@contextlib.contextmanager
def cleaning() -> Iterator[None]:
    """Cleaning and checkpoints, again and again."""
    end = threading.Event()

    def work() -> None:
        for words in itertools.cycle(("clean", "checkpoint")):
            if end.wait(0.5):
                return
            run("dmsetup", "message", TARGET, "0", words)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        yield
    finally:
        end.set()
        worker.join()


def ends_well(title: str, what: str, *words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True)
    report(done.returncode == 0, f"{title}: {what} ends with {done.returncode}")


def moved_right(title: str, evidence: Evidence) -> None:
    """Whether the drive has found, in its second look, what it should have moved."""
    faults = evidence.faults()
    report(not faults and evidence.counts()["moves_checked"] > 1000,
           f"{title}: the drive has moved what it should: {faults or 'all is the same'}")
    if faults:
        evidence.show()


def verify_mode(kind: str, mode: str, size_mib: int) -> None:
    title = f"{mode} {kind}"
    with ssd(["capacity_mib=2048"]) as device, armed(SSD, mode) as evidence:
        with target(device, mode) as mapped:
            with filesystem(kind, mapped) as where, \
                    cleaning() if mode == "log" else contextlib.nullcontext():
                for jobs in ("verify-buffered.fio", "verify-direct.fio", "verify-mixed.fio"):
                    verify_jobs(title, jobs, where, f"{size_mib}m", evidence)
                run("sync")
                run("fstrim", where)
                seen = status()
            ends_well(title, "fsck", *FSCK[kind], mapped)
        if mode == "log":
            ends_well(title, "dieaware check", "dieaware", "check", device)
            cleaned = seen["cleaned_segments"]
            report(cleaned > 10, f"{title}: {cleaned} segments were cleaned while this ran")
        moved_right(title, evidence)
    hinted = seen["confirmed_append"] + seen["confirmed_overwrite"]
    report(hinted > 100, f"{title}: the device saw {hinted} hints while this ran")
    report(seen["rejected"] == 0, f"{title}: it rejected {seen['rejected']}")


def verify(kind: str, size_mib: int) -> None:
    for mode in ("hint", "log"):
        verify_mode(kind, mode, max(size_mib // 2, 1))


def speed(job: dict) -> Dict[str, float]:
    both = [job["read"], job["write"]]
    return {
        "mbps": sum(side["bw_bytes"] for side in both) / 1e6,
        "iops": sum(side["iops"] for side in both),
    }


def perf_jobs(kind: str, device: str, size: str) -> Dict[str, Dict[str, float]]:
    if kind == "block":
        jobs = fio("perf.fio", {"TO": f"filename={device}", "SIZE": size})
    else:
        with filesystem(kind, device) as where:
            jobs = fio("perf.fio", {"TO": f"directory={where}", "SIZE": size})
    failed = [name for name, job in jobs.items() if job["error"]]
    if failed:
        raise RuntimeError(f"fio reports errors in {', '.join(failed)}.")
    return {name: speed(job) for name, job in jobs.items()}


def beside_linear(kind: str, size_mib: int) -> Iterator[tuple]:
    """Each job in each mode: its name, the mode, dm-linear's speed and ours."""
    speeds = {}
    for mode in ("linear", "hint", "log"):
        # A new SSD for each, so that all begin with the same state of the FTL.
        with ssd(["capacity_mib=1024", "time_scale=4"]) as device, target(device, mode) as mapped:
            speeds[mode] = perf_jobs(kind, mapped, f"{size_mib}m")
    for name, linear in speeds["linear"].items():
        for mode in ("hint", "log"):
            yield name, mode, linear, speeds[mode][name]


def percents(kind: str, size_mib: int) -> Dict[str, dict]:
    """One series: what each job in each mode reaches in percent of dm-linear, and how that is said."""
    found = {}
    for name, mode, linear, ours in beside_linear(kind, size_mib):
        percent = 100 * ours["mbps"] / linear["mbps"]
        found[f"{name} {mode}"] = {
            "percent": percent,
            "said": f"{kind} {name}: dm-linear {linear['mbps']:.1f} MB/s {linear['iops']:.0f} IOPS, "
                    f"{mode} mode {ours['mbps']:.1f} MB/s {ours['iops']:.0f} IOPS, {percent:.1f} %",
        }
    return found


def perf(kind: str, size_mib: int) -> None:
    record = json.loads(RECORD.read_text()).get(kind, {})
    best = percents(kind, size_mib)
    for job, seen in best.items():
        print("record " + json.dumps({"kind": kind, "job": job, "percent": round(seen["percent"], 1)}))
    for _ in range(1, PERF_SERIES):
        low = [job for job, seen in best.items() if seen["percent"] < record.get(job, 0) - PERF_SLACK]
        if not low:
            break
        again = percents(kind, size_mib)
        for job in low:
            print(f"# again: {best[job]['said']}", flush=True)
            best[job] = max(best[job], again[job], key=lambda seen: seen["percent"])
    for job, seen in best.items():
        report(job in record and seen["percent"] >= record[job] - PERF_SLACK,
               f"{seen['said']} (on record: {record.get(job)})")


def main() -> int:
    suite, size_mib, kinds = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    for module in ("nvme", "nvmevirt-backend", "dm-dieaware"):
        run("modprobe", module)
    os.makedirs(MOUNT, exist_ok=True)
    for kind in kinds:
        try:
            {"verify": verify, "perf": perf}[suite](kind, size_mib)
        except (RuntimeError, KeyError, OSError) as error:
            report(False, f"{kind} {suite}: {error}")
    print("all done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
