"""Plots of synthetic result files: what is drawn, the same bytes twice, no matplotlib at all."""
import os
import re
import subprocess
import sys
import unittest
from html import unescape
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from test_results import (LIMIT, ROOT, Folder, ladder, make_file, make_row, make_study,  # noqa: E402
                          sweep)
from course import figures, machine, map_plots, results, size_plots, tables  # noqa: E402

PLOT = ROOT / "common" / "plot"
PYTHON = machine.probe_matplotlib().where
needs_matplotlib = unittest.skipUnless(PYTHON, "no python with matplotlib on this machine")


class Spread(unittest.TestCase):
    def test_labels_keep_apart_and_in_order(self):
        for places in ([0.5] * 5, [0.1, 0.11, 0.9, 0.95, 0.99], [1.0, 0.98], [0.3], []):
            moved = figures.spread_out(places, 0.1)
            self.assertEqual(sorted(range(len(places)), key=lambda k: (places[k], k)),
                             sorted(range(len(places)), key=lambda k: moved[k]))
            ordered = sorted(moved)
            for low, high in zip(ordered, ordered[1:]):
                self.assertGreaterEqual(high - low, 0.1 - 1e-9)
            self.assertTrue(all(place <= 1 + 1e-9 for place in moved))

    def test_labels_with_room_stay(self):
        self.assertEqual(figures.spread_out([0.2, 0.6, 0.4], 0.1), [0.2, 0.6, 0.4])

    def test_crowded_labels_stay_near(self):
        moved = figures.spread_out([0.5, 0.5, 0.5], 0.1)
        self.assertAlmostEqual(sum(moved) / 3, 0.5)


class Ratios(Folder):
    def series(self, rows):
        path = self.write(make_file(rows, [make_study("sizes", "n")]))
        return tables.series(results.load(path).rows_of("sizes"), "n")

    def row(self, version, rate, n, role="version"):
        return make_row(version, rate, study="sizes", role=role, size={"n": n})

    def test_each_size_is_compared_with_the_library_at_that_size(self):
        rows = [self.row("01_a", rate, n) for n, rate in ((1024, 50), (2048, 300), (4096, 5))]
        rows += [self.row("90_lib", 100, n, "peer") for n in (1024, 2048)]
        found = size_plots.ratios(self.series(rows), "n")
        self.assertEqual([n for n, _ in found["01_a"]], [1024, 2048])
        for (_, ratio), right in zip(found["01_a"], (0.5, 3)):
            self.assertAlmostEqual(ratio, right)
        self.assertEqual(found["90_lib"], [(1024, 1), (2048, 1)])

    def test_of_several_libraries_the_one_launched_alike(self):
        rows = [self.row(name, rate, n, role) for n in (1024, 2048) for name, rate, role in
                (("01_a", 10, "version"), ("itself_01_a", 60, "version"), ("90_lib", 20, "peer"),
                 ("itself_90_lib", 30, "peer"))]
        found = size_plots.ratios(self.series(rows), "n")
        self.assertAlmostEqual(found["01_a"][0][1], 0.5)
        self.assertAlmostEqual(found["itself_01_a"][0][1], 2)

    def test_of_several_libraries_launched_alike_the_first(self):
        rows = [self.row(name, rate, n, role) for n in (1024, 2048) for name, rate, role in
                (("01_a", 10, "version"), ("90_lib", 20, "peer"), ("91_lib", 40, "peer"),
                 ("host", 5, "peer"))]
        series = self.series(rows)
        self.assertEqual({size_plots.peer_of(name, series) for name in series}, {"90_lib"})
        found = size_plots.ratios(series, "n")
        self.assertEqual([found[name][0][1] for name in found], [0.5, 1, 2, 0.25])

    def test_of_libraries_without_a_number_nobody_knows_which(self):
        rows = [self.row(name, 10, n, role) for n in (1024, 2048) for name, role in
                (("least", "version"), ("lib_least", "peer"), ("lib_largest", "peer"))]
        self.assertEqual(size_plots.ratios(self.series(rows), "n"), {})

    def test_where_all_leave_the_panel_there_is_none(self):
        rows = [self.row("01_a", rate, n) for n, rate in ((1024, 500), (2048, 300))]
        rows += [self.row("90_lib", 10, n, "peer") for n in (1024, 2048)]
        self.assertEqual(size_plots.ratios(self.series(rows), "n"), {})

    def test_without_a_library_there_is_none(self):
        rows = [self.row("01_a", 10, n) for n in (1024, 2048)]
        self.assertEqual(size_plots.ratios(self.series(rows), "n"), {})
        rows = [self.row("90_lib", 10, n, "peer") for n in (1024, 2048)]
        self.assertEqual(size_plots.ratios(self.series(rows), "n"), {})


