"""What this machine has: tools with their versions, the driver and the GPUs."""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import BUILD, Problem

OLDEST_CUDA = "12.0"
OLDEST_CMAKE = "3.24"
DEFAULT_ARCH = "90a-real"


class Item(NamedTuple):
    """One thing the course looks for. `version` is None when it is missing."""

    name: str
    version: Optional[str]
    where: str = ""
    problem: str = ""

    @property
    def ok(self) -> bool:
        return self.version is not None and not self.problem


class Gpu(NamedTuple):
    name: str
    capability: str
    memory_bytes: int


class Driver(NamedTuple):
    """The NVIDIA driver: the newest CUDA it serves, its GPUs, and what is wrong with it."""

    cuda: Optional[str]
    gpus: Tuple[Gpu, ...]
    problem: str


def numbers(version: str) -> Tuple[int, ...]:
    """'12.4.1' as (12, 4, 1), to compare versions."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


def output_of(command: Sequence[str], timeout: float = 30) -> str:
    """What a command prints, errors included; empty when it fails or cannot be run."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, timeout=timeout, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def version_of(command: Sequence[str], pattern: str = r"(\d+(?:\.\d+)+)") -> Optional[str]:
    """The first version number that `command` prints."""
    found = re.search(pattern, output_of(command))
    return found.group(1) if found else None


@functools.lru_cache(maxsize=None)
def probe_tool(name: str, program: str, oldest: str = "") -> Item:
    """A program on PATH or in build/venv; the first one that is new enough wins."""
    item = Item(name, None)
    for path in (shutil.which(program), shutil.which(program, path=str(BUILD / "venv" / "bin"))):
        version = version_of([path, "--version"]) if path else None
        if version and path:
            old = bool(oldest) and numbers(version) < numbers(oldest)
            item = Item(name, version, path, f"older than {oldest}" if old else "")
            if not old:
                break
    return item


@functools.lru_cache(maxsize=None)
def toolkit_nvcc(nvcc: str) -> str:
    """The nvcc inside its toolkit. A link is followed; a script that only starts another nvcc (as
    packages and clusters install) is asked for the path of that one."""
    real = os.path.realpath(nvcc)
    try:
        with open(real, "rb") as file:
            script = file.read(2) == b"#!"
    except OSError:
        script = False
    told = output_of([nvcc, "--dryrun", "-x", "cu", "-c", os.devnull]) if script else ""
    here = re.search(r"^#\$ _HERE_=(.+)$", told, re.MULTILINE)
    return os.path.realpath(Path(here.group(1)) / "nvcc") if here else real


def nvcc_candidates() -> List[str]:
    """The nvcc of every toolkit of this machine, the one to use first."""
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    named = [os.environ.get("CUDACXX"), shutil.which("nvcc")]
    named += [str(Path(home) / "bin" / "nvcc") for home in homes if home]
    found: Dict[str, str] = {}
    for path in named:
        if path and os.access(path, os.X_OK):
            found.setdefault(toolkit_nvcc(path), path)
    return list(found.values())


@functools.lru_cache(maxsize=None)
def probe_nvcc() -> Item:
    """CUDA's compiler."""
    for path in nvcc_candidates():
        version = version_of([path, "--version"], r"\bV(\d+\.\d+\.\d+)")
        if version:
            old = numbers(version) < numbers(OLDEST_CUDA)
            return Item("nvcc", version, path, f"older than {OLDEST_CUDA}" if old else "")
    return Item("nvcc", None)


def cuda_version(number: int) -> str:
    """13000 as '13.0', CUDA's own way of writing its versions."""
    return f"{number // 1000}.{number % 1000 // 10}"


def probe_runtime() -> Item:
    """CUDA's runtime library, asked for its own version; works without a driver."""
    folders = [""]
    nvcc = probe_nvcc()
    if nvcc.version:
        home = Path(toolkit_nvcc(nvcc.where)).parents[1]
        folders = [f"{home}/lib64/", f"{home}/targets/x86_64-linux/lib/", ""]
    for folder in folders:
        for suffix in ("so", "so.13", "so.12"):
            library = f"{folder}libcudart.{suffix}"
            try:
                number = ctypes.c_int()
                if ctypes.CDLL(library).cudaRuntimeGetVersion(ctypes.byref(number)) == 0:
                    return Item("CUDA runtime", cuda_version(number.value), library)
            except (OSError, AttributeError):
                continue
    # The static library that nvcc links by default has the version of nvcc.
    version = ".".join(nvcc.version.split(".")[:2]) if nvcc.version else None
    return Item("CUDA runtime", version, "as nvcc" if version else "")


