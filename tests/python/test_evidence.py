"""Modelled against measured counters: reading Nsight Compute, joining, comparing, explaining."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from scripts import load

ROOT = Path(__file__).resolve().parents[2]
EVIDENCE = ROOT / "tests" / "evidence"
sys.path.insert(0, str(EVIDENCE))

import tables  # noqa: E402
from course import ncu  # noqa: E402

collect = load(EVIDENCE / "collect")
compare = load(EVIDENCE / "compare")

NCU = '''==PROF== Connected to process 7
"ID","Kernel Name","l1tex__a.sum","sass__inst_executed_per_opcode"
"","","sector","inst"
"0","void ns::add<(int)2>(const float *, float *)","1,024","96 (BAR: 32; EXIT: 64)"
"1","fill_kernel(int)","8.00","5 (EXIT: 5)"
==PROF== Disconnected from process 7
'''

# Stands for ncu: runs the program and makes up a report of its lines "kernel NAME".
FAKE_NCU = r'''#!{python} -IS
import csv, subprocess, sys
words = sys.argv[1:]
if words == ["--version"]:
    print("Version 2025.3.1.0 (build 1)"); sys.exit()
if words == ["--query-metrics"]:
    for k in range(200): print("l1tex__x%d  Counter" % k)
    for op in ("ld", "st", "red", "atom"):
        for what in ("requests", "sectors"):
            print("l1tex__t_%s_pipe_lsu_mem_global_op_%s  Counter" % (what, op))
    sys.exit()
at = words.index("--metrics")
metrics = words[at + 1].split(",")
done = subprocess.run(words[at + 2:], stdout=subprocess.PIPE, text=True)
sys.stdout.write("".join(l for l in done.stdout.splitlines(True) if not l.startswith("kernel ")))
kernels = [l.split()[1] for l in done.stdout.splitlines() if l.startswith("kernel ")]
with open(words[words.index("--log-file") + 1], "w") as log:
    if not kernels:
        log.write("==WARNING== No kernels were profiled.\n"); sys.exit()
    out = csv.writer(log, quoting=csv.QUOTE_ALL)
    out.writerow(["ID", "Kernel Name"] + metrics)
    out.writerow(["", ""] + ["x"] * len(metrics))
    for k, kernel in enumerate(kernels):
        out.writerow([k, "void %s<int>(int)" % kernel]
                     + ["9 (BAR: 4)" if "opcode" in m else str(k + 1) for m in metrics])
'''

# Stands for a chapter's program under the profiler: the second version launches no kernel.
FAKE_CHAPTER = r'''#!{python} -IS
import sys
words = sys.argv[1:]
if words == ["--list"]:
    print("09_fake: x\n\nsequence: The sequence\n  01_first   one (x)\n  02_copy   two\n"
          "  03_gone  three (not built)\n\nside: Beside\n  only_one  four"); sys.exit()
only = words[words.index("--only") + 1].split(",")
for size in words[words.index("--size") + 1].split(","):
    for version in only:
        print("kernel fill_kernel")
        if version != "02_copy":
            print("kernel add\nkernel add")
        print("launched %s x 1 at n=%s" % (version, size))
'''


def counts(**changes):
    """Counters as the CPU backend writes them."""
    model = {"barriers": 0}
    for name in ("loads", "stores", "atomics"):
        model["global_" + name] = {"requests": 0, "sectors": 0}
        model["shared_" + name] = {"requests": 0, "wavefronts": 0}
    model.update(changes)
    return model


def result_file(*rows):
    return {"chapter": "01_x", "results": list(rows)}


def result(version, model=None, skipped=None, size=None):
    return {"study": "sequence", "version": version, "size": size or {"n": 1024}, "model": model,
            "skipped": skipped}


def measured(version, kernel="add", **changes):
    row = {"chapter": "01_x", "study": "sequence", "version": version, "size": "n=2^10",
           "kernel": kernel, "launches": "1"}
    row.update(dict.fromkeys(tables.COUNTERS, "0"))
    row.update({name: str(value) for name, value in changes.items()})
    return row


class Folder(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def write(self, name, content):
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def program(self, name, text):
        path = self.write(name, text.replace("{python}", sys.executable))
        path.chmod(0o755)
        return path

    def run_script(self, name, *words):
        environment = dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}",
                           PYTHONDONTWRITEBYTECODE="1")
        return subprocess.run([sys.executable, str(EVIDENCE / name), *map(str, words)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=environment)


class Reading(Folder):
    def test_kernel_names(self):
        for text, name in (("add", "add"), ("void ns::reduce<256>(float *, int)", "reduce"),
                           ("a::b<x<2>>::k<float>", "k"),
                           ("void <unnamed>::load<int>(<unnamed>::Pattern, void *)", "load"),
                           ("void (anonymous namespace)::load<(bool)1>(int)", "load")):
            self.assertEqual(ncu.base_name(text), name)

    def test_report(self):
        launches = ncu.parse(NCU)
        self.assertEqual([ncu.base_name(x.kernel) for x in launches], ["add", "fill_kernel"])
        self.assertEqual(ncu.number(launches[0].values["l1tex__a.sum"]), "1024")
        self.assertEqual(ncu.number(launches[1].values["l1tex__a.sum"]), "8")
        self.assertEqual(ncu.number("n/a"), "")

    def test_report_without_kernels(self):
        self.assertEqual(ncu.parse("==WARNING== No kernels were profiled.\n"), [])
        with self.assertRaisesRegex(tables.Problem, "ERR_NVGPUCTRPERM"):
            ncu.parse("==ERROR== ERR_NVGPUCTRPERM: no permission\n")

    def test_barriers(self):
        self.assertEqual(collect.barriers("96 (BAR: 32; EXIT: 64)"), "32")
        self.assertEqual(collect.barriers("5 (EXIT: 5)"), "0")
        self.assertEqual(collect.barriers("1,096 (BAR: 1,032)"), "1032")
        self.assertEqual(collect.barriers("96"), "")

    def test_sizes(self):
        self.assertEqual(tables.dimensions("n=2^20 stride=3"), (1 << 20, 3))
        with self.assertRaises(tables.Problem):
            tables.dimensions("large")

    def test_table_comes_back(self):
        path = self.folder / "t.csv"
        tables.write_table(path, {"gpu": "NVIDIA H200"}, ["a", "b"], [{"a": "1, 2", "c": "x"}])
        self.assertEqual(tables.read_table(path),
                         ({"gpu": "NVIDIA H200"}, [{"a": "1, 2", "b": ""}]))
        self.write("t.csv", "# gpu: x\na,b\n1\n")
        with self.assertRaisesRegex(tables.Problem, "t.csv:3: 2 fields"):
            tables.read_table(path)

    def test_helpers_exist(self):
        text = "".join(f.read_text() for f in (ROOT / "common").rglob("*.cu"))
        kernels = set(re.findall(r"__global__ void (?:__launch_bounds__\(\w+\) )?(\w+)\(", text))
        self.assertLessEqual(set(ncu.HELPERS), kernels)


class Collecting(Folder):
    def setUp(self):
        super().setUp()
        self.program("ncu", FAKE_NCU)
        self.program("nvcc", "#!/bin/sh\necho 'release 13.0, V13.0.88'\n")
        self.program("nvidia-smi", "#!/bin/sh\necho 'NVIDIA H200, 580.1'\n")

    def test_patterns(self):
        program = self.program("patterns", '''#!{python} -IS
import sys
op = sys.argv[1] + "_load"
print("index,op,type,bytes,pattern,mask,offsets")
for k in range(2): print("kernel", op); print("%d,%s,u8,1,unit,ffffffff,0 1" % (k, op))
''')
        done = self.run_script("collect", "patterns", "--output", self.folder / "t.csv", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("left out: smsp__inst_executed_op_shared_ld_pred_on_any.sum", done.stdout)
        header, rows = tables.read_table(self.folder / "t.csv")
        self.assertEqual(header["gpu"], "NVIDIA H200")
        self.assertEqual(header["driver"], "580.1")
        self.assertEqual(header["cuda"], "13.0")
        self.assertEqual([row["op"] for row in rows],
                         ["shared_load", "shared_load", "global_load", "global_load"])
        self.assertEqual([row["sectors_ld"] for row in rows], ["", "", "1", "2"])

    def test_patterns_that_do_not_fit(self):
        program = self.program("patterns", '''#!{python} -IS
print("index,op,type,bytes,pattern,mask,offsets\\nkernel shared_load")
''')
        done = self.run_script("collect", "patterns", program)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "collect: the program launched 0 kernels, Nsight Compute "
                         "saw 1\n")

    def test_kernels(self):
        program = self.program("kernels", '''#!{python} -IS
print("index,kernel,checksum\\nkernel sum\\n0,sum,ab\\nkernel scan\\n1,scan,cd")
''')
        words = ("collect", "kernels", "--output", self.folder / "t.csv", program)
        done = self.run_script(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        header, rows = tables.read_table(self.folder / "t.csv")
        self.assertEqual([header["cuda"], header["nsight_compute"]], ["13.0", "2025.3.1.0"])
        self.assertEqual(rows[1]["kernel"], "scan")
        self.assertEqual(rows[1]["checksum"], "cd")
        self.assertEqual(rows[1]["global_stores_sectors"], "2")
        self.assertEqual(rows[1]["global_atomics_requests"], "4")  # red and atom
        self.assertEqual(rows[1]["barriers"], "4")
        self.program("kernels", '''#!{python} -IS
print("index,kernel,checksum\\nkernel sum\\n0,scan,ab")
''')
        done = self.run_script(*words)
        self.assertEqual((done.returncode, done.stderr),
                         (1, "collect: launch 0 is scan, not void sum<int>(int)\n"))

    def test_versions(self):
        self.assertEqual(ncu.tool_version(str(self.folder / "ncu"), "Version"), "2025.3.1.0")
        said = self.program("said", "#!/bin/sh\necho Version 7.1 >&2\n")
        self.assertEqual(ncu.tool_version(str(said), "Version"), "7.1")
        (self.folder / "2024.1.2").mkdir()
        self.program("2024.1.2/ncu", "#!/bin/sh\n")
        self.assertEqual(ncu.tool_version(str(self.folder / "2024.1.2/ncu"), "Version"),
                         "2024.1.2")
        silent = self.program("silent", "#!/bin/sh\n")
        self.assertEqual(ncu.tool_version(str(silent), "Version"), "")
        with self.assertRaises(tables.Problem):
            ncu.tool_version(str(self.folder / "missing"), "Version")

    def test_chapters(self):
        program = self.program("09_fake", FAKE_CHAPTER)
        side = [{"study": "side", "size": {"n": 8}}, {"study": "side", "size": {"n": 16}}]
        plan = self.write("plan.json", {"chapter": "09_fake", "results": [
            {"study": "sequence", "size": {"n": 1 << 20}}, *side]})
        done = self.run_script("collect", "chapters", "--sizes", plan, "--output",
                               self.folder / "t.csv", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = tables.read_table(self.folder / "t.csv")[1]
        self.assertEqual([(row["study"], row["version"], row["size"], row["kernel"],
                           row["launches"]) for row in rows],
                         [("sequence", "01_first", "n=1048576", "add", "2"),
                          ("side", "only_one", "n=8", "add", "2"),
                          ("side", "only_one", "n=16", "add", "2")])
        self.assertEqual(rows[0]["global_loads_sectors"], "5")  # launches 2 and 3 of the report
        self.assertEqual(rows[2]["global_atomics_requests"], "22")  # 5 and 6, red and atom
        self.assertEqual(rows[0]["barriers"], "8")
        self.assertEqual(rows[0]["shared_loads_wavefronts"], "")  # no metric of this GPU
        done = self.run_script("collect", "chapters", "--sizes",
                               self.write("plan.json", {"chapter": "09_fake", "results": side}),
                               "--output", self.folder / "t.csv", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({row["study"] for row in tables.read_table(self.folder / "t.csv")[1]},
                         {"side"})

    def test_not_a_chapter(self):
        program = self.program("other", "#!/bin/sh\necho hello\n")
        done = self.run_script("collect", "chapters", program)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))
        self.assertIn("no study", done.stderr)
        done = self.run_script("collect", "chapters", self.folder / "missing")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))


class Comparing(Folder):
    def compare(self, rows, results, explanations=None):
        """Runs the script on made-up tables. Gives what it printed and what it wrote."""
        tables.write_table(self.folder / "m.csv", {"gpu": "NVIDIA H200", "date": "2026-11-20"},
                           ["chapter", "study", "version", "size", "kernel", "launches",
                            *tables.COUNTERS], rows)
        self.write("e.json", explanations or {})
        done = self.run_script("compare", "chapters", "--json",
                               self.write("r.json", result_file(*results)),
                               "--measured", self.folder / "m.csv", "--explanations",
                               self.folder / "e.json", "--output", self.folder / "out")
        written = (self.folder / "out.csv").exists()
        return (done, tables.read_table(self.folder / "out.csv")[1] if written else [],
                (self.folder / "out.md").read_text() if written else "")

    def test_equal(self):
        model = counts(global_loads={"requests": 32, "sectors": 128}, barriers=4)
        done, rows, page = self.compare(
            [measured("01_a", global_loads_requests=32, global_loads_sectors=128, barriers=4)],
            [result("01_a", model)])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([(row["counter"], row["equal"]) for row in rows],
                         [("global_loads_requests", "yes"), ("global_loads_sectors", "yes"),
                          ("barriers", "yes")])
        self.assertIn("1 of 1 kernels are equal (100.0 %)", done.stdout)
        self.assertIn("| 01_x, sequence, 01_a | n=2^10 | add | 32 / 128 | - |", page)
        self.assertIn("NVIDIA H200", page)

    def test_unequal_needs_an_explanation(self):
        rows = [measured("01_a", shared_loads_wavefronts=7)]
        results = [result("01_a", counts(shared_loads={"requests": 0, "wavefronts": 8}))]
        done, table, page = self.compare(rows, results)
        self.assertEqual(done.returncode, 1)
        self.assertIn("01_x/sequence/01_a at n=2^10, add: shared_loads_wavefronts modelled 8, "
                      "measured 7", done.stderr)
        self.assertIn("**8 ≠ 7** |", page)
        self.assertIn("1. not explained", page)
        done, table, page = self.compare(rows, results, {
            "01_x/*/01_a": {"shared_loads_*": "two loads became one"}, "01_y": {"*": "gone"}})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(table[0]["explanation"], "two loads became one")
        self.assertIn("01_y, *: explains no row any more", done.stdout)
        self.assertIn("1. two loads became one", page)

    def test_kernels_by_name(self):
        kernels = [dict(counts(barriers=3), kernel="ns::up<T>"),
                   dict(counts(barriers=2), kernel="down"),
                   dict(counts(barriers=1), kernel="up<4>")]
        done, rows, page = self.compare(
            [measured("01_a", "up", barriers=4), measured("01_a", "other", barriers=9)],
            [result("01_a", dict(counts(barriers=6), kernels=kernels))])
        self.assertEqual([(row["kernel"], row["modelled"], row["measured"]) for row in rows],
                         [("up", "4", "4"), ("other", "0", "9"), ("down", "2", "0")])
        self.assertEqual(done.returncode, 1)

    def test_sum_where_kernels_are_not_told(self):
        done, rows, page = self.compare(
            [measured("01_a", "up", barriers=4), measured("01_a", "down", barriers=2)],
            [result("01_a", counts(barriers=6))])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([(row["kernel"], row["measured"]) for row in rows], [("up + down", "6")])

    def test_left_out(self):
        done, rows, page = self.compare(
            [measured("01_a", barriers=1), measured("80_b", barriers=1),
             measured("90_c", barriers=1)],
            [result("01_a", counts(barriers=1)), result("80_b", skipped="needs a GPU")])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({row["version"] for row in rows}, {"01_a"})
        self.assertIn("- 01_x, sequence, 80_b: needs a GPU", page)
        self.assertIn("- 01_x, sequence, 90_c: not run", page)

    def test_counter_that_was_not_measured(self):
        done, rows, page = self.compare(
            [measured("01_a", barriers="", global_loads_requests=1)],
            [result("01_a", counts(barriers=6, global_loads={"requests": 1, "sectors": 0}))])
        self.assertEqual([row["counter"] for row in rows], ["global_loads_requests"])

    def test_runs_programs_at_the_measured_sizes(self):
        tables.write_table(self.folder / "m.csv", {}, list(measured("x")),
                           [measured("01_a", barriers=1, size="n=2^10 s=3")])
        program = self.program("01_x", '''#!{python} -IS
import json, os, sys
words = sys.argv[1:]
if words == ["--list"]:
    print("01_x: title"); sys.exit()
assert words[words.index("--size") + 1] == "1024x3" and os.environ["SIMT_SMS"] == "132", words
json.dump(%s, open(words[words.index("--json") + 1], "w"))
sys.exit(66)
''' % repr(result_file(result("01_a", counts(barriers=1), size={"n": 1024, "s": 3}))))
        done = self.run_script("compare", "chapters", "--measured", self.folder / "m.csv",
                               "--output", self.folder / "out", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 of 1 counters are equal", done.stdout)

    def test_bad_input_is_one_line(self):
        good = self.folder / "m.csv"
        tables.write_table(good, {}, list(measured("x")), [measured("01_a", barriers=1)])
        bad = self.write("bad.json", "{")
        for words in ((), ("--json", bad), ("--json", self.folder / "missing.json"),
                      ("--json", self.write("r.json", {"results": [{}]})),
                      ("--json", self.write("r2.json", result_file()), "--explanations", bad),
                      ("--json", self.write("r3.json", result_file(result("zz")))),
                      ("--measured", self.folder / "none.csv", "--json", bad),
                      ("--json", self.write("r4.json", result_file()), "--explanations",
                       self.write("e.json", {"a": {"b": 3}}))):
            done = self.run_script("compare", "chapters", "--measured", good, "--output",
                                   self.folder / "out", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertRegex(done.stderr, r"\Acompare: .+\n\Z", words)

    def test_kernels(self):
        columns = ["kernel", "checksum", *tables.COUNTERS, "threads_per_instruction"]
        zeros = dict.fromkeys(tables.COUNTERS, 0)
        rows = [dict(zeros, kernel="sum", checksum="ab", barriers=8, global_loads_requests=4,
                     global_loads_sectors=16, threads_per_instruction="30.5"),
                dict(zeros, kernel="scan", checksum="cd", shared_loads_requests=3)]
        tables.write_table(self.folder / "m.csv", {"gpu": "NVIDIA H200", "cuda": "13.0",
                                                   "nsight_compute": "unknown"}, columns, rows)
        modelled = [dict(rows[0], lanes_per_step="31.25"), dict(rows[1], shared_loads_requests=5)]

        def compare_kernels(modelled, explanations=None):
            tables.write_table(self.folder / "printed.csv", {}, columns + ["lanes_per_step"],
                               modelled)
            return self.run_script(
                "compare", "kernels", self.program("kernels", "#!/bin/sh\ncat %s\n"
                                                   % (self.folder / "printed.csv")),
                "--measured", self.folder / "m.csv", "--output", self.folder / "out.md",
                "--explanations", self.write("e.json", explanations or {}))

        done = compare_kernels(modelled)
        self.assertEqual((done.returncode, done.stderr), (
            1, "not equal: scan: shared_loads_requests modelled 5, measured 3\n"))
        self.assertIn("1 of 2 kernels are equal (50.0 %)", done.stdout)
        page = (self.folder / "out.md").read_text()
        self.assertIn("Measured on one NVIDIA H200 with CUDA 13.0; modelled", page)
        self.assertIn("| sum | 4 / 16 | - | - | - | - | - | 8 |  | 31.25 / 30.5 |", page)
        self.assertIn("| scan | - | - | - | **5 ≠ 3** | - | - | - | [1] | - / - |", page)
        self.assertIn("1. not explained", page)
        done = compare_kernels(modelled, {"kernels/scan": {"shared_loads_*": "merged"},
                                          "kernels/sum": {"*": "old"}, "01_x/*": {"*": "other"},
                                          "patterns/x": {"*": "other"}})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(re.findall("explanations.json: (.*)", done.stdout),
                         ["kernels/sum, *: explains no row any more"])
        self.assertIn("1. merged", (self.folder / "out.md").read_text())
        for wrong, said in ((modelled[:1], "kernels.cu has changed"),
                            ([modelled[0], dict(modelled[1], checksum="ee")], "another result"),
                            ([modelled[0], dict(modelled[1], barriers="")], "built for a GPU?")):
            done = compare_kernels(wrong)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, r"\Acompare: .*" + re.escape(said) + r".*\n\Z")

    def test_tools_that_are_not_known(self):
        for header, text in (({"gpu": "X", "driver": "5", "date": "d"},
                              "Measured on one X with driver 5, d;"),
                             ({"nsight_compute": "2025.3", "cuda": "13.0"},
                              "Measured on one GPU with Nsight Compute 2025.3, CUDA 13.0;"),
                             ({"nsight_compute": "unknown"}, "Measured on one GPU;")):
            self.assertTrue(compare.introduction(header, [])[2].startswith(text))

    def test_patterns(self):
        columns = ["op", "type", "bytes", "pattern", "mask", "wavefronts_ld", "requests_red",
                   "sectors_red", "requests_atom", "sectors_atom", "offsets"]
        rows = [["shared_load", "u32", "4", "unit", "f", "1", "", "", "", "", "0 4"],
                ["shared_load", "u32", "4", "same", "f", "2", "", "", "", "", "0 0"],
                ["global_red", "int", "4", "unit", "f", "", "0", "0", "1", "4", "0 4"]]
        tables.write_table(self.folder / "m.csv", {}, columns,
                           [dict(zip(columns, row)) for row in rows])
        program = self.program("patterns", '''#!{python} -IS
import sys
print("index,op,type,bytes,pattern,mask,offsets,requests,units")
if sys.argv[1] == "shared":
    print("0,shared_load,u32,4,unit,f,0 4,1,1\\n1,shared_load,u32,4,same,f,0 0,1,1")
else:
    print("0,global_red,int,4,unit,f,0 4,1,4")
''')
        words = ("patterns", program, "--measured", self.folder / "m.csv", "--explanations")
        done = self.run_script("compare", *words, self.folder / "none.json")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "not equal: shared_load, u32, same, f: wavefronts modelled "
                         "1, measured 2\n")
        self.assertRegex(done.stdout, r"shared_load +u32 +wavefronts +1 of 2 launches are equal")
        self.assertRegex(done.stdout, r"global_red +int +sectors +1 of 1 launches are equal")
        known = self.write("e.json", {"patterns/shared_load/*": {"wavefronts": "known"}})
        self.assertEqual(self.run_script("compare", *words, known).returncode, 0)

    def test_help(self):
        for name in ("collect", "compare"):
            done = self.run_script(name, "--help")
            self.assertEqual(done.returncode, 0)
            self.assertIn("usage", done.stdout)


if __name__ == "__main__":
    unittest.main()
