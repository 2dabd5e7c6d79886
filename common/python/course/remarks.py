"""Result files as they should be read: numbers recomputed from samples and the memory's own rates,
and remarks on inconsistencies.

A remark states a fact, never its reason. A file is text, and a careful forger can make one that
passes every check here: results that count have to be run again.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import statistics
from typing import Dict, FrozenSet, Iterable, List, NamedTuple, Optional, Sequence, Set, Tuple

from . import ROOT, Problem, chapters, code, intervals, results
from .results import Gpu, ResultFile, Row
from .tables import FLAG_WORDS as TABLE_WORDS

GIGA = {"GB/s": ("bytes", 1e9), "GFLOP/s": ("flops", 1e9), "TFLOP/s": ("flops", 1e12)}
MEMORY_LIMITS = ("reads", "read and write mix")
FITS = 1e-3              # how far a written number may lie from the recomputed one
OTHER_LIMIT = 0.05       # how far a card's own rates may lie from those of the same kind
ABOVE = 1.05             # a limit that is measured is reached within this
PINS = 1.02
OTHER_WORK = 0.01        # how far the bytes of a size that the record lacks may lie from its others
NOISY = 0.05             # half the distance of the quartiles over the median, as measure/ flags it
INSTANTIATIONS = (0.7, 1.4)  # the best graph's first time over the median; recorded: 0.85 to 1.12
ENOUGH_TO_BE_UNIQUE = 5  # so many samples, to nine digits, are never measured twice

FLAG_WORDS = {**TABLE_WORDS, "interrupted": "the run was interrupted"}

Key = Tuple[str, str, Tuple]


class Remark(NamedTuple):
    """An observation: `kind` is one word for a column, `text` the sentence, `rows` the versions
    that it is about if that is not the whole file."""

    kind: str
    text: str
    rows: Tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """'3 rows: 01_a, 02_b', at most three names; empty for a whole file."""
        names = list(dict.fromkeys(self.rows))
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        return f"{self.count}: {', '.join(names[:3])}{more}" if names else ""

    @property
    def count(self) -> str:
        return f"{len(self.rows)} row{'' if len(self.rows) == 1 else 's'}" if self.rows else ""

    @property
    def sentence(self) -> str:
        return self.text + (f" ({self.where})" if self.rows else "")


class Doubts(NamedTuple):
    """A file with recomputed numbers, and the remarks made on the way."""

    file: ResultFile
    remarks: List[Remark]


class Works(NamedTuple):
    """Amounts of work: bytes, operations, and what the rate counts, in its unit times seconds."""

    bytes: Optional[float]
    flops: Optional[float]
    amount: Optional[float]


class KnownVersion(NamedTuple):
    """What the record says about a version of a study."""

    file: Optional[str]
    role: str
    l2: Optional[str]
    cases: FrozenSet[Tuple]
    by_work: bool  # whether the rate counts the row's own bytes or operations


class Reference(NamedTuple):
    """What this copy of the course knows about a chapter: its record and its sources' hashes."""

    rows: Dict[Key, Row]
    shares: Dict[Tuple[str, str], float]  # of the bytes that are written, where all sizes agree
    works: Dict[Tuple[str, ...], Works]  # per element, where all sizes agree
    studies: Tuple[str, ...]
    limits: FrozenSet[str]  # their names
    versions: Dict[Tuple[str, str], KnownVersion]  # by study and name
    gpu: Optional[Gpu]
    hashes: Dict[str, str]


def key_of(row: Row) -> Key:
    return (row.study, row.version, row.case)


@functools.lru_cache(maxsize=None)
def reference(chapter: str) -> Reference:
    """The record and the sources of a chapter; empty for one that is not there."""
    nothing = Reference({}, {}, {}, (), frozenset(), {}, None, {})
    try:
        found = chapters.find(chapter)
    except Problem:
        return nothing
    if found.name != chapter:
        return nothing
    hashes = code.hashes(found.path, ROOT / "common")
    record = found.recorded()
    if not record:
        return nothing._replace(hashes=hashes)
    file = results.load(record)
    rows = {key_of(row): row for row in file.rows if row.seconds}
    timed = list(rows.values())
    return Reference(rows, shares_of(timed, file.gpu), works_of(timed),
                     tuple(study.name for study in file.studies),
                     frozenset(row.limit.name for row in timed if row.limit),
                     versions_of(file.rows), file.gpu, hashes)


def in_courses_order(chapter: str, studies: Iterable[str]) -> List[str]:
    """Names of studies as the chapter's record has them, then those that it lacks."""
    order = reference(chapter).studies
    return sorted(studies, key=lambda name: order.index(name) if name in order else len(order))


