"""The table of the front page: of each recorded chapter the first version, the best, the library."""
from __future__ import annotations

import re
from pathlib import Path
from typing import List, Optional, Sequence

from . import code, results, tables
from .complete import FOLDER
from .pages import LessonError, recorded
from .results import ResultFile, Row

STUDY = "sequence"
HEADERS = ["chapter", "naive", "best", "% of limit", "library"]


def title(folder: Path) -> str:
    """'05 Scan' of a lesson whose heading is '# 05 Scan: blocks that hand a sum on'."""
    lesson = folder / "README.md"
    text = lesson.read_text(encoding="utf-8") if lesson.exists() else ""
    found = re.search(r"^# (\d\d [^:\n]+)", text, re.M)
    if not found:
        raise LessonError(f"{folder.name}: the first heading of README.md is not '# NN Title: ...'")
    return found[1].strip()


def fastest(rows: Sequence[Row]) -> Optional[Row]:
    """The row with the highest rate; none of no rows."""
    return max(rows, key=lambda row: row.rate or 0.0, default=None)


def line(name: str, result: ResultFile) -> List[str]:
    """One chapter's line. Rows without numbers and rows of limits are ignored."""
    rows = [row for row in result.rows_of(STUDY) if not row.words]
    versions = [row for row in rows if row.role == "version"]
    best, peers = fastest(versions), [row for row in rows if row.role == "peer"]
    if not best:
        raise LessonError(f"{result.path}: no version of the study '{STUDY}' has a rate")
    peer = fastest([row for row in peers if row.size == best.size] or peers)
    library = "-"
    if peer:  # '90_cub' is cub
        called = re.sub(r"^\d+_", "", peer.version).replace("_", " ")
        library = f"{tables.cell(result, peer, 'rate')} ({called})"
    naive = tables.cell(result, versions[0], "rate")
    if versions[0].size != best.size:  # one thread gets a smaller size than the whole GPU
        naive += f" ({tables.size_text(versions[0].size)})"
    return [name, naive, tables.cell(result, best, "rate"), tables.percent_text(best), library]


def table(root: Path) -> str:
    """The table in Markdown, and a line with place and date of its measurements."""
    lines, sources, older = [], [], []
    for folder in sorted((root / "chapters").iterdir()):
        record = recorded(folder)
        if not FOLDER.fullmatch(folder.name) or not record.exists():
            continue
        result = results.load(record)
        lines.append(line(title(folder), result))
        sources.append(result.provenance().split(", commit")[0])
        shown = [(row.file, row.code) for row in result.rows_of(STUDY)]
        if code.older(shown, code.hashes(folder, root / "common")):
            older.append(folder.name[:2])
    if not lines:
        raise LessonError("no chapter has a record, such as results/h200.json")
    below = "; ".join(dict.fromkeys(sources))
    if older:
        below += f"; some figures are not of the present code: {', '.join(older)}"
    return tables.to_markdown((HEADERS, lines)) + f"\n\n{below}"
