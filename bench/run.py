#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Take the project's figures: choose rows, run them in the lab, report.

Started by scripts/bench and scripts/demo, which install what this needs.
"""

from __future__ import annotations

import argparse
import pathlib
import signal
import sys
import time
from collections.abc import Iterable

import guest
import records
import report
import smoke
from families import place, plan, unmeasured
from family import SCALES, SIZES, Boot, Line, Options

HEADING = "Reading fragmented and overwritten files"
DEMO_LAYOUTS = ("contiguous", "plain", "hinted")
DEMO_ROWS = [
    f"place.{workload}.ext4.direct.fast24.{layout}"
    for workload in place.HYPOTHETICAL
    for layout in DEMO_LAYOUTS
]


USAGE = """\
Without ROW every figure is taken (hours); with it, those whose name begins so: place,
place.append_worst, place.append_worst.ext4.direct, cost, log.aged_uniform.ext4, ... Families are
place, cost, log, aged, ssd, defrag, pick, reach. Prints measured, paper and target side by side
and writes bench.json, place.png and log.png."""


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/bench",
        description="Take the project's figures in virtual time (docs/benchmarks.md).",
        epilog=USAGE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("selectors", nargs="*", metavar="ROW", help="which figures")
    parser.add_argument(
        "--scale",
        type=int,
        action="append",
        choices=SCALES,
        help="only this time scale of place (may be repeated)",
    )
    parser.add_argument(
        "--boots",
        type=int,
        default=1,
        help="boot each setup so many times and show how figures differ",
    )
    parser.add_argument("--kernel", default="6.12", help="a series of the lab (default 6.12)")
    parser.add_argument(
        "--sizes",
        choices=SIZES,
        default="usual",
        help="of SQLite and fileserver; 'paper' takes 16 GB of memory and hours",
    )
    parser.add_argument(
        "--dies", action="store_true", help="log on which dies each file lies (out/bench.log)"
    )
    parser.add_argument(
        "--smoke", action="store_true", help="compare the quick rows with those on record"
    )
    parser.add_argument("--record", action="store_true", help="keep the figures in bench/results")
    parser.add_argument(
        "--out", type=pathlib.Path, default=guest.TOP / "out", help="instead of out"
    )
    # Of scripts/demo and scripts/lib/bench.sh
    parser.add_argument("--demo", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--programs", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def show_progress(line: Line) -> None:
    if "doing" in line:
        say("  " + line["doing"].replace("_", " "))


def options_of(arguments: argparse.Namespace, scales: tuple[int, ...]) -> Options:
    return Options(
        arguments.kernel,
        arguments.programs,
        arguments.out / "bench.log",
        SIZES[arguments.sizes],
        scales,
        arguments.dies,
    )


def run_boot(boot: Boot, options: Options, title: str) -> guest.Outcome:
    begin = time.monotonic()
    say(title)
    outcome = guest.run(boot, options, show_progress)
    why = f"; {outcome.reason}" if outcome.reason else ""
    say(f"  took {time.monotonic() - begin:.0f} s{why}")
    return outcome


def run_rows(
    arguments: argparse.Namespace, selectors: list[str], scales: tuple[int, ...]
) -> tuple[str, str, list[report.Row], bool]:
    """Measure what is selected; kernel, profile, rows, and whether each run came to its end."""
    options = options_of(arguments, scales)
    options.log.unlink(missing_ok=True)
    kernel, profile = arguments.kernel, "none"
    results: list[report.Row] = []
    is_whole = True
    planned = plan(selectors, options)
    for number, (module, boot) in enumerate(planned, 1):
        boots = []
        for nr in range(arguments.boots if boot.machine else 1):
            again = f", boot {nr + 1} of {arguments.boots}" if arguments.boots > 1 else ""
            title = f"[{number}/{len(planned)}] {boot.title}{again}"
            outcome = run_boot(boot, options, title)
            kernel = outcome.about("kernel") or kernel
            profile = outcome.about("profile") or profile
            # What is looked at behind the last row, as that the log still takes writes
            is_whole = is_whole and not outcome.reason
            boots.append(report.results_of(module, boot, outcome))
        results += report.merge_boots(boots)
        if not arguments.demo and not arguments.smoke:
            report.write_json(arguments.out / "bench.json", kernel, profile, results)
    return kernel, profile, results, is_whole


def draw(path: pathlib.Path, results: list[report.Row], heading: str, columns: int) -> None:
    """The picture is an extra: without matplotlib the figures still stand."""
    try:
        import picture
        import timeline
    except ImportError as error:
        say(f"There is no picture: {error}.")
        return
    if picture.draw(path, results, heading, columns):
        say(f"picture: {path}")
    over_time = path.with_name("log.png")
    if timeline.draw(over_time, results):
        say(f"picture: {over_time}")


def demo_table(results: list[report.Row]) -> list[str]:
    values = {row["id"].split(".")[-1] + row["id"].split(".")[1]: row["value"] for row in results}
    lines = [f"{'workload':<18}{'contiguous':>12}{'without hints':>24}{'with hints':>24}"]
    for workload in place.HYPOTHETICAL:
        speed = values.get("contiguous" + workload)
        cells = []
        for layout in ("plain", "hinted"):
            percent = values.get(layout + workload)
            cells.append(
                "not measured"
                if percent is None or speed is None
                else f"{percent:.1f} %  ({speed * percent / 100:.0f} MB/s)"
            )
        full = "not measured" if speed is None else f"{speed:.0f} MB/s"
        lines.append(f"{workload.replace('_', ' '):<18}{full:>12}{cells[0]:>24}{cells[1]:>24}")
    return lines


def run_smoke(arguments: argparse.Namespace) -> int:
    """Are the quick rows as they are on record? One closing line for scripts/check."""
    wanted = smoke.load_list()
    _, _, results, is_whole = run_rows(arguments, list(wanted["rows"]), (wanted["scale"],))
    found = smoke.verdicts(results, records.load())
    for number, (is_good, sentence) in enumerate(found, 1):
        print(f"{'ok' if is_good else 'not ok'} {number} - {sentence}")
    passed = sum(is_good for is_good, _ in found)
    print(f"{passed} passed, {len(found) - passed} failed", flush=True)
    return 0 if passed == len(found) and is_whole else 1


def failed(results: list[report.Row], expected: Iterable[str] = ()) -> bool:
    """Has a row no value that should have one?"""
    return any(row["value"] is None and row["id"] not in expected for row in results)


def run_demo(arguments: argparse.Namespace) -> int:
    kernel, profile, results, is_whole = run_rows(arguments, DEMO_ROWS, (16,))
    report.write_json(arguments.out / "demo.json", kernel, profile, results)
    print(
        f"\nReading an 8 MB file back, ext4, O_DIRECT, kernel {kernel}, virtual SSD '{profile}'\n"
    )
    print("\n".join(demo_table(results)), "\n", flush=True)
    draw(arguments.out / "demo.png", results, HEADING, 1)
    say(f"figures: {arguments.out / 'demo.json'}")
    for reason in sorted({row["reason"] for row in results if row["value"] is None}):
        say(f"The demo is not complete: {reason}")
    return 1 if failed(results) or not is_whole else 0


def run_bench(arguments: argparse.Namespace) -> int:
    scales = tuple(arguments.scale or SCALES)
    nothing = unmeasured(arguments.selectors)
    if not plan(arguments.selectors, options_of(arguments, scales)) and not nothing:
        say(
            f"No row is named by {' '.join(arguments.selectors)}: "
            "see docs/benchmarks.md for the names."
        )
        return 2
    kernel, profile, results, is_whole = run_rows(arguments, arguments.selectors, scales)
    results += [report.missing(name, 1, reason) for name, reason in nothing.items()]
    report.write_json(arguments.out / "bench.json", kernel, profile, results)
    if arguments.record:
        for row in records.keep(results):
            say(f"{row['id']} stays on record as it was: {row['reason']}")
    print("\n".join(report.table(results)), flush=True)
    draw(arguments.out / "place.png", results, HEADING, 2)
    say(f"figures: {arguments.out / 'bench.json'}")
    return 1 if failed(results, nothing) or not is_whole else 0


def main() -> int:
    arguments = parse_arguments()
    # As for Ctrl-C: an exception, so that the virtual machine is stopped.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    if arguments.demo:
        return run_demo(arguments)
    return run_smoke(arguments) if arguments.smoke else run_bench(arguments)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
