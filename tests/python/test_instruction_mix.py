"""chapters/04_matmul/instruction_mix: counts in a disassembly made up for it, and the recorded file."""
from __future__ import annotations

import csv
import unittest
from pathlib import Path
from unittest import mock

from scripts import load

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "chapters" / "04_matmul" / "instruction_mix"
instruction_mix = load(PROGRAM)

# A loop around a loop; in the inner one three of five FFMA read two registers of one bank: the first
# (R1 and R3), the second (R2 and R4; R1 is used again) and the last (R3, R5 and R7).
SASS = r"""
.text._ZN3our17multiply_matricesILb1EEEvPKf:
  /*0000*/ LDG.E R1, desc[UR6][R4.64] ;
.L_x_0:
  /*0010*/ STS [R9], R1 ;
  /*0020*/ FFMA R40, R41, R42, R40 ;
.L_x_1:
  /*0030*/ LDS.128 R4, [R8] ;
  /*0040*/ FFMA R2, R1.reuse, R3, R2 ;
  /*0050*/ FFMA R4, R1, R2, R4 ;
  /*0060*/ FFMA R4, R1, R1, R4 ;
  /*0070*/ FFMA R6, R7, RZ, R6 ;
  /*0080*/ @!P0 FFMA R7, R3, R5, R7 ;
  /*0090*/ LDL R30, [R1+0x4] ;
  /*00a0*/ IADD3 R8, R8, 0x1, RZ ;
  /*00b0*/ @P0 BRA `(.L_x_1) ;
  /*00c0*/ @P1 BRA `(.L_x_0) ;
"""


class Count(unittest.TestCase):
    def rows(self, file: str, sass: str):
        with mock.patch.object(instruction_mix, "disassemble", lambda path: sass):
            return instruction_mix.rows_of(Path(file))

    def test_by_hand(self) -> None:
        row, = self.rows("09_wide.cu", SASS.replace("FFMA R40, R41, R42, R40", "FADD R40, R41, R40"))
        self.assertEqual({"version": "09_wide", "kernel": "multiply_matrices<true>",
                          "registers": "42", "loop": "5", "shared": "0.200",
                          "global": "0.000", "local": "0.200", "other": "0.400", "total": "1.800",
                          "share": "55.6 %", "one_bank": "60 %"}, row)

    def test_the_loop_with_most_multiply_adds(self) -> None:
        row, = self.rows("09_wide.cu", SASS)
        self.assertEqual(row["loop"], "6")  # the outer loop has one more

    def test_shapes_of_a_study_are_lines_of_their_own(self) -> None:
        two = SASS + SASS.replace("ILb1E", "ILb0E").replace(".L_x_", ".L_y_")
        self.assertEqual(len(self.rows("studies/registers.cu", two)), 2)
        self.assertEqual(len(self.rows("09_wide.cu", two)), 1)

    def test_nothing_that_multiplies(self) -> None:
        with self.assertRaises(instruction_mix.Problem):
            self.rows("09_wide.cu", SASS.replace("FFMA", "FADD"))

    def test_the_recorded_file_has_every_version(self) -> None:
        lines = (PROGRAM.parent / "results" / "instruction_mix.csv").read_text().splitlines()
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
        self.assertEqual(tuple(rows[0]), instruction_mix.FIELDS)
        files = sorted(PROGRAM.parent.glob("[0-8][0-9]_*.cu"))
        self.assertEqual([file.stem for file in files] + ["launch_bounds"],
                         list(dict.fromkeys(row["version"] for row in rows)))


if __name__ == "__main__":
    unittest.main()
