"""Result files (schema 1): reading and checking them, and choosing from their rows.

`load` gives a `ResultFile` or raises `ResultError`, whose text is one line that names the file.
"""
from __future__ import annotations

import datetime
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import one_line

SCHEMA = 1
ROUNDING = 1e-6  # numbers have nine digits
ROLES = ("version", "peer", "limit", "exercise")
VERDICTS = ("passed", "right", "not yet")
ACCESSES = {f"{space}_{what}" for space in ("global", "shared")
            for what in ("loads", "stores", "atomics")}
LARGEST, SMALLEST = 1e30, 1e-30  # of numbers whose products and quotients cannot overflow
LONGEST = 1000  # characters of an error, which may quote what a file has


class ResultError(Exception):
    """A result file that cannot be used, or a study or version that it does not have."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message)[:LONGEST])


@dataclass(frozen=True)
class Gpu:
    name: str
    l2_bytes: Optional[int]
    copy_gbs: Optional[float]
    read_gbs: Optional[float]
    peak_dram_gbs: Optional[float]
    memory_bytes: Optional[int] = None
    sm_count: Optional[int] = None

    @property
    def kind(self) -> Tuple[str, int, int]:
        """Which GPUs are the same one: name, memory in GiB and rate of its pins in GB/s. One name
        is sold with several memories."""
        return (self.name, round((self.memory_bytes or 0) / 2**30), round(self.peak_dram_gbs or 0))


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
class Judged:
    """The verdict on an exercise: 'passed', 'right' (only a GPU can pass it) or 'not yet'."""
    number: int
    verdict: str
    reason: str
    compared: str
    asked_ratio: Optional[float]
    submission: Optional[str]


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
    file: Optional[str] = None  # the version's source file, and the hash of its code
    code: Optional[str] = None
    behind: Optional[str] = None  # what each launch followed; absent in files before 2026-11-22
    mode: Optional[str] = None  # how it was launched: replayed from a graph, plainly, ...
    instantiations: Tuple[float, ...] = ()  # seconds per launch of each graph that was tried
    model: Optional[Dict[str, Any]] = None  # CPU backend: what it counted
    findings: Tuple[str, ...] = ()  # CPU backend: kinds of what its checkers found

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
    judged: Optional[Judged] = None  # of an exercise's file

    @property
    def on_cpu(self) -> bool:
        return self.environment.get("backend") == "cpu"

    @property
    def in_future(self) -> bool:
        """By more than any time zone."""
        return self.date[:10] > str(datetime.date.today() + datetime.timedelta(days=1))

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

_KINDS = {"text": {str}, "number": {int, float}, "object": {dict}, "list": {list}, "flag": {bool}}
_A = {name: f"an {name}" if name[0] == "o" else f"a {name}" for name in _KINDS}
_KINDS.update({f"{name}?": types | {type(None)} for name, types in _KINDS.items()})


def _get(record: Dict[str, Any], key: str, kind: str, where: str,
         least: float = 0) -> Any:
    """The value of a key that must be there; a kind that ends in '?' may be null. A number must be
    fit for arithmetic and not below `least`; a text must be a single line."""
    if key not in record:
        raise ResultError(f"{where}: the key '{key}' is missing")
    value = record[key]
    if type(value) not in _KINDS[kind]:
        raise ResultError(f"{where}: '{key}' is not {_A[kind.rstrip('?')]}")
    if type(value) is str:
        return one_line(value)
    if type(value) in _KINDS["number"] and not (
            least <= value < LARGEST and (value == 0 or abs(value) > SMALLEST)):
        raise ResultError(f"{where}: '{key}' is {str(value)[:20]}; a number here is finite, at least "
                          f"{least:g}, and 0 or of a size between 1e-30 and 1e30")
    return value


def _maybe(record: Dict[str, Any], key: str, kind: str, where: str) -> Any:
    """The value of a key that older files do not have; then None."""
    return _get(record, key, kind, where) if key in record else None


def _numbers(values: Sequence[Any], key: str, where: str) -> Tuple[float, ...]:
    """The numbers of a list. Files of a class have many, so good ones pass a quick check."""
    if values and not (set(map(type, values)) <= _KINDS["number"] and min(values) > SMALLEST
                       and max(values) < LARGEST):
        for value in values:
            _get({key: value}, key, "number", where)
    return tuple(values)


def _limit(record: Optional[Dict[str, Any]], where: str) -> Optional[Limit]:
    if record is None or record.get("value") is None:
        return None
    return Limit(_get(record, "name", "text", where), _get(record, "value", "number", where),
                 _get(record, "unit", "text", where), _maybe(record, "how", "text?", where) or "")


def _texts(values: Sequence[Any], key: str, where: str) -> Tuple[str, ...]:
    return tuple(_get({key: value}, key, "text", where) for value in values)


def _findings(values: Sequence[Any], where: str) -> Tuple[str, ...]:
    """The kinds of what the checkers found."""
    return tuple(_get(_get({"findings": value}, "findings", "object", where), "kind", "text", where)
                 for value in values)


def _counted(model: Optional[Dict[str, Any]], where: str) -> Optional[Dict[str, Any]]:
    """The CPU backend's counts: numbers, and for each kind of access an object of numbers. The
    counts of its kernels are not read."""
    where = f"{where}: model"
    for key, value in (model or {}).items():
        kind = "object?" if key in ACCESSES else "flag?" if key == "exact" else "number?"
        found = None if key == "kernels" else _get(model or {}, key, kind, where)
        for inner in found if isinstance(found, dict) else ():
            _get(value, inner, "number?", where)
    return model


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
        # A coordinate among the dimensions may be negative.
        size={one_line(name): _get(size, name, "number", where, -2.0 ** 62) for name in size},
        seconds=_numbers(get("seconds", "list"), "seconds", where),
        median_s=get("median_s", "number?"), q1_s=get("q1_s", "number?"),
        q3_s=get("q3_s", "number?"), rate=_get(rate, "value", "number?", where),
        unit=_get(rate, "unit", "text", where), bytes=get("bytes", "number?"),
        flops=get("flops", "number?"), limit=_limit(get("limit", "object?"), where),
        of_limit=get("of_limit", "number?"), l2=get("l2", "text?"),
        clock_mhz=get("clock_mhz", "number?"), verified=get("verified", "flag?"),
        flags=_texts(get("flags", "list"), "flags", where), skipped=get("skipped", "text?"),
        launch=_maybe(record, "launch", "object?", where) or {},
        **{key: _maybe(record, key, "text?", where)
           for key in ("file", "code", "behind", "mode")},
        instantiations=_numbers(_maybe(record, "instantiations_s", "list?", where) or (),
                                "instantiations_s", where),
        model=_counted(_maybe(record, "model", "object?", where), where),
        findings=_findings(_maybe(record, "findings", "list?", where) or (), where))
    if row.role not in ROLES:
        raise ResultError(f"{where}: the role '{row.role}' is not one of {', '.join(ROLES)}")
    return row


def _judged(record: Optional[Dict[str, Any]], where: str) -> Optional[Judged]:
    if record is None:
        return None
    verdict = _get(record, "verdict", "text", where)
    if verdict not in VERDICTS:
        raise ResultError(f"{where}: the verdict '{verdict}' is not one of {', '.join(VERDICTS)}")
    number = _get(record, "number", "number", where, 1)
    if number != int(number):
        raise ResultError(f"{where}: exercise {number}")
    return Judged(int(number), verdict,
                  _get(record, "reason", "text?", where) or "",
                  _get(record, "compared", "text?", where) or "",
                  _get(record, "asked_ratio", "number?", where),
                  _maybe(record, "submission", "text?", where))


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
    except (RecursionError, ValueError) as error:  # lists in lists in lists, thousands of digits
        raise ResultError(f"{path}: not a result file of the course ({error})") from None
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
    chapter, date = get("chapter", "text"), get("date", "text")
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,80}", chapter):
        raise ResultError(f"{where}: 'chapter' is '{chapter[:80]}', which no chapter can be called")
    if not re.match(r"\d{4}-\d\d-\d\d(T|$)", date):
        raise ResultError(f"{where}: 'date' is '{date[:40]}', not a date such as "
                          "2026-11-20T19:00:00Z")
    return ResultFile(
        path=path, chapter=chapter, label=get("label", "text?"),
        commit=get("commit", "text?"), date=date,
        interrupted=get("interrupted", "flag"),
        gpu=Gpu(_get(gpu, "name", "text?", where) or "unknown GPU",
                *(_get(gpu, key, "number?", where)
                  for key in ("l2_bytes", "copy_gbs", "read_gbs", "peak_dram_gbs")),
                *(_maybe(gpu, key, "number?", where)
                  for key in ("memory_bytes", "sm_count"))),
        environment={one_line(key): None if value is None else one_line(str(value))
                     for key, value in get("environment", "object").items()},
        studies=studies, rows=rows,
        judged=_judged(_maybe(data, "exercise", "object?", where), where))


# Choosing rows

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


# What follows from rows

def spread(row: Row) -> Optional[float]:
    """Half the distance of the quartiles, over the median."""
    if not row.median_s or row.q1_s is None or row.q3_s is None or len(row.seconds) < 2:
        return None
    return (row.q3_s - row.q1_s) / 2 / row.median_s


def rate_ratio(row: Optional[Row], base: Optional[Row]) -> Optional[float]:
    """The row's rate over the base's; None unless both have one, in the same unit."""
    if row is None or base is None or row.words or base.words or row.unit != base.unit:
        return None
    return row.rate / base.rate


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
