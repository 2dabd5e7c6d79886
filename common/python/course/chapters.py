"""The chapters on disk: names, exercises, progress, and which sources a result belongs to."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from . import BUILD, ROOT, Problem, code, pages, shown

STAMP = ROOT / ".source_stamp"
FIRST_STEPS = "00_first_steps"
DEMO_SECONDS = 30.0  # then a demo is ended: it may show something that hangs


class Chapter(NamedTuple):
    """One chapter; `name` is its folder and also its CMake target."""

    name: str
    path: Path

    @property
    def number(self) -> str:
        return self.name.split("_")[0]

    def title(self) -> str:
        """The first heading of the lesson."""
        readme = self.path / "README.md"
        text = readme.read_text(encoding="utf-8") if readme.exists() else ""
        found = re.search(r"^# (.+)$", text, re.MULTILINE)
        return found.group(1).strip() if found else self.name

    def recorded(self) -> Optional[Path]:
        """The result file that the lesson quotes, or one that was measured on another GPU."""
        quoted = pages.recorded(self.path)
        files = sorted((self.path / "results").glob("*.json"), key=lambda f: f != quoted)
        return files[0] if files else None

    def exercises(self) -> Dict[int, Path]:
        """Starters by their number."""
        return numbered(self.path / "exercises", ".cu")

    def progress(self) -> Dict[str, Any]:
        """The student's progress here: exercises passed, right ones that only a GPU can pass, hints
        seen."""
        try:
            known = json.loads((self.path / "my" / "progress.json").read_text())
        except (OSError, ValueError):
            known = {}
        return {"passed": list(known.get("passed", [])), "right": list(known.get("right", [])),
                "hints": dict(known.get("hints", {}))}

    def remember(self, what: str, number: int) -> None:
        """Note an exercise as "passed" or as "right"; what has passed once stays passed."""
        progress = self.progress()
        progress[what] = sorted({*progress[what], number})
        progress["right"] = [k for k in progress["right"] if k not in progress["passed"]]
        self.save_progress(progress)

    def progress_text(self) -> str:
        """'2/2, 1 needs a GPU': passed of those that can pass here; those that need a GPU."""
        number, progress = len(self.exercises()), self.progress()
        right = len(progress["right"])
        if not number:
            return "-"
        left_out = f", {right} need{'s' if right == 1 else ''} a GPU" if right else ""
        return f"{len(progress['passed'])}/{number - right}{left_out}"

    def save_progress(self, progress: Dict[str, Any]) -> None:
        (self.path / "my").mkdir(exist_ok=True)
        (self.path / "my" / "progress.json").write_text(json.dumps(progress, indent=2) + "\n")


def numbered(folder: Path, suffix: str) -> Dict[int, Path]:
    """Files named 3_something in a folder, by their number."""
    files = [file for file in sorted(folder.glob(f"*{suffix}")) if re.match(r"\d+_", file.name)]
    return {int(file.name.split("_")[0]): file for file in files}


def every() -> List[Chapter]:
    """All chapters with a number, in reading order."""
    folders = sorted((ROOT / "chapters").glob("[0-9][0-9]_*"))
    return [Chapter(folder.name, folder) for folder in folders
            if (folder / "CMakeLists.txt").exists()]


def with_harness() -> List[Chapter]:
    """All chapters, and the harness if it exists: it is built and run like a chapter."""
    harness = ROOT / "tests" / "harness"
    return every() + ([Chapter(harness.name, harness)] if harness.is_dir() else [])


def find(name: str) -> Chapter:
    """The chapter meant by '1', '01', 'vector_add', '01_vector_add' or its path."""
    wanted = Path(name.rstrip("/")).name
    known = with_harness()
    for chapter in known:
        same_number = wanted.isdigit() and chapter.number.isdigit() and (
            int(wanted) == int(chapter.number))
        if same_number or wanted in (chapter.name, chapter.name.partition("_")[2]):
            return chapter
    names = [chapter.name for chapter in known]
    short = {part: full for full in names for part in (full, full.partition("_")[2]) if part}
    near = [short[part] for part in difflib.get_close_matches(wanted, list(short), 3, 0.5)]
    near = list(dict.fromkeys(near))
    there = ", ".join(chapter.name for chapter in every())
    raise Problem(f"no chapter '{name}'; " + (f"did you mean: {', '.join(near)}?" if near else
                                              f"there are: {there}"), 2)


def exercise(chapter: Chapter, number: int) -> Path:
    """The starter of exercise `number`."""
    found = chapter.exercises()
    if number not in found:
        there = ", ".join(map(str, found)) or "none"
        raise Problem(f"{chapter.name} has no exercise {number}; there: {there}", 2)
    return found[number]


def task(chapter: Chapter, number: int) -> Path:
    """The page of exercise `number`: what to do, and its hints."""
    return exercise(chapter, number).with_suffix(".md")


def working_copy(chapter: Chapter, number: int) -> Tuple[Path, bool]:
    """The student's file in my/, copied from the starter the first time, never overwritten."""
    starter = exercise(chapter, number)
    mine = chapter.path / "my" / starter.name
    if mine.exists():
        return mine, False
    mine.parent.mkdir(exist_ok=True)
    return Path(shutil.copyfile(starter, mine)), True


