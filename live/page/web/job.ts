// The page of a job: state, reason, what helps, history, output.
import { cancelButton } from "./act";
import { ahead, asked, byId, counted, el, expected, fill, gpus, holds, span, svg, when } from "./dom";
import { onJob } from "./question";
import type { Change, Job, JobPage, Overview, Story } from "./types";

export function showJob(id: string, page: JobPage, overview: Overview, log: string | undefined): void {
  const m = page.moment?.moment, sentence = m?.sentence ?? page.job?.sentence;
  const known = m !== undefined || page.job !== undefined;
  const facts: Fact[] = page.job ? factsOf(page.job, overview) : [
    ["asked", (page.moment ?? page.life)?.asked], ["holds", m && gpus(m.holds)], ["before", m?.before && gpus(m.before)], ["what helps", m?.unblock],
    ["start", expected(m?.start, "start")], ["end", expected(m?.end, "end")], ["next", m?.next || undefined], ["spent", spent(page.life)],
  ];
  const all: HTMLElement[] = [el("h2", { id: "job-title", tabindex: "-1" }, id)];
  if (sentence) all.push(el("p", { class: "sentence" }, sentence));
  all.push(el("dl", {}, ...facts.flatMap(([k, v]) => (v === undefined ? [] : [el("dt", {}, k), el("dd", {}, v)]))));
  const details: Fact[] = [["reason", m?.details], ["weight", m?.weight]];
  if (details.some(([, v]) => v)) all.push(el("details", {}, el("summary", {}, "Prices and weights"), el("dl", {}, ...details.flatMap(([k, v]) => (v ? [el("dt", {}, k), el("dd", {}, v)] : [])))));
  if (overview.asks && known && m?.phase !== "not submitted" && overview.jobs.some((j) => j.id === id)) all.push(onJob(id, overview));
  if (overview.acts && known && overview.jobs.some((j) => j.id === id)) all.push(cancelButton(id, overview.cancelling));
  if (page.life?.changes) all.push(line(page.life.changes, nowOf(page, overview)), el("ol", { class: "life" }, ...page.life.changes.map((c) => change(c, { begun: page.begun, live: overview.live }))));
  for (const note of new Set([page.moment?.note, page.life?.note])) if (note) all.push(el("p", { class: "soft" }, note));
  if (log !== undefined) all.push(el("h3", {}, "Last lines of its output"), el("pre", { tabindex: "0" }, log));
  fill(byId("job"), ...all);
}

type Fact = [string, string | undefined];

// factsOf returns the facts from a source without a recording.
const factsOf = (j: Job, now: Overview): Fact[] => [
  ["asked", asked(j)], ["holds", gpus(holds(j))], ["what helps", j.unblock], ["start", ahead(j.start, now.at)], ["end", ahead(j.end, now.at)],
];

const change = (c: Change, of: { begun: string; live: boolean }): HTMLElement => el("li", {}, el("time", {}, when(of, c.at)), " ", c.text);

function spent(life: Story | undefined): string | undefined {
  const t = life?.totals;
  if (!t) return undefined;
  return `${span(t.waiting)} waiting, ${span(t.holding)} with GPUs; held ${Number(t.gpu_hours.toPrecision(3))} GPU-hours, ${Number(t.lost_hours.toPrecision(2))} of them lost to starts and ${counted(t.restarts, "restart")}`;
}

// nowOf returns the present, or the end of the recording, in the time of a job's history.
const nowOf = (page: JobPage, overview: Overview): number => (overview.live ? overview.elapsed + (Date.parse(overview.begun) - Date.parse(page.begun)) / 1000 : overview.last);

// line draws the number of GPUs over time.
function line(changes: Change[], now: number): HTMLElement {
  const from = changes[0].at, end = changes[changes.length - 1];
  const to = Math.max(end.what === "ended" ? end.at : now, end.at, from + 1);
  const most = Math.max(1, ...changes.map((c) => c.to?.gpus ?? 0));
  const x = (t: number): number => (1000 * (t - from)) / (to - from);
  const bars = changes.flatMap((c, i) => {
    const until = changes[i + 1]?.at ?? to;
    let held = c.to?.gpus ?? 0;
    for (let k = i; k >= 0 && changes[k].what === "profiled"; k--) held = changes[k - 1]?.to?.gpus ?? 0;
    if (until <= c.at) return [];
    const h = held > 0 ? 8 + (42 * held) / most : 3;
    return [svg("rect", { x: x(c.at), y: 54 - h, width: Math.max(1, x(until) - x(c.at)), height: h, class: held > 0 ? "has" : "waits" }, svg("title", {}, `${span(until - c.at)}: ${held > 0 ? counted(held, "GPU") : "none"}`))];
  });
  return el("figure", {}, svg("svg", { viewBox: "0 0 1000 56", preserveAspectRatio: "none", role: "img", "aria-label": `GPUs over its life: at most ${most}` }, ...bars) as unknown as HTMLElement,
    el("figcaption", { class: "soft" }, `GPUs over its life, at most ${most}; ${span(to - from)} in all`));
}
