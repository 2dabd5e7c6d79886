"""Texts for readers about exercises: the list of a chapter, the next step, and --watch."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Callable, List, NamedTuple, Optional, Sequence, Tuple

from . import chapters, say, shown
from .chapters import Chapter

LIST = -1            # --exercise without a number
LOOK_EVERY = 0.3     # seconds between two looks at a file


class Entry(NamedTuple):
    """One exercise, as a list shows it."""

    number: int
    title: str    # "neighbours"
    minutes: str  # "5", or "" if its page does not say
    state: str    # "passed", "needs a GPU" (right as far as can be told here), "begun" or ""

    @property
    def open(self) -> bool:
        return self.state in ("begun", "")


def heading(page: Path) -> Tuple[str, str]:
    """Title and minutes of '# Exercise 3: mend the tail (15 minutes)'."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    found = re.match(r"# Exercise \d+: (.+?)(?: \((\d+) minutes\))?\n", text)
    return (found.group(1), found.group(2) or "") if found else (page.stem[2:], "")


def entries(chapter: Chapter) -> List[Entry]:
    """The exercises of a chapter, in order."""
    progress = chapter.progress()
    found = []
    for number, starter in chapter.exercises().items():
        begun = (chapter.path / "my" / starter.name).exists()
        state = ("passed" if number in progress["passed"] else
                 "needs a GPU" if number in progress["right"] else "begun" if begun else "")
        found.append(Entry(number, *heading(starter.with_suffix(".md")), state))
    return found


def table(chapter: Chapter) -> str:
    """A line each: number, minutes, state, title."""
    lines = [f"  {one.number}  {one.minutes:>3}{' min' if one.minutes else '    '}  "
             f"{one.state:<11}  {one.title}" for one in entries(chapter)]
    return "\n".join([f"Exercises of {chapter.name}:", *lines])


def next_open(chapter: Chapter, after: int = 0) -> Optional[Entry]:
    """The first open exercise after `after`, else the first before it; None if none is open."""
    left = [one for one in entries(chapter) if one.open]
    return next((one for one in left if one.number > after), left[0] if left else None)


def last_touched(chapter: Chapter) -> float:
    """When the reader last did something in the chapter's my/; 0: never."""
    return max((file.stat().st_mtime for file in (chapter.path / "my").glob("*")), default=0.0)


def next_step(found: Sequence[Chapter], run: str) -> str:
    """What to do next, with the line to type; `run`: the script as it is typed."""
    begun = [chapter for chapter in found if last_touched(chapter) > 0]
    if begun:
        current = max(begun, key=last_touched)
        for chapter in [current, *found[found.index(current) + 1:], *found]:
            one = next_open(chapter)
            if one:
                return (f"Next: {run} {chapter.number} --exercise {one.number} "
                        f"({chapter.name}, {one.title})")
        return "Every exercise is done."
    for chapter in found:
        if not chapters.is_built(chapter):
            return (f"{'Start' if chapter == found[0] else 'Next'}: {run} {chapter.number}, "
                    f"and read {shown(chapter.path / 'README.md')}")
    return f"Next: {run} {found[0].number} --exercise 1"


def stamp(file: Path) -> Optional[Tuple[int, int]]:
    """Changes when the file is saved; None while it is missing (some editors replace it)."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def watch(file: Path, judge: Callable[[], int]) -> int:
    """Judge now and each time the file is saved, until Ctrl-C, which the caller reports."""
    while True:
        seen = stamp(file)
        judge()
        say(f"\nWatching {shown(file)}: save it, and it is judged again. Ctrl-C ends this.")
        while stamp(file) in (None, seen):
            time.sleep(LOOK_EVERY)
        say(f"\n==== {time.strftime('%H:%M:%S')} {file.name} was saved " + "=" * 40)
