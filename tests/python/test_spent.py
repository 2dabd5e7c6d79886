"""The table of where the time of tests/run went."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common" / "python"))

from course.spent import Spent, Step, bar, kind_of  # noqa: E402


class Table(unittest.TestCase):
    def test_steps_kinds_and_the_sum(self):
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "ctest.xml"
            report.write_text('<testsuite><testcase name="ch02.forward.sequence.05" time="3.2"/>'
                              '<testcase name="ch02.random.sequence.05" time="40"/>'
                              '<testcase name="test_plots" time="9"/>'
                              '<testcase name="simt.fast" time="0.1"/></testsuite>')
            spent = Spent()
            spent.steps.append(Step("build for the CPU backend", 200, 380.4))
            spent.steps.append(Step("tests for the CPU backend", 30, 59.6))
            lines = spent.table([report, Path(folder) / "none.xml"], bar(6)).split("\n")
            parts = spent.of_parts(report, ["02_reduction", "03_transpose", "common"])
        self.assertEqual(lines[0].split(), "where the time went seconds of all cores".split())
        self.assertEqual(lines[1].split(), "build for the CPU backend 200 380".split())
        self.assertEqual([line.split()[1:] for line in lines[3:6]],
                         [["in", "other", "orders", "of", "threads", "40"], ["Python", "9"],
                          ["versions", "3"]])
        self.assertIn("longest: ch02.random.sequence.05 40 s, test_plots 9 s", lines[6])
        self.assertEqual(lines[7], "half of all cores' time: 220 s (a fresh build: at most 450 s)")
        self.assertEqual({part: round(took, 1) for part, took in parts.items()},
                         {"02_reduction": 181.7, "03_transpose": 0, "common": 38.3})

    def test_processors_of_children_count(self):
        spent = Spent()
        with self.assertRaises(ValueError):
            with spent.step("a loop"):
                subprocess.run([sys.executable, "-c", "for k in range(10**7): pass"], check=True)
                raise ValueError
        self.assertEqual(spent.steps[0].what, "a loop")
        self.assertGreater(spent.steps[0].cpu_s, 0.05)

    def test_kinds(self):
        for name, kind in (("ch05.forward.contract.pack", "contracts"),
                           ("ch05.contract.pack", "contracts"),
                           ("ch05.rows.AllAreThere", "contracts"),
                           ("ch05.forward.Special.EverySize", "special tests of chapters"),
                           ("ch05.sequence.80_limit", "versions"),
                           ("ch05.exercise_2.solution", "exercises"),
                           ("ch05.mutant.no_fence", "mutants"), ("common.Json.Text", "the rest")):
            self.assertEqual(kind_of(name), kind, name)


if __name__ == "__main__":
    unittest.main()
