"""A .cu file from anywhere: build it alone, run it, and sum up what the CPU backend found."""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shlex
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Optional, Sequence

from . import BUILD, ROOT, Problem, build, chapters, compiler, install, machine, say, shown
from .build import Choice
from .draw.run import REASON, Drawing

PROJECT = ROOT / "common" / "cmake" / "single"
REMEMBERED = 20  # files that stay built at a time
FOUND = 66       # exit code of a program in which the CPU backend found something
KINDS = ("race", "bounds", "misaligned", "host memory", "lifetime", "uninitialised", "barrier",
         "mask", "deadlock", "spin", "stack", "division", "launch", "assert", "trap", "unchecked",
         "host access", "order")
NEED_A_CHAPTER = {"exercise": "exercise", "hint": "hint", "solution": "solution", "demo": "demo",
                  "program": "program", "mutant": "break", "record": "record", "stamp": "stamp",
                  "label": "label"}


class Source(NamedTuple):
    """The user's file."""

    typed: str   # as on the command line
    path: Path   # absolute

    @property
    def name(self) -> str:
        """The program's name."""
        return re.sub(r"[^\w.-]", "_", self.path.stem)

    @property
    def target(self) -> str:
        """Another one for a file of the same name in another folder."""
        return f"file_{hashlib.sha256(os.fsencode(self.path)).hexdigest()[:8]}"


def looks_like_file(name: str) -> bool:
    """Does a word mean a file, or a folder that is no chapter's?"""
    path = Path(name)
    if path.suffix or "/" not in name:
        return path.suffix != ""
    return path.is_file() or (path.is_dir() and all(
        path.resolve() != chapter.path.resolve() for chapter in chapters.with_harness()))


def asked(options: argparse.Namespace) -> Optional[Source]:
    """The file on the command line, if there is one; a Problem if it cannot be built and run."""
    named = [name for name in options.chapters if looks_like_file(name)]
    if not named:
        for name in ("model", "strict"):
            if getattr(options, name) and options.chapters:
                raise Problem(f"for a chapter --{name} stands after --: chapters/run "
                              f"{options.chapters[0]} -- --{name}", 2)
        return None
    source = Source(named[0], Path(os.path.abspath(named[0])))
    if source.path.is_dir():
        raise Problem(f"{source.typed} is a folder: name one .cu file, or a chapter", 2)
    if source.path.suffix != ".cu":
        raise Problem(f"{source.typed} is not a .cu file", 2)
    if not source.path.is_file():
        raise Problem(f"{source.typed}: no such file", 2)
    if len(options.chapters) > 1:
        raise Problem(f"{source.typed}: one file at a time; its program's arguments stand after --",
                      2)
    for name, option in NEED_A_CHAPTER.items():
        if getattr(options, name) not in (None, False):
            raise Problem(f"--{option} is for chapters, not for a file such as {source.typed}", 2)
    if options.backend == "cuda" or options.arch or options.build_only:
        for name, does in {"model": "runs and counts", "strict": "checks", "draw": "runs"}.items():
            if getattr(options, name):
                raise Problem(f"--{name} {does} on the CPU backend: leave out --backend cuda, "
                              "--arch and --build-only", 2)
    return source


def choose(options: argparse.Namespace) -> Choice:
    """The backend for one file. A GPU needs nvcc, even where chapters were built elsewhere."""
    if options.model or options.strict:
        return build.on_cpu("--model counts there" if options.model else "--strict checks there")
    if options.draw:
        return build.on_cpu(REASON)
    choice = build.choose(options.backend, options.arch, options.build_only)
    if choice.rebuild:
        return choice
    if options.backend == "cuda":
        raise Problem(f"nvcc not found: {install.fix('nvcc')}")
    return build.on_cpu("no nvcc")


def plain_path(source: Source, folder: Path) -> Path:
    """The file, or a link to it where its path has characters that CMake cannot take."""
    if not re.search(r"[^\w./+@-]", str(source.path)):
        return source.path
    link = folder / "links" / source.target / f"{source.name}.cu"
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.is_symlink():
        link.symlink_to(source.path)
    return link


