"""The documentation: the Markdown filter, the link checker, and what the site is made of; test_site.py makes it."""
import contextlib
import html
import io
import json
import re
import sys
import tempfile
import unittest
from pathlib import Path
from typing import List, Tuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "common" / "python")]
import doxygen_filter  # noqa: E402
import embed  # noqa: E402
import link_check  # noqa: E402
import search_index  # noqa: E402
import turn  # noqa: E402
from course import lessons  # noqa: E402
from course.draw import embedded  # noqa: E402
from course.draw import page as draw_page  # noqa: E402
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


def neighbours(page: str) -> List[Tuple[str, str]]:
    """The pages before and after, as head and foot of a page of the site name them."""
    found = []
    for nav in re.findall(r'<nav class="turn.*?</nav>', page, re.S):
        links = dict(re.findall(r'rel="(prev|next)" href="([^"]*)"', nav))
        found.append((links.get("prev", ""), links.get("next", "")))
    return found


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

    def test_a_drawing_below_the_links_of_a_heading_stays_code(self) -> None:
        text = "### 02 Two: [x.cu](x.cu)\n\n    a --> <b>\n      c\n\nText.\n\n    plain\n"
        lines = doxygen_filter.convert(text, ROOT / "chapters/01_vector_add/README.md").split("\n")
        self.assertTrue(lines[1].endswith('</p><pre class="fragment">'), lines[1])
        self.assertEqual(lines[2:6], ["a --&gt; &lt;b&gt;", r"  c</pre>\endhtmlonly", "", "Text."])
        self.assertIn("    plain", lines)

    def test_no_line_of_a_paragraph_looks_like_an_item(self) -> None:
        """Doxygen begins a list there, even within a sentence: `w =`, and on the next line `17. So`."""
        for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("chapters/**/*.md")]:
            before = ""
            for kind, line in doxygen_filter.classify(page.read_text(encoding="utf-8")):
                prose = kind == "text" and re.match(r"[^\s|#>0-9*+-]", before)
                if prose and re.match(r"\d+[.)] |[+] ", line):
                    self.fail(f"{page.relative_to(ROOT)}: {before[-30:]} | {line[:40]}")
                before = line if kind == "text" else ""

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

    def test_names_in_a_first_comment_are_code(self) -> None:
        self.assertEqual(doxygen_filter.describe("// Four by __dp4a and a_b.", "a/x.cu"),
                         "/// @file a/x.cu Four by `__dp4a` and `a_b`.\n")

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

    def test_tables_and_listings_are_those_of_results_and_sources(self) -> None:
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = lessons.main(["--check"], ROOT)
        self.assertEqual(code, 0, said.getvalue())

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
                        "<!-- teaches: bank\n conflict, Tile -->\n\n**Bank** <!-- value: s v rate -->1<!-- /value -->\n[conflict](x.md).\n")
            found = search_index.sections(root / "chapters/01_a/README.md", root, 0)
        self.assertEqual(found, [
            (0, "01 A: b", "", "chapters_01_a.html", "intro.", []),
            (0, "01 A: b", "A warp's", "chapters_01_a.html#chapters_01_a-a-warps",
             "bank 1 conflict .", ["bank conflict", "tile"])])

    def test_a_page_beside_the_course_says_where_it_stands(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            root = tree(folder, **{"chapters__01_a__exercises__2-b_md": "# Exercise 2: b\nDo it.\n"})
            page = next(root.glob("chapters/*/exercises/*.md"))
            (_, where, what, _, text, _), = search_index.sections(page, root, 1)
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


if __name__ == "__main__":
    unittest.main()
