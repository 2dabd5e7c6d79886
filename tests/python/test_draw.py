"""chapters/06_nbody/draw: snapshots read, parts told apart, pictures drawn, bad usage."""
import os
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, List, Sequence, Tuple
from unittest import mock

from scripts import load

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "chapters" / "06_nbody" / "draw"
sys.path.insert(0, str(ROOT / "common" / "python"))

from course import Problem, machine  # noqa: E402

PYTHON = machine.probe_matplotlib().where
needs_matplotlib = unittest.skipUnless(PYTHON, "no python with matplotlib on this machine")

draw: Any = load(PROGRAM)

Body = Tuple[float, float, float, float]


def bodies(n: int) -> List[Body]:
    """All different, exact in float."""
    return [(k + 0.5, -2.0 * k, k / 8 - 1, 1 / 64) for k in range(n)]


def header(n: int, step: int, form: str, parts: int = 1) -> str:
    return f"# nbody n={n} step={step} time={step / 4:.9g} parts={parts} model=galaxies {form}\n"


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name).resolve()

    def write(self, step: int, some: Sequence[Body], suffix: str = "bin", parts: int = 1) -> Path:
        """A snapshot as 06_nbody_simulate writes it."""
        file = self.folder / f"snapshot_{step:08d}.{suffix}"
        if suffix == "bin":
            file.write_bytes(header(len(some), step, "float32", parts).encode()
                             + b"".join(struct.pack("<4f", *body) for body in some))
        else:
            lines = "".join(",".join(f"{x:.9g}" for x in body) + "\n" for body in some)
            file.write_text(header(len(some), step, "csv", parts) + "x,y,z,m\n" + lines)
        return file

    def run_draw(self, *arguments: object) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([sys.executable, str(PROGRAM), *map(str, arguments)], text=True,
                              capture_output=True, check=False, cwd=self.folder,
                              env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})

    def draws(self, *arguments: object) -> str:
        """What the script says; nothing on stderr, for that is no terminal."""
        done = self.run_draw(*arguments)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        return done.stdout.strip()

    def refuses(self, words: str, *arguments: object) -> None:
        done = self.run_draw(*arguments)
        self.assertEqual((2, ""), (done.returncode, done.stdout), arguments)
        self.assertNotIn("Traceback", done.stderr)
        self.assertIn(words, done.stderr)


