// Curves and bars, drawn as SVG.

// curves shows lines over a common x axis in the card. options:
//   lines()   -> [{name, colour, dash, x: [], y: []}], ascending x, a value holds until the next
//   xLabel, yLabel(), xText(x), yText(y): for people, with units
//   yMax: top of the y axis, found if missing;  log: log x axis on;  logSwitch: offer it
//   rule: x of a vertical rule;  controls(bar, redraw): more controls
//   apart: three lines or more are small multiples, one below the other with the same axes
function curves(id, o) {
  const card = document.getElementById(id);
  const bar = element(card, "div", { class: "bar" });
  const legend = element(bar, "div", { class: "legend" });
  const state = { log: !!o.log, hidden: new Set(), width: 0, at: null };
  const draw = () => { if (state.width) drawCurves(svg, o, state, legend, draw); };
  if (o.controls) o.controls(bar, draw);
  if (o.logSwitch) toggle(bar, "log axis", state.log, (on) => { state.log = on; draw(); });
  csvButton(bar, id).classList.add("push");
  const svg = shape(card, "svg", { class: "plot", height: 250, tabindex: 0, role: "img", "aria-label": card.querySelector("h2").textContent });
  whenSized(svg, (w) => { state.width = w; draw(); });
}

function drawCurves(svg, o, state, legend, redraw) {
  const all = o.lines();
  drawLegend(legend, all, state.hidden, redraw);
  const lines = all.filter((l) => !state.hidden.has(l.name) && l.x.length > 0);
  svg.replaceChildren();
  const box = { left: 62, right: state.width - 14, top: 10, bottom: 212 };
  if (lines.length === 0) {
    shape(svg, "text", { x: state.width / 2, y: 120, "text-anchor": "middle" }, all.some((l) => l.x.length) ? "every curve is hidden" : o.none || "no data");
    return;
  }
  const x = xScale(lines, state.log, box, o), apart = o.apart && lines.length > 2, top = o.yMax || topOf(lines);
  const boxes = apart ? lines.map((_, i) => ({ ...box, top: box.top + i * panelHeight + 16, bottom: box.top + (i + 1) * panelHeight })) : [box];
  box.bottom = boxes[boxes.length - 1].bottom;
  svg.setAttribute("height", box.bottom + 38);
  const scales = boxes.map((b) => scale(0, top, b.bottom, b.top));
  boxes.forEach((b, i) => axes(svg, b, x, scales[i], o, state.log, b.bottom === box.bottom));
  lines.forEach((l, i) => shape(svg, "path", { class: "curve", d: steps(l, x, scales[i] || scales[0], box), stroke: l.colour, "stroke-dasharray": l.dash }));
  const middle = (boxes[0].top + box.bottom) / 2;
  shape(svg, "text", { class: "y-label", x: 12, y: middle, "text-anchor": "middle", transform: `rotate(-90 12 ${middle})` }, o.yLabel());
  if (apart) lines.forEach((l, i) => { shape(svg, "text", { class: "name", x: box.left, y: boxes[i].top - 4 }, shortened(seen(l.name), 40)); });
  else lineLabels(svg, box, x, scales[0], lines);
  cursor(svg, box, x, lines.map((_, i) => scales[i] || scales[0]), lines, o);
}

const panelHeight = 64;

function drawLegend(legend, lines, hidden, redraw) {
  legend.replaceChildren();
  for (const l of lines) {
    const b = element(legend, "button", { type: "button", "aria-pressed": !hidden.has(l.name), title: seen(l.name) });
    const key = shape(b, "svg", { class: "key line", width: 26, height: 4, "aria-hidden": "true" });
    shape(key, "line", { x1: 0, x2: 26, y1: 2, y2: 2, stroke: l.colour, "stroke-width": 2.4, "stroke-dasharray": l.dash });
    b.append(seen(l.name));
    b.addEventListener("click", () => {
      const i = [...legend.children].indexOf(b);
      hidden.has(l.name) ? hidden.delete(l.name) : hidden.add(l.name);
      redraw();
      legend.children[i].focus();
    });
  }
}