def load_libcuda() -> Optional[ctypes.CDLL]:
    """The driver's library, including the places where WSL2 and Colab keep it."""
    for folder in ("", "/usr/lib/wsl/lib/", "/usr/lib64-nvidia/"):
        try:
            return ctypes.CDLL(f"{folder}libcuda.so.1")
        except OSError:
            continue
    return None


def read_gpu(cuda: ctypes.CDLL, index: int) -> Gpu:
    """Name, compute capability and memory of one GPU, asked from the driver."""
    device, value, memory = ctypes.c_int(), ctypes.c_int(), ctypes.c_size_t()
    name = ctypes.create_string_buffer(256)
    cuda.cuDeviceGet(ctypes.byref(device), index)
    cuda.cuDeviceGetName(name, 256, device)
    cuda.cuDeviceTotalMem_v2(ctypes.byref(memory), device)
    capability = []
    for attribute in (75, 76):  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR
        cuda.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
        capability.append(str(value.value))
    return Gpu(name.value.decode("utf-8", "replace"), ".".join(capability), memory.value)


@functools.lru_cache(maxsize=None)
def driver() -> Driver:
    """Ask the driver itself; no driver, a broken one and hidden GPUs each get their own message."""
    cuda = load_libcuda()
    if cuda is None:
        return Driver(None, (), "no NVIDIA driver found")
    try:
        number, count = ctypes.c_int(), ctypes.c_int()
        code = cuda.cuInit(0)
        cuda.cuDriverGetVersion(ctypes.byref(number))
        version = cuda_version(number.value) if number.value else None
        if code == 0:
            code = cuda.cuDeviceGetCount(ctypes.byref(count))
        if code not in (0, 100):
            return Driver(version, (), f"the NVIDIA driver does not start (CUDA error {code})")
        gpus = tuple(read_gpu(cuda, index) for index in range(count.value))
    except AttributeError:
        return Driver(None, (), "the NVIDIA driver is too old")
    hidden = "CUDA_VISIBLE_DEVICES" in os.environ
    reason = "no NVIDIA GPU visible" + (" (see CUDA_VISIBLE_DEVICES)" if hidden else "")
    return Driver(version, gpus, "" if gpus else reason)


def probe_driver() -> Item:
    """The driver, by the newest CUDA that it serves."""
    module = Path("/sys/module/nvidia/version")
    release = f"release {module.read_text().strip()}" if module.exists() else ""
    found = driver()
    return Item("CUDA driver", found.cuda, release, "" if found.cuda is None else
                "" if found.gpus or "visible" in found.problem else found.problem)


def probe_gpu() -> Item:
    """The GPUs, in the driver's order."""
    gpus = driver().gpus
    if not gpus:
        return Item("GPU", None, "", driver().problem)
    text = ", ".join(f"{gpu.name} ({gpu.memory_bytes / 2**30:.0f} GiB)" for gpu in gpus)
    problem = dropped(gpus[0], probe_nvcc().version)
    return Item("GPU", f"cc {gpus[0].capability}", text, problem)


def dropped(gpu: Gpu, toolkit: Optional[str]) -> str:
    """Why this toolkit no longer builds for this GPU, or nothing."""
    if toolkit and numbers(toolkit)[0] >= 13 and numbers(gpu.capability) < (7, 5):
        release = ".".join(toolkit.split(".")[:2])
        return (f"CUDA {release} supports compute capability 7.5 and newer, this {gpu.name} has "
                f"{gpu.capability}: use CUDA 12.x")
    return ""


def architectures(requested: str) -> Tuple[str, str]:
    """CMake's architecture list, and where it comes from."""
    if requested:
        listed = [arch_of(part) for part in re.split(r"[,; ]+", requested) if part]
        return ";".join(listed), "--arch"
    if os.environ.get("CUDAARCHS"):
        return os.environ["CUDAARCHS"].replace(",", ";"), "CUDAARCHS"
    found = {arch_name(gpu.capability.replace(".", "")) for gpu in driver().gpus
             if not dropped(gpu, probe_nvcc().version)}
    if found:
        return ";".join(sorted(found)), "the GPU of this machine"
    return DEFAULT_ARCH, "no GPU to build for: the default for a compile check"


