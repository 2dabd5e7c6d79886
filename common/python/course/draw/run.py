"""--draw of chapters/run: a traced run becomes a page in build/results."""
from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Dict, List, Optional

from .. import BUILD, Problem, say, shown
from . import page, recount, trace

REASON = "--draw follows every address, which only the CPU backend sees"


class Drawing:
    """One run: the program writes its requests to a file, finish() makes the page of it."""

    def __init__(self, name: str, label: Optional[str] = None) -> None:
        """name: of the page, '03_transpose' or 'first'."""
        folder = BUILD / "results"
        folder.mkdir(parents=True, exist_ok=True)
        # Goes when the script ends.
        self.temporary = tempfile.TemporaryDirectory(prefix="trace-", dir=str(BUILD))
        self.trace, self.name = Path(self.temporary.name) / "trace.jsonl", name
        date = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        self.page = folder / ("-".join(filter(None, [label, name, "drawn", date])) + ".html")

    def environment(self) -> Dict[str, str]:
        """What the program runs with."""
        return {"SIMT_TRACE": str(self.trace)}

    def finish(self) -> int:
        """Checks the trace and writes the page; says what it drew. \\returns an exit code."""
        records = trace.read(self.trace)
        if not records:
            raise Problem("nothing to draw: no kernel was launched and counted")
        requests = sum(recount.check(record) for record in records)
        text = page.make(records, self.name)
        self.page.write_text(text, encoding="utf-8")
        say(f"Drawn: {summary(records, requests)}\n  {shown(self.page)}")
        return 0


def summary(records: List[trace.Record], requests: int) -> str:
    """'3 kernels, 192 requests, each counted again and equal'"""
    kernels = f"{len(records)} kernel{'s' if len(records) != 1 else ''}"
    return f"{kernels}, {requests} requests, each counted again: equal. Open in a browser:"
