"""What limits each version now: figures of Nsight Compute, one line per version in a CSV file.

`record` measures (common/profile), `load` reads the file again; tables and numbers made here are
shared by `common/plot limiters` and by the lessons. For a version that launches several kernels,
the longest launch is described, next to the number of launches and its share of their time.
"""
from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Callable, Dict, List, Optional, Sequence, Tuple

from . import Problem, ncu, results, say, tables
from .ncu import Launch, Slice
from .results import ResultError
from .tables import Table

# Columns of the file, and Nsight Compute's names for them.
METRICS = {
    "time_ns": "gpu__time_duration.sum",
    "dram_percent": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "dram_bytes_read": "dram__bytes_read.sum",
    "dram_bytes_written": "dram__bytes_write.sum",
    "l2_percent": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "l2_sectors_read": "lts__t_sectors_op_read.sum",
    "sm_bytes_read": "l1tex__m_xbar2l1tex_read_bytes.sum",
    "sm_percent": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "tensor_percent": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "fma_percent": "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
    "data_percent": "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
    "issue_percent": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "lanes_per_instruction": "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio",
    "warp_instructions": "smsp__inst_executed.sum",
    "shared_load_requests": "smsp__inst_executed_op_shared_ld_pred_on_any.sum",
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_requests": "smsp__inst_executed_op_shared_st_pred_on_any.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared_atomic_requests": "smsp__inst_executed_op_shared_atom.sum",
    "shared_atomic_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
    "warps_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
}

# What a warp can be doing, in groups. Each reason counts the warps in that state, on average, when
# an instruction issues; a group's share of all of them is its share of a warp's time.
GROUPS = {
    "memory": ("long_scoreboard", "lg_throttle", "drain", "membar"),
    "barrier": ("barrier",),
    "shared": ("short_scoreboard", "mio_throttle"),
    "tensor": ("gmma", "warpgroup_arrive"),
    "instructions": ("selected", "not_selected", "wait", "math_pipe_throttle", "dispatch_stall",
                     "no_instruction", "branch_resolving", "imc_miss"),
    "other": ("sleeping", "tex_throttle"),
}
GROUP_WORDS = {
    "memory": "global memory",
    "barrier": "barrier",
    "shared": "shared memory, shuffles",
    "tensor": "tensor cores",
    "instructions": "instructions (issue, latency)",
    "other": "other",
}
METRICS.update({f"stall_{reason}": f"smsp__average_warps_issue_stalled_{reason}_per_issue_active"
                ".ratio" for reasons in GROUPS.values() for reason in reasons})

# Headings of lessons' tables. Without another word, the column's own name is the heading.
COLUMN_WORDS = {
    "issue_percent": "issue slots used, %",
    "stall_selected": "issues",
    "stall_not_selected": "ready, another was taken",
    "stall_dispatch_stall": "held back at dispatch",
    "stall_wait": "fixed pause",
    "stall_short_scoreboard": "waits for shared memory or a root",
    "stall_mio_throttle": "queue to these is full",
    "stall_math_pipe_throttle": "arithmetic unit is busy",
}

FIRST_COLUMNS = ("version", "size", "kernel", "launches", "time_share")
HEADER = ("chapter", "study", "gpu", "cuda", "ncu", "date", "commit")


@dataclass(frozen=True)
class Limiter:
    """The longest kernel of one version; `values` holds the metrics that are known."""
    version: str
    size: str
    kernel: str
    launches: int
    time_share: float
    values: Dict[str, float]

    def get(self, column: str) -> Optional[float]:
        return self.values.get(column)

    @property
    def dimensions(self) -> Dict[str, int]:
        """'rows=2^12 cols=100' as numbers."""
        return {name: tables.parse_count(value) for name, value in
                (word.split("=", 1) for word in self.size.split() if "=" in word)}

    def _wavefronts(self, *operations: str) -> Optional[float]:
        found = [[self.get(f"shared_{operation}_{what}") for operation in operations]
                 for what in ("requests", "wavefronts")]
        requests, wavefronts = (None if None in both else sum(both) for both in found)
        return wavefronts / requests if requests and wavefronts is not None else None

    @property
    def wavefronts(self) -> Optional[float]:
        """Wavefronts per request to shared memory: 1 without conflicts, if no lane moves more than
        4 bytes."""
        return self._wavefronts("load", "store")

    @property
    def atomic_wavefronts(self) -> Optional[float]:
        """Wavefronts per atomic instruction of a warp in shared memory."""
        return self._wavefronts("atomic")

    @property
    def shares(self) -> Dict[str, float]:
        """The share of a warp's time in each group; empty if no reason is known."""
        sums = {group: sum(self.get(f"stall_{reason}") or 0 for reason in reasons)
                for group, reasons in GROUPS.items()}
        total = sum(sums.values())
        return {group: value / total for group, value in sums.items()} if total else {}


