"""Result files as they should be read: numbers recomputed from samples and the memory's own rates,
and remarks on what does not fit together.

A remark says what is so, never why. A file is text, and a careful forger can make one that fits in
every way that is looked at here: what counts has to be run again.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import statistics
from typing import Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from . import ROOT, Problem, chapters, code, results
from .results import Gpu, ResultFile, Row
from .tables import FLAG_WORDS as TABLE_WORDS

GIGA = {"GB/s": ("bytes", 1e9), "GFLOP/s": ("flops", 1e9), "TFLOP/s": ("flops", 1e12)}
MEMORY_LIMITS = ("reads", "read and write mix")
FITS = 1e-3              # how far a written number may lie from the recomputed one
OTHER_LIMIT = 0.05       # how far a card's own rates may lie from those of the same kind
ABOVE = 1.05             # a limit that is measured is reached within this
PINS = 1.02
NOISY = 0.05             # half the distance of the quartiles over the median, as measure/ flags it
INSTANTIATIONS = (0.7, 1.4)  # the best graph's first time over the median; recorded: 0.85 to 1.12
ENOUGH_TO_BE_UNIQUE = 5  # so many samples, to nine digits, are never measured twice

FLAG_WORDS = {**TABLE_WORDS, "interrupted": "the run was interrupted"}

Key = Tuple[str, str, Tuple]


class Remark(NamedTuple):
    """What was seen: `kind` is one word for a column, `text` the sentence, `rows` the versions that
    it is about where that is not the whole file."""

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
    """A file with recomputed numbers, and what was remarked on the way."""

    file: ResultFile
    remarks: List[Remark]


class Reference(NamedTuple):
    """What this copy of the course knows of a chapter: its record and its sources' hashes."""

    rows: Dict[Key, Row]
    shares: Dict[Tuple[str, str], float]  # of the bytes that are written, where all sizes agree
    gpu: Optional[Gpu]
    hashes: Dict[str, str]


def key_of(row: Row) -> Key:
    return (row.study, row.version, row.case)


@functools.lru_cache(maxsize=None)
def reference(chapter: str) -> Reference:
    """The record and the sources of a chapter; empty for one that is not there."""
    try:
        found = chapters.find(chapter)
    except Problem:
        return Reference({}, {}, None, {})
    hashes = code.hashes(found.path, ROOT / "common")
    record = found.recorded()
    if found.name != chapter or not record:
        return Reference({}, {}, None, hashes if found.name == chapter else {})
    file = results.load(record)
    rows = {key_of(row): row for row in file.rows if row.seconds}
    return Reference(rows, shares_of(list(rows.values()), file.gpu), file.gpu, hashes)


def shares_of(rows: Sequence[Row], gpu: Gpu) -> Dict[Tuple[str, str], float]:
    """The written share of each version's bytes, where it is the same at all sizes."""
    found: Dict[Tuple[str, str], List[Optional[float]]] = {}
    for row in rows:
        found.setdefault((row.study, row.version), []).append(write_share(row, gpu))
    return {key: values[0] for key, values in found.items()
            if values[0] is not None and all(value is not None and abs(value - values[0]) < 2e-3
                                             for value in values)}


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
    """The limit of a row from its own machine's rates; as written where it is no memory's limit."""
    if not row.limit:
        return None
    same = known.rows.get(key_of(row))
    share = write_share(same, known.gpu) if same and known.gpu else known.shares.get(
        (row.study, row.version))
    if share is None or row.limit.name not in MEMORY_LIMITS or not gpu.read_gbs or not gpu.copy_gbs:
        return row.limit.value
    read_s, write_s = 1 / gpu.read_gbs, 2 / gpu.copy_gbs - 1 / gpu.read_gbs
    seconds = (1 - share) * read_s + share * write_s
    return 1 / seconds if seconds > 0 else row.limit.value


def work_of(row: Row, known: Reference) -> Optional[float]:
    """Units of the rate times seconds: the rate is this over the median. The course's own amount
    where it has a row of the same case, else what the file says."""
    same = known.rows.get(key_of(row))
    source = same if same and same.unit == row.unit else row
    if row.unit in GIGA:
        name, scale = GIGA[row.unit]
        amount = getattr(source, name)
        return None if not amount else amount / scale
    return source.rate * source.median_s if source.rate and source.median_s else None


def off(written: Optional[float], computed: Optional[float]) -> bool:
    """A number was written, and it is another one. Rounding apart."""
    if written is None or computed is None:
        return False
    return abs(written - computed) > FITS * abs(computed)


