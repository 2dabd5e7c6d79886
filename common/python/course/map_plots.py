"""Maps: ours over the library's, for a study of one version and one library at a grid of sizes; and
the share of the limit that one version reaches at a grid of three dimensions.
"""
from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

from . import tables
from .figures import plain_pyplot, put_title
from .results import ResultFile, Row, Study

DEEP = 0.5  # the colours end at half and at one and a half of the library's rate


def grid_of(rows: Sequence[Row]) -> Optional[Tuple[str, str]]:
    """The two dimensions of a map, down and across; None unless every size of a grid of at least
    3 x 3 has one version and one library, measured."""
    if not rows or len({(row.version, row.role) for row in rows}) != 2 or any(
            row.words for row in rows):
        return None
    if sorted({row.role for row in rows}) != ["peer", "version"]:
        return None
    sides = {name: {row.size[name] for row in rows} for name in rows[0].size}
    varying = [name for name, values in sides.items() if len(values) > 1]
    if len(varying) != 2 or min(len(sides[name]) for name in varying) < 3:
        return None
    down, across = varying
    cells = {(row.role, row.size[down], row.size[across]) for row in rows}
    whole = len(cells) == len(rows) == 2 * len(sides[down]) * len(sides[across])
    return (down, across) if whole else None


def panels_of(rows: Sequence[Row]) -> Optional[Tuple[str, str, str]]:
    """The dimensions of a map of shares, down, across and from panel to panel; None unless every
    size of a grid of at least 3 x 3 x 2 has one version, measured, with a limit."""
    if not rows or len({row.version for row in rows}) != 1 or any(
            row.words or row.of_limit is None for row in rows):
        return None
    sides = {name: {row.size[name] for row in rows} for name in rows[0].size}
    varying = [name for name, values in sides.items() if len(values) > 1]
    if len(varying) != 3 or min(len(sides[name]) for name in varying[:2]) < 3:
        return None
    cells = {tuple(row.size[name] for name in varying) for row in rows}
    count = 1
    for name in varying:
        count *= len(sides[name])
    down, across, panel = varying
    return (down, across, panel) if len(cells) == len(rows) == count else None


def share_map(result: ResultFile, study: Study) -> Any:
    """A panel per value of the third dimension, a cell per size: the share of the limit in %."""
    rows = result.rows_of(study.name)
    names = panels_of(rows)
    assert names is not None
    tall, wide, panels = (sorted({row.size[name] for row in rows}) for name in names)
    share = {tuple(row.size[name] for name in names): 100 * (row.of_limit or 0.0) for row in rows}
    figure, all_axes = plain_pyplot().subplots(
        1, len(panels), squeeze=False, sharey=True,
        figsize=(0.6 + (0.4 + 0.62 * len(wide)) * len(panels), 1.3 + 0.42 * len(tall)))
    for axes, panel in zip(all_axes[0], panels):
        cells = [[share[y, x, panel] for x in wide] for y in tall]
        axes.imshow(cells, cmap="Blues", vmin=0, vmax=100, aspect="auto")
        for y, line in enumerate(cells):
            for x, value in enumerate(line):
                axes.annotate(f"{value:.0f}", (x, y), ha="center", va="center", fontsize=9,
                              color="white" if value > 60 else "black")
        axes.xaxis.set_ticks(range(len(wide)))
        axes.xaxis.set_ticklabels([f"{value}" for value in wide])
        axes.xaxis.set_label_text(f"{names[1]}\n{names[2]} = {panel}")
        axes.tick_params(length=0)
    all_axes[0][0].yaxis.set_ticks(range(len(tall)))
    all_axes[0][0].yaxis.set_ticklabels([f"{value}" for value in tall])
    all_axes[0][0].yaxis.set_label_text(names[0])
    fixed = {name: value for name, value in rows[0].size.items() if name not in names}
    put_title(all_axes[0][0], f"{study.title}: % of the limit",
              "; ".join(filter(None, [result.provenance(), tables.size_text(fixed)])))
    return figure


def ratio_map(result: ResultFile, study: Study) -> Any:
    """A cell per size, with its number: blue where ours is faster, red where the library is."""
    rows = result.rows_of(study.name)
    names = grid_of(rows)
    assert names is not None
    down, across = names
    tall, wide = (sorted({row.size[name] for row in rows}) for name in names)
    rate = {(row.role, row.size[down], row.size[across]): row.rate or 0.0 for row in rows}
    cells: List[List[float]] = [[rate["version", y, x] / rate["peer", y, x] for x in wide]
                                for y in tall]
    figure, axes = plain_pyplot().subplots(figsize=(1.6 + 0.72 * len(wide), 1.3 + 0.4 * len(tall)))
    axes.imshow(cells, cmap="RdBu", vmin=1 - DEEP, vmax=1 + DEEP, aspect="auto")
    for y, line in enumerate(cells):
        for x, value in enumerate(line):
            dark = abs(value - 1) > 0.7 * DEEP
            axes.annotate(f"{value:.2f}", (x, y), ha="center", va="center", fontsize=9,
                          color="white" if dark else "black")
    for axis, values, name in ((axes.xaxis, wide, across), (axes.yaxis, tall, down)):
        axis.set_ticks(range(len(values)))
        axis.set_ticklabels([f"{value}" for value in values])
        axis.set_label_text(name)
    axes.tick_params(length=0)
    ours, library = (next(row.version for row in rows if row.role == role)
                     for role in ("version", "peer"))
    fixed = {name: value for name, value in rows[0].size.items() if name not in names}
    put_title(axes, f"{ours} over {library}: {study.title}",
              "; ".join(filter(None, [result.provenance(), tables.size_text(fixed)])))
    return figure
