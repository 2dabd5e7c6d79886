"""Marks what was measured on the pages of the site, so that a reader or a class can guess first.

A paragraph that begins with "Measured." or tells of a prediction that failed, a generated table of
results and a plot of them are put into <details>; a single figure in a sentence is a <span> that
doxygen_filter.py wrote. Nothing looks different until a reader presses the button: then site.js
folds them all, on this page and on the next ones.
"""
import re

RESULT = re.compile(r"<p(?: [^>]*)?><(?:b|strong)>((?:Measured|A prediction that failed)[^<]*)"
                    r"</(?:b|strong)>.*?</p>", re.S)
BLOCK = re.compile(r"<!--results-->(.*?)<!--/results-->", re.S)
PLOT = re.compile(r'<p(?: [^>]*)?>\s*(?:<a [^>]*>)?<img src="[^"]*/results/(?!drawn/)[^"]*" '
                  r'alt="([^"]*)"[^>]*/?>(?:</a>)?\s*</p>')
BUTTON = '<p class="fold"><button type="button" id="fold">Fold what was measured</button></p>\n'


def measured(title: str, content: str) -> str:
    return (f'<details class="measured" open><summary>{title.rstrip(".: ")}</summary>'
            f"{content}</details>")


def folded(page: str) -> str:
    """The page's HTML with its results in <details>, open until the reader folds them."""
    text = RESULT.sub(lambda found: measured(found[1], found[0]), page)
    text = BLOCK.sub(lambda found: measured("Results", found[1]), text)
    text = PLOT.sub(lambda found: measured(f"Plot: {found[1]}", found[0]), text)
    if 'class="measured"' not in text:
        return page
    start = '<div class="textblock">' if '<div class="textblock">' in text else \
        '<div class="contents">'
    return text.replace(start, start + BUTTON, 1)
