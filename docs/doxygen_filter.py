#!/usr/bin/env python3
"""Turns a page of GitHub Markdown, or a source file of a chapter, into what Doxygen 1.9.4 reads.

Doxygen runs it as an input filter: `doxygen_filter.py FILE`, text on stdout. Lines keep their
numbers (but for a blank line added here and there), so that a warning names the right one. Links
are written for the finished site: pages and their headings by name, everything else as
`files/PATH`, which docs/build turns into a source page or a copy.
"""
import html
import os
import re
import sys
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Match, Tuple

ROOT = Path(__file__).resolve().parent.parent
TOKEN = re.compile(
    r"(?P<tick>(?<!`)`+(?!`))(?P<code>.+?)(?<!`)(?P=tick)(?!`)"
    r"|\]\((?P<target>[^)\s]+)(?P<caption>\s+\"[^\"]*\")?\)"
    r"|^(?P<reference>\s{0,3}\[[^]]+\]:\s+)(?P<to>\S+)"
    r"|(?P<comment><!--.*?-->)"
    r"|(?P<url><?https?://[^\s<>)]+>?)"
    r"|\$\$(?P<display>.+?)\$\$"
    r"|(?<![\\\w$])\$(?=\S)(?P<inline>[^$]+?)(?<=\S)\$(?![\w$])"
    r"|(?<=[-*] )\[(?P<box>[ x])\](?= )"
    r"|(?P<command>(?<!\\)[@#%](?=\w)|\\(?=[A-Za-z])|(?<![\w-])--(?=\w))",
    re.S | re.M,
)
HEADING = re.compile(r"(#{1,6})\s+(.*?)[\s#]*$")
FENCE = re.compile(r"([\s>]*)(`{3,}|~{3,})\s*([\w+-]*)")
LIST_ITEM = re.compile(r"\s{0,3}([-*+]|\d+[.)])\s")
HTML_BLOCK = re.compile(r"\s*</?(details|summary|div|p|table|center|picture)\b", re.I)
BLOCK = re.compile(r"<!--\s*(/?)(?:results|limiters|table|chapters)\b[^>]*-->\s*$")
FIGURE = re.compile(r"<!--\s*(/?)(?:value|limiter)\b")
ALERT = re.compile(r"(\s*>\s*)\[!(\w+)\]\s*$")
LANGUAGES = {"cuda": "cpp", "cu": "cpp", "c++": "cpp", "cpp": "cpp", "c": "c", "python": "py"}


def page_id(page: Path, root: Path) -> str:
    """The name of a page on the site: chapters_01_x for chapters/01_x/README.md."""
    parts = page.relative_to(root).with_suffix("").parts
    parts = parts[:-1] if parts[-1] == "README" else parts
    return re.sub(r"\W+", "_", "_".join(parts)) or "index"


def plain(heading: str) -> str:
    """The text of a heading without links, code marks and comments."""
    heading = re.sub(r"<!--.*?-->", "", heading)
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip()


