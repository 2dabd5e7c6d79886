// The page: what is chosen, what is shown, and what keys and pointers do.

const $ = id => document.getElementById(id);
const run = JSON.parse($("data").textContent), kernels = run.kernels;
const state = {k: 0, l: -1, b: 0, w: 0, r: 0, u: 0, f: -1, lane: -1};
let timer = 0;

// ---- What is chosen ----

const kernelNow = () => kernels[state.k];
const blockNow = () => kernelNow().blocks[state.b] || {warps: [], shared: []};
const itemsOf = w => (blockNow().warps.find(([id]) => id === w) || [0, []])[1];

/** Copies have places behind those of requests: one for each line that starts them. */
function copyPlaces(kernel) {
  if (!kernel.copies) {
    kernel.copies = [];
    for (const block of kernel.blocks) for (const [, items] of block.warps) for (const item of items.filter(isCopy)) {
      if (!kernel.copies.some(c => c[1] === item[1] && c[2] === item[2])) kernel.copies.push(item);
    }
  }
  return kernel.copies;
}
const copyPlace = (kernel, item) => kernel.places.length + copyPlaces(kernel).findIndex(c => c[1] === item[1] && c[2] === item[2]);
const isCopyPlace = l => l >= kernelNow().places.length;
const requestsOf = (items, l) => items.filter(i => isRequest(i) ? i[0] === l : isCopy(i) && copyPlace(kernelNow(), i) === l);
const copyOf = item => ({file: item[1], line: item[2], lane: item[3], to: item[4], target: item[5], from: item[6], source: item[7], shape: item[8]});

const ratio = o => o.ideal ? o.units / o.ideal : 0;
/** The place that is furthest from its ideal; the first of several. */
function worstPlace() {
  const places = kernelNow().places;
  let best = 0;
  places.forEach((p, k) => { if (ratio(p) > ratio(places[best]) + 1e-9) best = k; });
  return best;
}
/** Of a place, the request of the page that is furthest from its ideal: {b, w, r}. */
function worstRequest(l, blocks) {
  let best = null, most = -1;
  for (const b of blocks) for (const [w, items] of (kernelNow().blocks[b] || {warps: []}).warps) {
    requestsOf(items, l).forEach((item, r) => {
      const excess = isCopy(item) ? 0 : item[3] / item[4];
      if (excess > most) { most = excess; best = {b, w, r}; }
    });
  }
  return best || {b: blocks[0] || 0, w: state.w, r: 0};
}
const everyBlock = () => [...kernelNow().blocks.keys()];

// ---- Source ----

const KEYWORDS = /\b(__\w+|const|int|unsigned|float|double|if|for|while|return|template|class|auto|constexpr|void|namespace|std|extern|threadIdx|blockIdx|blockDim|gridDim)\b/g;
function coloured(line) {
  const cut = line.indexOf("//"), code = cut < 0 ? line : line.slice(0, cut);
  return escape(code).replace(KEYWORDS, '<span class="k">$1</span>') + (cut < 0 ? "" : `<span class="c">${escape(line.slice(cut))}</span>`);
}

// Guess first: a place keeps its figures to itself until somebody has said what they will be.
const guessed = new Map();
let guessing = false;
const asks = l => guessing && !isCopyPlace(l) && !guessed.has(state.k + "," + l);

function ask(q) {
  const shared = q.row.space === "shared", n = q.lanes.length;
  const most = shared ? [1, 2, 4, 8, 16, 32] : [1, 2, 4, 5, 8, 16, 32];
  const choices = [...new Set([...most, q.units])].sort((a, b) => a - b);
  return `Read line ${q.row.line}. Warp ${state.w}, request ${state.r + 1}: ${n === 1 ? "one lane takes" : n + " lanes take"} part, ${plural(q.size, "byte")} each. How many ${unitOf(q.row)}s?`
    + `<div class="choices">${choices.map(c => `<button data-guess="${c}">${c}</button>`).join("")}</div>`;
}

/** "in", or, of several places on one line without a name, "2nd of 3". */
function placeTitle(kernel, k) {
  const place = kernel.places[k], row = kernel.rows[place.row];
  const same = kernel.places.map((p, i) => [p, i]).filter(([p]) => p.row === place.row);
  const alike = same.filter(([p]) => p.name === place.name);
  const number = alike.length > 1 ? `${place.name ? " " : ""}(${alike.findIndex(([, i]) => i === k) + 1} of ${alike.length})` : "";
  return `${row.space} ${row.access}${place.name || number ? " " : ""}${place.name}${number}`;
}

