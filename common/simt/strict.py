"""What nvcc refuses and a C++ compiler takes: calls between host and device, and launches that do not fit.

check() raises rewrite.py's Problem, one line `file:line: error: what; what to do`. It refuses only what it is sure of:
names that a macro, a class, a local variable, another header or a condition could change are left to the compiler.
"""
from __future__ import annotations

import difflib
import re
import sys
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

if TYPE_CHECKING:
    from rewrite import File

HERE = Path(__file__).resolve().parent / "include"
NO_CALL = {"if", "for", "while", "switch", "catch", "return", "sizeof", "alignof", "decltype", "noexcept", "requires"}
EXPRESSION = {"return", "else", "do", "case", "throw", "and", "or", "not", "co_return", "co_yield", "co_await", "goto"}
# Found by the arguments' namespace, or by "using namespace std", whatever else has the name.
STANDARD = set("accumulate adjacent_difference all_of any_of copy copy_if copy_n count count_if equal exchange fill "
               "fill_n find find_if for_each for_each_n generate generate_n inner_product iota max max_element merge "
               "min min_element minmax move partial_sum partition reduce remove remove_if replace reverse reverse_copy "
               "rotate sample search shuffle sort stable_sort swap swap_ranges transform unique visit apply "
               "inclusive_scan exclusive_scan transform_reduce distance advance begin end size data".split())
DEVICE_ONLY = r"__sync(?:threads|warp)\w*|__threadfence\w*|__(?:shfl|ballot|all|any|match|reduce)\w*_sync|__activemask"
# Calls of the runtime that kernels do not have, and what they do instead.
HOST_CALLS = {
    **dict.fromkeys(["cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cudaStreamQuery",
                     "cudaEventQuery"], "a kernel cannot wait for what it launches: launch what comes after it into "
                    "cudaStreamTailLaunch"),
    **dict.fromkeys(["cudaStreamCreate", "cudaStreamCreateWithPriority"],
                    "call cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)"),
    **dict.fromkeys(["cudaMemcpy", "cudaMemset", "cudaMallocManaged", "cudaMallocHost", "cudaHostAlloc",
                     "cudaDeviceSetLimit", "cudaMemcpyToSymbol", "cudaMemcpyFromSymbol", "cudaEventCreate",
                     "cudaEventElapsedTime"], "call it on the host")}
# Functions of the host's libraries that device code does not have, and what it has.
NO_DEVICE_CODE = {
    **dict.fromkeys(["rand", "srand", "random", "drand48"], "use cuRAND, or a hash of the thread's number"),
    **dict.fromkeys(["time", "gettimeofday", "clock_gettime", "omp_get_wtime"], "use clock64()"),
    **dict.fromkeys(["exit", "abort", "_exit", "quick_exit"], "return, or use __trap()"),
    **dict.fromkeys(["fprintf", "sprintf", "snprintf", "puts", "putchar", "fputs", "fopen", "fwrite", "fread", "fclose",
                     "fflush", "perror"], "use printf()"),
    **dict.fromkeys(["getenv", "system", "usleep", "sleep", "qsort", "bsearch", "calloc", "realloc", "atoi", "atof",
                     "strtol", "strlen", "strcmp", "strncmp", "strcpy", "strncpy", "strcat", "scanf", "getchar"],
                    "call it on the host, and pass the kernel what it gave")}
# Of std::, what nvcc takes in device code: the functions of <cmath>, and these. <cuda/std/...> has many others.
STD_ON_DEVICE = set("move forward abs labs llabs fabs fabsf fmod remainder fma fmax fmin fdim exp exp2 expm1 log log10 log2 "
                    "log1p pow sqrt cbrt hypot sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh erf erfc "
                    "tgamma lgamma ceil floor trunc round lround llround nearbyint rint lrint llrint frexp ldexp modf "
                    "scalbn scalbln ilogb logb nextafter copysign isfinite isinf isnan isnormal signbit isgreater "
                    "isgreaterequal isless islessequal islessgreater isunordered fpclassify printf malloc free memcpy "
                    "memmove memset clock declval addressof".split())
STD_OBJECTS = r"(?<![\w:])std\s*::\s*(cout|cerr|clog|cin|endl)\b"
STD_TYPES = (r"(?<![\w:])std\s*::\s*(vector|string|list|deque|map|set|multimap|multiset|unordered_map|unordered_set|queue|stack|"
             r"priority_queue|function|unique_ptr|shared_ptr|ostringstream|stringstream|mutex|thread|mt19937|random_device)"
             r"\b(?=[^;(){}]*[\w>]\s*[;=({])")
