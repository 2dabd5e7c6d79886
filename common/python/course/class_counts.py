"""A class without GPUs: the students' results, the checkers' findings, and kernels whose memory
requests differ from those of the chapter's own versions."""

from __future__ import annotations

import collections
from dataclasses import dataclass
from typing import Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from . import counts, tables
from .class_files import Entry, Names
from .results import Row

HEADINGS = ["student", "right", "findings", "usual counts"]
VERSIONS = ["version"] + [name for name, _, _ in counts.ACCESSES] + ["total", "right", "usual"]
DIFFERING = ["student", "version"] + [name for name, _, _ in counts.ACCESSES] + ["total", "lanes"]
NOTE = (counts.NOTE + " Total: these sectors and wavefronts of the whole launch. Usual: as the "
        "course counted its own version at this size, or, where it "
        "has not, as most of the class did.")

Key = Tuple[str, str, Tuple]


class Student(NamedTuple):
    """One student's row."""

    name: str
    right: int
    ran: int
    failed: Tuple[str, ...]  # versions
    findings: str
    usual: str               # '11/12' of the counted rows

    @property
    def cells(self) -> Tuple[str, str, str, str]:
        text = f"{self.right}/{self.ran}" + (f" FAILED {self.failed[0]}" if self.failed else "") + (
            f" +{len(self.failed) - 1}" if len(self.failed) > 1 else "")
        return self.name, text, self.findings, self.usual


@dataclass(frozen=True)
class Counted:
    """Three tables: the chapter's versions, the students, and what differs."""

    versions: List[List[str]]
    students: List[Student]
    differing: List[List[str]]


def key_of(row: Row) -> Key:
    return row.study, row.version, row.case


def usual(chapter: str, rows: Sequence[Row]) -> counts.Counted:
    """The counts of one version: the course's, or those that most of `rows` have."""
    known = counts.of_course(chapter).get((rows[0].study, rows[0].version,
                                           counts.size_key(rows[0])))
    if known:
        return known
    seen = collections.Counter(tuple(counts.counted(row.model).cells)
                               for row in rows)
    most = seen.most_common(1)[0][0]
    return next(counts.counted(row.model) for row in rows
                if tuple(counts.counted(row.model).cells) == most)


def findings_text(rows: Sequence[Row]) -> str:
    kinds = collections.Counter(kind for row in rows for kind in row.findings)
    return ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "-"


def student_of(name: str, rows: Sequence[Row], usual_counts: str) -> Student:
    ran = [row for row in rows if not row.skipped or row.verified is False]
    return Student(name, sum(row.verified is True for row in ran), len(ran),
                   tuple(row.version for row in ran if row.verified is False),
                   findings_text(rows), usual_counts)


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
                 if not counts.counted(row.model).same(known[key_of(row)])]
        students.append(student_of(names.of(entry), rows,
                                   f"{len(counted) - len(other)}/{len(counted)}"))
        differing += [[names.of(entry), called(key_of(row), by_key),
                       *counts.counted(row.model).cells,
                       counts.lanes_cell(row.model or {})] for row in other]
    return Counted([version_line(called(key, by_key), rows, known[key])
                    for key, rows in by_key.items()], students, differing)


def called(key: Key, keys: Iterable[Key]) -> str:
    """A version's name; with its study and its size if there are several."""
    same = [other for other in keys if other[1] == key[1]]
    parts = [key[0]] if len({other[0] for other in same}) > 1 else []
    parts += ([tables.size_text(dict(key[2][2]))]
              if len({other[2] for other in same}) > 1 else [])
    return key[1] + (f", {', '.join(parts)}" if parts else "")


def version_line(name: str, rows: Sequence[Row], known: counts.Counted) -> List[str]:
    same = sum(counts.counted(row.model).same(known) for row in rows)
    right = sum(row.verified is True for row in rows)
    return [name, *known.cells, f"{right}/{len(rows)}",
            f"{same}/{len(rows)}"]