def remember(source: Source, folder: Path) -> None:
    """Put the file into the list of those that the CMake project builds."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "files.txt"
    line = f"{source.target} {source.name} {plain_path(source, folder)}"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    if line not in lines:
        kept = [old for old in lines if Path(old.split(" ", 2)[2]).is_file()]
        file.write_text("\n".join([*kept[1 - REMEMBERED:], line]) + "\n", encoding="utf-8")


def build_for_cpu(source: Source, choice: Choice) -> Path:
    """Rewrite, compile and link, all in a build folder that the files share with the library."""
    folder = BUILD / "files-cpu"
    choice = choice._replace(folder=folder)
    with build.locked(folder):
        remember(source, folder)
        build.configure(choice, source=PROJECT)
        result = build.build(choice, [source.target], source.name, source.target)
    text = result.log.read_text(encoding="utf-8", errors="replace")
    show_compiler(source, text, result.log, result.ok)
    return folder / "bin" / source.target / source.name


def gencode(arch: str) -> List[str]:
    """nvcc's options for CMake's architecture list. (-arch=sm_90a would mean compute_90, too.)"""
    if re.match("all|native", arch):
        return [f"-arch={arch}"]
    options = []
    for part in arch.split(";"):
        number, _, kind = part.partition("-")
        code = {"real": f"sm_{number}", "virtual": f"compute_{number}"}.get(
            kind, f"[sm_{number},compute_{number}]")
        options.append(f"-gencode=arch=compute_{number},code={code}")
    return options


def build_for_gpu(source: Source, choice: Choice) -> Path:
    """One call of nvcc; another one if it says that kernels which launch kernels need its option."""
    folder = BUILD / "files-cuda" / source.target
    program, log = folder / source.name, folder / "nvcc.log"
    first = [machine.probe_nvcc().where, "-O3", "-std=c++17", "-lineinfo"]
    last = [*gencode(choice.arch), source.typed, "-o", str(program)]
    for option in ([], ["-rdc=true"]):
        command = [*first, *option, *last]
        say(f"$ {' '.join(map(shlex.quote, ['nvcc', *command[1:-1], shown(program)]))}")
        with build.locked(folder.parent):
            folder.mkdir(parents=True, exist_ok=True)
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, errors="replace", check=False)
            log.write_text(done.stdout, encoding="utf-8")
        if not done.returncode or "requires separate compilation mode" not in done.stdout:
            break
    if done.returncode:
        build.stop_if_full(done.stdout)
    show_compiler(source, done.stdout, log, done.returncode == 0)
    return program


def own_lines(source: Source, text: str) -> List[str]:
    """What a compiler said about the user's file, with the path as typed; errors first."""
    paths = (str(source.path), f"/{source.target}/{source.name}.cu")
    code = source.path.read_text(encoding="utf-8", errors="replace").splitlines()
    return compiler.explained(compiler.own_lines(source.typed, paths, text), code)


def show_compiler(source: Source, text: str, log: Path, ok: bool) -> None:
    """Warnings about the user's file; without a program, what is wrong with it, and a Problem."""
    lines = own_lines(source, text)
    if ok:
        built_with_make = log.name != "nvcc.log"
        lines = (compiler.warnings(lines, log, text, plain_path(source, BUILD / "files-cpu").name)
                 if built_with_make else [line for line in lines if "warning" in line])
    elif re.search("undefined reference to .main'|undefined symbol: _?main", text):
        raise Problem(f"{source.typed} has no main(){belongs_to(source)}")
    if not ok and not any("warning" not in line for line in lines):
        lines = build.first_errors(text) + lines
    shown_lines = lines[:12] + ([f"... and {len(lines) - 12} more"] if len(lines) > 12 else [])
    if shown_lines:
        say("\n".join(shown_lines))
    if not ok:
        raise Problem(f"{source.typed} did not build; the compiler's whole text: {shown(log)}")


def belongs_to(source: Source) -> str:
    """For a file of a chapter without a main(): how that is run."""
    for chapter in chapters.every():
        if chapter.path in source.path.resolve().parents:
            inside = source.path.resolve().relative_to(chapter.path).parts[0]
            number = re.match(r"\d+", source.path.name)
            if inside in ("exercises", "my") and number:
                how = f"--exercise {int(number.group())}"
            else:
                how = f"-- --only {source.path.stem}"
            return f"; it is part of a chapter: chapters/run {chapter.number} {how}"
    return ": a program needs one"


