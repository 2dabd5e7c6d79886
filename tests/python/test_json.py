"""What common/program/json.cpp writes, read by Python: the sample document of Json.WritesSampleFile."""
import json
import math
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict

CONTROLS = "".join(chr(code) for code in range(1, 32)) + "\x7f"
DEEP: Any = [7]
for level in range(6, -1, -1):
    DEEP = [level, DEEP]
SAMPLE: Dict[str, Any] = {
    "schema": 1, "plain": "vector add", "quotes": "\"a\" \\ 'b' / </script>", "controls": CONTROLS,
    "unicode": "caf\u00e9 \u20ac \U0001f680 \u2028", "k\u00e9y \"\n": "", "true": True,
    "false": False, "null": None, "least": -2**63, "largest": 2**63 - 1,
    "not_finite": [None, None, None, 1],
    "numbers": [0, -0.0, 0.1, -1 / 3, 6.02214076e23, 1.2345678912e-5, 1e300, 2.5e-300,
                3221225472, 1e22, 123456789],
    "maybe": 0.5, "nothing": None, "no_text": None, "a_text": "text",
    "empty": {"array": [], "object": {}, "texts": []}, "deep": DEEP,
    "rows": [{"size": {"n": row}, "seconds": [0.25] * row, "flags": ["noisy", "few_samples"]}
             for row in range(3)]}


def refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


class Sample(unittest.TestCase):
    def written(self) -> bytes:
        """The document, written by the C++ test."""
        build = os.environ.get("COURSE_BUILD")
        if not build:
            self.skipTest("COURSE_BUILD names no build folder")
        program = Path(build) / "bin" / "common_test"
        if not program.exists():
            self.skipTest("common_test was not built: GoogleTest is missing")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "sample.json"
            done = subprocess.run([str(program), "--gtest_filter=Json.WritesSampleFile"],
                                  env=dict(os.environ, COURSE_JSON_OUT=str(file)),
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
            self.assertEqual(done.returncode, 0, done.stdout.decode(errors="replace"))
            return file.read_bytes()

    def compare(self, got: Any, want: Any, where: str) -> None:
        """Equal types, texts and order; numbers to 1e-8 of their size."""
        if isinstance(want, dict):
            self.assertIsInstance(got, dict, where)
            self.assertEqual(list(got), list(want), where)
            for key in want:
                self.compare(got[key], want[key], f"{where}.{key}")
        elif isinstance(want, list):
            self.assertIsInstance(got, list, where)
            self.assertEqual(len(got), len(want), where)
            for k, (one, other) in enumerate(zip(got, want)):
                self.compare(one, other, f"{where}[{k}]")
        elif isinstance(want, float) or (isinstance(want, int) and "numbers" in where):
            self.assertIsInstance(got, (int, float), where)
            self.assertTrue(math.isclose(got, want, rel_tol=1e-8), f"{where}: {got}, not {want}")
        else:
            self.assertEqual((type(got), got), (type(want), want), where)

    def test_round_trip(self) -> None:
        text = self.written().decode("utf-8")
        self.compare(json.loads(text, parse_constant=refuse), SAMPLE, "sample")
        self.assertTrue(text.endswith("}\n"))

    def test_no_key_twice(self) -> None:
        def unique(pairs: Any) -> Dict[str, Any]:
            keys = [key for key, _ in pairs]
            self.assertEqual(len(keys), len(set(keys)), keys)
            return dict(pairs)

        json.loads(self.written().decode("utf-8"), object_pairs_hook=unique)

    def test_inner_lists_stand_on_one_line(self) -> None:
        """A changed row of a result file is a few changed lines: inner levels are not broken."""
        text = self.written().decode("utf-8")
        self.assertIn('"seconds": [0.25, 0.25],', text)
        self.assertIn('"size": {"n": 1},', text)


if __name__ == "__main__":
    unittest.main()
