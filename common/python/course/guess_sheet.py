"""Guess sheets: one printable page per chapter, to be filled in before anything runs.

The questions come from the chapter itself: its versions and what each does, the questions of the
quiz without their answers, and what the lesson asks to predict. No result is on it: questions that
quote a measured number, or several decimal figures, are left out. A sheet is used without the
lesson, so each question has to say what it is about.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import List, NamedTuple, Optional, Tuple

from . import Problem, results
from .chapters import Chapter

# In millimetres, of a page of A4 in this layout. Estimates: the browser distributes the rest.
PAGE = 268.0
AROUND = 31.0   # heading, names, what to do, footer
TABLE = 27.0    # its head, and the heading of the questions
ROW = 6.2
CELLS = 52      # characters of two cells side by side, beyond which the longest ones wrap
TEXT = 4.55     # a line of print
WIDTH = 98      # and its characters
RULED = 5.4     # a line to write on: least height
WIDE = 6.8      # and wanted height
MOST_RULED = 4  # of one question

STYLE = """
@page { size: A4; margin: 13mm 14mm; }
* { box-sizing: border-box; }
body { font: 9.5pt/1.35 "DejaVu Sans", Arial, sans-serif; color: #000; margin: 0 auto;
       max-width: 182mm; height: 269mm; display: flex; flex-direction: column; }
