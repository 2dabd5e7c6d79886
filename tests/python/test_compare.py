"""Comparison of result files: verdicts that are known, partial overlap, exit codes."""
import csv
import io
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from test_results import ROOT, Folder, ladder, make_file, make_row, make_study, sweep  # noqa: E402
from course import compare, intervals, newest, results  # noqa: E402
from course.intervals import FASTER, SAME, SLOWER, UNSURE, verdict  # noqa: E402

PLOT = ROOT / "common" / "plot"


def around(median, spread, count=21):
    """Times spread evenly over median +- spread."""
    return [median + spread * (2 * k / (count - 1) - 1) for k in range(count)]


class Verdicts(unittest.TestCase):
    def test_clear_differences(self):
        self.assertEqual(verdict(around(100, 1), around(90, 1)), FASTER)
        self.assertEqual(verdict(around(100, 1), around(110, 1)), SLOWER)

    def test_identical_samples(self):
        self.assertEqual(verdict([5.0] * 9, [5.0] * 9), SAME)
        self.assertEqual(verdict([5.0] * 9, [5.2] * 9), SLOWER)

    def test_within_two_percent_is_the_same(self):
        self.assertEqual(verdict(around(100, 0.01), around(101.9, 0.01)), SAME)
        self.assertEqual(verdict(around(100, 0.01), around(98.1, 0.01)), SAME)
        self.assertEqual(verdict(around(100, 0.01), around(102.1, 0.01)), SLOWER)
        self.assertEqual(verdict(around(100, 0.01), around(97.9, 0.01)), FASTER)

    def test_noise_is_no_evidence_that_two_are_the_same(self):
        self.assertEqual(verdict(around(100, 20), around(100, 20)), UNSURE)
        self.assertEqual(verdict(around(100, 20), around(104, 20)), UNSURE)
        self.assertEqual(verdict(around(100, 10), around(103, 10)), UNSURE)

    def test_many_noisy_samples_are_evidence(self):
        self.assertEqual(verdict(around(100, 20, 2001), around(100.1, 20, 2001)), SAME)
        self.assertEqual(verdict(around(100, 20, 2001), around(106, 20, 2001)), SLOWER)

    def test_few_samples_are_unsure(self):
        self.assertEqual(verdict([1.0], [2.0]), UNSURE)
        self.assertEqual(verdict([1.0] * 8, [2.0] * 30), UNSURE)
        self.assertEqual(verdict([1.0] * 9, [2.0] * 9), SLOWER)
        self.assertEqual(verdict([], []), UNSURE)

    def test_a_tail_lies_on_one_side_of_the_ratio(self):
        tail, steady = [100.0] * 6 + [110.0] * 5, [100.0] * 11
        for over, under, bounds in ((tail, steady, (1, 1.1)), (steady, tail, (1 / 1.1, 1))):
            for got, want in zip(intervals.of_ratio(over, under), bounds):
                self.assertAlmostEqual(got, want)

    def test_order_of_samples_does_not_matter(self):
        self.assertEqual(verdict(around(100, 1)[::-1], around(90, 1)), FASTER)


