// One sentence and four numbers: busy and idle GPUs, waiting jobs, and how long they have waited.
import { byId, clock, counted, el, fill, holds, link, rough, seconds } from "./dom";
import type { Job, Overview } from "./types";

export function showHeader(o: Overview): void {
  const waiting = o.jobs.filter((j) => !holds(j)), waits = waiting.map((j) => waited(j, o)).sort((a, b) => a - b);
  const total = o.gpus.reduce((n, t) => n + t.total - t.unusable, 0), own = o.jobs.reduce((n, j) => n + j.gpus, 0);
  const busy = total > 0 ? o.gpus.reduce((n, t) => n + t.held, 0) : own, idle = Math.max(0, total - busy);
  fill(byId("sentence"), ...sentence(busy, total, waiting, o));
  fill(byId("numbers"),
    number(total > 0 ? `${busy} of ${total}` : String(busy), "GPUs busy"),
    number(total > 0 ? String(idle) : "?", idle > 0 ? "idle: " : total > 0 ? "idle" : "idle: not visible to you", ...(idle > 0 ? whyIdle(o, waiting) : [])),
    number(String(waiting.length), `job${waiting.length === 1 ? "" : "s"} waiting`),
    longest(waits));
}

// longest shows the longest wait, or of many waits the one that 9 of 10 do not exceed.
function longest(waits: number[]): HTMLElement {
  if (waits.length < 20) return number(waits.length > 0 ? rough(waits[waits.length - 1]) : "0 s", "longest wait so far");
  return number(rough(quantile(waits, 0.9)), "9 of 10 waiting jobs have waited less");
}

const number = (value: string, ...label: (Node | string)[]): HTMLElement => el("li", {}, el("b", {}, value), el("span", {}, ...label));

function sentence(busy: number, total: number, waiting: Job[], o: Overview): (Node | string)[] {
  if (o.stale) return [`At ${clock(seconds(o.at))}, ${busy}${total > 0 ? ` of ${total}` : ""} GPUs were busy and ${counted(waiting.length, "job")} waited.`];
  const gpus = total === 0 ? `${counted(busy, "GPU")} ${busy === 1 ? "is" : "are"} busy` : busy >= total ? `All ${counted(total, "GPU")} are busy` : `${busy} of ${counted(total, "GPU")} are busy`;
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

// whyIdle returns the cause of most idle GPUs, or else the job that is next.
function whyIdle(o: Overview, waiting: Job[]): (Node | string)[] {
  if (waiting.length === 0) return ["no job waits"];
  const count = new Map<string, number>();
  for (const n of o.nodes) if (n.cause && !n.closed) count.set(n.cause, (count.get(n.cause) ?? 0) + n.gpus - n.used);
  const [most] = [...count].sort((a, b) => b[1] - a[1]);
  if (most) return [causes[most[0]] ?? most[0]];
  const next = waiting[0];
  return [link(next.id, o), next.brief ? ": " + next.brief : " is next"];
}
