"""What SIMT_TRACE=FILE writes: one line of JSON per kernel (common/simt/trace_file.cpp).

    format                  1
    label, kernel           the version, if a chapter's program ran it; the kernel
    launches, blocks, ...   the kernel's totals, as --model prints them
    lines                   its table: a row for each kind of access on a line
    places                  the places in the code that make up a row, in the code's order:
                            {row, requests, lanes, units, ideal, turns}
    memories                allocations: {bytes, arguments: [[which, byte], ...], variables: [[name,
                            byte, bytes], ...]}
    findings                {kind, text, launch}; where an address is at fault also {block, thread,
                            file, line, does, memory, offset, bytes, lanes: [[lane, offset], ...]},
                            and of a race {other: {block, thread, file, line}}
    sample                  blocks: {why: first, worst or finding; launch, block, rank, grid, shape,
                            cluster, shared: [[name, byte, bytes], ...], warps}

A warp is a list of what it did, in its order:

    ["step", mask, n]       n basic blocks that these lanes executed
    ["barrier", line]
    ["request", place, mask, bytes, units, ideal, memory, [offset of each active lane]]
    ["left out", n]         n requests beyond the limit
    ["copy", file, line, lane, to, offset, from, offset, shape]
                            what the copy engine moves: shape is [[bytes], [n, stride to, stride
                            from], ...], a run of bytes repeated n times, and that again. A bulk
                            copy is [[bytes]]; a box of a tensor has a list more per dimension

A memory is an index into memories, or -2: shared memory, or -1: none that is known. Offsets are
bytes from its start; in the shared memory of another block of the cluster, (1 + its rank) x window
is added.
"""
from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from .. import Problem

Record = Dict[str, Any]
SHARED = -2
ITEMS = {"step": 3, "barrier": 2, "request": 8, "left out": 2, "copy": 9}  # and how long they are


def read(path: Path) -> List[Record]:
    """The kernels of a trace, in the order in which their counts were taken."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []  # no kernel has run
    records = []
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            check_form(record)
        except (ValueError, KeyError, TypeError, IndexError, AssertionError) as error:
            raise Problem(f"{path}:{number}: not a trace of this version of the course "
                          f"({error!r}): run the kernel again") from None
        records.append(record)
    return records


def check_form(record: Record) -> None:
    """Raises an exception for a record that page and pictures could not use."""
    assert record["format"] == 1, "format"
    places, rows, memories = record["places"], record["lines"], len(record["memories"])
    for place in places:
        assert 0 <= place["row"] < len(rows), "row"
    for item in items(record):
        assert len(item) == ITEMS[item[0]], item[0]
        if item[0] == "request":
            assert 0 <= item[1] < len(places) and -2 <= item[6] < memories, "place"
            assert len(item[7]) == bin(item[2]).count("1") > 0, "lanes"


def items(record: Record) -> List[List[Any]]:
    """All items of all warps of the sample."""
    return [item for block in record["sample"] for warp in block["warps"] for item in warp]


def lanes_of(mask: int) -> List[int]:
    return [lane for lane in range(32) if mask >> lane & 1]


# ---- Names ----

def code_only(text: str) -> str:
    """C++ without comments and literals, each character in its place."""
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"',
                  lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def closing(code: str, start: int) -> int:
    """Where the parenthesis that opens at `start` closes."""
    depth = 0
    for at in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        if depth == 0:
            return at
    return len(code)


def parameters(code: str, kernel: str) -> List[str]:
    """The names of a kernel's parameters; empty if its definition is not in this code."""
    name = re.sub(r"<.*", "", kernel).split("::")[-1].strip()
    for found in re.finditer(r"__global__\b[^;{}]*?\b" + re.escape(name) + r"\s*\(", code):
        inside = code[found.end():closing(code, found.end() - 1)]
        for pair in (r"<[^<>]*>", r"\([^()]*\)", r"\[[^\[\]]*\]"):
            inside = re.sub(pair, "", inside)
        names = [re.findall(r"[A-Za-z_]\w*", part.split("=")[0]) for part in inside.split(",")]
        return [words[-1] if words else "" for words in names]
    return []


def letter(number: int) -> str:
    return chr(65 + number) if number < 26 else f"buffer {number}"


def name_memories(record: Record, code: str) -> List[List[Tuple[int, str]]]:
    """For each memory, where in it a name begins: [(byte, name), ...]. Without a name: a letter."""
    known = parameters(code, record["kernel"])
    named = []
    for number, memory in enumerate(record["memories"]):
        names: Dict[int, List[str]] = {}
        for which, byte in memory["arguments"]:
            if which < len(known) and known[which]:
                names.setdefault(byte, []).append(known[which])
        starts = sorted((byte, "=".join(dict.fromkeys(words))) for byte, words in names.items())
        starts += [(byte, name.split("::")[-1]) for name, byte, _ in memory.get("variables", ())]
        if not starts or min(starts)[0] > 0:
            starts.insert(0, (0, "variables" if "variables" in memory else letter(number)))
        named.append(sorted(starts))
    return named


def name_shared(shared: List[List[Any]], code: str) -> List[List[Any]]:
    """The block's shared variables, the dynamic one named as the code names it."""
    found = set(re.findall(r"extern\s+__shared__[^;]*?\b(\w+)\s*\[\s*\]", code))
    dynamic = found.pop() if len(found) == 1 else "dynamic"
    return [[name or dynamic, byte, size] for name, byte, size in shared]


def source_code(record: Record) -> str:
    """The code of all files in which the kernel has counted lines or findings."""
    texts = []
    for file in sorted({place["file"] for place in record["lines"] + record["findings"]
                        if "file" in place}):
        try:
            texts.append(Path(file).read_text(encoding="utf-8", errors="replace"))
        except OSError:
            continue
    return code_only("\n".join(texts))


def name_at(names: List[Tuple[int, str]], byte: int) -> Tuple[str, int]:
    """The name that a byte of a memory belongs to, and its byte from there."""
    start, name = next(((s, n) for s, n in reversed(names) if s <= byte), names[0])
    return name, byte - start


def variable_at(shared: List[List[Any]], byte: int) -> Optional[Tuple[str, int]]:
    """The shared variable that holds a byte, and its byte from there."""
    return next(((name, byte - start) for name, start, size in shared
                 if start <= byte < start + size), None)
