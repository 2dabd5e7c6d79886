"""A class in tables: one row per student or machine, grouped by GPU, sorted, with remarks.

What is compared is the share of the machine's own limit, which is fair between machines, and the
rate over the first version's of the same file. Both are recomputed (remarks.py). `+-` is half the
95 % interval of the median.
"""

from __future__ import annotations

import csv
import io
import statistics
import textwrap
from collections import Counter
from dataclasses import dataclass
from typing import Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

from . import as_cell, class_counts, exercise_table, intervals, remarks, results, tables
from .class_files import Entry, Gathered, Names, Section
from .remarks import Remark
from .results import ResultFile, Row
from .tables import Table

WIDTH = 80
LONGEST_REMARKS = 10000  # characters
HEADINGS = ["student", "best version", "% limit", "+-", "x first", "check", "flags"]
WORDS = ("student", "best version", "version", "flags", "verdict", "findings", "right")
COLUMNS = ["chapter", "study", "student", "gpu", "memory_gib", "pins_gbs", "clock_mhz", "best",
           "rate", "unit", "of_limit", "half_interval", "first", "x_first", "right", "checked",
           "flags", "remarks", "place", "findings", "usual_counts"]
SHORT = {"debug_build": "Debug", "display_timeout": "display", "few_samples": "few",
         "anchors_moved": "moved", "slow_edges": "driver", "on_battery": "battery",
         "l2_resident": "L2"}


@dataclass(frozen=True)
class Place:
    """A student's row for one study."""

    entry: Entry
    rows: Tuple[Row, ...]
    best: Optional[Row]
    first: Optional[Row]

    @property
    def share(self) -> Optional[float]:
        return self.best.of_limit if self.best else None

    @property
    def over_first(self) -> Optional[float]:
        return results.rate_ratio(self.best, self.first)

    @property
    def sure(self) -> Optional[float]:
        return intervals.half_width(self.best.seconds) if self.best else None

    @property
    def clock(self) -> float:
        known = [row.clock_mhz for row in self.rows if row.clock_mhz]
        return statistics.median(known) if known else 0.0

    @property
    def checked(self) -> List[Row]:
        return [row for row in self.rows if row.verified is not None or not row.skipped]

    @property
    def check(self) -> str:
        ran = self.checked
        failed = sum(row.verified is False for row in ran)
        right = sum(row.verified is True for row in ran)
        if failed:
            return f"{failed} FAILED"
        return f"{right}/{len(ran)}" + ("" if right == len(ran) else " checked")

    @property
    def flags(self) -> List[str]:
        """Short words, each explained below the table: how it was measured, inconsistencies."""
        kinds = [remark.kind for remark in self.entry.remarks
                 + remarks.of_file(self.entry.file, self.rows)]
        return [SHORT.get(kind, kind) for kind in dict.fromkeys(kinds)]


def study_of(section: Section, study: Optional[str]) -> str:
    """The study asked for; else the one that comes first in most files, by the course's order."""
    if study:
        return study
    counts: Counter[str] = Counter()
    for entry in section.entries:
        with_rows = {row.study for row in entry.file.rows}
        names = with_rows or {each.name for each in entry.file.studies}
        counts.update(remarks.in_courses_order(section.chapter, sorted(names))[:1])
    return max(remarks.in_courses_order(section.chapter, counts),
               key=lambda name: counts[name], default="")


def first_version(files: Sequence[ResultFile], study: str) -> str:
    """The first version of the sequence that most files have a comparable time of."""
    counts: Dict[str, int] = {}
    for file in files:
        for name in {row.version for row in file.rows_of(study) if row.role == "version"
                     and not row.words and "largest_size" not in row.flags}:
            counts[name] = counts.get(name, 0) + 1
    often = [name for name, count in counts.items() if 2 * count >= max(counts.values())]
    return min(often, default="")


def place_of(entry: Entry, study: str, first: str) -> Place:
    """The best version is the checked one with the greatest share of the limit (without a limit:
    the greatest rate); libraries and limits are not the student's."""
    rows = tuple(row for row in entry.file.rows_of(study) if row.role in ("version", "exercise"))
    timed = [row for row in rows if not row.words and "largest_size" not in row.flags]
    timed = [row for row in timed if row.verified] or timed
    # of several units the most frequent one: rates in other units cannot be compared
    unit = statistics.mode(row.unit for row in timed) if timed else ""
    timed = [row for row in timed if row.unit == unit]
    best = max(timed, key=lambda row: (row.of_limit or 0, row.rate or 0), default=None)
    start = [row for row in entry.file.rows_of(study) if row.version == first]
    same = [row for row in start if best and row.case == best.case] or start
    return Place(entry, rows, best, same[0] if same else None)


