"""A .cu file from anywhere, alone or with others: build it, run it, and sum up what the CPU backend found."""

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
from typing import Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from . import BUILD, ROOT, Problem, build, chapters, compiler, install, machine, say, shown
from .build import Choice
from .draw.run import REASON, Drawing

PROJECT = ROOT / "common" / "cmake" / "single"
REMEMBERED = 20  # how many files stay built
FOUND = 66       # exit code of a program in which the CPU backend found something
KINDS = ("race", "bounds", "misaligned", "host memory", "lifetime", "uninitialised", "barrier",
         "mask", "deadlock", "spin", "stack", "division", "launch", "assert", "trap", "unchecked",
         "host access", "order", "unwritten", "undefined")
SHOWN_ONLY = ("order", "unwritten", "undefined")  # they change no exit code
SUFFIXES = (".cu", ".cpp", ".cc", ".cxx", ".c")
NVIDIA_HELPERS = "NVIDIA/cuda-samples has it in the folder Common: clone it, and name that folder with -I"
# What CUDA 13 has removed, and its replacement.
RENAMED = {"cudaThreadSynchronize": "cudaDeviceSynchronize()", "cudaThreadExit": "cudaDeviceReset()",
           "cudaThreadSetLimit": "cudaDeviceSetLimit()", "cudaThreadGetLimit": "cudaDeviceGetLimit()",
           "cudaThreadSetCacheConfig": "cudaDeviceSetCacheConfig()",
           "cudaThreadGetCacheConfig": "cudaDeviceGetCacheConfig()",
           **dict.fromkeys(("cudaBindTexture", "cudaBindTexture2D", "cudaBindTextureToArray", "cudaUnbindTexture",
                            "cudaGetTextureReference", "cudaBindSurfaceToArray"),
                           "texture objects, cudaCreateTextureObject(), which need a GPU")}
ATTRIBUTES = {"clockRate": "ClockRate", "memoryClockRate": "MemoryClockRate", "deviceOverlap": "GpuOverlap",
              "kernelExecTimeoutEnabled": "KernelExecTimeout", "computeMode": "ComputeMode",
              "singleToDoublePrecisionPerfRatio": "SingleToDoublePrecisionPerfRatio"}
NEED_A_CHAPTER = {"exercise": "exercise", "hint": "hint", "solution": "solution", "demo": "demo",
                  "program": "program", "mutant": "break", "record": "record", "stamp": "stamp",
                  "label": "label"}


class Flags(NamedTuple):
    """The options that a program's compilation needs."""

    include: Sequence[Path] = ()  # folders of headers; absolute
    define: Sequence[str] = ()    # NAME or NAME=VALUE
    std: str = ""                 # 20; empty: 17
    openmp: bool = False

    def options(self, of_nvcc: bool = False) -> List[str]:
        """The same as options of nvcc or of the host compiler."""
        openmp = ["-Xcompiler", "-fopenmp"] if of_nvcc else ["-fopenmp"]
        return [*(f"-I{folder}" for folder in self.include), *(f"-D{text}" for text in self.define),
                *([f"-std=c++{self.std}"] if self.std else []), *(openmp if self.openmp else [])]


class Source(NamedTuple):
    """The user's file."""

    typed: str   # as on the command line
    path: Path   # absolute
    more: Sequence[Path] = ()  # other files of the program; absolute
    flags: Flags = Flags()
    more_typed: Sequence[str] = ()  # those, as on the command line

    @property
    def name(self) -> str:
        """The program's name."""
        return re.sub(r"[^\w.-]", "_", self.path.stem)

    @property
    def files(self) -> List[Tuple[str, Path]]:
        """All files of the program: as typed, and their paths."""
        return [(self.typed, self.path), *zip(self.more_typed, self.more)]

    @property
    def target(self) -> str:
        """A different target for a file of the same name in another folder."""
        what = "\n".join([str(self.path), *map(str, self.more), *self.flags.options()])
        return f"file_{hashlib.sha256(os.fsencode(what)).hexdigest()[:8]}"


