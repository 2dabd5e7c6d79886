"""Configuring and building: which folder, which backend, and what to say when it fails."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Sequence

from . import BUILD, ROOT, Problem, install, machine, say, shown


class Choice(NamedTuple):
    """A backend and architecture to build for, and whether its kernels can run here."""

    backend: str      # CMake's COURSE_BACKEND: cuda or cpu
    arch: str         # CMake's architecture list, empty for cpu
    folder: Path
    can_run: bool     # cuda: a GPU is there and this toolkit serves it; cpu: always
    reason: str       # why there is no GPU to run on, or the name of the GPU
    rebuild: bool = True  # False on a node without nvcc that finds programs built elsewhere
    flags: str = ""   # cuda: more flags for nvcc


class Result(NamedTuple):
    """How a build ended: the targets' log, and the .cu files (stems) that did not compile."""

    ok: bool
    log: Path
    errors: List[str]
    broken: List[str]


def folder_for(arch: str) -> Path:
    """build/cuda-90a for 90a-real, build/cuda-80-90a for two."""
    return BUILD / ("cuda-" + re.sub(r"[^\w]+", "-", arch.replace("-real", "")))


def cached(folder: Path) -> Dict[str, str]:
    """The entries of a build folder's CMakeCache.txt."""
    file = folder / "CMakeCache.txt"
    text = file.read_text(errors="replace") if file.exists() else ""
    return dict(re.findall(r"^([\w-]+):\w+=(.*)$", text, re.MULTILINE))


def covering_folder(arch: str) -> Path:
    """The folder of `arch`, or one built for more architectures (on a login node)."""
    own = folder_for(arch)
    if not own.exists():
        for other in sorted(BUILD.glob("cuda-*")):
            built = cached(other).get("CMAKE_CUDA_ARCHITECTURES", "").split(";")
            if built == ["all-major"] or set(arch.split(";")) <= set(built):
                return other
    return own


def on_cpu(reason: str) -> Choice:
    """The CPU backend, which needs neither nvcc nor a GPU. `reason`: why it is chosen."""
    say(f"Backend: the CPU ({reason}); it runs and checks kernels, it does not time them.")
    return Choice("cpu", "", BUILD / "cpu", True, reason)


def choose(backend: str, requested_arch: str, compile_only: bool) -> Choice:
    """Pick backend and architecture for this machine; say both, a line each.

    `compile_only`: without a GPU, compile for one rather than take the CPU backend.
    """
    if backend == "cpu":
        if requested_arch:
            raise Problem("--arch is for GPUs: leave it out, or --backend cpu", 2)
        return on_cpu("as asked")
    nvcc, driver = machine.probe_nvcc(), machine.driver()
    arch, why = machine.architectures(requested_arch)
    old = [text for text in (machine.dropped(gpu, nvcc.version) for gpu in driver.gpus) if text]
    reason = driver.problem or (old[0] if old else "")
    gpu = not reason
    if nvcc.ok:
        machine.check_architectures(arch)
    compile_only = compile_only or bool(requested_arch)
    if backend == "cuda" and not gpu and not compile_only:
        raise Problem(f"{reason}: --backend cuda needs a GPU (--build-only does not); "
                      "--backend cpu does without", 3)
    folder = covering_folder(arch) if gpu and not requested_arch else folder_for(arch)
    if nvcc.ok and (gpu or compile_only):
        built = cached(folder).get("CMAKE_CUDA_ARCHITECTURES")
        if folder != folder_for(arch) and built:
            arch, why = built, f"built before in {shown(folder)}"
        say(f"Backend: {driver.gpus[0].name}." if gpu else
            f"Backend: no GPU ({reason}); kernels are compiled, not run.")
        say(f"Architecture: {arch} ({why}).")
        return Choice("cuda", arch, folder, gpu, driver.gpus[0].name if gpu else reason)
    if gpu and any((folder / "bin").glob("*")):
        say(f"Backend: {driver.gpus[0].name}; no nvcc: using the programs in {shown(folder)}.")
        return Choice("cuda", arch, folder, True, driver.gpus[0].name, rebuild=False)
    lack = f"nvcc {nvcc.version} is {nvcc.problem}" if nvcc.version else "nvcc not found"
    if requested_arch or backend == "cuda":
        raise Problem(f"{lack}: {install.fix('nvcc')}")
    return on_cpu(", ".join(filter(None, [reason, "" if nvcc.ok else lack])))


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """One run at a time in a build folder: builds would clash, and timings disturb each other."""
    try:
        BUILD.mkdir(exist_ok=True)
        lock = open(BUILD / f"{folder.name}.lock", "a+")
    except OSError as error:
        raise Problem(f"cannot write into {shown(BUILD)}: {error.strerror}") from None
    with lock as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            owner = file.read().strip() or "?"
            say(f"Another run (process {owner}) uses {shown(folder)}: waiting.")
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError:
            pass  # a network disk without locks: then build without one
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def configure_command(choice: Choice, broken: Sequence[str], download: bool,
                      source: Path = ROOT) -> List[str]:
    """CMake's command line for one choice."""
    cmake, ninja = machine.PROBES["CMake"](), machine.PROBES["ninja"]()
    command = [cmake.where, "-S", str(source), "-B", str(choice.folder)]
    if ninja.version:
        command += ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja.where}"]
    command += [f"-DCOURSE_BACKEND={choice.backend}", f"-DCOURSE_BROKEN={';'.join(broken)}",
                f"-DCOURSE_NO_DOWNLOAD={'OFF' if download else 'ON'}"]
    if choice.backend == "cuda":
        command += [f"-DCMAKE_CUDA_ARCHITECTURES={choice.arch}",
                    f"-DCMAKE_CUDA_COMPILER={machine.probe_nvcc().where}"]
        command += [f"-DCMAKE_CUDA_FLAGS={choice.flags}"] if choice.flags else []
    return command


