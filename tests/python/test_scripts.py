"""Tests of chapters/run, tests/run, common/doctor and their modules, with fake tools and no GPU."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Dict, List
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common" / "python"))

from course import chapters, install, machine  # noqa: E402

GPU = """
machine.driver = lambda: machine.Driver(
    "13.0", (machine.Gpu("NVIDIA H200", "9.0", 2**37),), "")
"""
NO_GPU = 'machine.driver = lambda: machine.Driver(None, (), "no NVIDIA driver found")\n'
NO_NVCC = "machine.nvcc_candidates = lambda: []\n"
NO_MATPLOTLIB = 'machine.PROBES["matplotlib"] = lambda: machine.Item("matplotlib", None)\n'

# Starts a script as the shell would, after replacing what it would find on this machine.
LAUNCH = """
import runpy, sys
root, patch, script = sys.argv[1:4]
sys.path.insert(0, root + "/common/python")
from course import install, machine
found = machine.Item("matplotlib", "3.6", sys.executable)
machine.PROBES["matplotlib"] = lambda: found
for name in ("C++ compiler", "GoogleTest", "doxygen", "clang-format 14", "shellcheck"):
    machine.PROBES[name] = lambda name=name: machine.Item(name, "20.0", "/usr/bin/fake")
exec(patch)
probe = machine.PROBES["matplotlib"]
machine.probe_matplotlib = lambda: probe()
machine.forget = lambda: None
sys.argv[:] = sys.argv[3:]
runpy.run_path(root + "/" + script, run_name="__main__")
"""

# Configures by writing a cache; builds a target by writing a script of its name into bin/.
CMAKE = r'''
import json, os, pathlib, sys
words = sys.argv[1:]
open(os.environ["CALLS"], "a").write("cmake " + " ".join(words) + "\n")
root = pathlib.Path(os.environ["COURSE"])
if words == ["--version"]:
    print("cmake version 3.25.1"); sys.exit()
def target_names():
    demos = ["01_vector_add_demo_" + file.stem
             for file in root.glob("chapters/01_vector_add/demos/*.cu")]
    demos += ["01_vector_add_" + file.stem
              for file in root.glob("chapters/01_vector_add/[a-z]*.cu")]
    names = ["00_first_steps", "01_vector_add", "01_vector_add_test",
             "01_vector_add_mutant_no_guard"]
    return names + demos + ["01_vector_add_exercise_" + file.name[0]
                    for file in root.glob("chapters/01_vector_add/my/*.cu")
                    if (file.parents[1] / "exercises" / file.name).exists()]
if "-S" in words:
    folder = pathlib.Path(words[words.index("-B") + 1])
    defined = dict(word[2:].split("=", 1) for word in words if word.startswith("-D"))
    if os.environ.get("BAD_CMAKE"):
        print("-- before\nCMake Error at CMakeLists.txt:3 (message):\n  toolkit too old\n"
              "Call Stack (most recent call first):\n  CMakeLists.txt:9 (include)\n"
              + os.environ["BAD_CMAKE"])
        sys.exit(1)
    lines = ["%s:STRING=%s" % item for item in defined.items()]
    lines += ["CMAKE_GENERATOR:INTERNAL=Ninja", "CMAKE_HOME_DIRECTORY:INTERNAL=" + str(root)]
    lines += ["CMAKE_BUILD_TYPE:STRING=" + os.environ.get("BUILD_TYPE", "Release")]
    (folder / "CMakeCache.txt").write_text("\n".join(lines) + "\n")
    (folder / "build.ninja").write_text("\n".join(target_names()))
    sys.exit()
folder = pathlib.Path(words[words.index("--build") + 1])
targets = words[words.index("--target") + 1:]
known = (folder / "build.ninja").read_text().split()
if targets == ["help"]:
    print("\n".join(name + ": phony" for name in known)); sys.exit()
targets = targets[:targets.index("--")]
broken = [line for line in (folder / "CMakeCache.txt").read_text().splitlines()
          if line.startswith("COURSE_BROKEN")][0].split("=")[1].split(";")
chapter = root / "chapters" / "01_vector_add"
files = [file for file in chapter.glob("*.cu") if file.stem not in broken]
if "exercise" in targets[0]:
    files = list(chapter.glob("my/%s_*.cu" % targets[0][-1]))
    files = [file for file in files if (chapter / "exercises" / file.name).exists()]
if "_walk" in targets[0]:
    files = [chapter / "walk.cu"]
if "_demo_" in targets[0]:
    files = list(chapter.glob("demos/%s.cu" % targets[0].partition("_demo_")[2]))
code = 0
for step, file in enumerate(files, 1):
    print("[%d/%d] Building CUDA object CMakeFiles/x.dir/%s.o" % (step, len(files), file.name))
    if "mistake" in file.read_text():
        print("FAILED: CMakeFiles/x.dir/%s.o\nnvcc -c %s\n%s(3): error: expected a ';'"
              % (file.name, file, file))
        code = 1
if code:
    sys.exit(code)
(folder / "bin" / "00_first_steps").mkdir(parents=True, exist_ok=True)
program = "#!%s -IS\n" % sys.executable + os.environ.get("PROGRAM", """
import json, os, sys
print(os.path.basename(sys.argv[0]), *sys.argv[1:])
if "--json" in sys.argv:
    json.dump({"gpu": {"name": "NVIDIA H200"}, "environment": {"build_type": "Release"}},
              open(sys.argv[sys.argv.index("--json") + 1], "w"))
sys.exit(int(os.environ.get("EXIT_CUDA" if sys.argv[0].endswith("vector_add") else "EXIT",
                            os.environ.get("EXIT", "0"))))
""")
steps = ["00_first_steps/%s" % name for name in
         ("01_hello", "02_vector_add", "03_launch_geometry", "06_device")]
for name in steps + [name for name in targets if name not in ("all", "00_first_steps")]:
    (folder / "bin" / name).write_text(program)
    (folder / "bin" / name).chmod(0o755)
'''

CTEST = r'''
import json, os, sys
words = sys.argv[1:]
open(os.environ["CALLS"], "a").write("ctest " + " ".join(words) + "\n")
if os.environ.get("NO_TESTS"):
    print("No tests were found!!!"); sys.exit(8)
if "--show-only=json-v1" in words:
    labels = {"name": "LABELS", "value": ["ch01.cuda"]}
    print(json.dumps({"tests": [{"name": "gpu1", "properties": [labels]}, {"name": "host1"}]}))
    sys.exit()
case = '<testcase name="%s" status="%s">%s<system-out>%s</system-out></testcase>'
skip = '<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>'
out = "[ RUN ]\na_test.cpp:3: Skipped\nno NVIDIA driver found\n\n[ SKIPPED ]"
cases = [case % ("gpu1", "notrun", skip, out)] * 2
cases += [case % ("host1", "run", "", "test_x (A) ... skipped 'no C compiler'\n\nOK")]
if os.environ.get("ONE_FAILS"):
    cases += [case % ("host2", "fail", '<failure message=""/>', "early\n" * 60 + "expected 1, got 2\n")]
report = words[words.index("--output-junit") + 1]
open(report, "w").write("<testsuite>%s</testsuite>" % "".join(cases))
print("1/3 Test #1: gpu1 ...***Skipped\n\n100% tests passed, 0 tests failed out of 3\n\n"
      "Total Test time (real) =   0.01 sec\n\n"
      "The following tests did not run:\n\t  1 - gpu1 (Skipped)")
sys.exit(8 if os.environ.get("ONE_FAILS") else 0)
'''

PLOT = """
import pathlib, sys
if sys.argv[1] == "table":
    print("RECORDED TABLE"); sys.exit()
