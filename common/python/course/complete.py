"""The files that a chapter must have, and those it lacks: nothing may be missing without a
message."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Iterator, List, Set

from .pages import UNRECORDED, recorded

WANTED = 6  # exercises of a complete chapter
HEADING = re.compile(r"# Exercise [0-9]: .+ \([0-9]+ minutes\)\n")
FOLDER = re.compile(r"[0-9][0-9]_\w+")


def is_ladder(folder: Path) -> bool:
    """True for a chapter of rows, false for one of programs with a main() of their own."""
    file = folder / "CMakeLists.txt"
    return not file.exists() or "course_chapter(" in file.read_text(encoding="utf-8")


def read(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.exists() else ""


def lesson(root: Path, folder: Path) -> Iterator[str]:
    """The page, and the links to it."""
    text = read(folder / "README.md")
    if not text:
        yield "no README.md"
    elif not re.search(rf"^# {folder.name[:2]} \S", text, re.MULTILINE):
        yield f"the first heading of README.md is not '# {folder.name[:2]} Title: ...'"
    if f"[{folder.name[:2]}](chapters/{folder.name}/README.md)" not in read(root / "README.md"):
        yield "no row of the table in the front page, README.md, leads to it"


def sources(folder: Path) -> Iterator[str]:
    """Every .cu file is built, and every version is described."""
    build = re.sub(r"[():]", " ", read(folder / "CMakeLists.txt")).split()
    pages = read(folder / "README.md") + read(folder / "more.md")
    for file in sorted(folder.glob("*.cu")) + sorted(folder.glob("studies/*.cu")) + sorted(
            folder.glob("demos/*.cu")):
        name = str(file.relative_to(folder).with_suffix(""))
        if name not in build and file.stem not in build:
            yield f"{name}.cu is not in CMakeLists.txt"
        if file.parent == folder and re.match(r"[0-9][0-9]_", name) and file.name not in pages:
            yield f"{name}.cu is in no page"


def pictures(root: Path) -> Set[Path]:
    """The pictures and the data of drawn pages that some page shows."""
    pages = [root / "README.md", *root.glob("chapters/*/*.md"), *root.glob("docs/*.md")]
    return {(page.parent / name).resolve() for page in pages
            for name in re.findall(r'[("]([^()"\s]+\.(?:svg|json))', read(page))}


def unseen(folder: Path, seen: Set[Path]) -> Iterator[str]:
    """Recorded plots and pages that are not among those that pages show."""
    for file in sorted([*folder.glob("results/*.svg"), *folder.glob("results/drawn/*.svg"),
                        *folder.glob("results/drawn/page-*.json")]):
        if file.resolve() not in seen:
            yield f"{file.relative_to(folder)} is on no page"


def unexplained(folder: Path) -> Iterator[str]:
    """Tables whose first line does not name the source of the figures."""
    for file in sorted(folder.glob("results/**/*.csv")):
        if not read(file).startswith("# "):
            yield f"{file.relative_to(folder)} does not begin with '# ' and where it comes from"


def exercises(folder: Path) -> Iterator[str]:
    """Each starter has a task with its minutes, a solution, and a link; there is one at least."""
    starters = sorted((folder / "exercises").glob("[0-9]_*.cu"))
    if not starters:
        yield "no exercises/1_name.cu"
    for starter in starters:
        for other in (starter.with_suffix(".md"), starter.parent / "solution" / starter.name):
            if not other.exists():
                yield f"no {other.relative_to(folder)}"
        page = starter.with_suffix(".md")
        if page.exists() and not HEADING.match(read(page)):
            yield f"{page.relative_to(folder)} does not begin with '# Exercise N: title (M minutes)'"
        if f"(exercises/{page.name})" not in read(folder / "README.md"):
            yield f"README.md does not lead to {page.relative_to(folder)}"
    if 0 < len(starters) < WANTED and UNRECORDED not in read(folder / "README.md"):
        yield f"{len(starters)} exercises: there should be {WANTED}"


def ladder(root: Path, folder: Path) -> Iterator[str]:
    """What only a chapter of rows must have."""
    yield from exercises(folder)
    if not (folder / "versions.cpp").exists():
        yield "no versions.cpp"
    mutants = root / "tests" / "mutants" / f"{folder.name[:2]}.json"
    if not mutants.exists() or not json.loads(read(mutants)).get("mutants"):
        yield f"no {mutants.relative_to(root)} with bugs to plant"
    if not (root / "tests" / f"{folder.name}_test.cpp").exists():
        yield f"no tests/{folder.name}_test.cpp"
    if UNRECORDED not in read(folder / "README.md"):
        for ending in (".json", "-sequence.svg"):
            file = recorded(folder, ending)
            if not file.exists():
                yield f"no results/{file.name} (nor '{UNRECORDED}' in README.md)"


def programs(root: Path, folder: Path) -> Iterator[str]:
    """What only a chapter of programs must have: a test with its name; exercises, if any."""
    if (folder / "exercises").exists():
        yield from exercises(folder)
    tests = [*root.glob("tests/*.cpp"), *root.glob("tests/python/*.py")]
    if not any(folder.name in file.name or f'"{folder.name}"' in read(file) for file in tests):
        yield "no test under tests/ names it"


def absent(root: Path) -> List[str]:
    """What is missing of the chapters below `root`, a line each."""
    lines: List[str] = []
    seen = pictures(root)
    for folder in sorted((root / "chapters").iterdir()):
        if not folder.is_dir() or not FOLDER.fullmatch(folder.name):
            continue
        found = [] if (folder / "CMakeLists.txt").exists() else ["no CMakeLists.txt"]
        found += [*lesson(root, folder), *sources(folder), *unseen(folder, seen),
                  *unexplained(folder)]
        found += ladder(root, folder) if is_ladder(folder) else programs(root, folder)
        lines += [f"chapters/{folder.name}: {line}" for line in found]
    return lines
