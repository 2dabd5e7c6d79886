"""The plans for teachers: clocks add up, and what they name is there."""
import json
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common" / "python"))

from course import chapters, remarks  # noqa: E402
from course.class_table import SHORT  # noqa: E402

PAGE = (ROOT / "docs" / "teaching.md").read_text(encoding="utf-8")
TERM = PAGE.partition("## Twelve weeks")[2].partition("\n## ")[0]
NOTES = (ROOT / "docs" / "teaching_notes.md").read_text(encoding="utf-8")


def clocks():
    """Each table with a clock: minutes since its first line, and how long each line takes."""
    for table in re.findall(r"(?:^\| \d+:\d\d \|.*\n)+", PAGE, re.M):
        rows = re.findall(r"^\| (\d+):(\d\d) \| (\d+) \|", table, re.M)
        yield [(60 * int(hours) + int(minutes), int(length)) for hours, minutes, length in rows]


def tables():
    """The same tables: minutes and what is done."""
    for table in re.findall(r"(?:^\| \d+:\d\d \|.*\n)+", PAGE, re.M):
        yield [(int(minutes), what) for minutes, what in
               re.findall(r"^\| [\d:]+ \| (\d+) \| (.*?) \|", table, re.M)]


class Plans(unittest.TestCase):
    def test_clocks_add_up(self):
        found = list(clocks())
        self.assertEqual(len(found), 2)
        for rows in found:
            for (start, length), (after, _) in zip(rows, rows[1:]):
                self.assertEqual(start + length, after, f"{start // 60}:{start % 60:02}")
        self.assertEqual(sum(length for _, length in found[0]), 120)
        self.assertEqual(found[1][-1][0] + found[1][-1][1], 17 * 60)

    def test_nobody_sits_for_long(self):
        """The page's own rule: after at most 50 minutes a break of ten, or slack at the end."""
        for table in tables():
            since = 0
            for minutes, what in table:
                if re.match("Break|Lunch", what) or (what.startswith("Slack")
                                                     and (minutes, what) == table[-1]):
                    self.assertGreaterEqual(minutes, 10, what)
                    since = 0
                else:
                    since += minutes
                self.assertLessEqual(since, 50, what)

    def test_a_tenth_is_slack(self):
        for table in tables():
            lost = sum(minutes for minutes, what in table if what.startswith("Slack"))
            used = sum(minutes for minutes, what in table
                       if not re.match("Slack|Break|Lunch", what))
            self.assertGreaterEqual(10 * lost, used)

    def test_exercises_and_bugs_have_their_minutes(self):
        seen = 0
        for table in tables():
            for minutes, what in table:
                pairs = re.match(r"Exercises? (\d(?: and \d)*) .*in pairs", what)
                least = 15 * len(re.findall(r"\d", pairs[1])) if pairs else 0
                if re.match(r"(A bug|Bugs):", what):
                    least = 5 * len(re.findall(r"`\d\d:\w+`", what))
                self.assertGreaterEqual(minutes, least, what)
                seen += bool(least)
        self.assertEqual(seen, 6)

    def test_twelve_weeks(self):
        self.assertEqual(re.findall(r"^\| (\d+) \| .* \|$", TERM.partition("###")[0], re.M),
                         [str(week) for week in range(1, 13)])

    def test_every_chapter_has_its_weeks(self):
        plans = TERM.partition("### Exercises and bugs")[0]
        for chapter in chapters.every():
            self.assertRegex(plans, rf"chapter {chapter.number}\b", chapter.name)

    def test_a_second_term_has_twelve_sessions(self):
        second = TERM.partition("**A second term**")[2].partition("###")[0]
        found = re.findall(r"^\| (\d[\d, ]*) \|", second, re.M)
        self.assertEqual(", ".join(found), ", ".join(str(k) for k in range(1, 13)))

    def test_bugs_are_there(self):
        seen = 0
        part = PAGE.partition("### Exercises and bugs")[2].partition("###")[0]
        for line in re.findall(r"^\| (\d\d) \| .*$", part, re.M):
            known = {one["name"] for one in json.loads(
                (ROOT / "tests" / "mutants" / f"{line}.json").read_text())["mutants"]
                } if (ROOT / "tests" / "mutants" / f"{line}.json").exists() else set()
            row = re.search(rf"^\| {line} \| .*\| (.*) \|$", part, re.M)[1]
            for name in re.findall(r"`(\w+)`", row):
                if line != "00":
                    self.assertIn(name, known)
                    seen += 1
        for number, name in re.findall(r"`(\d\d):(\w+)`", PAGE + NOTES):
            text = (ROOT / "tests" / "mutants" / f"{number}.json").read_text()
            self.assertIn(f'"{name}"', text)
            seen += 1
        self.assertGreater(seen, 15)

    def test_exercises_are_there(self):
        for name, number in re.findall(r"`\./chapters/run (\d\d) --exercise (\d)`", PAGE):
            if number != "9":  # a teacher's own
                chapters.exercise(chapters.find(name), int(number))

    def test_notes_have_every_chapter(self):
        for chapter in chapters.every():
            part = NOTES.partition(f"\n## {chapter.number} ")[2].partition("\n## ")[0]
            for head in ("**The one idea.**", "**They believe**", "**Draw**", "**Ask.**",
                         "**Goes wrong live.**"):
                self.assertIn(head, part, chapter.name)

    def test_every_remark_is_explained(self):
        table = PAGE.partition("| word | what is so |")[2].partition("\n\n")[0]
        kinds = [*remarks.TEXTS, "machine", "twins", "equal", "date", "sources", "unchecked",
                 "interrupted", "noisy", "throttled", SHORT["debug_build"], SHORT["on_battery"],
                 SHORT["few_samples"]]
        for kind in kinds:
            self.assertRegex(table, rf"\b{kind}\b")


if __name__ == "__main__":
    unittest.main()
