"""Mutants: versions with a known bug, planted to test the checks; tests/mutants/NN.json.

python3 -m course.mutants apply NN NAME OUTPUT   writes the changed copy of the version
python3 -m course.mutants check NN NAME PROGRAM  runs a program built from it; 1 if a catcher slept
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

from . import ROOT, Problem, chapters, finish, say
from .chapters import Chapter

REASON = "--break needs its checkers"  # why a chapter with a planted bug runs on the CPU backend


class Mutant(NamedTuple):
    """One planted bug: `find` occurs once in `file` and becomes `replace`."""

    chapter: Chapter
    name: str
    file: str
    find: str
    replace: str
    caught_by: Tuple[str, ...]  # "compare", "error", or a checker of the CPU backend
    hint: str
    study: str
    version: str
    sizes: str
    threads: int = 1  # host threads; on one, a block without a wait ends before the next begins

    @property
    def target(self) -> str:
        """The CMake target of its program."""
        return f"{self.chapter.name}_mutant_{self.name}"

    def place(self) -> Tuple[str, int]:
        """The source with the bug in it, and the line where the change begins."""
        file = self.chapter.path / self.file
        source = file.read_text(encoding="utf-8")
        if source.count(self.find) != 1:
            raise Problem(f"mutant {self.name}: '{self.find}' stands {source.count(self.find)} "
                          f"times in {file.name}, not once")
        return (source.replace(self.find, self.replace),
                source[:source.index(self.find)].count("\n") + 1)


def load(chapter: Chapter) -> List[Mutant]:
    """The mutants of a chapter; none if it has no list."""
    file = ROOT / "tests" / "mutants" / f"{chapter.number}.json"
    if not file.exists():
        return []
    known = json.loads(file.read_text(encoding="utf-8"))
    return [Mutant(chapter, one["name"], one["file"], one["find"], one["replace"],
                   tuple(one["caught_by"]), one["hint"], one.get("study", "sequence"),
                   one.get("version", Path(one["file"]).stem), one.get("sizes", known["sizes"]), one.get("threads", 1))
            for one in known["mutants"]]


def find(chapter: Chapter, asked: str) -> Mutant:
    """The mutant meant by 'no_tail_guard' or '01:no_tail_guard'."""
    number, _, name = asked.rpartition(":")
    known = load(chapter)
    if number in ("", chapter.number, chapter.name):
        for mutant in known:
            if mutant.name == name:
                return mutant
    there = ", ".join(f"{chapter.number}:{mutant.name}" for mutant in known) or "none"
    raise Problem(f"no mutant '{asked}'; {chapter.name} has: {there}", 2)


def names_a_chapter(chapter: Chapter, asked: str) -> bool:
    """True for '', '01', '01:', 'vector_add' and 'list': which mutants are there?"""
    number = str(int(chapter.number)) if chapter.number.isdigit() else ""
    return asked.rstrip(":") in ("", chapter.number, chapter.name, number, "list",
                                 chapter.name.partition("_")[2])


def table(chapter: Chapter) -> str:
    """The mutants of a chapter, two lines each: what to type, where it is, and a question."""
    lines = [f"  {f'{chapter.number}:{mutant.name}':<34} in {mutant.file}\n      {mutant.hint}"
             for mutant in load(chapter)]
    return "\n".join(lines) or f"{chapter.name} has no bugs to plant"


def catches(report: Dict[str, Any]) -> Dict[str, str]:
    """The checks that caught the bug, each with its first message, from a result file."""
    seen: Dict[str, str] = {}
    for row in report["results"]:
        for finding in row.get("findings", []):
            seen.setdefault(finding["kind"], finding["text"])
        words = row["skipped"] or ""
        # A checker stops the kernel with CUDA's error where a GPU might have continued.
        by_checker = row.get("findings") and words.startswith(("right, but", "cudaError"))
        if row["verified"] is False and not by_checker:
            size = ", ".join(f"{name} = {value}" for name, value in row["size"].items())
            seen.setdefault("error" if words.startswith("cudaError") else "compare",
                            f"{words} ({size})")
    return seen


def run(mutant: Mutant, program: Path) -> Dict[str, str]:
    """Run the program of a mutant on its sizes; who caught it. On one thread, where a run repeats
    exactly: what a bug breaks first may depend on how blocks run side by side. (On more where the
    list says so: for what blocks tell each other through a queue.) And on a small device, where loops over tiles turn more than once at small sizes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "result.json"
        done = subprocess.run([str(program), "--check", "--study", mutant.study, "--only",
                               mutant.version, "--size", mutant.sizes, "--json", str(file)],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", check=False,
                              env={**os.environ, "SIMT_THREADS": str(mutant.threads),
                                   "SIMT_SMS": "2"})
        try:
            report = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise Problem(f"the mutant {mutant.name} ended without a result (exit code "
                          f"{done.returncode}):\n{done.stdout}") from None
    return catches(report)


def asleep(mutant: Mutant, seen: Dict[str, str]) -> Sequence[str]:
    """The catchers that had to see the bug and did not."""
    return [catcher for catcher in mutant.caught_by if catcher not in seen]


def main(arguments: List[str]) -> int:
    action, number, name, path = arguments
    mutant = find(chapters.find(number), name)
    if action == "apply":
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(mutant.place()[0], encoding="utf-8")
        return 0
    seen = run(mutant, Path(path))
    for catcher, words in seen.items():
        say(f"{catcher}: {words}")
    for catcher in asleep(mutant, seen):
        say(f"FAILED: not caught by {catcher}")
    return 1 if asleep(mutant, seen) else 0


if __name__ == "__main__":
    finish("course.mutants", main)
