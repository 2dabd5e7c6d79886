"""Kernels that launch kernels need relocatable device code: the files that a CMakeLists.txt names with DEVICE_LINK are
compiled and linked for it, and nothing else is compiled in another way."""

import json
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Dict

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common" / "python"))

from course import machine  # noqa: E402

PROJECT = f"""
cmake_minimum_required(VERSION 3.24)
project(device_link LANGUAGES CXX)
include("{ROOT}/common/cmake/course.cmake")
option(LINK "" OFF)
if(LINK)
  set(named 02_children 03_more 1_mine 05_alone)
elseif(MISSPELLED)
  set(named 02_children.cu)
endif()
function(version_and_exercise)  # as course_chapter() does
  set(COURSE_DEVICE_LINK ${{named}})
  course_objects(objects version "" 01_plain 02_children 03_more)
  add_executable(program main.cpp)
  course_add_code(program ${{objects}})
  file(MAKE_DIRECTORY exercises)
  file(WRITE exercises/main.cpp "int main() {{}}")
  course_exercise(version submission_s001 1 s001.cu "")
endfunction()
version_and_exercise()
course_programs(NAME alone PROGRAMS 04_alone 05_alone DEVICE_LINK ${{named}})
"""
PLAIN = """
__global__ void plain(int* p) { *p += 1; }
void launch_plain(int* p) { plain<<<1, 1>>>(p); }
"""
CHILDREN = """
__global__ void child(int* p) { atomicAdd(p, 1); }
__global__ void parent(int* p) {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  child<<<1, 1, 0, stream>>>(p);
  cudaStreamDestroy(stream);
  child<<<1, 1, 0, cudaStreamFireAndForget>>>(p);
  child<<<1, 1, 0, cudaStreamTailLaunch>>>(p);
  if (cudaGetLastError() != cudaSuccess) *p = -1;
}
void launch_children(int* p) { parent<<<1, 1>>>(p); }
"""
MORE = CHILDREN.replace("launch_children", "launch_more").replace("child", "grandchild").replace("parent", "grandparent")
# Weak names, as rows have them: it must be seen that a version is not in the build.
MAIN = """
__attribute__((weak)) void launch_plain(int* p);
__attribute__((weak)) void launch_children(int* p);
__attribute__((weak)) void launch_more(int* p);
int main(int count, char**) {
  if (!launch_plain || !launch_children || !launch_more) return 2;
  if (count > 1) launch_plain(nullptr), launch_children(nullptr), launch_more(nullptr);
}
"""


@unittest.skipUnless(machine.probe_nvcc().ok, "needs nvcc")
class DeviceLink(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = Path(folder.name) / "source"
        self.source.mkdir()
        files = {"CMakeLists.txt": PROJECT, "main.cpp": MAIN, "01_plain.cu": PLAIN, "02_children.cu": CHILDREN,
                 "03_more.cu": MORE, "04_alone.cu": "int main() {}\n", "05_alone.cu": CHILDREN + "int main() {}\n",
                 "1_mine.cu": CHILDREN, "s001.cu": CHILDREN}
        for name, text in files.items():
            (self.source / name).write_text(text, encoding="utf-8")

    def call(self, *command: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              timeout=600)

    def configure(self, link: str) -> Path:
        build = self.source.parent / f"build_{link}"
        done = self.call("cmake", "-S", str(self.source), "-B", str(build), "-DCOURSE_BACKEND=cuda",
                         f"-DCMAKE_CUDA_COMPILER={machine.probe_nvcc().where}", f"-DLINK={link}")
        self.assertEqual(done.returncode, 0, done.stdout[-3000:])
        return build

    def commands(self, build: Path) -> Dict[str, str]:
        """How each .cu file is compiled, without the names of its object and of the build folder."""
        found = {}
        for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
            words = shlex.split(entry["command"])
            if entry["file"].endswith(".cu"):
                words[words.index("-o") + 1] = "object"
                found[Path(entry["file"]).name] = " ".join(words).replace(str(build), "BUILD")
        return found

    def test_other_files_are_compiled_as_before(self) -> None:
        without, with_link = self.commands(self.configure("OFF")), self.commands(self.configure("ON"))
        self.assertEqual(set(without), set(with_link))
        changed = {name for name, command in with_link.items() if command != without[name]}
        self.assertEqual(changed, {"02_children.cu", "03_more.cu", "05_alone.cu", "s001.cu"})
        relocatable = {name for name, command in with_link.items() if "-rdc=true" in command}
        self.assertEqual(relocatable, changed)
        self.assertIn("device_ops.cu", without)  # common/ is looked at, too

    def test_a_name_that_no_file_has(self) -> None:
        done = self.call("cmake", "-S", str(self.source), "-B", str(self.source.parent / "build"),
                         "-DCOURSE_BACKEND=cpu", "-DMISSPELLED=ON")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("DEVICE_LINK names 02_children.cu, and there is no 02_children.cu.cu", " ".join(done.stdout.split()))

    def test_links(self) -> None:
        build = self.configure("ON")
        done = self.call("cmake", "--build", str(build), "--target", "program", "alone_05_alone")
        self.assertEqual(done.returncode, 0, done.stdout[-3000:])
        for name in ("program", "alone/05_alone"):
            done = self.call(str(build / "bin" / name))
            self.assertEqual(done.returncode, 0, f"{name}: {done.stdout}")

    def test_without_the_word_nvcc_says_why(self) -> None:
        done = self.call("cmake", "--build", str(self.configure("OFF")), "--target", "version_02_children")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("separate compilation mode", done.stdout)


if __name__ == "__main__":
    unittest.main()
