"""What the scripts of this folder share: the GPU's metrics, sizes, and tables on disk."""

from __future__ import annotations

import csv
import io
import re
import sys
from pathlib import Path
from typing import Dict, Iterable, List, Sequence, Tuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common" / "python"))

from course import Problem  # noqa: E402
from course.ncu import execute, tool_version  # noqa: E402

Row = Dict[str, str]

# What is compared, kernel by kernel. A request is a warp instruction.
ACCESSES = ("loads", "stores", "atomics")
COUNTERS = ([f"global_{access}_{what}" for access in ACCESSES for what in ("requests", "sectors")]
            + [f"shared_{access}_{what}" for access in ACCESSES
               for what in ("requests", "wavefronts")] + ["barriers"])


# ---- Places ----

def counts(chapter: str) -> Path:
    """Where a chapter keeps what was measured of it, what was modelled, and why they differ."""
    return ROOT / "chapters" / chapter / "results" / "counts"


# ---- Nsight Compute ----

def known_metrics(ncu: str, wanted: Iterable[str]) -> List[str]:
    """Those metrics that this GPU has; the others are named on stdout."""
    listed = set(re.findall(r"(?m)^\s*([a-z0-9_]+__[a-z0-9_]+)\b",
                            execute([ncu, "--query-metrics"])))
    kept = []
    for metric in wanted:
        if len(listed) > 100 and not metric.startswith("sass__") \
                and metric.split(".")[0] not in listed:
            print(f"not known to this GPU, left out: {metric}", flush=True)
        else:
            kept.append(metric)
    return kept


def machine(ncu: str, nvcc: str) -> Dict[str, str]:
    """What a table was measured with."""
    gpu = execute(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])
    name, driver = (part.strip() for part in gpu.splitlines()[0].split(","))
    header = {"gpu": name, "date": execute(["date", "-u", "+%Y-%m-%d"]).strip(), "driver": driver,
              "cuda": tool_version(nvcc, "release"), "nsight_compute": tool_version(ncu, "Version")}
    return {key: value for key, value in header.items() if value}


# ---- Sizes ----

def dimensions(size: str) -> Tuple[int, ...]:
    """'n=2^20 stride=3' as (1048576, 3)."""
    found = []
    for part in size.split():
        match = re.fullmatch(r"\w+=(?:2\^(\d+)|(\d+))", part)
        if not match:
            raise Problem(f"'{size}' is no size such as 'n=2^20 stride=3'")
        found.append(2 ** int(match.group(1)) if match.group(1) else int(match.group(2)))
    return tuple(found)


# ---- Tables ----

def write_table(path: Path, header: Dict[str, str], columns: Sequence[str],
                rows: Iterable[Row]) -> None:
    """A CSV file with lines '# name: value' on top."""
    text = io.StringIO()
    for name, value in header.items():
        text.write(f"# {name}: {value}\n")
    writer = csv.DictWriter(text, columns, lineterminator="\n", restval="", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue())


def read_table(path: Path) -> Tuple[Dict[str, str], List[Row]]:
    """What write_table() wrote."""
    try:
        lines = path.read_text().splitlines()
    except OSError as error:
        raise Problem(f"{path}: {error.strerror}") from error
    header = {}
    while lines and lines[0].startswith("# "):
        name, _, value = lines.pop(0)[2:].partition(": ")
        header[name] = value
    if not lines:
        raise Problem(f"{path}: no table in it")
    rows = list(csv.DictReader(lines))
    for line, row in enumerate(rows, len(header) + 2):
        if None in row or None in row.values():
            raise Problem(f"{path}:{line}: {lines[0].count(',') + 1} fields expected")
    return header, rows