def looks_like_file(name: str) -> bool:
    """Does a word name a file, or a folder that belongs to no chapter?"""
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
        for name, option in {"include": "-I", "define": "-D", "std": "--std"}.items():
            if getattr(options, name):
                raise Problem(f"{option} is for files of your own; a chapter's CMakeLists.txt says how it is compiled", 2)
        return None
    for name in options.chapters:
        path = Path(name)
        if path.is_dir():
            raise Problem(f"{name} is a folder: name .cu files, or a chapter", 2)
        if name not in named:
            raise Problem(f"{named[0]}: beside a file stand other files; its program's arguments stand after --", 2)
        if path.suffix not in SUFFIXES:
            raise Problem(f"{name} is no source file ({', '.join(SUFFIXES)})", 2)
        if not path.is_file():
            raise Problem(f"{name}: no such file", 2)
        if options.chapters.count(name) > 1:
            raise Problem(f"{name} is named twice", 2)
    first = next((name for name in named if name.endswith(".cu")), "")
    if not first:
        raise Problem(f"{named[0]} is not a .cu file, and none stands beside it", 2)
    others = [name for name in named if name != first]
    source = Source(first, Path(os.path.abspath(first)), [Path(os.path.abspath(name)) for name in others],
                    flags_of(options, named), others)
    for name, option in NEED_A_CHAPTER.items():
        if getattr(options, name) not in (None, False):
            raise Problem(f"--{option} is for chapters, not for a file such as {source.typed}", 2)
    if options.backend == "cuda" or options.arch or options.build_only:
        for name, does in {"model": "runs and counts", "strict": "checks", "draw": "runs"}.items():
            if getattr(options, name):
                raise Problem(f"--{name} {does} on the CPU backend: leave out --backend cuda, "
                              "--arch and --build-only", 2)
    return source


def flags_of(options: argparse.Namespace, files: Sequence[str]) -> Flags:
    """-I, -D and --std; and OpenMP, if a file uses it."""
    for folder in options.include:
        if not Path(folder).is_dir():
            raise Problem(f"-I {folder}: no such folder", 2)
    for text in options.define:
        if not re.fullmatch(r"[A-Za-z_]\w*(=.*)?", text):
            raise Problem(f"-D {text}: write NAME or NAME=VALUE", 2)
    std = re.fullmatch(r"(?:c\+\+)?(11|14|17|20|23)?", options.std)
    if not std:
        raise Problem(f"--std {options.std}: use 14, 17 or 20", 2)
    texts = [Path(name).read_text(encoding="utf-8", errors="replace") for name in files]
    openmp = any(re.search(r"^\s*#\s*(?:pragma\s+omp\b|include\s*<omp\.h>)", text, re.MULTILINE) for text in texts)
    return Flags([Path(os.path.abspath(folder)) for folder in options.include], options.define,
                 std.group(1) or "", openmp)


def choose(options: argparse.Namespace) -> Choice:
    """The backend for one file. A GPU needs nvcc, even if chapters were built elsewhere."""
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


def link_name(path: Path) -> str:
    return re.sub(r"[^\w.-]", "_", path.name)


def plain_path(source: Source, folder: Path, path: Optional[Path] = None) -> Path:
    """The file, or another of its program's, or a link to it where its path has characters that CMake cannot take."""
    path = path or source.path
    if not re.search(r"[^\w./+@-]", str(path)):
        return path
    link = folder / "links" / source.target / link_name(path)
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.is_symlink():
        link.symlink_to(path)
    return link


def write_more(source: Source, folder: Path) -> None:
    """Next to the list: a program's other files, and the compiler's options, a line each."""
    flags = source.flags
    lines = [*(f"source {plain_path(source, folder, path)}" for path in source.more),
             *(f"include {path}" for path in flags.include), *(f"define {text}" for text in flags.define),
             *([f"standard {flags.std}"] if flags.std else []), *(["option -fopenmp"] if flags.openmp else [])]
    file, text = folder / "more" / f"{source.target}.txt", "".join(f"{line}\n" for line in lines)
    if text and (not file.exists() or file.read_text(encoding="utf-8") != text):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")


def remember(source: Source, folder: Path) -> None:
    """Put the file into the list of those that the CMake project builds."""
    folder.mkdir(parents=True, exist_ok=True)
    write_more(source, folder)
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
    """nvcc's options for CMake's architecture list. (-arch=sm_90a would also mean compute_90.)"""
    if re.match("all|native", arch):
        return [f"-arch={arch}"]
    options = []
    for part in arch.split(";"):
        number, _, kind = part.partition("-")
        code = {"real": f"sm_{number}", "virtual": f"compute_{number}"}.get(
            kind, f"[sm_{number},compute_{number}]")
        options.append(f"-gencode=arch=compute_{number},code={code}")
    return options