def slug(heading: str) -> str:
    """The anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w\- ]", "", plain(heading).lower()).replace(" ", "-")


def classify(text: str) -> Iterator[Tuple[str, str]]:
    """Each line with its kind: open, code, close (of a fence), indented (code), html (a block of
    it, up to a blank line), hidden (a comment over several lines), text."""
    fence, listed, blank, indented = "", False, True, False
    raw = hidden = False
    for line in text.splitlines():
        mark = FENCE.match(line)
        if fence:
            closing = mark and mark[2].startswith(fence) and not line.strip(" >`~")
            yield "close" if closing else "code", line
            fence = "" if closing else fence
        elif hidden or line.lstrip().startswith("<!--") and "-->" not in line:
            hidden = "-->" not in line
            yield "hidden", line
        elif mark:
            fence, blank, indented = mark[2], False, False
            yield "open", line
        elif line.strip() and (raw or HTML_BLOCK.match(line)):
            raw, blank, indented = True, False, False
            yield "html", line
        else:
            raw = False
            listed = bool(LIST_ITEM.match(line)) or (listed and not line[:1].strip())
            indented = line.startswith("    ") and not listed and (blank or indented)
            blank = not line.strip()
            yield "indented" if indented else "text", line


def headings(text: str) -> Dict[int, str]:
    """Line number -> anchor of each heading, numbered as GitHub does where a title comes twice."""
    found: Dict[int, str] = {}
    for number, (kind, line) in enumerate(classify(text), 1):
        heading = HEADING.match(line)
        if kind == "text" and heading:
            name, copies = slug(heading[2]), 0
            while (f"{name}-{copies}" if copies else name) in found.values():
                copies += 1
            found[number] = f"{name}-{copies}" if copies else name
    return found


def site_link(target: str, page: Path, root: Path) -> str:
    """Where a link of a page leads on the site."""
    if re.match(r"[a-z][a-z+.-]*:|//", target):
        return target
    path, _, anchor = target.partition("#")
    file = Path(os.path.normpath(page.parent / path)) if path else page
    if (file / "README.md").is_file():
        file /= "README.md"
    if root not in (file, *file.parents):
        return target
    if file.suffix == ".md" and file.is_file():
        name = page_id(file, root)
        return f"{name}.html" + (f"#{name}-{anchor}" if anchor else "")
    line = re.match(r"L(\d+)", anchor)
    anchor = f"l{int(line[1]):05d}" if line else anchor
    return f"files/{file.relative_to(root).as_posix()}" + (f"#{anchor}" if anchor else "")


def convert_inline(line: str, link: Callable[[str], str]) -> str:
    """A paragraph or a table row: links, formulas, code, and what looks like Doxygen's commands."""
    table = line.lstrip().startswith("|")

    def replace(m: Match) -> str:
        if m["code"] is not None:
            code = m["code"]
            if table and "\\|" in code:  # a bar inside a table cell's code survives only in HTML
                return f"<code>{html.escape(code.strip(), quote=False)}</code>"
            if '"' not in code:  # Doxygen drops the % of %name, except between quotes
                code = re.sub(r"(?<!%)%(?=\w)", "%%", code)
            return m["tick"] + code + m["tick"]
        if m["target"]:
            return f"]({link(m['target'])}{m['caption'] or ''})"
        if m["reference"]:
            return m["reference"] + link(m["to"])
        if m["display"] or m["inline"]:
            return rf"\f[{m['display']}\f]" if m["display"] else rf"\f${m['inline']}\f$"
        if m["box"]:
            return "\u2611" if m["box"] == "x" else "\u2610"
        if m["comment"]:
            figure = FIGURE.match(m["comment"])
            mark = ("</span>" if figure[1] else '<span class="measured">') if figure else ""
            return "\n" * m["comment"].count("\n") + mark
        return "\\" + m["command"] if m["command"] else m["url"]

    return TOKEN.sub(replace, line)


def html_links(line: str, link: Callable[[str], str]) -> str:
    """A line of raw HTML with the targets of its links and images moved to the site."""
    return re.sub(r'\b(href|src|srcset)="([^" ]+)"', lambda m: f'{m[1]}="{link(m[2])}"', line)


