"""Looks for links that lead nowhere: in the Markdown pages, and in the HTML made of them."""
import re
import urllib.parse
from html.parser import HTMLParser
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Set, Tuple

from doxygen_filter import TOKEN, classify, headings

ELSEWHERE = re.compile(r"[a-z][a-z+.-]*:|//", re.I)
NOT_OURS = {"build", "my", ".git", ".github"}


def markdown_pages(root: Path) -> List[Path]:
    """The pages of the course, front page first."""
    pages = [root / "README.md", *sorted(root.glob("*/**/*.md"))]
    return [p for p in pages if p.is_file() and not NOT_OURS & set(p.relative_to(root).parts)]


def markdown_links(text: str) -> Iterator[Tuple[int, str]]:
    """Line numbers and targets of the links and images of a page."""
    for number, (kind, line) in enumerate(classify(text), 1):
        if kind == "text":
            for token in TOKEN.finditer(line):
                if token["target"] or token["to"]:
                    yield number, token["target"] or token["to"]
        if kind in ("text", "html"):
            for target in re.findall(r'\b(?:href|src|srcset)="([^" ]+)"', line):
                yield number, target


def check_markdown(root: Path) -> List[str]:
    """One line for each link to a file or heading that does not exist."""
    errors, texts = [], {p: p.read_text(encoding="utf-8") for p in markdown_pages(root)}
    for page, text in texts.items():
        for number, target in markdown_links(text):
            path, _, anchor = urllib.parse.unquote(target).partition("#")
            file = (page.parent / path).resolve() if path else page
            problem = ""
            if ELSEWHERE.match(target):
                continue
            if not file.exists():
                problem = "there is no such file"
            elif root != file and root not in file.parents:
                problem = "it leads out of the course"
            elif anchor and file in texts and anchor not in headings(texts[file]).values():
                problem = "there is no such heading"
            if problem:
                errors.append(f"{page.relative_to(root)}:{number}: link to {target}: {problem}")
    return errors


class Html(HTMLParser):
    """The links and the anchors of one HTML page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: List[Tuple[str, str]] = []
        self.anchors: Set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: List[Tuple[str, Optional[str]]]) -> None:
        for key, value in attrs:
            if value and key in ("id", "name"):
                self.anchors.add(value)
            elif value and key in ("href", "src", "data", "srcset"):
                self.links.append((tag, value))


def check_html(site: Path) -> List[str]:
    """One line for each link to a file or anchor that the site lacks, or to a part elsewhere."""
    errors: List[str] = []
    pages: Dict[Path, Html] = {}
    for page in sorted(site.rglob("*.html")):
        pages[page] = Html(page.read_text(encoding="utf-8", errors="replace"))
    for page, content in pages.items():
        for tag, target in content.links:
            path, _, anchor = urllib.parse.unquote(target).partition("#")
            file = (page.parent / path).resolve() if path else page
            problem = ""
            if ELSEWHERE.match(target):
                if tag != "a" and not re.match("data:|javascript:", target):
                    problem = "the page needs the network"
            elif site != file and site not in file.parents:
                problem = "it leads out of the site"
            elif not file.exists():
                problem = "there is no such file"
            elif anchor and file in pages and anchor not in pages[file].anchors:
                problem = "there is no such anchor"
            if problem:
                errors.append(f"{page.relative_to(site)}: link to {target}: {problem}")
    return errors
