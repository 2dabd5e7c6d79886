"""Submissions of an exercise: found in a folder, and checked before they are built and run.

A submission is one .cu file whose function is compiled apart from the tests. It may include the
standard library's and CUDA's headers and the chapter's files that its starter includes, define
things in namespace exercise or in none, and call what an answer needs. Everything else that an
object file calls or defines is refused before it runs: the list of what is allowed is short, so
that a way around the tests does not exist, instead of being forbidden.
"""

from __future__ import annotations

import re
import subprocess
import unicodedata
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from . import Problem, code

LARGEST = 2**18  # bytes of a source
# A directive that includes a file, at any place: the text before it may be a comment's end.
INCLUDE = re.compile(r"(?:#|%:)[ \t\v\f]*(/\*|(?:include_next|include|import|embed)\b)[ \t\v\f]*"
                     r"(?=([^\n]*))")
HEADERS = re.compile(r"<((cuda|cub|thrust|cooperative_groups|nv)[\w./]*|[a-z_0-9]+(\.h)?)>|"
                     r'"(cuda\w*|device_\w+|cooperative_groups)\.h"')
LEXED = re.compile(
    r'//[^\n]*|/\*.*?(?:\*/|\Z)|(?:u8|[uUL])?R"|(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"?|'
    r"(?:u8|[uUL])?'(?:\\.|[^'\\\n])*'?|\.?\d(?:'?\w)*|\w+|##|%:%:|\S", re.S)
BEFORE_MAIN, REWRITES = "code that runs before main()", "it hides code from the tests"
OWN_PLACE = "places of its own for code or data"
REFUSED = {
    **dict.fromkeys(("constructor", "init_priority", "destructor"), BEFORE_MAIN),
    **dict.fromkeys(("__has_include", "__has_include_next", "__has_embed"),
                    "asking for other files"),
    **dict.fromkeys(("_Pragma", "__pragma"), "pragmas"),
    **dict.fromkeys(("##", "%:%:"), "names that are put together"),
    **dict.fromkeys(("no_sanitize", "no_sanitize_thread", "no_sanitize_undefined",
                     "disable_sanitizer_instrumentation", "no_instrument_function",
                     "no_profile_instrument_function"), REWRITES)}
# These only as attributes: an answer may have a variable of the name.
ATTRIBUTES = {"section": OWN_PLACE, "alias": OWN_PLACE, "ifunc": OWN_PLACE, "weak": OWN_PLACE,
              "weakref": OWN_PLACE, "naked": OWN_PLACE, "optimize": REWRITES}
# In the strings of a source that has inline assembly: bytes for instructions, files.
ASSEMBLY = re.compile(
    r"\\[^nt\\\"']|(?<!\w)\.(?:byte|[248]byte|d?c\.\w|short|hword|word|value|int|long|quad|octa|asci[iz]|"
    r"string\d*|float|double|single|fill|space|skip|zero|org|(?:push|pop)?section|previous|text|data|"
    r"init|fini|macro|irpc?|rept|set|equ|insn?t?|incbin|include|type|globl|global|weak)\b")
# The functions of the CPU backend that rewritten kernels and CUDA's headers call: none that turns
# the checks off or takes the findings.
SIMT = (r"access|acquire|release|active_lanes|(before|after)_atomic|async_\w+|block_(barrier|count)|"
        r"bulk_\w+|cluster_\w+|cooperative|copy_symbol|dynamic_shared_memory|fail_kernel|fence|"
        r"get_kernel_attributes|grid_barrier|in_(constant_memory|global_memory|kernel|my_cluster|"
        r"shared_memory)|is_constant|know_(type|template)|lane|later\w*|launch_(body|in_kernel)|"
        r"live_lanes|map_shared|match_(all|any)|mbarrier_\w+|observe_range|occupancy|poll|yield|"
        r"prepare_launch|proxy_fence|read_by_proxy|reduce_\w+|shared_\w+|shuffle_\w+|symbol_address|"
        r"(set|take)_last_error|sticky_error|largest_block|set_kernel_attribute|tensor_\w+|thread_rank|Unobserved::~?Unobserved|"
        r"vote_\w+|warp_call|will_compare|operator,|error_in_kernel|set_error_in_kernel|device_\w+|not_in_kernels")
