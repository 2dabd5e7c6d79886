"""The page: source with figures, and every request that was kept, in one file without a network."""
from __future__ import annotations

import html
import json
import math
import re
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Sequence, Set, Tuple

from .. import Problem
from .trace import (SHARED, Record, name_at, name_memories, name_shared, source_code, variable_at)

MOST_BYTES = 390_000  # of a page
CONTEXT = 60          # source lines before the first counted one and after the last
HERE = Path(__file__).resolve().parent
SCRIPTS = ("solve.js", "words.js", "picture.js", "strip.js", "page.js")
DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.S)


class Budget(NamedTuple):
    """How much a page may show of each block; the page says what it leaves out."""
    warps: int
    requests: int  # of one place by one warp
    source: int    # lines around counted ones
    steps: bool    # steps without a request


BUDGETS = [Budget(warps, 64, CONTEXT, True) for warps in (32, 24, 16, 12, 8, 6, 4)]
BUDGETS += [Budget(4, requests, CONTEXT, True) for requests in (32, 16, 8, 4)]
BUDGETS += [Budget(2, 4, 20, False), Budget(1, 4, 5, False), Budget(1, 1, 0, False)]


# ---- What a page holds ----

def pack_request(item: List[Any]) -> List[Any]:
    """Place, mask, bytes, units, ideal, memory; then first offset and distance, or one list: the
    first offset and the others' distances from it."""
    _, place, mask, size, units, ideal, memory, offsets = item
    distances = {b - a for a, b in zip(offsets, offsets[1:])}
    if len(distances) <= 1:
        where: List[Any] = [offsets[0], distances.pop() if distances else 0]
    else:
        where = [[offset - offsets[0] if k else offset for k, offset in enumerate(offsets)]]
    return [place, mask, size, units, ideal, memory, *where]


def pack_warp(items: List[List[Any]], budget: Budget) -> List[Any]:
    """A number: 64 x steps + lanes, or minus the line of a barrier. A text: requests left out. A
    list: a request, or, beginning with "copy", a copy."""
    packed: List[Any] = []
    kept: Dict[int, int] = {}
    left = 0
    for item in items:
        if item[0] == "request":
            kept[item[1]] = kept.get(item[1], 0) + 1
        if item[0] == "left out" or (item[0] == "request" and kept[item[1]] > budget.requests):
            left += item[1] if item[0] == "left out" else 1
            continue
        if left and item[0] == "step":
            continue
        if left:
            packed.append(str(left))
            left = 0
        if item[0] == "step" and budget.steps:
            packed.append(64 * item[2] + bin(item[1]).count("1"))
        elif item[0] == "barrier":
            packed.append(-max(1, item[1]))
        elif item[0] == "copy":
            packed.append(["copy", Path(item[1]).name, *item[2:]])
        elif item[0] == "request":
            packed.append(pack_request(item))
    return packed + ([str(left)] if left else [])


def worst_warp(items: Sequence[List[List[Any]]]) -> int:
    """The warp with the request that is furthest from its ideal."""
    def worst(warp: List[List[Any]]) -> float:
        return max((item[4] / max(1, item[5]) for item in warp if item[0] == "request"), default=0)
    return max(range(len(items)), key=lambda w: (worst(items[w]), -w))


