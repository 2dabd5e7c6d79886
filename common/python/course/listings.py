"""Listings for the lessons: one function, struct or marked region of a source file."""
from __future__ import annotations

import re
from typing import List, Tuple

from .pages import LessonError


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
    # '#pragma unroll' is at the left edge, unlike its loop: it does not count for the indent.
    lines = code.strip("\n").rstrip().splitlines()
    indent = min((len(line) - len(line.lstrip()) for line in lines
                  if line.strip() and not line.startswith("#")), default=0)
    return "\n".join(line if line.startswith("#") else line[indent:].rstrip()
                     for line in lines).strip()
