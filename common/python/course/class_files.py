"""The result files of a class: found, read, named, and sorted into chapters and exercises.

A file that cannot be read is listed and the others go on. Of one label on one GPU the newest file
counts. Unlabelled files are named after their folder, or after themselves.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, Iterable, List, Optional, Sequence, Tuple

from . import one_line, remarks, results
from .remarks import Remark
from .results import ResultError, ResultFile

NAMED = 6  # of those with the same samples


@dataclass
class Entry:
    """One student or machine: its newest file with recomputed numbers, and what is remarked."""

    file: ResultFile
    name: str
    remarks: List[Remark] = field(default_factory=list)
    older: int = 0  # files of the same label, GPU and chapter that are not shown


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


def files_in(paths: Iterable[Path]) -> List[Tuple[Path, str]]:
    """Each file once, folders opened, with the name that it has if it has no label."""
    found: Dict[Path, str] = {}
    for path in paths:
        inside = sorted(path.rglob("*.json")) if path.is_dir() else [path]
        for file in inside:
            below = file.relative_to(path).parts if path.is_dir() else ()
            found.setdefault(Path(os.path.normpath(file)),
                             below[0] if len(below) > 1 else file.stem)
    return list(found.items())


def gather(paths: Sequence[Path]) -> Gathered:
    """Reads files and folders of files. A ResultError if there are none at all."""
    listed = files_in(paths)
    if not listed:
        raise ResultError(f"no result files (*.json) in {', '.join(map(str, paths))}")
    groups: Dict[Tuple[str, int], List[Entry]] = {}
    bad = []
    for path, name in listed:
        try:
            file = results.load(path)
        except ResultError as error:
            bad.append(str(error))
            continue
        doubts = remarks.recomputed(file)
        key = (file.chapter, file.judged.number if file.judged else 0)
        shown_name = one_line(file.label or name)
        groups.setdefault(key, []).append(Entry(doubts.file, shown_name, doubts.remarks))
    sections = tuple(Section(chapter, number or None, tuple(newest(entries)))
                     for (chapter, number), entries in sorted(groups.items()))
    for section in sections:
        add_class_remarks(section.entries)
    return Gathered(sections, tuple(bad), len(listed) - len(bad))


def newest(entries: Sequence[Entry]) -> List[Entry]:
    """Of the same name and GPU the last one measured, which counts the others."""
    kept: Dict[Tuple, Entry] = {}
    for entry in sorted(entries, key=lambda each: each.file.date):
        key = (entry.name, entry.file.gpu.kind, entry.file.on_cpu)
        entry.older = kept[key].older + 1 if key in kept else 0
        kept[key] = entry
    return list(kept.values())


def add_class_remarks(entries: Sequence[Entry]) -> None:
    """What only shows beside the others: samples that two have, and rates of the machine."""
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
    """What an entry is called in print: its name, or a number that its place gives it."""

    def __init__(self, anonymous: bool) -> None:
        self.anonymous = anonymous
        self.numbers: Dict[str, str] = {}

    def of(self, entry: Entry) -> str:
        if not self.anonymous:
            return entry.name
        return self.numbers.setdefault(entry.name, f"student {len(self.numbers) + 1:02}")

    def text(self, remark: Remark, section: Section) -> str:
        """A remark's sentence, with the names of others as they are printed."""
        return re.sub(r"{name:(\d+)}", lambda found: self.of(section.entries[int(found[1])]),
                      remark.text)
