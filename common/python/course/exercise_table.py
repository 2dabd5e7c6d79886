"""The leaderboard of an exercise: who passed, and how fast beside the chapter's own version.

On a GPU the order is that of the ratio to the course's version in the same run, which is fair
between machines. Places are shared as long as the 95 % intervals of the ratios overlap with that
of the first of the place: noise decides nothing. On the CPU those that pass come first; then the
fewer sectors, wavefronts and barriers per request.
"""

from __future__ import annotations

from typing import Iterable, List, NamedTuple, Optional, Sequence, Tuple

from . import counts, intervals, results, tables
from .class_files import Entry, Names, Section
from .results import Row
from .tables import Table

TIMED = ["place", "student", "verdict", "ratio", "95 % interval", "% limit"]
COUNTED = ["place", "student", "verdict", *(name for name, _, _ in counts.ACCESSES), "lanes"]


class Standing(NamedTuple):
    """One submission."""

    entry: Entry
    row: Optional[Row]       # theirs
    compared: Optional[Row]  # the course's, of the same file
    ratio: Optional[float]
    interval: Optional[Tuple[float, float]]

    @property
    def verdict(self) -> str:
        """As written; a pass whose own samples say otherwise is doubted in print."""
        judged = self.entry.file.judged
        assert judged
        slow = (judged.verdict == "passed" and judged.asked_ratio and self.ratio is not None
                and self.ratio < judged.asked_ratio * (1 - results.ROUNDING))
        wrong = judged.verdict != "not yet" and self.row is not None and self.row.verified is False
        return "see why" if slow or wrong else judged.verdict

    @property
    def reason(self) -> str:
        judged = self.entry.file.judged
        assert judged
        if self.verdict == "see why":
            return "the verdict does not follow from the row: run it again"
        return judged.reason


def standing(entry: Entry) -> Standing:
    rows = entry.file.rows
    row = next((row for row in rows if row.role == "exercise"), None)
    other = next((row for row in rows if row.role != "exercise"), None)
    interval = (intervals.of_ratio(other.seconds, row.seconds)
                if row and other and not (row.words or other.words) else None)
    return Standing(entry, row, other, results.rate_ratio(row, other), interval)


def rank_key(each: Standing, cpu: bool) -> Tuple:
    order = {"passed": 0, "right": 1, "see why": 2, "not yet": 3}[each.verdict]
    if not cpu:
        return order, -(each.ratio or 0)
    model = each.row.model if each.row else None
    return order, sum(value or 0 for value in counts.per_request(model or {}))


def places(ordered: Sequence[Standing], cpu: bool) -> List[str]:
    """'1', '2', '2': equal numbers where the difference may be noise; '-' if it did not pass."""
    found: List[str] = []
    leader: Optional[Standing] = None
    for index, each in enumerate(ordered):
        if each.verdict not in ("passed", "right"):
            found.append("-")
            continue
        if leader is not None and found[-1] != "-" and alike(leader, each, cpu):
            found.append(found[-1])
            continue
        leader = each
        found.append(str(index + 1))
    return found


def alike(leader: Standing, each: Standing, cpu: bool) -> bool:
    if cpu:
        return rank_key(leader, True) == rank_key(each, True)
    if leader.verdict != each.verdict:
        return False
    if leader.interval is None or each.interval is None:  # too few samples to tell
        return True
    return each.interval[1] >= leader.interval[0]


def board(entries: Sequence[Entry], names: Names, cpu: bool) -> Tuple[Table, str, List[str]]:
    """The table, the sentence below it, and for each that did not pass why."""
    ordered = sorted(map(standing, entries), key=lambda each: rank_key(each, cpu))
    judged = ordered[0].entry.file.judged
    assert judged
    lines = [line_of(place, each, names, cpu) for place, each in zip(places(ordered, cpu), ordered)]
    reasons = [f"{names.of(each.entry)}: {each.reason}" for each in ordered if each.reason]
    if cpu:
        own = next((each.compared for each in ordered if each.compared and each.compared.model),
                   None)
        if own:
            lines.append(["", own.version, "the course's", *counts.cells(counts.per_request(
                own.model or {})), counts.lanes_cell(own.model or {})])
        return (list(COUNTED), lines), counts.NOTE, reasons
    asked = f", and {judged.asked_ratio:.2f}x is asked for" if judged.asked_ratio else ""
    note = (f"ratio: the rate over that of {judged.compared} in the same run{asked}. Who shares a "
            "place differs by no more than the noise.")
    return (list(TIMED), lines), note, reasons


def line_of(place: str, each: Standing, names: Names, cpu: bool) -> List[str]:
    head = [place, names.of(each.entry), each.verdict]
    if cpu:
        model = each.row.model if each.row and each.row.model else {}
        return head + [*counts.cells(counts.per_request(model)), counts.lanes_cell(model)]
    low_high = ("?" if each.interval is None else
                f"{each.interval[0]:.2f}-{each.interval[1]:.2f}")
    share = tables.percent_text(each.row) if each.row and not each.row.words else "-"
    return head + [tables.ratio_text(each.ratio), low_high if each.ratio else "-", share]


def csv_rows(sections: Iterable[Section], names: Names,
             columns: Sequence[str]) -> Iterable[List[object]]:
    """The exercises' rows under the columns of a class: best is the verdict, first the version that
    it was compared with."""
    for section in sections:
        for each in map(standing, section.entries if section.exercise is not None else ()):
            judged, row = each.entry.file.judged, each.row
            assert judged
            known = {
                "chapter": section.chapter, "study": f"exercise_{section.exercise}",
                "student": names.of(each.entry), "gpu": each.entry.file.gpu.name,
                "memory_gib": each.entry.file.gpu.kind[1] or "",
                "pins_gbs": each.entry.file.gpu.kind[2] or "", "best": each.verdict,
                "rate": f"{row.rate:.6g}" if row and row.rate else "",
                "unit": row.unit if row else "", "first": judged.compared,
                "x_first": f"{each.ratio:.4f}" if each.ratio else "",
                "right": int(judged.verdict != "not yet"), "checked": 1,
                "remarks": "; ".join(filter(None, [each.reason] + [
                    names.text(remark, section) for remark in each.entry.remarks]))}
            yield [known.get(column, "") for column in columns]
