"""Tests of the lessons' drawings: markers, figures, pictures, and that they show what runs now."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Dict, List, Set, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

from test_drawing import BIN, BY_HAND, ON_CPU, ROOT, record  # noqa: E402

from course import lessons  # noqa: E402
from course.draw import drawn, embedded, recount, svg, trace, tracing  # noqa: E402
from course.draw import page as draw_page  # noqa: E402
from course.pages import LessonError, Page  # noqa: E402

KERNEL = "__global__ void kernel(const float* in) { __shared__ float s[1024]; }\n"


class Markers(unittest.TestCase):
    def test_words(self) -> None:
        wanted = drawn.parse("05_a.cu:23 studies/b.cu:4 shared load warp=2 request=1-3 view=banks")
        self.assertEqual(wanted.places, ["05_a.cu:23", "studies/b.cu:4"])
        self.assertEqual(wanted.kinds, ["shared", "load"])
        self.assertEqual((wanted.number("warp", 0), wanted.number("request", 1)), (2, 1))

    def test_names_of_pictures(self) -> None:
        self.assertEqual(drawn.slug("a.cu:1 b.cuh:2 shared load by=a"), "a-1-b-2-shared-load-by-a")

    def test_rows_of_a_study(self) -> None:
        listed = ("01_x: what\n\nsequence: All\n  01_a    one\n  02_b    two (not built)\n\n"
                  "size: N\n  01_a  one\n")
        self.assertEqual(tracing.rows_of(listed, "sequence"), ["01_a", "02_b"])
        self.assertEqual(tracing.rows_of(listed, "size"), ["01_a"])
        self.assertEqual(tracing.rows_of(listed, "roles"), [])

    def test_mistakes(self) -> None:
        for words, why in (("load", "write 'draw: FILE.cu:LINE'"), ("a.cu:1 loads", "'loads' is"),
                           ("a.cu:1 view=tree", "there are request, lanes"),
                           ("a.cu:1 color=red", "'color=red' is")):
            with self.subTest(words=words), self.assertRaisesRegex(LessonError, why):
                drawn.parse(words)
        with self.assertRaisesRegex(LessonError, "warp=two is no number"):
            drawn.parse("a.cu:1 warp=two").number("warp", 0)


class Lesson(unittest.TestCase):
    """A chapter of one lesson and one kernel."""

    def setUp(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="course drawn "))
        self.addCleanup(shutil.rmtree, self.root, True)
        self.chapter = self.root / "chapters" / "01_x"
        self.chapter.mkdir(parents=True)
        (self.chapter / "kernel.cu").write_text(KERNEL, encoding="utf-8")

    def page(self, words: str = "kernel.cu:10 shared load") -> Page:
        path = self.chapter / "README.md"
        path.write_text(f"# 01 X\n\n<!-- draw: {words} -->\nText.\n", encoding="utf-8")
        return Page(path, self.root)

    def traces(self, page: Page, file: str, study: str, path: Path) -> None:
        made = record(*BY_HAND)
        for row in made["lines"]:
            row["file"] = str(self.chapter / "kernel.cu")
        path.write_text(json.dumps(made) + "\n", encoding="utf-8")

    def lessons(self, action: str) -> Tuple[int, str]:
        text = io.StringIO()
        with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
            code = lessons.main([action, str(self.chapter / "README.md")], self.root)
        return code, text.getvalue()

    def test_written_checked_and_found_stale(self) -> None:
        page = self.page()
        code, text = self.lessons("--check")
        self.assertEqual(code, 1)
        self.assertIn("README.md:3: nothing was traced for 'draw: kernel.cu:10 shared load'", text)
        drawn.keep(page, self.traces)
        self.assertEqual(self.lessons("--check")[0], 1, "no picture yet")
        self.assertEqual(self.lessons("--update")[0], 0)
        self.assertEqual(self.lessons("--check"), (0, "1 pages, 0 problems\n"))
        text = (self.chapter / "README.md").read_text(encoding="utf-8")
        self.assertIn("-->\n![line 10 of kernel.cu](results/drawn/kernel-10-shared-load.svg)\n"
                      "Text.", text)
        picture = self.chapter / "results" / "drawn" / "kernel-10-shared-load.svg"
        picture.write_text(picture.read_text(encoding="utf-8").replace("32 wavefronts", "31"),
                           encoding="utf-8")
        self.assertIn("kernel-10-shared-load.svg is out of date", self.lessons("--check")[1])
        self.lessons("--update")
        (self.chapter / "kernel.cu").write_text(KERNEL.replace("1024", "2048"), encoding="utf-8")
        code, text = self.lessons("--check")
        self.assertEqual(code, 1)
        self.assertIn("shows older code of kernel.cu; docs/lessons --trace runs it again", text)

    def test_pictures_of_markers_that_are_gone_go(self) -> None:
        drawn.keep(self.page(), self.traces)
        self.lessons("--update")
        drawn.keep(self.page("kernel.cu:9 shared store"), self.traces)
        self.lessons("--update")
        self.assertEqual([p.name for p in self.chapter.rglob("*.svg")],
                         ["kernel-9-shared-store.svg"])

    def test_what_was_not_counted(self) -> None:
        for words, why in (("kernel.cu:99", "no access there; in kernel.cu it counted 1 g"),
                           ("kernel.cu:10 shared load warp=4", "warp 4 has 0 such requests"),
                           ("kernel.cu:10 request=2", "warp 0 has 1 such requests, not 2"),
                           ("kernel.cu:10 of=other", "counted no")):
            with self.subTest(words=words), self.assertRaisesRegex(LessonError, why):
                drawn.keep(self.page(words), self.traces)

    def test_no_such_file(self) -> None:
        with self.assertRaisesRegex(LessonError, "no such file: other.cu|counted none"):
            drawn.keep(self.page("other.cu:1"), self.traces)

    def test_a_header_by_the_version_that_is_run(self) -> None:
        header, ran = self.chapter / "helper.cuh", []
        header.write_text("constexpr int n = 1;\n", encoding="utf-8")

        def traces(page: Page, file: str, study: str, path: Path) -> None:
            ran.append(file)
            made = [record(*BY_HAND[::-1]), record(*BY_HAND)]
            for one, label in zip(made, ("other", "kernel 64")):
                one["label"] = label
                for row in one["lines"]:
                    row["file"] = str(header)
            path.write_text("".join(json.dumps(one) + "\n" for one in made), encoding="utf-8")

        drawn.keep(Lesson.page(self, "helper.cuh:10 shared load by=kernel"), traces)
        self.lessons("--update")
        self.assertEqual(self.lessons("--check"), (0, "1 pages, 0 problems\n"))
        self.assertEqual(ran, ["kernel.cu"])
        picture = next(self.chapter.rglob("*.svg")).read_text(encoding="utf-8")
        self.assertIn("kernel, helper.cuh:10: shared load of s, 32 wavefronts", picture)
        for file in (header, self.chapter / "kernel.cu"):
            before = file.read_text(encoding="utf-8")
            file.write_text(before + "int more;\n", encoding="utf-8")
            self.assertIn(f"shows older code of {file.name}", self.lessons("--check")[1])
            file.write_text(before, encoding="utf-8")


class Pictures(unittest.TestCase):
    def figures(self, words: str) -> List[svg.Figure]:
        made = record(*BY_HAND)
        made["sample"][0]["warps"][0].insert(8, ["barrier", 1])
        return drawn.figures_of([made], words)

    def texts(self, picture: str) -> List[str]:
        root = ElementTree.fromstring(picture)
        return [element.text or "" for element in root.iter() if element.tag.endswith("text")]

    def test_every_request_by_hand(self) -> None:
        for number, (space, access, _, units, ideal, offsets, *_) in enumerate(BY_HAND, 1):
            with self.subTest(number=number):
                picture = svg.draw(self.figures(f"kernel.cu:{number}"))
                words = f"{units} {'wavefront' if space == 'shared' else 'sector'}"
                words += "" if units == 1 else "s"
                self.assertIn(f"{space} {access}", picture)
                self.assertIn(words, picture)
                self.assertEqual(f"{ideal} would do" in picture, units > ideal)
                lanes = [str(lane) for lane in range(32)]
                self.assertEqual(self.texts(picture)[2:34], lanes)

    def test_views(self) -> None:
        for view in ("lanes", "banks", "block"):
            figures = self.figures(f"kernel.cu{'' if view == 'block' else ':10'} view={view}")
            self.assertEqual(figures[0]["view"], view)
            ElementTree.fromstring(svg.draw(figures))
        depth = svg.draw(self.figures("kernel.cu:12 view=banks"))
        self.assertEqual(depth.count(svg.HOT_PALE), 16, "lanes of the second wavefront")

    def test_lanes_that_share_a_word_share_a_cell(self) -> None:
        texts = self.texts(svg.draw(self.figures("kernel.cu:17 view=banks")))  # pairs of lanes
        lanes = texts[texts.index("request 1") + 2:]
        self.assertEqual(sorted(lanes), sorted([str(lane) for lane in range(32)] * 2))
        texts = self.texts(svg.draw(self.figures("kernel.cu:13 view=banks")))  # a broadcast
        self.assertEqual(texts[texts.index("request 1") + 2:], ["32×"])

    def test_labels_have_room(self) -> None:
        """Also in DejaVu Sans, which many Linux machines show for Helvetica."""
        wide = {"+": .838, ":": .337, " ": .318, "s": .521}
        for words in ("kernel.cu:10", "kernel.cu:4", "kernel.cu:12 view=banks"):
            for figures in (self.figures(words), self.figures(words) * 3):
                for element in ElementTree.fromstring(svg.draw(figures)).iter():
                    if element.get("text-anchor") == "end" and "+" in (element.text or ""):
                        room = sum(wide.get(c, .636) for c in element.text or "")
                        third = float(element.get("x", 0)) % (300 if len(figures) == 3 else 900)
                        self.assertGreater(third, room * float(element.get("font-size", 0)))

    def test_side_by_side(self) -> None:
        figures = self.figures("kernel.cu:10") + self.figures("kernel.cu:11")
        picture = svg.draw(figures)
        self.assertLess(picture.index("line 10"), picture.index("line 11"))
        self.assertIn('width="900"', picture)


class Embedded(Lesson):
    """`page` markers, in the same small chapter."""

    def page(self, words: str = "kernel") -> Page:
        path = self.chapter / "README.md"
        path.write_text(f"# 01 X\n\n<!-- page: {words} -->\n\nText.\n", encoding="utf-8")
        return Page(path, self.root)

    def versions(self, page: Page, versions: List[str], study: str, path: Path) -> None:
        self.traces(page, "kernel.cu", study, path)

    def test_words(self) -> None:
        page = self.page("05_a 06_b")
        self.assertEqual(embedded.command(page, "05_a 06_b"),
                         "./chapters/run 01 --draw -- --only 05,06")
        self.assertEqual(embedded.command(page, "study=stride"),
                         "./chapters/run 01 --draw -- --study stride")
        for words in ("05-07", "study=a study=b"):
            with self.assertRaisesRegex(LessonError, "write 'page: VERSION ...'"):
                embedded.chosen(words)

    def test_written_checked_and_found_stale(self) -> None:
        page = self.page()
        self.assertIn("nothing was traced for 'page: kernel'", self.lessons("--check")[1])
        embedded.keep(page, self.versions)
        self.assertEqual(self.lessons("--update")[0], 0)
        self.assertEqual(self.lessons("--check"), (0, "1 pages, 0 problems\n"))
        text = (self.chapter / "README.md").read_text(encoding="utf-8")
        self.assertRegex(text, r'-->\n<details>.*\n.*<a href="results/drawn/page-kernel.json">')
        self.assertIn("<code>./chapters/run 01 --draw -- --only ke</code>\n</details>\n\nText.\n",
                      text)
        self.assertEqual([p.name for p in self.chapter.rglob("page-*")], ["page-kernel.json"])
        (self.chapter / "kernel.cu").write_text(KERNEL.replace("1024", "2048"), encoding="utf-8")
        self.assertIn("'page: kernel' shows older code of kernel.cu", self.lessons("--check")[1])
        with self.assertRaisesRegex(LessonError, "older code"):
            embedded.html(self.page(), "kernel")

    def test_only_code_and_its_place_make_it_stale(self) -> None:
        source = self.chapter / "kernel.cu"
        source.write_text("// One.\n" + KERNEL, encoding="utf-8")
        embedded.keep(self.page(), self.versions)
        style = draw_page.part
        with unittest.mock.patch.object(draw_page, "part", lambda name: style(name).replace(
                "--paper:", "--papier:")):
            made = embedded.html(self.page(), "kernel")
        self.assertIn("--papier:", made)
        source.write_text("// Another one.\n" + KERNEL, encoding="utf-8")
        made = embedded.html(self.page(), "kernel")
        self.assertEqual(draw_page.data_of(made)["kernels"][0]["source"][0]["text"][0],
                         "// Another one.")
        for text in ("// One.\n//\n" + KERNEL, KERNEL, "// One.\n\n" + KERNEL):
            source.write_text(text, encoding="utf-8")
            with self.subTest(text=text), self.assertRaisesRegex(LessonError, "older code"):
                embedded.html(self.page(), "kernel")
        source.unlink()
        with self.assertRaisesRegex(LessonError, "no such file: kernel.cu"):
            embedded.html(self.page(), "kernel")

    def test_a_header_of_the_chapter_makes_it_stale(self) -> None:
        header = self.chapter / "helper.cuh"
        header.write_text("constexpr int n = 1;\n", encoding="utf-8")
        (self.chapter / "kernel.cu").write_text('#include "helper.cuh"\n' + KERNEL,
                                                encoding="utf-8")
        embedded.keep(self.page(), self.versions)
        header.write_text("// Why.\nconstexpr int n = 1;\n", encoding="utf-8")
        embedded.html(self.page(), "kernel")
        header.write_text("constexpr int n = 2;\n", encoding="utf-8")
        with self.assertRaisesRegex(LessonError, "older code of kernel.cu"):
            embedded.html(self.page(), "kernel")

    def test_the_page_is_that_of_the_run(self) -> None:
        page, seen = self.page(), []
        embedded.keep(page, lambda *words: seen.append(words) or self.versions(*words))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trace.jsonl"
            self.versions(page, ["kernel"], "sequence", path)
            records = trace.read(path)
        for made in records:
            recount.check(made)
        self.assertEqual([words[1:3] for words in seen], [(["kernel"], "sequence")])
        self.assertEqual(embedded.html(page, "kernel"), draw_page.render(
            draw_page.pack_all(records, embedded.BUDGET, "01_x")))

    def test_a_page_shows_the_chapters_own_files(self) -> None:
        def elsewhere(page: Page, versions: List[str], study: str, path: Path) -> None:
            self.traces(page, "kernel.cu", study, path)
            made = json.loads(path.read_text(encoding="utf-8"))
            made["lines"][3]["file"] = str(self.root / "other.cuh")
            path.write_text(json.dumps(made) + "\n", encoding="utf-8")

        with self.assertRaisesRegex(LessonError, "other.cuh is no file of the chapter"):
            embedded.keep(self.page(), elsewhere)

    def test_lines_that_a_diff_can_tell_apart(self) -> None:
        value = {"a": list(range(100)), "b": [{"c": "x, y" * 30}, [[1, -2], [3] * 60]], "d": []}
        text = embedded.spread(value)
        self.assertEqual(json.loads(text), value)
        self.assertGreater(text.count("\n"), 8)
        self.assertLess(max(len(line) for line in text.splitlines() if "x, y" not in line), 101)
        longer = embedded.spread({**value, "d": [1]}).splitlines()
        self.assertEqual(sum(a != b for a, b in zip(text.splitlines(), longer)), 1)

    def test_pictures_of_markers_that_are_gone_go(self) -> None:
        embedded.keep(self.page(), self.versions)
        embedded.keep(self.page("other"), self.versions)
        self.assertEqual([p.name for p in self.chapter.rglob("page-*")], ["page-other.json"])

    def test_what_was_not_counted(self) -> None:
        def nothing(page: Page, versions: List[str], study: str, path: Path) -> None:
            path.write_text("", encoding="utf-8")

        with self.assertRaisesRegex(LessonError, "no kernel was counted"):
            embedded.keep(self.page(), nothing)

    def test_no_such_file(self) -> None:
        with self.assertRaisesRegex(LessonError, "nothing was traced for 'page: kernel'"):
            embedded.html(self.page(), "kernel")


def pages() -> List[Page]:
    return [page for page in (Page(path, ROOT) for path in sorted(
        ROOT.glob("chapters/[0-9]*/README.md"))) if drawn.markers(page) or embedded.marked(page)]


class Fresh:
    """A chapter's program, run once for each study with all versions that a lesson's markers name:
    the CPU backend traces every kernel for itself."""

    def __init__(self, page: Page, program: Path) -> None:
        self.program, self.texts = program, {}  # type: Path, Dict[str, List[str]]
        self.named: Dict[str, Set[str]] = {}
        for wanted in map(drawn.parse, drawn.markers(page)):
            self.named.setdefault(wanted.options.get("study", "sequence"), set()).update(
                Path(wanted.program(place)).stem for place in wanted.places)
        for options in map(embedded.chosen, embedded.marked(page)):
            self.named.setdefault(options["study"], set()).update(options["only"].split(","))

    def lines(self, study: str) -> List[str]:
        if study not in self.texts:
            named = self.named[study]
            versions = [] if "" in named else tracing.named_in(self.program, sorted(named), study)
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "trace.jsonl"
                tracing.call(tracing.versions_command(self.program, versions, study), path)
                self.texts[study] = path.read_text(encoding="utf-8").splitlines(True)
        return self.texts[study]

    def file(self, _: Page, file: str, study: str, path: Path) -> None:
        path.write_text("".join(self.lines(study)), encoding="utf-8")

    def versions(self, _: Page, versions: List[str], study: str, path: Path) -> None:
        path.write_text("".join(line for line in self.lines(study) if not versions
                                or json.loads(line)["label"] in versions), encoding="utf-8")


class Lessons(unittest.TestCase):
    """The lessons' own drawings."""

    def test_lessons_about_memory_have_some(self) -> None:
        drawings = {p.path.parent.name[:2] for p in pages() if drawn.markers(p)}
        self.assertLessEqual({"00", "01", "02", "03", "04", "07", "08", "09", "10", "11"}, drawings)

    def test_kept_requests_are_right(self) -> None:
        for page in pages():
            for words, kept in drawn.read(page).items():
                for figure in kept["figures"]:
                    for item in figure.get("items", ()):
                        again = svg.solved(figure, item)
                        self.assertEqual([again.units, again.ideal], item[4:6], words)

    @unittest.skipUnless(ON_CPU and list(BIN.glob("0[1-3]_*")),
                         "no chapter built for the CPU backend: the lessons' drawings NOT COMPARED")
    def test_fresh(self) -> None:
        """What the programs do now is what the lessons show."""
        compared = 0
        for page in pages():
            program = BIN / page.path.parent.name
            if not program.is_file():
                continue

            ran = Fresh(page, program)
            with self.subTest(page=page.name):
                self.assertEqual(drawn.traced(page, ran.file), drawn.read(page),
                                 f"docs/lessons --trace {page.name} runs the programs again")
                for words in embedded.marked(page):
                    with tempfile.TemporaryDirectory() as folder:
                        file, options = Path(folder) / "t", embedded.chosen(words)
                        only = options["only"].split(",") if options["only"] else []
                        ran.versions(page, only, options["study"], file)
                        made = embedded.made(trace.read(file), page, words)
                    kept = embedded.file_of(page, words).read_text(encoding="utf-8")
                    self.assertTrue(made == kept,
                                    f"{words}: docs/lessons --trace {page.name} runs them again")
                compared += 1
        self.assertGreater(compared, 0)


if __name__ == "__main__":
    unittest.main()