def groups_of(places: Sequence[Place]) -> List[Tuple[str, List[Place]]]:
    """Places by GPU: name, memory and pins, and clocks within 5 %. Each group sorted, the best
    share first. An entry without times has no clock, and is in the first group of the GPU."""
    kinds: Dict[Tuple[str, int, int], List[Place]] = {}
    for place in places:
        kinds.setdefault(place.entry.file.gpu.kind, []).append(place)
    found = []
    for (name, memory, pins), members in sorted(kinds.items()):
        timed = [place for place in members if place.clock]
        others = [place for place in members if not place.clock]
        if not timed:
            timed, others = others, []
        for cluster in remarks.clusters([place.clock for place in timed]):
            group = sorted([timed[k] for k in sorted(cluster)] + others,
                           key=lambda place: -(place.share or 0))
            others = []
            clock = statistics.median([place.clock for place in group if place.clock] or [0])
            parts = [name, f"{memory} GiB" if memory else "", f"{pins} GB/s" if pins else "",
                     f"SM at {clock:.0f} MHz" if clock else ""]
            found.append((", ".join(filter(None, parts)), group))
    return found


def percent(value: Optional[float], digits: int = 1) -> str:
    return "-" if value is None else f"{100 * value:.{digits}f} %"


def line_of(place: Place, names: Names) -> List[str]:
    best = place.best
    words = next((row.words.split(":")[0] for row in place.rows if row.words), "not measured")
    return [names.of(place.entry), best.version if best else words,
            percent(place.share) if best else "-",
            "?" if best and place.sure is None else percent(place.sure),
            tables.ratio_text(place.over_first), place.check, ", ".join(place.flags)]


def listed(names: Sequence[str], most: int = 12) -> str:
    more = f" and {len(names) - most} more (--csv has all)" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def fitted(rows: List[List[str]], widths: Sequence[int], headings: Sequence[str]) -> List[str]:
    """Lines of at most 80 columns: words left-aligned, numbers right-aligned, two dots where a text
    was cut."""
    lines = []
    for row in rows:
        cells = []
        for k, (text, width) in enumerate(zip(row, widths)):
            cut = tables.cut(text, width)
            cells.append(cut.ljust(width) if headings[k] in WORDS else cut.rjust(width))
        lines.append("  ".join(cells).rstrip())
    return lines


