"""Generated blocks of the Markdown pages: tables and numbers from result files, code from sources.

`docs/lessons --update` writes them, `docs/lessons --check` finds those that are out of date.
Markers in fenced or indented code and in `code spans` are left alone; so do not indent a marker.

A table
    <!-- results: STUDY columns=time,rate only=01-07,90 size=n:2^28 file=results/h200.json -->
    (written: the table, and a line with GPU, date and commit)
    <!-- /results -->

    file=     the result file, relative to the page (default: results/h200.json)
    only=     versions: numbers, ranges of numbers, or whole names (default: all)
    size=     keeps the rows with these sizes: `n:2^28`, several as `rows:8192,cols:8192`
    columns=  fields: title, size, time, rate, of_limit, x_previous, check, registers, bytes,
              blocks_per_sm, fit_t0 and fit_bw (t = t0 + bytes / BW over all sizes),
              ratio:OTHER (this rate over that of the version OTHER)
              (default: time,rate,of_limit,x_previous,check)

  A study with an axis (a sweep) gives one line a value of the axis and, for every version, one
  column a field (default: columns=rate). There, columns= may also name versions:
    columns=03,06,90                   the rates of three versions
    columns=06.rate,06.ratio:90        one version's rate, and that over the library's
    at=2^10,2^20,2^28                  these values of the axis only
  With size= fixing the axis, it gives one line a version, like any other study.
  by=size gives one line a size, however many dimensions differ, and the columns of a sweep:
    <!-- results: shapes by=size columns=10.rate,10.ratio:90 -->

A number in a sentence (FIELD as above; size= where the version has several rows)
    <!-- value: STUDY VERSION FIELD [size=stride:4] [file=...] -->4375 GB/s<!-- /value -->

What limits each version (figures of Nsight Compute, which common/profile records)
    <!-- limiters: columns=dram,issue,lanes only=01-03 file=results/h200-limiters.csv -->
    (written: the table, and a line with GPU, date and commit)
    <!-- /limiters -->
  and one of its numbers in a sentence
    <!-- limiter: VERSION FIELD [file=...] -->78 %<!-- /limiter -->

    file=     the CSV file, relative to the page (default: results/h200-limiters.csv)
    columns=  dram, l2, sm (% of what each could do), issue (% of the issue slots used), warps (% of
              the warps that fit), lanes (active of 32), shared_wavefronts (for each request to
              shared memory: 1 without conflicts, 4 if every lane moves 16 bytes), stall (the
              largest share of a warp's time: memory, barrier, shared, instructions or other),
              stall_memory, stall_barrier, stall_shared, stall_instructions, stall_other (one
              share), time, dram_read, dram_written, warp_instructions, launches, time_share (of
              the longest launch, which is shown)
              (default: dram,issue,lanes,shared_wavefronts,stall)

Any CSV file whose first line is a comment that says where its figures come from
    <!-- table: results/FILE.csv columns=version,total only=01-07 -->
    (written: the table, its cells as they stand in the file, and the comment)
    <!-- /table -->

    columns=  names of the file's first line after the comment (default: all)
    only=     rows by what stands in the first column: numbers, ranges of numbers, or whole names

Bank conflicts of chapter 03's versions: predicted, counted, measured
    <!-- banks: 05-09 file=../../common/simt/evidence/h200.csv -->
    (written: the table; file= names the table of counters, by default this one)
    <!-- /banks -->

A page whose figures are still to be recorded
    <!-- unrecorded -->
  Its blocks whose file does not exist yet say "not recorded yet"; without the marker they are
  errors. Once all files are there, the marker is an error.

Figures and their code
  Each recorded row holds a hash of the file that it is written in (comments and layout apart).
  Where that file is another one now, the line below a table says "not of the present code", and
  --check and --update list the files whose figures are older than their code.

A listing (the fenced block after the marker is written, FILE is relative to the page)
    <!-- snippet: FILE SYMBOL [body] -->
  SYMBOL is a tag, a function or struct, or `all`. A tag is a region of FILE between the lines
  `// snippet: TAG` and `// /snippet`. A function goes from its first line (template<> included,
  comments above not) to its closing brace; with `body`, only what stands between the braces.

What an act teaches and needs
    <!-- teaches: grid, block -->  <!-- needs: pointer -->
  Through chapters/*/README.md in order, a need must be taught further up or in an earlier chapter.
  What a chapter's more.md needs is taught in the lessons up to that chapter, or in more.md itself.

The main line of a lesson, chapters/*/README.md, has at most 5000 words; the rest goes to more.md.
"""
from __future__ import annotations

