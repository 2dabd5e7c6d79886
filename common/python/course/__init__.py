"""What the scripts of the course share: the root folder, messages, and how a script ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Callable, List

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / "build"
LONGEST_CELL = 200  # characters


class Problem(Exception):
    """An error that the user must read: one line that says what is wrong and what to do."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


def say(text: str = "") -> None:
    """Print at once, so that the order stays right when the programs we start print too."""
    print(text, flush=True)


def shown(path: os.PathLike) -> str:
    """A path as the user would type it: relative if that is shorter."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith(os.path.join("..", "..")) else relative


def one_line(text: str) -> str:
    """A text from outside as a table can take it: in one line, nothing that moves the cursor."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def as_cell(text: str, longest: int = LONGEST_CELL) -> str:
    """A text from outside for one cell of a spreadsheet: in one line, no formula, not endless."""
    line = one_line(text)[:longest]
    return f"'{line}" if line[:1] in tuple("=+-@") else line


# What the programs that a script starts ask of glibc: to keep the pages of a freed array, and to take large ones.
# Tests make and free many arrays; to get and clear fresh pages took longer than the kernels.
KEEPS_PAGES = "glibc.malloc.mmap_threshold=4294967296:glibc.malloc.trim_threshold=8589934592:glibc.malloc.hugetlb=1"


def finish(script: str, main: Callable[[List[str]], int]) -> None:
    """Run a script's main and leave with its code; problems and Ctrl-C take one line each."""
    os.environ.setdefault("GLIBC_TUNABLES", KEEPS_PAGES)
    try:
        code = main(sys.argv[1:])
    except Problem as problem:
        print(f"{script}: {problem}", file=sys.stderr)
        code = problem.code
    except KeyboardInterrupt:
        print(f"\n{script}: interrupted", file=sys.stderr)
        code = 130
    except BrokenPipeError:  # `| head` closed the pipe; keep the interpreter quiet about it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141
    except OSError as error:  # a full or read-only disk, a file that is gone
        print(f"{script}: {error}", file=sys.stderr)
        code = 1
    sys.exit(code)
