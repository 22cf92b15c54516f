// Addresses: #/job/NAME, #/node/NAME and #/, each with ?at=SECONDS for a moment of a recording or of the timeline.
import type { Overview } from "./types";

export interface Route { kind: "" | "job" | "node"; name: string; at?: number }

const latest = 3e9; // seconds: later moments are no times of a run, and would be rounded

export function route(): Route {
  const [path, query] = location.hash.replace(/^#job=/, "#/job/").slice(1).split("?");
  const [, kind, name] = path.split("/");
  const at = new URLSearchParams(query).get("at");
  const moment = at === null ? NaN : Number(at), possible = moment >= 0 && moment <= latest;
  const known = kind === "job" || kind === "node" ? kind : "";
  return { kind: known, name: known && name ? decoded(name) : "", at: possible ? moment : undefined };
}

function decoded(name: string): string {
  try { return decodeURIComponent(name); } catch { return name; }
}

const query = (at: number | undefined): string => (at === undefined ? "" : `?at=${Math.round(at)}`);

const href = (kind: string, name: string, now: Overview): string => `#/${kind}/${encodeURIComponent(name)}` + query(now.live ? undefined : now.elapsed);

export const jobHref = (id: string, now: Overview): string => href("job", id, now);
export const nodeHref = (name: string, now: Overview): string => href("node", name, now);

// go opens a route; the back button returns.
export const go = (hash: string): void => { location.hash = hash; };

// keepMoment writes the moment into the address; undefined removes it.
export function keepMoment(at: number | undefined): void {
  const r = route();
  history.replaceState(null, "", (r.kind ? `#/${r.kind}/${encodeURIComponent(r.name)}` : "#/") + query(at));
}
