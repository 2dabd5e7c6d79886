"""Parts of the course that are tested in full one at a time: each chapter, and common, which is the rest.

tests/passed.json says of each part of which files it passed all of its tests, and what that took.
`tests/run --all --sign` writes it, and `tests/run --changed` goes by it: in full are tested the parts whose files differ,
then others, by turns, as time allows, and at least one. So an entry that is not true does not stay unnoticed.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Dict, List, NamedTuple, Sequence

from . import ROOT, chapters

COMMON = "common"
FILE = ROOT / "tests" / "passed.json"
USUAL_S = 300  # what a part takes that has never passed


class Passed(NamedTuple):
    """A part's state when it passed, and half of the time that its tests took of all cores, with their build."""

    digest: str
    seconds: float


class Choice(NamedTuple):
    """What is tested in full, with why, and what quickly."""

    full: Dict[str, str]
    quick: List[str]


def part_of(file: str) -> str:
    """The part that a tracked file belongs to; empty for what only the documentation's tests look at."""
    name = re.match(r"(?:chapters|tests|tests/mutants|tests/exercises)/(\d\d)[_./]", file)
    if re.match(r"docs/|[^/]+[.]md$|LICENSE", file) or file == FILE.relative_to(ROOT).as_posix():
        return ""
    if not name:
        return COMMON
    if re.match(r"chapters/[^/]+/(results/|[^/]+[.](md|svg)$)", file):
        return ""
    found = [chapter.name for chapter in chapters.every() if chapter.number == name.group(1)]
    return found[0] if found else COMMON


def digests() -> Dict[str, str]:
    """SHA-256 over names and contents of each part's files."""
    listed = chapters.git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    found: Dict[str, "hashlib._Hash"] = {}
    for file in sorted(set((listed or "").split("\0"))):
        part = part_of(file) if file and (ROOT / file).is_file() else ""
        if part:
            entry = found.setdefault(part, hashlib.sha256())
            entry.update(f"{file}\0".encode() + hashlib.sha256((ROOT / file).read_bytes()).digest())
    return {part: entry.hexdigest() for part, entry in found.items()}


def read(file: Path = FILE) -> Dict[str, Passed]:
    if not file.exists():
        return {}
    return {part: Passed(entry["files"], entry["seconds"]) for part, entry in json.loads(file.read_text()).items()}


def sign(seconds: Dict[str, float], now: Dict[str, str], file: Path = FILE) -> None:
    """These parts passed as they are now."""
    known = {part: entry for part, entry in read(file).items() if part in now}
    known.update({part: Passed(now[part], took) for part, took in seconds.items()})
    file.write_text(json.dumps({part: {"files": entry.digest, "seconds": round(entry.seconds)}
                                for part, entry in sorted(known.items())}, indent=1) + "\n")


def choose(now: Dict[str, str], passed: Dict[str, Passed], commit: str, seconds: float) -> Choice:
    """Every part whose own files differ from those that passed; then others that fit into so many seconds, in an order that
    is another one with each commit: those that have never passed, after a change of common/ all, and at least one."""
    full = {part: "its files changed" for part in sorted(now) if part in passed and passed[part].digest != now[part]}
    takes = {part: passed[part].seconds if part in passed else USUAL_S for part in now}
    left = seconds - sum(takes[part] for part in full)
    affected, begun = COMMON in full, len(full)
    rest = sorted((part for part in now if part not in full),
                  key=lambda part: hashlib.sha256(f"{commit} {part}".encode()).digest())
    for part in sorted(rest, key=lambda part: part in passed):
        why = ("it has not passed yet" if part not in passed else
               "common changed" if affected else "one that did not change" if len(full) == begun else "")
        if part == COMMON and part in passed or not why or (takes[part] > left and len(full) > begun):
            continue
        full[part] = why
        left -= takes[part]
    return Choice(full, [part for part in sorted(now) if part not in full])
