// What each job held when: rows of a canvas that draws only what is in view,
// under the GPUs of all jobs on the same time axis.

const gutter = 132;
const overHeight = 128;
const headroom = 8; // above the first row

function showGantt() {
  const card = document.getElementById("gantt");
  const lives = report.policies.map(livesOf);
  const s = { card, lives, policy: 0, order: 0, find: "", tall: 0, from: 0, to: 1, width: 0 };
  ganttBars(s);
  if (lives.every((l) => l.length === 0)) {
    element(card, "p", { class: "empty" }, "no job was submitted");
    return;
  }
  s.over = element(card, "canvas", { class: "gantt-over" });
  s.box = element(card, "div", { class: "gantt-rows", tabindex: 0, role: "img", "aria-label": "Allocations of each job over time. Arrow keys move, plus and minus zoom, 0 shows all." });
  s.canvas = element(s.box, "canvas");
  s.space = element(s.box, "div");
  element(card, "p", { class: "sub" }, "Drag to move, Ctrl and the wheel or + and \u2212 to zoom, double-click or 0 to see all.");
  fit(s);
  choose(s);
  s.box.addEventListener("scroll", () => drawRows(s), { passive: true });
  listen(s);
  whenSized(s.box, (w) => { s.width = w; drawGantt(s); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawGantt(s));
}

// livesOf returns the jobs of a policy with what they held.
function livesOf(policy) {
  const jobs = datasets.get("jobs"), held = datasets.get("gantt");
  const names = ["policy", "job", "model", "outcome", "submitted_s", "finished_s", "jct_s", "queued_s", "restarts", "gpu_hours", "rho"];
  const [p, job, model, outcome, submitted, finished, jct, queued, restarts, hours, rho] = names.map((c) => column(jobs, c));
  const lives = [], byName = new Map();
  p.values.forEach((_, r) => {
    if (p.word(r) !== policy) return;
    const end = finished.values[r] < 0 ? submitted.values[r] + jct.values[r] : finished.values[r];
    const life = { name: job.word(r), model: model.word(r), outcome: outcome.word(r), submitted: submitted.values[r], end, jct: jct.values[r], queued: queued.values[r], restarts: restarts.values[r], hours: hours.values[r], rho: rho.values[r], held: [] };
    lives.push(life);
    byName.set(life.name, life);
  });
  const [hp, hj, type, state, start, end, gpus] = ["policy", "job", "gpu_type", "state", "start_s", "end_s", "gpus"].map((c) => column(held, c));
  hp.values.forEach((_, r) => {
    if (hp.word(r) !== policy) return;
    byName.get(hj.word(r))?.held.push({ type: type.word(r), state: state.word(r), start: start.values[r], end: end.values[r], gpus: gpus.values[r] });
  });
  return lives;
}

function ganttBars(s) {
  const bar = element(s.card, "div", { class: "bar" });
  const again = () => { choose(s); drawGantt(s); };
  if (report.policies.length > 1) select(bar, "policy", report.policies.map(seen), (i) => { s.policy = i; again(); });
  select(bar, "order", ["submission", "completion time", "time queued", "restarts", "model"], (i) => { s.order = i; again(); });
  select(bar, "rows", ["fitting", "tall"], (i) => { s.tall = i; again(); });
  toggle(bar, "only jobs in view", false, (on) => { s.inView = on; again(); });
  const find = element(bar, "input", { type: "search", placeholder: "find job or model", "aria-label": "find job or model" });
  find.addEventListener("input", () => { s.find = find.value.toLowerCase(); again(); });
  const zoom = element(bar, "span");
  for (const [text, title, act] of [["+", "zoom in", () => zoomBy(s, 0.5)], ["\u2212", "zoom out", () => zoomBy(s, 2)], ["all", "show all", () => moveTo(s, 0, s.end)]]) {
    element(zoom, "button", { type: "button", title, "aria-label": title }, text).addEventListener("click", act);
    zoom.append(" ");
  }
  const files = element(bar, "span", { class: "push" });
  csvButton(files, "gantt", "CSV");
  csvButton(files, "jobs", "jobs CSV");
  const second = element(s.card, "div", { class: "bar" });
  const legend = element(second, "div", { class: "legend" });
  const entry = (name, kind, colour) => {
    const item = element(legend, "span");
    const key = element(item, "i", { class: "key " + kind });
    if (colour) key.style.background = colour;
    item.append(seen(name));
  };
  for (const t of report.gpuTypes) entry(t, "", typeColour(t));
  entry("starting or restoring", "hatch");
  entry("idle to the end of the round", "hollow");
  entry("waiting", "thin");
  s.note = element(second, "span", { class: "sub push" });
}

// choose fills s.rows with the lives to show.
function choose(s) {
  if (!s.box) return;
  const all = s.lives[s.policy];
  s.rows = all.filter((l) => (!s.find || l.name.toLowerCase().includes(s.find) || l.model.toLowerCase().includes(s.find)) &&
    (!s.inView || (l.submitted < s.to && l.end > s.from)));
  const by = [null, (l) => -l.jct, (l) => -l.queued, (l) => -l.restarts][s.order];
  if (by) s.rows.sort((a, b) => by(a) - by(b));
  if (s.order === 4) s.rows.sort((a, b) => (a.model < b.model ? -1 : a.model > b.model ? 1 : a.submitted - b.submitted));
  s.most = Math.max(1, ...all.map((l) => l.held.reduce((m, h) => Math.max(m, h.gpus), 1)));
  s.rowHeight = s.tall ? 18 : Math.min(18, Math.max(4, Math.floor(500 / Math.max(1, s.rows.length))));
  const height = Math.min(520, Math.max(40, s.rows.length * s.rowHeight + headroom + 6));
  s.box.style.height = height + "px";
  s.height = height - 2;
  s.space.style.height = Math.max(0, s.rows.length * s.rowHeight + headroom + 4 - s.height) + "px";
  const submitted = report.jobs[s.policy];
  s.note.textContent = (s.rows.length < all.length ? `${s.rows.length} of ` : "") + (all.length < submitted ? `the first ${all.length} of ` : "") + `${submitted} job${submitted === 1 ? "" : "s"}`;
}

// fit shows the whole run.
function fit(s) {
  s.from = 0;
  s.to = s.end = s.lives.flat().reduce((m, l) => l.held.reduce((n, h) => Math.max(n, h.end), Math.max(m, l.end)), 1);
}

function zoomBy(s, factor, around = (s.from + s.to) / 2) {
  const span = Math.min(s.end, Math.max(s.end / 5000, (s.to - s.from) * factor));
  const share = (around - s.from) / (s.to - s.from);
  moveTo(s, around - share * span, span);
}

function moveTo(s, from, span = s.to - s.from) {
  s.from = Math.min(Math.max(0, from), s.end - span);
  s.to = s.from + span;
  if (s.inView) choose(s);
  drawGantt(s);
}

const timeScale = (s) => scale(s.from, s.to, gutter, s.width - 12);

function drawGantt(s) {
  if (!s.width) return;
  const style = getComputedStyle(document.documentElement);
  s.ink = (name) => style.getPropertyValue(name).trim();
  s.fill = new Map(report.gpuTypes.map((t) => [t, s.ink(typeColour(t).slice(4, -1))]));
  s.hatch = new Map([...s.fill].map(([t, c]) => [t, hatching(c, s.ink("--card"))]));
  drawOver(s);
  drawRows(s);
}

// canvasFor clears a canvas of the given size and returns its context.
function canvasFor(canvas, width, height) {
  const density = devicePixelRatio || 1;
  canvas.width = Math.round(width * density);
  canvas.height = Math.round(height * density);
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  const c = canvas.getContext("2d");
  c.setTransform(density, 0, 0, density, 0, 0);
  c.font = '11.5px system-ui, "Liberation Sans", sans-serif';
  return c;
}

function hatching(colour, ground) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const c = tile.getContext("2d");
  c.fillStyle = ground;
  c.fillRect(0, 0, 6, 6);
  c.strokeStyle = colour;
  c.lineWidth = 1.3;
  for (const d of [-6, 0, 6]) { c.beginPath(); c.moveTo(d - 1, 7); c.lineTo(d + 7, -1); c.stroke(); }
  return c.createPattern(tile, "repeat");
}