function chip(kernel, k) {
  const place = kernel.places[k], row = kernel.rows[place.row], unit = unitOf(row) + "s", title = escape(placeTitle(kernel, k));
  if (asks(k)) return `<button class="chip ${row.space}" data-line="${k}" aria-pressed="false">${title}: <b>?</b></button>`;
  const per = +(place.units / place.requests).toFixed(2), ideal = +(place.ideal / place.requests).toFixed(2);
  const hot = 2 * place.units > 3 * place.ideal, lanes = place.lanes / place.requests;
  const verdict = hot ? `<span class="warn">\u25b2 ${row.space === "global" ? "uncoalesced" : Math.round(ratio(place)) + "-way bank conflict"}</span>`
    : per > ideal ? `<span>(ideal ${ideal})</span>` : '<span class="fine">\u2713</span>';
  return `<button class="chip ${row.space}${hot ? " hot" : ""}" data-line="${k}" aria-pressed="false">${title}: `
    + `<b>${per}</b> ${per === 1 ? unit.slice(0, -1) : unit}${hot ? ` (ideal ${ideal})` : ""}${lanes < 31.995 ? `, ${plural(f(lanes), "lane")}` : ""}, ${plural(place.requests, "request")} ${verdict}</button>`;
}
const copyChip = (kernel, k) => `<button class="chip copy" data-line="${kernel.places.length + k}" aria-pressed="false">${shapeOf(kernel.copies[k][8]).name}</button>`;

/** A file's copies and places of a line, in the code's order. */
function chipsOf(kernel, file, line) {
  const places = kernel.places.map((p, k) => [kernel.rows[p.row], k]).filter(([row]) => row.file === file && row.line === line);
  const copies = copyPlaces(kernel).map((c, k) => [c, k]).filter(([c]) => c[1] === file && c[2] === line);
  return {hot: places.some(([, k]) => 2 * kernel.places[k].units > 3 * kernel.places[k].ideal && !asks(k)),
          chips: [...places.map(([, k]) => chip(kernel, k)), ...copies.map(([, k]) => copyChip(kernel, k))]};
}
const findingsAt = (kernel, file, line) => kernel.findings.map((found, k) => [found, k])
  .filter(([found]) => [found, found.other || {}].some(s => s.file === file && s.line === line));
const findingChip = ([found, k]) => `<button class="chip found" data-finding="${k}" aria-pressed="false">\u2716 ${escape(found.kind)}</button>`;

function showSource() {
  const kernel = kernelNow();
  let out = "";
  for (const file of kernel.source) {
    out += `<div class="file">${escape(file.name)}</div>`;
    const preface = guessing ? Math.max(0, file.text.findIndex(t => !t.startsWith("//"))) : 0;  // it may tell
    file.text.forEach((text, k) => {
      if (k < preface) return;
      const no = file.first + k, {hot, chips} = chipsOf(kernel, file.name, no), found = findingsAt(kernel, file.name, no);
      const all = [...found.map(findingChip), ...chips];
      out += `<div class="row${all.length ? " counted" : ""}${hot ? " hot" : ""}${found.length ? " wrong" : ""}"><span class="no">${no}</span><span class="text">${coloured(text) || " "}</span></div>`;
      if (all.length) out += `<div class="chips">${all.join("")}</div>`;
    });
  }
  if (!kernel.source.length) out = `<div class="chips">${kernel.places.map((p, k) => chip(kernel, k)).join("")}</div>`;
  $("code").innerHTML = out;
}

// ---- The kernel ----

const dims = d => d[2] > 1 ? d.join(" \u00d7 ") : d[1] > 1 ? d[0] + " \u00d7 " + d[1] : "" + d[0];
const sized = b => b < 10240 && b % 1024 ? plural(b, "byte") : b >= 1048576 ? f(b / 1048576) + " MiB" : b >= 1024 ? f(b / 1024) + " KiB" : plural(b, "byte");
const whyBlock = {first: "the first", worst: "the one furthest from its ideal", finding: "the first with a finding"};