class Compares(Folder):
    def files(self, *datas):
        return [self.load(data, f"file{k}.json") for k, data in enumerate(datas)]

    def words(self, comparison, index=1):
        return {line.version: comparison.verdict(line, index) for line in comparison.lines}

    def test_known_verdicts(self):
        rows = ladder()
        rows[0] = make_row("01_simple", 2200)
        rows[1] = make_row("02_vectors", 3500)
        comparison = compare.Comparison(self.files(make_file(ladder()), make_file(rows)))
        self.assertEqual(self.words(comparison), {
            "01_simple": FASTER, "02_vectors": SLOWER, "03_wrong": "", "04_new": "",
            "05_once": UNSURE, "06_no_limit": SAME, "90_library": SAME})
        text = comparison.text()
        self.assertIn("1.10x FASTER", text)
        self.assertIn("0.92x SLOWER", text)
        self.assertIn("B against A: 1 FASTER, 1 SLOWER, 2 SAME, 1 UNSURE", text)
        self.assertIn("environments: the same", text)
        self.assertIn("FAILED", text)
        text.encode("ascii")
        self.assertLessEqual(max(map(len, text.split("\n"))), 80)

    def test_partial_overlap(self):
        extra = [make_row("07_only_here", 3000)]
        comparison = compare.Comparison(self.files(
            make_file(ladder() + sweep(), [make_study(), make_study("sizes", "n")]),
            make_file(ladder()[:2] + extra)))
        text = comparison.text()
        self.assertIn("missing in A, study sequence: 07_only_here", text)
        self.assertIn("missing in B, study sizes: all of it", text)
        self.assertIn("missing in B, study sequence: 03_wrong, 04_new, 05_once", text)

    def test_nothing_in_common(self):
        comparison = compare.Comparison(self.files(make_file([make_row("01_a", 1)]),
                                                   make_file([make_row("02_b", 1)])))
        self.assertIn("missing in B, study sequence: 01_a", comparison.text())
        self.assertEqual(comparison.summary(), [])

    def test_different_gpus_have_no_verdict(self):
        comparison = compare.Comparison(self.files(
            make_file(ladder()), make_file(ladder(), gpu="NVIDIA GeForce RTX 4090")))
        self.assertEqual(set(self.words(comparison).values()), {""})
        text = comparison.text()
        self.assertIn("95.0 %", text)
        self.assertIn("gpu: A NVIDIA H200, B NVIDIA GeForce RTX 4090", text)
        self.assertNotIn("1.00x", text)
        self.assertEqual(comparison.plot_value(comparison.lines[0], 0), 50)

    def test_a_file_without_times(self):
        untimed = {**make_row("01_simple", 1), "skipped": "needs a GPU", "rate": None}
        comparison = compare.Comparison(self.files(make_file([untimed]), make_file(ladder()[:1])))
        self.assertIn(("launches come behind", ["nothing timed", "empty"]),
                      comparison.environment())

    def test_three_files_two_gpus(self):
        files = self.files(make_file(ladder()), make_file(ladder()), make_file(ladder(), gpu="T4"))
        comparison = compare.Comparison(files)
        self.assertEqual(self.words(comparison, 1)["01_simple"], SAME)
        self.assertEqual(self.words(comparison, 2)["01_simple"], "")

    def test_environment_comes_first(self):
        other = make_file([make_row("01_simple", 2000, clock_mhz=1500)])
        other["environment"]["driver"] = "12.4"
        text = compare.Comparison(self.files(make_file(ladder()), other)).text()
        self.assertIn("driver: A 13.0, B 12.4", text)
        self.assertIn("median SM clock: A 1980 MHz, B 1500 MHz", text)
        self.assertLess(text.index("driver"), text.index("study sequence"))

    def test_version_as_baseline(self):
        comparison = compare.Comparison(
            self.files(make_file(ladder()), make_file(ladder(), gpu="T4")), "01")
        line = next(line for line in comparison.lines if line.version == "02_vectors")
        self.assertEqual([comparison.ratio(line, k) for k in (0, 1)], [1.9, 1.9])
        self.assertIn("rate over that of 01_simple", comparison.text())

    def test_file_as_baseline(self):
        files = self.files(make_file(ladder()), make_file(ladder(), label="team07"))
        for name in ("file1.json", "file1", "team07", "B", str(files[1].path)):
            self.assertEqual(compare.Comparison(files, name).base, 1)
        with self.assertRaisesRegex(results.ResultError, "'nobody'"):
            compare.Comparison(files, "nobody")

    def test_sizes_that_differ_are_unsure(self):
        comparison = compare.Comparison(self.files(
            make_file([make_row("01_slow", 10)]),
            make_file([make_row("01_slow", 20, size={"n": 2**16})])))
        self.assertEqual(comparison.lines[0].name, "01_slow (sizes differ)")
        self.assertEqual(comparison.verdict(comparison.lines[0], 1), UNSURE)

    def test_sweeps_match_by_size(self):
        studies = [make_study("sizes", "n")]
        comparison = compare.Comparison(self.files(make_file(sweep(), studies),
                                                   make_file(sweep()[2:], studies)))
        self.assertEqual(len(comparison.lines), 8)
        self.assertIn("01_simple (2 rows)", "\n".join(comparison.missing()))

    def test_other_chapter_is_refused(self):
        with self.assertRaisesRegex(results.ResultError, "different chapters"):
            compare.Comparison(self.files(make_file([]), make_file([], chapter="02_reduction")))

    def test_unknown_study_is_refused(self):
        with self.assertRaisesRegex(results.ResultError, "'nothing'"):
            compare.Comparison(self.files(make_file([]), make_file([])), study="nothing")

    def test_csv(self):
        comparison = compare.Comparison(self.files(make_file(ladder()), make_file(ladder()[:3])))
        table = list(csv.DictReader(io.StringIO(comparison.csv())))
        self.assertEqual(len(table), 10)
        self.assertEqual(table[1]["verdict"], SAME)
        self.assertEqual([row["verdict"] for row in table if row["version"] == "03_wrong"],
                         ["FAILED", "FAILED"])

    def test_markdown(self):
        text = compare.Comparison(self.files(make_file(ladder()), make_file(ladder()))).text(True)
        self.assertIn("| version | A GB/s | B GB/s |", text)

    def test_thirty_files(self):
        comparison = compare.Comparison(self.files(*[make_file(ladder())] * 30))
        self.assertEqual(len(set(comparison.letters)), 30)
        self.assertLessEqual(max(map(len, comparison.text().split("\n"))), 80)

    def test_a_study_of_one_file_has_no_table(self):
        both = [make_study(), make_study("sizes", "n")]
        files = self.files(make_file(ladder() + sweep(), both), make_file(ladder()),
                           make_file(sweep(), both))
        self.assertEqual([(study, table[0]) for study, table in compare.Comparison(files).tables()],
                         [("sequence", ["version", "A GB/s", "B GB/s"]),
                          ("sizes", ["version", "A GB/s", "C GB/s"])])
        alone = compare.Comparison([files[1], files[2]])
        self.assertEqual(alone.tables(), [])
        self.assertIn("nothing to compare", alone.text())
        self.assertIn("missing in B, study sequence: all of it", alone.text())
        self.assertEqual(len(compare.Comparison([files[1], files[2]], "01").tables()), 2)

    def test_a_study_that_the_first_file_lacks_has_a_baseline_of_its_own(self):
        both = [make_study(), make_study("sizes", "n")]
        slower = [make_row("01_simple", 1000)]
        files = self.files(make_file(sweep(), both), make_file(ladder(), both),
                           make_file(slower, both))
        text = compare.Comparison(files).text()
        self.assertIn("C against B: 0 FASTER, 1 SLOWER, 0 SAME, 0 UNSURE", text)
        self.assertIn("rate over that of A (B in study sequence) on the same GPU", text)
        named = compare.Comparison(files, "A").text()  # who asks for A compares with A
        self.assertNotIn("SLOWER", named)

    def test_several_files_that_lack_the_same_are_one_line(self):
        comparison = compare.Comparison(self.files(
            make_file(ladder()), make_file(ladder()[:1]), make_file(ladder()[:1])))
        self.assertEqual(len(comparison.missing()), 1)
        self.assertIn("missing in B, C, study sequence: 02_vectors,", comparison.missing()[0])

    def test_too_slow(self):
        rows = [make_row("01_simple", 1900), make_row("02_vectors", verified=False),
                make_row("05_once", 3000, samples=1), make_row("06_no_limit", 3599)]
        comparison = compare.Comparison(self.files(make_file(ladder()), make_file(rows)))
        self.assertEqual(len(comparison.too_slow(10)), 2)  # the wrong one and the unsure one
        self.assertEqual(len(comparison.too_slow(5)), 3)
        self.assertIn("01_simple in B: takes 1.05x the time (SLOWER)", comparison.too_slow(5)[0])


