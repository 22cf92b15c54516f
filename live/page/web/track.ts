// One row of a timeline: bars where a job held GPUs, a thin line where it waited, marks for what happened.
import { counted, date, el, heldBy, hue, moment, seconds, span, svg, timeOfDay } from "./dom";
import type { Job, Overview, Step, Track } from "./types";

export interface Bar { from: number; to: number; gpus: number; kind: "past" | "later" | "forecast" }
export interface Mark { at: number; what: string; text?: string }
// A Row is a job on the time axis of an overview, in seconds.
export interface Row { id: string; user: string; bars: Bar[]; marks: Mark[]; from: number; to: number; rank: number }
export interface View { from: number; to: number }

const ends = ["done", "failed", "cancelled", "ended"];

// rowOf joins the past of a job with its present and its forecast. offset is added to the times of its steps.
export function rowOf(track: Track, job: Job | undefined, offset: number, o: Overview): Row {
  const now = o.elapsed, steps = track.steps.map((s) => ({ ...s, at: s.at + offset }));
  if (job && o.live) bringUpToDate(steps, job, o);
  const bars = steps.flatMap((s, i) => barsOf(s, steps[i + 1]?.at ?? (ends.includes(s.what) ? s.at : Math.max(o.live ? now : o.last, s.at)), o));
  if (job && o.live) bars.push(...forecast(job, o));
  const holding = job !== undefined && heldBy(job) > 0, marks = steps.filter((s) => s.what !== "submitted" && s.what !== "started");
  return { id: track.job, user: track.user ?? "", bars, marks, from: steps[0].at, to: Math.max(steps[steps.length - 1].at, ...bars.map((b) => b.to)), rank: holding ? 0 : job ? 1 : 2 };
}

// bringUpToDate adds a step if the present differs from the last step, which may be a minute old.
function bringUpToDate(steps: Step[], job: Job, o: Overview): void {
  const last = steps[steps.length - 1], gpus = heldBy(job);
  if (last.gpus !== gpus) steps.push({ at: Math.max(last.at, job.since ? seconds(job.since) - seconds(o.begun) : o.elapsed), gpus, what: gpus > last.gpus ? "started" : "preempted" });
}

function barsOf(s: Step, to: number, o: Overview): Bar[] {
  if (o.live || to <= o.elapsed) return [{ from: s.at, to, gpus: s.gpus, kind: "past" }];
  if (s.at >= o.elapsed) return [{ from: s.at, to, gpus: s.gpus, kind: "later" }];
  return [{ from: s.at, to: o.elapsed, gpus: s.gpus, kind: "past" }, { from: o.elapsed, to, gpus: s.gpus, kind: "later" }];
}

function forecast(j: Job, o: Overview): Bar[] {
  const since = (t: string | undefined): number => seconds(t) - seconds(o.begun);
  const from = heldBy(j) > 0 ? o.elapsed : since(j.start?.likely ?? j.start?.early), to = since(j.end?.likely ?? j.end?.late);
  if (!(from >= o.elapsed && to > from)) return [];
  const gpus = heldBy(j) || j.min_gpus || 1;
  return [{ from, to, gpus, kind: "forecast" }];
}

const words: Record<string, string> = { grown: "got more GPUs", shrunk: "gave up GPUs", moved: "moved", preempted: "was preempted", lost: "lost its GPUs to a failure", done: "completed", failed: "failed", cancelled: "was cancelled", ended: "ended" };

// drawTrack draws a row that is width pixels wide and height pixels high. most GPUs are as high as the row.
export function drawTrack(row: Row, view: View, width: number, height: number, most: number, o: Overview): SVGElement {
  const x = (t: number): number => (width * (t - view.from)) / (view.to - view.from), within = (t: number): number => Math.min(width, Math.max(0, x(t)));
  const all: SVGElement[] = [];
  for (const b of row.bars) {
    if (b.to < view.from || b.from > view.to) continue;
    const h = b.gpus > 0 ? 6 + (height - 10) * Math.min(1, b.gpus / most) : 2, left = within(b.from);
    const box = { x: left, y: height - 2 - h, width: Math.max(1, within(b.to) - left), height: h };
    const text = `${row.id}: ${b.gpus > 0 ? counted(b.gpus, "GPU") : "waiting"}, ${b.kind === "forecast" ? "\u2248 " : ""}${moment(o, b.from)} to ${moment(o, b.to)} (${span(b.to - b.from)})`;
    all.push(svg("rect", { ...box, class: b.gpus > 0 ? `${hue(row.id)} ${b.kind}` : "waits" }, svg("title", {}, text)));
    if (b.kind === "forecast") all.push(svg("rect", { ...box, class: "over" }));
  }
  for (const m of row.marks) if (m.at >= view.from && m.at <= view.to) all.push(mark(m, x(m.at), height, o));
  if (o.elapsed >= view.from && o.elapsed <= view.to) all.push(svg("line", { x1: x(o.elapsed), x2: x(o.elapsed), y1: 0, y2: height, class: "now" }));
  return svg("svg", { width, height, "aria-hidden": "true" }, ...all);
}

