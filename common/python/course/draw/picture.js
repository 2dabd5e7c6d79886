// One request as a picture. A row is 128 bytes, for both memories: the lanes, the 32 banks and the
// 32 words of a line share their columns.

const rect = (x, y, w, h, cls, extra = "") =>
  `<rect x="${f(x)}" y="${f(y)}" width="${f(Math.max(0, w))}" height="${f(h)}" rx="2" class="${cls}" ${extra}/>`;
const label = (x, y, t, size = 11, cls = "lab", anchor = "end") =>
  `<text x="${f(x)}" y="${f(y)}" font-size="${size}" text-anchor="${anchor}" class="${cls}">${escape(t)}</text>`;
const hatching = `<defs><pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse"
  patternTransform="rotate(45)"><rect width="1.6" height="5" style="fill:var(--hatch)"/></pattern>
  <pattern id="over" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
  <rect width="4" height="4" style="fill:var(--hot-soft)"/><rect width="2.4" height="4" style="fill:var(--hot)"/></pattern></defs>`;
const rowOf = word => Math.floor(word / 32);

/** all: nothing is stepped; else what a lane or word is at unit u. */
function phase(units, u) {
  if (u === 0) return "all";
  if (units.includes(u - 1)) return "now";
  return Math.max(...units) < u - 1 ? "past" : "wait";
}

/** The columns of a picture that is so wide, with these names at its left. */
function columns(room, names) {
  const width = Math.max(300, room), narrow = width < 560, size = narrow ? 9.5 : 11;
  const left = Math.max(narrow ? 30 : 44, Math.max(0, ...names.map(n => n.length)) * size * .67 + 10);
  const cw = Math.min(27, (width - left - 3) / 32);
  return {narrow, size, left, cw, digits: cw >= 15, tall: narrow ? 15 : 20,
          high: Math.max(narrow ? 11 : 14, Math.min(cw * .82, 19)), x: c => left + c * cw,
          right: left + 32 * cw + 3};
}
const svg = (c, height, text, inside) =>
  `<svg width="${f(c.right)}" height="${f(height)}" viewBox="0 0 ${f(c.right)} ${f(height)}" role="img" aria-label="${escape(text)}">${hatching}${inside}</svg>`;

/** The row of lanes; at(lane) is its class. */
function laneRow(c, y, at, text = "lane") {
  let out = label(c.left - 6, y + c.tall * .7, text, c.size);
  for (let l = 0; l < 32; ++l) {
    const cls = at(l);
    out += rect(c.x(l) + .8, y, c.cw - 1.6, c.tall, cls, `data-lane="${l}"`);
    if (c.digits) out += label(c.x(l) + c.cw / 2, y + c.tall * .7, l, 11, cls === "off" ? "cellt lab" : "cellt x-" + cls, "middle");
  }
  return out;
}
function laneScale(c, y) {
  return c.digits ? "" : [0, 8, 16, 24, 31].map(l => label(c.x(l) + c.cw / 2, y, l, 9, "lab", "middle")).join("");
}
function curve(c, from, to, top, bottom, cls) {
  const a = c.x(from) + c.cw / 2, b = c.x(to) + c.cw / 2, m = (top + bottom) / 2;
  return `<path d="M${f(a)} ${f(top)}C${f(a)} ${f(m)} ${f(b)} ${f(m)} ${f(b)} ${f(bottom)}" class="link ${cls}"/>`;
}