file = pathlib.Path(sys.argv[1])
out = pathlib.Path(sys.argv[sys.argv.index("--out") + 1]) if "--out" in sys.argv else file.parent
(out / (file.stem + "-sequence.svg")).write_text("<svg/>")
print(out / (file.stem + "-sequence.svg"))
"""

# A driver library with one GPU; START is what cuInit returns.
LIBCUDA = """
#include <stddef.h>
#include <string.h>
int cuInit(unsigned flags) { return START; }
int cuDriverGetVersion(int* version) { *version = 12080; return 0; }
int cuDeviceGetCount(int* count) { *count = 1; return 0; }
int cuDeviceGet(int* device, int index) { *device = index; return 0; }
int cuDeviceGetName(char* name, int size, int device) { strcpy(name, "NVIDIA L4"); return 0; }
int cuDeviceTotalMem_v2(size_t* bytes, int device) { *bytes = (size_t)24 << 30; return 0; }
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  *value = attribute == 75 ? 8 : 9;
  return 0;
}
"""

RECORDED = {"date": "2026-11-20T19:00:00Z", "commit": "abc1234", "gpu": {"name": "NVIDIA H200"}}
EXERCISE = """# Exercise 1
<details><summary>Hint 1</summary>

Count the threads.
</details>
<details><summary>Hint 2</summary>

