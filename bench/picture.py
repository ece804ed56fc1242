# SPDX-License-Identifier: GPL-2.0-only
"""Bars: how fast files read without and with hints, against contiguous ones.

Needs Debian's python3-matplotlib, and therefore Debian's own python3.
"""

from __future__ import annotations

import pathlib
from typing import Any

from families import place
from family import SCALES
from matplotlib import pyplot
from matplotlib.axes import Axes

Row = dict[str, Any]

INK = "#222831"
MUTED = "#6b7480"
GRID = "#dfe3e8"
SERIES = (
    ("plain", "without hints", "#d9a441"),
    ("hinted", "with hints", "#1f7a6d"),
)
NAMES = {
    "append_worst": "append\nworst",
    "append_random": "append\nrandom",
    "overwrite_worst": "overwrite\nworst",
    "overwrite_random": "overwrite\nrandom",
    "sqlite": "SQLite",
    "fileserver": "fileserver",
    "fileserver_small": "fileserver\nsmall",
}
BAR_WIDTH = 0.38
HEADER_INCHES = 0.75
# A panel with few workloads does not get wide bars.
MIN_SLOTS = 4
# Height of a figure above its bar.
LABEL_PERCENT = 7

Panel = tuple[str, list[str], dict[tuple[str, str], float], dict[tuple[str, str], float]]


def _values(
    results: list[Row], case: tuple[str, str, str, int], key: str = "value"
) -> dict[tuple[str, str], float]:
    """(workload, layout) -> percent; SQLite, which has one mode, goes with both."""
    filesystem, mode, profile, scale = case
    found = {}
    for row in results:
        parts = row["id"].split(".")
        if parts[0] != "place" or row["scale"] != scale or row.get(key) is None:
            continue
        _, workload, its_filesystem, its_mode, its_profile, layout = parts
        if its_profile != profile:
            continue
        if its_filesystem == filesystem and (its_mode == mode or workload == "sqlite"):
            found[(workload, layout)] = row[key]
    return found


def _style(axes: Axes) -> None:
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(MUTED)
    axes.tick_params(axis="both", length=0, colors=INK, labelsize=10)
    axes.yaxis.grid(True, color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_ylim(0, 115)
    axes.set_yticks([0, 25, 50, 75, 100])
    axes.axhline(100, color=MUTED, linewidth=1, linestyle=(0, (4, 3)), zorder=1)


def _bar(
    axes: Axes, left: float, value: float, reported: float | None, color: str, label: str | None
) -> None:
    """One bar with its figure, and the paper's as a line across it."""
    axes.bar(left, value, BAR_WIDTH, color=color, zorder=2, label=label)
    top = value
    if reported is not None:
        axes.hlines(
            reported, left - BAR_WIDTH / 2, left + BAR_WIDTH / 2, color=INK, linewidth=1.6, zorder=3
        )
        # The figure must not sit on the line.
        if value <= reported < value + LABEL_PERCENT:
            top = reported
    axes.annotate(
        f"{value:.1f}",
        (left, top),
        (0, 3),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize=9.5,
        color=INK,
        zorder=4,
    )


def _bars(axes: Axes, panel: Panel) -> None:
    title, workloads, values, paper = panel
    for series, (layout, label, color) in enumerate(SERIES):
        shown: str | None = label
        for index, workload in enumerate(workloads):
            value = values.get((workload, layout))
            if value is None:
                continue
            left = index + (series - 0.5) * (BAR_WIDTH + 0.03)
            _bar(axes, left, value, paper.get((workload, layout)), color, shown)
            shown = None
    axes.set_xticks(range(len(workloads)))
    axes.set_xticklabels([NAMES[workload] for workload in workloads])
    axes.set_xlim(-0.6, max(len(workloads), MIN_SLOTS) - 0.4)
    axes.set_title(title, loc="left", fontsize=11, color=INK, pad=10)
    _style(axes)


def _panel(results: list[Row], case: tuple[str, str, str, int]) -> Panel | None:
    filesystem, mode, profile, scale = case
    values = _values(results, case)
    workloads = [
        workload
        for workload in place.HYPOTHETICAL + place.APPLICATIONS
        if any((workload, layout) in values for layout, _, _ in SERIES)
    ]
    if not workloads:
        return None
    how = "O_DIRECT" if mode == "direct" else "through the page cache"
    title = f"{filesystem}, {how}, {profile}, time scale {scale}"
    return title, workloads, values, _values(results, case, "paper")


def _header(figure: Any, axes: Axes, heading: str, any_paper: bool) -> None:
    """Heading and legend, one below the other at the left edge."""
    handles, labels = axes.get_legend_handles_labels()
    if any_paper:
        handles.append(pyplot.Line2D([], [], color=INK, linewidth=1.6))
        labels.append("in the FAST'24 paper")
    height = figure.get_figheight()
    figure.text(
        0.16 / figure.get_figwidth(),
        1 - 0.14 / height,
        heading,
        ha="left",
        va="top",
        fontsize=14,
        color=INK,
        fontweight="bold",
    )
    figure.legend(
        handles,
        labels,
        loc="upper left",
        ncol=len(labels),
        frameon=False,
        fontsize=10,
        bbox_to_anchor=(0.06 / figure.get_figwidth(), 1 - 0.4 / height),
        handlelength=1.3,
        columnspacing=1.6,
        labelcolor=INK,
    )


def draw(path: pathlib.Path, results: list[Row], heading: str, columns: int = 2) -> bool:
    """Draw a panel for each filesystem, mode and scale that has rows; False if none."""
    panels = [
        panel
        for profile in place.PROFILES
        for filesystem in place.FILESYSTEMS
        for mode in ("direct", "buffered")
        for scale in SCALES
        for panel in [_panel(results, (filesystem, mode, profile, scale))]
        if panel
    ]
    if not panels:
        return False
    columns = min(columns, len(panels))
    lines = -(-len(panels) // columns)
    height = 3.3 * lines + HEADER_INCHES
    figure, grid = pyplot.subplots(
        lines, columns, squeeze=False, facecolor="white", figsize=(max(7.6, 6.6 * columns), height)
    )
    flat = [axes for line in grid for axes in line]
    for axes, panel in zip(flat, panels):
        _bars(axes, panel)
    for axes in flat[len(panels) :]:
        axes.set_visible(False)
    for line in grid:
        line[0].set_ylabel("read speed, % of the contiguous file", color=INK, fontsize=10)
    figure.tight_layout(rect=(0, 0, 1, 1 - HEADER_INCHES / height), h_pad=1.8, w_pad=2.4)
    _header(figure, flat[0], heading, any(panel[3] for panel in panels))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=144)
    pyplot.close(figure)
    return True
