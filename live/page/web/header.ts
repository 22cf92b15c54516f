// One sentence and four numbers: held and free GPUs, waiting jobs, and how long they have waited.
import { byId, clock, counted, el, fill, holds, link, percent, rough, seconds } from "./dom";
import type { Job, Overview } from "./types";
import { busyOf, isIdle } from "./use";

export function showHeader(o: Overview): void {
  const waiting = o.jobs.filter((j) => !holds(j)), waits = waiting.map((j) => waited(j, o)).sort((a, b) => a - b);
  const total = o.gpus.reduce((n, t) => n + t.total - t.unusable, 0), own = o.jobs.reduce((n, j) => n + j.gpus, 0);
  const held = total > 0 ? o.gpus.reduce((n, t) => n + t.held, 0) : own, free = Math.max(0, total - held);
  fill(byId("sentence"), ...sentence(held, total, waiting, o));
  fill(byId("numbers"),
    number(total > 0 ? `${held} of ${total}` : String(held), "GPUs held by jobs", ...used(o)),
    number(total > 0 ? String(free) : "?", free > 0 ? "free: " : total > 0 ? "free" : "free: not visible to you", ...(free > 0 ? whyFree(o, waiting) : [])),
    number(String(waiting.length), `job${waiting.length === 1 ? "" : "s"} waiting`),
    longest(waits));
}

// used describes how much jobs use the GPUs that they hold, if that is measured.
function used(o: Overview): (Node | string)[] {
  const use = o.nodes.flatMap((n) => (n.use ?? []).filter((u) => u.job)), busy = busyOf(use), idle = use.filter(isIdle).length;
  if (busy === undefined) return [];
  return [`; ${percent(busy)} utilised`, ...(idle > 0 ? [", ", el("span", { class: "bad" }, `${idle} left idle`)] : [])];
}

// longest shows the longest wait, or of many waits the one that 9 of 10 do not exceed.
function longest(waits: number[]): HTMLElement {
  if (waits.length < 20) return number(waits.length > 0 ? rough(waits[waits.length - 1]) : "0 s", "longest wait so far");
  return number(rough(quantile(waits, 0.9)), "9 of 10 waiting jobs have waited less");
}

const number = (value: string, ...label: (Node | string)[]): HTMLElement => el("li", {}, el("b", {}, value), el("span", {}, ...label));

function sentence(held: number, total: number, waiting: Job[], o: Overview): (Node | string)[] {
  if (o.stale) return [`At ${clock(seconds(o.at))}, ${held}${total > 0 ? ` of ${total}` : ""} GPUs were held and ${counted(waiting.length, "job")} waited.`];
  const gpus = total === 0 ? `${counted(held, "GPU")} ${held === 1 ? "is" : "are"} held` : held >= total ? `All ${counted(total, "GPU")} are held` : `${held} of ${counted(total, "GPU")} are held`;
  if (waiting.length === 0) return [`${gpus} and no job waits.`];
  const longest = waiting.reduce((a, b) => (waited(b, o) > waited(a, o) ? b : a));
  return [`${gpus} and ${counted(waiting.length, "job")} ${waiting.length === 1 ? "waits" : "wait"}: `, link(longest.id, o), ` has waited longest, ${rough(waited(longest, o))}.`];
}

// waited returns how long a job has waited, in seconds.
export const waited = (j: Job, o: Overview): number => Math.max(0, seconds(o.at) - seconds(j.since ?? j.submitted ?? o.at));

// quantile returns the smallest value that is at least as large as a share of the sorted values.
const quantile = (sorted: number[], share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];

// causes are the words for status.Node.cause.
const causes: Record<string, string> = {
  down: "nodes are down", drained: "nodes are drained", reserved: "nodes are reserved", unwanted: "no waiting job may use them", cpus: "too few CPUs are free",
  memory: "too little memory is free", fragmented: "each waiting job needs more on one node", planned: "kept for a job of higher priority", wanted: "a job may start soon",
};

// whyFree returns the cause of most free GPUs, or else the job that is next.
function whyFree(o: Overview, waiting: Job[]): (Node | string)[] {
  if (waiting.length === 0) return ["no job waits"];
  const count = new Map<string, number>();
  for (const n of o.nodes) if (n.cause && !n.closed) count.set(n.cause, (count.get(n.cause) ?? 0) + n.gpus - n.used);
  const [most] = [...count].sort((a, b) => b[1] - a[1]);
  if (most) return [causes[most[0]] ?? most[0]];
  const next = waiting[0];
  return [link(next.id, o), next.brief ? ": " + next.brief : " is next"];
}
