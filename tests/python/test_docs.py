"""The documentation: the Markdown filter, the link checker, and the site itself."""
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

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "common" / "python")]
import doxygen_filter  # noqa: E402
import embed  # noqa: E402
import link_check  # noqa: E402
import search_index  # noqa: E402
import turn  # noqa: E402
from course.draw import embedded  # noqa: E402
from course.draw import page as draw_page  # noqa: E402
from course.pages import Page  # noqa: E402
from fold import folded  # noqa: E402

CONFUSING = """# Title of `x`

See [two](../02_b/README.md#a-heading), [a file](x.cu#L2) and [web](https://e.org/#a).
Use `--only 1-3`, `%d` and --list; `a code span
with --flag` goes on. Mail a@b, #7, 5 %d, \\n.

## A heading: [`x.cu`](x.cu)

<!-- results: sequence -->
| a | `b \\| c` |
|---|--:|
| <!-- value: s v rate -->1<!-- /value --> | 2 |

An H200.
<!-- /results -->

> [!NOTE]
> Noted.

Costs $5 or $6, and $t = n/B$.

```bash
echo $HOME $PATH  # [no](link.md) @x
```

```cuda
kernel<<<1, 2>>>(p);
```

```math
a = b
```

    ./run   # @x $y$

- [ ] task
<details><summary>Why? [a](b)</summary>
<a href="x.cu">raw</a> $x$
</details>

Last <!-- a
comment --> line.
"""


def tree(folder: str, **files: str) -> Path:
    """A small course: names have __ for a slash and end in the suffix after the last _."""
    root = Path(folder).resolve()
    for name, text in files.items():
        stem, _, suffix = name.replace("__", "/").rpartition("_")
        path = root / f"{stem}.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


class Filter(unittest.TestCase):
    text: str
    lines: List[str]

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        root = tree(folder.name, chapters__01_a__README_md=CONFUSING,
                    chapters__02_b__README_md="# Two\n## A heading\n", chapters__01_a__x_cu="")
        page = root / "chapters/01_a/README.md"
        cls.text = doxygen_filter.convert(CONFUSING, page, root)
        cls.lines = cls.text.split("\n")

    def test_links(self) -> None:
        self.assertIn("[two](chapters_02_b.html#chapters_02_b-a-heading)", self.text)
        self.assertIn("[a file](files/chapters/01_a/x.cu#l00002)", self.text)
        self.assertIn("[web](https://e.org/#a)", self.text)

    def test_commands_are_escaped_outside_code_only(self) -> None:
        self.assertIn("`--only 1-3`, `%%d` and \\--list", self.text)
        self.assertIn("`a code span\nwith --flag` goes on", self.text)
        self.assertIn("Mail a\\@b, \\#7, 5 \\%d, \\\\n.", self.text)

    def test_headings(self) -> None:
        self.assertEqual(self.lines[0], "# Title of x {#chapters_01_a}")
        at = self.lines.index("## A heading {#chapters_01_a-a-heading-xcu}")
        self.assertIn('<a href="files/chapters/01_a/x.cu">x.cu</a>', self.lines[at + 1])

    def test_markers_vanish_or_say_what_was_measured(self) -> None:
        self.assertEqual(re.findall("<!--.*?-->", self.text), ["<!--results-->", "<!--/results-->"])
        self.assertIn('| <span class="measured">1</span> | 2 |', self.text)
        self.assertNotIn("comment", self.text)

    def test_a_block_of_results_is_marked(self) -> None:
        start = self.lines.index(r"\htmlonly[block]<!--results-->\endhtmlonly")
        end = self.lines.index(r"\htmlonly[block]<!--/results-->\endhtmlonly")
        self.assertTrue(self.lines[start + 1].startswith("| a |"))
        self.assertEqual(self.lines[end - 1], "")
        self.assertIn("An H200.", self.lines[end - 2])

    def test_tables_and_alerts(self) -> None:
        self.assertIn("| a | <code>b \\| c</code> |", self.text)
        self.assertIn("> **Note.**\n> Noted.", self.text)

    def test_formulas(self) -> None:
        self.assertIn("Costs $5 or $6, and \\f$t = n/B\\f$.", self.text)
        self.assertIn("\\f[\na = b\n\\f]", self.text)

    def test_code_is_left_alone(self) -> None:
        self.assertIn("```{.unparsed}\necho $HOME $PATH  # [no](link.md) @x\n```", self.text)
        self.assertIn("```{.cpp}\nkernel<<<1, 2>>>(p);\n```", self.text)
        self.assertIn("    ./run   # @x $y$", self.text)

    def test_details(self) -> None:
        self.assertIn("- \u2610 task\n\n\\htmlonly[block]<details>", self.text)
        self.assertIn('<a href="files/chapters/01_a/x.cu">raw</a> $x$', self.text)
        self.assertIn("</details>\\endhtmlonly", self.text)

    def test_line_numbers_stay(self) -> None:
        for number, line in enumerate(CONFUSING.split("\n")[:40]):
            if line.startswith(("|", ">", "Costs", "    ", "- ")):
                self.assertEqual(self.lines[number][:1], line[:1], number + 1)

    def test_anchors_are_those_of_github(self) -> None:
        text = "# A `b_c` (d)!\n## Twice\n```\n# code\n```\n## Twice\n### 02 Two: [x.cu](y)\n"
        names = list(doxygen_filter.headings(text).values())
        self.assertEqual(names, ["a-b_c-d", "twice", "twice-1", "02-two-xcu"])

    def test_first_comment_describes_a_source_file(self) -> None:
        text = "// Idea: 3 < 4.\n//\n//   nvcc x.cu\n\n/// k<<<1, 2>>>\n// not this\n"
        lines = doxygen_filter.describe(text, "a/x.cu").split("\n")
        self.assertEqual(lines[0], "/// @file a/x.cu Idea: 3 \\< 4.")
        self.assertEqual(lines[2], "///      nvcc x.cu")
        self.assertEqual(lines[4:6], ["/// k\\<\\<\\<1, 2\\>\\>\\>", "// not this"])

    def test_code_in_a_comment_is_left_alone(self) -> None:
        code = ["  ///     k<<<1, 2>>>(n);", "  /// calls `k<<<1, 2>>>` twice"]
        self.assertEqual(doxygen_filter.describe("\n".join(code), "a/x.cu").split("\n")[:2], code)
        self.assertEqual(doxygen_filter.launches("/// `f` and k<<<1>>>"),
                         "/// `f` and k\\<\\<\\<1\\>\\>\\>")


