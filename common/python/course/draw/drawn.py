"""What lessons show of real runs: `draw` markers, the requests that they name, and their pictures.

    <!-- draw: 05_shared_tile.cu:23 06_padded.cu:23 shared load warp=0 -->
    ![...](results/drawn/....svg)        (written, with the picture itself)

    FILE:LINE     the accesses of a line; several of them stand side by side
    words         load, store or atomic; shared or global: which access of the line
    of=NAME       where a line has several loads: that of this memory
    by=VERSION    where the line is in a header: the version that is run
    warp=0 request=1      which of them (of block 0); request=1-8 with view=lanes or view=banks
    unit=1        the lanes of this wavefront or sector in orange
    view=request  (default), lanes: who takes part; banks: where words lie; block: all its warps
    quiet=1       without the cost, for readers who do not know sectors yet
    study=NAME    of the chapter (default: sequence); run=2: at this value of its axis

The requests come from the CPU backend and stand in results/drawn/requests.json, with a hash of the
code that made them. `docs/lessons --trace` runs the programs and writes it.
"""
from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence

from .. import code
from ..pages import LessonError, Page
from . import recount, svg, trace
from .page import place_names
from .svg import Figure

FOLDER = "results/drawn"
IMAGE = re.compile(r"[ \t]*\n!\[[^\]]*\]\([^)\s]*\)")
OPTIONS = {"of", "by", "warp", "request", "unit", "view", "study", "run", "quiet"}
KINDS = {"load", "store", "atomic", "shared", "global"}


class Wanted(NamedTuple):
    """A marker's words."""
    places: List[str]  # FILE:LINE
    kinds: List[str]
    options: Dict[str, str]

    def program(self, place: str) -> str:
        """The file of the version that makes a place's requests."""
        by = self.options.get("by")
        return f"{by}.cu" if by else place.partition(":")[0]

    def files(self) -> List[str]:
        """All files whose code the requests depend on."""
        return list(dict.fromkeys(file for place in self.places
                                  for file in (place.partition(":")[0], self.program(place))))

    def number(self, name: str, otherwise: int) -> int:
        text = self.options.get(name, str(otherwise)).split("-")[0]
        if not text.isdigit():
            raise LessonError(f"draw: {name}={text} is no number")
        return int(text)


def parse(words: str) -> Wanted:
    places, kinds, options = [], [], {}
    for word in words.split():
        name, equals, value = word.partition("=")
        if equals and name in OPTIONS:
            options[name] = value
        elif word in KINDS:
            kinds.append(word)
        elif re.fullmatch(r"[\w./-]+\.cuh?(:\d+)?", word):
            places.append(word)
        else:
            raise LessonError(f"draw: '{word}' is neither FILE.cu:LINE nor one of "
                              f"{', '.join(sorted(KINDS))} nor an option")
    if not places:
        raise LessonError("write 'draw: FILE.cu:LINE', and what of that line")
    if options.get("view", "request") not in svg.VIEWS:
        raise LessonError(f"draw: view={options['view']}: there are {', '.join(svg.VIEWS)}")
    return Wanted(places, kinds, options)


def slug(words: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"\.cuh?\b", "", words.lower())).strip("-")


# ---- From a trace to a figure ----

def of_file(records: Sequence[trace.Record], file: str, wanted: Wanted) -> List[trace.Record]:
    """The kernels with counted lines in a file, of the run that the marker names."""
    run, by = wanted.options.get("run"), wanted.options.get("by")
    return [record for record in records
            if any(row["file"].endswith("/" + file) for row in record["lines"])
            and (run is None or record["label"].split(" ")[-1] == run)
            and (by is None or record["label"].split(" ")[0] == by)]


def counted_in(records: Sequence[trace.Record], file: str) -> str:
    """The accesses of a file that a marker may name."""
    rows = {f"{row['line']} {row['space']} {row['access']}" for record in records
            for row in record["lines"] if row["file"].endswith("/" + file)}
    return ", ".join(sorted(rows)) or "none"


def matches(record: trace.Record, number: int, file: str, line: int, wanted: Wanted,
            names: Sequence[str]) -> bool:
    row = record["lines"][record["places"][number]["row"]]
    return (row["file"].endswith("/" + file) and row["line"] == line
            and all(kind in (row["space"], row["access"]) for kind in wanted.kinds)
            and wanted.options.get("of", names[number]) == names[number])


def named(record: trace.Record) -> Dict[str, Any]:
    """The names of a kernel's memories, and what each place touches."""
    text = trace.source_code(record)
    names = trace.name_memories(record, text)
    shared = trace.name_shared(record["sample"][0]["shared"], text)
    return {"memories": names, "shared": shared, "places": place_names(record, names, shared)}


def request_figure(record: trace.Record, place: str, wanted: Wanted) -> Optional[Figure]:
    """The requests that a marker names, or None if this kernel has none."""
    file, _, line = place.partition(":")
    known = named(record)
    warp = wanted.number("warp", 0)
    warps = record["sample"][0]["warps"]
    for number, counted in enumerate(record["places"]):
        if not line or not matches(record, number, file, int(line), wanted, known["places"]):
            continue
        done = [item for item in warps[warp] if item[0] == "request" and item[1] == number] if (
            warp < len(warps)) else []
        first = wanted.number("request", 1)
        last = int(wanted.options.get("request", "1").split("-")[-1])
        if len(done) < last:
            raise LessonError(f"{place}: warp {warp} has {len(done)} such requests, not {last}")
        memory = done[first - 1][6]
        return {"row": record["lines"][counted["row"]], "turns": counted["turns"],
                "name": known["places"][number], "memory": memory, "window": record["window"],
                "names": [list(n) for n in known["memories"][memory]] if memory >= 0 else [],
                "shared": known["shared"], "warp": warp, "first": first, "line": int(line),
                "items": [["request", 0, *item[2:]] for item in done[first - 1:last]]}
    return None


