"""What limits each version: Nsight Compute's report, the file, table and plot, common/profile."""
import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))

from test_results import ROOT, Folder  # noqa: E402
from test_scripts import GPU, NO_GPU, ScriptTest  # noqa: E402
from course import Problem, chapters, lessons, limiters, machine, ncu, plots, results  # noqa: E402

PYTHON = machine.probe_matplotlib().where
HEADING = "NVIDIA H200, compute capability 9.0, 132 SMs, 60 MiB L2, CUDA 13.0 (driver 13.1)\n"
HEADER = {"chapter": "01_vector_add", "study": "sequence", "gpu": "NVIDIA H200", "cuda": "13.0",
          "ncu": "2025.3.1.0", "date": "2026-11-20", "commit": "abc1234"}


def report(*launches):
    """What `ncu --csv --page raw` writes of launches (kernel, {column: text}); the rest is n/a."""
    names = list(limiters.METRICS)
    lines = [["ID", "Kernel Name", "Block Size"] + [limiters.METRICS[name] for name in names],
             ["", "", "block"] + ["ns" if name == "time_ns" else "" for name in names]]
    lines += [[str(k), f"void ns::{kernel}<(int)256>(const float *, float *)", "(256, 1, 1)"]
              + [values.get(name, "n/a") for name in names]
              for k, (kernel, values) in enumerate(launches)]
    quoted = [",".join(f'"{text}"' for text in line) for line in lines]
    return "\n".join(["==PROF== Connected to process 7", *quoted,
                      "==PROF== Disconnected from process 7", ""])


def slice_of(version, *launches, size="n=2^20"):
    return ncu.Slice(version, size, ncu.parse(report(*launches)))


TREE = {"time_ns": "1,400,000", "dram_percent": "21.44", "issue_percent": "6.25",
        "lanes_per_instruction": "15.06", "warp_instructions": "12,345,678",
        "shared_load_requests": "1,000", "shared_load_wavefronts": "4,000",
        "shared_store_requests": "1,000", "shared_store_wavefronts": "1,000",
        "shared_atomic_requests": "100", "shared_atomic_wavefronts": "1,600",
        "tensor_percent": "81.5", "dram_bytes_read": "1,073,741,824", "stall_long_scoreboard": "2.00",
        "stall_lg_throttle": "1", "stall_barrier": "6", "stall_short_scoreboard": "1",
        "stall_mio_throttle": "1", "stall_selected": "1", "stall_wait": "(!) n/a"}
SMALL = {"time_ns": "100,000", "dram_percent": "1"}


def record():
    """Two versions, of which the first launches two kernels and the second tells little."""
    parts = [slice_of("01_tree", ("tree", TREE), ("finish", SMALL)),
             slice_of("02_plain", ("plain", SMALL))]
    return limiters.Record(Path("x.csv"), HEADER, tuple(limiters.longest(p) for p in parts))


