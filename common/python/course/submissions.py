"""Submissions of an exercise: found in a folder, and looked at before they are built and run.

A submission is one .cu file whose function is compiled apart from the tests. It may include the
standard library's and CUDA's headers and what its starter includes of the chapter, define things in
namespace exercise, and call what an answer needs. What else an object file calls or defines is
refused before it runs: the list of what is allowed is short, so that a way round the tests is not
there rather than forbidden.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Dict, List, NamedTuple, Optional, Sequence

from . import Problem, code

INCLUDE = re.compile(r"^\s*(?:#|%:|\?\?=)\s*include\b\s*(.*)$", re.M)
HEADERS = re.compile(r"<((cuda|cub|thrust|cooperative_groups|nv)[\w./]*|[a-z_0-9]+(\.h)?)>$")
REFUSED = {"constructor": "code that runs before main()", "init_priority": "code before main()",
           "__has_include": "asking for other files", "__has_embed": "asking for other files",
           "incbin": "other files", "embed": "other files", "_Pragma": "pragmas",
           "__FILE__": "names of files"}
# What an object may ask of others: the backend, CUDA, mathematics, what compilers put in.
CALLS = re.compile(
    r"^(_?_?simt\w*|_?simt::.*|simt::.*|__tsan_\w+|__sanitizer_\w+|cu[A-Z]\w*|cuda\w*|__cuda\w*|"
    r"cuda\w*::.*|blockIdx|threadIdx|blockDim|gridDim|warpSize|_Unwind_Resume|__gxx_personality_v0|"
    r"_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|__cxa_\w+|__dso_handle|atexit|memset|memcpy|memmove|"
    r"printf|puts|putchar|__assert_fail|__trap|operator (new|delete).*|"
    r"(cub|thrust|cooperative_groups|std|__gnu_cxx)::.*|(vtable|typeinfo|VTT) .*|"
    r"a?(sin|cos|tan)h?f?|(a?tan2|sqrt|cbrt|exp2?|expm1|log2?|log10|log1p|pow|fabs?|floor|ceil|"
    r"round|trunc|fmod|fmax|fmin|fma|hypot|erfc?|tgamma|lgamma|ldexp|frexp|rint|l?lrintf?|"
    r"l?lroundf?|sincos|rsqrt|isnan|isinf)f?l?)(\(.*)?$")
STD_REFUSED = re.compile(r"std::(thread|basic_(if|of|f)stream|basic_filebuf|filesystem|exit|abort|"
                         r"quick_exit|terminate|system|getenv)")
OWN = ("exercise::", "guard variable for exercise::", "__device_stub__")
SYSTEM_CALLS = re.compile(r"\t(syscall|sysenter|svc|int +\$0x80)\b")


class Submission(NamedTuple):
    """One file of one student."""

    label: str
    file: Path


def find(folder: Path, number: int) -> List[Submission]:
    """FOLDER/LABEL.cu, or FOLDER/LABEL/ with one .cu file (of several the one named N_*.cu)."""
    if not folder.is_dir():
        raise Problem(f"--grade {folder}: no such folder", 2)
    found = [Submission(label_of(file.stem), file) for file in sorted(folder.glob("*.cu"))]
    for inner in sorted(path for path in folder.iterdir() if path.is_dir()):
        files = sorted(inner.rglob("*.cu"))
        named = [file for file in files if file.name.startswith(f"{number}_")]
        chosen = named if len(named) == 1 else files
        if len(chosen) == 1:
            found.append(Submission(label_of(inner.name), chosen[0]))
        elif files:
            raise Problem(f"--grade: {inner} has {len(files)} .cu files; leave the one to grade, "
                          f"or name it {number}_name.cu", 2)
    if not found:
        raise Problem(f"--grade: no .cu files in {folder}; one per student, or a folder each", 2)
    labels = [each.label for each in found]
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise Problem(f"--grade: two submissions are named {twice[0]}", 2)
    return found


def label_of(name: str) -> str:
    """A name that a result file may be called."""
    return re.sub(r"[^\w.-]+", "_", name)


def headers_of(starter: str) -> List[str]:
    """The files of its chapter that a starter includes."""
    return re.findall(r'^#include "([\w.]+)"', starter, re.M)


def refused_source(text: str, headers: Sequence[str] = ()) -> Optional[str]:
    """Why a source is not built: it takes in other files, or has what no answer needs. `headers`:
    files of the chapter that it may include."""
    joined = re.sub(r"\\[ \t]*\r?\n", "", text)  # lines that go on
    plain = re.sub(r"//[^\n]*|/\*.*?\*/", " ", joined, flags=re.S)
    for line in INCLUDE.findall(plain):
        if line.strip() in [f'"{name}"' for name in headers]:
            continue
        if not HEADERS.match(line.strip()) or ".." in line:
            return (f"it includes {line.strip() or 'a file'}: only headers of CUDA and of the "
                    "standard library, in <>")
    for token in code.tokens(joined):
        if token in REFUSED:
            return f"it uses {token} ({REFUSED[token]})"
    return None


def same_code(text: str, others: Dict[str, str]) -> Optional[str]:
    """The name of a file with the same tokens."""
    mine = list(code.tokens(text))
    return next((name for name, other in others.items() if list(code.tokens(other)) == mine), None)


def listed(command: Sequence[str]) -> str:
    return subprocess.run(list(command), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, check=False).stdout


def refused_object(file: Path, given: Sequence[str] = ()) -> Optional[str]:
    """Why an object file is not linked and run: it calls or defines what no answer does. `given`:
    namespaces of the course whose functions the starter declares."""
    names = listed(["nm", "-C", str(file)])
    if not names:
        raise Problem(f"nm could not read {file}; it comes with the compiler (binutils)")
    return refused_names(names, given) or hidden(file)


def given_by(starter: str) -> List[str]:
    """The namespaces that a starter declares functions of, such as another version's."""
    return [name for name in re.findall(r"^namespace (\w+)", starter, re.M) if name != "exercise"]


