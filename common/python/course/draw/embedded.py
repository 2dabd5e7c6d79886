"""Pages that the site shows inside the lessons: `page` markers.

    <!-- page: 05_shared_tile 06_padded 07_swizzled -->
    <details>...</details>        (written)

    words         versions of the sequence, by their whole names
    study=NAME    of another study, all its rows

`docs/lessons --trace` keeps the requests that it saw in results/drawn/page-....json, with a hash of
the code that made them; --check compares that. The page itself is made when the site is: of the
requests, the sources' text and the template, style and script that --draw uses.
"""
from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

from .. import code
from ..pages import LessonError, Page
from . import page as pages
from . import recount, trace
from .drawn import FOLDER, slug

BUDGET = pages.Budget(4, 16, pages.CONTEXT, True)  # small, because it is in the repository
LINE = 100  # characters; longer values go over several lines
BLOCK = re.compile(r"[ \t]*\n<details>.*?</details>", re.S)
Run = Callable[[Page, List[str], str, Path], None]  # page, versions, study, where the trace goes


def marked(page: Page) -> List[str]:
    """The words of a page's markers."""
    return [" ".join(marker.words.split()) for marker in page.markers if marker.kind == "page"]


def file_of(page: Page, words: str) -> Path:
    return page.path.parent / FOLDER / f"page-{slug(words)}.json"


def chosen(words: str) -> Dict[str, str]:
    """The options of a program that runs what a marker names: --study, --only."""
    study = [word[6:] for word in words.split() if word.startswith("study=")]
    versions = [word for word in words.split() if not word.startswith("study=")]
    if len(study) > 1 or any(not re.fullmatch(r"\w+", word) for word in study + versions):
        raise LessonError(f"write 'page: VERSION ...' or 'page: study=NAME', not '{words}'")
    return {"study": study[0] if study else "sequence", "only": ",".join(versions)}


def command(page: Page, words: str) -> str:
    """How a reader makes the same page."""
    options = chosen(words)
    number = page.path.resolve().parent.name[:2]
    rest = [f"--study {options['study']}"] if options["study"] != "sequence" else []
    rest += ["--only " + ",".join(v[:2] for v in options["only"].split(","))] if (
        options["only"]) else []
    return f"./chapters/run {number} --draw" + (f" -- {' '.join(rest)}" if rest else "")


# ---- What is kept ----

def code_at(lesson: Path, file: str) -> str:
    """A hash of a file's code and of the numbers of its lines, because the page marks lines. A
    comment may change, but not in length."""
    path = lesson.parent / file
    if not path.is_file():
        raise LessonError(f"no such file: {file}")
    lines = trace.code_only(path.read_text(encoding="utf-8")).splitlines()
    text = "\n".join([code.hash_of(path, lesson.parent), *map(str.rstrip, lines)])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def files_of(record: trace.Record, lesson: Path) -> Dict[str, str]:
    """The sources of a kernel: name -> path from the chapter's folder."""
    places = record["lines"] + [side for finding in record["findings"]
                                for side in (finding, finding.get("other", {}))]
    paths = [place["file"] for place in places if place.get("file")]
    found = {Path(path).name: os.path.relpath(str(Path(path).resolve()),
                                              str(lesson.resolve().parent)) for path in paths}
    for name, file in found.items():
        if file.startswith(os.pardir):
            raise LessonError(f"{name} is no file of the chapter: a page shows the chapter's own")
    return found


def made(records: List[trace.Record], page: Page, words: str) -> str:
    """The kept part of a traced run, as JSON, each of its requests counted again."""
    if not records:
        raise LessonError(f"page: {words}: no kernel was counted")
    for record in records:
        recount.check(record)
    data, seen = pages.pack_all(records, BUDGET, page.path.resolve().parent.name), set()
    for record, kernel in zip(records, data["kernels"]):
        files = files_of(record, page.path)
        kernel["source"] = [{"file": files[s["name"]], "first": s["first"], "lines": len(s["text"])}
                            for s in kernel["source"]]
        seen |= {source["file"] for source in kernel["source"]}
    data["code"] = {file: code_at(page.path, file) for file in sorted(seen)}
    return spread(data) + "\n"


def spread(value: Any, indent: str = "") -> str:
    """JSON that a diff can split into lines: short values on one, longer ones over several."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    if len(indent + text) < LINE or not isinstance(value, (dict, list, tuple)):
        return text
    inside = indent + " "
    if isinstance(value, dict):
        values = list(value.values())
        parts = [f"{json.dumps(key)}:{spread(part, inside)}" for key, part in value.items()]
    else:
        values, parts = list(value), [spread(part, inside) for part in value]
    nested = any(isinstance(part, (dict, list, tuple)) for part in values)
    lines = [inside + part for part in parts] if nested else filled(parts, inside)
    return text[0] + "\n" + ",\n".join(lines) + f"\n{indent}{text[-1]}"


def filled(parts: List[str], indent: str) -> List[str]:
    """Lines of as many parts as fit."""
    lines = [indent + parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + len(part) + 2 < LINE:
            lines[-1] += "," + part
        else:
            lines.append(indent + part)
    return lines


def keep(page: Page, run: Run) -> None:
    """Runs what a lesson's markers name, and writes what their pages show."""
    for words in marked(page):
        options, path = chosen(words), file_of(page, words)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "trace.jsonl"
            only: Optional[str] = options["only"]
            run(page, only.split(",") if only else [], options["study"], file)
            text = made(trace.read(file), page, words)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for old in (page.path.parent / FOLDER).glob("page-*"):
        if old not in {file_of(page, words) for words in marked(page)}:
            old.unlink()  # of a marker that is gone


# ---- What a reader sees ----

def read(page: Page, words: str) -> trace.Record:
    """What was kept for a marker; a LessonError where there is nothing or the code is another."""
    path = file_of(page, words)
    if not path.exists():
        raise LessonError(f"nothing was traced for 'page: {words}'; docs/lessons --trace does it")
    data = json.loads(path.read_text(encoding="utf-8"))
    for file, known in data["code"].items():
        if code_at(page.path, file) != known:
            raise LessonError(f"'page: {words}' shows older code of {file}; docs/lessons --trace "
                              "runs it again")
    return data


def html(page: Page, words: str) -> str:
    """The page: what was kept, with the text of its sources, in the template of --draw."""
    data = read(page, words)
    texts = {file: (page.path.parent / file).read_text(encoding="utf-8").splitlines()
             for file in data.pop("code")}
    for kernel in data["kernels"]:
        kernel["source"] = [{"name": Path(s["file"]).name, "first": s["first"],
                             "text": texts[s["file"]][s["first"] - 1:][:s["lines"]]}
                            for s in kernel["source"]]
    return pages.render(data)


def block(page: Page, words: str) -> str:
    """The text below a marker: how to make the page, and a line for docs/embed.py, which inserts
    the page there on the site."""
    words = " ".join(words.split())
    read(page, words)
    return ("\n<details><summary>See these requests one by one</summary>\n"
            f'<p>The course\'s site (<code>./docs/build</code>) shows them here, from <a href="'
            f'{FOLDER}/{file_of(page, words).name}">what was recorded</a>.</p>\n'
            f"Make the page yourself: <code>{command(page, words)}</code>\n</details>")