/** What a page leaves out. */
function leftOut(kernel, block) {
  const parts = [];
  if (block.warps.length < block.of) parts.push(`${block.of - block.warps.length} of ${block.of} warps`);
  const requests = block.warps.flatMap(([, items]) => items).filter(i => typeof i === "string").reduce((sum, i) => sum + +i, 0);
  if (requests) parts.push(`${grouped(requests)} requests of these warps (of a place, a warp's first ${kernel.most} are kept)`);
  const blocks = kernel.blocks.filter(b => b.launch === 1).length;
  if (blocks < kernel.blocks_of_first) parts.push("the other blocks");
  return parts.length ? ` Not drawn: ${parts.join("; ")}.` : "";
}

function showKernel() {
  const kernel = kernelNow(), block = blockNow(), focused = $("kernels").contains(document.activeElement);
  const first = kernels[0].label, cut = first.lastIndexOf(" ") + 1;  // "strided_copy 2": the name only once
  const common = kernels.length > 1 && cut > 0 && kernels.every(k => k.label.startsWith(first.slice(0, cut))) ? cut : 0;
  const name = k => k.label ? escape(k.label.slice(common)) + (kernels.filter(o => o.label === k.label).length > 1 ? " \u00b7 " + escape(k.kernel) : "") : escape(k.kernel);
  $("kernels").innerHTML = (common ? `<span>${escape(first.slice(0, cut))}</span>` : "")
    + kernels.map((k, i) => `<button data-k="${i}" aria-pressed="${i === state.k}">${name(k)}</button>`).join("");
  const memories = kernel.memories.map(m => m.names.map(n => n[1]).slice(0, 4).join(", ") + " " + sized(m.bytes));
  const shared = block.shared.map(([n, , bytes]) => n + " " + sized(bytes));
  $("facts").innerHTML = `<b>${escape(kernel.kernel)}</b>: ${plural(kernel.block_count, "block")} in ${plural(kernel.launches, "launch")}`
    + (block.shape ? `, blocks of ${dims(block.shape)} threads${dims(block.cluster) === "1" ? "" : `, clusters of ${dims(block.cluster)} blocks`}. ` : ". ")
    + "Figures beside the source: all blocks. "
    + (block.block ? `Drawn: block ${triple(block.block)}, ${whyBlock[block.why]}${block.launch > 1 ? `, of launch ${block.launch}` : ""}.` : "No block was kept.")
    + (block.of ? leftOut(kernel, block) : "")
    + (memories.length ? ` Global memory: ${escape(memories.join("; "))}.` : "") + (shared.length ? ` Shared memory: ${escape(shared.join("; "))}.` : "")
    + (run.left_out.length ? ` Left out, for size: ${escape(run.left_out.join(", "))}; choose them with --only.` : "");
  const pressed = $("kernels").querySelector('[aria-pressed="true"]');
  $("kernels").scrollTop = pressed.offsetTop - $("kernels").offsetTop - 40;
  if (focused) pressed.focus();  // for who goes on by keyboard
  $("findings").hidden = !kernel.findings.length;
  $("findings").innerHTML = kernel.findings.map((found, k) => `<button class="chip found" data-finding="${k}" aria-pressed="false">\u2716 ${escape(found.kind)}: ${escape(found.text)}</button>`).join("");
}

// ---- One request, one copy, one finding ----

function swatch(cls, inside = "") {
  return `<svg width="16" height="13" aria-hidden="true">${hatching}${inside}<rect x="1" y="1" width="14" height="11" rx="2" class="${cls}"/></svg>`;
}
function legend(q) {
  const shared = q.row.space === "shared", items = [];
  if (state.u === 0) items.push(swatch("all") + (shared ? "word that a lane wants" : "bytes that a lane wants"));
  else items.push(swatch("now") + "now", swatch("past") + "served", swatch("wait") + "waits");
  if (!shared) items.push(swatch("waste", '<rect x="1" y="1" width="14" height="11" rx="2" class="fetched"/>') + "moved, not used");
  if (q.lanes.length < 32) items.push(swatch("off") + "lane takes no part");
  items.push(($("picture").clientWidth > 540 ? "numbers in the cells: lanes; " : "") + (shared ? "a row is 128 bytes, 4 in each of 32 banks" : "a row is a line of 128 bytes"));
  return items.map(i => `<span>${i}</span>`).join("");
}