h1 { font-size: 15pt; margin: 0 0 2mm; } h2 { font-size: 11pt; margin: 4mm 0 1mm; }
p { margin: 0 0 1.5mm; } .who { margin: 0 0 3mm; }
table { border-collapse: collapse; width: 100%; }
th, td { border: 0.3mm solid #888; padding: 0.7mm 1.5mm; text-align: left; height: 6mm; }
th { background: #eee; font-weight: bold; font-size: 8.5pt; }
td.own { width: 14mm; } td.why { width: 30mm; }
ol { margin: 0; padding: 0 0 0 7mm; flex: 1; display: flex; flex-direction: column;
     counter-reset: question; list-style: none; }
li { margin: 0 0 1.2mm; position: relative; display: flex; flex-direction: column; }
li::before { counter-increment: question; content: counter(question) "."; position: absolute;
             left: -7mm; width: 5.5mm; text-align: right; }
li i { flex: 1 1 4.8mm; max-height: 10mm; border-bottom: 0.2mm solid #bbb; }
code { font-family: "DejaVu Sans Mono", monospace; font-size: 8.5pt; }
footer { margin-top: 3mm; font-size: 8pt; color: #444; }
"""


class Sheet(NamedTuple):
    """The contents of a sheet."""

    title: str
    versions: List[Tuple[str, str]]  # its number and name, and what it does
    unit: str
    questions: List[str]             # HTML
    ruled: List[int]                 # the lines to write on, of each question


def inline(text: str) -> str:
    """A piece of a lesson as HTML: code, emphasis, links without their targets."""
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    text = html.escape(html.unescape(re.sub(r"</?code>", "`", " ".join(text.split()))), quote=False)
    pieces = re.split(r"`([^`]+)`", text)
    pieces[1::2] = [f"<code>{piece}</code>" for piece in pieces[1::2]]
    # A star before or after a space multiplies: "a * b". In code all of them do.
    for stars, tag in ((r"\*\*", "b"), (r"\*", "em")):
        between = rf"{stars}(?=[^\s*])([^*]*[^\s*]){stars}"
        pieces[::2] = [re.sub(between, rf"<{tag}>\1</{tag}>", piece) for piece in pieces[::2]]
    return "".join(pieces).strip()


def quotes_a_result(text: str) -> bool:
    """A text with two decimal figures reports results, so it answers its own question."""
    return (bool(re.search(r"<!-- (value|limiter|results|table)\b", text))
            or len(re.findall(r"\b\d+\.\d", text)) >= 2)


def tidy(text: str) -> str:
    """A question without a number of its own: the sheet counts; names of variables stay small."""
    text = re.sub(r"^\d+\.\s+", "", inline(text.lstrip(" ,.")))
    return text[:1].upper() + text[1:] if re.match(r"[a-z]{2,}\b(?! =)", text) else text


def kept(found: List[str]) -> List[str]:
    return [text for text in (tidy(text) for text in found if not quotes_a_result(text))
            if "?" in text]


def predictions(lesson: str) -> List[str]:
    """Its paragraphs `**Predict.**`."""
    return kept(re.findall(r"^\*\*Predict\.?\*\*(.*?)(?:\n\n|\Z)", lesson, re.M | re.S))


def quiz(lesson: str) -> List[str]:
    """The questions above folded answers."""
    return kept(re.findall(r"<summary>(.*?)</summary>", lesson, re.S))


def questions_of(chapter: Chapter) -> List[str]:
    """First what the lesson asks to predict, and its quiz; then its other questions."""
    lesson = (chapter.path / "README.md").read_text(encoding="utf-8")
    asked = predictions(lesson)
    asked += quiz(lesson.partition("## Predict, then open")[2].partition("\n## ")[0])
    if (chapter.path / "more.md").exists():  # the quiz continues anywhere there
        more = (chapter.path / "more.md").read_text(encoding="utf-8")
        asked += quiz(more) + predictions(more)
    return asked


def versions_of(chapter: Chapter) -> Tuple[List[Tuple[str, str]], str]:
    """Numbers, names and titles of all versions, from the record, of which nothing else is used.

    A version has a file of its own name; other measured rows (a copy, zeros) have none."""
    record = chapter.recorded()
    if not record:
        return [], ""
    rows = [row for row in results.load(record).rows if row.role in ("version", "limit")
            and re.match(r"\d\d_", row.version)
            and (chapter.path / f"{row.version}.cu").exists()]
    first = [row for row in rows if row.study == rows[0].study]
    # Versions may continue in other studies: there, too, a version's name has its file's number.
    found = {row.version: row.title for row in rows + first}
    limits = [row.limit.name for row in first if row.limit]
    return sorted(found.items()), limits[0] if limits else ""


def height(question: str) -> float:
    """The printed height of a question, without lines to write on."""
    length = len(re.sub(r"<[^>]+>", "", html.unescape(question)))
    return TEXT * -(-length // WIDTH) + 1.2


def parts(question: str) -> int:
    """How many answers the question asks for."""
    return max(1, question.count("?"), len(re.findall(r"\([a-h]\) ", question)))


def ruled(questions: List[str], room: float) -> List[int]:
    """Lines to write on for each question: one, and more if there is room, by its parts."""
    lines = [1] * len(questions)
    for _ in range(int(room / WIDE) - len(questions)):
        open_to = [k for k, count in enumerate(lines) if count < MOST_RULED]
        if not open_to:
            break
        lines[min(open_to, key=lambda k: lines[k] / parts(questions[k]))] += 1
    return lines


def table_height(versions: List[Tuple[str, str]]) -> float:
    if not versions:
        return 0.0
    wraps = sum(max(len(row[k]) for row in versions) for k in (0, 1)) > CELLS
    long = sum(wraps and (len(version) > 18 or len(title) > 28) for version, title in versions)
    return TABLE + ROW * len(versions) + TEXT * long


def sheet(chapter: Chapter) -> Sheet:
    if not (chapter.path / "README.md").exists():
        raise Problem(f"{chapter.name} has no lesson, so there is nothing to ask")
    versions, limit = versions_of(chapter)
    room = PAGE - AROUND - table_height(versions)
    questions: List[str] = []
    for question in questions_of(chapter):
        needed = height(question) + RULED
        if needed <= room:
            questions.append(question)
            room -= needed
    return Sheet(chapter.title().split(":")[0], versions, limit, questions,
                 ruled(questions, room + RULED * len(questions)))


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
    out += ["<ol>", *(f'<li style="flex: {count} 0 auto"><div>{question}</div>{count * "<i></i>"}'
                      "</li>" for question, count in zip(asked.questions, asked.ruled)), "</ol>"]
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
