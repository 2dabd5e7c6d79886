"""Result files (schema 1): reading and checking them, and writing their numbers as text.

`load` gives a `ResultFile` or raises `ResultError`, whose text is one line that names the file. The
tables made here are shared by `common/plot table` (text) and by the lessons (Markdown).
"""
from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

SCHEMA = 1
ROLES = ("version", "peer", "limit", "exercise")
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


class ResultError(Exception):
    """A result file that cannot be used, or a study or version that it does not have."""


@dataclass(frozen=True)
class Gpu:
    name: str
    l2_bytes: Optional[int]
    copy_gbs: Optional[float]
    read_gbs: Optional[float]
    peak_dram_gbs: Optional[float]


@dataclass(frozen=True)
class Limit:
    name: str
    value: float
    unit: str
    how: str


@dataclass(frozen=True)
class Study:
    name: str
    title: str
    axis: Optional[str]
    axis_label: str
    log_axis: bool


@dataclass(frozen=True)
class Row:
    """One version at one size. Times are seconds per launch, `rate` is in `unit`."""
    study: str
    version: str
    title: str
    role: str
    type: str
    input: str
    size: Dict[str, int]
    seconds: Tuple[float, ...]
    median_s: Optional[float]
    q1_s: Optional[float]
    q3_s: Optional[float]
    rate: Optional[float]
    unit: str
    bytes: Optional[int]
    flops: Optional[int]
    limit: Optional[Limit]
    of_limit: Optional[float]
    l2: Optional[str]
    clock_mhz: Optional[float]
    verified: Optional[bool]
    flags: Tuple[str, ...]
    skipped: Optional[str]
    launch: Dict[str, Any]
    file: Optional[str] = None  # that the version is written in, and the hash of its code
    code: Optional[str] = None
    behind: Optional[str] = None  # what each launch came behind; files before 2026-11-22 do not say
    mode: Optional[str] = None  # how it was launched: replayed from a graph, plainly, ...

    @property
    def words(self) -> str:
        """Why the row has no numbers; empty when it has them."""
        if self.verified is False:  # then `skipped` says what was wrong, if anything
            return f"FAILED: {self.skipped}" if self.skipped else "FAILED"
        if self.skipped:
            return f"skipped: {self.skipped}"
        return "" if self.rate and self.median_s else "not measured"

    @property
    def rate_range(self) -> Tuple[float, float]:
        """The rates at the upper and the lower quartile of the time (for a row with numbers)."""
        assert self.rate and self.median_s
        slow, fast = self.q3_s or self.median_s, self.q1_s or self.median_s
        return self.rate * self.median_s / slow, self.rate * self.median_s / fast

    @property
    def case(self) -> Tuple:
        """What was run, apart from the version."""
        return (self.type, self.input, tuple(sorted(self.size.items())))


@dataclass(frozen=True)
class ResultFile:
    path: Path
    chapter: str
    label: Optional[str]
    commit: Optional[str]
    date: str
    interrupted: bool
    gpu: Gpu
    environment: Dict[str, Optional[str]]
    studies: Tuple[Study, ...]
    rows: Tuple[Row, ...]

    def study(self, name: str) -> Study:
        for study in self.studies:
            if study.name == name:
                return study
        known = ", ".join(study.name for study in self.studies) or "none"
        raise ResultError(f"{self.path}: no study '{name}' (it has: {known})")

    def rows_of(self, study: str) -> List[Row]:
        return [row for row in self.rows if row.study == study]

    def axis(self, study: Study) -> Optional[str]:
        """The dimension along x: the study's own, else the one in which a version's rows differ."""
        if study.axis:
            return study.axis
        sizes: Dict[str, List[Dict[str, int]]] = {}
        for row in self.rows_of(study.name):
            sizes.setdefault(row.version, []).append(row.size)
        differing = {name for same in sizes.values() for name in same[0]
                     if any(size.get(name) != same[0][name] for size in same)}
        return differing.pop() if len(differing) == 1 else None

    def provenance(self) -> str:
        """Where the numbers come from, in one line."""
        cuda = self.environment.get("cuda")
        measured = [row for row in self.rows if row.seconds]
        old = self.commit and measured and all(row.behind is None for row in measured)
        parts = [self.gpu.name, f"CUDA {cuda}" if cuda else "", self.date[:10],
                 f"commit {self.commit}" if self.commit else "commit unknown",
                 "each launch behind itself" if old else "",
                 "interrupted" if self.interrupted else ""]
        return ", ".join(part for part in parts if part)


# Reading

_KINDS = {"text": str, "number": (int, float), "object": dict, "list": list, "flag": bool}