class Converter:
    """One page of Markdown on its way to Doxygen."""

    def __init__(self, page: Path, root: Path) -> None:
        self.page, self.root, self.name = page, root, page_id(page, root)
        self.out: List[str] = []
        self.prose: List[str] = []  # lines of a paragraph; a code span may cross a line end
        self.html = self.math = False  # inside an HTML block, a formula
        self.source = ""  # links of the heading above: Doxygen allows none in a heading
        self.closing = ""  # the mark of a generated block that ended above
        self.drawing = False  # inside indented code that follows the links of a heading

    def link(self, target: str) -> str:
        return site_link(target, self.page, self.root)

    def put(self, line: str) -> None:
        """Adds a finished line, after the paragraph that came before it."""
        if self.prose:
            self.out += convert_inline("\n".join(self.prose), self.link).split("\n")
            self.prose.clear()
        self.out.append(line)

    def raw(self, line: str) -> None:
        """A line of an HTML block."""
        if not self.html and (self.prose or self.out and self.out[-1].strip()):
            self.put("")  # else Doxygen would put the block into the list item above
        start = "" if self.html else r"\htmlonly[block]"
        self.put(start + html_links(line.strip(), self.link))

    def draw(self, line: str) -> None:
        """A line of indented code below the links of a heading. They took the place of the blank
        line, without which Doxygen sees no code, so it becomes HTML."""
        if not self.drawing:
            self.out[-1] = self.out[-1].replace(r"\endhtmlonly", '<pre class="fragment">')
        self.put(html.escape(line[4:], quote=False))
        self.drawing = True

    def code(self, kind: str, line: str) -> None:
        """A line of a fence or of indented code."""
        mark = FENCE.match(line)
        if kind == "open" and mark:
            self.math = mark[3] == "math"
            language = LANGUAGES.get(mark[3], "unparsed")
            line = mark[1] + (r"\f[" if self.math else f"{mark[2]}{{.{language}}}")
        elif kind == "close" and self.math:
            line, self.math = r"\f]", False
        self.put(line)

    def heading(self, mark: str, title: str, anchor: str) -> None:
        links = re.findall(r"\[`?([^]`]*)`?\]\(([^)]*)\)", title)
        self.source = ", ".join(
            f'<a href="{self.link(to)}">{html.escape(text)}</a>' for text, to in links
        )
        title = re.sub(r"(?<=\w):\s*\[[^]]*\]\([^)]*\)$", "", title)  # it stands below, as a link
        label = self.name if mark == "#" else f"{self.name}-{anchor}"
        label = re.sub(r"\bindex\b", "mainpage", label) if mark == "#" else label  # index.html
        self.put(f"{mark} {convert_inline(plain(title), self.link)} {{#{label}}}")

    def block(self, slash: str) -> None:
        """The marker of a generated block stays in the page, for fold.py; the closing one goes to
        the next line, so that this one ends the paragraph or table above."""
        mark = rf"\htmlonly[block]<!--{slash}results-->\endhtmlonly"
        self.put("" if slash else mark)
        self.closing = mark if slash else ""

    def text(self, line: str, anchor: str) -> None:
        """A line that is not code. `anchor` is that of a heading."""
        heading, alert, block = HEADING.match(line), ALERT.match(line), BLOCK.match(line)
        if block:
            self.block(block[1])
        elif heading:
            self.heading(heading[1], heading[2], anchor)
        elif alert:
            self.put(f"{alert[1]}**{alert[2].capitalize()}.**")
        elif line.lstrip().startswith("|"):
            self.put(convert_inline(line, self.link))
        elif line.strip():
            self.prose.append(line)
        else:
            source = rf'\htmlonly[block]<p class="source">{self.source}</p>\endhtmlonly'
            self.put(source if self.source else "")
            self.source = ""

    def add(self, kind: str, line: str, anchor: str) -> None:
        if self.html and kind != "html":
            self.out[-1] += r"\endhtmlonly"
        if self.drawing and kind != "indented":
            self.out[-1] += r"</pre>\endhtmlonly"
            self.drawing = False
        if self.closing:
            self.put(self.closing)
            self.closing = ""
            if not line.strip():  # the mark took its place
                self.html = False
                return
        if kind == "text":
            self.text(line, anchor)
        elif kind == "html":
            self.raw(line)
        elif kind == "hidden":
            self.put("")
        elif kind == "indented" and (self.drawing or self.out and '<p class="source">' in self.out[-1]):
            self.draw(line)
        else:
            self.code(kind, line)
        self.html = kind == "html"


def convert(text: str, page: Path, root: Path = ROOT) -> str:
    """A whole page of Markdown."""
    converter, anchors = Converter(page, root), headings(text)
    for number, (kind, line) in enumerate(classify(text), 1):
        converter.add(kind, line, anchors.get(number, ""))
    converter.add("text", "", "")
    return "\n".join(converter.out)


def launches(line: str) -> str:
    """A line of a `///` comment. Outside of code, Doxygen would read <<<blocks, threads>>> as HTML."""
    if re.match(r"\s*///     ", line):
        return line
    return re.sub(r"`[^`]*`|<<<|>>>",
                  lambda m: m[0] if m[0][0] == "`" else m[0].replace(m[0][0], "\\" + m[0][0]), line)


def describe(text: str, path: str) -> str:
    """A source file whose first comment becomes the description of its page."""
    out, first = text.splitlines(), True
    for i, line in enumerate(out):
        if re.match(r"\s*///", line):
            out[i] = launches(line)
        elif first and re.match(r"//", line):
            said = line[2:]
            if said.startswith("  "):  # a command to type: make it code
                said = "   " + said
            else:
                said = re.sub(r"([\\@<>#%&*`$])", r"\\\1", said)
                said = re.sub(r"\w*_\w*", r"`\g<0>`", said)  # a name: Doxygen knows no command "\_"
            out[i] = f"/// @file {path}{said}" if i == 0 else f"///{said}"
        else:
            first = False
    return "\n".join(out) + "\n"


def main() -> None:
    page = Path(sys.argv[1]).resolve()
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".md":
        text = convert(text, page)
    else:
        text = describe(text, page.relative_to(ROOT).as_posix())
    sys.stdout.buffer.write(text.encode("utf-8"))


if __name__ == "__main__":
    main()