Look at the tail.
</details>
"""


class ScriptTest(unittest.TestCase):
    """A copy of the scripts in a folder with a space in its name, with fake tools on PATH."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="course scripts "))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.root = (self.folder / "the course").resolve()
        for name in ("chapters/run", "tests/run", "common/doctor"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        modules = self.root / "common" / "python" / "course"
        modules.mkdir(parents=True)
        for module in ("__init__", "machine", "install", "build", "chapters", "code", "options",
                       "compiler", "complete", "exercises", "grade", "mutants", "one_file", "pages", "parts",
                       "sanitizer", "spent", "steps", "submissions"):
            shutil.copy(ROOT / "common/python/course" / f"{module}.py", modules)
        shutil.copytree(ROOT / "common/python/course/draw", modules / "draw",
                        ignore=shutil.ignore_patterns("__pycache__"))
        self.write("common/plot", PLOT)
        self.write("chapters/00_first_steps/CMakeLists.txt", "")
        self.chapter = self.root / "chapters" / "01_vector_add"
        for name, text in {
                "CMakeLists.txt": "",
                "README.md": "# Vector add\n![p](results/h200-sequence.svg)\n", "01_one.cu": "// fine\n",
                "02_two.cu": "// fine\n", "exercises/1_tail.cu": "// TODO\n",
                "exercises/1_tail.md": EXERCISE, "exercises/solution/1_tail.cu": "// answer\n",
                "results/h200.json": json.dumps(RECORDED)}.items():
            self.write(f"chapters/01_vector_add/{name}", text)
        self.tools = self.folder / "tools"
        self.tool("cmake", CMAKE)
        self.tool("ctest", CTEST)
        self.tool("ninja", "print('1.11.1')")
        self.tool("nvcc", "print('release 13.0, V13.0.88')")
        for name in ("apt-get", "dnf", "brew", "sudo"):
            self.tool(name, f"import os, sys; open(os.environ['CALLS'], 'a').write("
                            f"'{name} ' + ' '.join(sys.argv[1:]) + '\\n'); sys.exit(100)")
        self.calls_file = self.folder / "calls"

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def tool(self, name: str, text: str) -> None:
        self.tools.mkdir(exist_ok=True)
        (self.tools / name).write_text(f"#!{sys.executable} -IS\n{text}\n")
        (self.tools / name).chmod(0o755)

    def environment(self, extra: Dict[str, str]) -> Dict[str, str]:
        hidden = ("CUDA", "SLURM", "CI", "CXX", "CMAKE", "COURSE", "PBS", "GIT_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
        return {**kept, "PATH": f"{self.tools}:/usr/bin:/bin", "COURSE": str(self.root),
                "CALLS": str(self.calls_file), "PYTHONDONTWRITEBYTECODE": "1", **extra}

    def run_script(self, *words: str, patch: str = NO_GPU, code: int = 0, **extra: str) -> str:
        """Run a script of the copy; its output, after the exit code was checked."""
        command = [sys.executable, "-c", LAUNCH, str(self.root), patch, *words]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              stdin=subprocess.DEVNULL, env=self.environment(extra),
                              cwd=str(self.folder), timeout=60, check=False)
        self.assertEqual(done.returncode, code, done.stdout)
        self.assertNotIn("Traceback", done.stdout)
        return done.stdout

    def calls(self) -> List[str]:
        return self.calls_file.read_text().splitlines() if self.calls_file.exists() else []

    def results(self) -> List[Path]:
        return sorted((self.root / "build" / "results").glob("*.json"))


class RunTest(ScriptTest):
    def test_gpu_run_writes_result_and_plot(self) -> None:
        out = self.run_script("chapters/run", "1", "--label", "team07", "--", "--size", "2^24",
                              patch=GPU)
        self.assertIn("Architecture: 90a-real (the GPU of this machine).", out)
        self.assertIn("01_vector_add --label team07 --source-hash", out)
        self.assertIn("--size 2^24 --json", out)
        self.assertEqual(len(self.results()), 1)
        self.assertRegex(self.results()[0].name, r"^team07-01_vector_add-h200-\d{8}-\d{6}\.json$")
        self.assertIn("h200", out.split("Wrote:")[1])
        self.assertIn("-sequence.svg", out.split("Wrote:")[1])

    def test_second_run_neither_configures_nor_installs(self) -> None:
        self.run_script("chapters/run", "vector_add", patch=GPU)
        self.calls_file.unlink()
        self.run_script("chapters/run", "chapters/01_vector_add/", patch=GPU)
        self.assertFalse([call for call in self.calls() if "-S" in call or "apt" in call])

    def test_without_gpu_the_cpu_backend(self) -> None:
        out = self.run_script("chapters/run", "01_vector_add")
        self.assertIn("Backend: the CPU (no NVIDIA driver found); it runs and checks kernels", out)
        self.assertIn("01_vector_add: build, run on the CPU, show what was recorded on a GPU.", out)
        self.assertTrue(out.endswith("Read: the course/chapters/01_vector_add/README.md\n"), out)
        build = [call for call in self.calls() if "--build" in call and "help" not in call][0]
        self.assertIn("build/cpu --parallel", build)
        self.assertIn("--target 01_vector_add --", build)
        self.assertRegex(self.results()[0].name, r"^01_vector_add-cpu-\d{8}-\d{6}\.json$")
        self.assertFalse(list((self.root / "build" / "results").glob("*.svg")), "nothing to plot")

    def test_without_nvcc_and_gpu_the_cpu_backend(self) -> None:
        out = self.run_script("chapters/run", "01", patch=NO_GPU + NO_NVCC)
        self.assertIn("Backend: the CPU (no NVIDIA driver found, nvcc not found)", out)
        self.assertTrue(any("-DCOURSE_BACKEND=cpu" in call for call in self.calls()))

    def test_cpu_backend_as_asked(self) -> None:
        out = self.run_script("chapters/run", "01", "--backend", "cpu", patch=GPU)
        self.assertIn("Backend: the CPU (as asked)", out)
        out = self.run_script("chapters/run", "01", "--backend", "cpu", "--arch", "80", code=2)
        self.assertIn("--arch is for GPUs", out)

    def test_what_only_measures_shows_its_record(self) -> None:
        self.write("tests/harness/results/h200.json", json.dumps(RECORDED))
        out = self.run_script("chapters/run", "harness")
        self.assertIn("The programs of harness need a GPU to run.", out)
        self.assertIn("RECORDED TABLE", out)

    def test_backend_cuda_without_gpu(self) -> None:
        out = self.run_script("chapters/run", "01", "--backend", "cuda", code=3)
        self.assertIn("no NVIDIA driver found: --backend cuda needs a GPU", out)
        self.assertIn("--backend cpu does without", out)
        self.run_script("chapters/run", "01", "--backend", "cuda", "--build-only")

    def test_build_only_for_several_architectures(self) -> None:
        self.run_script("chapters/run", "01", "--build-only", "--arch", "80,90")
        self.assertTrue(any("-DCMAKE_CUDA_ARCHITECTURES=80-real;90a-real" in call
                            for call in self.calls()))
        out = self.run_script("chapters/run", "01", patch=GPU + NO_NVCC)
        self.assertIn("no nvcc: using the programs in", out)
        self.assertIn("Wrote:", out)

    def test_user_architecture_wins(self) -> None:
        out = self.run_script("chapters/run", "01", "--build-only", patch=GPU, CUDAARCHS="86")
        self.assertIn("Architecture: 86 (CUDAARCHS).", out)

    def test_old_gpu_and_old_toolkit(self) -> None:
        old = GPU.replace("NVIDIA H200", "Tesla V100").replace("9.0", "7.0")
        out = self.run_script("chapters/run", "01", "--backend", "cuda", patch=old, code=3)
        self.assertIn("use CUDA 12.x", out)
        self.tool("nvcc", "print('release 11.8, V11.8.89')")
        out = self.run_script("chapters/run", "01", patch=NO_GPU)
        self.assertIn("nvcc 11.8.89 is older than 12.0", out)

    def test_one_broken_version_does_not_break_the_rest(self) -> None:
        self.write("chapters/01_vector_add/02_two.cu", "mistake\n")
        out = self.run_script("chapters/run", "01", patch=GPU, code=1)
        self.assertIn("02_two.cu(3): error: expected a ';'", out)
        self.assertIn("Did not compile: 02_two. Going on without.", out)
        self.assertIn("Wrote:", out)
        self.assertTrue(out.endswith("Failed: 02_two did not compile (see above).\n"), out)
        log = self.root / "build" / "cuda-90a" / "01_vector_add.log"
        self.assertIn("02_two.cu(3): error", log.read_text())  # the second build has its own
        self.write("chapters/01_vector_add/02_two.cu", "// mended\n")
        self.run_script("chapters/run", "01", patch=GPU)

    def test_configure_error_shows_the_cause(self) -> None:
        out = self.run_script("chapters/run", "01", code=1, BAD_CMAKE="1")
        self.assertIn("toolkit too old", out)
        self.assertNotIn("-- before", out)
        self.assertNotIn("Call Stack", out)
        self.assertNotIn("CMakeLists.txt:9", out)

    def test_program_without_usable_gpu_falls_back(self) -> None:
        program = "import sys\nsys.exit(0 if '/cpu/' in sys.argv[0] else 3)\n"
        out = self.run_script("chapters/run", "01", patch=GPU, PROGRAM=program)
        self.assertIn("Backend: the CPU (the GPU cannot be used)", out)

    def test_failed_version_is_a_failed_run(self) -> None:
        self.assertIn("Wrote:", self.run_script("chapters/run", "01", patch=GPU, EXIT="1", code=1))

    def test_first_steps_run_in_order(self) -> None:
        out = self.run_script("chapters/run", "00", patch=GPU)
        self.assertLess(out.index("01_hello"), out.index("06_device"))
        self.assertIn("04_errors", out.split("Next:")[1])
        out = self.run_script("chapters/run", "0")
        self.assertLess(out.index("cpu/bin/00_first_steps/01_hello"), out.index("06_device"))
        self.assertIn("00_first_steps: build, run on the CPU.\n", out)

    def test_all_goes_on_after_a_failure(self) -> None:
        self.write("chapters/01_vector_add/01_one.cu", "mistake\n")
        out = self.run_script("chapters/run", "all", patch=GPU, code=1)
        self.assertIn("Failed: 00_first_steps, 01_vector_add", out)

    def test_unknown_name_and_bad_options(self) -> None:
        out = self.run_script("chapters/run", "vector_ad", code=2)
        self.assertIn("did you mean: 01_vector_add?", out)
        self.assertEqual(len(out.splitlines()), 1)
        out = self.run_script("chapters/run", "99", code=2)
        self.assertIn("no chapter '99'; there are: 00_first_steps, 01_vector_add", out)
        for words in (["01", "--label", "a/b"], ["01", "--hint"], ["00", "--record"],
                      ["01", "--only", "2"], ["--exercise", "1"], ["01", "--exercise", "one"]):
            out = self.run_script("chapters/run", *words, code=2)
            self.assertEqual(len(out.splitlines()), 1, out)
        self.run_script("tests/run", "--nothing", code=2)
        self.run_script("common/doctor", "--nothing", code=2)

    def test_architectures_are_checked_before_the_build(self) -> None:
        self.tool("nvcc", "import sys\nprint('compute_75\\ncompute_90\\ncompute_120' if "
                          "'--list-gpu-arch' in sys.argv else 'V13.0.88')")
        for arch, said in {"vega": "--arch 'vega'", "5": "--arch '5'", "52": "not for 5.2"}.items():
            out = self.run_script("chapters/run", "01", "--build-only", "--arch", arch, code=2)
            self.assertIn(said, out)
            self.assertEqual(len(out.splitlines()), 1, out)
        out = self.run_script("chapters/run", "01", "--build-only", "--arch", "sm_75 9.0,120f-real")
        self.assertIn("Architecture: 75-real;90a-real;120f-real (--arch).", out)
        self.assertFalse((self.root / "build" / "cuda-52").exists())

    def test_a_gpu_that_the_toolkit_dropped_gets_the_compile_check(self) -> None:
        old = GPU.replace("NVIDIA H200", "Tesla V100").replace("9.0", "7.0")
        out = self.run_script("chapters/run", "01", "--build-only", patch=old)
        self.assertIn("use CUDA 12.x", out)
        self.assertIn("Architecture: 90a-real (no GPU to build for", out)
        out = self.run_script("chapters/run", "01", patch=old)
        self.assertIn("Backend: the CPU (", out)

    def test_without_gpu_the_program_answers_what_it_can(self) -> None:
        program = ("import sys\nprint('bad size' if '12a' in sys.argv else 'the versions')\n"
                   "sys.exit({'12a': 2, '--list': 0}.get(sys.argv[-1], 3))\n")
        out = self.run_script("chapters/run", "01", "--arch", "90", "--", "--size", "12a",
                              PROGRAM=program, code=2)
        self.assertIn("bad size", out)
        out = self.run_script("chapters/run", "01", "--arch", "90", "--", "--list",
                              PROGRAM=program)
        self.assertIn("the versions", out)
        self.assertNotIn("RECORDED", out)

    def test_options_without_gpu_are_not_used(self) -> None:
        out = self.run_script("chapters/run", "01", "--arch", "90", "--", "--only", "2",
                              EXIT_CUDA="3")
        self.assertIn("Not used here: --only 2", out)
        self.assertIn("RECORDED TABLE", out)
        out = self.run_script("chapters/run", "01", "--", "--only", "2")
        self.assertIn("--only 2 --json", out)

    def test_only_tests_need_googletest(self) -> None:
        missing = NO_GPU + ('machine.PROBES["GoogleTest"] = '
                            'lambda: machine.Item("GoogleTest", None)\n'
                            "install.is_root = lambda: False\n"
                            "from course import build\nbuild.can_download = lambda: %s\n")
        self.run_script("chapters/run", "01", patch=missing % True)
        self.assertTrue(any("-DCOURSE_NO_DOWNLOAD=ON" in call for call in self.calls()))
        out = self.run_script("tests/run", patch=missing % False, code=1)
        self.assertIn("C++ tests: NOT BUILT", out)
        self.assertIn("FAILED: the kernels were not tested", out)
        out = self.run_script("tests/run", "--without-googletest", patch=missing % False)
        self.assertIn("C++ tests: NOT BUILT", out)
        self.assertNotIn("FAILED", out)
        self.assertFalse(any("-DCOURSE_NO_DOWNLOAD=OFF" in call for call in self.calls()))
        out = self.run_script("tests/run", patch=missing % True, code=1,
                              BAD_CMAKE="gmake: googletest-populate failed")
        self.assertTrue(any("-DCOURSE_NO_DOWNLOAD=OFF" in call for call in self.calls()))
        self.assertIn("GoogleTest could not be downloaded", out)

    def test_full_and_read_only_disks_are_named(self) -> None:
        out = self.run_script("chapters/run", "01", code=1, BAD_CMAKE="No space left on device")
        self.assertRegex(out, r"the disk is full: \d+ MiB are left")
        self.assertNotIn("toolkit too old", out)
        shutil.rmtree(self.root / "build")
        (self.root / "build").write_text("in the way")
        out = self.run_script("chapters/run", "01", code=1)
        self.assertIn("chapters/run: cannot write into the course/build: File exists", out)

    def test_list_shows_progress(self) -> None:
        self.write("chapters/01_vector_add/README.md", "# 01 Vector add: to the limit\n")
        self.write("tests/harness/CMakeLists.txt", "")
        out = self.run_script("chapters/run", "--list")
        self.assertRegex(out, r"01_vector_add +- +- +0/1 +Vector add\n")
        self.assertNotIn("harness", out)
        self.assertIn("Start: 'the course/chapters/run' 00", out.replace("./", ""))
        self.run_script("chapters/run", "01", patch=GPU)
        self.write("chapters/01_vector_add/my/1_tail.cu", "int mine;\n")
        self.run_script("chapters/run", "01", "--exercise", "1", patch=GPU)
        self.assertRegex(self.run_script("chapters/run", "--list"),
                         r"01_vector_add +yes +1 +1/1 +Vector add")

    def test_missing_matplotlib_only_costs_the_plots(self) -> None:
        out = self.run_script("chapters/run", "01", patch=GPU + NO_MATPLOTLIB, SLURM_JOB_ID="7")
        self.assertIn("matplotlib is missing: no plots will be drawn. To get it: ", out)
        self.assertIn("Wrote:", out)
        self.assertFalse([call for call in self.calls() if "install" in call])

    def test_root_tries_to_install_once(self) -> None:
        patch = (GPU + NO_MATPLOTLIB + "install.is_root = lambda: True\n"
                 "install.pip_commands = lambda names: []\n")
        out = self.run_script("chapters/run", "01", patch=patch)
        self.assertIn("Could not install matplotlib", out)
        self.assertTrue([call for call in self.calls() if call.startswith("apt-get update")])
        self.calls_file.unlink()
        self.run_script("chapters/run", "01", patch=patch)
        self.assertFalse([call for call in self.calls() if "apt-get" in call])

    def test_missing_compiler_without_root_is_one_line(self) -> None:
        patch = NO_GPU + ("install.is_root = lambda: False\n"
                          "machine.PROBES['C++ compiler'] = lambda: machine.Item('x', None)\n")
        out = self.run_script("chapters/run", "01", patch=patch, code=1)
        self.assertIn("sudo apt-get install -y --no-install-recommends g++ make", out)

    def test_interrupt_leaves_one_line(self) -> None:
        program = "import time\nprint('started', flush=True)\ntime.sleep(30)\n"
        command = [sys.executable, "-c", LAUNCH, str(self.root), GPU, "chapters/run", "01"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, start_new_session=True, cwd=str(self.folder),
                                   env=self.environment({"PROGRAM": program}))
        assert process.stdout is not None
        for line in process.stdout:
            if "started" in line:
                break
        time.sleep(0.2)
        os.killpg(process.pid, signal.SIGINT)
        rest, _ = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130, rest)
        self.assertIn("chapters/run: interrupted", rest)

    def test_second_run_waits_for_the_lock(self) -> None:
        (self.root / "build").mkdir()
        with open(self.root / "build" / "cuda-90a.lock", "w") as file:
            file.write("4711")
            file.flush()
            fcntl.flock(file, fcntl.LOCK_EX)
            command = [sys.executable, "-c", LAUNCH, str(self.root), GPU, "chapters/run", "01"]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                                       env=self.environment({}), cwd=str(self.folder))
            assert process.stdout is not None
            for line in process.stdout:
                if "waiting" in line:
                    self.assertIn("process 4711", line)
                    break
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0)