class Reading(unittest.TestCase):
    def test_the_longest_launch_is_described(self):
        for order in ((("tree", TREE), ("finish", SMALL)), (("finish", SMALL), ("tree", TREE))):
            row = limiters.longest(slice_of("01_tree", *order))
            self.assertEqual((row.kernel, row.launches), ("tree", 2))
            self.assertAlmostEqual(row.time_share, 1.4 / 1.5)
            self.assertEqual(row.get("warp_instructions"), 12345678)
            self.assertEqual(row.get("dram_percent"), 21.44)

    def test_unknown_values_are_left_out(self):
        row = limiters.longest(slice_of("01_tree", ("tree", TREE)))
        self.assertIsNone(row.get("l2_percent"))
        self.assertIsNone(row.get("stall_wait"))
        text = report(("tree", TREE)).replace(limiters.METRICS["dram_percent"], "another")
        part = ncu.Slice("01_tree", "n=1", ncu.parse(text))
        self.assertIsNone(limiters.longest(part).get("dram_percent"))
        with self.assertRaisesRegex(Problem, "no time for a kernel of 01_tree"):
            limiters.longest(slice_of("01_tree", ("tree", {})))

    def test_wavefronts(self):
        row = limiters.longest(slice_of("01_tree", ("tree", TREE)))
        self.assertEqual(row.wavefronts, 2.5)
        for changes in ({"shared_load_requests": "0", "shared_store_requests": "0"},
                        {"shared_load_wavefronts": "n/a"}, {"shared_store_requests": "n/a"}):
            row = limiters.longest(slice_of("01_tree", ("tree", {**TREE, **changes})))
            self.assertIsNone(row.wavefronts)

    def test_rows_of_one_size(self):
        parts = [slice_of("01_tree", ("tree", TREE), size=f"rows={rows} cols=7")
                 for rows in ("2^12", "100")]
        both = limiters.Record(Path("x.csv"), HEADER, tuple(map(limiters.longest, parts)))
        self.assertEqual(both.of_size({"rows": 4096, "cols": 7}).find("01").size, "rows=2^12 cols=7")
        self.assertEqual(both.of_size({}).rows, both.rows)
        for sizes in ({"rows": 7}, {"depth": 7}):
            with self.assertRaises(results.ResultError):
                both.of_size(sizes)

    def test_what_tensor_cores_and_atomics_do(self):
        row = limiters.longest(slice_of("01_tree", ("tree", TREE)))
        self.assertEqual([limiters.cell(row, name) for name in ("atomic_wavefronts", "tensor")],
                         ["16.00", "82 %"])

    def test_shares_of_the_time_of_a_warp(self):
        row = limiters.longest(slice_of("01_tree", ("tree", TREE)))
        self.assertEqual({group: round(12 * share, 9) for group, share in row.shares.items()},
                         {"memory": 3, "barrier": 6, "shared": 2, "tensor": 0, "instructions": 1,
                          "other": 0})
        self.assertEqual(limiters.most_waited_for(row), "barrier 50 %")
        self.assertEqual(limiters.longest(slice_of("02_plain", ("plain", SMALL))).shares, {})

    def test_every_metric_has_one_column(self):
        self.assertEqual(len(set(limiters.METRICS.values())), len(limiters.METRICS))
        reasons = [reason for group in limiters.GROUPS.values() for reason in group]
        self.assertEqual(len(set(reasons)), len(reasons))
        self.assertEqual(set(limiters.GROUPS), set(limiters.GROUP_WORDS))
        self.assertEqual(set(limiters.GROUPS), set(plots.GROUP_STYLE))

    def test_machine(self):
        self.assertEqual(limiters.machine_of(f"01_x: title\n{HEADING}launched\n"),
                         {"gpu": "NVIDIA H200", "cuda": "13.0"})
        with self.assertRaises(Problem):
            limiters.machine_of("CPU backend: every CUDA thread runs on the CPU\n")


