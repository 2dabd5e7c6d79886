"use strict";
// The rules, in the page: what a request costs, from its addresses alone (as recount.py, as
// common/simt/count.cpp).

const lanesOf = mask => [...Array(32).keys()].filter(l => (mask >>> l) & 1);
const isRequest = item => Array.isArray(item) && item[0] !== "copy";
const isCopy = item => Array.isArray(item) && item[0] === "copy";

/** A request as the page draws it, from the packed list. */
function request(kernel, item) {
  const [at, mask, size, units, ideal, memory, first, step] = item;
  const lanes = lanesOf(mask), place = kernel.places[at];
  const offsets = Array.isArray(first) ? first.map((a, k) => k ? a + first[0] : a)
                                       : lanes.map((_, k) => first + k * step);
  return {at, place, row: kernel.rows[place.row], size, units, ideal, memory, lanes, offsets};
}

/** The words of 4 bytes that the lanes want: {lane, word, from, to (bytes in it), unit}. */
function marksOf(q) {
  const marks = [];
  q.lanes.forEach((lane, k) => {
    const a = q.offsets[k], end = a + q.size;
    for (let w = Math.floor(a / 4); w * 4 < end; ++w) {
      marks.push({lane, word: w, from: Math.max(a, w * 4) - w * 4, to: Math.min(end, w * 4 + 4) - w * 4,
                  offset: a, unit: 0});
    }
  });
  return marks;
}
const bankOf = word => ((word % 32) + 32) % 32;

function solveSharedAtomic(q, marks, banks) {
  const turns = q.place.turns || 1, seen = Array(32).fill(0);
  q.lanes.forEach((lane, k) => {
    const bank = bankOf(Math.floor(q.offsets[k] / 4));
    for (const m of marks) if (m.lane === lane) m.unit = seen[bank] * turns;
    banks[bank].add(lane);
    ++seen[bank];
  });
  return {marks, banks, units: Math.max(...seen) * turns, ideal: 1, groups: 1, rounds: turns};
}

function solveShared(q, marks, banks) {
  let together = q.size <= 4 ? 32 : q.size === 8 ? 16 : 8, units = 0, groups = 0;
  const at = new Map(q.lanes.map((lane, k) => [lane, q.offsets[k]]));
  const paired = x => q.lanes.every((lane, k) => !at.has(lane ^ x) || at.get(lane ^ x) === q.offsets[k]);
  if (q.row.access === "load" && q.size >= 8 && (paired(1) || paired(2))) together *= 2;
  for (let g = 0; g < 32 / together; ++g) {
    const mine = marks.filter(m => Math.floor(m.lane / together) === g);
    if (mine.length === 0) continue;
    ++groups;
    const words = Array.from({length: 32}, () => []);
    for (const m of mine) {
      const list = words[bankOf(m.word)];
      if (!list.includes(m.word)) list.push(m.word);
      m.unit = units + list.indexOf(m.word);
      banks[bankOf(m.word)].add(m.word);
    }
    units += Math.max(...words.map(l => l.length));
  }
  return {marks, banks, units, ideal: groups, groups, rounds: 1};
}

function solveGlobal(q, marks) {
  const ideal = Math.ceil(q.lanes.length * q.size / 32);
  const sectors = [...new Set(marks.map(m => Math.floor(m.word / 8)))].sort((a, b) => a - b);
  if (q.row.access !== "atomic") {
    for (const m of marks) m.unit = sectors.indexOf(Math.floor(m.word / 8));
    return {marks, units: sectors.length, ideal, sectors, groups: 1, rounds: 1};
  }
  let units = 0;
  for (const s of [...new Set(q.offsets.map(o => Math.floor(o / 32)))].sort((a, b) => a - b)) {
    const turns = new Map();  // a sector is visited once for each lane that hits the same address
    q.lanes.forEach((lane, k) => {
      if (Math.floor(q.offsets[k] / 32) !== s) return;
      const turn = turns.get(q.offsets[k]) || 0;
      for (const m of marks) if (m.lane === lane) m.unit = units + turn;
      turns.set(q.offsets[k], turn + 1);
    });
    units += Math.max(...turns.values());
  }
  return {marks, units, ideal, sectors, groups: 1, rounds: 1};
}

/** Which unit (wavefront or sector) serves which word of which lane. */
function solve(q) {
  const marks = marksOf(q), banks = Array.from({length: 32}, () => new Set());
  if (q.row.space !== "shared") return solveGlobal(q, marks);
  return q.row.access === "atomic" ? solveSharedAtomic(q, marks, banks) : solveShared(q, marks, banks);
}

/** Every request of the page, counted once more: {right, wrong}. */
function recount(kernels) {
  const sum = {right: 0, wrong: 0};
  for (const kernel of kernels) for (const block of kernel.blocks) for (const [, items] of block.warps) {
    for (const item of items.filter(isRequest)) {
      const q = request(kernel, item), s = solve(q);
      ++sum[s.units === q.units && s.ideal === q.ideal ? "right" : "wrong"];
    }
  }
  return sum;
}
