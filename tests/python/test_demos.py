"""Tests of the demos: their sources, and what they print.

That each shows what it wants to show is a test of its own, made by course_demos() in
common/cmake/course.cmake. COURSE_BIN names the folder of the built programs, COURSE_BACKEND what
they were built for.
"""

from __future__ import annotations

import os
import re
import subprocess
import unittest
from pathlib import Path
from typing import Dict, List

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("COURSE_BIN", "nowhere"))
ON_CPU = os.environ.get("COURSE_BACKEND") == "cpu"
FOUND = 66  # exit code of a program in which the CPU backend found a mistake
CHECK = re.compile(r"/// Ends the program if a CUDA call.*?#define CHECK\(call\)[^\n]*", re.DOTALL)
STANDARD = re.compile(r"<(c?[a-z_]+|cuda/(atomic|barrier|ptx)|cuda_pipeline\.h|sys/wait\.h|unistd\.h|cooperative_groups(/reduce)?\.h)>")
# The header that the demo is about.
LOCAL = {"rules": '"../tensor_map.hpp"', "separate": '"../separate.hpp"'}
PICTURES = '"image/pnm.hpp"'  # links nothing, and needs -I common


def demos() -> List[Path]:
    return sorted(ROOT.glob("chapters/[0-9][0-9]_*/demos/*.cu"))


def program(demo: Path) -> Path:
    return BIN / f"{demo.parents[1].name}_demo_{demo.stem}"


def find(name: str) -> Path:
    (demo,) = [demo for demo in demos() if demo.stem == name]
    return demo


def run(name: str, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([str(program(find(name))), *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=60, check=False,
                          env={**os.environ, **environment})


class Sources(unittest.TestCase):
    def test_every_demo_is_listed(self) -> None:
        for chapter in {demo.parents[1] for demo in demos()}:
            text = (chapter / "CMakeLists.txt").read_text(encoding="utf-8")
            listed = re.search(r"\bDEMOS\s+([a-z_:+\s]+?)\s*(\)|\b[A-Z_]+\b)", text)
            assert listed, f"{chapter.name} builds no demos"
            names = sorted(entry.partition(":")[0] for entry in listed.group(1).split())
            self.assertEqual(sorted(file.stem for file in chapter.glob("demos/*.cu")), names)

    def test_first_line_is_a_sentence(self) -> None:
        """chapters/run --demo list shows it, on a line of at most 100 columns with the name."""
        for demo in demos():
            first = demo.read_text(encoding="utf-8").partition("\n")[0]
            self.assertRegex(first, r"^// .*\.$", demo.name)
            self.assertLessEqual(len(first), 78, demo.name)

    def test_each_file_stands_alone(self) -> None:
        for demo in demos():
            includes = re.findall(r"#\s*include\s*(.*)", demo.read_text(encoding="utf-8"))
            others = [name for name in includes if not STANDARD.fullmatch(name)
                      and name not in (LOCAL.get(demo.stem), PICTURES)]
            self.assertEqual([], others, demo.name)

    def test_check_is_that_of_the_first_steps(self) -> None:
        first = ROOT / "chapters" / "00_first_steps" / "02_vector_add.cu"
        (check,) = CHECK.findall(first.read_text(encoding="utf-8"))
        for demo in demos():
            self.assertEqual([check], CHECK.findall(demo.read_text(encoding="utf-8")), demo.name)


@unittest.skipUnless(all(map(Path.exists, map(program, demos()))), "the demos are not built")
class Programs(unittest.TestCase):
    def test_bad_arguments(self) -> None:
        for demo in demos():
            with self.subTest(demo.stem):
                done = run(demo.stem, "--bogus")
                self.assertEqual(2, done.returncode, done)
                self.assertEqual("", done.stdout)
                said = rf"^{demo.stem}: bad argument '--bogus'; usage: .*\n$"
                self.assertRegex(done.stderr, said)

    @unittest.skipUnless(ON_CPU, "a GPU has times")
    def test_who_has_no_times_says_what_is_recorded(self) -> None:
        empty = {demo.stem: done.stdout for demo in demos() if "has_times" in demo.read_text()
                 for done in [run(demo.stem)]}
        self.assertGreaterEqual(len(empty), 5)
        for name, out in empty.items():
            self.assertRegex(out, r"(?m)( {6}-  right$|,-$)", name)
            last = out.partition("no times" if "no times" in out else "no clocks")[2]
            self.assertIn("recorded", last, name)
            for table in re.findall(r"\S+\.csv", last):
                self.assertTrue((find(name).parents[1] / "results" / table).is_file())

    @unittest.skipUnless(ON_CPU, "only the CPU backend counts")
    def test_as_many_atomics_as_it_says(self) -> None:
        done = run("every_thread_atomic", SIMT_COUNT="1")
        said = {name: int(count) for name, count in
                re.findall(r"(?m)^(thread|warp|block) +(\d+) ", done.stdout)}
        counted: Dict[str, int] = {}
        for text in re.split(r"(?m)^(?=\S+: \d+ launch)", done.stderr):
            row = re.search(r"global atomic +4 +(\d+) +([\d.]+)", text)
            if row:
                counted[text.partition(":")[0]] = round(int(row.group(1)) * float(row.group(2)))
        self.assertEqual({f"add_{name}s": count for name, count in said.items()}, counted,
                         done.stdout + done.stderr)
        self.assertEqual(3, len(counted))

    @unittest.skipUnless(ON_CPU, "what a GPU shows is undefined")
    def test_barriers_one_by_one(self) -> None:
        kinds = {"a": [], "b": ["barrier", "race"], "c": ["barrier", "race"], "d": ["barrier"],
                 "e": ["barrier", "race"]}
        for placement, expected in kinds.items():
            done = run("barrier_in_branch", placement)
            found = sorted(set(re.findall(r"simt: ([a-z ]+):", done.stderr)))
            self.assertEqual(expected, found, done.stderr)
            self.assertEqual(FOUND if expected else 0, done.returncode)
            self.assertRegex(done.stdout, rf"^{placement}: .*(right|wrong)[^\n]*\n$")

    @unittest.skipUnless(ON_CPU, "the order of a GPU cannot be chosen")
    def test_in_place_is_wrong_in_another_order(self) -> None:
        done = run("in_place_race", SIMT_ORDER="reverse")
        rows = re.findall(r"(?m)^(.*?), (two arrays|in place) +\d+ +(\d+)$", done.stdout)
        self.assertEqual(6, len(rows), done.stdout)
        for _, where, wrong in rows:
            self.assertEqual(where == "in place", int(wrong) > 0, done.stdout)
        self.assertEqual(FOUND, done.returncode)


if __name__ == "__main__":
    unittest.main()
