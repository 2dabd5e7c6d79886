"""Two neighbouring versions whose machine code is equal are no step: the lesson would explain nothing."""
from __future__ import annotations

import re
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Dict, List

from tools import find_nvcc

ROOT = Path(__file__).resolve().parents[2]


def kernels(elf: bytes) -> Dict[str, bytes]:
    """The code of the kernels of a cubin, by their mangled names: its sections .text.NAME."""
    table, entry, count, names = struct.unpack_from("<Q", elf, 0x28)[0], *struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", elf, table + k * entry) for k in range(count)]
    strings = headers[names][4]
    code = {}
    for name, _, _, _, offset, size in headers:
        start = strings + name
        section = elf[start:elf.index(b"\0", start)].decode()
        if section.startswith(".text."):
            code[section[len(".text."):]] = elf[offset:offset + size]
    return code


def text_sections(elf: bytes) -> List[bytes]:
    """The code of the kernels of a cubin, without their names, sorted."""
    return sorted(kernels(elf).values())


def versions(chapter: Path) -> List[Path]:
    return sorted(chapter.glob("[0-7][0-9]_*.cu"))


def options(file: Path) -> List[str]:
    """What the file's chapter has nvcc do for it beyond the ordinary: its DEVICE_LINK."""
    declared = file.parent / "CMakeLists.txt"
    text = declared.read_text(encoding="utf-8") if declared.exists() else ""
    linked = re.search(r"\bDEVICE_LINK\b([^A-Z)]*)", text)
    return ["-rdc=true"] if linked and file.stem in linked[1].split() else []


@unittest.skipUnless(find_nvcc(), "no nvcc")
class Neighbours(unittest.TestCase):
    def test_neighbouring_versions_differ(self) -> None:
        for chapter in sorted((ROOT / "chapters").glob("[0-9][0-9]_*")):
            if not (chapter / "versions.cpp").exists():
                continue
            with self.subTest(chapter=chapter.name), tempfile.TemporaryDirectory() as folder:
                code = self.compile(versions(chapter), Path(folder))
                names = list(code)
                for before, after in zip(names, names[1:]):
                    self.assertNotEqual(code[before], code[after],
                                        f"{before} and {after} are the same machine code")

    def compile(self, files: List[Path], folder: Path) -> Dict[str, List[bytes]]:
        """Machine code for compute capability 9.0, two compilers at a time."""
        code: Dict[str, List[bytes]] = {}
        for first in range(0, len(files), 2):
            running = [(file, folder / (file.stem + ".cubin")) for file in files[first:first + 2]]
            compilers = [subprocess.Popen([find_nvcc(), "-std=c++17", "-O3", "-cubin", "-arch=sm_90a",
                                           *options(file), "-o", str(cubin), str(file)]) for file, cubin in running]
            for (file, cubin), compiler in zip(running, compilers):
                self.assertEqual(0, compiler.wait(), f"{file.name} does not compile")
                code[file.name] = text_sections(cubin.read_bytes())
                self.assertTrue(code[file.name], f"{file.name} has no kernel")
        return code

    def test_the_comparison_can_fail(self) -> None:
        """A version copied under another name is found."""
        source = ROOT / "chapters" / "01_vector_add" / "02_one_thread_per_element.cu"
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "03_renamed.cu"
            copy.write_text(source.read_text().replace("add_one", "add_uno"))
            code = self.compile([source, copy], Path(folder))
        self.assertEqual(code[source.name], code[copy.name])


@unittest.skipUnless(find_nvcc(), "no nvcc")
class Templates(unittest.TestCase):
    """What chapter 02's demo of templates says of % and &."""

    def test_a_constant_block_size_makes_a_remainder_a_mask(self) -> None:
        source = ROOT / "chapters" / "02_reduction" / "demos" / "templates.cu"
        with tempfile.TemporaryDirectory() as folder:
            cubin = Path(folder) / "templates.cubin"
            subprocess.run([find_nvcc(), "-std=c++17", "-O3", "-cubin", "-arch=sm_90",
                            "-o", str(cubin), str(source)], check=True)
            code = kernels(cubin.read_bytes())

        def kernel(block_size: str, test: str) -> bytes:
            (name,) = [name for name in code if f"reduce_{block_size}" in name and test in name]
            return code[name]

        self.assertEqual(4, len(code))
        self.assertEqual(kernel("constant", "Remainder"), kernel("constant", "Mask"))
        self.assertNotEqual(kernel("variable", "Remainder"), kernel("variable", "Mask"))


if __name__ == "__main__":
    unittest.main()
