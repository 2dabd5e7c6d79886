"""Command lines of the scripts: wrong usage is one line, as every other problem."""

from __future__ import annotations

import argparse
from typing import NoReturn

from . import Problem


class Parser(argparse.ArgumentParser):
    """--help shows the usage; a mistake is named in one line that points to --help."""

    def __init__(self, prog: str, description: str) -> None:
        super().__init__(prog=prog, description=description, allow_abbrev=False,
                         formatter_class=argparse.RawDescriptionHelpFormatter)

    def error(self, message: str) -> NoReturn:
        raise Problem(f"{message} (see {self.prog} --help)", 2)