import argparse
import csv
import re
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional, Sequence, Tuple

from . import banks, code, limiters, results
from .results import ResultError, ResultFile, Row

MARKER = re.compile(r"<!--\s*(?:(results|snippet|value|limiters|limiter|table|banks|teaches|needs):"
                    r"(.*?)|/(results|value|limiters|limiter|table|banks)\s*)-->", re.S)
WRITTEN = ("results", "snippet", "value", "limiters", "limiter", "table", "banks")
INLINE = ("value", "limiter")  # in a sentence
FILES = {"results": "results/h200.json", "value": "results/h200.json",  # where file= is left out
         "limiters": "results/h200-limiters.csv", "limiter": "results/h200-limiters.csv",
         "banks": "../../common/simt/evidence/h200.csv"}
UNRECORDED = "<!-- unrecorded -->"
MOST_WORDS = 5000  # of a lesson's main line
NOT_RECORDED = "*not recorded yet*"
FENCE = re.compile(r"[ \t]*\n(```+)[^\n]*\n(?:.*?\n)??\1[ \t]*(?=\n|\Z)", re.S)
LANGUAGES = {".cu": "cuda", ".cuh": "cuda", ".cpp": "cpp", ".hpp": "cpp", ".py": "python",
             ".sh": "bash", ".txt": "cmake"}


class LessonError(Exception):
    """What is wrong with a marker, without its place."""


# Pages and their markers

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


# Listings

def _blank(match: "re.Match[str]") -> str:
    return re.sub(r"[^\n]", " ", match[0])


def mask_code(text: str) -> str:
    """C++ with comments, strings and preprocessor lines blanked out (these end in a ';')."""
    text = re.sub(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
                  r"|(?<!\w)'(?:\\.|[^'\\\n])+'", _blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda line: _blank(line)[:-1] + ";", text,
                  flags=re.M)


def _closing(code: str, at: int) -> int:
    """The position of the bracket that closes the one at `at`, or -1."""
    pair, depth = {"(": "()", "{": "{}"}[code[at]], 0
    for position in range(at, len(code)):
        depth += (code[position] == pair[0]) - (code[position] == pair[1])
        if depth == 0:
            return position
    return -1


