"""chapters/06_nbody/issue_slots: counts in a disassembly that was recorded, and in ones made up."""
import contextlib
import csv
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from scripts import load

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "chapters" / "06_nbody" / "issue_slots"
issue_slots = load(PROGRAM)
from course import sass  # noqa: E402

# nvdisasm of a kernel with a loop over tiles around a loop over two bodies (nvcc 13.0, sm_90a).
NVDISASM = r"""
.text._ZN4tiny4pullILi7EEEvPK6float4PS1_f:
  /*0000*/ LDC R1, c[0x0][0x28] ;
  /*0010*/ S2R R0, SR_TID.X ;
  /*0020*/ LDC.64 R4, c[0x0][0x210] ;
  /*0030*/ ULDC.64 UR6, c[0x0][0x208] ;
  /*0040*/ IMAD.WIDE.U32 R4, R0, 0x10, R4 ;
.L_x_3:
  /*0050*/ LDG.E.128 R4, desc[UR6][R4.64] ;
  /*0060*/ S2UR UR5, SR_CgaCtaId ;
  /*0070*/ UMOV UR4, 0x400 ;
  /*0080*/ HFMA2.MMA R3, -RZ, RZ, 0, 0 ;
  /*0090*/ MOV R10, RZ ;
  /*00a0*/ CS2R R8, SRZ ;
  /*00b0*/ ULEA UR4, UR5, UR4, 0x18 ;
  /*00c0*/ LEA R2, R0, UR4, 0x4 ;
.L_x_1:
  /*00d0*/ LDC.64 R12, c[0x0][0x210] ;
  /*00e0*/ LEA R7, R3, R0, 0x5 ;
  /*00f0*/ ULDC UR5, c[0x0][0x220] ;
  /*0100*/ IMAD.WIDE.U32 R12, R7, 0x10, R12 ;
  /*0110*/ LDG.E.128 R12, desc[UR6][R12.64] ;
  /*0120*/ IADD3 R3, R3, 0x1, RZ ;
  /*0130*/ MOV R11, 0x10 ;
  /*0140*/ ISETP.GE.U32.AND P0, PT, R3, 0x7, PT ;
  /*0150*/ MOV R7, RZ ;
  /*0160*/ STS.128 [R2], R12 ;
  /*0170*/ BAR.SYNC.DEFER_BLOCKING 0x0 ;
.L_x_0:
  /*0180*/ LDS.128 R12, [R7+UR4] ;
  /*0190*/ IADD3 R11, R11, 0x20, RZ ;
  /*01a0*/ LDS.128 R16, [R7+UR4+0x10] ;
  /*01b0*/ IADD3 R7, R7, 0x20, RZ ;
  /*01c0*/ FADD R21, -R4, R12 ;
  /*01d0*/ FADD R12, -R5, R13 ;
  /*01e0*/ FADD R13, -R6, R14 ;
  /*01f0*/ FFMA R23, R21, R21, UR5 ;
  /*0200*/ FADD R16, -R4, R16 ;
  /*0210*/ FADD R17, -R5, R17 ;
  /*0220*/ FADD R18, -R6, R18 ;
  /*0230*/ FFMA R14, R12, R12, R23 ;
  /*0240*/ FFMA R20, R16, R16, UR5 ;
  /*0250*/ FFMA R14, R13, R13, R14 ;
  /*0260*/ FFMA R23, R17, R17, R20 ;
  /*0270*/ FFMA R23, R18, R18, R23 ;
  /*0280*/ FSETP.GEU.AND P1, PT, |R14|, 1.175494350822287508e-38, PT ;
  /*0290*/ FSETP.GEU.AND P2, PT, |R23|, 1.175494350822287508e-38, PT ;
  /*02a0*/ @!P1 FMUL R14, R14, 16777216 ;
  /*02b0*/ MUFU.RSQ R20, R14 ;
  /*02c0*/ @!P2 FMUL R23, R23, 16777216 ;
  /*02d0*/ MUFU.RSQ R22, R23 ;
  /*02e0*/ @!P1 FMUL R20, R20, 4096 ;
  /*02f0*/ ISETP.NE.AND P1, PT, R11, 0x210, PT ;
  /*0300*/ FMUL R15, R15, R20.reuse ;
  /*0310*/ FMUL R20, R20, R20 ;
  /*0320*/ @!P2 FMUL R22, R22, 4096 ;
  /*0330*/ FMUL R15, R15, R20 ;
  /*0340*/ FMUL R19, R19, R22.reuse ;
  /*0350*/ FMUL R22, R22, R22 ;
  /*0360*/ FFMA R21, R21, R15.reuse, R8 ;
  /*0370*/ FFMA R12, R12, R15.reuse, R9 ;
  /*0380*/ FFMA R13, R13, R15, R10 ;
  /*0390*/ FMUL R19, R19, R22 ;
  /*03a0*/ FFMA R8, R16, R19.reuse, R21 ;
  /*03b0*/ FFMA R9, R17, R19.reuse, R12 ;
  /*03c0*/ FFMA R10, R18, R19, R13 ;
  /*03d0*/ @P1 BRA `(.L_x_0) ;
  /*03e0*/ BAR.SYNC.DEFER_BLOCKING 0x0 ;
  /*03f0*/ @!P0 BRA `(.L_x_1) ;
  /*0400*/ ULDC.64 UR4, c[0x0][0x218] ;
  /*0410*/ HFMA2.MMA R11, -RZ, RZ, 0, 0 ;
  /*0420*/ LEA R2, P0, R0, UR4, 0x4 ;
  /*0430*/ LEA.HI.X R3, R0, UR5, RZ, 0x4, P0 ;
  /*0440*/ STG.E.128 desc[UR6][R2.64], R8 ;
.L_x_4:
  /*0450*/ EXIT ;
.L_x_2:
  /*0460*/ BRA `(.L_x_2);
  /*0470*/ NOP;
  /*0480*/ NOP;
  /*0490*/ NOP;
  /*04a0*/ NOP;
"""


