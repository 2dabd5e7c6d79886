"""Tests of `chapters/run file.cu`: with the real CPU backend, and for a GPU with fake tools."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path
from typing import Dict, List

from test_scripts import GPU, NO_GPU, NO_NVCC, ROOT, ScriptTest

from course import compiler, one_file  # noqa: E402

RIGHT = r"""#include <cstdio>
#include <cstdlib>
#include "twice.hpp"

__global__ void scale(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = twice(x[i]);
}

int main(int argc, char** argv) {
  int not_used;
  float* x;
  cudaMalloc(&x, 100 * sizeof(float));
  cudaMemset(x, 0, 100 * sizeof(float));
  scale<<<1, 128>>>(x, 100);
  std::printf("%s", cudaGetErrorString(cudaDeviceSynchronize()));
  for (int i = 1; i < argc; ++i) std::printf(", '%s'", argv[i]);
  std::printf("\n");
  return argc > 1 ? std::atoi(argv[1]) : 0;
}
"""
TWICE = "__device__ inline float twice(float x) { return 2 * x; }\n"

FLAG = r"""#include <cstdio>
__global__ void pass_on(int* data, volatile int* flag, int* ticket, int* out) {
  if (atomicAdd(ticket, 1) == 0) {
    data[0] = 1;
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {}
    out[0] = data[0];
  }
}
int main() {
  int* x;
  cudaMalloc(&x, 16);
  cudaMemset(x, 0, 16);
  pass_on<<<2, 1>>>(x, x + 1, x + 2, x + 3);
  return cudaDeviceSynchronize();
}
"""

NO_MAIN = "__global__ void nothing() {}\n"
MISTAKE = "__global__ void nothing() {}\n\nint main() { nothing<<<1, 1>>>() }\n"

# Writes a program that says how it was called.
NVCC = r'''
import os, pathlib, sys
words = sys.argv[1:]
if "--version" in words:
    print("release 13.0, V13.0.88"); sys.exit()
if "--list-gpu-arch" in words:
    print("compute_80\ncompute_90"); sys.exit()
open(os.environ["CALLS"], "a").write("nvcc " + " ".join(words) + "\n")
source = next(word for word in words if word.endswith(".cu"))
if "mistake" in pathlib.Path(source).read_text():
    print("header.h(1): error: far away\n%s(3): error: expected a \";\"" % source); sys.exit(2)
if "a child" in pathlib.Path(source).read_text() and "-rdc=true" not in words:
    print(source + "(4): error: kernel launch from __device__ or __global__ functions requires "
          "separate compilation mode"); sys.exit(2)
print("%s(2): warning #177-D: never used\nother.h(1): warning: not ours" % source)
program = pathlib.Path(words[words.index("-o") + 1])
program.write_text("#!%s -IS\nimport sys\nprint('on a GPU', *sys.argv[1:]); sys.exit(5)\n"
                   % sys.executable)
program.chmod(0o755)
'''


def of_the_notebook() -> str:
    """The program in docs/colab.ipynb, which has a race."""
    notebook = json.loads((ROOT / "docs/colab.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"]]
    return next(cell for cell in cells if "PROGRAM = " in cell).split("'''")[1]


def has_compiler() -> bool:
    return bool(shutil.which("cmake") and (shutil.which("c++") or shutil.which("g++")))


@unittest.skipUnless(has_compiler(), "no CMake or no C++ compiler: NOT TESTED")
class OnTheCpu(unittest.TestCase):
    """Real builds, which share one build folder."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="course file "))
        self.addCleanup(shutil.rmtree, self.folder, True)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run_file(self, *words: str, code: int = 0) -> str:
        command = [sys.executable, str(ROOT / "chapters" / "run"), *words]
        command[3:3] = ["--backend", "cpu"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              stdin=subprocess.DEVNULL, cwd=str(self.folder), timeout=300,
                              check=False)
        self.assertEqual(done.returncode, code, done.stdout)
        self.assertNotIn("Traceback", done.stdout)
        return done.stdout

    def programs(self) -> Dict[Path, int]:
        """When each program called main was built."""
        return {path: path.stat().st_mtime_ns for path in ROOT.glob("build/files-cpu/bin/*/main")}

    def test_right_program_with_arguments(self) -> None:
        self.write("my work/first.cu", RIGHT)
        self.write("my work/twice.hpp", TWICE)
        out = self.run_file("my work/first.cu", "--", "7", "two words", "--model", code=7)
        self.assertIn("my work/first.cu:11:7: warning: unused variable", out)
        self.assertEqual(len(re.findall("warning", out)), 1, out)  # no word of toolkits, either
        self.assertIn("no error, '7', 'two words', '--model'\n\nNo findings.\n", out)
        self.assertEqual(sorted(file.name for file in (self.folder / "my work").iterdir()),
                         ["first.cu", "twice.hpp"], "nothing is built beside the file")

    def test_race(self) -> None:
        self.write("first.cu", of_the_notebook())
        out = self.run_file("first.cu", code=66)
        self.assertRegex(out, "simt: race: reverse, shared memory")
        last = r"^\d findings: uninitialised at first.cu:7, race at first.cu:6 and first.cu:7"
        self.assertRegex(out.splitlines()[-1], last)
        # Built already: the counts of each line, after the program's own words.
        out = self.run_file("./first.cu", "--model", code=66)
        self.assertIn("--model counts there", out)
        words, table = out.index("no error; first"), out.index("reverse: 1 launch, 1 block, 64 threads\n")
        self.assertLess(words, table)
        self.assertRegex(out[table:], r"first\.cu:6 +shared store +4 +2 +32\.00")
        self.assertRegex(out[table:], r"(?m)^  wavf +wavefronts: ", "the legend")
        self.assertLessEqual(max(map(len, out[table:].splitlines()[:-1])), 80)
        self.assertRegex(out.splitlines()[-1], last)

    def test_order_is_an_error_if_strict(self) -> None:
        self.write("flag.cu", FLAG)
        out = self.run_file("flag.cu")
        self.assertRegex(out, r"simt: order: pass_on, .* acquires nothing")
        self.assertRegex(out.splitlines()[-1], r"^1 finding: order at flag.cu:4 and flag.cu:9 "
                                               r"\(shown only: --strict makes it an error\)$")
        out = self.run_file("flag.cu", "--strict", code=66)
        self.assertRegex(out.splitlines()[-1], r"^1 finding: order at flag.cu:4 and flag.cu:9$")

    def test_same_name_in_two_folders(self) -> None:
        for name, answer in {"a/main.cu": 1, "b/main.cu": 2}.items():
            self.write(name, f"int main() {{ return {answer}; }}\n")
            self.run_file(name, code=answer)
        built = self.programs()
        self.run_file("a/main.cu", code=1)
        self.assertEqual(self.programs(), built, "both stay built")

    def test_another_one_was_removed(self) -> None:
        """Also by another process, while this one builds."""
        for name, answer in {"stays.cu": 1, "gone.cu": 2}.items():
            self.write(name, f"int main() {{ return {answer}; }}\n")
            self.run_file(name, code=answer)
        (self.folder / "gone.cu").unlink()
        os.utime(ROOT / "build/files-cpu/files.txt")  # so that CMake reads it once more
        self.run_file("stays.cu", code=1)

    def test_what_does_not_compile(self) -> None:
        self.write("here/mistake.cu", MISTAKE)
        out = self.run_file("here/../here/mistake.cu", code=1)
        self.assertRegex(out, r"(?m)^here/\.\./here/mistake\.cu:3:\d+: error: expected ‘?'?;")
        self.write("first.cu", "__global__ void nothing() {}\nint main() {\n  int n = 3\n"
                               "  nothing<<<1, n>>>();\n  nothing<<<1, 2>>>()\n  // a comment\n"
                               "  nothing<<<1, 2>>>();\n}\n")
        said = self.run_file("first.cu", code=1)
        for line, launch in ((4, 4), (5, 7)):
            self.assertIn(f"first.cu:{line}: error: a `;` is missing before the launch in line "
                          f"{launch}\n", said)
        self.assertNotIn("simt", said)
        log = re.search(r"did not build; the compiler's whole text: (\S.*)\n", out)
        self.assertTrue(log and (self.folder / log.group(1)).is_file(), out)

    def test_warnings_stay(self) -> None:
        """Shown again where nothing is compiled again, and gone when they are mended."""
        text = "int main(int n, char**) {\n  if (n = 0) return 1;\n  return 0;\n}\n"
        self.write("warns.cu", '#include "beside.hpp"\n' + text)
        self.write("beside.hpp", "inline int unused(int n) { if (n = 0) return 1; return 2; }\n")
        for _ in range(2):
            warned = [line for line in self.run_file("warns.cu").splitlines() if "warning" in line]
            self.assertEqual(len(warned), 1, warned)
            self.assertRegex(warned[0], r"^warns\.cu:3:\d+: warning: .*assignment")
        self.write("warns.cu", text.replace("n = 0", "n == 0"))
        for _ in range(2):
            self.assertNotIn("warning", self.run_file("warns.cu"))

    def test_no_main(self) -> None:
        self.write("part.cu", NO_MAIN)
        self.assertIn("part.cu has no main(): a program needs one",
                      self.run_file("part.cu", code=1))

    def test_interrupted(self) -> None:
        self.write("loop.cu", "#include <cstdio>\nint main() {\n  std::puts(\"on\");\n"
                              "  std::fflush(stdout);\n  for (volatile int i = 0;;) i = 1;\n}\n")
        command = [sys.executable, str(ROOT / "chapters" / "run"), "--backend", "cpu", "loop.cu"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True, cwd=str(self.folder), start_new_session=True)
        assert process.stdout is not None
        seen: List[str] = []
        for line in process.stdout:
            seen.append(line)
            if line == "on\n":
                break
        time.sleep(0.2)
        os.killpg(process.pid, signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, seen + [rest])
        self.assertIn("chapters/run: interrupted", rest)


