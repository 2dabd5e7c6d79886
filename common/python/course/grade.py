"""Grading: many submissions of one exercise, each built and judged in its own process and folder.

Nothing on stdout counts. The program of a submission consists of the tests and, compiled apart, the
submission's object file. It gets a random word through a pipe, reads it and closes the pipe before
the submission's code runs, and sends its verdict back through another pipe, headed by the word. A
process that ends early, runs too long or asks for too much memory has sent no verdict.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import re
import resource
import secrets
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from . import BUILD, ROOT, Problem, as_cell, build, chapters, code, say, shown, submissions
from .build import Choice
from .chapters import Chapter
from .one_file import FOUND
from .submissions import Submission

STAGE = BUILD / "grade"
SECONDS = 120.0       # of a submission's program, unless --limit says otherwise
MEBIBYTES = 4096      # of memory in use: the CPU backend takes 1 GiB for an answer, the expected
                      # results of 2^28 elements on a GPU 2 GiB. Addresses are no measure of it:
                      # CUDA reserves terabytes, and would not start under a ulimit
COMPILER_SECONDS = 300
COMPILER_GIBIBYTES = 8
FILE_BYTES = 2**26    # of one file; a much smaller one would also hit memory that a driver shares
BUILT_BYTES = 2**28   # of a file that a compiler writes
# The teacher's environment variables that a program may see: which GPU, how they are numbered
# (otherwise number 1 may be another one), and how to reach an MPS server.
PASSED_ON = ("PATH", "LD_LIBRARY_PATH", "LANG", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER",
             "CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE")
COLUMNS = ["label", "verdict", "reason", "note", "ratio", "asked_ratio", "compared", "seconds",
           "file"]


class Grade(NamedTuple):
    """The result of one submission; `data` is its result file, if its program sent one."""

    submission: Submission
    verdict: str
    reason: str
    data: Optional[Dict[str, Any]] = None
    seconds: float = 0.0
    note: str = ""

    def row(self) -> List[object]:
        data = self.data or {"results": [], "exercise": {}}
        rates = [(row["rate"] or {}).get("value") for row in data["results"]]
        order = [row["role"] != "exercise" for row in data["results"]]
        known = dict(zip(order, rates))
        ratio = known[False] / known[True] if known.get(False) and known.get(True) else None
        judged = data["exercise"]
        return [self.submission.label, self.verdict, self.reason, self.note,
                "" if ratio is None else f"{ratio:.4f}", judged.get("asked_ratio") or "",
                judged.get("compared") or "", f"{self.seconds:.1f}",
                as_cell(self.submission.file.name)]


# Building

def stage_of(chapter: Chapter, number: int) -> Path:
    """Where the build looks for the submissions of an exercise."""
    return STAGE / f"{chapter.name}_{number}"


def stage(chapter: Chapter, number: int, found: List[Submission], tests: Optional[Path]) -> None:
    """Copies of the submissions under names of our own, and of the teacher's tests."""
    folder = stage_of(chapter, number)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for index, each in enumerate(found):
        file = folder / f"s{index:03}.cu"
        file.write_bytes(b"" if each.missing else each.file.read_bytes())
    if tests:
        shutil.copyfile(tests, folder / "tests.cpp")


@contextmanager
def compiler_limits() -> Iterator[None]:
    """Limits of CPU time, addresses and file size for each compiler, which inherits them."""
    most = {resource.RLIMIT_CPU: int(time.process_time()) + COMPILER_SECONDS,
            resource.RLIMIT_AS: COMPILER_GIBIBYTES << 30, resource.RLIMIT_FSIZE: BUILT_BYTES}
    before = {which: resource.getrlimit(which) for which in most}
    for which, value in most.items():
        hard = before[which][1]
        resource.setrlimit(which, (value if hard < 0 else min(value, hard), hard))
    try:
        yield
    finally:
        for which, both in before.items():
            resource.setrlimit(which, both)


def target_of(chapter: Chapter, number: int, index: int, kernel: bool = False) -> str:
    return f"{chapter.name}_submission_s{index:03}_{number}{'_kernel' if kernel else ''}"


