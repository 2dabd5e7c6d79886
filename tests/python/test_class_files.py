"""Which files of a class count, what they are called, and files with values that nobody expects."""
import copy
import csv
import io
import json
import os
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from classes import exercise, machine, model, on_cpu, row_of, settle  # noqa: E402
from test_class import Class  # noqa: E402
from test_plots import needs_matplotlib  # noqa: E402
from course import as_cell, class_files, class_table, one_line  # noqa: E402
from course.results import ResultError  # noqa: E402

HOSTILE = [None, True, -1, 0, 5e-324, 1e308, 10**400, 2.5, "", "x", "=1+1", "\x1b[2J\n", "\ud800",
           "x" * 400, "<script>", "../../evil", "$x$", [], [{}], [1, "noisy"], {}, {"a": {"b": []}}]


def small(data, *versions):
    """Of a file's rows these alone: few values, so that each can be replaced."""
    data = copy.deepcopy(data)
    data["results"] = [row for row in data["results"] if row["version"] in versions][:2]
    for row in data["results"]:
        row["seconds"] = row["seconds"][:9]
    return data


def places_in(value, path=()):
    """The places of all values of a file, of a list the first."""
    yield path
    inner = value.items() if isinstance(value, dict) else (
        [(0, value[0])] if isinstance(value, list) and value else ())
    for key, each in inner:
        yield from places_in(each, path + (key,))


class Hostile(Class):
    """Each value of a file in turn is another one: the file is read or named, never a traceback."""

    def everything(self, data):
        folder = self.folder / "class"
        folder.mkdir(exist_ok=True)
        (folder / "hostile.json").write_text(json.dumps(data), encoding="utf-8")
        try:
            gathered = class_files.gather([folder])
        except ResultError as error:
            return [str(error)]
        said = [*gathered.bad]
        for options in ({}, {"markdown": True}, {"anonymous": True}):
            table = class_table.ClassTable(gathered, **options)
            said += [table.text(), table.csv()]
        return said

    def replaced_everywhere(self, data):
        count = 0
        for path in places_in(data):
            for value in HOSTILE if path else ():
                changed = copy.deepcopy(data)
                place = changed
                for key in path[:-1]:
                    place = place[key]
                place[path[-1]] = value
                with self.subTest(path=path, value=str(value)[:20]):
                    said = self.everything(changed)
                    self.assertTrue(said)
                    for text in said:
                        self.assertNotIn("\x1b", text)
                        text.encode("utf-8")
                count += 1
        self.assertGreater(count, 500)

    def test_a_file_of_a_gpu(self):
        self.replaced_everywhere(small(machine("ada"), "01_one_thread", "80_limit"))

    def test_a_file_of_the_cpu_backend(self):
        data = small(on_cpu("ada"), "05_shared_tile", "06_padded")
        data["results"][0]["findings"] = [{"kind": "race", "text": "x"}]
        self.replaced_everywhere(data)

    def test_a_file_of_an_exercise(self):
        self.replaced_everywhere(exercise("ada", reason="slow"))

    def test_one_bad_file_hides_nobody(self):
        good, bad = machine("ada"), machine("eve")
        bad["results"][0]["flags"] = [{}]
        gathered = class_files.gather([self.put(good, bad)])
        self.assertEqual([entry.name for entry in gathered.sections[0].entries], ["ada"])
        self.assertRegex(gathered.bad[0], r"001\.json: results\[0\]: 'flags' is not a text")

    def test_markdown_takes_nothing_for_html(self):
        text = self.table(machine("<script>[x](http://y)"), markdown=True).text()
        self.assertNotIn("<script>", text)
        self.assertIn("&lt;script&gt;\\[x]", text)

    def test_no_formulas(self):
        self.assertEqual(as_cell("=1+1"), "'=1+1")
        for label in ("=HYPERLINK(\"http://x\")", "+1+1", "@SUM(A1)", "-1"):
            for data in (machine(label), on_cpu(label), exercise(label)):
                cells = [cell for row in csv.reader(io.StringIO(self.table(data).csv()))
                         for cell in row]
                self.assertIn("'" + label, cells)
                self.assertNotIn(label, cells)

    def test_one_line(self):
        for text, wanted in (("a b", "a b"), (" a\n\tb ", "a b"), ("\x1b[2Jx", "[2Jx"),
                             ("a  b", "a b"), ("\u202eabc", "abc"), ("\ud800", "")):
            self.assertEqual(one_line(text), wanted)

    @needs_matplotlib
    def test_the_picture_cuts_names(self):
        for name in ("v" * 300, "\ud800\u0416 $x_{y$ <b>"):
            data = machine("ada")
            row_of(data, "80_limit")["version"] = name
            data["gpu"]["name"] = name
            self.put(data)
            done = self.run_plot("--class", "class", "--svg", "c.svg")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertLess((self.folder / "c.svg").stat().st_size, 200_000)

    def test_a_chapter_is_no_path(self):
        for name in ("../../evil", "", "a b", "*"):
            data = machine("ada")
            data["chapter"] = name
            gathered = class_files.gather([self.put(data)])
            self.assertIn("which no chapter can be called", gathered.bad[0])


