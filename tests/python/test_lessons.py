"""Generated blocks of the lessons: written, checked, and refused with file and line."""
import contextlib
import io
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from test_results import ROOT, Folder, ladder, make_file, make_row, make_study, sweep  # noqa: E402
from course import lessons, listings, pages  # noqa: E402

SOURCE = '''\
// The idea; a brace { here and "quotes" do not count.
#include <cstdio>
#define OPEN {
namespace simple {

// Adds; this comment is not part of the listing.
template <int kBlock>
__global__ void __launch_bounds__(kBlock)
add(const float* a, float* out, std::int64_t n) {
    const char brace = '{';  // }
    if (helper(n)) out[0] = 1'000.0f;
    printf("} %d\\n", brace);
}

struct Point {
    float x, y;
};

// snippet: launcher
cudaError_t launch(const float* a, float* out, std::int64_t n, cudaStream_t stream) {
    add<256><<<1, 256, 0, stream>>>(a, out, n);
    return cudaGetLastError();
}
// /snippet

inline int twice(int x) { return 2 * x; }
inline float twice(float x) { return 2 * x; }
int once(int x) noexcept { return x; }

}  // namespace simple
'''


class Extracts(unittest.TestCase):
    def test_function_with_template_line(self):
        lines = listings.extract(SOURCE, "add").split("\n")
        self.assertEqual(lines[0], "template <int kBlock>")
        self.assertEqual(lines[-1], "}")
        self.assertEqual(len(lines), 7)

    def test_body(self):
        lines = listings.extract(SOURCE, "add", body=True).split("\n")
        self.assertEqual(lines[0], "const char brace = '{';  // }")
        self.assertEqual(len(lines), 3)
        self.assertEqual(listings.extract(SOURCE, "once", body=True), "return x;")

    def test_struct(self):
        self.assertEqual(listings.extract(SOURCE, "Point"), "struct Point {\n    float x, y;\n};")

    def test_tag_and_function_without_its_marker_lines(self):
        self.assertEqual(listings.extract(SOURCE, "launcher"), listings.extract(SOURCE, "launch"))
        self.assertNotIn("snippet", listings.extract(SOURCE, "all"))

    def test_a_directive_at_the_left_edge_is_no_indent(self):
        source = ("void f() {\n  int n = 0;\n#pragma unroll\n  for (;;) {\n    ++n;\n  }\n}\n")
        self.assertEqual(listings.extract(source, "f", body=True),
                         "int n = 0;\n#pragma unroll\nfor (;;) {\n  ++n;\n}")

    def test_indented_code_is_dedented(self):
        text = "struct S {\n    int f() {\n        return 1;\n    }\n};\n"
        self.assertEqual(listings.extract(text, "f"), "int f() {\n    return 1;\n}")
        self.assertEqual(listings.extract(text, "f", body=True), "return 1;")

    def test_declarations_and_calls_are_not_definitions(self):
        text = "int f(int);\nint g() { return f(1); }\nint f(int x)\n{\n    return x;\n}\n"
        self.assertEqual(listings.extract(text, "f"), "int f(int x)\n{\n    return x;\n}")

    def test_function_after_preprocessor_line(self):
        text = "#if A(x) && \\\n    B\nint f() { return 1; }\n#endif\n"
        self.assertEqual(listings.extract(text, "f"), "int f() { return 1; }")

    def test_refusals(self):
        for symbol, words in (("twice", "several definitions of 'twice' \\(lines 26, 27\\)"),
                              ("printf", "no function"), ("nothing", "no function")):
            with self.assertRaisesRegex(pages.LessonError, words):
                listings.extract(SOURCE, symbol)
        with self.assertRaisesRegex(pages.LessonError, "has no end"):
            listings.extract("// snippet: a\nint x;\n", "a")


