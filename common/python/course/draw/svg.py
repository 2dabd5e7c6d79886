"""Single requests as SVG, for lessons: the page's pictures, without a script.

A figure is what drawn.py keeps: a place of a kernel, names, and some requests of one warp.
"""
from __future__ import annotations

from html import escape
from typing import Any, Dict, List, Sequence, Tuple

from . import recount
from .trace import SHARED, lanes_of, name_at, variable_at

Figure = Dict[str, Any]
WIDTH, MOST_ROWS, NEXT_LINE = 900, 6, 11
WIDEST = .7  # of their height: what the letters of "s+128" take on average, DejaVu for Helvetica
INK, SOFT, LINE, FAINT = "#1c2430", "#5b6675", "#c9c7c0", "#efeee9"
BLUE, PALE, HOT, HOT_PALE = "#0072b2", "#b5d6ea", "#b84a00", "#fbe7da"
ORANGE, GREEN = "#e69f00", "#00795a"


class Sheet:
    """An SVG that grows downwards."""

    def __init__(self) -> None:
        self.parts: List[str] = []

    def rect(self, x: float, y: float, w: float, h: float, fill: str, stroke: str = "none") -> None:
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" '
                          f'rx="1.5" fill="{fill}" stroke="{stroke}"/>')

    def text(self, x: float, y: float, words: str, size: float = 11, fill: str = SOFT,
             anchor: str = "start", bold: bool = False) -> None:
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{fill}" '
                          f'text-anchor="{anchor}"{weight}>{escape(words)}</text>')

    def link(self, a: Tuple[float, float], b: Tuple[float, float], colour: str = BLUE,
             opacity: float = .5, width: float = 1.1) -> None:
        middle = (a[1] + b[1]) / 2
        self.parts.append(f'<path d="M{a[0]:.1f} {a[1]:.1f}C{a[0]:.1f} {middle:.1f} {b[0]:.1f} '
                          f'{middle:.1f} {b[0]:.1f} {b[1]:.1f}" fill="none" stroke="{colour}" '
                          f'stroke-opacity="{opacity}" stroke-width="{width}"/>')

    def grid(self, x: float, y: float, across: int, down: int, w: float, h: float) -> None:
        """Lines around cells."""
        lines = [f"M{x + k * w:.1f} {y:.1f}v{down * h:.1f}" for k in range(across + 1)]
        lines += [f"M{x:.1f} {y + k * h:.1f}h{across * w:.1f}" for k in range(down + 1)]
        self.parts.append(f'<path d="{"".join(lines)}" fill="none" stroke="{LINE}" '
                          'stroke-width="0.6"/>')

    def svg(self, height: float, title: str) -> str:
        box = f"{WIDTH} {height:.0f}"
        hatch = ('<defs><pattern id="h" width="5" height="5" patternUnits="userSpaceOnUse" '
                 'patternTransform="rotate(45)"><rect width="1.6" height="5" fill="#9a978d"/>'
                 '</pattern></defs>')
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {box}" width="{WIDTH}" '
            f'height="{height:.0f}" font-family="Helvetica, Arial, sans-serif">',
            f"<title>{escape(title)}</title>", hatch,
            f'<rect width="{WIDTH}" height="{height:.0f}" fill="#ffffff"/>', *self.parts,
            "</svg>", ""])


# ---- Words ----

