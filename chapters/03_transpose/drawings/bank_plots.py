"""Pictures of shared memory's banks: who meets whom in a tile, for chapter 03.

Every cell that is drawn comes from the addresses and the rule in banks.py.
"""
from __future__ import annotations

from pathlib import Path
from typing import Any, List, Sequence, Tuple

import banks
from banks import BANKS, LANES, Place
from course.plots import BLACK, BLUE, GREY, VERMILLION, plain_pyplot, save_figure

COLUMN, ROW = 2, 5  # of the tile: those that the pictures follow
REQUEST = 24  # of a block of 09: the first of warp 6
LAYOUTS: Tuple[Tuple[str, str, Place], ...] = (
    ("05: float s[32][32]", "s[row][col]", banks.unpadded),
    ("06: float s[32][33]", "s[row][col], a column more", banks.padded),
    ("07: float s[32][32]", "s[row][col ^ row]", banks.swizzled))
COLOURS = {"store": BLUE, "load": VERMILLION}
PALE, PALE_BLUE = "#e8e8e8", "#cfe5f4"


def _bank(address: int) -> int:
    return address // banks.WORD % BANKS


def _many(count: int, what: str) -> str:
    return f"{count} {what}" + ("s" if count != 1 else "")


def _cell(axes: Any, bank: int, row: int, **look: Any) -> None:
    from matplotlib.patches import Rectangle
    axes.add_patch(Rectangle((bank, row), 1, 1, **look))


def _grid(axes: Any, across: int, down: int, step: int = 1) -> None:
    """An empty grid of cells, row 0 on top, ticks in the middle of every `step`-th cell."""
    axes.set(xlim=(0, across), ylim=(down, 0), aspect="equal")
    axes.xaxis.tick_top()
    for axis, cells in ((axes.xaxis, across), (axes.yaxis, down)):
        ticks = sorted({*range(0, cells, step), cells - 1})
        axis.set_ticks([tick + 0.5 for tick in ticks])
        axis.set_ticklabels([str(tick) for tick in ticks])
        axis.set_label_position("top" if axis is axes.xaxis else "left")
    axes.tick_params(length=0, labelsize=7, pad=1)
    for spine in axes.spines.values():
        spine.set(visible=True, color=GREY, linewidth=0.6)
    axes.hlines(range(1, down), 0, across, color=PALE, linewidth=0.4, zorder=0.5)
    axes.vlines(range(1, across), 0, down, color=PALE, linewidth=0.4, zorder=0.5)


# Tiles of floats: 05, 06, 07

def _corner(axes: Any, place: Place, across: int, down: int) -> None:
    """The tile's first rows: in every cell the column that lies there."""
    _grid(axes, across, down)
    for row in range(down):
        for col in range(banks.LANES):
            bank = _bank(place(row, col))
            if bank >= across:
                continue
            loaded, stored = col == COLUMN, row == ROW
            if loaded or stored:
                _cell(axes, bank, row, facecolor=VERMILLION if loaded else PALE_BLUE, linewidth=0.6,
                      edgecolor=BLUE if stored else "white")
            axes.text(bank + 0.5, row + 0.52, str(col), ha="center", va="center", fontsize=7,
                      color="white" if loaded else BLACK, weight="bold" if loaded else "normal")


def _whole(axes: Any, place: Place) -> None:
    """The tile: the row that one warp stores and the column that one warp loads, with their
    turns."""
    _grid(axes, BANKS, LANES, 8)
    accesses = banks.tile_accesses(place)
    for line, (kind, name, number, look) in enumerate((
            ("store", "row", ROW, dict(facecolor=PALE_BLUE, edgecolor=BLUE, linewidth=0.4)),
            ("load", "column", COLUMN, dict(facecolor=VERMILLION, edgecolor="white",
                                            linewidth=0.3)))):
        request = accesses[kind].requests[number]
        for lane, address in enumerate(request):
            _cell(axes, _bank(address), ROW if kind == "store" else lane, **look)
        used = len({_bank(address) for address in request})
        turns = banks.wavefronts(request, banks.WORD, kind == "load")
        axes.text(0, LANES + 2 + 2.4 * line, f"{kind} of {name} {number}: {_many(used, 'bank')}, "
                  f"{_many(turns, 'turn')}", color=COLOURS[kind], fontsize=8.5, weight="bold",
                  va="center")