// drawOver draws the GPUs held by type, stacked, and the time axis.
function drawOver(s) {
  const c = canvasFor(s.over, s.width, overHeight);
  const x = timeScale(s), bottom = overHeight - 38;
  const top = Math.max(1, ...[...stackOf(s).values()].map((p) => p.gpus));
  const y = scale(0, top * 1.05, bottom, 6);
  c.save();
  c.beginPath();
  c.rect(gutter, 0, s.width - 12 - gutter, overHeight);
  c.clip();
  const points = [...stackOf(s).values()];
  points.forEach((p, i) => {
    const left = Math.round(x(p.time)), right = Math.round(x(i + 1 < points.length ? points[i + 1].time : Math.min(s.end, p.time + (i ? p.time - points[i - 1].time : 60))));
    if (right < gutter || left > s.width) return;
    let at = 0;
    for (const t of report.gpuTypes) {
      const n = p.busy.get(t) || 0;
      c.fillStyle = s.fill.get(t);
      c.fillRect(left, y(at + n), right - left, y(at) - y(at + n));
      at += n;
    }
    c.fillStyle = s.ink("--soft");
    c.fillRect(left, y(p.gpus) - 0.5, right - left, 1);
  });
  c.restore();
  overAxes(s, c, x, y, top, bottom);
}