class WithFakeTools(ScriptTest):
    """The command line for a GPU, and what is refused before anything is built."""

    def setUp(self) -> None:
        super().setUp()
        self.tool("nvcc", NVCC)
        self.mine = self.folder / "mine.cu"
        self.mine.write_text("int main() {}\n")

    def test_on_a_gpu(self) -> None:
        out = self.run_script("chapters/run", "mine.cu", "--", "a", "b", patch=GPU, code=5)
        call = self.calls()[-1]
        self.assertIn("nvcc -O3 -std=c++17 -lineinfo -gencode=arch=compute_90a,code=sm_90a mine.cu "
                      f"-o {self.root}/build/files-cuda/file_", call)
        self.assertIn("mine.cu(2): warning #177-D: never used\n", out)
        self.assertNotIn("not ours", out)
        self.assertTrue(out.endswith("\non a GPU a b\n"), out)
        self.assertNotIn("finding", out)

    def test_kernels_that_launch_kernels(self) -> None:
        self.mine.write_text("a child\n")
        out = self.run_script("chapters/run", "mine.cu", patch=GPU, code=5)
        builds = [call for call in self.calls() if "mine.cu" in call]
        self.assertEqual(2, len(builds), builds)
        self.assertIn(" -lineinfo -rdc=true -gencode", builds[1])
        self.assertNotIn("separate compilation", out)

    def test_mistake_on_a_gpu(self) -> None:
        self.mine.write_text("mistake\n")
        out = self.run_script("chapters/run", "./mine.cu", patch=GPU, code=1)
        self.assertIn("./mine.cu(3): error: expected a \";\"\nchapters/run: ./mine.cu did not "
                      "build; the compiler's whole text: ", out)

    def test_build_only_without_gpu(self) -> None:
        out = self.run_script("chapters/run", "mine.cu", "--build-only", "--arch", "80,90")
        self.assertIn("-gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_90a,code=sm_90a",
                      self.calls()[-1])
        self.assertRegex(out, "Built: the course/build/files-cuda/file_.*/mine\n")

    def test_model_is_for_the_cpu(self) -> None:
        for words in (["--backend", "cuda"], ["--build-only"], ["--arch", "80"]):
            out = self.run_script("chapters/run", "mine.cu", "--model", *words, patch=GPU, code=2)
            self.assertIn("--model runs and counts on the CPU backend", out)
        out = self.run_script("chapters/run", "01", "--model", code=2)
        self.assertIn("stands after --: chapters/run 01 -- --model", out)

    def test_drawing_is_for_the_cpu(self) -> None:
        """With a GPU there, a chapter is drawn on the CPU backend, and it says so. (The program
        here is a fake, which counts nothing.)"""
        for words in (["--draw", "01"], ["01", "--", "--draw", "--only", "2"]):
            out = self.run_script("chapters/run", *words, patch=GPU, code=1)
            self.assertIn("Backend: the CPU (--draw follows every address, which only the CPU "
                          "backend sees)", out)
            self.assertIn("-DCOURSE_BACKEND=cpu", "".join(self.calls()))
            self.assertIn("nothing to draw: no kernel was launched and counted", out)
        self.assertEqual(list(self.root.glob("build/trace-*")), [], "what it wrote is left behind")

    def test_backend_cuda_without_nvcc(self) -> None:
        (self.root / "build/cuda-90a/bin").mkdir(parents=True)
        (self.root / "build/cuda-90a/bin/01_vector_add").write_text("")
        out = self.run_script("chapters/run", "mine.cu", "--backend", "cuda", patch=GPU + NO_NVCC,
                              code=1)
        self.assertIn("nvcc not found", out)

    def test_refused(self) -> None:
        (self.folder / "folder").mkdir()
        (self.folder / "main.cpp").write_text("")
        for words, text in {
                ("nothing.cu",): "nothing.cu: no such file",
                ("my/nothing.cu",): "my/nothing.cu: no such file",
                ("main.cpp",): "main.cpp is not a .cu file",
                ("./folder",): "./folder is a folder: name .cu files",
                ("mine.cu", "100"): "mine.cu: beside a file stand other files; its program's arguments stand",
                ("mine.cu", "mine.cu"): "mine.cu is named twice",
                ("mine.cu", "notes.txt"): "notes.txt is no source file (.cu, .cpp, .cc, .cxx, .c)",
                ("mine.cu", "-I", "nowhere"): "-I nowhere: no such folder",
                ("mine.cu", "-D", "1"): "-D 1: write NAME or NAME=VALUE",
                ("mine.cu", "--std", "21"): "--std 21: use 14, 17 or 20",
                ("01", "-D", "N=1"): "-D is for files of your own",
                ("mine.cu", "--exercise", "1"): "--exercise is for chapters",
                ("mine.cu", "--record"): "--record is for chapters",
                ("mine.cu", "--label", "me"): "--label is for chapters",
                ("mine.cu", "--demo", "list"): "--demo is for chapters",
                ("mine.cu", "--break", "01:x"): "--break is for chapters"}.items():
            with self.subTest(words=words):
                out = self.run_script("chapters/run", *words, code=2)
                self.assertIn(f"chapters/run: {text}", out)
                self.assertEqual(len(out.splitlines()), 1, out)
        self.assertFalse(self.calls())

    def test_folder_of_a_chapter_is_a_chapter(self) -> None:
        out = self.run_script("chapters/run", "the course/chapters/01_vector_add/", patch=NO_GPU)
        self.assertIn("01_vector_add: build, run on the CPU", out)


