"""The site as Doxygen and docs/build make it: a small one, and that of the course, in a browser where there is one."""
import functools
import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from test_docs import CONFUSING, ROOT, doxygen_filter, draw_page, embedded, neighbours, tree
from course.pages import Page


def build(root: Path, out: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(root / "docs/build"), "--out", str(out), *options]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@unittest.skipUnless(shutil.which("doxygen"), "doxygen is not installed")
class SmallSite(unittest.TestCase):
    def test_small_tree(self) -> None:
        kernel = "/// Adds.\n__global__ void __launch_bounds__(256) add_all(float* p) { *p = 1; }\n"
        with tempfile.TemporaryDirectory() as folder:
            root = tree(folder, README_md="# Course\n[one](chapters/01_a/)\n[p](docs/p.md)\n",
                        chapters__01_a__README_md=CONFUSING, chapters__01_a__x_cu=kernel,
                        chapters__02_b__README_md="# Two\n## A heading\n[c](../../c.txt)\n",
                        docs__p_md="# P\n", c_txt="text", common__h_hpp="/// One.\nint one();\n")
            for file in (ROOT / "docs").iterdir():
                if file.suffix in ("", ".py", ".css", ".js") and file.is_file():
                    shutil.copy(str(file), str(root / "docs" / file.name))
            python = "common/python"
            shutil.copytree(str(ROOT / python), str(root / python))
            out = root / "site"
            done = build(root, out, "--plain")
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertTrue("add_all" in (out / "x_8cu.html").read_text(encoding="utf-8"))
            page = (out / "chapters_01_a.html").read_text(encoding="utf-8")
            self.assertTrue('href="x_8cu_source.html#l00002"' in page)
            self.assertEqual((out / "files/c.txt.txt").read_text(), "text")
            self.plain_site(out)
            (root / "chapters/02_b/README.md").write_text(
                "# Two\n## A heading\n<!-- page: 01_x -->\n")
            done = build(root, out, "--plain")
            self.assertEqual(done.returncode, 1)
            self.assertIn("chapters/02_b/README.md: nothing was traced for 'page: 01_x'",
                          done.stdout)
            (root / "common/h.hpp").write_text("/// See \\ref nothing.\nint one();\n")
            done = build(root, out)
            self.assertEqual(done.returncode, 1)
            self.assertIn("common/h.hpp:1: ", done.stdout)
            self.assertEqual(build(root, root / "docs").returncode, 2)

    def plain_site(self, out: Path) -> None:
        """Without the theme there is no switch, and all else."""
        page = (out / "chapters_01_a.html").read_text(encoding="utf-8")
        self.assertNotIn("doxygen-awesome", page)
        self.assertEqual(neighbours(page), [("index.html", "chapters_02_b.html")] * 2)
        self.assertEqual(page.count('<details class="measured" open>'), 1)
        index = (out / "search_index.js").read_text(encoding="utf-8")
        self.assertIn('"x_8cu.html', index)
        self.assertLess(index.index("chapters_02_b.html"), index.index("add_all"))


def browser() -> Optional[str]:
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
                None)