def _get(record: Dict[str, Any], key: str, kind: str, where: str) -> Any:
    """The value of a key that must be there; a kind that ends in '?' may be null."""
    if key not in record:
        raise ResultError(f"{where}: the key '{key}' is missing")
    value, name = record[key], kind.rstrip("?")
    if value is None and kind.endswith("?"):
        return None
    if not isinstance(value, _KINDS[name]) or (name == "number" and isinstance(value, bool)):
        raise ResultError(f"{where}: '{key}' is not a {name}")
    if name == "number" and (not math.isfinite(value) or value < 0):
        raise ResultError(f"{where}: '{key}' is {value}; a number here is finite and not negative")
    return value


def _limit(record: Optional[Dict[str, Any]], where: str) -> Optional[Limit]:
    if record is None or record.get("value") is None:
        return None
    return Limit(_get(record, "name", "text", where), _get(record, "value", "number", where),
                 _get(record, "unit", "text", where), record.get("how") or "")


def _study(record: Any, where: str) -> Study:
    if not isinstance(record, dict):
        raise ResultError(f"{where}: not an object")
    axis = _get(record, "axis", "text?", where)
    return Study(_get(record, "name", "text", where), _get(record, "title", "text", where), axis,
                 _get(record, "axis_label", "text?", where) or axis or "",
                 bool(_get(record, "log_axis", "flag?", where)))


def _row(record: Any, where: str) -> Row:
    if not isinstance(record, dict):
        raise ResultError(f"{where}: not an object")

    def get(key: str, kind: str) -> Any:
        return _get(record, key, kind, where)

    rate = get("rate", "object?") or {"value": None, "unit": ""}
    size = get("size", "object")
    row = Row(
        study=get("study", "text"), version=get("version", "text"), title=get("title", "text"),
        role=get("role", "text"), type=get("type", "text"), input=get("input", "text"),
        size={name: _get(size, name, "number", where) for name in size},
        seconds=tuple(_get({"seconds": value}, "seconds", "number", where)
                      for value in get("seconds", "list")),
        median_s=get("median_s", "number?"), q1_s=get("q1_s", "number?"),
        q3_s=get("q3_s", "number?"), rate=_get(rate, "value", "number?", where),
        unit=_get(rate, "unit", "text", where), bytes=get("bytes", "number?"),
        flops=get("flops", "number?"), limit=_limit(get("limit", "object?"), where),
        of_limit=get("of_limit", "number?"), l2=get("l2", "text?"),
        clock_mhz=get("clock_mhz", "number?"), verified=get("verified", "flag?"),
        flags=tuple(get("flags", "list")), skipped=get("skipped", "text?"),
        launch=_get({"launch": None, **record}, "launch", "object?", where) or {},
        **{key: _get({key: None, **record}, key, "text?", where)
           for key in ("file", "code", "behind", "mode")})
    if row.role not in ROLES:
        raise ResultError(f"{where}: the role '{row.role}' is not one of {', '.join(ROLES)}")
    return row


def _parse(path: Path) -> Dict[str, Any]:
    def no_constant(name: str) -> None:
        raise ResultError(f"{path}: {name} is no number of this format (unknown is null)")

    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ResultError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ResultError(f"{path}: cannot be read ({error})") from None
    try:
        data = json.loads(text, parse_constant=no_constant)
    except json.JSONDecodeError as error:
        at_end = text.lstrip()[:1] == "{" and error.pos >= len(text.rstrip()) - 1
        if at_end or error.msg.startswith("Unterminated string"):
            raise ResultError(f"{path}: the file is cut off (JSON ends in the middle); "
                              "run the program again") from None
        raise ResultError(f"{path}:{error.lineno}: not JSON ({error.msg})") from None
    if not isinstance(data, dict) or "schema" not in data:
        raise ResultError(f"{path}: not a result file of the course (no key 'schema')")
    if data["schema"] != SCHEMA:
        raise ResultError(f"{path}: schema {data['schema']}, but this course reads schema "
                          f"{SCHEMA}; measure again")
    return data


def load(path: Path) -> ResultFile:
    """Reads and checks a result file."""
    path = Path(path)
    data, where = _parse(path), str(path)

    def get(key: str, kind: str) -> Any:
        return _get(data, key, kind, where)

    gpu = get("gpu", "object")
    studies = tuple(_study(record, f"{where}: studies[{index}]")
                    for index, record in enumerate(get("studies", "list")))
    rows = tuple(_row(record, f"{where}: results[{index}]")
                 for index, record in enumerate(get("results", "list")))
    axes = {study.name: study.axis for study in studies}
    for index, row in enumerate(rows):
        if row.study not in axes:
            raise ResultError(f"{where}: results[{index}]: 'studies' does not list '{row.study}'")
        if axes[row.study] not in (None, *row.size):
            raise ResultError(f"{where}: results[{index}]: the size has no '{axes[row.study]}', "
                              f"the axis of the study '{row.study}'")
    return ResultFile(
        path=path, chapter=get("chapter", "text"), label=get("label", "text?"),
        commit=get("commit", "text?"), date=get("date", "text"),
        interrupted=get("interrupted", "flag"),
        gpu=Gpu(_get(gpu, "name", "text?", where) or "unknown GPU",
                *(_get(gpu, key, "number?", where)
                  for key in ("l2_bytes", "copy_gbs", "read_gbs", "peak_dram_gbs"))),
        environment={key: None if value is None else str(value)
                     for key, value in get("environment", "object").items()},
        studies=studies, rows=rows)


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