class Newest(Folder):
    """Of many files, the newest of each label, GPU and study."""

    def runs(self, *parts, **keys):
        """A file per part, a minute apart: "s" has the sequence, "z" the sizes, "b" both."""
        both = [make_study(), make_study("sizes", "n")]
        rows = {"s": ladder(), "z": sweep(), "b": ladder() + sweep()}
        names = [f"{keys.get('label', 'none')}{k}.json" for k in range(len(parts))]
        return [self.load({**make_file(rows[part], both, **keys),
                           "date": f"2026-11-20T10:{10 + k}:00Z"}, name)
                for k, (part, name) in enumerate(zip(parts, names))]

    def shown(self, files, kept=()):
        """Which files, by place, with which studies; and the line."""
        found, line = newest.newest(files, kept)
        places = {file.path: k for k, file in enumerate(files)}
        return [(places[file.path], "".join(sorted({row.study[1] for row in file.rows})))
                for file in found], line

    def test_few_stay(self):
        files = self.runs("s", "s", "s", "s")
        self.assertEqual(newest.newest(files), (files, ""))

    def test_one_label_keeps_two(self):
        found, line = self.shown(self.runs("s", "s", "z", "s", "z", "s"))
        self.assertEqual(found, [(2, "i"), (3, "e"), (4, "i"), (5, "e")])
        self.assertIn("6 files, 4 shown: the newest two of each", line)
        self.assertLessEqual(len(line), 100)

    def test_labels_keep_one_each(self):
        found, line = self.shown(self.runs("b", "s", "s") + self.runs("s", "s", label="team07"))
        self.assertEqual(found, [(0, "i"), (2, "e"), (4, "e")])
        self.assertIn("5 files, 3 shown: the newest of each", line)

    def test_a_gpu_of_another_kind_is_another_one(self):
        found, _ = self.shown(self.runs("s", "s", "s") + self.runs("s", "s", gpu="T4", label="x"))
        self.assertEqual(found, [(2, "e"), (4, "e")])

    def test_the_date_decides_not_the_order(self):
        self.assertEqual(self.shown(self.runs("s", "s", "s", "s", "s")[::-1])[0],
                         [(0, "e"), (1, "e")])

    def test_the_baseline_stays(self):
        files = self.runs("s", "s", "s", "s", "s")
        self.assertEqual(self.shown(files, [files[0]])[0], [(0, "e"), (3, "e"), (4, "e")])

    def test_all_are_shown_without_a_line(self):
        files = self.runs("s", "s", "z", "z") + self.runs("b", label="x", gpu="T4")
        self.assertEqual(self.shown(files[1:3] + files[4:])[1], "")
        self.assertEqual(len(self.shown(files)[0]), 3)


