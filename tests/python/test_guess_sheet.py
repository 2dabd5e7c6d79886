"""Guess sheets: every version and its questions, no result, no answer, one page. Folded pages."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "common" / "python"), str(ROOT / "docs")]

from course import Problem, chapters, guess_sheet, results, tables  # noqa: E402
from course.chapters import Chapter  # noqa: E402
from fold import folded  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def text_of(page):
    return re.sub(r"<style>.*?</style>|<[^>]+>", " ", page, flags=re.S)


class Sheets(unittest.TestCase):
    def test_every_chapter_asks(self):
        for chapter in chapters.every():
            asked = guess_sheet.sheet(chapter)
            self.assertGreaterEqual(len(asked.questions), 3, chapter.name)
            if chapter.recorded():
                self.assertGreaterEqual(len(asked.versions), 7, chapter.name)
                self.assertIn(asked.versions[0][0].replace("_", " "), guess_sheet.page(asked))

    def test_no_result_is_in_sight(self):
        for chapter in chapters.every():
            text = text_of(guess_sheet.page(guess_sheet.sheet(chapter)))
            record = chapter.recorded()
            rows = results.load(record).rows if record else ()
            for row in rows:
                if not row.words and row.rate >= 100:
                    self.assertNotIn(tables.digits(row.rate), text)
                if row.of_limit:
                    self.assertNotIn(f"{100 * row.of_limit:.1f} %", text)
            self.assertNotRegex(text, "value:|limiter:|results:")

    def test_no_answer_is_in_sight(self):
        seen = 0
        for chapter in chapters.every():
            text = " ".join(text_of(guess_sheet.page(guess_sheet.sheet(chapter))).split())
            lesson = (chapter.path / "README.md").read_text(encoding="utf-8")
            for answer in re.findall(r"</summary>\s*(.*?)</details>", lesson, re.S):
                plain = " ".join(re.sub(r"[`*]", "", answer).split())[:60]
                seen += 1
                self.assertNotIn(plain, text)
        self.assertGreater(seen, 20)

    def test_a_question_that_quotes_a_number_is_left_out(self):
        quiz = ("## Predict, then open\n\n<details><summary>Why <!-- value: a b rate -->7 GB/s"
                "<!-- /value -->?</summary>\n\nBecause.\n\n</details>\n"
                "<details><summary>How many\n`warps`?</summary>\n\nFour.\n\n</details>\n")
        self.assertEqual(guess_sheet.quiz(quiz), ["How many <code>warps</code>?"])

    def test_a_question_that_gives_its_account_is_left_out(self):
        asked = ("**Predict.** Why, and by how much? By counting, 15.0 / 13.2 = 1.14.\n\n"
                 "**Predict.** Capability 9.0: which\nrows?\n\n**Predict.** No question.\n")
        self.assertEqual(guess_sheet.predictions(asked), ["Capability 9.0: which rows?"])
        for chapter in chapters.every():
            for text in guess_sheet.sheet(chapter).questions:
                self.assertLess(len(re.findall(r"\d\.\d", text)), 2, text)

    def test_stars_that_multiply_stay(self):
        self.assertEqual(guess_sheet.inline("alpha * sum + beta * c"), "alpha * sum + beta * c")
        self.assertEqual(guess_sheet.inline("*kick,\ndrift* and **half** a * b"),
                         "<em>kick, drift</em> and <b>half</b> a * b")
        self.assertEqual(guess_sheet.inline("`a*b*c` and <code>**p</code>"),
                         "<code>a*b*c</code> and <code>**p</code>")
        questions = " ".join(guess_sheet.sheet(chapters.find("04")).questions)
        self.assertIn("alpha * sum + beta * c", questions)

    def test_questions_have_one_number_and_their_own_letters(self):
        for written, printed in (("3. n is odd?", "n is odd?"), (", for each?", "For each?"),
                                 (" c = a + b?", "c = a + b?"), ("beta = 0?", "beta = 0?"),
                                 ("80 on a GPU?", "80 on a GPU?")):
            self.assertEqual(guess_sheet.tidy(written), printed)
        for chapter in chapters.every():
            for text in guess_sheet.sheet(chapter).questions:
                self.assertNotRegex(text, r"^\d+\.")

    def test_a_sheet_needs_no_lesson_beside_it(self):
        elsewhere = (r"\b(above|below|(the|this|next) (table|drawing|picture|section|listing)|"
                     r"(first|second|third) way|(of|in) the drawing|also drawn)\b")
        for chapter in chapters.every():
            for text in guess_sheet.sheet(chapter).questions:
                self.assertNotRegex(text, elsewhere, chapter.name)

    def test_a_version_has_a_file(self):
        for chapter in chapters.every():
            rows = guess_sheet.sheet(chapter).versions
            numbers = [version[:2] for version, _ in rows]
            self.assertEqual(len(numbers), len(set(numbers)), chapter.name)
            if rows:
                files = {file.stem for file in chapter.path.glob("[0-8][0-9]_*.cu")}
                self.assertEqual({version for version, _ in rows}, files, chapter.name)

    def test_every_question_has_room_by_its_parts(self):
        for chapter in chapters.every():
            asked = guess_sheet.sheet(chapter)
            self.assertEqual(len(asked.ruled), len(asked.questions))
            self.assertEqual(guess_sheet.page(asked).count("<i></i>"), sum(asked.ruled))
        two = ["(a) This? (b) That? (c) And?", "Why?"]
        self.assertEqual(guess_sheet.ruled(two, 0), [1, 1])
        self.assertEqual(guess_sheet.ruled(two, 4.5 * guess_sheet.WIDE), [3, 1])
        self.assertEqual(guess_sheet.ruled(two, 1000), [guess_sheet.MOST_RULED] * 2)

    def test_too_many_questions_stay_on_one_page(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder)
            many = "".join(f"<details><summary>Question {k} {'long ' * 60}?</summary>\n\nNo.\n\n"
                           "</details>\n" for k in range(80))
            (path / "README.md").write_text(f"# 77 Many: x\n\n## Predict, then open\n\n{many}")
            asked = guess_sheet.sheet(Chapter("77_many", path))
            self.assertLess(len(asked.questions), 20)
            self.assertGreater(len(asked.questions), 8)
            self.one_page(guess_sheet.write(Chapter("77_many", path), path))

    def one_page(self, file):
        if not CHROMIUM:
            self.skipTest("chromium is not installed: nobody counts the printed pages")
        pdf = file.with_suffix(".pdf")
        subprocess.run([CHROMIUM, "--headless", "--no-sandbox", f"--print-to-pdf={pdf}", str(file)],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        if not pdf.exists():
            self.skipTest("chromium prints nothing here")
        self.assertEqual(len(re.findall(rb"/Type */Page\b", pdf.read_bytes())), 1, file.name)

    def test_program_and_pages(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, str(ROOT / "docs" / "guess_sheets"), "--out",
                                   folder], stdout=subprocess.PIPE, text=True, check=False)
            self.assertEqual(done.returncode, 0)
            files = sorted(Path(folder).glob("guess-*.html"))
            self.assertEqual(len(files), len(chapters.every()))
            for file in files:
                self.one_page(file)
        done = subprocess.run([sys.executable, str(ROOT / "docs" / "guess_sheets"), "99"],
                              stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no chapter '99'", done.stderr)

    def test_a_chapter_without_a_lesson(self):
        with self.assertRaises(Problem):
            guess_sheet.sheet(Chapter("99_none", ROOT / "nowhere"))


class OnTheScreen(unittest.TestCase):
    def test_the_recorded_rates_can_be_hidden(self):
        folder = Path(os.environ.get("COURSE_BIN", ROOT / "build" / "cpu" / "bin"))
        program = folder / "03_transpose"
        if os.environ.get("COURSE_BACKEND", "cpu") != "cpu" or not program.exists():
            self.skipTest(f"no CPU backend in {folder}")
        said = []
        for guess in ([], ["--hide-recorded"]):
            done = subprocess.run([str(program), "--only", "3", "--size", "64x64", *guess],
                                  stdout=subprocess.PIPE, text=True, check=True)
            said.append(done.stdout)
        rate = next(row for row in results.load(ROOT / "chapters/03_transpose/results/h200.json")
                    .rows if row.version == "03_coalesced_reads").rate
        self.assertIn(f"{rate:.1f}", said[0])
        self.assertNotIn(f"{rate:.1f}", said[1])
        self.assertRegex(said[1], r"03_coalesced_reads .* \?  ok")
        self.assertIn("?: guess it", said[1])


class Folded(unittest.TestCase):
    PAGE = ('<body><div class="contents"><p><b>Expect.</b> A.</p><p><b>Measured.</b> 7 GB/s\nand '
            "more.</p><p>Free.</p><p><b>A prediction that failed.</b> B.</p></div></body>")

    def test_what_was_measured_can_be_folded(self):
        page = folded(self.PAGE)
        self.assertEqual(len(re.findall(r'<details class="measured" open>', page)), 2)
        self.assertIn("<summary>Measured</summary><p><b>Measured.</b> 7 GB/s\nand more.</p>"
                      "</details>", page)
        self.assertIn("<p>Free.</p>", page)
        self.assertEqual(page.count('id="fold"'), 1)  # site.js makes it work: test_site.py

    def test_other_pages_stay_as_they_are(self):
        page = self.PAGE.replace("Measured", "Else").replace("A prediction", "One")
        self.assertEqual(folded(page), page)


if __name__ == "__main__":
    unittest.main()