def as_cuobjdump(sass: str) -> str:
    """The same in the form of cuobjdump: a headline, addresses for labels, encodings as comments."""
    labels, waiting, lines = {}, [], []
    for line in sass.splitlines():
        label, address = re.match(r"(\.L\w+):", line), re.match(r"\s+/\*(\w+)\*/", line)
        if label:
            waiting.append(label[1])
        elif address:
            labels.update({name: address[1] for name in waiting})
            waiting = []
            lines += [line + " /* 0x0000000a0c147223 */", " " * 40 + "/* 0x000fe20000010008 */"]
        elif line.startswith(".text."):
            lines += ["\t\tFunction : " + line[len(".text."):-1], "\t.headerflags @\"EF_CUDA_SM90\""]
    return re.sub(r"`\((\.L\w+)\)", lambda match: "0x" + labels[match[1]].lstrip("0"), "\n".join(lines))


def kernel(*lines: str) -> str:
    """A disassembly of lines that are instructions, or labels."""
    text, address = [".text.k:"], 0
    for line in lines:
        text.append(line if line.endswith(":") else f"  /*{address:04x}*/ {line} ;")
        address += 0 if line.endswith(":") else 16
    return "\n".join(text)


class Counting(unittest.TestCase):
    def rows(self, sass, version="v"):
        return [loop.row() for loop in issue_slots.count(version, sass)]

    def test_recorded_code(self) -> None:
        for sass in (NVDISASM, as_cuobjdump(NVDISASM)):
            [row] = self.rows(sass)
            self.assertEqual("pull<7>", row["kernel"])
            self.assertEqual("2", row["interactions_in_loop"])
            self.assertEqual(["14", "0", "1", "1", "0", "1", "2", "19"],
                             [row[name] for name in (*issue_slots.COLUMNS, "total")])
            self.assertEqual(f"{128 / 19:.4g}", row["per_clock_and_sm"])
            # registers counted by hand: 30 even ones and 33 odd ones
            self.assertEqual(("15", "16.5"), (row["even"], row["odd"]))
            self.assertLess(19, float(row["clocks"]))
            self.assertEqual(f"{128 / float(row['clocks']):.3g}",
                             f"{float(row['per_clock_with_banks']):.3g}")

    def test_the_other_form_is_another_form(self) -> None:
        self.assertNotIn(".L_x", as_cuobjdump(NVDISASM))
        self.assertIn("@P1 BRA 0x180 ;", as_cuobjdump(NVDISASM))

    def test_loop_with_most_roots_and_without_others_inside(self) -> None:
        inner = ["MUFU.RSQ R1, R1", "MUFU.RSQ R2, R2", "FADD R3, R1, R2"]
        sass = kernel(".L_1:", "FMUL R0, R0, R0", ".L_2:", *inner, "@P0 BRA `(.L_2)",
                      "@P1 BRA `(.L_1)", ".L_3:", "MUFU.RSQ R4, R4", "@!P2 BRA `(.L_3)")
        [row] = self.rows(sass)
        self.assertEqual(("2", "0.5", "2"),
                         (row["interactions_in_loop"], row["fp32"], row["total"]))

    def test_of_several_shapes_the_one_with_the_longest_loop(self) -> None:
        def shape(name: str, roots: int) -> str:
            code = kernel(".L_1:", *["MUFU.RSQ R1, R1"] * roots, "@P0 BRA `(.L_1)")
            return code.replace(".text.k:", f".text.{name}:")
        names = ["_Z4pullILi1ELi64EEvPf", "_Z4pullILi8ELi512EEvPf", "_Z4pullILi4ELi64EEvPf"]
        rows = self.rows("\n".join(map(shape, names, (1, 8, 4))))
        self.assertEqual(["pull<8, 512>"], [row["kernel"] for row in rows])
        switched = ["_Z4pullILi1ELb1EEvPf", "_Z4pullILi8ELb0EEvPf"]  # other code: not a shape
        rows = self.rows("\n".join(map(shape, switched, (1, 8))))
        self.assertEqual(["pull<1, true>", "pull<8, false>"],
                         [row["kernel"] for row in rows])

    def test_branches_that_are_no_loops(self) -> None:
        forward = ["@P0 BRA `(.L_1)", "MUFU.RSQ R1, R1", ".L_1:", "EXIT"]
        self.assertEqual([], self.rows(kernel(*forward)))
        no_root = [".L_1:", "MUFU.RCP R1, R1", "BRA `(.L_1)"]
        self.assertEqual([], self.rows(kernel(*no_root)))

    def test_a_root_for_two_interactions(self) -> None:
        sass = kernel(".L_1:", "MUFU.RSQ R1, R1", "FADD R1, R1, R1", "BRA `(.L_1)")
        [row] = self.rows(sass, issue_slots.TWICE[0])
        self.assertEqual(("2", "0.5", "1.5"), (row["interactions_in_loop"], row["mufu"], row["total"]))

    def test_units_that_are_fewer_than_instructions(self) -> None:
        double = kernel(".L_1:", "MUFU.RSQ64H R1, R1", *["DFMA R2, R2, R2, R2"] * 16, "BRA `(.L_1)")
        self.assertEqual("4", self.rows(double)[0]["per_clock_and_sm"], "64 lanes for 16")
        roots = kernel(".L_1:", "MUFU.RSQ R1, R1", "BRA `(.L_1)")
        self.assertEqual("16", self.rows(roots)[0]["per_clock_and_sm"], "16 lanes for roots")

    def test_registers_by_bank(self) -> None:
        for instruction, even, odd in (
                ("FFMA R0, R1, R2, R3", 1, 2), ("@P1 FFMA R0, R1, R2, R3", 1, 2),
                ("FFMA R0, R2, -R4, |R6|", 3, 0),
                ("FFMA R0, R2.reuse, R4.reuse, R6", 3, 0),  # a mark changes nothing
                ("FADD R0, R2, -R4", 2, 0), ("FMUL.FTZ R0, R1, R3.reuse", 0, 2),
                ("FFMA R0, R2, R2, R4", 2, 0), ("FFMA R0, R12, R2, UR5", 2, 0),
                ("FADD R2, R2, R3", 1, 1), ("FMUL R0, R2, R2", 1, 0),
                ("FADD R0, R2, UR4", 1, 0), ("FFMA R0, R2, RZ, UR4", 1, 0),
                ("FADD R0, R2, c[0x0][0x220]", 1, 0), ("FMUL R2, R4, 4096", 1, 0),
                ("FADD R1, R0, 1", 1, 0),  # where the result goes is not read
                ("LDS.128 R4, [R7+UR4]", 0, 1)):
            [row] = self.rows(kernel(".L_1:", "MUFU.RSQ R9, R9", instruction, "BRA `(.L_1)"))
            self.assertEqual((str(even), str(odd + 1)), (row["even"], row["odd"]), instruction)

    def clocks(self, *instructions: str) -> str:
        [row] = self.rows(kernel(".L_1:", "MUFU.RSQ R9, R9", *instructions, "BRA `(.L_1)"))
        return row["clocks"]

    def test_banks_in_turn_cost_nothing(self) -> None:
        self.assertEqual("6", self.clocks(*["FFMA R0, R2, R2, R3", "FFMA R1, R4, R4, R5"] * 2))

    def test_a_bank_asked_for_two_each_time_takes_twice_as_long(self) -> None:
        # 12 instructions with two odd registers and a root with one: 25 clocks for 14 instructions
        self.assertEqual("25", self.clocks(*["FFMA R37, R4, R5, R37"] * 12))

    def test_a_clock_of_reading_may_be_left_over(self) -> None:
        self.assertEqual("3", self.clocks("FADD R0, R2, R4"))
        # 0, 1, 2; then two clocks of reading are left: the branch starts at 4, not 3
        self.assertEqual("5", self.clocks("FADD R0, R2, R4", "FADD R1, R6, R8"))

    def test_clocks_of_a_root_for_two_interactions(self) -> None:
        sass = kernel(".L_1:", "MUFU.RSQ R1, R1", "FFMA R0, R1, R2, R3", "BRA `(.L_1)")
        [row] = self.rows(sass, issue_slots.TWICE[0])
        self.assertEqual(("0.5", "1.5", "1.5", "32"), tuple(
            row[name] for name in ("even", "odd", "clocks", "per_clock_with_banks")))

    def test_no_model_for_double(self) -> None:
        [row] = self.rows(kernel(".L_1:", "MUFU.RSQ64H R1, R1", "DFMA R2, R2, R2, R4",
                                 "BRA `(.L_1)"))
        self.assertEqual(["", "", "", ""], [row[name] for name in (
            *issue_slots.BANKS, "clocks", "per_clock_with_banks")])
        self.assertEqual("3", row["total"])

    def test_names(self) -> None:
        for mangled, name in (("_ZN6folded17accelerate_bodiesEPK6float4PS0_if", "accelerate_bodies"),
                              ("_ZN2ab4sum4ILi4ELb1EEEvPKf", "sum4<4, true>"),
                              ("_Z3fooPf", "foo"), ("plain", "plain")):
            self.assertEqual(name, issue_slots.demangled(mangled))


