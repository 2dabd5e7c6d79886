"""Puts the pages of `page` markers into the lessons on the site: one request after another.

The repository keeps what was recorded, results/drawn/page-NAME.json, and a lesson links to it; the
site has the page made of it, beside where that file would stand.
"""
import re
from pathlib import Path
from typing import Dict

from course.draw import embedded
from course.pages import Page

LINK = re.compile(r'<p>(?:(?!</p>).)*<a href="(files/[^"]*/results/drawn/page-[^"]*)[.]json">.*?</p>',
                  re.S)


def drawn_pages(lesson: Page, root: Path) -> Dict[str, str]:
    """The pages of a lesson's markers: file on the site -> HTML. A LessonError where one is stale."""
    return {f"files/{file.relative_to(root).as_posix()}": embedded.html(lesson, words)
            for words in embedded.marked(lesson)
            for file in [embedded.file_of(lesson, words).with_suffix(".html")]}


def with_pages(text: str) -> str:
    """The HTML of a lesson, each link to recorded requests replaced by the page of them."""
    return LINK.sub(lambda link: f'<iframe src="{link[1]}.html" title="Requests one by one" '
                    'loading="lazy" width="100%" height="900"></iframe>\n'
                    f'<a href="{link[1]}.html">The page alone</a>.', text)