class Files(Folder):
    def test_file_comes_back(self):
        written = limiters.text_of(record())
        self.assertEqual(written.split("\n")[0],
                         "# chapter: 01_vector_add, study: sequence, gpu: NVIDIA H200, cuda: 13.0, "
                         "ncu: 2025.3.1.0, date: 2026-11-20, commit: abc1234")
        back = limiters.load(self.write(written, "h200-limiters.csv"))
        self.assertEqual(back.header, HEADER)
        self.assertEqual([row.values for row in back.rows], [row.values for row in record().rows])
        self.assertEqual([(row.version, row.size, row.kernel, row.launches) for row in back.rows],
                         [("01_tree", "n=2^20", "tree", 2), ("02_plain", "n=2^20", "plain", 1)])
        self.assertEqual(back.provenance(), "NVIDIA H200, CUDA 13.0, Nsight Compute 2025.3.1.0, "
                                            "2026-11-20, commit abc1234")
        self.assertEqual(limiters.text_of(back).split("\n")[1:], written.split("\n")[1:])

    def test_refusals(self):
        good = limiters.text_of(record())
        lines = good.split("\n")
        for text, words in (("", "not a file of limiters"), (good.replace("# ", ""), "not a file"),
                            ("\n".join(lines[:2]), "not a file of limiters"),
                            (good + "03_x,n=1\n", "x.csv:5: not as many fields"),
                            (good.replace(",tree,2,", ",tree,two,"), "x.csv:3: not a line"),
                            (good.replace("21.44", "much"), "x.csv:3: not a line")):
            with self.assertRaisesRegex(results.ResultError, words):
                limiters.load(self.write(text, "x.csv"))
        with self.assertRaisesRegex(results.ResultError, "none.csv: no such file"):
            limiters.load(self.folder / "none.csv")

    def test_table(self):
        measured = record()
        self.assertEqual(limiters.table(measured, measured.rows), (
            ["version", "DRAM %", "issue slots %", "lanes of 32", "wavefronts per shared request",
             "most waited for"],
            [["01_tree", "21 %", "6.2 %", "15.1", "2.50", "barrier 50 %"],
             ["02_plain", "1.0 %", "-", "-", "-", "-"]]))
        for field in limiters.FIELDS:
            for row in measured.rows:
                self.assertTrue(limiters.cell(row, field))
        self.assertEqual(limiters.cell(measured.rows[0], "time"), "1.400 ms")
        self.assertEqual(limiters.cell(measured.rows[0], "stall_memory"), "25 %")
        self.assertEqual(limiters.cell(measured.rows[0], "dram_read"), "1073741824")
        self.assertIn("01_tree 1 of 2 (93 %)", limiters.note(measured))
        with self.assertRaisesRegex(results.ResultError, "unknown column 'speed'"):
            limiters.cell(measured.rows[0], "speed")

    def test_several_sizes(self):
        rows = tuple(limiters.longest(slice_of("01_tree", ("tree", TREE), size=size))
                     for size in ("n=2^10", "n=2^20"))
        measured = limiters.Record(Path("x.csv"), HEADER, rows)
        self.assertEqual(limiters.table(measured, rows, ["lanes"])[1],
                         [["01_tree (n=2^10)", "15.1"], ["01_tree (n=2^20)", "15.1"]])
        self.assertEqual(limiters.note(measured), "")
        with self.assertRaisesRegex(results.ResultError, "2 sizes of 01_tree"):
            measured.find("01")


class Plots(Folder):
    def plot(self, *arguments, **environment):
        return subprocess.run([sys.executable, str(ROOT / "common" / "plot"), "limiters",
                               *map(str, arguments)], text=True, capture_output=True, check=False,
                              cwd=self.folder, env={**os.environ, **environment})

    @unittest.skipUnless(PYTHON, "no python with matplotlib on this machine")
    def test_draws_the_same_bytes_twice(self):
        self.write(limiters.text_of(record()), "h200-limiters.csv")
        first = []
        for _ in range(2):
            done = self.plot("h200-limiters.csv")
            self.assertEqual((done.returncode, done.stdout), (0, "h200-limiters.svg\n"),
                             done.stderr)
            first.append((self.folder / "h200-limiters.svg").read_text(encoding="utf-8"))
        self.assertEqual(first[0], first[1])
        self.assertIn("what limits us now", first[0])

    @unittest.skipUnless(PYTHON, "no python with matplotlib on this machine")
    def test_each_row_has_its_figures(self):
        self.write(limiters.text_of(record()), "h200-limiters.csv")
        self.assertEqual(self.plot("h200-limiters.csv").returncode, 0)
        drawn = (self.folder / "h200-limiters.svg").read_text(encoding="utf-8")
        texts = re.findall(r"<text[^>]*>([^<]+)</text>", drawn)
        # DRAM, issue slots, lanes, wavefronts of 01_tree; of 02_plain DRAM, and nothing else
        for figure in ("21", "6.2", "15", "2.5", "1.0"):
            self.assertIn(figure, texts)
        self.assertEqual(texts.count("-"), 4, texts)

    @unittest.skipUnless(PYTHON, "no python with matplotlib on this machine")
    def test_one_row_without_figures(self):
        bare = limiters.Record(Path(), {}, (limiters.longest(slice_of("02_a", ("a", SMALL))),))
        self.write(limiters.text_of(bare).replace("# ", "# gpu: T4"), "a.csv")
        done = self.plot("a.csv", "--out", "b", "--format", "svg,png")
        self.assertEqual((done.returncode, done.stdout), (0, "b/a.svg\nb/a.png\n"), done.stderr)

    def test_without_matplotlib_there_is_a_table(self):
        self.write(limiters.text_of(record()), "a.csv")
        (self.folder / "matplotlib.py").write_text("raise ImportError\n", encoding="utf-8")
        done = self.plot("a.csv", PYTHONPATH=str(self.folder))
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ("barrier 50 %", "NVIDIA H200", "1 of 2", "no plots"):
            self.assertIn(words, done.stdout)
        self.assertEqual(list(self.folder.glob("*.svg")), [])

    def test_missing_file(self):
        done = self.plot("none.csv")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"\Acommon/plot: none.csv: no such file.*\n\Z")


