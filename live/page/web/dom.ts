// Elements and formats. Text is never interpreted as markup.
import { jobHref } from "./route";
import type { Expected, Holding, Job, Overview, Range } from "./types";

type Child = Node | string | undefined;

export function el<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Record<string, string> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  for (const c of children) if (c !== undefined) e.append(c);
  return e;
}

// Each page that draws has a picture in its HTML.
const namespace = document.querySelector("svg")!.namespaceURI!;

export function svg(tag: string, attributes: Record<string, string | number>, ...children: (Node | string)[]): SVGElement {
  const e = document.createElementNS(namespace, tag) as SVGElement;
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, String(v));
  e.append(...children);
  return e;
}

export const byId = (id: string): HTMLElement => document.getElementById(id)!;

// fill replaces the content of an element. Keyboard focus stays on the same link or control if it still exists.
export function fill(parent: HTMLElement, ...children: (Node | string)[]): void {
  const had = document.activeElement;
  const alike = (): HTMLElement[] => [...parent.querySelectorAll<HTMLElement>("a, button, input, [tabindex]")].filter((e) => words(e) === name);
  const name = had && parent.contains(had) ? words(had) : undefined;
  const which = name === undefined ? -1 : alike().indexOf(had as HTMLElement);
  parent.replaceChildren(...children);
  if (which < 0) return;
  const again = alike();
  again[Math.min(which, again.length - 1)]?.focus({ preventScroll: true });
}

const words = (e: Element): string => `${e.tagName} ${e.ariaLabel ?? e.textContent}`;

// span formats seconds: "4 min 10 s".
export function span(s: number): string {
  s = Math.max(0, Math.round(s));
  const units: [string, number][] = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const i = units.findIndex(([, u]) => s >= u);
  if (i < 0) return "0 s";
  const whole = Math.floor(s / units[i][1]);
  const rest = i < 3 ? Math.floor((s % units[i][1]) / units[i + 1][1]) : 0;
  return `${whole} ${units[i][0]}` + (rest > 0 ? ` ${rest} ${units[i + 1][0]}` : "");
}

// rough formats seconds without the seconds of minutes: "4 min".
export const rough = (s: number): string => span(s < 60 ? s : 60 * Math.floor(s / 60));

export const percent = (share: number): string => `${Math.round(100 * share)} %`;

