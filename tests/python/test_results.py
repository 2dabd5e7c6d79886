"""Result files: reading, refusing, formatting, tables. Also makes the files of other tests."""
import copy
import json
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common" / "python"))

from course import results, tables  # noqa: E402

LIMIT = {"name": "copy", "value": 4000.0, "unit": "GB/s", "how": "measured"}


def make_row(version, rate=None, study="sequence", size=None, spread=0.01, samples=15, **changes):
    """A row of `rate` GB/s whose times spread evenly; without a rate it has no numbers."""
    size = size or {"n": 2**20}
    row = {"study": study, "version": version, "title": version, "role": "version", "type": "f32",
           "input": "random", "size": size, "seconds": [], "median_s": None, "q1_s": None,
           "q3_s": None, "min_s": None, "mode": "graph", "behind": "empty",
           "launches_per_sample": 6,
           "rate": {"value": None, "unit": "GB/s"}, "bytes": 12 * 2**20, "flops": 2**20,
           "limit": LIMIT, "of_limit": None, "l2": "cold", "clock_mhz": 1980, "verified": True,
           "flags": [], "skipped": None, "launch": None}
    if rate:
        median = row["bytes"] / rate / 1e9
        steps = [2 * k / (samples - 1) - 1 if samples > 1 else 0 for k in range(samples)]
        row.update(seconds=[median * (1 + spread * step) for step in steps], median_s=median,
                   q1_s=median * (1 - spread / 2), q3_s=median * (1 + spread / 2),
                   min_s=median * (1 - spread), rate={"value": rate, "unit": "GB/s"},
                   of_limit=rate / 4000)
    row.update(changes)
    return row


def make_study(name="sequence", axis=None, title=None):
    return {"name": name, "title": title or f"The {name}", "axis": axis,
            "axis_label": f"{axis} of the data" if axis else None, "log_axis": bool(axis)}


def make_file(rows, studies=None, gpu="NVIDIA H200", **changes):
    data = {"schema": 1, "chapter": "01_vector_add", "label": None, "commit": "abc1234",
            "date": "2026-11-20T19:00:00Z", "source_hash": None, "interrupted": False,
            "gpu": {"name": gpu, "compute_capability": "9.0", "sm_count": 132,
                    "l2_bytes": 60 * 2**20, "memory_bytes": 2**37, "peak_dram_gbs": 4900.0,
                    "copy_gbs": 4000.0, "read_gbs": None, "empty_kernel_us": 0.5},
            "environment": {"backend": "cuda", "cuda": "13.0", "driver": "13.0",
                            "compiler": "nvcc 13.0", "flags": "-O3", "build_type": "Release"},
            "studies": studies or [make_study()], "results": rows}
    data.update(changes)
    return data


def ladder():
    """A sequence with a row of every kind."""
    return [make_row("01_simple", 2000), make_row("02_vectors", 3800, flags=["noisy"]),
            make_row("03_wrong", verified=False),
            make_row("04_new", skipped="needs compute capability 9.0", verified=None),
            make_row("05_once", 3900, samples=1),
            make_row("06_no_limit", 3600, limit=None, of_limit=None),
            make_row("90_library", 3700, role="peer")]


def sweep():
    return [make_row(version, rate * k, study="sizes", size={"n": 2**(10 + 2 * k)})
            for version, rate in (("01_simple", 100), ("02_vectors", 150)) for k in (1, 2, 3, 4)]


