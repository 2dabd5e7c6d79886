"""Tells the counters how the structures of a file are aligned: a GPU copies them in pieces of that.

The compiler's hooks say how many bytes are copied and where, but not what the type promises about
the address; and nvcc goes by what the type promises. So each structure of namespace scope is made
known by its size and alignment. Templates are left out: only their instances have a size.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, List, Tuple

if TYPE_CHECKING:
    from rewrite import File

HEAD = re.compile(r"\b(?:struct|class|union)\s+((?:(?:alignas|__align__|__attribute__)\s*\([^;{}]*?\)\s*|\[\[[^]]*\]\]\s*)*)"
                  r"(\w+)\s*(?:final\s*)?(?::[^:;{}()][^;{}()]*)?\{")


def edits(file: "File") -> List[Tuple[int, int, str]]:
    """What to insert, and where, as `File.edit` takes it."""
    found = []
    for m in HEAD.finditer(file.flat):
        if file.scope(m.start()) != "namespace" or file.define_at(m.start()) is not None:
            continue
        before = file.flat[:m.start()].rstrip()
        end = file.close(m.end() - 1)
        behind = re.compile(r"\s*;").match(file.flat, end)
        if not behind:
            continue  # a variable follows, or an attribute
        if before == "" or before[-1] in ";{}":
            has_union = re.search(r"\bunion\b", file.flat[m.start():end])
            found.append((behind.end(), behind.end(), f" SIMT_TYPE({m[2]})" + f" SIMT_UNION({m[2]})" * bool(has_union)))
        elif before[-1] == ">":  # a template: at least that there is one of this alignment
            aligned = re.search(r"\((\d+)\)", m[1])
            if aligned:
                found.append((behind.end(), behind.end(), f" SIMT_TYPE_OF({aligned[1]}, {aligned[1]})"))
    return found
