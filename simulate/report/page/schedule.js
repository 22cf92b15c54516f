// Who held GPUs when, by size: a panel per policy, all on the same axes.

const sizeNames = ["XSmall", "Small", "Medium", "Large", "XLarge"];
const sizeColour = (i) => `var(--s${i})`;

function showSchedule() {
  const card = document.getElementById("schedule");
  const s = { panels: report.policies.map(panelOf), sizing: report.sizings[0], hidden: new Set() };
  if (s.panels.every((p) => p.rows.length === 0)) {
    element(card, "p", { class: "empty" }, "no job held GPUs");
    return;
  }
  s.end = Math.max(1, ...s.panels.map((p) => p.end));
  s.most = Math.max(...s.panels.map((p) => p.count));
  scheduleBar(s, card);
  const panels = element(card, "div", { class: "panels" + (s.panels.length > 1 ? " several" : "") });
  s.panels.forEach((p, i) => addPanel(s, p, i, panels));
  scheduleNote(s, card);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawPanels(s));
}

// panelOf returns the rows of a policy: jobs in order of submission, each with
// its bars and the GPU-hours in them.
function panelOf(policy, index) {
  const d = datasets.get("schedule");
  const [p, job, row, start, end, held, gpus] = d.columns.map((c) => column(d, c.name));
  const rows = [];
  p.values.forEach((_, r) => {
    if (p.word(r) !== policy) return;
    const life = (rows[row.values[r]] ??= { name: job.word(r), bars: [], hours: 0 });
    life.bars.push({ start: start.values[r], end: end.values[r], held: held.values[r], gpus: gpus.values[r] });
    life.hours += (held.values[r] * gpus.values[r]) / 3600;
  });
  const last = rows.reduce((m, l) => Math.max(m, l.bars[l.bars.length - 1].end), 0);
  return { policy, rows, end: last, count: Math.max(rows.length, Math.min(report.jobs[index], report.mostJobs)), width: 0 };
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

const sizeOf = (s, life) => s.sizing.bounds.filter((b) => b <= life.hours).length;

function scheduleBar(s, card) {
  const bar = element(card, "div", { class: "bar" });
  const legend = element(bar, "div", { class: "legend" });
  scheduleLegend(s, legend);
  select(bar, "order", ["submission", "size"], (i) => { s.bySize = i === 1; drawPanels(s); });
  select(bar, "sizes", report.sizings.map((z) => z.name), (i) => { s.sizing = report.sizings[i]; scheduleLegend(s, legend); drawPanels(s); });
  csvButton(bar, "schedule").classList.add("push");
}

// scheduleLegend offers the sizes, with their GPU-hours, to show and to hide.
function scheduleLegend(s, legend) {
  legend.replaceChildren();
  const b = s.sizing.bounds;
  sizeNames.forEach((name, i) => {
    const range = i === 0 ? `below ${number(b[0])}` : i === b.length ? `from ${number(b[i - 1])}` : `${number(b[i - 1])}\u2013${number(b[i])}`;
    const button = element(legend, "button", { type: "button", "aria-pressed": !s.hidden.has(i), title: `${name}: ${range} GPU-hours` });
    element(button, "i", { class: "key" }).style.background = sizeColour(i);
    button.append(name + " ");
    element(button, "small", {}, range + (i === b.length ? " GPU-hours" : ""));
    button.addEventListener("click", () => {
      s.hidden.has(i) ? s.hidden.delete(i) : s.hidden.add(i);
      scheduleLegend(s, legend);
      drawPanels(s);
      legend.children[i].focus();
    });
  });
}

function addPanel(s, p, i, panels) {
  const box = element(panels, "div", { class: "panel" });
  const title = element(box, "h3");
  element(title, "i", { class: "key" }).style.background = policyColour(i);
  title.append(seen(p.policy) + " ");
  element(title, "small", {}, p.rows.length ? `GPUs held until ${duration(p.end)}` : "no job held GPUs");
  p.canvas = element(box, "canvas", { role: "img", "aria-label": `Schedule under ${seen(p.policy)}` });
  p.canvas.addEventListener("pointermove", (e) => tellBar(s, p, e));
  p.canvas.addEventListener("pointerleave", hideTip);
  whenSized(box, (w) => { p.width = w; drawPanel(s, p); });
}

// scheduleNote says what the panels leave out.
function scheduleNote(s, card) {
  const notes = [];
  const submitted = Math.max(...report.jobs);
  if (submitted > s.most) notes.push(`The first ${s.most} of ${submitted} jobs.`);
  if (s.panels.some((p) => p.rows.some((l) => l.bars.some(pale)))) notes.push("Paler bars hold pauses too short to draw.");
  const dropped = report.dropped.reduce((a, b) => a + b, 0);
  if (dropped > 0) notes.push(`${dropped} more stretches were not recorded.`);
  if (notes.length) element(card, "p", { class: "sub" }, notes.join(" "));
}

const shareHeld = (b) => b.held / Math.max(1e-9, b.end - b.start);
const pale = (b) => shareHeld(b) < 0.99;

function drawPanels(s) {
  for (const p of s.panels) drawPanel(s, p);
}

function drawPanel(s, p) {
  if (!p.width) return;
  const height = Math.min(480, Math.max(150, 3 * s.most)) + 44;
  const box = { left: 48, right: p.width - 8, top: 6, bottom: height - 38 };
  const c = canvasFor(p.canvas, p.width, height);
  const style = getComputedStyle(document.documentElement);
  p.x = scale(0, s.end, box.left, box.right);
  p.y = scale(0, Math.max(1, s.most), box.top, box.bottom);
  panelAxes(s, p, c, box, (name) => style.getPropertyValue(name).trim());
  const high = p.y(1) - p.y(0), thick = Math.max(1, high >= 3 ? high - 1 : high);
  p.shown = s.bySize ? [...p.rows].filter(Boolean).sort((a, b) => a.hours - b.hours) : p.rows;
  p.shown.forEach((life, row) => {
    const size = sizeOf(s, life);
    if (s.hidden.has(size)) return;
    c.fillStyle = style.getPropertyValue(`--s${size}`).trim();
    for (const b of life.bars) {
      c.globalAlpha = 0.35 + 0.65 * shareHeld(b);
      c.fillRect(p.x(b.start), p.y(row), Math.max(0.6, p.x(b.end) - p.x(b.start)), thick);
    }
  });
  c.globalAlpha = 1;
}

function panelAxes(s, p, c, box, ink) {
  const unit = timeUnit(s.end);
  c.lineWidth = 1;
  c.textAlign = "center";
  for (const t of ticks(0, s.end / unit.seconds, (box.right - box.left) / 80)) {
    c.fillStyle = ink("--grid");
    c.fillRect(p.x(t * unit.seconds) - 0.5, box.top, 1, box.bottom - box.top);
    c.fillStyle = ink("--soft");
    c.fillText(number(t), p.x(t * unit.seconds), box.bottom + 15);
  }
  c.fillText(`time (${unit.name})`, (box.left + box.right) / 2, box.bottom + 31);
  c.textAlign = "right";
  for (const t of ticks(0, s.most, 4)) if (t < s.most) c.fillText(number(t), box.left - 6, p.y(t + 0.5) + 4);
  c.save();
  c.translate(11, (box.top + box.bottom) / 2);
  c.rotate(-Math.PI / 2);
  c.textAlign = "center";
  c.fillText("jobs", 0, 0);
  c.restore();
  c.fillStyle = ink("--line");
  c.fillRect(box.left - 1, box.top, 1, box.bottom - box.top);
  c.strokeStyle = ink("--faint");
  c.setLineDash([3, 3]);
  c.beginPath();
  c.moveTo(p.x(p.end), box.top);
  c.lineTo(p.x(p.end), box.bottom);
  c.stroke();
  c.setLineDash([]);
}

function tellBar(s, p, e) {
  if (!p.y) return;
  const frame = p.canvas.getBoundingClientRect();
  const row = Math.floor(p.y.invert(e.clientY - frame.top)), time = p.x.invert(e.clientX - frame.left);
  const life = p.shown[row];
  if (!life || s.hidden.has(sizeOf(s, life))) { hideTip(); return; }
  const near = (2 * s.end) / p.width;
  const b = life.bars.find((b) => b.start - near <= time && time < b.end + near);
  const lines = [];
  if (b) {
    lines.push({ name: `holds ${number(b.gpus)} GPU${b.gpus === 1 ? "" : "s"}`, value: `${duration(b.start)} to ${duration(b.end)}`, colour: sizeColour(sizeOf(s, life)) });
    if (pale(b)) lines.push({ name: "of the time", value: percent(shareHeld(b)) });
  }
  lines.push({ name: "size", value: sizeNames[sizeOf(s, life)] }, { name: "GPU-hours", value: number(life.hours) });
  lines.push({ name: "first and last GPUs", value: `${duration(life.bars[0].start)}, ${duration(life.bars[life.bars.length - 1].end)}` });
  showTip(e.clientX, e.clientY, seen(life.name), lines);
}