def object_of(chapter: Chapter, choice: Choice, target: str, stem: str) -> Optional[Path]:
    """The object file of a target for the source of this name."""
    folder = choice.folder / "chapters" / chapter.name / "CMakeFiles" / f"{target}.dir"
    return next(folder.rglob(f"{stem}.*.o"), None)


def would_refuse(chapter: Chapter, number: int, choice: Choice, file: Path,
                 target: str) -> Optional[str]:
    """Why grading would refuse a file that was built as an exercise of its own."""
    starter, headers = starter_of(chapter, number)
    why = submissions.refused_source(source_of(file), headers)
    built = object_of(chapter, choice, f"{target}_kernel", file.stem)
    return why or (submissions.refused_object(built, submissions.given_by(starter)) if built
                   and shutil.which("nm") else None)


def build_apart(choice: Choice, targets: List[str], what: str) -> str:
    """Builds; returns the compilers' messages."""
    with compiler_limits():
        result = build.build(choice, targets, f"{len(targets)} {what}", f"grade_{what}")
    return result.log.read_text(errors="replace")


def first_error(log: str, file: str) -> str:
    """": line 5: expected ';'", the compiler's first words on a file; empty if there are none."""
    found = re.search(rf"^[^\n]*\b{re.escape(file)}[:(](\d+)[^\n]*?\berror\b:? ?([^\n]+)",
                      log, re.M)
    if found:
        return f": line {found[1]}: {as_cell(found[2])}"
    rewriter = re.search(rf"^(.+): \S*/{re.escape(file)}:(\d+)$", log, re.M)
    return f": line {rewriter[2]}: {as_cell(rewriter[1])}" if rewriter else ""


# Judging

def limits(seconds: float, folder: Path) -> Callable[[], None]:
    """The limits of a child, set before it becomes the submission's program."""
    def apply() -> None:
        os.chdir(folder)
        os.setsid()
        # each thread of the CPU backend counts; wait_within() limits the time by the clock
        cores = os.cpu_count() or 1
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds * cores) + 1,) * 2)
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return apply


def memory_of(process: int) -> int:
    """MiB that a process has in use; 0 if the system does not say."""
    try:
        text = Path(f"/proc/{process}/statm").read_text()
        return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20
    except (OSError, ValueError, IndexError):
        return 0