def find_definitions(code: str, name: str) -> List[Tuple[int, int, int]]:
    """Start, opening and closing brace of each function or struct of that name, in masked code."""
    found = []
    for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)\s*(\(|(?=[:{{]))", code):
        if match[1]:
            stop = _closing(code, match.end() - 1) + 1 or len(code)
            tail = r"(?:\s|const\b|noexcept\b|override\b|&|->[^;{}=]*)*\{"
        else:
            is_type = re.search(r"\b(struct|class)\s+(?:\w+\([^()]*\)\s*)?$", code[:match.start()])
            stop, tail = match.end() if is_type else len(code), r"[^;{}()]*\{"
        opening = re.compile(tail).match(code, stop)
        closing = _closing(code, opening.end() - 1) if opening else -1
        if opening and closing >= 0:
            start = max(code.rfind(mark, 0, match.start()) for mark in ";{}") + 1
            start += len(code[start:]) - len(code[start:].lstrip())
            found.append((start, opening.end() - 1, closing))
    return found


def extract(text: str, symbol: str, body: bool = False) -> str:
    """The listing for a snippet marker. Lines that mark snippets are left out."""
    opened = re.search(rf"^[ \t]*(?://|#) snippet: {re.escape(symbol)}[ \t]*\n", text, re.M)
    if symbol == "all":
        code = text
    elif opened:
        closed = re.compile(r"^[ \t]*(?://|#) /snippet[ \t]*$", re.M).search(text, opened.end())
        if not closed:
            raise LessonError(f"the snippet '{symbol}' has no end (a line '// /snippet')")
        code = text[opened.end():closed.start()]
    else:
        found = find_definitions(mask_code(text), symbol)
        if len(found) != 1:
            lines = ", ".join(str(text.count("\n", 0, start) + 1) for start, _, _ in found)
            raise LessonError(f"several definitions of '{symbol}' (lines {lines}): mark one by "
                              "'// snippet: TAG'" if found else
                              f"no function, struct or tag '{symbol}'")
        start, opening, closing = found[0]
        if body:
            code = text[opening + 1:closing]
        else:
            closing += text[closing + 1:closing + 2] == ";"
            line = text.rfind("\n", 0, start) + 1
            code = text[line if not text[line:start].strip() else start:closing + 1]
    code = re.sub(r"^[ \t]*(//|#) (/snippet|snippet: \S+)[ \t]*\n", "", code, flags=re.M)
    return textwrap.dedent(code.strip("\n").rstrip()).strip()


# Tables and numbers

def read_table(path: Path) -> Tuple[str, List[str], List[List[str]]]:
    """Comment, column names and rows of a CSV file with a comment on top."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = "no such file" if isinstance(error, FileNotFoundError) else f"not readable ({error})"
        raise LessonError(f"{path}: {why}") from None
    if not lines or not lines[0].startswith("# "):
        raise LessonError(f"{path}: its first line must be '# ' and where the figures come from")
    rows = [(number, row) for number, row in enumerate(csv.reader(lines[1:]), 2) if row]
    if len(rows) < 2:
        raise LessonError(f"{path}: no line of figures")
    names = rows[0][1]
    for number, row in rows[1:]:
        if len(row) != len(names):
            raise LessonError(f"{path}:{number}: {len(row)} cells, but {len(names)} columns")
    return lines[0][2:].strip(), names, [row for _, row in rows[1:]]


class Writer:
    """Makes the text of one page's blocks; result files are read once."""

    def __init__(self, page: Page, root: Path) -> None:
        self.page, self.root = page, root
        self.files: Dict[str, ResultFile] = {}
        self.older: Dict[str, Dict[str, str]] = {}  # of each file: sources that are not as measured
        self.records: Dict[str, limiters.Record] = {}

    def options(self, words: str, positional: int,
                known: Sequence[str]) -> Tuple[List[str], Dict[str, str]]:
        """The words of a marker: those in fixed places, and those of the form name=value."""
        plain = [word for word in words.split() if "=" not in word]
        named = dict(word.split("=", 1) for word in words.split() if "=" in word)
        unknown = [name for name in named if name not in known]
        if unknown:
            raise LessonError(f"unknown option '{unknown[0]}=' (known: {', '.join(known)})")
        if len(plain) != positional:
            raise LessonError(f"{positional} words needed before the options, not {len(plain)}")
        return plain, named

    def rows(self, study: str,
             named: Dict[str, str]) -> Tuple[ResultFile, List[Row], Dict[str, int]]:
        """The result file, the rows of the study that `size=` and `only=` leave, and the sizes."""
        name = named.get("file", FILES["results"])
        if name not in self.files:
            path = self.page.path.parent / name
            self.files[name] = results.load(path)
            self.older[name] = older_code(self.files[name], path, self.root)
        result = self.files[name]
        result.study(study)
        sizes = {}
        for item in filter(None, named.get("size", "").split(",")):
            dimension, colon, value = item.partition(":")
            if not colon:
                raise LessonError(f"size={item}: write dimension and value, as in size=n:2^28")
            sizes[dimension] = results.parse_count(value)
        rows = [row for row in result.rows_of(study)
                if all(row.size.get(key) == value for key, value in sizes.items())]
        if "only" in named:
            versions = results.select(result, study, named["only"])
            rows = [row for row in rows if row.version in versions]
        if not rows:
            raise LessonError(f"no row of the study '{study}' is left by these options")
        return result, rows, sizes

    def table(self, words: str) -> str:
        (name,), named = self.options(words, 1, ("columns", "only", "file", "size", "at", "by"))
        if named.get("by", "size") != "size":
            raise LessonError(f"by={named['by']}: only by=size is known")
        result, rows, sizes = self.rows(name, named)
        study = result.study(name)
        axis = result.axis(study)
        if "by" in named:
            columns = self.columns(result, rows, named.get("columns", "rate"))
            headers, lines = results.size_table(result, columns)
        elif axis is None or axis in sizes:
            fields = named.get("columns", ",".join(results.STANDARD_FIELDS)).split(",")
            headers, lines = results.version_table(result, rows, fields)
            lines = [[self.link(line[0])] + line[1:] for line in lines]
        else:
            if "at" in named:
                values = [results.parse_count(value) for value in named["at"].split(",")]
                rows = [row for row in rows if row.size[axis] in values]
            columns = self.columns(result, rows, named.get("columns", "rate"), axis)
            headers, lines = results.axis_table(result, axis, columns)
            headers[0] = study.axis_label or axis
        changed = self.older[named.get("file", FILES["results"])]
        late = dict.fromkeys(row.file for row in rows if row.file in changed)
        below = result.provenance() + (f"; not of the present code: {', '.join(late)}" if late else "")
        return results.to_markdown((headers, lines)) + f"\n\n{below}"

    def columns(self, result: ResultFile, rows: List[Row], text: str,
                axis: Optional[str] = None) -> List[results.Column]:
        """The columns of a sweep: FIELD stands for all versions, VERSION[.FIELD] for one. Without
        an axis, each size is a line."""
        found: List[Tuple[str, str]] = []
        versions = list(dict.fromkeys(row.version for row in rows))
        for item in text.split(","):
            if item in results.FIELDS or item.startswith("ratio:"):
                found += [(version, item) for version in versions]
            else:
                version, _, field = item.partition(".")
                version = results.find_version(result, rows[0].study, version)
                found.append((version, field or "rate"))
        columns = []
        for version, field in found:
            mine = [row for row in rows if row.version == version]
            places = {row.size[axis] if axis else tuple(sorted(row.size.items())) for row in mine}
            if len(places) < len(mine):
                raise LessonError(f"{version} has several rows for one {axis or 'size'}: "
                                  "choose by size=")
            columns.append((version, mine, field))
        return columns

    def link(self, name: str) -> str:
        source = f"{name.split(' ')[0]}.cu"
        return f"[{name}]({source})" if (self.page.path.parent / source).exists() else name

    def value(self, words: str) -> str:
        (study, version, field), named = self.options(words, 3, ("size", "file"))
        result, rows, _ = self.rows(study, named)
        version = results.find_version(result, study, version)
        rows = [row for row in rows if row.version == version]
        if len(rows) != 1:
            raise LessonError(f"{len(rows)} rows of {version} in '{study}': choose one by size=")
        return results.cell(result, rows[0], field).split(" +-")[0]

    def limiters_of(self, named: Dict[str, str]) -> limiters.Record:
        name = named.get("file", FILES["limiters"])
        if name not in self.records:
            self.records[name] = limiters.load(self.page.path.parent / name)
        return self.records[name]

    def limiter_table(self, words: str) -> str:
        _, named = self.options(words, 0, ("columns", "only", "file"))
        measured = self.limiters_of(named)
        rows = measured.select(named["only"]) if "only" in named else measured.rows
        fields = named.get("columns", ",".join(limiters.STANDARD_FIELDS)).split(",")
        headers, lines = limiters.table(measured, rows, fields)
        lines = [[self.link(line[0])] + line[1:] for line in lines]
        return results.to_markdown((headers, lines)) + f"\n\n{measured.provenance()}"

    def limiter(self, words: str) -> str:
        (version, field), named = self.options(words, 2, ("file",))
        return limiters.cell(self.limiters_of(named).find(version), field)

    def csv_table(self, words: str) -> str:
        (name,), named = self.options(words, 1, ("columns", "only"))
        comment, names, rows = read_table(self.page.path.parent / name)
        if "only" in named:
            wanted = results.pick(list(dict.fromkeys(row[0] for row in rows)), named["only"], name)
            rows = [row for row in rows if row[0] in wanted]
        columns = named.get("columns", ",".join(names)).split(",")
        unknown = [column for column in columns if column not in names]
        if unknown:
            raise LessonError(f"{name} has no column '{unknown[0]}' (it has: {', '.join(names)})")
        lines = [[row[names.index(column)] for column in columns] for row in rows]
        lines = [[self.link(line[0])] + line[1:] for line in lines]
        headers = [column.replace("_", " ") for column in columns]
        return results.to_markdown((headers, lines)) + f"\n\n{comment}"

    def bank_table(self, words: str) -> str:
        (only,), named = self.options(words, 1, ("file",))
        name = named.get("file", FILES["banks"])
        evidence = banks.read_evidence(self.page.path.parent / name)
        headers, rows = banks.table(only, evidence)
        lines = results.to_markdown(
            (headers, [[self.link(row[0])] + row[1:] for row in rows])).split("\n")
        lines[1] = "|---|---|---" + "|--:" * (len(headers) - 3) + "|"  # words to the left
        below = "; ".join(filter(None, ["Wavefronts per request", evidence.provenance()]))
        return "\n".join(lines + ["", below])

    def listing(self, words: str) -> str:
        parts = words.split()
        if len(parts) not in (2, 3) or parts[2:] not in ([], ["body"]):
            raise LessonError(f"write 'snippet: FILE SYMBOL [body]', not '{words}'")
        source = self.page.path.parent / parts[0]
        try:
            code = extract(source.read_text(encoding="utf-8"), parts[1], len(parts) == 3)
        except FileNotFoundError:
            raise LessonError(f"no such file: {parts[0]}") from None
        except LessonError as error:
            raise LessonError(f"{parts[0]}: {error}") from None
        return f"```{LANGUAGES.get(source.suffix, 'text')}\n{code}\n```"


def older_code(result: ResultFile, path: Path, root: Path) -> Dict[str, str]:
    """The sources of a recorded chapter that have changed, or gone, since they were measured."""
    chapter = path.resolve().parent.parent  # results/ stands in it
    known = code.hashes(chapter, root / "common")
    return code.older(((row.file, row.code) for row in result.rows), known)


def awaits_record(page: Page, marker: Marker) -> bool:
    """True for a block of an unrecorded page whose file does not exist yet."""
    if UNRECORDED not in page.text or marker.kind == "snippet":
        return False
    named = dict(word.split("=", 1) for word in marker.words.split() if "=" in word)
    file = named.get("file", FILES.get(marker.kind, marker.words.split()[0]))
    return not (page.path.parent / file).exists()


def replacement(page: Page, writer: Writer, index: int) -> Tuple[int, int, str]:
    """Start and end of the text that belongs to the marker, and what it should be."""
    marker = page.markers[index]
    if marker.kind == "snippet":
        after = page.text[marker.end:]
        fence = FENCE.match(after)
        if not fence and re.match(r"[ \t]*\n```", after):
            raise LessonError("the listing after this marker has no closing fence")
        end = marker.end + (fence.end() if fence else 0)
        return marker.end, end, "\n" + writer.listing(marker.words)
    closing = page.markers[index + 1] if index + 1 < len(page.markers) else None
    if not closing or closing.kind != f"/{marker.kind}":
        raise LessonError(f"no <!-- /{marker.kind} --> after this marker")
    write = {"results": writer.table, "value": writer.value, "limiters": writer.limiter_table,
             "limiter": writer.limiter, "table": writer.csv_table,
             "banks": writer.bank_table}[marker.kind]
    if awaits_record(page, marker):
        write = (lambda words: NOT_RECORDED)
    if marker.kind not in INLINE:
        return marker.end, closing.start, f"\n{write(marker.words)}\n"
    if "\n" in page.text[marker.end:closing.start]:
        raise LessonError(f"a {marker.kind} and its closing marker stand on one line")
    if not page.text[page.text.rfind("\n", 0, marker.start) + 1:marker.start].strip():
        raise LessonError(f"a {marker.kind} begins a line: Markdown ends the paragraph there; "
                          "break the line behind '<!--'")
    rest = page.text[closing.end:].split("\n", 1)[0].strip()
    if rest == "." and "\n" in page.text[closing.start:closing.end]:
        raise LessonError(f"a full stop stands alone behind this {marker.kind}: Doxygen takes it "
                          "for the end of a list; break the line elsewhere")
    return marker.end, closing.start, write(marker.words)


def rewrite(page: Page, root: Path) -> Tuple[str, List[str], List[str]]:
    """The page's text with all blocks written anew, the places of stale blocks, and the errors."""
    writer, out, done = Writer(page, root), [], 0
    stale: List[str] = []
    errors: List[str] = []
    for index, marker in enumerate(page.markers):
        opener = page.markers[index - 1].kind if index else ""
        if marker.kind.startswith("/") and opener != marker.kind[1:]:
            errors.append(f"{page.place(marker)}: <!-- {marker.kind} --> closes nothing")
        if marker.kind not in WRITTEN:
            continue
        try:
            start, end, text = replacement(page, writer, index)
        except (LessonError, ResultError) as error:
            errors.append(f"{page.place(marker)}: {error}")
            continue
        if page.text[start:end] != text:
            stale.append(f"{page.place(marker)}: this {marker.kind} block is out of date "
                         "(docs/lessons --update writes it)")
        out += [page.text[done:start], text]
        done = end
    written = [marker for marker in page.markers if marker.kind in WRITTEN]
    if UNRECORDED in page.text and not any(awaits_record(page, marker) for marker in written):
        errors.append(f"{page.name}: {UNRECORDED}, but every file is there: remove the marker")
    return "".join(out) + page.text[done:], stale, errors


# What is taught before what

def check_order(pages: Sequence[Page]) -> List[str]:
    """Needs that are taught later or never; `pages` are the chapters' lessons in order."""
    taught: Dict[str, Tuple[int, str]] = {}
    needs: List[Tuple[int, str, str]] = []
    marked = [(page, marker) for page in pages for marker in page.markers]
    for position, (page, marker) in enumerate(marked):
        concepts = [" ".join(part.lower().split()) for part in marker.words.split(",")]
        for concept in filter(None, concepts):
            if marker.kind == "teaches":
                taught.setdefault(concept, (position, page.place(marker)))
            elif marker.kind == "needs":
                needs.append((position, page.place(marker), concept))
    errors = []
    for position, place, concept in needs:
        if concept not in taught:
            errors.append(f"{place}: needs '{concept}', which no lesson teaches")
        elif taught[concept][0] > position:
            errors.append(f"{place}: needs '{concept}', which is taught later "
                          f"({taught[concept][1]})")
    return errors


def check_lessons(root: Path) -> List[str]:
    """What is wrong with the order of the lessons, or with the length of one."""
    lessons = [Page(path, root) for path in sorted(root.glob("chapters/[0-9]*/README.md"))]
    errors = check_order(lessons)
    for number, lesson in enumerate(lessons, 1):
        words = len(lesson.text.split())
        if words > MOST_WORDS:
            errors.append(f"{lesson.name}: {words} words; the main line of a lesson has at most "
                          f"{MOST_WORDS}, the rest goes to more.md")
        path = lesson.path.with_name("more.md")
        if path.exists():
            more = Page(path, root)
            errors += [line for line in check_order(lessons[:number] + [more])
                       if line.startswith(f"{more.name}:")]
    return errors


def main(arguments: Sequence[str], root: Path) -> int:
    parser = argparse.ArgumentParser(prog="docs/lessons", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--update", action="store_true", help="write the blocks")
    action.add_argument("--check", action="store_true", help="exit 1 where a block is out of date")
    parser.add_argument("pages", nargs="*", type=Path, metavar="PAGE",
                        help="default: all lessons, docs/*.md and README.md")
    options = parser.parse_args(arguments)
    root = root.resolve()
    lessons = sorted(path for name in ("README.md", "more.md")
                     for path in root.glob(f"chapters/[0-9]*/{name}"))
    front = [path for path in [root / "README.md"] if path.exists()]
    try:
        pages = [Page(path, root) for path in options.pages or
                 lessons + sorted(root.glob("docs/*.md")) + front]
    except (OSError, UnicodeDecodeError) as error:
        print(f"docs/lessons: {error}", file=sys.stderr)
        return 2
    names = {page.name for page in pages}
    problems = [line for line in check_lessons(root) if line.split(":")[0] in names]
    for page in pages:
        text, stale, errors = rewrite(page, root)
        problems += errors + (stale if options.check else [])
        if options.update and text != page.text:
            page.path.write_text(text, encoding="utf-8")
            print(f"written: {page.name}")
    for line in problems:
        print(line, file=sys.stderr)
    for path in sorted({*root.glob("chapters/*/results/*.json"),
                        *root.glob("tests/*/results/*.json")}):
        try:
            changed = older_code(results.load(path), path, root)
        except ResultError:
            continue  # the blocks that use it say so
        if changed:
            print(f"older than their code: {path.relative_to(root)}: "
                  + ", ".join(f"{name} {why}" for name, why in changed.items()))
    waiting = [page.name for page in pages if UNRECORDED in page.text]
    if waiting:
        print(f"not recorded yet: {', '.join(waiting)}")
    print(f"{len(pages)} pages, {len(problems)} problems")
    return 1 if problems else 0
