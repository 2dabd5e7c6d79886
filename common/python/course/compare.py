"""Comparison of result files: the same rows next to each other, with a verdict if it is justified.

Files from one GPU get a verdict from their samples. Files from different GPUs are shown as shares
of their own limits, without a verdict. With a version as the baseline, each file is compared with
itself.
"""
from __future__ import annotations

import collections
import csv
import io
import itertools
import statistics
import textwrap
from dataclasses import dataclass
from typing import Dict, List, Optional, Sequence, Tuple

from . import counts, remarks, results, tables
from .intervals import FASTER, SAME, SLOWER, UNSURE, verdict
from .results import ResultError, ResultFile, Row
from .tables import Table


@dataclass(frozen=True)
class Line:
    """One row of the comparison: the same version and case in every file that has it."""
    study: str
    version: str
    name: str
    rows: Tuple[Optional[Row], ...]


def names(file: ResultFile) -> Tuple[Optional[str], ...]:
    """What --baseline may call a file."""
    return (str(file.path), file.path.name, file.path.stem, file.label)


class Comparison:
    """The rows of several files, matched. `base` is a file's index or a version's name."""

    def __init__(self, files: Sequence[ResultFile], baseline: Optional[str] = None,
                 study: Optional[str] = None) -> None:
        self.doubts = [remarks.recomputed(file) for file in files]
        self.files = [doubt.file for doubt in self.doubts]
        chapters = {file.chapter for file in files}
        if len(chapters) > 1:
            raise ResultError(f"files of different chapters: {', '.join(sorted(chapters))}")
        if study and not any(study == known.name for file in files for known in file.studies):
            raise ResultError(f"no file has a study '{study}'")
        self.letters = [chr(65 + k) if k < 26 else f"A{k}" for k in range(len(files))]
        self.base, self.version = self._baseline(baseline)
        self.lines = self._match(study)
        self.bases = {line.study: self._base_of(line.study, baseline is None)
                      for line in self.lines}

    def _baseline(self, text: Optional[str]) -> Tuple[int, Optional[str]]:
        if text is None:
            return 0, None
        for index, file in enumerate(self.files):
            if text in names(file) or text == self.letters[index]:
                return index, None
        versions = dict.fromkeys(row.version for file in self.files for row in file.rows)
        found = [v for v in versions if v == text] or \
            [v for v in versions if v.split("_")[0] == text]
        if not found:
            raise ResultError(f"the baseline '{text}' is none of the files and no version in them")
        if len(found) > 1:
            raise ResultError(f"the baseline '{text}' can be {' or '.join(found)}: give one name")
        return 0, found[0]

    def _base_of(self, study: str, any_file: bool) -> int:
        """The baseline; if it lacks the study, the first file that has it, if any may be used."""
        having = [k for k in range(len(self.files))
                  if any(line.rows[k] for line in self.lines if line.study == study)]
        return having[0] if any_file and self.base not in having else self.base

    def _match(self, study: Optional[str]) -> List[Line]:
        """Rows with the same version and case, in the order of the baseline, then of the others.

        Where a version has one row in every file, its size may differ: a slow row steps down.
        """
        order = [self.base] + [k for k in range(len(self.files)) if k != self.base]
        by_version: Dict[Tuple[str, str], List[List[Row]]] = {}
        for index in order:
            for row in self.files[index].rows:
                if study in (row.study, None):
                    key = (row.study, row.version)
                    by_version.setdefault(key, [[] for _ in self.files])[index].append(row)
        lines = []
        for (name, version), places in by_version.items():
            flat = [row for index in order for row in places[index]]
            alone = all(len(rows) <= 1 for rows in places)
            if alone and len({(row.type, row.input) for row in flat}) == 1:
                rows = tuple(rows[0] if rows else None for rows in places)
                note = " (sizes differ)" if len({row.case for row in flat}) > 1 else ""
                lines.append(Line(name, version, version + note, rows))
                continue
            for case in dict.fromkeys(row.case for row in flat):
                rows = tuple(next((r for r in rows if r.case == case), None) for rows in places)
                first = next(row for row in rows if row)
                lines.append(Line(name, version, f"{version} {self._case_text(first, flat)}", rows))
        return lines

    @staticmethod
    def _case_text(row: Row, rows: Sequence[Row]) -> str:
        """The parts of a case in which a version's rows differ."""
        size = {k: v for k, v in row.size.items() if any(other.size.get(k) != v for other in rows)}
        parts = [tables.size_text(size)] if size else []
        parts += [row.type] if any(other.type != row.type for other in rows) else []
        parts += [row.input] if any(other.input != row.input for other in rows) else []
        return ", ".join(parts)

    def same_gpu(self, index: int, base: Optional[int] = None) -> bool:
        kinds = {self.files[k].gpu.kind for k in (self.base if base is None else base, index)}
        return len(kinds) == 1 and self.files[index].gpu.name != "unknown GPU"

    @property
    def one_gpu(self) -> bool:
        return all(self.same_gpu(k) for k in range(len(self.files)))

    def describe(self, index: int) -> str:
        file = self.files[index]
        name = file.label or file.path.name
        return f"{name}: {file.provenance()}" + (
            " (baseline)" if index == self.base and not self.version else "")

    def ratio(self, line: Line, index: int) -> Optional[float]:
        """The rate over that of the baseline: a file's, or in this file a version's."""
        row, base = line.rows[index], line.rows[self.bases[line.study]]
        if self.version and row:
            base = results.same_case(self.files[index], row, self.version)
        elif not self.same_gpu(index, self.bases[line.study]):
            return None
        return results.rate_ratio(row, base)

    def verdict(self, line: Line, index: int) -> str:
        """A word for a file on the baseline's GPU; empty for the baseline itself and other GPUs."""
        place = self.bases[line.study]
        base, row = line.rows[place], line.rows[index]
        if self.version or index == place or not base or not row:
            return ""
        if not self.same_gpu(index, place):
            return ""
        if base.words or row.words:
            return ""
        comparable = base.case == row.case and base.behind == row.behind
        return verdict(base.seconds, row.seconds) if comparable else UNSURE

    def cell(self, line: Line, index: int, unit: str) -> str:
        """A row's cell in a table; with the unit only if it is not that of the heading."""
        row = line.rows[index]
        if row is None:
            return "missing"
        if row.words and row.model and row.verified:
            return "ok " + "/".join(counts.cells(counts.per_request(row.model)))
        if row.words:
            return row.words.split(":")[0]
        parts = [tables.digits(row.rate) + ("" if row.unit == unit else f" {row.unit}")]
        if not self.one_gpu:
            parts.append(tables.percent_text(row))
        base = self.bases[line.study]
        if self.version or index != base and self.same_gpu(index, base):
            parts.append(tables.ratio_text(self.ratio(line, index)))
        word = self.verdict(line, index)
        parts += ["unchecked"] if row.verified is None else []
        return "  ".join(parts) + (f" {word:<6}" if word else "")

    # Differences, missing rows, conclusions

    def environment(self) -> List[Tuple[str, List[str]]]:
        """The properties of the runs that differ, each with its value in every file."""
        facts: Dict[str, List[str]] = {"gpu": [file.gpu.name for file in self.files]}
        for key in dict.fromkeys(key for file in self.files for key in file.environment):
            facts[key] = [file.environment.get(key) or "unknown" for file in self.files]
        facts["launches come behind"] = [
            ", ".join(sorted({row.behind or "unknown" for row in file.rows if not row.words}))
            or "nothing timed"
            for file in self.files]
        clocks = [[row.clock_mhz for row in file.rows if row.clock_mhz] for file in self.files]
        medians = [statistics.median(clock) if clock else 0 for clock in clocks]
        if max(medians) > 1.01 * min(medians):
            facts["median SM clock"] = [f"{mhz:.0f} MHz" if mhz else "unknown" for mhz in medians]
        return [(key, values) for key, values in facts.items() if len(set(values)) > 1]

    def missing(self) -> List[str]:
        """A line per study and set of rows that one file or several lack."""
        gone: Dict[Tuple[str, str], List[str]] = {}
        for letter, rows in zip(self.letters, zip(*(line.rows for line in self.lines))):
            for study in dict.fromkeys(line.study for line in self.lines):
                here = [(line, row) for line, row in zip(self.lines, rows) if line.study == study]
                absent = collections.Counter(line.version for line, row in here if row is None)
                names = ", ".join(v if n == 1 else f"{v} ({n} rows)" for v, n in absent.items())
                if absent:
                    what = names if any(row for _, row in here) else "all of it"
                    gone.setdefault((study, what), []).append(letter)
        return [f"missing in {', '.join(letters)}, study {study}: {what}"
                for (study, what), letters in gone.items()]

    def doubtful(self) -> List[str]:
        """Flags of the rows, and inconsistencies within a file."""
        lines = []
        shown = {line.study for line in self.lines}
        for letter, (file, found) in zip(self.letters, self.doubts):
            rows = [row for row in file.rows if row.study in shown]
            lines += [f"remark on {letter}: {remark.sentence}"
                      for remark in found + remarks.of_file(file, rows)]
        return lines

    def summary(self) -> List[str]:
        lines = []
        bases = sorted(set(self.bases.values()))
        for index, base in itertools.product(range(len(self.files)), bases):
            words = [self.verdict(line, index) for line in self.lines
                     if self.bases[line.study] == base]
            if any(words):
                counts = ", ".join(f"{words.count(w)} {w}" for w in (FASTER, SLOWER, SAME, UNSURE))
                lines.append(f"{self.letters[index]} against {self.letters[base]}: {counts}")
        return lines

    def too_slow(self, percent: float) -> List[str]:
        """Rows that take over `percent` longer than the baseline for the same work, or fail now.

        A row that is UNSURE counts, so that too few samples cannot hide it; one that is SAME does
        not.
        """
        found = []
        for line in self.lines:
            base = line.rows[self.base]
            for index, row in enumerate(line.rows):
                if not row or not base or base.words or not self.same_gpu(index):
                    continue
                ratio, word = self.ratio(line, index), self.verdict(line, index)
                where = f"{line.study} {line.name} in {self.letters[index]}"
                if row.words:
                    found.append(f"{where}: {row.words}")
                elif ratio and 1 / ratio > 1 + percent / 100 and word in (SLOWER, UNSURE):
                    found.append(f"{where}: takes {1 / ratio:.2f}x the time ({word})")
        return found

    # Output

    def legend(self) -> str:
        if self.version:
            return f"ratios: rate over that of {self.version} in the same file"
        counted = any(row and row.model for line in self.lines for row in line.rows)
        if counted and all(row is None or row.words for line in self.lines for row in line.rows):
            return "\n".join(["counted: loads/stores/sh.loads/sh.stores",
                              *textwrap.wrap(counts.NOTE, 80)])
        others = ", ".join(f"{self.letters[base]} in study {study}"
                           for study, base in self.bases.items() if base != self.base)
        text = (f"ratios: rate over that of {self.letters[self.base]}"
                f"{f' ({others})' if others else ''} on the same GPU")
        if any(self.verdict(line, k) for line in self.lines for k in range(len(self.files))):
            text += "\nverdicts are about these runs: another run may differ by more than its noise"
        return text + ("" if self.one_gpu else
                       "\n%: of the file's own limit; no verdict between different GPUs")

    def tables(self) -> List[Tuple[str, Table]]:
        """A table per study, of the files that have it; none if only one has it."""
        found = []
        for study in dict.fromkeys(line.study for line in self.lines):
            lines = [line for line in self.lines if line.study == study]
            having = [k for k in range(len(self.files)) if any(line.rows[k] for line in lines)]
            if len(having) < 2 and not self.version:
                continue
            units = [row.unit for line in lines for row in line.rows if row and not row.words]
            unit = units[0] if units else ""
            rows = [[line.name] + [self.cell(line, k, unit) for k in having] for line in lines]
            headers = ["version"] + [f"{self.letters[k]} {unit}".rstrip() for k in having]
            found.append((study, (headers, rows)))
        return found

    def text(self, markdown: bool = False) -> str:
        render = tables.to_markdown if markdown else tables.to_text
        bullet, title = ("- ", "### ") if markdown else ("  ", "")
        said = tables.for_markdown if markdown else str
        out = [f"{bullet}{letter}  {said(self.describe(k))}"
               for k, letter in enumerate(self.letters)]
        differing = self.environment()
        out += ["", "environments differ:" if differing else "environments: the same", ""]
        if differing and markdown:
            rows = [[key] + values for key, values in differing]
            out += [render((["property"] + self.letters, rows)), ""]
        for key, values in [] if markdown else differing:
            line = f"  {key}: " + ", ".join(f"{a} {v}" for a, v in zip(self.letters, values))
            out += [line] if len(line) <= 80 else [f"  {key}:"] + [
                f"    {a} {v}" for a, v in zip(self.letters, values)]
        found = self.tables()
        for study, table in found:
            out += ["", f"{title}study {study}", "", render(table)]
        out += [] if found else ["", "nothing to compare: no study is in two of these files"]
        tail = self.missing() + self.doubtful() + self.summary()
        out += ["", self.legend()] + [bullet + line if markdown else textwrap.fill(
            line, 80, subsequent_indent="  ", break_on_hyphens=False) for line in tail]
        return "\n".join(out).replace("\n\n\n", "\n\n") + "\n"

    def csv(self) -> str:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        copied = "study version type input median_s q1_s q3_s rate unit of_limit".split()
        writer.writerow(["file", "gpu", "size", *copied, "ratio", "verdict"])
        for line in self.lines:
            for k, (file, row) in enumerate(zip(self.files, line.rows)):
                if row:
                    ratio = self.ratio(line, k)
                    writer.writerow([file.label or file.path.name, file.gpu.name,
                                     tables.size_text(row.size)]
                                    + [getattr(row, name) for name in copied]
                                    + ["" if ratio is None else f"{ratio:.4f}",
                                       row.words or self.verdict(line, k)])
        return out.getvalue()

    def plot_value(self, line: Line, index: int) -> Optional[float]:
        """What a plot shows: the rate on one GPU, % of the own limit across GPUs."""
        row = line.rows[index]
        if row is None or row.words:
            return None
        if self.one_gpu:
            return row.rate
        return None if row.of_limit is None else 100 * row.of_limit

    def plot_unit(self, study: str) -> str:
        if not self.one_gpu:
            return "% of the limit of its own GPU"
        units = {row.unit for line in self.lines if line.study == study for row in line.rows
                 if row and not row.words}
        return f"rate in {', '.join(sorted(units))}"
