"""Steps of a long run under one budget: what was done before, what still fits, and what happened.

A state file keeps each step's verdict, its seconds and its sources, so that a later call continues
where this one ended.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from . import ROOT, say, shown

OK, FAILED, LEFT, SKIPPED, BEFORE = "ok", "FAILED", "left", "skipped", "done before"
GRACE_S = 10.0  # for a program to save what it finished, before it is ended


class Outcome(NamedTuple):
    """How a step ended; `why`: a line for the reader. `kept`: facts for the state file."""

    verdict: str
    why: str = ""
    kept: Dict[str, Any] = {}


class State:
    """The results of earlier calls, by step. Every change is written at once."""

    def __init__(self, file: Path) -> None:
        self.file = file
        try:
            self.steps: Dict[str, Dict[str, Any]] = dict(json.loads(file.read_text()))
        except (OSError, ValueError):
            self.steps = {}

    def of(self, step: str) -> Dict[str, Any]:
        known = self.steps.get(step)
        return known if isinstance(known, dict) else {}

    def put(self, step: str, **facts: Any) -> None:
        self.steps[step] = {**self.of(step), **facts}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        beside = self.file.with_suffix(".tmp")
        beside.write_text(json.dumps(self.steps, indent=2) + "\n")
        os.replace(beside, self.file)

    def done(self, step: str, sources: str) -> bool:
        known = self.of(step)
        return known.get("verdict") == OK and known.get("sources") == sources


class Budget:
    """Seconds for all steps of one call, from now on."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.begun = seconds, time.monotonic()

    @property
    def used(self) -> float:
        return time.monotonic() - self.begun

    @property
    def left(self) -> float:
        return self.seconds - self.used

    @property
    def end(self) -> float:
        return self.begun + self.seconds


class Ended(NamedTuple):
    """A program's exit code; None where the time limit ended it."""

    code: Optional[int]
    log: Path


def signal_group(process: "subprocess.Popen[Any]", number: int) -> None:
    try:
        os.killpg(process.pid, number)
    except OSError:
        pass  # it is over


def stop(process: "subprocess.Popen[Any]") -> None:
    """Ask the program and its children to end as on Ctrl-C, then kill them."""
    signal_group(process, signal.SIGINT)
    try:
        process.wait(GRACE_S)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        pass
    signal_group(process, signal.SIGKILL)
    process.wait()


def logged(command: Sequence[str], log: Path, limit: float) -> Ended:
    """Run a program of ours with its output in a log file, for at most `limit` seconds."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "wb") as file:
        process = subprocess.Popen(list(command), stdin=subprocess.DEVNULL, stdout=file,
                                   stderr=subprocess.STDOUT, cwd=str(ROOT),
                                   preexec_fn=os.setpgrp)
    try:
        return Ended(process.wait(max(limit, 1)), log)
    except subprocess.TimeoutExpired:
        stop(process)
        return Ended(None, log)
    except KeyboardInterrupt:
        stop(process)
        raise


def tail(log: Path, count: int = 12) -> str:
    """The last lines of a log, indented."""
    text = log.read_text(errors="replace") if log.exists() else ""
    return "\n".join(f"    {line}" for line in text.rstrip().splitlines()[-count:])


def outcome_of(ended: Ended) -> Outcome:
    """The outcome of a program; if it failed, with its last output."""
    if ended.code is None:
        return Outcome(LEFT, f"not over at the end of the budget; its words: {shown(ended.log)}")
    if ended.code:
        say(tail(ended.log))
        return Outcome(FAILED, f"exit code {ended.code}; its words: {shown(ended.log)}")
    return Outcome(OK)


class Line(NamedTuple):
    """One step in the table at the end."""

    step: str
    verdict: str
    seconds: float


def table(lines: Sequence[Line], budget: Budget) -> str:
    out: List[str] = [f"{'step':<10} {'verdict':<12} {'seconds':>8}"]
    out += [f"{line.step:<10} {line.verdict:<12} {line.seconds:>8.0f}" for line in lines]
    return "\n".join(out + [f"{'total':<10} {'':<12} {budget.used:>8.0f} "
                            f"of {budget.seconds:.0f} s"])
