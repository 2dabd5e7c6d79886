"""Rates over a size: a panel of the rates, and below it their ratio to the library's, on a linear
axis, which separates lines that coincide on a log axis. And grouped points, for a study that runs
the same versions at many sizes that lie on no axis.
"""
from __future__ import annotations

import re
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import tables
from .figures import (BLACK, GREY, STYLES, VERMILLION, legend_below, log_axis, look, memory_roofs,
                      plain_pyplot, provenance, put_title, spread_out)
from .results import ResultFile, Row, Study

Series = Dict[str, List[Row]]
Sample = Tuple[float, str, Dict[str, Any]]  # the rate where it ends, text, look of the line
MOST_RATIO = 2.0  # a line that is further above the library's than this leaves the panel
# What a limit's name in a result file means, for a reader who sees only the plot.
LIMIT_WORDS = {"reads": "limit: reading memory",
               "read and write mix": "limit: reading and writing"}


def lines(result: ResultFile, study: Study, axis: str) -> Any:
    """Rate over a size, one line per version; with a library among them, their ratio to it."""
    rows = result.rows_of(study.name)
    drawn = [row for row in rows if not row.words]
    unit = drawn[0].unit if drawn else ""
    drawn = [row for row in drawn if row.unit == unit]
    series = tables.series(drawn, axis)
    roofs = _roofs(result, drawn, unit)
    over = ratios(series, axis)
    height = max(3.6, 0.17 * (len(series) + len(roofs)))
    pyplot = plain_pyplot()
    figure, grid = pyplot.subplots(2 if over else 1, 1, sharex=True, squeeze=False,
                                   figsize=(6.5, height + (2.4 if over else 0)),
                                   gridspec_kw={"height_ratios": [height, 2.1][:1 + bool(over)],
                                                "hspace": 0.12})
    axes, last = grid[0, 0], grid[-1, 0]
    samples = _rate_panel(axes, series, axis)
    _scales(axes, drawn, axis, study.log_axis, roofs)
    for (name, value), style in zip(roofs.items(), STYLES[1:] + STYLES[1:]):
        line = dict(color=GREY, linewidth=0.9, linestyle=style)
        axes.axhline(value, **line)
        words = f"{LIMIT_WORDS.get(name, name)}, {tables.digits(value)} {unit}"
        samples.append((value, words, line))
    if over:
        _ratio_panel(last, over, series)
    _l2_line(grid[:, 0], result, drawn, axis)
    _name_lines(axes, samples)
    last.set_xlabel(study.axis_label or axis)
    axes.set_ylabel(f"rate in {unit}" if unit else "rate")
    for panel in grid[:, 0]:
        panel.grid(color="#dddddd", linewidth=0.6)
    failed = list(dict.fromkeys(f"{row.version}: {row.words}" for row in rows if row.words))
    last.annotate("\n".join(failed), (0, 0), (0, -36), xycoords="axes fraction", va="top",
                  textcoords="offset points", style="italic", fontsize=8, color=VERMILLION)
    put_title(axes, study.title, provenance(result, drawn, axis))
    return figure


def _launched(name: str) -> Optional[str]:
    """How a line's launches are made: the prefix of its number ("itself_"); None without one."""
    found = re.match(r"(\D*)\d", name)
    return found[1] if found else None


def peer_of(name: str, series: Series) -> Optional[str]:
    """The library's line to compare a line with: the only one, else the first of those launched
    alike (itself_90_cub for itself_07_vectors)."""
    peers = [peer for peer, rows in series.items() if rows[0].role == "peer"]
    if len(peers) > 1:
        peers = [peer for peer in peers if _launched(peer) == (_launched(name) or "")]
    return peers[0] if peers else None


def ratios(series: Series, axis: str) -> Dict[str, List[Tuple[float, float]]]:
    """Size and rate over the library's rate, of each line that shares at least two sizes with a
    library's; nothing if there is no such line or all are beyond the panel."""
    found = {}
    for name, rows in series.items():
        peer = peer_of(name, series)
        rates = {row.size[axis]: row.rate for row in series[peer]} if peer else {}
        points = [(row.size[axis], row.rate / rates[row.size[axis]])
                  for row in rows if row.size[axis] in rates]
        if len(points) > 1:
            found[name] = points
    ours = [points for name, points in found.items() if series[name][0].role != "peer"]
    return found if any(ratio <= MOST_RATIO for points in ours for _, ratio in points) else {}