function laneTable(kernel, block, q, s) {
  const shared = q.row.space === "shared";
  const rows = q.lanes.map((lane, k) => {
    const marks = s.marks.filter(m => m.lane === lane), units = [...new Set(marks.map(m => m.unit + 1))].join(", ");
    const bank = shared ? `<td>${[...new Set(marks.map(m => bankOf(m.word)))].join(", ")}</td>` : "";
    return `<tr><th scope="row">${lane}</th><td>${escape(placeName(kernel, block, q.memory, q.offsets[k]))}</td>${bank}<td>${units}</td></tr>`;
  });
  return `<table><caption>Lanes of this request</caption><tr><th scope="col">lane</th><th scope="col">byte</th>${shared ? '<th scope="col">bank</th><th scope="col">wavefront</th>' : '<th scope="col">sector</th>'}</tr>${rows.join("")}</table>`;
}

function showRequest(kernel, block, list) {
  const q = request(kernel, list[state.r]), s = solve(q), unit = unitOf(q.row);
  $("view").classList.toggle("asking", asks(state.l));
  $("question").innerHTML = asks(state.l) ? ask(q) : "";
  $("lanes").hidden = asks(state.l);
  if (asks(state.l)) return;
  const said = guessing ? guessed.get(state.k + "," + state.l) : null;
  state.u = Math.min(state.u, s.units);
  const hot = 2 * s.units > 3 * q.ideal;
  const hint = !hot ? s.units > q.ideal ? "" : '<span class="badge fine">\u2713 ideal</span>'
    : `<span class="badge">\u25b2 ${q.row.space === "global" ? "uncoalesced" : Math.round(s.units / q.ideal) + "-way bank conflict"}</span>`;
  let tally = "";
  for (let k = 1; k <= s.units; ++k) {
    tally += `<button data-u="${k}" tabindex="-1" class="${k > q.ideal ? "over " : ""}${k === state.u ? "on" : k < state.u ? "past" : ""}" aria-label="${unit} ${k}"></button>`;
  }
  $("score").innerHTML = `<span class="big${hot ? " hot" : ""}">${s.units}<small>${s.units === 1 ? unit : unit + "s"}</small></span>`
    + `<span class="big">${q.ideal}<small>ideal</small></span>${q.lanes.length < 32 ? `<span class="big few">${q.lanes.length}<small>of 32 lanes</small></span>` : ""}${hint}<div class="tally${state.u ? " seen" : ""}${s.units > 8 ? " many" : ""}" role="group" aria-label="${plural(s.units, unit)}">${tally}</div>`;
  const out = 32 - q.lanes.length, sits = out ? ` ${plural(out, "lane")} of the warp ${out === 1 ? "sits" : "sit"} out.` : "";
  $("why").innerHTML = (said && said.r === state.r && said.w === state.w ? `<span class="answer">${said.n === s.units ? "\u2713 Right." : `You said ${said.n}; it is ${s.units}.`}</span> ` : "") + escape(explain(kernel, q, s) + sits);
  $("unit").max = s.units;
  $("unit").value = state.u;
  $("unit").setAttribute("aria-valuetext", state.u ? `${unit} ${state.u} of ${s.units}` : "all at once");
  $("unow").textContent = state.u ? `${state.u} of ${s.units}` : "all";
  $("picture").innerHTML = picture(kernel, block, q, s, {room: $("picture").clientWidth, unit: state.u, lane: state.lane});
  $("detail").textContent = detailOf(kernel, block, q, s, state.lane, state.u) || "Point at a lane, or step through the " + unit + "s.";
  $("key").innerHTML = legend(q);
  $("table").innerHTML = laneTable(kernel, block, q, s);
}

function clear(text) {
  $("view").classList.remove("asking");
  $("lanes").hidden = true;
  for (const id of ["question", "score", "picture", "key", "table", "detail", "unow"]) $(id).innerHTML = "";
  $("why").textContent = text;
  $("unit").max = 0;
}

function showCopy(kernel, block, item) {
  const copy = copyOf(item);
  clear(explainCopy(kernel, block, copy));
  $("picture").innerHTML = copyPicture(kernel, block, copy, {room: $("picture").clientWidth});
  $("key").innerHTML = `<span>${swatch("now")}the lane that starts it</span><span>${swatch("all")}bytes that move</span><span>a row is 128 bytes</span>`;
}