def is_configured(folder: Path) -> bool:
    return (folder / "CMakeCache.txt").exists() and any(
        (folder / name).exists() for name in ("build.ninja", "Makefile"))


def explain(text: str) -> str:
    """CMake's first error in a few lines, without its call stack."""
    lines = [line for line in text.splitlines() if line.strip()]
    first = next((i for i, line in enumerate(lines) if "CMake Error" in line), -12)
    return "\n".join(lines[first:][:12]).split("\nCall Stack")[0].split("\n-- Configuring")[0]


def stop_if_full(text: str = "") -> None:
    """A full disk makes compilers and CMake fail with unclear messages: name the cause."""
    free = shutil.disk_usage(BUILD).free
    if "No space left on device" in text or free < 2**20:
        raise Problem(f"the disk is full: {free >> 20} MiB are left for {shown(BUILD)}")


def has_googletest(folder: Path) -> bool:
    """GoogleTest is installed, or was downloaded into this build folder before."""
    return machine.PROBES["GoogleTest"]().ok or (folder / "_deps" / "googletest-src").exists()


def can_download() -> bool:
    """GitHub or Debian answers. Without a network CMake itself would try for minutes, and say nothing."""
    if any(name.lower() in ("http_proxy", "https_proxy", "all_proxy") for name in os.environ):
        return True  # only a download shows what the proxy allows
    for host in ("github.com", "deb.debian.org"):
        try:
            socket.create_connection((host, 443), timeout=5).close()
            return True
        except OSError:
            continue
    return False


def configure(choice: Choice, broken: Sequence[str] = (), force: bool = False,
              download: bool = False, source: Path = ROOT) -> None:
    """Configure the build folder if it never was, or was with other arguments.

    `download`: get GoogleTest where it is missing; only tests need it. `source`: the CMake project.
    """
    command = configure_command(choice, broken, download or has_googletest(choice.folder), source)
    stamp, log = choice.folder / "course_configure.json", choice.folder / "configure.log"
    before = stamp.read_text() if stamp.exists() else ""
    if is_configured(choice.folder) and before == json.dumps(command) and not force:
        return
    say(f"Configuring {shown(choice.folder)} ...")
    choice.folder.mkdir(parents=True, exist_ok=True)
    cache = cached(choice.folder)
    changed = {"CMAKE_HOME_DIRECTORY": str(source), "CMAKE_CUDA_COMPILER": next(
        (word.split("=", 1)[1] for word in command if "CUDA_COMPILER" in word), None),
        "CMAKE_GENERATOR": "Ninja" if "-G" in command else "Unix Makefiles"}
    if any(value and cache.get(key, value) != value for key, value in changed.items()):
        command.insert(1, "--fresh")  # CMake refuses to change these in an old folder
    stamp.unlink(missing_ok=True)  # a failure now must not count as done later
    with open(log, "wb") as file:
        code = subprocess.call(command, stdout=file, stderr=subprocess.STDOUT, cwd=str(ROOT))
    if code:
        text = log.read_text(errors="replace")
        stop_if_full(text)
        if "googletest-populate" in text:
            raise Problem("GoogleTest could not be downloaded (whole text: "
                          f"{shown(log)}); to get it: {install.fix('GoogleTest')}")
        say(explain(text))
        raise Problem(f"CMake could not configure; the whole text: {shown(log)}")
    stamp.write_text(json.dumps([word for word in command if word != "--fresh"]))


