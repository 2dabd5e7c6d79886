"""Nsight Compute: running a program under it, reading its report, and assigning its kernels."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import Problem, machine

# Kernels of the course that belong to no version: they make inputs, compare, keep time.
HELPERS = ("fill_kernel", "compare_kernel", "empty_kernel", "spin_kernel")


class Failed(Problem):
    """A command failed, or Nsight Compute gave no report; `text` is its whole output."""

    def __init__(self, message: str, text: str) -> None:
        super().__init__(message)
        self.text = text


class Launch(NamedTuple):
    """One kernel in a profiler's report."""

    kernel: str
    values: Dict[str, str]


# ---- Running ----

def execute(command: Sequence[str], timeout: float = 600) -> str:
    """What a command prints."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, timeout=timeout, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Problem(f"{command[0]}: {error}") from error
    output = done.stdout.decode("utf-8", "replace")
    if done.returncode != 0:
        text = (output + done.stderr.decode("utf-8", "replace")).strip()
        said = text.splitlines()
        raise Failed(f"'{' '.join(command)}' ended with {done.returncode}"
                     + (f": {said[-1]}" if said else ""), text)
    return output


def find() -> str:
    """The program ncu: on PATH, or in the folder of a CUDA compiler."""
    beside = [str(Path(machine.toolkit_nvcc(nvcc)).parent / "ncu")
              for nvcc in machine.nvcc_candidates()]
    for path in [shutil.which("ncu"), *beside]:
        if path and os.access(path, os.X_OK):
            return path
    raise Problem("no ncu: Nsight Compute comes with the CUDA toolkit; put ncu on PATH", 3)


def profile(ncu: str, metrics: Sequence[str], command: Sequence[str], log: str = "",
            options: Sequence[str] = (), timeout: float = 600) -> Tuple[str, List[Launch]]:
    """Runs a program under Nsight Compute. Returns its output and its kernels, in order."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(log) if log else Path(folder) / "ncu.csv"
        try:
            printed = execute([ncu, "--csv", "--page", "raw", "--print-units", "base",
                               "--clock-control", "none", *options, "--log-file", str(report),
                               "--metrics", ",".join(metrics), *command], timeout)
        except Failed as error:
            text = report.read_text() if report.exists() else ""
            raise Failed(reason(text, error, command), f"{text}\n{error.text}") from None
        return printed, parse(report.read_text() if report.exists() else "")


def reason(report: str, error: Failed, command: Sequence[str]) -> str:
    """Why there is no report, in one line: the program's last words, or Nsight Compute's first."""
    said = re.findall(r"==ERROR== (.+)", report + error.text)
    words = [line for line in error.text.splitlines() if line and not line.startswith("==")]
    if words and any("application returned" in line for line in said):
        return f"{Path(command[0]).name}: {words[-1]}"
    return f"Nsight Compute: {said[0]}" if said else str(error)


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


# ---- Reading ----

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


def parse(text: str) -> List[Launch]:
    """The kernels of `ncu --csv --page raw`: a row of names, a row of units, a row per kernel."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    rows = list(csv.reader(lines))
    if not rows and "No kernels were profiled" in text:
        return []
    if not rows or "Kernel Name" not in rows[0]:
        said = [line for line in text.splitlines() if "==ERROR==" in line or "==WARNING==" in line]
        raise Failed("Nsight Compute reported no kernel" + (f": {said[0]}" if said else ""), text)
    names = rows[0]
    launches = []
    for row in rows[2:]:
        if len(row) != len(names):
            raise Problem(f"Nsight Compute's row has {len(row)} fields, not {len(names)}: {row}")
        values = {name: value for name, value in zip(names, row)}
        launches.append(Launch(values["Kernel Name"], values))
    return launches


def number(text: str) -> str:
    """A counter as Nsight Compute prints it, '1,024.00', as '1024'; 'n/a' as ''."""
    plain = text.replace(",", "").strip()
    try:
        value = float(plain)
    except ValueError:
        return ""
    return str(int(value)) if value == int(value) else f"{value:.6g}"


# ---- Which version a kernel belongs to ----

class Slice(NamedTuple):
    """Launches of one version at one size."""

    version: str
    size: str
    launches: List[Launch]


def launched(printed: str) -> List[Tuple[str, str]]:
    """Version and size of each line 'launched VERSION x 1 at SIZE' that a program printed."""
    return re.findall(r"(?m)^launched (\S+) x 1 at (.+)$", printed)


def slices(printed: str, launches: Sequence[Launch]) -> Optional[List[Slice]]:
    """Which launches belong to which line 'launched VERSION x 1 at SIZE'.

    Before each version the course fills its inputs, so the version's kernels lie between those of
    the helpers. None if there are not as many groups as lines.
    """
    lines = launched(printed)
    if len(lines) == 1:
        own = [x for x in launches if base_name(x.kernel) not in HELPERS]
        return [Slice(lines[0][0], lines[0][1], own)]
    groups: List[List[Launch]] = []
    after_helper = True
    for launch in launches:
        if base_name(launch.kernel) in HELPERS:
            after_helper = True
            continue
        if after_helper:
            groups.append([])
        after_helper = False
        groups[-1].append(launch)
    if len(groups) != len(lines):
        return None
    return [Slice(version, size, group)
            for (version, size), group in zip(lines, groups)]
