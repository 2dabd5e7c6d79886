"""A chapter made of docs/template by the lines of docs/contributing.md builds, passes its tests, and
lacks nothing."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common" / "python"))

from course import complete  # noqa: E402

NAME = "31_scale"
COPIED = ("chapters", "common", "docs", "tests", "README.md", "CMakeLists.txt")


class Template(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name) / "course"
        self.root.mkdir()
        ignored = shutil.ignore_patterns("__pycache__", "my")
        for name in COPIED:
            copy = shutil.copyfile if (ROOT / name).is_file() else shutil.copytree
            extra = {} if (ROOT / name).is_file() else {"ignore": ignored}
            copy(ROOT / name, self.root / name, **extra)
        self.follow_the_guide()

    def run_here(self, *command, **options):
        done = subprocess.run(command, cwd=self.root, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, timeout=600,
                              **options)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout[-4000:]}")
        return done.stdout

    def follow_the_guide(self):
        """The commands of the section, as they stand there, and its row for the front page."""
        guide = (ROOT / "docs/contributing.md").read_text(encoding="utf-8")
        section = guide[guide.index("## Add a chapter"):]
        commands = re.search(r"```bash\n(.*?)```", section, re.S)
        row = re.search(r"```text\n(.*?)```", section, re.S)
        self.assertIn(f"name={NAME}", commands[1])
        self.run_here("bash", "-euc", commands[1])
        front = self.root / "README.md"
        text = front.read_text(encoding="utf-8")
        last = re.findall(r"^\| .*\|$", text, re.M)[-1]
        front.write_text(text.replace(last, f"{last}\n{row[1].strip()}"), encoding="utf-8")

    def test_lacks_nothing(self):
        self.assertEqual(complete.absent(self.root), [])
        for file in (self.root / "chapters" / NAME).rglob("*.*"):
            self.assertNotRegex(file.read_text(encoding="utf-8"), r"\bNN|\bname[.]hpp", file)

    @unittest.skipUnless(os.environ.get("COURSE_BACKEND") == "cpu" and shutil.which("cmake"),
                         "it is built where the CPU backend is tested")
    def test_builds_and_passes_its_tests(self):
        build = self.root / "build"
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        engine = Path(os.environ.get("COURSE_BUILD", "")) / "libsimt.a"
        ready = [f"-DSIMT_BUILT={engine}"] if engine.is_file() else []  # saves half a minute
        self.run_here("cmake", "-S", f"chapters/{NAME}", "-B", str(build), *generator, *ready,
                      "-DCOURSE_BACKEND=cpu")
        self.run_here("cmake", "--build", str(build), "--parallel", "2", "--target", NAME,
                      f"{NAME}_test", f"{NAME}_starter_1", f"{NAME}_solution_1", "mutants")
        said = self.run_here(str(build / "bin" / NAME), "--check")
        self.assertRegex(said, r"01_first .* ok")
        self.run_here("ctest", "--test-dir", str(build), "--no-tests=error", "-j", "2")


if __name__ == "__main__":
    unittest.main()
