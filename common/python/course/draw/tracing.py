"""Runs the programs that the lessons' drawings name, on the CPU backend: docs/lessons --trace."""
from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import List

from .. import BUILD, ROOT, Problem, build, one_file
from ..pages import Page


def command_of(page: Page, file: str, study: str) -> List[str]:
    """Builds the program that runs a file of a page's chapter; how it is called."""
    chapter, source = page.path.resolve().parent, page.path.parent / file
    script = str(ROOT / "chapters" / "run")
    if "int main(" in source.read_text(encoding="utf-8"):
        named = one_file.Source(str(source), source.resolve())
        choice = build.on_cpu("it sees every address")
        return [str(one_file.build_for_cpu(named, choice))]
    done = subprocess.run([sys.executable, script, chapter.name, "--backend", "cpu",
                           "--build-only"], stdout=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise Problem(f"{chapter.name} did not build: {script} {chapter.name} --backend cpu")
    return chapter_command(BUILD / "cpu" / "bin" / chapter.name, file, study)


def chapter_command(program: Path, file: str, study: str) -> List[str]:
    """A chapter's program: the version of this file alone, where the study names it."""
    return versions_command(program, named_in(program, [Path(file).stem], study), study)


def named_in(program: Path, versions: List[str], study: str) -> List[str]:
    """These versions, or none if the study's rows have other names."""
    if study == "sequence":
        return versions
    listed = subprocess.run([str(program), "--list"], stdout=subprocess.PIPE, check=True,
                            universal_newlines=True).stdout
    return versions if set(versions) <= set(rows_of(listed, study)) else []


def rows_of(listed: str, study: str) -> List[str]:
    """The rows of a study, of what --list prints."""
    block = re.search(rf"^{re.escape(study)}: .*\n((?:  .*\n)*)", listed, re.M)
    return re.findall(r"^  (\S+)", block[1], re.M) if block else []


def run_versions(page: Page, versions: List[str], study: str, trace: Path) -> None:
    """The chapter's program with these versions, or all of a study."""
    program = command_of(page, f"{versions[0]}.cu" if versions else "versions.cpp", study)[0]
    call(versions_command(Path(program), versions, study), trace)


def versions_command(program: Path, versions: List[str], study: str) -> List[str]:
    only = ["--only", ",".join(versions)] if versions else []
    return [str(program), "--study", study, "--model", *only]


def run(page: Page, file: str, study: str, trace: Path) -> None:
    """The program of a file, its requests written to `trace`."""
    call(command_of(page, file, study), trace)


def call(command: List[str], trace: Path) -> None:
    alone = len(command) == 1  # a chapter's program itself chooses what is counted
    surroundings = {**os.environ, **({"SIMT_COUNT": "1"} if alone else {}),
                    "SIMT_TRACE": str(trace)}
    done = subprocess.run(command, env=surroundings, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False)
    if done.returncode or not trace.exists():
        raise Problem(f"{' '.join(command)} failed with exit code {done.returncode}")
