"""What the site's search looks through: sections of the pages, then names of files and functions.

The result is a script that site.js loads when somebody searches; so it works from a disk, too.
"""
import json
import os
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Dict, List, Tuple

from course.pages import MARKER, concepts
from doxygen_filter import HEADING, classify, headings, page_id, plain

# Rank, where (title, folder), what (heading, name), address, text in small letters, and the terms
# that a section says it teaches.
Entry = Tuple[int, str, str, str, str, List[str]]
COURSE, OTHER_PAGE, SYMBOL = range(3)  # ranks: lessons and docs pages come before all else
MARKUP = re.compile(r"<!--.*?-->|</?[a-z][^>]*>|\]\([^)]*\)|[`*|\[\]]", re.S)


def sections(page: Path, root: Path, rank: int) -> List[Entry]:
    """A page of Markdown, cut at its headings."""
    whole, name = page.read_text(encoding="utf-8"), page_id(page, root)
    anchors = headings(whole)
    title = page.stem
    parts: List[Tuple[str, str, List[str]]] = []  # heading, address, lines
    for number, (kind, line) in enumerate(classify(whole), 1):
        heading = HEADING.match(line) if number in anchors else None
        if heading and heading[1] == "#" and not parts:
            title = plain(heading[2])
            parts.append(("", f"{name}.html", []))
        elif heading:
            parts.append((plain(heading[2]), f"{name}.html#{name}-{anchors[number]}", []))
        elif parts and kind not in ("open", "close"):
            parts[-1][2].append(line)
    if page.name == "more.md":
        title = f"{title.split(':')[0]}: more"
    entries = []
    for what, address, lines in parts:
        source = "\n".join(lines)
        taught = [term for found in MARKER.finditer(source) if found[1] == "teaches"
                  for term in concepts(found[2])]
        text = " ".join(MARKUP.sub(" ", source).lower().split())
        where = title
        if rank == OTHER_PAGE:  # many are called "Exercise 2": the folder says of which chapter
            where, what = page.parent.relative_to(root).as_posix(), what or title
        entries.append((rank, where, what, address, text, taught))
    return entries


def symbols(tags: Path, root: Path) -> List[Entry]:
    """Files, classes and functions of the sources, each address once."""
    found: Dict[str, Entry] = {}
    for compound in ElementTree.parse(str(tags)).iterfind("compound"):
        kind, page = compound.get("kind", ""), compound.findtext("filename") or ""
        name = compound.findtext("name") or ""
        if kind == "file" and not name.endswith(".md"):
            # older Doxygens write the path in full
            folder = os.path.relpath(str(root / (compound.findtext("path") or "")), str(root))
            found.setdefault(page, (SYMBOL, f"file in {folder}", name, page, "", []))
        elif kind in ("class", "struct"):
            found.setdefault(page, (SYMBOL, kind, name, page, "", []))
        for member in compound.iterfind("member[@kind='function']"):
            address = f"{member.findtext('anchorfile')}#{member.findtext('anchor')}"
            found.setdefault(address, (SYMBOL, f"function in {name}",
                                       member.findtext("name") or "", address, "", []))
    return [entry for _, entry in sorted(found.items())]


def script(course: List[Path], others: List[Path], root: Path, tags: Path) -> str:
    """The index as JavaScript. `course`: lessons and docs pages in order; `others`: more pages."""
    entries = [entry for page in course for entry in sections(page, root, COURSE)]
    entries += [entry for page in others for entry in sections(page, root, OTHER_PAGE)]
    entries += symbols(tags, root)
    rows = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
    return f"var searchIndex = [\n{rows}\n];\n"