def is_starter(chapter: Chapter, number: int) -> bool:
    """True while the student's file is the starter, comments and layout apart."""
    mine = working_copy(chapter, number)[0]
    texts = [file.read_text(encoding="utf-8") for file in (mine, exercise(chapter, number))]
    return list(code.tokens(texts[0])) == list(code.tokens(texts[1]))


def next_hint(chapter: Chapter, number: int) -> str:
    """One more hint each time; after the last one, a line that says that there are no more."""
    page = task(chapter, number)
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    hints = re.findall(r"<details>\s*<summary>\s*(Hint.*?)</summary>(.*?)</details>", text,
                       re.DOTALL | re.IGNORECASE)
    progress = chapter.progress()
    seen = int(progress["hints"].get(str(number), 0))
    if seen >= len(hints):
        return f"No more hints ({len(hints)} in all): read {shown(page)} again, or --solution."
    progress["hints"][str(number)] = seen + 1
    chapter.save_progress(progress)
    title, body = hints[seen]
    return f"{title.strip()} (of {len(hints)})\n{body.strip()}"


def solution(chapter: Chapter, number: int) -> Path:
    exercise(chapter, number)
    found = numbered(chapter.path / "exercises" / "solution", ".cu")
    if number not in found:
        raise Problem(f"{chapter.name} exercise {number} has no solution yet")
    return found[number]


# Files with a main() of their own: demos in a folder, programs next to the versions, whose names
# begin with a number.
SINGLE = {"demo": "demos/*.cu", "program": "[a-z]*.cu"}


def singles(chapter: Chapter, kind: str) -> Dict[str, str]:
    """The chapter's demos or programs, each with its first line, which describes it."""
    return {file.stem: file.read_text(encoding="utf-8").partition("\n")[0].lstrip("/ ")
            for file in sorted(chapter.path.glob(SINGLE[kind]))}


def list_of_singles(chapter: Chapter, kind: str) -> str:
    known = singles(chapter, kind)
    width = max(map(len, known), default=0)
    return "\n".join(f"  {name:<{width}}  {shows}" for name, shows in known.items())


def check_single(chapter: Chapter, kind: str, name: str) -> None:
    """A Problem that lists the demos or programs, if there is none of this name."""
    if not singles(chapter, kind):
        raise Problem(f"{chapter.name} has no {kind}s", 2)
    if name not in singles(chapter, kind):
        raise Problem(f"{chapter.name} has no {kind} '{name}'; there are:\n"
                      f"{list_of_singles(chapter, kind)}", 2)


def git(*arguments: str) -> Optional[str]:
    """Output of git in this repository; None without git, or when it fails."""
    if not (ROOT / ".git").exists():
        return None
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def is_source(path: str) -> bool:
    """Files that affect a measurement: not pages, results, the student's own, the CPU backend."""
    parts = Path(path).parts
    ignored = {"results", "my", "__pycache__"}
    return not (ignored & set(parts) or path.endswith(".md") or "README" in parts[-1]
                or path.startswith("common/simt/")
                or any(part.startswith(".") for part in parts))


def source_files(chapter: Chapter, ask_git: bool = True) -> List[str]:
    """The chapter's and common's source files, relative to the root, sorted."""
    folders = [chapter.path.relative_to(ROOT).as_posix(), "common"]
    listed = git("ls-files", "-z", "--", *folders) if ask_git else None
    if not listed:  # no git, or no commits: a copy of the tree
        files = [file.relative_to(ROOT).as_posix() for folder in folders
                 for file in (ROOT / folder).rglob("*") if file.is_file()]
    else:
        files = [name for name in listed.split("\0") if name and (ROOT / name).is_file()]
    return sorted(name for name in files if is_source(name))


