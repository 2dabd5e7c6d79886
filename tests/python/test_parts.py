"""Which parts of the course are tested in full: tests/run --changed."""

import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common" / "python"))

from course import chapters, parts  # noqa: E402
from course.parts import Passed  # noqa: E402

NOW = {"01_a": "one", "02_b": "two", "03_c": "three", "04_d": "four", "common": "all"}
PASSED = {part: Passed(digest, 100) for part, digest in NOW.items()}


class Choose(unittest.TestCase):
    def test_what_changed_and_one_other(self):
        chosen = parts.choose({**NOW, "02_b": "new"}, PASSED, "c0ffee", 1e6)
        self.assertEqual(chosen.full["02_b"], "its files changed")
        self.assertEqual(len(chosen.full), 2)
        self.assertEqual(set(chosen.full) | set(chosen.quick), set(NOW))
        self.assertIn("common", chosen.quick)

    def test_every_other_has_its_turn(self):
        turns = {part for commit in range(60) for part in parts.choose(NOW, PASSED, str(commit), 0).full}
        self.assertEqual(turns, set(NOW) - {"common"})

    def test_after_a_change_of_common_as_many_as_fit(self):
        chosen = parts.choose({**NOW, "common": "new"}, PASSED, "c0ffee", 310)
        self.assertEqual(len(chosen.full), 3)  # 310 s are for it and two more
        self.assertEqual(chosen.full["common"], "its files changed")
        chosen = parts.choose({**NOW, "common": "new"}, PASSED, "c0ffee", 0)
        self.assertEqual(len(chosen.full), 2)
        self.assertEqual(set(parts.choose({**NOW, "common": "new"}, PASSED, "c0ffee", 500).full), set(NOW))

    def test_what_changed_is_tested_however_long_it_takes(self):
        chosen = parts.choose({part: "new" for part in NOW}, PASSED, "c0ffee", 0)
        self.assertEqual(set(chosen.full), set(NOW))

    def test_what_has_not_passed_yet_comes_first(self):
        known = {part: PASSED[part] for part in ("01_a", "02_b")}
        for commit in "abcdef":
            chosen = parts.choose(NOW, known, commit, 2 * parts.USUAL_S)
            self.assertEqual(list(chosen.full.values()), ["it has not passed yet"] * 2)
        self.assertEqual(set(parts.choose(NOW, known, "a", 3 * parts.USUAL_S).full), {"03_c", "04_d", "common"})


class Files(unittest.TestCase):
    def test_each_file_has_its_part(self):
        for file, part in (("chapters/05_scan/80_limit.cu", "05_scan"), ("tests/05_scan_stress.cu", "05_scan"),
                           ("tests/mutants/05.json", "05_scan"), ("tests/exercises/05.json", "05_scan"),
                           ("chapters/05_scan/exercises/1_ballot.md", "05_scan"),
                           ("chapters/05_scan/README.md", ""), ("chapters/05_scan/results/h200.json", ""),
                           ("docs/support.md", ""), ("README.md", ""), ("tests/passed.json", ""),
                           ("chapters/run", "common"), ("common/simt/check.cpp", "common"), (".ci/run", "common"),
                           ("tests/contract.hpp", "common"), ("CMakeLists.txt", "common")):
            self.assertEqual(parts.part_of(file), part, file)

    def test_a_digest_is_of_its_own_files(self):
        if chapters.git("ls-files") is None:
            self.skipTest("no git here")
        before = parts.digests()
        self.assertEqual(set(before), {chapter.name for chapter in chapters.every()} | {"common"})
        own = ROOT / "chapters/01_vector_add/versions.cpp"
        text = own.read_bytes()
        with mock.patch.object(Path, "read_bytes", lambda file: text + b" " if file == own else b""):
            changed = parts.digests()
        with mock.patch.object(Path, "read_bytes", lambda file: text if file == own else b""):
            same = parts.digests()
        self.assertEqual([part for part in same if same[part] != changed[part]], ["01_vector_add"])

    def test_signed_and_read_again(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "passed.json"
            self.assertEqual(parts.read(file), {})
            parts.sign({"01_a": 12.4, "common": 3}, NOW, file)
            parts.sign({"common": 5}, {"01_a": "other", "common": "new"}, file)
            self.assertEqual(parts.read(file), {"01_a": Passed("one", 12), "common": Passed("new", 5)})


if __name__ == "__main__":
    unittest.main()
