# SPDX-License-Identifier: GPL-2.0-only
"""Lines: how fast random writes are over time, before and while log mode is cleaned, and how
much cleaning moves (access21, figure 9).

Needs Debian's python3-matplotlib, and therefore Debian's own python3.
"""

from __future__ import annotations

import pathlib
from typing import Any

from matplotlib import pyplot
from matplotlib.axes import Axes
from picture import GRID, INK, MUTED, SERIES

Row = dict[str, Any]

HEADING = "Random writes in log mode over time"
WRITTEN, MOVED = SERIES[1][2], SERIES[0][2]


def _line(axes: Axes, row: Row) -> None:
    times = [point[0] for point in row["series"]]
    axes.plot(times, [point[1] for point in row["series"]], color=WRITTEN, label="written")
    axes.fill_between(
        times, [point[2] for point in row["series"]], color=MOVED, alpha=0.7, label="moved"
    )
    axes.set_title(row["id"].rpartition(".")[2], loc="left", fontsize=11, color=INK)
    axes.set_ylim(bottom=0)
    axes.set_xlim(0, max(times))
    axes.yaxis.grid(True, color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(axis="both", length=0, colors=INK, labelsize=10)
    axes.set_xlabel("s of the drive's time", color=MUTED, fontsize=10)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def draw(path: pathlib.Path, results: list[Row]) -> bool:
    """A panel for each filesystem whose throughput was taken over time; False if none was."""
    shown = [row for row in results if row.get("series")]
    if not shown:
        return False
    columns = min(2, len(shown))
    lines = -(-len(shown) // columns)
    figure, grid = pyplot.subplots(
        lines, columns, squeeze=False, facecolor="white", figsize=(6.6 * columns, 3.3 * lines + 0.6)
    )
    flat = [axes for line in grid for axes in line]
    for axes, row in zip(flat, shown):
        _line(axes, row)
    for axes in flat[len(shown) :]:
        axes.set_visible(False)
    for line in grid:
        line[0].set_ylabel("MB/s", color=INK, fontsize=10)
    flat[0].legend(frameon=False, fontsize=10, labelcolor=INK)
    figure.suptitle(HEADING, x=0.02, ha="left", fontsize=14, color=INK, fontweight="bold")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=144)
    pyplot.close(figure)
    return True
