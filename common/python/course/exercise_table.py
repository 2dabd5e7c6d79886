"""The leaderboard of an exercise: the students who passed, and their speed next to the course's.

On a GPU the order is that of the ratio to the course's version in the same run, which is fair
between machines. Places are shared as long as the 95 % intervals of the ratios overlap with that
of the first of the place: noise decides nothing, and an entry with too few samples for an interval
has no place. On the CPU those that pass come first; then the fewer sectors and wavefronts in all.
"""

from __future__ import annotations

import statistics
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from . import class_counts, counts, intervals, results, tables
from .class_files import Entry, Names, Section
from .results import Judged, Row
from .tables import Table

TIMED = ["place", "student", "verdict", "ratio", "95 % interval", "% limit"]
ENOUGH_FOR_USUAL = 3  # files of one GPU
SLOW_BASE = 0.9       # of the usual share of the limit: slower than noise makes it
COUNTED = ["place", "student", "verdict", *(name for name, _, _ in counts.ACCESSES), "lanes",
           "total"]
COUNTED_NOTE = (counts.NOTE + " Total: all sectors and wavefronts, those of atomics too; the "
                "fewer, the better the place.")


class Usual(NamedTuple):
    """The most frequent values of an exercise's files."""

    asked: Optional[float]  # the ratio
    compared: str           # the course's version; empty where the exercise judges itself
    counted: bool           # whether those that passed have counts
    shares: Dict[Tuple[str, int, int], float]  # of the limit: the course's version, by GPU


class Standing(NamedTuple):
    """One submission."""

    entry: Entry
    row: Optional[Row]       # theirs
    compared: Optional[Row]  # the course's, of the same file
    ratio: Optional[float]
    interval: Optional[Tuple[float, float]]
    usual: Usual
    base: str                # what is unusual about the row that it is compared with

    @property
    def judged(self) -> Judged:
        assert self.entry.file.judged
        return self.entry.file.judged

    @property
    def doubt(self) -> str:
        """Why a verdict that is not "not yet" does not follow from the file; usually empty."""
        judged, model = self.judged, self.row.model if self.row else None
        if judged.verdict == "not yet":
            return ""
        if self.usual.asked and judged.asked_ratio != self.usual.asked:
            return (f"asks for {judged.asked_ratio or 0:.2f}x, others for "
                    f"{self.usual.asked:.2f}x")
        if judged.compared != self.usual.compared:
            return (f"compares with {judged.compared or 'nothing'}, others with "
                    f"{self.usual.compared or 'nothing'}")
        if self.row is not None and self.row.verified is False:
            return "its row says that the result is wrong"
        if self.entry.file.on_cpu:
            return "" if counts.total(model) or not self.usual.counted else "its file has no counts"
        if judged.verdict == "right" or not judged.compared:
            return ""
        if self.ratio is None:
            return f"its file has no times of it and of {judged.compared}"
        slow = self.ratio < (judged.asked_ratio or 0) * (1 - results.ROUNDING)
        return f"it reaches {self.ratio:.2f}x only" if slow else ""

    @property
    def verdict(self) -> str:
        """As written, or with a doubt if it does not follow from the file."""
        return "see why" if self.doubt else self.judged.verdict

    @property
    def reason(self) -> str:
        doubt = f"the verdict does not follow: {self.doubt}; run it again" if self.doubt else ""
        return "; ".join(filter(None, (doubt or self.judged.reason, self.base)))


def standings(entries: Sequence[Entry], cpu: bool) -> List[Standing]:
    """The submissions of one exercise, the best first."""
    usual = usual_of(entries)
    return sorted((standing(entry, usual) for entry in entries),
                  key=lambda each: rank_key(each, cpu))


def usual_of(entries: Sequence[Entry]) -> Usual:
    """Of equally frequent ratios and versions, the largest and the first by name."""
    judged = [entry.file.judged for entry in entries if entry.file.judged]
    ratios = [each.asked_ratio for each in judged if each.asked_ratio]
    versions = [each.compared for each in judged if each.compared]
    shares: Dict[Tuple[str, int, int], List[float]] = {}
    for entry in entries:
        row = compared_row(entry)
        if row and row.of_limit:
            shares.setdefault(entry.file.gpu.kind, []).append(row.of_limit)
    counted = any(counts.total(row.model) for entry in entries for row in entry.file.rows
                  if row.role == "exercise" and entry.file.judged
                  and entry.file.judged.verdict != "not yet")
    return Usual(max(statistics.multimode(ratios), default=None),
                 min(statistics.multimode(versions), default=""), counted,
                 {kind: statistics.median(values) for kind, values in shares.items()
                  if len(values) >= ENOUGH_FOR_USUAL})


def compared_row(entry: Entry) -> Optional[Row]:
    return next((row for row in entry.file.rows if row.role != "exercise"), None)