function showFinding(kernel) {
  const found = kernel.findings[state.f], sides = sidesOf(kernel, found);
  clear(found.text.charAt(0).toUpperCase() + found.text.slice(1) + ".");
  $("head").innerHTML = `<span class="what">\u2716 ${escape(found.kind)}</span><span class="small">found by the checks of the CPU backend</span>`;
  $("picture").innerHTML = findingPicture(kernel, found, {room: $("picture").clientWidth});
  $("detail").innerHTML = sides.filter(s => s.place).map(s => `<button data-go="${s.place.b},${s.place.w},${s.place.l},${s.place.r}">The request of line ${s.line}</button>`).join(" ");
  $("key").innerHTML = $("picture").innerHTML && `<span>${swatch("bad")}the lane and the word at fault</span><span>${swatch("wait")}other lanes of the same request</span>`
    + (found.memory >= 0 ? `<span>${swatch("outside")}outside of the memory</span>` : "");
}

// ---- All of it ----

function headOf(kernel) {
  if (isCopyPlace(state.l)) {
    const c = kernel.copies[state.l - kernel.places.length];
    return `<span class="what">${shapeOf(c[8]).name}</span><code>${escape(c[1])}:${c[2]}</code><span class="small">not counted: no load or store of a lane</span>`;
  }
  const place = kernel.places[state.l], row = kernel.rows[place.row], unit = unitOf(row);
  const average = +(place.units / place.requests).toFixed(2), wanted = +(place.ideal / place.requests).toFixed(2);
  return `<span class="what">${escape(placeTitle(kernel, state.l))}</span><code>${escape(row.file)}:${row.line}</code>`
    + (row.exact ? "" : '<span class="badge fine">not exact</span>')
    + (asks(state.l) ? "" : `<span class="small">in all blocks: ${plural(place.requests, "request")}, ${plural(average, unit)} per request, ideal ${wanted}</span>`);
}

function showControls(kernel, block, list) {
  const warps = block.warps.map(([id]) => id), at = warps.indexOf(state.w);
  const unit = isCopyPlace(state.l) ? "" : unitOf(kernel.rows[kernel.places[state.l].row]);
  $("bgroup").hidden = kernel.blocks.length < 2;
  $("bnow").textContent = block.block ? triple(block.block) : "";
  $("bprev").disabled = state.b === 0;
  $("bnext").disabled = state.b >= kernel.blocks.length - 1;
  $("wnow").textContent = state.w;
  $("wprev").disabled = at <= 0;
  $("wnext").disabled = at === warps.length - 1;
  $("rnow").textContent = list.length ? `${state.r + 1} of ${list.length}` : "none";
  $("rprev").disabled = state.r === 0;
  $("rnext").disabled = state.r >= list.length - 1;
  $("ugroup").hidden = isCopyPlace(state.l) || state.f >= 0;
  $("uname").textContent = unit;
  $("play").innerHTML = timer ? "&#10074;&#10074;" : "&#9654;";
  $("play").setAttribute("aria-label", timer ? "Pause" : "Play");
}

function showStrip(kernel, block) {
  $("time").hidden = guessing || !block.warps.length;
  if ($("time").hidden) return;
  const box = $("strip");
  box.innerHTML = strip(kernel, block, state, box.clientWidth);
  const here = box.querySelector(".t-now");
  if (!here) return;
  const from = +here.getAttribute("x"), to = from + +here.getAttribute("width");
  if (from < box.scrollLeft + 40 || to > box.scrollLeft + box.clientWidth) box.scrollLeft = from - 80;
}

function show() {
  const kernel = kernelNow(), block = blockNow();
  document.querySelectorAll(".chip").forEach(c => c.setAttribute("aria-pressed", c.dataset.finding !== undefined
    ? +c.dataset.finding === state.f : state.f < 0 && +c.dataset.line === state.l));
  const empty = kernel.places.length + copyPlaces(kernel).length === 0;
  $("controls").hidden = state.f >= 0 || empty;
  if (empty && state.f < 0) {
    $("head").innerHTML = "";
    $("time").hidden = true;
    return clear("This kernel asked nothing of the memory.");
  }
  const list = requestsOf(itemsOf(state.w), state.l);
  if (!empty) {
    $("head").innerHTML = headOf(kernel);
    showControls(kernel, block, list);
  }
  showStrip(kernel, block);
  if (state.f >= 0) showFinding(kernel);
  else if (!list.length) clear(`Warp ${state.w} of this block has no request here that was kept. Others may.`);
  else if (isCopyPlace(state.l)) showCopy(kernel, block, list[state.r]);
  else showRequest(kernel, block, list);
  const address = state.f >= 0 ? ["k", "f"] : ["k", "l", "b", "w", "r", "u"];
  try { history.replaceState(null, "", "#" + address.map(n => n + state[n]).join("-")); } catch (e) { /* a viewer without addresses */ }
}

