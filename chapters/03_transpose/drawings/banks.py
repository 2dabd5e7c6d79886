"""Banks of shared memory: the rule, and what the versions of chapter 03 ask of them.

Shared memory has 32 banks of 4 bytes: the word at address A lies in bank A / 4 mod 32. A request is
one load or store of a warp; a wavefront is one turn of the banks, in which each serves one word.
The rule was measured, see docs/cpu_backend.md; the CPU backend has the same one (simt/count.cpp).
"""
from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, List, Optional, Sequence, Tuple

from course.results import ResultError

BANKS, WORD, LANES = 32, 4, 32
CHAPTER = "03_transpose"

Addresses = Sequence[Optional[int]]  # of the 32 lanes, in bytes; None: this lane takes no part


# The rule

def words_in_banks(addresses: Addresses, width: int) -> List[int]:
    """How many different words these lanes want of each bank. Lanes that want the same word share
    it."""
    words = {(address + byte) // WORD for address in addresses if address is not None
             for byte in range(0, max(WORD, width), WORD)}
    counts = [0] * BANKS
    for word in words:
        counts[word % BANKS] += 1
    return counts


def pairs_agree(addresses: Addresses, other: int) -> bool:
    """Is the lane beside each lane (lane xor `other`) at its address, or not there?"""
    pairs = ((address, addresses[lane ^ other]) for lane, address in enumerate(addresses))
    return all(a == b for a, b in pairs if a is not None and b is not None)


def groups(addresses: Addresses, width: int, load: bool) -> List[Addresses]:
    """The lanes whose words are fetched together: all, halves (8 bytes) or quarters (16 bytes). In
    a load whose lanes agree in pairs, groups are twice as large."""
    lanes = LANES * WORD // max(WORD, width)
    if load and width > WORD and (pairs_agree(addresses, 1) or pairs_agree(addresses, 2)):
        lanes *= 2
    return [addresses[first:first + lanes] for first in range(0, LANES, lanes)]


def wavefronts(addresses: Addresses, width: int, load: bool) -> int:
    """Turns that one request takes: for each group, the most words that it wants of one bank."""
    if len(addresses) != LANES:
        raise ValueError(f"{len(addresses)} lanes, not {LANES}")
    return sum(max(words_in_banks(group, width)) for group in groups(addresses, width, load))


# The versions of chapter 03: elements of 4 bytes

Place = Callable[[int, int], int]  # the byte at which an entry of the tile lies


@dataclass(frozen=True)
class Access:
    """What the warps of one block do in a line of a version: all requests, one after the other."""
    words: str
    width: int
    requests: Tuple[Tuple[int, ...], ...]  # addresses of the 32 lanes

    def wavefronts(self, kind: str) -> float:
        """Per request, on average."""
        turns = [wavefronts(request, self.width, kind == "load") for request in self.requests]
        return sum(turns) / len(turns)


def unpadded(row: int, col: int) -> int:
    """05: s[row][col] in float s[32][32]."""
    return 4 * (32 * row + col)


def padded(row: int, col: int) -> int:
    """06: s[row][col] in float s[32][33]."""
    return 4 * (33 * row + col)


def swizzled(row: int, col: int) -> int:
    """07 and 08: s[row][col ^ row] in float s[32][32]."""
    return 4 * (32 * row + (col ^ row))


def group_in_order(col: int, group: int) -> int:
    """s[col][group] in float4 s[64][16]: 09 without its swizzle, no version of the chapter."""
    return 16 * (16 * col + group)


