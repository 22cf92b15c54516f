// The timeline: a row for each job. Drag or press + and - to zoom, the arrow keys to move, 0 to begin again.
import { byId, counted, el, fill, hue, span } from "./dom";
import { go, jobHref, keepMoment, route } from "./route";
import { searching, matches } from "./search";
import { drawAxis, drawTrack, rowOf, spoken } from "./track";
import type { Mark, Row, View } from "./track";
import type { Overview, Timeline, Track } from "./types";

const rowHeight = 25, spare = 6, nameWidth = 170;

let rows: Row[] = [], events: Mark[] = [];
let chosen: View | undefined; // by the reader
let shown: Overview | undefined;
let first = -1, most = 1;

export function showTimeline(past: Timeline | undefined, o: Overview): void {
  shown = o;
  const jobs = new Map(o.jobs.map((j) => [j.id, j])), offset = past ? (Date.parse(past.begun) - Date.parse(o.begun)) / 1000 : 0;
  const tracks = new Map<string, Track>((past?.tracks ?? []).map((t) => [t.job, t]));
  for (const j of o.jobs) if (!tracks.has(j.id) && o.live) tracks.set(j.id, { job: j.id, user: j.user, steps: [{ at: (Date.parse(j.submitted ?? j.since ?? o.at) - Date.parse(o.begun)) / 1000 - offset, gpus: 0, what: "submitted" }] });
  rows = [...tracks.values()].map((t) => rowOf(t, jobs.get(t.job), offset, o));
  if (searching()) rows = rows.filter((r) => matches(jobs.get(r.id) ?? { id: r.id, name: r.id, user: r.user, phase: "", gpus: 0 }));
  rows.sort((a, b) => a.rank - b.rank || (a.rank === 2 ? b.to - a.to : a.from - b.from));
  most = Math.max(1, ...rows.map((r) => Math.max(0, ...r.bars.map((b) => b.gpus))));
  events = (past?.nodes ?? []).map((n) => ({ at: n.at + offset, what: n.what, text: `${/^node[^a-z]/i.test(n.node) ? "" : "node "}${n.node} ${n.what}` }));
  byId("timeline-omitted").textContent = past?.omitted ? `${counted(past.omitted, "job")} that ended earlier ${past.omitted === 1 ? "is" : "are"} not listed.` : "";
  draw(true);
}

// usual is the view before the reader chooses one: a recording, or the last hours and the forecasts of the next.
function usual(o: Overview): View {
  const at = route().at;
  if (!o.live) return { from: 0, to: Math.max(60, o.last) };
  if (at !== undefined) return { from: at - 3600, to: at + 3600 };
  const active = rows.filter((r) => r.rank < 2), from = Math.min(o.elapsed - 600, ...active.map((r) => r.from)), to = Math.max(o.elapsed + 600, ...active.map((r) => r.to));
  const past = Math.min(6 * 3600, o.elapsed - from);
  return { from: o.elapsed - past, to: Math.min(to, o.elapsed + Math.max(1800, past)) };
}

const view = (): View => chosen ?? usual(shown!);

const inView = (v: View): Row[] => rows.filter((r) => r.to >= v.from && r.from <= v.to);

function draw(all: boolean): void {
  if (!shown) return;
  const o = shown, list = byId("timeline"), v = view(), found = inView(v), width = Math.max(120, list.clientWidth - nameWidth - 4);
  const at = Math.max(0, Math.floor(list.scrollTop / rowHeight) - spare), end = Math.min(found.length, at + Math.ceil((list.clientHeight || 400) / rowHeight) + 2 * spare);
  if (!all && at === first) return;
  first = at;
  fill(byId("timeline-axis"), drawAxis(v, width, o, events));
  fill(byId("timeline-rows"), space(at), ...found.slice(at, end).map((r) => line(r, v, width, o)), space(found.length - end));
  byId("timeline-none").hidden = found.length > 0;
  list.hidden = found.length === 0;
  byId("timeline-span").textContent = `${counted(found.length, "job")}, ${span(v.to - v.from)}`;
}

