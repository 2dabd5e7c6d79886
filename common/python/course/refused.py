"""Answers to exercises that must be refused: a solution with one text replaced; tests/exercises/NN.json.

python3 -m course.refused LIST NAME SOLUTION OUTPUT   writes the changed copy of the solution
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Dict

from . import Problem, finish


def changed(answer: Dict[str, str], solution: str) -> str:
    """The solution with `find`, which must stand in it once, replaced; its first line is what the
    CPU backend must say to it."""
    count = solution.count(answer["find"])
    if count != 1:
        raise Problem(f"{answer['name']}: '{answer['find']}' stands {count} times in the solution "
                      f"of {answer['exercise']}, not once")
    return f"// {answer['says']}\n{solution.replace(answer['find'], answer['replace'])}"


def main(arguments: list) -> int:
    listed, name, solution, output = arguments
    answers = json.loads(Path(listed).read_text(encoding="utf-8"))
    answer = next(one for one in answers if one["name"] == name)
    Path(output).parent.mkdir(parents=True, exist_ok=True)
    Path(output).write_text(changed(answer, Path(solution).read_text(encoding="utf-8")),
                            encoding="utf-8")
    return 0


if __name__ == "__main__":
    finish("course.refused", main)
