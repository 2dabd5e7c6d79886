"""Generated blocks of the Markdown pages: tables and numbers from result files, code from sources.

`docs/lessons --update` writes them, `docs/lessons --check` finds those that are out of date.
Markers in fenced or indented code and in `code spans` are left alone; so do not indent a marker.

A table
    <!-- results: STUDY columns=time,rate only=01-07,90 size=n:2^28 file=results/h200.json -->
    (written: the table, and a line with GPU, date and commit)
    <!-- /results -->

    file=     the result file, relative to the page (default: results/h200.json, else h100.json)
    only=     versions: numbers, ranges of numbers, or whole names (default: all)
    size=     keeps the rows with these sizes: `n:2^28`, several as `rows:8192,cols:8192`
    columns=  fields: title, size, time, rate, of_limit, x_previous, check, registers, bytes,
              blocks_per_sm, fit_t0 and fit_bw (t = t0 + bytes / BW over all sizes),
              ratio:OTHER (this rate over that of the version OTHER)
              (default: time,rate,of_limit,x_previous,check)

  A study with an axis (a sweep) gives one line a value of the axis and, for every version, one
  column a field (default: columns=rate). There, columns= may also name versions:
    columns=03,06,90                   the rates of three versions
    columns=06.rate,06.ratio:90        one version's rate, and that over the library's
    at=2^10,2^20,2^28                  these values of the axis only
  With size= fixing the axis, it gives one line a version, like any other study.
  by=size gives one line a size, however many dimensions differ, and the columns of a sweep:
    <!-- results: shapes by=size columns=10.rate,10.ratio:90 -->

A number in a sentence (FIELD as above; size= where the version has several rows)
    <!-- value: STUDY VERSION FIELD [size=stride:4] [file=...] -->4375 GB/s<!-- /value -->

What limits each version (figures of Nsight Compute, which common/profile records)
    <!-- limiters: columns=dram,issue,lanes only=01-03 file=results/h200-limiters.csv -->
    (written: the table, and a line with GPU, date and commit)
    <!-- /limiters -->
  and one of its numbers in a sentence
    <!-- limiter: VERSION FIELD [size=...] [file=...] -->78 %<!-- /limiter -->

    file=     the CSV file, relative to the page (default: results/h200-limiters.csv, else h100-)
    size=     as above: the rows of one size, where the file has several
    columns=  dram, l2, sm, tensor, fma, data (% of what each could do; data: wavefronts of shared
              memory and L1), issue (% of the issue slots used), warps (% of the warps that fit),
              lanes (active of 32), shared_wavefronts, atomic_wavefronts (for each request to
              shared memory: 1 without conflicts, 4 if every lane moves 16 bytes), stall (the
              largest share of a warp's time: memory, barrier, shared, tensor, instructions or
              other), stall_memory, stall_barrier, stall_shared, stall_tensor,
              stall_instructions, stall_other (one share), time, dram_read, dram_written,
              warp_instructions, launches, time_share (of the longest launch, which is shown)
              (default: dram,issue,lanes,shared_wavefronts,stall)

Any CSV file whose first line is a comment that says where its figures come from
    <!-- table: results/FILE.csv columns=version,total only=01-07 -->
    (written: the table, its cells as they stand in the file, and the comment)
    <!-- /table -->

    columns=  names of the file's first line after the comment (default: all)
    only=     rows by what stands in the first column: numbers, ranges of numbers, or whole names

All recorded chapters, a line each, for the front page
    <!-- chapters: -->
    (written: of each chapter's study `sequence` the first version, with its size where that is
    another one, the version with the highest rate, its share of the limit and the fastest library;
    and a line with GPU and date)
    <!-- /chapters -->

A page whose figures are still to be recorded
    <!-- unrecorded -->
  Its blocks whose file does not exist yet say "not recorded yet"; without the marker they are
  errors. Once all files are there, the marker is an error.

Figures and their code
  Each recorded row holds a hash of the file that it is written in (comments and layout apart).
  Where that file is another one now, the line below a table says "not of the present code", and
  --check and --update list the files whose figures are older than their code.

A listing (the fenced block after the marker is written, FILE is relative to the page)
    <!-- snippet: FILE SYMBOL [body] -->
  SYMBOL is a tag, a function or struct, or `all`. A tag is a region of FILE between the lines
  `// snippet: TAG` and `// /snippet`. A function goes from its first line (template<> included,
  comments above not) to its closing brace; with `body`, only what stands between the braces.

A picture of a request of a real run, on the CPU backend (the line after the marker is written)
    <!-- draw: 05_shared_tile.cu:23 06_padded.cu:23 shared load warp=0 -->
  What may stand there: course/draw/drawn.py. `docs/lessons --trace PAGE` runs the programs and
  keeps their requests in results/drawn/; --update writes the pictures, --check compares them.

A page of all requests of some versions, which the site shows inside the lesson
    <!-- page: 05_shared_tile 06_padded 07_swizzled -->
  See course/draw/embedded.py. Traced and checked like the pictures; docs/build makes the page.

What an act teaches and needs
    <!-- teaches: grid, block -->  <!-- needs: pointer -->
  Through chapters/*/README.md in order, a need must be taught further up or in an earlier chapter.
  What a chapter's more.md needs is taught in the lessons up to that chapter, or in more.md itself.
"""
from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Dict, List, Sequence, Tuple

