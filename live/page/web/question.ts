// Answers what-if questions by simulation.
import { byId, counted, el, link, span, when } from "./dom";
import type { Answer, Between, Overview, Shift } from "./types";

// ask returns a button for a question; of is the heading of the answer.
export function ask(text: string, of: () => string, query: () => string, now: Overview): HTMLElement {
  const button = el("button", { type: "button", class: "ask" }, text);
  button.addEventListener("click", () => void answer(of(), query() + "&at=" + now.elapsed, now));
  return button;
}

async function answer(of: string, query: string, now: Overview): Promise<void> {
  byId("answer-card").hidden = false;
  const heading = el("h2", { tabindex: "-1" }, of);
  const meanwhile = el("p", { class: "soft" }, "Simulating \u2026");
  byId("answer").replaceChildren(heading, meanwhile);
  heading.focus();
  const got = await fetch("/api/question?" + query);
  const shown = got.ok ? show((await got.json()) as Answer, now) : [el("p", { class: "bad" }, (await got.text()).trim())];
  meanwhile.replaceWith(...shown); // the heading keeps the focus
}

function show(a: Answer, now: Overview): HTMLElement[] {
  const all = [el("p", { class: "sentence" }, ends(a) + starts(a))];
  if (a.jobs.length > 0) all.push(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Jobs that would start or end at another time" }, el("table", {}, head(), el("tbody", {}, ...a.jobs.map((s) => row(s, now))))));
  const from = when(now, (Date.parse(a.from) - Date.parse(now.begun)) / 1000);
  all.push(el("p", { class: "soft" }, `Estimated by two simulations from the last round (${from}), one with expected new jobs and one without. Ranges are the two results; the mean is of their midpoints. The accuracy is unknown. Nothing was changed.`));
  return all;
}

function ends(a: Answer): string {
  const known = a.sooner + a.later + a.same;
  const mean = a.mean === 0 ? "On average, their ends would not change." : `On average, they would end ${span(Math.abs(a.mean))} ${a.mean > 0 ? "sooner" : "later"}.`;
  return `${counted(a.sooner, "job")} would end sooner, ${a.later} later, and ${a.same} at the same time.  ` + (known > 0 ? mean : "") + (a.unknown > 0 ? ` The end of ${counted(a.unknown, "job")} is unknown.` : "");
}

const starts = (a: Answer): string => (a.start_sooner + a.start_later > 0 ? ` ${counted(a.start_sooner, "job")} would get GPUs sooner, and ${a.start_later} later.` : "");

const head = (): HTMLElement => el("thead", {}, el("tr", {}, ...["job", "gets GPUs", "would get them", "ends", "would end"].map((t) => el("th", { scope: "col" }, t))));

const row = (s: Shift, now: Overview): HTMLElement => el("tr", {}, el("th", { scope: "row" }, link(s.job, now)), ...[s.starts, s.would_start].map((r) => el("td", {}, between(r, ""))), ...[s.before, s.after].map((r) => el("td", {}, between(r, "unknown"))));

function between(r: Between | undefined, absent: string): string {
  if (!r) return absent;
  const [early, late] = r.map(span);
  return early === late ? (early === "0 s" ? "now" : `in ${early}`) : `in ${early} to ${late}`;
}

let typed = "1"; // kept when the job is shown again

export function onJob(id: string, now: Overview): HTMLElement {
  const name = encodeURIComponent(id);
  const size = el("input", { type: "number", min: "1", max: "9999", value: typed, "aria-label": "GPUs" });
  size.addEventListener("input", () => { typed = size.value; });
  return el("p", {}, "What if ", ask("it were cancelled?", () => `If ${id} were cancelled`, () => "cancel=" + name, now), " ", ask("it had as many GPUs:", () => `If ${id} had ${counted(Number(size.value), "GPU")}`, () => `resize=${name}&gpus=${size.value}`, now), " ", size);
}
