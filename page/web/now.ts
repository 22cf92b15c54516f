// Now: what needs a person, who has which GPU, what is idle and why, who waits and why.
import { byId, counted, el, expected, gpus, hue, link, span, when } from "./dom";
import type { Job, Node, Scene } from "./types";

const waits = (j: Job): boolean => !j.holds;

export function showNow(scene: Scene): void {
  const jobs = scene.jobs ?? [];
  byId("attention").replaceChildren(...attention(scene));
  byId("types").replaceChildren(...idle(scene));
  byId("nodes").replaceChildren(...(scene.nodes ?? []).slice(0, mostNodes).map((n) => nodeOf(n, scene)), more(scene.nodes?.length ?? 0, mostNodes, "node"));
  table("waiting", jobs.filter(waits), scene);
  table("running", jobs.filter((j) => !waits(j)), scene);
  byId("ended").replaceChildren(...(scene.ended ?? []).map((e) => el("li", {}, link(e.job, scene), ` ${e.outcome} ${when(scene, e.at)}`, e.detail ? `: ${e.detail}` : undefined)));
}

const mostNodes = 500, mostRows = 200;

const more = (all: number, most: number, what: string): HTMLElement | string => (all > most ? el("p", { class: "soft" }, `and ${counted(all - most, what)} more`) : "");

// attention lists what a person should look at first.
function attention(scene: Scene): HTMLElement[] {
  const all: HTMLElement[] = [];
  if (scene.banner) all.push(el("li", { class: "bad" }, scene.banner));
  for (const j of scene.jobs ?? []) if (j.trouble) all.push(el("li", { class: "bad" }, link(j.id, scene), ": " + j.trouble));
  for (const e of scene.ended ?? []) {
    if (e.outcome === "failed" && scene.at - e.at < 3600) all.push(el("li", { class: "bad" }, link(e.job, scene), ` failed ${span(scene.at - e.at)} ago`, e.detail ? `: ${e.detail}` : undefined));
  }
  return all.length > 0 ? all : [el("li", { class: "soft" }, "Nothing needs you.")];
}

// idle says for each GPU type how many are free, and why.
function idle(scene: Scene): HTMLElement[] {
  const first = (scene.jobs ?? []).filter(waits)[0];
  return (scene.types ?? []).map((t) => {
    const parts = [`${t.gpus - t.free} of ${t.gpus} held`];
    if (t.starting) parts.push(`${t.starting} rented on their way`);
    if (t.price !== undefined) parts.push(`price ${Number(t.price.toPrecision(3))}`);
    if (t.free > 0) parts.push(first ? `${t.free} free; the first that waits, ${first.name}: ${first.sentence}` : `${t.free} free, and no job waits`);
    return el("li", {}, el("b", {}, t.type), ": " + parts.join("; "));
  });
}

// nodeOf draws a node with a cell for each GPU.
function nodeOf(n: Node, scene: Scene): HTMLElement {
  const cells: HTMLElement[] = [];
  for (const h of n.held ?? []) {
    const name = scene.jobs?.find((j) => j.id === h.job)?.name ?? h.job;
    for (let i = 0; i < h.gpus; i++) cells.push(el("a", { class: "gpu " + hue(h.job), href: "#job=" + encodeURIComponent(h.job), title: name, "aria-label": `${n.id}, GPU: ${name}` }));
  }
  const free = n.gpus - cells.length;
  for (let i = 0; i < free; i++) cells.push(el("span", { class: "gpu free", title: "free" }));
  return el("div", { class: "node" }, el("div", { class: "name" }, `${n.id} · ${n.type}` + (free > 0 ? ` · ${free} free` : "")), el("div", { class: "gpus" }, ...cells));
}

function table(id: string, jobs: Job[], scene: Scene): void {
  byId(id + "-count").textContent = String(jobs.length);
  byId(id).replaceChildren(...jobs.slice(0, mostRows).map((j) => row(j, scene)));
  byId(id + "-more").replaceChildren(more(jobs.length, mostRows, "job"));
}

function row(j: Job, scene: Scene): HTMLElement {
  const done = j.target && j.progress ? `${Math.floor((100 * j.progress) / j.target)} %` : "";
  const eta = expected(waits(j) ? j.start : j.end) ?? "";
  return el("tr", {}, el("th", { scope: "row" }, link(j.id, scene)), el("td", {}, waits(j) ? j.asked : gpus(j.holds)), el("td", {}, j.phase),
    el("td", { class: "number" }, span(scene.at - j.since)), el("td", { class: "number" }, done), el("td", {}, j.sentence), el("td", {}, eta));
}
