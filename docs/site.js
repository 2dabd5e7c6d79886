// The site's own controls: search, light or dark, what was measured folded. Nothing is asked of the
// network. Where the browser keeps nothing (localStorage), a choice lasts for one page.
"use strict";

const kept = {
  get(key) { try { return localStorage.getItem(key); } catch (error) { return null; } },
  set(key, value) { try { localStorage.setItem(key, value); } catch (error) { /* one page */ } },
};

// ---- Search ----

// Entries that hold all words, best first: pages of the course before other pages before symbols;
// then the very heading, those that teach it, those with the words in a heading, those that have
// them twice; the earlier lesson first. The entries: search_index.py.
function search(entries, query) {
  const phrase = query.toLowerCase().trim().replace(/\s+/g, " ");
  const words = phrase.split(" ").filter(Boolean);
  const found = [];
  for (const [rank, where, what, address, text, taught] of words.length ? entries : []) {
    const name = (rank === 2 ? what : what || where).toLowerCase();
    const all = rank === 2 ? name : `${where.toLowerCase()} ${name} ${text} ${taught.join(" ")}`;
    if (!words.every((word) => all.includes(word))) continue;
    const score = 2000 * (name.split(":")[0] === phrase) +
      1000 * words.every((word) => name.includes(word)) + 1500 * taught.includes(phrase) +
      10 * Math.min(2, all.split(phrase).length - 1);
    found.push({ rank, where, what, address, score });
  }
  return found.sort((a, b) => a.rank - b.rank || b.score - a.score);
}

// At most 10 entries of a rank, and 3 of a page.
function fewest(found) {
  const seen = {};
  const more = (key, most) => (seen[key] = (seen[key] || 0) + 1) <= most;
  return found.filter(({ rank, where }) => (rank === 2 || more(where, 3)) && more(rank, 10));
}

function show(query) {
  const list = document.getElementById("found");
  const found = fewest(search(window.searchIndex || [], query));
  list.hidden = !query.trim();
  list.textContent = found.length || !window.searchIndex ? "" : "Nothing found.";
  for (const { rank, where, what, address } of found) {
    const line = document.createElement("a");
    line.href = address;
    line.dataset.rank = rank;
    line.textContent = what || where;
    line.append(Object.assign(document.createElement("small"), { textContent: what && where }));
    list.append(line);
  }
}

const box = document.getElementById("find");
function load() {
  if (document.getElementById("index")) return;
  const script = document.createElement("script");
  Object.assign(script, { id: "index", src: "search_index.js" });
  script.onload = () => show(box.value);
  document.head.append(script);
}
box.addEventListener("focus", load);
box.addEventListener("input", () => { load(); show(box.value); });
document.getElementById("tools").addEventListener("keydown", (event) => {
  const first = document.querySelector("#found a");
  if (event.key === "Enter" && event.target === box && first) first.click();
  if (event.key === "Escape") { box.value = ""; show(""); }
});
document.addEventListener("click", (event) => {
  if (!document.getElementById("tools").contains(event.target)) show("");
});

// ---- Light or dark: the theme's own switch, which follows the system until somebody presses ----

const shade = document.getElementById("shade");
try {
  const theme = DoxygenAwesomeDarkModeToggle;
  const name = () => { shade.textContent = theme.darkModeEnabled ? "Light" : "Dark"; };
  shade.onclick = () => { theme.userPreference = !theme.userPreference; name(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  name();
  shade.hidden = false;
} catch (error) { /* the plain look has no dark one */ }

// ---- What was measured ----

const button = document.getElementById("fold");
function fold(on) {
  document.documentElement.classList.toggle("guess", on);
  document.querySelectorAll("details.measured").forEach((part) => { part.open = !on; });
  button.textContent = on ? "Show what was measured" : "Fold what was measured";
}
if (button) {
  button.onclick = () => {
    const on = !document.documentElement.classList.contains("guess");
    kept.set("fold measured", on ? "1" : "");
    fold(on);
  };
  document.querySelectorAll("span.measured").forEach((figure) => {
    figure.addEventListener("click", () => figure.classList.add("shown"));
  });
  fold(Boolean(kept.get("fold measured")));
}
