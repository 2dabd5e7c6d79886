"""The lists of mutants, and who counts as a catcher; ctest runs each mutant where it is built."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path
from typing import Any, Dict

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common" / "python"))

from course import Problem, chapters, mutants, recorded, results  # noqa: E402

LISTS = sorted((ROOT / "tests" / "mutants").glob("*.json"))


def row(n: int, words: str = "", finding: str = "") -> Dict[str, Any]:
    findings = [{"kind": finding, "text": f"{finding} at {n}"}] if finding else []
    return {"size": {"n": n}, "verified": not words, "skipped": words or None,
            "findings": findings}


class Lists(unittest.TestCase):
    def test_each_mutant_changes_one_place(self) -> None:
        for file in LISTS:
            chapter = chapters.find(file.stem)
            known = mutants.load(chapter)
            self.assertGreaterEqual(len(known), 5, file)
            self.assertEqual(len({mutant.name for mutant in known}), len(known), file)
            for mutant in known:
                with self.subTest(chapter=chapter.name, mutant=mutant.name):
                    source, line = mutant.place()
                    self.assertNotEqual(mutant.find, mutant.replace)
                    self.assertEqual(mutant.find.count("\n"), mutant.replace.count("\n"),
                                     "the lines of reports are those of the version")
                    self.assertIn(mutant.replace.splitlines()[0], source.splitlines()[line - 1])
                    self.assertTrue(mutant.caught_by and mutant.hint and mutant.sizes)

    def test_there_are_lists(self) -> None:
        self.assertIn("01", [file.stem for file in LISTS])

    def test_names(self) -> None:
        chapter = chapters.find("01")
        name = mutants.load(chapter)[0].name
        for asked in (name, f"01:{name}", f"01_vector_add:{name}"):
            self.assertEqual(mutants.find(chapter, asked).name, name)
        for asked in ("", "01:", f"02:{name}", "nothing"):
            with self.assertRaisesRegex(Problem, f"01_vector_add has: 01:{name}, "):
                mutants.find(chapter, asked)


class Catchers(unittest.TestCase):
    def test_comparison_error_and_checkers(self) -> None:
        seen = mutants.catches({"results": [
            row(1), row(2, "cudaErrorInvalidConfiguration (...)"), row(3, "1 of 3 wrong in c"),
            row(4, "2 of 4 wrong in c"), row(5, "right, but not by the rules: x", "race"),
            row(6, "cudaErrorIllegalAddress (...)", "bounds")]})
        self.assertEqual(seen, {
            "error": "cudaErrorInvalidConfiguration (...) (n = 2)",
            "compare": "1 of 3 wrong in c (n = 3)", "race": "race at 5", "bounds": "bounds at 6"})

    def test_nothing_wrong_is_caught_by_nobody(self) -> None:
        self.assertEqual(mutants.catches({"results": [row(1), row(2)]}), {})

    def test_the_error_of_a_stopped_kernel_is_its_checkers(self) -> None:
        only = mutants.catches({"results": [row(1, "cudaErrorIllegalAddress (...)", "bounds")]})
        self.assertEqual(list(only), ["bounds"])


class Recorded(unittest.TestCase):
    def test_rates_of_every_study(self) -> None:
        result = results.load(ROOT / "chapters/01_vector_add/results/h200.json")
        text = recorded.source(result)
        best = next(r for r in result.rows_of("sequence") if r.version == "06_vectors")
        self.assertIn(f'{{"sequence", "06_vectors", 0, {best.rate!r}}},', text)
        self.assertIn('{"stride", "strided_copy", 32, ', text)
        self.assertIn(f'"{result.gpu.name}", "{result.date[:10]}"', text)
        self.assertNotIn("None", text)


if __name__ == "__main__":
    unittest.main()
