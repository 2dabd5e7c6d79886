"""The rules once more, in Python: every request that is drawn is counted again from its addresses.

common/simt/count.cpp has the same rules, the page's script (solve.js) has them a third time. Where
two of them differ, the page says so, and chapters/run fails.
"""
from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any, Dict, List, Set, Tuple

from .. import Problem
from .trace import Record, lanes_of


@dataclass
class Mark:
    """A word that a lane wants, and the wavefront or sector (from 0) that serves it."""
    lane: int
    word: int
    unit: int = 0


@dataclass
class Solution:
    units: int = 0
    ideal: int = 0
    groups: int = 1
    marks: List[Mark] = field(default_factory=list)


def words_of(offset: int, size: int) -> List[int]:
    return list(range(offset // 4, (offset + size - 1) // 4 + 1))


def agree(at: Dict[int, int], other: int) -> bool:
    """Is each lane's neighbour (lane xor other) at its address, or absent?"""
    return all(at.get(lane ^ other, offset) == offset for lane, offset in at.items())


def shared_atomic(at: Dict[int, int], size: int, turns: int) -> Solution:
    """Lanes that update one bank are serialised, even at one address; some updates count twice."""
    seen: "Counter[int]" = Counter()
    marks = []
    for lane, offset in at.items():
        bank = offset // 4 % 32
        marks += [Mark(lane, word, seen[bank] * turns) for word in words_of(offset, size)]
        seen[bank] += 1
    return Solution(max(seen.values()) * turns, 1, 1, marks)


def shared_plain(at: Dict[int, int], size: int, load: bool) -> Solution:
    """Each group of lanes costs as many wavefronts as its busiest bank has different words."""
    together = 32 if size <= 4 else 16 if size == 8 else 8
    if load and size >= 8 and (agree(at, 1) or agree(at, 2)):
        together *= 2
    result = Solution(0, 0, 0)
    for first in range(0, 32, together):
        banks: Dict[int, List[int]] = defaultdict(list)
        for lane in range(first, first + together):
            for word in words_of(at[lane], size) if lane in at else []:
                if word not in banks[word % 32]:
                    banks[word % 32].append(word)
                result.marks.append(Mark(lane, word, result.units + banks[word % 32].index(word)))
        if banks:
            result.units += max(map(len, banks.values()))
            result.groups += 1
    result.ideal = result.groups
    return result


def global_plain(at: Dict[int, int], size: int) -> Solution:
    """Different sectors of 32 bytes."""
    marks = [Mark(lane, word) for lane, offset in at.items() for word in words_of(offset, size)]
    sectors = sorted({mark.word // 8 for mark in marks})
    for mark in marks:
        mark.unit = sectors.index(mark.word // 8)
    return Solution(len(sectors), (len(at) * size + 31) // 32, 1, marks)


def global_atomic(at: Dict[int, int], size: int) -> Solution:
    """A sector is used once for each lane that hits the same address in it."""
    result = Solution(0, (len(at) * size + 31) // 32)
    for sector in sorted({offset // 32 for offset in at.values()}):
        seen: "Counter[int]" = Counter()
        for lane, offset in at.items():
            if offset // 32 == sector:
                result.marks += [Mark(lane, word, result.units + seen[offset])
                                 for word in words_of(offset, size)]
                seen[offset] += 1
        result.units += max(seen.values())
    return result


def solve(record: Record, item: List[Any]) -> Solution:
    """The cost of a request, from its addresses alone; and which lane is served when."""
    _, number, mask, size, _, _, _, offsets = item
    place = record["places"][number]
    row = record["lines"][place["row"]]
    at = dict(zip(lanes_of(mask), offsets))
    if row["space"] == "shared":
        return (shared_atomic(at, size, place["turns"]) if row["access"] == "atomic"
                else shared_plain(at, size, row["access"] == "load"))
    return global_atomic(at, size) if row["access"] == "atomic" else global_plain(at, size)


def differs(record: Record, what: str) -> Problem:
    return Problem(f"the run and its picture do not agree: {record['kernel']}, {what}. This is a "
                   "mistake of the course; nothing was drawn")


def check_places(record: Record) -> None:
    """The places of a row make up the row."""
    for number, row in enumerate(record["lines"]):
        for figure in ("requests", "lanes", "units", "ideal"):
            total = sum(place[figure] for place in record["places"] if place["row"] == number)
            if total != row[figure]:
                raise differs(record, f"line {row['line']}, {row['access']}: its places have "
                              f"{total} {figure}, its row {row[figure]}")


def sums_of(record: Record) -> Tuple[List[List[int]], int]:
    """Requests, lanes, units and ideal of each place over the sample's first launch; and how many
    requests were left out."""
    sums = [[0, 0, 0, 0] for _ in record["places"]]
    left, seen = 0, set()  # type: int, Set[Tuple[int, ...]]
    for block in record["sample"]:
        if tuple(block["block"]) in seen:
            continue
        seen.add(tuple(block["block"]))
        for item in (item for warp in block["warps"] for item in warp):
            if item[0] == "left out":
                left += item[1]
            elif item[0] == "request":
                for k, value in enumerate((1, bin(item[2]).count("1"), item[4], item[5])):
                    sums[item[1]][k] += value
    return sums, left


def check(record: Record) -> int:
    """Counts every request of a kernel again. \\returns how many; a Problem where one differs.

    Where all blocks of all launches were kept, their sums must also be the kernel's totals.
    """
    check_places(record)
    checked = 0
    for block in record["sample"]:
        for warp, done in enumerate(block["warps"]):
            for item in (item for item in done if item[0] == "request"):
                again = solve(record, item)
                checked += 1
                if (again.units, again.ideal) != (item[4], item[5]):
                    row = record["lines"][record["places"][item[1]]["row"]]
                    raise differs(record, f"line {row['line']}, warp {warp}, {row['space']} "
                                  f"{row['access']}: {item[4]} counted (ideal {item[5]}), but its "
                                  f"addresses make {again.units} (ideal {again.ideal})")
    sums, left = sums_of(record)
    blocks = {tuple(block["block"]) for block in record["sample"]}
    failed = any(finding.get("thread") is not None for finding in record["findings"])
    record["whole"] = (record["launches"] == 1 and len(blocks) == record["blocks"] and not left
                       and not failed)
    for place, found in zip(record["places"], sums) if record["whole"] else ():
        total = [place[name] for name in ("requests", "lanes", "units", "ideal")]
        if found != total:
            raise differs(record, f"the requests of one place sum up to {found}, counted {total}")
    return checked