def workers() -> int:
    """Compile jobs at a time: one per core, and about 2 GiB of memory each."""
    here = getattr(os, "sched_getaffinity", None)  # Linux only; a batch job may own few cores
    cores = len(here(0)) if here else os.cpu_count() or 1
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**31
    except (ValueError, OSError):
        memory = cores
    return max(1, min(cores, memory, 32))


def progress(line: str, last: float, terminal: bool) -> float:
    """Show one step of the build: in place on a terminal, else a line every few seconds."""
    step = re.match(r"\[\s*(\d+/\d+|\d+%)\] \w+ .*?([^/ ]+)$", line)
    if step and (terminal or time.monotonic() - last > 5):
        text = f"  [{step.group(1)}] {re.sub('[.]o$', '', step.group(2))[:60]}"
        print(f"\r{text:<76}" if terminal else text, end="" if terminal else "\n", flush=True)
        return time.monotonic()
    return last


def first_errors(text: str, limit: int = 8) -> List[str]:
    """The compiler's or linker's own error lines, without the commands around them."""
    wanted = re.compile(r"\berror\b|undefined reference|multiple definition|\bfatal\b|"
                        r"needs a GPU: ", re.I)
    lines = [line.rstrip() for line in text.splitlines() if wanted.search(line)]
    noise = re.compile(r"^(FAILED|ninja|make|collect2|gmake)\b|errors? detected in|^\[\d+/")
    kept = [line.replace(f"{ROOT}/", "") for line in lines if not noise.search(line)]
    return list(dict.fromkeys(kept))[:limit]


def build(choice: Choice, targets: Sequence[str], name: str, log_name: str = "") -> Result:
    """Build `targets` in a configured folder, with progress and the time it took."""
    command = [machine.PROBES["CMake"]().where, "--build", str(choice.folder), "--parallel",
               str(workers()), "--target", *targets, "--", "-k"]
    command += ["0"] if (choice.folder / "build.ninja").exists() else []
    log, terminal = choice.folder / f"{log_name or name}.log", sys.stdout.isatty()
    start = last = time.monotonic()
    lines: List[str] = []
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, errors="replace")
    assert process.stdout is not None
    try:
        for line in process.stdout:
            lines.append(line)
            last = progress(line.rstrip(), last, terminal)
        code = process.wait()
    except KeyboardInterrupt:
        process.terminate()
        process.wait()
        raise
    print("\r" + " " * 76 + "\r" if terminal else "", end="", flush=True)
    text = "".join(lines)
    if code:
        stop_if_full(text)
    log.write_text(text)
    if code == 0:
        say(f"Built {name} in {time.monotonic() - start:.0f} s.")
    failed = re.findall(r"(?:FAILED|\*\*\*).*?([^/ ]+)\.cu(?:\.cpp)?(?:\.o|\b)", text)
    return Result(code == 0, log, first_errors(text), list(dict.fromkeys(failed)))


def targets_of(folder: Path) -> List[str]:
    """The names that can be built in a configured folder."""
    text = machine.output_of([machine.PROBES["CMake"]().where, "--build", str(folder),
                              "--target", "help"])
    return re.findall(r"^(?:\.\.\. )?([\w./-]+)(?:: phony)?(?: \(.*\))?$", text, re.MULTILINE)


def must_have(choice: Choice, target: str, what: str) -> None:
    """A Problem, if a configured folder has no such target: `what` needs a newer GPU."""
    if target not in targets_of(choice.folder):
        of = " and ".join(machine.dotted(one) for one in re.findall(r"\d\d+", choice.arch))
        raise Problem(f"{what} needs compute capability 9.0: use --backend cpu (this build is for "
                      f"{of})")


def call(command: Sequence[str], interrupted: str = "interrupted", limit: Optional[float] = None,
         **options: Any) -> int:
    """Run a program of ours to its end, or for at most `limit` seconds. On Ctrl-C it gets time to
    save its finished results."""
    process = subprocess.Popen(list(command), **options)
    try:
        code = process.wait(limit)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise Problem(f"{Path(command[0]).name} was not over after {limit:g} s and was ended",
                      124) from None
    except KeyboardInterrupt:
        code = stop(process)
    if code in (130, -signal.SIGINT):
        raise Problem(interrupted, 130)
    if code < 0:
        say(f"{Path(command[0]).name} was ended by {signal.Signals(-code).name}")
        return 128 - code
    return code


def stop(process: "subprocess.Popen[Any]") -> int:
    """After Ctrl-C, which the terminal sends to both processes: wait, ask again, then kill."""
    for last_word in (process.send_signal, lambda _: process.kill()):
        try:
            process.wait(timeout=20)
            break
        except (KeyboardInterrupt, subprocess.TimeoutExpired):
            last_word(signal.SIGINT)
    process.wait()
    return 130