LIMIT = 48 * 1024
BYTES = {"bool": 1, "char": 1, "unsigned char": 1, "signed char": 1, "short": 2, "unsigned short": 2, "int": 4,
         "unsigned": 4, "unsigned int": 4, "float": 4, "long": 8, "unsigned long": 8, "long long": 8,
         "unsigned long long": 8, "double": 8, "float2": 8, "int2": 8, "float4": 16, "int4": 16, "double2": 16}
NOT_HERE = [(r"cudaTextureObject_t|tex[123]D(?:fetch|Lod|Grad)?\s*(?=[<(])|texture\s*<[\w\s:,*]+>\s*\w+\s*[;=,\[]",
             "textures"),
            (r"cudaSurfaceObject_t|surf[123]D(?:read|write)\s*(?=[<(])|surface\s*<[\w\s:,*]+>\s*\w+\s*[;=,\[]",
             "surfaces"),
            (r"cu(?:Init|(?:Ctx|Device|Event|Func|Graph|Kernel|Launch|Library|Link|Mem|Module|Occupancy|Stream)[A-Z]\w*|"
             r"Memcpy\w*|Memset\w*|TensorMap(?!EncodeTiled\b)[A-Z]\w*)\s*(?=\()",
             "functions of the driver API other than cuTensorMapEncodeTiled()")]
# Headers that the backend has no replacement for, by how their names start.
LIBRARIES = [("cub/", "CUB"), ("thrust/", "Thrust"), ("cublas", "cuBLAS"),
             ("cufft", "cuFFT"), ("cusparse", "cuSPARSE"), ("cusolver", "cuSOLVER"), ("curand", "cuRAND"),
             ("cudnn", "cuDNN"), ("cuComplex.h", "cuComplex"), ("nvrtc.h", "NVRTC"), ("nvToolsExt", "NVTX"),
             ("nvtx3/", "NVTX"), ("nccl.h", "NCCL"), ("nvml.h", "NVML"), ("npp", "NPP"), ("cuda_fp8", "8-bit floats"),
             ("cuda_fp6", "6-bit floats"), ("cuda_fp4", "4-bit floats"), ("cutlass/", "CUTLASS"), ("cute/", "CUTLASS"),
             ("cuda/", "this part of libcu++"), ("cooperative_groups/", "this part of cooperative groups")]


class Function(NamedTuple):
    name: str
    path: str
    line: int
    words: Set[str]  # before its name: qualifiers and type
    scope: Tuple[str, ...]  # namespaces that have names
    member: bool
    template: bool
    known: bool  # no macro and no #if can change what it is
    parameters: Tuple[int, int]  # fewest and most arguments; most is -1 for any number
    references: Tuple[int, ...]  # which of them are
    pointers: Tuple[int, ...]
    head: int
    body: Tuple[int, int]  # (0, 0): a declaration

    @property
    def kernel(self) -> bool:
        return "__global__" in self.words

    @property
    def device(self) -> bool:
        return "__device__" in self.words

    @property
    def host(self) -> bool:
        return not self.kernel and (not self.device or "__host__" in self.words)

    @property
    def plain(self) -> bool:
        return self.known and not self.member and not self.words & {"__global__", "__device__", "constexpr",
                                                                   "consteval"}


class LaunchOf(NamedTuple):
    """kernel<<<...>>>(arguments); offsets."""
    kernel: str
    at: int
    arguments: Tuple[int, int]

    @property
    def name(self) -> str:
        return re.sub(r"\s*<.*>$", "", self.kernel).split("::")[-1].strip()


def standard(name: str) -> bool:
    """Whether a header that is not the user's holds no kernels: C's, C++'s, the system's or ours."""
    return "." not in name or name.startswith("sys/") or (HERE / name).is_file() or (
        Path("/usr/include") / name).is_file() or name in ("float.h", "limits.h", "stdarg.h", "stdbool.h", "stddef.h",
                                                           "stdint.h", "iso646.h", "stdalign.h")


def library(name: str) -> Optional[str]:
    """What to include in place of a header that is missing: the compiler's error says why it stops."""
    if (HERE / name).is_file() or (Path("/usr/include") / name).is_file():
        return None
    what = next((what for start, what in LIBRARIES if name.startswith(start)), None)
    return what and f"<{name}> ({what}) is not on the CPU backend; it needs nvcc and a GPU, or put it in #ifndef SIMT"


@lru_cache(maxsize=None)
def api() -> str:
    """The headers of CUDA that the backend has."""
    return "\n".join(p.read_text() for p in sorted(HERE.glob("*.h")))


@lru_cache(maxsize=None)
def called_in_api() -> Set[str]:
    """What every header of CUDA that the backend has calls or declares as a function."""
    return set(re.findall(r"\b(\w+)\(", "\n".join(p.read_text() for p in HERE.rglob("*") if p.is_file())))