class ExerciseTest(ScriptTest):
    def test_copy_build_pass(self) -> None:
        out = self.run_script("chapters/run", "01", "--exercise", "1", patch=GPU, code=1)
        self.assertIn("copied to", out)
        self.assertIn("Exercise 1: not yet: this is the starter, unchanged", out)
        self.write("chapters/01_vector_add/my/1_tail.cu", "int mine;\n")
        out = self.run_script("chapters/run", "01", "--exercise", "1", patch=GPU)
        self.assertIn("Exercise 1: passed", out)
        progress = json.loads((self.chapter / "my" / "progress.json").read_text())
        self.assertEqual(progress["passed"], [1])

    def test_own_file_is_never_overwritten(self) -> None:
        self.write("chapters/01_vector_add/my/1_tail.cu", "mistake of mine\n")
        out = self.run_script("chapters/run", "01", "--exercise", "1", patch=GPU, code=1)
        self.assertIn("Exercise 1: did not compile", out)
        self.assertIn("1_tail.cu(3): error", out)
        self.assertEqual((self.chapter / "my" / "1_tail.cu").read_text(), "mistake of mine\n")

    def test_without_gpu_it_runs_on_the_cpu(self) -> None:
        out = self.run_script("chapters/run", "01", "--exercise", "1", patch=NO_GPU + NO_NVCC,
                              EXIT="3", code=1)
        self.assertIn("Exercise 1: not yet: this is the starter, unchanged", out)
        self.write("chapters/01_vector_add/my/1_tail.cu", "int mine;\n")
        out = self.run_script("chapters/run", "01", "--exercise", "1", patch=NO_GPU + NO_NVCC,
                              EXIT="3")
        self.assertIn("Exercise 1: right; whether it is fast enough needs a GPU", out)
        self.assertIn("What to do: the course/chapters/01_vector_add/exercises/1_tail.md", out)
        out = self.run_script("chapters/run", "01", "--exercise", "1", patch=NO_GPU + NO_NVCC)
        self.assertIn("Exercise 1: passed", out)

    def test_what_needs_a_gpu_is_not_open(self) -> None:
        self.write("chapters/01_vector_add/my/1_tail.cu", "int mine;\n")
        for name in ("2_gap", "3_beat"):
            self.write(f"chapters/01_vector_add/exercises/{name}.cu", "// TODO\n")
            self.write(f"chapters/01_vector_add/my/{name}.cu", "int mine;\n")

        def expect_after(number: int, text: str, patch: str = NO_GPU, **extra: str) -> None:
            self.run_script("chapters/run", "01", "--exercise", str(number), patch=patch, **extra)
            self.assertRegex(self.run_script("chapters/run", "--list"),
                             rf"01_vector_add .* {text} +Vector add\n")

        expect_after(3, "0/2, 1 needs a GPU", EXIT="3")
        expect_after(2, "0/1, 2 need a GPU", EXIT="3")
        expect_after(2, "1/2, 1 needs a GPU")
        expect_after(2, "1/2, 1 needs a GPU", EXIT="3")  # what has passed stays passed
        expect_after(1, "2/2, 1 needs a GPU")
        expect_after(3, "3/3", patch=GPU)

    def test_list_says_what_is_next(self) -> None:
        def next_line() -> str:
            return self.run_script("chapters/run", "--list").splitlines()[-1].partition(": ")[2]
        self.assertTrue(next_line().endswith("chapters/00_first_steps/README.md"))
        self.write("chapters/01_vector_add/exercises/2_gap.cu", "// TODO\n")
        self.write("chapters/01_vector_add/exercises/2_gap.md", "# Exercise 2: a gap (5 minutes)\n")
        for name in ("1_tail", "2_gap"):
            self.write(f"chapters/01_vector_add/my/{name}.cu", "int mine;\n")
        out = self.run_script("chapters/run", "01", "--exercise", "1")
        self.assertRegex(out, r"Next: .*run. 01 --exercise 2 \(a gap\)\n$")
        self.assertRegex(next_line(), r"01 --exercise 2 \(01_vector_add, a gap\)$")
        self.run_script("chapters/run", "01", "--exercise", "2", EXIT="1", code=1)
        self.assertRegex(next_line(), r"01 --exercise 2 \(01_vector_add, a gap\)$")
        listed = self.run_script("chapters/run", "01", "--exercise")
        self.assertEqual(listed, "Exercises of 01_vector_add:\n"
                         "  1           passed       tail\n  2    5 min  begun        a gap\n")
        self.run_script("chapters/run", "01", "--exercise", "2")
        self.assertEqual(self.run_script("chapters/run", "--list").splitlines()[-1],
                         "Every exercise is done.")

    def test_a_file_of_another_name_is_another_exercise(self) -> None:
        self.write("chapters/01_vector_add/my/1_old.cu", "mistake\n")
        out = self.run_script("chapters/run", "01", "--exercise", "1", code=1)
        self.assertIn("Exercise 1: not yet: this is the starter", out)
        self.assertTrue((self.chapter / "my" / "1_tail.cu").exists())

    def test_watch_judges_at_each_save(self) -> None:
        command = [sys.executable, "-c", LAUNCH, str(self.root), NO_GPU, "chapters/run", "01",
                   "--exercise", "1", "--watch"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, env=self.environment({}), cwd=str(self.folder))
        self.addCleanup(process.kill)

        def until(text: str) -> str:
            lines = []
            for line in process.stdout:
                lines.append(line)
                if text in line:
                    break
            self.assertIn(text, "".join(lines))
            return "".join(lines)

        mine = self.chapter / "my" / "1_tail.cu"
        self.assertIn("Exercise 1: not yet: this is the starter", until("Watching"))
        mine.write_text("a mistake\n")
        said = until("Watching")
        self.assertIn("1_tail.cu was saved", said)
        self.assertIn("Exercise 1: did not compile", said)
        self.assertNotIn("waiting", self.run_script("chapters/run", "00"))  # the folder is free
        saved = mine.with_suffix(".new")  # as editors do: another file takes the name
        saved.write_text("int mended;\n")
        saved.replace(mine)
        self.assertIn("Exercise 1: passed", until("Watching"))
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=30)[0]
        self.assertEqual(process.returncode, 130, rest)
        self.assertIn("chapters/run: interrupted", rest)

    def test_watch_needs_an_exercise(self) -> None:
        for words in (["01", "--watch"], ["01", "--exercise", "--watch"]):
            out = self.run_script("chapters/run", *words, code=2)
            self.assertIn("--watch need --exercise N", out)
        self.run_script("chapters/run", "01", "--exercise", "1", "--watch", "--build-only", code=2)

    def test_for_an_architecture_without_gpu_it_compiles(self) -> None:
        out = self.run_script("chapters/run", "01", "--exercise", "1", "--arch", "90", code=3)
        self.assertIn("Exercise 1: compiles, not checked; that needs a GPU", out)

    def test_a_label_asks_for_a_result_file(self) -> None:
        out = self.run_script("chapters/run", "01", "--exercise", "1", "--label", "team07",
                              patch=GPU, code=1)
        self.assertRegex(out, r"Result file: .*/team07-01_vector_add-exercise_1-h200-[-\d]+\.json")

    def test_grading_needs_an_exercise_and_submissions(self) -> None:
        self.assertIn("--exercise N", self.run_script("chapters/run", "01", "--grade", "x", code=2))
        self.assertIn("no such folder", self.run_script(
            "chapters/run", "01", "--exercise", "1", "--grade", "x", code=2))

    def test_hints_are_offered_where_there_is_a_page(self) -> None:
        for page in (True, False):
            if not page:
                (self.chapter / "exercises" / "1_tail.md").unlink()
            out = self.run_script("chapters/run", "01", "--exercise", "1", patch=GPU, EXIT="1",
                                  code=1)
            self.assertIn("Exercise 1: not yet", out)
            self.assertEqual("--hint" in out, page)

    def test_failed_exercise_is_not_remembered(self) -> None:
        self.run_script("chapters/run", "01", "--exercise", "1", patch=GPU, EXIT="1", code=1)
        self.assertFalse((self.chapter / "my" / "progress.json").exists())

    def test_hints_come_one_by_one(self) -> None:
        said = [self.run_script("chapters/run", "01", "--exercise", "1", "--hint")
                for _ in range(3)]
        self.assertIn("Count the threads.", said[0])
        self.assertIn("Look at the tail.", said[1])
        self.assertIn("No more hints (2 in all)", said[2])

    def test_solution(self) -> None:
        out = self.run_script("chapters/run", "01", "--exercise", "1", "--solution")
        self.assertIn("solution/1_tail.cu", out)
        self.assertIn("// answer", out)

    def test_unknown_exercise(self) -> None:
        out = self.run_script("chapters/run", "01", "--exercise", "7", code=2)
        self.assertIn("no exercise 7; there: 1", out)