def group_swizzled(col: int, group: int) -> int:
    """09: s[col][place(col, group)] in float4 s[64][16]."""
    return 16 * (16 * col + (group ^ (col // 4 % 8)))


def group_any(col: int, group: int) -> int:
    """10: the same with its place(), which spreads neighbouring columns, too."""
    return 16 * (16 * col + (group ^ ((col ^ (col >> 2)) & 7)))


def _lanes(width: int, words: str, count: int, address: Callable[[int, int], int]) -> Access:
    """`count` requests; address(k, lane) is a byte."""
    return Access(words, width, tuple(tuple(address(k, lane) for lane in range(LANES))
                                      for k in range(count)))


def tile_accesses(place: Place) -> Dict[str, Access]:
    """05 to 08: 32 requests store a row of the 32 x 32 tile each, 32 load a column each. (In 08 a
    warp makes four of them, in the others one.)"""
    return {"store": _lanes(4, "a row: lane x at column x", 32, place),
            "load": _lanes(4, "a column: lane x at row x", 32, lambda k, lane: place(lane, k))}


def group_accesses(place: Place) -> Dict[str, Access]:
    """09 and 10, aligned: 8 warps, each with 4 stores and 4 loads of groups of four floats."""

    def thread(k: int, lane: int) -> Tuple[int, int]:
        t = k // 4 * LANES + lane
        return t % 16, t // 16

    def store(k: int, lane: int) -> int:
        x, y = thread(k, lane)
        return place(4 * x + k % 4, y)

    def load(k: int, lane: int) -> int:
        x, y = thread(k, lane)
        return place(y + k % 4 * 16, x)

    return {"store": _lanes(16, "eight lanes: eight columns, four apart", 32, store),
            "load": _lanes(16, "eight lanes: eight groups of one column", 32, load)}


VERSIONS: Dict[str, Dict[str, Access]] = {
    "05_shared_tile": tile_accesses(unpadded),
    "06_padded": tile_accesses(padded),
    "07_swizzled": tile_accesses(swizzled),
    "08_rows_per_thread": tile_accesses(swizzled),
    "09_vectors": group_accesses(group_swizzled),
    "10_any": group_accesses(group_any),
}


# Predicted, counted, measured

@dataclass(frozen=True)
class Evidence:
    """What a table says that tests/evidence/compare wrote."""
    header: Dict[str, str]  # what it was measured with
    counters: Dict[Tuple[str, str], Dict[str, int]]  # version and counter: "modelled", "measured"

    def per_request(self, version: str, kind: str, column: str) -> str:
        """Wavefronts per request; '-' where nobody has counted them."""
        requests = self.counters.get((version, f"shared_{kind}s_requests"), {}).get(column)
        turns = self.counters.get((version, f"shared_{kind}s_wavefronts"), {}).get(column)
        return "-" if not requests or turns is None else f"{turns / requests:g}"

    def provenance(self) -> str:
        """GPU, profiler and date; nothing if nothing was measured."""
        if not self.counters:
            return ""
        tool = self.header.get("nsight_compute")
        return ", ".join(filter(None, [self.header.get("gpu"), tool and f"Nsight Compute {tool}",
                                       self.header.get("date")]))


def read_evidence(path: Path) -> Evidence:
    """The counters of the chapter's sequence, added up over sizes and kernels."""
    evidence = Evidence({}, {})
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        for line in lines:
            if line.startswith("# "):
                name, _, value = line[2:].partition(": ")
                evidence.header[name] = value
        for row in csv.DictReader(line for line in lines if not line.startswith("#")):
            if (row["chapter"], row["study"]) == (CHAPTER, "sequence"):
                sums = evidence.counters.setdefault((row["version"], row["counter"]), {})
                for column in ("modelled", "measured"):
                    sums[column] = sums.get(column, 0) + int(row[column])
    except FileNotFoundError:
        raise ResultError(f"no such file: {path}") from None
    except (KeyError, TypeError, ValueError) as error:
        raise ResultError(f"{path}: no table of modelled and measured counters "
                          f"({error!r})") from None
    return evidence


Table = Tuple[List[str], List[List[str]]]


def predictions() -> Table:
    """Wavefronts per request of the versions' stores to and loads from shared memory."""
    return (["version", "access", "lanes of a request", "predicted by the rule"],
            [[version, kind, access.words, f"{access.wavefronts(kind):g}"]
             for version in VERSIONS for kind, access in VERSIONS[version].items()])


def table(evidence: Evidence) -> Table:
    """The predictions beside what was counted and measured."""
    headers, rows = predictions()
    return (headers + ["counted by the CPU backend", "measured by the profiler"],
            [row + [evidence.per_request(row[0], row[1], column)
                    for column in ("modelled", "measured")] for row in rows])


def write_table(path: Path, evidence: Evidence) -> None:
    """A CSV file for the lessons, with a comment on top that says where its figures come from."""
    headers, rows = table(evidence)
    below = "; ".join(filter(None, ["Wavefronts per request", evidence.provenance()]))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {below}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([header.replace(" ", "_") for header in headers])
        writer.writerows(rows)
