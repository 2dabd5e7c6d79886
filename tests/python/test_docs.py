"""The documentation: the Markdown filter, the link checker, and the site itself."""
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import List

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))
import doxygen_filter  # noqa: E402
import link_check  # noqa: E402

CONFUSING = """# Title of `x`

See [two](../02_b/README.md#a-heading), [a file](x.cu#L2) and [web](https://e.org/#a).
Use `--only 1-3`, `%d` and --list; `a code span
with --flag` goes on. Mail a@b, #7, 5 %d, \\n.

## A heading: [`x.cu`](x.cu)

<!-- results: sequence -->
| a | `b \\| c` |
|---|--:|
| <!-- value: s v rate -->1<!-- /value --> | 2 |

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

    def test_markers_vanish(self) -> None:
        self.assertNotIn("<!--", self.text)
        self.assertIn("| 1 | 2 |", self.text)
        self.assertNotIn("comment", self.text)

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
        for number, line in enumerate(CONFUSING.split("\n")[:38]):
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


@unittest.skipUnless(shutil.which("doxygen"), "doxygen is not installed")
class Site(unittest.TestCase):
    def build(self, root: Path, out: Path) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, str(root / "docs/build"), "--out", str(out)]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def test_small_tree(self) -> None:
        kernel = "/// Adds.\n__global__ void __launch_bounds__(256) add_all(float* p) { *p = 1; }\n"
        with tempfile.TemporaryDirectory() as folder:
            root = tree(folder, README_md="# Course\n[one](chapters/01_a/)\n[p](docs/p.md)\n",
                        chapters__01_a__README_md=CONFUSING, chapters__01_a__x_cu=kernel,
                        chapters__02_b__README_md="# Two\n## A heading\n[c](../../c.txt)\n",
                        docs__p_md="# P\n", c_txt="text", common__h_hpp="/// One.\nint one();\n")
            for name in ("build", "doxygen_filter.py", "link_check.py", "fold.py", "Doxyfile",
                         "site.css"):
                shutil.copy(str(ROOT / "docs" / name), str(root / "docs" / name))
            python = "common/python"
            shutil.copytree(str(ROOT / python), str(root / python))
            out = root / "site"
            done = self.build(root, out)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertTrue("add_all" in (out / "x_8cu.html").read_text(encoding="utf-8"))
            page = (out / "chapters_01_a.html").read_text(encoding="utf-8")
            self.assertTrue('href="x_8cu_source.html#l00002"' in page)
            self.assertEqual((out / "files/c.txt.txt").read_text(), "text")
            (root / "common/h.hpp").write_text("/// See \\ref nothing.\nint one();\n")
            done = self.build(root, out)
            self.assertEqual(done.returncode, 1)
            self.assertIn("common/h.hpp:1: ", done.stdout)
            self.assertEqual(self.build(root, root / "docs").returncode, 2)

    def test_whole_course(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            done = self.build(ROOT, Path(folder) / "site")
            self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
