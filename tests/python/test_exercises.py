"""The exercises of all chapters on paper: numbers, pages, hints, and the answers to be refused."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common" / "python"))

from course import Problem, chapters, exercises, refused  # noqa: E402

ANSWER = {"exercise": "1_x", "name": "slow", "find": "fast", "replace": "slow",
          "says": "NOT YET: right, but slow"}


def with_exercises():
    return [chapter for chapter in chapters.every() if chapter.exercises()]


class Pages(unittest.TestCase):
    """What a reader sees of an exercise agrees with its number."""

    def test_numbers_count_up(self):
        for chapter in with_exercises():
            numbers = list(chapter.exercises())
            self.assertEqual(numbers, list(range(1, len(numbers) + 1)), chapter.name)

    def test_each_speaks_of_itself(self):
        for chapter in with_exercises():
            for number, starter in chapter.exercises().items():
                page, solution = starter.with_suffix(".md"), starter.parent / "solution"
                run = f"./chapters/run {chapter.number} --exercise {number}\n"
                text = page.read_text(encoding="utf-8")
                with self.subTest(f"{chapter.name} {starter.stem}"):
                    self.assertIn(f"    {run}", text)
                    self.assertIn(f"(solution/{starter.name})", text)
                    self.assertIn(f"`{starter.name}`", text)
                    code = starter.read_text(encoding="utf-8")
                    self.assertTrue(code.startswith(f"// Exercise {number}: "), code[:60])
                    self.assertIn(run.strip(), code)
                    answer = (solution / starter.name).read_text(encoding="utf-8")
                    self.assertRegex(answer, rf"^// Exercise {number}, solved[.:]")

    def test_each_has_hints_and_minutes(self):
        for chapter in with_exercises():
            for one, starter in zip(exercises.entries(chapter), chapter.exercises().values()):
                text = starter.with_suffix(".md").read_text(encoding="utf-8")
                with self.subTest(f"{chapter.name} {starter.stem}"):
                    hints = re.findall(r"<details><summary>Hint (\d+)</summary>", text)
                    self.assertEqual(hints, [str(k + 1) for k in range(len(hints))])
                    self.assertGreaterEqual(len(hints), 1 if int(one.minutes) <= 5 else 2)
                    self.assertIn(f"| {one.number} | {one.minutes} | ",
                                  (chapter.path / "README.md").read_text(encoding="utf-8"))

    def test_they_begin_small(self):
        for chapter in with_exercises():
            minutes = [int(one.minutes) for one in exercises.entries(chapter)]
            self.assertLessEqual(max(minutes[:2]), 10, chapter.name)
            self.assertGreaterEqual(minutes[-1], max(minutes[:-1]), chapter.name)


@unittest.skipUnless(shutil.which("cmake"), "no CMake: NOT TESTED")
class Judged(unittest.TestCase):
    """tests/exercise.cmake: which end of an exercise's program is a passed test."""

    def end_of(self, kind, said, code):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "program"
            program.write_text(f"#!/bin/sh\necho '{said}'\nexit {code}\n")
            program.chmod(0o755)
            done = subprocess.run(
                ["cmake", f"-DPROGRAM={program}", f"-DKIND={kind}", "-P",
                 str(ROOT / "tests" / "exercise.cmake")], stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, check=False)
        return ("failed" if done.returncode else "skipped" if "SKIPPED" in done.stdout else
                "passed")

    def test_solutions_pass_and_starters_do_not(self):
        slow = "NOT YET: 1.05x of 05_shared_tile, and it takes 1.20x"
        counts = " (or few enough counts: --backend cpu)"
        for kind, said, code, end in (
                ("solution", "PASSED", 0, "passed"), ("starter", "PASSED", 0, "failed"),
                ("starter", slow, 1, "passed"), ("starter", "broke", 1, "failed"),
                ("solution", slow, 1, "failed"), ("solution", slow + counts, 1, "failed"),
                ("solution", slow + ", a factor for an H100 or H200" + counts, 1, "skipped"),
                ("solution", "NOT YET: wrong at n=1", 1, "failed")):
            self.assertEqual(self.end_of(kind, said, code), end, (kind, said))


class Refused(unittest.TestCase):
    """tests/exercises/NN.json."""

    def test_every_answer_fits_its_solution(self):
        names = []
        for file in sorted((ROOT / "tests" / "exercises").glob("*.json")):
            chapter = chapters.find(file.stem)
            for answer in json.loads(file.read_text(encoding="utf-8")):
                solution = chapter.path / "exercises/solution" / f"{answer['exercise']}.cu"
                refused.changed(answer, solution.read_text(encoding="utf-8"))
                self.assertTrue(answer["says"].startswith("NOT YET: "), answer["name"])
                names.append((file.stem, answer["name"]))
        self.assertEqual(len(names), len(set(names)))
        self.assertTrue(names)

    def test_the_text_must_stand_there_once(self):
        self.assertEqual(refused.changed(ANSWER, "it is fast"),
                         "// NOT YET: right, but slow\nit is slow")
        for solution, count in (("it is not", 0), ("fast, fast", 2)):
            with self.assertRaisesRegex(Problem, f"'fast' stands {count} times"):
                refused.changed(ANSWER, solution)

    def test_command(self):
        with tempfile.TemporaryDirectory() as folder:
            listed, solution, output = (Path(folder) / name for name in ("a.json", "s.cu", "o/o.cu"))
            listed.write_text(json.dumps([ANSWER]))
            solution.write_text("fast\n")
            self.assertEqual(refused.main([str(listed), "slow", str(solution), str(output)]), 0)
            self.assertTrue(output.read_text().endswith("slow\n"))


if __name__ == "__main__":
    unittest.main()
