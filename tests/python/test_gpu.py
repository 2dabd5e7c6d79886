"""Tests of tests/gpu and its modules: the scripts that it calls are stubs, and there is no GPU."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, Dict, List, Tuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common" / "python"))

from course import results, spot  # noqa: E402

NO_GPU = 'machine.driver = lambda: machine.Driver(None, (), "no NVIDIA driver found")\n'
GPU = """
machine.driver = lambda: machine.Driver(
    "13.0", (machine.Gpu("NVIDIA H200", "9.0", 2**37),), "")
"""
LAUNCH = """
import runpy, sys
root, patch = sys.argv[1:3]
sys.path.insert(0, root + "/common/python")
from course import build, machine, ncu, steps
build.workers = lambda: 4
steps.GRACE_S = 1.0
ncu.find = lambda: "ncu"
exec(patch)
sys.argv[:] = ["tests/gpu"] + sys.argv[3:]
runpy.run_path(root + "/tests/gpu", run_name="__main__")
"""

# Stands for tests/run, chapters/run and common/profile: notes the call, then does what it is told.
STUB = """
import json, os, pathlib, shutil, sys, time
name = sys.argv[0][len(os.environ["COURSE"]) + 1:]
words = sys.argv[1:]
with open(os.environ["CALLS"], "a") as file:
    file.write(" ".join([name] + words) + "\\n")
step = {"common/profile": "profile", "chapters/run": "record"}.get(name) or (
    "build" if "--build-only" in words else "check")
print("words of", step)
time.sleep(float(os.environ.get("SLEEP_" + step, "0")))
root = pathlib.Path(os.environ["COURSE"])
if step == "build":
    program = root / "build/cuda-90a/bin/01_vector_add"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text("")
    (program.parent / "01_vector_add_test").write_text("")
if step == "record":
    target = (words[words.index("--json") + 1] if "--json" in words
              else root / "chapters/01_vector_add/results/h200.json")
    shutil.copyfile(os.environ["NEW"], target)
if step == "profile":
    output = words[words.index("--output") + 1] if "--output" in words else (
        root / "chapters/01_vector_add/results/h200-limiters.csv")
    pathlib.Path(output).write_text("measured anew")
sys.exit(int(os.environ.get("EXIT_" + step, "0")))
"""

# Fails or hangs as FAIL and HANG say: "racecheck 1" is the second shard of that tool.
SANITIZER = """
import os, sys, time
me = os.environ["COURSE_SANITIZE"] + " " + os.environ["GTEST_SHARD_INDEX"]
assert os.environ["GTEST_TOTAL_SHARDS"] == "4" and os.environ["COURSE_SANITIZE"] in sys.argv
with open(os.environ["CALLS"], "a") as file:
    file.write("sanitizer " + me + "\\n")
print("words of", me, flush=True)
if me == os.environ.get("HANG"):
    time.sleep(100)
