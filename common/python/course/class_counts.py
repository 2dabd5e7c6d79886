"""A class without GPUs: who got which result, what the checkers found, and whose kernels ask
something else of the memory than the chapter's own versions."""

from __future__ import annotations

import collections
from dataclasses import dataclass
from typing import Dict, List, Optional, Sequence, Tuple

from . import counts
from .class_files import Entry, Names
from .results import Row

HEADINGS = ["student", "right", "findings", "usual counts"]
VERSIONS = ["version"] + [name for name, _, _ in counts.ACCESSES] + ["lanes", "right", "usual"]
DIFFERING = ["student", "version"] + [name for name, _, _ in counts.ACCESSES] + ["lanes"]
NOTE = (counts.NOTE + " Usual: as the course counted its own version at this size, or, where it "
        "has not, as most of the class did.")

Key = Tuple[str, str, Tuple]


@dataclass(frozen=True)
class Counted:
    """Three tables: the chapter's versions, the students, and what differs."""

    versions: List[List[str]]
    rows: List[List[str]]
    differing: List[List[str]]


def key_of(row: Row) -> Key:
    return row.study, row.version, row.case


def usual(chapter: str, rows: Sequence[Row]) -> counts.Counts:
    """The counts of one version: the course's, else those that most of `rows` have."""
    known = counts.of_course(chapter).get((rows[0].study, rows[0].version,
                                           counts.size_key(rows[0])))
    if known:
        return known
    seen = collections.Counter(tuple(counts.cells(counts.per_request(row.model or {})))
                               for row in rows)
    most = seen.most_common(1)[0][0]
    return next(counts.per_request(row.model or {}) for row in rows
                if tuple(counts.cells(counts.per_request(row.model or {}))) == most)


def findings_text(rows: Sequence[Row]) -> str:
    kinds = collections.Counter(kind for row in rows for kind in row.findings)
    return ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "-"


def right_text(rows: Sequence[Row]) -> str:
    ran = [row for row in rows if not row.skipped or row.verified is False]
    failed = [row.version for row in ran if row.verified is False]
    right = sum(row.verified is True for row in ran)
    return f"{right}/{len(ran)}" + (f" FAILED {failed[0]}" if failed else "") + (
        f" +{len(failed) - 1}" if len(failed) > 1 else "")


def table(entries: Sequence[Entry], names: Names, study: Optional[str] = None) -> Counted:
    """The tables of one chapter's files of the CPU backend; `study`: this one only."""
    by_key: Dict[Key, List[Row]] = {}
    mine: List[Tuple[Entry, List[Row]]] = []
    for entry in entries:
        rows = [row for row in entry.file.rows if study in (None, row.study)]
        mine.append((entry, rows))
        for row in rows:
            if row.model:
                by_key.setdefault(key_of(row), []).append(row)
    chapter = entries[0].file.chapter if entries else ""
    known = {key: usual(chapter, rows) for key, rows in by_key.items()}
    students, differing = [], []
    for entry, rows in mine:
        counted = [row for row in rows if row.model]
        other = [row for row in counted
                 if not counts.same(counts.per_request(row.model or {}), known[key_of(row)])]
        students.append([names.of(entry), right_text(rows), findings_text(rows),
                         f"{len(counted) - len(other)}/{len(counted)}"])
        differing += [[names.of(entry), row.version, *counts.cells(counts.per_request(
            row.model or {})), counts.lanes_cell(row.model or {})] for row in other]
    return Counted([version_line(key, rows, known[key]) for key, rows in by_key.items()],
                   students, differing)


def version_line(key: Key, rows: Sequence[Row], known: counts.Counts) -> List[str]:
    lanes = collections.Counter(counts.lanes_cell(row.model or {}) for row in rows)
    same = sum(counts.same(counts.per_request(row.model or {}), known) for row in rows)
    right = sum(row.verified is True for row in rows)
    return [key[1], *counts.cells(known), lanes.most_common(1)[0][0], f"{right}/{len(rows)}",
            f"{same}/{len(rows)}"]
