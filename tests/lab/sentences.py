# SPDX-License-Identifier: GPL-2.0-only
"""What the Python programs of this folder say: one line for each checked sentence, as rc's
functions do. A test runs them with rc's run_sentences."""

from typing import Callable

FAILED = 0


class Late(Exception):
    """Something did not happen in time: the program cannot go on."""


def say(sentence: str, good: bool, *notes: object) -> None:
    """Print a sentence, and the notes where it is wrong."""
    global FAILED
    print(("ok - " if good else "not ok - ") + sentence, flush=True)
    if not good:
        FAILED += 1
        for note in notes:
            print(f"# {note}", flush=True)


def known(name: str, sentence: str, good: bool, *notes: object) -> None:
    """Say what is known to fail because of a defect; its name stands in docs/testing.md."""
    if good:
        say(f"{sentence}: passes although it is marked as known to fail ({name}): take the mark off", False)
        return
    print(f"not ok - {sentence} # TODO {name}", flush=True)
    for note in notes:
        print(f"# {note}", flush=True)


def run(steps: Callable[[], None]) -> int:
    """Do the steps; return the status for the shell. Who is late has failed."""
    try:
        steps()
    except Late as late:
        say(str(late), False)
    return 1 if FAILED else 0
