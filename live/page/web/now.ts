// The present: problems, GPUs, idle GPUs and waiting jobs, with reasons.
import { ahead, asked, byId, counted, el, fill, gpus, holds, hue, link, seconds, span, when } from "./dom";
import { ask } from "./question";
import type { GPUs, Job, Node, Overview } from "./types";

const waits = (j: Job): boolean => !holds(j);

export function showNow(overview: Overview): void {
  const jobs = overview.jobs;
  fill(byId("attention"), ...attention(overview));
  fill(byId("types"), ...idle(overview));
  fill(byId("nodes"), ...overview.nodes.slice(0, mostNodes).map(nodeOf), more(overview.nodes.length, mostNodes, "node"));
  table("waiting", jobs.filter(waits), overview);
  table("running", jobs.filter((j) => !waits(j)), overview);
  fill(byId("ended"), ...(overview.ended ?? []).map((e) => el("li", {}, link(e.id), ` ${e.phase} ${when(overview, seconds(e.finished) - seconds(overview.begun))}`, e.detail ? `: ${e.detail}` : undefined)));
}

const mostNodes = 500, mostRows = 200;

const more = (all: number, most: number, what: string): HTMLElement | string => (all > most ? el("p", { class: "soft" }, `and ${counted(all - most, what)} more`) : "");

// attention lists problems.
function attention(overview: Overview): HTMLElement[] {
  const all: HTMLElement[] = [];
  for (const text of overview.attention ?? []) all.push(el("li", { class: "bad" }, text));
  for (const j of overview.jobs) if (j.trouble) all.push(el("li", { class: "bad" }, link(j.id), ": " + j.trouble));
  for (const e of overview.ended ?? []) {
    const ago = seconds(overview.at) - seconds(e.finished);
    if (e.outcome === "failed" && ago < 3600) all.push(el("li", { class: "bad" }, link(e.id), ` failed ${span(ago)} ago`, e.detail ? `: ${e.detail}` : undefined));
  }
  return all.length > 0 ? all : [el("li", { class: "soft" }, "Nothing needs your attention.")];
}

// idle lists the free GPUs of each type, with the reason.
function idle(overview: Overview): HTMLElement[] {
  return overview.gpus.map((t) => {
    const free = t.total - t.held - t.unusable, price = priceOf(t, overview);
    const first = overview.jobs.find((j) => waits(j) && (!t.queue || j.queue === t.queue));
    const parts = [`${t.held} of ${t.total - t.unusable} held`];
    if (t.starting) parts.push(`${t.starting} rented, starting`);
    if (price !== undefined) parts.push(`price ${Number(price.toPrecision(3))}`);
    if (free > 0) parts.push(first ? `${free} free; first waiting job ${first.id}: ${first.sentence ?? ""}` : `${free} free, no job waits`);
    const more = overview.asks ? ask("One more node?", () => `With one more node of ${t.type}`, () => `nodes=1&type=${encodeURIComponent(t.type)}`, overview) : undefined;
    return el("li", {}, el("b", {}, [t.queue, t.type].filter((s) => s).join(", ")), ": " + parts.join("; ") + " ", more);
  });
}

// priceOf returns the price of a GPU; undefined if the policy has none.
const priceOf = (t: GPUs, overview: Overview): number | undefined => overview.queues?.find((q) => q.name === (t.queue ?? ""))?.prices?.find((p) => p.type === t.type)?.price;

function nodeOf(n: Node): HTMLElement {
  const cells: HTMLElement[] = [];
  for (const h of n.held ?? []) {
    for (let i = 0; i < h.gpus; i++) cells.push(el("a", { class: "gpu " + hue(h.job), href: "#job=" + encodeURIComponent(h.job), title: h.job, "aria-label": `${n.name}, GPU: ${h.job}` }));
  }
  const free = n.gpus - cells.length;
  for (let i = 0; i < free; i++) cells.push(el("span", { class: "gpu free", title: "free" }));
  const name = [n.name, n.type, free > 0 ? `${free} free` : "", n.closed].filter((s) => s).join(" · ");
  return el("div", { class: "node" }, el("div", { class: "name" }, name), el("div", { class: "gpus" }, ...cells));
}

function table(id: string, jobs: Job[], overview: Overview): void {
  byId(id + "-count").textContent = String(jobs.length);
  fill(byId(id), ...jobs.slice(0, mostRows).map((j) => row(j, overview)));
  fill(byId(id + "-more"), more(jobs.length, mostRows, "job"));
}

function row(j: Job, overview: Overview): HTMLElement {
  const done = j.target && j.progress ? `${Math.min(100, Math.floor((100 * j.progress) / j.target))} %` : "";
  const eta = ahead(waits(j) ? j.start : j.end, overview.at) ?? "";
  return el("tr", {}, el("th", { scope: "row" }, link(j.id)), el("td", {}, waits(j) ? asked(j) : gpus(holds(j))), el("td", {}, j.queue ? `${j.phase}, queue ${j.queue}` : j.phase),
    el("td", { class: "number" }, j.since ? span(seconds(overview.at) - seconds(j.since)) : ""), el("td", { class: "number" }, done), el("td", {}, j.sentence ?? ""), el("td", {}, eta));
}
