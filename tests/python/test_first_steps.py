"""Tests of chapter 00's programs: each in its own process, with and without a GPU, and on the CPU.

COURSE_BIN names the folder of the built programs (bin/ or bin/00_first_steps). Without it only the
sources are tested, and compiled where there is nvcc. COURSE_BACKEND=cpu: they were built for the
CPU backend, which needs no GPU.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Dict, List, NamedTuple, Optional, Tuple

from tools import find_nvcc

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "chapters" / "00_first_steps"
PROGRAMS = ("01_hello", "02_vector_add", "03_launch_geometry", "04_errors", "05_timing",
            "06_device")
SMI_PLACES = ("/usr/local/nvidia/bin/nvidia-smi", "/usr/lib/wsl/lib/nvidia-smi")
ARGUMENTS = {"04_errors": ["late_error"]}  # the only program that needs one

ERRORS = ("bad_configuration", "zero_grid", "late_error", "launch_blocking", "out_of_bounds",
          "sticky", "bad_device", "out_of_memory", "wrong_kind", "host_pointer", "device_assert")
OK, CRASHED = "cudaSuccess", "cudaErrorIllegalAddress"
# A refused launch: as CUDA 13.0 puts it (the lesson shows this one), and as other versions do.
REFUSED = {"cudaErrorInvalidValue": "cudaErrorInvalidValue (1): invalid argument",
           "cudaErrorInvalidConfiguration":
               "cudaErrorInvalidConfiguration (9): invalid configuration argument"}
NO_MEMORY = "cudaErrorMemoryAllocation"
NOTE_HOST_MEMORY = "the GPU can read all host memory"


class Finished(NamedTuple):
    """A program that has ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> List[str]:
        return [line for line in (self.out + self.err).splitlines() if line.strip()]


def find_bin() -> Optional[Path]:
    """The folder that holds 01_hello and the rest; None if COURSE_BIN is unset or names another."""
    given = os.environ.get("COURSE_BIN", "")
    if not given:
        return None
    for folder in (Path(given) / "00_first_steps", Path(given)):
        if any((folder / name).is_file() for name in PROGRAMS):
            return folder
    return None