def widths_of(rows: Sequence[Sequence[str]], least: Sequence[int]) -> List[int]:
    """Widths that fill at most 80 columns; too wide columns are cut, the last one first."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    excess = sum(widths) + 2 * (len(widths) - 1) - WIDTH
    for k in (len(widths) - 1, 1, 0, *range(2, len(widths) - 1)):
        give = max(0, min(excess, widths[k] - (least[k] or widths[k])))
        widths[k] -= give
        excess -= give
    return widths


def files_text(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}"


def left_out(count: int) -> str:
    return f"{files_text(count)} could not be read and {'is' if count == 1 else 'are'} left out"


class ClassTable:
    """A class as text, Markdown or CSV. Names are given in the order of the output, so that a
    number of --anonymous is the same student in all of it."""

    def __init__(self, gathered: Gathered, study: Optional[str] = None, anonymous: bool = False,
                 markdown: bool = False) -> None:
        gathered.only(study)
        self.gathered, self.study, self.markdown = gathered, study, markdown
        self.names = Names(anonymous, gathered.sections if anonymous else ())
        for section in gathered.sections if anonymous else ():
            for entry in self.in_order(section):
                self.names.of(entry)

    # The contents of a section

    def in_order(self, section: Section) -> List[Entry]:
        """All entries as the section's tables list them."""
        if section.exercise is not None:
            return [each.entry for cpu in (False, True) for each in exercise_table.standings(
                self.names.sorted(section.on(cpu)), cpu)]
        timed = [place.entry for _, group in self.shown(section)[2] for place in group]
        return timed + self.names.sorted(section.on(cpu=True))

    def shown(self, section: Section) -> Tuple[str, str, List[Tuple[str, List[Place]]]]:
        """The study, the version for comparison, and the groups of the entries with a GPU."""
        entries = self.names.sorted(section.on(cpu=False))
        study = study_of(section, self.study)
        first = first_version([entry.file for entry in entries], study)
        return study, first, groups_of([place_of(entry, study, first) for entry in entries])

    def timed_lines(self, section: Section) -> List[str]:
        study, first, groups = self.shown(section)
        if not any(place.entry.file.rows_of(study) or not self.study
                   for _, group in groups for place in group):
            return []
        rows = [[line_of(place, self.names) for place in group] for _, group in groups]
        out = [self.title(f"{section.chapter}, {study}"), "",
               *self.paragraph("Best version of each, in % of what its own machine can do; +-: "
                               "95 % interval of its median in this run; x first: over "
                               f"{first or 'nothing'} in the same file.")]
        if self.markdown:
            for (heading, _), part in zip(groups, rows):
                out += ["", f"**{tables.for_markdown(heading)}**", "",
                        *self.table((HEADINGS, part), (12, 14))]
            return out
        widths = widths_of([HEADINGS] + [line for part in rows for line in part],
                           (12, 14, 0, 0, 0, 0, 8))
        out += ["", *fitted([HEADINGS], widths, HEADINGS)]
        for (heading, _), part in zip(groups, rows):
            out += [f"-- {heading} ({len(part)})"[:WIDTH], *fitted(part, widths, HEADINGS)]
        return out

    def section(self, section: Section) -> List[str]:
        if section.exercise is not None:
            title = f"{section.chapter}, exercise {section.exercise}"
            parts = [self.board(section, title, cpu) for cpu in (False, True)]
        else:
            parts = [self.timed_lines(section), self.counted(section)]
        lines = [line for part in parts if part for line in part + [""]]
        return lines + self.remark_lines(section)

    def board(self, section: Section, title: str, cpu: bool) -> List[str]:
        entries = self.names.sorted(section.on(cpu))
        if not entries:
            return []
        table, note, reasons = exercise_table.board(entries, self.names, cpu)
        where = "counted on the CPU" if cpu else "timed on a GPU"
        lines = [line for reason in reasons for line in self.item(reason)]
        return [self.title(f"{title}, {where}"), "", *self.table(table, (6, 12)), "",
                *self.paragraph(note), *(["", "Why:", *([""] if self.markdown else [])]
                                         if lines else []), *lines]

    def counted(self, section: Section) -> List[str]:
        entries = self.names.sorted(section.on(cpu=True))
        if not entries:
            return []
        if not any(entry.file.rows_of(self.study) if self.study else True for entry in entries):
            return []
        found = class_counts.table(entries, self.names, self.study)
        out = [self.title(f"{section.chapter}, counted on the CPU"), ""]
        if found.versions:
            out += [*self.table((class_counts.VERSIONS, found.versions), (12, 6)), "",
                    *self.paragraph(class_counts.NOTE), ""]
        out += self.table((class_counts.HEADINGS, [list(each.cells) for each in found.students]),
                          (12, 8))
        if found.differing:
            out += ["", "Counts that differ:", *([""] if self.markdown else []),
                    *self.table((class_counts.DIFFERING, found.differing), (12, 14))]
        return out

    # Remarks

    def remark_lines(self, section: Section) -> List[str]:
        """Each sentence once, with the entries that it is about."""
        study = study_of(section, self.study)
        about: Dict[Tuple[str, str], List[Tuple[str, Remark]]] = {}
        everybody = self.in_order(section)
        for entry in everybody:
            rows = entry.file.rows if section.exercise else entry.file.rows_of(study)
            for remark in entry.remarks + remarks.of_file(entry.file, rows):
                key = (remark.kind, self.names.text(remark, section))
                about.setdefault(key, []).append((self.names.of(entry), remark))
        lines = []
        for (kind, text), found in about.items():
            few = len(found) <= 2
            who = [name + (f" ({remark.where if few else remark.count})" if remark.rows else "")
                   for name, remark in found]
            lines += self.item(f"{SHORT.get(kind, kind)}: {text}: {listed(who)}")
        others = [f"{self.names.of(entry)} ({entry.other})" for entry in everybody
                 if entry.other]
        lines += self.item("other files of the same label and GPU are not shown: "
                           + listed(others)) if others else []
        return ["Remarks:", *([""] if self.markdown else []), *lines, ""] if lines else []

    # Text and Markdown

    def title(self, text: str) -> str:
        return f"### {tables.for_markdown(text)}" if self.markdown else text

    def paragraph(self, text: str) -> List[str]:
        return [tables.for_markdown(text)] if self.markdown else textwrap.wrap(text, WIDTH)

    def item(self, text: str) -> List[str]:
        return [f"- {tables.for_markdown(text)}"] if self.markdown else textwrap.wrap(
            text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)

    def table(self, table: Table, least: Tuple[int, int]) -> List[str]:
        """A table in 80 columns: the last column is cut first, then the second, then the first."""
        if self.markdown:
            return [tables.to_markdown((table[0], [list(map(tables.for_markdown, row))
                                                   for row in table[1]]))]
        rows = [table[0]] + table[1]
        widths = widths_of(rows, (least[0], least[1]) + (8,) * (len(table[0]) - 2))
        return fitted(rows, widths, table[0])

    def text(self) -> str:
        lines = [line for section in self.gathered.sections for line in self.section(section)]
        bad = len(self.gathered.bad)
        read = f"{files_text(self.gathered.read)} read"
        lines.append(f"{read}, {left_out(bad)}" if bad else read)
        return "\n".join(lines) + "\n"

    # Other outputs

    def csv(self) -> str:
        """One line per student and study; exercises are in exercise_table.csv_rows."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in self.csv_rows():
            values = (row.get(column, "") for column in COLUMNS)
            writer.writerow(as_cell(value, LONGEST_REMARKS) if isinstance(value, str) else value
                            for value in values)
        return out.getvalue()

    def csv_rows(self) -> Iterator[Dict[str, object]]:
        for section in self.gathered.sections:
            if section.exercise is not None:
                continue
            study, first, groups = self.shown(section)
            for _, group in groups:
                for place in group:
                    yield self.csv_row(section, study, first, place)
            on_cpu = self.names.sorted(section.on(cpu=True))
            for entry, counted in zip(on_cpu, class_counts.table(
                    on_cpu, self.names, self.study).students):
                place = place_of(entry, study, first)
                yield {**self.csv_row(section, study, first, place), "right": counted.right,
                       "checked": counted.ran, "findings": counted.findings.strip("-"),
                       "usual_counts": counted.usual}
        yield from exercise_table.csv_rows(self.gathered.sections, self.names)

    def csv_row(self, section: Section, study: str, first: str,
                place: Place) -> Dict[str, object]:
        entry, best, gpu = place.entry, place.best, place.entry.file.gpu
        told = [f"{SHORT.get(remark.kind, remark.kind)}: {self.names.text(remark, section)}"
                + (f" ({remark.where})" if remark.rows else "")
                for remark in entry.remarks + remarks.of_file(entry.file, place.rows)]

        def digits(value: Optional[float], format_: str) -> str:
            return "" if value is None else format(value, format_)
        return {
            "chapter": section.chapter, "study": study, "student": self.names.of(entry),
            "gpu": gpu.name, "memory_gib": gpu.kind[1] or "", "pins_gbs": gpu.kind[2] or "",
            "clock_mhz": f"{place.clock:.0f}" if place.clock else "",
            "best": best.version if best else "", "unit": best.unit if best else "",
            "rate": digits(best.rate if best else None, ".6g"),
            "of_limit": digits(place.share, ".4f"), "half_interval": digits(place.sure, ".4f"),
            "first": first, "x_first": digits(place.over_first, ".4f"),
            "right": sum(row.verified is True for row in place.checked),
            "checked": len(place.checked),
            "flags": " ".join(SHORT.get(flag, flag) for flag in remarks.flags_of(
                entry.file, place.rows)),
            "remarks": "; ".join(told)}

    def sections_with_times(self) -> Iterable[Tuple[str, List[Tuple[str, List[Place]]]]]:
        """For the picture: a title and groups for each chapter with times."""
        for section in self.gathered.sections:
            if section.exercise is None:
                study, _, groups = self.shown(section)
                if any(place.best for _, group in groups for place in group):
                    yield f"{section.chapter}, {study}", groups