sys.exit(me == os.environ.get("FAIL"))
"""


def row(version: str, median: float, **changed: Any) -> Dict[str, Any]:
    """A row of a result file."""
    return {"study": "sequence", "version": version, "title": version, "role": "version",
            "type": "f32", "input": "random", "size": {"n": 1024}, "seconds": [median] * 3,
            "median_s": median, "q1_s": median, "q3_s": median, "min_s": median, "mode": "graph",
            "behind": "empty", "rate": {"value": 1 / median, "unit": "GB/s"}, "bytes": 1,
            "flops": 1, "limit": None, "of_limit": None, "l2": "cold", "clock_mhz": 1980,
            "verified": True, "flags": [], "skipped": None, "file": version, "code": "c0de",
            **changed}


def result(*rows: Dict[str, Any], gpu: str = "NVIDIA H200") -> str:
    return json.dumps({
        "schema": 1, "chapter": "01_vector_add", "label": None, "commit": "abc",
        "interrupted": False, "date": "2026-11-22T00:00:00Z", "source_hash": "x", "environment": {"cuda": "13.0"},
        "gpu": {"name": gpu, "compute_capability": "9.0", "sm_count": 132, "l2_bytes": 1,
                "peak_dram_gbs": 1, "copy_gbs": 1, "read_gbs": 1},
        "studies": [{"name": "sequence", "title": "t", "axis": None, "axis_label": None,
                     "log_axis": False}],
        "results": list(rows)})


class Spot(unittest.TestCase):
    """The arithmetic of the spot check."""

    def lines(self, old: str, new: str) -> List[str]:
        with tempfile.TemporaryDirectory() as folder:
            loaded = []
            for name, text in (("old", old), ("new", new)):
                (Path(folder) / name).write_text(text)
                loaded.append(results.load(Path(folder) / name))
            return spot.lines(*loaded)

    def test_same_moved_and_new_code(self) -> None:
        old = [row(name, 1e-3) for name in ("01_a", "02_b", "03_c", "04_d")]
        new = [row("01_a", 1.0099e-3), row("02_b", 0.9901e-3), row("03_c", 1.03e-3),
               row("04_d", 2e-3, code="0ther")]
        said = self.lines(result(*old), result(*new))
        self.assertEqual(said[0], "MOVED  1.030x  sequence 03_c n = 2^10: 1.000 ms -> 1.030 ms")
        self.assertEqual(said[1], "spot check: 2 of 3 rows SAME within 1 %, 1 MOVED: "
                                  "sequence 03_c n = 2^10 1.030x")
        self.assertEqual(said[2:], ["  1 row has new code"])

    def test_only_the_same_case_is_compared(self) -> None:
        changes: Tuple[Dict[str, Any], ...] = (
            {"size": {"n": 2048}}, {"behind": "itself"}, {"mode": "launch"}, {"type": "f64"})
        for change in changes:
            said = self.lines(result(row("01_a", 1e-3)), result(row("01_a", 2e-3, **change)))
            self.assertEqual(said[1:], ["  1 row only in the old file",
                                        "  1 row only in the new file"])
            self.assertIn("no row of unchanged code", said[0])

    def test_short_and_noisy_rows_stand_apart(self) -> None:
        old = result(row("01_a", 1e-3), row("02_b", 4e-6), row("03_c", 1e-3, flags=["noisy"]))
        new = result(row("01_a", 1e-3), row("02_b", 4.2e-6), row("03_c", 1e-3))
        said = self.lines(old, new)
        self.assertTrue(said[0].endswith("(short or noisy)"), said)
        self.assertEqual(said[1:], [
            "spot check: 1 of 1 row SAME within 1 %, 0 MOVED",
            "  below 5 us or noisy, apart: 1 of 2 rows SAME within 1 %, 1 MOVED: "
            "sequence 02_b n = 2^10 1.050x"])

    def test_code_that_is_unknown_counts_as_new(self) -> None:
        said = self.lines(result(row("01_a", 1e-3, code=None)),
                          result(row("01_a", 1e-3, code=None)))
        self.assertEqual(said[-1], "  1 row has new code")

    def test_a_row_that_has_no_time_any_more(self) -> None:
        gone = row("01_a", 1e-3, median_s=None, seconds=[], skipped="too large",
                   rate={"value": None, "unit": "GB/s"})
        said = self.lines(result(row("01_a", 1e-3)), result(gone))
        self.assertEqual(said[0], "NO TIME  sequence 01_a n = 2^10: skipped: too large")
        self.assertEqual(said[-1], "  1 row has no time any more")

    def test_another_gpu(self) -> None:
        said = self.lines(result(row("01_a", 1)), result(row("01_a", 1), gpu="NVIDIA L4"))
        self.assertEqual(said, ["spot check: not possible, another GPU: NVIDIA H200 before, "
                                "NVIDIA L4 now"])

    def test_many_that_moved_are_not_all_named_in_the_summary(self) -> None:
        names = [f"{k:02}_x" for k in range(8)]
        said = self.lines(result(*(row(name, 1e-3) for name in names)),
                          result(*(row(name, 2e-3) for name in names)))
        self.assertEqual(len(said), 9)
        self.assertIn("0 of 8 rows SAME within 1 %, 8 MOVED", said[-1])
        self.assertTrue(said[-1].endswith(", and 3 more"))


class Script(unittest.TestCase):
    """tests/gpu in a copy of the scripts, with stubs for all that it calls."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="course gpu "))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.root = (self.folder / "the course").resolve()
        shutil.copytree(ROOT / "common/python/course", self.root / "common/python/course",
                        ignore=shutil.ignore_patterns("__pycache__"))
        self.chapter = self.root / "chapters/01_vector_add"
        self.record = self.chapter / "results/h200.json"
        self.old, self.new = result(row("01_a", 1e-3)), result(row("01_a", 1.02e-3))
        for name, text in {
                "tests/run": STUB, "chapters/run": STUB, "common/profile": STUB,
                "tests/01_vector_add_test.cpp": "// tests\n",
                "chapters/01_vector_add/CMakeLists.txt": "",
                "chapters/01_vector_add/01_a.cu": "// one\n",
                "chapters/01_vector_add/results/h200.json": self.old,
                "chapters/01_vector_add/results/h200-limiters.csv": "old"}.items():
            self.write(name, text)
        shutil.copy(ROOT / "tests/gpu", self.root / "tests/gpu")
        (self.folder / "new.json").write_text(self.new)
        self.tools = self.folder / "tools"
        self.tools.mkdir()
        self.tool("compute-sanitizer", SANITIZER)
        self.tool("nvcc", "print('release 13.0, V13.0.88')")
        self.stamp()

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def tool(self, name: str, text: str) -> None:
        (self.tools / name).write_text(f"#!{sys.executable} -IS\n{text}\n")
        (self.tools / name).chmod(0o755)

    def stamp(self) -> None:
        """What chapters/run --stamp would write, for a copy without git."""
        code = ("import sys; sys.path.insert(0, sys.argv[1]); from course import chapters as c; "
                "print(c.source_hash(c.find('01')))")
        digest = subprocess.run([sys.executable, "-B", "-c", code,
                                 str(self.root / "common/python")], stdout=subprocess.PIPE,
                                text=True, check=True).stdout.strip()
        self.write(".source_stamp", json.dumps({"commit": "abc1234",
                                                "source_hash": {"01_vector_add": digest}}))

    def start(self, *words: str, patch: str = GPU, **extra: str) -> "subprocess.Popen[str]":
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("CUDA", "COURSE", "GIT_"))}
        environment = {**kept, "PATH": f"{self.tools}:/usr/bin:/bin", "COURSE": str(self.root),
                       "CALLS": str(self.folder / "calls"), "NEW": str(self.folder / "new.json"),
                       "PYTHONDONTWRITEBYTECODE": "1", **extra}
        return subprocess.Popen([sys.executable, "-c", LAUNCH, str(self.root), patch, *words],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                stdin=subprocess.DEVNULL, env=environment, cwd=str(self.folder))

    def gpu(self, *words: str, patch: str = GPU, code: int = 0, **extra: str) -> str:
        """Run tests/gpu 01; its output, after the exit code was checked."""
        process = self.start("01", *words, patch=patch, **extra)
        said = process.communicate(timeout=60)[0]
        self.assertEqual(process.returncode, code, said)
        self.assertNotIn("Traceback", said)
        return said

    def calls(self, forget: bool = True) -> List[str]:
        file = self.folder / "calls"
        lines = file.read_text().splitlines() if file.exists() else []
        if forget and lines:
            file.unlink()
        return lines

    def table(self, said: str) -> Dict[str, str]:
        """Step and verdict, as the table at the end shows them."""
        lines = said[said.index("step       verdict"):].splitlines()[1:]
        return {line[:10].strip(): line[11:23].strip() for line in lines
                if line and not line.startswith(("total", "Not done"))}

    ALL = {"build": "ok", "check": "ok", "record": "ok", "sanitize": "ok", "profile": "ok",
           "compare": "ok"}
    BUILD = "tests/run 01 --backend cuda --require-gpu --build-only"
    CHECK = "tests/run 01 --backend cuda --require-gpu"

    def test_order_and_spot_check(self) -> None:
        said = self.gpu()
        calls = self.calls()
        self.assertEqual(calls[:3], [self.BUILD, self.CHECK, "chapters/run 01 --record"])
        self.assertEqual(calls[-1], "common/profile 01")
        self.assertEqual(len([call for call in calls if call.startswith("sanitizer")]), 16)
        self.assertEqual(self.table(said), self.ALL)
        self.assertIn("spot check: 0 of 1 row SAME within 1 %, 1 MOVED: "
                      "sequence 01_a n = 2^10 1.020x", said)
        self.assertRegex(said, r"record: begins, 4[0-9]{2} s are left")  # 480 less what was used
        self.assertRegex(said, r"total +\d+ of 480 s")

    def test_resumes(self) -> None:
        self.gpu()
        self.calls()
        said = self.gpu()
        self.assertEqual(self.calls(), [])
        before = {step: "done before" for step in self.ALL}
        self.assertEqual(self.table(said), {**before, "compare": "ok"})
        self.assertIn("1.020x", said, "compared with the record before, not with itself")
        self.write("tests/01_vector_add_test.cpp", "// more tests\n")
        self.assertEqual(self.table(self.gpu()), {
            **before, "build": "ok", "check": "ok", "sanitize": "ok", "compare": "ok"})
        self.calls()
        said = self.gpu("--only", "build,check", "--again")
        self.assertEqual(self.table(said), {"build": "ok", "check": "ok"})
        self.write("chapters/01_vector_add/01_a.cu", "// two\n")
        self.stamp()
        self.assertEqual(self.table(self.gpu()), self.ALL)

    def test_budget(self) -> None:
        said = self.gpu("--budget", "10", SLEEP_build="0.1", code=1)
        self.assertEqual(self.calls(), [self.BUILD])
        self.assertEqual(self.table(said)["check"], "left")
        self.assertRegex(said, r"check: left \(it may take 60 s, ([0-9]|10) s are left; "
                         r"the next call begins with it\)")
        self.assertIn("record: left (check is not done)", said)
        self.assertIn("Not done: check, record, sanitize, profile.", said)
        said = self.gpu("--only", "check", "--budget", "1", SLEEP_check="20", code=1)
        self.assertIn("check: left, ", said)
        self.assertIn("not over at the end of the budget", said)
        said = self.gpu("--budget", "200")  # check is the first step now, whatever it took
        self.assertEqual(self.table(said), {**self.ALL, "build": "done before"})

    def test_a_failing_check(self) -> None:
        said = self.gpu(EXIT_check="8", code=1)
        self.assertEqual(self.table(said), {**self.ALL, "check": "FAILED", "record": "left",
                                            "sanitize": "left", "profile": "left",
                                            "compare": "skipped"})
        self.assertIn("    words of check\n", said)
        self.assertIn("record: left (check failed)", said)
        self.assertEqual(self.record.read_text(), self.old)
        self.assertEqual(self.table(self.gpu())["check"], "ok")

    def test_a_failing_build(self) -> None:
        said = self.gpu(EXIT_build="1", code=1)
        self.assertEqual(self.calls(), [self.BUILD])
        self.assertIn("sanitize: left (build failed)", said)

    def test_a_shard_that_fails(self) -> None:
        said = self.gpu("--only", "build,sanitize", FAIL="racecheck 2", code=1)
        self.assertIn("racecheck: 3 ok, 1 FAILED of 4", said)
        self.assertIn("memcheck: 4 ok of 4", said)
        self.assertEqual(self.table(said)["sanitize"], "FAILED")
        log = self.root / "build/sanitize-01_vector_add_test-racecheck.log"
        self.assertIn("== racecheck 3 of 4\nwords of racecheck 2\n", log.read_text())
        self.calls()
        said = self.gpu("--only", "sanitize")
        self.assertEqual(self.calls(), ["sanitizer racecheck 2"])
        self.assertIn("15 of 16 shards were done before", said)
        self.assertEqual(self.table(said), {"sanitize": "ok"})

    def test_a_shard_that_hangs(self) -> None:
        self.gpu("--only", "build")
        said = self.gpu("--only", "sanitize", "--budget", "2", HANG="initcheck 0", code=1)
        self.assertIn("initcheck: 3 ok, 1 not over at the end of the budget of 4", said)
        self.assertEqual(self.table(said), {"sanitize": "left"})
        self.assertNotIn("initcheck: 4 ok", said)
        self.calls()
        self.assertEqual(self.table(self.gpu("--only", "sanitize")), {"sanitize": "ok"})
        self.assertEqual(self.calls(), ["sanitizer initcheck 0"])

    def test_missing_tools_fail_their_step_only(self) -> None:
        (self.tools / "compute-sanitizer").unlink()
        no_ncu = GPU + ("from course import Problem\ndef find():\n"
                        "    raise Problem('no ncu: it comes with the toolkit', 3)\n"
                        "ncu.find = find\n")
        where = "import shutil\nfound = shutil.which\nshutil.which = lambda name, path=None: (" \
                "None if name == 'compute-sanitizer' else found(name, path=path))\n"
        said = self.gpu(patch=no_ncu + where, code=1)
        self.assertIn("(compute-sanitizer not found: it comes with the full CUDA toolkit)", said)
        self.assertIn("(no ncu: it comes with the toolkit)", said)
        self.assertEqual(self.table(said), {**self.ALL, "sanitize": "FAILED", "profile": "FAILED"})

    def test_no_gpu(self) -> None:
        said = self.gpu(patch=NO_GPU, code=3)
        self.assertEqual(said, "tests/gpu: no NVIDIA driver found: tests/gpu needs a GPU\n")

    def test_wrong_words(self) -> None:
        said = self.gpu("--only", "mend", code=2)
        self.assertIn("--only 'mend': the steps are build, check", said)
        self.assertIn("above 0", self.gpu("--budget", "0", code=2))

    def test_out(self) -> None:
        out = self.folder / "out"
        self.gpu("--out", str(out))
        self.assertEqual(sorted(file.name for file in out.iterdir()), [
            "gpu-01-compare.txt", "gpu-01-logs.tgz", "gpu-01-results.tgz", "gpu-01.json",
            "h200-limiters.csv", "h200.json"])
        self.assertEqual((out / "h200.json").read_text(), self.new)
        self.assertEqual((out / "h200-limiters.csv").read_text(), "measured anew")
        with tarfile.open(out / "gpu-01-results.tgz") as archive:
            self.assertIn("chapters/01_vector_add/results/h200.json", archive.getnames())
        with tarfile.open(out / "gpu-01-logs.tgz") as archive:
            names = archive.getnames()
        self.assertIn("build/gpu-01/check.log", names)
        self.assertIn("build/sanitize-01_vector_add_test-memcheck.log", names)

    def test_out_after_a_failure_has_no_old_record(self) -> None:
        out = self.folder / "out"
        self.gpu("--out", str(out), EXIT_build="1", code=1)
        self.assertEqual(sorted(file.name for file in out.iterdir()),
                         ["gpu-01-logs.tgz", "gpu-01.json"])

    def test_changed_sources_are_measured_and_not_recorded(self) -> None:
        self.write("chapters/01_vector_add/01_a.cu", "// two\n")
        said = self.gpu()
        self.assertIn("record: measured, but not recorded (--record refused: the sources are not "
                      "those of .source_stamp)", said)
        file = self.root / "build/results/gpu-01_vector_add-h200.json"
        self.assertIn(f"chapters/run 01 --backend cuda -- --study all --json {file}", self.calls())
        self.assertEqual(self.record.read_text(), self.old)
        limiters = self.chapter / "results/h200-limiters.csv"
        self.assertEqual(limiters.read_text(), "old")
        self.assertIn("1.020x", said)
        self.stamp()  # the same sources, committed now
        said = self.gpu()
        self.assertEqual((self.table(said)["record"], self.table(said)["profile"]), ("ok", "ok"))
        self.assertEqual(self.record.read_text(), self.new)

    def test_a_record_cut_short_keeps_the_old_one_for_the_spot_check(self) -> None:
        self.gpu("--only", "record", EXIT_record="1", code=1)  # written, then failed: in its plots
        self.assertEqual(self.record.read_text(), self.new)
        self.assertIn("1.020x", self.gpu("--only", "record"))

    def test_without_older_record_or_limiters(self) -> None:
        self.record.unlink()
        (self.chapter / "results/h200-limiters.csv").unlink()
        said = self.gpu()
        self.assertEqual(self.table(said), {**self.ALL, "profile": "skipped", "compare": "skipped"})
        self.assertIn("this chapter has no table of limiters", said)
        self.assertIn("there is no older record of this GPU", said)

    def test_interrupt_keeps_what_is_finished(self) -> None:
        process = self.start("01", SLEEP_record="60")
        for _ in range(400):
            if "chapters/run 01 --record" in self.calls(forget=False):
                break
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=30)[0]
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("tests/gpu: interrupted", said)
        self.calls()
        self.assertEqual(self.table(self.gpu()), {**self.ALL, "build": "done before",
                                                  "check": "done before"})


if __name__ == "__main__":
    unittest.main()