class Reading(Folder):
    def test_both_forms_hold_the_same(self) -> None:
        for n in (1, 2, 7):
            with self.subTest(n=n):
                some = bodies(n)
                for suffix in ("bin", "csv"):
                    got = draw.read(self.write(6, some, suffix, parts=2))
                    self.assertEqual((n, 1.5, 2, "galaxies"),
                                     (got.n, got.time, got.parts, got.model))
                    self.assertEqual([list(axis) for axis in got.axes],
                                     [[body[k] for body in some] for k in range(3)])

    def test_bytes_that_look_like_lines(self) -> None:
        newline = struct.unpack("<f", b"\n\n\n\n")[0]
        got = draw.read(self.write(0, [(newline, 1, 2, 3), (4, newline, 5, 6)]))
        self.assertEqual([newline, 4], list(got.axes[0]))

    def test_damaged(self) -> None:
        whole = self.write(0, bodies(3)).read_bytes()
        text = self.write(0, bodies(3), "csv").read_bytes()
        cases = {
            "not hold as many": [whole[:-1], whole[:-16], whole + b"1234", text[:-20],
                                 text + b"1\n", text.replace(b"0.5", b"half"),
                                 text + b"\xff\xff\n"],
            "first line": [b"", b"\n", b"# nbody\n", whole[1:], b"\xff" * 40,
                           whole.replace(b"n=3", b"n=x"), whole.replace(b" float32", b"")]}
        file = self.folder / "snapshot_00000001.bin"
        for words, contents in cases.items():
            for content in contents:
                with self.subTest(content=content[:80]):
                    file.write_bytes(content)
                    with self.assertRaisesRegex(Problem, words) as caught:
                        draw.read(file)
                    self.assertEqual(2, caught.exception.code)
                    self.assertNotIn("\n", str(caught.exception))

    def test_headers_that_announce_nonsense(self) -> None:
        whole = self.write(0, bodies(3)).read_bytes()
        file = self.folder / "snapshot_00000001.bin"
        for before, after, words in ((b"parts=1", b"parts=0", "first line"),
                                     (b"time=0", b"time=soon", "first line"),
                                     (b"time=0", b"time=1.2.3", "first line")):
            with self.subTest(after=after):
                self.assertIn(before, whole)
                file.write_bytes(whole.replace(before, after))
                with self.assertRaisesRegex(Problem, words):
                    draw.read(file)

    def test_times_as_printf_writes_them(self) -> None:
        whole = self.write(0, bodies(3)).read_bytes()
        file = self.folder / "snapshot_00000001.bin"
        for text in ("0", "0.0078125", "1e-05", "2.5e+20", "12"):
            file.write_bytes(whole.replace(b"time=0", b"time=" + text.encode()))
            self.assertEqual(float(text), draw.read(file).time)

    def test_no_bodies(self) -> None:
        for suffix in ("bin", "csv"):
            with self.assertRaisesRegex(Problem, "holds no bodies") as caught:
                draw.read(self.write(0, [], suffix))
            self.assertEqual(2, caught.exception.code)
            self.assertNotIn("\n", str(caught.exception))

    def test_missing(self) -> None:
        with self.assertRaisesRegex(Problem, "No such file"):
            draw.read(self.folder / "snapshot_00000000.bin")

    def test_parts_are_all_bodies_once(self) -> None:
        for n in (1, 2, 3, 10, 11):
            for parts in (1, 2, 3):
                with self.subTest(n=n, parts=parts):
                    snapshot = draw.Snapshot(n, 0.0, parts, "m", ())
                    shares = [list(range(n))[snapshot.part(k)] for k in range(parts)]
                    self.assertEqual(list(range(n)), sum(shares, []))
                    # as galaxies() shares them: the first gets what is left over
                    self.assertEqual([n // parts] * (parts - 1), [len(s) for s in shares[1:]])

    def test_files_in_the_order_of_steps(self) -> None:
        for step in (100, 2, 99999999):
            self.write(step, bodies(1))
        for name in ("snapshot_1.txt", "panels.png", "notes"):
            (self.folder / name).write_text("no snapshot")
        self.assertEqual([2, 100, 99999999],
                         [int(file.stem[9:]) for file in draw.snapshots_in(self.folder)])

    def test_evenly(self) -> None:
        files = [Path(str(k)) for k in range(10)]
        for count, want in ((1, "0"), (2, "09"), (4, "0369"), (10, "0123456789"),
                            (20, "0123456789")):
            self.assertEqual(want, "".join(map(str, draw.evenly(files, count))))
        self.assertEqual(files[:1], draw.evenly(files[:1], 5))

    def test_extent_shows_nearly_all(self) -> None:
        some = ([(1.0, 0.0, 0.0, 1.0)] * 60 + [(0.0, -2.0, 0.0, 1.0)] * 37
                + [(0.0, 0.0, 500.0, 1.0)] * 3)
        snapshot = draw.read(self.write(0, some))
        self.assertAlmostEqual(2.2, draw.extent(snapshot, draw.PLANES["xy"]))
        self.assertAlmostEqual(1.1, draw.extent(snapshot, draw.PLANES["xz"]))
        self.assertEqual(1.0, draw.extent(draw.read(self.write(0, [(0, 0, 0, 1)])), (0, 1)))

    def test_extent_of_what_has_flown_apart(self) -> None:
        lost, infinite = float("nan"), float("inf")
        some = [(lost, 0.0, 0.0, 1.0), (0.0, lost, 0.0, 1.0), (infinite, 0.0, 0.0, 1.0)]
        self.assertEqual(1.0, draw.extent(draw.read(self.write(0, some)), (0, 1)))
        some.append((2.0, 1.0, 0.0, 1.0))
        self.assertAlmostEqual(2.2, draw.extent(draw.read(self.write(0, some)), (0, 1)))


class Painting(Folder):
    def test_each_part_in_its_colour_and_plane(self) -> None:
        axes = mock.Mock()
        some = bodies(5)
        snapshot = draw.read(self.write(0, some, parts=2))
        draw.paint(axes, snapshot, draw.PLANES["xz"], 7.0)
        self.assertEqual([(-7.0, 7.0)] * 2, [axes.set.call_args[1][k] for k in ("xlim", "ylim")])
        drawn = [(list(call[0][0]), list(call[0][1]), call[1]["color"])
                 for call in axes.scatter.call_args_list]
        want = [([body[0] for body in part], [body[2] for body in part], colour)
                for part, colour in ((some[:3], draw.COLOURS[0]), (some[3:], draw.COLOURS[1]))]
        self.assertEqual(want, drawn)


class Usage(Folder):
    def test_bad_usage_is_one_line(self) -> None:
        self.write(0, bodies(3))
        (self.folder / "empty").mkdir()
        here = self.folder
        for words, arguments in (
                ("no snapshots in empty", ["empty"]), ("no snapshots in none", ["none"]),
                ("--panels 0: from 1 to 20", [here, "--panels", "0"]),
                ("--panels 21: from 1 to 20", [here, "--panels", "21"]),
                ("must end in .png or .svg", [here, "--out", "a.pdf"]),
                ("must end in .png or .svg", [here, "--out", "png"]),
                ("must end in .gif", [here, "--animate", "a.png"]),
                ("no/where is no folder", [here, "--out", "no/where/a.png"]),
                ("--plane", [here, "--plane", "zz"]), ("--half", [here, "--half", "-1"]),
                ("--half", [here, "--half", "nan"]), ("--rate", [here, "--rate", "0"]),
                ("--panels", [here, "--panels", "many"]), ("FOLDER", []),
                ("--what", [here, "--what"])):
            with self.subTest(arguments=arguments):
                self.refuses(words, *arguments)
        self.assertEqual({"empty", "snapshot_00000000.bin"}, {f.name for f in here.iterdir()})

    def test_help(self) -> None:
        text = self.draws("--help")
        for option in ("--panels", "--plane", "--half", "--out", "--animate", "--rate"):
            self.assertIn(option, text)


@needs_matplotlib
class Pictures(Folder):
    def setUp(self) -> None:
        super().setUp()
        for step in range(7):
            self.write(step, bodies(9), parts=2)

    def test_panels_beside_the_snapshots(self) -> None:
        said = self.draws(self.folder, "--panels", "3")
        self.assertEqual("wrote panels.png", said)
        self.assertTrue((self.folder / "panels.png").read_bytes().startswith(b"\x89PNG"))

    def test_times_stand_over_the_panels(self) -> None:
        self.draws(self.folder, "--out", "a.svg", "--panels", "4", "--plane", "yz", "--half", "3")
        text = (self.folder / "a.svg").read_text()
        self.assertIn("<svg", text)
        for time in ("0.00", "0.50", "1.00", "1.50"):
            self.assertIn(f"t = {time}", text)
        self.assertNotIn("t = 0.25", text)

    def test_the_same_bytes_in_every_run(self) -> None:
        for suffix in ("svg", "png"):
            with self.subTest(suffix=suffix):
                for name in ("a", "b"):
                    self.draws(self.folder, "--out", f"{name}.{suffix}")
                self.assertEqual((self.folder / f"a.{suffix}").read_bytes(),
                                 (self.folder / f"b.{suffix}").read_bytes())

    def test_a_film_has_a_picture_for_each_snapshot(self) -> None:
        self.draws(self.folder, "--animate", "film.gif", "--rate", "5")
        data = (self.folder / "film.gif").read_bytes()
        self.assertTrue(data.startswith(b"GIF89a"))
        self.assertEqual(7, data.count(b"\x21\xf9\x04"), "a graphic control block for each picture")

    def test_csv_one_body_and_one_snapshot(self) -> None:
        for file in self.folder.iterdir():
            file.unlink()
        self.write(0, [(0, 0, 0, 1)], "csv", parts=2)
        self.assertEqual("wrote panels.png", self.draws(self.folder))

    def test_bodies_at_infinity(self) -> None:
        for step in range(7):
            self.write(step, bodies(3) + [(float("nan"), float("inf"), 0.0, 1.0)])
        self.assertEqual("wrote panels.png", self.draws(self.folder))

    def test_a_damaged_one_is_named(self) -> None:
        file = self.write(3, bodies(9))
        file.write_bytes(file.read_bytes()[:-4])
        self.refuses(f"{file.name}: 9 bodies are announced", self.folder, "--panels", "7")
        self.refuses(f"{file.name}: 9 bodies are announced", self.folder, "--animate", "a.gif")


class NoMatplotlib(Folder):
    def test_says_how_to_get_it(self) -> None:
        self.write(0, bodies(3))
        launch = ("import runpy, sys\n"
                  f"sys.path.insert(0, {str(ROOT / 'common' / 'python')!r})\n"
                  "from course import machine\n"
                  "machine.probe_matplotlib = lambda: machine.Item('matplotlib', None)\n"
                  f"sys.argv = ['draw', {str(self.folder)!r}]\n"
                  f"runpy.run_path({str(PROGRAM)!r}, run_name='__main__')\n")
        done = subprocess.run([sys.executable, "-B", "-c", launch], text=True, capture_output=True,
                              check=False, cwd=self.folder)
        self.assertEqual((3, ""), (done.returncode, done.stdout))
        self.assertIn("no pictures without matplotlib", done.stderr)
        self.assertEqual(1, done.stderr.count("\n"))


if __name__ == "__main__":
    unittest.main()
