// Elements and formats. Text is never interpreted as markup.
import type { Expected, Holding, Job, Range } from "./types";

type Child = Node | string | undefined;

export function el<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Record<string, string> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  for (const c of children) if (c !== undefined) e.append(c);
  return e;
}

export function svg(tag: string, attributes: Record<string, string | number>, ...children: (Node | string)[]): SVGElement {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
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

export function asked(j: Job): string {
  if (j.asked) return j.asked;
  return j.min_gpus === j.max_gpus ? `${j.max_gpus ?? 0} GPUs` : `${j.min_gpus} to ${j.max_gpus} GPUs`;
}

// seconds parses a time as seconds since 1970; NaN if unknown.
export const seconds = (time: string | undefined): number => Date.parse(time ?? "") / 1000;

// ahead formats an expected time, relative to at.
export function ahead(r: Range | undefined, at: string): string | undefined {
  if (!r) return undefined;
  const until = (t: string): string => span(seconds(t) - seconds(at));
  if (!r.early && !r.late) return r.unknown ? notKnown(r.unknown) : undefined;
  if (r.late && seconds(r.late) < seconds(at)) return "overdue";
  const interval = r.probability ? ` (${Math.round(100 * r.probability)} % interval)` : "";
  let text = r.late ? `in ${until(r.late)} at the latest` : `in ${until(r.early!)} at the earliest; how much later is not known`;
  if (r.early && r.late) text = between(until(r.early), until(r.late), r.likely && until(r.likely)) + interval;
  return [text, r.source, r.unknown].filter((s) => s).join("; ");
}

// when formats a time of an overview: the time of day if live, otherwise since the start.
export function when(overview: { begun: string; live: boolean }, at: number): string {
  if (!overview.live) return "at " + span(at);
  return new Date(Date.parse(overview.begun) + at * 1000).toLocaleTimeString();
}

// expected formats a range for the start or end of a job, with its probability.
export function expected(e: Expected | undefined, what: string): string | undefined {
  if (!e) return undefined;
  if (e.unknown) return notKnown(e.unknown);
  if (!e.probability) return "now";
  if (e.open) return `in ${span(e.early)} at the earliest; how much later is not known`;
  const record = e.of > 0 ? `; ${e.held} of the last ${counted(e.of, `${what} estimate`)} ${e.held === 1 ? "was" : "were"} right` : ", not tested in this run yet";
  return `${between(span(e.early), span(e.late), span(e.likely))} (${Math.round(100 * e.probability)} % interval${record})`;
}

const notKnown = (why: string): string => (why.startsWith("unreliable: ") ? why : "unknown: " + why);

// between formats a range that is not empty, with its median.
const between = (early: string, late: string, likely?: string): string => (early === late ? `in ${early}` : `in ${early} to ${late}` + (likely ? `, median ${likely}` : ""));

// hue gives a job one of twelve colours.
export function hue(id: string): string {
  let h = 0;
  for (const c of id) h = (h * 31 + c.codePointAt(0)!) >>> 0;
  return "hue" + (h % 12);
}

export const link = (id: string): HTMLAnchorElement => el("a", { href: "#job=" + encodeURIComponent(id) }, id);