class Folder(unittest.TestCase):
    """A test with a temporary folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, data, name="h200.json"):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
        return path

    def load(self, data, name="h200.json"):
        return results.load(self.write(data, name))


class Refuses(Folder):
    def refused(self, data, *words):
        with self.assertRaises(results.ResultError) as caught:
            self.load(data)
        text = str(caught.exception)
        self.assertIn("h200.json", text)
        self.assertNotIn("\n", text)
        for word in words:
            self.assertIn(word, text)

    def test_a_coordinate_may_be_negative(self):
        row = make_row("05_fill", 4000, size={"rows": 64, "row0": -7})
        self.assertEqual(self.load(make_file([row])).rows[0].size, {"rows": 64, "row0": -7})

    def test_missing_file(self):
        with self.assertRaisesRegex(results.ResultError, "nothing.json: no such file"):
            results.load(self.folder / "nothing.json")

    def test_folder(self):
        with self.assertRaisesRegex(results.ResultError, "cannot be read"):
            results.load(self.folder)

    def test_text_that_is_not_json(self):
        self.refused("hello", "not JSON")
        self.refused("", "not JSON")

    def test_every_truncation(self):
        whole = json.dumps(make_file([make_row("01_simple", 2000)]))
        for length in (1, 2, 30, len(whole) // 2, len(whole) - 1):
            self.refused(whole[:length], "cut off")

    def test_broken_in_the_middle(self):
        self.refused('{"schema": 1,\n "chapter": oops, "label": 1}', ":2:", "not JSON")

    def test_other_json(self):
        self.refused([1, 2], "not a result file")
        self.refused({"a": 1}, "not a result file")
        self.refused(make_file([], schema=2), "schema 2")

    def test_not_a_number(self):
        text = json.dumps(make_file([make_row("01_simple", 2000)]))
        for number, word in (("NaN", "NaN"), ("-Infinity", "Infinity"), ("1e999", "inf"),
                             ("-3", "results[0]: 'value'")):
            self.refused(text.replace('"value": 2000', f'"value": {number}'), word)

    def test_missing_keys(self):
        whole = make_file([make_row("01_simple", 2000)])
        for key in ("chapter", "date", "gpu", "environment", "studies", "results"):
            data = copy.deepcopy(whole)
            del data[key]
            self.refused(data, f"'{key}' is missing")
        for key in ("study", "version", "role", "seconds", "size", "rate", "verified", "skipped"):
            data = copy.deepcopy(whole)
            del data["results"][0][key]
            self.refused(data, "results[0]", f"'{key}' is missing")

    def test_wrong_types(self):
        self.refused(make_file([make_row("01_simple", 2000, median_s="fast")]), "'median_s'")
        self.refused(make_file([make_row("01_simple", 2000, seconds=[True])]), "'seconds'")
        self.refused(make_file([make_row("01_simple", 2000, role="boss")]), "boss")
        self.refused(make_file([3]), "results[0]")
        self.refused({**make_file([]), "gpu": "H200"}, "'gpu'")

    def test_study_that_is_not_listed(self):
        self.refused(make_file([make_row("01_simple", 1, study="other")]), "other")

    def test_row_without_the_axis(self):
        self.refused(make_file([make_row("01_simple", 1)], [make_study(axis="stride")]), "stride")


class Reads(Folder):
    def test_rows_of_every_kind(self):
        told = make_row("07_told", verified=False, skipped="first mismatch at 3")
        rows = {row.version: row for row in self.load(make_file(ladder() + [told])).rows}
        self.assertEqual(rows["01_simple"].words, "")
        self.assertEqual(rows["03_wrong"].words, "FAILED")
        self.assertEqual(rows["07_told"].words, "FAILED: first mismatch at 3")
        self.assertEqual(rows["04_new"].words, "skipped: needs compute capability 9.0")
        self.assertIsNone(rows["06_no_limit"].limit)
        low, high = rows["01_simple"].rate_range
        self.assertTrue(low < 2000 < high)

    def test_unknown_things_are_null(self):
        row = {**make_row("01_simple", 2000, limit=None, clock_mhz=None), "rate": None}
        data = make_file([row], commit=None)
        data["gpu"].update(name=None, l2_bytes=None, copy_gbs=None, peak_dram_gbs=None)
        data["environment"] = {key: None for key in data["environment"]}
        result = self.load(data)
        self.assertEqual(result.rows[0].words, "not measured")
        self.assertEqual(result.provenance(), "unknown GPU, 2026-11-20, commit unknown")

    def test_files_that_do_not_say_behind_what(self):
        old = self.load(make_file([make_row("01_simple", 2000, behind=None)]))
        self.assertTrue(old.provenance().endswith("commit abc1234, each launch behind itself"))
        rows = [make_row("naive", 2000, behind=None), make_row("01_simple", 2000)]
        self.assertTrue(self.load(make_file(rows)).provenance().endswith("commit abc1234"))
        rows = [make_row("01_simple", behind=None)]
        self.assertTrue(self.load(make_file(rows)).provenance().endswith("commit abc1234"))

    def test_axis(self):
        result = self.load(make_file(sweep() + ladder(), [make_study(), make_study("sizes", "n")]))
        self.assertIsNone(result.axis(result.study("sequence")))
        self.assertEqual(result.axis(result.study("sizes")), "n")
        several = [make_row("01_simple", 2000, size={"n": 2**k}) for k in (20, 24)]
        self.assertEqual(self.load(make_file(several)).axis(result.study("sequence")), "n")

    def test_unknown_study_names_the_known(self):
        with self.assertRaisesRegex(results.ResultError, "'x'.*sequence"):
            self.load(make_file([])).study("x")


class Texts(unittest.TestCase):
    def test_times(self):
        for seconds, text in ((5.213e-7, "521.3 ns"), (735.6e-6, "735.6 us"), (1e-6, "1.000 us"),
                              (0.0123456, "12.35 ms"), (2.5, "2.500 s"), (1234.5, "1234 s")):
            self.assertEqual(tables.time_text(seconds), text)

    def test_digits(self):
        for value, text in ((4375.2, "4375"), (318.24, "318.2"), (0.05123, "0.05123"), (0, "0"),
                            (123456.0, "123456"), (1.0, "1.000")):
            self.assertEqual(tables.digits(value), text)

    def test_counts(self):
        for value, text in ((2**28, "2^28"), (1024, "2^10"), (512, "512"), (1000, "1000"), (3, "3"),
                            (0, "0"), (0.5, "0.5")):
            self.assertEqual(tables.count_text(value), text)
        self.assertEqual(tables.parse_count("2^28"), 2**28)
        self.assertEqual(tables.parse_count("77"), 77)
        for bad in ("", "2^", "x", "1e6", "-3"):
            with self.assertRaises(results.ResultError):
                tables.parse_count(bad)

    def test_sizes_and_ratios(self):
        self.assertEqual(tables.size_text({"rows": 8192, "cols": 4096}), "8192x4096")
        self.assertEqual(tables.size_text({"n": 2**28, "stride": 4}), "n = 2^28, stride = 4")
        self.assertEqual([tables.ratio_text(x) for x in (None, 1.254, 602.3, 0.012, 1.0)],
                         ["-", "1.25x", "602x", "0.012x", "1.00x"])


class Tables(Folder):
    def cells(self, version, fields=tables.STANDARD_FIELDS):
        result = self.load(make_file(ladder()))
        row = next(row for row in result.rows if row.version == version)
        return [tables.cell(result, row, field) for field in fields]

    def test_cells(self):
        self.assertEqual(self.cells("02_vectors"),
                         ["3.311 us +-0.5%", "3800 GB/s", "95.0 %", "1.90x", "ok"])
        self.assertEqual(self.cells("01_simple")[3], "-")  # nothing before it
        self.assertEqual(self.cells("05_once")[0], "3.226 us")  # one sample has no spread
        self.assertEqual(self.cells("05_once")[3], "-")  # the version before it has no rate
        self.assertEqual(self.cells("06_no_limit")[2], "-")
        self.assertEqual(self.cells("90_library")[3], "-")
        self.assertEqual(self.cells("02_vectors", ["ratio:90", "ratio:01_simple"]),
                         ["1.03x", "1.90x"])
        with self.assertRaisesRegex(results.ResultError, "unknown column 'speed'"):
            self.cells("03_wrong", ["speed"])

    def test_resident_row_has_no_share(self):
        result = self.load(make_file([make_row("01_simple", 6000, l2="resident")]))
        self.assertEqual(tables.cell(result, result.rows[0], "of_limit"), "in L2")

    def test_smaller_size_is_compared_by_rate_and_named(self):
        result = self.load(make_file([make_row("01_slow", 10, size={"n": 2**16}),
                                      make_row("02_fast", 2000), make_row("03_best", 3000)]))
        self.assertEqual(tables.cell(result, result.rows[1], "x_previous"), "200x")
        _, lines = tables.study_table(result, result.studies[0])
        self.assertEqual([line[0] for line in lines], ["01_slow (n = 2^16)", "02_fast", "03_best"])

    def test_largest_size_of_a_version_is_compared_with_no_other(self):
        result = self.load(make_file([make_row("01_all_at_once", 10, flags=["largest_size"],
                                               size={"n": 2**16}),
                                      make_row("02_fast", 2000), make_row("03_best", 3000)]))
        self.assertEqual([tables.cell(result, row, "x_previous") for row in result.rows],
                         ["-", "-", "1.50x"])

    def test_text_is_80_columns_wide(self):
        rows = ladder() + [make_row("07_a_really_long_name_of_a_version_that_goes_on", 3900)]
        result = self.load(make_file(rows + sweep(), [make_study(), make_study("sizes", "n")]))
        for study in result.studies:
            text = tables.to_text(tables.study_table(result, study))
            self.assertLessEqual(max(map(len, text.split("\n"))), 80)
            text.encode("ascii")
        text = tables.to_text(tables.study_table(result, result.studies[0]))
        self.assertIn("04_new", text)
        self.assertIn("skipped: needs compute capability 9.0", text)

    def test_wide_table_continues_below(self):
        table = (["n"] + ["column number %d" % k for k in range(9)], [["1"] + ["x"] * 9])
        text = tables.to_text(table)
        self.assertLessEqual(max(map(len, text.split("\n"))), 80)
        self.assertEqual(text.count("column number"), 9)

    def test_markdown(self):
        result = self.load(make_file(ladder()))
        lines = tables.to_markdown(tables.study_table(result, result.studies[0])).split("\n")
        self.assertEqual(lines[0], "| version | time | rate | % of limit | x previous | check |")
        self.assertEqual({line.count("|") for line in lines}, {7})
        self.assertIn("\u00b1", lines[2])

    def test_sweep(self):
        result = self.load(make_file(sweep(), [make_study("sizes", "n")]))
        headers, lines = tables.study_table(result, result.studies[0])
        self.assertEqual(headers, ["n", "01_simple GB/s", "02_vectors GB/s"])
        self.assertEqual(lines[0], ["2^12", "100.0", "150.0"])

    def test_sweep_of_two_types(self):
        rows = sweep() + [dict(row, type="f64") for row in sweep()[:4]]
        result = self.load(make_file(rows, [make_study("sizes", "n")]))
        headers, _ = tables.study_table(result, result.studies[0])
        self.assertEqual(headers[1:], ["01_simple GB/s", "01_simple (f64) GB/s", "02_vectors GB/s"])

    def test_sweep_with_failed_and_missing_cells(self):
        wrong = make_row("03_wrong", study="sizes", size={"n": 2**12}, verified=False)
        rows = sweep()[:-1] + [wrong]
        result = self.load(make_file(rows, [make_study("sizes", "n")]))
        _, lines = tables.study_table(result, result.studies[0])
        self.assertEqual(lines[0][3], "FAILED")
        self.assertEqual(lines[3][2:], ["-", "-"])
        self.assertIn("03_wrong: FAILED", tables.notes(result, result.studies[0]))

    def test_select(self):
        result = self.load(make_file(ladder()))
        self.assertEqual(results.select(result, "sequence", "01-03,90"),
                         ["01_simple", "02_vectors", "03_wrong", "90_library"])
        self.assertEqual(results.select(result, "sequence", "02_vectors"), ["02_vectors"])
        for bad in ("17", "50-60", "vectors", ""):
            with self.assertRaises(results.ResultError):
                results.select(result, "sequence", bad)

    def test_notes(self):
        result = self.load(make_file(ladder()))
        text = "\n".join(tables.notes(result, result.studies[0]))
        self.assertIn("limit: copy, 4000 GB/s (measured)", text)
        self.assertIn("02_vectors: noisy", text)


if __name__ == "__main__":
    unittest.main()
