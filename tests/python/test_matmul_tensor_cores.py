"""No wgmma of chapter 11 waits for the one before: ptxas says so where it makes them, and only then.

An accumulator that is touched while it is summed up, a call, too few registers: then ptxas puts a wait behind each
wgmma ("wgmma.mma_async instructions are serialized", C7510 and its neighbours), and the kernel is right but slow.
"""
from __future__ import annotations

import re
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Dict, List

from tools import find_nvcc

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = ROOT / "chapters" / "11_matmul_tensor_cores"
# All that ptxas says of wgmma has such a number.
WARNING = re.compile(r".*(?:\(C75\d\d\)|wgmma\.mma_async instructions are serialized).*")

# An accumulator is added to between two wgmma that belong together.
SERIALIZED = r"""
#include <cstdint>

__global__ void touches(float* out, std::uint64_t a, std::uint64_t b) {
  float d[4] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int k = 0; k < 4; ++k) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "l"(a + k), "l"(b));
    TOUCH;
  }
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
  for (int i = 0; i < 4; ++i) out[4 * threadIdx.x + i] = d[i];
}
"""


def hopper_only() -> List[Path]:
    """The chapter's files with wgmma, as its CMakeLists.txt lists them."""
    text = (CHAPTER / "CMakeLists.txt").read_text(encoding="utf-8")
    listed = re.search(r"\bHOPPER_ONLY\b([^A-Z)]*)", text)
    return [CHAPTER / (stem + ".cu") for stem in listed[1].split()] if listed else []


def compilers_say(files: List[Path], folder: Path, options: List[str]) -> Dict[str, str]:
    """What nvcc says of each file, two at a time; it has to compile."""
    said: Dict[str, str] = {}
    for first in range(0, len(files), 2):
        running = [(file, subprocess.Popen(
            [find_nvcc(), "-std=c++17", "-O3", "-gencode=arch=compute_90a,code=sm_90a", "-cubin", *options,
             "-o", str(folder / (file.stem + ".cubin")), str(file)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)) for file in files[first:first + 2]]
        for file, compiler in running:
            said[file.name] = compiler.communicate()[0]
            if compiler.returncode != 0:
                raise AssertionError(f"{file.name} does not compile: {said[file.name]}")
    return said


@unittest.skipUnless(find_nvcc(), "no nvcc")
class Serialized(unittest.TestCase):
    def test_no_wgmma_waits_for_the_one_before(self) -> None:
        files = hopper_only()
        self.assertTrue(files, "HOPPER_ONLY names no file")
        with tempfile.TemporaryDirectory() as folder:
            said = compilers_say(files, Path(folder), ["-lineinfo"])  # as the course builds them
        for name, text in said.items():
            with self.subTest(file=name):
                self.assertEqual([], WARNING.findall(text))

    def test_the_warning_is_seen(self) -> None:
        """A kernel that touches its accumulators too early has the warning; one that does not, has none."""
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder) / "touches.cu", Path(folder) / "leaves.cu"]
            for file, touch in zip(files, ("d[0] += 1", "")):
                file.write_text(SERIALIZED.replace("TOUCH", touch), encoding="utf-8")
            said = compilers_say(files, Path(folder), [])
        self.assertRegex("\n".join(WARNING.findall(said["touches.cu"])), "serialized")
        self.assertEqual([], WARNING.findall(said["leaves.cu"]))


class Listed(unittest.TestCase):
    def test_all_files_with_wgmma_are_looked_at(self) -> None:
        files = hopper_only()
        self.assertTrue(files, "HOPPER_ONLY names no file")
        for file in files:
            self.assertTrue(file.exists(), f"{file.name} is listed in CMakeLists.txt and absent")


if __name__ == "__main__":
    unittest.main()