# The result file of a mutant that a checker and the comparison caught.
BROKEN_PROGRAM = """
import json, sys
row = {"size": {"n": 33}, "verified": False, "skipped": "1 of 33 wrong in c",
       "findings": [{"kind": "bounds", "text": "out of bounds, 02_two.cu:1"}]}
json.dump({"results": [row, {**row, "findings": []}]},
          open(sys.argv[sys.argv.index("--json") + 1], "w"))
sys.exit(1)
"""
MUTANTS = {"sizes": "33,70", "mutants": [
    {"name": "no_guard", "file": "02_two.cu", "find": "fine", "replace": "broken",
     "caught_by": ["bounds"], "hint": "Think of the tail."}]}


class BreakTest(ScriptTest):
    def setUp(self) -> None:
        super().setUp()
        self.write("tests/mutants/01.json", json.dumps(MUTANTS))

    def test_who_caught_it(self) -> None:
        out = self.run_script("chapters/run", "01", "--break", "01:no_guard", patch=GPU,
                              PROGRAM=BROKEN_PROGRAM)
        self.assertIn("no_guard: the course/chapters/01_vector_add/02_two.cu:1\n"
                      "  - fine\n  + broken\n", out)
        self.assertIn("Caught by the checker 'bounds':\n  out of bounds, 02_two.cu:1\n", out)
        self.assertIn("Caught by the comparison with the reference:\n"
                      "  1 of 33 wrong in c (n = 33)\n", out)
        self.assertIn("Hint: Think of the tail.", out)
        self.assertIn("Backend: the CPU (--break needs its checkers);", out)
        self.assertIn("Built 01_vector_add_mutant_no_guard", out)

    def test_options_of_a_gpu_are_refused(self) -> None:
        for words in (["--arch", "90"], ["--backend", "cuda"], ["--record"]):
            out = self.run_script("chapters/run", "--break", "01:no_guard", *words, code=2)
            self.assertIn("--break works on the CPU backend: leave out", out)

    def test_chapter_from_the_mutants_name(self) -> None:
        out = self.run_script("chapters/run", "--break", "01:no_guard", PROGRAM=BROKEN_PROGRAM)
        self.assertIn("Caught by", out)

    def test_a_catcher_that_slept_fails(self) -> None:
        awake = BROKEN_PROGRAM.replace('"bounds"', '"race"')
        out = self.run_script("chapters/run", "01", "--break", "no_guard", PROGRAM=awake, code=1)
        self.assertIn("FAILED: not caught by bounds", out)

    def test_unknown_names_list_what_there_is(self) -> None:
        for name in ("01:nothing", "nothing", "02:no_guard"):
            out = self.run_script("chapters/run", "01", "--break", name, code=2)
            self.assertIn(f"no mutant '{name}'; 01_vector_add has: 01:no_guard", out)
        for asked in (["--break", "01"], ["--break", "01:"], ["01", "--break", "list"]):
            out = self.run_script("chapters/run", *asked)
            self.assertRegex(out, r"(?m)^  01:no_guard +in 02_two\.cu\n      \S")
        out = self.run_script("chapters/run", "00", "--break", "x", code=2)
        self.assertIn("00_first_steps has: none", out)

    def test_without_a_name_they_are_listed(self) -> None:
        for words in (["--break", "01"], ["01", "--break"], ["01", "--break", "01:"]):
            out = self.run_script("chapters/run", *words)
            self.assertRegex(out, r"^  01:no_guard +in 02_two.cu\n      Think of the tail.\n$")
        out = self.run_script("chapters/run", "00", "--break")
        self.assertEqual(out, "00_first_steps has no bugs to plant\n")
        self.assertIn("which chapter?", self.run_script("chapters/run", "--break", code=2))

    def test_text_that_moved_is_named(self) -> None:
        for text, times in (("// gone", 0), ("// fine fine", 2)):
            self.write("chapters/01_vector_add/02_two.cu", text)
            out = self.run_script("chapters/run", "01", "--break", "no_guard", code=1)
            self.assertIn(f"'fine' stands {times} times in 02_two.cu, not once", out)

    def test_no_result_is_a_failure(self) -> None:
        out = self.run_script("chapters/run", "01", "--break", "no_guard", code=1,
                              PROGRAM="import sys\nprint('what it said')\nsys.exit(9)")
        self.assertIn("ended without a result (exit code 9):\nwhat it said", out)


