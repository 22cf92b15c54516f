// The connection: whether the page shows the present, a recording, the last known state, or nothing.
import { byId, clock, seconds, span, timeOfDay } from "./dom";
import type { Overview } from "./types";

export class Refused extends Error {
  constructor(readonly status: number, text: string) { super(text); }
}

// showState shows how current the overview is. failed is the error of the last request.
export function showState(overview: Overview | undefined, failed: Error | undefined): void {
  const why = failed ? cause(failed) : overview?.stale;
  document.body.dataset.state = kind(overview, failed);
  byId("facts").textContent = overview ? facts(overview) : why ? "" : "loading \u2026";
  byId("problem").textContent = why === undefined ? "" : overview ? dead(overview) + last(overview) + why : `Nothing to show yet. ${why}`;
  byId("empty").hidden = !overview || overview.jobs.length + overview.nodes.length > 0;
}

function kind(overview: Overview | undefined, failed: Error | undefined): string {
  if (failed instanceof Refused && (failed.status === 401 || failed.status === 403)) return "forbidden";
  if (!overview) return failed ? "error" : "loading";
  if (failed || overview.stale) return "stale";
  return overview.live ? "live" : "recorded";
}

function facts(o: Overview): string {
  const time = o.live ? timeOfDay(new Date(o.at)) : `recorded, ${span(o.elapsed)} of ${span(o.last)}`;
  return `${document.body.dataset.state === "stale" ? "out of date" : o.silent_since ? `scheduler silent since ${clock(seconds(o.silent_since))}` : o.live ? "live" : ""} \u00b7 ${time} \u00b7 policy ${o.policy}`.replace(/^ \u00b7 /, "");
}

// dead states that the source of the page is silent, unless its error does.
const dead = (o: Overview): string => (o.stale && !o.stale.includes("does not answer") ? "The scheduler does not answer. " : "");

// last describes the age of the last known state.
function last(o: Overview): string {
  if (!o.live) return "Out of date. ";
  return `This is the state of ${clock(seconds(o.at))}, ${span(Date.now() / 1000 - seconds(o.at))} ago. `;
}

function cause(e: Error): string {
  if (e instanceof Refused && e.status === 401) return "You have no access: open the printed address again, which contains the token.";
  if (e instanceof Refused) return e.message;
  return "The command that serves this page does not answer. Is it still running?";
}
