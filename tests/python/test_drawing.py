"""Tests of --draw: the recount, the page and its script, every chapter's page against --model."""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, List, Optional

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common" / "python"))

from course import Problem  # noqa: E402
from course.draw import page, recount, trace  # noqa: E402

BIN = Path(os.environ.get("COURSE_BIN", str(ROOT / "build" / "cpu" / "bin")))
ON_CPU = os.environ.get("COURSE_BACKEND", "cpu") == "cpu"
ALL = 2**32 - 1

Record = Dict[str, Any]


def row(space: str, access: str, size: int, line: int = 1) -> Record:
    return {"file": "/nowhere/kernel.cu", "line": line, "space": space, "access": access,
            "bytes": size, "requests": 1, "lanes": 32, "units": 0, "ideal": 0, "bytes_asked": 0,
            "bytes_moved": 0, "exact": True, "hint": ""}


def record(*requests: List[Any]) -> Record:
    """A kernel of one warp; each request: space, access, bytes, units, ideal, offsets, and for
    atomics how many turns a lane takes."""
    rows, places, items = [], [], []
    for number, (space, access, size, units, ideal, offsets, *turns) in enumerate(requests):
        made = row(space, access, size, number + 1)
        made.update(units=units, ideal=ideal, lanes=len(offsets))
        rows.append(made)
        places.append({"row": number, "requests": 1, "lanes": len(offsets), "units": units,
                       "ideal": ideal, "turns": turns[0] if turns else 1})
        mask = 2**len(offsets) - 1
        memory = trace.SHARED if space == "shared" else 0
        items.append(["request", number, mask, size, units, ideal, memory, list(offsets)])
    return {"format": 1, "label": "", "kernel": "kernel", "launches": 1, "blocks": 1,
            "threads": 32, "barriers": 0, "warp_steps": 1, "lane_steps": 32, "window": 1 << 18,
            "lines": rows, "places": places, "memories": [{"bytes": 1 << 20, "arguments": []}],
            "findings": [], "sample": [{"why": "first", "launch": 1, "block": [0, 0, 0], "rank": 0,
                                        "grid": [1, 1, 1], "shape": [32, 1, 1],
                                        "cluster": [1, 1, 1], "shared": [["s", 0, 4096]],
                                        "warps": [items]}]}


