"""The time of tests/run: steps with their time and their processors' time, and the tests of each
kind."""

from __future__ import annotations

import os
import re
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Optional, Sequence

# The bar for half of all cores' time, of a quick run that builds everything anew.
FIXED_S, PER_CHAPTER_S = 5 * 60, 25

KINDS = (
    (r"ch\d\d\.(reverse|random)\.", "in other orders of threads"),
    (r"ch\d\d\.(forward\.)?(contract|second_gpu)\.", "contracts"),
    (r"ch\d\d\.(forward\.)?rows\.", "contracts"),
    (r"ch\d\d\.mutant", "mutants"),
    (r"ch\d\d\.exercise", "exercises"),
    (r"ch\d\d\.demo", "demos"),
    (r"ch\d\d\.(forward\.)?[A-Z]", "special tests of chapters"),
    (r"ch\d\d\.", "versions"),
    (r"simt\.", "the CPU backend itself"),
    (r"test_", "Python"),
    (r"", "the rest"),
)


class Step(NamedTuple):
    """Seconds by the clock, and of all processors together."""

    what: str
    wall_s: float
    cpu_s: float


class Spent:
    """Adds up the time of steps. Processors' time is that of processes that have ended."""

    def __init__(self) -> None:
        self.steps: List[Step] = []

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Times the body, whether it fails or not."""
        start, before = time.monotonic(), cpu_of_children()
        try:
            yield
        finally:
            self.steps.append(Step(what, time.monotonic() - start, cpu_of_children() - before))

    def half(self) -> float:
        """Half of all cores' time: the clock time on two quiet cores."""
        return sum(step.cpu_s for step in self.steps) / 2

    def of_parts(self, report: Path, parts: Sequence[str], common: str = "common") -> Dict[str, float]:
        """half(), divided among the parts of the course by the time of their tests."""
        took: "Counter[str]" = Counter()
        for name, seconds in tests_of(report):
            chapter = re.match(r"ch(\d\d)[.]", name)
            took[chapter.group(1) if chapter else common] += seconds
        every = sum(took.values()) or 1
        return {part: self.half() * took[part if part == common else part[:2]] / every for part in parts}

    def table(self, reports: List[Path], bar: Optional[float] = None) -> str:
        """The steps, the tests by kind, the longest ones, and the sum; the bar, if there is one."""
        lines = [f"{'where the time went':<44} {'seconds':>8} {'of all cores':>13}"]
        lines += [f"{step.what:<44} {step.wall_s:>8.0f} {step.cpu_s:>13.0f}"
                  for step in self.steps]
        tests = [test for report in reports if report.exists() for test in tests_of(report)]
        kinds: "Counter[str]" = Counter()
        for name, seconds in tests:
            kinds[kind_of(name)] += seconds
        lines += [f"  tests: {kind:<35} {seconds:>8.0f}"
                  for kind, seconds in kinds.most_common() if seconds >= 0.5]
        longest = sorted(tests, key=lambda test: -test[1])[:5]
        if longest:
            lines.append("  longest: " + ", ".join(f"{name} {seconds:.0f} s"
                                                   for name, seconds in longest))
        lines.append(f"half of all cores' time: {self.half():.0f} s"
                     + (f" (a fresh build: at most {bar:.0f} s)" if bar else ""))
        return "\n".join(lines)


def bar(chapters: int) -> float:
    """Seconds that a quick run of that many chapters may take on two quiet cores."""
    return FIXED_S + PER_CHAPTER_S * chapters


def cpu_of_children() -> float:
    """User and system time of the processes that were waited for."""
    times = os.times()
    return times.children_user + times.children_system


def kind_of(name: str) -> str:
    """The first kind whose pattern the test's name begins with."""
    return next(kind for pattern, kind in KINDS if re.match(pattern, name))


def tests_of(report: Path) -> "List[tuple[str, float]]":
    """Names and seconds in a JUnit report of ctest."""
    return [(case.get("name") or "", float(case.get("time") or 0))
            for case in ElementTree.parse(report).getroot().iter("testcase")]