def recompute_row(row: Row, gpu: Gpu, known: Reference) -> Tuple[Row, List[str]]:
    """The row with median, quartiles, rate, limit and share from its samples, and the kinds of what
    was written otherwise. Without samples it has no numbers."""
    if not row.seconds or min(row.seconds) <= 0:
        bare = dataclasses.replace(row, seconds=(), median_s=None, q1_s=None, q3_s=None, rate=None,
                                   of_limit=None)
        return bare, ["bare"] if row.median_s or row.rate or row.seconds else []
    middle = statistics.median(row.seconds)
    quartiles = (statistics.quantiles(row.seconds, n=4, method="inclusive")
                 if len(row.seconds) > 1 else [middle] * 3)
    work, limit, kinds = work_of(row, known), limit_of(row, gpu, known), []
    rate = work / middle if work else None
    reached = rate
    if row.limit and row.limit.unit == "GB/s" and row.unit != "GB/s":  # whatever the rate counts
        reached = (row.bytes or 0) * 1e-9 / middle
    share = reached / limit if reached and limit else None
    if off(row.median_s, middle) or off(row.rate, rate) or off(row.of_limit, share):
        kinds.append("written")
    if row.limit and off(row.limit.value, limit):
        kinds.append("limit")
    same = known.rows.get(key_of(row))
    if same and (same.bytes != row.bytes or same.flops != row.flops):
        kinds.append("work")
    if row.instantiations and not (INSTANTIATIONS[0] <= min(row.instantiations) / middle
                                   <= INSTANTIATIONS[1]):
        kinds.append("graph")
    new_limit = row.limit
    if row.limit and limit and limit != row.limit.value:
        new_limit = dataclasses.replace(row.limit, value=limit)
    fresh = dataclasses.replace(row, median_s=middle, q1_s=quartiles[0], q3_s=quartiles[2],
                                rate=rate, of_limit=share, limit=new_limit)
    return fresh, kinds + impossible(fresh, gpu)


def impossible(row: Row, gpu: Gpu) -> List[str]:
    """What no card does: more bytes than its pins carry, more work than its own limit allows."""
    assert row.median_s
    if row.l2 != "cold" or row.limit and row.limit.name in MEMORY_LIMITS and (
            not gpu.l2_bytes or (row.bytes or 0) < 2 * gpu.l2_bytes):
        return []
    rate = (row.bytes or 0) / row.median_s * 1e-9
    if gpu.peak_dram_gbs and rate > PINS * gpu.peak_dram_gbs:
        return ["pins"]
    return ["above"] if row.of_limit and row.of_limit > ABOVE else []


TEXTS = {
    "bare": "times without the samples that they follow from; left out",
    "written": "the written median, rate or share of the limit does not follow from the samples; "
               "what follows is shown",
    "limit": "the written limit does not follow from the memory's own rates in the file; what "
             "follows is shown",
    "work": "another amount of work than the course's; the course's is counted",
    "graph": "the samples do not fit the first times of the same launches",
    "pins": "faster than the pins of the card's memory can be",
    "above": "more than 5 % above the machine's own limit",
}


def recomputed(file: ResultFile) -> Doubts:
    """The file with numbers that follow from its samples, and what did not."""
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
    """Rows that other sources were measured with than those of this copy of the course."""
    known = reference(file.chapter).hashes
    ours = [row for row in file.rows if row.role != "exercise" and not row.skipped]
    if not ours or not known:
        return []
    if all(row.code is None for row in ours):
        return [Remark("sources", "the file does not say which sources it is of (not started by "
                                  "./chapters/run)")]
    changed = code.older([(row.file, row.code) for row in ours], known)
    names = tuple(row.version for row in ours if row.file in changed)
    return [Remark("sources", "other sources than in this copy of the course", names)
            ] if names else []


def is_noisy(row: Row) -> bool:
    part = results.spread(row)
    return "noisy" in row.flags or part is not None and part > NOISY / 2


def flags_of(file: ResultFile, rows: Sequence[Row]) -> List[str]:
    """Short words for a column: how these rows were measured."""
    found = [flag for row in rows for flag in row.flags]
    found += ["noisy"] if any(is_noisy(row) for row in rows) else []
    found += ["debug_build"] if file.environment.get("build_type") == "Debug" else []
    found += ["interrupted"] if file.interrupted else []
    return sorted(set(found) - {"smaller_size", "largest_size"})


def of_file(file: ResultFile, rows: Sequence[Row]) -> List[Remark]:
    """How the file was measured: flags, and rows without a check. `rows`: those that are shown."""
    remarks = of_sources(file)
    for flag in flags_of(file, rows):
        names = tuple(row.version for row in rows if flag in row.flags
                      or flag == "noisy" and is_noisy(row))
        remarks.append(Remark(flag, FLAG_WORDS.get(flag, flag).partition(": ")[2]
                              or FLAG_WORDS.get(flag, flag), names))
    blind = tuple(row.version for row in rows if row.verified is None and not row.skipped
                  and (row.seconds or row.model))
    if blind:
        remarks.append(Remark("unchecked", "results that were not checked", blind))
    return remarks


# A class

def median_with_record(values: List[float], record: Optional[float]) -> Optional[float]:
    """What is usual among machines of one kind; None where nothing can be said."""
    known = values + ([record] if record else [])
    return statistics.median(known) if len(known) > 1 else None


def facts(file: ResultFile) -> Dict[str, float]:
    """What machines of one kind have in common: their memory's rates, and derived limits."""
    gpu = file.gpu
    known = {"its memory copies at": gpu.copy_gbs, "its memory reads at": gpu.read_gbs,
             "its memory has pins for": gpu.peak_dram_gbs}
    found = {f"{name}|GB/s": value for name, value in known.items() if value}
    for row in file.rows:
        if row.limit and row.limit.name not in MEMORY_LIMITS and row.role != "exercise":
            found.setdefault(f"{row.study}'s {row.limit.name} is|{row.limit.unit}", row.limit.value)
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
    many rows. Few different times may be a coarse clock's: those must be the same as they stand."""
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
    """Indices of values, split where the sorted values rise by more than `gap` of themselves."""
    groups: List[List[int]] = []
    last = -math.inf
    for index in sorted(range(len(values)), key=lambda k: values[k]):
        if not groups or values[index] > (1 + gap) * last:
            groups.append([])
        groups[-1].append(index)
        last = values[index]
    return groups