class Map(unittest.TestCase):
    """The picture on the front page shows what the lessons' own markers say."""

    def test_arrows_are_the_needs(self):
        lessons_in_order = [pages.Page(path, ROOT)
                            for path in sorted(ROOT.glob("chapters/[0-9]*/README.md"))]
        taught, direct = {}, {}
        for page in lessons_in_order:
            chapter = page.path.parent.name[:2]
            for marker in page.markers:
                words = [" ".join(word.lower().split()) for word in marker.words.split(",")]
                if marker.kind == "teaches":
                    for word in words:
                        taught.setdefault(word, chapter)
                elif marker.kind == "needs":
                    direct.setdefault(chapter, set()).update(taught[word] for word in words)
        above = {}  # all that a chapter stands on, and then what no arrow in between says already
        for chapter in sorted(direct):
            mine = direct[chapter] - {chapter}
            above[chapter] = mine.union(*(above.get(other, set()) for other in mine))
        arrows = {(other, chapter) for chapter in above for other in above[chapter]
                  if not any(other in above.get(between, set()) for between in above[chapter])}
        drawn = (ROOT / "docs" / "map.svg").read_text(encoding="utf-8")
        self.assertEqual(set(re.findall(r'data-needs="(\d\d) (\d\d)"', drawn)), arrows)
        chapters = {page.path.parent.name[:2] for page in lessons_in_order}
        self.assertEqual(set(re.findall(r'data-chapter="(\d\d)"', drawn)), chapters)


