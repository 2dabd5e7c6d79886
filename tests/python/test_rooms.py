"""The rooms of common/ include each other one way, as the table of common/README.md lists them."""

import re
import unittest
from pathlib import Path

COMMON = Path(__file__).resolve().parents[2] / "common"
ASKED_BY_ALL = {"simt"}


class Rooms(unittest.TestCase):
    def setUp(self):
        page = (COMMON / "README.md").read_text(encoding="utf-8")
        self.rooms = [name.rstrip("/") for name in re.findall(r"^[|] `([^`]+)/` [|]", page, re.M)]

    def test_every_room_is_listed(self):
        folders = {file.name for file in COMMON.iterdir() if file.is_dir()} - {"__pycache__"}
        self.assertEqual(folders, {room.split("/")[0] for room in self.rooms})

    def test_one_way(self):
        seen = 0
        for room in self.rooms:
            if room in ASKED_BY_ALL:
                continue
            for file in sorted((COMMON / room).glob("*.[hc]*")):
                names = re.findall(r'#include "(\w+)/', file.read_text(encoding="utf-8"))
                for name in set(names) - ASKED_BY_ALL:
                    seen += 1
                    self.assertLessEqual(self.rooms.index(name), self.rooms.index(room),
                                         f"{file.relative_to(COMMON)} includes {name}/")
        self.assertGreater(seen, 50)


if __name__ == "__main__":
    unittest.main()