DEMO_LIST = "  hang   A loop without an end.\n  stale  Reads what was there.\n"


class DemoTest(ScriptTest):
    def setUp(self) -> None:
        super().setUp()
        self.write("chapters/01_vector_add/demos/stale.cu", "// Reads what was there.\n// More.\n")
        self.write("chapters/01_vector_add/demos/hang.cu", "// A loop without an end.\n")

    def test_builds_and_runs_one(self) -> None:
        for patch, where in ((GPU, "cuda-90a"), (NO_GPU, "cpu")):
            out = self.run_script("chapters/run", "01", "--demo", "stale", "--", "b", patch=patch)
            self.assertIn("01_vector_add, demo stale: build, run.", out)
            self.assertTrue(out.endswith("\n01_vector_add_demo_stale b\n"), out)
            self.assertTrue((self.root / "build" / where / "bin/01_vector_add_demo_stale").exists())
        self.assertFalse(self.results(), "a demo is no measurement")
        self.run_script("chapters/run", "01", "--demo", "stale", EXIT="66", code=66)

    def test_names_what_there_is(self) -> None:
        out = self.run_script("chapters/run", "01", "--demo", "list")
        self.assertEqual(DEMO_LIST, out)
        for name in ("nothing", "stale.cu", ""):
            out = self.run_script("chapters/run", "01", "--demo", name, code=2)
            self.assertEqual(f"chapters/run: 01_vector_add has no demo '{name}'; there are:\n"
                             + DEMO_LIST, out)
        self.assertEqual([], self.calls(), "nothing is built for a wrong name")
        out = self.run_script("chapters/run", "00", "--demo", "stale", code=2)
        self.assertEqual("chapters/run: 00_first_steps has no demos\n", out)
        out = self.run_script("chapters/run", "00", "01", "--demo", "stale", code=2)
        self.assertEqual("chapters/run: --demo works on one chapter at a time\n", out)

    def test_time_limit(self) -> None:
        out = self.run_script("chapters/run", "01", "--demo", "hang", code=124,
                              patch=NO_GPU + "from course import chapters\n"
                              "chapters.DEMO_SECONDS = 0.5\n",
                              PROGRAM="import time\ntime.sleep(1000)\n")
        self.assertTrue(out.endswith("\nchapters/run: 01_vector_add_demo_hang was not over after "
                                     "0.5 s and was ended\n"), out)

    def test_that_does_not_compile(self) -> None:
        self.write("chapters/01_vector_add/demos/stale.cu", "// mistake\n")
        out = self.run_script("chapters/run", "01", "--demo", "stale", code=1)
        self.assertIn("stale.cu(3): error: expected a ';'", out)
        self.assertIn("chapters/run: stale did not build", out)

    def test_without_gpu_for_an_architecture_it_compiles(self) -> None:
        out = self.run_script("chapters/run", "01", "--demo", "stale", "--arch", "90")
        self.assertIn("stale: compiles; to run it takes a GPU (no NVIDIA driver found).", out)


class ProgramTest(ScriptTest):
    def setUp(self) -> None:
        super().setUp()
        self.write("chapters/01_vector_add/walk.cu", "// Goes for a walk.\n")

    def test_builds_and_runs_one_without_a_limit(self) -> None:
        for patch, where in ((GPU, "cuda-90a"), (NO_GPU, "cpu")):
            limit = "from course import chapters\nchapters.DEMO_SECONDS = 0\n"
            out = self.run_script("chapters/run", "01", "--program", "walk", "--", "--far",
                                  patch=patch + limit)
            self.assertIn("01_vector_add, program walk: build, run.", out)
            self.assertTrue(out.endswith("\n01_vector_add_walk --far\n"), out)
            self.assertTrue((self.root / "build" / where / "bin/01_vector_add_walk").exists())
        self.assertFalse(self.results(), "a program is no measurement")
        self.run_script("chapters/run", "01", "--program", "walk", EXIT="2", code=2)

    def test_names_what_there_is(self) -> None:
        out = self.run_script("chapters/run", "01", "--program", "list")
        self.assertEqual("  walk  Goes for a walk.\n", out)
        out = self.run_script("chapters/run", "01", "--program", "02_two", code=2)
        self.assertEqual("chapters/run: 01_vector_add has no program '02_two'; there are:\n"
                         "  walk  Goes for a walk.\n", out)
        self.assertEqual([], self.calls(), "nothing is built for a wrong name")
        out = self.run_script("chapters/run", "00", "--program", "list")
        self.assertEqual("00_first_steps has no programs\n", out)
        out = self.run_script("chapters/run", "00", "01", "--program", "walk", code=2)
        self.assertEqual("chapters/run: --program works on one chapter at a time\n", out)
        out = self.run_script("chapters/run", "01", "--program", "walk", "--demo", "x", code=2)
        self.assertEqual("chapters/run: --demo and --program: one of them\n", out)


