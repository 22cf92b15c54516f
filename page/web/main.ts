// The page: it asks for the scene, again whenever the server says that it is another, and shows the
// job that the address names.
import { byId, span } from "./dom";
import { showJob } from "./job";
import { showNow } from "./now";
import { showOver } from "./over";
import type { JobPage, Scene, Series } from "./types";

let scene: Scene | undefined;
let series: Series | undefined;
let at: number | undefined; // of a recording; undefined: not chosen yet, or the present

async function ask<T>(path: string): Promise<T> {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return (await answer.json()) as T;
}

const named = (): string | undefined => (location.hash.startsWith("#job=") ? decodeURIComponent(location.hash.slice(5)) : undefined);

async function update(): Promise<void> {
  try {
    if (scene === undefined) {
      scene = await ask<Scene>("/api/scene");
      if (!scene.live) at = scene.last / 2; // at its start and at its end there is little to see
    }
    scene = await ask<Scene>("/api/scene?at=" + (at ?? 0));
    byId("title").textContent = scene.title;
    document.title = scene.title + " · Oxgang";
    byId("facts").textContent = `policy ${scene.policy} · ` + (scene.live ? "now, " + new Date().toLocaleTimeString() : `recorded, ${span(scene.at)} of ${span(scene.last)}`);
    byId("problem").textContent = "";
    slide(scene);
    showNow(scene);
    if (series) showOver(series, scene.live ? undefined : scene.at);
    await updateJob(scene);
  } catch (e) {
    byId("problem").textContent = "Not up to date: " + (e as Error).message;
  }
}

async function updateJob(now: Scene): Promise<void> {
  const id = named();
  byId("job-card").hidden = id === undefined;
  if (id === undefined) return;
  const query = `id=${encodeURIComponent(id)}&at=${now.at}`;
  try {
    const page = await ask<JobPage>("/api/job?" + query);
    const answer = now.live ? await fetch("/api/log?" + query) : undefined;
    showJob(id, page, now, answer?.ok ? await answer.text() : undefined);
  } catch (e) {
    byId("job").textContent = (e as Error).message;
  }
}

// slide shows the time of a recording on its slider.
function slide(now: Scene): void {
  byId("slider").hidden = now.live;
  const input = byId("time") as HTMLInputElement;
  input.max = String(now.last);
  input.value = String(now.at);
  byId("time-text").textContent = span(now.at);
}

async function updateSeries(): Promise<void> {
  try {
    series = await ask<Series>("/api/series");
    showOver(series, scene && !scene.live ? scene.at : undefined);
  } catch (e) {
    byId("over").textContent = (e as Error).message;
  }
}

byId("time").addEventListener("input", (e) => {
  at = Number((e.target as HTMLInputElement).value);
  void update();
});
addEventListener("hashchange", () => {
  if (scene) void updateJob(scene).then(() => document.getElementById("job-title")?.focus());
});
byId("close").addEventListener("click", () => { location.hash = ""; });

void update().then(updateSeries).then(() => {
  document.body.dataset.ready = "true";
  if (!scene?.live) return;
  new EventSource("/api/changes").onmessage = () => void update();
  setInterval(() => void updateSeries(), 60_000);
});
