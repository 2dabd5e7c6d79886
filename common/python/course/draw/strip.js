// The block: what each warp did, one step after the other, between its barriers. Never a time.

const cellLanes = cell => cell.lanes;

/** A warp's items as cells between barriers. */
function cellsOf(kernel, items) {
  const phases = [[]], barriers = [], seen = {};
  for (const item of items) {
    const cells = phases[phases.length - 1], last = cells[cells.length - 1];
    if (isRequest(item)) {
      seen[item[0]] = (seen[item[0]] ?? -1) + 1;
      cells.push({place: item[0], nth: seen[item[0]], lanes: lanesOf(item[1]).length, w: Math.max(1, item[3] / item[4])});
    } else if (isCopy(item)) {
      const at = copyPlace(kernel, item);
      seen[at] = (seen[at] ?? -1) + 1;
      cells.push({place: at, nth: seen[at], copy: true, lanes: 32, w: 1});
    } else if (typeof item === "string") {
      if (last && last.left) last.left += +item; else cells.push({left: +item, lanes: 32, w: 1});
    } else if (item < 0) {
      barriers.push(-item);
      phases.push([]);
    } else if (last && last.steps) {
      last.lanes = Math.max(last.lanes, item % 64);
      last.steps += Math.floor(item / 64);
    } else cells.push({steps: Math.floor(item / 64), lanes: item % 64, w: .7});
  }
  return {phases, barriers};
}

const layouts = new Map();
function stripLayout(kernel, block) {
  if (layouts.has(block)) return layouts.get(block);
  const warps = block.warps.map(([id, items]) => ({id, ...cellsOf(kernel, items)}));
  const widths = [];
  for (const warp of warps) warp.phases.forEach((cells, p) => {
    widths[p] = Math.max(widths[p] || 0, cells.reduce((sum, c) => sum + c.w, .6));
  });
  const full = warps.find(w => w.barriers.length === widths.length - 1) || warps[0];
  const found = {warps, widths, lines: full ? full.barriers : []};
  layouts.set(block, found);
  return found;
}

/** One cell; `now`: it is the request that is shown. */
function cell(kernel, c, w, x, y, high, unit, chosen, now) {
  const h = Math.max(2, high * cellLanes(c) / 32), at = `data-w="${w}" data-l="${c.place}" data-n="${c.nth}"`;
  if (c.steps) return rect(x, y + high - Math.max(1.5, h * .28), c.w * unit - .8, Math.max(1.5, h * .28), "t-step");
  if (c.left) return label(x + unit / 2, y + high - 1, "\u2026", 10, "lab", "middle");
  const dim = c.place === chosen ? "" : " t-dim";
  const space = c.copy ? "copy" : kernel.rows[kernel.places[c.place].row].space;
  let out = rect(x, y + high - h, unit - .8, h, `t-hit t-${space}${dim}`, at);
  if (c.w > 1) out += rect(x + unit - .8, y + high - h, (c.w - 1) * unit, h, "t-hit t-over" + dim, at);
  return out + (now ? rect(x - 1.5, y - 1, c.w * unit + 2.2, high + 2, "t-now") : "");
}

function strip(kernel, block, state, width) {
  const {warps, widths, lines} = stripLayout(kernel, block);
  const room = Math.max(280, width) - 54, total = widths.reduce((a, b) => a + b, 0);
  const unit = Math.min(15, Math.max(4.5, room / total)), high = warps.length > 16 ? 9 : 14, top = widths.length > 1 ? 20 : 4;
  let out = "";
  warps.forEach((warp, n) => {
    const y = top + n * (high + 2);
    out += rect(46, y, total * unit, high, "t-warp", `data-w="${warp.id}"`);
    if (high > 9 || n % 4 === 0 || warp.id === state.w) out += label(40, y + high * .82, (n === 0 ? "warp " : "") + warp.id, 10, warp.id === state.w ? "sel" : "lab");
    let start = 46;
    widths.forEach((phaseWidth, p) => {
      let x = start;
      for (const c of warp.phases[p] || []) {
        out += cell(kernel, c, warp.id, x, y, high, unit, state.l, warp.id === state.w && c.place === state.l && c.nth === state.r);
        x += c.w * unit;
      }
      start += phaseWidth * unit;
    });
  });
  let x = 46, text = -99;
  widths.forEach((phaseWidth, p) => {
    x += phaseWidth * unit;
    if (p === widths.length - 1) return;
    const at = x - .3 * unit;
    out += `<line x1="${f(at)}" x2="${f(at)}" y1="14" y2="${top + warps.length * (high + 2)}" class="t-bar"/>`;
    if (x - text > 46) { out += label(at, 10, "line " + lines[p], 10, "lab", "middle"); text = x; }
  });
  const height = top + warps.length * (high + 2) + 4, full = Math.max(room + 50, total * unit + 52);
  return `<svg width="${full}" height="${height}" role="img" aria-label="${plural(warps.length, "warp")}, ${plural(widths.length - 1, "barrier")}">${hatching}${out}</svg>`;
}
