"""Markdown pages and the markers of their generated blocks."""
from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import List

MARKER = re.compile(r"<!--\s*(?:(results|snippet|draw|page|value|limiters|limiter|table|chapters"
                    r"|teaches|needs):(.*?)|/(results|value|limiters|limiter|table|chapters)\s*)-->",
                    re.S)
UNRECORDED = "<!-- unrecorded -->"
CARDS = ("h200", "h100")  # whose record a page quotes by default: the first one found


def recorded(folder: Path, ending: str = ".json") -> Path:
    """A chapter's record, 'results/h200.json', or another file that begins with the card's name."""
    files = [folder / "results" / (card + ending) for card in CARDS]
    return next((file for file in files if file.exists()), files[0])


def concepts(words: str) -> List[str]:
    """The terms that a marker `teaches:` or `needs:` names, in small letters."""
    return [term for term in (" ".join(part.lower().split()) for part in words.split(",")) if term]


class LessonError(Exception):
    """What is wrong with a marker, without its place."""


def mask(text: str) -> str:
    """The text with all code blanked out, so that positions stay the same."""
    lines, fence, indented = [], "", False
    for line in text.split("\n"):
        mark = re.match(r"\s*(```+|~~~+)(.*)", line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
            lines.append(" " * len(line))
        elif mark:
            fence = mark[1]
            lines.append(" " * len(line))
        else:
            after_blank = indented or not lines or not lines[-1].strip()
            indented = bool(re.match(r"(    |\t)", line)) and after_blank
            lines.append(" " * len(line) if indented else
                         re.sub(r"(`+)[^`]+\1(?!`)", lambda span: " " * len(span[0]), line))
    return "\n".join(lines)


@dataclass(frozen=True)
class Marker:
    kind: str  # a closing marker's has a slash: '/results'
    words: str
    start: int
    end: int


class Page:
    def __init__(self, path: Path, root: Path) -> None:
        self.path, self.text = path, path.read_text(encoding="utf-8")
        inside = root in path.resolve().parents
        self.name = str(path.resolve().relative_to(root)) if inside else str(path)
        self.markers = [Marker(m[1] or f"/{m[3]}", (m[2] or "").strip(), m.start(), m.end())
                        for m in MARKER.finditer(mask(self.text))]

    def place(self, marker: Marker) -> str:
        return f"{self.name}:{self.text.count(chr(10), 0, marker.start) + 1}"
