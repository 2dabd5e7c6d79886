// What the page says in words: names of addresses, and why a request costs what it costs.

const escape = t => String(t).replace(/[&<>"]/g, c => "&#" + c.charCodeAt(0) + ";");
const plural = (n, one) => n + " " + one + (n === 1 ? "" : one.endsWith("ch") ? "es" : "s");
const grouped = n => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
const f = n => Math.round(n * 10) / 10;
const unitOf = row => row.space === "shared" ? "wavefront" : "sector";
const gcd = (a, b) => b === 0 ? Math.abs(a) : gcd(b, a % b);
const SHARED = -2;

/** "in + 128", "s + 12", "block 1 of the cluster: s + 12": a byte of a memory. */
function placeName(kernel, block, memory, byte, joint = " + ") {
  if (memory === SHARED) {
    const rank = Math.floor(byte / kernel.window), own = byte % kernel.window;
    const found = block.shared.find(([, start, size]) => own >= start && own < start + size);
    const name = found ? found[0] + joint + (own - found[1]) : "byte " + own;
    return (rank > 0 ? `block ${rank - 1}: ` : "") + name;
  }
  if (memory < 0) return "address " + byte;
  const names = kernel.memories[memory].names;
  let best = names[0];
  for (const pair of names) if (pair[0] <= byte) best = pair;
  const from = byte - best[0];
  return best[1] + (from < 0 ? " \u2212 " + -from : joint + from);
}

/** The distance between neighbouring lanes, if it is one and no lane between them sits out. */
function distance(q) {
  let d = null;
  for (let k = 1; k < q.lanes.length; ++k) {
    const here = q.offsets[k] - q.offsets[k - 1];
    if (q.lanes[k] - q.lanes[k - 1] !== 1 || (d !== null && here !== d)) return null;
    d = here;
  }
  return d;
}

const who = n => n === 32 ? "All 32 lanes" : n === 1 ? "One lane" : n + " lanes";

function explainAtomic(q, s) {
  const n = q.lanes.length, shared = q.row.space === "shared";
  const where = shared ? "bank" : "address";
  const same = new Set(q.offsets).size === 1 && n > 1 ? `, ${n === 32 ? "all" : "each"} the same word` : "";
  return `${who(n)} ${n === 1 ? "updates" : "update"} memory${same}. Lanes that meet in one ${where} take turns: `
    + `${plural(s.units, unitOf(q.row))}${s.rounds > 1 ? ", two for each turn, because this update is a loop of compare and swap" : ""}.`;
}

function explainShared(q, s, remote) {
  const n = q.lanes.length, d = distance(q), most = Math.max(...s.banks.map(b => b.size));
  const wide = q.size > 4 ? ` A lane of ${q.size} bytes takes ${q.size / 4} banks, so the lanes go in ${plural(s.groups, "group")}.` : "";
  const away = remote ? " The words lie in the shared memory of another block of the cluster." : "";
  if (n === 1) return "Only one lane takes part: " + plural(s.units, "wavefront") + ", and nobody to be in conflict with." + away;
  if (new Set(q.offsets).size === 1 && q.size <= 4) {
    return `${who(n)} want the same word. A bank hands its word to any number of lanes at once: 1 wavefront.` + away;
  }
  if (s.units <= s.groups) {
    if (d !== null && d % 4 === 0 && q.size === 4 && d !== 4) {
      return `Neighbouring lanes are ${plural(d / 4, "word")} apart`
        + (Math.abs(d) > 128 ? `, that is ${plural(bankOf(d / 4), "bank")} on` : "")
        + `. ${n} words in ${n} different banks: 1 wavefront.` + away;
    }
    return (d === 4 && q.size === 4 ? `Neighbouring lanes want neighbouring words: ${n} banks for ${n} lanes.`
      : "No bank is asked for two different words" + (q.size > 4 ? " within a group." : ".")) + wide
      + ` ${plural(s.units, "wavefront")}, the least possible.` + away;
  }
  const worst = s.banks.findIndex(b => b.size === most), used = s.banks.filter(b => b.size).length;
  let text = "";
  if (d !== null && d % 4 === 0 && q.size === 4) {
    const words = d / 4, on = bankOf(words), reach = 32 / gcd(on, 32);
    text = `Neighbouring lanes are ${plural(words, "word")} apart` + (on === 0 ? `, and ${words} mod 32 is 0: each comes back to the same bank. `
      : (words >= 32 ? `, that is ${plural(on, "bank")} on (${words} mod 32)` : "") + (reach < n ? `: every ${reach} lanes the same banks come round again. ` : ". "));
  }
  if (q.size > 4) {
    return text + wide.trim() + ` Within a group some banks are asked for several words: ${s.units} wavefronts instead of ${s.groups}.` + away;
  }
  return text + `Bank ${worst}${used > 1 ? ", like others," : ""} is asked for ${most} different words and gives one `
    + `at a time: ${s.units} wavefronts instead of ${s.groups}.` + away;
}

function explainGlobal(q, s) {
  const n = q.lanes.length, d = distance(q), moved = s.units * 32, asked = n * q.size;
  const verb = q.row.access === "store" ? "store" : "ask for", used = +(100 * Math.min(1, asked / moved)).toFixed(1);
  let text = "";
  if (n > 1 && new Set(q.offsets).size === 1) return `${who(n)} want the same address: one sector serves them all.`;
  if (n === 1) text = "One lane takes part. ";
  else if (d === q.size) {
    text = "Neighbouring lanes touch neighbouring addresses. ";
    if (s.units > q.ideal) text += `But the first lies ${q.offsets[0] % 32} bytes behind a sector's start, so one sector more is touched. `;
  } else if (d !== null) {
    text = `Neighbouring lanes are ${grouped(Math.abs(d))} bytes apart`
      + (Math.abs(d) >= 32 ? ": every lane has a sector of its own. " : Math.abs(d) > q.size
        ? `: a sector serves at most ${Math.ceil(32 / Math.abs(d))} lanes and not ${32 / q.size}. ` : ". ");
  }
  const share = asked > moved ? "several lanes share bytes." : `${used} % of what moves is used`
    + (moved > asked ? `, ${moved - asked} bytes are not.` : ".");
  return text + `The ${n === 1 ? "lane" : "lanes"} ${n === 1 && verb === "store" ? "stores" : n === 1 ? "asks for" : verb} ${plural(asked, "byte")}; `
    + `${plural(s.units, "sector")} of 32 bytes ${s.units === 1 ? "moves" : "move"}, ${moved} bytes: ${share}`;
}

/** Why this request costs what it costs. */
function explain(kernel, q, s) {
  if (q.row.access === "atomic") return explainAtomic(q, s);
  if (q.row.space === "shared") return explainShared(q, s, q.offsets.some(o => o >= kernel.window));
  return explainGlobal(q, s);
}

/** How many bytes a shape of a copy moves, and what it is called. */
function shapeOf(shape) {
  const bytes = shape.reduce((product, part) => product * part[0], 1);
  const name = shape.length === 1 ? (bytes <= 16 ? "asynchronous copy" : "bulk copy") : `box of ${shape.length} dimensions`;
  return {bytes, name};
}
function explainCopy(kernel, block, c) {
  const {bytes, name} = shapeOf(c.shape);
  const box = c.shape.length > 1 ? `, ${c.shape.slice(1).map(p => p[0]).reverse().join(" \u00d7 ")} runs of ${c.shape[0][0]} bytes` : "";
  return `A ${name}: lane ${c.lane} alone starts it, and the copy engine moves ${grouped(bytes)} bytes${box} from `
    + `${placeName(kernel, block, c.from, c.source)} to ${placeName(kernel, block, c.to, c.target)}. The other lanes take no part; `
    + "no lane's load or store is counted for it.";
}

/** About the lane that is pointed at, or the unit that is stepped to. */
function detailOf(kernel, block, q, s, lane, unit) {
  const shared = q.row.space === "shared";
  if (lane >= 0) {
    const k = q.lanes.indexOf(lane);
    if (k < 0) return `lane ${lane}: takes no part in this request`;
    const marks = s.marks.filter(m => m.lane === lane), name = placeName(kernel, block, q.memory, q.offsets[k]);
    const units = [...new Set(marks.map(m => m.unit + 1))].join(", ");
    return shared ? `lane ${lane}: ${name} bytes, bank ${[...new Set(marks.map(m => bankOf(m.word)))].join(", ")}; served in wavefront ${units}`
      : `lane ${lane}: ${name} bytes; sector ${units} of ${s.units}`;
  }
  if (unit === 0) return "";
  const marks = s.marks.filter(m => m.unit === Math.floor((unit - 1) / s.rounds) * s.rounds), lanes = [...new Set(marks.map(m => m.lane))];
  const served = lanes.length > 6 ? `${lanes.length} lanes (${lanes[0]} to ${lanes[lanes.length - 1]})` : `lane${lanes.length > 1 ? "s" : ""} ${lanes.join(", ")}`;
  if (shared) return `wavefront ${unit} of ${s.units} serves ${served}; ${plural(32 - new Set(marks.map(m => bankOf(m.word))).size, "bank")} idle`;
  const bytes = new Set(marks.flatMap(m => [...Array(m.to - m.from).keys()].map(b => m.word * 4 + m.from + b))).size;
  return `sector ${unit} of ${s.units}, for ${served}: ${bytes} of 32 bytes used`;
}