class RecordTest(ScriptTest):
    def setUp(self) -> None:
        super().setUp()
        self.write(".gitignore", "build/\nmy/\n.source_stamp\n__pycache__/\n")
        for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b",
                                                      "commit", "-q", "-m", "x"]):
            subprocess.run(["git", *words], cwd=str(self.root), check=True,
                           stdout=subprocess.DEVNULL, env=self.environment({}))

    def test_record_installs_result_and_plot(self) -> None:
        out = self.run_script("chapters/run", "01", "--record", patch=GPU)
        self.assertRegex(out, r"--commit [0-9a-f]+ --source-hash [0-9a-f]{64} "
                              r"--code 01_one:[0-9a-f]{16},02_two:[0-9a-f]{16} --record")
        recorded = json.loads((self.chapter / "results" / "h200.json").read_text())
        self.assertEqual(recorded["environment"]["build_type"], "Release")
        self.assertTrue((self.chapter / "results" / "h200-sequence.svg").exists())
        (self.chapter / "results" / "h200-sequence.svg").unlink()
        self.write("chapters/01_vector_add/README.md", "# Vector add\n")
        out = self.run_script("chapters/run", "01", "--record", patch=GPU)
        self.assertFalse((self.chapter / "results" / "h200-sequence.svg").exists(), "on no page")
        self.run_script("chapters/run", "01", "--record", patch=GPU)  # own results do not count

    def test_refusals_keep_the_old_record(self) -> None:
        self.run_script("chapters/run", "01", "--record", patch=GPU, EXIT="1", code=1)
        out = self.run_script("chapters/run", "01", "--record", patch=GPU, code=1,
                              BUILD_TYPE="Debug", CUDAARCHS="80")
        self.assertIn("Debug build", out)
        self.write("chapters/01_vector_add/03_new.cu", "// untracked\n")
        out = self.run_script("chapters/run", "01", "--record", patch=GPU, code=1)
        self.assertIn("changed: chapters/01_vector_add/03_new.cu", out)
        self.assertEqual(json.loads((self.chapter / "results" / "h200.json").read_text()), RECORDED)
        (self.chapter / "03_new.cu").unlink()
        self.run_script("chapters/run", "01", "--record", code=3)

    def test_changed_sources_are_marked(self) -> None:
        self.write("chapters/01_vector_add/01_one.cu", "// changed\n")
        self.assertRegex(self.run_script("chapters/run", "01", patch=GPU), r"--commit \w+-dirty")

    def test_stamp_stands_in_for_git(self) -> None:
        self.run_script("chapters/run", "--stamp")
        commit = json.loads((self.root / ".source_stamp").read_text())["commit"]
        (self.root / ".git").rename(self.folder / "git")
        out = self.run_script("chapters/run", "01", "--record", patch=GPU)
        self.assertIn(f"--commit {commit}", out)
        self.write("chapters/01_vector_add/01_one.cu", "// changed\n")
        out = self.run_script("chapters/run", "01", "--record", patch=GPU, code=1)
        self.assertIn("the sources are not those of .source_stamp", out)

    def test_stamp_stands_in_for_the_git_of_something_else(self) -> None:
        self.run_script("chapters/run", "--stamp")
        commit = json.loads((self.root / ".source_stamp").read_text())["commit"]
        for words in (["rm", "-q", "--cached", "chapters/01_vector_add/02_two.cu"],
                      ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "older"]):
            subprocess.run(["git", *words], cwd=str(self.root), check=True,
                           stdout=subprocess.DEVNULL, env=self.environment({}))
        out = self.run_script("chapters/run", "01", "--record", patch=GPU)
        self.assertIn(f"--commit {commit} ", out)
        self.write("chapters/01_vector_add/02_two.cu", "// changed\n")
        out = self.run_script("chapters/run", "01", "--record", patch=GPU, code=1)
        self.assertIn("--record refused, changed: chapters/01_vector_add/02_two.cu", out)


class TestsRunTest(ScriptTest):
    def test_skips_are_loud_and_ctest_has_the_last_word(self) -> None:
        out = self.run_script("tests/run")
        self.assertIn("CPU backend tests: 0 run, 2 skipped (no NVIDIA driver found)", out)
        self.assertIn("other tests: 1 run, 0 skipped", out)
        self.assertIn("These are the quick tests", out)
        self.assertTrue(any("-LE [.](mutant|forward|random|refused|demo)$|^(common|simt|scripts)[.]" in call
                            for call in self.calls()))
        self.assertRegex(out, r"build for the CPU backend +\d+ +\d+\n")
        self.assertIn("inside Python tests: 1 skipped (no C compiler)", out)
        self.assertLess(out.index("CPU backend tests:"), out.index("100% tests passed"))
        self.assertTrue(out.rstrip().endswith("Total Test time (real) =   0.01 sec"), out)

    def test_without_gpu_nvcc_only_compiles_and_not_in_a_quick_run(self) -> None:
        self.assertNotIn("Compiled for", self.run_script("tests/run"))
        ctests = [call for call in self.calls() if "--output-junit" in call]
        self.assertEqual(1, len(ctests))
        self.assertIn("build/cpu ", ctests[0])
        self.assertIn("Compiled for 90a-real, not run.", self.run_script("tests/run", "01"))
        out = self.run_script("tests/run", "01", "--backend", "cpu")
        self.assertNotIn("Compiled for", out)
        out = self.run_script("tests/run", "--backend", "cuda")
        self.assertIn("GPU tests: 0 run, 2 skipped", out)

    def test_one_chapter(self) -> None:
        self.run_script("tests/run", "1")
        self.assertTrue(any("-L ^ch01[.]" in call for call in self.calls()))
        self.assertFalse(any("-LE" in call for call in self.calls()))
        self.assertTrue(any("--target 01_vector_add 01_vector_add_test" in
                            call for call in self.calls()))

    def test_what_failed_has_the_last_word(self) -> None:
        out = self.run_script("tests/run", patch=NO_GPU, code=8, ONE_FAILS="1")
        last = out[out.index("Total Test time"):]
        self.assertIn("\nhost2 failed; its last lines:\n  early\n", last)
        self.assertTrue(last.endswith("\n  expected 1, got 2\n"), last)
        self.assertEqual(last.count("early"), 39)
        self.assertNotIn("its last lines", self.run_script("tests/run", patch=NO_GPU))

    def test_zero_tests_and_required_gpu_fail(self) -> None:
        self.assertIn("no test ran", self.run_script("tests/run", code=8, NO_TESTS="1"))
        out = self.run_script("tests/run", "--require-gpu", code=1)
        self.assertIn("FAILED: --require-gpu", out)

    def test_build_failure(self) -> None:
        self.write("chapters/01_vector_add/02_two.cu", "mistake\n")
        self.assertIn("02_two.cu(3): error", self.run_script("tests/run", code=1))

    def test_sanitize(self) -> None:
        self.assertIn("needs a GPU", self.run_script("tests/run", "--sanitize", code=3))
        self.tool("compute-sanitizer", "import os, sys\n"
                  "tool = os.environ['COURSE_SANITIZE']\n"
                  "sys.exit(tool == 'racecheck' and tool in sys.argv)")
        out = self.run_script("tests/run", "01", "--sanitize", patch=GPU, code=1)
        self.assertRegex(out, r"01_vector_add_test +ok +FAILED +ok +ok")

    def test_build_only(self) -> None:
        self.run_script("tests/run", "1", "--backend", "cuda", "--build-only", patch=GPU)
        self.assertTrue(any("--target 01_vector_add " in call for call in self.calls()))
        self.assertFalse(any("--output-junit" in call for call in self.calls()))

    def test_all_adds_the_cpu_and_every_architecture(self) -> None:
        out = self.run_script("tests/run", "--all", patch=GPU)
        self.assertEqual(out.count("100% tests passed"), 2)
        self.assertTrue(any("ARCHITECTURES=all-major" in call for call in self.calls()))


