"""compute-sanitizer over test programs: its four tools, each in shards, several at once.

A sanitizer keeps one core of the host busy and the GPU mostly idle, so the tests of a chapter run
in many processes: GoogleTest gives each shard its part of them.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import BUILD, ROOT, Problem, build, machine
from .steps import signal_group

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
# synccheck follows too few barriers of a block on its own: 32 ended a kernel (2025.3.1).
OPTIONS = {"synccheck": ("--num-cuda-barriers", "64")}
BEGIN_WITH = ("racecheck", "initcheck", "memcheck", "synccheck")  # the slow ones
OK, FAILED, ENDED, LEFT = "ok", "FAILED", "ended", "left"  # ended: stopped at the time limit


class Shard(NamedTuple):
    """A part of a test program's tests under one tool."""

    program: Path
    tool: str
    index: int
    count: int

    @property
    def name(self) -> str:
        return f"{self.tool} {self.index + 1} of {self.count}"

    @property
    def log(self) -> Path:
        return (BUILD / "sanitize"
                / f"{self.program.name}-{self.tool}-{self.index + 1}of{self.count}.log")


def find() -> str:
    """compute-sanitizer, from PATH or beside nvcc."""
    nvcc = machine.probe_nvcc().where
    home = Path(machine.toolkit_nvcc(nvcc)).parents[1] if nvcc else Path("/usr/local/cuda")
    folders = [os.environ.get("PATH", ""), str(home / "bin"), str(home / "compute-sanitizer")]
    found = shutil.which("compute-sanitizer", path=os.pathsep.join(folders))
    if not found:
        raise Problem("compute-sanitizer not found: it comes with the full CUDA toolkit")
    return found


def workers() -> int:
    """Processes at once: as many as cores; with half as many, half of 16 cores were idle."""
    return max(1, build.workers())


def shards(program: Path) -> List[Shard]:
    """All shards of a program in the order of their start. Only chapters' tests are divided: those
    of common/ may use the same files."""
    count = min(32, workers()) if program.name[0].isdigit() else 1
    return [Shard(program, tool, index, count) for tool in BEGIN_WITH for index in range(count)]


def start(sanitizer: str, shard: Shard) -> "subprocess.Popen[Any]":
    """The process of a shard, in a group of its own; tests that provoke errors ('Expects') are
    left out."""
    shard.log.parent.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ, COURSE_SANITIZE=shard.tool,
                       GTEST_TOTAL_SHARDS=str(shard.count), GTEST_SHARD_INDEX=str(shard.index))
    with open(shard.log, "wb") as log:
        return subprocess.Popen(
            [sanitizer, "--tool", shard.tool, *OPTIONS.get(shard.tool, ()), "--error-exitcode", "1",
             "--require-cuda-init=no", str(shard.program), "--gtest_filter=-*Expects*"], stdin=subprocess.DEVNULL,
            stdout=log, stderr=subprocess.STDOUT, cwd=str(ROOT), env=environment,
            preexec_fn=os.setpgrp)


def end(process: "subprocess.Popen[Any]") -> None:
    """End a process and the processes that it started."""
    signal_group(process, signal.SIGKILL)
    process.wait()


def run(sanitizer: str, wanted: Sequence[Shard], at_once: int,
        ended: Callable[[Shard, str, float], None], deadline: Optional[float] = None) -> None:
    """Run the shards, `at_once` at a time, and call `ended` with verdict and seconds of each.

    At the deadline (of time.monotonic()) running shards are stopped: a shard that had not finished
    is ENDED and one that had not started is LEFT, never OK.
    """
    for shard in wanted:
        shard.log.unlink(missing_ok=True)  # of an earlier run
    waiting = list(wanted)
    running: Dict[Shard, Tuple["subprocess.Popen[Any]", float]] = {}
    try:
        while waiting or running:
            if deadline is not None and time.monotonic() > deadline:
                break
            while waiting and len(running) < at_once:
                shard = waiting.pop(0)
                running[shard] = (start(sanitizer, shard), time.monotonic())
            time.sleep(0.02)
            for shard, (process, begun) in list(running.items()):
                if process.poll() is not None:
                    del running[shard]
                    ended(shard, FAILED if process.returncode else OK, time.monotonic() - begun)
        for shard, (process, begun) in list(running.items()):
            end(process)
            del running[shard]
            ended(shard, ENDED, time.monotonic() - begun)
        for shard in waiting:
            ended(shard, LEFT, 0)
    finally:  # Ctrl-C
        for process, _ in running.values():
            end(process)


def verdict_of(verdicts: Sequence[str]) -> str:
    """The verdict of all shards together: a failed one counts more than an unfinished one."""
    for word in (FAILED, ENDED, LEFT):
        if word in verdicts:
            return word
    return OK


def join_logs(parts: Sequence[Shard]) -> Path:
    """The shards' logs of one tool in one file; a shard that never started has none."""
    whole = BUILD / f"sanitize-{parts[0].program.name}-{parts[0].tool}.log"
    with open(whole, "wb") as file:
        for shard in parts:
            file.write(f"== {shard.name}\n".encode())
            file.write(shard.log.read_bytes() if shard.log.exists() else b"not begun\n")
    return whole
