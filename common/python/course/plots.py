"""Plots of result files: bars of a study, the roofline path, files compared, and what limits each
version. Rates over a size are in `size_plots`, maps in `map_plots`, what all share in
`figures`.
"""
from __future__ import annotations

import argparse
import math
import textwrap
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import limiters, map_plots, results, size_plots, tables
from .figures import (BLACK, BLUE, COLOURS, GREEN, GREY, MARKERS, PURPLE, ROLE_STYLE, STYLES,
                      VERMILLION, Label, legend_below, log_axis, margin_labels, memory_roofs,
                      plain_pyplot, provenance, put_title, save_figure)
from .results import ResultFile, Row, Study

HOW_TO = ("no plots: python has no matplotlib; to get them: pip install matplotlib, "
          "or apt install python3-matplotlib")


def formats(text: str) -> List[str]:
    """'svg,png' of a command line."""
    names = text.split(",")
    if not set(names) <= {"svg", "png"}:
        raise argparse.ArgumentTypeError(f"'{text}' is not svg, png or svg,png")
    return names


# Bars

def bars(result: ResultFile, study: Study) -> Any:
    """Horizontal bars from zero in the order of the file, the rates in a column next to them."""
    rows = result.rows_of(study.name)
    unit = next((row.unit for row in rows if not row.words), "")
    figure, axes = plain_pyplot().subplots(figsize=(6.0, 0.7 + 0.28 * len(rows)))
    limits = list(dict.fromkeys(row.limit for row in rows if row.limit and row.limit.unit == unit))
    drawn = {y: row for y, row in enumerate(rows) if not row.words and row.unit == unit}
    tops = [row.rate_range[1] for row in drawn.values()] + [limit.value for limit in limits]
    axes.set_xlim(0, 1.03 * max(tops, default=1))
    axes.set_ylim(len(rows) - 0.4, -0.6)
    width = max((len(tables.digits(row.rate)) for row in drawn.values()), default=0)
    for y, row in enumerate(rows):
        if y not in drawn:
            axes.annotate(row.words or tables.cell(result, row, "rate"), (0, y), (4, 0),
                          textcoords="offset points", va="center", style="italic", color=VERMILLION)
            continue
        axes.barh(y, row.rate, height=0.66, linewidth=1, **ROLE_STYLE[row.role])
        low, high = row.rate_range
        axes.errorbar(row.rate, y, xerr=[[max(0, row.rate - low)], [max(0, high - row.rate)]],
                      ecolor=VERMILLION, elinewidth=1.4, capsize=2.5)
        share = "" if row.of_limit is None else f"{tables.percent_text(row):>9}"
        axes.annotate(f"{tables.digits(row.rate):>{width}} {unit}{share}", (1.02, y), va="center",
                      xycoords=("axes fraction", "data"), family="monospace", fontsize=8,
                      annotation_clip=False)
    _limit_lines(axes, rows, limits)
    axes.set_yticks(range(len(rows)))
    axes.set_yticklabels([row.version + tables.qualifier(row, rows)
                          + ("" if row.role == "version" else f" [{row.role}]") for row in rows])
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(f"rate in {unit}" if unit else "rate")
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    put_title(axes, study.title, provenance(result, rows))
    return figure


def _limit_lines(axes: Any, rows: Sequence[Row], limits: Sequence[results.Limit]) -> None:
    """One limit is a line through all bars, labelled above; several are drawn at their own bars."""
    for limit, style in zip(limits, STYLES[1:] + STYLES[1:]):
        for y, row in enumerate(rows):
            if row.limit == limit or len(limits) == 1:
                axes.vlines(limit.value, y - 0.5, y + 0.5, color=BLACK, linestyle=style)
        text = f"{limit.name}: {tables.digits(limit.value)} {limit.unit}"
        axes.plot([], [], color=BLACK, linestyle=style,
                  label=f"limit: {text}{tables.limit_rows(rows, limit)}")
        if len(limits) == 1:
            axes.annotate(text, (limit.value, 1), (0, 4), xycoords=("data", "axes fraction"),
                          textcoords="offset points", fontsize=8,
                          ha="right" if limit.value > 0.5 * axes.get_xlim()[1] else "left")
    if len(limits) > 1:
        legend_below(axes)


# Roofline

def roofline_rows(result: ResultFile, study: Study) -> List[Row]:
    """The rows with flops and bytes in the order of the file: all of a sweep that changes the flops
    per byte. Of another sweep those at its end, and of several sizes at which all versions ran,
    those of the first."""
    rows = [row for row in result.rows_of(study.name) if row.flops and row.bytes and not row.words]
    axis = result.axis(study)
    if axis and _intensities(rows) > 1:
        return rows
    if axis and rows:
        last = max(row.size[axis] for row in rows)
        rows = [row for row in rows if row.size[axis] == last]
    versions = {row.version for row in rows}
    for case in dict.fromkeys(row.case for row in rows):
        if {row.version for row in rows if row.case == case} == versions:
            return [row for row in rows if row.case == case]
    return rows