/** The row of banks, and how many words each is asked for. */
function bankRow(c, s, y) {
  const most = Math.max(...s.banks.map(b => b.size)), hot = s.units > s.groups * s.rounds;
  let out = label(c.left - 6, y + c.tall * .7, "bank", c.size);
  for (let b = 0; b < 32; ++b) {
    const bad = hot && s.banks[b].size === most && most > 1;
    out += rect(c.x(b) + .8, y, c.cw - 1.6, c.tall, bad ? "hotbank" : "bank");
    if (c.digits) out += label(c.x(b) + c.cw / 2, y + c.tall * .7, b, 11, bad ? "hott" : "lab", "middle");
  }
  y += c.tall;
  if (!hot) return {out, y: y + 5};
  out += label(c.left - 6, y + c.size + 2, s.atomic ? "lanes" : "words", c.size);
  for (let b = 0; b < 32; ++b) {
    const wanted = s.banks[b].size, near = !c.digits && b > 0 && s.banks[b - 1].size === most && most > 9;
    if (wanted && (c.digits || wanted === most) && !near) {
      out += label(c.x(b) + c.cw / 2, y + c.size + 2, wanted, c.digits ? 10.5 : 9, wanted === most ? "hott" : "lab", "middle");
    }
  }
  return {out, y: y + c.size + 6};
}

const bytesWanted = list => new Set(list.flatMap(m => [...Array(m.to - m.from).keys()].map(b => m.from + b))).size;

/** The four sectors of a line: which move, and what of them nobody wanted. */
function sectorRow(c, r, words, y, u) {
  let out = "";
  for (let k = 0; k < 4; ++k) {
    const unit = [...words].filter(([w]) => Math.floor(w / 8) === r * 4 + k).flatMap(([, list]) => list.map(m => m.unit));
    const cls = unit.length === 0 ? "slot" : "fetched" + (phase(unit, u) === "now" && u ? " on" : "");
    out += rect(c.x(k * 8) + 1, y + .5, c.cw * 8 - 2, c.high - 1, cls);
    for (let w = k * 8; unit.length && w < k * 8 + 8; ++w) {
      if (bytesWanted(words.get(r * 32 + w) || []) === 4) continue;
      out += `<rect x="${f(c.x(w) + (w % 8 ? 0 : 1.5))}" y="${f(y + 1)}" width="${f(c.cw - (w % 8 === 0 || w % 8 === 7 ? 1.5 : 0))}" height="${f(c.high - 2)}" class="waste"/>`;
    }
  }
  return out;
}

/** The wanted words of a row of 128 bytes. */
function wordRow(c, q, s, r, words, y, u, wordAt) {
  const shared = q.row.space === "shared";
  const unitsOf = lane => s.marks.filter(m => m.lane === lane).map(m => m.unit);
  let out = "", texts = "";
  for (let w = 0; w < 32; ++w) {
    const list = words.get(r * 32 + w);
    if (shared && !list) out += rect(c.x(w) + .8, y + .5, c.cw - 1.6, c.high - 1, "slot");
    if (!list) continue;
    wordAt.set(r * 32 + w, {x: c.x(w), y});
    const from = Math.min(...list.map(m => m.from)), to = Math.max(...list.map(m => m.to));
    const joins = list.length === 1 && q.size > 4;  // a lane of several words: one box, if served at once
    const whole = joins && new Set(unitsOf(list[0].lane)).size === 1;
    const first = joins && Math.floor(list[0].offset / 4) === r * 32 + w;
    const last = joins && Math.floor((list[0].offset + q.size - 4) / 4) === r * 32 + w;
    const inset = shared ? .8 : w % 8 === 0 || w % 8 === 7 ? 1.2 : .6;
    const a = c.x(w) + c.cw * from / 4 + (joins && !first ? 0 : inset), b = c.x(w) + c.cw * to / 4 - (joins && !last ? 0 : inset);
    const now = phase(list.map(m => m.unit), u);
    if (!whole || first) out += rect(a, y + 1.5, whole ? c.cw * q.size / 4 - 2 * inset : b - a, c.high - 3, now, `data-lane="${list[0].lane}"`);
    const lanes = new Set(list.map(m => m.lane)).size;
    if (c.digits && (!joins || first) && (to - from === 4 || lanes > 1)) {
      texts += label(joins ? c.x(w) + c.cw * q.size / 8 : c.x(w) + c.cw / 2, y + c.high * .74, lanes > 1 ? lanes + "\u00d7" : list[0].lane, 10, "cellt x-" + now, "middle");
    }
  }
  return out + texts;
}