def _roofs(result: ResultFile, rows: Sequence[Row], unit: str) -> Dict[str, float]:
    """Horizontal lines: the rows' limits. Limits of one name that differ by a few percent (because
    they were measured anew) are drawn at their highest. With too many or none, the chip's rates."""
    limits: Dict[str, List[float]] = {}
    for row in rows:
        if row.limit and row.limit.unit == unit:
            limits.setdefault(row.limit.name, []).append(row.limit.value)
    if 1 <= len(limits) <= 2 and all(max(v) < 1.05 * min(v) for v in limits.values()):
        return {name: max(values) for name, values in limits.items()}
    return memory_roofs(result) if unit == "GB/s" else {}


def _rate_panel(axes: Any, series: Series, axis: str) -> List[Sample]:
    samples = []
    for index, (name, rows) in enumerate(series.items()):
        line = look(index)
        places = [row.size[axis] for row in rows]
        axes.plot(places, [row.rate for row in rows], **line)
        axes.fill_between(places, *zip(*(row.rate_range for row in rows)), color=line["color"],
                          alpha=0.15, linewidth=0)
        role = "" if rows[0].role == "version" else f" [{rows[0].role}]"
        samples.append((rows[-1].rate, name + role, line))
    return samples


def _ratio_panel(axes: Any, over: Dict[str, List[Tuple[float, float]]], series: Series) -> None:
    """The library's own line is at 1. A line far above it leaves the panel, which says so."""
    order = list(series)
    peers = list(dict.fromkeys(peer_of(name, series) for name in over))
    for name, points in over.items():
        axes.plot([x for x, _ in points], [y for _, y in points], **look(order.index(name)))
    most = max(y for points in over.values() for _, y in points)
    axes.set_ylim(0, min(1.08 * most, MOST_RATIO))
    axes.axhline(1, color=BLACK, linewidth=0.6)
    axes.set_ylabel(f"over {peers[0]}" if len(peers) == 1 else "over the peer\nlaunched alike")
    if most > MOST_RATIO:
        axes.annotate(f"above {MOST_RATIO:g}x: up to {most:.1f}x", (1.03, 1), va="top",
                      xycoords="axes fraction", fontsize=8, color=GREY, annotation_clip=False)


def _name_lines(axes: Any, samples: Sequence[Sample]) -> None:
    """A sample and the name of each line in the right margin, in the order in which they end."""
    height = axes.get_position().height * axes.figure.get_figheight()
    to_axes = axes.transData + axes.transAxes.inverted()
    right = axes.get_xlim()[1]
    ends = [to_axes.transform((right, rate))[1] for rate, _, _ in samples]
    for place, (_, text, line) in zip(spread_out(ends, 0.165 / height), samples):
        axes.plot([1.03, 1.065, 1.10], [place] * 3, transform=axes.transAxes, clip_on=False,
                  **{**line, "marker": None})
        if line.get("marker"):
            axes.plot([1.065], [place], transform=axes.transAxes, clip_on=False, **line)
        axes.annotate(text, (1.12, place), xycoords="axes fraction", va="center", fontsize=8,
                      color=line["color"], annotation_clip=False)


def _scales(axes: Any, drawn: Sequence[Row], axis: str, log_x: bool,
            roofs: Dict[str, float]) -> None:
    """Log x if the study asks for it; log y if the rates differ by more than ten times."""
    rates = [row.rate for row in drawn]
    places = [row.size[axis] for row in drawn]
    if log_x and places and min(places) > 0:
        log_axis(axes.xaxis, min(places) / 1.3, max(places) * 1.3, 2)
    if rates and max(rates) > 10 * min(rates):
        log_axis(axes.yaxis, 0.7 * min(rates), 1.5 * max(rates + list(roofs.values())))
    elif rates:
        axes.set_ylim(0, 1.06 * max(rates + list(roofs.values())))