class Words(unittest.TestCase):
    def test_kinds_are_those_of_the_page(self) -> None:
        page = (ROOT / "docs/cpu_backend_details.md").read_text(encoding="utf-8")
        table = page.partition("| finding | what happened")[2].partition("\n\n")[0]
        self.assertEqual(tuple(re.findall(r"(?m)^\| `([a-z ]+)` \|", table)), one_file.KINDS)

    def test_places(self) -> None:
        page = (ROOT / "docs/cpu_backend_details.md").read_text(encoding="utf-8")
        block = page.partition("One small kernel for each")[2].split("```")[1]
        told = re.sub(r"\n  ", " ", block.partition("\n")[2]).splitlines()
        found = one_file.Findings()
        with contextlib.redirect_stderr(io.StringIO()) as passed_on:
            for line in told:
                found.take(f"simt: {line}\n")
        self.assertEqual(len(passed_on.getvalue().splitlines()), len(told))
        self.assertEqual(sum(found.texts.values()), len(told))
        for text in ("race at faults.cu:8 and faults.cu:9", "race at faults.cu:67",
                     "stack at faults.cu:62", "barrier at faults.cu:26 and faults.cu:29",
                     "bounds at faults.cu:13"):
            self.assertIn(text, found.texts)
        self.assertIn("more", found.summary())
        self.assertIn(f"{len(told)} findings: race at", found.summary())

    def test_one_finding(self) -> None:
        found = one_file.Findings()
        with contextlib.redirect_stderr(io.StringIO()):
            found.take("simt: bounds: copy, reads at a place without line information\n")
            found.take("simt: 1 finding(s); exit code 66\n")
        self.assertEqual(found.summary(), "1 finding: bounds")

    def test_no_finding(self) -> None:
        for value, text in {"": "No findings.", "0": "Not checked: SIMT_CHECK is 0."}.items():
            with unittest.mock.patch.dict(os.environ, {"SIMT_CHECK": value}):
                self.assertEqual(one_file.Findings().summary(), text)

    def test_chapter_files_say_how_they_are_run(self) -> None:
        for path, text in {"01_vector_add/02_one_thread_per_element.cu":
                           "chapters/run 01 -- --only 02_one_thread_per_element",
                           "01_vector_add/my/1_tail.cu": "chapters/run 01 --exercise 1"}.items():
            source = one_file.Source("x.cu", ROOT / "chapters" / path)
            self.assertTrue(one_file.belongs_to(source).endswith(text), path)

    def test_warnings_of_an_exercise(self) -> None:
        """nvcc's and a header's lines; the second build compiled nothing."""
        said = ("[1/2] Building CUDA object x.dir/my/1_tail.cu.o\n/a/my/1_tail.cu(3): warning #550-D\n"
                "/a/other.hpp:3:1: warning: not ours\n")
        with tempfile.TemporaryDirectory() as folder:
            for text in (said, "ninja: no work to do.\n"):
                lines = compiler.own_lines("my/1_tail.cu", ["/a/my/1_tail.cu"], text)
                self.assertEqual(compiler.warnings(lines, Path(folder) / "x.log", text, "1_tail.cu"),
                                 ["my/1_tail.cu(3): warning #550-D"])

    def test_which_file_is_wrong(self) -> None:
        """By what Ninja and Make say of it, or by the compiler's errors."""
        folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder, True)
        for name in ("a.cu", "b.cu", "c.cpp", "d.c"):
            (folder / name).write_text("", encoding="utf-8")
        files = [folder / name for name in ("b.cu", "c.cpp", "d.c")]
        source = one_file.Source("a.cu", folder / "a.cu", files, more_typed=["x/b.cu", "x/c.cpp", "x/d.c"])
        key = hashlib.md5(os.fsencode(folder / "b.cu")).hexdigest()[:8]
        for text, wrong in {
                f"FAILED: CMakeFiles/t.dir/simt/t/{key}/b.cu.cpp.o \n": ["x/b.cu"],
                f"gmake[3]: *** [CMakeFiles/t.dir/build.make:8: simt/t/{key}/b.cu.cpp] Error 1\n": ["x/b.cu"],
                "FAILED: CMakeFiles/t.dir/other/b.cu.cpp.o \n": [],
                "FAILED: CMakeFiles/t.dir/c.cpp.o \nFAILED: CMakeFiles/t.dir/d.c.o\n": ["x/c.cpp", "x/d.c"],
                "FAILED: bin/t/a \n/usr/bin/c++ CMakeFiles/t.dir/c.cpp.o -o bin/t/a\n": [],
                f"{folder}/d.c:3:1: error: no\n": ["x/d.c"],
                f"{folder}/c.cpp:3:1: warning: so\n": [],
                "a.cu(3): error: no\n": ["a.cu"]}.items():
            with self.subTest(text=text):
                self.assertEqual(one_file.failed_files(source, text, one_file.lines_of_files(source, text)), wrong)

    def test_hints(self) -> None:
        source = one_file.Source("mine.cu", ROOT / "chapters/00_first_steps/01_hello.cu")
        for text, advice in {
                "mine.cu:3:5: error: \u2018cudaThreadExit\u2019 was not declared":
                    "CUDA 13 has no cudaThreadExit(); use cudaDeviceReset()",
                'mine.cu(3): error: identifier "cudaThreadSynchronize" is undefined':
                    "CUDA 13 has no cudaThreadSynchronize(); use cudaDeviceSynchronize()",
                "mine.cu:3:5: error: use of undeclared identifier 'cudaUnbindTexture'":
                    "CUDA 13 has no cudaUnbindTexture(); use texture objects",
                "mine.cu:3:5: error: no member named 'clockRate' in 'cudaDeviceProp'":
                    "cudaDeviceProp has no clockRate in CUDA 13; use cudaDeviceGetAttribute(&value, cudaDevAttrClockRate",
                "mine.cu:3:5: error: no member named 'clockRate' in 'Mine'": "",
                "mine.cu:3:5: warning: cudaThreadExit": ""}.items():
            with self.subTest(text=text):
                found = one_file.hint(source, text)
                self.assertTrue(found.startswith(advice) if advice else not found, found)

    def test_architectures(self) -> None:
        self.assertEqual(one_file.gencode("86-real"), ["-gencode=arch=compute_86,code=sm_86"])
        self.assertEqual(one_file.gencode("90-virtual"),
                         ["-gencode=arch=compute_90,code=compute_90"])
        self.assertEqual(one_file.gencode("80"),
                         ["-gencode=arch=compute_80,code=[sm_80,compute_80]"])
        self.assertEqual(one_file.gencode("all-major"), ["-arch=all-major"])


if __name__ == "__main__":
    unittest.main()