NEEDS_RDC = "requires separate compilation mode|Unresolved extern function|Undefined reference to"  # of device code


def build_for_gpu(source: Source, choice: Choice) -> Path:
    """One call of nvcc; a second one if kernels that launch kernels need its option."""
    folder = BUILD / "files-cuda" / source.target
    program, log = folder / source.name, folder / "nvcc.log"
    flags = source.flags._replace(std=source.flags.std or "17").options(of_nvcc=True)
    first = [machine.probe_nvcc().where, "-O3", *flags, "-lineinfo"]
    last = [*gencode(choice.arch), source.typed, *map(str, source.more), "-o", str(program)]
    for option in ([], ["-rdc=true"]):
        command = [*first, *option, *last]
        say(f"$ {' '.join(map(shlex.quote, ['nvcc', *command[1:-1], shown(program)]))}")
        with build.locked(folder.parent):
            folder.mkdir(parents=True, exist_ok=True)
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, errors="replace", check=False)
            log.write_text(done.stdout, encoding="utf-8")
        if not done.returncode or not re.search(NEEDS_RDC, done.stdout):
            break
    if done.returncode:
        build.stop_if_full(done.stdout)
    show_compiler(source, done.stdout, log, done.returncode == 0)
    return program


def lines_of_files(source: Source, text: str) -> List[List[str]]:
    """The compiler's messages about each user file, with the path as typed; errors first."""
    found: Dict[str, List[str]] = {}
    for typed, path in sorted(source.files, key=lambda file: -len(file[0])):  # sub/a.cu before a.cu
        link = f"/{source.target}/{link_name(path)}"
        code = path.read_text(encoding="utf-8", errors="replace").splitlines()
        found[typed] = compiler.explained(compiler.own_lines(typed, (str(path), link), text), code)
        named = re.compile(f"(?:{'|'.join(map(re.escape, (str(path), link)))})[:(]\\d")
        text = "\n".join(line for line in text.splitlines() if not named.search(line))
    return [found[typed] for typed, _ in source.files]


def failed_files(source: Source, text: str, lines: Sequence[Sequence[str]]) -> List[str]:
    """The files that did not compile, as typed; none: they did not link."""
    found = []
    for (typed, path), own in zip(source.files, lines):
        plain = plain_path(source, BUILD / "files-cpu", path)
        folder = hashlib.md5(os.fsencode(plain)).hexdigest()[:8] if path.suffix == ".cu" else ""
        not_made = rf"(?m)^(?:FAILED: |.*\*\*\* ).*{folder}/{re.escape(plain.name)}(?:\.cpp)?(?:\.o)?\b"
        if re.search(not_made, text) or any(re.search(r"[:)] (?:fatal )?error\b", line) for line in own):
            found.append(typed)
    return found


def warnings_of(source: Source, number: int, lines: List[str], log: Path, text: str) -> List[str]:
    """Warnings about one of the files, even if it was not compiled again."""
    name = plain_path(source, BUILD / "files-cpu", source.files[number][1]).name
    return compiler.warnings(lines, log.with_name(f"{log.stem}_{number}.log") if number else log, text, name)


def show_compiler(source: Source, text: str, log: Path, ok: bool) -> None:
    """Warnings about the user's files; without a program, their errors, and a Problem."""
    by_file = lines_of_files(source, text)
    lines = sorted((line for own in by_file for line in own),
                   key=lambda line: 0 if re.search("error|undefined", line) else 2 if "warning" in line else 1)
    if ok:
        built_with_make = log.name != "nvcc.log"
        if built_with_make:
            by_file = [warnings_of(source, number, own, log, text) for number, own in enumerate(by_file)]
            lines = [line for own in by_file for line in own]
        lines = [line for line in lines if "warning" in line]
    elif re.search("undefined reference to .main'|undefined symbol: _?main", text):
        raise Problem(f"{source.typed} has no main(){belongs_to(source)}")
    if not ok and not any(re.search("error|undefined reference", line) for line in lines):
        here = os.path.join(os.getcwd(), "")
        lines = list(dict.fromkeys([line.replace(here, "") for line in build.first_errors(text)] + lines))
    shown_lines = lines[:12] + ([f"... and {len(lines) - 12} more"] if len(lines) > 12 else [])
    if shown_lines:
        say("\n".join(shown_lines))
    if not ok:
        advice = hint(source, text)
        if advice:
            say(f"hint: {advice}")
        names = " and ".join(failed_files(source, text, by_file)) or source.typed
        raise Problem(f"{names} did not build; the compiler's whole text: {shown(log)}")


