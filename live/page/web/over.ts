// GPUs and jobs over time.
import { byId, el, fill, span, svg } from "./dom";
import { ticksOf } from "./track";
import type { Overview, Series } from "./types";

interface Line { name: string; values: number[]; kind: string }

export function showOver(s: Series, o: Overview): void {
  const offset = (Date.parse(s.begun) - Date.parse(o.begun)) / 1000, all = (s.at ?? []).map((t) => t + offset);
  if (all.length < 2) return fill(byId("over"), el("p", { class: "soft" }, "The plots begin with the second state that this page gets."));
  fill(byId("over"),
    chart("GPUs", all, [{ name: "total", values: s.gpus ?? [], kind: "line1" }, { name: "held", values: s.held ?? [], kind: "line0" }], o),
    chart("Jobs", all, [{ name: "waiting", values: s.waiting ?? [], kind: "line2" }, { name: "running", values: s.running ?? [], kind: "line0" }], o));
}

const width = 600, height = 140, left = 40, bottom = 18;

// chart draws lines of steps. The caption has the same numbers for screen readers.
function chart(title: string, at: number[], lines: Line[], o: Overview): HTMLElement {
  const last = at[at.length - 1], first = at[0], now = o.live ? undefined : o.elapsed, length = Math.max(1, last - first);
  const most = Math.max(1, ...lines.map((l) => Math.max(0, ...l.values)));
  const x = (t: number): number => left + ((width - left - 4) * (t - first)) / length;
  const y = (v: number): number => 6 + (height - bottom - 6) * (1 - v / most);
  const values = most > 1 ? [0, Math.round(most / 2), most] : [0, most];
  const marks = [...values.flatMap((v) => [svg("text", { x: left - 4, y: y(v) + 4, class: "right" }, String(v)), svg("line", { x1: left, x2: width - 4, y1: y(v), y2: y(v), class: "axis" })]),
    ...ticksOf({ from: first, to: first + length }, width - left - 4, o).map((t) => svg("text", { x: left + t.x, y: height - 3, class: "middle" }, t.text)),
    svg("line", { x1: left, x2: width - 4, y1: y(0), y2: y(0), class: "axis" })];
  if (now !== undefined && now >= first && now <= last) marks.push(svg("line", { x1: x(now), x2: x(now), y1: y(most), y2: y(0), class: "now" }));
  const drawn = lines.map((l) => svg("path", { class: l.kind, d: l.values.map((v, i) => (i === 0 ? `M${x(at[0])} ${y(v)}` : `H${x(at[i])}V${y(v)}`)).join("") }));
  const captions = lines.map((l) => `${l.name}: ${l.values[l.values.length - 1] ?? 0} at the end, at most ${Math.max(0, ...l.values)}, mean ${mean(at, l.values)}`);
  return el("figure", {}, svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title} over ${span(length)}` }, ...marks, ...drawn) as unknown as HTMLElement,
    el("figcaption", {}, el("b", {}, title), ...lines.flatMap((l, i) => [el("span", { class: "key " + l.kind }), captions[i] + (i + 1 < lines.length ? "; " : "")])));
}

// mean returns the time-weighted mean.
function mean(at: number[], values: number[]): string {
  let sum = 0;
  for (let i = 0; i + 1 < at.length; i++) sum += values[i] * (at[i + 1] - at[i]);
  const length = (at[at.length - 1] ?? 0) - (at[0] ?? 0);
  return length > 0 ? String(Number((sum / length).toPrecision(3))) : "unknown";
}