class Links(unittest.TestCase):
    def check(self, **files: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            root = tree(folder, **files)
            return "\n".join(link_check.check_markdown(root) + link_check.check_html(root))

    def test_markdown(self) -> None:
        good = "# A b\n[x](#a-b) [y](docs/p.md#q) [z](https://e.org) ![i](i.svg) `[c](none)`\n"
        other = {"docs__p_md": "# Q\n[up](../README.md)\n", "i_svg": ""}
        self.assertEqual(self.check(README_md=good, **other), "")
        bad = '# A\n[x](#b)\n[y](none.md)\n<img src="none.svg">\n[z](../out.md)\n```\n[c](d)\n```\n'
        said = self.check(README_md=bad).splitlines()
        self.assertEqual([line.split(":")[1] for line in said], ["2", "3", "4", "5"])
        self.assertIn("there is no such heading", said[0])

    def test_html(self) -> None:
        other = {"b_html": '<a id="c" href="a.html">up</a>', "i_png": ""}
        good = '<a href="b.html#c">x</a><img src="i.png"><a href="https://e.org">y</a>'
        self.assertEqual(self.check(a_html=good, **other), "")
        bad = '<a href="b.html#d">x</a><img src="j.png"><script src="https://cdn.org/x"></script>'
        said = self.check(a_html=bad, **other).splitlines()
        ends = ["no such anchor", "no such file", "needs the network"]
        self.assertEqual(len(said), 3)
        for line, end in zip(said, ends):
            self.assertTrue(line.endswith(end), line)


class Pages(unittest.TestCase):
    def test_links_of_the_course(self) -> None:
        self.assertEqual(link_check.check_markdown(ROOT), [])

    def test_notebook(self) -> None:
        notebook = json.loads((ROOT / "docs/colab.ipynb").read_text(encoding="utf-8"))
        self.assertEqual((notebook["nbformat"], len(notebook["cells"])), (4, 6))
        for cell in notebook["cells"]:
            self.assertEqual((cell["cell_type"], cell["outputs"]), ("code", []))
            self.assertFalse("%%" in "".join(cell["source"]) or "%load" in "".join(cell["source"]))


class Turns(unittest.TestCase):
    def test_order(self) -> None:
        found = turn.turns([[("a.html", "A"), ("b.html", "B"), ("c.html", "C")], [("d.html", "D")]])
        self.assertEqual(found["a.html"], (None, ("b.html", "B")))
        self.assertEqual(found["b.html"], (("a.html", "A"), ("c.html", "C")))
        self.assertEqual(found["c.html"], (("b.html", "B"), None))
        self.assertEqual(found["d.html"], (None, None))

    def test_links_stand_at_head_and_foot(self) -> None:
        page = '<div class="contents">text</div><!-- contents -->'
        text = turn.with_turns(page, (("a.html", "A & B"), ("c.html", "C")))
        self.assertEqual(neighbours(text), [("a.html", "c.html")] * 2)
        self.assertLess(text.index("turn head"), text.index("text"))
        self.assertGreater(text.index("turn foot"), text.index("text"))
        self.assertIn("A &amp; B", text)


class Search(unittest.TestCase):
    def test_sections(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            root = tree(folder, chapters__01_a__README_md="# 01 A: b\nIntro.\n\n## A `warp`'s\n"
                        "**Bank** <!-- value: s v rate -->1<!-- /value -->\n[conflict](x.md).\n")
            found = search_index.sections(root / "chapters/01_a/README.md", root, 0)
        self.assertEqual(found, [
            (0, "01 A: b", "", "chapters_01_a.html", "intro."),
            (0, "01 A: b", "A warp's", "chapters_01_a.html#chapters_01_a-a-warps",
             "bank 1 conflict .")])

    def test_a_page_beside_the_course_says_where_it_stands(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            root = tree(folder, **{"chapters__01_a__exercises__2-b_md": "# Exercise 2: b\nDo it.\n"})
            page = next(root.glob("chapters/*/exercises/*.md"))
            (_, where, what, _, text), = search_index.sections(page, root, 1)
        self.assertEqual((where, what, text), ("chapters/01_a/exercises", "Exercise 2: b", "do it."))


class Folds(unittest.TestCase):
    PAGE = ('<div class="contents"><div class="textblock">{}<p>Free.</p></div></div>')
    PARTS = {
        "Measured": "<p><b>Measured.</b> 7 GB/s</p>",
        "Results": "<!--results--> <table></table>\n<p>An H200</p>\n<!--/results-->",
        "Plot: All": '<p ><img src="files/01/results/h200-all.svg" alt="All" class="inline"/></p>',
    }

    def test_all_that_was_measured(self) -> None:
        page = folded(self.PAGE.format("".join(self.PARTS.values())))
        found = re.findall('<details class="measured" open><summary>(.*?)</summary>(.*?)</details>',
                           page, re.S)
        self.assertEqual([title for title, _ in found], list(self.PARTS))
        self.assertIn("An H200", found[1][1])
        self.assertIn("</details><p>Free.</p>", page)
        self.assertEqual(page.count('id="fold"'), 1)

    def test_one_figure_is_enough_for_the_button(self) -> None:
        page = folded(self.PAGE.format('<p><span class="measured">7</span></p>'))
        self.assertEqual((page.count('id="fold"'), page.count("<details")), (1, 0))

    def test_a_drawing_stays(self) -> None:
        page = self.PAGE.format('<p><img src="files/01/results/drawn/a.svg" alt="A"/></p>')
        self.assertEqual(folded(page), page)


class DrawnPages(unittest.TestCase):
    """`page` markers on the site."""
    LINK = '<p>It is here, from <a href="files/chapters/01_a/results/drawn/page-{}.json">{}</a>.</p>'

    def test_each_link_becomes_its_page(self) -> None:
        text = "<p>Before.</p>" + "<p>Between.</p>".join(self.LINK.format(k, k) for k in "xy")
        made = embed.with_pages(text + "<p>Behind.</p>")
        self.assertEqual(re.findall('<iframe src="([^"]*)"', made), [
            f"files/chapters/01_a/results/drawn/page-{name}.html" for name in "xy"])
        self.assertEqual(re.findall("<p>(.*?)</p>", made), ["Before.", "Between.", "Behind."])
        self.assertNotIn(".json", made)

    def test_other_data_stay_links(self) -> None:
        text = '<p><a href="files/chapters/01_a/results/h200.json">x</a></p>'
        self.assertEqual(embed.with_pages(text), text)


def neighbours(page: str) -> List[Tuple[str, str]]:
    """The pages before and after, as head and foot of a page of the site name them."""
    found = []
    for nav in re.findall(r'<nav class="turn.*?</nav>', page, re.S):
        links = dict(re.findall(r'rel="(prev|next)" href="([^"]*)"', nav))
        found.append((links.get("prev", ""), links.get("next", "")))
    return found


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
        self.assertIn("chapters_03_transpose.html", at["bank conflict"][:3])
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