def arch_of(text: str) -> str:
    """CMake's name of an architecture as people write it: 80, 8.0 and sm_80 are all '80-real'."""
    if text in ("all", "all-major", "native"):
        return text
    found = re.fullmatch(r"(?:sm_)?(\d+)\.?(\d)([af]?)(-real|-virtual)?", text)
    if not found:
        raise Problem(f"--arch '{text}': write compute capabilities like this: 80,90", 2)
    digits, details = found.group(1) + found.group(2), found.group(3) + (found.group(4) or "")
    return digits + details if details else arch_name(digits)


def check_architectures(arch: str) -> None:
    """Stop if this nvcc says that it cannot build for one of CMake's architectures."""
    nvcc = probe_nvcc()
    known = re.findall(r"compute_(\d+)\b", output_of([nvcc.where, "--list-gpu-arch"]))
    for number in re.findall(r"(?:^|;)(\d+)", arch) if known else ():
        if number not in known:
            release = ".".join((nvcc.version or "").split(".")[:2])
            raise Problem(f"CUDA {release} builds for compute capability {dotted(known[0])} to "
                          f"{dotted(known[-1])}, not for {dotted(number)}: choose another --arch, "
                          "or another toolkit with CUDACXX", 2)


def dotted(digits: str) -> str:
    """'120' as '12.0'."""
    return f"{digits[:-1]}.{digits[-1]}"


def arch_name(digits: str) -> str:
    """'86' as '86-real': machine code for that GPU alone. Hopper's extras need an 'a'."""
    return DEFAULT_ARCH if digits == "90" else f"{digits}-real"


def short_name(gpu: str) -> str:
    """'NVIDIA GeForce RTX 4090' as 'rtx4090', 'NVIDIA H100 80GB HBM3' as 'h100': for file names."""
    words = re.sub(r"\b(NVIDIA|GeForce|Tesla|Quadro|\d+GB|HBM\d*e?)\b", "", gpu, flags=re.IGNORECASE)
    return re.sub(r"[^a-z0-9]", "", words.lower()) or "gpu"


def probe_cxx() -> Item:
    """A host compiler that knows C++17, and that nvcc accepts."""
    for name in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        path = shutil.which(name) if name else None
        text = output_of([path, "--version"]) if path else ""
        version = re.search(r"(\d+\.\d+(?:\.\d+)*)", text)
        if path and version:
            kind = "clang" if "clang" in text else "g++"
            oldest = "7" if kind == "clang" else "8"
            old = numbers(version.group(1)) < numbers(oldest)
            problem = f"{kind} {oldest} or newer is needed for C++17" if old else ""
            return Item("C++ compiler", version.group(1), path, problem)
    return Item("C++ compiler", None)


def probe_googletest() -> Item:
    """GoogleTest: a CMake package, headers, or Debian's sources. CMake may also download it."""
    roots = [*os.environ.get("CMAKE_PREFIX_PATH", "").split(os.pathsep), "/usr", "/usr/local",
             "/opt/homebrew"]
    config = "cmake/GTest/GTestConfigVersion.cmake"
    for root in (Path(entry) for entry in roots if entry):
        for file in [*root.glob(f"lib*/{config}"), *root.glob(f"lib/*/{config}")]:
            return Item("GoogleTest", first_number(file, r'PACKAGE_VERSION "'), str(file.parent))
        if (root / "include/gtest/gtest.h").exists():
            return Item("GoogleTest", "found", str(root / "include/gtest"))
    sources = Path("/usr/src/googletest/CMakeLists.txt")
    if sources.exists():
        return Item("GoogleTest", first_number(sources, "GOOGLETEST_VERSION "), str(sources.parent))
    return Item("GoogleTest", None)


def first_number(file: Path, prefix: str) -> str:
    """The version that follows `prefix` in a file."""
    found = re.search(prefix + r"([\d.]+)", file.read_text())
    return found.group(1) if found else "found"


@functools.lru_cache(maxsize=None)
def probe_matplotlib() -> Item:
    """The first python that can import matplotlib; for this one, no other process is asked."""
    try:
        return Item("matplotlib", __import__("matplotlib").__version__, sys.executable)
    except Exception:  # a broken installation may raise anything
        pass
    pythons = [shutil.which("python3"), "/usr/bin/python3", str(BUILD / "venv" / "bin" / "python")]
    for python in dict.fromkeys(path for path in pythons if path and os.access(path, os.X_OK)):
        version = version_of([python, "-c", "import matplotlib as m; print(m.__version__)"])
        if version:
            return Item("matplotlib", version, python)
    return Item("matplotlib", None)


