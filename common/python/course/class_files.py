"""The result files of a class: found, read, named, and sorted into chapters and exercises.

A file that cannot be read is listed and the others are used. Of one label on one GPU the newest
file of each study counts. Unlabelled files are named after their folder, or after themselves.
"""

from __future__ import annotations

import dataclasses
import os
import random
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, Iterable, List, Optional, Sequence, Tuple

from . import one_line, remarks, results
from .remarks import Remark
from .results import ResultError, ResultFile

NAME = r"{name:(\d+)}"  # in a remark, an entry
NAMED = 6  # names of students with the same samples, in a remark


@dataclass
class Entry:
    """One student or machine: the files that count, recomputed, and the remarks on them."""

    file: ResultFile
    name: str
    remarks: List[Remark] = field(default_factory=list)
    other: int = 0  # files of the same label, GPU and chapter that are not shown


@dataclass(frozen=True)
class Section:
    """The files of one chapter, or of one exercise of it."""

    chapter: str
    exercise: Optional[int]
    entries: Tuple[Entry, ...]

    def on(self, cpu: bool) -> List[Entry]:
        return [entry for entry in self.entries if entry.file.on_cpu == cpu]


@dataclass(frozen=True)
class Gathered:
    """A class: its sections in order, and the files that could not be read, with why."""

    sections: Tuple[Section, ...]
    bad: Tuple[str, ...]
    read: int

    def only(self, study: Optional[str]) -> None:
        """A ResultError, if no file has this study."""
        known = {each.name for section in self.sections for entry in section.entries
                 for each in entry.file.studies}
        if study and study not in known:
            raise ResultError(f"no file has a study '{study}' (there are: "
                              f"{', '.join(sorted(known)) or 'none'})")


def files_in(paths: Iterable[Path]) -> Tuple[List[Tuple[Path, str]], List[str]]:
    """Each file once, folders opened, with the folder that it is in below a given one, or "". And
    the folders that cannot be opened, with the reason."""
    found: Dict[Path, str] = {}
    bad: List[str] = []
    for path in paths:
        inside = [path]
        if path.is_dir():
            inside = sorted(Path(folder, name) for folder, _, names in os.walk(
                path, onerror=lambda error: bad.append(
                    one_line(f"{error.filename}: {error.strerror}")))
                for name in names if name.lower().endswith(".json"))
        for file in inside:
            below = file.relative_to(path).parts if path.is_dir() else ()
            found.setdefault(Path(os.path.normpath(file)), below[0] if len(below) > 1 else "")
    return list(found.items()), bad


def load(path: Path) -> remarks.Doubts:
    """A file with recomputed numbers; a ResultError for whatever cannot be read."""
    try:
        if path.exists() and not path.is_file():
            raise ResultError(f"{path}: not a file")
        return remarks.recomputed(results.load(path))
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError,
            ValueError) as error:  # a case that results.py does not check
        raise ResultError(f"{path}: not a result file of the course ({error})") from None


def gather(paths: Sequence[Path]) -> Gathered:
    """Reads files and folders of files. A ResultError if there are none at all."""
    listed, bad = files_in(paths)
    if not listed and not bad:
        raise ResultError(f"no result files (*.json) in {', '.join(map(str, paths))}")
    groups: Dict[Tuple[str, int], List[Tuple[str, str, remarks.Doubts]]] = {}
    for path, folder in listed:
        try:
            doubts = load(path)
        except ResultError as error:
            bad.append(str(error))
            continue
        file = doubts.file
        key = (file.chapter, file.judged.number if file.judged else 0)
        groups.setdefault(key, []).append((folder, path.stem, doubts))
    sections = tuple(Section(chapter, number or None, tuple(newest(named(files))))
                     for (chapter, number), files in sorted(groups.items()))
    for section in sections:
        add_class_remarks(section.entries)
    return Gathered(sections, tuple(bad), sum(map(len, groups.values())))