# What an object may call: the backend, CUDA, mathematics, what compilers insert.
CALLS = re.compile(
    rf"^(simt_\w+|simt::({SIMT})|__simt_\w+|__tsan_\w+|__sanitizer_\w+|cu[A-Z]\w*|cuda\w*|__cuda\w*|"
    r"__ubsan_handle_(?:missing_return|shift_out_of_bounds|float_cast_overflow)|"
    r"cuda\w*::.*|blockIdx|threadIdx|blockDim|gridDim|warpSize|_Unwind_Resume|__gxx_personality_v0|"
    r"_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|__cxa_\w+|__dso_handle|atexit|mem(set|cpy|move|cmp|chr)|"
    r"s?n?printf|__s?n?printf_chk|puts|putchar|fflush|clock(64)?|__(popcount|parity|c[lt]z)[dst]i2|__assert_fail|__trap|exit|abort|operator (new|delete).*|s?rand|l?l?abs|"
    r"str(n?cmp|n?len|n?cpy|n?cat|r?chr|str)|(cub|thrust|cooperative_groups|std|__gnu_cxx)::.*|"
    r"(vtable|typeinfo|VTT) .*|"
    r"a?(sin|cos|tan)h?f?|(a?tan2|sqrt|cbrt|exp2?|expm1|log2?|log10|log1p|pow|fabs?|floor|ceil|"
    r"round|trunc|fmod|fmax|fmin|fma|hypot|erfc?|tgamma|lgamma|ldexp|frexp|rint|l?lrintf?|"
    r"l?lroundf?|nearbyint|nextafter|sincos|rsqrt|isnan|isinf)f?l?)(\(.*)?$")
STD_REFUSED = re.compile(r"std::(thread|basic_(if|of|f)stream|basic_filebuf|__basic_file|filesystem|"
                         r"quick_exit|_Exit|system|getenv|(set_)?(terminate|new)_handler|"
                         r"set_terminate|at_quick_exit|experimental)")
OWN = ("exercise::", "guard variable for exercise::", "__device_stub__")
# Names that compilers make themselves.
MADE = re.compile(r"(DW\.ref\.__gxx_personality_v0|__clang_call_terminate|hostRef\w+Linkage)$")
SYSTEM_CALLS = re.compile(r"\t(?:\S+ )*(syscall|sysenter|svc|int +\$0x80)\b")


class Submission(NamedTuple):
    """One file of one student, or why there is none."""

    label: str
    file: Path
    missing: str = ""


def find(folder: Path, number: int) -> List[Submission]:
    """FOLDER/LABEL.cu, or FOLDER/LABEL/ with one .cu file (of several the one named N_*.cu). A
    folder without one is a submission without a file."""
    if not folder.is_dir():
        raise Problem(f"--grade {folder}: no such folder", 2)
    found: List[Submission] = []
    taken: Dict[str, int] = {}
    for path in sorted(folder.iterdir(), key=lambda each: (each.is_dir(), each.name)):
        if path.name.startswith(".") or path.name == "__MACOSX" or not (path.is_dir()
                                                                        or is_source(path)):
            continue
        file, missing = one_of(path, number) if path.is_dir() else (path, no_file(path))
        label = label_of(path.name if path.is_dir() else path.stem)
        taken[label.lower()] = taken.get(label.lower(), 0) + 1  # file systems may ignore case
        count = taken[label.lower()]
        found.append(Submission(f"{label}_{count}" if count > 1 else label, file, missing))
    if not found:
        raise Problem(f"--grade: no .cu files in {folder}; one per student, or a folder each", 2)
    return found


def left_out(folder: Path) -> List[str]:
    """What is in the folder and is neither a .cu file nor a folder."""
    return sorted(path.name for path in folder.iterdir()
                  if not path.is_dir() and not is_source(path) and not path.name.startswith("."))


def is_source(path: Path) -> bool:
    """By its name; it may be a link to nothing."""
    return path.suffix.lower() == ".cu" and not path.is_dir()