def spread(row: Row) -> Optional[float]:
    """Half the distance of the quartiles, over the median."""
    if not row.median_s or row.q1_s is None or row.q3_s is None or len(row.seconds) < 2:
        return None
    return (row.q3_s - row.q1_s) / 2 / row.median_s


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


def rate_ratio(row: Optional[Row], base: Optional[Row]) -> Optional[float]:
    """The row's rate over the base's; None unless both have one, in the same unit."""
    if row is None or base is None or row.words or base.words or row.unit != base.unit:
        return None
    return row.rate / base.rate


def percent_text(row: Row) -> str:
    if row.of_limit is None:
        return "-"
    if row.of_limit > 1 and row.l2 == "resident":
        return "in L2"
    return "<0.1 %" if row.of_limit < 0.001 else f"{100 * row.of_limit:.1f} %"


# Tables

def pick_one(versions: Sequence[str], name: str, where: str) -> str:
    """The full name of a version, given as '06_vectors' or '06'; `where` begins the error."""
    found = [v for v in versions if name == v] or [v for v in versions if v.split("_")[0] == name]
    if len(found) != 1:
        raise ResultError(f"{where} has no version '{name}' "
                          f"(it has: {', '.join(versions) or 'none'})")
    return found[0]


def pick(versions: Sequence[str], only: str, where: str) -> List[str]:
    """The versions that `only` names, in their order: '01-07,90' or whole names."""
    wanted = set()
    for item in only.split(","):
        ends = re.fullmatch(r"(\d+)-(\d+)", item)
        if ends:
            found = {v for v in versions if re.match(r"\d+", v)
                     and int(ends[1]) <= int(re.match(r"\d+", v)[0]) <= int(ends[2])}
            if not found:
                raise ResultError(f"{where} has no versions {item}")
            wanted |= found
        else:
            wanted.add(pick_one(versions, item, where))
    return [version for version in versions if version in wanted]


def _versions(result: ResultFile, study: str) -> Tuple[List[str], str]:
    """The versions of a study, and how an error names it."""
    return (list(dict.fromkeys(row.version for row in result.rows_of(study))),
            f"{result.path}: the study '{study}'")


def find_version(result: ResultFile, study: str, name: str) -> str:
    """The full name of a version of a study, given as '06_vectors' or '06'."""
    versions, where = _versions(result, study)
    return pick_one(versions, name, where)


def select(result: ResultFile, study: str, only: str) -> List[str]:
    """The versions of a study that `only` names, in the order of the file."""
    versions, where = _versions(result, study)
    return pick(versions, only, where)


def same_case(result: ResultFile, row: Row, version: str) -> Optional[Row]:
    """The row of another version to compare with: the same case, else the only one there is."""
    rows = [other for other in result.rows_of(row.study) if other.version == version]
    exact = [other for other in rows if other.case == row.case]
    alone = [other for other in result.rows_of(row.study) if other.version == row.version] == [row]
    return exact[0] if exact else rows[0] if alone and len(rows) == 1 else None


def previous(result: ResultFile, row: Row) -> Optional[Row]:
    """The row of the version before this one; peers, limits and exercises have none."""
    rows = [other for other in result.rows_of(row.study) if other.role == "version"]
    ladder = list(dict.fromkeys(other.version for other in rows))
    if row.role != "version" or row.version == ladder[0]:
        return None
    before = same_case(result, row, ladder[ladder.index(row.version) - 1])
    pair = [row, before] if before else []
    return None if any("largest_size" in each.flags for each in pair) else before


def _time_cell(_: ResultFile, row: Row) -> str:
    part = spread(row)
    return time_text(row.median_s) + ("" if part is None else f" +-{100 * part:.1f}%")


def _check_cell(_: ResultFile, row: Row) -> str:
    return "ok" if row.verified else "unchecked"