def can_plot(script: Path) -> bool:
    """True if this python can plot. If only another one can, that one restarts the script, and this
    call never returns."""
    python = probe_matplotlib().where
    if python and python != sys.executable and "COURSE_PLOT" not in os.environ:
        sys.stdout.flush()
        os.execve(python, [python, str(script.resolve()), *sys.argv[1:]],
                  {**os.environ, "COURSE_PLOT": "again"})
    return python == sys.executable


PROBES: Dict[str, Callable[[], Item]] = {
    "nvcc": probe_nvcc,
    "CUDA runtime": probe_runtime,
    "CUDA driver": probe_driver,
    "GPU": probe_gpu,
    "C++ compiler": probe_cxx,
    "CMake": lambda: probe_tool("CMake", "cmake", OLDEST_CMAKE),
    "ninja": lambda: probe_tool("ninja", "ninja"),
    "architecture": lambda: Item("architecture", platform.machine() or None, platform.system()),
    "GoogleTest": probe_googletest,
    "matplotlib": probe_matplotlib,
    "python": lambda: Item("python", platform.python_version(), sys.executable,
                           "older than 3.8" if sys.version_info < (3, 8) else ""),
    "doxygen": lambda: probe_tool("doxygen", "doxygen"),
    "clang-format 14": lambda: probe_tool("clang-format 14", "clang-format-14"),
    "shellcheck": lambda: probe_tool("shellcheck", "shellcheck"),
}


def forget() -> None:
    """Look again after something was installed."""
    for probe in (probe_tool, probe_matplotlib, toolkit_nvcc):
        probe.cache_clear()


def places() -> List[str]:
    """Special environments that change what to do: WSL2, Colab, a Slurm cluster."""
    seen = []
    if "microsoft" in platform.release().lower():
        seen.append("WSL2: install the driver in Windows, never in Linux; the toolkit in Linux")
    if "COLAB_RELEASE_TAG" in os.environ or "COLAB_GPU" in os.environ:
        seen.append("Colab: choose a GPU in Runtime > Change runtime type; files vanish at the end")
    if "SLURM_JOB_ID" in os.environ:
        seen.append("Slurm job: nothing will be asked and nothing installed")
    elif shutil.which("sbatch"):
        seen.append("Slurm cluster: build here with --build-only --arch 80,90, run in a job")
    return seen


def newest_host_compiler(nvcc: str) -> Optional[int]:
    """The newest major version of g++ that this toolkit accepts, read from its own header."""
    header = Path(toolkit_nvcc(nvcc)).parents[1] / "include/crt/host_config.h"
    found = re.search(r"__GNUC__ > (\d+)", header.read_text()) if header.exists() else None
    return int(found.group(1)) if found else None


def warnings() -> List[str]:
    """Combinations that cause trouble: each with what to do."""
    said = []
    nvcc, runtime, cxx, found = probe_nvcc(), probe_runtime().version, probe_cxx(), driver()
    if nvcc.version and nvcc.problem:
        said.append(f"nvcc {nvcc.version} is too old: install CUDA {OLDEST_CUDA} or newer")
    if found.cuda and runtime and numbers(found.cuda) < numbers(runtime):
        said.append(f"the driver serves CUDA {found.cuda}, older than the toolkit's {runtime}: "
                    f"update the driver, or use CUDA {found.cuda.split('.')[0]}.x")
    said += sorted({text for text in (dropped(gpu, nvcc.version) for gpu in found.gpus) if text})
    if len(nvcc_candidates()) > 1:
        others = ", ".join(nvcc_candidates()[1:])
        said.append(f"several toolkits: {nvcc.where} is used, not {others} (set CUDACXX to choose)")
    limit = newest_host_compiler(nvcc.where) if nvcc.version else None
    if limit and cxx.version and "clang" not in cxx.where and numbers(cxx.version)[0] > limit:
        said.append(f"g++ {cxx.version} is newer than this toolkit takes ({limit}): "
                    f"install g++-{limit} and set CUDAHOSTCXX=g++-{limit}")
    return said