class Draws(Folder):
    def run_plot(self, *arguments, **environment):
        return subprocess.run([sys.executable, str(PLOT), *map(str, arguments)], text=True,
                              capture_output=True, check=False, cwd=self.folder,
                              env={**os.environ, **environment})

    def draw(self, data, *arguments):
        """Draws the file and gives the names of what was written."""
        self.write(data)
        done = self.run_plot(*(arguments or ["h200.json"]))
        self.assertEqual(done.returncode, 0, done.stderr)
        names = done.stdout.split()
        for name in names:
            self.assertGreater((self.folder / name).stat().st_size, 1000)
        return names

    @needs_matplotlib
    def test_one_plot_a_study(self):
        studies = [make_study(), make_study("sizes", "n"), make_study("none")]
        data = make_file(ladder() + sweep(), studies)
        self.assertEqual(self.draw(data), ["h200-sequence.svg", "h200-sizes.svg"])
        names = self.draw(data, "h200.json", "--study", "sizes", "--out", "a/b",
                          "--format", "svg,png")
        self.assertEqual(names, ["a/b/h200-sizes.svg", "a/b/h200-sizes.png"])

    def texts(self, path):
        """The words of a plot, a text each."""
        svg = (self.folder / path).read_text(encoding="utf-8")
        return [unescape(words) for words in re.findall(r"<text[^>]*>([^<]+)</text>", svg)]

    @needs_matplotlib
    def test_panel_of_ratios(self):
        rows = sweep()
        own = rows[0]["version"]
        peers = [dict(row, version="90_lib", role="peer") for row in rows
                 if row["version"] == own]
        study = make_study("sizes", "n")
        self.draw(make_file(rows + peers, [study]))
        self.assertIn("over 90_lib", self.texts("h200-sizes.svg"))
        self.draw(make_file(rows, [study]))
        self.assertNotIn("over 90_lib", self.texts("h200-sizes.svg"))

    @needs_matplotlib
    def test_limit_of_reads_is_named(self):
        limit = {"name": "reads", "value": 4607.0, "unit": "GB/s", "how": "measured"}
        rows = [dict(row, limit=limit) for row in sweep()]
        self.draw(make_file(rows, [make_study("sizes", "n")]))
        texts = self.texts("h200-sizes.svg")
        self.assertIn("limit: reading memory, 4607 GB/s", texts)
        self.assertFalse([text for text in texts if "copy" in text])

    @needs_matplotlib
    def test_many_sizes_are_one_row_each(self):
        rows = [make_row(f"0{k}_v", 100 + k, size={"rows": n, "cols": n})
                for n in range(1, 10) for k in range(1, 4)]
        self.draw(make_file(rows))
        texts = self.texts("h200-sequence.svg")
        self.assertEqual([text for text in texts if "x" in text],
                         [f"{n}x{n}" for n in range(1, 10)])
        self.assertEqual(sum(text == "02_v" for text in texts), 1)

    @needs_matplotlib
    def test_one_version_and_a_library_on_a_grid_are_a_map(self):
        rows = [make_row(name, rate, role=role, size={"rows": m, "cols": n, "depth": 7})
                for m in (10, 20, 300) for n in (16, 40, 5000, 60000)
                for name, rate, role in (("80_limit", m + 1.5 * n, "version"),
                                         ("90_lib", 2 * n, "peer"))]
        self.draw(make_file(rows))
        texts = self.texts("h200-sequence.svg")
        for m in (10, 20, 300):
            for n in (16, 40, 5000, 60000):
                self.assertIn(f"{(m + 1.5 * n) / (2 * n):.2f}", texts)
        self.assertIn("80_limit over 90_lib: The sequence", texts)
        self.assertTrue(any(text.endswith("depth = 7") for text in texts), texts)
        self.assertFalse(any("TB/s" in text or "GB/s" in text for text in texts))

    @needs_matplotlib
    def test_one_version_at_three_dimensions_is_a_map_of_shares(self):
        def grid(depths):
            return [dict(make_row("1_v", 5, size={"a": a, "b": b, "c": c, "n": 7}),
                         of_limit=0.1 * a + 0.01 * b + 0.001 * c)
                    for c in depths for a in (1, 2, 3) for b in (4, 5, 6)]
        self.draw(make_file(grid((0, 70))))
        texts = self.texts("h200-sequence.svg")
        for a in (1, 2, 3):
            for b in (4, 5, 6):
                for c in (0, 70):
                    self.assertIn(f"{10 * a + b + 0.1 * c:.0f}", texts)
        self.assertEqual([text for text in texts if text.startswith("c = ")], ["c = 0", "c = 70"])
        self.assertIn("The sequence: % of the limit", texts)
        for rows, found in ((grid((0, 70)), ("a", "b", "c")), (grid((0,)), None),
                            (grid((0, 70))[1:], None), ([], None),
                            ([dict(row, of_limit=None) for row in grid((0, 70))], None)):
            path = self.write(make_file(rows))
            self.assertEqual(map_plots.panels_of(results.load(path).rows_of("sequence")), found)

    def test_what_is_no_map(self):
        def grid(wide, *roles):
            return [make_row(f"{10 * k}_v", 5, role=role, size={"rows": m, "cols": n})
                    for m in (1, 2, 3) for n in range(wide) for k, role in enumerate(roles)]
        for rows, found in ((grid(3, "version", "peer"), ("rows", "cols")),
                            (grid(2, "version", "peer"), None),
                            (grid(3, "version", "version"), None),
                            (grid(3, "version", "peer", "peer"), None),
                            (grid(3, "version", "peer")[1:], None),
                            (grid(3, "version", "peer")[2:], None),
                            ([dict(row, verified=False) for row in grid(3, "version", "peer")], None),
                            ([], None)):
            path = self.write(make_file(rows))
            self.assertEqual(map_plots.grid_of(results.load(path).rows_of("sequence")), found)

    @needs_matplotlib
    def test_same_bytes_twice(self):
        data = make_file(ladder() + sweep(), [make_study(), make_study("sizes", "n")])
        first = [(self.folder / name).read_bytes() for name in self.draw(data)]
        second = [(self.folder / name).read_bytes() for name in self.draw(data)]
        self.assertEqual(first, second)
        self.assertNotIn(b"<dc:date>", first[0])

    @needs_matplotlib
    def test_odd_files(self):
        one = make_study("sizes", "n")
        cases = (
                ([make_row("01_wrong", verified=False)], make_study()),
                ([make_row("01_once", 5, samples=1)], make_study()),
                ([make_row("01_same", 5, spread=0, samples=9)], make_study()),
                ([make_row("01_tiny", 1e-6), make_row("02_big", 4000)], make_study()),
                ([make_row("01_a", 5, limit=None, of_limit=None)], make_study()),
                (sweep()[:1], one),
                ([dict(row, verified=False) for row in sweep()], one),
                ([dict(row, size={"n": 0}) for row in sweep()[:1]], one),
                ([dict(row, size={"n": 1000 + 7 * k}) for k, row in enumerate(sweep())], one))
        for index, (rows, study) in enumerate(cases):
            data = make_file([dict(row, study=study["name"]) for row in rows], [study])
            if index % 2:
                data["gpu"].update(dict.fromkeys(data["gpu"]))
            self.write(data, f"{index}.json")
        done = self.run_plot(*(f"{index}.json" for index in range(len(cases))))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stdout.split()), len(cases))

    @needs_matplotlib
    def test_roofline(self):
        data = make_file(ladder() + sweep(), [make_study(), make_study("sizes", "n")])
        self.assertEqual(self.draw(data, "roofline", "h200.json"),
                         ["h200-sequence-roofline.svg", "h200-sizes-roofline.svg"])
        self.write(make_file([make_row("01_simple", 2000, flops=None)]))
        done = self.run_plot("roofline", "h200.json")
        self.assertEqual((done.returncode, done.stderr.strip()),
                         (1, "h200.json: nothing to draw: no row with flops and bytes"))

    @needs_matplotlib
    def test_roofline_of_a_sweep_of_the_flops_per_byte(self):
        flops = {width: 2 * 2**20 * width**2 for width in (3, 9)}
        limit = dict(LIMIT, name="multiplications", value=12 * 2**20 / (flops[9] / 5e13) / 1e9)
        rows = [make_row("01_simple", rate, study="width", size={"n": 2**20, "width": width},
                         flops=flops[width], limit=limit if width == 9 else LIMIT)
                for width, rate in ((3, 2000), (9, 1500))]
        self.assertEqual(self.draw(make_file(rows, [make_study("width", "width")]), "roofline",
                                   "h200.json"), ["h200-width-roofline.svg"])
        text = (self.folder / "h200-width-roofline.svg").read_text()
        for words in (">3<", ">9<", "multiplications: 50", "01_simple: "):
            self.assertIn(words, text)
        self.assertEqual(text.count("01_simple"), 1)

    @needs_matplotlib
    def test_comparison(self):
        self.write(make_file(ladder(), label="team07"), "other.json")
        self.write(make_file(ladder(), gpu="T4"), "t4.json")
        self.write(make_file(ladder()))
        done = self.run_plot("compare", "h200.json", "other.json", "t4.json",
                             "--svg", "c.svg", "--png", "c.png")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split()[-2:], ["c.svg", "c.png"])
        self.assertTrue((self.folder / "c.png").exists())

    def test_without_matplotlib_there_is_a_table(self):
        self.write(make_file(ladder()))
        (self.folder / "matplotlib.py").write_text("raise ImportError\n", encoding="utf-8")
        done = self.run_plot("h200.json", PYTHONPATH=str(self.folder))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("3800 GB/s", done.stdout)
        self.assertIn("no plots", done.stdout)
        self.assertEqual(list(self.folder.glob("*.svg")), [])

    def test_bad_usage(self):
        self.write(make_file(ladder()))
        for arguments in (["h200.json", "--format", "pdf"], ["none.json"], [],
                          ["h200.json", "--study", "none"],
                          ["h200.json", "../h200.json", "--out", "a"]):
            done = self.run_plot(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    unittest.main()
