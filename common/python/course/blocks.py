"""The text of a page's generated blocks: tables and numbers from result files, and listings.

docs/lessons writes and checks them; lessons.py says how their markers are written.
"""
from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Dict, List, Optional, Sequence, Tuple

from . import code, limiters, overview, results, tables
from .draw import drawn, embedded
from .listings import extract
from .pages import UNRECORDED, LessonError, Marker, Page, recorded
from .results import ResultError, ResultFile, Row

WRITTEN = ("results", "snippet", "draw", "page", "value", "limiters", "limiter", "table",
           "chapters")
INLINE = ("value", "limiter")  # in a sentence
ENDINGS = {"results": ".json", "value": ".json",  # of the file if file= is left out
           "limiters": "-limiters.csv", "limiter": "-limiters.csv"}
NOT_RECORDED = "*not recorded yet*"
FENCE = re.compile(r"[ \t]*\n(```+)[^\n]*\n(?:.*?\n)??\1[ \t]*(?=\n|\Z)", re.S)
LANGUAGES = {".cu": "cuda", ".cuh": "cuda", ".cpp": "cpp", ".hpp": "cpp", ".py": "python",
             ".sh": "bash", ".txt": "cmake"}


def file_of(page: Page, kind: str, named: Dict[str, str]) -> str:
    """The file that a marker takes its figures from, relative to the page."""
    folder = page.path.parent
    return named.get("file") or str(recorded(folder, ENDINGS[kind]).relative_to(folder))


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


def is_number(cell: str) -> bool:
    """Does a cell hold a figure, or '-' in place of one? ('02_vectors' is a name.)"""
    return cell == "-" or bool(re.match(r"[<+-]?\.?\d+(?!\d|_)", cell))


def sizes_of(named: Dict[str, str]) -> Dict[str, int]:
    """The sizes of `size=rows:2^12,depth:2^12`, by dimension."""
    sizes = {}
    for item in filter(None, named.get("size", "").split(",")):
        dimension, colon, value = item.partition(":")
        if not colon:
            raise LessonError(f"size={item}: write dimension and value, as in size=n:2^28")
        sizes[dimension] = tables.parse_count(value)
    return sizes