const gapText = (rows, shared) => `\u22ee ${grouped(rows)} ${shared ? (rows === 1 ? "row" : "rows") : rows === 1 ? "line" : "lines"} of 128 bytes not touched`;

/** A request. view: {room, unit, lane}. */
function picture(kernel, block, q, s, view) {
  const shared = q.row.space === "shared";
  s.atomic = q.row.access === "atomic";
  const rows = [...new Set(s.marks.map(m => rowOf(m.word)))].sort((a, b) => a - b);
  const name = r => placeName(kernel, block, q.memory, r * 128, "+");
  const c = columns(view.room, rows.map(name));
  const u = Math.ceil(view.unit / s.rounds) && (Math.ceil(view.unit / s.rounds) - 1) * s.rounds + 1;
  const unitsOf = lane => s.marks.filter(m => m.lane === lane).map(m => m.unit);
  let y = c.digits ? 2 : 14, out = laneScale(c, 10);
  const laneTop = y;
  out += laneRow(c, y, l => q.lanes.includes(l) ? phase(unitsOf(l), u) : "off");
  y += c.tall;
  const linkTop = y, rank = {wait: 0, past: 1, all: 2, now: 3};
  y += shared ? (c.narrow ? 38 : 54) : c.narrow ? 26 : 34;
  const links = s.marks.map(m => ({m, p: phase([m.unit], u)})).sort((a, b) => rank[a.p] - rank[b.p]);
  const words = new Map();
  for (const m of s.marks) words.set(m.word, [...(words.get(m.word) || []), m]);
  if (shared) {
    for (const {m, p} of links) out += curve(c, m.lane, bankOf(m.word), linkTop, y, p === "all" ? "" : p);
    const banks = bankRow(c, s, y);
    out += banks.out;
    y = banks.y;
  }
  const gridTop = y, most = 34, wordAt = new Map();
  let last = null, shown = 0;
  for (const r of rows) {
    if (shown === most) {
      out += label(c.left, y + 13, `and ${plural(rows.length - shown, "row")} more`, 11, "lab", "start");
      y += 18;
      break;
    }
    if (last !== null && r !== last + 1) {
      out += label(c.x(16), y + 8, gapText(r - last - 1, shared), 9, "lab", "middle");
      y += 12;
    }
    last = r;
    ++shown;
    out += label(c.left - 6, y + c.high * .74, name(r), c.size);
    if (!shared) out += sectorRow(c, r, words, y, u);
    out += wordRow(c, q, s, r, words, y, u, wordAt);
    y += c.high;
  }
  if (!shared) {
    for (const {m, p} of links) {
      if (!wordAt.get(m.word) || (q.size > 4 && m.word !== Math.floor(m.offset / 4))) continue;
      if (p === "now" || (p === "all" && rows.length <= 2)) out += curve(c, m.lane, bankOf(m.word), linkTop, gridTop - 1, p === "all" ? "" : p);
    }
    y += 13;
    for (let k = 0; k < 4; ++k) {
      out += label(c.x(k * 8 + 4), y - 1, c.narrow ? "sector " + k : "sector " + k + " of the line", c.narrow ? 9 : 10.5, "lab", "middle");
    }
    y += 2;
  }
  if (view.lane >= 0 && q.lanes.includes(view.lane)) {
    out += rect(c.x(view.lane), laneTop - 1, c.cw, c.tall + 2, "pick");
    for (const m of s.marks.filter(m => m.lane === view.lane && wordAt.has(m.word))) {
      out += rect(wordAt.get(m.word).x, wordAt.get(m.word).y, c.cw, c.high, "pick");
    }
  }
  return svg(c, y + 4, explain(kernel, q, s), out);
}

// ---- What the copy engine moves ----