class Pages(Folder):
    def setUp(self):
        super().setUp()
        studies = [make_study(), make_study("sizes", "n")]
        self.write(make_file(ladder() + sweep(), studies), "chapters/01_add/results/h200.json")
        (self.folder / "chapters/01_add/01_simple.cu").write_text(SOURCE, encoding="utf-8")

    def page(self, text, name="chapters/01_add/README.md"):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def run_lessons(self, *arguments):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = lessons.main([str(argument) for argument in arguments], self.folder)
        return code, out.getvalue()

    def written(self, text):
        """The text after --update, which --check accepts and a second --update leaves alone."""
        path = self.page(text)
        code, out = self.run_lessons("--update")
        self.assertEqual(code, 0, out)
        result = path.read_text(encoding="utf-8")
        self.assertEqual(self.run_lessons("--check")[0], 0)
        self.assertNotIn("written", self.run_lessons("--update")[1])
        return result

    def refused(self, text, *words):
        path = self.page(text)
        code, out = self.run_lessons("--update")
        self.assertEqual(code, 1)
        for word in words:
            self.assertIn(word, out)
        self.assertEqual(path.read_text(encoding="utf-8"), text)

    def test_table_of_a_sequence(self):
        text = self.written("# A\n\n<!-- results: sequence columns=rate,check only=01-04 -->\n"
                            "<!-- /results -->\nafter\n")
        self.assertEqual(text.split("\n")[2:-1], [
            "<!-- results: sequence columns=rate,check only=01-04 -->",
            "| version | rate | check |", "|---|--:|--:|",
            "| [01_simple](01_simple.cu) | 2000 GB/s | ok |", "| 02_vectors | 3800 GB/s | ok |",
            "| 03_wrong | FAILED |  |", "| 04_new | skipped: needs compute capability 9.0 |  |", "",
            "NVIDIA H200, CUDA 13.0, 2026-11-20, commit abc1234", "<!-- /results -->", "after"])

    def table(self, options):
        text = self.written(f"<!-- results: {options} -->\n<!-- /results -->\n")
        return text.split("\n")[1:-4]

    def test_tables_of_a_sweep(self):
        self.assertEqual(self.table("sizes at=2^12,2^14"), [
            "| n of the data | 01_simple GB/s | 02_vectors GB/s |", "|---|--:|--:|",
            "| 2^12 | 100.0 | 150.0 |", "| 2^14 | 200.0 | 300.0 |"])
        self.assertEqual(self.table("sizes at=2^12 columns=02,02.ratio:01")[0::2], [
            "| n of the data | 02_vectors GB/s | 02_vectors over 01 |", "| 2^12 | 150.0 | 1.50x |"])
        self.assertEqual(self.table("sizes at=2^12 columns=rate,of_limit only=01")[0::2], [
            "| n of the data | 01_simple GB/s | 01_simple % of limit |",
            "| 2^12 | 100.0 | 2.5 % |"])
        self.assertEqual(self.table("sizes size=n:2^12 columns=rate,x_previous")[2:], [
            "| [01_simple](01_simple.cu) | 100.0 GB/s | - |",
            "| 02_vectors | 150.0 GB/s | 1.50x |"])

    def test_share_of_a_limit_at_the_rows_own_clock(self):
        limit = {"name": "all busy", "value": 4000, "unit": "GB/s", "how": "derived: at 1980 MHz"}
        rows = [make_row("01_simple", 1000, limit=limit, clock_mhz=1320),
                make_row("02_vectors", 1000, limit=limit, clock_mhz=None),
                make_row("03_wide", 1000, clock_mhz=1320)]
        self.write(make_file(rows, [make_study()]), "chapters/01_add/results/h200.json")
        lines = self.table("sequence columns=clock,at_clock")
        self.assertEqual(lines[0], "| version | clock | % at its clock |")
        self.assertEqual([line.split(" | ", 1)[1] for line in lines[2:5]],
                         ["1320 MHz | 37.5 % |", "- | - |", "1320 MHz | - |"])

    def test_table_by_size(self):
        sizes = [{"rows": 64, "cols": 64}, {"rows": 5, "cols": 2**20}]
        rows = [make_row(name, rate, study="shapes", size=size)
                for name, rates in (("01_simple", (100, 200)), ("02_vectors", (150, 250)))
                for size, rate in zip(sizes, rates)]
        rows += [make_row("03_wide", 7, study="shapes", size=sizes[1])]
        studies = [make_study(), make_study("shapes")]
        self.write(make_file(ladder() + rows, studies), "chapters/01_add/results/h200.json")
        self.assertEqual(self.table("shapes by=size columns=01,02.ratio:01,03"), [
            "| rows | cols | 01_simple GB/s | 02_vectors over 01 | 03_wide GB/s |",
            "|---|--:|--:|--:|--:|",
            "| 64 | 64 | 100.0 | 1.50x | - |",
            "| 5 | 2^20 | 200.0 | 1.25x | 7.000 |"])
        self.assertEqual(self.table("shapes by=size only=02")[2:],
                         ["| 64 | 64 | 150.0 |", "| 5 | 2^20 | 250.0 |"])
        self.refused("<!-- results: shapes by=rows -->\n<!-- /results -->\n", "by=rows")

    CSV = ('# counted in the code (nvcc 13.0)\nversion,per_clock,note\n01_simple,5.7,a|b\n'
           '02_vectors,6.60,"one, two"\n\nown,1e-07,\n')

    def csv_table(self, options, text=CSV):
        self.write(text, "chapters/01_add/results/slots.csv")
        marker = f"<!-- table: results/slots.csv{options} -->"
        written = self.written(f"{marker}\n<!-- /table -->\nafter\n").split("\n")
        self.assertEqual((written[0], written[-3:]), (marker, ["<!-- /table -->", "after", ""]))
        return written[1:-3]

    def test_table_of_a_csv_file(self):
        self.assertEqual(self.csv_table(""), [
            "| version | per clock | note |", "|---|--:|---|",
            "| [01_simple](01_simple.cu) | 5.7 | a\\|b |", "| 02_vectors | 6.60 | one, two |",
            "| own | 1e-07 |  |", "", "counted in the code (nvcc 13.0)"])
        self.assertEqual(self.csv_table(" columns=per_clock,version only=02,own")[:4], [
            "| per clock | version |", "|---|---|", "| 6.60 | 02_vectors |", "| 1e-07 | own |"])
        self.assertEqual(len(self.csv_table(" only=01-02")), 6)

    def test_table_of_a_profilers_states_has_words(self):
        text = "# gpu: X\nversion,stall_wait,own_name\n01_a,1.5,2\n"
        self.assertEqual(self.csv_table("", text)[0], "| version | fixed pause | own name |")

    def test_table_follows_its_file(self):
        self.csv_table("")
        path = self.folder / "chapters/01_add/results/slots.csv"
        path.write_text(self.CSV.replace("5.7", "5.8"), encoding="utf-8")
        code, out = self.run_lessons("--check")
        self.assertEqual(code, 1)
        self.assertIn("README.md:1: this table block is out of date", out)

    def test_a_page_that_waits_for_its_figures(self):
        blocks = ("<!-- results: sequence file=results/a100.json -->\n<!-- /results -->\n"
                  "at <!-- value: sequence 01 rate file=results/a100.json --><!-- /value -->\n"
                  "<!-- table: results/no.csv -->\n<!-- /table -->\n"
                  "<!-- limiters: columns=dram -->\n<!-- /limiters -->\n")
        self.refused(blocks, "README.md:1: ", "README.md:3: ", "README.md:4: ", "no such file")
        text = self.written("<!-- unrecorded -->\n" + blocks)
        self.assertEqual(text.count("*not recorded yet*"), 4)
        self.assertIn("not recorded yet: chapters/01_add/README.md", self.run_lessons("--check")[1])
        there = "at <!-- value: sequence 01 rate -->2000 GB/s<!-- /value -->\n"
        self.assertIn(there, self.written("<!-- unrecorded -->\n" + blocks + there))
        self.refused("<!-- unrecorded -->\n" + there, "remove the marker")
        self.refused("<!-- unrecorded -->\n<!-- snippet: no.cu add -->\n", "no such file")

    def test_refused_csv_files(self):
        marker = "<!-- table: results/slots.csv -->\n<!-- /table -->\n"
        for text, words in (
                ("version,rate\n01,2\n", "where the figures come from"),
                ("", "where the figures come from"),
                ("#\nversion,rate\n01,2\n", "where the figures come from"),
                ("# why\nversion,rate\n", "no line of figures"),
                ("# why\nversion,rate\n01,2\n02,3,4\n", "slots.csv:4: 3 cells, but 2 columns"),
                ("# why\nversion,rate\n01\n", "slots.csv:3: 1 cells")):
            with self.subTest(text):
                self.write(text, "chapters/01_add/results/slots.csv")
                self.refused(marker, "README.md:1: ", words)
        self.write(self.CSV, "chapters/01_add/results/slots.csv")
        for options, words in (("columns=speed", "no column 'speed' (it has: version, per_clock"),
                               ("only=55", "'55'"), ("only=03-04", "no versions 03-04"),
                               ("size=3", "'size='"), ("more", "1 words")):
            with self.subTest(options):
                self.refused(f"<!-- table: results/slots.csv {options} -->\n<!-- /table -->\n",
                             words)
        self.refused("<!-- table: results/no.csv -->\n<!-- /table -->\n", "no such file")
        self.refused("<!-- table: results/slots.csv -->\n", "no <!-- /table -->")

    def test_values(self):
        text = self.written(
            "It runs at <!-- value: sequence 02 rate --><!-- /value -->, which is "
            "<!-- value: sequence 02_vectors ratio:01_simple -->9<!-- /value -->, "
            "<!-- value: sequence 02 time -->9<!-- /value -->, "
            "<!-- value: sizes 02 of_limit size=n:2^14 -->9<!-- /value -->.\n")
        for value in (">3800 GB/s<", ">1.90x<", ">3.311 us<", ">7.5 %<"):
            self.assertIn(value, text)

    def test_listing_is_inserted_then_replaced(self):
        text = self.written("a\n<!-- snippet: 01_simple.cu once -->\nb\n")
        self.assertEqual(text, "a\n<!-- snippet: 01_simple.cu once -->\n```cuda\n"
                               "int once(int x) noexcept { return x; }\n```\nb\n")
        self.assertEqual(self.written(text.replace("int once", "old text")), text)
        empty = text.replace("int once(int x) noexcept { return x; }\n", "")
        self.assertEqual(self.written(empty), text)

    def test_text_after_a_listing_stays(self):
        text = self.written("<!-- snippet: 01_simple.cu once -->\n\n```bash\nls\n```\n")
        self.assertTrue(text.endswith("```\n\n```bash\nls\n```\n"))

    def test_markers_in_code_are_text(self):
        text = ("```text\n<!-- results: nothing -->\n<!-- snippet: no.cu no -->\n```\n~~~\n"
                "<!-- needs: magic -->\n```\n~~~\n\n    <!-- value: a b c -->\n\n"
                "Write `<!-- results: nothing -->` there.\n")
        self.assertEqual(self.written(text), text)

    def test_check_finds_stale_blocks(self):
        path = self.page("x\nat <!-- value: sequence 02 rate -->1 GB/s<!-- /value -->\n")
        code, out = self.run_lessons("--check")
        self.assertEqual(code, 1)
        self.assertIn("chapters/01_add/README.md:2: this value block is out of date", out)
        self.assertIn("1 GB/s", path.read_text(encoding="utf-8"))

    def test_refusals_name_file_and_line(self):
        at = "chapters/01_add/README.md:2: "
        for marker, word in (
                ("<!-- results: none -->\n<!-- /results -->", "no study 'none'"),
                ("<!-- results: sequence -->", "no <!-- /results -->"),
                ("<!-- results: sequence file=no.json -->\n<!-- /results -->", "no such file"),
                ("<!-- results: sequence columns=speed -->\n<!-- /results -->", "'speed'"),
                ("<!-- results: sequence only=55 -->\n<!-- /results -->", "'55'"),
                ("<!-- results: sequence width=3 -->\n<!-- /results -->", "'width='"),
                ("<!-- results: sequence size=n:7 -->\n<!-- /results -->", "no row"),
                ("<!-- results: sequence size=n -->\n<!-- /results -->", "size=n"),
                ("<!-- /results -->", "closes nothing"),
                ("at <!-- value: sizes 02 rate -->1<!-- /value -->", "choose one"),
                ("at <!-- value: sequence 02 -->1<!-- /value -->", "3 words"),
                ("<!-- value: sequence 02 rate -->1\n<!-- /value -->", "one line"),
                ("<!-- value: sequence 02 rate -->1<!-- /value -->", "begins a line"),
                ("at <!-- value: sequence 02 rate -->1<!-- /value\n-->.", "stands alone"),
                ("<!-- snippet: no.cu x -->", "no such file: no.cu"),
                ("<!-- snippet: 01_simple.cu x -->", "01_simple.cu: no function"),
                ("<!-- snippet: 01_simple.cu -->", "FILE SYMBOL"),
                ("<!-- snippet: 01_simple.cu once -->\n```cuda\nint", "no closing fence")):
            with self.subTest(marker):
                self.refused(f"text\n{marker}\n", at, word)

    def test_one_bad_block_does_not_stop_the_others(self):
        path = self.page("<!-- snippet: no.cu x -->\n<!-- snippet: 01_simple.cu once -->\n")
        self.assertEqual(self.run_lessons("--update")[0], 1)
        self.assertIn("return x;", path.read_text(encoding="utf-8"))

    def test_pages_by_name(self):
        bad = self.page("<!-- snippet: no.cu x -->\n", "docs/bad.md")
        good = self.page("fine\n", "docs/good.md")
        self.assertEqual(self.run_lessons("--check", good)[0], 0)
        self.assertEqual(self.run_lessons("--check", bad)[0], 1)
        self.assertEqual(self.run_lessons("--check")[0], 1)
        self.assertEqual(self.run_lessons("--check", self.folder / "no.md")[0], 2)

    def test_needs_and_teaches(self):
        self.page("<!-- needs: C++ -->\n<!-- teaches: grid,\n  Block -->\n<!-- needs: block -->\n")
        self.page("<!-- needs: grid, warp -->\n\n<!-- teaches: warp, C++ -->\n",
                  "chapters/02_next/README.md")
        code, out = self.run_lessons("--check")
        self.assertEqual(code, 1)
        self.assertIn("chapters/01_add/README.md:1: needs 'c++', which is taught later "
                      "(chapters/02_next/README.md:3)", out)
        self.assertIn("chapters/02_next/README.md:1: needs 'warp', which is taught later", out)
        self.assertNotIn("needs 'grid'", out)
        self.assertNotIn("needs 'block'", out)
        self.page("<!-- needs: magic -->\n", "chapters/02_next/README.md")
        self.assertIn("needs 'magic', which no lesson teaches", self.run_lessons("--check")[1])

    def test_more_may_need_what_its_lesson_teaches(self):
        self.page("<!-- teaches: grid -->\n")
        self.page("<!-- needs: fence -->\n<!-- teaches: warp -->\n", "chapters/02_next/README.md")
        self.page("<!-- needs: grid -->\n<!-- teaches: fence -->\n", "chapters/01_add/more.md")
        out = self.run_lessons("--check")[1]
        self.assertIn("chapters/02_next/README.md:1: needs 'fence', which no lesson teaches", out)
        self.assertNotIn("more.md", out)
        self.page("<!-- needs: fence, warp -->\n<!-- teaches: fence -->\n",
                  "chapters/01_add/more.md")
        out = self.run_lessons("--check")[1]
        self.assertIn("chapters/01_add/more.md:1: needs 'warp', which no lesson teaches", out)
        self.assertIn("chapters/01_add/more.md:1: needs 'fence', which is taught later", out)

    def test_the_table_of_chapters(self):
        self.page("# 01 Add: two arrays\n")
        self.page("# 02 Next: not recorded\n", "chapters/02_next/README.md")
        text = "# Front\n\n<!-- chapters: -->\n<!-- /chapters -->\nafter\n"
        front = self.page(text, "README.md")
        self.assertEqual(self.run_lessons("--check")[0], 1)
        self.assertEqual(self.run_lessons("--update")[0], 0)
        lines = front.read_text(encoding="utf-8").split("\n")
        self.assertEqual(lines[3], "| chapter | naive | best | % of limit | library |")
        self.assertEqual([line[:10] for line in lines[5:7]], ["| 01 Add |", ""])  # 02 has none
        self.assertEqual(lines[5], "| 01 Add | 2000 GB/s | 3900 GB/s | 97.5 % | "
                                   "3700 GB/s (library) |")
        self.assertEqual(self.run_lessons("--check")[0], 0)

    def test_a_naive_version_of_another_size_says_so(self):
        small = make_row("01_simple", 2, size={"n": 2**10})
        self.write(make_file([small, make_row("02_best", 2000)], [make_study()]),
                   "chapters/01_add/results/h200.json")
        self.page("# 01 Add: two arrays\n")
        front = self.page("<!-- chapters: -->\n<!-- /chapters -->\n", "README.md")
        self.run_lessons("--update")
        self.assertIn("GB/s (n = 2^10) | 2000 GB/s |", front.read_text(encoding="utf-8"))
        self.assertTrue(front.read_text(encoding="utf-8").split("\n")[3].endswith("| - |"))

    def test_the_library_is_that_of_the_best_ones_size(self):
        self.page("# 01 Add: two arrays\n")
        front = self.page("<!-- chapters: -->\n<!-- /chapters -->\n", "README.md")
        for library, shown in ((2**20, "1500 GB/s (lib)"), (2**10, "1800 GB/s (lib)")):
            rows = [make_row("01_simple", 1000), make_row("02_best", 2000),
                    make_row("90_lib", 1500, role="peer", size={"n": library}),
                    make_row("90_lib", 1800, role="peer", size={"n": 2**10 + 1})]
            rows = rows if library == 2**20 else rows[:2] + rows[3:]
            self.write(make_file(rows, [make_study()]), "chapters/01_add/results/h200.json")
            self.run_lessons("--update")
            self.assertIn(f"| {shown} |", front.read_text(encoding="utf-8"))

    def test_a_table_of_chapters_without_records(self):
        self.write(make_file(sweep(), [make_study("sizes", "n")]),
                   "chapters/01_add/results/h200.json")
        self.page("# 01 Add: two arrays\n")
        for words in ("", " only=01"):
            text = f"<!-- chapters:{words} -->\n<!-- /chapters -->\n"
            front = self.page(text, "README.md")
            self.assertEqual(self.run_lessons("--update")[0], 1)
            self.assertEqual(front.read_text(encoding="utf-8"), text)

    def test_several_rows_for_one_cell(self):
        rows = sweep() + [make_row("01_simple", 5, study="sizes", size={"n": 2**12}, type="f64")]
        self.write(make_file(rows, [make_study("sizes", "n")]), "chapters/01_add/results/h200.json")
        self.refused("<!-- results: sizes -->\n<!-- /results -->\n", "several rows for one n")
        self.refused("<!-- results: sizes by=size size=n:2^12 -->\n<!-- /results -->\n",
                     "several rows for one size")


if __name__ == "__main__":
    unittest.main()