@lru_cache(maxsize=None)
def of_cuda(name: str) -> bool:
    """Whether CUDA's headers declare a function of this name, perhaps by a macro."""
    if len(name) < 3 or name not in api():
        return False
    for m in re.finditer(rf"\b{name}\b(\s*\()?", api()):
        before = api()[max(0, m.start() - 200):m.start()]
        if (m[1] and re.search(r"[\w*&>]\s+[*&]*$", before)) or re.search(r"\b[A-Z_]+\([^()\n]*$", before):
            return True
    return False


def as_they_are(found: List[Function], given: int) -> bool:
    """Whether the kernel of a launch has more parameters than arguments (defaults), or any number of them."""
    return any(f.parameters[0] <= given for f in found) and all(
        f.kernel and not 0 <= f.parameters[1] <= given for f in found)


class Strict:
    def __init__(self, file: "File") -> None:
        self.file, self.job, self.flat = file, file.job, file.flat
        self.conditional, self.guarded = self.find_conditions()
        self.declared: Dict[int, Set[str]] = {}  # in a function that begins there
        self.used = set(re.findall(r"\busing\s+[\w:\s]*::\s*(\w+)\s*;", self.flat))
        self.own = list(self.find_functions()) if self.flat.count("{") == self.flat.count("}") else []
        self.classes = list(self.find_classes()) if self.own else []
        self.job.members.update(name for c in self.classes for name in c[3])
        for f in self.own:
            self.job.functions.setdefault(f.name, []).append(f)

    # ---- What the file is made of ----

    def find_conditions(self) -> Tuple[List[Tuple[int, int]], List[Tuple[int, int]]]:
        """Where #if decides; and where it decides by the compiler: device or host, here or nvcc."""
        every, special = [], []
        stack: List[List] = []
        directive = r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b((?:\\\n|[^\n])*)"
        for m in re.finditer(directive, self.file.code, re.M):
            text = self.file.bare[m.start(2):m.end(2)]
            if m[1].startswith("if"):
                guard = re.match(rf"\s*#\s*define\s+{re.escape(text.strip())}\b", self.file.code[m.end():])
                stack.append([m.start(), text, bool(guard) and m[1] == "ifndef"])
            elif m[1] == "elif" and stack:
                stack[-1][1] += text
            elif m[1] == "endif" and stack:
                start, text, guard = stack.pop()
                if not guard:
                    every.append((start, m.end()))
                if re.search(r"\bSIMT\b|__CUDA|__NVCC__", text):
                    special.append((start, m.end()))
        return every, special

    def find_functions(self) -> Iterator[Function]:
        """Functions of namespaces and classes."""
        file, last, until = self.file, 0, 0
        scopes: List[Tuple[int, str]] = []  # (end, name) of the namespaces
        for m in re.finditer(r"[;{}]", self.flat):
            if m.start() < until:
                continue
            head = (last, m.start())
            last = until = m.end()
            scopes = [s for s in scopes if s[0] > m.start()]
            inside = file.scope(m.start())
            if m[0] == "}" or inside == "function":
                continue
            body = (0, 0)
            if m[0] == "{":
                body = (m.start(), file.close(m.start()))
                if file.scope(m.end()) == "namespace":
                    name = re.search(r"\bnamespace\s+([\w:\s]+)$", self.flat[slice(*head)])
                    scopes += [(body[1], part.strip()) for part in (name[1].split("::") if name else [])]
                if file.scope(m.end()) != "function":
                    continue
                last = until = body[1]
            found = self.function(head, body, tuple(name for _, name in scopes), inside == "class")
            if found:
                yield found

    def function(self, head: Tuple[int, int], body: Tuple[int, int], scope: Tuple[str, ...],
                 member: bool) -> Optional[Function]:
        blanked = re.sub(r"\b(?:public|private|protected)\s*:(?!:)", lambda m: " " * len(m[0]),
                         self.file.attributes.sub(lambda m: " " * len(m[0]), self.flat[slice(*head)]))
        start, template = 0, False
        while True:
            opened = re.compile(r"\s*template\s*<").match(blanked, start)
            if not opened:
                break
            closed = self.file.close_angle(head[0] + opened.end() - 1, head[1])
            if closed < 0:
                return None
            start, template = closed - head[0], True
        m = re.compile(r"([^=()]*?)\b(\w+)\s*\(").match(blanked, start)
        if not m or m[2] in NO_CALL or "operator" in m[1] + m[2]:
            return None
        words = set(re.findall(r"\w+", m[1]))
        at = head[0] + m.end() - 1
        known = bool(words) and not any(w in self.job.macros or re.fullmatch(r"[A-Z][A-Z0-9_]{2,}", w) for w in words)
        known = known and not any(a <= at < b for a, b in self.guarded)
        member = member or m[1].rstrip().endswith(("::", "~")) or bool(words & {"friend", "using", "typedef"})
        references, pointers = (tuple(
            k for k, (a, b) in enumerate(self.file.split(at + 1, self.file.close(at) - 1))
            if re.search(pattern, self.flat[a:b].split("=")[0])) for pattern in (
                r"(?<!&)&\s*\w*\s*$", r"\*\s*(?:(?:const|__restrict__|__restrict)\b\s*)*\w*\s*$|\w\s*\[\w*\]\s*$"))
        return Function(m[2], self.file.path, self.line(at), words, scope, member, template, known,
                        self.parameters(at), references, pointers,
                        head[0] + start, body)

    def parameters(self, at: int) -> Tuple[int, int]:
        parts = [self.flat[a:b].strip() for a, b in self.file.split(at + 1, self.file.close(at) - 1)]
        if parts in ([""], ["void"]):
            return 0, 0
        if any("..." in p or p in self.job.macros or re.search(r"\s<", p) for p in parts):
            return 0, -1
        needed = [p for p in parts if "=" not in re.sub(r"<.*>", "", p)]
        return len(needed), len(parts)

    # ---- What a place says ----

    def line(self, at: int) -> int:
        return self.file.source.count("\n", 0, at) + 1

    def refuse(self, what: str, at: int) -> None:
        raise self.file.error(f"{self.file.path}:{self.line(at)}: error: {what}")

    def around(self, at: int) -> Optional[Function]:
        return next((f for f in self.own if f.body[0] <= at < f.body[1]), None)

    def on_host(self, at: int) -> bool:
        """Whether a place is in a function for the host alone; of a macro, whether it is used in such only."""
        d = self.file.define_at(at)
        if d:
            uses = [m.start() for m in re.finditer(rf"\b{d.name}\b", self.flat)]
            return bool(uses) and all(self.on_host(use) for use in uses)
        f = self.around(at)
        return bool(f and f.known and not f.words & {"__global__", "__device__", "constexpr"} and not re.search(
            r"__(?:device|global)__", self.flat[slice(*f.body)]))

    def sure(self, at: int) -> bool:
        return self.file.define_at(at) is None and not any(a <= at < b for a, b in self.guarded)

    def shadowed(self, name: str, function: Function) -> bool:
        """Whether a parameter, one of the template or its class, a local variable or a member has this name."""
        if function.head not in self.declared:
            text = self.flat[function.head:function.body[1]].replace(function.name, " " * len(function.name), 1)
            self.declared[function.head] = self.members_seen(function) | {
                m[2] for m in re.finditer(r"(\b\w+|[*&>\]])\s*\b(\w+)\s*([=;{),\[(:])", text)
                if m[1] not in EXPRESSION and (re.match(r"\w", m[1]) or m[3] != "(")}
            start = max(self.flat.rfind(c, 0, function.head) for c in ";{}") + 1
            heads = [(start, function.head)] + [c[:2] for c in self.classes if c[0] <= function.head < c[2]]
            for head in (self.flat[a:b] for a, b in heads if "template" in self.flat[a:b]):
                self.declared[function.head] |= set(re.findall(r"\b(\w+)\s*(?=[,>)=])", head))
        return name in self.declared[function.head]

    def members_seen(self, function: Function) -> Set[str]:
        """The variables of the class that a method is in; those of all classes if it may have inherited them."""
        around = [c for c in self.classes if c[0] <= function.head < c[2]]
        if not function.member and not around:
            return set()
        inherits = any(re.search(r"(?<!:):(?!:)", self.flat[c[0]:c[1]]) for c in around)
        return set(self.job.members) if inherits or not around else {name for c in around for name in c[3]}

    def find_classes(self) -> Iterator[Tuple[int, int, int, Set[str]]]:
        """Of each class where its head starts, where its body starts and ends, and its variables."""
        for m in re.finditer(r"\b(?:class|struct|union)\b[^;{}()=]*\{", self.file.attributes.sub(
                lambda m: " " * len(m[0]), self.flat)):
            if self.file.scope(m.end()) != "class":
                continue
            end = self.file.close(m.end() - 1)
            declared = re.compile(r"\(\s*[\w:\s]*\*\s*(?:const\s*)?(\w+)\s*[)\[]|"
                                  r"(?:\w|[*&>\],])\s*\b([A-Za-z_]\w*)\s*[=;{,\[:]")
            yield (max(self.flat.rfind(c, 0, m.start()) for c in ";{}") + 1, m.end(), end,
                   {d[1] or d[2] for d in declared.finditer(self.flat, m.end(), end)
                    if self.file.scope(d.start()) == "class"})

    def calls(self, function: Function) -> Iterator[Tuple[str, str, int]]:
        """(qualifier, name, offset) of what looks like a call in a body."""
        text = self.flat[slice(*function.body)]
        blanked = list(text)
        for m in re.finditer(r"\b(?:decltype|sizeof|noexcept|alignof)\s*\(", text):
            end = self.file.close(function.body[0] + m.end() - 1) - function.body[0]
            blanked[m.end():end] = " " * (end - m.end())
        for launch in self.file.launches:
            start, end = launch.at - function.body[0], launch.arguments[0] - function.body[0]
            if 0 <= start < len(text):
                blanked[start:end] = ";" * (end - start)
        for m in re.finditer(r"((?:\b\w+\s*)?::\s*)?(?<!\w)([A-Za-z_]\w*)\s*([(<])", "".join(blanked)):
            before = text[:m.start()].rstrip()
            word = re.search(r"\w+$", before[-40:])
            at = function.body[0] + m.start(2)
            if m[3] == "<":
                end = self.file.close_angle(function.body[0] + m.start(3), function.body[1])
                if end < 0 or not re.match(r"\s*\(", self.flat[end:end + 40]):
                    continue
            if m[2] in NO_CALL or before.endswith((".", "->", "::", "~")) or (word and word[0] not in EXPRESSION):
                continue
            yield (m[1] or "").replace("::", "").strip() if m[1] else "", m[2], at

    def meant(self, name: str, qualifier: str, caller: Function) -> List[Function]:
        """All functions that a call may mean; none if that cannot be known."""
        found = self.job.functions.get(name, [])
        if not found or name in self.job.macros or any(f.member or not f.known for f in found):
            return []
        if name in STANDARD or of_cuda(name):
            return []
        if name in self.used or self.shadowed(name, caller):
            return []
        visible = [f for f in found if (f.scope and f.scope[-1] == qualifier) or
                   (not qualifier and caller.scope[:len(f.scope)] == f.scope)]
        return found if visible else []

    # ---- What is refused ----

    def check(self) -> None:
        self.unsupported()
        self.arrays = list(self.arrays_of_the_host())
        for launch in self.file.launches:
            if self.sure(launch.at) and re.fullmatch(r"[\w\s:]+", re.sub(r"<.*>", "", launch.kernel)):
                self.launch(launch)
        for caller in self.own:
            returns = {"int", "float", "double", "bool", "char", "unsigned"}
            if caller.kernel and caller.known and self.type_of(caller) & returns:
                self.refuse(f"kernel '{caller.name}' returns a value, and nobody could take it; write void, and give it a "
                            "pointer for the result", caller.head)
            if caller.body[1] and caller.known:
                self.body(caller)

    def type_of(self, function: Function) -> Set[str]:
        """The words before its name but for template arguments: enable_if<..., int> is void."""
        text = re.split(rf"\b{function.name}\s*\(", self.flat[function.head:])[0]
        while "<" in text and re.search(r"<[^<>]*>", text):
            text = re.sub(r"<[^<>]*>", " ", text)
        return set(re.findall(r"\w+", text)) & function.words

    def unsupported(self) -> None:
        for pattern, what in NOT_HERE:
            for m in re.finditer(rf"(?<![\w.>])(?:{pattern})", self.flat):
                name, caller = re.match(r"\w+", m[0])[0], self.around(m.start())
                own = name in self.job.functions or name in self.job.macros or (
                    self.file.scope(m.start()) != "namespace" and name in ("texture", "surface"))
                if not own and not (caller and self.shadowed(name, caller)) and not any(
                        a <= m.start() < b for a, b in self.conditional):
                    self.refuse(f"{what} are not supported on the CPU backend; they need a GPU and nvcc", m.start())

    def launch(self, launch: LaunchOf) -> None:
        name, at = launch.name, launch.at
        found = self.job.functions.get(name, [])
        caller = self.around(at)
        if name in self.job.macros or not caller or self.shadowed(name, caller):
            return
        if not found:
            self.misspelled(name, at)
        elif all(f.known and not f.member and not f.kernel for f in found) and any(f in self.own for f in found):
            place = "in place of __device__" if found[0].device else "before it"
            self.refuse(f"'{name}' is launched but is no kernel; write __global__ {place} in line {found[0].line}", at)
        elif all(f.kernel and f.known for f in found):
            self.arguments(launch, found)

    def misspelled(self, name: str, at: int) -> None:
        kernels = sorted(n for n, found in self.job.functions.items() if any(f.kernel for f in found))
        launched = sum(1 for launch in self.file.launches if launch.name == name)
        elsewhere = any(re.search(rf"\b{name}\b", text) for text in self.job.texts)
        pasted = any("##" in text for text in [self.file.code, *self.job.texts])  # a macro may make the name
        if not kernels or elsewhere or pasted or self.job.missing or len(
                re.findall(rf"\b{name}\b", self.file.code)) > launched:
            return
        near = difflib.get_close_matches(name, kernels, 1)
        self.refuse(f"there is no kernel '{name}'; " + (
            f"did you mean '{near[0]}'?" if near else f"the kernels are {', '.join(kernels[:5])}"), at)

    def arguments(self, launch: LaunchOf, found: List[Function]) -> None:
        parts = [self.flat[a:b].strip() for a, b in self.file.split(*launch.arguments)]
        if any(p.endswith("...") or re.sub(r"\W.*", "", p) in self.job.macros for p in parts):
            return
        given = 0 if parts == [""] else len(parts)
        most = given + sum(p.count(",") for p in parts if "<" in p)  # < may be an operator
        if any(f.parameters[0] <= n and (n <= f.parameters[1] or f.parameters[1] < 0)
               for f in found for n in range(given, most + 1)):
            return
        least, most = found[0].parameters
        takes = f"{most}" if least == most else f"{least} to {most}"
        self.refuse(f"kernel '{launch.name}' takes {takes} argument{'s' * (takes != '1')}, the launch gives {given}; "
                    f"give what line {found[0].line} lists", launch.at)

    def body(self, caller: Function) -> None:
        text = self.flat[slice(*caller.body)]
        on_device = caller.kernel or not caller.host
        on_host = caller.plain and not caller.template
        marked = re.search(r"__(?:device|global|host)__", text) or any(
            word in self.job.device_macros for word in set(re.findall(r"\b[A-Za-z_]\w+", text)))
        for qualifier, name, at in self.calls(caller):
            if not self.sure(at):
                continue
            if on_host and not marked and re.fullmatch(DEVICE_ONLY, name) and not self.job.functions.get(name):
                self.refuse(f"'{name}' is for device code; '{caller.name}' is host code: write __global__ or "
                            "__device__ before it", at)
            if on_device and name in HOST_CALLS and not self.job.functions.get(name):
                self.refuse(f"'{name}' is a host function, called in device code; {HOST_CALLS[name]}", at)
            if on_device:
                self.of_the_host(qualifier, name, at, caller)
            found = self.meant(name, qualifier, caller)
            if not found:
                continue
            own = any(f.body[1] and f in self.own for f in found)
            if on_device and own and all(f.plain for f in found) and not self.job.missing:
                self.refuse(f"'{name}' is a host function, called in device code; write __device__ before it in line "
                            f"{found[0].line}", at)
            if all(f.kernel for f in found) and not caller.member and re.search(r"(?:[;{})]|\belse|\bdo)\s*$",
                                                          self.flat[:at - len(qualifier)].rstrip(": ")[-200:]):
                self.refuse(f"kernel '{name}' is called as a function; launch it: {name}<<<blocks, threads>>>(...)", at)
            if on_host and not marked and all(not f.host and not f.kernel and "constexpr" not in f.words
                                              for f in found):
                self.refuse(f"'{name}' is a __device__ function, called in host code; call it in a kernel, or write "
                            f"__host__ __device__ before it in line {found[0].line}", at)
        if on_device:
            self.objects_of_the_host(caller)
            for m in re.finditer(r"\b(throw|try)\b", text):
                if self.sure(caller.body[0] + m.start()):
                    self.refuse(f"'{m[1]}' in device code, which has no exceptions; write what went wrong to memory that "
                                "the host reads, or call __trap()", caller.body[0] + m.start())
        if caller.kernel and not caller.template:
            self.static_shared(caller)

    def of_the_host(self, qualifier: str, name: str, at: int, caller: Function) -> None:
        """Functions of the standard library in device code."""
        own = self.job.functions.get(name) or name in self.job.macros or self.shadowed(name, caller)
        before = self.flat[max(0, at - 60):at].rstrip()
        if own or self.job.missing or re.search(r"::\s*std\s*::$", before) or (not qualifier and before.endswith("::")):
            return
        spelled = "std::" * (qualifier == "std") + name
        if qualifier == "std" and name[0].islower() and name not in STD_ON_DEVICE and not self.a_type(name):
            instead = {"max": "max()", "min": "min()", "swap": "a third variable"}.get(name, "")
            self.refuse(f"'{spelled}' is a function for the host, called in device code; " + (
                f"use {instead}" if instead else NO_DEVICE_CODE.get(name, "write it, or look into <cuda/std/...>")), at)
        if qualifier in ("", "std") and name in NO_DEVICE_CODE:
            self.refuse(f"'{spelled}' is a function for the host, called in device code; {NO_DEVICE_CODE[name]}", at)

    @staticmethod
    def a_type(name: str) -> bool:
        """Whether std::name(...) may make a value, as size_t(3) does."""
        return name.endswith("_t") or name in ("byte", "pair", "tuple", "array", "complex", "less", "greater", "plus",
                                               "multiplies", "minus", "numeric_limits", "initializer_list", "integral_constant")

    def objects_of_the_host(self, caller: Function) -> None:
        """Streams, containers, methods without __device__ and arrays of the host in device code."""
        text = self.flat[slice(*caller.body)]
        for pattern, instead in ((STD_OBJECTS, "use printf()"), (STD_TYPES, "use arrays, and pass pointers to the kernel")):
            for m in re.finditer(pattern, text):
                if self.sure(caller.body[0] + m.start()):
                    self.refuse(f"'std::{m[1]}' is for the host, used in device code; {instead}", caller.body[0] + m.start())
        for m in re.finditer(r"(?:\.|->)\s*(\w+)\s*\(", text):
            found, at = self.job.functions.get(m[1], []), caller.body[0] + m.start(1)
            if found and all(f.member and f.known and not f.template and f.body[1] and not f.words & {
                    "__device__", "__global__", "constexpr", "consteval", "friend"} for f in found) and (
                        self.sure(at) and not self.job.missing and m[1] not in self.job.macros | self.job.members and (
                            m[1] not in called_in_api())):
                self.refuse(f"'{m[1]}' is a method for the host, called in device code; write __device__ before it in "
                            f"line {found[0].line}", at)
        for name, line in self.arrays:
            uses = list(re.finditer(rf"(?<![\w.>:]){name}\s*\[", text))
            if not uses or self.shadowed(name, caller):
                continue
            for use in uses:
                at = caller.body[0] + use.start()
                statement = text[max(text.rfind(c, 0, use.start()) for c in ";{}") + 1:use.start()]
                if self.sure(at) and not re.search(r"constexpr|static_assert|sizeof|<\s*$", statement):
                    self.refuse(f"'{name}' is an array of the host, used in device code; write __constant__ in place of "
                                f"const in line {line}", at)

    def arrays_of_the_host(self) -> Iterator[Tuple[str, int]]:
        """Constant arrays of namespaces without __device__ or __constant__: name and line."""
        for m in re.finditer(r"\b(?:const|constexpr)\s+[\w:]+(?:\s+[\w:]+)?\s+(\w+)\s*(?:\[[^\]]*\]\s*)+=\s*\{", self.flat):
            before = self.flat[max(0, m.start() - 60):m.start()]
            before = before[max(before.rfind(c) for c in ";{}") + 1:]
            if self.file.scope(m.start()) == "namespace" and "__" not in before and m[1] not in self.job.macros and not any(
                    a <= m.start() < b for a, b in self.conditional):
                yield m[1], self.line(m.start())

    def static_shared(self, kernel: Function) -> None:
        """Adds up the arrays whose sizes are plain; so the sum is never more than what nvcc sees."""
        text = self.flat[slice(*kernel.body)]
        if any(kernel.body[0] <= a < kernel.body[1] for a, _ in self.conditional):
            return
        total, last = 0, kernel.body[0]
        for m in re.finditer(r"\b__shared__\s+([a-z][\w ]*?)\s+(\w+)\s*((?:\[[^\[\]]*\]\s*)+);", text):
            count, size = 1, BYTES.get(m[1].strip())
            for dimension in re.findall(r"\[([^\[\]]*)\]", m[3]):
                count *= value_in(self.file, dimension, kernel.body[0] + m.start())
            before = text[:m.start()]
            if size and before.count("{") == before.count("}") + 1 and not re.search(r"\bextern\s*$", before) and (
                    re.search(rf"\b{m[2]}\b", text[m.end():])):
                total, last = total + size * count, kernel.body[0] + m.start()
        if total > LIMIT:
            self.refuse(f"kernel '{kernel.name}' has {total} bytes of static shared memory, a block has {LIMIT}; make "
                        "the arrays smaller, or use extern __shared__", last)