def no_file(path: Path) -> str:
    """Why a file cannot be judged; empty if it can."""
    try:
        if not path.is_file():
            return "no file: a link to nothing, or something else"
        if path.stat().st_size > LARGEST:
            return f"larger than {LARGEST >> 10} KiB"
        with open(path, "rb"):
            return ""
    except OSError as error:
        return f"cannot be read: {error.strerror}"


def one_of(folder: Path, number: int) -> Tuple[Path, str]:
    """The file in a student's folder, and why there is none."""
    files = sorted(path for path in folder.rglob("*") if is_source(path)
                   and not path.name.startswith(".") and "__MACOSX" not in path.parts)
    named = [file for file in files if file.name.startswith(f"{number}_")]
    chosen = named if len(named) == 1 else files
    if len(chosen) == 1:
        return chosen[0], no_file(chosen[0])
    return folder, (f"{len(files)} .cu files; leave the one to grade, or name it {number}_name.cu"
                    if files else "no .cu file in the folder")


def label_of(name: str) -> str:
    """A label that can name a result file on any system: of 'Jörg (2)' Jorg_2."""
    one = name.translate(str.maketrans({"ß": "ss", "ø": "o", "æ": "ae", "ł": "l", "đ": "d"}))
    plain = unicodedata.normalize("NFKD", one).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", plain).strip("_.-")[:60] or "student"


def headers_of(starter: str) -> List[str]:
    """The files of its chapter that a starter includes."""
    return re.findall(r'^#include "([\w.]+)"', starter, re.M)


def refused_source(text: str, headers: Sequence[str] = ()) -> Optional[str]:
    """Why a source is not built: it includes other files, or has what no answer needs. `headers`:
    files of the chapter that it may include."""
    joined = re.sub(r"\\[ \t]*\r?\n", "", text)  # continued lines
    # Strings and comments count as well: only the compiler knows where those end.
    for found in INCLUDE.finditer(joined):
        before = joined[joined.rfind("\n", 0, found.start()) + 1:found.start()]
        if before.lstrip().startswith("//") and "*/" not in before + found[0] + found[2]:
            continue
        own = re.match(r'"([\w.]+)"\s*(//.*|/\*.*)?$', found[2].strip())
        if found[1] == "include" and own and own[1] in headers:
            continue
        if found[1] == "/*":
            return "it has a comment within a directive"
        if found[1] != "include" or not HEADERS.match(found[2]) or ".." in found[2]:
            return (f"it includes {found[2].strip() or 'a file'}: only headers of CUDA and of the "
                    "standard library, in <>")
    words = list(lexed(joined))
    for word in words:
        if word.endswith('R"'):
            return "it has a raw string, which no answer needs"
        if re.fullmatch(r"""(?:u8|[uUL])?(?:"(?:\\.|[^"\\])*|'(?:\\.|[^'\\])*)""", word):
            return f"it has a {word[0]} that does not end in its line"
        if word.strip("_") in REFUSED or word in REFUSED:
            return f"it uses {word} ({REFUSED.get(word) or REFUSED[word.strip('_')]})"
    if {"__attribute__", "__attribute", "gnu", "clang"} & set(words):
        for word in words:
            if word.strip("_") in ATTRIBUTES:
                return f"it uses {word} ({ATTRIBUTES[word.strip('_')]})"
    return refused_assembly(joined, words)


def refused_assembly(text: str, words: Sequence[str]) -> Optional[str]:
    """What inline assembly must not contain. That of kernels is PTX, and contains none of it."""
    places = [k for k, word in enumerate(words) if word in ("asm", "__asm", "__asm__")]
    if not places:
        return None
    if not {"__global__", "__device__"} & set(words):
        return "it has inline assembly and no kernel"
    if any(words[k + 1:k + 2] not in (["("], ["volatile"], ["__volatile__"]) for k in places):
        return "it has inline assembly behind another name"
    if re.search(r"^\s*(?:#|%:)\s*define\b[^\n]*#[ \t]*[A-Za-z_]", text, re.M):
        return "it has inline assembly, and makes strings of names"
    strings = re.sub(r'"\s+"', "", " ".join(word if word.endswith('"') else "," for word in words))
    odd = ASSEMBLY.search(strings)
    return f"its inline assembly has {odd[0]}" if odd else None