class WhichFile(Class):
    def shown(self, *datas, **options):
        rows = csv.DictReader(io.StringIO(self.table(*datas, **options).csv()))
        return {row["student"]: (row["study"], row["best"]) for row in rows}

    @staticmethod
    def part(data, date, study=None, versions=()):
        """A later or earlier run of one study, or of a few versions."""
        data["date"] = date
        data["results"] = [row for row in data["results"] if row["study"] == (study or "sequence")
                           and (not versions or row["version"] in versions)]
        data["studies"] = [each for each in data["studies"] if each["name"] == (
            study or "sequence")]
        return data

    def test_the_study_of_most_files_is_shown(self):
        odd = self.part(machine("odd"), "2026-01-01", "size")
        found = self.shown(odd, machine("ada"), machine("bob"))
        self.assertEqual(found["ada"], ("sequence", "80_limit"))
        self.assertEqual({study for study, _ in found.values()}, {"sequence"})

    def test_a_later_run_of_another_study_hides_nothing(self):
        later = self.part(machine("bob", seed=1), "2026-11-24", "size")
        found = self.shown(machine("bob"), later, machine("ada"))
        self.assertEqual(found["bob"], ("sequence", "80_limit"))
        found = self.shown(machine("bob"), later, machine("ada"), study="size")
        self.assertEqual(found["bob"][0], "size")
        table = self.table(machine("bob"), later, machine("ada"))
        self.assertNotIn("not shown", table.text())

    def test_a_later_run_of_one_version_hides_nothing(self):
        later = self.part(machine("bob", seed=1), "2026-11-24", versions=("03_grid_stride",))
        table = self.table(machine("bob"), later)
        self.assertIn("80_limit", table.csv())
        self.assertIn("not shown: bob (1)", " ".join(table.text().split()))

    def test_a_later_whole_run_counts(self):
        later = self.part(machine("bob", seed=1, slower=1.5), "2026-11-24")
        row = next(csv.DictReader(io.StringIO(self.table(machine("bob"), later).csv())))
        self.assertLess(float(row["of_limit"]), 0.75)

    def test_a_later_exercise_counts_though_nothing_was_timed(self):
        old, new = exercise("bob"), exercise("bob", "not yet", reason="does not compile")
        new.update(date="2026-11-24T00:00:00Z", results=[])
        self.assertRegex(self.table(old, new).text(), r"(?m)^ *- +bob +not yet")

    def test_a_date_in_the_future_is_said_and_does_not_win(self):
        odd = machine("bob", seed=1, slower=1.5)
        odd["date"] = "2999-01-01T00:00:00Z"
        row = next(csv.DictReader(io.StringIO(self.table(odd, machine("bob")).csv())))
        self.assertGreater(float(row["of_limit"]), 0.9)
        self.assertIn("date: dated in the future", self.remarked(odd)["bob"])
        odd["date"] = "zzz"
        gathered = class_files.gather([self.put(odd, machine("ada"))])
        self.assertIn("'date' is 'zzz', not a date", gathered.bad[0])

    def test_files_of_one_folder_are_several_students(self):
        for name in ("class/mon/x1.json", "class/mon/x2.json", "class/tue/x1.json"):
            self.write(machine(None), name)
        table = class_table.ClassTable(class_files.gather([self.folder / "class"]))
        names = {row["student"] for row in csv.DictReader(io.StringIO(table.csv()))}
        self.assertEqual(names, {"mon/x1", "mon/x2", "tue"})

    def test_names_in_capitals_and_what_is_no_file(self):
        self.write(machine("bob"), "class/BOB.JSON")
        os.mkfifo(self.folder / "class" / "pipe.json")
        gathered = class_files.gather([self.folder / "class"])
        self.assertEqual(gathered.read, 1)
        self.assertRegex(gathered.bad[0], r"pipe\.json: not a file")

    @unittest.skipIf(os.geteuid() == 0, "root reads everything")
    def test_a_folder_that_cannot_be_opened_is_named(self):
        folder = self.put(machine("ada"))
        (folder / "shut").mkdir()
        (folder / "shut").chmod(0)
        self.addCleanup((folder / "shut").chmod, 0o700)
        self.assertRegex(class_files.gather([folder]).bad[0], "shut: Permission denied")