def _intensities(rows: Sequence[Row]) -> int:
    """How many different flops per byte the rows have."""
    return len({round(row.flops / row.bytes, 6) for row in rows if row.flops and row.bytes})


def _flat_roofs(rows: Sequence[Row], slopes: Sequence[float]) -> List[Tuple[str, float]]:
    """Name and Gflop/s of each limit that is no rate of memory. `slopes`: the rates of memory."""
    giga = {"GFLOP/s": 1.0, "TFLOP/s": 1000.0}
    flat: Dict[Tuple[str, str], float] = {}  # by what is written beside it
    for row in rows:
        if not (row.limit and row.rate and row.median_s and row.flops and row.bytes):
            continue
        if row.limit.unit in giga:
            gflops = row.limit.value * giga[row.limit.unit]
        elif row.limit.unit == row.unit:
            seconds = row.median_s * row.rate / row.limit.value  # at the limit
            if row.bytes / seconds / 1e9 >= 0.97 * min(slopes, default=0):
                continue
            gflops = row.flops / seconds / 1e9
        else:
            continue
        flat.setdefault((row.limit.name, tables.digits(gflops)), gflops)
    return [(name, gflops) for (name, _), gflops in flat.items()]


def roofline(result: ResultFile, study: Study) -> Any:
    """Flop rate over flops per byte: the versions joined in their order, or, if the sizes have
    different flops per byte, the sizes of each version."""
    rows = roofline_rows(result, study)
    axis = result.axis(study) if _intensities(rows) > 1 else None
    count = len({row.version for row in rows}) if axis else len(rows)  # of labels
    points = [(row.flops / row.bytes, row.flops / row.median_s / 1e9) for row in rows]
    unit, scale = ("TFLOP/s", 1000.0) if max(y for _, y in points) >= 1e4 else ("GFLOP/s", 1.0)
    points = [(x, y / scale) for x, y in points]
    slopes = {name: gbs / scale for name, gbs in memory_roofs(result).items()}
    flat = [(name, gflops / scale) for name, gflops
            in _flat_roofs(rows, list(memory_roofs(result).values()))]
    ceiling = max((value for _, value in flat), default=math.inf)
    knees = [ceiling / slope for slope in slopes.values()] if flat else []
    low, high = min([x for x, _ in points] + knees) / 4, max([x for x, _ in points] + knees) * 4
    figure, axes = plain_pyplot().subplots(figsize=(6.0, max(4.5, 0.2 * count + 1)))
    tops = [y for _, y in points] + [min(ceiling, high * slope) for slope in slopes.values()]
    log_axis(axes.xaxis, low, high, 2)
    log_axis(axes.yaxis, 0.6 * min(y for _, y in points), 1.6 * max(tops))
    for (name, slope), style in zip(slopes.items(), STYLES[1:]):
        knee = min(high, ceiling / slope)
        axes.plot([low, knee], [low * slope, knee * slope], color=GREY, linewidth=1,
                  linestyle=style, label=f"{name}: {tables.digits(slope * scale)} GB/s")
    for name, value in flat:
        axes.plot([min(knees, default=low), high], [value, value], color=BLACK, linewidth=1,
                  label=f"{name}: {tables.digits(value)} {unit}")
    paths: Dict[str, List[Tuple[float, float]]] = {}
    for point, row in zip(points, rows):
        if axis or row.role == "version":
            paths.setdefault(row.version if axis else "", []).append(point)
    for name, path in paths.items():
        role = next(row.role for row in rows if not axis or row.version == name)
        axes.plot([x for x, _ in path], [y for _, y in path], linewidth=1.2,
                  color=ROLE_STYLE[role]["edgecolor"] if axis else BLUE)
    labels: List[Label] = []
    for (x, y), row in zip(points, rows):
        if axis and (x, y) != paths[row.version][-1]:
            continue
        look = ROLE_STYLE[row.role]
        axes.plot(x, y, marker="o" if row.role == "version" else "s", markersize=5,
                  color=look["edgecolor"], markerfacecolor=look["facecolor"], linestyle="none")
        which = "" if axis else tables.qualifier(row, rows)
        labels.append((x, y, f"{row.version}{which}: {tables.digits(y, 3)} {unit}",
                       look["edgecolor"]))
    margin_labels(axes, labels)
    legend_below(axes)
    axes.set_xlabel("necessary work in flop per byte")
    if axis:
        _name_sizes(axes, study.axis_label or axis,
                    {x: row.size[axis] for (x, _), row in zip(points, rows)})
    axes.set_ylabel(f"rate in {unit}")
    axes.grid(color="#dddddd", linewidth=0.6)
    put_title(axes, f"{study.title}: roofline path", provenance(result, rows, axis))
    return figure


