"""The exercises of all chapters on paper: numbers, pages, hints, and answers to them."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common" / "python"))

from course import Problem, answers, build, chapters, exercises  # noqa: E402

ANSWER = {"exercise": "1_x", "name": "slow", "find": "fast", "replace": "slow",
          "says": "NOT YET: right, but slow"}
FILE = """#include <cstdint>

namespace one_thread {
// 1 3: NOT YET: right, but one after the other
// 2: PASSED
cudaError_t add(int n) { return one(n); }
}  // namespace one_thread

namespace two {
// 3: RIGHT;
}  // namespace two
"""


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
        for kind, said, code, end in (
                ("solution", "PASSED", 0, "passed"), ("starter", "PASSED", 0, "failed"),
                ("starter", slow, 1, "passed"), ("starter", "broke", 1, "failed"),
                ("solution", slow, 1, "failed"), ("solution", "RIGHT; 1.05x", 3, "passed"),
                ("starter", "RIGHT; 1.05x", 3, "skipped"),
                ("solution", "NOT YET: wrong at n=1", 1, "failed")):
            self.assertEqual(self.end_of(kind, said, code), end, (kind, said))

    def test_what_is_written_of_a_solution_is_what_it_takes(self):
        said = "in all, at n=9: {} sectors, 8 wavefronts, 7 requests in turn; the solution: 100, 8, 7\nPASSED"
        for sectors, end in ((100, "passed"), (130, "passed"), (134, "failed"), (60, "failed")):
            self.assertEqual(self.end_of("solution", said.format(sectors), 0), end, sectors)


class Answers(unittest.TestCase):
    """tests/exercises: wrong turns, and right answers of other designs."""

    def test_every_answer_is_found(self):
        for chapter in with_exercises():
            listed = ROOT / "tests" / "exercises" / f"{chapter.number}.json"
            asked = (json.loads(listed.read_text(encoding="utf-8")) if listed.exists() else [])
            stems = {starter.stem for starter in chapter.exercises().values()}
            self.assertLessEqual({one["exercise"] for one in asked}, stems)
            for stem in stems:
                for answer in answers.of_exercise(chapter.name, stem):
                    self.assertRegex(answer.says, "PASSED|RIGHT;|NOT YET:", answer.name)
            for file in (ROOT / "tests" / "exercises" / chapter.number).glob("*.cu"):
                text = file.read_text(encoding="utf-8")
                self.assertEqual(len(answers.PART.findall(text)),
                                 len(re.findall(r"^namespace \w+ \{\n// \d", text, re.M)), file)

    def test_beginners_kernels_and_other_designs(self):
        """Each exercise on a problem refuses two wrong turns or more, and takes three designs."""
        for chapter in with_exercises():
            for number, starter in chapter.exercises().items():
                if chapter.number == "00" and number > 3:
                    continue  # functions of the host
                says = [one.says for one in answers.of_exercise(chapter.name, starter.stem)]
                with self.subTest(f"{chapter.name} {starter.stem}"):
                    right = [one for one in says if not one.startswith("NOT YET:")]
                    self.assertGreaterEqual(len(says) - len(right), 2)
                    self.assertGreaterEqual(len(right), 3)

    def test_of_a_file(self):
        found = {number: answers.of_text(FILE, number) for number in "1234"}
        self.assertEqual([[one.name for one in found[number]] for number in "1234"],
                         [["one_thread"], ["one_thread"], ["one_thread", "two"], []])
        self.assertEqual(found["2"][0].says, "PASSED")
        self.assertEqual(found["3"][1].head, "#include <cstdint>\n\n")
        self.assertTrue(found["1"][0].code.endswith("return one(n); }\n}  // namespace one_thread\n"))

    def test_what_answers_share_stands_before_them(self):
        end = "}  // namespace one_thread\n"
        self.assertEqual(len(answers.of_text(FILE.replace(end, f"{end}// In doubles.\n"), "3")), 2)
        with self.assertRaisesRegex(Problem, "between one_thread and two: 'int three;' would be in no"):
            answers.of_text(FILE.replace(end, f"{end}int three;\n"), "3")

    def test_the_text_must_stand_there_once(self):
        self.assertEqual(answers.changed(ANSWER, "namespace exercise {\nit is fast"),
                         "namespace slow {\nit is slow")
        for solution, count in (("it is not", 0), ("fast, fast", 2)):
            with self.assertRaisesRegex(Problem, f"'fast' stands {count} times"):
                answers.changed(ANSWER, solution)

    def test_the_launcher_is_the_last(self):
        text = ("cudaError_t helper(int n) {\n}\ncudaError_t run(void (*launch)(), Pair<int, 2>& a,\n"
                "                float* b) {\n}\n")
        name, parameters, called = answers.launcher(text)
        self.assertEqual((name, called), ("run", ["launch", "a", "b"]))
        self.assertIn("Pair<int, 2>& a,", parameters)
        with self.assertRaisesRegex(Problem, "no launcher"):
            answers.launcher("int main() {}")

    def test_a_verdict_and_its_exit_code(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "program"
            for says, said, code, right in (
                    ("PASSED", "PASSED", 0, True), ("PASSED", "PASSED", 1, False),
                    ("RIGHT;", "RIGHT; no", 3, True), ("RIGHT;", "RIGHT; no", 0, False),
                    ("NOT YET: a", "NOT YET: ab", 66, True), ("NOT YET: b", "NOT YET: ab", 1, False),
                    ("NOT YET: a", "NOT YET: a", 0, False), ("PASSED", "", 0, False)):
                program.write_text(f"#!/bin/sh\necho '{said}'\nexit {code}\n")
                program.chmod(0o755)
                why = answers.judged(str(program), answers.Answer("x", says, ""))
                self.assertEqual(why == "", right, (says, said, code, why))


class NewerGpu(unittest.TestCase):
    """An exercise that the chosen architectures have not."""

    def test_one_line_says_what_it_needs(self):
        choice = build.Choice("cuda", "80-real;86-real", Path("x"), True, "NVIDIA A100")
        with mock.patch.object(build, "targets_of", return_value=["there"]):
            build.must_have(choice, "there", "exercise 1 of 09_tma")
            with self.assertRaisesRegex(Problem, "^exercise 1 of 09_tma needs compute capability 9.0: use "
                                        r"--backend cpu \(this build is for 8.0 and 8.6\)$"):
                build.must_have(choice, "absent", "exercise 1 of 09_tma")


if __name__ == "__main__":
    unittest.main()
