"""Numbers of result files as text, and their tables.

The tables made here are shared by `common/plot table` (text) and by the lessons (Markdown).
"""
from __future__ import annotations

import html
import math
import re
from typing import Callable, Dict, List, Optional, Sequence, Tuple

from .results import (Limit, ResultError, ResultFile, Row, Study, find_version, fit, previous,
                      rate_ratio, same_case, spread)

FLAG_WORDS = {
    "noisy": "noisy: the samples differ much; close other programs and run again",
    "few_samples": "few samples: too few for a comparison; raise the time budget",
    "throttled": "throttled: the clock fell during the row; let the GPU cool down",
    "anchors_moved": "the memory's own rates changed during the run: measure again",
    "slow_edges": "the driver took longer from kernel to kernel meanwhile: measure again",
    "debug_build": "Debug build: build Release before you compare",
    "on_battery": "on battery: plug in the laptop",
    "display_timeout": "this GPU drives a display with a time-out",
    "smaller_size": "measured at a smaller size than asked for; compare rates, not times",
    "largest_size": "measured at the largest size that it can take; compare it with no other",
    "l2_resident": "the data fit in the L2 cache: not a memory rate",
}


# Numbers as text

def digits(value: float, significant: int = 4) -> str:
    """A positive number with that many significant digits, never in the form 1e+04."""
    if value <= 0:
        return "0"
    return f"{value:.{max(0, significant - 1 - math.floor(math.log10(value)))}f}"


def time_text(seconds: float) -> str:
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 1:
            return f"{digits(seconds * factor)} {unit}"
    return f"{digits(seconds * 1e9)} ns"


def count_text(value: float) -> str:
    """2^28 for a power of two from 1024 up, plain digits otherwise."""
    whole = int(value)
    if whole == value and whole >= 1024 and whole & (whole - 1) == 0:
        return f"2^{whole.bit_length() - 1}"
    return str(whole) if whole == value else f"{value:g}"


def parse_count(text: str) -> int:
    """The inverse of count_text: '2^28' or '268435456'."""
    match = re.fullmatch(r"(\d+)(?:\^(\d+))?", text.strip())
    if not match:
        raise ResultError(f"'{text}' is not a size (write 268435456 or 2^28)")
    return int(match[1]) ** int(match[2] or 1)


def size_text(size: Dict[str, int]) -> str:
    if set(size) == {"rows", "cols"}:
        return f"{size['rows']}x{size['cols']}"
    return ", ".join(f"{name} = {count_text(value)}" for name, value in size.items())


def ratio_text(ratio: Optional[float]) -> str:
    if ratio is None:
        return "-"
    return f"{ratio:.2f}x" if 0.1 <= ratio < 10 else f"{digits(ratio, 3 if ratio > 1 else 2)}x"


def percent_text(row: Row) -> str:
    if row.of_limit is None:
        return "-"
    if row.of_limit > 1 and row.l2 == "resident":
        return "in L2"
    return "<0.1 %" if row.of_limit < 0.001 else f"{100 * row.of_limit:.1f} %"


# Tables

def _time_cell(_: ResultFile, row: Row) -> str:
    part = spread(row)
    return time_text(row.median_s) + ("" if part is None else f" +-{100 * part:.1f}%")


def _check_cell(_: ResultFile, row: Row) -> str:
    return "ok" if row.verified else "unchecked"


def _at_clock_cell(_: ResultFile, row: Row) -> str:
    """The share of a limit that names its clock, converted to the row's own clock."""
    found = re.search(r"at (\d+) MHz", (row.limit.how or "") if row.limit else "")
    if not found or not row.clock_mhz or row.of_limit is None:
        return "-"
    return f"{100 * row.of_limit * float(found[1]) / row.clock_mhz:.1f} %"


def _fit_cell(result: ResultFile, row: Row, part: int) -> str:
    found = fit(result, row)
    if found is None:
        return "-"
    return time_text(found[0]) if part == 0 else f"{digits(found[1] * 1e-9)} GB/s"