function go(change) {
  const before = {...state};
  Object.assign(state, change);
  if (change.f === undefined) state.f = -1;
  const newKernel = state.k !== before.k;
  if (newKernel) Object.assign(state, {l: -1, b: 0, w: 0, r: 0, u: 0}, change);
  const kernel = kernelNow(), places = kernel.places.length + copyPlaces(kernel).length;
  if (state.f >= kernel.findings.length) state.f = -1;
  if (newKernel && change.f === undefined && change.l === undefined && kernel.findings.length && !guessing) state.f = 0;
  if (state.f >= 0 && change.b === undefined) {
    const at = kernel.blocks.findIndex(b => String(b.block) === String(kernel.findings[state.f].block));
    if (at >= 0) change = {...change, b: state.b = at};
  }
  if (state.l < 0 || state.l >= places) state.l = worstPlace();
  if (newKernel || state.l !== before.l) {
    const best = worstRequest(state.l, change.b === undefined ? everyBlock() : [state.b]);
    if (change.b === undefined) state.b = best.b;
    if (change.w === undefined) state.w = best.w;
    if (change.r === undefined) state.r = best.r;
    if (change.u === undefined) state.u = 0;
    state.lane = -1;
  }
  state.b = Math.max(0, Math.min(state.b, kernel.blocks.length - 1));
  if (!blockNow().warps.some(([id]) => id === state.w)) state.w = blockNow().warps.length ? blockNow().warps[0][0] : 0;
  state.r = Math.max(0, Math.min(state.r, requestsOf(itemsOf(state.w), state.l).length - 1));
  if (newKernel) showSource();
  if (newKernel || state.b !== before.b) showKernel();
  show();
  if (newKernel || state.l !== before.l || state.f !== before.f) {
    const chosen = document.querySelector(state.f >= 0 ? `#code [data-finding="${state.f}"]` : `#code [data-line="${state.l}"]`), code = $("code");
    if (chosen) code.scrollTop = chosen.offsetTop - code.clientHeight * .55;
  }
}

function stop() { clearTimeout(timer); timer = 0; }
function tick() {
  const list = requestsOf(itemsOf(state.w), state.l);
  if (!list.length || isCopyPlace(state.l) || asks(state.l)) { stop(); return show(); }
  const unitsOf = r => request(kernelNow(), list[r]).units;
  if (state.u < unitsOf(state.r)) go({u: state.u + 1});
  else if (state.r < list.length - 1) go({r: state.r + 1, u: 1});
  else { stop(); return go({u: 0}); }
  timer = setTimeout(tick, Math.max(220, Math.min(1000, 5000 / unitsOf(state.r))));
}
function play() {
  if (timer) { stop(); show(); } else if (state.f < 0) { timer = 1; tick(); }
}
function warpBy(n) {
  const ids = blockNow().warps.map(([id]) => id), at = Math.max(0, Math.min(ids.length - 1, ids.indexOf(state.w) + n));
  stop();
  go({w: ids[at], u: 0});
}
const by = (name, n) => { stop(); go({[name]: Math.max(0, state[name] + n), u: 0}); };
const blockBy = n => { stop(); go({b: Math.max(0, Math.min(kernelNow().blocks.length - 1, state.b + n)), u: 0}); };
const unitBy = n => { stop(); go({u: Math.max(0, Math.min(+$("unit").max, state.u + n))}); };
function placeBy(n) {
  const all = kernelNow().places.length + copyPlaces(kernelNow()).length;
  stop();
  go({l: (state.l + n + all) % all});
}
function findingBy(n) {
  const all = kernelNow().findings.length;
  if (all) { stop(); go({f: (state.f + n + all) % all}); }
}

// ---- Keys and pointers ----