def lexed(text: str) -> Iterator[str]:
    """Words, numbers, strings and signs, comments left out. As the compiler takes them; code.tokens()
    is simpler, and hashes of recorded rows are made of what it says."""
    for match in LEXED.finditer(text):
        if not match[0].startswith(("//", "/*")):
            yield match[0]


def same_code(text: str, others: Dict[str, str]) -> Optional[str]:
    """The name of a file with the same tokens."""
    mine = list(code.tokens(text))
    return next((name for name, other in others.items() if list(code.tokens(other)) == mine), None)


def listed(command: Sequence[str]) -> str:
    return subprocess.run(list(command), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, check=False).stdout


def refused_object(file: Path, given: Sequence[str] = ()) -> Optional[str]:
    """Why an object file is not linked and run: it calls or defines what no answer needs. `given`:
    namespaces of the course whose functions the starter declares."""
    names = listed(["nm", "-C", str(file)])
    if not names:
        raise Problem(f"nm could not read {file}; it comes with the compiler (binutils)")
    return refused_names(names, given) or hidden(file)


def given_by(starter: str) -> List[str]:
    """The namespaces that a starter declares functions of, such as another version's."""
    return [name for name in re.findall(r"^namespace (\w+)", starter, re.M) if name != "exercise"]


def refused_names(names: str, given: Sequence[str] = ()) -> Optional[str]:
    """What is wrong with the lines of nm, if anything."""
    linked = re.search(r" U __cudaRegisterLinkedBinary(_\w+)$", names, re.M)  # launches by kernels
    wrapper = f"__fatbinwrap{linked.group(1)}" if linked else None
    ours = tuple(f"{name}::" for name in given)
    if re.search(r" [UT] std::(ios_base::Init::|(cout|cerr|clog|cin)$)", names, re.M):  # g++ before 13, and later
        return "it includes <iostream>, which runs code before main(): use printf()"
    for line in names.splitlines():
        kind, name = line[17:18], line[19:]
        short = name.split("(")[0]
        if "_GLOBAL__sub_I" in name or "_GLOBAL__I" in name:
            return "it runs code before main(): a variable with a constructor"
        if kind in "Uwv" and not name.startswith(ours) and (
                not CALLS.match(name) or STD_REFUSED.match(name)):
            return f"it calls {short}, which no answer needs" + (
                ": use printf()" if short in ("fprintf", "fwrite", "fputs", "stderr") else "")
        if kind in "TDBRGSCi" and not name.startswith(OWN) and name != wrapper and (
                kind == "i" or not in_no_namespace(name)):
            return f"it defines {short}: put it into namespace exercise"
        if kind in "WVu" and not MADE.match(name) and (
                name.startswith("course::") or re.fullmatch(r"\w+", name)
                or re.match(r"operator (new|delete)", name)):
            return f"it defines {short}, which is not its own"
    return None


def in_no_namespace(name: str) -> bool:
    """True for a C++ function with parameters outside of all namespaces, as nm -C writes it. A C
    function may be a library's."""
    return re.match(r"[\w]+(\[abi:\w+\])?\(", name) is not None


def hidden(file: Path) -> Optional[str]:
    """What no name shows: functions that run before main() (the compiler adds one of its own), and
    instructions that call the operating system."""
    headers = listed(["objdump", "-h", str(file)])
    sections = re.findall(
        r"\.(?:init_array|ctors|preinit_array|fini_array|dtors)(\S*)\s+([0-9a-f]+)", headers)
    entries = sum(int(size, 16) // 8 for _, size in sections)
    known = re.findall(r"^[0-9a-f]+ R_\S+\s+(\S+)", listed(["objdump", "-r", "-j", "simt_types",
                                                           str(file)]), re.M)
    odd = [name for name in known if not re.match(r"_ZN4simt\d+know_(type|template)|\.text", name)]
    if entries > 1 or odd:
        return "it has functions that run before main() or after it"
    if SYSTEM_CALLS.search(listed(["objdump", "-d", "--no-show-raw-insn", str(file)])):
        return "it calls the operating system by inline assembly"
    return None
