#!/usr/bin/env python3
"""How much of each versions.cpp says nothing about its chapter: at most a fifth.

Run it to see the figures: python3 tests/python/test_boilerplate.py -v
"""

from __future__ import annotations

import re
import unittest
from pathlib import Path
from typing import List, Tuple

ROOT = Path(__file__).resolve().parents[2]
MOST = 0.20  # of the lines that are neither blank nor comments
# Statements that only make names known: from their first line to the semicolon.
DECLARES = re.compile(r"^(#|using |template <.*>$|COURSE_\w+\()")
SAYS_NOTHING = re.compile(r"^(namespace \{|Study study;|return study;)$")
BRACKETS = re.compile(r"^[\]{}();,]+$")


def lines_of(text: str) -> List[str]:
    """The lines without comments and blank ones."""
    bare = (re.sub(r"//.*", "", line).strip() for line in text.splitlines())
    return [line for line in bare if line]


def count(text: str) -> Tuple[int, int]:
    """(lines that say nothing about the chapter, all lines). The first are includes, `using`,
    types and declarations of launchers, the bare first and last line of a function that fills a
    study, and what unpacks arguments for a launcher by hand. Lines of brackets count as nothing and
    as no line."""
    lines = lines_of(text)
    nothing = total = depth = 0
    open_statement = False
    for k, line in enumerate(lines):
        unpacks = depth > 0 or "Arguments&" in line  # a function or lambda: to its last bracket
        depth += line.count("{") - line.count("}") if unpacks else 0
        if BRACKETS.match(line):
            continue
        total += 1
        declares = bool(DECLARES.match(line))
        if line.startswith("template"):  # of an alias, not of a function
            declares = k + 1 < len(lines) and lines[k + 1].startswith("using ")
        if unpacks or declares or open_statement or SAYS_NOTHING.match(line):
            nothing += 1
        if not unpacks and (declares or open_statement):
            open_statement = not line.startswith(("#", "template")) and not line.endswith(";")
    return nothing, total


class Boilerplate(unittest.TestCase):
    """A chapter's list of versions speaks of the chapter."""

    def test_counts(self) -> None:
        text = ('#include "a.hpp"\n\n// why\nusing course::row;\ntemplate <class T>\n'
                "using Add = cudaError_t(const T* a,\n                        T* b);\n"
                "COURSE_LAUNCHERS(one, Add<float>,\n                 add);\n"
                "template <class T>\nVersion of(int k) {\n  return row(k);\n}\n"
                "Study sequence() {\n  Study study;\n  study.name = \"sequence\";  // first\n"
                "  v.launch = [f](const Arguments& a) {\n    if (a) {\n      f(a);\n    }\n"
                "    return 0;\n  };\n  return study;\n}\n")
        self.assertEqual(count(text), (13, 18))

    def test_a_fifth_at_most(self) -> None:
        found = sorted(ROOT.glob("chapters/*/versions.cpp"))
        self.assertTrue(found)
        for file in found:
            with self.subTest(chapter=file.parent.name):
                nothing, total = count(file.read_text(encoding="utf-8"))
                print(f"{file.parent.name}: {nothing} of {total} lines, {nothing / total:.0%}")
                self.assertLessEqual(nothing, MOST * total)


if __name__ == "__main__":
    unittest.main()