class DoctorTest(ScriptTest):
    def test_text_and_json(self) -> None:
        out = self.run_script("common/doctor")
        self.assertRegex(out, r"(?m)^nvcc +13\.0\.88 ")
        self.assertRegex(out, r"(?m)^GPU +missing +no NVIDIA driver found")
        facts = json.loads(self.run_script("common/doctor", "--json", patch=GPU))
        self.assertEqual(facts["gpus"][0]["capability"], "9.0")
        self.assertTrue(facts["items"]["CMake"]["ok"])

    def test_old_cmake_is_named_with_its_fix(self) -> None:
        self.tool("cmake", "print('cmake version 3.16.3')")
        out = self.run_script("common/doctor", code=1)
        self.assertRegex(out, r"CMake +3\.16\.3 .*older than 3\.24; .*-m venv .* install -q cmake")

    def test_driver_older_than_toolkit(self) -> None:
        patch = GPU.replace('"13.0"', '"12.4"') + (
            "machine.probe_runtime = lambda: machine.Item('CUDA runtime', '13.0')\n")
        self.assertIn("warning: the driver serves CUDA 12.4",
                      self.run_script("common/doctor", patch=patch))

    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_driver_library_is_asked(self) -> None:
        (self.folder / "driver.c").write_text(LIBCUDA)
        library = self.folder / "libcuda.so.1"
        said = {}
        for start in (0, 100, 803):
            subprocess.run(["cc", "-shared", "-fPIC", f"-DSTART={start}", "-o", str(library),
                            str(self.folder / "driver.c")], check=True)
            said[start] = json.loads(self.run_script("common/doctor", "--json", patch="",
                                                     LD_LIBRARY_PATH=str(self.folder)))
        self.assertEqual(said[0]["gpus"], [{"name": "NVIDIA L4", "capability": "8.9",
                                            "memory_bytes": 24 << 30}])
        self.assertEqual(said[0]["items"]["CUDA driver"]["version"], "12.8")
        self.assertIn("no NVIDIA GPU visible", said[100]["items"]["GPU"]["problem"])
        self.assertIn("CUDA error 803", said[803]["items"]["GPU"]["problem"])

    def test_slurm_and_colab_are_named(self) -> None:
        out = self.run_script("common/doctor", SLURM_JOB_ID="1", COLAB_GPU="1")
        self.assertIn("note: Slurm job", out)
        self.assertIn("note: Colab", out)


class ModuleTest(unittest.TestCase):
    def test_short_names(self) -> None:
        for name, short in {"NVIDIA H200": "h200", "NVIDIA GeForce RTX 4090": "rtx4090",
                            "Tesla T4": "t4", "NVIDIA A100-SXM4-80GB": "a100sxm4",
                            "NVIDIA H100 80GB HBM3": "h100", "NVIDIA H100 PCIe": "h100pcie"}.items():
            self.assertEqual(machine.short_name(name), short)

    def test_versions(self) -> None:
        self.assertLess(machine.numbers("3.9.1"), machine.numbers("3.24"))
        self.assertEqual(machine.cuda_version(12040), "12.4")
        self.assertEqual(machine.arch_name("90"), "90a-real")
        self.assertEqual(machine.arch_name("86"), "86-real")

    def test_every_probe_has_a_fix(self) -> None:
        for name in machine.PROBES:
            if name != "architecture":
                self.assertIn(name, install.PACKAGES)

    def test_sources_leave_out_pages_and_results(self) -> None:
        self.assertTrue(chapters.is_source("chapters/01_vector_add/01_one.cu"))
        for name in ("chapters/01/README.md", "chapters/01/results/h200.json",
                     "chapters/01/my/1.cu", "common/.hidden", "common/simt/engine.cpp",
                     "common/python/course/__pycache__/x.pyc"):
            self.assertFalse(chapters.is_source(name), name)


class ToolkitTest(unittest.TestCase):
    """Which nvcc belong to one toolkit: links and scripts that start another one do."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        machine.toolkit_nvcc.cache_clear()
        self.addCleanup(machine.toolkit_nvcc.cache_clear)

    def toolkit(self, name: str) -> Path:
        """An nvcc that tells its place as nvcc does."""
        nvcc = self.folder / name / "bin" / "nvcc"
        nvcc.parent.mkdir(parents=True)
        nvcc.write_text(f"#!/bin/sh\necho '#$ _SPACE_= ' >&2\necho '#$ _HERE_={nvcc.parent}' >&2\n")
        nvcc.chmod(0o755)
        return nvcc

    def wrapper(self, text: str) -> Path:
        nvcc = self.folder / "local" / "nvcc"
        nvcc.parent.mkdir()
        nvcc.write_text(text)
        nvcc.chmod(0o755)
        return nvcc

    def candidates(self, first: Path, second: Path) -> List[str]:
        places = {"PATH": f"{first.parent}:/usr/bin:/bin", "CUDA_HOME": str(second.parents[1]),
                  "CUDACXX": "", "CUDA_PATH": ""}
        with mock.patch.dict(os.environ, places):
            return [path for path in machine.nvcc_candidates() if str(self.folder) in path]

    def test_script_that_starts_the_toolkit(self) -> None:
        toolkit = self.toolkit("cuda")
        script = self.wrapper(f'#!/bin/sh\nexec {toolkit} "$@"\n')
        self.assertEqual(machine.toolkit_nvcc(str(script)), os.path.realpath(toolkit))
        self.assertEqual(self.candidates(script, toolkit), [str(script)])

    def test_link_to_the_toolkit(self) -> None:
        toolkit = self.toolkit("cuda-13.0")
        (self.folder / "cuda").symlink_to("cuda-13.0")
        link = self.folder / "cuda" / "bin" / "nvcc"
        self.assertEqual(self.candidates(link, toolkit), [str(link)])

    def test_two_toolkits_are_two(self) -> None:
        one, two = self.toolkit("cuda-12.4"), self.toolkit("cuda-13.0")
        script = self.wrapper(f'#!/bin/sh\nexec {one} "$@"\n')
        self.assertEqual(self.candidates(script, two), [str(script), str(two)])

    def test_what_does_not_tell_its_place(self) -> None:
        for text in ("#!/bin/sh\nexit 1\n", "#!/nowhere/sh\n", "\x7fELF", ""):
            script = self.folder / "nvcc"
            script.write_text(text)
            script.chmod(0o755)
            machine.toolkit_nvcc.cache_clear()
            self.assertEqual(machine.toolkit_nvcc(str(script)), os.path.realpath(script))
        self.assertEqual(machine.toolkit_nvcc(str(self.folder / "no" / "nvcc")),
                         os.path.realpath(self.folder / "no" / "nvcc"))


if __name__ == "__main__":
    unittest.main()