class Cheats(Class):
    """Ways round the remarks."""

    def test_a_limit_under_another_name(self):
        data = machine("cheat", slower=1.6)
        for row in data["results"]:
            row["limit"].update(name="my memory", value=0.6 * row["limit"]["value"])
            row["of_limit"] = row["of_limit"] and row["of_limit"] / 0.6
        self.expect("limit: .*name: a limit of another name", data)
        row = next(csv.DictReader(io.StringIO(self.table(data).csv())))
        self.assertLess(float(row["of_limit"]), 0.7)

    def test_the_caches_size_does_not_switch_the_pins_off(self):
        for key, value in ((None, None), ("l2", None), ("l2", "resident"), ("l2_bytes", None),
                           ("l2_bytes", 10**13)):
            with self.subTest(key=key, value=value):
                data = machine("cheat", gpu=3)
                for row in data["results"]:
                    for name in ("seconds", "instantiations_s"):
                        row[name] = [second / 2 for second in row[name]]
                    if key == "l2":
                        row["l2"] = value
                if key == "l2_bytes":
                    data["gpu"]["l2_bytes"] = value
                self.expect("pins: ", settle(data))

    def test_other_bytes_at_a_size_that_the_record_lacks(self):
        for size, bytes_, remark in ((2**28 + 1, 1.5, "work: .*80_limit"),
                                     (2**28 + 1, 1.0, "^size: [^;]*80_limit[^;]*$")):
            data = machine("cheat")
            row = row_of(data, "80_limit")
            row["size"] = {"n": size}
            row["bytes"] = int(12 * size * bytes_)
            row["rate"]["value"] = row["bytes"] / row["median_s"] / 1e9
            row["of_limit"] = row["rate"]["value"] / row["limit"]["value"]
            found = self.remarked(data, machine("ada"))
            self.assertRegex(found["cheat"], remark)
            self.assertEqual(found["ada"], "")

    def test_rows_without_a_hash_and_versions_of_ones_own(self):
        data = machine("cheat")
        row_of(data, "80_limit")["code"] = None
        self.expect("sources: rows that do not say .*80_limit", data)
        data = machine("cheat")
        row_of(data, "80_limit").update(version="99_mine", file=None, code=None)
        self.expect("sources: versions that the course does not have .*99_mine", data)
        data = machine("cheat")
        other = row_of(data, "06_vectors")
        row_of(data, "80_limit").update(file=other["file"], code=other["code"])
        self.expect("sources: other sources .*80_limit", data)

    def test_one_versions_samples_for_another(self):
        data = machine("cheat")
        row_of(data, "06_vectors").update(
            {key: row_of(data, "80_limit")[key] for key in ("seconds", "instantiations_s")})
        self.expect("twins: the same samples in several versions .*06_vectors", settle(data))

    def test_equal_and_few_samples(self):
        data = machine("cheat")
        row = row_of(data, "80_limit")
        row["seconds"] = [row["median_s"]] * 25
        self.expect("equal: .*80_limit", settle(data))
        row["seconds"] = [row["median_s"], 1.01 * row["median_s"]]
        self.expect("few: .*80_limit", settle(data))


    def test_a_small_size_does_not_switch_the_pins_off(self):
        data = machine("cheat")
        for row in data["results"]:
            if row["study"] == "sequence":
                row.update(size={"n": 2**22}, bytes=12 * 2**22)
                row["seconds"] = [value / 64 / 3 for value in row["seconds"]]
                row["rate"]["value"] *= 3
                row["median_s"] = row["bytes"] / row["rate"]["value"] / 1e9
                row["instantiations_s"] = []
        self.expect("pins: .*size: ", settle(data))

    def test_data_that_stayed_in_the_cache_say_so_and_are_not_above_the_pins(self):
        data = machine("cheat")
        row = row_of(data, "80_limit")
        for key in ("seconds", "instantiations_s"):
            row[key] = [value / 2 for value in row[key]]
        row.update(l2="resident", flags=["l2_resident"])
        self.expect("^L2: the data fit in the L2 cache.*80_limit[^;]*$", settle(data))

    def test_a_library_is_no_version(self):
        data = machine("cheat", chapter="07_quicksort")
        row_of(data, "91_cub_radix")["role"] = "version"
        table = self.table(data, machine("ada", chapter="07_quicksort"))
        rows = {row["student"]: row for row in csv.DictReader(io.StringIO(table.csv()))}
        self.assertNotEqual(rows["cheat"]["best"], "91_cub_radix")
        self.assertIn("role: ", rows["cheat"]["remarks"])

    def test_the_limit_of_one_row(self):
        data = machine("cheat", chapter="04_matmul")
        row = row_of(data, "80_limit")
        row["limit"]["value"] *= 0.8
        row["of_limit"] /= 0.8
        found = self.remarked(data, machine("ada", chapter="04_matmul"))
        self.assertRegex(found["cheat"], "machine: .*all lanes busy")

    def test_an_input_that_the_course_does_not_have(self):
        data = machine("cheat")
        row_of(data, "80_limit")["input"] = "mine"
        self.expect("size: another size, type or input .*80_limit", data)