def wait_within(process: "subprocess.Popen[bytes]", seconds: float, megabytes: int) -> str:
    """Waits for the end; empty, or which limit was reached."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            process.wait(0.05)
            return ""
        except subprocess.TimeoutExpired:
            if memory_of(process.pid) > megabytes:
                return f"it took more than {megabytes} MiB of memory"
    return f"not over after {seconds:g} s"


def judge(program: Path, label: str, seconds: float, megabytes: int = MEBIBYTES,
          known: Sequence[str] = ()) -> Tuple[Optional[Dict[str, Any]], str]:
    """Runs one program in a folder of its own; the verdict that it sent, or why there is none.
    known: the options about its sources."""
    word = secrets.token_hex(24)
    read_word, give_word = os.pipe()
    os.write(give_word, word.encode())  # before the start: then no pipe breaks if it ends at once
    os.close(give_word)
    read_verdict, give_verdict = os.pipe()
    surroundings = {key: value for key, value in os.environ.items()
                    if key in PASSED_ON or key.startswith("SIMT_")}
    surroundings["COURSE_TEACHER"] = f"{read_word},{give_verdict}"
    sent = bytearray()
    with tempfile.TemporaryDirectory(prefix="grade-") as folder:
        process = subprocess.Popen(
            [str(program), "--label", label, *known], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=(read_word, give_verdict), env=surroundings,
            preexec_fn=limits(seconds, Path(folder)))
        os.close(read_word)
        os.close(give_verdict)
        reader = threading.Thread(target=drain, args=(read_verdict, sent), daemon=True)
        reader.start()
        try:
            reached = wait_within(process, seconds, megabytes)
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            exit_code = process.wait()
        reader.join(timeout=5)
    if reached:
        return None, reached
    return verdict_of(bytes(sent), word, exit_code)


def drain(pipe: int, into: bytearray) -> None:
    with os.fdopen(pipe, "rb") as stream:
        into += stream.read(2**24)


def verdict_of(sent: bytes, word: str, exit_code: int) -> Tuple[Optional[Dict[str, Any]], str]:
    """The result file that a program sent; it must begin with the word, be complete, and agree with
    the way the program ended."""
    head, _, text = sent.partition(b"\n")
    if not secrets.compare_digest(head, word.encode()) or not text:
        how = (f"was ended by {signal.Signals(-exit_code).name}" if exit_code < 0 else
               f"ended with exit code {exit_code}")
        return None, f"the program {how} before the tests were over"
    try:
        data = json.loads(text)
    except ValueError:
        return None, "the verdict is cut off"
    # the CPU backend may have found a race or a bad address; a pass has no findings
    expected = {"passed": (0,), "right": (3,), "not yet": (1, FOUND)}[data["exercise"]["verdict"]]
    if exit_code not in expected:
        return None, f"the verdict does not agree with the exit code {exit_code}"
    return data, ""


# All of it

def known_solutions(chapter: Chapter, number: int) -> Dict[str, str]:
    folder = chapter.path / "exercises"
    files = {"as the course's solution": chapters.numbered(folder / "solution", ".cu").get(number),
             "as the starter": chapters.numbered(folder, ".cu").get(number)}
    return {name: file.read_text(encoding="utf-8") for name, file in files.items() if file}


def starter_of(chapter: Chapter, number: int) -> Tuple[str, List[str]]:
    """The starter's text with those of the chapter's files that it includes, and their names."""
    text = chapters.exercise(chapter, number).read_text(encoding="utf-8")
    headers = [name for name in submissions.headers_of(text) if (chapter.path / name).is_file()]
    return "\n".join([text] + [(chapter.path / name).read_text(encoding="utf-8")
                               for name in headers]), headers


def look_at_sources(found: List[Submission], headers: List[str]) -> Dict[int, str]:
    """Those that are not built, and the reason."""
    refused: Dict[int, str] = {}
    for index, each in enumerate(found):
        why = each.missing or submissions.refused_source(source_of(each.file), headers)
        if why:
            refused[index] = why if each.missing else f"refused: {why}"
    return refused


def source_of(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


def notes_on(chapter: Chapter, number: int, found: List[Submission]) -> List[str]:
    """Submissions with the same code as another one, names of variables and all. Short answers may
    be alike."""
    sources = {each.label: source_of(each.file) for each in found if not each.missing}
    known = known_solutions(chapter, number)
    notes = []
    for each in found:
        others = {f"as {label}": text for label, text in sources.items() if label != each.label}
        same = each.label in sources and submissions.same_code(sources[each.label],
                                                               {**others, **known})
        notes.append(f"the same code {same}" if same else "")
    return notes


def compile_all(chapter: Chapter, number: int, choice: Choice, count: int,
                refused: Dict[int, str], tests: Optional[Path]) -> None:
    """Objects first; those that pass the checks are linked. Adds to `refused`. A Problem, if the
    teacher's own tests do not compile."""
    build.configure(choice, force=True)
    todo = [index for index in range(count) if index not in refused]
    kernels = {index: target_of(chapter, number, index, kernel=True) for index in todo}
    for target in list(kernels.values())[:1]:
        build.must_have(choice, target, f"exercise {number} of {chapter.name}")
    said = build_apart(choice, list(kernels.values()), "kernels") if kernels else ""
    given = submissions.given_by(starter_of(chapter, number)[0])
    for index, target in kernels.items():
        file = object_of(chapter, choice, target, f"s{index:03}")
        why = submissions.refused_object(file, given) if file else None
        if not file:
            refused[index] = "did not compile" + first_error(said, f"s{index:03}.cu")
        elif why:
            refused[index] = f"refused: {why}"
    programs = {index: target_of(chapter, number, index) for index in todo if index not in refused}
    said = build_apart(choice, list(programs.values()), "programs") if programs else ""
    wrong = first_error(said, "tests.cpp")
    if tests and wrong:
        raise Problem(f"--tests {tests} does not compile{wrong}")
    for index, target in programs.items():
        if not (choice.folder / "bin" / target).exists():
            refused[index] = ("did not link: the function that the tests call is not there (its "
                              "name, its parameters, namespace exercise)")


