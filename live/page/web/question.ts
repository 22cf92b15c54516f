// What if: a job cancelled, another size, one more node. It is answered by simulation, and not done.
import { byId, counted, el, link, span, when } from "./dom";
import type { Answer, Between, Overview, Shift } from "./types";

// ask returns a button that asks what would be; of says of what, above the answer.
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
  const said = got.ok ? show((await got.json()) as Answer, now) : [el("p", { class: "bad" }, (await got.text()).trim())];
  meanwhile.replaceWith(...said); // the heading stays where it is, and the focus on it
}

function show(a: Answer, now: Overview): HTMLElement[] {
  const all = [el("p", { class: "sentence" }, ends(a) + starts(a))];
  if (a.jobs.length > 0) all.push(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Jobs that would start or end at another time" }, el("table", {}, head(), el("tbody", {}, ...a.jobs.map(row)))));
  const from = when(now, (Date.parse(a.from) - Date.parse(now.begun)) / 1000);
  all.push(el("p", { class: "soft" }, `By two simulations from the last round on, ${from}: one with new jobs, as they are expected, and one without. What has happened since is not in it. Times count from that round, and are the least and the most of the two; the mean is of their middles. How often such times hold is not known. Nothing was done.`));
  return all;
}

function ends(a: Answer): string {
  const known = a.sooner + a.later + a.same;
  const mean = a.mean === 0 ? "In the mean they would end as they do." : `In the mean they would end ${span(Math.abs(a.mean))} ${a.mean > 0 ? "sooner" : "later"}.`;
  return `${counted(a.sooner, "job")} would end sooner, ${a.later} later, and ${a.same} as they do. ` + (known > 0 ? mean : "") + (a.unknown > 0 ? ` Of ${counted(a.unknown, "job")} the end is not known.` : "");
}

const starts = (a: Answer): string => (a.start_sooner + a.start_later > 0 ? ` ${counted(a.start_sooner, "job")} would get GPUs sooner, and ${a.start_later} later.` : "");

const head = (): HTMLElement => el("thead", {}, el("tr", {}, ...["job", "gets GPUs", "would get them", "ends", "would end"].map((t) => el("th", { scope: "col" }, t))));

const row = (s: Shift): HTMLElement => el("tr", {}, el("th", { scope: "row" }, link(s.job)), ...[s.starts, s.would_start].map((r) => el("td", {}, between(r, ""))), ...[s.before, s.after].map((r) => el("td", {}, between(r, "not known"))));

function between(r: Between | undefined, absent: string): string {
  if (!r) return absent;
  const [early, late] = r.map(span);
  return early === late ? (early === "0 s" ? "now" : `in ${early}`) : `in ${early} to ${late}`;
}

let typed = "1"; // stays when the job is shown anew

// onJob returns the questions about a job.
export function onJob(id: string, now: Overview): HTMLElement {
  const name = encodeURIComponent(id);
  const size = el("input", { type: "number", min: "1", max: "9999", value: typed, "aria-label": "GPUs" });
  size.addEventListener("input", () => { typed = size.value; });
  return el("p", {}, "What if ", ask("it were cancelled?", () => `If ${id} were cancelled`, () => "cancel=" + name, now), " ", ask("it had as many GPUs:", () => `If ${id} had ${counted(Number(size.value), "GPU")}`, () => `resize=${name}&gpus=${size.value}`, now), " ", size);
}
