// The page of a job: state, reason, what helps, history, output.
import { cancelButton, retryButton } from "./act";
import { ahead, asked, byId, clock, counted, el, expected, fill, gpus, heldBy, holds, seconds, span, when } from "./dom";
import { onJob } from "./question";
import { drawAxis, drawTrack, figure, rowOf } from "./track";
import { idleOf, useOf } from "./use";
import type { Change, Holding, Job, JobPage, Overview, Step, Story } from "./types";

export function showJob(id: string, page: JobPage, overview: Overview, log: string | undefined): void {
  const m = page.moment?.moment, sentence = m?.sentence ?? page.job?.sentence;
  const known = m !== undefined || page.job !== undefined;
  const facts: Fact[] = page.job ? factsOf(page.job, overview) : [
    ["asked", (page.moment ?? page.life)?.asked], ["holds", m && gpus(m.holds)], ["before", m?.before && gpus(m.before)], ["what helps", m?.unblock],
    ["start", expected(m?.start)], ["end", expected(m?.end)], ["afterwards", m?.next || undefined], ["spent", spent(page.life)],
  ];
  const own = overview.jobs.find((j) => j.id === id);
  facts.push(["GPU use", useOf(id, overview) ?? (own && heldBy(own) > 0 ? (overview.live ? "not measured" : "a journal does not contain it") : undefined)], ["idle", idleOf(id, overview)], ["output", overview.no_output]);
  const all: HTMLElement[] = [el("h2", { id: "job-title", tabindex: "-1" }, id)];
  if (own?.trouble) all.push(el("p", { class: "bad" }, own.trouble));
  if (sentence) all.push(el("p", { class: "sentence" }, sentence));
  all.push(el("dl", {}, ...facts.flatMap(([k, v]) => (v === undefined ? [] : [el("dt", {}, k), el("dd", {}, v)]))));
  const details: Fact[] = [["reason", m?.details], ["weight", m?.weight]];
  if (details.some(([, v]) => v)) all.push(el("details", {}, el("summary", {}, "Prices and weights"), el("dl", {}, ...details.flatMap(([k, v]) => (v ? [el("dt", {}, k), el("dd", {}, v)] : [])))));
  if (overview.asks && known && m?.phase !== "not submitted" && overview.jobs.some((j) => j.id === id)) all.push(onJob(id, overview));
  if (overview.acts && known && overview.jobs.some((j) => j.id === id)) all.push(cancelButton(id, overview.cancelling));
  if (overview.retries && overview.ended?.some((e) => e.id === id && e.outcome === "failed")) all.push(el("p", {}, retryButton(id)));
  if (page.life?.changes) all.push(line(id, page, overview), el("ol", { class: "life" }, ...page.life.changes.map((c) => change(c, { begun: page.begun, live: overview.live }))));
  for (const note of new Set([page.moment?.note, page.life?.note])) if (note) all.push(el("p", { class: "soft" }, note));
  if (log !== undefined) all.push(el("h3", {}, "Last lines of its output"), el("pre", { tabindex: "0" }, log));
  fill(byId("job"), ...all);
}

type Fact = [string, string | undefined];

// factsOf returns the facts from a source without a recording.
const factsOf = (j: Job, now: Overview): Fact[] => [
  ["ended", j.finished ? `${j.phase} ${clock(seconds(j.finished))}${j.detail ? ": " + j.detail : ""}` : undefined],
  ["user", j.user], ["asked", j.asked || j.max_gpus ? asked(j) : undefined], ["holds", gpus(holds(j))], ["what helps", j.unblock], ["start", ahead(j.start, now.at)], ["end", ahead(j.end, now.at)],
];

const change = (c: Change, of: { begun: string; live: boolean }): HTMLElement => el("li", {}, el("time", {}, when(of, c.at)), " ", c.text);

function spent(life: Story | undefined): string | undefined {
  const t = life?.totals;
  if (!t) return undefined;
  return `${span(t.waiting)} waiting, ${span(t.holding)} with GPUs; held ${Number(t.gpu_hours.toPrecision(3))} GPU-hours, ${Number(t.lost_hours.toPrecision(2))} of them lost to starts and ${counted(t.restarts, "restart")}`;
}

// line draws the number of GPUs over time, with every change.
function line(id: string, page: JobPage, o: Overview): HTMLElement {
  const changes = page.life!.changes!, offset = (Date.parse(page.begun) - Date.parse(o.begun)) / 1000;
  const row = rowOf({ job: id, steps: changes.map((c, i) => stepOf(c, changes[i - 1])) }, o.jobs.find((j) => j.id === id), offset, o);
  row.marks = changes.filter((c) => c.what !== "submitted" && c.what !== "waits").map((c) => ({ at: c.at + offset, what: c.what, text: c.text }));
  const margin = Math.max(1, (row.to - row.from) / 50), view = { from: row.from - margin, to: row.to + margin }, width = Math.max(280, byId("job").clientWidth), most = Math.max(1, ...row.bars.map((b) => b.gpus));
  return figure(drawAxis(view, width, o), drawTrack(row, view, width, 56, most, o), el("figcaption", { class: "soft" }, `GPUs over its life, at most ${most}; ${span(row.to - row.from)} in all`));
}

// stepOf keeps the GPUs of a job that was profiled.
const stepOf = (c: Change, before: Change | undefined): Step => ({ at: c.at, gpus: total(c.what === "profiled" ? before?.to : c.to), what: c.what });

const total = (h: Holding | undefined): number => (h ? h.gpus + total(h.also) : 0);