@unittest.skipUnless(shutil.which("doxygen"), "doxygen is not installed")
class Site(unittest.TestCase):
    """The whole course; its pages are looked at in a browser, where there is one."""

    PAGES = ["index.html", "chapters_01_vector_add.html", "chapters_03_transpose.html",
             "docs_errors.html", "06__padded_8cu_source.html", "06__padded_8cu.html",
             "classcourse_1_1GpuTimer.html"]
    WORDS = ["bank conflict", "warp", "occupancy", "coalesced"]
    out: Path

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.out = Path(folder.name) / "site"
        done = build(ROOT, cls.out)
        if done.returncode:
            raise AssertionError(done.stdout)

    def test_every_lesson_leads_on(self) -> None:
        names = [doxygen_filter.page_id(path, ROOT)
                 for path in sorted(ROOT.glob("chapters/[0-9]*/*.md"))]
        chain = ["", "index.html", *(f"{name}.html" for name in names), ""]
        for before, name, after in zip(chain, chain[1:], chain[2:]):
            page = (self.out / name).read_text(encoding="utf-8")
            self.assertEqual(neighbours(page), [(before, after)] * 2, name)

    def test_every_docs_page_leads_on(self) -> None:
        page, seen = "docs_where_to_run.html", []
        while page:
            seen.append(page)
            page = neighbours((self.out / page).read_text(encoding="utf-8"))[-1][1]
        self.assertEqual(sorted(seen), sorted(f"docs_{path.stem}.html"
                                              for path in (ROOT / "docs").glob("*.md")))
        menu = (self.out / "menudata.js").read_text(encoding="utf-8")
        self.assertEqual(seen, re.findall(r"docs_\w+\.html", menu))

    def test_every_page_of_requests_is_there(self) -> None:
        """Each is the template of --draw, filled with what is committed; the lesson shows it."""
        seen = 0
        for path in sorted(ROOT.glob("chapters/[0-9]*/*.md")):
            lesson = Page(path, ROOT)
            shown = (self.out / f"{doxygen_filter.page_id(path, ROOT)}.html").read_text("utf-8")
            frames = []
            for words in embedded.marked(lesson):
                file = embedded.file_of(lesson, words)
                name = f"files/{file.relative_to(ROOT).with_suffix('.html').as_posix()}"
                frames.append(name)
                self.assert_filled((self.out / name).read_text(encoding="utf-8"), file)
                self.assertIn(f'<a href="{name}">The page alone</a>', shown)
                self.assertIn(html.escape(embedded.command(lesson, words)), shown)
            self.assertEqual(re.findall('<iframe src="([^"]*)"', shown), frames, lesson.name)
            seen += len(frames)
        self.assertEqual(seen, len(list(self.out.rglob("page-*.html"))))
        self.assertGreaterEqual(seen, 5)
        self.assertEqual(list(ROOT.glob("chapters/*/results/**/*.html")), [])

    def assert_filled(self, made: str, file: Path) -> None:
        """A page on the site holds what a file holds, and the text of its sources."""
        kept, data = json.loads(file.read_text(encoding="utf-8")), draw_page.data_of(made)
        self.assertEqual(made, draw_page.render(data))
        for kernel in kept["kernels"]:
            kernel["source"] = [
                {"name": Path(s["file"]).name, "first": s["first"], "text":
                 (file.parents[2] / s["file"]).read_text(encoding="utf-8").splitlines()[
                     s["first"] - 1:][:s["lines"]]} for s in kernel["source"]]
        del kept["code"]
        self.assertEqual(kept, data)

    def test_every_result_folds(self) -> None:
        for path in sorted(ROOT.glob("chapters/[0-9]*/*.md")):
            lesson = path.read_text(encoding="utf-8")
            name = f"{doxygen_filter.page_id(path, ROOT)}.html"
            page = (self.out / name).read_text(encoding="utf-8")
            blocks = re.findall("^<!-- (?:results|limiters|table):", lesson, re.M)
            folds = page.count('<details class="measured" open><summary>Results<')
            self.assertEqual(folds, len(blocks), name)
            self.assertEqual(page.count("<details"), page.count("</details>"), name)

    @classmethod
    @functools.lru_cache(maxsize=None)
    def seen(cls) -> Dict[str, Any]:
        """What site_probe.js sees."""
        wanted = {"pages": cls.PAGES, "words": cls.WORDS, "lesson": cls.PAGES[2]}
        probe = (ROOT / "tests/python/site_probe.js").read_text(encoding="utf-8")
        page = cls.out / "probe.html"
        page.write_text(f"<!DOCTYPE html><body><script>const wanted = {json.dumps(wanted)};\n"
                        f"{probe}</script></body>", encoding="utf-8")
        done = subprocess.run(
            [str(browser()), "--headless", "--no-sandbox", "--disable-gpu",
             "--allow-file-access-from-files", f"--user-data-dir={cls.out.parent}/profile",
             "--blink-settings=preferredColorScheme=1", "--virtual-time-budget=20000",
             "--window-size=800,900", "--dump-dom", f"file://{page}"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=120, check=True)
        found = re.search("<pre>(.*?)</pre>", done.stdout, re.S)
        said = json.loads(html.unescape(found[1])) if found else {"error": done.stdout[-2000:]}
        if "error" in said:
            raise AssertionError(said["error"])
        return said

    @unittest.skipUnless(browser(), "no Chromium: nobody looks at the site")
    def test_a_telephone_of_400_pixels(self) -> None:
        for name, page in self.seen()["pages"].items():
            self.assertEqual(page["viewport"], 400)
            self.assertLessEqual(page["width"], 400, name)
            self.assertEqual(page["cut"], [], name)
            self.assertEqual(page["shadows"], [], name)
            self.assertEqual(page["scrolled"], 0, name)
            self.assertGreaterEqual(page["font"], 13, name)
        closed, opened, right = self.seen()["menu"]
        self.assertTrue(closed == 0 and opened > 100 and right <= 400, self.seen()["menu"])

    @unittest.skipUnless(browser(), "no Chromium: nobody searches the site")
    def test_search_finds_lessons_first(self) -> None:
        for words, found in self.seen()["found"].items():
            ranks = [rank for rank, _, _ in found]
            self.assertEqual(ranks, sorted(ranks), words)
            self.assertGreaterEqual(ranks.count(0), 3, words)
            for _, address, title in found:
                self.assertTrue((self.out / address.partition("#")[0]).is_file(), address)
                self.assertTrue(title)
        at = {words: [address.partition("#")[0] for _, address, _ in found]
              for words, found in self.seen()["found"].items()}
        self.assertEqual(at["bank conflict"][1], "chapters_02_reduction.html")  # which teaches it
        self.assertIn("chapters_03_transpose.html", at["bank conflict"][:5])
        self.assertEqual(at["occupancy"][0], "docs_occupancy.html")
        self.assertTrue(self.seen()["found"]["warp"][0][1].endswith("#docs_glossary-warp"))
        self.assertTrue(any(rank == 2 for rank, _, _ in self.seen()["found"]["warp"]))

    @unittest.skipUnless(browser(), "no Chromium: nobody folds")
    def test_folding_and_quiz(self) -> None:
        said = self.seen()
        self.assertGreater(len(said["before"]), 10)
        self.assertTrue(all(said["before"]))
        self.assertFalse(any(said["folded"]) or any(said["kept"]))
        self.assertEqual(said["quiz"], [False, True])

    @unittest.skipUnless(browser(), "no Chromium: nobody sees the colours")
    def test_light_and_dark_are_legible(self) -> None:
        said = self.seen()
        if "dark" not in said:
            self.skipTest("the theme is not installed")
        self.assertEqual([(look["dark"], look["kept"]) for look in said["dark"]],
                         [(True, True), (False, False)])
        for look in [*said["pages"].values(), *said["dark"]]:
            for part in ("links", "code", "menu", "quiz"):
                self.assertGreaterEqual(look.get(part, 99), 4.5, part)
            self.assertLessEqual(look["width"], 400)


if __name__ == "__main__":
    unittest.main()