FIELDS: Dict[str, Tuple[str, Callable[[ResultFile, Row], str]]] = {
    "title": ("title", lambda _, row: row.title),
    "size": ("size", lambda _, row: size_text(row.size)),
    "time": ("time", _time_cell),
    "rate": ("rate", lambda _, row: f"{digits(row.rate)} {row.unit}"),
    "of_limit": ("% of limit", lambda _, row: percent_text(row)),
    "x_previous": ("x previous", lambda f, row: ratio_text(rate_ratio(row, previous(f, row)))),
    "check": ("check", _check_cell),
    "at_clock": ("% at its clock", _at_clock_cell),
    "clock": ("clock", lambda _, row: f"{row.clock_mhz:.0f} MHz" if row.clock_mhz else "-"),
    "registers": ("registers", lambda _, row: str(row.launch.get("registers", "-"))),
    "blocks_per_sm": ("blocks per SM", lambda _, row: str(row.launch.get("blocks_per_sm", "-"))),
    "fit_t0": ("t0", lambda f, row: _fit_cell(f, row, 0)),
    "fit_bw": ("BW", lambda f, row: _fit_cell(f, row, 1)),
    "bytes": ("bytes", lambda _, row: "-" if row.bytes is None else count_text(row.bytes)),
}
SHORT = {"% of limit": "% limit", "x previous": "x prev",  # in the terminal
         "wavefronts per shared request": "wavefronts"}
STANDARD_FIELDS = ("time", "rate", "of_limit", "x_previous", "check")


def heading(field: str) -> str:
    if field.startswith("ratio:"):
        return f"over {field[6:]}"
    if field not in FIELDS:
        raise ResultError(f"unknown column '{field}' (known: {', '.join(FIELDS)}, ratio:VERSION)")
    return FIELDS[field][0]


def cell(result: ResultFile, row: Row, field: str) -> str:
    """One field of a row as text; the reason in words when the row has no numbers."""
    heading(field)  # refuses unknown fields, even for rows without numbers
    if row.words and field not in ("title", "size"):
        return row.words
    if field.startswith("ratio:"):
        other = find_version(result, row.study, field[6:])
        return ratio_text(rate_ratio(row, same_case(result, row, other)))
    return FIELDS[field][1](result, row)


Table = Tuple[List[str], List[List[str]]]  # headings, rows; a short row ends in a cell of words


def besides(rows: Sequence[Row], axis: Optional[str]) -> List[str]:
    """Dimensions other than the axis; those that equal it in all rows (squares) are not."""
    names = dict.fromkeys(name for row in rows for name in row.size if name != axis)
    return [name for name in names if axis is None
            or any(row.size.get(name) != row.size.get(axis) for row in rows)]


def qualifier(row: Row, rows: Sequence[Row], axis: Optional[str] = None) -> str:
    """The difference of a row from most of `rows`: ' (f64, n = 2^20)', usually nothing."""
    parts, dimensions = [], besides(rows, axis)
    for get in (lambda r: r.type, lambda r: r.input,
                lambda r: size_text({k: r.size[k] for k in dimensions if k in r.size})):
        values = [get(other) for other in rows]
        if get(row) != max(values, key=values.count):
            parts.append(get(row))
    return f" ({', '.join(parts)})" if parts else ""


def series(rows: Sequence[Row], axis: str) -> Dict[str, List[Row]]:
    """The rows of a study as lines over its axis: one per version and case, sorted."""
    lines: Dict[str, List[Row]] = {}
    for row in sorted(rows, key=lambda r: r.size[axis]):
        lines.setdefault(row.version + qualifier(row, rows, axis), []).append(row)
    order = list(dict.fromkeys(row.version for row in rows))
    return dict(sorted(lines.items(), key=lambda item: order.index(item[1][0].version)))


def version_table(result: ResultFile, rows: Sequence[Row], fields: Sequence[str]) -> Table:
    """One line per row. A row without numbers is short: its last cell is the reason."""
    table = []
    for row in rows:
        shown = [field for field in fields if field in ("title", "size")] if row.words else fields
        table.append([row.version + ("" if "size" in fields else qualifier(row, rows))]
                     + [cell(result, row, field) for field in shown]
                     + ([row.words] if row.words else []))
    return ["version"] + [heading(field) for field in fields], table


Column = Tuple[str, List[Row], str]  # a version's name, its rows, a field


def axis_table(result: ResultFile, axis: str, columns: Sequence[Column]) -> Table:
    """One line per value of the axis, one column per (name, rows, field). Units: in the heading."""
    places = sorted({(row.size[axis],) for _, rows, _ in columns for row in rows})
    return _table_of_columns(result, [axis], columns, places)


def size_table(result: ResultFile, columns: Sequence[Column]) -> Table:
    """One line per size, in the file's order: a column per dimension, then as in axis_table."""
    sizes = [row.size for _, rows, _ in columns for row in rows]
    names = list(dict.fromkeys(name for size in sizes for name in size))
    places = dict.fromkeys(tuple(size.get(name) for name in names) for size in sizes)
    return _table_of_columns(result, names, columns, list(places))


