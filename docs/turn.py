"""What docs/build adds to each page of the site: the scripts, the search box, and, on lessons and
docs pages, the way to the page before and to the one after it."""
import html
import re
from typing import Dict, List, Optional, Tuple

Page = Tuple[str, str]  # file name on the site, title
Turn = Tuple[Optional[Page], Optional[Page]]  # the page before, the page after

HEADER = "<!-- end header part -->"  # Doxygen's own mark, below the name of the site
TOOLS = ('<div id="tools"><input id="find" type="search" autocomplete="off" aria-label="Search" '
         'placeholder="Search"/><button id="shade" type="button" hidden="hidden"></button>'
         '<div id="found" role="status" hidden="hidden"></div></div>\n')


def turns(chains: List[List[Page]]) -> Dict[str, Turn]:
    """File name -> what comes before and after it in its chain."""
    found: Dict[str, Turn] = {}
    for chain in chains:
        around = [None, *chain, None]
        for before, (name, _), after in zip(around, chain, around[2:]):
            found[name] = (before, after)
    return found


def links(turn: Turn, place: str) -> str:
    """The two links, for the head or the foot of a page."""
    parts = []
    for word, rel, page in (("Previous", "prev", turn[0]), ("Next", "next", turn[1])):
        if page:
            parts.append(f'<a rel="{rel}" href="{page[0]}"><small>{word}</small> '
                         f"{html.escape(page[1])}</a>")
    return f'<nav class="turn {place}" aria-label="Pages, {place}">{"".join(parts)}</nav>\n'


def with_turns(text: str, turn: Turn) -> str:
    """A page's HTML with the links below its title and at its foot."""
    text = text.replace('<div class="contents">',
                        links(turn, "head") + '<div class="contents">', 1)
    return re.sub(r"(</div><!-- contents -->)", lambda m: m[1] + links(turn, "foot"), text, count=1)


def with_tools(text: str, scripts: List[str]) -> str:
    """A page's HTML with search box, button and scripts; a page without a head stays as it is."""
    if HEADER not in text:
        return text
    tags = "".join(f'<script src="{script}"{" defer" if script == "site.js" else ""}></script>\n'
                   for script in scripts)
    text = text.replace("</head>", tags + "</head>", 1)
    return text.replace(HEADER, TOOLS + HEADER, 1)