def _l2_line(panels: Sequence[Any], result: ResultFile, drawn: Sequence[Row], axis: str) -> None:
    """Where the working set of the first line has the size of the L2 cache."""
    last = next((row for row in reversed(drawn) if row.bytes and row.size[axis]), None)
    if axis != "n" or not last or not result.gpu.l2_bytes:
        return
    x = result.gpu.l2_bytes / (last.bytes / last.size[axis])
    if not panels[0].get_xlim()[0] < x < panels[0].get_xlim()[1]:
        return
    for panel in panels:
        panel.axvline(x, color=GREY, linewidth=0.9, linestyle=":")
    panels[0].annotate(f"data = L2 ({result.gpu.l2_bytes / 2**20:.0f} MiB)", (x, 1), (0, 4),
                       xycoords=("data", "axes fraction"), textcoords="offset points",
                       ha="center", fontsize=8, color=GREY)


# Many sizes on no axis

def many_sizes(rows: Sequence[Row]) -> bool:
    """The same versions at more sizes than bars can show."""
    sizes = {tables.size_text(row.size) for row in rows}
    versions = {row.version for row in rows}
    return len(sizes) > 3 and len(versions) > 2 and len(rows) > 24


def grouped(result: ResultFile, study: Study) -> Any:
    """One row per size, one marker per version; rates from zero on, and next to them the ratio to
    the library's rate, if one library is among the versions."""
    rows = [row for row in result.rows_of(study.name) if not row.words]
    rows = [row for row in rows if row.unit == rows[0].unit]
    sizes = list(dict.fromkeys(tables.size_text(row.size) for row in rows))
    versions = list(dict.fromkeys(row.version for row in rows))
    peers = list(dict.fromkeys(row.version for row in rows if row.role == "peer"))
    peer = {tables.size_text(row.size): row.rate for row in rows if peers == [row.version]}
    figure, panels = plain_pyplot().subplots(
        1, 2 if peer else 1, sharey=True, squeeze=False,
        figsize=(9.0 if peer else 6.5, 0.8 + 0.42 * len(sizes)),
        gridspec_kw={"width_ratios": [2.2, 1] if peer else [1], "wspace": 0.06})
    for index, version in enumerate(versions):
        own = [row for row in rows if row.version == version]
        shift = 0.6 * ((index + 0.5) / len(versions) - 0.5)  # so that equal rates stay apart
        role = "" if own[0].role == "version" else f" [{own[0].role}]"
        style = {**look(index), "linestyle": "none", "markersize": 5}
        places = {tables.size_text(row.size): row.rate for row in own}
        heights = [sizes.index(size) + shift for size in places]
        panels[0, 0].plot(list(places.values()), heights, label=version + role, **style)
        if peer and own[0].role == "version":
            over = [(places[size] / peer[size], height) for size, height in zip(places, heights)
                    if size in peer]
            panels[0, 1].plot([x for x, _ in over], [y for _, y in over], **style)
    axes = panels[0, 0]
    roofs = _roofs(result, rows, rows[0].unit)
    for (name, value), style in zip(roofs.items(), STYLES[1:] + STYLES[1:]):
        words = f"{LIMIT_WORDS.get(name, name)}, {tables.digits(value)} {rows[0].unit}"
        axes.axvline(value, color=GREY, linewidth=0.9, linestyle=style, label=words)
    axes.set(xlim=(0, 1.04 * max([row.rate for row in rows] + list(roofs.values()))),
             ylim=(len(sizes) - 0.5, -0.5), yticks=range(len(sizes)),
             xlabel=f"rate in {rows[0].unit}")
    axes.set_yticklabels(sizes)
    if peer:
        panels[0, 1].axvline(1, color=BLACK, linewidth=0.6)
        panels[0, 1].set_xscale("log")
        low, high = panels[0, 1].get_xlim()
        wide = high > 12 * low
        ticks = [x for x in ((0.0625, 0.25, 1, 4, 16) if wide else (0.25, 0.5, 0.7, 1, 1.5, 2, 4, 8))
                 if low <= x <= high]
        panels[0, 1].set_xticks(ticks, [f"{x:g}" for x in ticks])
        panels[0, 1].minorticks_off()
        panels[0, 1].set_xlabel(f"times {peers[0]}")
    for panel in panels[0]:
        panel.tick_params(axis="y", length=0)
        for between in range(1, len(sizes)):
            panel.axhline(between - 0.5, color="#dddddd", linewidth=0.6)
        panel.grid(axis="x", color="#dddddd", linewidth=0.6)
    legend_below(axes)
    put_title(axes, study.title, result.provenance())
    return figure
