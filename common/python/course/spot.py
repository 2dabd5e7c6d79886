"""The spot check: does a new measurement of the same code give the same result as the old one?

Rows whose version has the same code in both files are compared, case by case. A difference comes
from the machine or the measurement, not from the kernel.
"""

from __future__ import annotations

import statistics
from typing import Dict, List, NamedTuple, Optional, Tuple

from . import results, tables
from .results import ResultFile, Row

SAME_WITHIN = 0.01
SHORT_S = 5e-6  # below it a row is mostly its launch
NAMED = 5       # rows that moved, in the summary


class Pair(NamedTuple):
    """A row of the old file and the same one of the new file."""

    old: Row
    new: Row

    @property
    def ratio(self) -> float:
        """The new time over the old one."""
        assert self.old.median_s and self.new.median_s
        return self.new.median_s / self.old.median_s

    @property
    def same(self) -> bool:
        return abs(self.ratio - 1) <= SAME_WITHIN

    @property
    def firm(self) -> bool:
        """Neither short nor noisy in one of the files."""
        rows = (self.old, self.new)
        return not any("noisy" in row.flags or (row.median_s or 0) < SHORT_S for row in rows)

    @property
    def name(self) -> str:
        row = self.new
        parts = [row.study, row.version, tables.size_text(row.size)]
        parts += [row.type] if row.type != "f32" else []
        parts += [row.input] if row.input != "random" else []
        parts += [f"behind {row.behind}"] if row.behind not in (None, "empty") else []
        return " ".join(parts)


class Check(NamedTuple):
    """What two files have in common, and what only one of them has."""

    pairs: Tuple[Pair, ...]
    new_code: int           # rows of both files whose version was changed
    without_time: Tuple[Pair, ...]  # rows that had a time before
    only_old: int
    only_new: int


def key_of(row: Row) -> Tuple:
    """The key by which a row is found in another file."""
    return (row.study, row.version, row.case, row.behind, row.mode)


def check(old: ResultFile, new: ResultFile) -> Check:
    """Match the rows of two files of one chapter and GPU."""
    before: Dict[Tuple, Row] = {key_of(row): row for row in old.rows}
    after: Dict[Tuple, Row] = {key_of(row): row for row in new.rows}
    both = [Pair(before[key], row) for key, row in after.items() if key in before]
    alike = [pair for pair in both if pair.new.code and (pair.old.file, pair.old.code)
             == (pair.new.file, pair.new.code)]
    timed = [pair for pair in alike if not pair.old.words]
    return Check(tuple(pair for pair in timed if not pair.new.words), len(both) - len(alike),
                 tuple(pair for pair in timed if pair.new.words),
                 len(before) - len(both), len(after) - len(both))


def rows_text(count: int) -> str:
    return f"{count} row{'' if count == 1 else 's'}"


def counted(pairs: List[Pair]) -> str:
    """'143 of 146 rows SAME within 1 %, 3 MOVED: name 1.03x, ...'"""
    moved = sorted((pair for pair in pairs if not pair.same), key=lambda pair: -abs(pair.ratio - 1))
    text = (f"{len(pairs) - len(moved)} of {rows_text(len(pairs))} SAME within "
            f"{100 * SAME_WITHIN:g} %, {len(moved)} MOVED")
    names = [f"{pair.name} {pair.ratio:.3f}x" for pair in moved[:NAMED]]
    names += [f"and {len(moved) - NAMED} more"] if len(moved) > NAMED else []
    return text + (": " + ", ".join(names) if names else "")


def shift_of_libraries(pairs: List[Pair]) -> Optional[str]:
    """Libraries' rows hold no code of the course: if all of them moved, the card or its clocks have
    changed, and the other rows are judged relative to that shift."""
    theirs = [pair.ratio for pair in pairs if pair.new.role == "peer"]
    shift = statistics.median(theirs) if theirs else 1.0
    if abs(shift - 1) <= SAME_WITHIN / 2:
        return None
    same = sum(abs(pair.ratio / shift - 1) <= SAME_WITHIN for pair in pairs)
    return (f"  the libraries' rows took {shift:.3f}x as long (median of {len(theirs)}): another card "
            f"or other clocks; beside that {same} of {rows_text(len(pairs))} SAME")


def unlike(old: ResultFile, new: ResultFile) -> Optional[str]:
    """Why two files cannot be compared row by row."""
    for what, a, b in (("chapter", old.chapter, new.chapter), ("GPU", old.gpu.name, new.gpu.name)):
        if a != b:
            return f"another {what}: {a} before, {b} now"
    return None


def lines(old: ResultFile, new: ResultFile) -> List[str]:
    """The report: each row that moved, then the summary; short and noisy rows are listed apart."""
    trouble = unlike(old, new)
    if trouble:
        return [f"spot check: not possible, {trouble}"]
    found = check(old, new)
    firm = [pair for pair in found.pairs if pair.firm]
    loose = [pair for pair in found.pairs if not pair.firm]
    out = [f"MOVED  {pair.ratio:.3f}x  {pair.name}: {tables.time_text(pair.old.median_s or 0)} -> "
           f"{tables.time_text(pair.new.median_s or 0)}{'' if pair.firm else ' (short or noisy)'}"
           for pair in found.pairs if not pair.same]
    out += [f"NO TIME  {pair.name}: {pair.new.words}" for pair in found.without_time]
    out.append(f"spot check: {counted(firm)}" if found.pairs else
               "spot check: no row of unchanged code is in both files with a time")
    shift = shift_of_libraries(firm)
    out += [shift] if shift else []
    if loose:
        out.append(f"  below {1e6 * SHORT_S:g} us or noisy, apart: {counted(loose)}")
    apart = [(found.new_code, "new code"), (len(found.without_time), "no time any more")]
    out += [f"  {rows_text(number)} {'has' if number == 1 else 'have'} {words}"
            for number, words in apart if number]
    out += [f"  {rows_text(number)} only in the {which} file"
            for number, which in ((found.only_old, "old"), (found.only_new, "new")) if number]
    return out