function overAxes(s, c, x, y, top, bottom) {
  c.fillStyle = s.ink("--soft");
  c.textAlign = "right";
  for (const t of ticks(0, top, 3)) c.fillText(number(t), gutter - 7, y(t) + 4);
  c.textAlign = "left";
  c.fillText("GPUs held,", 0, 16);
  c.fillText("of those there", 0, 30);
  c.textAlign = "center";
  const unit = timeUnit(s.to - s.from > 300 ? s.to : s.to - s.from);
  for (const t of ticks(s.from / unit.seconds, s.to / unit.seconds, (s.width - gutter) / 90)) {
    c.fillText(number4(t), x(t * unit.seconds), bottom + 17);
    c.fillRect(x(t * unit.seconds) - 0.5, bottom, 1, 4);
  }
  c.fillText(`time (${unit.name})`, (gutter + s.width) / 2, bottom + 33);
}

const number4 = (v) => String(Number(v.toPrecision(7)));

// stackOf returns, by time, the GPUs held and there under the chosen policy.
function stackOf(s) {
  s.stacks ??= report.policies.map(() => null);
  if (s.stacks[s.policy]) return s.stacks[s.policy];
  const d = datasets.get("utilisation"), points = new Map();
  const [policy, type, time, busy, gpus] = ["policy", "gpu_type", "time_s", "busy_gpus", "gpus"].map((c) => column(d, c));
  time.values.forEach((t, r) => {
    if (policy.word(r) !== report.policies[s.policy]) return;
    if (!points.has(t)) points.set(t, { time: t, busy: new Map(), gpus: 0 });
    const p = points.get(t);
    p.busy.set(type.word(r), busy.values[r]);
    p.gpus += gpus.values[r];
  });
  return (s.stacks[s.policy] = points);
}