class Sizes(Class):
    """Honest files at other sizes than the record's: their work is their own."""

    def test_three_quarters_of_every_size(self):
        for chapter in ("01_vector_add", "02_reduction", "05_scan", "07_quicksort", "08_async_copy",
                        "10_clusters"):
            data = machine("ada", chapter=chapter)
            for row in data["results"]:
                if row["seconds"] and row["size"].get("n", 0) >= 2**16:
                    row["size"]["n"] = row["size"]["n"] * 3 // 4
                    row["bytes"] = row["bytes"] * 3 // 4
                    row["flops"] = (row["flops"] or 0) * 3 // 4
                    for key in ("seconds", "instantiations_s"):
                        row[key] = [value * 3 / 4 for value in row[key]]
                    row["median_s"] *= 3 / 4
            kinds = {remark.kind for remark in self.table(settle(data)).gathered.sections[
                0].entries[0].remarks}
            self.assertEqual(kinds, set(), chapter)


class Counted(Class):
    def test_csv_has_findings_and_all_rows(self):
        data = on_cpu("ada")
        row_of(data, "05_shared_tile").update(verified=False, skipped="wrong at 3",
                                              findings=[{"kind": "race", "text": "x"}])
        row = next(csv.DictReader(io.StringIO(self.table(data, on_cpu("bob")).csv())))
        count = len(data["results"])
        self.assertEqual((row["right"], row["checked"], row["findings"]),
                         (str(count - 1), str(count), "1 race"))
        self.assertEqual(row["usual_counts"].split("/")[1], str(count))

    def test_a_quarter_of_the_usual_total_is_seen(self):
        files = [on_cpu(name, size={"rows": 96, "cols": 96}) for name in ("ada", "bob", "eve")]
        for access in row_of(files[2], "05_shared_tile")["model"].values():
            if isinstance(access, dict):
                for unit in access:
                    access[unit] //= 4  # as many per request as before
        text = self.table(*files).text()
        count = len(files[0]["results"])
        self.assertRegex(text, rf"eve .* {count - 1}/{count}\n")
        self.assertRegex(text, rf"ada .* {count}/{count}\n")
        self.assertRegex(text, r"eve +05_shared_tile .*\d")

    def test_many_findings_stay_in_80_columns(self):
        data = on_cpu("ada")
        data["results"][0]["findings"] = [{"kind": f"kind {k} of many"} for k in range(9)]
        text = self.table(data, on_cpu("bob")).text()
        self.assertLessEqual(max(map(len, text.split("\n"))), 80)
        self.assertRegex(text, r"1 kind 0 of many.*\.\.")

    def test_who_timed_nothing_stands_with_the_others(self):
        data = machine("early")
        data["results"], data["studies"] = [], data["studies"][:1]
        text = self.table(data, machine("ada"), machine("bob")).text()
        self.assertEqual(text.count("-- NVIDIA H200"), 1)
        self.assertRegex(text, r"(?m)^early +not measured")

    def test_two_sizes_of_a_version_are_told_apart(self):
        data = on_cpu("ada")
        data["results"] += on_cpu("ada", size={"rows": 64, "cols": 64})["results"]
        text = self.table(data).csv() + self.table(data, markdown=True).text()
        self.assertIn("06_padded, 512x512", text)
        self.assertIn("06_padded, 64x64", text)