def _name_sizes(axes: Any, name: str, at: Dict[float, int]) -> None:
    """The sizes of a sweep above the plot, where they are on its axis."""
    for x, value in at.items():
        axes.axvline(x, color="#dddddd", linewidth=0.6, zorder=0)
        axes.annotate(str(value), (x, 1), (0, 3), xycoords=("data", "axes fraction"), ha="center",
                      textcoords="offset points", fontsize=8)
    axes.annotate(name, (1, 1), (4, 3), xycoords="axes fraction", textcoords="offset points",
                  fontsize=8, annotation_clip=False)


# What limits us now

# The groups of limiters.GROUPS: colour, hatching and place in the bar say which is which.
GROUP_STYLE = {"memory": dict(facecolor=BLUE, edgecolor="white"),
               "barrier": dict(facecolor=VERMILLION, edgecolor="white", hatch="\\\\\\\\"),
               "shared": dict(facecolor=GREEN, edgecolor="white", hatch="////"),
               "tensor": dict(facecolor=PURPLE, edgecolor="white", hatch="++++"),
               "instructions": dict(facecolor="#cccccc", edgecolor="white"),
               "other": dict(facecolor="white", edgecolor=GREY)}


def limiter_bars(measured: limiters.Record) -> Any:
    """One row per version: four figures and the parts of a warp's time, next to each other."""
    rows = measured.rows
    height = 0.27 * len(rows)
    figure, grid = plain_pyplot().subplots(1, 5, sharey=True, figsize=(10.5, height + 0.4),
                                      gridspec_kw={"width_ratios": (1, 1, 1, 1, 2.6),
                                                   "wspace": 0.13})
    _limiter_panel(grid[0], "DRAM", "% of peak", [row.get("dram_percent") for row in rows], 100)
    _limiter_panel(grid[1], "issue slots", "% busy", [row.get("issue_percent") for row in rows],
                   100)
    _limiter_panel(grid[2], "active lanes", "of 32",
                   [row.get("lanes_per_instruction") for row in rows], 32)
    _limiter_panel(grid[3], "shared memory", "wavefronts per request",
                   [row.wavefronts for row in rows], None)
    _stall_panel(grid[4], rows)
    for axes in grid:
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
    grid[0].set_yticks(range(len(rows)))
    grid[0].set_yticklabels([measured.label(row) for row in rows])
    chapter = measured.header.get("chapter", measured.path.stem)
    sizes = ", ".join(dict.fromkeys(row.size for row in rows))
    _heading(grid[0], f"{chapter}: what limits us now", f"{measured.provenance()}; {sizes}")
    below = "\n".join(textwrap.wrap(limiters.note(measured), 150))
    grid[0].annotate(below, (0, 0), (0, -34), xycoords="axes fraction", va="top", fontsize=8,
                     textcoords="offset points", color=GREY, annotation_clip=False)
    return figure


def _heading(axes: Any, title: str, below: str) -> None:
    """Title and provenance over several panels, from the left edge of the first one."""
    for text, up, look in ((title, 56, dict(fontsize=11, weight="bold")),
                           (below, 42, dict(fontsize=8, color=GREY))):
        axes.annotate(text, (0, 1), (0, up), xycoords="axes fraction", annotation_clip=False,
                      textcoords="offset points", **look)


def _limiter_panel(axes: Any, title: str, unit: str, values: Sequence[Optional[float]],
                   full: Optional[float]) -> None:
    """Bars from zero, their values in a column. The line is at `full`, where the hardware ends,
    or at 1 if it does not."""
    top = full or max([value for value in values if value is not None] + [1.0])
    axes.set_xlim(0, 1.4 * top)  # room for the column
    for y, value in enumerate(values):
        text = "-" if value is None else f"{value:.{1 if value < 10 else 0}f}"
        axes.barh(y, value or 0, height=0.66, color=BLUE)
        axes.annotate(text, (1, y), xycoords=("axes fraction", "data"), ha="right", va="center",
                      fontsize=8)
    axes.axvline(full or 1, color=GREY, linewidth=0.9, linestyle="--")
    axes.set_xticks([0, top / 2, top] if full else [0, math.floor(top)])
    axes.set_title(f"{title}\n{unit}", loc="left", fontsize=8.5)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)