export const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`;

export function gpus(h: Holding | undefined): string {
  if (!h) return "no GPUs";
  const own = counted(h.gpus, `${h.type} GPU`.trim()) + (h.nodes > 1 ? ` on ${h.nodes} nodes` : "");
  return h.also ? `${own} and ${gpus(h.also)}` : own;
}

export function holds(j: Job): Holding | undefined {
  if (!j.gpus && !j.nodes?.length) return undefined;
  return { nodes: j.nodes?.length ?? 1, gpus: j.gpus, type: j.gpu_type ?? "", also: j.also && { nodes: j.also.nodes, gpus: j.also.gpus, type: j.also.gpu_type } };
}

// heldBy returns the number of GPUs of a job, of all types.
export const heldBy = (j: Job): number => j.gpus + (j.also?.gpus ?? 0);

export function asked(j: Job): string {
  if (j.asked) return j.asked;
  return j.min_gpus === j.max_gpus ? counted(j.max_gpus ?? 0, "GPU") : `${j.min_gpus} to ${j.max_gpus} GPUs`;
}

// seconds parses a time as seconds since 1970; NaN if unknown.
export const seconds = (time: string | undefined): number => Date.parse(time ?? "") / 1000;

// ahead formats an expected time, relative to at.
export function ahead(r: Range | undefined, at: string): string | undefined {
  if (!r) return undefined;
  const until = (t: string): string => span(seconds(t) - seconds(at));
  if (!r.early && !r.late) return r.unknown ? notKnown(r.unknown) : undefined;
  if (r.late && seconds(r.late) < seconds(at)) return "overdue";
  const interval = r.probability ? ` (${Math.round(100 * r.probability)} % likely)` : "";
  let text = r.late ? `\u2248 in ${until(r.late)} at the latest` : `\u2248 in ${until(r.early!)} at the earliest; how much later is not known`;
  if (r.early && r.late) text = between(until(r.early), until(r.late), r.likely && until(r.likely)) + interval;
  return [text, r.source, r.unknown].filter((s) => s).join("; ");
}

// when formats a time of an overview: the time of day if live, otherwise since the start.
export function when(overview: { begun: string; live: boolean }, at: number): string {
  if (!overview.live) return "at " + span(at);
  return timeOfDay(new Date(Date.parse(overview.begun) + at * 1000));
}

// expected formats a range for the start or end of a job, with its probability.
export function expected(e: Expected | undefined): string | undefined {
  if (!e) return undefined;
  if (e.unknown) return notKnown(e.unknown);
  if (!e.probability) return "now";
  if (e.open) return `\u2248 in ${span(e.early)} at the earliest; how much later is not known`;
  const range = span(e.early) !== span(e.late), likely = `${Math.round(100 * e.probability)} % likely; `;
  const record = e.of > 0 ? `${e.held} of the last ${counted(e.of, "estimate")} ${e.held === 1 ? "was" : "were"} right` : "not tested in this run yet";
  return `${between(span(e.early), span(e.late), span(e.likely))} (${range ? likely : ""}${record})`;
}

const notKnown = (why: string): string => (why.startsWith("unreliable: ") ? why : "unknown: " + why);

// between formats a range that is not empty, with its median, unless the median is an end of the range.
const between = (early: string, late: string, likely?: string): string => (early === late ? `\u2248 in ${early}` : `\u2248 in ${early} to ${late}` + (likely && likely !== early && likely !== late ? `, median ${likely}` : ""));

const colours = 12, chosen = new Map<string, number>();

// colour gives jobs that hold GPUs different colours while there are enough, and keeps them until the jobs end.
export function colour(jobs: Job[]): void {
  const holding = new Set(jobs.filter((j) => heldBy(j) > 0).map((j) => j.id));
  for (const id of chosen.keys()) if (!holding.has(id)) chosen.delete(id);
  const taken = new Set(chosen.values());
  for (const id of holding) {
    if (chosen.has(id)) continue;
    let n = hash(id);
    for (let i = 0; taken.size < colours && taken.has(n) && i < colours; i++) n = (n + 1) % colours;
    chosen.set(id, n);
    taken.add(n);
  }
}

function hash(id: string): number {
  let h = 0;
  for (const c of id) h = (h * 31 + c.codePointAt(0)!) >>> 0;
  return h % colours;
}

// hue returns the colour of a job.
export const hue = (id: string): string => "hue" + (chosen.get(id) ?? hash(id));

// link links to the page of a job at the moment that is shown.
export const link = (id: string, now: Overview): HTMLAnchorElement => el("a", { href: jobHref(id, now), "data-job": id }, id);

// coloured is a link with the colour of the job.
export const coloured = (id: string, now: Overview): HTMLElement => el("span", { class: "coloured" }, el("i", { class: "key-box " + hue(id) }), link(id, now));

const two = (n: number): string => String(n).padStart(2, "0");

// clock formats seconds since 1970 as a time of day, with the date if it is half a day away or more.
export function clock(t: number): string {
  const d = new Date(1000 * t), time = `${two(d.getHours())}:${two(d.getMinutes())}`;
  return Math.abs(t - Date.now() / 1000) < 43_200 ? time : `${date(d)} ${time}`;
}

export const date = (d: Date): string => `${d.getDate()} ${d.toLocaleString("en", { month: "short" })}`;

// timeOfDay formats a time with seconds, of 24 hours.
export const timeOfDay = (d: Date): string => d.toTimeString().slice(0, 8);

// moment formats a time in seconds since the origin of an overview: a time of day if live, otherwise since the start.
export const moment = (o: Overview, t: number): string => (o.live ? clock(Date.parse(o.begun) / 1000 + t) : span(t));

// soon formats an expected time in a few words: "≈ 14:10 (13:50 to 15:00)".
export function soon(r: Range | undefined, at: string): string {
  if (!r || (!r.early && !r.late)) return r?.unknown ? "not known" : "";
  if (r.late && seconds(r.late) < seconds(at)) return "overdue";
  if (!r.late) return "\u2248 " + clock(seconds(r.likely ?? r.early)) + " or later";
  if (!r.early) return "\u2248 by " + clock(seconds(r.late));
  const [early, late] = [clock(seconds(r.early)), clock(seconds(r.late))];
  return "\u2248 " + clock(seconds(r.likely ?? r.late)) + (early === late ? "" : ` (${early} to ${late})`);
}
