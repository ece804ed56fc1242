# SPDX-License-Identifier: GPL-2.0-only
"""The families of figures, by name, in the order in which they are measured."""

from __future__ import annotations

from types import ModuleType

from family import About, Boot, Options

from families import aged, cost, defrag, log, pick, place, reach, ssd

FAMILIES: tuple[ModuleType, ...] = (place, cost, log, aged, ssd, defrag, pick, reach)


def every_row() -> dict[str, tuple[ModuleType, About]]:
    """All rows of all families, by id."""
    return {name: (module, about) for module in FAMILIES for name, about in module.rows().items()}


def is_selected(row: str, selectors: list[str]) -> bool:
    """Is this row named by one of the selectors, or below one of them?"""
    return not selectors or any(
        row == selector or row.startswith(selector + ".") for selector in selectors
    )


def plan(selectors: list[str], options: Options) -> list[tuple[ModuleType, Boot]]:
    """The runs that give the rows selected; no selector means all rows."""
    boots = []
    for module in FAMILIES:
        names = [
            name
            for name, about in module.rows().items()
            if is_selected(name, selectors) and not about.unmeasured
        ]
        boots += [(module, boot) for boot in module.boots(names, options)]
    return boots


def unmeasured(selectors: list[str]) -> dict[str, str]:
    """Of the rows selected those that nothing measures yet, and why."""
    return {
        name: about.unmeasured
        for name, (_, about) in every_row().items()
        if about.unmeasured and is_selected(name, selectors)
    }