// lineLabels names lines where they are farthest from the others. A line that has no such place, or only one where
// another label is, has no label: the legend names it.
function lineLabels(svg, box, x, y, lines) {
  if (lines.length < 2) return;
  const placed = [], apart = 10, spots = 40;
  lines.forEach((l) => {
    const text = shape(svg, "text", { class: "line-label", "aria-hidden": "true" }, shortened(seen(l.name), 18));
    text.style.fill = l.colour;
    const wide = text.getComputedTextLength();
    let best = null;
    for (let k = 0; k < spots; k++) {
      const left = box.left + 4 + ((box.right - wide - box.left - 8) * k) / (spots - 1);
      const spot = spotAt(l, lines, x, y, { left, right: left + wide });
      if (!spot || spot.top < box.top || spot.bottom > box.bottom || placed.some((p) => meet(p, spot))) continue;
      if (spot.apart >= apart && (!best || spot.apart > best.apart)) best = spot;
    }
    if (!best) return text.remove();
    text.setAttribute("x", best.left);
    text.setAttribute("y", best.bottom - 4);
    placed.push(best);
  });
}

// spotAt returns where a label of a line is from left to right, above the line, and how far the other lines are from its
// middle; null: the line is not there.
function spotAt(l, lines, x, y, { left, right }) {
  const at = [left, (left + right) / 2, right].map((px) => x.invert(px));
  const values = at.map((v) => valueAt(l, v));
  if (values.includes(null)) return null;
  const bottom = Math.min(...values.map(y)) - 1;
  const away = lines.filter((o) => o !== l).flatMap((o) => at.map((v) => valueAt(o, v))).filter((v) => v !== null).map((v) => Math.abs(y(v) - bottom + 8));
  return { left, right, top: bottom - 15, bottom, apart: Math.min(200, ...away) };
}

const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
const shortened = (text, most) => (text.length > most ? text.slice(0, most - 1) + "\u2026" : text);

function xScale(lines, log, box, o) {
  let low = Infinity, high = -Infinity;
  for (const l of lines) for (const v of l.x) {
    if (v > high) high = v;
    if (v < low && (!log || v > 0)) low = v;
  }
  if (o.rule !== undefined) { high = Math.max(high, o.rule * 1.05); low = Math.min(low, o.rule); }
  if (log) {
    if (!(low > 0) || !(low < Infinity)) low = 0.1;
    if (!(high > low)) high = low * 10;
    low /= 1.15; high *= 1.1;
  } else {
    low = 0;
    if (!(high > 0)) high = 1;
  }
  const x = scale(low, high, box.left, box.right, log);
  x.low = low; x.high = high;
  return x;
}

function topOf(lines) {
  let top = 0;
  for (const l of lines) for (const v of l.y) if (v > top) top = v;
  return top > 0 ? top * 1.06 : 1;
}

// axes draws the grid, the ticks of y, and those of x below the last box.
function axes(svg, box, x, y, o, log, last) {
  const count = (box.right - box.left) / (log ? 55 : 80);
  for (const t of log ? logTicks(x.low, x.high, count) : ticks(x.low, x.high, count)) {
    shape(svg, "line", { class: "grid-line", x1: x(t), x2: x(t), y1: box.top, y2: box.bottom });
    if (last) shape(svg, "text", { x: x(t), y: box.bottom + 16, "text-anchor": "middle" }, number(t));
  }
  const top = y.invert(box.top);
  for (const t of ticks(0, top, Math.max(2, (box.bottom - box.top) / 40))) {
    shape(svg, "line", { class: t === 0 ? "axis" : "grid-line", x1: box.left, x2: box.right, y1: y(t), y2: y(t) });
    shape(svg, "text", { x: box.left - 7, y: y(t) + 4, "text-anchor": "end" }, o.yTick ? o.yTick(t) : number(t));
  }
  if (o.rule !== undefined) shape(svg, "line", { class: "rule", x1: x(o.rule), x2: x(o.rule), y1: box.top, y2: box.bottom });
  if (!last) return;
  const middle = (box.left + box.right) / 2, room = 2 * (box.right + 14 - middle);
  const label = shape(svg, "text", { class: "x-label", x: middle, y: box.bottom + 33, "text-anchor": "middle" }, o.xLabel);
  if (label.getComputedTextLength() <= room) return;
  label.setAttribute("textLength", room); // drawn closer
  label.setAttribute("lengthAdjust", "spacingAndGlyphs");
}