// mark draws a cross for a failure, a triangle for a change of size, and a circle for the rest.
function mark(m: Mark, x: number, height: number, o: Overview): SVGElement {
  const title = svg("title", {}, `${moment(o, m.at)}: ${m.text ?? words[m.what] ?? m.what}`), y = height / 2;
  if (m.what === "failed" || m.what === "lost") return svg("path", { class: "mark fails", d: `M${x - 4} ${y - 4}l8 8m0 -8l-8 8` }, title);
  if (m.what === "grown") return svg("path", { class: "mark", d: `M${x - 4} ${y + 3}l4 -7l4 7z` }, title);
  if (m.what === "shrunk" || m.what === "preempted") return svg("path", { class: "mark", d: `M${x - 4} ${y - 3}l4 7l4 -7z` }, title);
  return svg("circle", { class: "mark", cx: x, cy: y, r: 3 }, title);
}

const steps = [1, 2, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 2419200, 7776000];

// ticksOf returns the round times of a view that are at least 80 pixels apart, with their pixels and texts.
export function ticksOf(view: View, width: number, o: Overview): { x: number; text: string }[] {
  const length = view.to - view.from, step = steps.find((s) => (s / length) * width >= 80) ?? length;
  const zone = o.live ? -60 * new Date(o.at).getTimezoneOffset() : 0, origin = o.live ? Date.parse(o.begun) / 1000 + zone : 0;
  const all: { x: number; text: string }[] = [];
  if (!(length > 0)) return all;
  const first = Math.ceil((view.from + origin) / step) * step - origin;
  for (let i = 0; first + i * step <= view.to && i <= width; i++) {
    const t = first + i * step;
    const x = (width * (t - view.from)) / length;
    if (x >= 24 && x <= width - 24) all.push({ x, text: tick(t, step, o) });
  }
  return all;
}

// drawAxis draws ticks: times of day if live, otherwise times since the start.
export function drawAxis(view: View, width: number, o: Overview, events: Mark[] = []): SVGElement {
  const x = (t: number): number => (width * (t - view.from)) / (view.to - view.from);
  const all = ticksOf(view, width, o).flatMap((t) => [svg("line", { x1: t.x, x2: t.x, y1: 18, y2: 24, class: "axis" }), svg("text", { x: t.x, y: 13, class: "middle" }, t.text)]);
  for (const e of events) if (e.at >= view.from && e.at <= view.to) all.push(svg("path", { class: "mark fails", d: `M${x(e.at) - 4} 16h8l-4 8z` }, svg("title", {}, `${moment(o, e.at)}: ${e.text}`)));
  return svg("svg", { width, height: 24, "aria-hidden": "true" }, ...all);
}

function tick(t: number, step: number, o: Overview): string {
  if (!o.live) return span(t);
  const d = new Date(Date.parse(o.begun) + 1000 * t);
  if (step >= 86400 || (d.getHours() === 0 && d.getMinutes() === 0)) return date(d);
  return timeOfDay(d).slice(0, step < 60 ? 8 : 5);
}

// spoken describes a row for those who do not see it.
export function spoken(row: Row, o: Overview): string {
  const changes = row.marks.length, held = row.bars.filter((b) => b.kind === "past" && b.gpus > 0).reduce((sum, b) => sum + b.to - b.from, 0);
  return `${row.id}: since ${moment(o, row.from)}, ${span(held)} with GPUs, ${counted(changes, "change")}`;
}

export const figure = (...children: (SVGElement | HTMLElement)[]): HTMLElement => el("figure", { class: "life-line" }, ...(children as unknown as Node[]));
