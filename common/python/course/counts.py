"""The CPU backend's counts of a row, as the tables show them; and the course's own counts."""

from __future__ import annotations

import csv
import functools
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from . import Problem, chapters, results, tables
from .results import Row

# heading of a column, the counter, its unit
ACCESSES = (("loads", "global_loads", "sectors"), ("stores", "global_stores", "sectors"),
            ("sh.loads", "shared_loads", "wavefronts"),
            ("sh.stores", "shared_stores", "wavefronts"))
NOTE = ("Sectors per request to global memory, wavefronts per request to shared memory (sh.); "
        "lanes busy of 32.")

Counts = Tuple[Optional[float], ...]  # units per request of each access; None without requests


def per_request(model: Dict[str, Any]) -> Counts:
    """Sectors and wavefronts per request, in the order of ACCESSES."""
    found: List[Optional[float]] = []
    for _, name, unit in ACCESSES:
        access = model.get(name) or {}
        requests, units = access.get("requests") or 0, access.get(unit) or 0
        found.append(units / requests if requests else None)
    return tuple(found)


class Counted(NamedTuple):
    """The numbers by which a class is compared: units per request, and total units per access."""

    each: Counts
    in_all: float

    @property
    def cells(self) -> List[str]:
        return cells(self.each) + [short(self.in_all)]

    def same(self, other: "Counted") -> bool:
        """Equal within the two decimals of a table, and the totals within a tenth: blocks that wait
        for others poll a varying number of times."""
        return (cells(self.each) == cells(other.each)
                and abs(self.in_all - other.in_all) <= 0.1 * max(self.in_all, other.in_all))


def counted(model: Optional[Dict[str, Any]]) -> Counted:
    return Counted(per_request(model or {}), sum(
        ((model or {}).get(name) or {}).get(unit) or 0 for _, name, unit in ACCESSES))


def short(value: float) -> str:
    """98304 as '98.3k'."""
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:.3g}{name}"
    return f"{value:.0f}"


def total(model: Optional[Dict[str, Any]]) -> float:
    """All sectors of global memory and wavefronts of shared memory, including atomics."""
    return sum(((model or {}).get(name) or {}).get(
        "sectors" if name.startswith("global") else "wavefronts") or 0 for name in results.ACCESSES)


def lanes_busy(model: Dict[str, Any]) -> Optional[float]:
    """The average share of the 32 lanes of a warp that are active in a step."""
    steps = model.get("warp_steps") or 0
    return (model.get("lane_steps") or 0) / 32 / steps if steps else None


def cells(counts: Counts) -> List[str]:
    return ["-" if value is None else f"{value:.2f}" for value in counts]


def lanes_cell(model: Dict[str, Any]) -> str:
    busy = lanes_busy(model)
    return "-" if busy is None else f"{100 * busy:.0f} %"


@functools.lru_cache(maxsize=None)
def of_course(chapter: str) -> Dict[Tuple[str, str, str], Counted]:
    """What the course counted of its own versions: by study, version and size ('n=2^20')."""
    try:
        file = chapters.find(chapter).path / "results" / "counts" / "h200-modelled.csv"
    except Problem:
        return {}
    if not file.exists():
        return {}
    sums: Dict[Tuple[str, str, str], Dict[str, int]] = {}
    with open(file, encoding="utf-8") as lines:
        for row in csv.DictReader(line for line in lines if not line.startswith("#")):
            place = sums.setdefault((row["study"], row["version"], row["size"]), {})
            place[row["counter"]] = place.get(row["counter"], 0) + int(float(row["modelled"] or 0))
    return {key: counted({name: {"requests": found.get(f"{name}_requests"),
                                 unit: found.get(f"{name}_{unit}")} for _, name, unit in ACCESSES})
            for key, found in sums.items()}


def size_key(row: Row) -> str:
    """A size as that table writes it: 'rows=512 cols=512'."""
    return " ".join(f"{name}={tables.count_text(value)}" for name, value in row.size.items())
