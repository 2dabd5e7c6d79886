"""Folds what was measured on the pages of the site, so that a class can guess first.

A paragraph that begins with "Measured." or tells of a prediction that failed can be opened and
closed, and one button folds all of a page. The choice is kept for the next pages.
"""
import re

RESULT = re.compile(r"<p(?: [^>]*)?><(?:b|strong)>((?:Measured|A prediction that failed)[^<]*)"
                    r"</(?:b|strong)>.*?</p>", re.S)
BUTTON = """<p><button type="button" class="fold" onclick="foldMeasured(true)">Fold what was \
measured</button> <button type="button" class="fold" onclick="foldMeasured(false)">Unfold\
</button></p>
"""
SCRIPT = """<script>
function foldMeasured(fold) {
  document.querySelectorAll("details.measured").forEach(function (part) { part.open = !fold; });
  try { localStorage.setItem("fold measured", fold ? "1" : ""); } catch (error) {}
}
try { if (localStorage.getItem("fold measured")) foldMeasured(true); } catch (error) {}
</script>
"""


def folded(page: str) -> str:
    """The page's HTML with its results in <details>, open unless the reader folds them."""
    text, count = RESULT.subn(
        lambda found: (f'<details class="measured" open><summary>{found[1].rstrip(".: ")}</summary>'
                       f"{found[0]}</details>"), page)
    if not count:
        return page
    text = re.sub(r'(<div class="contents">)', lambda found: found[1] + BUTTON, text, count=1)
    return text.replace("</body>", SCRIPT + "</body>")
