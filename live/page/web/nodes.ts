// Nodes: a cell for each GPU, in the colour of its job.
import { byId, counted, el, fill, hue, link, percent } from "./dom";
import { jobHref, nodeHref } from "./route";
import { nodeMatches } from "./search";
import type { Node, Overview, Usage } from "./types";
import { busyOf, described, isIdle } from "./use";

const mostNodes = 64; // more are folded
const mostNamed = 24; // with the names of jobs
let unfolded = false;

export function showNodes(o: Overview): void {
  const found = o.nodes.filter(nodeMatches);
  if (found.length > mostNodes) found.sort((a, b) => Number(calm(a)) - Number(calm(b)));
  const shown = unfolded ? found : found.slice(0, mostNodes), dense = shown.length > mostNamed;
  byId("nodes-measured").hidden = !found.some((n) => n.use?.some((u) => u.job));
  byId("nodes-closed").hidden = !found.some((n) => n.closed);
  byId("nodes").classList.toggle("dense", dense);
  fill(byId("nodes"), ...shown.map((n) => nodeOf(n, o, dense)));
  fill(byId("nodes-more"), ...(found.length > mostNodes ? [fold(found, o)] : []));
}

// calm reports whether a node starts jobs and no job leaves its GPUs idle. The others come first if nodes are folded.
const calm = (n: Node): boolean => !n.closed && !n.use?.some(isIdle);

function fold(found: Node[], o: Overview): HTMLElement {
  const rest = found.slice(mostNodes), full = rest.filter((n) => n.used >= n.gpus && !n.closed).length, closed = rest.filter((n) => n.closed).length;
  const button = el("button", { type: "button", class: "ask" }, unfolded ? "Show fewer" : "Show all");
  button.addEventListener("click", () => { unfolded = !unfolded; showNodes(o); });
  return el("p", {}, unfolded ? "" : `${counted(rest.length, "more node")}: ${full} full, ${rest.length - full - closed} with free GPUs, ${closed} closed. `, button);
}

export function nodeOf(n: Node, o: Overview, dense = false): HTMLElement {
  const held = n.held ?? [], free = n.gpus - held.reduce((sum, h) => sum + h.gpus, 0);
  const busy = busyOf(n.use ?? []), idle = (n.use ?? []).filter(isIdle).length;
  const name = [dense ? "" : n.type, idle > 0 ? `${idle} left idle` : "", n.closed, free > 0 && !n.closed ? `${free} free` : "", dense || busy === undefined ? "" : percent(busy) + " utilised", dense ? n.type : ""].filter((s) => s).map((s) => " \u00b7 " + s).join("");
  return el("div", { class: n.closed ? "node closed" : "node" },
    el("div", { class: "name" }, el("a", { href: nodeHref(n.name, o), title: [n.type, n.closed, n.idle].filter((s) => s).join("; ") }, n.name), name),
    el("div", { class: "gpus" }, ...held.map((h) => block(n, h, o)), ...(free > 0 ? [el("span", { class: "cells", title: "free" }, ...cells("gpu free", free))] : [])),
    el("div", { class: "who" }, ...held.slice(0, 4).flatMap((h, i) => [i > 0 ? " \u00b7 " : "", h.job]), held.length > 4 ? ` \u00b7 ${held.length - 4} more` : ""));
}

const cells = (kind: string, n: number, use: Usage[] = []): HTMLElement[] => Array.from({ length: n }, (_, i) => cell(kind, use[i]));

// cell is as full as its GPU is utilised, and framed if its job leaves it idle; full, if that is not known.
function cell(kind: string, u: Usage | undefined): HTMLElement {
  if (u?.busy === undefined) return el("i", u ? { class: kind, title: `${u.job}: ${described(u)}` } : { class: kind });
  if (isIdle(u)) kind += " wasted";
  const unused = el("i", { class: "unused" });
  unused.style.height = percent(1 - u.busy).replace(" ", "");
  return el("i", { class: kind, title: `${u.job}: ${described(u)}` }, unused);
}

function block(n: Node, h: { job: string; gpus: number }, o: Overview): HTMLElement {
  const use = (n.use ?? []).filter((u) => u.job === h.job), busy = busyOf(use), text = busy === undefined ? "" : `, ${percent(busy)} utilised`;
  return el("a", { class: "cells", href: jobHref(h.job, o), title: h.job + text, "aria-label": `${h.job}: ${counted(h.gpus, "GPU")} on ${n.name}${text}` }, ...cells("gpu " + hue(h.job), h.gpus, use));
}

// showNode shows one node.
export function showNode(name: string, o: Overview): HTMLElement[] {
  const n = o.nodes.find((n) => n.name === name), title = el("h2", { id: "node-title", tabindex: "-1" }, name);
  if (!n) return [title, el("p", {}, "No such node now. It may have left the cluster, or you may not see it.")];
  const held = (n.held ?? []).map((h) => el("li", {}, link(h.job, o), `: ${counted(h.gpus, "GPU")}`));
  return [title, nodeOf(n, o), el("p", {}, [n.closed, n.idle].filter((s) => s).join("; ")), el("ul", {}, ...(held.length > 0 ? held : [el("li", {}, "No job has GPUs here.")]), ...(n.use ?? []).map((u) => el("li", {}, (u.job ? u.job + ", " : "") + described(u))))];
}