def _stall_panel(axes: Any, rows: Sequence[limiters.Limiter]) -> None:
    """Where a warp's time goes: stacked shares, the large ones with their numbers."""
    for group, words in limiters.GROUP_WORDS.items():
        if group != "tensor" or any(row.shares.get(group) for row in rows):
            axes.barh(0, 0, label=words, **GROUP_STYLE[group])
    for y, row in enumerate(rows):
        left = 0.0
        for group, share in row.shares.items():
            axes.barh(y, 100 * share, left=left, height=0.66, linewidth=0.6, **GROUP_STYLE[group])
            if share >= 0.1:
                axes.annotate(f"{100 * share:.0f}", (left + 50 * share, y), ha="center",
                              va="center", fontsize=7.5,
                              bbox=dict(facecolor="white", edgecolor="none", pad=0.8))
            left += 100 * share
        if not row.shares:
            axes.annotate("-", (0, y), (4, 0), textcoords="offset points", va="center", color=GREY)
    axes.set_xlim(0, 100)
    axes.set_xticks([0, 50, 100])
    axes.set_title("a warp's time, % spent waiting for", loc="left", fontsize=8.5, pad=30)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncol=3, frameon=False, fontsize=7.5,
                borderaxespad=0.2, handlelength=1.3, columnspacing=1.2, handletextpad=0.5)


def draw_limiters(measured: limiters.Record, stem: Path, formats: Sequence[str]) -> List[Path]:
    """Draws a file of limiters to STEM.FORMAT and gives the paths."""
    figure = limiter_bars(measured)
    return [save_figure(figure, Path(f"{stem}.{name}"), name) for name in formats]


# Whole files

def draw(result: ResultFile, study: Study, stem: Path, formats: Sequence[str],
         as_roofline: bool = False) -> List[Path]:
    """Draws one study to STEM-STUDY.FORMAT and gives the paths."""
    axis = result.axis(study)
    if as_roofline:
        figure = roofline(result, study)
    elif axis:
        figure = size_plots.lines(result, study, axis)
    elif map_plots.grid_of(result.rows_of(study.name)):
        figure = map_plots.ratio_map(result, study)
    elif map_plots.panels_of(result.rows_of(study.name)):
        figure = map_plots.share_map(result, study)
    elif size_plots.many_sizes(result.rows_of(study.name)):
        figure = size_plots.grouped(result, study)
    else:
        figure = bars(result, study)
    base = f"{stem}-{study.name}" + ("-roofline" if as_roofline else "")
    return [save_figure(figure, Path(f"{base}.{name}"), name) for name in formats]


def draw_comparison(comparison: Any, svg: Optional[Path], png: Optional[Path]) -> List[Path]:
    """One row per line of the comparison, one marker per file: rates, or % of each file's limit."""
    groups: Dict[str, List[Any]] = {}
    for line in comparison.lines:
        if any(comparison.plot_value(line, k) is not None or row and row.words
               for k, row in enumerate(line.rows)):
            groups.setdefault(line.study, []).append(line)
    if not groups:
        raise results.ResultError("nothing to draw: no row of these files can be compared")
    heights = [len(group) + 2.5 for group in groups.values()]
    row_height = 0.16 + 0.06 * len(comparison.letters)
    figure, grid = plain_pyplot().subplots(len(groups), 1, squeeze=False, constrained_layout=True,
                                      gridspec_kw={"height_ratios": heights},
                                      figsize=(7.0, row_height * sum(heights)))
    for axes, (study, group) in zip(grid[:, 0], groups.items()):
        _compare_rows(axes, comparison, group)
        axes.set_xlabel(comparison.plot_unit(study))
        axes.set_title(f"{comparison.files[0].chapter}, {study}", loc="left", weight="bold")
    grid[0, 0].legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False, fontsize=8,
                      borderaxespad=3)
    return [save_figure(figure, path, kind) for path, kind in ((svg, "svg"), (png, "png")) if path]


def _compare_rows(axes: Any, comparison: Any, group: Sequence[Any]) -> None:
    top, count = 0.0, len(comparison.letters)
    for index, name in enumerate(comparison.letters):
        values = [comparison.plot_value(line, index) for line in group]
        shift = 0.7 * ((index + 0.5) / count - 0.5)
        points = [(x, y + shift) for y, x in enumerate(values) if x is not None]
        axes.plot([x for x, _ in points], [y for _, y in points], linestyle="none", markersize=5,
                  marker=MARKERS[index % 7], color=COLOURS[index % 5],
                  label=f"{name}  {comparison.describe(index)}")
        top = max([top] + [x for x, _ in points])
    for y, line in enumerate(group):
        words = [f"{name}: {row.words.split(':')[0]}"
                 for name, row in zip(comparison.letters, line.rows) if row and row.words]
        axes.annotate(", ".join(words), (0, y), (8, 0), va="center", textcoords="offset points",
                      style="italic", fontsize=8, color=VERMILLION)
    axes.set(xlim=(0, 1.05 * top or 1), ylim=(len(group) - 0.4, -0.6), yticks=range(len(group)))
    axes.set_yticklabels([line.name for line in group])
    axes.grid(color="#dddddd", linewidth=0.6)