def shares_of(rows: Sequence[Row], gpu: Gpu) -> Dict[Tuple[str, str], float]:
    """The written share of each version's bytes, if it is the same at all sizes."""
    found: Dict[Tuple[str, str], List[Optional[float]]] = {}
    for row in rows:
        found.setdefault((row.study, row.version), []).append(write_share(row, gpu))
    return {key: values[0] for key, values in found.items()
            if values[0] is not None and all(value is not None and abs(value - values[0]) < 2e-3
                                             for value in values)}


def elements(row: Row) -> float:
    return math.prod(row.size.values())


def versions_of(rows: Sequence[Row]) -> Dict[Tuple[str, str], KnownVersion]:
    """By study and name: versions of one name may be written differently for each study."""
    found: Dict[Tuple[str, str], List[Row]] = {}
    for row in rows:
        found.setdefault((row.study, row.version), []).append(row)
    return {key: KnownVersion(same[0].file, same[0].role,
                              "cold" if all(row.l2 == "cold" for row in same) else None,
                              frozenset(row.case for row in same), all(map(counts_work, same)))
            for key, same in found.items()}


def counts_work(row: Row) -> bool:
    """Whether the rate is of the row's own bytes or operations: not where blocks pass them on."""
    if row.unit not in GIGA or not row.rate or not row.median_s:
        return True
    name, scale = GIGA[row.unit]
    return near(row.rate * row.median_s * scale, getattr(row, name) or 0)


def work_keys(row: Row) -> Tuple[Tuple[str, ...], Tuple[str, ...]]:
    """Within its study, and in all."""
    case = (row.version, row.type, row.input, row.unit)
    return (row.study, *case), case


def works_of(rows: Sequence[Row]) -> Dict[Tuple[str, ...], Works]:
    """Each version's work per element (of the product of all dimensions), if it was measured at
    several sizes and hardly depends on them; None for work that does."""
    found: Dict[Tuple[str, ...], List[Tuple[float, Works]]] = {}
    for row in rows:
        count = elements(row)
        if row.rate and row.median_s and count > 0:
            each = Works((row.bytes or 0) / count, (row.flops or 0) / count,
                         row.rate * row.median_s / count)
            for key in work_keys(row):
                found.setdefault(key, []).append((count, each))
    return {key: Works(*(values[0] if near(min(values), max(values)) else None
                         for values in zip(*(each for _, each in measured))))
            for key, measured in found.items() if len({count for count, _ in measured}) > 1}


def near(value: float, known: float) -> bool:
    """The same work, up to partial results and tails."""
    return abs(value - known) <= OTHER_WORK * known


# Numbers again

def write_share(row: Row, gpu: Gpu) -> Optional[float]:
    """How much of a row's bytes are written, from its limit and the rates that it was made of.

    A limit is bytes over seconds; a byte read takes 1 / read, one written 2 / copy - 1 / read.
    """
    if not (row.limit and row.limit.name in MEMORY_LIMITS and gpu.read_gbs and gpu.copy_gbs):
        return None
    read_s, write_s = 1 / gpu.read_gbs, 2 / gpu.copy_gbs - 1 / gpu.read_gbs
    share = (1 / row.limit.value - read_s) / (write_s - read_s) if write_s != read_s else 0.0
    return share if -0.001 <= share <= 1.001 else None


def limit_of(row: Row, gpu: Gpu, known: Reference) -> Optional[float]:
    """The limit of a row from its own machine's rates; as written if it is no limit of memory."""
    if not row.limit:
        return None
    same = known.rows.get(key_of(row))
    share = write_share(same, known.gpu) if same and known.gpu else known.shares.get(
        (row.study, row.version))
    if share is None or row.limit.unit != "GB/s" or not gpu.read_gbs or not gpu.copy_gbs:
        return row.limit.value  # what the file calls it does not matter
    read_s, write_s = 1 / gpu.read_gbs, 2 / gpu.copy_gbs - 1 / gpu.read_gbs
    seconds = (1 - share) * read_s + share * write_s
    return 1 / seconds if seconds > 0 else row.limit.value