def find_gpu() -> str:
    """What `nvidia-smi -L` says of the first GPU that programs can see; empty if there is none."""
    if os.environ.get("CUDA_VISIBLE_DEVICES", "0") in ("", "-1", "none", "NoDevFiles"):
        return ""
    smi = shutil.which("nvidia-smi") or next(filter(os.path.exists, SMI_PLACES), "")
    if not smi:
        return ""
    try:
        listing = subprocess.run([smi, "-L"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                 universal_newlines=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.search(r"^GPU \d+: .*$", listing.stdout, re.MULTILINE)
    return found.group(0) if listing.returncode == 0 and found else ""


ON_CPU = os.environ.get("COURSE_BACKEND") == "cpu"
BIN, NVCC = find_bin(), find_nvcc()
GPU = "CPU (simt)" if ON_CPU else find_gpu()
NO_TIMES = "the CPU backend has no times, and runs a kernel where it is launched"
FOUND = 66  # exit code of a program in which the CPU backend found a mistake
NO_PROGRAMS = ("COURSE_BIN is unset, or names a folder without chapter 00's programs: "
               "they are NOT TESTED")
NO_GPU = "nvidia-smi lists no GPU: what chapter 00 does on a GPU is NOT TESTED"


def run(program: str, *arguments: str, env: Optional[Dict[str, str]] = None) -> Finished:
    """Run one of the programs in a process of its own."""
    assert BIN is not None
    surroundings = {**os.environ, **(env or {})}
    if not env:
        surroundings.pop("CUDA_LAUNCH_BLOCKING", None)
    done = subprocess.run([str(BIN / program), *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True, timeout=180,
                          env=surroundings)
    return Finished(done.returncode, done.stdout, done.stderr)


def compile_bare(source: Path, folder: str) -> str:
    """Compile as the lesson says; what is worth complaining about, or nothing."""
    program = str(Path(folder) / source.stem)
    done = subprocess.run([NVCC, "-std=c++17", str(source), "-o", program], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True)
    # The last CUDA 12 say with every bare call that their own default architecture is an old one.
    text = [line for line in done.stdout.splitlines() if "Wno-deprecated-gpu-targets" not in line]
    complaint = "\n".join(text).strip()
    return complaint or (f"exit code {done.returncode}" if done.returncode else "")


class Sources(unittest.TestCase):
    """What holds for the files as they are, without building them."""

    def text(self, program: str) -> str:
        return (SOURCES / f"{program}.cu").read_text(encoding="utf-8")

    def test_check_is_the_same_everywhere(self) -> None:
        pattern = r"/// Ends the program if a CUDA call.*?#define CHECK\(call\)[^\n]*"
        copies = [re.findall(pattern, self.text(program), re.DOTALL) for program in PROGRAMS]
        self.assertEqual([copies[0]] * len(PROGRAMS), copies)
        self.assertEqual(1, len(copies[0]))

    def test_each_file_stands_alone(self) -> None:
        for program in PROGRAMS:
            includes = re.findall(r"#\s*include\s*(.*)", self.text(program))
            others = [name for name in includes if not re.fullmatch(r"<c?[a-z_]+>", name)]
            self.assertEqual([], others, program)

    def test_lesson_names_every_program_and_error(self) -> None:
        lesson = (SOURCES / "README.md").read_text(encoding="utf-8")
        for program in PROGRAMS:
            self.assertIn(f"[{program}.cu]({program}.cu)", lesson)
        for error in ERRORS:
            self.assertIn(f"| `{error}` |", lesson)

    @unittest.skipUnless(NVCC, "nvcc not found: the bare `nvcc file.cu` is NOT TESTED")
    def test_bare_nvcc_without_warnings(self) -> None:
        sources = [SOURCES / f"{program}.cu" for program in PROGRAMS]
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
            complaints = list(pool.map(lambda source: compile_bare(source, folder), sources))
        for source, complaint in zip(sources, complaints):
            with self.subTest(source.name):
                self.assertEqual("", complaint)


@unittest.skipUnless(BIN, NO_PROGRAMS)
class Anywhere(unittest.TestCase):
    """What a program does before it looks for a GPU."""

    def test_all_programs_are_there(self) -> None:
        self.assertEqual([], [name for name in PROGRAMS if not (BIN / name).is_file()])

    def test_bad_arguments(self) -> None:
        bad = [(program, ["--bogus"]) for program in PROGRAMS]
        bad += [("02_vector_add", ["--n", value]) for value in
                ("0", "-5", "1e6", "12x", "", "268435457", "99999999999999999999")]
        bad += [("05_timing", ["--n", value]) for value in ("0", "65535", "67108865", "1k", "")]
        bad += [("01_hello", ["--no-sync", "more"]), ("02_vector_add", ["--n"]),
                ("02_vector_add", ["--n", "5", "6"]), ("03_launch_geometry", ["both", "2d"]),
                ("04_errors", []), ("04_errors", ["late_error", "sticky"]), ("05_timing", ["--n"]),
                ("06_device", ["0"])]
        for program, arguments in bad:
            with self.subTest(program=program, arguments=arguments):
                done = run(program, *arguments)
                self.assertEqual(2, done.code, done)
                self.assertEqual(1, len(done.lines), done)
                self.assertIn(f"{program}: bad argument", done.err)
                self.assertIn("usage: ", done.err)
                if arguments:
                    self.assertIn(f"'{arguments[-1]}'", done.err)

    def test_list_of_errors(self) -> None:
        done = run("04_errors", "list")
        self.assertEqual(0, done.code, done)
        self.assertEqual(list(ERRORS), [line.split()[0] for line in done.out.splitlines()])


@unittest.skipUnless(BIN, NO_PROGRAMS)
class WithoutGpu(unittest.TestCase):
    """One line that says what is missing, and exit code 3."""

    def assert_refuses(self, reason: str, env: Optional[Dict[str, str]] = None) -> None:
        for program in PROGRAMS:
            with self.subTest(program):
                done = run(program, *ARGUMENTS.get(program, []), env=env)
                self.assertEqual(3, done.code, done)
                self.assertEqual(1, len(done.lines), done)
                self.assertRegex(done.err, reason)

    @unittest.skipIf(GPU, "the CPU backend needs none" if ON_CPU else "this machine has a GPU")
    def test_names_what_is_missing(self) -> None:
        self.assert_refuses("^(no NVIDIA (driver|GPU) found|NVIDIA driver too old): ")

    @unittest.skipUnless(GPU and not ON_CPU, "no GPU to hide" if ON_CPU else NO_GPU)
    def test_driver_without_gpu(self) -> None:
        self.assert_refuses("^no NVIDIA GPU found: ", {"CUDA_VISIBLE_DEVICES": ""})


@unittest.skipUnless(BIN, NO_PROGRAMS)
@unittest.skipUnless(GPU, NO_GPU)
class WithGpu(unittest.TestCase):
    """What the lesson promises."""

    def output(self, program: str, *arguments: str, env: Optional[Dict[str, str]] = None,
               codes: Tuple[int, ...] = (0,)) -> str:
        done = run(program, *arguments, env=env)
        self.assertIn(done.code, codes, done)
        return done.out

    # 01
    def test_hello_is_complete(self) -> None:
        out = self.output("01_hello")
        device_line = r"(?m)^device: hello from block (\d+) of 2, thread (\d+) of 4$"
        everyone = [(str(block), str(thread)) for block in range(2) for thread in range(4)]
        self.assertEqual(everyone, sorted(re.findall(device_line, out)))
        for line in ("launching 2 blocks", "the launch has returned", "the GPU has finished"):
            self.assertIn(line, out)

    @unittest.skipIf(ON_CPU, NO_TIMES)
    def test_hello_without_waiting(self) -> None:
        out = self.output("01_hello", "--no-sync")
        self.assertIn("leaving without waiting", out)
        self.assertNotIn("device:", out)

    # 02
    def test_vector_add(self) -> None:
        for n, blocks in ((None, 3907), (1, 1), (255, 1), (256, 1), (257, 2), (1000003, 3907)):
            with self.subTest(n=n):
                out = self.output("02_vector_add", *(["--n", str(n)] if n else []))
                shape = f"n = {n or 1000000}: {blocks} blocks of 256 threads"
                self.assertEqual(f"{shape}, every sum is right\n", out)

    # 03
    def places(self, part: str) -> List[Tuple[int, ...]]:
        """The numbers of each line that a part prints, below its title, sorted."""
        title, *lines = self.output("03_launch_geometry", part).splitlines()
        self.assertTrue(title.startswith(f"{part}: <<<"), title)
        return sorted(tuple(map(int, re.findall(r"\d+", line))) for line in lines)

    def test_one_dimension(self) -> None:
        self.assertEqual([(i, 0, i) for i in range(8)], self.places("blocks"))
        self.assertEqual([(0, i, i) for i in range(8)], self.places("threads"))
        self.assertEqual([(i // 4, i % 4, i) for i in range(8)], self.places("both"))

    def test_two_and_three_dimensions(self) -> None:
        plane = [(column // 2, 0, column % 2, row, row, column)
                 for column in range(4) for row in range(2)]
        self.assertEqual(sorted(plane), self.places("2d"))
        space = [(0, 0, layer, column, row, 0, layer, row, column)
                 for layer in range(2) for row in range(2) for column in range(2)]
        self.assertEqual(sorted(space), self.places("3d"))

    def test_every_warp_and_lane_reports_once(self) -> None:
        warps = [(block, warp) for block in range(6) for warp in range(2)]
        self.assertEqual(warps, self.places("warps"))
        lanes = re.findall(r"\d+", self.output("03_launch_geometry", "lanes").partition("\n")[2])
        self.assertEqual(list(range(32)), sorted(map(int, lanes)))

    def test_tail(self) -> None:
        lesson = (SOURCES / "README.md").read_text(encoding="utf-8")
        for line in self.output("03_launch_geometry", "tail").splitlines():
            self.assertIn(f"    {line}\n", lesson)
        self.assertIn("768 of 1000 done, 232 lost", lesson)

    def test_all_parts_in_one_run(self) -> None:
        out = self.output("03_launch_geometry")
        titles = re.findall(r"^(\w+): ", out, re.MULTILINE)
        self.assertEqual("blocks threads both 2d 3d warps lanes tail", " ".join(titles))

    # 04
    def results(self, name: str, env: Optional[Dict[str, str]] = None) -> List[str]:
        """The names of the errors that a case's calls returned, in order."""
        out = self.output("04_errors", name, env=env, codes=(0, FOUND) if ON_CPU else (0,))
        self.assertEqual(name, out.splitlines()[0])
        self.assertRegex(out, r"(?m)^means: \S")
        self.assertRegex(out, r"(?m)^do:    \S")
        shown = re.findall(r"(?m)^  \w.*\n      (cuda\w+) \((\d+)\): \S", out)
        self.assertTrue(shown, out)
        for error, code in shown:
            self.assertEqual(error == OK, code == "0", out)
        return [error for error, _ in shown]

    def test_refused_launches(self) -> None:
        refused, *after = self.results("bad_configuration")
        self.assertIn(refused, REFUSED)
        self.assertEqual([OK, OK], after)
        (refused,) = self.results("zero_grid")
        self.assertIn(refused, REFUSED)

    def test_bad_configuration_as_the_lesson_shows_it(self) -> None:
        lesson = (SOURCES / "README.md").read_text(encoding="utf-8")
        out = self.output("04_errors", "bad_configuration")
        shown, other = REFUSED.values()
        self.assertIn(f"```console\n{out.replace(other, shown)}```\n", lesson)

    def test_late_error(self) -> None:
        self.assertEqual([OK, CRASHED], self.results("late_error"))

    def test_launch_blocking(self) -> None:
        for results in (self.results("launch_blocking"),
                        self.results("late_error", {"CUDA_LAUNCH_BLOCKING": "1"})):
            self.assertEqual(CRASHED, results[0])
            self.assertNotEqual(OK, results[1])

    def test_out_of_bounds(self) -> None:
        allocated, near, far = self.results("out_of_bounds")
        self.assertEqual((OK, CRASHED), (allocated, far))
        if ON_CPU:  # it sees the first one, too
            self.assertEqual(CRASHED, near)
            return
        self.assertEqual(OK, near, "one element too far was noticed: the lesson says it is not")

    def test_sticky(self) -> None:
        refused, works, crash, _, allocation, again = self.results("sticky")
        self.assertIn(refused, REFUSED)
        self.assertEqual((OK, CRASHED), (works, crash))
        self.assertEqual((CRASHED, CRASHED), (allocation, again))

    def test_bad_device(self) -> None:
        self.assertEqual(["cudaErrorInvalidDevice", OK], self.results("bad_device"))

    def test_out_of_memory(self) -> None:
        self.assertEqual([NO_MEMORY, OK, NO_MEMORY, OK], self.results("out_of_memory"))

    def test_wrong_pointers(self) -> None:
        for name, error in (("wrong_kind", "cudaErrorInvalidValue"), ("host_pointer", CRASHED)):
            with self.subTest(name):
                if self.results(name)[-1] == OK:  # allowed where the GPU reaches all host memory
                    self.assertIn(NOTE_HOST_MEMORY, self.output("04_errors", name))
                else:
                    self.assertEqual(error, self.results(name)[-1])

    def test_device_assert(self) -> None:
        self.assertEqual("cudaErrorAssert", self.results("device_assert")[-1])
        done = run("04_errors", "device_assert")
        self.assertRegex(done.out + done.err, r"04_errors\.cu:\d+.*Assertion.*i < n")
        self.assertEqual(FOUND if ON_CPU else 0, done.code, "the lesson: 66 on the CPU backend")

    # 05
    def timing(self, *arguments: str) -> Dict[str, Tuple[float, ...]]:
        """The rows of the table: MB, us, GB/s, times the right rate."""
        done = run("05_timing", *arguments)
        if "cudaErrorMemoryAllocation" in done.err:
            self.skipTest(f"too little free memory, timing is NOT TESTED: {done.err.strip()}")
        self.assertEqual(0, done.code, done)
        row = r"(?m)^(wrong \d|right): .*?([\d.]+) MB +([\d.]+) us +([\d.]+) +([\d.]+)$"
        rows = {name: tuple(map(float, rest)) for name, *rest in re.findall(row, done.out)}
        self.assertEqual("wrong 1, wrong 2, wrong 3, wrong 4, right", ", ".join(rows), done.out)
        for _, *values in re.findall(row, done.out):
            self.assertGreater(min(map(float, values[:3])), 0, done.out)
        return rows

    @unittest.skipIf(ON_CPU, NO_TIMES)
    def test_timing(self) -> None:
        rows = self.timing()
        times_right = {name: row[3] for name, row in rows.items()}
        self.assertEqual(1.0, times_right["right"])
        self.assertGreater(times_right["wrong 1"], 1.5, "a clock that does not wait must flatter")
        self.assertLess(times_right["wrong 2"], 1.0, "a first launch must be slower")
        # Row 3 is a race between the L2 and the host that launches. A busy host can only make it
        # slower, never faster than the L2 allows: the best of three runs counts.
        warm = max([times_right["wrong 3"]] + [self.timing()["wrong 3"][3] for _ in range(2)])
        self.assertGreater(warm, 1.0, "L2 must be faster than memory")
        self.assertLess(times_right["wrong 4"], 1.0, "a short launch must pay for its way")
        limit = re.search(r"theoretical memory bandwidth +([\d.]+) GB/s", self.output("06_device"))
        if limit:
            self.assertLess(rows["right"][2], float(limit.group(1)))

    @unittest.skipIf(ON_CPU, NO_TIMES)
    def test_timing_warns_when_the_size_is_small(self) -> None:
        self.timing("--n", "65536")
        self.assertIn("note: L2 holds much of this data", run("05_timing", "--n", "65536").out)

    @unittest.skipUnless(ON_CPU, "on a GPU the whole table is tested")
    def test_timing_is_refused_at_once(self) -> None:
        done = run("05_timing")
        self.assertEqual((3, ""), (done.code, done.out))
        self.assertIn("needs a GPU", done.err)

    # 06
    def test_device_facts(self) -> None:
        out = self.output("06_device")
        self.assertRegex(out, r"(?m)^driver: supports CUDA \d+\.\d$")
        self.assertRegex(out, r"(?m)^program: built with CUDA \d+\.\d$")
        first = out.partition("\nGPU 0\n")[2].partition("\nGPU")[0]
        facts = dict(re.findall(r"(?m)^  (\S.*?) {2,}(\S.*)$", first))
        self.assertGreaterEqual(len(facts), 27, out)
        self.assertRegex(facts["compute capability"], r"^\d+\.\d$")
        self.assertEqual("32 threads", facts["warp size"])
        self.assertEqual("1024", facts["most threads in a block"])
        for name in ("multiprocessors (SMs)", "memory", "shared memory of a block",
                     *([] if ON_CPU else ["L2 cache"])):
            self.assertGreater(float(facts[name].split()[0]), 0, name)
        bandwidth = facts["theoretical memory bandwidth"]
        self.assertRegex(bandwidth, r"^([\d.]+ GB/s|unknown)$")
        clock, bus = (facts[name].split()[0] for name in ("memory clock, at most", "memory bus"))
        if "unknown" in (clock, bus):  # as on the CPU backend
            self.assertEqual("unknown", bandwidth)
        else:  # the clock is printed in whole MHz
            want = 2 * float(clock) * float(bus) / 8 / 1000
            self.assertAlmostEqual(want, float(bandwidth.split()[0]), delta=0.002 * want)
        if "CUDA_VISIBLE_DEVICES" not in os.environ and out.count("\nGPU ") == 1:
            self.assertIn(facts["name"], GPU)


def setUpModule() -> None:
    for missing in ([] if BIN else [NO_PROGRAMS]) + ([] if GPU else [NO_GPU]):
        print(f"test_first_steps: {missing}", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
