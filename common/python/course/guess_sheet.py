"""Guess sheets: one printable page per chapter, to be filled in before anything runs.

What is asked comes from the chapter itself: its versions and what each does, the questions of the
quiz without their answers, and in a chapter of programs what the lesson asks to predict. No result
is on it: questions that quote a measured number are left out.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import List, NamedTuple, Optional, Tuple

from . import Problem, results
from .chapters import Chapter

LINES = 64  # of a page of A4 in this layout; a question takes its own lines and one to write on
WIDTH = 100  # characters of a line

STYLE = """
@page { size: A4; margin: 13mm 14mm; }
body { font: 9.5pt/1.35 "DejaVu Sans", Arial, sans-serif; color: #000; margin: 0 auto;
       max-width: 182mm; }
h1 { font-size: 15pt; margin: 0 0 2mm; } h2 { font-size: 11pt; margin: 4mm 0 1mm; }
p { margin: 0 0 1.5mm; } .who { margin: 0 0 3mm; }
table { border-collapse: collapse; width: 100%; }
th, td { border: 0.3mm solid #888; padding: 0.7mm 1.5mm; text-align: left; height: 4.6mm; }
th { background: #eee; font-weight: bold; font-size: 8.5pt; }
td.own { width: 14mm; } td.why { width: 30mm; }
li { margin: 0 0 0.6mm; padding-bottom: 4.8mm; border-bottom: 0.2mm solid #bbb; }
ol { margin: 0; padding-left: 6mm; } code { font-family: "DejaVu Sans Mono", monospace;
     font-size: 8.5pt; }
footer { margin-top: 3mm; font-size: 8pt; color: #444; }
"""


class Sheet(NamedTuple):
    """What is asked."""

    title: str
    versions: List[Tuple[str, str]]  # its number and name, and what it does
    unit: str
    questions: List[str]             # HTML


def inline(text: str) -> str:
    """A piece of a lesson as HTML: code, bold, links without their targets."""
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    text = html.escape(html.unescape(re.sub(r"</?code>", "`", " ".join(text.split()))), quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    return re.sub(r"\*\*?([^*]+)\*\*?", r"<b>\1</b>", text).strip()


def quotes_a_result(text: str) -> bool:
    return bool(re.search(r"<!-- (value|limiter|results|table)\b", text))


def questions_of(lesson: str) -> List[str]:
    """The quiz's questions; where a lesson has `**Predict.**` paragraphs, those first."""
    asked = re.findall(r"^\*\*Predict\.?\*\*(.*?)(?:\n\n|\Z)", lesson, re.M | re.S)
    quiz = lesson.partition("## Predict, then open")[2].partition("\n## ")[0]
    asked += re.findall(r"<summary>(.*?)</summary>", quiz, re.S)
    found = [inline(text.lstrip(" ,.")) for text in asked if not quotes_a_result(text)]
    return [text[:1].upper() + text[1:] for text in found if text]


def versions_of(chapter: Chapter) -> Tuple[List[Tuple[str, str]], str]:
    """Numbers, names and titles of all versions, from the record, which is not looked at further."""
    record = chapter.recorded()
    if not record:
        return [], ""
    rows = [row for row in results.load(record).rows if row.role in ("version", "limit")
            and re.match(r"\d\d_", row.version)]
    first = [row for row in rows if row.study == rows[0].study]
    # A ladder may go on in other studies: there the file's number stands in the version's name, too.
    found = {row.version: row.title for row in rows + first}
    limits = [row.limit.name for row in first if row.limit]
    return sorted(found.items()), limits[0] if limits else ""


def sheet(chapter: Chapter) -> Sheet:
    lesson = chapter.path / "README.md"
    if not lesson.exists():
        raise Problem(f"{chapter.name} has no lesson, so there is nothing to ask")
    versions, limit = versions_of(chapter)
    more = chapter.path / "more.md"
    questions = questions_of(lesson.read_text(encoding="utf-8"))
    if more.exists():  # it has quiz questions, too, anywhere
        questions += questions_of("## Predict, then open\n" + re.sub(
            r"^## .*$", "", more.read_text(encoding="utf-8"), flags=re.M))
    questions = [text for text in questions if "?" in text or text.endswith(":")]
    left = LINES - 8 - int(1.35 * len(versions)) - (4 if versions else 0)
    kept: List[str] = []
    for question in questions:
        length = len(re.sub(r"<[^>]+>", "", html.unescape(question)))
        needed = -(-length // WIDTH) + 1.6
        if needed <= left:
            kept.append(question)
            left -= needed
    return Sheet(chapter.title().split(":")[0], versions, limit, kept)


def page(asked: Sheet, name: Optional[str] = None) -> str:
    """One sheet as HTML that prints on one page of A4."""
    out = [f"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Guess sheet: "
           f"{html.escape(asked.title)}</title><style>{STYLE}</style></head><body>",
           f"<h1>{html.escape(asked.title)}: my guesses</h1>",
           '<p class="who">Name or team: ____________________ &nbsp; GPU, if any: '
           "____________________ &nbsp; Date: __________</p>"]
    if asked.versions:
        out += ["<p>Guess first, then run. In % of what this machine can do; and what is each "
                "version short of: threads, bytes in flight, sectors, shared memory, barriers, "
                "instructions?</p>", "<table><tr><th>version</th><th>what it does</th>"
                "<th>guess, %</th><th>short of</th><th>sectors, load / store</th>"
                "<th>measured, %</th></tr>"]
        empty = "".join(f'<td class="{kind}"></td>' for kind in ("own", "why", "own", "own"))
        out += [f"<tr><td>{html.escape(version.replace('_', ' '))}</td>"
                f"<td>{html.escape(title)}</td>{empty}</tr>" for version, title in asked.versions]
        out += ["</table>", "<h2>Questions</h2>"]
    else:
        out.append("<p>Guess first, then run.</p>")
    out += ["<ol>"] + [f"<li>{question}</li>" for question in asked.questions] + ["</ol>"]
    out.append("<footer>A wrong guess teaches more than a right one, but only if it stands on "
               "paper. "
               f"{html.escape(name or '')}</footer></body></html>")
    return "\n".join(out) + "\n"


def write(chapter: Chapter, folder: Path) -> Path:
    """FOLDER/guess-NN_name.html"""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"guess-{chapter.name}.html"
    file.write_text(page(sheet(chapter), "CUDA, chapter by chapter"), encoding="utf-8")
    return file
