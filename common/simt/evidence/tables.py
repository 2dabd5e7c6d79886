"""What the scripts of this folder share: running Nsight Compute and reading and writing tables."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Dict, Iterable, List, NamedTuple, Sequence, Tuple

Row = Dict[str, str]

# What is compared, kernel by kernel. A request is a warp instruction.
ACCESSES = ("loads", "stores", "atomics")
COUNTERS = ([f"global_{access}_{what}" for access in ACCESSES for what in ("requests", "sectors")]
            + [f"shared_{access}_{what}" for access in ACCESSES
               for what in ("requests", "wavefronts")] + ["barriers"])


class Problem(Exception):
    """Something that the user should read in one line."""


class Launch(NamedTuple):
    """One kernel in a profiler's report."""

    kernel: str
    values: Row


def execute(command: Sequence[str], timeout: float = 600) -> str:
    """What a command prints."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, timeout=timeout, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Problem(f"{command[0]}: {error}") from error
    output = done.stdout.decode("utf-8", "replace")
    if done.returncode != 0:
        said = (done.stderr.decode("utf-8", "replace") + output).strip().splitlines()
        raise Problem(f"'{' '.join(command)}' ended with {done.returncode}"
                      + (f": {said[-1]}" if said else ""))
    return output


# ---- Kernel names ----

def base_name(kernel: str) -> str:
    """'void ns::reduce<256>(float *, int)' and 'ns::reduce<256>' as 'reduce'."""
    depth = 0
    kept = []
    for character in kernel.replace("(anonymous namespace)", "anonymous"):
        if character in "<":
            depth += 1
        elif character == ">":
            depth -= 1
        elif depth == 0:
            if character == "(":
                break
            kept.append(character)
    return "".join(kept).strip().split(" ")[-1].split("::")[-1]


# ---- Nsight Compute ----

def parse_ncu(text: str) -> List[Launch]:
    """The kernels of `ncu --csv --page raw`: a row of names, a row of units, a row per kernel."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    rows = list(csv.reader(lines))
    if not rows and "No kernels were profiled" in text:
        return []
    if not rows or "Kernel Name" not in rows[0]:
        said = [line for line in text.splitlines() if "==ERROR==" in line or "==WARNING==" in line]
        raise Problem("Nsight Compute reported no kernel" + (f": {said[0]}" if said else ""))
    names = rows[0]
    launches = []
    for row in rows[2:]:
        if len(row) != len(names):
            raise Problem(f"Nsight Compute's row has {len(row)} fields, not {len(names)}: {row}")
        values = {name: value for name, value in zip(names, row)}
        launches.append(Launch(values["Kernel Name"], values))
    return launches


def number(text: str) -> str:
    """A counter as Nsight Compute prints it, '1,024.00', as '1024'."""
    plain = text.replace(",", "").strip()
    try:
        value = float(plain)
    except ValueError:
        return ""
    return str(int(value)) if value == int(value) else f"{value:.6g}"


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


def profile(ncu: str, metrics: Sequence[str], command: Sequence[str], log: str = "",
            options: Sequence[str] = (), timeout: float = 600) -> Tuple[str, List[Launch]]:
    """Runs a program under Nsight Compute. Gives what it printed and its kernels, in order."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(log) if log else Path(folder) / "ncu.csv"
        printed = execute([ncu, "--csv", "--page", "raw", "--print-units", "base",
                           "--clock-control", "none", "--cache-control", "none", *options,
                           "--log-file", str(report), "--metrics", ",".join(metrics), *command],
                          timeout)
        text = report.read_text() if report.exists() else ""
    return printed, parse_ncu(text)


def tool_version(tool: str, word: str) -> str:
    """The number after `word` in what `TOOL --version` prints, or else the one in the tool's path,
    such as .../2025.3.1/ncu; empty if there is neither."""
    try:
        done = subprocess.run([tool, "--version"], stdout=subprocess.PIPE, timeout=60,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Problem(f"{tool}: {error}") from error
    found = re.search(word + r"\s+(\d+(?:\.\d+)+)", done.stdout.decode("utf-8", "replace"))
    if not found:
        path = Path(shutil.which(tool) or tool).resolve()
        found = re.search(r"/(\d{4}(?:\.\d+)+)/", str(path))
    return found.group(1) if found else ""


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
