"""Every C++ and CUDA source is formatted by clang-format 14 with the .clang-format of the root."""
import re
import shutil
import subprocess
import unittest
from pathlib import Path
from typing import List, Optional

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = {".cu", ".cuh", ".hpp", ".h", ".cpp"}
NOT_OURS = {"build", "my", ".git"}


def clang_format() -> Optional[str]:
    """A clang-format of version 14: other versions format differently."""
    for name in ("clang-format-14", "clang-format"):
        path = shutil.which(name)
        if path:
            said = subprocess.run([path, "--version"], stdout=subprocess.PIPE, text=True).stdout
            if re.search(r"version 14\.", said):
                return path
    return None


def sources() -> List[str]:
    """The sources that git tracks or would track; without git, all but build/ and my/."""
    command = ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", "-z"]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        listed = [ROOT / name for name in done.stdout.split("\0") if name]
    except OSError:
        listed = []
    files = [f for f in listed or sorted(ROOT.rglob("*")) if f.suffix in SUFFIXES and f.is_file()]
    return [str(f) for f in files if not NOT_OURS & set(f.relative_to(ROOT).parts)]


class Format(unittest.TestCase):
    def test_sources(self) -> None:
        tool = clang_format()
        if not tool:
            self.skipTest("clang-format 14 is not installed")
        files = sources()
        self.assertTrue(files, "no sources found")
        command = [tool, "--dry-run", "-Werror", "--style=file", *files]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, cwd=str(ROOT))
        wrong = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", done.stderr, re.M)))
        names = " ".join(str(Path(name).relative_to(ROOT)) for name in wrong)
        self.assertEqual(done.returncode, 0, f"to mend it: clang-format-14 -i {names}")


if __name__ == "__main__":
    unittest.main()