# Counted by hand: space, access, bytes, units, ideal, offsets, turns.
BY_HAND = [
    ("global", "load", 4, 4, 4, [4 * k for k in range(32)]),
    ("global", "load", 4, 5, 4, [4 + 4 * k for k in range(32)]),        # a word behind a line
    ("global", "store", 4, 8, 4, [8 * k for k in range(32)]),           # every other float
    ("global", "store", 4, 32, 4, [65536 * k for k in range(32)]),      # a column
    ("global", "load", 16, 16, 16, [16 * k for k in range(32)]),
    ("global", "load", 1, 1, 1, list(range(32))),
    ("global", "load", 4, 1, 4, [0] * 32),                              # one address for all
    ("global", "load", 8, 2, 1, [24, 32, 40, 48]),                      # four lanes, two sectors
    ("shared", "store", 4, 1, 1, [4 * k for k in range(32)]),
    ("shared", "load", 4, 32, 1, [128 * k for k in range(32)]),         # a column of s[32][32]
    ("shared", "load", 4, 1, 1, [132 * k for k in range(32)]),          # of s[32][33]
    ("shared", "load", 4, 2, 1, [8 * k for k in range(32)]),
    ("shared", "load", 4, 1, 1, [40] * 32),                             # a broadcast
    ("shared", "load", 1, 1, 1, list(range(32))),                       # four lanes a word
    ("shared", "load", 8, 2, 2, [8 * k for k in range(32)]),            # two halves
    ("shared", "load", 16, 4, 4, [16 * k for k in range(32)]),          # four quarters
    ("shared", "load", 8, 1, 1, [8 * (k // 2) for k in range(32)]),     # pairs agree: one group
    ("shared", "store", 8, 2, 2, [8 * (k // 2) for k in range(32)]),    # a store gains nothing
    ("shared", "store", 16, 32, 4, [512 * k for k in range(32)]),
    ("shared", "atomic", 4, 32, 1, [0] * 32, 1),
    ("shared", "atomic", 4, 64, 1, [0] * 32, 2),                        # compare and swap
    ("shared", "atomic", 4, 2, 1, [4 * (k // 2) for k in range(32)], 1),
    ("global", "atomic", 4, 32, 4, [0] * 32),
    ("global", "atomic", 4, 4, 4, [4 * k for k in range(32)]),
    ("global", "atomic", 4, 4, 4, [4 * (k // 2) for k in range(32)]),   # two sectors, twice each
]


class Recount(unittest.TestCase):
    def test_by_hand(self) -> None:
        for request in BY_HAND:
            with self.subTest(request=request):
                self.assertEqual(recount.check(record(request)), 1)

    def test_a_falsified_request_is_refused(self) -> None:
        for request in BY_HAND:
            for wrong in ((4, 1), (5, 1)):
                false = record(request)
                item = false["sample"][0]["warps"][0][0]
                item[wrong[0]] += wrong[1]
                with self.subTest(request=request, wrong=wrong):
                    with self.assertRaisesRegex(Problem, "do not agree: kernel, line 1, warp 0"):
                        recount.check(false)

    def test_a_falsified_address_is_refused(self) -> None:
        false = record(BY_HAND[0])
        false["sample"][0]["warps"][0][0][7][5] = 4096
        with self.assertRaisesRegex(Problem, r"4 counted \(ideal 4\), but its addresses make 5"):
            recount.check(false)

    def test_a_falsified_total_is_refused(self) -> None:
        false = record(BY_HAND[0])
        false["lines"][0]["units"] += 1
        with self.assertRaisesRegex(Problem, "its places have 4 units, its row 5"):
            recount.check(false)
        false["places"][0]["units"] += 1
        with self.assertRaisesRegex(Problem, "sum up to"):
            recount.check(false)

    def test_only_whole_launches_are_summed(self) -> None:
        part = record(BY_HAND[0])
        part["blocks"] = 2
        part["lines"][0]["requests"] = part["places"][0]["requests"] = 2
        recount.check(part)
        self.assertFalse(part["whole"])


class Trace(unittest.TestCase):
    def read(self, text: str) -> List[Record]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trace.jsonl"
            path.write_text(text, encoding="utf-8")
            return trace.read(path)

    def test_no_kernel_has_run(self) -> None:
        self.assertEqual(trace.read(Path("/nowhere/trace.jsonl")), [])
        self.assertEqual(self.read(""), [])

    def test_what_is_no_trace(self) -> None:
        good = record(BY_HAND[0])
        self.assertEqual(len(self.read(json.dumps(good) + "\n")), 1)
        short, other, lost = copy.deepcopy(good), copy.deepcopy(good), copy.deepcopy(good)
        short["sample"][0]["warps"][0][0][7].pop()
        other["format"] = 2
        lost["sample"][0]["warps"][0][0][1] = 7
        for text in ("{", "[]", "{}", json.dumps(short), json.dumps(other), json.dumps(lost)):
            with self.subTest(text=text[:40]):
                with self.assertRaisesRegex(Problem, "trace.jsonl:1: not a trace of this version"):
                    self.read(text)

    def test_names_of_parameters(self) -> None:
        for code, names in (
                ("__global__ void add(const float* a, float *b, int n) {", ["a", "b", "n"]),
                ("template <class T, int n> __global__ void __launch_bounds__(128)\n"
                 "add(const T* __restrict__ in, Pair<int, 4> pair) {", ["in", "pair"]),
                ("__global__ void other(int x); __global__ void add(std::int64_t n = 4)", ["n"]),
                ("void add(int n) {", [])):
            with self.subTest(code=code):
                self.assertEqual(trace.parameters(trace.code_only(code), "ns::add<float, 4>"),
                                 names)

    def test_names_of_memories(self) -> None:
        named = record(BY_HAND[0])
        named["memories"] = [{"bytes": 4096, "arguments": [[0, 0], [1, 1024]]},
                             {"bytes": 64, "arguments": []},
                             {"bytes": 400, "arguments": [], "variables": [["ns::sum", 8, 4]]}]
        code = "__global__ void kernel(float* in, float* out)"
        names = trace.name_memories(named, code)
        self.assertEqual(names, [[(0, "in"), (1024, "out")], [(0, "B")],
                                 [(0, "variables"), (8, "sum")]])
        self.assertEqual(trace.name_at(names[0], 1028), ("out", 4))
        self.assertEqual(trace.name_shared([["", 0, 64], ["s", 64, 4]],
                                           "extern __shared__ __align__(16) float tile[];"),
                         [["tile", 0, 64], ["s", 64, 4]])


def unpacked(data: Record, number: int = 0) -> List[List[Any]]:
    """The requests of a page's kernel: [place, mask, bytes, units, ideal, memory, offsets]."""
    found = []
    for block in data["kernels"][number]["blocks"]:
        for _, items in block["warps"]:
            for item in items:
                if not isinstance(item, list) or item[0] == "copy":
                    continue
                lanes = bin(item[1]).count("1")
                offsets = ([item[6] + k * item[7] for k in range(lanes)]
                           if len(item) == 8 else [item[6][0]] + [item[6][0] + d
                                                                  for d in item[6][1:]])
                found.append(item[:6] + [offsets])
    return found


def large(warps: int, requests: int, places: int) -> Record:
    """A kernel whose every request has addresses of its own."""
    made = record(*[("global", "load", 4, 32, 4, [999 * k * k + k for k in range(32)])] * places)
    made["blocks"] = 2
    one = made["sample"][0]["warps"][0]
    made["sample"][0]["warps"] = [
        [item[:7] + [[4096 * (r + 1) + o for o in item[7]]] for r in range(requests)
         for item in one] + [["left out", 1000]] for _ in range(warps)]
    made["whole"] = False
    return made


class Page(unittest.TestCase):
    def test_holds_what_was_traced(self) -> None:
        made = record(*BY_HAND)
        made["whole"] = True
        data = page.data_of(page.make([made], "title"))
        self.assertEqual([item[1:] for item in made["sample"][0]["warps"][0]], unpacked(data))

    def test_is_one_file_without_network(self) -> None:
        made = record(BY_HAND[0])
        made["whole"] = True
        made["label"] = "</script><b>&"
        text = page.make([made], "<title> & @DATA@")
        self.assertNotRegex(text, r"""(src|href)\s*=|@import|url\((?!#)|https?://""")
        self.assertEqual(text.count("</script>"), 2)
        self.assertIn("<title>&lt;title&gt; &amp; @DATA@</title>", text)
        self.assertEqual(page.data_of(text)["kernels"][0]["label"], "</script><b>&")

    def test_what_does_not_fit_is_left_out_and_said(self) -> None:
        for warps, requests, places in ((32, 64, 1), (32, 64, 8), (32, 64, 60)):
            with self.subTest(warps=warps, requests=requests, places=places):
                made = large(warps, requests, places)
                text = page.make([made], "large")
                self.assertLessEqual(len(text.encode()), 400_000)
                kernel = page.data_of(text)["kernels"][0]
                block = kernel["blocks"][0]
                shown = sum(1 for _, items in block["warps"] for i in items if isinstance(i, list))
                left = sum(int(i) for _, items in block["warps"] for i in items
                           if isinstance(i, str))
                self.assertEqual(block["of"], warps)
                each = requests * places + 1000
                self.assertEqual(shown + left, each * len(block["warps"]))

    def test_many_kernels(self) -> None:
        made = [dict(large(4, 16, 2), label=f"version {k}") for k in range(150)]
        text = page.make(made, "many")
        data = page.data_of(text)
        self.assertLessEqual(len(text.encode()), 400_000)
        self.assertEqual(len(data["kernels"]) + len(data["left_out"]), 150)
        self.assertGreater(len(data["kernels"]), 20)

    def test_worst_and_found_warps_stay(self) -> None:
        made = large(8, 1, 1)
        made["sample"][0]["warps"][5][0][4] = 33
        made["findings"] = [{"kind": "race", "text": "", "block": [0, 0, 0], "thread": 6 * 32,
                             "other": {"block": [0, 0, 0], "thread": 7 * 32}}]
        block = made["sample"][0]
        self.assertEqual(page.wanted_warps(made, block, 3), [5, 6, 7])
        self.assertEqual(page.wanted_warps(made, block, 1), [5])


# ---- In a browser ----

def browser() -> Optional[str]:
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
                None)


def dom(text: str, address: str = "") -> str:
    """The page after its script has run. (Firefox cannot tell without more tools.)"""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(text, encoding="utf-8")
        return subprocess.run(
            [str(browser()), "--headless", "--no-sandbox", "--disable-gpu",
             f"--user-data-dir={folder}/profile", "--virtual-time-budget=2000", "--dump-dom",
             f"file://{path}{address}"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, timeout=120, check=True).stdout


@unittest.skipUnless(browser(), "no Chromium: the page's own script is NOT TESTED")
class Browser(unittest.TestCase):
    def has(self, out: str, pattern: str) -> None:
        found = re.search('data-check="[^"]*"', out)
        self.assertTrue(re.search(pattern, out.split("<script")[0]),
                        f"no '{pattern}' in the page; {found[0] if found else 'it did not run'}")

    def made(self) -> Record:
        made = record(*BY_HAND)
        made["whole"] = True
        made["sample"][0]["warps"][0].append(
            ["copy", "/nowhere/kernel.cu", 40, 3, trace.SHARED, 0, 0, 256, [[64], [8, 64, 1024]]])
        made["findings"] = [
            {"kind": "race", "text": "shared memory, byte 8: block (0,0,0), thread (2,0,0) wrote "
             "it at kernel.cu:9, block (0,0,0), thread (1,0,0) reads it at kernel.cu:9, and nothing "
             "orders the two", "launch": 1, "block": [0, 0, 0], "thread": 1,
             "file": "/nowhere/kernel.cu", "line": 9, "does": "reads", "memory": trace.SHARED,
             "offset": 8, "bytes": 1, "lanes": [],
             "other": {"block": [0, 0, 0], "thread": 2, "file": "/nowhere/kernel.cu", "line": 9}},
            {"kind": "deadlock", "text": "no thread can go on", "launch": 1}]
        return made

    def test_counts_again(self) -> None:
        out = dom(page.make([self.made()], "title"))
        self.has(out, f'data-check="{len(BY_HAND)} right, 0 wrong"')

    def test_a_falsified_page_says_so(self) -> None:
        text = page.make([self.made()], "title")
        data = page.data_of(text)
        data["kernels"][0]["blocks"][0]["warps"][0][1][0][3] += 1
        out = dom(page.DATA.sub(lambda m: m[0].replace(m[1], json.dumps(data)), text))
        self.has(out, f'data-check="{len(BY_HAND) - 1} right, 1 wrong"')
        self.has(out, "1 request drawn differently from how they were counted")

    def test_an_address_names_a_wavefront(self) -> None:
        out = dom(page.make([self.made()], "title"), "#k0-l9-b0-w0-r0-u6")
        self.has(out, "wavefront 6 of 32 serves lane 5; 31 banks idle")
        self.has(out, "Bank 0 is asked for 32 different words")

    def test_a_finding_shows_both_lanes(self) -> None:
        text = page.make([self.made()], "title")
        for address in ("", "#k0-f0"):
            out = dom(text, address)
            self.has(out, "block 0, warp 0, lane 2 wrote, line 9")
            self.has(out, "block 0, warp 0, lane 1 reads, line 9")
            self.assertEqual(out.count('class="badword"'), 1)
        out = dom(text, "#k0-f1")
        self.has(out, "No thread can go on.")

    def test_a_copy_is_no_request(self) -> None:
        out = dom(page.make([self.made()], "title"), f"#k0-l{len(BY_HAND)}-b0-w0-r0-u0")
        self.has(out, "box of 2 dimensions")
        self.has(out, "lane 3 alone starts it")
        self.has(out, "moves 512 bytes, 8 runs of 64 bytes from A . 256 to s . 0")


# ---- Every chapter: the page's figures are those of --model ----

HEAD = re.compile(r"^(\S.*): (\d+) launch(?:es)?, (\d+) blocks?, (\d+) threads?$")
STEPS = re.compile(r"^  .* lanes active per step, (\d+) warp-steps?, (\d+) barriers?")
ROW = re.compile(r"^  (\S+):(\d+) +(global|shared) +(\w+) +(\d+) +(\d+) +([\d.]+) +([\d.]+) "
                 r"(sect|wavf) +([\d.]+)$")
NOTE = re.compile(r"^ +(\S.*) \^$")


def read_model(text: str) -> List[Record]:
    """The kernels of --model's output, in order."""
    kernels: List[Record] = []
    for line in text.replace("\r", "\n").splitlines():
        head, steps, found = HEAD.match(line), STEPS.match(line), ROW.match(line)
        note = NOTE.match(line)
        if head:
            kernels.append({"kernel": head[1], "rows": [],
                            "totals": [int(n) for n in head.groups()[1:]]})
        elif steps:
            kernels[-1]["totals"] += map(int, steps.groups())
        elif found:
            kernels[-1]["rows"].append((*found.groups(), ""))
        elif note:
            kernels[-1]["rows"][-1] = (*kernels[-1]["rows"][-1][:-1], note[1])
    return kernels


def as_model(kernel: Record) -> Record:
    """A page's kernel, its figures as --model prints them."""
    rows = []
    for r in kernel["rows"]:
        per = [f"{r[name] / r['requests']:.2f}" for name in ("lanes", "units", "ideal")]
        rows.append((r["file"], str(r["line"]), r["space"], r["access"], str(r["bytes"]),
                     str(r["requests"]), per[0], per[1],
                     "wavf" if r["space"] == "shared" else "sect", per[2],
                     ", ".join(filter(None, [r["hint"], "" if r["exact"] else "not exact"]))))
    # The page names the kernel in full; the short names have tests of their own. An expression, of
    # which kernel, stays as it is but for its length.
    name = kernel["kernel"]
    if " ? " in name:
        name = name if len(name) <= 35 else name[:32] + "..."
    else:
        name = re.sub(r"<.*>$|^.*::", "", name)
    return {"kernel": name, "rows": rows,
            "totals": [kernel["launches"], kernel["block_count"], kernel["threads"],
                       kernel["warp_steps"], kernel["barriers"]]}


# Of several blocks and no tile's multiple; each request is counted again in Python and in a browser.
SIZES = {"01": "20011", "02": "40003", "03": "100x170", "05": "40003", "06": "300",
         "07": "6007"}


def programs() -> List[Path]:
    return sorted(path for path in BIN.glob("[0-9][0-9]_*")
                  if path.is_file() and re.fullmatch(r"\d\d_[a-z_]+", path.name)
                  and (ROOT / "chapters" / path.name).is_dir()) if ON_CPU else []


@unittest.skipUnless(programs(), "no chapter built for the CPU backend: pages NOT COMPARED")
class Chapters(unittest.TestCase):
    def run_model(self, program: Path, path: Optional[Path]) -> str:
        surroundings = {k: v for k, v in os.environ.items() if not k.startswith("SIMT_")}
        surroundings.update({"SIMT_TRACE": str(path)} if path else {})
        size = SIZES.get(program.name[:2])
        command = [str(program), "--model", *(["--size", size] if size else [])]
        done = subprocess.run(command, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, env=surroundings, timeout=300,
                              check=True)
        return done.stdout

    def test_equal_to_model(self) -> None:
        for program in programs():
            with self.subTest(program=program.name), tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "trace.jsonl"
                text = self.run_model(program, path)
                records = trace.read(path)
                self.assertGreater(sum(map(recount.check, records)), 100)
                self.assertEqual(len({r["label"] for r in records}),
                                 len(re.findall(r"\d% .*  ok$", text, re.M)), "versions")
                made = page.make(records, program.name)
                data = page.data_of(made)
                self.assertEqual(data["left_out"], [])
                self.assertEqual([as_model(k) for k in data["kernels"]], read_model(text))
                if browser():
                    self.assertTrue(re.search(r'data-check="\d+ right, 0 wrong"', dom(made)))

    def test_drawing_changes_nothing(self) -> None:
        program = programs()[0]
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.run_model(program, None),
                             self.run_model(program, Path(folder) / "trace.jsonl"))


# ---- chapters/run ----

KERNELS = r"""#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/barrier>
__device__ unsigned total;
using barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void race(int* x) {
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x] + x[threadIdx.x + 64];
  x[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void bulk(const float* in, float* out) {
  __shared__ alignas(128) float tile[512];
  __shared__ barrier bar;
  if (threadIdx.x == 0) init(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::memcpy_async(tile, in, cuda::aligned_size_t<16>(sizeof tile), bar);
    bar.arrive_and_wait();
  }
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x * 4];
  atomicAdd(&total, 1u);
}
__global__ void __cluster_dims__(2, 1, 1) remote(int* out) {
  extern __shared__ int mine[];
  auto cluster = cooperative_groups::this_cluster();
  mine[threadIdx.x] = 1;
  cluster.sync();
  out[threadIdx.x] = cluster.map_shared_rank(mine, 1)[threadIdx.x];
  cluster.sync();
}
__global__ void tail(float* last) { last[blockIdx.x * 32 + threadIdx.x] = 1; }
int main() {
  void* p[2];
  for (void*& q : p) { cudaMalloc(&q, 4096); cudaMemset(q, 0, 4096); }
  race<<<1, 64>>>((int*)p[0]);
  bulk<<<1, 64>>>((float*)p[0], (float*)p[1]);
  remote<<<2, 32, 128>>>((int*)p[0]);
  cudaDeviceSynchronize();
  tail<<<33, 32>>>((float*)p[1]);
  std::puts(cudaGetErrorString(cudaDeviceSynchronize()));
}
"""


LONG = r"""
__global__ void walk(float* x) {
  float sum = 0;
  for (int k = 0; k < 300; ++k) { sum += x[(threadIdx.x * k) % 999]; x[1000 + threadIdx.x] = sum; }
  x[2000 + threadIdx.x] = sum;
}
int main() {
  float* x;
  cudaMalloc(&x, 1 << 16);
  cudaMemset(x, 0, 1 << 16);
  for (int k = 0; k < 64; ++k) walk<<<1, 256>>>(x);
  return cudaDeviceSynchronize();
}
"""


def chapters_run(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, str(ROOT / "chapters" / "run"), *words], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=str(ROOT),
                          stdin=subprocess.DEVNULL, timeout=300, check=False)


class Usage(unittest.TestCase):
    def test_refusals(self) -> None:
        lesson = "chapters/00_first_steps/02_vector_add.cu"
        for words, why in ((("03", "--draw", "--backend", "cuda"), "runs on the CPU backend"),
                           (("03", "--draw", "--build-only"), "runs on the CPU backend"),
                           ((lesson, "--draw", "--arch", "90"), "runs on the CPU backend"),
                           (("00", "--", "--draw"), "one at a time: chapters/run chapters/00_"),
                           (("02", "--draw", "--demo", "templates"),
                            "chapters/run chapters/02_reduction/demos/templates.cu --draw"),
                           (("02", "--draw", "--break", "02:lost_barrier"), "an exercise or a .c")):
            with self.subTest(words=words):
                done = chapters_run(*words)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertRegex(done.stdout.strip().splitlines()[-1], re.escape(why))

    @unittest.skipUnless(programs(), "no chapter built for the CPU backend")
    def test_the_program_alone(self) -> None:
        done = subprocess.run([str(programs()[0]), "--draw"], stderr=subprocess.PIPE, text=True,
                              check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--draw is an option of chapters/run", done.stderr)


@unittest.skipUnless(shutil.which("cmake") and (shutil.which("c++") or shutil.which("g++")),
                     "no CMake or no C++ compiler: NOT TESTED")
class File(unittest.TestCase):
    def test_what_kernels_do(self) -> None:
        with tempfile.TemporaryDirectory(prefix="course draw ") as folder:
            path = Path(folder) / "several.cu"
            path.write_text(KERNELS, encoding="utf-8")
            done = chapters_run(str(path), "--draw", "--backend", "cpu")
        self.assertEqual(done.returncode, 66, done.stdout)
        named = re.search(r"Drawn: 4 kernels, \d+ requests, each counted again: equal.*\n *(\S+)",
                          done.stdout)
        self.assertIsNotNone(named, done.stdout)
        self.assertNotIn("warp-steps", done.stdout, "the table is --model's")
        made = ROOT / named[1]
        self.addCleanup(made.unlink)
        kernels = {k["kernel"]: k for k in page.data_of(made.read_text())["kernels"]}
        self.assertEqual([k["name"] for k in kernels["race"]["places"]], ["x", "x", "s", "x", "s"],
                         "two loads on one line are two places")
        self.assert_findings(kernels)
        warps = dict(kernels["bulk"]["blocks"][0]["warps"])
        copies = [item for item in warps[0] if isinstance(item, list) and item[0] == "copy"]
        self.assertEqual(copies, [["copy", "several.cu", 17, 0, trace.SHARED, 0, 0, 0, [[2048]]]])
        self.assertEqual([m["names"] for m in kernels["bulk"]["memories"]][:2],
                         [[[0, "in"]], [[0, "out"]]])
        self.assertIn("total", [n for _, n in kernels["bulk"]["memories"][2]["names"]])
        remote = kernels["remote"]
        self.assertEqual(remote["blocks"][0]["shared"], [["mine", 0, 128]])
        offsets = [item[6] for item in unpacked({"kernels": [remote]}) if item[5] == trace.SHARED]
        self.assertIn([2 * remote["window"] + 4 * k for k in range(32)], offsets)
        if browser():
            out = dom(made.read_text())
            self.assertTrue(re.search(r'data-check="\d+ right, 0 wrong"', out))

    def assert_findings(self, kernels: Dict[str, Record]) -> None:
        races = [f for f in kernels["race"]["findings"] if f["kind"] == "race"]
        self.assertEqual({(f["line"], f["other"]["line"]) for f in races}, {(8, 9), (9, 8)})
        for race in races:
            self.assertEqual((race["memory"], race["file"]), (trace.SHARED, "several.cu"))
            self.assertEqual({race["thread"] // 32, race["other"]["thread"] // 32}, {0, 1})
        bounds, = kernels["tail"]["findings"]
        self.assertEqual((bounds["kind"], bounds["block"], bounds["thread"], bounds["offset"],
                          bounds["line"]), ("bounds", [32, 0, 0], 0, 4096, 32))
        self.assertEqual(kernels["tail"]["memories"][bounds["memory"]]["names"], [[0, "last"]])
        self.assertIn("finding", [b["why"] for b in kernels["tail"]["blocks"]])

    def test_a_long_run_is_cut(self) -> None:
        """300,000 requests: the page stays small, says what it lacks, and reaches the kernel's
        end."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "long.cu"
            path.write_text(LONG, encoding="utf-8")
            done = chapters_run(str(path), "--draw", "--backend", "cpu")
        self.assertEqual(done.returncode, 0, done.stdout)
        made = ROOT / re.findall(r"\S+\.html", done.stdout)[0]
        self.addCleanup(made.unlink)
        self.assertLess(made.stat().st_size, 400_000)
        kernel, = page.data_of(made.read_text())["kernels"]
        self.assertEqual(sum(place["requests"] for place in kernel["places"]), 64 * 8 * 601)
        block = kernel["blocks"][0]
        for _, items in block["warps"]:
            shown = [item for item in items if isinstance(item, list)]
            left = sum(int(item) for item in items if isinstance(item, str))
            self.assertEqual(len(shown) + left, 601)
            self.assertEqual(kernel["rows"][kernel["places"][shown[-1][0]]["row"]]["line"], 5,
                             "the last store of the kernel")
        if browser():
            self.assertTrue(re.search("Not drawn: .*[0-9]+ requests of these warps",
                                      dom(made.read_text()).split("<script")[0]))

    def test_nothing_to_draw(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "none.cu"
            path.write_text("int main() { return 3; }\n", encoding="utf-8")
            done = chapters_run(str(path), "--draw", "--backend", "cpu")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("nothing to draw: no kernel was launched and counted", done.stdout)


if __name__ == "__main__":
    unittest.main()