def tiles() -> Any:
    """Unpadded, padded, swizzled: a corner with its columns written in, and the whole tile."""
    figure, grid = plain_pyplot().subplots(2, 3, figsize=(8.6, 6.8), gridspec_kw=dict(
        left=0.05, right=0.99, top=0.87, bottom=0.06, hspace=0.3, wspace=0.13,
        height_ratios=(8, 10)))
    for (name, indexing, place), corner, whole in zip(LAYOUTS, *grid):
        _corner(corner, place, 10, 8)
        _whole(whole, place)
        corner.set_title(f"{name}\n{indexing}", loc="left", fontsize=9, weight="bold", pad=6)
        for axes in (corner, whole):
            axes.set_xlabel("bank", fontsize=8)
            if name == LAYOUTS[0][0]:
                axes.set_ylabel("row of the tile", fontsize=8)
    _heading(grid[0, 0], 62, "A corner of the tile in shared memory. The number in a cell is the "
             "column of the tile that lies there.")
    _heading(grid[1, 0], 32, "The whole tile. A bank serves one word a turn. Store: row "
             f"{ROW}, lane x at column x. Load: column {COLUMN}, lane x at row x.")
    return figure


def _heading(axes: Any, above: float, text: str) -> None:
    """A line over a row of panels, `above` points above the first."""
    axes.annotate(text, (0, 1), (0, above), xycoords="axes fraction", textcoords="offset points",
                  fontsize=9, color=GREY)


# Groups of four floats: 09

def _quarters(axes: Any, place: Place, kind: str) -> None:
    """One request of 16 bytes per lane: 32 lanes and 8 groups of four banks; turns by quarter. In
    the cells: a store's columns of the tile, a load's groups, which run with the lanes."""

    def label(lane: int) -> int:
        return 4 * (lane % 16) if kind == "store" else lane % 16

    request = banks.group_accesses(place)[kind].requests[REQUEST]
    axes.set(xlim=(0, 8), ylim=(LANES, 0))
    axes.xaxis.tick_top()
    axes.set_xticks([bank + 0.5 for bank in range(8)])
    axes.set_xticklabels([str(4 * bank) for bank in range(8)])
    axes.set_yticks([lane + 0.5 for lane in range(0, LANES, 8)])
    axes.set_yticklabels([str(lane) for lane in range(0, LANES, 8)])
    axes.tick_params(length=0, labelsize=7, pad=1)
    axes.vlines(range(9), 0, LANES, color=PALE, linewidth=0.6, zorder=0.5)
    for lane, address in enumerate(request):
        bank = _bank(address) // 4
        _cell(axes, bank, lane, facecolor=PALE_BLUE if kind == "store" else VERMILLION,
              edgecolor=BLUE if kind == "store" else "white", linewidth=0.6)
        axes.text(bank + 0.5, lane + 0.55, str(label(lane)), ha="center", va="center",
                  fontsize=6.5, color=BLACK if kind == "store" else "white")
    first, total = 0, 0
    for group in banks.groups(request, 16, kind == "load"):
        turns = max(banks.words_in_banks(group, 16))
        axes.hlines(first, 0, 8, color=GREY, linewidth=1)
        axes.text(8.15, first + len(group) / 2, _many(turns, "turn").replace(" ", "\n"),
                  fontsize=7.5, color=COLOURS[kind], va="center", weight="bold")
        first, total = first + len(group), total + turns
    axes.text(0, LANES + 1.2, f"{_many(total, 'turn')} in all", fontsize=8.5, color=COLOURS[kind],
              weight="bold", va="center")


def groups() -> Any:
    """A store and a load of 09, each without and with the swizzle."""
    figure, grid = plain_pyplot().subplots(1, 4, figsize=(8.6, 5.6), gridspec_kw=dict(
        left=0.05, right=0.95, top=0.85, bottom=0.05, wspace=0.32))
    panels = [(kind, words, place) for kind in ("store", "load") for words, place in (
        ("s[c][g]", banks.group_in_order), ("s[c][place(c, g)]", banks.group_swizzled))]
    for axes, (kind, words, place) in zip(grid, panels):
        _quarters(axes, place, kind)
        axes.set_title(f"{kind}, in the cell: {'c' if kind == 'store' else 'g'}\n{words}",
                       loc="left", fontsize=8.5, weight="bold", pad=6)
        axes.set_xlabel("first of four banks", fontsize=8)
        axes.xaxis.set_label_position("top")
    grid[0].set_ylabel("lane", fontsize=8)
    _heading(grid[0], 62, "Version 09: a lane has four floats, group g of column c, in four banks. "
             "Eight lanes go together: a quarter of the warp.")
    return figure


def draw(folder: Path, formats: Sequence[str]) -> List[Path]:
    """Writes banks.FORMAT and gives the paths."""
    figures = {"banks": tiles, "banks-vectors": groups}
    return [save_figure(make(), folder / f"{name}.{kind}", kind)
            for name, make in figures.items() for kind in formats]
