// The present: GPU types, tables of jobs, and jobs that ended.
import { showAttention } from "./attention";
import { ask } from "./question";
import { asked, byId, clock, coloured, el, fill, gpus, holds, link, rough, seconds, soon, when } from "./dom";
import { waited } from "./header";
import { showNodes } from "./nodes";
import { matches } from "./search";
import { showRows } from "./rows";
import type { GPUs, Job, Overview, Range } from "./types";

const waits = (j: Job): boolean => !holds(j);

export function showNow(o: Overview): void {
  showAttention(o);
  fill(byId("types"), ...types(o));
  showNodes(o);
  const found = o.jobs.filter((j) => matches(j));
  const earliestFirst = (a: Job, b: Job): number => waited(b, o) - waited(a, o);
  table("waiting", found.filter(waits).sort(earliestFirst), o);
  table("running", found.filter((j) => !waits(j)).sort(earliestFirst), o);
  fill(byId("ended"), ...(o.ended ?? []).map((e) => ended(e, o)));
}

const ended = (e: Job, o: Overview): HTMLElement => el("li", {}, link(e.id, o), ` ${e.phase} ${when(o, seconds(e.finished) - seconds(o.begun))}`, e.detail ? `: ${e.detail}` : undefined);

// types lists how many GPUs of each type are held.
function types(o: Overview): HTMLElement[] {
  return o.gpus.map((t) => {
    const free = t.total - t.held - t.unusable, price = priceOf(t, o);
    const parts = [`${t.held} of ${t.total - t.unusable} held`];
    if (t.starting) parts.push(`${t.starting} rented, starting`);
    if (price !== undefined) parts.push(`price ${Number(price.toPrecision(3))}`);
    if (free > 0) parts.push(`${free} free`);
    if (t.unusable > 0) parts.push(`${t.unusable} on closed nodes`);
    const more = o.asks ? ask("One more node?", () => `With one more node of ${t.type}`, () => `nodes=1&type=${encodeURIComponent(t.type)}`, o) : undefined;
    return el("li", {}, el("b", {}, [t.queue, t.type].filter((s) => s).join(", ")), ": " + parts.join("; ") + " ", more);
  });
}

// priceOf returns the price of a GPU; undefined if the policy has none.
const priceOf = (t: GPUs, o: Overview): number | undefined => o.queues?.find((q) => q.name === (t.queue ?? ""))?.prices?.find((p) => p.type === t.type)?.price;

function table(id: "waiting" | "running", jobs: Job[], o: Overview): void {
  byId(id + "-count").textContent = String(jobs.length);
  byId(id + "-none").hidden = jobs.length > 0;
  byId(id + "-order").hidden = jobs.length < 2;
  const used = (has: (j: Job) => unknown): boolean => jobs.some(has);
  const lacks = [used(who) ? "" : "user", used((j) => j.target && j.progress) ? "" : "done", used((j) => range(j)) ? "" : "eta"].join(" ");
  byId(id).closest("table")!.dataset.lacks = lacks; // empty columns are hidden
  showRows(byId(id), jobs, (j) => row(j, o));
}

const range = (j: Job): Range | undefined => (waits(j) ? j.start : j.end);

function row(j: Job, o: Overview): HTMLElement {
  const expected = range(j), since = j.since ? seconds(j.since) : NaN, ago = rough(seconds(o.at) - since);
  return el("tr", {},
    el("th", { scope: "row" }, waits(j) ? link(j.id, o) : coloured(j.id, o), alias(j)),
    cell("user", who(j)),
    cell(waits(j) ? "wants" : "has", waits(j) ? asked(j) : gpus(holds(j))),
    cell("phase", j.queue ? `${j.phase}, queue ${j.queue}` : j.phase),
    cell("since", j.since ? (o.live ? `${clock(since)} (${ago})` : ago) : ""),
    cell("done", progress(j)),
    el("td", { class: "why", "data-label": "why", title: j.sentence ?? "" }, el("span", {}, j.brief ?? j.sentence ?? "")),
    el("td", { "data-label": waits(j) ? "starts" : "ends", title: expected?.unknown ?? "" }, soon(expected, o.at)));
}

const cell = (label: string, ...content: (Node | string | undefined)[]): HTMLElement => el("td", { "data-label": label }, ...content);

const alias = (j: Job): HTMLElement | undefined => (j.name && !j.id.endsWith(j.name) ? el("span", { class: "soft" }, " " + j.name) : undefined);

export const who = (j: Job): string => j.user ?? j.namespace ?? "";

function progress(j: Job): HTMLElement | undefined {
  if (!j.target || !j.progress) return undefined;
  const done = Math.min(100, Math.floor((100 * j.progress) / j.target));
  return el("span", { class: "done" }, el("progress", { max: "100", value: String(done), "aria-label": `${j.id}: ${done} % done` }), `${done} %`);
}

