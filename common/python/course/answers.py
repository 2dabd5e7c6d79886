"""Answers to exercises, and the verdicts that the CPU backend must give.

Right answers with other designs than the solution's, and wrong ones that are tempting. An answer is
a namespace in a file of tests/exercises/NN, with its verdicts for the exercises that it answers:

    namespace one_thread {
    // 1 2 3: NOT YET: right, but one after the other
    ...
    }  // namespace one_thread

or a text of a solution, replaced, in tests/exercises/NN.json. All answers to an exercise become one
program, which calls the one that COURSE_ANSWER names.

python3 -m course.answers write CHAPTER STEM OUTPUT     makes the program's source
python3 -m course.answers check CHAPTER STEM PROGRAM [NAME...]   runs it once for each answer
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Dict, List, NamedTuple, Tuple

from . import Problem, chapters, finish

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "tests" / "exercises"
PART = re.compile(r"^namespace (\w+) \{\n((?:// [1-9 ]+: .*\n)+)(?:.*\n)*?\}  // namespace \1\n",
                  re.M)
VERDICT = re.compile(r"^// ([1-9 ]+): ((?:PASSED|RIGHT;|NOT YET:).*)$", re.M)
LAUNCHER = re.compile(r"^cudaError_t (\w+)\(((?:[^()]|\([^()]*\))*)\) \{", re.M)
SECONDS = 200


class Answer(NamedTuple):
    name: str
    says: str  # the first words of its verdict
    code: str
    head: str = ""  # the text before the first answer of its file


def changed(answer: Dict[str, str], solution: str) -> str:
    """The solution with `find` replaced, which must occur once, in a namespace of its own."""
    count = solution.count(answer["find"])
    if count != 1:
        raise Problem(f"{answer['name']}: '{answer['find']}' stands {count} times in the solution "
                      f"of {answer['exercise']}, not once")
    return re.sub(r"\bnamespace exercise\b", f"namespace {answer['name']}",
                  solution.replace(answer["find"], answer["replace"]))


def of_text(text: str, number: str) -> List[Answer]:
    """The answers to an exercise in the text of a file."""
    found: List[Answer] = []
    parts = list(PART.finditer(text))
    for part, later in zip(parts, parts[1:]):
        lost = re.search(r"^(?!//).+", text[part.end():later.start()], re.M)
        if lost:
            raise Problem(f"between {part[1]} and {later[1]}: '{lost[0]}' would be in no program; what "
                          f"answers share stands before the first of them")
    for part in parts:
        verdicts = VERDICT.findall(part[2])
        if not verdicts:
            raise Problem(f"{part[1]}: no verdict: {part[2]}")
        found += [Answer(part[1], says, part[0], text[:parts[0].start()])
                  for numbers, says in verdicts if number in numbers.split()]
    return found


def of_exercise(chapter: str, stem: str) -> List[Answer]:
    found: List[Answer] = []
    listed = FOLDER / f"{chapter[:2]}.json"
    if listed.exists():
        solution = (chapters.find(chapter[:2]).path / "exercises" / "solution" / f"{stem}.cu"
                    ).read_text(encoding="utf-8")
        found += [Answer(one["name"], one["says"], changed(one, solution))
                  for one in json.loads(listed.read_text(encoding="utf-8"))
                  if one["exercise"] == stem]
    for file in sorted((FOLDER / chapter[:2]).glob("*.cu")):
        found += of_text(file.read_text(encoding="utf-8"), stem[0])
    names = [answer.name for answer in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise Problem(f"{chapter[:2]}, {stem}: two answers are called {', '.join(sorted(twice))}")
    return found


def launcher(solution: str) -> Tuple[str, str, List[str]]:
    """The function that the tests call, the solution's last one: its name, its parameters, and the
    names of the arguments."""
    found = LAUNCHER.findall(solution)
    if not found:
        raise Problem("no launcher: 'cudaError_t name(...) {' at the start of a line")
    name, parameters = found[-1]
    flat = re.sub(r"\(\*(\w+)\)\([^()]*\)", r"\1", re.sub(r"<[^<>]*>", "", parameters))
    return name, parameters, [re.findall(r"\w+", one)[-1] for one in flat.split(",")]


def program(chapter: str, stem: str) -> str:
    """The source of all answers to an exercise, and of the launcher that calls the chosen one."""
    answers = of_exercise(chapter, stem)
    solution = (chapters.find(chapter[:2]).path / "exercises" / "solution" / f"{stem}.cu"
                ).read_text(encoding="utf-8")
    name, parameters, called = launcher(solution)
    lines = [f"// All answers to {stem} of {chapter}, made by course.answers: change them there.",
             *dict.fromkeys(answer.head for answer in answers),
             *(answer.code for answer in answers),
             "#include <cstdlib>", "#include <string>", "namespace exercise {",
             f"cudaError_t {name}({parameters}) {{",
             '  const char* const asked = std::getenv("COURSE_ANSWER");',
             '  const std::string answer = asked == nullptr ? "" : asked;']
    lines += [f'  if (answer == "{one.name}") return {one.name}::{name}({", ".join(called)});'
              for one in answers]
    return "\n".join([*lines, "  return cudaErrorUnknown;", "}", "}  // namespace exercise", ""])


def judged(program_file: str, answer: Answer) -> str:
    """Nothing, or how the verdict differs from the wanted one."""
    environment = dict(os.environ, COURSE_ANSWER=answer.name)
    try:
        done = subprocess.run([program_file], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=environment, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"{answer.name}: not over after {SECONDS} s"
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    verdict = next((line for line in reversed(lines)
                    if line.startswith(("PASSED", "RIGHT;", "NOT YET: "))), "")
    expected = {"PASSED": "0", "RIGHT;": "3"}.get(answer.says[:6], "other")
    code = str(done.returncode) if done.returncode in (0, 3) else "other"
    if verdict.startswith(answer.says) and code == expected:
        return ""
    return "\n  ".join([f"{answer.name}: {verdict or 'no verdict'}", f"must be {answer.says}",
                        *(lines[-4:] if not verdict else [])])


def check(chapter: str, stem: str, program_file: str, names: List[str]) -> int:
    answers = [one for one in of_exercise(chapter, stem) if not names or one.name in names]
    with ThreadPoolExecutor(max_workers=2) as pool:
        wrong = [why for why in pool.map(lambda one: judged(program_file, one), answers) if why]
    print("\n".join([*wrong, f"{len(answers) - len(wrong)} of {len(answers)} answers judged as "
                             "they must be"]))
    return 1 if wrong or not answers else 0


def main(arguments: list) -> int:
    what, chapter, stem, file, *names = arguments
    if what == "check":
        return check(chapter, stem, file, names)
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    Path(file).write_text(program(chapter, stem), encoding="utf-8")
    return 0


if __name__ == "__main__":
    finish("course.answers", main)