class Findings:
    """Passes on what a program writes to stderr, and keeps the findings among it."""

    def __init__(self, strict: bool = False) -> None:
        self.strict = strict             # findings about order count, too
        self.texts: Dict[str, int] = {}  # 'race at first.cu:7 and first.cu:8', how often
        self.held: List[str] = []        # the table of --model, for the end

    def take(self, line: str) -> None:
        found = re.match(rf"simt: ({'|'.join(KINDS)}): (.*)", line)
        if found:
            text = " at ".join(filter(None, [found.group(1), places(found.group(2))]))
            self.texts[text] = self.texts.get(text, 0) + 1
        if re.match(r"simt: \d+ finding\(s\)(; exit code| about order)", line):
            return  # the last line says more
        if self.held or re.search(r": \d+ launch(es)?, \d+ blocks?, ", line):
            self.held.append(line)
            return
        sys.stderr.write(line)
        sys.stderr.flush()

    def read(self, pipe: int) -> None:
        with open(pipe, encoding="utf-8", errors="replace", newline="\n") as lines:
            for line in lines:
                self.take(line)

    def fail(self) -> bool:
        """Is there one that changes the exit code?"""
        return any(self.strict or not text.startswith("order") for text in self.texts)

    def summary(self) -> str:
        """'2 findings: race at first.cu:12, bounds at first.cu:20'"""
        number = sum(self.texts.values())
        if not number:
            return "Not checked: SIMT_CHECK is 0." if os.environ.get("SIMT_CHECK") == "0" else (
                "No findings.")
        listed = [text + (f" ({count} times)" if count > 1 else "")
                  for text, count in self.texts.items()]
        more = [f"{len(listed) - 6} more"] if len(listed) > 6 else []
        shown_only = "" if self.fail() else " (shown only: --strict makes it an error)"
        return (f"{number} finding{'s' if number > 1 else ''}: "
                f"{', '.join(listed[:6] + more)}{shown_only}")


def places(text: str) -> str:
    """The source lines that a finding names, at most two: 'first.cu:7 and first.cu:8'."""
    found = re.findall(r" at ((?:(?! at ).)+?:\d+)", text)
    return " and ".join(sorted(dict.fromkeys(found[:2])))


@contextmanager
def watched(findings: Findings) -> Iterator[int]:
    """A pipe for a program's stderr; at the end everything in it was read."""
    reading, writing = os.pipe()
    thread = threading.Thread(target=findings.read, args=(reading,), daemon=True)
    thread.start()
    try:
        yield writing
    finally:
        os.close(writing)
        thread.join(timeout=5)  # a process that the program left behind may hold it open


def run_on_cpu(command: Sequence[str], options: argparse.Namespace,
               drawing: Optional[Drawing] = None) -> int:
    """Run a program; its exit code, or 66 if there was a finding, which the last line sums up."""
    surroundings = {**os.environ, **({"SIMT_COUNT": "1"} if options.model or drawing else {}),
                    **({"SIMT_STRICT": "1"} if options.strict else {}),
                    **(drawing.environment() if drawing else {})}
    findings = Findings(surroundings.get("SIMT_STRICT", "0") not in ("", "0"))
    try:
        with watched(findings) as pipe:
            code = build.call(command, stderr=pipe, env=surroundings)
    except Problem:  # Ctrl-C
        say(f"\n{findings.summary()}" if findings.texts else "")
        raise
    say()
    if findings.held and options.model:
        say("".join(findings.held))
    try:
        if drawing:
            drawing.finish()
    finally:
        say(findings.summary())
    return FOUND if findings.fail() else code


def run(source: Source, choice: Choice, options: argparse.Namespace, rest: List[str]) -> int:
    """Build and run one file; `rest`: the arguments of its program."""
    on_cpu = choice.backend == "cpu"
    program = (build_for_cpu if on_cpu else build_for_gpu)(source, choice)
    if options.build_only:
        say(f"Built: {shown(program)}")
        return 0
    if not choice.can_run:
        say(f"{source.typed}: compiles; to run it takes a GPU ({choice.reason}).")
        return 0
    say()
    command = [str(program), *rest]
    if not on_cpu:
        return build.call(command)
    return run_on_cpu(command, options, Drawing(source.name) if options.draw else None)