@dataclass(frozen=True)
class Record:
    """A file of limiters; `header` says what was measured where."""
    path: Path
    header: Dict[str, str]
    rows: Tuple[Limiter, ...]

    def provenance(self) -> str:
        """Where the numbers come from, in one line."""
        known = {name: self.header.get(name) or "unknown" for name in HEADER}
        return (f"{known['gpu']}, CUDA {known['cuda']}, Nsight Compute {known['ncu']}, "
                f"{known['date']}, commit {known['commit']}")

    def select(self, only: str) -> List[Limiter]:
        """The rows that `only` names: '01-07,90' or whole names."""
        wanted = results.pick(self.versions, only, str(self.path))
        return [row for row in self.rows if row.version in wanted]

    def find(self, name: str) -> Limiter:
        """The row of a version, given as '06_vectors' or '06'."""
        version = results.pick_one(self.versions, name, str(self.path))
        rows = [row for row in self.rows if row.version == version]
        if len(rows) != 1:
            raise ResultError(f"{self.path}: {len(rows)} sizes of {version}, but one was expected")
        return rows[0]

    def of_size(self, sizes: Dict[str, int]) -> "Record":
        """The rows of these dimensions; all of them if none is named."""
        rows = tuple(row for row in self.rows
                     if all(row.dimensions.get(name) == value for name, value in sizes.items()))
        if not rows:
            raise ResultError(f"{self.path}: no row of this size")
        return replace(self, rows=rows)

    @property
    def versions(self) -> List[str]:
        return list(dict.fromkeys(row.version for row in self.rows))

    def label(self, row: Limiter) -> str:
        """The version, with its size if the file has several."""
        same = len({other.size for other in self.rows}) == 1
        return row.version if same else f"{row.version} ({row.size})"


# Measuring

def number(launch: Launch, column: str) -> Optional[float]:
    text = ncu.number(launch.values.get(METRICS[column], ""))
    return float(text) if text else None


def longest(part: Slice) -> Limiter:
    """The launch of a version that took longest."""
    times = [number(launch, "time_ns") for launch in part.launches]
    if None in times:
        raise Problem(f"Nsight Compute gave no time for a kernel of {part.version}")
    most = max(range(len(times)), key=lambda k: times[k])
    launch = part.launches[most]
    found = {column: number(launch, column) for column in METRICS}
    return Limiter(part.version, part.size, ncu.base_name(launch.kernel), len(times),
                   times[most] / sum(times) if sum(times) else 1.0,
                   {column: value for column, value in found.items() if value is not None})


def profile(tool: str, command: Sequence[str]) -> Tuple[str, List[Launch]]:
    """Runs a program under Nsight Compute; metrics that it refuses are named and left out."""
    metrics = list(METRICS.values())
    try:
        return ncu.profile(tool, metrics, command, timeout=3600)
    except ncu.Failed as error:
        complaints = " ".join(re.findall(r"==(?:ERROR|WARNING)==.*", error.text))
        refused = [metric for metric in metrics
                   if re.search(rf"\b{re.escape(metric.split('.')[0])}\b", complaints)]
        if not refused:
            raise
    say(f"not known to Nsight Compute here, left out: {', '.join(refused)}")
    return ncu.profile(tool, [metric for metric in metrics if metric not in refused], command,
                       timeout=3600)