function drawRows(s) {
  if (!s.width) return;
  const c = canvasFor(s.canvas, s.width, s.height);
  const x = timeScale(s), h = s.rowHeight, first = Math.max(0, Math.floor((s.box.scrollTop - headroom) / h));
  const unit = timeUnit(s.to - s.from > 300 ? s.to : s.to - s.from);
  c.fillStyle = s.ink("--grid");
  for (const t of ticks(s.from / unit.seconds, s.to / unit.seconds, (s.width - gutter) / 90)) c.fillRect(x(t * unit.seconds), 0, 1, s.height);
  const labelEvery = Math.ceil(14 / h);
  for (let i = first; i < s.rows.length && (i - first - 1) * h < s.height; i++) {
    const y = i * h - s.box.scrollTop + headroom;
    c.fillStyle = s.ink(i % labelEvery === 0 ? "--soft" : "--grid");
    if (i % labelEvery === 0) { c.textAlign = "left"; c.fillText(clipped(s.rows[i].name), 0, y + Math.min(h, 14) / 2 + 4); }
    c.save();
    c.beginPath();
    c.rect(gutter, 0, s.width - 12 - gutter, s.height);
    c.clip();
    drawLife(s, c, s.rows[i], x, y, h);
    c.restore();
  }
  if (s.rows.length === 0) { c.fillStyle = s.ink("--soft"); c.fillText("no job matches", gutter + 8, 24); }
}

const clipped = (name) => (seen(name).length > 19 ? seen(name).slice(0, 18) + "\u2026" : seen(name));

function drawLife(s, c, life, x, y, h) {
  const thick = Math.max(2, h - (h > 6 ? 3 : 1));
  c.fillStyle = s.ink("--wait");
  c.fillRect(x(life.submitted), y + thick / 2 - 0.75, Math.max(1, x(life.end) - x(life.submitted)), 1.5);
  for (const held of life.held) {
    const left = x(held.start), width = Math.max(0.7, x(held.end) - left);
    if (left > s.width || left + width < gutter) continue;
    c.fillStyle = s.ink("--card");
    c.fillRect(left, y, width, thick);
    if (held.state === "idle") {
      c.strokeStyle = s.fill.get(held.type);
      c.globalAlpha = 0.6;
      c.strokeRect(left + 0.5, y + 0.5, Math.max(0.5, width - 1), thick - 1);
    } else {
      c.fillStyle = held.state === "restoring" ? s.hatch.get(held.type) : s.fill.get(held.type);
      c.globalAlpha = held.state === "restoring" ? 0.9 : opacity(s, held.gpus);
      c.fillRect(left, y, width, thick);
    }
    c.globalAlpha = 1;
    if (h >= 14 && width > 18 && held.state === "training") {
      c.fillStyle = readable(s, s.fill.get(held.type), opacity(s, held.gpus));
      c.textAlign = "center";
      c.fillText(number(held.gpus), Math.max(left, gutter) + (Math.min(left + width, s.width - 12) - Math.max(left, gutter)) / 2, y + thick / 2 + 4);
    }
  }
}

const opacity = (s, gpus) => 0.45 + (0.55 * Math.log2(gpus)) / Math.max(1, Math.log2(s.most));

// readable returns the ink or the card's colour, whichever stands out more from
// a fill laid over the card.
function readable(s, fill, alpha) {
  const channels = (hex) => (hex.length < 7 ? [...hex.slice(1)].map((d) => d + d) : hex.slice(1).match(/../g)).map((d) => parseInt(d, 16));
  const light = (rgb) => 0.2126 * (rgb[0] / 255) ** 2.2 + 0.7152 * (rgb[1] / 255) ** 2.2 + 0.0722 * (rgb[2] / 255) ** 2.2;
  const [ink, card, colour] = [s.ink("--ink"), s.ink("--card"), fill].map(channels);
  const under = light(colour.map((v, i) => alpha * v + (1 - alpha) * card[i]));
  const contrast = (rgb) => (Math.max(light(rgb), under) + 0.05) / (Math.min(light(rgb), under) + 0.05);
  return contrast(ink) >= contrast(card) ? s.ink("--ink") : s.ink("--card");
}

