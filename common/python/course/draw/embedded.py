"""Pages that the site shows inside the lessons: `page` markers.

    <!-- page: 05_shared_tile 06_padded 07_swizzled -->
    <details>...</details>        (written, with the page itself: results/drawn/page-....html)

    words         versions of the sequence, by their whole names
    study=NAME    of another study, all its rows

The page holds the requests that `docs/lessons --trace` saw. --update writes it anew where the
page's own style or script has changed, and --check finds it stale where they or the sources have.
"""
from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Callable, Dict, List, Optional

from ..pages import LessonError, Page
from . import page as pages
from . import recount, trace
from .drawn import FOLDER, slug

BUDGET = pages.Budget(4, 16, pages.CONTEXT, True)  # a small page: it stands in the repository
BLOCK = re.compile(r"[ \t]*\n<details>.*?</details>", re.S)
Run = Callable[[Page, List[str], str, Path], None]  # page, versions, study, where the trace goes


def marked(page: Page) -> List[str]:
    """The words of a page's markers."""
    return [" ".join(marker.words.split()) for marker in page.markers if marker.kind == "page"]


def file_of(page: Page, words: str) -> Path:
    return page.path.parent / FOLDER / f"page-{slug(words)}.html"


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


def read(page: Page, words: str) -> trace.Record:
    """The data of the page that was kept; a LessonError where there is none or it is stale."""
    path = file_of(page, words)
    if not path.exists():
        raise LessonError(f"nothing was traced for 'page: {words}'; docs/lessons --trace does it")
    data = pages.data_of(path.read_text(encoding="utf-8"))
    for source in (source for kernel in data["kernels"] for source in kernel["source"]):
        for file in page.path.parent.rglob(source["name"]):
            lines = file.read_text(encoding="utf-8").splitlines()
            if lines[source["first"] - 1:][:len(source["text"])] != source["text"]:
                raise LessonError(f"'page: {words}' shows older code of {file.name}; docs/lessons "
                                  "--trace runs it again")
    return data


def block(page: Page, words: str) -> str:
    """What stands below a marker: on the site the page itself, elsewhere a link."""
    words = " ".join(words.split())
    read(page, words)
    to = f"{FOLDER}/{file_of(page, words).name}"
    return ("\n<details><summary>See these requests one by one</summary>\n"
            f'<iframe src="{to}" title="Requests one by one" loading="lazy" width="100%" '
            'height="900"></iframe>\n'
            f'<a href="{to}">The page alone</a>. Make it yourself: '
            f"<code>{command(page, words)}</code>\n</details>")


def files(page: Page) -> Dict[Path, str]:
    """The pages that belong to a lesson, as they should be."""
    found: Dict[Path, str] = {}
    for words in marked(page):
        try:
            found[file_of(page, words)] = pages.render(read(page, words))
        except LessonError:
            continue  # the marker says so
    return found


def made(records: List[trace.Record], page: Page, words: str) -> str:
    """The small page of a traced run, each of its requests counted again."""
    if not records:
        raise LessonError(f"page: {words}: no kernel was counted")
    for record in records:
        recount.check(record)
    return pages.page_of(records, BUDGET, page.path.resolve().parent.name)


def keep(page: Page, run: Run) -> None:
    """Runs what a lesson's markers name, and writes their pages."""
    for words in marked(page):
        options, path = chosen(words), file_of(page, words)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "trace.jsonl"
            only: Optional[str] = options["only"]
            run(page, only.split(",") if only else [], options["study"], file)
            text = made(trace.read(file), page, words)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for old in (page.path.parent / FOLDER).glob("page-*.html"):
        if old not in {file_of(page, words) for words in marked(page)}:
            old.unlink()  # of a marker that is gone
