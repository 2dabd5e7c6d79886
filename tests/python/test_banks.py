"""Banks of shared memory: the rule against an H200, and chapter 03 against the CPU backend.

COURSE_BIN names the folder of the built programs. Without it the versions' addresses are not
compared with what their programs do.
"""
import csv
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from test_results import ROOT, Folder  # noqa: E402
from course import results  # noqa: E402

CHAPTER = ROOT / "chapters" / "03_transpose"
sys.path.insert(0, str(CHAPTER / "drawings"))
import banks  # noqa: E402

PATTERNS = ROOT / "tests" / "evidence" / "h200-patterns.csv"
EVIDENCE = CHAPTER / "results" / "counts" / "h200-modelled.csv"
PROGRAM = Path(os.environ.get("COURSE_BIN", "")) / banks.CHAPTER
NO_PROGRAM = (f"COURSE_BIN is unset, or names a folder without {banks.CHAPTER}: what its versions "
              "do to the banks is NOT TESTED")
ROWS = 512  # and columns: a multiple of every tile
HEADER = "chapter,study,version,size,kernel,counter,modelled,measured,equal,explanation"


def read_csv(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


class Rule(unittest.TestCase):
    def both(self, expected, width, address, lanes=range(32)):
        """A load and a store by these lanes take `expected` wavefronts each."""
        addresses = [address(lane) if lane in lanes else None for lane in range(32)]
        self.assertEqual([banks.wavefronts(addresses, width, load) for load in (True, False)],
                         [expected, expected])

    def test_four_bytes(self):
        self.both(1, 4, lambda lane: 4 * lane)
        self.both(1, 4, lambda lane: 4 * (31 - lane))
        self.both(1, 4, lambda lane: 128 * 7)  # one word for all
        self.both(2, 4, lambda lane: 8 * lane)
        self.both(4, 4, lambda lane: 16 * lane)
        self.both(1, 4, lambda lane: 12 * lane)  # odd strides meet no bank twice
        self.both(32, 4, lambda lane: 128 * lane)
        self.both(1, 4, lambda lane: 132 * lane)
        self.both(2, 4, lambda lane: 128 * (lane % 2))  # two words of one bank, each for 16 lanes

    def test_narrow_accesses_share_words(self):
        self.both(1, 1, lambda lane: lane)
        self.both(1, 2, lambda lane: 2 * lane)
        self.both(8, 1, lambda lane: 32 * lane)

    def test_lanes_that_take_no_part(self):
        self.both(16, 4, lambda lane: 128 * lane, range(16))
        self.both(0, 4, lambda lane: 0, ())
        self.both(1, 16, lambda lane: 16 * lane, range(8))

    def test_wide_accesses_go_in_groups(self):
        self.both(2, 8, lambda lane: 8 * lane)
        self.both(4, 16, lambda lane: 16 * lane)
        self.both(8, 16, lambda lane: 32 * lane)
        self.both(16, 16, lambda lane: 64 * lane)
        self.both(32, 16, lambda lane: 128 * lane)
        self.both(4, 16, lambda lane: 144 * lane)  # a row of a tile padded by 16 bytes

    def test_a_load_whose_lanes_agree_in_pairs(self):
        for pairs in ([16 * (lane // 2) for lane in range(32)],
                      [16 * (lane // 4 * 2 + lane % 2) for lane in range(32)]):
            self.assertEqual(banks.wavefronts(pairs, 16, True), 2)
            self.assertEqual(banks.wavefronts(pairs, 16, False), 4)
        fours = [16 * (lane // 8 * 4 + lane % 4) for lane in range(32)]  # lanes 4 apart: no help
        self.assertEqual(banks.wavefronts(fours, 16, True), 4)
        one = [0] * 32
        self.assertEqual(banks.wavefronts(one, 16, True), 2)
        self.assertEqual(banks.wavefronts(one, 16, False), 4)
        self.assertEqual(banks.wavefronts(one, 8, True), 1)
        self.assertEqual(banks.wavefronts(one, 8, False), 2)

    def test_a_warp_has_32_lanes(self):
        with self.assertRaises(ValueError):
            banks.wavefronts([0] * 31, 4, True)

    def test_every_pattern_that_was_measured(self):
        known = 0  # stores of 16 bytes that take one wavefront more: docs/cpu_backend_details.md
        rows = [row for row in read_csv(PATTERNS)
                if row["op"] in ("shared_load", "shared_store")]
        self.assertEqual(len(rows), 820)
        for row in rows:
            load, width, mask = row["op"] == "shared_load", int(row["bytes"]), int(row["mask"], 16)
            measured = int(row["wavefronts_ld" if load else "wavefronts_st"])
            predicted = banks.wavefronts(
                [int(offset) if mask >> lane & 1 else None
                 for lane, offset in enumerate(row["offsets"].split())], width, load)
            if not load and width == 16 and (predicted, measured) == (16, 17):
                known += 1
                continue
            with self.subTest(op=row["op"], bytes=width, pattern=row["pattern"], mask=row["mask"]):
                self.assertEqual(predicted, measured)
        self.assertEqual(known, 5)


class Versions(unittest.TestCase):
    def test_every_entry_has_a_place_of_its_own(self):
        for place in (banks.unpadded, banks.padded, banks.swizzled):
            taken = {place(row, col) for row in range(32) for col in range(32)}
            self.assertEqual(len(taken), 32 * 32)
        for place in (banks.group_in_order, banks.group_swizzled, banks.group_any):
            taken = {place(col, group) for col in range(64) for group in range(16)}
            self.assertEqual(taken, {16 * k for k in range(1024)})

    def test_what_is_stored_is_loaded_once(self):
        for version, accesses in banks.VERSIONS.items():
            touched = {kind: sorted(address for request in access.requests for address in request)
                       for kind, access in accesses.items()}
            self.assertEqual(touched["store"], touched["load"], version)
            self.assertEqual(len(set(touched["load"])), 1024, version)

    def test_conflicts(self):
        self.assertEqual(banks.VERSIONS["05_shared_tile"]["load"].wavefronts("load"), 32)
        self.assertEqual(banks.VERSIONS["06_padded"]["load"].wavefronts("load"), 1)
        self.assertEqual(banks.VERSIONS["09_vectors"]["store"].wavefronts("store"), 4)
        plain = banks.group_accesses(banks.group_in_order)
        self.assertEqual((plain["store"].wavefronts("store"), plain["load"].wavefronts("load")),
                         (32, 4))

@unittest.skipUnless(PROGRAM.is_file(), NO_PROGRAM)
class CpuBackend(Folder):
    def test_counts_are_those_predicted(self):
        path = self.folder / "result.json"
        done = subprocess.run(
            [str(PROGRAM), "--study", "sequence", "--size", f"{ROWS}x{ROWS}", "--only", "5-10",
             "--json", str(path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=180, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        rows = {row["version"]: row for row in json.loads(path.read_text())["results"]}
        if not any(row.get("model") for row in rows.values()):
            self.skipTest(f"{PROGRAM} is built for a GPU and counts nothing: NOT TESTED")
        self.assertEqual(set(rows), set(banks.VERSIONS))
        for version, accesses in banks.VERSIONS.items():
            for kind, access in accesses.items():
                with self.subTest(version=version, access=kind):
                    model = rows[version]["model"][f"shared_{kind}s"]
                    requests = ROWS * ROWS // (32 * access.width // 4)
                    self.assertEqual(model["requests"], requests)
                    self.assertEqual(model["wavefronts"], requests * access.wavefronts(kind))


class Table(Folder):
    def written(self, rows):
        """The table that evidence with these rows gives."""
        evidence = self.folder / "evidence.csv"
        evidence.write_text("\n".join(["# gpu: NVIDIA H200", "# date: 2026-11-20", HEADER,
                                       *rows]) + "\n")
        banks.write_table(self.folder / "banks.csv", banks.read_evidence(evidence))
        return (self.folder / "banks.csv").read_text().split("\n")[:-1]

    def test_three_columns(self):
        row = "03_transpose,sequence,05_shared_tile,rows=64 cols=64,transpose_tiles,shared_"
        lines = self.written([f"{row}loads_requests,128,128,yes,",
                              f"{row}loads_wavefronts,4096,4000,no,why",
                              f"{row}loads_requests,64,64,yes,",  # another size
                              f"{row}loads_wavefronts,2048,2000,no,why",
                              f"{row}stores_requests,128,128,yes,",
                              row.replace("sequence", "size") + "loads_requests,9,9,yes,"])
        self.assertEqual(lines[:4], [
            "# Wavefronts per request; NVIDIA H200, 2026-11-20",
            "version,access,lanes_of_a_request,predicted_by_the_rule,counted_by_the_CPU_backend,"
            "measured_by_the_profiler",
            "05_shared_tile,store,a row: lane x at column x,1,-,-",
            "05_shared_tile,load,a column: lane x at row x,32,32,31.25"])

    def test_nothing_measured(self):
        lines = self.written([])
        self.assertEqual(len(lines), 2 + 2 * 6)
        self.assertTrue(all(line.endswith(",-,-") for line in lines[2:]), lines)
        self.assertEqual(lines[0], "# Wavefronts per request")

    def test_the_table_of_the_lesson_is_not_stale(self):
        banks.write_table(self.folder / "banks.csv", banks.read_evidence(EVIDENCE))
        self.assertEqual((self.folder / "banks.csv").read_text(),
                         (CHAPTER / "results" / "banks.csv").read_text(),
                         "chapters/03_transpose/banks writes it anew")

    def test_refusals(self):
        bad = self.folder / "bad.csv"
        bad.write_text(HEADER + "\n03_transpose,sequence,05,n=1,k,c,many,1,no,\n")
        for path, word in ((self.folder / "no.csv", "no such file"), (bad, "no table")):
            with self.assertRaisesRegex(results.ResultError, word):
                banks.read_evidence(path)


class Recorded(unittest.TestCase):
    def test_the_recorded_counts_are_those_predicted(self):
        evidence = banks.read_evidence(EVIDENCE)
        if not evidence.counters:
            self.skipTest(f"{EVIDENCE} has no row of {banks.CHAPTER}: NOT TESTED")
        for version, kind, _, predicted, counted, _ in banks.table(evidence)[1]:
            with self.subTest(version=version, access=kind):
                self.assertIn(counted, ("-", predicted))


class Script(Folder):
    def test_writes_the_table(self):
        done = subprocess.run([sys.executable, str(CHAPTER / "banks"), "--out", "a"],
                              stdout=subprocess.PIPE, text=True, cwd=self.folder, check=True)
        self.assertEqual(done.stdout, "a/banks.csv\n")
        self.assertEqual((self.folder / "a" / "banks.csv").read_text(),
                         (CHAPTER / "results" / "banks.csv").read_text())


if __name__ == "__main__":
    unittest.main()