function steps(l, x, y, box) {
  const px = (v) => Math.max(box.left, x(v));
  let d = `M${px(l.x[0]).toFixed(1)},${y(l.rise ? 0 : l.y[0]).toFixed(1)}`;
  l.x.forEach((v, i) => { d += `H${px(v).toFixed(1)}V${y(l.y[i]).toFixed(1)}`; });
  return l.rise ? d + `H${box.right}` : d;
}

// valueAt returns the value of a line at x: that of the last point not after.
function valueAt(l, x) {
  let low = 0, high = l.x.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (l.x[mid] <= x) low = mid + 1; else high = mid;
  }
  if (low > 0) return l.y[low - 1];
  return l.rise ? 0 : null;
}

// cursor shows all values at the pointer, or where the arrow keys moved it.
function cursor(svg, box, x, scales, lines, o) {
  const cross = shape(svg, "line", { class: "cross", y1: box.top, y2: box.bottom, visibility: "hidden" });
  const dots = lines.map((l) => shape(svg, "circle", { r: 3.5, fill: l.colour, visibility: "hidden" }));
  let at = (box.left + box.right) / 2;
  const move = (px, clientY) => {
    at = Math.min(box.right, Math.max(box.left, px));
    const v = x.invert(at);
    cross.setAttribute("x1", at); cross.setAttribute("x2", at); cross.setAttribute("visibility", "visible");
    const rows = [];
    lines.forEach((l, i) => {
      const value = valueAt(l, v);
      dots[i].setAttribute("visibility", value === null ? "hidden" : "visible");
      if (value === null) return;
      dots[i].setAttribute("cx", at); dots[i].setAttribute("cy", scales[i](value));
      rows.push({ name: seen(l.name), value: o.yText(value), colour: l.colour });
    });
    const frame = svg.getBoundingClientRect();
    showTip(frame.left + at, clientY ?? frame.top + 60, o.xText(v), rows);
  };
  const leave = () => {
    hideTip();
    for (const e of [cross, ...dots]) e.setAttribute("visibility", "hidden");
  };
  svg.onpointermove = (e) => move(e.clientX - svg.getBoundingClientRect().left, e.clientY);
  svg.onpointerleave = leave;
  svg.onblur = leave;
  svg.onkeydown = (e) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    if (step) { move(at + (step * (box.right - box.left)) / (e.shiftKey ? 10 : 100)); e.preventDefault(); }
    if (e.key === "Escape") leave();
  };
}

// bars shows stacked horizontal bars in groups. options:
//   groups: [{name, bars: [{name, colour, parts: [{name, colour, value}]}]}]; a group without a name has no title line
//   legend: [{name, colour}];  xLabel;  text(value, total)
function bars(id, o) {
  const card = document.getElementById(id);
  const bar = element(card, "div", { class: "bar" });
  const legend = element(bar, "div", { class: "legend" });
  for (const l of o.legend) {
    const item = element(legend, "span");
    element(item, "i", { class: "key" }).style.background = l.colour;
    item.append(seen(l.name));
  }
  csvButton(bar, id).classList.add("push");
  const svg = shape(card, "svg", { class: "plot", role: "img", tabindex: 0, "aria-label": card.querySelector("h2").textContent });
  whenSized(svg, (w) => drawBars(svg, o, w));
}