class Lessons(Folder):
    def setUp(self):
        super().setUp()
        self.write(limiters.text_of(record()), "chapters/01_add/results/h200-limiters.csv")
        self.write("", "chapters/01_add/01_tree.cu")

    def run_lessons(self, text, action):
        path = self.write(text, "chapters/01_add/README.md")
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = lessons.main([action], self.folder)
        return code, out.getvalue(), path.read_text(encoding="utf-8")

    def test_table(self):
        code, out, text = self.run_lessons(
            "a\n\n<!-- limiters: columns=dram,stall only=01-02 -->\n<!-- /limiters -->\nb\n",
            "--update")
        self.assertEqual(code, 0, out)
        self.assertEqual(text.split("\n")[3:-2], [
            "| version | DRAM % | most waited for |", "|---|--:|--:|",
            "| [01_tree](01_tree.cu) | 21 % | barrier 50 % |", "| 02_plain | 1.0 % | - |", "",
            "NVIDIA H200, CUDA 13.0, Nsight Compute 2025.3.1.0, 2026-11-20, commit abc1234",
            "<!-- /limiters -->"])
        self.assertEqual(self.run_lessons(text, "--check")[0], 0)
        code, out, _ = self.run_lessons(text.replace("21 %", "22 %"), "--check")
        self.assertEqual(code, 1)
        self.assertIn("README.md:3: this limiters block is out of date", out)

    def test_number_in_a_sentence(self):
        code, out, text = self.run_lessons(
            "It has <!-- limiter: 01 lanes --><!-- /limiter --> lanes and waits for "
            "<!-- limiter: 01_tree stall_memory -->9<!-- /limiter -->.\n", "--update")
        self.assertEqual(code, 0, out)
        self.assertIn(">15.1<", text)
        self.assertIn(">25 %<", text)
        self.assertEqual(self.run_lessons(text.replace("15.1", "15.2"), "--check")[0], 1)

    def test_refusals(self):
        for marker, word in (
                ("<!-- limiters: columns=speed -->\n<!-- /limiters -->", "'speed'"),
                ("<!-- limiters: only=55 -->\n<!-- /limiters -->", "'55'"),
                ("<!-- limiters: size=3 -->\n<!-- /limiters -->", "write dimension and value"),
                ("<!-- limiters: file=no.csv -->\n<!-- /limiters -->", "no.csv: no such file"),
                ("<!-- limiters: -->", "no <!-- /limiters -->"),
                ("<!-- /limiters -->", "closes nothing"),
                ("at <!-- limiter: 01 -->1<!-- /limiter -->", "2 words"),
                ("at <!-- limiter: 07 lanes -->1<!-- /limiter -->", "'07'"),
                ("<!-- limiter: 01 lanes -->1\n<!-- /limiter -->", "one line")):
            with self.subTest(marker):
                code, out, text = self.run_lessons(f"text\n{marker}\n", "--update")
                self.assertEqual((code, text), (1, f"text\n{marker}\n"))
                self.assertIn("chapters/01_add/README.md:2: ", out)
                self.assertIn(word, out)


