#!/usr/bin/env python3
"""Turns CUDA C++ into C++ for the CPU backend: launches, __shared__, variables of the device, kernels as arguments.

What it writes calls simt.hpp. Lines keep their numbers and, by #line, their file. It reads brackets and words, not the
grammar of C++; File.rewrite() lists what it looks for. Exit codes: 1 for a source that it cannot rewrite, 2 for wrong
use or files.
"""
from __future__ import annotations

import argparse
import itertools
import os
import re
import sys
import tempfile
import zlib
from bisect import bisect_right
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

import strict
import structures

# Which argument of a function of the host API is a kernel.
KERNEL_ARGUMENT = {"cudaFuncSetAttribute": 0, "cudaFuncSetCacheConfig": 0, "cudaLaunchKernel": 0,
                   "cudaLaunchCooperativeKernel": 0, "cudaLaunchKernelEx": 1, "cudaFuncGetAttributes": 1,
                   "cudaOccupancyMaxActiveBlocksPerMultiprocessor": 1, "cudaOccupancyMaxActiveClusters": 1,
                   "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags": 1,
                   "cudaOccupancyMaxPotentialBlockSize": 2, "cudaOccupancyMaxPotentialBlockSizeWithFlags": 2,
                   "cudaOccupancyMaxPotentialBlockSizeVariableSMem": 2}
# Macros whose definition is known here; of all others #if is taken to be true or false.
KNOWN = {"SIMT": 1, "__CUDACC__": 1, "__NVCC__": 0, "__CUDA_ARCH__": 0, "__CUDACC_RTC__": 0, "true": 1, "false": 0}
# Words of CUDA that become macros of host_defines.h, of the same length, so that columns stay as they are. What
# __attribute__ and [[ ]] hold is the compiler's; what #define defines and #if asks for is the user's.
WORDS = ("global device host constant managed grid_constant launch_bounds maxnreg cluster_dims forceinline noinline "
         "align").split()
KEYWORDS = {"return", "else", "do", "if", "while", "for", "switch", "case", "co_return", "and", "or", "not"}