# ---- What a name stands for ----

def block(file: "File", at: int) -> int:
    """The offset of the { that a place is in; -1 if it is in none."""
    depth = 0
    for m in reversed(list(re.finditer(r"[{}]", file.flat[:at]))):
        depth += 1 if m[0] == "}" else -1
        if depth < 0:
            return m.start()
    return -1


def visible_until(file: "File", at: int) -> int:
    """Where the name that is declared at `at` is forgotten: a parameter's function ends, or the block."""
    start = max(file.flat.rfind(c, 0, at) for c in ";{}") + 1
    head, end = file.flat[start:at], -1
    if re.match(r"\s*template\s*<", head):
        end = file.close_angle(start + head.index("<"), len(file.flat))
    brackets = [m.start() for m in re.finditer(r"\(", head) if file.close(start + m.start()) > at]
    if end < at and brackets:
        end = file.close(start + brackets[0])
    if end > at:  # of a template, a function or a loop
        behind = re.compile(r"[;{]").search(file.flat, end)
        return file.close(behind.start()) if behind and behind[0] == "{" else behind.end() if behind else len(file.flat)
    opened = block(file, at)
    outer = max(file.flat.rfind(c, 0, max(opened, 0)) for c in ";{}") + 1
    if opened >= 0 and re.search(r"\bnamespace\s*$|\binline\s+namespace\b|\bextern\s*\"", file.flat[outer:opened]):
        return visible_until(file, opened)
    return file.close(opened) if opened >= 0 else len(file.flat)


