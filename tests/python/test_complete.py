"""A chapter with something missing is named with what is missing; the course itself is complete."""

import shutil
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common" / "python"))

from course import complete  # noqa: E402

NAME = "01_vector_add"


class Complete(unittest.TestCase):
    def test_the_course(self):
        self.assertEqual(complete.absent(ROOT), [])


class Absent(unittest.TestCase):
    """One chapter of rows and one of programs, copied; something is taken away."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name in (f"chapters/{NAME}", "chapters/00_first_steps"):
            shutil.copytree(ROOT / name, self.root / name, ignore=shutil.ignore_patterns("my"))
        for name in (f"tests/{NAME}_test.cpp", "tests/mutants/01.json",
                     "tests/python/test_first_steps.py", "README.md"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, self.root / name)
        self.chapter = self.root / "chapters" / NAME

    def expect(self, *lines):
        self.assertEqual(complete.absent(self.root), [f"chapters/{line}" for line in lines])

    def edit(self, name, old, new):
        path = self.root / name
        text = path.read_text(encoding="utf-8")
        self.assertIn(old, text)
        path.write_text(text.replace(old, new), encoding="utf-8")

    def test_copies_are_complete(self):
        self.expect()

    def test_files(self):
        for name, line in (
                ("exercises/3_tail.md", "no exercises/3_tail.md"),
                ("exercises/solution/3_tail.cu", "no exercises/solution/3_tail.cu"),
                ("results/h200.json",
                 "no results/h200.json (nor '<!-- unrecorded -->' in README.md)"),
                ("versions.cpp", "no versions.cpp")):
            with self.subTest(name):
                file = self.chapter / name
                kept = file.read_bytes()
                file.unlink()
                self.expect(f"{NAME}: {line}")
                file.write_bytes(kept)

    def test_the_lesson(self):
        (self.chapter / "README.md").unlink()
        lines = complete.absent(self.root)
        self.assertEqual(lines[0], f"chapters/{NAME}: no README.md")
        self.assertIn(f"chapters/{NAME}: 90_cub.cu is in no page", lines)

    def test_a_heading_without_its_number(self):
        self.edit(f"chapters/{NAME}/README.md", "# 01 ", "# ")
        self.expect(f"{NAME}: the first heading of README.md is not '# 01 Title: ...'")

    def test_the_front_page(self):
        self.edit("README.md", "| [01](", "| [1](")
        self.expect(f"{NAME}: no row of the table in the front page, README.md, leads to it")

    def test_a_drawn_page_that_no_lesson_shows(self):
        kept = self.chapter / "results" / "drawn"
        (kept / "page-other.json").write_text("{}", encoding="utf-8")
        self.expect(f"{NAME}: results/drawn/page-other.json is on no page")

    def test_tables_say_where_they_come_from(self):
        self.edit(f"chapters/{NAME}/results/h200-profile.csv", "# ", "")
        self.expect(f"{NAME}: results/h200-profile.csv does not begin with '# ' and where it "
                    "comes from")

    def test_pages_of_exercises(self):
        self.edit(f"chapters/{NAME}/exercises/3_tail.md", "(15 minutes)", "")
        self.edit(f"chapters/{NAME}/README.md", "(exercises/2_two_each.md)", "(more.md)")
        self.expect(f"{NAME}: README.md does not lead to exercises/2_two_each.md",
                    f"{NAME}: exercises/3_tail.md does not begin with "
                    "'# Exercise N: title (M minutes)'")

    def test_six_exercises(self):
        for file in (self.root / "chapters/00_first_steps/exercises").rglob("6_*"):
            file.unlink()
        self.expect("00_first_steps: 5 exercises: there should be 6")

    def test_exercises_mutants_and_tests(self):
        shutil.rmtree(self.chapter / "exercises")
        (self.root / "tests/mutants/01.json").write_text('{"mutants": []}')
        (self.root / f"tests/{NAME}_test.cpp").unlink()
        self.expect(f"{NAME}: no exercises/1_name.cu",
                    f"{NAME}: no tests/mutants/01.json with bugs to plant",
                    f"{NAME}: no tests/{NAME}_test.cpp")

    def test_sources_that_nobody_builds(self):
        for name in ("11_new.cu", "studies/new.cu", "demos/new.cu"):
            (self.chapter / name).parent.mkdir(exist_ok=True)
            (self.chapter / name).write_text("")
        self.expect(f"{NAME}: 11_new.cu is not in CMakeLists.txt",
                    f"{NAME}: 11_new.cu is in no page",
                    f"{NAME}: studies/new.cu is not in CMakeLists.txt",
                    f"{NAME}: demos/new.cu is not in CMakeLists.txt")

    def test_a_folder_that_is_not_built_at_all(self):
        (self.chapter / "CMakeLists.txt").unlink()
        self.assertIn(f"chapters/{NAME}: no CMakeLists.txt", complete.absent(self.root))

    def test_programs_without_a_test(self):
        (self.root / "tests/python/test_first_steps.py").unlink()
        self.expect("00_first_steps: no test under tests/ names it")

    def test_not_recorded_yet(self):
        shutil.rmtree(self.chapter / "results")
        self.edit(f"chapters/{NAME}/README.md", "# 01 ", "<!-- unrecorded -->\n# 01 ")
        self.expect()


if __name__ == "__main__":
    unittest.main()
