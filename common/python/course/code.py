"""Which code a recorded row was measured with: a hash of the version's own file.

Comments and layout do not count, and neither does the folder of a file in common/.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Dict, Iterable, Iterator, Optional, Tuple

TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/'  # comments
    r'|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    r"|\w+|\S", re.S)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)
CALLS = re.compile(r"^// Calls (\w+\.cu)\b", re.M)  # another version, by its launcher
SUFFIXES = (".cu", ".cpp")
LEFT_OUT = {"my", "exercises", "demos", "results", "simt", "python"}  # no row is written there


def tokens(text: str) -> Iterator[str]:
    """The tokens of C++ source, comments left out."""
    for match in TOKEN.finditer(text):
        if not match[0].startswith(("//", "/*")):
            yield match[0]


def hash_of(path: Path, folder: Path) -> str:
    """A short hash of the file's tokens and of those of the files of `folder` that it includes by
    name, a chapter's own small headers, and of versions that it says it calls. The folders of these
    files do not count."""
    digest, waiting, seen = hashlib.sha256(), [path.resolve()], set()
    while waiting:
        file = waiting.pop(0)
        if file in seen or not file.is_file():
            continue
        seen.add(file)
        text = file.read_text(encoding="utf-8", errors="replace")
        digest.update("\0".join(tokens(INCLUDE.sub("", text))).encode() + b"\0\0")
        if folder.resolve() in file.parents:
            waiting += [found for name in INCLUDE.findall(text) + CALLS.findall(text)
                        for found in [(file.parent / name).resolve()]
                        if folder.resolve() in found.parents]
    return digest.hexdigest()[:16]


def sources(chapter: Path, common: Path) -> Dict[str, Path]:
    """The files that rows of a chapter can be written in, by the name that a row gives: relative to
    the chapter, or for one of common/ the name alone; without suffix."""
    found: Dict[str, Path] = {}
    for folder, relative in ((common, False), (chapter, True)):
        for file in sorted(folder.rglob("*")):
            inside = file.relative_to(folder)
            if file.suffix in SUFFIXES and not LEFT_OUT & set(inside.parts):
                found[str(inside.with_suffix("")) if relative else file.stem] = file
    return found


def hashes(chapter: Path, common: Path) -> Dict[str, str]:
    """The hash of every such file. Files of common/ that a file includes are left out, so that a
    header that grows for one chapter makes no other chapter's record older."""
    return {name: hash_of(path, chapter) for name, path in sources(chapter, common).items()}


def older(rows: Iterable[Tuple[Optional[str], Optional[str]]],
          known: Dict[str, str]) -> Dict[str, str]:
    """Of rows' files and hashes, the files whose code has changed, each with the reason."""
    found: Dict[str, str] = {}
    for file, code in rows:
        if file and code and file not in known:
            found[file] = "is gone"
        elif file and code and known[file] != code:
            found[file] = "has changed"
    return found