def fit(result: ResultFile, row: Row) -> Optional[Tuple[float, float]]:
    """t = t0 + bytes / rate over all sizes of this version: (t0 in s, rate in bytes/s).

    Least squares of the relative errors, so that small sizes weigh as much as large ones.
    """
    points = [(r.bytes, r.median_s) for r in result.rows_of(row.study)
              if r.version == row.version and r.median_s and r.bytes]
    w = [1 / t ** 2 for _, t in points]
    sw, sx = sum(w), sum(k * x for k, (x, _) in zip(w, points))
    sy = sum(k * t for k, (_, t) in zip(w, points))
    sxx = sum(k * x * x for k, (x, _) in zip(w, points))
    sxy = sum(k * x * t for k, (x, t) in zip(w, points))
    determinant = sw * sxx - sx * sx
    if len(points) < 3 or not determinant > 0:
        return None
    slope = (sw * sxy - sx * sy) / determinant
    return ((sy - slope * sx) / sw, 1 / slope) if slope > 0 else None


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
    heading(field)  # refuses unknown fields, also for rows without numbers
    if row.words and field not in ("title", "size"):
        return row.words
    if field.startswith("ratio:"):
        other = find_version(result, row.study, field[6:])
        return ratio_text(rate_ratio(row, same_case(result, row, other)))
    return FIELDS[field][1](result, row)


Table = Tuple[List[str], List[List[str]]]  # headings, rows; a short row ends in a cell of words


def besides(rows: Sequence[Row], axis: Optional[str]) -> List[str]:
    """Dimensions beside the axis; those that equal it in all rows (squares) are not."""
    names = dict.fromkeys(name for row in rows for name in row.size if name != axis)
    return [name for name in names if axis is None
            or any(row.size.get(name) != row.size.get(axis) for row in rows)]


def qualifier(row: Row, rows: Sequence[Row], axis: Optional[str] = None) -> str:
    """What sets a row apart from most of `rows`: ' (f64, n = 2^20)', usually nothing."""
    parts, dimensions = [], besides(rows, axis)
    for get in (lambda r: r.type, lambda r: r.input,
                lambda r: size_text({k: r.size[k] for k in dimensions if k in r.size})):
        values = [get(other) for other in rows]
        if get(row) != max(values, key=values.count):
            parts.append(get(row))
    return f" ({', '.join(parts)})" if parts else ""


def series(rows: Sequence[Row], axis: str) -> Dict[str, List[Row]]:
    """The rows of a study as lines over its axis: one a version and case, sorted along the axis."""
    lines: Dict[str, List[Row]] = {}
    for row in sorted(rows, key=lambda r: r.size[axis]):
        lines.setdefault(row.version + qualifier(row, rows, axis), []).append(row)
    order = list(dict.fromkeys(row.version for row in rows))
    return dict(sorted(lines.items(), key=lambda item: order.index(item[1][0].version)))


def version_table(result: ResultFile, rows: Sequence[Row], fields: Sequence[str]) -> Table:
    """One line a row. A row without numbers is short: its last cell is the reason."""
    table = []
    for row in rows:
        shown = [field for field in fields if field in ("title", "size")] if row.words else fields
        table.append([row.version + ("" if "size" in fields else qualifier(row, rows))]
                     + [cell(result, row, field) for field in shown]
                     + ([row.words] if row.words else []))
    return ["version"] + [heading(field) for field in fields], table


Column = Tuple[str, List[Row], str]  # a version's name, its rows, a field


def axis_table(result: ResultFile, axis: str, columns: Sequence[Column]) -> Table:
    """One line a value of the axis, one column a (name, rows, field). Units are in the heading."""
    places = sorted({(row.size[axis],) for _, rows, _ in columns for row in rows})
    return _table_of_columns(result, [axis], columns, places)


def size_table(result: ResultFile, columns: Sequence[Column]) -> Table:
    """One line a size, in the order of the file: a column a dimension, then those of axis_table."""
    sizes = [row.size for _, rows, _ in columns for row in rows]
    names = list(dict.fromkeys(name for size in sizes for name in size))
    places = dict.fromkeys(tuple(size.get(name) for name in names) for size in sizes)
    return _table_of_columns(result, names, columns, list(places))


def _table_of_columns(result: ResultFile, names: List[str], columns: Sequence[Column],
                      places: Sequence[Tuple[Optional[int], ...]]) -> Table:
    """One line a place: these values of the dimensions `names`, then a column each."""
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
            name = row[0] if len(row[0]) <= widths[0] else row[0][:widths[0] - 2] + ".."
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
    """Where a study has several limits: which rows this one is for, unless it is for most."""
    mine = [row for row in rows if row.limit == limit]
    if 2 * len(mine) >= len([row for row in rows if row.limit]):
        return ""
    return f", for {', '.join(dict.fromkeys(row.version + qualifier(row, rows) for row in mine))}"


def notes(result: ResultFile, study: Study) -> List[str]:
    """What stands below the table of a study: limits, flags, and reasons that had no room in it."""
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