def hint(source: Source, text: str) -> str:
    """What may be missing on the command line, or in CUDA 13."""
    header = re.search(r"error: '?([\w./+-]+)(?:: No such file|' file not found)|could not open source file \"([\w./+-]+)\"",
                       text)
    if header:
        name = header.group(1) or header.group(2)
        if re.match(r"(helper|exception|nvrtc_helper|rendercheck)_?\w*\.h$", name):
            return f"{name}: {NVIDIA_HELPERS}"
        files = " ".join(shlex.quote(typed) for typed, _ in source.files)
        return f"in which folder is {name}? chapters/run {files} -I FOLDER"
    if re.search(r"(?i)undefined reference to", text):
        return ("is what is missing in another file? Name them all: chapters/run " +
                " ".join([*(typed for typed, _ in source.files), "OTHER.cu"]))
    gone = re.search(rf"""error.*['\u2018"]({'|'.join(RENAMED)})['\u2019"]""", text)
    if gone:
        return f"CUDA 13 has no {gone.group(1)}(); use {RENAMED[gone.group(1)]}"
    field = re.search(rf"""error.*no member (?:named )?['\u2018"]({'|'.join(ATTRIBUTES)})['\u2019"]""", text)
    if field and "cudaDeviceProp" in text:
        return (f"cudaDeviceProp has no {field.group(1)} in CUDA 13; use cudaDeviceGetAttribute(&value, "
                f"cudaDevAttr{ATTRIBUTES[field.group(1)]}, device)")
    code = "".join(path.read_text(encoding="utf-8", errors="replace") for _, path in source.files)
    newer = re.search(r"only available (?:from|with) .*?(?:C\+\+|c\+\+|-std=\D*)(20|23|2a)|#include <(concepts|span|ranges|format|numbers|bit)>",
                      text + code)
    if newer and not source.flags.std:
        return f"C++20? chapters/run {shlex.quote(source.typed)} --std 20"
    return ""


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
    text = source.path.read_text(encoding="utf-8", errors="replace")
    if re.search(r"\bsolve\s*\(", text):
        return (f": solve() is called by the site that it is for. Here a second file calls it: chapters/run "
                f"{source.typed} main.cu")
    return ": a program needs one"


class Findings:
    """Passes on what a program writes to stderr, and keeps the findings among it."""

    def __init__(self, strict: bool = False) -> None:
        self.strict = strict             # findings about order count as well
        self.texts: Dict[str, int] = {}  # 'race at first.cu:7 and first.cu:8', how often
        self.held: List[str] = []        # the table of --model, for the end
        self.left_out: List[str] = []    # features that the backend lacks

    def take(self, line: str) -> None:
        found = re.match(rf"simt: ({'|'.join(KINDS)}): (.*)", line)
        if found:
            text = " at ".join(filter(None, [found.group(1), places(found.group(2))]))
            self.texts[text] = self.texts.get(text, 0) + 1
        missing = re.match(r"simt: (\w+): (.* need a GPU)$", line)
        if missing:
            self.left_out.append(missing.group(2))
        if re.match(r"simt: \d+ finding\(s\)(; exit code| about order)", line):
            return  # the last line of the run says more
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
        return any(self.strict or not text.startswith(SHOWN_ONLY) for text in self.texts)

    def summary(self, code: int = 0) -> str:
        """'2 findings: race at first.cu:12, bounds at first.cu:20'"""
        number = sum(self.texts.values())
        if not number and os.environ.get("SIMT_CHECK") == "0":
            return "Not checked: SIMT_CHECK is 0."
        if not number and self.left_out:
            return f"No findings, but not all of it ran: {self.left_out[0]}."
        if not number:
            return "No findings." if 0 <= code < 128 else "No findings before it ended."
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
        thread.join(timeout=5)  # a process that the program started may hold it open


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
        say(findings.summary(code))
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
