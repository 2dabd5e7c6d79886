"""docs/slides: a deck per lesson."""

import importlib.util
import re
import subprocess
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from importlib.machinery import SourceFileLoader
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common" / "python"))
sys.dont_write_bytecode = True
from course import Problem, chapters  # noqa: E402

LOADER = SourceFileLoader("slides", str(ROOT / "docs" / "slides"))
slides = importlib.util.module_from_spec(importlib.util.spec_from_loader("slides", LOADER))
LOADER.exec_module(slides)

LESSON = """# 01 Add: one more

After it you can **add**.

### 01 Plain: [01_plain.cu](01_plain.cu)

**Idea.** One *thread* for `a < b`.

```cuda
__global__ void add(int* a) { a[0] = 1; }
```

**Expect.** It takes

    1 + 1  =  2 us

**Measured.** It takes <!-- value: x -->3 us<!-- /value -->:

<!-- results: x -->
| version | time |
|---|--:|
| [01_plain](01_plain.cu) | 3 us |
<!-- /results -->

### 02 Twice: [02_twice.cu](02_twice.cu)

![Two threads](two.svg)

```cuda
__global__ void add(int* a) { a[0] = 1; }
void twice();
```

## Results

![Plot](no.svg)
"""


class Tags(HTMLParser):
    """Opened and closed in order, or not."""

    def __init__(self):
        super().__init__()
        self.open, self.wrong = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in ("img", "meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append((tag, self.getpos()))


class Decks(unittest.TestCase):
    def lesson(self, text):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        folder = Path(temporary.name)
        (folder / "README.md").write_text(text)
        (folder / "01_plain.cu").write_text("__global__ void add(int* a) { a[0] = 1; }\n")
        (folder / "two.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
        return slides.deck("01_add", folder)

    def test_what_a_version_shows(self):
        page = self.lesson(LESSON.split("## Results")[0])
        self.assertEqual(re.findall(r"<h2>(.*?)</h2>", page),
                         ["01 Plain", "01 Plain: what is new", "01 Plain: expected",
                          "01 Plain: measured", "02 Twice", "02 Twice: what is new"])
        self.assertIn("One <em>thread</em> for <code>a &lt; b</code>.", page)
        self.assertIn("1 + 1  =  2 us", page.split("01 Plain: expected")[1])
        answer = page.split("01 Plain: measured")[1].split("</section>")[0]
        self.assertIn("It takes 3 us:", answer)
        self.assertIn("<td>01_plain</td><td>3 us</td>", answer)
        self.assertIn("data:image/svg+xml;base64,", page)

    def test_lines_that_the_version_before_has_are_not_marked(self):
        new = self.lesson(LESSON.split("## Results")[0]).split("02 Twice: what is new")[1]
        self.assertEqual(re.findall(r"<mark>(.*?)</mark>", new), ["void twice();"])

    def test_a_picture_that_is_missing(self):
        with self.assertRaisesRegex(Problem, "no picture no.svg"):
            self.lesson(LESSON)

    def test_every_chapter_has_a_deck_that_needs_nothing_else(self):
        for chapter in chapters.every():
            with self.subTest(chapter.name):
                page = slides.deck(chapter.name, chapter.path)
                tags = Tags()
                tags.feed(page)
                self.assertEqual((tags.open, tags.wrong), ([], []))
                text = re.sub(r"<(pre|code).*?</\1>", "", page, flags=re.S)
                self.assertEqual(re.findall(r".{20}(?:<!--|\]\().{20}", text), [])
                self.assertEqual(re.findall(r'(?:src|href)="(?!data:)', page), [])
                versions = [f for f in chapter.path.glob("[0-9]*.cu")]
                self.assertGreaterEqual(page.count("<section>"), len(versions) + 1)

    def test_bad_words(self):
        for words, code, said in ((["77"], 2, "no chapter '77'"), ([], 2, "name one chapter"),
                                  (["01", "--all"], 2, "name one chapter")):
            done = subprocess.run([sys.executable, str(ROOT / "docs" / "slides"), *words],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, code)
            self.assertIn(said, done.stderr)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