# Stands for ncu: runs the program, and reports its lines "kernel NAME NANOSECONDS". A metric in
# REFUSED is an error, as with an ncu that does not know it.
FAKE_NCU = r'''
import csv, os, subprocess, sys
words = sys.argv[1:]
open(os.environ["CALLS"], "a").write("ncu " + " ".join(words) + "\n")
if words == ["--version"]:
    print("Version 2025.3.1.0 (build 1)"); sys.exit()
at = words.index("--metrics")
metrics = words[at + 1].split(",")
log = open(words[words.index("--log-file") + 1], "w")
if os.environ.get("REFUSED") in metrics:
    log.write("==ERROR== Failed to find metric %s\n" % os.environ["REFUSED"])
    sys.exit(1)
if os.environ.get("NO_PERMISSION"):
    log.write("==ERROR== ERR_NVGPUCTRPERM - no permission to access the counters\n")
    sys.exit(1)
done = subprocess.run(words[at + 2:], stdout=subprocess.PIPE, text=True)
if done.returncode:
    log.write("==ERROR== The application returned an error code (%d).\n" % done.returncode)
    sys.exit(done.returncode)
lines = done.stdout.splitlines()
print("\n".join(line for line in lines if not line.startswith("kernel ")))
log.write("==PROF== Connected\n")
out = csv.writer(log, quoting=csv.QUOTE_ALL)
out.writerow(["ID", "Kernel Name"] + metrics)
out.writerow(["", ""] + ["unit"] * len(metrics))
for k, line in enumerate(line for line in lines if line.startswith("kernel ")):
    _, name, time = line.split()
    out.writerow([k, "void ns::%s<int>(int)" % name]
                 + [time if "duration" in m else "n/a" if "lts" in m else "2" for m in metrics])
'''

# Stands for a chapter's program under the profiler; 02_copy launches no kernel if COPY is set.
PROGRAM = f'''
import os, sys
words = sys.argv[1:]
print("01_vector_add: c = a + b\\n{HEADING.strip()}")
if "7" in words:
    print("--only 7: no such version", file=sys.stderr)
    sys.exit(2)
only = words[words.index("--only") + 1].split(",") if "--only" in words else ["01_one", "02_copy"]
size = words[words.index("--size") + 1] if "--size" in words else "2^20"
for version in only:
    print("kernel fill_kernel 900")
    if version != "02_copy" or not os.environ.get("COPY"):
        print("kernel add 100\\nkernel finish 300")
    print("launched %s x 1 at n=%s" % (version, size))
'''


