"""The compilers' messages about a reader's own file: shown clearly, and again until it is fixed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Iterable, List, Sequence

COMPILED = r"Building \w+ object \S*{}(\.cpp)?\.o"  # of Make and of Ninja


def own_lines(typed: str, paths: Iterable[str], text: str) -> List[str]:
    """What a compiler said about one file, known by `paths`, with the path `typed`; errors first."""
    names = "|".join(map(re.escape, [*paths, typed]))
    line_of = re.compile(rf"^(|.*?: |\S*)(?:{names})([:(]\d.*)$")
    found = [(match.group(1) if match.group(1).endswith(": ") else "") + typed
             + match.group(2) for match in map(line_of.match, text.splitlines()) if match]
    found = list(dict.fromkeys(found))
    return sorted(found, key=lambda line: 0 if re.search("error|undefined", line) else 2 if "warning" in line else 1)


def launch_behind(code: Sequence[str], line: int) -> int:
    """The line of the launch where the compiler found a missing ';' in `line` (from 1); 0: none."""
    bare = [re.sub(r"//.*", "", text).rstrip() for text in code]
    launches = [k for k, text in enumerate(bare, 1) if k >= line and "<<<" in text]
    if len(launches) > 1 and launches[0] == line and not bare[line - 1].endswith((";", "}")):
        return launches[1]  # the line is a launch itself, and has no end
    return launches[0] if launches else 0


def explained(lines: Sequence[str], code: Sequence[str]) -> List[str]:
    """Explains a missing ';' before a launch: GCC reports it at a word of the rewritten code."""
    found: List[str] = []
    behind: List[int] = []
    for text in lines:
        place = re.match(r"(.*?):(\d+):\d+: error: (.*)$", text)
        launch = 0
        if place and re.search(r"expected .*;.* before .simt", place.group(3)):
            at = int(place.group(2))  # after a declaration GCC names the launch, else its own line
            launch = at if " or " in place.group(3) else launch_behind(code, at)
        if place and launch:
            behind.append(launch)
            text = (f"{place.group(1)}:{place.group(2)}: error: a `;` is missing before the launch "
                    f"in line {launch}")
        elif place and behind and int(place.group(2)) - behind[-1] in range(4):
            if "expected primary-expression before" in text:
                continue  # a consequence of the same mistake
        found.append(text)
    return found


def warnings(lines: Sequence[str], log: Path, text: str, name: str) -> List[str]:
    """Warnings about a file that is built. `text`: what the build said; where it did not compile the
    file `name` again, what was said when it last did, kept beside `log`."""
    kept = log.with_suffix(".warnings")
    if re.search(COMPILED.format(re.escape(name)), text):
        found = [line for line in lines if "warning" in line]
        kept.write_text("".join(f"{line}\n" for line in found), encoding="utf-8")
        return found
    return kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
