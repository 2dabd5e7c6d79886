// Uses pages of the built site as a reader with a telephone of 400 pixels would, for test_docs.py:
// one frame per page, in a page that stands in the site's folder. What it finds goes to <pre>.
"use strict";

const said = { pages: {}, found: {} };

async function open(page) {
  const frame = document.createElement("iframe");
  frame.style = "width: 400px; height: 800px; border: 0";
  frame.src = page;
  const loaded = new Promise((resolve) => { frame.onload = resolve; });
  document.body.append(frame);
  await loaded;
  await new Promise((resolve) => setTimeout(resolve, 300)); // the menu is built after loading
  return frame.contentWindow;
}

function luminance(colour) {
  const parts = colour.match(/[\d.]+/g).slice(0, 3).map((part) => part / 255);
  const [r, g, b] = parts.map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function background(part) {
  const colour = getComputedStyle(part).backgroundColor;
  const alpha = colour.match(/^rgba\(.*, ([\d.]+)\)/);
  if (!alpha || alpha[1] > 0.5) return colour;
  return part.parentElement ? background(part.parentElement) : "rgb(255, 255, 255)";
}

// The least contrast of a text of this kind to what it stands on.
function contrast(page, selector) {
  const ratios = [...page.document.querySelectorAll(selector)].map((part) => {
    const both = [getComputedStyle(part).color, background(part)].map(luminance);
    return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
  });
  return Math.min(99, ...ratios);
}

// What is drawn beside a part: how far its shadows reach to the right.
function shadows(page) {
  return [...page.document.querySelectorAll("#doc-content *")].filter((part) => {
    const all = getComputedStyle(part).boxShadow.match(/(-?[\d.]+px ?){4}(?! ?inset)/g) || [];
    const right = part.getBoundingClientRect().right;
    return all.some((shadow) => {
      const [x, , blur, spread] = shadow.match(/-?[\d.]+/g).map(Number);
      return right + x + blur + spread > 401;
    });
  }).map((part) => part.tagName + " " + part.className);
}

function look(page) {
  const root = page.document.documentElement;
  const widths = [root, page.document.body, page.document.getElementById("doc-content")];
  const cut = [...page.document.querySelectorAll("p, h1, h2, li, nav.turn a, #find, #shade")]
    .filter((part) => part.getBoundingClientRect().right > 401 && !part.closest("table, iframe"));
  const text = page.document.querySelector("div.contents p, div.contents div.line") ||
    page.document.querySelector("div.contents");
  return {
    width: Math.max(...widths.map((part) => part.scrollWidth)), viewport: page.innerWidth,
    cut: cut.map((part) => part.textContent.slice(0, 40)),
    shadows: shadows(page),
    scrolled: [...page.document.querySelectorAll("table.memberdecls")]
      .filter((part) => part.scrollWidth > part.clientWidth + 1).length,
    font: parseFloat(getComputedStyle(text).fontSize),
    links: contrast(page, "div.contents a[href], nav.turn a"),
    code: contrast(page, "div.line .comment, div.line .keyword, div.line .preprocessor"),
  };
}

async function find(page, words) {
  const box = page.document.getElementById("find");
  box.value = words;
  box.dispatchEvent(new Event("input"));
  for (let k = 0; k < 50 && !page.searchIndex; ++k) await new Promise((go) => setTimeout(go, 100));
  return [...page.document.querySelectorAll("#found a")]
    .map((line) => [Number(line.dataset.rank), line.getAttribute("href"), line.textContent]);
}

async function run({ pages, words, lesson }) {
  const windows = {};
  for (const page of pages) windows[page] = await open(page);
  for (const page of pages) said.pages[page] = look(windows[page]);
  const page = windows[lesson];
  for (const word of words) said.found[word] = await find(page, word);
  const open_parts = (selector) => [...page.document.querySelectorAll(selector)]
    .map((part) => part.open);
  said.before = open_parts("details.measured");
  page.document.getElementById("fold").click();
  said.folded = open_parts("details.measured");
  const again = await open(lesson);
  said.kept = [...again.document.querySelectorAll("details.measured")].map((part) => part.open);
  const quiz = page.document.querySelector("details:not(.measured)");
  said.quiz = [quiz.open];
  quiz.querySelector("summary").click();
  said.quiz.push(quiz.open);
  const menu = page.document.getElementById("main-menu");
  said.menu = [menu.offsetHeight];
  if (page.jQuery) page.jQuery.fx.off = true; // it slides, but not in a frame out of sight
  page.document.querySelector(".main-menu-btn").click();
  await new Promise((resolve) => setTimeout(resolve, 300));
  said.menu.push(menu.offsetHeight, menu.getBoundingClientRect().right);
  const shade = page.document.getElementById("shade");
  if (!shade.hidden) {
    said.dark = [];
    for (let k = 0; k < 2; ++k) {
      shade.click();
      const dark = page.document.documentElement.classList.contains("dark-mode");
      const later = await open(lesson); // the choice is kept
      said.dark.push({ dark, kept: later.document.documentElement.classList.contains("dark-mode"),
                       ...look(page), menu: contrast(page, "#nav-tree a, #main-menu a"),
                       quiz: contrast(page, "details:not(.measured) > summary") });
    }
  }
}

const out = document.createElement("pre");
run(wanted).catch((error) => { said.error = String(error.stack); }).then(() => {
  out.textContent = JSON.stringify(said);
  document.body.replaceChildren(out);
});