from . import Problem, results
from .blocks import older_code, rewrite
from .draw import drawn, embedded, tracing
from .pages import UNRECORDED, LessonError, Page, concepts
from .results import ResultError


# What is taught before what

def check_order(pages: Sequence[Page]) -> List[str]:
    """Needs that are taught later or never; `pages` are the chapters' lessons in order."""
    taught: Dict[str, Tuple[int, str]] = {}
    needs: List[Tuple[int, str, str]] = []
    marked = [(page, marker) for page in pages for marker in page.markers]
    for position, (page, marker) in enumerate(marked):
        for concept in concepts(marker.words):
            if marker.kind == "teaches":
                taught.setdefault(concept, (position, page.place(marker)))
            elif marker.kind == "needs":
                needs.append((position, page.place(marker), concept))
    errors = []
    for position, place, concept in needs:
        if concept not in taught:
            errors.append(f"{place}: needs '{concept}', which no lesson teaches")
        elif taught[concept][0] > position:
            errors.append(f"{place}: needs '{concept}', which is taught later "
                          f"({taught[concept][1]})")
    return errors


def check_lessons(root: Path) -> List[str]:
    """What is wrong with the order of the lessons."""
    lessons = [Page(path, root) for path in sorted(root.glob("chapters/[0-9]*/README.md"))]
    errors = check_order(lessons)
    for number, lesson in enumerate(lessons, 1):
        path = lesson.path.with_name("more.md")
        if path.exists():
            more = Page(path, root)
            errors += [line for line in check_order(lessons[:number] + [more])
                       if line.startswith(f"{more.name}:")]
    return errors


def stale_pictures(page: Page, only_check: bool) -> List[str]:
    """Pictures of a page that are not what its requests make; written, unless `only_check`."""
    stale = []
    for path, text in drawn.pictures(page).items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(f"{page.name}: {path.name} is out of date (docs/lessons --update draws it)")
        if not only_check:
            path.write_text(text, encoding="utf-8")
            print(f"drawn: {path.name}")
    return stale


def main(arguments: Sequence[str], root: Path) -> int:
    parser = argparse.ArgumentParser(prog="docs/lessons", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--update", action="store_true", help="write the blocks")
    action.add_argument("--trace", action="store_true",
                        help="run what draw markers name, on the CPU backend; then --update")
    action.add_argument("--check", action="store_true", help="exit 1 where a block is out of date")
    parser.add_argument("pages", nargs="*", type=Path, metavar="PAGE",
                        help="default: all lessons, docs/*.md and README.md")
    options = parser.parse_args(arguments)
    root = root.resolve()
    lessons = sorted(path for name in ("README.md", "more.md")
                     for path in root.glob(f"chapters/[0-9]*/{name}"))
    front = [path for path in [root / "README.md"] if path.exists()]
    try:
        pages = [Page(path, root) for path in options.pages or
                 lessons + sorted(root.glob("docs/*.md")) + front]
    except (OSError, UnicodeDecodeError) as error:
        print(f"docs/lessons: {error}", file=sys.stderr)
        return 2
    names = {page.name for page in pages}
    problems = [line for line in check_lessons(root) if line.split(":")[0] in names]
    for page in pages if options.trace else ():
        try:
            drawn.keep(page, tracing.run)
            embedded.keep(page, tracing.run_versions)
        except (LessonError, Problem) as error:
            print(f"{page.name}: {error}", file=sys.stderr)
            return 1
    for page in pages:
        text, stale, errors = rewrite(page, root)
        stale += stale_pictures(page, options.check)
        problems += errors + (stale if options.check else [])
        if (options.update or options.trace) and text != page.text:
            page.path.write_text(text, encoding="utf-8")
            print(f"written: {page.name}")
    for line in problems:
        print(line, file=sys.stderr)
    for path in sorted({*root.glob("chapters/*/results/*.json"),
                        *root.glob("tests/*/results/*.json")}):
        try:
            changed = older_code(results.load(path), path, root)
        except ResultError:
            continue  # the blocks that use it say so
        if changed:
            print(f"older than their code: {path.relative_to(root)}: "
                  + ", ".join(f"{name} {why}" for name, why in changed.items()))
    waiting = [page.name for page in pages if UNRECORDED in page.text]
    if waiting:
        print(f"not recorded yet: {', '.join(waiting)}")
    print(f"{len(pages)} pages, {len(problems)} problems")
    return 1 if problems else 0