def block_figure(record: trace.Record) -> Figure:
    """Each warp of the first block: between barriers, requests as [space, units, ideal, lanes]."""
    warps = []
    for items in record["sample"][0]["warps"]:
        phases: List[List[Any]] = [[]]
        for item in items:
            if item[0] == "barrier":
                phases.append([])
            elif item[0] == "request":
                row = record["lines"][record["places"][item[1]]["row"]]
                phases[-1].append([row["space"], item[4], item[5], bin(item[2]).count("1")])
        warps.append(phases)
    return {"warps": warps, "row": record["lines"][0], "line": 0}


def figures_of(records: Sequence[trace.Record], words: str) -> List[Figure]:
    """What a marker shows, from the trace of the run that it names."""
    wanted = parse(words)
    view, found = wanted.options.get("view", "request"), []
    for place in wanted.places:
        file = place.partition(":")[0]
        for record in of_file(records, file, wanted):
            figure = block_figure(record) if view == "block" else request_figure(record, place,
                                                                                wanted)
            if figure:
                figure = {"view": view, "file": file, "unit": wanted.number("unit", 0),
                          **({"quiet": True} if wanted.number("quiet", 0) else {}),
                          **({"by": wanted.options["by"]} if "by" in wanted.options else {}),
                          **figure}
                figure["row"] = {key: figure["row"][key] for key in ("space", "access")}
                found.append(figure)
                break
        else:
            what = " ".join([*wanted.kinds, "access"])
            raise LessonError(f"{place}: the CPU backend counted no {what} there; in {file} it "
                              f"counted {counted_in(records, file)}")
    return found


# ---- What is kept ----

def store(page: Page) -> Path:
    return page.path.parent / FOLDER / "requests.json"


def markers(page: Page) -> List[str]:
    return [" ".join(marker.words.split()) for marker in page.markers if marker.kind == "draw"]


def read(page: Page) -> Dict[str, Any]:
    path = store(page)
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def hash_of(page: Page, file: str) -> str:
    path = page.path.parent / file
    if not path.is_file():
        raise LessonError(f"no such file: {file}")
    return code.hash_of(path, page.path.parent)


def block_text(page: Page, words: str, kept: Dict[str, Any]) -> str:
    """The image's line of Markdown."""
    name = slug(words)
    figures = kept[words]["figures"]
    lines = [f"line {f['line']} of {f['file']}" if f["line"] else f["file"] for f in figures]
    return f"\n![{', '.join(lines)}]({FOLDER}/{name}.svg)"


def image(page: Page, words: str) -> str:
    """The Markdown below a marker; a LessonError if its requests are missing or of older code."""
    words = " ".join(words.split())
    wanted, kept = parse(words), read(page)
    if words not in kept:
        raise LessonError(f"nothing was traced for 'draw: {words}'; docs/lessons --trace does it")
    for file in wanted.files():
        if kept[words]["code"].get(file) != hash_of(page, file):
            raise LessonError(f"'draw: {words}' shows older code of {file}; docs/lessons --trace "
                              "runs it again")
    return block_text(page, words, kept)


def pictures(page: Page) -> Dict[Path, str]:
    """The SVG files that belong to a page, and their text."""
    kept = read(page)
    return {page.path.parent / FOLDER / f"{slug(words)}.svg": svg.draw(kept[words]["figures"])
            for words in markers(page) if words in kept}


Run = Callable[[Page, str, str, Path], None]  # page, file, study, where the trace goes


def traced(page: Page, run: Run) -> Dict[str, Any]:
    """All that a page's markers show, from fresh runs."""
    runs: Dict[Any, List[trace.Record]] = {}
    kept: Dict[str, Any] = {}
    for words in markers(page):
        wanted = parse(words)
        figures = []
        for place in wanted.places:
            key = (wanted.program(place), wanted.options.get("study", "sequence"))
            if key not in runs:
                with tempfile.TemporaryDirectory() as folder:
                    path = Path(folder) / "trace.jsonl"
                    run(page, key[0], key[1], path)
                    runs[key] = trace.read(path)
                for record in runs[key]:
                    recount.check(record)
            one = " ".join([place, *wanted.kinds, *(f"{k}={v}" for k, v in wanted.options.items())])
            figures += figures_of(runs[key], one)
        kept[words] = {"code": {file: hash_of(page, file) for file in wanted.files()},
                       "figures": figures}
    return kept


def keep(page: Page, run: Run) -> None:
    """Writes the requests that a page's markers show; a page without markers keeps none."""
    kept, path = traced(page, run), store(page)
    if not kept:
        return
    named = {f"{slug(words)}.svg" for words in kept}
    for old in path.parent.glob("*.svg"):
        if old.name not in named:
            old.unlink()  # of a marker that is gone
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{json.dumps(words)}: {json.dumps(what, separators=(',', ':'))}"
             for words, what in kept.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
