// The list of things that need a person. A dismissed item stays dismissed in this browser.
import { retryButton } from "./act";
import { byId, clock, counted, el, fill, link, moment, seconds } from "./dom";
import { jobHref, nodeHref } from "./route";
import type { Job, Overview } from "./types";

// An Item without a key cannot be dismissed.
interface Item { key?: string; content: (Node | string)[]; job?: string; failed?: boolean }

const recent = 24 * 3600, mostKept = 200;
let all = false; // dismissed items are shown

export function showAttention(o: Overview): void {
  const dismissed = stored(o), items = found(o), open = items.filter((i) => all || !gone(i, dismissed));
  byId("attention-count").textContent = String(open.length);
  fill(byId("attention"), ...(open.length > 0 ? open.map((i) => entry(i, o, dismissed)) : [el("li", { class: "soft" }, "Nothing needs you.")]));
  const hidden = items.length - open.length;
  fill(byId("attention-more"), ...(hidden > 0 || all ? [toggle(hidden, o)] : []));
}

const gone = (i: Item, dismissed: string[]): boolean => i.key !== undefined && dismissed.includes(i.key);

function found(o: Overview): Item[] {
  const items: Item[] = [];
  if (o.live && document.body.dataset.state === "stale") items.push({ content: [`The scheduler has not answered since ${clock(seconds(o.at))}. This page shows the last known state.`] });
  if (o.silent_since) items.push({ content: [`The scheduler has not answered since ${clock(seconds(o.silent_since))}. Oxgang starts and changes no job until it runs again.`] });
  items.push(...(o.attention ?? []).map((text) => ({ key: text, content: [text] })));
  for (const j of o.jobs) if (j.trouble) items.push({ key: `${j.id} ${j.trouble}`, job: j.id, content: [link(j.id, o), ": " + j.trouble] });
  for (const e of o.ended ?? []) if (e.outcome === "failed" && seconds(o.at) - seconds(e.finished) < recent) items.push(failure(e, o));
  return [...items, ...closedNodes(o)];
}

const onPurpose = /^(reservation |in no queue$)/, mostNamed = 3;

// closedNodes has an item for each reason for which nodes start no jobs, unless the reason is a reservation or that no queue has them.
function closedNodes(o: Overview): Item[] {
  const by = new Map<string, string[]>();
  for (const n of o.nodes) if (n.closed && !onPurpose.test(n.closed)) by.set(n.closed, [...(by.get(n.closed) ?? []), n.name]);
  return [...by].map(([why, names]) => {
    const shown = names.slice(0, mostNamed).flatMap((n, i) => [i > 0 ? ", " : "", el("a", { href: nodeHref(n, o) }, n)]), more = names.length - mostNamed;
    return { key: `${why} ${names.join(" ")}`, content: [...shown, more > 0 ? ` and ${counted(more, "more node")}` : "", ` ${names.length === 1 ? "starts" : "start"} no jobs: ${why}`] };
  });
}

const failure = (e: Job, o: Overview): Item => ({
  key: `${e.id} ${e.finished}`, job: e.id, failed: true,
  content: [link(e.id, o), ` failed ${o.live ? "" : "at "}${moment(o, seconds(e.finished) - seconds(o.begun))}`, e.detail ? `: ${e.detail}` : ""],
});

function entry(i: Item, o: Overview, dismissed: string[]): HTMLElement {
  const actions: HTMLElement[] = [];
  if (i.job !== undefined && o.backend === "machine") actions.push(el("a", { href: jobHref(i.job, o), "aria-label": `log of ${i.job}` }, "log"));
  if (i.job !== undefined && i.failed && o.retries) actions.push(retryButton(i.job));
  if (i.key !== undefined && !gone(i, dismissed)) actions.push(dismiss(i, i.key, o));
  return el("li", {}, el("span", { class: "bad" }, ...i.content), " ", ...actions.flatMap((a) => [a, " "]));
}

function dismiss(i: Item, key: string, o: Overview): HTMLElement {
  const button = el("button", { type: "button", class: "ask" }, "Dismiss");
  if (i.job !== undefined) button.setAttribute("aria-label", "Dismiss " + i.job);
  button.addEventListener("click", () => {
    store(o, [...stored(o), key].slice(-mostKept));
    showAttention(o);
    byId("attention-title").focus();
  });
  return button;
}

function toggle(hidden: number, o: Overview): HTMLElement {
  const button = el("button", { type: "button", class: "ask" }, all ? "Hide dismissed" : `Show ${counted(hidden, "dismissed item")}`);
  button.addEventListener("click", () => { all = !all; showAttention(o); });
  return button;
}

const place = (o: Overview): string => "oxgang-dismissed " + o.title;

function stored(o: Overview): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(place(o)) ?? "[]");
    return Array.isArray(kept) ? kept.filter((k) => typeof k === "string") : [];
  } catch { return []; }
}

function store(o: Overview, keys: string[]): void {
  try { localStorage.setItem(place(o), JSON.stringify(keys)); } catch { /* storage is off or full: the item returns after a reload */ }
}