class Profiling(ScriptTest):
    def setUp(self):
        super().setUp()
        for name in ("profile", "plot"):
            shutil.copy(ROOT / "common" / name, self.root / "common")
        for module in (ROOT / "common" / "python" / "course").glob("*.py"):
            shutil.copy(module, self.root / "common" / "python" / "course")
        self.csv = self.chapter / "results" / "h200-limiters.csv"

    def build(self):
        folder = self.root / "build" / "cuda-90a" / "bin"
        folder.mkdir(parents=True)
        program = folder / "01_vector_add"
        program.write_text(f"#!{sys.executable} -IS\n{PROGRAM}", encoding="utf-8")
        program.chmod(0o755)

    def profile(self, *words, code=0, patch=GPU, **extra):
        return self.run_script("common/profile", *words, patch=patch, code=code, **extra)

    def test_writes_and_draws(self):
        self.tool("ncu", FAKE_NCU)
        self.build()
        out = self.profile("1")
        self.assertIn("h200-limiters.csv", out)
        measured = limiters.load(self.csv)
        self.assertEqual([(row.version, row.size, row.kernel, row.launches, row.time_share)
                          for row in measured.rows],
                         [("01_one", "n=2^20", "finish", 2, 0.75),
                          ("02_copy", "n=2^20", "finish", 2, 0.75)])
        self.assertEqual(measured.rows[0].get("time_ns"), 300)
        self.assertIsNone(measured.rows[0].get("l2_percent"))
        for name in ("chapter", "gpu", "cuda", "ncu"):
            self.assertEqual(measured.header[name], HEADER[name])
        if PYTHON:
            self.assertFalse(self.csv.with_suffix(".svg").exists(), "on no page")
            self.assertTrue((self.root / "build/results/h200-limiters.svg").exists())
            self.write("chapters/01_vector_add/README.md", "![a](results/h200-limiters.svg)\n")
            self.profile("1")
            self.assertTrue(self.csv.with_suffix(".svg").exists())
        call = [line for line in self.calls() if "--metrics" in line]
        self.assertEqual(len(call), 2 if PYTHON else 1)
        self.assertIn("--clock-control none", call[0])
        self.assertIn("--study sequence --profile 1", call[0])

    def test_some_versions_at_a_size_elsewhere(self):
        self.tool("ncu", FAKE_NCU)
        self.build()
        file = self.root / "x.csv"
        self.profile("1", "--only", "02_copy", "--size", "2^12", "--output", str(file))
        self.assertFalse(self.csv.exists())
        self.assertEqual([(row.version, row.size) for row in limiters.load(file).rows],
                         [("02_copy", "n=2^12")])

    def test_a_side_study_has_a_file_of_its_own(self):
        self.tool("ncu", FAKE_NCU)
        self.build()
        self.profile("1", "--study", "halo")
        self.assertFalse(self.csv.exists())
        measured = limiters.load(self.csv.parent / "h200-halo-limiters.csv")
        self.assertEqual(measured.header["study"], "halo")
        self.assertTrue(any("--study halo --profile 1" in line for line in self.calls()))

    def test_a_version_without_kernels(self):
        self.tool("ncu", FAKE_NCU)
        self.build()
        out = self.profile("1", "--only", "02_copy,01_one", COPY="yes")
        self.assertIn("02_copy launched no kernel of its own: left out", out)
        self.assertEqual([row.version for row in limiters.load(self.csv).rows], ["01_one"])

    def test_a_metric_that_ncu_does_not_know(self):
        self.tool("ncu", FAKE_NCU)
        self.build()
        refused = limiters.METRICS["stall_imc_miss"]
        out = self.profile("1", REFUSED=refused)
        self.assertIn(f"left out: {refused}", out)
        row = limiters.load(self.csv).rows[0]
        self.assertIsNone(row.get("stall_imc_miss"))
        self.assertEqual(row.get("stall_wait"), 2)

    def one_line(self, words, code, *arguments, **extra):
        """The script ends with that code and one line for the problem; nothing is written."""
        out = self.profile(*(arguments or ["1"]), code=code, **extra)
        self.assertEqual([line for line in out.splitlines() if line.startswith("common/profile:")],
                         out.splitlines()[-1:])
        self.assertIn(words, out)
        self.assertFalse(self.csv.exists())

    def test_problems_are_one_line(self):
        self.one_line("needs a GPU", 3, patch=NO_GPU)
        self.tool("ncu", FAKE_NCU)
        self.one_line("./chapters/run 01 --build-only", 1)
        self.one_line("no chapter '77'", 2, "77")
        self.one_line("--nothing", 2, "1", "--nothing")
        self.build()
        self.one_line("Nsight Compute: ERR_NVGPUCTRPERM", 1, NO_PERMISSION="yes")
        self.one_line("01_vector_add: --only 7: no such version", 1, "1", "--only", "7")

    def test_no_ncu(self):
        patch = f"{GPU}import shutil\nfrom course import ncu\nncu.shutil = type('', (), " \
                "{'which': staticmethod(lambda name: None)})\n" \
                "ncu.machine.nvcc_candidates = lambda: []\n"
        self.one_line("no ncu: Nsight Compute comes with the CUDA toolkit", 3, patch=patch)

    def test_commit_without_git(self):
        stamp = self.folder / "stamp"
        stamp.write_text(json.dumps({"commit": "abc1234", "source_hash": {"01_x": "d1"}}))
        with mock.patch.object(chapters, "STAMP", stamp):
            for known, copied, commit in (
                    ((None, "d1"), "", "abc1234"), ((None, "d2"), "", None),
                    (("def5678", "d9"), "d1", "def5678"),
                    (("def5678-dirty", "d9"), "d1", "abc1234"),  # copied into another folder
                    (("def5678-dirty", "d9"), "d2", "def5678-dirty")):
                with mock.patch.object(chapters, "provenance", lambda chapter: known), \
                        mock.patch.object(chapters, "source_hash", lambda *_, **__: copied):
                    self.assertEqual(chapters.known_commit(chapters.Chapter("01_x", Path())),
                                     commit)

    def test_ncu_beside_nvcc(self):
        nvcc = self.folder / "cuda" / "bin" / "nvcc"
        nvcc.parent.mkdir(parents=True)
        for path in (nvcc, nvcc.parent / "ncu"):
            path.write_text("#!/bin/sh\n", encoding="utf-8")
            path.chmod(0o755)
        with mock.patch.object(machine, "nvcc_candidates", lambda: [str(nvcc)]), \
                mock.patch.object(ncu.shutil, "which", lambda name: None):
            self.assertEqual(ncu.find(), str(nvcc.parent.resolve() / "ncu"))


if __name__ == "__main__":
    unittest.main()
