"""Tools that tests use where they are there."""
from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common" / "python"))

from course import machine  # noqa: E402


def find_nvcc() -> str:
    """The nvcc that the course would take, if it is one that can compile the course; else nothing."""
    found = machine.probe_nvcc()
    return found.where if found.ok else ""
