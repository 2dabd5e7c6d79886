"""Which code a recorded row was measured with: comments and layout do not count, all else does."""

import re
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common" / "python"))

from course import chapters, code, results  # noqa: E402

KERNEL = """// Idea: one.
#include <cstdint>
#include "ptx.cuh"
/* two */ __global__ void add(float* a) { a[0] += 1.5f; const char* s = "// no comment"; }
"""


class Hashes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write("chapter/ptx.cuh", "// wrappers\nint wrap();\n")
        self.write("chapter/01_add.cu", KERNEL)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def hash(self):
        return code.hash_of(self.root / "chapter/01_add.cu", self.root / "chapter")

    def hash_with(self, old, new, name="chapter/01_add.cu"):
        path = self.root / name
        self.assertIn(old, path.read_text(encoding="utf-8"))
        self.write(name, path.read_text(encoding="utf-8").replace(old, new))
        return self.hash()

    def test_comments_and_layout_do_not_count(self):
        before = self.hash()
        for old, new in (("// Idea: one.\n", ""), ("/* two */ ", "// three\n"),
                         ("{ a[0]", "{\n\n    a [ 0 ]"), ("+= 1.5f", "+=1.5f")):
            self.assertEqual(self.hash_with(old, new), before, old)
        self.assertEqual(self.hash_with("// wrappers\n", "", "chapter/ptx.cuh"), before)

    def test_everything_else_counts(self):
        seen = {self.hash()}
        for old, new, name in (("1.5f", "2.5f", "01_add.cu"), ("+=", "-=", "01_add.cu"),
                               ("// no comment", "// a comment?", "01_add.cu"),
                               ("<cstdint>", "<cstddef>", "01_add.cu"),
                               ("int wrap", "long wrap", "ptx.cuh")):
            now = self.hash_with(old, new, f"chapter/{name}")
            self.assertNotIn(now, seen, old)
            seen.add(now)

    def test_versions_that_are_called_count(self):
        self.write("chapter/02_other.cu", "int other;\n")
        self.write("chapter/01_add.cu", "// Calls 02_other.cu\n" + KERNEL)
        before = self.hash()
        self.assertNotEqual(self.hash_with("other", "another", "chapter/02_other.cu"), before)

    def test_only_the_chapters_own_headers_count(self):
        before = self.hash()
        self.hash_with('"ptx.cuh"', '"wrappers/ptx.cuh"')
        (self.root / "chapter/wrappers").mkdir()
        (self.root / "chapter/ptx.cuh").rename(self.root / "chapter/wrappers/ptx.cuh")
        self.assertEqual(self.hash(), before, "a header that moved")
        self.write("common/kernels.cu", '#include "ops.hpp"\nint y;\n')
        self.write("common/ops.hpp", "int x;\n")
        common = code.hashes(self.root / "chapter", self.root / "common")
        self.write("common/ops.hpp", "long x;\n")
        self.assertEqual(code.hashes(self.root / "chapter", self.root / "common"), common)

    def test_names_of_files(self):
        for name in ("chapter/studies/in_flight.cu", "chapter/my/1_x.cu", "chapter/demos/d.cu",
                     "chapter/exercises/1_x.cu", "common/rooms/bulk_copy.cu", "common/simt/y.cpp"):
            self.write(name, "int x;\n")
        known = code.hashes(self.root / "chapter", self.root / "common")
        self.assertEqual(sorted(known), ["01_add", "bulk_copy", "studies/in_flight"])
        moved = self.write("common/bulk_copy.cu", "int x;\n")
        (self.root / "common/rooms/bulk_copy.cu").unlink()
        self.assertEqual(code.hashes(self.root / "chapter", self.root / "common"), known, moved)

    def test_older(self):
        known = {"a": "1", "b": "2"}
        rows = [("a", "1"), ("b", "9"), ("c", "3"), (None, None), ("a", None)]
        self.assertEqual(code.older(rows, known), {"b": "has changed", "c": "is gone"})


class Course(unittest.TestCase):
    def test_each_recorded_row_names_a_file_that_is_there(self):
        checked = 0
        for chapter in chapters.with_harness():
            for path in sorted((chapter.path / "results").glob("*.json")):
                known = code.sources(chapter.path, ROOT / "common")
                for row in results.load(path).rows:
                    if row.code is None:
                        continue  # recorded before rows had a hash
                    self.assertIn(row.file, known, f"{path}: {row.study} {row.version}")
                    checked += 1
        if not checked:
            self.skipTest("no recorded row has a hash yet")

    def test_each_launcher_asks_for_the_error_of_its_launch(self):
        """No test provokes one: a launcher that returns cudaSuccess instead passes all others."""
        launchers = 0
        for versions in sorted(ROOT.glob("chapters/*/versions.cpp")):
            for path in sorted(versions.parent.glob("[0-9][0-9]_*.cu")):
                text = re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8"))
                for function in re.split(r"^}", text, flags=re.MULTILINE):
                    _, launch, rest = function.rpartition("<<<")
                    if launch:
                        launchers += 1
                        name = f"{path.relative_to(ROOT)}: <<<{rest[:60]}"
                        self.assertIn("cudaGetLastError()", rest, name)
        self.assertGreater(launchers, 100)


if __name__ == "__main__":
    unittest.main()