def measure(tool: str, program: Path, study: str, options: Sequence[str]) -> Tuple[str,
                                                                                   List[Slice]]:
    """What the program printed, and the kernels of its versions, each launched once. One run for
    all versions, or one per version if kernels cannot be assigned to versions otherwise."""
    command = [str(program), "--study", study, "--profile", "1"]
    printed, launches = profile(tool, [*command, *options])
    found = ncu.slices(printed, launches)
    if found is None:
        at = list(options).index("--only") if "--only" in options else len(options)
        rest = [*options[:at], *options[at + 2:]]
        found = []
        for version in dict.fromkeys(version for version, _ in ncu.launched(printed)):
            one, launches = profile(tool, [*command, "--only", version, *rest])
            own = ncu.slices(one, launches)
            if own is None:
                raise Problem(f"whose are the kernels of {version}? Give one --size")
            found += own
    for part in found:
        if not part.launches:
            say(f"{part.version} launched no kernel of its own: left out")
    if not any(part.launches for part in found):
        raise Problem(f"{program.name} launched no kernel of the study '{study}'")
    return printed, [part for part in found if part.launches]


def machine_of(printed: str) -> Dict[str, str]:
    """GPU and CUDA from the heading that a chapter's program prints."""
    found = re.search(r"(?m)^(.+), compute capability .*\bCUDA (\d+\.\d+)", printed)
    if not found:
        raise Problem("the program did not name its GPU: is it a chapter's, built for a GPU?")
    return {"gpu": found[1], "cuda": found[2]}


def record(tool: str, program: Path, study: str, options: Sequence[str],
           known: Dict[str, str]) -> Record:
    """Measures; `known` are the lines of the header that the program cannot know."""
    printed, parts = measure(tool, program, study, options)
    header = {**known, **machine_of(printed), "study": study,
              "ncu": ncu.tool_version(tool, "Version")}
    return Record(Path(), header, tuple(longest(part) for part in parts))


# The file

