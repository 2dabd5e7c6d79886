"""Writes the rates that a chapter recorded on a GPU as C++, for the tables of the CPU backend.

python3 -m course.recorded RESULT_FILE OUTPUT; common/program/model_table.hpp declares what it defines.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from . import results


def source(result: results.ResultFile) -> str:
    """The definition of course::recorded()."""
    axes = {study.name: result.axis(study) for study in result.studies}
    rates = {}
    for row in result.rows:
        axis = axes[row.study]
        if not row.words:
            rates.setdefault((row.study, row.version, row.size[axis] if axis else 0), row.rate)
    lines = [f'      {{{json.dumps(study)}, {json.dumps(version)}, {value}, {rate!r}}},'
             for (study, version, value), rate in rates.items()]
    head = ", ".join(json.dumps(text) for text in
                     (result.gpu.name, result.date[:10], result.commit or "unknown"))
    return "\n".join(["// Generated from the recorded results.", '#include "program/model_table.hpp"', "",
                      "const course::Record& course::recorded() {",
                      f"  static const Record record = {{{head}, {{", *lines, "  }};",
                      "  return record;", "}", ""])


def main(arguments: list) -> int:
    try:
        text = source(results.load(Path(arguments[0])))
    except results.ResultError as error:
        print(error, file=sys.stderr)
        return 1
    Path(arguments[1]).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