def run(chapter: Chapter, choice: Choice, options: argparse.Namespace) -> int:
    """Grades a folder of submissions; 0 when all were judged, whatever the verdicts."""
    number = options.exercise
    found = submissions.find(options.grade, number)
    tests = options.tests
    if tests and not tests.is_file():
        raise Problem(f"--tests {tests}: no such file", 2)
    others = submissions.left_out(options.grade)
    if others:
        say(f"Left out, no .cu files: {as_cell(', '.join(others))}")
    grades: List[Grade] = []
    try:
        stage(chapter, number, found, tests)
        refused = look_at_sources(found, starter_of(chapter, number)[1])
        old = [choice.folder / "bin" / target_of(chapter, number, k) for k in range(len(found))]
        for file in old + list(choice.folder.rglob(f"{chapter.name}_submission_s*.dir/**/*.o")):
            file.unlink() if file.exists() else None  # of an earlier folder of submissions
        compile_all(chapter, number, choice, len(found), refused, tests)
        if not choice.can_run:
            say(f"Compiled, not judged: that needs a GPU ({choice.reason}), or --backend cpu.")
            return 3
        known = chapters.provenance_options(chapter)
        for index, (each, note) in enumerate(zip(found, notes_on(chapter, number, found))):
            grade = judged_one(chapter, number, choice, options, each, index, refused.get(index),
                               known)
            grades.append(grade._replace(note=note))
    except KeyboardInterrupt:
        if grades:
            rest = [Grade(each, "not judged", "interrupted") for each in found[len(grades):]]
            report(chapter, number, choice, grades + rest)
        raise
    finally:
        shutil.rmtree(stage_of(chapter, number), ignore_errors=True)
        build.configure(choice, force=True)  # removes the submissions from the build
    report(chapter, number, choice, grades)
    return 0


def judged_one(chapter: Chapter, number: int, choice: Choice, options: argparse.Namespace,
               each: Submission, index: int, refused: Optional[str],
               known: Sequence[str]) -> Grade:
    if refused:
        grade = Grade(each, "not yet", as_cell(refused))
    else:
        start = time.monotonic()
        program = choice.folder / "bin" / target_of(chapter, number, index)
        data, why = judge(program, f"s{index:03}", options.limit, known=known)
        program.unlink()
        spent = time.monotonic() - start
        judged = data["exercise"] if data else {"verdict": "not yet", "reason": why}
        judged["reason"] = re.sub(r"\bs\d{3}\.cu\b", "yours.cu", judged["reason"] or "")
        reason = as_cell(re.split(r"\sHint:", judged["reason"])[0])
        grade = Grade(each, judged["verdict"], reason, data, spent)
    say(f"{each.label:<20} {grade.verdict:<8} {grade.reason}")
    return grade


def report(chapter: Chapter, number: int, choice: Choice, grades: List[Grade]) -> None:
    """The CSV, and a result file for each submission that sent one."""
    date = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    folder = BUILD / "results" / f"grade-{chapter.name}-{number}-{date}"
    folder.mkdir(parents=True, exist_ok=True)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for grade in grades:
        writer.writerow(grade.row())
    (folder / "grades.csv").write_text(out.getvalue(), encoding="utf-8", errors="replace")
    for grade in grades:
        if grade.data:
            grade.data["label"] = grade.submission.label
            grade.data["exercise"]["submission"] = code.hash_of(grade.submission.file, ROOT)
            (folder / f"{grade.submission.label}.json").write_text(
                json.dumps(grade.data, indent=1) + "\n", encoding="utf-8")
    passed = sum(grade.verdict == "passed" for grade in grades)
    right = sum(grade.verdict == "right" for grade in grades)
    say(f"\n{len(grades)} submissions: {passed} passed, "
        + (f"{right} right (only a GPU can pass them), " if right else "")
        + f"{sum(grade.verdict == 'not yet' for grade in grades)} not yet"
        + ("; interrupted" if any(grade.verdict == "not judged" for grade in grades) else ""))
    say(f"Wrote: {shown(folder / 'grades.csv')} and {sum(g.data is not None for g in grades)} "
        f"result files; a leaderboard: common/plot compare --class {shown(folder)}")