$("kernels").onclick = e => { if (e.target.dataset.k) { stop(); go({k: +e.target.dataset.k}); } };
const pickChip = e => {
  const c = e.target.closest(".chip");
  if (!c) return;
  stop();
  if (c.dataset.finding !== undefined) go({f: +c.dataset.finding}); else go({l: +c.dataset.line});
};
$("code").onclick = pickChip;
$("findings").onclick = pickChip;
$("bprev").onclick = () => blockBy(-1);
$("bnext").onclick = () => blockBy(1);
$("wprev").onclick = () => warpBy(-1);
$("wnext").onclick = () => warpBy(1);
$("rprev").onclick = () => by("r", -1);
$("rnext").onclick = () => by("r", 1);
$("play").onclick = play;
$("unit").oninput = e => { stop(); go({u: +e.target.value}); };
$("guess").onclick = () => {
  stop();
  guessing = !guessing;
  guessed.clear();
  $("guess").setAttribute("aria-pressed", guessing);
  showSource();
  state.l = -1;
  go({l: guessing ? 0 : worstPlace(), u: 0});
};
$("question").onclick = e => {
  if (!e.target.dataset.guess) return;
  guessed.set(state.k + "," + state.l, {n: +e.target.dataset.guess, w: state.w, r: state.r});
  showSource();
  show();
  $("play").focus();
};
$("score").onclick = e => { if (e.target.dataset.u) { stop(); go({u: +e.target.dataset.u === state.u ? 0 : +e.target.dataset.u}); } };
$("detail").onclick = e => {
  if (!e.target.dataset.go) return;
  const [b, w, l, r] = e.target.dataset.go.split(",").map(Number);
  go({b, w, l, r, u: 0});
  $("play").focus();
};
const pointed = e => {
  const t = e.target.closest("[data-lane]"), n = t ? +t.dataset.lane : -1;
  if (n !== state.lane && state.f < 0 && !isCopyPlace(state.l)) { state.lane = n; show(); }
};
$("picture").onpointermove = e => { if (e.pointerType === "mouse") pointed(e); };
$("picture").onpointerdown = pointed;
$("picture").onpointerleave = e => { if (e.pointerType === "mouse" && state.lane >= 0) { state.lane = -1; show(); } };
$("strip").onclick = e => {
  const t = e.target.closest("[data-w]");
  if (!t) return;
  stop();
  if (t.dataset.l !== undefined) go({l: +t.dataset.l, b: state.b, w: +t.dataset.w, r: +t.dataset.n, u: 0});
  else go({w: +t.dataset.w, u: 0});
};
document.onkeydown = e => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const arrow = /^Arrow/.test(e.key), slider = e.target.tagName === "INPUT";
  const scrolls = e.target.id === "code" || e.target.id === "strip", button = e.target.tagName === "BUTTON" || e.target.tagName === "SUMMARY";
  if (arrow && (scrolls || slider)) return;
  const act = {ArrowLeft: () => by("r", -1), ArrowRight: () => by("r", 1), ArrowUp: () => unitBy(-1), ArrowDown: () => unitBy(1),
               w: () => warpBy(1), W: () => warpBy(-1), b: () => blockBy(1), B: () => blockBy(-1), l: () => placeBy(1), L: () => placeBy(-1),
               x: () => findingBy(1), X: () => findingBy(-1), 0: () => { stop(); go({u: 0}); }, " ": button ? null : play}[e.key];
  if (act) { e.preventDefault(); act(); }
};
let resizing = 0;
window.onresize = () => { cancelAnimationFrame(resizing); resizing = requestAnimationFrame(show); };

// ---- The start ----

/** What the address names. */
function named() {
  const start = {};
  for (const part of location.hash.slice(1).split("-")) if (/^[klbwruf]\d+$/.test(part)) start[part[0]] = +part.slice(1);
  if (!(start.k < kernels.length)) {
    const found = kernels.findIndex(k => k.findings.length), worst = kernels.map(k => Math.max(0, ...k.places.map(ratio)));
    return {k: found >= 0 ? found : worst.indexOf(Math.max(...worst))};
  }
  return start;
}
window.onhashchange = () => { stop(); state.k = -1; go(named()); };

$("stripkey").innerHTML = "A box is a request: as tall as lanes take part, as wide as it costs; the hatched part is what "
  + "it costs beyond its ideal. Blue: shared memory. Green: global memory. Violet: copies. Grey: steps without a request. "
  + "Upright lines: barriers. <b>Widths are counts, not time</b>, and boxes above each other need not happen at once.";
const sum = recount(kernels);
document.body.dataset.check = `${sum.right} right, ${sum.wrong} wrong`;
if (sum.wrong) $("facts").insertAdjacentHTML("afterend", `<p class="badge">${plural(sum.wrong, "request")} drawn differently from how they were counted</p>`);
state.k = -1;
go(named());