def source_hash(chapter: Chapter, ask_git: bool = True) -> str:
    """SHA-256 over names and contents of the source files."""
    digest = hashlib.sha256()
    for name in source_files(chapter, ask_git):
        content = (ROOT / name).read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def changed_sources(chapter: Chapter) -> List[str]:
    """Source files that differ from the commit, untracked ones included."""
    folders = [chapter.path.relative_to(ROOT).as_posix(), "common"]
    listed = git("status", "--porcelain", "-uall", "--no-renames", "-z", "--", *folders) or ""
    return [entry[3:] for entry in listed.split("\0") if entry and is_source(entry[3:])]


def provenance(chapter: Chapter) -> Tuple[Optional[str], Optional[str]]:
    """Commit (with '-dirty' if sources changed) and source hash, as far as known."""
    commit = (git("rev-parse", "--short", "HEAD") or "").strip()
    if not commit:
        return None, source_hash(chapter)
    return commit + ("-dirty" if changed_sources(chapter) else ""), source_hash(chapter)


def stamped_commit(chapter: Chapter, digest: Optional[str]) -> Optional[str]:
    """The stamp's commit, if these sources are its own."""
    stamp = json.loads(STAMP.read_text()) if STAMP.exists() else {"source_hash": {}}
    return stamp["commit"] if digest and stamp["source_hash"].get(chapter.name) == digest else None


def known_commit(chapter: Chapter) -> Optional[str]:
    """The commit as provenance() gives it. If git is missing, or sees changes because the files
    were copied into the folder of another state: the stamp's commit, if the sources match it."""
    commit, digest = provenance(chapter)
    if commit and not commit.endswith("-dirty"):
        return commit
    if commit and STAMP.exists():
        digest = source_hash(chapter, ask_git=False)
    return stamped_commit(chapter, digest) or commit


def recordable(chapter: Chapter) -> Tuple[str, str]:
    """Commit and source hash of unchanged sources, from git or from the stamp; else a Problem."""
    commit, digest = provenance(chapter)
    if commit and digest and not commit.endswith("-dirty"):
        return commit, digest
    if commit:  # of these files, or of a repository around the copied files
        copied = source_hash(chapter, ask_git=False)
        stamped = stamped_commit(chapter, copied)
        if stamped:
            return stamped, copied
        raise Problem(f"--record refused, changed: {', '.join(changed_sources(chapter)[:5])}")
    if not STAMP.exists():
        raise Problem("--record needs git, or a stamp written before: chapters/run --stamp")
    stamped = stamped_commit(chapter, digest)
    if not stamped or not digest:
        raise Problem(f"--record refused: the sources are not those of {STAMP.name}")
    return stamped, digest


def provenance_options(chapter: Chapter, record: bool = False) -> List[str]:
    """The options by which a program learns about its sources, for its result file."""
    commit, digest = (recordable if record else provenance)(chapter)
    hashes = code.hashes(chapter.path, ROOT / "common")
    known = {"--commit": commit, "--source-hash": digest,
             "--code": ",".join(f"{name}:{value}" for name, value in hashes.items())}
    return [word for name, value in known.items() if value for word in (name, value)]


def write_stamp() -> str:
    """Write commit and source hashes for a machine that gets the files without git."""
    known = with_harness()
    clean = {chapter.name: chapter for chapter in known if not changed_sources(chapter)}
    commit = (git("rev-parse", "--short", "HEAD") or "").strip()
    if not commit or not clean:
        raise Problem("--stamp needs git and at least one chapter without changed sources")
    hashes = {name: source_hash(chapter) for name, chapter in clean.items()}
    STAMP.write_text(json.dumps({"commit": commit, "source_hash": hashes}, indent=2) + "\n")
    left = ", ".join(chapter.name for chapter in known if chapter.name not in clean)
    return f"{STAMP.name}: {', '.join(clean)}" + (f"; changed, left out: {left}" if left else "")


def runs(chapter: Chapter) -> int:
    """How many result files this machine has of the chapter."""
    return len(list((BUILD / "results").glob(f"*{chapter.name}-*.json")))


def is_built(chapter: Chapter) -> bool:
    return any(BUILD.glob(f"*/bin/{chapter.name}"))