def _table_of_columns(result: ResultFile, names: List[str], columns: Sequence[Column],
                      places: Sequence[Tuple[Optional[int], ...]]) -> Table:
    """One line per place: these values of the dimensions `names`, then the columns."""
    headers = list(names)
    for name, rows, field in columns:
        units = {row.unit for row in rows if not row.words}
        headers.append(f"{name} {heading(field) if field != 'rate' else ', '.join(units)}".rstrip())
    table = []
    for place in places:
        line = ["-" if value is None else count_text(value) for value in place]
        for _, rows, field in columns:
            row = next((r for r in rows
                        if tuple(r.size.get(name) for name in names) == place), None)
            text = "-" if row is None else cell(result, row, field).split(":")[0]
            if row and not row.words and field == "rate":
                text = digits(row.rate)
            line.append(text)
        table.append(line)
    return headers, table


def cut(text: str, width: int) -> str:
    """A text cut to `width` letters; two dots mark the cut."""
    return text if len(text) <= width else text[:width - 2] + ".."


def for_markdown(text: str) -> str:
    """A text from outside, with everything escaped that Markdown would take for HTML or a link."""
    return html.escape(text, quote=False).replace("[", "\\[")


def to_markdown(table: Table) -> str:
    headers, rows = table
    lines = ["| " + " | ".join(headers) + " |", "|---" + "|--:" * (len(headers) - 1) + "|"]
    for row in rows:
        full = row + [""] * (len(headers) - len(row))
        lines.append("| " + " | ".join(text.replace("|", "\\|").replace("+-", "\u00b1")
                                       for text in full) + " |")
    return "\n".join(lines)


def to_text(table: Table, width: int = 80) -> str:
    """A table for the terminal: at most `width` columns wide, continued below where it is wider."""
    headers, rows = [SHORT.get(text, text) for text in table[0]], table[1]
    full = [row for row in rows if len(row) == len(headers)]
    widths = [max(len(row[k]) for row in [headers] + full) for k in range(len(headers))]
    widths[0] = max(len(row[0]) for row in [headers] + rows)
    excess = sum(widths) + 2 * (len(widths) - 1) - width
    if 0 < excess <= widths[0] - 12:
        widths[0] -= excess
    lines, start = [], 1
    while start < len(headers):
        stop = start + 1
        while stop < len(headers) and \
                widths[0] + sum(w + 2 for w in widths[start:stop + 1]) <= width:
            stop += 1
        if lines:
            lines.append("")
        for row in [headers] + rows:
            name = cut(row[0], widths[0])
            tail = row[start:]  # words, in a short row
            if len(row) == len(headers):
                tail = [row[k].rjust(widths[k]) for k in range(start, stop)]
            lines.append("  ".join([name.ljust(widths[0])] + tail).rstrip())
        start = stop
    return "\n".join(lines)


def study_table(result: ResultFile, study: Study) -> Table:
    """The standard table of a study: rates over its axis, or one line a version."""
    rows, axis = result.rows_of(study.name), result.axis(study)
    if axis is None:
        return version_table(result, rows, STANDARD_FIELDS)
    columns = [(name, line, "rate") for name, line in series(rows, axis).items()]
    return axis_table(result, axis, columns)


def limit_rows(rows: Sequence[Row], limit: Limit) -> str:
    """If a study has several limits: which rows this one is for, unless it is for most."""
    mine = [row for row in rows if row.limit == limit]
    if 2 * len(mine) >= len([row for row in rows if row.limit]):
        return ""
    return f", for {', '.join(dict.fromkeys(row.version + qualifier(row, rows) for row in mine))}"


def notes(result: ResultFile, study: Study) -> List[str]:
    """The notes below the table of a study: limits, flags, and reasons that did not fit into it."""
    rows, lines = result.rows_of(study.name), []
    for limit in dict.fromkeys(row.limit for row in rows if row.limit):
        how = f" ({limit.how})" if limit.how else ""
        lines.append(f"limit: {limit.name}, {digits(limit.value)} {limit.unit}{how}"
                     + limit_rows(rows, limit))
    if result.axis(study):
        lines += dict.fromkeys(f"{row.version}: {row.words}" for row in rows if row.words)
    for flag in dict.fromkeys(flag for row in rows for flag in row.flags):
        who = dict.fromkeys(row.version for row in rows if flag in row.flags)
        lines.append(f"{', '.join(who)}: {FLAG_WORDS.get(flag, flag)}")
    return lines