class Program(Folder):
    def run_plot(self, *arguments):
        return subprocess.run([sys.executable, str(PLOT), *map(str, arguments)], text=True,
                              capture_output=True, check=False, cwd=self.folder)

    def setUp(self):
        super().setUp()
        self.base = self.write(make_file(ladder()), "base.json")
        self.slow = self.write(make_file([make_row("01_simple", 1500)]), "slow.json")
        self.other = self.write(make_file(ladder(), gpu="T4"), "t4.json")

    def test_exit_codes(self):
        self.assertEqual(self.run_plot("compare", self.base, self.slow).returncode, 0)
        self.assertEqual(self.run_plot("compare", self.base, self.base,
                                       "--fail-if-slower", "5").returncode, 0)
        slow = self.run_plot("compare", self.base, self.slow, "--fail-if-slower", "5")
        self.assertEqual(slow.returncode, 1)
        self.assertIn("takes 1.33x the time", slow.stderr)
        self.assertEqual(self.run_plot("compare", self.base, self.slow,
                                       "--fail-if-slower", "40").returncode, 0)

    def test_bad_usage(self):
        for arguments, word in (
                (["compare", self.base], "two files"),
                (["compare", self.base, self.other, "--fail-if-slower", "5"], "same GPU"),
                (["compare", self.base, self.slow, "--baseline", "01", "--fail-if-slower", "5"],
                 "needs a file"),
                (["compare", self.base, "nothing.json"], "nothing.json: no such file"),
                (["table", self.base, "--study", "none"], "no study 'none'"),
                (["compare", self.base, self.slow, "--fail-if-slower", "x"], "x")):
            done = self.run_plot(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(word, done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_baseline_file_of_its_own(self):
        done = self.run_plot("compare", self.slow, "--baseline", self.base)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("base.json: NVIDIA H200, CUDA 13.0, 2026-11-20, commit abc1234 (baseline)",
                      done.stdout)
        self.assertIn("0.75x SLOWER", done.stdout)

    def test_many_files_of_one_label(self):
        names = [self.write({**make_file(ladder()), "date": f"2026-11-2{k}"}, f"run{k}.json")
                 for k in range(6)]
        done = self.run_plot("compare", *names)
        self.assertIn("6 files, 2 shown: the newest two", done.stdout)
        self.assertNotIn("run3.json", done.stdout)
        self.assertIn("B against A: ", done.stdout)
        self.assertIn("A  run0.json", self.run_plot("compare", *names, "--baseline",
                                                    "run0.json").stdout)
        self.assertEqual(len(self.run_plot("compare", *names, "--csv").stdout.split("\n")),
                         6 * len(ladder()) + 2)
        self.write(make_file([make_row("01_simple", 1500)]), "run1.json")
        self.assertEqual(self.run_plot("compare", *names, "--fail-if-slower", "5").returncode, 1)

    def test_files_of_exercises_are_left_out(self):
        judged = {"number": 1, "verdict": "passed", "reason": None, "compared": None,
                  "asked_ratio": None}
        exercise = self.write({**make_file(ladder()), "exercise": judged}, "exercise.json")
        done = self.run_plot("compare", exercise, self.base, self.slow)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 of 3 are files of exercises", done.stderr)
        self.assertNotIn("exercise.json", done.stdout)
        for files, words in (([exercise, exercise], "compare --class"),
                             ([exercise, self.base], "two files")):
            done = self.run_plot("compare", *files)
            self.assertEqual((done.returncode, words in done.stderr), (2, True), done.stderr)

    def test_recorded_table(self):
        done = self.run_plot("table", self.base, "--recorded")
        self.assertIn("recorded on NVIDIA H200, 2026-11-20, commit abc1234 - not measured on this "
                      "machine\n", done.stdout)
        lines = [line for line in done.stdout.split("\n") if "recorded" not in line]
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertNotIn("recorded", self.run_plot("table", self.base).stdout)

    def test_csv_alone_on_stdout(self):
        done = self.run_plot("compare", self.base, self.slow, "--csv")
        self.assertEqual(len(list(csv.reader(io.StringIO(done.stdout)))), 9)


if __name__ == "__main__":
    unittest.main()
