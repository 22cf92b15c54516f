// The page fetches the overview again whenever the server announces a new one, and shows the job in the address.
import { takeToken } from "./act";
import { byId, span } from "./dom";
import { showJob } from "./job";
import { showNow } from "./now";
import { showOver } from "./over";
import type { JobPage, Overview, Series } from "./types";

let overview: Overview | undefined;
let series: Series | undefined;
let at: number | undefined; // of a recording; undefined for the present

async function ask<T>(path: string): Promise<T> {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return (await answer.json()) as T;
}

const named = (): string | undefined => (location.hash.startsWith("#job=") ? decodeURIComponent(location.hash.slice(5)) : undefined);

let updating = false, stale = false;

// update shows the present or the slider's time. Requests run one at a time, so that an older answer never replaces
// a newer one.
async function update(): Promise<void> {
  stale = true;
  if (updating) return;
  updating = true;
  for (; stale; await updateOnce()) stale = false;
  updating = false;
}

async function updateOnce(): Promise<void> {
  try {
    if (overview === undefined) {
      overview = await ask<Overview>("/api/overview");
      if (!overview.live) at = overview.last / 2; // start and end show little
    }
    overview = await ask<Overview>("/api/overview?at=" + (at ?? 0));
    byId("title").textContent = overview.title;
    document.title = overview.title + " · Oxgang";
    byId("facts").textContent = `policy ${overview.policy} · ` + (overview.live ? "now, " + new Date().toLocaleTimeString() : `recorded, ${span(overview.elapsed)} of ${span(overview.last)}`);
    byId("notes").textContent = (overview.notes ?? []).join(" ");
    byId("problem").textContent = "";
    slide(overview);
    showNow(overview);
    if (series) showOver(series, overview.live ? undefined : overview.elapsed);
    await updateJob(overview);
  } catch (e) {
    byId("problem").textContent = "Not up to date: " + (e as Error).message;
  }
}

async function updateJob(now: Overview): Promise<void> {
  const id = named();
  byId("job-card").hidden = id === undefined;
  if (id === undefined) return;
  const query = `id=${encodeURIComponent(id)}&at=${now.elapsed}`;
  try {
    const page = await ask<JobPage>("/api/job?" + query);
    const answer = now.live ? await fetch("/api/log?" + query) : undefined;
    showJob(id, page, now, answer?.ok ? await answer.text() : undefined);
  } catch (e) {
    byId("job").textContent = (e as Error).message;
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
    showOver(series, overview && !overview.live ? overview.elapsed : undefined);
  } catch (e) {
    byId("over").textContent = (e as Error).message;
  }
}

byId("time").addEventListener("input", (e) => {
  at = Number((e.target as HTMLInputElement).value);
  void update();
});
addEventListener("hashchange", () => {
  if (overview) void updateJob(overview).then(() => document.getElementById("job-title")?.focus());
});
byId("forget").addEventListener("click", () => { byId("answer-card").hidden = true; });
byId("close").addEventListener("click", () => { location.hash = ""; });

takeToken();
void update().then(updateSeries).then(() => {
  document.body.dataset.ready = "true";
  if (!overview?.live) return;
  new EventSource("/api/changes").onmessage = () => void update();
  setInterval(() => void updateSeries(), 60_000);
});
