"""A class on a projector: a line per version, a dot per student at the share of the own limit.

16:9, letters that the last row can read. Without names of students, which the table has.
"""

from __future__ import annotations

import random
import statistics
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import plots, tables
from .class_table import ClassTable, Place
from .results import ResultError

WIDTH, HEIGHT = 13.333, 7.5   # inches
LETTERS = 16                  # points; 1/34 of the height of the picture, lines included
DOT = 11                      # points
TOP = 110.0                   # % where the axis ends; larger values are written at its edge
GROUPS = 6                    # GPUs with a style of their own
LAYERS = 16                   # in which groups alternate, so that none covers another
LONGEST = 34                  # letters of a version's name
Group = Tuple[str, List[Place]]


def short(heading: str, count: int) -> str:
    """A GPU in a legend: 'H200, 140 GiB, SM at 1980 MHz (6)'."""
    parts = [part for part in heading.replace("NVIDIA ", "").replace("GeForce ", "").split(", ")
             if not part.endswith("GB/s")]
    return f"{label(', '.join(parts), 50)} ({count})"


def label(text: str, most: int) -> str:
    """A name cut to the room in the picture, and no formula."""
    return tables.cut(text, most).replace("$", "\\$")


def versions_of(groups: Sequence[Group]) -> List[str]:
    names = [row.version for _, group in groups for place in group for row in place.rows
             if row.of_limit and not row.words]
    return sorted(set(names))


def shares(place: Place, version: str) -> Optional[float]:
    """The share in %, at the largest size at which the version was measured."""
    rows = [row for row in place.rows if row.version == version and row.of_limit
            and not row.words]
    return 100 * max(rows, key=lambda row: row.bytes or 0).of_limit if rows else None


def swarm(values: Sequence[float], width: float, levels: int) -> List[float]:
    """Heights in -1 .. 1 for dots at `values`, so that dots closer than `width` do not cover each
    other; with more of them than `levels` in one place they lie closer together."""
    order = sorted(range(len(values)), key=lambda k: values[k])
    heights = [0.0] * len(values)
    start = 0
    while start < len(order):
        stop = start + 1
        while stop < len(order) and values[order[stop]] - values[order[start]] < width:
            stop += 1
        count = stop - start
        places = list(range(count))
        random.Random(start).shuffle(places)  # in ascending order they would look like a trend
        step = min(2.0 / max(levels - 1, 1), 2.0 / max(count - 1, 1))
        for k in range(start, stop):
            heights[order[k]] = step * (places[k - start] - (count - 1) / 2)
        start = stop
    return heights


def legend_groups(groups: Sequence[Group]) -> List[Group]:
    """At most GROUPS of them, the largest; the others form one."""
    ordered = sorted(groups, key=lambda group: -len(group[1]))
    if len(ordered) <= GROUPS:
        return list(ordered)
    rest = [place for _, group in ordered[GROUPS - 1:] for place in group]
    return ordered[:GROUPS - 1] + [(f"{len(ordered) - GROUPS + 1} other GPUs", rest)]


def picture(title: str, groups: Sequence[Group]) -> Any:
    """The figure of one chapter."""
    versions = versions_of(groups)
    if not versions:
        raise ResultError(f"{title}: nothing to draw: no version has a share of a limit")
    pyplot = plots.plain_pyplot()
    pyplot.rcParams["font.size"] = LETTERS
    figure, axes = pyplot.subplots(figsize=(WIDTH, HEIGHT))
    known = legend_groups(groups)
    legend_rows = (len(known) + 1) // 2
    bottom = (0.95 + 0.36 * legend_rows) / HEIGHT
    labels = [label(version, LONGEST) for version in versions]
    left = (0.35 + 0.135 * max(map(len, labels))) / WIDTH
    figure.subplots_adjust(left=left, right=1 - 1.25 / WIDTH, top=1 - 1.1 / HEIGHT, bottom=bottom)
    row_points = 72 * HEIGHT * (1 - 1.1 / HEIGHT - bottom) / len(versions)
    dot = min(DOT, 0.4 * row_points)
    levels = max(1, int(0.85 * row_points / dot))
    count = draw_dots(axes, versions, known, dot, levels)
    axes.set(ylim=(len(versions) - 0.4, -0.6), yticks=range(len(versions)))
    axes.set_yticklabels(labels, fontsize=min(LETTERS, 0.75 * row_points))
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("% of what the own machine can do")
    axes.grid(axis="x", color="#cccccc", linewidth=1)
    for y in range(len(versions) - 1):
        axes.axhline(y + 0.5, color="#eeeeee", linewidth=1, zorder=0)
    students = f"{count} student{'' if count == 1 else 's'}"
    figure.text(0.35 / WIDTH, 1 - 0.55 / HEIGHT, f"{label(title, 60)}: {students}", fontsize=24,
                weight="bold")
    axes.annotate("median", (1.015, 1), (0, 6), xycoords="axes fraction",
                  textcoords="offset points", fontsize=LETTERS - 2, color=plots.GREY)
    figure.legend(loc="lower left", bbox_to_anchor=(0.2 / WIDTH, 0.0), ncol=2, frameon=False,
                  fontsize=LETTERS - 2, handletextpad=0.2, columnspacing=1.5)
    return figure