/** The runs of bytes of a shape, [from, to), at most `most` of them; side 1: where to, 2: from. */
function runsOf(offset, shape, side, most) {
  let runs = [offset];
  for (const part of shape.slice(1)) {
    const next = [];
    for (let n = 0; n < part[0] && next.length < most; ++n) next.push(...runs.map(r => r + n * part[side]));
    runs = next;
  }
  return runs.slice(0, most).map(r => [r, r + shape[0][0]]);
}

function byteRows(kernel, block, c, memory, runs, y) {
  const rows = new Map();
  for (const [from, to] of runs) for (let r = Math.floor(from / 128); r * 128 < to && rows.size < 4096; ++r) {
    rows.set(r, [...(rows.get(r) || []), [Math.max(from, r * 128) - r * 128, Math.min(to, r * 128 + 128) - r * 128]]);
  }
  const all = [...rows.keys()].sort((a, b) => a - b), most = 8;
  const shown = all.length > most ? [...all.slice(0, most - 2), ...all.slice(-1)] : all;
  let out = "", last = null;
  for (const r of shown) {
    if (last !== null && r !== last + 1) {
      const between = all.filter(k => k > last && k < r).length;
      out += label(c.x(16), y + 9, between ? `\u22ee ${grouped(between)} more rows` : gapText(r - last - 1, memory === SHARED), 9, "lab", "middle");
      y += 13;
    }
    last = r;
    out += label(c.left - 6, y + c.high * .74, placeName(kernel, block, memory, r * 128, "+"), c.size);
    out += rect(c.x(0), y + .5, c.cw * 32, c.high - 1, "slot");
    for (const [a, b] of rows.get(r)) out += rect(c.x(a / 4), y + 1.5, c.cw * (b - a) / 4, c.high - 3, "all");
    y += c.high;
  }
  return {out, y};
}

function copyPicture(kernel, block, copy, view) {
  const names = [placeName(kernel, block, copy.from, copy.source + 8192, "+"), placeName(kernel, block, copy.to, copy.target + 8192, "+")];
  const c = columns(view.room, names), middle = c.x(16);
  let out = laneScale(c, 10), y = c.digits ? 2 : 14;
  out += laneRow(c, y, l => l === copy.lane ? "now" : "off");
  y += c.tall;
  out += curve(c, copy.lane, 16, y, y + 24, "now") + label(middle + 12, y + 20, "starts it; the copy engine reads", 10.5, "lab", "start");
  const from = byteRows(kernel, block, c, copy.from, runsOf(copy.source, copy.shape, 2, 64), y + 26);
  out += from.out;
  y = from.y + 4;
  out += `<path d="M${f(middle)} ${f(y)}V${f(y + 18)}m-5 -7l5 7l5 -7" class="link now"/>` + label(middle + 12, y + 15, "and writes", 10.5, "lab", "start");
  const to = byteRows(kernel, block, c, copy.to, runsOf(copy.target, copy.shape, 1, 64), y + 22);
  return svg(c, to.y + 6, explainCopy(kernel, block, copy), out + to.out);
}

// ---- What the checks found ----

/** A request of the page that made this access: {b, w, l, r, q}, or null. */
function requestOf(kernel, side, offset) {
  const same = (a, b) => a && b && a.every((v, k) => v === b[k]), warp = side.thread >> 5, lane = side.thread & 31;
  for (let b = 0; b < kernel.blocks.length; ++b) {
    if (!same(kernel.blocks[b].block, side.block)) continue;
    for (const [w, items] of kernel.blocks[b].warps) {
      const nth = {};
      for (const item of w === warp ? items.filter(isRequest) : []) {
        const r = nth[item[0]] = (nth[item[0]] ?? -1) + 1, q = request(kernel, item), k = q.lanes.indexOf(lane);
        const here = k >= 0 && q.offsets[k] <= offset && offset < q.offsets[k] + q.size;
        if (here && q.row.line === side.line && q.row.file === side.file && (q.memory === SHARED) === (side.memory === SHARED)) {
          return {b, w, l: q.at, r, q};
        }
      }
    }
  }
  return null;
}