def meaning(file: "File", name: str, at: int) -> Optional[Tuple[str, int]]:
    """The text that a constant stands for at `at`, and where that is written; None if it is none, or not for sure."""
    macro: Optional[Tuple[str, int]] = None
    place = -1
    for m in re.finditer(rf"(?m)^[ \t]*#[ \t]*(?:define|undef)[ \t]+{name}\b", file.code[:at]):
        d = next((d for d in file.defines if m.start() < d.start and d.name == name and d.start <= m.end() + 1), None)
        macro, place = ((file.code[d.start:d.end], at) if d and not d.parameters else None), m.start()
    if place >= 0:
        return None if any(a <= place < b and not a <= at < b for a, b in file.branches) else macro
    constant = re.compile(rf"\b(?:constexpr|const)\s+(?:int|unsigned|size_t|std::size_t)\s+{name}\s*=\s*([^;,]+);")
    constants = {m.start() + m[0].index(name): m for m in constant.finditer(file.flat, 0, at)}
    last = None
    for m in re.finditer(rf"(?:\b([A-Za-z_]\w*)|[>*&{{,])\s*\b(?P<name>{name})\s*[=;,)>{{\[(]", file.flat[:at]):
        end = 0 if m[1] in EXPRESSION else visible_until(file, m.start("name"))
        if end <= at and file.scope(m.start("name")) == "namespace" and reached(file, m.start("name"), at):
            return None
        if end > at and (m[1] or last is None or (m[0][0] in "{," and m[0][-1] == "=")):
            last = m.start("name")
    if last not in constants or any(a <= last < b and not a <= at < b for a, b in file.branches):
        return None
    return constants[last][1], last