def work_of(row: Row, known: Reference) -> Works:
    """The row's work: as in the course's own row of the same case, or of the same version at other
    sizes, if it is known; else as in the file."""
    same = known.rows.get(key_of(row))
    if same and same.unit == row.unit and same.rate and same.median_s:
        return Works(same.bytes, same.flops, same.rate * same.median_s)
    usual = next((known.works[key] for key in work_keys(row) if key in known.works),
                 Works(None, None, None))
    here = [None if value is None else value * elements(row) for value in usual]
    work = {name: said if value is None or near(said or 0, value) else value
            for name, said, value in (("bytes", row.bytes, here[0]), ("flops", row.flops, here[1]))}
    amount, version = here[2], known.versions.get((row.study, row.version))
    if row.unit in GIGA and (not version or version.by_work):
        name, scale = GIGA[row.unit]
        amount = (work[name] or 0) / scale
    elif amount is None and row.rate and row.median_s:
        amount = row.rate * row.median_s
    return Works(work["bytes"], work["flops"], amount)


def off(written: Optional[float], computed: Optional[float]) -> bool:
    """A number was written, and it differs from the computed one by more than rounding."""
    if written is None or computed is None:
        return False
    return abs(written - computed) > FITS * abs(computed)


def recompute_row(row: Row, gpu: Gpu, known: Reference) -> Tuple[Row, List[str]]:
    """The row with median, quartiles, rate, limit and share from its samples, and the kinds of
    numbers that were written otherwise. Without samples it has no numbers."""
    if not row.seconds or min(row.seconds) <= 0:
        bare = dataclasses.replace(row, seconds=(), median_s=None, q1_s=None, q3_s=None, rate=None,
                                   of_limit=None)
        return bare, ["bare"] if row.median_s or row.rate or row.seconds else []
    middle = statistics.median(row.seconds)
    quartiles = (statistics.quantiles(row.seconds, n=4, method="inclusive")
                 if len(row.seconds) > 1 else [middle] * 3)
    work, limit, kinds = work_of(row, known), limit_of(row, gpu, known), []
    rate = work.amount / middle if work.amount else None
    carried = (work.bytes or 0) * 1e-9 / middle
    to_memory = row.limit is not None and row.limit.unit == "GB/s"
    reached = carried if to_memory and row.unit != "GB/s" else rate
    share = reached / limit if reached and limit else None
    if off(row.median_s, middle) or off(row.rate, rate) or off(row.of_limit, share):
        kinds.append("written")
    if row.limit and off(row.limit.value, limit):
        kinds.append("limit")
    if row.limit and known.limits and row.limit.name not in known.limits:
        kinds.append("name")
    version = known.versions.get((row.study, row.version))
    if version and version.role != row.role:
        kinds.append("role")
    if (row.bytes or 0) != (work.bytes or 0) or (row.flops or 0) != (work.flops or 0):
        kinds.append("work")
    if row.instantiations and not (INSTANTIATIONS[0] <= min(row.instantiations) / middle
                                   <= INSTANTIATIONS[1]):
        kinds.append("graph")
    new_limit = row.limit
    if row.limit and limit and limit != row.limit.value:
        new_limit = dataclasses.replace(row.limit, value=limit)
    fresh = dataclasses.replace(row, role=version.role if version else row.role,
                                median_s=middle, q1_s=quartiles[0], q3_s=quartiles[2],
                                rate=rate, of_limit=share, limit=new_limit)
    cold = (version.l2 if version else row.l2) == "cold" and "l2_resident" not in row.flags
    return fresh, kinds + (impossible(carried, share, limit if to_memory else None, gpu,
                                      beyond(known.rows.get(key_of(row)), known.gpu))
                           if cold else [])


class Beyond(NamedTuple):
    """How far the course's own record of a row is beyond the pins, and beyond its limit."""

    pins: float = 1.0
    limit: float = 1.0


def beyond(own: Optional[Row], gpu: Optional[Gpu]) -> Beyond:
    """Of rows that compress their bytes, or whose limit holds for a simpler way to compute."""
    if own is None or not own.median_s or gpu is None or not gpu.peak_dram_gbs:
        return Beyond()
    carried = (own.bytes or 0) * 1e-9 / own.median_s
    return Beyond(max(1.0, carried / gpu.peak_dram_gbs), max(1.0, own.of_limit or 0))


def impossible(carried: float, share: Optional[float], limit: Optional[float], gpu: Gpu,
               own: Beyond) -> List[str]:
    """Impossible on any card: more GB/s than its pins carry, more work than its limit allows, if
    the course's own record is not beyond these as well."""
    if gpu.peak_dram_gbs and carried > PINS * own.pins * gpu.peak_dram_gbs:
        return ["pins"]
    part = carried / limit if limit else share  # a rate may count more than the memory's bytes
    return ["above"] if part and part > ABOVE * own.limit else []