def text_of(measured: Record) -> str:
    """The file: a comment that names the source of the numbers, then one line per version."""
    out = io.StringIO()
    facts = [f"{name}: {measured.header[name]}" for name in HEADER if measured.header.get(name)]
    out.write(f"# {', '.join(facts)}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*FIRST_COLUMNS, *METRICS])
    for row in measured.rows:
        values = [row.get(column) for column in METRICS]
        writer.writerow([row.version, row.size, row.kernel, row.launches, f"{row.time_share:.4g}"]
                        + ["" if value is None else f"{value:.12g}" for value in values])
    return out.getvalue()


def _row(record: Dict[str, Optional[str]], where: str) -> Limiter:
    if None in record or None in record.values():
        raise ResultError(f"{where}: not as many fields as columns")
    try:
        numbers = {name: float(record[name] or "") for name in record
                   if name not in FIRST_COLUMNS and record[name]}
        return Limiter(record["version"] or "", record["size"] or "", record["kernel"] or "",
                       int(record["launches"] or ""), float(record["time_share"] or ""), numbers)
    except (KeyError, ValueError) as error:
        raise ResultError(f"{where}: not a line of limiters ({error})") from None


def load(path: Path) -> Record:
    """Reads and checks what `text_of` wrote."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise ResultError(f"{path}: no such file (common/profile writes it, on a GPU)") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ResultError(f"{path}: cannot be read ({error})") from None
    if len(lines) < 3 or not lines[0].startswith("# ") or not lines[1].startswith("version,"):
        raise ResultError(f"{path}: not a file of limiters, as common/profile writes it")
    header = dict(fact.split(": ", 1) for fact in lines[0][2:].split(", ") if ": " in fact)
    rows = tuple(_row(line, f"{path}:{number}")
                 for number, line in enumerate(csv.DictReader(lines[1:]), 3))
    return Record(Path(path), header, rows)


# Numbers as text

def _percent(value: Optional[float]) -> str:
    if value is None:
        return "-"
    return f"{value:.1f} %" if value < 10 else f"{value:.0f} %"


def _plain(value: Optional[float], places: int) -> str:
    return "-" if value is None else f"{value:.{places}f}"


def _count(value: Optional[float]) -> str:
    return "-" if value is None else f"{value:.0f}"


def _share(row: Limiter, group: str) -> str:
    return _percent(100 * row.shares[group] if row.shares else None)


def _time(row: Limiter) -> str:
    value = row.get("time_ns")
    return "-" if value is None else tables.time_text(value * 1e-9)


def most_waited_for(row: Limiter) -> str:
    """The largest group of a warp's time in words: 'memory 78 %'."""
    if not row.shares:
        return "-"
    group = max(row.shares, key=lambda name: row.shares[name])
    return f"{group} {_share(row, group)}"


FIELDS: Dict[str, Tuple[str, Callable[[Limiter], str]]] = {
    "time": ("time", _time),
    "dram": ("DRAM %", lambda row: _percent(row.get("dram_percent"))),
    "dram_read": ("bytes read", lambda row: _count(row.get("dram_bytes_read"))),
    "dram_written": ("bytes written", lambda row: _count(row.get("dram_bytes_written"))),
    "l2": ("L2 %", lambda row: _percent(row.get("l2_percent"))),
    "l2_read": ("GB read from L2", lambda row: _plain(
        None if row.get("l2_sectors_read") is None
        else (row.get("l2_sectors_read") or 0) * 32e-9, 2)),
    "sm_read": ("GB come to SMs", lambda row: _plain(
        None if row.get("sm_bytes_read") is None
        else (row.get("sm_bytes_read") or 0) * 1e-9, 2)),
    "sm": ("SM %", lambda row: _percent(row.get("sm_percent"))),
    "tensor": ("tensor cores busy %", lambda row: _percent(row.get("tensor_percent"))),
    "fma": ("multiply-add units busy %", lambda row: _percent(row.get("fma_percent"))),
    "data": ("shared memory and L1 busy %", lambda row: _percent(row.get("data_percent"))),
    "issue": ("issue slots %", lambda row: _percent(row.get("issue_percent"))),
    "lanes": ("lanes of 32", lambda row: _plain(row.get("lanes_per_instruction"), 1)),
    "warp_instructions": ("warp instructions", lambda row: _count(row.get("warp_instructions"))),
    "millions": ("million warp instructions",
                 lambda row: _plain(None if row.get("warp_instructions") is None
                                    else (row.get("warp_instructions") or 0) / 1e6, 0)),
    "shared_wavefronts": ("wavefronts per shared request", lambda row: _plain(row.wavefronts, 2)),
    "atomic_wavefronts": ("wavefronts per shared atomic",
                          lambda row: _plain(row.atomic_wavefronts, 2)),
    "warps": ("warps resident %", lambda row: _percent(row.get("warps_percent"))),
    "stall": ("most waited for", most_waited_for),
    "launches": ("launches", lambda row: str(row.launches)),
    "time_share": ("share of the time", lambda row: _percent(100 * row.time_share)),
    **{f"stall_{group}": (f"{group} %", lambda row, group=group: _share(row, group))
       for group in GROUPS},
}
FIELDS.update({f"cycles_{reason}": (f"{words}, cycles",
                                    lambda row, reason=reason: _plain(row.get(f"stall_{reason}"), 1))
               for reason, words in (("barrier", "barrier"),
                                     ("long_scoreboard", "global memory"))})
STANDARD_FIELDS = ("dram", "issue", "lanes", "shared_wavefronts", "stall")


def _field(name: str) -> Tuple[str, Callable[[Limiter], str]]:
    if name not in FIELDS:
        raise ResultError(f"unknown column '{name}' (known: {', '.join(FIELDS)})")
    return FIELDS[name]


def cell(row: Limiter, field: str) -> str:
    """One field of a row as text."""
    return _field(field)[1](row)


def table(measured: Record, rows: Sequence[Limiter],
          fields: Sequence[str] = STANDARD_FIELDS) -> Table:
    """One line per version."""
    return (["version"] + [_field(field)[0] for field in fields],
            [[measured.label(row)] + [cell(row, field) for field in fields] for row in rows])


def note(measured: Record) -> str:
    """Which rows describe one of several launches; empty if none does."""
    several = [f"{measured.label(row)} 1 of {row.launches} ({_percent(100 * row.time_share)})"
               for row in measured.rows if row.launches > 1]
    return ("Of several launches the longest, with its share of their time: "
            f"{', '.join(several)}.") if several else ""