class Writer:
    """Makes the text of one page's blocks; result files are read once."""

    def __init__(self, page: Page, root: Path) -> None:
        self.page, self.root = page, root
        self.files: Dict[str, ResultFile] = {}
        self.older: Dict[str, Dict[str, str]] = {}  # of each file: sources that have changed since
        self.records: Dict[str, limiters.Record] = {}

    def options(self, words: str, positional: int,
                known: Sequence[str]) -> Tuple[List[str], Dict[str, str]]:
        """The words of a marker: the positional ones, and those of the form name=value."""
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
        name = file_of(self.page, "results", named)
        if name not in self.files:
            path = self.page.path.parent / name
            self.files[name] = results.load(path)
            self.older[name] = older_code(self.files[name], path, self.root)
        result = self.files[name]
        result.study(study)
        sizes = sizes_of(named)
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
            headers, lines = tables.size_table(result, columns)
        elif axis is None or axis in sizes:
            fields = named.get("columns", ",".join(tables.STANDARD_FIELDS)).split(",")
            headers, lines = tables.version_table(result, rows, fields)
            lines = [[self.link(line[0])] + line[1:] for line in lines]
        else:
            if "at" in named:
                values = [tables.parse_count(value) for value in named["at"].split(",")]
                rows = [row for row in rows if row.size[axis] in values]
            columns = self.columns(result, rows, named.get("columns", "rate"), axis)
            headers, lines = tables.axis_table(result, axis, columns)
            headers[0] = study.axis_label or axis
        changed = self.older[file_of(self.page, "results", named)]
        late = dict.fromkeys(row.file for row in rows if row.file in changed)
        below = result.provenance()
        if late:
            below += f"; not of the present code: {', '.join(late)}"
        return tables.to_markdown((headers, lines)) + f"\n\n{below}"

    def columns(self, result: ResultFile, rows: List[Row], text: str,
                axis: Optional[str] = None) -> List[tables.Column]:
        """The columns of a sweep: FIELD means all versions, VERSION[.FIELD] one of them. Without an
        axis, each size is a line."""
        found: List[Tuple[str, str]] = []
        versions = list(dict.fromkeys(row.version for row in rows))
        for item in text.split(","):
            if item in tables.FIELDS or item.startswith("ratio:"):
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
        return tables.cell(result, rows[0], field).split(" +-")[0]

    def limiters_of(self, named: Dict[str, str]) -> limiters.Record:
        name = file_of(self.page, "limiters", named)
        if name not in self.records:
            self.records[name] = limiters.load(self.page.path.parent / name)
        return self.records[name].of_size(sizes_of(named))

    def limiter_table(self, words: str) -> str:
        _, named = self.options(words, 0, ("columns", "only", "file", "size"))
        measured = self.limiters_of(named)
        rows = measured.select(named["only"]) if "only" in named else measured.rows
        fields = named.get("columns", ",".join(limiters.STANDARD_FIELDS)).split(",")
        headers, lines = limiters.table(measured, rows, fields)
        lines = [[self.link(line[0])] + line[1:] for line in lines]
        return tables.to_markdown((headers, lines)) + f"\n\n{measured.provenance()}"

    def limiter(self, words: str) -> str:
        (version, field), named = self.options(words, 2, ("file", "size"))
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
        headers = [limiters.COLUMN_WORDS.get(c, c.replace("_", " ")) for c in columns]
        text = tables.to_markdown((headers, lines)).split("\n")
        sides = ["--:" if any(is_number(line[k]) for line in lines) else "---"
                 for k in range(1, len(headers))]
        text[1] = "|".join(["", "---", *sides, ""])  # words are left-aligned
        return "\n".join(text) + f"\n\n{comment}"

    def chapter_table(self, words: str) -> str:
        self.options(words, 0, ())
        return overview.table(self.root)

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
    """The sources of a recorded chapter that were changed or removed after the measurement."""
    chapter = path.resolve().parent.parent  # the folder with results/
    known = code.hashes(chapter, root / "common")
    return code.older(((row.file, row.code) for row in result.rows), known)


def awaits_record(page: Page, marker: Marker) -> bool:
    """True for a block of an unrecorded page whose file does not exist yet."""
    if UNRECORDED not in page.text or marker.kind in ("snippet", "draw", "page", "chapters"):
        return False
    named = dict(word.split("=", 1) for word in marker.words.split() if "=" in word)
    file = (file_of(page, marker.kind, named) if marker.kind in ENDINGS
            else named.get("file", marker.words.split()[0]))
    return not (page.path.parent / file).exists()


def replacement(page: Page, writer: Writer, index: int) -> Tuple[int, int, str]:
    """Start and end of the text that belongs to the marker, and the text it should have."""
    marker = page.markers[index]
    if marker.kind == "snippet":
        after = page.text[marker.end:]
        fence = FENCE.match(after)
        if not fence and re.match(r"[ \t]*\n```", after):
            raise LessonError("the listing after this marker has no closing fence")
        end = marker.end + (fence.end() if fence else 0)
        return marker.end, end, "\n" + writer.listing(marker.words)
    if marker.kind == "draw":
        below = drawn.IMAGE.match(page.text, marker.end)
        return marker.end, below.end() if below else marker.end, drawn.image(page, marker.words)
    if marker.kind == "page":
        below = embedded.BLOCK.match(page.text, marker.end)
        return marker.end, below.end() if below else marker.end, embedded.block(page, marker.words)
    closing = page.markers[index + 1] if index + 1 < len(page.markers) else None
    if not closing or closing.kind != f"/{marker.kind}":
        raise LessonError(f"no <!-- /{marker.kind} --> after this marker")
    write = {"results": writer.table, "value": writer.value, "limiters": writer.limiter_table,
             "limiter": writer.limiter, "table": writer.csv_table,
             "chapters": writer.chapter_table}[marker.kind]
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
