"use strict";
// What all plots share: the data, elements, scales, numbers in words, the
// tooltip, CSV.
const report = JSON.parse(document.getElementById("data").textContent);
const svgNamespace = document.querySelector("svg").namespaceURI;
const tip = document.getElementById("tip");
const datasets = new Map(report.datasets.map((d) => [d.name, d]));

// column returns the column of a dataset as an object with its values and, for
// words, a function from row to word.
function column(dataset, name) {
  const c = dataset.columns.find((c) => c.name === name);
  return { values: c.values, word: (row) => c.words[c.values[row]] };
}

// element makes an HTML element under parent; text is never taken for markup.
function element(parent, tag, attributes = {}, text = "") {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text !== "") e.textContent = text;
  parent.append(e);
  return e;
}

function shape(parent, tag, attributes, text = "") {
  const e = document.createElementNS(svgNamespace, tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text !== "") e.textContent = text;
  parent.append(e);
  return e;
}

const colour = (kind, i) => `var(--${kind}${i % 8})`;
const policyColour = (i) => (i === report.observed ? "var(--ink)" : `var(--p${i % 12})`);
// Lines are told apart by dashes beside colours; what was observed is not dashed.
const dashes = ["", "8 4", "2 3", "10 3 2 3", "5 2", "10 3 2 3 2 3"];
const policyDash = (i) => (i === report.observed ? "" : dashes[(i + (report.observed < 0 ? 0 : 1 - (i > report.observed))) % dashes.length]);
const typeColour = (name) => colour("g", Math.max(0, report.gpuTypes.indexOf(name)));
const seen = (name) => [...name].map((r) => (/\p{C}/u.test(r) ? "\u00b7" : r)).join("") || "(no name)";

// number writes v with about three significant digits.
function number(v) {
  const a = Math.abs(v);
  if (a === 0) return "0";
  if (a >= 1000) return Math.round(v).toLocaleString("en");
  if (a < 0.001) return v.toExponential(1);
  return String(Number(v.toPrecision(3)));
}

const percent = (f) => (100 * f).toFixed(f > 0.0995 && f < 0.9995 ? 0 : 1) + " %";
const timeUnits = [["s", 1], ["min", 60], ["h", 3600], ["days", 86400]];

// timeUnit picks the unit in which times up to most seconds read well.
function timeUnit(most) {
  const i = most < 300 ? 0 : most < 3 * 3600 ? 1 : most < 20 * 86400 ? 2 : 3;
  return { name: timeUnits[i][0], seconds: timeUnits[i][1] };
}

// duration writes seconds in the unit that suits them.
function duration(s) {
  const u = s < 120 ? 0 : s < 7200 ? 1 : s < 4 * 86400 ? 2 : 3;
  return number(s / timeUnits[u][1]) + " " + timeUnits[u][0];
}

// ticks returns about count round numbers within [low, high].
function ticks(low, high, count) {
  const raw = (high - low) / Math.max(1, count);
  if (!(raw > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].find((m) => m * power >= raw * 0.999) * power;
  const out = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high * (1 + 1e-9) + 1e-12; k++) out.push(Number((k * step).toPrecision(12)));
  return out;
}

// logTicks returns 1, 2, 5 (or only 1) times powers of ten within [low, high].
function logTicks(low, high, count) {
  const decades = Math.log10(high / low);
  const steps = decades * 3 <= count ? [1, 2, 5] : decades * 2 <= count ? [1, 3] : [1];
  const every = Math.max(1, Math.ceil(decades / count));
  const out = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
    if (e % every !== 0) continue;
    for (const s of steps) {
      const v = Number((s * 10 ** e).toPrecision(12));
      if (v >= low * 0.999 && v <= high * 1.001) out.push(v);
    }
  }
  return out;
}

// scale maps [low, high] to [from, to].
function scale(low, high, from, to, log = false) {
  const f = log ? Math.log : (v) => v;
  const span = f(high) - f(low) || 1;
  const map = (v) => from + ((f(v) - f(low)) / span) * (to - from);
  map.invert = (p) => {
    const w = f(low) + ((p - from) / (to - from || 1)) * span;
    return log ? Math.exp(w) : w;
  };
  return map;
}

// showTip shows a title and lines {name, value, colour} beside a point of the
// window.
function showTip(x, y, title, lines) {
  tip.replaceChildren();
  element(tip, "b", {}, title);
  for (const l of lines) {
    const row = element(tip, "div");
    if (l.colour) element(row, "i", { class: "key" }).style.background = l.colour;
    element(row, "span", {}, l.name);
    element(row, "output", {}, l.value);
  }
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = x + 16 + box.width > innerWidth - 8 ? x - 16 - box.width : x + 16;
  tip.style.left = Math.max(4, left) + "px";
  tip.style.top = Math.max(4, Math.min(innerHeight - box.height - 8, y + 12)) + "px";
}

const hideTip = () => { tip.hidden = true; };

// csvButton offers what a plot shows as a file.
function csvButton(bar, name, label = "CSV") {
  const button = element(bar, "button", { type: "button", class: "csv", title: `Download ${name}.csv` }, label);
  button.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csv(datasets.get(name))], { type: "text/csv" }));
    link.download = name + ".csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
  return button;
}

function csv(dataset) {
  const quote = (s) => (/[",\r\n]|^\s/.test(s) ? '"' + s.replaceAll('"', '""') + '"' : s);
  const lines = [dataset.columns.map((c) => quote(c.name)).join(",")];
  for (let row = 0; row < dataset.columns[0].values.length; row++) {
    lines.push(dataset.columns.map((c) => (c.words ? quote(c.words[c.values[row]]) : c.values[row])).join(","));
  }
  return lines.join("\n") + "\n";
}

function select(bar, label, options, change) {
  const box = element(element(bar, "label", {}, label), "select", {});
  options.forEach((o, i) => element(box, "option", { value: i }, o));
  box.addEventListener("change", () => change(Number(box.value)));
  return box;
}

function toggle(bar, label, on, change) {
  const button = element(bar, "button", { type: "button", class: "switch", "aria-pressed": on }, label);
  button.addEventListener("click", () => {
    on = !on;
    button.setAttribute("aria-pressed", on);
    change(on);
  });
}

// whenSized calls draw with the width of e, now and whenever it changes.
function whenSized(e, draw) {
  let last = 0;
  new ResizeObserver(() => {
    const w = Math.floor(e.clientWidth);
    if (w > 0 && w !== last) requestAnimationFrame(() => draw((last = w)));
  }).observe(e);
}
