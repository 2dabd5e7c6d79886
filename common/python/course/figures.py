"""Shared by all plots: colours, titles, labels next to the axes, log axes, saving.

Colours are those of Okabe and Ito that stand out on white; marker, line style, hatching and a
direct label carry the same information. The same input gives the same bytes of SVG.
"""
from __future__ import annotations

import math
import re
import textwrap
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import tables
from .results import ResultFile, Row

BLUE, VERMILLION, GREEN, PURPLE, BLACK = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000"
COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, BLACK)
MARKERS = "osD^vPX"
STYLES = ("-", "--", "-.", ":")
ROLE_STYLE = {"version": dict(facecolor=BLUE, edgecolor=BLUE),
              "exercise": dict(facecolor=PURPLE, edgecolor=BLACK, hatch="xx"),
              "peer": dict(facecolor="white", edgecolor=GREEN, hatch="////"),
              "limit": dict(facecolor="white", edgecolor=BLACK, hatch="\\\\\\\\")}
GREY = "#555555"
Label = Tuple[float, float, str, str]  # x, y (data), text, colour


def plain_pyplot() -> Any:
    """matplotlib's pyplot with the course's settings only."""
    import matplotlib
    matplotlib.use("Agg")
    matplotlib.rcdefaults()  # not the user's own style: the same file everywhere
    # Letters stay letters, in DejaVu Sans or, in a browser without it, in one about as wide.
    matplotlib.rcParams.update({"svg.hashsalt": "course", "svg.fonttype": "none", "font.size": 9,
                                "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
                                "hatch.linewidth": 0.6,
                                "axes.spines.top": False, "axes.spines.right": False,
                                "axes.axisbelow": True, "figure.facecolor": "white"})
    from matplotlib import pyplot
    return pyplot


def save_figure(figure: Any, path: Path, kind: str) -> Path:
    """Writes and closes a figure; the same figure gives the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    figure.savefig(path, format=kind, dpi=150, bbox_inches="tight", pad_inches=0.15,
                   metadata=metadata)
    plain_pyplot().close(figure)
    if kind == "svg":
        path.write_text(shorter(path.read_text(encoding="utf-8")), encoding="utf-8")
    return path


def shorter(svg: str) -> str:
    """The same picture: coordinates to a hundredth of a point, nothing that says what is so anyway."""
    svg = re.sub(r' <metadata>.*?</metadata>\n|; text-anchor: start| transform="rotate\(-0 [^"]*\)"', "",
                 svg, flags=re.S)
    return re.sub(r"<[^>]+>", lambda tag: re.sub(r"(\.\d\d)\d+", r"\1", tag[0]), svg)


def put_title(axes: Any, title: str, below: str) -> None:
    """A title in bold, and the line that says where the numbers come from."""
    lines = textwrap.wrap(below, 100)
    axes.set_title("\n".join(lines), loc="left", fontsize=8, color=GREY, pad=22)
    axes.annotate("\n".join(textwrap.wrap(title, 75)), (0, 1), (0, 26 + 11 * len(lines)),
                  xycoords="axes fraction", textcoords="offset points", fontsize=11, weight="bold")


def provenance(result: ResultFile, rows: Sequence[Row], axis: Optional[str] = None) -> str:
    """The run, and the size and type of most rows (the others name theirs)."""
    dimensions = tables.besides(rows, axis)
    sizes = [tables.size_text({k: row.size[k] for k in dimensions if k in row.size})
             for row in rows]
    types = [row.type for row in rows]
    usual = [max(values, key=values.count) for values in (sizes, types) if values]
    return "; ".join(filter(None, [result.provenance(), ", ".join(filter(None, usual))]))


def legend_below(axes: Any) -> None:
    height = axes.get_position().height * axes.figure.get_figheight()
    axes.legend(loc="upper left", bbox_to_anchor=(0, -0.45 / height), frameon=False, fontsize=8,
                borderaxespad=0, handlelength=3)


def spread_out(places: Sequence[float], gap: float, top: float = 1.0) -> List[float]:
    """The places in [0, top], moved as little as possible to be `gap` apart, in their order."""
    groups: List[List[int]] = []  # of neighbours that touch; each is centred on its own places

    def bottom(group: List[int]) -> float:
        extent = gap * (len(group) - 1)
        middle = sum(places[k] for k in group) / len(group)
        return max(0.0, min(top - extent, middle - extent / 2))

    for k in sorted(range(len(places)), key=lambda k: places[k]):
        groups.append([k])
        while len(groups) > 1 and bottom(groups[-2]) + gap * len(groups[-2]) > bottom(groups[-1]):
            last = groups.pop()
            groups[-1] += last
    moved = {k: bottom(group) + gap * i for group in groups for i, k in enumerate(group)}
    return [moved[k] for k in range(len(places))]


def margin_labels(axes: Any, labels: Sequence[Label]) -> None:
    """Labels in the right margin, kept apart, each joined to its point by a thin line."""
    height = axes.get_position().height * axes.figure.get_figheight()
    to_axes = axes.transData + axes.transAxes.inverted()
    points = [to_axes.transform((x, y)) for x, y, _, _ in labels]
    for (x, y), place, (_, _, text, colour) in zip(
            points, spread_out([y for _, y in points], 0.155 / height), labels):
        axes.annotate(text, (x, y), (1.04, place), xycoords="axes fraction", va="center",
                      fontsize=8, color=colour, annotation_clip=False,
                      arrowprops=dict(arrowstyle="-", color=colour, linewidth=0.5, shrinkA=1,
                                      shrinkB=2, relpos=(0, 0.5)))


def log_axis(axis: Any, low: float, high: float, base: int = 10) -> None:
    """A log scale from low to high with about twelve ticks at most, written as plain numbers."""
    from matplotlib.ticker import NullLocator
    axis.axes.set(**{f"{axis.axis_name}scale": "log", f"{axis.axis_name}lim": (low, high)})
    first, last = math.ceil(math.log(low, base) - 1e-9), math.floor(math.log(high, base) + 1e-9)
    steps = (1, 2, 5) if base == 10 and last - first < 2 else (1,)
    powers = range(first - (len(steps) > 1), last + 1, 1 + max(0, last - first) // 12)
    ticks = [step * float(base) ** power for power in powers for step in steps]
    ticks = [tick for tick in ticks if low <= tick <= high]
    axis.set_ticks(ticks)
    axis.set_ticklabels([_tick_text(tick, base) for tick in ticks])
    axis.set_minor_locator(NullLocator())


def _tick_text(value: float, base: int) -> str:
    if base == 2 and value >= 1024:
        return f"$2^{{{round(math.log2(value))}}}$"
    return f"1/{1 / value:g}" if base == 2 and value < 1 else f"{value:g}"


def memory_roofs(result: ResultFile) -> Dict[str, float]:
    """The known memory rates of the chip in GB/s."""
    gpu = result.gpu
    known = {"measured copy": gpu.copy_gbs, "measured read": gpu.read_gbs,
             "DRAM peak": gpu.peak_dram_gbs}
    return {name: value for name, value in known.items() if value}


def look(index: int) -> Dict[str, Any]:
    return dict(color=COLOURS[index % 5], marker=MARKERS[index % 7], markersize=4, linewidth=1.3,
                linestyle=STYLES[(index // 5 + index) % 4])