function listen(s) {
  let drag = null;
  const timeAt = (e) => timeScale(s).invert(e.clientX - s.canvas.getBoundingClientRect().left);
  s.canvas.addEventListener("pointerdown", (e) => { drag = { x: e.clientX, from: s.from }; s.canvas.setPointerCapture(e.pointerId); s.canvas.classList.add("dragging"); });
  s.canvas.addEventListener("pointerup", () => { drag = null; s.canvas.classList.remove("dragging"); });
  s.canvas.addEventListener("pointermove", (e) => {
    if (drag) {
      hideTip();
      moveTo(s, drag.from - ((e.clientX - drag.x) * (s.to - s.from)) / (s.width - 12 - gutter));
      return;
    }
    tellLife(s, e, timeAt(e));
  });
  s.canvas.addEventListener("pointerleave", hideTip);
  s.canvas.addEventListener("dblclick", () => moveTo(s, 0, s.end));
  s.box.addEventListener("wheel", (e) => {
    if (!e.ctrlKey && !e.metaKey) return;
    e.preventDefault();
    zoomBy(s, e.deltaY > 0 ? 1.25 : 0.8, timeAt(e));
  }, { passive: false });
  s.over.addEventListener("pointermove", (e) => tellOver(s, e, timeAt(e)));
  s.over.addEventListener("pointerleave", hideTip);
  s.box.addEventListener("keydown", (e) => {
    const span = s.to - s.from;
    const act = { ArrowLeft: () => moveTo(s, s.from - span / 8), ArrowRight: () => moveTo(s, s.from + span / 8), "+": () => zoomBy(s, 0.5), "=": () => zoomBy(s, 0.5), "-": () => zoomBy(s, 2), 0: () => moveTo(s, 0, s.end) }[e.key];
    if (act && !e.ctrlKey && !e.metaKey) { act(); e.preventDefault(); }
  });
}

function tellLife(s, e, time) {
  if (!s.width) return;
  const y = e.clientY - s.canvas.getBoundingClientRect().top + s.box.scrollTop - headroom;
  const life = s.rows[Math.floor(y / s.rowHeight)];
  if (!life) { hideTip(); return; }
  const held = life.held.find((h) => h.start <= time && time < h.end);
  const lines = [];
  if (held) lines.push({ name: `${held.state} on ${held.gpus} \u00d7 ${seen(held.type)}`, value: `${duration(held.end - held.start)} from ${duration(held.start)}`, colour: s.fill.get(held.type) });
  else if (time >= life.submitted && time < life.end) lines.push({ name: "waiting", value: "", colour: s.ink("--wait") });
  lines.push({ name: "model", value: seen(life.model) }, { name: "outcome", value: life.outcome }, { name: "submitted", value: duration(life.submitted) });
  lines.push({ name: life.outcome === "active" ? "age" : "completion time", value: duration(life.jct) }, { name: "of which queued", value: duration(life.queued) });
  lines.push({ name: "restarts", value: number(life.restarts) }, { name: "GPU-hours", value: number(life.hours) });
  if (life.rho > 0) lines.push({ name: "rho", value: number(life.rho) });
  showTip(e.clientX, e.clientY, seen(life.name), lines);
}

function tellOver(s, e, time) {
  if (!s.width) return;
  let last = null;
  for (const p of stackOf(s).values()) if (p.time <= time) last = p;
  if (!last || time > s.end) { hideTip(); return; }
  const lines = report.gpuTypes.map((t) => ({ name: seen(t), value: number(last.busy.get(t) || 0) + " GPUs", colour: s.fill.get(t) }));
  showTip(e.clientX, e.clientY, "at " + duration(time), [...lines, { name: "there", value: number(last.gpus) + " GPUs" }]);
}