def refused_names(names: str, given: Sequence[str] = ()) -> Optional[str]:
    """What is wrong with the lines of nm, if anything. What nvcc adds itself calls exit()."""
    linked = re.search(r" U __cudaRegisterLinkedBinary(_\w+)$", names, re.M)  # kernels by kernels
    from_nvcc = linked is not None or " U __cudaRegisterFatBinary" in names
    wrapper = f"__fatbinwrap{linked.group(1)}" if linked else None
    ours = tuple(f"{name}::" for name in given)
    for line in names.splitlines():
        kind, name = line[17:18], line[19:]
        if "_GLOBAL__sub_I" in name or "_GLOBAL__I" in name:
            return "it runs code before main(): a variable with a constructor"
        allowed = from_nvcc and name == "exit" or name.startswith(ours)
        if kind == "U" and not allowed and (
                not CALLS.match(name) or STD_REFUSED.match(name)):
            return f"it calls {name.split('(')[0]}, which no answer needs"
        if kind in "TDBRGSC" and not name.startswith(OWN) and name != wrapper:
            return f"it defines {name.split('(')[0]} outside namespace exercise"
        if kind in "Wu" and name.startswith(("course::", "simt")):
            return f"it defines {name.split('(')[0]}, which is not its own"
    return None


def hidden(file: Path) -> Optional[str]:
    """What no name shows: functions that run before main() (the compiler has one of its own), and
    instructions that call the operating system."""
    sections = re.findall(
        r"\.(?:init_array|ctors|preinit_array|fini_array|dtors)(\S*)\s+([0-9a-f]+)",
        listed(["objdump", "-h", str(file)]))
    entries = sum(int(size, 16) // 8 for _, size in sections)
    if entries > 1:
        return "it has functions that run before main() or after it"
    if SYSTEM_CALLS.search(listed(["objdump", "-d", "--no-show-raw-insn", str(file)])):
        return "it calls the operating system by inline assembly"
    return None