def reached(file: "File", name: int, at: int) -> bool:
    """Whether a namespace that ended before `at` is opened again, or named in a using."""
    opened = block(file, name)
    said = re.search(r"\bnamespace\s+([\w:]+)\s*$", file.flat[:max(opened, 0)])
    if not said:
        return False
    last = said[1].split("::")[-1]
    again = re.search(rf"\busing\s[\w\s:]*\b{last}\b", file.flat[:at])
    while not again and at > 0:
        at = block(file, at)
        again = re.search(rf"\bnamespace\s[\w\s:]*\b{last}\s*$", file.flat[:max(at, 0)])
    return bool(again)


def value_in(file: "File", text: str, at: int, deep: int = 5) -> int:
    """Of a size made of numbers and of constants as they are at `at`; 0 if that is not plain."""
    def value(m: "re.Match[str]") -> str:
        found = meaning(file, m[0], at) if deep else None
        return str(value_in(file, *found, deep - 1) or m[0]) if found else m[0]

    text = re.sub(r"\b[A-Za-z_]\w*\b", value, text)
    if not re.fullmatch(r"[\d\s()+*-]+", text):
        return 0
    try:
        return max(0, int(eval(text, {"__builtins__": {}})))
    except Exception:
        return 0


def warn_of_architecture(file: "File") -> None:
    """A branch that nvcc takes for the device, of 9.0, and this backend does not: said, not refused. Outside of functions
    of comparisons only: there the branches of #ifdef are the host's and the device's, and both are meant."""
    for m in re.finditer(r"(?m)^[ \t]*#[ \t]*(if|ifdef|ifndef|elif)\b((?:\\\n|[^\n])*)", file.code):
        compared = m[1].endswith("if") and "defined" not in m[2]
        if "__CUDA_ARCH__" in m[2] and m.start() not in file.unasked and (
                compared or file.scope(m.start()) == "function") and (
                file.may_hold(m[1], m[2]) != file.may_hold(m[1], m[2], {"__CUDA_ARCH__": 900})):
            line = file.source.count("\n", 0, m.end()) + 1
            print(f"{file.path}:{line}:1: warning: __CUDA_ARCH__ is never defined on the CPU backend, in kernels "
                  "neither; they take the host's branch. #ifdef SIMT tells this backend apart", file=sys.stderr)