def many(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")


def unit(figure: Figure) -> str:
    return "wavefront" if figure["row"]["space"] == "shared" else "sector"


def version(figure: Figure) -> str:
    """'05 shared tile' of 05_shared_tile.cu."""
    return figure.get("by", file_name(figure).rsplit(".", 1)[0]).replace("_", " ")


def file_name(figure: Figure) -> str:
    return figure["file"].rsplit("/", 1)[-1]


def at_line(figure: Figure) -> str:
    """'05 shared tile, line 23', or of a header '02 mma, fragments.cuh:39'"""
    return f"{version(figure)}, " + (f"{file_name(figure)}:{figure['line']}" if "by" in figure
                                     else f"line {figure['line']}")


def kind(figure: Figure) -> str:
    """'shared load'"""
    return f"{figure['row']['space']} {figure['row']['access']}"


def what(figure: Figure) -> str:
    """'shared load of s'"""
    return kind(figure) + (f" of {figure['name']}" if figure["name"] else "")


def cost(figure: Figure, item: Sequence[Any]) -> str:
    better = f", {item[5]} would do" if item[4] > item[5] else ""
    return many(item[4], unit(figure)) + better


def title(figure: Figure) -> str:
    """One line about the whole figure."""
    if figure["view"] == "block":
        return f"{version(figure)}: the warps of a block, request by request"
    costs = cost(figure, figure["items"][0]) if figure["view"] == "request" else "step by step"
    return (f"{at_line(figure)}: {what(figure)}"
            + ("" if figure.get("quiet") else f", {costs}"))


def row_name(figure: Figure, byte: int) -> str:
    """Where a row of 128 bytes begins: 's+128'."""
    if figure["memory"] == SHARED:
        rank, own = divmod(byte, figure["window"])
        found = variable_at(figure["shared"], own)
        name = f"{found[0]}+{found[1]}" if found else f"byte {own}"
        return f"block {rank - 1}: {name}" if rank else name
    name, from_there = name_at([tuple(pair) for pair in figure["names"]], byte)
    return f"{name}+{from_there}"


def solved(figure: Figure, item: List[Any]) -> recount.Solution:
    record = {"places": [{"row": 0, "turns": figure["turns"]}], "lines": [figure["row"]]}
    return recount.solve(record, ["request", 0, *item[2:]])


# ---- One request ----

class Grid:
    """32 columns: lanes, banks, and the words of a row of 128 bytes."""

    def __init__(self, x: float, width: float, names: Sequence[str]) -> None:
        self.small = width < 600
        self.size = 8.5 if self.small else 11
        self.left = x + max([30, *(len(name) * self.size * WIDEST + 6 for name in names)])
        self.cell = (x + width - self.left - 2) / 32
        self.high = 8.0 if self.small else 15.0

    def x(self, column: float) -> float:
        return self.left + column * self.cell

    def middle(self, column: int) -> float:
        return self.x(column + .5)

    def box(self, sheet: Sheet, column: int, y: float, fill: str, stroke: str = "none",
            words: str = "", colour: str = "#ffffff", lines: int = 1) -> None:
        """A cell with as many lines of words, or with room for more."""
        gap = .5 if self.small else .9
        high = self.high + (lines - 1) * NEXT_LINE
        sheet.rect(self.x(column) + gap, y, self.cell - 2 * gap, high, fill, stroke)
        said = words.split("\n") if words and not self.small else []
        first = y + self.high * .76 + (lines - len(said)) * NEXT_LINE / 2
        for number, line in enumerate(said):
            sheet.text(self.middle(column), first + number * NEXT_LINE, line, 10, colour, "middle")

    def label(self, sheet: Sheet, y: float, words: str) -> None:
        sheet.text(self.left - 5, y + self.high * .8, words, self.size, SOFT, "end")


def lane_row(sheet: Sheet, grid: Grid, y: float, lanes: Sequence[int], now: Sequence[int]) -> float:
    grid.label(sheet, y, "lane")
    for lane in range(32):
        fill = (ORANGE if lane in now else BLUE) if lane in lanes else "#ffffff"
        colour = INK if lane in now else "#ffffff" if lane in lanes else SOFT
        grid.box(sheet, lane, y, fill, "none" if lane in lanes else LINE, str(lane), colour)
    return y + grid.high


def bank_row(sheet: Sheet, grid: Grid, y: float, solution: recount.Solution) -> float:
    """The banks; those with the most requests stand out, with their number."""
    wanted = [len({m.word for m in solution.marks if m.word % 32 == bank}) for bank in range(32)]
    hot = solution.units > solution.groups
    grid.label(sheet, y, "bank")
    for bank in range(32):
        bad = hot and wanted[bank] == max(wanted)
        grid.box(sheet, bank, y, HOT_PALE if bad else FAINT, HOT if bad else LINE, str(bank),
                 HOT if bad else SOFT)
    return y + grid.high + (4 if grid.small else 6)


def sector_boxes(sheet: Sheet, grid: Grid, row: int, y: float,
                 marks: Sequence[recount.Mark]) -> None:
    """The sectors of a line that move, hatched if no lane wants them."""
    wanted = {mark.word - row * 32 for mark in marks}
    for sector in range(4):
        words = range(sector * 8, sector * 8 + 8)
        moves = not wanted.isdisjoint(words)
        for word in words if moves else ():
            if word not in wanted:
                sheet.rect(grid.x(word), y, grid.cell, grid.high, "url(#h)")
        sheet.rect(grid.x(sector * 8) + 1, y, grid.cell * 8 - 2, grid.high, "none",
                   "#9a978d" if moves else LINE)


def word_rows(sheet: Sheet, grid: Grid, y: float, figure: Figure, solution: recount.Solution,
              now: Sequence[int]) -> float:
    """The rows of 128 bytes that are touched; of many rows of global memory the first and last."""
    shared = figure["row"]["space"] == "shared"
    rows = sorted({mark.word // 32 for mark in solution.marks})
    shown = rows if shared or len(rows) <= MOST_ROWS else rows[:MOST_ROWS - 1] + rows[-1:]
    before = None
    for row in shown:
        if before is not None and row != before + 1:
            between = [r for r in rows if before < r < row]
            words = (f"⋮ {len(between)} more" if between else
                     f"⋮ {many(row - before - 1, 'row')} of 128 bytes not touched")
            sheet.text(grid.middle(15), y + 9, words, 9, SOFT, "middle")
            y += 12
        before = row
        marks = [mark for mark in solution.marks if mark.word // 32 == row]
        grid.label(sheet, y, row_name(figure, row * 128))
        if shared:
            sheet.grid(grid.x(0), y, 32, 1, grid.cell, grid.high)
        else:
            sector_boxes(sheet, grid, row, y, marks)
        lanes: Dict[int, List[int]] = {}
        for mark in marks:
            lanes.setdefault(mark.word % 32, []).append(mark.lane)
        for column in range(32):
            if column in lanes:
                here = lanes[column]
                words = str(here[0]) if len(here) == 1 else f"{len(here)}×"
                chosen = any(lane in now for lane in here)
                grid.box(sheet, column, y, ORANGE if chosen else BLUE, "none", words,
                         INK if chosen else "#ffffff")
        y += grid.high
    return y


def request(sheet: Sheet, figure: Figure, x: float, y: float, width: float) -> float:
    """One request; the lanes of the wavefront or sector that figure['unit'] names in orange."""
    item = figure["items"][0]
    solution = solved(figure, item)
    rows = sorted({mark.word // 32 for mark in solution.marks})
    grid = Grid(x, width, [row_name(figure, row * 128) for row in rows])
    chosen = figure.get("unit", 0)
    now = [mark.lane for mark in solution.marks if chosen and mark.unit == chosen - 1]
    head = at_line(figure) if grid.small else title(figure)
    sheet.text(x + 4, y + 14, head, 12 if grid.small else 14, INK, bold=True)
    y += 20
    if grid.small:
        sheet.text(x + 4, y + 10, f"{what(figure)}: {cost(figure, item)}", 11,
                   HOT if item[4] > 1.5 * item[5] else GREEN)
        y += 16
    top = lane_row(sheet, grid, y + 2, lanes_of(item[2]), now)
    shared = figure["row"]["space"] == "shared"
    y = top + (30 if grid.small else 46 if shared else 30)
    for mark in solution.marks:
        strong = mark.lane in now
        ends = (grid.middle(mark.lane), top), (grid.middle(mark.word % 32), y)
        if shared or len(rows) <= 2:
            sheet.link(*ends, ORANGE if strong else BLUE, 1 if strong else .45, 2 if strong else 1)
    if shared:
        y = bank_row(sheet, grid, y, solution)
    y = word_rows(sheet, grid, y, figure, solution, now)
    if not (shared or grid.small or figure.get("quiet")):
        for sector in range(4):
            sheet.text(grid.middle(sector * 8 + 3) + grid.cell / 2, y + 12, f"sector {sector}", 10,
                       SOFT, "middle")
        y += 16
    return y + 6


# ---- Several requests, one below the other ----

def lanes(sheet: Sheet, figure: Figure, x: float, y: float, width: float) -> float:
    """Which lanes are active, request after request: how a tree thins out."""
    grid = Grid(x, width - 190, ["request 10"])
    sheet.text(x + 4, y + 14, f"{at_line(figure)}: the lanes of warp "
               f"{figure['warp']} in its {kind(figure)}s", 14, INK, bold=True)
    y += 24
    for number, item in enumerate(figure["items"], figure["first"]):
        active = lanes_of(item[2])
        grid.label(sheet, y, f"request {number}")
        for lane in range(32):
            on = lane in active
            grid.box(sheet, lane, y, BLUE if on else "#ffffff", "none" if on else LINE, str(lane),
                     "#ffffff" if on else SOFT)
        sheet.text(grid.x(32) + 8, y + 12, f"{many(len(active), 'lane')}, {cost(figure, item)}", 11,
                   HOT if item[4] > 1.5 * item[5] else INK)
        y += grid.high + 3
    return y + 6


def banks(sheet: Sheet, figure: Figure, x: float, y: float, width: float) -> float:
    """Which lanes want a word of which bank, request after request: a column's depth is the number
    of wavefronts."""
    grid = Grid(x, width - 150, ["request 10"])
    sheet.text(x + 4, y + 14, f"{at_line(figure)}: where the lanes of warp "
               f"{figure['warp']} find their words ({kind(figure)}s)", 14, INK, bold=True)
    y += 24
    grid.label(sheet, y, "bank")
    for bank in range(32):
        grid.box(sheet, bank, y, FAINT, LINE, str(bank), SOFT)
    y += grid.high + 6
    looks = ((BLUE, "none", "#ffffff"), (HOT_PALE, HOT, HOT))  # the first wavefront, and more
    for number, item in enumerate(figure["items"], figure["first"]):
        solution = solved(figure, item)
        grid.label(sheet, y, f"request {number}")
        sheet.text(grid.x(32) + 8, y + 12, cost(figure, item), 11,
                   HOT if item[4] > 1.5 * item[5] else INK)
        for wavefront in range(solution.units):
            served: Dict[int, List[int]] = {}
            for mark in solution.marks:
                if mark.unit == wavefront:
                    served.setdefault(mark.word % 32, []).append(mark.lane)
            lines = 2 if any(len(those) == 2 for those in served.values()) else 1
            look = looks[min(wavefront, 1) if solution.units > solution.ideal else 0]
            for bank, those in served.items():
                words = "\n".join(map(str, those)) if len(those) <= 2 else f"{len(those)}×"
                grid.box(sheet, bank, y, look[0], look[1], words, look[2], lines)
            y += grid.high + (lines - 1) * NEXT_LINE + 1
        y += 7
    return y + 4


# ---- A block ----

def phases_of(figure: Figure) -> List[float]:
    """How much room the requests between two barriers take, in requests that cost their ideal."""
    phases: List[float] = []
    for warp in figure["warps"]:
        for number, cells in enumerate(warp):
            room = sum(max(1.0, units / ideal) for _, units, ideal, _ in cells) + .6
            phases[number:number + 1] = [max([room, *phases[number:number + 1]])]
    return phases


def block(sheet: Sheet, figure: Figure, x: float, y: float, width: float) -> float:
    """Each warp's requests between barriers: as wide as they cost, as tall as active lanes."""
    sheet.text(x + 4, y + 14, title(figure), 14, INK, bold=True)
    top, high = y + 26, 13
    phases = phases_of(figure)
    scale = min(15.0, (width - 70) / figure.get("room", sum(phases)))
    for row, warp in enumerate(figure["warps"]):
        y = top + row * (high + 3)
        sheet.text(x + 52, y + high - 3, f"warp {row}", 10, SOFT, "end")
        sheet.rect(x + 58, y, sum(phases) * scale, high, FAINT)
        start = x + 58
        for number, cells in enumerate(warp):
            at = start
            for space, units, ideal, active in cells:
                tall = max(2.0, high * active / 32)
                colour = BLUE if space == "shared" else GREEN
                sheet.rect(at, y + high - tall, scale - .8, tall, colour)
                if units > ideal:
                    sheet.rect(at + scale - .8, y + high - tall, (units / ideal - 1) * scale, tall,
                               HOT_PALE, HOT)
                at += max(1.0, units / ideal) * scale
            start += phases[number] * scale
    bottom, at = top + len(figure["warps"]) * (high + 3), x + 58
    for room in phases[:-1]:
        at += room * scale
        sheet.rect(at - .3 * scale - .6, top - 4, 1.2, bottom - top + 2, INK)
    sheet.text(x + 58, bottom + 12, "Blue: shared memory. Green: global memory. Orange: what a "
               "request costs beyond its ideal. Upright lines: barriers. Widths are counts, not "
               "time.", 10.5)
    return bottom + 20


VIEWS = {"request": request, "lanes": lanes, "banks": banks, "block": block}


def draw(figures: Sequence[Figure]) -> str:
    """One SVG: a figure over the whole width, or several requests next to each other."""
    sheet, side_by_side = Sheet(), len(figures) > 1 and figures[0]["view"] == "request"
    width = WIDTH / len(figures) if side_by_side else WIDTH
    bottom = 0.0
    if figures[0]["view"] == "block":  # to one scale
        room = max(sum(phases_of(figure)) for figure in figures)
        figures = [{**figure, "room": room} for figure in figures]
    for number, figure in enumerate(figures):
        x, y = (number * width, 0.0) if side_by_side else (0.0, bottom)
        bottom = max(bottom, VIEWS[figure["view"]](sheet, figure, x, y, width - 8))
    return sheet.svg(bottom + 4, "; ".join(map(title, figures)))