function drawBars(svg, o, width) {
  svg.replaceChildren();
  const total = (b) => b.parts.reduce((sum, p) => sum + p.value, 0);
  const most = Math.max(0, ...o.groups.flatMap((g) => g.bars.map(total)));
  if (most === 0) {
    svg.setAttribute("height", 250);
    shape(svg, "text", { x: width / 2, y: 120, "text-anchor": "middle" }, "no data");
    return;
  }
  const several = o.groups.some((g) => g.name !== "");
  const room = (names) => Math.min(width / 4, 14 + 6.6 * Math.max(...names.map((n) => n.length)));
  const groupRoom = several ? room(o.groups.map((g) => g.name)) : 0;
  const barRoom = room(o.groups.flatMap((g) => g.bars.map((b) => b.name)));
  const left = groupRoom + barRoom;
  const x = scale(0, most, 0, width - left - 62);
  const count = o.groups.reduce((n, g) => n + g.bars.length, 0);
  const thick = Math.max(13, Math.min(o.thick || 15, (206 - 7 * o.groups.length) / count));
  const bottom = 10 + count * (thick + 1) + (o.groups.length - 1) * 8;
  for (const t of ticks(0, most, (width - left) / 80)) {
    shape(svg, "line", { class: t === 0 ? "axis" : "grid-line", x1: left + x(t), x2: left + x(t), y1: 4, y2: bottom + 2 });
    shape(svg, "text", { x: left + x(t), y: bottom + 17, "text-anchor": "middle" }, number(t));
  }
  shape(svg, "text", { x: left + x(most) / 2, y: bottom + 34, "text-anchor": "middle" }, o.xLabel);
  svg.setAttribute("height", Math.max(250, bottom + 40));
  let y = 8;
  const hot = [];
  for (const g of o.groups) {
    if (several) label(svg, 0, y + (g.bars.length * (thick + 1)) / 2 + 4, g.name, groupRoom, "name");
    for (const b of g.bars) {
      label(svg, groupRoom, y + thick / 2 + 4, b.name, barRoom, several ? "" : "name");
      hot.push(...drawBar(svg, b, { left, y, thick, x, sum: total(b), title: several ? `${seen(g.name)}, ${seen(b.name)}` : seen(b.name) }, o));
      y += thick + 1;
    }
    y += 8;
  }
  walk(svg, hot);
}

function label(svg, x, y, name, room, kind) {
  const most = Math.floor((room - 10) / 6.3);
  const text = seen(name);
  const t = shape(svg, "text", { x, y, class: kind }, text.length > most ? text.slice(0, most - 1) + "\u2026" : text);
  shape(t, "title", {}, text);
}

function drawBar(svg, b, place, o) {
  let at = place.left;
  const hot = [];
  for (const p of b.parts) {
    const w = place.x(p.value);
    if (!(w > 0)) continue;
    const rect = shape(svg, "rect", { class: "hot", x: at, y: place.y, width: Math.max(0.4, w), height: place.thick, fill: p.colour });
    const lines = b.parts.map((q) => ({ name: seen(q.name), value: o.text(q.value, place.sum), colour: q.colour }));
    rect.show = (x, y) => showTip(x, y, place.title, [...lines, { name: "in all", value: o.text(place.sum, place.sum) }]);
    rect.onpointermove = (e) => rect.show(e.clientX, e.clientY);
    rect.onpointerleave = hideTip;
    hot.push(rect);
    at += w;
  }
  shape(svg, "text", { x: at + 6, y: place.y + place.thick / 2 + 4 }, number(place.sum));
  return hot;
}

// walk lets the arrow keys step through the parts of bars.
function walk(svg, hot) {
  let i = -1;
  const leave = () => { hot[i]?.classList.remove("on"); hideTip(); };
  svg.onblur = leave;
  svg.onkeydown = (e) => {
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[e.key];
    if (e.key === "Escape") leave();
    if (!step) return;
    leave();
    i = Math.min(hot.length - 1, Math.max(0, i + step));
    hot[i].classList.add("on");
    const box = hot[i].getBoundingClientRect();
    hot[i].show(box.right, box.bottom);
    e.preventDefault();
  };
}
