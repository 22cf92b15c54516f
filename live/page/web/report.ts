// The schedule of a report: the timeline of the live page, of one policy at a time. simulate/report embeds this script after its own, whose
// functions it uses.
import { byId, counted, el, fill, span } from "./dom";
import { route } from "./route";
import { search } from "./search";
import { listenToTimeline, showTimeline } from "./timeline";
import type { Job, Overview, Step } from "./types";

interface Column { values: number[]; word: (row: number) => string }
declare const report: { policies: string[]; jobs: number[] };
declare const datasets: Map<string, object>;
declare function column(dataset: object, name: string): Column;
declare function seen(name: string): string;
declare function csvButton(bar: Element, name: string, label: string): void;
declare function select(bar: Element, label: string, options: string[], change: (i: number) => void): void;

interface Held { type: string; start: number; end: number; gpus: number }
// A Life is a job under one policy. Times are seconds since the start of the run; finished is below 0 for a job that did not end.
interface Life { name: string; model: string; outcome: string; submitted: number; finished: number; jct: number; queued: number; restarts: number; hours: number; rho: number; held: Held[] }

const lives = report.policies.map(livesOf);
const end = Math.max(60, ...lives.flat().map((l) => Math.max(l.finished, l.held[l.held.length - 1]?.end ?? l.submitted)));
let policy = 0;

function livesOf(name: string): Life[] {
  const from = (set: string, columns: string[]): Column[] => columns.map((c) => column(datasets.get(set)!, c));
  const [p, job, model, outcome, submitted, finished, jct, queued, restarts, hours, rho] = from("jobs", ["policy", "job", "model", "outcome", "submitted_s", "finished_s", "jct_s", "queued_s", "restarts", "gpu_hours", "rho"]);
  const byName = new Map<string, Life>();
  p.values.forEach((_, r) => {
    if (p.word(r) !== name) return;
    byName.set(job.word(r), { name: seen(job.word(r)), model: seen(model.word(r)), outcome: outcome.word(r), submitted: submitted.values[r], finished: finished.values[r], jct: jct.values[r], queued: queued.values[r], restarts: restarts.values[r], hours: hours.values[r], rho: rho.values[r], held: [] });
  });
  const [hp, hj, type, state, begin, until, gpus] = from("gantt", ["policy", "job", "gpu_type", "state", "start_s", "end_s", "gpus"]);
  hp.values.forEach((_, r) => {
    if (hp.word(r) !== name || state.word(r) === "idle") return; // after its end
    byName.get(hj.word(r))?.held.push({ type: type.word(r), start: begin.values[r], end: until.values[r], gpus: gpus.values[r] });
  });
  return [...byName.values()];
}

const gap = 1e-3; // seconds between intervals that follow each other

// stepsOf returns the changes of what a job held.
function stepsOf(l: Life): Step[] {
  const steps: Step[] = [{ at: l.submitted, gpus: 0, what: "submitted" }];
  l.held.forEach((h, i) => {
    const before = l.held[i - 1], follows = before !== undefined && h.start <= before.end + gap;
    if (before && !follows) steps.push({ at: before.end, gpus: 0, what: "preempted" });
    if (follows && before.gpus === h.gpus && before.type === h.type) return;
    const change = !follows ? "started" : h.gpus > before.gpus ? "grown" : h.gpus < before.gpus ? "shrunk" : "moved";
    steps.push({ at: h.start, gpus: h.gpus, what: change });
  });
  const last = l.held[l.held.length - 1]?.end ?? l.submitted;
  if (l.finished >= 0) steps.push({ at: Math.max(l.finished, last), gpus: 0, what: l.outcome });
  else if (l.held.length > 0 && last < end - gap) steps.push({ at: last, gpus: 0, what: "preempted" });
  return steps;
}

const jobOf = (l: Life): Job => ({ id: l.name, name: l.model, phase: l.outcome, gpus: 0 });

// draw shows the chosen policy on an axis that ends with the last job of any policy.
function draw(): void {
  const all = lives[policy] ?? [], begun = new Date(0).toISOString(), submitted = report.jobs[policy] ?? 0;
  const o: Overview = { backend: "", at: begun, begun, elapsed: end, last: end, policy: "", title: "", live: false, gpus: [], nodes: [], jobs: all.map(jobOf) };
  showTimeline({ begun, until: end, tracks: all.map((l) => ({ job: l.name, user: l.model, steps: stepsOf(l) })), nodes: [] }, o);
  if (all.length < submitted) byId("timeline-omitted").textContent = `Only the first ${counted(all.length, "job")} of ${submitted} are drawn.`;
  showLife();
}

// showLife shows the job in the address.
function showLife(): void {
  const r = route(), l = r.kind === "job" ? lives[policy]?.find((l) => l.name === r.name) : undefined;
  byId("timeline-job").hidden = l === undefined;
  if (!l) return;
  const facts: [string, string][] = [["model", l.model], ["ended", l.finished < 0 ? "not in this run" : `${l.outcome} after ${span(l.finished)}`], ["completion time", span(l.jct)], ["time queued", span(l.queued)], ["restarts", String(l.restarts)], ["GPU-hours", String(Number(l.hours.toPrecision(3)))]];
  if (l.rho > 0) facts.push(["rho", String(Number(l.rho.toPrecision(3)))]);
  fill(byId("timeline-job"), el("h3", {}, l.name), el("dl", {}, ...facts.flatMap(([k, v]) => [el("dt", {}, k), el("dd", {}, v)])));
}

const bar = byId("timeline-bar");
if (report.policies.length > 1) select(bar, "policy", report.policies.map(seen), (i) => { policy = i; draw(); });
csvButton(bar, "gantt", "CSV");
csvButton(bar, "jobs", "jobs CSV");
byId("timeline-find").addEventListener("input", (e) => { search((e.target as HTMLInputElement).value); draw(); });
addEventListener("hashchange", showLife);
listenToTimeline();
draw();