class Script(unittest.TestCase):
    def run_main(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = issue_slots.main(list(arguments))
        return code, out.getvalue() + err.getvalue()

    def test_table_and_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            sass, table = Path(folder) / "tiny.sass", Path(folder) / "slots.csv"
            sass.write_text(NVDISASM)
            code, text = self.run_main("--sass", str(sass), "--out", str(table))
            self.assertEqual(0, code)
            self.assertRegex(text, r"tiny +pull<7> .* 19 ")
            lines = table.read_text().splitlines()
            self.assertTrue(lines[0].startswith("# "))
            [row] = csv.DictReader(lines[1:])
            self.assertEqual(("tiny", "19"), (row["version"], row["total"]))

    def test_mistakes_are_one_line(self) -> None:
        for arguments, words in ((["nonsense"], "no version 'nonsense'"),
                                 (["--sass", "/no/such/file"], "--sass /no/such/file")):
            done = subprocess.run([sys.executable, str(PROGRAM), *arguments], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(2, done.returncode, done.stderr)
            self.assertIn(words, done.stderr)
            self.assertEqual(1, done.stderr.count("\n"), done.stderr)

    def test_versions_by_number_and_name(self) -> None:
        for name in ("08", "folded", "08_folded"):
            self.assertEqual(["08_folded"], [file.stem for file in issue_slots.chosen([name])])
        self.assertEqual(["sample_form"], [f.stem for f in issue_slots.chosen(["sample_form"])])

    def test_says_what_is_missing(self) -> None:
        nothing = {**os.environ, "NVDISASM": ""}
        with mock.patch.dict(os.environ, nothing), \
                mock.patch.object(sass, "tool", lambda *names: ""):
            with self.assertRaises(issue_slots.Problem) as caught:
                sass.disassemble(Path("x.cu"))
        self.assertIn("nvcc: not found", str(caught.exception))

    def test_the_recorded_file_has_every_version(self) -> None:
        lines = (PROGRAM.parent / "results" / "issue_slots.csv").read_text().splitlines()
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
        self.assertEqual(sorted({row["version"] for row in rows}),
                         sorted(file.stem for file in issue_slots.chosen([])))


if __name__ == "__main__":
    unittest.main()