def named(files: Sequence[Tuple[str, str, remarks.Doubts]]) -> List[Entry]:
    """Entries by label; without one by folder, or by file if a folder has several of them."""
    alone = Counter(folder for folder, _, doubts in files if not doubts.file.label)
    found = []
    for folder, stem, doubts in files:
        name = folder if folder and alone[folder] == 1 else "/".join(filter(None, (folder, stem)))
        late = [Remark("date", "dated in the future, so other files count as newer")]
        found.append(Entry(doubts.file, one_line(doubts.file.label or name),
                           doubts.remarks + (late if doubts.file.in_future else [])))
    return found


def newest(entries: Sequence[Entry]) -> List[Entry]:
    """Of the same name and GPU one entry: of an exercise the file that was measured last; of a
    chapter, for each study, the newest of those files that have most of its versions. A run of one
    version, or of one study, does not hide the whole run before it."""
    groups: Dict[Tuple, List[Entry]] = {}
    for entry in sorted(entries, key=lambda each: dated(each.file)):
        groups.setdefault((entry.name, entry.file.gpu.kind, entry.file.on_cpu), []).append(entry)
    return [merged(group) for group in groups.values()]


def dated(file: ResultFile) -> str:
    """The date to sort by; one in the future is no date."""
    return "" if file.in_future else file.date


def merged(group: Sequence[Entry]) -> Entry:
    """One entry of files in the order of their dates."""
    last = group[-1]
    if last.file.judged or len(group) == 1:
        last.other = len(group) - 1
        return last
    having: Dict[str, List[Tuple[int, Entry]]] = {}
    for entry in group:
        for study in {row.study for row in entry.file.rows}:
            versions = {row.version for row in entry.file.rows_of(study)}
            having.setdefault(study, []).append((len(versions), entry))
    kept = {study: max(enumerate(found), key=lambda each: (each[1][0], each[0]))[1][1]
            for study, found in having.items()}
    names = remarks.in_courses_order(last.file.chapter, kept)
    used = [entry for entry in group if any(each is entry for each in kept.values())] or [last]
    file = dataclasses.replace(
        used[-1].file, studies=tuple(kept[name].file.study(name) for name in names),
        rows=tuple(row for name in names for row in kept[name].file.rows_of(name)),
        interrupted=any(entry.file.interrupted for entry in used))
    told = list(dict.fromkeys(remark for entry in used for remark in entry.remarks))
    return Entry(file, last.name, told, len(group) - len(used))


def add_class_remarks(entries: Sequence[Entry]) -> None:
    """Remarks that need other entries: samples that two share, and rates of the machine."""
    files = [entry.file for entry in entries]
    for entry, found in zip(entries, remarks.of_limits(files)):
        entry.remarks += found
    for members, rows in remarks.shared_samples(files).items():
        names = ", ".join(f"{{name:{index}}}" for index in members[:NAMED])
        more = f" and {len(members) - NAMED} more" if len(members) > NAMED else ""
        text = f"the same samples in {rows} row{'' if rows == 1 else 's'} of {names}{more}"
        for index in members:
            entries[index].remarks.append(Remark("twins", text))


class Names:
    """An entry's printed name: its own, or a number that its place gives it. Numbered entries of
    equal place are in an order that is independent of their names."""

    def __init__(self, anonymous: bool, sections: Sequence[Section] = ()) -> None:
        self.anonymous = anonymous
        self.numbers: Dict[str, str] = {}
        entries = [entry for section in sections for entry in section.entries]
        mixed = random.Random(repr([(entry.file.date, entry.file.rows[:1]) for entry in entries]))
        self.keys = {name: mixed.random() for name in sorted({entry.name for entry in entries})}

    def of(self, entry: Entry) -> str:
        if not self.anonymous:
            return entry.name
        return self.numbers.setdefault(entry.name, f"student {len(self.numbers) + 1:02}")

    def sorted(self, entries: Iterable[Entry]) -> List[Entry]:
        if not self.anonymous:
            return sorted(entries, key=lambda entry: entry.name)
        return sorted(entries, key=lambda entry: self.keys.get(entry.name, 0))

    def text(self, remark: Remark, section: Section) -> str:
        """A remark's sentence, with the names of others as they are printed, sorted."""
        names = iter(sorted(self.of(section.entries[int(index)])
                            for index in re.findall(NAME, remark.text)))
        return re.sub(NAME, lambda _: next(names), remark.text)