TEXTS = {
    "bare": "times without the samples that they follow from; left out",
    "written": "the written median, rate or share of the limit does not follow from the samples; "
               "what follows is shown",
    "limit": "the written limit does not follow from the memory's own rates in the file; what "
             "follows is shown",
    "role": "a version that plays another part in the course, which counts",
    "name": "a limit of another name than the course's",
    "work": "another amount of work than the course's; the course's is counted",
    "graph": "the samples do not fit the first times of the same launches",
    "pins": "faster than the pins of the card's memory can be",
    "above": "more than 5 % above the machine's own limit",
}


def recomputed(file: ResultFile) -> Doubts:
    """The file with numbers that follow from its samples, and those that did not."""
    known = reference(file.chapter)
    rows: List[Row] = []
    seen: Dict[str, List[str]] = {}
    for row in file.rows:
        fresh, kinds = recompute_row(row, file.gpu, known)
        rows.append(fresh)
        for kind in kinds:
            seen.setdefault(kind, []).append(row.version)
    remarks = [Remark(kind, text, tuple(seen[kind])) for kind, text in TEXTS.items()
               if kind in seen]
    gpu = file.gpu
    if gpu.peak_dram_gbs and max(gpu.copy_gbs or 0, gpu.read_gbs or 0) > PINS * gpu.peak_dram_gbs:
        remarks.append(Remark("pins", "the memory's own rates are above what its pins carry"))
    return Doubts(dataclasses.replace(file, rows=tuple(rows)), remarks)


# One file

def of_sources(file: ResultFile) -> List[Remark]:
    """Rows that were measured with other sources than those of this copy of the course."""
    known = reference(file.chapter)
    ours = [row for row in file.rows if row.role != "exercise" and not row.skipped]
    if not ours or not known.hashes:
        return []
    if all(row.code is None for row in ours):
        return [Remark("sources", "the file does not say which sources it is of (not started by "
                                  "./chapters/run)")]
    names = {name for _, name in known.versions}
    changed = code.older([(row.file, row.code) for row in ours], known.hashes)
    found = {
        "other sources than in this copy of the course": [
            row for row in ours if row.file in changed
            or row.code and known.versions.get((row.study, row.version), row).file != row.file],
        "rows that do not say which sources they are of": [row for row in ours if not row.code],
        "versions that the course does not have": [
            row for row in ours if names and row.version not in names]}
    return [Remark("sources", text, tuple(row.version for row in rows))
            for text, rows in found.items() if rows]


def is_noisy(row: Row) -> bool:
    part = results.spread(row)
    return "noisy" in row.flags or part is not None and part > NOISY / 2


def is_few(row: Row) -> bool:
    return 0 < len(row.seconds) < intervals.ENOUGH_SAMPLES


def flags_of(file: ResultFile, rows: Sequence[Row]) -> List[str]:
    """Short words for a column: how these rows were measured."""
    found = [flag for row in rows for flag in row.flags]
    found += ["noisy"] if any(is_noisy(row) for row in rows) else []
    found += ["few_samples"] if any(is_few(row) for row in rows) else []
    found += ["debug_build"] if file.environment.get("build_type") == "Debug" else []
    found += ["interrupted"] if file.interrupted else []
    return sorted(set(found) - {"smaller_size", "largest_size"})


def sentence_of(flag: str) -> str:
    """What a flag means, without the flag's own word before it."""
    text = FLAG_WORDS.get(flag, flag)
    head, _, rest = text.partition(": ")
    return rest if rest and head.lower().replace(" ", "_") == flag else text


def of_file(file: ResultFile, rows: Sequence[Row]) -> List[Remark]:
    """How the file was measured: flags, and rows without a check. `rows`: those that are shown."""
    remarks = of_sources(file)
    for flag in flags_of(file, rows):
        names = tuple(row.version for row in rows if flag in row.flags
                      or flag == "noisy" and is_noisy(row)
                      or flag == "few_samples" and is_few(row))
        remarks.append(Remark(flag, sentence_of(flag), names))
    blind = tuple(row.version for row in rows if row.verified is None and not row.skipped
                  and (row.seconds or row.model))
    if blind:
        remarks.append(Remark("unchecked", "results that were not checked", blind))
    return remarks + of_samples(rows) + of_cases(file, rows)


def of_cases(file: ResultFile, rows: Sequence[Row]) -> List[Remark]:
    """Times at sizes, types and inputs that the course's record does not have; a row that stepped
    down to a smaller size says so itself."""
    known = reference(file.chapter).versions
    found = tuple(row.version for row in rows if row.seconds and "smaller_size" not in row.flags
                  and (row.study, row.version) in known
                  and row.case not in known[row.study, row.version].cases)
    return [Remark("size", "another size, type or input than in the course's record",
                   found)] if found else []