MASKED = re.compile(r"""(?P<number>(?<!\w)\d(?:[\w.]|'\w)*)|(?P<comment>//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z))
                        |(?<!\w)(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
                        |"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S | re.X)
DIRECTIVE = re.compile(r"^[ \t]*\#[ \t]*(\w+)((?:\\\n|[^\n])*)", re.M)
PARENS = r"\s*\(((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*)\)"
ALIGN = re.compile(rf"\b(?:alignas|__align__){PARENS}|__attribute__\s*\(\(\s*_*aligned_*{PARENS}\s*\)\)")
ATTRIBUTE = re.compile(r"\b(?:alignas|__align__|__attribute__|__launch_bounds__|__cluster_dims__|__maxnreg__|decltype)"
                       rf"{PARENS}|\[\[.*?\]\]")
OUR_WORD = re.compile(rf"""__attribute__{PARENS}|\[\[.*?\]\]|^[ \t]*\#[ \t]*(?:define[ \t]+\w+|(?!define)[a-z](?:\\\n|[^\n])*)
                      |(?<!\w)(?P<cuda>__(?:{'|'.join(WORDS)})__|__builtin_assume)(?!\w)
                      |(?<![\w.])(?<!\w::)(?<!->)(?P<math>fminf|fmaxf)(?!\w)""", re.M | re.X)
CAST = re.compile(r"\(\s*(?:const\s+)?void\s*(?:const\s*)?\*\s*\)\s*&?\s*|&\s*")
NAMED_CAST = re.compile(r"(?:reinterpret|static)_cast\s*<\s*(?:const\s+)?void\s*(?:const\s*)?\*\s*>\s*\(\s*&?\s*")


class Problem(Exception):
    """A source that cannot be rewritten; the text is one line for the user."""


class Define(NamedTuple):
    start: int  # of the text that it stands for
    end: int
    name: str
    parameters: List[str]


class Kernel(NamedTuple):
    name: str
    start: int  # of its head
    end: int
    defined: bool
    signature: str  # what tells it from others of its name


def blank(text: str) -> str:
    return re.sub(r"[^\n\\]|\\(?!\n)", " ", text)


def masked(source: str) -> str:
    """The source with comments and the contents of literals blanked."""
    return MASKED.sub(lambda m: m[0] if m["number"] else blank(m[0]) if m["comment"] else
                      m[0][0] + blank(m[0][1:-1]) + m[0][-1], source)


def our_words(source: str, own: Any = ()) -> str:
    """The source with OUR_WORD's words, but for functions of the program's `own`, replaced by names that no other library
    uses."""
    code, out, at = masked(source), [], 0
    for m in OUR_WORD.finditer(code):
        if m["cuda"] or (m["math"] and m["math"] not in own):
            out += [source[at:m.start()], "SIM_" + m[0].strip("_").upper()]
            at = m.end()
    return "".join(out) + source[at:]


def quoted(text: str) -> str:
    """A string literal of code, with white space as # of the preprocessor leaves it."""
    return '"' + re.sub(r"(\\\n|\s)+", " ", text.strip()).replace("\\", "\\\\").replace('"', '\\"') + '"'


def may_hold(directive: str, condition: str, known: Optional[Dict[str, int]] = None) -> Tuple[bool, bool]:
    """Whether an #if can be true, and whether it can be false, for any value of the unknown macros."""
    known = {**KNOWN, **(known or {})}
    if directive in ("ifdef", "ifndef"):
        condition = ("!" if directive == "ifndef" else "") + f"defined({condition.strip()})"
    atoms: Dict[str, str] = {}

    def atom(m: "re.Match[str]") -> str:
        name = m[1] or m[2] or m[3]
        if name in known:
            return str(known[name])
        return atoms.setdefault(re.sub(r"\s", "", m[0]), f"a{len(atoms)}")

    text = re.sub(r"(?<=\d)[uUlL]+\b|\\\n|'", "", condition)
    text = re.sub(rf"\bdefined\s*\(\s*(\w+)\s*\)|\bdefined\s+(\w+)|\b([A-Za-z_]\w*)(?:{PARENS})?", atom, text)
    text = re.sub(r"!(?!=)", " not ", text).replace("&&", " and ").replace("||", " or ").replace("/", "//").strip()
    results = set()
    try:
        for values in itertools.product((0, 1, 1000000), repeat=min(len(atoms), 5)):
            results.add(bool(eval(text, {"__builtins__": {}}, dict(zip(atoms.values(), values)))))
    except Exception:  # an expression that is not Python's, such as ?:, or too many macros
        return True, True
    return True in results, False in results


class File:
    """One source, and the changes to it. Offsets are into `source`; `code` is the same with comments, the contents of
    literals and what #if leaves out blanked; `flat` has no directives either; `bare` is `source` without comments."""

    error, attributes, may_hold = Problem, ATTRIBUTE, staticmethod(may_hold)

    def __init__(self, path: str, source: str, job: "Job") -> None:
        self.path, self.source, self.job = path, source, job
        self.edits: List[Tuple[int, int, str]] = []
        self.launches: List[strict.LaunchOf] = []
        self.shared_from: Dict[str, int] = {}  # where the __shared__ variables of its namespaces are declared
        self.code = masked(source)
        self.bare = MASKED.sub(lambda m: blank(m[0]) if m["comment"] else m[0], source)
        self.close_up()
        self.leave_out()
        self.flat = DIRECTIVE.sub(lambda m: blank(m[0]).replace("\\", " "), self.code)
        self.defines = list(self.find_defines())
        self.scopes = [(0, "namespace")]
        self.find_scopes()
        self.kernels = list(self.find_kernels())

    # ---- What the text is made of ----

    def close_up(self) -> None:
        """<< < and >> >, which nvcc takes for <<< and >>>, and some formatters write."""
        for m in re.finditer(r"<<[ \t]*<([^;]*?)(>>[ \t]*>)(?=\s*\()", self.code):
            for text, start, end in (("<<<", m.start(), m.start(1)), (">>>", *m.span(2))):
                for name in ("source", "code", "bare"):
                    old = getattr(self, name)
                    setattr(self, name, old[:start] + text.ljust(end - start) + old[end:])

    def leave_out(self) -> None:
        """Blanks the branches of #if that are never taken here; `branches` are those that may be, `unasked` the #elif behind
        one that is."""
        self.branches: List[Tuple[int, int]] = []
        self.unasked: Set[int] = set()
        stack: List[List] = []  # of [live before, a branch may have been taken for sure, start of the branch, live]
        dead: List[Tuple[int, int]] = []
        for m in DIRECTIVE.finditer(self.code):
            kind, live = m[1], not stack or stack[-1][3]
            if kind in ("if", "ifdef", "ifndef"):
                can, can_fail = may_hold(kind, self.bare[m.start(2):m.end(2)])
                stack.append([live, not can_fail, m.end(), live and can])
            elif kind in ("elif", "else", "endif") and stack:
                top = stack[-1]
                (self.branches if top[3] else dead).append((top[2], m.start()))
                if kind == "endif":
                    stack.pop()
                    continue
                if top[1]:
                    self.unasked.add(m.start())
                can, can_fail = (True, False) if kind == "else" else may_hold("if", self.bare[m.start(2):m.end(2)])
                top[2], top[3] = m.end(), top[0] and can and not top[1]
                top[1] = top[1] or not can_fail
        for start, end in dead:
            self.code = self.code[:start] + blank(self.code[start:end]).replace("\\", " ") + self.code[end:]

    def find_defines(self) -> Iterator[Define]:
        for m in DIRECTIVE.finditer(self.code):
            d = re.match(r"\s*(\w+)(?:\(([^)]*)\))?", m[2]) if m[1] == "define" else None
            if d:
                names = ["__VA_ARGS__" if p.strip() == "..." else p.strip() for p in (d[2] or "").split(",")]
                yield Define(m.start(2) + d.end(), m.end(), d[1], names if d[2] is not None else [])

    def find_scopes(self) -> None:
        """What a place is in: a namespace, a class, or a function (any other pair of braces)."""
        stack, branches, last = ["namespace"], [], 0
        for m in re.finditer(rf"{DIRECTIVE.pattern}|[{{}};]", self.code, re.M):
            if m[1] in ("if", "ifdef", "ifndef"):
                branches.append(list(stack))
            elif m[1] in ("else", "elif") and branches:
                stack = list(branches[-1])
            elif m[1] == "endif" and branches:
                branches.pop()
            elif m[0] == "{":
                head = ATTRIBUTE.sub("", self.flat[last:m.start()])
                kind = "function"
                if re.search(r"\bnamespace\b[^=()]*$|\bextern\s*\"[ ]*\"\s*$", head):
                    kind = "namespace"
                elif re.search(r"\b(class|struct|union|enum)\b", head) and not re.search(r"[()=]", head):
                    kind = "class"
                stack.append(kind)
            elif m[0] == "}" and len(stack) > 1:
                stack.pop()
            if m[1] is None:
                last = m.end()
            self.scopes.append((m.end(), "function" if "function" in stack else stack[-1]))

    def scope(self, at: int) -> str:
        return self.scopes[bisect_right(self.scopes, (at, "~")) - 1][1]

    def define_at(self, at: int) -> Optional[Define]:
        return next((d for d in self.defines if d.start <= at < d.end), None)

    def text_around(self, at: int) -> Tuple[str, int, int]:
        """The text to read a statement from, and where it starts and ends: a macro's, or all that is not directives."""
        d = self.define_at(at)
        return (self.code, d.start, d.end) if d else (self.flat, 0, len(self.flat))

    def problem(self, what: str, at: int) -> Problem:
        return Problem(f"{what}: {self.path}:{self.source.count(chr(10), 0, at) + 1}")

    def edit(self, start: int, end: int, text: str) -> None:
        self.edits.append((start, end, text))

    def edited(self, at: int) -> bool:
        return any(start <= at < end for start, end, _ in self.edits)

    def newlines(self, start: int, end: int) -> str:
        return "".join(re.findall(r"\\?\n", self.source[start:end]))

    # ---- Brackets ----

    def close(self, at: int) -> int:
        """The offset after the bracket that closes the one at `at`."""
        depth = 0
        for m in re.compile(r"[()\[\]{}]").finditer(self.code, at):
            depth += 1 if m[0] in "([{" else -1
            if depth == 0:
                return m.end()
        raise self.problem(f"'{self.code[at]}' is never closed", at)

    def open(self, end: int) -> int:
        """The offset of the bracket that is closed by the one before `end`; -1 if there is none."""
        depth = 0
        for at in range(end - 1, -1, -1):
            depth += (self.code[at] in ")]}") - (self.code[at] in "([{")
            if depth == 0:
                return at
        return -1

    def close_angle(self, at: int, end: int) -> int:
        """The offset after the > of the template arguments that start at `at`, or -1 if < is an operator."""
        depth = 0
        while at < end and self.code[at] not in ")]};":
            c = self.code[at]
            if c in "([{":
                at = self.close(at)
                continue
            if c == "<":
                depth += 1
            elif c == ">" and self.code[at - 1] != "-":
                depth -= 1
                if depth == 0:
                    return at + 1
            at += 1
        return -1

    def open_angle(self, end: int) -> int:
        """The offset of the < of the template arguments that end before `end`; -1 if there is none."""
        depth, at = 0, end
        while at > 0:
            at -= 1
            c = self.code[at]
            if c in ")]":
                at = self.open(at + 1)
            elif c in ";({[}":
                return -1
            elif c == ">" and self.code[at - 1] != "-":
                depth += 1
            elif c == "<" and self.code[at - 1] == "<":
                at -= 1  # a shift
            elif c == "<" and self.code[at + 1] != "=":
                depth -= 1
                if depth == 0:
                    return at
        return -1

    def split(self, start: int, end: int) -> List[Tuple[int, int]]:
        """The parts between commas that stand in no brackets. < after a name, with no space, opens one."""
        parts, at = [], start
        while at < end:
            c = self.code[at]
            after = self.close(at) if c in "([{" else at + 1
            if c == "<" and re.match(r"\w", self.code[at - 1]):
                after = max(after, self.close_angle(at, end))
            elif c == ",":
                parts.append((start, at))
                start = at + 1
            at = after
        return parts + [(start, end)]

    # ---- Launches ----

    def before(self, pattern: str, at: int) -> "Optional[re.Match[str]]":
        """What the pattern finds just before `at`. Looks back 200 characters, the longest name there is."""
        return re.compile(rf"(?:{pattern})$").search(self.code[:at], max(0, at - 200))

    def kernel_start(self, end: int) -> int:
        """Where the expression before <<< starts: names with template arguments, calls, subscripts. -1: none."""
        at = end
        while True:
            at -= len(self.before(r"(?:\s|\\\n)*", at)[0])
            c = self.code[at - 1:at]
            if c == "]":
                at = self.open(at)
                continue
            if c == ")":
                at = self.open(at)
                called = self.before(r"\w+|[\])>]", at)
                if not called or called[0] in KEYWORDS:
                    return at
                continue
            if c == ">":
                at = self.open_angle(at)
            name = self.before(r"(?:\btemplate\s+)?\b[A-Za-z_]\w*\s*", at) if at > 0 else None
            if not name or name[0].strip() in KEYWORDS:
                return -1
            at = name.start()
            joint = self.before(r"(?:::|\.|->|##)\s*", at)
            if not joint:
                outer = self.before(r"\w<\s*", at)  # k<A < B>: the second < was an operator
                return self.kernel_start(outer.start() + 1) if outer else at
            at = joint.start()
            owner = self.before(r"\w+\s*|[\])>]\s*", at)
            if joint[0].startswith("::") and (not owner or owner[0].strip() in KEYWORDS | {")", "]"}):
                return at

    def launch(self, at: int) -> None:
        start = self.kernel_start(at)
        if start < 0:
            raise self.problem("no kernel before <<<", at)
        end, after = at + 3, len(self.code)
        while end < after and self.code[end] not in ";)}]":
            closing = re.compile(r"(>{3,})\s*(?:\\\n\s*)*\(").match(self.code, end)
            if closing:
                end = closing.end(1) - 3
                break
            angles = re.compile(">*").match(self.code, end)[0]
            end = self.close(end) if self.code[end] in "([{" else end + max(1, len(angles))
        if self.code[end:end + 3] != ">>>":
            raise self.problem("<<< without >>>(", at)
        parts = self.split(at + 3, end)
        if not 2 <= len(parts) <= 4 or not all(self.code[a:b].strip() for a, b in parts):
            raise self.problem(f"a launch has 2 to 4 values in <<< >>>, not {len(parts)}", at)
        opened = self.code.index("(", end)
        arguments_end = self.close(opened) - 1
        kernel = re.sub(r"\s+", " ", re.sub(r"\\\n", " ", self.bare[start:at])).strip()
        self.launches.append(strict.LaunchOf(kernel, start, (opened + 1, arguments_end)))

        openings = ["dim3(", "dim3(", "std::size_t(", "(cudaStream_t)("]
        braced = [self.code[a:b].lstrip(" \t\n\\").startswith("{") for a, b in parts]  # <<<{2, 1}, {8, 8}>>>
        openings = [o.rstrip("(") if b else o for o, b in zip(openings, braced)]
        closings = ["" if b else ")" for b in braced]
        most = self.of_kernel("__launch_bounds__", self.job.bounds, self.launches[-1].name, at)
        bounds = f"simt::bounded({most}, " if most else ""
        self.edit(start, self.skip_blanks(at + 3),
                  f"simt::launch({bounds}simt::Launch{{{openings[0]}{self.newlines(start, at)}")
        for opening, closing, before, part in zip(openings[1:], closings, parts, parts[1:]):
            self.edit(before[1], self.skip_blanks(part[0]), f"{closing}, {opening}")
        defaults = ["", ", nullptr", ", 0, nullptr"][4 - len(parts)]
        simple = re.fullmatch(r"[\w\s:#]+", re.sub(r"<.*>", "", kernel))
        call, capture = (kernel, "=") if simple else ("simt_k", f"simt_k = {kernel}")
        arguments = self.code[opened + 1:arguments_end].strip()
        comma = "" if not arguments else " __VA_OPT__(,) " if arguments == "__VA_ARGS__" else ", "
        given = len(self.split(opened + 1, arguments_end)) if arguments else 0
        as_they_are = strict.as_they_are(self.job.functions.get(self.launches[-1].name, []), given)
        comma = f", {'simt::AsTheyAre{}' if as_they_are else f'SIMT_KERNEL_PARAMETERS({kernel})'}{comma}"
        passed = "auto&&" if self.by_reference(opened + 1, arguments_end) else "auto"
        cluster = self.of_kernel("__cluster_dims__", self.job.clusters, re.sub(r"\s*<.*>$|.*::", "", kernel), at)
        name = self.name_of(kernel, at) + (f", dim3({cluster})" if cluster else "")
        close = ")" if bounds else ""
        self.edit(end, opened + 1, f"{closings[-1]}{defaults}, {name}}}{close}, [{capture}]({passed}... simt_a) "
                                   f"{{ {call}(simt_a...); }}{comma}{self.newlines(end, opened)}")
        for k, (a, b) in enumerate(self.split(opened + 1, arguments_end)):
            self.argument(k, a, b, kernel, start)

    def argument(self, k: int, a: int, b: int, kernel: str, at: int) -> None:
        """The argument number k of a launch, where its text alone does not tell its type: NULL, 0 and { }."""
        text, a = self.code[a:b].strip(), a + len(self.code[a:b]) - len(self.code[a:b].lstrip())
        found = self.job.functions.get(self.launches[-1].name, [])
        if text == "NULL" or (text == "0" and found and all(k in f.pointers for f in found)):
            self.edit(a, a + len(text), "nullptr")
        elif text.startswith("{"):
            if "<" not in kernel and any(f.template for f in found):
                raise self.problem("a launch of a template does not tell the type of {...}; write it before {", a)
            self.edit(a, a, f"std::remove_pointer_t<decltype(simt::parameter_of<{k}>({kernel}))>")

    def expanded(self) -> str:
        """The source with macros for <<< >>> (#define ON(b, t) <<<b, t>>>) written out where they are used."""
        known, text = self.job.launch_macros, self.source
        changes = []
        for d in self.defines:
            body = self.bare[d.start:d.end].replace("\\\n", "  ").strip()
            if re.search(r"(?<!operator)<<<.*>>>$", body):
                if known.setdefault(d.name, (d.parameters, body)) != (d.parameters, body):
                    raise self.problem(f"'{d.name}' stands for several <<< >>>; write the launches out", d.start)
                changes.append((d.start, d.end, blank(self.source[d.start:d.end])))
        for m in re.finditer(rf"\b({'|'.join(known)})\b(\s*\()?", self.code) if known else ():
            (parameters, body), end = known[m[1]], m.end(1)
            directive = self.code[self.code.rfind("\n", 0, m.start()) + 1:m.start()]
            if (parameters and not m[2]) or re.match(r"\s*#\s*(?:if|el|undef|define\s*$)", directive):
                continue
            if parameters:
                end = self.close(m.end() - 1)
                given = [self.bare[a:b].strip() for a, b in self.split(m.end(), end - 1)]
                if "__VA_ARGS__" in parameters:
                    rest = parameters.index("__VA_ARGS__")
                    given[rest:] = [", ".join(given[rest:])]
                words = dict(zip(parameters, given))
                body = re.sub(r"\w+", lambda w: words.get(w[0], w[0]), body)
            changes.append((m.start(), end, re.sub(r"\\?\n", " ", body) + self.newlines(m.start(), end)))
        for start, end, written in sorted(changes, reverse=True):
            if not any(a < start and end <= b for a, b, _ in changes):  # inside another one: the next time
                text = text[:start] + written + text[end:]
        return text

    def by_reference(self, start: int, end: int) -> bool:
        """What a kernel takes by reference is the host's variable, not a copy. Whether there is any."""
        found = self.job.functions.get(self.launches[-1].name, [])
        wanted = set(found[0].references) if found and all(f.references == found[0].references for f in found) else set()
        for k, (a, b) in enumerate(self.split(start, end)):
            if k in wanted:
                a, b = a + len(self.code[a:b]) - len(self.code[a:b].lstrip()), a + len(self.code[a:b].rstrip())
                self.edit(a, a, "simt::by_reference(")
                self.edit(b, b, ")")
        return bool(wanted)

    def dropped(self) -> None:
        """Calls of the runtime whose code nobody looks at: statements of their own."""
        for m in re.finditer(r"(?<![\w.>:])cuda[A-Z]\w*\s*\(", self.flat):
            before = self.flat[:m.start()].rstrip()
            alone = before.endswith((";", "{", "}")) or re.search(r"\b(?:else|do)$", before[-5:])
            if before.endswith(")"):
                alone = re.search(r"\b(?:if|for|while)\s*$", self.flat[:self.open(len(before))][-20:])
            end = self.close(m.end() - 1)
            if alone and self.flat[end:].lstrip().startswith(";") and self.scope(m.start()) == "function":
                if m[0].rstrip("( ") not in self.job.macros:
                    self.edit(end, end, ", simt::drop()")

    def skip_blanks(self, at: int) -> int:
        while self.source[at] in " \t":
            at += 1
        return at

    def name_of(self, expression: str, at: int) -> str:
        """The literal for an expression; in a macro, its parameters are replaced in the literal, too."""
        d = self.define_at(at)
        words = re.split(r"(\b\w+\b)", expression) if d and d.parameters else [expression]
        words = [w.replace("##", "").strip() for w in words]  # pieces of one name, in the literal, too
        return " ".join("#" + w if d and w in d.parameters else quoted(w) for w in words if w)

    # ---- Variables ----

    def statement_start(self, at: int) -> int:
        """Where the declaration starts that has a qualifier at `at`; -1 if that is inside brackets, as a parameter."""
        code, first, _ = self.text_around(at)
        while at > first and code[at - 1] not in ";{}":
            c = code[at - 1]
            if c in "(<,=[":
                return -1
            if c in ")]":
                at = self.open(at)
            elif c == ">":
                at = self.open_angle(at)
            elif c == ":" and code[at - 2] != ":":
                break
            else:
                at -= 2 if c == ":" else 1
        return re.compile(r"(?:\s|\\\n)*").match(code, at).end() if at >= 0 else -1

    def statement_end(self, at: int) -> int:
        code, _, last = self.text_around(at)
        while at < last and code[at] != ";":
            at = self.close(at) if code[at] in "([{" else at + 1
        return min(at, last)

    def shared(self, at: int) -> None:
        """__shared__ in a declaration. Elsewhere, as in a parameter, it says nothing to C++ and goes."""
        start = self.statement_start(at)
        if self.edited(at):  # written twice in one declaration
            return
        if start < 0:
            self.edit(at, re.compile(r"\w+").match(self.code, at).end(), "")
            return
        end = self.statement_end(at)
        text = self.bare[start:end].replace("\\\n", " \n")
        here, before = self.scope(start), ""
        if self.define_at(at):
            here = "function"
        body = re.match(r"[^;{]*?\b(struct|union|class)\b([^;{]*)\{", self.code[start:end])
        if body:
            closed = self.close(start + body.end() - 1) - start
            name = ALIGN.sub("", body[2]).strip() or f"simt_type_{self.job.number()}"
            before = f"{body[1]} {body[2] if name in body[2] else body[2] + name} "
            before += self.source[start + body.end() - 1:start + closed] + "; "
            text = f"{text[:body.start(1)]}{name} {text[closed:]}"
        alignment = ALIGN.search(text)
        extern = re.search(r"\bextern\b", self.code[start:end])
        words = "|".join(["extern|static|inline|register|__device__|__shared__", *self.job.shared])
        text = re.sub(rf"\b(?:{words})\b", " ", re.sub(r"\[\[.*?\]\]", "", ALIGN.sub(" ", text)))
        declarators = self.declarators(text, start)
        if here == "class":
            raise self.problem(f"a __shared__ variable outside of a function ({declarators[0][1]})", at)
        out = [self.declare(*d, alignment, bool(extern), here, end) for d in declarators]
        lines = self.source[start:end].count("\n") - before.count("\n")
        self.edit(start, end, before + "; ".join(out) + ("\\\n" if self.define_at(at) else "\n") * lines)

    def declarators(self, text: str, at: int) -> List[Tuple[str, str, str]]:
        """(type, name, dimensions) of each variable of a declaration."""
        found: List[Tuple[str, str, str]] = []
        depth, parts = 0, [""]
        for m in re.finditer(rf"{PARENS}|\s+|\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]|->|.", text):  # [...] in one piece
            depth += (m[0] in "({<") - (m[0] in ")}>")
            if m[0] == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += re.sub(r"\s+", " ", m[0]) if m[0].isspace() or m[1] is not None else m[0]
        for part in parts:
            m = re.fullmatch(r"\s*(.*?)(\w+)\s*((?:\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]\s*)*)", part)
            value = re.match(r"\s*(?:[\w:<>,&*\s]+[\s*&>])?(\w+)\s*(?:\[[^\[\]]*\]\s*)*[={(](?!\s*\*)", part)
            if value and (not m or re.search(r"[=({]", re.sub(r"<.*>", "", m[1]))):
                line = self.source.count("\n", 0, at) + 1
                raise Problem(f"{self.path}:{line}: error: '{value[1]}' is a __shared__ variable, which cannot have an "
                              "initial value; let one thread set it, and call __syncthreads()")
            if not m or (not found and not m[1].strip()) or re.search(r"[=({]", re.sub(r"<.*>", "", m[1])):
                raise self.problem(f"cannot read this __shared__ declaration ({part.strip()})", at)
            base = re.sub(r"(?:[*&]\s*(?:const|volatile)?\s*)*$", "", found[0][0]).strip() + " " if found else ""
            dims = re.sub(r"\[([^\[\]]*>[^\[\]]*)\]", r"[(\1)]", re.sub(r"\]\s*(\[|$)", r"]\1", m[3]))
            found.append(((base + m[1]).strip(), m[2], dims))
        return found

    def declare(self, kind: str, name: str, dims: str, alignment: "Optional[re.Match[str]]", extern: bool,
                scope: str, at: int) -> str:
        """The same in C++; without the semicolon, which is at `at`."""
        if extern:
            element = kind + (dims[dims.index("]") + 1:] if dims else "")
            if scope != "function":
                cast = rf"\breinterpret_cast\s*<[^<>;]*>\s*\(\s*(?={name}\s*\))"
                for m in re.finditer(cast, self.flat):
                    self.edit(m.end(), m.end(), "+")  # a pointer, not the object
                return f"static simt::DynamicShared<{element}> {name}"
            call = f"simt::dynamic_shared<{element}>()"
            used = self.without_capture(name, call if dims else f"(*{call})", at, bool(dims))
            if not dims:
                return f"{used}{kind}& {name} = *{call}"
            number = self.job.number()
            known = (f"struct simt_name_{number} {{ static constexpr const char* file() {{ return __FILE__; }} "
                     f"static constexpr const char* text() {{ return \"{name}\"; }} }}; ")
            return (f"{known}{used}{kind + '*' if element == kind else 'auto*'} {name} = "
                    f"simt::dynamic_shared<{element}, simt_name_{number}>()")
        number, before, aligned = self.job.number(), "", ""
        if alignment:
            value = next(g for g in alignment.groups() if g is not None).strip()
            aligned = f", {value}"
            if not value.isdigit():  # a type or an expression
                before = f"struct alignas({value}) simt_align_{number} {{}}; "
                aligned = f", alignof(simt_align_{number})"
        key = f"static char simt_key_{number}[] = \"{name}\"; "
        call = f"simt::shared<{kind}{dims}{aligned}>(&simt_key_{number})"
        if scope != "function":
            self.job.shared_of_files[name] = f"simt_shared_{number}()"
            self.shared_from[name] = at
            return f"{before}{key}static inline auto& simt_shared_{number}() {{ return {call}; }}"
        used = self.without_capture(name, call, at)
        return f"{before}{key}{used}{f'{kind} (&{name}){dims}' if dims else f'{kind}& {name}'} = {call}"

    def without_capture(self, name: str, call: str, at: int, pointer: bool = False) -> str:
        """A __shared__ variable lasts: lambdas and local classes use it without a capture, and [=] does not copy it. So
        they call what its reference is made of. `at`: behind its declaration. Of a `pointer` a copy does no harm.
        Returns what to write before the reference."""
        block, before = strict.block(self, at), len(self.edits)
        if self.define_at(at) or block < 0:
            return ""
        end = self.close(block)
        kept = r"\[|[&=]\s*[,\]]" if pointer else r"\[|&\s*[,\]]"
        intro = rf"(?<![\w)\]])(?<!operator)\s*\[(?!\s*(?:{kept}))[^\[\]{{}};]*\](?=\s*(?:[({{<]|mutable|__))"
        for m in re.finditer(rf"{intro}|\b(?:struct|class|union)\b[^;{{}}()=]*(?={{)", self.flat[at:end]):
            opened = re.compile(r"[;{]").search(self.flat, at + m.end())
            if not opened or opened[0] == ";":
                continue
            closed, head = self.close(opened.start()), self.flat[at + m.end():opened.start()]
            own = rf"[\w*&>]\s+[*&]*{name}\s*[,)=;\[{{]"
            if re.search(own, head) or ("[" not in m[0] and re.search(own, self.flat[opened.start():closed])):
                continue
            for use in re.compile(rf"(?<![\w.])(?<!->){name}\b").finditer(self.flat, opened.start(), closed):
                if not self.edited(use.start()):
                    self.edit(use.start(), use.end(), call)
        return "[[maybe_unused]] " if len(self.edits) > before else ""

    def static_variables(self, rules: strict.Strict) -> None:
        """A static variable of a function for the device is memory of the device, as with __device__."""
        for f in rules.own:
            if not f.body[1] or f.host or f.template or f.member or f.words & {"inline", "__forceinline__", "constexpr"}:
                continue  # GCC takes no section for a variable of an inline function
            for m in re.compile(r"(?<=[;{}])\s*\bstatic\s+(?=([^;=({]*)[;=\[{])").finditer(self.flat, *f.body):
                words = re.findall(r"\w+", m[1])
                if not re.search(r"__\w+__", m[1]) and not set(words) & ({"const", "constexpr"} | self.job.shared):
                    self.edit(m.end(), m.end(), "SIMT_DEVICE_VARIABLE ")

    def shared_outside(self, rules: strict.Strict) -> None:
        """__shared__ variables of namespaces are calls wherever they are named."""
        for name, call in self.job.shared_of_files.items():
            declared = (r"(?:[;{}]|\bfor\s*\()\s*(?!return\b|else\b|do\b|delete\b|goto\b)"
                        rf"[A-Za-z_][\w:<>\s,]*[\s*&]{name}\s*[=;{{\[(:,]")
            for m in re.finditer(rf"(?<![\w.\"])(?<!->){name}\b", self.code):
                f = rules.around(m.start())
                if m.start() < self.shared_from.get(name, 0) or (f and name in rules.members_seen(f)):
                    continue
                head = self.flat[f.head:f.body[0]] if f else ""
                if self.edited(m.start()) or re.search(rf"[\w*&>]\s*\b{name}\s*[,)=\[]", head) or (
                        f and re.search(declared, self.flat[slice(*f.body)])) or self.scope(m.start()) == "class":
                    continue
                directive = self.code[self.code.rfind("\n", 0, m.start()) + 1:m.start()].lstrip()
                if f or self.define_at(m.start()) or (directive[:1] != "#" and self.scope(m.start()) == "function"):
                    self.edit(m.start(), m.end(), call)

    def device_variable(self, at: int) -> None:
        """__device__, __constant__, __managed__: before a variable that lasts, what places it in a section."""
        start = self.statement_start(at)
        before = self.code[:at].rstrip()
        if start < 0 or (before.endswith("]") and not before.endswith("]]")) or self.edited(at):
            return
        code, _, last = self.text_around(at)
        words: List[str] = re.findall(r"\w+", code[start:at])
        body = False
        while at < last:
            if code[at] == "{" and not body and {"struct", "union", "class", "enum"} & set(words):
                tag = max(n for n, w in enumerate(words) if w in ("struct", "union", "class", "enum"))
                words, body, at = [*words[:tag], "{}"], True, self.close(at)
                continue
            m = ATTRIBUTE.match(code, at) or re.compile(r"\s+|\\\n|\w+|::|[*&]+").match(code, at)
            if m:
                words += [m[0]] if re.match(r"\w|\*", m[0]) else []
                at = m.end()
            elif code[at] == "<":
                at = self.close_angle(at, last)
                if at < 0:
                    return
            else:
                break
        function = at < last and code[at] == "(" and not re.match(r"\(\s*(\w+\s*::\s*)*\*", code[at:at + 80])
        if at >= last or function or {"operator", "template", "using", "typedef"} & set(words):
            return  # GCC takes no section for a variable template
        qualifiers = list(re.compile(r"__(?:device|constant|managed)__").finditer(code, start, at))
        names = [w for w in words if w not in ("static", "extern", "inline", "const", "constexpr", "volatile",
                                            "struct", "union", "class", "enum")]
        constant = "constexpr" in words or ("const" in words and "*" not in words) or "const" in words[-2:-1] or (
            re.match(r"\(\s*(\w+\s*::\s*)*\*\s*const\b", code[at:at + 80]))
        scope = self.scope(start)
        if code[at] not in ";=[{,(" or len(names) < 3 - (code[at] == "(") or constant or scope == "class" or (
                scope == "function" and "static" not in words):
            return
        kind = "CONSTANT" if any(q[0] == "__constant__" for q in qualifiers) else "DEVICE"
        for n, q in enumerate(qualifiers):
            self.edit(q.start(), q.end(), "" if n else f"SIMT_{kind}_VARIABLE")
        if scope == "namespace" and "extern" not in words and self.define_at(start) is None:
            first = start + len(code[start:]) - len(code[start:].lstrip())
            managed = any(q[0] == "__managed__" for q in qualifiers)
            gap = f"SIMT_{'MANAGED' if managed else kind}_GAP "
            self.edit(first, first, gap)
            self.part_declarators(first, at, f"{gap}SIMT_{kind}_VARIABLE")

    def part_declarators(self, first: int, at: int, before: str) -> None:
        """A declaration of several variables becomes one for each, with a gap before each. `at`: behind the first name."""
        parts = self.split(first, self.statement_end(at))
        name = re.search(r"[*&\s]*\b\w+\s*$", self.code[first:at])
        kind = self.code[first:first + name.start()] if name else "{"
        if len(parts) > 1 and not re.search(r"[{<(\n]", kind):
            kind = re.sub(r"\b__(?:device|constant|managed)__\s*", "", kind).strip()
            for (_, end), (start, _) in zip(parts, parts[1:]):
                self.edit(end, start, f"; {before} {kind} ")

    # ---- The rest ----

    def kernel_arguments(self, name: str, at: int) -> None:
        """Kernels passed to a function of the host API: their name goes with them."""
        opened = self.code.index("(", at)
        parts = self.split(opened + 1, self.close(opened) - 1)
        if len(parts) <= KERNEL_ARGUMENT[name]:
            return
        a, b = parts[KERNEL_ARGUMENT[name]]
        b = a + len(self.code[a:b].rstrip())
        a = b - len(self.code[a:b].lstrip())
        start, end = a, b
        cast = CAST.match(self.code, a, b)
        while cast:
            a, cast = cast.end(), CAST.match(self.code, cast.end(), b)
        cast = NAMED_CAST.match(self.code, a, b)
        if cast and self.code[b - 1] == ")":
            a, b = cast.end(), b - 1
        expression = re.sub(r"\\?\s+", " ", self.bare[a:b]).strip()
        if not expression or re.match(r"[\"\d]|nullptr$|NULL$", expression):
            return
        self.edit(start, a, "simt::kernel(" + self.newlines(start, a))
        self.edit(b, end, f", {self.name_of(expression, a)})")

    def assembly(self, m: "re.Match[str]") -> None:
        """Inline assembly for the device is PTX, unless it is an empty string: a barrier for the compiler."""
        end = self.close(m.end() - 1)
        template = re.match(r"(?:\s*\"\s*\")*", self.bare[m.end():end])[0]
        if self.bare[m.end() + len(template):end].lstrip()[:1] not in (":", ")") or not template:
            raise self.problem("inline PTX needs a GPU", m.start())

    def keep_texts(self) -> None:
        """A macro that prints its argument with # shall print the source: literals of it become arguments before it."""
        for d in self.defines:
            hashes = [m for m in re.finditer(r"(?<!#)#\s*(\w+)", self.code[d.start:d.end]) if m[1] in d.parameters]
            call = re.compile(rf"\b{d.name}\s*\(")
            spans = [(m.end(), self.close(m.end() - 1) - 1) for m in call.finditer(self.flat)] if hashes else []
            changed = any(a <= e[0] < b for a, b in spans for e in self.edits)
            if not changed or any(call.search(self.code[o.start:o.end]) for o in self.defines):
                continue
            texts = [p for p in d.parameters if p in {m[1] for m in hashes}]
            head = self.code.rindex("(", 0, d.start) + 1
            self.edit(head, head, "".join(f"simt_text_{p}, " for p in texts))
            for m in hashes:
                self.edit(d.start + m.start(), d.start + m.end(), f"simt_text_{m[1]}")
            for a, b in spans:
                given = dict(zip(d.parameters, self.split(a, b)))
                if "__VA_ARGS__" in given:
                    given["__VA_ARGS__"] = (given["__VA_ARGS__"][0], b)
                self.edit(a, a, "".join(quoted(self.bare[slice(*given.get(p, (b, b)))]) + ", " for p in texts))

    def includes(self) -> bool:
        """Rewrites what it includes; true if that changes what has to be included."""
        changed = False
        for m in DIRECTIVE.finditer(self.code):
            said = self.bare[m.start(2):m.end(2)] if m[1] == "include" else ""
            name = re.match(r"\s*([\"<])([^\">\n]+)[\">]", said)
            place = name and self.job.find(name[2], self.path if name[1] == '"' else None)
            if name and not place:
                changed = self.no_header(m, name) or changed
            if place:
                copy = self.job.header(place)
                changed = changed or copy is not None
                if copy or name[1] == '"':
                    at = m.start(2) + name.start(1)
                    self.edit(at, m.start(2) + name.end(), f'"{copy or os.path.abspath(place)}"')
        return changed

    def no_header(self, m: "re.Match[str]", name: "re.Match[str]") -> bool:
        """A header that is not the user's: a library of NVIDIA's becomes an error that says so."""
        instead = strict.library(name[2])
        if instead:
            self.edit(m.start(2) + name.start(1), m.start(2) + name.end(), f'"{instead}"')
        else:
            self.job.missing = self.job.missing or not strict.standard(name[2])
        return bool(instead)

    def function_behind(self, at: int) -> str:
        """The name of the function that an attribute before `at` belongs to; empty if that cannot be told."""
        d = self.define_at(at)
        name = re.match(r"[\w\s:]*?(\w+)\s*\(", ATTRIBUTE.sub("", self.code[at:min(at + 400, d.end if d else at + 400)]))
        return name[1] if name else ""

    def find_kernels(self) -> Iterator[Kernel]:
        """What is declared with __global__, as far as its head can be read."""
        for m in re.finditer(r"\b__global__\b", self.flat):
            name, end = self.function_behind(m.end()), re.compile(r"[;{]").search(self.flat, m.end())
            head = re.compile(rf"\b{name}\s*\(").search(self.flat, m.end()) if name else None
            if head and end:
                start = max(self.flat.rfind(c, 0, m.start()) for c in ";{}") + 1  # an attribute may stand before the word
                template = re.match(r"\s*(template\s*<.*>)?", self.flat[start:m.start()], re.S)[0]
                parts = self.split(head.end(), self.close(head.end() - 1) - 1)
                types = [re.sub(r"(?<=[\w>*&\s])\b\w+\s*$", "", self.flat[a:b].split("=")[0].strip()) for a, b in parts]
                yield Kernel(name, start, end.start(), end[0] == "{", re.sub(r"\s", "", f"{template}({','.join(types)})"))

    def attribute_of(self, attribute: str, kernel: Kernel) -> Any:
        """The text of a kernel's __cluster_dims__, the value of its __launch_bounds__; None if it has none."""
        found = re.search(rf"\b{attribute}{PARENS}", self.code[kernel.start:kernel.end])
        if not found or attribute == "__cluster_dims__":
            return found[1] if found else None
        return strict.value_in(self, found[1].split(",")[0], kernel.start + found.start())

    def note_attributes(self) -> None:
        """What kernels of this file have, for launches in others. Of overloads that differ nothing is known."""
        for attribute, known in (("__cluster_dims__", self.job.clusters), ("__launch_bounds__", self.job.bounds)):
            for kernel in self.kernels:
                of = known.setdefault(kernel.name, {})
                of[kernel.signature] = self.attribute_of(attribute, kernel) or of.get(kernel.signature)

    def of_kernel(self, attribute: str, known: Dict[str, Dict[str, Any]], name: str, at: int) -> Any:
        """An attribute's value for the kernel that is launched at `at`; None if it has none. Of kernels of one name, in
        namespaces, that are defined in this file, the last one before the launch counts."""
        found = [k for k in self.kernels if k.name == name]
        if len({strict.block(self, k.start) for k in found}) > 1 and all(k.defined for k in found):
            last = ([k for k in found if k.start < at] or found[:1])[-1]
            values = {self.attribute_of(attribute, k) for k in found
                      if strict.block(self, k.start) == strict.block(self, last.start)}
        else:
            values = set(known.get(name, {}).values())
        return values.pop() if len(values) == 1 else None

    def rewrite(self) -> Optional[str]:
        """The text in C++; None if it is C++ already, so that a header can be included as it is."""
        changed = self.includes()
        expanded = self.expanded()
        if expanded != self.source:
            return File(self.path, expanded, self.job).rewrite() or expanded
        before = len(self.edits)
        self.job.macros.update(d.name for d in self.defines)
        self.job.device_macros.update(d.name for d in self.defines if set(re.findall(
            r"\w+", self.code[d.start:d.end])) & ({"__device__", "__global__", "__host__"} | self.job.device_macros))
        for m in DIRECTIVE.finditer(self.code):
            for word in re.finditer(r"\b__CUDACC__\b", self.code[m.start(2):m.end(2)] if "if" in m[1] else ""):
                self.edit(m.start(2) + word.start(), m.start(2) + word.end(), "SIMT")
        for d in self.defines:
            if self.code[d.start:d.end].strip() == "__shared__" and not d.parameters:
                self.job.shared.add(d.name)
                self.edit(d.start, d.end, "")
                if d.name == "shared":  # what is written calls simt::shared
                    self.edit(d.start - len(d.name), d.start, "simt_shared")
        self.note_attributes()
        words = "|".join(sorted({"__shared__"} | self.job.shared))
        rules = strict.Strict(self)
        if re.search(r"\b__(device|global)__\b", self.code):
            asm = r"\b(?:asm|__asm__|__asm)\s*(?:(?:volatile|__volatile__|goto|inline)\s*)*\("
            for m in re.finditer(asm, self.code):
                if not rules.on_host(m.start()):
                    self.assembly(m)
        for m in re.finditer(r"(?<!operator)(?<!operator )<<<", self.code):
            self.launch(m.start())
        rules.check()
        strict.warn_of_architecture(self)
        self.job.texts.append(self.code)
        for m in re.finditer(rf"(?<!define )\b(?:{words})\b", self.code):
            self.shared(m.start())
        self.shared_outside(rules)
        for m in re.finditer(r"\b__(?:device|constant|managed)__\b", self.code):
            self.device_variable(m.start())
        self.static_variables(rules)
        for m in re.finditer(rf"(?<![\w.>])({'|'.join(KERNEL_ARGUMENT)})\s*\(", self.code):
            self.kernel_arguments(m[1], m.start())
        self.dropped()
        self.keep_texts()
        if re.search(r"\b__(device|global)__\b", self.code):
            self.edits += structures.edits(self)
        out, at = [], 0
        for start, end, text in sorted(self.edits, key=lambda e: e[:2]):
            if start >= at:
                out += [self.source[at:start], text]
                at = end
        text = our_words("".join(out) + self.source[at:], self.job.functions)
        return text if changed or before < len(self.edits) or text != self.source else None


class Job:
    """A source with all that it includes."""

    def __init__(self, folders: List[str], copies: str) -> None:
        self.folders, self.copies = folders, copies
        self.shared: Set[str] = set()  # macros that stand for __shared__
        self.launch_macros: Dict[str, Tuple[List[str], str]] = {}  # those that stand for <<< >>>: parameters and text
        self.shared_of_files: Dict[str, str] = {}  # __shared__ variables of namespaces: what to call in their place
        self.clusters: Dict[str, Dict[str, Any]] = {}  # by kernel and what tells overloads apart: its __cluster_dims__
        self.bounds: Dict[str, Dict[str, Any]] = {}  # the threads of its __launch_bounds__
        self.functions: Dict[str, List[strict.Function]] = {}  # of all files read so far
        self.macros: Set[str] = set()
        self.members: Set[str] = set()  # the variables of classes
        self.device_macros: Set[str] = set()  # of them, those with __device__ and the like
        self.texts: List[str] = []  # of the headers
        self.missing = False  # a header of the user's was not found
        self.headers: Dict[str, Optional[str]] = {}  # by real path: the path of the copy
        self.outputs: Dict[str, str] = {}
        self.count = 0

    def number(self) -> int:
        self.count += 1
        return self.count

    def find(self, name: str, includer: Optional[str]) -> Optional[str]:
        folders = ([os.path.dirname(includer)] if includer is not None else []) + self.folders
        places = (os.path.join(f, name) for f in folders)
        ours = os.path.join(os.path.dirname(os.path.realpath(__file__)), "")
        place = next((p for p in places if os.path.isfile(p)), None)
        return None if place is None or os.path.realpath(place).startswith(ours) else place

    def header(self, path: str) -> Optional[str]:
        real = os.path.realpath(path)
        if real not in self.headers:
            self.headers[real] = None  # a header that includes itself
            path = os.path.abspath(path)
            text = File(path, read(path), self).rewrite()
            if text is not None:
                name = f"{zlib.crc32(real.encode()):08x}_{os.path.basename(path)}"
                self.headers[real] = os.path.join(self.copies, name)
                self.outputs[self.headers[real]] = f"#line 1 {quoted(path)}\n{text}"
        return self.headers[real]


def read(path: str) -> str:
    return Path(path).read_bytes().decode("utf-8-sig", "surrogateescape").replace("\r\n", "\n")


def write(path: str, text: str) -> None:
    """Writes a file at once, so that nobody finds half of it."""
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=folder, prefix=".rewrite-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8", "surrogateescape"))
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def main() -> int:
    parser = argparse.ArgumentParser(description="Rewrites a CUDA source for the CPU backend.")
    parser.add_argument("source", help="the .cu file")
    parser.add_argument("-o", dest="output", required=True, help="the C++ file to write")
    parser.add_argument("-I", dest="folders", action="append", default=[], help="where included files are looked for")
    parser.add_argument("--depfile", help="a Makefile rule of what was read")
    parser.add_argument("--out-includes", help="folder for rewritten headers; OUTPUT.includes if not given")
    options = parser.parse_args()
    job = Job(options.folders, os.path.abspath(options.out_includes or options.output + ".includes"))
    try:
        source = File(options.source, read(options.source), job)
        text = source.rewrite() or source.source
        for path, copy in job.outputs.items():
            write(path, copy)
        if options.depfile:
            names = [os.path.abspath(options.output) + ":", os.path.abspath(options.source), *sorted(job.headers)]
            names = [re.sub(r"([ #\\])", r"\\\1", name).replace("$", "$$") for name in names]
            write(options.depfile, " \\\n  ".join(names) + "\n")
        write(options.output, f"#define SIMT_REWRITTEN\n#include <cuda_runtime.h>\n#line 1 {quoted(options.source)}\n{text}")
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"rewrite.py: {error.filename or options.source}: {error.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
