"""Grading: who gets round the tests is refused, or passes nothing; who solved it passes.

The last class builds and runs every submission of submitted.py on the CPU backend, which takes a
minute: COURSE_GRADE=1 python3 tests/python/test_grade.py
"""
import csv
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common" / "python"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from submitted import CHEATS, HONEST  # noqa: E402
from tools import find_nvcc  # noqa: E402
from course import Problem, chapters, code, grade, results, submissions  # noqa: E402

TELLS = """import json, os, sys
read, write = map(int, os.environ.pop("COURSE_TEACHER").split(","))
word = os.read(read, 100).decode()
verdict = {"exercise": {"verdict": "passed", "reason": None}, "results": []}
"""


def given(chapter, name):
    """The namespaces that the starter of an exercise declares functions of."""
    text, _ = grade.starter_of(chapters.find(chapter), int(name[0]))
    return submissions.given_by(text)


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


class Sources(unittest.TestCase):
    def test_honest_ones_and_our_solutions_are_built(self):
        for text in HONEST.values():
            self.assertIsNone(submissions.refused_source(text))
        files = list(ROOT.glob("chapters/*/exercises/**/*.cu"))
        self.assertGreater(len(files), 20)
        for file in files:
            starter = file.parents[file.parent.name == "solution"] / file.name
            with self.subTest(file=file):
                self.assertIsNone(submissions.refused_source(
                    file.read_text(encoding="utf-8"),
                    submissions.headers_of(starter.read_text(encoding="utf-8"))))

    def test_a_header_that_the_starter_includes(self):
        starter = '#include <cmath>\n\n#include "filter.cuh"\n'
        self.assertEqual(submissions.headers_of(starter), ["filter.cuh"])
        self.assertIsNone(submissions.refused_source(starter, ["filter.cuh"]))
        for line in ('#include "main.cpp"', '#include "../filter.cuh"', '#include <filter.cuh>',
                     '#include "filter.cuh" "x"'):
            self.assertIsNotNone(submissions.refused_source(line + "\n", ["filter.cuh"]), line)

    def test_what_is_refused_before_it_is_built(self):
        for name in ("include", "hidden_include", "macro_include", "constructor"):
            text, reason = CHEATS[name]
            self.assertRegex("refused: " + str(submissions.refused_source(text)), reason)
        for line in ('#include "my.hpp"', "#include </etc/passwd>", "#include <../x>",
                     '# /* a */ include "x"', '#inc\\\nlude "x"'):
            self.assertIsNotNone(submissions.refused_source(line + "\n"), line)
        self.assertIsNone(submissions.refused_source('// #include "x"\n#include <cmath>\n'))

    def test_ways_to_hide_an_include(self):
        for text in ('const char* a = "/*";\n#include "x"\nconst char* b = "*/";\n',
                     '/*\n// */ #include "x"\n', '/* #include <cmath> */ #include "x"\n',
                     "int k = 1'000; char c = '/*';\n#include \"x\"\nchar d = '*/';\n",
                     '# /*\n*/ include "x"\n', '%: include "x"\n', '#include_next "x"\n',
                     '#import "x"\n', '#embed "x"\n', '#include <cmath>\n#\tinclude\t"x"\n',
                     '#include /*\n*/ "x"\n', '#include "x.cuh" /*\n*/\n'):
            self.assertRegex(str(submissions.refused_source(text)), "it includes|comment within",
                             text)
        self.assertIsNone(submissions.refused_source(
            '#include "cuda_runtime.h"  // CUDA\n#include <vector> /* of\nnumbers */\n'
            "int embed = 1'000'000;  // no constructor, no R\"(raw string)\"\n"))

    def test_what_hides_code_from_the_tests(self):
        for text, words in (
                ('__attribute__((no_sanitize("thread"))) void f() {}', "no_sanitize"),
                ("__attribute__((__no_sanitize_thread__)) void f() {}", "__no_sanitize_thread__"),
                ("#define A(x, y) x##y\n__attribute__((A(no_sani, tize)(\"thread\"))) void f();",
                 "uses ##"),
                ('void f() { R"(" /* )"; }', "raw string"), ('void f() { u8R"x()x"; }', "raw string"),
                ('__attribute__((section("simt_types"))) void (*f)() = g;', "section"),
                ('extern "C" __attribute__((weak)) int system(const char*);', "weak"),
                ("[[gnu::alias(\"f\")]] void g();", "alias"),
                ('__attribute__((__constructor__)) void f() {}', "__constructor__"),
                ("#define A don't __attribute__((constructor))", "does not end"),
                ('void f() { asm("syscall"); }', "assembly and no kernel"),
                ('#define A asm\n__global__ void k();\nvoid f() { A("nop"); }', "another name"),
                ('__global__ void k();\nvoid f() { asm(".by" "te 0x0f"); }', "has .byte"),
                ('__global__ void k();\nvoid f() { asm("\\x2e"); }', "has .x"),
                ("#define S(x) #x\n__global__ void k();\nvoid f() { asm(S(.byte 15)); }",
                 "strings of names")):
            self.assertRegex(str(submissions.refused_source(text)), words, text)
        for text in ("float section = 0, weak = 1, alias = section;",
                     '__global__ void k() { asm volatile("ld.global.f32 %0, [%1];\\n" : : ); }'):
            self.assertIsNone(submissions.refused_source(text), text)

    def test_it_does_not_take_long(self):
        start = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        for text in ('R"(', "/*", "'", '"', "#", "# /*", "1'", "asm", "\\", '"\\', "'\\", "(" * 9):
            submissions.refused_source(text * (submissions.LARGEST // len(text)))
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_utime - start, 30)

    def test_same_code_with_other_comments(self):
        text = HONEST["honest"]
        self.assertEqual(submissions.same_code("// mine\n" + text.replace("  ", "\t"),
                                               {"as b": text}), "as b")
        self.assertIsNone(submissions.same_code(text, {"as b": HONEST["other"]}))


class Objects(Folder):
    """Objects of plain C++, compiled here."""

    def look(self, text):
        self.write("a.cpp", text)
        subprocess.run(["g++", "-O1", "-c", "a.cpp", "-o", "a.o"], cwd=self.folder, check=True)
        return submissions.refused_object(self.folder / "a.o")

    def test_an_answer(self):
        self.assertIsNone(self.look(
            "#include <cmath>\n#include <vector>\nnamespace exercise { float f(float x) {"
            " std::vector<float> v(3, x); return std::sqrt(v[1]) + powf(x, 3); } }"))
        self.assertIsNone(self.look(
            "#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n#include <vector>\n"
            "int helper(float x) { return static_cast<int>(x); }  // in no namespace\n"
            "template <class T> T twice(T x) { return x + x; }\nstatic int calls;\n"
            "namespace exercise { void f() noexcept {\n"
            '  if (rand() < 0) { std::printf("%s", __FILE__); std::exit(1); }\n'
            "  std::vector<int> v(twice(strlen(\"abc\")));\n"
            "  calls += helper(v[0]); } }"))

    def test_calls_and_definitions(self):
        for text, words in (
                ("#include <unistd.h>\nnamespace exercise { void f() { _exit(0); } }", "_exit"),
                ("#include <cstdio>\nnamespace exercise { auto f() { return fopen(\"\", \"\"); } }",
                 "fopen"),
                ("#include <cstdlib>\nnamespace exercise { auto f() { return getenv(\"A\"); } }",
                 "getenv"),
                ("#include <unistd.h>\nnamespace exercise { int f() { return write(1, 0, 1); } }",
                 "write"),
                ("#include <fstream>\nnamespace exercise { void f() { std::ofstream(\"a\"); } }",
                 "std::(basic_|__basic_file)"),
                ("#include <thread>\nnamespace exercise { void f() { std::thread([]{}).join(); } }",
                 "std::thread|calls pthread"),
                ("int main() { return 0; }", "defines main"),
                ('extern "C" void* malloc(unsigned long) { return 0; }', "defines malloc"),
                ("namespace course { int run() { return 0; } }", "defines course::run"),
                ("namespace course { inline int run() { static int k; return ++k; }\n}"
                 "namespace exercise { int f() { return course::run(); } }", "course::run"),
                ("int f(); int k = f();", "before main|calls f"),
                ('extern "C" __attribute__((weak)) int system(const char*);'
                 'namespace exercise { int f() { return system ? system("") : 0; } }',
                 "calls system"),
                ("namespace simt { void set_checking(bool); }"
                 "namespace exercise { void f() { simt::set_checking(false); } }", "set_checking"),
                ('extern "C" __attribute__((weak)) int memcmp(const void*, const void*, '
                 "unsigned long) { return 0; }", "defines memcmp"),
                ("#include <new>\n__attribute__((weak)) void* operator new(std::size_t) "
                 "{ throw 1; }", "defines operator new"),
                ("int* stdout;", "defines stdout"),
                ("#include <iostream>\nnamespace exercise { void f() { std::cout << 1; } }",
                 "<iostream>"),
                ("namespace other { int f() { return 1; } }", "defines other::f")):
            self.assertRegex(str(self.look(text)), words, text)

    def test_what_nvcc_makes(self):
        made = ("0000000000000150 T __device_stub__ZN8exercise3addEPf(float*)\n"
                "0000000000000000 d __fatDeviceText\n"
                "0000000000000000 t __sti____cudaRegisterAll()\n"
                "0000000000000280 T exercise::add(float*)\n"
                "                 U __cudaLaunchKernel\n                 U atexit\n"
                "                 U __cudaRegisterFatBinary\n                 U exit\n"
                "0000000000000000 r fatbinData\n")
        self.assertIsNone(submissions.refused_names(made))
        course = "                 U reduce_first::exclusive(float*)\n"
        self.assertIn("calls reduce_first", submissions.refused_names(made + course))
        starter = "namespace reduce_first {\nint f();\n}\nnamespace exercise {\n"
        self.assertIsNone(submissions.refused_names(made + course, submissions.given_by(starter)))
        self.assertIn("calls write", submissions.refused_names(
            made + "                 U write\n"))

    def test_what_nvcc_makes_of_kernels_that_launch_kernels(self):
        made = ("0000000000000447 T exercise::sort_segment(unsigned int*, int)\n"
                "                 U __cudaRegisterLinkedBinary_89fd_4_side_cu_946f\n"
                "0000000000000000 D __fatbinwrap_89fd_4_side_cu_946f\n"
                "                 U exit\n")
        self.assertIsNone(submissions.refused_names(made))
        self.assertIn("defines __fatbinwrap_other", submissions.refused_names(
            made + "0000000000000000 D __fatbinwrap_other\n"))

    @unittest.skipUnless(find_nvcc(), "no nvcc: what it makes of solutions NOT TESTED")
    def test_solutions_by_nvcc(self):
        for name in ("02_reduction/exercises/solution/6_small",  # with a variable of the device
                     "05_scan/exercises/solution/6_run_lengths",  # calls another version
                     "07_quicksort/exercises/solution/2_network",  # linked on the device
                     "09_tma/exercises/solution/2_where"):  # inline functions of the chapter
            with self.subTest(name):
                source = ROOT / "chapters" / f"{name}.cu"
                file = self.folder / "solution.o"
                chapter = source.parents[2]
                linked = ["-rdc=true"] if "07_" in name else []
                subprocess.run([find_nvcc(), "-std=c++17", "-O1", "-arch=sm_90", f"-I{chapter}",
                                f"-I{ROOT / 'common'}", *linked, "-c", str(source), "-o", str(file)],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
                self.assertIsNone(submissions.refused_object(file, given(chapter.name, source.name)))

    @unittest.skipUnless(os.uname().machine == "x86_64", "an instruction of x86")
    def test_hidden_ones(self):
        for text in ("syscall", ".byte 0x48; syscall"):
            self.assertRegex(self.look(f'namespace exercise {{ void f() {{ asm("{text}"); }} }}'),
                             "operating system")
        self.assertRegex(self.look(
            "namespace exercise { void f() {}\n__attribute__((used, section(\"simt_types\"))) "
            "void (*before)() = f; }"), "before main")
        self.assertRegex(self.look(
            "namespace exercise { int k; __attribute__((constructor)) void f() { k = 1; }\n"
            "__attribute__((constructor)) void g() { k = 2; } }"), "before main")


class Judge(Folder):
    """Programs that are scripts of Python, which do what a submission's program could do."""

    def judge(self, text, seconds=10.0, megabytes=500):
        path = self.write("program", f"#!{sys.executable}\n" + text)
        path.chmod(0o755)
        return grade.judge(path, "ada", seconds, megabytes)

    def test_a_verdict_with_the_word(self):
        data, why = self.judge(TELLS + "os.write(write, (word + '\\n' + json.dumps(verdict))"
                                       ".encode())\n")
        self.assertEqual((data["exercise"]["verdict"], why), ("passed", ""))

    def test_exit_codes_that_go_with_a_verdict(self):
        for verdict, code, agrees in (("passed", 0, True), ("right", 3, True), ("not yet", 1, True),
                                      ("not yet", 66, True),  # the CPU backend has findings
                                      ("passed", 66, False), ("right", 66, False),
                                      ("not yet", 0, False), ("passed", 1, False)):
            data, why = self.judge(
                TELLS + f"verdict['exercise']['verdict'] = '{verdict}'\n"
                "os.write(write, (word + '\\n' + json.dumps(verdict)).encode())\n"
                f"sys.exit({code})\n")
            self.assertEqual(data is not None, agrees, f"{verdict}, {code}: {why}")

    def test_what_is_no_verdict(self):
        for text, words in (
                ("print('PASSED')\n", "exit code 0 before the tests were over"),
                (TELLS + "os.write(write, ('word\\n' + json.dumps(verdict)).encode())\n",
                 "before the tests"),
                (TELLS + "os.write(write, json.dumps(verdict).encode())\n", "before the tests"),
                (TELLS + "os.write(write, (word + '\\n{').encode())\n", "cut off"),
                (TELLS + "os.write(write, (word + '\\n' + json.dumps(verdict)).encode())\n"
                         "sys.exit(1)\n", "does not agree"),
                ("import os\nos.abort()\n", "ended by SIGABRT")):
            data, why = self.judge(text)
            self.assertIsNone(data, text)
            self.assertIn(words, why)

    def test_who_ends_at_once(self):
        path = self.write("program", "#!/bin/true\n")  # is over before anything could be told to it
        path.chmod(0o755)
        for _ in range(50):
            self.assertIn("exit code 0 before the tests", grade.judge(path, "ada", 10.0)[1])

    def test_limits(self):
        self.assertIn("not over after 0.5 s", self.judge("while True: pass\n", 0.5)[1])
        self.assertIn("MiB of memory", self.judge(
            "import time\nx = bytearray(700 << 20)\ntime.sleep(9)\n")[1])

    def test_a_child_that_stays_does_not_hold_the_judge(self):
        data, why = self.judge("import subprocess, sys, time\n"
                               "subprocess.Popen([sys.executable, '-c', 'import time; "
                               "time.sleep(60)'])\n")
        self.assertIn("before the tests", why)

    def test_it_has_a_folder_of_its_own(self):
        self.judge("open('left_behind', 'w').write('x')\n")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["program"])
        self.assertFalse(Path("left_behind").exists())

    def test_surroundings_hold_nothing_else(self):
        gpu = {"CUDA_VISIBLE_DEVICES": "1", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
        surroundings = {**gpu, "SECRET_OF_THE_TEACHER": "x", "CUDA_CACHE_PATH": "/of/the/teacher"}
        patched = mock.patch.dict(os.environ, surroundings)
        patched.start()
        self.addCleanup(patched.stop)
        data, why = self.judge(TELLS + "verdict['results'] = list(os.environ)\n"
                               "os.write(write, (word + '\\n' + json.dumps(verdict)).encode())\n")
        self.assertEqual(sorted(set(surroundings) & set(data["results"])), sorted(gpu),
                         "which GPU it is, and nothing else")

    def test_limits_that_a_driver_must_live_with(self):
        data, why = self.judge(
            TELLS + "import resource, time\n"
            "time.sleep(0.2)\n"
            "unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)\n"
            "verdict['results'] = [\n"
            "    resource.getrlimit(resource.RLIMIT_AS)[0],  # CUDA reserves terabytes of addresses\n"
            "    resource.getrlimit(resource.RLIMIT_MEMLOCK)[0],  # and pins memory\n"
            "    resource.getrlimit(resource.RLIMIT_NOFILE)[0],  # and opens a file per device\n"
            "    resource.getrlimit(resource.RLIMIT_FSIZE)[0]]\n"
            "os.write(write, (word + '\\n' + json.dumps(verdict)).encode())\n")
        own = [resource.getrlimit(which)[0] for which in (
            resource.RLIMIT_AS, resource.RLIMIT_MEMLOCK, resource.RLIMIT_NOFILE)]
        self.assertEqual(data["results"], [*own, grade.FILE_BYTES])

    def test_addresses_are_not_memory(self):
        data, why = self.judge(
            TELLS + "import mmap, time\n"
            "reserved = mmap.mmap(-1, 2**40, mmap.MAP_PRIVATE | 0x4000, 0)  # MAP_NORESERVE\n"
            "time.sleep(0.3)\n"
            "os.write(write, (word + '\\n' + json.dumps(verdict)).encode())\n")
        self.assertEqual((data["exercise"]["verdict"], why), ("passed", ""), "a terabyte, unused")


class Finding(Folder):
    def test_files_and_folders(self):
        self.write("ada.cu", "")
        self.write("bob/1_tail.cu", "")
        self.write("bob/old.cu", "")
        self.write("eve lastname/x.cu", "")
        self.assertEqual([each.label for each in submissions.find(self.folder, 1)],
                         ["ada", "bob", "eve_lastname"])

    def test_what_people_hand_in(self):
        """A folder as it comes from a class: each has a row, and nobody stops the others."""
        for name in ("Jörg Ü.cu", "upper.CU", "ann/a.cu", "ann/b.cu", "moodle_1_file_/1_tail.cu",
                     "moodle_1_file_/__MACOSX/._1_tail.cu", "__MACOSX/._ada.cu", "twice.cu",
                     "twice/x.cu", "zip/1_tail.zip", "text.cu.txt", "=1+1.cu", "-x.cu", "王.cu",
                     "e" * 240 + ".cu"):
            self.write(name, "")
        self.write("large.cu", "x" * (submissions.LARGEST + 1))
        (self.folder / "dangling.cu").symlink_to(self.folder / "nowhere")
        (self.folder / os.fsdecode(b"non\xffutf8.cu")).write_text("")
        found = {each.label: each for each in submissions.find(self.folder, 1)}
        self.assertEqual(sorted(found), sorted(
            ["Jorg_U", "upper", "ann", "moodle_1_file", "twice", "twice_2", "zip", "1_1", "x",
             "student", "e" * 60, "large", "dangling", "nonutf8"]))
        self.assertEqual(found["moodle_1_file"].file.name, "1_tail.cu")
        self.assertEqual({name: each.missing.split(";")[0].split(":")[0] for name, each in
                          found.items() if each.missing},
                         {"ann": "2 .cu files", "zip": "no .cu file in the folder",
                          "large": "larger than 256 KiB", "dangling": "no file"})
        self.assertEqual(submissions.left_out(self.folder), ["text.cu.txt"])
        for each in found.values():
            self.assertEqual(grade.as_cell(each.file.name).isprintable(), True)
        self.assertEqual(grade.as_cell('=HYPERLINK("x")\n\x1b[31m'), '\'=HYPERLINK("x") [31m')

    def test_refused(self):
        with self.assertRaisesRegex(Problem, "no .cu files"):
            submissions.find(self.folder, 1)
        with self.assertRaisesRegex(Problem, "no such folder"):
            submissions.find(self.folder / "x", 1)
        self.write("bob/a.cu", "")
        self.write("bob/b.cu", "")
        self.assertIn("2 .cu files", submissions.find(self.folder, 1)[0].missing)


class Reasons(unittest.TestCase):
    def test_the_compiler_s_first_words(self):
        log = ("[1/9] Building s001.cu.cpp.o\n/a/b/s001.cu: In function 'f':\n"
               "/a/b/s001.cu:12:5: error: expected ';' before 'x'\n/a/b/s001.cu:13:5: error: y\n"
               "inline PTX needs a GPU: /a/b/s002.cu:3\n"
               '/a/b/s003.cu(7): error: identifier "x" is undefined\n')
        self.assertEqual([grade.first_error(log, f"s00{k}.cu") for k in range(4)], [
            "", ": line 12: expected ';' before 'x'", ": line 3: inline PTX needs a GPU",
            ': line 7: identifier "x" is undefined'])

    def test_what_is_not_over_keeps_its_row(self):
        """Ctrl-C in the middle: the CSV has the verdicts so far."""
        found = [submissions.Submission(name, Path(f"{name}.cu")) for name in ("ada", "bob")]
        judged = [grade.Grade(found[0], "passed", "")]
        reports, options = [], mock.Mock(exercise=1, tests=None, grade=Path("."))
        choice = mock.Mock(can_run=True, folder=Path("nowhere"))
        chapter = mock.Mock()
        chapter.name = "01_vector_add"
        with mock.patch.multiple(
                grade, stage=mock.Mock(), look_at_sources=mock.Mock(return_value={}),
                starter_of=mock.Mock(return_value=("", [])), compile_all=mock.Mock(),
                notes_on=mock.Mock(return_value=["", ""]), build=mock.Mock(),
                judged_one=mock.Mock(side_effect=[judged[0], KeyboardInterrupt]),
                report=lambda *arguments: reports.append(arguments[-1])), \
                mock.patch.object(submissions, "find", return_value=found), \
                mock.patch.object(chapters, "provenance_options", return_value=[]), \
                mock.patch.object(submissions, "left_out", return_value=[]):
            with self.assertRaises(KeyboardInterrupt):
                grade.run(chapter, choice, options)
        self.assertEqual([[(each.submission.label, each.verdict) for each in grades]
                          for grades in reports], [[("ada", "passed"), ("bob", "not judged")]])


class Written(Folder):
    """The programs of exercises that were built: what they write, and what they tell a teacher."""

    def setUp(self):
        super().setUp()
        folder = Path(os.environ.get("COURSE_BIN", ROOT / "build" / "cpu" / "bin"))
        self.programs = {kind: folder / f"01_vector_add_{kind}_1" for kind in (
            "solution", "starter")}
        if not all(program.exists() for program in self.programs.values()):
            self.skipTest(f"the exercises are not built in {folder}")

    def test_files(self):
        for kind, verdicts in (("solution", ("passed",)), ("starter", ("not yet",))):
            file = self.folder / f"{kind}.json"
            done = subprocess.run([str(self.programs[kind]), "--label", "ada", "--json", str(file)],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            if done.returncode == 3:
                self.skipTest("no GPU to judge on")
            data = results.load(file)
            self.assertIn(data.judged.verdict, verdicts)
            self.assertEqual((data.label, data.judged.number), ("ada", 1))
            mine = [row for row in data.rows if row.role == "exercise"]
            self.assertEqual([row.verified for row in mine], [True])  # a starter that is slow
            self.assertEqual(bool(data.judged.reason), kind == "starter")
            if data.on_cpu and kind == "solution":
                self.assertEqual([row.version for row in data.rows],
                                 ["yours", "02_one_thread_per_element"])
                self.assertEqual(mine[0].model["global_loads"],
                                 data.rows[1].model["global_loads"])

    def test_solutions_are_not_refused(self):
        """What the compiler made of all solutions that are built here."""
        build = self.programs["solution"].parents[1]
        seen = 0
        for file in sorted(build.glob("chapters/*/CMakeFiles/*_solution_*_kernel.dir/**/*.o")):
            found = re.search(r"/(\d\d_\w+)/CMakeFiles/\w+_solution_(\d)_kernel\.dir", str(file))
            with self.subTest(file=file.name, chapter=found[1]):
                self.assertIsNone(submissions.refused_object(file, given(found[1], found[2])))
                seen += 1
        self.assertGreater(seen, 0)

    def test_the_pipe(self):
        data, why = grade.judge(self.programs["solution"], "ada", 100)
        if why.startswith("the program ended with exit code 3"):
            self.skipTest("no GPU to judge on")
        self.assertEqual((data["exercise"]["verdict"], data["label"], why), ("passed", "ada", ""))
        data, why = grade.judge(self.programs["starter"], "ada", 100)
        self.assertEqual(data["exercise"]["verdict"], "not yet")

    def test_a_teacher_s_file_says_which_sources_it_is_of(self):
        chapter = chapters.find("01")
        known = chapters.provenance_options(chapter)
        data, why = grade.judge(self.programs["solution"], "ada", 100, known=known)
        if why.startswith("the program ended with exit code 3"):
            self.skipTest("no GPU to judge on")
        self.assertEqual(data["source_hash"], chapters.source_hash(chapter))
        hashes = code.hashes(chapter.path, ROOT / "common")
        course = [row for row in data["results"] if row["role"] != "exercise"]
        self.assertEqual([row["code"] for row in course], [hashes[row["file"]] for row in course])
        self.assertTrue(course)


@unittest.skipUnless(os.environ.get("COURSE_GRADE"), "builds and runs 20 programs: COURSE_GRADE=1")
class Everything(Folder):
    def test_all(self):
        for name, text in HONEST.items():
            self.write(f"{name}.cu", text)
        for name, (text, _) in CHEATS.items():
            self.write(f"{name}.cu", text)
        done = subprocess.run(
            [str(ROOT / "chapters" / "run"), "01", "--exercise", "1", "--backend", "cpu", "--grade",
             str(self.folder), "--limit", "20"], stdout=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        file = ROOT / re.search(r"Wrote: (\S+grades.csv)", done.stdout)[1]
        with open(file, encoding="utf-8") as lines:
            rows = {row["label"]: row for row in csv.DictReader(lines)}
        self.assertEqual({name for name, row in rows.items() if row["verdict"] == "passed"},
                         set(HONEST))
        for name, (_, reason) in CHEATS.items():
            self.assertRegex(rows[name]["reason"], reason, name)
        self.assertEqual(len(list(file.parent.glob("*.json"))), len(HONEST) + 4)


if __name__ == "__main__":
    unittest.main()