def of_samples(rows: Sequence[Row]) -> List[Remark]:
    """Samples that are all equal, and those that several versions have."""
    timed = [row for row in rows if len(row.seconds) >= ENOUGH_TO_BE_UNIQUE]
    still = tuple(row.version for row in timed if len(set(row.seconds)) == 1)
    owners: Dict[Tuple[float, ...], List[str]] = {}
    for row in timed:
        if len(set(row.seconds)) > 1 and row.version not in owners.setdefault(row.seconds, []):
            owners[row.seconds].append(row.version)
    twice = tuple(name for names in owners.values() if len(names) > 1 for name in names)
    return ([Remark("equal", "all samples of a row are equal", still)] if still else []) + (
        [Remark("twins", "the same samples in several versions", twice)] if twice else [])


# A class

def median_with_record(values: List[float], record: Optional[float]) -> Optional[float]:
    """The usual value among machines of one kind; None if there is none."""
    known = values + ([record] if record else [])
    return statistics.median(known) if len(known) > 1 else None


def facts(file: ResultFile) -> Dict[str, float]:
    """Values that machines of one kind share: their memory's rates, and derived limits."""
    gpu = file.gpu
    known = {"its memory copies at": gpu.copy_gbs, "its memory reads at": gpu.read_gbs,
             "its memory has pins for": gpu.peak_dram_gbs}
    found = {f"{name}|GB/s": value for name, value in known.items() if value}
    for row in file.rows:
        if row.limit and row.limit.name not in MEMORY_LIMITS and row.role != "exercise":
            name = f"{row.study}'s {row.limit.name} is|{row.limit.unit}"
            found[name] = min(found.get(name, row.limit.value), row.limit.value)
    return found


def of_limits(files: Sequence[ResultFile]) -> List[List[Remark]]:
    """For each file: rates of the machine that differ from those of others with the same GPU's name
    and memory, and from the course's record where that is of such a GPU."""
    groups: Dict[Tuple[str, int], List[int]] = {}
    for index, file in enumerate(files):
        groups.setdefault(file.gpu.kind[:2], []).append(index)
    found: List[List[Remark]] = [[] for _ in files]
    for kind, members in groups.items():
        record: Dict[str, float] = {}
        known = reference(files[members[0]].chapter)
        if known.gpu and known.gpu.kind[:2] == kind:
            record = facts(dataclasses.replace(files[members[0]], gpu=known.gpu,
                                               rows=tuple(known.rows.values())))
        values = {index: facts(files[index]) for index in members}
        for name in dict.fromkeys(name for index in members for name in values[index]):
            usual = median_with_record([values[index][name] for index in members
                                        if name in values[index]], record.get(name))
            words, unit = name.split("|")
            for index in members if usual else []:
                value = values[index].get(name)
                assert usual
                if value and abs(value / usual - 1) > OTHER_LIMIT:
                    found[index].append(Remark(
                        "machine", f"{words} {value:.4g} {unit}, others with this GPU "
                                   f"{usual:.4g}"))
    return found


def shared_samples(files: Sequence[ResultFile]) -> Dict[Tuple[int, ...], int]:
    """Which files have rows of the same samples, in any order and scale: groups of indices, and how
    many rows. A coarse clock gives few different times, so those must be equal as they are."""
    owners: Dict[Tuple[float, ...], List[int]] = {}
    for index, file in enumerate(files):
        shapes = set()
        for seconds in {row.seconds for row in file.rows}:
            if len(seconds) < ENOUGH_TO_BE_UNIQUE or len(set(seconds)) == 1:
                continue
            middle = statistics.median(seconds)
            shape = tuple(sorted(round(second / middle, 6) for second in seconds)) if middle else ()
            shapes.add(shape if len(set(shape)) >= ENOUGH_TO_BE_UNIQUE else seconds)
        for shape in shapes:
            owners.setdefault(shape, []).append(index)
    groups: Dict[Tuple[int, ...], int] = {}
    for several in owners.values():
        if len(several) > 1:
            groups[tuple(several)] = groups.get(tuple(several), 0) + 1
    return groups


def clusters(values: Sequence[float], gap: float = OTHER_LIMIT) -> List[List[int]]:
    """Indices of values in ascending order, each group within `gap` of its first."""
    groups: List[List[int]] = []
    first = -math.inf
    for index in sorted(range(len(values)), key=lambda k: values[k]):
        if not groups or values[index] > (1 + gap) * first:
            groups.append([])
            first = values[index]
        groups[-1].append(index)
    return groups