class Boards(Class):
    def places(self, *datas):
        table = csv.DictReader(io.StringIO(self.table(*datas).csv()))
        return {row["student"]: (row["place"], row["best"]) for row in table}

    def test_who_has_few_samples_has_no_place_and_changes_no_other(self):
        few = exercise("few", ratio=3.0)
        for row in few["results"]:
            row["seconds"] = row["seconds"][:5]
        found = self.places(settle(few), exercise("a", ratio=1.8), exercise("b", ratio=1.5),
                            exercise("c", ratio=1.2))
        self.assertEqual(found, {"few": ("?", "passed"), "a": ("1", "passed"),
                                 "b": ("2", "passed"), "c": ("3", "passed")})

    def test_another_ratio_asked_for(self):
        found = self.places(exercise("cheat", ratio=0.5, asked=0.1), exercise("a"), exercise("b"))
        self.assertEqual(found["cheat"], ("", "see why"))
        self.assertEqual(found["a"], ("1", "passed"))

    def test_passed_without_rows(self):
        for gone in (slice(0, 0), slice(0, 1), slice(1, 2)):  # none, the course's, one's own
            data = exercise("cheat")
            data["results"] = data["results"][gone]
            self.assertEqual(self.places(data, exercise("a"))["cheat"], ("", "see why"))

    def test_passed_on_the_cpu_without_counts(self):
        data = exercise("cheat", counted=model(4, 4))
        for row in data["results"]:
            row["model"] = None
        found = self.places(data, exercise("a", counted=model(4, 4)))
        self.assertEqual(found, {"cheat": ("", "see why"), "a": ("1", "passed")})

    def test_an_exercise_that_no_time_can_judge_is_right(self):
        data = exercise("a", "right")
        data["results"] = []
        self.assertEqual(self.places(data), {"a": ("1", "right")})

    def test_a_slow_version_to_be_compared_with(self):
        data = exercise("cheat", ratio=3.0)
        for row in data["results"]:
            row["seconds"] = [3 * second for second in row["seconds"]]
        text = " ".join(self.table(settle(data), *(exercise(name) for name in "abc")).text().split())
        self.assertRegex(text, r"cheat: 02_one_thread_per_element reaches \d+ % of its limit beside "
                               r"it, in other files \d+ %")

    def test_numbers_follow_the_board_and_not_the_alphabet(self):
        """Everybody has the same counts: the numbers are not in the order of the names, and are
        those of the table."""
        names = [f"s{k:02}" for k in range(20)]
        for datas in ([exercise(name, counted=model(4, 4)) for name in names],
                      [on_cpu(name) for name in names]):
            table = self.table(*datas, anonymous=True)
            rows = list(csv.DictReader(io.StringIO(table.csv())))
            self.assertEqual([row["student"] for row in rows],
                             [f"student {k + 1:02}" for k in range(20)])
            order = sorted(table.names.numbers, key=lambda name: table.names.numbers[name])
            self.assertEqual(sorted(order), names)
            self.assertNotEqual(order, names)

    def test_an_exercise_that_judges_itself_has_no_counts(self):
        datas = []
        for name in "ab":
            data = exercise(name, asked=0, counted=model(4, 4))
            data["exercise"]["compared"] = None
            data["results"] = []
            datas.append(data)
        self.assertEqual(self.places(*datas), {"a": ("1", "passed"), "b": ("1", "passed")})

    def test_nothing_asked_where_others_are_asked(self):
        cheat = exercise("cheat", ratio=0.5, asked=None)
        bare = exercise("bare", asked=None)
        bare["exercise"]["compared"], bare["results"] = None, []
        found = self.places(cheat, bare, exercise("a"), exercise("b"))
        self.assertEqual((found["cheat"], found["bare"]), (("", "see why"),) * 2)

    def test_more_loads_are_no_better_though_each_is_small(self):
        """Many loads of a sector each bring the mean down; the total rises."""
        more = model(4, 4)
        more["global_loads"] = {"requests": 81920, "sectors": 106496}
        found = self.places(exercise("a", counted=model(4, 4)), exercise("more", counted=more))
        self.assertEqual((found["a"][0], found["more"][0]), ("1", "2"))
        nothing = self.places(exercise("a", counted=model(4, 4)), exercise("b", counted=model(0, 0)))
        self.assertEqual(nothing["b"], ("", "see why"))

    def test_lists_follow_the_numbers(self):
        """Remarks name students in the order of the tables, not of their files."""
        names = [f"s{k:02}" for k in range(12)]
        for make in (machine, exercise):
            datas = []
            for k, name in enumerate(names):
                data = make(name)
                data.update(interrupted=True, date=f"2026-11-{k + 1:02}T00:00:00Z")
                datas.append(data)
            text = " ".join(self.table(*datas, anonymous=True).text().split())
            listed = re.search(r"the run was interrupted: (student \d+(, student \d+)*)", text)[1]
            self.assertEqual(listed.split(", "), sorted(listed.split(", ")))

    def test_why_heads_reasons(self):
        text = self.table(exercise("a", "passed", reason="by a hair")).text()
        self.assertIn("Why:", text)
        self.assertNotIn("Not yet", text)


if __name__ == "__main__":
    unittest.main()