function space(n: number): HTMLElement {
  const e = el("li", { "aria-hidden": "true" });
  e.style.height = `${n * rowHeight}px`;
  return e;
}

const line = (r: Row, v: View, width: number, o: Overview): HTMLElement => el("li", { class: "track" },
  el("a", { class: "track-name", href: jobHref(r.id, o), "aria-label": spoken(r, o), title: r.user }, el("i", { class: "key-box " + hue(r.id) }), r.id), drawTrack(r, v, width, rowHeight - 1, most, o) as unknown as Node);

function choose(v: View | undefined): void {
  chosen = v && { from: v.from, to: Math.max(v.from + 10, v.to) };
  if (shown?.live) keepMoment(chosen && (chosen.from + chosen.to) / 2);
  draw(true);
}

// follow shows the moment of the address, if it has one.
export function follow(): void {
  if (route().at === undefined) return;
  chosen = undefined;
  draw(true);
}

// zoom scales the view around its middle; move shifts it by a share of its length.
function zoom(by: number): void {
  const v = view(), middle = (v.from + v.to) / 2, half = ((v.to - v.from) * by) / 2;
  choose({ from: middle - half, to: middle + half });
}

function move(by: number): void {
  const v = view(), d = (v.to - v.from) * by;
  choose({ from: v.from + d, to: v.to + d });
}

function last(hours: number): void {
  if (shown) choose({ from: shown.elapsed - 3600 * hours, to: shown.elapsed + 900 * hours });
}

const keys: Record<string, () => void> = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25), "0": () => choose(undefined) };

export function listenToTimeline(): void {
  const list = byId("timeline");
  list.addEventListener("keydown", (e) => {
    const act = keys[e.key];
    if (!act || e.ctrlKey || e.metaKey || e.altKey) return;
    act();
    e.preventDefault();
  });
  list.addEventListener("scroll", () => requestAnimationFrame(() => draw(false)));
  addEventListener("resize", () => draw(true));
  for (const [id, act] of Object.entries({ "in": () => zoom(0.5), out: () => zoom(2), left: () => move(-0.25), right: () => move(0.25), hour: () => last(1), day: () => last(24), usual: () => choose(undefined) })) byId("timeline-" + id).addEventListener("click", act);
  drag(list);
}

// drag selects a time; a click without a move opens the job of the row.
function drag(list: HTMLElement): void {
  const box = byId("timeline-select");
  let from: number | undefined;
  const place = (e: PointerEvent): number => e.clientX - list.getBoundingClientRect().left - nameWidth;
  list.addEventListener("pointerdown", (e) => {
    if (e.button !== 0 || place(e) < 0 || e.pointerType === "touch") return;
    from = place(e);
    list.setPointerCapture(e.pointerId);
  });
  list.addEventListener("pointermove", (e) => {
    if (from === undefined) return;
    const to = Math.max(0, place(e));
    box.hidden = Math.abs(to - from) < 4;
    box.style.left = `${nameWidth + Math.min(from, to)}px`;
    box.style.width = `${Math.abs(to - from)}px`;
  });
  list.addEventListener("pointerup", (e) => {
    if (from === undefined) return;
    const [a, b] = [from, Math.max(0, place(e))].sort((x, y) => x - y), v = view(), width = list.clientWidth - nameWidth - 4, time = (x: number): number => v.from + ((v.to - v.from) * x) / width;
    from = undefined;
    box.hidden = true;
    if (b - a >= 4) choose({ from: time(a), to: time(b) });
    else open(list, e);
  });
}

function open(list: HTMLElement, e: PointerEvent): void {
  const row = inView(view())[Math.floor((e.clientY - list.getBoundingClientRect().top + list.scrollTop) / rowHeight)];
  if (row && shown) go(jobHref(row.id, shown));
}