const triple = t => t[2] > 0 || t[1] > 0 ? `(${t.join(", ")})` : t[0];
const sideText = (side, did) => `block ${triple(side.block)}, warp ${side.thread >> 5}, lane ${side.thread & 31} ${did}`;

/** Both sides of a finding, as far as it has them: {text, lane, lanes: Map, place}. */
function sidesOf(kernel, finding) {
  if (finding.thread === undefined) return [];
  const make = (side, did) => {
    const place = requestOf(kernel, {...side, memory: finding.memory}, finding.offset);
    const lanes = new Map(place ? place.q.lanes.map((l, k) => [l, place.q.offsets[k]]) : finding.other && side === finding.other ? [] : finding.lanes);
    lanes.set(side.thread & 31, finding.offset);
    return {...side, text: `${sideText(side, did)}, line ${side.line}`, lane: side.thread & 31, lanes, place};
  };
  const words = {reads: "reads", writes: "writes", updates: "updates"};
  const sides = [make(finding, words[finding.does] || "touches")];
  if (finding.other) {
    const before = / (wrote|read|updated) it at /.exec(finding.text);
    sides.unshift(make(finding.other, before ? before[1] : "touched"));
  }
  return sides;
}

function findingPicture(kernel, finding, view) {
  const sides = sidesOf(kernel, finding), block = kernel.blocks[0] || {shared: []};
  if (!sides.length || finding.memory === -1) return "";
  const memory = finding.memory, fault = Math.floor(finding.offset / 4), end = memory >= 0 ? kernel.memories[memory].bytes : Infinity;
  const rows = new Set([rowOf(fault)]);
  if (memory >= 0 && fault * 4 >= end && rowOf(fault) - rowOf((end - 1) / 4) < 2) rows.add(rowOf((end - 1) / 4));
  for (const side of sides) for (const offset of side.lanes.values()) if (Math.abs(rowOf(offset / 4) - rowOf(fault)) <= 1) rows.add(rowOf(offset / 4));
  const sorted = [...rows].sort((a, b) => a - b);
  const c = columns(view.room, sorted.map(r => placeName(kernel, block, memory, r * 128, "+")));
  let y = 14, out = label(c.left, 11, sides[0].text, 11, "lab", "start") + laneScale(c, y + 10);
  if (!c.digits) y += 12;
  y += 3;
  const draw = (side, top, gridTop, gridBottom) => {
    out += laneRow(c, top, l => l === side.lane ? "bad" : side.lanes.has(l) ? "wait" : "off");
    for (const [l, offset] of side.lanes) {
      const word = Math.floor(offset / 4), above = top < gridTop;
      if (!rows.has(rowOf(word))) continue;
      const from = above ? top + c.tall : top, to = above ? gridTop + sorted.indexOf(rowOf(word)) * c.high + 2 : gridTop + (sorted.indexOf(rowOf(word)) + 1) * c.high - 2;
      out += curve(c, l, bankOf(word), from, to, l === side.lane ? "bad" : "wait");
    }
  };
  const top = y, gridTop = y + c.tall + 40;
  y = gridTop;
  for (const r of sorted) {
    out += label(c.left - 6, y + c.high * .74, placeName(kernel, block, memory, r * 128, "+"), c.size);
    for (let w = 0; w < 32; ++w) {
      const at = r * 32 + w, outside = at < 0 || at * 4 >= end;
      out += rect(c.x(w) + .8, y + .5, c.cw - 1.6, c.high - 1, outside ? "outside" : "bank");
      if (at >= fault && at * 4 < finding.offset + finding.bytes) out += rect(c.x(w), y, c.cw, c.high, "badword");
    }
    y += c.high;
  }
  draw(sides[0], top, gridTop, y);
  if (sides.length > 1) {
    y += 40;
    draw(sides[1], y, gridTop, y - 40);
    y += c.tall + 14;
    out += label(c.left, y, sides[1].text, 11, "lab", "start");
  }
  return svg(c, y + 6, finding.text, out);
}
