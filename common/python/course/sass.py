"""Machine code of a GPU as nvdisasm or cuobjdump print it: its instructions, loops and registers.

The clocks in `clocks_of` are a model that chapter 06 explains (chapters/06_nbody/more.md,
"Register banks"): no documentation describes it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, FrozenSet, Iterable, List, Optional, Sequence, Tuple

from course import Problem

INSTRUCTION = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9]*)(\S*)([^;]*);")
LABEL = re.compile(r"^\s*(\.L\w+):")
KERNEL = re.compile(r"^\s*(?:\.text\.(\S+):|Function : (\S+))")
SOURCE = re.compile(r"(?<![A-Z])R(\d+)")  # neither UR5, a uniform register, nor RZ, which is zero
TARGET = re.compile(r"\((\.L\w+)\)|\b0x([0-9a-f]+)\b")
BACKLOG = 1  # clocks of reading that may be left over when the next instruction starts


@dataclass
class Instruction:
    address: int
    opcode: str  # up to the first dot
    modifiers: str
    target: Optional[int] = None  # of a branch
    sources: FrozenSet[int] = frozenset()  # the numbers of the registers that it reads
    operands: str = ""  # as printed


def sources_of(operands: str) -> FrozenSet[int]:
    """The registers in all operands but the first, where the result goes."""
    return frozenset(int(number) for operand in operands.split(",")[1:]
                     for number in SOURCE.findall(operand))


def reads(instruction: Instruction) -> Tuple[int, int]:
    """How many registers with even and with odd numbers it reads."""
    odd = sum(number % 2 for number in instruction.sources)
    return len(instruction.sources) - odd, odd


def clocks_of(body: Sequence[Instruction], turns: int = 8) -> float:
    """Clocks of an iteration of the loop in the model of the banks, once it runs steadily."""
    ends: List[int] = []
    start, handed_over = -1, [0, 0]
    for _ in range(turns):
        for instruction in body:
            start = max(start + 1, max(handed_over) - BACKLOG)
            handed_over = [max(end, start) + count
                           for end, count in zip(handed_over, reads(instruction))]
        ends.append(start)
    return (ends[-1] - ends[0]) / (turns - 1)


def kernels(sass: str) -> Dict[str, List[Instruction]]:
    """The instructions of every kernel in a disassembly of nvdisasm or cuobjdump."""
    found: Dict[str, List[Instruction]] = {}
    code: List[Instruction] = []
    labels: Dict[str, int] = {}
    jumps: List[Tuple[Instruction, str]] = []
    waiting: List[str] = []  # labels of the instruction to come
    for line in sass.splitlines():
        kernel = KERNEL.match(line)
        if kernel:
            code = found.setdefault(kernel[1] or kernel[2], [])
            continue
        label = LABEL.match(line)
        if label:
            waiting.append(label[1])
            continue
        match = INSTRUCTION.search(line)
        if not match:
            continue
        instruction = Instruction(int(match[1], 16), match[2], match[3],
                                  sources=sources_of(match[4]), operands=match[4].strip())
        labels.update({name: instruction.address for name in waiting})
        waiting = []
        code.append(instruction)
        target = TARGET.search(match[4])
        if match[2] == "BRA" and target:
            if target[1]:
                jumps.append((instruction, target[1]))
            else:
                instruction.target = int(target[2], 16)
    for instruction, name in jumps:
        instruction.target = labels.get(name)
    return found


def loops(code: Sequence[Instruction]) -> Iterable[List[Instruction]]:
    """The code between the target of a backward branch and the branch."""
    for branch in code:
        if branch.target is not None and branch.target < branch.address:
            yield [i for i in code if branch.target <= i.address <= branch.address]


def demangled(name: str) -> str:
    """'sum_up<4, true>' of '_ZN6folded6sum_upILi4ELb1EEvPKf': the last name and its numbers."""
    parts, rest = [], re.sub(r"^_ZN?", "", name)
    while True:
        match = re.match(r"(\d+)", rest)
        if not match:
            break
        end = match.end() + int(match[1])
        parts.append(rest[match.end():end])
        rest = rest[end:]
    arguments = re.match(r"I((?:L[a-z]\d+E)+)E", rest)
    values = re.findall(r"L([a-z])(\d+)E", arguments[1]) if arguments else []
    texts = [("true" if value == "1" else "false") if kind == "b" else value
             for kind, value in values]
    return (parts[-1] if parts else name) + (f"<{', '.join(texts)}>" if texts else "")


def tool(*names: str) -> str:
    """The path of the first of the toolkit's programs that exists; empty if none does."""
    folders = [os.environ.get(name, "") + "/bin" for name in ("CUDA_HOME", "CUDA_PATH")]
    search = os.pathsep.join([os.environ.get("PATH", ""), *folders, "/usr/local/cuda/bin"])
    return next(filter(None, (shutil.which(name, path=search) for name in names)), "")


def disassemble(file: Path) -> str:
    """The machine code of a version for compute capability 9.0."""
    nvcc, disassembler = tool("nvcc"), os.environ.get("NVDISASM") or tool("nvdisasm", "cuobjdump")
    if not nvcc or not disassembler:
        missing = "nvcc" if not nvcc else "nvdisasm and cuobjdump"
        raise Problem(f"{missing}: not found; the CUDA toolkit has them, put its bin/ into PATH", 3)
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder) / "version.cubin"
        compiled = subprocess.run([nvcc, "-std=c++17", "-O3", "-cubin", "-arch=sm_90a", "-o",
                                   str(cubin), str(file)], stderr=subprocess.PIPE, text=True)
        if compiled.returncode:
            raise Problem(f"{file.name} does not compile: {compiled.stderr.strip()}")
        option = "--dump-sass" if Path(disassembler).name.startswith("cuobjdump") else "-c"
        done = subprocess.run([disassembler, option, str(cubin)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise Problem(f"{disassembler} failed: {done.stderr.strip()}")
        return done.stdout


def compiler() -> str:
    """'nvcc 13.0'."""
    text = subprocess.run([tool("nvcc"), "--version"], stdout=subprocess.PIPE, text=True).stdout
    release = re.search(r"release ([\d.]+)", text)
    return f"nvcc {release[1] if release else '?'}"