def wanted_warps(record: Record, block: Record, most: int) -> List[int]:
    """Which warps of a block a page shows: those of findings, the worst, then the first."""
    first = [worst_warp(block["warps"])] if block["warps"] else []
    for finding in record["findings"]:
        for side in (finding, finding.get("other", {})):
            if side.get("block") == block["block"]:
                first.append(side["thread"] // 32)
    order = list(dict.fromkeys([*first, *range(len(block["warps"]))]))
    return sorted(order[:max(most, 1)])


def sources(record: Record, context: int) -> List[Record]:
    """The files with counted lines or findings: the text around those lines."""
    wanted: Dict[str, Set[int]] = {}
    places = [(row["file"], row["line"]) for row in record["lines"]]
    for side in (s for f in record["findings"] for s in (f, f.get("other", {}))):
        places += [(side["file"], side["line"])] if side.get("line") else []
    for file, line in places:
        wanted.setdefault(file, set()).add(line)
    found = []
    for file, lines in sorted(wanted.items()):
        try:
            text = Path(file).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        first = max(1, min(lines) - context)
        last = most = max(lines)
        while last < min(len(text), most + context) and not text[last - 1].startswith("}"):
            last += 1  # to the end of the function
        found.append({"name": Path(file).name, "first": first, "text": text[first - 1:last]})
    return found


def place_names(record: Record, names: List[List[Tuple[int, str]]],
                shared: List[List[Any]]) -> List[str]:
    """The memory of each place: 'in', 's'; empty if no request of it was kept, or several were."""
    found: List[Set[str]] = [set() for _ in record["places"]]
    for block in record["sample"]:
        for item in (i for warp in block["warps"] for i in warp if i[0] == "request"):
            memory, offset = item[6], item[7][0]
            if memory >= 0:
                found[item[1]].add(name_at(names[memory], offset)[0])
            elif memory == SHARED:
                variable = variable_at(shared, offset % record["window"])
                found[item[1]].add(variable[0] if variable else "")
    return [texts.pop() if len(texts) == 1 else "" for texts in found]


def pack(record: Record, budget: Budget) -> Record:
    """One kernel, as the page's script reads it."""
    code = source_code(record)
    names = name_memories(record, code)
    page = {key: record[key] for key in (
        "label", "kernel", "launches", "threads", "barriers", "warp_steps", "lane_steps", "window")}
    page["block_count"] = record["blocks"]
    page["whole"] = record["whole"]
    page["source"] = sources(record, budget.source)
    page["rows"] = [dict(row, file=Path(row["file"]).name) for row in record["lines"]]
    page["memories"] = [{"bytes": memory["bytes"], "names": names[k]}
                        for k, memory in enumerate(record["memories"])]
    page["findings"] = []
    for finding in record["findings"]:
        shown = dict(finding, file=Path(finding.get("file", "")).name)
        if "other" in shown:
            shown["other"] = dict(shown["other"], file=Path(shown["other"]["file"]).name)
        page["findings"].append(shown)
    page["blocks"] = []
    variables: List[List[Any]] = []
    for block in record["sample"]:
        shared = name_shared(block["shared"], code)
        variables = variables or shared
        page["blocks"].append({
            **{key: block[key] for key in ("why", "launch", "block", "rank", "grid", "shape",
                                           "cluster")},
            "shared": shared, "of": len(block["warps"]),
            "warps": [[w, pack_warp(block["warps"][w], budget)]
                      for w in wanted_warps(record, block, budget.warps)]})
    touched = place_names(record, names, variables)
    page["places"] = [dict(place, name=name) for place, name in zip(record["places"], touched)]
    page["most"] = budget.requests
    first = [block for block in record["sample"] if block["launch"] == 1]
    page["blocks_of_first"] = math.prod(first[0]["grid"]) if first else 0
    return page


# ---- Its text ----

def title_of(record: Record) -> str:
    return record["label"] or record["kernel"]


def pack_all(records: Sequence[Record], budget: Budget, title: str,
             left_out: Sequence[Record] = ()) -> Record:
    """A page's data."""
    return {"title": title, "kernels": [pack(record, budget) for record in records],
            "left_out": [title_of(record) for record in left_out]}


def part(name: str) -> str:
    """A file of this folder."""
    return (HERE / name).read_text(encoding="utf-8")


def render(data: Record) -> str:
    """The page with these data."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    parts = {"TITLE": html.escape(data["title"]), "STYLE": part("page.css"),
             "SCRIPT": "\n".join(map(part, SCRIPTS)),
             "DATA": text.replace("<", "\\u003c")}  # inside JSON a '<' stands in strings only
    return re.sub("@(TITLE|STYLE|SCRIPT|DATA)@", lambda m: parts[m[1]], part("page.html"))


def make(records: Sequence[Record], title: str) -> str:
    """The page, with as much as fits into MOST_BYTES; every record must have been checked."""
    for budget in BUDGETS:
        page = render(pack_all(records, budget, title))
        if len(page.encode()) <= MOST_BYTES:
            return page
    for most in range(len(records) - 1, 0, -1):
        page = render(pack_all(records[:most], BUDGETS[-1], title, records[most:]))
        if len(page.encode()) <= MOST_BYTES:
            return page
    raise Problem(f"one kernel's source and requests are more than the {MOST_BYTES // 1000} kB of a "
                  "page: run it with smaller blocks")


def data_of(page: str) -> Record:
    """The data of a page, read back from it."""
    found = DATA.search(page)
    if not found:
        raise Problem("this is no page that --draw has made")
    return json.loads(found[1])
