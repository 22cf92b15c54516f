// Now: what needs a person, who has which GPU, what is idle and why, who waits and why.
import { byId, counted, el, expected, fill, gpus, hue, link, span, when } from "./dom";
import { ask } from "./question";
import type { Job, Node, Overview } from "./types";

const waits = (j: Job): boolean => !j.holds;

export function showNow(overview: Overview): void {
  const jobs = overview.jobs ?? [];
  fill(byId("attention"), ...attention(overview));
  fill(byId("types"), ...idle(overview));
  fill(byId("nodes"), ...(overview.nodes ?? []).slice(0, mostNodes).map(nodeOf), more(overview.nodes?.length ?? 0, mostNodes, "node"));
  table("waiting", jobs.filter(waits), overview);
  table("running", jobs.filter((j) => !waits(j)), overview);
  fill(byId("ended"), ...(overview.ended ?? []).map((e) => el("li", {}, link(e.job), ` ${e.outcome} ${when(overview, e.at)}`, e.detail ? `: ${e.detail}` : undefined)));
}

const mostNodes = 500, mostRows = 200;

const more = (all: number, most: number, what: string): HTMLElement | string => (all > most ? el("p", { class: "soft" }, `and ${counted(all - most, what)} more`) : "");

// attention lists what a person should look at first.
function attention(overview: Overview): HTMLElement[] {
  const all: HTMLElement[] = [];
  if (overview.banner) all.push(el("li", { class: "bad" }, overview.banner));
  for (const j of overview.jobs ?? []) if (j.trouble) all.push(el("li", { class: "bad" }, link(j.id), ": " + j.trouble));
  for (const e of overview.ended ?? []) {
    if (e.outcome === "failed" && overview.at - e.at < 3600) all.push(el("li", { class: "bad" }, link(e.job), ` failed ${span(overview.at - e.at)} ago`, e.detail ? `: ${e.detail}` : undefined));
  }
  return all.length > 0 ? all : [el("li", { class: "soft" }, "Nothing needs you.")];
}

// idle says for each GPU type how many are free, and why.
function idle(overview: Overview): HTMLElement[] {
  return (overview.types ?? []).map((t) => {
    const first = (overview.jobs ?? []).find((j) => waits(j) && j.queue === t.queue);
    const parts = [`${t.gpus - t.free} of ${t.gpus} held`];
    if (t.starting) parts.push(`${t.starting} rented on their way`);
    if (t.price !== undefined) parts.push(`price ${Number(t.price.toPrecision(3))}`);
    if (t.free > 0) parts.push(first ? `${t.free} free; the first that waits, ${first.id}: ${first.sentence}` : `${t.free} free, and no job waits`);
    const more = overview.asks ? ask("One more node?", () => `With one more node of ${t.type}`, () => `nodes=1&type=${encodeURIComponent(t.type)}`, overview) : undefined;
    return el("li", {}, el("b", {}, [t.queue, t.type].filter((s) => s).join(", ")), ": " + parts.join("; ") + " ", more);
  });
}

// nodeOf draws a node with a cell for each GPU.
function nodeOf(n: Node): HTMLElement {
  const cells: HTMLElement[] = [];
  for (const h of n.held ?? []) {
    for (let i = 0; i < h.gpus; i++) cells.push(el("a", { class: "gpu " + hue(h.job), href: "#job=" + encodeURIComponent(h.job), title: h.job, "aria-label": `${n.id}, GPU: ${h.job}` }));
  }
  const free = n.gpus - cells.length;
  for (let i = 0; i < free; i++) cells.push(el("span", { class: "gpu free", title: "free" }));
  const name = [n.id, n.type, free > 0 ? `${free} free` : "", n.closed].filter((s) => s).join(" · ");
  return el("div", { class: "node" }, el("div", { class: "name" }, name), el("div", { class: "gpus" }, ...cells));
}

function table(id: string, jobs: Job[], overview: Overview): void {
  byId(id + "-count").textContent = String(jobs.length);
  fill(byId(id), ...jobs.slice(0, mostRows).map((j) => row(j, overview)));
  fill(byId(id + "-more"), more(jobs.length, mostRows, "job"));
}

function row(j: Job, overview: Overview): HTMLElement {
  const done = j.target && j.progress ? `${Math.floor((100 * j.progress) / j.target)} %` : "";
  const eta = expected(waits(j) ? j.start : j.end) ?? "";
  return el("tr", {}, el("th", { scope: "row" }, link(j.id)), el("td", {}, waits(j) ? j.asked : gpus(j.holds)), el("td", {}, j.queue ? `${j.phase}, queue ${j.queue}` : j.phase),
    el("td", { class: "number" }, span(overview.at - j.since)), el("td", { class: "number" }, done), el("td", {}, j.sentence), el("td", {}, eta));
}