def standing(entry: Entry, usual: Usual) -> Standing:
    row = next((row for row in entry.file.rows if row.role == "exercise"), None)
    other = compared_row(entry)
    interval = (intervals.of_ratio(other.seconds, row.seconds)
                if row and other and not (row.words or other.words) else None)
    share, known = other.of_limit if other else None, usual.shares.get(entry.file.gpu.kind)
    base = ""
    if other and share and known and share < SLOW_BASE * known:
        base = (f"{other.version} reaches {100 * share:.0f} % of its limit beside it, in other "
                f"files {100 * known:.0f} %")
    return Standing(entry, row, other, results.rate_ratio(row, other), interval, usual, base)


def rank_key(each: Standing, cpu: bool) -> Tuple:
    order = {"passed": 0, "right": 1, "see why": 2, "not yet": 3}[each.verdict]
    if not cpu:
        return order, each.interval is None, -(each.ratio or 0)
    return order, counts.total(each.row.model if each.row else None)


def places(ordered: Sequence[Standing], cpu: bool) -> List[str]:
    """'1', '2', '2': equal numbers if the difference may be noise; '?' if the data do not tell, '-'
    if it did not pass."""
    found: List[str] = []
    leader: Optional[Standing] = None
    for index, each in enumerate(ordered):
        if each.verdict not in ("passed", "right"):
            found.append("-")
        elif not cpu and each.ratio is not None and each.interval is None:
            found.append("?")
        elif leader is not None and alike(leader, each, cpu):
            found.append(found[-1])
        else:
            leader = each
            found.append(str(index + 1))
    return found


def alike(leader: Standing, each: Standing, cpu: bool) -> bool:
    if cpu:
        return rank_key(leader, True) == rank_key(each, True)
    if leader.verdict != each.verdict:
        return False
    if leader.interval is None or each.interval is None:  # of an exercise that no time judges
        return leader.interval is each.interval
    return each.interval[1] >= leader.interval[0]


def board(entries: Sequence[Entry], names: Names, cpu: bool) -> Tuple[Table, str, List[str]]:
    """The table, the sentence below it, and the reason for each that did not pass."""
    ordered = standings(entries, cpu)
    lines = [line_of(place, each, names, cpu) for place, each in zip(places(ordered, cpu), ordered)]
    reasons = [f"{names.of(each.entry)}: {each.reason}" for each in ordered if each.reason]
    if cpu:
        own = next((each.compared for each in ordered if each.compared and each.compared.model),
                   None)
        if own:
            lines.append(["", own.version, "course", *counted_cells(own.model)])
        return (list(COUNTED), lines), COUNTED_NOTE, reasons
    usual = ordered[0].usual
    asked = f", and {usual.asked:.2f}x is asked for" if usual.asked else ""
    note = (f"ratio: the rate over that of {usual.compared} in the same run{asked}. "
            if usual.compared else "") + ("Who shares a place differs by no more than the noise of "
                                          "these runs.")
    return (list(TIMED), lines), note, reasons


def counted_cells(model: Optional[Dict[str, Any]]) -> List[str]:
    return [*counts.cells(counts.per_request(model or {})), counts.lanes_cell(model or {}),
            f"{counts.total(model):.0f}" if model else "-"]


def line_of(place: str, each: Standing, names: Names, cpu: bool) -> List[str]:
    head = [place, names.of(each.entry), each.verdict]
    if cpu:
        return head + counted_cells(each.row.model if each.row else None)
    low_high = ("?" if each.interval is None else
                f"{each.interval[0]:.2f}-{each.interval[1]:.2f}")
    share = tables.percent_text(each.row) if each.row and not each.row.words else "-"
    return head + [tables.ratio_text(each.ratio), low_high if each.ratio else "-", share]


def csv_rows(sections: Iterable[Section], names: Names) -> Iterable[Dict[str, object]]:
    """The exercises' rows under the columns of a class: best is the verdict, first the version that
    it was compared with."""
    for section in sections:
        for cpu in (False, True) if section.exercise is not None else ():
            ordered = standings(names.sorted(section.on(cpu)), cpu)
            for place, each in zip(places(ordered, cpu), ordered):
                yield csv_cells(section, place, each, names)


def csv_cells(section: Section, place: str, each: Standing, names: Names) -> Dict[str, object]:
    judged, row, file = each.judged, each.row, each.entry.file

    def text(value: Optional[float], form: str) -> str:
        return "" if value is None else format(value, form)
    sure = (each.interval[1] - each.interval[0]) / 2 / each.ratio if (
        each.interval and each.ratio) else None
    remarked = [each.reason] + [names.text(remark, section) for remark in each.entry.remarks]
    return {
        "chapter": section.chapter, "study": f"exercise_{section.exercise}",
        "student": names.of(each.entry), "gpu": file.gpu.name,
        "memory_gib": file.gpu.kind[1] or "", "pins_gbs": file.gpu.kind[2] or "",
        "best": each.verdict, "rate": text(row.rate if row else None, ".6g"),
        "unit": row.unit if row else "", "of_limit": text(row.of_limit if row else None, ".4f"),
        "half_interval": text(sure, ".4f"), "first": judged.compared,
        "x_first": text(each.ratio, ".4f"), "right": int(each.verdict in ("passed", "right")),
        "checked": 1, "place": "" if place == "-" else place,
        "remarks": "; ".join(filter(None, remarked)),
        "findings": class_counts.findings_text(file.rows).strip("-") if file.on_cpu else ""}
