// The page fetches the overview again whenever the server announces a new one, and shows the job or node in the address.
import { takeToken } from "./act";
import { byId, colour, fill, seconds, span } from "./dom";
import { showHeader } from "./header";
import { showJob } from "./job";
import { listen } from "./keys";
import { showNode } from "./nodes";
import { showNow } from "./now";
import { showOver } from "./over";
import { go, keepMoment, route } from "./route";
import { search } from "./search";
import { Refused, showState } from "./state";
import { follow, listenToTimeline, showTimeline } from "./timeline";
import type { JobPage, Overview, Series, Timeline } from "./types";

let overview: Overview | undefined;
let series: Series | undefined;
let past: Timeline | undefined;
let pastTag = "";
let at: number | undefined; // of a recording; undefined for the present
let tag = ""; // of the overview, from the server
let failed: Error | undefined;

async function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  const answer = await fetch(path, { headers });
  if (!answer.ok && answer.status !== 304) throw new Refused(answer.status, (await answer.text()).trim());
  return answer;
}

const ask = async <T>(path: string): Promise<T> => (await (await get(path)).json()) as T;

let updating = false, due = false;

// update shows the present or the slider's time. Requests run one at a time, so that an older answer never replaces
// a newer one.
async function update(): Promise<void> {
  due = true;
  if (updating) return;
  updating = true;
  for (; due; await updateOnce()) due = false;
  updating = false;
}

async function updateOnce(): Promise<void> {
  try {
    if (overview === undefined) await begin();
    await fetchOverview();
    failed = undefined;
  } catch (e) {
    failed = e as Error;
  }
  showState(overview, failed);
  if (overview) await show(overview);
}

// begin chooses the first moment of a recording: the moment in the address, or the middle, because start and end show little.
async function begin(): Promise<void> {
  const first = await ask<Overview>("/api/overview");
  if (!first.live) at = route().at ?? first.last / 2;
}

async function fetchOverview(): Promise<void> {
  const answer = await get("/api/overview?at=" + (at ?? 0), tag ? { "If-None-Match": tag } : {});
  if (answer.status !== 304) overview = (await answer.json()) as Overview;
  tag = answer.headers.get("ETag") ?? "";
  const looked = answer.headers.get("Oxgang-At");
  if (!overview || !looked) return;
  overview.at = looked;
  overview.elapsed = seconds(looked) - seconds(overview.begun);
}

async function show(o: Overview): Promise<void> {
  byId("title").textContent = o.title;
  document.title = o.title + " \u00b7 Oxgang";
  byId("notes").textContent = (o.notes ?? []).join(" ");
  slide(o);
  colour(o.jobs);
  showHeader(o);
  showNow(o);
  showTimeline(past, o);
  if (series) showOver(series, o);
  await showRoute(o);
}

async function showRoute(now: Overview): Promise<void> {
  const r = route();
  byId("job-card").hidden = r.kind !== "job";
  byId("node-card").hidden = r.kind !== "node";
  if (r.kind === "node") fill(byId("node"), ...showNode(r.name, now));
  if (r.kind === "job") await updateJob(r.name, now);
}

async function updateJob(id: string, now: Overview): Promise<void> {
  const query = `id=${encodeURIComponent(id)}&at=${now.elapsed}`;
  try {
    const page = await ask<JobPage>("/api/job?" + query);
    const answer = now.live && !now.no_output ? await fetch("/api/log?" + query) : undefined;
    showJob(id, page, now, answer?.ok ? await answer.text() : undefined);
  } catch (e) {
    if (document.getElementById("job-title")?.textContent !== id) fill(byId("job"), (e as Error).message); // otherwise what is shown stays
  }
}

function slide(now: Overview): void {
  byId("slider").hidden = now.live;
  const input = byId("time") as HTMLInputElement;
  input.max = String(now.last);
  input.value = String(now.elapsed);
  byId("time-text").textContent = span(now.elapsed);
}

async function updateSeries(): Promise<void> {
  try {
    series = await ask<Series>("/api/series");
    if (overview) showOver(series, overview);
  } catch (e) {
    if (!series) byId("over").textContent = (e as Error).message;
  }
}

async function updatePast(): Promise<void> {
  try {
    const answer = await get("/api/timeline", pastTag ? { "If-None-Match": pastTag } : {});
    if (answer.status !== 304) past = (await answer.json()) as Timeline;
    pastTag = answer.headers.get("ETag") ?? "";
    if (overview) showTimeline(past, overview);
  } catch { /* the timeline begins with the present */ }
}

byId("time").addEventListener("input", (e) => {
  at = Number((e.target as HTMLInputElement).value);
  keepMoment(at);
  void update();
});
addEventListener("hashchange", () => {
  if (!overview) return;
  const r = route(), focus = (): void => document.getElementById(r.kind + "-title")?.focus();
  if (!overview.live && r.at !== undefined && r.at !== Math.round(overview.elapsed)) {
    at = r.at;
    void update().then(focus);
    return;
  }
  follow();
  void showRoute(overview).then(focus);
});
byId("search").addEventListener("input", (e) => {
  search((e.target as HTMLInputElement).value);
  if (!overview) return;
  showNow(overview);
  showTimeline(past, overview);
});
byId("forget").addEventListener("click", () => { byId("answer-card").hidden = true; });
for (const id of ["close", "node-close"]) byId(id).addEventListener("click", () => go("#/"));

const often = 30_000; // milliseconds between checks of a state that did not change

takeToken();
listen();
showState(undefined, undefined);
listenToTimeline();
void update().then(updateSeries).then(updatePast).then(() => {
  document.body.dataset.ready = "true";
  if (overview && !overview.live) return;
  const changes = new EventSource("/api/changes");
  changes.onmessage = () => void update();
  changes.onerror = () => void update(); // it connects again by itself, unless it was refused
  setInterval(() => void update(), often);
  setInterval(() => void updateSeries().then(updatePast), 60_000);
});