def draw_dots(axes: Any, versions: Sequence[str], groups: Sequence[Group], dot: float,
              levels: int) -> int:
    """All students on all lines; the number of students. The line ends at the median."""
    everybody = [(place, index) for index, (_, group) in enumerate(groups) for place in group]
    table = {version: [(shares(place, version), index) for place, index in everybody]
             for version in versions}
    top = max(value for line in table.values() for value, _ in line if value is not None)
    axes.set_xlim(-1, min(TOP, max(102.0, 1.03 * top)))
    width = dot / 72 / (WIDTH * axes.get_position().width) * axes.get_xlim()[1]
    found: Dict[int, Tuple[List[float], List[float]]] = {}
    for y, version in enumerate(versions):
        line = [(value, index) for value, index in table[version] if value is not None]
        heights = swarm([value for value, _ in line], width, levels)
        middle = statistics.median(value for value, _ in line)
        axes.plot([0, middle], [y, y], color="#999999", linewidth=2, zorder=1)
        axes.plot([middle, middle], [y - 0.42, y + 0.42], color=plots.BLACK, linewidth=2.5,
                  zorder=4)
        axes.annotate(f"{middle:.0f} %" if middle >= 1 else "<1 %", (1.015, y),
                      xycoords=("axes fraction", "data"), va="center", annotation_clip=False,
                      fontsize=min(LETTERS, 0.75 * dot / 0.4))
        for (value, index), height in zip(line, heights):
            xs, ys = found.setdefault(index, ([], []))
            xs.append(min(value, TOP - width / 2))
            ys.append(y + 0.4 * height)
        far = [value for value, _ in line if value > TOP]
        if far:
            axes.annotate(", ".join(f"{value:.0f} %" for value in sorted(far)[:3]), (TOP, y),
                          (-dot - 2, 0), textcoords="offset points", ha="right", va="center",
                          fontsize=min(LETTERS - 2, 1.5 * dot), style="italic")
    mixed = random.Random(0)
    for index, (heading, group) in enumerate(groups):
        dots = list(zip(*found.get(index, ([], []))))
        mixed.shuffle(dots)
        for layer in range(LAYERS):
            some = dots[layer::LAYERS]
            axes.plot([x for x, _ in some], [y for _, y in some], linestyle="none",
                      marker=plots.MARKERS[index % 7], markersize=dot,
                      color=plots.COLOURS[index % 5], markeredgecolor="white", markeredgewidth=0.8,
                      alpha=0.85, zorder=3 + layer / LAYERS,
                      label=short(heading, len(group)) if layer == 0 else None)
    return len(everybody)


def draw(table: ClassTable, path: Path, kind: str) -> List[Path]:
    """Draws each timed chapter: to `path`, or, if there are several, to one file each with the
    chapter's name after the stem."""
    sections = list(table.sections_with_times())
    if not sections:
        raise ResultError("nothing to draw: no file has a time")
    written = []
    for title, groups in sections:
        if not versions_of(groups) and len(sections) > 1:
            continue  # no limit; the other chapters are drawn
        figure = picture(title, groups)
        name = f"{path.stem}-{title.split(',')[0]}{path.suffix}" if len(sections) > 1 else path.name
        target = path.with_name(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
        figure.savefig(target, format=kind, dpi=100, metadata=metadata)
        plots.plain_pyplot().close(figure)
        written.append(target)
    return written
